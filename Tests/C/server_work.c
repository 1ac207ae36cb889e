/*
 * server_work.c - handlers, cycles and runs of other processes (docs/rules.md, L5 to L9)
 */
#include "server_tools.h"

#include <sys/syscall.h>

/* ---- words -------------------------------------------------------------------------------- */

static void add(selene_scheduler scheduler, const char *id, const char *handler) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of(handler);
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static selene_window lanes_of(int64_t budget, uint32_t lanes) {
    selene_window window = SELENE_INIT(selene_window);
    window.kinds = SELENE_KIND_REFRESH;
    window.budget = budget;
    window.reserve = SELENE_NONE;
    window.lanes = lanes;
    return window;
}

static selene_status begin(selene_scheduler scheduler, uint32_t lanes, selene_cycle *cycle) {
    selene_window window = lanes_of(SELENE_HOUR, lanes);
    return selene_cycle_begin(scheduler, &window, cycle);
}

static int32_t next(selene_cycle cycle, selene_run_info *run) {
    int32_t step = -1;
    int64_t wake_at = 0;
    *run = (selene_run_info)SELENE_INIT(selene_run_info);
    CHECK_OK(selene_cycle_next(cycle, &step, run, &wake_at));
    return step;
}

static int has_reason(selene_scheduler scheduler, const char *id, int32_t reason) {
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    CHECK_OK(selene_task_explain(scheduler, id, -1, &explanation));
    for (uint32_t i = 0; i < explanation.reason_count; i++)
        if (explanation.reasons[i].reason == reason) return 1;
    return 0;
}

struct facts {
    int32_t state, stop_reason, last_outcome, has_handler;
    uint32_t attempts;
    int64_t pause;
    char failure[128];
};

static struct facts facts_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    int64_t now = 0;
    struct facts facts;
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    facts = (struct facts){info->state,
                           info->stop_reason,
                           info->last_outcome,
                           info->has_handler,
                           info->attempts,
                           info->earliest_begin - now,
                           ""};
    snprintf(facts.failure, sizeof facts.failure, "%.*s", (int)info->failure.length,
             info->failure.data);
    selene_free(info);
    return facts;
}

/* ---- alone ---------------------------------------------------------------------------------- */

static void test_a_run(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = member_of(file, "mailer");
    selene_cycle cycle = 0, own = 0;
    selene_run_info run, *again = NULL;
    selene_report *report = NULL;
    selene_task_output *output = NULL;
    int32_t reason = -1;
    int64_t remaining = 0, at = 0, delay = 0;

    add(owner, "letter", "mail");
    CHECK_INT(0, facts_of(owner, "letter").has_handler);
    CHECK(has_reason(owner, "letter", SELENE_REASON_NO_HANDLER));
    CHECK_OK(offer(member, "mail"));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, offer(member, "mail"));
    CHECK_INT(1, facts_of(owner, "letter").has_handler);
    CHECK(!has_reason(owner, "letter", SELENE_REASON_NO_HANDLER));

    /* It is the member's work, and no window of the owner takes it; nor does the owner wake up for it. */
    CHECK_OK(selene_scheduler_next_wakeup(owner, &at, &delay));
    CHECK(delay > S);
    CHECK_OK(begin(owner, 1, &own));
    CHECK_INT(SELENE_STEP_DONE, next(own, &run));
    CHECK_OK(selene_scheduler_next_wakeup(member, &at, &delay));
    CHECK_INT(0, delay);

    /* Its windows are its pool's: that of the owner is open meanwhile. */
    CHECK_OK(begin(member, 1, &cycle));
    CHECK_OK(selene_cycle_end(own, NULL));
    CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    CHECK(run.id.length == 6 && memcmp(run.id.data, "letter", 6) == 0);
    CHECK(run.cycle == cycle && run.attempt == 1);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "letter"));
    CHECK_OK(selene_run_stopping(run.run, &reason));
    CHECK_INT(SELENE_STOP_NONE, reason);
    CHECK_OK(selene_run_remaining(run.run, &remaining));
    CHECK(remaining > S);
    CHECK_OK(selene_run_progress(run.run, 3, 10, "three", -1));
    CHECK_OK(selene_run_get(run.run, &again));
    CHECK(again->run == run.run && again->cycle == cycle && again->progress_done == 3);
    CHECK(strcmp(again->progress_text.data, "three") == 0);
    selene_free(again);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_set_output(run.run, "x", -1));
    CHECK_OK(selene_run_set_output(run.run, "sent", 4));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_run_complete(run.run, 9));
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_STATUS(SELENE_ERROR_ALREADY_COMPLETED,
                 selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STEP_DONE, next(cycle, &run));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK(report->cycle == cycle && report->run_count == 1 && report->new_data == 1);
    CHECK(strcmp(report->runs[0].id.data, "letter") == 0);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_end(cycle, NULL));
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "letter"));
    CHECK_OK(selene_task_get_output(owner, "letter", -1, &output));
    CHECK(output->output.length == 4 && memcmp(output->output.data, "sent", 4) == 0);
    selene_free(output);

    CHECK_OK(selene_handler_unregister(member, "mail", -1));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_handler_unregister(member, "mail", -1));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/* How long a task waited for a reason, or in how many windows. */
