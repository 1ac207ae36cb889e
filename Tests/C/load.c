/*
 * load.c - loading and unloading the library: nothing starts, nothing is installed, and it can be done again
 *
 * Arguments: the library (build/libselene.so), then the filter of check.h. The program is not linked with the library:
 * everything is found by dlsym.
 */
#include <selene.h>

/* What check.h would call of the library that is not there. */
static const selene_error no_error = {.message = {"", 0}};
#define selene_name(names, number) "another status"
#define selene_error_last() (&no_error)
#include "check.h"
#undef selene_name
#undef selene_error_last

#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>

static const char *library = "build/libselene.so";

/* ---- the functions that are used ------------------------------------------------------ */

/* C has no conversion from void * to a function pointer. */
#define FIND(handle, name)                                                                         \
    do {                                                                                           \
        void *address = dlsym((handle), "selene_" #name);                                          \
        CHECK(address != NULL);                                                                    \
        memcpy(&name, &address, sizeof address);                                                   \
    } while (0)

static __typeof__(&selene_version) version;
static __typeof__(&selene_error_last) error_last;
static __typeof__(&selene_scheduler_open) scheduler_open;
static __typeof__(&selene_scheduler_close) scheduler_close;
static __typeof__(&selene_scheduler_now) scheduler_now;
static __typeof__(&selene_handler_register) handler_register;
static __typeof__(&selene_task_register) task_register;
static __typeof__(&selene_cycle_run) cycle_run;
static __typeof__(&selene_free) free_made;
static __typeof__(&selene_run_complete) run_complete;

static void *load(void) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    FIND(handle, version);
    FIND(handle, error_last);
    FIND(handle, scheduler_open);
    FIND(handle, scheduler_close);
    FIND(handle, scheduler_now);
    FIND(handle, handler_register);
    FIND(handle, task_register);
    FIND(handle, cycle_run);
    *(void **)(void *)&free_made = dlsym(handle, "selene_free");
    CHECK(free_made != NULL);
    FIND(handle, run_complete);
    return handle;
}

static atomic_int runs, destroyed;

static void run(selene_run token, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    atomic_fetch_add(&runs, 1);
    CHECK_INT(SELENE_OK, run_complete(token, SELENE_OUTCOME_NEW_DATA));
}

static void destroy(void *context) {
    (void)context;
    atomic_fetch_add(&destroyed, 1);
}

/** A whole life of a scheduler, with a library thread. */
static void use(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    int before = atomic_load(&runs), ended = atomic_load(&destroyed);
    CHECK_INT(SELENE_VERSION_NUMBER, version());
    CHECK_INT(SELENE_OK, scheduler_open(NULL, &scheduler));
    CHECK_INT(SELENE_OK, handler_register(scheduler, "task", -1, run, NULL, NULL, destroy));
    task.id = SELENE_TEXT("task");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_INT(SELENE_OK, task_register(scheduler, &task, NULL));
    CHECK_INT(SELENE_OK, cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->new_data);
    free_made(report);
    CHECK_INT(SELENE_ERROR_INVALID_HANDLE, scheduler_now(1, &window.budget));
    CHECK(error_last()->message.length > 0);
    CHECK_INT(SELENE_OK, scheduler_close(scheduler, SELENE_MINUTE));
    CHECK_INT(before + 1, runs);
    CHECK_INT(ended + 1, destroyed);
}

/* ---- what loading must not change --------------------------------------------------------- */

