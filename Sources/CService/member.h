// What a connection has of the runs that it took.
#ifndef SERVICE_MEMBER_H
#define SERVICE_MEMBER_H

#include "connect.h"

enum {
    // What a number of a cycle or a run has besides its type: the connection's place, some of its session, the owner's number.
    NUMBER_BITS = 37,
    SESSION_BITS = 7,
    CYCLE = 6,
    RUN = 7
};
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)
#define SESSION_MASK ((UINT64_C(1) << SESSION_BITS) - 1)

// A handler that this process offers.
typedef struct offered {
    char *name;
    uint64_t length;
    // It is called here; else its runs are taken.
    int is_called;
    // The owner of this session knows of it.
    int is_told;
} offered;

// Where a run stands: its number here; its number at the owner that gave it, and at the one of a session, which goes on with it.
typedef struct standing {
    uint64_t token, origin, number, session;
    // The present owner does not know it (1), or has given it up (2).
    int is_over;
} standing;

// A run that has no outcome.
typedef struct taken {
    standing at;
    // The host took it, and may never say how it ended.
    int is_pulled;
    // What it leaves if it succeeds, which the next owner has to be told again.
    unsigned char *output;
    size_t output_length;
} taken;

// The lock is held for all that follows.

// A number of the owner's as this connection's, of its present session; and back.
uint64_t token_of(const connection *own, uint64_t kind, uint64_t number);
uint64_t at_owner(const connection *own, uint64_t token);
int is_of_session(const connection *own, uint64_t token);
// A request, without coming back by itself.
int32_t member_tell(connection *own, uint32_t number, const wire_word *words,
                    service_failure *failure);
// The owner is to tell of its runs and windows from now on; one that is away does from the next joining on.
int32_t member_hear(connection *own, service_failure *failure);
// Who could not become a member does not try again with each call.
void member_give_up(connection *own);
// Its worker hears of a run, by the number that it has here.
void member_say(connection *own, uint64_t run, int32_t reason, int is_over);
// The owner has given a run; its number here.
uint64_t taken_keep(connection *own, uint64_t number, int is_pulled);
taken *taken_find(connection *own, uint64_t token);
void taken_forget(connection *own, uint64_t token);

// ---- Runs whose owner ends (adopt.c) ----

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

#endif
