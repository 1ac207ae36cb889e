/*
 * progress.c - a run tells how far it has come, and one that tells nothing for too long is asked to stop (W6)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include <stddef.h>

static selene_task watched(const char *id, int64_t stall_limit) {
    selene_task task = task_of(id);
    task.stall_limit = stall_limit;
    return task;
}

/** A scheduler on the host's clock, of any number of tasks. */
static selene_scheduler open_wide(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = SELENE_UNLIMITED;
    return open_virtual(options);
}

static void add_plain(selene_scheduler scheduler, selene_task task) {
    CHECK_OK(selene_handler_register(scheduler, task.id.data, -1, NULL, NULL, NULL, NULL));
    add(scheduler, task);
}

static void tell(selene_run run, int64_t done, int64_t total, const char *text) {
    CHECK_OK(selene_run_progress(run, done, total, text, -1));
}

static void check_progress(selene_scheduler scheduler, const char *id, int64_t at, int64_t done,
                           int64_t total, const char *text) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    CHECK_INT(at, info->progress_at);
    CHECK_INT(done, info->progress_done);
    CHECK_INT(total, info->progress_total);
    CHECK_TEXT(text, info->progress_text);
    if (info->run) {
        selene_run_info *run = NULL;
        CHECK_OK(selene_run_get(info->run, &run));
        CHECK_INT(at, run->progress_at);
        CHECK_INT(done, run->progress_done);
        CHECK_INT(total, run->progress_total);
        CHECK_TEXT(text, run->progress_text);
        selene_free(run);
    }
    selene_free(info);
}

static int32_t reason_of(selene_run run) {
    int32_t reason = -1;
    CHECK_OK(selene_run_stopping(run, &reason));
    return reason;
}

/** What `next` answers where there is no run: WAIT until an instant, or DONE, which is 0 here. */
static int64_t waits_until(selene_cycle cycle) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    int64_t wake_at = 0;
    CHECK_OK(selene_cycle_next(cycle, &step, &info, &wake_at));
    CHECK(step == SELENE_STEP_WAIT || step == SELENE_STEP_DONE);
    return step == SELENE_STEP_WAIT ? wake_at : 0;
}

/* ---- what is told ------------------------------------------------------------------------------------------------- */

static void test_kept(void) {
    selene_scheduler scheduler = open_wide();
    add_plain(scheduler, task_of("a"));
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    selene_run run = next(cycle, "a");
    check_progress(scheduler, "a", 0, 0, 0, "");
    tell(run, 3, 10, "three");
    check_progress(scheduler, "a", START, 3, 10, "three");
    advance(S);
    /* More than there is, of an unknown whole, without a text: each is allowed. */
    tell(run, 11, 10, "more");
    check_progress(scheduler, "a", START + S, 11, 10, "more");
    tell(run, INT64_MAX, 0, NULL);
    check_progress(scheduler, "a", START + S, INT64_MAX, 0, "");
    CHECK_OK(selene_run_progress(run, 0, INT64_MAX, "a\0b", 1));
    check_progress(scheduler, "a", START + S, 0, INT64_MAX, "a");
    /* What is refused changes nothing. */
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_progress(run, -1, 0, "x", -1));
    CHECK_STRING("done: -1 is out of range, allowed are 0 or more",
                 selene_error_last()->message.data);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_progress(run, 0, -1, "x", -1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_progress(run, 0, 0, "a\xFFz", -1));
    CHECK_STRING("text: not valid UTF-8 at byte 1", selene_error_last()->message.data);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_progress(run, 0, 0, "a\0z", 3));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_progress(run + 1, 0, 0, NULL, 0));
    check_progress(scheduler, "a", START + S, 0, INT64_MAX, "a");
    /* With the run it is over. */
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    check_progress(scheduler, "a", 0, 0, 0, "");
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_progress(run, 1, 1, NULL, 0));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    run = next(cycle, "a");
    check_progress(scheduler, "a", 0, 0, 0, "");
    tell(run, 1, 2, "again");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    check_progress(scheduler, "a", 0, 0, 0, "");
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_progress(run, 1, 1, NULL, 0));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A long text is cut between two characters. */
static void test_cut(void) {
    static const struct {
        const char *character;
        int before, kept;
    } cuts[] = {{"a", 0, 1024},
                {"\xC3\xBC", 0, 1024},
                {"\xC3\xBC", 1, 1023},
                {"\xE2\x82\xAC", 0, 1023},
                {"\xF0\x9F\x8C\x99", 3, 1023},
                {"\xF0\x9F\x8C\x99", 0, 1024}};
    static char text[1600];
    selene_scheduler scheduler = open_wide();
    add_plain(scheduler, task_of("a"));
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    selene_run run = next(cycle, "a");
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        size_t width = strlen(cuts[i].character), end = (size_t)cuts[i].before;
        selene_task_info *info = NULL;
        memset(text, '-', end);
        for (; end + width < 1500; end += width)
            memcpy(text + end, cuts[i].character, width);
        text[end] = 0;
        tell(run, 0, 0, text);
        CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
        CHECK_INT(cuts[i].kept, info->progress_text.length);
        CHECK(memcmp(info->progress_text.data, text, (size_t)cuts[i].kept) == 0);
        selene_free(info);
    }
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The last PROGRESS event that is noted. */
static struct noted *last_told(void) {
    for (int i = atomic_load(&noted_count); i > 0; i--)
        if (noted[i - 1].event.type == SELENE_EVENT_PROGRESS) return &noted[i - 1];
    CHECK(!"no event of progress");
    return NULL;
}

