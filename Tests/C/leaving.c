/*
 * leaving.c - a callback that does not return: its host jumps out of it, or ends its thread there (A8)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include <alloca.h>
#include <setjmp.h>

static jmp_buf outside, inner;

static void jump_out(struct work *work, selene_run run, const selene_run_info *info) {
    (void)work, (void)run, (void)info;
    longjmp(outside, 1);
}

static void end_thread(struct work *work, selene_run run, const selene_run_info *info) {
    (void)work, (void)run, (void)info;
    pthread_exit(NULL);
}

/** Runs a window inline on this thread; whether it came back by a jump. */
static int runs_by_jump(selene_scheduler scheduler) {
    selene_window window = window_of(SELENE_HOUR, 0, 1);
    window.flags = SELENE_WINDOW_INLINE;
    if (setjmp(outside)) return 1;
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    return 0;
}

/** The same deeper on the stack, over what the jump before has left there. */
static int runs_deeper(selene_scheduler scheduler) {
    volatile char room[16384];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 1;
    return runs_by_jump(scheduler) && room[0];
}

/** The run of the only task has failed, its window is over, and everything works as before. */
static void check_as_before(selene_scheduler scheduler, struct work *work) {
    selene_task_info *info = NULL;
    selene_run_info run_info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    selene_cycle cycle;
    CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK_INT(SELENE_OUTCOME_FAILED, info->last_outcome);
    CHECK_TEXT("its handler was left by a jump, an exception or the end of its thread",
               info->failure);
    selene_free(info);
    cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    CHECK_OK(selene_cycle_next(cycle, &step, &run_info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_complete(run_info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_INT(1, atomic_load(&work->destroyed));
}

static void test_jump(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = jump_out};
    add_work(scheduler, "a", &work);
    for (int i = 0; i < 40; i++)
        CHECK_INT(1, i % 2 ? runs_by_jump(scheduler) : runs_deeper(scheduler));
    check_as_before(scheduler, &work);
}

/* ---- calls from deeper than where the jump led ------------------------------------------------------------------------ */

static char *left_at;

static void jump_out_marked(struct work *work, selene_run run, const selene_run_info *info) {
    char here;
    left_at = &here;
    jump_out(work, run, info);
}

/** Calls what `call` is from below the stack that was left, of which nothing is written over. */
static __attribute__((noinline)) selene_status call_below(selene_status (*call)(selene_scheduler),
                                                          selene_scheduler scheduler) {
    char here;
    const size_t size = &here > left_at ? (size_t)(&here - left_at) + 4096 : 4096;
    volatile char *untouched = alloca(size);
    const selene_status status = call(scheduler);
    untouched[0] = 0;
    return status;
}

static selene_status run_inline_window(selene_scheduler scheduler) {
    selene_window window = window_of(SELENE_HOUR, 0, 1);
    window.flags = SELENE_WINDOW_INLINE;
    return selene_cycle_run(scheduler, &window, NULL);
}

static selene_status get_info(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    return selene_scheduler_get(scheduler, &info);
}

/* What was left still stands there: a call may be taken for one from inside, until one from where the jump led to. */
static void test_below(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = jump_out_marked};
    add_work(scheduler, "a", &work);
    for (int i = 0; i < 40; i++) {
        CHECK_INT(1, runs_by_jump(scheduler));
        CHECK_OK(call_below(get_info, scheduler));
        /* Where it is noticed all the same the handler jumps again: over this frame, which is as well. */
        if (!setjmp(outside))
            CHECK_STATUS(SELENE_ERROR_REENTRANT, call_below(run_inline_window, scheduler));
        CHECK_OK(get_info(scheduler));
        CHECK_INT(SELENE_OUTCOME_FAILED, record(scheduler, "a").last_outcome);
        CHECK_INT(0, overruns(scheduler));
    }
    check_as_before(scheduler, &work);
}

/* The same of a close, which would end what the frame belongs to. */
static selene_status close_now(selene_scheduler scheduler) {
    return selene_scheduler_close(scheduler, 0);
}

static void test_close_below(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = jump_out_marked};
    selene_status status;
    add_work(scheduler, "a", &work);
    CHECK_INT(1, runs_by_jump(scheduler));
    status = call_below(close_now, scheduler);
    if (status == SELENE_ERROR_REENTRANT) status = close_now(scheduler);
    CHECK_OK(status);
    CHECK_INT(1, atomic_load(&work.destroyed));
}

