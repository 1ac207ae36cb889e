/*
 * store_moved.c - what else happens to the files of a store that is open: read by its own host, opened by a second copy
 * of the library, removed, replaced. Nothing that was answered OK is lost without a word (D5, D6)
 *
 * Argument: the filter of check.h.
 */
#include "store_open.h"

#include <dlfcn.h>
#include <sqlite3.h>

/** Registers tasks of these names; the status of the first that is refused, or OK. */
static selene_status put(selene_scheduler scheduler, const char *prefix, int count) {
    for (int i = 0; i < count; i++) {
        char id[32];
        selene_task task = task_of(id);
        selene_status status;
        snprintf(id, sizeof id, "%s%d", prefix, i);
        status = selene_task_register(scheduler, &task, NULL);
        if (status) return status;
    }
    return SELENE_OK;
}

static uint64_t tasks_in(const char *file) {
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    CHECK_OK(selene_store_check(file, -1, &findings));
    return findings.tasks;
}

/* ============================================================================
 *  A LOCK THAT HOLDS
 * ========================================================================= */

/** Runs a part of this program as another process: what is forked knows what its parent has open. */
static void by_another(const char *part) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "store_moved", "--part", part, shared_path, (char *)NULL);
        _exit(9);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/** Another process is refused by the library, and by SQLite itself, as an earlier version of the library would be. */
static void is_refused(void) {
    sqlite3 *database = NULL;
    told_locked_by_open();
    told_locked_by_others();
    CHECK_INT(SQLITE_OK, sqlite3_open_v2(shared_path, &database, SQLITE_OPEN_READWRITE, "unix"));
    CHECK_INT(SQLITE_OK,
              sqlite3_exec(database, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL));
    CHECK_INT(SQLITE_BUSY,
              sqlite3_exec(database, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL));
    sqlite3_close(database);
}

/** What a host does with all files of its folder: a backup, a checksum. */
static void read_by_host(const char *file) {
    char bytes[100];
    FILE *stream = fopen(file, "r");
    CHECK(stream != NULL);
    CHECK(fread(bytes, 1, sizeof bytes, stream) > 0);
    fclose(stream);
}

static void host_that_reads_its_store(void) {
    selene_scheduler scheduler = open_store(shared_path);
    CHECK_OK(put(scheduler, "a", 50));
    read_by_host(shared_path);
    read_by_host(path("store-wal"));
    by_another("refused");
    CHECK_OK(put(scheduler, "b", 50));
    die();
}

static void test_host_reads(void) {
    new_folder();
    shared_path = path("store");
    CHECK_INT(KILLED, in_child(host_that_reads_its_store));
    CHECK_INT(100, tasks_in(shared_path));
    CHECK_OK(open_quietly(shared_path));
}

/* The sanitizers' library shows all its symbols, and their runtime does not let a copy have its own. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED
/** How many POSIX locks this process has on the store. */
static int posix_locks(const char *file) {
    char line[300];
    int count = 0;
    struct stat found;
    FILE *locks = fopen("/proc/locks", "r");
    CHECK(locks != NULL && stat(file, &found) == 0);
    while (fgets(line, sizeof line, locks)) {
        char kind[16];
        long process;
        unsigned long inode;
        if (sscanf(line, "%*s %15s %*s %*s %ld %*x:%*x:%lu", kind, &process, &inode) == 3)
            count += !strcmp(kind, "POSIX") && process == getpid() && inode == found.st_ino;
    }
    fclose(locks);
    return count;
}

/** The same; /proc/locks may leave lines out while other processes take and release locks, but shows none twice. */
static int most_posix_locks(const char *file) {
    int most = 0;
    for (int i = 0; i < 10; i++) {
        const int count = posix_locks(file);
        if (count > most) most = count;
    }
    return most;
}

static selene_status (*copy_open)(const selene_options *, selene_scheduler *);
static selene_status (*copy_check)(const char *, int64_t, selene_store_findings *);
static const selene_error *(*copy_error)(void);

static void *function_of(void *library, const char *name) {
    void *found = dlsym(library, name);
    CHECK(found != NULL);
    return found;
}

