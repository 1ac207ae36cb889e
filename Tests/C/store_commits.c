/*
 * store_commits.c - how much is written for a change, a cycle and a batch, and that it is written (D2)
 *
 * Argument: the filter of check.h.
 */
#include "store_reopen.h"

#include <sqlite3.h>

#include <stdatomic.h>
#include <sys/resource.h>

/* ============================================================================
 *  HOW MUCH IS WRITTEN (D2)
 * ========================================================================= */

static void test_commits(void) {
    selene_scheduler scheduler;
    uint64_t before;
    selene_task task;
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    before = commits_of(scheduler);
    task = once_of("one");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_INT(before + 1, commits_of(scheduler));
    register_task(scheduler, task, SELENE_DISPOSITION_KEPT);
    CHECK_BETWEEN(before + 1, commits_of(scheduler), before + 2);
    before = commits_of(scheduler);
    task.kind = 99;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    CHECK_INT(before, commits_of(scheduler));
    CHECK_OK(selene_task_cancel(scheduler, "one", -1, NULL));
    CHECK_INT(before + 1, commits_of(scheduler));
    register_some(scheduler, 0, 50);
    before = commits_of(scheduler);
    CHECK_OK(selene_task_cancel_all(scheduler, NULL));
    CHECK_INT(before + 1, commits_of(scheduler));
    CHECK_OK(selene_scheduler_prune(scheduler, NULL));
    CHECK_INT(before + 2, commits_of(scheduler));
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK_BETWEEN(before + 2, commits_of(scheduler), before + 3);
    /* Looking costs nothing. */
    before = commits_of(scheduler);
    free(dump_all(scheduler));
    CHECK_INT(before, commits_of(scheduler));
    close_store(scheduler);
}

