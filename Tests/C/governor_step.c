/*
 * governor_step.c - the driver of an event loop: steps on the host's clock, where every instant is exact, and a
 * descriptor that poll() waits for on the system's
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#include <poll.h>

/** Opens a driver; its descriptor. */
static int open_driver(selene_scheduler scheduler) {
    int32_t descriptor = -1;
    CHECK_OK(selene_driver_open(scheduler, NULL, &descriptor));
    CHECK(descriptor >= 0);
    return descriptor;
}

/** Opens a driver as described. */
static void open_as(selene_scheduler scheduler, selene_driver driver) {
    CHECK_OK(selene_driver_open(scheduler, &driver, NULL));
}

static int readable(int descriptor, int64_t timeout) {
    struct pollfd wait = {descriptor, POLLIN, 0};
    return poll(&wait, 1, (int)(timeout / MS)) == 1 && (wait.revents & POLLIN);
}

/** A step; the cycle, or 0, and when to come again. */
static selene_cycle step(selene_scheduler scheduler, int64_t *wake_at) {
    selene_cycle cycle = 77;
    int64_t at = -1;
    CHECK_OK(selene_driver_step(scheduler, &cycle, &at));
    if (!cycle) CHECK(at > clock_now || at > START * 2);
    if (wake_at) *wake_at = at;
    return cycle;
}

/** Works through a window, which stays open; the number of runs. */
static uint64_t work_on(selene_cycle cycle, int32_t outcome, int64_t each) {
    uint64_t count = 0;
    for (;;) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t what = -1;
        CHECK_OK(selene_cycle_next(cycle, &what, &info, NULL));
        if (what == SELENE_STEP_DONE) return count;
        CHECK_INT(SELENE_STEP_RUN, what);
        advance(each);
        CHECK_OK(selene_run_complete(info.run, outcome));
        count++;
    }
}

/** The same, to its end. */
static uint64_t work_through(selene_cycle cycle, int32_t outcome, int64_t each) {
    uint64_t count = work_on(cycle, outcome, each);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    return count;
}

/* ============================================================================
 *  ON THE HOST'S CLOCK
 * ========================================================================= */

