/*
 * slow_disk.c - a disk whose syncs take their time: no question, no run and no report waits for it (D7)
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <dlfcn.h>

/* ---- the disk -------------------------------------------------------------- */

/** Milliseconds that each sync takes. */
static atomic_int slowness;
static atomic_int syncing, is_broken;
/** Syncs wait until the test lets them go on, except for the next few. */
static atomic_int held, spared, given_up;

static int sync_slowly(const char *name, int file) {
    int (*next)(int) = NULL;
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&next, &found, sizeof next);
    if (atomic_load(&held) && atomic_fetch_sub(&spared, 1) <= 0) {
        int64_t limit = check_now() + PATIENCE;
        atomic_fetch_add(&syncing, 1);
        while (atomic_load(&held) && check_now() < limit)
            check_sleep(MS);
        if (atomic_load(&held)) atomic_fetch_add(&given_up, 1);
        atomic_fetch_sub(&syncing, 1);
    } else if (atomic_load(&slowness)) {
        atomic_fetch_add(&syncing, 1);
        check_sleep(atomic_load(&slowness) * MS);
        atomic_fetch_sub(&syncing, 1);
    }
    if (atomic_load(&is_broken)) {
        errno = EIO;
        return -1;
    }
    return next(file);
}

int fdatasync(int file) {
    return sync_slowly("fdatasync", file);
}
int fsync(int file) {
    return sync_slowly("fsync", file);
}

/** Longer than anything that must not wait for it. */
static int slow(void) {
    return (int)((ROOM + ROOM / 2 + LATE) / MS);
}

static char store[64];

static selene_scheduler open_slow(void) {
    selene_scheduler scheduler = 0;
    selene_options options;
    snprintf(store, sizeof store, "%s", file_named("store"));
    options = stored_options(store);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

static selene_scheduler open_again(void) {
    selene_scheduler scheduler = 0;
    selene_options options = stored_options(store);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    return scheduler;
}

/** Another thread registers a task, which takes as long as a sync. */
static struct registrar {
    selene_scheduler scheduler;
    const char *id;
    selene_status status;
    pthread_t thread;
} registrar;

static void *register_slowly(void *argument) {
    struct registrar *self = argument;
    selene_task task = task_of(self->id);
    task.handler = SELENE_TEXT("nothing");
    self->status = selene_task_register(self->scheduler, &task, NULL);
    return NULL;
}

static void begin_sync(selene_scheduler scheduler, const char *id) {
    registrar = (struct registrar){.scheduler = scheduler, .id = id};
    atomic_store(&slowness, slow());
    CHECK_INT(0, pthread_create(&registrar.thread, NULL, register_slowly, &registrar));
    wait_for("the sync", &syncing, 1);
}

static selene_status end_sync(void) {
    CHECK_INT(0, pthread_join(registrar.thread, NULL));
    atomic_store(&slowness, 0);
    return registrar.status;
}

#define IN_TIME(call)                                                                              \
    do {                                                                                           \
        int64_t began_ = check_now();                                                              \
        call;                                                                                      \
        CHECK_BETWEEN(0, check_now() - began_, LATE);                                              \
    } while (0)

/* ============================================================================
 *  QUESTIONS
 * ========================================================================= */

static void test_questions(void) {
    selene_scheduler scheduler = open_slow();
    selene_scheduler_info info = SELENE_SCHEDULER_INFO_INIT;
    selene_window window = SELENE_WINDOW_INIT;
    selene_task_ids *ids = NULL;
    selene_plan *plan = NULL;
    uint32_t satisfied, host;
    int64_t now;
    struct work work = {.behaviour = COMPLETE};
    add_work(scheduler, "a", &work);
    begin_sync(scheduler, "other");
    IN_TIME(CHECK_OK(selene_scheduler_now(scheduler, &now)));
    IN_TIME(CHECK_OK(selene_scheduler_get(scheduler, &info)));
    IN_TIME(CHECK_INT(0, explain(scheduler, "a").reason_count));
    IN_TIME(CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state));
    IN_TIME(CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids)));
    selene_task_ids_destroy(ids);
    IN_TIME(CHECK_OK(selene_scheduler_next_wakeup(scheduler, &now, NULL)));
    IN_TIME(CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host)));
    IN_TIME(CHECK_OK(selene_cycle_plan(scheduler, &window, &plan)));
    selene_plan_destroy(plan);
    CHECK_INT(1, atomic_load(&syncing));
    CHECK_OK(end_sync());
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* Who changes something waits for its turn, and both are durable. */
static void test_changes(void) {
    selene_scheduler scheduler = open_slow();
    selene_task task = task_of("second");
    int64_t began = check_now();
    begin_sync(scheduler, "first");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK(check_now() - began >= 2 * slow() * MS);
    CHECK_OK(end_sync());
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_again();
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "first").state);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "second").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  RUNS AND REPORTS
 * ========================================================================= */

static struct runner runner;

