// The owner's side: a thread, or an event loop that steps, takes requests from a socket and makes the calls.

#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVENTS = 256,
    // Bytes that are read of one client before others have their turn.
    READ_MOST = 256 * 1024,
    // Registrations that share a commit.
    GROUP_MOST = 1024,
    // Bytes of events that a client is sent at a time.
    TELL_MOST = 32 * 1024,
    // Connections that are accepted before others have their turn.
    MEET_MOST = 64,
    // Connections that have said no hello, besides max_clients, and how many of them may be of users who may look at most.
    STRANGERS_MOST = 64,
    ONLOOKERS_MOST = 16,
    // Bytes of a request that is coming, and of an answer that the system does not take, which each client may have.
    IN_SMALL = 16 * 1024,
    OUT_SMALL = 48 * 1024,
    // So much more comes, or is taken, of a client whose time begins anew.
    MOVED_LEAST = 64 * 1024,
    // What is longer counts: of all clients of a user, and of all users but the owner's and root.
    HELD_OF_USER = 24 * 1024 * 1024,
    HELD_IN_ALL = 40 * 1024 * 1024,
    // Places that are kept for the owner's user and root: one of so many, and no more than this.
    KEPT_SHARE = 16,
    KEPT_MOST = 64
};

// What the clients of a user have together.
typedef struct account {
    uint32_t user;
    // The owner's user, or root.
    int is_own;
    uint64_t clients, welcome, held;
    struct account *next;
} account;

// Why a client that said hello has a limit of time.
enum lateness { IN_TIME, REST_MISSING, ANSWER_UNREAD };

typedef struct client {
    int descriptor;
    // Its number as a member of a pool, or 0; the process itself, watched besides the socket, which a child may hold; or −1.
    uint64_t member;
    int process;
    char *pool;
    // It said that it leaves; what it sent was not the protocol; its process has ended.
    int has_left, is_broken, is_dead;
    uint32_t library;
    atomic_uint_fast64_t requests;
    uint32_t rights;
    system_peer peer;
    atomic_int is_welcome;
    // It is over as soon as what was said to it is sent.
    int is_ending;
    // By when it has to say hello, or to take what was said to it, by the boot clock; 0: it need not.
    int64_t limit;
    // Where it was told that there may be something (service_news), and it has not come since.
    int calls;
    int is_queued;
    // What it said and what it is told; told is sent up to sent.
    unsigned char *in;
    size_t have, room;
    wire out;
    size_t sent;
    // Whose it is, and what of its request and its answer counts there; nothing more is read of it until there is room.
    account *by;
    uint64_t held_in, held_out;
    int is_kept_waiting;
    // How many bytes have come and gone, and had when its limit was set; why it has one.
    uint64_t moved, marked;
    enum lateness lateness;
    // Of which request events are further answers, and how far it has been told; a capacity of 0: of none.
    uint64_t events_request;
    telling_place told;
    // Of which request news of its runs and windows are further answers; 0: none.
    uint64_t news_request;
    struct client *next, *previous, *queue;
} client;

// A registration that waits for the others of its round.
typedef struct waiting {
    client *from;
    wire_head head;
    wire_word words[WIRE_WORDS];
    wire_scratch scratch;
} waiting;

typedef struct server {
    wire_entry entry;
    uint64_t scheduler;
    char *path;
    dev_t device;
    ino_t inode;
    // It is ours, and goes with us.
    int has_made_socket;
    // The bell rings when there is news for members.
    int listener, set, wake, bell;
    // One of both serves: a thread of the library, or a host that steps, which the watch tells the time.
    uint64_t thread;
    platform_watch *watch;
    // Held by who steps, or ends, a server without a thread.
    pthread_mutex_t turn;
    uint32_t max_clients;
    uint64_t max_frame;
    // How long a connection may take to say hello, for the rest of a request, or to take an answer, ns.
    int64_t time_limit;
    account *accounts;
    // What counts of all of them, how many wait for room, and whether some was given back.
    uint64_t held, kept_waiting;
    int has_room;
    service_rule *rules;
    uint64_t rule_count;
    // Guards who is connected, and of which pool, for those who ask on another thread.
    pthread_mutex_t roll;
    client *clients;
    uint64_t client_count, welcome_count, onlookers, limited, members, dead;
    // When those that have a limit are looked at again.
    int64_t looks_at;
    client *ready;
    waiting *group;
    size_t group_count;
    // Events, while a client wants to be told of them; how many of them do, and the most that one lets wait.
    service_taps taps;
    service_crews crews;
    telling *telling;
    int tap;
    uint64_t listeners, patience;
    // When time alone changes something for what members run, by the boot clock.
    int64_t due;
    // Runs of an earlier owner are waited for.
    int32_t is_awaiting;
    // While descriptors or places are short nobody is accepted until one leaves or has said hello; how many there were, and
    // had, when that began.
    int is_deaf;
    uint64_t deaf_clients, deaf_welcome;
    atomic_int is_stopping;
    atomic_uint_fast64_t census_clients, accepted, requests, refused, broken;
} server;

static atomic_int servers_open, servers_stepped;

// The servers whose thread this is, or that are stepped on it, one inside a callback of the other.
typedef struct place_of {
    const server *server;
    const struct place_of *before;
} place_of;
static _Thread_local const place_of *serving;

static int is_served_here(const server *own) {
    const place_of *at = serving;
    while (at != NULL && at->server != own)
        at = at->before;
    return at != NULL;
}

// ---- Answers ----

static void send_out(server *own, client *to);

// ---- What clients hold (L12) ----

static account *account_of(server *own, uint32_t user) {
    for (account *each = own->accounts; each != NULL; each = each->next)
        if (each->user == user) return each;
    account *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    made->user = user;
    made->is_own = user == geteuid() || user == 0;
    made->next = own->accounts;
    own->accounts = made;
    return made;
}

static void leave_account(server *own, account *by) {
    if (--by->clients > 0) return;
    account **at = &own->accounts;
    while (*at != by)
        at = &(*at)->next;
    *at = by->next;
    free(by);
}

// One request, or one answer, may be as long as it likes, if nothing else is held.
static int may_hold(const server *own, const client *of, uint64_t more) {
    if (of->by->held > 0 && of->by->held + more > HELD_OF_USER) return 0;
    return of->by->is_own || own->held == 0 || own->held + more <= HELD_IN_ALL;
}

static void hold(server *own, client *of, uint64_t *what, uint64_t bytes) {
    if (bytes < *what) own->has_room = 1;
    of->by->held += bytes - *what;
    // What the owner's own clients hold is no matter of the others.
    if (!of->by->is_own) own->held += bytes - *what;
    *what = bytes;
}

static void keep_waiting(server *own, client *of, int waits) {
    own->kept_waiting += (uint64_t)(waits - of->is_kept_waiting);
    of->is_kept_waiting = waits;
}

static void answer_begin(client *to, wire_head head) {
    to->out.has_failed = to->out.is_short = 0;
    to->out.most = WIRE_ANSWER_MOST;
    wire_begin(&to->out, head.operation, head.request);
}

static void refuse(client *to, wire_head head, const service_failure *failure) {
    selene_error error;
    size_t begun = to->out.length;
    wire_error(failure, &error);
    answer_begin(to, head);
    wire_refusal(&to->out, &error);
    wire_finish(&to->out, begun, (uint16_t)failure->status);
    if (!to->out.has_failed) return;
    // Not even for that there is memory.
    to->out.length = begun;
    to->is_ending = 1;
}

static void refuse_for_room(server *own, client *to, wire_head head) {
    service_failure failure;
    atomic_fetch_add(&own->refused, 1);
    wire_fail(
        &failure, SELENE_ERROR_EXHAUSTED, "answer", NULL,
        "the clients of user %u have not taken what was answered to them, and process %d keeps "
        "no more of it",
        to->by->user, (int)getpid());
    refuse(to, head, &failure);
}

