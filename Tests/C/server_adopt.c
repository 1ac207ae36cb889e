/*
 * server_adopt.c - runs of members whose owner is killed, and which the next owner adopts (docs/rules.md, L10)
 */
#include "server_host.h"
#include "server_tools.h"

#include <sqlite3.h>

/* ---- a member in a process of its own ----------------------------------------------------- */

enum order { COMPLETE = 'c', END = 'e', GIVE_BACK = 'g' };

struct worker {
    pid_t pid;
    int orders, answers;
};

/** Takes the run of the only task; completes it, and ends its cycle, when it is told to. */
static void work(const char *file, int orders, int answers) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_window window = SELENE_INIT(selene_window);
    selene_scheduler member = 0;
    selene_cycle cycle = 0;
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = -1, status = 0;
    int64_t wake_at = 0;
    char order;
    options.path = text_of(file);
    options.pool = text_of("workers");
    options.wait = 3 * PATIENCE;
    CHECK_OK(selene_scheduler_connect(&options, &member));
    CHECK_OK(offer(member, "h"));
    window.kinds = SELENE_KIND_REFRESH;
    window.budget = 20 * PATIENCE;
    window.reserve = SELENE_NONE;
    window.lanes = 1;
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, &wake_at));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK(write(answers, &status, sizeof status) == sizeof status);
    while (read(orders, &order, 1) == 1) {
        status = order == END         ? selene_cycle_end(cycle, NULL)
                 : order == GIVE_BACK ? selene_run_complete(run.run, SELENE_OUTCOME_STOPPED)
                                      : selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA);
        CHECK(write(answers, &status, sizeof status) == sizeof status);
    }
    /* What it holds is no leak: it ends with it. */
    raise(SIGKILL);
}

static int32_t answer_of(struct worker worker) {
    int32_t status = -1;
    CHECK(read(worker.answers, &status, sizeof status) == sizeof status);
    return status;
}

static void order(struct worker worker, enum order what) {
    const char byte = (char)what;
    CHECK(write(worker.orders, &byte, 1) == 1);
}

static int32_t complete(struct worker worker) {
    order(worker, COMPLETE);
    return answer_of(worker);
}

/** What was accepted is durable when this has returned (D2). */
static void end_cycle(struct worker worker) {
    order(worker, END);
    CHECK_OK(answer_of(worker));
}

/** A member that has the run of the task. */
static struct worker start_worker(const char *file) {
    int orders[2], answers[2];
    struct worker worker;
    CHECK(pipe(orders) == 0 && pipe(answers) == 0);
    worker.pid = fork();
    CHECK(worker.pid >= 0);
    if (worker.pid == 0) {
        close(orders[1]);
        close(answers[0]);
        work(file, orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    worker.orders = orders[1];
    worker.answers = answers[0];
    CHECK_OK(answer_of(worker));
    return worker;
}

static void end_worker(struct worker worker) {
    end_owner(worker.pid, SIGKILL);
    close(worker.orders);
    close(worker.answers);
}

/* ---- what is the case ------------------------------------------------------------------------ */

static void add_task(const char *file) {
    selene_scheduler connection = connect_to(file);
    selene_task task = task_of("t");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    CHECK_OK(selene_task_register(connection, &task, NULL));
    CHECK_OK(selene_scheduler_close(connection, 0));
}

/** It ran once, and that is all that ever happened to it. */
static void check_counted_once(selene_scheduler owner) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(owner, "t", -1, 0, &info));
    CHECK_INT(SELENE_STATE_SUCCEEDED, info->state);
    CHECK_INT(SELENE_OUTCOME_NEW_DATA, info->last_outcome);
    CHECK_INT(SELENE_STOP_NONE, info->stop_reason);
    CHECK_INT(1, (int)info->attempts);
    CHECK(info->response_time_count == 1 && info->failed_at == 0 && info->failed_attempt == 0);
    selene_free(info);
}

