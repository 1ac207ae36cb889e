/*
 * governor_preempt.c - a veto that is raised while a window is open stops its runs, and only those
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <sys/resource.h>

/** A run in flight of each kind, each in a window of its own. */
struct pair {
    selene_scheduler scheduler;
    struct work refresh_work, processing_work;
    selene_cycle refresh_cycle, processing_cycle;
    selene_run refresh, processing;
};

static void open_pair(struct pair *pair, selene_scheduler scheduler) {
    *pair = (struct pair){.scheduler = scheduler};
    add_work(scheduler, "short", &pair->refresh_work);
    add_once(scheduler, "long", PROCESSING, &pair->processing_work);
    pair->processing_cycle = begin(scheduler, window_for(PROCESSING, 10 * MIN));
    pair->processing = next(pair->processing_cycle, "long");
    pair->refresh_cycle = begin(scheduler, window_for(REFRESH, 10 * MIN));
    pair->refresh = next(pair->refresh_cycle, "short");
}

/** The run of processing is stopped, that of refresh is not; or neither. */
static void check_pair(struct pair *pair, int stopped) {
    int32_t reason = -1;
    CHECK_INT(stopped, atomic_load(&pair->processing_work.stopped));
    CHECK_OK(selene_run_stopping(pair->processing, &reason));
    CHECK_INT(stopped ? SELENE_STOP_PREEMPTED : SELENE_STOP_NONE, reason);
    CHECK_INT(0, atomic_load(&pair->refresh_work.stopped));
    CHECK_OK(selene_run_stopping(pair->refresh, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
}

static void close_pair(struct pair *pair) {
    CHECK_OK(selene_cycle_end(pair->processing_cycle, NULL));
    CHECK_OK(selene_run_complete(pair->refresh, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(pair->refresh_cycle, NULL));
    CHECK_OK(selene_scheduler_close(pair->scheduler, 0));
}

static void test_user_active(void) {
    selene_scheduler scheduler = open_plain();
    struct pair pair;
    selene_task_info before, after;
    selene_report *report = NULL;
    set_base(scheduler, SELENE_PROFILE_APPLE);
    observe(scheduler);
    open_pair(&pair, scheduler);
    /* One failed attempt first, so that there is something to keep. */
    CHECK_OK(selene_run_retry(pair.processing, 0));
    CHECK_OK(selene_cycle_end(pair.processing_cycle, NULL));
    before = record(scheduler, "long");
    CHECK_INT(1, before.attempts);
    pair.processing_cycle = begin(scheduler, window_for(PROCESSING, 10 * MIN));
    pair.processing = next(pair.processing_cycle, "long");
    CHECK_INT(2, record(scheduler, "long").attempts);

    advance(42 * S);
    check_pair(&pair, 0);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    check_pair(&pair, 1);
    CHECK_INT(1, count_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_PREEMPTED));
    CHECK_INT(START + 42 * S, noted[atomic_load(&noted_count) - 1].event.time);
    after = record(scheduler, "long");
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(before.attempts, after.attempts);
    CHECK_INT(before.last_run, after.last_run);
    CHECK_INT(before.earliest_begin, after.earliest_begin);
    CHECK_INT(before.response_time_count, after.response_time_count);
    CHECK_INT(SELENE_STOP_PREEMPTED, after.stop_reason);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                 selene_run_complete(pair.processing, SELENE_OUTCOME_NEW_DATA));
    next(pair.processing_cycle, NULL); /* it had its run */
    CHECK_OK(selene_cycle_end(pair.processing_cycle, &report));
    CHECK_INT(1, report->stopped);
    CHECK_INT(0, report->failed);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    CHECK_INT(42 * S, report->ended_at - report->began_at);
    selene_free(report);
    CHECK_OK(selene_run_complete(pair.refresh, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(pair.refresh_cycle, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A veto that stood before the window was opened is not new: the host opened it all the same. */
static void test_standing(void) {
    selene_scheduler scheduler = open_plain();
    struct pair pair;
    set_base(scheduler, SELENE_PROFILE_APPLE);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    open_pair(&pair, scheduler);
    check_pair(&pair, 0);
    advance(S);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1); /* said again */
    check_pair(&pair, 0);
    say(scheduler, SELENE_SIGNAL_THERMAL, 3); /* nobody asked */
    check_pair(&pair, 0);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0);
    check_pair(&pair, 0);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1); /* and now it is new */
    check_pair(&pair, 1);
    close_pair(&pair);
}

/* A second veto beside one that stands is new. */
static void test_second_veto(void) {
    const selene_rule rules[] = {veto_of(SELENE_FACTOR_USER_ACTIVE, PROCESSING, 1),
                                 veto_of(SELENE_FACTOR_THERMAL, PROCESSING, 1),
                                 veto_of(SELENE_FACTOR_METERED, PROCESSING, 0)};
    selene_scheduler scheduler = open_plain();
    struct pair pair;
    set_rules(scheduler, rules, COUNT(rules));
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    open_pair(&pair, scheduler);
    say(scheduler, SELENE_SIGNAL_METERED, 1); /* a veto that stops nothing */
    check_pair(&pair, 0);
    say(scheduler, SELENE_SIGNAL_THERMAL, 2);
    check_pair(&pair, 1);
    close_pair(&pair);
}

/* The end of a validity is as good as a word. */
static void test_validity(void) {
    selene_scheduler scheduler = open_plain();
    struct pair pair;
    /* Unknown means nobody is there. */
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, PROCESSING);
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1, MIN));
    open_pair(&pair, scheduler);
    advance(MIN - 1);
    CHECK_INT(0, granted(scheduler, PROCESSING));
    advance(1);
    CHECK_INT(1, granted(scheduler, PROCESSING));
    check_pair(&pair, 0);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1); /* lifted, so it is new */
    check_pair(&pair, 1);
    close_pair(&pair);
}

