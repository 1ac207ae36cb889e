/*
 * node.c - a scheduler whose tasks come from a fleet: what its node asks of the database, what becomes of the answers
 * (docs/rules.md, N13 to N28)
 *
 * The database is that of node.h. Argument: the filter of check.h.
 */
#include "node.h"

static selene_window rolling(int64_t budget, uint32_t lanes) {
    selene_window window = rolling_of(budget, 0, lanes);
    window.kinds = SELENE_KIND_REFRESH;
    return window;
}

static void add_name(selene_scheduler scheduler, const char *name) {
    CHECK_OK(selene_handler_register(scheduler, name, -1, NULL, NULL, NULL, NULL));
}

/** A scheduler on the clock of the test, its node, and a handler "work" for the class 1 of refresh tasks. */
static selene_scheduler open_node(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    options.max_pending_refresh = SELENE_UNLIMITED;
    scheduler = open_virtual(options);
    observe(scheduler);
    add_name(scheduler, "work");
    add_class(1, REFRESH, 0, NULL, "work");
    CHECK_OK(selene_node_open(scheduler, NULL, NULL));
    return scheduler;
}

/** That no task of this id is here. */
static void check_gone(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_get(scheduler, id, -1, 0, &info));
}

static int32_t stop_reason(selene_run run) {
    int32_t reason = -1;
    CHECK_OK(selene_run_stopping(run, &reason));
    return reason;
}

static int64_t fence_of(selene_run run) {
    int64_t fence = 0, task = 0;
    CHECK_OK(selene_run_fence(run, &fence, &task));
    CHECK_OK(selene_run_fence(run, &fence, NULL));
    CHECK(task > 0);
    return fence;
}

/** Takes the run of this job, whose turn it need not be: others that come before wait for their own call. */
static selene_run run_of(selene_cycle cycle, const char *id) {
    static struct {
        char id[16];
        selene_run run;
    } begun[16];
    static int count;
    for (int i = 0; i < count; i++) {
        if (strcmp(begun[i].id, id) != 0) continue;
        selene_run run = begun[i].run;
        begun[i] = begun[--count];
        return run;
    }
    for (;;) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t step = -1;
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        if (strcmp(info.id.data, id) == 0) return info.run;
        CHECK(count < (int)COUNT(begun));
        snprintf(begun[count].id, sizeof begun[count].id, "%s", info.id.data);
        begun[count++].run = info.run;
    }
}

/** Opens a window, claims for it and begins the runs of these jobs, in their order. */
static selene_cycle begin_claimed(selene_scheduler scheduler, uint32_t lanes) {
    selene_cycle cycle = begin(scheduler, rolling(10 * MIN, lanes));
    serve(scheduler);
    return cycle;
}

static uint32_t troubles(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info.troubles;
}

static void close_all(selene_scheduler scheduler) {
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- claims and decisions ---------------------------------------------------------- */

static void test_claim(void) {
    selene_scheduler scheduler = open_node();
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle = begin(scheduler, rolling(10 * MIN, 1));
    int32_t step = -1;
    int64_t fence = 0, task = 0;
    struct job *job = add_job("mail 1", 1);
    job->input = "a\0b";
    job->input_length = 3;
    job->priority = 5;
    job->estimate = 2 * S;
    job->attempt = 2;
    job->generation = 7;
    /* Before the fleet has said what there is the window waits. */
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    CHECK_INT(SELENE_NODE_JOINING, standing(scheduler).state);
    CHECK_INT(0, standing(scheduler).worker);
    serve(scheduler);
    CHECK_INT(1, base.hellos);
    CHECK_STRING("node", base.name);
    CHECK_INT(1, base.first);
    CHECK_INT(1, base.most);
    CHECK_INT(SELENE_NODE_WORKING, standing(scheduler).state);
    CHECK_INT(base.worker, standing(scheduler).worker);
    CHECK_INT(START + BELIEF, standing(scheduler).believes_until);
    CHECK_INT(1, standing(scheduler).working);

    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "mail 1").state);
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_TEXT("mail 1", info.id);
    CHECK_TEXT("work", info.handler);
    CHECK_INT(3, info.input.length);
    CHECK(memcmp("a\0b", info.input.data, 3) == 0);
    CHECK_INT(REFRESH, info.kind);
    CHECK_INT(5, info.priority);
    CHECK_INT(3, info.attempt);
    CHECK_INT(7, info.generation);
    CHECK_INT(2 * S, info.estimate);
    CHECK_OK(selene_run_fence(info.run, &fence, &task));
    CHECK_INT(job->run, fence);
    CHECK_INT(job->task, task);

    advance(1234 * MS);
    CHECK_OK(selene_run_set_output(info.run, "left\0over", 9));
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_fence(info.run, &fence, NULL));
    check_gone(scheduler, "mail 1");
    CHECK_INT(1, standing(scheduler).undecided);
    serve(scheduler);
    CHECK_INT(0, standing(scheduler).undecided);
    CHECK_INT(OVER, job->state);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, job->outcome);
    CHECK_INT(1234 * MS, job->response);
    CHECK_INT(-1, job->delay);
    CHECK_STRING("", job->failure);
    CHECK_INT(9, job->output_length);
    CHECK(memcmp("left\0over", job->output, 9) == 0);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/** Nobody said what they take: the first one shows it, and so the last seconds of a window are of use. */
static void test_likely(void) {
    selene_scheduler scheduler = open_node();
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    struct job *jobs[] = {add_job("a", 1), add_job("b", 1), add_job("c", 1)};
    for (size_t i = 0; i < COUNT(jobs); i++)
        jobs[i]->estimate = 5 * S;
    /* What waits for a lane is given back after the horizon. */
    selene_node_options options = SELENE_INIT(selene_node_options);
    options.horizon = 10 * S;
    CHECK_OK(selene_node_close(scheduler));
    CHECK_OK(selene_node_open(scheduler, &options, NULL));
    selene_cycle cycle = begin(scheduler, rolling(14 * S, 1));
    serve(scheduler);
    selene_run run = run_of(cycle, "a");
    advance(MS);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    serve(scheduler);
    run = run_of(cycle, "b");
    CHECK_INT(1, standing(scheduler).ready);
    serve_for(scheduler, 19 * S / 2);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_FAILED));
    serve(scheduler);
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_TEXT("c", info.id);
    CHECK_INT(MS, info.estimate);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/** What was claimed and does not fit any more does not keep a window open. */
/** Whatever the database says that a run takes. */
static void test_longest_estimate(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("as expected", 1), *longest;
    job->estimate = S;
    selene_cycle cycle = begin_claimed(scheduler, 1);
    selene_run run = run_of(cycle, "as expected");
    advance(S);
    complete(run);
    serve_for(scheduler, S);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    longest = add_job("longest", 1);
    longest->estimate = INT64_MAX;
    cycle = begin_claimed(scheduler, 1);
    complete(run_of(cycle, "longest"));
    serve_for(scheduler, S);
    CHECK_INT(1, longest->decided);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_does_not_fit(void) {
    selene_scheduler scheduler = open_node();
    struct job *slow = add_job("slow", 1), *late = add_job("late", 1);
    late->estimate = 5 * S;
    selene_cycle cycle = begin(scheduler, rolling(20 * S, 2));
    serve(scheduler);
    selene_run run = run_of(cycle, "slow");
    serve_for(scheduler, S / 2);
    CHECK_INT(2, standing(scheduler).working + standing(scheduler).ready);
    advance(16 * S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_FAILED));
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    serve(scheduler);
    CHECK_INT(0, late->attempt);
    CHECK_INT(0, standing(scheduler).working + standing(scheduler).ready);
    CHECK_INT(OVER, slow->state);
    close_all(scheduler);
}

/** A window of one lane, of one kind. */
static selene_cycle begin_of(selene_scheduler scheduler, uint32_t kinds) {
    selene_window window = rolling(10 * MIN, 1);
    window.kinds = kinds;
    return begin(scheduler, window);
}

static void test_lane_taken(void) {
    selene_scheduler scheduler = open_node();
    add_class(2, PROCESSING, 0, NULL, "work");
    struct job *slow = add_job("slow", 2);
    selene_cycle refresh = begin_of(scheduler, SELENE_KIND_REFRESH);
    selene_cycle processing = begin_of(scheduler, SELENE_KIND_PROCESSING);
    serve(scheduler);
    selene_run run = run_of(processing, "slow");
    /* There is a free lane, and it is the other kind's. */
    struct job *next = add_job("next", 2);
    serve_for(scheduler, 3 * S);
    CHECK_INT(1, next->given_back);
    CHECK_INT(0, next->attempt);
    struct job *quick = add_job("quick", 1);
    serve_for(scheduler, 2 * S);
    complete(run_of(refresh, "quick"));
    serve_for(scheduler, MIN);
    CHECK_INT(OVER, quick->state);
    CHECK_INT(1, next->given_back);
    CHECK_INT(WAITS, next->state);
    complete(run);
    serve_for(scheduler, 2 * S);
    complete(run_of(processing, "next"));
    serve_for(scheduler, S);
    CHECK_INT(OVER, slow->state);
    CHECK_INT(OVER, next->state);
    CHECK_INT(1, next->given_back);
    close_all(scheduler);
}

