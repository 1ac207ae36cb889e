/*
 * server_cut.c - a connection that ends at any byte of what is asked or answered (docs/rules.md, L4, L9, L10)
 *
 * SELENE_TEST_STRIDE says how many bytes lie between two cuts, but near the begin and the end of what is said, where each
 * byte is one: 17, or 1 by `make torture`; 67 where everything is slow.
 */
#include "misuse_arguments.h"
#include "server_door.h"
#include "server_host.h"

#include <poll.h>

/* ---- what stands between ------------------------------------------------------------------- */

enum way { TO_OWNER, TO_CLIENT };

/** Passes bytes between clients and an owner; once, if it is told to, only so many one way, and then both sides have ended. */
static struct {
    int client, owner;
    /** How many bytes have passed each way since arm(), and how many may; −1: any number. */
    atomic_long passed[2], limit[2];
    atomic_int cuts;
} between;

static void part(void) {
    close(between.client);
    close(between.owner);
    between.client = between.owner = -1;
}

/** What has come from one side goes to the other; 0: they are parted. */
static int pass(int from, int to, enum way way) {
    static char bytes[65536];
    long limit = atomic_load(&between.limit[way]), passed = atomic_load(&between.passed[way]);
    size_t most =
        limit < 0 || limit - passed > (long)sizeof bytes ? sizeof bytes : (size_t)(limit - passed);
    char byte;
    if (most == 0 && recv(from, &byte, 1, MSG_PEEK) == 1) {
        /* It is as if the process at the other end had been killed here. */
        atomic_store(&between.limit[way], -1);
        atomic_fetch_add(&between.cuts, 1);
        return 0;
    }
    ssize_t count = recv(from, bytes, most, 0);
    if (count <= 0) return 0;
    /* Before they are there, so that who has them may count anew. */
    atomic_fetch_add(&between.passed[way], count);
    return send(to, bytes, (size_t)count, MSG_NOSIGNAL) == count;
}

static void *stand_between(void *context) {
    (void)context;
    while (!atomic_load(&door.ends)) {
        struct pollfd polled[3] = {{between.client < 0 ? door.listener : -1, POLLIN, 0},
                                   {between.client, POLLIN, 0},
                                   {between.owner, POLLIN, 0}};
        poll(polled, 3, 10);
        if (polled[0].revents) {
            between.client = accept(door.listener, NULL, NULL);
            between.owner = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            CHECK(between.client >= 0 && between.owner >= 0);
            CHECK(connect(between.owner, (const void *)&door.served, sizeof door.served) == 0);
            continue;
        }
        int is_whole = 1;
        if (polled[1].revents) is_whole = pass(between.client, between.owner, TO_OWNER);
        if (is_whole && polled[2].revents)
            is_whole = pass(between.owner, between.client, TO_CLIENT);
        if (!is_whole) part();
    }
    if (between.client >= 0) part();
    return NULL;
}

/** From now on bytes are counted, and one way only so many pass; −1: all. */
static void arm(enum way way, long limit) {
    atomic_store(&between.limit[!way], -1);
    atomic_store(&between.passed[TO_OWNER], 0);
    atomic_store(&between.passed[TO_CLIENT], 0);
    atomic_store(&between.cuts, 0);
    atomic_store(&between.limit[way], limit);
}

static void stand_before(selene_scheduler owner) {
    memset(&between, 0, sizeof between);
    between.client = between.owner = -1;
    arm(TO_OWNER, -1);
    open_door(owner, stand_between);
}

/** Where the next cut is, of so many bytes that were said: near the begin and the end at each of them. */
static long next_cut(long at, long whole) {
    static long stride;
    if (stride == 0) stride = (long)check_environment("SELENE_TEST_STRIDE", check_tasks(17, 67));
    if (at < 33 || at + stride >= whole - 9) return at + 1;
    return at + stride;
}

/* ---- each function of a scheduler ------------------------------------------------------------ */

/** What the owner alone can do (L16), what only runs of a fleet answer, and what is settled on this side or in a connection
 *  of its own. */