/* ---- two at a time ------------------------------------------------------------------------------------------------ */

static int jumps_inner;

static void cancel_self(struct work *work, selene_run run, const selene_run_info *info) {
    (void)info;
    if (jumps_inner && setjmp(inner)) {
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        return;
    }
    CHECK_OK(selene_task_cancel(work->scheduler, "a", -1, NULL));
    CHECK(0);
}

static atomic_int stops;

static void jump_from_stop(selene_run run, int32_t reason, void *context) {
    (void)run, (void)reason, (void)context;
    atomic_fetch_add(&stops, 1);
    if (jumps_inner) longjmp(inner, 1);
    longjmp(outside, 1);
}

static void add_jumping(selene_scheduler scheduler, struct work *work) {
    work->scheduler = scheduler;
    CHECK_OK(
        selene_handler_register(scheduler, "a", -1, work_run, jump_from_stop, work, work_destroy));
}

/* Out of the stop function, which the handler's own call has called, and over the handler. */
static void test_two(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = cancel_self};
    jumps_inner = 0;
    add_jumping(scheduler, &work);
    for (int i = 1; i <= 20; i++) {
        add(scheduler, task_of("a"));
        CHECK_INT(1, runs_by_jump(scheduler));
        CHECK_INT(i, atomic_load(&stops));
        CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    }
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

/* Out of the stop function into the handler, which goes on. */
static void test_one_of_two(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = cancel_self};
    jumps_inner = 1;
    add_jumping(scheduler, &work);
    for (int i = 1; i <= 20; i++) {
        add(scheduler, task_of("a"));
        CHECK_INT(0, runs_by_jump(scheduler));
        CHECK_INT(i, atomic_load(&stops));
        CHECK_INT(i, atomic_load(&work.returned));
    }
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

/* ---- the observer ------------------------------------------------------------------------------------------------- */

static atomic_int seen, observer_ends;

static void jump_from_observer(const selene_event *event, void *context) {
    (void)event, (void)context;
    atomic_fetch_add(&seen, 1);
    longjmp(outside, 1);
}

static void observer_ended(void *context) {
    (void)context;
    atomic_fetch_add(&observer_ends, 1);
}

static void register_by_jump(selene_scheduler scheduler, const char *id) {
    if (setjmp(outside)) return;
    add(scheduler, task_of(id));
    CHECK(0);
}

static void test_observer(void) {
    selene_scheduler scheduler = open_told();
    char id[16];
    CHECK_OK(selene_scheduler_observe(scheduler, jump_from_observer, NULL, observer_ended));
    for (int i = 1; i <= 20; i++) {
        snprintf(id, sizeof id, "%d", i);
        register_by_jump(scheduler, id);
        CHECK_INT(i, atomic_load(&seen));
    }
    CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
    CHECK_INT(1, atomic_load(&observer_ends));
    CHECK_INT(20, atomic_load(&seen));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
}

/* ---- the end of a thread ------------------------------------------------------------------------------------------ */

static void *run_inline(void *argument) {
    runs_by_jump(*(selene_scheduler *)argument);
    CHECK(0);
    return NULL;
}

static void test_host_thread(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = end_thread};
    pthread_t thread;
    add_work(scheduler, "a", &work);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(0, pthread_create(&thread, NULL, run_inline, &scheduler));
        CHECK_INT(0, pthread_join(thread, NULL));
    }
    CHECK_INT(0, overruns(scheduler));
    check_as_before(scheduler, &work);
}

/* More often than threads may stay behind. */
static void test_library_thread(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = end_thread};
    add_work(scheduler, "a", &work);
    for (int i = 0; i < 40; i++) {
        selene_report *report = push(scheduler, window_of(H, 0, 1 + (uint32_t)i % 2));
        CHECK_INT(1, report->failed);
        selene_free(report);
    }
    CHECK_INT(0, overruns(scheduler));
    check_as_before(scheduler, &work);
}

/* Its run had expired: the thread was left behind, and is not counted for ever. */
static void end_thread_late(struct work *work, selene_run run, const selene_run_info *info) {
    (void)run, (void)info;
    wait_for("the gate", &gate, 1);
    end_thread(work, run, info);
}

