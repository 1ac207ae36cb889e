/*
 * governor_driver.c - the driver on a library thread: wakes in time, opens windows, asks, stops, and costs nothing while
 * there is nothing to do
 *
 * Where a test says nothing of a signal, the machine must not either: the user is active where somebody types at a
 * terminal; only hosts say what is metered.
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#include <sys/resource.h>

static void start(selene_scheduler scheduler) {
    CHECK_OK(selene_driver_start(scheduler, NULL));
}

/* ============================================================================
 *  WINDOWS
 * ========================================================================= */

static void test_opens(void) {
    selene_scheduler scheduler = open_told();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = COMPLETE},
                third = {.behaviour = COMPLETE};
    selene_task task = once_of("third");
    observe(scheduler);
    add_once(scheduler, "first", REFRESH, &first);
    start(scheduler);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&first.started));
    add_once(scheduler, "second", PROCESSING, &second);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&second.started));
    CHECK_INT(2, count_events(0, SELENE_EVENT_CYCLE_ENDED, -1));
    add_handler(scheduler, "third", &third);
    task.initial_delay = H;
    add(scheduler, task);
    CHECK_INT(START + H, reach(scheduler, START + H - 1));
    CHECK_INT(0, atomic_load(&third.started));
    finished_by(scheduler, START + H);
    CHECK_INT(1, atomic_load(&third.started));
    CHECK_INT(START + H, record(scheduler, "third").last_run);
    CHECK_INT(3, count_events(0, SELENE_EVENT_CYCLE_ENDED, -1));
    CHECK_OK(selene_driver_stop(scheduler, S));
    CHECK_INT(3, count_events(0, SELENE_EVENT_GRANTED, -1));
    CHECK_INT(3, count_events(0, SELENE_EVENT_CYCLE_BEGUN, -1));
    CHECK_INT(3, count_events(0, SELENE_EVENT_CYCLE_ENDED, SELENE_OUTCOME_NEW_DATA));
    /* Without a driver nothing opens any more. */
    CHECK_OK(selene_task_cancel_all(scheduler, NULL));
    add(scheduler, once_of("second"));
    finished_by(scheduler, START + SELENE_DAY);
    CHECK_INT(1, atomic_load(&second.started));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* A task that fails is tried again in a window of its own, at its time. */
static void test_retries(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE, .outcome = SELENE_OUTCOME_FAILED};
    selene_task task = once_of("a");
    options.minimum_backoff = SELENE_NONE;
    scheduler = open_told_with(options);
    observe(scheduler);
    add_handler(scheduler, "a", &work);
    task.backoff = SELENE_BACKOFF_LINEAR;
    task.backoff_delay = 300 * S;
    task.max_attempts = 3;
    add(scheduler, task);
    start(scheduler);
    CHECK_INT(START + 300 * S, finished(scheduler));
    finished_by(scheduler, START + 300 * S - 1);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_INT(START + 900 * S, finished_by(scheduler, START + 300 * S));
    CHECK_INT(2, atomic_load(&work.started));
    finished_by(scheduler, START + 900 * S - 1);
    CHECK_INT(2, atomic_load(&work.started));
    finished_by(scheduler, START + 900 * S);
    CHECK_INT(3, atomic_load(&work.started));
    CHECK_INT(3, count_events(0, SELENE_EVENT_CYCLE_ENDED, SELENE_OUTCOME_FAILED));
    CHECK_OK(selene_driver_stop(scheduler, S));
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK_INT(3, count_events(0, SELENE_EVENT_CYCLE_BEGUN, -1));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void test_refused(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE};
    int refusals;
    observe(scheduler);
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, PROCESSING);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    start(scheduler);
    finished(scheduler);
    add_once(scheduler, "a", PROCESSING, &work);
    finished(scheduler);
    CHECK_INT(1, count_events(0, SELENE_EVENT_REFUSED, SELENE_FACTOR_USER_ACTIVE));
    add_once(scheduler, "b", REFRESH, &other);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&other.started));
    refusals = count_events(0, SELENE_EVENT_REFUSED, SELENE_FACTOR_USER_ACTIVE);
    finished_by(scheduler, START + MIN);
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_INT(refusals, count_events(0, SELENE_EVENT_REFUSED, SELENE_FACTOR_USER_ACTIVE));
    CHECK_INT(SELENE_REASON_GOVERNOR, why(scheduler, "a", SELENE_REASON_GOVERNOR).reason);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* By a validity that ends nobody calls; the driver knows when. */
