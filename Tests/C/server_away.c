/*
 * server_away.c - each function through a connection whose owner is killed before it is asked, and while it is
 * (docs/rules.md, L10)
 */
#include "emulated.h"
#include "misuse_arguments.h"
#include "server_host.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/** What the owner alone can do (L16), and what goes over a connection of its own, which no owner that is away has. */
static const char *const others[] = {
    "selene_scheduler_close",   "selene_scheduler_drain", "selene_scheduler_reset",
    "selene_scheduler_observe", "selene_store_backup",    "selene_governor_set_profile",
    "selene_governor_forecast", "selene_trace_record",    "selene_driver_step",
    "selene_driver_stop",       "selene_server_start",    "selene_server_open",
    "selene_clock_set",         "selene_clock_advance",   "selene_driver_wait",
    "selene_events_next",       "selene_events_close",    "selene_handler_unregister",
    "selene_node_open",         "selene_node_step",       "selene_node_wait",
    "selene_node_rows",         "selene_node_failed",     "selene_node_hint",
    "selene_node_get",          "selene_node_leave",      "selene_node_close"};

/** What may have been done when the answer never came; everything else changes nothing. */
static const char *const changing[] = {
    "selene_scheduler_prune", "selene_task_register", "selene_task_register_batch",
    "selene_task_cancel", "selene_task_cancel_tag", "selene_task_cancel_all", "selene_task_retry",
    "selene_task_launch", "selene_task_expire", "selene_task_pause", "selene_task_pause_tag",
    "selene_task_resume", "selene_task_resume_tag", "selene_task_set_next", "selene_ledger_report",
    "selene_use_report", "selene_condition_undefine", "selene_condition_define",
    "selene_condition_set", "selene_conditions_set", "selene_scheduler_enable",
    "selene_scheduler_pause", "selene_scheduler_resume", "selene_group_set_limit",
    "selene_group_pause", "selene_group_resume", "selene_signal_set", "selene_signal_clear",
    "selene_task_retry_successors", "selene_task_retry_all",
    /* As a member of a pool, see below. */
    "selene_handler_register", "selene_cycle_begin", "selene_cycle_run", "selene_cycle_run_async",
    "selene_driver_start", "selene_driver_open"};

/** What a member of a pool asks; the first of it makes it one. */
static const char *const working[] = {"selene_handler_register", "selene_cycle_begin",
                                      "selene_cycle_run",        "selene_cycle_run_async",
                                      "selene_driver_start",     "selene_driver_open"};

static int is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return 1;
    return 0;
}

static char folder[] = "/tmp/away-XXXXXX", socket_path[sizeof folder + 16];

/** A process that serves a scheduler and sleeps until it is killed. */
static pid_t start_owner(void) {
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_server_options terms = SELENE_INIT(selene_server_options);
        selene_server server = 0;
        selene_scheduler owner = open_furnished();
        terms.path = text_of(socket_path);
        CHECK_OK(selene_server_start(owner, &terms, &server));
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    return child;
}

static void kill_owner(pid_t owner) {
    int status;
    CHECK(kill(owner, SIGKILL) == 0);
    CHECK(waitpid(owner, &status, 0) == owner);
}

static selene_scheduler connect_here(void) {
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    to.path = text_of(socket_path);
    CHECK_OK(selene_scheduler_connect(&to, &connection));
    return connection;
}

/** A call that is not answered. */
static void check_away(const struct handle_call *call, uint64_t handle, int may_be_done) {
    outs_reset();
    selene_status status = call->call(handle);
    const char *detail = selene_error_last()->message.data;
    if (status != SELENE_ERROR_OWNER_AWAY) {
        fprintf(stderr, "%s: %s (%s)\n", call->name, selene_name(SELENE_NAMES_STATUS, status),
                detail);
        check_fail();
    }
    if (selene_error_last()->flags != (may_be_done ? SELENE_FAULT_IN_DOUBT : 0) ||
        (strstr(detail, "may have been carried out") != NULL) != may_be_done ||
        (strstr(detail, "nothing was changed") != NULL) == may_be_done) {
        fprintf(stderr, "%s: \"%s\"\n", call->name, detail);
        check_fail();
    }
    /* Nothing was written that the caller might take for an answer. */
    if (!outs_untouched()) {
        fprintf(stderr, "%s wrote an output\n", call->name);
        check_fail();
    }
}

static int is_tried(const struct handle_call *call) {
    return call->type == TAKES_SCHEDULER && !is_among(call->name, others, COUNT(others));
}

