// What the calls of a connection and its events share.
#ifndef SERVICE_CONNECT_H
#define SERVICE_CONNECT_H

#include "wire.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct connection {
    wire_entry entry;
    // The socket, and whether a store was named, beside which it is.
    char *path;
    int is_of_store;
    // How long a call waits for an owner that is away, and for an answer.
    int64_t wait, timeout;
    // Whose processes are believed besides this one's user and root: a user's number, or a SELENE_SERVER_USER_ number.
    int64_t server_user;
    // A thread closes it; it is closed, and calls in flight end.
    atomic_int is_ending, is_closed;
    // When the close is over that has begun, on the boot clock.
    atomic_int_fast64_t ends_at;
    // Guards what follows: one request at a time.
    pthread_mutex_t turn;
    int descriptor;
    uint64_t last_request;
    wire_welcome owner;
    // Which of the connections to owners this is; what it took from an earlier one is over.
    uint64_t session;
    // What takes runs: its pool, what it offers there, and what it took (member.c).
    char *pool;
    struct offered *offered;
    size_t offered_count;
    int is_member, is_joined;
    struct taken *taken;
    size_t taken_count;
    // Outcomes that may not be durable yet (adopt.c).
    struct given *given;
    size_t given_count;
    // A request was sent whose answer never came.
    int is_in_doubt;
    // Of which request news of runs and windows are further answers; 0: it has not asked for them.
    int wants_news;
    uint64_t news_request;
    // What the numbers of this session's cycles and runs begin with at the owner.
    uint64_t cycles, runs;
    // It asks for windows that the owner grants: as who calls their handlers (1), or takes their runs (2).
    int drives;
    selene_driver driver;
    // The scheduler of this process that works off what the owner gives, who is told of news there, and what wakes the one
    // that reads (link.c).
    atomic_uint_fast64_t worker;
    service_told told;
    void (*end)(void *context);
    void *context;
    atomic_int bell;
    // What that one waits for: the bell, and the socket while nobody has the turn; −1: there is none.
    int set, is_in_set, is_muted;
    atomic_int is_read;
    // How often it was told something.
    uint64_t said;
    // What came in answer.
    unsigned char *in;
    size_t room;
    // Guards the queue of events, if there is one.
    pthread_mutex_t listening;
    struct listener *listener;
} connection;

// The path is the connection's from now on.
connection *connection_new(char *path, int64_t wait, int64_t timeout, int64_t server_user);
void connection_free(connection *own);
// Reaches an owner; one that is away is waited for as long, without the lock, which is held before and after.
int32_t connection_reach(connection *own, int64_t wait, service_failure *failure);
// The owner is reached and knows what this is. The same of the lock.
int32_t connection_settle(connection *own, int64_t wait, service_failure *failure);
// Takes and gives back the lock, which is the right to the next request. Who has it hears what comes: the one that reads is not
// woken by answers.
void connection_take_turn(connection *own);
void connection_give_turn(connection *own);
// Ends the connection to the owner; the lock is held.
void connection_drop(connection *own);
// One frame there and one back, into own->in; 0 and errno if not. What was asked may have been done unless *is_untouched.
int connection_exchange(connection *own, wire *request, int *is_untouched);
const char *connection_words(int error);
// STALE_RUN of a run, INVALID_HANDLE of a cycle: it was of an owner that has gone.
int32_t connection_ended(int is_run, service_failure *failure);
// OWNER_AWAY for an error of the socket; after ETIMEDOUT the error has the timeout that passed.
int32_t connection_away(const connection *own, int error, int is_in_doubt,
                        service_failure *failure);

// Makes a call with the lock held, but for the wait for an owner. A session other than 0 must still be this one; the first form
// then waits for no other owner.
int32_t connection_ask(connection *own, uint32_t operation, const wire_word *words,
                       uint64_t session, service_failure *failure);
int32_t connection_ask_within(connection *own, uint32_t operation, const wire_word *words,
                              uint64_t session, int64_t wait, service_failure *failure);
// After a hello: says which pool it is of and what it offers. The lock is held.
int32_t member_join(connection *own, service_failure *failure);
// The connection to the owner has ended. The lock is held.
void member_lost(connection *own);
// Tells the owner that it leaves, if it is a member.
void member_leave(connection *own);
// After a hello: the owner is told of the driver, if one is open. The lock is held.
int32_t driver_join(connection *own, service_failure *failure);
void member_free(connection *own);

// Takes the news that have come, without waiting; 0: the connection has ended. The lock is held.
int connection_hear(connection *own);
// A frame of news, behind its head. The lock is held.
void member_told(connection *own, const unsigned char *body, size_t length);

// Closes the queue of events, if there is one; who waits for an event returns.
void listener_end(connection *own);

#endif
