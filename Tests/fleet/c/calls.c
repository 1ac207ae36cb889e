/*
 * calls.c - the calls of selene-fleet.h on a fleet (FLEET_DSN), which each test finds empty
 */
#include "../../C/check.h"

#include <libpq-fe.h>
#include <selene-fleet.h>

static const char *dsn;
static selene_fleet fleet;

/** What somebody else does in the database; the first value of the answer. */
static const char *sql(const char *statement) {
    static char value[256];
    PGconn *connection = PQconnectdb(dsn);
    PQclear(PQexec(connection, "set search_path = selene; set client_min_messages = error"));
    PGresult *result = PQexec(connection, statement);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fprintf(stderr, "%s", PQresultErrorMessage(result));
    CHECK(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK);
    snprintf(value, sizeof value, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(connection);
    return value;
}

static const char others[] =
    "select count(*) from pg_stat_activity where application_name = 'selene' "
    "and datname = current_database()";

static selene_fleet_options options(void) {
    selene_fleet_options where = SELENE_INIT(selene_fleet_options);
    where.dsn = (selene_text){dsn, -1};
    return where;
}

static void open_fleet(void) {
    selene_fleet_options where = options();
    where.queue = SELENE_TEXT("mail");
    /* What the test before gave up may still be under way, and would meet what empties the tables. */
    while (strcmp(sql(others), "0") != 0)
        usleep(5000);
    sql("truncate fleet, queue, pending, class, worker, task, slot, stray, history restart "
        "identity; "
        "insert into fleet (protocol, installed) values (1, now_ns())");
    CHECK_OK(selene_fleet_open(&where, &fleet));
}

static void close_fleet(void) {
    CHECK_OK(selene_fleet_close(fleet, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_fleet_resume(fleet));
}

static selene_task once(const char *id) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = (selene_text){id, -1};
    task.schedule = SELENE_SCHEDULE_ONCE;
    return task;
}

static int32_t disposition;

static void test_register(void) {
    static const selene_text tags[] = {{"t", 1}, {"with \"quotes\" and \\", -1}}, gpu = {"gpu", 3};
    selene_task task = once("a");
    selene_fleet_place place = SELENE_INIT(selene_fleet_place);
    selene_fleet_record *record = NULL;
    selene_fleet_explanation *explanation = NULL;
    uint64_t count = 9;
    open_fleet();
    task.handler = SELENE_TEXT("send");
    task.tags = tags;
    task.tag_count = 2;
    task.priority = 4;
    task.constraints = SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_IDLE;
    task.expected_response = 2500 * SELENE_MILLISECOND;
    task.initial_delay = SELENE_HOUR + 1;
    task.max_attempts = 3;
    task.kind = SELENE_KIND_PROCESSING;
    task.input = "\0x";
    task.input_length = 2;
    place.labels = &gpu;
    place.label_count = 1;
    CHECK_OK(selene_fleet_register(fleet, &task, &place, &disposition));
    CHECK_INT(SELENE_DISPOSITION_ADDED, disposition);
    CHECK(strcmp(sql("select input from task"), "\\x0078") == 0);
    CHECK(strcmp(sql("select max_attempts from task"), "3") == 0);
    CHECK(strcmp(sql("select delay from task"), "3600000001000") == 0);
    CHECK_OK(selene_fleet_get(fleet, "a", -1, &record));
    CHECK(strcmp(record->id.data, "a") == 0 && strcmp(record->queue.data, "mail") == 0);
    CHECK(strcmp(record->handler.data, "send") == 0);
    CHECK_INT(1, record->label_count);
    CHECK(strcmp(record->labels[0].data, "gpu") == 0);
    CHECK_INT(2, record->tag_count);
    CHECK(strcmp(record->tags[1].data, tags[1].data) == 0);
    CHECK_INT(task.constraints, record->constraints);
    CHECK_INT(SELENE_KIND_PROCESSING, record->kind);
    CHECK_INT(SELENE_SCHEDULE_ONCE, record->schedule);
    CHECK_INT(SELENE_STATE_ENQUEUED, record->state);
    CHECK_INT(4, record->priority);
    CHECK_INT(0, record->attempts);
    CHECK_INT(0, record->stop_reason);
    CHECK_INT(task.expected_response, record->estimate);
    CHECK_INT(0, record->ended_at);
    CHECK_INT(0, record->node.length);
    CHECK_INT(0, record->failure.length);
    int64_t due = record->earliest_begin - record->registered_at;
    CHECK(due >= SELENE_HOUR && due <= SELENE_HOUR + 2000);
    CHECK(llabs(record->registered_at / SELENE_SECOND - (int64_t)time(NULL)) < 3600);
    selene_free(record);
    CHECK_OK(selene_fleet_explain(fleet, "a", -1, &explanation));
    CHECK_INT(2, explanation->count);
    CHECK(strcmp(explanation->reasons[0].reason.data, "not_due") == 0);
    CHECK(explanation->reasons[0].until > 0 && explanation->reasons[0].until < SELENE_NEVER);
    CHECK(strcmp(explanation->reasons[1].reason.data, "no_node") == 0);
    CHECK(strstr(explanation->reasons[1].detail.data, "with gpu and network, idle") != NULL);
    CHECK_INT(SELENE_NEVER, explanation->reasons[1].until);
    selene_free(explanation);
    CHECK_OK(selene_fleet_register(fleet, &task, &place, &disposition));
    CHECK_INT(SELENE_DISPOSITION_KEPT, disposition);
    task.existing = SELENE_EXISTING_APPEND;
    CHECK_OK(selene_fleet_register(fleet, &task, &place, &disposition));
    CHECK_INT(SELENE_DISPOSITION_APPENDED, disposition);
    CHECK_OK(selene_fleet_cancel_tag(fleet, tags[1].data, -1, &count));
    CHECK_INT(2, count);
    CHECK_OK(selene_fleet_cancel(fleet, "a", 1, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_fleet_get(fleet, "a", -1, &record));
    CHECK_INT(SELENE_STATE_CANCELLED, record->state);
    CHECK(record->ended_at > 0);
    selene_free(record);
    close_fleet();
}

static void test_every_field(void) {
    selene_task task = SELENE_INIT(selene_task);
    selene_fleet_record *record = NULL;
    open_fleet();
    task.id = SELENE_TEXT("standing");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, &disposition));
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, &disposition));
    CHECK_INT(SELENE_DISPOSITION_UPDATED, disposition);
    task.id = SELENE_TEXT("periodic");
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_DAY;
    task.flex = SELENE_HOUR;
    task.recurrence = SELENE_RECURRENCE_ANCHORED;
    task.backoff = SELENE_BACKOFF_LINEAR;
    task.backoff_delay = SELENE_MINUTE;
    task.response_window = 7;
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    CHECK(
        strcmp(
            sql("select period = 86400e9 and flex = 3600e9 and recurrence = 1 and backoff = 1 and "
                "backoff_delay = 60e9 and response_window = 7 and learns from task where id = "
                "'periodic'"),
            "t") == 0);
    CHECK_OK(selene_fleet_get(fleet, "periodic", -1, &record));
    CHECK_INT(SELENE_SCHEDULE_PERIODIC, record->schedule);
    CHECK_INT(23 * SELENE_HOUR / 1000, (record->earliest_begin - record->registered_at) / 1000);
    selene_free(record);
    /* A struct of an older library ends before these. */
    task.struct_size = (uint32_t)offsetof(selene_task, timeout);
    task.timeout = -1;
    task.id = SELENE_TEXT("older");
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, &disposition));
    CHECK_INT(SELENE_DISPOSITION_ADDED, disposition);
    close_fleet();
}

