/*
 * governor_simulate.c - launching and expiring a request by hand, as a debugger does
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

static void test_launch(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    observe(scheduler);
    /* Neither its delay nor a veto nor a minimum interval matters. */
    set_base(scheduler, SELENE_PROFILE_STRICT);
    say(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 0);
    task.initial_delay = H;
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    CHECK_OK(selene_task_launch(scheduler, "a", -1));
    wait_for("the handler", &work.started, 1);
    wait_for("the handler", &work.returned, 1);
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "a").state);
    CHECK_INT(0, count_events(0, SELENE_EVENT_GRANTED, -1) +
                     count_events(0, SELENE_EVENT_REFUSED, -1));
    /* It is outside the books, too. */
    CHECK_INT(SELENE_NEVER, balance(scheduler, PROCESSING).last_begin);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_launch_budget(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = UNTIL_STOPPED}, again = {.behaviour = UNTIL_STOPPED};
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_task_info info;
    int begun = -1;
    observe(scheduler);
    add_once(scheduler, "a", PROCESSING, &work);
    CHECK_OK(selene_task_launch(scheduler, "a", 1));
    wait_for("the handler", &work.started, 1);
    info = record(scheduler, "a");
    CHECK_INT(SELENE_STATE_RUNNING, info.state);
    wait_for_events(0, SELENE_EVENT_CYCLE_BEGUN, -1, 1);
    for (int i = 0; i < atomic_load(&noted_count); i++)
        if (noted[i].event.type == SELENE_EVENT_CYCLE_BEGUN) begun = i;
    CHECK(begun >= 0);
    CHECK_INT(10 * MIN, noted[begun].event.time_at - noted[begun].event.time);
    /* It runs, so it is not pending. */
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_launch(scheduler, "a", -1));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    wait_for("the return", &work.returned, 1);
    /* A driver's own budget, with a kind that it may not touch meanwhile. */
    driver.processing_budget = 77 * S;
    CHECK_OK(selene_driver_start(scheduler, &driver));
    {
        selene_task task = once_of("b");
        task.initial_delay = H;
        add_handler(scheduler, "b", &again);
        add(scheduler, task);
    }
    CHECK_OK(selene_task_launch(scheduler, "b", -1));
    wait_for("the handler", &again.started, 1);
    wait_for_events(0, SELENE_EVENT_CYCLE_BEGUN, -1, 2);
    for (int i = 0; i < atomic_load(&noted_count); i++)
        if (noted[i].event.type == SELENE_EVENT_CYCLE_BEGUN) begun = i;
    CHECK_INT(77 * S, noted[begun].event.time_at - noted[begun].event.time);
    CHECK_OK(selene_scheduler_close(scheduler, BRIEF));
    wait_for("the end of its handler", &again.destroyed, 1);
}

static void test_expire(void) {
    selene_scheduler scheduler = open_told();
    struct work polite = {.behaviour = UNTIL_STOPPED}, deaf = {.behaviour = GATE};
    struct receiver receiver = {0};
    selene_window window = window_for(PROCESSING, H);
    observe(scheduler);
    add_once(scheduler, "polite", PROCESSING, &polite);
    CHECK_OK(selene_task_launch(scheduler, "polite", -1));
    wait_for("the handler", &polite.started, 1);
    CHECK_OK(selene_task_expire(scheduler, "polite", -1));
    wait_for("the stop", &polite.stopped, 1);
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&polite.reason));
    wait_for("the return", &polite.returned, 1);
    /* It completed in its reserve. */
    CHECK_INT(SELENE_OK, atomic_load(&polite.first_status));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "polite").state);

    /* One that does not is over after the reserve of its window. */
    window.reserve = 100 * S;
    add_once(scheduler, "deaf", PROCESSING, &deaf);
    push_async(scheduler, window, &receiver, NULL);
    wait_for("the handler", &deaf.started, 1);
    CHECK_OK(selene_task_expire(scheduler, "deaf", -1));
    reach(scheduler, START + 100 * S);
    CHECK_INT(0, atomic_load(&receiver.calls));
    reach(scheduler, START + 100 * S + 1);
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(1, receiver.expired);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, record(scheduler, "deaf").last_outcome);
    CHECK_INT(1, record(scheduler, "deaf").attempts);
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* Pulled windows on the host's clock: the reserve begins now; twice is once. */
static void test_expire_pulled(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_run first, second;
    selene_report *report = NULL;
    int64_t remaining = -1;
    int32_t reason = -1;
    add_once(scheduler, "a", PROCESSING, &work);
    add_once(scheduler, "b", PROCESSING, &other);
    {
        selene_window window = window_for(PROCESSING, 10 * MIN);
        window.reserve = 5 * S;
        window.lanes = 2;
        cycle = begin(scheduler, window);
    }
    first = next(cycle, "a");
    second = next(cycle, "b");
    advance(MIN);
    CHECK_OK(selene_task_expire(scheduler, "a", -1));
    CHECK_OK(selene_run_stopping(second, &reason)); /* of the same window */
    CHECK_INT(SELENE_STOP_EXPIRING, reason);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(1, atomic_load(&other.stopped));
    advance(2 * S);
    CHECK_OK(selene_task_expire(scheduler, "a", -1));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_OK(selene_run_remaining(first, &remaining));
    CHECK_INT(0, remaining);
    advance(3 * S); /* exactly at the new deadline */
    CHECK_OK(selene_run_complete(first, SELENE_OUTCOME_NEW_DATA));
    advance(1);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(second, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, report->expired);
    CHECK_INT(MIN + 5 * S, report->deadline - report->began_at);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_refused(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("once");
    selene_task needy = once_of("needy");
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_launch(scheduler, "nobody", -1));
    CHECK(strstr(selene_error_last()->message.data, "nobody") != NULL);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_expire(scheduler, "nobody", -1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_launch(scheduler, "", 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_expire(scheduler, NULL, -1));
    /* A standing task is no request. */
    add_work(scheduler, "standing", &work);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_launch(scheduler, "standing", -1));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_expire(scheduler, "standing", -1));
    /* Without a handler, or a constraint, or of a kind that is off, it cannot run. */
    add(scheduler, task);
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, selene_task_launch(scheduler, "once", -1));
    needy.handler = SELENE_TEXT("standing");
    needy.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, needy);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, selene_task_launch(scheduler, "needy", -1));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_scheduler_enable(scheduler, REFRESH));
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, selene_task_launch(scheduler, "needy", -1));
    CHECK_OK(selene_task_cancel_all(scheduler, NULL));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_launch(scheduler, "needy", -1));
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    scheduler = open_plain();
    add_once(scheduler, "a", PROCESSING, &work);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_task_launch(scheduler, "a", -1));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G8 a launch runs a pending request, whatever stands against it", test_launch);
    run_test("G8 its window is as long as the driver's", test_launch_budget);
    run_test("G8 an expired window asks its runs to stop and ends after its reserve", test_expire);
    run_test("G8 on the host's clock every instant of that is exact", test_expire_pulled);
    run_test("G8 only pending requests can be launched, only runs expired", test_refused);
    return check_end();
}
