/*
 * misuse_reentry.c - the library called from inside its own callbacks
 *
 * Handlers run on library threads and, in inline cycles, on the thread of the caller; stop functions, observers,
 * reports, destroys and clocks on whatever thread it is. In all of them the library must answer, never hang.
 */
#include "misuse.h"

#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static selene_scheduler scheduler;

/* ---- what is legal, and what is not, inside a callback --------------------------------- */

static void count_own_destroy(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

static void other_run(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

/** Another scheduler, from open to close, with a cycle on library threads and one inline. */
static void use_other_scheduler(void) {
    selene_window window = refresh_window();
    selene_scheduler other = open_default();
    selene_report *report = NULL;
    atomic_int ended = 0;
    CHECK_OK(
        selene_handler_register(other, "other", -1, other_run, NULL, &ended, count_own_destroy));
    add_task(other, "other");
    CHECK_OK(selene_cycle_run(other, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    window.flags |= SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(other, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_reset(other));
    CHECK_OK(selene_scheduler_close(other, SELENE_MINUTE));
    CHECK_INT(1, ended);
}

/** Close, reset and blocking cycles answer REENTRANT, and nothing happens. */
static void forbidden(void) {
    selene_window window = refresh_window();
    selene_report *report = (selene_report *)(uintptr_t)77;
    int64_t now = 0;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_close(scheduler, 0));
    CHECK(selene_error_last()->message.data[0] != '\0');
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_reset(scheduler));
    CHECK(selene_error_last()->message.data[0] != '\0');
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_cycle_run(scheduler, &window, &report));
    CHECK(selene_error_last()->message.data[0] != '\0');
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_cycle_run(scheduler, &window, &report));
    window.flags |= SELENE_WINDOW_INLINE;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_cycle_run(scheduler, &window, &report));
    CHECK(report == (selene_report *)(uintptr_t)77);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
}

/** Everything else does what it does elsewhere. refresh_open: a refresh cycle is open. */
static void legal(int refresh_open) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    selene_window window = refresh_window();
    selene_run_info run_info = SELENE_INIT(selene_run_info);
    selene_task task = task_of("inner");
    selene_task_info *record = NULL;
    selene_task_ids *ids = NULL;
    selene_plan *plan = NULL;
    selene_waits *waits = NULL;
    selene_report *report = NULL;
    selene_cycle cycle = 0;
    uint32_t satisfied = 0, host = 0;
    uint64_t count = 0;
    int64_t at = 0, delay = 0;
    int32_t disposition = -1, step = -1;
    atomic_int ended = 0;

    CHECK_OK(selene_scheduler_now(scheduler, &at));
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, &delay));
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_OK(selene_conditions_set(scheduler, 3, 3));
    task.kind = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    CHECK_INT(SELENE_DISPOSITION_ADDED, disposition);
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    CHECK_INT(SELENE_DISPOSITION_UPDATED, disposition);
    CHECK_OK(
        selene_handler_register(scheduler, "inner", -1, NULL, NULL, &ended, count_own_destroy));
    CHECK_STATUS(
        SELENE_ERROR_ALREADY_EXISTS,
        selene_handler_register(scheduler, "inner", -1, NULL, NULL, &ended, count_own_destroy));
    CHECK_INT(1, ended);
    CHECK_OK(selene_task_get(scheduler, "inner", -1, 0, &record));
    CHECK_INT(SELENE_STATE_ENQUEUED, record->state);
    selene_free(record);
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    CHECK(ids->count >= 1);
    selene_free(ids);
    CHECK_OK(selene_task_explain(scheduler, "inner", -1, &explanation));
    CHECK_OK(selene_task_waits(scheduler, "inner", -1, &waits));
    selene_free(waits);
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(1, plan->run_count);
    selene_free(plan);
    /* A pulled cycle of the other kind, from begin to end. */
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run_info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_run_complete(run_info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    /* And one of the task alone. */
    window.task = text_of("inner");
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run_info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_retry(run_info.run, 0));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    window = refresh_window();
    if (refresh_open)
        CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_handler_unregister(scheduler, "inner", -1));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_handler_unregister(scheduler, "inner", -1));
    CHECK_INT(2, ended);
    CHECK_OK(selene_task_cancel_tag(scheduler, "nobody", -1, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_task_cancel(scheduler, "inner", -1, &count));
    CHECK_INT(1, count);
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK(count >= 1);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_complete(0, 0));
    use_other_scheduler();
}

