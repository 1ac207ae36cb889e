/*
 * server_idle.c - processes of a pool that wait: what becomes due calls one of them, and nothing waits for one that does not
 * come (docs/rules.md, L7, L8, V22)
 */
#include "server_host.h"
#include "server_tools.h"

#include <poll.h>
#include <sys/wait.h>

/* ---- words -------------------------------------------------------------------------------- */

/* Tests wait for what a handler counts: a call on the owner would wake who sleeps in vain. */

static selene_scheduler caller_of(const char *file, struct work *work) {
    selene_scheduler member = member_of(file, "a");
    offer_work(member, "h", work);
    return member;
}

/** One whose driver has so many lanes. */
static selene_scheduler driven_of(const char *file, uint32_t lanes, struct work *work) {
    selene_scheduler member = caller_of(file, work);
    selene_driver terms = SELENE_INIT(selene_driver);
    terms.refresh_lanes = lanes;
    CHECK_OK(selene_driver_start(member, &terms));
    return member;
}

static void add_after(selene_scheduler scheduler, const char *id, int64_t delay) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    task.initial_delay = delay;
    task.expected_response = MS;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static void add(selene_scheduler scheduler, const char *id) {
    add_after(scheduler, id, 0);
}

static int calls_of(struct work *work) {
    return atomic_load(&work->calls);
}

/* ---- what a run costs ----------------------------------------------------------------------- */

#define MOST 8

/** How many requests a run of a task costs, of a pool that so many processes are in, on a told clock. Of each second one may be
 *  another sort: it offers one more handler. */
static double requests_a_run(int members, int sorts) {
    const char *file = path("t.db");
    selene_scheduler owner = open_told_here(file), member[MOST];
    selene_server server = serve(owner);
    struct work work[MOST] = {{0}};
    selene_task task = task_of("each");
    int64_t begun;
    uint64_t before = 0;
    CHECK_OK(selene_scheduler_now(owner, &begun));
    for (int i = 0; i < members; i++) {
        member[i] = caller_of(file, &work[i]);
        if (i % sorts == 1) CHECK_OK(offer(member[i], "g"));
        CHECK_OK(selene_driver_start(member[i], NULL));
    }
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.handler = text_of("h");
    task.period = task.initial_delay = 10 * S;
    task.recurrence = SELENE_RECURRENCE_ANCHORED;
    task.expected_response = MS;
    CHECK_OK(selene_task_register(owner, &task, NULL));
    for (int i = 1; i <= 60; i++) {
        int calls = 0;
        CHECK_OK(selene_clock_set(owner, begun + i * 10 * S));
        while (calls < i) {
            calls = 0;
            for (int each = 0; each < members; each++)
                calls += calls_of(&work[each]);
            check_sleep(MS / 10);
        }
        WAIT_UNTIL(state_of(owner, "each") == SELENE_STATE_ENQUEUED);
        if (i == 10) before = info_of_server(server).requests;
    }
    uint64_t requests = info_of_server(server).requests - before;
    for (int i = 0; i < members; i++)
        end_working(member[i], 0, &work[i]);
    close_store(owner);
    CHECK(unlink(file) == 0);
    return (double)requests / 50;
}

static void test_costs(void) {
    double alone = requests_a_run(1, 1), many = requests_a_run(MOST, 1);
    double sorts = requests_a_run(MOST, 2);
    printf("requests a run: %.1f of one process, %.1f of eight, %.1f of two sorts\n", alone, many,
           sorts);
    CHECK(many <= 2 * alone);
    CHECK(sorts <= 3 * alone);
}

/* ---- who does not come ------------------------------------------------------------------------- */