static void test_failures(void) {
    selene_scheduler scheduler = open_node();
    struct job *retried = add_job("retried", 1), *failed = add_job("failed", 1),
               *abandoned = add_job("abandoned", 1), *expired = add_job("expired", 1);
    selene_cycle cycle = begin_claimed(scheduler, 4);
    serve(scheduler);
    CHECK_INT(4, standing(scheduler).working);
    selene_run run = run_of(cycle, "retried");
    CHECK_OK(selene_run_fail(run, SELENE_OUTCOME_FAILED, 90 * S, "no answer from the host", -1));
    run = run_of(cycle, "failed");
    CHECK_OK(selene_run_set_output(run, "kept by none", 12));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_FAILED));
    run = run_of(cycle, "abandoned");
    CHECK_OK(selene_run_fail(run, SELENE_OUTCOME_ABANDONED, -1, "no such mailbox", -1));
    run_of(cycle, "expired");
    serve_for(scheduler, 10 * MIN + S);
    CHECK_INT(SELENE_OUTCOME_FAILED, retried->outcome);
    CHECK_INT(90 * S, retried->delay);
    CHECK_STRING("no answer from the host", retried->failure);
    CHECK_INT(SELENE_OUTCOME_FAILED, failed->outcome);
    CHECK_INT(-1, failed->delay);
    CHECK_INT(-1, failed->output_length);
    CHECK_INT(SELENE_OUTCOME_ABANDONED, abandoned->outcome);
    CHECK_STRING("no such mailbox", abandoned->failure);
    CHECK_INT(SELENE_OUTCOME_EXPIRED, expired->outcome);
    CHECK_INT(1, expired->decided);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_window_waits(void) {
    selene_scheduler scheduler = open_node();
    selene_cycle cycle = begin(scheduler, rolling(10 * MIN, 1));
    int64_t at = 0;
    /* As long as it asks, and soon again: the host has nothing that wakes it here. */
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, &at));
    CHECK_BETWEEN(START + 1, at, START + S);
    CHECK_INT(1, serve_one(scheduler));
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    CHECK_INT(1, serve_one(scheduler));
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    CHECK_INT(1, serve_one(scheduler));
    CHECK_INT(1, base.claims);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* Where it knows that there is nothing it asks again no sooner than after its poll. */
    cycle = begin(scheduler, rolling(10 * MIN, 1));
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    serve(scheduler);
    CHECK_INT(2, base.claims);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    /* A hint makes it look at once. */
    struct job *job = add_job("late", 1);
    serve(scheduler);
    CHECK_INT(WAITS, job->state);
    CHECK_OK(selene_node_hint(scheduler));
    serve(scheduler);
    CHECK_INT(RUNS, job->state);
    complete(run_of(cycle, "late"));
    serve(scheduler);
    CHECK_INT(OVER, job->state);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* One that does not roll has nothing of the fleet, and waits for nothing. */
    cycle = begin(scheduler, window_of(10 * MIN, 0, 1));
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    add_job("later", 1);
    serve_for(scheduler, MIN);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_window_ends(void) {
    selene_scheduler scheduler = open_node();
    struct job *jobs[8];
    static const char *const ids[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (int i = 0; i < 8; i++)
        jobs[i] = add_job(ids[i], 1);
    selene_cycle cycle = begin_claimed(scheduler, 2);
    /* The horizon has place for all of them; two of them may begin. */
    CHECK_INT(2, standing(scheduler).working);
    CHECK_INT(6, standing(scheduler).ready);
    selene_run run = run_of(cycle, "a");
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "b").state);
    check_gone(scheduler, "c");
    complete(run);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "c").state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    check_gone(scheduler, "b");
    check_gone(scheduler, "c");
    CHECK_INT(0, standing(scheduler).working);
    CHECK_INT(0, standing(scheduler).ready);
    advance(S);
    serve(scheduler);
    CHECK_INT(OVER, jobs[0]->state);
    for (int i = 1; i < 8; i++) {
        CHECK_INT(WAITS, jobs[i]->state);
        CHECK_INT(1, jobs[i]->given_back);
        CHECK_INT(0, jobs[i]->attempt);
    }
    close_all(scheduler);
}

