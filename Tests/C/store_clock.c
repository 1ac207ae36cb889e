/*
 * store_clock.c - the wall clock jumps while a store is closed (P2)
 *
 * Each test is played twice: on a clock of the host's own, and on the system's, whose clock_gettime this program takes
 * the place of. A jump changes the wall clock alone; time that passes changes the boot-time clock too.
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_SEED, the seed of the random jumps (1).
 */
#include "store_tools.h"

#include <sys/syscall.h>

#define YEAR (365 * SELENE_DAY)

/* ---- the clocks ------------------------------------------------------------ */

static int on_host_clock;
static int64_t wall_offset, boot_offset;

static void add(struct timespec *time, int64_t offset) {
    int64_t sum = (int64_t)time->tv_sec * S + time->tv_nsec + offset;
    time->tv_sec = (time_t)(sum / S);
    time->tv_nsec = (long)(sum % S);
}

/** Takes the place of libc's, also for the library. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    long result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) add(time, wall_offset);
    if (result == 0 && clock == CLOCK_BOOTTIME) add(time, boot_offset);
    return (int)result;
}

static void jump(int64_t span) {
    clock_now += span;
    wall_offset += span;
}

static void pass(int64_t span) {
    clock_now += span;
    wall_offset += span;
    boot_offset += span;
}

/** What the system's clocks may go on by meanwhile. */
static int64_t tolerance(void) {
    return on_host_clock ? 0 : SELENE_MINUTE;
}

/* ---- the scheduler --------------------------------------------------------- */

static int moved_count;
static int64_t moved_by;

static void note_moved(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_CLOCK_MOVED) return;
    moved_count++;
    moved_by = event->time_at;
}

static selene_options options_now(void) {
    selene_options options = store_options(path("store"));
    if (!on_host_clock) options.clock = NULL;
    options.minimum_interval_processing = 2 * SELENE_HOUR;
    return options;
}

static selene_scheduler open_now(void) {
    selene_scheduler scheduler = open_with(options_now());
    moved_count = 0;
    moved_by = 0;
    CHECK_OK(selene_scheduler_observe(scheduler, note_moved, NULL, NULL));
    add_handler(scheduler, "work");
    return scheduler;
}

static int64_t now_of(selene_scheduler scheduler) {
    int64_t now = 0;
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    return now;
}

#define IDS 9

static const char *const ids[IDS] = {"standing.a", "standing.b", "standing.c",
                                     "delayed",    "periodic",   "anchored",
                                     "failing",    "flexible",   "fresh"};

/** Tasks whose instants lie before and after now, in many distances. */
static void register_all(selene_scheduler scheduler) {
    selene_window window = window_of(SELENE_KIND_REFRESH, SELENE_MINUTE);
    for (int i = 0; i < IDS; i++) {
        selene_task task = task_of(ids[i]);
        task.priority = 1 + i * 2 % 5;
        if (i == 3 || i == 6) task.schedule = SELENE_SCHEDULE_ONCE;
        if (i == 4 || i == 5 || i == 7) {
            task.schedule = SELENE_SCHEDULE_PERIODIC;
            task.period = (3 + i) * SELENE_HOUR;
        }
        if (i == 3) task.initial_delay = 2 * SELENE_HOUR + 30 * SELENE_MINUTE;
        if (i == 5) task.recurrence = SELENE_RECURRENCE_ANCHORED;
        if (i == 7) task.flex = SELENE_HOUR;
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        pass(7 * SELENE_MINUTE);
        if (i == 6) {
            window.task = (selene_text){ids[i], -1};
            selene_cycle cycle = 0;
            selene_run_info run = SELENE_INIT(selene_run_info);
            int32_t step;
            CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
            CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
            CHECK_OK(selene_run_retry(run.run, 5 * SELENE_HOUR));
            CHECK_OK(selene_cycle_end(cycle, NULL));
        }
        if (i == 1 || i == 5) {
            window.task = (selene_text){NULL, 0};
            pull(scheduler, window, all_new_data);
        }
    }
    window = window_of(SELENE_KIND_PROCESSING, SELENE_MINUTE);
    pull(scheduler, window, all_new_data);
    pass(11 * SELENE_MINUTE);
}

/** Where every task stands relative to now. */
struct standing {
    int64_t now;
    int64_t age[IDS];
    int64_t since_registered[IDS];
    int64_t remaining[IDS];
    int64_t since_anchor[IDS];
    char plan[1024];
};

