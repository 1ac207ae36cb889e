/*
 * threads_names.c - what threads of the library are called, how they compete, and what a host keeps with a run (W12)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

#include <dirent.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static sem_t begun, may_end;

/** How many threads of this process have a name. */
static int count_named(const char *name) {
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;
    CHECK(threads != NULL);
    while ((entry = readdir(threads)) != NULL) {
        char path[sizeof entry->d_name + 32], comm[32] = "";
        FILE *file;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        if ((file = fopen(path, "r")) == NULL) continue;
        if (fgets(comm, sizeof comm, file) != NULL) {
            comm[strcspn(comm, "\n")] = 0;
            count += strcmp(comm, name) == 0;
        }
        fclose(file);
    }
    closedir(threads);
    return count;
}

/** Waits until that many threads have a name. */
static void await_named(const char *name, int count) {
    for (int i = 0; i < 6000 && count_named(name) != count; i++)
        usleep(10000);
    CHECK_INT(count, count_named(name));
}

static void hold(selene_run run, const selene_run_info *info, void *context) {
    char name[16] = "";
    (void)info, (void)context;
    prctl(PR_GET_NAME, name);
    CHECK(strcmp("selene/lane", name) == 0);
    sem_post(&begun);
    sem_wait(&may_end);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static selene_scheduler open_with(selene_options options) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    options.max_pending_refresh = 2;
    CHECK(sem_init(&begun, 0, 0) == 0 && sem_init(&may_end, 0, 0) == 0);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "hold", -1, hold, NULL, NULL, NULL));
    task.handler = SELENE_TEXT("hold");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.id = SELENE_TEXT("a");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task.id = SELENE_TEXT("b");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    return scheduler;
}

static selene_scheduler open_with_tasks(void) {
    const selene_options options = SELENE_INIT(selene_options);
    return open_with(options);
}

static void let_go(void) {
    for (int i = 0; i < 2; i++)
        sem_post(&may_end);
}

static void test_lanes(void) {
    selene_scheduler scheduler = open_with_tasks();
    selene_window window = SELENE_INIT(selene_window);
    char before[16], after[16];
    window.lanes = 2;
    prctl(PR_GET_NAME, before);
    CHECK_OK(selene_cycle_run_async(scheduler, &window, NULL, NULL, NULL, NULL, NULL));
    for (int i = 0; i < 2; i++)
        sem_wait(&begun);
    CHECK_INT(2, count_named("selene/lane"));
    let_go();
    /* They are kept for the next window, and wait. */
    await_named("selene/lane", 0);
    await_named("selene/window", 0);
    CHECK(count_named("selene/worker") >= 2);
    prctl(PR_GET_NAME, after);
    CHECK(strcmp(before, after) == 0);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    await_named("selene/worker", 0);
}

static void test_driver(void) {
    selene_scheduler scheduler = open_with_tasks();
    selene_driver driver = SELENE_INIT(selene_driver);
    driver.flags = SELENE_DRIVER_UNGOVERNED;
    driver.refresh_lanes = 2;
    CHECK_OK(selene_driver_start(scheduler, &driver));
    for (int i = 0; i < 2; i++)
        sem_wait(&begun);
    CHECK_INT(1, count_named("selene/driver"));
    CHECK_INT(2, count_named("selene/lane"));
    let_go();
    await_named("selene/lane", 0);
    CHECK_INT(1, count_named("selene/driver"));
    CHECK_OK(selene_driver_stop(scheduler, SELENE_SECOND));
    await_named("selene/driver", 0);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
}

static void test_server(void) {
    selene_server server = 0;
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    CHECK_OK(selene_server_start(scheduler, NULL, &server));
    await_named("selene/server", 1);
    CHECK_OK(selene_server_close(server));
    await_named("selene/server", 0);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

static int nice_inside;

/** What a host that wants its work in the background does on each thread of the library. */
static void be_nice(void *context) {
    (void)context;
    CHECK_INT(0, setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10));
}

static void read_nice(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    nice_inside = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static int nice_of_a_run(selene_thread_fn begin) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    options.thread_begin = begin;
    nice_inside = -100;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "a", -1, read_nice, NULL, NULL, NULL));
    task.id = SELENE_TEXT("a");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_cycle_run(scheduler, NULL, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    return nice_inside;
}

