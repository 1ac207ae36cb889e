/*
 * misuse_numbers.c - every number that may be out of its range, at its ends and beyond; times that would overflow; and
 * integers that stand for nothing
 */
#include "misuse_arguments.h"

/* Accepted as ten years, and refused as more, whichever way leap days are counted. */
#define TEN_YEARS (3650 * SELENE_DAY)
#define ABOVE_TEN_YEARS (3654 * SELENE_DAY)

/* ---- numbers ------------------------------------------------------------------------- */

#define MOST 12

/** A field, values that are refused for it and values that are accepted; the lists end before the first MARK. */
struct number {
    const char *field;
    size_t offset, width;
    int64_t refused[MOST], accepted[MOST];
};

#define MARK INT64_C(0x5E1E5E1E5E1E5E1E)
#define NUMBER(type, field) #field, offsetof(type, field), sizeof(((type *)0)->field)

static void set_number(void *bytes, const struct number *number, int64_t value) {
    if (number->width == 4) {
        uint32_t narrow = (uint32_t)value;
        memcpy((char *)bytes + number->offset, &narrow, sizeof narrow);
    } else {
        CHECK_INT(8, number->width);
        memcpy((char *)bytes + number->offset, &value, sizeof value);
    }
}

/** Tries every value of every number in a struct of these defaults. */
static void try_numbers(const struct number *numbers, size_t count, const void *defaults,
                        size_t size, selene_status (*use)(selene_scheduler, const void *)) {
    size_t i, k;
    for (i = 0; i < count; i++) {
        unsigned char bytes[512];
        selene_scheduler s = watched = open_empty();
        CHECK(size <= sizeof bytes);
        for (k = 0; numbers[i].refused[k] != MARK; k++) {
            memcpy(bytes, defaults, size);
            set_number(bytes, &numbers[i], numbers[i].refused[k]);
            REFUSED(SELENE_ERROR_INVALID_ARGUMENT, numbers[i].field, use(s, bytes));
        }
        CHECK_OK(selene_scheduler_close(s, 0));
        for (k = 0; numbers[i].accepted[k] != MARK; k++) {
            selene_status got;
            s = open_empty();
            memcpy(bytes, defaults, size);
            set_number(bytes, &numbers[i], numbers[i].accepted[k]);
            got = use(s, bytes);
            if (got != SELENE_OK)
                fprintf(stderr, "%s %" PRId64 ": ", numbers[i].field, numbers[i].accepted[k]);
            CHECK_OK(got);
            CHECK_OK(selene_scheduler_close(s, 0));
        }
    }
}

#include "ranges.h"

/** Where the task is not periodic. */
static const struct number plain_numbers[] = {
    {NUMBER(selene_task, schedule), {-1, 4, 99, INT32_MIN, INT32_MAX, 256, MARK}, {0, 1, 3, MARK}},
    {NUMBER(selene_task, period), {-1, SELENE_HOUR, INT64_MIN, INT64_MAX, MARK}, {0, MARK}},
    {NUMBER(selene_task, flex), {-1, SELENE_HOUR, INT64_MIN, INT64_MAX, MARK}, {0, MARK}},
};