/** D3, V7, V8: its run was the only one of its process, so that is a failed attempt, which costs no pause the first time. */
static void check_interrupted(selene_scheduler owner) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(owner, "t", -1, 0, &info));
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(SELENE_OUTCOME_FAILED, info->last_outcome);
    CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
    CHECK_INT(1, (int)info->attempts);
    CHECK_INT(SELENE_SUSPICION_BLAMED, info->quarantined);
    CHECK(info->response_time_count == 0 && info->earliest_begin == info->failed_at);
    selene_free(info);
}

/** The runs of members that a store has, which nobody has open, and the token of the last one. */
static int runs_kept(const char *file, int64_t *out_token) {
    sqlite3 *database = NULL;
    sqlite3_stmt *row = NULL;
    CHECK_INT(SQLITE_OK, sqlite3_open_v2(file, &database, SQLITE_OPEN_READWRITE, NULL));
    CHECK_INT(SQLITE_OK,
              sqlite3_prepare_v2(database, /* The row of the owner itself has no number. */
                                 "SELECT count(*), max(token) FROM member_run "
                                 "WHERE token & ((1 << 37) - 1) <> 0",
                                 -1, &row, NULL));
    CHECK_INT(SQLITE_ROW, sqlite3_step(row));
    int count = sqlite3_column_int(row, 0);
    if (out_token != NULL) *out_token = sqlite3_column_int64(row, 1);
    sqlite3_finalize(row);
    CHECK_INT(SQLITE_OK, sqlite3_close(database));
    return count;
}

/** As long as an owner waits, and then some. */
static void await_end_of_waiting(selene_scheduler owner) {
    int64_t until = check_now() + 3 * PATIENCE;
    while (state_of(owner, "t") == SELENE_STATE_RUNNING && check_now() < until)
        check_sleep(10 * MS);
}

/** A task, its owner, and a member in a process of its own that has its run. */
struct scene {
    const char *file;
    pid_t first;
    struct worker worker;
};

static struct scene begin_scene(const char *name) {
    struct scene own = {.file = path(name)};
    own.first = start_owner(own.file);
    add_task(own.file);
    own.worker = start_worker(own.file);
    return own;
}

static selene_scheduler serve_here(const char *file) {
    selene_scheduler owner = open_here(file);
    serve(owner);
    return owner;
}

/** Kills the owner; the next one, which serves. */
static selene_scheduler change_owner(struct scene own) {
    end_owner(own.first, SIGKILL);
    return serve_here(own.file);
}

static void end_scene(struct scene own, selene_scheduler owner) {
    end_worker(own.worker);
    close_store(owner);
}

/* ---- the tests ---------------------------------------------------------------------------------- */

/** Without any end of an owner, so that the others are known to compare with what is so. */
static void test_same_owner(void) {
    struct scene at = begin_scene("t.db");
    CHECK_OK(complete(at.worker));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, complete(at.worker));
    end_cycle(at.worker);
    end_worker(at.worker);
    end_owner(at.first, SIGKILL);
    selene_scheduler owner = open_here(at.file);
    check_counted_once(owner);
    close_store(owner);
}

static void test_adopted(void) {
    struct scene at = begin_scene("t.db");
    selene_scheduler owner = change_owner(at);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "t"));
    CHECK_OK(complete(at.worker));
    check_counted_once(owner);
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, complete(at.worker));
    end_scene(at, owner);
    CHECK_INT(0, runs_kept(at.file, NULL));
}

/** The owner before may have asked it to stop, or its process as that ended. */
static void test_given_back(void) {
    struct scene at = begin_scene("t.db");
    selene_scheduler owner = change_owner(at);
    order(at.worker, GIVE_BACK);
    CHECK_OK(answer_of(at.worker));
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(owner, "t", -1, 0, &info));
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(SELENE_OUTCOME_STOPPED, info->last_outcome);
    CHECK_INT(0, (int)info->attempts);
    selene_free(info);
    end_scene(at, owner);
}

