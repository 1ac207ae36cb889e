/*
 * store_open.c - what a store refuses, and that what it refuses stays as it was (D1, D4); check, backup, salvage
 *
 * Argument: the filter of check.h. Permissions are tried as nobody when root runs the tests.
 */
#include "store_tools.h"

#include <sched.h>
#include <sqlite3.h>
#include <sys/mman.h>

#define TASKS 40

static selene_status open_quietly(const char *file) {
    selene_options options = store_options(file);
    selene_scheduler scheduler = 77;
    selene_status status = selene_scheduler_open(&options, &scheduler);
    if (status) CHECK_INT(77, scheduler);
    else close_store(scheduler);
    return status;
}

static const char *name_in(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/** The detail text must name the file. */
static void check_detail(const char *file) {
    if (strstr(selene_status_detail(), name_in(file))) return;
    fprintf(stderr, "the detail text does not name %s: \"%s\"\n", name_in(file),
            selene_status_detail());
    check_fail();
}

/** Opening must answer so, name the file, and leave everything as it was. */
static void check_refused(selene_status expected, const char *file) {
    static struct tree before;
    tree_read(&before);
    CHECK_STATUS(expected, open_quietly(file));
    check_detail(file);
    CHECK_TREE(&before);
    tree_free(&before);
}

/** Opening must answer one of two, name the file, and leave everything as it was. */
static selene_status check_refused_as(selene_status one, selene_status other, const char *file) {
    static struct tree before;
    selene_status got;
    tree_read(&before);
    got = open_quietly(file);
    if (got != other) CHECK_STATUS(one, got);
    check_detail(file);
    CHECK_TREE(&before);
    tree_free(&before);
    return got;
}

/* ============================================================================
 *  WHAT CANNOT BE OPENED
 * ========================================================================= */

static void test_directory(void) {
    new_folder();
    CHECK(mkdir(path("folder"), 0755) == 0);
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, path("folder"));
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, tools_folder);
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, path("folder/"));
}

static void test_missing_parent(void) {
    new_folder();
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, path("no/such/store"));
    write_bytes(path("file"), "text", 4);
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, path("file/store"));
    CHECK(symlink("nowhere/at/all", path("dangling")) == 0);
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, path("dangling"));
}

static void test_special_files(void) {
    new_folder();
    CHECK(mkfifo(path("fifo"), 0600) == 0);
    check_refused_as(SELENE_ERROR_STORE_CANNOT_OPEN, SELENE_ERROR_STORE_FOREIGN, path("fifo"));
    CHECK(open_quietly("/dev/null") != SELENE_OK);
    CHECK(open_quietly("/dev/zero") != SELENE_OK);
}

static void test_odd_arguments(void) {
    selene_options options = store_options("some\0thing");
    selene_scheduler scheduler = 0;
    new_folder();
    CHECK(chdir(tools_folder) == 0);
    options.path.length = 10;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
    options.path.length = -2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
    options.path = (selene_text){NULL, 4};
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
}

static void test_too_long(void) {
    static const size_t lengths[] = {256, 500, 511, 512, 513, 4000, 4095, 4096, 5000, 69999};
    static char longest[70000];
    new_folder();
    CHECK(chdir(tools_folder) == 0);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        static struct tree before;
        selene_status status;
        memset(longest, 'x', lengths[i]);
        longest[lengths[i]] = 0;
        tree_read(&before);
        status = open_quietly(longest);
        if (status != SELENE_ERROR_INVALID_ARGUMENT)
            CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, status);
        CHECK_TREE(&before);
        tree_free(&before);
    }
}

