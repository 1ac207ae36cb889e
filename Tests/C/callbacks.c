/*
 * callbacks.c - functions of the host that take their time: none keeps another from being called, and none a report
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include <dirent.h>

/** Threads of this process. */
static int threads(void) {
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    CHECK(folder != NULL);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

/** Functions that are in their call until the gate opens. */
static atomic_int blocked;

static void wait_at_gate(void) {
    atomic_fetch_add(&blocked, 1);
    /* However long it takes: the alarm of the test ends one that hangs. */
    while (!atomic_load(&gate))
        check_sleep(MS);
    atomic_fetch_sub(&blocked, 1);
}

static void blocking_stop(selene_run run, int32_t reason, void *context) {
    (void)run, (void)reason;
    atomic_fetch_add(&((struct work *)context)->stopped, 1);
    wait_at_gate();
}

static void blocking_destroy(void *context) {
    wait_at_gate();
    work_destroy(context);
}

static void blocking_report(const selene_report *report, void *context) {
    wait_at_gate();
    receive(report, context);
}

static void blocking_observer(const selene_event *event, void *context) {
    if (atomic_load(&gate) == 0) wait_at_gate();
    note(event, context);
}

/** A task of a handler whose run lasts until its stop function is called, or until the gate opens. */
static void await_stop(struct work *work, selene_run run, const selene_run_info *info) {
    int64_t limit = check_now() + PATIENCE;
    (void)info;
    while (!atomic_load(&work->stopped) && !atomic_load(&gate) && check_now() < limit)
        check_sleep(MS);
    complete_twice(work, run);
}

static void add_heedful(selene_scheduler scheduler, const char *id, struct work *work,
                        selene_stop_fn stop) {
    work->behaviour = ASK;
    work->ask = await_stop;
    work->scheduler = scheduler;
    CHECK_OK(selene_handler_register(scheduler, id, -1, work_run, stop, work, work_destroy));
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task_of(id)));
}

/* ============================================================================
 *  STOP FUNCTIONS
 * ========================================================================= */

static void *let_time_go_on(void *scheduler) {
    CHECK_OK(selene_clock_set(*(selene_scheduler *)scheduler, START + 10 * S));
    return NULL;
}

/* Three of four stop functions never return; all are called in the reserve, and who heeds his own completes in time. */
static void test_stops(void) {
    selene_scheduler scheduler = open_told();
    struct work deaf[3] = {{0}}, heeding = {0};
    struct runner runner;
    selene_report *report;
    pthread_t thread;
    add_heedful(scheduler, "a", &deaf[0], blocking_stop);
    add_heedful(scheduler, "b", &deaf[1], blocking_stop);
    add_heedful(scheduler, "c", &deaf[2], blocking_stop);
    add_heedful(scheduler, "d", &heeding, work_stop);
    start_runner(&runner, scheduler, window_of(20 * S, 10 * S, 4));
    for (int i = 0; i < 3; i++)
        wait_for("the handlers", &deaf[i].started, 1);
    wait_for("the handlers", &heeding.started, 1);
    /* That call delivers what it causes, and may block. */
    CHECK_INT(0, pthread_create(&thread, NULL, let_time_go_on, &scheduler));
    report = join_runner(&runner);
    CHECK_INT(4, report->run_count);
    CHECK_INT(4, report->new_data);
    CHECK_INT(START + 10 * S, report->ended_at);
    selene_free(report);
    CHECK_INT(3, atomic_load(&blocked));
    CHECK_INT(SELENE_OK, atomic_load(&heeding.first_status));
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(1, atomic_load(&heeding.stopped));
    CHECK_INT(1, atomic_load(&deaf[2].stopped));
    CHECK_INT(1, atomic_load(&deaf[2].destroyed));
}

static void *cancel_all(void *scheduler) {
    CHECK_OK(selene_task_cancel_all(*(selene_scheduler *)scheduler, NULL));
    return NULL;
}

