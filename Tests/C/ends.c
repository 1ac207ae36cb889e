/*
 * ends.c - an end that the host asks for fails nothing (V4), one meaning of grace (V5), giving back (V6)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

/* ---- every end, every answer ---------------------------------------------------------- */

enum end { STOP_DRIVER, DRAIN_WINDOW, END_WINDOW, CLOSE };

/** An end that another thread asks for, since it may wait for the grace. */
struct ending {
    enum end end;
    selene_scheduler scheduler;
    selene_cycle cycle;
    int64_t grace;
    selene_status status;
    atomic_int returned;
    pthread_t thread;
};

static void *ask_for_end(void *argument) {
    struct ending *ending = argument;
    switch (ending->end) {
    case STOP_DRIVER:
        ending->status = selene_driver_stop(ending->scheduler, ending->grace);
        break;
    case DRAIN_WINDOW:
        ending->status = selene_cycle_drain(ending->cycle, ending->grace);
        break;
    case END_WINDOW:
        ending->status = selene_cycle_end(ending->cycle, NULL);
        break;
    case CLOSE:
        ending->status = selene_scheduler_close(ending->scheduler, ending->grace);
        break;
    }
    atomic_store(&ending->returned, 1);
    return NULL;
}

/** What the handler does when it is asked to stop; nothing else ends its run. */
enum answer { DEAF, FAILS, RETRIES, SAYS_STOPPED, SAYS_NO_DATA, COMPLETES };

struct answering {
    enum answer answer;
    atomic_int started, asked, reason, status, destroyed;
};

static void begin_work(selene_run run, const selene_run_info *info, void *context) {
    (void)run, (void)info;
    atomic_fetch_add(&((struct answering *)context)->started, 1);
}

static void answer_stop(selene_run run, int32_t reason, void *context) {
    struct answering *answering = context;
    selene_status status = SELENE_OK;
    switch (answering->answer) {
    case DEAF:
        break;
    case FAILS:
        status = selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "was asked", -1);
        break;
    case RETRIES:
        status = selene_run_retry(run, S);
        break;
    case SAYS_STOPPED:
        status = selene_run_complete(run, SELENE_OUTCOME_STOPPED);
        break;
    case SAYS_NO_DATA:
        status = selene_run_complete(run, SELENE_OUTCOME_NO_DATA);
        break;
    case COMPLETES:
        status = selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
        break;
    }
    atomic_store(&answering->status, status);
    atomic_store(&answering->reason, reason);
    atomic_fetch_add(&answering->asked, 1);
}

/* The library has no more use of what lies on the stack of a play. */
static void destroy_answering(void *context) {
    atomic_fetch_add(&((struct answering *)context)->destroyed, 1);
}

static void play(enum end end, enum answer answer, int64_t grace) {
    char name[32];
    snprintf(name, sizeof name, "store%d%d%d", end, answer, grace > 0);
    const char *file = file_named(name);
    struct answering answering = {.answer = answer};
    struct ending ending = {.end = end, .grace = grace};
    struct receiver receiver = {0};
    int64_t deadline = 0;
    selene_scheduler scheduler = open_told_with(stored_options(file));
    selene_task task = once_of("upload");
    task.max_attempts = 1;
    CHECK_OK(selene_handler_register(scheduler, "upload", -1, begin_work, answer_stop, &answering,
                                     destroy_answering));
    add(scheduler, task);
    ending.scheduler = scheduler;
    if (end == STOP_DRIVER) {
        CHECK_OK(selene_driver_start(scheduler, NULL));
    } else {
        selene_window window = window_of(30 * SELENE_MINUTE, -1, 1);
        window.kinds = SELENE_KIND_PROCESSING;
        ending.cycle = push_async(scheduler, window, &receiver, &deadline);
    }
    still(scheduler);
    wait_for("the handler", &answering.started, 1);

    CHECK_INT(0, pthread_create(&ending.thread, NULL, ask_for_end, &ending));
    if (end != END_WINDOW && grace > 0) {
        /* It waits for the grace, or, where it does not block, time does. */
        if (end == DRAIN_WINDOW) wait_for("the drain", &ending.returned, 1);
        else WAIT_UNTIL(still(scheduler) == START + grace - grace / 10);
        reach(scheduler, START + grace - grace / 10 - 1);
        CHECK_INT(0, atomic_load(&answering.asked));
        /* A close is over as soon as nothing runs. */
        (void)selene_clock_advance(scheduler, START + grace - grace / 10, 0, PATIENCE, NULL);
        wait_for("the stop", &answering.asked, 1);
        CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&answering.reason));
        CHECK_STATUS(SELENE_OK, atomic_load(&answering.status));
        if (answer == DEAF) CHECK_INT(SELENE_STATE_RUNNING, record(scheduler, "upload").state);
        (void)selene_clock_advance(scheduler, START + grace + 1, 0, PATIENCE, NULL);
    }
    CHECK_INT(0, pthread_join(ending.thread, NULL));
    CHECK_STATUS(SELENE_OK, ending.status);
    if (end == CLOSE) {
        scheduler = open_told_with(stored_options(file));
    } else {
        still(scheduler);
    }

    selene_task_info found = record(scheduler, "upload");
    if (answer == COMPLETES && grace > 0 && end != END_WINDOW) {
        CHECK_INT(SELENE_STATE_SUCCEEDED, found.state);
        CHECK_INT(1, found.attempts);
    } else {
        CHECK_INT(SELENE_STATE_ENQUEUED, found.state);
        CHECK_INT(0, found.attempts);
        CHECK_INT(SELENE_OUTCOME_STOPPED, found.last_outcome);
        CHECK_INT(SELENE_STOP_SHUTDOWN, found.stop_reason);
        CHECK_INT(START, found.earliest_begin);
        CHECK_INT(START, found.last_run);
        CHECK_INT(0, found.failed_at);
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* A close without grace waits for no callback. */
    wait_for("the end of the handler", &answering.destroyed, 1);
    if (end != STOP_DRIVER) wait_for("the end of the receiver", &receiver.destroyed, 1);
}

