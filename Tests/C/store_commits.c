/*
 * store_commits.c - how much is written for a change, a cycle and a batch, and that it is written (D2)
 *
 * Argument: the filter of check.h.
 */
#include "store_reopen.h"

#include <stdatomic.h>

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

/** The same in memory, where there is nothing to commit. */
static void test_batch_in_memory(void) {
    selene_scheduler scheduler = open_store(NULL);
    selene_task tasks[3] = {once_of("a"), once_of("b"), once_of("a")};
    const selene_task *pointers[3] = {&tasks[0], &tasks[1], &tasks[2]};
    selene_status statuses[3] = {7, 7, 7};
    int32_t dispositions[3] = {7, 7, 7};
    tasks[1].priority = 0;
    CHECK_OK(selene_task_register_batch(scheduler, pointers, 3, statuses, dispositions));
    CHECK_INT(SELENE_OK, statuses[0]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[1]);
    CHECK(strstr(selene_status_detail(), "priority") != NULL);
    CHECK_INT(SELENE_OK, statuses[2]);
    CHECK_INT(SELENE_DISPOSITION_ADDED, dispositions[0]);
    CHECK_INT(7, dispositions[1]);
    CHECK_INT(SELENE_DISPOSITION_KEPT, dispositions[2]);
    close_store(scheduler);
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
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    selene_window window = window_of(ANY_KIND, 20 * S);
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
    selene_report_destroy(report);
    before = dump_tasks(scheduler);
    CHECK_OK(selene_scheduler_close(scheduler, S));
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_DUMPS(before, dump_tasks(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("D2 a change costs one commit, a refusal and a look none", test_commits);
    run_test("D2 a cycle of k runs costs at most k + 2 commits", test_commits_of_cycle);
    run_test("D2 a batch costs one commit, and each is judged for itself", test_batch);
    run_test("T4 a batch in memory", test_batch_in_memory);
    run_test("D1 a store does not grow by what was removed", test_size);
    run_test("C5 D2 what library threads did is stored", test_push);
    tools_end();
    return check_end();
}