static const struct number periodic_numbers[] = {
    {NUMBER(selene_task, period),
     {1, SELENE_MILLISECOND - 1, -1, 0, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {SELENE_MILLISECOND, SELENE_HOUR, TEN_YEARS, MARK}},
    {NUMBER(selene_task, recurrence), {-1, 3, 99, INT32_MIN, MARK}, {0, 1, 2, MARK}},
    {NUMBER(selene_task, initial_delay),
     {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {0, TEN_YEARS, MARK}},
};

static const struct number flex_numbers[] = {
    {NUMBER(selene_task, flex),
     {1, SELENE_MILLISECOND - 1, -1, INT64_MIN, SELENE_HOUR + 1, INT64_MAX, MARK},
     {0, SELENE_MILLISECOND, SELENE_HOUR - 1, SELENE_HOUR, MARK}},
};

static void test_task_numbers(void) {
    selene_task task = task_of("numbers");
    try_numbers(task_numbers, COUNT(task_numbers), &task, sizeof task, use_task);
    try_numbers(plain_numbers, COUNT(plain_numbers), &task, sizeof task, use_task);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.kind = SELENE_KIND_PROCESSING;
    task.period = SELENE_MILLISECOND;
    try_numbers(periodic_numbers, COUNT(periodic_numbers), &task, sizeof task, use_task);
    task.period = SELENE_HOUR;
    try_numbers(flex_numbers, COUNT(flex_numbers), &task, sizeof task, use_task);
}

static void test_backoff_delay_clamped(void) {
    static const int64_t given[] = {SELENE_NONE,     1,        10 * SELENE_SECOND, SELENE_HOUR,
                                    6 * SELENE_HOUR, INT64_MAX};
    static const int64_t effective[] = {10 * SELENE_SECOND, 10 * SELENE_SECOND, 10 * SELENE_SECOND,
                                        SELENE_HOUR,        5 * SELENE_HOUR,    5 * SELENE_HOUR};
    selene_scheduler s = open_still();
    size_t i;
    for (i = 0; i < COUNT(given); i++) {
        selene_task task = task_of("clamped");
        selene_task_info *info = NULL;
        task.backoff_delay = given[i];
        CHECK_OK(selene_task_register(s, &task, NULL));
        CHECK_OK(selene_task_get(s, "clamped", -1, 0, &info));
        CHECK_INT(effective[i], info->backoff_delay);
        selene_free(info);
    }
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_window_numbers(void) {
    static selene_status (*const uses[])(selene_scheduler, const void *) = {use_begin, use_run,
                                                                            use_async, use_plan};
    selene_window window = SELENE_INIT(selene_window);
    size_t i;
    for (i = 0; i < COUNT(uses); i++)
        try_numbers(window_numbers, COUNT(window_numbers), &window, sizeof window, uses[i]);
}

static void test_window_combinations(void) {
    selene_scheduler s = watched = open_empty(), still;
    selene_window window = SELENE_INIT(selene_window);
    window.flags = SELENE_WINDOW_INLINE;
    REFUSED(SELENE_ERROR_UNSUPPORTED, "INLINE", selene_cycle_begin(s, &window, &outs.handle));
    REFUSED(SELENE_ERROR_UNSUPPORTED, "INLINE",
            selene_cycle_run_async(s, &window, count_report, NULL, count_destroy, &outs.handle,
                                   &outs.instant));
    CHECK_INT(1, destroyed);
    window.lanes = 2;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "lanes", selene_cycle_run(s, &window, &outs.report));
    window.flags = 0;
    window.task = text_of("later");
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "lanes", selene_cycle_run(s, &window, &outs.report));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "lanes", selene_cycle_begin(s, &window, &outs.handle));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "lanes", selene_cycle_plan(s, &window, &outs.plan));
    window.lanes = 1;
    REFUSED(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "later",
            selene_cycle_begin(s, &window, &outs.handle));
    window.task = text_of("nobody");
    REFUSED(SELENE_ERROR_NOT_FOUND, "task: \"nobody\" is not registered",
            selene_cycle_begin(s, &window, &outs.handle));
    REFUSED(SELENE_ERROR_NOT_FOUND, "task: \"nobody\" is not registered",
            selene_cycle_run(s, &window, &outs.report));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_cycle_plan(s, &window, &outs.plan));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody",
            selene_cycle_run_async(s, &window, count_report, NULL, count_destroy, &outs.handle,
                                   &outs.instant));
    CHECK_INT(2, destroyed);
    /* Kinds are ignored where a task is named. */
    window.kinds = 0xFFFFFFFF;
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_cycle_begin(s, &window, &outs.handle));
    window = (selene_window)SELENE_INIT(selene_window);
    still = watched = open_still();
    REFUSED(SELENE_ERROR_UNSUPPORTED, "clock", selene_cycle_run(still, &window, &outs.report));
    REFUSED(SELENE_ERROR_UNSUPPORTED, "clock",
            selene_cycle_run_async(still, &window, count_report, NULL, count_destroy, &outs.handle,
                                   &outs.instant));
    CHECK_INT(3, destroyed);
    CHECK_INT(0, called);
    CHECK_OK(selene_scheduler_close(still, 0));
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_options_numbers(void) {
    selene_options options = SELENE_INIT(selene_options);
    try_numbers(options_numbers, COUNT(options_numbers), &options, sizeof options, use_options);
    /* The lower bound lies above the upper one. */
    options.minimum_backoff = 2 * SELENE_SECOND;
    options.maximum_backoff = SELENE_SECOND;
    watched = open_empty();
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "backoff",
            selene_scheduler_open(&options, &outs.handle));
    CHECK_OK(selene_scheduler_close(watched, 0));
}

