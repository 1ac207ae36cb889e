// The owner's side: one thread that takes requests from a socket and makes the calls.

#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVENTS = 256,
    // Bytes that are read of one client before others have their turn.
    READ_MOST = 256 * 1024,
    // Registrations that share a commit.
    GROUP_MOST = 1024,
    // Bytes of events that a client is sent at a time.
    TELL_MOST = 32 * 1024
};

typedef struct client {
    int descriptor;
    uint32_t rights;
    struct ucred peer;
    int is_welcome;
    // It is over as soon as what was said to it is sent.
    int is_ending;
    int is_queued;
    // What it said and what it is told; told is sent up to sent.
    unsigned char *in;
    size_t have, room;
    wire out;
    size_t sent;
    // Of which request events are further answers, and how far it has been told; a capacity of 0: of none.
    uint64_t events_request;
    telling_place told;
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
    int listener, epoll, wake;
    uint64_t thread;
    uint32_t max_clients;
    uint64_t max_frame;
    service_rule *rules;
    uint64_t rule_count;
    client *clients;
    uint64_t client_count;
    client *ready;
    waiting *group;
    size_t group_count;
    // Events, while a client wants to be told of them; how many of them do, and the most that one lets wait.
    service_taps taps;
    telling *telling;
    int tap;
    uint64_t listeners, patience;
    // While descriptors are short nobody is accepted until one leaves.
    int is_deaf;
    atomic_int is_stopping;
    atomic_uint_fast64_t census_clients, accepted, requests, refused, broken;
} server;

static atomic_int servers_open;
// The server whose thread this is.
static _Thread_local const server *serving;

// ---- Answers ----

static void send_out(server *own, client *to);

static void answer_begin(client *to, wire_head head) {
    to->out.most = WIRE_ANSWER_MOST;
    wire_begin(&to->out, head.operation, head.request);
}

static void refuse(client *to, wire_head head, const service_failure *failure) {
    selene_fault fault;
    size_t begun = to->out.length;
    wire_fault(failure, &fault);
    answer_begin(to, head);
    wire_refusal(&to->out, &fault, failure->texts[0]);
    wire_finish(&to->out, begun, (uint16_t)failure->status);
}

// A call's answer: its results, or what this thread's refused call left.
static void answer(client *to, wire_head head, const wire_operation *operation,
                   const wire_word *words, selene_status status) {
    size_t begun = to->out.length;
    answer_begin(to, head);
    if (status == SELENE_OK) wire_answer(&to->out, operation, words);
    else wire_refusal(&to->out, selene_status_fault(), selene_status_detail());
    if (to->out.has_failed) {
        service_failure failure;
        to->out.has_failed = 0;
        to->out.length = begun;
        wire_fail(&failure, SELENE_ERROR_TOO_LARGE, "answer", NULL,
                  "longer than the %llu bytes of a frame", (unsigned long long)WIRE_ANSWER_MOST);
        refuse(to, head, &failure);
        return;
    }
    wire_finish(&to->out, begun, (uint16_t)status);
}

// ---- Rights ----

static uint32_t rights_of(const server *own, const struct ucred *peer) {
    uint32_t rights = 0;
    if (peer->uid == geteuid() || peer->uid == 0) return SELENE_RIGHT_ALL;
    for (uint64_t i = 0; i < own->rule_count; i++) {
        const service_rule *rule = &own->rules[i];
        if (rule->uid != UINT32_MAX && rule->uid != peer->uid) continue;
        if (rule->gid != UINT32_MAX && rule->gid != peer->gid) continue;
        rights |= rule->rights;
    }
    return rights;
}

static const char *right_name(uint32_t right) {
    return right == SELENE_RIGHT_LOOK      ? "SELENE_RIGHT_LOOK"
           : right == SELENE_RIGHT_READ    ? "SELENE_RIGHT_READ"
           : right == SELENE_RIGHT_ENQUEUE ? "SELENE_RIGHT_ENQUEUE"
                                           : "SELENE_RIGHT_MANAGE";
}

// ---- Requests ----