/** Says to an owner by hand that it has a run; what the owner says of that. */
static int64_t say_adopted(const char *file, int64_t token) {
    struct {
        struct head head;
        int64_t is_there, length;
        char pool[8];
    } join = {{sizeof join, 88, 0, 2}, 1, 7, "workers"};
    struct {
        struct head head;
        int64_t token, wants_how, wants_number;
    } adopt = {{sizeof adopt, 121, 0, 3}, token, 1, 1};
    static char body[4096];
    int64_t how = -1;
    int client = raw_client(file);
    CHECK(send(client, &join, sizeof join, 0) == sizeof join);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    CHECK(send(client, &adopt, sizeof adopt, 0) == sizeof adopt);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    memcpy(&how, body, sizeof how);
    close(client);
    return how;
}

/** Who knows its number has not got the run. */
static void test_of_another(void) {
    struct scene at = begin_scene("t.db");
    int64_t token = 0;
    end_owner(at.first, SIGKILL);
    CHECK_INT(1, runs_kept(at.file, &token));
    selene_scheduler owner = serve_here(at.file);
    CHECK_INT(0, say_adopted(at.file, token));
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "t"));
    CHECK_OK(complete(at.worker));
    check_counted_once(owner);
    end_scene(at, owner);
}

/** Nor does it matter how many owners there are. */
static void test_adopted_twice(void) {
    const char *file = path("t.db");
    pid_t first = start_owner(file);
    add_task(file);
    struct owner second = fork_owner(file);
    struct worker worker = start_worker(file);
    end_owner(first, SIGKILL);
    end_owner(let_own(second), SIGKILL);
    selene_scheduler owner = serve_here(file);
    CHECK_OK(complete(worker));
    check_counted_once(owner);
    end_worker(worker);
    close_store(owner);
}

/** What is durable is neither waited for nor taken back. */
static void test_ended_before(void) {
    struct scene at = begin_scene("t.db");
    CHECK_OK(complete(at.worker));
    end_cycle(at.worker);
    selene_scheduler owner = change_owner(at);
    check_counted_once(owner);
    CHECK(complete(at.worker) != SELENE_OK);
    check_counted_once(owner);
    end_scene(at, owner);
}

/** What was accepted and is not durable yet (D2) the member, which lives, still knows. */
static void test_accepted_before(void) {
    struct scene at = begin_scene("t.db");
    CHECK_OK(complete(at.worker));
    selene_scheduler owner = change_owner(at);
    int32_t status = complete(at.worker);
    CHECK(status == SELENE_OK || status == SELENE_ERROR_ALREADY_COMPLETED);
    check_counted_once(owner);
    end_scene(at, owner);
}

/** Its owner stands still when it completes, and is killed before it answers. */
static void test_completing(void) {
    struct scene at = begin_scene("t.db");
    stop_owner(at.first);
    order(at.worker, COMPLETE);
    check_sleep(20 * MS);
    selene_scheduler owner = change_owner(at);
    int32_t status = answer_of(at.worker);
    /* What may have been done is said; then it is asked once more by the host, and counts once. */
    if (status == SELENE_ERROR_OWNER_AWAY) {
        status = complete(at.worker);
        if (status == SELENE_ERROR_ALREADY_COMPLETED) status = SELENE_OK;
    }
    CHECK_OK(status);
    check_counted_once(owner);
    end_scene(at, owner);
}

/** An owner that waits for as long as it is told. */
static selene_scheduler open_to_adopt(const char *file, int64_t adopt) {
    selene_server_options options = SELENE_INIT(selene_server_options);
    selene_scheduler owner = open_here(file);
    options.adopt = none_of(adopt);
    serve_with(owner, options);
    return owner;
}

static void test_both_killed(void) {
    struct scene at = begin_scene("t.db");
    end_owner(at.first, SIGKILL);
    end_worker(at.worker);
    selene_scheduler owner = open_to_adopt(at.file, SELENE_HOUR);
    await_end_of_waiting(owner);
    check_interrupted(owner);
    close_store(owner);
}

