/*
 * conditions.c - conditions that a host names, and that tasks ask for (W2)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "own_file.h"

#include <poll.h>

static selene_text asked[2][32];

/** A task of the handler "work" that asks for one condition, or for two. */
static selene_task needing(const char *id, const char *first, const char *second) {
    static int turn;
    selene_text *names = asked[turn ^= 1];
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    names[0] = (selene_text){first, -1};
    if (second) names[1] = (selene_text){second, -1};
    task.conditions = names;
    task.condition_count = second ? 2 : 1;
    return task;
}

static void set(selene_scheduler scheduler, const char *name, int32_t satisfied) {
    CHECK_OK(selene_condition_define(scheduler, name, -1));
    CHECK_OK(selene_condition_set(scheduler, name, -1, satisfied));
}

/** A SELENE_CONDITION_ number, or −1 for what nobody knows. */
static int32_t state(selene_scheduler scheduler, const char *name) {
    int32_t state = -1;
    selene_status status = selene_condition_get(scheduler, name, -1, &state);
    CHECK(status == SELENE_OK || status == SELENE_ERROR_NOT_FOUND);
    return state;
}

static const char *names(selene_scheduler scheduler) {
    selene_task_ids *list = NULL;
    CHECK_OK(selene_condition_list(scheduler, &list));
    return joined(list);
}

static const char *missing(selene_scheduler scheduler, const char *id) {
    selene_task_ids *list = NULL;
    CHECK_OK(selene_condition_missing(scheduler, id, -1, &list));
    return joined(list);
}

static int waits(selene_scheduler scheduler, const char *id) {
    return why(scheduler, id, SELENE_REASON_CONDITIONS).reason != 0;
}

static int is_stopped(selene_run run) {
    int32_t reason = 0;
    (void)selene_run_stopping(run, &reason);
    return reason == SELENE_STOP_CONSTRAINT_LOST;
}

static void test_names(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    CHECK_STRING("", names(scheduler));
    CHECK_INT(-1, state(scheduler, "vpn"));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_condition_set(scheduler, "vpn", -1, 1));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_condition_undefine(scheduler, "vpn", -1));
    CHECK_OK(selene_condition_define(scheduler, "vpn", -1));
    CHECK_INT(SELENE_CONDITION_UNSATISFIED, state(scheduler, "vpn"));
    CHECK_OK(selene_condition_set(scheduler, "vpn", -1, 7));
    CHECK_INT(SELENE_CONDITION_SATISFIED, state(scheduler, "vpn"));
    CHECK_OK(selene_condition_define(scheduler, "vpn", -1));
    CHECK_INT(SELENE_CONDITION_SATISFIED, state(scheduler, "vpn"));
    add(scheduler, needing("a", "signed-in", "vpn"));
    CHECK_INT(SELENE_CONDITION_UNDEFINED, state(scheduler, "signed-in"));
    CHECK_STRING("signed-in vpn ", names(scheduler));
    CHECK_STRING("signed-in ", missing(scheduler, "a"));
    /* What is taken back is neither defined nor satisfied, and known while a task asks for it. */
    CHECK_OK(selene_condition_undefine(scheduler, "vpn", -1));
    CHECK_INT(SELENE_CONDITION_UNDEFINED, state(scheduler, "vpn"));
    CHECK_OK(selene_condition_define(scheduler, "vpn", -1));
    CHECK_INT(SELENE_CONDITION_UNSATISFIED, state(scheduler, "vpn"));
    CHECK_OK(selene_condition_undefine(scheduler, "vpn", -1));
    selene_task_info info = record(scheduler, "a");
    CHECK_INT(2, info.condition_count);
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    CHECK_OK(selene_scheduler_prune(scheduler, NULL));
    CHECK_STRING("", names(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Both are needed; who asks for none does not wait. */
static void test_wait(void) {
    for (int rolls = 0; rolls < 2; rolls++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_window window = window_of(30 * S, 0, 1);
        window.flags = rolls ? 0 : SELENE_WINDOW_FROZEN;
        selene_task plain = needing("plain", "", NULL);
        plain.condition_count = 0;
        add(scheduler, needing("both", "vpn", "signed-in"));
        CHECK_INT(SELENE_NEVER, wakeup(scheduler));
        add(scheduler, plain);
        CHECK(wakeup(scheduler) <= clock_now);
        advance(S);
        CHECK(waits(scheduler, "both") && !waits(scheduler, "plain"));
        CHECK_STRING("signed-in vpn ", missing(scheduler, "both"));
        CHECK_STRING("", missing(scheduler, "plain"));
        set(scheduler, "vpn", 1);
        CHECK_STRING("signed-in ", missing(scheduler, "both"));
        selene_window alone = window;
        selene_cycle cycle = 0;
        alone.task = SELENE_TEXT("both");
        CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
                     selene_cycle_begin(scheduler, &alone, &cycle));
        cycle = begin(scheduler, window);
        complete(next(cycle, "plain"));
        CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
        set(scheduler, "signed-in", 1);
        CHECK(!waits(scheduler, "both"));
        /* In a window that rolls at once, else from the next on. */
        if (!rolls) {
            CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
            CHECK_OK(selene_cycle_end(cycle, NULL));
            cycle = begin(scheduler, window);
        }
        complete(next(cycle, "both"));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** A run that loses one is stopped and its task waits as before the run; others go on. */
static void test_lost(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    observe(scheduler);
    set(scheduler, "vpn", 1);
    set(scheduler, "disk", 1);
    add(scheduler, needing("a", "vpn", NULL));
    add(scheduler, needing("b", "disk", "vpn"));
    add(scheduler, needing("c", "disk", NULL));
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 3));
    selene_run a = next(cycle, "a"), b = next(cycle, "b"), c = next(cycle, "c");
    CHECK_OK(selene_condition_set(scheduler, "vpn", -1, 0));
    CHECK(is_stopped(a) && is_stopped(b) && !is_stopped(c));
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "a").state);
    CHECK_INT(SELENE_STOP_CONSTRAINT_LOST, record(scheduler, "b").stop_reason);
    CHECK_INT(0, record(scheduler, "b").attempts);
    CHECK_STRING("vpn ", missing(scheduler, "b"));
    wait_for_events(0, SELENE_EVENT_STOPPED, SELENE_STOP_CONSTRAINT_LOST, 2);
    wait_for_events(0, SELENE_EVENT_CONDITION_LOST, 0, 1);
    CHECK_INT(2, count_events(0, SELENE_EVENT_CONDITION_MET, 0));
    CHECK_OK(selene_condition_undefine(scheduler, "disk", -1));
    CHECK(is_stopped(c));
    wait_for_events(0, SELENE_EVENT_CONDITION_LOST, 0, 2);
    /* Again the same, and one that is not: nothing to tell. */
    CHECK_OK(selene_condition_set(scheduler, "vpn", -1, 0));
    CHECK_OK(selene_condition_define(scheduler, "disk", -1));
    CHECK_OK(selene_condition_undefine(scheduler, "disk", -1));
    CHECK_INT(2, count_events(0, SELENE_EVENT_CONDITION_LOST, 0));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** 32 names have room, whoever names them; what nobody needs gives its place up. */
