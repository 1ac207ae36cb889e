/*
 * estimates.c - what is expected of tasks that do not say it: what their handler's runs took (R8)
 *
 * Argument: the filter of check.h.
 */
#include "store_reopen.h"

static int64_t run_takes;

static int32_t take_time(const selene_run_info *info, int64_t *out_takes) {
    (void)info;
    *out_takes = run_takes;
    return SELENE_OUTCOME_NEW_DATA;
}

/** Registers a once task, checks what is expected of it, and runs it in so long. */
static void play(selene_scheduler scheduler, selene_task task, int64_t expected, int64_t takes) {
    selene_explanation why = SELENE_INIT(selene_explanation);
    selene_task_info *info;
    register_task(scheduler, task, SELENE_DISPOSITION_ADDED);
    CHECK_OK(selene_task_explain(scheduler, task.id.data, task.id.length, &why));
    CHECK_INT(expected, why.estimate);
    info = info_of(scheduler, task.id.data);
    CHECK_INT(expected, info->estimate);
    CHECK_INT(task.expected_response == 0 ? -1 : task.expected_response, info->expected_response);
    selene_free(info);
    run_takes = takes;
    CHECK_INT(1, pull(scheduler, window_of(ANY_KIND, SELENE_HOUR), take_time));
}

static void test_again_and_again(void) {
    selene_scheduler scheduler;
    selene_task task = once_of("report");
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    play(scheduler, task, 5 * S, 2 * S);
    play(scheduler, task, 2 * S, 4 * S);
    play(scheduler, task, 3 * S, 6 * S);
    /* Of another id of the handler, the last three; and of a store that was closed. */
    task.id = SELENE_TEXT("other");
    play(scheduler, task, 4 * S, 8 * S);
    scheduler = reopen(scheduler, path("store"));
    play(scheduler, task, 6 * S, 10 * S);
    CHECK_OK(selene_scheduler_prune(scheduler, NULL));
    scheduler = reopen(scheduler, path("store"));
    task.response_window = 30;
    play(scheduler, task, 6 * S, 30 * S);
    task.response_window = SELENE_NONE;
    play(scheduler, task, 5 * S, 30 * S);
    task.response_window = 1;
    task.expected_response = 7 * S;
    play(scheduler, task, 7 * S, 12 * S);
    CHECK_OK(selene_scheduler_reset(scheduler));
    task.expected_response = 0;
    play(scheduler, task, 5 * S, S);
    close_store(scheduler);
}

/** What was expected of a task when it was registered stays, also across a reopening, until it is updated or starts. */
static void test_kept(void) {
    selene_scheduler scheduler;
    selene_task task = once_of("first"), waits = once_of("waits"), behind = once_of("waits");
    selene_task_info *info = NULL;
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    play(scheduler, task, 5 * S, 2 * S);
    waits.initial_delay = SELENE_DAY;
    behind.existing = SELENE_EXISTING_APPEND;
    register_task(scheduler, waits, SELENE_DISPOSITION_ADDED);
    play(scheduler, task, 2 * S, 4 * S);
    register_task(scheduler, behind, SELENE_DISPOSITION_APPENDED);
    play(scheduler, task, 3 * S, 12 * S);
    for (int i = 0; i < 2; i++) {
        info = info_of(scheduler, "waits");
        CHECK_INT(2 * S, info->estimate);
        selene_free(info);
        CHECK_OK(selene_task_get(scheduler, "waits", -1, 1, &info));
        CHECK_INT(3 * S, info->estimate);
        selene_free(info);
        scheduler = reopen(scheduler, path("store"));
    }
    waits.existing = SELENE_EXISTING_UPDATE;
    register_task(scheduler, waits, SELENE_DISPOSITION_UPDATED);
    info = info_of(scheduler, "waits");
    CHECK_INT(6 * S, info->estimate);
    selene_free(info);
    /* 4, 12 and 29 s: its own run counts for the one behind it, which starts with that. */
    clock_now += SELENE_DAY;
    run_takes = 29 * S;
    CHECK_INT(1, pull(scheduler, window_of(ANY_KIND, SELENE_HOUR), take_time));
    info = info_of(scheduler, "waits");
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(15 * S, info->estimate);
    selene_free(info);
    close_store(scheduler);
}