/* What the host says hides a worse word of the system for a while: at its end nobody calls, and the run is stopped. */
static void test_raised_by_time(void) {
    const selene_rule rule = {SELENE_FACTOR_STORAGE_FREE, PROCESSING, SELENE_RULE_VETO,
                              SELENE_RULE_PREEMPTS,       0,          1000};
    selene_scheduler scheduler = 0;
    selene_options options = stored_options(file_named("store"));
    struct work work = {.behaviour = UNTIL_STOPPED};
    struct receiver receiver = {0};
    int64_t said_at, validity = 300 * MS;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    set_rules(scheduler, &rule, 1);
    CHECK(hear(scheduler, SELENE_SIGNAL_STORAGE_FREE).value < 1000);
    add_once(scheduler, "a", PROCESSING, &work);
    said_at = check_now();
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_STORAGE_FREE, 1000, validity));
    push_async(scheduler, window_for(PROCESSING, AMPLE), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    wait_for("the stop", &work.stopped, 1);
    CHECK_INT(SELENE_STOP_PREEMPTED, atomic_load(&work.reason));
    CHECK(atomic_load(&work.stopped_at) - said_at >= 300 * MS);
    wait_for("the report", &receiver.calls, 1);
    CHECK_INT(1, receiver.stopped);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* A veto that time raised while no window was open stands when the next begins, and is not new in it. */
static void test_raised_between(void) {
    const selene_rule rule = {SELENE_FACTOR_STORAGE_FREE, PROCESSING, SELENE_RULE_VETO,
                              SELENE_RULE_PREEMPTS,       0,          1000};
    selene_scheduler scheduler = 0;
    selene_options options = stored_options(file_named("store"));
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_run run;
    int32_t reason = -1;
    int64_t now, until;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    set_rules(scheduler, &rule, 1);
    CHECK(hear(scheduler, SELENE_SIGNAL_STORAGE_FREE).value < 1000);
    add_once(scheduler, "a", PROCESSING, &work);
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_STORAGE_FREE, 1000, 50 * MS));
    CHECK_OK(selene_scheduler_now(scheduler, &until));
    until += 50 * MS;
    for (now = 0; now < until;)
        CHECK_OK(selene_scheduler_now(scheduler, &now));
    cycle = begin(scheduler, window_for(PROCESSING, AMPLE));
    run = next(cycle, "a");
    CHECK_INT(0, granted(scheduler, PROCESSING));
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* A profile that is set while a window is open counts as news, too. */
static void test_profile(void) {
    selene_scheduler scheduler = open_plain();
    struct pair pair;
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    open_pair(&pair, scheduler);
    set_base(scheduler, SELENE_PROFILE_APPLE);
    check_pair(&pair, 1);
    close_pair(&pair);
}