static void hello(server *own, client *from, wire_head head, const unsigned char *body,
                  size_t length) {
    service_failure failure;
    wire_hello said;
    if (length < sizeof said || memcmp(body, &(uint64_t){WIRE_MAGIC}, 8) != 0) {
        atomic_fetch_add(&own->broken, 1);
        wire_fail(&failure, SELENE_ERROR_INVALID_ARGUMENT, "frame", NULL,
                  "the first frame is not the hello of a Selene client of this kind of machine");
        refuse(from, head, &failure);
        from->is_ending = 1;
        return;
    }
    memcpy(&said, body, sizeof said);
    int32_t status = SELENE_OK;
    if (said.lowest > WIRE_PROTOCOL || said.highest < WIRE_PROTOCOL)
        status =
            wire_fail(&failure, SELENE_ERROR_UNSUPPORTED, "protocol", NULL,
                      "process %d (library %s) speaks %d, the client (library %u.%u.%u) "
                      "%u to %u",
                      (int)getpid(), selene_version_string(), WIRE_PROTOCOL, said.library / 1000000,
                      said.library / 1000 % 1000, said.library % 1000, said.lowest, said.highest);
    else if (from->rights == 0)
        status = wire_fail(&failure, SELENE_ERROR_REFUSED, "user", NULL,
                           "%u has no rights at process %d, which belongs to user %u",
                           from->peer.uid, (int)getpid(), geteuid());
    else if (own->client_count > own->max_clients)
        status = wire_fail(&failure, SELENE_ERROR_EXHAUSTED, "clients", NULL,
                           "%u are connected to process %d, which is the most", own->max_clients,
                           (int)getpid());
    if (status != SELENE_OK) {
        atomic_fetch_add(&own->refused, 1);
        refuse(from, head, &failure);
        from->is_ending = 1;
        return;
    }
    wire_welcome welcome = {WIRE_MAGIC,         WIRE_PROTOCOL, selene_version_number(),
                            (uint32_t)getpid(), from->rights,  own->max_frame};
    size_t begun = from->out.length;
    answer_begin(from, head);
    wire_put(&from->out, &welcome, sizeof welcome);
    wire_finish(&from->out, begun, 0);
    from->is_welcome = 1;
}

static void blank_input(wire_word word) {
    selene_task_info *info;
    memcpy(&info, word.pointer, sizeof info);
    info->input.length = 0;
}

static void watch_tap(server *own, int what) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &own->tap};
    epoll_ctl(own->epoll, what, own->tap, &event);
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
        watch_tap(own, EPOLL_CTL_ADD);
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
    watch_tap(own, EPOLL_CTL_DEL);
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

static void call(server *own, waiting *request, const wire_operation *operation) {
    selene_status status = operation->call(own->scheduler, request->words);
    if (status == SELENE_OK && operation->number == SERVICE_TASK_GET &&
        (request->from->rights & SELENE_RIGHT_READ) == 0)
        blank_input(request->words[3]);
    answer(request->from, request->head, operation, request->words, status);
    wire_release(operation, &request->scratch);
}

// One frame; what it says lies in the client's buffer until the round is over.
static void serve(server *own, client *from, wire_head head, unsigned char *body, size_t length) {
    service_failure failure;
    wire_reader reader = {body, body + length};
    atomic_fetch_add(&own->requests, 1);
    if (!from->is_welcome) {
        hello(own, from, head, body, length);
        return;
    }
    const wire_operation *operation = wire_find(head.operation);
    if (operation == NULL) {
        wire_fail(&failure, SELENE_ERROR_UNSUPPORTED, "operation", NULL,
                  "%u is not known to process %d (library %s)", head.operation, (int)getpid(),
                  selene_version_string());
        refuse(from, head, &failure);
        return;
    }
    if ((from->rights & operation->right) == 0) {
        atomic_fetch_add(&own->refused, 1);
        wire_fail(&failure, SELENE_ERROR_REFUSED, "user", NULL,
                  "%u has not the right that this needs at process %d: %s", from->peer.uid,
                  (int)getpid(), right_name(operation->right));
        refuse(from, head, &failure);
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
        from->is_ending = 1;
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
        answer(request->from, request->head, operation, request->words, all);
        wire_release(operation, &request->scratch);
    }
}

// ---- Clients ----

static void watch(server *own, client *of, int what, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = of};
    epoll_ctl(own->epoll, what, of->descriptor, &event);
}

static void part(server *own, client *from) {
    stop_telling(own, from);
    for (client **at = &own->ready; from->is_queued && *at != NULL; at = &(*at)->queue) {
        if (*at != from) continue;
        *at = from->queue;
        break;
    }
    if (from->previous != NULL) from->previous->next = from->next;
    else own->clients = from->next;
    if (from->next != NULL) from->next->previous = from->previous;
    own->client_count--;
    atomic_store(&own->census_clients, own->client_count);
    // A child that is just being forked may hold it for a moment more, and then closing it does not do this.
    epoll_ctl(own->epoll, EPOLL_CTL_DEL, from->descriptor, NULL);
    wire_close(from->descriptor);
    free(from->in);
    free(from->out.data);
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
    from->is_ending = 1;
    return 0;
}

