/*
 * lanes_fork.c - a child has nothing of its parent's lanes (C20, P4)
 *
 * Apart from lanes.c, as sanitizers' libraries do not survive a fork that finds other threads at work.
 */
#include "cycles.h"

static selene_cycle begin_lanes(selene_scheduler scheduler, uint32_t lanes) {
    selene_window window = window_of(AMPLE, 0, lanes);
    window.flags = SELENE_WINDOW_LANES;
    return begin(scheduler, window);
}

static atomic_int waits;

/** Waits for a run until there are no more. */
static void *wait_in_lane(void *argument) {
    selene_lane lane = *(selene_lane *)argument;
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    atomic_store(&waits, 1);
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, SELENE_NEVER, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_lane_close(lane));
    return NULL;
}

static void test_fork(void) {
    selene_scheduler scheduler = open_real();
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    selene_lane busy = 0, waiting = 0, spare = 0;
    pthread_t thread;
    int32_t step = -1, fd, status = -1;
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("a"));
    selene_cycle cycle = begin_lanes(scheduler, 3);
    CHECK_OK(selene_lane_open(cycle, &busy));
    CHECK_OK(selene_lane_open(cycle, &waiting));
    CHECK_OK(selene_lane_open(cycle, &spare));
    CHECK_OK(selene_lane_next(busy, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_INT(0, pthread_create(&thread, NULL, wait_in_lane, &waiting));
    wait_for("the lane", &waits, 1);
    check_sleep(20 * MS);
    pid_t child = fork();
    if (child == 0) {
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_lane_next(busy, SELENE_OUTCOME_NEW_DATA,
                                                           SELENE_NEVER, &step, &info, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED,
                     selene_lane_next(spare, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_lane_open(cycle, &spare));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_lane_close(spare));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_cycle_wait(cycle, SELENE_NEVER, &report, NULL));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_cycle_descriptor(cycle, &fd));
        CHECK_STATUS(SELENE_ERROR_FORKED, selene_cycle_drain(cycle, 0));
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
    CHECK_OK(selene_lane_close(spare));
    CHECK_OK(selene_lane_next(busy, SELENE_OUTCOME_NEW_DATA, SELENE_NEVER, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_cycle_wait(cycle, SELENE_NEVER, &report, NULL));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_lane_close(busy));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("C20 in a child all lanes answer FORKED, the parent's go on", test_fork);
    return check_end();
}