static void test_most(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    char texts[40][8], id[8];
    for (int i = 0; i < 40; i++)
        snprintf(texts[i], sizeof texts[i], "c%02d", i);
    for (int i = 0; i < 20; i++)
        CHECK_OK(selene_condition_define(scheduler, texts[i], -1));
    for (int i = 20; i < 32; i++) {
        snprintf(id, sizeof id, "t%d", i);
        add(scheduler, needing(id, texts[i], texts[0]));
    }
    selene_task task = needing("one more", texts[3], texts[32]);
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED, selene_task_register(scheduler, &task, NULL));
    CHECK_STRING(
        "conditions: \"c32\" would be the 33rd condition; 32 can be defined or asked for by "
        "tasks",
        selene_error_last()->message.data);
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED, selene_condition_define(scheduler, texts[32], -1));
    CHECK_INT(-1, state(scheduler, texts[32]));
    /* One that a task gives up: its number goes on to another name, and what was set of it does not. */
    set(scheduler, texts[31], 1);
    CHECK_OK(selene_condition_undefine(scheduler, texts[31], -1));
    CHECK_OK(selene_task_cancel(scheduler, "t31", -1, NULL));
    CHECK_OK(selene_scheduler_prune(scheduler, NULL));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_STRING("c03 c32 ", missing(scheduler, "one more"));
    CHECK_INT(-1, state(scheduler, texts[31]));
    set(scheduler, texts[32], 1);
    set(scheduler, texts[3], 1);
    CHECK_STRING("", missing(scheduler, "one more"));
    CHECK_STRING("c00 c20 ", missing(scheduler, "t20"));
    /* All 32 in one task, and an update that asks for others. */
    task = needing("t20", texts[0], NULL);
    selene_text all[32];
    for (int i = 0; i < 32; i++)
        all[i] = (selene_text){texts[i == 31 ? 32 : i], -1};
    task.conditions = all;
    task.condition_count = 32;
    task.existing = SELENE_EXISTING_UPDATE;
    CHECK_INT(SELENE_DISPOSITION_UPDATED, add(scheduler, task));
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, "t20", -1, 0, &info));
    CHECK_INT(32, info->condition_count);
    selene_free(info);
    task.condition_count = 33;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** One that is near its latest begin, or expedited, has no rank while a condition is missing. */
