// What the runs of a connection and its lanes share.
#ifndef SERVICE_MEMBER_H
#define SERVICE_MEMBER_H

#include "connect.h"

enum {
    // What a handle or token of a connection has besides its type: the connection's place, some of its session, a number.
    NUMBER_BITS = 37,
    SESSION_BITS = 7,
    CYCLE = 6,
    RUN = 7,
    LANE = 8
};
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)
#define SESSION_MASK ((UINT64_C(1) << SESSION_BITS) - 1)

// A handler that this process offers: in use by its registration, and by each call.
typedef struct offered {
    char *name;
    uint64_t length;
    service_handler handler;
    // The owner of this session knows of it.
    int is_told;
    atomic_uint uses;
} offered;

// Where a run stands: its token here; its number at the owner that gave it, and at the one of a session, which goes on with it.
typedef struct standing {
    uint64_t token, origin, number, session;
    // The present owner does not know it (1), or has given it up (2).
    int is_over;
} standing;

// A run, its cycle, and what was told of it.
typedef struct taken {
    standing at;
    uint64_t token, cycle;
    void *told;
    // A lane has it; it has its outcome; it is over without one; it was asked to stop.
    int is_of_lane, is_over, is_stopped, was_asked;
    // What the host has for it.
    void *user;
    // What it leaves if it succeeds, which the next owner has to be told again.
    unsigned char *output;
    size_t output_length;
} taken;

// A number of the owner's as this connection's.
uint64_t token_of(const connection *own, uint64_t kind, uint64_t number);
uint64_t at_owner(const connection *own, uint64_t token);
// The connection of a cycle or a run that an operation is of, locked; the number that it has at the owner comes out. NULL: the
// failure says why.
connection *member_enter(uint64_t token, uint32_t operation, wire_word *out_number,
                         service_failure *failure);
connection *cycle_enter(uint64_t cycle, wire_word *out_number, service_failure *failure);
void member_exit(connection *own);
// A request, without coming back by itself. The lock is held.
int32_t member_tell(connection *own, uint32_t number, const wire_word *words,
                    service_failure *failure);
// The owner is to tell of its runs and windows from now on; one that is away does from the next joining on. The lock is held,
// as for all that follows.
int32_t member_hear(connection *own, service_failure *failure);
// Who could not become a member does not try again with each call.
void member_give_up(connection *own);
// Asks of a cycle or a run, also of the next owner if that goes on with the run; the first word is its number. The lock is
// held.
int32_t member_ask(connection *own, uint32_t operation, uint64_t token, wire_word *words,
                   service_failure *failure);

// ---- Runs whose owner ends (adopt.c); the lock is held for all ----

standing standing_of(const connection *own, uint64_t token, uint64_t number);
// An owner may know it.
int standing_is_kept(connection *own, uint64_t token);
// Its number at the present owner; 0: that has not got it.
int standing_number(connection *own, uint64_t token, wire_word *out_number);
// Whether it has this number at the present owner.
int standing_is(const connection *own, const standing *at, uint64_t number);
// An outcome that is not durable yet, whether the owner has accepted it or does not know it.
void given_keep(connection *own, uint64_t token, uint32_t operation, const wire_word *words,
                int is_accepted);
// Whether the present owner was told of it by itself, and what it answered.
int given_again(connection *own, uint64_t token, int32_t *out_answer);
// An answer has come that comes behind a commit.
void given_are_durable(connection *own);
// Of a run that the present owner does not know: whether an earlier one had accepted its outcome. Asked once.
int given_was_accepted(connection *own, uint64_t token);
void output_keep(taken *run, const void *output, int64_t length);
// Says what it has of earlier owners.
int32_t member_rejoin(connection *own, service_failure *failure);
void given_free(connection *own);

// The numbers of a result become this connection's.
void member_translate(connection *own, uint32_t operation, uint64_t token, const wire_word *words);
void taken_keep(connection *own, selene_run_info *told, uint64_t cycle);
void taken_forget(connection *own, size_t place);
// A selene_window as this library has it, all defaults if there is none.
selene_window window_given(const void *window);
void taking_begin(connection *own, uint64_t cycle, uint32_t lanes, int has_lanes, int is_called);
// That a cycle gives its runs by next (0), or through lanes (1), and not the other way.
int32_t taking_gives(connection *own, uint64_t cycle, int through_lanes, service_failure *failure);
// By the place of a connection in the handles.
size_t slot_of(uint64_t token);
// A cycle has given a run by next.
void taking_pulled(connection *own, uint64_t cycle);
void taking_end(connection *own, uint64_t cycle);
// Whether its handlers are called here.
int taking_is_called(connection *own, uint64_t cycle);

// ---- Handlers that are called here ----

// The handler of a run in use, or NULL; the lock is held.
offered *offered_use(connection *own, selene_text name);
// Not under a lock: the last use ends it.
void offered_leave(offered *from);
// Its stop function is to be called, if it has one; the lock is held.
void calls_stop(connection *own, taken *run, int32_t reason);
// A thread for stop functions; 0 if the system refuses it. The lock is held.
int calls_tell(connection *own);
// A cycle has ended, whose report has come: its window, if its handlers are called here, for who hands it on; the lock is
// held.
struct window *calls_take(connection *own, uint64_t cycle);
// Not under a lock: who waits for the report gets it, or, where the owner has gone, one without runs.
void calls_report(connection *own, struct window *at, const void *report);
// Something has happened to runs that are called here.
void calls_news(connection *own);

// The window of a cycle that the owner has granted, worked off by threads of the library; 0 where the system refuses them. The
// lock is held.
int calls_begin(connection *own, uint64_t cycle, uint32_t lanes);
// Windows that were granted are over; the lock is held.
void calls_drop_granted(connection *own);
// Starts nothing more in windows that were granted, and lets their handlers return, at most until an instant of the boot clock,
// which is the end of the grace.
void calls_drain_granted(connection *own, int64_t until, int64_t grace);
// A thread of the library that does something for the connection until that is closed; 0 if the system refuses it.
int calls_start(connection *own, const char *name, void (*work)(connection *own, uint64_t number),
                uint64_t number);
// As many threads were left behind here as may be.
int calls_are_full(connection *own);

// As the functions of lanes and of waiting, for a thread of the library.
typedef struct window window;
int32_t lane_open(uint64_t cycle, int is_called, uint64_t *out_lane, service_failure *failure);
int32_t lane_take(uint64_t handle, int32_t outcome, int64_t timeout, int32_t *out_step,
                  const void **out_run, int64_t *out_wake_at, offered **out_handler,
                  service_failure *failure);
int32_t cycle_await(uint64_t cycle, int64_t timeout, void **out_report, int64_t *out_wake_at,
                    window *called, service_failure *failure);
// How many threads were left behind in handlers here: of a cycle, or (0) of all.
uint32_t lanes_left_behind(connection *own, uint64_t cycle);
// Whether runs of a window that is called here are at work.
int lanes_at_work(connection *own, uint64_t cycle);
// Threads are missing in a window; the lock is held.
void window_keep(connection *own, window *called);

#endif
