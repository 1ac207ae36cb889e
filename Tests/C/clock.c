/*
 * clock.c - a clock that jumps is told of: once when it does, once when it is right again, and by explain (C19, P2)
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <sys/syscall.h>

/* ---- the system's clock ------------------------------------------------------ */

/** What somebody has set the wall clock forward by. */
static _Atomic int64_t set_by;

int clock_gettime(clockid_t clock, struct timespec *now) {
    int64_t moved;
    if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
    if (clock != CLOCK_REALTIME) return 0;
    moved = (int64_t)now->tv_sec * S + now->tv_nsec + atomic_load(&set_by);
    now->tv_sec = (time_t)(moved / S);
    now->tv_nsec = (long)(moved % S);
    return 0;
}

/* ---- what is told ------------------------------------------------------------- */

static int jumps(void) {
    return count_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_CLOCK);
}

static const struct noted *last_jump(void) {
    for (int i = atomic_load(&noted_count); i-- > 0;)
        if (noted[i].event.type == SELENE_EVENT_TROUBLE) return &noted[i];
    CHECK(jumps() > 0);
    return NULL;
}

static uint32_t troubles(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info.troubles;
}

static void add_delayed(selene_scheduler scheduler, const char *id, int64_t delay) {
    selene_task task = once_of(id);
    task.initial_delay = delay;
    CHECK_OK(selene_handler_register(scheduler, id, -1, NULL, NULL, NULL, NULL));
    add(scheduler, task);
}

/** The system's clock is set while tasks wait; then it is set right. */
static void jump(int64_t by, const char *words) {
    selene_scheduler scheduler = open_real();
    int64_t before, after;
    observe(scheduler);
    add_delayed(scheduler, "later", SELENE_HOUR);
    add_delayed(scheduler, "now", 0);
    CHECK_INT(0, troubles(scheduler));
    CHECK_OK(selene_scheduler_now(scheduler, &before));
    atomic_store(&set_by, by);
    WAIT_UNTIL(troubles(scheduler) == SELENE_TROUBLE_CLOCK);
    CHECK_OK(selene_scheduler_now(scheduler, &after));
    CHECK_BETWEEN(before, after, before + PATIENCE);
    wait_for_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_CLOCK, 1);
    CHECK_INT(SELENE_ERROR_TOO_SOON, last_jump()->event.status);
    CHECK(strstr(last_jump()->message, words) != NULL);
    CHECK_INT(SELENE_REASON_CLOCK, why(scheduler, "later", SELENE_REASON_CLOCK).reason);
    CHECK_INT(0, why(scheduler, "now", SELENE_REASON_CLOCK).reason);
    check_sleep(1100 * MS);
    CHECK_INT(SELENE_TROUBLE_CLOCK, troubles(scheduler));
    CHECK_INT(1, jumps());
    /* What ntpd does is no jump. */
    atomic_store(&set_by, by < 0 ? -30 * S : 30 * S);
    WAIT_UNTIL(troubles(scheduler) == 0);
    wait_for_events(0, SELENE_EVENT_TROUBLE, SELENE_TROUBLE_CLOCK, 2);
    CHECK_INT(SELENE_OK, last_jump()->event.status);
    CHECK_INT(0, why(scheduler, "later", SELENE_REASON_CLOCK).reason);
    CHECK_INT(2, jumps());
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static void test_back(void) {
    jump(-3 * SELENE_HOUR, "behind scheduler time");
}
static void test_forward(void) {
    jump(3 * SELENE_HOUR, "ahead of scheduler time");
}

/* A host's clock that goes back lets time stand still; forward it goes as the host likes. */
static void test_host(void) {
    selene_scheduler scheduler = open_plain();
    int64_t now;
    observe(scheduler);
    add_delayed(scheduler, "later", SELENE_HOUR);
    advance(10 * MIN);
    CHECK_INT(0, troubles(scheduler));
    advance(-MIN);
    CHECK_INT(0, troubles(scheduler));
    advance(-1);
    CHECK_INT(SELENE_TROUBLE_CLOCK, troubles(scheduler));
    CHECK_INT(1, jumps());
    CHECK_INT(SELENE_ERROR_TOO_SOON, last_jump()->event.status);
    CHECK_INT(SELENE_REASON_CLOCK, why(scheduler, "later", SELENE_REASON_CLOCK).reason);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_INT(START + 10 * MIN, now);
    advance(1);
    CHECK_INT(0, troubles(scheduler));
    CHECK_INT(2, jumps());
    CHECK_INT(SELENE_OK, last_jump()->event.status);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("C19 a clock of the system that is set back is told of, once, and when it is right",
             test_back);
    run_test("C19 a clock of the system that is set forward is told of, too", test_forward);
    run_test("C19 a host's clock that goes back is told of until it has caught up", test_host);
    return check_end();
}