static void refused(selene_status status, const selene_task *task, const char *detail) {
    disposition = 77;
    CHECK_STATUS(status, selene_fleet_register(fleet, task, NULL, &disposition));
    if (strstr(selene_fleet_error()->message.data, detail) == NULL)
        fprintf(stderr, "%s\n", selene_fleet_error()->message.data);
    CHECK(strstr(selene_fleet_error()->message.data, detail) != NULL);
    CHECK_INT(77, disposition);
}

static void test_refusals(void) {
    static char large[10241];
    selene_task task = once("a");
    selene_fleet_record *record = NULL;
    selene_fleet_explanation *explanation = NULL;
    selene_fleet_bytes *result = (selene_fleet_bytes *)&record;
    open_fleet();
    task.input = large;
    task.input_length = sizeof large;
    refused(SELENE_ERROR_TOO_LARGE, &task, "input: 10241 bytes is out of range");
    task = once("a");
    task.existing = SELENE_EXISTING_APPEND;
    task.schedule = SELENE_SCHEDULE_STANDING;
    refused(SELENE_ERROR_INVALID_ARGUMENT, &task, "existing: only once tasks can be appended");
    refused(SELENE_ERROR_INVALID_ARGUMENT, &(selene_task)SELENE_INIT(selene_task), "id: ");
    task = once("a\xff");
    refused(SELENE_ERROR_INVALID_ARGUMENT, &task, "encoding");
    sql("select set_queue('mail', limit_refresh => 1)");
    task = once("a");
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    task = once("b");
    refused(SELENE_ERROR_TOO_MANY_PENDING, &task, "exceed its limit, which is 1");
    CHECK(strcmp(sql("select count(*) from task"), "1") == 0);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_fleet_get(fleet, "none", -1, &record));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_fleet_explain(fleet, "none", -1, &explanation));
    CHECK(strcmp(selene_fleet_error()->message.data, "id: 'none' is not registered") == 0);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_fleet_cancel(fleet, "none", -1, NULL));
    CHECK_TEXT("id", selene_fleet_error()->field);
    CHECK_TEXT("'none' is not registered", selene_fleet_error()->problem);
    CHECK(strcmp(selene_fleet_error()->message.data, "id: 'none' is not registered") == 0);
    CHECK(record == NULL && explanation == NULL);
    CHECK_OK(selene_fleet_result(fleet, "none", -1, &result));
    CHECK(result == NULL);
    close_fleet();
}

/** How many tasks a filter gives, page by page, and that they come by number. */
static uint64_t listed(selene_fleet_filter filter, int *out_pages) {
    selene_fleet_page *page = NULL;
    uint64_t count = 0;
    int64_t last = 0;
    *out_pages = 0;
    do {
        CHECK_OK(selene_fleet_list(fleet, &filter, &page));
        CHECK(page->count <= (filter.most != 0 ? filter.most : 100));
        for (uint64_t i = 0; i < page->count; i++) {
            CHECK(page->records[i]->sequence > last);
            last = page->records[i]->sequence;
        }
        count += page->count;
        ++*out_pages;
        filter.after = page->next;
        selene_free(page);
    } while (filter.after != 0);
    return count;
}

