// Section TASK of the header.

#include "fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEN_YEARS (INT64_C(3653) * SELENE_DAY)
enum { NAMES_MOST = 16, INPUT_MOST = 1 << 29 };

selene_status selene_fleet_place_init(selene_fleet_place *place, uint32_t struct_size) {
    const selene_fleet_place defaults = SELENE_FLEET_PLACE_INIT;
    return fleet_initial(place, struct_size, &defaults, sizeof defaults, "place");
}

// ---- Registering ----

static selene_value number_of(int64_t number) {
    return (selene_value){SELENE_VALUE_INTEGER, 0, number, NULL, 0};
}

static selene_value span_of(int64_t span) {
    return (selene_value){VALUE_SPAN, 0, span, NULL, 0};
}

// A word of libselene's for a number.
static selene_value word_of(const char *word) {
    return (selene_value){SELENE_VALUE_TEXT, 0, 0, word, (int64_t)strlen(word)};
}

static selene_value array_of(const selene_value *values, uint64_t count) {
    return (selene_value){SELENE_VALUE_ARRAY, 0, 0, values, (int64_t)count};
}

static selene_status take_names(selene_value *out, const selene_text *names, uint64_t count,
                                const char *name) {
    selene_status status = fleet_check_range((int64_t)count, 0, NAMES_MOST, name);
    if (status == SELENE_OK && count > 0) status = fleet_check_pointer(names, name);
    for (uint64_t i = 0; i < count && status == SELENE_OK; i++) {
        selene_text text = names[i];
        status = fleet_check_text(&text, 1, 255, name);
        out[i] = fleet_text(text);
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
    return fleet_refuse(SELENE_ERROR_UNSUPPORTED, "%s: tasks of a fleet have none", field);
}

// What the fleet would name otherwise; the rest it checks itself.
static selene_status check_numbers(const selene_task *task) {
    selene_status status = fleet_check_range(task->kind, 1, 2, "kind");
    if (status == SELENE_OK) status = fleet_check_range(task->schedule, 0, 2, "schedule");
    if (status == SELENE_OK) status = fleet_check_range(task->priority, 1, 5, "priority");
    if (status == SELENE_OK) status = fleet_check_range(task->existing, -1, 4, "existing");
    if (status == SELENE_OK) status = fleet_check_range(task->recurrence, 0, 1, "recurrence");
    if (status == SELENE_OK) status = fleet_check_range(task->backoff, -1, 2, "backoff");
    if (status == SELENE_OK)
        status = fleet_check_range(task->response_window, 0, 30, "response_window");
    if (status == SELENE_OK)
        status = fleet_check_range(task->max_attempts, 0, INT32_MAX, "max_attempts");
    if (status == SELENE_OK) status = fleet_check_range(task->constraints, 0, 255, "constraints");
    if (status == SELENE_OK)
        status = fleet_check_range(task->expected_response, -1, SELENE_DAY, "expected_response");
    if (status == SELENE_OK)
        status = fleet_check_range(task->initial_delay, 0, TEN_YEARS, "initial_delay");
    if (status == SELENE_OK && task->schedule == SELENE_SCHEDULE_PERIODIC) {
        status = fleet_check_range(task->period, 1, TEN_YEARS, "period");
        if (status == SELENE_OK) status = fleet_check_range(task->flex, 0, task->period, "flex");
    }
    if (status == SELENE_OK)
        status = fleet_check_range(task->backoff_delay, 0, INT64_MAX, "backoff_delay");
    if (status == SELENE_OK)
        status = fleet_check_range(task->input_length, 0, INT64_MAX, "input_length");
    if (status == SELENE_OK && task->input_length > 0)
        status = fleet_check_pointer(task->input, "input");
    if (status == SELENE_OK && task->input_length > INPUT_MOST)
        status = fleet_refuse(SELENE_ERROR_TOO_LARGE, "input: %" PRId64 " bytes are too many",
                              task->input_length);
    return status;
}

static const char *const register_sql =
    "select %.register($1::text, handler => $2::text, queue => $3::text, kind => $4::text, "
    "schedule => $5::text, priority => $6::int, expected => $7::interval, delay => $8::interval, "
    "every => $9::interval, flex => $10::interval, anchored => $11::boolean, backoff => $12::text, "
    "backoff_delay => $13::interval, max_attempts => $14::int, response_window => $15::int, "
    "tags => $16::text[], labels => $17::text[], requires => $18::text[], existing => $19::text, "
    "input => $20::bytea)";

static int32_t disposition_of(const selene_value *word) {
    for (int32_t one = SELENE_DISPOSITION_ADDED; one <= SELENE_DISPOSITION_HELD; one++)
        if (word->type == SELENE_VALUE_TEXT &&
            strcmp(selene_disposition_name(one), word->data) == 0)
            return one;
    return -1;
}

selene_status selene_fleet_register(selene_fleet number, const selene_task *given,
                                    const selene_fleet_place *where, int32_t *out_disposition) {
    static const char *const policies[] = {"keep", "replace", "update", "append",
                                           "append_or_replace"};
    static const char *const backoffs[] = {"none", "linear", "exponential"};
    const selene_value none = {SELENE_VALUE_NULL, 0, 0, NULL, 0};
    selene_task task = SELENE_TASK_INIT;
    selene_fleet_place place = SELENE_FLEET_PLACE_INIT;
    selene_value tags[NAMES_MOST], labels[NAMES_MOST], requires[NAMES_MOST];
    uint64_t require_count = 0;
    fleet *own;
    rows told;
    selene_status status = fleet_check_pointer(given, "task");
    if (status == SELENE_OK) status = fleet_take(&task, sizeof task, given, "task");
    if (status == SELENE_OK) status = fleet_take(&place, sizeof place, where, "place");
    if (status == SELENE_OK && place.flags != 0)
        status = fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT,
                              "flags: %" PRIu32 " has bits that are not known, allowed are none",
                              place.flags);
    if (status == SELENE_OK) status = fleet_check_text(&task.id, 1, 255, "id");
    if (status == SELENE_OK) status = fleet_check_text(&task.handler, 0, 255, "handler");
    if (status == SELENE_OK) status = fleet_check_text(&place.queue, 0, 255, "queue");
    if (status == SELENE_OK) status = check_supported(&task);
    if (status == SELENE_OK) status = check_numbers(&task);
    if (status == SELENE_OK) status = take_names(tags, task.tags, task.tag_count, "tags");
    if (status == SELENE_OK) status = take_names(labels, place.labels, place.label_count, "labels");
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    for (uint32_t bit = 1; bit <= SELENE_CONSTRAINT_NOT_ROAMING; bit <<= 1)
        if (task.constraints & bit)
    requires[require_count++] = word_of(selene_constraint_name(bit));
    const selene_value values[] = {
        fleet_text(task.id),
        task.handler.length > 0 ? fleet_text(task.handler) : none,
        place.queue.length > 0 ? fleet_text(place.queue) : word_of(own->queue),
        word_of(selene_kind_name(task.kind)),
        word_of(selene_schedule_name(task.schedule)),
        number_of(task.priority),
        task.expected_response >= 0 ? span_of(task.expected_response) : none,
        span_of(task.initial_delay),
        task.schedule == SELENE_SCHEDULE_PERIODIC ? span_of(task.period) : none,
        span_of(task.schedule == SELENE_SCHEDULE_PERIODIC ? task.flex : 0),
        {SELENE_VALUE_BOOLEAN, 0, task.recurrence == SELENE_RECURRENCE_ANCHORED, NULL, 0},
        task.backoff >= 0 ? word_of(backoffs[task.backoff]) : none,
        span_of(task.backoff_delay),
        number_of(task.max_attempts),
        number_of(task.response_window),
        array_of(tags, task.tag_count),
        array_of(labels, place.label_count),
        array_of(requires, require_count),
        task.existing >= 0 ? word_of(policies[task.existing]) : none,
        {SELENE_VALUE_BYTES, 0, 0, task.input, task.input_length},
    };
    status = fleet_ask(own, register_sql, values, sizeof values / sizeof *values, 0, &told);
    handle_release(&own->handle);
    if (status != SELENE_OK) return status;
    if (out_disposition != NULL) *out_disposition = disposition_of(&told.cells[0]);
    rows_free(&told);
    return SELENE_OK;
}

