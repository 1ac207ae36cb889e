/*
 * governor_store.c - what the governor knows after the end of its process, however that came, and after the clock moved
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

static const selene_quota ten_in_two = {REFRESH, SELENE_MEASURE_WINDOW_TIME, 10 * MIN, 2 * H};

static selene_scheduler open_kept(const char *file) {
    return open_virtual(stored_options(file));
}

/** A child does something to a store on the host's clock and is killed. */
static void in_child_killed(const char *file, void (*deed)(selene_scheduler)) {
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_scheduler scheduler = open_kept(file);
        deed(scheduler);
        kill(getpid(), SIGKILL);
    }
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void open_a_window(selene_scheduler scheduler) {
    set_quotas(scheduler, &ten_in_two, 1);
    use_window(scheduler, REFRESH, 3 * MIN, 2 * MIN);
    begin(scheduler, window_for(REFRESH, 7 * MIN));
}

/* Who is killed in a window has paid for it, as far as it had come when it was found. */
static void test_killed(void) {
    const char *file = file_named("store");
    selene_scheduler scheduler;
    in_child_killed(file, open_a_window);
    /* The clock of the child stopped at 2 min; it is found when its window would have ended. */
    advance(9 * MIN);
    scheduler = open_kept(file);
    CHECK_INT(START + 2 * MIN, balance(scheduler, REFRESH).last_begin);
    set_quotas(scheduler, &ten_in_two, 1);
    CHECK_INT(MIN, balance(scheduler, REFRESH).free);
    CHECK_INT(900, balance(scheduler, REFRESH).used);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* And so it stays. */
    scheduler = open_kept(file);
    set_quotas(scheduler, &ten_in_two, 1);
    CHECK_INT(MIN, balance(scheduler, REFRESH).free);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Killed again and again at once: each window counts for as long as it could have been open. */
static void test_killed_at_once(void) {
    const char *file = file_named("store");
    selene_scheduler scheduler;
    in_child_killed(file, open_a_window);
    advance(3 * MIN);
    in_child_killed(file, open_a_window);
    advance(4 * MIN);
    scheduler = open_kept(file);
    set_quotas(scheduler, &ten_in_two, 1);
    /* 2 min, then 1 min until it was found, then 2 min, then 2 min. */
    CHECK_BETWEEN(3 * MIN, balance(scheduler, REFRESH).free, 4 * MIN);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void say_what_is_kept(selene_scheduler scheduler) {
    say(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 0);
    say(scheduler, SELENE_SIGNAL_HOST_PRESENCE, SELENE_PRESENCE_QUIT);
    say(scheduler, SELENE_SIGNAL_THERMAL, 3);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    for (int day = 0; day < 5; day++) {
        CHECK_OK(selene_use_report(scheduler, clock_now, clock_now));
        advance(SELENE_DAY);
    }
}

static void test_kept(void) {
    const char *file = file_named("store");
    selene_scheduler scheduler;
    selene_forecast windows[8];
    uint64_t count = 0;
    in_child_killed(file, say_what_is_kept);
    advance(5 * SELENE_DAY);
    scheduler = open_kept(file);
    CHECK_INT(0, hear(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH).value);
    CHECK_INT(SELENE_SOURCE_HOST, hear(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH).source);
    CHECK_INT(SELENE_PRESENCE_QUIT, hear(scheduler, SELENE_SIGNAL_HOST_PRESENCE).value);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_THERMAL).source);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_USER_ACTIVE).source);
    /* The profile is not stored, so nothing is vetoed; the habits are. */
    CHECK_INT(1, granted(scheduler, REFRESH));
    CHECK_OK(selene_governor_forecast(scheduler, REFRESH, windows, 8, &count));
    CHECK_INT(8, count);
    for (uint64_t i = 0; i < count; i++)
        CHECK(windows[i].probability != 500);
    /* Taken back it is forgotten, too. */
    CHECK_OK(selene_signal_clear(scheduler, SELENE_SIGNAL_HOST_PRESENCE));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_kept(file);
    CHECK_INT(0, hear(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH).value);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_HOST_PRESENCE).source);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* What is said for a time is no word for the next life, not even where an earlier one was. */