static selene_wait waited(selene_scheduler scheduler, const char *id, int32_t reason) {
    selene_waits *waits = NULL;
    selene_wait found = {{NULL, 0}, reason, 0, 0, 0, 0};
    int64_t sum = 0;
    CHECK_OK(selene_task_waits(scheduler, id, -1, &waits));
    for (uint64_t i = 0; i < waits->part_count; i++) {
        sum += waits->parts[i].duration;
        if (waits->parts[i].reason != reason) continue;
        found.duration += waits->parts[i].duration;
        found.times += waits->parts[i].times;
    }
    CHECK_INT(waits->until - waits->since, sum);
    selene_free(waits);
    return found;
}

/* Windows of a pool are told of its tasks, those of the owner and of another pool are not. */
static void test_waits(void) {
    const char *file = path("w.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = member_of(file, "mailer"), other = member_of(file, "printer");
    selene_cycle cycle = 0, own = 0, theirs = 0;
    selene_run_info run;
    CHECK_OK(offer(member, "mail"));
    CHECK_OK(offer(other, "print"));
    add(owner, "letter", "mail");
    add(owner, "parcel", "mail");
    add(owner, "page", "print");
    CHECK_INT(0, (int64_t)waited(owner, "letter", SELENE_REASON_NO_HANDLER).duration);
    /* While the owner's window is open there is none for them. */
    CHECK_OK(begin(owner, 1, &own));
    check_sleep(20 * SELENE_MILLISECOND);
    CHECK(waited(owner, "parcel", SELENE_REASON_NO_WINDOW).duration >= 20 * SELENE_MILLISECOND);
    CHECK_INT(0, (int64_t)waited(owner, "parcel", SELENE_REASON_WINDOW_OPEN).times);
    CHECK_OK(begin(other, 1, &theirs));
    check_sleep(20 * SELENE_MILLISECOND);
    CHECK_INT(0, (int64_t)waited(owner, "parcel", SELENE_REASON_WINDOW_OPEN).times);
    CHECK_INT(1, (int64_t)waited(owner, "page", SELENE_REASON_WINDOW_OPEN).times);
    CHECK_OK(begin(member, 1, &cycle));
    check_sleep(20 * SELENE_MILLISECOND);
    CHECK_INT(1, (int64_t)waited(owner, "parcel", SELENE_REASON_WINDOW_OPEN).times);
    CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    CHECK(strcmp(run.id.data, "letter") == 0);
    check_sleep(20 * SELENE_MILLISECOND);
    /* The other window of that kind has nothing to do with it, whatever it dispatches. */
    selene_run_info paper;
    CHECK_INT(SELENE_STEP_RUN, next(theirs, &paper));
    CHECK_OK(selene_run_complete(paper.run, SELENE_OUTCOME_NEW_DATA));
    CHECK(waited(owner, "parcel", SELENE_REASON_PREFERRED_OTHERS).duration >=
          20 * SELENE_MILLISECOND);
    selene_waits *waits = NULL;
    CHECK_OK(selene_task_waits(owner, "parcel", -1, &waits));
    CHECK_INT(1, (int64_t)waits->preferred_count);
    CHECK(strcmp(waits->preferred_ids[0].data, "letter") == 0);
    selene_free(waits);
    CHECK(waited(owner, "letter", SELENE_REASON_RUNNING).duration >= 20 * SELENE_MILLISECOND);
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(own, NULL));
    CHECK_OK(selene_cycle_end(theirs, NULL));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    /* Nobody offers the handler any more. */
    const int64_t before = waited(owner, "parcel", SELENE_REASON_NO_HANDLER).duration;
    CHECK_INT(0, before);
    CHECK_OK(selene_scheduler_close(member, 0));
    check_sleep(20 * SELENE_MILLISECOND);
    CHECK(waited(owner, "parcel", SELENE_REASON_NO_HANDLER).duration > 0);
    const int64_t preferred = waited(owner, "parcel", SELENE_REASON_PREFERRED_OTHERS).duration;
    const int64_t open = waited(owner, "parcel", SELENE_REASON_WINDOW_OPEN).duration;
    CHECK_OK(selene_scheduler_close(other, 0));
    close_store(owner);
    /* All of that is known afterwards. */
    owner = open_here(file);
    CHECK_INT(preferred, waited(owner, "parcel", SELENE_REASON_PREFERRED_OTHERS).duration);
    CHECK_INT(open, waited(owner, "parcel", SELENE_REASON_WINDOW_OPEN).duration);
    close_store(owner);
}

