/*
 * store_sizes.c - files that say that they are enormous: nothing is allocated or read for what was never written (P6)
 *
 * Argument: the filter of check.h.
 */
#include "store_open.h"

#define TERABYTE (INT64_C(1) << 40)

static uint64_t records;

static void make_long(const char *file) {
    CHECK(truncate(file, TERABYTE) == 0);
}

/** Writes some bytes at a place in a file. */
static void write_at(const char *file, int64_t offset, const char *text) {
    int descriptor = open(file, O_WRONLY | O_CREAT, 0600);
    CHECK(descriptor >= 0);
    CHECK(pwrite(descriptor, text, strlen(text), offset) == (ssize_t)strlen(text));
    close(descriptor);
}

/** A log that a killed host left: the file has nothing of what is in it. */
static void new_log(void) {
    new_folder();
    CHECK_INT(KILLED, in_child(leave_log_behind));
    CHECK(exists(path("store-wal")));
}

static uint64_t salvaged(void) {
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    unlink(path("fresh"));
    CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
    CHECK_OK(open_quietly(path("fresh")));
    return findings.tasks;
}

static void test_long_file(void) {
    new_folder();
    records = make_store(path("store"), TASKS);
    make_long(path("store"));
    CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
    CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, selene_store_check(path("store"), -1, NULL));
    CHECK_INT(records, salvaged());
}

static void test_far_page(void) {
    new_folder();
    make_store(path("store"), TASKS);
    make_long(path("store"));
    write_at(path("store"), TERABYTE - 10, "the end");
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED,
                 selene_store_salvage(path("store"), -1, path("fresh"), -1, NULL));
    check_detail(path("store"));
    CHECK(!exists(path("fresh")));
}

static void test_foreign_file(void) {
    new_folder();
    write_at(path("store"), 0, "this is another file");
    make_long(path("store"));
    CHECK_STATUS(SELENE_ERROR_STORE_FOREIGN, open_quietly(path("store")));
    CHECK_STATUS(SELENE_ERROR_STORE_FOREIGN,
                 selene_store_salvage(path("store"), -1, path("fresh"), -1, NULL));
    CHECK(unlink(path("store")) == 0);
    write_at(path("store"), 0, "");
    make_long(path("store"));
    CHECK_STATUS(SELENE_ERROR_STORE_FOREIGN, open_quietly(path("store")));
    CHECK_STATUS(SELENE_ERROR_STORE_FOREIGN,
                 selene_store_salvage(path("store"), -1, path("fresh"), -1, NULL));
}

static void test_long_log(void) {
    selene_scheduler scheduler;
    struct stat found;
    uint64_t count;
    new_log();
    CHECK(stat(path("store-wal"), &found) == 0);
    count = salvaged();
    CHECK(count >= TASKS);
    make_long(path("store-wal"));
    CHECK_INT(count, salvaged());
    CHECK_OK(selene_store_check(path("store"), -1, NULL));
    scheduler = open_store(path("store"));
    CHECK_INT(count, count_of(scheduler));
    close_store(scheduler);
    CHECK(!exists(path("store-wal")));
}

/** Frames that come after a hole belong to the same log or to none. */
static void test_hole_in_log(void) {
    struct stat found;
    new_log();
    CHECK(stat(path("store-wal"), &found) == 0);
    make_long(path("store-wal"));
    write_at(path("store-wal"), TERABYTE / 2, "something");
    write_at(path("store-wal"), TERABYTE - 10, "the end");
    CHECK_OK(selene_store_check(path("store"), -1, NULL));
    CHECK(salvaged() >= TASKS);
    CHECK_OK(open_quietly(path("store")));
}

static void test_log_without_header(void) {
    new_folder();
    records = make_store(path("store"), TASKS);
    write_at(path("store-wal"), 0, "");
    make_long(path("store-wal"));
    CHECK_OK(selene_store_check(path("store"), -1, NULL));
    CHECK_INT(records, salvaged());
    write_at(path("store-wal"), TERABYTE - 10, "the end");
    CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
    CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, selene_store_check(path("store"), -1, NULL));
    CHECK_INT(records, salvaged());
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("P6 of a file that was made a terabyte long salvage saves every task", test_long_file);
    run_test("P6 what is more than the memory is refused before it is read", test_far_page);
    run_test("P6 a foreign file of a terabyte is refused at once", test_foreign_file);
    run_test("P6 a log that was made a terabyte long is read as far as it goes", test_long_log);
    run_test("P6 a hole in a log is not read byte by byte", test_hole_in_log);
    run_test("P6 a log of a terabyte of nothing holds nothing up", test_log_without_header);
    tools_end();
    return check_end();
}
