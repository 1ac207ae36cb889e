/*
 * server_step.c - a server without a thread, which the event loop of a host steps (L2)
 */
#include "emulated.h"
#include "server_tools.h"

#include <poll.h>
#include <sys/wait.h>

/* ---- an event loop ---------------------------------------------------------------- */

/** One that serves until it is told to stop, on a thread so that its clients can be of this process. */
struct loop {
    selene_server server;
    int fd;
    atomic_int is_over;
    pthread_t thread;
};

static int is_readable(int fd, int milliseconds) {
    struct pollfd polled = {fd, POLLIN, 0};
    return poll(&polled, 1, milliseconds) > 0;
}

static void *serve_in_loop(void *context) {
    struct loop *own = context;
    while (!atomic_load(&own->is_over)) {
        if (!is_readable(own->fd, 20)) continue;
        selene_status status = selene_server_step(own->server, NULL);
        /* It may be closed under it. */
        if (status != SELENE_OK) CHECK(atomic_load(&own->is_over));
    }
    return NULL;
}

static void loop_begin(struct loop *own) {
    atomic_store(&own->is_over, 0);
    CHECK(pthread_create(&own->thread, NULL, serve_in_loop, own) == 0);
}

static void loop_end(struct loop *own) {
    atomic_store(&own->is_over, 1);
    CHECK(pthread_join(own->thread, NULL) == 0);
}

static struct loop loop_of(selene_scheduler owner) {
    struct loop made = {.fd = -1};
    CHECK_OK(selene_server_open(owner, NULL, &made.server, &made.fd));
    CHECK(made.server != 0 && made.fd >= 0);
    return made;
}

/** Steps until nothing is left to do; how often. */
static int step_all(const struct loop *own) {
    int steps = 0;
    while (is_readable(own->fd, 0)) {
        CHECK_OK(selene_server_step(own->server, NULL));
        CHECK(++steps < 10000);
    }
    return steps;
}

/** A run of a task of its own that a member has taken. */
static selene_run take(selene_scheduler member, const char *id, int64_t budget,
                       selene_cycle *cycle) {
    selene_window window = window_of(ANY_KIND, budget);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_task task = task_of(id);
    int32_t next = -1;
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("here");
    CHECK_OK(offer(member, "here"));
    CHECK_OK(selene_task_register(member, &task, NULL));
    CHECK_OK(selene_cycle_begin(member, &window, cycle));
    CHECK_OK(selene_cycle_next(*cycle, &next, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, next);
    return run.run;
}

/* ---- what it serves ----------------------------------------------------------------- */

static int threads_here(void) {
    char line[256];
    int count = 0;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "Threads: %d", &count) == 1) break;
    fclose(status);
    return count;
}

static void test_same_answers(void) {
    const char *file = path("t.db");
    selene_options options = store_options(file);
    options.flags |= SELENE_OPTIONS_NO_THREADS;
    selene_scheduler owner = open_with(options);
    register_some(owner, 0, 60);
    fill(owner, 20);
    int before = threads_here();
    struct loop loop = loop_of(owner);
    CHECK_INT(before, threads_here());
    loop_begin(&loop);
    selene_scheduler connection = connect_to(file);
    CHECK_DUMPS(dump_all(owner), dump_all(connection));
    add_once(connection, "through the loop");
    CHECK_DUMPS(dump_all(owner), dump_all(connection));
    CHECK_INT(before + 1, threads_here());
    CHECK_OK(selene_scheduler_close(connection, 0));
    loop_end(&loop);
    CHECK_OK(selene_server_close(loop.server));
    CHECK(!exists(path("t.db-sock")));
    close_store(owner);
}

/** Members take runs, and what is to be told to them comes through it. */
static void test_members(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    loop_begin(&loop);
    selene_scheduler member = member_of(file, "pool");
    selene_cycle cycle = 0;
    int32_t stopping = 0;
    selene_run run = take(member, "one", 60 * S, &cycle);
    CHECK_OK(selene_task_cancel(owner, "one", -1, NULL));
    WAIT_UNTIL(selene_run_stopping(run, &stopping) == SELENE_OK &&
               stopping == SELENE_STOP_CANCELLED);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(member, 0));
    loop_end(&loop);
    close_store(owner);
}