static void count_destroy(void *context) {
    ++*(int *)context;
}

static void test_names(void) {
    const char *file = path("t.db");
    int destroyed = 0;
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler one = member_of(file, "a"), two = member_of(file, "a"),
                     other = member_of(file, "b");
    CHECK_OK(offer(owner, "own"));
    CHECK_OK(selene_handler_register(one, "shared", -1, NULL, NULL, &destroyed, count_destroy));
    CHECK_OK(offer(two, "shared"));
    CHECK_STATUS(
        SELENE_ERROR_ALREADY_EXISTS,
        selene_handler_register(other, "shared", -1, NULL, NULL, &destroyed, count_destroy));
    DETAIL("pool \"a\"");
    CHECK_INT(1, destroyed);
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, offer(one, "own"));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, offer(owner, "shared"));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_handler_unregister(owner, "shared", -1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, offer(one, ""));
    /* The name is free again when the last one has left. */
    add(owner, "t", "shared");
    CHECK_OK(selene_scheduler_close(one, 0));
    CHECK_INT(2, destroyed);
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, offer(other, "shared"));
    CHECK_INT(1, facts_of(owner, "t").has_handler);
    CHECK_OK(selene_handler_unregister(two, "shared", -1));
    CHECK_INT(0, facts_of(owner, "t").has_handler);
    CHECK_OK(offer(other, "shared"));
    CHECK_INT(1, facts_of(owner, "t").has_handler);
    CHECK_OK(selene_handler_unregister(other, "shared", -1));
    /* Also for the owner itself, whose windows have its tasks then. */
    CHECK_OK(offer(owner, "shared"));
    selene_cycle cycle = 0;
    selene_run_info run;
    CHECK_OK(begin(owner, 1, &cycle));
    CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(two, 0));
    CHECK_OK(selene_scheduler_close(other, 0));
    close_store(owner);
}

static void test_others_runs(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_cycle cycle = 0;
    selene_run_info run;
    int64_t wake_at;
    int32_t step;
    serve(owner);
    CHECK_OK(selene_events_open(owner, 100, NULL));
    selene_scheduler one = member_of(file, "a"), two = member_of(file, "a");
    add(owner, "t", "h");
    add(owner, "u", "h");
    CHECK_OK(offer(one, "h"));
    CHECK_OK(offer(two, "h"));
    CHECK_OK(begin(one, 1, &cycle));
    CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    selene_cycle second = 0;
    selene_run_info another;
    CHECK_OK(begin(two, 1, &second));
    CHECK_INT(SELENE_STEP_RUN, next(second, &another));
    CHECK(run.run != another.run);
    /* It is no run of the process that has the store, which sees it in its events. */
    selene_run there_run = 0;
    selene_event event = SELENE_INIT(selene_event);
    int32_t found = 1;
    while (there_run == 0 && found) {
        CHECK_OK(selene_events_next(owner, 0, &event, &found, NULL));
        if (found && event.type == SELENE_EVENT_STARTED) there_run = event.run;
    }
    CHECK(there_run != 0);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_complete(there_run, 0));
    DETAIL("another process took it");
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_set_output(there_run, "x", 1));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_progress(there_run, 1, 1, NULL, 0));
    selene_run_info there = SELENE_INIT(selene_run_info);
    /* A cycle is no lane's, nor anybody else's. */
    selene_lane lane = 0;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_lane_open(cycle, &lane));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE,
                 selene_cycle_next(cycle + 1, &step, &there, &wake_at));
    CHECK_STATUS(SELENE_ERROR_BUSY, begin(one, 1, &cycle));
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_run_complete(another.run, SELENE_OUTCOME_NO_DATA));
    CHECK_OK(selene_cycle_end(second, NULL));
    CHECK_OK(selene_cycle_end(run.cycle, NULL));
    CHECK_OK(selene_scheduler_close(one, 0));
    CHECK_OK(selene_scheduler_close(two, 0));
    close_store(owner);
}

