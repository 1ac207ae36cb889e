// One owner, many processes: a scheduler that is served on a Unix socket, and handles that ask one (docs/protocol.md).
// It stands on the functions of selene.h alone, so that what does not serve does not know of it.
#ifndef CSERVICE_H
#define CSERVICE_H

#include <stdint.h>

enum service_operation {
#define SERVICE(number, name, right, again, form, call) SERVICE_##name = number,
#include "../operations.h"
};

// What a refused call leaves, as selene_error_last has it, flags included: the sentence, then field, subject, found, allowed, problem.
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

// What a member is told without having asked: a run of its that shall stop, why, and whether it is over with that; or 0, and
// where there may be something for it: in a window (1), for its driver (2).
typedef void (*service_news)(void *_Nonnull context, uint64_t member, uint64_t run, int32_t word,
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
// A connection is about to be closed, within so many ns; refused where another thread does it. Then it is closed.
int32_t service_leaving(uint64_t connection, int64_t grace, service_failure *_Nonnull failure);
void service_disconnect(uint64_t connection);

// ---- A scheduler of this process whose runs the owner of a connection gives ----

// What it is told: of a run, by its number here, that it shall stop, why, and whether it is over with that; 0, and where there
// may be something, as above (0: anywhere), or a connection is there again; UINT64_MAX: the connection has ended. Called with
// the turn.
typedef void (*service_told)(void *_Nonnull context, uint64_t run, int32_t word, int32_t is_over);
// It, or 0.
int32_t service_link_worker(uint64_t connection, uint64_t *_Nonnull out_worker,
                            service_failure *_Nonnull failure);
// It is the connection's from now on, unless it has one already or is being closed; end is called when it is told nothing more.
int32_t service_link_attach(uint64_t connection, uint64_t worker, service_told _Nonnull told,
                            void (*_Nonnull end)(void *_Nonnull context), void *_Nonnull context,
                            uint64_t *_Nonnull out_worker, service_failure *_Nonnull failure);

// The turn: whoever has it asks, and nobody else hears the owner until it gives the turn back. NULL: the failure says why.
void *_Nullable service_link_enter(uint64_t connection, service_failure *_Nonnull failure);
void service_link_exit(void *_Nonnull link);

// With the turn. Numbers of cycles and runs are the connection's, which stay where the next owner goes on with a run.
int32_t service_link_offer(void *_Nonnull link, const char *_Nonnull name, uint64_t length,
                           int32_t is_called, service_failure *_Nonnull failure);
void service_link_withdraw(void *_Nonnull link, const char *_Nonnull name, uint64_t length);
enum { SERVICE_LINK_TAKES = 0, SERVICE_LINK_CALLS = 1, SERVICE_LINK_CALLS_LATER = 2 };
int32_t service_link_begin(void *_Nonnull link, const void *_Nullable window, int32_t how,
                           uint64_t *_Nonnull out_cycle, int64_t *_Nonnull out_deadline,
                           service_failure *_Nonnull failure);
// What there is to do: a run (a selene_run_info for free, with the connection's number), or until when to wait, by the owner's
// clock, and how long that is; -1: waiting is of no use. Of a driver's step the lanes of the window that was granted.
typedef struct service_step_taken {
    void *_Nullable run;
    int32_t step, lanes;
    int64_t until, delay;
} service_step_taken;
// The last run of a lane (0: none) comes back with its outcome (-1: none). pulls: a host takes the runs, and does not wait.
int32_t service_link_take(void *_Nonnull link, uint64_t cycle, uint64_t last, int32_t outcome,
                          int32_t pulls, service_step_taken *_Nonnull out,
                          service_failure *_Nonnull failure);
// An outcome that nobody could be asked to take: the next owner is told.
void service_link_keep(void *_Nonnull link, uint64_t run, int32_t outcome);
int32_t service_link_progress(void *_Nonnull link, uint64_t cycle, service_step_taken *_Nonnull out,
                              service_failure *_Nonnull failure);
// *out_report is a selene_report for free.
int32_t service_link_end(void *_Nonnull link, uint64_t cycle, void *_Nullable *_Nonnull out_report,
                         service_failure *_Nonnull failure);
void *_Nonnull service_report_copy(const void *_Nonnull report);
int32_t service_link_drain(void *_Nonnull link, uint64_t cycle, int64_t grace,
                           service_failure *_Nonnull failure);
// What is taken waits again, as before the runs.
void service_link_rest(void *_Nonnull link);
// A function of a run: four words behind its number.
int32_t service_link_ask(void *_Nonnull link, uint64_t run, uint32_t operation,
                         const uint64_t *_Nonnull words, service_failure *_Nonnull failure);
// A driver, which is a selene_driver; calls: its windows' handlers are called here.
int32_t service_link_drive(void *_Nonnull link, const void *_Nullable driver, int32_t calls,
                           service_failure *_Nonnull failure);
int32_t service_link_step(void *_Nonnull link, uint64_t *_Nonnull out_cycle,
                          service_step_taken *_Nonnull out, service_failure *_Nonnull failure);
void service_link_undrive(void *_Nonnull link);
// The owner tells of runs and windows from now on.
int32_t service_link_hear(void *_Nonnull link, service_failure *_Nonnull failure);
// What is told of a cycle whose owner has gone.
void service_link_lost(uint64_t connection, service_failure *_Nonnull failure);
// Ends the connection to an owner that does not keep to the protocol.
void service_link_drop(void *_Nonnull link);
// Reaches an owner, and tells it what goes on here.
int32_t service_link_settle(void *_Nonnull link, service_failure *_Nonnull failure);
// Runs that are at work here may be awaited by the next owner: goes there if there is one. In how many ns to look again.
int64_t service_link_return(void *_Nonnull link);
// Without the turn, by one thread: reads news until there is some, it is rung for, or so many ns have passed.
void service_link_read(uint64_t connection, int64_t span);
void service_link_ring(uint64_t connection);

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

// Whether a number has the type of the handle of a connection, open or not.
static inline int32_t service_is_connection(uint64_t handle) {
    return handle >> 56 == 0x44;
}

#endif
