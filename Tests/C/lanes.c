/*
 * lanes.c - threads of the host lend themselves to a cycle (C20)
 *
 * What holds for library threads holds here: the report comes by the deadline whatever the threads do, those that overran
 * are counted, ids stay taken until they have come back.
 */
#include "told.h"

#include <poll.h>

/* ---- a host whose threads lend themselves ---------------------------------------------------------------------- */

static struct {
    char id[8];
    struct work *work;
} works[16];
static int work_count;

/** A standing task whose runs a lent thread works on as `work_run` would. */
static void add_lent(selene_scheduler scheduler, const char *id, struct work *work) {
    add_work(scheduler, id, work);
    snprintf(works[work_count].id, sizeof works[0].id, "%s", id);
    works[work_count++].work = work;
}

static struct work *work_of(const selene_run_info *info) {
    for (int i = 0; i < work_count; i++)
        if (strcmp(works[i].id, info->id.data) == 0) return works[i].work;
    CHECK(!"known");
    return NULL;
}

struct lent {
    selene_cycle cycle;
    pthread_t thread;
    atomic_int opened, runs, back;
    selene_status opening, status;
    int32_t step;
};

static void *lend(void *argument) {
    struct lent *lent = argument;
    selene_lane lane = 0;
    lent->opening = selene_lane_open(lent->cycle, &lane);
    atomic_store(&lent->opened, 1);
    while (lent->opening == SELENE_OK) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        lent->status =
            selene_lane_next(lane, SELENE_OUTCOME_NONE, SELENE_NEVER, &lent->step, &info, NULL);
        if (lent->status != SELENE_OK || lent->step != SELENE_STEP_RUN) break;
        work_run(info.run, &info, work_of(&info));
        atomic_fetch_add(&lent->runs, 1);
    }
    if (lane && lent->status == SELENE_OK) selene_lane_close(lane);
    atomic_store(&lent->back, 1);
    return NULL;
}

static void start_lent(struct lent *lent, selene_cycle cycle) {
    lent->cycle = cycle;
    CHECK_INT(0, pthread_create(&lent->thread, NULL, lend, lent));
    wait_for("the lane", &lent->opened, 1);
}

static void join_lent(struct lent *lent) {
    CHECK_INT(0, pthread_join(lent->thread, NULL));
}

static selene_window lanes_of(int64_t budget, int64_t reserve, uint32_t lanes) {
    selene_window window = window_of(budget, reserve, lanes);
    window.flags = SELENE_WINDOW_LANES;
    return window;
}

static selene_report *wait_for_report(selene_cycle cycle) {
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_wait(cycle, SELENE_NEVER, &report, NULL));
    CHECK(report != NULL);
    return report;
}

static selene_lane open_lane(selene_cycle cycle) {
    selene_lane lane = 0;
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK(lane != 0);
    return lane;
}

/** The next run of a lane without waiting, which must be of this task; 0 where there must be none, and of which kind. */
static selene_run take(selene_lane lane, int32_t outcome, const char *id, int32_t expected) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_lane_next(lane, outcome, 0, &step, &info, NULL));
    CHECK_INT(expected, step);
    if (step != SELENE_STEP_RUN) return 0;
    CHECK_TEXT(id, info.id);
    return info.run;
}

/** Waits in the cycle for its report, however long. */
struct waiter {
    selene_cycle cycle;
    selene_report *report;
    atomic_int begun, done;
    pthread_t thread;
};

static void *waiter_main(void *argument) {
    struct waiter *own = argument;
    atomic_store(&own->begun, 1);
    own->report = wait_for_report(own->cycle);
    atomic_store(&own->done, 1);
    return NULL;
}

static void start_waiter(struct waiter *own, selene_cycle cycle) {
    own->cycle = cycle;
    CHECK_INT(0, pthread_create(&own->thread, NULL, waiter_main, own));
    wait_for("the waiter", &own->begun, 1);
}

static selene_report *join_waiter(struct waiter *own) {
    CHECK_INT(0, pthread_join(own->thread, NULL));
    return own->report;
}

/* ---- threads of the host, on a clock that is told ---------------------------------------------------------------------------------------- */

