// Section TASK of the header: looking at tasks, and cancelling them.

#include "fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MOST = 1000 };
static const uint32_t STATES = (2u << SELENE_STATE_CANCELLED) - 1;

// ---- Of one task ----

selene_status selene_fleet_cancel(selene_fleet number, const char *id, int64_t id_length,
                                  uint64_t *out_count) {
    return fleet_count_of(number, "select %.cancel($1::text)", id, id_length, "id", out_count);
}

selene_status selene_fleet_cancel_tag(selene_fleet number, const char *tag, int64_t tag_length,
                                      uint64_t *out_count) {
    return fleet_count_of(number, "select %.cancel_tag($1::text)", tag, tag_length, "tag",
                          out_count);
}

selene_status selene_fleet_retry(selene_fleet number, const char *id, int64_t id_length,
                                 int32_t *out_disposition) {
    rows told;
    selene_status status =
        fleet_ask_of(number, "select %.retry($1::text)", id, id_length, "id", 0, &told);
    if (status != SELENE_OK) return status;
    if (out_disposition != NULL) *out_disposition = fleet_disposition(&told.cells[0]);
    rows_free(&told);
    return SELENE_OK;
}

selene_status selene_fleet_run_now(selene_fleet number, const char *id, int64_t id_length,
                                   int32_t *out_waits) {
    static const char *const words[] = {"ready", "held", "still_running"};
    rows told;
    selene_status status =
        fleet_ask_of(number, "select %.run_now($1::text)", id, id_length, "id", 0, &told);
    if (status != SELENE_OK) return status;
    int32_t waits = -1;
    for (int32_t one = SELENE_FLEET_WAITS_FOR_WORKER; one <= SELENE_FLEET_WAITS_FOR_RUN; one++)
        if (told.cells[0].type == SELENE_VALUE_TEXT && strcmp(words[one], told.cells[0].data) == 0)
            waits = one;
    if (out_waits != NULL) *out_waits = waits;
    rows_free(&told);
    return SELENE_OK;
}

// The number of a word, of those from `first` on up to one that libselene does not know; -1: none of them.
static int32_t number_in(int32_t names, int32_t first, const selene_value *word) {
    for (int32_t one = first; strcmp(selene_name(names, one), "unknown") != 0; one++)
        if (word->type == SELENE_VALUE_TEXT && strcmp(selene_name(names, one), word->data) == 0)
            return one;
    return -1;
}

static uint32_t bits_in(const selene_value *words) {
    const selene_value *one = words->data;
    uint32_t bits = 0;
    for (int64_t i = 0; words->type == SELENE_VALUE_ARRAY && i < words->length; i++)
        for (uint32_t bit = 1; bit <= SELENE_CONSTRAINT_NOT_ROAMING; bit <<= 1) {
            const char *name = selene_name(SELENE_NAMES_CONSTRAINT, bit);
            if (one[i].length == (int64_t)strlen(name) &&
                memcmp(one[i].data, name, strlen(name)) == 0)
                bits |= bit;
        }
    return bits;
}

#define COLUMNS                                                                                    \
    "seq, id, queue, handler, node, failure, labels, tags, requires, kind, schedule, state, "      \
    "stop, "                                                                                       \
    "priority, attempts, generation, runs, registered, earliest_begin, last_run, estimate, run"

// From the cells of a row with those columns; what is behind them only one record of an id tells.
static void read_record(selene_fleet_record *out, block *room, const selene_value *cell) {
    out->struct_size = sizeof *out;
    out->sequence = cell[0].integer;
    out->id = block_text(room, &cell[1]);
    out->queue = block_text(room, &cell[2]);
    out->handler = block_text(room, &cell[3]);
    out->node = block_text(room, &cell[4]);
    out->failure = block_text(room, &cell[5]);
    out->labels = block_texts(room, &cell[6], &out->label_count);
    out->tags = block_texts(room, &cell[7], &out->tag_count);
    out->constraints = bits_in(&cell[8]);
    out->kind = number_in(SELENE_NAMES_KIND, SELENE_KIND_REFRESH, &cell[9]);
    out->schedule = number_in(SELENE_NAMES_SCHEDULE, SELENE_SCHEDULE_ONCE, &cell[10]);
    out->state = number_in(SELENE_NAMES_STATE, 0, &cell[11]);
    out->stop_reason =
        cell[12].type == SELENE_VALUE_NULL ? 0 : number_in(SELENE_NAMES_STOP, 0, &cell[12]);
    out->priority = (int32_t)cell[13].integer;
    out->attempts = (uint32_t)cell[14].integer;
    out->generation = (uint32_t)cell[15].integer;
    out->response_time_count = (uint32_t)cell[16].integer;
    out->registered_at = cell[17].integer;
    out->earliest_begin = cell[18].integer;
    out->last_run = cell[19].integer;
    out->estimate = cell[20].integer;
    out->run = cell[21].integer;
}

