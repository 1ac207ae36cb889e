/*
 * threads.c - many threads, one scheduler; many schedulers, opened and closed at once; and what a library thread is
 *
 * Every call answers one of the statuses that can be, every destroy comes once, every run is in one report, and in the
 * end the counts add up. Environment: SELENE_TEST_SECONDS, how long each test goes on (3; 10 under the thread
 * sanitizer); SELENE_TEST_SEED.
 */
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#if defined(__SANITIZE_THREAD__)
#define SECONDS 10
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SECONDS 10
#endif
#endif
#ifndef SECONDS
#define SECONDS 3
#endif

/* ---- words ------------------------------------------------------------------------- */

/** SplitMix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t *state, uint64_t bound) {
    return next_random(state) % bound;
}

/** The status must be one of these; the list ends with -1. */
#define ONE_OF(call, ...) one_of(__LINE__, #call, (call), __VA_ARGS__, -1)

static selene_status one_of(int line, const char *call, selene_status got, ...) {
    va_list allowed;
    selene_status status;
    va_start(allowed, got);
    while ((status = va_arg(allowed, selene_status)) != -1)
        if (status == got) break;
    va_end(allowed);
    if (status != got) {
        fprintf(stderr, "%s:%d: %s: got %s: %s\n", __FILE__, line, call,
                selene_name(SELENE_NAMES_STATUS, got), selene_error_last()->message.data);
        check_fail();
    }
    return got;
}

/* ---- one scheduler ------------------------------------------------------------------- */

enum { TASKS = 48, HANDLERS = 6, TAGS = 4 };

static selene_scheduler scheduler;
static atomic_int ending;
static uint64_t seed;

static atomic_int contexts_made, contexts_ended;
static atomic_int receivers_made, receivers_ended, receivers_refused;
static atomic_int observers_made, observers_ended;
static _Atomic uint64_t pulled_runs, pushed_runs, events_seen;
static atomic_int threads_inside;

/* ---- tokens on their way to the thread that gives the outcome ------------------------------ */

