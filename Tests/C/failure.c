/*
 * failure.c - why a task's last run failed: said by the run or by the library, kept, stored, told, cleared; and failed
 * tasks listed and enqueued again (R7)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

static selene_scheduler open_at(const char *file) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_processing = SELENE_UNLIMITED;
    if (file) options.path = (selene_text){file, -1};
    return open_virtual(options);
}

static selene_scheduler reopened(selene_scheduler scheduler, const char *file) {
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    return open_at(file);
}

static void add_name(selene_scheduler scheduler, const char *name) {
    CHECK_OK(selene_handler_register(scheduler, name, -1, NULL, NULL, NULL, NULL));
}

static selene_window window(void) {
    selene_window window = window_of(30 * S, 0, 1);
    window.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    return window;
}

/** The run of a task, in a window of its own. */
static selene_run take(selene_scheduler scheduler, selene_cycle *cycle, const char *id) {
    selene_window one = window();
    one.task = (selene_text){id, -1};
    *cycle = begin(scheduler, one);
    return next(*cycle, id);
}

static void fail_with(selene_scheduler scheduler, const char *id, int32_t outcome, const char *why,
                      int64_t length) {
    selene_cycle cycle;
    CHECK_OK(selene_run_fail(take(scheduler, &cycle, id), outcome, -1, why, length));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static void succeed(selene_scheduler scheduler, const char *id) {
    selene_cycle cycle;
    CHECK_OK(selene_run_complete(take(scheduler, &cycle, id), SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static void check_failure(selene_scheduler scheduler, const char *id, int64_t at, uint64_t attempt,
                          const char *why) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    CHECK_INT(at, info->failed_at);
    CHECK_INT(attempt, info->failed_attempt);
    CHECK_TEXT(why, info->failure);
    CHECK_INT(0, info->failure.data[info->failure.length]);
    selene_free(info);
}

static void test_kept(void) {
    new_file();
    selene_scheduler scheduler = open_at(file);
    add_name(scheduler, "a");
    add(scheduler, task_of("a"));
    check_failure(scheduler, "a", 0, 0, "");
    succeed(scheduler, "a");
    check_failure(scheduler, "a", 0, 0, "");
    advance(S);
    fail_with(scheduler, "a", SELENE_OUTCOME_FAILED, "no route to host\n(10.0.0.1)", -1);
    check_failure(scheduler, "a", START + S, 1, "no route to host\n(10.0.0.1)");
    /* It stays while the task waits, is updated, is stopped, and its program comes back. */
    add(scheduler, task_of("a"));
    advance(S);
    selene_cycle cycle;
    take(scheduler, &cycle, "a");
    check_failure(scheduler, "a", START + S, 1, "no route to host\n(10.0.0.1)");
    scheduler = reopened(scheduler, file);
    check_failure(scheduler, "a", START + S, 1, "no route to host\n(10.0.0.1)");
    CHECK_INT(1, record(scheduler, "a").attempts);
    /* The next failure takes its place, also one that says nothing. */
    add_name(scheduler, "a");
    fail_with(scheduler, "a", SELENE_OUTCOME_FAILED, "again", 3);
    check_failure(scheduler, "a", START + 2 * S, 2, "aga");
    advance(S);
    fail_with(scheduler, "a", SELENE_OUTCOME_FAILED, NULL, 0);
    check_failure(scheduler, "a", START + 3 * S, 3, "");
    scheduler = reopened(scheduler, file);
    check_failure(scheduler, "a", START + 3 * S, 3, "");
    add_name(scheduler, "a");
    advance(S);
    CHECK_OK(selene_run_complete(take(scheduler, &cycle, "a"), SELENE_OUTCOME_ABANDONED));
    check_failure(scheduler, "a", START + 4 * S, 4, "");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    succeed(scheduler, "a");
    check_failure(scheduler, "a", 0, 0, "");
    scheduler = reopened(scheduler, file);
    check_failure(scheduler, "a", 0, 0, "");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/* A task that is asked to stop by a limit of its own, or by the reserve, and then fails with a word or without. */
static void check_asked(int64_t timeout, int64_t stall_limit, const char *own, const char *why) {
    selene_scheduler scheduler = open_at(NULL);
    selene_task task = task_of("a");
    selene_window one = window_of(60 * S, 30 * S, 1);
    selene_cycle cycle;
    task.timeout = timeout;
    task.stall_limit = stall_limit;
    add_name(scheduler, "a");
    add(scheduler, task);
    cycle = begin(scheduler, one);
    selene_run run = next(cycle, "a");
    advance(30 * S);
    CHECK_OK(selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, own, -1));
    check_failure(scheduler, "a", START + 30 * S, 1, why);
    CHECK_INT(0, record(scheduler, "a").stop_reason);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    atomic_store(&clock_now, START);
}

static void test_asked(void) {
    check_asked(30 * S, 0, NULL, "timed out");
    check_asked(0, 30 * S, NULL, "made no progress");
    check_asked(0, 0, NULL, "the window ended");
    check_asked(30 * S, 0, "half done", "half done");
    check_asked(0, 0, "half done", "half done");
}

static void test_longest(void) {
    char text[2000];
    new_file();
    selene_scheduler scheduler = open_at(file);
    add_name(scheduler, "a");
    add(scheduler, task_of("a"));
    /* Characters of each length across the cut, and the whole of what fits. */
    static const struct {
        const char *character;
        int64_t before, kept;
    } cuts[] = {{"x", 0, 1024},
                {"\xC3\xA4", 1, 1023},
                {"\xE2\x82\xAC", 0, 1023},
                {"\xE2\x82\xAC", 2, 1022},
                {"\xE2\x82\xAC", 1, 1024},
                {"\xF0\x9F\x8C\x99", 1, 1021},
                {"\xF0\x9F\x8C\x99", 3, 1023},
                {"\xF0\x9F\x8C\x99", 0, 1024}};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        size_t width = strlen(cuts[i].character), end = (size_t)cuts[i].before;
        memset(text, '-', end);
        for (; end + width < 1500; end += width)
            memcpy(text + end, cuts[i].character, width);
        text[end] = 0;
        for (int terminated = 0; terminated < 2; terminated++) {
            selene_task_info *info = NULL;
            fail_with(scheduler, "a", SELENE_OUTCOME_FAILED, text, terminated ? -1 : (int64_t)end);
            scheduler = reopened(scheduler, file);
            add_name(scheduler, "a");
            CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
            CHECK_INT(cuts[i].kept, info->failure.length);
            CHECK(memcmp(info->failure.data, text, (size_t)info->failure.length) == 0);
            selene_free(info);
        }
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

static void test_refused(void) {
    selene_scheduler scheduler = open_at(NULL);
    selene_cycle cycle;
    add_name(scheduler, "a");
    add(scheduler, task_of("a"));
    selene_run run = take(scheduler, &cycle, "a");
    const selene_status invalid = SELENE_ERROR_INVALID_ARGUMENT;
    CHECK_STATUS(invalid, selene_run_fail(run, SELENE_OUTCOME_NEW_DATA, -1, "x", -1));
    CHECK(strstr(selene_error_last()->message.data, "outcome"));
    CHECK_STATUS(invalid, selene_run_fail(run, SELENE_OUTCOME_EXPIRED, -1, "x", -1));
    CHECK_STATUS(invalid, selene_run_fail(run, SELENE_OUTCOME_FAILED, -2, "x", -1));
    CHECK(strstr(selene_error_last()->message.data, "delay"));
    CHECK_STATUS(invalid, selene_run_fail(run, SELENE_OUTCOME_FAILED, INT64_MAX, "x", -1));
    CHECK_STATUS(invalid, selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "x", -2));
    CHECK(strstr(selene_error_last()->message.data, "message"));
    CHECK_STATUS(invalid, selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, NULL, 1));
    CHECK_STATUS(invalid, selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "a\xFFz", -1));
    CHECK(strstr(selene_error_last()->message.data, "not valid UTF-8 at byte 1"));
    CHECK_STATUS(invalid, selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "a\0z", 3));
    /* What was refused is no outcome. */
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
    CHECK_OK(selene_run_fail(run, SELENE_OUTCOME_FAILED, 70 * S, "seventy", -1));
    CHECK_INT(START + 70 * S, record(scheduler, "a").earliest_begin);
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED,
                 selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "late", -1));
    check_failure(scheduler, "a", START, 1, "seventy");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- what the library says, and who is told ----------------------------------------- */

