/*
 * misuse_connection.c - every function, and every wrong argument, through a connection and directly: the same status,
 * the same detail, the same outputs (docs/rules.md, L3)
 */
#include "misuse_arguments.h"

/** What the owner alone can do (L16). */
static const char *const owners_alone[] = {"selene_scheduler_drain",
                                           "selene_scheduler_reset",
                                           "selene_scheduler_observe",
                                           "selene_store_backup",
                                           "selene_governor_set_profile",
                                           "selene_governor_forecast",
                                           "selene_trace_record",
                                           "selene_server_start",
                                           "selene_server_open",
                                           "selene_clock_set",
                                           "selene_clock_advance",
                                           "selene_node_open",
                                           "selene_node_step",
                                           "selene_node_wait",
                                           "selene_node_rows",
                                           "selene_node_failed",
                                           "selene_node_hint",
                                           "selene_node_get",
                                           "selene_node_leave",
                                           "selene_node_close"};

/** What is a member's there, and what differs with who is connected: server_work.c, server_calls.c, server_grants.c. */
static const char *const members[] = {
    "selene_handler_register", "selene_handler_unregister", "selene_cycle_begin",
    "selene_cycle_run",        "selene_cycle_run_async",    "selene_client_list",
    "selene_driver_start",     "selene_driver_open",        "selene_driver_step",
    "selene_driver_stop",      "selene_driver_wait"};

static int is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) return 1;
    return 0;
}

static char folder[] = "/tmp/connection-XXXXXX", socket_path[sizeof folder + 16];
static selene_scheduler direct, owner, connection;

/** Two schedulers that hold the same, the second behind a connection. */
static void open_pair(void) {
    selene_server_options terms = SELENE_INIT(selene_server_options);
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_server server = 0;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    direct = open_furnished();
    owner = open_furnished();
    terms.path = to.path = text_of(socket_path);
    CHECK_OK(selene_server_start(owner, &terms, &server));
    CHECK_OK(selene_scheduler_connect(&to, &connection));
}

static void close_pair(void) {
    static struct picture one, other;
    picture_take(&one, direct);
    picture_take(&other, connection);
    /* But for the numbers of their lives. */
    size_t life = offsetof(selene_scheduler_info, life);
    memset(one.bytes + life, 0, sizeof(uint64_t));
    memset(other.bytes + life, 0, sizeof(uint64_t));
    CHECK_INT(one.length, other.length);
    CHECK(memcmp(one.bytes, other.bytes, one.length) == 0);
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_OK(selene_scheduler_close(owner, 0));
    CHECK_OK(selene_scheduler_close(direct, 0));
    CHECK(rmdir(folder) == 0);
}

static void same_detail(const char *what, const char *expected) {
    if (strcmp(expected, selene_error_last()->message.data) == 0) return;
    fprintf(stderr, "%s: directly \"%s\", through the connection \"%s\"\n", what, expected,
            selene_error_last()->message.data);
    check_fail();
}