static void test_driver_numbers(void) {
    const selene_driver driver = SELENE_INIT(selene_driver);
    try_numbers(driver_numbers, COUNT(driver_numbers), &driver, sizeof driver, use_driver_open);
}

static void test_call_numbers(void) {
    static const uint32_t no_bits[] = {4, 5, 7, 0x80000000, UINT32_MAX};
    static const int32_t no_outcomes[] = {-1,       SELENE_OUTCOME_EXPIRED, 99, 256, INT32_MIN,
                                          INT32_MAX};
    static const int64_t no_delays[] = {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX};
    static const int64_t no_graces[] = {-1, INT64_MIN, SELENE_DAY + 1, INT64_MAX};
    static const uint64_t no_positions[] = {
        2, 3, 1000, (uint64_t)INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    selene_scheduler s = watched = open_furnished();
    selene_cycle cycle = 0;
    selene_run run;
    size_t i;
    for (i = 0; i < COUNT(no_bits); i++) {
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "kinds", selene_scheduler_enable(s, no_bits[i]));
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "constraints",
                selene_conditions_set(s, no_bits[i] << 8 | 256, 0));
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "satisfied",
                selene_conditions_set(s, 1, no_bits[i] | 2));
    }
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "satisfied", selene_conditions_set(s, 1, 2));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "satisfied", selene_conditions_set(s, 0, 1));
    for (i = 0; i < COUNT(no_positions); i++)
        REFUSED(SELENE_ERROR_NOT_FOUND, "position",
                selene_task_get(s, "once", -1, no_positions[i], &outs.task_info));
    for (i = 0; i < COUNT(no_graces); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "grace", selene_scheduler_close(s, no_graces[i]));
    CHECK_OK(selene_cycle_begin(s, NULL, &cycle));
    run = take_run(cycle);
    for (i = 0; i < COUNT(no_outcomes); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "outcome", selene_run_complete(run, no_outcomes[i]));
    for (i = 0; i < COUNT(no_delays); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "delay", selene_run_retry(run, no_delays[i]));
    for (i = 0; i < COUNT(no_outcomes); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "outcome",
                selene_run_fail(run, no_outcomes[i], 0, "", -1));
    for (i = 0; i < COUNT(no_delays); i++)
        if (no_delays[i] != -1)
            REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "delay",
                    selene_run_fail(run, SELENE_OUTCOME_ABANDONED, no_delays[i], "", -1));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "done", selene_run_progress(run, -1, 0, NULL, 0));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "done", selene_run_progress(run, INT64_MIN, 0, NULL, 0));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "total", selene_run_progress(run, 0, -1, NULL, 0));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "state", selene_task_list_state(s, -1, &outs.task_ids));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "state", selene_task_list_state(s, 7, &outs.task_ids));
    CHECK_OK(selene_run_retry(run, TEN_YEARS));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    for (i = 0; i < COUNT(no_graces); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "grace", selene_node_leave(s, no_graces[i]));
    CHECK_OK(selene_scheduler_enable(s, 0));
    CHECK_OK(selene_scheduler_close(s, SELENE_DAY));
}

