/*
 * misuse_handles.c - handles and tokens that are none, of another type, closed, or of nobody; and outcomes given twice,
 * late or wrong
 */
#include "misuse.h"

#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- a scheduler, a cycle and a run ------------------------------------------------ */

/** Live ones of each type; the run is in flight. */
struct live {
    selene_scheduler scheduler;
    selene_cycle cycle;
    selene_run run;
};

static struct live open_live(void) {
    struct live live = {0, 0, 0};
    still_now = CLOCK_BEGIN;
    live.scheduler = open_still();
    add_task(live.scheduler, "task");
    add_pulled_handler(live.scheduler, "task");
    CHECK_OK(begin_refresh(live.scheduler, &live.cycle));
    live.run = take_run(live.cycle);
    return live;
}

/** The live ones still do what they should. */
static void close_live(struct live live) {
    CHECK_INT(SELENE_STATE_RUNNING, state_of(live.scheduler, "task"));
    CHECK_OK(selene_run_complete(live.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(live.cycle, NULL));
    CHECK_OK(selene_scheduler_close(live.scheduler, 0));
}

/** Every function with this value; those of a type with its own expectation, lanes with that of cycles. 0 is not given to close. */
static void refuse_everywhere(uint64_t value, selene_status of_scheduler, selene_status of_cycle,
                              selene_status of_run) {
    size_t i;
    for (i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        if (value == 0 && call->call == call_close) continue;
        call_refused(call, value,
                     call->type == TAKES_SCHEDULER ? of_scheduler
                     : call->type == TAKES_RUN     ? of_run
                                                   : of_cycle);
    }
}

#define INVALID SELENE_ERROR_INVALID_HANDLE

/* ---- values that are no handle ------------------------------------------------------ */

static void test_zero_and_ones(void) {
    static const uint64_t values[] = {0,
                                      1,
                                      2,
                                      3,
                                      255,
                                      65536,
                                      UINT32_MAX,
                                      UINT64_C(1) << 32,
                                      UINT64_C(1) << 62,
                                      UINT64_C(1) << 63,
                                      INT64_MAX,
                                      UINT64_MAX - 1,
                                      UINT64_MAX};
    struct live live;
    size_t i;
    /* Before any scheduler was opened in this process, and with live ones. */
    outs_reset();
    for (i = 0; i < COUNT(values); i++)
        refuse_everywhere(values[i], INVALID, INVALID, INVALID);
    CHECK_OK(selene_scheduler_close(0, 0));
    live = open_live();
    picture_take(&before_call, live.scheduler);
    outs_reset();
    for (i = 0; i < COUNT(values); i++)
        refuse_everywhere(values[i], INVALID, INVALID, INVALID);
    picture_take(&after_call, live.scheduler);
    CHECK(before_call.length == after_call.length);
    CHECK(memcmp(before_call.bytes, after_call.bytes, before_call.length) == 0);
    CHECK_OK(selene_scheduler_close(0, 0));
    close_live(live);
}

/** SplitMix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void test_random(void) {
    uint64_t seed = (uint64_t)check_environment("SELENE_TEST_SEED", 20240229), state = seed;
    struct live live = open_live();
    int i, count = rounds(10000);
    printf("seed %" PRIu64 ", %d values\n", seed, count);
    picture_take(&before_call, live.scheduler);
    outs_reset();
    for (i = 0; i < count; i++) {
        uint64_t value = next_random(&state);
        /* The chance to meet a live one is that of a lottery; it would be no fault of the library. */
        if (value == live.scheduler || value == live.cycle || value == live.run || value == 0)
            continue;
        refuse_everywhere(value, INVALID, INVALID, INVALID);
    }
    picture_take(&after_call, live.scheduler);
    CHECK(before_call.length == after_call.length);
    CHECK(memcmp(before_call.bytes, after_call.bytes, before_call.length) == 0);
    close_live(live);
}

/** Every value that differs in one or two bits from a live one, and its neighbours. A run's token whose life differs
 *  may also be taken for one of an earlier life. */