static const char *const others[] = {
    "selene_scheduler_close",    "selene_scheduler_drain", "selene_scheduler_reset",
    "selene_scheduler_observe",  "selene_store_backup",    "selene_governor_set_profile",
    "selene_governor_forecast",  "selene_trace_record",    "selene_server_start",
    "selene_server_open",        "selene_clock_set",       "selene_clock_advance",
    "selene_run_sleep",          "selene_driver_wait",     "selene_events_open",
    "selene_events_next",        "selene_events_close",    "selene_cycle_descriptor",
    "selene_lane_open",          "selene_lane_close",      "selene_run_set_user",
    "selene_run_user",           "selene_driver_step",     "selene_driver_stop",
    "selene_handler_unregister", "selene_run_fence",       "selene_run_decided_by_host",
    "selene_node_open",          "selene_node_step",       "selene_node_wait",
    "selene_node_rows",          "selene_node_failed",     "selene_node_hint",
    "selene_node_get",           "selene_node_leave",      "selene_node_close"};

/** What may have been done when the answer never came; the others are asked once more. */
static const char *const changing[] = {
    "selene_scheduler_prune", "selene_task_register",      "selene_task_register_batch",
    "selene_task_cancel",     "selene_task_cancel_tag",    "selene_task_cancel_all",
    "selene_task_retry",      "selene_task_launch",        "selene_task_expire",
    "selene_task_pause",      "selene_task_pause_tag",     "selene_task_resume",
    "selene_task_resume_tag", "selene_task_set_next",      "selene_ledger_report",
    "selene_use_report",      "selene_condition_undefine", "selene_task_retry_successors",
    "selene_task_retry_all"};

/** What a member of a pool asks, see below. */
static const char *const working[] = {"selene_handler_register", "selene_cycle_begin",
                                      "selene_cycle_run",        "selene_cycle_run_async",
                                      "selene_driver_start",     "selene_driver_open"};

static int is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return 1;
    return 0;
}

static void fails(const char *name, enum way way, long cut, selene_status status) {
    fprintf(stderr, "%s, cut at byte %ld to the %s: %s (%s)%s\n", name, cut,
            way == TO_OWNER ? "owner" : "client", selene_name(SELENE_NAMES_STATUS, status),
            selene_error_last()->message.data, outs_untouched() ? "" : ", outputs were written");
    check_fail();
}

static void test_schedulers(void) {
    selene_scheduler owner = open_furnished();
    stand_before(owner);
    selene_scheduler connection = connect_here();
    int tried = 0;
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        if (call->type != TAKES_SCHEDULER || is_among(call->name, others, COUNT(others)) ||
            is_among(call->name, working, COUNT(working)))
            continue;
        int is_changing = is_among(call->name, changing, COUNT(changing));
        long whole[2];
        outs_reset();
        arm(TO_OWNER, -1);
        /* The second one finds what the first one changed. */
        (void)call->call(connection);
        outs_free();
        arm(TO_OWNER, -1);
        selene_status expected = call->call(connection);
        outs_free();
        for (int way = TO_OWNER; way <= TO_CLIENT; way++)
            whole[way] = atomic_load(&between.passed[way]);
        for (int way = TO_OWNER; way <= TO_CLIENT; way++) {
            for (long cut = 0; cut < whole[way]; cut = next_cut(cut, whole[way])) {
                /* Who was cut off comes again first. */
                int64_t now;
                CHECK_OK(selene_scheduler_now(connection, &now));
                arm((enum way)way, cut);
                selene_status status = call->call(connection);
                if (atomic_load(&between.cuts) != 1) fails(call->name, (enum way)way, cut, status);
                if (is_changing && (status != SELENE_ERROR_OWNER_AWAY || !outs_untouched() ||
                                    strstr(selene_error_last()->message.data,
                                           "may have been carried out") == NULL))
                    fails(call->name, (enum way)way, cut, status);
                if (!is_changing && status != expected)
                    fails(call->name, (enum way)way, cut, status);
                outs_free();
            }
        }
        tried++;
    }
    CHECK(tried > 40);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_door(owner);
}

