/*
 * cycles_explain.c - why a task does not run, what a window would pick, and when to wake up
 *
 * Argument: the filter of check.h.
 */
#include "cycles.h"

static void test_why(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_processing = 1;
    scheduler = open_virtual(options);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_explain(scheduler, "a", -1, &explanation));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    task.constraints = BOTH;
    task.initial_delay = 100 * S;
    add(scheduler, task);
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING));
    explanation = explain(scheduler, "a");
    CHECK_INT(4, explanation.reason_count); /* every reason, not the first */
    CHECK_INT(SELENE_STATE_ENQUEUED, explanation.state);
    CHECK_INT(0, explanation.rank);
    CHECK_INT(-1, explanation.last_room);
    CHECK_INT(START + 100 * S, why(scheduler, "a", SELENE_REASON_NOT_DUE).may_change_at);
    CHECK_INT(SELENE_CONSTRAINT_EXTERNAL_POWER,
              why(scheduler, "a", SELENE_REASON_CONSTRAINTS).constraints);
    CHECK_INT(SELENE_NEVER, why(scheduler, "a", SELENE_REASON_CONSTRAINTS).may_change_at);
    CHECK_INT(SELENE_NEVER, why(scheduler, "a", SELENE_REASON_NO_HANDLER).may_change_at);
    CHECK_INT(SELENE_NEVER, why(scheduler, "a", SELENE_REASON_KIND_OFF).may_change_at);
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING | SELENE_KIND_REFRESH));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    add_handler(scheduler, "a", &work);
    CHECK_INT(1, explain(scheduler, "a").reason_count);
    advance(100 * S);
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    CHECK_INT(1, explain(scheduler, "a").rank);
    CHECK_INT(1, explain(scheduler, "a").eligible);

    add(scheduler, once_of("p1"));
    add(scheduler, once_of("p2"));
    CHECK_INT(SELENE_STATE_HELD, explain(scheduler, "p2").state);
    CHECK_INT(SELENE_REASON_HELD, why(scheduler, "p2", SELENE_REASON_HELD).reason);
    CHECK_OK(selene_task_cancel(scheduler, "p2", -1, NULL));
    explanation = explain(scheduler, "p2");
    CHECK_INT(SELENE_STATE_CANCELLED, explanation.state);
    CHECK_INT(SELENE_REASON_TERMINAL, why(scheduler, "p2", SELENE_REASON_TERMINAL).reason);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_why_in_cycle(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_cycle cycle;
    selene_run run;
    selene_explanation explanation;
    options.minimum_interval_refresh = 60 * S;
    scheduler = open_virtual(options);
    add_handler(scheduler, "h", &work);
    task = task_of("first");
    task.handler = SELENE_TEXT("h");
    task.expected_response = 4 * S;
    add(scheduler, task);
    advance(S);
    task.id = SELENE_TEXT("big");
    task.expected_response = 20 * S;
    add(scheduler, task);
    advance(S);
    explanation = explain(scheduler, "big");
    CHECK_INT(0, explanation.reason_count);
    CHECK_INT(2, explanation.rank);
    CHECK_INT(2, explanation.eligible);
    CHECK_INT(20 * S, explanation.estimate);
    CHECK(explanation.score > 0.2999999 &&
          explanation.score < 0.3000001); /* 3/5 of half the greatest age */
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "first");
    explanation = explain(scheduler, "first");
    CHECK_INT(SELENE_STATE_RUNNING, explanation.state);
    CHECK_INT(SELENE_REASON_RUNNING, why(scheduler, "first", SELENE_REASON_RUNNING).reason);
    task.id = SELENE_TEXT("new");
    task.expected_response = S;
    add(scheduler, task);
    CHECK_INT(SELENE_REASON_NEXT_CYCLE, why(scheduler, "new", SELENE_REASON_NEXT_CYCLE).reason);
    advance(4 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_REASON_HAD_ITS_RUN, why(scheduler, "first", SELENE_REASON_HAD_ITS_RUN).reason);
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(0, why(scheduler, "first", SELENE_REASON_HAD_ITS_RUN).reason);
    CHECK_INT(0, why(scheduler, "new", SELENE_REASON_NEXT_CYCLE).reason);
    CHECK_INT(SELENE_REASON_DID_NOT_FIT, why(scheduler, "big", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_INT(0, why(scheduler, "first", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_INT(0, why(scheduler, "new", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_INT(6 * S, explain(scheduler, "big").last_room);
    CHECK_INT(START + 2 * S + 60 * S, why(scheduler, "big", SELENE_REASON_TOO_SOON).may_change_at);
    CHECK_INT(START + 2 * S + 60 * S,
              why(scheduler, "first", SELENE_REASON_TOO_SOON).may_change_at);
    advance(56 * S);
    CHECK_INT(0, why(scheduler, "big", SELENE_REASON_TOO_SOON).reason);
    /* Now it is the best one, and the first pick is made whatever its estimate. */
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "big");
    advance(10 * S);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(0, why(scheduler, "big", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_INT(SELENE_REASON_STILL_RUNNING,
              why(scheduler, "big", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_plan(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    selene_window window = window_of(10 * S, S, 2);
    selene_plan *plan = NULL, *again = NULL;
    selene_cycle cycle;
    add_handler(scheduler, "h", &work);
    task.handler = SELENE_TEXT("h");
    task.expected_response = 3 * S;
    for (int k = 0; k < 8; k++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", k);
        task.id.data = id;
        task.id.length = -1;
        add(scheduler, task);
        advance(S);
    }
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(8, plan->eligible);
    CHECK_INT(6, plan->run_count); /* 9 s on two lanes, 3 s each */
    for (int k = 0; k < 6; k++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", k);
        CHECK_TEXT(id, plan->runs[k].id);
        CHECK_INT(START + 8 * S + k / 2 * 3 * S, plan->runs[k].starts_at);
        CHECK_INT(3 * S, plan->runs[k].estimate);
    }
    /* It changes nothing and ignores open cycles, pace and switches. */
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_cycle_plan(scheduler, &window, &again));
    CHECK_INT(6, again->run_count);
    selene_free(again);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_enable(scheduler, 0));
    CHECK_OK(selene_cycle_plan(scheduler, &window, &again));
    CHECK_INT(6, again->run_count);
    selene_free(again);
    selene_free(plan);
    selene_free(NULL);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void check_wakeup(selene_scheduler scheduler, int64_t expected) {
    int64_t at = -1, delay = -1;
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, &delay));
    CHECK_INT(expected, at);
    CHECK_INT(expected == SELENE_NEVER ? SELENE_NEVER : expected - atomic_load(&clock_now), delay);
}

static void test_wakeup(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle cycle;
    check_wakeup(scheduler, SELENE_NEVER);
    task = once_of("once");
    task.handler = SELENE_TEXT("h");
    task.initial_delay = 100 * S;
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    check_wakeup(scheduler, SELENE_NEVER); /* no handler */
    add_handler(scheduler, "h", &work);
    check_wakeup(scheduler, START + 100 * S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    check_wakeup(scheduler, SELENE_NEVER); /* a constraint: an event of its own */
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH));
    check_wakeup(scheduler, SELENE_NEVER); /* switched off */
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING));
    task = task_of("standing");
    task.handler = SELENE_TEXT("h");
    add(scheduler, task);
    check_wakeup(scheduler, START); /* there was no cycle yet */
    cycle = begin(scheduler, window);
    check_wakeup(scheduler, START + 100 * S); /* refresh is in a cycle */
    CHECK_OK(selene_run_complete(next(cycle, "standing"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    check_wakeup(scheduler, START + 100 * S);
    CHECK_OK(selene_task_cancel(scheduler, "once", -1, NULL));
    check_wakeup(scheduler, START + 15 * SELENE_MINUTE);
    advance(SELENE_HOUR);
    check_wakeup(scheduler, START + SELENE_HOUR); /* past: now */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("C15 explain says every reason at once and when it may change", test_why);
    run_test("C15 explain tells running, had its run, next cycle, did not fit, too soon and still "
             "running",
             test_why_in_cycle);
    run_test("C15 plan says what a window would pick and changes nothing", test_plan);
    run_test("C16 the next wake-up is the earliest that time alone brings", test_wakeup);
    return check_end();
}
