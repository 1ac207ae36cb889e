/*
 * store_older.c - a store that version 0.1.0 wrote, and the anchors of what is found in one (D1, D3, T3)
 *
 * Tests/vectors/schema2.store is what that version left when it was killed at 1700007000 s: a task in its first run on
 * the hour's grid, another that has run, a standing one with three response times, one that failed, one with successors.
 * Tests/vectors/schema2-fields.store has a task whose every field is another than its default, and one that has only an
 * id.
 *
 * Tests/vectors/schema6.store and schema7.store are what libraries of these schemas, between 0.1.0 and 0.2.0, left when they
 * were killed at 1700000255 s: what W2 to W10 have, and one expedited task that was running. Tests/vectors/schema8.store is what
 * one of that schema made of the latter, and left when it was killed at 1700000320 s: of two more tasks "owned" was running.
 * Tests/vectors/schema9.store is what one of that schema made of this, and left when it was killed at 1700000325 s.
 */
#include "store_tools.h"

static int64_t now;

static int64_t test_clock(void *context) {
    (void)context;
    return now;
}

static selene_scheduler open_at(const char *file, int64_t at) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    now = at;
    options.path = (selene_text){file, -1};
    options.clock = test_clock;
    /* The limits that they were written under. */
    options.max_pending_refresh = 1;
    options.max_pending_processing = 10;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    return scheduler;
}

static void copy_file(const char *from, const char *to) {
    char command[2 * PATH + 16];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    CHECK_INT(0, system(command));
}

/** A kill, played: the files as they are now, opened at another time. */
static selene_scheduler open_killed(const char *file, char *copy, int64_t at) {
    char log[PATH + 8], log_copy[PATH + 8];
    strcat(strcpy(copy, file), "k");
    snprintf(log, sizeof log, "%s-wal", file);
    snprintf(log_copy, sizeof log_copy, "%s-wal", copy);
    copy_file(file, copy);
    copy_file(log, log_copy);
    return open_at(copy, at);
}

static selene_task_info *info_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    return info;
}

static void check_grid(selene_scheduler scheduler, const char *id, int64_t anchor, int64_t due) {
    selene_task_info *info = info_of(scheduler, id);
    CHECK_INT(anchor, info->anchor);
    CHECK_INT(due, info->earliest_begin);
    selene_free(info);
}