/* The same for the stops of one call; what blocks is the call alone. */
static void test_stops_of_a_call(void) {
    selene_scheduler scheduler = open_told();
    struct work works[4] = {{0}};
    struct receiver receiver = {0};
    pthread_t thread;
    static const char *const ids[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++)
        add_heedful(scheduler, ids[i], &works[i], i < 3 ? blocking_stop : work_stop);
    push_async(scheduler, window_of(60 * S, 0, 4), &receiver, NULL);
    for (int i = 0; i < 4; i++)
        wait_for("the handlers", &works[i].started, 1);
    CHECK_INT(0, pthread_create(&thread, NULL, cancel_all, &scheduler));
    for (int i = 0; i < 4; i++)
        wait_for("the stops", &works[i].stopped, 1);
    wait_for("the report", &receiver.calls, 1);
    CHECK_INT(3, atomic_load(&blocked));
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* Many that return at once need no thread each. */
static void test_many_stops(void) {
    enum { RUNS = 60 };
    static struct work works[RUNS];
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct receiver receiver = {0};
    int before;
    options.max_overrun_threads = 2 * RUNS;
    scheduler = open_told_with(options);
    for (int i = 0; i < RUNS; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        add_heedful(scheduler, id, &works[i], work_stop);
    }
    push_async(scheduler, window_of(60 * S, 0, RUNS), &receiver, NULL);
    for (int i = 0; i < RUNS; i++)
        wait_for("the handlers", &works[i].started, 1);
    before = threads();
    CHECK_OK(selene_task_cancel_all(scheduler, NULL));
    for (int i = 0; i < RUNS; i++)
        wait_for("the stops", &works[i].stopped, 1);
    wait_for("the report", &receiver.calls, 1);
    CHECK(threads() < before + RUNS / 2);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ============================================================================
 *  THE CAP
 * ========================================================================= */

/** Lets time go on; the stops come on threads of the library, and the call waits for them. */
static void *advance_to_reserve(void *scheduler) {
    CHECK_OK(selene_clock_advance(*(selene_scheduler *)scheduler, START + 10 * S, 0, SELENE_NEVER,
                                  NULL));
    return NULL;
}

/* Stop functions that never return count for the cap of threads, as handlers do. */
static void test_cap(void) {
    enum { MOST = 3 };
    static const char *const ids[MOST] = {"a", "b", "c"};
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work works[MOST] = {{0}}, quick = {0};
    selene_window window = window_of(20 * S, 10 * S, MOST);
    struct runner runner;
    pthread_t thread;
    options.max_overrun_threads = MOST;
    scheduler = open_told_with(options);
    observe(scheduler);
    for (int k = 0; k < MOST; k++)
        add_heedful(scheduler, ids[k], &works[k], blocking_stop);
    start_runner(&runner, scheduler, window);
    for (int k = 0; k < MOST; k++)
        wait_for("the handlers", &works[k].started, 1);
    CHECK_INT(0, pthread_create(&thread, NULL, advance_to_reserve, &scheduler));
    wait_for("the stops that block", &blocked, MOST);
    selene_free(join_runner(&runner));
    /* Those that take longer than a moment count. */
    CHECK_INT(0, overruns(scheduler));
    CHECK_OK(selene_clock_set(scheduler, START + 60 * S));
    /* The observer may have been called meanwhile, too. */
    wait_for_overruns(scheduler, MOST);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run(scheduler, &window, NULL));
    wait_for_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_OVERRUN, 1);
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    wait_for_overruns(scheduler, 0);
    wait_for_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_OVERRUN, 2);
    add_heedful(scheduler, "d", &quick, work_stop);
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* So do reports; the other reports come. */
static void test_reports(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    struct receiver stuck = {0}, quick = {0};
    selene_window window = window_of(H, 0, 1);
    options.max_overrun_threads = 1;
    scheduler = open_told_with(options);
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_cycle_run_async(scheduler, &window, blocking_report, &stuck, receiver_destroy,
                                    NULL, NULL));
    wait_for("the report that blocks", &blocked, 1);
    CHECK_OK(
        selene_cycle_run_async(scheduler, &window, receive, &quick, receiver_destroy, NULL, NULL));
    wait_for("the report", &quick.calls, 1);
    CHECK_INT(0, overruns(scheduler));
    /* A call that lasts longer than a moment counts. */
    CHECK_OK(selene_clock_set(scheduler, START + 60 * S));
    wait_for_overruns(scheduler, 1);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run(scheduler, &window, NULL));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(1, atomic_load(&stuck.destroyed));
}

/* ============================================================================
 *  DESTROY
 * ========================================================================= */

static void *unregister(void *scheduler) {
    CHECK_OK(selene_handler_unregister(*(selene_scheduler *)scheduler, "a", -1));
    return NULL;
}

static void test_destroy(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    pthread_t thread;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, work_run, NULL, &work, blocking_destroy));
    add_work(scheduler, "b", &other);
    observe(scheduler);
    CHECK_INT(0, pthread_create(&thread, NULL, unregister, &scheduler));
    wait_for("the destroy that blocks", &blocked, 1);
    selene_free(push(scheduler, window_of(H, 0, 2)));
    push_async(scheduler, window_of(H, 0, 2), &receiver, NULL);
    wait_for("the report", &receiver.calls, 1);
    wait_for_events(0, SELENE_EVENT_CYCLE_ENDED, -1, 2);
    CHECK_INT(0, atomic_load(&work.destroyed));
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(1, atomic_load(&work.destroyed));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ============================================================================
 *  OBSERVERS
 * ========================================================================= */

