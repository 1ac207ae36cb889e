/*
 * overrun.c - a handler that does not end with its window, in windows of the host and of the driver, of both kinds: the
 * report is on time, what waits says why, others go on, and once the handler is back all is as before (C7, C8)
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

/** Time in which a handler that listens can hear that it is to stop, and complete. */
#define RESERVE ROOM

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

/** Opens the window in which the handler overruns; answers when its report is due. */
static int64_t open_window(selene_scheduler scheduler, struct runner *runner) {
    selene_driver driver = SELENE_DRIVER_INIT;
    if (way == OF_HOST) {
        selene_window window = window_of(ROOM + RESERVE, RESERVE, 2);
        window.kinds = (uint32_t)kind;
        start_runner(runner, scheduler, window);
    } else {
        driver.refresh_budget = driver.processing_budget = ROOM + RESERVE;
        driver.reserve = RESERVE;
        driver.refresh_lanes = driver.processing_lanes = 2;
        CHECK_OK(selene_driver_start(scheduler, &driver));
    }
    return check_now() + ROOM + RESERVE;
}

/** A task that is registered now runs: nothing holds it up. */
static void others_go_on(selene_scheduler scheduler, const char *id, struct work *work) {
    add_handler(scheduler, id, work);
    add(scheduler, task_named(id));
    if (way == OF_HOST) {
        selene_window window = window_of(ROOM, -1, 2);
        window.kinds = (uint32_t)kind;
        selene_report_destroy(push(scheduler, window));
    }
    wait_for("the other", &work->started, 1);
    wait_for_state(scheduler, id, SELENE_STATE_SUCCEEDED);
}

static void test_overrun(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    struct work late = {.behaviour = manner == LISTENS        ? UNTIL_STOPPED
                                     : manner == RETURNS_LATE ? SLEEP
                                                              : GATE,
                        .duration = 2 * ROOM + RESERVE};
    struct work good = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE}, last = other;
    struct runner runner;
    int64_t due;
    int overruns_on_time = manner != LISTENS;
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    observe(scheduler);
    add_handler(scheduler, "late", &late);
    add_handler(scheduler, "good", &good);
    add(scheduler, task_named("late"));
    add(scheduler, task_named("good"));
    due = open_window(scheduler, &runner);
    wait_for("the handler", &late.started, 1);
    wait_for("its neighbour", &good.started, 1);
    wait_for_events(0, SELENE_EVENT_CYCLE_ENDED, -1, 1);
    CHECK_BETWEEN(0, check_now(), due + LATE);
    if (way == OF_HOST) {
        selene_report *report = join_runner(&runner);
        CHECK_INT(2, report->run_count);
        CHECK_INT(overruns_on_time ? 1 : 0, report->expired);
        selene_report_destroy(report);
    }
    CHECK_INT(1, count_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_EXPIRING));
    wait_for("its stop", &late.stopped, 1);
    CHECK_INT(1, atomic_load(&late.stopped));
    if (overruns_on_time) {
        CHECK_INT(1, overruns(scheduler));
        CHECK_INT(SELENE_REASON_STILL_RUNNING,
                  why(scheduler, "late", SELENE_REASON_STILL_RUNNING).reason);
    }
    others_go_on(scheduler, "other", &other);
    late.behaviour = COMPLETE;
    atomic_store(&gate, 1);
    wait_for("its return", &late.returned, 1);
    wait_for_overruns(scheduler, 0);
    if (overruns_on_time) {
        if (way == OF_HOST) {
            CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&late.first_status));
            selene_window window = window_of(ROOM, -1, 2);
            window.kinds = (uint32_t)kind;
            selene_report_destroy(push(scheduler, window));
        }
        wait_for("another try", &late.started, 2);
    }
    wait_for_state(scheduler, "late", SELENE_STATE_SUCCEEDED);
    others_go_on(scheduler, "last", &last);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    static const int32_t kinds[] = {REFRESH, PROCESSING};
    static char names[MANNERS * 2][200];
    pid_t children[COUNT(names)];
    check_begin(argc, argv);
    /* Those of one way at once: all of them would hold each other up where all is slow. */
    for (way = 0; way < WAYS; way++) {
        size_t count = 0;
        for (manner = 0; manner < MANNERS; manner++)
            for (size_t k = 0; k < COUNT(kinds); k++, count++) {
                kind = kinds[k];
                snprintf(names[count], sizeof names[count], "C7 C8 R4 a %s handler that %s in %s",
                         selene_kind_name(kind), manner_names[manner], way_names[way]);
                children[count] = begin_test(names[count], test_overrun);
            }
        for (size_t i = 0; i < count; i++)
            await_test(names[i], children[i]);
    }
    return check_end();
}
