// Section TASK of the header: registering one task, or many.

#include "fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEN_YEARS (INT64_C(3653) * SELENE_DAY)
#define INPUTS_MOST (INT64_C(1) << 28)
enum { NAMES_MOST = 16, INPUT_MOST = 1 << 29, TASKS_MOST = 10000 };

// ---- What is given ----

static selene_status check_names(const selene_text *names, uint64_t count, const char *name) {
    selene_status status = fleet_check_range((int64_t)count, 0, NAMES_MOST, name);
    if (status == SELENE_OK && count > 0) status = fleet_check_pointer(names, name);
    for (uint64_t i = 0; i < count && status == SELENE_OK; i++) {
        selene_text text = names[i];
        status = fleet_check_text(&text, 1, 255, name);
    }
    return status;
}

// What tasks of a fleet do not have.
static selene_status check_supported(const selene_task *task) {
    const char *field = task->flags != 0                                      ? "flags"
                        : task->recurrence == SELENE_RECURRENCE_CALENDAR      ? "recurrence"
                        : task->timeout != 0                                  ? "timeout"
                        : task->stall_limit != 0                              ? "stall_limit"
                        : task->jitter != 0                                   ? "jitter"
                        : task->group.length != 0 && task->group.data != NULL ? "group"
                        : task->after_count != 0                              ? "after"
                        : task->latest_begin != 0                             ? "latest_begin"
                        : task->condition_count != 0                          ? "conditions"
                                                                              : NULL;
    if (field == NULL) return SELENE_OK;
    return fleet_refuse(SELENE_ERROR_UNSUPPORTED, field, "tasks of a fleet have none");
}

// What 0 and SELENE_NONE stand for. An expected response that is not known is −1 then.
static void take_defaults(selene_task *task) {
    int64_t window = task->response_window;
    fleet_settle(&window, 3);
    task->response_window = (int32_t)window;
    fleet_settle(&task->expected_response, -1);
    fleet_settle(&task->backoff_delay, 30 * SELENE_SECOND);
    if (task->kind == 0) task->kind = SELENE_KIND_REFRESH;
    if (task->priority == 0) task->priority = SELENE_PRIORITY_NORMAL;
}

// What the fleet would name otherwise; the rest it checks itself.
static selene_status check_numbers(const selene_task *task) {
    const int is_periodic = task->schedule == SELENE_SCHEDULE_PERIODIC ||
                            (task->schedule == SELENE_SCHEDULE_DEFAULT && task->period != 0);
    selene_status status = fleet_check_range(task->kind, 1, 2, "kind");
    if (status == SELENE_OK) status = fleet_check_range(task->schedule, 0, 3, "schedule");
    if (status == SELENE_OK) status = fleet_check_range(task->priority, 1, 5, "priority");
    if (status == SELENE_OK) status = fleet_check_range(task->existing, 0, 5, "existing");
    if (status == SELENE_OK) status = fleet_check_range(task->recurrence, 0, 1, "recurrence");
    if (status == SELENE_OK) status = fleet_check_range(task->backoff, 0, 3, "backoff");
    if (status == SELENE_OK)
        status = fleet_check_range(task->response_window, 0, 30, "response_window");
    if (status == SELENE_OK)
        status = fleet_check_range(task->max_attempts, 0, INT32_MAX, "max_attempts");
    if (status == SELENE_OK) status = fleet_check_range(task->constraints, 0, 255, "constraints");
    if (status == SELENE_OK && task->expected_response != -1)
        status = fleet_check_time(task->expected_response, 0, SELENE_DAY, "expected_response");
    if (status == SELENE_OK)
        status = fleet_check_time(task->initial_delay, 0, TEN_YEARS, "initial_delay");
    if (status == SELENE_OK && is_periodic) {
        status = fleet_check_time(task->period, 1, TEN_YEARS, "period");
        if (status == SELENE_OK) status = fleet_check_time(task->flex, 0, task->period, "flex");
    } else if (status == SELENE_OK && (task->period != 0 || task->flex != 0)) {
        status = fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT, task->period != 0 ? "period" : "flex",
                              "is for periodic tasks only");
    }
    if (status == SELENE_OK)
        status = fleet_check_time(task->backoff_delay, 0, INT64_MAX, "backoff_delay");
    if (status == SELENE_OK)
        status = fleet_check_range(task->input_length, 0, INT64_MAX, "input_length");
    if (status == SELENE_OK && task->input_length > 0)
        status = fleet_check_pointer(task->input, "input");
    if (status == SELENE_OK && task->input_length > INPUT_MOST)
        status = fleet_refuse(SELENE_ERROR_TOO_LARGE, "input", "%" PRId64 " bytes are too many",
                              task->input_length);
    return status;
}