/** What a node is told. */
static void test_node_numbers(void) {
    static const int64_t no_leases[] = {-1, SELENE_SECOND / 10 - 1, SELENE_HOUR + 1, INT64_MAX,
                                        INT64_MIN};
    static const int64_t no_horizons[] = {-2, 10 * SELENE_SECOND + 1, INT64_MAX, INT64_MIN};
    static const int64_t no_polls[] = {-1, SELENE_SECOND / 100 - 1, SELENE_HOUR + 1, INT64_MAX};
    static const int32_t no_types[] = {-1, 6, 255, INT32_MAX, INT32_MIN};
    static const int64_t no_lengths[] = {-1, INT64_MIN};
    static const int32_t no_sent[] = {-1, 2, INT32_MAX, INT32_MIN};
    const selene_status invalid = SELENE_ERROR_INVALID_ARGUMENT;
    selene_scheduler s = watched = open_furnished();
    selene_node_options options = SELENE_INIT(selene_node_options);
    selene_value cell = {SELENE_VALUE_NULL, 0, 0, NULL, 0}, entry = cell;
    size_t i;
    for (i = 0; i < COUNT(no_leases); i++) {
        options.lease = no_leases[i];
        REFUSED(invalid, "lease", selene_node_open(s, &options, &outs.number));
    }
    options.lease = SELENE_HOUR;
    for (i = 0; i < COUNT(no_horizons); i++) {
        options.horizon = no_horizons[i];
        REFUSED(invalid, "horizon", selene_node_open(s, &options, &outs.number));
    }
    options.horizon = 10 * SELENE_SECOND;
    for (i = 0; i < COUNT(no_polls); i++) {
        options.poll = no_polls[i];
        REFUSED(invalid, "poll", selene_node_open(s, &options, &outs.number));
    }
    options.poll = SELENE_HOUR;
    options.queue_count = 1001;
    REFUSED(invalid, "queues", selene_node_open(s, &options, &outs.number));
    options.queue_count = 1;
    REFUSED(invalid, "queues", selene_node_open(s, &options, &outs.number));
    options.queue_count = 0;
    options.label_count = 65;
    REFUSED(invalid, "labels", selene_node_open(s, &options, &outs.number));
    options.label_count = UINT64_MAX;
    REFUSED(invalid, "labels", selene_node_open(s, &options, &outs.number));
    options.label_count = 0;
    CHECK_OK(selene_node_open(s, &options, NULL));
    CHECK_OK(selene_node_close(s));
    options.lease = SELENE_SECOND / 10;
    options.horizon = SELENE_NONE;
    options.poll = SELENE_SECOND / 100;
    CHECK_OK(selene_node_open(s, &options, NULL));

    for (i = 0; i < COUNT(no_types); i++) {
        cell.type = no_types[i];
        REFUSED(invalid, "cells", selene_node_rows(s, 1, &cell, 1, 1));
    }
    for (i = 0; i < COUNT(no_lengths); i++)
        for (cell.type = SELENE_VALUE_TEXT; cell.type <= SELENE_VALUE_ARRAY; cell.type++) {
            cell.length = no_lengths[i];
            REFUSED(invalid, "cells", selene_node_rows(s, 1, &cell, 1, 1));
        }
    for (cell.type = SELENE_VALUE_TEXT; cell.type <= SELENE_VALUE_ARRAY; cell.type++) {
        cell.length = 1;
        REFUSED(invalid, "cells", selene_node_rows(s, 1, &cell, 1, 1));
    }
    cell.type = SELENE_VALUE_ARRAY;
    cell.data = &entry;
    entry.type = SELENE_VALUE_ARRAY;
    REFUSED(invalid, "array", selene_node_rows(s, 1, &cell, 1, 1));
    cell.length = 16777217;
    REFUSED(invalid, "cells", selene_node_rows(s, 1, &cell, 1, 1));
    cell.length = 0;
    REFUSED(invalid, "rows", selene_node_rows(s, 1, &cell, 16777217, 1));
    REFUSED(invalid, "rows", selene_node_rows(s, 1, &cell, UINT64_MAX, UINT64_MAX));
    REFUSED(invalid, "rows", selene_node_rows(s, 1, &cell, 16777216, 2));
    REFUSED(invalid, "columns", selene_node_rows(s, 1, &cell, 1, 1601));
    REFUSED(invalid, "columns", selene_node_rows(s, 1, &cell, 0, UINT64_MAX));
    CHECK_OK(selene_node_rows(s, 1, NULL, 16777216, 0));
    for (i = 0; i < COUNT(no_sent); i++)
        REFUSED(invalid, "sent", selene_node_failed(s, 1, no_sent[i], NULL, NULL));
    REFUSED(invalid, "sqlstate", selene_node_failed(s, 1, 0, "", NULL));
    REFUSED(invalid, "sqlstate", selene_node_failed(s, 1, 0, "4250", NULL));
    REFUSED(invalid, "sqlstate", selene_node_failed(s, 1, 0, "425010", NULL));
    CHECK_OK(selene_node_failed(s, 1, 1, "42501", ""));
    CHECK_OK(selene_scheduler_close(s, 0));
}