static void test_commits_of_cycle(void) {
    new_folder();
    for (int runs = 0; runs <= 20; runs += runs < 3 ? 1 : 17) {
        selene_scheduler scheduler;
        uint64_t before;
        char name[32];
        snprintf(name, sizeof name, "store%d", runs);
        scheduler = open_store(path(name));
        add_handler(scheduler, "work");
        for (int i = 0; i < runs; i++) {
            char id[16];
            selene_task task = task_of(id);
            snprintf(id, sizeof id, "%d", i);
            CHECK_OK(selene_task_register(scheduler, &task, NULL));
        }
        for (int round = 0; round < 3; round++) {
            clock_now += SELENE_HOUR;
            before = commits_of(scheduler);
            CHECK_INT(runs, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
            CHECK_BETWEEN(before + 1, commits_of(scheduler), before + (uint64_t)runs + 2);
        }
        printf("# a cycle of %d runs: %" PRIu64 " commits\n", runs, commits_of(scheduler) - before);
        close_store(scheduler);
    }
}

static void test_batch(void) {
    enum { COUNT = 10000 };
    static selene_task tasks[COUNT];
    static const selene_task *pointers[COUNT];
    static char ids[COUNT][16];
    static selene_status statuses[COUNT];
    static int32_t dispositions[COUNT];
    selene_scheduler scheduler;
    uint64_t before;
    char *dump;
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    for (int i = 0; i < COUNT; i++) {
        snprintf(ids[i], sizeof ids[i], "task.%d", i % 9000);
        tasks[i] = task_of(ids[i]);
        if (i % 2) tasks[i].schedule = SELENE_SCHEDULE_ONCE;
        if (i % 1000 == 500) tasks[i].priority = 6;
        if (i % 1000 == 501) tasks[i].id = (selene_text){"\xff", 1};
        pointers[i] = &tasks[i];
        dispositions[i] = -7;
    }
    before = commits_of(scheduler);
    CHECK_OK(selene_task_register_batch(scheduler, pointers, COUNT, statuses, dispositions));
    CHECK_INT(before + 1, commits_of(scheduler));
    for (int i = 0; i < COUNT; i++) {
        int refused = i % 1000 == 500 || i % 1000 == 501;
        CHECK_STATUS(refused ? SELENE_ERROR_INVALID_ARGUMENT : SELENE_OK, statuses[i]);
        CHECK_INT(refused    ? -7
                  : i < 9000 ? SELENE_DISPOSITION_ADDED
                  : i % 2    ? SELENE_DISPOSITION_KEPT
                             : SELENE_DISPOSITION_UPDATED,
                  dispositions[i]);
    }
    CHECK_INT(9000 - 18, count_of(scheduler));
    dump = dump_tasks(scheduler);
    scheduler = reopen(scheduler, path("store"));
    CHECK_DUMPS(dump, dump_tasks(scheduler));
    before = commits_of(scheduler);
    CHECK_OK(selene_task_register_batch(scheduler, pointers, 0, NULL, NULL));
    CHECK_OK(selene_task_register_batch(scheduler, NULL, 0, NULL, NULL));
    CHECK_INT(before, commits_of(scheduler));
    CHECK_OK(selene_task_register_batch(scheduler, pointers, 3, NULL, NULL));
    CHECK_INT(before + 1, commits_of(scheduler));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_task_register_batch(scheduler, pointers, 1000001, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_task_register_batch(scheduler, NULL, 1, NULL, NULL));
    close_store(scheduler);
}

/** A dump without the next wake-up, which a store that refuses puts off (C19). */
static char *without_wakeup(char *dump) {
    char *at = strstr(dump, "wakeup=");
    CHECK(at != NULL);
    for (at += strlen("wakeup="); *at >= '0' && *at <= '9'; at++)
        *at = '.';
    return dump;
}

/** The same in memory, where there is nothing to commit. */
static void test_batch_in_memory(void) {
    selene_scheduler scheduler = open_store(NULL);
    selene_task tasks[3] = {once_of("a"), once_of("b"), once_of("a")};
    const selene_task *pointers[3] = {&tasks[0], &tasks[1], &tasks[2]};
    selene_status statuses[3] = {7, 7, 7};
    int32_t dispositions[3] = {7, 7, 7};
    tasks[1].priority = 6;
    CHECK_OK(selene_task_register_batch(scheduler, pointers, 3, statuses, dispositions));
    CHECK_INT(SELENE_OK, statuses[0]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[1]);
    CHECK(strstr(selene_error_last()->message.data, "priority") != NULL);
    CHECK_INT(SELENE_OK, statuses[2]);
    CHECK_INT(SELENE_DISPOSITION_ADDED, dispositions[0]);
    CHECK_INT(7, dispositions[1]);
    CHECK_INT(SELENE_DISPOSITION_KEPT, dispositions[2]);
    close_store(scheduler);
}

/** When SQLite finds no memory a batch is refused whole, and the next one finds everything as it was. */
static void refuse_without_memory(int count, int64_t input_length, int rounds, int64_t step) {
    enum { MOST = 1000 };
    static const char input[10000];
    static selene_task tasks[MOST];
    static const selene_task *pointers[MOST];
    static char ids[MOST][16];
    selene_scheduler scheduler;
    int refused = 0, taken = 0, unknown = 0;
    char *after;
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    for (int round = 0; round < rounds; round++) {
        char *before = dump_all(scheduler);
        selene_status status;
        for (int i = 0; i < count; i++) {
            snprintf(ids[i], sizeof ids[i], "task.%d", i + round % 3 * count);
            tasks[i] = task_of(ids[i]);
            tasks[i].existing = SELENE_EXISTING_UPDATE;
            tasks[i].priority = 1 + round % 5;
            tasks[i].input = input;
            tasks[i].input_length = input_length + i % 7;
            pointers[i] = &tasks[i];
        }
        sqlite3_hard_heap_limit64(sqlite3_memory_used() + round * step);
        status = selene_task_register_batch(scheduler, pointers, (uint64_t)count, NULL, NULL);
        sqlite3_hard_heap_limit64(0);
        after = dump_all(scheduler);
        if (status == SELENE_OK) {
            taken++;
            free(before);
            free(after);
            continue;
        }
        CHECK_DUMPS(without_wakeup(before), without_wakeup(after));
        if (status == SELENE_ERROR_OUTCOME_UNKNOWN) {
            /* It ran out in the commit itself: the next life has all of it, or nothing. */
            CHECK_STATUS(SELENE_ERROR_OUTCOME_UNKNOWN, selene_scheduler_close(scheduler, 0));
            scheduler = open_store(path("store"));
            add_handler(scheduler, "work");
            CHECK_INT(0, (int64_t)count_of(scheduler) % count);
            unknown++;
        } else {
            CHECK_STATUS(SELENE_ERROR_STORE_IO, status);
            CHECK(strstr(selene_error_last()->message.data, "out of memory") != NULL);
            refused++;
        }
    }
    printf("# batches of %d tasks: %d refused, %d taken, %d unknown\n", count, refused, taken,
           unknown);
    CHECK(refused > 0 && taken > 0);
    after = dump_all(scheduler);
    scheduler = reopen(scheduler, path("store"));
    CHECK_DUMPS(after, dump_all(scheduler));
    close_store(scheduler);
}

static void test_no_memory(void) {
    refuse_without_memory(1, 9000, 40, 400);
    refuse_without_memory(2, 9000, 40, 600);
    refuse_without_memory(20, 3000, 30, 3000);
    refuse_without_memory(600, 50, 20, 10000);
}

static off_t size_of(const char *file) {
    struct stat found;
    CHECK(stat(file, &found) == 0);
    return found.st_size;
}

/** What is removed makes room for what comes; opening and closing costs nothing. */
static void test_size(void) {
    selene_options options;
    selene_scheduler scheduler;
    off_t after_first = 0;
    new_folder();
    options = store_options(path("store"));
    options.flags |= SELENE_OPTIONS_RELAXED;
    for (int round = 0; round < 60; round++) {
        scheduler = open_with(options);
        register_some(scheduler, 0, 50);
        CHECK_OK(selene_task_cancel_all(scheduler, NULL));
        CHECK_OK(selene_scheduler_prune(scheduler, NULL));
        close_store(scheduler);
        if (round == 4) after_first = size_of(path("store"));
    }
    CHECK(size_of(path("store")) <= after_first * 3 / 2);
}

/* ============================================================================
 *  LIBRARY THREADS
 * ========================================================================= */

static atomic_int worked;

static void work_a_little(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    check_sleep(MS);
    selene_run_complete(run, atomic_fetch_add(&worked, 1) % 3);
}

static void test_push(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    selene_window window = window_of(ANY_KIND, SELENE_HOUR);
    selene_report *report = NULL;
    char *before;
    new_folder();
    options.path = (selene_text){path("store"), -1};
    options.max_pending_refresh = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "work", -1, work_a_little, NULL, NULL, NULL));
    for (int i = 0; i < 60; i++) {
        char id[16];
        selene_task task = i % 2 ? once_of(id) : task_of(id);
        snprintf(id, sizeof id, "%d", i);
        task.expected_response = MS;
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
    window.lanes = 6;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(60, report->run_count);
    CHECK_INT(0, report->flags & SELENE_REPORT_NOT_STORED);
    selene_free(report);
    before = dump_tasks(scheduler);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_MINUTE));
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_DUMPS(before, dump_tasks(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_MINUTE));
}