// Whether an answer can be refused without a loss: whoever asks only looks.
static int only_looks(const wire_operation *operation) {
    return operation->right == SELENE_RIGHT_LOOK || operation->right == SELENE_RIGHT_READ;
}

// A call's answer: its results, or what this thread's refused call left.
static void answer(server *own, client *to, wire_head head, const wire_operation *operation,
                   const wire_word *words, selene_status status) {
    size_t begun = to->out.length;
    answer_begin(to, head);
    if (status == SELENE_OK) wire_answer(&to->out, operation, words);
    else wire_refusal(&to->out, selene_error_last());
    if (to->out.has_failed) {
        service_failure failure;
        to->out.length = begun;
        if (to->out.is_short)
            wire_fail(&failure, SELENE_ERROR_EXHAUSTED, "answer", NULL,
                      "process %d has no memory for it", (int)getpid());
        else
            wire_fail(&failure, SELENE_ERROR_TOO_LARGE, "answer", NULL,
                      "longer than the %llu bytes of a frame",
                      (unsigned long long)WIRE_ANSWER_MOST);
        refuse(to, head, &failure);
        return;
    }
    uint64_t length = to->out.length - begun;
    if (length > OUT_SMALL && only_looks(operation) && !may_hold(own, to, length)) {
        to->out.length = begun;
        refuse_for_room(own, to, head);
        return;
    }
    if (length > OUT_SMALL) hold(own, to, &to->held_out, to->held_out + length);
    wire_finish(&to->out, begun, (uint16_t)status);
}

// ---- Rights ----

static int is_of_group(uint32_t group, const system_peer *peer, const gid_t *further,
                       size_t count) {
    if (group == UINT32_MAX || group == peer->group) return 1;
    for (size_t i = 0; i < count; i++)
        if (further[i] == group) return 1;
    return 0;
}

static uint32_t rights_of(const server *own, int descriptor, const system_peer *peer) {
    uint32_t rights = 0;
    gid_t *further = NULL;
    if (peer->user == geteuid() || peer->user == 0) return SELENE_RIGHT_ALL;
    size_t count = own->rule_count > 0 ? system_groups_of(descriptor, &further) : 0;
    for (uint64_t i = 0; i < own->rule_count; i++) {
        const service_rule *rule = &own->rules[i];
        if (rule->uid != UINT32_MAX && rule->uid != peer->user) continue;
        if (is_of_group(rule->gid, peer, further, count)) rights |= rule->rights;
    }
    free(further);
    return rights;
}

// A stranger who could change nothing: who has no right, or may but look.
static int is_onlooker(const client *of) {
    return !of->is_welcome &&
           (of->rights & ~(uint32_t)(SELENE_RIGHT_LOOK | SELENE_RIGHT_READ)) == 0;
}

static const char *right_name(uint32_t right) {
    return right == SELENE_RIGHT_LOOK      ? "SELENE_RIGHT_LOOK"
           : right == SELENE_RIGHT_READ    ? "SELENE_RIGHT_READ"
           : right == SELENE_RIGHT_ENQUEUE ? "SELENE_RIGHT_ENQUEUE"
           : right == SELENE_RIGHT_WORK    ? "SELENE_RIGHT_WORK"
                                           : "SELENE_RIGHT_MANAGE";
}

// ---- Limits (L12) ----

static void set_limit(server *own, client *of, int64_t limit) {
    own->limited += (limit != 0) - (of->limit != 0);
    of->limit = limit;
    if (limit != 0 && limit < own->looks_at) own->looks_at = limit;
}

// ---- Requests ----

static void hello(server *own, client *from, wire_head head, const unsigned char *body,
                  size_t length) {
    service_failure failure;
    wire_hello said;
    from->is_broken = length < sizeof said || memcmp(body, &(uint64_t){WIRE_MAGIC}, 8) != 0;
    if (from->is_broken) {
        atomic_fetch_add(&own->broken, 1);
        wire_fail(&failure, SELENE_ERROR_INVALID_ARGUMENT, "frame", NULL,
                  "the first frame is not the hello of a Selene client of this kind of machine");
        refuse(from, head, &failure);
        from->is_ending = 1;
        return;
    }
    memcpy(&said, body, sizeof said);
    int32_t status = SELENE_OK;
    uint32_t kept =
        own->max_clients / KEPT_SHARE < KEPT_MOST ? own->max_clients / KEPT_SHARE : KEPT_MOST;
    if (said.lowest > WIRE_PROTOCOL || said.highest < WIRE_PROTOCOL)
        status =
            wire_fail(&failure, SELENE_ERROR_UNSUPPORTED, "protocol", NULL,
                      "process %d (library %s) speaks %d, the client (library %u.%u.%u) "
                      "%u to %u",
                      (int)getpid(), SELENE_VERSION_STRING, WIRE_PROTOCOL, said.library / 1000000,
                      said.library / 1000 % 1000, said.library % 1000, said.lowest, said.highest);
    else if (from->rights == 0)
        status = wire_fail(&failure, SELENE_ERROR_REFUSED, "user", NULL,
                           "%u has no rights at process %d, which belongs to user %u",
                           from->peer.user, (int)getpid(), geteuid());
    else if (own->welcome_count >= own->max_clients)
        status = wire_fail(&failure, SELENE_ERROR_EXHAUSTED, "clients", NULL,
                           "%u are connected to process %d, which is the limit", own->max_clients,
                           (int)getpid());
    else if (!from->by->is_own && own->welcome_count >= own->max_clients - kept)
        status = wire_fail(&failure, SELENE_ERROR_EXHAUSTED, "clients", NULL,
                           "%llu are connected to process %d, and the other %u places are kept for "
                           "its user and root",
                           (unsigned long long)own->welcome_count, (int)getpid(), kept);
    else if (!from->by->is_own && kept > 0 && from->by->welcome >= own->max_clients / 2)
        status = wire_fail(&failure, SELENE_ERROR_EXHAUSTED, "clients", NULL,
                           "%llu of user %u are connected to process %d, which is the limit",
                           (unsigned long long)from->by->welcome, from->by->user, (int)getpid());
    if (status != SELENE_OK) {
        atomic_fetch_add(&own->refused, 1);
        refuse(from, head, &failure);
        from->is_ending = 1;
        return;
    }
    wire_welcome welcome = {WIRE_MAGIC,         WIRE_PROTOCOL, selene_version(),
                            (uint32_t)getpid(), from->rights,  own->max_frame};
    size_t begun = from->out.length;
    answer_begin(from, head);
    wire_put(&from->out, &welcome, sizeof welcome);
    wire_finish(&from->out, begun, 0);
    from->library = said.library;
    if (is_onlooker(from)) own->onlookers--;
    from->is_welcome = 1;
    own->welcome_count++;
    from->by->welcome++;
    set_limit(own, from, 0);
}

static void blank_input(wire_word word) {
    selene_task_info *info;
    memcpy(&info, word.pointer, sizeof info);
    info->input.length = 0;
}