enum { QUEUE = 4096 };
static struct {
    pthread_mutex_t mutex;
    selene_run tokens[QUEUE];
    size_t begin, end;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void hand_over(selene_run run) {
    pthread_mutex_lock(&queue.mutex);
    CHECK(queue.end - queue.begin < QUEUE);
    queue.tokens[queue.end++ % QUEUE] = run;
    pthread_mutex_unlock(&queue.mutex);
}

static selene_run take_over(void) {
    selene_run run = 0;
    pthread_mutex_lock(&queue.mutex);
    if (queue.begin < queue.end) run = queue.tokens[queue.begin++ % QUEUE];
    pthread_mutex_unlock(&queue.mutex);
    return run;
}

static void complete(selene_run run, uint64_t *random) {
    if (below(random, 8) == 0)
        ONE_OF(selene_run_retry(run, (int64_t)below(random, 3) * SELENE_MILLISECOND), SELENE_OK,
               SELENE_ERROR_STALE_RUN, SELENE_ERROR_ALREADY_COMPLETED);
    else
        ONE_OF(selene_run_complete(run, (int32_t)below(random, 4)), SELENE_OK,
               SELENE_ERROR_STALE_RUN, SELENE_ERROR_ALREADY_COMPLETED);
}

/* ---- what became of every run ---------------------------------------------------------------------- */

/** How a run was seen: called, which is before all outcomes, or reported with an outcome. */
enum { PULLED = -2, PUSHED = -1 };

struct sight {
    selene_run run;
    int32_t how;
};

static struct {
    pthread_mutex_t mutex;
    struct sight *sights;
    size_t count, room;
} seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void see(selene_run run, int32_t how) {
    pthread_mutex_lock(&seen.mutex);
    if (seen.count == seen.room) {
        seen.room = seen.room ? 2 * seen.room : 4096;
        seen.sights = realloc(seen.sights, seen.room * sizeof *seen.sights);
        CHECK(seen.sights != NULL);
    }
    seen.sights[seen.count++] = (struct sight){run, how};
    pthread_mutex_unlock(&seen.mutex);
}

static int by_run(const void *left, const void *right) {
    const struct sight *a = left, *b = right;
    if (a->run != b->run) return a->run < b->run ? -1 : 1;
    return a->how < b->how ? -1 : a->how > b->how;
}

/**
 * Every run is called once and reported once. What nobody called was stopped or has expired before its handler saw it;
 * what is in no report was pulled, in a cycle that another begin has ended.
 *
 * @param out_uncalled  how many were not called
 * @return how many runs there are
 */
static uint64_t check_sights(uint64_t *out_uncalled) {
    uint64_t runs = 0;
    size_t i, next;
    *out_uncalled = 0;
    qsort(seen.sights, seen.count, sizeof *seen.sights, by_run);
    for (i = 0; i < seen.count; i = next) {
        int calls = 0, reports = 0, how = seen.sights[i].how;
        int32_t outcome = -1;
        for (next = i; next < seen.count && seen.sights[next].run == seen.sights[i].run; next++) {
            if (seen.sights[next].how < 0) {
                calls++;
            } else {
                outcome = seen.sights[next].how;
                reports++;
            }
        }
        CHECK(calls <= 1 && reports <= 1);
        if (reports == 0) CHECK_INT(PULLED, how);
        if (calls == 0) {
            CHECK(outcome == SELENE_OUTCOME_STOPPED || outcome == SELENE_OUTCOME_EXPIRED);
            ++*out_uncalled;
        }
        runs++;
    }
    return runs;
}

/* ---- handlers --------------------------------------------------------------------------------- */

/** One registration of a handler. Not atomic: the library keeps its end behind its last use. */
struct context {
    uint64_t alive;
    char name[8];
};

#define ALIVE UINT64_C(0xA11FEA11FEA11FE5)

static void handler_run(selene_run run, const selene_run_info *info, void *pointer) {
    const struct context *context = pointer;
    uint64_t random = run ^ seed;
    int32_t reason = 0;
    CHECK(context->alive == ALIVE);
    CHECK(info->run == run);
    CHECK(info->handler.length == (int64_t)strlen(context->name));
    CHECK(memcmp(info->handler.data, context->name, strlen(context->name)) == 0);
    atomic_fetch_add(&pushed_runs, 1);
    see(run, PUSHED);
    switch (below(&random, 12)) {
    case 0:
        check_sleep((int64_t)below(&random, 2 * SELENE_MILLISECOND));
        break;
    case 1:
        check_sleep((int64_t)below(&random, 15 * SELENE_MILLISECOND));
        break;
    case 2: /* The outcome comes from elsewhere, before or after this returns. */
        hand_over(run);
        return;
    case 3:
        hand_over(run);
        check_sleep((int64_t)below(&random, 3 * SELENE_MILLISECOND));
        return;
    case 4:
        while (selene_run_stopping(run, &reason) == SELENE_OK && reason == SELENE_STOP_NONE)
            check_sleep(SELENE_MILLISECOND / 5);
        break;
    case 5:
        ONE_OF(selene_task_cancel(scheduler, info->id.data, info->id.length, NULL), SELENE_OK,
               SELENE_ERROR_NOT_FOUND);
        break;
    case 6:
        complete(run, &random);
        break;
    default:
        break;
    }
    complete(run, &random);
    CHECK(context->alive == ALIVE);
}

static void handler_stop(selene_run run, int32_t reason, void *pointer) {
    const struct context *context = pointer;
    CHECK(context->alive == ALIVE);
    CHECK(reason >= SELENE_STOP_EXPIRING && reason <= SELENE_STOP_SHUTDOWN);
    (void)run;
}

static void handler_destroy(void *pointer) {
    struct context *context = pointer;
    CHECK(context->alive == ALIVE);
    context->alive = 0;
    free(context);
    atomic_fetch_add(&contexts_ended, 1);
}

static void register_handler(unsigned index) {
    struct context *context = malloc(sizeof *context);
    CHECK(context != NULL);
    context->alive = ALIVE;
    snprintf(context->name, sizeof context->name, "h%u", index);
    atomic_fetch_add(&contexts_made, 1);
    ONE_OF(selene_handler_register(scheduler, context->name, -1, handler_run, handler_stop, context,
                                   handler_destroy),
           SELENE_OK, SELENE_ERROR_ALREADY_EXISTS);
}

static void turn_handlers(uint64_t *random) {
    char name[8];
    unsigned index = (unsigned)below(random, HANDLERS);
    snprintf(name, sizeof name, "h%u", index);
    if (below(random, 3) == 0)
        ONE_OF(selene_handler_unregister(scheduler, name, -1), SELENE_OK, SELENE_ERROR_NOT_FOUND);
    register_handler(index);
    check_sleep(SELENE_MILLISECOND / 2);
}

/* ---- tasks ---------------------------------------------------------------------------------------- */

static void turn_register(uint64_t *random) {
    static const selene_text tags[TAGS] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
    selene_task task = SELENE_INIT(selene_task);
    char id[16], handler[8];
    int32_t disposition = -1;
    snprintf(id, sizeof id, "task %u", (unsigned)below(random, TASKS));
    snprintf(handler, sizeof handler, "h%u", (unsigned)below(random, HANDLERS));
    task.id = (selene_text){id, -1};
    task.handler = (selene_text){handler, -1};
    task.kind = 1 + (int32_t)below(random, 2);
    task.schedule = 1 + (int32_t)below(random, 3);
    task.priority = 1 + (int32_t)below(random, 5);
    task.existing = (int32_t)below(random, 6) - 1;
    task.backoff = (int32_t)below(random, 4) - 1;
    task.recurrence = (int32_t)below(random, 3);
    task.max_attempts = (uint32_t)below(random, 4);
    task.constraints = below(random, 8) == 0 ? SELENE_CONSTRAINT_NETWORK : 0;
    task.tags = tags;
    task.tag_count = (uint32_t)below(random, TAGS + 1);
    if (below(random, 3) == 0) task.group = SELENE_TEXT("group");
    if (task.schedule == SELENE_SCHEDULE_PERIODIC)
        task.period = (1 + (int64_t)below(random, 5)) * SELENE_MILLISECOND;
    task.expected_response = none_of((int64_t)below(random, 5) * SELENE_MILLISECOND);
    task.input = id;
    task.input_length = (int64_t)strlen(id);
    if (ONE_OF(selene_task_register(scheduler, &task, &disposition), SELENE_OK,
               SELENE_ERROR_INVALID_ARGUMENT, SELENE_ERROR_UNAVAILABLE,
               SELENE_ERROR_TOO_MANY_PENDING) == SELENE_OK)
        CHECK(disposition >= SELENE_DISPOSITION_ADDED && disposition <= SELENE_DISPOSITION_HELD);
    else CHECK_INT(-1, disposition);
}

static void turn_cancel(uint64_t *random) {
    static const char *const tags[TAGS] = {"a", "b", "c", "d"};
    char id[16];
    uint64_t count = 0;
    int64_t now = 0;
    snprintf(id, sizeof id, "task %u", (unsigned)below(random, TASKS));
    switch (below(random, 40)) {
    case 0:
        CHECK_OK(selene_task_cancel_all(scheduler, &count));
        break;
    case 1:
        CHECK_OK(selene_task_cancel_tag(scheduler, tags[below(random, TAGS)], -1, &count));
        break;
    case 2:
        CHECK_OK(selene_scheduler_prune(scheduler, &count));
        break;
    case 3:
        ONE_OF(selene_scheduler_reset(scheduler), SELENE_OK, SELENE_ERROR_BUSY);
        break;
    case 4:
        CHECK_OK(selene_task_pause_tag(scheduler, tags[below(random, TAGS)], -1, &count));
        break;
    case 5:
        for (unsigned tag = 0; tag < TAGS; tag++)
            CHECK_OK(selene_task_resume_tag(scheduler, tags[tag], -1, &count));
        break;
    case 6:
        CHECK_OK(selene_scheduler_now(scheduler, &now));
        ONE_OF(selene_task_set_next(scheduler, id, -1,
                                    now + (int64_t)below(random, SELENE_MILLISECOND)),
               SELENE_OK, SELENE_ERROR_NOT_FOUND, SELENE_ERROR_INVALID_ARGUMENT);
        ONE_OF(selene_task_pause(scheduler, id, -1, &count), SELENE_OK, SELENE_ERROR_NOT_FOUND);
        ONE_OF(selene_task_resume(scheduler, id, -1, &count), SELENE_OK, SELENE_ERROR_NOT_FOUND);
        break;
    case 7:
        CHECK_OK(selene_group_set_limit(scheduler, "group", -1, (uint32_t)below(random, 3)));
        CHECK_OK(selene_group_pause(scheduler, "group", -1));
        CHECK_OK(selene_group_resume(scheduler, "group", -1));
        break;
    default:
        ONE_OF(selene_task_cancel(scheduler, id, -1, &count), SELENE_OK, SELENE_ERROR_NOT_FOUND);
        break;
    }
    check_sleep(SELENE_MILLISECOND / 10);
}

/* ---- reports ------------------------------------------------------------------------------------------ */

/* Which cycles were counted: a cycle may be reported to several who wait. */
static struct {
    pthread_mutex_t mutex;
    selene_cycle *cycles;
    size_t count, room;
} counted = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void count_report(const selene_report *report) {
    size_t i;
    uint64_t k;
    CHECK_INT(report->run_count, report->new_data + report->no_data + report->failed +
                                     report->abandoned + report->expired + report->stopped);
    CHECK(report->began_at <= report->ended_at);
    CHECK_INT(report->budget, report->deadline - report->began_at);
    for (k = 0; k < report->run_count; k++) {
        const selene_report_run *run = &report->runs[k];
        CHECK(run->run != 0 && run->id.length > 0 && run->id.data[run->id.length] == '\0');
        CHECK(run->outcome >= SELENE_OUTCOME_NEW_DATA && run->outcome <= SELENE_OUTCOME_STOPPED);
        CHECK(run->response_time >= 0 && run->started_at >= report->began_at);
        CHECK(run->score >= 0 && run->score <= 1);
    }
    pthread_mutex_lock(&counted.mutex);
    /* From the end, where its like would be. */
    for (i = counted.count; i > 0; i--)
        if (counted.cycles[i - 1] == report->cycle) break;
    if (i == 0) {
        if (counted.count == counted.room) {
            counted.room = counted.room ? 2 * counted.room : 1024;
            counted.cycles = realloc(counted.cycles, counted.room * sizeof *counted.cycles);
            CHECK(counted.cycles != NULL);
        }
        counted.cycles[counted.count++] = report->cycle;
        for (k = 0; k < report->run_count; k++)
            see(report->runs[k].run, report->runs[k].outcome);
    }
    pthread_mutex_unlock(&counted.mutex);
}

struct receiver {
    uint64_t alive;
    int reports;
};

static void receive(const selene_report *report, void *pointer) {
    struct receiver *receiver = pointer;
    CHECK(receiver->alive == ALIVE);
    receiver->reports++;
    count_report(report);
}

static void receiver_destroy(void *pointer) {
    struct receiver *receiver = pointer;
    CHECK(receiver->alive == ALIVE);
    CHECK_BETWEEN(0, receiver->reports, 1);
    if (receiver->reports == 0) atomic_fetch_add(&receivers_refused, 1);
    receiver->alive = 0;
    free(receiver);
    atomic_fetch_add(&receivers_ended, 1);
}

/* ---- cycles --------------------------------------------------------------------------------------------- */

#define REFUSALS SELENE_OK, SELENE_ERROR_BUSY, SELENE_ERROR_UNAVAILABLE

static selene_window random_window(uint64_t *random) {
    selene_window window = SELENE_INIT(selene_window);
    window.kinds = 1 + (uint32_t)below(random, 3);
    window.lanes = 1 + (uint32_t)below(random, 4);
    window.budget = SELENE_MILLISECOND + (int64_t)below(random, 20 * SELENE_MILLISECOND);
    window.flags = below(random, 4) == 0 ? SELENE_WINDOW_STRICT_FIT : 0;
    return window;
}

static void turn_pull(uint64_t *random) {
    selene_window window = random_window(random);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    selene_cycle cycle = 0;
    int32_t step = -1, turns;
    int64_t wake_at = 0;
    char id[16];
    if (below(random, 4) == 0) {
        snprintf(id, sizeof id, "task %u", (unsigned)below(random, TASKS));
        window.task = (selene_text){id, -1};
        window.lanes = 1;
        if (ONE_OF(selene_cycle_begin(scheduler, &window, &cycle), REFUSALS, SELENE_ERROR_NOT_FOUND,
                   SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE) != SELENE_OK)
            return;
    } else if (ONE_OF(selene_cycle_begin(scheduler, &window, &cycle), REFUSALS) != SELENE_OK) {
        check_sleep(SELENE_MILLISECOND / 5);
        return;
    }
    for (turns = 0; turns < 30; turns++) {
        /* Its deadline may be long past, and another begin may have ended it. */
        if (ONE_OF(selene_cycle_next(cycle, &step, &info, &wake_at), SELENE_OK,
                   SELENE_ERROR_INVALID_HANDLE) != SELENE_OK)
            return;
        if (step == SELENE_STEP_DONE) break;
        if (step == SELENE_STEP_WAIT) {
            check_sleep(SELENE_MILLISECOND / 5);
            continue;
        }
        CHECK(info.run != 0);
        atomic_fetch_add(&pulled_runs, 1);
        see(info.run, PULLED);
        if (below(random, 3) == 0) hand_over(info.run);
        else complete(info.run, random);
    }
    if (ONE_OF(selene_cycle_end(cycle, &report), SELENE_OK, SELENE_ERROR_INVALID_HANDLE) ==
        SELENE_OK) {
        count_report(report);
        selene_free(report);
    }
}

static void turn_run(uint64_t *random) {
    selene_window window = random_window(random);
    selene_report *report = NULL;
    if (below(random, 3) == 0) {
        window.flags |= SELENE_WINDOW_INLINE;
        window.lanes = 1;
    }
    if (ONE_OF(selene_cycle_run(scheduler, &window, &report), REFUSALS) == SELENE_OK) {
        count_report(report);
        selene_free(report);
    } else {
        CHECK(report == NULL);
        check_sleep(SELENE_MILLISECOND / 5);
    }
}

static void turn_async(uint64_t *random) {
    selene_window window = random_window(random);
    struct receiver *receiver = malloc(sizeof *receiver);
    selene_cycle cycle = 0;
    int64_t deadline = 0;
    CHECK(receiver != NULL);
    *receiver = (struct receiver){ALIVE, 0};
    atomic_fetch_add(&receivers_made, 1);
    if (ONE_OF(selene_cycle_run_async(scheduler, &window, receive, receiver, receiver_destroy,
                                      &cycle, &deadline),
               REFUSALS) == SELENE_OK) {
        CHECK(cycle != 0 && deadline != 0);
        if (below(random, 10) == 0)
            ONE_OF(selene_cycle_end(cycle, NULL), SELENE_OK, SELENE_ERROR_INVALID_HANDLE);
    }
    check_sleep((int64_t)below(random, 4 * SELENE_MILLISECOND));
}

/* ---- looking on --------------------------------------------------------------------------------------------- */

static void turn_read(uint64_t *random) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    selene_window window = random_window(random);
    selene_task_info *record = NULL;
    selene_task_ids *ids = NULL;
    selene_plan *plan = NULL;
    char id[16];
    int64_t at, delay;
    uint32_t satisfied;
    selene_run run;
    snprintf(id, sizeof id, "task %u", (unsigned)below(random, TASKS));
    switch (below(random, 7)) {
    case 0:
        CHECK_OK(selene_scheduler_get(scheduler, &info));
        break;
    case 1:
        CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
        selene_free(ids);
        break;
    case 2:
        if (ONE_OF(selene_task_get(scheduler, id, -1, below(random, 3), &record), SELENE_OK,
                   SELENE_ERROR_NOT_FOUND) == SELENE_OK) {
            CHECK(record->id.length == (int64_t)strlen(id) && strcmp(record->id.data, id) == 0);
            CHECK(strcmp(record->input.data, id) == 0);
            selene_free(record);
        }
        break;
    case 3:
        ONE_OF(selene_task_explain(scheduler, id, -1, &explanation), SELENE_OK,
               SELENE_ERROR_NOT_FOUND);
        CHECK(explanation.reason_count <= SELENE_REASONS);
        break;
    case 4:
        window.flags = 0;
        CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
        selene_free(plan);
        break;
    case 5:
        CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, &delay));
        CHECK(delay >= 0);
        break;
    default:
        CHECK_OK(selene_conditions_get(scheduler, &satisfied, NULL));
        CHECK_OK(selene_scheduler_now(scheduler, &at));
        break;
    }
    while ((run = take_over()) != 0) {
        if (below(random, 4) == 0) check_sleep((int64_t)below(random, 3 * SELENE_MILLISECOND));
        complete(run, random);
        if (below(random, 4) == 0) break;
    }
}

