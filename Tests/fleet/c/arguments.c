/*
 * arguments.c - every function of selene-fleet.h with wrong arguments: the status, the detail, and outputs as they were
 */
#include "../../C/check.h"

#include <selene-fleet.h>

static selene_fleet fleet;
static selene_scheduler scheduler;

/** Refused, with a detail that begins so. */
#define REFUSED(status, begin, call)                                                               \
    do {                                                                                           \
        CHECK_STATUS(status, call);                                                                \
        if (strncmp(selene_fleet_error()->message.data, begin, strlen(begin)) != 0)                \
            fprintf(stderr, "detail: %s\n", selene_fleet_error()->message.data);                   \
        CHECK(strncmp(selene_fleet_error()->message.data, begin, strlen(begin)) == 0);             \
    } while (0)
#define INVALID(begin, call) REFUSED(SELENE_ERROR_INVALID_ARGUMENT, begin, call)
#define OLD(begin, call) REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, begin, call)

/** A struct of a newer library, by what it has behind this one's. */
#define NEWER(type)                                                                                \
    struct {                                                                                       \
        type own;                                                                                  \
        uint64_t more;                                                                             \
    }

static void begin(void) {
    selene_fleet_options options = SELENE_INIT(selene_fleet_options);
    options.dsn = SELENE_TEXT("host=/nowhere");
    CHECK_OK(selene_fleet_open(&options, &fleet));
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
}

static void end(void) {
    CHECK_OK(selene_fleet_close(fleet, 0));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

#define TRY_OPTIONS(begin, change)                                                                 \
    do {                                                                                           \
        selene_fleet_options options = SELENE_INIT(selene_fleet_options);                          \
        selene_fleet opened = 7;                                                                   \
        change;                                                                                    \
        INVALID(begin, selene_fleet_open(&options, &opened));                                      \
        INVALID(begin, selene_fleet_install(&options, NULL));                                      \
        CHECK_INT(7, opened);                                                                      \
    } while (0)

static void test_open(void) {
    NEWER(selene_fleet_options) newer = {SELENE_INIT(selene_fleet_options), 0};
    selene_fleet opened = 0;
    char long_name[65], longer_name[257];
    memset(long_name, 'a', 64);
    long_name[64] = 0;
    memset(longer_name, 'a', 256);
    longer_name[256] = 0;
    CHECK(strcmp(selene_fleet_error()->message.data, "") == 0);
    INVALID("out_fleet: is NULL", selene_fleet_open(NULL, NULL));
    newer.own.struct_size = sizeof newer;
    CHECK_OK(selene_fleet_open(&newer.own, &opened));
    CHECK_OK(selene_fleet_close(opened, 0));
    newer.more = 1;
    OLD("options: ", selene_fleet_open(&newer.own, &opened));
    newer.own.struct_size = 7;
    OLD("options: ", selene_fleet_open(&newer.own, &opened));
    TRY_OPTIONS("flags: 1", options.flags = 1);
    TRY_OPTIONS("dsn: ", options.dsn = SELENE_TEXT("nothing=known"));
    TRY_OPTIONS("dsn: ", options.dsn = SELENE_TEXT("host='open"));
    TRY_OPTIONS("dsn: is NULL", options.dsn.length = 1);
    TRY_OPTIONS("dsn: length -2", options.dsn.length = -2);
    TRY_OPTIONS("dsn: has a NUL", options.dsn = SELENE_TEXT("a\0b"));
    TRY_OPTIONS("listen_dsn: ", options.listen_dsn = SELENE_TEXT("postgresql://[::1"));
    TRY_OPTIONS("schema: 64 bytes", options.schema = ((selene_text){long_name, -1}));
    TRY_OPTIONS("queue: 256 bytes", options.queue = ((selene_text){longer_name, -1}));
    TRY_OPTIONS("connect_timeout: -1 ", options.connect_timeout = SELENE_NONE);
    TRY_OPTIONS("timeout: -1 ", options.timeout = -1);
    CHECK_OK(selene_fleet_close(0, 0));
    REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_close(opened, 0));
    begin();
    INVALID("grace: ", selene_fleet_close(fleet, -1));
    INVALID("grace: ", selene_fleet_close(fleet, SELENE_DAY + 1));
    end();
}

