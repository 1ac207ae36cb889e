/*
 * store_lives.c - what goes on from one life of a store to the next (T3, P4), and what becomes of runs that were in
 * flight when it ended (D3)
 *
 * Argument: the filter of check.h.
 */
#include "store_reopen.h"

#include <sqlite3.h>
#include <sys/resource.h>

/* ============================================================================
 *  FROM ONE LIFE TO THE NEXT
 * ========================================================================= */

static uint64_t sequence_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = info_of(scheduler, id);
    uint64_t sequence = info->sequence;
    selene_free(info);
    return sequence;
}

static void test_sequence(void) {
    selene_scheduler scheduler;
    selene_task task;
    uint64_t last;
    new_folder();
    scheduler = open_store(path("store"));
    for (int i = 0; i < 3; i++) {
        task = once_of(i == 0 ? "a" : i == 1 ? "b" : "newest");
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
    last = sequence_of(scheduler, "newest");
    CHECK_OK(selene_task_cancel(scheduler, "newest", -1, NULL));
    CHECK_OK(selene_scheduler_prune(scheduler, NULL));
    scheduler = reopen(scheduler, path("store"));
    task = once_of("newer");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_INT(last + 1, sequence_of(scheduler, "newer"));
    CHECK_OK(selene_scheduler_reset(scheduler));
    scheduler = reopen(scheduler, path("store"));
    task = once_of("a");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_INT(last + 2, sequence_of(scheduler, "a"));
    close_store(scheduler);
}

static uint64_t life_of(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info.life;
}

static selene_run handed_run;

static void begin_and_tell(int descriptor) {
    selene_scheduler scheduler = open_store(path("store"));
    selene_task task = task_of("one");
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_cycle cycle = 0;
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step;
    uint64_t told[2];
    add_handler(scheduler, "work");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    told[0] = run.run;
    told[1] = life_of(scheduler);
    CHECK(write(descriptor, told, sizeof told) == sizeof told);
}

static int told[2];

static void begin_and_die(void) {
    begin_and_tell(told[1]);
    die();
}

static void test_lives(void) {
    selene_scheduler scheduler;
    uint64_t first[2], life;
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_cycle cycle = 0;
    int32_t step, reason;
    new_folder();
    CHECK(pipe(told) == 0);
    CHECK_INT(KILLED, in_child(begin_and_die));
    CHECK(read(told[0], first, sizeof first) == sizeof first);
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    life = life_of(scheduler);
    CHECK(life > first[1]);
    /* The token of a process that is gone. */
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(first[0], SELENE_OUTCOME_NEW_DATA));
    clock_now += SELENE_HOUR;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK(run.run != first[0]);
    handed_run = run.run;
    scheduler = reopen(scheduler, path("store"));
    CHECK(life_of(scheduler) > life);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(handed_run, SELENE_OUTCOME_FAILED));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_stopping(handed_run, &reason));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(first[0], SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    {
        selene_task_info *info = info_of(scheduler, "one");
        CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
        CHECK_INT(1, info->attempts);
        selene_free(info);
    }
    close_store(scheduler);
}

/** Schedulers in memory come and go; a store's lives are not counted with them. */
static void test_lives_in_memory(void) {
    selene_scheduler scheduler;
    uint64_t last = 0;
    new_folder();
    for (int i = 0; i < 1000; i++) {
        scheduler = open_store(NULL);
        CHECK(life_of(scheduler) > last);
        last = life_of(scheduler);
        close_store(scheduler);
    }
    scheduler = open_store(path("store"));
    CHECK_INT(1, life_of(scheduler));
    scheduler = reopen(scheduler, path("store"));
    CHECK_INT(2, life_of(scheduler));
    close_store(scheduler);
}

static void add_word(uint64_t *sum, int64_t word) {
    *sum = (*sum ^ (uint64_t)word) * UINT64_C(0x9E3779B97F4A7C15);
    *sum ^= *sum >> 32;
}