/** Names that SQLite would take for something else are names. */
static void test_names_are_names(void) {
    static const char *const names[] = {":memory:",
                                        "file:other?mode=memory",
                                        "file::memory:?cache=shared",
                                        "with space",
                                        "per%20cent",
                                        "question?mode=ro",
                                        "hash#tag",
                                        "quote'\"`",
                                        "schön",
                                        "-dash",
                                        "new\nline"};
    new_folder();
    CHECK(chdir(tools_folder) == 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        selene_scheduler scheduler = open_store(names[i]);
        selene_task task = task_of("kept");
        selene_store_info *info = NULL;
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        CHECK_OK(selene_store_get(scheduler, &info));
        CHECK_TEXT(names[i], info->path);
        selene_store_info_destroy(info);
        close_store(scheduler);
        CHECK(exists(path(names[i])));
        CHECK(!exists(path("other")));
        scheduler = open_store(names[i]);
        CHECK_INT(1, count_of(scheduler));
        close_store(scheduler);
    }
}

/* ---- permissions ---------------------------------------------------------- */

static void nobody_is_refused_in_closed_folder(void) {
    become_nobody();
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, open_quietly(path("closed/store")));
    check_detail("store");
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, open_quietly(path("closed/new")));
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, open_quietly(path("secret")));
    check_detail("secret");
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, selene_store_check(path("secret"), -1, NULL));
    check_detail("secret");
}

static void test_no_permission(void) {
    static struct bytes before, after;
    new_folder();
    CHECK(mkdir(path("closed"), 0755) == 0);
    make_store(path("closed/store"), 10);
    make_store(path("secret"), 10);
    before = read_bytes(path("secret"));
    give_to_nobody(path("secret"));
    CHECK(chmod(path("secret"), 0) == 0);
    give_to_nobody(path("closed"));
    CHECK(chmod(path("closed"), 0) == 0);
    CHECK_INT(0, in_child(nobody_is_refused_in_closed_folder));
    CHECK(chmod(path("closed"), 0755) == 0);
    CHECK(chmod(path("secret"), 0600) == 0);
    after = read_bytes(path("secret"));
    CHECK(before.size == after.size && memcmp(before.data, after.data, before.size) == 0);
    CHECK_OK(open_quietly(path("secret")));
    CHECK_OK(open_quietly(path("closed/store")));
}

static void nobody_cannot_write(void) {
    become_nobody();
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, path("store"));
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, path("new"));
}

static void nobody_cannot_write_store(void) {
    become_nobody();
    check_refused(SELENE_ERROR_STORE_CANNOT_OPEN, path("store"));
}

static void test_read_only_file(void) {
    new_folder();
    make_store(path("store"), 10);
    give_to_nobody(path("store"));
    give_to_nobody(tools_folder);
    CHECK(chmod(path("store"), 0444) == 0);
    CHECK_INT(0, in_child(nobody_cannot_write_store));
}

static void test_read_only_folder(void) {
    new_folder();
    make_store(path("store"), 10);
    give_to_nobody(path("store"));
    CHECK(chmod(path("store"), 0600) == 0);
    CHECK(chmod(tools_folder, 0555) == 0);
    CHECK_INT(0, in_child(nobody_cannot_write));
    CHECK(chmod(tools_folder, 0755) == 0);
}

static void nobody_checks(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
    become_nobody();
    tree_read(&before);
    CHECK_OK(selene_store_check(path("store"), -1, &findings));
    CHECK(findings.tasks >= 10);
    CHECK_TREE(&before);
}

/** Examining asks for no more than reading. */
static void test_check_reads_only(void) {
    new_folder();
    make_store(path("store"), 10);
    give_to_nobody(path("store"));
    CHECK(chmod(path("store"), 0444) == 0);
    CHECK(chmod(tools_folder, 0555) == 0);
    CHECK_INT(0, in_child(nobody_checks));
    CHECK(chmod(tools_folder, 0755) == 0);
}

/* ============================================================================
 *  WHAT IS NO STORE, OR A DAMAGED ONE
 * ========================================================================= */

static void check_text_file(const char *text, size_t size) {
    write_bytes(path("file"), text, size);
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("file"));
}

