/*
 * store_log.c - damage to a store's log is told from what a loss of power leaves, and salvage reads what is whole (D4)
 *
 * Argument: the filter of check.h.
 */
#include "store_open.h"

#include <arpa/inet.h>

/** A store that was killed in its first life has all its tasks in the log: damage to it is no emptiness. */
static void test_log_damaged(void) {
    static struct bytes log, file;
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_scheduler scheduler;
    uint64_t records;
    char *original;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_log_behind));
    log = read_bytes(path("store-wal"));
    file = read_bytes(path("store"));
    scheduler = open_store(path("store"));
    records = count_of(scheduler);
    original = dump_tasks(scheduler);
    close_store(scheduler);
    for (size_t at = 0; at < 32; at++) {
        write_bytes(path("store"), file.data, file.size);
        log.data[at] ^= 4;
        write_bytes(path("store-wal"), log.data, log.size);
        log.data[at] ^= 4;
        tree_read(&before);
        check_examined(SELENE_ERROR_STORE_CORRUPT, path("store"));
        CHECK(strstr(selene_error_last()->message.data, "-wal") != NULL);
        CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
        CHECK_TREE(&before);
        CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
        CHECK_INT(records, findings.tasks);
        CHECK_INT(0, findings.damaged);
        scheduler = open_store(path("fresh"));
        CHECK_DUMPS(strdup(original), dump_tasks(scheduler));
        close_store(scheduler);
        CHECK(unlink(path("fresh")) == 0);
        CHECK_TREE(&before);
        tree_free(&before);
    }
    /* What was never a log is none: a header that was torn, and nothing behind it. */
    memset(log.data + 9, 0, log.size - 9);
    write_bytes(path("store-wal"), log.data, log.size);
    CHECK_OK(selene_store_check(path("store"), -1, NULL));
    free(original);
    free(log.data);
    free(file.data);
}

/** Whatever is left of the file itself: the log stays where it is, and all that it holds is saved. */
static void test_log_alone(void) {
    static const size_t sizes[] = {0, 1, 50, 100, 511, 512, 1000, 4095};
    static struct bytes file;
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_scheduler scheduler;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_log_behind));
    file = read_bytes(path("store"));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CHECK(sizes[i] < file.size);
        write_bytes(path("store"), file.data, sizes[i]);
        tree_read(&before);
        CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
        CHECK_INT(TASKS, findings.tasks);
        CHECK_INT(0, findings.damaged);
        scheduler = open_store(path("fresh"));
        CHECK_INT(TASKS, count_of(scheduler));
        close_store(scheduler);
        CHECK(unlink(path("fresh")) == 0);
        CHECK_TREE(&before);
        tree_free(&before);
    }
    free(file.data);
}

/** A frame in the middle of a log was on the disk before those behind it. The end may have been torn. */
static void test_log_damaged_within(void) {
    static struct bytes log, file;
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    uint64_t refused = 0, opened = 0;
    const size_t step = (size_t)check_tasks(1, 3);
    size_t frame;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_log_behind));
    log = read_bytes(path("store-wal"));
    file = read_bytes(path("store"));
    frame = 24 + page_size_of(&file);
    for (size_t at = 32; at + frame <= log.size; at += frame) {
        size_t bit = at + (at / frame * 97) % frame;
        /* The last ones each, since those of the last commit are among them. */
        if (at / frame % step != 0 && at + 12 * frame < log.size) continue;
        write_bytes(path("store"), file.data, file.size);
        log.data[bit] ^= 16;
        write_bytes(path("store-wal"), log.data, log.size);
        log.data[bit] ^= 16;
        tree_read(&before);
        if (selene_store_check(path("store"), -1, NULL) == SELENE_OK) {
            /* From here on nothing but the last commit. */
            opened++;
        } else {
            CHECK_INT(0, opened);
            refused++;
            CHECK(strstr(selene_error_last()->message.data, "-wal") != NULL);
            CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, open_quietly(path("store")));
            CHECK_TREE(&before);
            CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
            CHECK(findings.tasks > TASKS / 2 && findings.damaged > 0);
            CHECK(unlink(path("fresh")) == 0);
        }
        CHECK_TREE(&before);
        tree_free(&before);
    }
    CHECK(refused > 20 / step && opened > 0 && opened < 8);
    free(log.data);
    free(file.data);
}

