/*
 * store_reopen.c - what comes back when a store is opened again, and that it behaves as one in memory (D1)
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_SEED, the seed of the twins (1), SELENE_TEST_TWINS, how
 * many pairs of them (12).
 */
#include "store_reopen.h"

/* ============================================================================
 *  THE RECORDS
 * ========================================================================= */

static void test_every_field(void) {
    selene_scheduler scheduler;
    new_folder();
    scheduler = open_store(path("store"));
    fill(scheduler, 200);
    for (int i = 0; i < 3; i++) {
        char *before = dump_all(scheduler);
        scheduler = reopen(scheduler, path("store"));
        CHECK_DUMPS(before, dump_all(scheduler));
        pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), some_outcome);
        register_some(scheduler, 200 + 10 * i, 10);
    }
    close_store(scheduler);
}

static void test_extremes(void) {
    static char longest[256], input[1 << 20];
    selene_options options = store_options(NULL);
    selene_scheduler scheduler;
    selene_task task = task_of(longest);
    selene_text tags[16];
    static char tag_texts[16][256];
    char *before;
    new_folder();
    memset(longest, 'x', 255);
    for (int i = 0; i < 16; i++) {
        memset(tag_texts[i], 'a' + i, 255);
        tags[i] = (selene_text){tag_texts[i], 255};
    }
    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (char)(i * 31);
    options.path = (selene_text){path("store"), -1};
    options.max_input_size = sizeof input;
    options.maximum_backoff = 3650 * SELENE_DAY;
    scheduler = open_with(options);
    task.handler = (selene_text){longest, -1};
    task.tags = tags;
    task.tag_count = 16;
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = 3650 * SELENE_DAY;
    task.flex = 3650 * SELENE_DAY;
    task.initial_delay = 3650 * SELENE_DAY;
    task.expected_response = SELENE_DAY;
    task.max_attempts = UINT32_MAX;
    task.response_window = 30;
    task.backoff_delay = 3650 * SELENE_DAY;
    task.constraints = BOTH;
    task.input = input;
    task.input_length = sizeof input;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task = task_of("i");
    task.handler = (selene_text){NULL, 0};
    task.expected_response = SELENE_NONE;
    task.response_window = SELENE_NONE;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task = task_of("\xF0\x9F\x8C\x99\x01\x7F");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    before = dump_all(scheduler);
    close_store(scheduler);
    scheduler = open_with(options);
    CHECK_DUMPS(before, dump_all(scheduler));
    close_store(scheduler);
    /* A smaller limit for inputs leaves stored ones as they are. */
    options.max_input_size = 1;
    scheduler = open_with(options);
    before = dump_all(scheduler);
    close_store(scheduler);
    scheduler = open_with(options);
    CHECK_DUMPS(before, dump_all(scheduler));
    close_store(scheduler);
}

static void test_thirty_times(void) {
    selene_scheduler scheduler;
    selene_task task = task_of("often");
    char *before;
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    task.response_window = 30;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    for (int i = 0; i < 47; i++) {
        CHECK_INT(1, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), some_outcome));
        clock_now += SELENE_HOUR;
        if (i % 10 == 0) scheduler = reopen(scheduler, path("store"));
    }
    before = dump_all(scheduler);
    CHECK(strstr(before, "times=30,") != NULL);
    scheduler = reopen(scheduler, path("store"));
    CHECK_DUMPS(before, dump_all(scheduler));
    close_store(scheduler);
}