/** A second member joins the window of its pool; what only one of them can run only that one gets. */
static void test_joining(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_cycle first = 0, second = 0;
    selene_run_info runs[4], none;
    selene_report *report = NULL;
    serve(owner);
    selene_scheduler one = member_of(file, "a"), two = member_of(file, "a");
    CHECK_OK(offer(one, "h"));
    CHECK_OK(offer(two, "h"));
    CHECK_OK(offer(two, "only two"));
    add(owner, "only", "only two");
    add(owner, "x", "h");
    add(owner, "y", "h");
    add(owner, "z", "h");
    CHECK_OK(begin(one, 1, &first));
    CHECK_INT(SELENE_STEP_RUN, next(first, &runs[0]));
    CHECK_INT(SELENE_STEP_WAIT, next(first, &none));
    CHECK_OK(begin(two, 2, &second));
    CHECK_INT(SELENE_STEP_RUN, next(second, &runs[1]));
    CHECK_INT(SELENE_STEP_RUN, next(second, &runs[2]));
    CHECK_INT(SELENE_STEP_WAIT, next(second, &none));
    CHECK(runs[0].deadline == runs[1].deadline);
    CHECK(strcmp(runs[0].id.data, "x") == 0 && strcmp(runs[1].id.data, "only") == 0);
    CHECK_OK(selene_run_complete(runs[0].run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(SELENE_STEP_RUN, next(first, &runs[3]));
    CHECK(strcmp(runs[3].id.data, "z") == 0);
    /* One of them ends: its own run is over, those of the other go on. */
    CHECK_OK(selene_cycle_end(first, &report));
    CHECK_INT(4, report->run_count);
    selene_free(report);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(runs[3].run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(runs[1].run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_run_complete(runs[2].run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(second, &report));
    CHECK_INT(3, report->new_data);
    CHECK_INT(1, report->stopped);
    selene_free(report);
    CHECK_OK(begin(one, 1, &first));
    CHECK_OK(selene_cycle_end(first, NULL));
    CHECK_OK(selene_scheduler_close(one, 0));
    CHECK_OK(selene_scheduler_close(two, 0));
    close_store(owner);
}

static void test_clients(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_clients *clients = NULL;
    selene_cycle cycle = 0;
    selene_run_info run;
    CHECK_OK(selene_client_list(owner, &clients));
    CHECK_INT(0, clients->count);
    selene_free(clients);
    serve(owner);
    selene_scheduler member = member_of(file, "mailer"), looker = connect_to(file);
    add(owner, "t", "h");
    CHECK_OK(offer(member, "h"));
    CHECK_OK(begin(member, 1, &cycle));
    CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    for (int who = 0; who < 2; who++) {
        CHECK_OK(selene_client_list(who == 0 ? owner : looker, &clients));
        CHECK_INT(2, clients->count);
        CHECK_INT(0, clients->clients[0].pool.length);
        CHECK(strcmp(clients->clients[1].pool.data, "mailer") == 0);
        CHECK_INT(1, clients->clients[1].handlers);
        CHECK_INT(1, clients->clients[1].runs);
        CHECK_INT(getpid(), clients->clients[1].process);
        CHECK_INT(SELENE_RIGHT_ALL, clients->clients[1].rights);
        CHECK(strstr(clients->clients[1].command.data, "server_work") != NULL);
        selene_free(clients);
    }
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_client_list(looker, NULL));
    CHECK_OK(selene_scheduler_close(looker, 0));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

static void test_orderly_close(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_cycle cycle = 0;
    selene_run_info run;
    serve(owner);
    selene_scheduler member = member_of(file, "a");
    add(owner, "t", "h");
    CHECK_OK(offer(member, "h"));
    CHECK_OK(begin(member, 1, &cycle));
    CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    CHECK_OK(selene_scheduler_close(member, 0));
    struct facts facts = facts_of(owner, "t");
    CHECK_INT(SELENE_STATE_ENQUEUED, facts.state);
    CHECK_INT(0, facts.attempts);
    CHECK(facts.pause <= 0);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run.run, 0));
    /* It runs again at once. */
    member = member_of(file, "a");
    CHECK_OK(offer(member, "h"));
    CHECK_OK(begin(member, 1, &cycle));
    CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    CHECK_OK(selene_run_complete(run.run, 0));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

static void test_another_owner(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_cycle cycle = 0, again = 0;
    selene_run_info run, other;
    int32_t step;
    serve(owner);
    selene_scheduler member = member_of(file, "a");
    add(owner, "t", "h");
    CHECK_OK(offer(member, "h"));
    CHECK_OK(begin(member, 1, &cycle));
    CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    close_store(owner);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_run_complete(run.run, 0));
    owner = open_here(file);
    serve(owner);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run.run, 0));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run.run, 0));
    other = (selene_run_info)SELENE_INIT(selene_run_info);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_next(cycle, &step, &other, NULL));
    /* The call that found it has offered the handler there. */
    CHECK_INT(1, facts_of(owner, "t").has_handler);
    CHECK_OK(begin(member, 1, &again));
    CHECK(again != cycle);
    CHECK_INT(SELENE_STEP_RUN, next(again, &other));
    CHECK(other.run != run.run);
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run.run, 0));
    CHECK_OK(selene_run_complete(other.run, 0));
    CHECK_OK(selene_cycle_end(again, NULL));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/* ---- processes that end ------------------------------------------------------------------------ */

