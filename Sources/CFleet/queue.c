// Section QUEUE of the header.

#include "fleet.h"

#include <stdlib.h>
#include <string.h>

#define TEN_YEARS (INT64_C(3653) * SELENE_DAY)

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

void selene_fleet_items_destroy(selene_fleet_items *items) {
    free(items);
}