struct observer {
    uint64_t alive, last;
    int inside;
};

/* Of all observers together: they never overlap. */
static struct observer *observing;

static void observe(const selene_event *event, void *pointer) {
    struct observer *observer = pointer;
    CHECK(observer->alive == ALIVE);
    CHECK_INT(0, observer->inside);
    observer->inside = 1;
    CHECK(observing == NULL);
    observing = observer;
    CHECK(observer->last == 0 || event->number == observer->last + 1);
    observer->last = event->number;
    CHECK((event->type >= SELENE_EVENT_REGISTERED && event->type <= SELENE_EVENT_RELEASED) ||
          event->type == SELENE_EVENT_PAUSED || event->type == SELENE_EVENT_RESUMED ||
          (event->type == SELENE_EVENT_TROUBLE &&
           (event->detail == SELENE_TROUBLE_HANDLER || event->detail == SELENE_TROUBLE_OVERRUN)));
    atomic_fetch_add(&events_seen, 1);
    observing = NULL;
    observer->inside = 0;
}

static void observer_destroy(void *pointer) {
    struct observer *observer = pointer;
    CHECK(observer->alive == ALIVE);
    CHECK_INT(0, observer->inside);
    observer->alive = 0;
    free(observer);
    atomic_fetch_add(&observers_ended, 1);
}

