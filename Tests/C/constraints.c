/*
 * constraints.c - conditions of the machine that tasks ask for: the governor's signals, seen by tasks (W1)
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/** A constraint, the signal that takes it away, by which values, and the factor that asks for the same. */
static const struct row {
    uint32_t bit;
    int32_t signal;
    int64_t lost, kept;
    int32_t factor;
} rows[] = {
    {SELENE_CONSTRAINT_NETWORK, SELENE_SIGNAL_NETWORK, 0, 1, SELENE_FACTOR_NETWORK},
    {SELENE_CONSTRAINT_EXTERNAL_POWER, SELENE_SIGNAL_EXTERNAL_POWER, 0, 1,
     SELENE_FACTOR_EXTERNAL_POWER},
    {SELENE_CONSTRAINT_UNMETERED, SELENE_SIGNAL_METERED, 1, 0, SELENE_FACTOR_METERED},
    {SELENE_CONSTRAINT_BATTERY_NOT_LOW, SELENE_SIGNAL_BATTERY_LEVEL, 199, 200,
     SELENE_FACTOR_BATTERY},
    {SELENE_CONSTRAINT_IDLE, SELENE_SIGNAL_USER_ACTIVE, 1, 0, SELENE_FACTOR_USER_ACTIVE},
    {SELENE_CONSTRAINT_STORAGE_NOT_LOW, SELENE_SIGNAL_STORAGE_FREE, 49, 50,
     SELENE_FACTOR_STORAGE_FREE},
    {SELENE_CONSTRAINT_DISPLAY_OFF, SELENE_SIGNAL_DISPLAY_ON, 1, 0, SELENE_FACTOR_DISPLAY_ON},
    {SELENE_CONSTRAINT_NOT_ROAMING, SELENE_SIGNAL_ROAMING, 1, 0, 0},
};
enum { ALL = 255 };

static selene_task needy(const char *id, uint32_t constraints) {
    selene_task task = once_of(id);
    task.handler = SELENE_TEXT("work");
    task.constraints = constraints;
    return task;
}

static selene_scheduler open_working(void) {
    selene_scheduler scheduler = open_plain();
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    return scheduler;
}

/** A number below another (xorshift). */
static uint64_t below(uint64_t *random, uint64_t end) {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % end;
}

static uint32_t satisfied_in(selene_scheduler scheduler) {
    uint32_t satisfied = 0;
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, NULL));
    return satisfied;
}

/** The bits that a task waits for, or 0. */
static uint32_t missing(selene_scheduler scheduler, const char *id) {
    const selene_explanation explanation = explain(scheduler, id);
    for (uint32_t i = 0; i < explanation.reason_count; i++)
        if (explanation.reasons[i].reason == SELENE_REASON_CONSTRAINTS)
            return explanation.reasons[i].constraints;
    return 0;
}