// Reads a task of the caller's, whatever its size, with the lengths of its texts.
static selene_status take_task(const selene_task *given, selene_task *out) {
    *out = (selene_task)SELENE_INIT(selene_task);
    selene_status status = fleet_check_pointer(given, "task");
    if (status == SELENE_OK) status = fleet_take(out, sizeof *out, given, "task");
    if (status == SELENE_OK) status = fleet_check_text(&out->id, 1, 255, "id");
    if (status == SELENE_OK) status = fleet_check_text(&out->handler, 0, 255, "handler");
    if (status == SELENE_OK) status = check_supported(out);
    take_defaults(out);
    if (status == SELENE_OK) status = check_numbers(out);
    if (status == SELENE_OK) status = check_names(out->tags, out->tag_count, "tags");
    return status;
}

static selene_status take_place(const selene_fleet_place *given, selene_fleet_place *out) {
    *out = (selene_fleet_place)SELENE_INIT(selene_fleet_place);
    selene_status status = fleet_take(out, sizeof *out, given, "place");
    if (status == SELENE_OK && out->flags != 0) status = fleet_refuse_bits("flags", out->flags, 0);
    if (status == SELENE_OK) status = fleet_check_text(&out->queue, 0, 255, "queue");
    if (status == SELENE_OK) status = check_names(out->labels, out->label_count, "labels");
    return status;
}

// ---- As the database takes it ----

static selene_value number_of(int64_t number) {
    return (selene_value){SELENE_VALUE_INTEGER, 0, number, NULL, 0};
}

// Whole microseconds, rounded up.
static selene_value microseconds(int64_t span) {
    return number_of(span / 1000 + (span % 1000 > 0));
}

// The text of an array, which may be an element of another one; the caller frees it.
static char *names_text(const selene_text *names, uint64_t count) {
    selene_value values[NAMES_MOST];
    for (uint64_t i = 0; i < count; i++) {
        selene_text text = names[i];
        if (text.length < 0) text.length = (int64_t)strlen(text.data);
        values[i] = fleet_text(text);
    }
    return statement_array(values, count);
}

static char *constraints_text(uint32_t constraints) {
    selene_value values[NAMES_MOST];
    uint64_t count = 0;
    for (uint32_t bit = 1; bit <= SELENE_CONSTRAINT_NOT_ROAMING; bit <<= 1)
        if (constraints & bit)
            values[count++] = fleet_word(selene_name(SELENE_NAMES_CONSTRAINT, bit));
    return statement_array(values, count);
}