// A client wants to be told of events, as many of which may wait for it.
static void begin_to_tell(server *own, client *to, wire_head head, uint64_t capacity) {
    service_failure failure;
    size_t begun = to->out.length;
    int32_t status = SELENE_OK;
    if (capacity < 1 || capacity > SELENE_EVENTS)
        status = wire_fail(&failure, SELENE_ERROR_INVALID_ARGUMENT, "capacity", NULL,
                           "%llu is out of range (1 to %d)", (unsigned long long)capacity,
                           SELENE_EVENTS);
    else if (to->told.capacity > 0)
        status = wire_fail(&failure, SELENE_ERROR_ALREADY_EXISTS, "events", NULL,
                           "this connection is told of them");
    else if (own->telling == NULL &&
             own->taps.open(own->scheduler, own->entry.handle, &own->tap) != SELENE_OK)
        status = wire_told(&failure);
    if (status != SELENE_OK) {
        refuse(to, head, &failure);
        return;
    }
    if (own->telling == NULL) {
        own->telling = telling_new();
        system_set_add(own->set, own->tap, SYSTEM_READ, &own->tap);
    }
    // What waits for it is here, where it is bounded, rather than in the system.
    int bytes = TELL_MOST * 2;
    setsockopt(to->descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    own->listeners++;
    if (capacity > own->patience) own->patience = capacity;
    to->events_request = head.request;
    to->told = telling_from_here(own->telling, capacity);
    answer_begin(to, head);
    wire_finish(&to->out, begun, SELENE_OK);
}

static void stop_telling(server *own, client *to) {
    if (to->told.capacity == 0) return;
    to->told.capacity = 0;
    if (--own->listeners > 0) return;
    system_set_remove(own->set, own->tap);
    own->taps.close(own->scheduler, own->entry.handle);
    telling_free(own->telling);
    own->telling = NULL;
    own->patience = 0;
}

static void hear_event(void *context, const void *event, uint64_t lost) {
    server *own = context;
    telling_add(own->telling, event, lost, own->patience);
}

// Sends a client what it has not been told, as far as it takes it.
static void tell(server *own, client *to) {
    while (to->told.capacity > 0 && !to->is_ending && to->out.length == to->sent) {
        to->out.most = WIRE_ANSWER_MOST;
        if (!telling_fill(own->telling, &to->told, to->events_request, TELL_MOST, &to->out)) return;
        send_out(own, to);
    }
}

// Takes what has happened, and tells it to those who want to know.
static void tell_all(server *own) {
    if (own->telling == NULL) return;
    own->taps.drain(own->scheduler, own->entry.handle, hear_event, own);
    uint64_t needed = UINT64_MAX;
    for (client *each = own->clients; each != NULL; each = each->next) {
        if (each->told.capacity == 0) continue;
        tell(own, each);
        if (each->told.next < needed) needed = each->told.next;
    }
    telling_trim(own->telling, needed);
}

// ---- Members (L5, L9) ----

// What an event of a client's process has in place of the client's address.
static void *mark_of(client *of) {
    return (char *)of + 1;
}

static void join(server *own, client *from, wire_head head, const wire_word *pool) {
    service_failure failure;
    size_t begun = from->out.length;
    uint64_t member = from->member;
    int32_t status = SELENE_OK;
    int process = -1, error = 0;
    // A process of another namespace, or an old system, has none: then the socket's end is its end.
    if (member == 0 && from->peer.process > 0) {
        process = system_peer_watch(from->descriptor, from->peer.process);
        if (process < 0) error = errno;
    }
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
        status = wire_fail(&failure, SELENE_ERROR_EXHAUSTED, "process", NULL,
                           "%d cannot be watched by process %d: %s", from->peer.process,
                           (int)getpid(), strerror(error));
    else if (member == 0 && own->crews.join(own->scheduler, pool[0].pointer, pool[1].number,
                                            from->peer.process, &member) != SELENE_OK)
        status = wire_told(&failure);
    else if (from->member != 0 &&
             (pool[0].pointer == NULL || strcmp(from->pool, pool[0].pointer) != 0))
        status = wire_fail(&failure, SELENE_ERROR_ALREADY_EXISTS, "pool", NULL,
                           "this connection is of pool \"%s\"", from->pool);
    if (status != SELENE_OK) {
        if (process >= 0) close(process);
        refuse(from, head, &failure);
        return;
    }
    if (from->member == 0) {
        char *name = strndup(pool[0].pointer, (size_t)pool[1].number);
        if (name == NULL) abort();
        pthread_mutex_lock(&own->roll);
        // It may have left another one.
        free(from->pool);
        from->pool = name;
        from->member = member;
        pthread_mutex_unlock(&own->roll);
        own->members++;
        from->process = process;
        if (error == ESRCH) {
            from->is_dead = 1;
            own->dead++;
        } else if (process >= 0) {
            system_set_add(own->set, process, SYSTEM_READ, mark_of(from));
        }
    }
    answer_begin(from, head);
    wire_finish(&from->out, begun, SELENE_OK);
}

static void leave(server *own, client *from) {
    if (from->process >= 0) {
        system_set_remove(own->set, from->process);
        close(from->process);
        from->process = -1;
    }
    if (from->member == 0) return;
    from->news_request = 0;
    own->crews.leave(own->scheduler, from->member, from->has_left ? 0 : from->is_broken ? 2 : 1);
    own->members--;
    pthread_mutex_lock(&own->roll);
    from->member = 0;
    pthread_mutex_unlock(&own->roll);
}

static void say_goodbye(server *own, client *from, wire_head head) {
    size_t begun = from->out.length;
    from->has_left = 1;
    leave(own, from);
    answer_begin(from, head);
    wire_finish(&from->out, begun, SELENE_OK);
}

// A member wants to be told of its runs and windows.
static void begin_news(server *own, client *to, wire_head head) {
    service_failure failure;
    size_t begun = to->out.length;
    if (own->crews.hear(own->scheduler, to->member, own->bell) != SELENE_OK) {
        wire_told(&failure);
        refuse(to, head, &failure);
        return;
    }
    to->news_request = head.request;
    answer_begin(to, head);
    wire_finish(&to->out, begun, SELENE_OK);
}

static void tell_news(void *context, uint64_t member, uint64_t run, int32_t word, int32_t is_over) {
    server *own = context;
    client *to = own->clients;
    while (to != NULL && (to->member != member || to->news_request == 0))
        to = to->next;
    // Who does not read need not be told twice.
    if (to == NULL || to->is_ending || (run == 0 && (to->calls & word) == word)) return;
    if (run == 0) to->calls |= word;
    size_t begun = to->out.length;
    answer_begin(to, (wire_head){0, SERVICE_CLIENT_HEAR, 0, to->news_request});
    wire_number(&to->out, run);
    wire_number(&to->out, (uint64_t)word);
    wire_number(&to->out, (uint64_t)is_over);
    wire_finish(&to->out, begun, SELENE_OK);
}

// The engine's lock is not held while anything is sent.
static void tell_members(server *own) {
    system_bell_quiet(own->bell);
    own->crews.news(own->scheduler, own->bell, tell_news, own);
    for (client *each = own->clients; each != NULL; each = each->next)
        if (each->news_request != 0 && each->out.length > each->sent) send_out(own, each);
}

static void call(server *own, waiting *request, const wire_operation *operation) {
    const wire_member member = {&own->crews, request->from->member};
    selene_status status = operation->call(own->scheduler, &member, request->words);
    if (status == SELENE_OK && operation->number == SERVICE_TASK_GET &&
        (request->from->rights & SELENE_RIGHT_READ) == 0)
        blank_input(request->words[3]);
    answer(own, request->from, request->head, operation, request->words, status);
    wire_release(operation, &request->scratch);
}

static int changes_tasks(const wire_operation *operation) {
    return operation->right == SELENE_RIGHT_ENQUEUE || operation->number == SERVICE_TASK_CANCEL_ALL;
}

// One frame; what it says lies in the client's buffer until the round is over.
static void serve(server *own, client *from, wire_head head, unsigned char *body, size_t length) {
    service_failure failure;
    wire_reader reader = {body, body + length, 0};
    atomic_fetch_add(&own->requests, 1);
    from->requests++;
    if (!from->is_welcome) {
        hello(own, from, head, body, length);
        return;
    }
    const wire_operation *operation = wire_find(head.operation);
    if (operation == NULL) {
        wire_fail(&failure, SELENE_ERROR_UNSUPPORTED, "operation", NULL,
                  "%u is not known to process %d (library %s)", head.operation, (int)getpid(),
                  SELENE_VERSION_STRING);
        refuse(from, head, &failure);
        return;
    }
    if ((from->rights & operation->right) == 0) {
        atomic_fetch_add(&own->refused, 1);
        wire_fail(&failure, SELENE_ERROR_REFUSED, "user", NULL,
                  "%u lacks the right that this needs at process %d: %s", from->peer.user,
                  (int)getpid(), right_name(operation->right));
        refuse(from, head, &failure);
        return;
    }
    if (changes_tasks(operation) && own->crews.changes(own->scheduler) != SELENE_OK) {
        wire_told(&failure);
        refuse(from, head, &failure);
        return;
    }
    // What would be long is not even made.
    if (only_looks(operation) && strchr(operation->form, 'p') != NULL &&
        !may_hold(own, from, OUT_SMALL)) {
        refuse_for_room(own, from, head);
        return;
    }
    waiting *request = &own->group[own->group_count];
    *request = (waiting){.from = from, .head = head};
    if (!wire_arguments(&reader, operation, request->words, &request->scratch)) {
        atomic_fetch_add(&own->broken, 1);
        wire_fail(&failure, SELENE_ERROR_INVALID_ARGUMENT, "frame", NULL,
                  "the arguments of operation %u are cut off or not what docs/protocol.md says",
                  head.operation);
        refuse(from, head, &failure);
        from->is_ending = from->is_broken = 1;
        wire_release(operation, &request->scratch);
        return;
    }
    if (operation->number == SERVICE_TASK_REGISTER && request->words[0].pointer != NULL) {
        own->group_count++;
        return;
    }
    if (operation->number == SERVICE_EVENTS_OPEN) {
        begin_to_tell(own, from, head, request->words[0].bits);
        return;
    }
    if (operation->number == SERVICE_CLIENT_JOIN) {
        join(own, from, head, request->words);
        return;
    }
    if (operation->number == SERVICE_CLIENT_HEAR) {
        begin_news(own, from, head);
        return;
    }
    if (operation->number == SERVICE_CLIENT_LEAVE) {
        say_goodbye(own, from, head);
        return;
    }
    call(own, request, operation);
}

// The registrations of a round share a commit, and none is answered before it.
static void commit(server *own) {
    const selene_task *tasks[GROUP_MOST];
    selene_status statuses[GROUP_MOST];
    int32_t dispositions[GROUP_MOST];
    const wire_operation *operation = wire_find(SERVICE_TASK_REGISTER);
    size_t count = own->group_count;
    own->group_count = 0;
    for (size_t i = 0; i < count; i++)
        tasks[i] = own->group[i].words[0].pointer;
    selene_status all = SELENE_OK;
    if (count > 1)
        all = selene_task_register_batch(own->scheduler, tasks, count, statuses, dispositions);
    for (size_t i = 0; i < count; i++) {
        waiting *request = &own->group[i];
        // One that was refused is judged again by itself, so that its detail is its own.
        if (count == 1 || (all == SELENE_OK && statuses[i] != SELENE_OK)) {
            call(own, request, operation);
            continue;
        }
        if (all == SELENE_OK && request->words[1].pointer != NULL)
            memcpy(request->words[1].pointer, &dispositions[i], sizeof dispositions[i]);
        answer(own, request->from, request->head, operation, request->words, all);
        wire_release(operation, &request->scratch);
    }
}

// ---- Clients ----

static void part(server *own, client *from) {
    stop_telling(own, from);
    leave(own, from);
    if (from->is_dead) own->dead--;
    set_limit(own, from, 0);
    if (from->is_welcome) own->welcome_count--;
    if (from->is_welcome) from->by->welcome--;
    if (is_onlooker(from)) own->onlookers--;
    hold(own, from, &from->held_in, 0);
    hold(own, from, &from->held_out, 0);
    keep_waiting(own, from, 0);
    leave_account(own, from->by);
    for (client **at = &own->ready; from->is_queued && *at != NULL; at = &(*at)->queue) {
        if (*at != from) continue;
        *at = from->queue;
        break;
    }
    pthread_mutex_lock(&own->roll);
    if (from->previous != NULL) from->previous->next = from->next;
    else own->clients = from->next;
    if (from->next != NULL) from->next->previous = from->previous;
    own->client_count--;
    pthread_mutex_unlock(&own->roll);
    atomic_store(&own->census_clients, own->client_count);
    // A child that is just being forked may hold it for a moment more, and then closing it does not do this.
    system_set_remove(own->set, from->descriptor);
    wire_close(from->descriptor, 1);
    free(from->in);
    free(from->out.data);
    free(from->pool);
    free(from);
}

static int has_frame(const client *of) {
    uint32_t length;
    if (of->have < sizeof(wire_head)) return 0;
    memcpy(&length, of->in, sizeof length);
    return of->have >= length;
}

static void queue(server *own, client *from) {
    if (from->is_queued || from->out.length > from->sent || !has_frame(from)) return;
    from->is_queued = 1;
    from->queue = own->ready;
    own->ready = from;
}

// A frame that cannot be one, as soon as its head says so, and before there is memory for it.
static int check_head(server *own, client *from) {
    service_failure failure;
    wire_head head;
    if (from->have < sizeof head) return 1;
    memcpy(&head, from->in, sizeof head);
    uint64_t most = from->is_welcome ? own->max_frame : WIRE_HELLO_MOST;
    if (head.length >= sizeof head && head.length % 8 == 0 && head.length <= most) return 1;
    atomic_fetch_add(&own->broken, 1);
    if (head.length > most && from->is_welcome)
        wire_fail(&failure, SELENE_ERROR_TOO_LARGE, "frame", NULL,
                  "%u bytes is longer than the %llu that process %d takes", head.length,
                  (unsigned long long)most, (int)getpid());
    else
        wire_fail(&failure, SELENE_ERROR_INVALID_ARGUMENT, "frame", NULL,
                  "%u bytes is not the length of a frame: a multiple of 8, from %zu to %llu",
                  head.length, sizeof head, (unsigned long long)most);
    refuse(from, head, &failure);
    from->is_ending = from->is_broken = 1;
    return 0;
}

// Room for more of a frame; 0: there is none for now, or no memory.
static int make_room(server *own, client *from) {
    wire_head head = {0};
    size_t room = from->room == 0 ? 4096 : from->room * 2;
    if (room > IN_SMALL) {
        memcpy(&head, from->in, sizeof head);
        if (room > head.length) room = head.length;
        if (from->held_in == 0 && !may_hold(own, from, head.length)) {
            keep_waiting(own, from, 1);
            system_set_change(own->set, from->descriptor, 0, from);
            return 0;
        }
        hold(own, from, &from->held_in, head.length);
    }
    unsigned char *grown = realloc(from->in, room);
    if (grown != NULL) {
        from->in = grown;
        from->room = room;
        return 1;
    }
    service_failure failure;
    wire_fail(&failure, SELENE_ERROR_EXHAUSTED, "frame", NULL,
              "process %d has no memory for its %u bytes", (int)getpid(), head.length);
    refuse(from, head, &failure);
    from->is_ending = 1;
    return 0;
}

// Reads what is there; 0 when the client is gone.
static int hear(server *own, client *from) {
    for (size_t heard = 0; heard < READ_MOST && !from->is_ending && !has_frame(from);) {
        if (from->have == from->room && !make_room(own, from)) break;
        ssize_t count = recv(from->descriptor, from->in + from->have, from->room - from->have, 0);
        if (count == 0) return 0;
        if (count < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN) break;
            return 0;
        }
        from->have += (size_t)count;
        from->moved += (size_t)count;
        heard += (size_t)count;
        if (!check_head(own, from)) break;
    }
    return 1;
}

