/*
 * ffi_callbacks.c - thousands of callbacks of every type, each a closure of libffi that is freed in its destroy
 * (design, section 8, rule 9)
 *
 * Argument: the filter of check.h.
 */
#include "ffi_tools.h"

static selene_status register_handler(selene_scheduler scheduler, const char *name,
                                      struct owner *owner) {
    return selene_handler_register(scheduler, name, -1, owner->callbacks[RUN].run,
                                   owner->callbacks[STOP].stop, owner->context,
                                   owner->callbacks[DESTROY].destroy);
}

static void register_task(selene_scheduler scheduler, const char *id) {
    selene_task task = SELENE_INIT(selene_task);
    task.id.data = id;
    task.id.length = -1;
    task.schedule = SELENE_SCHEDULE_STANDING;
    task.expected_response = SELENE_MILLISECOND;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

enum {
    AT_ONCE = 40,
    JOINED = 10,
    SCHEDULERS = 8,
};

/** How often a test does it all: where a library for tests looks at everything in each call, a tenth. */
static int rounds(int usual) {
    return check_tasks(usual, usual / 10);
}
#define HANDLER_ROUNDS rounds(250)
#define REPORT_ROUNDS rounds(1000)
#define SCHEDULER_ROUNDS rounds(1250)

static void wait_for_destroyed(long count) {
    int64_t limit = check_now() + PATIENCE;
    pthread_mutex_lock(&lock);
    while (atomic_load(&owners_destroyed) < count) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        pthread_cond_timedwait(&changed, &lock, &until);
        CHECK(check_now() < limit);
    }
    pthread_mutex_unlock(&lock);
}

/** 250 rounds of 40 handlers: some cancel their own task, some unregister themselves, the rest is unregistered. */
static void play_handlers(uint32_t lanes, uint32_t flags) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_INIT(selene_window);
    long runs = 0, stops = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    window.lanes = lanes;
    window.flags = flags;
    for (int round = 0; round < HANDLER_ROUNDS; round++) {
        selene_report *report = NULL;
        for (int k = 0; k < AT_ONCE; k++) {
            char name[32];
            struct owner *owner;
            snprintf(name, sizeof name, "handler %d", k);
            owner = make_handler(scheduler, name,
                                 k % 8 == 0   ? CANCEL_ITSELF
                                 : k % 8 == 1 ? UNREGISTER_ITSELF
                                              : COMPLETE);
            owner->home = pthread_self();
            owner->at_home = (flags & SELENE_WINDOW_INLINE) != 0;
            CHECK_OK(register_handler(scheduler, name, owner));
            register_task(scheduler, name);
        }
        if (round % 2 == 0 || flags) {
            CHECK_OK(selene_cycle_run(scheduler, &window, &report));
            CHECK_INT(AT_ONCE, report->run_count);
            CHECK_INT(AT_ONCE / 8, report->stopped);
            CHECK_INT(AT_ONCE / 8, report->no_data);
            CHECK_INT(AT_ONCE - 2 * (AT_ONCE / 8), report->new_data);
            selene_free(report);
        } else {
            struct owner *receiver = make_owner("receiver", REPORT, -1);
            long before = atomic_load(&called[REPORT]);
            int64_t limit = check_now() + PATIENCE;
            CHECK_OK(selene_cycle_run_async(scheduler, &window, receiver->callbacks[REPORT].report,
                                            receiver->context, receiver->callbacks[DESTROY].destroy,
                                            NULL, NULL));
            while (atomic_load(&called[REPORT]) == before) {
                CHECK(check_now() < limit);
                check_sleep(SELENE_MILLISECOND / 10);
            }
        }
        for (int k = 0; k < AT_ONCE; k++) {
            char name[32];
            snprintf(name, sizeof name, "handler %d", k);
            if (k % 8 == 1) {
                CHECK_STATUS(SELENE_ERROR_NOT_FOUND,
                             selene_handler_unregister(scheduler, name, -1));
            } else {
                CHECK_OK(selene_handler_unregister(scheduler, name, -1));
            }
        }
        /* A name is free again only after its last run, which may still be returning. */
        wait_for_destroyed(atomic_load(&owners_made));
        runs += AT_ONCE;
        stops += AT_ONCE / 8;
        sweep();
    }
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    settle();
    CHECK_INT(HANDLER_ROUNDS * AT_ONCE, atomic_load(&made[RUN]));
    CHECK_INT(HANDLER_ROUNDS * AT_ONCE, atomic_load(&made[STOP]));
    CHECK_INT(runs, atomic_load(&called[RUN]));
    CHECK_INT(stops, atomic_load(&called[STOP]));
}