static void test_text_file(void) {
    static char text[100000];
    new_folder();
    check_text_file("x", 1);
    check_text_file("#!/bin/sh\necho no store\n", 24);
    memset(text, 'a', sizeof text);
    check_text_file(text, 15);
    check_text_file(text, 16);
    check_text_file(text, 100);
    check_text_file(text, 512);
    check_text_file(text, 4096);
    check_text_file(text, sizeof text);
    memset(text, 0, sizeof text);
    write_bytes(path("file"), text, sizeof text);
    check_refused_as(SELENE_ERROR_STORE_FOREIGN, SELENE_ERROR_STORE_CORRUPT, path("file"));
    memcpy(text, "SQLite format 3", 16);
    write_bytes(path("file"), text, sizeof text);
    check_refused_as(SELENE_ERROR_STORE_FOREIGN, SELENE_ERROR_STORE_CORRUPT, path("file"));
}

static void test_empty_file(void) {
    new_folder();
    write_bytes(path("store"), "", 0);
    check_refused(SELENE_ERROR_STORE_CORRUPT, path("store"));
}

static void run_sql(const char *file, const char *sql) {
    sqlite3 *database = NULL;
    char *problem = NULL;
    CHECK(sqlite3_open(file, &database) == SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &problem) != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", sql, problem);
    CHECK(problem == NULL);
    CHECK(sqlite3_close(database) == SQLITE_OK);
}

static void test_other_database(void) {
    new_folder();
    run_sql(path("other"), "CREATE TABLE task(id TEXT); INSERT INTO task VALUES('theirs')");
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("other"));
    run_sql(path("other"), "PRAGMA journal_mode=WAL; INSERT INTO task VALUES('more')");
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("other"));
    run_sql(path("other"), "PRAGMA application_id=1; PRAGMA user_version=1");
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("other"));
    run_sql(path("small"), "PRAGMA user_version=1; VACUUM");
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("small"));
}

