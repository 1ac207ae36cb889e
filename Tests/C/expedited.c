/*
 * expedited.c - once tasks that are important now, and the quota of their runs (W10)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

#include <sys/wait.h>
#include <unistd.h>

#define MIN SELENE_MINUTE

static selene_scheduler open_with(int64_t quota, int64_t interval, const char *path) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    options.expedited_quota = none_of(quota);
    options.minimum_interval_refresh = interval;
    if (path) options.path = (selene_text){path, -1};
    selene_scheduler scheduler = open_virtual(options);
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    return scheduler;
}

static selene_task ordinary(const char *id) {
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    task.expected_response = S;
    return task;
}

static selene_task expedited(const char *id) {
    selene_task task = ordinary(id);
    task.flags = SELENE_TASK_EXPEDITED;
    return task;
}

static selene_task refusing(const char *id) {
    selene_task task = expedited(id);
    task.flags |= SELENE_TASK_REFUSE_OUT_OF_QUOTA;
    return task;
}

static selene_scheduler_info quota(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info;
}

/** Runs the one task that is next in a window for so long. */
static void run_for(selene_scheduler scheduler, const char *id, int64_t time) {
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    const selene_run run = next(cycle, id);
    advance(time);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

/** Before all others, higher priority first, then lower sequence; behind what is near its latest begin. */
static void test_order(void) {
    selene_scheduler scheduler = open_with(10 * MIN, 0, NULL);
    selene_task best = ordinary("best"), low = expedited("low"), high = expedited("high"),
                last = ordinary("last");
    best.priority = SELENE_PRIORITY_VERY_HIGH;
    low.priority = SELENE_PRIORITY_VERY_LOW;
    last.latest_begin = 20 * MIN;
    add(scheduler, best);
    add(scheduler, last);
    advance(19 * MIN);
    add(scheduler, low);
    add(scheduler, expedited("second"));
    add(scheduler, expedited("third"));
    high.priority = SELENE_PRIORITY_HIGH;
    add(scheduler, high);
    advance(S);
    CHECK_INT(1, explain(scheduler, "low").expedited);
    CHECK_INT(0, explain(scheduler, "best").expedited);
    static const char *const order[] = {"last", "high", "second", "third", "low", "best"};
    for (size_t i = 0; i < 6; i++) {
        CHECK_INT((int64_t)i + 1, (int64_t)explain(scheduler, order[i]).rank);
        CHECK_INT(6, (int64_t)explain(scheduler, order[i]).eligible);
    }
    selene_window window = window_of(MIN, 0, 1);
    selene_plan *plan = NULL;
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(6, (int64_t)plan->run_count);
    for (size_t i = 0; i < 6; i++)
        CHECK_TEXT(order[i], plan->runs[i].id);
    selene_free(plan);
    selene_cycle cycle = begin(scheduler, window);
    for (size_t i = 0; i < 6; i++)
        CHECK_OK(selene_run_complete(next(cycle, order[i]), SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Those that begin the first of their group while a window is open, on a store: their class is empty once the commit stands. */
static void test_new_class(void) {
    for (int way = 0; way < 4; way++) {
        const int urgent = way / 2, count = way % 2 ? 20 : 1;
        new_file();
        selene_scheduler scheduler = open_with(10 * MIN, 0, file);
        const selene_text first = SELENE_TEXT("first");
        selene_window window = rolling_of(10 * MIN, 0, 1);
        add(scheduler, ordinary("first"));
        for (int i = 0; i < count; i++) {
            char id[16], group[16];
            snprintf(id, sizeof id, "then%d", i);
            snprintf(group, sizeof group, "group%d", i);
            selene_task task = urgent ? ordinary(id) : expedited(id);
            task.group = (selene_text){group, -1};
            task.after = &first;
            task.after_count = 1;
            if (urgent) task.latest_begin = 1000 + i;
            add(scheduler, task);
        }
        selene_cycle cycle = begin(scheduler, window);
        CHECK_OK(selene_run_complete(next(cycle, "first"), SELENE_OUTCOME_NEW_DATA));
        advance(950);
        for (int i = 0; i < count; i++) {
            char id[16];
            snprintf(id, sizeof id, "then%d", i);
            CHECK_OK(selene_run_complete(next(cycle, id), SELENE_OUTCOME_NEW_DATA));
        }
        next(cycle, NULL);
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        remove_folder();
    }
}

/** One that is near its latest begin, too, has one turn, among those; and the quota is as it was. */
static void test_urgent_and_expedited(void) {
    selene_scheduler scheduler = open_with(10 * MIN, 0, NULL);
    selene_task both = expedited("both"), last = ordinary("last");
    both.latest_begin = 21 * MIN;
    last.latest_begin = 20 * MIN;
    add(scheduler, both);
    add(scheduler, last);
    add(scheduler, ordinary("plain"));
    advance(19 * MIN);
    add(scheduler, expedited("quick"));
    advance(S);
    static const char *const order[] = {"last", "both", "quick", "plain"};
    selene_window window = window_of(MIN, 0, 1);
    selene_plan *plan = NULL;
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(4, (int64_t)plan->run_count);
    for (size_t i = 0; i < 4 && i < plan->run_count; i++)
        CHECK_TEXT(order[i], plan->runs[i].id);
    selene_free(plan);
    selene_cycle cycle = begin(scheduler, window);
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(1, (int64_t)explain(scheduler, order[i]).rank);
        CHECK_OK(selene_run_complete(next(cycle, order[i]), SELENE_OUTCOME_NEW_DATA));
    }
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** In a window before its time as well: what would be lost goes first, and what is only urgent stays out. */
static void test_urgent_before_the_time(void) {
    for (uint32_t flags = 0; flags <= SELENE_WINDOW_FROZEN; flags += SELENE_WINDOW_FROZEN) {
        selene_scheduler scheduler = open_with(10 * MIN, SELENE_HOUR, NULL);
        selene_task late = expedited("late"), last = ordinary("last");
        selene_window window = window_of(MIN, 0, 1);
        selene_report *report = NULL;
        window.flags = flags;
        add(scheduler, ordinary("first"));
        run_for(scheduler, "first", S);
        add(scheduler, expedited("quick"));
        late.latest_begin = 21 * MIN;
        last.latest_begin = 20 * MIN;
        add(scheduler, late);
        add(scheduler, last);
        advance(19 * MIN);
        selene_cycle cycle = begin(scheduler, window);
        CHECK_OK(selene_run_complete(next(cycle, "late"), SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_run_complete(next(cycle, "quick"), SELENE_OUTCOME_NEW_DATA));
        next(cycle, NULL);
        CHECK_OK(selene_cycle_end(cycle, &report));
        CHECK_INT(2, (int64_t)report->eligible);
        CHECK_INT(0, (int64_t)report->did_not_fit);
        selene_free(report);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** The time of runs is counted while they run, and until 24 h after their end. */
static void test_quota(void) {
    selene_scheduler scheduler = open_with(3 * MIN, 0, NULL);
    const int64_t start = clock_now;
    CHECK_INT(3 * MIN, quota(scheduler).expedited_left);
    CHECK_INT(0, quota(scheduler).expedited_free_at);
    add(scheduler, expedited("a"));
    add(scheduler, ordinary("x"));
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
    selene_run run = next(cycle, "a");
    advance(MIN);
    CHECK_INT(2 * MIN, quota(scheduler).expedited_left);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    advance(MIN);
    CHECK_OK(selene_run_complete(next(cycle, "x"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(2 * MIN, quota(scheduler).expedited_left);
    /* One that begins may use more than is left. */
    add(scheduler, expedited("b"));
    run_for(scheduler, "b", 5 * MIN);
    CHECK_INT(0, quota(scheduler).expedited_left);
    CHECK_INT(start + 7 * MIN + SELENE_DAY, quota(scheduler).expedited_free_at);
    /* It is an ordinary one then. */
    selene_task other = ordinary("other");
    other.priority = SELENE_PRIORITY_HIGH;
    add(scheduler, other);
    add(scheduler, expedited("c"));
    advance(S);
    CHECK_INT(0, explain(scheduler, "c").expedited);
    CHECK_INT(2, (int64_t)explain(scheduler, "c").rank);
    CHECK_INT(start + 7 * MIN + SELENE_DAY,
              why(scheduler, "c", SELENE_REASON_OUT_OF_QUOTA).may_change_at);
    run_for(scheduler, "other", S);
    run_for(scheduler, "c", 9 * MIN);
    /* Its run counts for nothing. */
    CHECK_INT(start + 7 * MIN + SELENE_DAY, quota(scheduler).expedited_free_at);
    advance(start + 7 * MIN + SELENE_DAY - 1 - clock_now);
    CHECK_INT(0, quota(scheduler).expedited_left);
    advance(1);
    CHECK_INT(3 * MIN, quota(scheduler).expedited_left);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static int64_t waited(selene_scheduler scheduler, const char *id, int32_t reason) {
    selene_waits *waits = NULL;
    int64_t found = 0, sum = 0;
    CHECK_OK(selene_task_waits(scheduler, id, -1, &waits));
    for (uint64_t i = 0; i < waits->part_count; i++) {
        if (waits->parts[i].reason == reason) found += waits->parts[i].duration;
        sum += waits->parts[i].duration;
    }
    CHECK_INT(waits->until - waits->since, sum);
    selene_free(waits);
    return found;
}

/** It looks at the quota at each pick: what is used up in a window counts for the rest of it. */
static void test_in_a_window(void) {
    for (uint32_t flags = 0; flags <= SELENE_WINDOW_FROZEN; flags += SELENE_WINDOW_FROZEN) {
        selene_scheduler scheduler = open_with(MIN, 0, NULL);
        selene_window window = window_of(SELENE_HOUR, 0, 1);
        selene_task high = ordinary("high");
        high.priority = SELENE_PRIORITY_HIGH;
        add(scheduler, expedited("a"));
        add(scheduler, expedited("b"));
        add(scheduler, high);
        advance(S);
        window.flags = flags;
        selene_cycle cycle = begin(scheduler, window);
        selene_run run = next(cycle, "a");
        advance(MIN);
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_run_complete(next(cycle, "high"), SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_run_complete(next(cycle, "b"), SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** Outside the pace: a window before its time is for expedited tasks alone, and is not the last one. */
static void test_pace(void) {
    selene_scheduler scheduler = open_with(10 * MIN, SELENE_HOUR, NULL);
    selene_cycle cycle = 0;
    selene_window window = window_of(MIN, 0, 1);
    selene_report *report = NULL;
    const int64_t start = clock_now;
    add(scheduler, ordinary("first"));
    run_for(scheduler, "first", S);
    add(scheduler, ordinary("x"));
    CHECK_INT(start + SELENE_HOUR, wakeup(scheduler));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &window, &cycle));
    add(scheduler, expedited("a"));
    CHECK_INT(clock_now, wakeup(scheduler));
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    CHECK_INT(SELENE_REASON_TOO_SOON, explain(scheduler, "x").reasons[0].reason);
    cycle = begin(scheduler, window);
    advance(2 * S);
    /* Of what is not expedited it is not told as if it could have had it (W8). */
    CHECK_INT(2 * S, waited(scheduler, "x", SELENE_REASON_TOO_SOON));
    CHECK_INT(2 * S, waited(scheduler, "a", SELENE_REASON_WINDOW_OPEN));
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_FAILED));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(0, waited(scheduler, "x", SELENE_REASON_WINDOW_OPEN));
    CHECK_INT(1, (int64_t)report->eligible);
    CHECK_INT(0, (int64_t)report->did_not_fit);
    selene_free(report);
    /* Its retry, too, as soon as it is due. */
    CHECK_INT(clock_now + 30 * S, wakeup(scheduler));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &window, &cycle));
    advance(30 * S);
    run_for(scheduler, "a", S);
    CHECK_INT(start + SELENE_HOUR, wakeup(scheduler));
    advance(start + SELENE_HOUR - clock_now);
    run_for(scheduler, "x", S);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Without quota it waits for the pace as others do, or for the quota. */
static void test_pace_without_quota(void) {
    selene_scheduler scheduler = open_with(S, 30 * SELENE_HOUR, NULL);
    selene_cycle cycle = 0;
    selene_window window = window_of(MIN, 0, 1);
    const int64_t start = clock_now;
    add(scheduler, expedited("a"));
    run_for(scheduler, "a", 2 * S);
    add(scheduler, expedited("b"));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_INT(start + 2 * S + SELENE_DAY, wakeup(scheduler));
    CHECK_INT(2, explain(scheduler, "b").reason_count);
    advance(SELENE_DAY);
    run_for(scheduler, "b", S);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_with(0, SELENE_HOUR, NULL);
    add(scheduler, expedited("a"));
    run_for(scheduler, "a", S);
    add(scheduler, expedited("b"));
    CHECK_INT(clock_now - S + SELENE_HOUR, wakeup(scheduler));
    CHECK_INT(SELENE_NEVER, quota(scheduler).expedited_free_at);
    CHECK_INT(SELENE_NEVER, why(scheduler, "b", SELENE_REASON_OUT_OF_QUOTA).may_change_at);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A driver opens a window for it before its time, however long it was told to wait between windows. */
static void test_driver(void) {
    selene_scheduler scheduler = open_with(10 * MIN, 0, NULL);
    selene_driver options = SELENE_INIT(selene_driver);
    selene_cycle cycle = 0;
    int64_t at = 0;
    options.flags = SELENE_DRIVER_UNGOVERNED;
    options.every = SELENE_HOUR;
    add(scheduler, ordinary("first"));
    CHECK_OK(selene_driver_open(scheduler, &options, NULL));
    const int64_t start = clock_now;
    CHECK_OK(selene_driver_step(scheduler, &cycle, &at));
    CHECK_OK(selene_run_complete(next(cycle, "first"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    add(scheduler, ordinary("x"));
    CHECK_OK(selene_driver_step(scheduler, &cycle, &at));
    CHECK_INT(0, (int64_t)cycle);
    CHECK_INT(start + SELENE_HOUR, at);
    add(scheduler, expedited("a"));
    CHECK_OK(selene_driver_step(scheduler, &cycle, &at));
    CHECK(cycle != 0);
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_driver_step(scheduler, &cycle, &at));
    CHECK_INT(0, (int64_t)cycle);
    CHECK_INT(start + SELENE_HOUR, at);
    CHECK_OK(selene_driver_stop(scheduler, 0));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static int64_t time_told, left_at;
static int used_up, left_again;

static void hear(const selene_event *event, void *context) {
    (void)context;
    if (event->type == SELENE_EVENT_QUOTA_USED_UP) {
        used_up++;
        time_told = event->time;
        left_at = event->time_at;
        CHECK_INT(-1, event->state);
    } else if (event->type == SELENE_EVENT_QUOTA_LEFT) {
        left_again++;
        time_told = event->time;
        CHECK_INT(event->time, event->time_at);
    }
}

/** Nothing waits for the quota silently: an event when it is used up and when it is not any more, and a reason of waits. */
static void test_told(void) {
    new_file();
    selene_scheduler scheduler = open_with(3 * MIN, 0, file);
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    const int64_t start = clock_now;
    add(scheduler, expedited("a"));
    run_for(scheduler, "a", 2 * MIN);
    CHECK_INT(0, used_up);
    CHECK_INT(0, left_again);
    add(scheduler, expedited("b"));
    add(scheduler, ordinary("plain"));
    /* Used up within the run, a minute after its begin; told by the next call, with that time. */
    run_for(scheduler, "b", 5 * MIN);
    CHECK_INT(1, used_up);
    CHECK_INT(start + 3 * MIN, time_told);
    CHECK_INT(start + 2 * MIN + SELENE_DAY, left_at);
    /* What is expedited waits for the quota, what is not for a window. */
    add(scheduler, expedited("c"));
    advance(10 * MIN);
    CHECK_INT(10 * MIN, waited(scheduler, "c", SELENE_REASON_OUT_OF_QUOTA));
    CHECK_INT(0, waited(scheduler, "c", SELENE_REASON_NO_WINDOW));
    CHECK_INT(0, waited(scheduler, "plain", SELENE_REASON_OUT_OF_QUOTA));
    CHECK_INT(10 * MIN, waited(scheduler, "plain", SELENE_REASON_NO_WINDOW));
    /* Across a reopening, too: it was used up all the time. */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_with(3 * MIN, 0, file);
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    advance(MIN);
    CHECK_INT(11 * MIN, waited(scheduler, "c", SELENE_REASON_OUT_OF_QUOTA));
    /* A day after the second run something is left. */
    advance(start + 7 * MIN + SELENE_DAY - 1 - clock_now);
    CHECK_INT(0, left_again);
    advance(1 + 2 * MIN);
    CHECK_INT(SELENE_DAY, waited(scheduler, "c", SELENE_REASON_OUT_OF_QUOTA));
    CHECK_INT(1, left_again);
    CHECK_INT(start + 7 * MIN + SELENE_DAY, time_told);
    CHECK_INT(2 * MIN, waited(scheduler, "c", SELENE_REASON_NO_WINDOW));
    CHECK_INT(1, used_up);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* A reset frees it; a quota of 0 is no news. */
    scheduler = open_with(MIN, 0, NULL);
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    add(scheduler, expedited("a"));
    run_for(scheduler, "a", MIN);
    quota(scheduler);
    CHECK_INT(2, used_up);
    CHECK_OK(selene_scheduler_reset(scheduler));
    quota(scheduler);
    CHECK_INT(2, left_again);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_with(0, 0, NULL);
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    add(scheduler, expedited("a"));
    advance(MIN);
    CHECK_INT(MIN, waited(scheduler, "a", SELENE_REASON_OUT_OF_QUOTA));
    run_for(scheduler, "a", MIN);
    CHECK_INT(2, used_up);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A host may want it refused while the quota is used up. */
static void test_refused(void) {
    selene_scheduler scheduler = open_with(S, 0, NULL);
    selene_task task = refusing("b");
    add(scheduler, refusing("a"));
    run_for(scheduler, "a", S);
    CHECK_STATUS(SELENE_ERROR_OUT_OF_QUOTA, selene_task_register(scheduler, &task, NULL));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_cancel(scheduler, "b", -1, NULL));
    const selene_error *fault = selene_error_last();
    CHECK_STATUS(SELENE_ERROR_OUT_OF_QUOTA, selene_task_register(scheduler, &task, NULL));
    CHECK_TEXT("expedited_quota", fault->field);
    CHECK_INT(S, fault->value);
    CHECK_INT(S, fault->greatest);
    CHECK_STRING("expedited_quota: 1000000000 ns of expedited runs in the last 24 h leave nothing "
                 "of the quota, which is 1 s; "
                 "something is left again in 24 h",
                 selene_error_last()->message.data);
    /* An ordinary one is not. */
    add(scheduler, expedited("c"));
    advance(SELENE_DAY);
    add(scheduler, task);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What it can be, and what not. */
static void test_arguments(void) {
    selene_scheduler scheduler = open_with(SELENE_NEVER, 0, NULL);
    selene_task task = expedited("a");
    CHECK_INT(SELENE_NEVER, quota(scheduler).expedited_left);
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    task = ordinary("a");
    task.flags = SELENE_TASK_REFUSE_OUT_OF_QUOTA;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    task.flags = SELENE_TASK_EXPEDITED | 16;
    CHECK(selene_task_register(scheduler, &task, NULL) != SELENE_OK);
    add(scheduler, refusing("a"));
    CHECK_INT(SELENE_TASK_EXPEDITED | SELENE_TASK_REFUSE_OUT_OF_QUOTA,
              (int64_t)record(scheduler, "a").flags);
    run_for(scheduler, "a", SELENE_HOUR);
    CHECK_INT(SELENE_NEVER, quota(scheduler).expedited_left);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    static const int64_t refused[] = {-2, SELENE_DAY + 1, SELENE_NEVER - 1};
    for (size_t i = 0; i < 3; i++) {
        selene_options options = SELENE_INIT(selene_options);
        options.expedited_quota = refused[i];
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
        CHECK(strstr(selene_error_last()->message.data, "expedited_quota") != NULL);
    }
}

/** An update makes it one, or an ordinary one. */
static void test_update(void) {
    selene_scheduler scheduler = open_with(MIN, 0, NULL);
    selene_task high = ordinary("high"), task = expedited("a");
    high.priority = SELENE_PRIORITY_HIGH;
    add(scheduler, high);
    add(scheduler, ordinary("a"));
    advance(S);
    CHECK_INT(2, (int64_t)explain(scheduler, "a").rank);
    task.existing = SELENE_EXISTING_UPDATE;
    add(scheduler, task);
    CHECK_INT(1, (int64_t)explain(scheduler, "a").rank);
    CHECK_INT(2, (int64_t)explain(scheduler, "high").rank);
    task.flags = 0;
    add(scheduler, task);
    CHECK_INT(2, (int64_t)explain(scheduler, "a").rank);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A run that is stopped counts until then; so does one whose task is cancelled. */
static void test_stops(void) {
    selene_scheduler scheduler = open_with(3 * MIN, 0, NULL);
    add(scheduler, expedited("a"));
    add(scheduler, expedited("b"));
    selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 2));
    const selene_run a = next(cycle, "a");
    const selene_run b = next(cycle, "b");
    advance(MIN);
    CHECK_INT(MIN, quota(scheduler).expedited_left);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    advance(S);
    CHECK_INT(MIN - S, quota(scheduler).expedited_left);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(MIN);
    CHECK_INT(MIN - S, quota(scheduler).expedited_left);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(a, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(b, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Kept in a store, also what a killed process had under way; a reset forgets it. */
static void test_store(void) {
    new_file();
    selene_scheduler scheduler = open_with(10 * MIN, 0, file);
    add(scheduler, expedited("a"));
    run_for(scheduler, "a", 2 * MIN);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_OK(selene_store_check(file, -1, NULL));
    scheduler = open_with(10 * MIN, 0, file);
    CHECK_INT(8 * MIN, quota(scheduler).expedited_left);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        scheduler = open_with(10 * MIN, 0, file);
        add(scheduler, expedited("b"));
        selene_cycle cycle = begin(scheduler, window_of(SELENE_HOUR, 0, 1));
        next(cycle, "b");
        advance(3 * MIN);
        add(scheduler, ordinary("x"));
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    advance(SELENE_HOUR);
    scheduler = open_with(10 * MIN, 0, file);
    /* Its end is when the store was last written, and is that however often it is opened later. */
    CHECK_INT(5 * MIN, quota(scheduler).expedited_left);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    advance(SELENE_HOUR);
    scheduler = open_with(10 * MIN, 0, file);
    CHECK_INT(5 * MIN, quota(scheduler).expedited_left);
    CHECK_INT(SELENE_STOP_INTERRUPTED, record(scheduler, "b").stop_reason);
    CHECK_INT(SELENE_TASK_EXPEDITED, (int64_t)record(scheduler, "b").flags);
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK_INT(10 * MIN, quota(scheduler).expedited_left);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** More runs than are kept apart: never too little is counted. */
static void test_many(void) {
    selene_scheduler scheduler = open_with(SELENE_DAY, 0, NULL);
    const int64_t start = clock_now;
    for (int i = 0; i < 600; i++) {
        add(scheduler, expedited("a"));
        run_for(scheduler, "a", S);
        CHECK_INT(SELENE_DAY - (i + 1) * S, quota(scheduler).expedited_left);
        advance(MIN);
    }
    advance(start + SELENE_DAY - clock_now);
    for (int i = 0; i < 600; i++) {
        /* The run i ended at start + i · 61 s + 1 s. */
        advance(S);
        CHECK(quota(scheduler).expedited_left <= SELENE_DAY - (600 - i - 1) * S);
        advance(MIN);
    }
    CHECK_INT(SELENE_DAY, quota(scheduler).expedited_left);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W10 expedited tasks go before others, by priority and age", test_order);
    run_test("W10 their quota counts the time of runs in 24 h", test_quota);
    run_test("W10 the quota is looked at at each pick", test_in_a_window);
    run_test("W10 C13 they have windows before their time, alone", test_pace);
    run_test("W10 without quota they wait for the pace, or for the quota", test_pace_without_quota);
    run_test("W10 G7 a driver opens such windows", test_driver);
    run_test("W8 W10 a quota that is used up is told, and is what they wait for", test_told);
    run_test("W10 some are refused while the quota is used up", test_refused);
    run_test("W10 an expedited task that is near its latest begin has one turn",
             test_urgent_and_expedited);
    run_test("W10 C13 one that is near its latest begin goes first in a window before its time",
             test_urgent_before_the_time);
    run_test("W10 what can be expedited, and what a quota can be", test_arguments);
    run_test("W10 T5 an update makes it one or the other", test_update);
    run_test("W10 C8 stopped runs count until then", test_stops);
    run_test("W10 D1 the quota is kept", test_store);
    run_test("W9 W10 one that is the first of its group begins while a window is open",
             test_new_class);
    run_test("W10 never too little is counted of many runs", test_many);
    return check_end();
}
