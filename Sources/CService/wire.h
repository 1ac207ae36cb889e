// What both sides of a connection share: handles, frames, and how arguments lie in them. docs/protocol.md describes the
// bytes; a frame is decoded where it lies, since a struct of the header lies in it as it does in memory.
#ifndef SERVICE_WIRE_H
#define SERVICE_WIRE_H

#define _GNU_SOURCE
#include "CPlatform.h"
#include "CService.h"
#include "system.h"

#include <selene.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    // The number of the first frame of each side.
    WIRE_HELLO = 0,
    WIRE_PROTOCOL = 2,
    // A frame before hello was accepted is no longer.
    WIRE_HELLO_MOST = 4096,
    WIRE_WORDS = 8,
    // An owner grants no more lanes at a time.
    WIRE_LANES_MOST = 1024
};
// "SELENE" and the version of this layout: pointers of 8 bytes, the least significant byte first.
#define WIRE_MAGIC UINT64_C(0x0100454E454C4553)
// An owner takes requests of this length at least, and at most.
#define WIRE_FRAME_LEAST UINT64_C(0x10000)
#define WIRE_FRAME_MOST UINT64_C(0x40000000)
// The longest answer that a client takes.
#define WIRE_ANSWER_MOST UINT64_C(0x40000000)

typedef struct wire_head {
    uint32_t length;
    uint16_t operation;
    uint16_t status;
    uint64_t request;
} wire_head;

typedef struct wire_hello {
    uint64_t magic;
    uint32_t lowest, highest, library, reserved;
} wire_hello;

typedef struct wire_welcome {
    uint64_t magic;
    uint32_t protocol, library, process, rights;
    uint64_t max_frame;
} wire_welcome;

// ---- Operations ----

typedef union wire_word {
    uint64_t bits;
    int64_t number;
    void *pointer;
} wire_word;

// Who asks: its number as a member of a pool, or 0.
typedef struct wire_member {
    const service_crews *crews;
    uint64_t number;
} wire_member;

typedef struct wire_operation {
    uint16_t number;
    uint8_t right;
    uint8_t may_repeat;
    const char *form;
    const char *name;
    selene_status (*call)(selene_scheduler s, const wire_member *m, const wire_word *a);
} wire_operation;

const wire_operation *wire_find(uint32_t number);

// ---- Writing ----

typedef struct wire {
    unsigned char *data;
    size_t length, room;
    // What it may grow to; beyond it has failed.
    size_t most;
    int has_failed;
    // There was no memory for it.
    int is_short;
} wire;

void wire_begin(wire *to, uint16_t operation, uint64_t request);
void wire_finish(wire *to, size_t begun, uint16_t status);
void wire_put(wire *to, const void *bytes, size_t length);
void wire_number(wire *to, uint64_t number);
// One struct of a letter of operations.h, as it lies among arguments and results.
void wire_struct(wire *to, char letter, const void *bytes);
// What a client asks: the arguments behind its head.
void wire_ask(wire *to, const wire_operation *operation, const wire_word *words);
// What the owner answers: the results behind its head, or what a refused call left.
void wire_answer(wire *to, const wire_operation *operation, const wire_word *words);
void wire_refusal(wire *to, const selene_error *error);

// ---- Reading ----

typedef struct wire_reader {
    unsigned char *at, *end;
    // It comes from an owner, whose answers a host reads as they are: they must make sense, too. What a client asks is judged
    // by the call.
    int is_answer;
} wire_reader;

// Memory that arguments need besides the frame.
typedef struct wire_scratch {
    uint64_t outs[WIRE_WORDS];
    void *arrays[4];
} wire_scratch;

// The arguments of a request, where they lie in its frame; 0 when it is malformed.
int wire_arguments(wire_reader *from, const wire_operation *operation, wire_word *words,
                   wire_scratch *scratch);
void wire_release(const wire_operation *operation, wire_scratch *scratch);
// The results of an answer into the caller's arguments; 0 when it is malformed, and then nothing was written.
int wire_results(wire_reader from, const wire_operation *operation, const wire_word *words);
// A struct as one block, for free; NULL when it is malformed.
void *wire_made(wire_reader *from, char letter);
int wire_read_refusal(wire_reader from, service_failure *failure);

// ---- Failures ----

// A failure of this status that says nothing yet. Texts are cleared by their first byte: every answer passes here.
void wire_clear(service_failure *failure, int32_t status);
// Fills a failure: a status, a field, what was found (or NULL) and what is wrong with it.
int32_t wire_fail(service_failure *failure, int32_t status, const char *field, const char *found,
                  const char *problem, ...) __attribute__((format(printf, 5, 6)));
// Fills a failure with what this thread's last refused call left; answers its status.
int32_t wire_told(service_failure *failure);
// Makes the failure what the public functions would have left, for wire_refusal.
void wire_error(const service_failure *failure, selene_error *error);

// ---- Events ----

// What clients are told, once for all of them; the oldest goes where there are more than the most patient one waits for.
typedef struct telling telling;

// How far a client has been told.
typedef struct telling_place {
    uint64_t next, place, capacity;
} telling_place;

telling *telling_new(void);
void telling_free(telling *own);
// An event, or NULL, behind so many that were lost.
void telling_add(telling *own, const void *event, uint64_t lost, uint64_t capacity);
telling_place telling_from_here(const telling *own, uint64_t capacity);
// Frames of what is next, as long as it is no longer than most. 0: there was none.
int telling_fill(const telling *own, telling_place *at, uint64_t request, size_t most, wire *to);
// What lies before an event is not needed any more.
void telling_trim(telling *own, uint64_t next);

// ---- Handles and descriptors ----

enum { WIRE_CONNECTION = 4, WIRE_SERVER = 5 };

// What both kinds begin with.
typedef struct wire_entry {
    uint64_t handle;
    uint32_t generation;
    // The table's and one for each call in flight.
    uint32_t users;
    void (*destroy)(struct wire_entry *entry);
    // Of those whose handle is closed and that have not come to their end.
    struct wire_entry *next_leaving;
} wire_entry;

int32_t wire_enter(wire_entry *entry, uint64_t kind, service_failure *failure);
wire_entry *wire_acquire(uint64_t handle, uint64_t kind, service_failure *failure);
void wire_leave(wire_entry *entry);
// Takes the handle from the table; 0 if another call did so. One that is awaited has its end told with wire_gone.
int wire_retire(wire_entry *entry, int is_awaited);
void wire_gone(wire_entry *entry);
// Waits until none is leaving that a function says is meant.
void wire_await_gone(int (*is_meant)(const wire_entry *entry, void *context), void *context);
// Calls visit for each open entry of a kind that this process made, with it acquired.
void wire_each(uint64_t kind, void (*visit)(wire_entry *entry, void *context), void *context);

// Descriptors that a forked child must not keep: what would make the socket look alive.
int wire_socket(void);
int wire_accept(int listener);
int wire_duplicate(int descriptor);
// Ends the socket, too, if it is ours as a whole, and not a duplicate of one that others go on with.
void wire_close(int descriptor, int is_whole);

// The address of a socket, also of one whose name is longer than an address; *folder is to be closed afterwards.
int32_t wire_address(const char *path, struct sockaddr_un *address, int *folder,
                     service_failure *failure);

#endif
