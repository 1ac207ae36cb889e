/*
 * server_grants.c - drivers of connected processes: the windows that the owner grants, whose they are, and what becomes of
 * them when a process ends (docs/rules.md, L7)
 */
#include "server_host.h"
#include "server_tools.h"

#include <poll.h>

/* ---- words -------------------------------------------------------------------------------- */

static selene_scheduler caller_of(const char *file, const char *pool, const char *handler,
                                  struct work *work) {
    selene_scheduler member = member_of(file, pool);
    offer_work(member, handler, work);
    return member;
}

static void add(selene_scheduler scheduler, const char *id, const char *handler, int32_t priority) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of(handler);
    task.priority = priority;
    task.expected_response = MS;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static void end_when_done(selene_cycle cycle) {
    int32_t step = SELENE_STEP_WAIT;
    selene_run_info run = SELENE_INIT(selene_run_info);
    while (step != SELENE_STEP_DONE) {
        CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
        if (step == SELENE_STEP_RUN)
            CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    }
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

static int is_readable(int fd, int64_t patience) {
    struct pollfd polled = {fd, POLLIN, 0};
    return poll(&polled, 1, (int)(patience / MS)) == 1;
}

/** Steps until there is a window. */
static selene_cycle granted(selene_scheduler member) {
    selene_cycle cycle = 0;
    int64_t until = check_now() + PATIENCE;
    while (cycle == 0 && check_now() < until) {
        int32_t is_ready;
        CHECK_OK(selene_driver_wait(member, PATIENCE, &is_ready));
        CHECK_OK(selene_driver_step(member, &cycle, NULL));
    }
    CHECK(cycle != 0);
    return cycle;
}

/** Steps until a driver has nothing to do. */
static void settle(selene_scheduler member) {
    selene_cycle cycle = 0;
    CHECK_OK(selene_driver_step(member, &cycle, NULL));
    CHECK(cycle == 0);
}

/* ---- a driver --------------------------------------------------------------------------------- */

/** What is registered while it sleeps is run, by threads of its own process; also when the owner has no driver. */
static void test_thread(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {0};
    selene_scheduler member = caller_of(file, "a", "h", &work);
    selene_driver terms = SELENE_INIT(selene_driver);
    CHECK_OK(selene_driver_start(member, &terms));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_driver_start(member, NULL));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_driver_open(member, NULL, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_step(member, &(selene_cycle){0}, NULL));
    for (int i = 0; i < 5; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        add(owner, id, "h", SELENE_PRIORITY_NORMAL);
        WAIT_UNTIL(state_of(owner, id) == SELENE_STATE_SUCCEEDED);
    }
    CHECK_INT(5, work.calls);
    CHECK_OK(selene_driver_stop(member, PATIENCE));
    CHECK_OK(selene_driver_stop(member, 0));
    add(owner, "later", "h", SELENE_PRIORITY_NORMAL);
    check_sleep(50 * MS);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "later"));
    CHECK_OK(selene_driver_start(member, &terms));
    WAIT_UNTIL(state_of(owner, "later") == SELENE_STATE_SUCCEEDED);
    end_working(member, PATIENCE, &work);
    close_store(owner);
}

/** An event loop steps it when its descriptor is readable. */
static void test_descriptor(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = member_of(file, "a");
    int32_t fd = -1, is_ready = -1;
    selene_cycle cycle = 0;
    CHECK_OK(offer(member, "h"));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_step(member, &cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_wait(member, 0, &is_ready));
    CHECK_OK(selene_driver_open(member, NULL, &fd));
    CHECK(is_readable(fd, PATIENCE));
    settle(member);
    while (is_readable(fd, 0))
        settle(member);
    CHECK_OK(selene_driver_wait(member, 0, &is_ready));
    CHECK_INT(0, is_ready);
    add(owner, "a", "h", SELENE_PRIORITY_NORMAL);
    CHECK(is_readable(fd, PATIENCE));
    cycle = granted(member);
    end_when_done(cycle);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "a"));
    CHECK_OK(selene_driver_stop(member, 0));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_step(member, &cycle, NULL));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/* ---- whose window it is ------------------------------------------------------------------------- */

/** A run that the host has pulled of a window. */
static selene_run pulled(selene_cycle cycle) {
    int32_t step = SELENE_STEP_DONE;
    selene_run_info run = SELENE_INIT(selene_run_info);
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    return run.run;
}

