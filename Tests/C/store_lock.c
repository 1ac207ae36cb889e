/*
 * store_lock.c - one scheduler at a time has a store, whoever else asks (D1, D4); and what a new store is
 *
 * Argument: the filter of check.h.
 */
#include "store_open.h"

#include <sched.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* ============================================================================
 *  TWO AT A TIME
 * ========================================================================= */

static void test_same_process(void) {
    selene_scheduler scheduler;
    selene_task task = task_of("one");
    new_folder();
    shared_path = path("store");
    scheduler = open_store(shared_path);
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK(link(path("store"), path("hard")) == 0);
    CHECK(symlink("store", path("soft")) == 0);
    CHECK_INT(0, in_child(told_at_once));
    told_at_once();
    shared_path = path("hard");
    told_at_once();
    shared_path = path("soft");
    told_at_once();
    shared_path = path("./././store");
    told_at_once();
    /* It is not looked at as something else, either. */
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_trace_replay(path("store"), -1, NULL, NULL));
    /* The refusals must not have ended the first one's lock. */
    shared_path = path("store");
    CHECK_INT(0, in_child(told_at_once));
    task = task_of("two");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    close_store(scheduler);
    CHECK(unlink(path("hard")) == 0);
    scheduler = open_store(shared_path);
    CHECK_INT(2, count_of(scheduler));
    close_store(scheduler);
}

/** Another process that has the store open until it is killed. */
static pid_t keep_open(void) {
    int ready[2];
    char byte;
    pid_t child;
    CHECK(pipe(ready) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_scheduler scheduler = open_store(shared_path);
        selene_task task = task_of("kept");
        add_handler(scheduler, "work");
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    return child;
}

static void end_child(pid_t child) {
    int status;
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child);
}

static void test_other_process(void) {
    static struct tree before;
    selene_scheduler scheduler;
    pid_t child;
    new_folder();
    shared_path = path("store");
    child = keep_open();
    tree_read(&before);
    told_at_once();
    CHECK_TREE(&before);
    end_child(child);
    scheduler = open_store(shared_path);
    CHECK_INT(1, count_of(scheduler));
    close_store(scheduler);
}

/** Ends of pipes to and from another process that wants the store while this one is about to let go of it. */
static int to_other[2], from_other[2];
static int tells_other;

/** What SQLite and the library remove: before an empty log goes, the other process may try its luck. */
int unlink(const char *name) {
    size_t length = strlen(name);
    if (tells_other && length > 4 && !strcmp(name + length - 4, "-wal")) {
        char byte;
        tells_other = 0;
        CHECK(write(to_other[1], "x", 1) == 1);
        CHECK(read(from_other[0], &byte, 1) == 1);
    }
    return (int)syscall(SYS_unlink, name);
}

/** The other process: opens the store as soon as it can, registers a task when it is told to, and is killed. */
static void be_other(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    selene_task task = task_of("kept");
    char byte;
    options.path = (selene_text){shared_path, -1};
    CHECK(read(to_other[0], &byte, 1) == 1);
    (void)!selene_scheduler_open(&options, &scheduler);
    CHECK(write(from_other[1], "x", 1) == 1);
    CHECK(read(to_other[0], &byte, 1) == 1);
    if (!scheduler) CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    kill(getpid(), SIGKILL);
}

/** Who has looked at a store removes nothing of whoever opens it next. */
static void test_look_and_open(void) {
    selene_scheduler scheduler;
    pid_t child;
    int status;
    new_folder();
    shared_path = path("store");
    close_store(open_store(shared_path));
    CHECK(pipe(to_other) == 0 && pipe(from_other) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) be_other();
    tells_other = 1;
    CHECK_OK(selene_store_check(shared_path, -1, NULL));
    CHECK_INT(0, tells_other);
    CHECK(write(to_other[1], "x", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    scheduler = open_store(shared_path);
    CHECK_INT(1, count_of(scheduler));
    close_store(scheduler);
}

static void open_shared(void) {
    CHECK_OK(open_quietly(shared_path));
}

/** Two that make the same new store at the same time: one works, the other is told. */
static void test_race_to_make(void) {
    enum { ROUNDS = 20, RACERS = 4 };
    new_folder();
    for (int round = 0; round < ROUNDS; round++) {
        char name[32];
        int go[2], opened = 0, locked = 0;
        pid_t children[RACERS];
        snprintf(name, sizeof name, "store%d", round);
        shared_path = path(name);
        CHECK(pipe(go) == 0);
        for (int i = 0; i < RACERS; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                selene_options options = store_options(shared_path);
                selene_scheduler scheduler = 0;
                selene_status status;
                selene_task task = task_of("winner");
                char byte;
                close(go[1]);
                CHECK(read(go[0], &byte, 1) == 0);
                status = selene_scheduler_open(&options, &scheduler);
                if (status == SELENE_ERROR_STORE_LOCKED) _exit(10);
                CHECK_OK(status);
                CHECK_OK(selene_task_register(scheduler, &task, NULL));
                check_sleep(30 * MS);
                CHECK_INT(1, count_of(scheduler));
                close_store(scheduler);
                _exit(0);
            }
        }
        close(go[0]);
        close(go[1]);
        for (int i = 0; i < RACERS; i++) {
            int status;
            CHECK(waitpid(children[i], &status, 0) == children[i]);
            CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 10));
            opened += WEXITSTATUS(status) == 0;
            locked += WEXITSTATUS(status) == 10;
        }
        CHECK(opened >= 1 && opened + locked == RACERS);
        CHECK_INT(0, in_child(open_shared));
    }
    /* No temporary file is left. */
    {
        static struct tree tree;
        tree_read(&tree);
        CHECK_INT(ROUNDS, tree.count);
        tree_free(&tree);
    }
}