/* ---- its descriptor ------------------------------------------------------------------- */

static void test_descriptor(void) {
    const char *file = path("t.db");
    char frames[3 * 512], body[1024];
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    int64_t wake_at = 0, now = 0;
    size_t length = 0;
    CHECK(is_readable(loop.fd, 0));
    step_all(&loop);
    CHECK(!is_readable(loop.fd, 50));
    CHECK_OK(selene_server_step(loop.server, &wake_at));
    CHECK_INT(SELENE_NEVER, wake_at);
    /* What one client has sent at once is served one request a step, and the descriptor says that there is more. */
    int client = raw_socket(file);
    struct hello hello = hello_of(2, 2);
    CHECK(send(client, &hello, sizeof hello, 0) == sizeof hello);
    CHECK(is_readable(loop.fd, PATIENCE / MS));
    step_all(&loop);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "task %d", i);
        length += raw_registration(frames + length, id);
    }
    CHECK(send(client, frames, length, 0) == (ssize_t)length);
    CHECK(is_readable(loop.fd, PATIENCE / MS));
    CHECK_OK(selene_server_step(loop.server, &wake_at));
    CHECK_OK(selene_scheduler_now(owner, &now));
    CHECK_BETWEEN(1, wake_at, now);
    CHECK_INT(1, count_of(owner));
    /* The others make it readable though nothing comes. */
    CHECK(is_readable(loop.fd, PATIENCE / MS));
    CHECK(step_all(&loop) >= 2);
    CHECK_INT(3, count_of(owner));
    for (int i = 0; i < 3; i++)
        CHECK_INT(0, raw_answer(client, body, sizeof body));
    close(client);
    CHECK(is_readable(loop.fd, PATIENCE / MS));
    step_all(&loop);
    CHECK_INT(0, info_of_server(loop.server).clients);
    close_store(owner);
}

/** The time of a run ends though nobody asks: the descriptor follows time. */
static void test_time(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    loop_begin(&loop);
    selene_scheduler member = member_of(file, "pool");
    selene_cycle cycle = 0;
    CHECK_OK(selene_events_open(owner, 100, NULL));
    take(member, "one", 5 * S, &cycle);
    /* An event is taken from its queue without time going on there. */
    int is_over = 0;
    for (int64_t begun = check_now(); !is_over && check_now() - begun < PATIENCE;) {
        selene_event event = SELENE_INIT(selene_event);
        int32_t has = 0;
        CHECK_OK(selene_events_next(owner, 10 * MS, &event, &has, NULL));
        is_over = has != 0 && event.type == SELENE_EVENT_COMPLETED;
    }
    CHECK(is_over);
    CHECK_OK(selene_scheduler_close(member, 0));
    loop_end(&loop);
    close_store(owner);
}

/* ---- while the host does other things -------------------------------------------------- */

static void *connect_briefly(void *context) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    options.path = text_of(context);
    options.timeout = 100 * MS;
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_scheduler_connect(&options, &connection));
    DETAIL("has not answered in time");
    return NULL;
}

static void test_no_steps(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    enum { CLIENTS = 20 };
    int clients[CLIENTS];
    char frame[512], body[1024];
    struct hello hello = hello_of(2, 2);
    connect_briefly((void *)(uintptr_t)file);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = raw_socket(file);
        CHECK(send(clients[i], &hello, sizeof hello, 0) == sizeof hello);
    }
    step_all(&loop);
    /* What came meanwhile shares a commit. */
    for (int i = 0; i < CLIENTS; i++) {
        char id[16];
        snprintf(id, sizeof id, "task %d", i);
        CHECK_INT(0, raw_answer(clients[i], body, sizeof body));
        size_t length = raw_registration(frame, id);
        CHECK(send(clients[i], frame, length, 0) == (ssize_t)length);
    }
    uint64_t before = commits_of(owner);
    step_all(&loop);
    CHECK_INT(before + 1, commits_of(owner));
    for (int i = 0; i < CLIENTS; i++) {
        CHECK_INT(0, raw_answer(clients[i], body, sizeof body));
        close(clients[i]);
    }
    CHECK_INT(CLIENTS, count_of(owner));
    close_store(owner);
}