/** What was wrong as data: of texts, of numbers, of bits, and of what the engine refuses. */
static void test_fault(void) {
    selene_fleet_options options = SELENE_INIT(selene_fleet_options);
    selene_worker_options how = SELENE_INIT(selene_worker_options);
    selene_worker worker = 0;
    const selene_error *fault = selene_fleet_error();
    CHECK_INT(SELENE_OK, fault->status);
    CHECK_TEXT("", fault->field);
    options.listen_dsn = SELENE_TEXT("nothing=known");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_fleet_open(&options, &fleet));
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, fault->status);
    CHECK_INT(SELENE_UNIT_NONE, fault->unit);
    CHECK_TEXT("listen_dsn", fault->field);
    CHECK(strstr(fault->problem.data, "nothing") != NULL);
    CHECK(strncmp(fault->problem.data, selene_fleet_error()->message.data + strlen("listen_dsn: "),
                  20) == 0);
    begin();
    how.horizon = 1;
    how.lease = SELENE_DAY * 400;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_fleet_work(fleet, scheduler, &how, &worker));
    CHECK_TEXT("lease", fault->field);
    CHECK_TEXT("", fault->problem);
    CHECK_INT(SELENE_UNIT_DURATION, fault->unit);
    CHECK(fault->value == how.lease && fault->greatest < how.lease);
    how.flags = 6;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_fleet_work(fleet, scheduler, &how, &worker));
    CHECK_TEXT("flags", fault->field);
    CHECK_INT(SELENE_UNIT_BITS, fault->unit);
    CHECK_INT(6, fault->value);
    CHECK_INT(SELENE_WORKER_POLLS_ONLY | SELENE_WORKER_RELAXED, fault->greatest);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_fleet_close(fleet, -1));
    CHECK_TEXT("grace", fault->field);
    CHECK_INT(SELENE_UNIT_DURATION, fault->unit);
    CHECK_INT(-1, fault->value);
    CHECK_INT(0, fault->least);
    CHECK_INT(SELENE_DAY, fault->greatest);
    CHECK_TEXT("0 … 86400000000000", fault->allowed);
    end();
}

#define TRY_TASK(status, begin, change)                                                            \
    do {                                                                                           \
        selene_task task = SELENE_INIT(selene_task);                                               \
        int32_t disposition = 7;                                                                   \
        task.id = SELENE_TEXT("a");                                                                \
        change;                                                                                    \
        REFUSED(status, begin, selene_fleet_register(fleet, &task, NULL, &disposition));           \
        CHECK_INT(7, disposition);                                                                 \
    } while (0)
#define BAD_TASK(begin, change) TRY_TASK(SELENE_ERROR_INVALID_ARGUMENT, begin, change)
#define NOT_OF_A_FLEET(begin, change) TRY_TASK(SELENE_ERROR_UNSUPPORTED, begin, change)

