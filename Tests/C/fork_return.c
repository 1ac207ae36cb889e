/*
 * fork_return.c - a callback forks, and the child comes back from it like its parent (P4)
 *
 * The test has a host of its own as a child. The host forks in one of its callbacks; that child returns, where it should
 * have ended. Then the host is killed, and what it was told is durable is looked for in its store.
 */
#include "misuse.h"

#include <sys/mman.h>

enum where { IN_RUN, IN_STOP, IN_OBSERVER, IN_REPORT, IN_DESTROY, IN_CLOCK };
enum how { PULLED, INLINE, PUSHED, ASYNC, DRIVEN, STEPPED, CLOSING, OPENING };

/** What the processes tell each other. */
static struct {
    /** Calls of the host's functions in the child, after the one in which it came to be. */
    atomic_int called;
    /** What the call answered from which the child came back; -1 if its thread ended. */
    atomic_int answer;
    /** What the child was told then of its parent's handle. */
    atomic_int later;
    /** The host has done all that it wanted. */
    atomic_int is_done;
} * shared;

enum { TASKS = 6 };

/** Tasks that are registered behind the fork. */
static int late(void) {
    return check_tasks(50, 10);
}

static char store[64];
static pid_t host;
static enum where fork_where;
static enum how fork_how;
static atomic_int has_forked, is_child_over, runs, reports, destroyed;
static selene_scheduler scheduler;

/** Whether a child ends by itself; not all that it should do takes longer than this. */
static void await_child(pid_t child) {
    int status = 0, left = 30000;
    while (waitpid(child, &status, WNOHANG) == 0) {
        check_sleep(SELENE_MILLISECOND);
        if (--left == 0) {
            kill(child, SIGKILL);
            fprintf(stderr, "the child does not end\n");
            CHECK(left > 0);
        }
    }
    CHECK(WIFEXITED(status));
}

/** In a function of the host: the first time there is a child, and both come back. */
static void come_by(enum where where) {
    pid_t child;
    if (getpid() != host) {
        atomic_fetch_add(&shared->called, 1);
        return;
    }
    if (where != fork_where || atomic_exchange(&has_forked, 1)) return;
    child = fork();
    CHECK(child >= 0);
    if (child == 0) return;
    await_child(child);
    is_child_over = 1;
}

/** Behind every call of the host: for a child that came back from it this is the end. */
static selene_status came_back(selene_status status) {
    if (getpid() == host) return status;
    shared->answer = status;
    if (scheduler) {
        int64_t now = 0;
        shared->later = selene_scheduler_now(scheduler, &now);
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_close(scheduler, 0));
    }
    /* What is its own works. */
    scheduler = open_default();
    add_task(scheduler, "own");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    _exit(0);
}

#define HOST_OK(call) CHECK_OK(came_back(call))

static void host_run(selene_run run, const selene_run_info *info, void *context) {
    int32_t reason = 0;
    (void)context;
    if (fork_where == IN_STOP && strcmp(info->id.data, "task0") == 0) {
        /* A run that completes at once need not be told by its stop function. */
        while (getpid() == host && !has_forked) {
            selene_status status = selene_run_stopping(run, &reason);
            if (getpid() != host) {
                CHECK_STATUS(SELENE_ERROR_FORKED, status);
                shared->answer = status;
            }
            check_sleep(SELENE_MILLISECOND);
        }
        if (getpid() != host) return;
    }
    come_by(IN_RUN);
    if (getpid() == host) {
        selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
        atomic_fetch_add(&runs, 1);
    }
}

static void host_stop(selene_run run, int32_t reason, void *context) {
    (void)run, (void)reason, (void)context;
    come_by(IN_STOP);
}

static void host_observer(const selene_event *event, void *context) {
    (void)context;
    if (event->type == SELENE_EVENT_COMPLETED || getpid() != host) come_by(IN_OBSERVER);
}

static void host_report(const selene_report *report, void *context) {
    (void)report, (void)context;
    come_by(IN_REPORT);
    atomic_fetch_add(&reports, 1);
}

static void host_destroy(void *context) {
    (void)context;
    come_by(IN_DESTROY);
    atomic_fetch_add(&destroyed, 1);
}