static void test_room(void) {
    selene_scheduler scheduler = open_node();
    selene_cycle cycle;
    struct job *long_one = add_job("long", 1);
    struct job *short_one = add_job("short", 1);
    struct job *other = add_job("longer than what is left", 1);
    long_one->estimate = H;
    short_one->estimate = 10 * MS;
    other->estimate = 2 * MIN;
    cycle = begin(scheduler, rolling(MIN, 2));
    /* The first of a window comes whatever it takes (C3); after it what ends in the window. */
    serve(scheduler);
    CHECK_INT(0, base.first);
    CHECK_INT(MIN, base.room);
    CHECK_INT(RUNS, long_one->state);
    CHECK_INT(RUNS, short_one->state);
    CHECK_INT(WAITS, other->state);
    run_of(cycle, "long");
    run_of(cycle, "short");
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/* ---- what is not claimed ----------------------------------------------------------- */

static void test_not_served(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_node_options node = SELENE_INIT(selene_node_options);
    const selene_text labels[] = {SELENE_TEXT("gpu"), SELENE_TEXT("eu")};
    const selene_text queues[] = {SELENE_TEXT("mail"), SELENE_TEXT("pictures")};
    options.max_pending_refresh = SELENE_UNLIMITED;
    selene_scheduler scheduler = open_virtual(options);
    node.schema = SELENE_TEXT("a \"fleet\"");
    node.name = SELENE_TEXT("host:1");
    node.labels = labels;
    node.label_count = 2;
    node.queues = queues;
    node.queue_count = 2;
    CHECK_OK(selene_node_open(scheduler, &node, NULL));
    add_name(scheduler, "work");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_EXTERNAL_POWER));
    add_class(1, REFRESH, 0, NULL, "no such handler");
    add_class(2, REFRESH, 0, "tape", "work");
    add_class(3, REFRESH, SELENE_CONSTRAINT_NETWORK, NULL, "work");
    add_class(4, PROCESSING, 0, NULL, "work");
    add_class(5, REFRESH, SELENE_CONSTRAINT_EXTERNAL_POWER, "gpu", "work");
    struct job *other = add_job("of another handler", 1), *tape = add_job("needs a tape", 2),
               *network = add_job("needs network", 3), *processing = add_job("of processing", 4),
               *here = add_job("here", 5);
    selene_cycle cycle = begin_claimed(scheduler, 4);
    CHECK_STRING("host:1", base.name);
    CHECK_STRING("mail", base.queues);
    CHECK_INT(RUNS, here->state);
    complete(run_of(cycle, "here"));
    serve_for(scheduler, 5 * S);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_INT(WAITS, other->state);
    CHECK_INT(WAITS, tape->state);
    CHECK_INT(WAITS, network->state);
    CHECK_INT(WAITS, processing->state);
    CHECK_INT(0, standing(scheduler).working + standing(scheduler).ready);
    CHECK_OK(selene_cycle_end(cycle, NULL));

    /* Each comes when that is different. */
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    add_name(scheduler, "no such handler");
    cycle = begin_claimed(scheduler, 4);
    complete(run_of(cycle, "of another handler"));
    complete(run_of(cycle, "needs network"));
    serve_for(scheduler, 5 * S);
    CHECK_INT(OVER, other->state);
    CHECK_INT(OVER, network->state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    selene_window window = rolling(MIN, 1);
    window.kinds = PROCESSING;
    cycle = begin(scheduler, window);
    serve(scheduler);
    complete(run_of(cycle, "of processing"));
    serve_for(scheduler, 5 * S);
    CHECK_INT(OVER, processing->state);
    CHECK_INT(WAITS, tape->state);
    /* A kind that is switched off has nothing to do. */
    struct job *late = add_job("late", 4);
    CHECK_OK(selene_scheduler_enable(scheduler, REFRESH));
    serve_for(scheduler, 5 * S);
    CHECK_INT(WAITS, late->state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/** What was claimed and cannot run here any more goes back at once, whatever else the window has. */
static void test_no_longer_served(void) {
    selene_scheduler scheduler = open_node();
    add_name(scheduler, "other");
    add_class(2, REFRESH, 0, NULL, "other");
    add_class(3, REFRESH, SELENE_CONSTRAINT_NETWORK, NULL, "work");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    add_job("long", 1);
    selene_cycle cycle = begin_claimed(scheduler, 3);
    selene_run run = run_of(cycle, "long");
    struct job *other = add_job("other", 2), *network = add_job("network", 3);
    serve_for(scheduler, 2 * S);
    CHECK_INT(3, standing(scheduler).working);
    CHECK_OK(selene_handler_unregister(scheduler, "other", -1));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, 0));
    serve_for(scheduler, 2 * S);
    CHECK_INT(1, other->given_back);
    CHECK_INT(1, network->given_back);
    CHECK_INT(1, standing(scheduler).working);
    check_gone(scheduler, "other");
    /* Nor is it claimed until it can. */
    serve_for(scheduler, MIN);
    CHECK_INT(1, other->given_back + (other->state != WAITS));
    add_name(scheduler, "other");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    serve_for(scheduler, 5 * S);
    complete(run_of(cycle, "other"));
    complete(run_of(cycle, "network"));
    complete(run);
    serve_for(scheduler, S);
    CHECK_INT(1, other->decided);
    CHECK_INT(1, network->decided);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_drained(void) {
    selene_scheduler scheduler = open_node();
    struct job *first = add_job("first", 1), *second = add_job("second", 1);
    selene_cycle cycle = begin_claimed(scheduler, 1);
    selene_run run = run_of(cycle, "first");
    CHECK_INT(1, standing(scheduler).ready);
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_scheduler_drain(scheduler, 0));
    CHECK_INT(0, standing(scheduler).ready);
    serve_for(scheduler, S);
    CHECK_INT(1, second->given_back);
    complete(run);
    serve_for(scheduler, 5 * S);
    CHECK_INT(OVER, first->state);
    CHECK_INT(WAITS, second->state);
    CHECK_OK(selene_scheduler_resume(scheduler));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    cycle = begin_claimed(scheduler, 1);
    complete(run_of(cycle, "second"));
    serve_for(scheduler, S);
    CHECK_INT(OVER, second->state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_cannot_run(void) {
    selene_scheduler scheduler = open_node();
    static char large[10241];
    struct job *local = add_job("local", 1), *input = add_job("input", 1),
               *here = add_job("here", 1);
    input->input = large;
    input->input_length = sizeof large;
    selene_task task = refresh_once("local", 3);
    task.handler = SELENE_TEXT("work");
    task.initial_delay = H;
    add(scheduler, task);
    selene_cycle cycle = begin_claimed(scheduler, 4);
    complete(run_of(cycle, "here"));
    serve_for(scheduler, S);
    CHECK_INT(SELENE_OUTCOME_FAILED, local->outcome);
    CHECK(strstr(local->failure, "is a task of this process, too") != NULL);
    CHECK_INT(SELENE_OUTCOME_FAILED, input->outcome);
    CHECK(strstr(input->failure, "input") && strstr(input->failure, "10240"));
    CHECK_INT(1, here->decided);
    /* What is of this process has not changed. */
    CHECK_INT(START + H, record(scheduler, "local").earliest_begin);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_limits(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = 2;
    selene_scheduler scheduler = open_virtual(options);
    add_name(scheduler, "work");
    add_class(1, REFRESH, 0, NULL, "work");
    CHECK_OK(selene_node_open(scheduler, NULL, NULL));
    static const char *const ids[] = {"a", "b", "c", "d"};
    selene_run runs[4];
    struct job *jobs[4];
    for (int i = 0; i < 4; i++)
        jobs[i] = add_job(ids[i], 1);
    selene_cycle cycle = begin_claimed(scheduler, 4);
    for (int i = 0; i < 4; i++)
        runs[i] = run_of(cycle, ids[i]);
    /* They take the places of what this process registers, as all that is pending. */
    selene_task task = refresh_once("mine", 3);
    CHECK_STATUS(SELENE_ERROR_TOO_MANY_PENDING, selene_task_register(scheduler, &task, NULL));
    for (int i = 0; i < 4; i++)
        complete(runs[i]);
    add(scheduler, task);
    serve_for(scheduler, S);
    for (int i = 0; i < 4; i++)
        CHECK_INT(SELENE_OUTCOME_NO_DATA, jobs[i]->outcome), CHECK_INT(1, jobs[i]->decided);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/* ---- stopped runs ------------------------------------------------------------------ */

static void test_stopped(void) {
    selene_scheduler scheduler = open_node();
    add_class(2, REFRESH, SELENE_CONSTRAINT_NETWORK, NULL, "work");
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    struct job *cancelled = add_job("cancelled", 1), *constrained = add_job("constrained", 2),
               *ended = add_job("ended", 1);
    selene_cycle cycle = begin_claimed(scheduler, 3);
    uint64_t count = 0;
    selene_run runs[3] = {run_of(cycle, "cancelled"), run_of(cycle, "constrained"),
                          run_of(cycle, "ended")};
    CHECK_OK(selene_task_cancel(scheduler, "cancelled", -1, &count));
    CHECK_INT(1, count);
    CHECK_OK(selene_conditions_set(scheduler, BOTH, SELENE_CONSTRAINT_EXTERNAL_POWER));
    serve_for(scheduler, S);
    CHECK_INT(SELENE_STOP_CANCELLED, stop_reason(runs[0]));
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, stop_reason(runs[1]));
    /* Their handlers may be at work: for the fleet they run until they have come back. */
    CHECK_INT(RUNS, cancelled->state);
    CHECK_INT(RUNS, constrained->state);
    CHECK_INT(3, standing(scheduler).working);
    check_gone(scheduler, "constrained");
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(runs[0], SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(runs[1], SELENE_OUTCOME_FAILED));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    serve_for(scheduler, S);
    CHECK_INT(1, cancelled->given_back);
    CHECK_INT(1, constrained->given_back);
    /* That the host ends the window before its deadline fails nothing, either. */
    CHECK_INT(RUNS, ended->state);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(runs[2], SELENE_OUTCOME_NEW_DATA));
    serve_for(scheduler, S);
    CHECK_INT(1, ended->given_back);
    CHECK_INT(0, cancelled->decided + constrained->decided + ended->decided);
    CHECK_INT(0, standing(scheduler).working);
    close_all(scheduler);
}

static void test_never_back(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1);
    selene_cycle cycle = begin_claimed(scheduler, 1);
    run_of(cycle, "job");
    CHECK_OK(selene_task_cancel(scheduler, "job", -1, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    serve_for(scheduler, 9 * MIN);
    CHECK_INT(0, job->given_back);
    /* After release_after nobody waits for it any more (C4). */
    serve_for(scheduler, 2 * MIN);
    CHECK_INT(1, job->given_back);
    close_all(scheduler);
}

/* ---- lost runs --------------------------------------------------------------------- */

static void test_lost(void) {
    selene_scheduler scheduler = open_node();
    struct job *cancelled = add_job("cancelled", 1), *taken = add_job("taken", 1),
               *waiting = add_job("waiting", 1), *ready = add_job("ready", 1);
    selene_cycle cycle = begin_claimed(scheduler, 3);
    selene_run run = run_of(cycle, "cancelled"), other = run_of(cycle, "taken");
    CHECK_INT(1, standing(scheduler).ready);
    lose_job(cancelled, SELENE_STOP_CANCELLED);
    lose_job(taken, 99);
    lose_job(waiting, SELENE_STOP_REPLACED);
    lose_job(ready, SELENE_STOP_CANCELLED);
    CHECK_INT(SELENE_STOP_NONE, stop_reason(run));
    /* The beat tells all that it has, and hears of it. */
    serve_for(scheduler, 10 * S);
    CHECK_INT(SELENE_STOP_CANCELLED, stop_reason(run));
    CHECK_INT(SELENE_STOP_INTERRUPTED, stop_reason(other));
    check_gone(scheduler, "waiting");
    CHECK_INT(0, standing(scheduler).ready);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(other, SELENE_OUTCOME_NEW_DATA));
    serve_for(scheduler, 10 * S);
    CHECK_INT(0, base.held);
    CHECK_INT(0, cancelled->decided + taken->decided + waiting->decided + ready->decided);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_lease_lost(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1), *second = add_job("second", 1),
               *third = add_job("third", 1);
    selene_cycle cycle = begin_claimed(scheduler, 2);
    selene_run run = run_of(cycle, "job");
    int64_t left = 0;
    CHECK_INT(1, standing(scheduler).ready);
    base.fault = NO_CONNECTION;
    serve_for(scheduler, BELIEF - MS);
    CHECK_INT(SELENE_STOP_NONE, stop_reason(run));
    CHECK_INT(SELENE_NODE_JOINING, standing(scheduler).state);
    serve_for(scheduler, MS);
    CHECK_INT(SELENE_STOP_LEASE_LOST, stop_reason(run));
    CHECK_INT(1, count_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_LEASE_LOST));
    /* It may still complete, and is told when the database answers; what was not begun is none of this node's. */
    CHECK_OK(selene_run_remaining(run, &left));
    CHECK_INT(0, left);
    check_gone(scheduler, "second");
    CHECK_INT(0, standing(scheduler).ready);
    advance(S);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, standing(scheduler).undecided);
    base.fault = NONE;
    serve_for(scheduler, 10 * S);
    CHECK_INT(2, base.hellos);
    CHECK_INT(1, base.byes);
    CHECK_INT(1, job->decided);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, job->outcome);
    CHECK_INT(BELIEF + S, job->response);
    /* The others were claimed anew. */
    CHECK_INT(2, second->worker);
    complete(run_of(cycle, "second"));
    complete(run_of(cycle, "third"));
    serve_for(scheduler, S);
    CHECK_INT(OVER, third->state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/** The task of a run that was lost comes to the same node again while the run is still at work. */
static void test_lost_and_claimed(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1);
    selene_cycle cycle = begin_claimed(scheduler, 2);
    selene_run run = run_of(cycle, "job");
    base.fault = NO_CONNECTION;
    serve_for(scheduler, 2 * LEASE);
    CHECK_INT(SELENE_STOP_LEASE_LOST, stop_reason(run));
    /* Another node took it back. */
    base.is_over[1] = 1;
    job->run = ++base.last_run;
    give_back(job);
    base.fault = NONE;
    serve_for(scheduler, 10 * S);
    CHECK_INT(RUNS, job->state);
    CHECK_INT(2, job->worker);
    CHECK_INT(2, standing(scheduler).working);
    CHECK_INT(0, job->decided);
    /* The word of the lost run is stale, and its task begins. */
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_FAILED));
    serve_for(scheduler, S);
    CHECK_INT(0, job->decided);
    CHECK_INT(RUNS, job->state);
    complete(run_of(cycle, "job"));
    serve_for(scheduler, S);
    CHECK_INT(1, job->decided);
    CHECK_INT(SELENE_OUTCOME_NO_DATA, job->outcome);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/* ---- no answer --------------------------------------------------------------------- */

