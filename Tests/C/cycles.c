/*
 * cycles.c - cycles, runs, stops, events and explanations, rule by rule, from plain C
 *
 * Two kinds of tests: on a clock of the host's own every instant is exact; on library threads the limits are
 * generous (LATE) but real: a report that waits for a handler fails the test.
 *
 * Argument: the filter of check.h.
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#define MS SELENE_MILLISECOND
#define S SELENE_SECOND
#define REAL(ms) check_stretch((ms) * MS)
#define LATE (150 * MS + check_slack())
#define BOTH (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)
#define START (INT64_C(1000000) * S)

/* ============================================================================
 *  THE HOST OF THESE TESTS
 * ========================================================================= */

static _Atomic int64_t clock_now = START;

static int64_t host_clock(void *context) {
    (void)context;
    return atomic_load(&clock_now);
}

static void advance(int64_t duration) { atomic_fetch_add(&clock_now, duration); }

/** A scheduler on the host's clock. */
static selene_scheduler open_virtual(selene_options options) {
    selene_scheduler scheduler = 0;
    options.clock = host_clock;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

static selene_scheduler open_plain(void) {
    const selene_options options = SELENE_OPTIONS_INIT;
    return open_virtual(options);
}

/** A scheduler on the system's clock. */
static selene_scheduler open_real(void) {
    selene_scheduler scheduler = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

static void wait_for(const char *what, atomic_int *value, int least) {
    int64_t limit = check_now() + 10 * S + check_slack();
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
    COMPLETE,         /* at once, with .outcome */
    SLEEP,            /* sleeps .duration, whatever happens, then completes twice */
    NEVER,            /* returns and is still working */
    GATE,             /* waits for the gate, then completes */
    COMPLETE_GATE,    /* completes, then waits for the gate */
    UNTIL_STOPPED,    /* asks selene_run_stopping in a loop, then completes */
    OTHER_THREAD,     /* another thread completes, then it sleeps .duration and returns */
    AFTER_RETURN,     /* returns; another thread completes after .duration */
    MEET,             /* waits until .party handlers are inside at a time */
    ASK               /* calls .ask */
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
    _Atomic int64_t stopped_at;
    pthread_t thread, helper;
};

static atomic_int gate, inside, most_inside;

static void complete_twice(struct work *work, selene_run run) {
    atomic_store(&work->first_status, selene_run_complete(run, work->outcome));
    atomic_store(&work->second_status, selene_run_complete(run, SELENE_OUTCOME_ABANDONED));
}

static void *complete_elsewhere(void *argument) {
    struct work *work = argument;
    if (work->behaviour == AFTER_RETURN) check_sleep(work->duration);
    complete_twice(work, atomic_load(&work->run));
    return NULL;
}

static void work_run(selene_run run, const selene_run_info *info, void *context) {
    struct work *work = context;
    int now = atomic_fetch_add(&inside, 1) + 1, most = atomic_load(&most_inside);
    int32_t reason = SELENE_STOP_NONE;
    int64_t limit = check_now() + 10 * S + check_slack();
    while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now)) {
    }
    CHECK_INT(run, info->run);
    atomic_store(&work->run, run);
    work->thread = pthread_self();
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
            CHECK_OK(selene_run_stopping(run, &reason));
            check_sleep(MS);
        }
        atomic_store(&work->reason, reason);
        complete_twice(work, run);
        break;
    case OTHER_THREAD:
        CHECK_INT(0, pthread_create(&work->helper, NULL, complete_elsewhere, work));
        CHECK_INT(0, pthread_join(work->helper, NULL));
        check_sleep(work->duration);
        break;
    case AFTER_RETURN:
        CHECK_INT(0, pthread_create(&work->helper, NULL, complete_elsewhere, work));
        break;
    case MEET:
        wait_for("the others", &inside, work->party);
        check_sleep(20 * MS); /* so that all see all */
        complete_twice(work, run);
        break;
    case ASK:
        work->ask(work, run, info);
        break;
    }
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add(&work->returned, 1);
}

static void work_stop(selene_run run, int32_t reason, void *context) {
    struct work *work = context;
    (void)run;
    atomic_store(&work->reason, reason);
    atomic_store(&work->stopped_at, check_now());
    atomic_fetch_add(&work->stopped, 1);
    if (work->complete_when_stopped) complete_twice(work, run);
}

static void work_destroy(void *context) { atomic_fetch_add(&((struct work *)context)->destroyed, 1); }

static void add_handler(selene_scheduler scheduler, const char *name, struct work *work) {
    work->scheduler = scheduler;
    atomic_store(&work->first_status, -1);
    atomic_store(&work->second_status, -1);
    CHECK_OK(selene_handler_register(scheduler, name, -1, work_run, work_stop, work, work_destroy));
}

/* ---- tasks ---------------------------------------------------------------- */

/** A task with all defaults but an expected response of a millisecond. */
static selene_task task_of(const char *id) {
    selene_task task = SELENE_TASK_INIT;
    task.id.data = id;
    task.id.length = -1;
    task.expected_response = MS;
    return task;
}

static selene_task once_of(const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.kind = SELENE_KIND_PROCESSING;
    return task;
}

static int32_t add(selene_scheduler scheduler, selene_task task) {
    int32_t disposition = -1;
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    return disposition;
}

/** A standing refresh task with a handler of the same name. */
static void add_work(selene_scheduler scheduler, const char *id, struct work *work) {
    add_handler(scheduler, id, work);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task_of(id)));
}

/** The record; its texts are not valid any more. */
static selene_task_info record_at(selene_scheduler scheduler, const char *id, uint64_t position) {
    selene_task_info *info = NULL, copy;
    CHECK_OK(selene_task_get(scheduler, id, -1, position, &info));
    CHECK_TEXT(id, info->id);
    copy = *info;
    selene_task_info_destroy(info);
    return copy;
}

static selene_task_info record(selene_scheduler scheduler, const char *id) { return record_at(scheduler, id, 0); }

static selene_explanation explain(selene_scheduler scheduler, const char *id) {
    selene_explanation explanation = SELENE_EXPLANATION_INIT;
    CHECK_OK(selene_task_explain(scheduler, id, -1, &explanation));
    CHECK(explanation.reason_count <= SELENE_REASONS);
    return explanation;
}

/** The reason, or one whose number is 0. */
static selene_reason why(selene_scheduler scheduler, const char *id, int32_t reason) {
    selene_explanation explanation = explain(scheduler, id);
    for (uint32_t i = 0; i < explanation.reason_count; i++)
        if (explanation.reasons[i].reason == reason) return explanation.reasons[i];
    return (selene_reason){0, 0, 0};
}

/** Waits until nothing but a window is missing. */
static void wait_until_ready(selene_scheduler scheduler, const char *id) {
    int64_t limit = check_now() + 5 * S + check_slack();
    while (explain(scheduler, id).reason_count) {
        CHECK(check_now() < limit);
        check_sleep(MS);
    }
}

static void wait_for_overruns(selene_scheduler scheduler, uint32_t expected) {
    int64_t limit = check_now() + 5 * S + check_slack();
    selene_scheduler_info info = SELENE_SCHEDULER_INFO_INIT;
    for (;;) {
        CHECK_OK(selene_scheduler_get(scheduler, &info));
        if (info.overrun_threads == expected) return;
        CHECK(check_now() < limit);
        check_sleep(MS);
    }
}

/* ---- windows -------------------------------------------------------------- */

static selene_window window_of(int64_t budget, int64_t reserve, uint32_t lanes) {
    selene_window window = SELENE_WINDOW_INIT;
    window.budget = budget;
    window.reserve = reserve;
    window.lanes = lanes;
    return window;
}

static selene_window window_for(const char *id) {
    selene_window window = window_of(10 * S, 0, 1);
    window.task.data = id;
    window.task.length = -1;
    return window;
}

static selene_cycle begin(selene_scheduler scheduler, selene_window window) {
    selene_cycle cycle = 0;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK(cycle != 0);
    return cycle;
}

