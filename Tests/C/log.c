/*
 * log.c - what the library says to people: one function for the process, called in order and without a lock (R5)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "governor.h"

#include <sys/resource.h>

/* ---- a log function --------------------------------------------------------- */

struct line {
    int32_t level;
    char text[256];
};

struct log {
    struct line lines[1500];
    atomic_int count, inside, destroyed;
    /** It waits for the gate in its first line. */
    int waits;
    /** What it does in each line. */
    void (*act)(struct log *log);
};

static void take(int32_t level, const char *text, void *context) {
    struct log *log = context;
    int index = atomic_load(&log->count);
    CHECK_INT(1, atomic_fetch_add(&log->inside, 1) + 1); /* one at a time */
    CHECK(index < (int)COUNT(log->lines));
    CHECK_INT(0, atomic_load(&log->destroyed));
    log->lines[index].level = level;
    snprintf(log->lines[index].text, sizeof log->lines[index].text, "%s", text);
    atomic_store(&log->count, index + 1);
    if (log->act) log->act(log);
    if (log->waits && index == 0) wait_for("the gate", &gate, 1);
    atomic_fetch_sub(&log->inside, 1);
}

static void take_destroy(void *context) {
    struct log *log = context;
    CHECK_INT(0, atomic_load(&log->inside));
    atomic_fetch_add(&log->destroyed, 1);
}

static void set_log(struct log *log) {
    CHECK_OK(selene_log_set(take, log, take_destroy));
}

/** How many lines of a level have a text in them. */
static int count_lines(struct log *log, int32_t level, const char *text) {
    int count = 0;
    for (int i = 0; i < atomic_load(&log->count); i++)
        count += log->lines[i].level == level && strstr(log->lines[i].text, text) != NULL;
    return count;
}

static void wait_for_line(struct log *log, int32_t level, const char *text) {
    int64_t limit = check_now() + PATIENCE;
    while (!count_lines(log, level, text)) {
        if (check_now() > limit) {
            fprintf(stderr, "no line says \"%s\"; there are:\n", text);
            for (int i = 0; i < atomic_load(&log->count); i++)
                fprintf(stderr, "  %d %s\n", log->lines[i].level, log->lines[i].text);
            check_fail();
        }
        check_sleep(MS);
    }
}

/** A call that has one line, an error. */
static void fail_to_open(void) {
    selene_options options = stored_options("/nowhere/at/all");
    selene_scheduler scheduler = 0;
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, selene_scheduler_open(&options, &scheduler));
}

static void *fail_elsewhere(void *context) {
    (void)context;
    fail_to_open();
    return NULL;
}

/* ============================================================================
 *  WHAT IS SAID
 * ========================================================================= */

static struct log first, second;

/* Who looks into the log of a service finds which store it had, and why another start was refused. */
static void test_stores(void) {
    selene_options options = stored_options(file_named("store"));
    selene_scheduler scheduler = 0, other = 0;
    char detail[512];
    set_log(&first);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_INT(1, atomic_load(&first.count));
    CHECK_INT(1, count_lines(&first, SELENE_LOG_INFO, "/store\": opened, tasks: 0"));
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_scheduler_open(&options, &other));
    snprintf(detail, sizeof detail, "not opened: %s", selene_error_last()->message.data);
    CHECK_INT(2, atomic_load(&first.count));
    CHECK_INT(1, count_lines(&first, SELENE_LOG_ERROR, detail));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(3, atomic_load(&first.count));
    CHECK_INT(1, count_lines(&first, SELENE_LOG_INFO, "/store\": closed"));
    /* In memory there is nothing to say. */
    scheduler = open_real();
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(3, atomic_load(&first.count));
    CHECK_OK(selene_log_set(NULL, NULL, NULL));
    CHECK_INT(1, atomic_load(&first.destroyed));
    fail_to_open();
    CHECK_INT(3, atomic_load(&first.count));
}

static void test_salvage(void) {
    selene_options options = stored_options(file_named("store"));
    char damaged[128], fresh[128];
    selene_scheduler scheduler = 0;
    snprintf(damaged, sizeof damaged, "%s", file_named("store"));
    snprintf(fresh, sizeof fresh, "%s", file_named("fresh"));
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    add(scheduler, once_of("a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    set_log(&first);
    CHECK_OK(selene_store_salvage(damaged, -1, fresh, -1, NULL));
    CHECK_INT(1, atomic_load(&first.count));
    CHECK_INT(1, count_lines(&first, SELENE_LOG_WARNING, ": 1 tasks were salvaged into "));
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN,
                 selene_store_salvage(damaged, -1, fresh, -1, NULL));
    CHECK_INT(1, count_lines(&first, SELENE_LOG_ERROR, "not salvaged: "));
}

static void fill_disk(rlim_t most) {
    struct rlimit limit;
    CHECK_INT(0, getrlimit(RLIMIT_FSIZE, &limit));
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &limit));
}

