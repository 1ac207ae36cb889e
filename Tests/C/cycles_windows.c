/*
 * cycles_windows.c - every kind of window: pushed on lanes, inline, joined, pulled, and of one task
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

/* ============================================================================
 *  LANES, INLINE, JOINING
 * ========================================================================= */

static void test_parallel(void) {
    selene_scheduler scheduler = open_told();
    struct work works[4];
    selene_report *report;
    memset(works, 0, sizeof works);
    for (int k = 0; k < 4; k++) {
        char id[16];
        snprintf(id, sizeof id, "%d", k);
        works[k].behaviour = MEET;
        works[k].party = 4;
        add_work(scheduler, id, &works[k]);
    }
    report = push(scheduler, window_of(H, 0, 4));
    CHECK_INT(4, report->new_data);
    CHECK_INT(4, atomic_load(&most_inside));
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < k; j++)
            CHECK(!pthread_equal(works[k].thread, works[j].thread));
    for (int k = 0; k < 4; k++)
        CHECK(!pthread_equal(works[k].thread, pthread_self()));
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_two_lanes(void) {
    selene_scheduler scheduler = open_told();
    struct work works[6];
    selene_report *report;
    memset(works, 0, sizeof works);
    for (int k = 0; k < 6; k++) {
        char id[16];
        snprintf(id, sizeof id, "%d", k);
        works[k].behaviour = MEET;
        works[k].party = 2;
        add_work(scheduler, id, &works[k]);
    }
    report = push(scheduler, window_of(H, 0, 2));
    CHECK_INT(6, report->new_data);
    CHECK_INT(2, atomic_load(&most_inside));
    selene_free(report);
    atomic_store(&most_inside, 0);
    for (int k = 0; k < 6; k++)
        works[k].behaviour = COMPLETE;
    report = push(scheduler, window_of(H, 0, 1));
    CHECK_INT(6, report->new_data);
    CHECK_INT(1, atomic_load(&most_inside));
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_inline(void) {
    selene_scheduler scheduler = open_told();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = UNTIL_STOPPED};
    selene_window window = window_of(20 * S, 10 * S, 1);
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "first", &first);
    CHECK_OK(selene_clock_set(scheduler, START + 5 * MS));
    add_work(scheduler, "second", &second);
    window.flags = SELENE_WINDOW_INLINE;
    start_runner(&runner, scheduler, window);
    wait_for("the second", &second.started, 1);
    reach(scheduler, START + 5 * MS + 10 * S);
    report = join_runner(&runner);
    CHECK_INT(START + 5 * MS + 10 * S, report->ended_at);
    CHECK_INT(2, report->run_count);
    CHECK_INT(2, report->new_data);
    CHECK(pthread_equal(first.thread, runner.thread));
    CHECK(pthread_equal(second.thread, runner.thread));
    CHECK_INT(1, atomic_load(&most_inside));
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&second.reason));
    selene_free(report);
    window.lanes = 2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_run(scheduler, &window, NULL));
    window.lanes = 1;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_begin(scheduler, &window, &(selene_cycle){0}));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_host_clock(void) {
    selene_scheduler scheduler = open_plain();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = NEVER},
                third = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    selene_window window = window_of(10 * S, 0, 1);
    selene_report *report = NULL;
    add_work(scheduler, "first", &first);
    advance(S);
    add_work(scheduler, "second", &second);
    advance(S);
    add_work(scheduler, "third", &third);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_run(scheduler, &window, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_run_async(scheduler, &window, receive, &receiver, receiver_destroy,
                                        NULL, NULL));
    CHECK_INT(1, atomic_load(&receiver.destroyed));
    CHECK_INT(0, atomic_load(&receiver.calls));
    window.flags = SELENE_WINDOW_INLINE;
    advance(S);
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    /* The second returned without an outcome: no lane is free, and no clock would ever wake the cycle. */
    CHECK_INT(2, report->run_count);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->runs[0].outcome);
    CHECK_INT(SELENE_OUTCOME_STOPPED, report->runs[1].outcome);
    CHECK_INT(0, atomic_load(&third.started));
    CHECK(pthread_equal(first.thread, pthread_self()));
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_pulled_only(void) {
    selene_scheduler scheduler = open_told();
    selene_report *report;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("a"));
    report = push(scheduler, window_of(H, 0, 1));
    CHECK_INT(0, report->run_count);
    CHECK_INT(START, report->ended_at);
    selene_free(report);
    /* It says so, and not that it did not fit. */
    selene_free(push(scheduler, window_of(MS, 0, 1)));
    CHECK_INT(1, explain(scheduler, "a").reason_count);
    CHECK_INT(SELENE_REASON_NO_HANDLER, explain(scheduler, "a").reasons[0].reason);
    CHECK_INT(1, pull(scheduler, window_of(H, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_join(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = GATE};
    struct receiver receivers[3], refused = {0};
    selene_window window = window_of(H, 0, 1), wider = window;
    selene_cycle first, second, third, other = 0;
    int64_t deadline = 0, joined = 0;
    memset(receivers, 0, sizeof receivers);
    options.minimum_interval_refresh = SELENE_HOUR; /* joining comes before the pace */
    scheduler = open_told_with(options);
    add_work(scheduler, "a", &work);
    first = push_async(scheduler, window, &receivers[0], &deadline);
    second = push_async(scheduler, window, &receivers[1], &joined);
    CHECK_INT(first, second);
    CHECK_INT(deadline, joined);
    third = push_async(scheduler, window_of(S, 0, 2), &receivers[2],
                       &joined); /* whatever its budget and lanes */
    CHECK_INT(first, third);
    CHECK_INT(deadline, joined);
    wait_for("the handler", &work.started, 1);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_next(first, &(int32_t){0},
                                   &(selene_run_info)SELENE_INIT(selene_run_info), NULL));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &other));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run(scheduler, &window, NULL));
    wider.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run_async(scheduler, &wider, receive, &refused,
                                                           receiver_destroy, NULL, NULL));
    CHECK_INT(1, atomic_load(&refused.destroyed));
    wider.kinds = SELENE_KIND_PROCESSING; /* has nothing to do with it */
    CHECK_OK(selene_cycle_run(scheduler, &wider, NULL));
    atomic_store(&gate, 1);
    for (int k = 0; k < 3; k++) {
        wait_for("the end of a receiver", &receivers[k].destroyed, 1);
        CHECK_INT(1, atomic_load(&receivers[k].calls));
        CHECK_INT(first, receivers[k].cycle);
        CHECK_INT(1, receivers[k].run_count);
        CHECK_INT(1, receivers[k].new_data);
    }
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON,
                 selene_cycle_run_async(scheduler, &window, receive, &refused, receiver_destroy,
                                        NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(first, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(0, atomic_load(&refused.calls));
    CHECK_INT(2, atomic_load(&refused.destroyed));
}

static void test_end_early(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE}, other = {.behaviour = COMPLETE};
    struct receiver first = {0}, second = {0};
    selene_cycle cycle;
    selene_report *report = NULL;
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_clock_set(scheduler, START + 5 * MS));
    add_work(scheduler, "b", &other);
    cycle = push_async(scheduler, window_of(H, 0, 1), &first, NULL);
    push_async(scheduler, window_of(H, 0, 1), &second, NULL);
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(cycle, report->cycle);
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, report->stopped);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    wait_for("the end of the first receiver", &first.destroyed, 1);
    wait_for("the end of the second receiver", &second.destroyed, 1);
    CHECK_INT(1, atomic_load(&first.calls));
    CHECK_INT(1, atomic_load(&second.calls));
    CHECK_INT(1, first.stopped);
    CHECK_INT(cycle, second.cycle);
    wait_for("the stop", &work.stopped, 1);
    CHECK_INT(0, atomic_load(&other.started));
    selene_free(report);
    report = push(scheduler, window_of(H, 0, 1)); /* the kind is free again, the id is not */
    CHECK_INT(1, report->run_count);
    CHECK_TEXT("b", report->runs[0].id);
    selene_free(report);
    atomic_store(&gate, 1);
    wait_for("the handler's return", &work.returned, 1);
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ============================================================================
 *  PULLED CYCLES
 * ========================================================================= */