/** Another program has its own database open and writes in it: it is told apart without a wait or a change. */
static void test_other_database_in_use(void) {
    sqlite3 *database = NULL;
    int64_t begin = check_now();
    int status = 0;
    pid_t child;
    int ready[2], done[2];
    char byte;
    new_folder();
    CHECK(pipe(ready) == 0 && pipe(done) == 0);
    child = fork();
    if (child == 0) {
        CHECK(sqlite3_open(path("other"), &database) == SQLITE_OK);
        CHECK(sqlite3_exec(database, "CREATE TABLE t(x); BEGIN EXCLUSIVE; INSERT INTO t VALUES(1)",
                           NULL, NULL, NULL) == SQLITE_OK);
        CHECK(write(ready[1], "x", 1) == 1);
        CHECK(read(done[0], &byte, 1) == 1);
        CHECK(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    check_refused_as(SELENE_ERROR_STORE_FOREIGN, SELENE_ERROR_STORE_LOCKED, path("other"));
    CHECK(check_now() - begin < 2 * S + check_slack());
    CHECK(write(done[1], "x", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* ---- header fields of a store ---------------------------------------------- */

static uint32_t header_word(const struct bytes *bytes, size_t at) {
    return (uint32_t)bytes->data[at] << 24 | (uint32_t)bytes->data[at + 1] << 16 |
           (uint32_t)bytes->data[at + 2] << 8 | bytes->data[at + 3];
}

static void write_header_word(const char *file, const struct bytes *bytes, size_t at,
                              uint32_t word) {
    unsigned char *copy = malloc(bytes->size);
    CHECK(copy != NULL);
    memcpy(copy, bytes->data, bytes->size);
    for (int i = 0; i < 4; i++)
        copy[at + (size_t)i] = (unsigned char)(word >> (24 - 8 * i));
    write_bytes(file, copy, bytes->size);
    free(copy);
}

enum { USER_VERSION = 60, APPLICATION_ID = 68 };

static void test_newer_schema(void) {
    static struct bytes bytes;
    uint32_t version;
    new_folder();
    make_store(path("store"), TASKS);
    bytes = read_bytes(path("store"));
    version = header_word(&bytes, USER_VERSION);
    CHECK(version >= 1);
    write_header_word(path("store"), &bytes, USER_VERSION, version + 1);
    check_refused(SELENE_ERROR_STORE_NEWER, path("store"));
    CHECK_STATUS(SELENE_ERROR_STORE_NEWER, selene_store_check(path("store"), -1, NULL));
    check_detail(path("store"));
    write_header_word(path("store"), &bytes, USER_VERSION, INT32_MAX);
    check_refused(SELENE_ERROR_STORE_NEWER, path("store"));
    CHECK_STATUS(SELENE_ERROR_STORE_NEWER,
                 selene_store_salvage(path("store"), -1, path("fresh"), -1, NULL));
    CHECK(!exists(path("fresh")));
    write_header_word(path("store"), &bytes, USER_VERSION, 0);
    check_refused_as(SELENE_ERROR_STORE_CORRUPT, SELENE_ERROR_STORE_FOREIGN, path("store"));
    write_header_word(path("store"), &bytes, USER_VERSION, UINT32_C(0x80000000));
    CHECK(open_quietly(path("store")) != SELENE_OK);
    write_header_word(path("store"), &bytes, USER_VERSION, version);
    CHECK_OK(open_quietly(path("store")));
}

static void test_wrong_application(void) {
    static struct bytes bytes;
    uint32_t application;
    new_folder();
    make_store(path("store"), TASKS);
    bytes = read_bytes(path("store"));
    application = header_word(&bytes, APPLICATION_ID);
    CHECK(application != 0);
    write_header_word(path("store"), &bytes, APPLICATION_ID, application ^ 1);
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("store"));
    CHECK_STATUS(SELENE_ERROR_STORE_FOREIGN, selene_store_check(path("store"), -1, NULL));
    CHECK_STATUS(SELENE_ERROR_STORE_FOREIGN,
                 selene_store_salvage(path("store"), -1, path("fresh"), -1, NULL));
    CHECK(!exists(path("fresh")));
    write_header_word(path("store"), &bytes, APPLICATION_ID, 0);
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("store"));
}

/* ---- truncated, overwritten ------------------------------------------------ */

static size_t page_size_of(const struct bytes *bytes) {
    size_t size = (size_t)bytes->data[16] << 8 | bytes->data[17];
    return size == 1 ? 65536 : size;
}

/** A closed store that was opened before; gives what is in it. */
static char *make_settled_store(int count) {
    selene_scheduler scheduler;
    char *tasks;
    make_store(path("store"), count);
    scheduler = open_store(path("store"));
    tasks = dump_tasks(scheduler);
    close_store(scheduler);
    return tasks;
}

/** Opening must be refused as damage, or, if not, everything must be there. */
static int refused_or_whole(const char *tasks) {
    static struct tree before;
    selene_options options = store_options(path("store"));
    selene_scheduler scheduler = 0;
    selene_status status;
    tree_read(&before);
    status = selene_scheduler_open(&options, &scheduler);
    if (status == SELENE_OK) {
        CHECK_DUMPS(strdup(tasks), dump_tasks(scheduler));
        close_store(scheduler);
    } else {
        if (status != SELENE_ERROR_STORE_FOREIGN) CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, status);
        check_detail(path("store"));
        CHECK_TREE(&before);
    }
    tree_free(&before);
    return status != SELENE_OK;
}

static void test_truncated(void) {
    static struct bytes bytes;
    uint64_t random = 1;
    char *tasks;
    size_t page;
    new_folder();
    tasks = make_settled_store(TASKS);
    bytes = read_bytes(path("store"));
    page = page_size_of(&bytes);
    for (size_t length = 0; length < bytes.size; length += page) {
        for (int change = -1; change <= 1; change++) {
            if (length == 0 && change < 0) continue;
            write_bytes(path("store"), bytes.data, length + (size_t)change);
            CHECK(refused_or_whole(tasks));
        }
    }
    for (int i = 0; i < 80; i++) {
        size_t length = i < 20   ? (size_t)i * 31 % 1024
                        : i < 40 ? bytes.size - 1 - (size_t)i * 53 % page
                                 : (size_t)chance_below(&random, bytes.size);
        write_bytes(path("store"), bytes.data, length);
        if (!refused_or_whole(tasks)) {
            fprintf(stderr, "%zu of %zu bytes were taken for whole\n", length, bytes.size);
            check_fail();
        }
    }
    free(tasks);
}

static void test_page_overwritten(void) {
    static const int patterns[] = {0, 0xA5, 0xFF, -1};
    static struct bytes bytes;
    uint64_t random = 2;
    char *tasks;
    size_t page, refused = 0, tried = 0;
    new_folder();
    tasks = make_settled_store(TASKS);
    bytes = read_bytes(path("store"));
    page = page_size_of(&bytes);
    for (size_t at = 0; at < bytes.size; at += page) {
        for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
            unsigned char *copy = malloc(bytes.size);
            CHECK(copy != NULL);
            memcpy(copy, bytes.data, bytes.size);
            for (size_t byte = 0; byte < page; byte++)
                copy[at + byte] = (unsigned char)(patterns[i] < 0 ? (int)chance_below(&random, 256)
                                                                  : patterns[i]);
            write_bytes(path("store"), copy, bytes.size);
            free(copy);
            tried++;
            refused += (size_t)refused_or_whole(tasks);
        }
    }
    printf("# %zu of %zu overwritten pages were refused, the others held nothing\n", refused,
           tried);
    CHECK(refused * 2 > tried);
    free(tasks);
}

/* ============================================================================
 *  TWO AT A TIME
 * ========================================================================= */

static const char *shared_path;

static void told_at_once(void) {
    int64_t begin = check_now();
    selene_options options = store_options(shared_path);
    selene_scheduler scheduler = 0;
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_scheduler_open(&options, &scheduler));
    CHECK(check_now() - begin < 500 * MS + check_slack());
    check_detail(shared_path);
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_store_check(shared_path, -1, NULL));
    check_detail(shared_path);
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED,
                 selene_store_salvage(shared_path, -1, path("fresh"), -1, NULL));
    CHECK(!exists(path("fresh")));
    CHECK(check_now() - begin < 1500 * MS + check_slack());
}

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

