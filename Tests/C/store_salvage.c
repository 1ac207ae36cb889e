/*
 * store_salvage.c - check says what open would say, backup copies a store in use, salvage saves what can be read (D1,
 * D4)
 *
 * Argument: the filter of check.h.
 */
#include "store_open.h"

#include <sqlite3.h>

/** The version of the schema that this library writes. */
#define SCHEMA 10

/* ============================================================================
 *  CHECK
 * ========================================================================= */

static void test_check_whole(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_store_findings small = SELENE_INIT(selene_store_findings);
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

/** A store whose process was killed: what its log holds counts, and stays where it is. */
static void test_check_with_log(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
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
    selene_run_info run = SELENE_INIT(selene_run_info);
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
    selene_free(info);
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
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
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
            selene_free(info);
        }
        selene_free(ids);
    }
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_task_get(scheduler, "afterwards", -1, 0, &info));
    CHECK(info->sequence > sequence);
    selene_free(info);
    close_store(scheduler);
    CHECK(unlink(path("fresh")) == 0);
    CHECK_TREE(&before);
}

static void test_salvage_with_log(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
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

/** SQLite keeps the log beside the file to which a link leads. */
static void test_link(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_scheduler scheduler;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_log_behind));
    CHECK(mkdir(path("links"), 0700) == 0);
    CHECK(symlink("../store", path("links/link")) == 0);
    tree_read(&before);
    CHECK_OK(selene_store_check(path("links/link"), -1, &findings));
    CHECK_INT(TASKS, findings.tasks);
    CHECK_OK(selene_store_salvage(path("links/link"), -1, path("fresh"), -1, &findings));
    CHECK_INT(TASKS, findings.tasks);
    CHECK(unlink(path("fresh")) == 0);
    CHECK_TREE(&before);
    tree_free(&before);
    scheduler = open_store(path("links/link"));
    CHECK_INT(TASKS, count_of(scheduler));
    register_some(scheduler, TASKS, 3);
    close_store(scheduler);
    CHECK(!exists(path("store-wal")) && !exists(path("links/link-wal")));
    scheduler = open_store(path("store"));
    CHECK_INT(TASKS + 3, count_of(scheduler));
    close_store(scheduler);
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
        selene_store_findings findings = SELENE_INIT(selene_store_findings);
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

/** Salvages the bytes as a store; all records of the original are there, and so many rows were damaged. */
static selene_scheduler saved(const struct bytes *bytes, uint64_t damaged) {
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_scheduler scheduler;
    write_bytes(path("store"), bytes->data, bytes->size);
    unlink(path("fresh"));
    CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
    CHECK_INT(damaged, findings.damaged);
    scheduler = open_store(path("fresh"));
    CHECK_INT(findings.tasks, count_of(scheduler));
    return scheduler;
}

/** The rows say whose they are, whatever the header says. */
static void test_salvage_header(void) {
    static const size_t fields[][2] = {{0, 16}, {16, 2}, {18, 2}, {20, 1}, {21, 3}, {28, 4},
                                       {32, 8}, {40, 8}, {56, 4}, {60, 4}, {68, 4}, {0, 100}};
    static struct bytes bytes;
    char *original;
    selene_scheduler scheduler;
    new_folder();
    make_store(path("store"), TASKS);
    scheduler = open_store(path("store"));
    original = dump_tasks(scheduler);
    close_store(scheduler);
    bytes = read_bytes(path("store"));
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        unsigned char kept[100];
        memcpy(kept, bytes.data, sizeof kept);
        for (size_t k = 0; k < fields[i][1]; k++)
            bytes.data[fields[i][0] + k] ^= 0x55;
        scheduler = saved(&bytes, 0);
        CHECK_DUMPS(strdup(original), dump_tasks(scheduler));
        close_store(scheduler);
        memcpy(bytes.data, kept, sizeof kept);
    }
    free(original);
    free(bytes.data);
}

/** What was deleted stays deleted, also where the list of free pages is lost. */
static void test_salvage_free_pages(void) {
    static struct bytes bytes;
    selene_scheduler scheduler;
    char *original;
    uint64_t pruned = 0;
    new_folder();
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    register_some(scheduler, 0, TASKS);
    for (int i = TASKS / 4; i < TASKS; i++)
        CHECK_OK(selene_task_cancel(scheduler, some_task(i).id.data, -1, NULL));
    clock_now += 400 * SELENE_DAY;
    CHECK_OK(selene_scheduler_prune(scheduler, &pruned));
    CHECK(pruned > TASKS / 2);
    /* One of them comes again, on other pages than before. */
    register_some(scheduler, TASKS / 4, 1);
    close_store(scheduler);
    bytes = read_bytes(path("store"));
    CHECK(bytes.data[35] != 0);
    scheduler = open_store(path("store"));
    original = dump_tasks(scheduler);
    close_store(scheduler);
    memset(bytes.data + 32, 0, 4);
    scheduler = saved(&bytes, 0);
    CHECK_DUMPS(original, dump_tasks(scheduler));
    close_store(scheduler);
    free(bytes.data);
}