static void test_chain(void) {
    selene_scheduler scheduler;
    selene_task task = once_of("chain");
    char input[16];
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    task.existing = SELENE_EXISTING_APPEND;
    task.input = input;
    for (int i = 0; i < 30; i++) {
        task.input_length = snprintf(input, sizeof input, "step %d", i);
        task.priority = 1 + i * 3 % 5;
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        if (i % 7 == 3) scheduler = reopen(scheduler, path("store"));
    }
    for (int i = 0; i < 30; i++) {
        selene_task_info *info = info_of(scheduler, "chain");
        snprintf(input, sizeof input, "step %d", i);
        CHECK_TEXT(input, info->input);
        CHECK_INT(29 - i, info->appended);
        CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
        selene_free(info);
        CHECK_INT(1, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
        if (i % 3) scheduler = reopen(scheduler, path("store"));
        if (i == 15) {
            char *before = dump_all(scheduler);
            scheduler = reopen(scheduler, path("store"));
            CHECK_DUMPS(before, dump_all(scheduler));
        }
    }
    check_state(scheduler, "chain", SELENE_STATE_SUCCEEDED);
    close_store(scheduler);
}

static int32_t all_abandon(const selene_run_info *info, int64_t *out_takes) {
    (void)info;
    *out_takes = S;
    return SELENE_OUTCOME_ABANDONED;
}

static void test_chain_after_failure(void) {
    selene_scheduler scheduler;
    selene_task task = once_of("chain");
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task.existing = SELENE_EXISTING_APPEND;
    register_task(scheduler, task, SELENE_DISPOSITION_APPENDED);
    task.existing = SELENE_EXISTING_APPEND_OR_REPLACE;
    task.priority = 5;
    register_task(scheduler, task, SELENE_DISPOSITION_APPENDED);
    scheduler = reopen(scheduler, path("store"));
    pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_abandon);
    /* The second is born failed, the third starts all the same. */
    check_state(scheduler, "chain", SELENE_STATE_ENQUEUED);
    scheduler = reopen(scheduler, path("store"));
    {
        selene_task_info *info = info_of(scheduler, "chain");
        CHECK_INT(5, info->priority);
        CHECK_INT(0, info->appended);
        selene_free(info);
    }
    CHECK_INT(1, count_of(scheduler));
    pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_abandon);
    task.existing = SELENE_EXISTING_APPEND;
    scheduler = reopen(scheduler, path("store"));
    register_task(scheduler, task, SELENE_DISPOSITION_ADDED);
    check_state(scheduler, "chain", SELENE_STATE_FAILED);
    scheduler = reopen(scheduler, path("store"));
    check_state(scheduler, "chain", SELENE_STATE_FAILED);
    close_store(scheduler);
}

static void test_retention(void) {
    selene_scheduler scheduler;
    selene_task task = once_of("old");
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_task_cancel(scheduler, "old", -1, NULL));
    clock_now += SELENE_HOUR;
    task = once_of("young");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_task_cancel(scheduler, "young", -1, NULL));
    clock_now += SELENE_DAY - SELENE_HOUR - S;
    scheduler = reopen(scheduler, path("store"));
    check_state(scheduler, "old", SELENE_STATE_CANCELLED);
    check_state(scheduler, "young", SELENE_STATE_CANCELLED);
    clock_now += 2 * S;
    scheduler = reopen(scheduler, path("store"));
    CHECK_INT(1, count_of(scheduler));
    check_state(scheduler, "young", SELENE_STATE_CANCELLED);
    scheduler = reopen(scheduler, path("store"));
    CHECK_INT(1, count_of(scheduler));
    close_store(scheduler);
}

static void test_prune_and_reset(void) {
    selene_scheduler scheduler;
    uint64_t count = 0;
    char *before;
    new_folder();
    scheduler = open_store(path("store"));
    fill(scheduler, 100);
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK(count > 0);
    before = dump_all(scheduler);
    scheduler = reopen(scheduler, path("store"));
    CHECK_DUMPS(before, dump_all(scheduler));
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK_INT(0, count_of(scheduler));
    scheduler = reopen(scheduler, path("store"));
    CHECK_INT(0, count_of(scheduler));
    register_some(scheduler, 0, 5);
    before = dump_all(scheduler);
    scheduler = reopen(scheduler, path("store"));
    CHECK_DUMPS(before, dump_all(scheduler));
    close_store(scheduler);
}

