/*
 * cycles_deadline.c - the report comes by the deadline, whatever the handlers do, and a run has one outcome
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

/* ============================================================================
 *  BY THE DEADLINE, WHATEVER THE HANDLERS DO
 * ========================================================================= */

/** A window of ten seconds, of which the last is for runs that are asked to stop. */
static selene_window ten_seconds(uint32_t lanes) {
    return window_of(10 * S, S, lanes);
}

/** Lets a window of selene_cycle_run that began at START come to its deadline, and sees that it reports just behind it. */
static selene_report *over(struct runner *runner) {
    reach(runner->scheduler, START + 10 * S);
    CHECK_INT(0, atomic_load(&runner->returned));
    CHECK_OK(selene_clock_set(runner->scheduler, START + 10 * S + 1));
    return join_runner(runner);
}

static void test_sleeper(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct runner runner;
    selene_report *report;
    selene_task_info before, after;
    add_work(scheduler, "sleeper", &work);
    start_runner(&runner, scheduler, ten_seconds(1));
    wait_for("the handler", &work.started, 1);
    reach(scheduler, START + 9 * S - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(scheduler, START + 9 * S);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
    report = over(&runner);
    CHECK_INT(0, atomic_load(&work.returned));
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, report->expired);
    CHECK_INT(SELENE_OUTCOME_FAILED, report->result);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, report->runs[0].outcome);
    CHECK_INT(SELENE_STOP_EXPIRING, report->runs[0].stop_reason);
    CHECK_INT(10 * S, report->runs[0].response_time);
    CHECK_INT(1, overruns(scheduler));
    before = record(scheduler, "sleeper");
    CHECK_INT(SELENE_STATE_ENQUEUED, before.state);
    CHECK_INT(1, before.attempts);
    CHECK_INT(1, before.response_time_count);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, before.last_outcome);
    CHECK_INT(START + 10 * S, before.last_run);
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.second_status));
    after = record(scheduler, "sleeper");
    CHECK_INT(
        0, memcmp(&before.state, &after.state,
                  offsetof(selene_task_info, registered_at) - offsetof(selene_task_info, state)));
    CHECK_INT(before.last_run, after.last_run);
    CHECK_INT(before.earliest_begin, after.earliest_begin);
    CHECK_INT(1, after.response_time_count);
    CHECK_INT(1, atomic_load(&work.stopped));
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, H));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

static void test_never(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = NEVER}, other = {.behaviour = COMPLETE};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "never", &work);
    CHECK_OK(selene_clock_set(scheduler, START + 1));
    add_work(scheduler, "other", &other);
    start_runner(&runner, scheduler, window_of(10 * S - 1, S, 1));
    wait_for("the handler", &work.returned, 1);
    report = over(&runner);
    CHECK_INT(1, report->run_count); /* the only lane stayed taken */
    CHECK_TEXT("never", report->runs[0].id);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, report->runs[0].outcome);
    CHECK_INT(0, atomic_load(&other.started));
    selene_free(report);
    /* It returned, but it has not come back. */
    finished(scheduler);
    CHECK_INT(0, overruns(scheduler));
    CHECK_INT(SELENE_REASON_STILL_RUNNING,
              why(scheduler, "never", SELENE_REASON_STILL_RUNNING).reason);
    report = push(scheduler, ten_seconds(1));
    CHECK_INT(1, report->run_count);
    CHECK_TEXT("other", report->runs[0].id);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                 selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, explain(scheduler, "never").reason_count);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void test_ignorers(void) {
    selene_scheduler scheduler = open_told();
    struct work works[4];
    struct runner runner;
    selene_report *report;
    memset(works, 0, sizeof works);
    for (int k = 0; k < 4; k++) {
        char id[16];
        snprintf(id, sizeof id, "%d", k);
        works[k].behaviour = GATE;
        add_work(scheduler, id, &works[k]);
    }
    start_runner(&runner, scheduler, ten_seconds(4));
    for (int k = 0; k < 4; k++)
        wait_for("a handler", &works[k].started, 1);
    reach(scheduler, START + 9 * S);
    for (int k = 0; k < 4; k++)
        CHECK_INT(1, atomic_load(&works[k].stopped));
    report = over(&runner);
    CHECK_INT(4, report->run_count);
    CHECK_INT(4, report->expired);
    selene_free(report);
    CHECK_INT(4, overruns(scheduler));
    for (int k = 0; k < 4; k++)
        CHECK_INT(0, atomic_load(&works[k].returned));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_OK(selene_scheduler_close(scheduler, H));
    for (int k = 0; k < 4; k++) {
        CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&works[k].first_status));
        CHECK_INT(1, atomic_load(&works[k].destroyed));
        CHECK_INT(1, atomic_load(&works[k].stopped));
    }
}