selene_status selene_fleet_get(selene_fleet number, const char *id, int64_t id_length,
                               selene_fleet_record **out_record) {
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_record, "out_record");
    if (status == SELENE_OK)
        status = fleet_ask_of(number, "select " COLUMNS ", ended, appended from %.get($1::text)",
                              id, id_length, "id", 1, &told);
    if (status != SELENE_OK) return status;
    if (told.count == 0) {
        rows_free(&told);
        return fleet_refuse(SELENE_ERROR_NOT_FOUND, "id", "is not registered");
    }
    block_new(&room, &told, sizeof **out_record, 0, 0);
    selene_fleet_record *out = room.start;
    read_record(out, &room, told.cells);
    out->ended_at = told.cells[22].integer;
    out->appended = (uint64_t)told.cells[23].integer;
    *out_record = out;
    rows_free(&told);
    return SELENE_OK;
}

selene_status selene_fleet_explain(selene_fleet number, const char *id, int64_t id_length,
                                   selene_fleet_explanation **out_explanation) {
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_explanation, "out_explanation");
    if (status == SELENE_OK)
        status = fleet_ask_of(number, "select reason, detail, until from %.explain($1::text)", id,
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

selene_status selene_fleet_result(selene_fleet number, const char *id, int64_t id_length,
                                  selene_fleet_bytes **out_result) {
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_result, "out_result");
    if (status == SELENE_OK)
        status = fleet_ask_of(number, "select %.result($1::text)", id, id_length, "id", 1, &told);
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

// ---- A page ----

// The filter, checked, and its values: queue, state, tag, after, most. Of an empty queue the fleet's is meant.
static selene_status take_filter(const selene_fleet_filter *given, selene_fleet_filter *out) {
    *out = (selene_fleet_filter)SELENE_INIT(selene_fleet_filter);
    selene_status status = fleet_take(out, sizeof *out, given, "filter");
    if (status == SELENE_OK && (out->flags & ~(uint32_t)SELENE_FLEET_EVERY_QUEUE) != 0)
        status = fleet_refuse_bits("flags", out->flags, SELENE_FLEET_EVERY_QUEUE);
    if (status == SELENE_OK) status = fleet_check_text(&out->queue, 0, 255, "queue");
    if (status == SELENE_OK && out->queue.length > 0 && out->flags != 0)
        status = fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT, "queue",
                              "must be empty with SELENE_FLEET_EVERY_QUEUE");
    if (status == SELENE_OK) status = fleet_check_text(&out->tag, 0, 255, "tag");
    if (status == SELENE_OK && (out->states & ~STATES) != 0)
        status = fleet_refuse_bits("states", out->states, STATES);
    if (status == SELENE_OK && (out->states & (out->states - 1)) != 0)
        status = fleet_refuse(SELENE_ERROR_UNSUPPORTED, "states",
                              "of a fleet name one state, or none for all");
    if (out->most == 0) out->most = 100;
    if (status == SELENE_OK) status = fleet_check_range(out->most, 1, PAGE_MOST, "most");
    if (status == SELENE_OK) status = fleet_check_range(out->after, 0, INT64_MAX, "after");
    return status;
}

selene_status selene_fleet_list(selene_fleet number, const selene_fleet_filter *given,
                                selene_fleet_page **out_page) {
    const selene_value none = {SELENE_VALUE_NULL, 0, 0, NULL, 0};
    selene_fleet_filter filter;
    fleet *own;
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_page, "out_page");
    if (status == SELENE_OK) status = take_filter(given, &filter);
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    const selene_value values[] = {
        filter.flags & SELENE_FLEET_EVERY_QUEUE ? none
        : filter.queue.length > 0               ? fleet_text(filter.queue)
                                                : fleet_word(own->queue),
        filter.states == 0
            ? none
            : fleet_word(selene_name(SELENE_NAMES_STATE, __builtin_ctz(filter.states))),
        filter.tag.length > 0 ? fleet_text(filter.tag) : none,
        {SELENE_VALUE_INTEGER, 0, filter.after, NULL, 0},
        {SELENE_VALUE_INTEGER, 0, filter.most, NULL, 0},
    };
    status = fleet_ask(
        own, "select " COLUMNS " from %.list($1::text, $2::text, $3::text, $4::bigint, $5::int)",
        values, sizeof values / sizeof *values, 1, &told);
    handle_release(&own->handle);
    if (status != SELENE_OK) return status;
    block_new(&room, &told, sizeof **out_page,
              sizeof(selene_fleet_record) + sizeof(selene_fleet_record *), told.count);
    selene_fleet_page *out = room.start;
    selene_fleet_record *records = (selene_fleet_record *)(out + 1);
    const selene_fleet_record **pointers = (const selene_fleet_record **)(records + told.count);
    *out = (selene_fleet_page){sizeof *out, 0, told.count, pointers, 0};
    for (uint64_t i = 0; i < told.count; i++) {
        read_record(&records[i], &room, &told.cells[i * told.columns]);
        pointers[i] = &records[i];
    }
    // A page that is not full is the last one.
    if (told.count == filter.most) out->next = records[told.count - 1].sequence;
    *out_page = out;
    rows_free(&told);
    return SELENE_OK;
}