static void test_steps(void) {
    selene_scheduler scheduler = open_plain();
    struct work works[3];
    selene_window window = window_of(10 * S, 2 * S, 2);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle;
    selene_run first, second;
    selene_report *report = NULL;
    int32_t step = -1;
    int64_t wake_at = -1;
    memset(works, 0, sizeof works);
    add_work(scheduler, "a", &works[0]);
    advance(S);
    add_work(scheduler, "b", &works[1]);
    advance(S);
    add_work(scheduler, "c", &works[2]);
    advance(S);
    cycle = begin(scheduler, window);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &(selene_cycle){0}));
    first = next(cycle, "a");
    second = next(cycle, "b");
    CHECK_OK(selene_cycle_next(cycle, &step, &info, &wake_at));
    CHECK_INT(SELENE_STEP_WAIT, step);
    CHECK_INT(START + 3 * S + 8 * S, wake_at);
    advance(8 * S);
    CHECK_OK(selene_cycle_next(cycle, &step, &info, &wake_at));
    CHECK_INT(SELENE_STEP_WAIT, step);
    /* After the stop comes the end: at the deadline, at which a run may still complete, or right after it. */
    CHECK_BETWEEN(START + 3 * S + 10 * S, wake_at, START + 3 * S + 10 * S + 1);
    CHECK_INT(1, atomic_load(&works[0].stopped));
    CHECK_OK(selene_run_complete(first, SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL); /* nothing is picked in the reserve */
    CHECK_OK(selene_run_complete(second, SELENE_OUTCOME_ABANDONED));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, &wake_at));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(3, report->eligible);
    CHECK_INT(2, report->run_count);
    CHECK_INT(1, report->abandoned);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->result);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A cycle past its deadline is there for its host until a begin takes its place. */