static int64_t host_clock(void *context) {
    (void)context;
    if (runs > 0 || fork_how == OPENING) come_by(IN_CLOCK);
    return CLOCK_BEGIN;
}

static void register_tasks(const char *name, int count) {
    int i;
    for (i = 0; i < count; i++) {
        char id[16];
        selene_task task;
        snprintf(id, sizeof id, "%s%d", name, i);
        task = task_of(id);
        task.handler = text_of("handler");
        task.kind = SELENE_KIND_PROCESSING;
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.expected_response = SELENE_MILLISECOND;
        HOST_OK(selene_task_register(scheduler, &task, NULL));
    }
}

static void use_pulled(void) {
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle = 0;
    int32_t step = SELENE_STEP_RUN;
    window.kinds = SELENE_KIND_PROCESSING;
    HOST_OK(selene_cycle_begin(scheduler, &window, &cycle));
    while (runs < TASKS) {
        HOST_OK(selene_cycle_next(cycle, &step, &run, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        runs++;
        HOST_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    }
    HOST_OK(selene_cycle_end(cycle, NULL));
}

static void use_driver(int has_thread) {
    selene_driver driver = SELENE_INIT(selene_driver);
    driver.processing_budget = fork_where == IN_STOP ? 3 * SELENE_SECOND : SELENE_MINUTE;
    if (has_thread) {
        HOST_OK(selene_driver_start(scheduler, &driver));
        while (runs < TASKS)
            check_sleep(SELENE_MILLISECOND);
        return;
    }
    HOST_OK(selene_driver_open(scheduler, &driver, NULL));
    while (runs < TASKS) {
        selene_cycle cycle = 0;
        HOST_OK(selene_driver_step(scheduler, &cycle, NULL));
        while (cycle) {
            selene_run_info run = SELENE_INIT(selene_run_info);
            int32_t step = 0;
            HOST_OK(selene_cycle_next(cycle, &step, &run, NULL));
            if (step != SELENE_STEP_RUN) break;
            runs++;
            HOST_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
        }
        if (cycle) HOST_OK(selene_cycle_end(cycle, NULL));
    }
}

/** On a slow machine a window's time may be up before its first run has begun, which is to be stopped: another one. */
static int must_stop_again(void) {
    if (fork_where != IN_STOP || has_forked) return 0;
    check_sleep(SELENE_MILLISECOND);
    return 1;
}

static void be_host(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_window window = SELENE_INIT(selene_window);
    host = getpid();
    options.path = text_of(store);
    options.max_pending_processing = SELENE_UNLIMITED;
    if (fork_where == IN_CLOCK) options.clock = host_clock;
    HOST_OK(selene_scheduler_open(&options, &scheduler));
    HOST_OK(selene_scheduler_observe(scheduler, host_observer, NULL, NULL));
    HOST_OK(
        selene_handler_register(scheduler, "handler", -1, host_run, host_stop, NULL, host_destroy));
    register_tasks("task", TASKS);
    window.kinds = SELENE_KIND_PROCESSING;
    window.budget = fork_where == IN_STOP ? 10 * SELENE_SECOND : SELENE_MINUTE;
    if (fork_where == IN_STOP) window.reserve = window.budget - window.budget / 10;
    switch (fork_how) {
    case OPENING:
        break;
    case PULLED:
        use_pulled();
        break;
    case INLINE:
        window.flags = SELENE_WINDOW_INLINE;
        /* fall through */
    case PUSHED:
        do
            HOST_OK(selene_cycle_run(scheduler, &window, NULL));
        while (must_stop_again());
        break;
    case ASYNC:
        do {
            reports = destroyed = 0;
            HOST_OK(selene_cycle_run_async(scheduler, &window, host_report, NULL, host_destroy,
                                           NULL, NULL));
            while (destroyed == 0)
                check_sleep(SELENE_MILLISECOND);
            CHECK_INT(1, reports);
        } while (must_stop_again());
        break;
    case DRIVEN:
    case STEPPED:
        use_driver(fork_how == DRIVEN);
        break;
    case CLOSING:
        register_tasks("late", late());
        HOST_OK(selene_scheduler_close(scheduler, SELENE_MINUTE));
        break;
    }
    if (fork_how != CLOSING) {
        register_tasks("late", late());
        HOST_OK(selene_handler_unregister(scheduler, "handler", -1));
    }
    /* Its observer, on another thread, may be the last to come by; and a child has the lock of the store while it lives. */
    while (!is_child_over)
        check_sleep(SELENE_MILLISECOND);
    shared->is_done = 1;
    kill(host, SIGKILL);
}

static void test_return(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler found = 0;
    char command[128];
    int i, status = 0;
    pid_t child;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    shared->answer = shared->later = -1;
    snprintf(store, sizeof store, "/tmp/selene-fork.XXXXXX");
    CHECK(mkdtemp(store) != NULL);
    snprintf(command, sizeof command, "rm -rf '%s'", store);
    strcat(store, "/store");
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_on_thread(be_host);
        _exit(1);
    }
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK_INT(1, shared->is_done);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    /* Either the thread of a call came back from it, or a library thread ended. */
    CHECK(
        shared->answer == SELENE_ERROR_FORKED ||
        (shared->answer == -1 && (fork_how == PUSHED || fork_how == ASYNC || fork_how == DRIVEN)));
    CHECK(shared->later == -1 || shared->later == SELENE_ERROR_FORKED);
    CHECK_INT(0, shared->called);

    options.path = text_of(store);
    options.max_pending_processing = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &found));
    for (i = 0; i < late(); i++) {
        char id[16];
        selene_task_info *info = NULL;
        snprintf(id, sizeof id, "late%d", i);
        CHECK_OK(selene_task_get(found, id, -1, 0, &info));
        selene_free(info);
    }
    CHECK_OK(selene_scheduler_close(found, 0));
    CHECK_INT(0, system(command));
}