static void test_list(void) {
    static const selene_text tag = {"t", 1}, gpu = {"gpu", 3}, web = {"web", 3}, none = {NULL, 0};
    selene_fleet_filter filter = SELENE_INIT(selene_fleet_filter);
    selene_fleet_place place = SELENE_INIT(selene_fleet_place);
    selene_fleet_page *page = NULL;
    char id[16];
    int pages;
    open_fleet();
    CHECK_OK(selene_fleet_list(fleet, NULL, &page));
    CHECK_INT(0, page->count);
    CHECK_INT(0, page->next);
    selene_free(page);
    for (int i = 0; i < 25; i++) {
        snprintf(id, sizeof id, "t%d", i);
        selene_task task = once(id);
        task.tags = &tag;
        task.tag_count = i % 5 == 0;
        task.handler = SELENE_TEXT("send");
        task.priority = 4;
        task.expected_response = SELENE_SECOND;
        place.labels = &gpu;
        place.label_count = 1;
        place.queue = i == 24 ? web : none;
        CHECK_OK(selene_fleet_register(fleet, &task, &place, NULL));
    }
    selene_task behind = once("t3");
    behind.existing = SELENE_EXISTING_APPEND;
    CHECK_OK(selene_fleet_register(fleet, &behind, NULL, &disposition));
    CHECK_INT(SELENE_DISPOSITION_APPENDED, disposition);
    sql("select * from hello('n'); select * from claim(1, array(select class from class), most => "
        "1)");
    CHECK_INT(25, listed(filter, &pages));
    CHECK_INT(1, pages);
    filter.most = 10;
    CHECK_INT(25, listed(filter, &pages));
    CHECK_INT(3, pages);
    filter.most = 5;
    CHECK_INT(25, listed(filter, &pages));
    CHECK_INT(6, pages);
    filter.flags = SELENE_FLEET_EVERY_QUEUE;
    CHECK_INT(26, listed(filter, &pages));
    filter.flags = 0;
    filter.queue = SELENE_TEXT("web");
    CHECK_INT(1, listed(filter, &pages));
    filter.queue = SELENE_TEXT("nothing");
    CHECK_INT(0, listed(filter, &pages));
    filter = (selene_fleet_filter)SELENE_INIT(selene_fleet_filter);
    filter.tag = tag;
    CHECK_INT(5, listed(filter, &pages));
    filter.states = 1u << SELENE_STATE_RUNNING;
    CHECK_INT(1, listed(filter, &pages));
    filter.tag.length = 0;
    filter.states = 1u << SELENE_STATE_BLOCKED;
    CHECK_INT(1, listed(filter, &pages));
    filter.states = 1u << SELENE_STATE_SUCCEEDED;
    CHECK_INT(0, listed(filter, &pages));
    filter.states = 1u << SELENE_STATE_RUNNING;
    CHECK_OK(selene_fleet_list(fleet, &filter, &page));
    const selene_fleet_record *record = page->records[0];
    CHECK_INT(sizeof *record, record->struct_size);
    CHECK(strcmp(record->id.data, "t0") == 0 && strcmp(record->queue.data, "mail") == 0);
    CHECK(strcmp(record->handler.data, "send") == 0 && strcmp(record->node.data, "n") == 0);
    CHECK_INT(1, record->label_count);
    CHECK(strcmp(record->labels[0].data, "gpu") == 0);
    CHECK_INT(1, record->tag_count);
    CHECK(strcmp(record->tags[0].data, "t") == 0);
    CHECK_INT(SELENE_STATE_RUNNING, record->state);
    CHECK_INT(SELENE_KIND_REFRESH, record->kind);
    CHECK_INT(SELENE_SCHEDULE_ONCE, record->schedule);
    CHECK_INT(4, record->priority);
    CHECK_INT(1, record->attempts);
    CHECK_INT(SELENE_SECOND, record->estimate);
    CHECK(record->run > 0 && record->registered_at > 0);
    CHECK_INT(0, record->ended_at);
    selene_free(page);
    close_fleet();
}

enum { MANY = 3000 };

static void test_register_batch(void) {
    static const selene_text tags[] = {{"t", 1}, {"with \"quotes\", \\ and {}", -1}},
                             gpu = {"gpu", 3};
    static selene_task tasks[MANY];
    static const selene_task *given[MANY];
    static char ids[MANY][16];
    selene_status statuses[8];
    int32_t dispositions[8];
    selene_fleet_place place = SELENE_INIT(selene_fleet_place);
    selene_fleet_record *record = NULL;
    open_fleet();
    CHECK_OK(selene_fleet_register_batch(fleet, NULL, 0, NULL, NULL, NULL));
    for (int i = 0; i < 8; i++) {
        tasks[i] = once("a");
        given[i] = &tasks[i];
        dispositions[i] = 77;
    }
    tasks[0].handler = SELENE_TEXT("send");
    tasks[0].tags = tags;
    tasks[0].tag_count = 2;
    tasks[0].constraints = SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_IDLE;
    tasks[0].expected_response = 2500 * SELENE_MILLISECOND;
    tasks[0].initial_delay = SELENE_HOUR + 1;
    tasks[0].kind = SELENE_KIND_PROCESSING;
    tasks[0].priority = 4;
    tasks[0].max_attempts = 3;
    tasks[0].input = "\0\"\\x";
    tasks[0].input_length = 4;
    tasks[2].priority = 9;
    tasks[3] = once("refused there");
    tasks[3].existing = SELENE_EXISTING_APPEND;
    tasks[3].schedule = SELENE_SCHEDULE_STANDING;
    tasks[4] = once("periodic");
    tasks[4].schedule = SELENE_SCHEDULE_PERIODIC;
    tasks[4].period = SELENE_DAY;
    tasks[4].flex = SELENE_HOUR;
    tasks[4].recurrence = SELENE_RECURRENCE_ANCHORED;
    tasks[4].backoff = SELENE_BACKOFF_LINEAR;
    tasks[4].backoff_delay = SELENE_MINUTE;
    tasks[4].response_window = 7;
    given[5] = NULL;
    tasks[6] = once("a");
    tasks[6].existing = SELENE_EXISTING_APPEND;
    tasks[6].kind = SELENE_KIND_PROCESSING;
    tasks[7] = once("standing");
    tasks[7].schedule = SELENE_SCHEDULE_STANDING;
    place.labels = &gpu;
    place.label_count = 1;
    place.queue = SELENE_TEXT("web");
    CHECK_OK(selene_fleet_register_batch(fleet, given, 8, &place, statuses, dispositions));
    static const selene_status expected[8] = {SELENE_OK,
                                              SELENE_OK,
                                              SELENE_ERROR_INVALID_ARGUMENT,
                                              SELENE_ERROR_INVALID_ARGUMENT,
                                              SELENE_OK,
                                              SELENE_ERROR_INVALID_ARGUMENT,
                                              SELENE_OK,
                                              SELENE_OK};
    static const int32_t became[8] = {
        SELENE_DISPOSITION_ADDED,    SELENE_DISPOSITION_KEPT, 77, 77, SELENE_DISPOSITION_ADDED, 77,
        SELENE_DISPOSITION_APPENDED, SELENE_DISPOSITION_ADDED};
    for (int i = 0; i < 8; i++) {
        CHECK_INT(expected[i], statuses[i]);
        CHECK_INT(became[i], dispositions[i]);
    }
    CHECK(strcmp(selene_fleet_error()->message.data, "existing: only once tasks can be appended") ==
          0);
    CHECK(strcmp(sql("select input from task where id = 'a' and behind is null"), "\\x00225c78") ==
          0);
    CHECK(strcmp(sql("select delay from task where id = 'a' and behind is null"),
                 "3600000001000") == 0);
    CHECK(
        strcmp(
            sql("select period = 86400e9 and flex = 3600e9 and recurrence = 1 and backoff = 1 and "
                "backoff_delay = 60e9 and response_window = 7 and learns from task where id = "
                "'periodic'"),
            "t") == 0);
    CHECK_OK(selene_fleet_get(fleet, "a", -1, &record));
    CHECK(strcmp(record->queue.data, "web") == 0 && strcmp(record->handler.data, "send") == 0);
    CHECK_INT(2, record->tag_count);
    CHECK(strcmp(record->tags[1].data, tags[1].data) == 0);
    CHECK(strcmp(record->labels[0].data, "gpu") == 0);
    CHECK_INT(tasks[0].constraints, record->constraints);
    CHECK_INT(SELENE_KIND_PROCESSING, record->kind);
    CHECK_INT(4, record->priority);
    CHECK_INT(tasks[0].expected_response, record->estimate);
    CHECK_INT(1, record->appended);
    selene_free(record);
    /* In the order in which they are given, and all that is not refused in one commit. */
    for (int i = 0; i < MANY; i++) {
        snprintf(ids[i], sizeof ids[i], "m%d", i);
        tasks[i] = once(ids[i]);
        given[i] = &tasks[i];
    }
    CHECK_OK(selene_fleet_register_batch(fleet, given, MANY, NULL, NULL, NULL));
    CHECK(strcmp(sql("select count(*) from task where id ~ '^m'"), "3000") == 0);
    CHECK(
        strcmp(sql("select bool_and(substr(id, 2)::int = place) from (select id, row_number() over "
                   "(order by seq) - 1 as place from task where id ~ '^m') t"),
               "t") == 0);
    /* What the database cannot take at all refuses the whole. */
    tasks[0] = once("new");
    tasks[1] = once("a\xff");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_fleet_register_batch(fleet, given, 2, NULL, statuses, dispositions));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_fleet_get(fleet, "new", -1, &record));
    sql("select set_queue('mail', limit_refresh => 3001)");
    tasks[1] = once("over");
    CHECK_OK(selene_fleet_register_batch(fleet, given, 2, NULL, statuses, NULL));
    CHECK_INT(SELENE_OK, statuses[0]);
    CHECK_INT(SELENE_ERROR_TOO_MANY_PENDING, statuses[1]);
    close_fleet();
}