/** The turn that tells of a run has no answer. */
static void lose_turn(enum fault fault) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1), *second = add_job("second", 1);
    selene_cycle cycle = begin_claimed(scheduler, 1);
    complete(run_of(cycle, "job"));
    const int was_made = fault == ANSWER_LOST;
    base.fault = fault;
    base.of = "turn(";
    CHECK_INT(1, serve_one(scheduler));
    CHECK_INT(was_made, job->decided);
    if (fault == SILENCE) {
        /* A late answer, too, counts for nothing. */
        CHECK_INT(0, serve_one(scheduler));
        advance(WAIT_FOR_ANSWER);
        CHECK_INT(0, serve_one(scheduler));
    }
    CHECK_INT(1, standing(scheduler).undecided);
    CHECK_INT(SELENE_TROUBLE_FLEET, troubles(scheduler));
    base.fault = NONE;
    serve_for(scheduler, 10 * S);
    CHECK_INT(0, troubles(scheduler));
    CHECK_INT(2, base.hellos);
    CHECK_INT(1, base.fates);
    CHECK_INT(1, job->decided);
    CHECK_INT(0, standing(scheduler).undecided);
    complete(run_of(cycle, "second"));
    serve_for(scheduler, S);
    CHECK_INT(1, second->decided);
    CHECK_INT(1, base.byes);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_answer_lost(void) {
    lose_turn(ANSWER_LOST);
}
static void test_call_lost(void) {
    lose_turn(CALL_LOST);
}
static void test_silence(void) {
    lose_turn(SILENCE);
}
static void test_nonsense(void) {
    lose_turn(NONSENSE);
}

/** Of a decision whose record somebody is at nothing is said: it is asked about, and sent again, now and then. */
static void test_busy_record(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1), *second = add_job("second", 1), *third;
    selene_cycle cycle = begin_claimed(scheduler, 2);
    job->is_busy = 1;
    complete(run_of(cycle, "job"));
    complete(run_of(cycle, "second"));
    serve_for(scheduler, S);
    const int turns = base.turns;
    third = add_job("third", 1);
    serve_for(scheduler, 20 * S);
    CHECK_INT(1, second->decided);
    CHECK_INT(0, job->decided);
    CHECK_INT(1, standing(scheduler).undecided);
    /* A poll apart, each asked once and sent once, beside what is looked for. */
    CHECK(base.fates >= 5 && base.fates <= 22);
    CHECK(base.turns - turns <= 44);
    /* Everything else goes on. */
    CHECK_INT(1, base.hellos);
    CHECK_INT(0, troubles(scheduler));
    complete(run_of(cycle, "third"));
    serve(scheduler);
    CHECK_INT(1, third->decided);
    job->is_busy = 0;
    serve_for(scheduler, 3 * S);
    CHECK_INT(1, job->decided);
    CHECK_INT(0, standing(scheduler).undecided);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/** The answer to a claim is lost: nobody here knows of its runs, and bye gives them back. */