/** It is killed while the next owner waits for it, or after that has adopted its run. */
static void test_killed_later(void) {
    struct scene at = begin_scene("t.db");
    end_owner(at.first, SIGKILL);
    selene_scheduler owner = open_to_adopt(at.file, SELENE_HOUR);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "t"));
    end_worker(at.worker);
    await_end_of_waiting(owner);
    check_interrupted(owner);
    close_store(owner);
    CHECK_INT(0, runs_kept(at.file, NULL));
}

static void test_stopped_briefly(void) {
    struct scene at = begin_scene("t.db");
    stop_owner(at.worker.pid);
    selene_scheduler owner = change_owner(at);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "t"));
    CHECK(kill(at.worker.pid, SIGCONT) == 0);
    CHECK_OK(complete(at.worker));
    check_counted_once(owner);
    end_scene(at, owner);
}

static void test_too_late(void) {
    struct scene at = begin_scene("t.db");
    stop_owner(at.worker.pid);
    selene_scheduler owner = change_owner(at);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "t"));
    await_end_of_waiting(owner);
    check_interrupted(owner);
    CHECK(kill(at.worker.pid, SIGCONT) == 0);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, complete(at.worker));
    check_interrupted(owner);
    end_scene(at, owner);
}

/** What a process has of a run when its owner is killed, all in this one. */
struct holder {
    selene_scheduler member;
    selene_cycle cycle;
    selene_run_info run;
};

