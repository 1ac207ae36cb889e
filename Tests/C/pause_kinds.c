/*
 * pause_kinds.c - kinds that the host pauses until an instant: nothing of them begins, all else goes on (W13)
 *
 * Argument: the filter of check.h.
 */
#include "own_file.h"

#include <signal.h>

#define ALL (SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING)

static selene_task work_of(const char *id) {
    selene_task task = refresh_once(id, SELENE_PRIORITY_NORMAL);
    task.handler = SELENE_TEXT("work");
    return task;
}

static selene_task long_work(const char *id) {
    selene_task task = work_of(id);
    task.kind = SELENE_KIND_PROCESSING;
    return task;
}

static int64_t present(void) {
    return atomic_load(&clock_now);
}

static void hold(selene_scheduler scheduler, uint32_t kinds, const char *pool, int64_t until) {
    CHECK_OK(selene_scheduler_pause(scheduler, kinds, pool, -1, until));
}

/** What is paused, as "kinds pool seconds from START;" each; − stands for no end. */
static const char *paused(selene_scheduler scheduler) {
    static char text[512];
    selene_pauses *list = NULL;
    size_t used = 0;
    CHECK_OK(selene_pause_list(scheduler, &list));
    CHECK_INT(sizeof *list, list->struct_size);
    text[0] = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        const selene_pause *at = &list->pauses[i];
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%u %s ", at->kinds, at->pool.data);
        if (at->until == SELENE_NEVER)
            used += (size_t)snprintf(text + used, sizeof text - used, "-;");
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%d;",
                                     (int)((at->until - START) / S));
    }
    selene_free(list);
    return text;
}

static int64_t held_until(selene_scheduler scheduler, const char *id) {
    const selene_reason reason = why(scheduler, id, SELENE_REASON_KIND_PAUSED);
    return reason.reason != 0 ? reason.may_change_at : 0;
}

/** Brings the clock back, so that instants are the same in each test. */
static selene_scheduler fresh(const char *path) {
    atomic_store(&clock_now, START);
    return open_for_work(path);
}

static selene_window both(uint32_t lanes) {
    selene_window window = window_of(30 * S, 0, lanes);
    window.kinds = ALL;
    return window;
}