// What is left of an answer needs no more memory than that.
static void trim(client *to) {
    size_t left = to->out.length - to->sent;
    if (to->out.room < 2 * left || to->out.room < 8192) return;
    memmove(to->out.data, to->out.data + to->sent, left);
    unsigned char *less = realloc(to->out.data, left);
    if (less != NULL) {
        to->out.data = less;
        to->out.room = left;
    }
    to->out.length = left;
    to->sent = 0;
}

static void send_out(server *own, client *to) {
    while (to->sent < to->out.length) {
        ssize_t count =
            system_send(to->descriptor, to->out.data + to->sent, to->out.length - to->sent);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) {
            // Nothing more is read of it until it has taken this.
            system_set_change(own->set, to->descriptor, SYSTEM_WRITE, to);
            trim(to);
            return;
        }
        if (count < 0) {
            to->is_ending = 1;
            to->out.length = to->sent = 0;
            return;
        }
        to->sent += (size_t)count;
        to->moved += (size_t)count;
    }
    if (to->held_out > 0) hold(own, to, &to->held_out, 0);
    if (to->out.room > 65536) {
        free(to->out.data);
        to->out = (wire){0};
    }
    to->out.length = to->sent = 0;
    to->calls = 0;
}

static void consume(server *own, client *from, size_t length) {
    from->have -= length;
    memmove(from->in, from->in + length, from->have);
    if (from->held_in > 0) hold(own, from, &from->held_in, 0);
    if (from->room > IN_SMALL && from->have == 0) {
        free(from->in);
        from->in = NULL;
        from->room = 0;
    }
}

