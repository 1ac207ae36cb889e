/*
 * server_calls.c - windows of a connection whose handlers the library calls: on its threads, inline, asynchronously; and
 * stop functions (docs/rules.md, L6, L8, C5, C7)
 */
#include "server_tools.h"

/* ---- words -------------------------------------------------------------------------------- */

/** What a handler does, and what has come of it. */
struct work {
    atomic_int calls, stops, destroyed, reason, at_once, most;
    atomic_int may_return;
    /** Waits until it may return; gives no outcome; tries what it may not; gives its outcome before it waits. */
    int waits, is_silent, is_curious, is_early;
    selene_scheduler member;
    _Atomic selene_run run;
    _Atomic pthread_t thread;
};

static void handle(selene_run run, const selene_run_info *info, void *context) {
    struct work *work = context;
    int now = atomic_fetch_add(&work->at_once, 1) + 1;
    int most = atomic_load(&work->most);
    while (now > most && !atomic_compare_exchange_weak(&work->most, &most, now)) {
    }
    CHECK(info->run == run && info->id.length > 0);
    if (work->is_early) (void)selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
    work->thread = pthread_self();
    atomic_store(&work->run, run);
    atomic_fetch_add(&work->calls, 1);
    if (work->is_curious) {
        CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_cycle_run(work->member, NULL, NULL));
        CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_close(work->member, 0));
    }
    int64_t until = check_now() + PATIENCE;
    while (work->waits && !atomic_load(&work->may_return) && check_now() < until)
        check_sleep(MS);
    atomic_fetch_sub(&work->at_once, 1);
    if (!work->is_silent && !work->is_early)
        (void)selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void stop(selene_run run, int32_t reason, void *context) {
    struct work *work = context;
    CHECK(run == atomic_load(&work->run) || work->run == 0);
    atomic_store(&work->reason, reason);
    atomic_fetch_add(&work->stops, 1);
    atomic_store(&work->may_return, 1);
}

static void end_work(void *context) {
    struct work *work = context;
    CHECK_INT(0, atomic_load(&work->at_once));
    atomic_fetch_add(&work->destroyed, 1);
}

static selene_scheduler caller_of(const char *file, struct work *work) {
    selene_scheduler member = member_of(file, "a");
    work->member = member;
    CHECK_OK(selene_handler_register(member, "h", -1, handle, stop, work, end_work));
    return member;
}

static void add(selene_scheduler scheduler, const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    task.expected_response = MS;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static selene_window lanes_of(uint32_t lanes, uint32_t flags) {
    selene_window window = SELENE_INIT(selene_window);
    window.flags = flags;
    window.lanes = lanes;
    window.budget = SELENE_HOUR;
    window.reserve = SELENE_NONE;
    return window;
}

/* ---- on threads, and inline ------------------------------------------------------------------- */

static void test_threads(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.is_curious = 1};
    selene_scheduler member = caller_of(file, &work);
    selene_report *report = NULL;
    char id[16];
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "t%d", i);
        add(owner, id);
    }
    selene_window window = lanes_of(3, 0);
    CHECK_OK(selene_cycle_run(member, &window, &report));
    CHECK_INT(20, report->run_count);
    CHECK_INT(20, report->new_data);
    CHECK_INT(20, work.calls);
    CHECK(!pthread_equal(work.thread, pthread_self()));
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "t19"));
    selene_free(report);
    /* Without a report, and with nothing to run. */
    CHECK_OK(selene_cycle_run(member, NULL, NULL));
    CHECK_INT(0, work.destroyed);
    CHECK_OK(selene_scheduler_close(member, 0));
    CHECK_INT(1, work.destroyed);
    CHECK_INT(0, work.stops);
    close_store(owner);
}