static void play_answers(enum end end, int64_t grace) {
    for (int answer = DEAF; answer <= COMPLETES; answer++)
        play(end, (enum answer)answer, grace);
}

static void test_driver(void) {
    play_answers(STOP_DRIVER, 0);
    play_answers(STOP_DRIVER, 10 * S);
}

static void test_drain(void) {
    play_answers(DRAIN_WINDOW, 0);
    play_answers(DRAIN_WINDOW, 10 * S);
}

static void test_end(void) {
    play_answers(END_WINDOW, 0);
}

static void test_close(void) {
    play_answers(CLOSE, 0);
    play_answers(CLOSE, 10 * S);
}

/* ---- giving back (V6) ----------------------------------------------------------------- */

/** A once task, and a run of it that was begun at START in a window of 100 s with a reserve of 10 s. */
static selene_run begin_one(selene_scheduler scheduler, selene_task task, selene_cycle *out_cycle) {
    selene_window window = window_of(100 * S, 10 * S, 1);
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    task.handler = SELENE_TEXT("work");
    add(scheduler, task);
    *out_cycle = begin(scheduler, window);
    return next(*out_cycle, task.id.data);
}

static void check_failure(selene_scheduler scheduler, const char *id, const char *text) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    CHECK_TEXT(text, info->failure);
    selene_free(info);
}