// Without a descriptor for it, or a place, a client waits until another has left.
static void stop_listening(server *own) {
    system_set_change(own->set, own->listener, 0, &own->listener);
    own->is_deaf = 1;
    own->deaf_clients = own->client_count;
    own->deaf_welcome = own->welcome_count;
}

// Whether who is waited for has spoken: what has come meanwhile is read first.
static int has_spoken(server *own, client *of) {
    if (of->is_ending) return 0;
    if (!of->is_queued && hear(own, of) && !of->is_ending) queue(own, of);
    return of->is_queued;
}

// Those who have said nothing for a second give way to others, when there is no place left; whether any do.
static int give_way(server *own) {
    int64_t latest = platform_boot_clock() + own->time_limit - 1000000000;
    int found = 0;
    for (client *each = own->clients; each != NULL; each = each->next) {
        if (each->is_welcome || each->is_dead || each->limit > latest || has_spoken(own, each))
            continue;
        each->is_dead = found = 1;
        own->dead++;
    }
    return found;
}

static void meet(server *own) {
    for (int met = 0; met < MEET_MOST; met++) {
        if (own->client_count - own->welcome_count >= STRANGERS_MOST) {
            if (!give_way(own)) stop_listening(own);
            return;
        }
        int descriptor = wire_accept(own->listener);
        if (descriptor < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno != EAGAIN) stop_listening(own);
            return;
        }
        client *made = calloc(1, sizeof *made);
        if (made != NULL) {
            made->descriptor = descriptor;
            made->process = -1;
            // Who is not known is nobody.
            made->peer.user = UINT32_MAX;
            if (system_peer_of(descriptor, &made->peer))
                made->rights = rights_of(own, descriptor, &made->peer);
            made->by = account_of(own, made->peer.user);
        }
        if (made == NULL || made->by == NULL ||
            (is_onlooker(made) && own->onlookers >= ONLOOKERS_MOST)) {
            atomic_fetch_add(&own->refused, 1);
            wire_close(descriptor, 1);
            if (made != NULL && made->by != NULL) {
                made->by->clients++;
                leave_account(own, made->by);
            }
            free(made);
            continue;
        }
        made->by->clients++;
        own->onlookers += is_onlooker(made);
        set_limit(own, made, platform_boot_clock() + own->time_limit);
        pthread_mutex_lock(&own->roll);
        made->next = own->clients;
        if (made->next != NULL) made->next->previous = made;
        own->clients = made;
        own->client_count++;
        pthread_mutex_unlock(&own->roll);
        atomic_store(&own->census_clients, own->client_count);
        atomic_fetch_add(&own->accepted, 1);
        system_set_add(own->set, descriptor, SYSTEM_READ, made);
    }
}

static void listen_again(server *own) {
    if (!own->is_deaf) return;
    system_set_change(own->set, own->listener, SYSTEM_READ, &own->listener);
    own->is_deaf = 0;
}

// How long a client that said hello may take for what is missing of it.
static void watch_time(server *own, client *of) {
    uint64_t left = of->out.length - of->sent;
    enum lateness now = left > OUT_SMALL ? ANSWER_UNREAD
                        : left == 0 && of->have > 0 && !of->is_kept_waiting && !has_frame(of)
                            ? REST_MISSING
                            : IN_TIME;
    if (!of->is_welcome || (now == IN_TIME && of->limit == 0)) return;
    if (now == of->lateness && of->limit != 0 && of->moved - of->marked < MOVED_LEAST) return;
    set_limit(own, of, now == IN_TIME ? 0 : platform_boot_clock() + own->time_limit);
    of->lateness = now;
    of->marked = of->moved;
}

// What comes next of a client: its next frame, or its end; 0 when it is that.
static int go_on(server *own, client *of) {
    if (!of->is_ending) {
        queue(own, of);
        watch_time(own, of);
    } else if (of->out.length == of->sent) {
        part(own, of);
        return 0;
    } else if (of->limit == 0 || of->lateness != IN_TIME) {
        of->lateness = IN_TIME;
        set_limit(own, of, platform_boot_clock() + own->time_limit);
    }
    return 1;
}

// Each client that has said something has one frame served, in one commit; then what came of it is sent.
static void make_round(server *own) {
    client *round = own->ready, *each;
    own->ready = NULL;
    for (each = round; each != NULL; each = each->queue) {
        wire_head head;
        memcpy(&head, each->in, sizeof head);
        serve(own, each, head, each->in + sizeof head, head.length - sizeof head);
        if (each->is_broken) leave(own, each);
        if (own->group_count == GROUP_MOST) commit(own);
    }
    commit(own);
    // Before the answers, so that who has one can read what it did.
    tell_all(own);
    while ((each = round) != NULL) {
        wire_head head;
        round = each->queue;
        each->is_queued = 0;
        memcpy(&head, each->in, sizeof head);
        consume(own, each, head.length);
        if (!each->is_ending && !check_head(own, each)) leave(own, each);
        send_out(own, each);
        tell(own, each);
        go_on(own, each);
    }
}

// 0 when the client is gone.
static int attend(server *own, client *of, uint32_t events) {
    // Nothing is listened for of one that waits for room: it has gone.
    if (of->is_kept_waiting) {
        part(own, of);
        return 0;
    }
    if (events & SYSTEM_WRITE) {
        send_out(own, of);
        tell(own, of);
        if (of->out.length == of->sent && !of->is_ending)
            system_set_change(own->set, of->descriptor, SYSTEM_READ, of);
    } else if (!hear(own, of)) {
        part(own, of);
        return 0;
    } else {
        if (of->is_broken) leave(own, of);
        send_out(own, of);
    }
    return go_on(own, of);
}

// Those that waited for room look again whether there is some.
static void let_in(server *own) {
    if (!own->has_room) return;
    own->has_room = 0;
    for (client *each = own->clients; own->kept_waiting > 0 && each != NULL; each = each->next) {
        if (!each->is_kept_waiting) continue;
        keep_waiting(own, each, 0);
        system_set_change(own->set, each->descriptor, SYSTEM_READ, each);
    }
}