static struct standing standing_of(selene_scheduler scheduler) {
    struct standing out = {0};
    selene_window window = window_of(ANY_KIND, SELENE_DAY);
    selene_plan *plan = NULL;
    out.now = now_of(scheduler);
    for (int i = 0; i < IDS; i++) {
        selene_task_info *info = NULL;
        CHECK_OK(selene_task_get(scheduler, ids[i], -1, 0, &info));
        out.age[i] = out.now - info->last_run;
        out.since_registered[i] = out.now - info->registered_at;
        out.remaining[i] = info->earliest_begin - out.now;
        out.since_anchor[i] = info->earliest_begin - info->anchor;
        selene_free(info);
    }
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    for (uint64_t i = 0; i < plan->run_count; i++) {
        strcat(out.plan, plan->runs[i].id.data);
        strcat(out.plan, " ");
    }
    selene_free(plan);
    return out;
}

static int sign(int64_t value) {
    return (value > 0) - (value < 0);
}

/** What P2 promises of a jump while closed. */
static void check_standing(const struct standing *before, const struct standing *after,
                           int64_t span) {
    int64_t slack = tolerance();
    int64_t forward = span > 0 ? span : 0;
    int64_t back = span < 0 ? -span : 0;
    for (int i = 0; i < IDS; i++) {
        /* Time does not go back, and goes on by no more than the clock did. */
        CHECK_BETWEEN(before->age[i], after->age[i], before->age[i] + forward + slack);
        CHECK_BETWEEN(before->since_registered[i], after->since_registered[i],
                      before->since_registered[i] + forward + slack);
        /* Nothing is delayed by more than the jump. */
        CHECK_BETWEEN(before->remaining[i] - forward - slack, after->remaining[i],
                      before->remaining[i] + back + slack);
        /* A grid moves with what stands on it. */
        CHECK_INT(before->since_anchor[i], after->since_anchor[i]);
        /* What came before comes before. */
        for (int k = 0; k < i; k++) {
            CHECK_INT(sign(before->age[i] - before->age[k]), sign(after->age[i] - after->age[k]));
            CHECK_INT(sign(before->remaining[i] - before->remaining[k]),
                      sign(after->remaining[i] - after->remaining[k]));
        }
    }
    if (span <= 0) CHECK_STRING(before->plan, after->plan);
}

static void play_jump(int64_t span) {
    selene_scheduler scheduler;
    struct standing before, after;
    selene_window processing = window_of(SELENE_KIND_PROCESSING, SELENE_MINUTE);
    selene_cycle cycle = 0;
    int64_t now, at = 0;
    clock_now = 50 * YEAR;
    new_folder();
    scheduler = open_now();
    register_all(scheduler);
    before = standing_of(scheduler);
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(scheduler, &processing, &cycle));
    close_store(scheduler);

    jump(span);
    scheduler = open_now();
    after = standing_of(scheduler);
    check_standing(&before, &after, span);
    if (span < -SELENE_DAY) {
        CHECK_INT(1, moved_count);
        CHECK_BETWEEN(span, moved_by, span + tolerance());
        CHECK_BETWEEN(before.now + span, after.now, before.now + span + tolerance());
    } else {
        CHECK_INT(0, moved_count);
        CHECK(after.now >= before.now);
    }

    /* Time goes on at its pace. */
    now = now_of(scheduler);
    pass(3 * SELENE_MINUTE);
    CHECK_BETWEEN(now + 3 * SELENE_MINUTE, now_of(scheduler),
                  now + 3 * SELENE_MINUTE + tolerance());
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK(at >= now + 3 * SELENE_MINUTE);
    CHECK(at <= now_of(scheduler) + 15 * SELENE_MINUTE);

    /* A pace is not stretched. */
    pass(2 * SELENE_HOUR - 14 * SELENE_MINUTE);
    CHECK_OK(selene_cycle_begin(scheduler, &processing, &cycle));
    CHECK_OK(selene_cycle_end(cycle, NULL));

    /* What was to come in less than 12 h is there in 12 h. */
    pass(10 * SELENE_HOUR);
    for (int i = 0; i < IDS; i++) {
        struct standing then = standing_of(scheduler);
        CHECK(then.remaining[i] <= 0);
    }
    close_store(scheduler);
    scheduler = open_now();
    CHECK_INT(0, moved_count);
    close_store(scheduler);
}

static void play_both(void (*play)(int64_t), int64_t argument) {
    for (on_host_clock = 0; on_host_clock <= 1; on_host_clock++)
        play(argument);
}

static void test_hour_forward(void) {
    play_both(play_jump, SELENE_HOUR);
}

