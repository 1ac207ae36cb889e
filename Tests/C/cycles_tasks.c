/*
 * cycles_tasks.c - tasks, successors and handlers between cycles and while their runs are in flight; host clocks
 *
 * Argument: the filter of check.h.
 */
#include "cycles.h"

/* A phone refuses the second once task, and the eleventh of the kind processing. */
static void test_no_limit(void) {
    selene_options phone = SELENE_INIT(selene_options);
    selene_scheduler schedulers[] = {open_real(), open_plain(), 0};
    phone.max_pending_refresh = 1;
    phone.max_pending_processing = 10;
    schedulers[2] = open_virtual(phone);
    for (int at = 0; at < 3; at++) {
        for (int kind = SELENE_KIND_REFRESH; kind <= SELENE_KIND_PROCESSING; kind++)
            for (int i = 0; i < 20; i++) {
                char id[16];
                selene_task task;
                snprintf(id, sizeof id, "%d %d", kind, i);
                task = once_of(id);
                task.kind = kind;
                CHECK_STATUS(at == 2 && i >= (kind == SELENE_KIND_REFRESH ? 1 : 10)
                                 ? SELENE_ERROR_TOO_MANY_PENDING
                                 : SELENE_OK,
                             selene_task_register(schedulers[at], &task, NULL));
            }
        CHECK_OK(selene_scheduler_close(schedulers[at], 0));
    }
}