// Processes that have ended, behind all that the round says of their sockets.
static void bury(server *own) {
    client *next;
    for (client *each = own->clients; own->dead > 0 && each != NULL; each = next) {
        next = each->next;
        if (each->is_dead) part(own, each);
    }
}

// Whether a client whose limit has come has done its part by now, which is looked at first; 0 also when it is gone.
static int is_excused(server *own, client *of, int64_t now) {
    if (!of->is_welcome || of->is_ending) {
        if (has_spoken(own, of)) return 1;
    } else if (of->is_queued) {
        return 1;
    } else {
        if (!attend(own, of, of->lateness == ANSWER_UNREAD ? SYSTEM_WRITE : SYSTEM_READ)) return 0;
        if (of->limit == 0 || of->limit > now) return 1;
        atomic_fetch_add(&own->refused, 1);
    }
    part(own, of);
    return 0;
}

// Those whose limit is over.
static void dismiss(server *own) {
    int64_t now = own->limited > 0 ? platform_boot_clock() : 0;
    if (own->limited == 0 || now < own->looks_at) return;
    own->looks_at = INT64_MAX;
    client *next;
    for (client *each = own->clients; each != NULL; each = next) {
        next = each->next;
        if (each->limit != 0 && each->limit <= now && !is_excused(own, each, now)) continue;
        if (each->limit != 0 && each->limit < own->looks_at) own->looks_at = each->limit;
    }
}

static int is_of_client(const server *own, const void *what) {
    return what != &own->wake && what != &own->watch && what != &own->listener &&
           what != &own->tap && what != &own->bell;
}

static client *marked(void *what) {
    return ((uintptr_t)what & 1) != 0 ? (client *)(void *)((char *)what - 1) : NULL;
}

// How long nothing happens by time alone, ns, −1: however long; a second at most while others may change it.
static int64_t until_due(const server *own) {
    if (own->ready != NULL) return 0;
    if (own->is_deaf) return 100000000;
    int has_times = own->members > 0 || own->is_awaiting;
    if (!has_times && own->limited == 0) return -1;
    int64_t at = own->limited > 0 ? own->looks_at : INT64_MAX;
    if (has_times && own->due < at) at = own->due;
    int64_t left = at - platform_boot_clock();
    return left <= 0 ? 1 : left < 1000000000 ? left : 1000000000;
}

// Takes in what is ready, for which it waits so long, and does what is to be done.
static void pass(server *own, int milliseconds) {
    system_ready ready[EVENTS];
    int count = system_set_wait(own->set, ready, EVENTS, milliseconds);
    listen_again(own);
    for (int i = 0; i < count; i++) {
        client *ended = marked(ready[i].what);
        if (ended == NULL || ended->is_dead) continue;
        ended->is_dead = 1;
        own->dead++;
    }
    for (int i = 0; i < count; i++) {
        void *what = ready[i].what;
        if (marked(what) != NULL || (is_of_client(own, what) && ((client *)what)->is_dead))
            continue;
        if (what == &own->wake) system_bell_quiet(own->wake);
        else if (what == &own->watch) platform_watch_drain(own->watch);
        else if (what == &own->listener) meet(own);
        else if (what == &own->tap) tell_all(own);
        else if (what == &own->bell) tell_members(own);
        else attend(own, what, ready[i].events);
    }
    bury(own);
    dismiss(own);
    if (own->ready != NULL && !atomic_load(&own->is_stopping)) make_round(own);
    let_in(own);
    if (own->deaf_clients != own->client_count || own->deaf_welcome != own->welcome_count)
        listen_again(own);
    // The times of what members run are kept though nobody asks.
    if (own->members > 0 || own->is_awaiting)
        own->due = platform_boot_clock() + own->crews.tick(own->scheduler, &own->is_awaiting);
}

// It is the owner that leaves: what they run waits again as before the run.
static void part_all(server *own) {
    while (own->clients != NULL) {
        own->clients->has_left = 1;
        part(own, own->clients);
    }
}

static void run(void *context) {
    server *own = context;
    const place_of here = {own, NULL};
    serving = &here;
    while (!atomic_load(&own->is_stopping)) {
        int64_t left = until_due(own);
        pass(own, left < 0 ? -1 : (int)((left + 999999) / 1000000));
    }
    part_all(own);
}

// ---- Open and close ----

static void free_server(wire_entry *entry) {
    server *own = (server *)(void *)entry;
    if (own->set >= 0) close(own->set);
    if (own->wake >= 0) close(own->wake);
    if (own->bell >= 0) close(own->bell);
    if (own->watch != NULL) platform_watch_close(own->watch);
    pthread_mutex_destroy(&own->turn);
    pthread_mutex_destroy(&own->roll);
    free(own->path);
    free(own->rules);
    free(own->group);
    free(own);
}

static int32_t fail_path(service_failure *failure, const char *path, const char *what) {
    int error = errno;
    int is_short = error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
    return wire_fail(failure, is_short ? SELENE_ERROR_EXHAUSTED : SELENE_ERROR_INVALID_ARGUMENT,
                     "path", path, "%s: %s", what, strerror(error));
}

// The socket beside the store of a scheduler.
static int32_t default_path(uint64_t scheduler, char **out_path, service_failure *failure) {
    selene_store_info *info = NULL;
    selene_status status = selene_store_get(scheduler, &info);
    if (status != SELENE_OK) return wire_told(failure);
    if (info->path.length == 0) {
        selene_free(info);
        return wire_fail(failure, SELENE_ERROR_INVALID_ARGUMENT, "path", NULL,
                         "must be given, since the tasks live in memory");
    }
    if (asprintf(out_path, "%s-sock", info->path.data) < 0) abort();
    selene_free(info);
    return SELENE_OK;
}

// Whether somebody answers at an address.
static int is_served(const struct sockaddr_un *address) {
    int probe = system_socket();
    int answers = probe >= 0 &&
                  (connect(probe, (const void *)address, sizeof *address) == 0 || errno == EAGAIN);
    if (probe >= 0) close(probe);
    return answers;
}

static int32_t bind_at(server *own, uint32_t mode, service_failure *failure) {
    struct sockaddr_un address;
    struct stat found;
    int folder;
    int32_t status = wire_address(own->path, &address, &folder, failure);
    if (status > 0) return status;
    if (status < 0) return fail_path(failure, own->path, "its folder cannot be opened");
    if (lstat(own->path, &found) == 0) {
        if (!S_ISSOCK(found.st_mode))
            status = wire_fail(failure, SELENE_ERROR_ALREADY_EXISTS, "path", own->path,
                               "is there, and is not a socket; it was left as it is");
        else if (is_served(&address))
            status = wire_fail(failure, SELENE_ERROR_ALREADY_EXISTS, "path", own->path,
                               "another server answers there");
        else if (unlink(own->path) != 0 && errno != ENOENT)
            status = fail_path(failure, own->path, "the socket of an owner that is gone stays");
    }
    if (status == SELENE_OK) {
        own->listener = wire_socket();
        // Before it has a name, so that it never has more rights than it shall have.
        if (own->listener < 0 || fchmod(own->listener, mode) != 0 ||
            bind(own->listener, (const void *)&address, sizeof address) != 0)
            status = fail_path(failure, own->path, "no socket can be made there");
        else if (chmod(own->path, mode) != 0 || listen(own->listener, 4096) != 0 ||
                 lstat(own->path, &found) != 0) {
            status = fail_path(failure, own->path, "no socket can be made there");
            unlink(own->path);
        }
        own->has_made_socket = status == SELENE_OK;
        own->device = found.st_dev;
        own->inode = found.st_ino;
    }
    if (folder >= 0) close(folder);
    return status;
}

