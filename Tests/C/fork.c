/*
 * fork.c - after fork() the parent goes on as if nothing had been, and the child starts anew
 *
 * A child says that it came to its end by a byte in a pipe, not by its exit status: leak checkers have their own idea of
 * that, since the threads of the parent are gone and what they held is not.
 */
#include "misuse.h"

#include <pthread.h>

/** Runs a body in a child of this thread and process. */
static pid_t begin_child(void (*body)(void), int *verdict) {
    int ends[2];
    pid_t child;
    CHECK_INT(0, pipe(ends));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm((unsigned)check_environment("SELENE_TEST_ALARM", 60) / 2);
        close(ends[0]);
        body();
        CHECK_INT(1, write(ends[1], "!", 1));
        _exit(0);
    }
    close(ends[1]);
    *verdict = ends[0];
    return child;
}

static void await_child(pid_t child, int verdict) {
    char byte = 0;
    ssize_t got;
    int status = 0;
    while ((got = read(verdict, &byte, 1)) < 0 && errno == EINTR) {
    }
    close(verdict);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (got != 1)
        fprintf(stderr, "the child did not come to its end (status 0x%x)\n", (unsigned)status);
    CHECK(got == 1);
}

static void in_child(void (*body)(void)) {
    int verdict;
    pid_t child = begin_child(body, &verdict);
    await_child(child, verdict);
}

/* ---- the parent's things -------------------------------------------------------------- */

static struct {
    selene_scheduler scheduler;
    /** A pulled cycle with a run in flight, and one on library threads with another. */
    selene_cycle cycle, pushed;
    /* Of a scheduler of its own. */
    selene_scheduler lending;
    selene_lane lane;
    selene_run run, pushed_run;
    /** Of the past. */
    selene_run completed, stale;
    /** What it owns. */
    selene_task_info *info;
    selene_task_ids *ids;
    selene_plan *plan;
} parent;

static atomic_int entered, may_return, reports, events;

static void parent_handler(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    parent.pushed_run = run;
    atomic_fetch_add(&entered, 1);
    while (!atomic_load(&may_return))
        check_sleep(SELENE_MILLISECOND);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void parent_report(const selene_report *report, void *context) {
    (void)context;
    CHECK_INT(1, report->new_data);
    atomic_fetch_add(&reports, 1);
}

static void parent_event(const selene_event *event, void *context) {
    (void)event, (void)context;
    atomic_fetch_add(&events, 1);
}

static void open_parent(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_window window = refresh_window();
    selene_task task;
    selene_cycle cycle = 0;
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &parent.scheduler));
    CHECK_OK(selene_handler_register(parent.scheduler, "task", -1, count_run, count_stop, NULL,
                                     count_destroy));
    add_task(parent.scheduler, "task");
    CHECK_OK(selene_cycle_begin(parent.scheduler, NULL, &cycle));
    parent.completed = take_run(cycle);
    CHECK_OK(selene_run_complete(parent.completed, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_begin(parent.scheduler, NULL, &cycle));
    parent.stale = take_run(cycle);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                 selene_run_complete(parent.stale, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_open(NULL, &parent.lending));
    parent.lane = open_lane_of(parent.lending);
    window.budget = SELENE_HOUR;
    CHECK_OK(selene_cycle_begin(parent.scheduler, &window, &parent.cycle));
    parent.run = take_run(parent.cycle);
    CHECK_OK(selene_task_get(parent.scheduler, "task", -1, 0, &parent.info));
    CHECK_OK(selene_task_list(parent.scheduler, NULL, 0, &parent.ids));
    CHECK_OK(selene_cycle_plan(parent.scheduler, NULL, &parent.plan));

    CHECK_OK(selene_handler_register(parent.scheduler, "pushed", -1, parent_handler, NULL, NULL,
                                     count_destroy));
    task = task_of("pushed");
    task.kind = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_task_register(parent.scheduler, &task, NULL));
    window.kinds = SELENE_KIND_PROCESSING;
    CHECK_OK(selene_cycle_run_async(parent.scheduler, &window, parent_report, NULL, count_destroy,
                                    &parent.pushed, NULL));
    WAIT_FOR(1, entered);
    CHECK_OK(selene_scheduler_observe(parent.scheduler, parent_event, NULL, count_destroy));
    /* The run that expired was asked to stop. */
    CHECK_INT(1, called);
    called = 0;
}

