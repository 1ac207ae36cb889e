// Section QUEUE of the header.

#include "fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEN_YEARS (INT64_C(3653) * SELENE_DAY)
// Of what a queue is set to, as the database has it.
#define LONGEST (INT64_C(3650) * SELENE_DAY)
enum { LIST_MOST = 1000, INPUT_MOST = (1 << 30) - 1 };

// Makes a statement whose first parameter is the fleet's queue.
static selene_status ask(selene_fleet number, const char *sql, const selene_value *second) {
    fleet *own;
    rows told;
    selene_status status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    selene_value values[2] = {fleet_text((selene_text){own->queue, (int64_t)strlen(own->queue)})};
    if (second != NULL) values[1] = *second;
    status = fleet_ask(own, sql, values, second != NULL ? 2 : 1, 0, &told);
    handle_release(&own->handle);
    if (status == SELENE_OK) rows_free(&told);
    return status;
}

// A span, or nothing where it is not said.
static selene_status take_span(selene_value *out, int64_t span, const char *name) {
    *out = (selene_value){SELENE_VALUE_NULL, 0, span, NULL, 0};
    if (span == SELENE_NEVER) return SELENE_OK;
    out->type = VALUE_SPAN;
    return fleet_check_time(span, 0, TEN_YEARS, name);
}

selene_status selene_fleet_pause(selene_fleet number, int64_t span) {
    selene_value value;
    selene_status status = take_span(&value, span, "span");
    if (status != SELENE_OK) return status;
    return ask(number, "select %.pause($1::text, $2::interval)", &value);
}

selene_status selene_fleet_resume(selene_fleet number) {
    return ask(number, "select %.resume($1::text)", NULL);
}

selene_status selene_fleet_cancel_queue(selene_fleet number, uint64_t *out_count) {
    fleet *own;
    selene_status status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    status =
        fleet_count_of(number, "select %.cancel_all($1::text)", own->queue, -1, "queue", out_count);
    handle_release(&own->handle);
    return status;
}

// ---- How it is set ----

static selene_status check_span(int64_t span, const char *name) {
    return span == SELENE_NONE ? SELENE_OK : fleet_check_time(span, 0, LONGEST, name);
}

static selene_status check_number(int64_t number, int64_t most, const char *name) {
    return number == SELENE_NONE ? SELENE_OK : fleet_check_range(number, 0, most, name);
}

static selene_status check_limit(int64_t limit, const char *name) {
    return limit == SELENE_UNLIMITED ? SELENE_OK : check_number(limit, INT32_MAX, name);
}

static selene_status take_terms(const selene_fleet_queue_terms *given,
                                selene_fleet_queue_terms *out) {
    *out = (selene_fleet_queue_terms)SELENE_INIT(selene_fleet_queue_terms);
    selene_status status = fleet_check_pointer(given, "terms");
    if (status == SELENE_OK) status = fleet_take(out, sizeof *out, given, "terms");
    if (status == SELENE_OK && out->flags != 0) status = fleet_refuse_bits("flags", out->flags, 0);
    if (status == SELENE_OK) status = check_span(out->pace, "pace");
    if (status == SELENE_OK) status = check_span(out->backoff_min, "backoff_min");
    if (status == SELENE_OK) status = check_span(out->backoff_max, "backoff_max");
    if (status == SELENE_OK) status = check_span(out->retention, "retention");
    if (status == SELENE_OK) status = check_number(out->max_input, INPUT_MOST, "max_input");
    if (status == SELENE_OK) status = check_limit(out->limit_refresh, "limit_refresh");
    if (status == SELENE_OK) status = check_limit(out->limit_processing, "limit_processing");
    if (status == SELENE_OK) status = check_number(out->jitter, 1000, "jitter");
    if (status == SELENE_OK) status = check_number(out->holds, 1, "holds");
    return status;
}

// A number that is to change, of a type; 0 changes nothing, SELENE_NONE makes it 0.
static selene_value changed(int64_t number, int type) {
    if (number == 0) return (selene_value){SELENE_VALUE_NULL, 0, 0, NULL, 0};
    return (selene_value){type, 0, number == SELENE_NONE ? 0 : number, NULL, 0};
}

// A limit below 0 takes it away.
static selene_value changed_limit(int64_t limit) {
    if (limit != SELENE_UNLIMITED) return changed(limit, SELENE_VALUE_INTEGER);
    return (selene_value){SELENE_VALUE_INTEGER, 0, -1, NULL, 0};
}

selene_status selene_fleet_set_queue(selene_fleet number, const selene_fleet_queue_terms *given) {
    selene_fleet_queue_terms terms;
    fleet *own;
    rows told;
    selene_status status = take_terms(given, &terms);
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    const selene_value values[] = {
        fleet_word(own->queue),
        changed(terms.pace, VALUE_SPAN),
        changed(terms.backoff_min, VALUE_SPAN),
        changed(terms.backoff_max, VALUE_SPAN),
        changed(terms.jitter, SELENE_VALUE_INTEGER),
        changed(terms.retention, VALUE_SPAN),
        changed(terms.max_input, SELENE_VALUE_INTEGER),
        changed_limit(terms.limit_refresh),
        changed_limit(terms.limit_processing),
        changed(terms.holds, SELENE_VALUE_BOOLEAN),
    };
    status = fleet_ask(own,
                       "select %.set_queue($1::text, $2::interval, $3::interval, $4::interval, "
                       "$5::int, $6::interval, $7::int, $8::int, $9::int, $10::boolean)",
                       values, sizeof values / sizeof *values, 0, &told);
    handle_release(&own->handle);
    if (status == SELENE_OK) rows_free(&told);
    return status;
}

