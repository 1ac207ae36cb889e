/*
 * server_older.c - a client whose owner is older than it, and does not know what it asks (docs/rules.md, L13)
 */
#include "misuse_arguments.h"
#include "server_door.h"
#include "server_host.h"

#include <poll.h>

/* ---- an older owner ------------------------------------------------------------------------- */

enum { OPERATIONS = 128, CLIENTS = 8, UNKNOWN = 60000 };

/**
 * Stands between clients and an owner, who is asked by another number what it shall not know; the owner answers that as it
 * answers what a later library asks.
 */
static struct {
    int count, client[CLIENTS], owner[CLIENTS];
    atomic_int is_unknown[OPERATIONS], asked[OPERATIONS], drops;
} between;

struct head {
    uint32_t length;
    uint16_t operation, status;
    uint64_t request;
};

static void know(int from, int to, int knows) {
    for (int i = from; i <= to; i++)
        atomic_store(&between.is_unknown[i], !knows);
}

static int pass(int from, int to, int is_request) {
    static char frame[65536];
    struct head head;
    if (recv(from, &head, sizeof head, MSG_WAITALL) != (ssize_t)sizeof head) return 0;
    size_t rest = head.length - sizeof head;
    CHECK(head.length >= sizeof head && head.length <= sizeof frame);
    if (rest > 0 && recv(from, frame + sizeof head, rest, MSG_WAITALL) != (ssize_t)rest) return 0;
    if (is_request && head.operation < OPERATIONS) {
        int operation = head.operation;
        if (atomic_load(&between.is_unknown[operation]))
            head.operation = (uint16_t)(UNKNOWN + operation);
        atomic_fetch_add(&between.asked[operation], 1);
    } else if (!is_request && head.operation >= UNKNOWN) {
        head.operation = (uint16_t)(head.operation - UNKNOWN);
    }
    memcpy(frame, &head, sizeof head);
    return send(to, frame, head.length, MSG_NOSIGNAL) == (ssize_t)head.length;
}

static void drop(int at) {
    close(between.client[at]);
    close(between.owner[at]);
    between.count--;
    between.client[at] = between.client[between.count];
    between.owner[at] = between.owner[between.count];
}

static void *stand_between(void *context) {
    (void)context;
    while (!atomic_load(&door.ends)) {
        struct pollfd polled[1 + 2 * CLIENTS] = {{door.listener, POLLIN, 0}};
        int count = between.count;
        for (int i = 0; i < count; i++) {
            polled[1 + 2 * i] = (struct pollfd){between.client[i], POLLIN, 0};
            polled[2 + 2 * i] = (struct pollfd){between.owner[i], POLLIN, 0};
        }
        poll(polled, (nfds_t)(1 + 2 * count), 10);
        for (int i = count - 1; i >= 0; i--) {
            int is_whole = 1;
            if (polled[1 + 2 * i].revents) is_whole = pass(between.client[i], between.owner[i], 1);
            if (is_whole && polled[2 + 2 * i].revents)
                is_whole = pass(between.owner[i], between.client[i], 0);
            if (!is_whole) drop(i);
        }
        if (atomic_load(&between.drops)) {
            while (between.count > 0)
                drop(0);
            atomic_store(&between.drops, 0);
        }
        if (polled[0].revents && between.count < CLIENTS) {
            int client = accept(door.listener, NULL, NULL);
            int owner = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            CHECK(client >= 0 && owner >= 0);
            CHECK(connect(owner, (const void *)&door.served, sizeof door.served) == 0);
            between.client[between.count] = client;
            between.owner[between.count++] = owner;
        }
    }
    while (between.count > 0)
        drop(0);
    return NULL;
}

/** An owner, and what stands before it. */
static selene_scheduler open_owner(void) {
    selene_scheduler owner = open_default();
    memset(&between, 0, sizeof between);
    open_door(owner, stand_between);
    return owner;
}

