/*
 * output.c - what a run leaves: kept with its task, stored, read by hosts and by the handlers of successors (W5)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

static selene_task task_with(const char *id, int32_t schedule) {
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    task.schedule = schedule;
    task.expected_response = SELENE_NONE;
    if (schedule == SELENE_SCHEDULE_PERIODIC) task.period = SELENE_HOUR;
    return task;
}

/** What a task's last success left is these bytes, and its record says how many. */
static void check_output(selene_scheduler scheduler, const char *id, const void *bytes,
                         int64_t length) {
    selene_task_output *output = NULL;
    CHECK_OK(selene_task_get_output(scheduler, id, -1, &output));
    CHECK_INT(length, output->output.length);
    CHECK(memcmp(bytes, output->output.data, (size_t)length) == 0);
    CHECK_INT(0, output->output.data[length]);
    selene_free(output);
    CHECK_INT(length, record(scheduler, id).output_length);
}

static void check_left(selene_scheduler scheduler, const char *id, const char *text) {
    check_output(scheduler, id, text, (int64_t)strlen(text));
}

static void leave(selene_run run, const char *text) {
    CHECK_OK(selene_run_set_output(run, text, (int64_t)strlen(text)));
}

/** Runs the one task that is due, which leaves this; NULL: nothing. */
static void run(selene_scheduler scheduler, const char *id, const char *text, int32_t outcome) {
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run it = next(cycle, id);
    if (text) leave(it, text);
    CHECK_OK(selene_run_complete(it, outcome));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

/* ---- what is kept ------------------------------------------------------------------------------------------------- */

static void test_kept(void) {
    static const char bytes[] = {0, 1, '\n', 0, (char)0xFF, 'x', 0};
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task_output *output = NULL;
    add(scheduler, task_with("a", SELENE_SCHEDULE_ONCE));
    check_left(scheduler, "a", "");
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run it = next(cycle, "a");
    char text[] = "copied";
    leave(it, text);
    text[0] = 'C';
    /* Nothing of it counts before the outcome. */
    check_left(scheduler, "a", "");
    CHECK_OK(selene_run_set_output(it, bytes, sizeof bytes));
    CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NO_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_set_output(it, "late", 4));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "a").state);
    check_output(scheduler, "a", bytes, sizeof bytes);
    /* Until its record goes: by a new one in its place, or by its time. */
    add(scheduler, task_with("a", SELENE_SCHEDULE_ONCE));
    check_left(scheduler, "a", "");
    run(scheduler, "a", "again", SELENE_OUTCOME_NEW_DATA);
    check_left(scheduler, "a", "again");
    advance(25 * SELENE_HOUR);
    CHECK_OK(selene_cycle_end(begin(scheduler, window_of(S, 0, 1)), NULL));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get_output(scheduler, "a", -1, &output));
    CHECK(output == NULL);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_replaced(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = task_with("a", SELENE_SCHEDULE_PERIODIC);
    task.backoff = SELENE_BACKOFF_NONE;
    add(scheduler, task);
    run(scheduler, "a", "first", SELENE_OUTCOME_NEW_DATA);
    check_left(scheduler, "a", "first");
    /* A failure leaves what was left before, whatever it says. */
    advance(SELENE_HOUR);
    run(scheduler, "a", "half", SELENE_OUTCOME_FAILED);
    check_left(scheduler, "a", "first");
    run(scheduler, "a", "half", SELENE_OUTCOME_ABANDONED);
    check_left(scheduler, "a", "first");
    /* So does one that its time ends, or that is stopped. */
    advance(SELENE_HOUR);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run it = next(cycle, "a");
    leave(it, "half");
    advance(31 * S);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_set_output(it, "late", 4));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    check_left(scheduler, "a", "first");
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    leave(next(cycle, "a"), "half");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    check_left(scheduler, "a", "first");
    /* An update keeps it; the next success replaces it, also by nothing. */
    task.existing = SELENE_EXISTING_UPDATE;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    check_left(scheduler, "a", "first");
    advance(SELENE_HOUR);
    run(scheduler, "a", "second", SELENE_OUTCOME_NO_DATA);
    check_left(scheduler, "a", "second");
    advance(SELENE_HOUR);
    run(scheduler, "a", NULL, SELENE_OUTCOME_NEW_DATA);
    check_left(scheduler, "a", "");
    /* What was said last counts, also that it is nothing. */
    advance(SELENE_HOUR);
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    it = next(cycle, "a");
    leave(it, "something");
    CHECK_OK(selene_run_set_output(it, NULL, 0));
    CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    check_left(scheduler, "a", "");
    advance(SELENE_HOUR);
    run(scheduler, "a", "third", SELENE_OUTCOME_NEW_DATA);
    /* A replacement begins with nothing. */
    task.existing = SELENE_EXISTING_REPLACE;
    CHECK_INT(SELENE_DISPOSITION_REPLACED, add(scheduler, task));
    check_left(scheduler, "a", "");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Each successor finds what the one before it left, under its own id. */