/** As many handlers are called at a time as the window has lanes. */
static void test_lanes(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(2, 0);
    selene_cycle cycle = 0;
    for (int i = 0; i < 4; i++)
        add(owner, (const char *[]){"a", "b", "c", "d"}[i]);
    CHECK_OK(selene_cycle_run_async(member, &window, NULL, NULL, NULL, &cycle, NULL));
    WAIT_UNTIL(work.calls == 2);
    atomic_store(&work.may_return, 1);
    WAIT_UNTIL(state_of(owner, "c") == SELENE_STATE_SUCCEEDED &&
               state_of(owner, "d") == SELENE_STATE_SUCCEEDED);
    CHECK_INT(2, work.most);
    CHECK_INT(4, work.calls);
    // The owner knows of an outcome before the member has its answer.
    CHECK_OK(selene_scheduler_close(member, PATIENCE));
    CHECK_INT(1, work.destroyed);
    close_store(owner);
}

static void test_inline(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.is_curious = 1};
    selene_scheduler member = caller_of(file, &work);
    selene_report *report = NULL;
    selene_window window = lanes_of(1, SELENE_WINDOW_INLINE);
    add(owner, "a");
    add(owner, "b");
    CHECK_OK(selene_cycle_run(member, &window, &report));
    CHECK_INT(2, report->new_data);
    CHECK(pthread_equal(work.thread, pthread_self()));
    selene_free(report);
    window.flags = SELENE_WINDOW_LANES;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_run(member, &window, NULL));
    DETAIL("selene_cycle_begin");
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_run_async(member, &window, NULL, NULL, NULL, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_begin(member, &window, &(selene_cycle){0}));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** Where the owner's clock is its host's, handlers are called inline alone. */
static void test_host_clock(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_with(store_options(file));
    serve(owner);
    struct work work = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_report *report = NULL;
    selene_window window = lanes_of(1, 0);
    add(owner, "a");
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_run(member, &window, NULL));
    DETAIL("host clock");
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(member, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    /* A handler that gives no outcome leaves no lane that could be free. */
    work.is_silent = 1;
    add(owner, "b");
    add(owner, "c");
    CHECK_OK(selene_cycle_run(member, &window, &report));
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, report->stopped);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** A task whose handler has no run function here waits for a window that is pulled. */
static void test_without_function(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = member_of(file, "a");
    selene_report *report = NULL;
    selene_window window = lanes_of(1, 0);
    CHECK_OK(offer(member, "h"));
    add(owner, "a");
    CHECK_OK(selene_cycle_run(member, &window, &report));
    CHECK_INT(0, report->run_count);
    selene_free(report);
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(member, &window, &report));
    CHECK_INT(0, report->run_count);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/* ---- later ------------------------------------------------------------------------------------ */

struct heard {
    atomic_int reports, destroyed;
    atomic_long runs, flags, stopped;
};

static void hear(const selene_report *report, void *context) {
    struct heard *heard = context;
    atomic_store(&heard->runs, (long)report->run_count);
    atomic_store(&heard->flags, (long)report->flags);
    atomic_store(&heard->stopped, (long)report->stopped);
    atomic_fetch_add(&heard->reports, 1);
}

static void end_heard(void *context) {
    struct heard *heard = context;
    atomic_fetch_add(&heard->destroyed, 1);
}

static void test_async(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1};
    struct heard first = {0}, second = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(1, 0);
    selene_cycle cycle = 0, joined = 0;
    int64_t deadline = 0, same = 0;
    int32_t step;
    add(owner, "a");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &first, end_heard, &cycle, &deadline));
    CHECK(cycle != 0 && deadline > 0);
    WAIT_UNTIL(work.calls == 1);
    /* One of these very kinds is joined; its runs are not the host's. */
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &second, end_heard, &joined, &same));
    CHECK(joined == cycle && same == deadline);
    CHECK_STATUS(
        SELENE_ERROR_UNSUPPORTED,
        selene_cycle_next(cycle, &step, &(selene_run_info)SELENE_INIT(selene_run_info), NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_wait(cycle, 0, &(selene_report *){NULL}, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_lane_open(cycle, &(selene_lane){0}));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(member, &window, &joined));
    atomic_store(&work.may_return, 1);
    WAIT_UNTIL(first.destroyed == 1 && second.destroyed == 1);
    CHECK_INT(1, first.reports);
    CHECK_INT(1, second.reports);
    CHECK_INT(1, first.runs);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    /* One that is refused is told of nothing, and its context is freed. */
    window.lanes = 1025;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_cycle_run_async(member, &window, hear, &first, end_heard, NULL, NULL));
    CHECK_INT(2, first.destroyed);
    CHECK_INT(1, first.reports);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** The host's end of a cycle reports it to all who wait. */
