/*
 * told.c - threads of the library follow a clock that is told (B3)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#include <poll.h>
#include <sys/resource.h>

/** Waits for the host: for handlers, and for runs that go on without theirs. */
#define RUNS (SELENE_ADVANCE_HANDLERS | SELENE_ADVANCE_RUNS)

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

/* How often threads go to sleep in a week of hourly runs; beside a run in flight the lanes stay in their window. */
static long sleeps_of_week(uint32_t lanes, int beside) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE}, long_work = {.behaviour = GATE};
    selene_task task = task_of("a");
    selene_driver terms = SELENE_INIT(selene_driver);
    struct rusage before, after;
    add_handler(scheduler, "a", &work);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = H;
    add(scheduler, task);
    atomic_store(&gate, 0);
    if (beside) {
        add_handler(scheduler, "long", &long_work);
        add(scheduler, once_of("long"));
    }
    terms.refresh_lanes = lanes;
    CHECK_OK(selene_driver_start(scheduler, &terms));
    if (beside) wait_for("the handler", &long_work.started, 1);
    getrusage(RUSAGE_SELF, &before);
    for (int hour = 1; hour <= 7 * 24; hour++) {
        reach(scheduler, START + hour * H);
        wait_for("a run", &work.returned, hour);
    }
    getrusage(RUSAGE_SELF, &after);
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    return after.ru_nvcsw - before.ru_nvcsw;
}

static void test_idle_lanes(void) {
    for (int beside = 0; beside < 2; beside++) {
        long few = sleeps_of_week(4, beside), many = sleeps_of_week(64, beside);
        printf("%s: %ld with 4 lanes, %ld with 64\n", beside ? "beside a run" : "alone", few, many);
        CHECK(many < 3 * few);
    }
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
    selene_run_info info = SELENE_INIT(selene_run_info);
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
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    selene_lane lane = 0;
    int32_t step = -1;
    window.flags = SELENE_WINDOW_LANES;
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
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, H));
}

static void *report_main(void *argument) {
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_wait(*(selene_cycle *)argument, SELENE_NEVER, &report, NULL));
    CHECK(report != NULL);
    CHECK_INT(1, report->new_data);
    selene_free(report);
    return NULL;
}

/** Takes a run through a lane of its own, and works on it for ten seconds of its clock. */
static void *sleep_main(void *argument) {
    struct lane_thread *own = argument;
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_lane lane = 0;
    int32_t step = -1, reason = -1;
    CHECK_OK(selene_lane_open(own->cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, SELENE_NEVER, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_sleep(info.run, 10 * S, &reason));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NEW_DATA, SELENE_NEVER, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_lane_close(lane));
    return NULL;
}