static void test_async_deadline(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    int64_t deadline = 0;
    add_work(scheduler, "stuck", &work);
    push_async(scheduler, ten_seconds(1), &receiver, &deadline);
    CHECK_INT(START + 10 * S, deadline);
    wait_for("the handler", &work.started, 1);
    reach(scheduler, deadline);
    CHECK_INT(0, atomic_load(&receiver.calls));
    reach(scheduler, deadline + 1);
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(1, atomic_load(&receiver.destroyed));
    CHECK_INT(0, atomic_load(&work.returned));
    CHECK_INT(1, receiver.expired);
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, H));
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(1, atomic_load(&receiver.destroyed));
}

static void test_in_reserve(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = UNTIL_STOPPED};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "polite", &work);
    start_runner(&runner, scheduler, ten_seconds(1));
    wait_for("the handler", &work.started, 1);
    reach(scheduler, START + 9 * S);
    report = join_runner(&runner); /* nothing more to do: it does not wait for the deadline */
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_STOP_EXPIRING, report->runs[0].stop_reason);
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(START + 9 * S, report->ended_at);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void test_complete_in_stop(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = NEVER, .complete_when_stopped = 1};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, ten_seconds(1));
    wait_for("the return", &work.returned, 1);
    reach(scheduler, START + 9 * S);
    report = join_runner(&runner);
    CHECK_INT(1, report->new_data);
    CHECK_INT(START + 9 * S, report->ended_at);
    selene_free(report);
    /* The report does not wait for the stop function, close does. */
    CHECK_OK(selene_scheduler_close(scheduler, H));
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.second_status));
}

static void test_cap(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    selene_window window = ten_seconds(2);
    struct work first = {.behaviour = GATE}, second = {.behaviour = GATE},
                third = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    struct runner runner;
    selene_report *report = NULL;
    options.max_overrun_threads = 2;
    scheduler = open_told_with(options);
    add_work(scheduler, "first", &first);
    add_work(scheduler, "second", &second);
    start_runner(&runner, scheduler, window);
    wait_for("the first", &first.started, 1);
    wait_for("the second", &second.started, 1);
    report = over(&runner);
    CHECK_INT(2, report->expired);
    selene_free(report);
    CHECK_INT(2, overruns(scheduler));
    add_work(scheduler, "third", &third);
    report = NULL;
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run(scheduler, &window, &report));
    CHECK(report == NULL);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run_async(scheduler, &window, receive, &receiver,
                                                           receiver_destroy, NULL, NULL));
    CHECK_INT(1, atomic_load(&receiver.destroyed));
    CHECK_INT(0, atomic_load(&third.started));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    finished_by(scheduler, START + H);
    report = push(scheduler, window_of(2 * SELENE_MINUTE, 0, 2));
    CHECK_INT(3, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, H));
    CHECK_INT(0, atomic_load(&receiver.calls));
}

static void test_exactly_at_deadline(void) {
    selene_scheduler scheduler = open_plain();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_report *report = NULL;
    selene_run a, b;
    add_work(scheduler, "a", &first);
    advance(S);
    add_work(scheduler, "b", &second);
    cycle = begin(scheduler, window_of(10 * S, 2 * S, 2));
    a = next(cycle, "a");
    b = next(cycle, "b");
    advance(10 * S);
    CHECK_OK(selene_run_complete(a, SELENE_OUTCOME_NEW_DATA));
    advance(1);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(b, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, atomic_load(&first.stopped));
    CHECK_INT(1, atomic_load(&second.stopped));
    advance(5 * S); /* ends late, but everything took effect at its own instant */
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->runs[0].outcome);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, report->runs[1].outcome);
    CHECK_INT(10 * S, report->runs[0].response_time);
    CHECK_INT(10 * S, report->runs[1].response_time);
    CHECK_INT(START + S + 10 * S, record(scheduler, "b").last_run);
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, report->expired);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->result);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  COMPLETION
 * ========================================================================= */