static void test_expiring(void) {
    selene_scheduler scheduler = open_told();
    selene_task task = once_of("a");
    selene_cycle cycle;
    selene_run run;
    task.max_attempts = 1;
    run = begin_one(scheduler, task, &cycle);
    reach(scheduler, START + 90 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_STOPPED));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_INT(0, record(scheduler, "a").attempts);
    CHECK_INT(START, record(scheduler, "a").earliest_begin);
    /* No window is long enough for it: it is not first in each. */
    CHECK_INT(START + 90 * S, record(scheduler, "a").last_run);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_not_asked(void) {
    selene_scheduler scheduler = open_told();
    selene_cycle cycle;
    selene_run run = begin_one(scheduler, once_of("a"), &cycle);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_STOPPED));
    CHECK_INT(SELENE_OUTCOME_FAILED, record(scheduler, "a").last_outcome);
    CHECK_INT(1, record(scheduler, "a").attempts);
    check_failure(scheduler, "a", "it said that it was stopped, but nothing had asked it to stop");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_timed_out(void) {
    selene_scheduler scheduler = open_told();
    const int32_t outcomes[] = {SELENE_OUTCOME_STOPPED, SELENE_OUTCOME_NO_DATA};
    for (int i = 0; i < 2; i++) {
        selene_task task = once_of(i == 0 ? "a" : "b");
        selene_cycle cycle;
        selene_run run;
        if (i > 0) CHECK_OK(selene_handler_unregister(scheduler, "work", -1));
        task.timeout = S;
        run = begin_one(scheduler, task, &cycle);
        reach(scheduler, present(scheduler) + S);
        CHECK_OK(selene_run_complete(run, outcomes[i]));
        CHECK_INT(SELENE_OUTCOME_FAILED, record(scheduler, task.id.data).last_outcome);
        CHECK_INT(1, record(scheduler, task.id.data).attempts);
        check_failure(scheduler, task.id.data, "timed out");
        CHECK_OK(selene_cycle_end(cycle, NULL));
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* *No data* of a once task that was asked to stop is no success of half the work; a standing task has looked. */
static void test_no_data(void) {
    selene_scheduler scheduler = open_told();
    selene_task standing = once_of("b");
    selene_cycle cycle;
    selene_run run = begin_one(scheduler, once_of("a"), &cycle);
    reach(scheduler, START + 90 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_INT(SELENE_OUTCOME_STOPPED, record(scheduler, "a").last_outcome);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(1, selene_task_cancel(scheduler, "a", -1, NULL) == SELENE_OK);
    CHECK_OK(selene_handler_unregister(scheduler, "work", -1));
    standing.schedule = SELENE_SCHEDULE_STANDING;
    run = begin_one(scheduler, standing, &cycle);
    reach(scheduler, START + 180 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
    CHECK_INT(SELENE_OUTCOME_NO_DATA, record(scheduler, "b").last_outcome);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- lanes, inline, and what time decides ----------------------------------------------- */

/* A thread of the host answers through its lane. */
static void test_lane(void) {
    const int32_t outcomes[] = {SELENE_OUTCOME_FAILED, SELENE_OUTCOME_STOPPED};
    for (int i = 0; i < 2; i++) {
        selene_scheduler scheduler = open_told();
        selene_window window = window_of(100 * S, 10 * S, 1);
        selene_run_info info = SELENE_INIT(selene_run_info);
        selene_cycle cycle;
        selene_lane lane = 0;
        int32_t step = -1;
        window.flags |= SELENE_WINDOW_LANES;
        CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
        add(scheduler, task_of("a"));
        cycle = begin(scheduler, window);
        CHECK_OK(selene_lane_open(cycle, &lane));
        CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        CHECK_OK(selene_cycle_drain(cycle, 10 * S));
        reach(scheduler, START + 9 * S);
        CHECK_OK(selene_lane_next(lane, outcomes[i], 0, &step, &info, NULL));
        CHECK_INT(SELENE_STEP_DONE, step);
        CHECK_INT(SELENE_OUTCOME_STOPPED, record(scheduler, "a").last_outcome);
        CHECK_INT(0, record(scheduler, "a").attempts);
        CHECK_OK(selene_lane_close(lane));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* A window whose own deadline is earlier than the grace ends as it would have: that is a deadline. */
static void test_deadline_first(void) {
    selene_scheduler scheduler = open_told();
    selene_cycle cycle;
    (void)begin_one(scheduler, once_of("a"), &cycle);
    CHECK_OK(selene_cycle_drain(cycle, H));
    reach(scheduler, START + 100 * S + 1);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, record(scheduler, "a").last_outcome);
    CHECK_INT(1, record(scheduler, "a").attempts);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- connected processes ---------------------------------------------------------------- */

static selene_scheduler connect_to(const char *file) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_scheduler member = 0;
    options.path = (selene_text){file, -1};
    options.pool = SELENE_TEXT("pool");
    CHECK_OK(selene_scheduler_connect(&options, &member));
    return member;
}

static selene_scheduler serve(const char *file) {
    selene_server_options terms = SELENE_INIT(selene_server_options);
    selene_options options = stored_options(file);
    selene_server server = 0;
    selene_scheduler owner;
    options.max_pending_processing = SELENE_UNLIMITED;
    owner = open_told_with(options);
    CHECK_OK(selene_server_start(owner, &terms, &server));
    return owner;
}

/* Its driver is stopped, or it closes: the owner asks its runs to stop, and an answer that is a failure is none. */
static void play_member(enum end end, enum answer answer, int64_t grace) {
    char name[32];
    snprintf(name, sizeof name, "member%d%d%d", end, answer, grace > 0);
    const char *file = file_named(name);
    struct answering answering = {.answer = answer};
    selene_scheduler owner = serve(file), member = connect_to(file);
    struct ending ending = {.end = end, .grace = grace, .scheduler = member};
    selene_task task = once_of("upload");
    task.max_attempts = 1;
    CHECK_OK(selene_handler_register(member, "upload", -1, begin_work, answer_stop, &answering,
                                     destroy_answering));
    add(owner, task);
    CHECK_OK(selene_driver_start(member, NULL));
    wait_for("the handler", &answering.started, 1);
    CHECK_INT(0, pthread_create(&ending.thread, NULL, ask_for_end, &ending));
    if (grace > 0) {
        WAIT_UNTIL(still(owner) == START + grace - grace / 10);
        CHECK_INT(0, atomic_load(&answering.asked));
        reach(owner, START + grace - grace / 10);
        wait_for("the stop", &answering.asked, 1);
        CHECK_INT(SELENE_STOP_SHUTDOWN, atomic_load(&answering.reason));
        CHECK_STATUS(SELENE_OK, atomic_load(&answering.status));
        reach(owner, START + grace + 1);
    }
    CHECK_INT(0, pthread_join(ending.thread, NULL));
    CHECK_STATUS(SELENE_OK, ending.status);
    selene_task_info found = record(owner, "upload");
    if (answer == COMPLETES && grace > 0) {
        CHECK_INT(SELENE_STATE_SUCCEEDED, found.state);
    } else {
        CHECK_INT(SELENE_STATE_ENQUEUED, found.state);
        CHECK_INT(0, found.attempts);
        CHECK_INT(SELENE_STOP_SHUTDOWN, found.stop_reason);
    }
    if (end != CLOSE) CHECK_OK(selene_scheduler_close(member, 0));
    wait_for("the end of the handler", &answering.destroyed, 1);
    CHECK_OK(selene_scheduler_close(owner, 0));
}

static void test_member_driver(void) {
    for (int answer = DEAF; answer <= COMPLETES; answer++) {
        play_member(STOP_DRIVER, (enum answer)answer, 0);
        play_member(STOP_DRIVER, (enum answer)answer, 10 * S);
    }
}

static void test_member_close(void) {
    for (int answer = DEAF; answer <= COMPLETES; answer++) {
        play_member(CLOSE, (enum answer)answer, 0);
        play_member(CLOSE, (enum answer)answer, 10 * S);
    }
}

/* Two processes share the window of their pool: one that drains it ends its own part. */
static void test_member_part(void) {
    const char *file = file_named("parts");
    selene_scheduler owner = serve(file);
    selene_scheduler members[] = {connect_to(file), connect_to(file)};
    selene_run runs[2];
    selene_cycle cycles[2];
    int32_t reason = -1;
    const char *const ids[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        selene_task task = once_of(ids[i]);
        CHECK_OK(selene_handler_register(members[i], ids[i], -1, NULL, NULL, NULL, NULL));
        add(owner, task);
    }
    for (int i = 0; i < 2; i++) {
        selene_window window = window_of(100 * S, 10 * S, 1);
        window.kinds = SELENE_KIND_PROCESSING;
        cycles[i] = begin(members[i], window);
        runs[i] = next(cycles[i], ids[i]);
    }
    CHECK_OK(selene_cycle_drain(cycles[0], 10 * S));
    reach(owner, START + 9 * S - 1);
    CHECK_OK(selene_run_stopping(runs[0], &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    reach(owner, START + 9 * S);
    CHECK_OK(selene_run_stopping(runs[0], &reason));
    CHECK_INT(SELENE_STOP_SHUTDOWN, reason);
    CHECK_OK(selene_run_stopping(runs[1], &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    reach(owner, START + 10 * S + 1);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(runs[0], SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(owner, "a").state);
    CHECK_INT(0, record(owner, "a").attempts);
    /* Nothing more is started for it. */
    next(cycles[0], NULL);
    CHECK_OK(selene_run_complete(runs[1], SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(owner, "b").state);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(selene_cycle_end(cycles[i], NULL));
        CHECK_OK(selene_scheduler_close(members[i], 0));
    }
    CHECK_OK(selene_scheduler_close(owner, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("V4 a driver that is stopped fails nothing", test_driver);
    run_test("V4 a window that is drained fails nothing", test_drain);
    run_test("V4 a window that is ended early fails nothing", test_end);
    run_test("V4 a close fails nothing", test_close);
    run_test("V4 a lane that answers the end of its window fails nothing", test_lane);
    run_test("V4 a deadline that comes before the end of a grace fails a run", test_deadline_first);
    run_test("V4 a connected process that stops its driver fails nothing", test_member_driver);
    run_test("V4 a connected process that closes fails nothing", test_member_close);
    run_test("V5 a process that drains a window which it shares ends its own part",
             test_member_part);
    run_test("V6 what is given back as its window expires lets others go first", test_expiring);
    run_test("V6 a run that nothing asked to stop cannot be given back", test_not_asked);
    run_test("V6 a timeout fails a run that is given back", test_timed_out);
    run_test("V6 no data of work that was cut short is no success", test_no_data);
    return check_end();
}