static void test_ended(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1};
    struct heard heard = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(1, 0);
    selene_cycle cycle = 0;
    selene_report *report = NULL;
    add(owner, "a");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &heard, end_heard, &cycle, NULL));
    WAIT_UNTIL(work.calls == 1);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->stopped);
    CHECK(report->cycle == cycle);
    selene_free(report);
    /* On a thread of the library, as any such report. */
    WAIT_UNTIL(heard.destroyed == 1);
    CHECK_INT(1, heard.reports);
    WAIT_UNTIL(work.stops == 1);
    CHECK_INT(SELENE_STOP_SHUTDOWN, work.reason);
    CHECK_OK(selene_scheduler_close(member, PATIENCE));
    CHECK_INT(1, work.destroyed);
    close_store(owner);
}

/* ---- stop functions ----------------------------------------------------------------------------- */

/** While its only thread is in the handler. */
static void test_stop(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(1, 0);
    selene_cycle cycle = 0;
    add(owner, "a");
    CHECK_OK(selene_cycle_run_async(member, &window, NULL, NULL, NULL, &cycle, NULL));
    WAIT_UNTIL(work.calls == 1);
    CHECK_OK(selene_task_cancel(owner, "a", -1, NULL));
    WAIT_UNTIL(work.stops == 1);
    CHECK_INT(SELENE_STOP_CANCELLED, work.reason);
    CHECK_OK(selene_scheduler_close(member, PATIENCE));
    CHECK_INT(1, work.stops);
    close_store(owner);
}

/** Also of a run that the host has pulled. */
static void test_stop_of_pulled(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(1, 0);
    selene_cycle cycle = 0;
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step;
    add(owner, "a");
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    atomic_store(&work.run, run.run);
    CHECK_OK(selene_cycle_drain(cycle, 0));
    WAIT_UNTIL(work.stops == 1);
    CHECK_INT(SELENE_STOP_SHUTDOWN, work.reason);
    CHECK_INT(0, work.calls);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** A run whose time is over leaves its thread behind, and another takes its place (R3). */
static void test_left_behind(void) {
    const char *file = path("t.db");
    selene_options options = store_options(file);
    options.clock = NULL;
    options.stop_grace = 10 * MS;
    selene_scheduler owner = open_with(options);
    serve(owner);
    struct work slow = {.waits = 1}, quick = {0};
    selene_scheduler member = member_of(file, "a");
    selene_task task = task_of("slow");
    selene_report *report = NULL;
    selene_window window = lanes_of(1, 0);
    CHECK_OK(selene_handler_register(member, "slow", -1, handle, NULL, &slow, end_work));
    CHECK_OK(selene_handler_register(member, "h", -1, handle, NULL, &quick, end_work));
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("slow");
    task.priority = SELENE_PRIORITY_HIGH;
    task.timeout = 20 * MS;
    CHECK_OK(selene_task_register(owner, &task, NULL));
    add(owner, "next");
    CHECK_OK(selene_cycle_run(member, &window, &report));
    CHECK_INT(1, slow.calls);
    CHECK_INT(1, quick.calls);
    CHECK_INT(1, slow.at_once);
    CHECK_INT(1, report->expired);
    CHECK_INT(1, report->new_data);
    selene_free(report);
    /* A close does not wait for it without a grace; what it has is freed when it returns. */
    CHECK_OK(selene_scheduler_close(member, 0));
    CHECK_INT(0, slow.destroyed);
    atomic_store(&slow.may_return, 1);
    WAIT_UNTIL(slow.destroyed == 1);
    WAIT_UNTIL(quick.destroyed == 1);
    close_store(owner);
}

/** A handler that is withdrawn while it works goes on, and its context is freed when it returns. */
static void test_withdrawn(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1};
    struct heard heard = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(1, 0);
    add(owner, "a");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &heard, end_heard, NULL, NULL));
    WAIT_UNTIL(work.calls == 1);
    CHECK_OK(selene_handler_unregister(member, "h", -1));
    CHECK_INT(0, work.destroyed);
    atomic_store(&work.may_return, 1);
    WAIT_UNTIL(heard.destroyed == 1);
    WAIT_UNTIL(work.destroyed == 1);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "a"));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/* ---- the end ------------------------------------------------------------------------------------ */