static void test_neighbours(void) {
    struct live live = open_live();
    const selene_lane lane = open_lane_of(live.scheduler);
    const uint64_t handles[4] = {live.scheduler, live.cycle, live.run, lane};
    const int step = check_tasks(1, 5);
    int k, a, b;
    size_t i;
    outs_reset();
    for (k = 0; k < 4; k++) {
        for (a = 0; a < 64; a++) {
            for (b = a; b < 64; b += step) {
                uint64_t value = handles[k] ^ UINT64_C(1) << a ^ (b > a ? UINT64_C(1) << b : 0);
                if (value == 0 || value == live.scheduler || value == live.cycle ||
                    value == live.run || value == lane || value == live.cycle + 1)
                    continue; /* the last: the cycle of the lane */
                for (i = 0; i < HANDLE_CALLS; i++) {
                    const struct handle_call *call = &handle_calls[i];
                    selene_status got;
                    if (call->type == TAKES_RUN) {
                        got = call->call(value);
                        CHECK(got == INVALID || got == SELENE_ERROR_STALE_RUN);
                        CHECK(outs_untouched());
                    } else {
                        call_refused(call, value, INVALID);
                    }
                }
            }
        }
        for (a = -100; a <= 100; a++) {
            uint64_t value = handles[k] + (uint64_t)(int64_t)a;
            if (a != 0 && value != 0 && value != live.cycle + 1)
                refuse_everywhere(value, INVALID, INVALID, INVALID);
        }
    }
    close_live(live);
}

static void test_types(void) {
    struct live live = open_live();
    const selene_lane lane = open_lane_of(live.scheduler);
    size_t i;
    picture_take(&before_call, live.scheduler);
    outs_reset();
    for (i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        if (call->type != TAKES_SCHEDULER) call_refused(call, live.scheduler, INVALID);
        if (call->type != TAKES_CYCLE) call_refused(call, live.cycle, INVALID);
        if (call->type != TAKES_RUN) call_refused(call, live.run, INVALID);
        if (call->type != TAKES_LANE) call_refused(call, lane, INVALID);
    }
    picture_take(&after_call, live.scheduler);
    CHECK(before_call.length == after_call.length);
    CHECK(memcmp(before_call.bytes, after_call.bytes, before_call.length) == 0);
    close_live(live);
}

/* ---- closed handles -------------------------------------------------------------------- */

