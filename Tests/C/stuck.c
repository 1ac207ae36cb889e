/*
 * stuck.c - a handler whose runs leave threads behind is not given another one (R4)
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_SECONDS, how long each test with handlers that never return
 * looks on (less than one; `make torture` looks on for five minutes, beside a scheduler in which nothing hangs).
 */
#include "told.h"

static selene_task once(const char *id, const char *handler, int32_t priority) {
    selene_task task = refresh_once(id, priority);
    task.handler = (selene_text){handler, -1};
    return task;
}

static void add_name(selene_scheduler scheduler, const char *name) {
    CHECK_OK(selene_handler_register(scheduler, name, -1, NULL, NULL, NULL, NULL));
}

static selene_scheduler open_with(uint32_t most, uint32_t per_handler, int64_t stop_grace,
                                  int is_virtual) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.max_overrun_threads = (int32_t)none_of(most);
    options.max_overrun_per_handler = per_handler;
    options.stop_grace = none_of(stop_grace);
    if (is_virtual) return open_virtual(options);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

static selene_scheduler_info info_of(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info;
}

static selene_lane open_lane(selene_cycle cycle) {
    selene_lane lane = 0;
    CHECK_OK(selene_lane_open(cycle, &lane));
    return lane;
}

/** The next step of a lane, which must not wait in vain; of a run its id. */
static int32_t take(selene_lane lane, int32_t outcome, const char *id) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_lane_next(lane, outcome, 0, &step, &info, NULL));
    if (id) {
        CHECK_INT(SELENE_STEP_RUN, step);
        CHECK_TEXT(id, info.id);
    }
    return step;
}

/** Opens a window of lanes in which two tasks of the handler "hangs" leave their threads behind. */
static selene_cycle leave_two_behind(selene_scheduler scheduler, selene_lane lanes[2],
                                     uint32_t flags) {
    selene_window window = window_of(SELENE_HOUR, 0, 4);
    window.flags = SELENE_WINDOW_LANES | flags;
    selene_cycle cycle = begin(scheduler, window);
    for (int i = 0; i < 2; i++) {
        lanes[i] = open_lane(cycle);
        take(lanes[i], SELENE_OUTCOME_NONE, i ? "hangs 2" : "hangs 1");
    }
    CHECK_INT(0, info_of(scheduler).stuck_handlers);
    advance(S + 1);
    return cycle;
}

static void add_two(selene_scheduler scheduler) {
    add_name(scheduler, "hangs");
    add_name(scheduler, "other");
    for (int i = 1; i <= 2; i++) {
        selene_task task = once(i == 1 ? "hangs 1" : "hangs 2", "hangs", 5);
        task.timeout = S;
        add(scheduler, task);
    }
}

/* ---- on a clock of the host's own --------------------------------------------------------------------------------- */