static void test_work(void) {
    selene_scheduler scheduler = open_told();
    struct work work[4] = {{.behaviour = MEET, .party = 2},
                           {.behaviour = MEET, .party = 2},
                           {.behaviour = COMPLETE},
                           {.behaviour = COMPLETE, .outcome = 1}};
    struct lent lent[2] = {{0}};
    selene_report *report;
    const char *const ids[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++)
        add_lent(scheduler, ids[i], &work[i]);
    selene_cycle cycle = begin(scheduler, lanes_of(H, 0, 2));
    for (int i = 0; i < 2; i++)
        start_lent(&lent[i], cycle);
    report = wait_for_report(cycle);
    CHECK_INT(4, report->run_count);
    CHECK_INT(3, report->new_data);
    CHECK_INT(1, report->no_data);
    CHECK(report->ended_at < report->deadline);
    selene_free(report);
    for (int i = 0; i < 2; i++) {
        join_lent(&lent[i]);
        CHECK_STATUS(SELENE_OK, lent[i].status);
        CHECK_INT(SELENE_STEP_DONE, lent[i].step);
    }
    CHECK_INT(2, atomic_load(&most_inside));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK_INT(0, overruns(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Threads that hang do not keep the report, count until they come back, and their lanes say DONE then. */
static void test_overrun(void) {
    selene_scheduler scheduler = open_told();
    struct work work[2] = {{.behaviour = GATE}, {.behaviour = GATE}};
    struct lent lent[2] = {{0}};
    struct waiter waiter = {0};
    selene_report *report;
    add_lent(scheduler, "a", &work[0]);
    add_lent(scheduler, "b", &work[1]);
    selene_cycle cycle = begin(scheduler, lanes_of(20 * S, 10 * S, 2));
    start_waiter(&waiter, cycle);
    for (int i = 0; i < 2; i++) {
        start_lent(&lent[i], cycle);
        wait_for("the handler", &work[i].started, 1);
    }
    reach(scheduler, START + 10 * S - 1);
    for (int i = 0; i < 2; i++)
        CHECK_INT(0, atomic_load(&work[i].stopped));
    reach(scheduler, START + 10 * S);
    for (int i = 0; i < 2; i++)
        CHECK_INT(1, atomic_load(&work[i].stopped));
    reach(scheduler, START + 20 * S);
    CHECK_INT(0, atomic_load(&waiter.done));
    CHECK_INT(0, overruns(scheduler));
    reach(scheduler, START + 20 * S + 1);
    report = join_waiter(&waiter);
    CHECK_INT(START + 20 * S, report->ended_at);
    CHECK_INT(2, report->expired);
    selene_free(report);
    CHECK_INT(2, overruns(scheduler));
    CHECK(why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_INT(0, atomic_load(&lent[0].back));
    atomic_store(&gate, 1);
    for (int i = 0; i < 2; i++) {
        join_lent(&lent[i]);
        CHECK_INT(SELENE_STEP_DONE, lent[i].step);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, atomic_load(&work[i].first_status));
    }
    CHECK_INT(0, overruns(scheduler));
    CHECK(!why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_cap(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work work = {.behaviour = GATE};
    struct lent lent = {0};
    selene_window window = lanes_of(20 * S, 0, 1);
    selene_cycle cycle;
    options.max_overrun_threads = 1;
    scheduler = open_told_with(options);
    add_lent(scheduler, "a", &work);
    cycle = begin(scheduler, window);
    start_lent(&lent, cycle);
    wait_for("the handler", &work.started, 1);
    reach(scheduler, START + 20 * S + 1);
    selene_free(wait_for_report(cycle));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &cycle));
    /* As it is for library threads, which count alike. */
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run(scheduler, NULL, NULL));
    atomic_store(&gate, 1);
    join_lent(&lent);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Nobody waits: the cycle ends at its deadline all the same, and its report is kept. */
static void test_kept(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct lent lent = {0};
    selene_report *report = NULL;
    selene_cycle cycle, other;
    add_lent(scheduler, "a", &work);
    cycle = begin(scheduler, lanes_of(20 * S, 0, 1));
    start_lent(&lent, cycle);
    wait_for("the handler", &work.started, 1);
    reach(scheduler, START + 20 * S + 1);
    other = begin(scheduler, window_of(S, 0, 1));
    CHECK_INT(1, overruns(scheduler));
    CHECK_OK(selene_cycle_end(other, NULL));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->expired);
    CHECK_INT(report->deadline, report->ended_at);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    atomic_store(&gate, 1);
    join_lent(&lent);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A lane that waits returns when the scheduler is closed, and close waits for those in handlers. */
static void test_close(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct lent busy = {0}, waiting = {0};
    struct closer closer = {0};
    add_lent(scheduler, "a", &work);
    selene_cycle cycle = begin(scheduler, lanes_of(2 * H, 0, 2));
    start_lent(&busy, cycle);
    wait_for("the handler", &work.started, 1);
    start_lent(&waiting, cycle);
    still(scheduler);
    CHECK_INT(0, atomic_load(&waiting.back));
    start_closer(&closer, scheduler, selene_scheduler_close, H);
    WAIT_UNTIL(selene_scheduler_resume(scheduler) != SELENE_OK);
    CHECK_INT(0, atomic_load(&closer.done));
    atomic_store(&gate, 1);
    CHECK_OK(join_closer(&closer));
    CHECK_INT(1, atomic_load(&work.returned));
    /* Maybe by the thread that came back, a moment later. */
    wait_for("the end of the handler", &work.destroyed, 1);
    join_lent(&busy);
    join_lent(&waiting);
    CHECK_INT(SELENE_STEP_DONE, waiting.step);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_lane_open(cycle, &(selene_lane){0}));
}

/** Also without grace: it does not wait for a thread in a handler, whose lane is closed then. */
static void test_close_at_once(void) {
    selene_scheduler scheduler = open_told(), other;
    struct work work = {.behaviour = GATE};
    struct lent lent = {0}, waiting = {0};
    add_lent(scheduler, "a", &work);
    selene_cycle cycle = begin(scheduler, lanes_of(H, 0, 2));
    start_lent(&lent, cycle);
    wait_for("the handler", &work.started, 1);
    start_lent(&waiting, cycle);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    join_lent(&waiting);
    /* Another takes its place meanwhile. */
    other = open_told();
    atomic_store(&gate, 1);
    join_lent(&lent);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, lent.status);
    CHECK_INT(0, overruns(other));
    CHECK_OK(selene_scheduler_close(other, 0));
}

/** A lane whose run was cancelled under it gives way to another. */
static void test_stopped(void) {
    selene_scheduler scheduler = open_told();
    struct work first = {.behaviour = GATE}, second = {.behaviour = COMPLETE};
    struct lent lent[2] = {{0}};
    selene_lane third = 0;
    selene_report *report;
    uint64_t count;
    add_lent(scheduler, "a", &first);
    selene_cycle cycle = begin(scheduler, lanes_of(H, 0, 1));
    start_lent(&lent[0], cycle);
    wait_for("the handler", &first.started, 1);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_lane_open(cycle, &third));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, &count));
    CHECK_INT(1, overruns(scheduler));
    start_lent(&lent[1], cycle);
    CHECK_OK(lent[1].opening);
    report = wait_for_report(cycle);
    CHECK_INT(1, report->stopped);
    selene_free(report);
    join_lent(&lent[1]);
    /* Its thread came back only now. */
    atomic_store(&gate, 1);
    join_lent(&lent[0]);
    CHECK_INT(SELENE_STEP_DONE, lent[0].step);
    CHECK_INT(0, overruns(scheduler));
    (void)second;
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** If none has taken its place, the thread goes on when it is back. */
static void test_goes_on(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_lane lane, other;
    selene_run run;
    uint64_t count;
    add_lent(scheduler, "a", &work);
    add_lent(scheduler, "b", &work);
    cycle = begin(scheduler, lanes_of(10 * S, S, 1));
    lane = open_lane(cycle);
    run = take(lane, SELENE_OUTCOME_NONE, "a", SELENE_STEP_RUN);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, &count));
    CHECK_INT(1, overruns(scheduler));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, overruns(scheduler));
    take(lane, SELENE_OUTCOME_NEW_DATA, "b", SELENE_STEP_RUN);
    CHECK_INT(0, overruns(scheduler));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_lane_open(cycle, &other));
    take(lane, SELENE_OUTCOME_NEW_DATA, NULL, SELENE_STEP_DONE);
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What returns without an outcome keeps its lane until the outcome is given. */
static void test_later(void) {
    selene_scheduler scheduler = open_told();
    struct work work[2] = {{.behaviour = NEVER}, {.behaviour = NEVER}};
    struct lent lent = {0};
    selene_report *report;
    add_lent(scheduler, "a", &work[0]);
    add_lent(scheduler, "b", &work[1]);
    selene_cycle cycle = begin(scheduler, lanes_of(H, 0, 1));
    start_lent(&lent, cycle);
    for (int i = 0; i < 2; i++) {
        wait_for("its return", &work[i].returned, 1);
        reach(scheduler, START + (i + 1) * S);
        if (i == 0) CHECK_INT(0, atomic_load(&work[1].started));
        CHECK_OK(selene_run_complete(atomic_load(&work[i].run), SELENE_OUTCOME_NEW_DATA));
    }
    report = wait_for_report(cycle);
    CHECK_INT(2, report->new_data);
    CHECK_INT(START, report->runs[0].started_at);
    CHECK_INT(START + S, report->runs[1].started_at);
    selene_free(report);
    join_lent(&lent);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Drained: nothing more is started, and what runs may complete. */
static void test_drain(void) {
    selene_scheduler scheduler = open_told();
    struct work work[3] = {{.behaviour = GATE}, {.behaviour = COMPLETE}, {.behaviour = COMPLETE}};
    struct lent lent = {0};
    selene_report *report;
    const char *const ids[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        add_lent(scheduler, ids[i], &work[i]);
    selene_cycle cycle = begin(scheduler, lanes_of(H, 0, 1));
    start_lent(&lent, cycle);
    wait_for("the handler", &work[0].started, 1);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_drain(cycle, -1));
    CHECK_OK(selene_cycle_drain(cycle, SELENE_HOUR));
    atomic_store(&gate, 1);
    report = wait_for_report(cycle);
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, report->new_data);
    CHECK_INT(2, report->did_not_fit);
    selene_free(report);
    join_lent(&lent);
    CHECK_INT(0, atomic_load(&work[0].stopped));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** In the last tenth of the grace it is asked to stop; one that is too late then is stopped. */
static void test_drain_asks(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = UNTIL_STOPPED};
    struct lent lent = {0};
    selene_report *report;
    add_lent(scheduler, "a", &work);
    selene_cycle cycle = begin(scheduler, lanes_of(H, 0, 1));
    start_lent(&lent, cycle);
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_cycle_drain(cycle, 50 * S));
    reach(scheduler, START + 45 * S - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(scheduler, START + 45 * S);
    CHECK_INT(1, atomic_load(&work.stopped));
    report = wait_for_report(cycle);
    CHECK_INT(1, report->new_data);
    CHECK_INT(START + 45 * S, report->ended_at);
    selene_free(report);
    join_lent(&lent);
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A drained cycle whose run does not listen is over after the grace; so is a pushed one. */
static void test_drain_deaf(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct lent lent = {0};
    struct receiver receiver = {0};
    selene_report *report = NULL;
    add_lent(scheduler, "a", &work);
    selene_cycle cycle = begin(scheduler, lanes_of(H, 0, 1));
    start_lent(&lent, cycle);
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_cycle_drain(cycle, 50 * S));
    reach(scheduler, START + 50 * S);
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK(report == NULL);
    reach(scheduler, START + 50 * S + 1);
    report = wait_for_report(cycle);
    CHECK_INT(START + 50 * S, report->ended_at);
    CHECK_INT(1, report->stopped);
    selene_free(report);
    atomic_store(&gate, 1);
    join_lent(&lent);
    atomic_store(&gate, 0);
    const int64_t began = present(scheduler);
    cycle = push_async(scheduler, window_of(H, 0, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 2);
    CHECK_OK(selene_cycle_drain(cycle, 50 * S));
    reach(scheduler, began + 50 * S);
    CHECK_INT(0, atomic_load(&receiver.calls));
    reach(scheduler, began + 50 * S + 1);
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(1, receiver.stopped);
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/** A thread that waits for a run and then for the report, each for 50 s. */
struct impatient {
    selene_cycle cycle;
    selene_lane lane;
    int32_t step;
    selene_report *report;
    int64_t wake_at;
    atomic_int waits, done;
    pthread_t thread;
};

static void *wait_twice(void *argument) {
    struct impatient *own = argument;
    selene_run_info info = SELENE_INIT(selene_run_info);
    CHECK_OK(
        selene_lane_next(own->lane, SELENE_OUTCOME_NONE, 50 * S, &own->step, &info, &own->wake_at));
    atomic_store(&own->waits, 1);
    CHECK_OK(selene_cycle_wait(own->cycle, 50 * S, &own->report, &own->wake_at));
    atomic_store(&own->done, 1);
    return NULL;
}

/** Waiting with a timeout comes back in time, and says when to come again. */
static void test_timeouts(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct lent lent = {0};
    struct impatient own = {.step = -1};
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    int32_t step = -1;
    add_lent(scheduler, "a", &work);
    selene_cycle cycle = own.cycle = begin(scheduler, lanes_of(H, S, 2));
    start_lent(&lent, cycle);
    wait_for("the handler", &work.started, 1);
    own.lane = open_lane(cycle);
    CHECK_INT(0, pthread_create(&own.thread, NULL, wait_twice, &own));
    WAIT_UNTIL(still(scheduler) == START + 50 * S);
    reach(scheduler, START + 50 * S - 1);
    CHECK_INT(0, atomic_load(&own.waits));
    reach(scheduler, START + 50 * S);
    wait_for("the end of the first wait", &own.waits, 1);
    CHECK_INT(SELENE_STEP_WAIT, own.step);
    WAIT_UNTIL(still(scheduler) == START + 100 * S);
    reach(scheduler, START + 100 * S - 1);
    CHECK_INT(0, atomic_load(&own.done));
    reach(scheduler, START + 100 * S);
    CHECK_INT(0, pthread_join(own.thread, NULL));
    CHECK(own.report == NULL);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_lane_next(own.lane, SELENE_OUTCOME_NONE, -1, &step, &info, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_wait(cycle, -1, &report, NULL));
    atomic_store(&gate, 1);
    report = wait_for_report(cycle);
    CHECK_INT(own.wake_at, report->deadline - S);
    selene_free(report);
    CHECK_OK(selene_lane_close(own.lane));
    join_lent(&lent);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static int is_readable(int fd, int64_t patience) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, (int)(patience / MS));
}

/** An event loop: the descriptor is readable when there may be something, and only then. */
static void test_descriptor(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    selene_window window = lanes_of(20 * S, 10 * S, 2);
    selene_report *report = NULL;
    selene_cycle cycle;
    selene_lane first, second;
    selene_run run;
    int fd = -1, again = -1;
    window.flags = SELENE_WINDOW_LANES;
    add_lent(scheduler, "a", &work);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_cycle_descriptor(cycle, &fd));
    CHECK_OK(selene_cycle_descriptor(cycle, &again));
    CHECK_INT(fd, again);
    CHECK_INT(1, is_readable(fd, 0));
    first = open_lane(cycle);
    second = open_lane(cycle);
    run = take(first, SELENE_OUTCOME_NONE, "a", SELENE_STEP_RUN);
    /* Waiting for the report does not take from a free lane what is news for it. */
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK_INT(1, is_readable(fd, 0));
    take(second, SELENE_OUTCOME_NONE, NULL, SELENE_STEP_WAIT);
    still(scheduler);
    CHECK_INT(0, is_readable(fd, 0));
    /* A rolling window: what is registered now may run now. */
    add_lent(scheduler, "b", &work);
    CHECK_INT(1, is_readable(fd, PATIENCE));
    take(second, SELENE_OUTCOME_NONE, "b", SELENE_STEP_RUN);
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK(report == NULL);
    still(scheduler);
    CHECK_INT(0, is_readable(fd, 0));
    /* An outcome by the token. */
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, is_readable(fd, PATIENCE));
    take(first, SELENE_OUTCOME_NONE, NULL, SELENE_STEP_WAIT);
    CHECK_INT(0, is_readable(fd, 0));
    /* The expiry, and the end. */
    reach(scheduler, START + 10 * S - 1);
    CHECK_INT(0, is_readable(fd, 0));
    reach(scheduler, START + 10 * S);
    CHECK_INT(1, is_readable(fd, 0));
    take(first, SELENE_OUTCOME_NONE, NULL, SELENE_STEP_WAIT);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(0, is_readable(fd, 0));
    reach(scheduler, START + 20 * S + 1);
    CHECK_INT(1, is_readable(fd, 0));
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK(report != NULL);
    CHECK_INT(1, report->expired);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A driver for lanes gives windows of lanes, and at the cap none, without asking again and again. */