/* ---- times that overflow ------------------------------------------------------------------ */

/** Takes every run of a cycle and gives all the same outcome. Ends the cycle. */
static uint64_t work_through(selene_scheduler s, int32_t outcome) {
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    selene_cycle cycle = 0;
    uint64_t count;
    int32_t step;
    window.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    window.budget = SELENE_DAY;
    CHECK_OK(selene_cycle_begin(s, &window, &cycle));
    for (;;) {
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        if (step != SELENE_STEP_RUN) break;
        CHECK_OK(selene_run_complete(info.run, outcome));
    }
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_cycle_end(cycle, &report));
    count = report->run_count;
    selene_free(report);
    return count;
}

/** Tasks of every schedule with the longest times there are. */
static void add_longest(selene_scheduler s) {
    static const char *const names[] = {"standing", "once", "period", "anchored", "short"};
    size_t i;
    for (i = 0; i < COUNT(names); i++) {
        selene_task task = task_of(names[i]);
        task.schedule = i == 0   ? SELENE_SCHEDULE_STANDING
                        : i == 1 ? SELENE_SCHEDULE_ONCE
                                 : SELENE_SCHEDULE_PERIODIC;
        task.recurrence = i >= 3 ? SELENE_RECURRENCE_ANCHORED : SELENE_RECURRENCE_AFTER_COMPLETION;
        if (i >= 2) task.period = i == 4 ? 1 : TEN_YEARS;
        task.flex = i == 2 ? 1 : 0;
        task.initial_delay = i < 2 ? TEN_YEARS : 0;
        task.expected_response = SELENE_DAY / 32;
        task.backoff_delay = INT64_MAX;
        task.backoff = SELENE_BACKOFF_EXPONENTIAL;
        CHECK_OK(selene_task_register(s, &task, NULL));
        add_pulled_handler(s, names[i]);
    }
}

