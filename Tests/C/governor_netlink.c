/*
 * governor_netlink.c - what the kernel announces of routes wakes a driver, in a network of this test's own
 *
 * Needs the right to make a network namespace, and ip(8). Where the right is refused the tests say so and pass; where
 * ip(8) is missing only without CI.
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <sched.h>

/** Two interfaces, each the other end of the other's wire. */
#define PAIR "link add selene0 type veth peer name selene1"

static int run_ip(const char *arguments) {
    char command[256];
    snprintf(command, sizeof command, "ip %s >/dev/null 2>&1", arguments);
    return system(command);
}

/** A network with nothing in it but the loopback interface, for this process and its children; what is wrong, or NULL. */
static const char *own_network(int *is_refused) {
    *is_refused = unshare(CLONE_NEWNET) != 0 && errno == EPERM;
    if (*is_refused) return "this process may not make a network of its own";
    if (run_ip("link set lo up") != 0) return "no network of its own, or no ip(8)";
    *is_refused = run_ip(PAIR) != 0;
    if (*is_refused) return "this kernel makes no pairs of interfaces";
    return run_ip("link del selene0") != 0 ? "ip(8) does not do what it should" : NULL;
}

static void network(int up) {
    if (up) {
        CHECK_INT(0, run_ip(PAIR));
        CHECK_INT(0, run_ip("link set selene1 up"));
        CHECK_INT(0, run_ip("address add 192.0.2.1/24 dev selene0"));
        CHECK_INT(0, run_ip("link set selene0 up"));
        CHECK_INT(0, run_ip("route add default via 192.0.2.2"));
    } else {
        CHECK_INT(0, run_ip("link del selene0"));
    }
}

static void add_needy(selene_scheduler scheduler, const char *id, struct work *work) {
    selene_task task = once_of(id);
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add_handler(scheduler, id, work);
    add(scheduler, task);
}

/** A scheduler to which the system says everything. */
static selene_scheduler open_probing(void) {
    selene_scheduler scheduler = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    return scheduler;
}

/** A route appears; a task that needs it runs at once. */
static void test_constraint(void) {
    struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler;
    scheduler = open_probing();
    CHECK_INT(0, hear(scheduler, SELENE_SIGNAL_NETWORK).value);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    add_needy(scheduler, "a", &work);
    check_sleep(200 * MS);
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_INT(SELENE_REASON_CONSTRAINTS, why(scheduler, "a", SELENE_REASON_CONSTRAINTS).reason);
    network(1);
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/** It goes; a run that needs it is stopped, and a veto stops the other one. */
static void test_lost(void) {
    struct work needy = {.behaviour = UNTIL_STOPPED}, other = {.behaviour = UNTIL_STOPPED};
    selene_scheduler scheduler;
    selene_task task = task_of("other");
    network(1);
    scheduler = open_probing();
    set_stopping(scheduler, SELENE_FACTOR_NETWORK, REFRESH);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    add_needy(scheduler, "needy", &needy);
    task.schedule = SELENE_SCHEDULE_ONCE;
    add_handler(scheduler, "other", &other);
    add(scheduler, task);
    wait_for("the handler", &needy.started, 1);
    wait_for("the handler", &other.started, 1);
    network(0);
    wait_for("the stop", &needy.stopped, 1);
    wait_for("the stop", &other.stopped, 1);
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, atomic_load(&needy.reason));
    CHECK_INT(SELENE_STOP_PREEMPTED, atomic_load(&other.reason));
    CHECK_INT(0, record(scheduler, "needy").attempts);
    /* And when it is back both run again. */
    wait_for("the return", &needy.returned, 1);
    wait_for("the return", &other.returned, 1);
    check_sleep(100 * MS);
    CHECK_INT(1, atomic_load(&needy.started));
    CHECK_INT(1, atomic_load(&other.started));
    network(1);
    wait_for("the handler", &needy.started, 2);
    wait_for("the handler", &other.started, 2);
    CHECK_OK(selene_scheduler_close(scheduler, BRIEF));
    wait_for("the end of a handler", &needy.destroyed, 1);
    wait_for("the end of the other", &other.destroyed, 1);
}