/** Who has said hello in time is heard, however late the host steps. */
static void test_late_step(void) {
    const char *file = path("t.db");
    struct hello hello = hello_of(2, 2);
    char body[1024];
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    int client = raw_socket(file);
    step_all(&loop);
    CHECK(send(client, &hello, sizeof hello, 0) == sizeof hello);
    /* Longer than it had for it. */
    usleep(5200000);
    step_all(&loop);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    close(client);
    close_store(owner);
}

/** A change that was sent is in doubt when nobody answers, also one that may be asked for twice. */
static void test_doubt(void) {
    const char *file = path("t.db");
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_scheduler owner = open_here(file), connection = 0;
    struct loop loop = loop_of(owner);
    int64_t now = 0;
    options.path = text_of(file);
    options.timeout = 4 * S;
    loop_begin(&loop);
    CHECK_OK(selene_scheduler_connect(&options, &connection));
    loop_end(&loop);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_scheduler_enable(connection, 0));
    CHECK_INT(SELENE_FAULT_IN_DOUBT, selene_error_last()->flags);
    DETAIL("may have been carried out");
    step_all(&loop);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_scheduler_now(connection, &now));
    CHECK_INT(0, selene_error_last()->flags);
    CHECK_OK(selene_scheduler_close(connection, 0));
    step_all(&loop);
    close_store(owner);
}

/** A member that is killed in its run is noticed by the next step. */
static void test_killed_member(void) {
    const char *file = path("t.db");
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_connect_options options = SELENE_INIT(selene_connect_options);
        selene_scheduler member = 0;
        selene_cycle cycle = 0;
        options.path = text_of(file);
        options.pool = text_of("pool");
        options.wait = PATIENCE;
        CHECK_OK(selene_scheduler_connect(&options, &member));
        take(member, "one", 60 * S, &cycle);
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    loop_begin(&loop);
    CHECK(read(ready[0], &byte, 1) == 1);
    loop_end(&loop);
    step_all(&loop);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "one"));
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    CHECK(is_readable(loop.fd, PATIENCE / MS));
    step_all(&loop);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "one"));
    close_store(owner);
}

/** The one thread of an owner that closes, or drains, with a grace goes on serving until the runs of members have ended. */
static void end_with_grace(int is_drain) {
    const char *file = path("t.db");
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_connect_options options = SELENE_INIT(selene_connect_options);
        selene_scheduler member = 0;
        selene_cycle cycle = 0;
        options.path = text_of(file);
        options.pool = text_of("pool");
        options.wait = PATIENCE;
        CHECK_OK(selene_scheduler_connect(&options, &member));
        selene_run run = take(member, "one", 120 * S, &cycle);
        CHECK(write(ready[1], "x", 1) == 1);
        usleep(300000);
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        _exit(0);
    }
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    struct pollfd polled[2] = {{loop.fd, POLLIN, 0}, {ready[0], POLLIN, 0}};
    while (polled[1].revents == 0) {
        CHECK(poll(polled, 2, PATIENCE / MS) > 0);
        CHECK_OK(selene_server_step(loop.server, NULL));
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    int64_t begun = check_now();
    if (is_drain) CHECK_OK(selene_scheduler_drain(owner, 60 * S));
    CHECK_OK(selene_scheduler_close(owner, is_drain ? 0 : 60 * S));
    CHECK(check_now() - begun < 30 * S);
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    owner = open_here(file);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "one"));
    close_store(owner);
}

static void test_close_with_grace(void) {
    end_with_grace(0);
}

static void test_drain(void) {
    end_with_grace(1);
}