/** Rows that are no tasks are counted, and nothing else: neither those of other tables nor stale ones. */
static void test_salvage_counts(void) {
    static struct bytes bytes;
    selene_scheduler scheduler;
    uint64_t records;
    size_t page, leaf = 0, cell;
    new_folder();
    records = make_store(path("store"), TASKS * 3);
    bytes = read_bytes(path("store"));
    page = page_size_of(&bytes);
    /* The last leaf has rows of tasks: its second cell says an impossible size, its third another value. */
    for (size_t at = page; at < bytes.size; at += page)
        if (bytes.data[at] == 0x0D && bytes.data[at + 4] > 6) leaf = at;
    CHECK(leaf > 0);
    cell = leaf + ((size_t)bytes.data[leaf + 12] << 8 | bytes.data[leaf + 13]);
    bytes.data[cell + 40] ^= 1;
    scheduler = saved(&bytes, 1);
    CHECK_INT(records - 1, count_of(scheduler));
    close_store(scheduler);
    /* And the tree breaks off at its root, so that pages are searched. */
    for (size_t at = page; at < bytes.size; at += page)
        if (bytes.data[at] == 0x05) memset(bytes.data + at, 0xA5, page);
    scheduler = saved(&bytes, 1);
    CHECK_INT(records - 1, count_of(scheduler));
    close_store(scheduler);
    free(bytes.data);
}

/** Makes of a closed store one as version 1 of the schema had it. */
static void make_older(const char *sql) {
    sqlite3 *database = NULL;
    CHECK_INT(SQLITE_OK, sqlite3_open(path("store"), &database));
    CHECK_INT(SQLITE_OK,
              sqlite3_exec(database,
                           "ALTER TABLE scheduler DROP COLUMN owner;"
                           "ALTER TABLE scheduler DROP COLUMN relaxed;"
                           "DROP TABLE handler;"
                           "DROP TABLE task_group;"
                           "ALTER TABLE governor DROP COLUMN expedited;"
                           "DROP TABLE condition;"
                           "DROP TABLE pause; DROP TABLE member_run; DROP TABLE wait_log;"
                           "PRAGMA user_version = 1",
                           NULL, NULL, NULL));
    CHECK_INT(SQLITE_OK, sqlite3_exec(database, sql, NULL, NULL, NULL));
    CHECK_INT(SQLITE_OK, sqlite3_close(database));
}

static void test_older(void) {
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_scheduler scheduler;
    selene_store_info *info = NULL;
    uint64_t records;
    char *original;
    new_folder();
    records = make_store(path("store"), TASKS);
    scheduler = open_store(path("store"));
    original = dump_tasks(scheduler);
    close_store(scheduler);
    make_older("");
    tree_read(&before);
    CHECK_OK(selene_store_check(path("store"), -1, &findings));
    CHECK_INT(1, findings.schema_version);
    CHECK_INT(records, findings.tasks);
    CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
    CHECK_INT(records, findings.tasks);
    CHECK_INT(0, findings.damaged);
    CHECK(unlink(path("fresh")) == 0);
    CHECK_TREE(&before);
    tree_free(&before);
    scheduler = open_store(path("store"));
    CHECK_DUMPS(original, dump_tasks(scheduler));
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK_INT(SCHEMA, info->schema_version);
    selene_free(info);
    CHECK_INT(2, commits_of(scheduler) + 1);
    close_store(scheduler);
    CHECK_OK(selene_store_check(path("store"), -1, &findings));
    CHECK_INT(SCHEMA, findings.schema_version);

    /* What is refused stays an older one. */
    make_older("UPDATE task SET attempts = attempts + 1 WHERE sequence = 1");
    tree_read(&before);
    CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
    CHECK_TREE(&before);
    tree_free(&before);
}

static void run_on(const char *file, const char *sql) {
    sqlite3 *database = NULL;
    CHECK_INT(SQLITE_OK, sqlite3_open(file, &database));
    CHECK_INT(SQLITE_OK, sqlite3_exec(database, sql, NULL, NULL, NULL));
    CHECK_INT(SQLITE_OK, sqlite3_close(database));
}