/* ---- other options --------------------------------------------------------- */

static uint64_t held_count(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info.held;
}

static void test_limits(void) {
    static const char *const ids[] = {"a", "b", "c", "d", "e", "f"};
    static const int32_t priorities[] = {3, 3, 1, 5, 3, 5};
    selene_options options;
    selene_scheduler scheduler;
    selene_task task;
    int32_t disposition = -1;
    new_folder();
    options = store_options(path("store"));
    options.flags |= SELENE_OPTIONS_HOLD;
    options.max_pending_refresh = 2;
    scheduler = open_with(options);
    for (int i = 0; i < 6; i++) {
        task = once_of(ids[i]);
        task.priority = priorities[i];
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
    CHECK_INT(4, held_count(scheduler));
    close_store(scheduler);

    /* The same limit: nobody moves. */
    scheduler = open_with(options);
    observe(scheduler);
    CHECK_INT(4, held_count(scheduler));
    CHECK_INT(0, events_of(SELENE_EVENT_PROMOTED));
    close_store(scheduler);

    /* It grew: the highest priority first, then the older. */
    options.max_pending_refresh = 5;
    scheduler = open_with(options);
    observe(scheduler);
    check_state(scheduler, "d", SELENE_STATE_ENQUEUED);
    check_state(scheduler, "f", SELENE_STATE_ENQUEUED);
    check_state(scheduler, "e", SELENE_STATE_ENQUEUED);
    check_state(scheduler, "c", SELENE_STATE_HELD);
    CHECK_INT(3, events_of(SELENE_EVENT_PROMOTED));
    CHECK(event_of(SELENE_EVENT_PROMOTED, "d") < event_of(SELENE_EVENT_PROMOTED, "f"));
    CHECK(event_of(SELENE_EVENT_PROMOTED, "f") < event_of(SELENE_EVENT_PROMOTED, "e"));
    close_store(scheduler);

    /* It shrank: who has a place keeps it, and nobody else gets one. */
    options.max_pending_refresh = 1;
    scheduler = open_with(options);
    add_handler(scheduler, "work");
    CHECK_INT(1, held_count(scheduler));
    check_state(scheduler, "a", SELENE_STATE_ENQUEUED);
    task = once_of("new");
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    CHECK_INT(SELENE_DISPOSITION_HELD, disposition);
    CHECK_INT(5, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
    CHECK_INT(1, held_count(scheduler));
    close_store(scheduler);

    /* Without hold: what is held stays, what is new is refused. */
    options.flags = 0;
    scheduler = open_with(options);
    CHECK_INT(1, held_count(scheduler));
    task = once_of("newer");
    CHECK_STATUS(SELENE_ERROR_TOO_MANY_PENDING, selene_task_register(scheduler, &task, NULL));
    close_store(scheduler);
}

static void test_permitted(void) {
    static const selene_text permitted[] = {{"mail.*", 6}, {"one", 3}};
    selene_options options;
    selene_scheduler scheduler;
    selene_task task;
    char *before;
    new_folder();
    options = store_options(path("store"));
    scheduler = open_with(options);
    for (int i = 0; i < 3; i++) {
        task = task_of(i == 0 ? "mail.fetch" : i == 1 ? "one" : "other");
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
    before = dump_all(scheduler);
    close_store(scheduler);
    options.permitted = permitted;
    options.permitted_count = 2;
    scheduler = open_with(options);
    add_handler(scheduler, "work");
    CHECK(reason_of(scheduler, "other", SELENE_REASON_NOT_PERMITTED) != NULL);
    CHECK(reason_of(scheduler, "one", SELENE_REASON_NOT_PERMITTED) == NULL);
    CHECK(reason_of(scheduler, "mail.fetch", SELENE_REASON_NOT_PERMITTED) == NULL);
    check_state(scheduler, "other", SELENE_STATE_ENQUEUED);
    CHECK_STATUS(SELENE_ERROR_NOT_PERMITTED, selene_task_register(scheduler, &task, NULL));
    CHECK_INT(2, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
    close_store(scheduler);
    options.permitted_count = 0;
    options.permitted = NULL;
    scheduler = open_with(options);
    add_handler(scheduler, "work");
    CHECK(reason_of(scheduler, "other", SELENE_REASON_NOT_PERMITTED) == NULL);
    clock_now += S;
    CHECK_INT(3, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
    close_store(scheduler);
    free(before);
}

static void test_not_kept(void) {
    selene_scheduler scheduler;
    selene_task task = task_of("one");
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    uint32_t satisfied = 9, by_host = 9;
    new_folder();
    scheduler = open_store(path("store"));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_scheduler_enable(scheduler, 0));
    close_store(scheduler);
    {
        selene_options options = store_options(path("store"));
        CHECK_OK(selene_scheduler_open(&options, &scheduler));
    }
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(ANY_KIND, info.kinds);
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &by_host));
    CHECK_INT(0, by_host);
    CHECK(reason_of(scheduler, "one", SELENE_REASON_NO_HANDLER) != NULL);
    add_handler(scheduler, "work");
    CHECK(reason_of(scheduler, "one", SELENE_REASON_NO_HANDLER) == NULL);
    close_store(scheduler);
}

/* ============================================================================
 *  TWINS: ONE IN MEMORY, ONE THAT IS CLOSED AND OPENED AGAIN AND AGAIN
 * ========================================================================= */

static uint64_t twin_seed;

static selene_task twin_task(uint64_t *random, char *id) {
    static const selene_text tags[] = {{"red", 3}, {"green", 5}, {"blue", 4}};
    selene_task task = SELENE_INIT(selene_task);
    uint64_t number = chance_below(random, 14);
    snprintf(id, 32, "task.%d", (int)number);
    task.id = (selene_text){id, -1};
    task.handler = chance_below(random, 6) ? SELENE_TEXT("work") : SELENE_TEXT("other");
    /* Mostly the same kind and schedule for an id, so that policies find something to do. */
    task.kind = (number + (chance_below(random, 12) == 0)) % 3 ? SELENE_KIND_REFRESH
                                                               : SELENE_KIND_PROCESSING;
    task.schedule = (int32_t)((number + (chance_below(random, 12) == 0)) % 5);
    if (task.schedule == 0) task.schedule = SELENE_SCHEDULE_STANDING;
    else if (task.schedule > 2) task.schedule = SELENE_SCHEDULE_ONCE;
    task.priority = 1 + (int32_t)chance_below(random, 5);
    task.existing = (int32_t)chance_below(random, 6);
    task.recurrence = (int32_t)chance_below(random, 2);
    task.backoff = (int32_t)chance_below(random, 4);
    task.response_window = (int32_t)none_of(chance_below(random, 5));
    task.max_attempts = (uint32_t)chance_below(random, 4);
    task.constraints = (uint32_t)chance_below(random, 8) == 0 ? SELENE_CONSTRAINT_NETWORK : 0;
    task.tag_count = (uint32_t)chance_below(random, 3);
    task.tags = tags + chance_below(random, 2);
    task.expected_response = none_of((int64_t)chance_below(random, 20) * S);
    if (chance_below(random, 4) == 0) task.initial_delay = (int64_t)chance_below(random, 100) * S;
    if (task.schedule == SELENE_SCHEDULE_PERIODIC) {
        task.period = SELENE_MINUTE * (1 + (int64_t)chance_below(random, 20));
        if (chance_below(random, 3) == 0) task.flex = (int64_t)chance_below(random, 60) * S;
    }
    task.backoff_delay = none_of((int64_t)chance_below(random, 60) * S);
    task.input = "0123456789";
    task.input_length = (int64_t)chance_below(random, 11);
    return task;
}

static void twin_register(selene_scheduler *twins, uint64_t *random) {
    char id[32];
    selene_task task = twin_task(random, id);
    int32_t dispositions[2] = {-1, -1};
    selene_status expected = selene_task_register(twins[0], &task, &dispositions[0]);
    CHECK_STATUS(expected, selene_task_register(twins[1], &task, &dispositions[1]));
    CHECK_INT(dispositions[0], dispositions[1]);
}

static void twin_cancel(selene_scheduler *twins, uint64_t *random) {
    uint64_t choice = chance_below(random, 10), counts[2] = {0, 0};
    selene_status expected;
    char id[32];
    if (choice < 6) {
        snprintf(id, sizeof id, "task.%d", (int)chance_below(random, 14));
        expected = selene_task_cancel(twins[0], id, -1, &counts[0]);
        CHECK_STATUS(expected, selene_task_cancel(twins[1], id, -1, &counts[1]));
    } else if (choice < 9) {
        CHECK_OK(selene_task_cancel_tag(twins[0], "green", -1, &counts[0]));
        CHECK_OK(selene_task_cancel_tag(twins[1], "green", -1, &counts[1]));
    } else {
        CHECK_OK(selene_scheduler_prune(twins[0], &counts[0]));
        CHECK_OK(selene_scheduler_prune(twins[1], &counts[1]));
    }
    CHECK_INT(counts[0], counts[1]);
}

/** The same cycle in both, step by step; some runs are left open and end with it. */
static void twin_cycle(selene_scheduler *twins, uint64_t *random) {
    selene_window window = window_of(1 + (uint32_t)chance_below(random, 3), 0);
    selene_cycle cycles[2] = {0, 0};
    selene_status expected;
    selene_run open[2][64];
    int open_count = 0;
    char id[32];
    window.budget = (1 + (int64_t)chance_below(random, 60)) * S;
    window.lanes = 1 + (uint32_t)chance_below(random, 3);
    if (chance_below(random, 5) == 0) {
        snprintf(id, sizeof id, "task.%d", (int)chance_below(random, 14));
        window.task = (selene_text){id, -1};
        window.lanes = 1;
    }
    expected = selene_cycle_begin(twins[0], &window, &cycles[0]);
    CHECK_STATUS(expected, selene_cycle_begin(twins[1], &window, &cycles[1]));
    if (expected) return;
    for (;;) {
        selene_run_info runs[2] = {SELENE_INIT(selene_run_info), SELENE_INIT(selene_run_info)};
        int32_t steps[2];
        uint64_t choice = chance_below(random, 12);
        CHECK_OK(selene_cycle_next(cycles[0], &steps[0], &runs[0], NULL));
        CHECK_OK(selene_cycle_next(cycles[1], &steps[1], &runs[1], NULL));
        CHECK_INT(steps[0], steps[1]);
        if (steps[0] != SELENE_STEP_RUN) break;
        CHECK_STRING(runs[0].id.data, runs[1].id.data);
        CHECK_INT(runs[0].attempt, runs[1].attempt);
        CHECK_INT(runs[0].estimate, runs[1].estimate);
        CHECK_INT(runs[0].generation, runs[1].generation);
        CHECK(runs[0].score == runs[1].score);
        clock_now += (int64_t)chance_below(random, 8) * S + 1;
        if (choice == 0) {
            open[0][open_count] = runs[0].run;
            open[1][open_count++] = runs[1].run;
        } else if (choice == 1) {
            int64_t delay = (int64_t)chance_below(random, 300) * S;
            expected = selene_run_retry(runs[0].run, delay);
            CHECK_STATUS(expected, selene_run_retry(runs[1].run, delay));
        } else {
            int32_t outcome = choice < 7 ? 0 : (int32_t)choice % 4;
            expected = selene_run_complete(runs[0].run, outcome);
            CHECK_STATUS(expected, selene_run_complete(runs[1].run, outcome));
        }
        if (chance_below(random, 6) == 0) twin_register(twins, random);
    }
    CHECK_OK(selene_cycle_end(cycles[0], NULL));
    CHECK_OK(selene_cycle_end(cycles[1], NULL));
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < open_count; i++)
            CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(open[which][i], 0));
}