static int told(void) {
    return count_events(0, SELENE_EVENT_PROGRESS, -1);
}

static void test_events(void) {
    selene_scheduler scheduler = open_wide();
    add_plain(scheduler, task_of("a"));
    add_plain(scheduler, task_of("b"));
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 2));
    selene_run a = next(cycle, "a"), b = next(cycle, "b");
    /* Before there is an observer nothing waits for it. */
    tell(a, 1, 100, "unheard");
    tell(a, 2, 100, "unheard");
    observe(scheduler);
    CHECK_INT(START + SELENE_HOUR, waits_until(cycle));
    CHECK_INT(0, told());
    /* The first at once. */
    tell(a, 3, 100, "three");
    CHECK_INT(1, told());
    const struct noted *event = last_told();
    CHECK_STRING("a", event->id);
    CHECK_STRING("three", event->message);
    CHECK_INT(3, event->event.progress_done);
    CHECK_INT(100, event->event.progress_total);
    CHECK(event->event.run == a && event->event.cycle == cycle);
    CHECK_INT(SELENE_STATE_RUNNING, event->event.state);
    CHECK_INT(1, event->event.attempts);
    CHECK_INT(SELENE_KIND_REFRESH, event->event.kinds);
    CHECK_INT(START, event->event.time);
    /* Then four a second, the last of what was said meanwhile; each run by itself. */
    tell(a, 4, 100, NULL);
    tell(a, 5, 100, "five");
    CHECK_INT(1, told());
    CHECK_INT(START + 250 * MS, waits_until(cycle));
    tell(b, 1, 0, NULL);
    CHECK_INT(2, told());
    CHECK_STRING("b", last_told()->id);
    advance(250 * MS - 1);
    CHECK_INT(SELENE_STOP_NONE, reason_of(a));
    CHECK_INT(2, told());
    advance(1);
    CHECK_INT(SELENE_STOP_NONE, reason_of(a));
    CHECK_INT(3, told());
    CHECK_INT(5, last_told()->event.progress_done);
    CHECK_STRING("five", last_told()->message);
    CHECK_INT(START + 250 * MS, last_told()->event.time);
    CHECK_INT(START + SELENE_HOUR, waits_until(cycle));
    for (int i = 0; i < 1000; i++) {
        tell(a, i, 1000, NULL);
        advance(10 * MS);
    }
    CHECK_INT(3 + 39, told());
    /* What was said last comes before the end. */
    tell(a, 1000, 1000, "all");
    tell(a, 1001, 1000, "and more");
    CHECK_OK(selene_run_complete(a, SELENE_OUTCOME_NEW_DATA));
    CHECK_STRING("and more", last_told()->message);
    CHECK(last_told()->event.number + 1 == noted[atomic_load(&noted_count) - 1].event.number);
    CHECK_INT(SELENE_EVENT_COMPLETED, noted[atomic_load(&noted_count) - 1].event.type);
    /* Of a run that is stopped, too. */
    int before = told();
    tell(b, 2, 0, NULL);
    tell(b, 3, 0, "the end");
    CHECK_INT(before + 1, told());
    CHECK_OK(selene_task_cancel(scheduler, "b", -1, NULL));
    CHECK_INT(before + 2, told());
    CHECK_STRING("the end", last_told()->message);
    CHECK(last_told() < &noted[atomic_load(&noted_count) - 2]);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(before + 2, told());
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- the stall limit ---------------------------------------------------------------------------------------------- */