/** A second copy of the library, as a plugin that was linked with the archive has it. */
static void load_copy(void) {
    Dl_info info;
    struct bytes library;
    void *copy;
    void *known = dlsym(RTLD_DEFAULT, "selene_name");
    CHECK(known && dladdr(known, &info));
    library = read_bytes(info.dli_fname);
    CHECK(library.size != SIZE_MAX);
    write_bytes(path("copy.so"), library.data, library.size);
    free(library.data);
    copy = dlopen(path("copy.so"), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    CHECK(copy != NULL);
    *(void **)&copy_open = function_of(copy, "selene_scheduler_open");
    *(void **)&copy_check = function_of(copy, "selene_store_check");
    *(void **)&copy_error = function_of(copy, "selene_error_last");
    CHECK(*(void **)&copy_open != function_of(RTLD_DEFAULT, "selene_scheduler_open"));
}

static void host_with_a_plugin(void) {
    selene_options options = store_options(shared_path);
    selene_scheduler scheduler, other = 0;
    int locks;
    load_copy();
    scheduler = open_store(shared_path);
    CHECK_OK(put(scheduler, "a", 50));
    locks = most_posix_locks(shared_path);
    CHECK(locks > 0);
    for (int i = 0; i < 5; i++) {
        CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, copy_open(&options, &other));
        CHECK(strstr(copy_error()->message.data, "in this process") != NULL);
        CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, copy_check(shared_path, -1, NULL));
        /* /proc/locks leaves lines out while other processes take and release locks. */
        WAIT_UNTIL(posix_locks(shared_path) == locks);
    }
    by_another("refused");
    CHECK_OK(put(scheduler, "b", 50));
    close_store(scheduler);
    /* What was kept for the sake of the first copy is of use now. */
    CHECK_OK(copy_check(shared_path, -1, NULL));
    CHECK_OK(copy_open(&options, &other));
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, open_quietly(shared_path));
    WAIT_UNTIL(posix_locks(shared_path) > 0);
    by_another("refused");
    die();
}

static void test_second_copy(void) {
    new_folder();
    shared_path = path("store");
    CHECK_INT(KILLED, in_child(host_with_a_plugin));
    CHECK_INT(100, tasks_in(shared_path));
}

#endif

/** A child that lives on must not keep the store of a parent that is gone. */
static void test_child_outlives(void) {
    int ready[2], status;
    pid_t parent, child = 0;
    new_folder();
    shared_path = path("store");
    CHECK(pipe(ready) == 0);
    parent = fork();
    CHECK(parent >= 0);
    if (parent == 0) {
        selene_scheduler scheduler = open_store(shared_path);
        CHECK_OK(put(scheduler, "a", 5));
        child = fork();
        if (child == 0) {
            check_sleep(30 * S);
            _exit(0);
        }
        CHECK(write(ready[1], &child, sizeof child) == (ssize_t)sizeof child);
        for (;;)
            pause();
    }
    CHECK(read(ready[0], &child, sizeof child) == (ssize_t)sizeof child);
    by_another("refused");
    CHECK(kill(parent, SIGKILL) == 0 && waitpid(parent, &status, 0) == parent);
    CHECK(kill(child, 0) == 0);
    CHECK_OK(open_quietly(shared_path));
    CHECK_INT(5, tasks_in(shared_path));
    CHECK(kill(child, SIGKILL) == 0);
}

/** A process that has only SQLite's lock, as earlier versions of the library have. */
static void test_only_sqlite(void) {
    int ready[2], status;
    char byte, number[32];
    pid_t owner;
    new_folder();
    shared_path = path("store");
    make_store(shared_path, TASKS);
    CHECK(pipe(ready) == 0);
    owner = fork();
    CHECK(owner >= 0);
    if (owner == 0) {
        sqlite3 *database = NULL;
        CHECK_INT(SQLITE_OK, sqlite3_open(shared_path, &database));
        CHECK_INT(SQLITE_OK, sqlite3_exec(database,
                                          "PRAGMA locking_mode = EXCLUSIVE;"
                                          "SELECT count(*) FROM sqlite_schema",
                                          NULL, NULL, NULL));
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    told_at_once();
    told_locked_by_open();
    snprintf(number, sizeof number, "process %ld (", (long)owner);
    CHECK(strstr(selene_error_last()->message.data, number) != NULL);
    CHECK(kill(owner, SIGKILL) == 0 && waitpid(owner, &status, 0) == owner);
    CHECK_OK(open_quietly(shared_path));
}

/** A host whose default for SQLite has no locks. */
static void is_refused_without_locks(void) {
    CHECK_INT(SQLITE_OK, sqlite3_vfs_register(sqlite3_vfs_find("unix-none"), 1));
    told_locked_by_open();
    told_locked_by_others();
}

static void test_other_default(void) {
    selene_scheduler scheduler;
    new_folder();
    shared_path = path("store");
    scheduler = open_store(shared_path);
    CHECK_OK(put(scheduler, "a", 5));
    by_another("unlocked");
    CHECK_OK(put(scheduler, "b", 5));
    close_store(scheduler);
    CHECK_INT(10, tasks_in(shared_path));
}

/** The refusal says which process has the store, by number and by name: here this one's parent. */
static void is_named(void) {
    char file[64], name[64] = "", expected[200];
    FILE *comm;
    snprintf(file, sizeof file, "/proc/%ld/comm", (long)getppid());
    comm = fopen(file, "r");
    CHECK(comm != NULL && fgets(name, sizeof name, comm));
    fclose(comm);
    name[strcspn(name, "\n")] = 0;
    snprintf(expected, sizeof expected, ": open in process %ld (%s)", (long)getppid(), name);
    told_locked_by_open();
    if (!strstr(selene_error_last()->message.data, expected)) {
        fprintf(stderr, "expected %s, got %s\n", expected, selene_error_last()->message.data);
        check_fail();
    }
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_store_check(shared_path, -1, NULL));
    CHECK(strstr(selene_error_last()->message.data, expected) != NULL);
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED,
                 selene_store_salvage(shared_path, -1, path("fresh"), -1, NULL));
    CHECK(strstr(selene_error_last()->message.data, expected) != NULL);
}