static void test_clock_extremes(void) {
    static const int64_t starts[] = {
        INT64_MIN,     INT64_MIN + 1, -1, 0, 1, INT64_MAX - TEN_YEARS, INT64_MAX - SELENE_DAY,
        INT64_MAX - 1, INT64_MAX};
    static const int64_t steps[] = {1, SELENE_DAY, TEN_YEARS, INT64_MAX / 2, INT64_MAX};
    size_t i, k;
    for (i = 0; i < COUNT(starts); i++) {
        selene_options options = still_options();
        selene_scheduler s = 0;
        int64_t last = INT64_MIN, now = 0, at, delay;
        options.maximum_backoff = TEN_YEARS;
        still_now = starts[i];
        CHECK_OK(selene_scheduler_open(&options, &s));
        add_longest(s);
        for (k = 0; k < COUNT(steps); k++) {
            selene_explanation explanation = SELENE_INIT(selene_explanation);
            CHECK_OK(selene_scheduler_now(s, &now));
            CHECK(now >= last);
            last = now;
            CHECK_OK(selene_scheduler_next_wakeup(s, &at, &delay));
            CHECK(delay >= 0);
            CHECK_OK(selene_task_explain(s, "anchored", -1, &explanation));
            CHECK_OK(selene_task_explain(s, "short", -1, &explanation));
            work_through(s, k % 2 ? SELENE_OUTCOME_FAILED : SELENE_OUTCOME_NEW_DATA);
            still_now = still_now > INT64_MAX - steps[k] ? INT64_MAX : still_now + steps[k];
        }
        CHECK_OK(selene_scheduler_close(s, 0));
    }
}