enum place { BEFORE_BEGIN, AFTER_BEGIN, WITH_A_RUN, COMPLETED, ENDED, PLACES };

static void work_until(const char *file, enum place place, int ready) {
    selene_cycle cycle = 0;
    selene_run_info run;
    selene_scheduler member = member_of(file, "a");
    CHECK_OK(offer(member, "h"));
    if (place > BEFORE_BEGIN) CHECK_OK(begin(member, 1, &cycle));
    if (place > AFTER_BEGIN) CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
    if (place > WITH_A_RUN) CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    if (place == ENDED) CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK(write(ready, "x", 1) == 1);
    for (;;)
        pause();
}

static pid_t start_worker(const char *file, enum place place) {
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(ready[0]);
        work_until(file, place, ready[1]);
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    return child;
}

static void test_killed(void) {
    for (enum place place = BEFORE_BEGIN; place < PLACES; place++) {
        char name[16];
        snprintf(name, sizeof name, "t%d.db", (int)place);
        const char *file = path(name);
        selene_scheduler owner = open_here(file);
        selene_server server = serve(owner);
        selene_cycle cycle = 0;
        selene_run_info run;
        add(owner, "t", "h");
        pid_t worker = start_worker(file, place);
        CHECK_INT(place == WITH_A_RUN  ? SELENE_STATE_RUNNING
                  : place > WITH_A_RUN ? SELENE_STATE_SUCCEEDED
                                       : SELENE_STATE_ENQUEUED,
                  state_of(owner, "t"));
        end_owner(worker, SIGKILL);
        if (place == WITH_A_RUN) {
            WAIT_UNTIL(state_of(owner, "t") != SELENE_STATE_RUNNING);
            struct facts facts = facts_of(owner, "t");
            CHECK_INT(SELENE_STATE_ENQUEUED, facts.state);
            CHECK_INT(SELENE_STOP_INTERRUPTED, facts.stop_reason);
            CHECK_INT(1, facts.attempts);
            /* It was alone there, so it is to blame; the first time that costs no pause. */
            CHECK(facts.pause <= 0);
            CHECK(strstr(facts.failure, "the process ended") != NULL);
            CHECK_INT(0, facts.has_handler);
        }
        WAIT_UNTIL(info_of_server(server).clients == 0);
        /* Another one is not held up by what it left open. */
        selene_scheduler member = member_of(file, "a");
        CHECK_OK(offer(member, "h"));
        CHECK_OK(begin(member, 1, &cycle));
        int32_t step = next(cycle, &run);
        CHECK_INT(place <= WITH_A_RUN ? SELENE_STEP_RUN : SELENE_STEP_DONE, step);
        if (step == SELENE_STEP_RUN) CHECK_OK(selene_run_complete(run.run, 0));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_scheduler_close(member, 0));
        close_store(owner);
        /* What was said is in the store. */
        owner = open_here(file);
        CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "t"));
        close_store(owner);
    }
}