static void test_driver(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_scheduler scheduler = 0;
    struct work work = {.behaviour = GATE}, other = {.behaviour = COMPLETE};
    struct lent lent = {0};
    selene_report *report;
    selene_task task;
    selene_cycle cycle = 0;
    int32_t fd = -1;
    options.max_overrun_threads = 1;
    scheduler = open_told_with(options);
    add_lent(scheduler, "a", &work);
    driver.flags = SELENE_DRIVER_LANES;
    driver.refresh_budget = 20 * S;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_start(scheduler, &driver));
    CHECK_OK(selene_driver_open(scheduler, &driver, &fd));
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK(cycle != 0);
    start_lent(&lent, cycle);
    wait_for("the handler", &work.started, 1);
    reach(scheduler, START + 20 * S + 1);
    report = wait_for_report(cycle);
    CHECK_INT(1, report->expired);
    selene_free(report);
    /* Which is due now, as no standing task is. */
    add_handler(scheduler, "b", &other);
    task = once_of("b");
    task.kind = SELENE_KIND_REFRESH;
    add(scheduler, task);
    do
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    while (cycle == 0 && is_readable(fd, 0));
    CHECK_INT(0, cycle);
    atomic_store(&gate, 1);
    join_lent(&lent);
    CHECK_INT(1, is_readable(fd, PATIENCE));
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK(cycle != 0);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static selene_lane waiting_lane;
static selene_cycle waiting_cycle;