/** Writes the number of the last life into a closed store, with the checksum that belongs to it. */
static void set_life(const char *file, int64_t life) {
    sqlite3 *database;
    sqlite3_stmt *row;
    uint64_t sum = 0x53656C6E65;
    CHECK_INT(SQLITE_OK, sqlite3_open(file, &database));
    CHECK_INT(SQLITE_OK, sqlite3_prepare_v2(database,
                                            "SELECT life, last_sequence, generator, last_seen,"
                                            " last_refresh, last_processing FROM scheduler",
                                            -1, &row, NULL));
    CHECK_INT(SQLITE_ROW, sqlite3_step(row));
    for (int column = 0; column < 6; column++) {
        if (column > 3) add_word(&sum, sqlite3_column_type(row, column) != SQLITE_NULL);
        add_word(&sum, column == 0 ? life : sqlite3_column_int64(row, column));
    }
    sqlite3_finalize(row);
    CHECK_INT(SQLITE_OK,
              sqlite3_prepare_v2(database, "UPDATE scheduler SET life = ?1, checksum = ?2", -1,
                                 &row, NULL));
    sqlite3_bind_int64(row, 1, life);
    sqlite3_bind_int64(row, 2, (int64_t)sum);
    CHECK_INT(SQLITE_DONE, sqlite3_step(row));
    sqlite3_finalize(row);
    sqlite3_close(database);
}

/** Runs the one task of a scheduler up to its outcome; the token. */
static selene_run run_one(selene_scheduler scheduler) {
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    int32_t step, reason;
    clock_now += SELENE_HOUR;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_stopping(run.run, &reason));
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    return run.run;
}

static int64_t stored_life;

static void work_for_some_lives(void) {
    selene_scheduler scheduler = open_store(path("store")), other;
    selene_run before = 0;
    CHECK_INT(stored_life + 1, life_of(scheduler));
    add_handler(scheduler, "work");
    for (int64_t i = 1; i <= 12; i++) {
        selene_run now;
        now = run_one(scheduler);
        CHECK(now != before && now >> 63 == 0);
        if (before)
            CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                         selene_run_complete(before, SELENE_OUTCOME_FAILED));
        before = now;
        scheduler = reopen(scheduler, path("store"));
        CHECK_INT(stored_life + 1 + i, life_of(scheduler));
    }
    /* Neither a scheduler in memory nor another store in this process is worse off. */
    other = open_store(NULL);
    close_store(other);
    other = open_store(path("other"));
    add_handler(other, "work");
    CHECK(run_one(other) != run_one(scheduler));
    close_store(other);
    close_store(scheduler);
}

/** However often a store was opened, it can be opened again. */
static void test_lives_do_not_wear_out(void) {
    static const int64_t lives[] = {(1 << 24) - 6, (1 << 25) - 8, INT64_C(1) << 40, INT64_MAX - 20};
    selene_scheduler scheduler;
    selene_task task = task_of("one");
    new_folder();
    scheduler = open_store(path("store"));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    close_store(scheduler);
    scheduler = open_store(path("other"));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    close_store(scheduler);
    for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
        stored_life = lives[i];
        set_life(path("store"), stored_life);
        CHECK_INT(0, in_child(work_for_some_lives));
        CHECK_OK(selene_store_check(path("store"), -1, NULL));
    }
}

/** Lives of two stores and of schedulers in memory do not meet: no token is given out twice. */
static void test_lives_of_two(void) {
    selene_run seen[40];
    int count = 0;
    new_folder();
    for (int round = 0; round < 10; round++) {
        for (int which = 0; which < 4; which++) {
            selene_scheduler scheduler = open_store(which == 0   ? path("a")
                                                    : which == 1 ? path("b")
                                                    : which == 2 ? path("c")
                                                                 : NULL);
            selene_task task = task_of("one");
            selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
            selene_run_info run = SELENE_INIT(selene_run_info);
            selene_cycle cycle = 0;
            int32_t step;
            if (which == 2 && round % 3) {
                close_store(scheduler);
                continue;
            }
            clock_now += SELENE_HOUR;
            add_handler(scheduler, "work");
            CHECK_OK(selene_task_register(scheduler, &task, NULL));
            CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
            CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
            CHECK_INT(SELENE_STEP_RUN, step);
            for (int i = 0; i < count; i++)
                CHECK(seen[i] != run.run);
            seen[count++] = run.run;
            for (int i = 0; i + 1 < count; i++)
                CHECK(selene_run_complete(seen[i], SELENE_OUTCOME_FAILED) != SELENE_OK);
            CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
            close_store(scheduler);
        }
    }
}