/** A lane that is open and does not ask yet has its thread between two calls: it may find a run. */
static void test_idle_lane(void) {
    selene_scheduler scheduler = open_told();
    selene_window window = window_of(60 * S, 0, 2);
    struct lane_thread other = {.scheduler = scheduler};
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_lane lane = 0;
    int32_t step = -1;
    window.flags = SELENE_WINDOW_LANES;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("a"));
    CHECK_OK(selene_cycle_begin(scheduler, &window, &other.cycle));
    CHECK_INT(0, pthread_create(&other.thread, NULL, sleep_main, &other));
    /* Without one time goes on beside the handler, which waits for it. */
    WAIT_UNTIL(selene_clock_advance(scheduler, START + S, SELENE_ADVANCE_HANDLERS, 5 * MS, NULL) ==
               SELENE_OK);
    CHECK_OK(selene_lane_open(other.cycle, &lane));
    for (int i = 0; i < 20; i++)
        CHECK_STATUS(SELENE_ERROR_BUSY, selene_clock_advance(scheduler, START + 2 * S,
                                                             SELENE_ADVANCE_HANDLERS, MS, NULL));
    CHECK_INT(START + S, present(scheduler));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_WAIT, step);
    CHECK_OK(selene_lane_close(lane));
    reach(scheduler, START + 10 * S);
    CHECK_INT(0, pthread_join(other.thread, NULL));
    CHECK_OK(selene_cycle_end(other.cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* One thread waits for the report; the one that is to be its lane comes when it likes. */
static void test_first_lane(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    selene_window window = window_of(60 * S, 0, 1);
    struct lane_thread lane = {.scheduler = scheduler};
    pthread_t reporting;
    window.flags = SELENE_WINDOW_LANES;
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_cycle_begin(scheduler, &window, &lane.cycle));
    CHECK_INT(0, pthread_create(&reporting, NULL, report_main, &lane.cycle));
    for (int i = 0; i < 20; i++)
        CHECK_STATUS(
            SELENE_ERROR_BUSY,
            selene_clock_advance(scheduler, START + 60 * S, SELENE_ADVANCE_HANDLERS, 5 * MS, NULL));
    CHECK_INT(START, present(scheduler));
    CHECK_INT(0, pthread_create(&lane.thread, NULL, lane_main, &lane));
    CHECK_INT(0, pthread_join(lane.thread, NULL));
    CHECK_INT(0, pthread_join(reporting, NULL));
    finished_by(scheduler, START + 60 * S);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
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

/* A drain lasts as long as its grace says, on the clock that is told. */
static void test_drain(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    struct closer closer = {0};
    add_work(scheduler, "stuck", &work);
    push_async(scheduler, window_of(2 * H, S, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    start_closer(&closer, scheduler, selene_scheduler_drain, H);
    /* The grace begins when the call does, which this thread sees by what is due next. */
    WAIT_UNTIL(still(scheduler) == START + H);
    reach(scheduler, START + H - 1);
    CHECK_INT(0, atomic_load(&closer.done));
    CHECK_OK(selene_clock_set(scheduler, START + H));
    CHECK_STATUS(SELENE_ERROR_BUSY, join_closer(&closer));
    CHECK_OK(selene_scheduler_resume(scheduler));
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_close(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    struct closer closer = {0};
    add_work(scheduler, "stuck", &work);
    push_async(scheduler, window_of(2 * H, S, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    start_closer(&closer, scheduler, selene_scheduler_close, 50 * S);
    /* Its last tenth is for who is asked to stop. */
    WAIT_UNTIL(still(scheduler) == START + 45 * S);
    reach(scheduler, START + 45 * S - 1);
    CHECK_INT(0, atomic_load(&work.stopped));
    reach(scheduler, START + 45 * S);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(0, atomic_load(&closer.done));
    CHECK_OK(selene_clock_set(scheduler, START + 50 * S));
    CHECK_STATUS(SELENE_OK, join_closer(&closer));
    CHECK_INT(0, atomic_load(&work.returned));
    CHECK_INT(1, atomic_load(&receiver.calls));
    atomic_store(&gate, 1);
    wait_for("the end of the handler", &work.destroyed, 1);
    wait_for("the end of the receiver", &receiver.destroyed, 1);
}

/* ---- sleeps that end early ------------------------------------------------------------- */

static atomic_int sleepers_begun, sleepers_done;
static int32_t sleep_reason;
static selene_status sleep_status;

static void long_sleeper(selene_run run, const selene_run_info *info, void *context) {
    struct work *work = context;
    (void)info;
    atomic_store(&work->run, run);
    atomic_fetch_add(&sleepers_begun, 1);
    sleep_status = selene_run_sleep(run, SELENE_NEVER, &sleep_reason);
    (void)selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
    atomic_fetch_add(&sleepers_done, 1);
}

static selene_cycle begin_long_sleep(selene_scheduler scheduler, struct work *work,
                                     struct receiver *receiver) {
    selene_window window = window_of(4 * H, S, 1);
    selene_cycle cycle;
    atomic_store(&sleepers_begun, 0);
    atomic_store(&sleepers_done, 0);
    sleep_reason = -1;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, long_sleeper, NULL, work, NULL));
    add(scheduler, once_of("a"));
    window.kinds = SELENE_KIND_PROCESSING;
    cycle = push_async(scheduler, window, receiver, NULL);
    wait_for("the handler", &sleepers_begun, 1);
    return cycle;
}

/* What ends a run wakes the thread that sleeps for it, whatever the clock is. */
static void end_sleeps(selene_scheduler (*open)(void)) {
    for (int how = 0; how < 4; how++) {
        selene_scheduler scheduler = open();
        struct work work = {0};
        struct receiver receiver = {0};
        const selene_cycle cycle = begin_long_sleep(scheduler, &work, &receiver);
        if (how == 0) CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
        if (how == 1) CHECK_OK(selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NO_DATA));
        if (how == 2) CHECK_OK(selene_cycle_end(cycle, NULL));
        if (how == 3) CHECK_OK(selene_scheduler_close(scheduler, 0));
        wait_for("the end of the sleep", &sleepers_done, 1);
        if (how == 0) CHECK_INT(SELENE_STOP_CANCELLED, sleep_reason);
        if (how == 1) CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, sleep_status);
        if (how != 3) CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    }
}

static void test_sleep_ends(void) {
    end_sleeps(open_told);
    end_sleeps(open_real);
}

static void *sleep_too(void *argument) {
    struct work *work = argument;
    int32_t reason = -1;
    (void)selene_run_sleep(atomic_load(&work->run), H, &reason);
    return NULL;
}

/* Two threads sleep for one run; the handler of another is at work all the same, and is named. */
static void test_two_sleepers(void) {
    selene_scheduler scheduler = open_told();
    struct work sleeping = {0}, stuck = {.behaviour = GATE};
    struct receiver receiver = {0}, other = {0};
    pthread_t thread;
    begin_long_sleep(scheduler, &sleeping, &receiver);
    CHECK_INT(0, pthread_create(&thread, NULL, sleep_too, &sleeping));
    WAIT_UNTIL(still(scheduler) == START + H);
    add_handler(scheduler, "sync", &stuck);
    selene_task task = task_of("nightly");
    task.handler = SELENE_TEXT("sync");
    add(scheduler, task);
    push_async(scheduler, window_of(2 * H, S, 1), &other, NULL);
    wait_for("the handler", &stuck.started, 1);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_clock_advance(scheduler, START + S,
                                                         SELENE_ADVANCE_HANDLERS, 20 * MS, NULL));
    CHECK_STRING("still at work: \"nightly\" in the handler \"sync\"",
                 selene_error_last()->message.data);
    atomic_store(&gate, 1);
    finished(scheduler);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* The thread of an inline cycle sleeps in its handler. */
static void *run_window_inline(void *argument) {
    selene_window window = window_of(2 * H, S, 1);
    window.kinds = PROCESSING;
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(*(selene_scheduler *)argument, &window, NULL));
    return NULL;
}

static void test_inline_sleep(void) {
    selene_scheduler scheduler = sleepers_scheduler = open_told();
    pthread_t thread;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, sleeper, NULL, NULL, NULL));
    add(scheduler, once_of("a"));
    CHECK_INT(0, pthread_create(&thread, NULL, run_window_inline, &scheduler));
    WAIT_UNTIL(still(scheduler) == START + 10 * S);
    finished_by(scheduler, START + H);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(START + 10 * S, atomic_load(&slept_until[0]));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "a").state);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- runs that go on without their handler ----------------------------------------------- */

