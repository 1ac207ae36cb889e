/*
 * open_ended.c - windows whose deadline nobody decided: they bound how long they pick, not how long runs take (V1 to V3)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#define STRETCH (45 * S)

static selene_options roomy(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = 4000;
    return options;
}

static selene_driver driver_of(uint32_t lanes) {
    selene_driver driver = SELENE_INIT(selene_driver);
    driver.refresh_lanes = driver.processing_lanes = lanes;
    return driver;
}

/* A handler that takes 45 s, unless it is asked to stop. */
static void take_long(struct work *work, selene_run run, const selene_run_info *info) {
    (void)work, (void)info;
    int32_t reason = -1;
    (void)selene_run_sleep(run, STRETCH, &reason);
    if (reason == SELENE_STOP_NONE) (void)selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void check_succeeded_once(selene_scheduler scheduler, const struct work *work,
                                 const char *id) {
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, id).state);
    CHECK_INT(1, record(scheduler, id).attempts);
    CHECK_INT(1, atomic_load(&work->started));
}

/* The defaults of a driver decide no deadline; each profile that does not ration time leaves it at that. */
static void test_long(void) {
    const int32_t profiles[] = {SELENE_PROFILE_OPEN, SELENE_PROFILE_SERVER};
    for (int i = 0; i < 4; i++) {
        selene_scheduler scheduler = open_told();
        struct work work = {.behaviour = ASK, .ask = take_long};
        selene_task task = refresh_once("report", 3);
        selene_driver driver = driver_of(1);
        selene_profile profile = SELENE_INIT(selene_profile);
        profile.base = profiles[i % 2];
        CHECK_OK(selene_governor_set_profile(scheduler, &profile));
        if (i >= 2) driver.flags |= SELENE_DRIVER_UNGOVERNED;
        add_handler(scheduler, "report", &work);
        add(scheduler, task);
        CHECK_OK(selene_driver_start(scheduler, &driver));
        finished_by(scheduler, START + SELENE_MINUTE);
        check_succeeded_once(scheduler, &work, "report");
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* A budget that the host says, and a profile that rations time, are decisions. */
static void test_decided(void) {
    for (int i = 0; i < 2; i++) {
        selene_scheduler scheduler = open_told();
        struct work work = {.behaviour = ASK, .ask = take_long};
        selene_driver driver = driver_of(1);
        selene_profile profile = SELENE_INIT(selene_profile);
        if (i == 0) driver.refresh_budget = 30 * S;
        else profile.base = SELENE_PROFILE_APPLE;
        CHECK_OK(selene_governor_set_profile(scheduler, &profile));
        add_handler(scheduler, "report", &work);
        add(scheduler, refresh_once("report", 3));
        CHECK_OK(selene_driver_start(scheduler, &driver));
        reach(scheduler, START + 28500 * MS - 1);
        CHECK_INT(0, atomic_load(&work.stopped));
        reach(scheduler, START + 28500 * MS);
        wait_for("the stop", &work.stopped, 1);
        CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* Each cut of a run that no window can hold says so. */
static void test_too_long(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = NEVER};
    selene_driver driver = driver_of(1);
    selene_task task = refresh_once("report", 3);
    selene_task_info *info = NULL;
    driver.refresh_budget = 30 * S;
    task.expected_response = STRETCH;
    add_handler(scheduler, "report", &work);
    add(scheduler, task);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    reach(scheduler, START + 30 * S);
    reach(scheduler, START + 30 * S + 1);
    CHECK_OK(selene_task_get(scheduler, "report", -1, 0, &info));
    CHECK_INT(1, info->attempts);
    CHECK_TEXT("the window ended: takes 45 s; windows have 30 s", info->failure);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- what stops a run without a deadline ----------------------------------------------- */

/** A scheduler whose driver is in a run that has lasted an hour. */
static selene_scheduler open_in_run(struct work *work, selene_task task, uint32_t lanes) {
    selene_scheduler scheduler = open_told_with(roomy());
    selene_driver driver = driver_of(lanes);
    work->behaviour = NEVER;
    add_handler(scheduler, "report", work);
    add(scheduler, task);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    reach(scheduler, START);
    wait_for("the handler", &work->returned, 1);
    reach(scheduler, START + H);
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "report").state);
    CHECK_INT(0, atomic_load(&work->stopped));
    return scheduler;
}

static void check_waits(selene_scheduler scheduler) {
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "report").state);
    CHECK_INT(0, record(scheduler, "report").attempts);
}