static struct holder hold(const char *file, int64_t budget) {
    struct holder own = {0, 0, SELENE_INIT(selene_run_info)};
    selene_window window = SELENE_INIT(selene_window);
    int32_t step = -1;
    own.member = member_of(file, "workers");
    CHECK_OK(offer(own.member, "h"));
    window.kinds = SELENE_KIND_REFRESH;
    window.budget = budget;
    window.reserve = budget / 2;
    window.lanes = 1;
    CHECK_OK(selene_cycle_begin(own.member, &window, &own.cycle));
    CHECK_OK(selene_cycle_next(own.cycle, &step, &own.run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    return own;
}

static void release(struct holder own, pid_t owner) {
    CHECK_OK(selene_scheduler_close(own.member, 0));
    end_owner(owner, SIGKILL);
}

/** A handler that calls nothing hears of it, so that it need not run beside the next attempt. */
static void test_told(void) {
    const char *file = path("t.db");
    struct work work = {.waits = 1};
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle = 0;
    pid_t first = start_owner(file);
    add_task(file);
    selene_scheduler member = member_of(file, "workers");
    offer_work(member, "h", &work);
    window.kinds = SELENE_KIND_REFRESH;
    window.budget = 20 * PATIENCE;
    CHECK_OK(selene_cycle_run_async(member, &window, NULL, NULL, NULL, &cycle, NULL));
    WAIT_UNTIL(atomic_load(&work.calls) == 1);
    end_owner(first, SIGKILL);
    CHECK_INT(0, atomic_load(&work.stops));
    selene_scheduler owner = open_to_adopt(file, 0);
    WAIT_UNTIL(atomic_load(&work.stops) == 1);
    CHECK_INT(SELENE_STOP_INTERRUPTED, atomic_load(&work.reason));
    check_interrupted(owner);
    end_working(member, PATIENCE, &work);
    check_interrupted(owner);
    close_store(owner);
}

/** While it is waited for its reason is that it runs, and says until when; 0: it is not waited for. */
static void test_limit(void) {
    for (int waits = 0; waits < 2; waits++) {
        selene_explanation why = SELENE_INIT(selene_explanation);
        int64_t now;
        struct scene at = begin_scene(waits ? "t.db" : "u.db");
        end_owner(at.first, SIGKILL);
        selene_scheduler owner = open_to_adopt(at.file, waits ? SELENE_HOUR : 0);
        CHECK_OK(selene_task_explain(owner, "t", -1, &why));
        if (waits) {
            CHECK_INT(SELENE_STATE_RUNNING, why.state);
            CHECK_INT(1, why.reason_count);
            CHECK_INT(SELENE_REASON_RUNNING, why.reasons[0].reason);
            CHECK_OK(selene_scheduler_now(owner, &now));
            CHECK_BETWEEN(SELENE_HOUR - 3 * PATIENCE, why.reasons[0].may_change_at - now,
                          SELENE_HOUR);
            CHECK_OK(complete(at.worker));
            check_counted_once(owner);
        } else {
            check_interrupted(owner);
            CHECK_STATUS(SELENE_ERROR_STALE_RUN, complete(at.worker));
        }
        end_scene(at, owner);
    }
}

/** Owners that serve nobody, as tools do, leave the run to the one that does. */
static void test_looked_at(void) {
    struct scene at = begin_scene("t.db");
    end_owner(at.first, SIGKILL);
    for (int i = 0; i < 3; i++) {
        selene_scheduler tool = open_here(at.file);
        CHECK_INT(SELENE_STATE_RUNNING, state_of(tool, "t"));
        close_store(tool);
    }
    selene_scheduler owner = serve_here(at.file);
    CHECK_OK(complete(at.worker));
    check_counted_once(owner);
    end_scene(at, owner);
}

/** What a run leaves if it succeeds it need not say to the next owner again. */
static void test_output(void) {
    const char *file = path("t.db");
    struct owner next = fork_owner(file);
    selene_task_output *output = NULL;
    pid_t owner = start_owner(file);
    add_task(file);
    struct holder own = hold(file, 20 * PATIENCE);
    CHECK_OK(selene_run_set_output(own.run.run, "left", 4));
    end_owner(owner, SIGKILL);
    owner = let_own(next);
    CHECK_OK(selene_run_complete(own.run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_task_get_output(own.member, "t", -1, &output));
    CHECK_INT(4, output->output.length);
    CHECK(memcmp(output->output.data, "left", 4) == 0);
    selene_free(output);
    release(own, owner);
}

/** Why it failed is said with an outcome that is given again by itself. */
static void test_failure(void) {
    const char *file = path("t.db");
    struct owner next = fork_owner(file);
    selene_task_info *info = NULL;
    pid_t owner = start_owner(file);
    add_task(file);
    struct holder own = hold(file, 20 * PATIENCE);
    CHECK_OK(selene_run_fail(own.run.run, SELENE_OUTCOME_ABANDONED, -1, "no paper", -1));
    end_owner(owner, SIGKILL);
    owner = let_own(next);
    CHECK_OK(offer(own.member, "another"));
    CHECK_OK(selene_task_get(own.member, "t", -1, 0, &info));
    CHECK_INT(SELENE_STATE_FAILED, info->state);
    CHECK_INT(1, info->attempts);
    CHECK(info->failure.length == 8 && memcmp(info->failure.data, "no paper", 8) == 0);
    selene_free(info);
    release(own, owner);
}

/** An outcome for which there was no owner is for the next one, whatever the host does then. */
static void test_away(void) {
    const char *file = path("t.db");
    struct owner next = fork_owner(file);
    pid_t owner = start_owner(file);
    add_task(file);
    struct holder own = hold(file, 20 * PATIENCE);
    end_owner(owner, SIGKILL);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY,
                 selene_run_complete(own.run.run, SELENE_OUTCOME_NEW_DATA));
    owner = let_own(next);
    CHECK_OK(offer(own.member, "another"));
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(own.member, "t"));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED,
                 selene_run_complete(own.run.run, SELENE_OUTCOME_NO_DATA));
    release(own, owner);
}

