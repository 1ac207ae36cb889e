/*
 * cycles.h - the host of the tests of cycles: its clock, handlers that behave in every way, windows, what it is told
 *
 * A test tells the time: as a host clock that is asked (open_virtual), or as one that is set, which threads follow (told.h).
 * What is on the system's clock all the same (open_real) waits for what happens, and judges no upper bound of time: any
 * thread may be held up at any point.
 */
#ifndef CYCLES_H
#define CYCLES_H

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#define MS SELENE_MILLISECOND
#define S SELENE_SECOND
/** For a window that ends by itself, and for a close of handlers that return by themselves: a test that waits in vain hangs. */
#define AMPLE SELENE_HOUR
#define GRACE SELENE_HOUR
/** For handlers that return only when they are asked to: a test waits for their end behind the close, and does not care
 *  whether they end within it. */
#define BRIEF (100 * MS)
#define BOTH (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)
#define START (INT64_C(1000000) * S)

/* ---- clocks and schedulers ---------------------------------------------------- */

CHECK_UNUSED static _Atomic int64_t clock_now = START;

CHECK_UNUSED static int64_t host_clock(void *context) {
    (void)context;
    return atomic_load(&clock_now);
}

CHECK_UNUSED static void advance(int64_t duration) {
    atomic_fetch_add(&clock_now, duration);
}

/** A scheduler on the host's clock, which asks the system nothing: all constraints are satisfied until a test says otherwise. */
CHECK_UNUSED static selene_scheduler open_virtual(selene_options options) {
    selene_scheduler scheduler = 0;
    options.clock = host_clock;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    return scheduler;
}

CHECK_UNUSED static selene_scheduler open_plain(void) {
    const selene_options options = SELENE_INIT(selene_options);
    return open_virtual(options);
}

/** A scheduler on the system's clock. */
CHECK_UNUSED static selene_scheduler open_real(void) {
    selene_scheduler scheduler = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

CHECK_UNUSED static void wait_for(const char *what, atomic_int *value, int least) {
    int64_t limit = check_now() + PATIENCE;
    while (atomic_load(value) < least) {
        if (check_now() > limit) {
            fprintf(stderr, "waited in vain for %s\n", what);
            check_fail();
        }
        check_sleep(MS);
    }
}

/* ---- handlers ------------------------------------------------------------- */

enum behaviour {
    COMPLETE,      /* at once, with .outcome */
    SLEEP,         /* sleeps .duration, whatever happens, then completes twice */
    NEVER,         /* returns and is still working */
    GATE,          /* waits for the gate, then completes */
    COMPLETE_GATE, /* completes, then waits for the gate */
    UNTIL_STOPPED, /* asks selene_run_stopping in a loop, then completes */
    OTHER_THREAD,  /* another thread completes, .decided_at; then it sleeps .duration and returns */
    AFTER_RETURN,  /* returns; another thread completes after .duration */
    MEET,          /* waits until .party handlers were inside at a time, then sleeps .duration */
    ASK            /* calls .ask */
};

struct work {
    enum behaviour behaviour;
    int32_t outcome;
    int64_t duration;
    int party;
    int complete_when_stopped;
    void (*ask)(struct work *work, selene_run run, const selene_run_info *info);
    selene_scheduler scheduler;

    atomic_int started, stopped, returned, destroyed;
    atomic_int reason, first_status, second_status;
    _Atomic uint64_t run;
    _Atomic int64_t stopped_at, decided_at;
    _Atomic pthread_t thread;
    pthread_t helper;
};

CHECK_UNUSED static atomic_int gate, inside, most_inside;

CHECK_UNUSED static void complete_twice(struct work *work, selene_run run) {
    atomic_store(&work->first_status, selene_run_complete(run, work->outcome));
    atomic_store(&work->second_status, selene_run_complete(run, SELENE_OUTCOME_ABANDONED));
}

CHECK_UNUSED static void *complete_elsewhere(void *argument) {
    struct work *work = argument;
    if (work->behaviour == AFTER_RETURN) check_sleep(work->duration);
    complete_twice(work, atomic_load(&work->run));
    return NULL;
}

CHECK_UNUSED static void work_run(selene_run run, const selene_run_info *info, void *context) {
    struct work *work = context;
    int now = atomic_fetch_add(&inside, 1) + 1, most = atomic_load(&most_inside);
    int32_t reason = SELENE_STOP_NONE;
    int64_t at = 0;
    int64_t limit = check_now() + PATIENCE;
    while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now)) {
    }
    CHECK_INT(run, info->run);
    atomic_store(&work->run, run);
    atomic_store(&work->thread, pthread_self());
    atomic_fetch_add(&work->started, 1);
    switch (work->behaviour) {
    case COMPLETE:
        complete_twice(work, run);
        break;
    case SLEEP:
        check_sleep(work->duration);
        complete_twice(work, run);
        break;
    case NEVER:
        break;
    case GATE:
        wait_for("the gate", &gate, 1);
        complete_twice(work, run);
        break;
    case COMPLETE_GATE:
        complete_twice(work, run);
        wait_for("the gate", &gate, 1);
        break;
    case UNTIL_STOPPED:
        while (reason == SELENE_STOP_NONE && check_now() < limit) {
            selene_status status = selene_run_stopping(run, &reason);
            /* A slow machine asks when the scheduler is closed already. */
            if (status == SELENE_ERROR_STALE_RUN) reason = SELENE_STOP_SHUTDOWN;
            else CHECK_INT(SELENE_OK, status);
            check_sleep(MS);
        }
        atomic_store(&work->reason, reason);
        complete_twice(work, run);
        break;
    case OTHER_THREAD:
        CHECK_INT(0, pthread_create(&work->helper, NULL, complete_elsewhere, work));
        CHECK_INT(0, pthread_join(work->helper, NULL));
        CHECK_OK(selene_scheduler_now(work->scheduler, &at));
        atomic_store(&work->decided_at, at);
        check_sleep(work->duration);
        break;
    case AFTER_RETURN:
        CHECK_INT(0, pthread_create(&work->helper, NULL, complete_elsewhere, work));
        break;
    case MEET:
        wait_for("the others", &most_inside, work->party);
        check_sleep(work->duration);
        complete_twice(work, run);
        break;
    case ASK:
        work->ask(work, run, info);
        break;
    }
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add(&work->returned, 1);
}