/** As if another owner had come: all connections end. */
static void change_owner(void) {
    atomic_store(&between.drops, 1);
    WAIT_UNTIL(atomic_load(&between.drops) == 0);
}

/* ---- words ------------------------------------------------------------------------------------ */

static void add(selene_scheduler scheduler, const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    task.expected_response = SELENE_MILLISECOND;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static uint32_t attempts_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    uint32_t attempts = info->attempts;
    selene_free(info);
    return attempts;
}

static selene_window patient(uint32_t flags) {
    selene_window window = SELENE_INIT(selene_window);
    window.budget = SELENE_HOUR;
    window.reserve = SELENE_NONE;
    window.flags = flags;
    return window;
}

/** What can run is pulled. */
static void pull(selene_scheduler member, int64_t runs) {
    selene_window window = patient(0);
    selene_cycle cycle = 0;
    selene_report *report = NULL;
    int32_t step = SELENE_STEP_WAIT;
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    while (step != SELENE_STEP_DONE) {
        selene_run_info run = SELENE_INIT(selene_run_info);
        CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
        if (step == SELENE_STEP_RUN)
            CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    }
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(runs, report->new_data);
    selene_free(report);
}

/** A call of what the owner does not know: which process it is that does not, and nothing is written. */
static void check_unknown(const char *name, selene_status status) {
    const char *detail = selene_error_last()->message.data;
    if (status != SELENE_ERROR_UNSUPPORTED || strstr(detail, "is not known to process") == NULL) {
        fprintf(stderr, "%s: %s (%s)\n", name, selene_name(SELENE_NAMES_STATUS, status), detail);
        check_fail();
    }
    CHECK(strstr(detail, SELENE_VERSION_STRING) != NULL);
    CHECK(strcmp(selene_error_last()->field.data, "operation") == 0);
    if (!outs_untouched()) {
        fprintf(stderr, "%s wrote an output\n", name);
        check_fail();
    }
}

static int is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return 1;
    return 0;
}

/* ---- every function ------------------------------------------------------------------------------ */

/** What is not asked of the owner: what it alone can do (L16), and what is settled here. */
static const char *const others[] = {
    "selene_scheduler_close",   "selene_scheduler_drain", "selene_scheduler_reset",
    "selene_scheduler_observe", "selene_store_backup",    "selene_governor_set_profile",
    "selene_governor_forecast", "selene_trace_record",    "selene_server_start",
    "selene_server_open",       "selene_clock_set",       "selene_clock_advance",
    "selene_driver_wait",       "selene_driver_step",     "selene_driver_stop",
    "selene_events_next",       "selene_events_close",    "selene_handler_unregister",
    "selene_cycle_descriptor",  "selene_lane_close",      "selene_run_set_user",
    "selene_run_user",          "selene_run_sleep",       "selene_node_open",
    "selene_node_step",         "selene_node_wait",       "selene_node_rows",
    "selene_node_failed",       "selene_node_hint",       "selene_node_get",
    "selene_node_leave",        "selene_node_close"};

static void test_schedulers(void) {
    int tried = 0;
    selene_scheduler owner = open_owner();
    int64_t now;
    selene_scheduler connection = connect_here();
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        if (call->type != TAKES_SCHEDULER || is_among(call->name, others, COUNT(others))) continue;
        int ended = atomic_load(&destroyed);
        know(1, OPERATIONS - 1, 0);
        outs_reset();
        check_unknown(call->name, call->call(connection));
        CHECK_INT(call->destroys, atomic_load(&destroyed) - ended);
        /* It is the same connection still. */
        know(1, OPERATIONS - 1, 1);
        CHECK_OK(selene_scheduler_now(connection, &now));
        tried++;
    }
    CHECK(tried > 45);
    /* Events come over a connection of their own. */
    CHECK_INT(2, between.asked[0]);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_door(owner);
}