// A number that may be nothing.
static int64_t number_or(const selene_value *cell, int64_t otherwise) {
    return cell->type == SELENE_VALUE_NULL ? otherwise : cell->integer;
}

static void read_queue(selene_fleet_queue *out, selene_fleet_queue_terms *terms, block *room,
                       const selene_value *cell) {
    int is_paused = cell[1].integer != 0;
    out->struct_size = sizeof *out;
    out->name = block_text(room, &cell[0]);
    out->paused_until = is_paused ? number_or(&cell[2], SELENE_NEVER) : 0;
    out->ready = (uint64_t)cell[3].integer;
    out->oldest = number_or(&cell[4], -1);
    out->pending_refresh = number_or(&cell[5], -1);
    out->pending_processing = number_or(&cell[6], -1);
    out->terms = terms;
    terms->struct_size = sizeof *terms;
    terms->pace = cell[7].integer;
    terms->backoff_min = cell[8].integer;
    terms->backoff_max = cell[9].integer;
    terms->retention = cell[10].integer;
    terms->max_input = cell[11].integer;
    terms->limit_refresh = number_or(&cell[12], SELENE_UNLIMITED);
    terms->limit_processing = number_or(&cell[13], SELENE_UNLIMITED);
    terms->jitter = (int32_t)cell[14].integer;
    terms->holds = cell[15].integer != 0;
}

selene_status selene_fleet_queue_list(selene_fleet number, const char *after, int64_t after_length,
                                      selene_fleet_queues **out_queues) {
    fleet *own;
    rows told;
    block room;
    selene_text name = {after, after_length};
    selene_status status = fleet_check_pointer(out_queues, "out_queues");
    if (status == SELENE_OK) status = fleet_check_text(&name, 0, 255, "after");
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    const selene_value values[] = {fleet_text(name), {SELENE_VALUE_INTEGER, 0, LIST_MOST, NULL, 0}};
    status = fleet_ask(
        own,
        "select queue, paused, paused_until, ready, oldest, pending_refresh, pending_processing, "
        "pace, backoff_min, backoff_max, retention, max_input, limit_refresh, limit_processing, "
        "jitter, holds from %.queues(after => $1::text, most => $2::int)",
        values, 2, 1, &told);
    handle_release(&own->handle);
    if (status != SELENE_OK) return status;
    block_new(&room, &told, sizeof **out_queues,
              sizeof(selene_fleet_queue) + sizeof(selene_fleet_queue_terms) +
                  sizeof(selene_fleet_queue *),
              told.count);
    selene_fleet_queues *out = room.start;
    selene_fleet_queue *queues = (selene_fleet_queue *)(out + 1);
    selene_fleet_queue_terms *terms = (selene_fleet_queue_terms *)(queues + told.count);
    const selene_fleet_queue **pointers = (const selene_fleet_queue **)(terms + told.count);
    *out = (selene_fleet_queues){sizeof *out, 0, told.count, pointers};
    for (uint64_t i = 0; i < told.count; i++) {
        read_queue(&queues[i], &terms[i], &room, &told.cells[i * told.columns]);
        pointers[i] = &queues[i];
    }
    *out_queues = out;
    rows_free(&told);
    return SELENE_OK;
}

// ---- All of it ----

selene_status selene_fleet_wake(selene_fleet number) {
    return ask(number, "select %.wake($1::text)", NULL);
}

selene_status selene_fleet_prune(selene_fleet number, int64_t age, uint64_t *out_count) {
    fleet *own;
    rows told;
    selene_value value;
    selene_status status = take_span(&value, age, "age");
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    status = fleet_ask(own, "select %.partitions()", NULL, 0, 0, &told);
    if (status == SELENE_OK) {
        rows_free(&told);
        status = fleet_ask(own, "select %.prune($1::interval)", &value, 1, 0, &told);
    }
    handle_release(&own->handle);
    if (status != SELENE_OK) return status;
    if (out_count != NULL) *out_count = (uint64_t)told.cells[0].integer;
    rows_free(&told);
    return SELENE_OK;
}

selene_status selene_fleet_status(selene_fleet number, selene_fleet_items **out_items) {
    fleet *own;
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_items, "out_items");
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    status = fleet_ask(own, "select item, value, alarm from %.status()", NULL, 0, 1, &told);
    handle_release(&own->handle);
    if (status != SELENE_OK) return status;
    block_new(&room, &told, sizeof **out_items, sizeof(selene_fleet_item), told.count);
    selene_fleet_items *out = room.start;
    selene_fleet_item *items = (selene_fleet_item *)(out + 1);
    *out = (selene_fleet_items){sizeof *out, 0, told.count, 0, items};
    for (uint64_t i = 0; i < told.count; i++) {
        const selene_value *cell = &told.cells[i * told.columns];
        items[i].item = block_text(&room, &cell[0]);
        items[i].value = block_text(&room, &cell[1]);
        items[i].is_alarm = cell[2].integer != 0;
        out->alarm_count += items[i].is_alarm;
    }
    *out_items = out;
    rows_free(&told);
    return SELENE_OK;
}