/** The next run of a pulled cycle, which must be of this task; 0 where there must be none. */
static selene_run next(selene_cycle cycle, const char *id) {
    selene_run_info info = SELENE_RUN_INFO_INIT;
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
static uint64_t pull(selene_scheduler scheduler, selene_window window, int32_t outcome) {
    selene_cycle cycle = begin(scheduler, window);
    selene_report *report = NULL;
    uint64_t count;
    for (;;) {
        selene_run_info info = SELENE_RUN_INFO_INIT;
        int32_t step = -1;
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        if (step == SELENE_STEP_DONE) break;
        CHECK_INT(SELENE_STEP_RUN, step);
        CHECK_OK(selene_run_complete(info.run, outcome));
    }
    CHECK_OK(selene_cycle_end(cycle, &report));
    count = report->run_count;
    selene_report_destroy(report);
    return count;
}

/** Runs a window on library threads and sees that it came back in time. */
static selene_report *push(selene_scheduler scheduler, selene_window window) {
    selene_report *report = NULL;
    int64_t began = check_now();
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_BETWEEN(0, check_now() - began, window.budget + LATE);
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

static void receive(const selene_report *report, void *context) {
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

static void receiver_destroy(void *context) { atomic_fetch_add(&((struct receiver *)context)->destroyed, 1); }

static selene_cycle push_async(selene_scheduler scheduler, selene_window window, struct receiver *receiver,
                               int64_t *deadline) {
    selene_cycle cycle = 0;
    CHECK_OK(selene_cycle_run_async(scheduler, &window, receive, receiver, receiver_destroy, &cycle, deadline));
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
    pthread_t thread;
};

static void *runner_main(void *argument) {
    struct runner *runner = argument;
    runner->status = selene_cycle_run(runner->scheduler, &runner->window, &runner->report);
    runner->returned_at = check_now();
    return NULL;
}

static void start_runner(struct runner *runner, selene_scheduler scheduler, selene_window window) {
    runner->scheduler = scheduler;
    runner->window = window;
    runner->report = NULL;
    CHECK_INT(0, pthread_create(&runner->thread, NULL, runner_main, runner));
}

static selene_report *join_runner(struct runner *runner) {
    CHECK_INT(0, pthread_join(runner->thread, NULL));
    CHECK_STATUS(SELENE_OK, runner->status);
    CHECK(runner->report != NULL);
    return runner->report;
}

/* ---- events --------------------------------------------------------------- */

struct noted {
    selene_event event;
    char id[64];
};

static struct noted noted[1024];
static atomic_int noted_count, observing, observers_destroyed;

static void note(const selene_event *event, void *context) {
    int index = atomic_load(&noted_count);
    (void)context;
    CHECK_INT(1, atomic_fetch_add(&observing, 1) + 1); /* one at a time */
    CHECK(index < (int)(sizeof noted / sizeof noted[0]));
    CHECK_INT(sizeof(selene_event), event->struct_size);
    noted[index].event = *event;
    CHECK(event->id.length < (int64_t)sizeof noted[index].id);
    if (event->id.length) memcpy(noted[index].id, event->id.data, (size_t)event->id.length + 1);
    atomic_store(&noted_count, index + 1);
    atomic_fetch_sub(&observing, 1);
}

static void note_destroy(void *context) {
    (void)context;
    atomic_fetch_add(&observers_destroyed, 1);
}

static void observe(selene_scheduler scheduler) {
    CHECK_OK(selene_scheduler_observe(scheduler, note, NULL, note_destroy));
}

/** How many events of this type, and with this detail if it is not negative, are noted since an index. */
static int count_events(int since, int32_t type, int32_t detail) {
    int count = 0;
    for (int i = since; i < atomic_load(&noted_count); i++)
        if (noted[i].event.type == type && (detail < 0 || noted[i].event.detail == detail)) count++;
    return count;
}

/** The event at an index must be of this type, of this task ("" for a cycle) and have this detail. */
static const selene_event *event_at(int index, int32_t type, const char *id, int32_t detail) {
    if (index >= atomic_load(&noted_count) || noted[index].event.type != type) {
        fprintf(stderr, "event %d: expected %s of \"%s\", got", index, selene_event_name(type), id);
        for (int i = 0; i < atomic_load(&noted_count); i++)
            fprintf(stderr, "%s %s(%s)", i == index ? " >>" : "", selene_event_name(noted[i].event.type),
                    noted[i].id);
        fprintf(stderr, "\n");
        check_fail();
    }
    CHECK_STRING(id, noted[index].id);
    CHECK_INT(detail, noted[index].event.detail);
    return &noted[index].event;
}

/* ============================================================================
 *  BY THE DEADLINE, WHATEVER THE HANDLERS DO
 * ========================================================================= */

static void test_sleeper(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = SLEEP, .duration = REAL(700)};
    selene_report *report;
    selene_task_info before, after;
    int64_t began;
    add_work(scheduler, "sleeper", &work);
    began = check_now();
    report = push(scheduler, window_of(REAL(200), REAL(100), 1));
    CHECK_INT(0, atomic_load(&work.returned));
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, report->expired);
    CHECK_INT(SELENE_OUTCOME_FAILED, report->result);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, report->runs[0].outcome);
    CHECK_INT(SELENE_STOP_EXPIRING, report->runs[0].stop_reason);
    CHECK_INT(report->deadline - report->runs[0].started_at, report->runs[0].response_time);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
    CHECK_BETWEEN(REAL(95), atomic_load(&work.stopped_at) - began, REAL(100) + LATE);
    wait_for_overruns(scheduler, 1);
    before = record(scheduler, "sleeper");
    CHECK_INT(SELENE_STATE_ENQUEUED, before.state);
    CHECK_INT(1, before.attempts);
    CHECK_INT(1, before.response_time_count);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, before.last_outcome);
    CHECK_INT(report->deadline, before.last_run);
    wait_for("the sleeper", &work.returned, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.second_status));
    after = record(scheduler, "sleeper");
    CHECK_INT(0, memcmp(&before.state, &after.state,
                        offsetof(selene_task_info, registered_at) - offsetof(selene_task_info, state)));
    CHECK_INT(before.last_run, after.last_run);
    CHECK_INT(before.earliest_begin, after.earliest_begin);
    CHECK_INT(1, after.response_time_count);
    CHECK_INT(1, atomic_load(&work.stopped));
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

static void test_never(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = NEVER}, other = {.behaviour = COMPLETE};
    selene_report *report;
    int64_t began = check_now();
    add_work(scheduler, "never", &work);
    check_sleep(5 * MS);
    add_work(scheduler, "other", &other);
    report = push(scheduler, window_of(REAL(150), REAL(50), 1));
    CHECK(check_now() - began >= REAL(145));
    CHECK_INT(1, report->run_count); /* the only lane stayed taken */
    CHECK_TEXT("never", report->runs[0].id);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, report->runs[0].outcome);
    CHECK_INT(1, atomic_load(&work.returned));
    CHECK_INT(0, atomic_load(&other.started));
    selene_report_destroy(report);
    /* It returned, but it has not come back. */
    wait_for_overruns(scheduler, 0);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "never", SELENE_REASON_STILL_RUNNING).reason);
    report = push(scheduler, window_of(REAL(150), REAL(50), 1));
    CHECK_INT(1, report->run_count);
    CHECK_TEXT("other", report->runs[0].id);
    selene_report_destroy(report);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, explain(scheduler, "never").reason_count);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_ignorers(void) {
    selene_scheduler scheduler = open_real();
    struct work works[4];
    selene_report *report;
    memset(works, 0, sizeof works);
    for (int k = 0; k < 4; k++) {
        char id[16];
        snprintf(id, sizeof id, "%d", k);
        works[k].behaviour = GATE;
        add_work(scheduler, id, &works[k]);
    }
    report = push(scheduler, window_of(REAL(200), REAL(100), 4));
    CHECK_INT(4, report->run_count);
    CHECK_INT(4, report->expired);
    selene_report_destroy(report);
    wait_for_overruns(scheduler, 4);
    for (int k = 0; k < 4; k++) {
        CHECK_INT(1, atomic_load(&works[k].stopped));
        CHECK_INT(0, atomic_load(&works[k].returned));
    }
    atomic_store(&gate, 1);
    for (int k = 0; k < 4; k++) wait_for("a handler", &works[k].returned, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_OK(selene_scheduler_close(scheduler, S));
    for (int k = 0; k < 4; k++) {
        CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&works[k].first_status));
        CHECK_INT(1, atomic_load(&works[k].destroyed));
        CHECK_INT(1, atomic_load(&works[k].stopped));
    }
}

static void test_async_deadline(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = GATE};
    struct receiver receiver = {0};
    int64_t began = check_now(), deadline = 0, now = 0;
    add_work(scheduler, "stuck", &work);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    push_async(scheduler, window_of(REAL(200), REAL(100), 1), &receiver, &deadline);
    CHECK_BETWEEN(REAL(200), deadline - now, REAL(200) + LATE);
    wait_for("the report", &receiver.calls, 1);
    CHECK_BETWEEN(REAL(195), receiver.at - began, REAL(200) + LATE);
    CHECK_INT(0, atomic_load(&work.returned));
    CHECK_INT(1, receiver.expired);
    wait_for("the end of the receiver", &receiver.destroyed, 1);
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, S));
    CHECK_INT(1, atomic_load(&receiver.calls));
    CHECK_INT(1, atomic_load(&receiver.destroyed));
}

static void test_in_reserve(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = UNTIL_STOPPED};
    selene_report *report;
    add_work(scheduler, "polite", &work);
    report = push(scheduler, window_of(REAL(1100), REAL(1000), 1));
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_STOP_EXPIRING, report->runs[0].stop_reason);
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK(report->ended_at < report->deadline); /* nothing more to do: it does not wait for the deadline */
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_complete_in_stop(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = NEVER, .complete_when_stopped = 1};
    selene_report *report;
    add_work(scheduler, "a", &work);
    report = push(scheduler, window_of(REAL(1100), REAL(1000), 1));
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.second_status));
    CHECK(report->ended_at < report->deadline);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_cap(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    selene_window window = window_of(REAL(100), REAL(50), 2);
    struct work first = {.behaviour = GATE}, second = {.behaviour = GATE}, third = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    selene_report *report = NULL;
    options.max_overrun_threads = 2;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    add_work(scheduler, "first", &first);
    add_work(scheduler, "second", &second);
    report = push(scheduler, window);
    CHECK_INT(2, report->expired);
    selene_report_destroy(report);
    wait_for_overruns(scheduler, 2);
    add_work(scheduler, "third", &third);
    report = NULL;
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run(scheduler, &window, &report));
    CHECK(report == NULL);
    CHECK_STATUS(SELENE_ERROR_BUSY,
                 selene_cycle_run_async(scheduler, &window, receive, &receiver, receiver_destroy, NULL, NULL));
    CHECK_INT(1, atomic_load(&receiver.destroyed));
    CHECK_INT(0, atomic_load(&third.started));
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    wait_until_ready(scheduler, "first");
    wait_until_ready(scheduler, "second");
    report = push(scheduler, window_of(5 * S, 0, 2));
    CHECK_INT(3, report->new_data);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
    CHECK_INT(0, atomic_load(&receiver.calls));
}

/* ============================================================================
 *  COMPLETION
 * ========================================================================= */