static struct {
    int32_t type, detail;
    char id[64], message[2048];
} told[64];
static int told_count;

static void hear(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_COMPLETED && event->type != SELENE_EVENT_INTERRUPTED) return;
    CHECK(told_count < 64);
    told[told_count].type = event->type;
    told[told_count].detail = event->detail;
    snprintf(told[told_count].id, sizeof told[0].id, "%.*s", (int)event->id.length, event->id.data);
    snprintf(told[told_count++].message, sizeof told[0].message, "%.*s", (int)event->message.length,
             event->message.data);
}

static void test_told(void) {
    char copy[96], command[256];
    new_file();
    selene_scheduler scheduler = open_at(file);
    selene_cycle cycle;
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    add_name(scheduler, "a");
    add(scheduler, once_of("a"));
    fail_with(scheduler, "a", SELENE_OUTCOME_FAILED, "why", -1);
    selene_run run = take(scheduler, &cycle, "a");
    advance(31 * S);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                 selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "too late", -1));
    check_failure(scheduler, "a", START + 30 * S, 2, "the window ended");
    succeed(scheduler, "a");
    CHECK_INT(3, told_count);
    CHECK(strcmp(told[0].message, "why") == 0 && told[0].detail == SELENE_OUTCOME_FAILED);
    CHECK(strcmp(told[1].message, "the window ended") == 0 &&
          told[1].detail == SELENE_OUTCOME_EXPIRED);
    CHECK(strcmp(told[2].message, "") == 0 && told[2].detail == SELENE_OUTCOME_NO_DATA);

    /* A kill in the middle of a run, played. */
    add(scheduler, once_of("a"));
    take(scheduler, &cycle, "a");
    snprintf(copy, sizeof copy, "%s.killed", file);
    snprintf(command, sizeof command, "cp '%s' '%s'", file, copy);
    CHECK_INT(0, system(command));
    snprintf(command, sizeof command, "cp '%s-wal' '%s-wal'", file, copy);
    CHECK_INT(0, system(command));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    advance(S);
    told_count = 0;
    scheduler = open_at(copy);
    check_failure(scheduler, "a", START + 32 * S, 1, "the process ended");
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    CHECK_INT(1, told_count);
    CHECK_INT(SELENE_EVENT_INTERRUPTED, told[0].type);
    CHECK(strcmp(told[0].message, "the process ended") == 0);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/* ---- failed tasks --------------------------------------------------------------------- */