static void test_a_kind(void) {
    selene_scheduler scheduler = fresh(NULL);
    add(scheduler, work_of("short"));
    add(scheduler, long_work("long"));
    CHECK_STRING("", paused(scheduler));
    hold(scheduler, SELENE_KIND_REFRESH, NULL, START + 60 * S);
    CHECK_STRING("1  60;", paused(scheduler));
    CHECK_INT(START + 60 * S, held_until(scheduler, "short"));
    CHECK_INT(0, held_until(scheduler, "long"));
    CHECK_INT(0, explain(scheduler, "short").rank);
    CHECK_INT(1, explain(scheduler, "long").rank);
    /* Registering goes on. */
    add(scheduler, work_of("later"));
    CHECK_INT(START + 60 * S, held_until(scheduler, "later"));
    selene_cycle cycle = begin(scheduler, both(4));
    complete(next(cycle, "long"));
    CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
    selene_report *report = NULL;
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->eligible);
    CHECK_INT(0, report->did_not_fit);
    selene_free(report);
    /* A host that sleeps until the next time to wake wakes when it is over. */
    CHECK_INT(START + 60 * S, wakeup(scheduler));
    advance(60 * S - 1);
    CHECK_INT(START + 60 * S, held_until(scheduler, "short"));
    advance(1);
    CHECK_INT(0, held_until(scheduler, "short"));
    CHECK_STRING("", paused(scheduler));
    CHECK_INT(present(), wakeup(scheduler));
    CHECK_INT(2, pull(scheduler, both(1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_until_resumed(void) {
    selene_scheduler scheduler = fresh(NULL);
    add(scheduler, work_of("a"));
    add(scheduler, long_work("b"));
    hold(scheduler, ALL, "", SELENE_NEVER);
    CHECK_STRING("3  -;", paused(scheduler));
    CHECK_INT(SELENE_NEVER, held_until(scheduler, "a"));
    CHECK_INT(SELENE_NEVER, wakeup(scheduler));
    advance(1000 * SELENE_DAY);
    CHECK_INT(0, pull(scheduler, both(1), SELENE_OUTCOME_NEW_DATA));
    /* A later call changes the end of what it names. */
    hold(scheduler, SELENE_KIND_REFRESH, NULL, present() + 5 * S);
    CHECK_INT(present() + 5 * S, wakeup(scheduler));
    hold(scheduler, SELENE_KIND_REFRESH, NULL, 0);
    CHECK_STRING("2  -;", paused(scheduler));
    CHECK_INT(present(), wakeup(scheduler));
    CHECK_INT(1, pull(scheduler, both(1), SELENE_OUTCOME_NEW_DATA));
    hold(scheduler, SELENE_KIND_PROCESSING, NULL, 0);
    hold(scheduler, SELENE_KIND_PROCESSING, NULL, 0);
    CHECK_STRING("", paused(scheduler));
    CHECK_INT(1, pull(scheduler, both(1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A run in flight goes on; what goes on is taken by a rolling window at once, by another if it was there at its begin. */
static void test_open_windows(void) {
    for (int rolls = 0; rolls < 2; rolls++) {
        selene_scheduler scheduler = fresh(NULL);
        selene_window window = window_of(600 * S, 0, 2);
        int32_t reason = -1;
        int64_t at = 0;
        window.flags = rolls ? 0 : SELENE_WINDOW_FROZEN;
        add(scheduler, work_of("a"));
        add(scheduler, work_of("b"));
        selene_cycle cycle = begin(scheduler, window);
        selene_run run = next(cycle, "a");
        hold(scheduler, SELENE_KIND_REFRESH, NULL, START + 20 * S);
        CHECK_OK(selene_run_stopping(run, &reason));
        CHECK_INT(SELENE_STOP_NONE, reason);
        add(scheduler, work_of("c"));
        /* It is told to look again when it is over. */
        CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, &at));
        CHECK_INT(START + 20 * S, at);
        advance(20 * S);
        complete(next(cycle, "b"));
        if (rolls) complete(next(cycle, "c"));
        complete(run);
        CHECK_INT(SELENE_STEP_DONE, step_of(cycle, NULL));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        if (!rolls) CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

static void test_begun_while_paused(void) {
    for (int rolls = 0; rolls < 2; rolls++) {
        selene_scheduler scheduler = fresh(NULL);
        selene_window window = both(2);
        window.flags = rolls ? 0 : SELENE_WINDOW_FROZEN;
        add(scheduler, work_of("a"));
        add(scheduler, long_work("b"));
        hold(scheduler, SELENE_KIND_REFRESH, NULL, SELENE_NEVER);
        selene_cycle cycle = begin(scheduler, window);
        selene_run run = next(cycle, "b");
        hold(scheduler, SELENE_KIND_REFRESH, NULL, 0);
        CHECK_INT(rolls ? 0 : SELENE_REASON_NEXT_CYCLE,
                  why(scheduler, "a", SELENE_REASON_NEXT_CYCLE).reason);
        if (rolls) complete(next(cycle, "a"));
        else CHECK_INT(SELENE_STEP_WAIT, step_of(cycle, NULL));
        complete(run);
        CHECK_OK(selene_cycle_end(cycle, NULL));
        if (!rolls) CHECK_INT(1, pull(scheduler, window, SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

static void test_asked_for(void) {
    selene_scheduler scheduler = fresh(NULL);
    selene_window one = window_of(30 * S, 0, 1);
    selene_cycle cycle = 0;
    selene_plan *plan = NULL;
    selene_task task = work_of("a");
    task.flags = SELENE_TASK_EXPEDITED;
    add(scheduler, task);
    hold(scheduler, SELENE_KIND_REFRESH, NULL, START + SELENE_HOUR);
    one.task = SELENE_TEXT("a");
    CHECK_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
                 selene_cycle_begin(scheduler, &one, &cycle));
    CHECK_STRING("task: \"a\" cannot run now: kind_paused", selene_error_last()->message.data);
    CHECK_INT(0, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    one.task = (selene_text){NULL, 0};
    CHECK_OK(selene_cycle_plan(scheduler, &one, &plan));
    CHECK_INT(0, plan->run_count);
    CHECK_INT(0, plan->eligible);
    selene_free(plan);
    hold(scheduler, SELENE_KIND_REFRESH, NULL, 0);
    CHECK_OK(selene_cycle_plan(scheduler, &one, &plan));
    CHECK_INT(1, plan->run_count);
    selene_free(plan);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_driver(void) {
    selene_scheduler scheduler = fresh(NULL);
    selene_driver options = SELENE_INIT(selene_driver);
    selene_cycle cycle = 0;
    int64_t wake_at = 0;
    options.flags = SELENE_DRIVER_UNGOVERNED;
    add(scheduler, work_of("a"));
    hold(scheduler, SELENE_KIND_REFRESH, NULL, START + 90 * S);
    CHECK_OK(selene_driver_open(scheduler, &options, NULL));
    CHECK_OK(selene_driver_step(scheduler, &cycle, &wake_at));
    CHECK_INT(0, cycle);
    CHECK_INT(START + 90 * S, wake_at);
    advance(90 * S);
    CHECK_OK(selene_driver_step(scheduler, &cycle, &wake_at));
    CHECK(cycle != 0);
    complete(next(cycle, "a"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* One that is resumed is news for it. */
    hold(scheduler, SELENE_KIND_REFRESH, NULL, SELENE_NEVER);
    add(scheduler, work_of("b"));
    CHECK_OK(selene_driver_step(scheduler, &cycle, &wake_at));
    CHECK_INT(0, cycle);
    hold(scheduler, SELENE_KIND_REFRESH, NULL, 0);
    CHECK_OK(selene_driver_step(scheduler, &cycle, &wake_at));
    CHECK(cycle != 0);
    complete(next(cycle, "b"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_driver_stop(scheduler, 0));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A window on library threads that rolls takes what goes on by time, without anybody's call. */
static void test_threads(void) {
    selene_scheduler scheduler = open_real();
    static struct work slow, held;
    selene_window window = SELENE_INIT(selene_window);
    int64_t at = 0;
    slow.behaviour = AFTER_RETURN;
    slow.duration = 2 * S;
    add_work(scheduler, "slow", &slow);
    window.kinds = SELENE_KIND_REFRESH;
    window.budget = AMPLE;
    window.reserve = SELENE_NONE;
    window.lanes = 2;
    struct runner runner;
    start_runner(&runner, scheduler, window);
    wait_for("slow began", &slow.started, 1);
    CHECK_OK(selene_scheduler_now(scheduler, &at));
    hold(scheduler, SELENE_KIND_REFRESH, NULL, at + S / 2);
    add_work(scheduler, "held", &held);
    selene_report *report = join_runner(&runner);
    CHECK_INT(2, report->run_count);
    CHECK(report->runs[1].started_at >= at + S / 2);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

#define REFUSED(kinds, pool, length, until, detail)                                                \
    do {                                                                                           \
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,                                                \
                     selene_scheduler_pause(scheduler, kinds, pool, length, until));               \
        CHECK_STRING(detail, selene_error_last()->message.data);                                   \
    } while (0)

static void test_faults(void) {
    selene_scheduler scheduler = fresh(NULL);
    char name[16];
    REFUSED(
        4, NULL, 0, SELENE_NEVER,
        "kinds: 4 is out of range, allowed are bits 1 (refresh) and 2 (processing), at least one");
    REFUSED(
        0, NULL, 0, SELENE_NEVER,
        "kinds: 0 is out of range, allowed are bits 1 (refresh) and 2 (processing), at least one");
    REFUSED(4, "mail", -1, SELENE_NEVER,
            "kinds: 4 is out of range, allowed are bits 1 (refresh) and 2 (processing)");
    REFUSED(1, "\xff", -1, SELENE_NEVER, "pool: not valid UTF-8 at byte 0");
    REFUSED(1, NULL, 3, SELENE_NEVER, "pool: must not be NULL with length 3");
    REFUSED(1, NULL, 0, START,
            "until: 1000000000000000 is out of range, allowed are instants after now, up to 10 "
            "years ahead");
    REFUSED(
        1, NULL, 0, 10 * S,
        "until: 10000000000 is out of range, allowed are instants after now, up to 10 years ahead");
    REFUSED(1, NULL, 0, -1,
            "until: -1 is out of range, allowed are instants after now, up to 10 years ahead");
    REFUSED(1, NULL, 0, START + 3654 * SELENE_DAY,
            "until: 316705600000000000 is out of range, allowed are instants after now, up to 10 "
            "years ahead");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_pause_list(scheduler, NULL));
    CHECK_STRING("", paused(scheduler));
    selene_free(NULL);
    /* A pool needs no processes; 256 have a pause. */
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof name, "p%d", i);
        hold(scheduler, 0, name, SELENE_NEVER);
    }
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED,
                 selene_scheduler_pause(scheduler, 0, "more", -1, SELENE_NEVER));
    CHECK_STRING("pool: at most 256 pools have a pause", selene_error_last()->message.data);
    hold(scheduler, ALL, NULL, SELENE_NEVER);
    hold(scheduler, 0, "p7", START + S);
    hold(scheduler, 0, "p8", 0);
    hold(scheduler, 0, "more", SELENE_NEVER);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_list(void) {
    selene_scheduler scheduler = fresh(NULL);
    hold(scheduler, 0, "mail", START + 10 * S);
    hold(scheduler, SELENE_KIND_REFRESH, NULL, START + 30 * S);
    hold(scheduler, SELENE_KIND_PROCESSING, "beta", SELENE_NEVER);
    hold(scheduler, SELENE_KIND_PROCESSING, NULL, START + 20 * S);
    hold(scheduler, SELENE_KIND_REFRESH, "mail", START + 15 * S);
    CHECK_STRING("1  30;2  20;2 beta -;1 mail 15;2 mail 10;", paused(scheduler));
    /* What is of pools concerns no task of this process. */
    advance(12 * S);
    CHECK_STRING("1  30;2  20;2 beta -;1 mail 15;", paused(scheduler));
    hold(scheduler, ALL, NULL, 0);
    add(scheduler, long_work("a"));
    CHECK_INT(0, held_until(scheduler, "a"));
    CHECK_INT(1, pull(scheduler, both(1), SELENE_OUTCOME_NEW_DATA));
    hold(scheduler, 0, "beta", 0);
    hold(scheduler, 0, "mail", 0);
    CHECK_STRING("", paused(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static char heard[512];

static void hear(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_PAUSED && event->type != SELENE_EVENT_RESUMED) return;
    size_t used = strlen(heard);
    CHECK_INT(-1, event->state);
    CHECK_INT(0, event->id.length);
    snprintf(heard + used, sizeof heard - used, "%s %u %s %d@%d;",
             selene_name(SELENE_NAMES_EVENT, event->type), event->kinds, event->message.data,
             event->time_at == SELENE_NEVER ? -1
             : event->time_at == 0          ? 0
                                            : (int)((event->time_at - START) / S),
             (int)((event->time - START) / S));
}

static void test_events(void) {
    selene_scheduler scheduler = fresh(NULL);
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    heard[0] = 0;
    hold(scheduler, ALL, NULL, SELENE_NEVER);
    hold(scheduler, ALL, NULL, SELENE_NEVER);
    hold(scheduler, SELENE_KIND_REFRESH, NULL, START + 5 * S);
    hold(scheduler, 0, "mail", START + 7 * S);
    CHECK_STRING("paused 3  -1@0;paused 1  5@0;paused 3 mail 7@0;", heard);
    heard[0] = 0;
    /* What time ends is told by the next call, with its nominal instant. */
    advance(60 * S);
    CHECK_STRING("2  -;", paused(scheduler));
    CHECK_STRING("resumed 1  0@5;resumed 3 mail 0@7;", heard);
    heard[0] = 0;
    hold(scheduler, ALL, NULL, 0);
    hold(scheduler, ALL, NULL, 0);
    CHECK_STRING("resumed 2  0@60;", heard);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_kept(void) {
    new_file();
    selene_scheduler scheduler = fresh(file);
    add(scheduler, work_of("a"));
    hold(scheduler, SELENE_KIND_REFRESH, NULL, START + 60 * S);
    hold(scheduler, 0, "mail", SELENE_NEVER);
    CHECK_OK(selene_scheduler_reset(scheduler));
    add(scheduler, work_of("a"));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_OK(selene_store_check(file, -1, NULL));
    scheduler = open_for_work(file);
    CHECK_STRING("1  60;3 mail -;", paused(scheduler));
    CHECK_INT(START + 60 * S, held_until(scheduler, "a"));
    CHECK_INT(START + 60 * S, wakeup(scheduler));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* What ended while nobody had it open is over, and told. */
    advance(61 * S);
    scheduler = open_for_work(file);
    heard[0] = 0;
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    CHECK_STRING("3 mail -;", paused(scheduler));
    CHECK_STRING("resumed 1  0@61;", heard);
    CHECK_INT(1, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* Once. */
    scheduler = open_for_work(file);
    heard[0] = 0;
    CHECK_OK(selene_scheduler_observe(scheduler, hear, NULL, NULL));
    CHECK_STRING("3 mail -;", paused(scheduler));
    CHECK_STRING("", heard);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

static void be_killed(void) {
    selene_scheduler scheduler = open_for_work(file);
    add(scheduler, work_of("a"));
    hold(scheduler, SELENE_KIND_REFRESH, NULL, START + 60 * S);
    hold(scheduler, SELENE_KIND_PROCESSING, NULL, START + 50 * S);
    hold(scheduler, SELENE_KIND_PROCESSING, NULL, 0);
    kill(getpid(), SIGKILL);
}

/** What a call has answered is there after a crash. */
static void test_killed(void) {
    int status = 0;
    new_file();
    atomic_store(&clock_now, START);
    const pid_t child = fork();
    if (child == 0) be_killed();
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    advance(10 * S);
    selene_scheduler scheduler = open_for_work(file);
    CHECK_STRING("1  60;", paused(scheduler));
    CHECK_INT(0, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    advance(50 * S);
    CHECK_INT(1, pull(scheduler, window_of(30 * S, 0, 1), SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

static int64_t spent(selene_scheduler scheduler, const char *id, int32_t reason) {
    selene_waits *waits = NULL;
    int64_t duration = 0;
    CHECK_OK(selene_task_waits(scheduler, id, -1, &waits));
    for (uint64_t i = 0; i < waits->part_count; i++)
        if (waits->parts[i].reason == reason) duration += waits->parts[i].duration;
    selene_free(waits);
    return duration / S;
}

static void test_waits(void) {
    new_file();
    selene_scheduler scheduler = fresh(file);
    add(scheduler, work_of("a"));
    add(scheduler, long_work("b"));
    advance(3 * S);
    hold(scheduler, SELENE_KIND_REFRESH, NULL, START + 10 * S);
    hold(scheduler, 0, "mail", SELENE_NEVER);
    advance(20 * S);
    CHECK_INT(7, spent(scheduler, "a", SELENE_REASON_KIND_PAUSED));
    CHECK_INT(16, spent(scheduler, "a", SELENE_REASON_NO_WINDOW));
    CHECK_INT(0, spent(scheduler, "b", SELENE_REASON_KIND_PAUSED));
    hold(scheduler, ALL, NULL, START + 100 * S);
    advance(2 * S);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    advance(5 * S);
    scheduler = open_for_work(file);
    advance(4 * S);
    CHECK_INT(7 + 2 + 4, spent(scheduler, "a", SELENE_REASON_KIND_PAUSED));
    CHECK_INT(2 + 4, spent(scheduler, "b", SELENE_REASON_KIND_PAUSED));
    CHECK_INT(5, spent(scheduler, "b", SELENE_REASON_NO_PROCESS));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    remove_folder();
}

int main(int count, char **arguments) {
    check_begin(count, arguments);
    run_test("W13 a kind that is paused begins nothing until its time has come", test_a_kind);
    run_test("W13 a pause without an end lasts until it is resumed", test_until_resumed);
    run_test("W13 runs in flight go on, and open windows go on when it is over", test_open_windows);
    run_test("W13 a window that began meanwhile takes what goes on if it rolls",
             test_begun_while_paused);
    run_test("W13 nobody gets a run by asking for the task itself", test_asked_for);
    run_test("W13 C16 a driver opens no window, and comes when it is over", test_driver);
    run_test("W13 library threads take what goes on when its time has come", test_threads);
    run_test("W13 what cannot be is refused, and says what can", test_faults);
    run_test("W13 everywhere and in pools pauses are told one by one", test_list);
    run_test("W13 C18 events tell what was paused and what goes on", test_events);
    run_test("W13 D1 a store keeps what is paused, until when", test_kept);
    run_test("W13 D2 a pause that was answered survives a kill", test_killed);
    run_test("W13 W8 the time of a pause is told as that", test_waits);
    return check_end();
}