static void test_twice(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE, .outcome = SELENE_OUTCOME_NO_DATA};
    selene_report *report;
    add_work(scheduler, "a", &work);
    report = push(scheduler, window_of(5 * S, 0, 1));
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.second_status));
    CHECK_INT(1, report->no_data);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, record(scheduler, "a").last_outcome);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_complete(atomic_load(&work.run) + 12345, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_complete(0, 0));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_retry(atomic_load(&work.run), 0));
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_other_thread(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = OTHER_THREAD, .duration = REAL(200)}, other = {.behaviour = COMPLETE};
    selene_report *report;
    int64_t began;
    add_work(scheduler, "a", &work);
    check_sleep(5 * MS);
    add_work(scheduler, "b", &other);
    began = check_now();
    report = push(scheduler, window_of(REAL(5000), 0, 1));
    CHECK_INT(2, report->new_data);
    CHECK_TEXT("a", report->runs[0].id);
    CHECK_INT(SELENE_OK, atomic_load(&work.first_status));
    CHECK_INT(SELENE_ERROR_ALREADY_COMPLETED, atomic_load(&work.second_status));
    CHECK_BETWEEN(0, report->runs[0].response_time, REAL(200) - 1); /* to the outcome, not to the return */
    CHECK(report->runs[1].started_at - report->runs[0].started_at >= REAL(195)); /* the lane is free on return */
    CHECK(check_now() - began < REAL(4000));
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_after_return(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = AFTER_RETURN, .duration = REAL(100)}, other = {.behaviour = COMPLETE};
    selene_report *report;
    add_work(scheduler, "a", &work);
    check_sleep(5 * MS);
    add_work(scheduler, "b", &other);
    report = push(scheduler, window_of(REAL(5000), 0, 1));
    CHECK_INT(2, report->new_data);
    CHECK_TEXT("a", report->runs[0].id);
    CHECK_BETWEEN(REAL(95), report->runs[0].response_time, REAL(100) + LATE);
    CHECK(report->runs[1].started_at >= report->runs[0].started_at + report->runs[0].response_time);
    CHECK(report->ended_at < report->deadline);
    selene_report_destroy(report);
    CHECK_INT(0, pthread_join(work.helper, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_complete_then_stuck(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE_GATE};
    selene_report *report;
    add_work(scheduler, "a", &work);
    report = push(scheduler, window_of(REAL(200), REAL(50), 1));
    CHECK_INT(1, report->new_data);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->runs[0].outcome);
    CHECK_INT(0, atomic_load(&work.stopped)); /* it was decided: nothing to stop */
    selene_report_destroy(report);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    report = push(scheduler, window_of(REAL(200), REAL(50), 1));
    CHECK_INT(0, report->run_count);
    selene_report_destroy(report);
    atomic_store(&gate, 1);
    wait_until_ready(scheduler, "a");
    report = push(scheduler, window_of(REAL(200), REAL(50), 1));
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_retry(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle cycle;
    selene_run run;
    window.kinds = SELENE_KIND_PROCESSING;
    add_handler(scheduler, "a", &work);
    task.max_attempts = 2;
    add(scheduler, task);
    cycle = begin(scheduler, window);
    run = next(cycle, "a");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_retry(run, -1));
    CHECK_OK(selene_run_retry(run, 77 * S));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_retry(run, 1));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(START + 77 * S, record(scheduler, "a").earliest_begin);
    CHECK_INT(1, record(scheduler, "a").attempts);
    CHECK_INT(SELENE_OUTCOME_FAILED, record(scheduler, "a").last_outcome);
    advance(77 * S);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_run_retry(next(cycle, "a"), 0)); /* its attempts are used up */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void ask_input(struct work *work, selene_run run, const selene_run_info *info) {
    CHECK_INT(5, info->input.length);
    CHECK_INT(0, memcmp(info->input.data, "a\0b\xff" "c", 6));
    CHECK_TEXT("task", info->id);
    CHECK_TEXT("h", info->handler);
    CHECK_INT(SELENE_KIND_REFRESH, info->kind);
    CHECK_INT(4, info->priority);
    CHECK_INT(1, info->attempt);
    CHECK_INT(1, info->generation);
    CHECK_INT(sizeof *info, info->struct_size);
    CHECK(info->cycle != 0);
    CHECK_INT(3 * S, info->estimate);
    CHECK_INT(info->started_at + 10 * S, info->deadline);
    CHECK_INT(info->deadline - S, info->expires_at);
    complete_twice(work, run);
}

static void test_run_info(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = ASK, .ask = ask_input};
    selene_task task = task_of("task");
    selene_window window = window_of(10 * S, S, 1);
    selene_report *report = NULL;
    char input[] = "a\0b\xff" "c";
    add_handler(scheduler, "h", &work);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
    task.handler = SELENE_TEXT("h");
    task.priority = 4;
    task.expected_response = 3 * S;
    task.input = input;
    task.input_length = 5;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    memset(input, 'z', sizeof input); /* it was copied */
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  LANES, INLINE, JOINING
 * ========================================================================= */

static void test_parallel(void) {
    selene_scheduler scheduler = open_real();
    struct work works[4];
    selene_report *report;
    memset(works, 0, sizeof works);
    for (int k = 0; k < 4; k++) {
        char id[16];
        snprintf(id, sizeof id, "%d", k);
        works[k].behaviour = MEET;
        works[k].party = 4;
        add_work(scheduler, id, &works[k]);
    }
    report = push(scheduler, window_of(8 * S, 0, 4));
    CHECK_INT(4, report->new_data);
    CHECK_INT(4, atomic_load(&most_inside));
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < k; j++) CHECK(!pthread_equal(works[k].thread, works[j].thread));
    for (int k = 0; k < 4; k++) CHECK(!pthread_equal(works[k].thread, pthread_self()));
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_two_lanes(void) {
    selene_scheduler scheduler = open_real();
    struct work works[6];
    selene_report *report;
    memset(works, 0, sizeof works);
    for (int k = 0; k < 6; k++) {
        char id[16];
        snprintf(id, sizeof id, "%d", k);
        works[k].behaviour = SLEEP;
        works[k].duration = 30 * MS;
        add_work(scheduler, id, &works[k]);
    }
    report = push(scheduler, window_of(5 * S, 0, 2));
    CHECK_INT(6, report->new_data);
    CHECK_INT(2, atomic_load(&most_inside));
    selene_report_destroy(report);
    atomic_store(&most_inside, 0);
    report = push(scheduler, window_of(5 * S, 0, 1));
    CHECK_INT(6, report->new_data);
    CHECK_INT(1, atomic_load(&most_inside));
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_inline(void) {
    selene_scheduler scheduler = open_real();
    struct work first = {.behaviour = SLEEP, .duration = REAL(20)}, second = {.behaviour = UNTIL_STOPPED};
    selene_window window = window_of(REAL(300), REAL(200), 1);
    selene_report *report;
    add_work(scheduler, "first", &first);
    check_sleep(5 * MS);
    add_work(scheduler, "second", &second);
    window.flags = SELENE_WINDOW_INLINE;
    report = push(scheduler, window);
    CHECK_INT(2, report->run_count);
    CHECK_INT(2, report->new_data);
    CHECK(pthread_equal(first.thread, pthread_self()));
    CHECK(pthread_equal(second.thread, pthread_self()));
    CHECK_INT(1, atomic_load(&most_inside));
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&second.reason));
    selene_report_destroy(report);
    window.lanes = 2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_run(scheduler, &window, NULL));
    window.lanes = 1;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_begin(scheduler, &window, &(selene_cycle){0}));
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_host_clock(void) {
    selene_scheduler scheduler = open_plain();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = NEVER}, third = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    selene_window window = window_of(10 * S, 0, 1);
    selene_report *report = NULL;
    add_work(scheduler, "first", &first);
    advance(S);
    add_work(scheduler, "second", &second);
    advance(S);
    add_work(scheduler, "third", &third);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_run(scheduler, &window, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_cycle_run_async(scheduler, &window, receive, &receiver, receiver_destroy, NULL, NULL));
    CHECK_INT(1, atomic_load(&receiver.destroyed));
    CHECK_INT(0, atomic_load(&receiver.calls));
    window.flags = SELENE_WINDOW_INLINE;
    advance(S);
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    /* The second returned without an outcome: no lane is free, and no clock would ever wake the cycle. */
    CHECK_INT(2, report->run_count);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->runs[0].outcome);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, report->runs[1].outcome);
    CHECK_INT(0, atomic_load(&third.started));
    CHECK(pthread_equal(first.thread, pthread_self()));
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_pulled_only(void) {
    selene_scheduler scheduler = open_real();
    selene_report *report;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("a"));
    report = push(scheduler, window_of(S, 0, 1));
    CHECK_INT(0, report->run_count);
    CHECK(report->ended_at < report->deadline);
    selene_report_destroy(report);
    CHECK_INT(1, pull(scheduler, window_of(S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_join(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    struct work work = {.behaviour = GATE};
    struct receiver receivers[3], refused = {0};
    selene_window window = window_of(5 * S, 0, 1), wider = window;
    selene_cycle first, second, third, other = 0;
    int64_t deadline = 0, joined = 0;
    memset(receivers, 0, sizeof receivers);
    options.minimum_interval_refresh = SELENE_HOUR; /* joining comes before the pace */
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    add_work(scheduler, "a", &work);
    first = push_async(scheduler, window, &receivers[0], &deadline);
    second = push_async(scheduler, window, &receivers[1], &joined);
    CHECK_INT(first, second);
    CHECK_INT(deadline, joined);
    third = push_async(scheduler, window_of(S, 0, 2), &receivers[2], &joined); /* whatever its budget and lanes */
    CHECK_INT(first, third);
    CHECK_INT(deadline, joined);
    wait_for("the handler", &work.started, 1);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_cycle_next(first, &(int32_t){0}, &(selene_run_info)SELENE_RUN_INFO_INIT, NULL));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &other));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_run(scheduler, &window, NULL));
    wider.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    CHECK_STATUS(SELENE_ERROR_BUSY,
                 selene_cycle_run_async(scheduler, &wider, receive, &refused, receiver_destroy, NULL, NULL));
    CHECK_INT(1, atomic_load(&refused.destroyed));
    wider.kinds = SELENE_KIND_PROCESSING; /* has nothing to do with it */
    CHECK_OK(selene_cycle_run(scheduler, &wider, NULL));
    atomic_store(&gate, 1);
    for (int k = 0; k < 3; k++) {
        wait_for("the end of a receiver", &receivers[k].destroyed, 1);
        CHECK_INT(1, atomic_load(&receivers[k].calls));
        CHECK_INT(first, receivers[k].cycle);
        CHECK_INT(1, receivers[k].run_count);
        CHECK_INT(1, receivers[k].new_data);
    }
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON,
                 selene_cycle_run_async(scheduler, &window, receive, &refused, receiver_destroy, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(first, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, S));
    CHECK_INT(0, atomic_load(&refused.calls));
    CHECK_INT(2, atomic_load(&refused.destroyed));
}

static void test_end_early(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = GATE}, other = {.behaviour = COMPLETE};
    struct receiver first = {0}, second = {0};
    selene_cycle cycle;
    selene_report *report = NULL;
    int64_t began = check_now();
    add_work(scheduler, "a", &work);
    check_sleep(5 * MS);
    add_work(scheduler, "b", &other);
    cycle = push_async(scheduler, window_of(8 * S, 0, 1), &first, NULL);
    push_async(scheduler, window_of(8 * S, 0, 1), &second, NULL);
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(cycle, report->cycle);
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, report->expired);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    wait_for("the end of the first receiver", &first.destroyed, 1);
    wait_for("the end of the second receiver", &second.destroyed, 1);
    CHECK_INT(1, atomic_load(&first.calls));
    CHECK_INT(1, atomic_load(&second.calls));
    CHECK_INT(1, first.expired);
    CHECK_INT(cycle, second.cycle);
    CHECK(check_now() - began < 4 * S);
    wait_for("the stop", &work.stopped, 1);
    CHECK_INT(0, atomic_load(&other.started));
    selene_report_destroy(report);
    report = push(scheduler, window_of(S, 0, 1)); /* the kind is free again, the id is not */
    CHECK_INT(1, report->run_count);
    CHECK_TEXT("b", report->runs[0].id);
    selene_report_destroy(report);
    atomic_store(&gate, 1);
    wait_for("the handler's return", &work.returned, 1);
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

/* ============================================================================
 *  STOPS
 * ========================================================================= */