static uint32_t limit_of(selene_scheduler scheduler, const char *name) {
    selene_group_info info = SELENE_INIT(selene_group_info);
    selene_status status = selene_group_get(scheduler, name, -1, &info);
    return status == SELENE_OK ? info.limit : 0;
}

/** What is set of groups is checked and salvaged row by row, and comes into a store of version 4. */
static void test_groups(void) {
    static const char *const damages[] = {
        "UPDATE task_group SET most = 3 WHERE name = 'second'",
        "UPDATE task_group SET paused = 2 WHERE name = 'second'",
        "UPDATE task_group SET name = 'other' WHERE name = 'second'",
        "UPDATE task_group SET checksum = checksum + 1 WHERE name = 'second'",
        "UPDATE task_group SET place = 9 WHERE name = 'second'",
        "UPDATE task_group SET most = -1 WHERE name = 'second'"};
    selene_scheduler scheduler;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_store_info *info = NULL;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        new_folder();
        make_store(path("store"), 10);
        scheduler = open_store(path("store"));
        CHECK_OK(selene_group_set_limit(scheduler, "first", -1, 1));
        CHECK_OK(selene_group_set_limit(scheduler, "second", -1, 2));
        CHECK_OK(selene_group_set_limit(scheduler, "third", -1, 4000000000U));
        CHECK_OK(selene_group_pause(scheduler, "third", -1));
        close_store(scheduler);
        CHECK_OK(selene_store_check(path("store"), -1, NULL));
        CHECK_OK(selene_store_salvage(path("store"), -1, path("whole"), -1, &findings));
        scheduler = open_store(path("whole"));
        CHECK_INT(1, limit_of(scheduler, "first"));
        CHECK_INT(2, limit_of(scheduler, "second"));
        CHECK_INT(4000000000U, limit_of(scheduler, "third"));
        close_store(scheduler);
        run_on(path("store"), damages[i]);
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, selene_store_check(path("store"), -1, NULL));
        check_detail("of the groups is damaged");
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
        CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
        scheduler = open_store(path("fresh"));
        CHECK_INT(1, limit_of(scheduler, "first"));
        CHECK_INT(0, limit_of(scheduler, "second"));
        CHECK_INT(4000000000U, limit_of(scheduler, "third"));
        close_store(scheduler);
    }
    run_on(
        path("fresh"),
        "DROP TABLE pause; DROP TABLE member_run; DROP TABLE wait_log; DROP TABLE condition; DROP "
        "TABLE task_group; ALTER "
        "TABLE governor DROP COLUMN expedited; "
        "PRAGMA user_version = 4");
    CHECK_OK(selene_store_check(path("fresh"), -1, &findings));
    CHECK_INT(4, findings.schema_version);
    scheduler = open_store(path("fresh"));
    CHECK_INT(0, limit_of(scheduler, "first"));
    CHECK_OK(selene_group_set_limit(scheduler, "first", -1, 8));
    CHECK_OK(selene_store_get(scheduler, &info));
    CHECK_INT(SCHEMA, info->schema_version);
    selene_free(info);
    close_store(scheduler);
    scheduler = open_store(path("fresh"));
    CHECK_INT(8, limit_of(scheduler, "first"));
    close_store(scheduler);
}

/** The conditions that are defined, with a blank behind each, in the order of their bytes. */
static const char *defined_in(selene_scheduler scheduler) {
    static char text[128];
    selene_task_ids *names = NULL;
    text[0] = 0;
    CHECK_OK(selene_condition_list(scheduler, &names));
    for (uint64_t i = 0; i < names->count; i++) {
        int32_t state = 0;
        CHECK_OK(selene_condition_get(scheduler, names->ids[i].data, -1, &state));
        if (state == SELENE_CONDITION_UNDEFINED) continue;
        strncat(text, names->ids[i].data, 16);
        strcat(text, " ");
    }
    selene_free(names);
    return text;
}

