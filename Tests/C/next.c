/*
 * next.c - when a task is due next, as the host says it (W7)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

static selene_task task_with(const char *id, int32_t schedule) {
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    task.schedule = schedule;
    task.expected_response = SELENE_NONE;
    task.backoff = SELENE_BACKOFF_LINEAR;
    task.backoff_delay = SELENE_MINUTE;
    if (schedule == SELENE_SCHEDULE_PERIODIC) task.period = SELENE_HOUR;
    return task;
}

static void say(selene_scheduler scheduler, const char *id, int64_t at) {
    CHECK_OK(selene_task_set_next(scheduler, id, -1, at));
}

static int64_t due(selene_scheduler scheduler, const char *id) {
    return record(scheduler, id).earliest_begin;
}

/** Begins the one task that is due. */
static selene_run begin_run(selene_scheduler scheduler, const char *id, selene_cycle *cycle) {
    *cycle = begin(scheduler, window_of(30 * S, 0, 1));
    return next(*cycle, id);
}

static void run(selene_scheduler scheduler, const char *id, int32_t outcome) {
    selene_cycle cycle;
    CHECK_OK(selene_run_complete(begin_run(scheduler, id, &cycle), outcome));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static void run_until(selene_scheduler scheduler, const char *id, int32_t outcome, int64_t at) {
    selene_cycle cycle;
    CHECK_OK(selene_run_complete_until(begin_run(scheduler, id, &cycle), outcome, at));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

/** Nothing may begin now. */
static void rest(selene_scheduler scheduler) {
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static void test_waiting(void) {
    static const int32_t schedules[] = {SELENE_SCHEDULE_STANDING, SELENE_SCHEDULE_ONCE,
                                        SELENE_SCHEDULE_PERIODIC};
    for (int i = 0; i < 3; i++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_task task = task_with("a", schedules[i]);
        const int64_t at = clock_now + 3 * SELENE_HOUR, anchor = clock_now;
        int64_t wakeup = 0;
        add(scheduler, task);
        say(scheduler, "a", at);
        CHECK_INT(at, due(scheduler, "a"));
        CHECK_INT(anchor, record(scheduler, "a").anchor);
        CHECK_OK(selene_scheduler_next_wakeup(scheduler, &wakeup, NULL));
        CHECK_INT(at, wakeup);
        CHECK_INT(at, why(scheduler, "a", SELENE_REASON_NOT_DUE).may_change_at);
        rest(scheduler);
        /* An update computes no other. */
        task.existing = SELENE_EXISTING_UPDATE;
        task.initial_delay = SELENE_MINUTE;
        CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
        CHECK_INT(at, due(scheduler, "a"));
        advance(at - clock_now);
        run(scheduler, "a", SELENE_OUTCOME_NO_DATA);
        /* It counted once. */
        if (i == 0) CHECK_INT(at, due(scheduler, "a"));
        if (i == 2) CHECK_INT(at + SELENE_HOUR, due(scheduler, "a"));
        if (i != 1) {
            say(scheduler, "a", 0);
            CHECK_INT(0, due(scheduler, "a"));
            advance(30 * S);
            run(scheduler, "a", SELENE_OUTCOME_NO_DATA);
        }
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

static void test_running(void) {
    static const int32_t outcomes[] = {SELENE_OUTCOME_NEW_DATA, SELENE_OUTCOME_FAILED,
                                       SELENE_OUTCOME_ABANDONED};
    for (int i = 0; i < 3; i++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_cycle cycle;
        const int64_t at = clock_now + 5 * SELENE_HOUR;
        add(scheduler, task_with("a", SELENE_SCHEDULE_PERIODIC));
        selene_run it = begin_run(scheduler, "a", &cycle);
        say(scheduler, "a", at + 1);
        say(scheduler, "a", at);
        CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
        CHECK_OK(selene_run_complete(it, outcomes[i]));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_INT(at, due(scheduler, "a"));
        CHECK_INT(i == 1, record(scheduler, "a").attempts);
        advance(at - clock_now);
        run(scheduler, "a", SELENE_OUTCOME_NEW_DATA);
        CHECK_INT(at + SELENE_HOUR, due(scheduler, "a"));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

static void test_stopped(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_cycle cycle;
    const int64_t at = clock_now + SELENE_HOUR;
    add(scheduler, task_with("a", SELENE_SCHEDULE_PERIODIC));
    selene_run it = begin_run(scheduler, "a", &cycle);
    say(scheduler, "a", at);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_INT(at, due(scheduler, "a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_complete(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    const int64_t at = clock_now + 2 * SELENE_HOUR;
    add(scheduler, task_with("a", SELENE_SCHEDULE_STANDING));
    run_until(scheduler, "a", SELENE_OUTCOME_NEW_DATA, at);
    CHECK_INT(at, due(scheduler, "a"));
    rest(scheduler);
    advance(at - clock_now);
    /* A retry, whose backoff of a minute does not count; its attempts do. */
    run_until(scheduler, "a", SELENE_OUTCOME_FAILED, at + SELENE_HOUR);
    CHECK_INT(at + SELENE_HOUR, due(scheduler, "a"));
    advance(SELENE_HOUR);
    CHECK_INT(1, record(scheduler, "a").attempts);
    run(scheduler, "a", SELENE_OUTCOME_FAILED);
    CHECK_INT(clock_now + 2 * SELENE_MINUTE, due(scheduler, "a"));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    /* What was said later counts. */
    add(scheduler, task_with("b", SELENE_SCHEDULE_PERIODIC));
    selene_cycle cycle;
    selene_run it = begin_run(scheduler, "b", &cycle);
    say(scheduler, "b", clock_now + SELENE_MINUTE);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_run_complete_until(it, SELENE_OUTCOME_NEW_DATA, -1));
    CHECK_OK(selene_run_complete_until(it, SELENE_OUTCOME_NEW_DATA, clock_now + 9 * SELENE_MINUTE));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED,
                 selene_run_complete_until(it, SELENE_OUTCOME_NEW_DATA, clock_now));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(clock_now + 9 * SELENE_MINUTE, due(scheduler, "b"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_over(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = task_with("a", SELENE_SCHEDULE_ONCE);
    task.max_attempts = 2;
    add(scheduler, task);
    run_until(scheduler, "a", SELENE_OUTCOME_FAILED, clock_now + SELENE_HOUR);
    CHECK_INT(clock_now + SELENE_HOUR, due(scheduler, "a"));
    advance(SELENE_HOUR);
    run_until(scheduler, "a", SELENE_OUTCOME_FAILED, clock_now + SELENE_HOUR);
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_task_set_next(scheduler, "a", -1, clock_now));
    CHECK_STRING("id: \"a\" is failed; only a live task can be due again",
                 selene_error_last()->message.data);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_set_next(scheduler, "b", -1, clock_now));
    /* Enqueued again it begins at once. */
    CHECK_OK(selene_task_retry(scheduler, "a", -1));
    CHECK_INT(clock_now, due(scheduler, "a"));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_task_set_next(scheduler, "a", -1, clock_now + 10 * 366 * SELENE_DAY));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** One that is killed while it waits, and while it runs. */
static void die(int is_running) {
    selene_scheduler scheduler = open_for_work(file);
    add(scheduler, task_with("a", SELENE_SCHEDULE_PERIODIC));
    if (is_running) {
        selene_cycle cycle;
        begin_run(scheduler, "a", &cycle);
    }
    say(scheduler, "a", clock_now + 7 * SELENE_HOUR);
    _exit(0);
}

static void test_stored(void) {
    for (int is_running = 0; is_running < 2; is_running++) {
        int status = -1;
        new_file();
        const pid_t child = fork();
        if (child == 0) die(is_running);
        CHECK_INT(child, waitpid(child, &status, 0));
        CHECK_INT(0, status);
        selene_scheduler scheduler = open_for_work(file);
        CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
        CHECK_INT(clock_now + 7 * SELENE_HOUR, due(scheduler, "a"));
        CHECK_INT(is_running, record(scheduler, "a").attempts);
        advance(7 * SELENE_HOUR);
        run(scheduler, "a", SELENE_OUTCOME_NEW_DATA);
        CHECK_INT(clock_now + SELENE_HOUR, due(scheduler, "a"));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        scheduler = open_for_work(file);
        CHECK_INT(clock_now + SELENE_HOUR, due(scheduler, "a"));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        remove_folder();
    }
}

/** A rolling window and a driver take part in it at once. */
static void test_at_once(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_window window = rolling_of(30 * S, 0, 1);
    selene_cycle cycle;
    add(scheduler, task_with("a", SELENE_SCHEDULE_PERIODIC));
    run(scheduler, "a", SELENE_OUTCOME_NEW_DATA);
    advance(SELENE_MINUTE);
    cycle = begin(scheduler, window);
    say(scheduler, "a", clock_now);
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** By a calendar: what is said is the next period's begin, whatever becomes of the run, and retries come before it. */
static void test_calendar(void) {
    static const int32_t outcomes[] = {SELENE_OUTCOME_NEW_DATA, SELENE_OUTCOME_FAILED,
                                       SELENE_OUTCOME_ABANDONED};
    for (int i = 0; i < 3; i++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_cycle cycle;
        selene_task task = task_with("a", SELENE_SCHEDULE_PERIODIC);
        const int64_t at = clock_now + 5 * SELENE_HOUR;
        task.recurrence = SELENE_RECURRENCE_CALENDAR;
        task.max_attempts = 2;
        add(scheduler, task);
        CHECK_INT(SELENE_RECURRENCE_CALENDAR, record(scheduler, "a").recurrence);
        selene_run it = begin_run(scheduler, "a", &cycle);
        say(scheduler, "a", at);
        CHECK_OK(selene_run_complete(it, outcomes[i]));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_INT(i == 1 ? clock_now + SELENE_MINUTE : at, due(scheduler, "a"));
        if (i == 1) {
            /* The second attempt is the last: then it waits for the calendar. */
            advance(SELENE_MINUTE);
            it = begin_run(scheduler, "a", &cycle);
            say(scheduler, "a", at);
            CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_FAILED));
            CHECK_OK(selene_cycle_end(cycle, NULL));
            CHECK_INT(at, due(scheduler, "a"));
            CHECK_INT(0, record(scheduler, "a").attempts);
        }
        /* What its retry would be too late for comes first. */
        advance(at - clock_now);
        it = begin_run(scheduler, "a", &cycle);
        say(scheduler, "a", clock_now + 30 * S);
        CHECK_OK(selene_run_fail(it, SELENE_OUTCOME_FAILED, SELENE_DAY, NULL, 0));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_INT(clock_now + 30 * S, due(scheduler, "a"));
        /* Where nothing is said, the period counts. */
        advance(30 * S);
        run(scheduler, "a", SELENE_OUTCOME_NEW_DATA);
        CHECK_INT(clock_now + SELENE_HOUR, due(scheduler, "a"));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** A run that is stopped waits for nothing, one that expires is tried again. */
static void test_calendar_stopped(void) {
    for (int expires = 0; expires < 2; expires++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_cycle cycle;
        selene_task task = task_with("a", SELENE_SCHEDULE_PERIODIC);
        task.recurrence = SELENE_RECURRENCE_CALENDAR;
        task.max_attempts = 2;
        task.constraints = SELENE_CONSTRAINT_NETWORK;
        CHECK_OK(
            selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, SELENE_CONSTRAINT_NETWORK));
        add(scheduler, task);
        selene_run it = begin_run(scheduler, "a", &cycle);
        say(scheduler, "a", clock_now + SELENE_DAY);
        advance(expires ? 31 * S : S);
        const int64_t over = clock_now - (expires ? S : 0);
        if (!expires) CHECK_OK(selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, 0));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
        CHECK_INT(expires ? over + SELENE_MINUTE : over, due(scheduler, "a"));
        CHECK_INT(expires, record(scheduler, "a").attempts);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** Updates keep what was said, but one by which no calendar counts any more. */
static void test_calendar_updated(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = task_with("a", SELENE_SCHEDULE_PERIODIC);
    const int64_t start = clock_now;
    task.recurrence = SELENE_RECURRENCE_CALENDAR;
    add(scheduler, task);
    say(scheduler, "a", start + SELENE_DAY);
    task.existing = SELENE_EXISTING_UPDATE;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    CHECK_INT(start + SELENE_DAY, due(scheduler, "a"));
    task.recurrence = SELENE_RECURRENCE_AFTER_COMPLETION;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    CHECK_INT(start, due(scheduler, "a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A run that is stopped gives back what its host said before it, so that an update computes no other. */
static void test_given_back(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_cycle cycle;
    selene_task task = task_with("a", SELENE_SCHEDULE_ONCE);
    const int64_t said = clock_now - S;
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    CHECK_OK(
        selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, SELENE_CONSTRAINT_NETWORK));
    add(scheduler, task);
    for (int round = 0; round < 2; round++) {
        say(scheduler, "a", said);
        const selene_run it = begin_run(scheduler, "a", &cycle);
        CHECK_OK(selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, 0));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
        CHECK_INT(said, due(scheduler, "a"));
        task.existing = SELENE_EXISTING_UPDATE;
        CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
        CHECK_INT(said, due(scheduler, "a"));
        advance(S);
        CHECK_OK(
            selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, SELENE_CONSTRAINT_NETWORK));
    }
    /* The next dispatch uses it up. */
    run(scheduler, "a", SELENE_OUTCOME_FAILED);
    CHECK_INT(clock_now + SELENE_MINUTE, due(scheduler, "a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W7 a task that waits is due when its host says, once", test_waiting);
    run_test("W7 a task that runs is due when its host said, however the run ends", test_running);
    run_test("W7 so is one whose run was stopped", test_stopped);
    run_test("W7 C8 a run that is stopped gives back what was said before it", test_given_back);
    run_test("W7 a run says when its task is due next", test_complete);
    run_test("W7 what is over is due no more", test_over);
    run_test("W7 by a calendar retries come before the next instant, at it at the latest",
             test_calendar);
    run_test("W7 by a calendar a run that is stopped waits for nothing", test_calendar_stopped);
    run_test("W7 an update keeps a calendar's instant, or the calendar is over",
             test_calendar_updated);
    run_test("W7 it is kept across crashes", test_stored);
    run_test("W7 what is due by that takes part in a rolling window at once", test_at_once);
    return check_end();
}
