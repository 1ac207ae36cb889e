/*
 * store_reopen.c - what comes back when a store is opened again (D1, D3, T3), and how much is written for it (D2)
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_SEED, the seed of the twins (1), SELENE_TEST_TWINS, how
 * many pairs of them (12).
 */
#include "store_tools.h"

#include <stdatomic.h>
#include <sys/resource.h>

/** Closes and opens again. */
static selene_scheduler reopen(selene_scheduler scheduler, const char *file) {
    close_store(scheduler);
    scheduler = open_store(file);
    add_handler(scheduler, "work");
    return scheduler;
}

static selene_task_info *info_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    return info;
}

static void check_state(selene_scheduler scheduler, const char *id, int32_t state) {
    selene_task_info *info = info_of(scheduler, id);
    if (info->state != state) fprintf(stderr, "%s: ", id);
    CHECK_STRING(selene_state_name(state), selene_state_name(info->state));
    selene_task_info_destroy(info);
}

static const selene_reason *reason_of(selene_scheduler scheduler, const char *id, int32_t reason) {
    static selene_explanation why;
    why = (selene_explanation)SELENE_EXPLANATION_INIT;
    CHECK_OK(selene_task_explain(scheduler, id, -1, &why));
    for (uint32_t i = 0; i < why.reason_count; i++)
        if (why.reasons[i].reason == reason) return &why.reasons[i];
    return NULL;
}

static selene_task once_of(const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    return task;
}

static void register_task(selene_scheduler scheduler, selene_task task, int32_t expected) {
    int32_t disposition = -1;
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    CHECK_STRING(selene_disposition_name(expected), selene_disposition_name(disposition));
}

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
    task.expected_response = 0;
    task.response_window = 0;
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
        selene_task_info_destroy(info);
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
        selene_task_info_destroy(info);
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

static void note_event(const selene_event *event, void *context);

#define EVENTS 256

static struct noted {
    int32_t type;
    int32_t state;
    int32_t detail;
    uint32_t attempts;
    int64_t time;
    int64_t time_at;
    uint64_t number;
    char id[64];
} noted[EVENTS];
static int noted_count;

static void note_event(const selene_event *event, void *context) {
    struct noted *now = &noted[noted_count];
    (void)context;
    CHECK(noted_count < EVENTS);
    *now = (struct noted){event->type, event->state,   event->detail, event->attempts,
                          event->time, event->time_at, event->number, ""};
    snprintf(now->id, sizeof now->id, "%s", event->id.data ? event->id.data : "");
    if (noted_count > 0) CHECK(now->number == noted[noted_count - 1].number + 1);
    noted_count++;
}

static void observe(selene_scheduler scheduler) {
    noted_count = 0;
    CHECK_OK(selene_scheduler_observe(scheduler, note_event, NULL, NULL));
}

static const struct noted *event_of(int32_t type, const char *id) {
    for (int i = 0; i < noted_count; i++)
        if (noted[i].type == type && strcmp(noted[i].id, id) == 0) return &noted[i];
    return NULL;
}

static int events_of(int32_t type) {
    int count = 0;
    for (int i = 0; i < noted_count; i++)
        count += noted[i].type == type;
    return count;
}

static uint64_t held_count(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_SCHEDULER_INFO_INIT;
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
    selene_scheduler_info info = SELENE_SCHEDULER_INFO_INIT;
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

/* ---- numbers --------------------------------------------------------------- */

static uint64_t sequence_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = info_of(scheduler, id);
    uint64_t sequence = info->sequence;
    selene_task_info_destroy(info);
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
    selene_scheduler_info info = SELENE_SCHEDULER_INFO_INIT;
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info.life;
}

static selene_run handed_run;

static void begin_and_tell(int descriptor) {
    selene_scheduler scheduler = open_store(path("store"));
    selene_task task = task_of("one");
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_cycle cycle = 0;
    selene_run_info run = SELENE_RUN_INFO_INIT;
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
    selene_run_info run = SELENE_RUN_INFO_INIT;
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
        selene_task_info_destroy(info);
    }
    close_store(scheduler);
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
            selene_run_info run = SELENE_RUN_INFO_INIT;
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
    selene_run_info run = SELENE_RUN_INFO_INIT;
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
    selene_task_info_destroy(before);
    selene_task_info_destroy(after);
    CHECK_INT(1, pull(scheduler, window, all_new_data));
    close_store(scheduler);
}

/* ============================================================================
 *  TWINS: ONE IN MEMORY, ONE THAT IS CLOSED AND OPENED AGAIN AND AGAIN
 * ========================================================================= */

static uint64_t twin_seed;