/** Advances on a thread of its own, until runs are done, too. */
struct advancer {
    selene_scheduler scheduler;
    int64_t to, next;
    selene_status status;
    atomic_int done;
    pthread_t thread;
};

static void *advancer_main(void *argument) {
    struct advancer *own = argument;
    own->status = selene_clock_advance(own->scheduler, own->to, RUNS, PATIENCE, &own->next);
    atomic_store(&own->done, 1);
    return NULL;
}

static void start_advancer(struct advancer *own, selene_scheduler scheduler, int64_t to) {
    own->scheduler = scheduler;
    own->to = to;
    CHECK_INT(0, pthread_create(&own->thread, NULL, advancer_main, own));
}

static int64_t join_advancer(struct advancer *own) {
    CHECK_INT(0, pthread_join(own->thread, NULL));
    CHECK_STATUS(SELENE_OK, own->status);
    return own->next;
}

/* A handler that only starts something: without the flag its run keeps nothing from going on. */
static void test_open_run(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = NEVER};
    struct receiver receiver = {0};
    struct advancer advancer = {0};
    add_handler(scheduler, "async", &work);
    selene_task task = task_of("nightly");
    task.handler = SELENE_TEXT("async");
    add(scheduler, task);
    push_async(scheduler, window_of(H, S, 1), &receiver, NULL);
    CHECK_INT(START + H - S, finished_by(scheduler, START + S));
    CHECK_INT(1, atomic_load(&work.returned));
    CHECK_STATUS(SELENE_ERROR_BUSY,
                 selene_clock_advance(scheduler, START + 9 * S, RUNS, 5 * MS, NULL));
    CHECK_STRING("still at work: \"nightly\" in the handler \"async\"",
                 selene_error_last()->message.data);
    CHECK_INT(START + S, present(scheduler));
    start_advancer(&advancer, scheduler, START + 9 * S);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(START + S, present(scheduler));
        CHECK_INT(0, atomic_load(&advancer.done));
        sched_yield();
    }
    CHECK_OK(selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NEW_DATA));
    join_advancer(&advancer);
    CHECK_INT(START + 9 * S, present(scheduler));
    CHECK_INT(START + S, record(scheduler, "nightly").last_run);
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static struct {
    atomic_int begun;
    int32_t reason[2];
    _Atomic int64_t until[2];
} going_on;