/* A trouble has a line when it begins, and one when it is over, observed or not. */
static void test_troubles(void) {
    selene_options options = stored_options(file_named("store"));
    selene_scheduler scheduler = 0;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    add(scheduler, once_of("a"));
    set_log(&first);
    fill_disk(0);
    for (int i = 0; i < 3; i++)
        CHECK(selene_task_cancel(scheduler, "a", -1, NULL) != SELENE_OK);
    CHECK_INT(1, atomic_load(&first.count));
    CHECK_INT(1, count_lines(&first, SELENE_LOG_WARNING, "/store\": trouble (store): "));
    CHECK(strstr(first.lines[0].text, selene_error_last()->message.data) != NULL);
    fill_disk(RLIM_INFINITY);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_INT(2, atomic_load(&first.count));
    CHECK_INT(1, count_lines(&first, SELENE_LOG_WARNING, "the trouble (store) is over"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* So have drivers, and the threads that a handler keeps. */
static void test_threads(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_scheduler scheduler;
    struct work deaf = {.behaviour = GATE};
    options.max_overrun_per_handler = 1;
    driver.refresh_budget = 20 * S;
    set_log(&first);
    scheduler = open_told_with(options);
    add_once(scheduler, "deaf\n", REFRESH, &deaf);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    wait_for_line(&first, SELENE_LOG_INFO, ": a driver was opened");
    wait_for("the handler", &deaf.started, 1);
    reach(scheduler, START + 20 * S + 1);
    wait_for_line(&first, SELENE_LOG_WARNING,
                  ": handler \"deaf?\" overran: its thread was left behind, 1 in all");
    wait_for_line(&first, SELENE_LOG_WARNING, ": trouble (handler): ");
    atomic_store(&gate, 1);
    wait_for_line(&first, SELENE_LOG_INFO, "\"deaf?\": a thread that was left behind has returned");
    wait_for_line(&first, SELENE_LOG_WARNING, ": the trouble (handler) is over");
    CHECK_OK(selene_driver_stop(scheduler, GRACE));
    wait_for_line(&first, SELENE_LOG_INFO, ": the driver was stopped");
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(0, count_lines(&first, SELENE_LOG_ERROR, ""));
}

/* ============================================================================
 *  HOW
 * ========================================================================= */

static void call_back(struct log *log) {
    selene_scheduler scheduler = 0;
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_scheduler_open(NULL, &scheduler));
    CHECK_STATUS(SELENE_ERROR_REENTRANT, selene_log_set(take, &second, take_destroy));
    CHECK_INT(1, atomic_load(&second.destroyed));
    atomic_store(&second.destroyed, 0);
    CHECK_STRING("OK", selene_name(SELENE_NAMES_STATUS, SELENE_OK));
    log->act = NULL;
}

static void test_no_calls(void) {
    first.act = call_back;
    set_log(&first);
    fail_to_open();
    CHECK_INT(1, atomic_load(&first.count));
    CHECK(first.act == NULL);
    CHECK_INT(0, atomic_load(&first.destroyed));
}

/* A log function may take its time: it holds up the call that it came from, and no other. */
static void test_no_lock(void) {
    selene_options options = stored_options(file_named("store"));
    selene_scheduler scheduler = 0;
    pthread_t thread;
    second.waits = 1;
    set_log(&second);
    CHECK_INT(0, pthread_create(&thread, NULL, fail_elsewhere, NULL));
    wait_for("the line", &second.count, 1);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    add(scheduler, once_of("a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, atomic_load(&second.count));
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    /* The thread that was in it brings what came meanwhile. */
    CHECK_INT(3, atomic_load(&second.count));
    CHECK_INT(1, second.lines[0].level);
    CHECK(strstr(second.lines[1].text, "opened") != NULL);
    CHECK(strstr(second.lines[2].text, "closed") != NULL);
}

/* A window on library threads is over in time, whatever the log function does. */
static void test_window_on_time(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler;
    struct work deaf = {.behaviour = GATE}, work = {.behaviour = COMPLETE};
    struct runner runner;
    options.max_overrun_per_handler = 1;
    scheduler = open_told_with(options);
    add_once(scheduler, "deaf", REFRESH, &deaf);
    first.waits = 1;
    set_log(&first);
    start_runner(&runner, scheduler, window_for(REFRESH, 20 * S));
    wait_for("the handler", &deaf.started, 1);
    /* A function that is called is not waited for. */
    CHECK_OK(selene_clock_set(scheduler, START + 20 * S + 1));
    selene_free(join_runner(&runner));
    wait_for("the line", &first.count, 1);
    add_work(scheduler, "next", &work);
    selene_free(push(scheduler, window_for(REFRESH, 20 * S)));
    CHECK_INT(1, atomic_load(&work.started));
    CHECK_INT(1, atomic_load(&first.inside));
    atomic_store(&gate, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/* Another thread makes a line, in which the first function waits; it is counted, so that a child counts on from it. */
static pthread_t keep_first_busy(void) {
    pthread_t thread;
    first.waits = 1;
    set_log(&first);
    CHECK_INT(0, pthread_create(&thread, NULL, fail_elsewhere, NULL));
    wait_for("the line", &first.count, 1);
    return thread;
}

/* Who replaces a function that is just at work does not wait for it; its context ends behind it, once. */
static void test_replaced_in_use(void) {
    pthread_t thread = keep_first_busy();
    set_log(&second);
    CHECK_INT(0, atomic_load(&first.destroyed));
    fail_to_open();
    fail_to_open();
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(1, atomic_load(&first.count));
    CHECK_INT(1, atomic_load(&first.destroyed));
    /* What waited goes to the one that is set. */
    CHECK_INT(2, atomic_load(&second.count));
    CHECK_OK(selene_log_set(NULL, &first, NULL));
    CHECK_INT(1, atomic_load(&second.destroyed));
    CHECK_INT(1, atomic_load(&first.destroyed));
}

/* A function that does not keep up is told how much it has missed. */
static void test_lost(void) {
    pthread_t thread = keep_first_busy();
    for (int i = 0; i < 1100; i++)
        fail_to_open();
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(1 + 1024 + 1, atomic_load(&first.count));
    CHECK_STRING("76 lines were lost, the log function did not keep up", first.lines[1025].text);
    CHECK_INT(SELENE_LOG_WARNING, first.lines[1025].level);
    fail_to_open();
    CHECK_INT(1 + 1024 + 2, atomic_load(&first.count));
}

/* How a child says that all is well: what threads that it does not have left in its memory is no leak of its own. */
static void succeed(void) {
    raise(SIGKILL);
}

static void await_success(pid_t child) {
    int status = 0;
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static pid_t forked = -1;

static void fork_here(struct log *log) {
    log->act = NULL;
    forked = fork();
    CHECK(forked >= 0);
}

/* A child that comes back from it is told so; the function is the child's, too. */
static void test_fork(void) {
    selene_options options = stored_options("/nowhere/at/all");
    selene_scheduler scheduler = 0;
    selene_status answer;
    first.act = fork_here;
    set_log(&first);
    answer = selene_scheduler_open(&options, &scheduler);
    if (forked == 0) {
        CHECK_STATUS(SELENE_ERROR_FORKED, answer);
        atomic_store(&first.inside, 0);
        fail_to_open();
        CHECK_INT(2, atomic_load(&first.count));
        CHECK_OK(selene_log_set(NULL, NULL, NULL));
        CHECK_INT(1, atomic_load(&first.destroyed));
        succeed();
    }
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, answer);
    await_success(forked);
    CHECK_INT(0, atomic_load(&first.destroyed));
}

/* A child that forked while another thread was in the function is not silent for ever. */
static void test_fork_beside(void) {
    pthread_t thread = keep_first_busy();
    pid_t child;
    fail_to_open();
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        atomic_store(&first.inside, 0);
        fail_to_open();
        CHECK_INT(2, atomic_load(&first.count));
        CHECK_OK(selene_log_set(NULL, NULL, NULL));
        CHECK_INT(1, atomic_load(&first.destroyed));
        succeed();
    }
    await_success(child);
    atomic_store(&gate, 1);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(2, atomic_load(&first.count));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("R5 the log says which stores were opened and closed, and which were refused",
             test_stores);
    run_test("R5 the log says what a salvage has saved", test_salvage);
    run_test("R5 the log says when a trouble begins and when it is over", test_troubles);
    run_test("R5 the log says of drivers, and of threads left behind", test_threads);
    run_test("R5 a log function may not call the library", test_no_calls);
    run_test("R5 a log function that waits holds no lock", test_no_lock);
    run_test("R5 no window on library threads waits for a log function", test_window_on_time);
    run_test("R5 a log function that is replaced while in use ends behind its call, once",
             test_replaced_in_use);
    run_test("R5 lines that a log function had no time for are counted", test_lost);
    run_test("R5 a child that forked in a log function comes back from it", test_fork);
    run_test("R5 a child has the log function, though a thread of its parent was in it",
             test_fork_beside);
    return check_end();
}
