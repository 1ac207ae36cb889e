/*
 * groups.c - tasks that share a limit of runs at a time, and are paused together (W3)
 *
 * Argument: the filter of check.h.
 */
#include "told.h"

#include "own_file.h"

#include <poll.h>

static selene_task work_in(const char *group, const char *id) {
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    task.group = (selene_text){group, -1};
    return task;
}

static void limit(selene_scheduler scheduler, const char *group, uint32_t runs) {
    CHECK_OK(selene_group_set_limit(scheduler, group, -1, runs));
}

/** What is known of a group; it must be known. */
static selene_group_info group_of(selene_scheduler scheduler, const char *name) {
    selene_group_info info = SELENE_INIT(selene_group_info);
    CHECK_OK(selene_group_get(scheduler, name, -1, &info));
    return info;
}

static void check_group(selene_scheduler scheduler, const char *name, uint64_t running,
                        uint64_t waiting) {
    selene_group_info info = group_of(scheduler, name);
    CHECK_INT(running, info.running);
    CHECK_INT(waiting, info.waiting);
}

static int is_unknown(selene_scheduler scheduler, const char *name) {
    selene_group_info info = SELENE_INIT(selene_group_info);
    return selene_group_get(scheduler, name, -1, &info) == SELENE_ERROR_NOT_FOUND;
}

/** The names of all groups, with a blank behind each. */
static const char *names(selene_scheduler scheduler) {
    selene_task_ids *list = NULL;
    CHECK_OK(selene_group_list(scheduler, &list));
    return joined(list);
}

static int is_full(selene_scheduler scheduler, const char *id) {
    return why(scheduler, id, SELENE_REASON_GROUP_FULL).reason != 0;
}

static void test_limit(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task other = work_in("", "other");
    other.priority = SELENE_PRIORITY_VERY_LOW;
    limit(scheduler, "up", 2);
    for (int i = 0; i < 4; i++)
        add(scheduler, work_in("up", i == 0 ? "a" : i == 1 ? "b" : i == 2 ? "c" : "d"));
    advance(S);
    add(scheduler, other);
    advance(S);
    check_group(scheduler, "up", 0, 4);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 4));
    selene_run a = next(cycle, "a"), b = next(cycle, "b");
    /* c and d are passed over, without holding a lane. */
    selene_run run = next(cycle, "other");
    check_group(scheduler, "up", 2, 2);
    CHECK_INT(2, group_of(scheduler, "up").limit);
    CHECK(is_full(scheduler, "c") && is_full(scheduler, "d"));
    CHECK(!is_full(scheduler, "a"));
    complete(run);
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    /* One that ends makes room for one. */
    complete(b);
    CHECK(!is_full(scheduler, "c"));
    run = next(cycle, "c");
    CHECK(is_full(scheduler, "d"));
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    complete(a);
    complete(next(cycle, "d"));
    complete(run);
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(5, report->run_count);
    CHECK_INT(5, report->eligible);
    CHECK_INT(0, report->did_not_fit);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Pausing lets what runs go on, begins nothing, and what it left is taken as soon as it is resumed. */
static void test_pause(void) {
    for (int rolls = 0; rolls < 2; rolls++) {
        selene_scheduler scheduler = open_for_work(NULL);
        selene_window window = window_of(30 * S, 0, 2);
        window.flags = rolls ? 0 : SELENE_WINDOW_FROZEN;
        add(scheduler, work_in("up", "a"));
        add(scheduler, work_in("up", "b"));
        selene_cycle cycle = begin(scheduler, window);
        selene_run run = next(cycle, "a");
        int32_t reason = -1;
        CHECK_OK(selene_group_pause(scheduler, "up", -1));
        CHECK_OK(selene_group_pause(scheduler, "up", -1));
        CHECK_OK(selene_run_stopping(run, &reason));
        CHECK_INT(SELENE_STOP_NONE, reason);
        CHECK_INT(1, group_of(scheduler, "up").paused);
        CHECK_INT(0, record(scheduler, "b").paused);
        CHECK(why(scheduler, "b", SELENE_REASON_GROUP_PAUSED).reason != 0);
        CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
        /* What is registered later, too. */
        add(scheduler, work_in("up", "c"));
        CHECK(why(scheduler, "c", SELENE_REASON_GROUP_PAUSED).reason != 0);
        CHECK_OK(selene_group_resume(scheduler, "up", -1));
        CHECK(!why(scheduler, "b", SELENE_REASON_GROUP_PAUSED).reason);
        complete(next(cycle, "b"));
        complete(run);
        if (rolls) complete(next(cycle, "c"));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        if (!rolls) CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_NEW_DATA));
        CHECK(is_unknown(scheduler, "up"));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** A group whose tasks are paused alone ends a window, and asks for none. */