/** A registration that did not come whole is not made, one whose answer did not is made once. */
static void test_registrations(void) {
    selene_scheduler owner = open_default();
    stand_before(owner);
    selene_scheduler connection = connect_here();
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    uint64_t count = 0;
    long whole[2] = {1, 1};
    for (int way = TO_OWNER; way <= TO_CLIENT; way++) {
        for (long cut = way == TO_OWNER ? -1 : 0; cut < whole[way];
             cut = cut < 0 ? 0 : next_cut(cut, whole[way])) {
            char id[32];
            int32_t disposition = 0;
            selene_task_info *found = NULL;
            snprintf(id, sizeof id, "%04ld to %d", cut + 1, way);
            selene_task task = task_of(id);
            task.schedule = SELENE_SCHEDULE_STANDING;
            arm((enum way)way, cut);
            selene_status status = selene_task_register(connection, &task, &disposition);
            CHECK_STATUS(cut < 0 ? SELENE_OK : SELENE_ERROR_OWNER_AWAY, status);
            if (cut < 0)
                for (int each = TO_OWNER; each <= TO_CLIENT; each++)
                    whole[each] = atomic_load(&between.passed[each]);
            /* The next call comes behind whatever there was of it. */
            int is_made = cut < 0 || way == TO_CLIENT;
            CHECK_STATUS(is_made ? SELENE_OK : SELENE_ERROR_NOT_FOUND,
                         selene_task_get(connection, id, -1, 0, &found));
            selene_free(found);
            count += (uint64_t)is_made;
            CHECK_OK(selene_scheduler_get(owner, &info));
            CHECK_INT(count, info.enqueued);
        }
    }
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_door(owner);
}

/* ---- members ------------------------------------------------------------------------------------ */

static void add(selene_scheduler scheduler, const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    task.expected_response = SELENE_MILLISECOND;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

static selene_window window_of(int has_lanes) {
    selene_window window = SELENE_INIT(selene_window);
    window.kinds = SELENE_KIND_REFRESH;
    window.budget = SELENE_HOUR;
    window.reserve = SELENE_NONE;
    window.flags = has_lanes ? SELENE_WINDOW_LANES : 0;
    return window;
}

/** What a cycle, a lane or a run is asked: the call, and how many bytes it said each way. */
static selene_status ask_of_run(const struct handle_call *call, selene_scheduler owner,
                                selene_scheduler member, enum way way, long cut, long *whole) {
    int has_lanes = call->type == TAKES_LANE || strcmp(call->name, "selene_cycle_wait") == 0;
    selene_window window = window_of(has_lanes);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    selene_lane lane = 0;
    int32_t step = SELENE_STEP_DONE;
    CHECK_OK(selene_task_cancel_all(owner, NULL));
    add(owner, "t");
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    if (has_lanes) CHECK_OK(selene_lane_open(cycle, &lane));
    CHECK_OK(has_lanes ? selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &run, NULL)
                       : selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    outs_reset();
    arm(way, cut);
    selene_status status =
        strcmp(call->name, "selene_lane_next") == 0
            ? selene_lane_next(lane, SELENE_OUTCOME_NEW_DATA, 0, &outs.number, &outs.run_info, NULL)
        : strcmp(call->name, "selene_cycle_wait") == 0
            ? selene_cycle_wait(cycle, 0, &outs.report, NULL)
            : call->call(call->type == TAKES_CYCLE ? cycle : run.run);
    for (int each = TO_OWNER; each <= TO_CLIENT; each++)
        whole[each] = atomic_load(&between.passed[each]);
    int is_cut = atomic_load(&between.cuts) == 1;
    if ((cut >= 0) != is_cut || (status != SELENE_OK && !outs_untouched()) ||
        (is_cut && status != SELENE_ERROR_OWNER_AWAY && status != SELENE_ERROR_STALE_RUN &&
         status != SELENE_ERROR_INVALID_HANDLE))
        fails(call->name, way, cut, status);
    outs_free();
    if (has_lanes) CHECK_OK(selene_lane_close(lane));
    if (!is_cut) {
        (void)selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA);
        (void)selene_cycle_end(cycle, NULL);
    }
    return status;
}

/** A run whose member's connection was cut is over: as the member said, if that came whole, else it was interrupted. */
static void check_ended(selene_scheduler owner, const char *name, enum way way) {
    int is_complete = strcmp(name, "selene_run_complete") == 0 ||
                      strcmp(name, "selene_run_complete_until") == 0 ||
                      strcmp(name, "selene_lane_next") == 0;
    selene_task_info *info = NULL;
    WAIT_UNTIL(state_of(owner, "t") != SELENE_STATE_RUNNING);
    CHECK_OK(selene_task_get(owner, "t", -1, 0, &info));
    if (is_complete && way == TO_CLIENT) {
        CHECK_INT(SELENE_STATE_SUCCEEDED, info->state);
    } else {
        CHECK_INT(SELENE_STATE_ENQUEUED, info->state);
        CHECK(info->attempts <= 1);
    }
    selene_free(info);
}