/* Sleeps on a thread of its own, twice, and completes the run. */
static void *go_on(void *argument) {
    struct work *work = argument;
    const selene_run run = atomic_load(&work->run);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(selene_run_sleep(run, 10 * S, &going_on.reason[i]));
        atomic_store(&going_on.until[i], present(work->scheduler));
    }
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    return NULL;
}

static void begin_to_go_on(struct work *work, selene_run run, const selene_run_info *info) {
    (void)run;
    (void)info;
    atomic_fetch_add(&going_on.begun, 1);
    CHECK_INT(0, pthread_create(&work->helper, NULL, go_on, work));
}

static void test_open_run_sleeps(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = begin_to_go_on};
    selene_task task = task_of("a");
    int64_t next = -7;
    add_handler(scheduler, "a", &work);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = H;
    add(scheduler, task);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    CHECK_OK(selene_clock_advance(scheduler, START + 10 * S - 1, RUNS, PATIENCE, &next));
    CHECK_INT(START + 10 * S, next);
    CHECK_INT(1, atomic_load(&going_on.begun));
    CHECK_INT(0, atomic_load(&going_on.until[0]));
    CHECK_OK(selene_clock_advance(scheduler, START + 10 * S, RUNS, PATIENCE, &next));
    CHECK_INT(START + 20 * S, next);
    CHECK_INT(START + 10 * S, atomic_load(&going_on.until[0]));
    CHECK_OK(selene_clock_advance(scheduler, START + 20 * S, RUNS, PATIENCE, &next));
    CHECK_INT(START + 20 * S, atomic_load(&going_on.until[1]));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_INT(0, pthread_join(work.helper, NULL));
    CHECK_INT(SELENE_STOP_NONE, going_on.reason[0]);
    CHECK_INT(SELENE_STOP_NONE, going_on.reason[1]);
    /* A period counts from the end of the run before. */
    CHECK_INT(START + 20 * S + H, next);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* What is over, and what the host pulled, is not waited for; a handler is. */
static void test_other_runs(void) {
    selene_scheduler scheduler = open_told();
    struct work lost = {.behaviour = NEVER}, stuck = {.behaviour = COMPLETE_GATE};
    struct receiver receiver = {0}, other = {0};
    selene_window window = window_of(10 * S, S, 1);
    selene_cycle cycle;
    selene_run run;
    add_work(scheduler, "lost", &lost);
    push_async(scheduler, window, &receiver, NULL);
    wait_for("the end of the handler", &lost.returned, 1);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_clock_advance(scheduler, START, RUNS, 5 * MS, NULL));
    CHECK_OK(selene_clock_set(scheduler, START + 10 * S + 1));
    CHECK_OK(selene_clock_advance(scheduler, START + 20 * S, RUNS, PATIENCE, NULL));
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(1, receiver.expired);
    CHECK_OK(selene_task_cancel(scheduler, "lost", -1, NULL));
    CHECK_OK(selene_handler_register(scheduler, "pulled", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("pulled"));
    cycle = begin(scheduler, window);
    run = next(cycle, "pulled");
    CHECK_OK(selene_clock_advance(scheduler, START + 21 * S, RUNS, PATIENCE, NULL));
    complete(run);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_task_cancel(scheduler, "pulled", -1, NULL));
    add_work(scheduler, "stuck", &stuck);
    push_async(scheduler, window, &other, NULL);
    wait_for("the handler", &stuck.started, 1);
    CHECK_STATUS(SELENE_ERROR_BUSY,
                 selene_clock_advance(scheduler, START + 22 * S, RUNS, 5 * MS, NULL));
    atomic_store(&gate, 1);
    CHECK_OK(selene_clock_advance(scheduler, START + 22 * S, RUNS, PATIENCE, NULL));
    CHECK_INT(1, atomic_load(&stuck.returned));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- wrong calls ------------------------------------------------------------------------ */

static atomic_int refused_in_handler, refused_in_observer;