/** What is asked of cycles, lanes and runs; they go on as if it had not been asked. */
static void test_runs(void) {
    int tried = 0;
    selene_scheduler owner = open_owner();
    selene_scheduler member = connect_here();
    add_pulled_handler(member, "h");
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        if (call->type == TAKES_SCHEDULER || is_among(call->name, others, COUNT(others))) continue;
        int has_lanes = call->type == TAKES_LANE || strcmp(call->name, "selene_lane_open") == 0 ||
                        strcmp(call->name, "selene_cycle_wait") == 0;
        selene_window window = patient(has_lanes ? SELENE_WINDOW_LANES : 0);
        selene_cycle cycle = 0;
        selene_lane lane = 0;
        selene_report *report = NULL;
        int32_t step = SELENE_STEP_DONE;
        selene_run_info run = SELENE_INIT(selene_run_info);
        window.lanes = 2;
        add(owner, call->name);
        CHECK_OK(selene_cycle_begin(member, &window, &cycle));
        if (has_lanes) CHECK_OK(selene_lane_open(cycle, &lane));
        CHECK_OK(has_lanes ? selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &run, NULL)
                           : selene_cycle_next(cycle, &step, &run, NULL));
        CHECK_INT(SELENE_STEP_RUN, step);
        know(1, OPERATIONS - 1, 0);
        outs_reset();
        selene_status status = call->call(call->type == TAKES_LANE    ? lane
                                          : call->type == TAKES_CYCLE ? cycle
                                                                      : run.run);
        if (strcmp(call->name, "selene_lane_open") == 0) {
            /* A place for a thread is this side's. */
            CHECK_OK(status);
            CHECK_OK(selene_lane_close(outs.handle));
        } else {
            check_unknown(call->name, status);
        }
        know(1, OPERATIONS - 1, 1);
        CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
        if (has_lanes) CHECK_OK(selene_lane_close(lane));
        CHECK_OK(selene_cycle_end(cycle, &report));
        CHECK_INT(1, report->new_data);
        CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, call->name));
        selene_free(report);
        tried++;
    }
    CHECK(tried > 10);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_door(owner);
}

/* ---- what came last ---------------------------------------------------------------------------------- */

/** An owner before 92 and 106: handlers are not called, and can be pulled. */
static void test_no_calls(void) {
    selene_scheduler owner = open_owner();
    struct work work = {0};
    selene_window window = patient(0);
    selene_scheduler member = connect_here();
    know(92, 92, 0);
    know(106, OPERATIONS - 1, 0);
    know(112, 120, 1);
    offer_work(member, "h", &work);
    add(member, "a");
    outs_reset();
    check_unknown("selene_cycle_run", selene_cycle_run(member, &window, &outs.report));
    int ended = atomic_load(&destroyed), told = atomic_load(&called);
    check_unknown("selene_cycle_run_async",
                  selene_cycle_run_async(member, &window, count_report, NULL, count_destroy,
                                         &outs.handle, &outs.instant));
    CHECK_INT(1, atomic_load(&destroyed) - ended);
    CHECK_INT(told, atomic_load(&called));
    CHECK_INT(0, work.calls);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "a"));
    CHECK_INT(0, attempts_of(owner, "a"));
    pull(member, 1);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "a"));
    end_working(member, PATIENCE, &work);
    close_door(owner);
}

/** An owner that does not know 92, though it had windows: the close ends, and nothing is lost. */
static void test_no_rest(void) {
    selene_scheduler owner = open_owner();
    struct work work = {.waits = 1};
    selene_window window = patient(0);
    selene_scheduler member = connect_here();
    know(92, 92, 0);
    offer_work(member, "h", &work);
    add(member, "a");
    int ended = atomic_load(&destroyed);
    CHECK_OK(selene_cycle_run_async(member, &window, NULL, NULL, count_destroy, NULL, NULL));
    WAIT_UNTIL(work.calls == 1);
    CHECK_OK(selene_scheduler_close(member, 0));
    CHECK_INT(1, atomic_load(&destroyed) - ended);
    CHECK_INT(1, between.asked[92]);
    /* It was asked to stop, and may have completed before the connection ended. */
    WAIT_UNTIL(state_of(owner, "a") != SELENE_STATE_RUNNING);
    int32_t state = state_of(owner, "a");
    CHECK(state == SELENE_STATE_ENQUEUED || state == SELENE_STATE_SUCCEEDED);
    let_go(&work);
    close_door(owner);
}