static void test_once(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_task task = once_of("later");
    selene_cycle cycle;
    selene_report *report = NULL;
    int64_t wake_at;
    open_driver(scheduler);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(SELENE_NEVER, wake_at);
    add_handler(scheduler, "later", &work);
    task.initial_delay = H;
    add(scheduler, task);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(START + H, wake_at);
    advance(H - 1);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(START + H, wake_at);
    advance(1);
    cycle = step(scheduler, &wake_at);
    CHECK(cycle != 0);
    CHECK_INT(clock_now, wake_at);
    CHECK_INT(0, step(scheduler, &wake_at)); /* the window is open */
    next(cycle, "later");
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(PROCESSING, report->kinds);
    CHECK_INT(10 * MIN, report->budget);
    selene_free(report);
    CHECK_INT(1, granted(scheduler, PROCESSING));
    CHECK_INT(START + H, last(scheduler, PROCESSING).decision.at);
    CHECK_OK(selene_driver_stop(scheduler, 0));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_budgets(void) {
    selene_scheduler scheduler = open_plain();
    selene_driver driver = SELENE_INIT(selene_driver);
    struct work work = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    selene_cycle cycle;
    add_work(scheduler, "a", &work);
    add_work(scheduler, "b", &other);
    driver.refresh_budget = 7 * S;
    driver.refresh_lanes = 2;
    CHECK_OK(selene_driver_open(scheduler, &driver, NULL));
    cycle = step(scheduler, NULL);
    next(cycle, "a");
    next(cycle, "b"); /* two lanes */
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(REFRESH, report->kinds);
    CHECK_INT(7 * S, report->budget);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Standing tasks want a window 15 min after the last of their kind. A day of it: one step that opens and one that does not
 * for each window. */
static void test_day(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE}, hourly = {.behaviour = COMPLETE};
    selene_task task = task_of("hourly");
    int steps = 0, windows = 0;
    uint64_t runs = 0;
    int64_t wake_at;
    add_work(scheduler, "standing", &work);
    task.kind = PROCESSING;
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = H;
    add_handler(scheduler, "hourly", &hourly);
    add(scheduler, task);
    open_driver(scheduler);
    while (clock_now < START + SELENE_DAY) {
        selene_cycle cycle = step(scheduler, &wake_at);
        steps++;
        if (cycle) {
            windows++;
            runs += work_through(cycle, SELENE_OUTCOME_NEW_DATA, S);
        } else {
            CHECK(wake_at > clock_now && wake_at < SELENE_NEVER);
            advance(wake_at - clock_now);
        }
    }
    CHECK_INT(windows, runs);
    CHECK_BETWEEN(96 + 23, windows, 96 + 24);
    CHECK_BETWEEN(windows, steps, 2 * windows + 1);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* The same day under apple's rules: quiet hours, a lunch, a night on the battery. */
static void test_apple_day(void) {
    selene_scheduler scheduler = open_plain();
    struct work mail = {.behaviour = COMPLETE}, index = {.behaviour = COMPLETE};
    int refused = 0, steps = 0, windows[3] = {0};
    int64_t wake_at, next_change = START + H;
    int minute = 0;
    add_work(scheduler, "mail", &mail);
    {
        selene_task task = task_of("index");
        task.kind = PROCESSING;
        task.schedule = SELENE_SCHEDULE_PERIODIC;
        task.period = 3 * H;
        add_handler(scheduler, "index", &index);
        add(scheduler, task);
    }
    set_base(scheduler, SELENE_PROFILE_APPLE);
    open_driver(scheduler);
    while (clock_now < START + SELENE_DAY) {
        selene_cycle cycle = step(scheduler, &wake_at);
        steps++;
        if (cycle) {
            selene_report *report = NULL;
            selene_run_info info = SELENE_INIT(selene_run_info);
            int32_t what = -1;
            while (selene_cycle_next(cycle, &what, &info, NULL) == SELENE_OK &&
                   what == SELENE_STEP_RUN) {
                advance(20 * S);
                selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA);
            }
            CHECK_OK(selene_cycle_end(cycle, &report));
            windows[report->kinds]++;
            selene_free(report);
            continue;
        }
        refused++;
        if (wake_at > next_change) wake_at = next_change;
        if (wake_at > clock_now) advance(wake_at - clock_now);
        if (clock_now >= next_change) {
            next_change += H;
            minute++;
            say(scheduler, SELENE_SIGNAL_USER_ACTIVE, minute % 3 == 0);
            say(scheduler, SELENE_SIGNAL_LOW_POWER_MODE, minute % 5 == 0);
        }
    }
    CHECK_BETWEEN(60, windows[REFRESH], 96); /* at most one in 15 min, none while power is low */
    CHECK_BETWEEN(5, windows[PROCESSING], 8);
    CHECK_BETWEEN(1, steps, 2 * (windows[REFRESH] + windows[PROCESSING]) + 3 * 24);
    CHECK(refused > 0);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A refused kind waits for its factor, and not longer. */
static void test_refused(void) {
    const selene_quota quota = {REFRESH, SELENE_MEASURE_WINDOW_TIME, MIN, H};
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    int64_t wake_at;
    int descriptor;
    set_quotas(scheduler, &quota, 1);
    descriptor = open_driver(scheduler);
    use_window(scheduler, REFRESH, MIN, MIN); /* the host's own */
    observe(scheduler);
    add_work(scheduler, "a", &work);
    advance(15 * MIN);
    /* Spent, but for the reserve of who never ran: a window of it alone. */
    cycle = step(scheduler, &wake_at);
    CHECK(cycle != 0);
    CHECK_INT(1, count_events(0, SELENE_EVENT_REFUSED, SELENE_FACTOR_BUDGET));
    CHECK_INT(1, count_events(0, SELENE_EVENT_GRANTED, -1));
    CHECK_INT(1, work_through(cycle, SELENE_OUTCOME_NEW_DATA, 6 * S));
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(SELENE_FACTOR_BUDGET, last(scheduler, REFRESH).findings[0].factor);
    CHECK_INT(0, last(scheduler, REFRESH).decision.granted);
    CHECK_INT(last(scheduler, REFRESH).decision.ask_again_at, wake_at);
    CHECK_INT(SELENE_REASON_GOVERNOR, why(scheduler, "a", SELENE_REASON_GOVERNOR).reason);
    CHECK(!readable(descriptor, 0));
    advance(wake_at - clock_now);
    cycle = step(scheduler, NULL);
    CHECK(cycle != 0);
    CHECK_OK(selene_cycle_end(cycle, NULL));

    /* A signal lifts it: the descriptor says so. */
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, REFRESH);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    advance(H);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(SELENE_NEVER, wake_at);
    CHECK(!readable(descriptor, 0));
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0);
    CHECK(readable(descriptor, 0));
    cycle = step(scheduler, NULL);
    CHECK(cycle != 0);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* The last seconds of a quota are no window: a task would only be cut off. */
static void test_room(void) {
    const selene_quota quota = {PROCESSING, SELENE_MEASURE_WINDOW_TIME, 10 * MIN, 2 * H};
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    int64_t wake_at;
    set_quotas(scheduler, &quota, 1);
    open_driver(scheduler);
    use_window(scheduler, PROCESSING, 9 * MIN + 50 * S, 9 * MIN + 50 * S); /* the host's own */
    observe(scheduler);
    add_once(scheduler, "a", PROCESSING, &work);
    advance(H);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(0, count_events(0, SELENE_EVENT_CYCLE_BEGUN, -1));
    /* 20 s more are free 20 s after the beginning of that window has left the two hours. */
    CHECK_INT(START + 2 * H + 20 * S, wake_at);
    advance(wake_at - clock_now);
    cycle = step(scheduler, NULL);
    CHECK(cycle != 0);
    CHECK_INT(1, work_through(cycle, SELENE_OUTCOME_NEW_DATA, 6 * S));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A weight of the books has no instant at which it is better: the driver looks again, but not at once. */
static void test_weighed(void) {
    const selene_rule rule = {SELENE_FACTOR_BUDGET, PROCESSING, SELENE_RULE_WEIGHT, 0, 100, 500};
    const selene_quota quota = {PROCESSING, SELENE_MEASURE_WINDOW_TIME, 10 * MIN, 2 * H};
    selene_profile profile = SELENE_INIT(selene_profile);
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    int64_t wake_at;
    int steps = 0;
    selene_cycle cycle = 0;
    profile.rules = &rule;
    profile.rule_count = 1;
    profile.quotas = &quota;
    profile.quota_count = 1;
    CHECK_OK(selene_governor_set_profile(scheduler, &profile));
    use_window(scheduler, PROCESSING, 6 * MIN, 6 * MIN); /* the host's own */
    open_driver(scheduler);
    add_once(scheduler, "a", PROCESSING, &work);
    while (!(cycle = step(scheduler, &wake_at)) && steps++ < 200) {
        CHECK(wake_at >= clock_now + S);
        advance(wake_at - clock_now);
    }
    CHECK(cycle != 0);
    CHECK_BETWEEN(1, steps, 125); /* once a minute until those six minutes have left two hours */
    CHECK_INT(1, work_through(cycle, SELENE_OUTCOME_NEW_DATA, S));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A reset empties the books, and who was refused by them is asked again. */
static void test_reset(void) {
    const selene_quota quota = {REFRESH, SELENE_MEASURE_WINDOW_TIME, 10 * MIN, 2 * H};
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    int64_t wake_at;
    int descriptor;
    set_quotas(scheduler, &quota, 1);
    use_window(scheduler, REFRESH, 11 * MIN,
               11 * MIN); /* the host's own, and more than the reserve */
    descriptor = open_driver(scheduler);
    add_work(scheduler, "a", &work);
    advance(15 * MIN);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK(wake_at > clock_now + H);
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK(readable(descriptor, 0));
    add(scheduler, task_of("a"));
    cycle = step(scheduler, NULL);
    CHECK(cycle != 0);
    CHECK_INT(1, work_through(cycle, SELENE_OUTCOME_NEW_DATA, S));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A loop that steps once each time it is told to misses nothing. */
static void test_one_step_a_turn(void) {
    selene_scheduler scheduler = open_plain();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = COMPLETE},
                third = {.behaviour = COMPLETE};
    int descriptor = open_driver(scheduler), turns = 0;
    uint64_t runs = 0;
    add_once(scheduler, "first", PROCESSING, &first);
    add_once(scheduler, "second", REFRESH, &second);
    while (readable(descriptor, 0)) {
        selene_cycle cycle = step(scheduler, NULL);
        turns++;
        if (cycle) {
            runs += work_through(cycle, SELENE_OUTCOME_NEW_DATA, S);
            if (turns == 1) add_once(scheduler, "third", REFRESH, &third);
        }
    }
    CHECK_INT(3, runs);
    CHECK_BETWEEN(4, turns, 8);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Its windows are no longer than what the budget leaves. */
static void test_cut(void) {
    const selene_quota quota = {PROCESSING, SELENE_MEASURE_WINDOW_TIME, 12 * MIN, SELENE_DAY};
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_report *report = NULL;
    selene_cycle cycle;
    set_quotas(scheduler, &quota, 1);
    use_window(scheduler, PROCESSING, 9 * MIN, 9 * MIN);
    add_once(scheduler, "a", PROCESSING, &work);
    open_driver(scheduler);
    cycle = step(scheduler, NULL);
    CHECK_OK(selene_run_complete(next(cycle, "a"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(3 * MIN, report->budget);
    selene_free(report);
    CHECK_INT(3 * MIN, balance(scheduler, PROCESSING).free); /* it took no time */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A window in which nothing can run is not opened again and again. */
static void test_nothing_runs(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    int windows = 0, steps = 0;
    int64_t wake_at;
    add_once(scheduler, "a", PROCESSING, &work);
    open_driver(scheduler);
    while (clock_now < START + MIN) {
        selene_cycle cycle = step(scheduler, &wake_at);
        steps++;
        if (cycle) {
            windows++;
            CHECK_OK(selene_cycle_end(cycle, NULL)); /* the host does not want it */
        } else {
            advance(wake_at - clock_now);
        }
    }
    CHECK_BETWEEN(1, windows, 61);
    CHECK_BETWEEN(1, steps, 125);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* However long nothing runs: it waits 1, 2, 4, … s, but never longer than a minute. */
static void test_longest_pause(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    int64_t expected = S, wake_at;
    add_once(scheduler, "a", PROCESSING, &work);
    open_driver(scheduler);
    for (int windows = 0; windows < 20; windows++) {
        selene_cycle cycle = step(scheduler, NULL);
        CHECK(cycle != 0);
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_INT(0, step(scheduler, &wake_at));
        CHECK_INT(expected, wake_at - clock_now);
        expected = expected * 2 < MIN ? expected * 2 : MIN;
        advance(wake_at - clock_now);
    }
    CHECK_INT(MIN, expected);
    /* Once something ran, the pauses begin anew. */
    CHECK_INT(1, work_through(step(scheduler, NULL), SELENE_OUTCOME_NEW_DATA, S));
    add_once(scheduler, "b", PROCESSING, &work);
    CHECK_OK(selene_cycle_end(step(scheduler, NULL), NULL));
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(S, wake_at - clock_now);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* What is registered does not wait for those of which none ran. */
static void test_welcome(void) {
    selene_scheduler scheduler = open_plain();
    struct work great = {.behaviour = COMPLETE}, small = {.behaviour = COMPLETE};
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_task task = once_of("great");
    selene_cycle cycle;
    int64_t wake_at;
    driver.flags = SELENE_DRIVER_STRICT_FIT;
    driver.processing_budget = 30 * S;
    task.expected_response = MIN; /* more than a window */
    add_handler(scheduler, "great", &great);
    add(scheduler, task);
    CHECK_OK(selene_driver_open(scheduler, &driver, NULL));
    for (int windows = 0; windows < 8; windows++) {
        CHECK_INT(0, work_through(step(scheduler, NULL), SELENE_OUTCOME_NEW_DATA, S));
        CHECK_INT(0, step(scheduler, &wake_at));
        if (windows < 7) advance(wake_at - clock_now);
    }
    CHECK_INT(MIN, wake_at - clock_now);
    add_once(scheduler, "small", PROCESSING, &small);
    cycle = step(scheduler, NULL);
    CHECK(cycle);
    CHECK_INT(1, work_through(cycle, SELENE_OUTCOME_NEW_DATA, S));
    /* Once only: the next one that is idle waits as before. */
    CHECK_INT(0, work_through(step(scheduler, NULL), SELENE_OUTCOME_NEW_DATA, S));
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(S, wake_at - clock_now);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Nor two kinds in turn, each ending the wait of the other. */
static void test_nothing_runs_of_two(void) {
    selene_scheduler scheduler = open_plain();
    struct work idle = {.behaviour = COMPLETE}, other = {.behaviour = COMPLETE};
    int windows[3] = {0}, steps = 0;
    int64_t wake_at;
    add_once(scheduler, "a", PROCESSING, &idle);
    add_once(scheduler, "b", REFRESH, &other);
    open_driver(scheduler);
    while (clock_now < START + MIN && steps++ < 1000) {
        selene_cycle cycle = step(scheduler, &wake_at);
        selene_report *report = NULL;
        if (!cycle) {
            advance(wake_at - clock_now);
            continue;
        }
        CHECK_OK(selene_cycle_end(cycle, &report));
        windows[report->kinds]++;
        selene_free(report);
        /* Nor does the host's word on something else. */
        say(scheduler, SELENE_SIGNAL_THERMAL, steps % 2);
    }
    CHECK_BETWEEN(5, windows[REFRESH], 7); /* after 1, 2, 4, … s */
    CHECK_BETWEEN(5, windows[PROCESSING], 7);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A host's own window: the driver waits for its end, whatever it did. */
static void test_beside_host(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle own, cycle;
    int64_t wake_at;
    int descriptor = open_driver(scheduler);
    own = begin(scheduler, window_for(PROCESSING, 10 * MIN));
    add_once(scheduler, "a", PROCESSING, &work);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK(!readable(descriptor, 0));
    advance(MIN);
    CHECK_OK(selene_cycle_end(own, NULL)); /* nothing ran in it */
    CHECK(readable(descriptor, 0));
    cycle = step(scheduler, NULL);
    CHECK(cycle != 0);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A window that is forgotten, the host's own or the driver's, ends at its deadline. */
static void test_forgotten(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_cycle cycle;
    int64_t wake_at;
    driver.processing_budget = 10 * MIN;
    open_as(scheduler, driver);
    begin(scheduler, window_for(PROCESSING, 10 * MIN));
    add_once(scheduler, "a", PROCESSING, &work);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(START + 10 * MIN + 1, wake_at);
    advance(wake_at - clock_now);
    cycle = step(scheduler, NULL);
    CHECK(cycle != 0);
    next(cycle, "a");
    /* And this one is forgotten, too, with its run. */
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(clock_now + 10 * MIN + 1, wake_at);
    advance(wake_at - clock_now);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    CHECK_INT(1, record(scheduler, "a").attempts);
    /* Its id is free ten minutes after its end. */
    CHECK_INT(clock_now - 1 + 10 * MIN, wake_at);
    advance(wake_at - clock_now);
    cycle = step(scheduler, NULL);
    CHECK(cycle != 0);
    next(cycle, "a");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Of newcomers that the budget's reserve lets in one runs at a time. */
static void test_newcomers(void) {
    const selene_quota quota = {PROCESSING, SELENE_MEASURE_WINDOW_TIME, MIN, H};
    selene_scheduler scheduler = open_plain();
    struct work first = {.behaviour = COMPLETE}, second = {.behaviour = COMPLETE};
    selene_cycle cycle;
    int64_t wake_at;
    set_quotas(scheduler, &quota, 1);
    use_window(scheduler, PROCESSING, MIN, MIN);
    add_once(scheduler, "first", PROCESSING, &first);
    add_once(scheduler, "second", PROCESSING, &second);
    open_driver(scheduler);
    cycle = step(scheduler, &wake_at);
    CHECK(cycle != 0);
    next(cycle, "first");
    CHECK_INT(0, step(scheduler, &wake_at));
    next(cycle, NULL);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_kinds(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    int64_t wake_at;
    int descriptor = open_driver(scheduler);
    add_once(scheduler, "a", PROCESSING, &work);
    CHECK_OK(selene_scheduler_enable(scheduler, REFRESH));
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(SELENE_NEVER, wake_at);
    CHECK_OK(selene_scheduler_enable(scheduler, 0));
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_OK(selene_scheduler_enable(scheduler, EACH));
    CHECK(readable(descriptor, 0));
    cycle = step(scheduler, NULL);
    CHECK(cycle != 0);
    next(cycle, "a");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* One window for what is due of both kinds, and none beside it. */
static void test_together(void) {
    selene_scheduler scheduler = open_plain();
    struct work fetch = {.behaviour = COMPLETE}, pack = {.behaviour = COMPLETE},
                late = {.behaviour = COMPLETE};
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_report *report = NULL;
    selene_cycle cycle;
    int64_t wake_at;
    driver.flags = SELENE_DRIVER_TOGETHER;
    driver.refresh_budget = 30 * S;
    driver.processing_budget = 10 * MIN;
    driver.reserve = 7 * S;
    observe(scheduler);
    add_once(scheduler, "fetch", REFRESH, &fetch);
    add_once(scheduler, "pack", PROCESSING, &pack);
    open_as(scheduler, driver);
    cycle = step(scheduler, NULL);
    CHECK(cycle);
    CHECK_INT(2, count_events(0, SELENE_EVENT_GRANTED, -1));
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(2, work_on(cycle, SELENE_OUTCOME_NEW_DATA, S));
    /* Another falls due while it is open. */
    add_once(scheduler, "late", REFRESH, &late);
    CHECK_INT(0, step(scheduler, NULL));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(EACH, report->kinds);
    CHECK_INT(10 * MIN, report->budget);
    CHECK_INT(7 * S, report->reserve);
    CHECK_INT(2, report->run_count);
    selene_free(report);
    cycle = step(scheduler, NULL);
    CHECK(cycle);
    CHECK_INT(1, work_on(cycle, SELENE_OUTCOME_NEW_DATA, S));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(REFRESH, report->kinds);
    CHECK_INT(30 * S, report->budget);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Its windows come no faster than every so often, and standing tasks ask for one that often. */
static void test_every(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_driver driver = SELENE_INIT(selene_driver);
    int64_t wake_at;
    driver.every = MIN;
    add_handler(scheduler, "a", &work);
    add(scheduler, task_of("a"));
    open_as(scheduler, driver);
    for (int i = 0; i < 5; i++) {
        selene_cycle cycle = step(scheduler, NULL);
        CHECK(cycle);
        CHECK_INT(1, work_through(cycle, SELENE_OUTCOME_NEW_DATA, S));
        CHECK_INT(0, step(scheduler, &wake_at));
        CHECK_INT(clock_now + MIN - S, wake_at);
        advance(wake_at - clock_now);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Windows of the other kind stay the host's; what does not fit is not picked, not even first. */
static void test_own_kinds(void) {
    selene_scheduler scheduler = open_plain();
    struct work fetch = {.behaviour = COMPLETE}, pack = {.behaviour = COMPLETE};
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_cycle cycle;
    int64_t wake_at;
    selene_task task = once_of("pack");
    driver.kinds = PROCESSING;
    driver.flags = SELENE_DRIVER_STRICT_FIT;
    driver.processing_budget = S;
    add_once(scheduler, "fetch", REFRESH, &fetch);
    open_as(scheduler, driver);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(SELENE_NEVER, wake_at);
    add_handler(scheduler, "pack", &pack);
    task.expected_response = 5 * S;
    add(scheduler, task);
    cycle = step(scheduler, NULL);
    CHECK(cycle);
    CHECK_INT(0, work_through(cycle, SELENE_OUTCOME_NEW_DATA, S));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* It asks no governor, keeps no ledger, and one window serves all kinds. */
static void test_ungoverned(void) {
    selene_scheduler scheduler = open_plain();
    struct work fetch = {.behaviour = COMPLETE}, pack = {.behaviour = COMPLETE};
    selene_profile profile = SELENE_INIT(selene_profile);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_report *report = NULL;
    selene_cycle cycle;
    int64_t wake_at;
    selene_rule rule = {SELENE_FACTOR_METERED, EACH, SELENE_RULE_VETO, 0, 0, 0};
    profile.rules = &rule;
    profile.rule_count = 1;
    CHECK_OK(selene_governor_set_profile(scheduler, &profile));
    CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_METERED, 1, 0));
    observe(scheduler);
    add_once(scheduler, "fetch", REFRESH, &fetch);
    open_as(scheduler, driver);
    CHECK_INT(0, step(scheduler, &wake_at)); /* as the profile refuses */
    CHECK_INT(1, count_events(0, SELENE_EVENT_REFUSED, -1));
    CHECK_OK(selene_driver_stop(scheduler, 0));
    driver.flags = SELENE_DRIVER_UNGOVERNED | SELENE_DRIVER_TOGETHER;
    open_as(scheduler, driver);
    cycle = step(scheduler, NULL);
    CHECK(cycle);
    /* Of the other kind, but in the window that is open. */
    CHECK_INT(0, step(scheduler, NULL));
    add_once(scheduler, "pack", PROCESSING, &pack);
    CHECK_INT(0, step(scheduler, NULL));
    CHECK_INT(2, work_on(cycle, SELENE_OUTCOME_NEW_DATA, S));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(EACH, report->kinds);
    CHECK_INT(2, report->run_count);
    selene_free(report);
    CHECK_INT(0, step(scheduler, &wake_at));
    CHECK_INT(SELENE_NEVER, wake_at);
    CHECK_INT(0, count_events(0, SELENE_EVENT_GRANTED, -1));
    CHECK_INT(1, count_events(0, SELENE_EVENT_REFUSED, -1));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_misuse(void) {
    selene_scheduler scheduler = open_plain();
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_cycle cycle = 77;
    int64_t wake_at = 78;
    int32_t descriptor = -77;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_start(scheduler, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_step(scheduler, &cycle, &wake_at));
    CHECK_OK(selene_driver_stop(scheduler, 0)); /* there is none */
    for (int field = 0; field < 12; field++) {
        const char *names[] = {"refresh_budget", "processing_budget", "refresh_budget",
                               "refresh_lanes",  "processing_lanes",  "refresh_lanes",
                               "flags",          "processing_budget", "kinds",
                               "kinds",          "reserve",           "every"};
        driver = (selene_driver)SELENE_INIT(selene_driver);
        if (field == 0) driver.refresh_budget = -1;
        if (field == 1) driver.processing_budget = -1;
        if (field == 2) driver.refresh_budget = SELENE_DAY + 1;
        if (field == 3) driver.refresh_lanes = 1025;
        if (field == 4) driver.processing_lanes = 1025;
        if (field == 5) driver.refresh_lanes = UINT32_MAX;
        if (field == 6) driver.flags = 32;
        if (field == 7) driver.processing_budget = INT64_MAX;
        if (field == 8) driver.kinds = 7;
        if (field == 9) driver.kinds = 4;
        if (field == 10) driver.reserve = -2;
        if (field == 11) driver.every = -1;
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_driver_open(scheduler, &driver, &descriptor));
        CHECK(strstr(selene_error_last()->message.data, names[field]) != NULL);
    }
    CHECK_INT(-77, descriptor);
    open_driver(scheduler);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_driver_open(scheduler, NULL, &descriptor));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_driver_step(scheduler, NULL, &wake_at));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_driver_stop(scheduler, -1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_driver_stop(scheduler, SELENE_DAY + 1));
    CHECK_INT(77, cycle);
    CHECK_INT(78, wake_at);
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK_INT(0, cycle);
    CHECK_OK(selene_driver_stop(scheduler, 0));
    CHECK_OK(selene_driver_stop(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_step(scheduler, &cycle, &wake_at));
    open_driver(scheduler);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_driver_step(scheduler, &cycle, &wake_at));
}

/* A pulled cycle that the driver began stays the host's when the driver stops. */
static void test_stop_keeps_cycle(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_cycle cycle;
    selene_run run;
    add_once(scheduler, "a", PROCESSING, &work);
    open_driver(scheduler);
    cycle = step(scheduler, NULL);
    run = next(cycle, "a");
    CHECK_OK(selene_driver_stop(scheduler, S));
    CHECK_INT(0, atomic_load(&work.stopped));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "a").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ============================================================================
 *  AN EVENT LOOP
 * ========================================================================= */

static void *say_later(void *context) {
    CHECK_OK(selene_signal_set(*(selene_scheduler *)context, SELENE_SIGNAL_USER_ACTIVE, 0, 0));
    return NULL;
}

static void test_poll(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE}, late = {.behaviour = COMPLETE};
    selene_task task = once_of("late");
    selene_cycle cycle = 0;
    pthread_t thread;
    int64_t added, at, now = 0;
    int descriptor, steps = 0;
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, REFRESH);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    descriptor = open_driver(scheduler);
    CHECK(readable(descriptor, 0)); /* whoever opened it looks first */
    add_once(scheduler, "a", REFRESH, &work);
    CHECK_OK(selene_driver_step(scheduler, &cycle, &at));
    CHECK_INT(0, cycle);
    CHECK(!readable(descriptor, 0));
    /* Another thread lifts the veto. */
    CHECK_INT(0, pthread_create(&thread, NULL, say_later, &scheduler));
    CHECK(readable(descriptor, PATIENCE));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK(cycle != 0);
    next(cycle, "a");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* And time makes it readable by itself. */
    add_handler(scheduler, "late", &late);
    task.initial_delay = 300 * MS;
    added = check_now();
    add(scheduler, task);
    for (cycle = 0; !cycle; steps++) {
        CHECK(readable(descriptor, PATIENCE));
        CHECK_OK(selene_driver_step(scheduler, &cycle, &at));
        if (!cycle && readable(descriptor, 0)) {
            CHECK_OK(selene_scheduler_now(scheduler, &now));
            CHECK(now >= at);
        }
    }
    CHECK_BETWEEN(1, steps, 4);
    CHECK(check_now() - added >= 300 * MS);
    next(cycle, "late");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_driver_stop(scheduler, 0));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* A loop that steps whenever the descriptor is readable steps seldom: for windows four times an hour. */
static void test_never_spins(void) {
    enum { HOURS = 24 };
    selene_scheduler scheduler = open_told();
    struct work work = {.behaviour = COMPLETE};
    int descriptor = open_driver(scheduler), steps = 0, windows = 0;
    set_base(scheduler, SELENE_PROFILE_SERVER);
    add_work(scheduler, "a", &work);
    for (int64_t next = START; next < START + HOURS * H; next = reach(scheduler, next)) {
        selene_cycle cycle = 0;
        reach(scheduler, next);
        while (readable(descriptor, 0)) {
            CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
            steps++;
            if (!cycle) continue;
            windows++;
            CHECK_INT(1, work_through(cycle, SELENE_OUTCOME_NEW_DATA, 0));
        }
    }
    CHECK_BETWEEN(4 * HOURS - 1, windows, 4 * HOURS + 1);
    CHECK_BETWEEN(windows, steps, 4 * windows);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G7 a step opens a window when a task is due, and says when to come again", test_once);
    run_test("G7 windows are as the driver was told", test_budgets);
    run_test("G7 a day of steps: two for each window", test_day);
    run_test("G7 a day of steps under apple's rules", test_apple_day);
    run_test("G7 a refused kind waits for its factor, a newcomer has the reserve", test_refused);
    run_test("G7 a loop that steps once a turn misses nothing", test_one_step_a_turn);
    run_test("G4 a driver's window is cut to what the budget leaves", test_cut);
    run_test("G7 a window in which nothing runs is not opened at once again", test_nothing_runs);
    run_test("G7 nor are windows of two kinds in turn", test_nothing_runs_of_two);
    run_test("G7 between windows in which nothing runs it waits up to a minute",
             test_longest_pause);
    run_test("G7 but what is registered meanwhile has its window at once", test_welcome);
    run_test("G7 beside a host's own window the driver waits for its end", test_beside_host);
    run_test("G7 forgotten windows end at their deadline", test_forgotten);
    run_test("G7 a weight of the books makes no haste", test_weighed);
    run_test("G7 a reset lets the driver ask again", test_reset);
    run_test("G7 the last seconds of a budget are no window", test_room);
    run_test("G7 of newcomers one runs at a time", test_newcomers);
    run_test("G7 a kind that is switched off has no window", test_kinds);
    run_test("G7 together: one window for what is due of both kinds", test_together);
    run_test("G7 every: windows come no faster, and standing tasks ask that often", test_every);
    run_test("G7 kinds that are not the driver's stay the host's; strict fit", test_own_kinds);
    run_test("G7 ungoverned: no decision, no ledger, one window for all kinds", test_ungoverned);
    run_test("G7 what cannot be is refused, and nothing changes", test_misuse);
    run_test("G7 a window of a stopped driver stays the host's", test_stop_keeps_cycle);
    run_test("G7 poll() wakes for a signal and for time", test_poll);
    run_test("G7 a loop of steps never spins", test_never_spins);
    return check_end();
}