/** All is as it was, and ends as it should. */
static void close_parent(void) {
    int64_t now = 0;
    CHECK_OK(selene_scheduler_now(parent.scheduler, &now));
    CHECK_INT(0, destroyed);
    CHECK_INT(0, called);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(parent.scheduler, "task"));
    CHECK_INT(SELENE_STATE_RUNNING, state_of(parent.scheduler, "pushed"));
    CHECK_OK(selene_run_complete(parent.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(parent.cycle, NULL));
    may_return = 1;
    WAIT_FOR(1, reports);
    WAIT_FOR(1, destroyed);
    /* An observer may be told after the change can be seen. */
    WAIT_UNTIL(atomic_load(&events) > 0);
    selene_free(parent.info);
    selene_free(parent.ids);
    selene_free(parent.plan);
    CHECK_OK(selene_lane_close(parent.lane));
    CHECK_OK(selene_scheduler_close(parent.lending, 0));
    CHECK_OK(selene_scheduler_close(parent.scheduler, SELENE_MINUTE));
    CHECK_INT(4, destroyed);
}

/** Every function refuses what belongs to the parent. */
static void refuse_parent(void) {
    const selene_run tokens[] = {parent.run, parent.pushed_run, parent.completed, parent.stale};
    int called_before = atomic_load(&called), events_before = atomic_load(&events);
    size_t i, k;
    outs_reset();
    for (i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        switch (call->type) {
        case TAKES_SCHEDULER:
            call_refused(call, parent.scheduler, SELENE_ERROR_FORKED);
            break;
        case TAKES_CYCLE:
            call_refused(call, parent.cycle, SELENE_ERROR_FORKED);
            call_refused(call, parent.pushed, SELENE_ERROR_FORKED);
            break;
        case TAKES_LANE:
            call_refused(call, parent.lane, SELENE_ERROR_FORKED);
            break;
        case TAKES_RUN:
            for (k = 0; k < sizeof tokens / sizeof tokens[0]; k++)
                call_refused(call, tokens[k], SELENE_ERROR_FORKED);
            break;
        }
    }
    CHECK_INT(called_before, called);
    CHECK_INT(events_before, events);
}

/* ---- the child's own ------------------------------------------------------------------------ */

static atomic_int own_runs, own_destroyed, own_reports;