static void test_hour_back(void) {
    play_both(play_jump, -SELENE_HOUR);
}

static void test_day_back(void) {
    play_both(play_jump, -SELENE_DAY + SELENE_MINUTE);
    play_both(play_jump, -SELENE_DAY - SELENE_MINUTE);
}

static void test_years_forward(void) {
    play_both(play_jump, 10 * YEAR);
}

static void test_years_back(void) {
    play_both(play_jump, -10 * YEAR);
}

static void test_no_jump(void) {
    play_both(play_jump, 0);
    play_both(play_jump, S);
    play_both(play_jump, -S);
}

/* ---- there and back --------------------------------------------------------- */

/** Opened once in the wrong decade, then in the right one again. */
static void play_there_and_back(int64_t span) {
    selene_scheduler scheduler;
    struct standing before, between, after;
    clock_now = 50 * YEAR;
    new_folder();
    scheduler = open_now();
    register_all(scheduler);
    before = standing_of(scheduler);
    close_store(scheduler);
    jump(span);
    scheduler = open_now();
    between = standing_of(scheduler);
    check_standing(&before, &between, span);
    close_store(scheduler);
    jump(-span);
    scheduler = open_now();
    after = standing_of(scheduler);
    check_standing(&between, &after, -span);
    CHECK_INT(span > SELENE_DAY, moved_count);
    close_store(scheduler);
}

static void test_there_and_back(void) {
    play_both(play_there_and_back, 10 * YEAR);
    play_both(play_there_and_back, -10 * YEAR);
    play_both(play_there_and_back, SELENE_HOUR);
    play_both(play_there_and_back, -SELENE_HOUR);
}

static void play_random_jumps(int64_t seed) {
    static const int64_t spans[] = {S, SELENE_MINUTE, SELENE_HOUR, SELENE_DAY, YEAR};
    uint64_t random = (uint64_t)seed;
    selene_scheduler scheduler;
    struct standing before, after;
    clock_now = 100 * YEAR;
    new_folder();
    scheduler = open_now();
    register_all(scheduler);
    for (int i = 0; i < 60; i++) {
        int64_t span = (int64_t)chance_below(&random, 7) - 3;
        span *= spans[chance_below(&random, 5)];
        before = standing_of(scheduler);
        close_store(scheduler);
        jump(span);
        scheduler = open_now();
        after = standing_of(scheduler);
        check_standing(&before, &after, span);
        CHECK(moved_count <= 1);
        if (chance_below(&random, 3) == 0)
            pass((int64_t)chance_below(&random, 100) * SELENE_MINUTE);
    }
    close_store(scheduler);
}

static void test_random_jumps(void) {
    play_both(play_random_jumps, check_environment("SELENE_TEST_SEED", 1));
}

/* ---- exactly ----------------------------------------------------------------- */

/** On the host's clock the limit is exact. */
static void test_limit(void) {
    on_host_clock = 1;
    for (int64_t more = -1; more <= 1; more++) {
        selene_scheduler scheduler;
        selene_task task = task_of("one");
        int64_t seen;
        clock_now = 50 * YEAR;
        new_folder();
        scheduler = open_now();
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        pass(SELENE_MINUTE);
        seen = now_of(scheduler);
        close_store(scheduler);
        jump(-SELENE_DAY - more);
        scheduler = open_now();
        CHECK_INT(more > 0, moved_count);
        if (more > 0) CHECK_INT(-SELENE_DAY - more, moved_by);
        CHECK_INT(more > 0 ? seen - SELENE_DAY - more : seen, now_of(scheduler));
        close_store(scheduler);
    }
}

/* ---- a process that was killed ------------------------------------------------ */

enum {
    REGISTER,
    UPDATE,
    CANCEL,
    BEGIN,
    COMPLETE,
    NEXT,
    PAUSE,
    PAUSE_TAG,
    RESUME,
    PAUSE_GROUP,
    LIMIT_GROUP,
    PAUSE_KIND,
    DEFINE,
    SWITCH,
    RESET,
    ACTS
};

static int act;