static void work_on(selene_run run, const selene_run_info *info, void *context) {
    (void)run, (void)info;
    atomic_store((atomic_int *)context, 1);
}

static void note_flags(const selene_report *report, void *context) {
    CHECK_INT(1, report->stopped);
    atomic_store((atomic_int *)context, (int)report->flags);
}

/** A report that comes because of a close says whether the store has taken what it reports. */
static void test_close_refused(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_window window = window_of(ANY_KIND, SELENE_HOUR);
    struct rlimit before, none;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(0, getrlimit(RLIMIT_FSIZE, &before));
    none = before;
    none.rlim_cur = 0;
    for (int refuses = 0; refuses < 2; refuses++) {
        selene_scheduler scheduler = 0;
        selene_task task = once_of("one");
        atomic_int started = 0, flags = -1;
        selene_status status;
        new_folder();
        options.path = (selene_text){path("store"), -1};
        CHECK_OK(selene_scheduler_open(&options, &scheduler));
        CHECK_OK(
            selene_handler_register(scheduler, "work", -1, work_on, NULL, (void *)&started, NULL));
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        CHECK_OK(selene_cycle_run_async(scheduler, &window, note_flags, (void *)&flags, NULL, NULL,
                                        NULL));
        while (!atomic_load(&started))
            check_sleep(MS);
        if (refuses) CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &none));
        status = selene_scheduler_close(scheduler, SELENE_SECOND);
        CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &before));
        CHECK_INT(refuses, status != SELENE_OK);
        CHECK_INT(refuses ? SELENE_REPORT_NOT_STORED : 0, atomic_load(&flags));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("D2 a change costs one commit, a refusal and a look none", test_commits);
    run_test("D2 a cycle of k runs costs at most k + 2 commits", test_commits_of_cycle);
    run_test("D2 a batch costs one commit, and each is judged for itself", test_batch);
    run_test("T4 a batch in memory", test_batch_in_memory);
    run_test("D2 a batch that finds no memory is refused whole", test_no_memory);
    run_test("D1 a store does not grow by what was removed", test_size);
    run_test("C5 D2 what library threads did is stored", test_push);
    run_test("C11 D2 a report at close says when the store refused it", test_close_refused);
    tools_end();
    return check_end();
}
