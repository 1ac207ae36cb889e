/*
 * misuse_close.c - close and unregister while runs, cycles and callbacks are in progress
 *
 * Whatever is in progress: close comes back in time, every cycle is reported once, every run is stopped once, and every
 * destroy comes once, after the last call of what it belongs to.
 */
#include "misuse.h"

#include <pthread.h>

/** How long a slow callback takes. */
#define SLOW (250 * SELENE_MILLISECOND)
/** The grace of a close where a handler ends only when it is asked to. */
#define SHORT (4 * SLOW)

static selene_scheduler scheduler;

/* ---- what the test holds, until it lets it go -------------------------------------------- */

static atomic_int let_go;

/** In a callback: it stays inside until the test has seen what happens meanwhile. Who waited for it would wait for ever. */
static void hold(void) {
    while (!atomic_load(&let_go))
        check_sleep(SELENE_MILLISECOND);
}

/* ---- a handler that takes its time ----------------------------------------------------- */

struct slow {
    atomic_int entered, returned, stops, destroys, late_status;
    int32_t reason;
    enum { UNTIL_STOPPED, HOLDS, SLEEPS, AT_ONCE_DONE } work;
    /** Whether it gives an outcome at its end. */
    int completes;
};

static void slow_run(selene_run run, const selene_run_info *info, void *context) {
    struct slow *slow = context;
    int32_t reason = SELENE_STOP_NONE;
    CHECK_INT(0, slow->destroys);
    atomic_fetch_add(&slow->entered, 1);
    switch (slow->work) {
    case UNTIL_STOPPED:
        while (selene_run_stopping(run, &reason) == SELENE_OK && reason == SELENE_STOP_NONE)
            check_sleep(SELENE_MILLISECOND);
        break;
    case HOLDS:
        hold();
        break;
    case SLEEPS:
        check_sleep(SLOW);
        break;
    case AT_ONCE_DONE:
        break;
    }
    /* The texts live until it returns, also when its scheduler is closed. */
    CHECK_TEXT("slow", info->id);
    CHECK_TEXT("input", info->input);
    if (slow->completes)
        atomic_store(&slow->late_status, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, slow->destroys);
    atomic_fetch_add(&slow->returned, 1);
}

static void slow_stop(selene_run run, int32_t reason, void *context) {
    struct slow *slow = context;
    (void)run;
    CHECK_INT(0, slow->destroys);
    slow->reason = reason;
    atomic_fetch_add(&slow->stops, 1);
}

static void slow_destroy(void *context) {
    struct slow *slow = context;
    CHECK_INT(slow->entered, slow->returned);
    atomic_fetch_add(&slow->destroys, 1);
}

static void add_slow(struct slow *slow) {
    selene_task task = task_of("slow");
    task.input = "input";
    task.input_length = 5;
    CHECK_OK(
        selene_handler_register(scheduler, "slow", -1, slow_run, slow_stop, slow, slow_destroy));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

/* ---- reports that count ------------------------------------------------------------------ */

struct receiver {
    atomic_int reports, destroys;
    uint64_t stopped, expired, new_data, run_count;
};

static void receive(const selene_report *report, void *context) {
    struct receiver *receiver = context;
    CHECK_INT(0, receiver->destroys);
    receiver->stopped = report->stopped;
    receiver->expired = report->expired;
    receiver->new_data = report->new_data;
    receiver->run_count = report->run_count;
    atomic_fetch_add(&receiver->reports, 1);
}

static void receiver_destroy(void *context) {
    struct receiver *receiver = context;
    CHECK_INT(1, receiver->reports);
    atomic_fetch_add(&receiver->destroys, 1);
}

static void start(struct receiver *receiver, int64_t budget) {
    selene_window window = SELENE_INIT(selene_window);
    window.budget = budget;
    window.reserve = SELENE_NONE;
    CHECK_OK(selene_cycle_run_async(scheduler, &window, receive, receiver, receiver_destroy, NULL,
                                    NULL));
}

/** A close that takes as long as this at least. */
static void close_after(int64_t grace, int64_t least) {
    int64_t begin = check_now();
    CHECK_OK(selene_scheduler_close(scheduler, grace));
    CHECK(check_now() - begin >= least);
}

/* ---- pulled runs ---------------------------------------------------------------------------- */

static void test_pulled(void) {
    struct slow slow = {0};
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = (selene_report *)(uintptr_t)77;
    selene_cycle cycle = 0;
    int32_t step = -1, reason = -1;
    scheduler = open_default();
    add_slow(&slow);
    CHECK_OK(selene_cycle_begin(scheduler, NULL, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    CHECK_INT(1, slow.stops);
    CHECK_INT(SELENE_STOP_SHUTDOWN, slow.reason);
    CHECK_INT(1, slow.destroys);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_stopping(info.run, &reason));
    CHECK_INT(-1, reason);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, &report));
    CHECK(report == (selene_report *)(uintptr_t)77);
}

