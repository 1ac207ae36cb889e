/*
 * told.c - threads of the library follow a clock that is told (B3)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#include <poll.h>

/* ---- deadlines ---------------------------------------------------------------- */

static void test_deadline(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    int64_t deadline = 0;
    add_work(scheduler, "stuck", &work);
    push_async(scheduler, window_of(10 * S, S, 1), &receiver, &deadline);
    CHECK_INT(START + 10 * S, deadline);
    CHECK_INT(START + 9 * S, still(scheduler));
    wait_for("the handler", &work.started, 1);
    CHECK_INT(START + 9 * S, reach(scheduler, START + 9 * S - 1));
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_INT(START + 10 * S + 1, reach(scheduler, START + 9 * S));
    CHECK_INT(1, atomic_load(&work.stopped));
    reach(scheduler, START + 10 * S);
    CHECK_INT(0, atomic_load(&receiver.calls));
    reach(scheduler, START + 10 * S + 1);
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(1, receiver.expired);
    CHECK_INT(1, overruns(scheduler));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- the driver ------------------------------------------------------------------ */

static void test_driver(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    int64_t next;
    add_handler(scheduler, "a", &work);
    task.initial_delay = H;
    add(scheduler, task);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    CHECK_INT(START + H, still(scheduler));
    CHECK_INT(START + H, reach(scheduler, START + H - 1));
    CHECK_INT(0, atomic_load(&work.started));
    finished_by(scheduler, START + H);
    CHECK_INT(1, atomic_load(&work.returned));
    CHECK_INT(START + H, record(scheduler, "a").last_run);
    next = still(scheduler);
    CHECK(next > START + SELENE_DAY);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* A week of a task that is due each hour: each run at its instant. */
static void test_week(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    add_handler(scheduler, "a", &work);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = H;
    add(scheduler, task);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    finished_by(scheduler, START + 7 * SELENE_DAY);
    CHECK_BETWEEN(7 * 24, atomic_load(&work.returned), 7 * 24 + 1);
    CHECK_INT(START + 7 * SELENE_DAY, present(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- lanes ------------------------------------------------------------------------- */

struct lane_thread {
    selene_cycle cycle;
    atomic_int taken, done;
    _Atomic int64_t taken_at;
    selene_scheduler scheduler;
    pthread_t thread;
};

static void *lane_main(void *argument) {
    struct lane_thread *own = argument;
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_lane lane = 0;
    int32_t step = 0, outcome = SELENE_OUTCOME_NONE;
    CHECK_OK(selene_lane_open(own->cycle, &lane));
    for (;;) {
        CHECK_OK(selene_lane_next(lane, outcome, SELENE_NEVER, &step, &info, NULL));
        if (step != SELENE_STEP_RUN) break;
        atomic_store(&own->taken_at, present(own->scheduler));
        atomic_fetch_add(&own->taken, 1);
        outcome = SELENE_OUTCOME_NEW_DATA;
    }
    CHECK_OK(selene_lane_close(lane));
    atomic_store(&own->done, 1);
    return NULL;
}

/* While one lane is at work, a thread of the host waits in another one for a task that is due in an hour. */
static void test_lane(void) {
    selene_scheduler scheduler = open_told();
    selene_window window = window_of(2 * H, S, 2);
    struct lane_thread other = {.scheduler = scheduler};
    selene_task task = once_of("later");
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_report *report = NULL;
    selene_lane lane = 0;
    int32_t step = -1;
    window.flags = SELENE_WINDOW_LANES | SELENE_WINDOW_ROLLING;
    window.kinds = PROCESSING;
    CHECK_OK(selene_handler_register(scheduler, "later", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "now", -1, NULL, NULL, NULL, NULL));
    task.initial_delay = H;
    add(scheduler, task);
    add(scheduler, once_of("now"));
    other.cycle = begin(scheduler, window);
    CHECK_OK(selene_lane_open(other.cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_INT(0, pthread_create(&other.thread, NULL, lane_main, &other));
    WAIT_UNTIL(still(scheduler) == START + H);
    reach(scheduler, START + H - 1);
    CHECK_INT(0, atomic_load(&other.taken));
    reach(scheduler, START + H);
    CHECK(record(scheduler, "later").state != SELENE_STATE_ENQUEUED);
    wait_for("the run", &other.taken, 1);
    CHECK_INT(START + H, atomic_load(&other.taken_at));
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_lane_close(lane));
    CHECK_INT(0, pthread_join(other.thread, NULL));
    CHECK_OK(selene_cycle_end(other.cycle, &report));
    CHECK_INT(2, report->new_data);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

/* ---- sleeping handlers -------------------------------------------------------------- */

static selene_scheduler sleepers_scheduler;
static int32_t slept[4];
static _Atomic int64_t slept_until[4];

static void sleeper(selene_run run, const selene_run_info *info, void *context) {
    const int which = (int)(intptr_t)context;
    (void)info;
    int64_t now = 0;
    CHECK_OK(selene_run_sleep(run, (which + 1) * 10 * S, &slept[which]));
    CHECK_OK(selene_scheduler_now(sleepers_scheduler, &now));
    atomic_store(&slept_until[which], now);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_sleep(void) {
    struct receiver receiver = {0};
    selene_window window = window_of(25 * S, 5 * S, 4);
    selene_scheduler scheduler = sleepers_scheduler = open_told();
    for (intptr_t k = 0; k < 4; k++) {
        char id[8];
        selene_task task;
        snprintf(id, sizeof id, "%d", (int)k);
        CHECK_OK(selene_handler_register(scheduler, id, -1, sleeper, NULL, (void *)k, NULL));
        task = task_of(id);
        add(scheduler, task);
    }
    push_async(scheduler, window, &receiver, NULL);
    finished_by(scheduler, START + 10 * S - 1);
    CHECK_INT(0, atomic_load(&slept_until[0]));
    finished_by(scheduler, START + 10 * S);
    CHECK_INT(START + 10 * S, atomic_load(&slept_until[0]));
    CHECK_INT(0, atomic_load(&slept_until[1]));
    finished_by(scheduler, START + 25 * S);
    /* Two slept all their time, of which one was done exactly when the reserve began; the others were asked to stop then. */
    for (int k = 0; k < 4; k++) {
        CHECK_INT(START + (k == 0 ? 10 : 20) * S, atomic_load(&slept_until[k]));
        if (k != 1) CHECK_INT(k < 1 ? SELENE_STOP_NONE : SELENE_STOP_EXPIRING, slept[k]);
    }
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(4, receiver.new_data);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- graces ---------------------------------------------------------------------------- */

struct closer {
    selene_scheduler scheduler;
    selene_status status;
    int64_t grace;
    int drains;
    atomic_int begun, done;
    pthread_t thread;
};

static void *closer_main(void *argument) {
    struct closer *own = argument;
    atomic_store(&own->begun, 1);
    own->status = own->drains ? selene_scheduler_drain(own->scheduler, own->grace)
                              : selene_scheduler_close(own->scheduler, own->grace);
    atomic_store(&own->done, 1);
    return NULL;
}

static void start_closer(struct closer *own) {
    CHECK_INT(0, pthread_create(&own->thread, NULL, closer_main, own));
    wait_for("the closer", &own->begun, 1);
}

/* A drain lasts as long as its grace says, on the clock that is told. */
static void test_drain(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    struct closer closer = {.scheduler = scheduler, .grace = H, .drains = 1};
    add_work(scheduler, "stuck", &work);
    push_async(scheduler, window_of(2 * H, S, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    start_closer(&closer);
    /* The grace begins when the call does, which this thread sees by what is due next. */
    WAIT_UNTIL(still(scheduler) == START + H);
    reach(scheduler, START + H - 1);
    CHECK_INT(0, atomic_load(&closer.done));
    CHECK_OK(selene_clock_set(scheduler, START + H));
    CHECK_INT(0, pthread_join(closer.thread, NULL));
    CHECK_STATUS(SELENE_ERROR_BUSY, closer.status);
    CHECK_OK(selene_scheduler_resume(scheduler));
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_close(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    struct closer closer = {.scheduler = scheduler, .grace = 50 * S};
    add_work(scheduler, "stuck", &work);
    push_async(scheduler, window_of(2 * H, S, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    start_closer(&closer);
    /* Its last tenth is for who is asked to stop. */
    WAIT_UNTIL(still(scheduler) == START + 45 * S);
    reach(scheduler, START + 45 * S - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(scheduler, START + 45 * S);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(0, atomic_load(&closer.done));
    CHECK_OK(selene_clock_set(scheduler, START + 50 * S));
    CHECK_INT(0, pthread_join(closer.thread, NULL));
    CHECK_STATUS(SELENE_OK, closer.status);
    CHECK_INT(0, atomic_load(&work.returned));
    CHECK_INT(1, atomic_load(&receiver.calls));
    atomic_store(&gate, 1);
    wait_for("the return", &work.returned, 1);
}

/* ---- what is not still ------------------------------------------------------------------- */

static void test_busy(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    int64_t next = -7;
    add_work(scheduler, "stuck", &work);
    push_async(scheduler, window_of(10 * S, S, 1), &receiver, NULL);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_clock_advance(scheduler, START + S,
                                                         SELENE_ADVANCE_HANDLERS, 20 * MS, &next));
    CHECK_INT(-7, next);
    CHECK_INT(START, present(scheduler));
    atomic_store(&gate, 1);
    finished_by(scheduler, START + S);
    CHECK_INT(START + S, present(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    scheduler = open_real();
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_clock_advance(scheduler, START, 0, 0, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* A window on a store: its report waits for what is stored, not for time. */
static void test_store(void) {
    selene_options options = stored_options(file_named("store"));
    selene_scheduler scheduler = open_told_with(options);
    struct work work = {.behaviour = COMPLETE};
    int64_t before;
    selene_task task = task_of("a");
    add_handler(scheduler, "a", &work);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = H;
    add(scheduler, task);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    finished_by(scheduler, START + SELENE_DAY);
    CHECK_BETWEEN(24, atomic_load(&work.returned), 25);
    before = record(scheduler, "a").last_run;
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    options.flags |= SELENE_OPTIONS_SET_CLOCK;
    options.clock_start = START + SELENE_DAY;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_INT(before, record(scheduler, "a").last_run);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* A handler that makes no progress is asked to stop at its limit, and is over at the end of its grace. */
static void test_stall(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    selene_task task = task_of("a");
    add_handler(scheduler, "a", &work);
    task.stall_limit = 30 * S;
    add(scheduler, task);
    push_async(scheduler, window_of(H, S, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    CHECK_INT(START + 30 * S, still(scheduler));
    reach(scheduler, START + 30 * S - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(scheduler, START + 30 * S);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_STALLED, atomic_load(&work.reason));
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("B3 a report comes a nanosecond behind its deadline, on a clock that is told",
             test_deadline);
    run_test("B3 a driver wakes at the instant at which a task is due", test_driver);
    run_test("B3 a driver's week passes, each run at its instant", test_week);
    run_test("B3 a thread of the host waits in a lane", test_lane);
    run_test("B3 a handler sleeps on the clock of its scheduler", test_sleep);
    run_test("B3 a drain lasts as long as its grace on the clock that is told", test_drain);
    run_test("B3 so does a close, which asks to stop in its last tenth", test_close);
    run_test("B3 a handler at work keeps time from going on, where that is asked for", test_busy);
    run_test("B3 a store at work is waited for", test_store);
    run_test("B3 a stall limit is exact", test_stall);
    return check_end();
}