static void test_cancel_in_flight(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = UNTIL_STOPPED};
    struct runner runner;
    selene_report *report;
    uint64_t count = 0;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(8 * S, 0, 1));
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, &count));
    CHECK_INT(1, count);
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    report = join_runner(&runner);
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    CHECK_INT(SELENE_OUTCOME_STOPPED, report->runs[0].outcome);
    CHECK_INT(SELENE_STOP_CANCELLED, report->runs[0].stop_reason);
    CHECK(report->ended_at < report->deadline - S);
    selene_report_destroy(report);
    wait_for("the handler's return", &work.returned, 1);
    CHECK_INT(SELENE_STOP_CANCELLED, atomic_load(&work.reason));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    CHECK_INT(SELENE_STOP_CANCELLED, record(scheduler, "a").stop_reason);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_replace_in_flight(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    selene_cycle cycle;
    selene_run run;
    int32_t reason = -1;
    selene_task_info before, after;
    add_work(scheduler, "a", &work);
    before = record(scheduler, "a");
    advance(S);
    cycle = begin(scheduler, window_of(10 * S, 0, 2));
    run = next(cycle, "a");
    CHECK_INT(run, record(scheduler, "a").run);
    task.existing = SELENE_EXISTING_REPLACE;
    CHECK_INT(SELENE_DISPOSITION_REPLACED, add(scheduler, task));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_REPLACED, atomic_load(&work.reason));
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_REPLACED, reason);
    after = record(scheduler, "a");
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(0, after.attempts);
    CHECK_INT(0, after.run);
    CHECK(after.sequence > before.sequence);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    next(cycle, NULL);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_stopping(run, &reason));
    CHECK_INT(0, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(1, pull(scheduler, window_of(10 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_constraint_lost(void) {
    selene_scheduler scheduler = open_plain();
    struct work needy = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE};
    selene_task task = task_of("needy");
    selene_task_info before, after;
    selene_cycle cycle;
    selene_report *report = NULL;
    selene_run run, kept;
    int32_t reason = -1;
    add_handler(scheduler, "needy", &needy);
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    advance(S);
    add_work(scheduler, "other", &other);
    /* One failed attempt first, so that there is something to keep. */
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_run_retry(next(cycle, "needy"), 3 * S));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    before = record(scheduler, "needy");
    CHECK_INT(1, before.attempts);
    advance(5 * S);
    cycle = begin(scheduler, window_of(10 * S, 0, 2));
    run = next(cycle, "needy"); /* of the same age, and registered first */
    kept = next(cycle, "other");
    CHECK_INT(2, record(scheduler, "needy").attempts);
    advance(S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK)); /* loses what it does not need */
    CHECK_INT(0, atomic_load(&needy.stopped));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_EXTERNAL_POWER));
    CHECK_INT(1, atomic_load(&needy.stopped));
    CHECK_INT(0, atomic_load(&other.stopped));
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, atomic_load(&needy.reason));
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, reason);
    after = record(scheduler, "needy");
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(before.attempts, after.attempts);
    CHECK_INT(before.last_run, after.last_run);
    CHECK_INT(before.earliest_begin, after.earliest_begin);
    CHECK_INT(before.response_time_count, after.response_time_count);
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, after.stop_reason);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(kept, SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->stopped);
    CHECK_INT(1, report->no_data);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_shutdown(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = UNTIL_STOPPED};
    struct runner runner;
    selene_report *report;
    int64_t began;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(8 * S, 0, 1));
    wait_for("the handler", &work.started, 1);
    began = check_now();
    CHECK_OK(selene_scheduler_close(scheduler, 5 * S));
    CHECK(check_now() - began < 4 * S); /* it waits for the handler, not for the grace */
    CHECK_INT(1, atomic_load(&work.returned));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    wait_for("the end of the handler", &work.destroyed, 1);
    report = join_runner(&runner);
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_STOP_SHUTDOWN, report->runs[0].stop_reason);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, report->result);
    selene_report_destroy(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(atomic_load(&work.run), SELENE_OUTCOME_NEW_DATA));
}

static void test_grace(void) {
    selene_scheduler scheduler = open_real();
    struct work stuck = {.behaviour = GATE}, idle = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    int64_t began;
    add_work(scheduler, "stuck", &stuck);
    add_handler(scheduler, "idle", &idle);
    push_async(scheduler, window_of(8 * S, 0, 1), &receiver, NULL);
    wait_for("the handler", &stuck.started, 1);
    began = check_now();
    CHECK_OK(selene_scheduler_close(scheduler, 100 * MS));
    CHECK_BETWEEN(95 * MS, check_now() - began, 100 * MS + LATE);
    wait_for("the report", &receiver.calls, 1);
    CHECK_INT(1, receiver.stopped);
    wait_for("the end of the receiver", &receiver.destroyed, 1);
    CHECK_INT(1, atomic_load(&idle.destroyed));
    CHECK_INT(1, atomic_load(&stuck.stopped));
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&stuck.reason));
    CHECK_INT(0, atomic_load(&stuck.destroyed)); /* follows its last return, even later */
    atomic_store(&gate, 1);
    wait_for("the end of the handler", &stuck.destroyed, 1);
    CHECK_INT(1, atomic_load(&stuck.returned));
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&stuck.first_status));
}

static void test_close_pulled(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_run run;
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "a");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&work.reason));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

static void test_stopped_once(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_report *report = NULL;
    selene_run run;
    int32_t reason = -1;
    int64_t remaining = -1;
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window_of(10 * S, 2 * S, 1));
    run = next(cycle, "a");
    advance(8 * S - 1);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    CHECK_OK(selene_run_remaining(run, &remaining));
    CHECK_INT(1, remaining);
    CHECK_INT(0, atomic_load(&work.stopped));
    advance(1);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_EXPIRING, reason);
    CHECK_OK(selene_run_remaining(run, &remaining));
    CHECK_INT(0, remaining);
    CHECK_INT(1, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STOP_EXPIRING, atomic_load(&work.reason));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_CANCELLED, reason); /* the stronger one can be read */
    CHECK_INT(1, atomic_load(&work.stopped)); /* and is not called again */
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->stopped);
    CHECK_INT(SELENE_STOP_CANCELLED, report->runs[0].stop_reason);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, atomic_load(&work.stopped));
}

static void test_exactly_at_deadline(void) {
    selene_scheduler scheduler = open_plain();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_report *report = NULL;
    selene_run a, b;
    add_work(scheduler, "a", &first);
    advance(S);
    add_work(scheduler, "b", &second);
    cycle = begin(scheduler, window_of(10 * S, 2 * S, 2));
    a = next(cycle, "a");
    b = next(cycle, "b");
    advance(10 * S);
    CHECK_OK(selene_run_complete(a, SELENE_OUTCOME_NEW_DATA));
    advance(1);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(b, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, atomic_load(&first.stopped));
    CHECK_INT(1, atomic_load(&second.stopped));
    advance(5 * S); /* ends late, but everything took effect at its own instant */
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->runs[0].outcome);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, report->runs[1].outcome);
    CHECK_INT(10 * S, report->runs[0].response_time);
    CHECK_INT(10 * S, report->runs[1].response_time);
    CHECK_INT(START + S + 10 * S, record(scheduler, "b").last_run);
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, report->expired);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->result);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  ONE AT A TIME
 * ========================================================================= */

static void test_still_running(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = GATE};
    selene_report *report;
    add_work(scheduler, "a", &work);
    report = push(scheduler, window_of(REAL(100), 0, 1));
    CHECK_INT(1, report->expired);
    selene_report_destroy(report);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_INT(0, explain(scheduler, "a").rank);
    report = push(scheduler, window_of(REAL(1000), 0, 1));
    CHECK_INT(0, report->eligible);
    CHECK_INT(0, report->run_count);
    selene_report_destroy(report);
    atomic_store(&gate, 1);
    wait_until_ready(scheduler, "a");
    report = push(scheduler, window_of(REAL(1000), 0, 1));
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
    CHECK_INT(2, atomic_load(&work.started));
    CHECK_INT(1, atomic_load(&most_inside));
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

static void test_release(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_run run;
    int64_t ended;
    options.release_after = 60 * S;
    scheduler = open_virtual(options);
    observe(scheduler);
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "a");
    advance(10 * S);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    ended = START + 10 * S;
    CHECK_INT(ended + 60 * S, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).may_change_at);
    advance(60 * S - 1);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "a", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_INT(0, pull(scheduler, window_of(10 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, count_events(0, SELENE_EVENT_RELEASED, -1));
    advance(1);
    CHECK_INT(1, pull(scheduler, window_of(10 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, count_events(0, SELENE_EVENT_RELEASED, -1));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_release_threads(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    struct work work = {.behaviour = GATE};
    selene_report *report;
    options.release_after = REAL(100);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    add_work(scheduler, "a", &work);
    report = push(scheduler, window_of(REAL(100), 0, 1));
    CHECK_INT(1, report->expired);
    selene_report_destroy(report);
    wait_until_ready(scheduler, "a");
    report = push(scheduler, window_of(REAL(100), 0, 1));
    CHECK_INT(1, report->expired);
    selene_report_destroy(report);
    CHECK_INT(2, atomic_load(&most_inside)); /* the first was given up */
    wait_for_overruns(scheduler, 2);         /* but its thread is still counted */
    atomic_store(&gate, 1);
    wait_for("both handlers", &work.returned, 2);
    wait_for_overruns(scheduler, 0);
    CHECK_INT(SELENE_ERROR_STALE_RUN, atomic_load(&work.first_status));
    CHECK_OK(selene_scheduler_close(scheduler, S));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

/* ============================================================================
 *  PULLED CYCLES
 * ========================================================================= */

static void test_steps(void) {
    selene_scheduler scheduler = open_plain();
    struct work works[3];
    selene_window window = window_of(10 * S, 2 * S, 2);
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_cycle cycle;
    selene_run first, second;
    selene_report *report = NULL;
    int32_t step = -1;
    int64_t wake_at = -1;
    memset(works, 0, sizeof works);
    add_work(scheduler, "a", &works[0]);
    advance(S);
    add_work(scheduler, "b", &works[1]);
    advance(S);
    add_work(scheduler, "c", &works[2]);
    advance(S);
    cycle = begin(scheduler, window);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &(selene_cycle){0}));
    first = next(cycle, "a");
    second = next(cycle, "b");
    CHECK_OK(selene_cycle_next(cycle, &step, &info, &wake_at));
    CHECK_INT(SELENE_STEP_WAIT, step);
    CHECK_INT(START + 3 * S + 8 * S, wake_at);
    advance(8 * S);
    CHECK_OK(selene_cycle_next(cycle, &step, &info, &wake_at));
    CHECK_INT(SELENE_STEP_WAIT, step);
    /* After the stop comes the end: at the deadline, at which a run may still complete, or right after it. */
    CHECK_BETWEEN(START + 3 * S + 10 * S, wake_at, START + 3 * S + 10 * S + 1);
    CHECK_INT(1, atomic_load(&works[0].stopped));
    CHECK_OK(selene_run_complete(first, SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL); /* nothing is picked in the reserve */
    CHECK_OK(selene_run_complete(second, SELENE_OUTCOME_ABANDONED));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, &wake_at));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(3, report->eligible);
    CHECK_INT(2, report->run_count);
    CHECK_INT(1, report->abandoned);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, report->result);
    selene_report_destroy(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_forgotten(void) {
    selene_scheduler scheduler = open_plain();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = COMPLETE};
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle forgotten, cycle;
    selene_run run;
    add_work(scheduler, "a", &first);
    advance(S);
    add_work(scheduler, "b", &second);
    forgotten = begin(scheduler, window);
    run = next(forgotten, "a");
    advance(9 * S);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &cycle));
    advance(2 * S);
    cycle = begin(scheduler, window);
    CHECK(cycle != forgotten);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(forgotten, NULL));
    CHECK_INT(START + S + 10 * S, record(scheduler, "a").last_run);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, record(scheduler, "a").last_outcome);
    CHECK_OK(selene_run_complete(next(cycle, "b"), SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL); /* a has not come back */
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_pace(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    selene_window window = window_of(10 * S, 0, 1), both = window, processing = window;
    selene_cycle cycle, none = 0;
    int64_t at = 0;
    struct work work = {.behaviour = COMPLETE};
    both.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    processing.kinds = SELENE_KIND_PROCESSING;
    options.minimum_interval_refresh = 60 * S;
    scheduler = open_virtual(options);
    cycle = begin(scheduler, window); /* an empty cycle counts */
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_cycle_begin(scheduler, &window, &none));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    add_work(scheduler, "a", &work);
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &window, &none));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &both, &none)); /* one refused kind */
    CHECK_OK(selene_cycle_end(begin(scheduler, processing), NULL));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(START + 60 * S, at);
    advance(59 * S);
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &window, &none));
    advance(S); /* a refused begin did not count */
    CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &window, &none)); /* before TOO_SOON */
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_cycle_begin(scheduler, &both, &none));
    window.lanes = 0;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_begin(scheduler, &window, &none));
    CHECK_INT(0, none);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_switch_in_flight(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("b");
    selene_cycle cycle;
    selene_run run;
    add_work(scheduler, "a", &work);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "a");
    CHECK_OK(selene_scheduler_enable(scheduler, 0));
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE, selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  A WINDOW OF ONE TASK
 * ========================================================================= */

