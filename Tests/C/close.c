/*
 * close.c - what runs when a scheduler is closed with a grace may complete, and is asked to stop at the end of it (R6)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

/** Begins to close; comes back when nothing more is dispatched. */
static void start_closing(struct closer *closer, selene_scheduler scheduler, int64_t grace) {
    start_closer(closer, scheduler, selene_scheduler_close, grace);
    WAIT_UNTIL(selene_scheduler_resume(scheduler) != SELENE_OK);
}

/** On the system's clock, by which a close waits for runs that threads of the host have pulled. */
static selene_scheduler open_unlimited(selene_options options) {
    selene_scheduler scheduler = 0;
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

/* ---- a thousand at work ------------------------------------------------------------------------------------------- */

enum { COUNT = 1000, TAKERS = 4 };

/** Ids of the tasks: each has a window of its own. */
static char ids[COUNT][8];

struct taker {
    selene_scheduler scheduler;
    int first;
    selene_run runs[COUNT / TAKERS];
    atomic_int has_taken, may_complete;
    pthread_t thread;
};

/** A thousand windows on a store take as long as its disk and the other programs let them: only the alarm ends this. */
static void pass_until(atomic_int *value) {
    while (!atomic_load(value))
        check_sleep(MS);
}

static void *taker_main(void *argument) {
    struct taker *taker = argument;
    for (int k = 0; k < COUNT / TAKERS; k++) {
        const char *id = ids[taker->first + k];
        selene_window window = window_of(SELENE_HOUR, 0, 1);
        window.task = (selene_text){id, -1};
        taker->runs[k] = next(begin(taker->scheduler, window), id);
    }
    atomic_store(&taker->has_taken, 1);
    pass_until(&taker->may_complete);
    for (int k = 0; k < COUNT / TAKERS; k++)
        CHECK_OK(selene_run_complete(taker->runs[k], SELENE_OUTCOME_NEW_DATA));
    return NULL;
}

static void test_thousand(void) {
    static struct taker takers[TAKERS];
    const char *store = file_named("store");
    selene_scheduler scheduler = open_unlimited(stored_options(store));
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_options options = stored_options(store);
    struct closer closer = {0};
    static selene_task tasks[COUNT];
    static const selene_task *all[COUNT];
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    for (int k = 0; k < COUNT; k++) {
        snprintf(ids[k], sizeof ids[k], "%d", k);
        tasks[k] = once_of(ids[k]);
        tasks[k].handler = SELENE_TEXT("work");
        all[k] = &tasks[k];
    }
    CHECK_OK(selene_task_register_batch(scheduler, all, COUNT, NULL, NULL));
    for (int k = 0; k < TAKERS; k++) {
        takers[k].scheduler = scheduler;
        takers[k].first = k * (COUNT / TAKERS);
        CHECK_INT(0, pthread_create(&takers[k].thread, NULL, taker_main, &takers[k]));
    }
    for (int k = 0; k < TAKERS; k++)
        pass_until(&takers[k].has_taken);
    start_closing(&closer, scheduler, SELENE_HOUR);
    for (int k = 0; k < TAKERS; k++)
        atomic_store(&takers[k].may_complete, 1);
    for (int k = 0; k < TAKERS; k++)
        CHECK_INT(0, pthread_join(takers[k].thread, NULL));
    CHECK_OK(join_closer(&closer));
    scheduler = open_unlimited(options);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(COUNT, info.succeeded);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- what goes on meanwhile --------------------------------------------------------------------------------------- */

static void test_driver(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE}, late = {.behaviour = COMPLETE};
    struct closer closer = {0};
    selene_cycle cycle = 0;
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    wait_for("the handler", &work.started, 1);
    start_closing(&closer, scheduler, SELENE_HOUR);
    /* Everything else goes on, and nothing new begins. */
    add_work(scheduler, "late", &late);
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, NULL, &cycle));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_scheduler_resume(scheduler));
    CHECK_STRING("it is being closed", selene_error_last()->message.data);
    CHECK_INT(SELENE_REASON_DRAINED, why(scheduler, "late", SELENE_REASON_DRAINED).reason);
    CHECK_INT(0, atomic_load(&closer.done));
    atomic_store(&gate, 1);
    CHECK_OK(join_closer(&closer));
    CHECK_INT(1, atomic_load(&work.destroyed));
    CHECK_OK(atomic_load(&work.first_status));
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_INT(0, atomic_load(&late.started));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(scheduler, 0));
}