/* ---- misuse ----------------------------------------------------------------------------- */

static struct loop observed_loop;
static selene_status step_inside = -1, close_inside = -1, step_beside = -1;
static atomic_int is_observed;

static void *step_on_another_thread(void *context) {
    (void)context;
    step_beside = selene_server_step(observed_loop.server, NULL);
    return NULL;
}

static void observe_step(const selene_event *event, void *context) {
    pthread_t thread;
    (void)context;
    if (event->type != SELENE_EVENT_REGISTERED || atomic_exchange(&is_observed, 1)) return;
    step_inside = selene_server_step(observed_loop.server, NULL);
    close_inside = selene_server_close(observed_loop.server);
    CHECK(pthread_create(&thread, NULL, step_on_another_thread, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void test_misuse(void) {
    const char *file = path("t.db");
    char frame[512], body[1024];
    selene_scheduler owner = open_here(file);
    selene_server started = serve(owner), again = 0;
    int64_t wake_at = 7;
    int32_t fd = -7;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_server_step(started, &wake_at));
    DETAIL("selene_server_open");
    CHECK_INT(7, wake_at);
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_server_open(owner, NULL, &again, &fd));
    CHECK(again == 0 && fd == -7);
    CHECK_OK(selene_server_close(started));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_step(started, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_step(0, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_step(owner, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_open(owner, NULL, NULL, &fd));
    /* In a callback that its step makes, and on another thread meanwhile. */
    observed_loop = loop_of(owner);
    int client = raw_socket(file);
    struct hello hello = hello_of(2, 2);
    CHECK(send(client, &hello, sizeof hello, 0) == sizeof hello);
    step_all(&observed_loop);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    CHECK_OK(selene_scheduler_observe(owner, observe_step, NULL, NULL));
    size_t length = raw_registration(frame, "observed");
    CHECK(send(client, frame, length, 0) == (ssize_t)length);
    step_all(&observed_loop);
    CHECK(atomic_load(&is_observed));
    CHECK_INT(SELENE_ERROR_REENTRANT, step_inside);
    CHECK_INT(SELENE_ERROR_REENTRANT, close_inside);
    CHECK_INT(SELENE_ERROR_BUSY, step_beside);
    CHECK_OK(selene_scheduler_observe(owner, NULL, NULL, NULL));
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    /* What a client is refused is not what a call of the host left. */
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_retry(owner, "no such task", -1));
    CHECK(send(client, frame, length, 0) == (ssize_t)length);
    length = raw_registration(frame, "");
    CHECK(send(client, frame, length, 0) == (ssize_t)length);
    step_all(&observed_loop);
    DETAIL("no such task");
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, raw_answer(client, body, sizeof body));
    CHECK_OK(selene_server_close(observed_loop.server));
    CHECK_INT(-1, raw_answer(client, body, sizeof body));
    close(client);
    close_store(owner);
}

/** A handler that takes long goes on serving. */
static struct loop handler_loop;
static int handler_client;

static void serve_inside(selene_run run, const selene_run_info *info, void *context) {
    char frame[512], body[1024];
    (void)info;
    (void)context;
    size_t length = raw_registration(frame, "from outside");
    CHECK(send(handler_client, frame, length, 0) == (ssize_t)length);
    CHECK(is_readable(handler_loop.fd, PATIENCE / MS));
    CHECK(step_all(&handler_loop) > 0);
    CHECK_INT(0, raw_answer(handler_client, body, sizeof body));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
}

static void test_inside_handler(void) {
    const char *file = path("t.db");
    char body[1024];
    selene_scheduler owner = open_here(file);
    selene_window window = window_of(ANY_KIND, 60 * S);
    selene_report *report = NULL;
    struct hello hello = hello_of(2, 2);
    CHECK_OK(selene_handler_register(owner, "inside", -1, serve_inside, NULL, NULL, NULL));
    selene_task task = task_of("one");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("inside");
    CHECK_OK(selene_task_register(owner, &task, NULL));
    handler_loop = loop_of(owner);
    handler_client = raw_socket(file);
    CHECK(send(handler_client, &hello, sizeof hello, 0) == sizeof hello);
    step_all(&handler_loop);
    CHECK_INT(0, raw_answer(handler_client, body, sizeof body));
    window.flags |= SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(owner, &window, &report));
    CHECK_INT(1, report->run_count);
    selene_free(report);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "from outside"));
    close(handler_client);
    close_store(owner);
}