/** The times are the handler's, by its name, whoever registers it. */
static void test_by_name(void) {
    selene_scheduler scheduler;
    selene_task task = once_of("a");
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    add_handler(scheduler, "b");
    play(scheduler, task, 5 * S, 2 * S);
    task = once_of("b");
    task.handler = SELENE_TEXT("");
    play(scheduler, task, 5 * S, 20 * S);
    CHECK_OK(selene_handler_unregister(scheduler, "work", -1));
    CHECK_OK(selene_handler_unregister(scheduler, "b", -1));
    add_handler(scheduler, "b");
    add_handler(scheduler, "work");
    play(scheduler, task, 20 * S, 20 * S);
    play(scheduler, once_of("a"), 2 * S, 2 * S);
    close_store(scheduler);
}

static selene_scheduler updating;

/** The run takes so long, and meanwhile its task is given another handler. */
static int32_t take_time_updated(const selene_run_info *info, int64_t *out_takes) {
    selene_task task = once_of("a");
    task.handler = SELENE_TEXT("b");
    task.existing = SELENE_EXISTING_UPDATE;
    register_task(updating, task, SELENE_DISPOSITION_UPDATED);
    return take_time(info, out_takes);
}

static void test_updated(void) {
    selene_task task = once_of("c");
    new_folder();
    updating = open_store(path("store"));
    add_handler(updating, "work");
    add_handler(updating, "b");
    register_task(updating, once_of("a"), SELENE_DISPOSITION_ADDED);
    run_takes = 20 * S;
    CHECK_INT(1, pull(updating, window_of(ANY_KIND, SELENE_HOUR), take_time_updated));
    task.handler = SELENE_TEXT("b");
    play(updating, task, 5 * S, 2 * S);
    play(updating, once_of("d"), 20 * S, 2 * S);
    close_store(updating);
}

/** Starts runs in eight lanes until none fits, then stops them; returns their number. */
static int begin_all(selene_scheduler scheduler, uint32_t flags) {
    selene_window window = window_of(ANY_KIND, 4 * S);
    selene_cycle cycle = 0;
    selene_run runs[8];
    int count = 0;
    window.lanes = 8;
    window.reserve = SELENE_NONE;
    window.flags = flags;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    for (;;) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t step = -1;
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        if (step != SELENE_STEP_RUN) break;
        CHECK_INT(5 * S, info.estimate);
        runs[count++] = info.run;
    }
    CHECK_OK(selene_cycle_end(cycle, NULL));
    for (int i = 0; i < count; i++)
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(runs[i], SELENE_OUTCOME_FAILED));
    return count;
}

/** The planned 5 s keep no task out of a window, unless its fit is strict; 5 s that were measured do (V17). */
static void test_nobody_knows(void) {
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    selene_explanation why = SELENE_INIT(selene_explanation);
    selene_scheduler scheduler;
    selene_plan *plan = NULL;
    selene_window window = window_of(ANY_KIND, 12 * S);
    selene_task known = once_of("known");
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    for (int i = 0; i < 8; i++)
        register_task(scheduler, once_of(names[i]), SELENE_DISPOSITION_ADDED);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(0, begin_all(scheduler, SELENE_WINDOW_STRICT_FIT));
        CHECK_OK(selene_task_explain(scheduler, "3", -1, &why));
        CHECK_INT(SELENE_REASON_DID_NOT_FIT, why.reasons[0].reason);
        CHECK_INT(8, begin_all(scheduler, 0));
        scheduler = reopen(scheduler, path("store"));
        clock_now += SELENE_HOUR;
    }
    /* Each is planned with 5 s on the one lane; the third starts although it would end too late. */
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(3, plan->run_count);
    CHECK_INT(10 * S, plan->runs[2].starts_at - plan->runs[0].starts_at);
    selene_free(plan);

    run_takes = 5 * S;
    window = window_of(ANY_KIND, SELENE_HOUR);
    CHECK_INT(8, pull(scheduler, window, take_time));
    for (int i = 0; i < 8; i++)
        register_task(scheduler, once_of(names[i]), SELENE_DISPOSITION_ADDED);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(1, begin_all(scheduler, 0));
        scheduler = reopen(scheduler, path("store"));
        clock_now += SELENE_HOUR;
    }
    known.expected_response = 5 * S;
    known.handler = SELENE_TEXT("other");
    add_handler(scheduler, "other");
    register_task(scheduler, known, SELENE_DISPOSITION_ADDED);
    CHECK_INT(1, begin_all(scheduler, 0));
    close_store(scheduler);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("R8 a once task that is registered again and again is planned by what it took",
             test_again_and_again);
    run_test("R8 what is expected of a task does not move while it waits, and is stored",
             test_kept);
    run_test("R8 a handler's times are kept by its name", test_by_name);
    run_test("R8 what a run took is its own handler's, also after an update", test_updated);
    run_test("V17 a task of unknown duration fits into every window", test_nobody_knows);
    return check_end();
}