/** A run that goes on is asked to stop when its window would have been over, and its cycle is gone. */
static void test_expires(void) {
    const char *file = path("t.db");
    struct owner next = fork_owner(file);
    selene_task_info *info = NULL;
    int32_t reason = 0;
    pid_t owner = start_owner(file);
    add_task(file);
    int64_t budget = 15 * S, left = 0;
    struct holder own = hold(file, budget);
    int64_t held_at = check_now();
    end_owner(owner, SIGKILL);
    check_sleep(100 * MS);
    owner = let_own(next);
    CHECK_OK(selene_run_stopping(own.run.run, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    /* The time between two owners counts. */
    int64_t passed = check_now() - held_at;
    CHECK_OK(selene_run_remaining(own.run.run, &left));
    CHECK(left <= budget / 2 - passed + 20 * MS);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(own.cycle, NULL));
    WAIT_UNTIL(selene_run_stopping(own.run.run, &reason) != SELENE_OK ||
               reason == SELENE_STOP_EXPIRING);
    WAIT_UNTIL(state_of(own.member, "t") != SELENE_STATE_RUNNING);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(own.run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_task_get(own.member, "t", -1, 0, &info));
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(1, info->attempts);
    selene_free(info);
    release(own, owner);
}

/** The outcome that a thread comes back with through its lane is for the next owner, too. */
static void test_lane(void) {
    const char *file = path("t.db");
    struct owner next = fork_owner(file);
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    selene_lane lane = 0;
    int32_t step = -1;
    pid_t owner = start_owner(file);
    add_task(file);
    selene_scheduler member = member_of(file, "workers");
    CHECK_OK(offer(member, "h"));
    window.kinds = SELENE_KIND_REFRESH;
    window.budget = 20 * PATIENCE;
    window.flags = SELENE_WINDOW_LANES;
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    end_owner(owner, SIGKILL);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY,
                 selene_lane_next(lane, SELENE_OUTCOME_NEW_DATA, 0, &step, &run, NULL));
    owner = let_own(next);
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NEW_DATA, 0, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_lane_close(lane));
    CHECK_OK(offer(member, "another"));
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(member, "t"));
    CHECK_OK(selene_scheduler_close(member, 0));
    end_owner(owner, SIGKILL);
}

/* ---- owners that are killed at any moment ------------------------------------------------------ */

enum { MOST_TASKS = 400, MOST_OWNERS = 40 };

/** Runs all that it is given, whatever becomes of owners, and says which. */
static void toil(const char *file, int said) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_window window = SELENE_INIT(selene_window);
    selene_scheduler member = 0;
    options.path = text_of(file);
    options.pool = text_of("workers");
    options.wait = 3 * PATIENCE;
    CHECK_OK(selene_scheduler_connect(&options, &member));
    while (offer(member, "h") == SELENE_ERROR_OWNER_AWAY) {
    }
    window.kinds = SELENE_KIND_PROCESSING;
    window.budget = 20 * PATIENCE;
    window.lanes = 1;
    for (int runs = 0;; runs++) {
        selene_run_info run = SELENE_INIT(selene_run_info);
        selene_cycle cycle = 0;
        int32_t step = -1;
        int status = selene_cycle_begin(member, &window, &cycle);
        while (status == SELENE_OK &&
               (status = selene_cycle_next(cycle, &step, &run, NULL)) == SELENE_OK &&
               step == SELENE_STEP_RUN) {
            int32_t number = atoi(run.id.data + 1);
            CHECK(write(said, &number, sizeof number) == sizeof number);
            do
                status = selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA);
            while (status == SELENE_ERROR_OWNER_AWAY);
            if (runs % 3 == 0) break;
            status = SELENE_OK;
        }
        if (cycle != 0) (void)selene_cycle_end(cycle, NULL);
        check_sleep(MS / 4);
    }
}