static void test_register(void) {
    static const selene_text names[17] = {{"t", 1}}, none = {NULL, 0};
    selene_fleet_place place = SELENE_INIT(selene_fleet_place);
    selene_task task = SELENE_INIT(selene_task);
    begin();
    task.id = SELENE_TEXT("a");
    INVALID("task: is NULL", selene_fleet_register(fleet, NULL, NULL, NULL));
    OLD("task: ", selene_fleet_register(fleet, &(selene_task){.struct_size = 7}, NULL, NULL));
    place.flags = 1;
    INVALID("flags: 1", selene_fleet_register(fleet, &task, &place, NULL));
    place.flags = 0;
    place.label_count = 1;
    INVALID("labels: is NULL", selene_fleet_register(fleet, &task, &place, NULL));
    place.labels = names;
    place.label_count = 17;
    INVALID("labels: 17 ", selene_fleet_register(fleet, &task, &place, NULL));
    place.labels = &none;
    place.label_count = 1;
    INVALID("labels: 0 bytes", selene_fleet_register(fleet, &task, &place, NULL));
    BAD_TASK("id: 0 bytes", task.id.length = 0);
    BAD_TASK("id: has a NUL", task.id = SELENE_TEXT("a\0b"));
    BAD_TASK("handler: length -2", task.handler.length = -2);
    BAD_TASK("kind: 3", task.kind = 3);
    BAD_TASK("schedule: 4", task.schedule = 4);
    BAD_TASK("period: is for periodic tasks only",
             (task.schedule = SELENE_SCHEDULE_ONCE, task.period = SELENE_DAY));
    BAD_TASK("flex: is for periodic tasks only", task.flex = SELENE_DAY);
    BAD_TASK("priority: 9", task.priority = 9);
    BAD_TASK("existing: 6", task.existing = 6);
    BAD_TASK("recurrence: 3", task.recurrence = 3);
    BAD_TASK("backoff: 4", task.backoff = 4);
    BAD_TASK("response_window: 31", task.response_window = 31);
    BAD_TASK("max_attempts: 2147483648", task.max_attempts = 2147483648U);
    BAD_TASK("constraints: 256", task.constraints = 256);
    BAD_TASK("expected_response: -2", task.expected_response = -2);
    BAD_TASK("initial_delay: -1", task.initial_delay = -1);
    BAD_TASK("period: 0", task.schedule = SELENE_SCHEDULE_PERIODIC);
    BAD_TASK("flex: 2000000000", (task.schedule = SELENE_SCHEDULE_PERIODIC,
                                  task.period = SELENE_SECOND, task.flex = 2 * SELENE_SECOND));
    /* V21: what was meant in another unit. */
    BAD_TASK("initial_delay: 5 ns is out of range, allowed are 1000000 … 315619200000000000; "
             "durations are in nanoseconds, was 5 * SELENE_SECOND meant?",
             task.initial_delay = 5);
    BAD_TASK("period: 60 ns", (task.schedule = SELENE_SCHEDULE_PERIODIC, task.period = 60));
    BAD_TASK("expected_response: 999999 ns", task.expected_response = SELENE_MILLISECOND - 1);
    BAD_TASK("backoff_delay: -2", task.backoff_delay = -2);
    BAD_TASK("input_length: -1", task.input_length = -1);
    BAD_TASK("input: is NULL", task.input_length = 1);
    BAD_TASK("tags: is NULL", task.tag_count = 1);
    BAD_TASK("tags: 17 ", (task.tags = names, task.tag_count = 17));
    BAD_TASK("tags: 0 bytes", (task.tags = &none, task.tag_count = 1));
    TRY_TASK(SELENE_ERROR_TOO_LARGE, "input: ", (task.input = "", task.input_length = INT64_MAX));
    NOT_OF_A_FLEET("flags: ", task.flags = SELENE_TASK_STEADY);
    NOT_OF_A_FLEET("recurrence: ", task.recurrence = SELENE_RECURRENCE_CALENDAR);
    NOT_OF_A_FLEET("timeout: ", task.timeout = 1);
    NOT_OF_A_FLEET("stall_limit: ", task.stall_limit = 1);
    NOT_OF_A_FLEET("jitter: ", task.jitter = 1);
    NOT_OF_A_FLEET("group: ", task.group = SELENE_TEXT("g"));
    NOT_OF_A_FLEET("after: ", (task.after = names, task.after_count = 1));
    NOT_OF_A_FLEET("latest_begin: ", task.latest_begin = 1);
    NOT_OF_A_FLEET("conditions: ", (task.conditions = names, task.condition_count = 1));
    REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_register(0, &task, NULL, NULL));
    end();
}

static void test_register_batch(void) {
    static const selene_text none = {NULL, 0};
    static const char large[1] = {0};
    selene_fleet_place place = SELENE_INIT(selene_fleet_place);
    selene_task task = SELENE_INIT(selene_task), wrong = SELENE_INIT(selene_task),
                huge = SELENE_INIT(selene_task);
    const selene_task *tasks[] = {&wrong, NULL, &task}, *one_wrong[] = {&wrong, NULL};
    selene_status statuses[3] = {77, 77, 77};
    int32_t dispositions[3] = {77, 77, 77};
    begin();
    task.id = huge.id = SELENE_TEXT("a");
    INVALID("tasks: is NULL",
            selene_fleet_register_batch(fleet, NULL, 1, NULL, statuses, dispositions));
    INVALID("count: 10001 ",
            selene_fleet_register_batch(fleet, tasks, 10001, NULL, statuses, dispositions));
    INVALID("count: 18446744073709551615 ",
            selene_fleet_register_batch(fleet, tasks, UINT64_MAX, NULL, statuses, dispositions));
    place.flags = 1;
    INVALID("flags: 1",
            selene_fleet_register_batch(fleet, tasks, 3, &place, statuses, dispositions));
    place.flags = 0;
    place.label_count = 1;
    INVALID("labels: is NULL",
            selene_fleet_register_batch(fleet, tasks, 3, &place, statuses, dispositions));
    place.labels = &none;
    INVALID("labels: 0 bytes",
            selene_fleet_register_batch(fleet, tasks, 3, &place, statuses, dispositions));
    OLD("place: ",
        selene_fleet_register_batch(fleet, tasks, 3, &(selene_fleet_place){.struct_size = 7},
                                    statuses, dispositions));
    REFUSED(SELENE_ERROR_INVALID_HANDLE,
            "fleet: ", selene_fleet_register_batch(0, tasks, 3, NULL, statuses, dispositions));
    REFUSED(SELENE_ERROR_OWNER_AWAY,
            "fleet: ", selene_fleet_register_batch(fleet, tasks, 3, NULL, statuses, dispositions));
    huge.input = large;
    huge.input_length = (1 << 28) + 1;
    tasks[1] = &huge;
    REFUSED(SELENE_ERROR_TOO_LARGE,
            "tasks: ", selene_fleet_register_batch(fleet, tasks, 3, NULL, statuses, dispositions));
    for (int i = 0; i < 3; i++)
        CHECK(statuses[i] == 77 && dispositions[i] == 77);
    /* Where none can be sent no database is asked. */
    CHECK_OK(selene_fleet_register_batch(fleet, one_wrong, 2, NULL, statuses, dispositions));
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[0]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[1]);
    CHECK(strcmp(selene_fleet_error()->message.data, "task: is NULL") == 0);
    CHECK_INT(77, dispositions[0]);
    end();
}