/* A driver that is stopped stops the runs of all its windows, also of those that pick no more. */
static void test_stop(void) {
    struct work work = {0};
    selene_scheduler scheduler = open_in_run(&work, refresh_once("report", 3), 2);
    CHECK_OK(selene_driver_stop(scheduler, 0));
    wait_for("the stop", &work.stopped, 1);
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    check_waits(scheduler);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* With a grace they have it, and are asked in its last tenth. */
static void test_stop_with_grace(void) {
    struct work work = {.complete_when_stopped = 1};
    struct closer closer = {0};
    selene_scheduler scheduler = open_in_run(&work, refresh_once("report", 3), 2);
    start_closer(&closer, scheduler, selene_driver_stop, 20 * S);
    WAIT_UNTIL(still(scheduler) == START + H + 18 * S);
    reach(scheduler, START + H + 18 * S - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(scheduler, START + H + 18 * S);
    CHECK_OK(join_closer(&closer));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "report").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_cancel(void) {
    struct work work = {0};
    selene_scheduler scheduler = open_in_run(&work, refresh_once("report", 3), 2);
    CHECK_OK(selene_task_cancel(scheduler, "report", -1, NULL));
    wait_for("the stop", &work.stopped, 1);
    CHECK_INT(SELENE_STOP_CANCELLED, atomic_load(&work.reason));
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "report").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A veto that preempts reaches a run whose window picks no more. */
static void test_veto(void) {
    const selene_rule rule = veto_of(SELENE_FACTOR_USER_ACTIVE, EACH, SELENE_RULE_PREEMPTS);
    struct work work = {0};
    selene_scheduler scheduler = open_in_run(&work, refresh_once("report", 3), 2);
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.rules = &rule;
    profile.rule_count = 1;
    CHECK_OK(selene_governor_set_profile(scheduler, &profile));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1, SELENE_NEVER));
    wait_for("the stop", &work.stopped, 1);
    CHECK_INT(SELENE_STOP_PREEMPTED, atomic_load(&work.reason));
    check_waits(scheduler);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* The task's own limit holds. */
static void test_timeout(void) {
    struct work work = {0};
    selene_task task = refresh_once("report", 3);
    task.timeout = 2 * H;
    selene_scheduler scheduler = open_in_run(&work, task, 2);
    reach(scheduler, START + 2 * H - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(scheduler, START + 2 * H);
    wait_for("the stop", &work.stopped, 1);
    CHECK_INT(SELENE_STOP_TIMED_OUT, atomic_load(&work.reason));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- the next window --------------------------------------------------------------------- */

/* Runs in flight keep their lanes: one more may run beside them, and no second. */
static void test_lanes(void) {
    struct work work = {0}, more = {.behaviour = NEVER};
    selene_scheduler scheduler = open_in_run(&work, refresh_once("report", 3), 2);
    selene_task a = refresh_once("a", 3), b = refresh_once("b", 3);
    a.handler = b.handler = SELENE_TEXT("more");
    add_handler(scheduler, "more", &more);
    add(scheduler, a);
    add(scheduler, b);
    reach(scheduler, START + H);
    wait_for("the next", &more.returned, 1);
    reach(scheduler, START + 2 * H);
    CHECK_INT(1, atomic_load(&more.started));
    CHECK_OK(selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NEW_DATA));
    reach(scheduler, START + 3 * H);
    wait_for("the last", &more.returned, 2);
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "report").state);
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "b").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* The report comes with the last run: its counts are exact, its rows bounded. */
static void test_report(void) {
    enum { MANY = 3000 };
    selene_scheduler scheduler = open_virtual(roomy());
    selene_driver driver = driver_of(2);
    selene_cycle cycle = 0;
    selene_report *report = NULL;
    selene_run_info held = SELENE_INIT(selene_run_info), info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    selene_task task = refresh_once("held", 3);
    task.handler = SELENE_TEXT("h");
    CHECK_OK(selene_handler_register(scheduler, "h", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task);
    CHECK_OK(selene_driver_open(scheduler, &driver, NULL));
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK(cycle != 0);
    CHECK_OK(selene_cycle_next(cycle, &step, &held, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_INT(SELENE_NEVER, held.deadline);
    task.id = SELENE_TEXT("again");
    for (int i = 0; i < MANY; i++) {
        add(scheduler, task);
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        CHECK_OK(selene_run_complete(info.run,
                                     i % 3 ? SELENE_OUTCOME_NEW_DATA : SELENE_OUTCOME_NO_DATA));
    }
    advance(H);
    CHECK_OK(selene_run_complete(held.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(SELENE_NEVER, report->deadline);
    CHECK_INT(30 * S, report->budget);
    CHECK_INT(0, report->reserve);
    CHECK_INT(1000, report->no_data);
    CHECK_INT(2001, report->new_data);
    CHECK_INT(1024, report->run_count);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* The ledger has what a window took, also beyond its budget, and what it did not use back. */
static void test_books(void) {
    const selene_quota quota = {REFRESH, SELENE_MEASURE_WINDOW_TIME, 10 * SELENE_MINUTE,
                                SELENE_DAY};
    for (int64_t took = 10 * S; took <= 100 * S; took += 90 * S) {
        selene_scheduler scheduler = open_plain();
        struct work work = {0};
        selene_balance balance = SELENE_INIT(selene_balance);
        selene_driver driver = driver_of(1);
        selene_run_info info = SELENE_INIT(selene_run_info);
        selene_cycle cycle = 0;
        int32_t step = -1;
        set_quotas(scheduler, &quota, 1);
        add_handler(scheduler, "report", &work);
        add(scheduler, refresh_once("report", 3));
        CHECK_OK(selene_driver_open(scheduler, &driver, NULL));
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
        CHECK_OK(selene_ledger_get(scheduler, REFRESH, &balance));
        CHECK_INT(10 * SELENE_MINUTE - 30 * S, balance.free);
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        advance(took);
        CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_ledger_get(scheduler, REFRESH, &balance));
        CHECK_INT(10 * SELENE_MINUTE - took, balance.free);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("V1 a run takes as long as it takes where nobody decided a deadline", test_long);
    run_test("V1 a deadline that somebody decided holds", test_decided);
    run_test("V2 a run that no window can hold says so", test_too_long);
    run_test("V1 V4 a driver that is stopped stops what has no deadline", test_stop);
    run_test("V1 V5 a grace holds for what has no deadline", test_stop_with_grace);
    run_test("V1 what has no deadline can be cancelled", test_cancel);
    run_test("V1 G6 a veto stops what has no deadline", test_veto);
    run_test("V1 R3 what has no deadline has its timeout", test_timeout);
    run_test("V1 runs in flight keep their lanes in the next window", test_lanes);
    run_test("V1 a report has exact counts and at most 1,024 rows", test_report);
    run_test("V1 G4 the ledger has what an open-ended window took", test_books);
    return check_end();
}