static void test_said_for_a_time(void) {
    const char *file = file_named("store");
    selene_scheduler scheduler = open_kept(file);
    say(scheduler, SELENE_SIGNAL_HOST_PRESENCE, SELENE_PRESENCE_QUIT);
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_HOST_PRESENCE, 1, MIN));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 0, MIN));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_kept(file);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_HOST_PRESENCE).source);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH).source);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* The wall clock goes back: nothing lies in the future, nothing is forgiven, nothing lasts for ever. */
static void test_clock_back(void) {
    static const int64_t jumps[] = {H, 23 * H, 25 * H, 400 * SELENE_DAY};
    for (size_t i = 0; i < COUNT(jumps); i++) {
        char name[32];
        const char *file;
        selene_scheduler scheduler;
        selene_balance now;
        struct verdict verdict;
        snprintf(name, sizeof name, "store%zu", i);
        file = file_named(name);
        atomic_store(&clock_now, START + 1000 * SELENE_DAY);
        in_child_killed(file, open_a_window);
        advance(9 * MIN - jumps[i]);
        scheduler = open_kept(file);
        set_quotas(scheduler, &ten_in_two, 1);
        now = balance(scheduler, REFRESH);
        CHECK_BETWEEN(MIN, now.free, 8 * MIN);
        CHECK_INT(0, now.is_spent);
        {
            int64_t time = 0;
            CHECK_OK(selene_scheduler_now(scheduler, &time));
            CHECK(now.last_begin <= time);
            atomic_store(&clock_now, time > clock_now ? time : clock_now);
        }
        set_base(scheduler, SELENE_PROFILE_APPLE);
        verdict = ask(scheduler, PROCESSING);
        CHECK_INT(1, verdict.decision.granted);
        advance(2 * H + MIN);
        set_quotas(scheduler, &ten_in_two, 1);
        CHECK_INT(10 * MIN, balance(scheduler, REFRESH).free);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* And forward: what was used has left. */
static void test_clock_forward(void) {
    const char *file = file_named("store");
    selene_scheduler scheduler;
    in_child_killed(file, open_a_window);
    advance(3650 * SELENE_DAY);
    scheduler = open_kept(file);
    set_quotas(scheduler, &ten_in_two, 1);
    CHECK_INT(10 * MIN, balance(scheduler, REFRESH).free);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The host is used for an hour each day. */
static void live(selene_scheduler scheduler, int days) {
    for (int day = 0; day < days; day++) {
        CHECK_OK(selene_use_report(scheduler, clock_now - H, clock_now));
        advance(SELENE_DAY);
    }
}

/** What habits say of the next windows for refresh, in per mille. */
static int64_t likeliest(selene_scheduler scheduler) {
    selene_forecast windows[8];
    uint64_t count = 0;
    int64_t best = 0;
    CHECK_OK(selene_governor_forecast(scheduler, REFRESH, windows, 8, &count));
    for (uint64_t i = 0; i < count; i++)
        if (windows[i].probability > best) best = windows[i].probability;
    return best;
}

/* A clock that was years ahead for one use: from the day it is right again habits are learnt as ever, and who stops using
 * the host is noticed. */
static void test_habits_clock_back(void) {
    static const int64_t leads[] = {0, 2000 * SELENE_DAY, 2000 * SELENE_DAY + 5 * H,
                                    2 * SELENE_DAY - 1, 40000 * SELENE_DAY};
    int64_t expected = 0;
    for (size_t i = 0; i < COUNT(leads); i++) {
        char name[32];
        const char *file;
        selene_scheduler scheduler;
        struct verdict verdict;
        snprintf(name, sizeof name, "store%zu", i);
        file = file_named(name);
        atomic_store(&clock_now, START + leads[i]);
        scheduler = open_kept(file);
        CHECK_OK(selene_use_report(scheduler, clock_now - H, clock_now));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        atomic_store(&clock_now, START + MIN);
        scheduler = open_kept(file);
        set_base(scheduler, SELENE_PROFILE_APPLE);
        /* What the store saw last is now. */
        verdict = ask(scheduler, PROCESSING);
        CHECK_INT(i == 0 ? MIN : 0, finding(&verdict, SELENE_FACTOR_RECENT_USE).observed);
        live(scheduler, 30);
        if (i == 0) expected = likeliest(scheduler);
        CHECK_BETWEEN(900, expected, 1000);
        CHECK_BETWEEN(expected - 20, likeliest(scheduler), expected + 20);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        scheduler = open_kept(file);
        set_base(scheduler, SELENE_PROFILE_APPLE);
        advance(60 * SELENE_DAY);
        verdict = ask(scheduler, PROCESSING);
        CHECK_INT(SELENE_VERDICT_VETOED, finding(&verdict, SELENE_FACTOR_RECENT_USE).verdict);
        CHECK_INT(61 * SELENE_DAY, finding(&verdict, SELENE_FACTOR_RECENT_USE).observed);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* The books of a backup are those of the day it was made. */
static void test_backup(void) {
    const char *file = file_named("store"), *copy = file_named("copy");
    selene_scheduler scheduler = open_kept(file);
    set_quotas(scheduler, &ten_in_two, 1);
    use_window(scheduler, REFRESH, 6 * MIN, 6 * MIN);
    say(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 0);
    CHECK_OK(selene_store_backup(scheduler, copy, -1));
    use_window(scheduler, REFRESH, MIN, MIN);
    say(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 1);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_OK(selene_store_check(copy, -1, NULL));
    scheduler = open_kept(copy);
    CHECK_INT(0, hear(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH).value);
    set_quotas(scheduler, &ten_in_two, 1);
    CHECK_INT(4 * MIN, balance(scheduler, REFRESH).free);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A window of a profile that demands nothing costs not one commit more than before there was a governor. */
static void test_commits(void) {
    selene_scheduler scheduler = open_kept(file_named("store"));
    selene_store_info *info = NULL;
    uint64_t before;
    CHECK_OK(selene_store_get(scheduler, &info));
    before = info->commits;
    selene_free(info);
    say(scheduler, SELENE_SIGNAL_THERMAL, 3);
    CHECK_OK(selene_signal_clear(scheduler, SELENE_SIGNAL_THERMAL));
    CHECK_INT(1, granted(scheduler, REFRESH));
    set_base(scheduler, SELENE_PROFILE_APPLE);
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK_INT(before, info->commits);
    selene_free(info);
    use_window(scheduler, REFRESH, MIN, MIN);
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK_BETWEEN(1, info->commits - before, 2); /* begin and end */
    selene_free(info);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G4 who is killed in a window has paid for it", test_killed);
    run_test("G4 who is killed at once pays for the time until it is found", test_killed_at_once);
    run_test("G1 switch, presence and habits outlive the process, other signals do not", test_kept);
    run_test("G1 what is said for a time ends with the process", test_said_for_a_time);
    run_test("G4 the books survive a clock that is set back", test_clock_back);
    run_test("G4 and one that is set forward", test_clock_forward);
    run_test("G5 habits survive a clock that was years ahead", test_habits_clock_back);
    run_test("G4 a backup has its books", test_backup);
    run_test("G4 only what is kept is written", test_commits);
    return check_end();
}