/* ---- cycles of both sorts ----------------------------------------------------------------- */

/** What the handler "outer" does in its one run; it must give the outcome. */
static void (*in_handler)(selene_run run, const selene_run_info *info);
static void (*in_stop)(selene_run run, int32_t reason);
static atomic_int runs, stops, outer_destroyed;
static int32_t last_reason;
static uint32_t window_flags;

static void outer_run(selene_run run, const selene_run_info *info, void *context) {
    CHECK(context == &runs);
    atomic_fetch_add(&runs, 1);
    in_handler(run, info);
}

static void outer_stop(selene_run run, int32_t reason, void *context) {
    CHECK(context == &runs);
    last_reason = reason;
    if (in_stop) in_stop(run, reason);
    /* Only now: the handler goes on when it sees this. */
    atomic_fetch_add(&stops, 1);
}

static void outer_destroy(void *context) {
    CHECK(context == &runs);
    atomic_fetch_add(&outer_destroyed, 1);
}

static void open_outer(void) {
    scheduler = open_default();
    runs = stops = outer_destroyed = 0;
    last_reason = -1;
    CHECK_OK(selene_handler_register(scheduler, "outer", -1, outer_run, outer_stop, &runs,
                                     outer_destroy));
    add_task(scheduler, "outer");
}

/** Runs one blocking cycle; its report is the caller's. */
static selene_report *run_outer(void) {
    selene_window window = refresh_window();
    selene_report *report = NULL;
    window.flags |= window_flags;
    window.budget = SELENE_HOUR;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, runs);
    return report;
}

static void close_outer(void) {
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_MINUTE));
    CHECK_INT(1, outer_destroyed);
    CHECK_INT(1, runs);
}

/** One blocking cycle on library threads and one inline, each with a scheduler of its own. */
static void in_both(void (*handler)(selene_run, const selene_run_info *),
                    void (*check)(const selene_report *)) {
    int i;
    in_handler = handler;
    for (i = 0; i < 2; i++) {
        selene_report *report;
        window_flags = i ? SELENE_WINDOW_INLINE : 0;
        open_outer();
        report = run_outer();
        check(report);
        selene_free(report);
        close_outer();
    }
}

static void is_new_data(const selene_report *report) {
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->runs[0].outcome);
    CHECK_INT(0, stops);
}

static void is_stopped(const selene_report *report) {
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_OUTCOME_STOPPED, report->runs[0].outcome);
    CHECK_INT(last_reason, report->runs[0].stop_reason);
    CHECK_INT(1, stops);
}

/* Its stop function may still be on its way when the report is made. */
static void is_ended(const selene_report *report) {
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_OUTCOME_STOPPED, report->runs[0].outcome);
    CHECK_INT(SELENE_STOP_SHUTDOWN, report->runs[0].stop_reason);
}

/* ---- inside a handler ------------------------------------------------------------------------ */

static void handler_everything(selene_run run, const selene_run_info *info) {
    (void)info;
    forbidden();
    legal(1);
    forbidden();
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    forbidden();
    legal(1);
}

static void test_handler_everything(void) {
    in_both(handler_everything, is_new_data);
}

static void handler_update(selene_run run, const selene_run_info *info) {
    selene_task task = task_of("outer");
    selene_task_info *record = NULL;
    int32_t disposition = -1;
    task.priority = 5;
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    CHECK_INT(SELENE_DISPOSITION_UPDATED, disposition);
    CHECK_OK(selene_task_get(scheduler, "outer", -1, 0, &record));
    CHECK_INT(SELENE_STATE_RUNNING, record->state);
    CHECK_INT(5, record->priority);
    CHECK_INT(1, record->generation);
    CHECK(record->run == run);
    selene_free(record);
    /* The run keeps its own copy. */
    CHECK_INT(3, info->priority);
    CHECK_TEXT("outer", info->id);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_TEXT("outer", info->id);
}

static void test_handler_update(void) {
    in_both(handler_update, is_new_data);
}

static void handler_replace(selene_run run, const selene_run_info *info) {
    selene_task task = task_of("outer");
    int32_t disposition = -1, reason = -1;
    task.existing = SELENE_EXISTING_REPLACE;
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    CHECK_INT(SELENE_DISPOSITION_REPLACED, disposition);
    CHECK_INT(1, stops);
    CHECK_INT(SELENE_STOP_REPLACED, last_reason);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_REPLACED, reason);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_TEXT("outer", info->id);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(scheduler, "outer"));
}

