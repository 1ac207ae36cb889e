/*
 * told.h - tests of threads on a clock that is told: every instant is exact, and nothing waits for a span
 *
 * reach() lets time go on and returns once all threads of the library wait again. A handler that the library has called
 * may still be at its first line: what it does is waited for (wait_for), or finished() waits for all handlers, too.
 */
#ifndef TOLD_H
#define TOLD_H

#include "cycles.h"

#ifndef H
#define H SELENE_HOUR
#endif

/** A scheduler on a clock that is told, which begins at START and asks the system nothing. */
CHECK_UNUSED static selene_scheduler open_told_with(selene_options options) {
    selene_scheduler scheduler = 0;
    options.flags |= SELENE_OPTIONS_SET_CLOCK;
    options.clock_start = START;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

CHECK_UNUSED static selene_scheduler open_told(void) {
    const selene_options options = SELENE_INIT(selene_options);
    return open_told_with(options);
}

CHECK_UNUSED static int64_t present(selene_scheduler scheduler) {
    int64_t now = -1;
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    return now;
}

/** Lets time go on up to an instant; when something is due behind it. */
CHECK_UNUSED static int64_t reach(selene_scheduler scheduler, int64_t at) {
    int64_t next = -1;
    CHECK_OK(selene_clock_advance(scheduler, at, 0, PATIENCE, &next));
    return next;
}

/** All that is due now is done, but for what handlers do. */
CHECK_UNUSED static int64_t still(selene_scheduler scheduler) {
    return reach(scheduler, present(scheduler));
}

/** Lets time go on by a span, and waits for the handlers, too. */
CHECK_UNUSED static int64_t finished_by(selene_scheduler scheduler, int64_t at) {
    int64_t next = -1;
    CHECK_OK(selene_clock_advance(scheduler, at, SELENE_ADVANCE_HANDLERS, PATIENCE, &next));
    return next;
}

CHECK_UNUSED static int64_t finished(selene_scheduler scheduler) {
    return finished_by(scheduler, present(scheduler));
}

/** Lets time go on, second by second, until other threads have made something true: how long they take is not the test's. */
#define REACH_UNTIL(scheduler, condition)                                                          \
    do {                                                                                           \
        const int64_t limit_ = present(scheduler) + H;                                             \
        while (!(condition)) {                                                                     \
            if (present(scheduler) >= limit_) {                                                    \
                fprintf(stderr, "%s:%d: an hour passed without %s\n", __FILE__, __LINE__,          \
                        #condition);                                                               \
                check_fail();                                                                      \
            }                                                                                      \
            finished_by(scheduler, present(scheduler) + S);                                        \
        }                                                                                          \
    } while (0)

/** Runs a window beside handlers that do not return before its deadline: waits until so many have begun in all, lets time
 *  go on to the deadline, and answers the report. */
CHECK_UNUSED static selene_report *
push_to_deadline(selene_scheduler scheduler, selene_window window, struct work *work, int begun) {
    const int64_t deadline = present(scheduler) + window.budget;
    struct runner runner;
    start_runner(&runner, scheduler, window);
    wait_for("the handler", &work->started, begun);
    reach(scheduler, deadline);
    CHECK_INT(0, atomic_load(&runner.returned));
    reach(scheduler, deadline + 1);
    return join_runner(&runner);
}

/* ---- a thread that closes, drains or stops the driver -------------------------------------- */

struct closer {
    selene_scheduler scheduler;
    selene_status (*call)(selene_scheduler scheduler, int64_t grace);
    int64_t grace;
    selene_status status;
    atomic_int begun, done;
    pthread_t thread;
};

CHECK_UNUSED static void *closer_main(void *argument) {
    struct closer *own = argument;
    atomic_store(&own->begun, 1);
    own->status = own->call(own->scheduler, own->grace);
    atomic_store(&own->done, 1);
    return NULL;
}

/** Its grace begins with the call, which the test sees by what is due next. */
CHECK_UNUSED static void start_closer(struct closer *own, selene_scheduler scheduler,
                                      selene_status (*call)(selene_scheduler, int64_t),
                                      int64_t grace) {
    own->scheduler = scheduler;
    own->call = call;
    own->grace = grace;
    CHECK_INT(0, pthread_create(&own->thread, NULL, closer_main, own));
    wait_for("the closer", &own->begun, 1);
}

CHECK_UNUSED static selene_status join_closer(struct closer *own) {
    CHECK_INT(0, pthread_join(own->thread, NULL));
    return own->status;
}

#endif /* TOLD_H */
