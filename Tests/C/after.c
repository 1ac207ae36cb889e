/*
 * after.c - tasks that come after others: they wait, start, fail or are cancelled with them (W4)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

#define MOST 16

/** A once task that comes after these, in a text of ids between blanks; NULL: none. */
static selene_task after(const char *id, const char *ids) {
    static char texts[MOST + 1][32];
    static selene_text names[MOST + 1];
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    task.expected_response = SELENE_NONE;
    task.max_attempts = 1;
    for (; ids && *ids; ids += strspn(ids, " ")) {
        const size_t length = strcspn(ids, " ");
        snprintf(texts[task.after_count], sizeof texts[0], "%.*s", (int)length, ids);
        names[task.after_count] = (selene_text){texts[task.after_count], (int64_t)length};
        task.after_count++;
        ids += length;
    }
    task.after = names;
    return task;
}

static int32_t add_after(selene_scheduler scheduler, const char *id, const char *ids) {
    return add(scheduler, after(id, ids));
}

static selene_task any_end(selene_task task) {
    task.flags |= SELENE_TASK_AFTER_ANY_END;
    return task;
}

static selene_task with(selene_task task, int32_t existing) {
    task.existing = existing;
    return task;
}

static void check_state(int32_t state, selene_scheduler scheduler, const char *id, int line) {
    const int32_t found = record(scheduler, id).state;
    if (found == state) return;
    fprintf(stderr, "%s:%d: %s is %s, not %s\n", __FILE__, line, id,
            selene_name(SELENE_NAMES_STATE, found), selene_name(SELENE_NAMES_STATE, state));
    check_fail();
}

#define IS(state, id) check_state(SELENE_STATE_##state, scheduler, id, __LINE__)