/* Often, since the end of its thread and a close must not wait for one another. */
static void test_left_behind(void) {
    for (int i = 0; i < 20; i++) {
        selene_options options = SELENE_INIT(selene_options);
        selene_scheduler scheduler;
        struct work work = {.behaviour = ASK, .ask = end_thread_late};
        options.max_overrun_per_handler = 1;
        atomic_store(&gate, 0);
        scheduler = open_told_with(options);
        add_work(scheduler, "a", &work);
        selene_free(push_to_deadline(scheduler, window_of(20 * S, 0, 1), &work, 1));
        CHECK_INT(1, overruns(scheduler));
        CHECK_INT(SELENE_REASON_HANDLER_STUCK,
                  why(scheduler, "a", SELENE_REASON_HANDLER_STUCK).reason);
        atomic_store(&gate, 1);
        wait_for_overruns(scheduler, 0);
        wait_until_ready(scheduler, "a");
        CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
        CHECK_INT(1, atomic_load(&work.destroyed));
    }
}

static void exit_in_report(const selene_report *report, void *context) {
    receive(report, context);
    pthread_exit(NULL);
}

static void exit_in_stop(selene_run run, int32_t reason, void *context) {
    work_stop(run, reason, context);
    pthread_exit(NULL);
}

static void exit_in_observer(const selene_event *event, void *context) {
    (void)event, (void)context;
    atomic_fetch_add(&seen, 1);
    pthread_exit(NULL);
}

/* Reports and stops come on library threads, each of which ends there. */
static void test_deliveries(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = UNTIL_STOPPED};
    work.scheduler = scheduler;
    CHECK_OK(
        selene_handler_register(scheduler, "a", -1, work_run, exit_in_stop, &work, work_destroy));
    add(scheduler, task_of("a"));
    for (int i = 1; i <= 20; i++) {
        struct receiver receiver = {0};
        selene_cycle cycle = 0;
        selene_window window = window_of(H, 0, 1);
        CHECK_OK(selene_cycle_run_async(scheduler, &window, exit_in_report, &receiver,
                                        receiver_destroy, &cycle, NULL));
        wait_for("the handler", &work.started, i);
        CHECK_OK(selene_cycle_drain(cycle, 50 * S));
        reach(scheduler, present(scheduler) + 45 * S);
        wait_for("the stop", &work.stopped, i);
        wait_for("the return", &work.returned, i);
        wait_for("the report", &receiver.calls, 1);
        wait_for("the end of the receiver", &receiver.destroyed, 1);
        wait_until_ready(scheduler, "a");
    }
    CHECK_INT(0, overruns(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

/* The events of windows come on library threads, each of which ends there. */
static void test_observer_thread(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_scheduler_observe(scheduler, exit_in_observer, NULL, observer_ended));
    for (int i = 1; i <= 20; i++) {
        struct receiver receiver = {0};
        push_async(scheduler, window_of(H, 0, 1), &receiver, NULL);
        wait_for("the report", &receiver.calls, 1);
        wait_for("the end of the receiver", &receiver.destroyed, 1);
        wait_for("the return", &work.returned, i);
        wait_until_ready(scheduler, "a");
    }
    WAIT_UNTIL(atomic_load(&seen) >= 20);
    CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
    wait_for("the end of the observer", &observer_ends, 1);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("A8 a run whose inline handler is left by a jump has failed, and all goes on",
             test_jump);
    run_test("A8 a call from below what was left is refused at worst, until one from above",
             test_below);
    run_test("A8 a close from below what was left is refused at worst", test_close_below);
    run_test("A8 a jump over a stop function and the handler that waits for it", test_two);
    run_test("A8 a jump out of a stop function into the handler that waits for it",
             test_one_of_two);
    run_test("A8 an observer that is left by a jump is told of the next event", test_observer);
    run_test("A8 a host's thread may end in an inline handler", test_host_thread);
    run_test("A8 a library thread may end in a handler, and is not missed", test_library_thread);
    run_test("A8 a thread that was left behind may end in its handler", test_left_behind);
    run_test("A8 library threads may end in reports and stop functions", test_deliveries);
    run_test("A8 library threads may end in the observer", test_observer_thread);
    return check_end();
}