/** What is used of the budget of a minute. */
static int64_t used(selene_scheduler owner) {
    selene_balance balance = SELENE_INIT(selene_balance);
    CHECK_OK(selene_ledger_get(owner, SELENE_KIND_REFRESH, &balance));
    return SELENE_MINUTE - balance.free;
}

/** What is granted is the machine's: each pool that has something takes part in it, and the ledger is charged once. */
static void test_side_by_side(void) {
    const char *file = path("t.db");
    const selene_quota quota = {SELENE_KIND_REFRESH, SELENE_MEASURE_WINDOW_TIME, SELENE_MINUTE,
                                SELENE_DAY};
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_profile profile = SELENE_INIT(selene_profile);
    selene_scheduler owner = open_here(file);
    selene_report *first = NULL, *second = NULL;
    selene_cycle cycle, beside;
    selene_run low, high;
    int64_t charged;
    profile.quotas = &quota;
    profile.quota_count = 1;
    CHECK_OK(selene_governor_set_profile(owner, &profile));
    serve(owner);
    selene_scheduler one = member_of(file, "one"), other = member_of(file, "other");
    CHECK_OK(offer(one, "h"));
    CHECK_OK(offer(other, "g"));
    driver.refresh_budget = 40 * S;
    CHECK_OK(selene_driver_open(one, &driver, NULL));
    CHECK_OK(selene_driver_open(other, &driver, NULL));
    add(owner, "low", "h", SELENE_PRIORITY_LOW);
    add(owner, "high", "g", SELENE_PRIORITY_HIGH);
    cycle = granted(one);
    low = pulled(cycle);
    charged = used(owner);
    CHECK_INT(40 * S, charged);
    beside = granted(other);
    high = pulled(beside);
    CHECK_INT(charged, used(owner));
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "low"));
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "high"));
    CHECK_OK(selene_run_complete(high, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(beside, &second));
    CHECK_OK(selene_run_complete(low, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, &first));
    /* It is a part of the other: it cannot last beyond it. */
    CHECK(second->began_at > first->began_at);
    CHECK_INT(first->deadline, second->deadline);
    CHECK_INT(first->reserve, second->reserve);
    selene_free(first);
    selene_free(second);
    CHECK(used(owner) < charged);
    CHECK_OK(selene_scheduler_close(one, 0));
    CHECK_OK(selene_scheduler_close(other, 0));
    close_store(owner);
}

/** Nor does a pool wait for one that has a better task and does not come. */
static void test_who_does_not_come(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_cycle cycle = 0;
    serve(owner);
    selene_scheduler one = member_of(file, "one"), other = member_of(file, "other");
    CHECK_OK(offer(one, "h"));
    CHECK_OK(offer(other, "g"));
    CHECK_OK(selene_driver_open(one, NULL, NULL));
    CHECK_OK(selene_driver_open(other, NULL, NULL));
    settle(one);
    settle(other);
    add(owner, "high", "g", SELENE_PRIORITY_HIGH);
    add(owner, "low", "h", SELENE_PRIORITY_LOW);
    CHECK_OK(selene_driver_step(one, &cycle, NULL));
    CHECK(cycle != 0);
    end_when_done(cycle);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "low"));
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "high"));
    CHECK_OK(selene_scheduler_close(one, 0));
    CHECK_OK(selene_scheduler_close(other, 0));
    close_store(owner);
}