static selene_options twin_options(const char *file) {
    selene_options options = store_options(file);
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_refresh = 4;
    options.max_pending_processing = 2;
    options.backoff_jitter = 700;
    options.minimum_backoff = SELENE_NONE;
    options.minimum_interval_refresh = 20 * S;
    options.seed = 99;
    return options;
}

static selene_scheduler open_twin(const char *file, uint32_t kinds, int has_other) {
    selene_scheduler scheduler = open_with(twin_options(file));
    add_handler(scheduler, "work");
    if (has_other) add_handler(scheduler, "other");
    CHECK_OK(selene_scheduler_enable(scheduler, kinds));
    return scheduler;
}

static void play_twins(uint64_t seed) {
    uint64_t random = seed;
    uint32_t kinds = ANY_KIND;
    int has_other = 1, reopened = 0;
    selene_scheduler twins[2];
    clock_now = START;
    new_folder();
    twins[0] = open_twin(NULL, kinds, 1);
    twins[1] = open_twin(path("store"), kinds, 1);
    /* Less than 24 h altogether, so that nothing is removed at open alone. */
    for (int step = 0; step < 150; step++) {
        uint64_t choice = chance_below(&random, 20);
        if (choice < 9) twin_register(twins, &random);
        else if (choice < 11) twin_cancel(twins, &random);
        else if (choice < 15) twin_cycle(twins, &random);
        else if (choice < 18) clock_now += (int64_t)chance_below(&random, 500) * S;
        else if (choice < 19) {
            kinds = chance_below(&random, 3) ? ANY_KIND : SELENE_KIND_REFRESH;
            CHECK_OK(selene_scheduler_enable(twins[0], kinds));
            CHECK_OK(selene_scheduler_enable(twins[1], kinds));
        } else {
            for (int which = 0; which < 2; which++) {
                if (has_other) CHECK_OK(selene_handler_unregister(twins[which], "other", -1));
                else add_handler(twins[which], "other");
            }
            has_other = !has_other;
        }
        if (chance_below(&random, 3) == 0) {
            close_store(twins[1]);
            twins[1] = open_twin(path("store"), kinds, has_other);
            reopened++;
        }
        CHECK_DUMPS(dump_all(twins[0]), dump_all(twins[1]));
    }
    CHECK(reopened > 20);
    close_store(twins[0]);
    close_store(twins[1]);
}