static void test_now_pulled(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_window window = window_for("late");
    selene_cycle open, now;
    selene_report *report = NULL;
    selene_run run;
    options.minimum_interval_refresh = SELENE_HOUR;
    scheduler = open_virtual(options);
    add_handler(scheduler, "h", &work);
    task = task_of("early");
    task.handler = SELENE_TEXT("h");
    task.priority = 5;
    add(scheduler, task);
    task = task_of("late"); /* of low rank, not due, and dear */
    task.handler = SELENE_TEXT("h");
    task.priority = 1;
    task.initial_delay = SELENE_DAY;
    task.expected_response = SELENE_HOUR;
    add(scheduler, task);
    advance(S);
    open = begin(scheduler, window_of(20 * S, 0, 2));
    now = begin(scheduler, window); /* outside C12 and C13 */
    run = next(now, "late");
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "late").state);
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, selene_cycle_begin(scheduler, &window, &(selene_cycle){0}));
    advance(S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    next(now, NULL);
    CHECK_OK(selene_cycle_end(now, &report));
    CHECK_INT(1, report->run_count);
    CHECK_TEXT("late", report->runs[0].id);
    selene_report_destroy(report);
    /* The other one, run now, counts as its run in the cycle that is open. */
    now = begin(scheduler, window_for("early"));
    CHECK_OK(selene_run_complete(next(now, "early"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(now, NULL));
    next(open, NULL);
    CHECK_INT(SELENE_REASON_HAD_ITS_RUN, why(scheduler, "early", SELENE_REASON_HAD_ITS_RUN).reason);
    CHECK_OK(selene_cycle_end(open, &report));
    CHECK_INT(0, report->run_count);
    selene_report_destroy(report);
    /* In backoff, in the middle of the minimum interval. */
    now = begin(scheduler, window_for("early"));
    CHECK_OK(selene_run_retry(next(now, "early"), SELENE_HOUR));
    CHECK_OK(selene_cycle_end(now, NULL));
    now = begin(scheduler, window_for("early"));
    CHECK_OK(selene_run_complete(next(now, "early"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(now, NULL));
    CHECK_INT(4, record(scheduler, "late").response_time_count + record(scheduler, "early").response_time_count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void refuse_now(selene_scheduler scheduler, selene_status expected, const char *id) {
    selene_window window = window_for(id);
    selene_cycle cycle = 0;
    selene_plan *plan = NULL;
    CHECK_STATUS(expected, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_STATUS(expected, selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(0, cycle);
    CHECK(plan == NULL);
}

static void test_now_refused(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_window window = window_for("a");
    selene_cycle cycle;
    selene_run run;
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_processing = 1;
    scheduler = open_virtual(options);
    add_handler(scheduler, "h", &work);
    refuse_now(scheduler, SELENE_ERROR_NOT_FOUND, "a");
    add(scheduler, task_of("a"));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* no handler */
    task = task_of("a");
    task.handler = SELENE_TEXT("h");
    task.constraints = SELENE_CONSTRAINT_EXTERNAL_POWER;
    add(scheduler, task);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* constraint */
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING));
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, selene_cycle_begin(scheduler, &window, &cycle)); /* kind off */
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING | SELENE_KIND_REFRESH));
    window.lanes = 2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_cycle_begin(scheduler, &window, &cycle));
    cycle = begin(scheduler, window_for("a"));
    run = next(cycle, "a");
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* running */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* has not come back */
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "a"); /* terminal */
    task = once_of("p1");
    task.handler = SELENE_TEXT("h");
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
    task.id = SELENE_TEXT("p2");
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    refuse_now(scheduler, SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "p2"); /* held */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_now_pushed(void) {
    selene_scheduler scheduler = open_real();
    struct work stuck = {.behaviour = GATE}, work = {.behaviour = COMPLETE};
    struct receiver receiver = {0}, other = {0};
    selene_task task = once_of("now");
    selene_window window = window_for("now");
    selene_report *report;
    add_work(scheduler, "stuck", &stuck);
    add_handler(scheduler, "now", &work);
    task.initial_delay = SELENE_DAY;
    add(scheduler, task);
    push_async(scheduler, window_of(8 * S, 0, 1), &receiver, NULL);
    wait_for("the handler", &stuck.started, 1);
    report = push(scheduler, window); /* while another cycle is open */
    CHECK_INT(1, report->new_data);
    CHECK_TEXT("now", report->runs[0].id);
    selene_report_destroy(report);
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "now").state);
    add(scheduler, task_of("again"));
    add_handler(scheduler, "again", &(struct work){.behaviour = COMPLETE});
    push_async(scheduler, window_for("again"), &other, NULL);
    wait_for("the report", &other.destroyed, 1);
    CHECK_INT(1, other.new_data);
    CHECK(other.cycle != receiver.cycle);
    atomic_store(&gate, 1);
    wait_for("the other report", &receiver.destroyed, 1);
    CHECK_INT(1, receiver.run_count);
    CHECK_OK(selene_scheduler_close(scheduler, S));
}

/* ============================================================================
 *  EVENTS
 * ========================================================================= */

static void test_event_order(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    selene_window window = window_of(10 * S, 0, 1);
    const selene_event *event;
    selene_cycle cycle;
    selene_run run;
    window.kinds = SELENE_KIND_PROCESSING;
    observe(scheduler);
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    CHECK_INT(SELENE_DISPOSITION_KEPT, add(scheduler, task)); /* changes nothing: no event */
    advance(S);
    cycle = begin(scheduler, window);
    run = next(cycle, "a");
    advance(S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_FAILED));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_INT(7, atomic_load(&noted_count));
    for (int i = 0; i < 7; i++) CHECK_INT(i + 1, noted[i].event.number);
    event = event_at(0, SELENE_EVENT_REGISTERED, "a", SELENE_DISPOSITION_ADDED);
    CHECK_INT(START, event->time);
    CHECK_INT(SELENE_STATE_ENQUEUED, event->state);
    CHECK_INT(0, event->run);
    event = event_at(1, SELENE_EVENT_CYCLE_BEGUN, "", 0);
    CHECK_INT(-1, event->state);
    CHECK_INT(cycle, event->cycle);
    CHECK_INT(START + S, event->time);
    CHECK_INT(START + 11 * S, event->time_at);
    event = event_at(2, SELENE_EVENT_STARTED, "a", 0);
    CHECK_INT(SELENE_STATE_RUNNING, event->state);
    CHECK_INT(run, event->run);
    CHECK_INT(cycle, event->cycle);
    CHECK_INT(1, event->attempts);
    CHECK_INT(START + 11 * S, event->time_at);
    event = event_at(3, SELENE_EVENT_COMPLETED, "a", SELENE_OUTCOME_FAILED);
    CHECK_INT(SELENE_STATE_ENQUEUED, event->state);
    CHECK_INT(run, event->run);
    CHECK_INT(START + 2 * S, event->time);
    event = event_at(4, SELENE_EVENT_RETRY, "a", 0);
    CHECK_INT(START + 32 * S, event->time_at);
    CHECK_INT(1, event->attempts);
    event = event_at(5, SELENE_EVENT_CYCLE_ENDED, "", SELENE_OUTCOME_FAILED);
    CHECK_INT(cycle, event->cycle);
    CHECK_INT(-1, event->state);
    event = event_at(6, SELENE_EVENT_CANCELLED, "a", 0);
    CHECK_INT(SELENE_STATE_CANCELLED, event->state);
    CHECK_INT(0, atomic_load(&observers_destroyed));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, atomic_load(&observers_destroyed));
    CHECK_INT(7, atomic_load(&noted_count));
}

