/*
 * units.c - durations and instants that were meant in another unit (V21): every one that a host can give, by table
 *
 * Argument: the filter of check.h.
 */
#include "server_tools.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NEWYEAR_1971 (365 * SELENE_DAY)

/* ---- schedulers ------------------------------------------------------------------------ */

enum clock { SYSTEM, SET, ASKED };

static int64_t asked(void *context) {
    (void)context;
    return 100 * S;
}

static selene_options options_on(enum clock clock) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    if (clock == SET) {
        options.flags = SELENE_OPTIONS_SET_CLOCK;
        options.clock_start = 100 * S;
    }
    if (clock == ASKED) options.clock = asked;
    return options;
}

/** The clock of what is tried. */
static enum clock trying;

static selene_scheduler open_on(enum clock clock) {
    const selene_options options = options_on(clock);
    selene_scheduler scheduler = open_with(options);
    selene_task task = task_of("task");
    trying = clock;
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    return scheduler;
}

/** A run of the task, in a window that stays open. */
static selene_run begin_run(selene_scheduler scheduler, selene_cycle *cycle) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_begin(scheduler, NULL, cycle));
    CHECK_OK(selene_cycle_next(*cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    return info.run;
}

/* ---- what is given ------------------------------------------------------------------------ */

#define SET_FIELD(bytes, offset, value) memcpy((char *)(bytes) + (offset), &(value), sizeof(value))

/** A field of a struct of this type, or a number that a call takes. */
struct given {
    const char *field;
    selene_status (*give)(selene_scheduler, size_t offset, int64_t value);
    size_t offset;
    /** The least that is accepted besides 0; 0: 1 ms, or 1971. */
    int64_t least;
    /** It is refused below its least on every clock: 0 is not accepted either. */
    int bounded;
    /** 0 is not accepted. */
    int required;
    /** It is of real time, whatever the clock. */
    int real;
};

static selene_status give_option(selene_scheduler s, size_t offset, int64_t value) {
    selene_options options = options_on(trying);
    selene_scheduler opened = 0;
    selene_status status;
    (void)s;
    options.minimum_backoff = SELENE_NONE;
    SET_FIELD(&options, offset, value);
    status = selene_scheduler_open(&options, &opened);
    if (status == SELENE_OK) CHECK_OK(selene_scheduler_close(opened, 0));
    return status;
}

static selene_status give_once(selene_scheduler s, size_t offset, int64_t value) {
    selene_task task = task_of("once"), *list[] = {&task};
    selene_status status, one = -1;
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.existing = SELENE_EXISTING_REPLACE;
    SET_FIELD(&task, offset, value);
    status = selene_task_register(s, &task, NULL);
    CHECK_OK(selene_task_register_batch(s, (const selene_task *const *)list, 1, &one, NULL));
    CHECK_INT(status, one);
    return status;
}

static selene_status give_periodic(selene_scheduler s, size_t offset, int64_t value) {
    selene_task task = task_of("periodic");
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_HOUR;
    SET_FIELD(&task, offset, value);
    return selene_task_register(s, &task, NULL);
}

static selene_status give_begin(selene_scheduler s, size_t offset, int64_t value) {
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle = 0;
    selene_status status;
    SET_FIELD(&window, offset, value);
    status = selene_cycle_begin(s, &window, &cycle);
    if (status == SELENE_OK) CHECK_OK(selene_cycle_end(cycle, NULL));
    return status;
}

static selene_status give_run(selene_scheduler s, size_t offset, int64_t value) {
    selene_window window = SELENE_INIT(selene_window);
    window.flags = SELENE_WINDOW_INLINE;
    SET_FIELD(&window, offset, value);
    return selene_cycle_run(s, &window, NULL);
}

static selene_status give_async(selene_scheduler s, size_t offset, int64_t value) {
    selene_window window = SELENE_INIT(selene_window);
    if (trying == ASKED) return SELENE_OK; /* it has no threads */
    SET_FIELD(&window, offset, value);
    return selene_cycle_run_async(s, &window, NULL, NULL, NULL, NULL, NULL);
}

static selene_status give_plan(selene_scheduler s, size_t offset, int64_t value) {
    selene_window window = SELENE_INIT(selene_window);
    selene_plan *plan = NULL;
    selene_status status;
    SET_FIELD(&window, offset, value);
    status = selene_cycle_plan(s, &window, &plan);
    selene_free(plan);
    return status;
}

static selene_status give_driver(selene_scheduler s, size_t offset, int64_t value) {
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_status status;
    SET_FIELD(&driver, offset, value);
    status = selene_driver_open(s, &driver, NULL);
    if (status == SELENE_OK) CHECK_OK(selene_driver_stop(s, 0));
    return status;
}

static selene_status give_node(selene_scheduler s, size_t offset, int64_t value) {
    selene_node_options options = SELENE_INIT(selene_node_options);
    selene_status status;
    options.schema = options.name = SELENE_TEXT("node");
    SET_FIELD(&options, offset, value);
    status = selene_node_open(s, &options, NULL);
    if (status == SELENE_OK) CHECK_OK(selene_node_close(s));
    return status;
}

static selene_status give_leave(selene_scheduler s, size_t offset, int64_t value) {
    selene_node_options options = SELENE_INIT(selene_node_options);
    selene_status status;
    (void)offset;
    options.schema = options.name = SELENE_TEXT("node");
    CHECK_OK(selene_node_open(s, &options, NULL));
    status = selene_node_leave(s, value);
    CHECK_OK(selene_node_close(s));
    return status;
}

static selene_status give_server(selene_scheduler s, size_t offset, int64_t value) {
    selene_server_options options = SELENE_INIT(selene_server_options);
    selene_server server = 0;
    selene_status status;
    options.path = text_of(path("units"));
    SET_FIELD(&options, offset, value);
    status = selene_server_open(s, &options, &server, NULL);
    if (status == SELENE_OK) CHECK_OK(selene_server_close(server));
    return status;
}

/** Nobody is there: what is accepted answers OWNER_AWAY. */
static selene_status give_connect(selene_scheduler s, size_t offset, int64_t value) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    selene_status status;
    (void)s;
    options.path = text_of(path("nobody"));
    SET_FIELD(&options, offset, value);
    status = selene_scheduler_connect(&options, &connection);
    return status == SELENE_ERROR_OWNER_AWAY ? SELENE_OK : status;
}