#define BAD_FILTER(begin, change)                                                                  \
    do {                                                                                           \
        selene_fleet_filter filter = SELENE_INIT(selene_fleet_filter);                             \
        change;                                                                                    \
        INVALID(begin, selene_fleet_list(fleet, &filter, &page));                                  \
        CHECK(page == NULL);                                                                       \
    } while (0)

static void test_list(void) {
    selene_fleet_page *page = NULL;
    NEWER(selene_fleet_filter) newer = {SELENE_INIT(selene_fleet_filter), 1};
    begin();
    INVALID("out_page: is NULL", selene_fleet_list(fleet, NULL, NULL));
    newer.own.struct_size = sizeof newer;
    OLD("filter: ", selene_fleet_list(fleet, &newer.own, &page));
    newer.own.struct_size = 7;
    OLD("filter: ", selene_fleet_list(fleet, &newer.own, &page));
    BAD_FILTER("flags: 2", filter.flags = 2);
    BAD_FILTER("queue: has a NUL", filter.queue = SELENE_TEXT("a\0b"));
    BAD_FILTER("queue: must be empty",
               (filter.queue = SELENE_TEXT("a"), filter.flags = SELENE_FLEET_EVERY_QUEUE));
    BAD_FILTER("tag: length -2", filter.tag.length = -2);
    BAD_FILTER("tag: is NULL", filter.tag.length = 1);
    BAD_FILTER("states: 128", filter.states = 128);
    BAD_FILTER("most: 1001 ", filter.most = 1001);
    BAD_FILTER("after: -1 ", filter.after = -1);
    const selene_fleet_filter two = {.struct_size = sizeof two, .states = 3};
    REFUSED(SELENE_ERROR_UNSUPPORTED, "states: ", selene_fleet_list(fleet, &two, &page));
    REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_list(0, NULL, &page));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_list(fleet, NULL, &page));
    CHECK(page == NULL);
    selene_free(NULL);
    end();
}

#define BAD_TERMS(begin, change)                                                                   \
    do {                                                                                           \
        selene_fleet_queue_terms terms = SELENE_INIT(selene_fleet_queue_terms);                    \
        change;                                                                                    \
        INVALID(begin, selene_fleet_set_queue(fleet, &terms));                                     \
    } while (0)

static void test_queue(void) {
    NEWER(selene_fleet_queue_terms) newer = {SELENE_INIT(selene_fleet_queue_terms), 1};
    selene_fleet_queues *queues = NULL;
    begin();
    INVALID("terms: is NULL", selene_fleet_set_queue(fleet, NULL));
    newer.own.struct_size = sizeof newer;
    OLD("terms: ", selene_fleet_set_queue(fleet, &newer.own));
    newer.own.struct_size = 7;
    OLD("terms: ", selene_fleet_set_queue(fleet, &newer.own));
    BAD_TERMS("flags: 1", terms.flags = 1);
    BAD_TERMS("pace: -2 ", terms.pace = -2);
    BAD_TERMS("pace: ", terms.pace = INT64_MAX);
    BAD_TERMS("backoff_min: -2 ", terms.backoff_min = -2);
    BAD_TERMS("backoff_max: -2 ", terms.backoff_max = -2);
    BAD_TERMS("retention: ", terms.retention = SELENE_NEVER);
    BAD_TERMS("max_input: 1073741824 ", terms.max_input = 1 << 30);
    BAD_TERMS("limit_refresh: 2147483648 ", terms.limit_refresh = INT64_C(1) << 31);
    BAD_TERMS("limit_processing: -2 ", terms.limit_processing = -2);
    BAD_TERMS("jitter: 1001 ", terms.jitter = 1001);
    BAD_TERMS("holds: 2 ", terms.holds = 2);
    INVALID("out_queues: is NULL", selene_fleet_queue_list(fleet, NULL, 0, NULL));
    INVALID("after: is NULL", selene_fleet_queue_list(fleet, NULL, -1, &queues));
    INVALID("after: has a NUL", selene_fleet_queue_list(fleet, "a\0b", 3, &queues));
    CHECK(queues == NULL);
    end();
}

