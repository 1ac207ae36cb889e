// What the calls of a connection and its events share.
#ifndef SERVICE_CONNECT_H
#define SERVICE_CONNECT_H

#include "wire.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct connection {
    wire_entry entry;
    char *path;
    int64_t wait, timeout;
    atomic_int is_closed;
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
    // What the numbers of this session's cycles and runs begin with at the owner.
    uint64_t cycles, runs;
    // What came in answer.
    unsigned char *in;
    size_t room;
    // Guards the queue of events, if there is one.
    pthread_mutex_t listening;
    struct listener *listener;
} connection;

// The path is the connection's from now on.
connection *connection_new(char *path, int64_t wait, int64_t timeout);
void connection_free(connection *own);
// Reaches an owner within the wait that was asked for.
int32_t connection_reach(connection *own, service_failure *failure);
// One frame there and one back, into own->in; 0 and errno if not. What was asked may have been done unless *is_untouched.
int connection_exchange(connection *own, wire *request, int *is_untouched);
const char *connection_words(int error);

// Makes a call with the lock held; a session other than 0 must still be this one.
int32_t connection_ask(connection *own, uint32_t operation, const wire_word *words,
                       uint64_t session, service_failure *failure);
// After a hello: says which pool it is of and what it offers. The lock is held.
int32_t member_join(connection *own, service_failure *failure);
// The connection to the owner has ended. The lock is held.
void member_lost(connection *own);
// Tells the owner that it leaves, if it is a member.
void member_leave(connection *own);
// Whether a cycle's handle is of an open connection, and of what that is connected to now.
int member_has(uint64_t cycle);
void member_free(connection *own);

// Closes the queue of events, if there is one; who waits for an event returns.
void listener_end(connection *own);

#endif