static void test_names_owner(void) {
    selene_scheduler scheduler;
    new_folder();
    shared_path = path("store");
    scheduler = open_store(shared_path);
    by_another("named");
    /* The same where SQLite's own lock is lost. */
    read_by_host(shared_path);
    by_another("named");
    close_store(scheduler);
}

/* ============================================================================
 *  REMOVED AND REPLACED
 * ========================================================================= */

/** Nothing is answered OK any more, and closing says so too. */
static void refused_from_now_on(selene_scheduler scheduler) {
    selene_task task = task_of("late");
    selene_window window = window_of(ANY_KIND, S);
    selene_cycle cycle = 0;
    uint64_t before = count_of(scheduler);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_task_register(scheduler, &task, NULL));
        check_detail(shared_path);
        CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_cycle_begin(scheduler, &window, &cycle));
    }
    CHECK_INT(before, count_of(scheduler));
}

static selene_scheduler begin_working(int count) {
    selene_scheduler scheduler;
    new_folder();
    shared_path = path("store");
    scheduler = open_store(shared_path);
    add_handler(scheduler, "work");
    CHECK_OK(put(scheduler, "a", count));
    return scheduler;
}

static void test_removed(void) {
    selene_scheduler scheduler = begin_working(20), second;
    CHECK(unlink(shared_path) == 0 && unlink(path("store-wal")) == 0);
    refused_from_now_on(scheduler);
    /* What has the name now is another store, which the first leaves alone. */
    second = open_store(shared_path);
    CHECK_OK(put(second, "b", 7));
    refused_from_now_on(scheduler);
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, 0));
    CHECK(exists(path("store-wal")));
    CHECK_OK(put(second, "c", 7));
    CHECK_INT(14, count_of(second));
    close_store(second);
    CHECK_INT(14, tasks_in(shared_path));
}

/** A backup that is brought back over the name. */
static void test_replaced(void) {
    selene_scheduler scheduler = begin_working(20);
    static struct tree before;
    CHECK_OK(selene_store_backup(scheduler, path("backup"), -1));
    CHECK_OK(put(scheduler, "b", 20));
    CHECK(rename(path("backup"), shared_path) == 0);
    CHECK(unlink(path("store-wal")) == 0);
    tree_read(&before);
    refused_from_now_on(scheduler);
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, 0));
    CHECK_TREE(&before);
    tree_free(&before);
    CHECK_INT(20, tasks_in(shared_path));
}

/** A file that was taken elsewhere is whole there, and its host goes on when it is brought back. */
static void test_taken_away(void) {
    selene_scheduler scheduler = begin_working(20);
    CHECK(mkdir(path("away"), 0700) == 0);
    CHECK(rename(shared_path, path("away/store")) == 0);
    CHECK(rename(path("store-wal"), path("away/store-wal")) == 0);
    refused_from_now_on(scheduler);
    CHECK(rename(path("away/store"), shared_path) == 0);
    refused_from_now_on(scheduler);
    CHECK(rename(path("away/store-wal"), path("store-wal")) == 0);
    CHECK_OK(put(scheduler, "b", 20));
    CHECK(rename(shared_path, path("away/store")) == 0);
    CHECK(rename(path("store-wal"), path("away/store-wal")) == 0);
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, 0));
    CHECK(!exists(shared_path));
    CHECK_INT(40, tasks_in(path("away/store")));
}