static uint32_t number_at(const unsigned char *bytes, int is_big) {
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return is_big ? ntohl(number) : number;
}

static void write_number(unsigned char *bytes, uint32_t number) {
    number = htonl(number);
    memcpy(bytes, &number, sizeof number);
}

/* The sums of a log (the file format of SQLite, section 4.2). */
static void add_to_sums(const unsigned char *bytes, size_t size, int is_big, uint32_t sums[2]) {
    for (size_t i = 0; i < size; i += 8) {
        sums[0] += number_at(bytes + i, is_big) + sums[1];
        sums[1] += number_at(bytes + i + 4, is_big) + sums[0];
    }
}

/** A frame with a right sum that is of no page which the store could have. */
static void test_log_of_another_page(void) {
    static const uint32_t pages[] = {UINT32_MAX, INT32_MAX, 1 << 20, 0};
    static struct bytes log, file;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    unsigned char *frame;
    size_t page;
    int is_big;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_log_behind));
    log = read_bytes(path("store-wal"));
    file = read_bytes(path("store"));
    page = page_size_of(&file);
    is_big = log.data[3] & 1;
    CHECK((log.size - 32) % (page + 24) == 0);
    CHECK((log.data = realloc(log.data, log.size + page + 24)) != NULL);
    frame = log.data + log.size;
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        uint32_t sums[2] = {number_at(frame - page - 8, 1), number_at(frame - page - 4, 1)};
        memset(frame, 0, page + 24);
        write_number(frame, pages[i]);
        write_number(frame + 4, 5);
        memcpy(frame + 8, log.data + 16, 8);
        add_to_sums(frame, 8, is_big, sums);
        add_to_sums(frame + 24, page, is_big, sums);
        write_number(frame + 16, sums[0]);
        write_number(frame + 20, sums[1]);
        write_bytes(path("store"), file.data, file.size);
        write_bytes(path("store-wal"), log.data, log.size + page + 24);
        CHECK_OK(selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings));
        CHECK_INT(TASKS, findings.tasks);
        CHECK(unlink(path("fresh")) == 0);
    }
    free(log.data);
    free(file.data);
}

static void leave_relaxed_log(void) {
    selene_options options = store_options(path("store"));
    selene_scheduler scheduler;
    options.flags |= SELENE_OPTIONS_RELAXED;
    scheduler = open_with(options);
    fill(scheduler, TASKS);
    die();
}

/** A RELAXED store may have lost what it wrote in any order, and its begin counts; that is known until it is FULL. */
static void test_log_relaxed(void) {
    static struct bytes log;
    selene_scheduler scheduler;
    size_t at;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_relaxed_log));
    log = read_bytes(path("store-wal"));
    at = log.size / 2;
    log.data[at] ^= 1;
    write_bytes(path("store-wal"), log.data, log.size);
    free(log.data);
    CHECK_OK(selene_store_check(path("store"), -1, NULL));
    scheduler = open_store(path("store"));
    CHECK(count_of(scheduler) > 0);
    close_store(scheduler);
    CHECK_INT(KILLED, in_child(leave_log_behind));
    log = read_bytes(path("store-wal"));
    at = log.size / 2;
    log.data[at] ^= 1;
    write_bytes(path("store-wal"), log.data, log.size);
    free(log.data);
    CHECK_STATUS(SELENE_ERROR_STORE_CORRUPT, selene_store_check(path("store"), -1, NULL));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("D4 a log whose header is damaged is refused, and salvage reads it", test_log_damaged);
    run_test("D4 a log whose file is cut to nothing, or nearly so, is kept and saved",
             test_log_alone);
    run_test("D4 a log that is damaged within is refused, one whose end is torn is not",
             test_log_damaged_within);
    run_test("D4 P6 a log that speaks of a page far beyond the store is not believed",
             test_log_of_another_page);
    run_test("D2 D4 a RELAXED log may have holes", test_log_relaxed);
    tools_end();
    return check_end();
}
