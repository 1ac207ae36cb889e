/*
 * latest.c - once tasks that are of no use after their latest begin (W9)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

#define MIN SELENE_MINUTE

static selene_task by(const char *id, int64_t latest_begin) {
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    task.expected_response = S;
    task.latest_begin = latest_begin;
    return task;
}

static void finish(selene_cycle cycle, selene_run run, int32_t outcome) {
    CHECK_OK(selene_run_complete(run, outcome));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

/** Nothing may begin now. */
static void rest(selene_scheduler scheduler) {
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

/** It failed because it was too late. */
static void is_too_late(selene_scheduler scheduler, const char *id, int64_t at, uint64_t attempt) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    CHECK_INT(SELENE_STATE_FAILED, info->state);
    CHECK_INT(SELENE_STOP_TOO_LATE, info->stop_reason);
    CHECK_INT(at, info->failed_at);
    CHECK_INT((int64_t)attempt, (int64_t)info->failed_attempt);
    CHECK_TEXT("too late: it was not begun by its latest begin", info->failure);
    selene_free(info);
}

/** At the latest begin it may begin, a nanosecond later it has failed, and is told so. */
static void test_instant(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    const int64_t start = clock_now;
    selene_task_ids *failed = NULL;
    int64_t at = 0;
    observe(scheduler);
    add(scheduler, by("in-time", 10 * MIN));
    add(scheduler, by("late", 10 * MIN));
    CHECK_INT(10 * MIN, record(scheduler, "late").latest_begin);
    CHECK_INT(start + 10 * MIN, explain(scheduler, "late").latest_begin);
    /* No condition holds, no window was opened: whatever the cause. */
    CHECK_OK(selene_task_pause(scheduler, "late", -1, NULL));
    advance(10 * MIN);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run run = next(cycle, "in-time");
    advance(1);
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(SELENE_NEVER, at);
    is_too_late(scheduler, "late", clock_now, 1);
    CHECK_INT(1, count_events(0, SELENE_EVENT_COMPLETED, SELENE_OUTCOME_FAILED));
    CHECK_INT(-1, record(scheduler, "late").last_outcome);
    finish(cycle, run, SELENE_OUTCOME_NEW_DATA);
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "in-time").state);
    CHECK_OK(selene_task_list_state(scheduler, SELENE_STATE_FAILED, &failed));
    CHECK_INT(1, (int64_t)failed->count);
    selene_free(failed);
    /* Tried again it has all of its time again. */
    CHECK_OK(selene_task_retry(scheduler, "late", -1));
    CHECK_INT(clock_now + 10 * MIN, explain(scheduler, "late").latest_begin);
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    finish(cycle, next(cycle, "late"), SELENE_OUTCOME_NEW_DATA);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** next_wakeup is when that can be told, and any call tells it. */
static void test_wakeup(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    const int64_t start = clock_now;
    int64_t at = 0;
    selene_task task = by("a", SELENE_HOUR);
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    CHECK_OK(selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, 0));
    add(scheduler, task);
    add(scheduler, by("b", 2 * SELENE_HOUR));
    CHECK_OK(selene_task_pause(scheduler, "b", -1, NULL));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(start + SELENE_HOUR + 1000, at);
    advance(SELENE_HOUR + 1);
    CHECK_INT(SELENE_REASON_TERMINAL, explain(scheduler, "a").reasons[0].reason);
    CHECK_INT(0, explain(scheduler, "a").latest_begin);
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(start + 2 * SELENE_HOUR + 1000, at);
    CHECK_OK(selene_task_cancel_all(scheduler, NULL));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(SELENE_NEVER, at);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Near its latest begin it goes before all others, before that it does not. */