/** A child that the library does not know of holds the socket; the process itself is watched. */
static void test_held_socket(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    int pipes[2];
    pid_t child_of_it = 0;
    serve(owner);
    add(owner, "t", "h");
    CHECK(pipe(pipes) == 0);
    pid_t worker = fork();
    CHECK(worker >= 0);
    if (worker == 0) {
        selene_cycle cycle = 0;
        selene_run_info run;
        selene_scheduler member = member_of(file, "a");
        CHECK_OK(offer(member, "h"));
        CHECK_OK(begin(member, 1, &cycle));
        CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
        /* Not through the C library, so that nothing closes what is open. */
        pid_t made = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (made == 0) {
            for (;;)
                pause();
        }
        CHECK(write(pipes[1], &made, sizeof made) == sizeof made);
        for (;;)
            pause();
    }
    CHECK(read(pipes[0], &child_of_it, sizeof child_of_it) == sizeof child_of_it);
    end_owner(worker, SIGKILL);
    WAIT_UNTIL(state_of(owner, "t") != SELENE_STATE_RUNNING);
    CHECK(kill(child_of_it, SIGKILL) == 0);
    close(pipes[0]);
    close(pipes[1]);
    close_store(owner);
}

/** A process that stands still keeps its run until the deadline; then what it says is too late. */
static void test_stopped(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    int go[2], status;
    serve(owner);
    add(owner, "t", "h");
    CHECK(pipe(go) == 0);
    pid_t worker = fork();
    CHECK(worker >= 0);
    if (worker == 0) {
        selene_cycle cycle = 0;
        selene_run_info run;
        selene_window window = lanes_of(5 * S, 1);
        selene_scheduler member = member_of(file, "a");
        CHECK_OK(offer(member, "h"));
        CHECK_OK(selene_cycle_begin(member, &window, &cycle));
        CHECK_INT(SELENE_STEP_RUN, next(cycle, &run));
        CHECK(raise(SIGSTOP) == 0);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run.run, 0));
        /* All is well. What the owner's threads left in its memory is no leak of its own. */
        raise(SIGKILL);
    }
    CHECK(waitpid(worker, &status, WUNTRACED) == worker && WIFSTOPPED(status));
    check_sleep(100 * MS);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "t"));
    WAIT_UNTIL(state_of(owner, "t") != SELENE_STATE_RUNNING);
    struct facts facts = facts_of(owner, "t");
    CHECK_INT(SELENE_OUTCOME_FAILED, facts.last_outcome == SELENE_OUTCOME_EXPIRED
                                         ? SELENE_OUTCOME_FAILED
                                         : facts.last_outcome);
    CHECK_INT(1, facts.attempts);
    CHECK(kill(worker, SIGCONT) == 0);
    CHECK(waitpid(worker, &status, 0) == worker);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(go[0]);
    close(go[1]);
    close_store(owner);
}

/* ---- frames by hand ------------------------------------------------------------------------------ */

static uint64_t frame_of(void *frame, uint16_t operation, const uint64_t *words, size_t count) {
    struct head head = {(uint32_t)(sizeof head + 8 * count), operation, 0, 5};
    memcpy(frame, &head, sizeof head);
    memcpy((char *)frame + sizeof head, words, 8 * count);
    return head.length;
}

static int ask(int client, uint16_t operation, const uint64_t *words, size_t count, char *body) {
    char frame[512];
    size_t length = frame_of(frame, operation, words, count);
    CHECK(send(client, frame, length, MSG_NOSIGNAL) == (ssize_t)length);
    return raw_answer(client, body, 65536);
}

/** Joins, offers "h", begins a cycle of all defaults and takes a run, whose number is answered. */
static uint64_t raw_run(int client, char *body) {
    const uint64_t name[3] = {1, 1, 'h'}, offered[4] = {1, 1, 'h', 0}, window[2] = {0, 1};
    uint64_t cycle, run;
    CHECK_INT(0, ask(client, 88, name, 3, body));
    CHECK_INT(0, ask(client, 96, offered, 4, body));
    CHECK_INT(0, ask(client, 100, window, 2, body));
    memcpy(&cycle, body, 8);
    CHECK_INT(0, ask(client, 101, (const uint64_t[]){cycle, 1, 1, 1}, 4, body));
    memcpy(&run, body + 16 + offsetof(selene_run_info, run), 8);
    return run;
}