static selene_task twin_task(uint64_t *random, char *id) {
    static const selene_text tags[] = {{"red", 3}, {"green", 5}, {"blue", 4}};
    selene_task task = SELENE_TASK_INIT;
    uint64_t number = chance_below(random, 14);
    snprintf(id, 32, "task.%d", (int)number);
    task.id = (selene_text){id, -1};
    task.handler = chance_below(random, 6) ? SELENE_TEXT("work") : SELENE_TEXT("other");
    /* Mostly the same kind and schedule for an id, so that policies find something to do. */
    task.kind = (number + (chance_below(random, 12) == 0)) % 3 ? SELENE_KIND_REFRESH
                                                               : SELENE_KIND_PROCESSING;
    task.schedule = (int32_t)((number + (chance_below(random, 12) == 0)) % 5);
    if (task.schedule > 2) task.schedule = SELENE_SCHEDULE_ONCE;
    task.priority = 1 + (int32_t)chance_below(random, 5);
    task.existing = (int32_t)chance_below(random, 6) - 1;
    task.recurrence = (int32_t)chance_below(random, 2);
    task.backoff = (int32_t)chance_below(random, 4) - 1;
    task.response_window = (int32_t)chance_below(random, 5);
    task.max_attempts = (uint32_t)chance_below(random, 4);
    task.constraints = (uint32_t)chance_below(random, 8) == 0 ? SELENE_CONSTRAINT_NETWORK : 0;
    task.tag_count = (uint32_t)chance_below(random, 3);
    task.tags = tags + chance_below(random, 2);
    task.expected_response = (int64_t)chance_below(random, 20) * S;
    if (chance_below(random, 4) == 0) task.initial_delay = (int64_t)chance_below(random, 100) * S;
    task.period = SELENE_MINUTE * (1 + (int64_t)chance_below(random, 20));
    if (chance_below(random, 3) == 0) task.flex = (int64_t)chance_below(random, 60) * S;
    task.backoff_delay = (int64_t)chance_below(random, 60) * S;
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
        selene_run_info runs[2] = {SELENE_RUN_INFO_INIT, SELENE_RUN_INFO_INIT};
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
    options.minimum_backoff = 0;
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
    /** ns after the open that found it, each time; 0: it has failed; −1: the period. */
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
        CHECK_INT(delay ? SELENE_STATE_ENQUEUED : SELENE_STATE_FAILED, info->state);
        if (delay < 0) {
            delay = crashes.task.period;
            attempts = 0;
        }
        CHECK_INT(attempts, info->attempts);
        CHECK_INT(clock_now, info->last_run);
        CHECK_INT(0, info->response_time_count);
        CHECK_INT(SELENE_OUTCOME_FAILED, info->last_outcome);
        CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
        if (delay) CHECK_INT(clock_now + delay, info->earliest_begin);
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
        selene_task_info_destroy(info);
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
    struct crashes crashes = {once_of("once"), 5, {30 * S, 60 * S, 120 * S, 240 * S, 0}};
    crashes.task.max_attempts = 5;
    play_crashes(crashes);
}

static void test_crash_standing(void) {
    struct crashes crashes = {task_of("standing"), 12, {0}};
    for (int i = 0; i < 12; i++)
        crashes.delays[i] =
            (INT64_C(30) << i) * S < 5 * SELENE_HOUR ? (INT64_C(30) << i) * S : 5 * SELENE_HOUR;
    crashes.task.max_attempts = 2; /* ignored */
    play_crashes(crashes);
}

static void test_crash_linear(void) {
    struct crashes crashes = {
        once_of("linear"), 6, {100 * S, 200 * S, 300 * S, 400 * S, 500 * S, 960 * S}};
    crashes.task.backoff = SELENE_BACKOFF_LINEAR;
    crashes.task.backoff_delay = 100 * S;
    play_crashes(crashes);
}

static void test_crash_short(void) {
    struct crashes crashes = {once_of("short"), 4, {30 * S, 60 * S, 120 * S, 240 * S}};
    crashes.task.backoff_delay = 10 * S;
    play_crashes(crashes);
}

static void test_crash_long(void) {
    struct crashes crashes = {once_of("long"), 3, {600 * S, 1200 * S, 2400 * S}};
    crashes.task.backoff_delay = 600 * S;
    play_crashes(crashes);
}

static void test_crash_periodic(void) {
    struct crashes crashes = {task_of("periodic"), 4, {30 * S, 60 * S, -1, 30 * S}};
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
        selene_task_info_destroy(info);
    }
    scheduler = reopen(scheduler, path("store"));
    check_state(scheduler, "chain", SELENE_STATE_ENQUEUED);
    close_store(scheduler);
}

static void begin_three_and_die(void) {
    selene_scheduler scheduler = open_store(path("store"));
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_run_info run = SELENE_RUN_INFO_INIT;
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
    CHECK_INT(1, pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), all_new_data));
    /* A second observer is not told again. */
    observe(scheduler);
    CHECK_INT(0, events_of(SELENE_EVENT_INTERRUPTED));
    close_store(scheduler);
}

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
    run_test("T3 no sequence is used again", test_sequence);
    run_test("P4 C6 the life grows, and tokens of an earlier one are stale", test_lives);
    run_test("P4 no token is given out twice, whatever is opened", test_lives_of_two);
    run_test("C13 the pace of a kind goes on", test_pace);
    run_test("C16 so does the next wake-up", test_wakeup);
    run_test("C8 a task that ran at close is enqueued as before", test_closed_while_running);
    run_test("D1 a store that is closed and opened behaves as one in memory", test_twins);
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
    run_test("D2 a change costs one commit, a refusal and a look none", test_commits);
    run_test("D2 a cycle of k runs costs at most k + 2 commits", test_commits_of_cycle);
    run_test("D2 a batch costs one commit, and each is judged for itself", test_batch);
    run_test("T4 a batch in memory", test_batch_in_memory);
    run_test("D1 a store does not grow by what was removed", test_size);
    run_test("C5 D2 what library threads did is stored", test_push);
    tools_end();
    return check_end();
}
