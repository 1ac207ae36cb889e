/*
 * quarantine.c - a task that ends its process uses up its own attempts, a neighbour none (V7, V8)
 *
 * The machine of this test goes down when the test says so: it reads the boot of the machine from a file of its own.
 */
#include "server_tools.h"

#include "store_reopen.h"

#include <sys/syscall.h>

enum { HEALTHY = 20, LANES = 4, WORKERS = 3, ATTEMPTS = 3, DIED = 139 };

/* ---- the boot of the machine --------------------------------------------- */

static const char *boot = "/proc/sys/kernel/random/boot_id";

/** Replaces that of the C library, also for the library under test. */
int open(const char *name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (strcmp(name, "/proc/sys/kernel/random/boot_id") == 0) name = boot;
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

static void write_boot(const char *file, const char *name) {
    FILE *out = fopen(file, "w");
    CHECK(out != NULL);
    fputs(name, out);
    CHECK_INT(0, fclose(out));
    boot = file;
}

/* ---- tasks --------------------------------------------------------------- */

static int is_poison(const selene_run_info *run) {
    return strcmp(run->id.data, "poison") == 0;
}

static void add_dying(selene_scheduler scheduler, const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.max_attempts = ATTEMPTS;
    task.backoff_delay = SELENE_NONE;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

/** Twenty healthy tasks, and the one that ends its process in the middle of them. */
static void add_all(selene_scheduler scheduler) {
    for (int i = 0; i <= HEALTHY; i++) {
        char id[16] = "poison";
        if (i != HEALTHY / 2) snprintf(id, sizeof id, "healthy %d", i);
        add_dying(scheduler, id);
    }
}

/** How many are not over; of the healthy none may have used an attempt that did not succeed. */
static int left(selene_scheduler scheduler) {
    selene_task_ids *ids = NULL;
    int count = 0;
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    CHECK_INT(HEALTHY + 1, ids->count);
    for (uint64_t i = 0; i < ids->count; i++) {
        selene_task_info *info = NULL;
        CHECK_OK(selene_task_get(scheduler, ids->ids[i].data, -1, 0, &info));
        const int is_healthy = strcmp(info->id.data, "poison") != 0;
        if (info->state == SELENE_STATE_FAILED) {
            CHECK(!is_healthy);
            CHECK_INT(ATTEMPTS, info->attempts);
            CHECK_TEXT("the process ended", info->failure);
        } else if (info->state == SELENE_STATE_SUCCEEDED) {
            CHECK(is_healthy);
            CHECK_INT(1, info->attempts);
            CHECK_INT(0, info->quarantined);
        } else {
            count++;
            if (is_healthy) {
                CHECK_INT(info->state == SELENE_STATE_RUNNING, info->attempts);
                CHECK(info->quarantined != SELENE_SUSPICION_BLAMED);
            }
        }
        selene_free(info);
    }
    selene_free(ids);
    return count;
}

/** Takes as many runs at a time as it may, and completes them; with the poisonous one the process ends. How many. */
static int take(selene_cycle cycle) {
    selene_run taken[LANES];
    int count = 0, total = 0;
    do {
        selene_run_info run = SELENE_INIT(selene_run_info);
        int32_t step = -1;
        int dies = 0;
        for (count = 0;;) {
            CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
            if (step != SELENE_STEP_RUN) break;
            CHECK(count < LANES);
            taken[count++] = run.run;
            dies |= is_poison(&run);
        }
        if (dies) _exit(DIED);
        for (int i = 0; i < count; i++)
            CHECK_OK(selene_run_complete(taken[i], SELENE_OUTCOME_NEW_DATA));
        total += count;
    } while (count > 0);
    return total;
}

static selene_window lanes(void) {
    selene_window window = SELENE_INIT(selene_window);
    window.lanes = LANES;
    window.budget = SELENE_HOUR;
    return window;
}

static selene_cycle begin_window(selene_scheduler scheduler, selene_window window) {
    selene_cycle cycle = 0;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    return cycle;
}

/* ---- a store of one process ---------------------------------------------- */

static void live(void) {
    selene_scheduler scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    const selene_cycle cycle = begin_window(scheduler, lanes());
    take(cycle);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_store(scheduler);
    _exit(0);
}

static void test_store(void) {
    int deaths = 0;
    new_folder();
    selene_scheduler scheduler = open_store(path("store"));
    add_all(scheduler);
    close_store(scheduler);
    for (int more = 1; more > 0;) {
        deaths += in_child(live) == DIED;
        clock_now += SELENE_HOUR;
        scheduler = open_store(path("store"));
        more = left(scheduler);
        close_store(scheduler);
        /* Once with its neighbours, and with each of its attempts. */
        CHECK(deaths <= ATTEMPTS + 1);
    }
    CHECK_INT(ATTEMPTS + 1, deaths);
}

/* ---- a served store ------------------------------------------------------ */

/** How many runs a window of a worker took. */
static int take_window(selene_scheduler member) {
    const selene_window window = lanes();
    selene_cycle cycle = 0;
    const selene_status status = selene_cycle_begin(member, &window, &cycle);
    int count = 0;
    if (status == SELENE_OK) {
        count = take(cycle);
        CHECK_OK(selene_cycle_end(cycle, NULL));
    } else {
        CHECK_INT(SELENE_ERROR_BUSY, status);
    }
    return count;
}

static void work(const char *file) {
    selene_scheduler member = member_of(file, "workers");
    CHECK_OK(offer(member, "work"));
    for (;;)
        WAIT_UNTIL(take_window(member) > 0);
}

static pid_t start(const char *file) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        work(file);
        _exit(1);
    }
    return child;
}