/** A process is in a long run, and one of another pool and the owner itself go on meanwhile. */
static void test_slow_pool(void) {
    const char *file = path("t.db");
    struct work slow = {.waits = 1}, fast = {0}, own = {0};
    int go[2], report[2];
    char byte;
    CHECK(pipe(go) == 0 && pipe(report) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (read(go[0], &byte, 1) != 1) _exit(1);
        selene_scheduler member = caller_of(file, "reports", "report", &slow);
        CHECK_OK(selene_driver_start(member, NULL));
        WAIT_UNTIL(slow.calls == 1);
        CHECK(write(report[1], "x", 1) == 1);
        CHECK(read(go[0], &byte, 1) == 1);
        end_working(member, PATIENCE, &slow);
        _exit(0);
    }
    selene_scheduler owner = open_here(file);
    serve(owner);
    offer_work(owner, "own", &own);
    CHECK_OK(selene_driver_start(owner, NULL));
    selene_scheduler mail = caller_of(file, "mail", "mail", &fast);
    CHECK_OK(selene_driver_start(mail, NULL));
    add(owner, "report", "report", SELENE_PRIORITY_HIGH);
    CHECK(write(go[1], "x", 1) == 1 && read(report[0], &byte, 1) == 1);
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "mail%d", i);
        add(owner, id, "mail", SELENE_PRIORITY_LOW);
        WAIT_UNTIL(state_of(owner, id) == SELENE_STATE_SUCCEEDED);
        snprintf(id, sizeof id, "own%d", i);
        add(owner, id, "own", SELENE_PRIORITY_LOW);
        WAIT_UNTIL(state_of(owner, id) == SELENE_STATE_SUCCEEDED);
    }
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "report"));
    CHECK(write(go[1], "x", 1) == 1);
    CHECK(waitpid(child, NULL, 0) == child);
    end_working(mail, PATIENCE, &fast);
    close_store(owner);
    let_go(&own);
}

/** The owner's driver has the windows of its own handlers, beside those of a pool. */
static void test_owner_drives(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    struct work own = {0}, its = {0};
    selene_balance balance = SELENE_INIT(selene_balance);
    serve(owner);
    offer_work(owner, "own", &own);
    CHECK_OK(selene_driver_start(owner, NULL));
    selene_scheduler member = caller_of(file, "a", "h", &its);
    CHECK_OK(selene_driver_start(member, NULL));
    for (int i = 0; i < 4; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        add(owner, id, i % 2 ? "own" : "h", i < 2 ? SELENE_PRIORITY_HIGH : SELENE_PRIORITY_LOW);
    }
    for (int i = 0; i < 4; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        WAIT_UNTIL(state_of(owner, id) == SELENE_STATE_SUCCEEDED);
    }
    CHECK_INT(2, own.calls);
    CHECK_INT(2, its.calls);
    /* The ledger is the machine's. */
    CHECK_OK(selene_ledger_get(owner, SELENE_KIND_REFRESH, &balance));
    CHECK(balance.last_begin != SELENE_NEVER);
    end_working(member, PATIENCE, &its);
    close_store(owner);
    let_go(&own);
}

/** What the governor refuses no pool gets, until it grants it. */
static void test_governed(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    struct work work = {0}, other = {0};
    const selene_rule rule = {SELENE_FACTOR_USER_ACTIVE,
                              SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING,
                              SELENE_RULE_VETO,
                              0,
                              0,
                              0};
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.rules = &rule;
    profile.rule_count = 1;
    serve(owner);
    CHECK_OK(selene_governor_set_profile(owner, &profile));
    CHECK_OK(selene_signal_set(owner, SELENE_SIGNAL_USER_ACTIVE, 1, SELENE_NEVER));
    selene_scheduler one = caller_of(file, "a", "h", &work);
    selene_scheduler two = caller_of(file, "b", "g", &other);
    CHECK_OK(selene_driver_start(one, NULL));
    CHECK_OK(selene_driver_start(two, NULL));
    add(owner, "a", "h", SELENE_PRIORITY_NORMAL);
    add(owner, "b", "g", SELENE_PRIORITY_NORMAL);
    check_sleep(100 * MS);
    CHECK_INT(0, work.calls + other.calls);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "a"));
    CHECK_OK(selene_signal_set(owner, SELENE_SIGNAL_USER_ACTIVE, 0, SELENE_NEVER));
    WAIT_UNTIL(state_of(owner, "a") == SELENE_STATE_SUCCEEDED &&
               state_of(owner, "b") == SELENE_STATE_SUCCEEDED);
    end_working(one, 0, &work);
    end_working(two, 0, &other);
    close_store(owner);
}

/** Both members of a pool work in one window. */
static void test_shared(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work one = {.waits = 1}, other = {.waits = 1};
    selene_scheduler first = caller_of(file, "a", "h", &one);
    selene_scheduler second = caller_of(file, "a", "h", &other);
    add(owner, "a", "h", SELENE_PRIORITY_NORMAL);
    add(owner, "b", "h", SELENE_PRIORITY_NORMAL);
    CHECK_OK(selene_driver_start(first, NULL));
    CHECK_OK(selene_driver_start(second, NULL));
    WAIT_UNTIL(one.calls == 1 && other.calls == 1);
    atomic_store(&one.may_return, 1);
    atomic_store(&other.may_return, 1);
    WAIT_UNTIL(state_of(owner, "a") == SELENE_STATE_SUCCEEDED &&
               state_of(owner, "b") == SELENE_STATE_SUCCEEDED);
    end_working(first, PATIENCE, &one);
    end_working(second, PATIENCE, &other);
    close_store(owner);
}