static void test_nothing_now(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_cycle cycle, other;
    selene_window processing = window_of(60 * S, 0, 1);
    selene_task long_work = work_in("up", "p");
    processing.kinds = SELENE_KIND_PROCESSING;
    long_work.kind = SELENE_KIND_PROCESSING;
    add(scheduler, work_in("up", "a"));
    CHECK(wakeup(scheduler) != SELENE_NEVER);
    CHECK_OK(selene_group_pause(scheduler, "up", -1));
    CHECK_INT(SELENE_NEVER, wakeup(scheduler));
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_group_resume(scheduler, "up", -1));
    CHECK(wakeup(scheduler) != SELENE_NEVER);
    /* Nor one whose room a run of another kind has; its window waits for that one. */
    limit(scheduler, "up", 1);
    add(scheduler, long_work);
    other = begin(scheduler, processing);
    selene_run run = next(other, "p");
    CHECK_INT(SELENE_NEVER, wakeup(scheduler));
    cycle = begin(scheduler, window_of(30 * S, 0, 1));
    int64_t at = 0;
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, &at));
    CHECK(at > atomic_load(&clock_now));
    complete(run);
    complete(next(cycle, "a"));
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_end(other, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_numbers(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_cycle cycle;
    limit(scheduler, "up", 3);
    for (int i = 0; i < 4; i++)
        add(scheduler, work_in("up", i == 0 ? "a" : i == 1 ? "b" : i == 2 ? "c" : "d"));
    cycle = begin(scheduler, window_of(30 * S, 0, 8));
    selene_run a = next(cycle, "a"), b = next(cycle, "b");
    /* Less than run: those go on, nothing begins until there is room. */
    limit(scheduler, "up", 1);
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    complete(a);
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    /* More: at once. */
    limit(scheduler, "up", 2);
    selene_run c = next(cycle, "c");
    CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
    /* None. */
    limit(scheduler, "up", 0);
    selene_run d = next(cycle, "d");
    complete(b), complete(c), complete(d);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK(is_unknown(scheduler, "up"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A run counts until it has come back, as its id stays taken until then (C4). */
static void test_back(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    limit(scheduler, "up", 1);
    add(scheduler, work_in("up", "a"));
    add(scheduler, work_in("up", "b"));
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 2));
    selene_run run = next(cycle, "a");
    CHECK_OK(selene_task_cancel(scheduler, "a", -1, NULL));
    check_group(scheduler, "up", 1, 1);
    /* Nothing is at work that the window could wait for. */
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
    check_group(scheduler, "up", 0, 1);
    complete(next(cycle, "b"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_definitions(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_task task = work_in("up", "a");
    selene_task_info *info = NULL;
    char longest[257];
    add(scheduler, task);
    CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK_TEXT("up", info->group);
    selene_free(info);
    CHECK_STRING("up ", names(scheduler));
    /* An update may move it, and take it out; a run counts for the group that it began in. */
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 1));
    selene_run run = next(cycle, "a");
    task.existing = SELENE_EXISTING_UPDATE;
    task.group = SELENE_TEXT("down");
    add(scheduler, task);
    check_group(scheduler, "up", 1, 0);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_FAILED));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK(is_unknown(scheduler, "up"));
    check_group(scheduler, "down", 0, 1);
    task.group = (selene_text){NULL, 0};
    add(scheduler, task);
    CHECK_STRING("", names(scheduler));
    CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK_TEXT("", info->group);
    selene_free(info);
    /* A name is one as an id is. */
    memset(longest, 'x', 256);
    longest[256] = 0;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_group_set_limit(scheduler, longest, -1, 1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_group_pause(scheduler, "", -1));
    task.group = (selene_text){longest, -1};
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(scheduler, &task, NULL));
    task.group = (selene_text){longest, 255};
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Alone (C14) it is as ineligible as in a window, and a plan keeps to the limit. */
static void test_alone_and_plan(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    selene_window one = window_of(30 * S, 0, 1), window = window_of(60 * S, 0, 3);
    selene_cycle cycle = 0;
    selene_plan *plan = NULL;
    selene_task task;
    limit(scheduler, "up", 1);
    for (int i = 0; i < 3; i++) {
        task = work_in(i < 2 ? "up" : "", i == 0 ? "a" : i == 1 ? "b" : "c");
        task.expected_response = (i + 1) * S;
        add(scheduler, task);
    }
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK_INT(3, plan->run_count);
    int64_t started = plan->runs[0].starts_at;
    CHECK_TEXT("a", plan->runs[0].id);
    CHECK_TEXT("c", plan->runs[1].id);
    CHECK_INT(started, plan->runs[1].starts_at);
    CHECK_TEXT("b", plan->runs[2].id);
    CHECK_INT(started + S, plan->runs[2].starts_at);
    selene_free(plan);
    check_group(scheduler, "up", 0, 2);
    selene_cycle open = begin(scheduler, window);
    selene_run run = next(open, "a");
    one.task = SELENE_TEXT("b");
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
                 selene_cycle_begin(scheduler, &one, &cycle));
    CHECK_STRING("task: \"b\" cannot run now: group_full", selene_error_last()->message.data);
    complete(run);
    cycle = begin(scheduler, one);
    complete(next(cycle, "b"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    complete(next(open, "c"));
    CHECK_OK(selene_cycle_end(open, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_kept(void) {
    new_file();
    selene_scheduler scheduler = open_for_work(file);
    limit(scheduler, "up", 1);
    limit(scheduler, "gone", 7);
    limit(scheduler, "down", 4);
    CHECK_OK(selene_group_pause(scheduler, "down", -1));
    limit(scheduler, "gone", 0);
    limit(scheduler, "up", 2);
    for (int i = 0; i < 3; i++)
        add(scheduler, work_in("up", i == 0 ? "a" : i == 1 ? "b" : "c"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    for (int life = 0; life < 2; life++) {
        scheduler = open_for_work(file);
        CHECK_STRING("down up ", names(scheduler));
        CHECK_INT(2, group_of(scheduler, "up").limit);
        CHECK_INT(4, group_of(scheduler, "down").limit);
        CHECK_INT(1, group_of(scheduler, "down").paused);
        check_group(scheduler, "up", 0, 3);
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
    scheduler = open_for_work(file);
    selene_cycle cycle = begin(scheduler, window_of(30 * S, 0, 3));
    selene_run run = next(cycle, "a");
    complete(next(cycle, "b"));
    next(cycle, "c");
    /* Those that ran when the process ended have gone with it. */
    (void)run;
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_for_work(file);
    check_group(scheduler, "up", 0, 2);
    /* A reset takes the tasks, and leaves what the host set. */
    CHECK_OK(selene_scheduler_reset(scheduler));
    CHECK_STRING("down up ", names(scheduler));
    check_group(scheduler, "up", 0, 0);
    CHECK_OK(selene_group_resume(scheduler, "down", -1));
    limit(scheduler, "down", 0);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    CHECK_OK(selene_store_check(file, -1, &findings));
    scheduler = open_for_work(file);
    CHECK_STRING("up ", names(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

static char heard[256];

static void hear(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_PAUSED && event->type != SELENE_EVENT_RESUMED) return;
    size_t used = strlen(heard);
    CHECK_INT(0, event->id.length);
    CHECK_INT(-1, event->state);
    snprintf(heard + used, sizeof heard - used, "%s %.*s;",
             selene_name(SELENE_NAMES_EVENT, event->type), (int)event->message.length,
             event->message.data);
}

static void test_events(void) {
    selene_scheduler scheduler = open_for_work(NULL);
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    for (int i = 0; i < 2; i++)
        CHECK_OK(selene_group_pause(scheduler, "up", -1));
    for (int i = 0; i < 2; i++)
        CHECK_OK(selene_group_resume(scheduler, "up", -1));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_STRING("paused up;resumed up;", heard);
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/** Never more at a time than the limit, over both kinds and all lanes, and every task has its run. */
static void test_pushed(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    selene_scheduler scheduler = 0;
    struct work works[24] = {0};
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    limit(scheduler, "up", 2);
    for (int i = 0; i < 24; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        selene_task task = task_of(id);
        works[i].behaviour = SLEEP;
        works[i].duration = 5 * MS;
        task.group = SELENE_TEXT("up");
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.expected_response = SELENE_NONE;
        task.kind = i % 2 ? SELENE_KIND_REFRESH : SELENE_KIND_PROCESSING;
        add_handler(scheduler, id, &works[i]);
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
    atomic_store(&most_inside, 0);
    selene_window window = window_of(AMPLE, 0, 6);
    window.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(24, report->run_count);
    selene_free(report);
    CHECK(atomic_load(&most_inside) <= 2);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A thread that waits in a lane takes what gets room: by a resume, a limit that grows, a run that ends elsewhere. */
struct waiter {
    selene_lane lane;
    selene_run run;
    int32_t step;
};

static void *wait_in_lane(void *argument) {
    struct waiter *waiter = argument;
    selene_run_info info = SELENE_INIT(selene_run_info);
    CHECK_OK(selene_lane_next(waiter->lane, SELENE_OUTCOME_NONE, SELENE_NEVER, &waiter->step, &info,
                              NULL));
    waiter->run = info.run;
    return NULL;
}

static void test_lanes(void) {
    for (int way = 0; way < 6; way++) {
        selene_options options = SELENE_INIT(selene_options);
        options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
        selene_scheduler scheduler = open_told_with(options);
        selene_window window = window_of(AMPLE, 0, 2);
        struct waiter first = {0}, second = {0};
        pthread_t thread;
        selene_run_info info = SELENE_INIT(selene_run_info);
        int fd = -1;
        CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
        limit(scheduler, "up", 1);
        add(scheduler, work_in("up", "a"));
        add(scheduler, work_in("up", "b"));
        window.flags = SELENE_WINDOW_LANES | (way / 3 ? 0 : SELENE_WINDOW_FROZEN);
        selene_cycle cycle = begin(scheduler, window);
        CHECK_OK(selene_lane_open(cycle, &first.lane));
        CHECK_OK(selene_lane_open(cycle, &second.lane));
        CHECK_OK(selene_lane_next(first.lane, SELENE_OUTCOME_NONE, 0, &first.step, &info, NULL));
        CHECK_INT(SELENE_STEP_RUN, first.step);
        first.run = info.run;
        if (way % 3 == 0) CHECK_OK(selene_group_pause(scheduler, "up", -1));
        CHECK_OK(selene_cycle_descriptor(cycle, &fd));
        struct pollfd poll_one = {.fd = fd, .events = POLLIN};
        CHECK_OK(selene_lane_next(second.lane, SELENE_OUTCOME_NONE, 0, &second.step, &info, NULL));
        CHECK_INT(SELENE_STEP_WAIT, second.step);
        CHECK_INT(0, poll(&poll_one, 1, 0));
        CHECK_INT(0, pthread_create(&thread, NULL, wait_in_lane, &second));
        still(scheduler);
        if (way % 3 == 0) {
            limit(scheduler, "up", 2);
            CHECK_OK(selene_group_resume(scheduler, "up", -1));
        } else if (way % 3 == 1) {
            limit(scheduler, "up", 2);
        } else {
            CHECK_OK(selene_run_complete(first.run, SELENE_OUTCOME_NO_DATA));
            CHECK_OK(selene_lane_close(first.lane));
        }
        CHECK_INT(0, pthread_join(thread, NULL));
        CHECK_INT(SELENE_STEP_RUN, second.step);
        CHECK_OK(selene_run_complete(second.run, SELENE_OUTCOME_NO_DATA));
        if (way % 3 != 2) CHECK_OK(selene_run_complete(first.run, SELENE_OUTCOME_NO_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/** What is readable is looked at: a group that is resumed makes a descriptor so. */
static void test_descriptor(void) {
    selene_scheduler scheduler = 0;
    selene_window window = window_of(AMPLE, 0, 2);
    selene_options options = SELENE_INIT(selene_options);
    struct waiter lane = {0};
    selene_run_info info = SELENE_INIT(selene_run_info);
    int fd = -1;
    options.max_pending_refresh = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    add(scheduler, work_in("", "a"));
    add(scheduler, work_in("up", "b"));
    CHECK_OK(selene_group_pause(scheduler, "up", -1));
    window.flags = SELENE_WINDOW_LANES;
    selene_cycle cycle = begin(scheduler, window);
    CHECK_OK(selene_cycle_descriptor(cycle, &fd));
    CHECK_OK(selene_lane_open(cycle, &lane.lane));
    CHECK_OK(selene_lane_next(lane.lane, SELENE_OUTCOME_NONE, 0, &lane.step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, lane.step);
    selene_lane other = 0;
    selene_run run = info.run;
    CHECK_OK(selene_lane_open(cycle, &other));
    CHECK_OK(selene_lane_next(other, SELENE_OUTCOME_NONE, 0, &lane.step, &info, NULL));
    CHECK_INT(SELENE_STEP_WAIT, lane.step);
    struct pollfd poll_one = {.fd = fd, .events = POLLIN};
    CHECK_INT(0, poll(&poll_one, 1, 0));
    CHECK_OK(selene_group_resume(scheduler, "up", -1));
    CHECK_INT(1, poll(&poll_one, 1, 0));
    CHECK_OK(selene_lane_next(other, SELENE_OUTCOME_NONE, 0, &lane.step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, lane.step);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** And a run of the group that ends in a window of another kind. */
static void test_descriptor_of_others(void) {
    selene_scheduler scheduler = 0;
    selene_window window = window_of(AMPLE, 0, 1), other = window;
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = work_in("up", "p");
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_lane lane = 0;
    int32_t step = -1;
    int fd = -1;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    limit(scheduler, "up", 1);
    task.kind = SELENE_KIND_PROCESSING;
    add(scheduler, task);
    add(scheduler, work_in("up", "a"));
    other.kinds = SELENE_KIND_PROCESSING;
    selene_cycle theirs = begin(scheduler, other);
    selene_run run = next(theirs, "p");
    window.flags = SELENE_WINDOW_LANES;
    selene_cycle cycle = begin(scheduler, window);
    CHECK_OK(selene_cycle_descriptor(cycle, &fd));
    CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_WAIT, step);
    struct pollfd poll_one = {.fd = fd, .events = POLLIN};
    CHECK_INT(0, poll(&poll_one, 1, 0));
    complete(run);
    CHECK_INT(1, poll(&poll_one, 1, 0));
    CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_end(theirs, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A driver opens no window for tasks of which none may begin, and one as soon as one may. */
static void test_driver(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver terms = SELENE_INIT(selene_driver);
    struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler;
    options.max_pending_refresh = SELENE_UNLIMITED;
    scheduler = open_told_with(options);
    CHECK_OK(selene_group_pause(scheduler, "up", -1));
    add_handler(scheduler, "work", &work);
    add(scheduler, work_in("up", "a"));
    terms.flags = SELENE_DRIVER_UNGOVERNED;
    CHECK_OK(selene_driver_start(scheduler, &terms));
    reach(scheduler, START + H);
    CHECK_INT(0, atomic_load(&work.started));
    CHECK_OK(selene_group_resume(scheduler, "up", -1));
    REACH_UNTIL(scheduler, atomic_load(&work.started) == 1);
    CHECK_BETWEEN(START + H, present(scheduler), START + H + S);
    CHECK_OK(selene_driver_stop(scheduler, GRACE));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int count, char **arguments) {
    check_begin(count, arguments);
    run_test("W3 as many runs of a group go on as it may have, and others pass its tasks",
             test_limit);
    run_test("W3 a group that is paused begins nothing, also of what comes later", test_pause);
    run_test("W3 a group that is paused or full asks for no window", test_nothing_now);
    run_test("W3 a limit that shrinks stops nothing, one that grows counts at once", test_numbers);
    run_test("W3 a run counts for its group until it has come back", test_back);
    run_test("W3 an update moves a task to another group", test_definitions);
    run_test("W3 alone and in a plan a limit counts, too", test_alone_and_plan);
    run_test("W3 a store keeps limits and pauses", test_kept);
    run_test("W3 events tell of a group that is paused and resumed", test_events);
    run_test("W3 library threads keep to the limit, whatever their kinds and lanes", test_pushed);
    run_test("W3 a thread that waits in a lane takes what gets room", test_lanes);
    run_test("W3 a descriptor is readable when a group gets room", test_descriptor);
    run_test("W3 a descriptor is readable when a run of its group ends elsewhere",
             test_descriptor_of_others);
    run_test("W3 a driver opens no window for a group that is paused", test_driver);
    return check_end();
}