/** Runs the one task that is due. */
static void run(selene_scheduler scheduler, const char *id, int32_t outcome) {
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    CHECK_OK(selene_run_complete(next(cycle, id), outcome));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static void succeed(selene_scheduler scheduler, const char *id) {
    run(scheduler, id, SELENE_OUTCOME_NEW_DATA);
}

/** Nothing may begin now. */
static void rest(selene_scheduler scheduler) {
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static selene_window rolling_window(void) {
    selene_window window = rolling_of(30 * S, 0, 1);
    return window;
}

static uint64_t cancel(selene_scheduler scheduler, const char *id) {
    uint64_t count = 0;
    CHECK_OK(selene_task_cancel(scheduler, id, -1, &count));
    return count;
}

static void check_failure(const char *expected, selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    CHECK_TEXT(expected, info->failure);
    CHECK_INT(0, info->failed_attempt);
    CHECK_INT(clock_now, info->failed_at);
    selene_free(info);
}

/* ---- waiting and starting ----------------------------------------------------------------------------------------- */

static void test_waits(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task_info *info = NULL;
    observe(scheduler);
    add_after(scheduler, "a", NULL);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add_after(scheduler, "b", "a"));
    /* Equal ones count once. */
    add_after(scheduler, "c", "b a b");
    IS(ENQUEUED, "a");
    IS(BLOCKED, "b");
    CHECK_OK(selene_task_get(scheduler, "c", -1, 0, &info));
    CHECK_INT(2, info->after_count);
    CHECK_TEXT("b", info->after[0]);
    CHECK_TEXT("a", info->after[1]);
    CHECK_INT(3, info->waits_for);
    CHECK_INT(0, info->appended);
    selene_free(info);
    why(scheduler, "c", SELENE_REASON_BLOCKED);
    succeed(scheduler, "a");
    IS(ENQUEUED, "b");
    CHECK_INT(1, record(scheduler, "c").waits_for);
    CHECK_INT(0, record(scheduler, "b").waits_for);
    /* It starts as if registered now. */
    CHECK_INT(clock_now, record(scheduler, "b").registered_at);
    advance(S);
    succeed(scheduler, "b");
    IS(ENQUEUED, "c");
    CHECK_INT(2, count_events(0, SELENE_EVENT_UNBLOCKED, 0));
    succeed(scheduler, "c");
    IS(SUCCEEDED, "c");
    /* What has succeeded when one is registered counts. */
    add_after(scheduler, "d", "a b c");
    IS(ENQUEUED, "d");
    CHECK_INT(3, record(scheduler, "d").after_count);
    succeed(scheduler, "d");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Delays, instants that a host says, and pauses count from the start. */
static void test_later(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "said", "a");
    add_after(scheduler, "paused", "a");
    selene_task task = after("delayed", "a");
    task.initial_delay = SELENE_MINUTE;
    add(scheduler, task);
    const int64_t at = clock_now + 3 * SELENE_HOUR;
    CHECK_OK(selene_task_set_next(scheduler, "said", -1, at));
    CHECK_OK(selene_task_pause(scheduler, "paused", -1, NULL));
    advance(SELENE_HOUR);
    succeed(scheduler, "a");
    CHECK_INT(clock_now + SELENE_MINUTE, record(scheduler, "delayed").earliest_begin);
    CHECK_INT(at, record(scheduler, "said").earliest_begin);
    rest(scheduler);
    why(scheduler, "paused", SELENE_REASON_PAUSED);
    CHECK_OK(selene_task_resume(scheduler, "paused", -1, NULL));
    succeed(scheduler, "paused");
    advance(SELENE_MINUTE);
    succeed(scheduler, "delayed");
    rest(scheduler);
    advance(2 * SELENE_HOUR);
    succeed(scheduler, "said");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** In a rolling window the next layer takes part at once. */
static void test_rolling(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_window window = rolling_of(30 * S, 0, 1);
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "b", "a");
    add_after(scheduler, "c", "b");
    selene_cycle cycle = begin(scheduler, window);
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(next(cycle, "b"), SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_run_complete(next(cycle, "c"), SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- failing and being cancelled ---------------------------------------------------------------------------------- */

static void test_fails(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task patient = after("a", NULL);
    patient.max_attempts = 2;
    patient.backoff = SELENE_BACKOFF_NONE;
    add(scheduler, patient);
    add_after(scheduler, "x", NULL);
    CHECK_OK(selene_task_pause(scheduler, "x", -1, NULL));
    add_after(scheduler, "b", "a x");
    add_after(scheduler, "c", "b");
    add(scheduler, any_end(after("clean", "b")));
    add(scheduler, any_end(after("all", "b x")));
    /* A failure that is tried again is no end. */
    run(scheduler, "a", SELENE_OUTCOME_FAILED);
    IS(BLOCKED, "b");
    observe(scheduler);
    const int before = atomic_load(&noted_count);
    run(scheduler, "a", SELENE_OUTCOME_FAILED);
    IS(FAILED, "a");
    IS(FAILED, "b");
    IS(FAILED, "c");
    check_failure("it comes after \"a\", which failed", scheduler, "b");
    check_failure("it comes after \"b\", which failed", scheduler, "c");
    IS(ENQUEUED, "clean");
    IS(BLOCKED, "all");
    CHECK_INT(2, record(scheduler, "all").waits_for);
    CHECK_INT(3, count_events(before, SELENE_EVENT_COMPLETED, SELENE_OUTCOME_FAILED));
    /* What has failed when one is registered ends it at once. */
    add_after(scheduler, "late", "x c");
    IS(FAILED, "late");
    check_failure("it comes after \"c\", which failed", scheduler, "late");
    add(scheduler, any_end(after("late clean", "c")));
    IS(ENQUEUED, "late clean");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_cancelled(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    static const selene_text tag = {"t", -1};
    uint64_t count = 0;
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "b", "a");
    add_after(scheduler, "c", "b a");
    add(scheduler, any_end(after("clean", "b")));
    CHECK_INT(3, cancel(scheduler, "a"));
    IS(CANCELLED, "a");
    IS(CANCELLED, "b");
    IS(CANCELLED, "c");
    IS(ENQUEUED, "clean");
    add_after(scheduler, "late", "a");
    IS(CANCELLED, "late");
    CHECK_INT(0, record(scheduler, "late").waits_for);
    succeed(scheduler, "clean");
    /* In the middle; by tag; all. */
    for (int i = 0; i < 3; i++) {
        add_after(scheduler, "a", NULL);
        selene_task task = after("b", "a");
        task.tags = &tag;
        task.tag_count = 1;
        add(scheduler, task);
        add_after(scheduler, "c", "b");
        add(scheduler, any_end(after("clean", "a b c")));
        if (i == 0) CHECK_INT(2, cancel(scheduler, "b"));
        if (i == 1) {
            CHECK_OK(selene_task_cancel_tag(scheduler, "t", -1, &count));
            CHECK_INT(2, count);
        }
        if (i == 2) {
            CHECK_OK(selene_task_cancel_all(scheduler, &count));
            CHECK_INT(4, count);
            IS(CANCELLED, "clean");
            continue;
        }
        IS(ENQUEUED, "a");
        IS(CANCELLED, "b");
        IS(CANCELLED, "c");
        IS(BLOCKED, "clean");
        succeed(scheduler, "a");
        succeed(scheduler, "clean");
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A run that is stopped is no end, one that is cancelled is. */
static void test_running(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = after("a", NULL);
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    add_after(scheduler, "b", "a");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run it = next(cycle, "a");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(it, SELENE_OUTCOME_FAILED));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    IS(ENQUEUED, "a");
    IS(BLOCKED, "b");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    it = next(cycle, "a");
    CHECK_INT(2, cancel(scheduler, "a"));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    IS(CANCELLED, "b");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- registering -------------------------------------------------------------------------------------------------- */

static void refuse(selene_scheduler scheduler, selene_task task, selene_status status,
                   const char *detail) {
    CHECK_STATUS(status, selene_task_register(scheduler, &task, NULL));
    CHECK_STRING(detail, selene_error_last()->message.data);
}

static void test_refused(void) {
    const selene_status invalid = SELENE_ERROR_INVALID_ARGUMENT;
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = after("standing", NULL);
    task.schedule = SELENE_SCHEDULE_STANDING;
    add(scheduler, task);
    task = after("periodic", NULL);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_HOUR;
    add(scheduler, task);
    add_after(scheduler, "a", NULL);
    refuse(scheduler, after("b", "a none"), SELENE_ERROR_NOT_FOUND,
           "after[1]: \"none\" is not registered");
    refuse(scheduler, after("b", "a b"), invalid, "after[1]: \"b\" is the task itself");
    refuse(scheduler, after("b", "standing a"), invalid,
           "after[0]: \"standing\" is a standing task, which never ends; a task comes after once "
           "tasks");
    refuse(scheduler, after("b", "periodic"), invalid,
           "after[0]: \"periodic\" is a periodic task, which never ends; a task comes after once "
           "tasks");
    refuse(scheduler, with(after("b", "a"), SELENE_EXISTING_APPEND), invalid,
           "after: cannot be combined with append: a successor waits for one task");
    task = after("b", "a");
    task.schedule = SELENE_SCHEDULE_STANDING;
    refuse(scheduler, task, invalid, "after: is for once tasks only");
    task = after("b", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17");
    CHECK_STATUS(invalid, selene_task_register(scheduler, &task, NULL));
    task = after("b", "a");
    task.after = NULL;
    refuse(scheduler, task, invalid, "after: must not be NULL");
    task = after("b", "a");
    task.flags = 16;
    CHECK_STATUS(invalid, selene_task_register(scheduler, &task, NULL));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND,
                 selene_task_get(scheduler, "b", -1, 0, &(selene_task_info *){NULL}));
    /* Sixteen are allowed. */
    for (int i = 1; i <= 16; i++) {
        char id[8];
        snprintf(id, sizeof id, "%d", i);
        add_after(scheduler, id, NULL);
    }
    add_after(scheduler, "b", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
    CHECK_INT(0xFFFF, record(scheduler, "b").waits_for);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_existing(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "b", "a");
    add_after(scheduler, "c", "b");
    /* Kept as it is, whatever the new one names. */
    CHECK_INT(SELENE_DISPOSITION_KEPT,
              add(scheduler, with(after("b", "none"), SELENE_EXISTING_KEEP)));
    IS(BLOCKED, "b");
    /* Updated, but for what it comes after. */
    selene_task task = with(after("b", "a"), SELENE_EXISTING_UPDATE);
    task.priority = 5;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    CHECK_INT(5, record(scheduler, "b").priority);
    CHECK_INT(1, record(scheduler, "b").waits_for);
    CHECK_INT(SELENE_DISPOSITION_UPDATED,
              add(scheduler, with(after("b", NULL), SELENE_EXISTING_UPDATE)));
    CHECK_INT(1, record(scheduler, "b").waits_for);
    refuse(scheduler, with(after("b", "c"), SELENE_EXISTING_UPDATE), SELENE_ERROR_INVALID_ARGUMENT,
           "after: cannot change in an update; use SELENE_EXISTING_REPLACE");
    refuse(scheduler, with(after("a", "c"), SELENE_EXISTING_UPDATE), SELENE_ERROR_INVALID_ARGUMENT,
           "after: cannot change in an update; use SELENE_EXISTING_REPLACE");
    /* Replaced counts as cancelled. */
    CHECK_INT(SELENE_DISPOSITION_REPLACED,
              add(scheduler, with(after("b", "a"), SELENE_EXISTING_REPLACE)));
    IS(BLOCKED, "b");
    IS(CANCELLED, "c");
    add_after(scheduler, "c", "b");
    add(scheduler, any_end(after("clean", "a")));
    add(scheduler, with(after("a", NULL), SELENE_EXISTING_REPLACE));
    IS(ENQUEUED, "a");
    IS(CANCELLED, "b");
    IS(CANCELLED, "c");
    IS(ENQUEUED, "clean");
    /* One that comes after what goes with it. */
    add_after(scheduler, "b", "a");
    CHECK_INT(SELENE_DISPOSITION_REPLACED,
              add(scheduler, with(after("a", "b"), SELENE_EXISTING_REPLACE)));
    IS(CANCELLED, "a");
    IS(CANCELLED, "b");
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "b", "a");
    add(scheduler, any_end(with(after("a", "b"), SELENE_EXISTING_REPLACE)));
    IS(ENQUEUED, "a");
    IS(CANCELLED, "b");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Those that wait have no place; what starts takes the next free one, by priority. */
static void test_limits(void) {
    selene_options options = SELENE_INIT(selene_options);
    static const int32_t priorities[] = {2, 4, 3};
    options.max_pending_refresh = 1;
    selene_scheduler scheduler = open_virtual(options);
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    add_after(scheduler, "a", NULL);
    for (int i = 0; i < 3; i++) {
        const char id[] = {'b', (char)('0' + i), '\0'};
        selene_task task = after(id, "a");
        task.priority = priorities[i];
        add(scheduler, task);
    }
    selene_task other = after("other", NULL);
    CHECK_STATUS(SELENE_ERROR_TOO_MANY_PENDING, selene_task_register(scheduler, &other, NULL));
    succeed(scheduler, "a");
    IS(HELD, "b0");
    IS(ENQUEUED, "b1");
    IS(HELD, "b2");
    CHECK_STATUS(SELENE_ERROR_TOO_MANY_PENDING, selene_task_register(scheduler, &other, NULL));
    succeed(scheduler, "b1");
    succeed(scheduler, "b2");
    /* A replacement has its place before what it lets start. */
    add(scheduler, any_end(after("clean", "b0")));
    add(scheduler, with(after("b0", NULL), SELENE_EXISTING_REPLACE));
    IS(ENQUEUED, "b0");
    IS(HELD, "clean");
    succeed(scheduler, "b0");
    succeed(scheduler, "clean");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Successors behind one that waits for others (T5). */
static void test_successors(void) {
    for (int fails = 0; fails < 2; fails++) {
        selene_scheduler scheduler = open_for_work(NULL);
        add_after(scheduler, "a", NULL);
        add_after(scheduler, "b", "a");
        CHECK_INT(SELENE_DISPOSITION_APPENDED,
                  add(scheduler, with(after("b", NULL), SELENE_EXISTING_APPEND)));
        CHECK_INT(SELENE_DISPOSITION_APPENDED,
                  add(scheduler, with(after("b", NULL), SELENE_EXISTING_APPEND_OR_REPLACE)));
        /* What comes after it waits for the one that stands first. */
        add_after(scheduler, "c", "b");
        add(scheduler, with(after("c", NULL), SELENE_EXISTING_APPEND));
        CHECK_INT(2, record(scheduler, "b").appended);
        if (fails) {
            run(scheduler, "a", SELENE_OUTCOME_FAILED);
            /* The second failed with the first, the third starts all the same. */
            IS(ENQUEUED, "b");
            CHECK_INT(0, record(scheduler, "b").appended);
            IS(FAILED, "c");
            succeed(scheduler, "b");
            rest(scheduler);
        } else {
            succeed(scheduler, "a");
            succeed(scheduler, "b");
            CHECK_INT(1, record(scheduler, "b").appended);
            IS(ENQUEUED, "c");
            for (int i = 0; i < 4; i++) {
                selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
                selene_run_info info = SELENE_INIT(selene_run_info);
                int32_t step = -1;
                CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
                if (step == SELENE_STEP_RUN)
                    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
                CHECK_OK(selene_cycle_end(cycle, NULL));
            }
            IS(SUCCEEDED, "b");
            IS(SUCCEEDED, "c");
        }
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** What failed with another is enqueued again with it, and waits for it again. */
static void test_retried(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "b", "a");
    add_after(scheduler, "c", "a b");
    run(scheduler, "a", SELENE_OUTCOME_FAILED);
    CHECK_OK(selene_task_retry(scheduler, "a", -1));
    CHECK_OK(selene_task_retry(scheduler, "b", -1));
    CHECK_OK(selene_task_retry(scheduler, "c", -1));
    IS(ENQUEUED, "a");
    IS(BLOCKED, "b");
    CHECK_INT(3, record(scheduler, "c").waits_for);
    succeed(scheduler, "a");
    run(scheduler, "b", SELENE_OUTCOME_FAILED);
    IS(FAILED, "c");
    /* Alone, it waits for the one that has not succeeded, until that is enqueued again, too (V10). */
    CHECK_OK(selene_task_retry(scheduler, "c", -1));
    IS(BLOCKED, "c");
    CHECK_INT(2, record(scheduler, "c").waits_for);
    rest(scheduler);
    CHECK_OK(selene_task_retry(scheduler, "b", -1));
    succeed(scheduler, "b");
    succeed(scheduler, "c");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A chain that is enqueued again backwards runs forwards, also when the store was opened again between. */
static void test_retried_backwards(void) {
    for (int stored = 0; stored < 2; stored++) {
        selene_task_info *info = NULL;
        if (stored) new_file();
        selene_scheduler scheduler = open_for_work(stored ? file : NULL);
        add_after(scheduler, "a", NULL);
        add_after(scheduler, "b", "a");
        add_after(scheduler, "c", "b");
        const uint64_t number = record(scheduler, "b").sequence;
        run(scheduler, "a", SELENE_OUTCOME_FAILED);
        for (const char *id = "cba"; *id; id++) {
            CHECK_OK(selene_task_retry(scheduler, id, 1));
            if (stored) {
                CHECK_OK(selene_scheduler_close(scheduler, 0));
                scheduler = open_for_work(file);
            }
            if (*id == 'a') break;
            rest(scheduler);
            if (*id == 'c') continue;
            uint64_t pruned = 9;
            CHECK_OK(selene_scheduler_prune(scheduler, &pruned));
            CHECK_INT(0, pruned);
        }
        IS(BLOCKED, "c");
        IS(BLOCKED, "b");
        CHECK_INT(number, record(scheduler, "b").sequence);
        succeed(scheduler, "a");
        succeed(scheduler, "b");
        succeed(scheduler, "c");
        /* One that fails once more ends what waits for it once more. */
        add_after(scheduler, "a", NULL);
        add_after(scheduler, "b", "a");
        run(scheduler, "a", SELENE_OUTCOME_FAILED);
        advance(S);
        CHECK_OK(selene_task_retry(scheduler, "b", -1));
        CHECK_OK(selene_task_retry(scheduler, "a", -1));
        run(scheduler, "a", SELENE_OUTCOME_FAILED);
        IS(FAILED, "b");
        CHECK_OK(selene_task_get(scheduler, "b", -1, 0, &info));
        CHECK_TEXT("it comes after \"a\", which failed", info->failure);
        selene_free(info);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** What could never start again is refused: it comes after one that was cancelled, or one that waits for it. */
static void test_retry_refused(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    add_after(scheduler, "x", NULL);
    add_after(scheduler, "a", NULL);
    CHECK_OK(selene_task_pause(scheduler, "a", -1, NULL));
    add_after(scheduler, "b", "a x");
    run(scheduler, "x", SELENE_OUTCOME_FAILED);
    IS(FAILED, "b");
    CHECK_INT(1, cancel(scheduler, "a"));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_retry(scheduler, "b", -1));
    CHECK_STRING("after[0]: \"a\" was cancelled; a task that comes after it cannot start",
                 selene_error_last()->message.data);
    /* y comes after z. Then z is registered anew, after y, and fails with it. */
    add_after(scheduler, "z", NULL);
    add_after(scheduler, "y", "z");
    succeed(scheduler, "z");
    run(scheduler, "y", SELENE_OUTCOME_FAILED);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add_after(scheduler, "z", "y"));
    IS(FAILED, "z");
    CHECK_OK(selene_task_retry(scheduler, "z", -1));
    CHECK_INT(1, record(scheduler, "z").waits_for);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_retry(scheduler, "y", -1));
    CHECK_STRING("after[0]: \"z\" waits for this task, which cannot wait for it",
                 selene_error_last()->message.data);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Many are enqueued again at once: by a tag, all, one with what failed because of it. */
static void test_retried_together(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    uint64_t count = 9;
    for (int way = 0; way < 3; way++) {
        selene_task tagged = after("a", NULL);
        const selene_text tag = SELENE_TEXT("etl");
        tagged.tags = &tag;
        tagged.tag_count = 1;
        add(scheduler, tagged);
        add_after(scheduler, "b", "a");
        add_after(scheduler, "c", "b");
        run(scheduler, "a", SELENE_OUTCOME_FAILED);
        add_after(scheduler, "other", NULL);
        run(scheduler, "other", SELENE_OUTCOME_FAILED);
        if (way == 0) {
            CHECK_OK(selene_task_retry_all(scheduler, "etl", -1, 0, &count));
            CHECK_INT(1, count);
            CHECK_OK(selene_task_retry_all(scheduler, "etl", -1, SELENE_RETRY_SUCCESSORS, &count));
            CHECK_INT(0, count);
            CHECK_OK(selene_task_retry(scheduler, "c", -1));
            CHECK_OK(selene_task_retry_all(scheduler, NULL, 0, 0, &count));
            CHECK_INT(2, count);
        } else if (way == 1) {
            CHECK_OK(selene_task_retry_all(scheduler, "etl", -1, SELENE_RETRY_SUCCESSORS, &count));
            CHECK_INT(3, count);
            IS(FAILED, "other");
            CHECK_OK(selene_task_retry(scheduler, "other", -1));
        } else {
            CHECK_STATUS(SELENE_ERROR_NOT_FOUND,
                         selene_task_retry_successors(scheduler, "none", -1, &count));
            CHECK_OK(selene_task_retry_successors(scheduler, "a", -1, &count));
            CHECK_INT(3, count);
            CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                         selene_task_retry_successors(scheduler, "b", -1, NULL));
            CHECK_OK(selene_task_retry_all(scheduler, NULL, 0, 0, NULL));
        }
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_task_retry_all(scheduler, NULL, 0, 2, &count));
        CHECK_STRING("flags: 2 is out of range, allowed are 0 or SELENE_RETRY_SUCCESSORS (1)",
                     selene_error_last()->message.data);
        selene_cycle cycle = begin(scheduler, rolling_window());
        for (int i = 0; i < 4; i++) {
            selene_run_info info = SELENE_INIT(selene_run_info);
            int32_t step = -1;
            CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
            CHECK_INT(SELENE_STEP_RUN, step);
            CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
        }
        CHECK_OK(selene_cycle_end(cycle, NULL));
        IS(SUCCEEDED, "c");
        IS(SUCCEEDED, "other");
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- what is left, and records ------------------------------------------------------------------------------------ */

/** What live tasks come after is not pruned, so that they find what it left. */
static void test_kept(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task_output *output = NULL;
    uint64_t count = 0;
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "x", NULL);
    CHECK_OK(selene_task_pause(scheduler, "x", -1, NULL));
    add_after(scheduler, "b", "a x");
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run it = next(cycle, "a");
    CHECK_OK(selene_run_set_output(it, "left", 4));
    CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(0, count);
    advance(48 * SELENE_HOUR);
    rest(scheduler);
    CHECK_OK(selene_task_resume(scheduler, "x", -1, NULL));
    succeed(scheduler, "x");
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    it = next(cycle, "b");
    CHECK_OK(selene_task_get_output(scheduler, "a", -1, &output));
    CHECK_TEXT("left", output->output);
    selene_free(output);
    CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(3, count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What a task that was enqueued again comes after stays as well, and so does what it left (V9). */
static void test_kept_for_retried(void) {
    for (int stored = 0; stored < 2; stored++) {
        selene_task_output *output = NULL;
        uint64_t count = 9;
        if (stored) new_file();
        selene_scheduler scheduler = open_for_work(stored ? file : NULL);
        add_after(scheduler, "a", NULL);
        add_after(scheduler, "b", "a");
        selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
        selene_run it = next(cycle, "a");
        CHECK_OK(selene_run_set_output(it, "left", 4));
        CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        run(scheduler, "b", SELENE_OUTCOME_FAILED);
        CHECK_OK(selene_task_retry(scheduler, "b", -1));
        CHECK_OK(selene_scheduler_prune(scheduler, &count));
        CHECK_INT(0, count);
        /* A week later it is still there, also in another life. */
        CHECK_OK(selene_task_pause(scheduler, "b", -1, NULL));
        advance(7 * 24 * SELENE_HOUR);
        rest(scheduler);
        if (stored) {
            CHECK_OK(selene_scheduler_close(scheduler, 0));
            scheduler = open_for_work(file);
        }
        CHECK_OK(selene_task_resume(scheduler, "b", -1, NULL));
        cycle = begin(scheduler, window_of(30 * S, 0, 1));
        it = next(cycle, "b");
        /* Not even while it runs its output is taken away. */
        refuse(scheduler, after("a", NULL), SELENE_ERROR_ALREADY_EXISTS,
               "id: \"a\" has ended, and \"b\", which comes after it, still needs its record; "
               "SELENE_EXISTING_SKIP keeps it");
        CHECK_OK(selene_task_get_output(scheduler, "a", -1, &output));
        CHECK_TEXT("left", output->output);
        selene_free(output);
        CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_INT(SELENE_DISPOSITION_ADDED, add_after(scheduler, "a", NULL));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** A graph that is registered at each start: what has succeeded stays, what has failed runs again. */
static void test_skip(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    for (int life = 0; life < 3; life++) {
        const int is_new = life == 0;
        CHECK_INT(is_new ? SELENE_DISPOSITION_ADDED : SELENE_DISPOSITION_KEPT,
                  add(scheduler, with(after("a", NULL), SELENE_EXISTING_SKIP)));
        CHECK_INT(life < 2 ? SELENE_DISPOSITION_ADDED : SELENE_DISPOSITION_KEPT,
                  add(scheduler, with(after("x", NULL), SELENE_EXISTING_SKIP)));
        CHECK_INT(life < 2 ? SELENE_DISPOSITION_ADDED : SELENE_DISPOSITION_KEPT,
                  add(scheduler, with(after("b", "x a"), SELENE_EXISTING_SKIP)));
        if (life == 0) {
            succeed(scheduler, "a");
            run(scheduler, "x", SELENE_OUTCOME_FAILED);
            IS(FAILED, "b");
        } else if (life == 1) {
            CHECK_INT(1, record(scheduler, "b").waits_for);
            succeed(scheduler, "x");
            IS(ENQUEUED, "b");
        } else {
            succeed(scheduler, "b");
        }
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        scheduler = open_for_work(file);
    }
    CHECK_INT(SELENE_DISPOSITION_KEPT,
              add(scheduler, with(after("b", "x a"), SELENE_EXISTING_SKIP)));
    uint64_t count = 0;
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(3, count);
    CHECK_INT(SELENE_DISPOSITION_ADDED,
              add(scheduler, with(after("a", NULL), SELENE_EXISTING_SKIP)));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** An update names the same ids in any order, each as often as it likes, and no other end (V10). */
static void test_update_names(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "b", NULL);
    CHECK_OK(selene_task_pause(scheduler, "b", -1, NULL));
    add_after(scheduler, "c", "a b");
    CHECK_INT(SELENE_DISPOSITION_UPDATED,
              add(scheduler, with(after("c", "b a b"), SELENE_EXISTING_UPDATE)));
    CHECK_INT(SELENE_DISPOSITION_UPDATED,
              add(scheduler, with(after("c", NULL), SELENE_EXISTING_UPDATE)));
    refuse(scheduler, with(after("c", "b"), SELENE_EXISTING_UPDATE), SELENE_ERROR_INVALID_ARGUMENT,
           "after: cannot change in an update; use SELENE_EXISTING_REPLACE");
    refuse(scheduler, any_end(with(after("c", "b a"), SELENE_EXISTING_UPDATE)),
           SELENE_ERROR_INVALID_ARGUMENT,
           "flags: AFTER_ANY_END cannot change in an update; use SELENE_EXISTING_REPLACE");
    refuse(scheduler, any_end(with(after("c", NULL), SELENE_EXISTING_UPDATE)),
           SELENE_ERROR_INVALID_ARGUMENT,
           "flags: AFTER_ANY_END cannot change in an update; use SELENE_EXISTING_REPLACE");
    add(scheduler, any_end(after("d", "a b")));
    refuse(scheduler, with(after("d", "b a"), SELENE_EXISTING_UPDATE),
           SELENE_ERROR_INVALID_ARGUMENT,
           "flags: AFTER_ANY_END cannot change in an update; use SELENE_EXISTING_REPLACE");
    CHECK_INT(SELENE_DISPOSITION_UPDATED,
              add(scheduler, any_end(with(after("d", "b a"), SELENE_EXISTING_UPDATE))));
    CHECK_INT(3, record(scheduler, "c").waits_for);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** One that ended and is gone can be waited for no more. */
static void test_gone(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    uint64_t count = 0;
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "b", "a");
    succeed(scheduler, "a");
    run(scheduler, "b", SELENE_OUTCOME_FAILED);
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(2, count);
    refuse(scheduler, after("b", "a"), SELENE_ERROR_NOT_FOUND, "after[0]: \"a\" is not registered");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Completes the task that is due, which leaves this. */
static void leave(selene_scheduler scheduler, const char *id, const char *output) {
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run it = next(cycle, id);
    CHECK_OK(selene_run_set_output(it, output, (int64_t)strlen(output)));
    CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static int is_there(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    const selene_status status = selene_task_get(scheduler, id, -1, 0, &info);
    selene_free(info);
    return status == SELENE_OK;
}

/** What a failed task comes after stays as long as its own record, so that a retry finds what the first attempt found;
 * then they go together. */
static void test_kept_for_failed(void) {
    for (int stored = 0; stored < 2; stored++) {
        if (stored) new_file();
        selene_scheduler scheduler = open_for_work(stored ? file : NULL);
        for (int way = 0; way < 3; way++) {
            add_after(scheduler, "a", NULL);
            add_after(scheduler, "b", "a");
            add_after(scheduler, "c", "b");
            leave(scheduler, "a", "left");
            advance(23 * SELENE_HOUR);
            run(scheduler, "b", SELENE_OUTCOME_FAILED);
            IS(FAILED, "c");
            /* A day after the end of a, an hour and more before the day of b and c is over. */
            advance(2 * SELENE_HOUR);
            rest(scheduler);
            if (stored) {
                CHECK_OK(selene_scheduler_close(scheduler, 0));
                scheduler = open_for_work(file);
            }
            CHECK(is_there(scheduler, "a"));
            uint64_t count = 0;
            if (way == 0) {
                CHECK_OK(selene_task_retry_successors(scheduler, "b", -1, &count));
                CHECK_INT(2, count);
                selene_task_output *output = NULL;
                CHECK_OK(selene_task_get_output(scheduler, "a", -1, &output));
                CHECK_TEXT("left", output->output);
                selene_free(output);
                succeed(scheduler, "b");
                succeed(scheduler, "c");
                /* Nobody names it any more who could read it. */
                rest(scheduler);
                CHECK(!is_there(scheduler, "a"));
                CHECK(is_there(scheduler, "b"));
                CHECK_OK(selene_scheduler_prune(scheduler, &count));
                CHECK_INT(2, count);
            } else if (way == 1) {
                advance(22 * SELENE_HOUR);
                rest(scheduler);
                CHECK(!is_there(scheduler, "a") && !is_there(scheduler, "b") &&
                      !is_there(scheduler, "c"));
            } else {
                CHECK_OK(selene_scheduler_prune(scheduler, &count));
                CHECK_INT(3, count);
            }
        }
        /* A new record in place of what only failed ones name is no one's input. */
        add_after(scheduler, "a", NULL);
        add_after(scheduler, "b", "a");
        run(scheduler, "a", SELENE_OUTCOME_FAILED);
        CHECK_INT(SELENE_DISPOSITION_ADDED,
                  add(scheduler, with(after("a", NULL), SELENE_EXISTING_SKIP)));
        CHECK_OK(selene_task_retry(scheduler, "b", -1));
        CHECK_INT(1, record(scheduler, "b").waits_for);
        succeed(scheduler, "a");
        succeed(scheduler, "b");
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* ---- the store ---------------------------------------------------------------------------------------------------- */

/** What an update keeps is how the others have to end, too: opened again, the store finds nothing that is not so. */
static void test_updated(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "x", NULL);
    add(scheduler, any_end(after("clean", "a x")));
    add_after(scheduler, "b", "a x");
    CHECK_INT(1, cancel(scheduler, "x") - 1);
    add(scheduler, with(after("clean", NULL), SELENE_EXISTING_UPDATE));
    IS(BLOCKED, "clean");
    IS(CANCELLED, "b");
    CHECK(record(scheduler, "clean").flags & SELENE_TASK_AFTER_ANY_END);
    for (int life = 0; life < 2; life++) {
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        scheduler = open_for_work(file);
        IS(BLOCKED, "clean");
        add(scheduler, any_end(with(after("clean", "a x"), SELENE_EXISTING_UPDATE)));
    }
    add_after(scheduler, "c", "a");
    refuse(scheduler, with(any_end(after("c", "a")), SELENE_EXISTING_UPDATE),
           SELENE_ERROR_INVALID_ARGUMENT,
           "flags: AFTER_ANY_END cannot change in an update; use SELENE_EXISTING_REPLACE");
    CHECK(!(record(scheduler, "c").flags & SELENE_TASK_AFTER_ANY_END));
    run(scheduler, "a", SELENE_OUTCOME_FAILED);
    IS(FAILED, "c");
    succeed(scheduler, "clean");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** A host that dies while the first task runs, for the last time. */
static void die_running(void) {
    selene_scheduler scheduler = open_for_work(file);
    add_after(scheduler, "a", NULL);
    add_after(scheduler, "x", NULL);
    CHECK_OK(selene_task_pause(scheduler, "x", -1, NULL));
    add_after(scheduler, "b", "a x");
    add_after(scheduler, "c", "b");
    add(scheduler, any_end(after("clean", "c")));
    add_after(scheduler, "other", "x");
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    next(cycle, "a");
    _exit(0);
}

static void test_stored(void) {
    selene_task_info *info = NULL;
    new_file();
    in_process(die_running);
    selene_scheduler scheduler = open_for_work(file);
    IS(FAILED, "a");
    IS(FAILED, "b");
    IS(FAILED, "c");
    IS(ENQUEUED, "clean");
    IS(BLOCKED, "other");
    check_failure("it comes after \"a\", which failed", scheduler, "b");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    CHECK_OK(selene_task_get(scheduler, "b", -1, 0, &info));
    CHECK_INT(2, info->after_count);
    CHECK_TEXT("x", info->after[1]);
    CHECK_TEXT("it comes after \"a\", which failed", info->failure);
    selene_free(info);
    succeed(scheduler, "clean");
    CHECK_OK(selene_task_resume(scheduler, "x", -1, NULL));
    succeed(scheduler, "x");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* Nobody waits any more, so nothing keeps the records. */
    scheduler = open_for_work(file);
    succeed(scheduler, "other");
    uint64_t count = 0;
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(6, count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** Through a connection it is the same. */
static void test_served(void) {
    selene_server_options terms = SELENE_INIT(selene_server_options);
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_server server = 0;
    selene_scheduler connection = 0;
    selene_task_info *info = NULL;
    char path[96];
    new_file();
    snprintf(path, sizeof path, "%s/socket", folder);
    terms.path = to.path = (selene_text){path, -1};
    selene_scheduler scheduler = open_for_work(NULL);
    CHECK_OK(selene_server_start(scheduler, &terms, &server));
    CHECK_OK(selene_scheduler_connect(&to, &connection));
    add_after(connection, "a", NULL);
    add(connection, any_end(after("b", "a")));
    refuse(connection, after("c", "b none"), SELENE_ERROR_NOT_FOUND,
           "after[1]: \"none\" is not registered");
    CHECK_OK(selene_task_get(connection, "b", -1, 0, &info));
    CHECK_INT(1, info->after_count);
    CHECK_TEXT("a", info->after[0]);
    CHECK_INT(1, info->waits_for);
    CHECK_INT(SELENE_TASK_AFTER_ANY_END, info->flags & SELENE_TASK_AFTER_ANY_END);
    selene_free(info);
    CHECK_INT(1, cancel(connection, "a"));
    IS(ENQUEUED, "b");
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/* ---- many --------------------------------------------------------------------------------------------------------- */

static int many(void) {
    return check_tasks(100000, 400);
}

/** Registers so many in one call; `name_after` says what the one of a number comes after. */
static void add_many(selene_scheduler scheduler, int count, int (*name_after)(int, int *)) {
    struct line {
        char id[12];
        selene_text after[4];
    } *lines = calloc((size_t)count, sizeof *lines);
    selene_task *tasks = calloc((size_t)count, sizeof *tasks);
    const selene_task **pointers = calloc((size_t)count, sizeof *pointers);
    selene_status *statuses = calloc((size_t)count, sizeof *statuses);
    for (int i = 0; i < count; i++) {
        int numbers[4];
        const int named = name_after(i, numbers);
        snprintf(lines[i].id, sizeof lines[i].id, "t%d", i);
        for (int k = 0; k < named; k++)
            lines[i].after[k] = (selene_text){lines[numbers[k]].id, -1};
        tasks[i] = after(lines[i].id, NULL);
        tasks[i].after = lines[i].after;
        tasks[i].after_count = (uint32_t)named;
        pointers[i] = &tasks[i];
    }
    CHECK_OK(selene_task_register_batch(scheduler, pointers, (uint64_t)count, statuses, NULL));
    for (int i = 0; i < count; i++)
        CHECK_OK(statuses[i]);
    free(lines);
    free(tasks);
    free(pointers);
    free(statuses);
}

/** Layers of a hundred: each after three of the layer before. */
static int in_layers(int i, int *numbers) {
    if (i < 100) return 0;
    const int first = i / 100 * 100 - 100;
    for (int k = 0; k < 3; k++)
        numbers[k] = first + (i * 7 + k * 31) % 100;
    return 3;
}

/** Runs at most so many, each after those before it; how many ran. */
static int run_some(selene_scheduler scheduler, int most) {
    selene_window window = rolling_of(SELENE_DAY, 0, 1);
    int count = 0;
    selene_cycle cycle = begin(scheduler, window);
    while (count < most) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t step = -1;
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        if (step != SELENE_STEP_RUN) break;
        CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
        count++;
    }
    CHECK_OK(selene_cycle_end(cycle, NULL));
    return count;
}

static void test_many(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    const int count = many();
    int done = 0;
    new_file();
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.flags = SELENE_OPTIONS_RELAXED;
    options.path = (selene_text){file, -1};
    for (int life = 0; life < 3; life++) {
        selene_scheduler scheduler = open_virtual(options);
        CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
        if (life == 0) add_many(scheduler, count, in_layers);
        done += run_some(scheduler, life < 2 ? count / 3 + 7 : count);
        CHECK_OK(selene_scheduler_get(scheduler, &info));
        CHECK_INT(done, info.succeeded);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    CHECK_INT(count, done);
    remove_folder();
}

/** Each after the one before it. */
static int in_line(int i, int *numbers) {
    numbers[0] = i - 1;
    return i > 0;
}

/** Every one after the first alone. */
static int as_star(int i, int *numbers) {
    numbers[0] = 0;
    return i > 0;
}

/** A failure, or a cancel, reaches the end of a line, and of a star, in one call. */
static void test_spread(void) {
    int (*const shapes[])(int, int *) = {in_line, as_star};
    for (int i = 0; i < 4; i++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
        const int count = many();
        add_many(scheduler, count, shapes[i / 2]);
        if (i % 2) CHECK_INT(count, cancel(scheduler, "t0"));
        else run(scheduler, "t0", SELENE_OUTCOME_FAILED);
        CHECK_OK(selene_scheduler_get(scheduler, &info));
        CHECK_INT(count, i % 2 ? info.cancelled : info.failed);
        uint64_t gone = 0;
        CHECK_OK(selene_scheduler_prune(scheduler, &gone));
        CHECK_INT(count, gone);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    selene_scheduler scheduler = open_for_work(NULL);
    add_many(scheduler, many(), in_line);
    CHECK_INT(many(), run_some(scheduler, INT32_MAX));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W4 a task waits for those that it comes after, and starts when they have succeeded",
             test_waits);
    run_test("W4 its delay counts from then", test_later);
    run_test("W4 in a rolling window it takes part at once", test_rolling);
    run_test("W4 it fails with them, or starts after any end", test_fails);
    run_test("W4 it is cancelled with them", test_cancelled);
    run_test("W4 a run that is stopped is no end", test_running);
    run_test("W4 what cannot be waited for is refused", test_refused);
    run_test("W4 T5 existing policies: a replacement counts as a cancel", test_existing);
    run_test("W4 T6 what waits has no place, what starts takes the next free one", test_limits);
    run_test("W4 T5 successors wait behind one that waits", test_successors);
    run_test("W4 R7 what failed is enqueued again as it was", test_retried);
    run_test("V10 a chain that is enqueued again backwards runs forwards", test_retried_backwards);
    run_test("V10 what could never start is not enqueued again", test_retry_refused);
    run_test("V10 many are enqueued again at once, with what failed because of them",
             test_retried_together);
    run_test("V10 an update names what a task comes after in any order", test_update_names);
    run_test("V9 what a task that is enqueued again comes after stays", test_kept_for_retried);
    run_test("V9 what a failed task comes after stays as long as it does", test_kept_for_failed);
    run_test("V9 a graph that is registered at each start goes on", test_skip);
    run_test("W4 T9 records that live ones come after are kept, with what they left", test_kept);
    run_test("W4 T9 what is gone is waited for no more", test_gone);
    run_test("W4 T5 an update keeps how the others have to end", test_updated);
    run_test("W4 it is kept across crashes", test_stored);
    run_test("W4 through a connection it is the same", test_served);
    run_test("W4 100 000 tasks in layers, reopened in the middle", test_many);
    run_test("W4 an end reaches 100 000 tasks in one call", test_spread);
    return check_end();
}