static mode_t mode_of(const char *file) {
    struct stat found;
    CHECK(stat(file, &found) == 0);
    return found.st_mode & 07777;
}

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
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
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
    selene_store_info_destroy(info);
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
    selene_store_info_destroy(info);
    selene_store_info_destroy(NULL);
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
    selene_store_info_destroy(info);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_store_get(scheduler, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_store_get(1, &info));
    close_store(scheduler);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_store_get(scheduler, &info));
}

/* ============================================================================
 *  CHECK
 * ========================================================================= */

static void test_check_whole(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
    selene_store_findings small = SELENE_STORE_FINDINGS_INIT;
    uint64_t records;
    new_folder();
    records = make_store(path("store"), TASKS);
    tree_read(&before);
    CHECK_OK(selene_store_check(path("store"), -1, &findings));
    CHECK_INT(records, findings.tasks);
    CHECK_INT(0, findings.damaged);
    CHECK(findings.schema_version >= 1);
    CHECK_OK(selene_store_check(path("store"), (int64_t)strlen(path("store")), NULL));
    small.struct_size = 4;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED_STRUCT, selene_store_check(path("store"), -1, &small));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_store_check(NULL, -1, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_store_check("", 0, NULL));
    CHECK_TREE(&before);
}

static void leave_log_behind(void) {
    selene_scheduler scheduler = open_store(path("store"));
    fill(scheduler, TASKS);
    die();
}

/** A store whose process was killed: what its log holds counts, and stays where it is. */
static void test_check_with_log(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
    selene_scheduler scheduler;
    uint64_t records;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_log_behind));
    CHECK(exists(path("store-wal")));
    tree_read(&before);
    CHECK_OK(selene_store_check(path("store"), -1, &findings));
    CHECK_TREE(&before);
    tree_free(&before);
    CHECK(findings.tasks > TASKS / 2);
    scheduler = open_store(path("store"));
    records = count_of(scheduler);
    CHECK_INT(records, findings.tasks);
    close_store(scheduler);
    CHECK(!exists(path("store-wal")));
}

static void check_examined(selene_status expected, const char *file) {
    static struct tree before;
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
    tree_read(&before);
    CHECK_STATUS(expected, selene_store_check(file, -1, &findings));
    check_detail(file);
    CHECK_TREE(&before);
    tree_free(&before);
}