/* While the observer is in one event everything goes on, and it hears of all of it in order. */
static void test_observer(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    selene_window window = window_of(H, 0, 2), lend = window_of(H, 0, 1);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    selene_cycle cycle = 0;
    selene_lane lane = 0;
    selene_task soon = once_of("soon");
    int32_t step = -1;
    soon.handler = SELENE_TEXT("a");
    CHECK_OK(selene_scheduler_observe(scheduler, blocking_observer, NULL, note_destroy));
    add_handler(scheduler, "a", &work);
    CHECK_INT(0, atomic_load(&blocked));
    /* The observer is called on a thread of the library: this call has one. */
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    wait_for("the observer that blocks", &blocked, 1);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task_of("a")));
    selene_free(push(scheduler, window));
    push_async(scheduler, window, &receiver, NULL);
    wait_for("the report", &receiver.calls, 1);
    lend.flags = SELENE_WINDOW_LANES;
    cycle = begin(scheduler, lend);
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, -1, PATIENCE, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NEW_DATA, PATIENCE, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_cycle_wait(cycle, PATIENCE, &report, NULL));
    CHECK(report != NULL);
    selene_free(report);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, soon));
    CHECK_OK(selene_driver_start(scheduler, NULL));
    wait_for("the driver's window", &work.returned, 3);
    CHECK_OK(selene_driver_stop(scheduler, GRACE));
    CHECK_INT(0, atomic_load(&noted_count));
    CHECK_INT(1, atomic_load(&blocked));
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(1, atomic_load(&observers_destroyed));
    CHECK(noted_count > 12);
    for (int i = 0; i < noted_count; i++)
        CHECK_INT(i + 1, noted[i].event.number);
}

