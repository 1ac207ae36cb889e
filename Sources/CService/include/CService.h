// One owner, many processes: a scheduler that is served on a Unix socket, and handles that ask one (docs/protocol.md).
// It stands on the functions of selene.h alone, so that what does not serve does not know of it.
#ifndef CSERVICE_H
#define CSERVICE_H

#include <stdint.h>

enum service_operation {
#define SERVICE(number, name, right, again, form, call) SERVICE_##name = number,
#include "../operations.h"
};

// What a refused call leaves, as selene_status_fault has it, flags included: the sentence, then field, subject, found, allowed, problem.
enum { SERVICE_TEXT_SIZE = 512, SERVICE_TEXTS = 6 };
typedef struct service_failure {
    int32_t status;
    int32_t unit;
    uint32_t flags, reserved;
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

// What a member is told without having asked: a run of its that shall stop, why, and whether it is over with that; or 0: its
// windows may have something.
typedef void (*service_news)(void *_Nonnull context, uint64_t member, uint64_t run, int32_t reason,
                             int32_t is_over);

// What processes that are connected do as members of a pool: joining answers a number, leaving says how (0 it said so,
// 1 it ended, 2 what it sent was not the protocol), and a call is one of the operations above with its words.
typedef struct service_crews {
    // The process is as the system numbers it; 0: that is not known.
    int32_t (*_Nonnull join)(uint64_t scheduler, const char *_Nullable pool, int64_t length,
                             int32_t process, uint64_t *_Nonnull member);
    void (*_Nonnull leave)(uint64_t scheduler, uint64_t member, int32_t how);
    int32_t (*_Nonnull act)(uint64_t scheduler, uint64_t member, uint32_t operation,
                            const uint64_t *_Nonnull words);
    void (*_Nonnull census)(uint64_t scheduler, uint64_t member, uint64_t *_Nonnull handlers,
                            uint64_t *_Nonnull runs);
    // A member wants news, of which its server hears by a descriptor of eventfd().
    int32_t (*_Nonnull hear)(uint64_t scheduler, uint64_t member, int32_t bell);
    // Calls each with the news of the members of that descriptor.
    void (*_Nonnull news)(uint64_t scheduler, int32_t bell, service_news _Nonnull each,
                          void *_Nonnull context);
    // Time goes on; answers how long nothing happens by time alone, ns, and whether runs of an earlier owner are waited for.
    int64_t (*_Nonnull tick)(uint64_t scheduler, int32_t *_Nonnull is_awaiting);
    // Whether its tasks may be registered, changed and cancelled here: those of a fleet are not.
    int32_t (*_Nonnull changes)(uint64_t scheduler);
} service_crews;

typedef struct service_terms {
    // The socket; empty: beside the store.
    const char *_Nullable path;
    uint64_t path_length;
    const service_rule *_Nullable rules;
    uint64_t rule_count;
    uint32_t mode;
    uint32_t max_clients;
    uint64_t max_frame;
    // A socket that listens, of which the server makes a duplicate; negative: it makes one at the path.
    int32_t descriptor;
    // A thread of the library serves; else its host steps.
    int32_t has_thread;
    // How long a connection may take to say hello, to send the rest of a frame, or to take an answer, ns.
    int64_t patience;
} service_terms;

typedef struct service_census {
    uint64_t clients, accepted, requests, refused, broken;
} service_census;

// Each answers a status; the failure is filled unless it is 0.
int32_t service_open(uint64_t scheduler, const service_terms *_Nonnull terms,
                     const service_taps *_Nonnull taps, const service_crews *_Nonnull crews,
                     uint64_t *_Nonnull out_server, int32_t *_Nullable out_fd,
                     service_failure *_Nonnull failure);
int32_t service_step(uint64_t server, int64_t *_Nullable out_wake_at,
                     service_failure *_Nonnull failure);
int32_t service_census_of(uint64_t server, service_census *_Nonnull out_census,
                          service_failure *_Nonnull failure);
int32_t service_close(uint64_t server, service_failure *_Nonnull failure);
// Steps the servers of a scheduler that have no thread, as their host would, for some milliseconds at most; 0: there are none. Of no
// time it only says whether there may be any, and takes no lock.
int32_t service_serve(uint64_t scheduler, int64_t nanoseconds);
// Ends all servers of a scheduler, before it closes.
void service_end(uint64_t scheduler);

// An empty pool is that of the executable's name.
int32_t service_connect(const char *_Nullable path, uint64_t path_length,
                        const char *_Nullable pool, uint64_t pool_length, int64_t wait,
                        int64_t timeout, int64_t server_user, uint64_t *_Nonnull out_connection,
                        service_failure *_Nonnull failure);
int32_t service_disconnect(uint64_t connection, int64_t grace, service_failure *_Nonnull failure);
// The same for a cycle or a run of a connection, whose handle comes before the words.
int32_t service_ask_of(uint64_t handle, uint32_t operation, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t d, service_failure *_Nonnull failure);
// What a host gives as a handler. It is the connection's when this answers 0, and ends when it is unregistered or the
// connection is closed.
typedef struct service_handler {
    void (*_Nullable run)(void);
    void (*_Nullable stop)(void);
    void *_Nullable context;
    void (*_Nullable destroy)(void *_Nullable context);
} service_handler;
int32_t service_handler_add(uint64_t connection, const char *_Nonnull name, uint64_t length,
                            const service_handler *_Nonnull handler,
                            service_failure *_Nonnull failure);
int32_t service_handler_remove(uint64_t connection, const char *_Nonnull name, uint64_t length,
                               service_failure *_Nonnull failure);
int32_t service_cycle_begin(uint64_t connection, const void *_Nullable window,
                            uint64_t *_Nonnull out_cycle, service_failure *_Nonnull failure);
// *out_run, a selene_run_info, lives until the run has an outcome.
int32_t service_cycle_next(uint64_t cycle, int32_t *_Nonnull out_step,
                           const void *_Nullable *_Nonnull out_run, int64_t *_Nonnull out_wake_at,
                           service_failure *_Nonnull failure);

// What a host has for a run: set, or read, as long as that has not come back.
int32_t service_run_user(uint64_t run, int32_t is_set, void *_Nullable *_Nonnull user,
                         service_failure *_Nonnull failure);
// Lanes of a cycle that was begun for them (C20). *out_run lives until the next call with the lane.
int32_t service_lane_open(uint64_t cycle, uint64_t *_Nonnull out_lane,
                          service_failure *_Nonnull failure);
int32_t service_lane_next(uint64_t lane, int32_t outcome, int64_t timeout,
                          int32_t *_Nonnull out_step, const void *_Nullable *_Nonnull out_run,
                          int64_t *_Nonnull out_wake_at, service_failure *_Nonnull failure);
int32_t service_lane_close(uint64_t lane, service_failure *_Nonnull failure);
// *out_report, a selene_report for free, is NULL where time was up before.
int32_t service_cycle_wait(uint64_t cycle, int64_t timeout, void *_Nullable *_Nonnull out_report,
                           int64_t *_Nonnull out_wake_at, service_failure *_Nonnull failure);

// Windows whose handlers are called here: a selene_window, and who gets the selene_report of one that goes on.
typedef struct service_receiver {
    void (*_Nullable report)(const void *_Nonnull report, void *_Nullable context);
    void *_Nullable context;
    void (*_Nullable destroy)(void *_Nullable context);
} service_receiver;
int32_t service_cycle_run(uint64_t connection, const void *_Nullable window,
                          void *_Nullable *_Nonnull out_report, service_failure *_Nonnull failure);
// The receiver is the connection's when this answers 0.
int32_t service_cycle_run_async(uint64_t connection, const void *_Nullable window,
                                const service_receiver *_Nonnull receiver,
                                uint64_t *_Nonnull out_cycle, int64_t *_Nonnull out_deadline,
                                service_failure *_Nonnull failure);

// A driver that opens the windows which the owner grants, on a thread of the library or stepped by the host: a selene_driver.
int32_t service_driver_open(uint64_t connection, const void *_Nullable driver, int32_t has_thread,
                            int32_t *_Nullable out_fd, service_failure *_Nonnull failure);
int32_t service_driver_step(uint64_t connection, uint64_t *_Nonnull out_cycle,
                            int64_t *_Nonnull out_wake_at, service_failure *_Nonnull failure);
int32_t service_driver_wait(uint64_t connection, int64_t timeout, int32_t *_Nonnull out_ready,
                            service_failure *_Nonnull failure);
int32_t service_driver_stop(uint64_t connection, int64_t grace, service_failure *_Nonnull failure);

// Who is connected to a scheduler of this process; a selene_clients in one piece, for free.
void *_Nonnull service_clients(uint64_t scheduler);

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

// Whether a number has the type of the handle of a connection, or of a cycle, a run or a lane of one, open or not.
static inline int32_t service_is_connection(uint64_t handle) {
    return handle >> 56 == 0x44;
}
static inline int32_t service_is_cycle(uint64_t handle) {
    return handle >> 56 == 0x46;
}
static inline int32_t service_is_lane(uint64_t handle) {
    return handle >> 56 == 0x48;
}
static inline int32_t service_is_run(uint64_t handle) {
    return handle >> 56 == 0x47;
}

#endif
