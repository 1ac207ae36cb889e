/*
 * timeout.c - a run that takes longer than its task allows is asked to stop, then over, and its lane is free (R3)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include <stddef.h>

static selene_task timed(const char *id, int64_t timeout) {
    selene_task task = task_of(id);
    task.timeout = timeout;
    return task;
}

static void add_plain(selene_scheduler scheduler, selene_task task) {
    CHECK_OK(selene_handler_register(scheduler, task.id.data, -1, NULL, NULL, NULL, NULL));
    add(scheduler, task);
}

static selene_scheduler open_with_grace(int64_t stop_grace, int is_virtual) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.stop_grace = none_of(stop_grace);
    return is_virtual ? open_virtual(options) : open_told_with(options);
}

/** What `next` answers where there is no run: WAIT until an instant, or DONE, which is 0 here. */
static int64_t waits_until(selene_cycle cycle) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    int64_t wake_at = 0;
    CHECK_OK(selene_cycle_next(cycle, &step, &info, &wake_at));
    CHECK(step == SELENE_STEP_WAIT || step == SELENE_STEP_DONE);
    return step == SELENE_STEP_WAIT ? wake_at : 0;
}

static int32_t reason_of(selene_run run) {
    int32_t reason = -1;
    CHECK_OK(selene_run_stopping(run, &reason));
    return reason;
}

/* ---- on a clock of the host's own --------------------------------------------------------------------------------- */

static void test_asked(void) {
    selene_scheduler scheduler = open_with_grace(5 * S, 1);
    struct work work = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    observe(scheduler);
    add_handler(scheduler, "slow", &work);
    add(scheduler, timed("slow", 10 * S));
    CHECK_INT(10 * S, record(scheduler, "slow").timeout);
    selene_cycle cycle = begin(scheduler, window_of(60 * S, 0, 1));
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_INT(START + 10 * S, info.expires_at);
    CHECK_INT(START + 15 * S, info.deadline);
    CHECK_INT(START + 15 * S, why(scheduler, "slow", SELENE_REASON_RUNNING).may_change_at);
    CHECK_INT(START + 10 * S, waits_until(cycle));
    advance(10 * S - 1);
    CHECK_INT(SELENE_STOP_NONE, reason_of(info.run));
    CHECK_INT(0, atomic_load(&work.stopped));
    advance(1);
    CHECK_INT(SELENE_STOP_TIMED_OUT, reason_of(info.run));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_TIMED_OUT, atomic_load(&work.reason));
    CHECK_INT(1, count_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_TIMED_OUT));
    CHECK_INT(START + 15 * S + 1, waits_until(cycle));
    /* Exactly at the end of its grace it may still complete. */
    advance(5 * S);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(15 * S, record(scheduler, "slow").response_times[0]);
    CHECK_INT(SELENE_STOP_NONE, record(scheduler, "slow").stop_reason);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_STOP_TIMED_OUT, report->runs[0].stop_reason);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_over(void) {
    selene_scheduler scheduler = open_with_grace(5 * S, 1);
    selene_report *report = NULL;
    selene_task slow = refresh_once("slow", 5), other = refresh_once("other", 1);
    observe(scheduler);
    slow.timeout = 10 * S;
    slow.max_attempts = 3;
    slow.backoff_delay = 60 * S;
    add_plain(scheduler, slow);
    add_plain(scheduler, other);
    selene_cycle cycle = begin(scheduler, window_of(10 * SELENE_MINUTE, 0, 1));
    selene_run run = next(cycle, "slow");
    /* However late the host looks, it was over when its grace was. */
    advance(30 * S);
    next(cycle, "other");
    selene_task_info after = record(scheduler, "slow");
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(1, after.attempts);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, after.last_outcome);
    CHECK_INT(SELENE_STOP_TIMED_OUT, after.stop_reason);
    CHECK_INT(START + 15 * S, after.last_run);
    CHECK_INT(15 * S, after.response_times[0]);
    CHECK_INT(START + 75 * S, after.earliest_begin);
    CHECK_INT(START + 15 * S, after.failed_at);
    CHECK_INT(1, count_events(0, SELENE_EVENT_COMPLETED, SELENE_OUTCOME_EXPIRED));
    CHECK_INT(1, why(scheduler, "slow", SELENE_REASON_STILL_RUNNING).reason > 0);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->expired);
    CHECK_INT(1, report->stopped);
    CHECK_INT(15 * S, report->runs[0].response_time);
    CHECK_INT(SELENE_STOP_TIMED_OUT, report->runs[0].stop_reason);
    CHECK_INT(SELENE_STOP_SHUTDOWN, report->runs[1].stop_reason);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The window goes before: nothing lasts longer than its deadline, and who is asked for its sake is not asked again. */