static void test_handler_replace(void) {
    in_both(handler_replace, is_stopped);
}

static void handler_cancel(selene_run run, const selene_run_info *info) {
    uint64_t count = 0;
    int32_t reason = -1;
    CHECK_OK(selene_task_cancel(scheduler, info->id.data, info->id.length, &count));
    CHECK_INT(1, count);
    CHECK_INT(1, stops);
    CHECK_INT(SELENE_STOP_CANCELLED, last_reason);
    CHECK_OK(selene_task_cancel(scheduler, "outer", -1, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_task_cancel_all(scheduler, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(1, count);
    CHECK_TEXT("outer", info->id);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_CANCELLED, reason);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_retry(run, 0));
    CHECK_TEXT("outer", info->id);
}

static void test_handler_cancel(void) {
    in_both(handler_cancel, is_stopped);
}

static void handler_unregister(selene_run run, const selene_run_info *info) {
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    CHECK_OK(selene_handler_unregister(scheduler, info->handler.data, info->handler.length));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_handler_unregister(scheduler, "outer", -1));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "outer", -1, count_run, NULL, NULL, NULL));
    CHECK_OK(selene_task_explain(scheduler, "outer", -1, &explanation));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, outer_destroyed);
    CHECK_TEXT("outer", info->handler);
    /* The outcome is given, but the function has not returned. */
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "outer", -1, count_run, NULL, NULL, NULL));
    CHECK_INT(0, outer_destroyed);
}

static void is_unregistered(const selene_report *report) {
    is_new_data(report);
    WAIT_FOR(1, outer_destroyed);
    CHECK_OK(selene_handler_register(scheduler, "outer", -1, count_run, NULL, NULL, NULL));
}

static void test_handler_unregister(void) {
    in_both(handler_unregister, is_unregistered);
}

static void handler_complete_twice(selene_run run, const selene_run_info *info) {
    (void)info;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_complete(run, -1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_complete(run, 99));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_complete(run, SELENE_OUTCOME_EXPIRED));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_retry(run, -1));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_complete(run, SELENE_OUTCOME_FAILED));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_retry(run, 0));
}

static void test_handler_complete_twice(void) {
    in_both(handler_complete_twice, is_new_data);
}

static void *complete_from_thread(void *context) {
    selene_run run = *(selene_run *)context;
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    return NULL;
}

static void handler_other_thread(selene_run run, const selene_run_info *info) {
    pthread_t thread;
    CHECK_INT(0, pthread_create(&thread, NULL, complete_from_thread, &run));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    /* What it was given lives on, and its id is taken until it returns. */
    CHECK_TEXT("outer", info->id);
    check_sleep(20 * SELENE_MILLISECOND);
    CHECK_TEXT("outer", info->id);
}

static void test_handler_other_thread(void) {
    in_both(handler_other_thread, is_new_data);
}

static void handler_async(selene_run run, const selene_run_info *info) {
    selene_window window = refresh_window();
    selene_cycle cycle = 0;
    int64_t deadline = 0;
    int ended = atomic_load(&destroyed);
    /* Joins the cycle that it runs in, unless that is inline. */
    if (window_flags == 0) {
        CHECK_OK(selene_cycle_run_async(scheduler, &window, count_report, NULL, count_destroy,
                                        &cycle, &deadline));
        CHECK(cycle == info->cycle);
        CHECK_INT(info->deadline, deadline);
        CHECK_INT(ended, destroyed);
    }
    /* Begins one of the other kind. */
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_cycle_run_async(scheduler, &window, count_report, NULL, count_destroy, &cycle,
                                    NULL));
    CHECK(cycle != info->cycle);
    WAIT_FOR(ended + 1, destroyed);
    /* Its own is not the host's to pull from. */
    outs_reset();
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_next(info->cycle, &outs.number, &outs.run_info, NULL));
    CHECK(outs_untouched());
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_handler_async(void) {
    in_both(handler_async, is_new_data);
    WAIT_FOR(3, destroyed);
    CHECK_INT(3, called);
}

