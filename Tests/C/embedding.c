/*
 * embedding.c - what bindings of other runtimes stand on (rules B2 to B4)
 */
#include "told.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- handles ------------------------------------------------------------------- */

#define CHECK_POSITIVE(number) CHECK((number) > 0 && (number) <= INT64_MAX)

static void test_handles(void) {
    selene_scheduler scheduler = open_plain();
    selene_window window = window_of(S, 0, 1);
    selene_cycle cycle;
    selene_lane lane = 0;
    selene_run_info run = SELENE_INIT(selene_run_info);
    struct work work = {.behaviour = COMPLETE};
    int32_t step = -1;
    add_work(scheduler, "a", &work);
    window.flags = SELENE_WINDOW_LANES;
    cycle = begin(scheduler, window);
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_POSITIVE(scheduler);
    CHECK_POSITIVE(cycle);
    CHECK_POSITIVE(lane);
    CHECK_POSITIVE(run.run);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- a runtime of one thread ----------------------------------------------------- */

static selene_scheduler open_with(selene_options options) {
    selene_scheduler scheduler = 0;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

static selene_scheduler open_flagged(uint32_t flags) {
    selene_options options = SELENE_INIT(selene_options);
    options.flags = flags;
    return open_with(options);
}

static int threads(void) {
    char line[256];
    int count = 0;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Threads: %d", &count) == 1) break;
    fclose(file);
    return count;
}

#define NO_THREAD(call)                                                                            \
    do {                                                                                           \
        CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, call);                                              \
        CHECK(strstr(selene_error_last()->message.data, "SELENE_OPTIONS_NO_THREADS") != NULL);     \
    } while (0)

static void test_no_threads(void) {
    selene_scheduler scheduler = open_flagged(SELENE_OPTIONS_NO_THREADS);
    struct work work = {.behaviour = COMPLETE};
    selene_window window = window_of(AMPLE, 0, 1);
    selene_report *report = NULL;
    selene_server_options serves = SELENE_INIT(selene_server_options);
    selene_server server = 0;
    selene_cycle cycle = 0;
    const int before = threads();
    serves.path = SELENE_TEXT("/tmp/selene-embedding-sock");
    add_work(scheduler, "a", &work);
    add(scheduler, refresh_once("b", 3));
    observe(scheduler);
    NO_THREAD(selene_cycle_run(scheduler, &window, &report));
    NO_THREAD(selene_cycle_run_async(scheduler, &window, receive, NULL, NULL, NULL, NULL));
    NO_THREAD(selene_driver_start(scheduler, NULL));
    NO_THREAD(selene_task_launch(scheduler, "b", -1));
    NO_THREAD(selene_server_start(scheduler, &serves, &server));
    CHECK(report == NULL && server == 0);
    /* What remains: inline, pull, steps, events. */
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    window.flags = 0;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_driver_open(scheduler, NULL, NULL));
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK_INT(1, count_events(0, SELENE_EVENT_COMPLETED, -1) >= 1);
    CHECK_INT(before, threads());
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- hooks of threads --------------------------------------------------------------- */

static atomic_int begun_threads, ended_threads, hooks_destroyed, unknown_threads, wrong_contexts;
static _Thread_local int is_attached;

static void thread_begins(void *context) {
    if (context != &begun_threads) atomic_fetch_add(&wrong_contexts, 1);
    if (is_attached) atomic_fetch_add(&unknown_threads, 1);
    is_attached = 1;
    atomic_fetch_add(&begun_threads, 1);
}

static void thread_ends(void *context) {
    if (context != &begun_threads) atomic_fetch_add(&wrong_contexts, 1);
    if (!is_attached) atomic_fetch_add(&unknown_threads, 1);
    is_attached = 0;
    atomic_fetch_add(&ended_threads, 1);
}

static void hooks_destroy(void *context) {
    CHECK(context == &begun_threads);
    CHECK_INT(atomic_load(&begun_threads), atomic_load(&ended_threads));
    atomic_fetch_add(&hooks_destroyed, 1);
}

static selene_options hooked(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.thread_begin = thread_begins;
    options.thread_end = thread_ends;
    options.thread_context = &begun_threads;
    options.thread_destroy = hooks_destroy;
    return options;
}

static void run_attached(selene_run run, const selene_run_info *info, void *context) {
    (void)info;
    (void)context;
    if (!is_attached) atomic_fetch_add(&unknown_threads, 1);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void test_hooks(void) {
    selene_scheduler scheduler = open_with(hooked());
    selene_window window = window_of(AMPLE, 0, 4);
    char id[8];
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "t%d", i);
        add(scheduler, task_of(id));
        CHECK_OK(selene_handler_register(scheduler, id, -1, run_attached, NULL, NULL, NULL));
    }
    for (int i = 0; i < 5; i++)
        selene_free(push(scheduler, window));
    /* Not once a run: a hundred runs took a few threads, each of which is kept for the next window. */
    wait_for("the threads", &begun_threads, 4);
    CHECK_BETWEEN(4, atomic_load(&begun_threads), 20);
    CHECK_INT(0, atomic_load(&ended_threads));
    CHECK_INT(0, atomic_load(&hooks_destroyed));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(atomic_load(&begun_threads), atomic_load(&ended_threads));
    CHECK_INT(1, atomic_load(&hooks_destroyed));
    CHECK_INT(0, atomic_load(&unknown_threads));
    CHECK_INT(0, atomic_load(&wrong_contexts));
}