static void turn_settings(uint64_t *random) {
    struct observer *observer;
    uint32_t set = (uint32_t)below(random, 4);
    switch (below(random, 6)) {
    case 0:
        observer = malloc(sizeof *observer);
        CHECK(observer != NULL);
        *observer = (struct observer){ALIVE, 0, 0};
        atomic_fetch_add(&observers_made, 1);
        CHECK_OK(selene_scheduler_observe(scheduler, observe, observer, observer_destroy));
        break;
    case 1:
        CHECK_OK(selene_conditions_set(scheduler, set, set & (uint32_t)below(random, 4)));
        break;
    case 2:
        CHECK_OK(selene_scheduler_enable(scheduler, 1 + (uint32_t)below(random, 3)));
        break;
    case 3:
        CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
        break;
    default:
        CHECK_OK(selene_scheduler_enable(scheduler, 3));
        break;
    }
    check_sleep(2 * SELENE_MILLISECOND);
}

/* ---- the test of one scheduler -------------------------------------------------------------------------------- */

static void (*const turns[])(uint64_t *) = {turn_register, turn_cancel,  turn_handlers,
                                            turn_pull,     turn_run,     turn_async,
                                            turn_read,     turn_settings};

static void *take_turns(void *context) {
    size_t index = (size_t)(uintptr_t)context;
    uint64_t random = seed + index * 7919;
    atomic_fetch_add(&threads_inside, 1);
    while (!atomic_load(&ending))
        turns[index](&random);
    return NULL;
}