static void test_event_kinds(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle cycle;
    selene_run run;
    int since;
    window.kinds = SELENE_KIND_PROCESSING;
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_processing = 1;
    scheduler = open_virtual(options);
    observe(scheduler);
    add_handler(scheduler, "h", &work);
    task = once_of("a");
    task.handler = SELENE_TEXT("h");
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND;
    CHECK_INT(SELENE_DISPOSITION_APPENDED, add(scheduler, task));
    task.id = SELENE_TEXT("b");
    since = atomic_load(&noted_count);
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    CHECK_INT(1, count_events(since, SELENE_EVENT_REGISTERED, SELENE_DISPOSITION_HELD));
    CHECK_INT(1, count_events(since, SELENE_EVENT_HELD, -1));
    since = atomic_load(&noted_count);
    CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_NEW_DATA)); /* the first of a succeeds, the second takes its place */
    CHECK_INT(1, count_events(since, SELENE_EVENT_COMPLETED, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, count_events(since, SELENE_EVENT_UNBLOCKED, -1));
    CHECK_INT(0, count_events(since, SELENE_EVENT_PROMOTED, -1));
    since = atomic_load(&noted_count);
    cycle = begin(scheduler, window);
    run = next(cycle, "a");
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_INT(1, count_events(since, SELENE_EVENT_STOPPED, SELENE_STOP_CANCELLED));
    CHECK_INT(1, count_events(since, SELENE_EVENT_CANCELLED, -1));
    CHECK_INT(1, count_events(since, SELENE_EVENT_PROMOTED, -1));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    since = atomic_load(&noted_count);
    cycle = begin(scheduler, window);
    run = next(cycle, "b");
    advance(10 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, count_events(since, SELENE_EVENT_STOPPED, SELENE_STOP_EXPIRING));
    CHECK_INT(1, count_events(since, SELENE_EVENT_COMPLETED, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    for (int i = 0; i < atomic_load(&noted_count); i++) CHECK_INT(i + 1, noted[i].event.number);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_born_failed(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    selene_window window = window_of(10 * S, 0, 1);
    int since, without_run = 0;
    window.kinds = SELENE_KIND_PROCESSING;
    observe(scheduler);
    add_handler(scheduler, "a", &work);
    task.max_attempts = 1;
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND;
    add(scheduler, task);
    add(scheduler, task);
    since = atomic_load(&noted_count);
    CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_FAILED));
    for (int i = since; i < atomic_load(&noted_count); i++)
        if (noted[i].event.type == SELENE_EVENT_COMPLETED && !noted[i].event.run) {
            CHECK_INT(SELENE_STATE_FAILED, noted[i].event.state);
            without_run++;
        }
    CHECK_INT(2, without_run);
    CHECK_INT(0, count_events(since, SELENE_EVENT_RETRY, -1));
    CHECK_INT(SELENE_STATE_FAILED, record(scheduler, "a").state);
    CHECK_INT(0, record(scheduler, "a").appended);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static selene_scheduler observed;

static void note_and_change(const selene_event *event, void *context) {
    char id[16];
    uint64_t number = event->number;
    int before = atomic_load(&noted_count);
    note(event, context);
    if (number > 5 || event->type != SELENE_EVENT_REGISTERED) return;
    atomic_fetch_add(&observing, 1);
    snprintf(id, sizeof id, "r%d", (int)number);
    add(observed, task_of(id));
    CHECK_OK(selene_task_cancel(observed, id, -1, NULL));
    CHECK_INT(before + 1, atomic_load(&noted_count)); /* queued behind, not nested */
    atomic_fetch_sub(&observing, 1);
}

static void test_event_reentrancy(void) {
    observed = open_plain();
    CHECK_OK(selene_scheduler_observe(observed, note_and_change, NULL, note_destroy));
    add(observed, task_of("a"));
    /* a registered; r1 registered, r1 cancelled; r2 (from the second) registered, r2 cancelled; … */
    CHECK_INT(7, atomic_load(&noted_count));
    for (int i = 0; i < 7; i++) CHECK_INT(i + 1, noted[i].event.number);
    event_at(0, SELENE_EVENT_REGISTERED, "a", SELENE_DISPOSITION_ADDED);
    event_at(1, SELENE_EVENT_REGISTERED, "r1", SELENE_DISPOSITION_ADDED);
    event_at(2, SELENE_EVENT_CANCELLED, "r1", 0);
    event_at(3, SELENE_EVENT_REGISTERED, "r2", SELENE_DISPOSITION_ADDED);
    event_at(4, SELENE_EVENT_CANCELLED, "r2", 0);
    event_at(5, SELENE_EVENT_REGISTERED, "r4", SELENE_DISPOSITION_ADDED);
    event_at(6, SELENE_EVENT_CANCELLED, "r4", 0);
    CHECK_OK(selene_scheduler_close(observed, 0));
    CHECK_INT(1, atomic_load(&observers_destroyed));
}

struct chained {
    int number;
    int calls;
    int destroyed;
    struct chained *next;
};

static void chain(const selene_event *event, void *context);

static void chain_destroy(void *context) { ((struct chained *)context)->destroyed++; }

static void chain(const selene_event *event, void *context) {
    struct chained *self = context;
    (void)event;
    self->calls++;
    CHECK_INT(0, self->destroyed);
    if (!self->next) return;
    CHECK_OK(selene_scheduler_observe(observed, chain, self->next, chain_destroy));
    CHECK_INT(0, self->destroyed); /* not while it is running */
}

static void test_observer_replaced(void) {
    struct chained third = {3, 0, 0, NULL}, second = {2, 0, 0, &third}, first = {1, 0, 0, &second}, none = {0, 0, 0, NULL};
    observed = open_plain();
    CHECK_OK(selene_scheduler_observe(observed, chain, &first, chain_destroy));
    add(observed, task_of("a"));
    CHECK_INT(1, first.calls);
    CHECK_INT(1, first.destroyed);
    CHECK_INT(0, second.calls);
    add(observed, task_of("b"));
    CHECK_INT(1, second.calls);
    CHECK_INT(1, second.destroyed);
    add(observed, task_of("c"));
    CHECK_INT(1, third.calls);
    CHECK_INT(0, third.destroyed);
    CHECK_OK(selene_scheduler_observe(observed, NULL, NULL, NULL));
    CHECK_INT(1, third.destroyed);
    add(observed, task_of("d"));
    CHECK_INT(1, third.calls);
    CHECK_OK(selene_scheduler_observe(observed, NULL, &none, chain_destroy)); /* no function: only an end */
    CHECK_OK(selene_scheduler_close(observed, 0));
    CHECK_INT(1, none.destroyed);
    CHECK_INT(1, first.destroyed);
    CHECK_INT(1, second.destroyed);
    CHECK_INT(1, third.destroyed);
    CHECK_INT(0, none.calls);
}

static void test_events_of_threads(void) {
    selene_scheduler scheduler = open_real();
    struct work works[8];
    selene_report *report;
    memset(works, 0, sizeof works);
    observe(scheduler);
    for (int k = 0; k < 8; k++) {
        char id[16];
        snprintf(id, sizeof id, "%d", k);
        works[k].behaviour = SLEEP;
        works[k].duration = 5 * MS;
        add_work(scheduler, id, &works[k]);
    }
    report = push(scheduler, window_of(5 * S, 0, 4));
    CHECK_INT(8, report->new_data);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
    wait_for("the end of the observer", &observers_destroyed, 1);
    CHECK_INT(8 + 1 + 8 + 8 + 1, atomic_load(&noted_count));
    for (int i = 0; i < atomic_load(&noted_count); i++) CHECK_INT(i + 1, noted[i].event.number);
    for (int i = 1; i < atomic_load(&noted_count); i++) CHECK(noted[i].event.time >= noted[i - 1].event.time);
    event_at(8, SELENE_EVENT_CYCLE_BEGUN, "", 0);
    event_at(25, SELENE_EVENT_CYCLE_ENDED, "", SELENE_OUTCOME_NEW_DATA);
}

/* ============================================================================
 *  WHY
 * ========================================================================= */

static void test_why(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    selene_explanation explanation = SELENE_EXPLANATION_INIT;
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_processing = 1;
    scheduler = open_virtual(options);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_explain(scheduler, "a", -1, &explanation));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    task.constraints = BOTH;
    task.initial_delay = 100 * S;
    add(scheduler, task);
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING));
    explanation = explain(scheduler, "a");
    CHECK_INT(4, explanation.reason_count); /* every reason, not the first */
    CHECK_INT(SELENE_STATE_ENQUEUED, explanation.state);
    CHECK_INT(0, explanation.rank);
    CHECK_INT(-1, explanation.last_room);
    CHECK_INT(START + 100 * S, why(scheduler, "a", SELENE_REASON_NOT_DUE).may_change_at);
    CHECK_INT(SELENE_CONSTRAINT_EXTERNAL_POWER, why(scheduler, "a", SELENE_REASON_CONSTRAINTS).constraints);
    CHECK_INT(SELENE_NEVER, why(scheduler, "a", SELENE_REASON_CONSTRAINTS).may_change_at);
    CHECK_INT(SELENE_NEVER, why(scheduler, "a", SELENE_REASON_NO_HANDLER).may_change_at);
    CHECK_INT(SELENE_NEVER, why(scheduler, "a", SELENE_REASON_KIND_OFF).may_change_at);
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING | SELENE_KIND_REFRESH));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    add_handler(scheduler, "a", &work);
    CHECK_INT(1, explain(scheduler, "a").reason_count);
    advance(100 * S);
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    CHECK_INT(1, explain(scheduler, "a").rank);
    CHECK_INT(1, explain(scheduler, "a").eligible);

    add(scheduler, once_of("p1"));
    add(scheduler, once_of("p2"));
    CHECK_INT(SELENE_STATE_HELD, explain(scheduler, "p2").state);
    CHECK_INT(SELENE_REASON_HELD, why(scheduler, "p2", SELENE_REASON_HELD).reason);
    CHECK_OK(selene_task_cancel(scheduler, "p2", -1, NULL));
    explanation = explain(scheduler, "p2");
    CHECK_INT(SELENE_STATE_CANCELLED, explanation.state);
    CHECK_INT(SELENE_REASON_TERMINAL, why(scheduler, "p2", SELENE_REASON_TERMINAL).reason);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_why_in_cycle(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_cycle cycle;
    selene_run run;
    selene_explanation explanation;
    options.minimum_interval_refresh = 60 * S;
    scheduler = open_virtual(options);
    add_handler(scheduler, "h", &work);
    task = task_of("first");
    task.handler = SELENE_TEXT("h");
    task.expected_response = 4 * S;
    add(scheduler, task);
    advance(S);
    task.id = SELENE_TEXT("big");
    task.expected_response = 20 * S;
    add(scheduler, task);
    advance(S);
    explanation = explain(scheduler, "big");
    CHECK_INT(0, explanation.reason_count);
    CHECK_INT(2, explanation.rank);
    CHECK_INT(2, explanation.eligible);
    CHECK_INT(20 * S, explanation.estimate);
    CHECK(explanation.score > 0.2999999 && explanation.score < 0.3000001); /* 3/5 of half the greatest age */
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "first");
    explanation = explain(scheduler, "first");
    CHECK_INT(SELENE_STATE_RUNNING, explanation.state);
    CHECK_INT(SELENE_REASON_RUNNING, why(scheduler, "first", SELENE_REASON_RUNNING).reason);
    task.id = SELENE_TEXT("new");
    task.expected_response = S;
    add(scheduler, task);
    CHECK_INT(SELENE_REASON_NEXT_CYCLE, why(scheduler, "new", SELENE_REASON_NEXT_CYCLE).reason);
    advance(4 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_REASON_HAD_ITS_RUN, why(scheduler, "first", SELENE_REASON_HAD_ITS_RUN).reason);
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(0, why(scheduler, "first", SELENE_REASON_HAD_ITS_RUN).reason);
    CHECK_INT(0, why(scheduler, "new", SELENE_REASON_NEXT_CYCLE).reason);
    CHECK_INT(SELENE_REASON_DID_NOT_FIT, why(scheduler, "big", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_INT(0, why(scheduler, "first", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_INT(0, why(scheduler, "new", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_INT(6 * S, explain(scheduler, "big").last_room);
    CHECK_INT(START + 2 * S + 60 * S, why(scheduler, "big", SELENE_REASON_TOO_SOON).may_change_at);
    CHECK_INT(START + 2 * S + 60 * S, why(scheduler, "first", SELENE_REASON_TOO_SOON).may_change_at);
    advance(56 * S);
    CHECK_INT(0, why(scheduler, "big", SELENE_REASON_TOO_SOON).reason);
    /* Now it is the best one, and the first pick is made whatever its estimate. */
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    run = next(cycle, "big");
    advance(10 * S);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(0, why(scheduler, "big", SELENE_REASON_DID_NOT_FIT).reason);
    CHECK_INT(SELENE_REASON_STILL_RUNNING, why(scheduler, "big", SELENE_REASON_STILL_RUNNING).reason);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_plan(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    selene_window window = window_of(10 * S, S, 2);
    selene_plan *plan = NULL, *again = NULL;
    selene_cycle cycle;
    add_handler(scheduler, "h", &work);
    task.handler = SELENE_TEXT("h");
    task.expected_response = 3 * S;
    for (int k = 0; k < 8; k++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", k);
        task.id.data = id;
        task.id.length = -1;
        add(scheduler, task);
        advance(S);
    }
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(8, plan->eligible);
    CHECK_INT(6, plan->run_count); /* 9 s on two lanes, 3 s each */
    for (int k = 0; k < 6; k++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", k);
        CHECK_TEXT(id, plan->runs[k].id);
        CHECK_INT(START + 8 * S + k / 2 * 3 * S, plan->runs[k].starts_at);
        CHECK_INT(3 * S, plan->runs[k].estimate);
    }
    /* It changes nothing and ignores open cycles, pace and switches. */
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_cycle_plan(scheduler, &window, &again));
    CHECK_INT(6, again->run_count);
    selene_plan_destroy(again);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_enable(scheduler, 0));
    CHECK_OK(selene_cycle_plan(scheduler, &window, &again));
    CHECK_INT(6, again->run_count);
    selene_plan_destroy(again);
    selene_plan_destroy(plan);
    selene_plan_destroy(NULL);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void check_wakeup(selene_scheduler scheduler, int64_t expected) {
    int64_t at = -1, delay = -1;
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, &delay));
    CHECK_INT(expected, at);
    CHECK_INT(expected == SELENE_NEVER ? SELENE_NEVER : expected - atomic_load(&clock_now), delay);
}

static void test_wakeup(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task;
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle cycle;
    check_wakeup(scheduler, SELENE_NEVER);
    task = once_of("once");
    task.handler = SELENE_TEXT("h");
    task.initial_delay = 100 * S;
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    check_wakeup(scheduler, SELENE_NEVER); /* no handler */
    add_handler(scheduler, "h", &work);
    check_wakeup(scheduler, START + 100 * S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    check_wakeup(scheduler, SELENE_NEVER); /* a constraint: an event of its own */
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH));
    check_wakeup(scheduler, SELENE_NEVER); /* switched off */
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING));
    task = task_of("standing");
    task.handler = SELENE_TEXT("h");
    add(scheduler, task);
    check_wakeup(scheduler, START); /* there was no cycle yet */
    cycle = begin(scheduler, window);
    check_wakeup(scheduler, START + 100 * S); /* refresh is in a cycle */
    CHECK_OK(selene_run_complete(next(cycle, "standing"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    check_wakeup(scheduler, START + 100 * S);
    CHECK_OK(selene_task_cancel(scheduler, "once", -1, NULL));
    check_wakeup(scheduler, START + 15 * SELENE_MINUTE);
    advance(SELENE_HOUR);
    check_wakeup(scheduler, START + SELENE_HOUR); /* past: now */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  TASKS AND HANDLERS
 * ========================================================================= */

static void test_hold(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("p1");
    selene_window window = window_of(10 * S, 0, 1);
    selene_task_info before, after;
    selene_scheduler_info counts = SELENE_SCHEDULER_INFO_INIT;
    selene_cycle cycle;
    window.kinds = SELENE_KIND_PROCESSING;
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_processing = 1;
    scheduler = open_virtual(options);
    add_handler(scheduler, "h", &work);
    task.handler = SELENE_TEXT("h");
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
    task.id = SELENE_TEXT("low");
    task.priority = 2;
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    task.id = SELENE_TEXT("high");
    task.priority = 4;
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    task.id = SELENE_TEXT("higher");
    CHECK_INT(SELENE_DISPOSITION_HELD, add(scheduler, task));
    CHECK_OK(selene_scheduler_get(scheduler, &counts));
    CHECK_INT(1, counts.enqueued);
    CHECK_INT(3, counts.held);
    before = record(scheduler, "high");
    advance(S);
    CHECK_OK(selene_task_cancel(scheduler, "p1", -1, NULL));
    after = record(scheduler, "high"); /* of two with the same priority the older */
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(before.sequence, after.sequence);
    CHECK_INT(before.registered_at, after.registered_at);
    CHECK_INT(before.earliest_begin, after.earliest_begin);
    CHECK_INT(SELENE_STATE_HELD, record(scheduler, "higher").state);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_run_complete(next(cycle, "high"), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "higher").state);
    next(cycle, NULL); /* promoted after begin: the next cycle's */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "low").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_prune(void) {
    selene_scheduler scheduler = open_plain();
    uint64_t count = 99;
    selene_task_info *info = NULL;
    add(scheduler, once_of("a"));
    add(scheduler, once_of("b"));
    add(scheduler, once_of("c"));
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(1, count);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK(info == NULL);
    CHECK_OK(selene_task_cancel(scheduler, "b", -1, NULL));
    advance(SELENE_DAY - S);
    CHECK_OK(selene_cycle_end(begin(scheduler, window_of(S / 2, 0, 1)), NULL));
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "b").state);
    advance(2 * S);
    CHECK_OK(selene_cycle_end(begin(scheduler, window_of(S / 2, 0, 1)), NULL));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "b", -1, 0, &info));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "c").state);
    CHECK_OK(selene_scheduler_prune(scheduler, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_reset(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler;
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_task_ids *ids = NULL;
    uint32_t satisfied = 0, host = 0;
    selene_scheduler_info counts = SELENE_SCHEDULER_INFO_INIT;
    options.minimum_interval_refresh = SELENE_HOUR;
    scheduler = open_virtual(options);
    add_work(scheduler, "a", &work);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_scheduler_reset(scheduler));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH));
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    CHECK_INT(0, ids->count);
    selene_task_ids_destroy(ids);
    CHECK_INT(0, atomic_load(&work.destroyed)); /* handlers, conditions and switches stay */
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_conditions_get(scheduler, &satisfied, &host));
    CHECK_INT(SELENE_CONSTRAINT_NETWORK, satisfied);
    CHECK_INT(BOTH, host);
    CHECK_OK(selene_scheduler_get(scheduler, &counts));
    CHECK_INT(SELENE_KIND_REFRESH, counts.kinds);
    CHECK_INT(0, counts.enqueued + counts.running + counts.cancelled);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task_of("a")));
    CHECK_INT(1, pull(scheduler, window_of(10 * S, 0, 1), SELENE_OUTCOME_NEW_DATA)); /* no history, no pace */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_positions(void) {
    selene_scheduler scheduler = open_plain();
    selene_task task = once_of("a");
    selene_task_info *info = NULL, record0;
    selene_scheduler_info counts = SELENE_SCHEDULER_INFO_INIT;
    uint64_t count = 0, last = 0;
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND;
    for (int k = 2; k <= 4; k++) {
        task.priority = k;
        CHECK_INT(SELENE_DISPOSITION_APPENDED, add(scheduler, task));
    }
    record0 = record(scheduler, "a");
    CHECK_INT(3, record0.appended);
    CHECK_INT(3, record0.priority);
    CHECK_INT(SELENE_STATE_ENQUEUED, record0.state);
    last = record0.sequence;
    for (uint64_t k = 1; k <= 3; k++) {
        selene_task_info waiting = record_at(scheduler, "a", k);
        CHECK_INT(k + 1, waiting.priority); /* first in, first out */
        CHECK_INT(SELENE_STATE_BLOCKED, waiting.state);
        CHECK(waiting.sequence > last);
        last = waiting.sequence;
    }
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "a", -1, 4, &info));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "a", -1, UINT64_MAX, &info));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, "b", -1, 0, &info));
    CHECK_OK(selene_scheduler_get(scheduler, &counts));
    CHECK_INT(3, counts.blocked);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, &count));
    CHECK_INT(4, count);
    CHECK_INT(SELENE_STATE_CANCELLED, record(scheduler, "a").state);
    CHECK_INT(0, record(scheduler, "a").appended);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_list(void) {
    selene_scheduler scheduler = open_plain();
    selene_task task;
    selene_task_info *info = NULL;
    selene_task_ids *ids = NULL;
    const selene_text tags[3] = {SELENE_TEXT("x"), SELENE_TEXT("y"), SELENE_TEXT("x")};
    task = task_of("c");
    task.tags = tags;
    task.tag_count = 3;
    add(scheduler, task);
    add(scheduler, task_of("a"));
    task = task_of("b");
    task.tags = tags;
    task.tag_count = 1;
    add(scheduler, task);
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task_of("a"))); /* keeps its place */
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    CHECK_INT(3, ids->count);
    CHECK_TEXT("c", ids->ids[0]);
    CHECK_TEXT("a", ids->ids[1]);
    CHECK_TEXT("b", ids->ids[2]);
    selene_task_ids_destroy(ids);
    CHECK_OK(selene_task_list(scheduler, "x", -1, &ids));
    CHECK_INT(2, ids->count);
    CHECK_TEXT("c", ids->ids[0]);
    CHECK_TEXT("b", ids->ids[1]);
    selene_task_ids_destroy(ids);
    CHECK_OK(selene_task_list(scheduler, "y", 1, &ids));
    CHECK_INT(1, ids->count);
    selene_task_ids_destroy(ids);
    CHECK_OK(selene_task_list(scheduler, "nobody", -1, &ids));
    CHECK_INT(0, ids->count);
    selene_task_ids_destroy(ids);
    CHECK_OK(selene_task_get(scheduler, "c", -1, 0, &info));
    CHECK_INT(2, info->tag_count); /* repeated ones count once */
    CHECK_TEXT("x", info->tags[0]);
    CHECK_TEXT("y", info->tags[1]);
    CHECK_TEXT("c", info->handler);
    CHECK_INT(0, info->input.length);
    CHECK_INT(-1, info->last_outcome);
    CHECK_INT(START, info->registered_at);
    selene_task_info_destroy(info);
    selene_task_info_destroy(NULL);
    selene_task_ids_destroy(NULL);
    selene_report_destroy(NULL);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_unregister_in_flight(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = GATE}, again = {.behaviour = COMPLETE};
    struct runner runner;
    selene_report *report;
    add_work(scheduler, "a", &work);
    start_runner(&runner, scheduler, window_of(8 * S, 0, 1));
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_handler_unregister(scheduler, "a", -1));
    CHECK_INT(0, atomic_load(&work.destroyed));
    CHECK_INT(0, atomic_load(&work.stopped)); /* it goes on */
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_handler_unregister(scheduler, "a", -1));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_handler_register(scheduler, "a", -1, work_run, NULL, &again, work_destroy));
    CHECK_INT(1, atomic_load(&again.destroyed));
    atomic_store(&gate, 1);
    report = join_runner(&runner);
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
    wait_for("the end of the handler", &work.destroyed, 1);
    CHECK_INT(1, atomic_load(&work.returned));
    CHECK_INT(SELENE_REASON_NO_HANDLER, why(scheduler, "a", SELENE_REASON_NO_HANDLER).reason);
    atomic_store(&again.destroyed, 0);
    add_handler(scheduler, "a", &again);
    report = push(scheduler, window_of(S, 0, 1));
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
    CHECK_INT(1, atomic_load(&work.destroyed));
    CHECK_INT(1, atomic_load(&again.destroyed));
}

