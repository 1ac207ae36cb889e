/*
 * drain.c - nothing more is dispatched, and what runs may complete (R6)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

static selene_task once(const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    return task;
}

static selene_scheduler open_unlimited(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = SELENE_UNLIMITED;
    return open_told_with(options);
}

/* ---- on a clock of the host's own --------------------------------------------------------------------------------- */

static void test_pulled(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    selene_window window = window_of(60 * S, 0, 2), now = window_of(60 * S, 0, 1);
    selene_cycle cycle, refused = 0;
    selene_report *report = NULL;
    struct work work = {.behaviour = COMPLETE};
    options.max_pending_refresh = SELENE_UNLIMITED;
    scheduler = open_virtual(options);
    add_handler(scheduler, "a", &work);
    for (int i = 0; i < 3; i++) {
        selene_task task = once(i == 0 ? "a" : i == 1 ? "b" : "c");
        task.handler = SELENE_TEXT("a");
        add(scheduler, task);
    }
    cycle = begin(scheduler, window);
    selene_run run = next(cycle, "a");
    /* With a clock of the host's own it says what it finds, however long the grace. */
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_scheduler_drain(scheduler, SELENE_HOUR));
    CHECK_STRING("1 runs are in flight, or their handlers have not returned",
                 selene_error_last()->message.data);
    next(cycle, NULL);
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_INT(SELENE_REASON_DRAINED, why(scheduler, "b", SELENE_REASON_DRAINED).reason);
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &window, &refused));
    now.task = SELENE_TEXT("b");
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &now, &refused));
    /* Everything else goes on. */
    selene_task late = once("late");
    late.handler = SELENE_TEXT("a");
    add(scheduler, late);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "a").state);
    CHECK_OK(selene_scheduler_drain(scheduler, 0));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->new_data);
    CHECK_INT(2, report->eligible - report->run_count);
    selene_free(report);
    CHECK(wakeup(scheduler) == SELENE_NEVER);
    /* It stays so until it is told otherwise. */
    advance(SELENE_DAY / 2);
    CHECK(wakeup(scheduler) == SELENE_NEVER);
    CHECK_OK(selene_scheduler_resume(scheduler));
    CHECK_OK(selene_scheduler_resume(scheduler));
    CHECK_INT(atomic_load(&clock_now), wakeup(scheduler));
    CHECK_INT(0, explain(scheduler, "b").reason_count);
    CHECK_INT(3, pull(scheduler, window_of(60 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_drain(scheduler, -1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_drain(scheduler, SELENE_DAY + 1));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- on library threads ------------------------------------------------------------------------------------------- */

static void test_driver(void) {
    selene_scheduler scheduler = open_unlimited();
    selene_driver config = SELENE_INIT(selene_driver);
    struct work slow = {.behaviour = GATE}, other = {.behaviour = COMPLETE};
    config.refresh_lanes = 2;
    add_handler(scheduler, "slow", &slow);
    add_handler(scheduler, "other", &other);
    add(scheduler, once("slow"));
    CHECK_OK(selene_driver_start(scheduler, &config));
    wait_for("the slow one", &slow.started, 1);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_scheduler_drain(scheduler, 0));
    add(scheduler, once("other"));
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_drain(scheduler, PATIENCE));
    CHECK_INT(1, atomic_load(&slow.returned));
    CHECK_INT(0, atomic_load(&slow.stopped));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "slow").state);
    CHECK_INT(0, atomic_load(&other.started));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_task_launch(scheduler, "other", -1));
    CHECK_INT(SELENE_REASON_DRAINED, why(scheduler, "other", SELENE_REASON_DRAINED).reason);
    CHECK_OK(selene_scheduler_resume(scheduler));
    REACH_UNTIL(scheduler, atomic_load(&other.started) == 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_busy(void) {
    selene_scheduler scheduler = open_unlimited();
    struct work work = {.behaviour = GATE};
    struct closer drainer = {0};
    add_work(scheduler, "a", &work);
    push_async(scheduler, window_of(H, 0, 1), &(struct receiver){0}, NULL);
    wait_for("the handler", &work.started, 1);
    start_closer(&drainer, scheduler, selene_scheduler_drain, 50 * S);
    WAIT_UNTIL(still(scheduler) == START + 50 * S);
    reach(scheduler, START + 50 * S - 1);
    CHECK_INT(0, atomic_load(&drainer.done));
    reach(scheduler, START + 50 * S);
    CHECK_STATUS(SELENE_ERROR_BUSY, join_closer(&drainer));
    CHECK_INT(0, atomic_load(&work.stopped));
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_drain(scheduler, PATIENCE));
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, record(scheduler, "a").last_outcome);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static atomic_int inside_status;

static void drain_inside(struct work *work, selene_run run, const selene_run_info *info) {
    (void)info;
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_scheduler_drain(work->scheduler, 0));
    CHECK_OK(selene_scheduler_resume(work->scheduler));
    atomic_store(&inside_status, selene_scheduler_drain(work->scheduler, 1));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_inside(void) {
    selene_scheduler scheduler = open_unlimited();
    struct work work = {.behaviour = ASK, .ask = drain_inside};
    add_work(scheduler, "a", &work);
    selene_free(push(scheduler, window_of(H, 0, 1)));
    CHECK_INT(SELENE_ERROR_REENTRANT, atomic_load(&inside_status));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("R6 a drained scheduler dispatches nothing until it is resumed; all else goes on",
             test_pulled);
    run_test("R6 drain waits for what a driver has in flight, and does not ask it to stop",
             test_driver);
    run_test("R6 BUSY when the grace is over; what runs goes on, and may be waited for again",
             test_busy);
    run_test("R6 inside a handler it may be drained, but not waited for", test_inside);
    return check_end();
}