static uint64_t count_in(selene_scheduler scheduler, int32_t state, const char *first) {
    selene_task_ids *ids = NULL;
    CHECK_OK(selene_task_list_state(scheduler, state, &ids));
    uint64_t count = ids->count;
    if (first) CHECK_TEXT(first, ids->ids[0]);
    selene_free(ids);
    return count;
}

static void test_retry(void) {
    selene_task_info *info = NULL;
    new_file();
    selene_scheduler scheduler = open_at(file);
    selene_text tag = SELENE_TEXT("tag");
    selene_task task = once_of("a");
    add_name(scheduler, "a");
    task.max_attempts = 2;
    task.initial_delay = SELENE_HOUR;
    task.input = "in\0put";
    task.input_length = 6;
    task.tags = &tag;
    task.tag_count = 1;
    add(scheduler, task);
    add(scheduler, once_of("other"));
    CHECK_INT(0, count_in(scheduler, SELENE_STATE_FAILED, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_retry(scheduler, "a", -1));
    CHECK(strstr(selene_error_last()->message.data,
                 "\"a\" is enqueued; only a failed task can be retried"));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_retry(scheduler, "b", -1));
    fail_with(scheduler, "a", SELENE_OUTCOME_FAILED, "first", -1);
    fail_with(scheduler, "a", SELENE_OUTCOME_FAILED, "second", -1);
    CHECK_INT(1, count_in(scheduler, SELENE_STATE_FAILED, "a"));
    CHECK_INT(1, count_in(scheduler, SELENE_STATE_ENQUEUED, "other"));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_task_list_state(scheduler, 7, &(selene_task_ids *){NULL}));

    advance(S);
    scheduler = reopened(scheduler, file);
    add_name(scheduler, "a");
    uint64_t old = record(scheduler, "a").sequence;
    CHECK_OK(selene_task_retry(scheduler, "a", -1));
    CHECK_INT(0, count_in(scheduler, SELENE_STATE_FAILED, NULL));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
        CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
        CHECK_INT(0, info->attempts);
        CHECK_INT(2, info->max_attempts);
        CHECK_INT(SELENE_HOUR, info->initial_delay);
        CHECK_INT(6, info->input.length);
        CHECK_INT(START + S, info->earliest_begin);
        CHECK_INT(START + S, info->registered_at);
        CHECK_INT(2, info->response_time_count);
        CHECK_INT(old, info->sequence);
        CHECK_TEXT("tag", info->tags[0]);
        selene_free(info);
        check_failure(scheduler, "a", START, 2, "second");
        scheduler = reopened(scheduler, file);
        add_name(scheduler, "a");
    }
    /* At once, and with all its attempts. */
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    fail_with(scheduler, "a", SELENE_OUTCOME_FAILED, "third", -1);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    succeed(scheduler, "a");
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "a").state);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_retry(scheduler, "a", -1));
    CHECK_OK(selene_task_cancel(scheduler, "other", -1, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_retry(scheduler, "other", -1));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/* It takes a place as a new one does, and is retained and removed as one. */
static void test_retry_limits(void) {
    selene_options options = SELENE_INIT(selene_options);
    uint64_t count = 0;
    options.max_pending_processing = 1;
    for (int holds = 0; holds < 2; holds++) {
        if (holds) options.flags |= SELENE_OPTIONS_HOLD;
        selene_scheduler scheduler = open_virtual(options);
        add_name(scheduler, "a");
        add_name(scheduler, "b");
        add(scheduler, once_of("a"));
        fail_with(scheduler, "a", SELENE_OUTCOME_ABANDONED, "never again", -1);
        CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH));
        CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_task_retry(scheduler, "a", -1));
        CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING));
        add(scheduler, once_of("b"));
        if (!holds) {
            CHECK_STATUS(SELENE_ERROR_TOO_MANY_PENDING, selene_task_retry(scheduler, "a", -1));
            check_failure(scheduler, "a", clock_now, 1, "never again");
        } else {
            CHECK_OK(selene_task_retry(scheduler, "a", -1));
            CHECK_INT(SELENE_STATE_HELD, record(scheduler, "a").state);
        }
        succeed(scheduler, "b");
        if (!holds) CHECK_OK(selene_task_retry(scheduler, "a", -1));
        CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
        CHECK_OK(selene_scheduler_prune(scheduler, &count));
        CHECK_INT(1, count);
        fail_with(scheduler, "a", SELENE_OUTCOME_ABANDONED, "no", -1);
        CHECK_OK(selene_scheduler_prune(scheduler, &count));
        CHECK_INT(1, count);
        CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_retry(scheduler, "a", -1));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* Its age counts from the retry, as that of a new one. */