static selene_status give_drain(selene_scheduler s, size_t offset, int64_t value) {
    selene_status status = selene_scheduler_drain(s, value);
    (void)offset;
    CHECK_OK(selene_scheduler_resume(s));
    return status;
}

static selene_status give_close(selene_scheduler s, size_t offset, int64_t value) {
    selene_scheduler other = open_on(trying);
    selene_status status = selene_scheduler_close(other, value);
    (void)s, (void)offset;
    CHECK_STATUS(status == SELENE_OK ? SELENE_ERROR_INVALID_HANDLE : SELENE_OK,
                 selene_scheduler_close(other, 0));
    if (status != SELENE_OK) status = selene_scheduler_close(open_on(trying), value);
    return status;
}

static selene_status give_cycle_drain(selene_scheduler s, size_t offset, int64_t value) {
    selene_cycle cycle = 0;
    selene_status status;
    (void)offset;
    CHECK_OK(selene_cycle_begin(s, NULL, &cycle));
    status = selene_cycle_drain(cycle, value);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    return status;
}

static selene_status give_driver_stop(selene_scheduler s, size_t offset, int64_t value) {
    (void)offset;
    return selene_driver_stop(s, value);
}

/** Ends a run whose outcome was given, or else is given now, and lets the task run again. */
static void end_run(selene_scheduler s, selene_cycle cycle, selene_run run, selene_status given) {
    CHECK_STATUS(given == SELENE_OK ? SELENE_ERROR_ALREADY_COMPLETED : SELENE_OK,
                 selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_task_set_next(s, "task", -1, 0));
}