static void begin_empty_and_die(void) {
    selene_options options = store_options(path("store"));
    selene_window window = window_of(SELENE_KIND_REFRESH, SELENE_MINUTE);
    selene_cycle cycle = 0;
    options.minimum_interval_refresh = SELENE_HOUR;
    CHECK_OK(selene_cycle_begin(open_with(options), &window, &cycle));
    die();
}

static void test_pace(void) {
    selene_options options;
    selene_scheduler scheduler;
    selene_window refresh = window_of(SELENE_KIND_REFRESH, SELENE_MINUTE);
    selene_window processing = window_of(SELENE_KIND_PROCESSING, SELENE_MINUTE);
    selene_cycle cycle = 0;
    selene_task task = task_of("one");
    int64_t at = 0, begun;
    new_folder();
    options = store_options(path("store"));
    options.minimum_interval_refresh = SELENE_HOUR;
    options.minimum_interval_processing = SELENE_MINUTE;
    scheduler = open_with(options);
    add_handler(scheduler, "work");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    begun = clock_now;
    CHECK_INT(1, pull(scheduler, refresh, all_new_data));
    clock_now += SELENE_MINUTE;
    close_store(scheduler);
    scheduler = open_with(options);
    add_handler(scheduler, "work");
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &refresh, &cycle));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(begun + SELENE_HOUR, at);
    CHECK_INT(0, pull(scheduler, processing, all_new_data));
    close_store(scheduler);
    scheduler = open_with(options);
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &processing, &cycle));
    clock_now = begun + SELENE_HOUR - 1;
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &refresh, &cycle));
    clock_now = begun + SELENE_HOUR;
    close_store(scheduler);

    /* A begin that was answered is stored, also if its process is gone a moment later. */
    CHECK_INT(KILLED, in_child(begin_empty_and_die));
    scheduler = open_with(options);
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &refresh, &cycle));
    clock_now += SELENE_HOUR;
    CHECK_OK(selene_cycle_begin(scheduler, &refresh, &cycle));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_store(scheduler);
}

