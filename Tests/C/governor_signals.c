/*
 * governor_signals.c - what a host says of signals, how long it holds, and what the system says where the host is silent
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

/* What each signal may be, and what its absence stands for. */
static const struct range {
    int32_t signal;
    int64_t least, greatest, unknown;
} ranges[] = {
    {SELENE_SIGNAL_BATTERY_LEVEL, 0, 1000, 1000},
    {SELENE_SIGNAL_EXTERNAL_POWER, 0, 1, 1},
    {SELENE_SIGNAL_LOW_POWER_MODE, 0, 1, 0},
    {SELENE_SIGNAL_THERMAL, 0, 3, 0},
    {SELENE_SIGNAL_USER_ACTIVE, 0, 1, 0},
    {SELENE_SIGNAL_DISPLAY_ON, 0, 1, 0},
    {SELENE_SIGNAL_UNLOCKED, 0, 1, 1},
    {SELENE_SIGNAL_NETWORK, 0, 1, 1},
    {SELENE_SIGNAL_METERED, 0, 1, 0},
    {SELENE_SIGNAL_AIRPLANE, 0, 1, 0},
    {SELENE_SIGNAL_BACKGROUND_SWITCH, 0, 1, 1},
    {SELENE_SIGNAL_HOST_PRESENCE, 0, 2, 0},
    {SELENE_SIGNAL_CPU_BUSY, 0, 1000, 0},
    {SELENE_SIGNAL_CPU_PRESSURE, 0, 1000, 0},
    {SELENE_SIGNAL_MEMORY_PRESSURE, 0, 1000, 0},
    {SELENE_SIGNAL_MEMORY_STALLED, 0, 1000, 0},
    {SELENE_SIGNAL_IO_PRESSURE, 0, 1000, 0},
    {SELENE_SIGNAL_IO_STALLED, 0, 1000, 0},
    {SELENE_SIGNAL_STORAGE_FREE, 0, 1000, 1000},
    {SELENE_SIGNAL_DISCHARGING, 0, 1, 0},
    {SELENE_SIGNAL_UTC_OFFSET, -64800, 64800, 0},
};

static void check_unknown(selene_scheduler scheduler, const struct range *range) {
    selene_signal reading = hear(scheduler, range->signal);
    CHECK_INT(range->unknown, reading.value);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, reading.source);
    CHECK_INT(SELENE_NEVER, reading.set_at);
    CHECK_INT(SELENE_NEVER, reading.since);
    CHECK_INT(SELENE_NEVER, reading.until);
}