static void handler_end(selene_run run, const selene_run_info *info) {
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_end(info->cycle, &report));
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, report->stopped);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(info->cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_handler_end(void) {
    in_both(handler_end, is_ended);
}

/** The handler of one scheduler runs, inline, a cycle of another, whose handler turns against the first. */
static void inner_against_outer(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    forbidden();
    legal(1);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void handler_nested(selene_run run, const selene_run_info *info) {
    selene_window window = refresh_window();
    selene_scheduler inner = open_default();
    selene_report *report = NULL;
    (void)info;
    CHECK_OK(selene_handler_register(inner, "nested", -1, inner_against_outer, NULL, NULL, NULL));
    add_task(inner, "nested");
    window.flags |= SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(inner, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(inner, 0));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_handler_nested(void) {
    in_both(handler_nested, is_new_data);
}

/* ---- inside a stop function -------------------------------------------------------------------- */

static void stop_everything(selene_run run, int32_t reason) {
    int32_t read = -1;
    forbidden();
    legal(1);
    CHECK_OK(selene_run_stopping(run, &read));
    CHECK_INT(reason, read);
    if (reason == SELENE_STOP_EXPIRING) CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    else CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void handler_until_stopped(selene_run run, const selene_run_info *info) {
    int64_t limit = check_now() + PATIENCE;
    (void)run, (void)info;
    while (atomic_load(&stops) == 0 && check_now() < limit) {
        int32_t reason = 0;
        selene_status got = selene_run_stopping(run, &reason);
        if (got != SELENE_OK || reason != SELENE_STOP_NONE) {
            /* An inline cycle notices time only when something is called, and then the stop function comes here. */
            check_sleep(SELENE_MILLISECOND);
        }
    }
}

/** A blocking cycle that soon asks its one run to stop, and gives it an hour for that. One that expired before anything
 *  ran in it is followed by one that has more time. */
static selene_report *run_until_expiry(uint32_t flags) {
    int64_t room = 20 * SELENE_MILLISECOND;
    for (;;) {
        selene_window window = refresh_window();
        selene_report *report = NULL;
        window.flags |= flags;
        window.budget = SELENE_HOUR;
        window.reserve = SELENE_HOUR - room;
        CHECK_OK(selene_cycle_run(scheduler, &window, &report));
        if (report->run_count > 0) return report;
        selene_free(report);
        room *= 4;
        CHECK(room < SELENE_MINUTE);
    }
}

static void test_stop_expiring(void) {
    int i;
    in_handler = handler_until_stopped;
    in_stop = stop_everything;
    for (i = 0; i < 2; i++) {
        selene_report *report;
        open_outer();
        report = run_until_expiry(i ? SELENE_WINDOW_INLINE : 0);
        CHECK_INT(1, stops);
        CHECK_INT(SELENE_STOP_EXPIRING, last_reason);
        CHECK_INT(1, report->new_data);
        selene_free(report);
        close_outer();
    }
}

static atomic_int reported;
static uint64_t reported_stopped;

static void note_report(const selene_report *report, void *context) {
    (void)context;
    reported_stopped = report->stopped;
    atomic_fetch_add(&reported, 1);
}

static void start_async(int64_t budget) {
    selene_window window = refresh_window();
    window.budget = budget;
    reported = 0;
    CHECK_OK(
        selene_cycle_run_async(scheduler, &window, note_report, NULL, count_destroy, NULL, NULL));
    WAIT_FOR(1, runs);
}

static void test_stop_cancelled(void) {
    uint64_t count = 0;
    in_handler = handler_until_stopped;
    in_stop = stop_everything;
    open_outer();
    start_async(SELENE_HOUR);
    /* The stop function runs on this thread. */
    CHECK_OK(selene_task_cancel(scheduler, "outer", -1, &count));
    CHECK_INT(1, count);
    CHECK_INT(1, stops);
    CHECK_INT(SELENE_STOP_CANCELLED, last_reason);
    WAIT_FOR(1, reported);
    CHECK_INT(1, reported_stopped);
    close_outer();
}

static void stop_in_close(selene_run run, int32_t reason) {
    int64_t now = 0;
    CHECK_INT(SELENE_STOP_SHUTDOWN, reason);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_now(scheduler, &now));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_task_cancel_all(scheduler, NULL));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    use_other_scheduler();
}

static void test_stop_shutdown(void) {
    in_handler = handler_until_stopped;
    in_stop = stop_in_close;
    open_outer();
    start_async(SELENE_HOUR);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    WAIT_FOR(1, outer_destroyed);
    WAIT_FOR(1, reported);
    CHECK_INT(1, stops);
    CHECK_INT(1, reported_stopped);
}

static void test_stop_once(void) {
    uint64_t count = 0;
    selene_cycle cycle = 0;
    selene_run run;
    int32_t reason = 0;
    in_stop = NULL;
    open_outer();
    CHECK_OK(selene_cycle_begin(scheduler, NULL, &cycle));
    run = take_run(cycle);
    CHECK_OK(selene_task_cancel_all(scheduler, &count));
    CHECK_OK(selene_task_cancel_all(scheduler, &count));
    CHECK_INT(1, stops);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_CANCELLED, reason);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, stops);
    CHECK_INT(1, outer_destroyed);
}

