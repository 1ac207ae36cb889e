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

// Closes the queue of events, if there is one; who waits for an event returns.
void listener_end(connection *own);

#endif