/** Without a thread, without a function, and with an open that fails. */
static void test_hooks_destroyed(void) {
    selene_options options = hooked();
    selene_scheduler scheduler = open_with(options);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, atomic_load(&hooks_destroyed));
    options.thread_begin = NULL;
    scheduler = open_with(options);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(2, atomic_load(&hooks_destroyed));
    options.thread_end = NULL;
    scheduler = open_with(options);
    CHECK_INT(3, atomic_load(&hooks_destroyed));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(3, atomic_load(&hooks_destroyed));
    options = hooked();
    options.backoff_jitter = 1001;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
    CHECK_INT(4, atomic_load(&hooks_destroyed));
    options = hooked();
    options.path = SELENE_TEXT("/no/such/folder/store");
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, selene_scheduler_open(&options, &scheduler));
    CHECK_INT(5, atomic_load(&hooks_destroyed));
    CHECK_INT(0, atomic_load(&begun_threads));
}

/** A thread that is left behind is detached when it comes back, though its scheduler is gone. */
static void test_hooks_left_behind(void) {
    selene_scheduler scheduler = open_told_with(hooked());
    struct work deaf = {.behaviour = GATE};
    add_work(scheduler, "deaf", &deaf);
    selene_free(push_to_deadline(scheduler, window_of(20 * S, 0, 1), &deaf, 1));
    wait_for_overruns(scheduler, 1);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(0, atomic_load(&hooks_destroyed));
    CHECK_BETWEEN(1, atomic_load(&begun_threads) - atomic_load(&ended_threads), 2);
    atomic_store(&gate, 1);
    wait_for("the hooks' end", &hooks_destroyed, 1);
    CHECK_INT(atomic_load(&begun_threads), atomic_load(&ended_threads));
    CHECK_INT(0, atomic_load(&unknown_threads));
}

/** A thread that could not be had is not told of. */
static void test_hooks_no_thread(void) {
    selene_scheduler scheduler = open_with(hooked());
    struct work work = {.behaviour = COMPLETE};
    struct rlimit usual, none;
    selene_report *report = NULL;
    selene_window window = window_of(AMPLE, 0, 1);
    add_work(scheduler, "a", &work);
    /* Root has as many as it likes. */
    if (geteuid() == 0) CHECK_INT(0, setuid(65534));
    CHECK_INT(0, getrlimit(RLIMIT_NPROC, &usual));
    none = (struct rlimit){0, usual.rlim_max};
    CHECK_INT(0, setrlimit(RLIMIT_NPROC, &none));
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED, selene_cycle_run(scheduler, &window, &report));
    /* Sanitizers start one at the end. */
    CHECK_INT(0, setrlimit(RLIMIT_NPROC, &usual));
    CHECK_INT(0, atomic_load(&begun_threads));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(0, atomic_load(&ended_threads));
    CHECK_INT(1, atomic_load(&hooks_destroyed));
}

/* ---- a clock that is told --------------------------------------------------------------- */