static void test_runs(void) {
    selene_scheduler owner = open_default();
    stand_before(owner);
    selene_scheduler member = connect_here();
    add_pulled_handler(member, "h");
    int tried = 0;
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        long whole[2], passed[2];
        if (call->type == TAKES_SCHEDULER || is_among(call->name, others, COUNT(others))) continue;
        CHECK_OK(ask_of_run(call, owner, member, TO_OWNER, -1, whole));
        for (int way = TO_OWNER; way <= TO_CLIENT; way++) {
            for (long cut = 0; cut < whole[way]; cut = next_cut(cut, whole[way])) {
                ask_of_run(call, owner, member, (enum way)way, cut, passed);
                check_ended(owner, call->name, (enum way)way);
            }
        }
        tried++;
    }
    CHECK(tried > 10);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_door(owner);
}

/* ---- windows, handlers and an end ------------------------------------------------------------------- */

static int32_t ask_to_work(selene_scheduler member, const char *what) {
    if (strcmp(what, "register") == 0)
        return selene_handler_register(member, "new", -1, NULL, NULL, NULL, NULL);
    if (strcmp(what, "unregister") == 0) return selene_handler_unregister(member, "h", -1);
    if (strcmp(what, "open") == 0) return selene_driver_open(member, NULL, NULL);
    if (strcmp(what, "step") == 0) {
        selene_cycle cycle = 0;
        return selene_driver_step(member, &cycle, NULL);
    }
    if (strcmp(what, "stop") == 0) return selene_driver_stop(member, 0);
    if (strcmp(what, "run") == 0) {
        selene_window window = window_of(0);
        return selene_cycle_run(member, &window, NULL);
    }
    return selene_scheduler_close(member, 0);
}

/** Whatever a member that offers a handler was at, the next one can do all of it. */
static void test_members(void) {
    static const char *const asked[] = {"register", "unregister", "open", "step",
                                        "stop",     "run",        "close"};
    selene_scheduler owner = open_default();
    stand_before(owner);
    for (size_t i = 0; i < COUNT(asked); i++) {
        long whole[2] = {1, 1};
        int has_driver = strcmp(asked[i], "step") == 0 || strcmp(asked[i], "stop") == 0;
        for (int way = TO_OWNER; way <= TO_CLIENT; way++) {
            for (long cut = way == TO_OWNER ? -1 : 0; cut < whole[way];
                 cut = cut < 0 ? 0 : next_cut(cut, whole[way])) {
                struct work work = {0};
                CHECK_OK(selene_task_cancel_all(owner, NULL));
                selene_scheduler member = connect_here();
                offer_work(member, "h", &work);
                if (has_driver) CHECK_OK(selene_driver_open(member, NULL, NULL));
                add(owner, "t");
                arm((enum way)way, cut);
                selene_status status = ask_to_work(member, asked[i]);
                if (cut < 0)
                    for (int each = TO_OWNER; each <= TO_CLIENT; each++)
                        whole[each] = atomic_load(&between.passed[each]);
                if (status != SELENE_OK && (cut < 0 || status != SELENE_ERROR_OWNER_AWAY))
                    fails(asked[i], (enum way)way, cut, status);
                arm(TO_OWNER, -1);
                if (strcmp(asked[i], "close") != 0) {
                    if (has_driver) CHECK_OK(selene_driver_stop(member, 0));
                    CHECK_OK(selene_scheduler_close(member, 0));
                }
                let_go(&work);
                WAIT_UNTIL(state_of(owner, "t") != SELENE_STATE_RUNNING);
                int32_t state = state_of(owner, "t");
                CHECK(state == SELENE_STATE_ENQUEUED || state == SELENE_STATE_SUCCEEDED);
            }
        }
    }
    close_door(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("L10 each function, its connection cut at any byte, answers rightly or not at all",
             test_schedulers);
    run_test("L4 a registration is made once if it came whole, and else not", test_registrations);
    run_test("L9 each function of a run, cut at any byte, ends it once", test_runs);
    run_test("L9 a member's window, handler, driver or end, cut at any byte, leaves nothing behind",
             test_members);
    return check_end();
}
