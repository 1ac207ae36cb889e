/*
 * server_pause.c - pauses of pools, and pauses that a connected process asks for (docs/rules.md, W13, L11)
 */
#include "server_tools.h"

static void add(selene_scheduler scheduler, const char *id, const char *handler) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of(handler);
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static selene_cycle begin(selene_scheduler scheduler) {
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle = 0;
    window.kinds = SELENE_KIND_REFRESH;
    window.budget = SELENE_HOUR;
    window.reserve = SELENE_NONE;
    window.lanes = 2;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    return cycle;
}

/** Takes the next run of a cycle, which must be of this task; NULL: nothing. */
static selene_run next(selene_cycle cycle, const char *id) {
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(id != NULL, step == SELENE_STEP_RUN);
    if (id) CHECK_TEXT(id, run.id);
    return run.run;
}

static void complete(selene_run run) {
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static int64_t held_until(selene_scheduler scheduler, const char *id) {
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    CHECK_OK(selene_task_explain(scheduler, id, -1, &explanation));
    for (uint32_t i = 0; i < explanation.reason_count; i++)
        if (explanation.reasons[i].reason == SELENE_REASON_KIND_PAUSED)
            return explanation.reasons[i].may_change_at;
    return 0;
}

static uint64_t count_pauses(selene_scheduler scheduler) {
    selene_pauses *pauses = NULL;
    CHECK_OK(selene_pause_list(scheduler, &pauses));
    const uint64_t count = pauses->count;
    selene_free(pauses);
    return count;
}

static int64_t delay_of(selene_scheduler scheduler) {
    int64_t at = 0, delay = 0;
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, &delay));
    return delay;
}