// Reads what is there; 0 when the client is gone.
static int hear(server *own, client *from) {
    for (size_t heard = 0; heard < READ_MOST && !from->is_ending && !has_frame(from);) {
        if (from->have == from->room) {
            from->room = from->room == 0 ? 4096 : from->room * 2;
            from->in = realloc(from->in, from->room);
            if (from->in == NULL) abort();
        }
        ssize_t count = recv(from->descriptor, from->in + from->have, from->room - from->have, 0);
        if (count == 0) return 0;
        if (count < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN) break;
            return 0;
        }
        from->have += (size_t)count;
        heard += (size_t)count;
        if (!check_head(own, from)) break;
    }
    return 1;
}

static void send_out(server *own, client *to) {
    while (to->sent < to->out.length) {
        ssize_t count = send(to->descriptor, to->out.data + to->sent, to->out.length - to->sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) {
            // Nothing more is read of it until it has taken this.
            watch(own, to, EPOLL_CTL_MOD, EPOLLOUT);
            return;
        }
        if (count < 0) {
            to->is_ending = 1;
            to->out.length = to->sent = 0;
            return;
        }
        to->sent += (size_t)count;
    }
    if (to->out.room > 65536) {
        free(to->out.data);
        to->out = (wire){0};
    }
    to->out.length = to->sent = 0;
}

static void consume(client *from, size_t length) {
    from->have -= length;
    memmove(from->in, from->in + length, from->have);
    if (from->room > 65536 && from->have == 0) {
        free(from->in);
        from->in = NULL;
        from->room = 0;
    }
}

static void meet(server *own) {
    for (;;) {
        int descriptor = wire_accept(own->listener);
        if (descriptor < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno == EAGAIN) return;
            // Without a descriptor for it a client waits until another has left.
            struct epoll_event none = {.events = 0, .data.ptr = &own->listener};
            epoll_ctl(own->epoll, EPOLL_CTL_MOD, own->listener, &none);
            own->is_deaf = 1;
            return;
        }
        client *made = calloc(1, sizeof *made);
        if (made == NULL) abort();
        socklen_t size = sizeof made->peer;
        made->descriptor = descriptor;
        if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &made->peer, &size) == 0)
            made->rights = rights_of(own, &made->peer);
        made->next = own->clients;
        if (made->next != NULL) made->next->previous = made;
        own->clients = made;
        own->client_count++;
        atomic_store(&own->census_clients, own->client_count);
        atomic_fetch_add(&own->accepted, 1);
        watch(own, made, EPOLL_CTL_ADD, EPOLLIN);
    }
}

static void listen_again(server *own) {
    if (!own->is_deaf) return;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &own->listener};
    epoll_ctl(own->epoll, EPOLL_CTL_MOD, own->listener, &event);
    own->is_deaf = 0;
}

// Each client that has said something has one frame served, in one commit; then what came of it is sent.
static void make_round(server *own) {
    client *round = own->ready, *each;
    own->ready = NULL;
    for (each = round; each != NULL; each = each->queue) {
        wire_head head;
        memcpy(&head, each->in, sizeof head);
        serve(own, each, head, each->in + sizeof head, head.length - sizeof head);
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
        consume(each, head.length);
        if (!each->is_ending) check_head(own, each);
        send_out(own, each);
        tell(own, each);
        if (each->is_ending && each->out.length == each->sent) part(own, each);
        else if (!each->is_ending) queue(own, each);
    }
}

static void attend(server *own, client *of, uint32_t events) {
    if (events & EPOLLOUT) {
        send_out(own, of);
        tell(own, of);
        if (of->out.length == of->sent && !of->is_ending) watch(own, of, EPOLL_CTL_MOD, EPOLLIN);
    } else if (!hear(own, of)) {
        part(own, of);
        return;
    } else {
        send_out(own, of);
    }
    if (of->is_ending && of->out.length == of->sent) part(own, of);
    else if (!of->is_ending) queue(own, of);
}

static void run(void *context) {
    server *own = context;
    struct epoll_event events[EVENTS];
    serving = own;
    while (!atomic_load(&own->is_stopping)) {
        int count = epoll_wait(own->epoll, events, EVENTS,
                               own->ready != NULL ? 0
                               : own->is_deaf     ? 100
                                                  : -1);
        listen_again(own);
        for (int i = 0; i < count; i++) {
            void *what = events[i].data.ptr;
            if (what == &own->wake) continue;
            if (what == &own->listener) meet(own);
            else if (what == &own->tap) tell_all(own);
            else attend(own, what, events[i].events);
        }
        if (own->ready != NULL && !atomic_load(&own->is_stopping)) make_round(own);
    }
    while (own->clients != NULL)
        part(own, own->clients);
}

// ---- Open and close ----