static selene_status give_retry(selene_scheduler s, size_t offset, int64_t value) {
    selene_cycle cycle = 0;
    const selene_run run = begin_run(s, &cycle);
    const selene_status status = selene_run_retry(run, value);
    (void)offset;
    end_run(s, cycle, run, status);
    return status;
}

static selene_status give_fail(selene_scheduler s, size_t offset, int64_t value) {
    selene_cycle cycle = 0;
    const selene_run run = begin_run(s, &cycle);
    const selene_status status = selene_run_fail(run, SELENE_OUTCOME_FAILED, value, NULL, 0);
    (void)offset;
    end_run(s, cycle, run, status);
    return status;
}

static selene_status give_until(selene_scheduler s, size_t offset, int64_t value) {
    selene_cycle cycle = 0;
    const selene_run run = begin_run(s, &cycle);
    const selene_status status = selene_run_complete_until(run, SELENE_OUTCOME_NEW_DATA, value);
    (void)offset;
    end_run(s, cycle, run, status);
    return status;
}

static selene_status give_next(selene_scheduler s, size_t offset, int64_t value) {
    (void)offset;
    return selene_task_set_next(s, "task", -1, value);
}

static selene_status give_pause(selene_scheduler s, size_t offset, int64_t value) {
    (void)offset;
    return selene_scheduler_pause(s, SELENE_KIND_PROCESSING, NULL, 0, value);
}

static selene_status give_use_begin(selene_scheduler s, size_t offset, int64_t value) {
    int64_t now = 0;
    (void)offset;
    CHECK_OK(selene_scheduler_now(s, &now));
    return selene_use_report(s, value, now);
}

static selene_status give_use_end(selene_scheduler s, size_t offset, int64_t value) {
    (void)offset;
    return selene_use_report(s, 0, value);
}

static selene_status give_signal(selene_scheduler s, size_t offset, int64_t value) {
    (void)offset;
    return selene_signal_set(s, SELENE_SIGNAL_CPU_BUSY, 1, value);
}

static selene_status give_rule(selene_scheduler s, size_t factor, int64_t value) {
    const selene_rule rule = {(int32_t)factor, SELENE_KIND_REFRESH, SELENE_RULE_VETO, 0, 0, value};
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.rules = &rule;
    profile.rule_count = 1;
    return selene_governor_set_profile(s, &profile);
}

static selene_status give_limit(selene_scheduler s, size_t measure, int64_t value) {
    const selene_quota quota = {SELENE_KIND_REFRESH, (int32_t)measure, value, SELENE_DAY};
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.quotas = &quota;
    profile.quota_count = 1;
    return selene_governor_set_profile(s, &profile);
}

static selene_status give_quota_period(selene_scheduler s, size_t offset, int64_t value) {
    const selene_quota quota = {SELENE_KIND_REFRESH, SELENE_MEASURE_WINDOW_TIME, SELENE_HOUR,
                                value};
    selene_profile profile = SELENE_INIT(selene_profile);
    (void)offset;
    profile.quotas = &quota;
    profile.quota_count = 1;
    return selene_governor_set_profile(s, &profile);
}