static void test_handlers_on_library_threads(void) {
    play_handlers(4, 0);
}
static void test_handlers_on_the_main_thread(void) {
    play_handlers(1, SELENE_WINDOW_INLINE);
}

static void test_handlers_of_a_pulled_cycle(void) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_INIT(selene_window);
    selene_run runs[AT_ONCE];
    selene_cycle cycle = 0;
    uint64_t count = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    window.lanes = AT_ONCE;
    for (int round = 0; round < HANDLER_ROUNDS; round++) {
        for (int k = 0; k < AT_ONCE; k++) {
            char name[32];
            struct owner *owner;
            snprintf(name, sizeof name, "handler %d", k);
            owner = make_handler(scheduler, name, COMPLETE);
            owner->home = pthread_self();
            owner->at_home = 1;
            CHECK_OK(register_handler(scheduler, name, owner));
            register_task(scheduler, name);
        }
        CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
        for (int k = 0; k < AT_ONCE; k++) {
            selene_run_info info = SELENE_INIT(selene_run_info);
            int32_t step = -1;
            CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
            CHECK_INT(SELENE_STEP_RUN, step);
            runs[k] = info.run;
        }
        CHECK_OK(selene_task_cancel_all(scheduler, &count));
        CHECK_INT(AT_ONCE, count);
        for (int k = 0; k < AT_ONCE; k++)
            CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                         selene_run_complete(runs[k], SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        for (int k = 0; k < AT_ONCE; k++) {
            char name[32];
            snprintf(name, sizeof name, "handler %d", k);
            CHECK_OK(selene_handler_unregister(scheduler, name, -1));
        }
        CHECK_INT(atomic_load(&owners_made), atomic_load(&owners_destroyed));
        sweep();
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    settle();
    CHECK_INT(0, atomic_load(&called[RUN]));
    CHECK_INT(HANDLER_ROUNDS * AT_ONCE, atomic_load(&called[STOP]));
}

static void test_stops_of_expiry(void) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    for (int k = 0; k < 4; k++) {
        char name[32];
        snprintf(name, sizeof name, "handler %d", k);
        CHECK_OK(register_handler(scheduler, name,
                                  make_handler(scheduler, name, COMPLETE_WHEN_STOPPED)));
        register_task(scheduler, name);
    }
    window.lanes = 4;
    /* Time for all four to begin, and for their stop functions. */
    window.reserve = 30 * SELENE_SECOND;
    window.budget = window.reserve + 3 * SELENE_SECOND;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(4, report->run_count);
    CHECK_INT(4, report->new_data);
    for (int k = 0; k < 4; k++)
        CHECK_INT(SELENE_STOP_EXPIRING, report->runs[k].stop_reason);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    settle();
    CHECK_INT(4, atomic_load(&called[STOP]));
}

static void test_reports(void) {
    selene_scheduler scheduler = 0;
    struct owner *worker;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    worker = make_handler(scheduler, "worker", WAIT_FOR_GATE);
    CHECK_OK(register_handler(scheduler, "worker", worker));
    register_task(scheduler, "worker");
    for (int round = 0; round < REPORT_ROUNDS; round++) {
        long before = atomic_load(&owners_destroyed);
        selene_cycle first = 0;
        int64_t first_deadline = 0;
        for (int k = 0; k < JOINED; k++) {
            struct owner *receiver = make_owner("receiver", REPORT, -1);
            selene_cycle cycle = 0;
            int64_t deadline = 0;
            CHECK_OK(selene_cycle_run_async(scheduler, NULL, receiver->callbacks[REPORT].report,
                                            receiver->context, receiver->callbacks[DESTROY].destroy,
                                            &cycle, &deadline));
            if (k == 0) {
                first = cycle;
                first_deadline = deadline;
                pthread_mutex_lock(&lock);
                while (!gate_waiting)
                    pthread_cond_wait(&changed, &lock);
                pthread_mutex_unlock(&lock);
            }
            CHECK_INT(first, cycle);
            CHECK_INT(first_deadline, deadline);
        }
        pthread_mutex_lock(&lock);
        gate_open = 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        wait_for_destroyed(before + JOINED);
        pthread_mutex_lock(&lock);
        for (struct owner *owner = retired; owner; owner = owner->next) {
            if (owner->last && owner->last != first) continue; /* of an earlier round */
            CHECK_INT(1, atomic_load(&owner->calls[REPORT]));
        }
        gate_open = 0;
        pthread_mutex_unlock(&lock);
        sweep();
    }
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    settle();
    CHECK_INT(REPORT_ROUNDS, atomic_load(&called[RUN]));
    CHECK_INT(REPORT_ROUNDS * JOINED, atomic_load(&called[REPORT]));
    CHECK_INT(REPORT_ROUNDS * JOINED, atomic_load(&made[REPORT]));
}