static void advance_in_handler(struct work *work, selene_run run, const selene_run_info *info) {
    int64_t next = -7;
    (void)info;
    CHECK_STATUS(SELENE_ERROR_REENTRANT,
                 selene_clock_advance(work->scheduler, START + S, 0, PATIENCE, &next));
    CHECK_INT(-7, next);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    atomic_fetch_add(&refused_in_handler, 1);
}

static void sleep_in_observer(const selene_event *event, void *context) {
    int32_t reason = -7;
    (void)context;
    if (event->type != SELENE_EVENT_STARTED) return;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_run_sleep(event->run, S, &reason));
    CHECK_INT(-7, reason);
    atomic_fetch_add(&refused_in_observer, 1);
}

static void test_wrong_calls(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = ASK, .ask = advance_in_handler};
    const selene_status invalid = SELENE_ERROR_INVALID_ARGUMENT;
    selene_window window = window_of(H, 0, 1);
    selene_cycle cycle;
    selene_run run;
    int64_t due = -7;
    int32_t reason = -7;
    CHECK_STATUS(invalid, selene_clock_advance(scheduler, START + H, 8, PATIENCE, &due));
    CHECK_STATUS(invalid, selene_clock_advance(scheduler, START + H, UINT32_MAX, PATIENCE, &due));
    CHECK_STATUS(invalid, selene_clock_advance(scheduler, START + H, 0, -1, &due));
    CHECK_INT(-7, due);
    CHECK_INT(START, present(scheduler));
    /* The past, and NEVER where nothing is due: the call only waits. */
    CHECK_OK(selene_clock_advance(scheduler, INT64_MIN, 0, 0, &due));
    CHECK_OK(selene_clock_advance(scheduler, START - H, 0, 0, NULL));
    CHECK_OK(selene_clock_advance(scheduler, SELENE_NEVER, 7, INT64_MAX, &due));
    CHECK_INT(SELENE_NEVER, due);
    CHECK_INT(START, present(scheduler));
    CHECK_OK(selene_scheduler_observe(scheduler, sleep_in_observer, NULL, NULL));
    add_work(scheduler, "a", &work);
    selene_free(push(scheduler, window));
    CHECK_INT(1, atomic_load(&refused_in_handler));
    finished(scheduler);
    CHECK_INT(1, atomic_load(&refused_in_observer));
    CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    add(scheduler, task_of("pulled"));
    CHECK_OK(selene_handler_register(scheduler, "pulled", -1, NULL, NULL, NULL, NULL));
    cycle = begin(scheduler, window);
    run = next(cycle, "pulled");
    CHECK_STATUS(invalid, selene_run_sleep(run, -1, &reason));
    CHECK_STATUS(invalid, selene_run_sleep(run, INT64_MIN, &reason));
    CHECK_STATUS(invalid, selene_run_sleep(run, S, NULL));
    CHECK_INT(-7, reason);
    CHECK_OK(selene_run_sleep(run, 0, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE,
                 selene_clock_advance(cycle, START + H, 0, PATIENCE, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_sleep(scheduler, 0, &reason));
    complete(run);
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_sleep(run, 0, &reason));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE,
                 selene_clock_advance(scheduler, START + H, 0, PATIENCE, NULL));
    /* A clock that is asked. */
    scheduler = open_plain();
    CHECK_OK(selene_handler_register(scheduler, "pulled", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("pulled"));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_clock_advance(scheduler, START, 0, 0, NULL));
    cycle = begin(scheduler, window);
    run = next(cycle, "pulled");
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_run_sleep(run, 0, &reason));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static struct {
    selene_scheduler scheduler;
    selene_status status;
    atomic_int begun;
} advancing;

static void *advance_for_ever(void *argument) {
    (void)argument;
    atomic_store(&advancing.begun, 1);
    advancing.status = selene_clock_advance(advancing.scheduler, START + S, SELENE_ADVANCE_HANDLERS,
                                            SELENE_NEVER, NULL);
    return NULL;
}