static void test_said(void) {
    selene_scheduler scheduler = open_plain();
    CHECK_INT(21, COUNT(ranges));
    for (size_t i = 0; i < COUNT(ranges); i++) {
        const struct range *range = &ranges[i];
        selene_signal reading;
        check_unknown(scheduler, range);
        for (int64_t value = range->least; value <= range->greatest;
             value += value < range->least + 3 ? 1 : (range->greatest - value + 1) / 2 + 1) {
            CHECK_OK(selene_signal_set(scheduler, range->signal, value, 0));
            reading = hear(scheduler, range->signal);
            CHECK_INT(value, reading.value);
            CHECK_INT(SELENE_SOURCE_HOST, reading.source);
            CHECK_INT(clock_now, reading.set_at);
            CHECK_INT(clock_now, reading.since);
            CHECK_INT(SELENE_NEVER, reading.until);
            advance(S);
        }
        CHECK_OK(selene_signal_clear(scheduler, range->signal));
        check_unknown(scheduler, range);
        CHECK_OK(selene_signal_clear(scheduler, range->signal)); /* does nothing */
        check_unknown(scheduler, range);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_refused(void) {
    static const int32_t strangers[] = {0, 23, -1, INT32_MIN, INT32_MAX, 256 + 1};
    selene_scheduler scheduler = open_plain();
    selene_signal reading = SELENE_INIT(selene_signal), before = reading;
    for (size_t i = 0; i < COUNT(ranges); i++) {
        const struct range *range = &ranges[i];
        const int64_t wrong[] = {range->least - 1, range->greatest + 1, INT64_MIN, INT64_MAX};
        CHECK_OK(selene_signal_set(scheduler, range->signal, range->greatest, 0));
        for (size_t k = 0; k < COUNT(wrong); k++) {
            CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                         selene_signal_set(scheduler, range->signal, wrong[k], 0));
            CHECK(strstr(selene_error_last()->message.data,
                         selene_name(SELENE_NAMES_SIGNAL, range->signal)) != NULL);
            CHECK_INT(range->greatest, hear(scheduler, range->signal).value);
        }
    }
    for (size_t i = 0; i < COUNT(strangers); i++) {
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_signal_set(scheduler, strangers[i], 0, 0));
        CHECK(strstr(selene_error_last()->message.data, "signal") != NULL);
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_signal_clear(scheduler, strangers[i]));
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_signal_get(scheduler, strangers[i], &reading));
        CHECK(memcmp(&before, &reading, sizeof reading) == 0);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_validity(void) {
    selene_scheduler scheduler = open_plain();
    const int64_t begun = clock_now;
    selene_signal reading;
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, 3, 10 * S));
    reading = hear(scheduler, SELENE_SIGNAL_THERMAL);
    CHECK_INT(begun + 10 * S, reading.until);
    advance(4 * S);
    /* The same again: it is newer and lasts longer, and has been so since the first. */
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, 3, 10 * S));
    reading = hear(scheduler, SELENE_SIGNAL_THERMAL);
    CHECK_INT(begun, reading.since);
    CHECK_INT(begun + 4 * S, reading.set_at);
    CHECK_INT(begun + 14 * S, reading.until);
    advance(10 * S - 1);
    CHECK_INT(3, hear(scheduler, SELENE_SIGNAL_THERMAL).value);
    advance(1);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_THERMAL).source);
    CHECK_INT(0, hear(scheduler, SELENE_SIGNAL_THERMAL).value);
    /* After a gap it is so since now. */
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, 3, 1));
    CHECK_INT(clock_now, hear(scheduler, SELENE_SIGNAL_THERMAL).since);
    advance(1);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_THERMAL).source);
    /* 0 or less, and what no clock reaches: it stays. */
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, 2, -1));
    CHECK_INT(SELENE_NEVER, hear(scheduler, SELENE_SIGNAL_THERMAL).until);
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, 2, INT64_MIN));
    CHECK_INT(SELENE_NEVER, hear(scheduler, SELENE_SIGNAL_THERMAL).until);
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, 2, INT64_MAX));
    CHECK_INT(SELENE_NEVER, hear(scheduler, SELENE_SIGNAL_THERMAL).until);
    advance(100 * SELENE_DAY);
    CHECK_INT(2, hear(scheduler, SELENE_SIGNAL_THERMAL).value);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_sources(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    selene_signal reading, probed;
    char folder[] = "/tmp/selene-signals.XXXXXX", store[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(store, sizeof store, "%s/store", folder);
    options.path = (selene_text){store, -1};
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    /* Every machine has a time zone and a network or none, and room where the store is. */
    probed = hear(scheduler, SELENE_SIGNAL_STORAGE_FREE);
    CHECK_INT(SELENE_SOURCE_PROBE, probed.source);
    CHECK_BETWEEN(0, probed.value, 1000);
    CHECK_INT(SELENE_SOURCE_PROBE, hear(scheduler, SELENE_SIGNAL_NETWORK).source);
    CHECK_INT(SELENE_SOURCE_PROBE, hear(scheduler, SELENE_SIGNAL_UTC_OFFSET).source);
    /* The host goes before it, until what it said expires or is taken back. */
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_STORAGE_FREE, 1, 0));
    reading = hear(scheduler, SELENE_SIGNAL_STORAGE_FREE);
    CHECK_INT(SELENE_SOURCE_HOST, reading.source);
    CHECK_INT(1, reading.value);
    CHECK_OK(selene_signal_clear(scheduler, SELENE_SIGNAL_STORAGE_FREE));
    CHECK_INT(SELENE_SOURCE_PROBE, hear(scheduler, SELENE_SIGNAL_STORAGE_FREE).source);
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_STORAGE_FREE, 1, 20 * MS));
    check_sleep(25 * MS);
    CHECK_INT(SELENE_SOURCE_PROBE, hear(scheduler, SELENE_SIGNAL_STORAGE_FREE).source);
    /* What only a host knows stays unknown. */
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_METERED).source);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH).source);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    unlink(store);
    CHECK_INT(0, rmdir(folder));
    /* Without a store there is no room to speak of; with a host clock nothing is read at all. */
    scheduler = open_real();
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_STORAGE_FREE).source);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_plain();
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_NETWORK).source);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static selene_scheduler changed_meanwhile;
static void (*change)(selene_scheduler scheduler);

