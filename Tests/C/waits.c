/*
 * waits.c - where the time of a task went (W8)
 *
 * What the answer is compared with: a plain recorder that looks at every instant what keeps each task from running, by
 * what selene_task_explain says then and by what this host did.
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

/* ---- answers -------------------------------------------------------------- */

static selene_waits *waits_of(selene_scheduler scheduler, const char *id) {
    selene_waits *waits = NULL;
    CHECK_OK(selene_task_waits(scheduler, id, -1, &waits));
    int64_t sum = 0;
    for (uint64_t i = 0; i < waits->part_count; i++) {
        CHECK(waits->parts[i].duration >= 0);
        sum += waits->parts[i].duration;
        for (uint64_t k = 0; k < i; k++)
            CHECK(waits->parts[k].reason != waits->parts[i].reason ||
                  waits->parts[k].detail != waits->parts[i].detail ||
                  waits->parts[k].name.length != waits->parts[i].name.length ||
                  memcmp(waits->parts[k].name.data, waits->parts[i].name.data,
                         (size_t)waits->parts[i].name.length) != 0);
    }
    CHECK_INT(waits->until - waits->since, sum);
    CHECK(waits->change_count <= 30);
    for (uint64_t i = 1; i < waits->change_count; i++)
        CHECK(waits->changes[i - 1].at <= waits->changes[i].at);
    return waits;
}

static void print(const selene_waits *waits) {
    for (uint64_t i = 0; i < waits->part_count; i++)
        fprintf(stderr, "  %s(%" PRId64 ") %" PRId64 " x%" PRIu64 "\n",
                selene_name(SELENE_NAMES_REASON, waits->parts[i].reason), waits->parts[i].detail,
                waits->parts[i].duration, waits->parts[i].times);
}

static selene_wait part_of(const selene_waits *waits, int32_t reason, int64_t detail) {
    for (uint64_t i = 0; i < waits->part_count; i++)
        if (waits->parts[i].reason == reason && waits->parts[i].detail == detail)
            return waits->parts[i];
    return (selene_wait){{NULL, 0}, reason, 0, detail, 0, 0};
}

static selene_wait wait_for_reason(selene_scheduler scheduler, const char *id, int32_t reason,
                                   int64_t detail) {
    selene_waits *waits = waits_of(scheduler, id);
    selene_wait part = part_of(waits, reason, detail);
    selene_free(waits);
    return part;
}

