/*
 * slow_disk.c - a disk whose syncs wait at a gate: no question, no run and no report waits for it (D7)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#include <dlfcn.h>

/* ---- the disk -------------------------------------------------------------- */

/** Whether syncs wait at a gate, how many may pass it, and how many wait there; how many waited in vain for the test. */
static atomic_int held, passes, syncing, given_up;
static atomic_int is_broken;

static int take_pass(void) {
    int count = atomic_load(&passes);
    while (count > 0)
        if (atomic_compare_exchange_weak(&passes, &count, count - 1)) return 1;
    return 0;
}

static int sync_at_gate(const char *name, int file) {
    int (*next)(int) = NULL;
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&next, &found, sizeof next);
    if (atomic_load(&held) && !take_pass()) {
        int64_t limit = check_now() + PATIENCE;
        atomic_fetch_add(&syncing, 1);
        while (atomic_load(&held) && !take_pass() && check_now() < limit)
            check_sleep(MS);
        if (check_now() >= limit) atomic_fetch_add(&given_up, 1);
        atomic_fetch_sub(&syncing, 1);
    }
    if (atomic_load(&is_broken)) {
        errno = EIO;
        return -1;
    }
    return next(file);
}

int fdatasync(int file) {
    return sync_at_gate("fdatasync", file);
}
int fsync(int file) {
    return sync_at_gate("fsync", file);
}

static char store[64];

static selene_scheduler open_slow(void) {
    snprintf(store, sizeof store, "%s", file_named("store"));
    return open_told_with(stored_options(store));
}

static selene_scheduler open_again(void) {
    selene_scheduler scheduler = 0;
    selene_options options = stored_options(store);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    return scheduler;
}

/** From here on no sync comes to its end, but for the next few. */
static void hold_syncs(int but) {
    atomic_store(&passes, but);
    atomic_store(&held, 1);
}

/** A sync has waited all the time; what it stores is stored as soon as it can be. */
static void release_syncs(void) {
    wait_for("the sync", &syncing, 1);
    CHECK_INT(0, atomic_load(&given_up));
    atomic_store(&held, 0);
}

/** Other threads register tasks, whose syncs wait at the gate. */
struct registrar {
    selene_scheduler scheduler;
    const char *id;
    selene_status status;
    atomic_int begun, done;
    pthread_t thread;
};
static struct registrar registrar;

static void *register_slowly(void *argument) {
    struct registrar *self = argument;
    selene_task task = task_of(self->id);
    task.handler = SELENE_TEXT("nothing");
    atomic_store(&self->begun, 1);
    self->status = selene_task_register(self->scheduler, &task, NULL);
    atomic_store(&self->done, 1);
    return NULL;
}

static void start_registrar(struct registrar *self, selene_scheduler scheduler, const char *id) {
    self->scheduler = scheduler;
    self->id = id;
    CHECK_INT(0, pthread_create(&self->thread, NULL, register_slowly, self));
    wait_for("the registrar", &self->begun, 1);
}

static selene_status join_registrar(struct registrar *self) {
    CHECK_INT(0, pthread_join(self->thread, NULL));
    return self->status;
}

static void begin_sync(selene_scheduler scheduler, const char *id) {
    hold_syncs(0);
    start_registrar(&registrar, scheduler, id);
    wait_for("the sync", &syncing, 1);
}

/** The sync has waited until now. */
static selene_status end_sync(void) {
    CHECK_INT(0, atomic_load(&registrar.done));
    release_syncs();
    return join_registrar(&registrar);
}

/* ============================================================================
 *  QUESTIONS
 * ========================================================================= */

static void test_questions(void) {
    selene_scheduler scheduler = open_slow();
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_window window = SELENE_INIT(selene_window);
    selene_task_ids *ids = NULL;
    selene_plan *plan = NULL;
    uint32_t satisfied, host;
    int64_t now;
    struct work work = {.behaviour = COMPLETE};
    add_work(scheduler, "a", &work);
    begin_sync(scheduler, "other");
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    selene_free(ids);
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &now, NULL));
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    selene_free(plan);
    CHECK_OK(selene_clock_set(scheduler, START + S));
    CHECK_OK(end_sync());
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* Who changes something waits for its turn, and for a sync of its own: both are durable. */
static void test_changes(void) {
    static struct registrar second;
    selene_scheduler scheduler = open_slow();
    begin_sync(scheduler, "first");
    start_registrar(&second, scheduler, "second");
    CHECK_INT(0, atomic_load(&second.done));
    atomic_store(&passes, 1);
    wait_for("the first", &registrar.done, 1);
    wait_for("the sync of the second", &syncing, 1);
    CHECK_INT(0, atomic_load(&second.done));
    release_syncs();
    CHECK_OK(join_registrar(&registrar));
    CHECK_OK(join_registrar(&second));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_again();
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "first").state);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "second").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  RUNS AND REPORTS
 * ========================================================================= */

/** A window of 20 s in which runs are asked to stop after 10. */
#define BUDGET (20 * S)
#define RESERVE (10 * S)

static struct runner runner;