/* ---- asynchronous cycles ------------------------------------------------------------------------ */

static void test_async_without_grace(void) {
    struct slow slow = {.work = HOLDS, .completes = 1, .late_status = -1};
    struct receiver first = {0}, second = {0};
    scheduler = open_default();
    add_slow(&slow);
    start(&first, SELENE_MINUTE);
    start(&second, SELENE_MINUTE);
    WAIT_FOR(1, slow.entered);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* Reported to both who wait; the handler is still at work, and keeps what it needs. Without grace no callback that the
       machine holds up is waited for. */
    WAIT_FOR(1, first.destroys);
    WAIT_FOR(1, second.destroys);
    CHECK_INT(1, first.reports);
    CHECK_INT(1, second.reports);
    CHECK_INT(1, first.stopped);
    WAIT_FOR(1, slow.stops);
    CHECK_INT(SELENE_STOP_SHUTDOWN, slow.reason);
    CHECK_INT(0, slow.returned);
    CHECK_INT(0, slow.destroys);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(scheduler, 0));
    let_go = 1;
    WAIT_FOR(1, slow.destroys);
    CHECK_INT(SELENE_ERROR_STALE_RUN, slow.late_status);
    check_sleep(20 * SELENE_MILLISECOND);
    CHECK_INT(1, slow.destroys);
    CHECK_INT(1, first.reports);
}

static void test_async_with_grace(void) {
    struct slow slow = {.work = SLEEPS, .completes = 1, .late_status = -1};
    struct receiver receiver = {0};
    scheduler = open_default();
    add_slow(&slow);
    start(&receiver, SELENE_MINUTE);
    WAIT_FOR(1, slow.entered);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_INT(1, slow.returned);
    CHECK_INT(0, slow.stops);
    CHECK_OK(slow.late_status);
    CHECK_INT(1, receiver.new_data);
    CHECK_INT(1, slow.destroys);
    CHECK_INT(1, receiver.reports);
    CHECK_INT(1, receiver.destroys);
}

static void test_async_short_grace(void) {
    struct slow slow = {.work = HOLDS};
    struct receiver receiver = {0};
    scheduler = open_default();
    add_slow(&slow);
    start(&receiver, SELENE_MINUTE);
    WAIT_FOR(1, slow.entered);
    close_after(SLOW, SLOW);
    CHECK_INT(0, slow.destroys);
    WAIT_FOR(1, receiver.destroys);
    let_go = 1;
    WAIT_FOR(1, slow.destroys);
}

static void test_cooperative(void) {
    struct slow slow = {.completes = 1, .late_status = -1};
    struct receiver receiver = {0};
    scheduler = open_default();
    add_slow(&slow);
    start(&receiver, SELENE_MINUTE);
    WAIT_FOR(1, slow.entered);
    close_after(SHORT, SHORT - SHORT / 10);
    WAIT_FOR(1, slow.destroys);
    CHECK_INT(1, slow.returned);
    CHECK_INT(1, slow.stops);
    CHECK_INT(SELENE_STOP_SHUTDOWN, slow.reason);
    /* It was asked in the last tenth, and may have been too late. */
    CHECK(slow.late_status == SELENE_OK || slow.late_status == SELENE_ERROR_STALE_RUN);
    WAIT_FOR(1, receiver.destroys);
    CHECK_INT(1, receiver.new_data + receiver.stopped);
}

