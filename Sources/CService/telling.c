// What the clients of a server are told of: events, kept once for all of them.

#include "wire.h"

// A selene_event as it lies in a frame.
typedef struct told {
    // Its number, those that were lost counted.
    uint64_t place;
    unsigned char *bytes;
    size_t length;
} told;

// A ring; its numbers only grow, and each has its place by its last bits.
struct telling {
    told *ring;
    uint64_t room, first, next;
    uint64_t last_place;
};

telling *telling_new(void) {
    telling *own = calloc(1, sizeof *own);
    if (own == NULL) abort();
    return own;
}

void telling_trim(telling *own, uint64_t next) {
    for (; own->first < next; own->first++)
        free(own->ring[own->first & (own->room - 1)].bytes);
    if (own->first < own->next || own->room <= 1024) return;
    free(own->ring);
    own->ring = NULL;
    own->room = 0;
}

void telling_free(telling *own) {
    if (own == NULL) return;
    telling_trim(own, own->next);
    free(own->ring);
    free(own);
}

static void make_room(telling *own) {
    uint64_t room = own->room == 0 ? 64 : own->room * 2;
    told *ring = calloc(room, sizeof *ring);
    if (ring == NULL) abort();
    for (uint64_t i = own->first; i < own->next; i++)
        ring[i & (room - 1)] = own->ring[i & (own->room - 1)];
    free(own->ring);
    own->ring = ring;
    own->room = room;
}

void telling_add(telling *own, const void *event, uint64_t lost, uint64_t capacity) {
    wire encoded = {.most = WIRE_ANSWER_MOST};
    own->last_place += lost;
    if (event == NULL) return;
    wire_struct(&encoded, 'V', event);
    if (own->next - own->first >= capacity) telling_trim(own, own->next - capacity + 1);
    if (own->next - own->first == own->room) make_room(own);
    own->ring[own->next++ & (own->room - 1)] =
        (told){++own->last_place, encoded.data, encoded.length};
}

telling_place telling_from_here(const telling *own, uint64_t capacity) {
    return (telling_place){own->next, own->last_place, capacity};
}

int telling_fill(const telling *own, telling_place *at, uint64_t request, size_t most, wire *to) {
    size_t begun = to->length;
    if (own->next - at->next > at->capacity) at->next = own->next - at->capacity;
    if (at->next < own->first) at->next = own->first;
    while (at->next < own->next && to->length - begun < most) {
        const told *event = &own->ring[at->next++ & (own->room - 1)];
        size_t frame = to->length;
        wire_begin(to, SERVICE_EVENTS_OPEN, request);
        wire_number(to, event->place - at->place - 1);
        wire_put(to, event->bytes, event->length);
        wire_finish(to, frame, SELENE_OK);
        at->place = event->place;
    }
    return to->length > begun;
}