static void run_return(const char *name, enum how how, enum where where) {
    fork_how = how;
    fork_where = where;
    run_test(name, test_return);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_return("P4 a child that returns from a handler on its host's thread", INLINE, IN_RUN);
    run_return("P4 a child that returns from a handler of a blocking cycle", PUSHED, IN_RUN);
    run_return("P4 a child that returns from a handler of an asynchronous cycle", ASYNC, IN_RUN);
    run_return("P4 a child that returns from a handler of the driver", DRIVEN, IN_RUN);
    run_return("P4 a child that returns from a stop function on its host's thread", INLINE,
               IN_STOP);
    run_return("P4 a child that returns from a stop function of a blocking cycle", PUSHED, IN_STOP);
    run_return("P4 a child that returns from a stop function of an asynchronous cycle", ASYNC,
               IN_STOP);
    run_return("P4 a child that returns from a stop function of the driver", DRIVEN, IN_STOP);
    run_return("P4 a child that returns from the observer of a pulled cycle", PULLED, IN_OBSERVER);
    run_return("P4 a child that returns from the observer of an inline cycle", INLINE, IN_OBSERVER);
    run_return("P4 a child that returns from the observer of a blocking cycle", PUSHED,
               IN_OBSERVER);
    run_return("P4 a child that returns from the observer of an asynchronous cycle", ASYNC,
               IN_OBSERVER);
    run_return("P4 a child that returns from the observer of the driver", DRIVEN, IN_OBSERVER);
    run_return("P4 a child that returns from the observer of a driver in steps", STEPPED,
               IN_OBSERVER);
    run_return("P4 a child that returns from a report", ASYNC, IN_REPORT);
    run_return("P4 a child that returns from the destroy of a report", ASYNC, IN_DESTROY);
    run_return("P4 a child that returns from the destroy of a handler", PULLED, IN_DESTROY);
    run_return("P4 a child that returns from a destroy in close", CLOSING, IN_DESTROY);
    run_return("P4 a child that returns from the host's clock", PULLED, IN_CLOCK);
    run_return("P4 a child that returns from the host's clock in an inline cycle", INLINE,
               IN_CLOCK);
    run_return("P4 a child that returns from the host's clock while a scheduler is opened", OPENING,
               IN_CLOCK);
    return check_end();
}