static void test_left_behind(void) {
    struct slow slow = {.work = HOLDS};
    struct receiver receiver = {0};
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    scheduler = open_default();
    add_slow(&slow);
    start(&receiver, SELENE_MINUTE);
    WAIT_FOR(1, slow.entered);
    CHECK_OK(selene_task_expire(scheduler, "slow", -1));
    WAIT_FOR(1, receiver.destroys);
    CHECK_INT(1, receiver.expired);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(1, info.overrun_threads);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(0, slow.destroys);
    let_go = 1;
    WAIT_FOR(1, slow.destroys);
    CHECK_INT(1, slow.stops);
}

/* ---- blocking cycles, closed by another thread ----------------------------------------------------- */

struct blocking {
    uint32_t flags;
    atomic_int done;
    selene_status status;
    uint64_t run_count, stopped;
    int64_t ended;
};

static void *run_blocking(void *context) {
    struct blocking *blocking = context;
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    window.budget = SELENE_MINUTE;
    window.flags = blocking->flags;
    blocking->status = selene_cycle_run(scheduler, &window, &report);
    blocking->ended = check_now();
    if (report) {
        blocking->run_count = report->run_count;
        blocking->stopped = report->stopped;
        if (report->run_count == 1) CHECK_TEXT("slow", report->runs[0].id);
        selene_free(report);
    }
    atomic_store(&blocking->done, 1);
    return NULL;
}

static void test_blocking(void) {
    struct slow slow = {.work = HOLDS};
    struct blocking blocking = {0};
    pthread_t thread;
    scheduler = open_default();
    add_slow(&slow);
    CHECK_INT(0, pthread_create(&thread, NULL, run_blocking, &blocking));
    WAIT_FOR(1, slow.entered);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(blocking.status);
    CHECK_INT(1, blocking.run_count);
    CHECK_INT(1, blocking.stopped);
    /* The one who waits is told, the handler is still at work. */
    CHECK_INT(0, slow.returned);
    let_go = 1;
    WAIT_FOR(1, slow.destroys);
    CHECK_INT(1, slow.stops);
}

static void test_blocking_inline(void) {
    struct slow slow = {.work = HOLDS};
    struct blocking blocking = {.flags = SELENE_WINDOW_INLINE};
    pthread_t thread;
    scheduler = open_default();
    add_slow(&slow);
    CHECK_INT(0, pthread_create(&thread, NULL, run_blocking, &blocking));
    WAIT_FOR(1, slow.entered);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(0, slow.destroys);
    let_go = 1;
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(blocking.status);
    CHECK_INT(1, blocking.run_count);
    CHECK_INT(1, blocking.stopped);
    WAIT_FOR(1, slow.destroys);
    CHECK_INT(1, slow.stops);
}

/* ---- a host clock that is in use --------------------------------------------------------------------- */

static atomic_int clock_inside, clock_ended, clock_slow, clock_entered;

static int64_t slow_clock(void *context) {
    (void)context;
    CHECK_INT(0, clock_ended);
    atomic_fetch_add(&clock_inside, 1);
    if (atomic_exchange(&clock_slow, 0)) {
        atomic_store(&clock_entered, 1);
        check_sleep(SLOW);
    }
    CHECK_INT(0, clock_ended);
    atomic_fetch_sub(&clock_inside, 1);
    return CLOCK_BEGIN;
}

static void slow_clock_destroy(void *context) {
    (void)context;
    CHECK_INT(0, clock_inside);
    atomic_fetch_add(&clock_ended, 1);
}

static void open_slow_clock(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.clock = slow_clock;
    options.clock_destroy = slow_clock_destroy;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
}

static void *read_now(void *context) {
    int64_t now = 0;
    selene_status got = selene_scheduler_now(scheduler, &now);
    (void)context;
    CHECK(got == SELENE_OK || got == SELENE_ERROR_INVALID_HANDLE);
    return NULL;
}