static void test_siege(void) {
    const char *file = path("t.db");
    struct owner owners[MOST_OWNERS];
    uint64_t seed = 20261126;
    int32_t runs[MOST_TASKS] = {0}, number;
    int count = (int)check_tasks(MOST_TASKS, 40), kills = (int)check_tasks(MOST_OWNERS, 8);
    int said[2], lost = 0, done = 0;
    if (getenv("SELENE_SEED") != NULL) seed = strtoull(getenv("SELENE_SEED"), NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < kills; i++)
        owners[i] = fork_owner(file);
    CHECK(pipe(said) == 0);
    selene_options options = store_options(file);
    options.clock = NULL;
    options.max_pending_processing = MOST_TASKS;
    selene_scheduler first = open_with(options);
    for (int i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", i);
        selene_task task = task_of(id);
        task.kind = SELENE_KIND_PROCESSING;
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.handler = text_of("h");
        CHECK_OK(selene_task_register(first, &task, NULL));
    }
    close_store(first);
    pid_t owner = let_own(owners[0]), worker = fork();
    CHECK(worker >= 0);
    if (worker == 0) toil(file, said[1]);
    for (int i = 1; i < kills; i++) {
        check_sleep((int64_t)chance_below(&seed, 12) * MS +
                    (int64_t)chance_below(&seed, 1000) * 1000);
        end_owner(owner, SIGKILL);
        owner = let_own(owners[i]);
    }
    /* Until nothing of what the worker knows is open. */
    selene_scheduler look = connect_to(file);
    for (int64_t until = check_now() + PATIENCE; check_now() < until; check_sleep(10 * MS)) {
        selene_scheduler_info counts = SELENE_INIT(selene_scheduler_info);
        CHECK_OK(selene_scheduler_get(look, &counts));
        if (counts.succeeded + (uint64_t)kills >= (uint64_t)count) break;
    }
    end_owner(worker, SIGKILL);
    CHECK_OK(selene_scheduler_close(look, 0));
    end_owner(owner, SIGKILL);
    close(said[1]);
    while (read(said[0], &number, sizeof number) == sizeof number)
        runs[number]++;
    close(said[0]);
    selene_scheduler owner_here = open_to_adopt(file, 0);
    for (int i = 0; i < count; i++) {
        char id[16];
        selene_task_info *info = NULL;
        snprintf(id, sizeof id, "t%d", i);
        CHECK_OK(selene_task_get(owner_here, id, -1, 0, &info));
        /* No run that has begun was lost, or given twice. One whose dispatch was never told was never begun. */
        CHECK(runs[i] <= 1);
        if (runs[i] == 1 && info->state == SELENE_STATE_SUCCEEDED) {
            CHECK_INT(1, info->attempts);
            done++;
        } else {
            CHECK(info->state == SELENE_STATE_ENQUEUED && info->attempts <= 1);
            lost += info->attempts == 1;
            if (runs[i] == 1)
                /* The last one, whose outcome was not durable when both were killed. */
                CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
        }
        selene_free(info);
    }
    CHECK(done > 0 && lost <= kills + 1);
    printf("%d owners, %d of %d tasks done, %d dispatches untold\n", kills, done, count, lost);
    close_store(owner_here);
    CHECK_INT(0, runs_kept(file, NULL));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L8 a run of a member counts once", test_same_owner);
    run_test("L10 a run whose owner is killed is adopted by the next and counts once",
             test_adopted);
    run_test("L10 a run is adopted by one owner after another", test_adopted_twice);
    run_test("V6 a run that goes on with the next owner may be given back", test_given_back);
    run_test("L10 only the process that has a run goes on with it", test_of_another);
    run_test("L10 a run whose cycle ended before its owner was killed stays as it is",
             test_ended_before);
    run_test("L10 a completion that was accepted before the owner was killed counts once",
             test_accepted_before);
    run_test("L10 a completion in flight when the owner is killed counts once", test_completing);
    run_test("L10 a run whose member was killed as well was interrupted", test_both_killed);
    run_test("L10 a run whose member is killed while the next owner waits was interrupted",
             test_killed_later);
    run_test("L10 a member that stood still is in time", test_stopped_briefly);
    run_test("L10 a member that comes too late is refused", test_too_late);
    run_test("L10 the handler of a run that was given up is asked to stop", test_told);
    run_test("L10 how long an owner waits is an option, and explain says until when", test_limit);
    run_test("L10 an owner that does not serve leaves the run to the next one", test_looked_at);
    run_test("L10 what a run leaves goes to the next owner with it", test_output);
    run_test("L10 a failure is given again with its text", test_failure);
    run_test("L10 an outcome that found no owner is for the next one", test_away);
    run_test("L10 a run that goes on is asked to stop when its window would have ended",
             test_expires);
    run_test("L10 the outcome of a lane is for the next owner", test_lane);
    run_test("L10 owners are killed at any moment: no run is lost, and none begins twice",
             test_siege);
    tools_end();
    return check_end();
}