/** An owner that grants no windows. A driver is refused; one that was open before waits for an owner that does. */
static void test_no_grants(void) {
    selene_scheduler owner = open_owner();
    struct work work = {0};
    selene_cycle cycle = 0;
    selene_scheduler member = connect_here();
    know(107, 109, 0);
    offer_work(member, "h", &work);
    outs_reset();
    check_unknown("selene_driver_start", selene_driver_start(member, NULL));
    check_unknown("selene_driver_open", selene_driver_open(member, NULL, &outs.number));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_driver_step(member, &cycle, NULL));
    CHECK(strstr(selene_error_last()->message.data, "no driver") != NULL);
    CHECK_OK(selene_driver_stop(member, 0));
    add(member, "a");
    pull(member, 1);
    CHECK_INT(SELENE_STATE_SUCCEEDED, state_of(owner, "a"));

    know(107, 109, 1);
    int ends = between.asked[102];
    CHECK_OK(selene_driver_start(member, NULL));
    add(member, "b");
    WAIT_UNTIL(state_of(owner, "b") == SELENE_STATE_SUCCEEDED);
    /* Who says how it ended asks for the next one: what comes then would begin, and go with the connection. */
    WAIT_UNTIL(between.asked[102] > ends);
    know(107, 109, 0);
    change_owner();
    add(owner, "c");
    /* Also with nobody who calls. */
    int asked = between.asked[108];
    WAIT_UNTIL(between.asked[108] > asked + 2);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(owner, "c"));
    pull(member, 1);
    CHECK_INT(1, work.calls);
    add(owner, "d");
    know(107, 109, 1);
    change_owner();
    WAIT_UNTIL(state_of(owner, "d") == SELENE_STATE_SUCCEEDED);
    /* That it ends is its own matter, whatever the owner says. */
    know(107, 109, 0);
    change_owner();
    CHECK_OK(selene_driver_stop(member, PATIENCE));
    know(107, 109, 1);
    CHECK_OK(selene_driver_open(member, NULL, NULL));
    know(108, 108, 0);
    outs_reset();
    check_unknown("selene_driver_step", selene_driver_step(member, &outs.handle, &outs.instant));
    end_working(member, PATIENCE, &work);
    close_door(owner);
}

/** A next owner that does not know 121: what was taken before is over, and the rest goes on. */
static void test_without_adoption(void) {
    selene_scheduler owner = open_owner(), member = connect_here();
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    int32_t step = -1;
    know(121, 121, 0);
    CHECK_OK(selene_handler_register(member, "h", -1, NULL, NULL, NULL, NULL));
    add(member, "t");
    window.kinds = SELENE_KIND_REFRESH;
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    change_owner();
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, atomic_load(&between.asked[121]));
    CHECK_INT(1, attempts_of(member, "t"));
    CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(1, atomic_load(&between.asked[121]));
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_door(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("L13 what an owner does not know it refuses by name, and the connection goes on",
             test_schedulers);
    run_test("L13 what is refused so changes no cycle, lane or run", test_runs);
    run_test("L13 with an owner that knows no windows of calls the work is pulled", test_no_calls);
    run_test("L13 with an owner that cannot be told of a rest a close ends all the same",
             test_no_rest);
    run_test("L13 with a next owner that adopts no runs they are over", test_without_adoption);
    run_test("L13 a driver waits for an owner that grants windows", test_no_grants);
    return check_end();
}