static void test_calls(void) {
    selene_fleet_record *record = NULL;
    selene_fleet_explanation *explanation = NULL;
    selene_fleet_bytes *bytes = NULL;
    selene_fleet_items *items = NULL;
    selene_fleet_queues *queues = NULL;
    selene_fleet_nodes *nodes = NULL;
    const selene_fleet_queue_terms terms = SELENE_INIT(selene_fleet_queue_terms);
    uint64_t count = 7;
    int32_t number = 7;
    begin();
    INVALID("id: is NULL", selene_fleet_retry(fleet, NULL, -1, &number));
    INVALID("id: 0 bytes", selene_fleet_run_now(fleet, "", -1, &number));
    INVALID("out_nodes: is NULL", selene_fleet_node_list(fleet, NULL));
    INVALID("node: length -2", selene_fleet_drain(fleet, "a", -2, &count));
    INVALID("id: is NULL", selene_fleet_cancel(fleet, NULL, -1, &count));
    INVALID("id: 0 bytes", selene_fleet_cancel(fleet, "", -1, &count));
    INVALID("tag: is NULL", selene_fleet_cancel_tag(fleet, NULL, 1, &count));
    INVALID("id: length -2", selene_fleet_get(fleet, "a", -2, &record));
    INVALID("out_record: is NULL", selene_fleet_get(fleet, "a", 1, NULL));
    INVALID("id: has a NUL", selene_fleet_explain(fleet, "a\0b", 3, &explanation));
    INVALID("out_explanation: is NULL", selene_fleet_explain(fleet, "a", 1, NULL));
    INVALID("id: 0 bytes", selene_fleet_result(fleet, NULL, 0, &bytes));
    INVALID("out_result: is NULL", selene_fleet_result(fleet, "a", 1, NULL));
    INVALID("span: -1", selene_fleet_pause(fleet, -1));
    INVALID("span: 60 ns", selene_fleet_pause(fleet, 60));
    INVALID("age: -1", selene_fleet_prune(fleet, -1, &count));
    INVALID("out_items: is NULL", selene_fleet_status(fleet, NULL));
    /* Without a database. */
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_cancel(fleet, "a", 1, &count));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_cancel_tag(fleet, "a", 1, &count));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_get(fleet, "a", 1, &record));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_explain(fleet, "a", 1, &explanation));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_result(fleet, "a", 1, &bytes));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_pause(fleet, SELENE_NEVER));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_resume(fleet));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_wake(fleet));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_prune(fleet, 0, &count));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_status(fleet, &items));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_cancel_queue(fleet, &count));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_retry(fleet, "a", 1, &number));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_run_now(fleet, "a", 1, &number));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_set_queue(fleet, &terms));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_queue_list(fleet, NULL, 0, &queues));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_node_list(fleet, &nodes));
    REFUSED(SELENE_ERROR_OWNER_AWAY, "fleet: ", selene_fleet_drain(fleet, "a", 1, &count));
    CHECK_INT(7, count);
    CHECK_INT(7, number);
    CHECK(!record && !explanation && !bytes && !items && !queues && !nodes);
    for (selene_fleet wrong = 0; wrong < 2; wrong++) {
        selene_fleet other = wrong * (fleet + 1);
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_cancel(other, "a", 1, &count));
        REFUSED(SELENE_ERROR_INVALID_HANDLE,
                "fleet: ", selene_fleet_cancel_tag(other, "a", 1, NULL));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_get(other, "a", 1, &record));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "", selene_fleet_explain(other, "a", 1, &explanation));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_result(other, "a", 1, &bytes));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_pause(other, 0));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_resume(other));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_wake(other));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_prune(other, 0, &count));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_status(other, &items));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_cancel_queue(other, NULL));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_retry(other, "a", 1, &number));
        REFUSED(SELENE_ERROR_INVALID_HANDLE,
                "fleet: ", selene_fleet_run_now(other, "a", 1, &number));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_set_queue(other, &terms));
        REFUSED(SELENE_ERROR_INVALID_HANDLE,
                "fleet: ", selene_fleet_queue_list(other, NULL, 0, &queues));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_node_list(other, &nodes));
        REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_drain(other, "a", 1, NULL));
    }
    selene_free(NULL);
    selene_free(NULL);
    selene_free(NULL);
    selene_free(NULL);
    selene_free(NULL);
    selene_free(NULL);
    end();
}