static void test_rank(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = needing("a", "vpn", NULL);
    task.latest_begin = 10 * S;
    add(scheduler, task);
    task.id = SELENE_TEXT("b");
    task.condition_count = 0;
    add(scheduler, task);
    task.id = SELENE_TEXT("c");
    task.latest_begin = 0;
    task.flags = SELENE_TASK_EXPEDITED;
    add(scheduler, task);
    task.id = SELENE_TEXT("d");
    task.condition_count = 1;
    add(scheduler, task);
    advance(9500 * MS);
    CHECK_INT(0, explain(scheduler, "a").rank);
    CHECK_INT(1, explain(scheduler, "b").rank);
    CHECK_INT(2, explain(scheduler, "c").rank);
    CHECK_INT(0, explain(scheduler, "d").rank);
    set(scheduler, "vpn", 1);
    CHECK_INT(1, explain(scheduler, "a").rank);
    CHECK_INT(2, explain(scheduler, "b").rank);
    CHECK_INT(4, explain(scheduler, "d").rank);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Names are kept, values are not; a store of before has none and gets them. */
static void test_kept(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    set(scheduler, "vpn", 1);
    set(scheduler, "disk", 1);
    CHECK_OK(selene_condition_undefine(scheduler, "disk", -1));
    add(scheduler, needing("a", "vpn", "signed-in"));
    add(scheduler, needing("b", "vpn", NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    CHECK_STRING("signed-in vpn ", names(scheduler));
    CHECK_INT(SELENE_CONDITION_UNSATISFIED, state(scheduler, "vpn"));
    CHECK_INT(SELENE_CONDITION_UNDEFINED, state(scheduler, "signed-in"));
    CHECK_STRING("signed-in vpn ", missing(scheduler, "a"));
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK_INT(2, info->condition_count);
    CHECK_TEXT("signed-in", info->conditions[0]);
    CHECK_TEXT("vpn", info->conditions[1]);
    selene_free(info);
    set(scheduler, "vpn", 1);
    selene_cycle cycle = begin(scheduler, window_of(S, 0, 1));
    complete(next(cycle, "b"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK_STRING("vpn ", names(scheduler));
    CHECK_INT(SELENE_CONDITION_SATISFIED, state(scheduler, "vpn"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    CHECK_STRING("vpn ", names(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

/** A driver opens no window for tasks whose conditions are missing, and one as soon as they are there. */
static void test_driver(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver terms = SELENE_INIT(selene_driver);
    struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler;
    options.max_pending_refresh = SELENE_UNLIMITED;
    scheduler = open_told_with(options);
    add_handler(scheduler, "work", &work);
    add(scheduler, needing("a", "vpn", NULL));
    terms.flags = SELENE_DRIVER_UNGOVERNED;
    CHECK_OK(selene_driver_start(scheduler, &terms));
    reach(scheduler, START + H);
    CHECK_INT(0, atomic_load(&work.started));
    set(scheduler, "vpn", 1);
    REACH_UNTIL(scheduler, atomic_load(&work.started) == 1);
    CHECK_BETWEEN(START + H, present(scheduler), START + H + S);
    CHECK_OK(selene_driver_stop(scheduler, GRACE));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A descriptor of a window that rolls is readable as a condition is met. */
static void test_descriptor(void) {
    selene_scheduler scheduler = 0;
    selene_window window = window_of(AMPLE, 0, 2);
    selene_options options = SELENE_INIT(selene_options);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_lane lanes[2] = {0};
    int32_t step = -1;
    int fd = -1;
    options.max_pending_refresh = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    set(scheduler, "disk", 1);
    add(scheduler, needing("a", "disk", NULL));
    add(scheduler, needing("b", "disk", "vpn"));
    window.flags = SELENE_WINDOW_LANES;
    selene_cycle cycle = begin(scheduler, window);
    CHECK_OK(selene_cycle_descriptor(cycle, &fd));
    CHECK_OK(selene_lane_open(cycle, &lanes[0]));
    CHECK_OK(selene_lane_next(lanes[0], SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_lane_open(cycle, &lanes[1]));
    CHECK_OK(selene_lane_next(lanes[1], SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_WAIT, step);
    struct pollfd poll_one = {.fd = fd, .events = POLLIN};
    CHECK_INT(0, poll(&poll_one, 1, 0));
    set(scheduler, "vpn", 1);
    CHECK_INT(1, poll(&poll_one, 1, 0));
    CHECK_OK(selene_lane_next(lanes[1], SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_TEXT("b", info.id);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int count, char **arguments) {
    check_begin(count, arguments);
    run_test("W2 a condition is known while it is defined or asked for", test_names);
    run_test("W2 a task waits for all that it asks for", test_wait);
    run_test("W2 C8 a run that loses a condition is stopped", test_lost);
    run_test("W2 a scheduler has 32 conditions", test_most);
    run_test("W2 C15 what waits for a condition has no rank, however urgent", test_rank);
    run_test("W2 D1 a store keeps names, not values", test_kept);
    run_test("W2 a driver waits for a condition", test_driver);
    run_test("W2 a descriptor is readable when a condition is met", test_descriptor);
    return check_end();
}