static int64_t now_of(selene_scheduler scheduler) {
    int64_t now = -1;
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    return now;
}

static int is_readable(int fd) {
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return poll(&wanted, 1, 0) == 1;
}

static void test_told_clock(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    selene_window window = window_of(10 * S, 2 * S, 1);
    selene_cycle cycle;
    selene_run run;
    int32_t reason = -1;
    selene_report *report = NULL;
    CHECK_INT(START, now_of(scheduler));
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window);
    run = next(cycle, "a");
    CHECK_OK(selene_clock_set(scheduler, START + 8 * S));
    /* What is due is done by the call itself: the stop function is on this thread. */
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_EXPIRING, reason);
    CHECK_OK(selene_clock_set(scheduler, START));
    CHECK_INT(START + 8 * S, now_of(scheduler));
    CHECK_OK(selene_clock_set(scheduler, START + 10 * S + 1));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->expired);
    selene_free(report);
    /* Other than a clock that is asked, it can be followed by a thread. */
    CHECK_OK(selene_driver_start(scheduler, NULL));
    CHECK_OK(selene_driver_stop(scheduler, 0));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_told_clock_refused(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0, other = open_plain();
    options.flags = SELENE_OPTIONS_SET_CLOCK;
    options.clock = host_clock;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
    CHECK(strncmp(selene_error_last()->message.data, "clock", 5) == 0);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_clock_set(other, START));
    CHECK_OK(selene_scheduler_close(other, 0));
    other = open_real();
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_clock_set(other, START));
    CHECK_OK(selene_scheduler_close(other, 0));
}