/** A task waits for each of its constraints, and a run that loses one is stopped as if it had not begun. */
static void test_each(void) {
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        selene_scheduler scheduler = open_working();
        selene_cycle cycle;
        selene_run run;
        add(scheduler, needy("needy", row->bit));
        add(scheduler, needy("other", ALL & ~row->bit & ~(uint32_t)SELENE_CONSTRAINT_UNMETERED &
                                          ~(uint32_t)SELENE_CONSTRAINT_NOT_ROAMING));
        say(scheduler, SELENE_SIGNAL_DISCHARGING, 1);
        say(scheduler, row->signal, row->lost);
        CHECK_INT(row->bit, missing(scheduler, "needy"));
        CHECK_INT(0, missing(scheduler, "other"));
        CHECK_INT(0, satisfied_in(scheduler) & row->bit);
        say(scheduler, row->signal, row->kept);
        CHECK_INT(0, missing(scheduler, "needy"));
        CHECK_INT(ALL, satisfied_in(scheduler));

        cycle = begin(scheduler, window_for(EACH, MIN));
        run = next(cycle, "needy");
        advance(S);
        say(scheduler, row->signal, row->lost);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "needy").state);
        CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, record(scheduler, "needy").stop_reason);
        CHECK_INT(0, record(scheduler, "needy").attempts);
        (void)next(cycle, "other");
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** What is about a network needs one; a battery is only low while it is being emptied. */
static void test_together(void) {
    selene_scheduler scheduler = open_working();
    add(scheduler, needy("cheap", SELENE_CONSTRAINT_UNMETERED));
    add(scheduler, needy("home", SELENE_CONSTRAINT_NOT_ROAMING));
    add(scheduler, needy("charged", SELENE_CONSTRAINT_BATTERY_NOT_LOW));
    say(scheduler, SELENE_SIGNAL_NETWORK, 0);
    CHECK_INT(SELENE_CONSTRAINT_UNMETERED, missing(scheduler, "cheap"));
    CHECK_INT(SELENE_CONSTRAINT_NOT_ROAMING, missing(scheduler, "home"));
    say(scheduler, SELENE_SIGNAL_NETWORK, 1);
    CHECK_INT(0, missing(scheduler, "cheap") | missing(scheduler, "home"));
    say(scheduler, SELENE_SIGNAL_BATTERY_LEVEL, 10);
    CHECK_INT(0, missing(scheduler, "charged"));
    say(scheduler, SELENE_SIGNAL_DISCHARGING, 1);
    CHECK_INT(SELENE_CONSTRAINT_BATTERY_NOT_LOW, missing(scheduler, "charged"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A machine that cannot tell keeps nobody waiting, and says that it cannot. */
static void test_unknown(void) {
    selene_scheduler scheduler = open_working();
    add(scheduler, needy("all", ALL));
    CHECK_INT(0, missing(scheduler, "all"));
    CHECK_INT(1, explain(scheduler, "all").rank);
    CHECK_INT(ALL, explain(scheduler, "all").unknown_constraints);
    say(scheduler, SELENE_SIGNAL_METERED, 0);
    CHECK_INT(ALL & ~SELENE_CONSTRAINT_UNMETERED, explain(scheduler, "all").unknown_constraints);
    say(scheduler, SELENE_SIGNAL_ROAMING, 1);
    CHECK_INT(SELENE_CONSTRAINT_NOT_ROAMING, missing(scheduler, "all"));
    CHECK_INT(ALL & ~SELENE_CONSTRAINT_UNMETERED & ~SELENE_CONSTRAINT_NOT_ROAMING,
              explain(scheduler, "all").unknown_constraints);
    add(scheduler, needy("none", 0));
    CHECK_INT(0, explain(scheduler, "none").unknown_constraints);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What is said for a time ends by itself: who waits for it is told when, and woken then. */
static void test_expiry(void) {
    selene_scheduler scheduler = open_working();
    selene_window window = window_for(EACH, SELENE_HOUR);
    const int64_t until = clock_now + 10 * S;
    int64_t at;
    selene_cycle cycle;
    window.flags = 0;
    window.lanes = 2;
    add(scheduler, needy("quiet", SELENE_CONSTRAINT_IDLE | SELENE_CONSTRAINT_DISPLAY_OFF));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1, 10 * S));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_DISPLAY_ON, 1, 5 * S));
    CHECK_INT(until, why(scheduler, "quiet", SELENE_REASON_CONSTRAINTS).may_change_at);
    CHECK_INT(until, wakeup(scheduler));
    add(scheduler, needy("any", 0));
    cycle = begin(scheduler, window);
    selene_run any = next(cycle, "any");
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, &at));
    CHECK_INT(until - 5 * S, at); /* the display's */
    advance(5 * S);
    CHECK_INT(SELENE_CONSTRAINT_IDLE, missing(scheduler, "quiet"));
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, &at));
    CHECK_INT(until, at);
    advance(5 * S - 1);
    CHECK_INT(SELENE_CONSTRAINT_IDLE, missing(scheduler, "quiet"));
    advance(1);
    complete(next(cycle, "quiet"));
    complete(any);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* Where it went is told to the nanosecond, though nobody called at the instant itself. */
    add(scheduler, needy("waits", SELENE_CONSTRAINT_IDLE));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1, 7 * S));
    advance(20 * S);
    selene_waits *waits = NULL;
    CHECK_OK(selene_task_waits(scheduler, "waits", -1, &waits));
    CHECK_INT(2, waits->part_count);
    CHECK_INT(SELENE_REASON_CONSTRAINTS, waits->parts[0].reason);
    CHECK_INT(SELENE_CONSTRAINT_IDLE, waits->parts[0].detail);
    CHECK_INT(7 * S, waits->parts[0].duration);
    CHECK_INT(SELENE_REASON_NO_WINDOW, waits->parts[1].reason);
    selene_free(waits);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Drivers, stepped and on threads, wake for what a host says and for its end. */