static int64_t duration(void) {
    return check_environment("SELENE_TEST_SECONDS", SECONDS) * SELENE_SECOND;
}

/** Goes on until something has happened once, however slow the machine is. */
static void await(const _Atomic uint64_t *count) {
    int64_t limit = check_now() + PATIENCE;
    while (atomic_load(count) == 0 && check_now() < limit)
        check_sleep(SELENE_MILLISECOND);
    CHECK(atomic_load(count) > 0);
}

static void rest_run(selene_run run, const selene_run_info *info, void *context) {
    (void)info;
    ++*(int *)context;
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

/** At rest it works as ever: the next run is called. */
static void check_rest(void) {
    selene_window window = SELENE_INIT(selene_window);
    selene_task task = SELENE_INIT(selene_task);
    selene_report *report = NULL;
    int calls = 0;
    CHECK_OK(selene_scheduler_enable(scheduler, 3));
    CHECK_OK(selene_task_cancel_all(scheduler, NULL));
    CHECK_OK(selene_handler_register(scheduler, "rest", -1, rest_run, NULL, &calls, NULL));
    task.id = SELENE_TEXT("rest");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    window.task = task.id;
    window.budget = SELENE_HOUR;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, calls);
    selene_free(report);
}

static void test_one_scheduler(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_task_ids *ids = NULL;
    pthread_t threads[COUNT(turns)];
    uint64_t random, k, records = 0, uncalled = 0, limit;
    selene_run run;
    size_t i;
    seed = (uint64_t)check_environment("SELENE_TEST_SEED", 20240229);
    random = seed;
    options.flags = SELENE_OPTIONS_HOLD;
    options.max_pending_refresh = 12;
    options.max_pending_processing = 12;
    options.minimum_backoff = SELENE_NONE;
    options.maximum_backoff = 2 * SELENE_MILLISECOND;
    options.max_overrun_threads = 8;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    for (i = 0; i < COUNT(turns); i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, take_turns, (void *)(uintptr_t)i));
    check_sleep(duration());
    await(&pulled_runs);
    await(&pushed_runs);
    await(&events_seen);
    ending = 1;
    for (i = 0; i < COUNT(turns); i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    CHECK_INT(COUNT(turns), threads_inside);

    /* Cycles on library threads come to their end, and what was handed over gets its outcome. */
    limit = (uint64_t)(check_now() + PATIENCE);
    do {
        while ((run = take_over()) != 0)
            complete(run, &random);
        check_sleep(SELENE_MILLISECOND);
        CHECK_OK(selene_scheduler_get(scheduler, &info));
    } while ((receivers_ended != receivers_made || info.overrun_threads > 0 || info.running > 0) &&
             check_now() < (int64_t)limit);
    while ((run = take_over()) != 0)
        complete(run, &random);
    CHECK_INT(receivers_made, receivers_ended);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(0, info.running);
    CHECK_INT(0, info.overrun_threads);

    /* Every run was dispatched once, and every cycle that was ended by nobody else is reported. */
    CHECK_INT(info.dispatched, check_sights(&uncalled));
    printf("seed %" PRIu64 ": %" PRIu64 " runs pulled, %" PRIu64 " pushed, %" PRIu64
           " not called, %zu cycles, %" PRIu64
           " events, %d handlers, %d receivers (%d refused), %d observers\n",
           seed, pulled_runs, pushed_runs, uncalled, counted.count, events_seen, contexts_made,
           receivers_made, receivers_refused, observers_made);
    CHECK_INT(info.dispatched - uncalled, pulled_runs + pushed_runs);

    /* The states add up to the records, and no id is taken any more. */
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    for (k = 0; k < ids->count; k++) {
        selene_explanation explanation = SELENE_INIT(selene_explanation);
        selene_task_info *record = NULL;
        uint32_t reason;
        CHECK_OK(selene_task_get(scheduler, ids->ids[k].data, ids->ids[k].length, 0, &record));
        records += 1 + record->appended;
        CHECK_INT(0, record->run);
        selene_free(record);
        CHECK_OK(
            selene_task_explain(scheduler, ids->ids[k].data, ids->ids[k].length, &explanation));
        for (reason = 0; reason < explanation.reason_count; reason++) {
            CHECK(explanation.reasons[reason].reason != SELENE_REASON_STILL_RUNNING);
            CHECK(explanation.reasons[reason].reason != SELENE_REASON_RUNNING);
        }
    }
    selene_free(ids);
    CHECK_INT(records, info.enqueued + info.held + info.blocked + info.running + info.succeeded +
                           info.failed + info.cancelled);
    check_rest();
    CHECK_OK(selene_scheduler_close(scheduler, 30 * SELENE_SECOND));
    CHECK_INT(contexts_made, contexts_ended);
    CHECK_INT(observers_made, observers_ended);
    CHECK_INT(receivers_made, receivers_ended);
    free(counted.cycles);
    free(seen.sights);
}