static void test_closed(void) {
    struct live live = open_live(), other;
    selene_lane closed_lane;
    selene_run completed, in_flight = live.run;
    selene_cycle ended = 0;
    int i;
    selene_window processing = SELENE_INIT(selene_window);
    processing.kinds = SELENE_KIND_PROCESSING;
    add_task(live.scheduler, "second");
    add_pulled_handler(live.scheduler, "second");
    CHECK_OK(selene_run_complete(live.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(live.cycle, NULL));
    completed = live.run;
    CHECK_OK(begin_refresh(live.scheduler, &live.cycle));
    in_flight = take_run(live.cycle);
    CHECK_OK(selene_cycle_begin(live.scheduler, &processing, &ended));
    CHECK_OK(selene_cycle_end(ended, NULL));
    closed_lane = open_lane_of(live.scheduler);
    CHECK_OK(selene_lane_close(closed_lane));
    outs_reset();
    CHECK_STATUS(INVALID, call_lane_next(closed_lane));
    CHECK_STATUS(INVALID, selene_cycle_end(ended, NULL));
    CHECK_STATUS(INVALID, selene_cycle_next(ended, &outs.number, &outs.run_info, NULL));
    CHECK_OK(selene_scheduler_close(live.scheduler, 0));
    /* Twice: alone, and with another scheduler that may stand in the same slot. */
    for (i = 0; i < 2; i++) {
        outs_reset();
        refuse_everywhere(live.scheduler, INVALID, INVALID, INVALID);
        refuse_everywhere(live.cycle, INVALID, INVALID, INVALID);
        refuse_everywhere(ended, INVALID, INVALID, INVALID);
        refuse_everywhere(closed_lane, INVALID, INVALID, INVALID);
        refuse_everywhere(in_flight, INVALID, INVALID, SELENE_ERROR_STALE_RUN);
        refuse_everywhere(completed, INVALID, INVALID, SELENE_ERROR_STALE_RUN);
        CHECK_STATUS(INVALID, selene_scheduler_close(live.scheduler, 0));
        if (i == 0) other = open_live();
    }
    CHECK(other.scheduler != live.scheduler && other.cycle != live.cycle);
    CHECK(other.run != in_flight && other.run != completed);
    close_live(other);
}

static void test_reopened(void) {
    enum { KEPT = 64 };
    selene_scheduler last[KEPT] = {0};
    uint64_t life = 0;
    int i, k, count = rounds(20000);
    for (i = 0; i < count; i++) {
        selene_scheduler s = open_still();
        selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
        int64_t now = 0;
        CHECK_OK(selene_scheduler_get(s, &info));
        CHECK(info.life > life);
        life = info.life;
        for (k = 0; k < KEPT; k++) {
            if (!last[k]) continue;
            CHECK(last[k] != s);
            if (i % 97 == 0) CHECK_STATUS(INVALID, selene_scheduler_now(last[k], &now));
        }
        last[i % KEPT] = s;
        CHECK_OK(selene_scheduler_close(s, 0));
        CHECK_STATUS(INVALID, selene_scheduler_close(s, 0));
    }
}

static void test_most_schedulers(void) {
    enum { MOST = 4096 };
    static selene_scheduler open[MOST];
    selene_options options = still_options();
    selene_scheduler more = 77;
    int i, round, count = check_tasks(2, 1);
    for (round = 0; round < count; round++) {
        for (i = 0; i < MOST; i++)
            open[i] = open_still();
        options.clock_destroy = count_destroy;
        CHECK_STATUS(SELENE_ERROR_EXHAUSTED, selene_scheduler_open(&options, &more));
        CHECK_INT(77, more);
        CHECK_INT(round + 1, destroyed);
        CHECK(strstr(selene_error_last()->message.data, "4096"));
        /* The first place that is free is enough. */
        CHECK_OK(selene_scheduler_close(open[MOST / 2], 0));
        open[MOST / 2] = open_still();
        for (i = 0; i < MOST; i++)
            CHECK_OK(selene_scheduler_close(open[i], 0));
    }
}

/* ---- outcomes ----------------------------------------------------------------------------- */

static void test_complete_twice(void) {
    struct live live = open_live();
    int32_t outcome;
    int64_t remaining = -1;
    int32_t reason = -1;
    CHECK_OK(selene_run_complete(live.run, SELENE_OUTCOME_NO_DATA));
    picture_take(&before_call, live.scheduler);
    for (outcome = SELENE_OUTCOME_NEW_DATA; outcome <= SELENE_OUTCOME_ABANDONED; outcome++)
        CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_complete(live.run, outcome));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_retry(live.run, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_complete(live.run, 99));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_stopping(live.run, &reason));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_remaining(live.run, &remaining));
    CHECK_INT(-1, reason);
    CHECK_INT(-1, remaining);
    picture_take(&after_call, live.scheduler);
    CHECK(before_call.length == after_call.length);
    CHECK(memcmp(before_call.bytes, after_call.bytes, before_call.length) == 0);
    CHECK_OK(selene_cycle_end(live.cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED,
                 selene_run_complete(live.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(live.scheduler, 0));
}

static void test_complete_unknown(void) {
    static const int32_t outcomes[] = {-1, 4, 6, 99, INT32_MIN, INT32_MAX};
    struct live live = open_live();
    selene_report *report = NULL;
    size_t i;
    watched = live.scheduler;
    for (i = 0; i < COUNT(outcomes); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "outcome",
                selene_run_complete(live.run, outcomes[i]));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "delay", selene_run_retry(live.run, -1));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "next",
            selene_run_complete_until(live.run, SELENE_OUTCOME_NO_DATA, -1));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "next",
            selene_run_complete_until(live.run, SELENE_OUTCOME_NO_DATA, SELENE_NEVER));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "outcome",
            selene_run_complete_until(live.run, SELENE_OUTCOME_EXPIRED, 0));
    /* A wrong outcome is no outcome. */
    CHECK_OK(selene_run_complete(live.run, SELENE_OUTCOME_ABANDONED));
    CHECK_OK(selene_cycle_end(live.cycle, &report));
    CHECK_INT(1, report->abandoned);
    CHECK_INT(1, report->run_count);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(live.scheduler, 0));
}