// A socket of the host's, which must be one that clients connect to.
static int32_t take_socket(server *own, int descriptor, service_failure *failure) {
    struct sockaddr_un address = {.sun_family = AF_UNSPEC};
    socklen_t length = sizeof address, of_number = sizeof(int);
    int type = 0, listens = 0;
    if (asprintf(&own->path, "descriptor %d", descriptor) < 0) abort();
    own->listener = wire_duplicate(descriptor);
    if (own->listener < 0 || getsockname(own->listener, (void *)&address, &length) != 0 ||
        getsockopt(own->listener, SOL_SOCKET, SO_TYPE, &type, &of_number) != 0 ||
        getsockopt(own->listener, SOL_SOCKET, SO_ACCEPTCONN, &listens, &of_number) != 0) {
        int error = errno;
        int is_short = error == EMFILE || error == ENFILE;
        return wire_fail(failure, is_short ? SELENE_ERROR_EXHAUSTED : SELENE_ERROR_INVALID_ARGUMENT,
                         "descriptor", NULL, "%d cannot be used: %s", descriptor, strerror(error));
    }
    if (address.sun_family != AF_UNIX || type != SOCK_STREAM || !listens)
        return wire_fail(failure, SELENE_ERROR_INVALID_ARGUMENT, "descriptor", NULL,
                         "%d must be a Unix stream socket that listens", descriptor);
    int flags = fcntl(own->listener, F_GETFL);
    if (flags < 0 || fcntl(own->listener, F_SETFL, flags | O_NONBLOCK) != 0)
        return fail_path(failure, own->path, "it cannot be made non-blocking");
    return SELENE_OK;
}

static void stop_thread(server *own) {
    atomic_store(&own->is_stopping, 1);
    platform_ring(own->wake);
    platform_thread_join(own->thread);
}

static int32_t start(server *own, int has_thread, service_failure *failure) {
    own->set = system_set_open();
    own->wake = system_bell_open();
    own->bell = system_bell_open();
    if (!has_thread) own->watch = platform_watch_open(PLATFORM_WATCH_TIME);
    if (own->set < 0 || own->wake < 0 || own->bell < 0 || (!has_thread && own->watch == NULL) ||
        !system_set_add(own->set, own->listener, SYSTEM_READ, &own->listener))
        return fail_path(failure, own->path, "it cannot be watched");
    system_set_add(own->set, own->wake, SYSTEM_READ, &own->wake);
    system_set_add(own->set, own->bell, SYSTEM_READ, &own->bell);
    own->entry.destroy = free_server;
    if (has_thread) {
        own->thread =
            platform_thread_start("selene/server", run, own, platform_signals_of_processes(), 0, 0);
        if (own->thread == 0)
            return wire_fail(failure, SELENE_ERROR_EXHAUSTED, "server", NULL,
                             "the system refused to start a thread");
    } else {
        system_set_add(own->set, platform_watch_descriptor(own->watch), SYSTEM_READ, &own->watch);
        // The first step is due.
        platform_watch_poke(own->watch);
    }
    // Before it can be found, and so ended.
    atomic_fetch_add(&servers_open, 1);
    atomic_fetch_add(&servers_stepped, !has_thread);
    int32_t status = wire_enter(&own->entry, WIRE_SERVER, failure);
    if (status == SELENE_OK) return status;
    atomic_fetch_sub(&servers_open, 1);
    atomic_fetch_sub(&servers_stepped, !has_thread);
    if (has_thread) stop_thread(own);
    return status;
}

static void remove_socket(const server *own) {
    struct stat found;
    if (!own->has_made_socket) return;
    // Another process may have put its own there.
    if (lstat(own->path, &found) == 0 && found.st_dev == own->device && found.st_ino == own->inode)
        unlink(own->path);
}

int32_t service_open(uint64_t scheduler, const service_terms *terms, const service_taps *taps,
                     const service_crews *crews, uint64_t *out_server, int32_t *out_fd,
                     service_failure *failure) {
    int32_t status = SELENE_OK;
    server *own = calloc(1, sizeof *own);
    if (own == NULL) abort();
    own->scheduler = scheduler;
    own->taps = *taps;
    own->crews = *crews;
    own->listener = own->set = own->wake = own->bell = -1;
    // Until it has asked.
    own->is_awaiting = 1;
    own->looks_at = INT64_MAX;
    pthread_mutex_init(&own->roll, NULL);
    pthread_mutex_init(&own->turn, NULL);
    own->max_clients = terms->max_clients;
    own->max_frame = terms->max_frame;
    own->time_limit = terms->patience;
    own->rule_count = terms->rule_count;
    own->rules = calloc(terms->rule_count + 1, sizeof *own->rules);
    own->group = calloc(GROUP_MOST + 1, sizeof *own->group);
    if (own->rules == NULL || own->group == NULL) abort();
    if (terms->rule_count > 0)
        memcpy(own->rules, terms->rules, terms->rule_count * sizeof *own->rules);
    if (terms->descriptor >= 0) {
        status = take_socket(own, terms->descriptor, failure);
    } else if (terms->path_length > 0) {
        // The process may go to another folder.
        char folder[PLATFORM_PATH_SIZE];
        int is_whole = terms->path[0] == '/';
        if (!is_whole && getcwd(folder, sizeof folder) == NULL) folder[0] = 0;
        if (asprintf(&own->path, "%s%s%.*s", is_whole ? "" : folder, is_whole ? "" : "/",
                     (int)terms->path_length, terms->path) < 0)
            abort();
    } else {
        status = default_path(scheduler, &own->path, failure);
    }
    if (status == SELENE_OK && terms->descriptor < 0) status = bind_at(own, terms->mode, failure);
    if (status == SELENE_OK) {
        status = start(own, terms->has_thread, failure);
        if (status != SELENE_OK) remove_socket(own);
    }
    if (status == SELENE_OK) {
        *out_server = own->entry.handle;
        if (out_fd != NULL) *out_fd = own->set;
        wire_leave(&own->entry);
        return status;
    }
    wire_close(own->listener, own->has_made_socket);
    free_server(&own->entry);
    return status;
}

_Static_assert(PLATFORM_FAULT_SIZE == 5 * 256 + sizeof(selene_error),
               "five texts and the struct, as SeleneABI lays them out");

static void step(server *own, int milliseconds, int64_t *out_wake_at) {
    const place_of here = {own, serving};
    char told[PLATFORM_DETAIL_SIZE + PLATFORM_FAULT_SIZE];
    // What is refused to a client is nothing that a call of the host left.
    memcpy(told, platform_detail(), sizeof told);
    serving = &here;
    pass(own, milliseconds);
    serving = here.before;
    memcpy(platform_detail(), told, sizeof told);
    int64_t left = until_due(own);
    platform_watch_set_timer(own->watch, left);
    if (out_wake_at == NULL) return;
    *out_wake_at = SELENE_NEVER;
    if (left >= 0 && selene_scheduler_now(own->scheduler, out_wake_at) == SELENE_OK)
        *out_wake_at = *out_wake_at > SELENE_NEVER - left ? SELENE_NEVER : *out_wake_at + left;
}