static void ask_everything(struct work *work, selene_run run, const selene_run_info *info) {
    selene_scheduler scheduler = work->scheduler;
    selene_window window = window_of(S, 0, 1);
    selene_cycle cycle = 0;
    static struct receiver receiver;
    (void)info;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_close(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_reset(scheduler));
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_cycle_run(scheduler, &window, NULL));
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_cycle_run(scheduler, &window, NULL));
    window.flags = 0;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle)); /* pulled and pushed without blocking are legal */
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_run_async(scheduler, &window, receive, &receiver, receiver_destroy, NULL, NULL));
    wait_for("the report", &receiver.destroyed, 1);
    CHECK_INT(1, atomic_load(&receiver.calls));
    add(scheduler, task_of("other"));
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
    CHECK_INT(run, record(scheduler, "a").run);
    complete_twice(work, run);
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_close(scheduler, 0));
}

static void test_reentrant(void) {
    selene_scheduler scheduler = open_real(), other = open_real();
    struct work work = {.behaviour = ASK, .ask = ask_everything};
    selene_report *report;
    add_work(scheduler, "a", &work);
    report = push(scheduler, window_of(8 * S, 0, 1));
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, S));
    CHECK_OK(selene_scheduler_close(other, 0));
    CHECK_INT(1, atomic_load(&work.destroyed));
}