/** The conditions of hosts likewise, which come into a store of version 6. */
static void test_conditions(void) {
    static const char *const damages[] = {
        "UPDATE condition SET name = 'other' WHERE name = 'second'",
        "UPDATE condition SET checksum = checksum + 1 WHERE name = 'second'",
        "UPDATE condition SET place = 9 WHERE name = 'second'"};
    selene_scheduler scheduler;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_task task = SELENE_INIT(selene_task);
    selene_text asked[2] = {SELENE_TEXT("first"), SELENE_TEXT("nobody's")};
    selene_task_ids *missing = NULL;
    task.id = SELENE_TEXT("asks");
    task.conditions = asked;
    task.condition_count = 2;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        new_folder();
        make_store(path("store"), 10);
        scheduler = open_store(path("store"));
        CHECK_OK(selene_condition_define(scheduler, "first", -1));
        CHECK_OK(selene_condition_define(scheduler, "second", -1));
        CHECK_OK(selene_condition_define(scheduler, "third", -1));
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        close_store(scheduler);
        CHECK_OK(selene_store_check(path("store"), -1, NULL));
        CHECK_OK(selene_store_salvage(path("store"), -1, path("whole"), -1, &findings));
        scheduler = open_store(path("whole"));
        CHECK_STRING("first second third ", defined_in(scheduler));
        CHECK_OK(selene_condition_set(scheduler, "first", -1, 1));
        CHECK_OK(selene_condition_missing(scheduler, "asks", -1, &missing));
        CHECK_INT(1, missing->count);
        CHECK_TEXT("nobody's", missing->ids[0]);
        selene_free(missing);
        close_store(scheduler);
        run_on(path("store"), damages[i]);
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, selene_store_check(path("store"), -1, NULL));
        check_detail("of the conditions is damaged");
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
        CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
        scheduler = open_store(path("fresh"));
        CHECK_STRING("first third ", defined_in(scheduler));
        CHECK_OK(selene_task_cancel(scheduler, "asks", -1, NULL));
        CHECK_OK(selene_scheduler_prune(scheduler, NULL));
        close_store(scheduler);
    }
    run_on(path("fresh"),
           "DROP TABLE pause; DROP TABLE member_run; DROP TABLE wait_log; DROP TABLE condition; "
           "PRAGMA user_version = 6");
    CHECK_OK(selene_store_check(path("fresh"), -1, &findings));
    CHECK_INT(6, findings.schema_version);
    scheduler = open_store(path("fresh"));
    CHECK_STRING("", defined_in(scheduler));
    CHECK_OK(selene_condition_define(scheduler, "first", -1));
    close_store(scheduler);
    CHECK_OK(selene_store_check(path("fresh"), -1, &findings));
    CHECK_INT(SCHEMA, findings.schema_version);
    scheduler = open_store(path("fresh"));
    CHECK_STRING("first ", defined_in(scheduler));
    close_store(scheduler);
}

/** What is paused likewise, which comes into a store of version 9. */
static void test_pauses(void) {
    static const char *const damages[] = {
        "UPDATE pause SET pool = 'other' WHERE pool = 'second'",
        "UPDATE pause SET refresh = refresh + 1 WHERE pool = 'second'",
        "UPDATE pause SET processing = 7 WHERE pool = 'second'",
        "UPDATE pause SET checksum = checksum + 1 WHERE pool = 'second'",
        "UPDATE pause SET place = 9 WHERE pool = 'second'"};
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_pauses *pauses = NULL;
    selene_scheduler scheduler;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        new_folder();
        make_store(path("store"), 10);
        scheduler = open_store(path("store"));
        CHECK_OK(selene_scheduler_pause(scheduler, SELENE_KIND_REFRESH, NULL, 0, SELENE_NEVER));
        CHECK_OK(selene_scheduler_pause(scheduler, 0, "first", -1, SELENE_NEVER));
        CHECK_OK(selene_scheduler_pause(scheduler, SELENE_KIND_REFRESH, "second", -1,
                                        clock_now + SELENE_DAY));
        close_store(scheduler);
        CHECK_OK(selene_store_check(path("store"), -1, NULL));
        CHECK_OK(selene_store_salvage(path("store"), -1, path("whole"), -1, &findings));
        scheduler = open_store(path("whole"));
        CHECK_OK(selene_pause_list(scheduler, &pauses));
        CHECK_INT(3, (int64_t)pauses->count);
        CHECK_TEXT("", pauses->pauses[0].pool);
        CHECK_TEXT("first", pauses->pauses[1].pool);
        CHECK_TEXT("second", pauses->pauses[2].pool);
        selene_free(pauses);
        close_store(scheduler);
        run_on(path("store"), damages[i]);
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, selene_store_check(path("store"), -1, NULL));
        check_detail("of the pauses is damaged");
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
        CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
        scheduler = open_store(path("fresh"));
        CHECK_OK(selene_pause_list(scheduler, &pauses));
        CHECK_INT(2, (int64_t)pauses->count);
        CHECK_TEXT("first", pauses->pauses[1].pool);
        selene_free(pauses);
        close_store(scheduler);
    }
    run_on(path("fresh"), "DROP TABLE pause; PRAGMA user_version = 9");
    CHECK_OK(selene_store_check(path("fresh"), -1, &findings));
    CHECK_INT(9, findings.schema_version);
    scheduler = open_store(path("fresh"));
    CHECK_OK(selene_pause_list(scheduler, &pauses));
    CHECK_INT(0, (int64_t)pauses->count);
    selene_free(pauses);
    CHECK_OK(selene_scheduler_pause(scheduler, SELENE_KIND_REFRESH, NULL, 0, SELENE_NEVER));
    close_store(scheduler);
    CHECK_OK(selene_store_check(path("fresh"), -1, &findings));
    CHECK_INT(SCHEMA, findings.schema_version);
}