static void test_asked(void) {
    int64_t left = -1;
    selene_scheduler scheduler = open_wide();
    struct work work = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    observe(scheduler);
    add_handler(scheduler, "slow", &work);
    add(scheduler, watched("slow", 10 * S));
    CHECK_INT(10 * S, record(scheduler, "slow").stall_limit);
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    selene_run run = next(cycle, "slow");
    CHECK_INT(START + 10 * S, waits_until(cycle));
    advance(9 * S);
    /* Every call counts, whatever it says. */
    for (int i = 1; i <= 20; i++) {
        tell(run, 0, 0, NULL);
        CHECK_INT(START + (i * 9 + 10) * S, waits_until(cycle));
        CHECK_OK(selene_run_remaining(run, &left));
        CHECK_INT(10 * S, left);
        advance(9 * S);
    }
    CHECK_INT(SELENE_STOP_NONE, reason_of(run));
    advance(S - 1);
    CHECK_INT(SELENE_STOP_NONE, reason_of(run));
    CHECK_INT(0, atomic_load(&work.stopped));
    advance(1);
    CHECK_INT(SELENE_STOP_STALLED, reason_of(run));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_STALLED, atomic_load(&work.reason));
    CHECK_INT(1, count_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_STALLED));
    const int64_t over = START + 195 * S;
    CHECK_INT(over + 1, waits_until(cycle));
    selene_run_info *info = NULL;
    CHECK_OK(selene_run_get(run, &info));
    CHECK_INT(over, info->deadline);
    selene_free(info);
    CHECK_INT(over, why(scheduler, "slow", SELENE_REASON_RUNNING).may_change_at);
    /* Too late for that, but it may still tell, and complete, exactly at the end of its grace, too. */
    tell(run, 1, 1, NULL);
    CHECK_INT(SELENE_STOP_STALLED, reason_of(run));
    advance(5 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STOP_NONE, record(scheduler, "slow").stop_reason);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_STOP_STALLED, report->runs[0].stop_reason);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_over(void) {
    selene_scheduler scheduler = open_wide();
    selene_report *report = NULL;
    selene_task_info *info = NULL;
    selene_task slow = refresh_once("slow", 5);
    slow.stall_limit = 10 * S;
    slow.max_attempts = 3;
    slow.backoff_delay = 60 * S;
    observe(scheduler);
    add_plain(scheduler, slow);
    add_plain(scheduler, refresh_once("other", 1));
    selene_cycle cycle = begin(scheduler, window_of(10 * SELENE_MINUTE, 0, 1));
    selene_run run = next(cycle, "slow");
    advance(2 * S);
    tell(run, 1, 2, "half");
    tell(run, 2, 2, "all");
    /* However late the host looks, it was asked and over when it should have been; what it said was told before. */
    advance(30 * S);
    next(cycle, "other");
    CHECK_INT(1, count_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_STALLED));
    CHECK_INT(2, told());
    CHECK_STRING("all", last_told()->message);
    CHECK_INT(START + 2 * S + 250 * MS, last_told()->event.time);
    CHECK_OK(selene_task_get(scheduler, "slow", -1, 0, &info));
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(1, info->attempts);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, info->last_outcome);
    CHECK_INT(SELENE_STOP_STALLED, info->stop_reason);
    CHECK_INT(START + 17 * S, info->last_run);
    CHECK_INT(17 * S, info->response_times[0]);
    CHECK_INT(START + 77 * S, info->earliest_begin);
    CHECK_INT(START + 17 * S, info->failed_at);
    CHECK_TEXT("made no progress", info->failure);
    CHECK_INT(0, info->progress_at);
    selene_free(info);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_progress(run, 1, 1, NULL, 0));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->expired);
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_STOP_STALLED, report->runs[0].stop_reason);
    CHECK_INT(SELENE_STOP_SHUTDOWN, report->runs[1].stop_reason);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Of timeout and stall limit the earlier asks, and the other says nothing more; the window goes before both. */