/* ---- many schedulers -------------------------------------------------------------------------------------------- */

enum { OPEN = 6 };
static _Atomic selene_scheduler open_schedulers[OPEN];
static atomic_int opened, closed, contexts_there, ended_there;
static _Atomic uint64_t run_there;

static void there_run(selene_run run, const selene_run_info *info, void *context) {
    CHECK(*(uint64_t *)context == ALIVE);
    CHECK(info->run == run);
    atomic_fetch_add(&run_there, 1);
    ONE_OF(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA), SELENE_OK, SELENE_ERROR_STALE_RUN);
    CHECK(*(uint64_t *)context == ALIVE);
}

static void there_destroy(void *context) {
    CHECK(*(uint64_t *)context == ALIVE);
    *(uint64_t *)context = 0;
    free(context);
    atomic_fetch_add(&ended_there, 1);
}

static void open_there(size_t place) {
    selene_scheduler made = 0, empty = 0;
    CHECK_OK(selene_scheduler_open(NULL, &made));
    atomic_fetch_add(&opened, 1);
    if (!atomic_compare_exchange_strong(&open_schedulers[place], &empty, made)) {
        CHECK_OK(selene_scheduler_close(made, 0));
        atomic_fetch_add(&closed, 1);
    }
}

static void close_there(size_t place, int64_t grace) {
    selene_scheduler taken = atomic_exchange(&open_schedulers[place], 0);
    if (!taken) return;
    CHECK_OK(selene_scheduler_close(taken, grace));
    atomic_fetch_add(&closed, 1);
}