static void test_clock_goes_back(void) {
    static const int64_t readings[] = {
        CLOCK_BEGIN, CLOCK_BEGIN + 5, INT64_MIN, 0,         CLOCK_BEGIN + 4,
        -1,          CLOCK_BEGIN + 6, INT64_MAX, INT64_MIN, CLOCK_BEGIN};
    selene_scheduler s;
    int64_t last = INT64_MIN, now = 0;
    size_t i;
    still_now = CLOCK_BEGIN;
    s = open_still();
    add_longest(s);
    for (i = 0; i < COUNT(readings); i++) {
        still_now = readings[i];
        CHECK_OK(selene_scheduler_now(s, &now));
        CHECK(now >= last);
        last = now;
        work_through(s, SELENE_OUTCOME_NO_DATA);
    }
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_backoff_saturates(void) {
    static const int32_t policies[] = {SELENE_BACKOFF_LINEAR, SELENE_BACKOFF_EXPONENTIAL};
    size_t i;
    int attempt;
    for (i = 0; i < COUNT(policies); i++) {
        selene_options options = still_options();
        selene_scheduler s = 0;
        selene_task task = task_of("fails");
        selene_task_info *info = NULL;
        still_now = CLOCK_BEGIN;
        options.maximum_backoff = TEN_YEARS / 100;
        options.backoff_jitter = 1000;
        CHECK_OK(selene_scheduler_open(&options, &s));
        add_pulled_handler(s, "fails");
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.backoff = policies[i];
        task.backoff_delay = SELENE_DAY;
        CHECK_OK(selene_task_register(s, &task, NULL));
        /* 2^(n-1) days exceed 64 bits of nanoseconds from the 17th attempt on, and the shift 64 from the 65th. */
        for (attempt = 1; attempt <= 140; attempt++) {
            CHECK_INT(1, work_through(s, SELENE_OUTCOME_FAILED));
            CHECK_OK(selene_task_get(s, "fails", -1, 0, &info));
            CHECK_INT(attempt, info->attempts);
            CHECK_BETWEEN(still_now, info->earliest_begin, still_now + options.maximum_backoff);
            selene_free(info);
            still_now += options.maximum_backoff;
        }
        CHECK_OK(selene_scheduler_close(s, 0));
    }
}

/* ---- names of numbers ------------------------------------------------------------------------ */

static void test_names_of_any_integer(void) {
    static const int32_t odd[] = {-1, -2, 7,  8,   13,  15,    16,        24,
                                  31, 32, 99, 255, 256, 65536, INT32_MAX, INT32_MIN};
    static const int32_t names[] = {
        SELENE_NAMES_KIND,       SELENE_NAMES_SCHEDULE,    SELENE_NAMES_PRIORITY,
        SELENE_NAMES_EXISTING,   SELENE_NAMES_STATE,       SELENE_NAMES_OUTCOME,
        SELENE_NAMES_RECURRENCE, SELENE_NAMES_BACKOFF,     SELENE_NAMES_STOP,
        SELENE_NAMES_REASON,     SELENE_NAMES_DISPOSITION, SELENE_NAMES_EVENT,
        SELENE_NAMES_SIGNAL,     SELENE_NAMES_SOURCE,      SELENE_NAMES_FACTOR,
        SELENE_NAMES_VERDICT,    SELENE_NAMES_MEASURE,     SELENE_NAMES_PROFILE};
    int32_t value;
    size_t i, k;
    for (value = -300; value <= 300; value++) {
        CHECK(selene_name(SELENE_NAMES_STATUS, value)[0] != '\0');
        CHECK(selene_status_message(value)[0] != '\0');
        CHECK_INT((value >= 0 && value <= 5) || (value >= 16 && value <= 30) ||
                      (value >= 48 && value <= 58),
                  strcmp(selene_name(SELENE_NAMES_STATUS, value), "UNKNOWN") != 0);
    }
    for (i = 0; i < COUNT(odd); i++) {
        CHECK(selene_name(SELENE_NAMES_STATUS, odd[i])[0] != '\0');
        CHECK(selene_status_message(odd[i])[0] != '\0');
        for (k = 0; k < COUNT(names); k++)
            CHECK(selene_name(names[k], odd[i])[0] != '\0');
        if (odd[i] < 0 || odd[i] > 26)
            for (k = 0; k < COUNT(names); k++)
                CHECK_STRING("unknown", selene_name(names[k], odd[i]));
    }
    /* A vocabulary that there is none of, and numbers of 64 bits. */
    for (i = 0; i < COUNT(odd); i++)
        if (odd[i] < 1 || odd[i] > 21) CHECK_STRING("unknown", selene_name(odd[i], 1));
    CHECK_STRING("unknown", selene_name(SELENE_NAMES_STATE, INT64_C(1) << 32));
    CHECK_STRING("UNKNOWN", selene_name(SELENE_NAMES_STATUS, INT64_MIN));
    CHECK_STRING("unknown", selene_name(SELENE_NAMES_CONSTRAINT, 0));
    CHECK_STRING("unknown", selene_name(SELENE_NAMES_CONSTRAINT, 3));
    CHECK_STRING("unknown", selene_name(SELENE_NAMES_CONSTRAINT, 256));
    CHECK_STRING("unknown", selene_name(SELENE_NAMES_CONSTRAINT, UINT32_MAX));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("T2 numbers of a task outside their range are refused, at its ends accepted",
             test_task_numbers);
    run_test("T2 a backoff delay is clamped into the bounds of the scheduler",
             test_backoff_delay_clamped);
    run_test("C1 numbers of a window outside their range are refused, at its ends accepted",
             test_window_numbers);
    run_test("C5 combinations of a window that do not exist are refused", test_window_combinations);
    run_test("8.4 numbers of the options outside their range are refused, at its ends accepted",
             test_options_numbers);
    run_test("G7 numbers of a driver outside their range are refused, at its ends accepted",
             test_driver_numbers);
    run_test("P6 numbers of calls outside their range are refused and change nothing",
             test_call_numbers);
    run_test("N10 N22 numbers of a node outside their range are refused, at its ends accepted",
             test_node_numbers);
    run_test("P6 no time overflows, wherever a host clock stands", test_clock_extremes);
    run_test("P2 scheduler time never goes back, whatever a host clock says", test_clock_goes_back);
    run_test("C10 backoff saturates at the maximum backoff", test_backoff_saturates);
    run_test("8.3 every integer has a name", test_names_of_any_integer);
    return check_end();
}