/* ---- inside an observer ------------------------------------------------------------------------- */

static atomic_int events, observers_destroyed;
static _Atomic uint64_t last_number;
static int observing;

static void observer_destroyed(void *context) {
    (void)context;
    CHECK_INT(0, observing);
    atomic_fetch_add(&observers_destroyed, 1);
}

static void observe_everything(const selene_event *event, void *context) {
    char id[64];
    (void)context;
    /* One at a time, numbered without a gap: what is changed in here comes later. */
    CHECK_INT(0, observing);
    observing = 1;
    CHECK_INT(last_number + 1, event->number);
    last_number = event->number;
    if (atomic_fetch_add(&events, 1) == 0) {
        snprintf(id, sizeof id, "%s", event->id.data);
        forbidden();
        legal(0);
        forbidden();
        CHECK(events == 1);
        CHECK_STRING(id, event->id.data);
    }
    observing = 0;
}

static void handler_at_once(selene_run run, const selene_run_info *info) {
    (void)info;
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_observer_everything(void) {
    open_outer();
    /* The handler may run while the observer is at it. */
    in_handler = handler_at_once;
    CHECK_OK(selene_scheduler_observe(scheduler, observe_everything, NULL, observer_destroyed));
    add_task(scheduler, "first");
    CHECK(events > 5);
    events = 0;
    selene_free(run_outer());
    /* On a thread of the library, maybe behind the report. */
    for (int64_t limit = check_now() + SELENE_MINUTE; events < 5 && check_now() < limit;)
        check_sleep(SELENE_MILLISECOND);
    CHECK(events >= 5);
    close_outer();
    CHECK_INT(1, observers_destroyed);
    CHECK_INT(0, observing);
}

static void observe_and_replace(const selene_event *event, void *context) {
    (void)event, (void)context;
    observing = 1;
    if (atomic_fetch_add(&events, 1) == 0) {
        CHECK_OK(
            selene_scheduler_observe(scheduler, observe_and_replace, NULL, observer_destroyed));
        CHECK_INT(0, observers_destroyed);
        CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
        CHECK_INT(0, observers_destroyed);
    }
    observing = 0;
}

static void test_observer_replaced(void) {
    open_outer();
    CHECK_OK(selene_scheduler_observe(scheduler, observe_and_replace, NULL, observer_destroyed));
    add_task(scheduler, "first");
    CHECK_INT(1, events);
    CHECK_INT(2, observers_destroyed);
    add_task(scheduler, "second");
    CHECK_INT(1, events);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(2, observers_destroyed);
}

/* Events may be delivered on another thread than the handler's, so the handler waits for the observer. */
static atomic_int acted;

/** Gives the outcome before the handler does anything. */
static void observe_and_complete(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_STARTED) return;
    CHECK_OK(selene_run_complete(event->run, SELENE_OUTCOME_NEW_DATA));
    atomic_fetch_add(&acted, 1);
}

static void handler_completed_before(selene_run run, const selene_run_info *info) {
    WAIT_FOR(1, acted);
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_complete(run, SELENE_OUTCOME_FAILED));
    CHECK_TEXT("outer", info->id);
}

static void test_observer_completes(void) {
    int i;
    in_handler = handler_completed_before;
    for (i = 0; i < 2; i++) {
        selene_report *report = NULL;
        selene_window window = refresh_window();
        if (i) window.flags |= SELENE_WINDOW_INLINE;
        open_outer();
        acted = 0;
        CHECK_OK(selene_scheduler_observe(scheduler, observe_and_complete, NULL, NULL));
        CHECK_OK(selene_cycle_run(scheduler, &window, &report));
        CHECK_INT(1, report->run_count);
        CHECK_INT(1, report->new_data);
        selene_free(report);
        /* The observer may still be on its way out. */
        WAIT_FOR(1, acted);
        CHECK_OK(selene_scheduler_close(scheduler, SELENE_MINUTE));
        CHECK_INT(1, outer_destroyed);
    }
}

