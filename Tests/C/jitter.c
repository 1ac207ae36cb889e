/*
 * jitter.c - delays and periods that become longer by chance, so that a fleet does not wake at once (W11)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

static selene_scheduler open_seeded(uint64_t seed, const char *path) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.seed = seed;
    if (path) options.path = (selene_text){path, -1};
    selene_scheduler scheduler = open_virtual(options);
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    return scheduler;
}

static selene_task hourly(const char *id, uint32_t jitter) {
    selene_task task = task_of(id);
    task.handler = SELENE_TEXT("work");
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_HOUR;
    task.jitter = jitter;
    return task;
}

static int64_t due(selene_scheduler scheduler, const char *id) {
    return record(scheduler, id).earliest_begin;
}

/** Runs the one task that is due then, for a second. */
static void run_at(selene_scheduler scheduler, const char *id, int64_t at, int32_t outcome) {
    selene_cycle cycle;
    advance(at - clock_now);
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run run = next(cycle, id);
    advance(S);
    CHECK_OK(selene_run_complete(run, outcome));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

/** Machines that register the same at the same moment wake all over the tenth, not at one instant. */
static void test_fleet(void) {
    enum { MACHINES = 200 };
    int tenths[10] = {0};
    for (uint64_t machine = 1; machine <= MACHINES; machine++) {
        selene_scheduler scheduler = open_seeded(machine, NULL);
        const int64_t start = clock_now;
        selene_task task = hourly("a", 100);
        task.initial_delay = SELENE_HOUR;
        add(scheduler, task);
        int64_t late = due(scheduler, "a") - start - SELENE_HOUR;
        CHECK_BETWEEN(0, late, SELENE_HOUR / 10);
        CHECK_INT(0, late % 1000);
        CHECK_INT(start + SELENE_HOUR, record(scheduler, "a").anchor);
        CHECK_INT(100, record(scheduler, "a").jitter);
        tenths[late == SELENE_HOUR / 10 ? 9 : late / (SELENE_HOUR / 100)]++;
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    for (int i = 0; i < 10; i++)
        CHECK_BETWEEN(5, tenths[i], 45);
}

/** A period after completion is longer; each is drawn anew. */
static void test_periods(void) {
    selene_scheduler scheduler = open_seeded(3, NULL);
    int64_t last = -1;
    int differ = 0;
    add(scheduler, hourly("a", 1000));
    for (int i = 0; i < 20; i++) {
        run_at(scheduler, "a", due(scheduler, "a"), SELENE_OUTCOME_NO_DATA);
        int64_t late = due(scheduler, "a") - clock_now - SELENE_HOUR;
        CHECK_BETWEEN(0, late, SELENE_HOUR);
        differ += late != last;
        last = late;
    }
    CHECK_INT(20, differ);
    /* A retry is as far as its backoff says, and what the host says is exact. */
    run_at(scheduler, "a", due(scheduler, "a"), SELENE_OUTCOME_FAILED);
    CHECK_INT(clock_now + 30 * S, due(scheduler, "a"));
    CHECK_OK(selene_task_set_next(scheduler, "a", -1, clock_now + SELENE_DAY));
    CHECK_INT(clock_now + SELENE_DAY, due(scheduler, "a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Anchored: the grid stays, and each place of it has one run. */
static void test_grid(void) {
    selene_scheduler scheduler = open_seeded(4, NULL);
    const int64_t anchor = clock_now + SELENE_DAY;
    selene_task task = hourly("a", 1000);
    task.recurrence = SELENE_RECURRENCE_ANCHORED;
    task.initial_delay = SELENE_DAY;
    add(scheduler, task);
    for (int i = 0; i < 50; i++) {
        CHECK_BETWEEN(anchor + i * SELENE_HOUR, due(scheduler, "a"),
                      anchor + (i + 1) * SELENE_HOUR - 1);
        CHECK_INT(anchor, record(scheduler, "a").anchor);
        /* A run that begins in the last second of its period ends in the next, which it uses up. */
        if (due(scheduler, "a") >= anchor + (i + 1) * SELENE_HOUR - S) break;
        run_at(scheduler, "a", due(scheduler, "a"), SELENE_OUTCOME_NEW_DATA);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** The first begin stays in the flex. */
static void test_flex(void) {
    for (uint64_t seed = 1; seed <= 50; seed++) {
        selene_scheduler scheduler = open_seeded(seed, NULL);
        const int64_t start = clock_now;
        selene_task task = hourly("a", 1000);
        task.flex = 5 * SELENE_MINUTE;
        add(scheduler, task);
        CHECK_BETWEEN(start + 55 * SELENE_MINUTE, due(scheduler, "a"), start + SELENE_HOUR - 1);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** Code that registers its tasks at each start moves none of them. */
static void test_update(void) {
    selene_scheduler scheduler = open_seeded(5, NULL);
    selene_task task = hourly("a", 500);
    task.initial_delay = SELENE_HOUR;
    task.existing = SELENE_EXISTING_UPDATE;
    add(scheduler, task);
    int64_t at = due(scheduler, "a"), after;
    for (int i = 0; i < 10; i++) {
        task.priority = i % 2 ? 3 : 5;
        CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
        CHECK_INT(at, due(scheduler, "a"));
    }
    run_at(scheduler, "a", at, SELENE_OUTCOME_NEW_DATA);
    at = due(scheduler, "a");
    add(scheduler, task);
    CHECK_INT(at, due(scheduler, "a"));
    /* Other times are computed anew. */
    task.jitter = 0;
    add(scheduler, task);
    CHECK_INT(clock_now + SELENE_HOUR, after = due(scheduler, "a"));
    task.period = 10 * SELENE_HOUR;
    task.jitter = 10;
    add(scheduler, task);
    CHECK_BETWEEN(after + 9 * SELENE_HOUR, due(scheduler, "a"),
                  after + 9 * SELENE_HOUR + 6 * SELENE_MINUTE);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** What chance has moved stays moved, and chance goes on where it was. */
static void test_reopened(void) {
    int64_t times[2][12];
    for (int reopens = 0; reopens < 2; reopens++) {
        new_file();
        selene_scheduler scheduler = open_seeded(6, file);
        selene_task task = hourly("a", 700);
        task.initial_delay = SELENE_MINUTE;
        const int64_t start = clock_now;
        add(scheduler, task);
        for (int i = 0; i < 12; i++) {
            times[reopens][i] = due(scheduler, "a") - start;
            if (reopens) {
                CHECK_OK(selene_scheduler_close(scheduler, 0));
                /* The seed of a store is the one that it began with. */
                scheduler = open_seeded(99, file);
                CHECK_INT(times[reopens][i], due(scheduler, "a") - start);
                CHECK_INT(700, record(scheduler, "a").jitter);
                CHECK_INT(start + SELENE_MINUTE, record(scheduler, "a").anchor);
            }
            run_at(scheduler, "a", due(scheduler, "a"), SELENE_OUTCOME_NEW_DATA);
        }
        CHECK_OK(selene_scheduler_close(scheduler, 0));
        remove_folder();
    }
    for (int i = 0; i < 12; i++)
        CHECK_INT(times[0][i], times[1][i]);
}

/** Tasks without jitter take nothing from the generator: beside them a task with jitter has the times that it has alone. */
static void test_draws_nothing(void) {
    int64_t alone = 0;
    for (int others = 0; others < 2; others++) {
        selene_scheduler scheduler = open_seeded(8, NULL);
        selene_task task = hourly("b", 0);
        if (others) {
            add(scheduler, task);
            run_at(scheduler, "b", clock_now, SELENE_OUTCOME_NEW_DATA);
            task = once_of("c");
            task.jitter = 1000;
            add(scheduler, task);
        }
        task = hourly("a", 1000);
        task.initial_delay = SELENE_DAY;
        add(scheduler, task);
        int64_t wait = due(scheduler, "a") - record(scheduler, "a").registered_at;
        if (others) CHECK_INT(alone, wait);
        alone = wait;
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

static void test_refused(void) {
    selene_scheduler scheduler = open_seeded(1, NULL);
    selene_task task = hourly("a", 1001);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    CHECK(strstr(selene_error_last()->message.data, "jitter: 1001"));
    task.jitter = UINT32_MAX;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    /* The longest times do not overflow. */
    task.jitter = 1000;
    task.initial_delay = task.period = task.flex = 3653 * SELENE_DAY;
    task.recurrence = SELENE_RECURRENCE_ANCHORED;
    add(scheduler, task);
    CHECK_BETWEEN(clock_now + 3653 * SELENE_DAY, due(scheduler, "a"),
                  clock_now + 7306 * SELENE_DAY);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W11 a fleet wakes all over the jitter, in whole microseconds, by seed", test_fleet);
    run_test("W11 a period is longer by chance, a retry and what the host says are not",
             test_periods);
    run_test("W11 an anchored period keeps its grid", test_grid);
    run_test("W11 the first begin stays in the flex", test_flex);
    run_test("W11 an update of the same times moves nothing", test_update);
    run_test("W11 a store plays the same, reopened or not", test_reopened);
    run_test("W11 a task without jitter draws nothing", test_draws_nothing);
    run_test("W11 jitter is 0 to 1000, and the longest times fit", test_refused);
    return check_end();
}