static void test_forgotten_stays(void) {
    enum { BOTH_KINDS = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING };
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle forgotten, alone, cycle = 0;
    selene_report *report = NULL;
    add_work(scheduler, "a", &work);
    forgotten = begin(scheduler, window);
    next(forgotten, "a");
    advance(11 * S);
    /* Of the other kind, which is off; of both; on threads; of a task that cannot run, of one that there is not. */
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH));
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &window, &cycle));
    window.kinds = BOTH_KINDS;
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_run(scheduler, &window, NULL));
    window.task = SELENE_TEXT("a");
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
                 selene_cycle_begin(scheduler, &window, &cycle));
    window.task = SELENE_TEXT("b");
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_scheduler_enable(scheduler, BOTH_KINDS));
    window = window_of(10 * S, 0, 1);
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_cycle_end(begin(scheduler, window), NULL));
    CHECK_OK(selene_cycle_end(forgotten, &report));
    CHECK_INT(1, report->expired);
    selene_free(report);

    /* One of a single task is of its task's kind. */
    add_work(scheduler, "b", &work);
    window = window_of(10 * S, 0, 1);
    window.task = SELENE_TEXT("b");
    alone = begin(scheduler, window);
    next(alone, "b");
    advance(11 * S);
    window = window_of(10 * S, 0, 1);
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_cycle_end(begin(scheduler, window), NULL));
    CHECK_OK(selene_cycle_end(alone, &report));
    CHECK_INT(1, report->expired);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_forgotten(void) {
    selene_scheduler scheduler = open_plain();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = COMPLETE};
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle forgotten, cycle;
    selene_run run;
    add_work(scheduler, "a", &first);
    advance(S);
    add_work(scheduler, "b", &second);
    forgotten = begin(scheduler, window);
    run = next(forgotten, "a");
    advance(9 * S);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &cycle));
    advance(2 * S);
    cycle = begin(scheduler, window);
    CHECK(cycle != forgotten);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(forgotten, NULL));
    CHECK_INT(START + S + 10 * S, record(scheduler, "a").last_run);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, record(scheduler, "a").last_outcome);
    CHECK_OK(selene_run_complete(next(cycle, "b"), SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL); /* a has not come back */
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The kinds of a cycle, which ends. */
static uint32_t kinds_of(selene_cycle cycle) {
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_end(cycle, &report));
    const uint32_t kinds = report->kinds;
    selene_free(report);
    return kinds;
}

