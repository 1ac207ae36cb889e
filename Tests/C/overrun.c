/*
 * overrun.c - a handler that does not end with its window, in windows of the host and of the driver, of both kinds: the
 * report is on time, what waits says why, others go on, and once the handler is back all is as before (C7, C8)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

/** A window, and the time in which a handler that listens can hear that it is to stop, and complete. */
#define BUDGET (20 * S)
#define RESERVE (10 * S)
/** When a handler that returns late does so. */
#define LATER (START + MIN)

enum way { OF_HOST, OF_DRIVER, WAYS };
enum manner { LISTENS, RETURNS_LATE, NEVER_RETURNS, MANNERS };

static const char *const way_names[WAYS] = {"a window of the host", "the driver"};
static const char *const manner_names[MANNERS] = {"listens", "returns late", "does not return"};

/** What the test that runs in this process is about. */
static enum way way;
static enum manner manner;
static int32_t kind;

static selene_task task_named(const char *id) {
    selene_task task = once_of(id);
    task.kind = kind;
    task.backoff = SELENE_BACKOFF_NONE;
    return task;
}

/** Opens the window in which the handler overruns, at START. */
static void open_window(selene_scheduler scheduler, struct runner *runner) {
    selene_driver driver = SELENE_INIT(selene_driver);
    if (way == OF_HOST) {
        selene_window window = window_of(BUDGET, RESERVE, 2);
        window.kinds = (uint32_t)kind;
        start_runner(runner, scheduler, window);
    } else {
        driver.refresh_budget = driver.processing_budget = BUDGET;
        driver.reserve = RESERVE;
        driver.refresh_lanes = driver.processing_lanes = 2;
        CHECK_OK(selene_driver_start(scheduler, &driver));
    }
}

/** A window of the host now, or as much time as the driver needs, until a task has succeeded. */
static void let_run(selene_scheduler scheduler, const char *id) {
    const int64_t limit = present(scheduler) + H;
    if (way == OF_HOST) {
        selene_window window = window_of(BUDGET, -1, 2);
        window.kinds = (uint32_t)kind;
        selene_free(push(scheduler, window));
    }
    while (record(scheduler, id).state != SELENE_STATE_SUCCEEDED && present(scheduler) < limit)
        finished_by(scheduler, present(scheduler) + S);
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, id).state);
}

/** A task that is registered now runs: nothing holds it up. */
static void others_go_on(selene_scheduler scheduler, const char *id, struct work *work) {
    add_handler(scheduler, id, work);
    add(scheduler, task_named(id));
    let_run(scheduler, id);
    CHECK_INT(1, atomic_load(&work->started));
}

static void return_later(struct work *work, selene_run run, const selene_run_info *info) {
    (void)info;
    WAIT_UNTIL(present(work->scheduler) >= LATER);
    complete_twice(work, run);
}

static void test_overrun(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work late = {.behaviour = manner == LISTENS        ? UNTIL_STOPPED
                                     : manner == RETURNS_LATE ? ASK
                                                              : GATE,
                        .ask = return_later};
    struct work good = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE}, last = other;
    struct runner runner;
    int overruns_on_time = manner != LISTENS;
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    scheduler = open_told_with(options);
    observe(scheduler);
    add_handler(scheduler, "late", &late);
    add_handler(scheduler, "good", &good);
    add(scheduler, task_named("late"));
    add(scheduler, task_named("good"));
    open_window(scheduler, &runner);
    wait_for("the handler", &late.started, 1);
    wait_for("its neighbour", &good.returned, 1);
    reach(scheduler, START + BUDGET - RESERVE - 1);
    CHECK_INT(0, count_events(0, SELENE_EVENT_STOPPED, -1));
    CHECK_INT(0, atomic_load(&late.stopped));
    reach(scheduler, START + BUDGET - RESERVE);
    CHECK_INT(1, count_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_EXPIRING));
    CHECK_INT(1, atomic_load(&late.stopped));
    if (overruns_on_time) {
        reach(scheduler, START + BUDGET);
        CHECK_INT(0, count_events(0, SELENE_EVENT_CYCLE_ENDED, -1));
        reach(scheduler, START + BUDGET + 1);
    } else {
        finished(scheduler);
    }
    CHECK_INT(1, count_events(0, SELENE_EVENT_CYCLE_ENDED, -1));
    if (way == OF_HOST) {
        selene_report *report = join_runner(&runner);
        CHECK_INT(2, report->run_count);
        CHECK_INT(overruns_on_time ? 1 : 0, report->expired);
        selene_free(report);
    }
    CHECK_INT(1, atomic_load(&late.stopped));
    if (overruns_on_time) {
        CHECK_INT(1, overruns(scheduler));
        CHECK_INT(SELENE_REASON_STILL_RUNNING,
                  why(scheduler, "late", SELENE_REASON_STILL_RUNNING).reason);
    }
    others_go_on(scheduler, "other", &other);
    late.behaviour = COMPLETE;
    atomic_store(&gate, 1);
    if (manner == RETURNS_LATE) reach(scheduler, LATER);
    wait_for("its return", &late.returned, 1);
    wait_for_overruns(scheduler, 0);
    if (overruns_on_time && way == OF_HOST)
        CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&late.first_status));
    if (overruns_on_time) let_run(scheduler, "late");
    CHECK_INT(overruns_on_time ? 2 : 1, atomic_load(&late.started));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "late").state);
    others_go_on(scheduler, "last", &last);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    static const int32_t kinds[] = {REFRESH, PROCESSING};
    static char names[MANNERS * 2][200];
    pid_t children[COUNT(names)];
    check_begin(argc, argv);
    for (way = 0; way < WAYS; way++) {
        size_t count = 0;
        for (manner = 0; manner < MANNERS; manner++)
            for (size_t k = 0; k < COUNT(kinds); k++, count++) {
                kind = kinds[k];
                snprintf(names[count], sizeof names[count], "C7 C8 R4 a %s handler that %s in %s",
                         selene_name(SELENE_NAMES_KIND, kind), manner_names[manner],
                         way_names[way]);
                children[count] = begin_test(names[count], test_overrun);
            }
        for (size_t i = 0; i < count; i++)
            await_test(names[i], children[i]);
    }
    return check_end();
}
