/*
 * trouble.c - what keeps a scheduler from working is told: once when it begins, once when it ends, and by explain
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#include <sys/resource.h>

/** What the observer was told of troubles since an index, of one cause; with or without the ends. */
static int begun(int since, int32_t trouble) {
    int count = 0;
    for (int i = since; i < atomic_load(&noted_count); i++)
        count += noted[i].event.type == SELENE_EVENT_TROUBLE && noted[i].event.detail == trouble &&
                 noted[i].event.status != SELENE_OK;
    return count;
}

static int ended(int since, int32_t trouble) {
    return count_events(since, SELENE_EVENT_TROUBLE, trouble) - begun(since, trouble);
}

/** The last event of a trouble. */
static const struct noted *last_of(int32_t trouble) {
    for (int i = atomic_load(&noted_count); i-- > 0;)
        if (noted[i].event.type == SELENE_EVENT_TROUBLE && noted[i].event.detail == trouble)
            return &noted[i];
    fprintf(stderr, "nothing was told of the trouble %s\n",
            selene_name(SELENE_NAMES_TROUBLE, trouble));
    check_fail();
}

static uint32_t troubles(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info.troubles;
}

static int64_t wakeup_delay(selene_scheduler scheduler) {
    int64_t at, delay;
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, &delay));
    CHECK((at == SELENE_NEVER) == (delay == SELENE_NEVER));
    return delay;
}