static selene_run begin_run(selene_scheduler scheduler, selene_cycle *cycle) {
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = 0;
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_cycle_begin(scheduler, &window, cycle));
    CHECK_OK(selene_cycle_next(*cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    return run.run;
}

static void run_once(selene_scheduler scheduler, int32_t outcome) {
    selene_cycle cycle = 0;
    CHECK_OK(selene_run_complete(begin_run(scheduler, &cycle), outcome));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static void register_hourly(selene_scheduler scheduler, int32_t existing) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = SELENE_TEXT("hourly");
    task.kind = SELENE_KIND_PROCESSING;
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.recurrence = SELENE_RECURRENCE_ANCHORED;
    task.period = SELENE_HOUR;
    task.existing = existing;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static selene_scheduler with_handler(selene_scheduler scheduler, const char *name) {
    CHECK_OK(selene_handler_register(scheduler, name, -1, NULL, NULL, NULL, NULL));
    return scheduler;
}

static void test_interrupted(void) {
    char file[PATH], copy[PATH + 8], again[PATH + 8], third[PATH + 8];
    selene_scheduler scheduler;
    selene_cycle cycle;
    strcpy(file, path("store"));
    scheduler = with_handler(open_at(file, START), "hourly");
    register_hourly(scheduler, SELENE_EXISTING_KEEP);
    check_grid(scheduler, "hourly", START, START);
    now = START + 10 * SELENE_MINUTE;
    begin_run(scheduler, &cycle);
    /* Killed in its first run, and in the second attempt of it. */
    scheduler = with_handler(open_killed(file, copy, START + 17 * SELENE_MINUTE), "hourly");
    check_grid(scheduler, "hourly", START, START + 17 * SELENE_MINUTE);
    now = START + 18 * SELENE_MINUTE;
    begin_run(scheduler, &cycle);
    scheduler = with_handler(open_killed(copy, again, START + 19 * SELENE_MINUTE), "hourly");
    check_grid(scheduler, "hourly", START, START + 20 * SELENE_MINUTE);
    /* Neither an update nor opening it again moves the grid. */
    register_hourly(scheduler, SELENE_EXISTING_UPDATE);
    scheduler = with_handler(open_killed(again, third, START + 20 * SELENE_MINUTE), "hourly");
    check_grid(scheduler, "hourly", START, START + 20 * SELENE_MINUTE);
    now = START + 25 * SELENE_MINUTE;
    run_once(scheduler, SELENE_OUTCOME_NEW_DATA);
    check_grid(scheduler, "hourly", START, START + SELENE_HOUR);
    /* A new one has a new grid. */
    register_hourly(scheduler, SELENE_EXISTING_REPLACE);
    check_grid(scheduler, "hourly", now, now);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

#define WRITTEN (INT64_C(1700007000) * S)
#define GRID (INT64_C(1700006400) * S)

static void test_older(void) {
    char file[PATH];
    selene_scheduler scheduler;
    selene_task_info *info;
    selene_scheduler_info counts = SELENE_INIT(selene_scheduler_info);
    selene_signal signal = SELENE_INIT(selene_signal);
    strcpy(file, path("store"));
    copy_file("Tests/vectors/schema2.store", file);
    scheduler = with_handler(open_at(file, WRITTEN + 7 * SELENE_MINUTE), "anchored");
    CHECK_OK(selene_scheduler_get(scheduler, &counts));
    CHECK_INT(4, counts.enqueued);
    CHECK_INT(2, counts.blocked);
    CHECK_INT(0, counts.running);
    CHECK_INT(1, counts.failed);

    info = info_of(scheduler, "standing");
    CHECK_INT(4, info->response_time_count);
    CHECK_INT(S, info->response_times[0]);
    CHECK_INT(3 * S, info->response_times[2]);
    CHECK_INT(2, info->tag_count);
    CHECK_TEXT("standing", info->id);
    selene_free(info);
    info = info_of(scheduler, "once");
    CHECK_INT(2, info->appended);
    selene_free(info);
    CHECK_OK(selene_signal_get(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, &signal));
    CHECK_INT(1, signal.value);
    check_grid(scheduler, "anchored-ran", GRID, GRID + SELENE_HOUR);

    /* It was interrupted: it backs off, and comes back to its grid. */
    check_grid(scheduler, "anchored", GRID, now);
    now += SELENE_MINUTE;
    run_once(scheduler, SELENE_OUTCOME_NEW_DATA);
    check_grid(scheduler, "anchored", GRID, GRID + SELENE_HOUR);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_at(file, now);
    check_grid(scheduler, "anchored", GRID, GRID + SELENE_HOUR);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Each field at its place: a number that were read for another would show. */
static void test_fields(void) {
    char file[PATH];
    selene_scheduler scheduler;
    selene_task_info *info;
    strcpy(file, path("store"));
    copy_file("Tests/vectors/schema2-fields.store", file);
    scheduler = open_at(file, WRITTEN);
    info = info_of(scheduler, "every field");
    CHECK_TEXT("another", info->handler);
    CHECK_INT(6, info->input.length);
    CHECK(memcmp(info->input.data, "in\0put", 6) == 0);
    CHECK_INT(2, info->tag_count);
    CHECK_TEXT("one", info->tags[0]);
    CHECK_TEXT("two", info->tags[1]);
    CHECK_INT(SELENE_KIND_PROCESSING, info->kind);
    CHECK_INT(SELENE_SCHEDULE_PERIODIC, info->schedule);
    CHECK_INT(5, info->priority);
    CHECK_INT(SELENE_EXISTING_REPLACE, info->existing);
    CHECK_INT(SELENE_RECURRENCE_ANCHORED, info->recurrence);
    CHECK_INT(SELENE_BACKOFF_LINEAR, info->backoff);
    CHECK_INT(17, info->response_window);
    CHECK_INT(4000000000, info->max_attempts);
    CHECK_INT(3, info->constraints);
    CHECK_INT(23 * S + 1, info->expected_response);
    CHECK_INT(29 * S + 2, info->initial_delay);
    CHECK_INT(SELENE_HOUR + 3, info->period);
    CHECK_INT(31 * S + 4, info->flex);
    CHECK_INT(37 * S + 5, info->backoff_delay);
    selene_free(info);
    info = info_of(scheduler, "plain");
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(SELENE_KIND_REFRESH, info->kind);
    CHECK_INT(SELENE_PRIORITY_NORMAL, info->priority);
    CHECK_INT(SELENE_EXISTING_UPDATE, info->existing);
    CHECK_INT(SELENE_BACKOFF_NONE, info->backoff);
    CHECK_INT(3, info->response_window);
    CHECK_INT(5 * S, info->expected_response); /* the default of then */
    CHECK_INT(30 * S, info->backoff_delay);
    CHECK_INT(WRITTEN, info->registered_at);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

#define KILLED_AT (INT64_C(1700000255) * S)

static void check_state(selene_scheduler scheduler, const char *id, int32_t state) {
    selene_task_info *info = info_of(scheduler, id);
    CHECK_INT(state, info->state);
    selene_free(info);
}

/** The conditions that a store of schema 7 has: which are defined, and what a task asks for. */
static void check_conditions(selene_scheduler scheduler) {
    selene_task_ids *names = NULL;
    int32_t state = -1;
    CHECK_OK(selene_condition_list(scheduler, &names));
    CHECK_INT(3, (int64_t)names->count);
    CHECK_TEXT("disk", names->ids[0]);
    CHECK_TEXT("unused", names->ids[1]);
    CHECK_TEXT("vpn", names->ids[2]);
    selene_free(names);
    CHECK_OK(selene_condition_get(scheduler, "vpn", -1, &state));
    CHECK_INT(SELENE_CONDITION_UNSATISFIED, state);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_condition_set(scheduler, "disk", -1, 1));
    CHECK_OK(selene_condition_set(scheduler, "vpn", -1, 1));
    CHECK_OK(selene_condition_missing(scheduler, "asks", -1, &names));
    CHECK_INT(1, (int64_t)names->count);
    CHECK_TEXT("disk", names->ids[0]);
    selene_free(names);
}

/** What a store of schema 6 or 7 has, as it is found a minute after its process was killed. */
static void check_work_model(selene_scheduler scheduler, int has_waits) {
    selene_scheduler_info counts = SELENE_INIT(selene_scheduler_info);
    selene_group_info group = SELENE_INIT(selene_group_info);
    selene_task_output *output = NULL;
    selene_waits *waits = NULL;
    const int64_t begun = INT64_C(1700000250) * S;
    selene_task_info *info = info_of(scheduler, "running");
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(1, info->attempts);
    CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
    selene_free(info);
    /* One run of 240 s, and one of 5 s until the store was last written. */
    CHECK_OK(selene_scheduler_get(scheduler, &counts));
    CHECK_INT(10 * SELENE_MINUTE - 245 * S, counts.expedited_left);
    CHECK_OK(selene_task_get_output(scheduler, "first", -1, &output));
    CHECK_TEXT("left", output->output);
    selene_free(output);
    info = info_of(scheduler, "fails");
    CHECK_TEXT("why", info->failure);
    selene_free(info);
    CHECK_OK(selene_group_get(scheduler, "uploads", -1, &group));
    CHECK_INT(2, group.limit);
    CHECK_OK(selene_group_get(scheduler, "paused", -1, &group));
    CHECK_INT(1, group.paused);
    info = info_of(scheduler, "grouped");
    CHECK_TEXT("paused", info->group);
    CHECK_INT(500, info->jitter);
    CHECK_INT(begun + 100 * S, info->anchor);
    CHECK_BETWEEN(begun + 100 * S, info->earliest_begin, begun + 150 * S);
    selene_free(info);
    info = info_of(scheduler, "last");
    CHECK_INT(SELENE_STATE_BLOCKED, info->state);
    CHECK_INT(2, info->after_count);
    CHECK_INT(3, info->waits_for);
    CHECK(info->flags & SELENE_TASK_AFTER_ANY_END);
    selene_free(info);
    info = info_of(scheduler, "paused");
    CHECK_INT(1, info->paused);
    CHECK_INT(1, (int64_t)info->appended);
    selene_free(info);
    info = info_of(scheduler, "daily");
    CHECK_INT(begun + SELENE_HOUR, info->earliest_begin);
    CHECK_INT(SELENE_RECURRENCE_CALENDAR, info->recurrence);
    selene_free(info);
    info = info_of(scheduler, "urgent");
    CHECK(info->flags & SELENE_TASK_EXPEDITED);
    selene_free(info);
    info = info_of(scheduler, "late");
    CHECK_INT(SELENE_HOUR, info->latest_begin);
    selene_free(info);
    check_state(scheduler, "end", SELENE_STATE_ENQUEUED);
    /* Logs of where the time went begin with schema 8: what was before is not known, what is since then is. */
    CHECK_OK(selene_task_waits(scheduler, "late", -1, &waits));
    CHECK_INT(SELENE_REASON_NOT_KNOWN, waits->changes[0].reason);
    CHECK_INT(begun, waits->changes[0].at);
    if (has_waits) CHECK_INT(KILLED_AT + SELENE_MINUTE, waits->changes[1].at);
    selene_free(waits);
}

static void test_work_model(void) {
    for (int schema = 6; schema <= 9; schema++) {
        char file[PATH], from[64];
        selene_pauses *pauses = NULL;
        strcpy(file, path("store"));
        snprintf(from, sizeof from, "Tests/vectors/schema%d.store", schema);
        copy_file(from, file);
        CHECK_OK(selene_store_check(file, -1, NULL));
        for (int life = 0; life < 2; life++) {
            selene_scheduler scheduler =
                with_handler(open_at(file, KILLED_AT + SELENE_MINUTE + life * S), "work");
            check_work_model(scheduler, life && schema < 8);
            if (schema >= 7) check_conditions(scheduler);
            if (schema >= 8) {
                /* Who had the run of a task was not stored then: it was interrupted, whoever had it. */
                selene_task_info *info = info_of(scheduler, "owned");
                CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
                CHECK_INT(1, info->attempts);
                CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
                selene_free(info);
                check_state(scheduler, "waits", SELENE_STATE_ENQUEUED);
            }
            /* Nothing was paused then, and can be from now on. */
            CHECK_OK(selene_pause_list(scheduler, &pauses));
            CHECK_INT(life, (int64_t)pauses->count);
            if (life) CHECK_INT(SELENE_NEVER, pauses->pauses[0].until);
            selene_free(pauses);
            CHECK_OK(selene_scheduler_pause(scheduler, SELENE_KIND_PROCESSING, NULL, 0,
                                            life ? 0 : SELENE_NEVER));
            CHECK_OK(selene_scheduler_close(scheduler, 0));
            CHECK_OK(selene_store_check(file, -1, NULL));
        }
        /* It goes on with all of it. */
        selene_scheduler scheduler = with_handler(open_at(file, KILLED_AT + SELENE_HOUR), "work");
        check_state(scheduler, "late", SELENE_STATE_FAILED);
        check_state(scheduler, "last", SELENE_STATE_BLOCKED);
        CHECK_OK(selene_task_cancel(scheduler, "grouped", -1, NULL));
        check_state(scheduler, "last", SELENE_STATE_HELD);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        CHECK(unlink(file) == 0);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("T3 D3 a task that is killed in its first run comes back to its grid",
             test_interrupted);
    run_test("D1 of a task of version 0.1.0 every field comes back", test_fields);
    run_test("D1 W2 W3 W4 W9 W10 stores of schema 6 to 9 open with groups, edges, quota and "
             "conditions",
             test_work_model);
    run_test("D1 a store of version 0.1.0 opens with all its tasks, and their grids", test_older);
    tools_end();
    return check_end();
}