/** A completion that was sent counts, also where its process is gone before the answer. */
static void test_unheard(void) {
    static char body[65536];
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    selene_server server = serve(owner);
    add(owner, "t", "h");
    pid_t worker = fork();
    CHECK(worker >= 0);
    if (worker == 0) {
        char frame[64];
        int client = raw_client(file);
        uint64_t run = raw_run(client, body);
        size_t length = frame_of(frame, 112, (const uint64_t[]){run, 0}, 2);
        CHECK(send(client, frame, length, MSG_NOSIGNAL) == (ssize_t)length);
        kill(getpid(), SIGKILL);
    }
    int status;
    CHECK(waitpid(worker, &status, 0) == worker && WIFSIGNALED(status));
    WAIT_UNTIL(info_of_server(server).clients == 0);
    /* Either it was read, and it is done, or its process ended before; never both, and never lost. */
    int32_t state = state_of(owner, "t");
    CHECK(state == SELENE_STATE_SUCCEEDED || state == SELENE_STATE_ENQUEUED);
    CHECK(state == SELENE_STATE_SUCCEEDED || facts_of(owner, "t").attempts == 1);
    close_store(owner);
}

static void test_broken_frame(void) {
    static char body[65536];
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    serve(owner);
    add(owner, "t", "h");
    int client = raw_client(file);
    raw_run(client, body);
    CHECK_INT(SELENE_STATE_RUNNING, state_of(owner, "t"));
    /* Its arguments are cut off. */
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, ask(client, 112, NULL, 0, body));
    struct facts facts = facts_of(owner, "t");
    CHECK_INT(SELENE_STATE_ENQUEUED, facts.state);
    CHECK_INT(SELENE_STOP_INTERRUPTED, facts.stop_reason);
    CHECK(strstr(facts.failure, "not the protocol") != NULL);
    CHECK_INT(-1, raw_answer(client, body, sizeof body));
    close(client);
    close_store(owner);
}

/** Who is no member, and whose numbers are wrong, gets a status and goes on. */
static void test_wrong_numbers(void) {
    static char body[65536];
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    uint64_t seed = 20261124;
    serve(owner);
    add(owner, "t", "h");
    int client = raw_client(file);
    const uint64_t window[2] = {0, 1}, other[3] = {1, 1, 'o'};
    CHECK_INT(SELENE_ERROR_INVALID_HANDLE, ask(client, 100, window, 2, body));
    CHECK_INT(SELENE_ERROR_INVALID_HANDLE, ask(client, 112, (const uint64_t[]){1, 0}, 2, body));
    uint64_t run = raw_run(client, body);
    CHECK_INT(SELENE_ERROR_ALREADY_EXISTS, ask(client, 88, other, 3, body));
    /* A text or an output that says how long it is, and is not there. */
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT,
              ask(client, 119, (const uint64_t[]){run, 0, 5}, 3, body));
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT,
              ask(client, 118, (const uint64_t[]){run, 0, 0, 0, 5}, 5, body));
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT,
              ask(client, 114, (const uint64_t[]){run, 3, 0, 0, 5}, 5, body));
    for (int i = 0; i < 2000; i++) {
        static const uint16_t operations[] = {101, 102, 103, 112, 113, 115, 116, 117, 120};
        uint64_t words[4] = {chance(&seed), chance_below(&seed, 3), chance_below(&seed, 2),
                             chance_below(&seed, 2)};
        uint16_t operation = operations[chance_below(&seed, 9)];
        if (chance_below(&seed, 4) == 0) words[0] = run + 1 + chance_below(&seed, 4);
        if (chance_below(&seed, 8) == 0) words[0] &= 0xFFFFFFFF;
        if (words[0] == run) continue;
        int status = ask(client, operation, words, 4, body);
        CHECK(status == SELENE_ERROR_INVALID_HANDLE || status == SELENE_ERROR_STALE_RUN ||
              status == SELENE_ERROR_INVALID_ARGUMENT);
    }
    CHECK_INT(0, ask(client, 112, (const uint64_t[]){run, 0}, 2, body));
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "t"));
    close(client);
    close_store(owner);
}