static void test_window(void) {
    selene_scheduler scheduler = open_with_grace(SELENE_MINUTE, 1);
    struct work work = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    add_handler(scheduler, "slow", &work);
    add(scheduler, timed("slow", 25 * S));
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 10 * S, 1));
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_INT(START + 20 * S, info.expires_at);
    CHECK_INT(START + 30 * S, info.deadline);
    selene_run run = info.run;
    CHECK_INT(START + 20 * S, waits_until(cycle));
    advance(20 * S);
    CHECK_INT(SELENE_STOP_EXPIRING, reason_of(run));
    CHECK_INT(START + 25 * S, waits_until(cycle));
    advance(5 * S);
    CHECK_INT(SELENE_STOP_TIMED_OUT, reason_of(run));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(START + 30 * S + 1, waits_until(cycle));
    advance(6 * S);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->expired);
    CHECK_INT(30 * S, report->runs[0].response_time);
    selene_free(report);
    /* What ends a run goes before its timeout. */
    advance(11 * SELENE_MINUTE);
    cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    run = next(cycle, "slow");
    advance(25 * S);
    CHECK_INT(SELENE_STOP_TIMED_OUT, reason_of(run));
    CHECK_OK(selene_task_cancel(scheduler, "slow", -1, NULL));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(SELENE_STOP_CANCELLED, report->runs[0].stop_reason);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A lane's thread that hangs is left behind when its run is over; another one goes on. */