static void ask_for_room(selene_scheduler scheduler) {
    const selene_rule rule = {SELENE_FACTOR_STORAGE_FREE, EACH, SELENE_RULE_VETO, 0, 0, 1000};
    set_rules(scheduler, &rule, 1);
}

static void take_back(selene_scheduler scheduler) {
    CHECK_OK(selene_signal_clear(scheduler, SELENE_SIGNAL_STORAGE_FREE));
}

static void change_once(const selene_event *event, void *context) {
    void (*body)(selene_scheduler) = change;
    (void)event, (void)context;
    change = NULL;
    if (body) body(changed_meanwhile);
}

/** Leaves a run in a window that has expired, which nobody was told yet. */
static void leave_expired(selene_scheduler scheduler) {
    int32_t step = SELENE_STEP_DONE;
    for (int64_t budget = 50 * MS; step != SELENE_STEP_RUN; budget *= 4) {
        selene_cycle cycle = begin(scheduler, window_of(budget, budget / 2, 1));
        selene_run_info info = SELENE_INIT(selene_run_info);
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        if (step == SELENE_STEP_RUN) check_sleep(budget);
        else CHECK_OK(selene_cycle_end(cycle, NULL)); /* it expired before that */
    }
}

/** A scheduler that changes what has to be read while the next call has left its lock to read. */
static selene_scheduler open_changing(int number, void (*body)(selene_scheduler scheduler)) {
    char name[16];
    selene_options options;
    selene_scheduler scheduler = 0;
    snprintf(name, sizeof name, "store%d", number);
    options = stored_options(file_named(name));
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    for (int i = 0; i < 2; i++) {
        const char *id = i ? "b" : "a";
        CHECK_OK(selene_handler_register(scheduler, id, -1, NULL, NULL, NULL, NULL));
        CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, i ? once_of(id) : task_of(id)));
    }
    if (body == take_back) {
        ask_for_room(scheduler);
        say(scheduler, SELENE_SIGNAL_STORAGE_FREE, 1000);
    }
    CHECK_OK(selene_driver_open(scheduler, NULL, NULL));
    CHECK_OK(selene_scheduler_observe(scheduler, change_once, NULL, NULL));
    /* Whoever comes after its expiry tells of it before he reads. */
    leave_expired(scheduler);
    changed_meanwhile = scheduler;
    change = body;
    return scheduler;
}

