/*
 * server_lanes.c - threads of other processes that lend themselves to windows, and what they are told without having
 * asked (docs/rules.md, L6, L8, C20)
 */
#include "server_tools.h"

#include <poll.h>

/* ---- words -------------------------------------------------------------------------------- */

/** One that offers the handler of all tasks here. */
static selene_scheduler worker_of(const char *file, const char *pool) {
    selene_scheduler member = member_of(file, pool);
    CHECK_OK(offer(member, "h"));
    return member;
}

static void add(selene_scheduler scheduler, const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    task.expected_response = MS;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static selene_cycle begin(selene_scheduler member, uint32_t lanes, int64_t budget, uint32_t flags) {
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle = 0;
    window.flags = SELENE_WINDOW_LANES | flags;
    window.lanes = lanes;
    window.budget = budget;
    window.reserve = SELENE_NONE;
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    return cycle;
}

static int32_t take(selene_lane lane, int32_t outcome, int64_t timeout, selene_run_info *run) {
    int32_t step = -1;
    int64_t wake_at = 0;
    *run = (selene_run_info)SELENE_INIT(selene_run_info);
    CHECK_OK(selene_lane_next(lane, outcome, timeout, &step, run, &wake_at));
    return step;
}

static int64_t budget(void) {
    return SELENE_HOUR;
}

/* ---- one thread ----------------------------------------------------------------------------- */

static void test_one_frame(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_server server = serve(owner);
    selene_scheduler member = worker_of(file, "a");
    selene_lane lane = 0, second = 0;
    selene_run_info run;
    selene_report *report = NULL;
    int32_t outcome = SELENE_OUTCOME_NONE, step;
    int64_t wake_at = 0;
    char id[16];
    for (int i = 0; i < 50; i++) {
        snprintf(id, sizeof id, "t%d", i);
        add(owner, id);
    }
    selene_cycle cycle = begin(member, 1, budget(), 0);
    CHECK_STATUS(
        SELENE_ERROR_UNSUPPORTED,
        selene_cycle_next(cycle, &step, &(selene_run_info)SELENE_INIT(selene_run_info), NULL));
    DETAIL("selene_lane_next");
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_lane_open(cycle, &second));
    CHECK_INT(SELENE_STEP_RUN, take(lane, outcome, SELENE_NEVER, &run));
    uint64_t requests = info_of_server(server).requests;
    for (int i = 0; i < 49; i++) {
        snprintf(id, sizeof id, "t%d", i);
        CHECK(strcmp(run.id.data, id) == 0 && run.cycle == cycle);
        CHECK_INT(SELENE_STEP_RUN, take(lane, SELENE_OUTCOME_NEW_DATA, SELENE_NEVER, &run));
        CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, id));
    }
    /* Each is one request and one answer. */
    CHECK_INT(requests + 49, info_of_server(server).requests);
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, &wake_at));
    CHECK(report == NULL && wake_at > 0);
    CHECK_INT(SELENE_STEP_DONE, take(lane, SELENE_OUTCOME_NO_DATA, SELENE_NEVER, &run));
    CHECK_OK(selene_cycle_wait(cycle, SELENE_NEVER, &report, NULL));
    CHECK(report->cycle == cycle);
    CHECK_INT(50, report->run_count);
    CHECK_INT(49, report->new_data);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK_INT(SELENE_STEP_DONE, take(lane, SELENE_OUTCOME_NONE, SELENE_NEVER, &run));
    CHECK_OK(selene_lane_close(lane));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_lane_close(lane));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** A second outcome, or one that comes too late, changes nothing and is no error of the lane. */