static void work_there(size_t place, uint64_t *random) {
    selene_scheduler there = atomic_load(&open_schedulers[place]);
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    selene_task task = SELENE_INIT(selene_task);
    uint64_t *context;
    if (!there) return;
    switch (below(random, 5)) {
    case 0:
        context = malloc(sizeof *context);
        CHECK(context != NULL);
        *context = ALIVE;
        atomic_fetch_add(&contexts_there, 1);
        ONE_OF(selene_handler_register(there, "there", -1, there_run, NULL, context, there_destroy),
               SELENE_OK, SELENE_ERROR_ALREADY_EXISTS, SELENE_ERROR_INVALID_HANDLE);
        break;
    case 1:
        task.id = SELENE_TEXT("there");
        ONE_OF(selene_task_register(there, &task, NULL), SELENE_OK, SELENE_ERROR_INVALID_HANDLE);
        break;
    case 2:
        window.budget = 5 * SELENE_MILLISECOND;
        window.lanes = 2;
        if (ONE_OF(selene_cycle_run(there, &window, &report), SELENE_OK, SELENE_ERROR_BUSY,
                   SELENE_ERROR_UNAVAILABLE, SELENE_ERROR_INVALID_HANDLE) == SELENE_OK)
            selene_free(report);
        break;
    case 3:
        window.kinds = SELENE_KIND_PROCESSING;
        window.budget = 2 * SELENE_MILLISECOND;
        context = malloc(sizeof *context);
        CHECK(context != NULL);
        *context = ALIVE;
        atomic_fetch_add(&contexts_there, 1);
        ONE_OF(selene_cycle_run_async(there, &window, NULL, context, there_destroy, NULL, NULL),
               SELENE_OK, SELENE_ERROR_BUSY, SELENE_ERROR_UNAVAILABLE, SELENE_ERROR_INVALID_HANDLE);
        break;
    default:
        ONE_OF(selene_task_cancel_all(there, NULL), SELENE_OK, SELENE_ERROR_INVALID_HANDLE);
        break;
    }
}

static void *open_and_close(void *context) {
    uint64_t random = seed + 31 * (uint64_t)(uintptr_t)context;
    while (!atomic_load(&ending)) {
        size_t place = (size_t)below(&random, OPEN);
        switch (below(&random, 8)) {
        case 0:
            open_there(place);
            break;
        case 1:
            close_there(place, (int64_t)below(&random, 2) * SELENE_MILLISECOND);
            break;
        default:
            work_there(place, &random);
            break;
        }
    }
    return NULL;
}

static void test_many_schedulers(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int64_t limit;
    size_t i;
    seed = (uint64_t)check_environment("SELENE_TEST_SEED", 20240229);
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, open_and_close, (void *)(uintptr_t)i));
    check_sleep(duration());
    await(&run_there);
    ending = 1;
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    for (i = 0; i < OPEN; i++)
        close_there(i, 30 * SELENE_SECOND);
    printf("seed %" PRIu64 ": %d schedulers, %" PRIu64 " runs, %d contexts\n", seed, opened,
           run_there, contexts_there);
    CHECK_INT(opened, closed);
    /* Those that were closed without grace may still have had a handler to return from. */
    limit = check_now() + PATIENCE;
    while (ended_there != contexts_there && check_now() < limit)
        check_sleep(SELENE_MILLISECOND);
    CHECK_INT(contexts_there, ended_there);
}

/* ---- forks beside threads that write ---------------------------------------------------------------------------- */

static char stores[64];
static atomic_int is_over;
static _Atomic uint64_t writes[16];
static atomic_int forks_done;

static void *write_store(void *context) {
    const size_t number = (size_t)(uintptr_t)context;
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = SELENE_INIT(selene_task);
    selene_scheduler own = 0;
    char path[96];
    snprintf(path, sizeof path, "%s/%zu", stores, number);
    options.path = (selene_text){path, -1};
    options.flags = SELENE_OPTIONS_RELAXED;
    CHECK_OK(selene_scheduler_open(&options, &own));
    task.id = SELENE_TEXT("task");
    task.existing = SELENE_EXISTING_REPLACE;
    while (!atomic_load(&is_over)) {
        CHECK_OK(selene_task_register(own, &task, NULL));
        atomic_fetch_add(&writes[number], 1);
    }
    CHECK_OK(selene_scheduler_close(own, 0));
    return NULL;
}