struct returning {
    selene_scheduler member;
    struct work *work;
    struct heard joined;
    int joins;
};

/** Lets a handler return once a close has begun: until then a window of these kinds is joined. */
static void *return_later(void *context) {
    struct returning *own = context;
    const selene_window window = lanes_of(1, 0);
    selene_status status;
    while ((status = selene_cycle_run_async(own->member, &window, hear, &own->joined, end_heard,
                                            NULL, NULL)) == SELENE_OK)
        own->joins++;
    CHECK_INT(SELENE_ERROR_UNAVAILABLE, status);
    atomic_store(&own->work->may_return, 1);
    return NULL;
}

/** Closes with a grace while the handler works. */
static void close_beside(struct returning *own) {
    pthread_t thread;
    CHECK_INT(0, pthread_create(&thread, NULL, return_later, own));
    CHECK_OK(selene_scheduler_close(own->member, PATIENCE));
    CHECK_INT(0, pthread_join(thread, NULL));
}

/** With a grace a close lets runs complete, begins nothing more, and reports. */
static void test_close_with_grace(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1};
    struct heard heard = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(1, 0);
    add(owner, "a");
    add(owner, "b");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &heard, end_heard, NULL, NULL));
    WAIT_UNTIL(work.calls == 1);
    struct returning returning = {.member = member, .work = &work};
    close_beside(&returning);
    CHECK_INT(1, work.calls);
    CHECK_INT(0, work.stops);
    WAIT_UNTIL(heard.destroyed == 1);
    CHECK_INT(1, heard.reports);
    CHECK_INT(1, heard.runs);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "a"));
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "b"));
    close_store(owner);
}

/** The same beside a lane that waits in a rolling window. */
static void test_close_rolling(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1};
    struct heard heard = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(3, 0);
    add(owner, "a");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &heard, end_heard, NULL, NULL));
    WAIT_UNTIL(work.calls == 1);
    struct returning returning = {.member = member, .work = &work};
    close_beside(&returning);
    CHECK_INT(0, work.stops);
    WAIT_UNTIL(heard.destroyed == 1);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "a"));
    close_store(owner);
}

/** A handler that has completed its run, and works on, keeps no report waiting behind the deadline. */
static void test_works_on(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1, .is_early = 1};
    struct heard heard = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(2, 0);
    window.budget = S / 2;
    window.reserve = SELENE_NONE;
    add(owner, "a");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &heard, end_heard, NULL, NULL));
    WAIT_UNTIL(heard.destroyed == 1);
    CHECK_INT(1, heard.reports);
    CHECK_INT(1, heard.runs);
    CHECK_INT(0, work.destroyed);
    atomic_store(&work.may_return, 1);
    CHECK_OK(selene_scheduler_close(member, PATIENCE));
    WAIT_UNTIL(work.destroyed == 1);
    close_store(owner);
}

/** Without one they are stopped, and wait again as before. */
static void test_close_at_once(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1};
    struct heard heard = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(1, 0);
    selene_task_info *info = NULL;
    add(owner, "a");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &heard, end_heard, NULL, NULL));
    WAIT_UNTIL(work.calls == 1);
    CHECK_OK(selene_scheduler_close(member, 0));
    WAIT_UNTIL(heard.destroyed == 1);
    CHECK_INT(1, heard.stopped);
    WAIT_UNTIL(work.stops == 1);
    CHECK_INT(SELENE_STOP_SHUTDOWN, work.reason);
    WAIT_UNTIL(work.destroyed == 1);
    CHECK_OK(selene_task_get(owner, "a", -1, 0, &info));
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(0, info->attempts);
    selene_free(info);
    close_store(owner);
}