static void test_clock_in_use(void) {
    pthread_t thread;
    open_slow_clock();
    clock_slow = 1;
    CHECK_INT(0, pthread_create(&thread, NULL, read_now, NULL));
    WAIT_FOR(1, clock_entered);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(0, pthread_join(thread, NULL));
    WAIT_FOR(1, clock_ended);
}

static void test_clock_of_inline_cycle(void) {
    struct slow slow = {.work = HOLDS};
    struct blocking blocking = {.flags = SELENE_WINDOW_INLINE};
    pthread_t thread;
    open_slow_clock();
    add_slow(&slow);
    CHECK_INT(0, pthread_create(&thread, NULL, run_blocking, &blocking));
    WAIT_FOR(1, slow.entered);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    let_go = 1;
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(blocking.status);
    CHECK_INT(1, blocking.run_count);
    WAIT_FOR(1, clock_ended);
    WAIT_FOR(1, slow.destroys);
}

/* ---- other callbacks that are in progress --------------------------------------------------------------- */

/** The first call is held. */
struct slow_callback {
    atomic_int entered, returned, destroys;
};

static void slow_callback(struct slow_callback *callback) {
    CHECK_INT(0, callback->destroys);
    if (atomic_fetch_add(&callback->entered, 1) == 0) hold();
    CHECK_INT(0, callback->destroys);
    atomic_fetch_add(&callback->returned, 1);
}

static void slow_callback_destroy(void *context) {
    struct slow_callback *callback = context;
    CHECK_INT(callback->entered, callback->returned);
    atomic_fetch_add(&callback->destroys, 1);
}

static void slow_report(const selene_report *report, void *context) {
    uint64_t count = report->run_count;
    slow_callback(context);
    CHECK_INT(count, report->run_count);
}

static void slow_event(const selene_event *event, void *context) {
    uint64_t number = event->number;
    slow_callback(context);
    CHECK(number == event->number);
}

static void test_report_in_progress(void) {
    struct slow_callback callback = {0};
    scheduler = open_default();
    CHECK_OK(selene_cycle_run_async(scheduler, NULL, slow_report, &callback, slow_callback_destroy,
                                    NULL, NULL));
    WAIT_FOR(1, callback.entered);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(0, callback.returned);
    let_go = 1;
    WAIT_FOR(1, callback.destroys);
    CHECK_INT(1, callback.entered);
}

static void *register_task(void *context) {
    (void)context;
    add_task(scheduler, "observed");
    return NULL;
}

static void test_observer_in_progress(void) {
    struct slow_callback callback = {0};
    pthread_t thread;
    scheduler = open_default();
    CHECK_OK(selene_scheduler_observe(scheduler, slow_event, &callback, slow_callback_destroy));
    CHECK_INT(0, pthread_create(&thread, NULL, register_task, NULL));
    WAIT_FOR(1, callback.entered);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(0, callback.returned);
    let_go = 1;
    CHECK_INT(0, pthread_join(thread, NULL));
    WAIT_FOR(1, callback.destroys);
    CHECK_INT(callback.entered, callback.returned);
}

struct slow_stop {
    atomic_int entered, stops, destroys, may_return;
};

static void waiting_run(selene_run run, const selene_run_info *info, void *context) {
    struct slow_stop *stop = context;
    (void)run, (void)info;
    atomic_fetch_add(&stop->entered, 1);
    while (!atomic_load(&stop->may_return))
        check_sleep(SELENE_MILLISECOND);
}

static void waiting_stop(selene_run run, int32_t reason, void *context) {
    struct slow_stop *stop = context;
    (void)run, (void)reason;
    CHECK_INT(0, stop->destroys);
    atomic_fetch_add(&stop->stops, 1);
    hold();
    CHECK_INT(0, stop->destroys);
    atomic_store(&stop->may_return, 1);
}

static void waiting_destroy(void *context) {
    struct slow_stop *stop = context;
    CHECK_INT(1, stop->may_return);
    atomic_fetch_add(&stop->destroys, 1);
}

/** The stop function runs on a library thread, at the expiry. A window that expired before anything ran in it is
 *  followed by one that has more time. */