static void own_handler(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    CHECK_TEXT("own", info->id);
    atomic_fetch_add(&own_runs, 1);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void own_report(const selene_report *report, void *context) {
    (void)context;
    CHECK_INT(1, report->new_data);
    atomic_fetch_add(&own_reports, 1);
}

static void own_destroy(void *context) {
    (void)context;
    atomic_fetch_add(&own_destroyed, 1);
}

/** A scheduler with everything: pulled, on library threads, inline, asynchronous, closed. */
static void use_own(void) {
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    selene_scheduler own = open_default();
    selene_cycle cycle = 0;
    int64_t now = 0;
    CHECK(own != parent.scheduler);
    own_runs = own_destroyed = own_reports = 0;
    CHECK_OK(selene_handler_register(own, "own", -1, own_handler, NULL, NULL, own_destroy));
    add_task(own, "own");
    CHECK_OK(selene_cycle_begin(own, &window, &cycle));
    CHECK_OK(selene_run_complete(take_run(cycle), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_run(own, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(own, &window, NULL));
    window.flags = 0;
    window.lanes = 3;
    CHECK_OK(selene_cycle_run_async(own, &window, own_report, NULL, own_destroy, NULL, NULL));
    WAIT_FOR(1, own_destroyed);
    CHECK_INT(1, own_reports);
    CHECK_INT(3, own_runs);
    CHECK_OK(selene_scheduler_close(own, SELENE_MINUTE));
    CHECK_INT(2, own_destroyed);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_now(own, &now));
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void child_refuses(void) {
    refuse_parent();
    CHECK_OK(selene_scheduler_close(0, 0));
}

static void test_forked(void) {
    open_parent();
    picture_take(&before_call, parent.scheduler);
    in_child(child_refuses);
    picture_take(&after_call, parent.scheduler);
    CHECK(before_call.length == after_call.length);
    CHECK(memcmp(before_call.bytes, after_call.bytes, before_call.length) == 0);
    close_parent();
}

static void child_uses_own(void) {
    selene_scheduler own[10];
    size_t i, k;
    use_own();
    refuse_parent();
    /* Wherever its own schedulers stand, they are not the parent's. */
    for (i = 0; i < 10; i++) {
        own[i] = open_default();
        add_task(own[i], "task");
        CHECK(own[i] != parent.scheduler);
        for (k = 0; k < i; k++)
            CHECK(own[k] != own[i]);
    }
    refuse_parent();
    for (i = 0; i < 10; i++) {
        CHECK_INT(SELENE_STATE_ENQUEUED, state_of(own[i], "task"));
        CHECK_OK(selene_scheduler_close(own[i], 0));
    }
    refuse_parent();
    use_own();
    /* What was handed out is memory like any other. */
    CHECK_TEXT("task", parent.info->id);
    CHECK_INT(1, parent.ids->count);
    selene_free(parent.info);
    selene_free(parent.ids);
    selene_free(parent.plan);
}

static void test_own(void) {
    open_parent();
    in_child(child_uses_own);
    in_child(child_uses_own);
    use_own();
    close_parent();
}

/** The parent closed some schedulers before: their slots are free in the child, too. */
static void test_own_in_used_slots(void) {
    selene_scheduler others[5];
    int i;
    for (i = 0; i < 5; i++)
        others[i] = open_default();
    open_parent();
    for (i = 0; i < 5; i++)
        CHECK_OK(selene_scheduler_close(others[i], 0));
    in_child(child_uses_own);
    use_own();
    close_parent();
}

static void child_without_parent(void) {
    use_own();
}

static void test_nothing_open(void) {
    in_child(child_without_parent);
    use_own();
    in_child(child_without_parent);
}

/* Each level opens a scheduler of its own before it forks. */
enum { LEVELS = 4 };
static selene_scheduler of_level[LEVELS + 1];
static selene_run run_of_level[LEVELS + 1];
static int level;

static void next_level(void) {
    int64_t now = 0;
    int i;
    selene_cycle cycle = 0;
    level++;
    for (i = 0; i < level; i++) {
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_now(of_level[i], &now));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_close(of_level[i], 0));
        CHECK_STATUS(SELENE_ERROR_FORKED,
                     selene_run_complete(run_of_level[i], SELENE_OUTCOME_NEW_DATA));
    }
    refuse_parent();
    if (level == LEVELS) {
        use_own();
        return;
    }
    of_level[level] = open_default();
    add_task(of_level[level], "task");
    add_pulled_handler(of_level[level], "task");
    CHECK_OK(selene_cycle_begin(of_level[level], NULL, &cycle));
    run_of_level[level] = take_run(cycle);
    for (i = 0; i < level; i++)
        CHECK(of_level[i] != of_level[level] && run_of_level[i] != run_of_level[level]);
    in_child(next_level);
    CHECK_OK(selene_scheduler_now(of_level[level], &now));
    CHECK_OK(selene_run_complete(run_of_level[level], SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(of_level[level], 0));
}

static void test_levels(void) {
    open_parent();
    of_level[0] = parent.scheduler;
    run_of_level[0] = parent.run;
    in_child(next_level);
    close_parent();
}

/* ---- in a callback ------------------------------------------------------------------------------ */

static selene_run forking_run;
static selene_cycle forking_cycle;
static atomic_int forks;

static void child_in_callback(void) {
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_close(parent.scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_reset(parent.scheduler));
    if (forking_run)
        CHECK_STATUS(SELENE_ERROR_FORKED,
                     selene_run_complete(forking_run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_cycle_end(forking_cycle, NULL));
    use_own();
}

static void forking_handler(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    forking_run = run;
    forking_cycle = info->cycle;
    in_child(child_in_callback);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    in_child(child_in_callback);
    forks += 2;
}

static void forking_event(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_STARTED) return;
    forking_run = event->run;
    forking_cycle = event->cycle;
    in_child(child_in_callback);
    forks++;
}

static void test_in_callbacks(void) {
    int i;
    for (i = 0; i < 2; i++) {
        selene_window window = SELENE_INIT(selene_window);
        selene_report *report = NULL;
        window.flags = i ? SELENE_WINDOW_INLINE : 0;
        window.budget = SELENE_HOUR;
        parent.scheduler = open_default();
        forks = 0;
        CHECK_OK(selene_handler_register(parent.scheduler, "task", -1, forking_handler, NULL, NULL,
                                         NULL));
        CHECK_OK(selene_scheduler_observe(parent.scheduler, forking_event, NULL, NULL));
        add_task(parent.scheduler, "task");
        CHECK_OK(selene_cycle_run(parent.scheduler, &window, &report));
        CHECK_INT(1, report->new_data);
        /* The observer may be on another thread than the handler. */
        WAIT_FOR(3, forks);
        selene_free(report);
        CHECK_OK(selene_scheduler_close(parent.scheduler, SELENE_MINUTE));
    }
}

/* ---- while others hold it busy -------------------------------------------------------------------- */

static atomic_int stop_busy;

static void busy_handler(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void *busy_with_tasks(void *context) {
    selene_scheduler scheduler = *(selene_scheduler *)context;
    int i = 0;
    while (!atomic_load(&stop_busy)) {
        char name[16];
        selene_task task;
        selene_task_ids *ids = NULL;
        snprintf(name, sizeof name, "t%d", i++ % 50);
        task = task_of(name);
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        if (i % 3 == 0) {
            selene_status got = selene_task_cancel(scheduler, name, -1, NULL);
            CHECK(got == SELENE_OK || got == SELENE_ERROR_NOT_FOUND);
        }
        if (i % 50 == 0) CHECK_OK(selene_scheduler_prune(scheduler, NULL));
        CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
        selene_free(ids);
    }
    return NULL;
}

static void *busy_with_cycles(void *context) {
    selene_scheduler scheduler = *(selene_scheduler *)context;
    while (!atomic_load(&stop_busy))
        CHECK_OK(selene_cycle_run(scheduler, NULL, NULL));
    return NULL;
}

static void *busy_with_schedulers(void *context) {
    (void)context;
    while (!atomic_load(&stop_busy)) {
        selene_scheduler scheduler = open_default();
        add_task(scheduler, "task");
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    return NULL;
}

static void child_of_busy(void) {
    int64_t now = 0;
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_now(parent.scheduler, &now));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_task_cancel_all(parent.scheduler, NULL));
    use_own();
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_now(parent.scheduler, &now));
}

static void test_busy(void) {
    void *(*const bodies[])(void *) = {busy_with_tasks, busy_with_cycles, busy_with_schedulers,
                                       busy_with_tasks};
    enum { THREADS = sizeof bodies / sizeof bodies[0] };
    pthread_t threads[THREADS];
    int i, count = rounds(50) < 50 ? 5 : 50;
    parent.scheduler = open_default();
    CHECK_OK(selene_handler_register(parent.scheduler, "busy", -1, busy_handler, NULL, NULL, NULL));
    {
        selene_task task = task_of("busy");
        CHECK_OK(selene_task_register(parent.scheduler, &task, NULL));
    }
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, bodies[i], &parent.scheduler));
    for (i = 0; i < count; i++) {
        int64_t now = 0;
        in_child(child_of_busy);
        CHECK_OK(selene_scheduler_now(parent.scheduler, &now));
    }
    stop_busy = 1;
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    CHECK_OK(selene_scheduler_close(parent.scheduler, 10 * SELENE_SECOND));
}