// ---- Of one task ----

// Asks with an id, or a tag, as the only parameter.
static selene_status ask_of(selene_fleet number, const char *sql, const char *name, int64_t length,
                            const char *field, int is_reading, rows *out) {
    fleet *own;
    selene_text text = {name, length};
    selene_status status = fleet_check_text(&text, 1, 255, field);
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    selene_value value = fleet_text(text);
    status = fleet_ask(own, sql, &value, 1, is_reading, out);
    handle_release(&own->handle);
    return status;
}

static selene_status cancel(selene_fleet number, const char *sql, const char *name, int64_t length,
                            const char *field, uint64_t *out_count) {
    rows told;
    selene_status status = ask_of(number, sql, name, length, field, 0, &told);
    if (status != SELENE_OK) return status;
    if (out_count != NULL) *out_count = (uint64_t)told.cells[0].integer;
    rows_free(&told);
    return SELENE_OK;
}

selene_status selene_fleet_cancel(selene_fleet number, const char *id, int64_t id_length,
                                  uint64_t *out_count) {
    return cancel(number, "select %.cancel($1::text)", id, id_length, "id", out_count);
}

selene_status selene_fleet_cancel_tag(selene_fleet number, const char *tag, int64_t tag_length,
                                      uint64_t *out_count) {
    return cancel(number, "select %.cancel_tag($1::text)", tag, tag_length, "tag", out_count);
}

// The number of a word, of those from `first` on up to one that libselene does not know; -1: none of them.
static int32_t number_in(const char *(*name)(int32_t), int32_t first, const selene_value *word) {
    for (int32_t one = first; strcmp(name(one), "unknown") != 0; one++)
        if (word->type == SELENE_VALUE_TEXT && strcmp(name(one), word->data) == 0) return one;
    return -1;
}