/** Without named kinds a window skips those that are off, open or too early. */
static void test_all_that_may(void) {
    const uint32_t refresh = SELENE_KIND_REFRESH, processing = SELENE_KIND_PROCESSING;
    selene_options options = SELENE_INIT(selene_options);
    selene_window any = SELENE_INIT(selene_window), one = window_of(10 * S, 0, 1);
    selene_cycle open, none = 0;
    options.minimum_interval_refresh = 60 * S;
    selene_scheduler scheduler = open_virtual(options);
    CHECK_INT(refresh | processing, kinds_of(begin(scheduler, any)));
    CHECK_INT(processing, kinds_of(begin(scheduler, any))); /* too soon for refresh */
    one.kinds = processing;
    open = begin(scheduler, one);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &any, &none));
    CHECK_INT(processing, kinds_of(open));
    advance(60 * S);
    open = begin(scheduler, one);
    CHECK_INT(refresh, kinds_of(begin(scheduler, any))); /* beside one of the other kind */
    CHECK_INT(processing, kinds_of(open));
    CHECK_OK(selene_scheduler_enable(scheduler, processing));
    CHECK_INT(processing, kinds_of(begin(scheduler, any)));
    CHECK_OK(selene_scheduler_enable(scheduler, refresh));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &any, &none));
    CHECK_OK(selene_scheduler_enable(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &any, &none));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_pace(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    selene_window window = window_of(10 * S, 0, 1), both = window, processing = window;
    selene_cycle cycle, none = 0;
    int64_t at = 0;
    struct work work = {.behaviour = COMPLETE};
    both.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    processing.kinds = SELENE_KIND_PROCESSING;
    options.minimum_interval_refresh = 60 * S;
    scheduler = open_virtual(options);
    cycle = begin(scheduler, window); /* an empty cycle counts */
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &none));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    add_work(scheduler, "a", &work);
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &window, &none));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON,
                 selene_cycle_begin(scheduler, &both, &none)); /* one refused kind */
    CHECK_OK(selene_cycle_end(begin(scheduler, processing), NULL));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(START + 60 * S, at);
    advance(59 * S);
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &window, &none));
    advance(S); /* a refused begin did not count */
    CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE,
                 selene_cycle_begin(scheduler, &window, &none)); /* before TOO_SOON */
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &both, &none));
    window.lanes = 1025;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_begin(scheduler, &window, &none));
    CHECK_INT(0, none);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_switch_in_flight(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("b");
    selene_cycle cycle;
    selene_run run;
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "a");
    CHECK_OK(selene_scheduler_enable(scheduler, 0));
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  A WINDOW OF ONE TASK
 * ========================================================================= */

static selene_window window_for(const char *id) {
    selene_window window = window_of(10 * S, 0, 1);
    window.task.data = id;
    window.task.length = -1;
    return window;
}