static void test_twice(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE, .outcome = SELENE_OUTCOME_NO_DATA};
    selene_report *report;
    add_work(scheduler, "a", &work);
    report = push(scheduler, ten_seconds(1));
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.second_status));
    CHECK_INT(1, report->no_data);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, record(scheduler, "a").last_outcome);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE,
                 selene_run_complete(atomic_load(&work.run) + 12345, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_complete(0, 0));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_retry(atomic_load(&work.run), 0));
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* The outcome comes after 2 s, by another thread, the return after 5 s: the lane is free on return. */
static void test_other_thread(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE}, other = {.behaviour = COMPLETE};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_clock_set(scheduler, START + 1));
    add_work(scheduler, "b", &other);
    start_runner(&runner, scheduler, ten_seconds(1));
    wait_for("the handler", &work.started, 1);
    reach(scheduler, START + 1 + 2 * S);
    CHECK_OK(selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NEW_DATA));
    reach(scheduler, START + 1 + 5 * S);
    CHECK_INT(0, atomic_load(&other.started));
    atomic_store(&gate, 1);
    report = join_runner(&runner);
    CHECK_INT(2, report->new_data);
    CHECK_TEXT("a", report->runs[0].id);
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.second_status));
    CHECK_INT(2 * S, report->runs[0].response_time); /* to the outcome, not to the return */
    CHECK_INT(5 * S, report->runs[1].started_at - report->runs[0].started_at);
    CHECK_INT(START + 1 + 5 * S, report->ended_at);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void test_after_return(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = NEVER}, other = {.behaviour = COMPLETE};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_clock_set(scheduler, START + 1));
    add_work(scheduler, "b", &other);
    start_runner(&runner, scheduler, ten_seconds(1));
    wait_for("the return", &work.returned, 1);
    reach(scheduler, START + 1 + 3 * S);
    CHECK_INT(0, atomic_load(&other.started));
    CHECK_OK(selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NEW_DATA));
    report = join_runner(&runner);
    CHECK_INT(2, report->new_data);
    CHECK_TEXT("a", report->runs[0].id);
    CHECK_INT(3 * S, report->runs[0].response_time);
    CHECK_INT(3 * S, report->runs[1].started_at - report->runs[0].started_at);
    CHECK_INT(START + 1 + 3 * S, report->ended_at);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void test_retry(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle cycle;
    selene_run run;
    window.kinds = SELENE_KIND_PROCESSING;
    add_handler(scheduler, "a", &work);
    task.max_attempts = 2;
    add(scheduler, task);
    cycle = begin(scheduler, window);
    run = next(cycle, "a");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_retry(run, -1));
    CHECK_OK(selene_run_retry(run, 77 * S));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_retry(run, 1));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(START + 77 * S, record(scheduler, "a").earliest_begin);
    CHECK_INT(1, record(scheduler, "a").attempts);
    CHECK_INT(SELENE_OUTCOME_FAILED, record(scheduler, "a").last_outcome);
    advance(77 * S);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_run_retry(next(cycle, "a"), 0)); /* its attempts are used up */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void ask_input(struct work *work, selene_run run, const selene_run_info *info) {
    CHECK_INT(5, info->input.length);
    CHECK_INT(0, memcmp(info->input.data,
                        "a\0b\xff"
                        "c",
                        6));
    CHECK_TEXT("task", info->id);
    CHECK_TEXT("h", info->handler);
    CHECK_INT(SELENE_KIND_REFRESH, info->kind);
    CHECK_INT(4, info->priority);
    CHECK_INT(1, info->attempt);
    CHECK_INT(1, info->generation);
    CHECK_INT(sizeof *info, info->struct_size);
    CHECK(info->cycle != 0);
    CHECK_INT(3 * S, info->estimate);
    CHECK_INT(info->started_at + 10 * S, info->deadline);
    CHECK_INT(info->deadline - S, info->expires_at);
    complete_twice(work, run);
}

static void test_run_info(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = ASK, .ask = ask_input};
    selene_task task = task_of("task");
    selene_window window = window_of(10 * S, S, 1);
    selene_report *report = NULL;
    char input[] = "a\0b\xff"
                   "c";
    add_handler(scheduler, "h", &work);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
    task.handler = SELENE_TEXT("h");
    task.priority = 4;
    task.expected_response = 3 * S;
    task.input = input;
    task.input_length = 5;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    memset(input, 'z', sizeof input); /* it was copied */
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);

    run_test("C5 the report comes by the deadline while a handler sleeps past it and completes "
             "twice late",
             test_sleeper);
    run_test("C5 the report comes by the deadline though a handler returns and never completes",
             test_never);
    run_test("C5 the report comes by the deadline while four handlers ignore their stop function",
             test_ignorers);
    run_test("C5 the report of run_async comes by the deadline while a handler is stuck",
             test_async_deadline);
    run_test("C5 at the cap of threads left behind a pushed cycle is refused with BUSY", test_cap);
    run_test("C7 in the reserve a run is asked to stop and may still complete", test_in_reserve);
    run_test("C7 a stop function may complete its run", test_complete_in_stop);
    run_test("C7 a run may still complete exactly at the deadline, and not a nanosecond later",
             test_exactly_at_deadline);

    run_test("C6 the first outcome stands, the second answers ALREADY_COMPLETED", test_twice);
    run_test("C6 another thread may complete a run before its handler returned", test_other_thread);
    run_test("C6 a run may be completed after its handler returned, which keeps its lane",
             test_after_return);
    run_test("C6 a failure may carry its own delay in place of the backoff", test_retry);
    run_test("C6 a run gets a copy of its task's definition and input", test_run_info);
    return check_end();
}