/** What a decision looks at is read before it, also where that was another thing when the reading began. */
static void test_changed_meanwhile(void) {
    void (*const bodies[])(selene_scheduler) = {ask_for_room, take_back};
    for (int i = 0; i < 2; i++) {
        selene_scheduler scheduler = open_changing(3 * i, bodies[i]);
        selene_cycle cycle = 77;
        struct verdict verdict = ask(scheduler, PROCESSING);
        CHECK(!change);
        CHECK_INT(0, verdict.decision.granted);
        CHECK_INT(SELENE_SOURCE_PROBE, verdict.findings[0].source);
        CHECK_OK(selene_scheduler_close(scheduler, 0));

        scheduler = open_changing(3 * i + 1, bodies[i]);
        CHECK_INT(SELENE_SOURCE_PROBE, hear(scheduler, SELENE_SIGNAL_STORAGE_FREE).source);
        CHECK(!change);
        CHECK_OK(selene_scheduler_close(scheduler, 0));

        scheduler = open_changing(3 * i + 2, bodies[i]);
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
        CHECK(!change);
        CHECK_INT(0, cycle);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* At once as many tasks as run, then what the counters of the CPUs say. */
static void test_busy(void) {
    selene_scheduler scheduler = open_real();
    int64_t first, limit = check_now() + PATIENCE;
    volatile unsigned long sum = 0;
    selene_signal reading = hear(scheduler, SELENE_SIGNAL_CPU_BUSY);
    CHECK_INT(SELENE_SOURCE_PROBE, reading.source);
    CHECK_BETWEEN(0, reading.value, 1000);
    first = reading.set_at;
    while (reading.set_at == first && check_now() < limit) {
        for (int i = 0; i < 10000000; i++)
            sum += (unsigned long)i;
        reading = hear(scheduler, SELENE_SIGNAL_CPU_BUSY);
    }
    CHECK(reading.set_at >= first + 200 * MS);
    CHECK_BETWEEN(1, reading.value, 1000); /* this loop alone */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Signals and the two that conditions_set sets are one thing, whoever sets them, and whichever way. */
static void test_conditions_are_signals(void) {
    selene_scheduler scheduler = open_plain();
    uint32_t satisfied = 0, host = 77;
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_INT(BOTH, satisfied & BOTH); /* unknown, as the governor takes them */
    CHECK_INT(0, host);
    say(scheduler, SELENE_SIGNAL_NETWORK, 0);
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_INT(SELENE_CONSTRAINT_EXTERNAL_POWER, satisfied & BOTH);
    CHECK_INT(SELENE_CONSTRAINT_NETWORK, host);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    CHECK_INT(1, hear(scheduler, SELENE_SIGNAL_NETWORK).value);
    CHECK_INT(0, hear(scheduler, SELENE_SIGNAL_EXTERNAL_POWER).value);
    CHECK_INT(SELENE_SOURCE_HOST, hear(scheduler, SELENE_SIGNAL_EXTERNAL_POWER).source);
    CHECK_OK(selene_signal_clear(scheduler, SELENE_SIGNAL_EXTERNAL_POWER));
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_INT(BOTH, satisfied & BOTH);
    CHECK_INT(SELENE_CONSTRAINT_NETWORK, host);
    CHECK_OK(selene_conditions_set(scheduler, 0, 0)); /* what conditions_set set is given back */
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_NETWORK).source);
    /* What is said for a time ends for tasks, too. */
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_NETWORK, 0, 10 * S));
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_INT(0, satisfied & SELENE_CONSTRAINT_NETWORK);
    advance(10 * S);
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_INT(SELENE_CONSTRAINT_NETWORK, satisfied & SELENE_CONSTRAINT_NETWORK);
    CHECK_INT(0, host);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G1 what the host says of a signal counts until it is taken back", test_said);
    run_test("G1 a value outside a signal's range is refused, and nothing changes", test_refused);
    run_test("G1 a signal with a validity is unknown when it ends", test_validity);
    run_test("G1 the host goes before the system, which is read where the host is silent",
             test_sources);
    run_test("G3 what a decision looks at is read, though it changes in the middle",
             test_changed_meanwhile);
    run_test("G1 the share of busy CPU time is known at once, and is of the last seconds",
             test_busy);
    run_test("W1 what conditions_set says is said of signals, and what signals say counts for "
             "conditions",
             test_conditions_are_signals);
    return check_end();
}