/** Nothing was left for one of them for a moment; it comes back to the window, which the other has kept open. */
static void test_back_in_window(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler members[2];
    selene_cycle cycles[2];
    selene_run_info runs[2];
    int32_t step = SELENE_STEP_DONE;
    add(owner, "a", "h", SELENE_PRIORITY_NORMAL);
    add(owner, "b", "h", SELENE_PRIORITY_NORMAL);
    for (int i = 0; i < 2; i++) {
        runs[i] = (selene_run_info)SELENE_INIT(selene_run_info);
        members[i] = member_of(file, "pool");
        CHECK_OK(offer(members[i], "h"));
        CHECK_OK(selene_driver_open(members[i], NULL, NULL));
        cycles[i] = granted(members[i]);
        CHECK_OK(selene_cycle_next(cycles[i], &step, &runs[i], NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
    }
    for (int i = 0; i < 2; i++)
        CHECK_OK(selene_run_complete(runs[i].run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_next(cycles[1], &step, &runs[1], NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_cycle_end(cycles[1], NULL));
    settle(members[1]);
    add(owner, "c", "h", SELENE_PRIORITY_NORMAL);
    add(owner, "d", "h", SELENE_PRIORITY_NORMAL);
    CHECK_OK(selene_cycle_next(cycles[0], &step, &runs[0], NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    /* The first may stand still now for as long as it likes. */
    cycles[1] = granted(members[1]);
    CHECK_OK(selene_cycle_next(cycles[1], &step, &runs[1], NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_complete(runs[1].run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycles[1], NULL));
    CHECK_OK(selene_run_complete(runs[0].run, SELENE_OUTCOME_NEW_DATA));
    end_when_done(cycles[0]);
    for (int i = 0; i < 2; i++)
        CHECK_OK(selene_scheduler_close(members[i], 0));
    close_store(owner);
}

/* ---- ends ------------------------------------------------------------------------------------------ */

/** The driver is stopped while a run of its window works: that is stopped, and another pool goes on. */
static void test_stopped(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    struct work work = {.waits = 1}, other = {0};
    selene_task_info *info = NULL;
    selene_scheduler member = caller_of(file, "a", "h", &work);
    selene_scheduler next = caller_of(file, "b", "g", &other);
    CHECK_OK(selene_driver_start(member, NULL));
    CHECK_OK(selene_driver_start(next, NULL));
    add(owner, "a", "h", SELENE_PRIORITY_NORMAL);
    WAIT_UNTIL(work.calls == 1);
    add(owner, "b", "g", SELENE_PRIORITY_NORMAL);
    CHECK_OK(selene_driver_stop(member, 0));
    WAIT_UNTIL(work.stops == 1);
    CHECK_INT(SELENE_STOP_SHUTDOWN, work.reason);
    CHECK_OK(selene_task_get(owner, "a", -1, 0, &info));
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(0, info->attempts);
    selene_free(info);
    WAIT_UNTIL(state_of(owner, "b") == SELENE_STATE_SUCCEEDED);
    end_working(member, 0, &work);
    end_working(next, 0, &other);
    close_store(owner);
}

/** A process that dies in a granted window frees it for others of its pool; those of other pools wait for nothing. */
static void test_killed(void) {
    const char *file = path("t.db");
    struct work work = {.waits = 1}, other = {0}, heir = {0};
    int go[2], ready[2];
    char byte;
    CHECK(pipe(go) == 0 && pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (read(go[0], &byte, 1) != 1) _exit(1);
        selene_scheduler member = caller_of(file, "a", "h", &work);
        CHECK_OK(selene_driver_start(member, NULL));
        WAIT_UNTIL(work.calls == 1);
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    selene_scheduler owner = open_here(file);
    serve(owner);
    add(owner, "a", "h", SELENE_PRIORITY_NORMAL);
    CHECK(write(go[1], "x", 1) == 1 && read(ready[0], &byte, 1) == 1);
    selene_scheduler next = caller_of(file, "b", "g", &other);
    CHECK_OK(selene_driver_start(next, NULL));
    add(owner, "b", "g", SELENE_PRIORITY_NORMAL);
    WAIT_UNTIL(state_of(owner, "b") == SELENE_STATE_SUCCEEDED);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "a"));
    end_owner(child, SIGKILL);
    WAIT_UNTIL(state_of(owner, "a") == SELENE_STATE_ENQUEUED);
    selene_scheduler same = caller_of(file, "a", "h", &heir);
    CHECK_OK(selene_driver_start(same, NULL));
    add(owner, "c", "h", SELENE_PRIORITY_NORMAL);
    WAIT_UNTIL(state_of(owner, "c") == SELENE_STATE_SUCCEEDED);
    end_working(same, 0, &heir);
    end_working(next, 0, &other);
    close_store(owner);
}

/** With the next owner the driver goes on by itself. */
static void test_next_owner(void) {
    const char *file = path("t.db");
    struct owner next = fork_owner(file);
    pid_t owner = start_owner(file);
    struct work work = {0};
    selene_scheduler member = caller_of(file, "a", "h", &work), look;
    CHECK_OK(selene_driver_start(member, NULL));
    add(member, "a", "h", SELENE_PRIORITY_NORMAL);
    WAIT_UNTIL(state_of(member, "a") == SELENE_STATE_SUCCEEDED);
    end_owner(owner, SIGKILL);
    owner = let_own(next);
    look = connect_to(file);
    add(look, "b", "h", SELENE_PRIORITY_NORMAL);
    WAIT_UNTIL(state_of(look, "b") == SELENE_STATE_SUCCEEDED);
    CHECK_OK(selene_scheduler_close(look, 0));
    end_working(member, PATIENCE, &work);
    end_owner(owner, SIGKILL);
}

/** Without an owner a driver is due once a second, and at once when nothing but its own attempt has happened never. */
static void test_owner_away(void) {
    const char *file = path("t.db");
    pid_t owner = start_owner(file);
    selene_scheduler member = member_of(file, "a");
    selene_cycle cycle = 0;
    int64_t until;
    int dues = 0;
    CHECK_OK(offer(member, "h"));
    CHECK_OK(selene_driver_open(member, NULL, NULL));
    settle(member);
    end_owner(owner, SIGKILL);
    for (until = check_now() + 3 * S; check_now() < until;) {
        int32_t is_ready = 0;
        CHECK_OK(selene_driver_wait(member, S / 2, &is_ready));
        if (!is_ready) continue;
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_driver_step(member, &cycle, NULL));
        dues++;
    }
    /* The loss, what of it came later, and each second. */
    CHECK(dues <= 6);
    CHECK_OK(selene_scheduler_close(member, 0));
}

/** Who waits for a cycle whose owner has gone is told that, not what the system says of a descriptor that is closed. */
static void test_cycle_away(void) {
    const char *file = path("t.db");
    pid_t owner = start_owner(file);
    selene_scheduler member = member_of(file, "a");
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle = 0;
    selene_lane lane = 0;
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_report *report = NULL;
    int32_t step = SELENE_STEP_DONE;
    window.flags = SELENE_WINDOW_LANES;
    window.budget = 60 * S;
    CHECK_OK(offer(member, "h"));
    add(member, "a", "h", SELENE_PRIORITY_NORMAL);
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, PATIENCE, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    end_owner(owner, SIGKILL);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_cycle_wait(cycle, S / 2, &report, NULL));
        CHECK(strstr(selene_error_last()->message.data, "descriptor") == NULL);
    }
    CHECK_OK(selene_scheduler_close(member, 0));
}

/** A run of a granted window is open when the owner is killed: the window is over, and the run goes on (L10). */
static void test_killed_in_window(void) {
    const char *file = path("t.db");
    struct owner next = fork_owner(file);
    pid_t owner = start_owner(file);
    selene_scheduler member = member_of(file, "a");
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_task_info *info = NULL;
    selene_cycle cycle = 0, other = 0;
    int32_t step = SELENE_STEP_DONE;
    CHECK_OK(offer(member, "h"));
    CHECK_OK(selene_driver_open(member, NULL, NULL));
    add(member, "a", "h", SELENE_PRIORITY_NORMAL);
    cycle = granted(member);
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    end_owner(owner, SIGKILL);
    /* Nobody grants anything, and the window is over. */
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_driver_step(member, &other, NULL));
    CHECK_INT(0, (int64_t)other);
    owner = let_own(next);
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_task_get(member, "a", -1, 0, &info));
    CHECK_INT(SELENE_STATE_SUCCEEDED, info->state);
    CHECK_INT(1, info->attempts);
    selene_free(info);
    /* The driver is the next owner's, without another word. */
    add(member, "b", "h", SELENE_PRIORITY_NORMAL);
    end_when_done(granted(member));
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(member, "b"));
    CHECK_OK(selene_driver_stop(member, 0));
    CHECK_OK(selene_scheduler_close(member, 0));
    end_owner(owner, SIGKILL);
}