static void test_asks_again(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    set_stopping(scheduler, SELENE_FACTOR_METERED, PROCESSING);
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_METERED, 1, 300 * S));
    start(scheduler);
    add_once(scheduler, "a", PROCESSING, &work);
    finished_by(scheduler, START + 300 * S - 1);
    CHECK_INT(0, atomic_load(&work.started));
    finished_by(scheduler, START + 300 * S);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/** A task of which nothing more happens now runs as soon as something else is said. */
static void check_waits(selene_scheduler scheduler, struct work *work) {
    finished(scheduler);
    CHECK_INT(0, atomic_load(&work->started));
}

static void check_runs(selene_scheduler scheduler, struct work *work) {
    finished(scheduler);
    CHECK_INT(1, atomic_load(&work->started));
}

/* The same for conditions, switches, handlers and profiles: what lets a task run wakes it. */
static void test_wakes(void) {
    selene_scheduler scheduler = open_told();
    struct work works[5] = {{.behaviour = COMPLETE},
                            {.behaviour = COMPLETE},
                            {.behaviour = COMPLETE},
                            {.behaviour = COMPLETE},
                            {.behaviour = COMPLETE}};
    selene_task task = once_of("condition");
    start(scheduler);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    add_handler(scheduler, "condition", &works[0]);
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    check_waits(scheduler, &works[0]);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    check_runs(scheduler, &works[0]);

    add(scheduler, once_of("handler"));
    finished(scheduler);
    add_handler(scheduler, "handler", &works[1]);
    check_runs(scheduler, &works[1]);

    /* Of a kind that is off it cannot be registered, so a condition keeps it until then. */
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    add_handler(scheduler, "switch", &works[2]);
    task = once_of("switch");
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    CHECK_OK(selene_scheduler_enable(scheduler, REFRESH));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    check_waits(scheduler, &works[2]);
    CHECK_OK(selene_scheduler_enable(scheduler, EACH));
    check_runs(scheduler, &works[2]);

    say(scheduler, SELENE_SIGNAL_METERED, 1);
    set_stopping(scheduler, SELENE_FACTOR_METERED, EACH);
    add_once(scheduler, "profile", PROCESSING, &works[3]);
    check_waits(scheduler, &works[3]);
    CHECK_OK(selene_governor_set_profile(scheduler, NULL));
    check_runs(scheduler, &works[3]);

    task = once_of("updated");
    task.initial_delay = H;
    add_handler(scheduler, "updated", &works[4]);
    add(scheduler, task);
    check_waits(scheduler, &works[4]);
    task.initial_delay = 0;
    task.existing = SELENE_EXISTING_UPDATE;
    add(scheduler, task);
    check_runs(scheduler, &works[4]);
    CHECK_INT(START, present(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* A veto ends the driver's window: what ran is stopped, what waited in it waits on, and both have another when it is
 * lifted. */
static void test_preempted(void) {
    selene_scheduler scheduler = open_told();
    struct work first = {.behaviour = UNTIL_STOPPED}, second = {.behaviour = UNTIL_STOPPED};
    set_stopping(scheduler, SELENE_FACTOR_METERED, PROCESSING);
    observe(scheduler);
    add_once(scheduler, "first", PROCESSING, &first);
    add_once(scheduler, "second", PROCESSING, &second);
    start(scheduler);
    wait_for("the first", &first.started, 1);
    say(scheduler, SELENE_SIGNAL_METERED, 1);
    finished_by(scheduler, START + S);
    CHECK_INT(1, atomic_load(&first.returned));
    CHECK_INT(SELENE_REASON_GOVERNOR, why(scheduler, "second", SELENE_REASON_GOVERNOR).reason);
    CHECK_INT(0, atomic_load(&second.started));
    CHECK_INT(1, count_events(0, SELENE_EVENT_CYCLE_ENDED, -1));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "first").state);
    say(scheduler, SELENE_SIGNAL_METERED, 0);
    wait_for("the first again", &first.started, 2);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    wait_for("the end of the first", &first.destroyed, 1);
    wait_for("the end of the second", &second.destroyed, 1);
}

/* A store that refuses windows is tried again, but not at once: after 1, 2, 4 … s. */
static void test_store_refuses(void) {
    selene_options options = stored_options(file_named("store"));
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    struct rlimit limit, before;
    signal(SIGXFSZ, SIG_IGN);
    scheduler = open_told_with(options);
    observe(scheduler);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, PROCESSING);
    add_once(scheduler, "a", PROCESSING, &work);
    start(scheduler);
    finished(scheduler);
    CHECK_INT(0, getrlimit(RLIMIT_FSIZE, &before));
    limit = before;
    limit.rlim_cur = 0;
    CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &limit));
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0);
    finished(scheduler);
    for (int tried = 1, at = 0; tried < 5; at += 1 << (tried - 1), tried++) {
        finished_by(scheduler, START + at * S);
        CHECK_INT(tried, count_events(0, SELENE_EVENT_GRANTED, -1));
        finished_by(scheduler, START + (at + (1 << (tried - 1))) * S - 1);
        CHECK_INT(tried, count_events(0, SELENE_EVENT_GRANTED, -1));
    }
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &before));
    finished_by(scheduler, START + MIN);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* At the cap of threads that were left behind no window is possible, until one comes back. */