static void test_successors(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = task_with("a", SELENE_SCHEDULE_ONCE);
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND_OR_REPLACE;
    task.max_attempts = 1;
    for (int i = 0; i < 3; i++)
        CHECK_INT(SELENE_DISPOSITION_APPENDED, add(scheduler, task));
    run(scheduler, "a", "one", SELENE_OUTCOME_NEW_DATA);
    check_left(scheduler, "a", "one");
    /* One that fails hands on what it had. */
    run(scheduler, "a", "two", SELENE_OUTCOME_FAILED);
    check_left(scheduler, "a", "one");
    run(scheduler, "a", "three", SELENE_OUTCOME_NEW_DATA);
    check_left(scheduler, "a", "three");
    run(scheduler, "a", NULL, SELENE_OUTCOME_NEW_DATA);
    check_left(scheduler, "a", "");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- handlers ----------------------------------------------------------------------------------------------------- */

static selene_scheduler pushed;

/** Adds a letter to what the one before it left. */
static void add_letter(selene_run it, const selene_run_info *info, void *context) {
    selene_task_output *output = NULL;
    char text[16];
    (void)context;
    CHECK_OK(selene_task_get_output(pushed, info->id.data, info->id.length, &output));
    snprintf(text, sizeof text, "%s%c", output->output.data, "abcdefgh"[output->output.length]);
    selene_free(output);
    leave(it, text);
    CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_set_output(it, "x", 1));
}

static void test_pushed(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = task_with("a", SELENE_SCHEDULE_ONCE);
    selene_window window = rolling_of(60 * S, 0, 2);
    selene_report *report = NULL;
    options.max_pending_refresh = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &pushed));
    CHECK_OK(selene_handler_register(pushed, "work", -1, add_letter, NULL, NULL, NULL));
    add(pushed, task);
    task.existing = SELENE_EXISTING_APPEND;
    for (int i = 1; i < 5; i++)
        add(pushed, task);
    /* A handler that has given its outcome and not yet returned has its id (C4), and a window does not wait for that. */
    for (uint64_t count = 0; count < 5;) {
        CHECK_OK(selene_cycle_run(pushed, &window, &report));
        count += report->run_count;
        selene_free(report);
    }
    check_left(pushed, "a", "abcde");
    CHECK_OK(selene_scheduler_close(pushed, 0));
}

/* ---- sizes -------------------------------------------------------------------------------------------------------- */

static void test_sizes(void) {
    static char bytes[300001];
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    memset(bytes, 'x', sizeof bytes);
    new_file();
    for (int is_stored = 0; is_stored < 2; is_stored++) {
        if (is_stored) options.path = (selene_text){file, -1};
        options.max_output_size = sizeof bytes - 1;
        scheduler = open_virtual(options);
        CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
        add(scheduler, task_with("a", SELENE_SCHEDULE_ONCE));
        selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
        selene_run it = next(cycle, "a");
        CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_run_set_output(it, bytes, sizeof bytes));
        CHECK_STRING("output: 300001 bytes is out of range, allowed are 0 … 300000 bytes",
                     selene_error_last()->message.data);
        CHECK_OK(selene_run_set_output(it, bytes, sizeof bytes - 1));
        CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        check_output(scheduler, "a", bytes, sizeof bytes - 1);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    /* What was accepted once stays, whatever today's limit is. */
    scheduler = open_for_work(file);
    check_output(scheduler, "a", bytes, sizeof bytes - 1);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** What a record, an explanation, an event and a reader say of an output that is too long (V11). */
static void check_lost(selene_scheduler scheduler, const char *id, uint64_t lost) {
    selene_task_output *output = NULL;
    selene_explanation why = SELENE_INIT(selene_explanation);
    CHECK_INT(lost, record(scheduler, id).output_lost);
    CHECK_INT(0, record(scheduler, id).output_length);
    CHECK_OK(selene_task_explain(scheduler, id, -1, &why));
    CHECK_INT(lost, why.output_lost);
    CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_task_get_output(scheduler, id, -1, &output));
    CHECK(output == NULL);
}

static void test_lost(void) {
    static char bytes[(1 << 20) + 1];
    memset(bytes, 'x', sizeof bytes);
    new_file();
    for (int is_stored = 0; is_stored < 2; is_stored++) {
        selene_scheduler scheduler = open_for_work(is_stored ? file : NULL);
        observe(scheduler);
        const int since = atomic_load(&noted_count);
        selene_task task = task_with("a", SELENE_SCHEDULE_PERIODIC);
        add(scheduler, task);
        /* A mebibyte is kept. */
        selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
        selene_run it = next(cycle, "a");
        CHECK_OK(selene_run_set_output(it, bytes, sizeof bytes - 1));
        CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        check_output(scheduler, "a", bytes, sizeof bytes - 1);
        /* Of a failure nothing counts. */
        advance(SELENE_HOUR);
        cycle = begin(scheduler, window_of(30 * S, 0, 1));
        it = next(cycle, "a");
        CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_run_set_output(it, bytes, sizeof bytes));
        CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_ABANDONED));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        check_output(scheduler, "a", bytes, sizeof bytes - 1);
        /* Nor of what a later call takes back. */
        advance(SELENE_HOUR);
        cycle = begin(scheduler, window_of(30 * S, 0, 1));
        it = next(cycle, "a");
        CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_run_set_output(it, bytes, sizeof bytes));
        leave(it, "short");
        CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        check_left(scheduler, "a", "short");
        CHECK_INT(0, record(scheduler, "a").output_lost);
        CHECK_INT(0, count_events(since, SELENE_EVENT_OUTPUT_LOST, 0));
        advance(SELENE_HOUR);
        cycle = begin(scheduler, window_of(30 * S, 0, 1));
        it = next(cycle, "a");
        leave(it, "short");
        CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_run_set_output(it, bytes, sizeof bytes));
        CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_INT(1, count_events(since, SELENE_EVENT_OUTPUT_LOST, 0));
        check_lost(scheduler, "a", sizeof bytes);
        if (is_stored) {
            CHECK_OK(selene_scheduler_close(scheduler, 0));
            scheduler = open_for_work(file);
            check_lost(scheduler, "a", sizeof bytes);
        }
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    remove_folder();
}