static void test_stands_still(void) {
    const char *file = path("t.db");
    struct work work = {0}, other = {0};
    int go[2], ready[2], status;
    char byte;
    CHECK(pipe(go) == 0 && pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (read(go[0], &byte, 1) != 1) _exit(1);
        driven_of(file, 1, &work);
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = driven_of(file, 1, &other);
    CHECK(write(go[1], "x", 1) == 1 && read(ready[0], &byte, 1) == 1);
    /* It has asked last, so that it is called. */
    for (int i = 0; i < 3; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        CHECK(kill(child, SIGSTOP) == 0);
        CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
        add(owner, id);
        WAIT_UNTIL(calls_of(&other) == i + 1);
        CHECK(kill(child, SIGCONT) == 0);
    }
    end_owner(child, SIGKILL);
    end_working(member, 0, &other);
    close_store(owner);
}

/** A process that has a free lane, and says how far its run is, but asks for no other one. */
static void test_busy(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {0};
    selene_scheduler busy = member_of(file, "a");
    selene_driver terms = SELENE_INIT(selene_driver);
    selene_cycle cycle = 0;
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = -1, is_ready;
    CHECK_OK(offer(busy, "h"));
    terms.refresh_lanes = 2;
    add(owner, "one");
    CHECK_OK(selene_driver_open(busy, &terms, NULL));
    while (cycle == 0) {
        CHECK_OK(selene_driver_wait(busy, PATIENCE, &is_ready));
        CHECK_OK(selene_driver_step(busy, &cycle, NULL));
    }
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    selene_scheduler member = driven_of(file, 1, &work);
    add(owner, "two");
    for (int i = 0; calls_of(&work) == 0; i++) {
        CHECK_OK(selene_run_progress(run.run, i, INT64_MAX, NULL, 0));
        check_sleep(10 * MS);
    }
    CHECK_OK(selene_scheduler_close(busy, 0));
    end_working(member, 0, &work);
    close_store(owner);
}

/** What its window's process may not run, since a suspect has its turn there (V7), another one runs. */
static void test_suspects(void) {
    const char *file = path("t.db");
    struct work work = {.waits = 1}, first = {.waits = 1}, second = {.waits = 1};
    int go[2], ready[2];
    char byte;
    CHECK(pipe(go) == 0 && pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (read(go[0], &byte, 1) != 1) _exit(1);
        driven_of(file, 2, &work);
        while (calls_of(&work) < 2)
            check_sleep(MS);
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    selene_scheduler owner = open_here(file);
    serve(owner);
    add(owner, "one");
    add(owner, "two");
    CHECK(write(go[1], "x", 1) == 1 && read(ready[0], &byte, 1) == 1);
    end_owner(child, SIGKILL);
    selene_scheduler member = driven_of(file, 2, &first);
    WAIT_UNTIL(calls_of(&first) == 1);
    selene_scheduler other = driven_of(file, 2, &second);
    WAIT_UNTIL(calls_of(&second) == 1);
    end_working(member, 0, &first);
    end_working(other, 0, &second);
    close_store(owner);
}

/* ---- beside a long run ----------------------------------------------------------------------------- */

/** The only lane of the window is in a handler: what becomes due, by time too, is the other process's. */
static void test_due_beside(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1}, other = {0};
    selene_scheduler member = driven_of(file, 1, &work);
    add(owner, "long");
    WAIT_UNTIL(calls_of(&work) == 1);
    selene_scheduler idle = driven_of(file, 1, &other);
    add(owner, "now");
    WAIT_UNTIL(calls_of(&other) == 1);
    add_after(owner, "later", 200 * MS);
    WAIT_UNTIL(calls_of(&other) == 2);
    end_working(idle, 0, &other);
    end_working(member, 0, &work);
    close_store(owner);
}

/** Its window picks no more, and takes from its own lanes alone (V1). */
static void test_left_window(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_told_here(file);
    serve(owner);
    struct work work = {.waits = 1}, other = {0};
    int64_t begun;
    selene_scheduler member = driven_of(file, 1, &work);
    CHECK_OK(selene_scheduler_now(owner, &begun));
    add(owner, "long");
    WAIT_UNTIL(calls_of(&work) == 1);
    selene_scheduler idle = driven_of(file, 1, &other);
    CHECK_OK(selene_clock_set(owner, begun + 31 * S));
    add(owner, "now");
    WAIT_UNTIL(calls_of(&other) == 1);
    end_working(idle, 0, &other);
    end_working(member, 0, &work);
    close_store(owner);
}

/** An event loop that pulls waits for its driver's descriptor also while it has a window. */
static void test_event_loop(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = member_of(file, "a");
    selene_driver terms = SELENE_INIT(selene_driver);
    selene_cycle cycle = 0, more = 0;
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    int fd = -1;
    CHECK_OK(offer(member, "h"));
    terms.refresh_lanes = 2;
    CHECK_OK(selene_driver_open(member, &terms, &fd));
    struct pollfd polled = {fd, POLLIN, 0};
    add(owner, "one");
    while (cycle == 0) {
        CHECK_INT(1, poll(&polled, 1, -1));
        CHECK_OK(selene_driver_step(member, &cycle, NULL));
    }
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    do {
        CHECK_OK(selene_driver_step(member, &more, NULL));
        CHECK(more == 0);
        CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
        CHECK_INT(SELENE_STEP_WAIT, step);
    } while (poll(&polled, 1, 0) != 0);
    add(owner, "two");
    while (step != SELENE_STEP_RUN) {
        CHECK_INT(1, poll(&polled, 1, -1));
        CHECK_OK(selene_driver_step(member, &more, NULL));
        CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    }
    CHECK(strcmp(run.id.data, "two") == 0);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("V22 what becomes due calls one process of a pool", test_costs);
    run_test("V22 who is called and stands still is not waited for", test_stands_still);
    run_test("V22 who is busy with what it has is not waited for", test_busy);
    run_test("V22 V7 what one process may not run yet another one does", test_suspects);
    run_test("V22 what becomes due beside a long run calls another process", test_due_beside);
    run_test("V1 a long run takes no lane of another process", test_left_window);
    run_test("L7 an event loop that has a window hears what becomes due", test_event_loop);
    tools_end();
    return check_end();
}