static void test_workers(void) {
    pid_t workers[WORKERS];
    int deaths = 0;
    new_folder();
    selene_options options = store_options(path("store"));
    options.clock = NULL;
    /* So that no test has to wait for a pause. */
    options.minimum_backoff = options.crash_pause = SELENE_NONE;
    selene_scheduler owner = open_with(options);
    serve(owner);
    add_all(owner);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = start(path("store"));
    for (;;) {
        int status;
        pid_t dead = 0;
        WAIT_UNTIL(left(owner) == 0 || (dead = waitpid(-1, &status, WNOHANG)) != 0);
        if (dead == 0) break;
        CHECK(dead > 0);
        CHECK_INT(DIED, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        deaths++;
        for (int i = 0; i < WORKERS; i++)
            if (workers[i] == dead) workers[i] = start(path("store"));
    }
    for (int i = 0; i < WORKERS; i++)
        end_owner(workers[i], SIGKILL);
    CHECK(deaths <= ATTEMPTS + 2);
    close_store(owner);
}

/* ---- who is to blame ----------------------------------------------------- */

/** Takes the next run of a window, which is of that task; NULL: of any. */
static selene_run take_next(selene_cycle cycle, const char *id) {
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    if (id) CHECK_STRING(id, run.id.data);
    return run.run;
}

/** A window has no run now: SELENE_STEP_WAIT or SELENE_STEP_DONE. */
static void take_none(selene_cycle cycle, int32_t expected) {
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(expected, step);
}

static void die_with(int runs) {
    selene_scheduler scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    const selene_cycle cycle = begin_window(scheduler, lanes());
    for (int i = 0; i < runs; i++)
        take_next(cycle, NULL);
    _exit(DIED);
}

/** Begins two runs and dies with them. */
static void die_with_two(void) {
    die_with(2);
}

static void die_alone(void) {
    die_with(1);
}

/** The store, once two tasks, a and b, were in flight when their process ended. */
static selene_scheduler open_with_two_suspects(void) {
    selene_scheduler scheduler = open_store(path("store"));
    add_dying(scheduler, "a");
    add_dying(scheduler, "b");
    close_store(scheduler);
    CHECK_INT(DIED, in_child(die_with_two));
    return open_store(path("store"));
}

static void check_task(selene_scheduler scheduler, const char *id, uint32_t attempts,
                       uint32_t suspicion) {
    selene_task_info *info = info_of(scheduler, id);
    CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
    CHECK_INT(attempts, info->attempts);
    CHECK_INT(suspicion, info->quarantined);
    CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
    selene_free(info);
}

static void test_machine(void) {
    new_folder();
    for (int goes_down = 0; goes_down < 2; goes_down++) {
        char file[PATH];
        snprintf(file, sizeof file, "%s-%d", path("store"), goes_down);
        write_boot(path("boot"), "the first");
        rename(path("store"), file);
        selene_scheduler scheduler = open_store(path("store"));
        add_dying(scheduler, "a");
        add_dying(scheduler, "b");
        close_store(scheduler);
        CHECK_INT(DIED, in_child(die_with_two));
        if (goes_down) write_boot(path("boot"), "the second");
        scheduler = open_store(path("store"));
        check_task(scheduler, "a", 0, goes_down ? 0 : SELENE_SUSPICION_QUARANTINED);
        check_task(scheduler, "b", 0, goes_down ? 0 : SELENE_SUSPICION_QUARANTINED);
        close_store(scheduler);
    }
    boot = "/proc/sys/kernel/random/boot_id";
}

/** How long a task waited for that reason; and how many dispatches went before it meanwhile. */
static int64_t quarantined_for(selene_scheduler scheduler, const char *id, uint64_t preferred) {
    selene_waits *waits = NULL;
    int64_t span = 0;
    CHECK_OK(selene_task_waits(scheduler, id, -1, &waits));
    for (uint64_t i = 0; i < waits->part_count; i++) {
        if (waits->parts[i].reason != SELENE_REASON_QUARANTINED) continue;
        CHECK_INT(0, waits->parts[i].detail);
        CHECK_INT(1, waits->parts[i].times);
        span += waits->parts[i].duration;
    }
    CHECK_INT(preferred, waits->preferred_count);
    selene_free(waits);
    return span;
}

/** Of the quarantined one runs at a time, beside plain work, and one that is to blame runs alone. */
static void test_beside(void) {
    new_folder();
    selene_scheduler scheduler = open_with_two_suspects();
    add_handler(scheduler, "work");
    add_dying(scheduler, "plain");
    clock_now += S;
    const selene_cycle cycle = begin_window(scheduler, lanes());
    const selene_run first = take_next(cycle, "a");
    clock_now += MS;
    const selene_run plain = take_next(cycle, "plain");
    take_none(cycle, SELENE_STEP_WAIT);
    CHECK(reason_of(scheduler, "b", SELENE_REASON_QUARANTINED) != NULL);
    clock_now += S;
    CHECK_INT(S + MS, quarantined_for(scheduler, "b", 1));
    CHECK_INT(0, quarantined_for(scheduler, "plain", 1));
    /* An outcome of whatever kind lets the next one run. */
    CHECK_OK(selene_run_complete(first, SELENE_OUTCOME_FAILED));
    clock_now += S;
    const selene_run last = take_next(cycle, "b");
    CHECK_INT(S + MS, quarantined_for(scheduler, "b", 1));
    CHECK_OK(selene_run_complete(last, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(plain, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_store(scheduler);
}

/** A quarantined task whose process ends again is to blame, and what ran beside it is not. */
static void test_again(void) {
    new_folder();
    selene_scheduler scheduler = open_with_two_suspects();
    add_dying(scheduler, "plain");
    close_store(scheduler);
    CHECK_INT(DIED, in_child(die_with_two));
    scheduler = open_store(path("store"));
    check_task(scheduler, "a", 1, SELENE_SUSPICION_BLAMED);
    check_task(scheduler, "b", 0, SELENE_SUSPICION_QUARANTINED);
    check_task(scheduler, "plain", 0, SELENE_SUSPICION_QUARANTINED);
    /* It waits for its second death; then it runs alone, and for its third death it waits twice as long. */
    selene_task_info *info = info_of(scheduler, "a");
    CHECK_INT(clock_now + 30 * S, info->earliest_begin);
    selene_free(info);
    CHECK_OK(selene_task_pause(scheduler, "b", -1, NULL));
    CHECK_OK(selene_task_pause(scheduler, "plain", -1, NULL));
    close_store(scheduler);
    clock_now += 30 * S;
    CHECK_INT(DIED, in_child(die_alone));
    scheduler = open_store(path("store"));
    check_task(scheduler, "a", 2, SELENE_SUSPICION_BLAMED);
    check_task(scheduler, "b", 0, SELENE_SUSPICION_QUARANTINED);
    info = info_of(scheduler, "a");
    CHECK_INT(clock_now + SELENE_MINUTE, info->earliest_begin);
    selene_free(info);
    close_store(scheduler);
}

/** A store whose task "culprit" has ended its process, alone. */
static selene_scheduler open_with_culprit(void) {
    selene_scheduler scheduler = open_store(path("store"));
    add_dying(scheduler, "culprit");
    close_store(scheduler);
    CHECK_INT(DIED, in_child(die_alone));
    scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    return scheduler;
}

static void test_alone(void) {
    new_folder();
    selene_scheduler scheduler = open_with_culprit();
    check_task(scheduler, "culprit", 1, SELENE_SUSPICION_BLAMED);
    for (int i = 0; i < 2; i++) {
        char id[16];
        snprintf(id, sizeof id, "plain %d", i);
        add_dying(scheduler, id);
    }
    CHECK_OK(selene_task_pause(scheduler, "culprit", -1, NULL));
    clock_now += S;
    const selene_cycle cycle = begin_window(scheduler, lanes());
    const selene_run plain = take_next(cycle, "plain 0");
    clock_now += MS;
    /* It does not begin beside another, */
    CHECK_OK(selene_task_resume(scheduler, "culprit", -1, NULL));
    take_none(cycle, SELENE_STEP_WAIT);
    CHECK(reason_of(scheduler, "culprit", SELENE_REASON_QUARANTINED) != NULL);
    CHECK(reason_of(scheduler, "plain 1", SELENE_REASON_QUARANTINED) != NULL);
    clock_now += S;
    CHECK_OK(selene_run_complete(plain, SELENE_OUTCOME_NEW_DATA));
    const selene_run culprit = take_next(cycle, "culprit");
    CHECK_INT(S, quarantined_for(scheduler, "culprit", 0));
    CHECK_INT(S, quarantined_for(scheduler, "plain 1", 1));
    clock_now += S;
    /* nor another beside it, until it has an outcome. */
    take_none(cycle, SELENE_STEP_WAIT);
    CHECK(reason_of(scheduler, "plain 1", SELENE_REASON_QUARANTINED) != NULL);
    CHECK_OK(selene_run_complete(culprit, SELENE_OUTCOME_FAILED));
    CHECK(reason_of(scheduler, "plain 1", SELENE_REASON_QUARANTINED) == NULL);
    clock_now += S;
    const selene_run last = take_next(cycle, "plain 1");
    CHECK_INT(2 * S, quarantined_for(scheduler, "plain 1", 1));
    CHECK_OK(selene_run_complete(last, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    selene_task_info *info = info_of(scheduler, "culprit");
    CHECK_INT(0, info->quarantined);
    selene_free(info);
    close_store(scheduler);
}

/** The blamed task for which others wait begins as soon as nothing runs, whatever ranks before it by then. */
static void test_outranked(void) {
    new_folder();
    selene_scheduler scheduler = open_with_culprit();
    CHECK_OK(selene_task_pause(scheduler, "culprit", -1, NULL));
    add_dying(scheduler, "plain");
    clock_now += S;
    const selene_cycle cycle = begin_window(scheduler, lanes());
    const selene_run plain = take_next(cycle, "plain");
    clock_now += MS;
    CHECK_OK(selene_task_resume(scheduler, "culprit", -1, NULL));
    take_none(cycle, SELENE_STEP_WAIT);
    selene_task urgent = task_of("urgent");
    urgent.schedule = SELENE_SCHEDULE_ONCE;
    urgent.priority = SELENE_PRIORITY_VERY_HIGH;
    CHECK_OK(selene_task_register(scheduler, &urgent, NULL));
    clock_now += 10 * S;
    take_none(cycle, SELENE_STEP_WAIT);
    CHECK_OK(selene_run_complete(plain, SELENE_OUTCOME_NEW_DATA));
    const selene_run culprit = take_next(cycle, "culprit");
    take_none(cycle, SELENE_STEP_WAIT);
    CHECK_OK(selene_run_complete(culprit, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(take_next(cycle, "urgent"), SELENE_OUTCOME_NEW_DATA));
    take_none(cycle, SELENE_STEP_DONE);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_store(scheduler);
}

/** While a run takes hours, the blamed task waits, and other tasks wait for at most 30 s at a time. */
static void test_long(void) {
    new_folder();
    selene_scheduler scheduler = open_with_culprit();
    CHECK_OK(selene_task_pause(scheduler, "culprit", -1, NULL));
    add_dying(scheduler, "hours");
    add_dying(scheduler, "plain 0");
    add_dying(scheduler, "plain 1");
    clock_now += S;
    const selene_cycle cycle = begin_window(scheduler, lanes());
    const selene_run hours = take_next(cycle, "hours");
    clock_now += MS;
    CHECK_OK(selene_task_resume(scheduler, "culprit", -1, NULL));
    take_none(cycle, SELENE_STEP_WAIT);
    clock_now += 30 * S - 1;
    take_none(cycle, SELENE_STEP_WAIT);
    CHECK(reason_of(scheduler, "plain 0", SELENE_REASON_QUARANTINED) != NULL);
    clock_now += 1;
    CHECK(reason_of(scheduler, "plain 0", SELENE_REASON_QUARANTINED) == NULL);
    CHECK(reason_of(scheduler, "culprit", SELENE_REASON_QUARANTINED) != NULL);
    CHECK_OK(selene_run_complete(take_next(cycle, "plain 0"), SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(30 * S, quarantined_for(scheduler, "plain 1", 2));
    /* After 5 min the process waits for it again. */
    clock_now += 300 * S;
    take_none(cycle, SELENE_STEP_WAIT);
    CHECK(reason_of(scheduler, "plain 1", SELENE_REASON_QUARANTINED) != NULL);
    CHECK_OK(selene_run_complete(hours, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(take_next(cycle, "culprit"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(take_next(cycle, "plain 1"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_store(scheduler);
}

/** Each that was quarantined has its turn in one window, also where the ranking of that is made once. */
static void test_frozen(void) {
    new_folder();
    selene_scheduler scheduler = open_with_two_suspects();
    observe(scheduler);
    CHECK_INT(2, events_of(SELENE_EVENT_INTERRUPTED));
    CHECK_INT(SELENE_SUSPICION_QUARANTINED, event_of(SELENE_EVENT_INTERRUPTED, "a")->detail);
    add_handler(scheduler, "work");
    selene_window window = lanes();
    window.flags = 0;
    const selene_cycle cycle = begin_window(scheduler, window);
    const selene_run first = take_next(cycle, "a");
    take_none(cycle, SELENE_STEP_WAIT);
    CHECK_OK(selene_run_complete(first, SELENE_OUTCOME_NEW_DATA));
    const selene_run second = take_next(cycle, "b");
    CHECK_OK(selene_run_complete(second, SELENE_OUTCOME_NEW_DATA));
    take_none(cycle, SELENE_STEP_DONE);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    close_store(scheduler);
}

/** One process becomes free for a task that is to blame, the others go on. */
static void test_survivors(void) {
    selene_cycle cycles[2] = {0, 0};
    selene_scheduler members[2];
    selene_run plain[2];
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    new_folder();
    selene_options options = store_options(path("store"));
    options.clock = NULL;
    selene_scheduler owner = open_with(options);
    add_dying(owner, "culprit");
    close_store(owner);
    CHECK_INT(DIED, in_child(die_alone));
    owner = open_with(options);
    serve(owner);
    CHECK_OK(selene_task_pause(owner, "culprit", -1, NULL));
    for (int i = 0; i < 4; i++) {
        char id[16];
        snprintf(id, sizeof id, "plain %d", i);
        add_dying(owner, id);
    }
    for (int i = 0; i < 2; i++) {
        members[i] = member_of(path("store"), "workers");
        CHECK_OK(offer(members[i], "work"));
        cycles[i] = begin_window(members[i], lanes());
        plain[i] = take_next(cycles[i], NULL);
    }
    CHECK_OK(selene_task_resume(owner, "culprit", -1, NULL));
    take_none(cycles[0], SELENE_STEP_WAIT);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(selene_cycle_next(cycles[1], &step, &run, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        CHECK(strncmp(run.id.data, "plain", 5) == 0);
        CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    }
    CHECK_OK(selene_run_complete(plain[0], SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(take_next(cycles[0], "culprit"), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(plain[1], SELENE_OUTCOME_NEW_DATA));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(selene_cycle_end(cycles[i], NULL));
        CHECK_OK(selene_scheduler_close(members[i], 0));
    }
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("V7 the neighbours of a task that ends its process succeed at their first attempt",
             test_store);
    run_test("V7 so do they in a served store with three workers", test_workers);
    run_test("V7 where the machine went down nobody is to blame", test_machine);
    run_test("V7 of the quarantined one runs at a time, beside plain work", test_beside);
    run_test(
        "V7 V8 a quarantined task whose process ends again has failed an attempt, and runs alone",
        test_again);
    run_test(
        "V7 V8 what ended its process alone is to blame, waits for nothing once, and runs alone",
        test_alone);
    run_test("V7 the blamed task runs once nothing else does, whatever ranks before it by then",
             test_outranked);
    run_test("V7 while a run takes hours only the blamed task waits for it", test_long);
    run_test("V7 each of the quarantined has its turn in one window", test_frozen);
    run_test("V7 one process becomes free for what is to blame, the others go on", test_survivors);
    tools_end();
    return check_end();
}