/** A factor that a route lifts. */
static void test_factor(void) {
    struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler;
    scheduler = open_probing();
    set_stopping(scheduler, SELENE_FACTOR_NETWORK, EACH);
    observe(scheduler);
    CHECK_OK(selene_driver_start(scheduler, NULL));
    add_once(scheduler, "a", PROCESSING, &work);
    wait_for_events(0, SELENE_EVENT_REFUSED, -1, 1);
    check_sleep(200 * MS);
    CHECK_INT(0, atomic_load(&work.started));
    /* In a minute anyway. */
    CHECK_INT(MIN, last(scheduler, PROCESSING).decision.ask_again_at -
                       last(scheduler, PROCESSING).decision.at);
    network(1);
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

static int64_t stepping_clock(void *context) {
    (void)context;
    return atomic_fetch_add(&clock_now, S) + S;
}

/** With a host clock no route is read, for constraints as for the governor: what the host does not say counts as there. */
static void test_host_clock(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    selene_task task = once_of("a");
    selene_cycle cycle = 0;
    options.clock = stepping_clock;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    task.constraints = SELENE_CONSTRAINT_NETWORK;
    add(scheduler, task);
    say(scheduler, SELENE_SIGNAL_NETWORK, 0);
    CHECK_INT(SELENE_REASON_CONSTRAINTS, why(scheduler, "a", SELENE_REASON_CONSTRAINTS).reason);
    CHECK_OK(selene_driver_open(scheduler, NULL, NULL));
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK_INT(0, cycle);
    CHECK_OK(selene_signal_clear(scheduler, SELENE_SIGNAL_NETWORK));
    CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
    CHECK(cycle != 0);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Nothing was read of a network before a task asked for one, which it does while a window rolls: no pick goes by that. */
static void test_first(void) {
    selene_window window = window_for(EACH, MIN);
    selene_scheduler scheduler = open_probing();
    selene_task task = once_of("any");
    int64_t at;
    selene_cycle cycle;
    selene_run run;
    window.flags = 0;
    window.lanes = 2;
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    task.handler = SELENE_TEXT("work");
    add(scheduler, task);
    cycle = begin(scheduler, window);
    run = next(cycle, "any");
    task.id = SELENE_TEXT("needy");
    task.constraints = SELENE_CONSTRAINT_UNMETERED;
    add(scheduler, task);
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, &at));
    complete(run);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A storm of messages, of which some are lost, is no harm. */
static void test_storm(void) {
    struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler;
    scheduler = open_probing();
    CHECK_OK(selene_driver_start(scheduler, NULL));
    add_needy(scheduler, "a", &work);
    CHECK_INT(0, run_ip(PAIR));
    /* As much of it as comes in a while, where the machine is slow. */
    CHECK_INT(0, system("{ for i in $(seq 2000); do echo link set selene0 up; "
                        "echo link set selene0 down; done; } | "
                        "timeout 10 ip -batch - >/dev/null 2>&1; ip link del selene0"));
    CHECK_INT(0, atomic_load(&work.started));
    network(1);
    wait_for("the handler", &work.started, 1);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {
        {"G7 a new route satisfies a constraint at once", test_constraint},
        {"G7 a route that goes stops runs at once", test_lost},
        {"G7 a new route lifts a veto at once", test_factor},
        {"C17 with a host clock constraints are as the host says", test_host_clock},
        {"W1 what is first asked for while a window rolls is read first", test_first},
        {"G7 a storm of messages is no harm", test_storm},
    };
    check_begin(argc, argv);
    for (size_t i = 0; i < COUNT(tests); i++) {
        int is_refused = 0;
        const char *why = own_network(&is_refused);
        if (why) skip_test(tests[i].name, is_refused, why);
        else run_test(tests[i].name, tests[i].test);
    }
    return check_end();
}
