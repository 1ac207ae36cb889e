// Section NODE of the header: who works for a fleet, and whom it asks to leave.

#include "fleet.h"

#include <stdlib.h>

static void read_node(selene_fleet_node *out, block *room, const selene_value *cell) {
    out->struct_size = sizeof *out;
    out->flags = (cell[8].integer != 0 ? SELENE_FLEET_NODE_IS_ALIVE : 0) |
                 (cell[9].integer != 0 ? SELENE_FLEET_NODE_IS_DRAINING : 0);
    out->number = cell[0].integer;
    out->name = block_text(room, &cell[1]);
    out->version = block_text(room, &cell[2]);
    out->started_at = cell[3].integer;
    out->beaten_at = cell[4].integer;
    out->expires_at = cell[5].integer;
    out->lease = cell[6].integer;
    out->runs = (uint64_t)cell[7].integer;
    out->jumps = (uint32_t)cell[10].integer;
    out->handlers = block_texts(room, &cell[11], &out->handler_count);
}

selene_status selene_fleet_node_list(selene_fleet number, selene_fleet_nodes **out_nodes) {
    fleet *own;
    rows told;
    block room;
    selene_status status = fleet_check_pointer(out_nodes, "out_nodes");
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    status = fleet_ask(own,
                       "select worker, name, version, started, beaten, expires, lease, runs, "
                       "alive, draining, jumps, handlers from %.workers(1000)",
                       NULL, 0, 1, &told);
    handle_release(&own->handle);
    if (status != SELENE_OK) return status;
    block_new(&room, &told, sizeof **out_nodes,
              sizeof(selene_fleet_node) + sizeof(selene_fleet_node *), told.count);
    selene_fleet_nodes *out = room.start;
    selene_fleet_node *nodes = (selene_fleet_node *)(out + 1);
    const selene_fleet_node **pointers = (const selene_fleet_node **)(nodes + told.count);
    *out = (selene_fleet_nodes){sizeof *out, 0, told.count, pointers};
    for (uint64_t i = 0; i < told.count; i++) {
        read_node(&nodes[i], &room, &told.cells[i * told.columns]);
        pointers[i] = &nodes[i];
    }
    *out_nodes = out;
    rows_free(&told);
    return SELENE_OK;
}

selene_status selene_fleet_drain(selene_fleet number, const char *node, int64_t node_length,
                                 uint64_t *out_count) {
    return fleet_count_of(number, "select %.drain($1::text)", node, node_length, "node", out_count);
}
