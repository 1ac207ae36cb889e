// One owner, many processes: a scheduler that is served on a Unix socket, and handles that ask one (docs/protocol.md).
// It stands on the functions of selene.h alone, so that what does not serve does not know of it.
#ifndef CSERVICE_H
#define CSERVICE_H

#include <stdint.h>

enum service_operation {
#define SERVICE(number, name, right, again, form, call) SERVICE_##name = number,
#include "../operations.h"
};

// What a refused call leaves, as selene_status_fault has it: the sentence, then field, subject, found, allowed, problem.
enum { SERVICE_TEXT_SIZE = 512, SERVICE_TEXTS = 6 };
typedef struct service_failure {
    int32_t status;
    int32_t unit;
    int64_t value, least, greatest;
    char texts[SERVICE_TEXTS][SERVICE_TEXT_SIZE];
} service_failure;

static inline const char *_Nonnull service_text(const service_failure *_Nonnull failure,
                                                int32_t place) {
    return failure->texts[place];
}

// One who may connect; UINT32_MAX: any.
typedef struct service_rule {
    uint32_t uid, gid, rights, reserved;
} service_rule;

// How a server reads the events of its scheduler, which its host does not notice. Opening answers a status, whose words
// are this thread's; draining calls each with every event that waits (a selene_event that lives until it returns; NULL:
// none is left) and how many were lost before it.
typedef void (*service_each)(void *_Nonnull context, const void *_Nullable event, uint64_t lost);
typedef struct service_taps {
    int32_t (*_Nonnull open)(uint64_t scheduler, uint64_t server, int32_t *_Nonnull descriptor);
    void (*_Nonnull drain)(uint64_t scheduler, uint64_t server, service_each _Nonnull each,
                           void *_Nonnull context);
    void (*_Nonnull close)(uint64_t scheduler, uint64_t server);
} service_taps;

typedef struct service_terms {
    // The socket; empty: beside the store.
    const char *_Nullable path;
    uint64_t path_length;
    const service_rule *_Nullable rules;
    uint64_t rule_count;
    uint32_t mode;
    uint32_t max_clients;
    uint64_t max_frame;
} service_terms;

typedef struct service_census {
    uint64_t clients, accepted, requests, refused, broken;
} service_census;

// Each answers a status; the failure is filled unless it is 0.
int32_t service_open(uint64_t scheduler, const service_terms *_Nonnull terms,
                     const service_taps *_Nonnull taps, uint64_t *_Nonnull out_server,
                     service_failure *_Nonnull failure);
int32_t service_census_of(uint64_t server, service_census *_Nonnull out_census,
                          service_failure *_Nonnull failure);
int32_t service_close(uint64_t server, service_failure *_Nonnull failure);
// Ends all servers of a scheduler, before it closes.
void service_end(uint64_t scheduler);

int32_t service_connect(const char *_Nullable path, uint64_t path_length, int64_t wait,
                        int64_t timeout, uint64_t *_Nonnull out_connection,
                        service_failure *_Nonnull failure);
int32_t service_disconnect(uint64_t connection, service_failure *_Nonnull failure);
// Asks the owner; the words are the arguments of the function behind the handle.
int32_t service_ask(uint64_t connection, uint32_t operation, uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d, service_failure *_Nonnull failure);

// The owner's events, which come over a connection of their own; *out_event is NULL if there is none, else it lives until
// the next one is taken or the queue is closed.
int32_t service_events_open(uint64_t connection, uint64_t capacity, int32_t *_Nullable out_fd,
                            service_failure *_Nonnull failure);
int32_t service_events_next(uint64_t connection, int64_t timeout,
                            const void *_Nullable *_Nonnull out_event, uint64_t *_Nonnull out_lost,
                            service_failure *_Nonnull failure);
int32_t service_events_close(uint64_t connection, service_failure *_Nonnull failure);

// Whether a number has the type of a connection's handle, open or not.
static inline int32_t service_is_connection(uint64_t handle) {
    return handle >> 56 == 0x44;
}

#endif