static void test_observers(void) {
    selene_scheduler schedulers[SCHEDULERS];
    for (int k = 0; k < SCHEDULERS; k++)
        CHECK_OK(selene_scheduler_open(NULL, &schedulers[k]));
    for (int round = 0; round < SCHEDULER_ROUNDS; round++) {
        for (int k = 0; k < SCHEDULERS; k++) {
            struct owner *observer = make_owner("observer", EVENT, -1);
            observer->home = pthread_self();
            observer->at_home = 1;
            CHECK_OK(selene_scheduler_observe(schedulers[k], observer->callbacks[EVENT].event,
                                              observer->context,
                                              observer->callbacks[DESTROY].destroy));
        }
        for (int k = 0; k < SCHEDULERS; k++)
            register_task(schedulers[k], "x");
        sweep();
    }
    for (int k = 0; k < SCHEDULERS; k++) {
        if (k % 2) CHECK_OK(selene_scheduler_observe(schedulers[k], NULL, NULL, NULL));
        CHECK_OK(selene_scheduler_close(schedulers[k], 0));
    }
    settle();
    CHECK_INT(SCHEDULERS * SCHEDULER_ROUNDS, atomic_load(&made[EVENT]));
    CHECK_INT(SCHEDULERS * SCHEDULER_ROUNDS, atomic_load(&called[EVENT]));
}

static void test_clocks(void) {
    atomic_store(&clock_value, SELENE_SECOND);
    for (int round = 0; round < SCHEDULER_ROUNDS; round++) {
        selene_scheduler schedulers[SCHEDULERS];
        for (int k = 0; k < SCHEDULERS; k++) {
            selene_options options = SELENE_INIT(selene_options);
            struct owner *clock = make_owner("clock", CLOCK, -1);
            clock->home = pthread_self();
            clock->at_home = 1;
            options.clock = clock->callbacks[CLOCK].clock;
            options.clock_context = clock->context;
            options.clock_destroy = clock->callbacks[DESTROY].destroy;
            CHECK_OK(selene_scheduler_open(&options, &schedulers[k]));
        }
        for (int k = 0; k < SCHEDULERS; k++) {
            int64_t now = 0;
            atomic_fetch_add(&clock_value, 1);
            CHECK_OK(selene_scheduler_now(schedulers[k], &now));
            CHECK_INT(atomic_load(&clock_value), now);
            CHECK_OK(selene_scheduler_close(schedulers[k], 0));
        }
        sweep();
    }
    settle();
    CHECK_INT(SCHEDULERS * SCHEDULER_ROUNDS, atomic_load(&made[CLOCK]));
    CHECK(atomic_load(&called[CLOCK]) >= SCHEDULERS * SCHEDULER_ROUNDS);
}

static void refuse_handler(selene_status expected, selene_scheduler scheduler, const char *name,
                           int64_t length) {
    struct owner *owner = make_handler(scheduler, name ? name : "", COMPLETE);
    CHECK_STATUS(expected,
                 selene_handler_register(scheduler, name, length, owner->callbacks[RUN].run,
                                         owner->callbacks[STOP].stop, owner->context,
                                         owner->callbacks[DESTROY].destroy));
    CHECK_INT(atomic_load(&owners_made) - 1,
              atomic_load(&owners_destroyed)); /* all but the live one */
}

static void refuse_report(selene_status expected, selene_scheduler scheduler,
                          const selene_window *window) {
    struct owner *owner = make_owner("receiver", REPORT, -1);
    selene_cycle cycle = 77;
    CHECK_STATUS(expected, selene_cycle_run_async(scheduler, window,
                                                  owner->callbacks[REPORT].report, owner->context,
                                                  owner->callbacks[DESTROY].destroy, &cycle, NULL));
    CHECK_INT(77, cycle);
    CHECK_INT(atomic_load(&owners_made) - 1, atomic_load(&owners_destroyed));
}