static void test_cap(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work deaf = {.behaviour = GATE}, work = {.behaviour = COMPLETE};
    selene_driver driver = SELENE_INIT(selene_driver);
    options.max_overrun_threads = 1;
    driver.refresh_budget = 10 * S;
    scheduler = open_told_with(options);
    observe(scheduler);
    add_once(scheduler, "deaf", REFRESH, &deaf);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    wait_for("the deaf one", &deaf.started, 1);
    reach(scheduler, START + 10 * S + 1);
    CHECK_INT(1, overruns(scheduler));
    add_once(scheduler, "a", PROCESSING, &work);
    finished_by(scheduler, START + H);
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_INT(1, count_events(0, SELENE_EVENT_GRANTED, -1));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* A host's own windows go on beside it. */
static void test_beside_host(void) {
    selene_scheduler scheduler = open_told();
    struct work own = {.behaviour = UNTIL_STOPPED}, driven = {.behaviour = COMPLETE},
                waiting = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    add_once(scheduler, "own", PROCESSING, &own);
    push_async(scheduler, window_for(PROCESSING, H), &receiver, NULL);
    wait_for("the host's run", &own.started, 1);
    start(scheduler);
    add_once(scheduler, "driven", REFRESH, &driven);
    wait_for("the driven one", &driven.returned, 1);
    add_once(scheduler, "waiting", PROCESSING, &waiting);
    reach(scheduler, START + MIN);
    CHECK_INT(0, atomic_load(&receiver.calls));
    CHECK_INT(0, atomic_load(&waiting.started));
    CHECK_OK(selene_task_expire(scheduler, "own", -1));
    finished(scheduler);
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(1, atomic_load(&waiting.started));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* ============================================================================
 *  STOPPING
 * ========================================================================= */

struct stopper {
    selene_scheduler scheduler;
    int64_t grace;
    selene_status status;
    atomic_int done;
    pthread_t thread;
};

static void *stopper_main(void *argument) {
    struct stopper *own = argument;
    own->status = selene_driver_stop(own->scheduler, own->grace);
    atomic_store(&own->done, 1);
    return NULL;
}

/* What the driver opened is stopped with it, what the host opened goes on. */
static void test_stop(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = UNTIL_STOPPED},
                own = {.behaviour = UNTIL_STOPPED, .outcome = SELENE_OUTCOME_FAILED};
    struct receiver receiver = {0};
    struct stopper stopper = {.scheduler = scheduler, .grace = 20 * S};
    add_once(scheduler, "a", PROCESSING, &work);
    start(scheduler);
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_driver_stop(scheduler, 0));
    wait_for("the return", &work.returned, 1);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_INT(0, record(scheduler, "a").attempts);

    add_once(scheduler, "own", REFRESH, &own);
    start(scheduler);
    wait_for("the handler", &own.started, 1);
    /* With a grace it asks in its last part, and does not wait for the rest of it. */
    CHECK_INT(0, pthread_create(&stopper.thread, NULL, stopper_main, &stopper));
    WAIT_UNTIL(still(scheduler) == START + 18 * S);
    CHECK_INT(0, atomic_load(&own.stopped));
    CHECK_INT(0, atomic_load(&stopper.done));
    reach(scheduler, START + 18 * S);
    CHECK_INT(0, pthread_join(stopper.thread, NULL));
    CHECK_INT(SELENE_OK, stopper.status);
    CHECK_INT(1, atomic_load(&own.started));
    CHECK_INT(1, atomic_load(&own.returned));
    push_async(scheduler, window_for(REFRESH, H), &receiver, NULL);
    wait_for("the handler", &own.started, 2);
    CHECK_OK(selene_driver_stop(scheduler, S));
    reach(scheduler, START + 18 * S + MIN);
    CHECK_INT(0, atomic_load(&receiver.calls));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    wait_for("the end of its handler", &own.destroyed, 1);
}