/** Two that open a store at the same instant: not both, but one. */
static void test_race_to_open(void) {
    enum { ROUNDS = 60, RACERS = 2 };
    volatile int *go =
        mmap(NULL, sizeof *go, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    new_folder();
    CHECK(go != MAP_FAILED);
    shared_path = path("store");
    CHECK_INT(0, in_child(open_shared));
    for (int round = 0; round < ROUNDS; round++) {
        int opened = 0;
        *go = 0;
        for (int i = 0; i < RACERS; i++) {
            if (fork() == 0) {
                selene_options options = store_options(shared_path);
                selene_scheduler scheduler = 0;
                selene_status status;
                while (!*go)
                    sched_yield();
                status = selene_scheduler_open(&options, &scheduler);
                if (status == SELENE_ERROR_STORE_LOCKED) _exit(10);
                CHECK_OK(status);
                check_sleep(20 * MS);
                close_store(scheduler);
                _exit(0);
            }
        }
        check_sleep(2 * MS);
        *go = 1;
        for (int i = 0; i < RACERS; i++) {
            int status;
            CHECK(wait(&status) > 0);
            CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 10));
            opened += WEXITSTATUS(status) == 0;
        }
        /* Two only if one was so late that the other had closed. */
        CHECK(opened >= 1);
    }
}

static selene_scheduler parents;

static void forked_child(void) {
    selene_task task = task_of("childs");
    selene_scheduler own;
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_task_register(parents, &task, NULL));
    told_at_once();
    own = open_store(path("own"));
    CHECK_OK(selene_task_register(own, &task, NULL));
    close_store(own);
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_store_backup(parents, path("copy"), -1));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_close(parents, 0));
    exit(0);
}

static void test_forked(void) {
    selene_task task = task_of("one");
    new_folder();
    shared_path = path("store");
    parents = open_store(shared_path);
    CHECK_OK(selene_task_register(parents, &task, NULL));
    CHECK_INT(0, in_child(forked_child));
    /* The child's end took nothing from the parent. */
    CHECK_INT(0, in_child(told_at_once));
    task = task_of("two");
    CHECK_OK(selene_task_register(parents, &task, NULL));
    close_store(parents);
    parents = open_store(shared_path);
    CHECK_INT(2, count_of(parents));
    close_store(parents);
    CHECK_OK(open_quietly(path("own")));
}

/* ============================================================================
 *  A NEW STORE, AND WHAT IS SAID OF IT
 * ========================================================================= */

static void test_new_store(void) {
    static const mode_t masks[] = {0, 022, 077};
    new_folder();
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        static struct tree tree;
        char name[16], name_of_log[32];
        mode_t mask = umask(masks[i]);
        selene_scheduler scheduler;
        selene_task task = task_of("one");
        snprintf(name, sizeof name, "store%zu", i);
        snprintf(name_of_log, sizeof name_of_log, "store%zu-wal", i);
        scheduler = open_store(path(name));
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        umask(mask);
        CHECK_INT(0600, mode_of(path(name)));
        CHECK_INT(0600, mode_of(path(name_of_log)));
        close_store(scheduler);
        CHECK_INT(0600, mode_of(path(name)));
        tree_read(&tree);
        CHECK_INT(i + 1, tree.count);
        tree_free(&tree);
    }
    CHECK(chmod(path("store0"), 0640) == 0);
    CHECK_OK(open_quietly(path("store0")));
    CHECK_INT(0640, mode_of(path("store0")));
}

