/*
 * pause.c - tasks that the host pauses, by id and by tag: as they were, but none begins (W3)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

static selene_task work_of(const char *id) {
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    return task;
}

static uint64_t hold(selene_scheduler scheduler, const char *id) {
    uint64_t count = 99;
    CHECK_OK(selene_task_pause(scheduler, id, -1, &count));
    return count;
}

static uint64_t let_go(selene_scheduler scheduler, const char *id) {
    uint64_t count = 99;
    CHECK_OK(selene_task_resume(scheduler, id, -1, &count));
    return count;
}

static int is_paused(selene_scheduler scheduler, const char *id) {
    const int told = why(scheduler, id, SELENE_REASON_PAUSED).reason != 0;
    CHECK_INT(told, record(scheduler, id).paused);
    return told;
}

static int has_wakeup(selene_scheduler scheduler) {
    int64_t at = 0;
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    return at != SELENE_NEVER;
}

static void test_id(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_cycle cycle;
    uint64_t count = 99;
    add(scheduler, work_of("a"));
    CHECK_INT(1, hold(scheduler, "a"));
    CHECK_INT(0, hold(scheduler, "a"));
    CHECK(is_paused(scheduler, "a"));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK(!has_wakeup(scheduler));
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* Nor by itself, nor outside of rank and pace. */
    selene_window one = window_of(30 * S, 0, 1);
    one.task = SELENE_TEXT("a");
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
                 selene_cycle_begin(scheduler, &one, &cycle));
    CHECK_STRING("task: \"a\" cannot run now: paused", selene_error_last()->message.data);
    advance(30 * S);
    CHECK_INT(1, let_go(scheduler, "a"));
    CHECK_INT(0, let_go(scheduler, "a"));
    CHECK(!is_paused(scheduler, "a"));
    CHECK(has_wakeup(scheduler));
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    complete(next(cycle, "a"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* It is over, and nothing is left to pause. */
    CHECK_INT(0, hold(scheduler, "a"));
    CHECK(!is_paused(scheduler, "a"));
    add(scheduler, work_of("c"));
    CHECK_INT(1, hold(scheduler, "c"));
    CHECK_OK(selene_task_cancel(scheduler, "c", -1, NULL));
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "c").state);
    CHECK(!is_paused(scheduler, "c"));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_pause(scheduler, "b", -1, &count));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_resume(scheduler, "b", -1, &count));
    CHECK_INT(99, count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_running(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = work_of("a");
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = 10 * S;
    add(scheduler, task);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run run = next(cycle, "a");
    int32_t reason = -1;
    CHECK_INT(1, hold(scheduler, "a"));
    /* Its run goes on, and why it is not begun is that it runs. */
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    CHECK_INT(0, why(scheduler, "a", SELENE_REASON_PAUSED).reason);
    complete(run);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(60 * S);
    CHECK(is_paused(scheduler, "a"));
    CHECK_INT(0, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, let_go(scheduler, "a"));
    CHECK_INT(1, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_tag(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    const selene_text tags[] = {SELENE_TEXT("t")};
    uint64_t count = 99;
    selene_task task = work_of("a"), second = work_of("c");
    task.tags = second.tags = tags;
    task.tag_count = 1;
    add(scheduler, task);
    add(scheduler, work_of("b"));
    add(scheduler, work_of("c"));
    second.existing = SELENE_EXISTING_APPEND;
    second.tag_count = 1;
    add(scheduler, second);
    CHECK_OK(selene_task_pause_tag(scheduler, "t", -1, &count));
    CHECK_INT(2, count);
    CHECK_OK(selene_task_pause_tag(scheduler, "nobody's", -1, &count));
    CHECK_INT(0, count);
    CHECK(is_paused(scheduler, "a") && !is_paused(scheduler, "b") && !is_paused(scheduler, "c"));
    CHECK_INT(1, record_at(scheduler, "c", 1).paused);
    CHECK_INT(2, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    /* The second c has its turn, and is paused. */
    CHECK(is_paused(scheduler, "c"));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "c").state);
    /* What is registered now is not. */
    task.id = SELENE_TEXT("d");
    add(scheduler, task);
    CHECK(!is_paused(scheduler, "d"));
    CHECK_INT(1, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_task_resume_tag(scheduler, "t", -1, &count));
    CHECK_INT(2, count);
    CHECK_INT(2, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_waiting(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = work_of("a");
    task.existing = SELENE_EXISTING_APPEND;
    for (int i = 0; i < 3; i++)
        add(scheduler, task);
    CHECK_INT(3, hold(scheduler, "a"));
    /* What comes later waits behind them anyway. */
    add(scheduler, task);
    CHECK_INT(0, record_at(scheduler, "a", 3).paused);
    CHECK_INT(0, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(3, let_go(scheduler, "a"));
    for (int i = 0; i < 4; i++)
        CHECK_INT(1, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    /* One that fails with what it waits for is over, and nothing is left to pause. */
    for (int i = 0; i < 2; i++)
        add(scheduler, task);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run run = next(cycle, "a");
    CHECK_INT(2, hold(scheduler, "a"));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_ABANDONED));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK(!is_paused(scheduler, "a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_definitions(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = work_of("a");
    selene_cycle cycle;
    add(scheduler, task);
    hold(scheduler, "a");
    task.existing = SELENE_EXISTING_UPDATE;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    CHECK(is_paused(scheduler, "a"));
    task.existing = SELENE_EXISTING_KEEP;
    CHECK_INT(SELENE_DISPOSITION_KEPT, add(scheduler, task));
    CHECK(is_paused(scheduler, "a"));
    task.existing = SELENE_EXISTING_REPLACE;
    CHECK_INT(SELENE_DISPOSITION_REPLACED, add(scheduler, task));
    CHECK(!is_paused(scheduler, "a"));
    /* One that failed is not paused when it is enqueued again. */
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run run = next(cycle, "a");
    hold(scheduler, "a");
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_ABANDONED));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK_OK(selene_task_retry(scheduler, "a", -1));
    CHECK(!is_paused(scheduler, "a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_held(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_refresh = 1;
    selene_scheduler scheduler = open_virtual(options);
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    add(scheduler, work_of("a"));
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, work_of("b")));
    hold(scheduler, "b");
    CHECK(is_paused(scheduler, "b"));
    CHECK_INT(SELENE_STATE_HELD, record(scheduler, "b").state);
    CHECK_INT(1, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    /* It took the place that became free. */
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "b").state);
    CHECK_INT(0, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, let_go(scheduler, "b"));
    CHECK_INT(1, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** In a rolling window it takes part again at once, in another one from the next on. */
static void test_windows(void) {
    for (int rolls = 0; rolls < 2; rolls++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_window window = window_of(30 * S, 0, 2);
        window.flags = rolls ? 0 : SELENE_WINDOW_FROZEN;
        add(scheduler, work_of("a"));
        add(scheduler, work_of("b"));
        hold(scheduler, "b");
        selene_cycle cycle = begin(scheduler, window);
        selene_run run = next(cycle, "a");
        next(cycle, NULL);
        let_go(scheduler, "b");
        if (rolls) complete(next(cycle, "b"));
        else {
            next(cycle, NULL);
            CHECK_INT(SELENE_REASON_NEXT_CYCLE,
                      why(scheduler, "b", SELENE_REASON_NEXT_CYCLE).reason);
        }
        complete(run);
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

static void test_kept(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    for (int i = 0; i < 3; i++)
        add(scheduler, work_of(i == 0 ? "a" : i == 1 ? "b" : "c"));
    hold(scheduler, "a");
    hold(scheduler, "b");
    let_go(scheduler, "b");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    CHECK(is_paused(scheduler, "a") && !is_paused(scheduler, "b") && !is_paused(scheduler, "c"));
    CHECK_INT(2, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    let_go(scheduler, "a");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    CHECK_INT(1, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

static char heard[256];

static void hear(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_PAUSED && event->type != SELENE_EVENT_RESUMED) return;
    size_t used = strlen(heard);
    snprintf(heard + used, sizeof heard - used, "%s %.*s %s;",
             selene_name(SELENE_NAMES_EVENT, event->type), (int)event->id.length, event->id.data,
             selene_name(SELENE_NAMES_STATE, event->state));
}

static void test_events(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    add(scheduler, work_of("a"));
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    hold(scheduler, "a");
    hold(scheduler, "a");
    let_go(scheduler, "a");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_STRING("paused a enqueued;resumed a enqueued;", heard);
}

int main(int count, char **arguments) {
    check_begin(count, arguments);
    run_test("W3 a task that is paused does not begin, however it is asked for", test_id);
    run_test("W3 a run in flight goes on, the next one does not begin", test_running);
    run_test("W3 a tag pauses what has it now, also what waits behind another task", test_tag);
    run_test("W3 an id pauses what waits behind it, too", test_waiting);
    run_test("W3 an update keeps it, a replacement and another attempt do not", test_definitions);
    run_test("W3 a task that is held stays held, and takes its place in turn", test_held);
    run_test("W3 a rolling window takes what is resumed, another one does not", test_windows);
    run_test("W3 a store keeps who is paused", test_kept);
    run_test("W3 events tell who was paused and resumed", test_events);
    return check_end();
}