static void test_pause_status(void) {
    selene_task task = once("a");
    selene_fleet_items *items = NULL;
    selene_fleet_bytes *result = NULL;
    uint64_t count = 7;
    int alarms = 0, nodes = 0;
    open_fleet();
    CHECK_OK(selene_fleet_prune(fleet, SELENE_NEVER, NULL));
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    CHECK_OK(selene_fleet_pause(fleet, SELENE_NEVER));
    CHECK(strcmp(sql("select paused_until from queue where name = 'mail'"),
                 "9223372036854775807") == 0);
    CHECK_OK(selene_fleet_pause(fleet, SELENE_HOUR));
    CHECK(strcmp(sql("select paused_until - now_ns() between 3500e9 and 3600e9 from queue where "
                     "name = 'mail'"),
                 "t") == 0);
    CHECK_OK(selene_fleet_resume(fleet));
    CHECK(strcmp(sql("select paused_until from queue where name = 'mail'"), "0") == 0);
    CHECK_OK(selene_fleet_wake(fleet));
    CHECK_OK(selene_fleet_status(fleet, &items));
    for (uint64_t i = 0; i < items->count; i++) {
        alarms += (int)items->items[i].is_alarm;
        nodes += strcmp(items->items[i].item.data, "nodes") == 0 &&
                 strcmp(items->items[i].value.data, "0 alive, 0 gone") == 0;
        if (items->items[i].is_alarm)
            CHECK(strcmp(items->items[i].value.data, "no node has handler 'a'") == 0);
    }
    CHECK_INT(1, alarms);
    CHECK_INT(1, items->alarm_count);
    CHECK_INT(1, nodes);
    selene_free(items);
    sql("select * from hello('n'); select * from claim(1, array(select class from class)); "
        "select * from complete('{1}', '{1}', '{0}', '{1}', results => array['done'::bytea])");
    CHECK_OK(selene_fleet_result(fleet, "a", -1, &result));
    CHECK(strcmp(result->bytes.data, "done") == 0);
    CHECK_INT(4, result->bytes.length);
    selene_free(result);
    CHECK_OK(selene_fleet_prune(fleet, SELENE_NEVER, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_fleet_prune(fleet, 0, &count));
    CHECK_INT(1, count);
    CHECK_OK(selene_fleet_result(fleet, "a", -1, &result));
    CHECK(result == NULL);
    close_fleet();
}

static void test_again(void) {
    static const char fail[] =
        "select count(*) from hello('n') h cross join lateral claim(h.worker, array(select class "
        "from class)) c cross join lateral complete(array[c.seq], array[c.run], '{2}', '{1}', "
        "failures => '{no luck}') d";
    selene_task task = once("a");
    selene_fleet_record *record = NULL;
    int32_t waits = 77;
    open_fleet();
    task.max_attempts = 1;
    task.input = "x";
    task.input_length = 1;
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_fleet_retry(fleet, "a", -1, &disposition));
    CHECK(strcmp(selene_fleet_error()->message.data, "id: 'a' is not registered") == 0);
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    disposition = 77;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_fleet_retry(fleet, "a", -1, &disposition));
    CHECK(strstr(selene_fleet_error()->message.data, "is live") != NULL);
    CHECK_INT(77, disposition);
    sql(fail);
    CHECK_OK(selene_fleet_get(fleet, "a", -1, &record));
    CHECK_INT(SELENE_STATE_FAILED, record->state);
    selene_free(record);
    CHECK_OK(selene_fleet_retry(fleet, "a", -1, &disposition));
    CHECK_INT(SELENE_DISPOSITION_ADDED, disposition);
    CHECK(strcmp(sql("select input from task where id = 'a'"), "\\x78") == 0);
    CHECK_OK(selene_fleet_get(fleet, "a", 1, &record));
    CHECK_INT(SELENE_STATE_ENQUEUED, record->state);
    CHECK_INT(0, record->attempts);
    selene_free(record);
    sql(fail);
    sql("select set_queue('mail', limit_refresh => 0, holds => true)");
    CHECK_OK(selene_fleet_retry(fleet, "a", -1, &disposition));
    CHECK_INT(SELENE_DISPOSITION_HELD, disposition);
    CHECK_OK(selene_fleet_run_now(fleet, "a", -1, &waits));
    CHECK_INT(SELENE_FLEET_WAITS_FOR_PLACE, waits);
    sql("select set_queue('mail', limit_refresh => -1)");
    task = once("later");
    task.initial_delay = SELENE_DAY;
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    CHECK_OK(selene_fleet_run_now(fleet, "later", -1, NULL));
    CHECK_OK(selene_fleet_run_now(fleet, "later", 5, &waits));
    CHECK_INT(SELENE_FLEET_WAITS_FOR_WORKER, waits);
    CHECK(strcmp(sql("select due <= now_ns() and state = 0 from slot join task using (seq) where "
                     "id = 'later'"),
                 "t") == 0);
    sql("insert into stray values (99, 1, 'taken', 5, 9e18)");
    task = once("taken");
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    CHECK_OK(selene_fleet_run_now(fleet, "taken", -1, &waits));
    CHECK_INT(SELENE_FLEET_WAITS_FOR_RUN, waits);
    sql("select * from hello('n'); select * from claim(3, array(select class from class), most => "
        "9)");
    waits = 77;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_fleet_run_now(fleet, "later", -1, &waits));
    CHECK(strstr(selene_fleet_error()->message.data, "runs already") != NULL);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_fleet_run_now(fleet, "none", -1, &waits));
    CHECK_INT(77, waits);
    close_fleet();
}