static void ask_to_wait(selene_run run, int32_t reason, void *context) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report;
    int32_t step;
    (void)run;
    (void)reason;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_lane_next(waiting_lane, SELENE_OUTCOME_NONE,
                                                          SELENE_NEVER, &step, &info, NULL));
    CHECK_STATUS(SELENE_ERROR_REENTRANT,
                 selene_cycle_wait(waiting_cycle, SELENE_NEVER, &report, NULL));
    atomic_fetch_add((atomic_int *)context, 1);
}

static void test_reentrant(void) {
    selene_scheduler scheduler = open_plain();
    atomic_int asked = 0;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, ask_to_wait, &asked, NULL));
    add(scheduler, task_of("a"));
    waiting_cycle = begin(scheduler, lanes_of(10 * S, 5 * S, 2));
    take(open_lane(waiting_cycle), SELENE_OUTCOME_NONE, "a", SELENE_STEP_RUN);
    waiting_lane = open_lane(waiting_cycle);
    advance(6 * S);
    take(waiting_lane, SELENE_OUTCOME_NONE, NULL, SELENE_STEP_WAIT);
    CHECK_INT(1, atomic_load(&asked));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- on a clock of the host's own ------------------------------------------------------------------------------------ */

/** With a host clock nothing is waited for, and everything is exact. */
static void test_host_clock(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    selene_lane first, second;
    selene_cycle cycle;
    selene_run run;
    int64_t wake_at = 0;
    int32_t step = -1;
    add_lent(scheduler, "a", &work);
    add_lent(scheduler, "b", &work);
    add_lent(scheduler, "c", &work);
    cycle = begin(scheduler, lanes_of(10 * S, S, 2));
    first = open_lane(cycle);
    second = open_lane(cycle);
    take(first, SELENE_OUTCOME_NONE, "a", SELENE_STEP_RUN);
    run = take(second, SELENE_OUTCOME_NONE, "b", SELENE_STEP_RUN);
    advance(S);
    /* Completing and taking the next are one call. */
    take(first, SELENE_OUTCOME_NO_DATA, "c", SELENE_STEP_RUN);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, record(scheduler, "a").last_outcome);
    advance(S);
    CHECK_OK(selene_lane_next(first, SELENE_OUTCOME_FAILED, SELENE_NEVER, &step, &info, &wake_at));
    CHECK_INT(SELENE_STEP_WAIT, step);
    CHECK_INT(START + 9 * S, wake_at);
    CHECK_OK(selene_cycle_wait(cycle, SELENE_NEVER, &report, &wake_at));
    CHECK(report == NULL);
    CHECK_INT(START + 9 * S, wake_at);
    /* An outcome that was given by the token before is not given again. */
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_ABANDONED));
    CHECK(why(scheduler, "b", SELENE_REASON_STILL_RUNNING).reason);
    take(second, SELENE_OUTCOME_NEW_DATA, NULL, SELENE_STEP_DONE);
    take(first, SELENE_OUTCOME_NONE, NULL, SELENE_STEP_DONE);
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK_INT(3, report->run_count);
    CHECK_INT(1, report->no_data);
    CHECK_INT(1, report->failed);
    CHECK_INT(1, report->abandoned);
    CHECK_INT(S, report->runs[0].response_time);
    selene_free(report);
    take(first, SELENE_OUTCOME_NONE, NULL, SELENE_STEP_DONE);
    CHECK_OK(selene_lane_close(first));
    CHECK_OK(selene_lane_close(second));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_lane_close(second));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** At the deadline a run may still complete; a nanosecond later its thread is left behind. */