static void test_every_function(void) {
    open_pair();
    for (size_t i = 0; i < HANDLE_CALLS; i++) {
        const struct handle_call *call = &handle_calls[i];
        struct outs expected;
        char detail[1024];
        int is_owners = is_among(call->name, owners_alone, COUNT(owners_alone));
        if (call->type != TAKES_SCHEDULER || call->call == call_close) continue;
        if (is_among(call->name, members, COUNT(members))) continue;
        outs_reset();
        if (is_owners) {
            call_refused(call, connection, SELENE_ERROR_UNSUPPORTED);
            CHECK(strstr(selene_error_last()->message.data, "connection") != NULL);
            continue;
        }
        selene_status status = call->call(direct);
        snprintf(detail, sizeof detail, "%s", selene_error_last()->message.data);
        expected = outs;
        outs_reset();
        selene_status got = call->call(connection);
        if (got != status) fprintf(stderr, "%s: ", call->name);
        CHECK_INT(status, got);
        if (status != SELENE_OK) {
            same_detail(call->name, detail);
            CHECK(outs_untouched());
        }
        if (expected.task_ids != outs_before.task_ids) {
            CHECK_INT(expected.task_ids->count, outs.task_ids->count);
            for (uint64_t k = 0; k < outs.task_ids->count; k++)
                CHECK_TEXT(expected.task_ids->ids[k].data, outs.task_ids->ids[k]);
            selene_free(expected.task_ids);
            selene_free(outs.task_ids);
        }
        if (expected.task_info != outs_before.task_info) {
            CHECK_INT(expected.task_info->sequence, outs.task_info->sequence);
            selene_free(expected.task_info);
            selene_free(outs.task_info);
        }
        if (expected.output != outs_before.output) {
            CHECK_INT(expected.output->output.length, outs.output->output.length);
            selene_free(expected.output);
            selene_free(outs.output);
        }
        if (expected.plan != outs_before.plan) {
            CHECK_INT(expected.plan->run_count, outs.plan->run_count);
            for (uint64_t k = 0; k < outs.plan->run_count; k++)
                CHECK_TEXT(expected.plan->runs[k].id.data, outs.plan->runs[k].id);
            selene_free(expected.plan);
            selene_free(outs.plan);
        }
        if (expected.waits != outs_before.waits) {
            CHECK_INT(expected.waits->part_count, outs.waits->part_count);
            CHECK_INT(expected.waits->change_count, outs.waits->change_count);
            for (uint64_t k = 0; k < outs.waits->change_count; k++) {
                CHECK_INT(expected.waits->changes[k].at, outs.waits->changes[k].at);
                CHECK_INT(expected.waits->changes[k].reason, outs.waits->changes[k].reason);
                CHECK_INT(expected.waits->changes[k].detail, outs.waits->changes[k].detail);
                CHECK_INT(expected.waits->changes[k].name.length,
                          outs.waits->changes[k].name.length);
            }
            selene_free(expected.waits);
            selene_free(outs.waits);
        }
        if (expected.store_info != outs_before.store_info) {
            CHECK_TEXT(expected.store_info->path.data, outs.store_info->path);
            selene_free(expected.store_info);
            selene_free(outs.store_info);
        }
        if (expected.decision != outs_before.decision) {
            CHECK_INT(expected.decision->finding_count, outs.decision->finding_count);
            CHECK(expected.decision->finding_count == 0 ||
                  memcmp(expected.decision->findings, outs.decision->findings,
                         expected.decision->finding_count * sizeof(selene_finding)) == 0);
            selene_free(expected.decision);
            selene_free(outs.decision);
        }
        if (expected.pauses != outs_before.pauses) {
            CHECK_INT(expected.pauses->count, outs.pauses->count);
            for (uint64_t k = 0; k < outs.pauses->count; k++) {
                CHECK_TEXT(expected.pauses->pauses[k].pool.data, outs.pauses->pauses[k].pool);
                CHECK_INT(expected.pauses->pauses[k].kinds, outs.pauses->pauses[k].kinds);
                CHECK_INT(expected.pauses->pauses[k].until, outs.pauses->pauses[k].until);
            }
            selene_free(expected.pauses);
            selene_free(outs.pauses);
        }
        /* A descriptor has another number each time. */
        if (strcmp(call->name, "selene_events_open") == 0) expected.number = outs.number;
        /* What points elsewhere was compared; the rest is equal as it is. */
        expected.task_ids = outs.task_ids;
        expected.task_info = outs.task_info;
        expected.plan = outs.plan;
        expected.output = outs.output;
        expected.waits = outs.waits;
        expected.store_info = outs.store_info;
        expected.decision = outs.decision;
        expected.pauses = outs.pauses;
        expected.scheduler_info.life = outs.scheduler_info.life;
        if (memcmp(&expected, &outs, sizeof outs) != 0)
            fprintf(stderr, "%s writes something else\n", call->name);
        CHECK(memcmp(&expected, &outs, sizeof outs) == 0);
    }
    close_pair();
}