static void test_claim_lost(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1);
    base.fault = ANSWER_LOST;
    base.of = "turn(";
    selene_cycle cycle = begin(scheduler, rolling(10 * MIN, 1));
    serve(scheduler);
    CHECK_INT(RUNS, job->state);
    CHECK_INT(1, job->worker);
    /* With trouble a window does not wait. */
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    base.fault = NONE;
    serve_for(scheduler, 5 * S);
    CHECK_INT(1, job->given_back);
    CHECK_INT(2, job->worker);
    complete(run_of(cycle, "job"));
    serve_for(scheduler, S);
    CHECK_INT(OVER, job->state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void check_told(int index, int active, const char *words, const char *others) {
    CHECK_INT(SELENE_EVENT_TROUBLE, noted[index].event.type);
    CHECK_INT(SELENE_TROUBLE_FLEET, noted[index].event.detail);
    CHECK_INT(active, noted[index].event.status != SELENE_OK);
    if (!active) return;
    CHECK_INT(SELENE_ERROR_UNAVAILABLE, noted[index].event.status);
    CHECK(strstr(noted[index].message, words) != NULL);
    CHECK(strstr(noted[index].message, others) != NULL);
}

static void test_trouble(void) {
    selene_scheduler scheduler = open_node();
    int last;
    base.fault = NO_CONNECTION;
    serve_for(scheduler, S);
    CHECK_INT(1, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    last = atomic_load(&noted_count) - 1;
    check_told(last, 1, "does not answer", "connection refused");
    CHECK_INT(SELENE_TROUBLE_FLEET, troubles(scheduler));
    /* It is told once, and its end once. */
    serve_for(scheduler, MIN);
    CHECK_INT(1, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    base.fault = NONE;
    serve_for(scheduler, 10 * S);
    CHECK_INT(2, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    check_told(atomic_load(&noted_count) - 1, 0, "", "");
    CHECK_INT(0, troubles(scheduler));
    /* What the database says of a refusal. */
    base.fault = REFUSAL;
    base.sqlstate = "42501";
    serve_for(scheduler, 10 * S);
    CHECK_INT(3, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    last = atomic_load(&noted_count) - 1;
    check_told(last, 1, "42501", "permission denied for function hello");
    base.fault = NONE;
    serve_for(scheduler, 10 * S);
    CHECK_INT(4, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    /* What it said then is not why it is silent now. */
    serve_for(scheduler, MIN);
    base.fault = SILENCE;
    serve_for(scheduler, 10 * S);
    CHECK_INT(5, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    last = atomic_load(&noted_count) - 1;
    check_told(last, 1, "does not answer", "");
    CHECK(strstr(noted[last].message, "permission denied") == NULL);
    /* A refusal is worse than silence, and told at once; that it became another, or silence again, a minute later. */
    base.fault = REFUSAL;
    base.sqlstate = "25006";
    serve_for(scheduler, 20 * S);
    CHECK_INT(6, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    check_told(atomic_load(&noted_count) - 1, 1, "25006", "");
    base.sqlstate = "42501";
    serve_for(scheduler, 30 * S);
    CHECK_INT(6, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    serve_for(scheduler, MIN);
    CHECK_INT(7, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    check_told(atomic_load(&noted_count) - 1, 1, "42501", "permission denied");
    base.fault = NO_CONNECTION;
    serve_for(scheduler, 2 * MIN);
    CHECK_INT(8, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    check_told(atomic_load(&noted_count) - 1, 1, "does not answer", "connection refused");
    CHECK_INT(SELENE_TROUBLE_FLEET, troubles(scheduler));
    base.fault = NONE;
    serve_for(scheduler, 10 * S);
    /* Who closes the node has no trouble with it. What comes and goes is told once a minute. */
    serve_for(scheduler, MIN);
    base.fault = NO_CONNECTION;
    serve_for(scheduler, 10 * S);
    CHECK_INT(SELENE_TROUBLE_FLEET, troubles(scheduler));
    CHECK_OK(selene_node_close(scheduler));
    CHECK_INT(0, troubles(scheduler));
    CHECK_INT(11, count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_FLEET));
    close_all(scheduler);
}

/* ---- drivers ------------------------------------------------------------------------ */

/** A scheduler with a driver that the test steps, and a handler for both kinds. */
static selene_scheduler open_driven(void) {
    selene_scheduler scheduler = open_node();
    selene_driver driver = SELENE_INIT(selene_driver);
    add_class(2, PROCESSING, 0, NULL, "work");
    CHECK_OK(selene_driver_open(scheduler, &driver, NULL));
    return scheduler;
}

static selene_cycle step_driver(selene_scheduler scheduler) {
    selene_cycle cycle = 0;
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    return cycle;
}

static void test_driver(void) {
    selene_scheduler scheduler = open_driven();
    struct job *one = add_job("one", 1), *two = add_job("two", 1), *three = add_job("three", 2);
    CHECK_INT(0, step_driver(scheduler));
    serve(scheduler);
    /* One of what there is, as there is nothing to open a window for before. */
    CHECK_INT(RUNS, one->state);
    CHECK_INT(WAITS, two->state);
    selene_cycle cycle = step_driver(scheduler);
    CHECK(cycle != 0);
    serve(scheduler);
    complete(run_of(cycle, "one"));
    complete(run_of(cycle, "two"));
    serve(scheduler);
    CHECK_INT(OVER, two->state);
    selene_cycle other = step_driver(scheduler);
    CHECK(other != 0 && other != cycle);
    complete(run_of(other, "three"));
    serve(scheduler);
    CHECK_INT(OVER, three->state);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_INT(SELENE_STEP_DONE, step_of(other, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_end(other, NULL));
    CHECK_OK(selene_driver_stop(scheduler, 0));
    /* Without a driver nothing is claimed for windows that nobody has opened. */
    add_job("four", 1);
    int claims = base.claims;
    serve_for(scheduler, MIN);
    CHECK_INT(claims, base.claims);
    close_all(scheduler);
}

static void test_driver_refused(void) {
    selene_scheduler scheduler = open_driven();
    const selene_rule rule = veto_of(SELENE_FACTOR_METERED, EACH, 0);
    set_rules(scheduler, &rule, 1);
    say(scheduler, SELENE_SIGNAL_METERED, 1);
    struct job *job = add_job("job", 1);
    serve(scheduler);
    CHECK_INT(RUNS, job->state);
    /* The governor says no, and another node may have it. */
    CHECK_INT(0, step_driver(scheduler));
    check_gone(scheduler, "job");
    serve_for(scheduler, S);
    CHECK_INT(1, job->given_back);
    /* It is not claimed and given back again and again meanwhile. */
    serve_for(scheduler, 50 * S);
    CHECK_INT(1, job->given_back);
    CHECK_INT(WAITS, job->state);
    serve_for(scheduler, 12 * S);
    CHECK_INT(RUNS, job->state);
    say(scheduler, SELENE_SIGNAL_METERED, 0);
    selene_cycle cycle = step_driver(scheduler);
    CHECK(cycle != 0);
    complete(run_of(cycle, "job"));
    serve(scheduler);
    CHECK_INT(OVER, job->state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_no_window(void) {
    selene_scheduler scheduler = open_driven();
    struct job *job = add_job("job", 1);
    serve(scheduler);
    CHECK_INT(RUNS, job->state);
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "job").state);
    /* Nobody steps the driver. */
    serve_for(scheduler, 10 * S - MS);
    CHECK_INT(RUNS, job->state);
    serve_for(scheduler, S);
    CHECK_INT(1, job->given_back);
    check_gone(scheduler, "job");
    /* Another node may have it; this one looks again after a minute. */
    serve_for(scheduler, 58 * S);
    CHECK_INT(WAITS, job->state);
    CHECK_INT(1, job->given_back);
    serve_for(scheduler, 2 * S);
    CHECK_INT(RUNS, job->state);
    close_all(scheduler);
}

/* ---- pools ---------------------------------------------------------------------------- */

/** Serves a scheduler to members; the path of its socket. */
static const char *serve_members(selene_scheduler scheduler) {
    static char socket[64];
    selene_server_options options = SELENE_INIT(selene_server_options);
    selene_server server = 0;
    char folder[] = "/tmp/node-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    snprintf(socket, sizeof socket, "%s/socket", folder);
    options.path = (selene_text){socket, -1};
    CHECK_OK(selene_server_start(scheduler, &options, &server));
    return socket;
}

/** A member of a pool with a handler of the same name, for the refresh tasks of a class. */
static selene_scheduler member_of(const char *socket, const char *pool, int32_t class_number) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_scheduler member = 0;
    options.path = (selene_text){socket, -1};
    options.pool = (selene_text){pool, -1};
    CHECK_OK(selene_scheduler_connect(&options, &member));
    add_name(member, pool);
    add_class(class_number, REFRESH, 0, NULL, pool);
    return member;
}

/** A driver whose windows of 10 min have two lanes. */
static void drive(selene_scheduler member) {
    selene_driver driver = SELENE_INIT(selene_driver);
    driver.refresh_budget = 10 * MIN;
    driver.refresh_lanes = 2;
    CHECK_OK(selene_driver_open(member, &driver, NULL));
}

static void close_served(selene_scheduler scheduler, const char *socket) {
    char folder[64];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(socket, '/') - socket), socket);
    close_all(scheduler);
    CHECK(rmdir(folder) == 0);
}

/** A long run in the window of one pool keeps nothing from another, whose driver takes part in what was granted. */
static void test_other_pools_window(void) {
    selene_scheduler scheduler = open_node();
    const char *socket = serve_members(scheduler);
    selene_scheduler a = member_of(socket, "a", 2), b = member_of(socket, "b", 3);
    drive(a);
    drive(b);
    struct job *slow = add_job("slow", 2);
    serve(scheduler);
    selene_cycle cycle = step_driver(a);
    CHECK(cycle != 0);
    selene_run run = run_of(cycle, "slow");
    struct job *others = add_job("others", 3), *next = add_job("next", 2);
    serve_for(scheduler, 2 * S);
    selene_cycle beside = step_driver(b);
    CHECK(beside != 0);
    complete(run_of(beside, "others"));
    serve(scheduler);
    CHECK_INT(OVER, others->state);
    CHECK_INT(RUNS, slow->state);
    complete(run_of(cycle, "next"));
    complete(run);
    serve(scheduler);
    CHECK_INT(OVER, slow->state);
    CHECK_INT(OVER, next->state);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_end(beside, NULL));
    CHECK_INT(0, others->given_back);
    close_served(scheduler, socket);
}

/** A member that has neither a window nor a driver runs nothing, and keeps nobody. */
static void test_pool_without_window(void) {
    selene_scheduler scheduler = open_node();
    const char *socket = serve_members(scheduler);
    selene_scheduler a = member_of(socket, "a", 2), c = member_of(socket, "c", 3);
    struct job *idle = add_job("idle", 3), *own = add_job("own", 1), *job = add_job("job", 2);
    serve_for(scheduler, S);
    CHECK_INT(0, base.claims);
    drive(a);
    serve_for(scheduler, S);
    CHECK_INT(RUNS, job->state);
    selene_cycle cycle = step_driver(a);
    CHECK(cycle != 0);
    complete(run_of(cycle, "job"));
    serve_for(scheduler, 2 * S);
    CHECK_INT(OVER, job->state);
    CHECK_INT(0, idle->attempt + idle->given_back);
    CHECK_INT(0, own->attempt + own->given_back);
    /* With a window of its own it takes part. */
    selene_cycle its = begin(c, rolling(10 * MIN, 1));
    serve_for(scheduler, 2 * S);
    complete(run_of(its, "idle"));
    serve(scheduler);
    CHECK_INT(OVER, idle->state);
    CHECK_INT(WAITS, own->state);
    close_served(scheduler, socket);
}

/** What waits for a lane of its pool goes back, though one of another is free, which goes on. */
static void test_pool_stuck(void) {
    selene_scheduler scheduler = open_node();
    const char *socket = serve_members(scheduler);
    selene_scheduler a = member_of(socket, "a", 2), b = member_of(socket, "b", 3);
    struct job *slow = add_job("slow", 3);
    selene_cycle its = begin(b, rolling(10 * MIN, 1)), cycle = begin(a, rolling(10 * MIN, 1));
    serve(scheduler);
    selene_run run = run_of(its, "slow");
    struct job *next = add_job("next", 3);
    CHECK_OK(selene_node_hint(scheduler));
    serve(scheduler);
    CHECK_INT(RUNS, next->state);
    /* It is of another pool, and does not end this one's window. */
    CHECK_OK(selene_node_hint(scheduler));
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    serve_for(scheduler, 3 * S);
    CHECK_INT(1, next->given_back);
    CHECK_INT(0, next->attempt);
    struct job *quick = add_job("quick", 2);
    serve_for(scheduler, 2 * S);
    complete(run_of(cycle, "quick"));
    serve_for(scheduler, MIN);
    CHECK_INT(OVER, quick->state);
    CHECK_INT(1, next->given_back);
    complete(run);
    serve_for(scheduler, 2 * S);
    complete(run_of(its, "next"));
    serve_for(scheduler, S);
    CHECK_INT(OVER, slow->state);
    CHECK_INT(OVER, next->state);
    close_served(scheduler, socket);
}

/** A driver that does not come keeps none of another pool. */
static void test_pool_waits(void) {
    selene_scheduler scheduler = open_node();
    const char *socket = serve_members(scheduler);
    selene_scheduler a = member_of(socket, "a", 2), b = member_of(socket, "b", 3);
    drive(a);
    drive(b);
    struct job *first = add_job("first", 2), *second = add_job("second", 2);
    serve(scheduler);
    CHECK_INT(RUNS, first->state);
    struct job *job = add_job("job", 3);
    serve_for(scheduler, 5 * S);
    CHECK_INT(WAITS, second->state);
    CHECK_INT(RUNS, job->state);
    serve_for(scheduler, 4 * S);
    CHECK_INT(0, first->given_back);
    serve_for(scheduler, 3 * S / 2);
    CHECK_INT(1, first->given_back);
    CHECK_INT(WAITS, first->state);
    struct job *later = add_job("later", 3);
    CHECK_INT(RUNS, job->state);
    selene_cycle cycle = step_driver(b);
    CHECK(cycle != 0);
    complete(run_of(cycle, "job"));
    serve_for(scheduler, 2 * S);
    complete(run_of(cycle, "later"));
    serve_for(scheduler, 2 * S);
    CHECK_INT(OVER, later->state);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_INT(1, first->given_back);
    CHECK_INT(0, second->given_back);
    /* It is asked again a minute later. */
    serve_for(scheduler, MIN);
    CHECK_INT(RUNS, first->state);
    close_served(scheduler, socket);
}

/* ---- leave and close ----------------------------------------------------------------- */

static void test_leave(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1), *second = add_job("second", 1),
               *third = add_job("third", 1);
    selene_cycle cycle = begin_claimed(scheduler, 2);
    selene_run run = run_of(cycle, "job");
    CHECK_OK(selene_node_leave(scheduler, MIN));
    CHECK_INT(SELENE_NODE_LEAVING, standing(scheduler).state);
    check_gone(scheduler, "second");
    serve_for(scheduler, 5 * S);
    CHECK_INT(1, second->given_back);
    CHECK_INT(1, third->given_back);
    CHECK_INT(SELENE_NODE_LEAVING, standing(scheduler).state);
    CHECK_INT(0, base.byes);
    complete(run);
    serve_for(scheduler, 5 * S);
    CHECK_INT(1, job->decided);
    CHECK_INT(1, base.byes);
    CHECK_INT(SELENE_NODE_CLOSED, standing(scheduler).state);
    CHECK_INT(SELENE_NEVER, base.wake_at);
    /* The scheduler goes on, and may have another node. */
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_node_open(scheduler, NULL, NULL));
    CHECK_OK(selene_node_close(scheduler));
    CHECK_OK(selene_node_close(scheduler));
    CHECK_OK(selene_node_open(scheduler, NULL, NULL));
    serve(scheduler);
    complete(run_of(cycle, "second"));
    serve_for(scheduler, S);
    CHECK_INT(OVER, second->state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/** The fleet asks it to leave, which it hears with a beat; its windows go on without it. */
static void test_drain(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1), *second = add_job("second", 1),
               *third = add_job("third", 1);
    selene_cycle cycle = begin_claimed(scheduler, 2);
    selene_run run = run_of(cycle, "job");
    base.is_draining = 1;
    serve_for(scheduler, LEASE / 3 - S);
    CHECK_INT(SELENE_NODE_WORKING, standing(scheduler).state);
    serve_for(scheduler, 2 * S);
    CHECK_INT(SELENE_NODE_LEAVING, standing(scheduler).state);
    check_gone(scheduler, "second");
    CHECK_INT(1, second->given_back);
    CHECK_INT(1, third->given_back);
    add_job("fourth", 1);
    CHECK_OK(selene_node_hint(scheduler));
    /* What runs has as long as it takes. */
    serve_for(scheduler, 3 * LEASE);
    CHECK_INT(SELENE_NODE_LEAVING, standing(scheduler).state);
    CHECK_INT(RUNS, job->state);
    CHECK_INT(1, base.hellos);
    CHECK_INT(1, base.held);
    complete(run);
    serve_for(scheduler, 5 * S);
    CHECK_INT(1, job->decided);
    CHECK_INT(1, base.byes);
    CHECK_INT(SELENE_NODE_CLOSED, standing(scheduler).state);
    CHECK_INT(SELENE_NEVER, base.wake_at);
    check_gone(scheduler, "fourth");
    /* Who leaves then has left, and the scheduler may have another node. */
    CHECK_OK(selene_node_leave(scheduler, MIN));
    CHECK_OK(selene_node_close(scheduler));
    base.is_draining = 0;
    CHECK_OK(selene_node_open(scheduler, NULL, NULL));
    serve_for(scheduler, S);
    CHECK_INT(SELENE_NODE_WORKING, standing(scheduler).state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_grace(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1);
    selene_cycle cycle = begin_claimed(scheduler, 1);
    selene_run run = run_of(cycle, "job");
    CHECK_OK(selene_node_leave(scheduler, 5 * S));
    serve_for(scheduler, 4500 * MS - MS);
    CHECK_INT(SELENE_STOP_NONE, stop_reason(run));
    serve_for(scheduler, MS);
    CHECK_INT(SELENE_STOP_SHUTDOWN, stop_reason(run));
    serve_for(scheduler, 250 * MS - MS);
    CHECK_INT(SELENE_NODE_LEAVING, standing(scheduler).state);
    CHECK_INT(0, job->given_back);
    serve_for(scheduler, MS);
    CHECK_INT(SELENE_NODE_CLOSED, standing(scheduler).state);
    CHECK_INT(1, base.byes);
    CHECK_INT(1, job->given_back);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    serve_for(scheduler, MIN);
    CHECK_INT(0, job->decided);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_close(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1);
    add_job("second", 1);
    selene_cycle cycle = begin_claimed(scheduler, 2);
    selene_run run = run_of(cycle, "job");
    int64_t fence = 0;
    CHECK_INT(job->run, fence_of(run));
    CHECK_OK(selene_node_close(scheduler));
    check_gone(scheduler, "job");
    check_gone(scheduler, "second");
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_run_fence(run, &fence, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_node_hint(scheduler));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_FAILED));
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void *await_node(void *context) {
    int32_t ready = -1;
    return (void *)(intptr_t)selene_node_wait(*(selene_scheduler *)context, SELENE_NEVER, &ready);
}

/** Whoever waits for a step is woken when there is to be none any more. */
static void wake_by(selene_status (*end)(selene_scheduler), selene_status expected) {
    selene_scheduler scheduler = open_node();
    pthread_t thread;
    void *status = NULL;
    serve(scheduler);
    CHECK_INT(0, pthread_create(&thread, NULL, await_node, &scheduler));
    check_sleep(20 * MS);
    CHECK_OK(end(scheduler));
    CHECK_INT(0, pthread_join(thread, &status));
    CHECK_STATUS(expected, (selene_status)(intptr_t)status);
}

static selene_status close_at_once(selene_scheduler scheduler) {
    return selene_scheduler_close(scheduler, 0);
}

static void test_wakes(void) {
    wake_by(selene_node_close, SELENE_ERROR_UNSUPPORTED);
    wake_by(close_at_once, SELENE_ERROR_INVALID_HANDLE);
}

static void test_scheduler_closed(void) {
    selene_scheduler scheduler = open_node();
    struct job *job = add_job("job", 1);
    selene_node_request request = SELENE_INIT(selene_node_request);
    selene_cycle cycle = begin_claimed(scheduler, 1);
    selene_run run = run_of(cycle, "job");
    advance(LEASE / 3);
    CHECK_OK(selene_node_step(scheduler, &request, NULL));
    CHECK(request.number != 0);
    close_all(scheduler);
    /* Whoever steps it may be just reading. */
    CHECK_INT(request.sql.length, (int64_t)strlen(request.sql.data));
    CHECK_INT(SELENE_VALUE_INTEGER, request.values[0].type);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_node_step(scheduler, &request, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_node_close(scheduler));
    CHECK_INT(0, job->decided);
}

/* ---- runs ----------------------------------------------------------------------------- */

static void test_decided_by_host(void) {
    selene_scheduler scheduler = open_node();
    struct job *done = add_job("done", 1), *lost = add_job("lost", 1),
               *failed = add_job("failed", 1);
    selene_cycle cycle = begin_claimed(scheduler, 3);
    selene_run run = run_of(cycle, "done");
    int32_t reason = -1;
    CHECK_OK(selene_run_decided_by_host(run));
    /* The transaction of the handler. */
    done->decided++;
    done->outcome = SELENE_OUTCOME_NEW_DATA;
    /* The fleet says that the run is over while the handler waits for the answer to its commit. */
    lose_job(done, SELENE_STOP_INTERRUPTED);
    serve_for(scheduler, 10 * S);
    CHECK_OK(selene_run_stopping(run, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    run = run_of(cycle, "lost");
    CHECK_OK(selene_run_decided_by_host(run));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_decided_by_host(run));
    run = run_of(cycle, "failed");
    CHECK_OK(selene_run_decided_by_host(run));
    CHECK_OK(selene_run_fail(run, SELENE_OUTCOME_FAILED, 7 * S, "rolled back", -1));
    serve_for(scheduler, S);
    CHECK_INT(1, done->decided);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, done->outcome);
    CHECK_INT(SELENE_OUTCOME_FAILED, lost->outcome);
    CHECK(strstr(lost->failure, "did not commit") != NULL);
    CHECK_INT(SELENE_OUTCOME_FAILED, failed->outcome);
    CHECK_INT(7 * S, failed->delay);
    CHECK_STRING("rolled back", failed->failure);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_fence(void) {
    selene_scheduler scheduler = open_node();
    selene_task task = refresh_once("mine", 5);
    struct job *job = add_job("job", 1), *second = add_job("second", 1);
    int64_t fence = 0;
    task.handler = SELENE_TEXT("work");
    add(scheduler, task);
    selene_cycle cycle = begin_claimed(scheduler, 3);
    selene_run mine = run_of(cycle, "mine");
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_run_fence(mine, &fence, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_run_decided_by_host(mine));
    complete(mine);
    CHECK_INT(job->run, fence_of(run_of(cycle, "job")));
    CHECK_INT(second->run, fence_of(run_of(cycle, "second")));
    CHECK(second->run > job->run);
    /* A record of this process has ended, and is still there. */
    CHECK_INT(SELENE_STATE_SUCCEEDED, record(scheduler, "mine").state);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_suspect(void) {
    selene_scheduler scheduler = open_node();
    struct job *suspect = add_job("suspect", 1), *other = add_job("other", 1);
    /* Lines of suspects are odd; this one comes with its own. */
    suspect->is_suspect = 1;
    selene_cycle cycle = begin_claimed(scheduler, 4);
    CHECK_INT(RUNS, suspect->state);
    CHECK_INT(WAITS, other->state);
    complete(run_of(cycle, "suspect"));
    serve_for(scheduler, S);
    CHECK_INT(RUNS, other->state);
    complete(run_of(cycle, "other"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/* ---- who may have a node ------------------------------------------------------------ */

static void test_with_store(void) {
    char folder[] = "/tmp/node-XXXXXX", path[64];
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    int32_t fd = -77;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/store", folder);
    options.path.data = path;
    options.path.length = -1;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_node_open(scheduler, NULL, &fd));
    CHECK(strstr(selene_error_last()->message.data, "store") != NULL);
    CHECK_INT(-77, fd);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

static void test_one_node(void) {
    selene_scheduler scheduler = open_node();
    int32_t fd = -77, ready = -1;
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_node_open(scheduler, NULL, &fd));
    CHECK_INT(-77, fd);
    CHECK_OK(selene_node_wait(scheduler, 0, &ready));
    CHECK_INT(1, ready);
    serve(scheduler);
    CHECK_OK(selene_node_wait(scheduler, 0, &ready));
    CHECK_INT(0, ready);
    /* A window is news. */
    selene_cycle cycle = begin(scheduler, rolling(MIN, 1));
    CHECK_OK(selene_node_wait(scheduler, 0, &ready));
    CHECK_INT(1, ready);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

static void test_fork(void) {
    selene_scheduler scheduler = open_node();
    int status = 0;
    add_job("job", 1);
    selene_cycle cycle = begin_claimed(scheduler, 1);
    selene_run run = run_of(cycle, "job");
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_node_request request = SELENE_INIT(selene_node_request);
        selene_node_info info = SELENE_INIT(selene_node_info);
        int32_t ready = -1;
        int64_t fence = 0;
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_open(scheduler, NULL, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_step(scheduler, &request, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_wait(scheduler, SELENE_NEVER, &ready));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_rows(scheduler, 1, NULL, 0, 0));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_failed(scheduler, 1, 0, NULL, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_hint(scheduler));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_get(scheduler, &info));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_leave(scheduler, 0));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_node_close(scheduler));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_run_fence(run, &fence, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_run_decided_by_host(run));
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    /* The parent goes on. */
    complete(run);
    serve_for(scheduler, S);
    CHECK_INT(1, base.jobs[0].decided);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_all(scheduler);
}

/* ---- on threads of the library --------------------------------------------------------- */

struct driver_thread {
    selene_scheduler scheduler;
    atomic_int is_over;
    pthread_t thread;
};

static void *drive_node(void *context) {
    struct driver_thread *own = context;
    while (!atomic_load(&own->is_over)) {
        int32_t ready = 0;
        serve(own->scheduler);
        CHECK_OK(selene_node_wait(own->scheduler, 10 * MS, &ready));
    }
    return NULL;
}

static char names[200][16];

static void test_threads(void) {
    static struct work work = {.behaviour = COMPLETE, .outcome = SELENE_OUTCOME_NEW_DATA};
    static struct driver_thread driver;
    selene_scheduler scheduler = open_real();
    selene_window window = rolling(AMPLE + MIN, 4);
    selene_report *report = NULL;
    add_handler(scheduler, "work", &work);
    add_class(1, REFRESH, 0, NULL, "work");
    for (int i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "job %d", i);
        add_job(names[i], 1);
    }
    CHECK_OK(selene_node_open(scheduler, NULL, NULL));
    driver.scheduler = scheduler;
    CHECK_INT(0, pthread_create(&driver.thread, NULL, drive_node, &driver));
    /* It ends by itself when the fleet has nothing more. */
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(200, report->new_data);
    CHECK_INT(200, report->run_count);
    selene_free(report);
    CHECK_OK(selene_node_leave(scheduler, MIN));
    WAIT_UNTIL(standing(scheduler).state == SELENE_NODE_CLOSED);
    atomic_store(&driver.is_over, 1);
    CHECK_INT(0, pthread_join(driver.thread, NULL));
    for (int i = 0; i < 200; i++) {
        CHECK_INT(1, base.jobs[i].decided);
        /* A node that was held up for as long as it waits for an answer says hello anew, and gives back what it has not. */
        if (base.byes == 1) CHECK_INT(0, base.jobs[i].given_back);
    }
    CHECK_INT(200, work.started);
    CHECK(base.byes >= 1);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A run on a thread of the library that was stopped is given back only when its handler has returned. */
static void test_thread_stopped(void) {
    static struct work work = {.behaviour = GATE};
    selene_scheduler scheduler = open_real();
    selene_cycle cycle = 0;
    struct receiver receiver = {0};
    struct job *job;
    add_handler(scheduler, "work", &work);
    add_class(1, REFRESH, 0, NULL, "work");
    job = add_job("job", 1);
    CHECK_OK(selene_node_open(scheduler, NULL, NULL));
    cycle = push_async(scheduler, rolling(AMPLE, 1), &receiver, NULL);
    CHECK(cycle != 0);
    WAIT_UNTIL((serve(scheduler), work.started == 1));
    CHECK_OK(selene_task_cancel(scheduler, "job", -1, NULL));
    for (int i = 0; i < 20; i++) {
        check_sleep(MS);
        serve(scheduler);
    }
    CHECK_INT(RUNS, job->state);
    CHECK_INT(1, standing(scheduler).working);
    atomic_store(&gate, 1);
    WAIT_UNTIL((serve(scheduler), job->given_back == 1));
    CHECK_INT(SELENE_STOP_CANCELLED, work.reason);
    CHECK_INT(0, job->decided);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* ---- rows of any kind ------------------------------------------------------------------ */

/** SplitMix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t seed;

static uint64_t roll(uint64_t most) {
    return next_random(&seed) % most;
}

/* What a round made; each in a block of its own size. */
static void *blocks[4096];
static int block_count;

static void *block_of(const void *data, size_t size) {
    void *block = malloc(size ? size : 1);
    CHECK(block && block_count < (int)COUNT(blocks));
    memcpy(block, data, size);
    blocks[block_count++] = block;
    return block;
}

static const char *const some_texts[] = {"", "work", "job", "gpu", "\xFF\xFE", "a\tb", "x"};

static selene_value random_value(int depth) {
    static const int64_t numbers[] = {0,  1,  2,         3,         99,        -1, 256,
                                      48, 49, INT32_MAX, INT64_MAX, INT64_MIN, 4,  1 << 30};
    const char *of_text = some_texts[roll(COUNT(some_texts))];
    char noise[64];
    switch (roll(depth ? 6 : 5)) {
    case 0:
        return null();
    case 1:
        return (selene_value){SELENE_VALUE_BOOLEAN, 0, (int64_t)roll(3), NULL, 0};
    case 2:
        return (selene_value){SELENE_VALUE_TEXT, 0, 0, block_of(of_text, strlen(of_text)),
                              (int64_t)strlen(of_text)};
    case 3:
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (char)roll(256);
        return bytes(block_of(noise, sizeof noise), (int64_t)roll(sizeof noise + 1));
    case 4:
        return integer(roll(2) ? numbers[roll(COUNT(numbers))] : (int64_t)next_random(&seed));
    default: {
        selene_value values[5];
        const uint64_t count = roll(5);
        for (uint64_t i = 0; i < count; i++)
            values[i] = random_value(0);
        return (selene_value){SELENE_VALUE_ARRAY, 0, 0, block_of(values, count * sizeof values[0]),
                              (int64_t)count};
    }
    }
}

/** The rows that are right, some of whose cells are not, or rows of another size. */
static void answer_randomly(selene_scheduler scheduler, const selene_node_request *request) {
    static struct rows rows;
    perform(request, &rows);
    if (roll(4) == 0) {
        rows.rows = roll(6);
        rows.columns = roll(17);
        for (uint64_t i = 0; i < rows.rows * rows.columns; i++)
            rows.cells[i] = random_value(1);
    } else {
        for (uint64_t i = 0; i < rows.rows * rows.columns; i++)
            if (roll(12) == 0) rows.cells[i] = random_value(1);
    }
    const size_t size = (size_t)(rows.rows * rows.columns) * sizeof rows.cells[0];
    CHECK_OK(selene_node_rows(scheduler, request->number, block_of(rows.cells, size), rows.rows,
                              rows.columns));
    while (block_count > 0)
        free(blocks[--block_count]);
}

static void test_random_rows(void) {
    const int rounds = (int)check_environment("SELENE_TEST_ROUNDS", 1000);
    selene_scheduler scheduler = open_node();
    selene_cycle cycle = 0;
    int made = 0, silent = 0, left = 0;
    base.is_lenient = 1;
    seed = (uint64_t)check_environment("SELENE_TEST_SEED", check_now());
    printf("seed %" PRIu64 ", %d answers\n", seed, rounds);
    CHECK_OK(selene_scheduler_observe(scheduler, NULL, NULL, NULL));
    add_class(2, PROCESSING, SELENE_CONSTRAINT_NETWORK, "gpu", "work");
    while (made < rounds) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        selene_node_request request = SELENE_INIT(selene_node_request);
        int32_t step = -1;
        if (base.job_count > 200) base.job_count = 0;
        add_job("job", 1 + (int32_t)roll(2));
        if (!cycle) {
            selene_window window = rolling(MIN, 1 + (uint32_t)roll(3));
            selene_status status = selene_cycle_begin(scheduler, &window, &cycle);
            CHECK(status == SELENE_OK || status == SELENE_ERROR_TOO_SOON);
        }
        CHECK_OK(selene_node_step(scheduler, &request, NULL));
        if (request.number) {
            answer_randomly(scheduler, &request);
            made++;
            silent = 0;
        }
        CHECK(silent++ < 10000);
        // A row may have asked it to leave (N37).
        if (standing(scheduler).state == SELENE_NODE_CLOSED) {
            CHECK_OK(selene_node_close(scheduler));
            CHECK_OK(selene_node_open(scheduler, NULL, NULL));
            left++;
        }
        if (cycle) {
            CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
            if (step == SELENE_STEP_RUN && roll(4))
                CHECK_OK(selene_run_complete(info.run, (int32_t)roll(4)));
            if (step == SELENE_STEP_DONE || roll(20) == 0) {
                CHECK_OK(selene_cycle_end(cycle, NULL));
                cycle = 0;
            }
        }
        advance((int64_t)roll(500) * MS);
    }
    printf("%d times asked to leave\n", left);
    close_all(scheduler);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("N21 N22 what is claimed for a window is a task under its id, and its end is told",
             test_claim);
    run_test("N8 a failure's delay and words are told, and what expires", test_failures);
    run_test("N22 a window does not end while its node asks, and ends when there is nothing",
             test_window_waits);
    run_test("N22 what was not begun when a window ends is given back", test_window_ends);
    run_test("N22 only the first of a window may be expected to end behind it", test_room);
    run_test("N4 what this node cannot run it does not claim", test_not_served);
    run_test("N22 what was claimed and cannot run here any more goes back", test_no_longer_served);
    run_test("R6 what is drained claims nothing, and goes on when it is resumed", test_drained);
    run_test("T5 a run that cannot be a task here fails with what is wrong", test_cannot_run);
    run_test("T6 limits refuse no task of a fleet, and count it", test_limits);
    run_test("C8 a run that was stopped is given back when it has come back", test_stopped);
    run_test("C4 a run that does not come back is given back after release_after", test_never_back);
    run_test("N25 a run that the database gave up is stopped, or dropped if it was not begun",
             test_lost);
    run_test("N23 a run is planned by what the last ones of its class took here", test_likely);
    run_test("8.2 the longest estimate is one like any other", test_longest_estimate);
    run_test("N21 a window does not wait for what was claimed and does not fit", test_does_not_fit);
    run_test("N22 a run that takes long keeps no task of its kind from other nodes",
             test_lane_taken);
    run_test("N13 when belief ends runs are asked to stop, and what they still report is told",
             test_lease_lost);
    run_test("N13 a task whose lost run is still at work here waits for that",
             test_lost_and_claimed);
    run_test("N14 a decision whose answer was lost is asked for and not told twice",
             test_answer_lost);
    run_test("N14 a decision that was lost on its way is told again", test_call_lost);
    run_test("N14 a call is waited for a tenth of the lease", test_silence);
    run_test("N33 rows that cannot be read are no answer", test_nonsense);
    run_test("N14 a decision that nothing is said of is asked about now and then",
             test_busy_record);
    run_test("N14 what a claim took whose answer was lost goes back with bye", test_claim_lost);
    run_test("N14 that the database does not answer, or refuses, is a trouble", test_trouble);
    run_test("N21 a driver opens windows for what its node claims before", test_driver);
    run_test("N21 what the governor refuses a window is given back", test_driver_refused);
    run_test("N21 what no window comes for is given back after 10 s", test_no_window);
    run_test("N36 V3 a long run of one pool keeps nothing from another", test_other_pools_window);
    run_test("N36 nothing is claimed for a pool without a window or a driver",
             test_pool_without_window);
    run_test("N36 what waits for a lane of its pool goes back, though another's is free",
             test_pool_stuck);
    run_test("N36 a driver that does not come keeps no other pool waiting", test_pool_waits);
    run_test("N14 who leaves gives back, waits for its runs, tells of them and says bye",
             test_leave);
    run_test("N37 who is drained gives back, waits for its runs, and joins no more", test_drain);
    run_test("N14 who leaves asks its runs to stop, and gives back what does not within its grace",
             test_grace);
    run_test("N14 a node that is closed forgets what it has", test_close);
    run_test("N14 who waits for a node is woken when it is closed", test_wakes);
    run_test("P3 a scheduler is closed with its node", test_scheduler_closed);
    run_test("N16 what the host is to decide counts as failed unless its transaction stands",
             test_decided_by_host);
    run_test("N9 a run has the number of its claim, and of its task", test_fence);
    run_test("N15 a suspect is alone", test_suspect);
    run_test("N21 a scheduler with a store has no node", test_with_store);
    run_test("N21 a scheduler has one node, which says when it is to be stepped", test_one_node);
    run_test("P5 in a child of fork a node is its parent's", test_fork);
    run_test("N22 threads of the library run what the fleet has until it has nothing more",
             test_threads);
    run_test("C8 a handler that was stopped is given back when it has returned",
             test_thread_stopped);
    run_test("8.2 rows of any kind do no harm", test_random_rows);
    return check_end();
}