static void test_store_get(void) {
    selene_options options = store_options(NULL);
    selene_scheduler scheduler;
    selene_store_info *info = NULL;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    struct stat found;
    uint64_t pages, page_size, commits;
    int32_t schema;
    new_folder();

    scheduler = open_with(options);
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK_INT(sizeof *info, info->struct_size);
    CHECK_TEXT("", info->path);
    CHECK_INT(0, info->pages);
    CHECK_INT(0, info->wal_size);
    selene_free(info);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_store_backup(scheduler, path("copy"), -1));
    CHECK(!exists(path("copy")));
    close_store(scheduler);

    scheduler = open_store(path("store"));
    commits = commits_of(scheduler);
    fill(scheduler, TASKS);
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK_TEXT(path("store"), info->path);
    CHECK_TEXT(sqlite3_libversion(), info->sqlite_version);
    CHECK_INT(0, info->relaxed);
    CHECK(info->schema_version >= 1);
    CHECK(info->page_size >= 512 && (info->page_size & (info->page_size - 1)) == 0);
    CHECK(info->wal_size > 0);
    CHECK(info->commits > commits);
    schema = info->schema_version;
    page_size = info->page_size;
    pages = info->pages;
    selene_free(info);
    selene_free(NULL);
    close_store(scheduler);
    CHECK(stat(path("store"), &found) == 0);
    CHECK_INT(pages * page_size, found.st_size);
    CHECK_OK(selene_store_check(path("store"), -1, &findings));
    CHECK_INT(schema, findings.schema_version);

    options = store_options(path("store"));
    options.flags |= SELENE_OPTIONS_RELAXED;
    scheduler = open_with(options);
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK_INT(1, info->relaxed);
    selene_free(info);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_store_get(scheduler, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_store_get(1, &info));
    close_store(scheduler);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_store_get(scheduler, &info));
}

/* A hundred tasks of two pages, so many registrations; after a thousand pages a log is copied into its file and cut. */
static void write_pages(selene_scheduler scheduler, int count) {
    static char input[8000];
    for (int i = 0; i < count; i++) {
        char id[16];
        selene_task task = task_of(id);
        snprintf(id, sizeof id, "much %d", i % 100);
        memset(input, 'a' + i % 26, sizeof input);
        task.id.length = -1;
        task.input = input, task.input_length = sizeof input;
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
}

static void work_in_two_folders(void) {
    selene_scheduler here, there;
    selene_store_info *info;
    CHECK(chdir(path("here")) == 0);
    here = open_store("store");
    CHECK(chdir(path("there")) == 0);
    there = open_store("store");
    write_pages(there, TASKS);
    write_pages(here, 700);
    CHECK(commits_of(here) > 700 && exists(path("here/store-wal")));
    CHECK_OK(selene_store_get(here, &info));
    CHECK_TEXT(path("here/store"), info->path);
    selene_free(info);
    CHECK(chdir("/") == 0);
    write_pages(here, 700);
    close_store(here);
    CHECK(!exists(path("here/store-wal")) && exists(path("there/store-wal")));
    die();
}

/** A name counts from where the host was at open, and two stores of one name are two. */
static void test_other_folder(void) {
    selene_scheduler scheduler;
    new_folder();
    CHECK(mkdir(path("here"), 0700) == 0 && mkdir(path("there"), 0700) == 0);
    CHECK_INT(KILLED, in_child(work_in_two_folders));
    scheduler = open_store(path("there/store"));
    CHECK_INT(TASKS, count_of(scheduler));
    close_store(scheduler);
    scheduler = open_store(path("here/store"));
    CHECK_INT(100, count_of(scheduler));
    close_store(scheduler);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("D4 a store that is open in this process is locked, by any name", test_same_process);
    run_test("D4 another process is told at once", test_other_process);
    run_test("D4 who looked at a store removes nothing of whoever opens it next",
             test_look_and_open);
    run_test("D1 of those who make a store at the same time one has it", test_race_to_make);
    run_test("D1 of two that open a store at the same time one has it", test_race_to_open);
    run_test("P4 a forked child is told, and takes nothing from its parent", test_forked);
    run_test("D1 a new store has mode 0600 and leaves nothing beside it", test_new_store);
    run_test("D1 D2 a host that goes to another folder keeps its stores apart", test_other_folder);
    run_test("D1 store_get says what the store is", test_store_get);
    tools_end();
    return check_end();
}