/* A handler that asks is told in time and completes; the report comes by the deadline; both are stored later. */
static void test_stopping(void) {
    selene_scheduler scheduler = open_slow();
    struct work work = {.behaviour = UNTIL_STOPPED};
    selene_report *report;
    int64_t began;
    add_work(scheduler, "a", &work);
    began = check_now();
    start_runner(&runner, scheduler, window_of(ROOM, ROOM / 2, 1));
    wait_for("the handler", &work.started, 1);
    begin_sync(scheduler, "other");
    report = join_runner(&runner);
    CHECK_INT(1, atomic_load(&syncing));
    CHECK_BETWEEN(0, check_now() - began, ROOM + LATE);
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.second_status));
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
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
    int64_t began;
    observe(scheduler);
    add_work(scheduler, "heeding", &heeding);
    add_work(scheduler, "deaf", &deaf);
    began = check_now();
    start_runner(&runner, scheduler, window_of(ROOM, ROOM / 2, 2));
    wait_for("the handler", &heeding.started, 1);
    wait_for("the handler", &deaf.started, 1);
    begin_sync(scheduler, "other");
    report = join_runner(&runner);
    CHECK_INT(1, atomic_load(&syncing));
    CHECK_BETWEEN(0, check_now() - began, ROOM + LATE);
    CHECK_BETWEEN(ROOM / 2, atomic_load(&heeding.stopped_at) - began, ROOM / 2 + LATE);
    CHECK_INT(1, atomic_load(&deaf.stopped));
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, report->expired);
    selene_report_destroy(report);
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

/** From here on no sync comes to its end, but for the next few. */
static void hold_syncs(int but) {
    atomic_store(&spared, but);
    atomic_store(&held, 1);
}

/** The report has come although no sync could end; what it says is stored as soon as one can. */
static void release_syncs(void) {
    wait_for("the sync of the end", &syncing, 1);
    CHECK_INT(0, atomic_load(&given_up));
    atomic_store(&held, 0);
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
    start_runner(&runner, scheduler, window_of(ROOM, 0, 1));
    wait_for("the handler", &deaf.started, 1);
    hold_syncs(0);
    report = join_runner(&runner);
    CHECK_INT(1, report->expired);
    selene_report_destroy(report);
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
        push_async(scheduler, window_of(ROOM, 0, 1), &receiver, NULL);
        wait_for("the handler", &deaf.started, 1);
        hold_syncs(0);
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
    int32_t told;
    set_base(scheduler, SELENE_PROFILE_STRICT);
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(ROOM, 0, 1));
    wait_for("the handler", &work.started, 1);
    /* One sync makes the outcome durable. */
    hold_syncs(1);
    atomic_store(&gate, 1);
    report = join_runner(&runner);
    told = report->new_data ? SELENE_OUTCOME_NEW_DATA : SELENE_OUTCOME_EXPIRED;
    selene_report_destroy(report);
    release_syncs();
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(told, stored_outcome("a"));
}

/* A cycle of lanes is over at its deadline, whoever calls then, and that call waits for no sync either. */
static void test_own_end_of_lanes(void) {
    selene_scheduler scheduler = open_slow();
    selene_window window = window_of(ROOM, 0, 1);
    selene_run_info info = SELENE_RUN_INFO_INIT;
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
    CHECK_OK(selene_cycle_wait(cycle, PATIENCE, &report, NULL));
    CHECK(report != NULL);
    CHECK_INT(1, report->expired);
    selene_report_destroy(report);
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
    selene_window window = window_of(ROOM, 0, 1);
    selene_report *report;
    int64_t began;
    window.kinds = PROCESSING;
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    /* A begin is stored, too. */
    selene_report_destroy(push(scheduler, window_of(ROOM, 0, 1)));
    start_runner(&runner, scheduler, window);
    began = check_now();
    atomic_store(&slowness, slow());
    report = join_runner(&runner);
    if (report->run_count == 0) CHECK_BETWEEN(0, check_now() - began, slow() * MS + ROOM + LATE);
    selene_report_destroy(report);
    atomic_store(&slowness, 0);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    scheduler = open_again();
    if (atomic_load(&work.started) == 0) {
        CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
        CHECK_INT(0, record(scheduler, "a").attempts);
    } else {
        CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "a").state);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A run that comes back through a lane has its outcome, however long its thread then waits for another. */
static void test_lane(void) {
    selene_scheduler scheduler = open_slow();
    struct work work = {.behaviour = COMPLETE};
    selene_window window = window_of(ROOM, 0, 1);
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_report *report = NULL;
    selene_cycle cycle;
    selene_lane lane;
    int32_t step = -1;
    add_work(scheduler, "a", &work);
    window.flags = SELENE_WINDOW_LANES;
    cycle = begin(scheduler, window);
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, -1, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    begin_sync(scheduler, "other");
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NO_DATA, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(end_sync());
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_cycle_wait(cycle, PATIENCE, &report, NULL));
    CHECK(report != NULL);
    CHECK_INT(1, report->no_data);
    selene_report_destroy(report);
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
    IN_TIME(CHECK_OK(selene_run_stopping(run, &reason)));
    IN_TIME(CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA)));
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
