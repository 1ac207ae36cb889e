/*
 * cycles_stops.c - what stops a run in flight, and how long its id stays taken when it does not come back
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_ROUNDS, how many pulled runs are never completed (100 000).
 */
#include "told.h"

#include <malloc.h>
#include <unistd.h>

/* ============================================================================
 *  STOPS
 * ========================================================================= */

static void test_cancel_in_flight(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = UNTIL_STOPPED};
    struct runner runner;
    selene_report *report;
    uint64_t count = 0;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(H, 0, 1));
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, &count));
    CHECK_INT(1, count);
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    report = join_runner(&runner);
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    CHECK_INT(SELENE_OUTCOME_STOPPED, report->runs[0].outcome);
    CHECK_INT(SELENE_STOP_CANCELLED, report->runs[0].stop_reason);
    CHECK_INT(START, report->ended_at);
    CHECK_INT(START + H, report->deadline);
    selene_free(report);
    wait_for("the handler's return", &work.returned, 1);
    CHECK_INT(SELENE_STOP_CANCELLED, atomic_load(&work.reason));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    CHECK_INT(SELENE_STOP_CANCELLED, record(scheduler, "a").stop_reason);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_replace_in_flight(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    selene_cycle cycle;
    selene_run run;
    int32_t reason = -1;
    selene_task_info before, after;
    add_work(scheduler, "a", &work);
    before = record(scheduler, "a");
    advance(S);
    cycle = begin(scheduler, window_of(10 * S, 0, 2));
    run = next(cycle, "a");
    CHECK_INT(run, record(scheduler, "a").run);
    task.existing = SELENE_EXISTING_REPLACE;
    CHECK_INT(SELENE_DISPOSITION_REPLACED, add(scheduler, task));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_REPLACED, atomic_load(&work.reason));
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_REPLACED, reason);
    after = record(scheduler, "a");
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(0, after.attempts);
    CHECK_INT(0, after.run);
    CHECK(after.sequence > before.sequence);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    next(cycle, NULL);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_stopping(run, &reason));
    CHECK_INT(0, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(1, pull(scheduler, window_of(10 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_constraint_lost(void) {
    selene_scheduler scheduler = open_plain();
    struct work needy = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE};
    selene_task task = task_of("needy");
    selene_task_info before, after;
    selene_cycle cycle;
    selene_report *report = NULL;
    selene_run run, kept;
    int32_t reason = -1;
    add_handler(scheduler, "needy", &needy);
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    advance(S);
    add_work(scheduler, "other", &other);
    /* One failed attempt first, so that there is something to keep. */
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_run_retry(next(cycle, "needy"), 3 * S));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    before = record(scheduler, "needy");
    CHECK_INT(1, before.attempts);
    advance(5 * S);
    cycle = begin(scheduler, window_of(10 * S, 0, 2));
    run = next(cycle, "needy"); /* of the same age, and registered first */
    kept = next(cycle, "other");
    CHECK_INT(2, record(scheduler, "needy").attempts);
    advance(S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH,
                                   SELENE_CONSTRAINT_NETWORK)); /* loses what it does not need */
    CHECK_INT(0, atomic_load(&needy.stopped));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_EXTERNAL_POWER));
    CHECK_INT(1, atomic_load(&needy.stopped));
    CHECK_INT(0, atomic_load(&other.stopped));
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, atomic_load(&needy.reason));
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, reason);
    after = record(scheduler, "needy");
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(before.attempts, after.attempts);
    CHECK_INT(before.last_run, after.last_run);
    CHECK_INT(before.earliest_begin, after.earliest_begin);
    CHECK_INT(before.response_time_count, after.response_time_count);
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, after.stop_reason);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(kept, SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->stopped);
    CHECK_INT(1, report->no_data);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_shutdown(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = UNTIL_STOPPED};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(H, 0, 1));
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    wait_for("the end of the handler", &work.destroyed, 1);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    report = join_runner(&runner);
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_STOP_SHUTDOWN, report->runs[0].stop_reason);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                 selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NEW_DATA));
}

static void test_grace(void) {
    selene_scheduler scheduler = open_told();
    struct work stuck = {.behaviour = GATE}, idle = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    struct closer closer = {0};
    add_work(scheduler, "stuck", &stuck);
    add_handler(scheduler, "idle", &idle);
    push_async(scheduler, window_of(2 * H, 0, 1), &receiver, NULL);
    wait_for("the handler", &stuck.started, 1);
    start_closer(&closer, scheduler, selene_scheduler_close, 100 * S);
    WAIT_UNTIL(still(scheduler) == START + 90 * S);
    CHECK_INT(START + 100 * S, reach(scheduler, START + 100 * S - 1));
    CHECK_INT(0, atomic_load(&closer.done));
    CHECK_OK(selene_clock_set(scheduler, START + 100 * S));
    CHECK_OK(join_closer(&closer));
    wait_for("the report", &receiver.calls, 1);
    CHECK_INT(1, receiver.stopped);
    wait_for("the end of the receiver", &receiver.destroyed, 1);
    wait_for("the end of who is idle", &idle.destroyed, 1);
    wait_for("the stop", &stuck.stopped, 1);
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&stuck.reason));
    CHECK_INT(0, atomic_load(&stuck.destroyed)); /* follows its last return, even later */
    atomic_store(&gate, 1);
    wait_for("the end of the handler", &stuck.destroyed, 1);
    CHECK_INT(1, atomic_load(&stuck.returned));
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&stuck.first_status));
}

