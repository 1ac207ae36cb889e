/*
 * server_host.h - a handler that waits until it may return, and a thread that kills an owner, for tests of serving
 */
#ifndef SERVER_HOST_H
#define SERVER_HOST_H

#include "check.h"

#include <linux/sockios.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
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

/** Until the owner of a connection, which stands still, has been asked something; or until a while has passed. */
CHECK_UNUSED static void await_question(void) {
    const int64_t limit = check_now() + PATIENCE;
    int unread = 0;
    while (unread == 0 && check_now() < limit) {
        for (int descriptor = 3; descriptor < 64 && unread == 0; descriptor++)
            if (ioctl(descriptor, SIOCOUTQ, &unread) != 0) unread = 0;
        check_sleep(SELENE_MILLISECOND);
    }
}

CHECK_UNUSED static void *kill_asked(void *owner) {
    await_question();
    check_sleep(20 * SELENE_MILLISECOND);
    CHECK(kill((pid_t)(intptr_t)owner, SIGKILL) == 0);
    return NULL;
}

/** Begins a thread that kills an owner that stands still, once the next call has been sent to it. */
CHECK_UNUSED static pthread_t kill_soon(pid_t owner) {
    pthread_t killer;
    CHECK(pthread_create(&killer, NULL, kill_asked, (void *)(intptr_t)owner) == 0);
    return killer;
}

CHECK_UNUSED static void await_killer(pthread_t killer, pid_t owner) {
    int status;
    CHECK(pthread_join(killer, NULL) == 0);
    CHECK(waitpid(owner, &status, 0) == owner);
}

#endif