CHECK_UNUSED static void work_stop(selene_run run, int32_t reason, void *context) {
    struct work *work = context;
    (void)run;
    atomic_store(&work->reason, reason);
    atomic_store(&work->stopped_at, check_now());
    atomic_fetch_add(&work->stopped, 1);
    if (work->complete_when_stopped) complete_twice(work, run);
}

CHECK_UNUSED static void work_destroy(void *context) {
    atomic_fetch_add(&((struct work *)context)->destroyed, 1);
}

CHECK_UNUSED static void add_handler(selene_scheduler scheduler, const char *name,
                                     struct work *work) {
    work->scheduler = scheduler;
    atomic_store(&work->first_status, -1);
    atomic_store(&work->second_status, -1);
    CHECK_OK(selene_handler_register(scheduler, name, -1, work_run, work_stop, work, work_destroy));
}

/* ---- tasks ---------------------------------------------------------------- */

/** A standing task of a millisecond. */
CHECK_UNUSED static selene_task task_of(const char *id) {
    selene_task task = SELENE_INIT(selene_task);
    task.id.data = id;
    task.id.length = -1;
    task.schedule = SELENE_SCHEDULE_STANDING;
    task.expected_response = MS;
    return task;
}

CHECK_UNUSED static selene_task once_of(const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.kind = SELENE_KIND_PROCESSING;
    return task;
}

CHECK_UNUSED static selene_task refresh_once(const char *id, int32_t priority) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.priority = priority;
    return task;
}

CHECK_UNUSED static int32_t add(selene_scheduler scheduler, selene_task task) {
    int32_t disposition = -1;
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    return disposition;
}

/** A standing refresh task with a handler of the same name. */
CHECK_UNUSED static void add_work(selene_scheduler scheduler, const char *id, struct work *work) {
    add_handler(scheduler, id, work);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task_of(id)));
}

/** The record; its texts are not valid any more. */
CHECK_UNUSED static selene_task_info record_at(selene_scheduler scheduler, const char *id,
                                               uint64_t position) {
    selene_task_info *info = NULL, copy;
    CHECK_OK(selene_task_get(scheduler, id, -1, position, &info));
    CHECK_TEXT(id, info->id);
    copy = *info;
    selene_free(info);
    return copy;
}

CHECK_UNUSED static selene_task_info record(selene_scheduler scheduler, const char *id) {
    return record_at(scheduler, id, 0);
}