/** Nothing changes whatever is said about the run; but the first time brings it back, and its id is free. */
static void stale_for_ever(selene_scheduler scheduler, selene_run run) {
    int64_t remaining = -1;
    int32_t reason = -1;
    int i;
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    for (i = 0; i < 3; i++) {
        picture_take(&before_call, scheduler);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, i));
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_retry(run, 5));
        picture_take(&after_call, scheduler);
        CHECK(before_call.length == after_call.length);
        CHECK(memcmp(before_call.bytes, after_call.bytes, before_call.length) == 0);
    }
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_stopping(run, &reason));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_remaining(run, &remaining));
    CHECK_INT(-1, reason);
    CHECK_INT(-1, remaining);
}

static void test_complete_late(void) {
    struct live live = open_live();
    selene_report *report = NULL;
    int64_t remaining = -1;
    int32_t reason = -1;
    /* The deadline is the last instant for an outcome. */
    still_now = CLOCK_BEGIN + 30 * SELENE_SECOND;
    CHECK_OK(selene_run_stopping(live.run, &reason));
    CHECK_INT(SELENE_STOP_EXPIRING, reason);
    still_now++;
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(live.run, SELENE_OUTCOME_NEW_DATA));
    stale_for_ever(live.scheduler, live.run);
    CHECK_OK(selene_cycle_end(live.cycle, &report));
    CHECK_INT(1, report->expired);
    selene_free(report);
    stale_for_ever(live.scheduler, live.run);
    CHECK_OK(selene_scheduler_close(live.scheduler, 0));

    /* Ended over its head: until it has come back one may ask it, and its id is taken. */
    live = open_live();
    CHECK_OK(selene_cycle_end(live.cycle, NULL));
    CHECK_OK(selene_run_stopping(live.run, &reason));
    CHECK_OK(selene_run_remaining(live.run, &remaining));
    CHECK_INT(0, remaining);
    stale_for_ever(live.scheduler, live.run);
    CHECK_OK(selene_scheduler_close(live.scheduler, 0));

    live = open_live();
    CHECK_OK(selene_task_cancel(live.scheduler, "task", -1, NULL));
    CHECK_OK(selene_run_stopping(live.run, &reason));
    CHECK_INT(SELENE_STOP_CANCELLED, reason);
    CHECK_OK(selene_run_remaining(live.run, &remaining));
    CHECK_INT(0, remaining);
    stale_for_ever(live.scheduler, live.run);
    CHECK_INT(SELENE_STATE_CANCELLED, state_of(live.scheduler, "task"));
    CHECK_OK(selene_cycle_end(live.cycle, NULL));
    CHECK_OK(selene_scheduler_close(live.scheduler, 0));

    live = open_live();
    {
        selene_task task = task_of("task");
        task.existing = SELENE_EXISTING_REPLACE;
        CHECK_OK(selene_task_register(live.scheduler, &task, NULL));
        CHECK_OK(selene_run_stopping(live.run, &reason));
        CHECK_INT(SELENE_STOP_REPLACED, reason);
        stale_for_ever(live.scheduler, live.run);
        CHECK_INT(SELENE_STATE_ENQUEUED, state_of(live.scheduler, "task"));
    }
    CHECK_OK(selene_cycle_end(live.cycle, NULL));
    CHECK_OK(selene_scheduler_close(live.scheduler, 0));
}

/** Tasks come and go while runs are out; no token is ever taken for another run. */
static void test_tokens_are_not_reused(void) {
    enum { KEPT = 32 };
    struct live live = open_live();
    selene_run last[KEPT] = {0};
    int i, k, count = rounds(5000);
    for (i = 0; i < count; i++) {
        for (k = 0; k < KEPT; k++)
            CHECK(last[k] != live.run);
        last[i % KEPT] = live.run;
        CHECK_OK(selene_run_complete(live.run, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(live.cycle, NULL));
        if (i % 50 == 0) CHECK_OK(selene_scheduler_reset(live.scheduler));
        if (i % 50 == 0) add_task(live.scheduler, "task");
        CHECK_OK(begin_refresh(live.scheduler, &live.cycle));
        live.run = take_run(live.cycle);
        for (k = 0; k < KEPT; k++)
            if (last[k])
                CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_complete(last[k], 0));
    }
    close_live(live);
}