#define SPENT(seconds, id, reason)                                                                 \
    CHECK_INT((seconds)*S, wait_for_reason(scheduler, id, SELENE_REASON_##reason, 0).duration)
#define SPENT_ON(seconds, id, reason, detail)                                                      \
    CHECK_INT((seconds)*S, wait_for_reason(scheduler, id, SELENE_REASON_##reason, detail).duration)

static int is_named(selene_text text, const char *name) {
    if (!name || !text.data) return !name && !text.data && text.length == 0;
    return text.length == (int64_t)strlen(name) && strcmp(text.data, name) == 0;
}

/* How long it waited for something that has a name; NULL: that has none. */
static int64_t spent_on(selene_scheduler scheduler, const char *id, int32_t reason,
                        const char *name) {
    selene_waits *waits = waits_of(scheduler, id);
    int64_t spent = 0;
    for (uint64_t i = 0; i < waits->part_count; i++)
        if (waits->parts[i].reason == reason && is_named(waits->parts[i].name, name))
            spent += waits->parts[i].duration;
    selene_free(waits);
    return spent;
}

static selene_task job(const char *id) {
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    return task;
}

static void test_life_of_a_task(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = job("a");
    task.initial_delay = 10 * S;
    task.constraints = SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER;
    task.backoff_delay = 20 * S;
    add(scheduler, task);
    advance(10 * S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    advance(3 * S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_NETWORK));
    advance(4 * S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    advance(5 * S);
    CHECK_OK(selene_task_pause(scheduler, "a", -1, NULL));
    advance(6 * S);
    CHECK_OK(selene_task_resume(scheduler, "a", -1, NULL));
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_PROCESSING));
    advance(7 * S);
    CHECK_OK(selene_scheduler_enable(scheduler, SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING));
    advance(1 * S);
    selene_cycle cycle = begin(scheduler, window_of(100 * S, 0, 1));
    advance(2 * S);
    selene_run run = next(cycle, "a");
    advance(8 * S);
    SPENT(8, "a", RUNNING);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_FAILED));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(20 * S);
    cycle = begin(scheduler, window_of(100 * S, 0, 1));
    run = next(cycle, "a");
    advance(9 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(1000 * S);
    SPENT(10, "a", NOT_DUE);
    SPENT_ON(3, "a", CONSTRAINTS, SELENE_CONSTRAINT_NETWORK);
    SPENT_ON(4, "a", CONSTRAINTS, SELENE_CONSTRAINT_EXTERNAL_POWER);
    SPENT(6, "a", NO_WINDOW);
    SPENT(6, "a", PAUSED);
    SPENT(7, "a", KIND_OFF);
    SPENT(2, "a", WINDOW_OPEN);
    SPENT(17, "a", RUNNING);
    SPENT(20, "a", BACKING_OFF);
    selene_waits *waits = waits_of(scheduler, "a");
    CHECK_INT(75 * S, waits->until - waits->since);
    CHECK_INT(START, waits->since);
    CHECK_INT(SELENE_STATE_SUCCEEDED, waits->state);
    CHECK_INT(SELENE_REASON_NOT_DUE, waits->changes[0].reason);
    CHECK_INT(START + 10 * S, waits->changes[1].at);
    CHECK_INT(SELENE_REASON_CONSTRAINTS, waits->changes[1].reason);
    CHECK_INT(SELENE_REASON_TERMINAL, waits->changes[waits->change_count - 1].reason);
    CHECK_INT(START + 75 * S, waits->changes[waits->change_count - 1].at);
    CHECK_INT(2, part_of(waits, SELENE_REASON_RUNNING, 0).times);
    selene_free(waits);
    selene_free(NULL);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Windows that it did not fit, and such that preferred others. */
static void test_names(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_text asked[] = {SELENE_TEXT("vpn"), SELENE_TEXT("disk")};
    selene_text before[] = {SELENE_TEXT("first"), SELENE_TEXT("second")};
    CHECK_OK(selene_condition_define(scheduler, "disk", -1));
    CHECK_OK(selene_condition_define(scheduler, "vpn", -1));
    selene_task task = job("a");
    task.conditions = asked;
    task.condition_count = 2;
    task.group = SELENE_TEXT("web");
    add(scheduler, task);
    advance(3 * S);
    CHECK_OK(selene_condition_set(scheduler, "disk", -1, 1));
    advance(4 * S);
    CHECK_OK(selene_condition_set(scheduler, "disk", -1, 0));
    CHECK_OK(selene_condition_set(scheduler, "vpn", -1, 1));
    advance(5 * S);
    CHECK_OK(selene_condition_set(scheduler, "disk", -1, 1));
    CHECK_OK(selene_group_pause(scheduler, "web", -1));
    advance(6 * S);
    CHECK_OK(selene_group_resume(scheduler, "web", -1));
    advance(1 * S);
    /* While both are missing it is the one that was defined first. */
    CHECK_INT(8 * S, spent_on(scheduler, "a", SELENE_REASON_CONDITIONS, "disk"));
    CHECK_INT(4 * S, spent_on(scheduler, "a", SELENE_REASON_CONDITIONS, "vpn"));
    CHECK_INT(6 * S, spent_on(scheduler, "a", SELENE_REASON_GROUP_PAUSED, "web"));
    CHECK_INT(1 * S, spent_on(scheduler, "a", SELENE_REASON_NO_WINDOW, NULL));
    static const char *const told[] = {"disk", "vpn", "disk", "web", NULL};
    selene_waits *waits = waits_of(scheduler, "a");
    CHECK_INT(5, waits->change_count);
    for (uint64_t i = 0; i < waits->change_count; i++)
        CHECK(is_named(waits->changes[i].name, told[i]));
    selene_free(waits);
    /* An update to another condition: what the number of the old one means now is not told as its name. */
    asked[0] = SELENE_TEXT("moon");
    task.condition_count = 1;
    task.existing = SELENE_EXISTING_UPDATE;
    add(scheduler, task);
    CHECK_INT(12 * S, spent_on(scheduler, "a", SELENE_REASON_CONDITIONS, NULL));
    /* What comes after others names the first that it still waits for. */
    add(scheduler, job("first"));
    add(scheduler, job("second"));
    task = job("last");
    task.after = before;
    task.after_count = 2;
    add(scheduler, task);
    advance(2 * S);
    CHECK_INT(2 * S, spent_on(scheduler, "last", SELENE_REASON_BLOCKED, "first"));
    CHECK_OK(selene_task_pause(scheduler, "second", -1, NULL));
    selene_cycle cycle = begin(scheduler, window_of(100 * S, 0, 1));
    CHECK_OK(selene_run_complete(next(cycle, "first"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(2 * S, spent_on(scheduler, "last", SELENE_REASON_BLOCKED, "second"));
    CHECK_OK(selene_task_cancel(scheduler, "last", -1, NULL));
    CHECK_INT(2 * S, spent_on(scheduler, "last", SELENE_REASON_BLOCKED, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What a number of a condition meant earlier is not told as what it means now. */
static void test_redefined(void) {
    static selene_text sun[] = {{"sun", -1}}, moon[] = {{"moon", -1}};
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = job("a");
    CHECK_OK(selene_condition_define(scheduler, "sun", -1));
    task.conditions = sun;
    task.condition_count = 1;
    add(scheduler, task);
    advance(5 * S);
    task.existing = SELENE_EXISTING_UPDATE;
    task.condition_count = 0;
    add(scheduler, task);
    CHECK_OK(selene_condition_undefine(scheduler, "sun", -1));
    CHECK_OK(selene_condition_define(scheduler, "moon", -1));
    task.conditions = moon;
    task.condition_count = 1;
    add(scheduler, task);
    advance(3 * S);
    CHECK_INT(3 * S, spent_on(scheduler, "a", SELENE_REASON_CONDITIONS, "moon"));
    CHECK_INT(5 * S, spent_on(scheduler, "a", SELENE_REASON_CONDITIONS, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* Opened again, a name that nobody defines has the number of one that is undefined since. */
    new_file();
    scheduler = open_for_work(file);
    CHECK_OK(selene_condition_define(scheduler, "sun", -1));
    task.existing = SELENE_EXISTING_DEFAULT;
    add(scheduler, task);
    CHECK_OK(selene_condition_set(scheduler, "sun", -1, 1));
    advance(4 * S);
    CHECK_OK(selene_condition_undefine(scheduler, "sun", -1));
    advance(3 * S);
    CHECK_OK(selene_task_pause(scheduler, "a", -1, NULL));
    advance(1 * S);
    CHECK_OK(selene_task_resume(scheduler, "a", -1, NULL));
    for (int life = 0; life < 3; life++) {
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        scheduler = open_for_work(file);
        if (life == 1) CHECK_OK(selene_condition_define(scheduler, "stars", -1));
        CHECK_INT(8 * S, spent_on(scheduler, "a", SELENE_REASON_CONDITIONS, "moon"));
        SPENT(0, "a", NO_WINDOW);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
    /* Nor where the task is gone that asked for the one with the number before, and nobody defined any. */
    static selene_text stars[] = {{"stars", -1}};
    new_file();
    scheduler = open_for_work(file);
    selene_task other = job("other");
    other.conditions = stars;
    other.condition_count = 1;
    add(scheduler, other);
    add(scheduler, task);
    advance(2 * S);
    CHECK_OK(selene_task_pause(scheduler, "a", -1, NULL));
    advance(1 * S);
    CHECK_OK(selene_task_resume(scheduler, "a", -1, NULL));
    CHECK_OK(selene_task_cancel(scheduler, "other", -1, NULL));
    CHECK_OK(selene_scheduler_prune(scheduler, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    CHECK_INT(3 * S, spent_on(scheduler, "a", SELENE_REASON_CONDITIONS, "moon"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** How far back it is known is up to the host. */
static void test_length(void) {
    const uint64_t most[] = {16, 17, 4096};
    for (int i = 0; i < 3; i++) {
        selene_options options = SELENE_INIT(selene_options);
        options.max_pending_refresh = SELENE_UNLIMITED;
        options.wait_log_entries = most[i];
        selene_scheduler scheduler = open_virtual(options);
        CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
        add(scheduler, job("a"));
        CHECK_OK(selene_task_pause(scheduler, "a", -1, NULL));
        selene_task other = job("b");
        other.schedule = SELENE_SCHEDULE_STANDING;
        other.group = SELENE_TEXT("g");
        add(scheduler, other);
        for (int round = 0; round < 100; round++) {
            selene_cycle cycle = begin(scheduler, window_of(10 * S, 0, 1));
            CHECK_OK(selene_run_complete(next(cycle, "b"), SELENE_OUTCOME_NEW_DATA));
            advance(S);
            CHECK_OK(selene_cycle_end(cycle, NULL));
        }
        CHECK_OK(selene_task_resume(scheduler, "a", -1, NULL));
        SPENT(100, "a", PAUSED);
        const selene_wait earlier = wait_for_reason(scheduler, "b", SELENE_REASON_EARLIER, 0);
        CHECK_INT(0, earlier.duration);
        /* Of a condition a quarter of it is kept, but 16. */
        selene_task task = job("c");
        task.constraints = SELENE_CONSTRAINT_NETWORK;
        add(scheduler, task);
        for (int flip = 0; flip < 40; flip++) {
            CHECK_OK(selene_conditions_set(scheduler, BOTH, flip % 2 ? BOTH : 0));
            advance(S);
        }
        CHECK_INT(most[i] == 4096 ? 0 : 23 * S,
                  wait_for_reason(scheduler, "c", SELENE_REASON_EARLIER, 0).duration);
        SPENT_ON(most[i] == 4096 ? 20 : 8, "c", CONSTRAINTS, SELENE_CONSTRAINT_NETWORK);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** What was preferred to it once in a window stays so, whatever kept the task from running in between. */
static void test_preferred_before(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task a = job("a"), b = job("b");
    a.group = b.group = SELENE_TEXT("g");
    CHECK_OK(selene_group_set_limit(scheduler, "g", -1, 1));
    add(scheduler, a);
    advance(S);
    add(scheduler, b);
    advance(8 * S);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    advance(S);
    selene_run run = next(cycle, "a");
    advance(4 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    advance(5 * S);
    SPENT(8, "b", NO_WINDOW);
    SPENT(1, "b", WINDOW_OPEN);
    SPENT(4, "b", GROUP_FULL);
    SPENT(5, "b", PREFERRED_OTHERS);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    advance(2 * S);
    SPENT(3, "b", WINDOW_OPEN);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A host's clock may be set to the last instant that there is, which stands for never elsewhere. */
static void test_end_of_time(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    options.flags = SELENE_OPTIONS_SET_CLOCK | SELENE_OPTIONS_NO_THREADS;
    options.max_pending_refresh = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    selene_task task = job("a");
    task.group = SELENE_TEXT("g");
    add(scheduler, task);
    add(scheduler, job("b"));
    next(begin(scheduler, window_of(60 * S, 0, 1)), "a");
    for (int64_t left = 1; left >= 0; left--) {
        CHECK_OK(selene_clock_set(scheduler, INT64_MAX - left));
        selene_waits *waits = waits_of(scheduler, "a");
        CHECK_INT(INT64_MAX - left, waits->until);
        selene_free(waits);
        selene_free(waits_of(scheduler, "b"));
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_windows(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task big = job("big"), first = job("first"), second = job("second");
    big.expected_response = 50 * S;
    big.priority = SELENE_PRIORITY_VERY_LOW;
    add(scheduler, big);
    add(scheduler, first);
    add(scheduler, second);
    advance(11 * S);
    /* It fits for 10 s: at 60 s from the end the first goes before it, at 50 s the second, then it does not. */
    selene_cycle cycle = begin(scheduler, window_of(60 * S, 0, 1));
    selene_run run = next(cycle, "first");
    advance(10 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    run = next(cycle, "second");
    advance(5 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(4 * S);
    selene_waits *waits = waits_of(scheduler, "big");
    CHECK_INT(15 * S, part_of(waits, SELENE_REASON_NO_WINDOW, 0).duration);
    CHECK_INT(10 * S + 1, part_of(waits, SELENE_REASON_PREFERRED_OTHERS, 0).duration);
    CHECK_INT(1, part_of(waits, SELENE_REASON_PREFERRED_OTHERS, 0).times);
    CHECK_INT(5 * S - 1, part_of(waits, SELENE_REASON_DID_NOT_FIT, 0).duration);
    CHECK_INT(1, part_of(waits, SELENE_REASON_DID_NOT_FIT, 0).times);
    CHECK_INT(2, waits->preferred_count);
    CHECK_INT(2, waits->preferred_id_count);
    CHECK_TEXT("second", waits->preferred_ids[0]);
    CHECK_TEXT("first", waits->preferred_ids[1]);
    selene_free(waits);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What is told of a periodic task is the period that was last due. */
static void test_periods(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = job("daily");
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = 100 * S;
    add(scheduler, task);
    for (int round = 0; round < 5; round++) {
        advance(3 * S);
        selene_cycle cycle = begin(scheduler, window_of(60 * S, 0, 1));
        selene_run run = next(cycle, "daily");
        advance(4 * S);
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        advance(50 * S);
        SPENT(50, "daily", NOT_DUE);
        SPENT(4, "daily", RUNNING);
        SPENT(3, "daily", NO_WINDOW);
        advance(50 * S);
    }
    advance(2 * S);
    SPENT(2, "daily", NO_WINDOW);
    SPENT(0, "daily", NOT_DUE);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A pause, an update or an instant that the host sets after a run is of the period that is over: the next one begins when it is due. */
static void test_period_after_a_step(void) {
    enum { NOTHING, PAUSE, UPDATE, NEXT, WAYS };
    for (int way = 0; way < WAYS; way++) {
        const int64_t due = way == NEXT ? 80 : 107, start = atomic_load(&clock_now);
        selene_scheduler scheduler = open_for_work(NULL);
        selene_task task = job("p");
        selene_waits *waits = NULL;
        task.schedule = SELENE_SCHEDULE_PERIODIC;
        task.period = 100 * S;
        add(scheduler, task);
        advance(3 * S);
        selene_cycle cycle = begin(scheduler, window_of(60 * S, 0, 1));
        selene_run run = next(cycle, "p");
        advance(4 * S);
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        advance(43 * S);
        if (way == PAUSE) CHECK_OK(selene_task_pause(scheduler, "p", -1, NULL));
        if (way == UPDATE) {
            task.existing = SELENE_EXISTING_UPDATE;
            task.constraints = SELENE_CONSTRAINT_NETWORK;
            add(scheduler, task);
        }
        if (way == NEXT) CHECK_OK(selene_task_set_next(scheduler, "p", -1, start + due * S));
        advance(10 * S);
        if (way == PAUSE) CHECK_OK(selene_task_resume(scheduler, "p", -1, NULL));
        /* Until it is due again the last period is told. */
        waits = waits_of(scheduler, "p");
        CHECK_INT(start, waits->since);
        selene_free(waits);
        advance(60 * S);
        waits = waits_of(scheduler, "p");
        CHECK_INT(start + due * S, waits->since);
        selene_free(waits);
        SPENT(120 - due, "p", NO_WINDOW);
        SPENT(0, "p", NOT_DUE);
        SPENT(0, "p", RUNNING);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** A run that comes back within a millisecond is back at once, also where the task has steps of its own. */
static void test_short_return(void) {
    for (int way = 0; way < 4; way++) {
        const int64_t late = way % 2 ? S / 500 : S / 2000;
        const int stored = way / 2;
        if (stored) new_file();
        selene_scheduler scheduler = open_for_work(stored ? file : NULL);
        add(scheduler, job("a"));
        advance(S);
        selene_cycle cycle = begin(scheduler, window_of(60 * S, 0, 1));
        selene_run run = next(cycle, "a");
        advance(2 * S);
        /* Stopped, and not back. */
        CHECK_OK(selene_cycle_end(cycle, NULL));
        advance(late);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        advance(3 * S);
        /* The next life knows it as this one does. */
        if (stored) {
            CHECK_OK(selene_scheduler_close(scheduler, 0));
            scheduler = open_for_work(file);
        }
        CHECK_INT(late > S / 1000 ? late : 0,
                  wait_for_reason(scheduler, "a", SELENE_REASON_STILL_RUNNING, 0).duration);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** A condition that flips a million times costs tasks nothing, and what is kept of it has an end. */
static void test_flips(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = job("a");
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    for (int flip = 0; flip < check_tasks(1000000, 20000); flip++) {
        advance(S);
        CHECK_OK(selene_conditions_set(scheduler, BOTH, flip % 2 ? BOTH : 0));
    }
    advance(S);
    selene_waits *waits = waits_of(scheduler, "a");
    CHECK_INT(START, waits->since);
    CHECK(part_of(waits, SELENE_REASON_EARLIER, 0).duration > 0);
    int64_t missing = part_of(waits, SELENE_REASON_CONSTRAINTS, SELENE_CONSTRAINT_NETWORK).duration;
    CHECK_BETWEEN(400 * S, missing, 600 * S);
    CHECK_INT(30, waits->change_count);
    selene_free(waits);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- reopening ------------------------------------------------------------- */

static void test_reopening(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    selene_task task = job("a"), periodic = job("p"), failing = job("f");
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    task.priority = SELENE_PRIORITY_VERY_LOW;
    periodic.schedule = SELENE_SCHEDULE_PERIODIC;
    periodic.period = 1000 * S;
    add(scheduler, task);
    add(scheduler, periodic);
    add(scheduler, failing);
    advance(S);
    selene_cycle cycle = begin(scheduler, window_of(20 * S, 0, 1));
    selene_run run = next(cycle, "p");
    advance(2 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    run = next(cycle, "f");
    advance(S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    advance(3 * S);
    CHECK_OK(selene_run_retry(run, 50 * S));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(4 * S);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    advance(5 * S);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    for (int round = 0; round < 3; round++) {
        advance(100 * S);
        scheduler = open_for_work(file);
        advance(7 * S);
        SPENT(6 + 7 * (round + 1), "a", NO_WINDOW);
        SPENT_ON(7, "a", CONSTRAINTS, SELENE_CONSTRAINT_NETWORK);
        SPENT(3, "a", PREFERRED_OTHERS);
        SPENT(100 * (round + 1), "a", NO_PROCESS);
        SPENT(2, "p", RUNNING);
        SPENT(1, "p", NO_WINDOW);
        SPENT(4, "f", RUNNING);
        SPENT(50, "f", BACKING_OFF);
        selene_waits *waits = waits_of(scheduler, "a");
        CHECK_INT(2, waits->preferred_count);
        CHECK_TEXT("f", waits->preferred_ids[0]);
        CHECK_TEXT("p", waits->preferred_ids[1]);
        selene_free(waits);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    remove_folder();
}

/** What a process that was killed had not written is not known. */
static void test_kill(void) {
    new_file();
    pid_t child = fork();
    if (child == 0) {
        selene_scheduler scheduler = open_for_work(file);
        selene_task task = job("a");
        task.constraints = SELENE_CONSTRAINT_NETWORK;
        add(scheduler, task);
        CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
        advance(20 * S);
        CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
        advance(10 * S);
        add(scheduler, job("b"));
        advance(5 * S);
        CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
    advance(200 * S);
    selene_scheduler scheduler = open_for_work(file);
    advance(3 * S);
    SPENT_ON(20, "a", CONSTRAINTS, SELENE_CONSTRAINT_NETWORK);
    SPENT(10 + 3, "a", NO_WINDOW);
    SPENT(170, "a", NOT_KNOWN);
    SPENT(173 - 170, "b", NO_WINDOW);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** Of a store that a library without these logs wrote only what its tasks themselves tell is known. */
static void test_older(void) {
    const int64_t closed_at = INT64_C(1700000006) * S;
    char command[256];
    new_file();
    snprintf(command, sizeof command, "cp Tests/vectors/schema5.store '%s' && chmod 600 '%s'", file,
             file);
    CHECK_INT(0, system(command));
    for (int round = 0; round < 2; round++) {
        atomic_store(&clock_now, closed_at + (100 + 50 * round) * S);
        selene_scheduler scheduler = open_for_work(file);
        advance(10 * S);
        SPENT(106, "waits", NOT_KNOWN);
        SPENT(10 * (round + 1), "waits", NO_WINDOW);
        SPENT(40 * round, "waits", NO_PROCESS);
        selene_waits *waits = waits_of(scheduler, "periodic");
        CHECK_INT(SELENE_REASON_NOT_DUE, waits->changes[waits->change_count - 1].reason);
        selene_free(waits);
        selene_free(waits_of(scheduler, "failed"));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    remove_folder();
}

/** The logs of a store have an end, too, and many openings leave them whole. */
static void test_rows(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    selene_task task = job("a");
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    int64_t missing = 0;
    for (int round = 0; round < 200; round++) {
        for (int flip = 0; flip < 20; flip++) {
            CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
            advance(S);
            CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
            advance(2 * S);
        }
        missing += 20 * S;
        add(scheduler, job("b"));
        CHECK_OK(selene_task_cancel(scheduler, "b", -1, NULL));
        if (round % 70 == 69) {
            CHECK_OK(selene_scheduler_close(scheduler, 0));
            scheduler = open_for_work(file);
        }
        if (round == 20) {
            CHECK_INT(missing, wait_for_reason(scheduler, "a", SELENE_REASON_CONSTRAINTS,
                                               SELENE_CONSTRAINT_NETWORK)
                                   .duration);
        }
    }
    selene_waits *waits = waits_of(scheduler, "a");
    CHECK_INT(200 * 60 * S, waits->until - waits->since);
    CHECK(part_of(waits, SELENE_REASON_EARLIER, 0).duration > 0);
    CHECK(part_of(waits, SELENE_REASON_CONSTRAINTS, SELENE_CONSTRAINT_NETWORK).duration > 400 * S);
    selene_free(waits);
    selene_store_info *info = NULL;
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK(info->pages * info->page_size < 1000000);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** A run that had not come back holds its id up until its process ends, also where a new record has taken its place. */
static void test_taken(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    selene_task task = job("a");
    add(scheduler, task);
    selene_cycle cycle = begin(scheduler, window_of(100 * S, 0, 1));
    (void)next(cycle, "a");
    advance(2 * S);
    task.existing = SELENE_EXISTING_REPLACE;
    add(scheduler, task);
    advance(3 * S);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(4 * S);
    SPENT(7, "a", STILL_RUNNING);
    for (int round = 1; round <= 3; round++) {
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        /* The second time at the same instant. */
        if (round != 2) advance(10 * S);
        scheduler = open_for_work(file);
        advance(S);
        SPENT(7, "a", STILL_RUNNING);
        SPENT(round, "a", NO_WINDOW);
        SPENT(round == 3 ? 20 : 10, "a", NO_PROCESS);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** What is due as a window begins is in it, however often its store was opened since it ran. */
static void test_due_at_begin(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    selene_task task = job("p");
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = 50 * S;
    add(scheduler, task);
    /* It changes more often than all there is changes in the next life. */
    for (int i = 0; i < 30; i++)
        CHECK_OK(selene_task_set_next(scheduler, "p", -1, START + i));
    advance(S);
    selene_cycle cycle = begin(scheduler, window_of(10 * S, 0, 1));
    selene_run run = next(cycle, "p");
    advance(S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    advance(50 * S);
    scheduler = open_for_work(file);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    for (int round = 0; round < 3; round++) {
        advance(2 * S);
        SPENT(2, "p", WINDOW_OPEN);
        if (round == 0) CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        scheduler = open_for_work(file);
    }
    /* One that is cancelled keeps when it was due. */
    CHECK_OK(selene_task_cancel(scheduler, "p", -1, NULL));
    for (int round = 0; round < 2; round++) {
        SPENT(2, "p", WINDOW_OPEN);
        SPENT(0, "p", NOT_DUE);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        scheduler = open_for_work(file);
    }
    task.id = SELENE_TEXT("q");
    task.initial_delay = 2 * S;
    add(scheduler, task);
    advance(3 * S);
    cycle = begin(scheduler, window_of(10 * S, 0, 1));
    CHECK_OK(selene_run_complete(next(cycle, "q"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(20 * S);
    CHECK_OK(selene_task_cancel(scheduler, "q", -1, NULL));
    for (int round = 0; round < 2; round++) {
        SPENT(1, "q", NO_WINDOW);
        SPENT(22, "q", NOT_DUE);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        scheduler = open_for_work(file);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** Of a window that a task had its run of before it was due again, that is known, also once it has run since. */
static void test_had_its_run(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = job("p");
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = 20 * S;
    add(scheduler, task);
    for (int round = 0; round < 2; round++) {
        selene_cycle cycle = begin(scheduler, window_of(100 * S, 0, 1));
        selene_run run = next(cycle, "p");
        advance(S);
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        if (round) SPENT(7, "p", HAD_ITS_RUN);
        advance(27 * S);
        SPENT(7, "p", HAD_ITS_RUN);
        CHECK_OK(selene_cycle_end(cycle, NULL));
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A window before its time is for expedited tasks: the others still wait for what the governor has refused. */
static void test_refused_before_time(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.minimum_interval_refresh = 10 * S;
    options.max_pending_refresh = SELENE_UNLIMITED;
    selene_scheduler scheduler = open_virtual(options);
    selene_decision *decision = NULL;
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_cycle_end(begin(scheduler, window_of(S, 0, 1)), NULL));
    const selene_rule rule = {
        SELENE_FACTOR_THERMAL, SELENE_KIND_REFRESH, SELENE_RULE_VETO, 0, 1, 0};
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.rules = &rule;
    profile.rule_count = 1;
    CHECK_OK(selene_governor_set_profile(scheduler, &profile));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, 3, 0));
    CHECK_OK(selene_governor_ask(scheduler, SELENE_KIND_REFRESH, 0, &decision));
    selene_free(decision);
    selene_task task = job("now");
    add(scheduler, job("a"));
    task.flags = SELENE_TASK_EXPEDITED;
    add(scheduler, task);
    advance(2 * S);
    selene_cycle cycle = begin(scheduler, window_of(5 * S, 0, 1));
    selene_run run = next(cycle, "now");
    advance(3 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    advance(9 * S);
    SPENT(10, "a", TOO_SOON);
    SPENT_ON(4, "a", GOVERNOR, SELENE_FACTOR_THERMAL);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- a world and its recorder ----------------------------------------------- */

enum { TASKS = 10, LOOKS = 40000 };
#define INTERVAL (50 * S)

typedef struct look {
    int64_t at, detail;
    int32_t reason;
} look;

typedef struct history {
    char id[8];
    uint64_t sequence;
    int count;
    int was_passed_over;
    uint32_t kind;
    /** When it was last dispatched. */
    int64_t ran_at;
    /** When others were preferred. */
    int preferred;
    int64_t preferred_at[LOOKS];
    look *looks;
} history;

typedef struct open_window {
    selene_cycle cycle;
    int64_t begun_at, expires_at, deadline;
    uint32_t kinds, flags;
    /** Of which it takes expedited tasks alone. */
    uint32_t early;
    int dispatches;
} open_window;

static struct world {
    selene_scheduler scheduler;
    history tasks[TASKS];
    open_window windows[2];
    selene_run runs[256];
    int run_count;
    int has_handler;
    int is_stored, paced, holds, is_scarce;
    /** When the last window for all refresh tasks began. */
    int64_t begun_at;
    uint64_t seed;
} world;

static uint64_t draw(uint64_t below) {
    world.seed = world.seed * 6364136223846793005U + 1442695040888963407U;
    return (world.seed >> 33) % below;
}

static open_window *window_over(int32_t kind) {
    for (int i = 0; i < 2; i++)
        if (world.windows[i].cycle && world.windows[i].kinds & (uint32_t)kind)
            return &world.windows[i];
    return NULL;
}

static const char *const names[] = {"disk", "vpn"};

/** The first condition that is missing: its number from 1. */
static int64_t missing_condition(const char *id) {
    selene_task_ids *missing = NULL;
    CHECK_OK(selene_condition_missing(world.scheduler, id, -1, &missing));
    CHECK(missing->count > 0);
    int64_t number = strcmp(missing->ids[0].data, names[0]) == 0 ? 1 : 2;
    selene_free(missing);
    return number;
}

/** What keeps a task from a window that is open before its time: others than expedited ones wait for that. */
static int32_t too_early(const open_window *window, const selene_task_info *info) {
    selene_scheduler_info all = SELENE_INIT(selene_scheduler_info);
    if (!window || !(window->early & (uint32_t)info->kind)) return 0;
    if (!(info->flags & SELENE_TASK_EXPEDITED)) return SELENE_REASON_TOO_SOON;
    CHECK_OK(selene_scheduler_get(world.scheduler, &all));
    return all.expedited_left > 0 ? 0 : SELENE_REASON_OUT_OF_QUOTA;
}

/** What keeps a task from running now, by the rule's own words. */
static look reason_now(history *task, const selene_task_info *info) {
    selene_explanation why = explain(world.scheduler, task->id);
    const open_window *window = window_over(info->kind);
    const int32_t early = too_early(window, info);
    look now = {atomic_load(&clock_now), 0, 0};
    int is_over = 0;
    for (uint32_t i = 0; i < why.reason_count && !now.reason; i++) {
        int32_t reason = why.reasons[i].reason;
        if (reason == SELENE_REASON_NOT_DUE)
            now.reason = info->attempts > 0 ? SELENE_REASON_BACKING_OFF : reason;
        else if (reason == SELENE_REASON_CONSTRAINTS) {
            now.reason = reason;
            now.detail = why.reasons[i].constraints & -why.reasons[i].constraints;
        } else if (reason == SELENE_REASON_CONDITIONS) {
            now.reason = reason;
            now.detail = missing_condition(task->id);
        } else if (reason == SELENE_REASON_DID_NOT_FIT || reason == SELENE_REASON_INTERRUPTED ||
                   (window &&
                    (reason == SELENE_REASON_TOO_SOON || reason == SELENE_REASON_GOVERNOR ||
                     reason == SELENE_REASON_OUT_OF_QUOTA))) {
            continue;
        } else if (early &&
                   (reason == SELENE_REASON_HAD_ITS_RUN || reason == SELENE_REASON_NEXT_CYCLE ||
                    reason == SELENE_REASON_DRAINED)) {
            now.reason = early;
        } else if (reason == SELENE_REASON_DRAINED && window) {
            is_over = 1;
        } else if (reason == SELENE_REASON_GOVERNOR) {
            selene_decision *decision = NULL;
            CHECK_OK(selene_governor_last(world.scheduler, info->kind, &decision));
            for (uint64_t k = 0; k < decision->finding_count && !now.reason; k++)
                if (decision->findings[k].verdict == SELENE_VERDICT_VETOED) {
                    now.reason = reason;
                    now.detail = decision->findings[k].factor;
                }
            selene_free(decision);
        } else {
            now.reason = reason;
            /* A task of its id had, whose place it took. */
            if (reason == SELENE_REASON_HAD_ITS_RUN && window && task->ran_at < window->begun_at)
                now.reason = SELENE_REASON_NEXT_CYCLE;
        }
    }
    if (!now.reason) now.reason = early;
    if (now.reason) return now;
    if (!window) {
        now.reason = SELENE_REASON_NO_WINDOW;
        return now;
    }
    int is_free = !window->dispatches && !(window->flags & SELENE_WINDOW_STRICT_FIT);
    int fits =
        now.at < window->expires_at && (is_free || why.estimate <= window->expires_at - now.at);
    now.reason = !fits                   ? SELENE_REASON_DID_NOT_FIT
                 : is_over               ? SELENE_REASON_DRAINED
                 : task->was_passed_over ? SELENE_REASON_PREFERRED_OTHERS
                                         : SELENE_REASON_WINDOW_OPEN;
    return now;
}

static int is_candidate(int32_t reason) {
    return reason == SELENE_REASON_WINDOW_OPEN || reason == SELENE_REASON_PREFERRED_OTHERS;
}

/** Looks at all tasks; what one instant shows later counts. */
static void look_around(void) {
    for (int i = 0; i < TASKS; i++) {
        history *task = &world.tasks[i];
        selene_task_info *info = NULL;
        if (selene_task_get(world.scheduler, task->id, -1, 0, &info) != SELENE_OK) continue;
        if (info->sequence != task->sequence) {
            task->sequence = info->sequence;
            task->count = 0;
            task->was_passed_over = 0;
            task->preferred = 0;
            task->ran_at = 0;
            task->kind = (uint32_t)info->kind;
        }
        look now = reason_now(task, info);
        if (task->count && task->looks[task->count - 1].at == now.at) task->count--;
        CHECK(task->count < LOOKS);
        task->looks[task->count++] = now;
        selene_free(info);
    }
}

/** How long a task waited for a reason, as it is told; of a condition by its name. */
static int64_t told_of(const selene_waits *waits, int32_t reason, int64_t detail) {
    int64_t told = 0;
    if (reason != SELENE_REASON_CONDITIONS) return part_of(waits, reason, detail).duration;
    for (uint64_t i = 0; i < waits->part_count; i++)
        if (waits->parts[i].reason == reason && is_named(waits->parts[i].name, names[detail - 1]))
            told += waits->parts[i].duration;
    return told;
}

/** The answer about each task is what the recorder saw. */
static void compare(void) {
    for (int i = 0; i < TASKS; i++) {
        history *task = &world.tasks[i];
        if (!task->count) continue;
        selene_waits *waits = waits_of(world.scheduler, task->id);
        CHECK(waits->since >= task->looks[0].at);
        int64_t seen[80][3] = {{0}};
        int kinds = 0;
        for (int k = 0; k < task->count; k++) {
            look at = task->looks[k];
            int64_t from = at.at, to = k + 1 < task->count ? task->looks[k + 1].at : waits->until;
            if (from < waits->since) from = waits->since;
            if (to > waits->until) to = waits->until;
            if (to <= from || at.reason == SELENE_REASON_TERMINAL) continue;
            int place = 0;
            while (place < kinds && (seen[place][0] != at.reason || seen[place][1] != at.detail))
                place++;
            if (place == kinds) {
                CHECK(kinds < 80);
                seen[kinds][0] = at.reason;
                seen[kinds++][1] = at.detail;
            }
            seen[place][2] += to - from;
        }
        int64_t total = 0;
        for (int k = 0; k < kinds; k++) {
            int64_t told = told_of(waits, (int32_t)seen[k][0], seen[k][1]);
            total += seen[k][2];
            if (told == seen[k][2]) continue;
            fprintf(stderr, "%s: %s(%" PRId64 ") was seen %" PRId64 ", told %" PRId64 "\n",
                    task->id, selene_name(SELENE_NAMES_REASON, (int32_t)seen[k][0]), seen[k][1],
                    seen[k][2], told);
            print(waits);
            fprintf(stderr, "since %" PRId64 " until %" PRId64 "; told:\n", waits->since - START,
                    waits->until - START);
            for (uint64_t n = 0; n < waits->change_count; n++)
                fprintf(stderr, "  %" PRId64 " %s\n", waits->changes[n].at - START,
                        selene_name(SELENE_NAMES_REASON, waits->changes[n].reason));
            fprintf(stderr, "seen:\n");
            int32_t last = 0;
            for (int n = 0; n < task->count; n++) {
                if (task->looks[n].reason != last && task->looks[n].at >= waits->since - 100 * S)
                    fprintf(stderr, "  %" PRId64 " %s\n", task->looks[n].at - START,
                            selene_name(SELENE_NAMES_REASON, task->looks[n].reason));
                last = task->looks[n].reason;
            }
            check_fail();
        }
        CHECK_INT(total, waits->until - waits->since);
        uint64_t preferred = 0;
        for (int k = 0; k < task->preferred; k++)
            preferred += task->preferred_at[k] >= waits->since;
        CHECK_INT(preferred, waits->preferred_count);
        selene_free(waits);
    }
}

static void register_one(history *at) {
    selene_text asked[] = {{names[0], -1}, {names[1], -1}}, after[2];
    selene_task task = SELENE_INIT(selene_task);
    task.id = (selene_text){at->id, -1};
    task.handler = SELENE_TEXT("work");
    task.kind = draw(3) ? SELENE_KIND_REFRESH : SELENE_KIND_PROCESSING;
    task.schedule = 1 + (int32_t)draw(3);
    task.priority = (int32_t)draw(5) + 1;
    task.response_window = (int32_t)none_of(draw(2));
    task.expected_response = none_of((int64_t)draw(40) * S);
    task.constraints = (uint32_t)(draw(2) ? draw(4) : 0);
    task.initial_delay =
        task.schedule == SELENE_SCHEDULE_STANDING || draw(2) ? 0 : (int64_t)draw(60) * S;
    task.backoff = SELENE_BACKOFF_LINEAR;
    task.backoff_delay = (int64_t)(draw(30) + 1) * S;
    task.max_attempts = (uint32_t)draw(4);
    if (task.schedule == SELENE_SCHEDULE_PERIODIC) task.period = (int64_t)(draw(100) + 20) * S;
    if (draw(3) == 0) task.group = draw(2) ? SELENE_TEXT("one") : SELENE_TEXT("two");
    task.existing = draw(2) ? SELENE_EXISTING_KEEP : SELENE_EXISTING_REPLACE;
    task.conditions = asked + draw(2);
    task.condition_count = draw(4) ? 0 : task.conditions == asked ? 1 + (uint32_t)draw(2) : 1;
    if (task.schedule == SELENE_SCHEDULE_ONCE) {
        if (draw(4) == 0) task.latest_begin = task.initial_delay + (int64_t)(draw(200) + 1) * S;
        /* One alone: of two that run at once the quota would be used up between two looks. */
        if (at == world.tasks && draw(2)) task.flags = SELENE_TASK_EXPEDITED;
        task.after_count = draw(3) ? 0 : 1 + (uint32_t)draw(2);
        for (uint32_t i = 0; i < task.after_count; i++)
            after[i] = (selene_text){world.tasks[draw(TASKS)].id, -1};
        task.after = after;
        if (draw(3) == 0) task.flags |= SELENE_TASK_AFTER_ANY_END;
    }
    selene_status status = selene_task_register(world.scheduler, &task, NULL);
    /* It may come after itself, after one that repeats, or after one that is not there; and what has ended stays while a task
     * that comes after it is not over. */
    CHECK(status == SELENE_OK || status == SELENE_ERROR_UNAVAILABLE ||
          status == SELENE_ERROR_ALREADY_EXISTS ||
          (task.after_count &&
           (status == SELENE_ERROR_NOT_FOUND || status == SELENE_ERROR_INVALID_ARGUMENT)));
}

static void open_one(void) {
    selene_window window = SELENE_INIT(selene_window);
    window.kinds = (uint32_t)draw(3) + 1;
    window.budget = (int64_t)(draw(60) + 2) * S;
    const int64_t reserve = (int64_t)draw(2) * S;
    window.reserve = none_of(reserve);
    window.lanes = (uint32_t)draw(3) + 1;
    window.flags = (draw(2) ? 0 : SELENE_WINDOW_FROZEN) | (draw(3) ? 0 : SELENE_WINDOW_STRICT_FIT);
    open_window *free_place = !world.windows[0].cycle ? &world.windows[0] : &world.windows[1];
    selene_cycle cycle = 0;
    if (free_place->cycle || selene_cycle_begin(world.scheduler, &window, &cycle) != SELENE_OK)
        return;
    int64_t now = atomic_load(&clock_now);
    *free_place = (open_window){
        cycle, now, now + window.budget - reserve, now + window.budget, window.kinds, window.flags,
        0,     0};
    if (world.paced && window.kinds & SELENE_KIND_REFRESH) {
        if (world.begun_at && now < world.begun_at + INTERVAL)
            free_place->early = SELENE_KIND_REFRESH;
        else world.begun_at = now;
    }
    for (int i = 0; i < TASKS; i++)
        if (world.tasks[i].kind & window.kinds) world.tasks[i].was_passed_over = 0;
}

static void end_one(open_window *window) {
    if (window->cycle) CHECK_OK(selene_cycle_end(window->cycle, NULL));
    window->cycle = 0;
}

static void take(open_window *window) {
    int could[TASKS] = {0};
    if (!window->cycle) return;
    for (int i = 0; i < TASKS; i++) {
        history *task = &world.tasks[i];
        selene_task_info *info = NULL;
        if (selene_task_get(world.scheduler, task->id, -1, 0, &info) != SELENE_OK) continue;
        could[i] =
            window->kinds & (uint32_t)info->kind && is_candidate(reason_now(task, info).reason);
        selene_free(info);
    }
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = 0;
    CHECK_OK(selene_cycle_next(window->cycle, &step, &info, NULL));
    if (step != SELENE_STEP_RUN) return;
    window->dispatches++;
    CHECK(world.run_count < 256);
    world.runs[world.run_count++] = info.run;
    for (int i = 0; i < TASKS; i++) {
        if (strcmp(world.tasks[i].id, info.id.data) == 0)
            world.tasks[i].ran_at = atomic_load(&clock_now);
        if (!could[i] || strcmp(world.tasks[i].id, info.id.data) == 0) continue;
        world.tasks[i].was_passed_over = 1;
        CHECK(world.tasks[i].preferred < LOOKS);
        world.tasks[i].preferred_at[world.tasks[i].preferred++] = atomic_load(&clock_now);
    }
}

static void give_outcome(void) {
    if (!world.run_count) return;
    int place = (int)draw((uint64_t)world.run_count);
    selene_run run = world.runs[place];
    world.runs[place] = world.runs[--world.run_count];
    int32_t outcome = draw(3) ? (int32_t)draw(2) : (int32_t)draw(4);
    selene_status status = selene_run_complete(run, outcome);
    CHECK(status == SELENE_OK || status == SELENE_ERROR_STALE_RUN);
}

static void ignore_run(selene_run run, const selene_run_info *info, void *context) {
    (void)run, (void)info, (void)context;
}

static void do_something(void) {
    selene_scheduler scheduler = world.scheduler;
    history *task = &world.tasks[draw(TASKS)];
    int64_t now = atomic_load(&clock_now);
    switch (draw(31)) {
    case 0:
    case 1:
    case 2:
        register_one(task);
        break;
    case 3:
        selene_task_pause(scheduler, task->id, -1, NULL);
        break;
    case 4:
    case 5:
        selene_task_resume(scheduler, task->id, -1, NULL);
        break;
    case 6:
    case 7:
        CHECK_OK(selene_conditions_set(scheduler, BOTH, (uint32_t)draw(4)));
        break;
    case 8:
        CHECK_OK(selene_scheduler_enable(scheduler, draw(3) ? 3 : (uint32_t)draw(4)));
        break;
    case 9:
        CHECK_OK(selene_group_set_limit(scheduler, draw(2) ? "one" : "two", -1, (uint32_t)draw(3)));
        break;
    case 10:
        if (draw(3)) CHECK_OK(selene_group_resume(scheduler, "one", -1));
        else CHECK_OK(selene_group_pause(scheduler, "one", -1));
        break;
    case 11:
    case 12:
    case 13:
        open_one();
        break;
    case 14:
        end_one(&world.windows[draw(2)]);
        break;
    case 15:
    case 16:
    case 17:
    case 18:
    case 19:
        take(&world.windows[draw(2)]);
        break;
    case 20:
    case 21:
    case 22:
        give_outcome();
        break;
    case 23: {
        CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, (int64_t)draw(4), 0));
        CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_LOW_POWER_MODE, (int64_t)draw(2), 0));
        selene_decision *decision = NULL;
        CHECK_OK(selene_governor_ask(
            scheduler, draw(2) ? SELENE_KIND_REFRESH : SELENE_KIND_PROCESSING, 0, &decision));
        selene_free(decision);
        break;
    }
    case 24:
        if (draw(3) == 0)
            selene_task_set_next(scheduler, task->id, -1, now + (int64_t)draw(40) * S);
        break;
    case 25:
        if (draw(4) == 0) selene_task_cancel(scheduler, task->id, -1, NULL);
        break;
    case 26:
        if (draw(4)) CHECK_OK(selene_scheduler_resume(scheduler));
        else selene_scheduler_drain(scheduler, 0);
        break;
    case 27:
        if (draw(3)) break;
        if (world.has_handler) CHECK_OK(selene_handler_unregister(scheduler, "work", -1));
        else if (selene_handler_register(scheduler, "work", -1, ignore_run, NULL, NULL, NULL) !=
                 SELENE_OK)
            break;
        world.has_handler = !world.has_handler;
        break;
    case 28:
    case 29:
        CHECK_OK(selene_condition_set(scheduler, names[draw(2)], -1, (int32_t)draw(2)));
        break;
    case 30: {
        const int64_t ends[] = {0, 0, now + (int64_t)(1 + draw(30)) * S, SELENE_NEVER};
        CHECK_OK(selene_scheduler_pause(scheduler, 1 + (uint32_t)draw(3), draw(3) ? NULL : "pool",
                                        -1, ends[draw(4)]));
        break;
    }
    }
}

static void open_world(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    if (world.holds) {
        options.max_pending_refresh = 3;
        options.flags |= SELENE_OPTIONS_HOLD;
    }
    options.minimum_backoff = S;
    if (world.is_stored) options.path = (selene_text){file, -1};
    if (world.paced) options.minimum_interval_refresh = INTERVAL;
    if (world.is_scarce) options.expedited_quota = 40 * S;
    world.scheduler = open_virtual(options);
    CHECK_OK(selene_handler_register(world.scheduler, "work", -1, ignore_run, NULL, NULL, NULL));
    world.has_handler = 1;
    for (int i = 0; i < 2; i++)
        CHECK_OK(selene_condition_define(world.scheduler, names[i], -1));
    const uint32_t each = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    const selene_rule rules[] = {{SELENE_FACTOR_LOW_POWER_MODE, each, SELENE_RULE_VETO, 0, 0, 0},
                                 {SELENE_FACTOR_THERMAL, each, SELENE_RULE_VETO, 0, 1, 0}};
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.rules = rules;
    profile.rule_count = 2;
    CHECK_OK(selene_governor_set_profile(world.scheduler, &profile));
}

/** Closes the store for a while; what is due then waits for a process. */
static void reopen(void) {
    int64_t closed_at = atomic_load(&clock_now), away = (int64_t)draw(50) * S;
    look_around();
    CHECK_OK(selene_scheduler_close(world.scheduler, 0));
    memset(world.windows, 0, sizeof world.windows);
    world.run_count = 0;
    advance(away);
    open_world();
    for (int i = 0; i < TASKS; i++) {
        history *task = &world.tasks[i];
        selene_task_info *info = NULL;
        task->was_passed_over = 0;
        if (selene_task_get(world.scheduler, task->id, -1, 0, &info) != SELENE_OK) continue;
        look gone = {closed_at, 0, SELENE_REASON_NO_PROCESS};
        const int32_t before = task->count ? task->looks[task->count - 1].reason : 0;
        if (task->count && task->looks[task->count - 1].at == closed_at) task->count--;
        if (before == SELENE_REASON_HELD || before == SELENE_REASON_BLOCKED ||
            before == SELENE_REASON_TERMINAL)
            gone.reason = before;
        /* What was too late as it was opened has waited until then, as if it still did. */
        const int waits =
            info->state == SELENE_STATE_ENQUEUED || info->state == SELENE_STATE_FAILED;
        if (waits && gone.reason == SELENE_REASON_NO_PROCESS && info->earliest_begin > closed_at &&
            away) {
            look wait = gone;
            wait.reason = info->attempts ? SELENE_REASON_BACKING_OFF : SELENE_REASON_NOT_DUE;
            task->looks[task->count++] = wait;
            gone.at = info->earliest_begin;
        }
        if (gone.at < closed_at + away) task->looks[task->count++] = gone;
        selene_free(info);
    }
}

static void live(int ticks) {
    for (int tick = 0; tick < ticks; tick++) {
        for (int i = 0; i < 2; i++)
            if (world.windows[i].cycle && atomic_load(&clock_now) >= world.windows[i].deadline)
                end_one(&world.windows[i]);
        if (world.is_stored && draw(60) == 0) reopen();
        else do_something();
        look_around();
        advance(1);
        look_around();
        advance(S - 1);
        if (tick % 20 == 19) compare();
    }
}

static void play(int is_stored, uint64_t worlds, int ticks) {
    for (uint64_t seed = 1; seed <= worlds; seed++) {
        memset(&world, 0, sizeof world);
        world.seed = seed + (uint64_t)check_environment("SELENE_TEST_SEED", 0) * 1000;
        atomic_store(&clock_now, START);
        world.is_stored = is_stored;
        world.paced = draw(2) == 0;
        world.holds = draw(2) == 0;
        world.is_scarce = draw(2) == 0;
        if (is_stored) new_file();
        open_world();
        for (int i = 0; i < TASKS; i++) {
            snprintf(world.tasks[i].id, sizeof world.tasks[i].id, "t%d", i);
            world.tasks[i].looks = calloc(LOOKS, sizeof(look));
        }
        live(ticks);
        for (int i = 0; i < TASKS; i++)
            free(world.tasks[i].looks);
        CHECK_OK(selene_scheduler_close(world.scheduler, 0));
        if (is_stored) remove_folder();
    }
}

static void test_world(void) {
    play(0, (uint64_t)check_tasks(20, 2), check_tasks(1500, 300));
}

static void test_stored_world(void) {
    play(1, (uint64_t)check_tasks(6, 1), check_tasks(800, 300));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W8 of the life of a task each part goes to what kept it from running",
             test_life_of_a_task);
    run_test("W8 conditions, groups and what it comes after have their names", test_names);
    run_test("W8 W2 what a condition's number meant earlier is not told as what it means now",
             test_redefined);
    run_test("W8 a host says how far back it is known", test_length);
    run_test("W8 at the end of time nothing comes any more", test_end_of_time);
    run_test("W8 a window that preferred others once does so to its end", test_preferred_before);
    run_test("W8 windows that it did not fit, and those that preferred others, whom it names",
             test_windows);
    run_test("W8 a periodic task tells the period that was last due", test_periods);
    run_test("W8 what happens between two periods does not keep the old one",
             test_period_after_a_step);
    run_test("W8 a run that comes back within a millisecond is back at once", test_short_return);
    run_test("W8 a condition that flips a million times costs no task anything", test_flips);
    run_test("W8 all of it is known across reopenings", test_reopening);
    run_test("W8 a run that has not come back holds its id up until its process ends", test_taken);
    run_test("W8 what is due as a window begins is in it, whoever asks later", test_due_at_begin);
    run_test("W8 of a window it is known that a task had its run of it", test_had_its_run);
    run_test("W8 W10 a window before its time takes no refusal back", test_refused_before_time);
    run_test("W8 what a killed process had not written is not known", test_kill);
    run_test("W8 a store of an older version opens, and tells what its tasks know", test_older);
    run_test("W8 what a store keeps of it has an end", test_rows);
    run_test("W8 in random worlds with reopenings, too", test_stored_world);
    run_test("W8 in random worlds the answer is what a recorder saw at every instant", test_world);
    return check_end();
}