static int32_t stop_reason(struct work *work) {
    int32_t reason = -1;
    CHECK_OK(selene_run_stopping(atomic_load(&work->run), &reason));
    return reason;
}

/* A handler that asks is told in time and completes; the report comes by the deadline; both are stored later. */
static void test_stopping(void) {
    selene_scheduler scheduler = open_slow();
    struct work work = {.behaviour = UNTIL_STOPPED};
    selene_report *report;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(BUDGET, RESERVE, 1));
    wait_for("the handler", &work.started, 1);
    begin_sync(scheduler, "other");
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET - RESERVE - 1));
    CHECK_INT(SELENE_STOP_NONE, stop_reason(&work));
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET - RESERVE));
    wait_for("the handler's return", &work.returned, 1);
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.second_status));
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET));
    CHECK_INT(0, atomic_load(&runner.returned));
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET + 1));
    report = join_runner(&runner);
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(end_sync());
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    scheduler = open_again();
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, record(scheduler, "a").last_outcome);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "other").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A stop function is called in time, and a run that does not heed it is over at the deadline. */
static void test_expiry(void) {
    selene_scheduler scheduler = open_slow();
    struct work heeding = {.behaviour = NEVER, .complete_when_stopped = 1};
    struct work deaf = {.behaviour = GATE};
    selene_report *report;
    observe(scheduler);
    add_work(scheduler, "heeding", &heeding);
    add_work(scheduler, "deaf", &deaf);
    start_runner(&runner, scheduler, window_of(BUDGET, RESERVE, 2));
    wait_for("the handler", &heeding.started, 1);
    wait_for("the handler", &deaf.started, 1);
    begin_sync(scheduler, "other");
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET - RESERVE - 1));
    CHECK_INT(SELENE_STOP_NONE, stop_reason(&heeding));
    CHECK_INT(0, atomic_load(&heeding.stopped));
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET - RESERVE));
    wait_for("the stop", &heeding.stopped, 1);
    wait_for("the stop", &deaf.stopped, 1);
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET));
    CHECK_INT(0, atomic_load(&runner.returned));
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET + 1));
    report = join_runner(&runner);
    CHECK_INT(1, atomic_load(&deaf.stopped));
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, report->expired);
    selene_free(report);
    CHECK_OK(end_sync());
    wait_for_events(0, SELENE_EVENT_COMPLETED, SELENE_OUTCOME_EXPIRED, 1);
    wait_for_events(0, SELENE_EVENT_COMPLETED, SELENE_OUTCOME_NEW_DATA, 1);
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    scheduler = open_again();
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, record(scheduler, "heeding").last_outcome);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, record(scheduler, "deaf").last_outcome);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What the store of a scheduler that is gone says of a task. */
static int32_t stored_outcome(const char *id) {
    selene_scheduler scheduler = open_again();
    int32_t outcome = record(scheduler, id).last_outcome;
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    return outcome;
}

/* The end of a window has something to store, its run expires: the report comes all the same, and the end is stored. */
static void test_own_end(void) {
    selene_scheduler scheduler = open_slow();
    struct work deaf = {.behaviour = GATE};
    selene_report *report;
    add_work(scheduler, "deaf", &deaf);
    start_runner(&runner, scheduler, window_of(BUDGET, 0, 1));
    wait_for("the handler", &deaf.started, 1);
    hold_syncs(0);
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET + 1));
    report = join_runner(&runner);
    CHECK_INT(1, report->expired);
    selene_free(report);
    release_syncs();
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(SELENE_OUTCOME_EXPIRED, stored_outcome("deaf"));
}

/* The same where nobody calls any more: the end is stored although nothing asks for it. */
static void test_own_end_alone(void) {
    struct work deaf = {.behaviour = GATE};
    struct receiver receiver = {0};
    int status;
    pid_t child;
    snprintf(store, sizeof store, "%s", file_named("store"));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_scheduler scheduler = open_slow();
        add_work(scheduler, "deaf", &deaf);
        push_async(scheduler, window_of(BUDGET, 0, 1), &receiver, NULL);
        wait_for("the handler", &deaf.started, 1);
        hold_syncs(0);
        CHECK_OK(selene_clock_set(scheduler, START + BUDGET + 1));
        wait_for("the report", &receiver.calls, 1);
        /* What is synced was written before. */
        release_syncs();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, stored_outcome("deaf"));
}

/* An end before the deadline waits for its commit until then, and no longer: what it stores is the governor's books. */
static void test_own_end_early(void) {
    selene_scheduler scheduler = open_slow();
    struct work work = {.behaviour = GATE};
    selene_report *report;
    set_base(scheduler, SELENE_PROFILE_STRICT);
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(BUDGET, 0, 1));
    wait_for("the handler", &work.started, 1);
    /* One sync makes the outcome durable. */
    hold_syncs(1);
    atomic_store(&gate, 1);
    wait_for("the sync of the end", &syncing, 1);
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET));
    CHECK_INT(0, atomic_load(&runner.returned));
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET + 1));
    report = join_runner(&runner);
    CHECK_INT(1, report->new_data);
    selene_free(report);
    release_syncs();
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, stored_outcome("a"));
}