/* A scheduler that is closed lets go who waits for it to be still. */
static void test_advance_closed(void) {
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    pthread_t thread;
    advancing.scheduler = open_told();
    add_work(advancing.scheduler, "stuck", &work);
    push_async(advancing.scheduler, window_of(10 * S, S, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    CHECK_INT(0, pthread_create(&thread, NULL, advance_for_ever, NULL));
    wait_for("the thread", &advancing.begun, 1);
    CHECK_OK(selene_scheduler_close(advancing.scheduler, 0));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, advancing.status);
    atomic_store(&gate, 1);
    wait_for("the end of the handler", &work.destroyed, 1);
    wait_for("the end of the receiver", &receiver.destroyed, 1);
}

/* Without threads of the library the host's clock goes on, too, and what is due is told on this thread. */
static void test_no_threads(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_window window = window_of(10 * S, S, 1);
    struct work work = {.behaviour = NEVER};
    selene_scheduler scheduler;
    options.flags |= SELENE_OPTIONS_NO_THREADS;
    scheduler = open_told_with(options);
    add_work(scheduler, "a", &work);
    selene_cycle cycle = begin(scheduler, window);
    selene_run run = next(cycle, "a");
    CHECK_INT(START + 9 * S, finished(scheduler));
    CHECK_INT(START + 10 * S + 1, finished_by(scheduler, START + 9 * S));
    CHECK_INT(1, atomic_load(&work.stopped));
    finished_by(scheduler, START + H);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(START + H, present(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- what is not still ------------------------------------------------------------------- */

static void test_busy(void) {
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    int64_t next = -7;
    add_work(scheduler, "stuck", &work);
    push_async(scheduler, window_of(10 * S, S, 1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_clock_advance(scheduler, START + S,
                                                         SELENE_ADVANCE_HANDLERS, 20 * MS, &next));
    CHECK_STRING("still at work: \"stuck\" in the handler \"stuck\"",
                 selene_error_last()->message.data);
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

/* Beside a run at work lanes wait on a store as in memory: nothing is written, so none wakes the others. */
static void test_lanes_on_store(void) {
    selene_options options = stored_options(file_named("lanes"));
    selene_scheduler scheduler = open_told_with(options);
    selene_window window = window_of(2 * H, S, 5);
    struct lane_thread others[4];
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_lane lane = 0;
    selene_cycle cycle = 0;
    int32_t step = -1;
    window.flags = SELENE_WINDOW_LANES;
    window.kinds = PROCESSING;
    CHECK_OK(selene_handler_register(scheduler, "now", -1, NULL, NULL, NULL, NULL));
    add(scheduler, once_of("now"));
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    for (int i = 0; i < 4; i++) {
        others[i] = (struct lane_thread){.scheduler = scheduler, .cycle = cycle};
        CHECK_INT(0, pthread_create(&others[i].thread, NULL, lane_main, &others[i]));
    }
    int64_t due = still(scheduler);
    for (int i = 1; i <= 20; i++)
        CHECK_INT(due, reach(scheduler, START + i * S));
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_lane_close(lane));
    for (int i = 0; i < 4; i++)
        CHECK_INT(0, pthread_join(others[i].thread, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, H));
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
    run_test("V22 threads wake for a run with 64 lanes as often as with 4", test_idle_lanes);
    run_test("B3 a thread of the host waits in a lane", test_lane);
    run_test("B3 a window that waits for its first lane keeps time from going on", test_first_lane);
    run_test("B3 a lane that is about to ask keeps time from going on", test_idle_lane);
    run_test("B3 a handler sleeps on the clock of its scheduler", test_sleep);
    run_test("B3 a drain lasts as long as its grace on the clock that is told", test_drain);
    run_test("B3 so does a close, which asks to stop in its last tenth", test_close);
    run_test("B3 a handler at work keeps time from going on, where that is asked for", test_busy);
    run_test("B3 a store at work is waited for", test_store);
    run_test("V22 B3 idle lanes of a host rest on a store, too", test_lanes_on_store);
    run_test("B3 a stall limit is exact", test_stall);
    run_test("B3 a sleep ends with its run", test_sleep_ends);
    run_test("B3 a handler at work is not hidden by two threads that sleep for another run",
             test_two_sleepers);
    run_test("B3 the handler of an inline cycle sleeps", test_inline_sleep);
    run_test(
        "B3 a run that goes on when its handler has returned is waited for where that is asked for",
        test_open_run);
    run_test("B3 so it is between two times for which it sleeps", test_open_run_sleeps);
    run_test("B3 a run that is over, or was pulled, is not waited for", test_other_runs);
    run_test("B3 wrong calls of advance and sleep are refused and change nothing",
             test_wrong_calls);
    run_test("B3 a close lets go a thread that advances the clock", test_advance_closed);
    run_test("B3 without threads of the library the clock is advanced, too", test_no_threads);
    return check_end();
}