#define BAD_WORKER(begin, change)                                                                  \
    do {                                                                                           \
        selene_worker_options options = SELENE_INIT(selene_worker_options);                        \
        change;                                                                                    \
        INVALID(begin, selene_fleet_work(fleet, scheduler, &options, &worker));                    \
        CHECK_INT(0, worker);                                                                      \
    } while (0)

static void test_worker(void) {
    static const selene_text none = {NULL, 0};
    char path[] = "/tmp/arguments-XXXXXX";
    selene_options with_store = SELENE_INIT(selene_options);
    selene_scheduler stored = 0;
    selene_worker worker = 0;
    selene_worker_info info = SELENE_INIT(selene_worker_info);
    begin();
    INVALID("out_worker: is NULL", selene_fleet_work(fleet, scheduler, NULL, NULL));
    OLD("options: ",
        selene_fleet_work(fleet, scheduler, &(selene_worker_options){.struct_size = 7}, &worker));
    BAD_WORKER("flags: 4", options.flags = 4);
    BAD_WORKER("queues: is NULL", options.queue_count = 1);
    BAD_WORKER("queues: -1", options.queue_count = UINT64_MAX);
    BAD_WORKER("labels: is NULL", options.label_count = 1);
    BAD_WORKER("labels", (options.labels = &none, options.label_count = 1));
    BAD_WORKER("lease: ", options.lease = -1);
    BAD_WORKER("horizon: ", options.horizon = -2);
    BAD_WORKER("poll: ", options.poll = -1);
    BAD_WORKER("name: length -2", options.name.length = -2);
    REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_work(0, scheduler, NULL, &worker));
    REFUSED(SELENE_ERROR_INVALID_HANDLE, "", selene_fleet_work(fleet, 0, NULL, &worker));
    CHECK(mkstemp(path) >= 0 && unlink(path) == 0);
    with_store.path = (selene_text){path, -1};
    CHECK_OK(selene_scheduler_open(&with_store, &stored));
    REFUSED(SELENE_ERROR_UNSUPPORTED, "", selene_fleet_work(fleet, stored, NULL, &worker));
    CHECK_OK(selene_scheduler_close(stored, 0));
    unlink(path);
    CHECK_OK(selene_fleet_work(fleet, scheduler, NULL, &worker));
    INVALID("out_info: is NULL", selene_worker_get(worker, NULL));
    info.struct_size = 7;
    OLD("out_info: ", selene_worker_get(worker, &info));
    info.struct_size = 12;
    info.listens = 77;
    CHECK_OK(selene_worker_get(worker, &info));
    CHECK_INT(12, info.struct_size);
    CHECK_INT(77, info.listens);
    INVALID("grace: ", selene_worker_stop(worker, -1));
    REFUSED(SELENE_ERROR_INVALID_HANDLE, "worker: ", selene_worker_get(fleet, &info));
    REFUSED(SELENE_ERROR_INVALID_HANDLE, "fleet: ", selene_fleet_wake(worker));
    CHECK_OK(selene_worker_stop(0, 0));
    CHECK_OK(selene_worker_stop(worker, 0));
    REFUSED(SELENE_ERROR_INVALID_HANDLE, "worker: ", selene_worker_stop(worker, 0));
    end();
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P7 what was wrong can be read as data", test_fault);
    run_test("P7 options of a fleet that are wrong", test_open);
    run_test("P7 tasks that are wrong, and what tasks of a fleet do not have", test_register);
    run_test("P7 many tasks that are wrong", test_register_batch);
    run_test("P7 filters that are wrong", test_list);
    run_test("P7 terms of a queue that are wrong", test_queue);
    run_test("P7 calls with wrong arguments, without a database, and on no fleet", test_calls);
    run_test("P7 options of a worker that are wrong", test_worker);
    return check_end();
}