/** What is kept of the waits is checked, is not salvaged, and begins anew in a store of an older version. */
static void test_waits(void) {
    static const char *const damages[] = {"UPDATE wait_log SET checksum = checksum + 1",
                                          "UPDATE wait_log SET entries = x'0102030405060708'",
                                          "UPDATE wait_log SET place = place + 100",
                                          "UPDATE wait_log SET entries = substr(entries, 1, 16)"};
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        new_folder();
        make_store(path("store"), 10);
        CHECK_OK(selene_store_check(path("store"), -1, NULL));
        run_on(path("store"), damages[i]);
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, selene_store_check(path("store"), -1, NULL));
        check_detail("of the waits is damaged");
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
        CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
        close_store(open_store(path("fresh")));
    }
}

/** What a salvage that was killed has left does not hinder the next one. */
static void test_salvage_again(void) {
    new_folder();
    make_store(path("store"), 10);
    write_bytes(path("fresh.salvage"), "half", 4);
    write_bytes(path("fresh.new-1-1"), "half", 4);
    CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, NULL));
    CHECK_OK(selene_store_check(path("fresh"), -1, NULL));
}

static void check_not_saved(selene_status expected, const char *damaged, const char *fresh,
                            const char *named) {
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
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
    /* The next open would take what lies beside a new file for its own. */
    write_bytes(path("fresh-wal"), "of another store", 16);
    check_not_saved(SELENE_ERROR_STORE_CANNOT_OPEN, path("store"), path("fresh"), "fresh");
    CHECK(rename(path("fresh-wal"), path("fresh-journal")) == 0);
    check_not_saved(SELENE_ERROR_STORE_CANNOT_OPEN, path("store"), path("fresh"), "fresh");
    check_refused(SELENE_ERROR_STORE_CORRUPT, path("fresh"));
    CHECK(unlink(path("fresh-journal")) == 0);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_store_salvage(NULL, -1, path("fresh"), -1, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_store_salvage(path("store"), -1, "", 0, NULL));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("D4 check counts the tasks of a whole store", test_check_whole);
    run_test("D4 check reads what a killed process left in the log, and leaves it there",
             test_check_with_log);
    run_test("D4 check says what open would say", test_check_refusals);
    run_test("D1 backup copies while the store is in use", test_backup);
    run_test("D1 backup writes over nothing", test_backup_refusals);
    run_test("D4 salvage of a whole store saves all of it", test_salvage_whole);
    run_test("D4 salvage reads the log too", test_salvage_with_log);
    run_test("D4 a link leads to the store and to its log", test_link);
    run_test("D4 salvage saves what is not on the lost page", test_salvage_damaged);
    run_test("D4 salvage goes by the rows, whatever the header says", test_salvage_header);
    run_test("D4 salvage brings nothing back that was deleted", test_salvage_free_pages);
    run_test("D4 salvage counts the rows that are no tasks, and no others", test_salvage_counts);
    run_test("D1 a store of version 1 becomes one of version 2 in its first commit", test_older);
    run_test("D4 W3 rows of groups are checked and salvaged, and come into an older store",
             test_groups);
    run_test("D4 W13 rows of pauses are checked and salvaged, and come into an older store",
             test_pauses);
    run_test("D4 W2 rows of conditions are checked and salvaged, and come into an older store",
             test_conditions);
    run_test("D4 W8 rows of waits are checked, and a salvage begins them anew", test_waits);
    run_test("D4 what a killed salvage left does not hinder the next", test_salvage_again);
    run_test("D4 salvage writes over nothing and says why not", test_salvage_refusals);
    tools_end();
    return check_end();
}
