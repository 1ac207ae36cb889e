/*
 * governor_fork.c - after fork() the parent's driver goes on, and the child may have one of its own
 */
#include "governor.h"

static void test_fork(void) {
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE};
    int status = -1;
    pid_t child;
    CHECK_OK(selene_driver_start(scheduler, NULL));
    check_sleep(20 * MS);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        selene_cycle cycle = 0;
        selene_scheduler own = 0;
        struct work mine = {.behaviour = COMPLETE};
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_driver_stop(scheduler, 0));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_driver_start(scheduler, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_driver_step(scheduler, &cycle, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED,
                     selene_signal_set(scheduler, SELENE_SIGNAL_THERMAL, 1, 0));
        /* One of its own, with its own driver. */
        CHECK_OK(selene_scheduler_open(NULL, &own));
        CHECK_OK(selene_driver_start(own, NULL));
        add_once(own, "mine", PROCESSING, &mine);
        wait_for("the child's handler", &mine.started, 1);
        CHECK_OK(selene_scheduler_close(own, GRACE));
        _exit(0);
    }
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK_INT(0, status);
    /* The parent's goes on. */
    add_once(scheduler, "a", PROCESSING, &work);
    wait_for("the parent's handler", &work.started, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P4 in a child the parent's driver is FORKED, and the parent's goes on", test_fork);
    return check_end();
}