/** The same call twice, directly and through the connection. */
#define BOTH(call)                                                                                 \
    do {                                                                                           \
        char detail_[1024];                                                                        \
        selene_scheduler s = direct;                                                               \
        selene_status status_ = (call);                                                            \
        snprintf(detail_, sizeof detail_, "%s", selene_error_last()->message.data);                \
        s = connection;                                                                            \
        CHECK_STATUS(status_, (call));                                                             \
        CHECK(status_ != SELENE_OK);                                                               \
        same_detail(#call, detail_);                                                               \
    } while (0)

static void test_wrong_arguments(void) {
    static char longer[300], bytes[20000];
    static const int64_t lengths[] = {0, 256, 4096, -2, INT64_MIN};
    static const selene_text bad_tags[] = {{"tag", 3}, {NULL, 4}};
    selene_task task, *tasks[2] = {&task, NULL};
    memset(longer, 'n', sizeof longer - 1);
    open_pair();
    outs_reset();
    BOTH(selene_scheduler_now(s, NULL));
    BOTH(selene_scheduler_get(s, NULL));
    BOTH(selene_scheduler_enable(s, 8));
    BOTH(selene_scheduler_pause(s, 8, NULL, 0, SELENE_NEVER));
    BOTH(selene_scheduler_pause(s, 0, NULL, 0, SELENE_NEVER));
    BOTH(selene_scheduler_pause(s, 1, NULL, 0, 1));
    BOTH(selene_pause_list(s, NULL));
    BOTH(selene_task_register(s, NULL, &outs.number));
    BOTH(selene_task_register_batch(s, NULL, 1, NULL, NULL));
    BOTH(selene_task_register_batch(s, NULL, 1000001, NULL, NULL));
    BOTH(selene_task_cancel(s, NULL, -1, NULL));
    BOTH(selene_task_cancel(s, NULL, 4, &outs.count));
    BOTH(selene_task_cancel(s, "no such task", -1, &outs.count));
    BOTH(selene_task_set_next(s, "no such task", -1, 0));
    BOTH(selene_task_set_next(s, "once", -1, -1));
    BOTH(selene_task_pause(s, "no such task", -1, &outs.count));
    BOTH(selene_task_resume(s, "no such task", -1, &outs.count));
    BOTH(selene_task_cancel(s, longer, 299, &outs.count));
    BOTH(selene_task_cancel(s, "\xff", 1, &outs.count));
    for (size_t i = 0; i < COUNT(lengths); i++) {
        BOTH(selene_task_get(s, bytes, lengths[i], 0, &outs.task_info));
        BOTH(selene_task_cancel_tag(s, bytes, lengths[i], &outs.count));
        BOTH(selene_task_set_next(s, bytes, lengths[i], 0));
        BOTH(selene_task_pause(s, bytes, lengths[i], &outs.count));
        BOTH(selene_group_set_limit(s, bytes, lengths[i], 1));
        BOTH(selene_group_pause(s, bytes, lengths[i]));
        BOTH(selene_group_resume(s, bytes, lengths[i]));
        BOTH(selene_group_get(s, bytes, lengths[i], &outs.group));
        /* Without a name it is everywhere. */
        if (lengths[i] != 0) BOTH(selene_scheduler_pause(s, 1, bytes, lengths[i], SELENE_NEVER));
        BOTH(selene_condition_define(s, bytes, lengths[i]));
        BOTH(selene_condition_undefine(s, bytes, lengths[i]));
        BOTH(selene_condition_set(s, bytes, lengths[i], 1));
        BOTH(selene_condition_get(s, bytes, lengths[i], &outs.number));
        BOTH(selene_condition_missing(s, bytes, lengths[i], &outs.task_ids));
        BOTH(selene_task_pause_tag(s, bytes, lengths[i], &outs.count));
        BOTH(selene_task_resume(s, bytes, lengths[i], &outs.count));
        BOTH(selene_task_resume_tag(s, bytes, lengths[i], &outs.count));
    }
    BOTH(selene_task_get(s, "once", -1, 2, &outs.task_info));
    BOTH(selene_task_get(s, "once", -1, 0, NULL));
    BOTH(selene_task_list(s, NULL, 4, &outs.task_ids));
    BOTH(selene_task_list_state(s, 7, &outs.task_ids));
    BOTH(selene_group_get(s, "no such group", -1, &outs.group));
    BOTH(selene_group_get(s, "no such group", -1, NULL));
    BOTH(selene_group_list(s, NULL));
    BOTH(selene_task_explain(s, "once", -1, NULL));
    BOTH(selene_task_retry(s, "once", -1));
    BOTH(selene_task_get_output(s, "no such task", -1, &outs.output));
    BOTH(selene_task_waits(s, "no such task", -1, &outs.waits));
    BOTH(selene_task_waits(s, "once", -1, NULL));
    BOTH(selene_conditions_set(s, 256, 0));
    BOTH(selene_conditions_get(s, NULL, NULL));
    BOTH(selene_condition_set(s, "no such condition", -1, 1));
    BOTH(selene_condition_get(s, "no such condition", -1, &outs.number));
    BOTH(selene_condition_get(s, "no such condition", -1, NULL));
    BOTH(selene_condition_list(s, NULL));
    BOTH(selene_condition_missing(s, "once", -1, NULL));
    BOTH(selene_signal_set(s, 99, 0, 0));
    BOTH(selene_signal_get(s, SELENE_SIGNAL_THERMAL, NULL));
    BOTH(selene_governor_ask(s, 3, 0, &outs.decision));
    BOTH(selene_governor_ask(s, 1, 2, &outs.decision));
    BOTH(selene_ledger_report(s, 1, -1, 0));
    BOTH(selene_events_next(s, 0, &outs.event, &outs.number, NULL));
    BOTH(selene_events_next(s, 0, NULL, &outs.number, NULL));
    BOTH(selene_events_next(s, -1, &outs.event, &outs.number, NULL));
    BOTH(selene_events_open(s, 0, &outs.number));
    BOTH(selene_events_open(s, SELENE_EVENTS + 1, &outs.number));
    CHECK_OK(selene_events_open(direct, 1, NULL));
    CHECK_OK(selene_events_open(connection, 1, NULL));
    BOTH(selene_events_open(s, 1, &outs.number));
    CHECK_OK(selene_events_close(direct));
    CHECK_OK(selene_events_close(connection));
    CHECK(outs_untouched());
    /* Each field of a task, and a struct of every wrong size. */
    for (int field = 0; field < 17; field++) {
        task = task_of("wrong");
        if (field == 0) task.id = text_of(longer);
        if (field == 1) task.id = (selene_text){NULL, 7};
        if (field == 2) task.id = (selene_text){"x", -2};
        if (field == 3) task.handler = (selene_text){"\xff", 1};
        if (field == 4) task.tags = bad_tags, task.tag_count = 2;
        if (field == 5) task.tags = bad_tags, task.tag_count = 17;
        if (field == 6) task.tag_count = 1;
        if (field == 7) task.input_length = -1, task.input = "x";
        if (field == 8) task.input_length = 1;
        if (field == 9) task.input = bytes, task.input_length = sizeof bytes;
        if (field == 10) task.flags = 4;
        if (field == 14) task.after = bad_tags, task.after_count = 2;
        if (field == 15) task.after_count = 1;
        if (field == 16) task.after = bad_tags, task.after_count = 17;
        if (field == 11) task.priority = 6;
        if (field == 12) task.struct_size = 7;
        if (field == 13) task.struct_size = 70000;
        if (field != 13) BOTH(selene_task_register(s, &task, &outs.number));
        if (field == 13) BOTH(selene_task_register(s, &task, NULL));
    }
    task = task_of("right");
    BOTH(selene_task_register_batch(s, (const selene_task *const *)tasks, 2, NULL, NULL) == 0
             ? SELENE_ERROR_INTERNAL
             : SELENE_ERROR_INVALID_ARGUMENT);
    outs.explanation.struct_size = 7;
    BOTH(selene_task_explain(s, "once", -1, &outs.explanation));
    outs.explanation.struct_size = sizeof outs.explanation;
    outs.explanation.flags = 1;
    BOTH(selene_task_explain(s, "once", -1, &outs.explanation));
    close_pair();
}

/** A struct of an older header goes over and comes back as far as it goes. */
static void test_older_structs(void) {
    open_pair();
    for (size_t size = 8; size <= sizeof(selene_explanation); size += 4) {
        unsigned char *one = calloc(1, size), *other = calloc(1, size);
        uint32_t struct_size = (uint32_t)size;
        CHECK(one && other);
        memcpy(one, &struct_size, 4);
        memcpy(other, &struct_size, 4);
        CHECK_OK(selene_task_explain(direct, "once", -1, (selene_explanation *)(void *)one));
        CHECK_OK(selene_task_explain(connection, "once", -1, (selene_explanation *)(void *)other));
        CHECK(memcmp(one, other, size) == 0);
        free(one);
        free(other);
    }
    for (uint32_t size = 8; size <= sizeof(selene_task); size += 4) {
        static const selene_text tags[] = {{"tag", 3}};
        selene_task task = task_of("cut"), *cut = malloc(size);
        CHECK(cut);
        task.handler = text_of("handler");
        task.tags = tags;
        task.tag_count = 1;
        task.input = "12345";
        task.input_length = 5;
        memcpy(cut, &task, size);
        cut->struct_size = size;
        selene_status expected = selene_task_register(direct, cut, NULL);
        CHECK_STATUS(expected, selene_task_register(connection, cut, NULL));
        free(cut);
    }
    close_pair();
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("L3 each function answers through a connection as it does directly, or UNSUPPORTED",
             test_every_function);
    run_test("L3 wrong arguments are refused through a connection with the same words",
             test_wrong_arguments);
    run_test("L13 structs of older headers go through a connection", test_older_structs);
    return check_end();
}