/* A handler that does not listen costs the grace, and is left behind. */
static void test_stop_ignored(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct stopper stopper = {.scheduler = scheduler, .grace = 200 * S};
    add_once(scheduler, "a", PROCESSING, &work);
    start(scheduler);
    wait_for("the handler", &work.started, 1);
    CHECK_INT(0, pthread_create(&stopper.thread, NULL, stopper_main, &stopper));
    WAIT_UNTIL(still(scheduler) == START + 190 * S);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(scheduler, START + 190 * S);
    wait_for("the stop", &work.stopped, 1);
    reach(scheduler, START + 200 * S - 1);
    CHECK_INT(0, atomic_load(&stopper.done));
    CHECK_OK(selene_clock_set(scheduler, START + 200 * S));
    CHECK_INT(0, pthread_join(stopper.thread, NULL));
    CHECK_INT(SELENE_OK, stopper.status);
    CHECK_INT(0, atomic_load(&work.returned));
    CHECK_INT(1, overruns(scheduler));
    /* A new driver lives with that; the id is taken until it is back. */
    start(scheduler);
    reach(scheduler, START + 200 * S + MIN);
    CHECK_INT(1, atomic_load(&work.started));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    finished_by(scheduler, present(scheduler) + MIN);
    CHECK_INT(2, atomic_load(&work.returned));
    CHECK_OK(selene_scheduler_close(scheduler, H));
    CHECK_INT(2, atomic_load(&work.returned));
}

/* One that never comes back is let go after a while; then its task may run again, though nobody calls. */
static void test_let_go(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_scheduler scheduler;
    struct work work = {.behaviour = GATE};
    options.release_after = 200 * S;
    options.minimum_backoff = SELENE_NONE;
    driver.refresh_budget = 100 * S;
    scheduler = open_told_with(options);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    {
        selene_task task = once_of("a");
        task.kind = REFRESH;
        task.backoff = SELENE_BACKOFF_NONE;
        add_handler(scheduler, "a", &work);
        add(scheduler, task);
    }
    wait_for("the first run", &work.started, 1);
    reach(scheduler, START + 300 * S - 1);
    CHECK_INT(1, atomic_load(&work.started));
    reach(scheduler, START + 300 * S);
    wait_for("the next run", &work.started, 2);
    CHECK_INT(START + 300 * S, present(scheduler));
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void ask_driver(struct work *work, selene_run run, const selene_run_info *info) {
    selene_cycle cycle = 0;
    (void)info;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_driver_stop(work->scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_driver_start(work->scheduler, NULL));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_driver_open(work->scheduler, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_step(work->scheduler, &cycle, NULL));
    /* All else of the governor is legal in a handler. */
    say(work->scheduler, SELENE_SIGNAL_THERMAL, 1);
    CHECK_INT(1, granted(work->scheduler, REFRESH));
    CHECK_OK(selene_ledger_report(work->scheduler, PROCESSING, S, 1000));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_inside_handler(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = ask_driver};
    add_once(scheduler, "a", PROCESSING, &work);
    start(scheduler);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&work.returned));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_driver_start(scheduler, NULL));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_driver_open(scheduler, NULL, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void test_close(void) {
    for (int round = 0; round < 20; round++) {
        selene_scheduler scheduler = open_told();
        struct work work = {.behaviour = UNTIL_STOPPED};
        add_once(scheduler, "a", PROCESSING, &work);
        start(scheduler);
        if (round % 2) wait_for("the handler", &work.started, 1);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        wait_for("the end of the handler", &work.destroyed, 1);
        CHECK_INT(atomic_load(&work.started), atomic_load(&work.returned));
        if (atomic_load(&work.started)) CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G7 a driver opens windows for due tasks, at once and in time", test_opens);
    run_test("G7 a task that fails is tried again", test_retries);
    run_test("G7 what the governor refuses waits for a signal", test_refused);
    run_test("G7 a refusal that ends by itself is asked about again then", test_asks_again);
    run_test("G7 whatever lets a task run wakes the driver", test_wakes);
    run_test("G6 a veto ends a driver's window, and its tasks have another", test_preempted);
    run_test("G7 a store that refuses is tried again, but not at once", test_store_refuses);
    run_test("C5 at the cap of threads left behind it waits", test_cap);
    run_test("G7 a host's own windows go on beside it", test_beside_host);
    run_test("G7 stopping it stops the runs of its windows and waits for them", test_stop);
    run_test("G7 it stops within its grace though a handler does not", test_stop_ignored);
    run_test("G7 a task whose run never came back has its next one in time", test_let_go);
    run_test("G7 inside a handler it cannot be stopped, and there is only one",
             test_inside_handler);
    run_test("G7 a scheduler closes with its driver at work", test_close);
    return check_end();
}