int32_t service_step(uint64_t handle, int64_t *out_wake_at, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_SERVER, failure);
    if (entry == NULL) return failure->status;
    server *own = (server *)(void *)entry;
    int32_t status = SELENE_OK;
    if (own->watch == NULL) {
        status =
            wire_fail(failure, SELENE_ERROR_UNSUPPORTED, "server", NULL,
                      "a thread of the library serves; selene_server_open opens one for steps");
    } else if (is_served_here(own)) {
        status = wire_fail(failure, SELENE_ERROR_REENTRANT, "server", NULL,
                           "a callback that a step of it calls cannot step it");
    } else if (pthread_mutex_trylock(&own->turn) != 0) {
        status = wire_fail(failure, SELENE_ERROR_BUSY, "server", NULL, "another thread steps it");
    } else {
        if (atomic_load(&own->is_stopping))
            status = wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, "server", NULL,
                               "was closed meanwhile");
        else step(own, 0, out_wake_at);
        pthread_mutex_unlock(&own->turn);
    }
    wire_leave(entry);
    return status;
}

int32_t service_census_of(uint64_t handle, service_census *out_census, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_SERVER, failure);
    if (entry == NULL) return failure->status;
    server *own = (server *)(void *)entry;
    *out_census = (service_census){atomic_load(&own->census_clients), atomic_load(&own->accepted),
                                   atomic_load(&own->requests), atomic_load(&own->refused),
                                   atomic_load(&own->broken)};
    wire_leave(entry);
    return SELENE_OK;
}

// ---- Who is connected ----

typedef struct census {
    uint64_t scheduler;
    selene_client *found;
    uint64_t *members;
    uint64_t count, room;
    // Pools and commands, two of each found.
    char **texts;
    service_crews crews;
} census;

static void count_clients(wire_entry *entry, void *context) {
    server *own = (server *)(void *)entry;
    census *into = context;
    if (own->scheduler != into->scheduler) return;
    into->crews = own->crews;
    pthread_mutex_lock(&own->roll);
    for (const client *each = own->clients; each != NULL; each = each->next) {
        if (!each->is_welcome) continue;
        if (into->count == into->room) {
            into->room = into->room * 2 + 16;
            into->found = realloc(into->found, into->room * sizeof *into->found);
            into->members = realloc(into->members, into->room * sizeof *into->members);
            into->texts = realloc(into->texts, 2 * into->room * sizeof *into->texts);
            if (into->found == NULL || into->members == NULL || into->texts == NULL) abort();
        }
        selene_client *made = &into->found[into->count];
        memset(made, 0, sizeof *made);
        made->process = (uint32_t)each->peer.process;
        made->user = each->peer.user;
        made->rights = each->rights;
        made->version = each->library;
        made->requests = each->requests;
        into->members[into->count] = each->member;
        into->texts[2 * into->count] = strdup(each->member != 0 ? each->pool : "");
        if (into->texts[2 * into->count] == NULL) abort();
        into->count++;
    }
    pthread_mutex_unlock(&own->roll);
}

// The command of a process, its arguments parted by spaces.
static char *command_of(uint32_t process) {
    char text[256];
    ssize_t length = system_process_command((int32_t)process, text, sizeof text - 1);
    if (length < 0) length = 0;
    while (length > 0 && text[length - 1] == 0)
        length--;
    for (ssize_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ') text[i] = ' ';
    // The cut is between two characters.
    while (length == sizeof text - 1 && length > 0 && (text[length - 1] & 0x80) != 0)
        length--;
    char *made = strndup(text, (size_t)length);
    if (made == NULL) abort();
    return made;
}

void *service_clients(uint64_t scheduler) {
    census own = {.scheduler = scheduler};
    wire_each(WIRE_SERVER, count_clients, &own);
    size_t behind = 0;
    for (uint64_t i = 0; i < own.count; i++) {
        own.texts[2 * i + 1] = command_of(own.found[i].process);
        behind += strlen(own.texts[2 * i]) + strlen(own.texts[2 * i + 1]) + 2;
        if (own.members[i] != 0)
            own.crews.census(scheduler, own.members[i], &own.found[i].handlers, &own.found[i].runs);
    }
    selene_clients *made = malloc(sizeof *made + own.count * sizeof *own.found + behind);
    if (made == NULL) abort();
    selene_client *clients = (selene_client *)(void *)(made + 1);
    *made = (selene_clients){sizeof *made, 0, clients, own.count};
    char *text = (char *)(clients + own.count);
    for (uint64_t i = 0; i < own.count; i++) {
        clients[i] = own.found[i];
        for (int which = 0; which < 2; which++) {
            size_t length = strlen(own.texts[2 * i + which]);
            memcpy(text, own.texts[2 * i + which], length + 1);
            free(own.texts[2 * i + which]);
            *(which == 0 ? &clients[i].pool : &clients[i].command) =
                (selene_text){text, (int64_t)length};
            text += length + 1;
        }
    }
    free(own.found);
    free(own.members);
    free(own.texts);
    return made;
}

// Ends a server: the request that is being answered is, then its clients are told by the end of their connection. 0: another
// thread does that.
static int end(wire_entry *entry) {
    server *own = (server *)(void *)entry;
    if (!wire_retire(entry, 1)) return 0;
    remove_socket(own);
    if (own->watch == NULL) {
        stop_thread(own);
    } else {
        const place_of here = {own, serving};
        pthread_mutex_lock(&own->turn);
        atomic_store(&own->is_stopping, 1);
        serving = &here;
        part_all(own);
        serving = here.before;
        pthread_mutex_unlock(&own->turn);
        atomic_fetch_sub(&servers_stepped, 1);
    }
    wire_close(own->listener, own->has_made_socket);
    own->listener = -1;
    // Behind its last act: whoever closes the scheduler looks at no server while there is none.
    atomic_fetch_sub(&servers_open, 1);
    wire_gone(entry);
    return 1;
}

int32_t service_close(uint64_t handle, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_SERVER, failure);
    if (entry == NULL) return failure->status;
    server *own = (server *)(void *)entry;
    int32_t status = SELENE_OK;
    if (is_served_here(own))
        status = wire_fail(failure, SELENE_ERROR_REENTRANT, "server", NULL,
                           "a callback that it calls itself cannot close it");
    else if (!end(entry))
        status = wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, "server", NULL,
                           "another thread has closed it");
    wire_leave(entry);
    return status;
}

typedef struct serving_for {
    uint64_t scheduler;
    int milliseconds, served;
} serving_for;

static void serve_of(wire_entry *entry, void *context) {
    server *own = (server *)(void *)entry;
    serving_for *how = context;
    if (own->scheduler != how->scheduler || own->watch == NULL || is_served_here(own) ||
        pthread_mutex_trylock(&own->turn) != 0)
        return;
    if (!atomic_load(&own->is_stopping)) {
        int64_t left = until_due(own);
        int most = left < 0 || left > how->milliseconds * INT64_C(1000000)
                       ? how->milliseconds
                       : (int)((left + 999999) / 1000000);
        step(own, most, NULL);
        how->served = 1;
    }
    pthread_mutex_unlock(&own->turn);
}

int32_t service_serve(uint64_t scheduler, int64_t nanoseconds) {
    if (nanoseconds == 0) return atomic_load(&servers_stepped) > 0;
    // Short, since what else ends meanwhile does not wake who waits here.
    int64_t most = nanoseconds / 1000000 + 1;
    serving_for how = {scheduler, most < 1 ? 1 : most > 10 ? 10 : (int)most, 0};
    wire_each(WIRE_SERVER, serve_of, &how);
    return how.served;
}

static void end_of(wire_entry *entry, void *context) {
    if (((server *)(void *)entry)->scheduler == *(const uint64_t *)context) end(entry);
}

static int is_server_of(const wire_entry *entry, void *context) {
    return ((const server *)(const void *)entry)->scheduler == *(const uint64_t *)context;
}

void service_end(uint64_t scheduler) {
    if (atomic_load(&servers_open) == 0) return;
    wire_each(WIRE_SERVER, end_of, &scheduler);
    // Also for those that other threads are just ending.
    wire_await_gone(is_server_of, &scheduler);
}
