/*
 * store_open.h - what the tests share of stores that are refused: opening must answer so, name the file, and leave
 * everything as it was
 */
#ifndef STORE_OPEN_H
#define STORE_OPEN_H

#include "store_tools.h"

#define TASKS 40

CHECK_UNUSED static selene_status open_quietly(const char *file) {
    selene_options options = store_options(file);
    selene_scheduler scheduler = 77;
    selene_status status = selene_scheduler_open(&options, &scheduler);
    if (status) CHECK_INT(77, scheduler);
    else close_store(scheduler);
    return status;
}

CHECK_UNUSED static const char *name_in(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/** The detail text must name the file, by the name to which links lead. */
CHECK_UNUSED static void check_detail(const char *file) {
    static char whole[PATH_MAX];
    if (realpath(file, whole)) file = whole;
    if (strstr(selene_error_last()->message.data, name_in(file))) return;
    fprintf(stderr, "the detail text does not name %s: \"%s\"\n", name_in(file),
            selene_error_last()->message.data);
    check_fail();
}

/** Opening must answer so, name the file, and leave everything as it was. */
CHECK_UNUSED static void check_refused(selene_status expected, const char *file) {
    static struct tree before;
    tree_read(&before);
    CHECK_STATUS(expected, open_quietly(file));
    check_detail(file);
    CHECK_TREE(&before);
    tree_free(&before);
}

/** Opening must answer one of two, name the file, and leave everything as it was. */
CHECK_UNUSED static selene_status check_refused_as(selene_status one, selene_status other,
                                                   const char *file) {
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

CHECK_UNUSED static size_t page_size_of(const struct bytes *bytes) {
    size_t size = (size_t)bytes->data[16] << 8 | bytes->data[17];
    return size == 1 ? 65536 : size;
}

CHECK_UNUSED static mode_t mode_of(const char *file) {
    struct stat found;
    CHECK(stat(file, &found) == 0);
    return found.st_mode & 07777;
}

CHECK_UNUSED static const char *shared_path;

/** Whether something was at once. A machine that stands still for a moment gets some more tries: what waits by rule
 *  waits in each of them. */
CHECK_UNUSED static int was_at_once(int64_t begin, int64_t most, int *tries) {
    if (check_now() - begin < most) return 1;
    CHECK(++*tries < 10);
    return 0;
}

static void told_locked_by_open(void) {
    selene_options options = store_options(shared_path);
    selene_scheduler scheduler = 0;
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_scheduler_open(&options, &scheduler));
    check_detail(shared_path);
}

static void told_locked_by_others(void) {
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_store_check(shared_path, -1, NULL));
    check_detail(shared_path);
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED,
                 selene_store_salvage(shared_path, -1, path("fresh"), -1, NULL));
    CHECK(!exists(path("fresh")));
}

CHECK_UNUSED static void told_at_once(void) {
    int tries = 0;
    int64_t begin;
    do {
        begin = check_now();
        told_locked_by_open();
    } while (!was_at_once(begin, 500 * MS, &tries));
    do {
        begin = check_now();
        told_locked_by_others();
    } while (!was_at_once(begin, S, &tries));
}

CHECK_UNUSED static void leave_log_behind(void) {
    selene_scheduler scheduler = open_store(path("store"));
    fill(scheduler, TASKS);
    die();
}

/** Checking must answer so, name the file, and leave everything as it was. */
CHECK_UNUSED static void check_examined(selene_status expected, const char *file) {
    static struct tree before;
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    tree_read(&before);
    CHECK_STATUS(expected, selene_store_check(file, -1, &findings));
    check_detail(file);
    CHECK_TREE(&before);
    tree_free(&before);
}

#endif /* STORE_OPEN_H */