// The parameters of a task, in the order of both statements below, each so far from the next; and the texts among them that
// are to be freed.
enum { PARAMETERS = 18, TEXTS = 2 };
static void fill(selene_value *out, size_t stride, char **texts, const selene_task *task) {
    const selene_value none = {SELENE_VALUE_NULL, 0, 0, NULL, 0};
    texts[0] = names_text(task->tags, task->tag_count);
    texts[1] = constraints_text(task->constraints);
    const selene_value values[PARAMETERS] = {
        fleet_text(task->id),
        task->handler.length > 0 ? fleet_text(task->handler) : none,
        fleet_word(selene_name(SELENE_NAMES_KIND, task->kind)),
        task->schedule != 0 ? fleet_word(selene_name(SELENE_NAMES_SCHEDULE, task->schedule)) : none,
        number_of(task->priority),
        task->expected_response >= 0 ? microseconds(task->expected_response) : none,
        microseconds(task->initial_delay),
        task->period != 0 ? microseconds(task->period) : none,
        microseconds(task->flex),
        {SELENE_VALUE_BOOLEAN, 0, task->recurrence == SELENE_RECURRENCE_ANCHORED, NULL, 0},
        task->backoff != 0 ? fleet_word(selene_name(SELENE_NAMES_BACKOFF, task->backoff)) : none,
        microseconds(task->backoff_delay),
        number_of(task->max_attempts),
        number_of(task->response_window),
        fleet_word(texts[0]),
        fleet_word(texts[1]),
        task->existing != 0 ? fleet_word(selene_name(SELENE_NAMES_EXISTING, task->existing)) : none,
        {SELENE_VALUE_BYTES, 0, 0, task->input, task->input_length},
    };
    for (size_t i = 0; i < PARAMETERS; i++)
        out[i * stride] = values[i];
}

// clang-format off
#define MICROSECONDS "::bigint * interval '1 microsecond'"
static const char *const register_sql =
    "select %.register($1::text, handler => $2::text, kind => $3::text, schedule => $4::text, "
    "priority => $5::int, expected => $6" MICROSECONDS ", delay => $7" MICROSECONDS
    ", every => $8" MICROSECONDS ", flex => $9" MICROSECONDS ", anchored => $10::boolean, "
    "backoff => $11::text, backoff_delay => $12" MICROSECONDS ", max_attempts => $13::int, "
    "response_window => $14::int, tags => $15::text[], requires => $16::text[], "
    "existing => $17::text, input => $18::bytea, queue => $19::text, labels => $20::text[])";

// The same as columns; the labels are those of all.
static const char *const register_batch_sql =
    "select * from %.register_batch($19::text, $1::text[], $2::text[], $3::text[], $4::text[], "
    "$5::int[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::boolean[], "
    "$11::text[], $12::bigint[], $13::int[], $14::int[], $15::text[], "
    "array_fill($20::text, array[cardinality($1::text[])]), $16::text[], $17::text[], $18::bytea[])";
// clang-format on

static selene_value queue_of(const fleet *own, const selene_fleet_place *place) {
    return place->queue.length > 0 ? fleet_text(place->queue) : fleet_word(own->queue);
}

int32_t fleet_disposition(const selene_value *word) {
    for (int32_t one = SELENE_DISPOSITION_ADDED; one <= SELENE_DISPOSITION_HELD; one++)
        if (word->type == SELENE_VALUE_TEXT &&
            strcmp(selene_name(SELENE_NAMES_DISPOSITION, one), word->data) == 0)
            return one;
    return -1;
}

// ---- One ----

selene_status selene_fleet_register(selene_fleet number, const selene_task *given,
                                    const selene_fleet_place *where, int32_t *out_disposition) {
    selene_value values[PARAMETERS + 2];
    char *texts[TEXTS];
    selene_task task;
    selene_fleet_place place;
    fleet *own;
    rows told;
    selene_status status = take_task(given, &task);
    if (status == SELENE_OK) status = take_place(where, &place);
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    char *labels = names_text(place.labels, place.label_count);
    fill(values, 1, texts, &task);
    values[PARAMETERS] = queue_of(own, &place);
    values[PARAMETERS + 1] = fleet_word(labels);
    status = fleet_ask(own, register_sql, values, PARAMETERS + 2, 0, &told);
    handle_release(&own->handle);
    for (int i = 0; i < TEXTS; i++)
        free(texts[i]);
    free(labels);
    if (status != SELENE_OK) return status;
    if (out_disposition != NULL) *out_disposition = fleet_disposition(&told.cells[0]);
    rows_free(&told);
    return SELENE_OK;
}

// ---- Many ----

// What a batch becomes: of the tasks that can be sent the columns, and where each was given.
typedef struct batch {
    uint64_t count;
    selene_value *columns;
    char **texts;
    uint64_t *places;
} batch;