static void test_outcomes(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = worker_of(file, "a");
    selene_lane lane = 0;
    selene_run_info run, next;
    selene_report *report = NULL;
    int32_t step;
    add(owner, "given");
    add(owner, "cancelled");
    add(owner, "later");
    selene_cycle cycle = begin(member, 2, budget(), 0);
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_INT(SELENE_STEP_RUN, take(lane, SELENE_OUTCOME_NONE, 0, &run));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_lane_next(lane, 9, 0, &step, &run, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_lane_next(lane, 0, -1, &step, &run, NULL));
    CHECK_OK(selene_run_fail(run.run, SELENE_OUTCOME_ABANDONED, -1, "no", -1));
    /* Its texts are the thread's until it comes back. */
    CHECK(strcmp(run.id.data, "given") == 0);
    CHECK_INT(SELENE_STEP_RUN, take(lane, SELENE_OUTCOME_NEW_DATA, 0, &next));
    CHECK_INT(SELENE_STATE_FAILED, state_of(owner, "given"));
    CHECK_OK(selene_task_cancel(owner, "cancelled", -1, NULL));
    CHECK_INT(SELENE_STEP_RUN, take(lane, SELENE_OUTCOME_NEW_DATA, 0, &run));
    CHECK_INT(SELENE_STATE_CANCELLED, state_of(owner, "cancelled"));
    /* One that comes back without its outcome gives it by its token. */
    CHECK_INT(SELENE_STEP_WAIT, take(lane, SELENE_OUTCOME_NONE, 0, &next));
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "later"));
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STEP_DONE, take(lane, SELENE_OUTCOME_NONE, 0, &next));
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_cycle_wait(cycle, SELENE_NEVER, &report, NULL));
    CHECK_INT(1, report->stopped);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** The host's pointer of a run is this process's, and there until the run has come back. */
static void test_user(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = worker_of(file, "a");
    selene_lane lane = 0;
    selene_run_info run, next;
    int mine = 0;
    int64_t fence = 77;
    void *user = &user;
    add(owner, "x");
    add(owner, "y");
    selene_cycle cycle = begin(member, 2, budget(), 0);
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_INT(SELENE_STEP_RUN, take(lane, SELENE_OUTCOME_NONE, 0, &run));
    CHECK_OK(selene_run_user(run.run, &user));
    CHECK(user == NULL);
    CHECK_OK(selene_run_set_user(run.run, &mine));
    CHECK_OK(selene_run_user(run.run, &user));
    CHECK(user == &mine);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_user(run.run, NULL));
    /* Its task is none of a fleet. */
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_fence(run.run, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_run_fence(run.run, &fence, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_run_decided_by_host(run.run));
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STEP_RUN, take(lane, SELENE_OUTCOME_NONE, 0, &next));
    user = &user;
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_user(run.run, &user));
    CHECK(user == &user);
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_set_user(run.run, &mine));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_fence(run.run, &fence, NULL));
    CHECK_OK(selene_run_user(next.run, &user));
    CHECK(user == NULL);
    CHECK_OK(selene_task_cancel(owner, "y", -1, NULL));
    CHECK_OK(selene_run_set_user(next.run, &mine));
    CHECK_INT(SELENE_STEP_DONE, take(lane, SELENE_OUTCOME_NEW_DATA, 0, &run));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_user(next.run, &user));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_user(next.run + 1, &user));
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/* ---- waiting ---------------------------------------------------------------------------------- */

struct lent {
    pthread_t thread;
    selene_cycle cycle;
    atomic_int taken;
    atomic_int_fast64_t taken_at;
    atomic_int done;
};

static void *lend(void *argument) {
    struct lent *own = argument;
    selene_lane lane = 0;
    selene_run_info run;
    int32_t outcome = SELENE_OUTCOME_NONE;
    CHECK_OK(selene_lane_open(own->cycle, &lane));
    while (take(lane, outcome, SELENE_NEVER, &run) == SELENE_STEP_RUN) {
        atomic_store(&own->taken_at, check_now());
        atomic_fetch_add(&own->taken, 1);
        while (strncmp(run.id.data, "long", 4) == 0) {
            int32_t reason = 0;
            selene_status status = selene_run_stopping(run.run, &reason);
            if (status != SELENE_OK || reason != 0) break;
            check_sleep(MS);
        }
        outcome = SELENE_OUTCOME_NEW_DATA;
    }
    CHECK_OK(selene_lane_close(lane));
    atomic_store(&own->done, 1);
    return NULL;
}

static void start(struct lent *own, selene_cycle cycle) {
    memset(own, 0, sizeof *own);
    own->cycle = cycle;
    CHECK(pthread_create(&own->thread, NULL, lend, own) == 0);
}