static void free_server(wire_entry *entry) {
    server *own = (server *)(void *)entry;
    if (own->epoll >= 0) close(own->epoll);
    if (own->wake >= 0) close(own->wake);
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
        selene_store_info_destroy(info);
        return wire_fail(failure, SELENE_ERROR_INVALID_ARGUMENT, "path", NULL,
                         "must be given, since the tasks live in memory");
    }
    if (asprintf(out_path, "%s-sock", info->path.data) < 0) abort();
    selene_store_info_destroy(info);
    return SELENE_OK;
}

// Whether somebody answers at an address.
static int is_served(const struct sockaddr_un *address) {
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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
        own->device = found.st_dev;
        own->inode = found.st_ino;
    }
    if (folder >= 0) close(folder);
    return status;
}

static void stop_thread(server *own) {
    uint64_t one = 1;
    atomic_store(&own->is_stopping, 1);
    while (write(own->wake, &one, sizeof one) < 0 && errno == EINTR) {
    }
    platform_thread_join(own->thread);
}

static int32_t start(server *own, service_failure *failure) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &own->listener};
    own->epoll = epoll_create1(EPOLL_CLOEXEC);
    own->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (own->epoll < 0 || own->wake < 0 ||
        epoll_ctl(own->epoll, EPOLL_CTL_ADD, own->listener, &event) != 0)
        return fail_path(failure, own->path, "it cannot be watched");
    event.data.ptr = &own->wake;
    epoll_ctl(own->epoll, EPOLL_CTL_ADD, own->wake, &event);
    own->thread =
        platform_thread_start("selene/server", run, own, platform_signals_of_processes(), 0, 0);
    if (own->thread == 0)
        return wire_fail(failure, SELENE_ERROR_EXHAUSTED, "server", NULL,
                         "the system refused to start a thread");
    own->entry.destroy = free_server;
    int32_t status = wire_enter(&own->entry, WIRE_SERVER, failure);
    if (status != SELENE_OK) stop_thread(own);
    else atomic_fetch_add(&servers_open, 1);
    return status;
}

static void remove_socket(const server *own) {
    struct stat found;
    // Another process may have put its own there.
    if (lstat(own->path, &found) == 0 && found.st_dev == own->device && found.st_ino == own->inode)
        unlink(own->path);
}

int32_t service_open(uint64_t scheduler, const service_terms *terms, const service_taps *taps,
                     uint64_t *out_server, service_failure *failure) {
    int32_t status = SELENE_OK;
    server *own = calloc(1, sizeof *own);
    if (own == NULL) abort();
    own->scheduler = scheduler;
    own->taps = *taps;
    own->listener = own->epoll = own->wake = -1;
    own->max_clients = terms->max_clients;
    own->max_frame = terms->max_frame;
    own->rule_count = terms->rule_count;
    own->rules = calloc(terms->rule_count + 1, sizeof *own->rules);
    own->group = calloc(GROUP_MOST + 1, sizeof *own->group);
    if (own->rules == NULL || own->group == NULL) abort();
    if (terms->rule_count > 0)
        memcpy(own->rules, terms->rules, terms->rule_count * sizeof *own->rules);
    if (terms->path_length > 0) {
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
    if (status == SELENE_OK) status = bind_at(own, terms->mode, failure);
    if (status == SELENE_OK) {
        status = start(own, failure);
        if (status != SELENE_OK) remove_socket(own);
    }
    if (status == SELENE_OK) {
        *out_server = own->entry.handle;
        wire_leave(&own->entry);
        return status;
    }
    wire_close(own->listener);
    free_server(&own->entry);
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

// Ends a server: the request that is being answered is, then its clients are told by the end of their connection.
static void end(wire_entry *entry, void *unused) {
    server *own = (server *)(void *)entry;
    (void)unused;
    if (!wire_retire(entry)) return;
    atomic_fetch_sub(&servers_open, 1);
    remove_socket(own);
    stop_thread(own);
    wire_close(own->listener);
    own->listener = -1;
}

int32_t service_close(uint64_t handle, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_SERVER, failure);
    if (entry == NULL) return failure->status;
    server *own = (server *)(void *)entry;
    int32_t status = SELENE_OK;
    if (serving == own)
        status = wire_fail(failure, SELENE_ERROR_REENTRANT, "server", NULL,
                           "a callback that it called itself cannot close it");
    else end(entry, NULL);
    wire_leave(entry);
    return status;
}

static void end_of(wire_entry *entry, void *context) {
    if (((server *)(void *)entry)->scheduler == *(const uint64_t *)context) end(entry, NULL);
}

void service_end(uint64_t scheduler) {
    if (atomic_load(&servers_open) > 0) wire_each(WIRE_SERVER, end_of, &scheduler);
}
