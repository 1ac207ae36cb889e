/*
 * rolling.c - rolling windows: each pick looks at what is eligible at that moment (R1)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

static selene_window rolling(int64_t budget, int64_t reserve, uint32_t lanes) {
    selene_window window = rolling_of(budget, reserve, lanes);
    return window;
}

static selene_scheduler open_unlimited(int is_virtual) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = SELENE_UNLIMITED;
    return is_virtual ? open_virtual(options) : open_told_with(options);
}

static void add_name(selene_scheduler scheduler, const char *name) {
    CHECK_OK(selene_handler_register(scheduler, name, -1, NULL, NULL, NULL, NULL));
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

static selene_report *end(selene_cycle cycle) {
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_end(cycle, &report));
    return report;
}

/* ---- pulled, on a clock of the host's own ------------------------------------------ */

static void test_registered(void) {
    selene_scheduler scheduler = open_unlimited(1);
    selene_cycle cycle;
    selene_run slow;
    add_name(scheduler, "work");
    selene_task first = refresh_once("slow", 1), second = refresh_once("fast", 5);
    first.handler = second.handler = SELENE_TEXT("work");
    add(scheduler, first);
    cycle = begin(scheduler, rolling(30 * S, 0, 2));
    slow = next(cycle, "slow");
    CHECK(waits_until(cycle) == START + 30 * S);
    advance(5 * S);
    add(scheduler, second);
    CHECK_INT(0, explain(scheduler, "fast").reason_count);
    CHECK_OK(selene_run_complete(next(cycle, "fast"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(slow, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, waits_until(cycle));
    /* The same without the flag: what was registered after the begin waits for the next cycle. */
    selene_report *report = end(cycle);
    CHECK_INT(2, report->run_count);
    selene_free(report);
    first.id = SELENE_TEXT("slow again");
    second.id = SELENE_TEXT("fast again");
    add(scheduler, first);
    cycle = begin(scheduler, window_of(30 * S, 0, 2));
    slow = next(cycle, "slow again");
    add(scheduler, second);
    next(cycle, NULL);
    CHECK_INT(SELENE_REASON_NEXT_CYCLE,
              why(scheduler, "fast again", SELENE_REASON_NEXT_CYCLE).reason);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_due_again(void) {
    selene_scheduler scheduler = open_unlimited(1);
    selene_task news = task_of("news"), slow = refresh_once("slow", 1);
    selene_cycle cycle;
    selene_run run;
    selene_report *report;
    add_name(scheduler, "work");
    news.handler = slow.handler = SELENE_TEXT("work");
    news.schedule = SELENE_SCHEDULE_PERIODIC;
    news.period = 10 * S;
    add(scheduler, slow);
    advance(S);
    add(scheduler, news);
    cycle = begin(scheduler, rolling(60 * S, 0, 2));
    run = next(cycle, "slow");
    CHECK_OK(selene_run_complete(next(cycle, "news"), SELENE_OUTCOME_NEW_DATA));
    /* The next period, which comes before the expiry. */
    CHECK(waits_until(cycle) == START + 11 * S);
    advance(10 * S);
    CHECK_OK(selene_run_retry(next(cycle, "news"), 20 * S));
    /* The retry. */
    CHECK(waits_until(cycle) == START + 31 * S);
    advance(20 * S);
    CHECK_OK(selene_run_complete(next(cycle, "news"), SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    /* Nothing runs and nothing is eligible: the window is done, whatever becomes due later. */
    CHECK_INT(0, waits_until(cycle));
    report = end(cycle);
    CHECK_INT(4, report->run_count);
    CHECK_INT(3, report->new_data + report->no_data);
    CHECK_INT(1, report->failed);
    CHECK_TEXT("slow", report->runs[0].id);
    CHECK_TEXT("news", report->runs[3].id);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_standing(void) {
    selene_scheduler scheduler = open_unlimited(1);
    selene_task task = task_of("standing"), slow = refresh_once("slow", 1);
    selene_cycle cycle;
    selene_run run;
    add_name(scheduler, "work");
    task.handler = slow.handler = SELENE_TEXT("work");
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, slow);
    advance(S);
    add(scheduler, task);
    cycle = begin(scheduler, rolling(60 * S, 0, 2));
    run = next(cycle, "slow");
    CHECK_OK(selene_run_complete(next(cycle, "standing"), SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL);
    CHECK_INT(SELENE_REASON_HAD_ITS_RUN,
              why(scheduler, "standing", SELENE_REASON_HAD_ITS_RUN).reason);
    advance(S);
    next(cycle, NULL);
    /* An update does not give it another run, nor does a stop. */
    task.priority = 5;
    add(scheduler, task);
    next(cycle, NULL);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(0, explain(scheduler, "standing").reason_count);

    slow.id = SELENE_TEXT("slow again");
    add(scheduler, slow);
    advance(S);
    cycle = begin(scheduler, rolling(60 * S, 0, 2));
    CHECK_OK(selene_run_complete(next(cycle, "standing"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(next(cycle, "slow again"), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, waits_until(cycle));
    CHECK_OK(selene_cycle_end(cycle, NULL));

    cycle = begin(scheduler, rolling(60 * S, 0, 2));
    next(cycle, "standing");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    next(cycle, NULL); /* it was stopped, and had its run */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The next begin ends a window that was forgotten, so for questions its standing tasks may run again. */
static void test_forgotten(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.minimum_interval_refresh = 10 * S;
    selene_scheduler scheduler = open_virtual(options);
    selene_window window = window_of(60 * S, 0, 1);
    selene_plan *plan = NULL;
    selene_task task = task_of("standing");
    int64_t delay = 0;
    add_name(scheduler, "work");
    task.handler = SELENE_TEXT("work");
    add(scheduler, task);
    selene_cycle cycle = begin(scheduler, rolling(60 * S, 0, 1));
    CHECK_OK(selene_run_complete(next(cycle, "standing"), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, explain(scheduler, "standing").rank);
    for (int i = 0; i < 2; i++) {
        advance(i == 0 ? 60 * S + 1 : S);
        CHECK_INT(0, explain(scheduler, "standing").reason_count);
        CHECK_INT(1, explain(scheduler, "standing").rank);
        CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
        CHECK_INT(1, plan->run_count);
        selene_free(plan);
        CHECK_OK(selene_scheduler_next_wakeup(scheduler, NULL, &delay));
        CHECK_INT(0, delay);
        CHECK_OK(selene_scheduler_pause(scheduler, SELENE_KIND_REFRESH, NULL, 0,
                                        atomic_load(&clock_now) + 20 * S));
        CHECK_OK(selene_scheduler_next_wakeup(scheduler, NULL, &delay));
        CHECK_INT(20 * S, delay);
        CHECK_OK(selene_scheduler_pause(scheduler, SELENE_KIND_REFRESH, NULL, 0, 0));
    }
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(1, explain(scheduler, "standing").rank);
    cycle = begin(scheduler, rolling(60 * S, 0, 1));
    next(cycle, "standing");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_conditions(void) {
    selene_scheduler scheduler = open_unlimited(1);
    selene_task task = refresh_once("upload", 3), slow = refresh_once("slow", 1);
    selene_cycle cycle;
    selene_run run, stopped;
    add_name(scheduler, "work");
    task.handler = slow.handler = SELENE_TEXT("work");
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, slow);
    add(scheduler, task);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    cycle = begin(scheduler, rolling(60 * S, 0, 2));
    run = next(cycle, "slow");
    next(cycle, NULL);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    stopped = next(cycle, "upload");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0)); /* stops it */
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(stopped, SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_run_complete(next(cycle, "upload"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_ages(void) {
    selene_scheduler scheduler = open_unlimited(1);
    selene_task old = refresh_once("old", 1), young = refresh_once("young", 5),
                first = refresh_once("first", 5);
    selene_cycle cycle;
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step;
    add_name(scheduler, "work");
    old.handler = young.handler = first.handler = SELENE_TEXT("work");
    add(scheduler, first);
    add(scheduler, old);
    advance(10 * S);
    add(scheduler, young);
    advance(S);
    /* At the begin: old 1/5 * 11 s is more than young 5/5 * 1 s; three seconds later it is not. */
    cycle = begin(scheduler, rolling(60 * S, 0, 1));
    info.run = next(cycle, "first");
    advance(3 * S);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_TEXT("young", info.id);
    CHECK(info.score > 4.0 / 14 - 1e-9 && info.score < 4.0 / 14 + 1e-9);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(next(cycle, "old"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_fit(void) {
    selene_scheduler scheduler = open_unlimited(1);
    selene_task slow = refresh_once("slow", 1), big = refresh_once("big", 5),
                small = refresh_once("small", 1);
    selene_cycle cycle;
    selene_report *report;
    selene_run run;
    add_name(scheduler, "work");
    slow.handler = big.handler = small.handler = SELENE_TEXT("work");
    big.expected_response = 20 * S;
    add(scheduler, slow);
    cycle = begin(scheduler, rolling(30 * S, 5 * S, 2));
    run = next(cycle, "slow");
    advance(10 * S);
    add(scheduler, big);
    add(scheduler, small);
    CHECK_OK(selene_run_complete(next(cycle, "small"), SELENE_OUTCOME_NEW_DATA));
    CHECK(waits_until(cycle) == START + 25 * S);
    CHECK_INT(SELENE_REASON_DID_NOT_FIT, why(scheduler, "big", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, waits_until(cycle));
    report = end(cycle);
    CHECK_INT(1, report->eligible); /* at begin */
    CHECK_INT(1, report->did_not_fit);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_now(void) {
    selene_scheduler scheduler = open_unlimited(1);
    selene_task task = task_of("standing"), slow = refresh_once("slow", 1);
    selene_window now = rolling(10 * S, 0, 1);
    selene_cycle cycle, other;
    selene_run run;
    add_name(scheduler, "work");
    task.handler = slow.handler = SELENE_TEXT("work");
    add(scheduler, slow);
    cycle = begin(scheduler, rolling(60 * S, 0, 2));
    run = next(cycle, "slow");
    add(scheduler, task);
    now.task = SELENE_TEXT("standing");
    other = begin(scheduler, now);
    CHECK_OK(selene_run_complete(next(other, "standing"), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, waits_until(other));
    CHECK_OK(selene_cycle_end(other, NULL));
    next(cycle, NULL); /* it had its run */
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- pushed ---------------------------------------------------------------------- */

static void test_neighbour(void) {
    selene_scheduler scheduler = open_unlimited(0);
    struct work stuck = {.behaviour = GATE}, quick = {.behaviour = COMPLETE},
                news = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    selene_task task = refresh_once("quick", 3), period = task_of("news");
    int before;
    add_handler(scheduler, "quick", &quick);
    add_handler(scheduler, "news", &news);
    add_work(scheduler, "stuck", &stuck);
    push_async(scheduler, rolling(H, 0, 3), &receiver, NULL);
    wait_for("the handler", &stuck.started, 1);
    for (int k = 1; k <= 20; k++) {
        CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
        wait_for("the task that was registered", &quick.returned, k);
        wait_for_state(scheduler, "quick", SELENE_STATE_SUCCEEDED);
    }
    period.schedule = SELENE_SCHEDULE_PERIODIC;
    period.period = S;
    add(scheduler, period);
    for (int k = 0; k < 10; k++) {
        reach(scheduler, START + k * S);
        wait_for("the period", &news.returned, k + 1);
    }
    CHECK_OK(selene_task_cancel(scheduler, "news", -1, NULL));
    /* Also what gets its conditions back, and a kind that is switched on again. */
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    add(scheduler, task);
    before = atomic_load(&quick.started);
    reach(scheduler, START + 20 * S);
    CHECK_INT(before, atomic_load(&quick.started));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    wait_for("the condition", &quick.started, before + 1);
    wait_for_state(scheduler, "quick", SELENE_STATE_SUCCEEDED);
    add(scheduler, task);
    wait_for("one more", &quick.returned, before + 2);
    CHECK_INT(1, atomic_load(&stuck.started));
    CHECK_INT(0, atomic_load(&receiver.calls));
    atomic_store(&gate, 1);
    /* Nothing runs and nothing is eligible: its report comes long before the deadline. */
    wait_for("the report", &receiver.destroyed, 1);
    CHECK_INT(0, receiver.expired);
    CHECK(receiver.run_count >= 33);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_blocking(void) {
    selene_scheduler scheduler = open_unlimited(0);
    struct work first = {.behaviour = GATE}, second = {.behaviour = COMPLETE};
    struct runner runner;
    selene_report *report;
    selene_task task = refresh_once("second", 3);
    add_handler(scheduler, "second", &second);
    add_work(scheduler, "first", &first);
    start_runner(&runner, scheduler, rolling(H, 0, 2));
    wait_for("the first", &first.started, 1);
    add(scheduler, task);
    wait_for("the second", &second.returned, 1);
    CHECK_INT(0, atomic_load(&runner.returned));
    atomic_store(&gate, 1);
    report = join_runner(&runner);
    CHECK_INT(2, report->new_data);
    CHECK_INT(START, report->ended_at);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- the driver's windows (R2) ------------------------------------------------------ */

/** What begins while a neighbour hangs, with and without rolling windows. */
static void test_driver(void) {
    selene_scheduler scheduler = open_unlimited(0);
    struct work stuck = {.behaviour = GATE}, quick = {.behaviour = COMPLETE};
    selene_task task = refresh_once("quick", 3);
    selene_driver driver = SELENE_INIT(selene_driver);
    add_handler(scheduler, "quick", &quick);
    add_work(scheduler, "stuck", &stuck);
    driver.refresh_lanes = 4;
    driver.refresh_budget = H;
    CHECK_OK(selene_driver_start(scheduler, &driver));
    wait_for("the handler", &stuck.started, 1);
    for (int k = 1; k <= 10; k++) {
        add(scheduler, task);
        wait_for("the task that was registered", &quick.returned, k);
        wait_for_state(scheduler, "quick", SELENE_STATE_SUCCEEDED);
    }
    CHECK_INT(0, atomic_load(&stuck.returned));
    atomic_store(&gate, 1);
    CHECK_OK(selene_driver_stop(scheduler, GRACE));

    /* Frozen ones wait for the next window. */
    wait_for("its end", &stuck.returned, 1);
    atomic_store(&gate, 0);
    driver.flags = SELENE_DRIVER_FROZEN;
    task.id = SELENE_TEXT("another");
    task.handler = SELENE_TEXT("stuck");
    add(scheduler, task);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    while (atomic_load(&stuck.started) < 2)
        reach(scheduler, present(scheduler) + S);
    task.id = SELENE_TEXT("quick");
    task.handler = SELENE_TEXT("quick");
    add(scheduler, task);
    WAIT_UNTIL(why(scheduler, "quick", SELENE_REASON_NEXT_CYCLE).reason);
    CHECK_INT(10, atomic_load(&quick.started));
    atomic_store(&gate, 1);
    REACH_UNTIL(scheduler, atomic_load(&quick.returned) == 11);
    CHECK_OK(selene_driver_stop(scheduler, GRACE));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);

    run_test("R1 what is registered while a rolling window is open takes part", test_registered);
    run_test(
        "R1 the next period and a retry run in the same window, and next says when they are due",
        test_due_again);
    run_test("R1 a standing task runs at most once in a rolling window", test_standing);
    run_test("R1 C5 a rolling window that was forgotten keeps nothing from questions",
             test_forgotten);
    run_test("R1 what gets its conditions back takes part again", test_conditions);
    run_test("R1 ages and scores are those of the moment of the pick", test_ages);
    run_test("R1 C1 what does not fit is passed over, and done when nothing runs", test_fit);
    run_test("R1 C14 a run in a window of its own counts for the rolling one", test_now);

    run_test("R1 a free lane begins what becomes eligible, whatever its neighbours do",
             test_neighbour);
    run_test("R2 what becomes eligible begins beside a handler that hangs, in the driver's windows",
             test_driver);
    run_test("R1 a blocking cycle takes what is registered meanwhile", test_blocking);
    return check_end();
}