static void test_hold(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("p1");
    selene_window window = window_of(10 * S, 0, 1);
    selene_task_info before, after;
    selene_scheduler_info counts = SELENE_INIT(selene_scheduler_info);
    selene_cycle cycle;
    window.kinds = SELENE_KIND_PROCESSING;
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_processing = 1;
    scheduler = open_virtual(options);
    add_handler(scheduler, "h", &work);
    task.handler = SELENE_TEXT("h");
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
    task.id = SELENE_TEXT("low");
    task.priority = 2;
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    task.id = SELENE_TEXT("high");
    task.priority = 4;
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    task.id = SELENE_TEXT("higher");
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    CHECK_OK(selene_scheduler_get(scheduler, &counts));
    CHECK_INT(1, counts.enqueued);
    CHECK_INT(3, counts.held);
    before = record(scheduler, "high");
    advance(S);
    CHECK_OK(selene_task_cancel(scheduler, "p1", -1, NULL));
    after = record(scheduler, "high"); /* of two with the same priority the older */
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(before.sequence, after.sequence);
    CHECK_INT(before.registered_at, after.registered_at);
    CHECK_INT(before.earliest_begin, after.earliest_begin);
    CHECK_INT(SELENE_STATE_HELD, record(scheduler, "higher").state);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_run_complete(next(cycle, "high"), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "higher").state);
    next(cycle, NULL); /* promoted after begin: the next cycle's */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "low").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_prune(void) {
    selene_scheduler scheduler = open_plain();
    uint64_t count = 99;
    selene_task_info *info = NULL;
    add(scheduler, once_of("a"));
    add(scheduler, once_of("b"));
    add(scheduler, once_of("c"));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(1, count);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK(info == NULL);
    CHECK_OK(selene_task_cancel(scheduler, "b", -1, NULL));
    advance(SELENE_DAY - 1);
    CHECK_OK(selene_cycle_end(begin(scheduler, window_of(S / 2, 0, 1)), NULL));
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "b").state);
    advance(1);
    CHECK_OK(selene_cycle_end(begin(scheduler, window_of(S / 2, 0, 1)), NULL));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "b", -1, 0, &info));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "c").state);
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_reset(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_task_ids *ids = NULL;
    uint32_t satisfied = 0, host = 0;
    selene_scheduler_info counts = SELENE_INIT(selene_scheduler_info);
    options.minimum_interval_refresh = SELENE_HOUR;
    scheduler = open_virtual(options);
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_scheduler_reset(scheduler));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH));
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    CHECK_INT(0, ids->count);
    selene_free(ids);
    CHECK_INT(0, atomic_load(&work.destroyed)); /* handlers, conditions and switches stay */
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_INT(SELENE_CONSTRAINT_NETWORK, satisfied & BOTH);
    CHECK_INT(BOTH, host);
    CHECK_OK(selene_scheduler_get(scheduler, &counts));
    CHECK_INT(SELENE_KIND_REFRESH, counts.kinds);
    CHECK_INT(0, counts.enqueued + counts.running + counts.cancelled);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task_of("a")));
    CHECK_INT(1, pull(scheduler, window_of(10 * S, 0, 1),
                      SELENE_OUTCOME_NEW_DATA)); /* no history, no pace */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_positions(void) {
    selene_scheduler scheduler = open_plain();
    selene_task task = once_of("a");
    selene_task_info *info = NULL, record0;
    selene_scheduler_info counts = SELENE_INIT(selene_scheduler_info);
    uint64_t count = 0, last = 0;
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND;
    for (int k = 2; k <= 4; k++) {
        task.priority = k;
        CHECK_INT(SELENE_DISPOSITION_APPENDED, add(scheduler, task));
    }
    record0 = record(scheduler, "a");
    CHECK_INT(3, record0.appended);
    CHECK_INT(3, record0.priority);
    CHECK_INT(SELENE_STATE_ENQUEUED, record0.state);
    last = record0.sequence;
    for (uint64_t k = 1; k <= 3; k++) {
        selene_task_info waiting = record_at(scheduler, "a", k);
        CHECK_INT(k + 1, waiting.priority); /* first in, first out */
        CHECK_INT(SELENE_STATE_BLOCKED, waiting.state);
        CHECK(waiting.sequence > last);
        last = waiting.sequence;
    }
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "a", -1, 4, &info));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "a", -1, UINT64_MAX, &info));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "b", -1, 0, &info));
    CHECK_OK(selene_scheduler_get(scheduler, &counts));
    CHECK_INT(3, counts.blocked);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, &count));
    CHECK_INT(4, count);
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    CHECK_INT(0, record(scheduler, "a").appended);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_list(void) {
    selene_scheduler scheduler = open_plain();
    selene_task task;
    selene_task_info *info = NULL;
    selene_task_ids *ids = NULL;
    const selene_text tags[3] = {SELENE_TEXT("x"), SELENE_TEXT("y"), SELENE_TEXT("x")};
    task = task_of("c");
    task.tags = tags;
    task.tag_count = 3;
    add(scheduler, task);
    add(scheduler, task_of("a"));
    task = task_of("b");
    task.tags = tags;
    task.tag_count = 1;
    add(scheduler, task);
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task_of("a"))); /* keeps its place */
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    CHECK_INT(3, ids->count);
    CHECK_TEXT("c", ids->ids[0]);
    CHECK_TEXT("a", ids->ids[1]);
    CHECK_TEXT("b", ids->ids[2]);
    selene_free(ids);
    CHECK_OK(selene_task_list(scheduler, "x", -1, &ids));
    CHECK_INT(2, ids->count);
    CHECK_TEXT("c", ids->ids[0]);
    CHECK_TEXT("b", ids->ids[1]);
    selene_free(ids);
    CHECK_OK(selene_task_list(scheduler, "y", 1, &ids));
    CHECK_INT(1, ids->count);
    selene_free(ids);
    CHECK_OK(selene_task_list(scheduler, "nobody", -1, &ids));
    CHECK_INT(0, ids->count);
    selene_free(ids);
    CHECK_OK(selene_task_get(scheduler, "c", -1, 0, &info));
    CHECK_INT(2, info->tag_count); /* repeated ones count once */
    CHECK_TEXT("x", info->tags[0]);
    CHECK_TEXT("y", info->tags[1]);
    CHECK_TEXT("c", info->handler);
    CHECK_INT(0, info->input.length);
    CHECK_INT(-1, info->last_outcome);
    CHECK_INT(START, info->registered_at);
    selene_free(info);
    selene_free(NULL);
    selene_free(NULL);
    selene_free(NULL);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_unregister_in_flight(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = GATE}, again = {.behaviour = COMPLETE};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(AMPLE, 0, 1));
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_handler_unregister(scheduler, "a", -1));
    CHECK_INT(0, atomic_load(&work.destroyed));
    CHECK_INT(0, atomic_load(&work.stopped)); /* it goes on */
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_handler_unregister(scheduler, "a", -1));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "a", -1, work_run, NULL, &again, work_destroy));
    CHECK_INT(1, atomic_load(&again.destroyed));
    atomic_store(&gate, 1);
    report = join_runner(&runner);
    CHECK_INT(1, report->new_data);
    selene_free(report);
    wait_for("the end of the handler", &work.destroyed, 1);
    CHECK_INT(1, atomic_load(&work.returned));
    CHECK_INT(SELENE_REASON_NO_HANDLER, why(scheduler, "a", SELENE_REASON_NO_HANDLER).reason);
    atomic_store(&again.destroyed, 0);
    add_handler(scheduler, "a", &again);
    report = push(scheduler, window_of(AMPLE, 0, 1));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(1, atomic_load(&work.destroyed));
    CHECK_INT(1, atomic_load(&again.destroyed));
}