static void test_queues(void) {
    selene_fleet_queue_terms terms = SELENE_INIT(selene_fleet_queue_terms);
    selene_fleet_queues *queues = NULL;
    selene_fleet_place place = SELENE_INIT(selene_fleet_place);
    uint64_t count = 7;
    open_fleet();
    CHECK_OK(selene_fleet_queue_list(fleet, NULL, 0, &queues));
    CHECK_INT(0, queues->count);
    selene_free(queues);
    /* What a new queue has, which setting nothing makes. */
    CHECK_OK(selene_fleet_set_queue(fleet, &terms));
    CHECK_OK(selene_fleet_queue_list(fleet, "", -1, &queues));
    CHECK_INT(1, queues->count);
    const selene_fleet_queue *one = queues->queues[0];
    CHECK_INT(sizeof *one, one->struct_size);
    CHECK(strcmp(one->name.data, "mail") == 0);
    CHECK_INT(0, one->paused_until);
    CHECK_INT(0, one->ready);
    CHECK_INT(-1, one->oldest);
    CHECK_INT(-1, one->pending_refresh);
    CHECK_INT(-1, one->pending_processing);
    CHECK_INT(sizeof terms, one->terms->struct_size);
    CHECK_INT(15 * SELENE_MINUTE, one->terms->pace);
    CHECK_INT(10 * SELENE_SECOND, one->terms->backoff_min);
    CHECK_INT(5 * SELENE_HOUR, one->terms->backoff_max);
    CHECK_INT(SELENE_DAY, one->terms->retention);
    CHECK_INT(10240, one->terms->max_input);
    CHECK_INT(SELENE_UNLIMITED, one->terms->limit_refresh);
    CHECK_INT(SELENE_UNLIMITED, one->terms->limit_processing);
    CHECK_INT(0, one->terms->jitter);
    CHECK_INT(0, one->terms->holds);
    selene_free(queues);
    /* Everything, in whole microseconds, rounded up. */
    terms.pace = SELENE_HOUR + 1;
    terms.backoff_min = SELENE_SECOND;
    terms.backoff_max = SELENE_MINUTE;
    terms.retention = SELENE_NONE;
    terms.max_input = 3;
    terms.limit_refresh = 1;
    terms.limit_processing = 2147483647;
    terms.jitter = 250;
    terms.holds = 1;
    CHECK_OK(selene_fleet_set_queue(fleet, &terms));
    terms = (selene_fleet_queue_terms)SELENE_INIT(selene_fleet_queue_terms);
    terms.limit_processing = SELENE_UNLIMITED;
    CHECK_OK(selene_fleet_set_queue(fleet, &terms));
    for (int i = 0; i < 2; i++) {
        selene_task task = once(i == 0 ? "a" : "b");
        CHECK_OK(selene_fleet_register(fleet, &task, NULL, &disposition));
        CHECK_INT(i == 0 ? SELENE_DISPOSITION_ADDED : SELENE_DISPOSITION_HELD, disposition);
        place.queue = SELENE_TEXT("web");
        task.id = i == 0 ? SELENE_TEXT("c") : SELENE_TEXT("d");
        CHECK_OK(selene_fleet_register(fleet, &task, &place, NULL));
    }
    CHECK_OK(selene_fleet_pause(fleet, SELENE_NEVER));
    CHECK_OK(selene_fleet_queue_list(fleet, NULL, 0, &queues));
    CHECK_INT(2, queues->count);
    one = queues->queues[0];
    CHECK(strcmp(one->name.data, "mail") == 0);
    CHECK_INT(SELENE_NEVER, one->paused_until);
    CHECK_INT(1, one->ready);
    CHECK(one->oldest >= 0 && one->oldest < SELENE_HOUR);
    CHECK_INT(1, one->pending_refresh);
    CHECK_INT(-1, one->pending_processing);
    CHECK_INT(SELENE_HOUR + 1000, one->terms->pace);
    CHECK_INT(SELENE_SECOND, one->terms->backoff_min);
    CHECK_INT(SELENE_MINUTE, one->terms->backoff_max);
    CHECK_INT(0, one->terms->retention);
    CHECK_INT(3, one->terms->max_input);
    CHECK_INT(1, one->terms->limit_refresh);
    CHECK_INT(SELENE_UNLIMITED, one->terms->limit_processing);
    CHECK_INT(250, one->terms->jitter);
    CHECK_INT(1, one->terms->holds);
    CHECK(strcmp(queues->queues[1]->name.data, "web") == 0);
    CHECK_INT(2, queues->queues[1]->ready);
    selene_free(queues);
    CHECK_OK(selene_fleet_pause(fleet, SELENE_HOUR));
    CHECK_OK(selene_fleet_queue_list(fleet, NULL, 0, &queues));
    CHECK(queues->queues[0]->paused_until > SELENE_DAY &&
          queues->queues[0]->paused_until < SELENE_NEVER);
    selene_free(queues);
    CHECK_OK(selene_fleet_queue_list(fleet, "mail", 4, &queues));
    CHECK_INT(1, queues->count);
    CHECK(strcmp(queues->queues[0]->name.data, "web") == 0);
    selene_free(queues);
    /* What the database refuses changes nothing. */
    terms = (selene_fleet_queue_terms)SELENE_INIT(selene_fleet_queue_terms);
    terms.jitter = 9;
    terms.backoff_min = SELENE_DAY;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_fleet_set_queue(fleet, &terms));
    CHECK(strncmp(selene_fleet_error()->message.data, "backoff_min: ", 13) == 0);
    CHECK(strcmp(sql("select jitter from queue where name = 'mail'"), "250") == 0);
    /* A struct of an older library ends before these. */
    terms = (selene_fleet_queue_terms){(uint32_t)offsetof(selene_fleet_queue_terms, max_input),
                                       0,
                                       SELENE_SECOND,
                                       -1,
                                       -1,
                                       -1,
                                       1,
                                       1,
                                       1,
                                       1,
                                       1};
    CHECK_OK(selene_fleet_set_queue(fleet, &terms));
    CHECK(strcmp(sql("select pace = 1e9 and jitter = 250 and max_input = 3 from queue where name = "
                     "'mail'"),
                 "t") == 0);
    CHECK_OK(selene_fleet_cancel_queue(fleet, &count));
    CHECK_INT(2, count);
    CHECK_OK(selene_fleet_cancel_queue(fleet, NULL));
    CHECK(strcmp(sql("select count(*) from live where queue = 'web'"), "2") == 0);
    close_fleet();
}