/** When the owner is killed, who waits for a report hears of it, and the next owner has the handlers again. */
static void test_owner_killed(void) {
    const char *file = path("t.db");
    struct owner next = fork_owner(file);
    pid_t owner = start_owner(file);
    struct work work = {.waits = 1};
    struct heard heard = {0};
    selene_scheduler member = caller_of(file, &work);
    selene_window window = lanes_of(1, 0);
    selene_report *report = NULL;
    add(member, "a");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &heard, end_heard, NULL, NULL));
    WAIT_UNTIL(work.calls == 1);
    end_owner(owner, SIGKILL);
    WAIT_UNTIL(heard.destroyed == 1);
    CHECK_INT(1, heard.reports);
    CHECK_INT(SELENE_REPORT_NOT_STORED, heard.flags);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_cycle_run(member, &window, NULL));
    owner = let_own(next);
    atomic_store(&work.may_return, 1);
    WAIT_UNTIL(atomic_load(&work.at_once) == 0);
    add(member, "b");
    CHECK_OK(selene_cycle_run(member, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(member, "b"));
    /* The stop function of a run of the next owner is called, too. */
    atomic_store(&work.may_return, 0);
    atomic_store(&work.stops, 0);
    add(member, "c");
    CHECK_OK(selene_cycle_run_async(member, &window, hear, &heard, end_heard, NULL, NULL));
    WAIT_UNTIL(work.calls == 3);
    CHECK_OK(selene_task_cancel(member, "c", -1, NULL));
    WAIT_UNTIL(work.stops == 1);
    CHECK_OK(selene_scheduler_close(member, PATIENCE));
    CHECK_INT(1, work.destroyed);
    end_owner(owner, SIGKILL);
}

/** A child that a handler forks leaves the library's threads to the parent. */
static void fork_in(selene_run run, const selene_run_info *info, void *context) {
    struct work *work = context;
    int ends[2];
    char verdict = 0;
    (void)info;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        int32_t state;
        int is_forked = selene_scheduler_now(work->member, &(int64_t){0}) == SELENE_ERROR_FORKED &&
                        selene_run_stopping(run, &state) == SELENE_ERROR_FORKED;
        if (write(ends[1], is_forked ? "y" : "n", 1) != 1) _exit(1);
        _exit(0);
    }
    CHECK(read(ends[0], &verdict, 1) == 1 && verdict == 'y');
    CHECK(waitpid(child, NULL, 0) == child);
    close(ends[0]);
    close(ends[1]);
    atomic_fetch_add(&work->calls, 1);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_fork(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {0};
    selene_scheduler member = member_of(file, "a");
    work.member = member;
    selene_window window = lanes_of(1, 0);
    CHECK_OK(selene_handler_register(member, "h", -1, fork_in, stop, &work, end_work));
    add(owner, "a");
    CHECK_OK(selene_cycle_run(member, &window, NULL));
    window.flags = SELENE_WINDOW_INLINE;
    add(owner, "b");
    CHECK_OK(selene_cycle_run(member, &window, NULL));
    CHECK_INT(2, work.calls);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L6 threads of the library call the handlers of a member's window", test_threads);
    run_test("L6 as many handlers are called at a time as the window has lanes", test_lanes);
    run_test("L6 an inline window calls them on the thread that asks", test_inline);
    run_test("L6 with a host clock of the owner's handlers are called inline alone",
             test_host_clock);
    run_test("L6 what has no run function waits for a pulled window", test_without_function);
    run_test("L6 an asynchronous window is joined, and reports to all once", test_async);
    run_test("L6 a window that the host ends is reported to those who wait", test_ended);
    run_test("C7 the stop function is called while the only lane is in the handler", test_stop);
    run_test("C7 the stop function of a pulled run is called, too", test_stop_of_pulled);
    run_test("R3 a thread is left behind and another takes its place", test_left_behind);
    run_test("L5 a handler that is withdrawn ends when it returns", test_withdrawn);
    run_test("L9 a close with a grace lets runs complete and reports", test_close_with_grace);
    run_test("L9 so does it beside a lane that waits in a rolling window", test_close_rolling);
    run_test("L6 C5 a handler that works on keeps no report waiting", test_works_on);
    run_test("L9 a close without one stops them, and they wait as before", test_close_at_once);
    run_test("L10 who waits for a window hears that the owner was killed", test_owner_killed);
    run_test("L15 a handler forks, and the child leaves the threads alone", test_fork);
    tools_end();
    return check_end();
}