static void test_check_refusals(void) {
    static struct bytes bytes;
    size_t page;
    new_folder();
    check_examined(SELENE_ERROR_STORE_CANNOT_OPEN, path("nothing"));
    check_examined(SELENE_ERROR_STORE_CANNOT_OPEN, path("no/such/folder"));
    check_examined(SELENE_ERROR_STORE_CANNOT_OPEN, tools_folder);
    write_bytes(path("text"), "just some text\n", 15);
    check_examined(SELENE_ERROR_STORE_FOREIGN, path("text"));
    write_bytes(path("empty"), "", 0);
    check_examined(SELENE_ERROR_STORE_CORRUPT, path("empty"));
    make_store(path("store"), TASKS);
    bytes = read_bytes(path("store"));
    page = page_size_of(&bytes);
    memset(bytes.data + bytes.size - page, 0xA5, page);
    memset(bytes.data + page, 0xA5, page);
    write_bytes(path("store"), bytes.data, bytes.size);
    check_examined(SELENE_ERROR_STORE_CORRUPT, path("store"));
}

/* ============================================================================
 *  BACKUP
 * ========================================================================= */

static void test_backup(void) {
    selene_scheduler scheduler, copy;
    selene_task task = task_of("afterwards");
    selene_cycle cycle = 0;
    selene_run_info run = SELENE_RUN_INFO_INIT;
    selene_task_info *info = NULL;
    int32_t step;
    char *before;
    uint64_t commits;
    new_folder();
    scheduler = open_store(path("store"));
    fill(scheduler, TASKS);
    commits = commits_of(scheduler);
    CHECK_OK(selene_store_backup(scheduler, path("copy"), -1));
    CHECK_INT(0600, mode_of(path("copy")));
    before = dump_all(scheduler);
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK(commits_of(scheduler) >= commits + 1);

    /* The copy is there at once, beside the one that is in use. */
    CHECK_OK(selene_store_check(path("copy"), -1, NULL));
    copy = open_store(path("copy"));
    add_handler(copy, "work");
    CHECK_DUMPS(before, dump_all(copy));
    CHECK_OK(selene_task_register(copy, &task, NULL));
    close_store(copy);

    /* While a run is in flight: in the copy it is interrupted, here it goes on. */
    {
        selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
        CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    }
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_store_backup(scheduler, path("second"), -1));
    copy = open_store(path("second"));
    CHECK_OK(selene_task_get(copy, run.id.data, run.id.length, 0, &info));
    CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
    selene_task_info_destroy(info);
    close_store(copy);
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_store(scheduler);
    CHECK(!exists(path("copy-wal")) && !exists(path("second-wal")));
}

static void test_backup_refusals(void) {
    static struct tree before, after;
    selene_scheduler scheduler;
    selene_task task = task_of("afterwards");
    new_folder();
    scheduler = open_store(path("store"));
    fill(scheduler, TASKS);
    write_bytes(path("text"), "mine", 4);
    write_bytes(path("empty"), "", 0);
    CHECK(mkdir(path("folder"), 0755) == 0);
    CHECK(symlink("nowhere", path("dangling")) == 0);
    /* The store itself is not read here: that would end its lock. */
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, selene_store_backup(scheduler, path("text"), -1));
    check_detail("text");
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, selene_store_backup(scheduler, path("empty"), -1));
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN,
                 selene_store_backup(scheduler, path("folder"), -1));
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN,
                 selene_store_backup(scheduler, path("dangling"), -1));
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, selene_store_backup(scheduler, path("store"), -1));
    check_detail("store");
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN,
                 selene_store_backup(scheduler, path("store-wal"), -1));
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN,
                 selene_store_backup(scheduler, path("no/such/folder"), -1));
    check_detail("folder");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_store_backup(scheduler, "", 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_store_backup(scheduler, NULL, -1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_store_backup(scheduler, "a\0b", 3));
    shared_path = path("store");
    CHECK_INT(0, in_child(told_at_once));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    close_store(scheduler);
    tree_read(&before);
    CHECK_INT(5, before.count);
    CHECK_OK(open_quietly(path("store")));
    tree_read(&after);
    CHECK_INT(5, after.count);
    CHECK(after.entries[4].bytes.size == 4 && memcmp(after.entries[4].bytes.data, "mine", 4) == 0);
}