/* The child does nothing: what is asked is how long the parent waits for it to be. It ends by a signal, since at an exit
   valgrind takes for lost what the parent's other threads had just in hand. */
static void fork_once(void) {
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        raise(SIGKILL);
        _exit(1);
    }
    while (waitpid(child, &status, 0) < 0)
        CHECK_INT(EINTR, errno);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    atomic_fetch_add(&forks_done, 1);
}

static void *fork_always(void *context) {
    (void)context;
    while (!atomic_load(&is_over))
        fork_once();
    return NULL;
}

static void make_stores(void) {
    snprintf(stores, sizeof stores, "/tmp/selene-threads.XXXXXX");
    CHECK(mkdtemp(stores) != NULL);
}

static void remove_stores(void) {
    DIR *folder = opendir(stores);
    struct dirent *entry;
    char path[sizeof stores + sizeof entry->d_name + 1];
    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", stores, entry->d_name);
        unlink(path);
    }
    closedir(folder);
    CHECK_INT(0, rmdir(stores));
}

/** Waits until each of some threads has written so often since it was looked at. */
static void await_writes(size_t threads, uint64_t count) {
    size_t i;
    for (i = 0; i < threads; i++) {
        const uint64_t before = atomic_load(&writes[i]);
        while (atomic_load(&writes[i]) < before + count)
            check_sleep(SELENE_MILLISECOND);
    }
}

static void test_forks_beside_writers(void) {
    enum { THREADS = 16 };
    pthread_t threads[THREADS];
    int64_t longest = 0, sum = 0;
    size_t i;
    make_stores();
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, write_store, (void *)(uintptr_t)i));
    await_writes(THREADS, 1);
    for (i = 0; i < 20; i++) {
        const int64_t begin = check_now();
        int64_t took;
        fork_once();
        took = check_now() - begin;
        sum += took;
        if (took > longest) longest = took;
    }
    is_over = 1;
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    printf("20 forks beside 16 threads that write: mean %.1f ms, longest %.1f ms\n",
           (double)sum / 20e6, (double)longest / 1e6);
    remove_stores();
}

static void test_writers_beside_forks(void) {
    enum { WRITERS = 4, FORKERS = 4 };
    pthread_t threads[WRITERS + FORKERS];
    size_t i;
    make_stores();
    for (i = 0; i < WRITERS; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, write_store, (void *)(uintptr_t)i));
    await_writes(WRITERS, 1);
    for (i = 0; i < FORKERS; i++)
        CHECK_INT(0, pthread_create(&threads[WRITERS + i], NULL, fork_always, NULL));
    while (atomic_load(&forks_done) < FORKERS)
        check_sleep(SELENE_MILLISECOND);
    await_writes(WRITERS, 20);
    is_over = 1;
    for (i = 0; i < WRITERS + FORKERS; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    printf("%d forks beside %" PRIu64 " writes\n", forks_done,
           writes[0] + writes[1] + writes[2] + writes[3]);
    remove_stores();
}

/* ---- what a library thread is ----------------------------------------------------------------------------------- */

static atomic_int deep_runs;

/** Uses so many bytes of the stack and gives their sum, so that they are really there. */
static unsigned use_stack(size_t bytes) {
    volatile unsigned char part[32 * 1024];
    size_t i;
    for (i = 0; i < sizeof part; i += 512)
        part[i] = 1;
    return bytes <= sizeof part ? part[0] : part[512] + use_stack(bytes - sizeof part);
}

static void deep_run(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    CHECK(use_stack(6 << 20) > 0);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    atomic_fetch_add(&deep_runs, 1);
}

static void run_deep(void) {
    selene_task task = SELENE_INIT(selene_task);
    selene_scheduler own = 0;
    CHECK_OK(selene_scheduler_open(NULL, &own));
    CHECK_OK(selene_handler_register(own, "deep", -1, deep_run, NULL, NULL, NULL));
    task.id = SELENE_TEXT("deep");
    CHECK_OK(selene_task_register(own, &task, NULL));
    CHECK_OK(selene_cycle_run(own, NULL, NULL));
    CHECK_OK(selene_scheduler_close(own, SELENE_MINUTE));
    CHECK_INT(1, deep_runs);
}

/** Small default stacks are what musl has; a host may ask for them anywhere. */
static void test_stack(void) {
    pthread_attr_t small;
    CHECK_INT(0, pthread_attr_init(&small));
    CHECK_INT(0, pthread_attr_setstacksize(&small, 128 * 1024));
    CHECK_INT(0, pthread_setattr_default_np(&small));
    CHECK_INT(0, pthread_attr_destroy(&small));
    run_deep();
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P3 eight threads do everything at once on one scheduler", test_one_scheduler);
    run_test("P3 eight threads open, use and close schedulers at once", test_many_schedulers);
    run_test("P4 forks come through beside 16 threads that write", test_forks_beside_writers);
    run_test("P4 threads that write come through beside forks", test_writers_beside_forks);
    run_test("P5 a handler has 6 MiB of stack, whatever the threads of the process have",
             test_stack);
    return check_end();
}
