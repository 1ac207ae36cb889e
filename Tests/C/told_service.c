/*
 * told_service.c - what stands behind a scheduler on a clock that is told: a disk that does not answer, connections and their
 * drivers, events
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#include <dlfcn.h>

/* ---- a disk whose syncs wait for the test -------------------------------------------- */

static atomic_int held, syncing;

static int sync_slowly(const char *name, int file) {
    int (*next)(int) = NULL;
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&next, &found, sizeof next);
    if (atomic_load(&held)) {
        atomic_fetch_add(&syncing, 1);
        WAIT_UNTIL(!atomic_load(&held));
    }
    return next(file);
}

int fdatasync(int file) {
    return sync_slowly("fdatasync", file);
}
int fsync(int file) {
    return sync_slowly("fsync", file);
}

static void *register_one(void *argument) {
    selene_scheduler scheduler = *(selene_scheduler *)argument;
    selene_task task = task_of("other");
    task.handler = SELENE_TEXT("nothing");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    return NULL;
}

/* D7: the report comes by the deadline while the store is at work, and not a nanosecond later. */
static void test_sync(void) {
    selene_scheduler scheduler = open_told_with(stored_options(file_named("store")));
    struct work deaf = {.behaviour = GATE},
                heeding = {.behaviour = NEVER, .complete_when_stopped = 1};
    struct runner runner;
    selene_report *report;
    pthread_t thread;
    add_work(scheduler, "deaf", &deaf);
    add_work(scheduler, "heeding", &heeding);
    start_runner(&runner, scheduler, window_of(10 * S, S, 2));
    wait_for("the handler", &deaf.started, 1);
    wait_for("the handler", &heeding.returned, 1);
    atomic_store(&held, 1);
    CHECK_INT(0, pthread_create(&thread, NULL, register_one, &scheduler));
    wait_for("the sync", &syncing, 1);
    CHECK_OK(selene_clock_set(scheduler, START + 9 * S - 1));
    CHECK_INT(0, atomic_load(&deaf.stopped));
    CHECK_OK(selene_clock_set(scheduler, START + 9 * S));
    wait_for("the stop", &deaf.stopped, 1);
    wait_for("the stop", &heeding.stopped, 1);
    CHECK_OK(selene_clock_set(scheduler, START + 10 * S));
    CHECK_INT(0, atomic_load(&runner.returned));
    CHECK_OK(selene_clock_set(scheduler, START + 10 * S + 1));
    report = join_runner(&runner);
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, report->expired);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_clock_advance(scheduler, START + S, 0, 10 * MS, NULL));
    atomic_store(&held, 0);
    CHECK_INT(0, pthread_join(thread, NULL));
    still(scheduler);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, record(scheduler, "heeding").last_outcome);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, record(scheduler, "deaf").last_outcome);
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* ---- connections ----------------------------------------------------------------------- */

struct served {
    selene_scheduler owner, member;
};

static struct served serve_told(void) {
    struct served served = {0};
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_server_options terms = SELENE_INIT(selene_server_options);
    selene_server server = 0;
    const char *file = file_named("store");
    served.owner = open_told_with(stored_options(file));
    CHECK_OK(selene_server_start(served.owner, &terms, &server));
    options.path = (selene_text){file, -1};
    CHECK_OK(selene_scheduler_connect(&options, &served.member));
    return served;
}

static void end_served(struct served served) {
    CHECK_OK(selene_scheduler_close(served.member, 0));
    CHECK_OK(selene_scheduler_close(served.owner, 0));
}

/* The driver of a member wakes when a task is due on the clock of its owner. */
static void test_member_driver(void) {
    struct served served = serve_told();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    work.scheduler = served.member;
    CHECK_OK(
        selene_handler_register(served.member, "a", -1, work_run, work_stop, &work, work_destroy));
    CHECK_OK(selene_driver_start(served.member, NULL));
    task.initial_delay = H;
    CHECK_OK(selene_task_register(served.owner, &task, NULL));
    WAIT_UNTIL(still(served.owner) == START + H);
    reach(served.owner, START + H - 1);
    CHECK_INT(0, atomic_load(&work.started));
    reach(served.owner, START + H);
    wait_for_state(served.owner, "a", SELENE_STATE_SUCCEEDED);
    CHECK_INT(START + H, record(served.owner, "a").last_run);
    CHECK_OK(selene_driver_stop(served.member, 0));
    end_served(served);
}

/* What a member's driver runs has no deadline where nobody decided one. The end of the driver, and of the connection, reaches
   it though its window picks no more. */