/** A pool that is paused takes nothing; others and the owner do, and what it runs goes on. */
static void test_a_pool(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler mailer = member_of(file, "mailer"), printer = member_of(file, "printer");
    selene_pauses *pauses = NULL;
    CHECK_OK(offer(mailer, "mail"));
    CHECK_OK(offer(printer, "print"));
    CHECK_OK(offer(owner, "own"));
    add(owner, "first", "mail");
    add(owner, "letter", "mail");
    add(owner, "page", "print");
    add(owner, "mine", "own");
    selene_cycle mails = begin(mailer);
    selene_run run = next(mails, "first");
    CHECK_OK(selene_scheduler_pause(owner, 0, "mailer", -1, SELENE_NEVER));
    CHECK_INT(SELENE_NEVER, held_until(owner, "letter"));
    CHECK_INT(SELENE_NEVER, held_until(mailer, "letter"));
    CHECK_INT(0, held_until(owner, "page"));
    CHECK_INT(0, held_until(owner, "mine"));
    next(mails, NULL);
    complete(run);
    next(mails, NULL);
    CHECK_INT(SELENE_NEVER, delay_of(mailer));
    CHECK_INT(0, delay_of(printer));
    selene_cycle cycle = begin(printer);
    complete(next(cycle, "page"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    cycle = begin(owner);
    complete(next(cycle, "mine"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_cycle_end(mails, NULL));
    /* One that begins meanwhile has nothing; it has when the pool goes on. */
    mails = begin(mailer);
    next(mails, NULL);
    CHECK_OK(selene_pause_list(mailer, &pauses));
    CHECK_INT(1, pauses->count);
    CHECK_TEXT("mailer", pauses->pauses[0].pool);
    CHECK_INT(SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING, pauses->pauses[0].kinds);
    CHECK_INT(SELENE_NEVER, pauses->pauses[0].until);
    selene_free(pauses);
    CHECK_OK(selene_scheduler_pause(owner, 0, "mailer", -1, 0));
    complete(next(mails, "letter"));
    CHECK_OK(selene_cycle_end(mails, NULL));
    /* What is paused everywhere is so in each pool, and a pool's own pause stays when that is over. */
    add(owner, "again", "mail");
    CHECK_OK(selene_scheduler_pause(owner, SELENE_KIND_REFRESH, NULL, 0, SELENE_NEVER));
    CHECK_OK(selene_scheduler_pause(owner, SELENE_KIND_REFRESH, "mailer", -1, SELENE_NEVER));
    CHECK_OK(selene_scheduler_pause(owner, SELENE_KIND_REFRESH, NULL, 0, 0));
    CHECK_INT(SELENE_NEVER, held_until(owner, "again"));
    CHECK_OK(selene_scheduler_pause(owner, SELENE_KIND_REFRESH, "mailer", -1, 0));
    CHECK_INT(0, held_until(owner, "again"));
    CHECK_OK(selene_scheduler_close(mailer, 0));
    CHECK_OK(selene_scheduler_close(printer, 0));
    close_store(owner);
}

/** A connected process pauses, and what it is answered is there after the owner was killed. */
static void test_from_elsewhere(void) {
    const char *file = path("t.db");
    struct owner first = fork_owner(file), second = fork_owner(file);
    pid_t pid = let_own(first);
    selene_scheduler connection = connect_to(file);
    int64_t now = 0;
    add(connection, "letter", "mail");
    CHECK_OK(selene_scheduler_now(connection, &now));
    CHECK_OK(selene_scheduler_pause(connection, SELENE_KIND_REFRESH, NULL, 0, now + SELENE_HOUR));
    CHECK_OK(selene_scheduler_pause(connection, 0, "mailer", -1, SELENE_NEVER));
    CHECK_INT(2, count_pauses(connection));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_scheduler_pause(connection, SELENE_KIND_REFRESH, NULL, 0, now));
    DETAIL("until: ");
    CHECK_INT(0, kill(pid, SIGKILL));
    CHECK_INT(pid, waitpid(pid, NULL, 0));
    pid = let_own(second);
    CHECK_INT(2, count_pauses(connection));
    CHECK_INT(now + SELENE_HOUR, held_until(connection, "letter"));
    CHECK_OK(selene_scheduler_pause(connection, SELENE_KIND_REFRESH, NULL, 0, 0));
    CHECK_INT(0, held_until(connection, "letter"));
    CHECK_INT(1, count_pauses(connection));
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_INT(0, kill(pid, SIGKILL));
    CHECK_INT(pid, waitpid(pid, NULL, 0));
}

/** A member that was granted nothing comes when the pause is over, by the time that its driver names. */
static void test_driver(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_told_here(file);
    serve(owner);
    selene_scheduler mailer = member_of(file, "mailer");
    selene_driver options = SELENE_INIT(selene_driver);
    selene_cycle cycle = 0;
    const int64_t pause = SELENE_HOUR;
    int64_t now = 0, wake_at = 0;
    int32_t is_due = 0;
    options.flags = SELENE_DRIVER_UNGOVERNED;
    CHECK_OK(offer(mailer, "mail"));
    CHECK_OK(selene_scheduler_now(owner, &now));
    CHECK_OK(selene_scheduler_pause(owner, 0, "mailer", -1, now + pause));
    add(owner, "letter", "mail");
    CHECK_OK(selene_driver_open(mailer, &options, NULL));
    CHECK_OK(selene_driver_step(mailer, &cycle, &wake_at));
    CHECK_INT(0, cycle);
    CHECK_INT(now + pause, wake_at);
    CHECK_OK(selene_clock_set(owner, now + pause));
    while (cycle == 0) {
        CHECK_OK(selene_driver_wait(mailer, SELENE_HOUR, &is_due));
        CHECK(is_due);
        CHECK_OK(selene_driver_step(mailer, &cycle, &wake_at));
    }
    complete(next(cycle, "letter"));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_driver_stop(mailer, 0));
    CHECK_OK(selene_scheduler_close(mailer, 0));
    close_store(owner);
}

/** A thread that waits in a lane of a rolling window of its pool is woken when the pool goes on. */
static void *resume_later(void *owner) {
    check_sleep(S / 5);
    CHECK_OK(selene_scheduler_pause(*(selene_scheduler *)owner, 0, "mailer", -1, 0));
    return NULL;
}

static void test_lane(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler mailer = member_of(file, "mailer");
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    selene_lane lanes[2];
    selene_run run = 0;
    pthread_t thread;
    int32_t step = -1;
    CHECK_OK(offer(mailer, "mail"));
    add(owner, "busy", "mail");
    window.kinds = SELENE_KIND_REFRESH;
    window.flags = SELENE_WINDOW_LANES;
    window.budget = SELENE_HOUR;
    window.reserve = SELENE_NONE;
    window.lanes = 2;
    CHECK_OK(selene_cycle_begin(mailer, &window, &cycle));
    CHECK_OK(selene_lane_open(cycle, &lanes[0]));
    CHECK_OK(selene_lane_open(cycle, &lanes[1]));
    CHECK_OK(selene_lane_next(lanes[0], SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    run = info.run;
    CHECK_OK(selene_scheduler_pause(owner, 0, "mailer", -1, SELENE_NEVER));
    add(owner, "letter", "mail");
    CHECK_OK(selene_lane_next(lanes[1], SELENE_OUTCOME_NONE, 0, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_WAIT, step);
    CHECK_INT(0, pthread_create(&thread, NULL, resume_later, &owner));
    CHECK_OK(selene_lane_next(lanes[1], SELENE_OUTCOME_NONE, SELENE_NEVER, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_TEXT("letter", info.id);
    complete(info.run);
    complete(run);
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_lane_close(lanes[0]));
    CHECK_OK(selene_lane_close(lanes[1]));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(mailer, 0));
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("W13 L5 a pool that is paused takes nothing, and all others do", test_a_pool);
    run_test("W13 L10 a connected process pauses, and a killed owner has not forgotten it",
             test_from_elsewhere);
    run_test("W13 L7 the driver of a pool that is paused comes when that is over", test_driver);
    run_test("W13 C20 a lane that waits is woken when its pool goes on", test_lane);
    tools_end();
    return check_end();
}