static void test_order(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = by("low", 100 * MIN), other = by("other", 0), soon = by("soon", 3 * MIN);
    other.priority = SELENE_PRIORITY_VERY_HIGH;
    task.priority = SELENE_PRIORITY_VERY_LOW;
    add(scheduler, task);
    add(scheduler, other);
    advance(90 * MIN - 1);
    CHECK_INT(2, (int64_t)explain(scheduler, "low").rank);
    CHECK_INT(0, explain(scheduler, "low").urgent);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run run = next(cycle, "other");
    /* Frozen at begin: what is near its latest begin only now goes when its turn comes. */
    advance(1);
    add(scheduler, task_of("work"));
    CHECK_INT(1, explain(scheduler, "low").urgent);
    finish(cycle, run, SELENE_OUTCOME_FAILED);
    advance(MIN);
    CHECK_INT(1, (int64_t)explain(scheduler, "low").rank);
    CHECK_INT(2, (int64_t)explain(scheduler, "other").rank);
    CHECK_INT(3, (int64_t)explain(scheduler, "other").eligible);
    /* Among themselves the earliest latest begin first. */
    soon.priority = SELENE_PRIORITY_VERY_LOW;
    add(scheduler, soon);
    CHECK_INT(4, (int64_t)explain(scheduler, "soon").rank);
    advance(2 * MIN + 42 * S);
    CHECK_INT(1, (int64_t)explain(scheduler, "soon").rank);
    CHECK_INT(2, (int64_t)explain(scheduler, "low").rank);
    CHECK_INT(3, (int64_t)explain(scheduler, "other").rank);
    /* What does not fit lets others go before. */
    selene_window window = window_of(30 * S, 0, 1);
    selene_plan *plan = NULL;
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(4, (int64_t)plan->run_count);
    CHECK_TEXT("soon", plan->runs[0].id);
    CHECK_TEXT("low", plan->runs[1].id);
    CHECK_TEXT("other", plan->runs[2].id);
    selene_free(plan);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_run_complete(next(cycle, "soon"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(next(cycle, "low"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(next(cycle, "other"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The last 15 minutes at most, and a tenth of the time after the initial delay. */
static void test_span(void) {
    static const struct {
        int64_t delay, latest, near;
    } spans[] = {{0, SELENE_DAY, 15 * MIN},
                 {0, 150 * MIN, 15 * MIN},
                 {0, 140 * MIN, 14 * MIN},
                 {SELENE_DAY, SELENE_DAY + 10 * S, S},
                 {0, 9, 0}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_task task = by("a", spans[i].latest);
        task.initial_delay = spans[i].delay;
        add(scheduler, task);
        advance(spans[i].latest - spans[i].near - 1);
        CHECK_INT(0, explain(scheduler, "a").urgent);
        advance(1);
        CHECK_INT(1, explain(scheduler, "a").urgent);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** An attempt that fails is followed by another only if that can begin in time; what runs goes on. */
static void test_attempts(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = by("a", 10 * MIN);
    task.backoff_delay = 6 * MIN;
    add(scheduler, task);
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    finish(cycle, next(cycle, "a"), SELENE_OUTCOME_FAILED);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    advance(6 * MIN);
    cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    selene_run run = next(cycle, "a");
    advance(20 * MIN);
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
    CHECK_OK(selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "no route", -1));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* The failure says what went wrong, the reason why there is no attempt more. */
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK_INT(SELENE_STATE_FAILED, info->state);
    CHECK_INT(SELENE_STOP_TOO_LATE, info->stop_reason);
    CHECK_TEXT("no route", info->failure);
    CHECK_INT(2, (int64_t)info->failed_attempt);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Of a successor it counts from its start; it fails or starts by its policy when the one before is too late. */
static void test_successors(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = by("a", 10 * MIN);
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND_OR_REPLACE;
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND;
    add(scheduler, task);
    advance(15 * MIN);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_INT(1, (int64_t)record(scheduler, "a").appended);
    CHECK_INT(clock_now + 10 * MIN, explain(scheduler, "a").latest_begin);
    advance(10 * MIN + 1);
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK_INT(0, (int64_t)record(scheduler, "a").appended);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What comes after it ends with it, and has its own time from its start. */
static void test_after(void) {
    static const selene_text first[] = {{"first", 5}};
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = by("second", 10 * MIN);
    add(scheduler, by("first", SELENE_HOUR));
    task.after = first;
    task.after_count = 1;
    add(scheduler, task);
    /* As long as it waits for another it cannot be too late. */
    advance(SELENE_HOUR);
    CHECK_INT(SELENE_STATE_BLOCKED, record(scheduler, "second").state);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    finish(cycle, next(cycle, "first"), SELENE_OUTCOME_NEW_DATA);
    CHECK_INT(clock_now + 10 * MIN, explain(scheduler, "second").latest_begin);
    task = by("third", 0);
    static const selene_text second[] = {{"second", 6}};
    task.after = second;
    task.after_count = 1;
    add(scheduler, task);
    advance(10 * MIN + 1);
    is_too_late(scheduler, "second", clock_now, 1);
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "third").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What waits for a place can be too late, too, and gives way to others. */
static void test_held(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.flags |= SELENE_OPTIONS_HOLD;
    options.max_pending_refresh = 1;
    selene_scheduler scheduler = open_virtual(options);
    selene_task task = by("first", 20 * MIN);
    add(scheduler, task);
    add(scheduler, by("held", 10 * MIN));
    CHECK_INT(SELENE_STATE_HELD, record(scheduler, "held").state);
    add(scheduler, by("next", 0));
    task = by("held", 5 * MIN);
    task.existing = SELENE_EXISTING_APPEND_OR_REPLACE;
    add(scheduler, task);
    advance(10 * MIN + 1);
    /* Its successor waits for a place as it did. */
    CHECK_INT(SELENE_STATE_HELD, record(scheduler, "held").state);
    CHECK_INT(SELENE_STATE_HELD, record(scheduler, "next").state);
    advance(5 * MIN + 1);
    is_too_late(scheduler, "held", clock_now, 1);
    CHECK_INT(SELENE_STATE_HELD, record(scheduler, "next").state);
    advance(5 * MIN);
    is_too_late(scheduler, "first", clock_now, 1);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "next").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Kept in a store; what became too late meanwhile has failed when it is opened. */
static void test_store(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    const int64_t start = clock_now;
    add(scheduler, by("a", 10 * MIN));
    add(scheduler, by("b", 2 * SELENE_HOUR));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    advance(5 * MIN);
    scheduler = open_for_work(file);
    CHECK_INT(start + 10 * MIN, explain(scheduler, "a").latest_begin);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    advance(SELENE_HOUR);
    scheduler = open_for_work(file);
    is_too_late(scheduler, "a", clock_now, 1);
    CHECK_INT(0, explain(scheduler, "b").urgent);
    advance(SELENE_HOUR);
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "b").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    CHECK_INT(SELENE_STOP_TOO_LATE, record(scheduler, "b").stop_reason);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** An update counts from the registration. */
static void test_update(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    const int64_t start = clock_now;
    selene_task task = by("a", 10 * MIN);
    add(scheduler, task);
    advance(5 * MIN);
    task.existing = SELENE_EXISTING_UPDATE;
    task.latest_begin = SELENE_HOUR;
    add(scheduler, task);
    CHECK_INT(start + SELENE_HOUR, explain(scheduler, "a").latest_begin);
    task.latest_begin = 0;
    add(scheduler, task);
    CHECK_INT(0, explain(scheduler, "a").latest_begin);
    advance(SELENE_DAY);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    task.latest_begin = SELENE_HOUR;
    add(scheduler, task);
    rest(scheduler);
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Many that are urgent, and many too late at once. */
static void test_many(void) {
    const int many = check_tasks(20000, 600);
    selene_scheduler scheduler = open_for_work(NULL);
    char id[32];
    for (int i = 0; i < many; i++) {
        snprintf(id, sizeof id, "t%d", i);
        add(scheduler, by(id, SELENE_HOUR + many - i));
    }
    advance(SELENE_HOUR);
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    for (int i = many - 1; i >= many / 2; i--) {
        snprintf(id, sizeof id, "t%d", i);
        CHECK_OK(selene_run_complete(next(cycle, id), SELENE_OUTCOME_NEW_DATA));
    }
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(SELENE_MINUTE);
    rest(scheduler);
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(many / 2, (int64_t)info.succeeded);
    CHECK_INT(many / 2, (int64_t)info.failed);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A driver wakes for it, so that it is told in time. */
static void test_driver(void) {
    selene_scheduler scheduler = open_real();
    selene_driver driver = SELENE_INIT(selene_driver);
    driver.flags |= SELENE_DRIVER_UNGOVERNED;
    observe(scheduler);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    add(scheduler, by("nobody", 200 * SELENE_MILLISECOND));
    wait_for_events(0, SELENE_EVENT_COMPLETED, SELENE_OUTCOME_FAILED, 1);
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "nobody").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_refused(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    static const int64_t wrong[] = {-1,       INT64_MIN, 1, SELENE_HOUR, 3653 * SELENE_DAY + 1,
                                    INT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        selene_task task = by("a", wrong[i]);
        task.initial_delay = SELENE_HOUR;
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
        CHECK(strstr(selene_error_last()->message.data, "latest_begin"));
    }
    selene_task task = by("a", SELENE_HOUR);
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_HOUR;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    CHECK(strstr(selene_error_last()->message.data, "is for once tasks only"));
    task = by("a", 3653 * SELENE_DAY);
    task.initial_delay = 3653 * SELENE_DAY - 1;
    add(scheduler, task);
    task.initial_delay = task.latest_begin;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W9 at its latest begin a task may begin, after it it has failed", test_instant);
    run_test("W9 next_wakeup is when a task is too late", test_wakeup);
    run_test("W9 near its latest begin a task goes before all others", test_order);
    run_test("W9 near is a tenth of the wait, at most 15 min", test_span);
    run_test("W9 a task is tried again only if that can begin in time", test_attempts);
    run_test("W9 T5 of a successor it counts from its start", test_successors);
    run_test("W9 W4 what comes after a task ends with it, and has its own time", test_after);
    run_test("W9 T6 what is held can be too late", test_held);
    run_test("W9 D1 it is kept, and counts while nothing is open", test_store);
    run_test("W9 T5 an update counts from the registration", test_update);
    run_test("W9 many tasks are urgent, and too late at once", test_many);
    run_test("W9 G7 a driver tells it in time", test_driver);
    run_test("W9 only once tasks have one, later than their delay", test_refused);
    return check_end();
}