/** Threads of a rolling window wait for work, and whoever brings it wakes them; nobody looks again and again. */
static void test_woken(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_server server = serve(owner);
    selene_scheduler member = worker_of(file, "a"), other = connect_to(file);
    struct lent lent[3];
    selene_report *report = NULL;
    add(owner, "long");
    selene_cycle cycle = begin(member, 3, budget(), 0);
    for (int i = 0; i < 3; i++)
        start(&lent[i], cycle);
    WAIT_UNTIL(atomic_load(&lent[0].taken) + atomic_load(&lent[1].taken) +
                   atomic_load(&lent[2].taken) ==
               1);
    check_sleep(300 * MS);
    uint64_t requests = info_of_server(server).requests;
    int64_t slept = check_now();
    check_sleep(300 * MS);
    requests = info_of_server(server).requests - requests;
    slept = check_now() - slept;
    /* The one that runs asks whether it shall stop, each ms at most; the others ask nothing. */
    CHECK(requests < (uint64_t)(slept / MS) + 50);
    int before = 1;
    for (int round = 0; round < 20; round++) {
        char id[16];
        int taken = 0;
        snprintf(id, sizeof id, "t%d", round);
        add(round % 2 == 0 ? owner : other, id);
        WAIT_UNTIL((taken = atomic_load(&lent[0].taken) + atomic_load(&lent[1].taken) +
                            atomic_load(&lent[2].taken)) == before + 1);
        before = taken;
    }
    /* What is cancelled stops, and is told; then nothing is left. */
    CHECK_OK(selene_task_cancel(other, "long", -1, NULL));
    CHECK_OK(selene_cycle_wait(cycle, SELENE_NEVER, &report, NULL));
    CHECK_INT(21, report->run_count);
    CHECK_INT(1, report->stopped);
    selene_free(report);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(lent[i].thread, NULL) == 0);
    CHECK_OK(selene_scheduler_close(other, 0));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** The report comes by the deadline whatever the threads do, and a thread that overran leaves its place. */
static void test_overrun(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_told_here(file);
    serve(owner);
    selene_scheduler member = worker_of(file, "a");
    selene_lane lane = 0, second = 0;
    selene_run_info run, other;
    selene_report *report = NULL;
    add(owner, "x");
    add(owner, "y");
    int64_t begun = 0;
    CHECK_OK(selene_scheduler_now(owner, &begun));
    selene_cycle cycle = begin(member, 1, S, 0);
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_INT(SELENE_STEP_RUN, take(lane, SELENE_OUTCOME_NONE, 0, &run));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_lane_open(cycle, &second));
    CHECK_OK(selene_task_cancel(owner, "x", -1, NULL));
    int32_t reason = 0;
    WAIT_UNTIL(selene_run_stopping(run.run, &reason) == SELENE_ERROR_STALE_RUN || reason != 0);
    WAIT_UNTIL(second != 0 || selene_lane_open(cycle, &second) == SELENE_OK);
    CHECK(strcmp(run.id.data, "x") == 0);
    CHECK_INT(SELENE_STEP_RUN, take(second, SELENE_OUTCOME_NONE, 0, &other));
    CHECK(strcmp(other.id.data, "y") == 0);
    /* Its place is taken. */
    CHECK_INT(SELENE_STEP_DONE, take(lane, SELENE_OUTCOME_NEW_DATA, SELENE_NEVER, &run));
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_clock_set(owner, begun + S));
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK(report == NULL);
    CHECK_OK(selene_clock_set(owner, begun + S + 1));
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK_INT(begun + S, report->ended_at);
    CHECK_INT(1, report->stopped);
    CHECK_INT(1, report->expired);
    selene_free(report);
    CHECK_INT(SELENE_STEP_DONE, take(second, SELENE_OUTCOME_NEW_DATA, SELENE_NEVER, &other));
    CHECK_OK(selene_lane_close(second));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

static void *close_later(void *argument) {
    check_sleep(200 * MS);
    CHECK_OK(selene_scheduler_close(*(selene_scheduler *)argument, 0));
    return NULL;
}