static void lose_log(void) {
    selene_scheduler scheduler = open_store(shared_path);
    add_handler(scheduler, "work");
    CHECK_OK(put(scheduler, "a", 20));
    CHECK(unlink(path("store-wal")) == 0);
    refused_from_now_on(scheduler);
    die();
}

/** What was answered OK is saved from a log that is only removed, as soon as that is noticed. */
static void test_log_removed(void) {
    selene_scheduler scheduler;
    new_folder();
    shared_path = path("store");
    CHECK_INT(KILLED, in_child(lose_log));
    CHECK_INT(20, tasks_in(shared_path));
    scheduler = begin_working(20);
    CHECK(unlink(path("store-wal")) == 0);
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, 0));
    CHECK_INT(20, tasks_in(shared_path));
    scheduler = open_store(shared_path);
    CHECK_OK(put(scheduler, "b", 20));
    close_store(scheduler);
    CHECK_INT(40, tasks_in(shared_path));
}

/** A backup whose bytes were copied over the file, and the log removed with it, stays as it is. */
static void test_overwritten(void) {
    selene_scheduler scheduler = begin_working(20);
    struct bytes backup;
    int file;
    CHECK_OK(selene_store_backup(scheduler, path("backup"), -1));
    backup = read_bytes(path("backup"));
    CHECK_OK(put(scheduler, "b", 20));
    check_sleep(20 * MS);
    file = open(shared_path, O_WRONLY | O_TRUNC);
    CHECK(file >= 0 && write(file, backup.data, backup.size) == (ssize_t)backup.size);
    close(file);
    CHECK(unlink(path("store-wal")) == 0);
    refused_from_now_on(scheduler);
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, 0));
    CHECK_INT(20, tasks_in(shared_path));
    CHECK_INT(20, tasks_in(path("backup")));
    free(backup.data);
}

/** Another log in the place of ours is neither written nor removed. */
static void test_log_replaced(void) {
    selene_scheduler scheduler = begin_working(20);
    static struct tree before;
    write_bytes(path("other"), "another log", 11);
    CHECK(rename(path("other"), path("store-wal")) == 0);
    tree_read(&before);
    refused_from_now_on(scheduler);
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, 0));
    CHECK_TREE(&before);
    tree_free(&before);
}

/** A copy can be made while the names lead elsewhere: that is how a host saves what it has. */
static void test_backup_of_moved(void) {
    selene_scheduler scheduler = begin_working(20);
    CHECK(unlink(shared_path) == 0 && unlink(path("store-wal")) == 0);
    refused_from_now_on(scheduler);
    CHECK_OK(selene_store_backup(scheduler, path("saved"), -1));
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, 0));
    CHECK_INT(20, tasks_in(path("saved")));
}

/** Outcomes too: what a run did is not answered OK either. */
static void test_outcome(void) {
    selene_scheduler scheduler = begin_working(2);
    selene_window window = window_of(ANY_KIND, S);
    selene_cycle cycle = 0;
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = 0;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK(unlink(shared_path) == 0);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_STATUS(SELENE_ERROR_STORE_MOVED, selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "--part")) {
        shared_path = argv[3];
        if (!strcmp(argv[2], "refused")) is_refused();
        else if (!strcmp(argv[2], "unlocked")) is_refused_without_locks();
        else is_named();
        return 0;
    }
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("D5 a host that reads its own store keeps others out of it", test_host_reads);
#ifndef SANITIZED
    run_test("D5 a second copy of the library is refused and takes no lock away", test_second_copy);
#endif
    run_test("D5 a child that lives on does not keep its parent's store", test_child_outlives);
    run_test("D5 who has only SQLite's lock is not disturbed, and named", test_only_sqlite);
    run_test("D5 a host whose SQLite has no locks by default opens no store of another",
             test_other_default);
    run_test("D4 the refusal names the process that has the store", test_names_owner);
    run_test("D6 a store that is removed answers no call OK, and closes beside a new one",
             test_removed);
    run_test("D6 a store that is replaced answers no call OK", test_replaced);
    run_test("D6 a store that is taken away goes on when it comes back", test_taken_away);
    run_test("D6 a log that is removed: what was answered OK is saved", test_log_removed);
    run_test("D6 a file that was overwritten is not written to", test_overwritten);
    run_test("D6 a log that is replaced is left alone", test_log_replaced);
    run_test("D6 a store that was removed can be copied from its host", test_backup_of_moved);
    run_test("D6 an outcome is not stored where no one finds it", test_outcome);
    tools_end();
    return check_end();
}
