/*
 * store_room.c - a store on a small file system (V23): it works until the disk is full, opens on a full disk, and goes on once
 * there is space
 *
 * Needs the right to mount; without it the tests are skipped.
 *
 * Argument: the filter of check.h.
 */
#include "store_reopen.h"

#include <sched.h>
#include <sys/mount.h>

/** How many sensors there are, each with a row of some 200 bytes. */
#define SENSORS 40

/** A file system of so many MB in place of the folder of the test, for this process alone. */
static void enter_small_disk(int megabytes) {
    char options[32];
    new_folder();
    snprintf(options, sizeof options, "size=%dm", megabytes);
    CHECK_INT(0, unshare(CLONE_NEWNS));
    CHECK_INT(0, mount("selene", "/", "none", MS_REC | MS_PRIVATE, NULL));
    CHECK_INT(0, mount("selene", tools_folder, "tmpfs", 0, options));
}

static int may_mount(void) {
    pid_t child = fork();
    int status = 0;
    CHECK(child >= 0);
    if (child == 0)
        _exit(unshare(CLONE_NEWNS) != 0 ||
              mount("selene", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0);
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- a full disk ------------------------------------------------------------------------ */

/** Another file takes all the free space; how much that was, in bytes. */
static int64_t fill_disk(void) {
    static const char block[512] = {1};
    int64_t size = 0;
    FILE *file = fopen(path("ballast"), "a");
    CHECK(file != NULL);
    setvbuf(file, NULL, _IONBF, 0);
    while (fwrite(block, 1, sizeof block, file) == sizeof block)
        size += (int64_t)sizeof block;
    CHECK_INT(ENOSPC, errno);
    fclose(file);
    return size;
}

static void clear_disk(void) {
    CHECK_INT(0, unlink(path("ballast")));
}

/* ---- the work -------------------------------------------------------------------------- */

static selene_task sensor_of(int number, char *id) {
    selene_task task = task_of(id);
    sprintf(id, "sensor %d", number);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = 15 * SELENE_MINUTE;
    task.existing = SELENE_EXISTING_UPDATE;
    return task;
}

static int has_refused;

/** Runs all sensors that are due in one window; with `is_full` the store may answer STORE_FULL. Returns the number of runs. */
static uint64_t work(selene_scheduler scheduler, int is_full) {
    selene_window window = window_of(ANY_KIND, SELENE_HOUR);
    selene_cycle cycle = 0;
    uint64_t count = 0;
    selene_status status = selene_cycle_begin(scheduler, &window, &cycle);
    has_refused = status != SELENE_OK;
    if (is_full && status == SELENE_ERROR_STORE_FULL) return 0;
    CHECK_OK(status);
    for (;;) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t step = SELENE_STEP_DONE;
        status = selene_cycle_next(cycle, &step, &info, NULL);
        if (is_full && status == SELENE_ERROR_STORE_FULL) {
            has_refused = 1;
            break;
        }
        CHECK_OK(status);
        if (step != SELENE_STEP_RUN) break;
        clock_now += S;
        CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
        count++;
    }
    status = selene_cycle_end(cycle, NULL);
    CHECK(status == SELENE_OK || (is_full && status == SELENE_ERROR_STORE_FULL));
    clock_now += 15 * SELENE_MINUTE;
    return count;
}

/** Opens the store, also on a full disk. */
static selene_scheduler open_here(void) {
    selene_options options = store_options(path("store"));
    selene_scheduler scheduler = 0;
    selene_status status;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    status = selene_conditions_set(scheduler, BOTH, BOTH);
    CHECK(status == SELENE_OK || status == SELENE_ERROR_STORE_FULL);
    add_handler(scheduler, "work");
    return scheduler;
}

/** Fills and frees the disk, and reopens the store meanwhile; no task is lost. */
static void live(int megabytes) {
    char id[32];
    selene_scheduler scheduler;
    int64_t least = INT64_MAX;
    int worked = 0;
    enter_small_disk(megabytes);
    scheduler = open_here();
    for (int i = 0; i < SENSORS; i++)
        register_task(scheduler, sensor_of(i, id), SELENE_DISPOSITION_ADDED);
    clock_now += 15 * SELENE_MINUTE;
    /* Its own log never fills the disk. */
    for (int round = 0; round < 200; round++)
        CHECK_INT(SENSORS, work(scheduler, 0));
    for (int round = 0; round < 60; round++) {
        selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
        int64_t room = fill_disk();
        if (room < least) least = room;
        /* Checkpoints free the space of the log, which is enough for a while. */
        for (int i = 0; i < round % 7; i++)
            worked += work(scheduler, 1) == SENSORS;
        if (round % 3 == 0) {
            selene_status status = selene_scheduler_close(scheduler, 0);
            CHECK(status == SELENE_OK || status == SELENE_ERROR_STORE_FULL);
            scheduler = open_here();
            CHECK_INT(SENSORS, count_of(scheduler));
            (void)work(scheduler, 1);
        }
        if (has_refused) {
            selene_explanation why = SELENE_INIT(selene_explanation);
            CHECK_OK(selene_task_explain(scheduler, "sensor 3", -1, &why));
            CHECK_INT(SELENE_REASON_STORE_REFUSES, why.reasons[why.reason_count - 1].reason);
        }
        clear_disk();
        CHECK_INT(SENSORS, work(scheduler, 0));
        CHECK_INT(SENSORS, count_of(scheduler));
        CHECK_OK(selene_scheduler_get(scheduler, &info));
        CHECK_INT(0, info.troubles);
    }
    CHECK(worked >= 20);
    CHECK(least > megabytes * (INT64_C(1) << 19));
    close_store(scheduler);
}

static void test_one(void) {
    live(1);
}

static void test_two(void) {
    live(2);
}

static void test_three(void) {
    live(3);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {
        {"V23 on a disk of 1 MB a store works until it is full, and goes on afterwards", test_one},
        {"V23 on a disk of 2 MB", test_two},
        {"V23 on a disk of 3 MB", test_three},
    };
    check_begin(argc, argv);
    int mounts = may_mount();
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (mounts) run_test(tests[i].name, tests[i].test);
        else skip_test(tests[i].name, 1, "mount is not permitted");
    }
    return check_end();
}