static void test_last_tenth(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = UNTIL_STOPPED};
    struct receiver receiver = {0};
    struct closer closer = {0};
    add_work(scheduler, "a", &work);
    push_async(scheduler, window_of(SELENE_HOUR, 0, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    start_closing(&closer, scheduler, 50 * S);
    WAIT_UNTIL(still(scheduler) == START + 45 * S);
    reach(scheduler, START + 45 * S - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_OK(selene_clock_set(scheduler, START + 45 * S));
    CHECK_OK(join_closer(&closer));
    CHECK_INT(1, atomic_load(&work.destroyed));
    wait_for("the end of the receiver", &receiver.destroyed, 1);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    CHECK_INT(1, receiver.new_data);
}

static void fail_when_asked(struct work *work, selene_run run, const selene_run_info *info) {
    int32_t reason = SELENE_STOP_NONE;
    (void)info;
    while (selene_run_stopping(run, &reason) == SELENE_OK && reason == SELENE_STOP_NONE)
        check_sleep(MS);
    atomic_store(&work->first_status, selene_run_fail(run, SELENE_OUTCOME_FAILED, H, "killed", -1));
}

static void test_given_up(void) {
    const char *store = file_named("store");
    selene_scheduler scheduler = open_told_with(stored_options(store));
    struct work work = {.behaviour = ASK, .ask = fail_when_asked};
    struct closer closer = {0};
    selene_task_info before, after;
    add_once(scheduler, "a", SELENE_KIND_PROCESSING, &work);
    before = record(scheduler, "a");
    push_async(scheduler, window_for(SELENE_KIND_PROCESSING, SELENE_HOUR), &(struct receiver){0},
               NULL);
    wait_for("the handler", &work.started, 1);
    start_closing(&closer, scheduler, 50 * S);
    WAIT_UNTIL(still(scheduler) == START + 45 * S);
    CHECK_OK(selene_clock_set(scheduler, START + 45 * S));
    CHECK_OK(join_closer(&closer));
    CHECK_INT(1, atomic_load(&work.destroyed));
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    scheduler = open_unlimited(stored_options(store));
    after = record(scheduler, "a");
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(0, after.attempts);
    CHECK_INT(SELENE_OUTCOME_STOPPED, after.last_outcome);
    CHECK_INT(SELENE_STOP_SHUTDOWN, after.stop_reason);
    CHECK_INT(before.earliest_begin, after.earliest_begin);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- who closes --------------------------------------------------------------------------------------------------- */

/* What only this thread could complete is over at once, as without a grace. */
static void close_own(int flags) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_window window = window_of(SELENE_HOUR, 0, 1);
    selene_cycle cycle;
    selene_lane lane = 0;
    int32_t step = -1;
    window.flags = (uint32_t)flags;
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window);
    if (flags) {
        CHECK_OK(selene_lane_open(cycle, &lane));
        CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    } else {
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    }
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    if (flags) CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_lane_close(lane));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

static void test_own(void) {
    close_own(0);
    close_own(SELENE_WINDOW_LANES);
}

static void test_sooner(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct closer closer = {0};
    add_work(scheduler, "a", &work);
    push_async(scheduler, window_of(SELENE_HOUR, 0, 1), &(struct receiver){0}, NULL);
    wait_for("the handler", &work.started, 1);
    start_closing(&closer, scheduler, SELENE_HOUR);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, join_closer(&closer));
    atomic_store(&gate, 1);
    wait_for("the end of the handler", &work.destroyed, 1);
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
}

/* With a clock of the host's own it does not wait, and asks for nothing that cannot be done any more. */
static void test_host_clock(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_run run;
    observe(scheduler);
    add_work(scheduler, "a", &work);
    run = next(begin(scheduler, window_of(10 * S, 0, 1)), "a");
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(1, count_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_SHUTDOWN));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("R6 a thousand runs that complete within the grace of a close count", test_thousand);
    run_test("R6 while a close waits nothing is dispatched, and all else goes on", test_driver);
    run_test(
        "R6 in the last tenth of the grace of a close a run is asked to stop, and may complete",
        test_last_tenth);
    run_test("R6 a failure that follows the request of a close is no failed attempt",
             test_given_up);
    run_test("R6 a close does not wait for runs that its own thread has taken", test_own);
    run_test("R6 another close with less grace comes first", test_sooner);
    run_test("R6 with a host clock a close does not wait for runs", test_host_clock);
    return check_end();
}