/** Does one thing an hour after the first, and is gone. */
static void act_and_die(void) {
    selene_scheduler scheduler = open_now();
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_task task = task_of("one");
    const selene_text tag = SELENE_TEXT("red");
    selene_cycle cycle = 0;
    int64_t due = now_of(scheduler) + SELENE_DAY;
    task.tags = &tag;
    task.tag_count = 1;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task = task_of("two");
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    if (act == RESUME) CHECK_OK(selene_task_pause(scheduler, "two", -1, NULL));
    pass(SELENE_HOUR);
    task = task_of(act == UPDATE ? "one" : "three");
    if (act == UPDATE) task.existing = SELENE_EXISTING_UPDATE;
    if (act == REGISTER || act == UPDATE) CHECK_OK(selene_task_register(scheduler, &task, NULL));
    if (act == CANCEL) CHECK_OK(selene_task_cancel(scheduler, "one", -1, NULL));
    if (act == NEXT) CHECK_OK(selene_task_set_next(scheduler, "one", -1, due));
    if (act == PAUSE) CHECK_OK(selene_task_pause(scheduler, "one", -1, NULL));
    if (act == PAUSE_TAG) CHECK_OK(selene_task_pause_tag(scheduler, "red", -1, NULL));
    if (act == RESUME) CHECK_OK(selene_task_resume(scheduler, "two", -1, NULL));
    if (act == PAUSE_GROUP) CHECK_OK(selene_group_pause(scheduler, "disk", -1));
    if (act == LIMIT_GROUP) CHECK_OK(selene_group_set_limit(scheduler, "disk", -1, 2));
    if (act == PAUSE_KIND)
        CHECK_OK(selene_scheduler_pause(scheduler, ANY_KIND, NULL, 0, SELENE_NEVER));
    if (act == DEFINE) CHECK_OK(selene_condition_define(scheduler, "signed in", -1));
    if (act == SWITCH)
        CHECK_OK(selene_signal_set(scheduler, SELENE_SIGNAL_BACKGROUND_SWITCH, 0, 0));
    if (act == BEGIN) CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    if (act == COMPLETE) CHECK_INT(2, pull(scheduler, window, all_new_data));
    if (act == RESET) CHECK_OK(selene_scheduler_reset(scheduler));
    die();
}

static void play_killed(int64_t which) {
    selene_scheduler scheduler;
    int64_t start;
    act = (int)which;
    clock_now = 50 * YEAR;
    wall_offset = boot_offset = 0;
    new_folder();
    scheduler = open_now();
    start = now_of(scheduler);
    close_store(scheduler);
    CHECK_INT(KILLED, in_child(act_and_die));
    /* Here no time has passed. */
    scheduler = open_now();
    if (now_of(scheduler) < start + SELENE_HOUR) {
        fprintf(stderr, "act %d: time went back\n", act);
        check_fail();
    }
    close_store(scheduler);
}

static void test_killed(void) {
    for (int which = 0; which < ACTS; which++)
        play_both(play_killed, which);
}

/* ---- the ends of time ----------------------------------------------------------- */

static void test_extremes(void) {
    static const int64_t instants[] = {INT64_MAX, 0, INT64_MAX - 1, -1, INT64_MIN, 50 * YEAR,
                                       INT64_MIN, 1, INT64_MAX};
    on_host_clock = 1;
    clock_now = 50 * YEAR;
    new_folder();
    for (size_t i = 0; i < sizeof instants / sizeof instants[0]; i++) {
        selene_scheduler scheduler;
        selene_options options;
        clock_now = instants[i];
        options = options_now();
        CHECK_OK(selene_scheduler_open(&options, &scheduler));
        add_handler(scheduler, "work");
        for (int k = 0; k < IDS; k++) {
            selene_task task = task_of(ids[k]);
            task.schedule = k % 3;
            task.initial_delay = k * SELENE_DAY;
            if (task.schedule == SELENE_SCHEDULE_PERIODIC) task.period = 3650 * SELENE_DAY;
            task.existing = SELENE_EXISTING_REPLACE;
            CHECK_OK(selene_task_register(scheduler, &task, NULL));
        }
        free(dump_all(scheduler));
        close_store(scheduler);
        CHECK_OK(selene_store_check(path("store"), -1, NULL));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("P2 a restart without a jump changes nothing", test_no_jump);
    run_test("P2 an hour forward makes things due, in their order", test_hour_forward);
    run_test("P2 an hour back delays nothing by more, and nothing goes back", test_hour_back);
    run_test("P2 a day back, a little less and a little more", test_day_back);
    run_test("P2 ten years forward keep the order", test_years_forward);
    run_test("P2 ten years back move what is stored, and say so", test_years_back);
    run_test("P2 opened once in the wrong decade", test_there_and_back);
    run_test("P2 many jumps in a row", test_random_jumps);
    run_test("P2 more than 24 h is a mistake, 24 h is not", test_limit);
    run_test("P2 what a killed process did lies not in the future", test_killed);
    run_test("P2 the ends of time are survived", test_extremes);
    tools_end();
    return check_end();
}