static void test_priority(void) {
    const int mine = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
    CHECK_INT(mine, nice_of_a_run(NULL));
    CHECK_INT(10, nice_of_a_run(be_nice));
    CHECK_INT(mine, getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid)));
}

/** How many threads of the library there are, and how many of these run in the background. */
static int count_library(int *background) {
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;
    *background = 0;
    CHECK(threads != NULL);
    while ((entry = readdir(threads)) != NULL) {
        char path[sizeof entry->d_name + 32], comm[32] = "", stat[1024] = "", *field;
        const long thread = atol(entry->d_name);
        unsigned policy = 0;
        FILE *file;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        if ((file = fopen(path, "r")) == NULL) continue;
        CHECK(fgets(comm, sizeof comm, file) != NULL);
        fclose(file);
        if (strncmp(comm, "selene/", 7) != 0) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        if ((file = fopen(path, "r")) == NULL) continue;
        CHECK(fgets(stat, sizeof stat, file) != NULL);
        fclose(file);
        /* The policy is the 41st field, the name, the second, is in brackets. */
        field = strrchr(stat, ')') + 2;
        for (int i = 3; i < 41; i++)
            field = strchr(field, ' ') + 1;
        CHECK(sscanf(field, "%u", &policy) == 1);
        const long class = syscall(SYS_ioprio_get, 1, thread) >> 13;
        CHECK_INT(policy == SCHED_BATCH, class == 3);
        *background += policy == SCHED_BATCH;
        count++;
    }
    closedir(threads);
    return count;
}

static void test_quality(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_window window = SELENE_INIT(selene_window);
    window.lanes = 2;
    for (int32_t quality = SELENE_THREADS_AS_HOST; quality <= SELENE_THREADS_BACKGROUND;
         quality++) {
        int background = -1;
        options.thread_quality = quality;
        selene_scheduler scheduler = open_with(options);
        CHECK_OK(selene_cycle_run_async(scheduler, &window, NULL, NULL, NULL, NULL, NULL));
        for (int i = 0; i < 2; i++)
            sem_wait(&begun);
        const int count = count_library(&background);
        CHECK(count >= 3);
        CHECK_INT(quality == SELENE_THREADS_BACKGROUND ? count : 0, background);
        /* The host's own threads stay as they are. */
        /* Not by its name: musl's function answers nothing. */
        CHECK_INT(SCHED_OTHER, syscall(SYS_sched_getscheduler, 0));
        let_go();
        CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
        await_named("selene/worker", 0);
    }
}

static _Atomic size_t stack_size;

static void measure(selene_run run, const selene_run_info *info, void *context) {
    pthread_attr_t attributes;
    size_t size = 0;
    (void)info, (void)context;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstacksize(&attributes, &size) == 0);
    pthread_attr_destroy(&attributes);
    stack_size = size;
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static size_t stack_of(uint64_t asked) {
    selene_scheduler scheduler = 0;
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = SELENE_INIT(selene_task);
    const selene_window window = SELENE_INIT(selene_window);
    options.thread_stack_size = asked;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "a", -1, measure, NULL, NULL, NULL));
    task.id = SELENE_TEXT("a");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    return stack_size;
}

/** As large as it is asked for, in whole pages; musl counts what it keeps of the thread there, too. */
static void check_stack(uint64_t asked) {
    CHECK_BETWEEN((int64_t)asked, (int64_t)stack_of(asked),
                  (int64_t)asked + 2 * sysconf(_SC_PAGESIZE));
}

static void test_stack(void) {
    /* The smaller first: a C library keeps the stacks of threads that have ended for others. */
    check_stack((200 << 10) + 1);
    check_stack(512 << 10);
    check_stack(64 << 20);
    CHECK((int64_t)stack_of(0) >= 8 << 20);
    /* What a sanitizer adds is its own affair. */
    CHECK(stack_of(64 << 10) >= 64 << 10);
}