/* Who runs a cycle does not wait for the observer of what happened in it. */
static void test_slow_observer(void) {
    enum { TASKS = 40 };
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    selene_report *report;
    add_handler(scheduler, "a", &work);
    for (int i = 0; i < TASKS; i++) {
        char id[8];
        selene_task task;
        snprintf(id, sizeof id, "t%d", i);
        task = task_of(id);
        task.handler = SELENE_TEXT("a");
        add(scheduler, task);
    }
    CHECK_OK(selene_scheduler_observe(scheduler, blocking_observer, NULL, note_destroy));
    report = push(scheduler, window_of(H, 0, 1));
    CHECK_INT(TASKS, report->run_count);
    CHECK_INT(0, atomic_load(&noted_count));
    selene_free(report);
    atomic_store(&gate, 1);
    /* Each run has two events, beside those of the window. */
    WAIT_UNTIL(atomic_load(&noted_count) > 2 * TASKS);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* Without threads of the library it is told on those of the host, and an observer that blocks holds up one of them. */
static void *register_one(void *scheduler) {
    add(*(selene_scheduler *)scheduler, task_of("first"));
    return NULL;
}

static void test_observer_without_threads(void) {
    selene_scheduler scheduler = open_told();
    pthread_t thread;
    int before = threads();
    CHECK_OK(selene_handler_register(scheduler, "b", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_scheduler_observe(scheduler, blocking_observer, NULL, note_destroy));
    CHECK_INT(0, pthread_create(&thread, NULL, register_one, &scheduler));
    wait_for("the observer that blocks", &blocked, 1);
    add(scheduler, task_of("b"));
    CHECK_INT(1, pull(scheduler, window_of(H, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(before + 1, threads());
    CHECK_INT(0, atomic_load(&noted_count));
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(6, atomic_load(&noted_count));
    for (int i = 0; i < noted_count; i++)
        CHECK_INT(i + 1, noted[i].event.number);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static atomic_int told, missing, losses;
static _Atomic uint64_t last_number;
static char loss[128], caught_up[128];

static void counting_observer(const selene_event *event, void *context) {
    uint64_t expected = atomic_load(&last_number) + 1;
    (void)context;
    if (atomic_load(&gate) == 0) wait_at_gate();
    if (event->number != expected) {
        atomic_fetch_add(&missing, (int)(event->number - expected));
        CHECK_INT(SELENE_EVENT_TROUBLE, event->type);
        CHECK_INT(SELENE_TROUBLE_OBSERVER, event->detail);
        CHECK_INT(SELENE_OK, event->status);
        snprintf(caught_up, sizeof caught_up, "%s", event->message.data);
    } else if (event->type == SELENE_EVENT_TROUBLE && event->status != SELENE_OK) {
        CHECK_INT(SELENE_TROUBLE_OBSERVER, event->detail);
        CHECK_INT(SELENE_ERROR_EXHAUSTED, event->status);
        snprintf(loss, sizeof loss, "%s", event->message.data);
        atomic_fetch_add(&losses, 1);
    }
    atomic_store(&last_number, event->number);
    atomic_fetch_add(&told, 1);
}

/* An observer that does not keep up loses events; it is told how many, and the scheduler says so meanwhile. */
static void test_observer_falls_behind(void) {
    enum { TASKS = 1000, ROUNDS = 70 };
    selene_scheduler scheduler = open_told();
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_task *tasks = calloc(TASKS, sizeof *tasks);
    const selene_task **list = calloc(TASKS, sizeof *list);
    char(*ids)[16] = calloc(TASKS, sizeof *ids);
    char expected[64];
    pthread_t thread;
    CHECK_OK(selene_scheduler_observe(scheduler, counting_observer, NULL, NULL));
    CHECK_INT(0, pthread_create(&thread, NULL, register_one, &scheduler));
    wait_for("the observer that blocks", &blocked, 1);
    for (int i = 0; i < TASKS; i++) {
        snprintf(ids[i], sizeof ids[i], "t%d", i);
        tasks[i] = task_of(ids[i]);
        list[i] = &tasks[i];
    }
    for (int i = 0; i < ROUNDS; i++)
        CHECK_OK(selene_task_register_batch(scheduler, list, TASKS, NULL, NULL));
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(SELENE_TROUBLE_OBSERVER, info.troubles);
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    add(scheduler, task_of("last"));
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(0, info.troubles);
    CHECK_INT(1, atomic_load(&losses));
    CHECK_INT(1 + TASKS * ROUNDS - 65536, atomic_load(&missing) + 1);
    CHECK_INT(1 + TASKS * ROUNDS + 2 + 1, atomic_load(&last_number));
    CHECK_INT(atomic_load(&last_number), atomic_load(&told) + atomic_load(&missing));
    snprintf(expected, sizeof expected, "%d events were lost", atomic_load(&missing));
    CHECK_STRING(expected, caught_up);
    CHECK(loss[0] != 0);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    free(tasks);
    free(list);
    free(ids);
}

/* Threads that change and run, an observer that is slow now and then: each event once, one at a time, in order. */
static void *change(void *argument) {
    selene_scheduler scheduler = *(selene_scheduler *)argument;
    static atomic_int numbers;
    int number = atomic_fetch_add(&numbers, 1);
    for (int i = 0; i < 400; i++) {
        char id[16];
        selene_task task;
        snprintf(id, sizeof id, "%d-%d", number, i);
        task = task_of(id);
        task.handler = SELENE_TEXT("a");
        add(scheduler, task);
        if (i % 3 == 0) CHECK_OK(selene_task_cancel(scheduler, id, -1, NULL));
    }
    return NULL;
}

static void ordering_observer(const selene_event *event, void *context) {
    (void)context;
    CHECK_INT(1, atomic_fetch_add(&observing, 1) + 1);
    CHECK_INT(atomic_load(&last_number) + 1, event->number);
    if (event->number % 512 == 0) check_sleep(20 * MS);
    atomic_store(&last_number, event->number);
    atomic_fetch_sub(&observing, 1);
}

static void test_order(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    pthread_t changers[3];
    CHECK_OK(selene_scheduler_observe(scheduler, ordering_observer, NULL, note_destroy));
    add_handler(scheduler, "a", &work);
    for (int i = 0; i < 3; i++)
        CHECK_INT(0, pthread_create(&changers[i], NULL, change, &scheduler));
    for (int i = 0; i < 5; i++)
        selene_free(push(scheduler, window_of(H, 0, 3)));
    for (int i = 0; i < 3; i++)
        CHECK_INT(0, pthread_join(changers[i], NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(1, atomic_load(&observers_destroyed));
    CHECK(last_number > 3 * 533);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("C21 stop functions that block keep no other from being called, nor the report",
             test_stops);
    run_test("C21 the same for the stops of one call", test_stops_of_a_call);
    run_test("C21 stop functions that return need no thread each", test_many_stops);
    run_test("C21 stop functions that never return count for the cap of threads", test_cap);
    run_test("C21 reports that block keep no other from coming, and count for the cap",
             test_reports);
    run_test("C21 a destroy that blocks keeps nothing else from going on", test_destroy);
    run_test("C21 while the observer is in one event everything goes on", test_observer);
    run_test("C21 who runs a cycle does not wait for the observer", test_slow_observer);
    run_test("C21 without threads of the library an observer that blocks holds up one call",
             test_observer_without_threads);
    run_test("C19 an observer that falls behind is told how many events were lost",
             test_observer_falls_behind);
    run_test("C18 each event is told once, one at a time and in order, whoever tells it",
             test_order);
    return check_end();
}