static void test_twins(void) {
    int64_t rounds = check_environment("SELENE_TEST_TWINS", 12);
    twin_seed = (uint64_t)check_environment("SELENE_TEST_SEED", 1);
    for (int64_t round = 0; round < rounds; round++) {
        fprintf(stderr, "# seed %" PRIu64 "\n", twin_seed);
        play_twins(twin_seed++);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("D1 T3 every field of every record comes back", test_every_field);
    run_test("D1 T1 T2 the longest and the least come back", test_extremes);
    run_test("D1 S5 thirty response times come back", test_thirty_times);
    run_test("D1 T5 a chain comes back in its order and goes on", test_chain);
    run_test("D1 T5 who waited behind a failure is judged by its own policy",
             test_chain_after_failure);
    run_test("T9 what ended 24 h ago is gone at open, what ended later is not", test_retention);
    run_test("T9 pruned and reset stays pruned and reset", test_prune_and_reset);
    run_test("D1 T6 other limits: places are kept, held ones take free places", test_limits);
    run_test("D1 T7 ids that are not permitted any more are ineligible and say so", test_permitted);
    run_test("D1 switches and conditions are not kept, nor are handlers", test_not_kept);
    run_test("D1 a store that is closed and opened behaves as one in memory", test_twins);
    tools_end();
    return check_end();
}