/** Uses 64 KiB of the stack for each level. */
static int64_t go_deep(int levels) {
    volatile char bytes[64 << 10];
    int64_t i, sum = 0;
    for (i = 0; i < (int64_t)sizeof bytes; i += 1024)
        bytes[i] = 1;
    if (levels > 1) sum = go_deep(levels - 1);
    for (i = 0; i < (int64_t)sizeof bytes; i += 1024)
        sum += bytes[i];
    return sum;
}

/** Half of what a main thread has by default; some C libraries would give a thread 128 KiB. */
static void use_stack(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    CHECK_INT(64 * 64, go_deep(64));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_use_of_stack(void) {
    selene_scheduler scheduler = 0;
    selene_report *report = NULL;
    selene_task task = SELENE_INIT(selene_task);
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "a", -1, use_stack, NULL, NULL, NULL));
    task.id = SELENE_TEXT("a");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_cycle_run(scheduler, NULL, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
}

static _Atomic(void *) found, stopped;

static void find_own(selene_run run, const selene_run_info *info, void *context) {
    void *user = &user;
    (void)info;
    CHECK_OK(selene_run_user(run, &user));
    CHECK(user == NULL);
    CHECK_OK(selene_run_set_user(run, context));
    sem_post(&begun);
    sem_wait(&may_end);
    CHECK_OK(selene_run_user(run, &user));
    found = user;
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void stop_own(selene_run run, int32_t reason, void *context) {
    void *user = NULL;
    (void)reason, (void)context;
    CHECK_OK(selene_run_user(run, &user));
    stopped = user;
    sem_post(&may_end);
}

/** A run that is stopped still has it, until its handler has returned. */
static void test_user(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    const selene_window window = SELENE_INIT(selene_window);
    int own = 0;
    CHECK(sem_init(&begun, 0, 0) == 0 && sem_init(&may_end, 0, 0) == 0);
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "a", -1, find_own, stop_own, &own, NULL));
    task.id = SELENE_TEXT("a");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_cycle_run_async(scheduler, &window, NULL, NULL, NULL, NULL, NULL));
    sem_wait(&begun);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    WAIT_UNTIL(found != NULL);
    CHECK(stopped == &own && found == &own);
}

/** Of a pulled run whoever has the token finds it, until that has come back. */
static void test_user_of_pulled(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    int first = 0, second = 0;
    void *user = NULL;
    for (int i = 0; i < 2; i++) {
        selene_task task = refresh_once(i == 0 ? "a" : "b", i == 0 ? 5 : 1);
        task.handler = SELENE_TEXT("work");
        add(scheduler, task);
    }
    advance(SELENE_SECOND);
    selene_cycle cycle = begin(scheduler, window_of(SELENE_MINUTE, 0, 2));
    const selene_run a = next(cycle, "a");
    const selene_run b = next(cycle, "b");
    CHECK_OK(selene_run_set_user(a, &first));
    CHECK_OK(selene_run_set_user(b, &second));
    CHECK_OK(selene_run_user(a, &user));
    CHECK(user == &first);
    CHECK_OK(selene_run_set_user(a, NULL));
    CHECK_OK(selene_run_user(a, &user));
    CHECK(user == NULL);
    CHECK_OK(selene_run_user(b, &user));
    CHECK(user == &second);
    CHECK_OK(selene_run_complete(a, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_user(a, &user));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED, selene_run_set_user(a, &first));
    /* What was stopped has not come back before its outcome is given. */
    CHECK_OK(selene_task_cancel(scheduler, "b", -1, NULL));
    CHECK_OK(selene_run_user(b, &user));
    CHECK(user == &second);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(b, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_user(b, &user));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W12 a thread that runs tasks is called lane, one that waits worker", test_lanes);
    run_test("W12 a thread that drives is called driver", test_driver);
    run_test("W12 a thread that serves is called server", test_server);
    run_test("W12 threads have the host's priority, or what it gives them as they begin",
             test_priority);
    run_test("W12 P5 they give way where the host wants that", test_quality);
    run_test("W12 P5 their stacks are as large as the host says", test_stack);
    run_test("X2 a handler has as much stack as in a main thread", test_use_of_stack);
    run_test("W12 a run has a pointer of the host's until it has come back", test_user);
    run_test("W12 pulled runs have one each", test_user_of_pulled);
    return check_end();
}