static void test_now_pulled(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_window window = window_for("late");
    selene_cycle open, now;
    selene_report *report = NULL;
    selene_run run;
    options.minimum_interval_refresh = SELENE_HOUR;
    scheduler = open_virtual(options);
    add_handler(scheduler, "h", &work);
    task = task_of("early");
    task.handler = SELENE_TEXT("h");
    task.priority = 5;
    add(scheduler, task);
    task = task_of("late"); /* of low rank, not due, and dear */
    task.handler = SELENE_TEXT("h");
    task.priority = 1;
    task.initial_delay = SELENE_DAY;
    task.expected_response = SELENE_HOUR;
    add(scheduler, task);
    advance(S);
    open = begin(scheduler, window_of(20 * S, 0, 2));
    now = begin(scheduler, window); /* outside C12 and C13 */
    run = next(now, "late");
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "late").state);
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
                 selene_cycle_begin(scheduler, &window, &(selene_cycle){0}));
    advance(S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    next(now, NULL);
    CHECK_OK(selene_cycle_end(now, &report));
    CHECK_INT(1, report->run_count);
    CHECK_TEXT("late", report->runs[0].id);
    selene_free(report);
    /* The other one, run now, counts as its run in the cycle that is open. */
    now = begin(scheduler, window_for("early"));
    CHECK_OK(selene_run_complete(next(now, "early"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(now, NULL));
    next(open, NULL);
    CHECK_INT(SELENE_REASON_HAD_ITS_RUN, why(scheduler, "early", SELENE_REASON_HAD_ITS_RUN).reason);
    CHECK_OK(selene_cycle_end(open, &report));
    CHECK_INT(0, report->run_count);
    selene_free(report);
    /* In backoff, in the middle of the minimum interval. */
    now = begin(scheduler, window_for("early"));
    CHECK_OK(selene_run_retry(next(now, "early"), SELENE_HOUR));
    CHECK_OK(selene_cycle_end(now, NULL));
    now = begin(scheduler, window_for("early"));
    CHECK_OK(selene_run_complete(next(now, "early"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(now, NULL));
    CHECK_INT(4, record(scheduler, "late").response_time_count +
                     record(scheduler, "early").response_time_count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void refuse_now(selene_scheduler scheduler, selene_status expected, const char *id) {
    selene_window window = window_for(id);
    selene_cycle cycle = 0;
    selene_plan *plan = NULL;
    CHECK_STATUS(expected, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_STATUS(expected, selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(0, cycle);
    CHECK(plan == NULL);
}

static void test_now_refused(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_window window = window_for("a");
    selene_cycle cycle;
    selene_run run;
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_processing = 1;
    scheduler = open_virtual(options);
    add_handler(scheduler, "h", &work);
    refuse_now(scheduler, SELENE_ERROR_NOT_FOUND, "a");
    add(scheduler, task_of("a"));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* no handler */
    task = task_of("a");
    task.handler = SELENE_TEXT("h");
    task.constraints = SELENE_CONSTRAINT_EXTERNAL_POWER;
    add(scheduler, task);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* constraint */
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING));
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
                 selene_cycle_begin(scheduler, &window, &cycle)); /* kind off */
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING | SELENE_KIND_REFRESH));
    window.lanes = 2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_begin(scheduler, &window, &cycle));
    cycle = begin(scheduler, window_for("a"));
    run = next(cycle, "a");
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* running */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* has not come back */
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* terminal */
    task = once_of("p1");
    task.handler = SELENE_TEXT("h");
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
    task.id = SELENE_TEXT("p2");
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "p2"); /* held */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_now_pushed(void) {
    selene_scheduler scheduler = open_told();
    struct work stuck = {.behaviour = GATE}, work = {.behaviour = COMPLETE};
    struct receiver receiver = {0}, other = {0};
    selene_task task = once_of("now");
    selene_window window = window_for("now");
    selene_report *report;
    add_work(scheduler, "stuck", &stuck);
    add_handler(scheduler, "now", &work);
    task.initial_delay = SELENE_DAY;
    add(scheduler, task);
    push_async(scheduler, window_of(H, 0, 1), &receiver, NULL);
    wait_for("the handler", &stuck.started, 1);
    report = push(scheduler, window); /* while another cycle is open */
    CHECK_INT(1, report->new_data);
    CHECK_TEXT("now", report->runs[0].id);
    selene_free(report);
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "now").state);
    add(scheduler, task_of("again"));
    add_handler(scheduler, "again", &(struct work){.behaviour = COMPLETE});
    push_async(scheduler, window_for("again"), &other, NULL);
    wait_for("the report", &other.destroyed, 1);
    CHECK_INT(1, other.new_data);
    CHECK(other.cycle != receiver.cycle);
    atomic_store(&gate, 1);
    wait_for("the other report", &receiver.destroyed, 1);
    CHECK_INT(1, receiver.run_count);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);

    run_test("C5 four lanes are four threads at a time", test_parallel);
    run_test("C5 never more handlers run at a time than there are lanes", test_two_lanes);
    run_test("C5 inline handlers run one after another on the calling thread", test_inline);
    run_test("C5 with a host clock there are no library threads, and an undecided inline run ends "
             "the cycle",
             test_host_clock);
    run_test("T10 a handler without a function is for pulled cycles only", test_pulled_only);
    run_test("C12 run_async joins the pushed cycle of its kinds and gets its deadline and report",
             test_join);
    run_test("C5 a pushed cycle can be ended early and is reported to all who wait",
             test_end_early);

    run_test("C5 next gives a run, says when to come again, or that it is done", test_steps);
    run_test("C5 a begin past the deadline of a forgotten cycle ends that one first",
             test_forgotten);
    run_test("C5 a begin that is refused, or of another kind, leaves a forgotten cycle",
             test_forgotten_stays);
    run_test("C1 a window that names no kinds is for all of which one may begin",
             test_all_that_may);
    run_test("C13 a minimum interval counts from begin to begin, refusals in their order",
             test_pace);
    run_test("C13 a kind that is switched off lets its runs in flight go on",
             test_switch_in_flight);

    run_test("C14 a window of one task runs it whatever its rank, cost, delay and open cycles",
             test_now_pulled);
    run_test("C14 a window of one task is refused when the task cannot run", test_now_refused);
    run_test("C14 a window of one task can be pushed beside another cycle", test_now_pushed);
    return check_end();
}