static void test_drivers(void) {
    struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler = open_working();
    selene_cycle cycle = 0;
    int64_t wake_at = 0;
    add(scheduler, needy("quiet", SELENE_CONSTRAINT_IDLE));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1, 10 * S));
    CHECK_OK(selene_driver_open(scheduler, NULL, NULL));
    CHECK_OK(selene_driver_step(scheduler, &cycle, &wake_at));
    CHECK_INT(0, cycle);
    CHECK_INT(clock_now + 10 * S, wake_at);
    advance(10 * S);
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    complete(next(cycle, "quiet"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));

    scheduler = open_real();
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1, 0));
    CHECK_OK(selene_driver_start(scheduler, NULL));
    add_handler(scheduler, "work", &work);
    add(scheduler, needy("quiet", SELENE_CONSTRAINT_IDLE));
    check_sleep(50 * MS);
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0, 0));
    wait_for("the handler", &work.started, 1);
    wait_for_state(scheduler, "quiet", SELENE_STATE_SUCCEEDED);
    CHECK_OK(selene_scheduler_close(scheduler, BRIEF));
}

/** A constraint that is first asked for in an open window is read before a pick goes by it. */
static void test_first(void) {
    selene_scheduler scheduler = 0;
    selene_options options = stored_options(file_named("first"));
    selene_window window = window_for(EACH, MIN);
    selene_cycle cycle;
    window.flags = 0;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    add(scheduler, needy("any", 0));
    cycle = begin(scheduler, window);
    complete(next(cycle, "any"));
    CHECK_INT(0, explain(scheduler, "any").unknown_constraints);
    add(scheduler, needy("roomy", SELENE_CONSTRAINT_STORAGE_NOT_LOW));
    CHECK_INT(0, explain(scheduler, "roomy").unknown_constraints);
    CHECK_INT(SELENE_SOURCE_PROBE, hear(scheduler, SELENE_SIGNAL_STORAGE_FREE).source);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));

    /* And it is stored. */
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_INT(SELENE_CONSTRAINT_STORAGE_NOT_LOW, record(scheduler, "roomy").constraints);
    add(scheduler, needy("all", ALL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_INT(ALL, record(scheduler, "all").constraints);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What conditions_set says of a bit is said of its signals, and given back by the next call that does not name it. */
static void test_by_bit(void) {
    selene_scheduler scheduler = open_working();
    uint32_t satisfied, host;
    say(scheduler, SELENE_SIGNAL_ROAMING, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].bit == SELENE_CONSTRAINT_NOT_ROAMING) continue;
        CHECK_OK(selene_conditions_set(scheduler, rows[i].bit, 0));
        CHECK_INT(rows[i].lost, hear(scheduler, rows[i].signal).value);
        CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
        CHECK_INT(0, satisfied & rows[i].bit);
        CHECK_INT(rows[i].bit | SELENE_CONSTRAINT_NOT_ROAMING, host);
        CHECK_OK(selene_conditions_set(scheduler, rows[i].bit, rows[i].bit));
        CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
        CHECK_INT(ALL & ~SELENE_CONSTRAINT_NOT_ROAMING, satisfied);
        CHECK_INT(rows[i].bit | SELENE_CONSTRAINT_NOT_ROAMING, host);
    }
    /* What was said otherwise is not given back by it. */
    CHECK_OK(selene_conditions_set(scheduler, 0, 0));
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_INT(SELENE_CONSTRAINT_NOT_ROAMING, host);
    CHECK_INT(1, hear(scheduler, SELENE_SIGNAL_ROAMING).value);
    for (size_t i = 0; i < COUNT(rows) - 1; i++)
        CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, rows[i].signal).source);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Whatever is said, a constraint is what a veto of the same factors with their usual requirements would be. */
