/*
 * store_open.c - what a store refuses, and that what it refuses stays as it was (D1, D4)
 *
 * Argument: the filter of check.h. Permissions are tried as nobody when root runs the tests.
 */
#include "store_open.h"

#include <sqlite3.h>

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
        CHECK_TEXT(path(names[i]), info->path);
        selene_free(info);
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

static void nobody_cannot_sync_folder(void) {
    become_nobody();
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, open_quietly(path("blind/store")));
    check_detail("store");
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN, open_quietly(path("blind/new")));
    check_detail("new");
}

/** A folder that can be written and not read cannot be synced: nothing is begun in it. */
static void test_blind_folder(void) {
    static struct bytes before, after;
    new_folder();
    CHECK(mkdir(path("blind"), 0755) == 0);
    make_store(path("blind/store"), 10);
    before = read_bytes(path("blind/store"));
    give_to_nobody(path("blind/store"));
    give_to_nobody(path("blind"));
    CHECK(chmod(path("blind"), 0300) == 0);
    CHECK_INT(0, in_child(nobody_cannot_sync_folder));
    CHECK(chmod(path("blind"), 0755) == 0);
    after = read_bytes(path("blind/store"));
    CHECK(before.size == after.size && memcmp(before.data, after.data, before.size) == 0);
    CHECK(!exists(path("blind/store-wal")) && !exists(path("blind/new")));
    CHECK_OK(open_quietly(path("blind/store")));
}

/** The bytes of an input are stored as they were given. */
static void test_input_bytes(void) {
    static unsigned char input[10240];
    sqlite3 *database = NULL;
    sqlite3_stmt *rows = NULL;
    selene_scheduler scheduler;
    selene_task task = task_of("raw");
    new_folder();
    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (unsigned char)(i * i >> 3);
    task.input = input;
    task.input_length = sizeof input;
    scheduler = open_store(path("store"));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    close_store(scheduler);
    CHECK_INT(SQLITE_OK, sqlite3_open(path("store"), &database));
    CHECK_INT(SQLITE_OK, sqlite3_prepare_v2(database, "SELECT input FROM task WHERE id = 'raw'", -1,
                                            &rows, NULL));
    CHECK_INT(SQLITE_ROW, sqlite3_step(rows));
    CHECK_INT(SQLITE_BLOB, sqlite3_column_type(rows, 0));
    CHECK_INT(sizeof input, sqlite3_column_bytes(rows, 0));
    CHECK(memcmp(input, sqlite3_column_blob(rows, 0), sizeof input) == 0);
    sqlite3_finalize(rows);
    CHECK_INT(SQLITE_OK, sqlite3_close(database));
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
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
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
    int64_t begin;
    int status = 0, tries = 0;
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
    do {
        begin = check_now();
        check_refused_as(SELENE_ERROR_STORE_FOREIGN, SELENE_ERROR_STORE_LOCKED, path("other"));
    } while (!was_at_once(begin, 2 * S, &tries));
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

/** Salvage goes by the rows, whatever the header says: all of them are there. */
static void check_saved(uint64_t records) {
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
    CHECK_INT(records, findings.tasks);
    CHECK_INT(0, findings.damaged);
    CHECK(unlink(path("fresh")) == 0);
}

static void test_newer_schema(void) {
    static struct bytes bytes;
    uint32_t version;
    uint64_t records;
    new_folder();
    records = make_store(path("store"), TASKS);
    bytes = read_bytes(path("store"));
    version = header_word(&bytes, USER_VERSION);
    CHECK(version >= 1);
    write_header_word(path("store"), &bytes, USER_VERSION, version + 1);
    check_refused(SELENE_ERROR_STORE_NEWER, path("store"));
    CHECK_STATUS(SELENE_ERROR_STORE_NEWER, selene_store_check(path("store"), -1, NULL));
    check_detail(path("store"));
    write_header_word(path("store"), &bytes, USER_VERSION, INT32_MAX);
    check_refused(SELENE_ERROR_STORE_NEWER, path("store"));
    check_saved(records);
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
    uint64_t records;
    new_folder();
    records = make_store(path("store"), TASKS);
    bytes = read_bytes(path("store"));
    application = header_word(&bytes, APPLICATION_ID);
    CHECK(application != 0);
    write_header_word(path("store"), &bytes, APPLICATION_ID, application ^ 1);
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("store"));
    CHECK_STATUS(SELENE_ERROR_STORE_FOREIGN, selene_store_check(path("store"), -1, NULL));
    check_saved(records);
    write_header_word(path("store"), &bytes, APPLICATION_ID, 0);
    check_refused(SELENE_ERROR_STORE_FOREIGN, path("store"));
}

/** What was changed with SQL is refused by open and by check alike. */
static void test_changed_by_sql(void) {
    static const char *const changes[] = {
        "ALTER TABLE scheduler RENAME COLUMN life TO lives",
        "ALTER TABLE governor RENAME COLUMN host_presence TO hostpresence",
        "ALTER TABLE governor RENAME COLUMN habits TO habit",
        "UPDATE governor SET background_switch = 0",
        "UPDATE governor SET habits = x'00'",
        "UPDATE scheduler SET life = life + 1",
        "UPDATE task SET attempts = attempts + 1",
        "DELETE FROM scheduler",
        "DROP TABLE governor",
        "DROP TABLE task",
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        selene_scheduler scheduler;
        new_folder();
        scheduler = open_store(path("store"));
        register_some(scheduler, 0, TASKS);
        CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 1, 0));
        close_store(scheduler);
        CHECK_OK(selene_store_check(path("store"), -1, NULL));
        run_sql(path("store"), changes[i]);
        check_refused(SELENE_ERROR_STORE_CORRUPT, path("store"));
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, selene_store_check(path("store"), -1, NULL));
        check_detail(path("store"));
    }
}

/* ---- truncated, overwritten ------------------------------------------------ */

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
    run_test("D4 a folder that cannot be synced is refused, and nothing is begun in it",
             test_blind_folder);
    run_test("D1 the bytes of an input are stored as given", test_input_bytes);
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
    run_test("D4 what was changed with SQL is corrupt, to open and to check", test_changed_by_sql);
    run_test("D4 a truncated store is refused and stays as it is", test_truncated);
    run_test("D4 a store with a page overwritten is refused, or nothing was on it",
             test_page_overwritten);
    tools_end();
    return check_end();
}
