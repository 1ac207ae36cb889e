/*
 * threads_names.c - what threads of the library are called, by what they do (W12)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

#include <dirent.h>
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

static selene_scheduler open_with_tasks(void) {
    selene_scheduler scheduler = 0;
    selene_options options = SELENE_OPTIONS_INIT;
    selene_task task = SELENE_TASK_INIT;
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

static void let_go(void) {
    for (int i = 0; i < 2; i++)
        sem_post(&may_end);
}

static void test_lanes(void) {
    selene_scheduler scheduler = open_with_tasks();
    selene_window window = SELENE_WINDOW_INIT;
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
    selene_driver driver = SELENE_DRIVER_INIT;
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
    CHECK_OK(selene_server_open(scheduler, NULL, &server));
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
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_TASK_INIT;
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

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W12 a thread that runs tasks is called lane, one that waits worker", test_lanes);
    run_test("W12 a thread that drives is called driver", test_driver);
    run_test("W12 a thread that serves is called server", test_server);
    run_test("W12 threads have the host's priority, or what it gives them as they begin",
             test_priority);
    return check_end();
}