/** The last 65 536 runs that were stopped are remembered; none is ever taken for one in flight. */
static void test_many_stale(void) {
    struct live live = open_live();
    enum { KEPT = 65536, FORGOTTEN = 2 };
    selene_run first[FORGOTTEN + 1], last = 0;
    int i, count = KEPT + FORGOTTEN;
    if (rounds(count) < count) count = rounds(count);
    CHECK(count > FORGOTTEN);
    for (i = 0; i < count; i++) {
        last = live.run;
        if (i <= FORGOTTEN) first[i] = live.run;
        CHECK_OK(selene_task_cancel(live.scheduler, "task", -1, NULL));
        CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                     selene_run_complete(live.run, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(live.cycle, NULL));
        add_task(live.scheduler, "task");
        CHECK_OK(begin_refresh(live.scheduler, &live.cycle));
        live.run = take_run(live.cycle);
    }
    /* Exactly so many: the oldest of them, too, and none before it. */
    for (i = 0; i < FORGOTTEN; i++)
        CHECK_STATUS(i < count - KEPT ? SELENE_ERROR_ALREADY_COMPLETED : SELENE_ERROR_STALE_RUN,
                     selene_run_complete(first[i], SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                 selene_run_complete(first[FORGOTTEN], SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(last, SELENE_OUTCOME_NEW_DATA));
    close_live(live);
}

/* ---- several threads want the same ------------------------------------------------------------ */

static atomic_int oks, others;
static pthread_barrier_t barrier;

static void *close_one(void *context) {
    selene_scheduler scheduler = *(selene_scheduler *)context;
    selene_status got;
    pthread_barrier_wait(&barrier);
    got = selene_scheduler_close(scheduler, 0);
    CHECK(got == SELENE_OK || got == INVALID);
    atomic_fetch_add(got == SELENE_OK ? &oks : &others, 1);
    return NULL;
}

static void *complete_one(void *context) {
    selene_run run = *(selene_run *)context;
    selene_status got;
    pthread_barrier_wait(&barrier);
    got = selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
    CHECK(got == SELENE_OK || got == SELENE_ERROR_ALREADY_COMPLETED);
    atomic_fetch_add(got == SELENE_OK ? &oks : &others, 1);
    return NULL;
}

static void *end_one(void *context) {
    selene_cycle cycle = *(selene_cycle *)context;
    selene_report *report = NULL;
    selene_status got;
    pthread_barrier_wait(&barrier);
    got = selene_cycle_end(cycle, &report);
    CHECK(got == SELENE_OK ? report != NULL : got == INVALID && report == NULL);
    selene_free(report);
    atomic_fetch_add(got == SELENE_OK ? &oks : &others, 1);
    return NULL;
}

static void race(void *(*body)(void *), void *context) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int i;
    oks = others = 0;
    CHECK_INT(0, pthread_barrier_init(&barrier, NULL, THREADS));
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, body, context));
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    CHECK_INT(0, pthread_barrier_destroy(&barrier));
    CHECK_INT(1, oks);
    CHECK_INT(THREADS - 1, others);
}

static void test_races(void) {
    int i, count = rounds(200);
    for (i = 0; i < count; i++) {
        struct live live = open_live();
        race(complete_one, &live.run);
        race(end_one, &live.cycle);
        race(close_one, &live.scheduler);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P4 0, 1 and all ones are no handle, for every function", test_zero_and_ones);
    run_test("P4 random values are no handle, for every function", test_random);
    run_test("P4 what differs from a live handle in a bit or two is no handle", test_neighbours);
    run_test("P4 a handle of another type is refused, by every function", test_types);
    run_test("P4 a closed handle is refused for ever, also when its slot is taken again",
             test_closed);
    run_test("P4 no handle is given out twice", test_reopened);
    run_test("P4 4 096 schedulers can be open, the next answers EXHAUSTED", test_most_schedulers);
    run_test("C6 a second outcome answers ALREADY_COMPLETED and changes nothing",
             test_complete_twice);
    run_test("C6 an unknown outcome is refused, and the run goes on", test_complete_unknown);
    run_test("C6 a late outcome answers STALE_RUN and changes nothing", test_complete_late);
    run_test("C6 no token is given out twice", test_tokens_are_not_reused);
    run_test("C6 65 536 stale runs are remembered, older ones answer ALREADY_COMPLETED",
             test_many_stale);
    run_test("P3 of threads that end the same thing one succeeds", test_races);
    return check_end();
}
