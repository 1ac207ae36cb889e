/*
 * governor_ledger.c - what windows cost, when a budget is spent and free again, and when the host is likely to be used
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

static const selene_quota ten_in_two = {REFRESH, SELENE_MEASURE_WINDOW_TIME, 10 * MIN, 2 * H};

/* ============================================================================
 *  BUDGETS
 * ========================================================================= */

/* The worked example of docs/governor.md: 10 min in 2 h, used from 0 to 6 min and from 60 to 64 min. */
static void test_rolling(void) {
    selene_scheduler scheduler = open_plain();
    struct verdict verdict;
    selene_balance now;
    set_quotas(scheduler, &ten_in_two, 1);
    now = balance(scheduler, REFRESH);
    CHECK_INT(0, now.is_spent);
    CHECK_INT(0, now.used);
    CHECK_INT(10 * MIN, now.free);
    CHECK_INT(SELENE_NEVER, now.last_begin);

    use_window(scheduler, REFRESH, 6 * MIN, 6 * MIN);
    now = balance(scheduler, REFRESH);
    CHECK_INT(600, now.used);
    CHECK_INT(4 * MIN, now.free);
    CHECK_INT(START, now.last_begin);
    CHECK_INT(0, now.is_spent);
    verdict = ask(scheduler, REFRESH);
    CHECK_INT(4 * MIN, verdict.decision.longest_window);

    advance(54 * MIN);
    {
        selene_cycle cycle = begin(scheduler, window_for(REFRESH, 4 * MIN));
        advance(4 * MIN - 1);
        CHECK_INT(0, balance(scheduler, REFRESH).is_spent);
        CHECK_INT(0, balance(scheduler, REFRESH).free); /* charged whole */
        advance(1);
        CHECK_INT(1, balance(scheduler, REFRESH).is_spent); /* 64:00 */
        CHECK_OK(selene_cycle_end(cycle, NULL));
    }
    CHECK_INT(START + 64 * MIN, clock_now);
    now = balance(scheduler, REFRESH);
    CHECK_INT(1, now.is_spent);
    CHECK_INT(1000, now.used);
    CHECK_INT(START + 120 * MIN + 30 * S, now.free_at);
    verdict = ask(scheduler, REFRESH);
    CHECK_INT(0, verdict.decision.granted);
    CHECK_INT(START + 120 * MIN + 30 * S, verdict.decision.ask_again_at);
    CHECK_INT(1000, finding(&verdict, SELENE_FACTOR_BUDGET).observed);
    CHECK_INT(SELENE_SOURCE_BOOKS, finding(&verdict, SELENE_FACTOR_BUDGET).source);

    advance(56 * MIN + 15 * S); /* 120:15 */
    now = balance(scheduler, REFRESH);
    CHECK_INT(1, now.is_spent);
    CHECK_INT(15 * S, now.free); /* 9.75 min used */
    CHECK_INT(975, now.used);
    CHECK_INT(0, granted(scheduler, REFRESH));
    advance(15 * S - 1);
    CHECK_INT(0, granted(scheduler, REFRESH));
    advance(1); /* 120:30 */
    CHECK_INT(1, granted(scheduler, REFRESH));
    CHECK_INT(0, balance(scheduler, REFRESH).is_spent);
    CHECK_INT(1, granted(scheduler, PROCESSING)); /* it has no quota */
    CHECK_INT(SELENE_NEVER, balance(scheduler, PROCESSING).free);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_refund(void) {
    selene_scheduler scheduler = open_plain();
    selene_cycle cycle;
    set_quotas(scheduler, &ten_in_two, 1);
    cycle = begin(scheduler, window_for(REFRESH, 10 * MIN));
    CHECK_INT(0, balance(scheduler, REFRESH).free);
    CHECK_INT(0, balance(scheduler, REFRESH).is_spent);
    advance(MIN);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(9 * MIN, balance(scheduler, REFRESH).free);
    /* Ended only after its deadline, it has used what it was given. */
    cycle = begin(scheduler, window_for(REFRESH, 2 * MIN));
    advance(H);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(7 * MIN, balance(scheduler, REFRESH).free);
    /* A forgotten one likewise, ended by the next begin. */
    begin(scheduler, window_for(REFRESH, MIN));
    advance(H);
    use_window(scheduler, REFRESH, MIN, 0);
    CHECK_INT(7 * MIN, balance(scheduler, REFRESH).free); /* the first has left */
    /* A window of both kinds is charged to both, one of one task to none; meanwhile the second leaves. */
    use_window(scheduler, EACH, MIN, MIN);
    CHECK_INT(7 * MIN, balance(scheduler, REFRESH).free);
    CHECK_INT(clock_now - MIN, balance(scheduler, PROCESSING).last_begin);
    {
        struct work work = {.behaviour = COMPLETE};
        selene_window window = window_for(REFRESH, MIN);
        add_work(scheduler, "a", &work);
        window.task = SELENE_TEXT("a");
        cycle = begin(scheduler, window);
        advance(MIN);
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_INT(8 * MIN, balance(scheduler, REFRESH).free);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* Without end one may do what costs nothing. */
static void test_refused_costs_nothing(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    selene_window window = window_for(REFRESH, MIN);
    selene_cycle cycle = 0;
    options.minimum_interval_refresh = H;
    scheduler = open_virtual(options);
    set_quotas(scheduler, &ten_in_two, 1);
    use_window(scheduler, REFRESH, MIN, MIN);
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_scheduler_enable(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_INT(9 * MIN, balance(scheduler, REFRESH).free);
    CHECK_INT(START, balance(scheduler, REFRESH).last_begin);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_measures(void) {
    const selene_quota quotas[] = {
        {PROCESSING, SELENE_MEASURE_CPU_TIME, 10 * S, H},
        {PROCESSING, SELENE_MEASURE_WINDOWS, 3, H},
        {EACH, SELENE_MEASURE_BYTES, 1600, H},
    };
    selene_scheduler scheduler = open_plain();
    selene_balance now;
    set_quotas(scheduler, quotas, COUNT(quotas));
    use_window(scheduler, PROCESSING, MIN, MIN);
    now = balance(scheduler, PROCESSING);
    CHECK_INT(333, now.used);
    CHECK_INT(SELENE_NEVER, now.free); /* of time there is no limit */
    CHECK_OK(selene_ledger_report(scheduler, PROCESSING, 5 * S, 1599));
    CHECK_INT(999, balance(scheduler, PROCESSING).used);
    CHECK_INT(0, balance(scheduler, REFRESH).used);
    CHECK_OK(selene_ledger_report(scheduler, PROCESSING, 0, 1));
    now = balance(scheduler, PROCESSING);
    CHECK_INT(1, now.is_spent);
    CHECK_INT(START + MIN + H, now.free_at); /* when the window has left */
    CHECK_INT(0, granted(scheduler, PROCESSING));
    advance(H - 1);
    CHECK_INT(0, granted(scheduler, PROCESSING));
    advance(1);
    CHECK_INT(1, granted(scheduler, PROCESSING));
    for (int i = 0; i < 3; i++)
        use_window(scheduler, PROCESSING, MIN, MIN);
    CHECK_INT(0, granted(scheduler, PROCESSING));
    CHECK_INT(1, granted(scheduler, REFRESH));
    /* Reports of a kind that had no window yet count from now on; too much is all there is. */
    CHECK_OK(selene_ledger_report(scheduler, REFRESH, INT64_MAX, INT64_MAX));
    CHECK_OK(selene_ledger_report(scheduler, REFRESH, INT64_MAX, INT64_MAX));
    CHECK_INT(0, granted(scheduler, REFRESH));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_ledger_report(scheduler, REFRESH, -1, 0));
    CHECK(strstr(selene_error_last()->message.data, "cpu_time") != NULL);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_ledger_report(scheduler, REFRESH, 0, -1));
    CHECK(strstr(selene_error_last()->message.data, "bytes") != NULL);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_ledger_report(scheduler, 3, 0, 0));
    CHECK(strstr(selene_error_last()->message.data, "kind") != NULL);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_ledger_get(scheduler, 0, &(selene_balance)SELENE_INIT(selene_balance)));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_reserve(void) {
    selene_scheduler scheduler = open_plain();
    struct verdict verdict;
    set_quotas(scheduler, &ten_in_two, 1);
    use_window(scheduler, REFRESH, 10 * MIN, 10 * MIN);
    CHECK_INT(0, granted(scheduler, REFRESH));
    verdict = ask_with(scheduler, REFRESH, SELENE_ASK_NEVER_RAN);
    CHECK_INT(1, verdict.decision.granted);
    CHECK_INT(MIN, verdict.decision.longest_window);
    use_window(scheduler, REFRESH, MIN, MIN);
    CHECK_INT(0, ask_with(scheduler, REFRESH, SELENE_ASK_NEVER_RAN).decision.granted);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Another profile judges what is in the books; only open books nothing. */
static void test_another_profile(void) {
    const selene_quota tight = {REFRESH, SELENE_MEASURE_WINDOW_TIME, 5 * MIN, SELENE_DAY};
    selene_scheduler scheduler = open_plain();
    set_quotas(scheduler, &ten_in_two, 1);
    use_window(scheduler, REFRESH, 6 * MIN, 6 * MIN);
    CHECK_INT(1, granted(scheduler, REFRESH));
    set_quotas(scheduler, &tight, 1);
    CHECK_INT(0, granted(scheduler, REFRESH));
    CHECK_INT(1, balance(scheduler, REFRESH).is_spent);
    set_quotas(scheduler, &ten_in_two, 1);
    CHECK_INT(4 * MIN, balance(scheduler, REFRESH).free);
    CHECK_OK(selene_governor_set_profile(scheduler, NULL));
    use_window(scheduler, REFRESH, 4 * MIN, 4 * MIN);
    set_quotas(scheduler, &ten_in_two, 1);
    CHECK_INT(4 * MIN, balance(scheduler, REFRESH).free);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_reset(void) {
    selene_scheduler scheduler = open_plain();
    set_quotas(scheduler, &ten_in_two, 1);
    use_window(scheduler, REFRESH, 10 * MIN, 10 * MIN);
    say(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 0);
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK_INT(10 * MIN, balance(scheduler, REFRESH).free); /* the profile stays */
    CHECK_INT(SELENE_NEVER, balance(scheduler, REFRESH).last_begin);
    CHECK_INT(0, hear(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH).value);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  HABITS
 * ========================================================================= */

/** Two weeks in which the host is used from 8 to 10 in the evening, local time; it is midnight local time then. */
static void live_two_weeks(selene_scheduler scheduler, int64_t offset) {
    const int64_t to_midnight = SELENE_DAY - (clock_now + offset * S) % SELENE_DAY;
    say(scheduler, SELENE_SIGNAL_UTC_OFFSET, offset);
    advance(to_midnight);
    for (int day = 0; day < 14; day++) {
        advance(22 * H - 1);
        CHECK_OK(selene_use_report(scheduler, clock_now - 2 * H + 1, clock_now));
        advance(2 * H + 1);
    }
}

static void test_habits(void) {
    selene_scheduler scheduler = open_plain();
    selene_forecast windows[64];
    uint64_t count = 0;
    struct verdict verdict;
    int64_t midnight;
    set_base(scheduler, SELENE_PROFILE_APPLE);
    /* Nothing is known: any hour will do, and is as likely as not. */
    CHECK_OK(selene_governor_forecast(scheduler, REFRESH, windows, 3, &count));
    CHECK_INT(3, count);
    CHECK_INT(clock_now, windows[0].begins_at);
    CHECK_INT(500, windows[0].probability);
    live_two_weeks(scheduler, 2 * 3600);
    midnight = clock_now;
    verdict = ask(scheduler, REFRESH);
    CHECK_INT(0, verdict.decision.granted); /* nobody is up */
    CHECK_INT(SELENE_SOURCE_BOOKS, finding(&verdict, SELENE_FACTOR_USE_PREDICTION).source);
    CHECK_INT(midnight + 20 * H, verdict.decision.ask_again_at);
    CHECK_INT(1, granted(scheduler, PROCESSING));
    CHECK_OK(selene_governor_forecast(scheduler, REFRESH, windows, 4, &count));
    CHECK_INT(4, count);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(midnight + (i / 2) * SELENE_DAY + (20 + i % 2) * H, windows[i].begins_at);
        CHECK_INT(windows[i].begins_at + H, windows[i].ends_at);
        CHECK_BETWEEN(800, windows[i].probability, 1000);
    }
    CHECK_OK(selene_governor_forecast(scheduler, PROCESSING, windows, UINT64_MAX, &count));
    CHECK_INT(64, count);
    CHECK_INT(midnight, windows[0].begins_at);
    CHECK_BETWEEN(900, windows[0].probability, 1000);
    /* A veto that only a signal lifts. */
    say(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 0);
    CHECK_OK(selene_governor_forecast(scheduler, REFRESH, windows, 4, &count));
    CHECK_INT(0, count);
    say(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 1);
    /* A week without use: processing is not wanted any more. */
    advance(7 * SELENE_DAY - 2 * H - 1);
    verdict = ask(scheduler, PROCESSING);
    CHECK_INT(SELENE_VERDICT_PASSED, finding(&verdict, SELENE_FACTOR_RECENT_USE).verdict);
    advance(1);
    verdict = ask(scheduler, PROCESSING);
    CHECK_INT(0, verdict.decision.granted);
    CHECK_INT(SELENE_VERDICT_VETOED, finding(&verdict, SELENE_FACTOR_RECENT_USE).verdict);
    CHECK_INT(SELENE_NEVER, verdict.decision.ask_again_at);
    advance(3 * H); /* into a quiet hour */
    CHECK_OK(selene_use_report(scheduler, clock_now, clock_now));
    CHECK_INT(1, granted(scheduler, PROCESSING));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_habits_refused(void) {
    selene_scheduler scheduler = open_plain();
    selene_forecast window = {-1, -1, -1};
    uint64_t count = 77;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_use_report(scheduler, clock_now, clock_now - 1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_use_report(scheduler, clock_now, clock_now + 1));
    CHECK(strstr(selene_error_last()->message.data, "ended_at") != NULL);
    CHECK_OK(selene_use_report(scheduler, INT64_MIN, INT64_MIN));
    CHECK_OK(selene_use_report(scheduler, INT64_MIN, clock_now));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_governor_forecast(scheduler, 0, &window, 1, &count));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_governor_forecast(scheduler, REFRESH, NULL, 1, &count));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_governor_forecast(scheduler, REFRESH, &window, 1, NULL));
    CHECK_INT(77, count);
    CHECK_INT(-1, window.begins_at);
    CHECK_OK(selene_governor_forecast(scheduler, REFRESH, NULL, 0, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G4 ten minutes in two hours, through real windows", test_rolling);
    run_test("G4 a window is charged whole and gives back what it did not use", test_refund);
    run_test("G4 a window that is refused costs nothing", test_refused_costs_nothing);
    run_test("G4 CPU time, windows and bytes count until their window has left", test_measures);
    run_test("G4 a task that never ran may use a tenth more", test_reserve);
    run_test("G4 another profile judges the same books", test_another_profile);
    run_test("G4 reset empties the books and keeps profile and signals", test_reset);
    run_test("G5 the hours of use are learnt, in local time", test_habits);
    run_test("G5 what cannot be is refused", test_habits_refused);
    return check_end();
}