static void test_nodes(void) {
    selene_fleet_nodes *nodes = NULL;
    selene_task task = once("a");
    uint64_t count = 7;
    open_fleet();
    CHECK_OK(selene_fleet_node_list(fleet, &nodes));
    CHECK_INT(0, nodes->count);
    selene_free(nodes);
    task.handler = SELENE_TEXT("send");
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    sql("select * from hello('n1', 60000000000, '9.9', serves => array(select class from class)); "
        "select * from hello('n2'); select * from hello('n2'); "
        "select * from claim(1, array(select class from class)); "
        "update worker set jumps = 3 where worker = 1; "
        "update worker set expires = 1 where worker = 2");
    CHECK_OK(selene_fleet_node_list(fleet, &nodes));
    CHECK_INT(3, nodes->count);
    const selene_fleet_node *one = nodes->nodes[0];
    CHECK_INT(sizeof *one, one->struct_size);
    CHECK_INT(SELENE_FLEET_NODE_IS_ALIVE, one->flags);
    CHECK_INT(1, one->number);
    CHECK(strcmp(one->name.data, "n1") == 0 && strcmp(one->version.data, "9.9") == 0);
    CHECK_INT(SELENE_MINUTE, one->lease);
    CHECK_INT(SELENE_MINUTE, one->expires_at - one->beaten_at);
    CHECK_INT(one->started_at, one->beaten_at);
    CHECK(llabs(one->started_at / SELENE_SECOND - (int64_t)time(NULL)) < 3600);
    CHECK_INT(1, one->runs);
    CHECK_INT(3, one->jumps);
    CHECK_INT(1, one->handler_count);
    CHECK(strcmp(one->handlers[0].data, "send") == 0);
    CHECK_INT(3, nodes->nodes[1]->number);
    CHECK_INT(0, nodes->nodes[1]->handler_count);
    CHECK_INT(2, nodes->nodes[2]->number);
    CHECK_INT(0, nodes->nodes[2]->flags);
    selene_free(nodes);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_fleet_drain(fleet, "none", -1, &count));
    CHECK(strcmp(selene_fleet_error()->message.data, "node: 'none' is not there") == 0);
    CHECK_INT(7, count);
    CHECK_OK(selene_fleet_drain(fleet, "n2", -1, &count));
    CHECK_INT(2, count);
    CHECK_OK(selene_fleet_node_list(fleet, &nodes));
    CHECK_INT(SELENE_FLEET_NODE_IS_ALIVE, nodes->nodes[0]->flags);
    CHECK_INT(SELENE_FLEET_NODE_IS_ALIVE | SELENE_FLEET_NODE_IS_DRAINING, nodes->nodes[1]->flags);
    CHECK_INT(SELENE_FLEET_NODE_IS_DRAINING, nodes->nodes[2]->flags);
    selene_free(nodes);
    close_fleet();
}

static void test_install(void) {
    selene_fleet_options where = options();
    selene_fleet_bytes *script = NULL;
    selene_task task = once("a");
    selene_fleet other = 0;
    where.schema = SELENE_TEXT("my \"fl'eet\"");
    open_fleet();
    CHECK_OK(selene_fleet_open(&where, &other));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_fleet_register(other, &task, NULL, NULL));
    CHECK(strstr(selene_fleet_error()->message.data, "does not exist") != NULL);
    CHECK_OK(selene_fleet_install(&where, &script));
    CHECK(strstr(script->bytes.data, "\"my \"\"fl'eet\"\"\"") != NULL);
    CHECK(strstr(script->bytes.data, "'my \"fl''eet\"'") != NULL);
    CHECK_INT(strlen(script->bytes.data), script->bytes.length);
    selene_free(script);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_fleet_register(other, &task, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(selene_fleet_install(&where, NULL));
        CHECK(strcmp(selene_fleet_error()->message.data, "") == 0);
    }
    CHECK_OK(selene_fleet_register(other, &task, NULL, &disposition));
    CHECK_INT(SELENE_DISPOSITION_ADDED, disposition);
    CHECK_OK(selene_fleet_close(other, 0));
    CHECK(strcmp(sql("select count(*) from live"), "0") == 0);
    sql("drop schema \"my \"\"fl'eet\"\"\" cascade");
    close_fleet();
}

/** Whose roles it may not make, and who may do nothing in the fleet of another. */
static void test_rights(void) {
    selene_fleet_options where = options();
    selene_task task = once("a");
    selene_fleet other = 0;
    char as_poor[512];
    snprintf(as_poor, sizeof as_poor, "%s user=poor", dsn);
    open_fleet();
    sql("create role poor login; do $$ begin execute format('grant create on database %I to poor', "
        "current_database()); end $$");
    where.dsn = (selene_text){as_poor, -1};
    CHECK_OK(selene_fleet_open(&where, &other));
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_fleet_register(other, &task, NULL, NULL));
    CHECK(strstr(selene_fleet_error()->message.data, "permission denied") != NULL);
    CHECK_OK(selene_fleet_close(other, 0));
    where.schema = SELENE_TEXT("poors");
    CHECK_OK(selene_fleet_install(&where, NULL));
    CHECK(strstr(selene_fleet_error()->message.data,
                 "only poor and superusers can use the fleet poors") != NULL);
    CHECK(strstr(selene_fleet_error()->message.data, "poors_enqueue") != NULL);
    sql("drop schema poors cascade; drop owned by poor; drop role poor");
    close_fleet();
}