#define OPTION(field)                                                                              \
    { #field, give_option, offsetof(selene_options, field), 0, 0, 0, 0 }
#define ONCE(field)                                                                                \
    { #field, give_once, offsetof(selene_task, field), 0, 0, 0, 0 }
#define WINDOWS(give)                                                                              \
    {"budget", give, offsetof(selene_window, budget), 0, 0, 1, 0}, {                               \
        "reserve", give, offsetof(selene_window, reserve), 0, 0, 0, 0                              \
    }
#define DRIVER(field)                                                                              \
    { #field, give_driver, offsetof(selene_driver, field), 0, 0, 0, 0 }
#define CALL(field, give)                                                                          \
    { field, give, 0, 0, 0, 0, 0 }

static const struct given durations[] = {
    OPTION(minimum_backoff),
    OPTION(maximum_backoff),
    OPTION(minimum_interval_refresh),
    OPTION(minimum_interval_processing),
    OPTION(release_after),
    OPTION(stop_grace),
    OPTION(expedited_quota),
    OPTION(crash_pause),
    ONCE(expected_response),
    ONCE(initial_delay),
    ONCE(backoff_delay),
    ONCE(timeout),
    ONCE(stall_limit),
    ONCE(latest_begin),
    {"period", give_periodic, offsetof(selene_task, period), 0, 0, 1, 0},
    {"flex", give_periodic, offsetof(selene_task, flex), 0, 0, 0, 0},
    WINDOWS(give_begin),
    WINDOWS(give_run),
    WINDOWS(give_async),
    WINDOWS(give_plan),
    DRIVER(refresh_budget),
    DRIVER(processing_budget),
    DRIVER(reserve),
    DRIVER(every),
    {"lease", give_node, offsetof(selene_node_options, lease), 100 * MS, 1, 1, 0},
    {"horizon", give_node, offsetof(selene_node_options, horizon), 0, 0, 0, 0},
    {"poll", give_node, offsetof(selene_node_options, poll), 10 * MS, 1, 1, 0},
    {"adopt", give_server, offsetof(selene_server_options, adopt), 0, 0, 0, 0},
    {"patience", give_server, offsetof(selene_server_options, patience), 0, 1, 1, 1},
    {"wait", give_connect, offsetof(selene_connect_options, wait), 0, 0, 0, 1},
    {"timeout", give_connect, offsetof(selene_connect_options, timeout), 0, 1, 1, 1},
    CALL("grace", give_drain),
    CALL("grace", give_close),
    CALL("grace", give_cycle_drain),
    CALL("grace", give_driver_stop),
    CALL("grace", give_leave),
    CALL("delay", give_retry),
    CALL("delay", give_fail),
    CALL("valid_for", give_signal),
    {"required", give_rule, SELENE_FACTOR_RATE, 0, 0, 0, 0},
    {"required", give_rule, SELENE_FACTOR_RECENT_USE, 0, 0, 0, 0},
    {"limit", give_limit, SELENE_MEASURE_WINDOW_TIME, 0, 0, 1, 0},
    {"limit", give_limit, SELENE_MEASURE_CPU_TIME, 0, 0, 1, 0},
    {"period", give_quota_period, 0, S, 1, 1, 0},
};

static const struct given instants[] = {
    CALL("next", give_next),          CALL("next", give_until),       CALL("until", give_pause),
    CALL("began_at", give_use_begin), CALL("ended_at", give_use_end),
};

/* ---- tests --------------------------------------------------------------------------------- */

/** The call is refused, with the field, the number and the constant. */
static void refused(selene_scheduler s, const struct given *given, int64_t value, int32_t unit,
                    const char *meant) {
    char found[96];
    selene_status status = given->give(s, given->offset, value);
    if (status != SELENE_ERROR_INVALID_ARGUMENT)
        fprintf(stderr, "%s %" PRId64 ": ", given->field, value);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, status);
    snprintf(found, sizeof found, "%s: %" PRId64 " ", given->field, value);
    DETAIL(found);
    DETAIL("allowed are ");
    DETAIL(meant);
    CHECK_TEXT(given->field, selene_error_last()->field);
    CHECK_INT(unit, selene_error_last()->unit);
    CHECK_INT(value, selene_error_last()->value);
    CHECK(selene_error_last()->least > value);
}

static void accepted(selene_scheduler s, const struct given *given, int64_t value) {
    selene_status status = given->give(s, given->offset, value);
    if (status != SELENE_OK) fprintf(stderr, "%s %" PRId64 ": ", given->field, value);
    CHECK_OK(status);
}

static void test_durations(void) {
    static const int64_t tiny[] = {1, 5, 60, 3600, MS - 1};
    size_t i, k;
    for (i = 0; i < COUNT(durations); i++) {
        const struct given *given = &durations[i];
        selene_scheduler s = open_on(SYSTEM);
        for (k = 0; k < COUNT(tiny); k++)
            refused(s, given, tiny[k], SELENE_UNIT_DURATION,
                    tiny[k] == 5 ? "was 5 * SELENE_SECOND meant?" : " * SELENE_");
        accepted(s, given, given->least ? given->least : MS);
        if (!given->required) accepted(s, given, 0);
        CHECK_OK(selene_scheduler_close(s, 0));
    }
}

static void test_instants(void) {
    static const struct {
        int64_t value;
        const char *meant;
    } early[] = {{INT64_C(1754000000), "was 1754000000 * SELENE_SECOND meant?"},
                 {INT64_C(1754000000000), "was 1754000000000 * SELENE_MILLISECOND meant?"},
                 {INT64_C(1754000000000000), "was 1754000000000000 * SELENE_MICROSECOND meant?"},
                 {5, "was selene_scheduler_now + 5 * SELENE_SECOND meant?"},
                 {NEWYEAR_1971 - 1, "selene_scheduler_now gives the present"}};
    size_t i, k;
    for (i = 0; i < COUNT(instants); i++) {
        const struct given *given = &instants[i];
        selene_scheduler s = open_on(SYSTEM);
        int64_t now = 0;
        for (k = 0; k < COUNT(early); k++)
            refused(s, given, early[k].value, SELENE_UNIT_INSTANT, early[k].meant);
        if (given->give != give_pause) accepted(s, given, NEWYEAR_1971);
        CHECK_OK(selene_scheduler_now(s, &now));
        if (given->give != give_use_end) accepted(s, given, 0);
        accepted(s, given, given->give == give_pause ? now + SELENE_HOUR : now);
        CHECK_OK(selene_scheduler_close(s, 0));
    }
}

/* Tests count as they like. */
static void test_told(void) {
    static const enum clock clocks[] = {SET, ASKED};
    size_t i, k;
    for (k = 0; k < COUNT(clocks); k++) {
        for (i = 0; i < COUNT(durations); i++) {
            selene_scheduler s = open_on(clocks[k]);
            if (!durations[i].bounded && !durations[i].real) accepted(s, &durations[i], 5);
            if (durations[i].real)
                refused(s, &durations[i], 5, SELENE_UNIT_DURATION, "5 * SELENE_SECOND");
            CHECK_OK(selene_scheduler_close(s, 0));
        }
        for (i = 0; i < COUNT(instants); i++) {
            selene_scheduler s = open_on(clocks[k]);
            accepted(s, &instants[i], instants[i].give == give_pause ? 101 * S : 5);
            CHECK_OK(selene_scheduler_close(s, 0));
        }
    }
}

/* Nothing of a refused call happens, and the run is still open. */
static void test_unchanged(void) {
    selene_scheduler s = open_on(SYSTEM);
    selene_cycle cycle = 0;
    selene_run run = begin_run(s, &cycle);
    int32_t reason = -1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_retry(run, 60));
    DETAIL("delay: 60 ns is out of range, allowed are 0, or 1 ms … 10 years; durations are in "
           "nanoseconds, was 60 * SELENE_SECOND meant?");
    CHECK_TEXT("0, or 1 ms … 10 years", selene_error_last()->allowed);
    /* As seconds they would be more than 24 h. */
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 give_once(s, offsetof(selene_task, timeout), 90000));
    DETAIL("90000 * SELENE_MILLISECOND");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_run_complete_until(run, SELENE_OUTCOME_NEW_DATA, INT64_C(1754000000)));
    DETAIL(
        "next: 1754000000 is out of range, allowed are 0, or instants from 1971 on; instants are "
        "in nanoseconds since 1970, was 1754000000 * SELENE_SECOND meant?");
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
}