static void test_successor(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle cycle;
    selene_task_info before, after;
    window.kinds = SELENE_KIND_PROCESSING;
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    task.existing = SELENE_EXISTING_APPEND;
    task.initial_delay = 7 * S;
    add(scheduler, task);
    before = record(scheduler, "a");
    advance(S);
    cycle = begin(scheduler, window);
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
    after = record(scheduler, "a");
    CHECK(after.sequence != before.sequence);
    CHECK_INT(SELENE_STATE_ENQUEUED, after.state);
    CHECK_INT(START + S, after.registered_at); /* as if registered at that moment */
    CHECK_INT(START + 8 * S, after.earliest_begin);
    CHECK_INT(0, after.appended);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_update_in_flight(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = task_of("a");
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_cycle cycle;
    int32_t step = -1;
    task.input = "old";
    task.input_length = 3;
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    task.input = "newer";
    task.input_length = 5;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "a").state);
    CHECK_INT(1, record(scheduler, "a").generation);
    CHECK_TEXT("old", info.input); /* borrowed until the completion */
    CHECK_INT(0, info.generation);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(S);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_TEXT("newer", info.input);
    CHECK_INT(1, info.generation);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_clock_reentrant_call(void);

static selene_scheduler clocked;
static atomic_int clock_status, clock_calls;

static int64_t calling_clock(void *context) {
    int64_t now = 0;
    (void)context;
    if (clocked) {
        atomic_store(&clock_status, selene_scheduler_now(clocked, &now));
        atomic_fetch_add(&clock_calls, 1);
    }
    return START;
}

static void test_clock_reentrant_call(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    int64_t now = 0;
    options.clock = calling_clock;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    clocked = scheduler;
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START, now);
    CHECK(atomic_load(&clock_calls) > 0);
    CHECK_INT(SELENE_ERROR_REENTRANT, atomic_load(&clock_status));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_clock_going_back(void) {
    selene_scheduler scheduler = open_plain();
    int64_t now = 0;
    advance(10 * S);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START + 10 * S, now);
    advance(-5 * S);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START + 10 * S, now); /* it stands until the clock has caught up */
    advance(6 * S);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START + 11 * S, now);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);

    run_test("C5 the report comes by the deadline while a handler sleeps past it and completes twice late", test_sleeper);
    run_test("C5 the report comes by the deadline though a handler returns and never completes", test_never);
    run_test("C5 the report comes by the deadline while four handlers ignore their stop function", test_ignorers);
    run_test("C5 the report of run_async comes by the deadline while a handler is stuck", test_async_deadline);
    run_test("C5 at the cap of threads left behind a pushed cycle is refused with BUSY", test_cap);
    run_test("C7 in the reserve a run is asked to stop and may still complete", test_in_reserve);
    run_test("C7 a stop function may complete its run", test_complete_in_stop);
    run_test("C7 a run may still complete exactly at the deadline, and not a nanosecond later", test_exactly_at_deadline);

    run_test("C6 the first outcome stands, the second answers ALREADY_COMPLETED", test_twice);
    run_test("C6 another thread may complete a run before its handler returned", test_other_thread);
    run_test("C6 a run may be completed after its handler returned, which keeps its lane", test_after_return);
    run_test("C6 a failure may carry its own delay in place of the backoff", test_retry);
    run_test("C6 a run gets a copy of its task's definition and input", test_run_info);

    run_test("C5 four lanes are four threads at a time", test_parallel);
    run_test("C5 never more handlers run at a time than there are lanes", test_two_lanes);
    run_test("C5 inline handlers run one after another on the calling thread", test_inline);
    run_test("C5 with a host clock there are no library threads, and an undecided inline run ends the cycle",
             test_host_clock);
    run_test("T10 a handler without a function is for pulled cycles only", test_pulled_only);
    run_test("C12 run_async joins the pushed cycle of its kinds and gets its deadline and report", test_join);
    run_test("C5 a pushed cycle can be ended early and is reported to all who wait", test_end_early);

    run_test("C8 cancelling stops the run in flight, which is over at once", test_cancel_in_flight);
    run_test("C8 replacing stops the run in flight, and the id stays taken until it comes back", test_replace_in_flight);
    run_test("C8 a lost constraint stops the run, and the task is as before it", test_constraint_lost);
    run_test("C8 closing stops the runs in flight and reports their cycle", test_shutdown);
    run_test("C8 a stop function is called once, a stronger reason can be read", test_stopped_once);
    run_test("P3 close waits for handlers at most its grace, their destroy follows later", test_grace);
    run_test("P3 close ends a pulled cycle and makes its tokens stale", test_close_pulled);

    run_test("C4 after an overrun the id stays taken until the handler has returned", test_still_running);
    run_test("C4 an id stays taken while a completed handler has not returned", test_complete_then_stuck);
    run_test("C4 what does not come back is let go after release_after, with an event", test_release);
    run_test("C4 a handler on a library thread is let go too, its thread still counts", test_release_threads);

    run_test("C5 next gives a run, says when to come again, or that it is done", test_steps);
    run_test("C5 a begin past the deadline of a forgotten cycle ends that one first", test_forgotten);
    run_test("C13 a minimum interval counts from begin to begin, refusals in their order", test_pace);
    run_test("C13 a kind that is switched off lets its runs in flight go on", test_switch_in_flight);

    run_test("C14 a window of one task runs it whatever its rank, cost, delay and open cycles", test_now_pulled);
    run_test("C14 a window of one task is refused when the task cannot run", test_now_refused);
    run_test("C14 a window of one task can be pushed beside another cycle", test_now_pushed);

    run_test("C18 events come in the order of the changes, numbered from 1", test_event_order);
    run_test("C18 holds, promotions, stops and successors are events", test_event_kinds);
    run_test("C18 successors born failed are events without a run", test_born_failed);
    run_test("C18 what an observer changes itself is queued behind", test_event_reentrancy);
    run_test("C18 an observer is ended when another takes its place, not while it runs", test_observer_replaced);
    run_test("C18 events of library threads come one at a time and in order", test_events_of_threads);

    run_test("C15 explain says every reason at once and when it may change", test_why);
    run_test("C15 explain tells running, had its run, next cycle, did not fit, too soon and still running",
             test_why_in_cycle);
    run_test("C15 plan says what a window would pick and changes nothing", test_plan);
    run_test("C16 the next wake-up is the earliest that time alone brings", test_wakeup);

    run_test("T6 held tasks take the free place by priority, then age, for the next cycle", test_hold);
    run_test("T9 terminal records stay until prune or a day later", test_prune);
    run_test("T9 reset removes tasks and history and keeps the rest", test_reset);
    run_test("T5 successors wait in order and are read by position", test_positions);
    run_test("T5 a successor starts as if registered when the one before it succeeded", test_successor);
    run_test("T5 an update leaves the run in flight its own copy", test_update_in_flight);
    run_test("T8 tasks are listed in order of registration and by tag", test_list);
    run_test("T10 an unregistered handler ends after its last run, then its name is free", test_unregister_in_flight);
    run_test("P3 inside a handler all is legal except close, reset and a blocking cycle", test_reentrant);
    run_test("P2 a host clock that calls the library gets REENTRANT", test_clock_reentrant_call);
    run_test("P2 scheduler time never goes back though a host clock does", test_clock_going_back);
    return check_end();
}