static atomic_int told;

static void ask_when_stopped(selene_run run, int32_t reason, void *context) {
    int32_t asked = -1;
    (void)context;
    CHECK_OK(selene_run_stopping(run, &asked));
    CHECK_INT(reason, asked);
    atomic_store(&told, reason);
}

/** The host's clock has ended when its last runs are stopped: the system's, far ahead of it, does not take its place. */
static void test_close_early_clock(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    atomic_store(&clock_now, 1);
    options.release_after = MS;
    scheduler = open_virtual(options);
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, ask_when_stopped, NULL, NULL));
    add(scheduler, task_of("a"));
    next(begin(scheduler, window_of(S, 0, 1)), "a");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&told));
}

static void test_close_pulled(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_run run;
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "a");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

static void test_stopped_once(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_report *report = NULL;
    selene_run run;
    int32_t reason = -1;
    int64_t remaining = -1;
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window_of(10 * S, 2 * S, 1));
    run = next(cycle, "a");
    advance(8 * S - 1);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    CHECK_OK(selene_run_remaining(run, &remaining));
    CHECK_INT(1, remaining);
    CHECK_INT(0, atomic_load(&work.stopped));
    advance(1);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_EXPIRING, reason);
    CHECK_OK(selene_run_remaining(run, &remaining));
    CHECK_INT(0, remaining);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_CANCELLED, reason); /* the stronger one can be read */
    CHECK_INT(1, atomic_load(&work.stopped)); /* and is not called again */
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_STOP_CANCELLED, report->runs[0].stop_reason);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, atomic_load(&work.stopped));
}

/* ============================================================================
 *  ONE AT A TIME
 * ========================================================================= */