/* What was measured, and what is left of a deadline, may be as short as it is. */
static void test_remainders(void) {
    selene_scheduler s = open_on(SYSTEM);
    selene_cycle cycle = 0;
    selene_run run;
    int32_t ready = -1, reason = -1;
    CHECK_OK(selene_ledger_report(s, SELENE_KIND_REFRESH, 5, 0));
    CHECK_OK(selene_driver_open(s, NULL, NULL));
    CHECK_OK(selene_driver_wait(s, 5, &ready));
    CHECK_OK(selene_driver_stop(s, 0));
    run = begin_run(s, &cycle);
    CHECK_OK(selene_run_sleep(run, 5, &reason));
    CHECK_OK(selene_run_progress(run, 5, 60, NULL, 0));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
}

/* The clock of the owner says what a connected process may give. */
static void test_connection(void) {
    static const enum clock clocks[] = {SYSTEM, SET};
    for (size_t i = 0; i < COUNT(clocks); i++) {
        const char *file = path(i == 0 ? "system" : "set");
        const selene_status expected =
            clocks[i] == SYSTEM ? SELENE_ERROR_INVALID_ARGUMENT : SELENE_OK;
        selene_options options = options_on(clocks[i]);
        selene_window window = SELENE_INIT(selene_window);
        selene_driver driver = SELENE_INIT(selene_driver);
        selene_task task = task_of("task");
        selene_plan *plan = NULL;
        selene_scheduler owner, member;
        options.path = text_of(file);
        owner = open_with(options);
        serve(owner);
        member = connect_to(file);
        task.initial_delay = 5;
        CHECK_STATUS(expected, selene_task_register(member, &task, NULL));
        if (expected) DETAIL("initial_delay: 5 ns");
        task.initial_delay = 0;
        CHECK_OK(selene_task_register(owner, &task, NULL));
        CHECK_STATUS(expected, selene_task_set_next(member, "task", -1, 5));
        if (expected) DETAIL("next: 5 ");
        window.budget = 30;
        CHECK_STATUS(expected, selene_cycle_plan(member, &window, &plan));
        if (expected) DETAIL("budget: 30 ns");
        if (!expected) selene_free(plan);
        driver.every = 30;
        CHECK_STATUS(expected, selene_driver_open(member, &driver, NULL));
        if (expected) DETAIL("every: 30 ns");
        /* A grace is of the process itself. */
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_driver_stop(member, 5));
        DETAIL("grace: 5 ns");
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_close(member, 5));
        DETAIL("grace: 5 ns");
        CHECK_OK(selene_scheduler_close(member, 0));
        CHECK_OK(selene_scheduler_close(owner, 0));
    }
}