/* ---- the store ---------------------------------------------------------------------------------------------------- */

#define MANY 700

/** Many tasks of which some leave something, of all lengths; then one commit writes all of them. */
static void leave_many(selene_scheduler scheduler) {
    static const selene_text tag = {"many", -1};
    static char text[MANY * 10];
    uint64_t count = 0;
    memset(text, 'y', sizeof text);
    for (int i = 0; i < MANY; i++) {
        char id[16];
        selene_task task = task_with(id, SELENE_SCHEDULE_STANDING);
        snprintf(id, sizeof id, "task %d", i);
        task.tags = &tag;
        task.tag_count = 1;
        add(scheduler, task);
    }
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    for (int i = 0; i < MANY; i++) {
        char id[16];
        snprintf(id, sizeof id, "task %d", i);
        selene_run it = next(cycle, id);
        if (i % 3 == 0) CHECK_OK(selene_run_set_output(it, text, i * 10));
        CHECK_OK(selene_run_complete(it, SELENE_OUTCOME_NEW_DATA));
    }
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_task_pause_tag(scheduler, "many", -1, &count));
    CHECK_INT(MANY, count);
}

static void check_many(selene_scheduler scheduler) {
    static char text[MANY * 10];
    memset(text, 'y', sizeof text);
    for (int i = 0; i < MANY; i++) {
        char id[16];
        snprintf(id, sizeof id, "task %d", i);
        check_output(scheduler, id, text, i % 3 == 0 ? i * 10 : 0);
    }
}

static void die_with_many(void) {
    leave_many(open_for_work(file));
    _exit(0);
}

/** One whose process ends while its second run has said something. */
static void die_running(void) {
    selene_scheduler scheduler = open_for_work(file);
    add(scheduler, task_with("a", SELENE_SCHEDULE_PERIODIC));
    run(scheduler, "a", "first", SELENE_OUTCOME_NEW_DATA);
    advance(SELENE_HOUR);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    leave(next(cycle, "a"), "second");
    _exit(0);
}

static void test_stored(void) {
    new_file();
    in_process(die_with_many);
    selene_scheduler scheduler = open_for_work(file);
    check_many(scheduler);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
    new_file();
    in_process(die_running);
    scheduler = open_for_work(file);
    check_left(scheduler, "a", "first");
    advance(2 * SELENE_HOUR);
    run(scheduler, "a", "third", SELENE_OUTCOME_NEW_DATA);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    check_left(scheduler, "a", "third");
    advance(2 * SELENE_HOUR);
    run(scheduler, "a", NULL, SELENE_OUTCOME_NEW_DATA);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    check_left(scheduler, "a", "");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** Copies, and what is salvaged, have it too; a check looks at it. */
static void test_copies(void) {
    char copy[96], salvaged[96];
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    new_file();
    snprintf(copy, sizeof copy, "%s/copy", folder);
    snprintf(salvaged, sizeof salvaged, "%s/salvaged", folder);
    selene_scheduler scheduler = open_for_work(file);
    leave_many(scheduler);
    CHECK_OK(selene_store_backup(scheduler, copy, -1));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_OK(selene_store_check(file, -1, &findings));
    CHECK_INT(MANY, findings.tasks);
    CHECK_OK(selene_store_salvage(file, -1, salvaged, -1, &findings));
    CHECK_INT(MANY, findings.tasks);
    for (int i = 0; i < 2; i++) {
        scheduler = open_for_work(i ? salvaged : copy);
        check_many(scheduler);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    remove_folder();
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W5 what a success left is kept until the record goes", test_kept);
    run_test("W5 a failure leaves what was left before, the next success replaces it",
             test_replaced);
    run_test("W5 a successor reads what the one before it left", test_successors);
    run_test("W5 handlers on library threads leave and read it", test_pushed);
    run_test("W5 it may be as large as the scheduler says", test_sizes);
    run_test("V11 what is too long is not lost in silence", test_lost);
    run_test("W5 it is kept across crashes", test_stored);
    run_test("W5 copies and salvaged stores have it", test_copies);
    return check_end();
}
