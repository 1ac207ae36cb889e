/*
 * server_host.h - a handler that waits until it may return, and a process that kills an owner, for tests of serving
 */
#ifndef SERVER_HOST_H
#define SERVER_HOST_H

#include "check.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/** What a handler did, and may do. */
struct work {
    atomic_int calls, stops, reason, may_return, destroyed;
    int waits;
};

CHECK_UNUSED static void handle(selene_run run, const selene_run_info *info, void *context) {
    struct work *work = context;
    int64_t until = check_now() + PATIENCE;
    (void)info;
    atomic_fetch_add(&work->calls, 1);
    while (work->waits && !atomic_load(&work->may_return) && check_now() < until)
        check_sleep(SELENE_MILLISECOND);
    (void)selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

CHECK_UNUSED static void stop(selene_run run, int32_t reason, void *context) {
    struct work *work = context;
    (void)run;
    atomic_store(&work->reason, reason);
    atomic_fetch_add(&work->stops, 1);
    atomic_store(&work->may_return, 1);
}

CHECK_UNUSED static void end_work(void *context) {
    atomic_fetch_add(&((struct work *)context)->destroyed, 1);
}

CHECK_UNUSED static void offer_work(selene_scheduler scheduler, const char *handler,
                                    struct work *work) {
    CHECK_OK(selene_handler_register(scheduler, handler, -1, handle, stop, work, end_work));
}

/** Waits until no thread uses the work: a close may leave one in the handler, or in its stop function. */
CHECK_UNUSED static void let_go(struct work *work) {
    atomic_store(&work->may_return, 1);
    WAIT_UNTIL(atomic_load(&work->destroyed) == 1);
}

CHECK_UNUSED static void end_working(selene_scheduler scheduler, int64_t grace, struct work *work) {
    CHECK_OK(selene_scheduler_close(scheduler, grace));
    let_go(work);
}

/** Begins a process that kills an owner that stands still, once the next call has been sent to it, also where all is slow. */
CHECK_UNUSED static pid_t kill_soon(pid_t owner) {
    pid_t killer = fork();
    CHECK(killer >= 0);
    if (killer == 0) {
        check_sleep(20 * SELENE_MILLISECOND + check_slack() / 10);
        kill(owner, SIGKILL);
        _exit(0);
    }
    return killer;
}

#endif