/* ============================================================================
 *  SALVAGE
 * ========================================================================= */

static void test_salvage_whole(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
    selene_scheduler scheduler;
    uint64_t records, sequence = 0;
    char *original;
    selene_task task = task_of("afterwards");
    selene_task_info *info = NULL;
    new_folder();
    make_store(path("store"), TASKS);
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    original = dump_tasks(scheduler);
    records = count_of(scheduler);
    close_store(scheduler);
    tree_read(&before);
    CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
    CHECK_INT(records, findings.tasks);
    CHECK_INT(0, findings.damaged);
    CHECK_INT(0600, mode_of(path("fresh")));
    CHECK_OK(selene_store_check(path("fresh"), -1, NULL));
    scheduler = open_store(path("fresh"));
    CHECK_DUMPS(original, dump_tasks(scheduler));
    {
        selene_task_ids *ids = NULL;
        CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
        for (uint64_t i = 0; i < ids->count; i++) {
            CHECK_OK(selene_task_get(scheduler, ids->ids[i].data, ids->ids[i].length, 0, &info));
            if (info->sequence > sequence) sequence = info->sequence;
            selene_task_info_destroy(info);
        }
        selene_task_ids_destroy(ids);
    }
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_task_get(scheduler, "afterwards", -1, 0, &info));
    CHECK(info->sequence > sequence);
    selene_task_info_destroy(info);
    close_store(scheduler);
    CHECK(unlink(path("fresh")) == 0);
    CHECK_TREE(&before);
}

static void test_salvage_with_log(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
    selene_scheduler scheduler;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_log_behind));
    tree_read(&before);
    CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
    CHECK(findings.tasks > TASKS / 2);
    CHECK_INT(0, findings.damaged);
    scheduler = open_store(path("fresh"));
    CHECK_INT(findings.tasks, count_of(scheduler));
    close_store(scheduler);
    CHECK(unlink(path("fresh")) == 0);
    CHECK_TREE(&before);
    tree_free(&before);
}

/** Page by page: what is on the others is saved. */
static void test_salvage_damaged(void) {
    static struct bytes bytes;
    uint64_t records, least = UINT64_MAX;
    size_t page, refused = 0;
    new_folder();
    records = make_store(path("store"), TASKS * 3);
    bytes = read_bytes(path("store"));
    page = page_size_of(&bytes);
    for (size_t at = page; at < bytes.size; at += page) {
        static struct tree before;
        selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
        selene_status status;
        unsigned char *copy = malloc(bytes.size);
        CHECK(copy != NULL);
        memcpy(copy, bytes.data, bytes.size);
        memset(copy + at, 0xA5, page);
        write_bytes(path("store"), copy, bytes.size);
        free(copy);
        tree_read(&before);
        status = selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings);
        if (status == SELENE_OK) {
            selene_scheduler scheduler = open_store(path("fresh"));
            CHECK_INT(findings.tasks, count_of(scheduler));
            close_store(scheduler);
            CHECK(findings.tasks <= records);
            if (findings.tasks < least) least = findings.tasks;
            CHECK(unlink(path("fresh")) == 0);
        } else {
            CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, status);
            check_detail("store");
            CHECK_INT(0, findings.tasks);
            refused++;
        }
        CHECK_TREE(&before);
        tree_free(&before);
    }
    printf("# one of %zu pages lost: at least %" PRIu64 " of %" PRIu64
           " tasks saved, %zu times nothing\n",
           bytes.size / page, least, records, refused);
    CHECK(least > records / 2);
    CHECK(refused <= 1);
}

static void check_not_saved(selene_status expected, const char *damaged, const char *fresh,
                            const char *named) {
    static struct tree before;
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
    tree_read(&before);
    CHECK_STATUS(expected, selene_store_salvage(damaged, -1, fresh, -1, &findings));
    check_detail(named);
    CHECK_TREE(&before);
    tree_free(&before);
}

