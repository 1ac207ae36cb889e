/*
 * frames.c - who follows the stack from a callback outwards, as exceptions, debuggers and profilers do, comes through the
 * library to the host that called it (A8)
 *
 * The host's own functions need tables for that, too: where a compiler does not make them by itself, -funwind-tables does.
 *
 * Argument: the filter of check.h.
 */
#include "cycles.h"

#include <unwind.h>

/* A function that stays one; each has something to do after the call that it is about, which so is no jump. */
#define FRAME __attribute__((noinline))

/** What a walk looks for, and what it has seen. */
static void *wanted;
static atomic_int walks, walks_that_came, fewest;

struct walk {
    int frames, came;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument) {
    struct walk *walk = argument;
    const uintptr_t after_call = _Unwind_GetIP(context);
    walk->frames++;
    if (after_call && wanted && _Unwind_FindEnclosingFunction((void *)(after_call - 1)) == wanted)
        walk->came = 1;
    return walk->frames < 200 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

/** Follows the stack from here; it must end by itself. */
static FRAME void walk_out(void) {
    struct walk walk = {0, 0};
    const _Unwind_Reason_Code code = _Unwind_Backtrace(look, &walk);
    int least = atomic_load(&fewest);
    CHECK_INT(_URC_END_OF_STACK, code);
    while (walk.frames < least && !atomic_compare_exchange_weak(&fewest, &least, walk.frames)) {
    }
    atomic_fetch_add(&walks_that_came, walk.came);
    atomic_fetch_add(&walks, 1);
}

static void look_for(void (*function)(selene_scheduler)) {
    memcpy(&wanted, &function, sizeof wanted);
    atomic_store(&walks, 0);
    atomic_store(&walks_that_came, 0);
    atomic_store(&fewest, 200);
}

/** There was a walk since, and each came to the function. */
static void check_came(void) {
    CHECK(atomic_load(&walks) > 0);
    CHECK_INT(atomic_load(&walks), atomic_load(&walks_that_came));
}

static void walk_in_run(struct work *work, selene_run run, const selene_run_info *info) {
    (void)work, (void)info;
    walk_out();
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void cancel_in_run(struct work *work, selene_run run, const selene_run_info *info) {
    (void)run, (void)info;
    CHECK_OK(selene_task_cancel(work->scheduler, "a", -1, NULL));
}

static void walk_in_stop(selene_run run, int32_t reason, void *context) {
    (void)run, (void)reason, (void)context;
    walk_out();
}

static void walk_in_event(const selene_event *event, void *context) {
    (void)event, (void)context;
    walk_out();
}

static void walk_in_destroy(void *context) {
    (void)context;
    walk_out();
}

static int64_t walk_in_clock(void *context) {
    (void)context;
    walk_out();
    return START;
}

static void walk_in_line(int32_t level, const char *text, void *context) {
    (void)level, (void)text, (void)context;
    walk_out();
}

/* ---- the host's functions, which a walk comes to ------------------------------------------------------------------- */

static FRAME void runs_inline(selene_scheduler scheduler) {
    selene_window window = window_of(SELENE_HOUR, 0, 1);
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
}

static FRAME void registers(selene_scheduler scheduler) {
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task_of("b")));
}

static FRAME void observes_no_more(selene_scheduler scheduler) {
    CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
}

static FRAME void asks_for_the_time(selene_scheduler scheduler) {
    int64_t now = 0;
    CHECK_OK(selene_scheduler_now(scheduler, &now));
}

static FRAME void opens_what_is_no_store(selene_scheduler scheduler) {
    selene_options options = SELENE_INIT(selene_options);
    options.path = SELENE_TEXT("/dev/null/none");
    CHECK(selene_scheduler_open(&options, &scheduler) != SELENE_OK);
}

static FRAME void closes(selene_scheduler scheduler) {
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

/** Without threads of the library every callback comes on the thread of a call. */
static selene_scheduler open_alone(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    options.flags = SELENE_OPTIONS_NO_THREADS;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

static void test_handler(void) {
    selene_scheduler scheduler = open_alone();
    struct work work = {.behaviour = ASK, .ask = walk_in_run};
    add_work(scheduler, "a", &work);
    look_for(runs_inline);
    runs_inline(scheduler);
    check_came();
    closes(scheduler);
}

static void test_stop(void) {
    selene_scheduler scheduler = open_alone();
    struct work work = {.behaviour = ASK, .ask = cancel_in_run};
    work.scheduler = scheduler;
    CHECK_OK(
        selene_handler_register(scheduler, "a", -1, work_run, walk_in_stop, &work, work_destroy));
    add(scheduler, task_of("a"));
    look_for(runs_inline);
    runs_inline(scheduler);
    check_came();
    closes(scheduler);
}

static void test_observer(void) {
    selene_scheduler scheduler = open_alone();
    CHECK_OK(selene_scheduler_observe(scheduler, walk_in_event, NULL, walk_in_destroy));
    look_for(registers);
    registers(scheduler);
    check_came();
    look_for(observes_no_more);
    observes_no_more(scheduler);
    check_came();
    closes(scheduler);
}

static void test_destroy(void) {
    selene_scheduler scheduler = open_alone();
    CHECK_OK(selene_handler_register(scheduler, "a", -1, work_run, NULL, &wanted, walk_in_destroy));
    look_for(closes);
    closes(scheduler);
    check_came();
}

static void test_clock(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    options.clock = walk_in_clock;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    look_for(asks_for_the_time);
    asks_for_the_time(scheduler);
    check_came();
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_line(void) {
    CHECK_OK(selene_log_set(walk_in_line, NULL, NULL));
    look_for(opens_what_is_no_store);
    opens_what_is_no_store(0);
    check_came();
    CHECK_OK(selene_log_set(NULL, NULL, NULL));
}

/** On a thread of the library the stack leads to where the thread began: behind three functions of the host and one of the
 *  library, in which it would end without tables. */
static void test_thread(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = ASK, .ask = walk_in_run};
    add_work(scheduler, "a", &work);
    look_for(runs_inline);
    selene_free(push(scheduler, window_of(AMPLE, 0, 1)));
    CHECK_INT(1, atomic_load(&walks));
    CHECK_BETWEEN(6, atomic_load(&fewest), 199);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_HOUR));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("A8 from a handler the stack leads through the library to the host", test_handler);
    run_test("A8 from a stop function the stack leads through the library to the host", test_stop);
    run_test("A8 from an observer and its destroy the stack leads through the library to the host",
             test_observer);
    run_test("A8 from the destroy of a handler the stack leads through the library to the host",
             test_destroy);
    run_test("A8 from a host clock the stack leads through the library to the host", test_clock);
    run_test("A8 from a log function the stack leads through the library to the host", test_line);
    run_test("A8 on a thread of the library the stack leads to where the thread began",
             test_thread);
    return check_end();
}