/** Cancels what is about to start. */
static void observe_and_cancel(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_STARTED) return;
    CHECK_OK(selene_task_cancel(scheduler, "outer", -1, NULL));
    atomic_fetch_add(&acted, 1);
}

static void handler_cancelled_before(selene_run run, const selene_run_info *info) {
    WAIT_FOR(1, acted);
    CHECK_TEXT("outer", info->id);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_observer_cancels(void) {
    int i;
    in_handler = handler_cancelled_before;
    in_stop = NULL;
    for (i = 0; i < 2; i++) {
        selene_report *report = NULL;
        selene_window window = refresh_window();
        if (i) window.flags |= SELENE_WINDOW_INLINE;
        open_outer();
        acted = 0;
        CHECK_OK(selene_scheduler_observe(scheduler, observe_and_cancel, NULL, NULL));
        CHECK_OK(selene_cycle_run(scheduler, &window, &report));
        CHECK_INT(1, report->stopped);
        selene_free(report);
        /* The observer, and the stop function in it, may still be on their way out. */
        WAIT_FOR(1, acted);
        CHECK_INT(1, stops);
        CHECK_OK(selene_scheduler_close(scheduler, SELENE_MINUTE));
        CHECK_INT(1, outer_destroyed);
    }
}

/* ---- inside a report --------------------------------------------------------------------------------- */

static void report_everything(const selene_report *report, void *context) {
    int *left = context;
    CHECK_INT(1, report->run_count);
    CHECK_TEXT("outer", report->runs[0].id);
    forbidden();
    legal(0);
    if (--*left > 0) {
        /* The cycle is over: the next may begin. */
        runs = 0;
        CHECK_OK(selene_cycle_run_async(scheduler, NULL, report_everything, left, count_destroy,
                                        NULL, NULL));
    } else {
        atomic_fetch_add(&reported, 1);
    }
    CHECK_TEXT("outer", report->runs[0].id);
}

static void test_report_everything(void) {
    int left = 3;
    in_handler = handler_at_once;
    open_outer();
    CHECK_OK(selene_cycle_run_async(scheduler, NULL, report_everything, &left, NULL, NULL, NULL));
    WAIT_FOR(1, reported);
    CHECK_INT(0, left);
    close_outer();
}

/* ---- inside a destroy -------------------------------------------------------------------------------- */

static atomic_int everything_destroyed;

static void destroy_everything(void *context) {
    (void)context;
    forbidden();
    legal(0);
    atomic_fetch_add(&everything_destroyed, 1);
}

/** In the destroy of a refused call, or while the scheduler closes, only that no lock is held matters. */
static void destroy_other(void *context) {
    (void)context;
    use_other_scheduler();
    atomic_fetch_add(&everything_destroyed, 1);
}

static void destroy_closed(void *context) {
    int64_t now = 0;
    (void)context;
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_now(scheduler, &now));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(scheduler, 0));
    use_other_scheduler();
    atomic_fetch_add(&everything_destroyed, 1);
}

static void test_destroy_everything(void) {
    selene_window window = refresh_window();
    scheduler = open_default();
    CHECK_OK(selene_handler_register(scheduler, "outer", -1, NULL, NULL, NULL, destroy_everything));
    CHECK_OK(selene_handler_unregister(scheduler, "outer", -1));
    CHECK_INT(1, everything_destroyed);
    CHECK_OK(selene_scheduler_observe(scheduler, count_event, NULL, destroy_everything));
    CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
    CHECK_INT(2, everything_destroyed);
    CHECK_OK(
        selene_cycle_run_async(scheduler, &window, NULL, NULL, destroy_everything, NULL, NULL));
    WAIT_FOR(3, everything_destroyed);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_MINUTE));
}