/* The kind has no further run in that window, the other kind has: a window that is not welcome starts nothing. */
static void test_no_further_run(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("second");
    selene_cycle cycle;
    selene_report *report = NULL;
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, PROCESSING);
    add_once(scheduler, "first", PROCESSING, &work);
    task.handler = SELENE_TEXT("first");
    add(scheduler, task);
    cycle = begin(scheduler, window_for(EACH, 10 * MIN));
    next(cycle, "first");
    advance(S);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    CHECK_INT(1, atomic_load(&work.stopped));
    next(cycle, NULL);
    /* Nor when the user has gone: that is for the next window. */
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0);
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->run_count);
    selene_free(report);

    /* Of both kinds only the one is cut. */
    cycle = begin(scheduler, window_for(EACH, 10 * MIN));
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0);
    task = task_of("refreshing");
    task.handler = SELENE_TEXT("first");
    add(scheduler, task);
    advance(S);
    cycle = begin(scheduler, window_for(EACH, 10 * MIN));
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    CHECK_OK(selene_run_complete(next(cycle, "refreshing"), SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* The host's next window is its own business. */
    cycle = begin(scheduler, window_for(PROCESSING, 10 * MIN));
    next(cycle, "second");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Library threads: the handler is asked, the report comes, and the lane's handler may take its time. */
static void test_threads(void) {
    selene_scheduler scheduler = open_real();
    struct work quick = {.behaviour = UNTIL_STOPPED}, slow = {.behaviour = UNTIL_STOPPED};
    struct receiver processing = {0}, refresh = {0};
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, PROCESSING);
    add_work(scheduler, "quick", &quick);
    add_once(scheduler, "slow", PROCESSING, &slow);
    push_async(scheduler, window_for(PROCESSING, AMPLE), &processing, NULL);
    push_async(scheduler, window_for(REFRESH, AMPLE), &refresh, NULL);
    wait_for("both", &slow.started, 1);
    wait_for("both", &quick.started, 1);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    wait_for("the report", &processing.calls, 1);
    CHECK_INT(1, processing.stopped);
    CHECK_INT(SELENE_STOP_PREEMPTED, atomic_load(&slow.reason));
    CHECK_INT(0, atomic_load(&refresh.calls));
    CHECK_INT(0, atomic_load(&quick.stopped));
    CHECK_OK(selene_scheduler_close(scheduler, BRIEF));
    wait_for("the end of its handler", &quick.destroyed, 1);
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&quick.reason));
    wait_for("the end of the other", &slow.destroyed, 1);
}

/* What the store refuses changes nothing: neither the signal nor the run. */
static void test_store_refuses(void) {
    selene_options options = stored_options(file_named("store"));
    selene_scheduler scheduler;
    struct pair pair;
    struct rlimit limit = {0, RLIM_INFINITY}, before;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(0, getrlimit(RLIMIT_FSIZE, &before));
    scheduler = open_virtual(options);
    set_base(scheduler, SELENE_PROFILE_APPLE);
    open_pair(&pair, scheduler);
    limit.rlim_max = before.rlim_max;
    CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &limit));
    CHECK(selene_signal_set(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1, 0) != SELENE_OK);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, hear(scheduler, SELENE_SIGNAL_USER_ACTIVE).source);
    check_pair(&pair, 0);
    CHECK(selene_signal_set(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 0, 0) != SELENE_OK);
    CHECK_INT(1, hear(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH).value);
    CHECK(selene_use_report(scheduler, clock_now, clock_now) != SELENE_OK);
    CHECK(selene_ledger_report(scheduler, REFRESH, S, 1) != SELENE_OK);
    check_pair(&pair, 0);
    CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &before));
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    check_pair(&pair, 1);
    close_pair(&pair);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G6 a user who comes stops processing at once, and refresh goes on", test_user_active);
    run_test("G6 a veto that stood before does not stop", test_standing);
    run_test("G6 a second veto beside one that stands does", test_second_veto);
    run_test("G6 the end of a validity lifts a veto", test_validity);
    run_test("G6 a veto that time raises stops, too", test_raised_by_time);
    run_test("G6 a veto that time raised between windows does not stop the next",
             test_raised_between);
    run_test("G6 another profile stops what it would not have granted", test_profile);
    run_test("G6 after that the window starts no further run of the kind", test_no_further_run);
    run_test("G6 on library threads the handler is asked to stop and the report comes",
             test_threads);
    run_test("G6 what the store refuses to keep changes nothing", test_store_refuses);
    return check_end();
}