CHECK_UNUSED static selene_explanation explain(selene_scheduler scheduler, const char *id) {
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    CHECK_OK(selene_task_explain(scheduler, id, -1, &explanation));
    CHECK(explanation.reason_count <= SELENE_REASONS);
    return explanation;
}

/** The reason, or one whose number is 0. */
CHECK_UNUSED static selene_reason why(selene_scheduler scheduler, const char *id, int32_t reason) {
    selene_explanation explanation = explain(scheduler, id);
    for (uint32_t i = 0; i < explanation.reason_count; i++)
        if (explanation.reasons[i].reason == reason) return explanation.reasons[i];
    return (selene_reason){0, 0, 0};
}

/** Waits until nothing but a window is missing. */
CHECK_UNUSED static void wait_until_ready(selene_scheduler scheduler, const char *id) {
    WAIT_UNTIL(!explain(scheduler, id).reason_count);
}

CHECK_UNUSED static void wait_for_state(selene_scheduler scheduler, const char *id, int32_t state) {
    WAIT_UNTIL(record(scheduler, id).state == state);
}

CHECK_UNUSED static uint32_t overruns(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info.overrun_threads;
}

CHECK_UNUSED static void wait_for_overruns(selene_scheduler scheduler, uint32_t expected) {
    WAIT_UNTIL(overruns(scheduler) == expected);
}

/* ---- windows -------------------------------------------------------------- */

/** A rolling window of all kinds. */
CHECK_UNUSED static selene_window rolling_of(int64_t budget, int64_t reserve, uint32_t lanes) {
    selene_window window = SELENE_INIT(selene_window);
    window.budget = budget;
    window.reserve = none_of(reserve);
    window.lanes = lanes;
    return window;
}

/** A frozen window of refresh tasks. */
CHECK_UNUSED static selene_window window_of(int64_t budget, int64_t reserve, uint32_t lanes) {
    selene_window window = rolling_of(budget, reserve, lanes);
    window.kinds = SELENE_KIND_REFRESH;
    window.flags = SELENE_WINDOW_FROZEN;
    return window;
}

CHECK_UNUSED static selene_cycle begin(selene_scheduler scheduler, selene_window window) {
    selene_cycle cycle = 0;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK(cycle != 0);
    return cycle;
}

/** The next run of a pulled cycle, which must be of this task; 0 where there must be none. */
CHECK_UNUSED static selene_run next(selene_cycle cycle, const char *id) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    if (!id) {
        CHECK(step == SELENE_STEP_WAIT || step == SELENE_STEP_DONE);
        return 0;
    }
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_TEXT(id, info.id);
    return info.run;
}

/** Pulls a whole cycle of which every run gives this outcome at once; the number of runs. */
CHECK_UNUSED static uint64_t pull(selene_scheduler scheduler, selene_window window,
                                  int32_t outcome) {
    selene_cycle cycle = begin(scheduler, window);
    selene_report *report = NULL;
    uint64_t count;
    for (;;) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t step = -1;
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        if (step == SELENE_STEP_DONE) break;
        CHECK_INT(SELENE_STEP_RUN, step);
        CHECK_OK(selene_run_complete(info.run, outcome));
    }
    CHECK_OK(selene_cycle_end(cycle, &report));
    count = report->run_count;
    selene_free(report);
    return count;
}

/** Runs a window on library threads. */
CHECK_UNUSED static selene_report *push(selene_scheduler scheduler, selene_window window) {
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    return report;
}

/* ---- reports of run_async ------------------------------------------------- */

struct receiver {
    atomic_int calls, destroyed;
    int64_t at;
    selene_cycle cycle;
    int32_t result;
    uint64_t run_count, new_data, expired, stopped;
};

CHECK_UNUSED static void receive(const selene_report *report, void *context) {
    struct receiver *receiver = context;
    receiver->at = check_now();
    receiver->cycle = report->cycle;
    receiver->result = report->result;
    receiver->run_count = report->run_count;
    receiver->new_data = report->new_data;
    receiver->expired = report->expired;
    receiver->stopped = report->stopped;
    CHECK_INT(0, atomic_load(&receiver->destroyed));
    atomic_fetch_add(&receiver->calls, 1);
}

CHECK_UNUSED static void receiver_destroy(void *context) {
    atomic_fetch_add(&((struct receiver *)context)->destroyed, 1);
}