/** Without a minimum interval a standing task asks for 15 min after the last begin, restart or not (C16). */
static void test_wakeup(void) {
    selene_scheduler scheduler;
    selene_task task = task_of("one");
    int64_t at = 0, begun;
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    begun = clock_now;
    CHECK_INT(1, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
    scheduler = reopen(scheduler, path("store"));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(begun + 15 * SELENE_MINUTE, at);
    close_store(scheduler);
}

static void test_closed_while_running(void) {
    selene_scheduler scheduler;
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    selene_task_info *before, *after;
    selene_task task = once_of("one");
    int32_t step;
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    pull(scheduler, window, all_fail);
    clock_now += SELENE_MINUTE;
    before = info_of(scheduler, "one");
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    clock_now += S;
    scheduler = reopen(scheduler, path("store"));
    after = info_of(scheduler, "one");
    CHECK_INT(SELENE_STATE_ENQUEUED, after->state);
    CHECK_INT(before->attempts, after->attempts);
    CHECK_INT(before->last_run, after->last_run);
    CHECK_INT(before->earliest_begin, after->earliest_begin);
    CHECK_INT(before->response_time_count, after->response_time_count);
    CHECK_INT(SELENE_STOP_SHUTDOWN, after->stop_reason);
    selene_free(before);
    selene_free(after);
    CHECK_INT(1, pull(scheduler, window, all_new_data));
    close_store(scheduler);
}

/* ============================================================================
 *  INTERRUPTED (D3)
 * ========================================================================= */

static void die_in_handler(selene_run run, const selene_run_info *info, void *context) {
    (void)run, (void)info, (void)context;
    abort();
}

/** What the host does that is killed by its task again and again. */
static void host_that_dies(void) {
    const struct rlimit no_core = {0, 0};
    selene_scheduler scheduler = open_store(path("store"));
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    setrlimit(RLIMIT_CORE, &no_core);
    CHECK_OK(selene_handler_register(scheduler, "work", -1, die_in_handler, NULL, NULL, NULL));
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    _exit(33); /* nothing ran */
}

struct crashes {
    selene_task task;
    int count;
    /** ns after the open that found it, each time; −1: the period; −2: it has failed. */
    int64_t delays[14];
};

static void play_crashes(struct crashes crashes) {
    selene_scheduler scheduler;
    const char *id = crashes.task.id.data;
    clock_now = START;
    new_folder();
    scheduler = open_store(path("store"));
    CHECK_OK(selene_task_register(scheduler, &crashes.task, NULL));
    close_store(scheduler);
    for (int i = 0; i < crashes.count; i++) {
        const struct noted *event;
        selene_task_info *info;
        int64_t delay = crashes.delays[i];
        uint32_t attempts = (uint32_t)i + 1;
        CHECK_INT(128 + SIGABRT, in_child(host_that_dies));
        clock_now += 5 * S;
        scheduler = open_store(path("store"));
        observe(scheduler);
        info = info_of(scheduler, id);
        const int has_failed = delay == -2;
        CHECK_INT(has_failed ? SELENE_STATE_FAILED : SELENE_STATE_ENQUEUED, info->state);
        if (has_failed) delay = 0;
        if (delay == -1) {
            delay = crashes.task.period;
            attempts = 0;
        }
        CHECK_INT(attempts, info->attempts);
        CHECK_INT(clock_now, info->last_run);
        CHECK_INT(0, info->response_time_count);
        CHECK_INT(SELENE_OUTCOME_FAILED, info->last_outcome);
        CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
        if (!has_failed) CHECK_INT(clock_now + delay, info->earliest_begin);
        event = event_of(SELENE_EVENT_INTERRUPTED, id);
        CHECK(event != NULL);
        CHECK_INT(1, events_of(SELENE_EVENT_INTERRUPTED));
        CHECK_INT(info->state, event->state);
        CHECK_INT(info->attempts, event->attempts);
        CHECK_INT(clock_now, event->time);
        add_handler(scheduler, "work");
        if (delay) {
            const selene_reason *reason = reason_of(scheduler, id, SELENE_REASON_INTERRUPTED);
            if (attempts) {
                CHECK(reason != NULL);
                CHECK_INT(clock_now + delay, reason->may_change_at);
            }
            CHECK_INT(0, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
        }
        selene_free(info);
        /* Opening once more changes nothing. */
        {
            char *before = dump_tasks(scheduler);
            scheduler = reopen(scheduler, path("store"));
            CHECK_DUMPS(before, dump_tasks(scheduler));
            observe(scheduler);
            CHECK_INT(0, events_of(SELENE_EVENT_INTERRUPTED));
            if (attempts && delay)
                CHECK(reason_of(scheduler, id, SELENE_REASON_INTERRUPTED) != NULL);
        }
        clock_now += delay;
        if (delay) CHECK(reason_of(scheduler, id, SELENE_REASON_INTERRUPTED) == NULL);
        close_store(scheduler);
    }
}

static void test_crash_once(void) {
    struct crashes crashes = {once_of("once"), 5, {0, 60 * S, 120 * S, 240 * S, -2}};
    crashes.task.max_attempts = 5;
    play_crashes(crashes);
}

static void test_crash_standing(void) {
    struct crashes crashes = {task_of("standing"), 12, {0}};
    for (int i = 0; i < 12; i++)
        crashes.delays[i] = i == 0                                     ? 0
                            : (INT64_C(15) << i) * S < 5 * SELENE_HOUR ? (INT64_C(15) << i) * S
                                                                       : 5 * SELENE_HOUR;
    crashes.task.max_attempts = 2; /* ignored */
    play_crashes(crashes);
}

static void test_crash_linear(void) {
    struct crashes crashes = {
        once_of("linear"), 7, {0, 200 * S, 300 * S, 400 * S, 500 * S, 600 * S, 960 * S}};
    crashes.task.backoff = SELENE_BACKOFF_LINEAR;
    crashes.task.backoff_delay = 100 * S;
    play_crashes(crashes);
}

static void test_crash_short(void) {
    struct crashes crashes = {once_of("short"), 4, {0, 30 * S, 60 * S, 120 * S}};
    crashes.task.backoff_delay = 10 * S;
    play_crashes(crashes);
}

static void test_crash_long(void) {
    struct crashes crashes = {once_of("long"), 3, {0, 1200 * S, 2400 * S}};
    crashes.task.backoff_delay = 600 * S;
    play_crashes(crashes);
}

static void test_crash_periodic(void) {
    struct crashes crashes = {task_of("periodic"), 4, {0, 60 * S, -1, 0}};
    crashes.task.schedule = SELENE_SCHEDULE_PERIODIC;
    crashes.task.period = 2 * SELENE_HOUR;
    crashes.task.max_attempts = 3;
    crashes.count = 3;
    play_crashes(crashes);
}

static void test_crash_chain(void) {
    selene_scheduler scheduler;
    selene_task task = once_of("chain");
    new_folder();
    scheduler = open_store(path("store"));
    task.max_attempts = 1;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task.existing = SELENE_EXISTING_APPEND;
    register_task(scheduler, task, SELENE_DISPOSITION_APPENDED);
    task.existing = SELENE_EXISTING_APPEND_OR_REPLACE;
    task.priority = 5;
    register_task(scheduler, task, SELENE_DISPOSITION_APPENDED);
    close_store(scheduler);
    CHECK_INT(128 + SIGABRT, in_child(host_that_dies));
    clock_now += S;
    scheduler = open_store(path("store"));
    {
        selene_task_info *info = info_of(scheduler, "chain");
        CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
        CHECK_INT(5, info->priority);
        CHECK_INT(0, info->attempts);
        CHECK_INT(clock_now, info->registered_at);
        CHECK_INT(0, info->appended);
        selene_free(info);
    }
    scheduler = reopen(scheduler, path("store"));
    check_state(scheduler, "chain", SELENE_STATE_ENQUEUED);
    close_store(scheduler);
}

static void begin_three_and_die(void) {
    selene_scheduler scheduler = open_store(path("store"));
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    int32_t step;
    add_handler(scheduler, "work");
    window.lanes = 4;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
    }
    die();
}

static void test_several_interrupted(void) {
    static const char *const ids[] = {"a", "b", "c", "d"};
    selene_scheduler scheduler;
    new_folder();
    scheduler = open_store(path("store"));
    for (int i = 0; i < 4; i++) {
        selene_task task = once_of(ids[i]);
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
    close_store(scheduler);
    CHECK_INT(KILLED, in_child(begin_three_and_die));
    scheduler = open_store(path("store"));
    observe(scheduler);
    CHECK_INT(3, events_of(SELENE_EVENT_INTERRUPTED));
    CHECK(event_of(SELENE_EVENT_INTERRUPTED, "d") == NULL);
    add_handler(scheduler, "work");
    /* Dying together cost none of them an attempt, and none a window (V7). */
    CHECK_INT(4, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
    for (int i = 0; i < 4; i++) {
        selene_task_info *info = info_of(scheduler, ids[i]);
        CHECK_INT(SELENE_STATE_SUCCEEDED, info->state);
        CHECK_INT(1, info->attempts);
        CHECK_INT(0, info->quarantined);
        selene_free(info);
    }
    /* A second observer is not told again. */
    observe(scheduler);
    CHECK_INT(0, events_of(SELENE_EVENT_INTERRUPTED));
    close_store(scheduler);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("T3 no sequence is used again", test_sequence);
    run_test("P4 C6 the life grows, and tokens of an earlier one are stale", test_lives);
    run_test("P4 no token is given out twice, whatever is opened", test_lives_of_two);
    run_test("P4 lives in memory are not counted with a store's", test_lives_in_memory);
    run_test("P4 lives do not wear out", test_lives_do_not_wear_out);
    run_test("C13 the pace of a kind goes on", test_pace);
    run_test("C16 so does the next wake-up", test_wakeup);
    run_test("C8 a task that ran at close is enqueued as before", test_closed_while_running);
    run_test("D3 a once task that kills its host waits longer and longer, and fails",
             test_crash_once);
    run_test("D3 a standing one waits up to the maximum backoff", test_crash_standing);
    run_test("D3 a linear backoff stands where it is the longer", test_crash_linear);
    run_test("D3 a shorter backoff does not shorten it", test_crash_short);
    run_test("D3 a longer backoff stands", test_crash_long);
    run_test("D3 a periodic one goes on with its next period", test_crash_periodic);
    run_test("D3 T5 a successor follows one that was interrupted for good", test_crash_chain);
    run_test("D3 C18 all that were running are interrupted, and told once",
             test_several_interrupted);
    tools_end();
    return check_end();
}