/* ---- while others are in a store ------------------------------------------------------------------ */

static char stores[64];
static int children_of_stores;

static selene_scheduler open_stored(const char *kind, int number) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    char file[128];
    snprintf(file, sizeof file, "%s/%s%d", stores, kind, number);
    options.path = text_of(file);
    options.flags = SELENE_OPTIONS_RELAXED;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    return scheduler;
}

static void child_with_store(void) {
    selene_scheduler scheduler = open_stored("child", children_of_stores);
    add_task(scheduler, "task");
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** SQLite has locks for the whole process, which no child may find locked. */
static void test_busy_stores(void) {
    enum { THREADS = 3 };
    selene_scheduler schedulers[THREADS];
    pthread_t threads[THREADS];
    char command[128];
    int i, count = rounds(50) < 50 ? 5 : 50;
    snprintf(stores, sizeof stores, "/tmp/selene-fork.XXXXXX");
    CHECK(mkdtemp(stores) != NULL);
    for (i = 0; i < THREADS; i++) {
        schedulers[i] = open_stored("store", i);
        CHECK_INT(0, pthread_create(&threads[i], NULL, busy_with_tasks, &schedulers[i]));
    }
    for (; children_of_stores < count; children_of_stores++)
        in_child(child_with_store);
    stop_busy = 1;
    for (i = 0; i < THREADS; i++) {
        CHECK_INT(0, pthread_join(threads[i], NULL));
        CHECK_OK(selene_scheduler_close(schedulers[i], 0));
    }
    snprintf(command, sizeof command, "rm -rf '%s'", stores);
    CHECK_INT(0, system(command));
}

/** With locks that let those in who come again before one who waits a fork may wait for ever; some C libraries have such. */
static void test_many_writers(void) {
    enum { THREADS = 16 };
    selene_scheduler schedulers[THREADS];
    pthread_t threads[THREADS];
    char command[128];
    int64_t total = 0, worst = 0;
    int i, count = rounds(20) < 20 ? 5 : 20;
    snprintf(stores, sizeof stores, "/tmp/selene-fork.XXXXXX");
    CHECK(mkdtemp(stores) != NULL);
    for (i = 0; i < THREADS; i++) {
        schedulers[i] = open_stored("store", i);
        CHECK_INT(0, pthread_create(&threads[i], NULL, busy_with_tasks, &schedulers[i]));
    }
    for (i = 0; i < count; i++) {
        int64_t begun = check_now(), took;
        pid_t child = fork();
        int status = 0;
        if (child == 0) _exit(0);
        took = check_now() - begun;
        total += took;
        if (took > worst) worst = took;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        CHECK(child > 0 && WIFEXITED(status));
    }
    stop_busy = 1;
    for (i = 0; i < THREADS; i++) {
        CHECK_INT(0, pthread_join(threads[i], NULL));
        CHECK_OK(selene_scheduler_close(schedulers[i], 0));
    }
    printf("%d forks beside %d threads that write: %.1f ms on average, %.1f ms at most\n", count,
           (int)THREADS, (double)total / count / 1e6, (double)worst / 1e6);
    fflush(stdout);
    snprintf(command, sizeof command, "rm -rf '%s'", stores);
    CHECK_INT(0, system(command));
    CHECK_BETWEEN(0, worst, PATIENCE);
}

static pthread_barrier_t first_barrier;

static void *use_first(void *context) {
    selene_scheduler scheduler;
    (void)context;
    pthread_barrier_wait(&first_barrier);
    scheduler = open_default();
    CHECK_OK(selene_cycle_run(scheduler, NULL, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    return NULL;
}

/** The library has never been called in this process when several threads call it and one forks. */
static void child_first_use(void) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    int i;
    CHECK_INT(0, pthread_barrier_init(&first_barrier, NULL, THREADS + 1));
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_create(&threads[i], NULL, use_first, NULL));
    pthread_barrier_wait(&first_barrier);
    in_child(child_without_parent);
    for (i = 0; i < THREADS; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    use_own();
}

static void test_first_use(void) {
    int i, count = rounds(100) < 100 ? 5 : 100;
    for (i = 0; i < count; i++)
        in_child(child_first_use);
}

/** Many children at a time, each with its own scheduler. */
static void test_many_children(void) {
    enum { CHILDREN = 8 };
    pid_t children[CHILDREN];
    int verdicts[CHILDREN], i;
    open_parent();
    for (i = 0; i < CHILDREN; i++)
        children[i] = begin_child(child_uses_own, &verdicts[i]);
    for (i = 0; i < CHILDREN; i++)
        await_child(children[i], verdicts[i]);
    close_parent();
}

enum { MOST = 4096 };
static selene_scheduler all_open[MOST];
static int most_open;

/** No handle of the parent is one of the child's. */
static void child_of_most(void) {
    selene_scheduler own;
    int64_t now = 0;
    int i;
    own = open_default();
    for (i = 0; i < most_open; i++) {
        CHECK(all_open[i] != own);
        CHECK(selene_scheduler_now(all_open[i], &now) != SELENE_OK);
    }
    CHECK_OK(selene_scheduler_close(own, 0));
    use_own();
}

/** However many the parent has open, the child may open as many. */
static void test_parent_has_most(void) {
    int i;
    most_open = check_tasks(MOST, rounds(MOST));
    for (i = 0; i < most_open; i++)
        all_open[i] = open_default();
    in_child(child_of_most);
    for (i = 0; i < most_open; i++)
        CHECK_OK(selene_scheduler_close(all_open[i], 0));
}

/** The child leaves by exit(), with all that the process does then. */
static void child_exits(void) {
    use_own();
    open_default();
}

static void test_exit(void) {
    int ends[2], status = -1;
    char byte = 0;
    pid_t child;
    open_parent();
    CHECK_INT(0, pipe(ends));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        child_exits();
        CHECK_INT(1, write(ends[1], "!", 1));
        exit(0);
    }
    close(ends[1]);
    CHECK_INT(1, read(ends[0], &byte, 1));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    CHECK(WIFEXITED(status));
    close(ends[0]);
    close_parent();
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P4 in a child every function answers FORKED to the parent's handles and tokens",
             test_forked);
    run_test("P4 a child opens, uses and closes schedulers of its own", test_own);
    run_test("P4 a child may use the slots that its parent gave back", test_own_in_used_slots);
    run_test("P4 a child of a process with no scheduler open is like any other", test_nothing_open);
    run_test("P4 children of children refuse the handles of all before them", test_levels);
    run_test("P4 a handler and an observer may fork", test_in_callbacks);
    run_test("P4 a fork while other threads hold the library busy leaves nothing locked",
             test_busy);
    run_test("P4 a fork while other threads are in a store leaves nothing locked",
             test_busy_stores);
    run_test("X2 a fork comes to its turn beside 16 threads that write", test_many_writers);
    run_test("P4 a fork at the moment of the first call leaves nothing locked", test_first_use);
    run_test("P4 many children at a time do not disturb each other or the parent",
             test_many_children);
    run_test("P4 a child may open schedulers however many its parent has open",
             test_parent_has_most);
    run_test("P4 a child may leave by exit with a scheduler open", test_exit);
    return check_end();
}