static uint32_t bits_in(const selene_value *words) {
    const selene_value *one = words->data;
    uint32_t bits = 0;
    for (int64_t i = 0; words->type == SELENE_VALUE_ARRAY && i < words->length; i++)
        for (uint32_t bit = 1; bit <= SELENE_CONSTRAINT_NOT_ROAMING; bit <<= 1) {
            const char *name = selene_constraint_name(bit);
            if (one[i].length == (int64_t)strlen(name) &&
                memcmp(one[i].data, name, strlen(name)) == 0)
                bits |= bit;
        }
    return bits;
}

selene_status selene_fleet_get(selene_fleet number, const char *id, int64_t id_length,
                               selene_fleet_record **out_record) {
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_record, "out_record");
    if (status == SELENE_OK)
        status = ask_of(number,
                        "select seq, id, queue, handler, node, failure, labels, tags, requires, "
                        "kind, schedule, state, stop, priority, attempts, generation, runs, "
                        "registered, earliest_begin, last_run, ended, estimate, run, appended "
                        "from %.get($1::text)",
                        id, id_length, "id", 1, &told);
    if (status != SELENE_OK) return status;
    if (told.count == 0) {
        rows_free(&told);
        return fleet_refuse(SELENE_ERROR_NOT_FOUND, "id: is not registered");
    }
    const selene_value *cell = told.cells;
    block_new(&room, &told, sizeof **out_record, 0, 0);
    selene_fleet_record *out = room.start;
    out->struct_size = sizeof *out;
    out->sequence = cell[0].integer;
    out->id = block_text(&room, &cell[1]);
    out->queue = block_text(&room, &cell[2]);
    out->handler = block_text(&room, &cell[3]);
    out->node = block_text(&room, &cell[4]);
    out->failure = block_text(&room, &cell[5]);
    out->labels = block_texts(&room, &cell[6], &out->label_count);
    out->tags = block_texts(&room, &cell[7], &out->tag_count);
    out->constraints = bits_in(&cell[8]);
    out->kind = number_in(selene_kind_name, SELENE_KIND_REFRESH, &cell[9]);
    out->schedule = number_in(selene_schedule_name, 0, &cell[10]);
    out->state = number_in(selene_state_name, 0, &cell[11]);
    out->stop_reason =
        cell[12].type == SELENE_VALUE_NULL ? 0 : number_in(selene_stop_name, 0, &cell[12]);
    out->priority = (int32_t)cell[13].integer;
    out->attempts = (uint32_t)cell[14].integer;
    out->generation = (uint32_t)cell[15].integer;
    out->response_time_count = (uint32_t)cell[16].integer;
    out->registered_at = cell[17].integer;
    out->earliest_begin = cell[18].integer;
    out->last_run = cell[19].integer;
    out->ended_at = cell[20].integer;
    out->estimate = cell[21].integer;
    out->run = cell[22].integer;
    out->appended = (uint64_t)cell[23].integer;
    *out_record = out;
    rows_free(&told);
    return SELENE_OK;
}

void selene_fleet_record_destroy(selene_fleet_record *record) {
    free(record);
}

selene_status selene_fleet_explain(selene_fleet number, const char *id, int64_t id_length,
                                   selene_fleet_explanation **out_explanation) {
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_explanation, "out_explanation");
    if (status == SELENE_OK)
        status = ask_of(number, "select reason, detail, until from %.explain($1::text)", id,
                        id_length, "id", 1, &told);
    if (status != SELENE_OK) return status;
    block_new(&room, &told, sizeof **out_explanation, sizeof(selene_fleet_reason), told.count);
    selene_fleet_explanation *out = room.start;
    selene_fleet_reason *reasons = (selene_fleet_reason *)(out + 1);
    *out = (selene_fleet_explanation){sizeof *out, 0, told.count, reasons};
    for (uint64_t i = 0; i < told.count; i++) {
        const selene_value *cell = &told.cells[i * told.columns];
        reasons[i].reason = block_text(&room, &cell[0]);
        reasons[i].detail = block_text(&room, &cell[1]);
        reasons[i].until = cell[2].type == SELENE_VALUE_NULL ? SELENE_NEVER : cell[2].integer;
    }
    *out_explanation = out;
    rows_free(&told);
    return SELENE_OK;
}

void selene_fleet_explanation_destroy(selene_fleet_explanation *explanation) {
    free(explanation);
}

selene_status selene_fleet_result(selene_fleet number, const char *id, int64_t id_length,
                                  selene_fleet_bytes **out_result) {
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_result, "out_result");
    if (status == SELENE_OK)
        status = ask_of(number, "select %.result($1::text)", id, id_length, "id", 1, &told);
    if (status != SELENE_OK) return status;
    selene_fleet_bytes *out = NULL;
    if (told.cells[0].type == SELENE_VALUE_BYTES) {
        block_new(&room, &told, sizeof *out, 0, 0);
        out = room.start;
        out->struct_size = sizeof *out;
        out->bytes = block_text(&room, &told.cells[0]);
    }
    *out_result = out;
    rows_free(&told);
    return SELENE_OK;
}