static void test_stop_in_progress(void) {
    struct slow_stop stop = {0};
    int64_t room = 20 * SELENE_MILLISECOND;
    scheduler = open_default();
    CHECK_OK(selene_handler_register(scheduler, "slow", -1, waiting_run, waiting_stop, &stop,
                                     waiting_destroy));
    add_task(scheduler, "slow");
    while (stop.entered == 0) {
        selene_window window = SELENE_INIT(selene_window);
        int ended = destroyed;
        window.budget = SELENE_HOUR;
        window.reserve = SELENE_HOUR - room;
        CHECK_OK(selene_cycle_run_async(scheduler, &window, NULL, NULL, count_destroy, NULL, NULL));
        while (stop.entered == 0 && destroyed == ended)
            check_sleep(SELENE_MILLISECOND);
        room *= 4;
        CHECK(room < SELENE_MINUTE);
    }
    WAIT_FOR(1, stop.stops);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(0, stop.may_return);
    let_go = 1;
    WAIT_FOR(1, stop.destroys);
    CHECK_INT(1, stop.stops);
}

/* ---- close from a thread that a handler waits for ---------------------------------------------------------- */

static void *close_from_thread(void *context) {
    *(selene_status *)context = selene_scheduler_close(scheduler, 0);
    return NULL;
}

static atomic_int joined, join_destroys;

static void joining_run(selene_run run, const selene_run_info *info, void *context) {
    pthread_t thread;
    selene_status status = -1;
    (void)context;
    CHECK_INT(0, pthread_create(&thread, NULL, close_from_thread, &status));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(status);
    CHECK_TEXT("joining", info->id);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    atomic_fetch_add(&joined, 1);
}

static void joining_destroy(void *context) {
    (void)context;
    CHECK_INT(1, joined);
    atomic_fetch_add(&join_destroys, 1);
}

static void test_closed_by_handler(void) {
    int i;
    for (i = 0; i < 2; i++) {
        selene_window window = SELENE_INIT(selene_window);
        selene_report *report = NULL;
        joined = join_destroys = 0;
        window.flags = i ? SELENE_WINDOW_INLINE : 0;
        scheduler = open_default();
        CHECK_OK(selene_handler_register(scheduler, "joining", -1, joining_run, NULL, NULL,
                                         joining_destroy));
        add_task(scheduler, "joining");
        CHECK_OK(selene_cycle_run(scheduler, &window, &report));
        CHECK_INT(1, report->stopped);
        selene_free(report);
        WAIT_FOR(1, join_destroys);
    }
}

/* ---- close against other calls ------------------------------------------------------------------------------- */

static atomic_int stop_calling;

static void *call_until_stopped(void *context) {
    (void)context;
    while (!atomic_load(&stop_calling)) {
        selene_task task = task_of("task");
        selene_status got[4];
        int64_t at = 0;
        size_t i;
        got[0] = selene_task_register(scheduler, &task, NULL);
        got[1] = selene_scheduler_next_wakeup(scheduler, &at, NULL);
        got[2] = selene_handler_register(scheduler, "task", -1, NULL, NULL, NULL, count_destroy);
        if (got[2] == SELENE_OK || got[2] == SELENE_ERROR_ALREADY_EXISTS)
            atomic_fetch_add(&called, 1);
        got[3] = selene_handler_unregister(scheduler, "task", -1);
        for (i = 0; i < 4; i++)
            CHECK(got[i] == SELENE_OK || got[i] == SELENE_ERROR_INVALID_HANDLE ||
                  got[i] == SELENE_ERROR_NOT_FOUND || got[i] == SELENE_ERROR_ALREADY_EXISTS);
    }
    return NULL;
}

static void test_other_calls(void) {
    pthread_t threads[3];
    int i, k, count = rounds(100);
    for (i = 0; i < count; i++) {
        selene_scheduler closed = scheduler = open_default();
        stop_calling = 0;
        for (k = 0; k < 3; k++)
            CHECK_INT(0, pthread_create(&threads[k], NULL, call_until_stopped, NULL));
        check_sleep(SELENE_MILLISECOND / 2);
        CHECK_OK(selene_scheduler_close(closed, 0));
        CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(closed, 0));
        stop_calling = 1;
        for (k = 0; k < 3; k++)
            CHECK_INT(0, pthread_join(threads[k], NULL));
    }
}