static void test_which(void) {
    static const struct {
        int64_t timeout, tells_at;
        int32_t reason;
        int64_t asked_at, over;
    } cases[] = {
        {20 * S, 0, SELENE_STOP_STALLED, 10 * S, 15 * S},
        {13 * S, 0, SELENE_STOP_STALLED, 10 * S, 15 * S},
        {10 * S, 0, SELENE_STOP_TIMED_OUT, 10 * S, 15 * S},
        {8 * S, 0, SELENE_STOP_TIMED_OUT, 8 * S, 13 * S},
        {12 * S, 4 * S, SELENE_STOP_TIMED_OUT, 12 * S, 17 * S},
        {20 * S, 4 * S, SELENE_STOP_STALLED, 14 * S, 19 * S},
        {0, 4 * S, SELENE_STOP_STALLED, 14 * S, 19 * S},
    };
    selene_scheduler scheduler = open_wide();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct work work = {.behaviour = COMPLETE};
        selene_report *report = NULL;
        selene_task task = watched("slow", 10 * S);
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.max_attempts = 1;
        task.timeout = cases[i].timeout;
        add_handler(scheduler, "slow", &work);
        add(scheduler, task);
        selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
        selene_run run = next(cycle, "slow");
        const int64_t began = START + (int64_t)i * SELENE_MINUTE;
        if (cases[i].tells_at) {
            advance(cases[i].tells_at);
            tell(run, 1, 2, NULL);
        }
        CHECK_INT(began + cases[i].asked_at, waits_until(cycle));
        advance(cases[i].asked_at - cases[i].tells_at);
        CHECK_INT(cases[i].reason, reason_of(run));
        tell(run, 2, 2, NULL);
        CHECK_INT(began + cases[i].over + 1, waits_until(cycle));
        advance(cases[i].over - cases[i].asked_at);
        CHECK_INT(cases[i].reason, reason_of(run));
        CHECK_INT(1, atomic_load(&work.stopped));
        advance(1);
        CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "slow").state);
        CHECK_INT(cases[i].reason, record(scheduler, "slow").stop_reason);
        CHECK_OK(selene_cycle_end(cycle, &report));
        CHECK_INT(cases[i].over, report->runs[0].response_time);
        selene_free(report);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_handler_unregister(scheduler, "slow", -1));
        CHECK_INT(1, atomic_load(&work.destroyed));
        advance(SELENE_MINUTE - cases[i].over - 1);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_window(void) {
    selene_scheduler scheduler = open_wide();
    struct work work = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    add_handler(scheduler, "slow", &work);
    add(scheduler, watched("slow", 25 * S));
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 10 * S, 1));
    selene_run run = next(cycle, "slow");
    advance(20 * S);
    CHECK_INT(SELENE_STOP_EXPIRING, reason_of(run));
    CHECK_INT(START + 25 * S, waits_until(cycle));
    advance(5 * S);
    CHECK_INT(SELENE_STOP_STALLED, reason_of(run));
    CHECK_INT(1, atomic_load(&work.stopped));
    /* No grace goes beyond the deadline. */
    CHECK_INT(START + 30 * S + 1, waits_until(cycle));
    advance(6 * S);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->expired);
    CHECK_INT(30 * S, report->runs[0].response_time);
    selene_free(report);
    /* What ends a run goes before. */
    advance(11 * SELENE_MINUTE);
    cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    run = next(cycle, "slow");
    advance(25 * S);
    CHECK_INT(SELENE_STOP_STALLED, reason_of(run));
    CHECK_OK(selene_task_cancel(scheduler, "slow", -1, NULL));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(SELENE_STOP_CANCELLED, report->runs[0].stop_reason);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A lane's thread that hangs is left behind when its run is over; another one goes on. */