static void free_batch(batch *own) {
    for (uint64_t i = 0; i < own->count * TEXTS; i++)
        free(own->texts[i]);
    free(own->columns);
    free(own->texts);
    free(own->places);
}

// Reads the tasks; one that is refused here is not sent. TOO_LARGE: their inputs are too much for one statement.
static selene_status take_batch(batch *own, const selene_task *const *tasks, uint64_t count,
                                selene_status *statuses) {
    int64_t inputs = 0;
    *own = (batch){0, fleet_memory(count * PARAMETERS * sizeof *own->columns),
                   fleet_memory(count * TEXTS * sizeof *own->texts),
                   fleet_memory(count * sizeof *own->places)};
    for (uint64_t i = 0; i < count; i++) {
        selene_task task;
        statuses[i] = take_task(tasks[i], &task);
        if (statuses[i] != SELENE_OK) continue;
        inputs += task.input_length;
        if (inputs > INPUTS_MOST)
            return fleet_refuse(SELENE_ERROR_TOO_LARGE, "tasks",
                                "the inputs of the first %" PRIu64 " are more than the %" PRId64
                                " bytes of one call",
                                i + 1, INPUTS_MOST);
        fill(own->columns + own->count, count, own->texts + own->count * TEXTS, &task);
        own->places[own->count++] = i;
    }
    return SELENE_OK;
}

static selene_status send_batch(fleet *own, batch *sent, uint64_t count,
                                const selene_fleet_place *place, selene_status *statuses,
                                int32_t *dispositions) {
    selene_value values[PARAMETERS + 2];
    rows told;
    for (size_t i = 0; i < PARAMETERS; i++)
        values[i] = (selene_value){SELENE_VALUE_ARRAY, 0, 0, sent->columns + i * count,
                                   (int64_t)sent->count};
    char *labels = names_text(place->labels, place->label_count);
    values[PARAMETERS] = queue_of(own, place);
    values[PARAMETERS + 1] = fleet_word(labels);
    selene_status status = fleet_ask(own, register_batch_sql, values, PARAMETERS + 2, 0, &told);
    free(labels);
    if (status != SELENE_OK) return status;
    for (uint64_t i = 0; i < told.count && i < sent->count; i++) {
        const selene_value *cell = &told.cells[i * told.columns];
        uint64_t place_of = sent->places[i];
        statuses[place_of] = (selene_status)cell[1].integer;
        if (cell[0].type == SELENE_VALUE_TEXT) {
            if (dispositions != NULL) dispositions[place_of] = fleet_disposition(&cell[0]);
        } else {
            int is_told = cell[2].type == SELENE_VALUE_TEXT;
            fleet_refuse_told(statuses[place_of], is_told ? cell[2].data : "",
                              is_told ? (size_t)cell[2].length : 0);
        }
    }
    rows_free(&told);
    return SELENE_OK;
}

selene_status selene_fleet_register_batch(selene_fleet number, const selene_task *const *tasks,
                                          uint64_t count, const selene_fleet_place *where,
                                          selene_status *out_statuses, int32_t *out_dispositions) {
    selene_fleet_place place;
    fleet *own;
    batch sent;
    selene_status status =
        count <= TASKS_MOST
            ? SELENE_OK
            : fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT, "count",
                           "%" PRIu64 " is out of range, allowed are 0 … %d", count, TASKS_MOST);
    if (status == SELENE_OK && count > 0) status = fleet_check_pointer(tasks, "tasks");
    if (status == SELENE_OK) status = take_place(where, &place);
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    selene_status *statuses = fleet_memory(count * sizeof *statuses);
    status = take_batch(&sent, tasks, count, statuses);
    if (status == SELENE_OK && sent.count > 0)
        status = send_batch(own, &sent, count, &place, statuses, out_dispositions);
    handle_release(&own->handle);
    free_batch(&sent);
    if (status == SELENE_OK && out_statuses != NULL && count > 0)
        memcpy(out_statuses, statuses, count * sizeof *statuses);
    free(statuses);
    return status;
}