/** A thread that waits returns when its handle is closed, and when the owner ends. */
static void test_ends(void) {
    for (int whose = 0; whose < 2; whose++) {
        const char *file = path(whose == 0 ? "a.db" : "b.db");
        selene_scheduler owner = open_here(file), member, other;
        pthread_t thread;
        selene_lane lane = 0;
        selene_run_info run = SELENE_INIT(selene_run_info);
        int32_t step = -1;
        serve(owner);
        member = worker_of(file, "a");
        other = worker_of(file, "a");
        add(owner, "x");
        selene_cycle cycle = begin(member, 2, budget(), 0), theirs;
        theirs = begin(other, 1, budget(), 0);
        CHECK_OK(selene_lane_open(theirs, &lane));
        CHECK_INT(SELENE_STEP_RUN, take(lane, SELENE_OUTCOME_NONE, 0, &run));
        CHECK_OK(selene_lane_open(cycle, &lane));
        CHECK(pthread_create(&thread, NULL, close_later, whose == 0 ? &member : &owner) == 0);
        selene_status status =
            selene_lane_next(lane, SELENE_OUTCOME_NONE, SELENE_NEVER, &step, &run, NULL);
        CHECK(status == SELENE_OK ? step == SELENE_STEP_DONE : whose == 1);
        if (status != SELENE_OK) CHECK_INT(SELENE_ERROR_OWNER_AWAY, status);
        CHECK(pthread_join(thread, NULL) == 0);
        if (whose == 1) CHECK_OK(selene_scheduler_close(member, 0));
        CHECK_OK(selene_scheduler_close(other, 0));
        if (whose == 0) close_store(owner);
    }
}

/* ---- the owner ---------------------------------------------------------------------------------- */

static int is_readable(int fd, int patience) {
    struct pollfd polled = {fd, POLLIN, 0};
    return poll(&polled, 1, patience) > 0;
}

/** Asks for a run of a lane, and for the report, without waiting; WAIT makes the descriptor unreadable, unless there was
 *  news meanwhile. */
static void rest(selene_lane lane, selene_cycle cycle, int fd) {
    selene_run_info run;
    selene_report *report = NULL;
    do {
        CHECK_INT(SELENE_STEP_WAIT, take(lane, SELENE_OUTCOME_NONE, 0, &run));
        CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
        CHECK(report == NULL);
    } while (is_readable(fd, 0));
}

/** An event loop of another process waits with a descriptor for what the owner says. */
static void test_descriptor(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_server server = serve(owner);
    selene_scheduler member = worker_of(file, "a");
    selene_run_info run, other;
    selene_report *report = NULL;
    selene_lane first = 0, second = 0;
    int fd = -1, again = -1;
    int32_t reason = 0;
    selene_cycle cycle = begin(member, 2, budget(), 0), pulled = 0;
    CHECK_OK(selene_cycle_descriptor(cycle, &fd));
    CHECK_OK(selene_cycle_descriptor(cycle, &again));
    CHECK_INT(fd, again);
    CHECK_INT(1, is_readable(fd, 0));
    CHECK_OK(selene_lane_open(cycle, &first));
    CHECK_OK(selene_lane_open(cycle, &second));
    add(owner, "a");
    CHECK_INT(SELENE_STEP_RUN, take(first, SELENE_OUTCOME_NONE, 0, &run));
    rest(second, cycle, fd);
    add(owner, "b");
    CHECK_INT(1, is_readable(fd, -1));
    CHECK_INT(SELENE_STEP_RUN, take(second, SELENE_OUTCOME_NONE, 0, &other));
    CHECK_INT(SELENE_STEP_WAIT, take(second, SELENE_OUTCOME_NO_DATA, 0, &other));
    rest(second, cycle, fd);
    /* A run is asked to stop. */
    CHECK_OK(selene_task_cancel(owner, "a", -1, NULL));
    CHECK_INT(1, is_readable(fd, -1));
    CHECK_OK(selene_run_stopping(run.run, &reason));
    CHECK_INT(SELENE_STOP_CANCELLED, reason);
    /* Another thread drains it. */
    CHECK_OK(selene_cycle_drain(cycle, 0));
    CHECK_INT(1, is_readable(fd, -1));
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK(report != NULL && report->cycle == cycle);
    CHECK_INT(2, report->run_count);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_descriptor(cycle, &fd));
    CHECK_OK(selene_lane_close(first));
    CHECK_OK(selene_lane_close(second));
    /* It goes with its owner. */
    cycle = begin(member, 2, budget(), 0);
    CHECK_OK(selene_cycle_descriptor(cycle, &fd));
    CHECK_OK(selene_lane_open(cycle, &first));
    CHECK_OK(selene_lane_open(cycle, &second));
    add(owner, "c");
    CHECK_INT(SELENE_STEP_RUN, take(first, SELENE_OUTCOME_NONE, 0, &run));
    rest(second, cycle, fd);
    CHECK_OK(selene_server_close(server));
    CHECK_INT(1, is_readable(fd, -1));
    CHECK_INT(SELENE_STEP_DONE, take(second, SELENE_OUTCOME_NONE, 0, &run));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_cycle_wait(cycle, 0, &report, NULL));
    serve(owner);
    CHECK_OK(selene_cycle_begin(member, &(selene_window)SELENE_INIT(selene_window), &pulled));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_descriptor(pulled, &fd));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** An owner that closes with a grace waits for what members run, and asks it to stop at the end (R6). */
