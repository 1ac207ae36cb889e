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
    atomic_int calls, stops, reason, may_return;
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