static void test_told_driver(void) {
    selene_scheduler scheduler = open_told();
    selene_task task = refresh_once("a", 3);
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle = 77;
    int64_t wake_at = -1;
    int32_t fd = -1, ready = -1;
    add_handler(scheduler, "a", &work);
    task.initial_delay = 60 * S;
    add(scheduler, task);
    CHECK_OK(selene_driver_open(scheduler, NULL, &fd));
    while (is_readable(fd)) {
        CHECK_OK(selene_driver_step(scheduler, &cycle, &wake_at));
        CHECK_INT(0, cycle);
    }
    CHECK_INT(START + 60 * S, wake_at);
    CHECK_OK(selene_driver_wait(scheduler, 0, &ready));
    CHECK_INT(0, ready);
    CHECK_OK(selene_clock_set(scheduler, START + 59 * S));
    CHECK(!is_readable(fd));
    CHECK_OK(selene_clock_set(scheduler, START + 60 * S));
    CHECK(is_readable(fd));
    CHECK_OK(selene_driver_wait(scheduler, SELENE_NEVER, &ready));
    CHECK_INT(1, ready);
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- waiting for the driver ------------------------------------------------------------ */

struct waiter {
    selene_scheduler scheduler;
    selene_status status;
    int32_t ready;
    atomic_int is_done;
};

static void *await_driver(void *argument) {
    struct waiter *waiter = argument;
    waiter->status = selene_driver_wait(waiter->scheduler, SELENE_NEVER, &waiter->ready);
    atomic_store(&waiter->is_done, 1);
    return NULL;
}

/** Steps until there is nothing to do. */
static void settle_driver(selene_scheduler scheduler) {
    int32_t ready = 1;
    selene_cycle cycle = 0;
    do {
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
        CHECK_INT(0, cycle);
        CHECK_OK(selene_driver_wait(scheduler, 0, &ready));
    } while (ready);
}

static void test_driver_wait(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE};
    struct waiter waiter = {.scheduler = scheduler, .ready = -1};
    selene_task task = refresh_once("a", 3);
    int64_t begun;
    int32_t ready = -1;
    pthread_t thread;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_wait(scheduler, 0, &ready));
    add_handler(scheduler, "a", &work);
    CHECK_OK(selene_driver_open(scheduler, NULL, NULL));
    settle_driver(scheduler);
    begun = check_now();
    CHECK_OK(selene_driver_wait(scheduler, 30 * MS, &ready));
    if (!ready) CHECK(check_now() - begun >= 30 * MS);
    settle_driver(scheduler);
    /* A task that becomes due. */
    task.initial_delay = 20 * MS;
    begun = check_now();
    add(scheduler, task);
    for (selene_cycle cycle = 0; !cycle;) {
        CHECK_OK(selene_driver_wait(scheduler, PATIENCE, &ready));
        CHECK_INT(1, ready);
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
        if (!cycle) continue;
        CHECK(check_now() - begun >= 20 * MS);
        CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
    }
    settle_driver(scheduler);
    /* A driver that is stopped. */
    CHECK_INT(0, pthread_create(&thread, NULL, await_driver, &waiter));
    check_sleep(20 * MS);
    CHECK_OK(selene_driver_stop(scheduler, 0));
    wait_for("the waiter", &waiter.is_done, 1);
    pthread_join(thread, NULL);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED, waiter.status);
    CHECK_INT(-1, waiter.ready);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void wait_inside(selene_run run, const selene_run_info *info, void *context) {
    int32_t ready = -1, found = -1;
    selene_event event = SELENE_INIT(selene_event);
    (void)info;
    CHECK_STATUS(SELENE_ERROR_REENTRANT,
                 selene_driver_wait(*(selene_scheduler *)context, 1, &ready));
    CHECK_STATUS(SELENE_ERROR_REENTRANT,
                 selene_events_next(*(selene_scheduler *)context, 1, &event, &found, NULL));
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void test_waits_inside(void) {
    selene_scheduler scheduler = open_flagged(SELENE_OPTIONS_NO_THREADS);
    selene_window window = window_of(AMPLE, 0, 1);
    CHECK_OK(selene_handler_register(scheduler, "a", -1, wait_inside, NULL, &scheduler, NULL));
    add(scheduler, task_of("a"));
    CHECK_OK(selene_events_open(scheduler, 1, NULL));
    CHECK_OK(selene_driver_open(scheduler, NULL, NULL));
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- the facts of a run -------------------------------------------------------------------- */

static void test_run_get(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = refresh_once("a", 4);
    selene_run_info info = SELENE_INIT(selene_run_info), *facts = NULL;
    selene_cycle cycle;
    int32_t step = -1;
    task.input = "in\0put";
    task.input_length = 6;
    task.handler = SELENE_TEXT("worker");
    add_handler(scheduler, "worker", &work);
    add(scheduler, task);
    cycle = begin(scheduler, window_of(10 * S, S, 1));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_get(info.run, &facts));
    CHECK_INT(sizeof *facts, facts->struct_size);
    CHECK_TEXT("a", facts->id);
    CHECK_TEXT("worker", facts->handler);
    CHECK_INT(6, facts->input.length);
    CHECK(memcmp(facts->input.data, "in\0put", 7) == 0);
    CHECK(facts->id.data != info.id.data && facts->input.data != info.input.data);
    /* All else is what the host was told. */
    facts->id = info.id, facts->handler = info.handler, facts->input = info.input;
    CHECK(memcmp(facts, &info, sizeof info) == 0);
    selene_free(facts);
    facts = NULL;
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_get(info.run, &facts));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_get(info.run + 1, &facts));
    CHECK(facts == NULL);
    selene_free(NULL);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Copies outlive the run, whoever completes it meanwhile. */
static void test_run_get_threads(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = GATE};
    selene_cycle cycle;
    struct receiver receiver = {0};
    selene_run_info *facts = NULL;
    selene_run run;
    add_work(scheduler, "a", &work);
    cycle = push_async(scheduler, window_of(AMPLE, 0, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    run = record(scheduler, "a").run;
    CHECK_OK(selene_run_get(run, &facts));
    CHECK_INT(cycle, facts->cycle);
    atomic_store(&gate, 1);
    wait_for("the report", &receiver.calls, 1);
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_get(run, &facts));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_TEXT("a", facts->id);
    selene_free(facts);
}

/* ---- events that are read --------------------------------------------------------------------- */

/** Takes an event if there is one; how many were lost before it. */
static int take(selene_scheduler scheduler, selene_event *event, uint64_t *lost) {
    int32_t found = -1;
    *lost = 77;
    *event = (selene_event)SELENE_INIT(selene_event);
    CHECK_OK(selene_events_next(scheduler, 0, event, &found, lost));
    return found;
}