static void test_complete_then_stuck(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE_GATE};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(20 * S, S, 1));
    WAIT_UNTIL(atomic_load(&work.second_status) != -1);
    reach(scheduler, START + 20 * S + 1);
    report = join_runner(&runner);
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->runs[0].outcome);
    CHECK_INT(0, atomic_load(&work.stopped)); /* it was decided: nothing to stop */
    selene_free(report);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    report = push(scheduler, window_of(20 * S, S, 1));
    CHECK_INT(0, report->run_count);
    selene_free(report);
    atomic_store(&gate, 1);
    wait_until_ready(scheduler, "a");
    report = push(scheduler, window_of(20 * S, S, 1));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_still_running(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    selene_report *report;
    add_work(scheduler, "a", &work);
    report = push_to_deadline(scheduler, window_of(20 * S, 0, 1), &work, 1);
    CHECK_INT(1, report->expired);
    selene_free(report);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_INT(0, explain(scheduler, "a").rank);
    report = push(scheduler, window_of(20 * S, 0, 1));
    CHECK_INT(0, report->eligible);
    CHECK_INT(0, report->run_count);
    selene_free(report);
    atomic_store(&gate, 1);
    wait_until_ready(scheduler, "a");
    report = push(scheduler, window_of(20 * S, 0, 1));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_INT(2, atomic_load(&work.started));
    CHECK_INT(1, atomic_load(&most_inside));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_release(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_run run;
    int64_t ended;
    options.release_after = 60 * S;
    scheduler = open_virtual(options);
    observe(scheduler);
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "a");
    advance(10 * S);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    ended = START + 10 * S;
    CHECK_INT(ended + 60 * S, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).may_change_at);
    advance(60 * S - 1);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_INT(0, pull(scheduler, window_of(10 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, count_events(0, SELENE_EVENT_RELEASED, -1));
    advance(1);
    CHECK_INT(1, pull(scheduler, window_of(10 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, count_events(0, SELENE_EVENT_RELEASED, -1));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* All at one instant: the events come in the order of the runs, whatever order the library keeps them in. */
static void test_release_order(void) {
    enum { COUNT = 40 };
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_run runs[COUNT];
    selene_cycle cycle;
    char ids[COUNT][8];
    int released = 0;
    options.release_after = 60 * S;
    scheduler = open_virtual(options);
    add_handler(scheduler, "work", &work);
    for (int k = 0; k < COUNT; k++) {
        selene_task task;
        snprintf(ids[k], sizeof ids[k], "%d", k);
        task = task_of(ids[k]);
        task.handler = SELENE_TEXT("work");
        add(scheduler, task);
    }
    /* So many runs before that the numbers of the next ones pass a power of two, where tables begin again. */
    for (int k = 0; k < 3; k++)
        CHECK_INT(COUNT, pull(scheduler, window_of(10 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    observe(scheduler);
    cycle = begin(scheduler, window_of(10 * S, 0, COUNT));
    for (int k = 0; k < COUNT; k++)
        runs[k] = next(cycle, ids[k]);
    advance(10 * S);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(60 * S);
    CHECK_INT(0, explain(scheduler, "0").reason_count);
    CHECK_INT(COUNT, count_events(0, SELENE_EVENT_RELEASED, -1));
    for (int k = 0; k < atomic_load(&noted_count); k++) {
        if (noted[k].event.type != SELENE_EVENT_RELEASED) continue;
        CHECK_INT(runs[released], noted[k].event.run);
        CHECK_STRING(ids[released], noted[k].id);
        CHECK_INT(START + 70 * S, noted[k].event.time);
        released++;
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Of the heap where the C library says it, else of the process. */
static uint64_t bytes_in_use(void) {
#ifdef __GLIBC__
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
#endif
}

/* A host whose workers die: what is kept of their runs does not grow, and the last texts can be read. */
static void test_never_completed(void) {
    enum { KEPT = 1024 };
    const int64_t count = check_environment("SELENE_TEST_ROUNDS", 100000);
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_run first = 0;
    static selene_run_info last[KEPT];
    static char input[200];
    uint64_t before;
    options.release_after = SELENE_NONE;
    scheduler = open_virtual(options);
    add_handler(scheduler, "work", &work);
    before = bytes_in_use();
    for (int64_t k = 0; k < count; k++) {
        selene_run_info *info = &last[k % KEPT];
        selene_cycle cycle;
        char id[32];
        int32_t step = -1;
        snprintf(id, sizeof id, "task %" PRId64, k);
        selene_task task = refresh_once(id, 3);
        task.handler = SELENE_TEXT("work");
        task.input = input;
        task.input_length = sizeof input;
        CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
        cycle = begin(scheduler, window_of(S, 0, 1));
        *info = (selene_run_info)SELENE_INIT(selene_run_info);
        CHECK_OK(selene_cycle_next(cycle, &step, info, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        if (k == 0) first = info->run;
        advance(2 * S);
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_task_cancel(scheduler, id, -1, NULL));
        CHECK_OK(selene_scheduler_prune(scheduler, NULL));
    }
    /* About 4 MB are the 65 536 tokens that are known as stale. */
    CHECK(bytes_in_use() < before + (8 << 20));
    for (int64_t k = count > KEPT ? count - KEPT : 0; k < count; k++) {
        const selene_run_info *info = &last[k % KEPT];
        char id[32];
        snprintf(id, sizeof id, "task %" PRId64, k);
        CHECK_TEXT(id, info->id);
        CHECK_INT(sizeof input, info->input.length);
        CHECK(memcmp(info->input.data, input, sizeof input) == 0);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                     selene_run_complete(info->run, SELENE_OUTCOME_NEW_DATA));
    }
    CHECK_STATUS(count > 65536 ? SELENE_ERROR_ALREADY_COMPLETED : SELENE_ERROR_STALE_RUN,
                 selene_run_complete(first, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_release_threads(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = GATE};
    selene_report *report;
    options.release_after = 60 * S;
    scheduler = open_told_with(options);
    add_work(scheduler, "a", &work);
    report = push_to_deadline(scheduler, window_of(20 * S, 0, 1), &work, 1);
    CHECK_INT(1, report->expired);
    selene_free(report);
    reach(scheduler, START + 80 * S - 1);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    reach(scheduler, START + 80 * S);
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    report = push_to_deadline(scheduler, window_of(20 * S, 0, 1), &work, 2);
    CHECK_INT(1, report->expired);
    selene_free(report);
    CHECK_INT(2, atomic_load(&most_inside)); /* the first was given up */
    wait_for_overruns(scheduler, 2);         /* but its thread is still counted */
    atomic_store(&gate, 1);
    wait_for("both handlers", &work.returned, 2);
    wait_for_overruns(scheduler, 0);
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    wait_for("the end of the handler", &work.destroyed, 1);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);

    run_test("C8 cancelling stops the run in flight, which is over at once", test_cancel_in_flight);
    run_test("C8 replacing stops the run in flight, and the id stays taken until it comes back",
             test_replace_in_flight);
    run_test("C8 a lost constraint stops the run, and the task is as before it",
             test_constraint_lost);
    run_test("C8 closing without grace stops the runs in flight and reports their cycle",
             test_shutdown);
    run_test("C8 a stop function is called once, a stronger reason can be read", test_stopped_once);
    run_test("P3 close waits for handlers at most its grace, their destroy follows later",
             test_grace);
    run_test("P3 close ends a pulled cycle and makes its tokens stale", test_close_pulled);

    run_test("P3 a stop at close is asked about on the host's time", test_close_early_clock);
    run_test("C4 after an overrun the id stays taken until the handler has returned",
             test_still_running);
    run_test("C4 an id stays taken while a completed handler has not returned",
             test_complete_then_stuck);
    run_test("C4 what does not come back is let go after release_after, with an event",
             test_release);
    run_test("C4 runs that are let go at one instant are told in their order", test_release_order);
    run_test("C4 pulled runs that are never completed take no more memory the more there are",
             test_never_completed);
    run_test("C4 a handler on a library thread is let go too, its thread still counts",
             test_release_threads);
    return check_end();
}