static void test_lane(void) {
    selene_scheduler scheduler = open_with_grace(S, 1);
    selene_window window = window_of(SELENE_HOUR, 0, 1);
    selene_lane first = 0, second = 0;
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    int64_t wake_at = 0;
    selene_report *report = NULL;
    window.flags = SELENE_WINDOW_LANES;
    selene_task slow = refresh_once("slow", 5);
    slow.timeout = 2 * S;
    add_plain(scheduler, slow);
    add_plain(scheduler, refresh_once("other", 1));
    selene_cycle cycle = begin(scheduler, window);
    CHECK_OK(selene_lane_open(cycle, &first));
    CHECK_OK(selene_lane_next(first, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_TEXT("slow", info.id);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_lane_open(cycle, &second));
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, &wake_at));
    CHECK_INT(START + 2 * S, wake_at);
    advance(2 * S);
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, &wake_at));
    CHECK_INT(START + 3 * S + 1, wake_at);
    CHECK_INT(0, overruns(scheduler));
    advance(S + 1);
    CHECK_OK(selene_lane_open(cycle, &second));
    CHECK_INT(1, overruns(scheduler));
    CHECK_OK(selene_lane_next(second, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_TEXT("other", info.id);
    CHECK_OK(selene_lane_next(first, SELENE_OUTCOME_NEW_DATA, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_INT(0, overruns(scheduler));
    CHECK_OK(selene_lane_close(first));
    CHECK_OK(selene_lane_next(second, SELENE_OUTCOME_NEW_DATA, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_lane_close(second));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_range(void) {
    selene_scheduler scheduler = open_plain();
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler refused = 0;
    selene_task task = timed("a", -1);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    CHECK_STRING("timeout: -1 ns is out of range, allowed are 0 … 24 h",
                 selene_error_last()->message.data);
    task.timeout = SELENE_DAY + 1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    task.timeout = SELENE_DAY;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    /* A program that was compiled before there was one has none. */
    task.timeout = -1;
    task.struct_size = offsetof(selene_task, timeout);
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_INT(0, record(scheduler, "a").timeout);
    options.stop_grace = -2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &refused));
    options.stop_grace = SELENE_DAY + 1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &refused));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Kept in a store, and of a store that has none it is 0. */
static void test_stored(void) {
    selene_options options = SELENE_INIT(selene_options);
    char path[80], file[96];
    check_make_folder(path, sizeof path, "timeout");
    snprintf(file, sizeof file, "%s/store", path);
    options.path = (selene_text){file, -1};
    for (int round = 0; round < 2; round++) {
        selene_scheduler scheduler = open_virtual(options);
        if (round == 0) {
            add(scheduler, timed("a", 90 * S));
            add(scheduler, timed("b", 0));
        }
        CHECK_INT(90 * S, record(scheduler, "a").timeout);
        CHECK_INT(0, record(scheduler, "b").timeout);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    CHECK_INT(0, unlink(file));
    CHECK_INT(0, rmdir(path));
}

/* ---- on library threads ------------------------------------------------------------------------------------------- */

/** With one lane, the thread that hangs is left behind, and the next task runs on another. */
static void test_pushed(void) {
    selene_scheduler scheduler = open_with_grace(20 * S, 0);
    struct work stuck = {.behaviour = GATE}, other = {.behaviour = COMPLETE};
    struct runner runner;
    selene_task slow = refresh_once("stuck", 5);
    slow.timeout = 50 * S;
    add_handler(scheduler, "stuck", &stuck);
    add_handler(scheduler, "other", &other);
    add(scheduler, slow);
    add(scheduler, refresh_once("other", 1));
    start_runner(&runner, scheduler, window_of(H, 0, 1));
    wait_for("the handler", &stuck.started, 1);
    reach(scheduler, START + 50 * S - 1);
    CHECK_INT(0, atomic_load(&stuck.stopped));
    reach(scheduler, START + 50 * S);
    CHECK_INT(1, atomic_load(&stuck.stopped));
    CHECK_INT(SELENE_STOP_TIMED_OUT, atomic_load(&stuck.reason));
    reach(scheduler, START + 70 * S);
    CHECK_INT(0, atomic_load(&other.started));
    reach(scheduler, START + 70 * S + 1);
    finished(scheduler);
    CHECK_INT(1, atomic_load(&other.returned));
    CHECK_INT(0, atomic_load(&stuck.returned));
    selene_report *report = join_runner(&runner);
    CHECK_INT(START + 70 * S + 1, report->ended_at);
    CHECK_INT(1, report->expired);
    CHECK_INT(1, report->new_data);
    CHECK_INT(70 * S, report->runs[0].response_time);
    selene_free(report);
    CHECK_INT(1, overruns(scheduler));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(1, atomic_load(&stuck.destroyed));
}

/** Inline the handler asks, and is told. */
static void test_inline(void) {
    selene_scheduler scheduler = open_with_grace(H, 0);
    struct work work = {.behaviour = UNTIL_STOPPED};
    selene_window window = window_of(2 * H, 0, 1);
    struct runner runner;
    selene_report *report;
    window.flags = SELENE_WINDOW_INLINE;
    add_handler(scheduler, "slow", &work);
    add(scheduler, timed("slow", 20 * S));
    start_runner(&runner, scheduler, window);
    wait_for("the handler", &work.started, 1);
    reach(scheduler, START + 20 * S - 1);
    CHECK_INT(SELENE_STOP_NONE, reason_of(atomic_load(&work.run)));
    reach(scheduler, START + 20 * S);
    finished(scheduler);
    report = join_runner(&runner);
    CHECK_INT(SELENE_STOP_TIMED_OUT, atomic_load(&work.reason));
    CHECK_INT(1, report->new_data);
    CHECK_INT(START + 20 * S, report->ended_at);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- a driver ----------------------------------------------------------------------------------------------------- */

enum neighbour { HONEST, HANGS, FAILS, LINGERS };

static void sleep_long(struct work *work, selene_run run, const selene_run_info *info) {
    int32_t reason = -1;
    (void)work, (void)info;
    /* Both are refused once the scheduler is closed. */
    (void)selene_run_sleep(run, 20 * S, &reason);
    (void)selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

/** Four lanes, a task that is due each second, and a neighbour: it runs on time whatever the neighbour does. Of those that
 *  hang there are more than lanes. */
static void neighbour(enum neighbour kind) {
    enum { HANGING = 6, SECONDS = 100 };
    selene_scheduler scheduler = open_with_grace(S, 0);
    selene_driver config = SELENE_INIT(selene_driver);
    /* Not on the stack: the close leaves handlers behind. */
    static struct work tick = {.behaviour = COMPLETE},
                       other = {.behaviour = ASK, .ask = sleep_long};
    static struct work hanging[HANGING] = {{.behaviour = GATE}, {.behaviour = GATE},
                                           {.behaviour = GATE}, {.behaviour = GATE},
                                           {.behaviour = GATE}, {.behaviour = GATE}};
    selene_task a = refresh_once("tick", 3), b = refresh_once("other", 5);
    int seconds_late = 0;
    a.schedule = b.schedule = SELENE_SCHEDULE_PERIODIC;
    a.period = S;
    b.period = kind == FAILS || kind == LINGERS ? SELENE_DAY : 1;
    if (kind == LINGERS) other.behaviour = COMPLETE_GATE;
    if (kind == FAILS) {
        other.behaviour = COMPLETE;
        other.outcome = SELENE_OUTCOME_FAILED;
        b.backoff = SELENE_BACKOFF_LINEAR;
        b.backoff_delay = 10 * S;
    }
    config.refresh_lanes = 4;
    config.refresh_budget = H;
    add_handler(scheduler, "tick", &tick);
    add_handler(scheduler, "other", &other);
    add(scheduler, b);
    add(scheduler, a);
    for (int i = 0; kind == HANGS && i < HANGING; i++) {
        char id[16];
        snprintf(id, sizeof id, "hangs %d", i);
        add_handler(scheduler, id, &hanging[i]);
        selene_task task = refresh_once(id, 5);
        task.timeout = 5 * S;
        add(scheduler, task);
    }
    CHECK_OK(selene_driver_start(scheduler, &config));
    wait_for("the neighbour", &other.started, 1);
    for (int k = 0; k <= SECONDS; k++) {
        const int before = atomic_load(&tick.started);
        reach(scheduler, START + k * S);
        /* What is due is done before time goes on, that of the first instant, too, so that this thread's haste makes
         * nothing late. */
        WAIT_UNTIL(!why(scheduler, "tick", SELENE_REASON_RUNNING).reason &&
                   !why(scheduler, "tick", SELENE_REASON_STILL_RUNNING).reason);
        if (k > 0 && atomic_load(&tick.started) == before) seconds_late++;
    }
    /* Each lane waits twice at most until a handler that hangs is over: for its timeout and the grace. */
    CHECK_BETWEEN(0, seconds_late, kind == HANGS ? 2 * 6 + 2 : 0);
    if (kind == HANGS) {
        wait_for_overruns(scheduler, HANGING);
        CHECK_INT(SELENE_REASON_STILL_RUNNING,
                  why(scheduler, "hangs 5", SELENE_REASON_STILL_RUNNING).reason);
    }
    if (kind == FAILS) CHECK(atomic_load(&other.started) > 1);
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_honest(void) {
    neighbour(HONEST);
}
static void test_hangs(void) {
    neighbour(HANGS);
}
static void test_fails(void) {
    neighbour(FAILS);
}
/* Its run is over, its window is not. */
static void test_lingers(void) {
    neighbour(LINGERS);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test(
        "R3 a run that has timed out is asked to stop and may complete until the end of its grace",
        test_asked);
    run_test("R3 then it is over: expired, a failure of as long as it took", test_over);
    run_test("R3 no grace goes beyond the deadline, and what ends a run goes before its timeout",
             test_window);
    run_test("R3 the lane of a run that is over is free for another thread", test_lane);
    run_test("R3 timeout and stop_grace have their ranges", test_range);
    run_test("R3 a timeout is stored", test_stored);
    run_test("R3 a library thread that hangs is replaced", test_pushed);
    run_test("R3 an inline handler is told", test_inline);
    run_test("R3 beside an honest long run a task of a driver runs on time", test_honest);
    run_test("R3 beside a run that hangs a task of a driver runs on time", test_hangs);
    run_test("R3 beside a run that fails a task of a driver runs on time", test_fails);
    run_test("R3 beside a handler that completes and lingers a task of a driver runs on time",
             test_lingers);
    return check_end();
}
