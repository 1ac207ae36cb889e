/*
 * cycles_events.c - every change is an event, in order and one at a time, whoever makes it
 *
 * Argument: the filter of check.h.
 */
#include "cycles.h"

/** The event at an index must be of this type, of this task ("" for a cycle) and have this detail. */
static const selene_event *event_at(int index, int32_t type, const char *id, int32_t detail) {
    if (index >= atomic_load(&noted_count) || noted[index].event.type != type) {
        fprintf(stderr, "event %d: expected %s of \"%s\", got", index,
                selene_name(SELENE_NAMES_EVENT, type), id);
        for (int i = 0; i < atomic_load(&noted_count); i++)
            fprintf(stderr, "%s %s(%s)", i == index ? " >>" : "",
                    selene_name(SELENE_NAMES_EVENT, noted[i].event.type), noted[i].id);
        fprintf(stderr, "\n");
        check_fail();
    }
    CHECK_STRING(id, noted[index].id);
    CHECK_INT(detail, noted[index].event.detail);
    return &noted[index].event;
}

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
    for (int i = 0; i < 7; i++)
        CHECK_INT(i + 1, noted[i].event.number);
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

/* C8: the event of a stop has the number of the attempt, which the record does not count when the task is enqueued again. */
static void test_attempts_of_a_stop(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("a");
    selene_window window = window_of(10 * S, 0, 1);
    selene_cycle cycle;
    int since;
    window.kinds = SELENE_KIND_PROCESSING;
    observe(scheduler);
    add_handler(scheduler, "a", &work);
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    CHECK_OK(
        selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, SELENE_CONSTRAINT_NETWORK));
    add(scheduler, task);
    cycle = begin(scheduler, window);
    next(cycle, "a");
    since = atomic_load(&noted_count);
    CHECK_OK(selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, 0));
    CHECK_INT(1, count_events(since, SELENE_EVENT_STOPPED, SELENE_STOP_CONSTRAINT_LOST));
    CHECK_INT(1, noted[since].event.attempts);
    CHECK_INT(SELENE_STATE_ENQUEUED, noted[since].event.state);
    CHECK_INT(0, record(scheduler, "a").attempts);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_event_kinds(void) {
    selene_options options = SELENE_INIT(selene_options);
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
    CHECK_INT(
        1, pull(scheduler, window,
                SELENE_OUTCOME_NEW_DATA)); /* the first of a succeeds, the second takes its place */
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
    for (int i = 0; i < atomic_load(&noted_count); i++)
        CHECK_INT(i + 1, noted[i].event.number);
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
    for (int i = 0; i < 7; i++)
        CHECK_INT(i + 1, noted[i].event.number);
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

static void chain_destroy(void *context) {
    ((struct chained *)context)->destroyed++;
}

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
    struct chained third = {3, 0, 0, NULL}, second = {2, 0, 0, &third}, first = {1, 0, 0, &second},
                   none = {0, 0, 0, NULL};
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
    CHECK_OK(selene_scheduler_observe(observed, NULL, &none,
                                      chain_destroy)); /* no function: only an end */
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
    report = push(scheduler, window_of(AMPLE, 0, 4));
    CHECK_INT(8, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    wait_for("the end of the observer", &observers_destroyed, 1);
    CHECK_INT(8 + 1 + 8 + 8 + 1, atomic_load(&noted_count));
    for (int i = 0; i < atomic_load(&noted_count); i++)
        CHECK_INT(i + 1, noted[i].event.number);
    for (int i = 1; i < atomic_load(&noted_count); i++)
        CHECK(noted[i].event.time >= noted[i - 1].event.time);
    event_at(8, SELENE_EVENT_CYCLE_BEGUN, "", 0);
    event_at(25, SELENE_EVENT_CYCLE_ENDED, "", SELENE_OUTCOME_NEW_DATA);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("C18 events come in the order of the changes, numbered from 1", test_event_order);
    run_test("C8 a stop is told with the number of its attempt, which the record does not count",
             test_attempts_of_a_stop);
    run_test("C18 holds, promotions, stops and successors are events", test_event_kinds);
    run_test("C18 successors born failed are events without a run", test_born_failed);
    run_test("C18 what an observer changes itself is queued behind", test_event_reentrancy);
    run_test("C18 an observer is ended when another takes its place, not while it runs",
             test_observer_replaced);
    run_test("C18 events of library threads come one at a time and in order",
             test_events_of_threads);
    return check_end();
}