static void test_retry_age(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.flags = SELENE_OPTIONS_FRESHNESS;
    selene_scheduler scheduler = open_virtual(options);
    add_name(scheduler, "a");
    add(scheduler, once_of("a"));
    advance(SELENE_HOUR);
    fail_with(scheduler, "a", SELENE_OUTCOME_ABANDONED, "no", -1);
    advance(SELENE_HOUR);
    CHECK_OK(selene_task_retry(scheduler, "a", -1));
    CHECK_INT(clock_now, record(scheduler, "a").last_run);
    CHECK_INT(clock_now, explain(scheduler, "a").fresh_since);
    CHECK_INT(1, explain(scheduler, "a").known_runs);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("R7 why a run failed is kept and stored until the next success", test_kept);
    run_test("R7 a run that was asked to stop and fails without a word says why it was asked",
             test_asked);
    run_test("R7 a text is cut between two characters", test_longest);
    run_test("R7 what is wrong is answered with a status and is no outcome", test_refused);
    run_test("R7 an event says why a run failed, also where only the library knows", test_told);
    run_test("R7 a failed task is listed, and enqueued again with what it was", test_retry);
    run_test("R7 F2 the age of a task that is retried counts from then", test_retry_age);
    run_test("R7 a task that is retried takes a place as a new one does", test_retry_limits);
    return check_end();
}