static int thread_count(void) {
    DIR *directory = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;
    CHECK(directory != NULL);
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

/** The threads of this process become so many; those that were joined may take a moment to leave /proc. */
static void wait_for_threads(int count) {
    int64_t limit = check_now() + PATIENCE;
    while (thread_count() != count && check_now() < limit)
        check_sleep(SELENE_MILLISECOND);
    CHECK_INT(count, thread_count());
}

struct process {
    int threads;
    struct sigaction actions[65];
    sigset_t mask;
};

static void look_at(struct process *process) {
    int signal;
    memset(process, 0, sizeof *process);
    process->threads = thread_count();
    /* Those that libc keeps for itself answer EINVAL and stay zeros. */
    for (signal = 1; signal < 65; signal++)
        sigaction(signal, NULL, &process->actions[signal]);
    CHECK_INT(0, sigprocmask(SIG_BLOCK, NULL, &process->mask));
}

static void same(const struct process *before, const struct process *after) {
    int signal;
    CHECK_INT(before->threads, after->threads);
    for (signal = 1; signal < 65; signal++) {
        CHECK(before->actions[signal].sa_handler == after->actions[signal].sa_handler);
        CHECK_INT(before->actions[signal].sa_flags, after->actions[signal].sa_flags);
        CHECK_INT(sigismember(&before->mask, signal), sigismember(&after->mask, signal));
    }
}

static void test_nothing_started(void) {
    struct process before, after;
    void *handle;
    look_at(&before);
    handle = load();
    look_at(&after);
    same(&before, &after);
    CHECK_INT(SELENE_VERSION_NUMBER, version());
    {
        /* Nor by opening, where no thread is asked for. */
        selene_scheduler scheduler = 0;
        CHECK_INT(SELENE_OK, scheduler_open(NULL, &scheduler));
        look_at(&after);
        same(&before, &after);
        CHECK_INT(SELENE_OK, scheduler_close(scheduler, 0));
    }
    use();
    wait_for_threads(before.threads);
    look_at(&after);
    same(&before, &after);
    CHECK_INT(0, dlclose(handle));
    look_at(&after);
    same(&before, &after);
}

static void test_again_and_again(void) {
    struct process before, after;
    int i;
    look_at(&before);
    for (i = 0; i < 20; i++) {
        void *handle = load(), *twice = i % 3 == 0 ? load() : NULL;
        use();
        use();
        if (twice) CHECK_INT(0, dlclose(twice));
        CHECK_INT(0, dlclose(handle));
        wait_for_threads(before.threads);
        look_at(&after);
        same(&before, &after);
    }
    CHECK_INT(40, runs);
    CHECK_INT(40, destroyed);
}

/** Unloading with a scheduler open and a thread asleep inside: code that runs must not vanish. */
static void test_unloaded_in_use(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_report *report = NULL;
    void *handle = load();
    int64_t now = 0;
    CHECK_INT(SELENE_OK, scheduler_open(NULL, &scheduler));
    CHECK_INT(SELENE_OK, handler_register(scheduler, "task", -1, run, NULL, NULL, destroy));
    task.id = SELENE_TEXT("task");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_INT(SELENE_OK, task_register(scheduler, &task, NULL));
    CHECK_INT(SELENE_OK, cycle_run(scheduler, NULL, &report));
    free_made(report);
    CHECK_INT(0, dlclose(handle));
    check_sleep(20 * SELENE_MILLISECOND);
    handle = load();
    CHECK_INT(SELENE_OK, scheduler_now(scheduler, &now));
    CHECK_INT(SELENE_OK, cycle_run(scheduler, NULL, &report));
    CHECK_INT(1, report->new_data);
    free_made(report);
    CHECK_INT(SELENE_OK, scheduler_close(scheduler, SELENE_MINUTE));
    CHECK_INT(1, destroyed);
    CHECK_INT(0, dlclose(handle));
}

static int farewell;

static void say_farewell(void) {
    CHECK_INT(1, write(farewell, "!", 1));
}

/** A process that ends with a scheduler open and its threads asleep comes to its end. What a leak checker then says of
 *  those threads is no matter here. */
static void test_exit_in_use(void) {
    char said = 0;
    int ends[2], status = -1;
    pid_t child;
    CHECK_INT(0, pipe(ends));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_scheduler scheduler = 0;
        selene_task task = SELENE_INIT(selene_task);
        alarm((unsigned)check_environment("SELENE_TEST_ALARM", 60) / 2);
        farewell = ends[1];
        CHECK_INT(0, atexit(say_farewell));
        load();
        CHECK_INT(SELENE_OK, scheduler_open(NULL, &scheduler));
        CHECK_INT(SELENE_OK, handler_register(scheduler, "task", -1, run, NULL, NULL, NULL));
        task.id = SELENE_TEXT("task");
        task.schedule = SELENE_SCHEDULE_STANDING;
        CHECK_INT(SELENE_OK, task_register(scheduler, &task, NULL));
        CHECK_INT(SELENE_OK, cycle_run(scheduler, NULL, NULL));
        CHECK_INT(1, runs);
        exit(0);
    }
    close(ends[1]);
    CHECK_INT(1, read(ends[0], &said, 1));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    CHECK(WIFEXITED(status));
    close(ends[0]);
}

/* ---- how long it takes ----------------------------------------------------------------------- */

static int64_t time_of(const char *name) {
    int64_t begin = check_now();
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    int64_t end = check_now();
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    return end - begin;
}

static int by_size(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

/** Prints; no time is a failure. Each load in a process of its own. */
static void test_load_time(void) {
    enum { ROUNDS = 15 };
    int64_t times[2][ROUNDS];
    int i;
    for (i = 0; i < ROUNDS; i++) {
        int ends[2], status = -1;
        int64_t both[2];
        pid_t child;
        CHECK_INT(0, pipe(ends));
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            both[0] = time_of("libsqlite3.so.0");
            both[1] = time_of(library);
            CHECK_INT(sizeof both, write(ends[1], both, sizeof both));
            _exit(0);
        }
        CHECK_INT(sizeof both, read(ends[0], both, sizeof both));
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        CHECK_INT(0, status);
        times[0][i] = both[0];
        times[1][i] = both[1];
        close(ends[0]);
        close(ends[1]);
    }
    for (i = 0; i < 2; i++)
        qsort(times[i], ROUNDS, sizeof times[i][0], by_size);
    printf("loading sqlite3 %" PRId64 " us, the library above it %" PRId64 " us (medians of %d)\n",
           times[0][ROUNDS / 2] / 1000, times[1][ROUNDS / 2] / 1000, ROUNDS);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        library = argv[1];
        argc--;
        argv++;
    }
    check_begin(argc, argv);
    if (dlopen("libselene.so.1", RTLD_NOW | RTLD_NOLOAD)) {
        check_result(
            "the library is loaded by this program alone, which must not be linked with it", 0,
            NULL);
        return check_end();
    }
    run_test("P5 loading starts no thread and installs no signal handler", test_nothing_started);
    run_test("P5 the library can be loaded, used and unloaded again and again",
             test_again_and_again);
    run_test("P5 unloading with a scheduler open pulls nothing from under it",
             test_unloaded_in_use);
    run_test("P5 a process may end with a scheduler open", test_exit_in_use);
    run_test("P5 loading takes so long above sqlite3", test_load_time);
    return check_end();
}