static void test_salvage_refusals(void) {
    new_folder();
    make_store(path("store"), 10);
    write_bytes(path("text"), "just some text\n", 15);
    write_bytes(path("empty"), "", 0);
    check_not_saved(SELENE_ERROR_STORE_CANNOT_OPEN, path("store"), path("text"), "text");
    check_not_saved(SELENE_ERROR_STORE_CANNOT_OPEN, path("store"), path("empty"), "empty");
    check_not_saved(SELENE_ERROR_STORE_CANNOT_OPEN, path("store"), path("store"), "store");
    check_not_saved(SELENE_ERROR_STORE_CANNOT_OPEN, path("store"), path("no/where"), "where");
    check_not_saved(SELENE_ERROR_STORE_CANNOT_OPEN, path("nothing"), path("fresh"), "nothing");
    check_not_saved(SELENE_ERROR_STORE_CANNOT_OPEN, tools_folder, path("fresh"), tools_folder);
    check_not_saved(SELENE_ERROR_STORE_FOREIGN, path("text"), path("fresh"), "text");
    check_not_saved(SELENE_ERROR_STORE_CORRUPT, path("empty"), path("fresh"), "empty");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_store_salvage(NULL, -1, path("fresh"), -1, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_store_salvage(path("store"), -1, "", 0, NULL));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("D4 a directory is no store", test_directory);
    run_test("D4 a store in a folder that is not there is not made", test_missing_parent);
    run_test("D4 devices and pipes are no stores", test_special_files);
    run_test("D4 paths that are no text are refused", test_odd_arguments);
    run_test("D4 paths that are too long are refused", test_too_long);
    run_test("D1 a path is a path, whatever it reads like", test_names_are_names);
    run_test("D4 without permission nothing is opened", test_no_permission);
    run_test("D4 a read-only file is refused", test_read_only_file);
    run_test("D4 a store in a folder that cannot be written is refused", test_read_only_folder);
    run_test("D4 examining asks for no more than reading", test_check_reads_only);
    run_test("D4 a text file is no store and stays as it is", test_text_file);
    run_test("D4 an empty file is damage, not a new store", test_empty_file);
    run_test("D4 a database of somebody else is told apart and stays as it is",
             test_other_database);
    run_test("D4 a database that somebody else is writing stays as it is",
             test_other_database_in_use);
    run_test("D4 a newer schema is refused and stays as it is", test_newer_schema);
    run_test("D4 another application id is refused and stays as it is", test_wrong_application);
    run_test("D4 a truncated store is refused and stays as it is", test_truncated);
    run_test("D4 a store with a page overwritten is refused, or nothing was on it",
             test_page_overwritten);
    run_test("D4 a store that is open in this process is locked, by any name", test_same_process);
    run_test("D4 another process is told at once", test_other_process);
    run_test("D1 of those who make a store at the same time one has it", test_race_to_make);
    run_test("D1 of two that open a store at the same time one has it", test_race_to_open);
    run_test("P4 a forked child is told, and takes nothing from its parent", test_forked);
    run_test("D1 a new store has mode 0600 and leaves nothing beside it", test_new_store);
    run_test("D1 store_get says what the store is", test_store_get);
    run_test("D4 check counts the tasks of a whole store", test_check_whole);
    run_test("D4 check reads what a killed process left in the log, and leaves it there",
             test_check_with_log);
    run_test("D4 check says what open would say", test_check_refusals);
    run_test("D1 backup copies while the store is in use", test_backup);
    run_test("D1 backup writes over nothing", test_backup_refusals);
    run_test("D4 salvage of a whole store saves all of it", test_salvage_whole);
    run_test("D4 salvage reads the log too", test_salvage_with_log);
    run_test("D4 salvage saves what is not on the lost page", test_salvage_damaged);
    run_test("D4 salvage writes over nothing and says why not", test_salvage_refusals);
    tools_end();
    return check_end();
}