static void test_told(void) {
    selene_scheduler scheduler = open_with(16, 2, 0, 1);
    selene_lane lanes[2], third;
    selene_window now = window_of(S, 0, 1);
    selene_cycle refused = 0;
    int64_t at = 0;
    observe(scheduler);
    add_two(scheduler);
    add(scheduler, once("waits", "hangs", 5));
    add(scheduler, once("free", "other", 1));
    selene_cycle cycle = leave_two_behind(scheduler, lanes, 0);
    CHECK_INT(1, info_of(scheduler).stuck_handlers);
    CHECK_INT(2, info_of(scheduler).overrun_threads);
    CHECK_INT(SELENE_TROUBLE_HANDLER, info_of(scheduler).troubles);
    CHECK_INT(1, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_HANDLER));
    const struct noted *told = &noted[atomic_load(&noted_count) - 1];
    while (told->event.type != SELENE_EVENT_TROUBLE)
        told--;
    CHECK_INT(SELENE_ERROR_BUSY, told->event.status);
    CHECK(strstr(told->message, "\"hangs\" has left 2 threads behind") != NULL);
    CHECK_INT(SELENE_REASON_HANDLER_STUCK,
              why(scheduler, "waits", SELENE_REASON_HANDLER_STUCK).reason);
    CHECK_INT(0, explain(scheduler, "waits").rank);
    CHECK_INT(1, explain(scheduler, "free").rank);
    CHECK_INT(1, record(scheduler, "waits").has_handler);
    now.task = SELENE_TEXT("waits");
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
                 selene_cycle_begin(scheduler, &now, &refused));
    /* What another handler has to do is done; what is registered meanwhile waits, too. */
    third = open_lane(cycle);
    take(third, SELENE_OUTCOME_NONE, "free");
    add(scheduler, once("waits as well", "hangs", 5));
    CHECK_INT(SELENE_STEP_DONE, take(third, SELENE_OUTCOME_NEW_DATA, NULL));
    CHECK_OK(selene_lane_close(third));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK(at > START + 2 * S); /* the retries of those that hang */
    /* One comes back: both can run. */
    CHECK_OK(selene_lane_close(lanes[0]));
    CHECK_INT(0, info_of(scheduler).stuck_handlers);
    CHECK_INT(0, info_of(scheduler).troubles);
    CHECK_INT(2, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_HANDLER));
    told = &noted[atomic_load(&noted_count) - 1];
    CHECK_INT(SELENE_OK, told->event.status);
    CHECK_STRING("hangs", told->message);
    CHECK_INT(0, explain(scheduler, "waits").reason_count);
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_INT(atomic_load(&clock_now), at);
    CHECK_INT(2, pull(scheduler, window_of(S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_lane_close(lanes[1]));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Nothing walks all tasks of a stuck handler in one call, and afterwards each of them can run. */
static void many(uint32_t flags) {
    /* More than a call looks at; that is 1024. Where each call looks at all of them not all are run afterwards. */
    const int count = check_tasks(3000, 1100), all = check_tasks(count, 100);
    selene_scheduler scheduler = open_with(16, 2, 0, 1);
    selene_lane lanes[2], third;
    char id[32];
    int calls = 0;
    int32_t step;
    add_two(scheduler);
    for (int i = 0; i < count; i++) {
        snprintf(id, sizeof id, "waits %d", i);
        add(scheduler, once(id, "hangs", 5));
    }
    add(scheduler, once("free", "other", 1));
    selene_cycle cycle = leave_two_behind(scheduler, lanes, flags);
    third = open_lane(cycle);
    while ((step = take(third, SELENE_OUTCOME_NONE, NULL)) == SELENE_STEP_WAIT)
        calls++;
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_BETWEEN(count / 1024, calls, count / 1024 + 2);
    CHECK_INT(SELENE_STEP_DONE, take(third, SELENE_OUTCOME_NEW_DATA, NULL));
    CHECK_OK(selene_lane_close(third));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(1, explain(scheduler, "waits 17").reason_count);
    CHECK_OK(selene_handler_unregister(scheduler, "other", -1));
    CHECK_OK(selene_lane_close(lanes[0]));
    CHECK_OK(selene_lane_close(lanes[1]));
    uint64_t ran = 0;
    for (int windows = 0; ran < (uint64_t)all && windows < 20; windows++) {
        selene_cycle again = begin(scheduler, window_of(SELENE_MINUTE, 0, 1));
        selene_run_info info = SELENE_INIT(selene_run_info);
        do {
            CHECK_OK(selene_cycle_next(again, &step, &info, NULL));
            if (step != SELENE_STEP_RUN) continue;
            CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
            ran++;
        } while (step != SELENE_STEP_DONE && (all == count || ran < (uint64_t)all));
        CHECK_OK(selene_cycle_end(again, NULL));
    }
    CHECK_INT(all, ran);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_many(void) {
    many(SELENE_WINDOW_FROZEN);
}

/** A task that a window has found, and another look has set aside meanwhile, is passed over. */
static void test_set_aside(void) {
    selene_scheduler scheduler = open_with(16, 2, 0, 1);
    selene_lane lanes[2], third;
    selene_task task;
    for (int i = 1; i <= 2; i++) {
        char id[32];
        snprintf(id, sizeof id, "hangs %d", i);
        task = once(id, "hangs", 4);
        task.timeout = S;
        add(scheduler, task);
        advance(S);
    }
    advance(SELENE_HOUR);
    /* Of a higher priority and younger: found at once, and its turn comes later. */
    add(scheduler, once("waits", "hangs", 5));
    advance(S);
    task = once("free", "other", 1);
    add(scheduler, task);
    add_name(scheduler, "hangs");
    add_name(scheduler, "other");
    advance(S);
    selene_cycle cycle = leave_two_behind(scheduler, lanes, 0);
    third = open_lane(cycle);
    CHECK_INT(1, info_of(scheduler).stuck_handlers);
    CHECK_INT(SELENE_REASON_HANDLER_STUCK,
              why(scheduler, "waits", SELENE_REASON_HANDLER_STUCK).reason);
    CHECK_INT(SELENE_STEP_RUN, take(third, SELENE_OUTCOME_NONE, "free"));
    CHECK_OK(selene_lane_close(third));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_lane_close(lanes[0]));
    CHECK_OK(selene_lane_close(lanes[1]));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** By default one connection that hangs stops no daemon: fifteen threads of a handler may hang, and it goes on. */
static void test_usual(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_lane lanes[17];
    char id[32];
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.stop_grace = SELENE_NONE;
    selene_scheduler scheduler = open_virtual(options);
    selene_window window = window_of(SELENE_HOUR, 0, 17);
    add_name(scheduler, "hangs");
    for (int i = 0; i < 16; i++) {
        snprintf(id, sizeof id, "hangs %02d", i);
        selene_task task = once(id, "hangs", 5);
        task.timeout = i == 15 ? SELENE_MINUTE : S;
        add(scheduler, task);
    }
    add(scheduler, once("polls", "hangs", 1));
    add(scheduler, once("waits", "hangs", 1));
    window.flags = SELENE_WINDOW_LANES;
    selene_cycle cycle = begin(scheduler, window);
    for (int i = 0; i < 16; i++) {
        lanes[i] = open_lane(cycle);
        snprintf(id, sizeof id, "hangs %02d", i);
        take(lanes[i], SELENE_OUTCOME_NONE, id);
    }
    advance(S + 1);
    CHECK_INT(15, info_of(scheduler).overrun_threads);
    CHECK_INT(0, info_of(scheduler).stuck_handlers);
    CHECK_INT(0, info_of(scheduler).troubles);
    lanes[16] = open_lane(cycle);
    take(lanes[16], SELENE_OUTCOME_NONE, "polls");
    advance(SELENE_MINUTE);
    CHECK_INT(16, info_of(scheduler).overrun_threads);
    CHECK_INT(1, info_of(scheduler).stuck_handlers);
    CHECK_INT(SELENE_STEP_DONE, take(lanes[16], SELENE_OUTCOME_NEW_DATA, NULL));
    CHECK_INT(1, why(scheduler, "waits", SELENE_REASON_HANDLER_STUCK).reason > 0);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    for (int i = 0; i < 17; i++)
        CHECK_OK(selene_lane_close(lanes[i]));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Nor where threads of the library look for work: they look again at once, whatever clock they wait for. */
static void test_many_pushed(void) {
    const int count = check_tasks(3000, 1100);
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work hanging = {.behaviour = GATE}, other = {.behaviour = COMPLETE};
    struct receiver receiver = {0};
    char id[32];
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.max_overrun_per_handler = 2;
    options.stop_grace = SELENE_NONE;
    scheduler = open_told_with(options);
    add_handler(scheduler, "hangs", &hanging);
    add_handler(scheduler, "other", &other);
    for (int i = 0; i < count; i++) {
        snprintf(id, sizeof id, i < 2 ? "hangs %d" : "waits %d", i);
        selene_task task = once(id, "hangs", 5);
        if (i < 2) task.timeout = S;
        add(scheduler, task);
    }
    add(scheduler, once("free", "other", 1));
    push_async(scheduler, window_of(SELENE_HOUR, 0, 2), &receiver, NULL);
    wait_for("the handlers", &hanging.started, 2);
    /* Both lanes are left behind; others look for what they can run. */
    reach(scheduler, START + S + 1);
    wait_for("the report", &receiver.calls, 1);
    CHECK_INT(3, receiver.run_count);
    CHECK_INT(1, atomic_load(&other.returned));
    CHECK_INT(2, atomic_load(&hanging.started));
    CHECK_INT(1, info_of(scheduler).stuck_handlers);
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_many_rolling(void) {
    many(0);
}

/** A question about a task that waits for a place leaves it there. */
static void test_held(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    selene_lane lanes[2];
    selene_cycle cycle;
    options.max_pending_refresh = 3;
    options.flags |= SELENE_OPTIONS_HOLD;
    options.max_overrun_threads = 16;
    options.max_overrun_per_handler = 2;
    options.stop_grace = SELENE_NONE;
    scheduler = open_virtual(options);
    add_two(scheduler);
    add(scheduler, once("free", "other", 1));
    add(scheduler, once("waits", "hangs", 5));
    CHECK_INT(SELENE_STATE_HELD, record(scheduler, "waits").state);
    cycle = leave_two_behind(scheduler, lanes, 0);
    CHECK_INT(1, info_of(scheduler).stuck_handlers);
    CHECK_INT(SELENE_REASON_HELD, why(scheduler, "waits", SELENE_REASON_HELD).reason);
    CHECK_OK(selene_task_cancel(scheduler, "free", -1, NULL));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "waits").state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_lane_close(lanes[0]));
    CHECK_INT(0, explain(scheduler, "waits").reason_count);
    CHECK_OK(selene_lane_close(lanes[1]));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A handler that is unregistered while it is stuck is no trouble; another of its name is fresh. */
static void test_unregistered(void) {
    selene_scheduler scheduler = open_with(16, 2, 0, 1);
    selene_lane lanes[2];
    add_two(scheduler);
    add(scheduler, once("waits", "hangs", 5));
    selene_cycle cycle = leave_two_behind(scheduler, lanes, 0);
    CHECK_OK(selene_handler_unregister(scheduler, "hangs", -1));
    CHECK_INT(0, info_of(scheduler).stuck_handlers);
    CHECK_INT(0, info_of(scheduler).troubles);
    CHECK_INT(SELENE_REASON_NO_HANDLER, why(scheduler, "waits", SELENE_REASON_NO_HANDLER).reason);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_lane_close(lanes[0]));
    CHECK_OK(selene_lane_close(lanes[1]));
    advance(11 * SELENE_MINUTE);
    add_name(scheduler, "hangs");
    CHECK_INT(3, pull(scheduler, window_of(S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_range(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler refused = 0;
    options.max_overrun_per_handler = 1025;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &refused));
    CHECK_STRING("max_overrun_per_handler: 1025 is out of range, allowed are 1 … 1024",
                 selene_error_last()->message.data);
}

/* ---- on library threads ------------------------------------------------------------------------------------------- */

enum { HANDLERS = 20 };

/* Who hangs waits for it without taking time. */
static pthread_mutex_t shut = PTHREAD_MUTEX_INITIALIZER;

static void hang(struct work *work, selene_run run, const selene_run_info *info) {
    (void)work, (void)info;
    pthread_mutex_lock(&shut);
    pthread_mutex_unlock(&shut);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void add_tick(selene_scheduler scheduler, struct work *tick) {
    selene_task task = once("tick", "tick", 1);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = 20 * MS;
    tick->behaviour = COMPLETE;
    add_handler(scheduler, "tick", tick);
    add(scheduler, task);
}

static void start_driver(selene_scheduler scheduler) {
    selene_driver config = SELENE_INIT(selene_driver);
    config.refresh_lanes = 4;
    CHECK_OK(selene_driver_start(scheduler, &config));
}

static atomic_int begun, troubles;

static void count(const selene_event *event, void *context) {
    (void)context;
    atomic_fetch_add(&begun, event->type == SELENE_EVENT_CYCLE_BEGUN);
    atomic_fetch_add(&troubles, event->type == SELENE_EVENT_TROUBLE);
}

/** The longest time in which something stood still, as far as somebody who looks now and then can see. */
struct still {
    int seen;
    int64_t since, longest;
};

static void look(struct still *still, int value) {
    int64_t now = check_now();
    if (now - still->since > still->longest) still->longest = now - still->since;
    if (value != still->seen) still->since = now;
    still->seen = value;
}

/** Looks on while nothing else changes: nothing spins, nothing is late, and nothing is told again and again. */
static void look_on(selene_scheduler scheduler, struct work *tick, int is_capped) {
    const int64_t seconds = check_environment("SELENE_TEST_SECONDS", 0);
    const int64_t duration = seconds ? seconds * S : 400 * MS;
    struct work other = {.started = 0};
    selene_scheduler beside = open_with(16, 2, 0, 0);
    const int64_t end = check_now() + duration;
    struct still ours = {.since = check_now()}, theirs = ours;
    const clock_t used = clock();
    int ticks, others;
    alarm((unsigned)(check_environment("SELENE_TEST_ALARM", 60) + seconds));
    if (!is_capped) {
        add_tick(beside, &other);
        start_driver(beside);
        wait_for("the other scheduler", &other.started, 1);
    }
    CHECK_OK(selene_scheduler_observe(scheduler, count, NULL, NULL));
    ticks = atomic_load(&tick->started);
    others = atomic_load(&other.started);
    while (check_now() < end) {
        look(&ours, atomic_load(&tick->started));
        look(&theirs, atomic_load(&other.started));
        check_sleep(50 * MS);
    }
    others = atomic_load(&other.started) - others;
    const int windows = atomic_load(&begun);
    ticks = atomic_load(&tick->started) - ticks;
    /* What is due asks for a window of its own, the stuck ones for none: as many begin as that needs. */
    CHECK_BETWEEN(0, windows, ticks + 2);
    /* Each handler once, and the cap: those in flight beside the first may come to it only now. */
    CHECK_BETWEEN(0, atomic_load(&troubles), HANDLERS + 1);
    if (is_capped) CHECK_INT(0, ticks);
    if (seconds) {
        double busy = (double)(clock() - used) / CLOCKS_PER_SEC / (double)seconds;
        printf("%d s: %d ticks, %d beside it, in %d windows; still for at most %.3f and %.3f s; "
               "%.1f %% of a core\n",
               (int)seconds, ticks, others, windows, (double)ours.longest / 1e9,
               (double)theirs.longest / 1e9, 100 * busy);
        CHECK(busy < (is_capped ? 0.1 : 0.5));
        /* What delays the whole process delays both. */
        CHECK(2 * ticks >= others);
    }
    CHECK_OK(selene_scheduler_close(beside, GRACE));
}

/** Twenty handlers that never return, each with three tasks; four lanes; and one that works. */
static void twenty(uint32_t most) {
    selene_scheduler scheduler = open_with(most, 2, 0, 0);
    struct work tick = {.started = 0};
    static struct work hanging[HANDLERS];
    int is_capped = most < 2 * HANDLERS, before;
    pthread_mutex_lock(&shut);
    observe(scheduler);
    for (int i = 0; i < HANDLERS; i++) {
        char name[16], id[32];
        snprintf(name, sizeof name, "hangs %d", i);
        hanging[i].behaviour = ASK;
        hanging[i].ask = hang;
        add_handler(scheduler, name, &hanging[i]);
        for (int j = 0; j < 3; j++) {
            snprintf(id, sizeof id, "%s.%d", name, j);
            selene_task one = once(id, name, 5);
            one.timeout = 20 * MS;
            one.expected_response = MS;
            add(scheduler, one);
        }
    }
    add_tick(scheduler, &tick);
    start_driver(scheduler);
    if (is_capped) {
        /* What may stay behind stays behind; then nothing can begin, which is said, and nothing spins. */
        WAIT_UNTIL(info_of(scheduler).troubles & SELENE_TROUBLE_OVERRUN);
        wait_for_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_OVERRUN, 1);
        WAIT_UNTIL(explain(scheduler, "tick").reason_count > 0);
        CHECK_INT(SELENE_REASON_NO_THREAD, why(scheduler, "tick", SELENE_REASON_NO_THREAD).reason);
    } else {
        WAIT_UNTIL(info_of(scheduler).stuck_handlers == HANDLERS);
        /* Two of each, and those that were in flight beside them. */
        CHECK_BETWEEN(2 * HANDLERS, info_of(scheduler).overrun_threads, 3 * HANDLERS);
        wait_for_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_HANDLER, HANDLERS);
        before = atomic_load(&tick.started);
        wait_for("the one that works", &tick.started, before + 10);
    }
    look_on(scheduler, &tick, is_capped);
    for (int i = 0; !is_capped && i < HANDLERS; i++) {
        wait_for("two of each", &hanging[i].started, 2);
        CHECK_BETWEEN(2, atomic_load(&hanging[i].started), 3);
    }
    if (is_capped) {
        int64_t delay = 0;
        CHECK_OK(selene_scheduler_next_wakeup(scheduler, NULL, &delay));
        CHECK(delay > 0);
        CHECK_STATUS(SELENE_ERROR_BUSY,
                     selene_cycle_run(scheduler, &(selene_window)SELENE_INIT(selene_window), NULL));
    }
    /* All come back: everything goes on, and all is told. */
    pthread_mutex_unlock(&shut);
    WAIT_UNTIL(info_of(scheduler).troubles == 0);
    CHECK_INT(0, info_of(scheduler).stuck_handlers);
    before = atomic_load(&tick.started);
    wait_for("the one that works, again", &tick.started, before + 2);
    for (int i = 0; i < HANDLERS; i++)
        wait_for("the third task of each", &hanging[i].started, 3);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_twenty(void) {
    twenty(64);
}
static void test_capped(void) {
    twenty(16);
}

/* The thread of each is still in the handler when its window ends, but their outcomes were given in time. */
static void test_given(void) {
    selene_scheduler scheduler = open_with(16, 1, S, 0);
    struct work work = {.behaviour = COMPLETE_GATE}, other = {.behaviour = GATE};
    struct receiver receiver = {0};
    selene_cycle cycle;
    add_handler(scheduler, "work", &work);
    add_handler(scheduler, "other", &other);
    add(scheduler, once("first", "work", 5));
    add(scheduler, once("second", "work", 5));
    /* Younger, too, the lower its priority: in this order however slow the machine is. */
    add(scheduler, once("last", "other", 3));
    add(scheduler, once("third", "work", 1));
    cycle = push_async(scheduler, window_of(AMPLE, 0, 3), &receiver, NULL);
    wait_for("the first two", &work.started, 2);
    wait_for("the last", &other.started, 1);
    wait_for_state(scheduler, "first", SELENE_STATE_SUCCEEDED);
    wait_for_state(scheduler, "second", SELENE_STATE_SUCCEEDED);
    CHECK_OK(selene_task_cancel(scheduler, "last", -1, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(3, overruns(scheduler)); /* they count for the cap all the same */
    CHECK_INT(0, info_of(scheduler).stuck_handlers);
    CHECK_INT(0, explain(scheduler, "third").reason_count);
    atomic_store(&gate, 1);
    wait_for_overruns(scheduler, 0);
    CHECK_INT(0, info_of(scheduler).stuck_handlers);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("R4 a stuck handler's tasks wait, which is told, until a thread comes back",
             test_told);
    run_test("R4 a task that a window has found is passed over once it was set aside",
             test_set_aside);
    run_test("R4 no call moves all tasks of a stuck handler", test_many);
    run_test("R4 nor in a rolling window", test_many_rolling);
    run_test("R4 nor where threads of the library look for work", test_many_pushed);
    run_test("R4 a question about a task that waits for a place leaves it there", test_held);
    run_test("R4 a handler that is unregistered is not stuck any more", test_unregistered);
    run_test("R4 threads of runs that gave their outcome, or were cancelled, make no handler stuck",
             test_given);
    run_test("R4 max_overrun_per_handler has its range", test_range);
    run_test("R4 by default fifteen threads of a handler may hang", test_usual);
    run_test("R4 beside twenty handlers that never return another one's tasks run", test_twenty);
    run_test("R4 when no more threads may stay behind nothing begins, and nothing spins",
             test_capped);
    return check_end();
}