static void test_events(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_event event;
    selene_cycle cycle;
    uint64_t lost = 0;
    int32_t fd = -1, found = -1;
    int read = 0;
    event = (selene_event)SELENE_INIT(selene_event);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_events_next(scheduler, 0, &event, &found, &lost));
    CHECK_OK(selene_events_open(scheduler, 100, &fd));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_events_open(scheduler, 100, &fd));
    observe(scheduler);
    CHECK(!is_readable(fd));
    CHECK(!take(scheduler, &event, &lost));
    add_work(scheduler, "a", &work);
    CHECK(is_readable(fd));
    cycle = begin(scheduler, window_of(10 * S, S, 1));
    CHECK_OK(selene_run_fail(next(cycle, "a"), SELENE_OUTCOME_FAILED, -1, "because", -1));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* The queue and the observer are told the same. */
    while (take(scheduler, &event, &lost)) {
        const struct noted *told = &noted[read++];
        CHECK_INT(0, lost);
        CHECK_TEXT(told->id, event.id);
        CHECK_TEXT(told->message, event.message);
        CHECK_INT(told->event.number, event.number);
        CHECK_INT(told->event.type, event.type);
        CHECK_INT(told->event.time, event.time);
        CHECK_INT(told->event.run, event.run);
        CHECK_INT(told->event.detail, event.detail);
    }
    CHECK_INT(0, lost);
    CHECK_INT(atomic_load(&noted_count), read);
    CHECK(read >= 5);
    CHECK(!is_readable(fd));
    CHECK_OK(selene_events_close(scheduler));
    CHECK_OK(selene_events_close(scheduler));
    add(scheduler, refresh_once("b", 3));
    /* Texts live until the next is taken. */
    CHECK_OK(selene_events_open(scheduler, 1, NULL));
    CHECK_OK(selene_task_cancel(scheduler, "b", -1, NULL));
    CHECK(take(scheduler, &event, &lost));
    CHECK_OK(selene_scheduler_prune(scheduler, NULL));
    CHECK_TEXT("b", event.id);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_events_lost(void) {
    selene_scheduler scheduler = open_plain();
    selene_event event;
    uint64_t lost = 0, number = 0;
    char id[16];
    CHECK_OK(selene_events_open(scheduler, 4, NULL));
    for (int i = 0; i < 10; i++) {
        snprintf(id, sizeof id, "t%d", i);
        add(scheduler, task_of(id));
    }
    for (int i = 0; i < 2; i++) {
        CHECK(take(scheduler, &event, &lost));
        CHECK_INT(0, lost);
        CHECK_INT(++number, event.number);
    }
    /* There is room again: the first that finds it says how many did not. */
    add(scheduler, task_of("t10"));
    for (int i = 0; i < 3; i++) {
        CHECK(take(scheduler, &event, &lost));
        CHECK_INT(i < 2 ? 0 : 6, lost);
        number += i < 2 ? 1 : 7;
        CHECK_INT(number, event.number);
    }
    CHECK_TEXT("t10", event.id);
    /* And where none comes any more, the end of the queue says it, once. */
    for (int i = 11; i < 17; i++) {
        snprintf(id, sizeof id, "t%d", i);
        add(scheduler, task_of(id));
    }
    for (int i = 0; i < 4; i++) {
        CHECK(take(scheduler, &event, &lost));
        CHECK_INT(0, lost);
    }
    CHECK(!take(scheduler, &event, &lost));
    CHECK_INT(2, lost);
    CHECK(!take(scheduler, &event, &lost));
    CHECK_INT(0, lost);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

struct reader {
    selene_scheduler scheduler;
    selene_status status;
    int32_t found;
    selene_event event;
    atomic_int is_done;
};

static void *await_event(void *argument) {
    struct reader *reader = argument;
    reader->event = (selene_event)SELENE_INIT(selene_event);
    reader->found = -1;
    reader->status =
        selene_events_next(reader->scheduler, SELENE_NEVER, &reader->event, &reader->found, NULL);
    atomic_store(&reader->is_done, 1);
    return NULL;
}

static void test_events_wait(void) {
    selene_scheduler scheduler = open_real();
    struct reader reader = {.scheduler = scheduler};
    selene_event event = SELENE_INIT(selene_event);
    int32_t found = -1;
    int64_t begun = check_now();
    pthread_t thread;
    CHECK_OK(selene_events_open(scheduler, 4, NULL));
    CHECK_OK(selene_events_next(scheduler, 30 * MS, &event, &found, NULL));
    CHECK_INT(0, found);
    CHECK(check_now() - begun >= 30 * MS);
    CHECK_INT(0, pthread_create(&thread, NULL, await_event, &reader));
    check_sleep(20 * MS);
    add(scheduler, task_of("a"));
    wait_for("the reader", &reader.is_done, 1);
    pthread_join(thread, NULL);
    CHECK_INT(1, reader.found);
    CHECK_TEXT("a", reader.event.id);
    for (int closes = 0; closes < 2; closes++) {
        atomic_store(&reader.is_done, 0);
        CHECK_INT(0, pthread_create(&thread, NULL, await_event, &reader));
        check_sleep(20 * MS);
        if (closes) CHECK_OK(selene_scheduler_close(scheduler, 0));
        else CHECK_OK(selene_events_close(scheduler));
        wait_for("the reader", &reader.is_done, 1);
        pthread_join(thread, NULL);
        CHECK(reader.status == SELENE_ERROR_UNSUPPORTED ||
              (closes && reader.status == SELENE_ERROR_INVALID_HANDLE));
        CHECK_INT(-1, reader.found);
        if (!closes) CHECK_OK(selene_events_open(scheduler, 4, NULL));
    }
}

/** Where the system gives no descriptor nothing is opened, and nothing is left of it: valgrind and the address sanitizer
 *  look. */
static void test_no_descriptor(void) {
    selene_scheduler scheduler = open_plain();
    selene_window window = window_of(S, 0, 1);
    selene_driver driver = SELENE_INIT(selene_driver);
    struct rlimit usual, none;
    int32_t fd = -1;
    window.flags = SELENE_WINDOW_LANES;
    selene_cycle cycle = begin(scheduler, window);
    CHECK_INT(0, getrlimit(RLIMIT_NOFILE, &usual));
    none = (struct rlimit){0, usual.rlim_max};
    CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &none));
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(SELENE_ERROR_EXHAUSTED, selene_events_open(scheduler, 4, &fd));
        CHECK_STATUS(SELENE_ERROR_EXHAUSTED, selene_cycle_descriptor(cycle, &fd));
        CHECK_STATUS(SELENE_ERROR_EXHAUSTED, selene_driver_open(scheduler, &driver, &fd));
    }
    CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &usual));
    CHECK_OK(selene_events_open(scheduler, 4, &fd));
    CHECK_OK(selene_cycle_descriptor(cycle, &fd));
    CHECK_OK(selene_driver_open(scheduler, &driver, &fd));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("B4 every handle and token is below 2^63", test_handles);
    run_test("B2 without threads everything else is possible, and nothing starts one",
             test_no_threads);
    run_test("B2 thread_begin and thread_end are called once on each library thread", test_hooks);
    run_test("B2 the hooks' context ends once, also where there was no thread",
             test_hooks_destroyed);
    run_test("B2 a thread that was left behind is detached when it ends, and then the hooks",
             test_hooks_left_behind);
    run_test("B2 a thread that could not be had is not told of", test_hooks_no_thread);
    run_test("B3 a clock that is told is a host clock, and what is due is done by that call",
             test_told_clock);
    run_test("B3 only a scheduler that was opened for it is told what time it is",
             test_told_clock_refused);
    run_test("B3 descriptors and waits follow a clock that is told", test_told_driver);
    run_test("B3 waiting for the driver ends when a step is due, time is up, or it is stopped",
             test_driver_wait);
    run_test("B3 nothing waits inside a callback", test_waits_inside);
    run_test("B3 a token tells what its handler was told, until the run has come back",
             test_run_get);
    run_test("B3 what a token tells is the caller's", test_run_get_threads);
    run_test("B3 the queue of events tells what the observer is told", test_events);
    run_test("B3 events that find no room are counted, and the count is told once",
             test_events_lost);
    run_test("B3 who waits for an event gets the next, or the end of the queue", test_events_wait);
    run_test("B3 without a descriptor to be had nothing is opened, and nothing is left of it",
             test_no_descriptor);
    return check_end();
}