/* ---- its end ------------------------------------------------------------------------------ */

static selene_server inherited_server;

static void test_in_forked(void) {
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_server_step(inherited_server, NULL));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_server_close(inherited_server));
}

static void test_fork(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    inherited_server = loop.server;
    CHECK_INT(0, in_child(test_in_forked));
    loop_begin(&loop);
    selene_scheduler connection = connect_to(file);
    add_once(connection, "one");
    CHECK_OK(selene_scheduler_close(connection, 0));
    loop_end(&loop);
    close_store(owner);
}

static void test_close(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    struct loop loop = loop_of(owner);
    loop_begin(&loop);
    selene_scheduler member = member_of(file, "pool");
    selene_cycle cycle = 0;
    take(member, "one", 60 * S, &cycle);
    loop_end(&loop);
    /* It is the owner that leaves: the run of the member waits again as before. */
    CHECK_OK(selene_server_close(loop.server));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_step(loop.server, NULL));
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "one"));
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(owner, "one", -1, 0, &info));
    CHECK_INT(0, info->attempts);
    selene_free(info);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_scheduler_prune(member, NULL));
    CHECK_OK(selene_scheduler_close(member, 0));
    /* With the scheduler it ends, too, also while it is stepped. */
    for (int i = 0; i < 20; i++) {
        loop = loop_of(owner);
        loop_begin(&loop);
        selene_scheduler connection = connect_to(file);
        if (i < 19) {
            atomic_store(&loop.is_over, 1);
            CHECK_OK(selene_server_close(loop.server));
            CHECK(pthread_join(loop.thread, NULL) == 0);
        } else {
            loop_end(&loop);
            close_store(owner);
        }
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_scheduler_prune(connection, NULL));
        CHECK_OK(selene_scheduler_close(connection, 0));
    }
    CHECK(!exists(path("t.db-sock")));
}

int main(int argc, char **argv) {
    const char *killed = "L9 a member that is killed is noticed by the next step";
    const char *closed = "R6 a close with a grace goes on serving until members have ended";
    const char *drained = "R6 a drain with a grace does so, too";
    const char *forked = "L15 a forked child cannot step its parent's server, nor disturb it";
    check_begin(argc, argv);
    int is_emulated = !children_have_threads();
    tools_begin(NULL);
    run_test("L2 an event loop serves, without any thread of the library", test_same_answers);
    run_test("L2 members take runs of an owner that steps, and are told of stops", test_members);
    run_test("L2 the descriptor is readable until a step leaves nothing to do", test_descriptor);
    run_test("L2 the descriptor follows time", test_time);
    run_test("L2 while nobody steps clients wait, and what they ask shares a commit",
             test_no_steps);
    if (is_emulated) skip_test(killed, 1, EMULATED);
    else run_test(killed, test_killed_member);
    if (is_emulated) skip_test(closed, 1, EMULATED);
    else run_test(closed, test_close_with_grace);
    if (is_emulated) skip_test(drained, 1, EMULATED);
    else run_test(drained, test_drain);
    run_test("L2 a step inside a step, beside one, or of a thread's server is refused",
             test_misuse);
    run_test("L2 who has said hello in time is heard, however late the host steps", test_late_step);
    run_test("L10 a change that was sent and not answered is in doubt", test_doubt);
    run_test("L2 a handler that takes long may go on serving", test_inside_handler);
    if (is_emulated) skip_test(forked, 1, EMULATED);
    else run_test(forked, test_fork);
    run_test("L2 a server that is stepped closes by itself and with its scheduler", test_close);
    tools_end();
    return check_end();
}