static selene_scheduler open_stored(selene_options options) {
    selene_scheduler scheduler = 0;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

static selene_scheduler open_stored_told(void) {
    signal(SIGXFSZ, SIG_IGN);
    return open_told_with(stored_options(file_named("store")));
}

static void limit_to(int resource, rlim_t most) {
    struct rlimit limit;
    CHECK_INT(0, getrlimit(resource, &limit));
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    CHECK_INT(0, setrlimit(resource, &limit));
}

/** From here on the disk is full, or it has room again. */
static void fill_disk(void) {
    limit_to(RLIMIT_FSIZE, 0);
}
static void free_disk(void) {
    limit_to(RLIMIT_FSIZE, RLIM_INFINITY);
}

/* ============================================================================
 *  A STORE THAT REFUSES
 * ========================================================================= */

/* A service that only has a driver learns that its disk is full, and that it has room again. */
static void test_full_disk(void) {
    selene_scheduler scheduler = open_stored_told();
    struct work work = {.behaviour = COMPLETE};
    const struct noted *told;
    selene_status refused;
    observe(scheduler);
    add_once(scheduler, "sync", REFRESH, &work);
    CHECK_INT(0, troubles(scheduler));
    fill_disk();
    CHECK_OK(selene_driver_start(scheduler, NULL));
    finished(scheduler);
    CHECK_INT(1, begun(0, SELENE_TROUBLE_STORE));
    told = last_of(SELENE_TROUBLE_STORE);
    refused = selene_task_cancel(scheduler, "sync", -1, NULL);
    CHECK(refused == SELENE_ERROR_STORE_FULL || refused == SELENE_ERROR_STORE_IO);
    CHECK_INT(refused, told->event.status);
    CHECK_STRING(selene_error_last()->message.data, told->message);
    CHECK_INT(-1, told->event.state);
    CHECK_STRING("", told->id);
    CHECK_INT(SELENE_TROUBLE_STORE, troubles(scheduler));
    CHECK_INT(SELENE_REASON_STORE_REFUSES,
              why(scheduler, "sync", SELENE_REASON_STORE_REFUSES).reason);
    /* Who asks when to open a window is not sent round in a circle. */
    CHECK_BETWEEN(1, wakeup_delay(scheduler), S);
    finished_by(scheduler, START + 50 * S);
    CHECK_INT(1, begun(0, SELENE_TROUBLE_STORE));
    CHECK_INT(0, ended(0, SELENE_TROUBLE_STORE));
    CHECK_INT(0, atomic_load(&work.started));
    free_disk();
    finished_by(scheduler, START + 2 * MIN);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_INT(1, count_events(0, SELENE_EVENT_CYCLE_ENDED, -1));
    CHECK_INT(1, begun(0, SELENE_TROUBLE_STORE));
    CHECK_INT(1, ended(0, SELENE_TROUBLE_STORE));
    CHECK_INT(SELENE_OK, last_of(SELENE_TROUBLE_STORE)->event.status);
    CHECK_STRING("", last_of(SELENE_TROUBLE_STORE)->message);
    CHECK_INT(0, troubles(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* So does a host that opens its windows itself. */
static void test_refused_host(void) {
    selene_scheduler scheduler = open_stored_told();
    selene_window window = window_for(REFRESH, 5 * S);
    struct work work = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    selene_status refused;
    observe(scheduler);
    add_once(scheduler, "sync", REFRESH, &work);
    CHECK_INT(0, wakeup_delay(scheduler));
    fill_disk();
    refused = selene_cycle_run(scheduler, &window, &report);
    CHECK(refused != SELENE_OK);
    finished(scheduler);
    CHECK_INT(1, begun(0, SELENE_TROUBLE_STORE));
    CHECK_INT(refused, last_of(SELENE_TROUBLE_STORE)->event.status);
    CHECK_STATUS(refused, selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, begun(0, SELENE_TROUBLE_STORE));
    CHECK(wakeup_delay(scheduler) > 0);
    free_disk();
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    selene_free(report);
    CHECK_INT(1, atomic_load(&work.started));
    finished(scheduler);
    CHECK_INT(1, ended(0, SELENE_TROUBLE_STORE));
    CHECK_INT(0, troubles(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* A store that refuses every other call is told of no oftener than once a minute. */
static void test_no_flood(void) {
    selene_options options = stored_options(file_named("store"));
    selene_scheduler scheduler;
    options.clock = host_clock;
    scheduler = open_stored(options);
    observe(scheduler);
    add(scheduler, once_of("a"));
    for (int i = 0; i < 120; i++) {
        fill_disk();
        CHECK(selene_task_cancel(scheduler, "a", -1, NULL) != SELENE_OK);
        CHECK_INT(SELENE_TROUBLE_STORE, troubles(scheduler));
        free_disk();
        CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
        add(scheduler, once_of("a"));
        CHECK_INT(0, troubles(scheduler));
        advance(S);
    }
    CHECK_INT(2, begun(0, SELENE_TROUBLE_STORE));
    CHECK_INT(2, ended(0, SELENE_TROUBLE_STORE));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void swap_names(const char *from, const char *to) {
    CHECK_INT(0, rename(file_named(from), file_named(to)));
}

/* Whoever only looks is told that the store was taken away, though nothing is committed; no change is answered OK. */
static void test_moved(void) {
    selene_scheduler scheduler = open_stored_told();
    selene_task task = once_of("b");
    observe(scheduler);
    add(scheduler, once_of("a"));
    swap_names("store", "elsewhere");
    reach(scheduler, START + 2 * S);
    wakeup_delay(scheduler);
    CHECK_INT(1, begun(0, SELENE_TROUBLE_STORE));
    CHECK_INT(SELENE_ERROR_STORE_MOVED, last_of(SELENE_TROUBLE_STORE)->event.status);
    CHECK_INT(SELENE_TROUBLE_STORE, troubles(scheduler));
    CHECK_INT(SELENE_REASON_STORE_REFUSES, why(scheduler, "a", SELENE_REASON_STORE_REFUSES).reason);
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_task_register(scheduler, &task, NULL));
    swap_names("elsewhere", "store");
    reach(scheduler, START + 4 * S);
    wakeup_delay(scheduler);
    CHECK_INT(1, ended(0, SELENE_TROUBLE_STORE));
    CHECK_INT(0, troubles(scheduler));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_INT(1, begun(0, SELENE_TROUBLE_STORE));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* A driver that has nothing to do notices by itself, also that it is back; it does not wake for that meanwhile. What tells it
 * is the system, so it is waited for. */
static void test_moved_driver(void) {
    selene_scheduler scheduler = open_stored_told();
    observe(scheduler);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    still(scheduler);
    swap_names("store-wal", "elsewhere");
    WAIT_UNTIL((reach(scheduler, present(scheduler) + S), begun(0, SELENE_TROUBLE_STORE)));
    CHECK_INT(SELENE_ERROR_STORE_MOVED, last_of(SELENE_TROUBLE_STORE)->event.status);
    swap_names("elsewhere", "store-wal");
    WAIT_UNTIL((reach(scheduler, present(scheduler) + S), ended(0, SELENE_TROUBLE_STORE)));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void test_removed_driver(void) {
    selene_scheduler scheduler = open_stored_told();
    observe(scheduler);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    still(scheduler);
    CHECK_INT(0, unlink(file_named("store")));
    WAIT_UNTIL((reach(scheduler, present(scheduler) + S), begun(0, SELENE_TROUBLE_STORE)));
    CHECK_INT(SELENE_ERROR_STORE_MOVED, last_of(SELENE_TROUBLE_STORE)->event.status);
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, H));
}

/* So does a window that is open for long. */
static void test_moved_window(void) {
    selene_scheduler scheduler = open_stored_told();
    struct work work = {.behaviour = GATE};
    struct runner runner;
    observe(scheduler);
    add_once(scheduler, "a", REFRESH, &work);
    start_runner(&runner, scheduler, window_for(REFRESH, H));
    wait_for("the handler", &work.started, 1);
    swap_names("store", "elsewhere");
    reach(scheduler, START + 2 * S);
    CHECK_INT(1, begun(0, SELENE_TROUBLE_STORE));
    swap_names("elsewhere", "store");
    reach(scheduler, START + 4 * S);
    CHECK_INT(1, ended(0, SELENE_TROUBLE_STORE));
    atomic_store(&gate, 1);
    selene_free(join_runner(&runner));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* ============================================================================
 *  THREADS
 * ========================================================================= */

/* At the cap of threads left behind the driver waits, and everybody is told that it does and why. */
static void test_cap(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_window window = window_for(PROCESSING, S);
    selene_scheduler scheduler;
    struct work deaf = {.behaviour = GATE}, work = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    options.max_overrun_threads = 1;
    driver.refresh_budget = 10 * S;
    scheduler = open_told_with(options);
    observe(scheduler);
    add_once(scheduler, "deaf", REFRESH, &deaf);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    wait_for("the deaf one", &deaf.started, 1);
    reach(scheduler, START + 10 * S + 1);
    CHECK_INT(1, overruns(scheduler));
    add_once(scheduler, "news", PROCESSING, &work);
    finished(scheduler);
    CHECK_INT(1, begun(0, SELENE_TROUBLE_OVERRUN));
    CHECK_INT(SELENE_ERROR_BUSY, last_of(SELENE_TROUBLE_OVERRUN)->event.status);
    CHECK_INT(SELENE_TROUBLE_OVERRUN, troubles(scheduler));
    CHECK_INT(SELENE_REASON_NO_THREAD, why(scheduler, "news", SELENE_REASON_NO_THREAD).reason);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run(scheduler, &window, &report));
    CHECK_STRING(selene_error_last()->message.data, last_of(SELENE_TROUBLE_OVERRUN)->message);
    CHECK_INT(SELENE_NEVER, wakeup_delay(scheduler));
    finished_by(scheduler, START + H);
    CHECK_INT(1, count_events(0, SELENE_EVENT_GRANTED, -1));
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_INT(1, begun(0, SELENE_TROUBLE_OVERRUN));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_INT(1, ended(0, SELENE_TROUBLE_OVERRUN));
    CHECK_INT(0, troubles(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* A run that was let go holds its thread all the same: its return wakes the driver. */
static void test_let_go_at_cap(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_scheduler scheduler;
    struct work deaf = {.behaviour = GATE}, work = {.behaviour = COMPLETE};
    options.max_overrun_threads = 1;
    options.release_after = 1;
    driver.refresh_budget = 10 * S;
    scheduler = open_told_with(options);
    observe(scheduler);
    add_once(scheduler, "deaf", REFRESH, &deaf);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    wait_for("the deaf one", &deaf.started, 1);
    reach(scheduler, START + 10 * S + 1);
    CHECK_INT(1, count_events(0, SELENE_EVENT_RELEASED, -1));
    add_once(scheduler, "news", PROCESSING, &work);
    finished_by(scheduler, START + H);
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_INT(1, overruns(scheduler));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* A host that takes its runs itself needs no thread of the library. */
static void test_pulled_at_cap(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct runner runner;
    struct work deaf = {.behaviour = GATE};
    selene_window window = window_for(REFRESH, 10 * S);
    selene_cycle cycle;
    options.max_overrun_threads = 1;
    scheduler = open_told_with(options);
    add_once(scheduler, "deaf", REFRESH, &deaf);
    start_runner(&runner, scheduler, window);
    wait_for("the deaf one", &deaf.started, 1);
    CHECK_OK(selene_clock_set(scheduler, START + 10 * S + 1));
    selene_free(join_runner(&runner));
    still(scheduler);
    CHECK_INT(1, overruns(scheduler));
    CHECK_OK(selene_handler_register(scheduler, "pulled", -1, NULL, NULL, NULL, NULL));
    add(scheduler, once_of("pulled"));
    CHECK_INT(SELENE_REASON_NO_THREAD, why(scheduler, "pulled", SELENE_REASON_NO_THREAD).reason);
    window.kinds = PROCESSING;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(0, why(scheduler, "pulled", SELENE_REASON_NO_THREAD).reason);
    CHECK_INT(0, wakeup_delay(scheduler));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* A system that has no thread to give. */
static void test_no_thread(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    const struct noted *told;
    int64_t delay = 0;
    /* Root has as many as it likes. */
    if (geteuid() == 0) CHECK_INT(0, setuid(65534));
    observe(scheduler);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    limit_to(RLIMIT_NPROC, 0);
    add_once(scheduler, "a", REFRESH, &work);
    finished(scheduler);
    CHECK_INT(1, begun(0, SELENE_TROUBLE_THREAD));
    told = last_of(SELENE_TROUBLE_THREAD);
    CHECK_INT(SELENE_ERROR_EXHAUSTED, told->event.status);
    CHECK(told->message[0] != 0);
    CHECK_INT(SELENE_REASON_NO_THREAD, why(scheduler, "a", SELENE_REASON_NO_THREAD).reason);
    delay = wakeup_delay(scheduler);
    CHECK_BETWEEN(1, delay, S);
    finished_by(scheduler, START + 50 * S);
    CHECK_INT(1, begun(0, SELENE_TROUBLE_THREAD));
    CHECK_INT(0, atomic_load(&work.started));
    limit_to(RLIMIT_NPROC, RLIM_INFINITY);
    finished_by(scheduler, START + 2 * MIN);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_INT(1, ended(0, SELENE_TROUBLE_THREAD));
    CHECK_INT(0, troubles(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("C19 a driver on a full disk says so, once, and when it has room again",
             test_full_disk);
    run_test("C19 a store that refuses a host's window is told of once, too", test_refused_host);
    run_test("C19 a trouble that comes and goes is told of once a minute", test_no_flood);
    run_test("D6 a store that was taken away is told of though nothing is committed", test_moved);
    run_test("D6 a driver that has nothing to do notices that its store is gone, and is back",
             test_moved_driver);
    run_test("D6 such a driver notices that its store was removed", test_removed_driver);
    run_test("D6 a window that waits for a handler notices that its store is gone",
             test_moved_window);
    run_test("C19 at the cap of threads left behind nobody says now, and explain says why",
             test_cap);
    run_test("C19 the thread of a run that was let go wakes the driver when it returns",
             test_let_go_at_cap);
    run_test("C19 a host that takes its runs itself needs no thread", test_pulled_at_cap);
    run_test("C19 a thread that could not be had is told of, and tried again", test_no_thread);
    return check_end();
}