static void test_refused_calls(void) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_INIT(selene_window), no_lane = SELENE_INIT(selene_window);
    struct owner *live;
    selene_report *report = NULL;
    no_lane.lanes = 1025;
    window.lanes = 4;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    live = make_handler(scheduler, "live", COMPLETE);
    CHECK_OK(register_handler(scheduler, "live", live));
    register_task(scheduler, "live");
    for (int round = 0; round < 200; round++) {
        selene_options options = SELENE_INIT(selene_options);
        selene_scheduler none = 55;
        struct owner *owner;
        refuse_handler(SELENE_ERROR_ALREADY_EXISTS, scheduler, "live", -1);
        refuse_handler(SELENE_ERROR_INVALID_HANDLE, scheduler + 1, "other", -1);
        refuse_handler(SELENE_ERROR_INVALID_HANDLE, 0, "other", -1);
        refuse_handler(SELENE_ERROR_INVALID_ARGUMENT, scheduler, "", -1);
        refuse_handler(SELENE_ERROR_INVALID_ARGUMENT, scheduler, NULL, 5);
        refuse_handler(SELENE_ERROR_INVALID_ARGUMENT, scheduler, "x", -2);
        refuse_handler(SELENE_ERROR_INVALID_ARGUMENT, scheduler, "\xff", 1);
        refuse_report(SELENE_ERROR_INVALID_HANDLE, 0, &window);
        refuse_report(SELENE_ERROR_INVALID_ARGUMENT, scheduler, &no_lane);

        owner = make_owner("observer", EVENT, -1);
        CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE,
                     selene_scheduler_observe(scheduler + 1, owner->callbacks[EVENT].event,
                                              owner->context, owner->callbacks[DESTROY].destroy));
        owner = make_owner("clock", CLOCK, -1);
        options.clock = owner->callbacks[CLOCK].clock;
        options.clock_context = owner->context;
        options.clock_destroy = owner->callbacks[DESTROY].destroy;
        options.minimum_backoff = -2;
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &none));
        CHECK_INT(55, none);
        CHECK_INT(atomic_load(&owners_made) - 1, atomic_load(&owners_destroyed));
        sweep();
    }
    /* The one that was there still works. */
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_INT(1, atomic_load(&called[RUN]));
    CHECK_INT(0, atomic_load(&called[EVENT]) + atomic_load(&called[REPORT]) +
                     atomic_load(&called[CLOCK]));
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    settle();
}

/* A host that cannot make closures at run time: one C function for all, told apart by an integer context. */
static atomic_int plain_calls[9];

static void plain_run(selene_run run, const selene_run_info *info, void *context) {
    (void)info;
    atomic_fetch_add(&plain_calls[(uintptr_t)context], 1);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void plain_destroy(void *context) {
    atomic_fetch_add(&plain_calls[(uintptr_t)context], 100);
}

static void test_plain_functions(void) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_INIT(selene_window);
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    for (int k = 1; k <= 8; k++) {
        char name[32];
        snprintf(name, sizeof name, "handler %d", k);
        CHECK_OK(selene_handler_register(scheduler, name, -1, plain_run, NULL, (void *)(uintptr_t)k,
                                         plain_destroy));
        register_task(scheduler, name);
    }
    window.lanes = 4;
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    CHECK_INT(0, atomic_load(&plain_calls[0]));
    for (int k = 1; k <= 8; k++)
        CHECK_INT(101, atomic_load(&plain_calls[k]));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("8.9 10 000 handlers are closures freed in their destroy, on library threads",
             test_handlers_on_library_threads);
    run_test("8.9 10 000 handlers are closures freed in their destroy, inline on the main thread",
             test_handlers_on_the_main_thread);
    run_test("8.9 10 000 handlers are closures freed in their destroy, pulled and cancelled",
             test_handlers_of_a_pulled_cycle);
    run_test("8.9 stop closures are called at the expiry and may complete their run",
             test_stops_of_expiry);
    run_test("8.9 10 000 receivers of reports are closures, ten joined in each cycle",
             test_reports);
    run_test("8.9 10 000 observers are closures, each ended by the next", test_observers);
    run_test("8.9 10 000 host clocks are closures, eight schedulers at a time", test_clocks);
    run_test("8.6 a refused call destroys its context exactly once and never calls its function",
             test_refused_calls);
    run_test("8.9 a fixed C function and a context are enough", test_plain_functions);
    return check_end();
}