static void test_member_without_deadline(void) {
    static selene_status (*const ends[])(selene_scheduler, int64_t) = {selene_driver_stop,
                                                                       selene_scheduler_close};
    for (size_t end = 0; end < COUNT(ends); end++) {
        struct served served = serve_told();
        struct work work = {.behaviour = NEVER};
        CHECK_OK(selene_handler_register(served.member, "a", -1, work_run, work_stop, &work,
                                         work_destroy));
        CHECK_OK(selene_driver_start(served.member, NULL));
        add(served.owner, once_of("a"));
        wait_for("the handler", &work.returned, 1);
        reach(served.owner, START + H);
        CHECK_INT(SELENE_STATE_RUNNING, record(served.owner, "a").state);
        CHECK_INT(0, atomic_load(&work.stopped));
        CHECK_OK(ends[end](served.member, 0));
        wait_for("the stop", &work.stopped, 1);
        CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
        CHECK_INT(SELENE_STATE_ENQUEUED, record(served.owner, "a").state);
        CHECK_INT(0, record(served.owner, "a").attempts);
        if (end == 0) CHECK_OK(selene_scheduler_close(served.member, 0));
        CHECK_OK(selene_scheduler_close(served.owner, 0));
        wait_for("the end of the handler", &work.destroyed, 1);
    }
}

/* A window whose handler is stuck is reported just behind its deadline. */
static void test_member_deadline(void) {
    struct served served = serve_told();
    struct work work = {.behaviour = GATE};
    struct runner runner;
    selene_report *report;
    selene_task task = task_of("a");
    work.scheduler = served.member;
    CHECK_OK(
        selene_handler_register(served.member, "a", -1, work_run, work_stop, &work, work_destroy));
    CHECK_OK(selene_task_register(served.member, &task, NULL));
    start_runner(&runner, served.member, window_of(10 * S, S, 1));
    wait_for("the handler", &work.started, 1);
    reach(served.owner, START + 9 * S - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(served.owner, START + 9 * S);
    wait_for("the stop", &work.stopped, 1);
    reach(served.owner, START + 10 * S);
    CHECK_INT(0, atomic_load(&runner.returned));
    reach(served.owner, START + 10 * S + 1);
    report = join_runner(&runner);
    CHECK_INT(1, report->expired);
    selene_free(report);
    atomic_store(&gate, 1);
    wait_for("the return", &work.returned, 1);
    end_served(served);
}

/* A thread that waits in a lane of a connection is woken by time. */
static atomic_int taken;
static void *take_later(void *argument) {
    selene_cycle cycle = *(selene_cycle *)argument;
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_lane lane = 0;
    int32_t step = 0;
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, SELENE_NEVER, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    atomic_store(&taken, 1);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_lane_close(lane));
    return NULL;
}

static void test_member_lane(void) {
    struct served served = serve_told();
    selene_window window = window_of(2 * H, S, 2);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_task task = once_of("later");
    selene_cycle cycle = 0;
    selene_lane lane = 0;
    int32_t step = -1;
    pthread_t thread;
    window.flags = SELENE_WINDOW_LANES;
    window.kinds = PROCESSING;
    CHECK_OK(selene_handler_register(served.member, "later", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(served.member, "now", -1, NULL, NULL, NULL, NULL));
    task.initial_delay = H;
    CHECK_OK(selene_task_register(served.owner, &task, NULL));
    task = once_of("now");
    CHECK_OK(selene_task_register(served.owner, &task, NULL));
    CHECK_OK(selene_cycle_begin(served.member, &window, &cycle));
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_INT(0, pthread_create(&thread, NULL, take_later, &cycle));
    check_sleep(20 * MS);
    reach(served.owner, START + H - 1);
    CHECK_INT(0, atomic_load(&taken));
    reach(served.owner, START + H);
    wait_for_state(served.owner, "later", SELENE_STATE_SUCCEEDED);
    CHECK_INT(START + H, record(served.owner, "later").last_run);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_lane_close(lane));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    end_served(served);
}

/* The owner's events reach who reads them through a connection, with the instants of its clock. */
static void test_member_events(void) {
    struct served served = serve_told();
    uint64_t lost = 0;
    int32_t fd = -1;
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    CHECK_OK(selene_events_open(served.member, 64, &fd));
    add_handler(served.owner, "a", &work);
    task.initial_delay = H;
    CHECK_OK(selene_task_register(served.owner, &task, NULL));
    CHECK_OK(selene_driver_start(served.owner, NULL));
    finished_by(served.owner, START + H);
    CHECK_INT(1, atomic_load(&work.returned));
    for (;;) {
        selene_event found = SELENE_INIT(selene_event);
        int32_t is_there = 0;
        CHECK_OK(selene_events_next(served.member, PATIENCE, &found, &is_there, &lost));
        CHECK_INT(1, is_there);
        if (found.type != SELENE_EVENT_STARTED) continue;
        CHECK_INT(START + H, found.time);
        break;
    }
    CHECK_OK(selene_events_close(served.member));
    end_served(served);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("D7 the report comes a nanosecond behind its deadline while the disk does not answer",
             test_sync);
    run_test("L7 the driver of a connection wakes by the clock of its owner", test_member_driver);
    run_test("L6 a window of a connection is reported by the clock of its owner",
             test_member_deadline);
    run_test("C20 a lane of a connection is woken by the clock of its owner", test_member_lane);
    run_test("B3 events of a connection have the instants of the owner's clock",
             test_member_events);
    run_test("V1 V4 what a member's driver runs has no deadline, and is stopped at its end",
             test_member_without_deadline);
    return check_end();
}