/* A cycle of lanes is over at its deadline, whoever calls then, and that call waits for no sync either. */
static void test_own_end_of_lanes(void) {
    selene_scheduler scheduler = open_slow();
    selene_window window = window_of(BUDGET, 0, 1);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    selene_cycle cycle;
    selene_lane lane;
    int32_t step = -1;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("a"));
    window.flags = SELENE_WINDOW_LANES;
    cycle = begin(scheduler, window);
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, -1, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    hold_syncs(0);
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET + 1));
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK(report != NULL);
    CHECK_INT(1, report->expired);
    selene_free(report);
    release_syncs();
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(SELENE_OUTCOME_EXPIRED, stored_outcome("a"));
}

/* The window is over before its first dispatch is stored: nothing has run. */
static void test_dispatch(void) {
    selene_scheduler scheduler = open_slow();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    selene_window window = window_of(BUDGET, 0, 1);
    selene_report *report;
    window.kinds = PROCESSING;
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    /* The begin of a window may be stored, the dispatch of a run not. */
    hold_syncs(1);
    start_runner(&runner, scheduler, window);
    wait_for("the sync of the dispatch", &syncing, 1);
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET + 1));
    report = join_runner(&runner);
    CHECK_INT(0, report->run_count);
    selene_free(report);
    release_syncs();
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(0, atomic_load(&work.started));
    scheduler = open_again();
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_INT(0, record(scheduler, "a").attempts);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The thread of a lane comes back with an outcome, and asks for another run. */
struct taker {
    selene_lane lane;
    selene_status status;
    int32_t step;
    pthread_t thread;
};

static void *come_back(void *argument) {
    struct taker *taker = argument;
    selene_run_info info = SELENE_INIT(selene_run_info);
    taker->status =
        selene_lane_next(taker->lane, SELENE_OUTCOME_NO_DATA, 0, &taker->step, &info, NULL);
    return NULL;
}

static int64_t time_left(selene_run run) {
    int64_t remaining = -1;
    CHECK_OK(selene_run_remaining(run, &remaining));
    return remaining;
}

/* A run that comes back through a lane has its outcome, however long its thread then waits for another. */
static void test_lane(void) {
    selene_scheduler scheduler = open_slow();
    struct work work = {.behaviour = COMPLETE};
    struct taker taker = {0};
    selene_window window = window_of(BUDGET, 0, 1);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    selene_cycle cycle;
    int32_t step = -1;
    add_work(scheduler, "a", &work);
    window.flags = SELENE_WINDOW_LANES;
    cycle = begin(scheduler, window);
    CHECK_OK(selene_lane_open(cycle, &taker.lane));
    CHECK_OK(selene_lane_next(taker.lane, -1, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    begin_sync(scheduler, "other");
    CHECK_INT(0, pthread_create(&taker.thread, NULL, come_back, &taker));
    /* An open run has time left. */
    WAIT_UNTIL(time_left(info.run) == 0);
    CHECK_OK(selene_clock_set(scheduler, START + BUDGET + 1));
    CHECK_OK(end_sync());
    CHECK_INT(0, pthread_join(taker.thread, NULL));
    CHECK_STATUS(SELENE_OK, taker.status);
    CHECK_INT(SELENE_STEP_DONE, taker.step);
    CHECK_OK(selene_lane_close(taker.lane));
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK(report != NULL);
    CHECK_INT(1, report->no_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ============================================================================
 *  REFUSALS
 * ========================================================================= */

/* A sync that fails takes its call back, and nothing of what was decided meanwhile. */
static void test_refusal(void) {
    selene_scheduler scheduler = open_slow();
    selene_cycle cycle;
    selene_run run;
    selene_task_info *info = NULL;
    int32_t reason = -1;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("a"));
    cycle = begin(scheduler, window_of(60 * S, 0, 1));
    run = next(cycle, "a");
    begin_sync(scheduler, "other");
    atomic_store(&is_broken, 1);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_OUTCOME_UNKNOWN, end_sync());
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "other", -1, 0, &info));
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, record(scheduler, "a").last_outcome);
    selene_scheduler_close(scheduler, 0);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("D7 no question waits for a sync", test_questions);
    run_test("D7 changes wait for their turn, and are durable", test_changes);
    run_test("D7 a handler that asks is told in time, and the report comes by the deadline",
             test_stopping);
    run_test("D7 stop functions are called in time, and runs are over at the deadline",
             test_expiry);
    run_test("D7 a report does not wait for the sync of its own end", test_own_end);
    run_test("D7 the end of a window is stored although nobody calls", test_own_end_alone);
    run_test("D7 a report that is early waits for its sync until the deadline at most",
             test_own_end_early);
    run_test("D7 the report of a cycle of lanes does not wait for the sync of its end",
             test_own_end_of_lanes);
    run_test("D7 a window that is over before its dispatch is stored runs nothing", test_dispatch);
    run_test("D7 the outcome of a run that comes back through a lane stands", test_lane);
    run_test("D7 a sync that fails takes back its call alone", test_refusal);
    return check_end();
}