static void test_lane(void) {
    selene_scheduler scheduler = open_wide();
    selene_window window = window_of(SELENE_HOUR, 0, 1);
    selene_lane first = 0, second = 0;
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    int64_t wake_at = 0;
    selene_report *report = NULL;
    window.flags = SELENE_WINDOW_LANES;
    selene_task slow = refresh_once("slow", 5);
    slow.stall_limit = 2 * S;
    add_plain(scheduler, slow);
    add_plain(scheduler, refresh_once("other", 1));
    observe(scheduler);
    selene_cycle cycle = begin(scheduler, window);
    CHECK_OK(selene_lane_open(cycle, &first));
    CHECK_OK(selene_lane_next(first, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_TEXT("slow", info.id);
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, &wake_at));
    CHECK_INT(START + 2 * S, wake_at);
    advance(S);
    tell(info.run, 1, 2, NULL);
    tell(info.run, 2, 2, NULL);
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, &wake_at));
    CHECK_INT(START + S + 250 * MS, wake_at);
    advance(2 * S);
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, &wake_at));
    CHECK_INT(2, told());
    CHECK_INT(START + 8 * S + 1, wake_at);
    CHECK_INT(0, overruns(scheduler));
    advance(5 * S + 1);
    CHECK_OK(selene_lane_open(cycle, &second));
    CHECK_INT(1, overruns(scheduler));
    CHECK_OK(selene_lane_next(second, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_TEXT("other", info.id);
    CHECK_OK(selene_lane_close(first));
    CHECK_OK(selene_lane_next(second, SELENE_OUTCOME_NEW_DATA, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_lane_close(second));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_range(void) {
    selene_scheduler scheduler = open_wide();
    selene_task task = watched("a", -1);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    CHECK_STRING("stall_limit: -1 ns is out of range, allowed are 0 … 24 h",
                 selene_error_last()->message.data);
    task.stall_limit = SELENE_DAY + 1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    task.stall_limit = SELENE_DAY;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_INT(SELENE_DAY, record(scheduler, "a").stall_limit);
    /* A program that was compiled before there was one has none. */
    task.stall_limit = -1;
    task.struct_size = offsetof(selene_task, stall_limit);
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_INT(0, record(scheduler, "a").stall_limit);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The limit is kept in a store, progress is not. */
static void test_stored(void) {
    selene_options options = SELENE_INIT(selene_options);
    char path[80], file[96];
    check_make_folder(path, sizeof path, "progress");
    snprintf(file, sizeof file, "%s/store", path);
    options.path = (selene_text){file, -1};
    for (int round = 0; round < 2; round++) {
        selene_scheduler scheduler = open_virtual(options);
        CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
        if (round == 0) {
            selene_task both = watched("b", 1);
            both.timeout = 2;
            both.flags = SELENE_TASK_STEADY;
            add(scheduler, watched("a", 90 * S));
            add(scheduler, both);
            selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
            tell(next(cycle, "a"), 1, 2, "half");
            check_progress(scheduler, "a", START, 1, 2, "half");
        } else {
            check_progress(scheduler, "a", 0, 0, 0, "");
        }
        CHECK_INT(90 * S, record(scheduler, "a").stall_limit);
        CHECK_INT(1, record(scheduler, "b").stall_limit);
        CHECK_INT(2, record(scheduler, "b").timeout);
        CHECK_INT(SELENE_TASK_STEADY, record(scheduler, "b").flags);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    CHECK_INT(0, unlink(file));
    CHECK_INT(0, rmdir(path));
}

/* ---- on threads --------------------------------------------------------------------------------------------------- */

static atomic_int may_end;

static void tell_twice(struct work *work, selene_run run, const selene_run_info *info) {
    (void)work, (void)info;
    tell(run, 1, 2, "one");
    tell(run, 2, 2, "two");
    wait_for("the test", &may_end, 1);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

/** What a handler said last is told while it works on, also where nothing else calls the library. */
static void test_pushed(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = tell_twice};
    struct runner runner;
    observe(scheduler);
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(AMPLE, 0, 1));
    WAIT_UNTIL(record(scheduler, "a").progress_done == 2);
    reach(scheduler, START + 250 * MS - 1);
    CHECK_INT(1, told());
    reach(scheduler, START + 250 * MS);
    CHECK_INT(2, told());
    CHECK_STRING("two", last_told()->message);
    CHECK_INT(START + 250 * MS, last_told()->event.time);
    atomic_store(&may_end, 1);
    selene_report *report = join_runner(&runner);
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_INT(2, told());
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/** With one lane, the thread that hangs is left behind, and the next task runs on another. */
static void test_hangs(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work stuck = {.behaviour = GATE}, other = {.behaviour = COMPLETE};
    struct runner runner;
    selene_task slow = refresh_once("stuck", 5);
    slow.stall_limit = 50 * S;
    options.stop_grace = 20 * S;
    options.max_pending_refresh = SELENE_UNLIMITED;
    scheduler = open_told_with(options);
    add_handler(scheduler, "stuck", &stuck);
    add_handler(scheduler, "other", &other);
    add(scheduler, slow);
    add(scheduler, refresh_once("other", 1));
    start_runner(&runner, scheduler, window_of(H, 0, 1));
    wait_for("the handler", &stuck.started, 1);
    reach(scheduler, START + 50 * S - 1);
    CHECK_INT(0, atomic_load(&stuck.stopped));
    reach(scheduler, START + 50 * S);
    CHECK_INT(1, atomic_load(&stuck.stopped));
    CHECK_INT(SELENE_STOP_STALLED, atomic_load(&stuck.reason));
    reach(scheduler, START + 70 * S);
    CHECK_INT(0, atomic_load(&other.started));
    reach(scheduler, START + 70 * S + 1);
    wait_for("the task behind the one that hangs", &other.returned, 1);
    CHECK_INT(0, atomic_load(&stuck.returned));
    selene_report *report = join_runner(&runner);
    CHECK_INT(1, report->expired);
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_STOP_STALLED, report->runs[0].stop_reason);
    selene_free(report);
    atomic_store(&gate, 1);
    WAIT_UNTIL(overruns(scheduler) == 0);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/** A handler on the caller's own thread, and one that has returned and is still working, are asked to stop. */
static void test_inline(void) {
    const enum behaviour behaviours[] = {UNTIL_STOPPED, NEVER};
    for (int i = 0; i < 2; i++) {
        selene_scheduler scheduler = open_real();
        struct work work = {.behaviour = behaviours[i], .complete_when_stopped = 1};
        selene_window window = window_of(AMPLE, 0, 1);
        selene_report *report = NULL;
        window.flags = SELENE_WINDOW_INLINE;
        add_handler(scheduler, "slow", &work);
        add(scheduler, watched("slow", 20 * MS));
        CHECK_OK(selene_cycle_run(scheduler, &window, &report));
        CHECK_INT(SELENE_STOP_STALLED, atomic_load(&work.reason));
        CHECK_INT(1, report->new_data);
        CHECK(report->ended_at < report->deadline);
        selene_free(report);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* Threads without end tell of a run that ends under them. */

static _Atomic uint64_t current, accepted;
static atomic_int ends;

static void *storm(void *argument) {
    (void)argument;
    while (!atomic_load(&ends)) {
        selene_run run = atomic_load(&current);
        selene_status status = selene_run_progress(run, (int64_t)run, 7, "text", -1);
        if (status == SELENE_OK) atomic_store(&accepted, run);
        else
            CHECK(status == SELENE_ERROR_ALREADY_COMPLETED || status == SELENE_ERROR_STALE_RUN ||
                  status == SELENE_ERROR_INVALID_HANDLE);
        /* The others want the lock, too. */
        check_sleep(MS / 10);
    }
    return NULL;
}

static void test_storm(void) {
    selene_scheduler scheduler = open_real();
    selene_task task = watched("a", SELENE_HOUR);
    pthread_t threads[3];
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_HOUR;
    add_plain(scheduler, task);
    CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
    CHECK_OK(selene_events_open(scheduler, 100, NULL));
    for (int i = 0; i < 3; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, storm, NULL));
    for (int i = 0; i < 20; i++) {
        selene_task_info *info = NULL;
        selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
        atomic_store(&current, next(cycle, "a"));
        WAIT_UNTIL(atomic_load(&accepted) == atomic_load(&current));
        CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
        CHECK_INT((int64_t)info->run, info->progress_done);
        CHECK_TEXT("text", info->progress_text);
        selene_free(info);
        if (i % 2) CHECK_OK(selene_run_complete(atomic_load(&current), SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        if (i % 2) CHECK_OK(selene_task_set_next(scheduler, "a", -1, 0));
        CHECK_INT(0, record(scheduler, "a").progress_at);
        if (i % 2 == 0) {
            /* What has expired waits for its backoff, and its id for the end of the run. */
            CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                         selene_run_complete(atomic_load(&current), SELENE_OUTCOME_NEW_DATA));
            CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
            add(scheduler, task);
        }
    }
    atomic_store(&ends, 1);
    for (int i = 0; i < 3; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W6 what a run told of its progress is kept until it is over", test_kept);
    run_test("W6 a long text is cut between two characters", test_cut);
    run_test("W6 progress is told at once, then four times a second, and at the end", test_events);
    run_test("W6 a run that makes no progress is asked to stop", test_asked);
    run_test("W6 then it is over: expired, a failure of as long as it took", test_over);
    run_test("W6 of timeout and stall limit the earlier asks", test_which);
    run_test("W6 no grace goes beyond the deadline, and what ends a run goes before", test_window);
    run_test("W6 a lane learns of both", test_lane);
    run_test("W6 the stall limit has its range", test_range);
    run_test("W6 the stall limit is stored, progress is not", test_stored);
    run_test("W6 what was said last is told while the run works on", test_pushed);
    run_test("W6 a library thread that makes no progress is replaced", test_hangs);
    run_test("W6 inline handlers, and those that have returned, are asked to stop", test_inline);
    run_test("W6 any thread may tell of a run that ends meanwhile", test_storm);
    return check_end();
}