static void test_exact(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    selene_lane first, second;
    selene_cycle cycle;
    add_lent(scheduler, "a", &work);
    add_lent(scheduler, "b", &work);
    cycle = begin(scheduler, lanes_of(10 * S, S, 2));
    first = open_lane(cycle);
    second = open_lane(cycle);
    take(first, SELENE_OUTCOME_NONE, "a", SELENE_STEP_RUN);
    take(second, SELENE_OUTCOME_NONE, "b", SELENE_STEP_RUN);
    advance(10 * S);
    take(first, SELENE_OUTCOME_NEW_DATA, NULL, SELENE_STEP_WAIT);
    CHECK_INT(0, overruns(scheduler));
    advance(1);
    CHECK_INT(1, overruns(scheduler));
    CHECK_OK(selene_cycle_wait(cycle, 0, &report, NULL));
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, report->expired);
    CHECK_INT(START + 10 * S, report->ended_at);
    selene_free(report);
    take(second, SELENE_OUTCOME_NEW_DATA, NULL, SELENE_STEP_DONE);
    CHECK_INT(0, overruns(scheduler));
    CHECK_INT(1, record(scheduler, "b").attempts);
    CHECK_OK(selene_lane_close(first));
    CHECK_OK(selene_lane_close(second));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A closed lane has come back from its run, whose outcome may be given by its token. */