/* What is in a store was accepted once. */
static void test_store(void) {
    const char *file = path("store");
    selene_options options = options_on(SET);
    selene_task task = task_of("tiny");
    selene_task_info *info = NULL;
    selene_scheduler s;
    options.path = text_of(file);
    options.clock_start = (int64_t)time(NULL) * S;
    s = open_with(options);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = 60;
    task.flex = task.timeout = task.stall_limit = task.expected_response = 5;
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_task_set_next(s, "tiny", -1, 5));
    CHECK_OK(selene_scheduler_close(s, 0));
    options = options_on(SYSTEM);
    options.path = text_of(file);
    s = open_with(options);
    CHECK_OK(selene_task_get(s, "tiny", -1, 0, &info));
    CHECK_INT(60, info->period);
    CHECK_INT(5, info->flex);
    CHECK_INT(5, info->timeout);
    CHECK_INT(5, info->stall_limit);
    CHECK_INT(5, info->expected_response);
    CHECK_INT(5, info->earliest_begin);
    selene_free(info);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(s, &task, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("V21 a duration from 1 ns to 1 ms is refused, with the constant that was meant",
             test_durations);
    run_test("V21 an instant before 1971 is refused, with the constant that was meant",
             test_instants);
    run_test("V21 on a clock of the host's every number is possible", test_told);
    run_test("V21 a refused call changes nothing, and says what is allowed", test_unchanged);
    run_test("V21 what was measured, and what is left, may be short", test_remainders);
    run_test("V21 the clock of the owner counts for connections", test_connection);
    run_test("V21 a store with such numbers opens", test_store);
    tools_end();
    return check_end();
}