static void test_destroy_refused(void) {
    selene_window window = refresh_window();
    selene_options options = still_options();
    window.flags |= SELENE_WINDOW_INLINE;
    scheduler = open_default();
    add_pulled_handler(scheduler, "name");
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "name", -1, NULL, NULL, NULL, destroy_other));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_run_async(scheduler, &window, NULL, NULL, destroy_other, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE,
                 selene_scheduler_observe(1, count_event, NULL, destroy_other));
    options.clock_destroy = destroy_other;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, NULL));
    CHECK_INT(4, everything_destroyed);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_destroy_in_close(void) {
    selene_options options = still_options();
    options.clock_destroy = destroy_closed;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "one", -1, NULL, NULL, NULL, destroy_closed));
    CHECK_OK(selene_handler_register(scheduler, "two", -1, NULL, NULL, NULL, destroy_closed));
    CHECK_OK(selene_scheduler_observe(scheduler, count_event, NULL, destroy_closed));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(4, everything_destroyed);
}

/** A destroy whose own calls fail does not hide why the call was refused that it belongs to. */
static void destroy_with_failure(void *context) {
    (void)context;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(NULL, NULL));
    CHECK(strstr(selene_error_last()->message.data, "out_scheduler"));
}

static void test_destroy_keeps_detail(void) {
    selene_options options = still_options();
    selene_window window = refresh_window();
    scheduler = open_default();
    add_pulled_handler(scheduler, "a name of its own");
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "a name of its own", -1, NULL, NULL, NULL,
                                         destroy_with_failure));
    CHECK(strstr(selene_error_last()->message.data, "name"));
    window.lanes = 1025;
    CHECK_STATUS(
        SELENE_ERROR_INVALID_ARGUMENT,
        selene_cycle_run_async(scheduler, &window, NULL, NULL, destroy_with_failure, NULL, NULL));
    CHECK(strstr(selene_error_last()->message.data, "lanes"));
    options.backoff_jitter = 1001;
    options.clock_destroy = destroy_with_failure;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &outs.handle));
    CHECK(strstr(selene_error_last()->message.data, "backoff_jitter"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- inside a host clock ------------------------------------------------------------------------------ */

static selene_scheduler clocked, bystander;
static selene_cycle clocked_cycle;
static selene_run clocked_run;
static selene_lane clocked_lane;
static int clock_depth, clock_calls, clock_turns_against;

static int64_t hostile_clock(void *context) {
    size_t i;
    (void)context;
    CHECK_INT(0, clock_depth);
    clock_depth++;
    clock_calls++;
    if (clock_turns_against) {
        clock_turns_against = 0;
        outs_reset();
        for (i = 0; i < HANDLE_CALLS; i++) {
            const struct handle_call *call = &handle_calls[i];
            call_refused(call,
                         call->type == TAKES_SCHEDULER ? clocked
                         : call->type == TAKES_CYCLE   ? clocked_cycle
                         : call->type == TAKES_LANE    ? clocked_lane
                                                       : clocked_run,
                         SELENE_ERROR_REENTRANT);
            if (call->type == TAKES_SCHEDULER)
                call_refused(call, bystander, SELENE_ERROR_REENTRANT);
        }
        /* What takes no handle is not concerned. */
        CHECK_STRING("REENTRANT", selene_name(SELENE_NAMES_STATUS, SELENE_ERROR_REENTRANT));
        CHECK_INT(SELENE_VERSION_NUMBER, selene_version());
    }
    clock_depth--;
    return CLOCK_BEGIN;
}

static void test_clock(void) {
    selene_options options = SELENE_INIT(selene_options);
    size_t i;
    options.clock = hostile_clock;
    bystander = open_default();
    CHECK_OK(selene_scheduler_open(&options, &clocked));
    add_task(clocked, "task");
    add_pulled_handler(clocked, "task");
    CHECK_OK(begin_refresh(clocked, &clocked_cycle));
    clocked_run = take_run(clocked_cycle);
    clocked_lane = open_lane_of(clocked);
    CHECK(clock_calls > 0);
    /* From inside the clock of each function in turn; the scheduler is what it was afterwards. */
    for (i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        if (call->type != TAKES_SCHEDULER || call->call == call_close || call->call == call_reset)
            continue;
        picture_take(&before_call, clocked);
        clock_turns_against = 1;
        CHECK_OK(selene_scheduler_next_wakeup(clocked, NULL, NULL));
        CHECK_INT(0, clock_turns_against);
        picture_take(&after_call, clocked);
        CHECK(before_call.length == after_call.length);
        CHECK(memcmp(before_call.bytes, after_call.bytes, before_call.length) == 0);
        clock_turns_against = 1;
        outs_reset();
        if (call->call(clocked) == SELENE_OK) {
            if (outs.task_info != outs_before.task_info) selene_free(outs.task_info);
            if (outs.task_ids != outs_before.task_ids) selene_free(outs.task_ids);
            if (outs.output != outs_before.output) selene_free(outs.output);
            if (outs.plan != outs_before.plan) selene_free(outs.plan);
            if (outs.waits != outs_before.waits) selene_free(outs.waits);
            if (outs.clients != outs_before.clients) selene_free(outs.clients);
            if (outs.pauses != outs_before.pauses) selene_free(outs.pauses);
            if (outs.decision != outs_before.decision) selene_free(outs.decision);
            if (outs.store_info != outs_before.store_info) selene_free(outs.store_info);
        }
        clock_turns_against = 0;
    }
    clock_turns_against = 1;
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(clocked_run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, clock_turns_against);
    clock_turns_against = 1;
    CHECK_OK(selene_cycle_end(clocked_cycle, NULL));
    CHECK_OK(selene_scheduler_close(clocked, 0));
    CHECK_OK(selene_scheduler_close(bystander, 0));
}

/** Inline cycles with a host clock: all the same rules hold in their handlers. */
static void handler_with_clock(selene_run run, const selene_run_info *info) {
    (void)info;
    forbidden();
    legal(1);
    still_now += SELENE_SECOND;
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_inline_with_clock(void) {
    selene_options options = still_options();
    selene_report *report;
    options.clock_destroy = count_destroy;
    in_handler = handler_with_clock;
    window_flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "outer", -1, outer_run, outer_stop, &runs,
                                     outer_destroy));
    add_task(scheduler, "outer");
    report = run_outer();
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_SECOND, report->runs[0].response_time);
    selene_free(report);
    destroyed = 0;
    close_outer();
    CHECK_INT(1, destroyed);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P3 inside a handler all is legal but close, reset and a blocking cycle",
             test_handler_everything);
    run_test("T5 a handler may update its own task, its run keeps its own copy",
             test_handler_update);
    run_test("T5 a handler may replace its own task, which stops its run", test_handler_replace);
    run_test("T8 a handler may cancel its own task, which stops its run", test_handler_cancel);
    run_test("T10 a handler may unregister itself, destroy follows its return",
             test_handler_unregister);
    run_test("C6 a handler that completes twice or with an unknown outcome is told so",
             test_handler_complete_twice);
    run_test("C6 an outcome from another thread counts before the handler returned",
             test_handler_other_thread);
    run_test("C12 a handler may start an asynchronous cycle, also join its own",
             test_handler_async);
    run_test("C5 a handler may end the cycle that it runs in", test_handler_end);
    run_test("P3 REENTRANT holds through the callbacks of another scheduler", test_handler_nested);
    run_test("C7 inside a stop function that comes with the expiry all is legal but what blocks",
             test_stop_expiring);
    run_test("C8 inside a stop function that comes with a cancel all is legal but what blocks",
             test_stop_cancelled);
    run_test("P3 inside a stop function that comes with a close without grace the handle is closed",
             test_stop_shutdown);
    run_test("C8 the stop function is called at most once", test_stop_once);
    run_test("C18 inside an observer all is legal but what blocks, and what it changes comes later",
             test_observer_everything);
    run_test("C18 an observer may replace and remove itself, destroy follows its return",
             test_observer_replaced);
    run_test("C6 an observer may complete a run before its handler does anything",
             test_observer_completes);
    run_test("T8 an observer may cancel a run before its handler does anything",
             test_observer_cancels);
    run_test("C5 inside a report all is legal but what blocks, also the next cycle",
             test_report_everything);
    run_test("8.6 inside a destroy all is legal but what blocks", test_destroy_everything);
    run_test("8.6 the destroy of a refused call is called without a lock", test_destroy_refused);
    run_test("8.6 a destroy that comes with close finds the handle closed", test_destroy_in_close);
    run_test("8.3 the detail is that of the refused call, whatever its destroy did",
             test_destroy_keeps_detail);
    run_test("P2 inside a host clock every call with a handle answers REENTRANT", test_clock);
    run_test("C5 inside an inline handler on a host clock all is legal but what blocks",
             test_inline_with_clock);
    return check_end();
}