static void test_close_lane(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_lane lane;
    selene_run run;
    add_lent(scheduler, "a", &work);
    cycle = begin(scheduler, lanes_of(10 * S, S, 1));
    lane = open_lane(cycle);
    run = take(lane, SELENE_OUTCOME_NONE, "a", SELENE_STEP_RUN);
    CHECK_OK(selene_lane_close(lane));
    /* The lane's place is free, the run's is not. */
    lane = open_lane(cycle);
    take(lane, SELENE_OUTCOME_NONE, NULL, SELENE_STEP_WAIT);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    take(lane, SELENE_OUTCOME_NONE, NULL, SELENE_STEP_DONE);
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(0, overruns(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Of reports that nobody asks for the last 16 are kept. */
static void test_sixteen(void) {
    selene_scheduler scheduler = open_plain();
    selene_cycle cycles[18];
    for (int i = 0; i < 18; i++) {
        cycles[i] = begin(scheduler, lanes_of(S, 0, 1));
        advance(S + 1);
    }
    CHECK_INT(0, overruns(scheduler));
    for (int i = 0; i < 18; i++)
        CHECK_STATUS(i < 2 ? SELENE_ERROR_INVALID_HANDLE : SELENE_OK,
                     selene_cycle_end(cycles[i], NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_misuse(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_run_info info = SELENE_INIT(selene_run_info), small = {.struct_size = 4};
    selene_window window = lanes_of(10 * S, S, 1);
    selene_report *report;
    selene_lane lane = 0;
    selene_cycle pulled, cycle;
    int32_t step;
    add_lent(scheduler, "a", &work);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_run(scheduler, &window, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_run_async(scheduler, &window, NULL, NULL, NULL, NULL, NULL));
    window.flags |= SELENE_WINDOW_INLINE;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_begin(scheduler, &window, &cycle));
    /* A pulled cycle has lanes until it gives a run otherwise. */
    pulled = begin(scheduler, window_of(10 * S, S, 1));
    lane = open_lane(pulled);
    take(lane, SELENE_OUTCOME_NONE, "a", SELENE_STEP_RUN);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_next(pulled, &step, &info, NULL));
    take(lane, SELENE_OUTCOME_NEW_DATA, NULL, SELENE_STEP_DONE);
    CHECK_OK(selene_cycle_wait(pulled, 0, &report, NULL));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_lane_close(lane));
    lane = 0;
    pulled = begin(scheduler, window_of(10 * S, S, 1));
    CHECK_OK(selene_run_complete(next(pulled, "a"), SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_lane_open(pulled, &lane));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_wait(pulled, 0, &report, NULL));
    CHECK_OK(selene_cycle_end(pulled, NULL));
    cycle = begin(scheduler, lanes_of(10 * S, S, 1));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_lane_open(cycle, NULL));
    CHECK_INT(0, lane);
    lane = open_lane(cycle);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_lane_next(lane, -1, 0, NULL, &info, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_lane_next(lane, -1, 0, &step, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED_STRUCT,
                 selene_lane_next(lane, -1, 0, &step, &small, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_wait(cycle, 0, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_lane_open(lane, &lane));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_lane_close(cycle));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE,
                 selene_lane_next(scheduler, -1, 0, &step, &info, NULL));
    take(lane, SELENE_OUTCOME_NONE, "a", SELENE_STEP_RUN);
    /* A refused outcome leaves all as it was. */
    for (int32_t outcome = -2; outcome <= 6; outcome++) {
        if (outcome >= -1 && outcome <= 5 && outcome != SELENE_OUTCOME_EXPIRED) continue;
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_lane_next(lane, outcome, 0, &step, &info, NULL));
    }
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
    take(lane, SELENE_OUTCOME_NEW_DATA, NULL, SELENE_STEP_DONE);
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_lane_open(cycle, &lane));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- everything at once ------------------------------------------------------------------------------------------------ */

enum { THREADS = 6, ROUNDS = 60, TASKS = 40 };

static selene_scheduler storm;
static _Atomic uint64_t storm_cycle;
static atomic_int storm_ends;
static _Atomic uint64_t storm_runs, storm_reported;

static void *storm_lend(void *argument) {
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    while (!atomic_load(&storm_ends)) {
        selene_lane lane = 0;
        int32_t step = SELENE_STEP_RUN, outcome = SELENE_OUTCOME_NONE;
        if (selene_lane_open(atomic_load(&storm_cycle), &lane) != SELENE_OK) {
            check_sleep(50 * SELENE_MICROSECOND);
            continue;
        }
        while (step == SELENE_STEP_RUN) {
            selene_run_info info = SELENE_INIT(selene_run_info);
            seed = seed * UINT64_C(6364136223846793005) + 1;
            if (selene_lane_next(lane, outcome, seed >> 62 ? SELENE_NEVER : 0, &step, &info, NULL))
                break;
            if (step != SELENE_STEP_RUN) break;
            atomic_fetch_add(&storm_runs, 1);
            CHECK(info.id.length == 3);
            outcome = (int32_t)(seed >> 40 & 3) - 1;
            if (outcome < 0 && seed >> 42 & 1)
                selene_run_complete(info.run, SELENE_OUTCOME_NO_DATA);
            if ((seed >> 50 & 7) == 0) check_sleep((int64_t)(seed >> 55) * 20 * SELENE_MICROSECOND);
            if ((seed >> 58 & 15) == 0)
                selene_task_cancel(storm, info.id.data, info.id.length, NULL);
        }
        selene_lane_close(lane);
    }
    return NULL;
}

static void test_storm(void) {
    pthread_t threads[THREADS];
    CHECK_OK(selene_scheduler_open(NULL, &storm));
    CHECK_OK(selene_conditions_set(storm, BOTH, BOTH));
    CHECK_OK(selene_handler_register(storm, "all", -1, NULL, work_stop, &(struct work){0}, NULL));
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, storm_lend, (void *)(i + 1)));
    /* However slow the machine is, the threads get to do something. */
    for (int round = 0; round < ROUNDS || atomic_load(&storm_runs) <= ROUNDS; round++) {
        char id[4];
        selene_window window = lanes_of(3 * MS, MS, 1 + (uint32_t)round % 4);
        selene_report *report = NULL;
        selene_cycle cycle = 0;
        for (int i = 0; i < TASKS; i++) {
            selene_task task = task_of(id);
            snprintf(id, sizeof id, "%03d", i);
            task.handler = SELENE_TEXT("all");
            task.existing = SELENE_EXISTING_REPLACE;
            task.expected_response = SELENE_NONE;
            CHECK_OK(selene_task_register(storm, &task, NULL));
        }
        while (selene_cycle_begin(storm, &window, &cycle) == SELENE_ERROR_BUSY)
            check_sleep(MS);
        atomic_store(&storm_cycle, cycle);
        if (round % 5 == 0) CHECK_OK(selene_cycle_drain(cycle, MS));
        if (round % 7 == 0) CHECK_OK(selene_cycle_end(cycle, &report));
        else CHECK_OK(selene_cycle_wait(cycle, SELENE_NEVER, &report, NULL));
        atomic_fetch_add(&storm_reported, report->run_count);
        selene_free(report);
    }
    atomic_store(&storm_ends, 1);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    CHECK_INT(atomic_load(&storm_runs), atomic_load(&storm_reported));
    CHECK_INT(0, overruns(storm));
    CHECK_OK(selene_scheduler_close(storm, GRACE));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("C20 threads of the host work a cycle off through lanes", test_work);
    run_test("C20 the report comes by the deadline while lent threads hang, which count until they "
             "are back",
             test_overrun);
    run_test("C20 at the cap of threads left behind a begin for lanes is refused with BUSY",
             test_cap);
    run_test("C20 a cycle that nobody waits for ends at its deadline, and its report is kept",
             test_kept);
    run_test("C20 of reports that nobody asks for the last sixteen are kept", test_sixteen);
    run_test("C20 a lane that waits returns when the scheduler is closed", test_close);
    run_test("C20 close without grace does not wait for a lent thread", test_close_at_once);
    run_test("C20 a lane whose run was stopped under it gives way to another", test_stopped);
    run_test("C20 a thread that is back before another has taken its place goes on", test_goes_on);
    run_test("C20 a run whose outcome comes later keeps its lane", test_later);
    run_test("C20 a drained cycle starts nothing more, and what runs may complete", test_drain);
    run_test("C20 in the last tenth of the grace of a drained cycle a run is asked to stop",
             test_drain_asks);
    run_test("C20 a drained cycle is over after the grace", test_drain_deaf);
    run_test("C20 waiting with a timeout comes back in time", test_timeouts);
    run_test("C20 an event loop waits with a descriptor", test_descriptor);
    run_test("C20 a driver for lanes opens no window at the cap, and one when a thread is back",
             test_driver);
    run_test("C20 nothing waits inside a callback", test_reentrant);
    run_test("C20 with a host clock nothing is waited for", test_host_clock);
    run_test("C20 a run may complete exactly at the deadline, later its thread is left behind",
             test_exact);
    run_test("C20 a lane that is closed has come back from its run", test_close_lane);
    run_test("C20 lanes are refused where they cannot be, and their handles are checked",
             test_misuse);
    run_test("C20 threads that lend themselves at random lose no run", test_storm);
    return check_end();
}