static void test_lost(void) {
    selene_fleet_options where = options();
    selene_task task = once("a");
    selene_fleet other = 0;
    static const char end[] = "select count(pg_terminate_backend(pid)) from pg_stat_activity where "
                              "application_name = 'selene' and datname = current_database()";
    open_fleet();
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    CHECK(strcmp(sql(end), "1") == 0);
    while (strcmp(sql(others), "0") != 0)
        usleep(5000);
    /* Its end is noticed before anything is sent. */
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, &disposition));
    CHECK_INT(SELENE_DISPOSITION_KEPT, disposition);
    close_fleet();
    where.dsn = SELENE_TEXT("host=/nowhere dbname=app");
    CHECK_OK(selene_fleet_open(&where, &other));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_fleet_register(other, &task, NULL, NULL));
    CHECK(strstr(selene_fleet_error()->message.data, "/nowhere") != NULL);
    CHECK(strstr(selene_fleet_error()->message.data, "; nothing was changed") != NULL);
    CHECK_OK(selene_fleet_close(other, 0));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_fleet_install(&where, NULL));
}

static void test_conflict(void) {
    selene_task task = once("a");
    open_fleet();
    sql("create sequence tries minvalue -100 start 1");
    sql("create function conflicts() returns trigger language plpgsql as $$ begin "
        "if nextval('tries') < 4 then raise exception 'another' using errcode = '40001'; end if; "
        "return new; end $$");
    sql("create trigger conflicts before insert on task for each row execute function conflicts()");
    CHECK_OK(selene_fleet_register(fleet, &task, NULL, &disposition));
    CHECK_INT(SELENE_DISPOSITION_ADDED, disposition);
    CHECK(strcmp(sql("select last_value from tries"), "4") == 0);
    sql("alter sequence tries restart with -100");
    task.id = SELENE_TEXT("b");
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_fleet_register(fleet, &task, NULL, NULL));
    CHECK(strcmp(sql("select last_value from tries"), "-91") == 0);
    sql("drop trigger conflicts on task; drop function conflicts(); drop sequence tries");
    close_fleet();
}

/** A call that waits for a lock longer than the fleet waits for it. */
static void test_timeout(void) {
    selene_fleet_options where = options();
    selene_task task = once("a");
    selene_fleet_record *record = NULL;
    selene_fleet other = 0;
    where.timeout = 300 * SELENE_MILLISECOND;
    open_fleet();
    CHECK_OK(selene_fleet_open(&where, &other));
    PGconn *connection = PQconnectdb(dsn);
    PQclear(PQexec(connection, "begin; lock table selene.task"));
    CHECK_STATUS(SELENE_ERROR_OUTCOME_UNKNOWN, selene_fleet_register(other, &task, NULL, NULL));
    CHECK(strstr(selene_fleet_error()->message.data, "may have been carried out") != NULL);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_fleet_get(other, "a", -1, &record));
    PQfinish(connection);
    CHECK_OK(selene_fleet_close(other, 0));
    close_fleet();
}

/** Other threads go on while this one forks. */
static void *register_many(void *context) {
    char id[32];
    for (int i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "%s%d", (const char *)context, i);
        selene_task task = once(id);
        CHECK_OK(selene_fleet_register(fleet, &task, NULL, NULL));
    }
    return NULL;
}

/* With clang's address sanitizer 2 children of 9 000 had no connection in the time for it, and it is not known why; without a
 * sanitizer none of 5 100. There a second call may make one. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CALLS_OF_A_CHILD 2
#endif
#endif
#ifndef CALLS_OF_A_CHILD
#define CALLS_OF_A_CHILD 1
#endif

static void test_fork(void) {
    pthread_t threads[2];
    selene_task task = once("of the child");
    open_fleet();
    pthread_create(&threads[0], NULL, register_many, "a");
    pthread_create(&threads[1], NULL, register_many, "b");
    for (int i = 0; i < 5; i++) {
        int told = 0;
        pid_t child = fork();
        if (child == 0) {
            selene_fleet_options where = options();
            selene_fleet own = 0;
            CHECK_STATUS(SELENE_ERROR_FORKED, selene_fleet_register(fleet, &task, NULL, NULL));
            CHECK(strstr(selene_fleet_error()->message.data, "fork()") != NULL);
            CHECK_STATUS(SELENE_ERROR_FORKED, selene_fleet_close(fleet, 0));
            CHECK_OK(selene_fleet_open(&where, &own));
            selene_status status = SELENE_ERROR_OWNER_AWAY;
            for (int call = 0; call < CALLS_OF_A_CHILD && status == SELENE_ERROR_OWNER_AWAY; call++)
                status = selene_fleet_register(own, &task, NULL, NULL);
            CHECK_OK(status);
            CHECK_OK(selene_fleet_close(own, 0));
            _exit(0);
        }
        CHECK(waitpid(child, &told, 0) == child);
        CHECK_INT(0, told);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(strcmp(sql("select count(*) from task"), "81") == 0);
    close_fleet();
}

/** A worker on a scheduler in this process: what its calls answer. */
static void test_worker(void) {
    selene_scheduler scheduler = 0;
    selene_worker worker = 0, other = 0;
    selene_worker_info info = SELENE_INIT(selene_worker_info);
    selene_worker_options how = SELENE_INIT(selene_worker_options);
    open_fleet();
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    how.lease = 1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_fleet_work(fleet, scheduler, &how, &worker));
    CHECK(strncmp(selene_fleet_error()->message.data, "lease: ", 7) == 0);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_fleet_work(fleet, 0, NULL, &worker));
    CHECK_INT(0, worker);
    CHECK_OK(selene_fleet_work(fleet, scheduler, NULL, &worker));
    CHECK_STATUS(SELENE_ERROR_BUSY, selene_fleet_work(fleet, scheduler, NULL, &other));
    do
        CHECK_OK(selene_worker_get(worker, &info));
    while (!info.listens || info.state != SELENE_NODE_WORKING);
    CHECK(info.number > 0 && info.believes_until > 0);
    CHECK(strcmp(sql("select count(*) from nodes where name ~ ':[0-9]+$'"), "1") == 0);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_worker_stop(worker, -1));
    CHECK_OK(selene_worker_stop(worker, SELENE_MINUTE));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_worker_stop(worker, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_worker_get(worker, &info));
    CHECK(strcmp(sql("select count(*) from nodes"), "0") == 0);
    /* Another one, which goes with its fleet; and one whose scheduler is closed before. */
    CHECK_OK(selene_fleet_work(fleet, scheduler, NULL, &worker));
    CHECK_OK(selene_fleet_close(fleet, SELENE_MINUTE));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_worker_get(worker, &info));
    CHECK(strcmp(sql("select count(*) from nodes"), "0") == 0);
    open_fleet();
    CHECK_OK(selene_fleet_work(fleet, scheduler, NULL, &worker));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_OK(selene_worker_get(worker, &info));
    CHECK_INT(SELENE_NODE_CLOSED, info.state);
    CHECK_OK(selene_worker_stop(worker, SELENE_MINUTE));
    close_fleet();
}