static void test_before(void) {
    CHECK(mkdtemp(folder) != NULL);
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    int tried = 0;
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        if (!is_tried(&handle_calls[i])) continue;
        pid_t owner = start_owner();
        selene_scheduler connection = connect_here();
        kill_owner(owner);
        check_away(&handle_calls[i], connection, 0);
        CHECK_OK(selene_scheduler_close(connection, 0));
        tried++;
    }
    CHECK(tried > 40);
    CHECK(unlink(socket_path) == 0 && rmdir(folder) == 0);
}

/** The owner stands still when it is asked, and is killed while the call waits. */
static void test_during(void) {
    CHECK(mkdtemp(folder) != NULL);
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        int status;
        if (!is_tried(call)) continue;
        pid_t owner = start_owner();
        selene_scheduler connection = connect_here();
        /* As a member of a pool it has its place before, and hears what is new. */
        if (is_among(call->name, working, COUNT(working))) {
            CHECK_OK(selene_handler_register(connection, "mine", -1, NULL, NULL, NULL, NULL));
            CHECK_OK(selene_driver_open(connection, NULL, NULL));
            CHECK_OK(selene_driver_stop(connection, 0));
        }
        CHECK(kill(owner, SIGSTOP) == 0);
        CHECK(waitpid(owner, &status, WUNTRACED) == owner && WIFSTOPPED(status));
        pthread_t killer = kill_soon(owner);
        int may_be_done = is_among(call->name, changing, COUNT(changing));
        check_away(call, connection, may_be_done);
        await_killer(killer, owner);
        CHECK_OK(selene_scheduler_close(connection, 0));
    }
    CHECK(unlink(socket_path) == 0 && rmdir(folder) == 0);
}

/* ---- cycles, lanes and runs ---------------------------------------------------------------------- */

/** What is settled here, whatever becomes of the owner. */
static const char *const settled_here[] = {"selene_cycle_descriptor", "selene_lane_open",
                                           "selene_lane_close",       "selene_run_set_user",
                                           "selene_run_sleep",        "selene_run_user"};

/** A member that has a run, in a window of lanes or not; *out_handle: what such a call takes. */
static selene_scheduler take_a_run(const struct handle_call *call, uint64_t *out_handle) {
    int has_lanes = call->type == TAKES_LANE || strcmp(call->name, "selene_cycle_wait") == 0;
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_task task = task_of("t");
    selene_cycle cycle = 0;
    selene_lane lane = 0;
    int32_t step = SELENE_STEP_DONE;
    selene_scheduler member = connect_here();
    CHECK_OK(selene_handler_register(member, "h", -1, NULL, NULL, NULL, NULL));
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    CHECK_OK(selene_task_register(member, &task, NULL));
    window.flags = has_lanes ? SELENE_WINDOW_LANES : 0;
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    if (has_lanes) CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(has_lanes ? selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &run, NULL)
                       : selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    *out_handle = call->type == TAKES_LANE ? lane : call->type == TAKES_CYCLE ? cycle : run.run;
    return member;
}

/** The owner is killed before each of them is asked, or stands still when it is, and is killed while the call waits. */
static void try_work(int is_asked_before) {
    CHECK(mkdtemp(folder) != NULL);
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    int tried = 0, status;
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        uint64_t handle = 0;
        if (call->type == TAKES_SCHEDULER ||
            is_among(call->name, settled_here, COUNT(settled_here)))
            continue;
        pid_t owner = start_owner();
        pthread_t killer = 0;
        selene_scheduler member = take_a_run(call, &handle);
        if (is_asked_before) {
            CHECK(kill(owner, SIGSTOP) == 0);
            CHECK(waitpid(owner, &status, WUNTRACED) == owner && WIFSTOPPED(status));
            killer = kill_soon(owner);
        } else {
            kill_owner(owner);
        }
        /* Whether a window is over is asked as often as one likes. */
        check_away(call, handle, is_asked_before && strcmp(call->name, "selene_cycle_wait") != 0);
        if (is_asked_before) await_killer(killer, owner);
        CHECK_OK(selene_scheduler_close(member, 0));
        tried++;
    }
    CHECK(tried > 10);
    CHECK(unlink(socket_path) == 0 && rmdir(folder) == 0);
}

static void test_work_before(void) {
    try_work(0);
}

static void test_work_during(void) {
    try_work(1);
}

/* ---- and the next owner ---------------------------------------------------------------------------- */