/** The owner is killed while it is asked for a window (108), told that a driver ends (109), and that work rests (92). */
static void test_killed_meanwhile(void) {
    const char *file = path("t.db");
    struct owner second = fork_owner(file), third = fork_owner(file), last = fork_owner(file);
    pid_t owner = start_owner(file);
    pthread_t killer;
    selene_scheduler member = member_of(file, "a"), look;
    selene_task_info *info = NULL;
    selene_cycle cycle = 0;
    CHECK_OK(offer(member, "h"));
    CHECK_OK(selene_driver_open(member, NULL, NULL));
    settle(member);
    add(member, "a", "h", SELENE_PRIORITY_NORMAL);
    stop_owner(owner);
    killer = kill_soon(owner);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_driver_step(member, &cycle, NULL));
    CHECK_INT(0, (int64_t)cycle);
    await_killer(killer, owner);
    owner = let_own(second);
    end_when_done(granted(member));
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(member, "a"));

    stop_owner(owner);
    killer = kill_soon(owner);
    CHECK_OK(selene_driver_stop(member, 0));
    await_killer(killer, owner);
    owner = let_own(third);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_step(member, &cycle, NULL));
    CHECK_OK(selene_driver_open(member, NULL, NULL));
    CHECK_OK(selene_scheduler_close(member, 0));

    struct work work = {.waits = 1};
    member = caller_of(file, "a", "h", &work);
    CHECK_OK(selene_driver_start(member, NULL));
    add(member, "b", "h", SELENE_PRIORITY_NORMAL);
    WAIT_UNTIL(work.calls == 1);
    stop_owner(owner);
    killer = kill_soon(owner);
    CHECK_OK(selene_scheduler_close(member, 0));
    await_killer(killer, owner);
    let_go(&work);
    owner = let_own(last);
    look = connect_to(file);
    CHECK_OK(selene_task_get(look, "b", -1, 0, &info));
    /* Its process, which is this one, lives: it is waited for, though the handle is closed. */
    while (info->state == SELENE_STATE_RUNNING) {
        selene_free(info);
        check_sleep(10 * MS);
        CHECK_OK(selene_task_get(look, "b", -1, 0, &info));
    }
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK(info->attempts <= 1);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(look, 0));
    end_owner(owner, SIGKILL);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L7 a driver of a member has the windows that it needs", test_thread);
    run_test("L7 an event loop steps one when its descriptor is readable", test_descriptor);
    run_test("V3 each pool takes part in a window, which is charged once", test_side_by_side);
    run_test("V3 who does not come for its window is not waited for", test_who_does_not_come);
    run_test("V3 a long run of one process holds up no other's", test_slow_pool);
    run_test("L7 the owner's driver and those of members work side by side", test_owner_drives);
    run_test("L7 what the governor refuses no pool gets", test_governed);
    run_test("L7 members of a pool share its window", test_shared);
    run_test("L7 who had nothing left for a moment comes back to the window", test_back_in_window);
    run_test("L7 a driver that is stopped frees its window", test_stopped);
    run_test("L7 a process that dies in its window frees it", test_killed);
    run_test("L10 a driver goes on with the next owner", test_next_owner);
    run_test("L10 G7 a driver whose owner is away looks for it once a second", test_owner_away);
    run_test("L10 who waits for a cycle of an owner that was killed hears of that",
             test_cycle_away);
    run_test("L10 an owner that is killed in a granted window takes it along, and loses no task",
             test_killed_in_window);
    run_test("L10 an owner that is killed while it grants, or is told of an end, loses no task",
             test_killed_meanwhile);
    tools_end();
    return check_end();
}