/* ---- unregister while running ---------------------------------------------------------------------------------- */

static void test_unregister_while_running(void) {
    struct slow slow = {.work = HOLDS, .completes = 1, .late_status = -1},
                again = {.completes = 1, .work = AT_ONCE_DONE};
    struct receiver receiver = {0}, second = {0};
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    scheduler = open_default();
    add_slow(&slow);
    start(&receiver, SELENE_MINUTE);
    WAIT_FOR(1, slow.entered);
    CHECK_OK(selene_handler_unregister(scheduler, "slow", -1));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_handler_unregister(scheduler, "slow", -1));
    /* The name is free after its last run, not before. */
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "slow", -1, slow_run, NULL, &again, NULL));
    CHECK_INT(0, slow.destroys);
    CHECK_INT(0, slow.returned);
    let_go = 1;
    WAIT_FOR(1, receiver.destroys);
    CHECK_INT(1, receiver.new_data);
    WAIT_FOR(1, slow.destroys);
    CHECK_INT(SELENE_OK, slow.late_status);
    CHECK_INT(0, slow.stops);
    CHECK_OK(selene_task_explain(scheduler, "slow", -1, &explanation));
    CHECK_INT(1, explanation.reason_count);
    CHECK_INT(SELENE_REASON_NO_HANDLER, explanation.reasons[0].reason);
    add_slow(&again);
    start(&second, SELENE_MINUTE);
    WAIT_FOR(1, second.destroys);
    CHECK_INT(1, second.new_data);
    CHECK_INT(1, again.returned);
    CHECK_INT(1, slow.entered);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_MINUTE));
    CHECK_INT(1, again.destroys);
    CHECK_INT(1, slow.destroys);
}

static void test_unregister_pulled(void) {
    struct slow slow = {0};
    selene_cycle cycle = 0;
    selene_run run;
    scheduler = open_default();
    add_slow(&slow);
    CHECK_OK(selene_cycle_begin(scheduler, NULL, &cycle));
    run = take_run(cycle);
    CHECK_OK(selene_handler_unregister(scheduler, "slow", -1));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "slow", -1, NULL, NULL, NULL, NULL));
    CHECK_INT(0, slow.destroys);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
    CHECK_INT(1, slow.destroys);
    CHECK_OK(selene_handler_register(scheduler, "slow", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P3 close stops pulled runs, whose tokens are stale afterwards", test_pulled);
    run_test("P3 close without grace comes back at once, destroy follows the handler's return",
             test_async_without_grace);
    run_test("P3 close with grace waits for the handler, whose outcome counts",
             test_async_with_grace);
    run_test("P3 close waits no longer than its grace", test_async_short_grace);
    run_test("P3 a handler that asks whether to stop is asked in the last tenth of the grace",
             test_cooperative);
    run_test("P3 close does not wait for a thread that was left behind", test_left_behind);
    run_test("P3 close ends a blocking cycle on another thread, which is reported", test_blocking);
    run_test("P3 close ends a blocking inline cycle on another thread, which is reported",
             test_blocking_inline);
    run_test("P2 clock_destroy waits for a clock that is being read", test_clock_in_use);
    run_test("P2 clock_destroy comes after the last reading of an inline cycle",
             test_clock_of_inline_cycle);
    run_test("P3 close without grace does not wait for a report that is being received",
             test_report_in_progress);
    run_test("P3 close without grace does not wait for an observer in progress",
             test_observer_in_progress);
    run_test("P3 close without grace does not wait for a stop function in progress",
             test_stop_in_progress);
    run_test("P3 a handler may wait for a thread that closes its scheduler",
             test_closed_by_handler);
    run_test("P3 calls that meet a close succeed or find the handle closed", test_other_calls);
    run_test("T10 a handler that is unregistered while it runs ends in peace",
             test_unregister_while_running);
    run_test("T10 the name of an unregistered handler is free after its last pulled run",
             test_unregister_pulled);
    return check_end();
}