/** What was answered went well, and the same handle has the next owner. */
static void test_after(void) {
    CHECK(mkdtemp(folder) != NULL);
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    selene_scheduler connection = 0;
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        if (!is_tried(&handle_calls[i])) continue;
        int has_threads = is_among(handle_calls[i].name, working, COUNT(working));
        pid_t owner = start_owner();
        /* No thread of the library lives when the next owner is forked. */
        if (has_threads && connection != 0) {
            CHECK_OK(selene_scheduler_close(connection, SELENE_SECOND));
            connection = 0;
        }
        if (connection == 0) connection = connect_here();
        outs_reset();
        selene_status status = handle_calls[i].call(connection);
        if (status == SELENE_ERROR_OWNER_AWAY) {
            fprintf(stderr, "%s: %s\n", handle_calls[i].name, selene_error_last()->message.data);
            check_fail();
        }
        outs_free();
        if (has_threads) {
            CHECK_OK(selene_scheduler_close(connection, SELENE_SECOND));
            connection = 0;
        }
        kill_owner(owner);
    }
    if (connection != 0) CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK(unlink(socket_path) == 0 && rmdir(folder) == 0);
}

/* ---- and one that is waited for -------------------------------------------------------------------- */

static atomic_int has_asked;

static void *add_a_task(void *argument) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = text_of("later");
    task.handler = text_of("h");
    task.schedule = SELENE_SCHEDULE_ONCE;
    atomic_store(&has_asked, 1);
    const selene_status status = selene_task_register(*(selene_scheduler *)argument, &task, NULL);
    /* The latter where the close came before it. */
    CHECK(status == SELENE_ERROR_OWNER_AWAY || status == SELENE_ERROR_INVALID_HANDLE);
    return NULL;
}

/** Its calls wait for an owner for days. */
static selene_scheduler take_a_run_patiently(uint64_t *out_run, uint64_t *out_cycle) {
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_task task = SELENE_INIT(selene_task);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_scheduler member = 0;
    int32_t step = -1;
    to.path = text_of(socket_path);
    to.wait = 24 * SELENE_HOUR;
    CHECK_OK(selene_scheduler_connect(&to, &member));
    CHECK_OK(selene_handler_register(member, "h", -1, NULL, NULL, NULL, NULL));
    task.id = text_of("now");
    task.handler = text_of("h");
    task.schedule = SELENE_SCHEDULE_ONCE;
    CHECK_OK(selene_task_register(member, &task, NULL));
    CHECK_OK(selene_driver_open(member, &driver, NULL));
    while (*out_cycle == 0) {
        int32_t is_ready = 0;
        CHECK_OK(selene_driver_step(member, out_cycle, NULL));
        if (*out_cycle == 0) CHECK_OK(selene_driver_wait(member, SELENE_HOUR, &is_ready));
    }
    CHECK_OK(selene_cycle_next(*out_cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    *out_run = run.run;
    return member;
}

/** A call that waits for the next owner holds up no other of its connection, and none that a program makes as it ends. */
static void test_patience(void) {
    uint64_t run = 0, cycle = 0, next = 0;
    int32_t reason = 0, step = 0;
    int64_t left = 0;
    pthread_t thread;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    pid_t owner = start_owner();
    selene_scheduler member = take_a_run_patiently(&run, &cycle);
    kill_owner(owner);
    CHECK(pthread_create(&thread, NULL, add_a_task, &member) == 0);
    WAIT_UNTIL(atomic_load(&has_asked));
    for (int i = 0; i < 200; i++) {
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_driver_step(member, &next, NULL));
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_run_stopping(run, &reason));
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_run_remaining(run, &left));
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_run_progress(run, 1, 2, "", 0));
    }
    /* What was of the owner is not waited for: it is over. */
    CHECK(selene_cycle_next(cycle, &step, NULL, NULL) != SELENE_OK);
    CHECK(selene_cycle_end(cycle, NULL) != SELENE_OK);
    CHECK_OK(selene_driver_stop(member, 10 * SELENE_SECOND));
    CHECK_OK(selene_scheduler_close(member, 0));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(unlink(socket_path) == 0 && rmdir(folder) == 0);
}

int main(int argc, char **argv) {
    const char *after =
        "L10 each function finds the next owner where the one before was killed after it";
    check_begin(argc, argv);
    int is_emulated = !children_have_threads();
    run_test("L10 each function answers OWNER_AWAY where the owner was killed before it",
             test_before);
    run_test(
        "L10 each function says whether it may have been done where the owner is killed meanwhile",
        test_during);
    run_test("L10 each function of a run answers OWNER_AWAY where the owner was killed before it",
             test_work_before);
    run_test("L10 each function of a run says whether it may have been done, likewise",
             test_work_during);
    run_test("L10 a call that waits for an owner holds up no other, and ends with a close",
             test_patience);
    /* The next owner is forked while the connection has its thread. */
    if (is_emulated) skip_test(after, 1, EMULATED);
    else run_test(after, test_after);
    return check_end();
}