static void test_drained(void) {
    for (int is_patient = 0; is_patient < 2; is_patient++) {
        const char *file = path(is_patient ? "a.db" : "b.db");
        selene_scheduler owner = open_here(file);
        struct lent lent;
        serve(owner);
        selene_scheduler member = worker_of(file, "a");
        add(owner, "long");
        start(&lent, begin(member, 1, budget(), 0));
        WAIT_UNTIL(atomic_load(&lent.taken) == 1);
        /* In the last tenth it is asked. */
        CHECK_OK(selene_scheduler_close(owner, is_patient ? 10 * S : 0));
        owner = open_here(file);
        /* It said that it had done it, after it was asked. */
        CHECK_INT(is_patient ? SELENE_STATE_SUCCEEDED : SELENE_STATE_ENQUEUED,
                  state_of(owner, "long"));
        CHECK(pthread_join(lent.thread, NULL) == 0);
        CHECK_OK(selene_scheduler_close(member, 0));
        close_store(owner);
    }
}

static uint64_t planned(selene_scheduler scheduler) {
    selene_plan *plan = NULL;
    CHECK_OK(selene_cycle_plan(scheduler, NULL, &plan));
    uint64_t count = plan->run_count;
    selene_free(plan);
    return count;
}

static void test_plan(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler looker = connect_to(file);
    selene_plan *plan = NULL;
    selene_window wrong = SELENE_INIT(selene_window);
    CHECK_OK(selene_handler_register(owner, "own", -1, NULL, NULL, NULL, NULL));
    selene_scheduler member = worker_of(file, "a");
    add(owner, "x");
    add(owner, "y");
    selene_task task = task_of("z");
    task.handler = text_of("own");
    CHECK_OK(selene_task_register(owner, &task, NULL));
    CHECK_INT(1, planned(owner));
    CHECK_INT(1, planned(looker));
    CHECK_INT(2, planned(member));
    wrong.lanes = 1025;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_plan(member, &wrong, &plan));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_plan(member, NULL, NULL));
    CHECK_OK(selene_scheduler_close(member, 0));
    CHECK_OK(selene_scheduler_close(looker, 0));
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L8 a run's outcome and the next run are one frame each way", test_one_frame);
    run_test("L8 a lane's outcome that comes second or too late changes nothing", test_outcomes);
    run_test("W12 the host's pointer of a run, through a connection", test_user);
    run_test("L6 threads that wait in a rolling window are woken by whoever brings work",
             test_woken);
    run_test("L6 the report of a member comes by the deadline, and an overrun leaves its lane",
             test_overrun);
    run_test("L8 a thread that waits returns when its handle is closed or the owner ends",
             test_ends);
    run_test("C20 an event loop of another process waits with the descriptor of its cycle",
             test_descriptor);
    run_test("R6 an owner that closes with a grace drains what members run", test_drained);
    run_test("L5 a member's plan has the tasks of its handlers", test_plan);
    tools_end();
    return check_end();
}