static void ask_everything(struct work *work, selene_run run, const selene_run_info *info) {
    selene_scheduler scheduler = work->scheduler;
    selene_window window = window_of(S, 0, 1);
    selene_cycle cycle = 0;
    static struct receiver receiver;
    (void)info;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_close(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_reset(scheduler));
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_cycle_run(scheduler, &window, NULL));
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_cycle_run(scheduler, &window, NULL));
    window.flags = 0;
    CHECK_OK(selene_cycle_begin(scheduler, &window,
                                &cycle)); /* pulled and pushed without blocking are legal */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_run_async(scheduler, &window, receive, &receiver, receiver_destroy, NULL,
                                    NULL));
    wait_for("the report", &receiver.destroyed, 1);
    CHECK_INT(1, atomic_load(&receiver.calls));
    add(scheduler, task_of("other"));
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
    CHECK_INT(run, record(scheduler, "a").run);
    complete_twice(work, run);
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_close(scheduler, 0));
}

static void test_reentrant(void) {
    selene_scheduler scheduler = open_real(), other = open_real();
    struct work work = {.behaviour = ASK, .ask = ask_everything};
    selene_report *report;
    add_work(scheduler, "a", &work);
    report = push(scheduler, window_of(AMPLE, 0, 1));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_OK(selene_scheduler_close(other, 0));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

static void test_successor(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle cycle;
    selene_task_info before, after;
    window.kinds = SELENE_KIND_PROCESSING;
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND;
    task.initial_delay = 7 * S;
    add(scheduler, task);
    before = record(scheduler, "a");
    advance(S);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
    after = record(scheduler, "a");
    CHECK(after.sequence != before.sequence);
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(START + S, after.registered_at); /* as if registered at that moment */
    CHECK_INT(START + 8 * S, after.earliest_begin);
    CHECK_INT(0, after.appended);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_update_in_flight(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle;
    int32_t step = -1;
    task.input = "old";
    task.input_length = 3;
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    task.input = "newer";
    task.input_length = 5;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
    CHECK_INT(1, record(scheduler, "a").generation);
    CHECK_TEXT("old", info.input); /* borrowed until the completion */
    CHECK_INT(0, info.generation);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(S);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_TEXT("newer", info.input);
    CHECK_INT(1, info.generation);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static selene_scheduler clocked;
static atomic_int clock_status, clock_calls;

static int64_t calling_clock(void *context) {
    int64_t now = 0;
    (void)context;
    if (clocked) {
        atomic_store(&clock_status, selene_scheduler_now(clocked, &now));
        atomic_fetch_add(&clock_calls, 1);
    }
    return START;
}

static void test_clock_reentrant_call(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    int64_t now = 0;
    options.clock = calling_clock;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    clocked = scheduler;
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START, now);
    CHECK(atomic_load(&clock_calls) > 0);
    CHECK_INT(SELENE_ERROR_REENTRANT, atomic_load(&clock_status));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_clock_going_back(void) {
    selene_scheduler scheduler = open_plain();
    int64_t now = 0;
    advance(10 * S);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START + 10 * S, now);
    advance(-5 * S);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START + 10 * S, now); /* it stands until the clock has caught up */
    advance(6 * S);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START + 11 * S, now);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("T6 any number of tasks may wait unless a limit is asked for", test_no_limit);
    run_test("T6 held tasks take the free place by priority, then age, for the next cycle",
             test_hold);
    run_test("T9 terminal records stay until prune or a day later", test_prune);
    run_test("T9 reset removes tasks and history and keeps the rest", test_reset);
    run_test("T5 successors wait in order and are read by position", test_positions);
    run_test("T5 a successor starts as if registered when the one before it succeeded",
             test_successor);
    run_test("T5 an update leaves the run in flight its own copy", test_update_in_flight);
    run_test("T8 tasks are listed in order of registration and by tag", test_list);
    run_test("T10 an unregistered handler ends after its last run, then its name is free",
             test_unregister_in_flight);
    run_test("P3 inside a handler all is legal except close, reset and a blocking cycle",
             test_reentrant);
    run_test("P2 a host clock that calls the library gets REENTRANT", test_clock_reentrant_call);
    run_test("P2 scheduler time never goes back though a host clock does", test_clock_going_back);
    return check_end();
}