/* A schema that is not a fleet's, or was damaged: what it answers does no harm. */
static void test_foreign(void) {
    selene_fleet_options where = options();
    selene_fleet foreign = 0;
    selene_fleet_record *record = NULL;
    selene_fleet_bytes *result = NULL;
    selene_task task = once("a");
    uint64_t count = 7;
    int32_t disposition = 7;
    sql("drop schema if exists \"foreign one\" cascade; create schema \"foreign one\";"
        "set search_path = \"foreign one\";"
        "create function wake(text) returns void language plpgsql as "
        "'begin raise exception using errcode = ''SE000'', message = ''no''; end';"
        "create function resume(text) returns void language plpgsql as "
        "'begin raise exception using errcode = ''SEABC'', message = ''no''; end';"
        "create function partitions() returns int language sql as 'select 1';"
        "create function prune(interval) returns setof bigint language sql as "
        "'select 1::bigint where false';"
        "create function cancel(text) returns setof text language sql as 'select ''x''::text';"
        "create function result(text) returns setof bytea language sql as "
        "'select ''x''::bytea where false';"
        "create function get(text) returns table (seq bigint, id text, queue text, handler text, "
        "node text, failure text, labels text[], tags text[], requires text[], kind text, "
        "schedule text, state text, stop text, priority int, attempts int, generation smallint, "
        "runs int, registered timestamptz, earliest_begin timestamptz, last_run timestamptz, "
        "ended timestamptz, estimate interval, run bigint, appended bigint) language sql as "
        "'select -1::bigint, null, ''q'', null, null, null, null::text[], "
        "array[null, ''t''], ''{{a,b},{c,d}}''::text[], ''k'', null, null, null, -3, null::int, "
        "-2::smallint, 1, ''infinity''::timestamptz, ''-infinity''::timestamptz, "
        "''1970-01-01 00:00:00Z''::timestamptz, ''250000-01-01''::timestamptz, "
        "interval ''170000000 years'', -5::bigint, 0::bigint'");
    where.schema = SELENE_TEXT("foreign one");
    CHECK_OK(selene_fleet_open(&where, &foreign));
    CHECK_STATUS(SELENE_ERROR_INTERNAL, selene_fleet_wake(foreign));
    CHECK(strstr(selene_fleet_error()->message.data, "SE000") != NULL);
    CHECK_STATUS(SELENE_ERROR_INTERNAL, selene_fleet_resume(foreign));
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED,
                 selene_fleet_register(foreign, &task, NULL, &disposition));
    CHECK_INT(7, disposition);
    CHECK_OK(selene_fleet_prune(foreign, SELENE_NEVER, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_fleet_cancel(foreign, "a", -1, &count));
    CHECK_INT(0, count);
    CHECK_OK(selene_fleet_result(foreign, "a", -1, &result));
    CHECK(result == NULL);
    CHECK_OK(selene_fleet_get(foreign, "a", -1, &record));
    CHECK_INT(-1, record->sequence);
    CHECK_INT(0, record->id.length);
    CHECK_INT(-1, record->kind);
    CHECK_INT(-3, record->priority);
    CHECK_INT((uint32_t)-2, record->generation);
    CHECK_INT(2, record->tag_count);
    CHECK_INT(0, record->tags[0].length);
    CHECK_INT(0, record->constraints);
    CHECK_INT(SELENE_NEVER, record->registered_at);
    CHECK_INT(INT64_MIN, record->earliest_begin);
    CHECK_INT(0, record->last_run);
    CHECK_INT(SELENE_NEVER, record->ended_at);
    CHECK_INT(INT64_MAX, record->estimate);
    CHECK_INT(-5, record->run);
    selene_free(record);
    CHECK_OK(selene_fleet_close(foreign, 0));
    sql("drop schema \"foreign one\" cascade");
}

int main(int argc, char **argv) {
    dsn = getenv("FLEET_DSN");
    if (dsn == NULL) return 2;
    check_begin(argc, argv);
    run_test("N16 a task is registered, looked at, explained and cancelled", test_register);
    run_test("N3 every field of a task arrives, that of an older struct, too", test_every_field);
    run_test("N16 what is refused has the status of its SQLSTATE and changes nothing",
             test_refusals);
    run_test("N8 many tasks are registered in one commit, each judged by itself",
             test_register_batch);
    run_test("N31 pauses, status, wake and results", test_pause_status);
    run_test("N31 tasks are listed, page by page", test_list);
    run_test("R7 what has failed is registered again, and what waits by time is due now",
             test_again);
    run_test("N31 queues are set, listed and emptied", test_queues);
    run_test("N37 nodes are listed, and asked to leave", test_nodes);
    run_test("N1 it installs a fleet in a schema of any name", test_install);
    run_test("N32 who may not is refused, and what an installation lacks is told", test_rights);
    run_test("8.2 a schema that is not a fleet's does no harm", test_foreign);
    run_test("N29 a lost connection is made again; without one nothing is changed", test_lost);
    run_test("N29 what the database ends for the sake of another is made again, ten times",
             test_conflict);
    run_test("N29 a call that takes too long leaves its outcome open", test_timeout);
    run_test("N29 a child answers FORKED and touches nothing of its parent's", test_fork);
    run_test("N21 a worker has one scheduler, and ends with its fleet", test_worker);
    return check_end();
}