/** Frames of these operations with a few bytes changed; the owner goes on, and its tasks are whole. */
static void test_fuzzed(void) {
    static char body[1 << 20];
    const char *file = path("t.db");
    selene_scheduler owner = open_here(file);
    uint64_t seed = 20261125;
    const int rounds = (int)check_environment("SELENE_TEST_ROUNDS", 1000);
    selene_server server = serve(owner);
    printf("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < rounds; i++) {
        unsigned char frame[700];
        char id[16];
        snprintf(id, sizeof id, "t%d", i);
        add(owner, id, "h");
        int client = raw_client(file);
        uint64_t run = raw_run(client, body), cycle;
        memcpy(&cycle, body + 16 + offsetof(selene_run_info, cycle), 8);
        for (int asked = 0; asked < 4; asked++) {
            static const uint16_t operations[] = {88,  89,  90,  91,  96,  97,  100, 101, 102, 103,
                                                  104, 105, 112, 113, 114, 115, 116, 117, 118, 119,
                                                  120, 4,   80,  92,  106, 107, 108, 109};
            const selene_driver driver = SELENE_INIT(selene_driver);
            selene_window window = lanes_of(S, 1);
            uint64_t words[40] = {run, chance_below(&seed, 5), 1, 1, chance_below(&seed, 9), 'x'};
            size_t count = 1 + chance_below(&seed, 8);
            uint16_t operation = operations[chance_below(&seed, sizeof operations / 2)];
            if (operation >= 101 && operation <= 105) words[0] = cycle;
            if (operation == 104) {
                memcpy(words + 1, (const uint64_t[]){run, 0, 1, 1, 1, 1}, 48);
                words[2] = chance_below(&seed, 6) - 1;
                if (chance_below(&seed, 4) > 0) count = 7;
            }
            if (operation == 100 || operation == 106) {
                words[0] = sizeof window;
                words[1] = 0;
                memcpy(words + 2, &window, sizeof window);
                count = 2 + (sizeof window + 7) / 8 + 1;
                words[count - 1] = 1;
                if (operation == 106) {
                    words[count - 1] = chance_below(&seed, 2);
                    words[count++] = 1;
                    words[count++] = 1;
                }
            }
            if (operation == 107) {
                words[0] = sizeof driver;
                words[1] = 0;
                memcpy(words + 2, &driver, sizeof driver);
                count = 2 + (sizeof driver + 7) / 8 + 1;
                words[count - 1] = chance_below(&seed, 2);
            }
            if (operation == 108) memcpy(words, (const uint64_t[]){1, 1, 1, 1}, 32);
            size_t length = frame_of(frame, operation, words, count);
            for (int changes = (int)chance_below(&seed, 3); changes > 0; changes--)
                frame[6 + chance_below(&seed, length - 6)] = (unsigned char)chance(&seed);
            (void)!send(client, frame, length, MSG_NOSIGNAL);
        }
        shutdown(client, SHUT_WR);
        while (raw_answer(client, body, sizeof body) >= 0) {
        }
        close(client);
        CHECK_OK(selene_task_cancel_all(owner, NULL));
    }
    WAIT_UNTIL(info_of_server(server).clients == 0);
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(owner, &info));
    CHECK_INT(0, info.running);
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L5 L8 a member offers a handler, takes a run and completes it", test_a_run);
    run_test("W8 L6 windows of a pool are told of its tasks", test_waits);
    run_test("L5 a handler's name belongs to one pool, or to the owner", test_names);
    run_test("L8 a run belongs to the member that took it", test_others_runs);
    run_test("L6 a second member joins the window of its pool", test_joining);
    run_test("who is connected, of which pool and with what", test_clients);
    run_test("L9 after an orderly close a task waits as before its run", test_orderly_close);
    run_test("L10 with another owner runs are over and handlers are offered again",
             test_another_owner);
    run_test("L9 a member that is killed, at each place of a cycle", test_killed);
    /* valgrind does not know the call by which a process is watched. */
    int watched = (int)syscall(434, getpid(), 0);
    if (watched >= 0) close(watched);
    if (watched >= 0 || errno != ENOSYS)
        run_test("L9 a member that is killed while a child holds its socket", test_held_socket);
    else
        skip_test("L9 a member that is killed while a child holds its socket", 1,
                  "a system without pidfd_open");
    run_test("L9 a member that stands still keeps its run until the deadline", test_stopped);
    run_test("L9 a completion whose answer nobody hears", test_unheard);
    run_test("L9 a broken frame ends a member as its death does", test_broken_frame);
    run_test("L8 wrong numbers of cycles and runs are refused", test_wrong_numbers);
    run_test("L12 frames of members with bytes changed", test_fuzzed);
    tools_end();
    return check_end();
}