CHECK_UNUSED static selene_cycle push_async(selene_scheduler scheduler, selene_window window,
                                            struct receiver *receiver, int64_t *deadline) {
    selene_cycle cycle = 0;
    CHECK_OK(selene_cycle_run_async(scheduler, &window, receive, receiver, receiver_destroy, &cycle,
                                    deadline));
    CHECK(cycle != 0);
    return cycle;
}

/** selene_cycle_run on a thread of the host's. */
struct runner {
    selene_scheduler scheduler;
    selene_window window;
    selene_status status;
    selene_report *report;
    int64_t returned_at;
    atomic_int returned;
    pthread_t thread;
};

CHECK_UNUSED static void *runner_main(void *argument) {
    struct runner *runner = argument;
    runner->status = selene_cycle_run(runner->scheduler, &runner->window, &runner->report);
    runner->returned_at = check_now();
    atomic_store(&runner->returned, 1);
    return NULL;
}

CHECK_UNUSED static void start_runner(struct runner *runner, selene_scheduler scheduler,
                                      selene_window window) {
    runner->scheduler = scheduler;
    runner->window = window;
    runner->report = NULL;
    atomic_store(&runner->returned, 0);
    CHECK_INT(0, pthread_create(&runner->thread, NULL, runner_main, runner));
}

CHECK_UNUSED static selene_report *join_runner(struct runner *runner) {
    CHECK_INT(0, pthread_join(runner->thread, NULL));
    CHECK_STATUS(SELENE_OK, runner->status);
    CHECK(runner->report != NULL);
    return runner->report;
}

/* ---- events --------------------------------------------------------------- */

struct noted {
    selene_event event;
    char id[64];
    char message[256];
};

CHECK_UNUSED static struct noted noted[1024];
CHECK_UNUSED static atomic_int noted_count, observing, observers_destroyed;

CHECK_UNUSED static void note(const selene_event *event, void *context) {
    int index = atomic_load(&noted_count);
    (void)context;
    CHECK_INT(1, atomic_fetch_add(&observing, 1) + 1); /* one at a time */
    CHECK(index < (int)(sizeof noted / sizeof noted[0]));
    CHECK_INT(sizeof(selene_event), event->struct_size);
    noted[index].event = *event;
    CHECK(event->id.length < (int64_t)sizeof noted[index].id);
    if (event->id.length) memcpy(noted[index].id, event->id.data, (size_t)event->id.length + 1);
    CHECK(event->message.length < (int64_t)sizeof noted[index].message);
    memcpy(noted[index].message, event->message.data, (size_t)event->message.length + 1);
    atomic_store(&noted_count, index + 1);
    atomic_fetch_sub(&observing, 1);
}

CHECK_UNUSED static void note_destroy(void *context) {
    (void)context;
    atomic_fetch_add(&observers_destroyed, 1);
}

CHECK_UNUSED static void observe(selene_scheduler scheduler) {
    CHECK_OK(selene_scheduler_observe(scheduler, note, NULL, note_destroy));
}

/** How many events of this type, and with this detail if it is not negative, are noted since an index. */
CHECK_UNUSED static int count_events(int since, int32_t type, int32_t detail) {
    int count = 0;
    for (int i = since; i < atomic_load(&noted_count); i++)
        if (noted[i].event.type == type && (detail < 0 || noted[i].event.detail == detail)) count++;
    return count;
}

/** Waits until that many are noted: an observer may be told after the change can be seen. */
CHECK_UNUSED static void wait_for_events(int since, int32_t type, int32_t detail, int least) {
    WAIT_UNTIL(count_events(since, type, detail) >= least);
}

/* ---- short words for what tests ask often ------------------------------------------------------------------------- */

CHECK_UNUSED static int64_t wakeup(selene_scheduler scheduler) {
    int64_t at = 0;
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    return at;
}

CHECK_UNUSED static void complete(selene_run run) {
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
}

/** What a cycle says next; a run that it gives is left to it. */
CHECK_UNUSED static int32_t step_of(selene_cycle cycle, int64_t *at) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_next(cycle, &step, &info, at));
    return step;
}

/** The names of a list, with a blank behind each; the list is freed. */
CHECK_UNUSED static const char *joined(selene_task_ids *list) {
    static char text[2048];
    text[0] = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        strncat(text, list->ids[i].data, 64);
        strcat(text, " ");
    }
    selene_free(list);
    return text;
}

#endif /* CYCLES_H */