static void test_agree(void) {
    static const int32_t signals[] = {SELENE_SIGNAL_NETWORK,       SELENE_SIGNAL_EXTERNAL_POWER,
                                      SELENE_SIGNAL_METERED,       SELENE_SIGNAL_DISCHARGING,
                                      SELENE_SIGNAL_USER_ACTIVE,   SELENE_SIGNAL_DISPLAY_ON,
                                      SELENE_SIGNAL_BATTERY_LEVEL, SELENE_SIGNAL_STORAGE_FREE};
    selene_scheduler scheduler = open_working();
    uint64_t random = (uint64_t)check_now() | 1;
    fprintf(stderr, "seed %" PRIu64 "\n", random);
    for (int round = 0; round < 2000; round++) {
        const int32_t signal = signals[below(&random, COUNT(signals))];
        const int64_t greatest =
            signal == SELENE_SIGNAL_BATTERY_LEVEL || signal == SELENE_SIGNAL_STORAGE_FREE ? 300 : 2;
        uint32_t satisfied;
        if (below(&random, 4) == 0) CHECK_OK(selene_signal_clear(scheduler, signal));
        else
            CHECK_OK(selene_signal_set(scheduler, signal,
                                       (int64_t)below(&random, (uint64_t)greatest),
                                       (int64_t)below(&random, 20) * S));
        advance((int64_t)below(&random, 3) * S);
        satisfied = satisfied_in(scheduler);
        for (size_t i = 0; i < COUNT(rows); i++) {
            if (!rows[i].factor) continue;
            selene_rule rules[] = {veto_of(rows[i].factor, EACH, 0),
                                   veto_of(SELENE_FACTOR_NETWORK, EACH, 0)};
            set_rules(scheduler, rules, rows[i].bit == SELENE_CONSTRAINT_UNMETERED ? 2 : 1);
            CHECK_INT(granted(scheduler, PROCESSING), (satisfied & rows[i].bit) != 0);
        }
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What a task may ask for is said where it asks for more. */
static void test_refused(void) {
    selene_scheduler scheduler = open_working();
    selene_task task = needy("a", 256);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    CHECK(strstr(selene_error_last()->message.data, "constraints") != NULL);
    CHECK(strstr(selene_error_last()->message.data, "255") != NULL);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_conditions_set(scheduler, 256, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_conditions_set(scheduler, 4, 8));
    CHECK_INT(ALL, satisfied_in(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W1 a task waits for each of its constraints, a run that loses one is stopped",
             test_each);
    run_test("W1 what is about a network needs one, a battery is low while it is emptied",
             test_together);
    run_test("W1 what nobody can tell counts as satisfied, and is told", test_unknown);
    run_test("W1 what is said for a time ends for who waits for it", test_expiry);
    run_test("W1 drivers wake for what is said and for its end", test_drivers);
    run_test("W1 what is first asked for in an open window is read first, and is stored",
             test_first);
    run_test("W1 what is said of a bit is said of its signals", test_by_bit);
    run_test("W1 constraints and the governor agree, whatever is said", test_agree);
    run_test("W1 what is no constraint is refused", test_refused);
    return check_end();
}
