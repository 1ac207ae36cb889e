// A client's side: a handle whose calls are made by the owner of a store, in another process.

#include "connect.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

// What a close has to say is answered within this time behind its grace.
#define LAST_SECOND INT64_C(1000000000)

connection *connection_new(char *path, int64_t wait, int64_t timeout, int64_t server_user) {
    connection *own = calloc(1, sizeof *own);
    if (own == NULL) abort();
    own->path = path;
    own->wait = wait;
    own->timeout = timeout;
    own->server_user = server_user;
    own->descriptor = -1;
    own->set = -1;
    atomic_store(&own->bell, -1);
    atomic_store(&own->ends_at, INT64_MAX);
    pthread_mutex_init(&own->turn, NULL);
    pthread_mutex_init(&own->listening, NULL);
    return own;
}

void connection_free(connection *own) {
    wire_close(own->descriptor, 1);
    member_free(own);
    if (own->bell >= 0) close(own->bell);
    if (own->set >= 0) close(own->set);
    if (own->end != NULL) own->end(own->context);
    pthread_mutex_destroy(&own->turn);
    pthread_mutex_destroy(&own->listening);
    free(own->path);
    free(own->in);
    free(own);
}

static void free_entry(wire_entry *entry) {
    connection_free((connection *)(void *)entry);
}

void connection_take_turn(connection *own) {
    pthread_mutex_lock(&own->turn);
    if (!own->is_in_set || !atomic_load(&own->is_read)) return;
    own->is_muted = system_set_change(own->set, own->descriptor, 0, &own->descriptor);
}

void connection_give_turn(connection *own) {
    if (own->is_muted && own->is_in_set)
        system_set_change(own->set, own->descriptor, SYSTEM_READ, &own->descriptor);
    own->is_muted = 0;
    pthread_mutex_unlock(&own->turn);
}

void connection_drop(connection *own) {
    // A child that was forked may have it open still.
    if (own->is_in_set) system_set_remove(own->set, own->descriptor);
    own->is_in_set = 0;
    wire_close(own->descriptor, 1);
    member_lost(own);
    own->descriptor = -1;
}

// ---- Bytes ----

// Waits until something can be read or written; 0 when the time is over or the handle was closed.
static int ready(connection *own, short what, int64_t until) {
    for (;;) {
        int64_t now = platform_boot_clock(), left = until - now;
        if (left <= 0 || atomic_load(&own->is_closed) ||
            now - LAST_SECOND >= atomic_load(&own->ends_at))
            return 0;
        // Woken now and then, so that a close by another thread is noticed.
        int64_t step = left < 100000000 ? left / 1000000 + 1 : 100;
        struct pollfd polled = {own->descriptor, what, 0};
        if (poll(&polled, 1, (int)step) > 0) return 1;
    }
}

// All bytes one way or the other; *done says how many were.
static int transfer(connection *own, unsigned char *bytes, size_t length, int is_sending,
                    int64_t until, size_t *done) {
    for (*done = 0; *done < length;) {
        ssize_t count = is_sending
                            ? system_send(own->descriptor, bytes + *done, length - *done)
                            : recv(own->descriptor, bytes + *done, length - *done, MSG_DONTWAIT);
        if (count > 0) {
            *done += (size_t)count;
            continue;
        }
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) errno = 0;
        if (count == 0 || errno != EAGAIN) return 0;
        if (!ready(own, is_sending ? POLLOUT : POLLIN, until)) {
            errno = ETIMEDOUT;
            return 0;
        }
    }
    return 1;
}

// One frame into own->in; 0 and errno if none comes.
static int take_frame(connection *own, int64_t until) {
    wire_head head;
    size_t done;
    if (!transfer(own, (unsigned char *)&head, sizeof head, 0, until, &done)) return 0;
    if (head.length < sizeof head || head.length > WIRE_ANSWER_MOST || head.length % 8 != 0) {
        errno = EPROTO;
        return 0;
    }
    // As it comes: what an answer says of its length is no reason to have memory for it.
    size_t whole = head.length, have = sizeof head;
    while (have < whole) {
        size_t piece = whole - have < 1 << 20 ? whole - have : 1 << 20;
        if (own->room < have + piece) {
            own->room = have + piece;
            own->in = realloc(own->in, own->room);
            if (own->in == NULL) abort();
        }
        if (!transfer(own, own->in + have, piece, 0, until, &done)) return 0;
        have += piece;
    }
    if (own->room < have) {
        own->room = 4096;
        own->in = realloc(own->in, own->room);
        if (own->in == NULL) abort();
    }
    memcpy(own->in, &head, sizeof head);
    return 1;
}

// Whether the frame in own->in is news, which it takes in then.
static int is_news(connection *own) {
    wire_head head;
    memcpy(&head, own->in, sizeof head);
    // The first answer to that request is empty, or a refusal.
    if (own->news_request == 0 || head.request != own->news_request || head.status != SELENE_OK ||
        head.length == sizeof head)
        return 0;
    member_told(own, own->in + sizeof head, head.length - sizeof head);
    return 1;
}

int connection_exchange(connection *own, wire *request, int *is_untouched) {
    int64_t until = platform_boot_clock() + own->timeout;
    wire_head asked, head;
    size_t done;
    memcpy(&asked, request->data, sizeof asked);
    int is_sent = transfer(own, request->data, request->length, 1, until, &done);
    // Of a request that did not come whole nothing is done.
    *is_untouched = !is_sent;
    do {
        if (!take_frame(own, until)) return 0;
    } while (is_news(own));
    memcpy(&head, own->in, sizeof head);
    if (head.request != asked.request || head.operation != asked.operation) {
        errno = EPROTO;
        return 0;
    }
    return 1;
}

int connection_hear(connection *own) {
    char byte;
    for (;;) {
        ssize_t count = recv(own->descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return 1;
        // Without a request that is under way nothing else than news can come.
        if (count <= 0 || own->news_request == 0 ||
            !take_frame(own, platform_boot_clock() + own->timeout) || !is_news(own))
            return 0;
    }
}

// ---- The owner ----

const char *connection_words(int error) {
    switch (error) {
    case 0:
        return "its owner ended the connection";
    case ECONNRESET:
    case EPIPE:
        return "its owner ended the connection";
    case EAGAIN: // its queue of connections has no room, which it empties while it runs
    case ETIMEDOUT:
        return "its owner did not answer in time";
    case EPROTO:
        return "the process that answers is not the owner of a store, or runs on another kind of "
               "machine";
    case ENOENT:
        return "no process serves it";
    case ECONNREFUSED:
        return "no process serves it any more";
    default:
        return strerror(error);
    }
}

// The same of what a path leads to, where that may be the wrong one.
static const char *words_of_path(const connection *own, int error) {
    struct stat found;
    if (error == ECONNREFUSED && stat(own->path, &found) == 0 && !S_ISSOCK(found.st_mode))
        return "it is not a socket";
    if (error == EPROTOTYPE) return "it is a socket of another program";
    if (error == ENOENT && own->is_of_store) {
        char *store = strndup(own->path, strlen(own->path) - strlen("-sock"));
        if (store == NULL) abort();
        int is_there = stat(store, &found) == 0, is_missing = !is_there && errno == ENOENT;
        free(store);
        if (is_missing) return "no process serves it, and there is no such store";
        if (is_there && S_ISDIR(found.st_mode)) return "no process serves it, and that is a folder";
        if (is_there) return "no process serves it, but the store is there";
    }
    return connection_words(error);
}

static int32_t away(const connection *own, int error, const char *words, int is_in_doubt,
                    service_failure *failure) {
    wire_fail(failure, SELENE_ERROR_OWNER_AWAY, "path", own->path, "%s; %s", words,
              is_in_doubt ? "the request may have been carried out, or not"
                          : "nothing was changed");
    failure->flags = is_in_doubt ? SELENE_FAULT_IN_DOUBT : 0;
    if (error == ETIMEDOUT || error == EAGAIN) {
        failure->unit = SELENE_UNIT_DURATION;
        failure->value = own->timeout;
        failure->least = INT64_MIN;
        failure->greatest = INT64_MAX;
    }
    return failure->status;
}

int32_t connection_away(const connection *own, int error, int is_in_doubt,
                        service_failure *failure) {
    return away(own, error, connection_words(error), is_in_doubt, failure);
}

static atomic_uint_fast64_t sessions;

static int32_t greet(connection *own, service_failure *failure) {
    wire_hello said = {WIRE_MAGIC, WIRE_PROTOCOL, WIRE_PROTOCOL, selene_version(), 0};
    wire request = {.most = WIRE_HELLO_MOST};
    wire_head head;
    int is_untouched;
    wire_begin(&request, WIRE_HELLO, ++own->last_request);
    wire_put(&request, &said, sizeof said);
    wire_finish(&request, 0, 0);
    errno = 0;
    int is_answered = connection_exchange(own, &request, &is_untouched);
    int error = errno;
    free(request.data);
    // Whoever it is that listens there.
    if (!is_answered)
        return away(own, error,
                    error == ETIMEDOUT ? "who listens there has not answered in time"
                    : error == 0 || error == ECONNRESET || error == EPIPE
                        ? "who listens there ended the connection"
                        : connection_words(error),
                    0, failure);
    memcpy(&head, own->in, sizeof head);
    wire_reader body = {own->in + sizeof head, own->in + head.length, 0};
    wire_clear(failure, head.status);
    if (head.status != SELENE_OK && wire_read_refusal(body, failure)) return head.status;
    if (head.status != SELENE_OK || head.length < sizeof head + sizeof own->owner ||
        memcmp(body.at, &(uint64_t){WIRE_MAGIC}, 8) != 0)
        return connection_away(own, EPROTO, 0, failure);
    wire_welcome said_back;
    memcpy(&said_back, body.at, sizeof said_back);
    if (said_back.protocol != WIRE_PROTOCOL || said_back.max_frame < WIRE_FRAME_LEAST ||
        said_back.max_frame > WIRE_FRAME_MOST)
        return connection_away(own, EPROTO, 0, failure);
    own->owner = said_back;
    own->session = atomic_fetch_add(&sessions, 1) + 1;
    return SELENE_OK;
}

// Nothing is told to a process of a user that is not believed: whoever may write to a folder may serve there.
static int32_t check_server(const connection *own, service_failure *failure) {
    system_peer server;
    if (own->server_user == SELENE_SERVER_USER_ANY) return SELENE_OK;
    if (!system_peer_of(own->descriptor, &server))
        return wire_fail(failure, SELENE_ERROR_REFUSED, "server_user", NULL,
                         "the system does not say whose process serves \"%s\"", own->path);
    if (server.user == geteuid() || server.user == 0 || server.user == own->server_user)
        return SELENE_OK;
    wire_fail(failure, SELENE_ERROR_REFUSED, "server_user", NULL,
              "process %d, which serves \"%s\", belongs to user %u; believed are those of this "
              "process's user and of root, and of the user that server_user names",
              server.process, own->path, server.user);
    failure->value = server.user;
    return failure->status;
}

int32_t connection_reach(connection *own, int64_t wait, service_failure *failure) {
    int64_t begun = platform_boot_clock(), pause = 1000000;
    for (;;) {
        struct sockaddr_un address;
        int folder, error = 0;
        int32_t status = wire_address(own->path, &address, &folder, failure);
        if (status > 0) return status;
        if (status < 0) {
            error = errno;
        } else {
            own->descriptor = wire_socket();
            if (own->descriptor < 0 ||
                connect(own->descriptor, (const void *)&address, sizeof address) != 0)
                error = errno;
            if (folder >= 0) close(folder);
        }
        if (error == 0) {
            status = check_server(own, failure);
            if (status == SELENE_OK) status = greet(own, failure);
            if (status == SELENE_OK) return status;
            error = status == SELENE_ERROR_OWNER_AWAY ? ECONNRESET : 0;
        } else {
            if (error == EMFILE || error == ENFILE || error == ENOMEM)
                status = wire_fail(failure, SELENE_ERROR_EXHAUSTED, "path", own->path, "%s",
                                   strerror(error));
            else if (error == EACCES || error == EPERM)
                status = wire_fail(failure, SELENE_ERROR_REFUSED, "path", own->path,
                                   "this user may not write to the socket, or not enter its "
                                   "folder (%s)",
                                   strerror(error));
            else status = away(own, error, words_of_path(own, error), 0, failure);
        }
        connection_drop(own);
        // A full queue of clients moves on; that nobody is there, or that the owner ends, is waited for if asked.
        int64_t limit = error == EAGAIN ? own->timeout : wait;
        int64_t now = platform_boot_clock();
        if (status != SELENE_ERROR_OWNER_AWAY || atomic_load(&own->is_closed) ||
            now - begun >= limit || now >= atomic_load(&own->ends_at))
            return status;
        // Others need not wait as long; one of them may reach it.
        pthread_mutex_unlock(&own->turn);
        platform_sleep(pause);
        pthread_mutex_lock(&own->turn);
        if (own->descriptor >= 0) return SELENE_OK;
        if (pause < 50000000) pause *= 2;
    }
}

int32_t connection_settle(connection *own, int64_t wait, service_failure *failure) {
    if (own->descriptor >= 0 && !connection_hear(own)) connection_drop(own);
    int32_t status = own->descriptor < 0 ? connection_reach(own, wait, failure) : SELENE_OK;
    if (status == SELENE_OK && own->is_member && !own->is_joined)
        status = member_join(own, failure);
    return status;
}

int32_t connection_ended(int is_run, service_failure *failure) {
    return wire_fail(failure, is_run ? SELENE_ERROR_STALE_RUN : SELENE_ERROR_INVALID_HANDLE,
                     is_run ? "run" : "cycle", NULL,
                     "over: the connection on which it was taken has ended");
}

int32_t connection_ask_within(connection *own, uint32_t number, const wire_word *words,
                              uint64_t session, int64_t wait, service_failure *failure) {
    const wire_operation *operation = wire_find(number);
    // What changes nothing leaves no doubt, nor does waiting.
    const int changes = !operation->may_repeat || operation->right == SELENE_RIGHT_MANAGE;
    int32_t status;
    int was_sent = 0;
    own->is_in_doubt = 0;
    if (own->descriptor >= 0 && !connection_hear(own)) connection_drop(own);
    for (int attempt = 0;; attempt++) {
        if (own->descriptor < 0 && (status = connection_reach(own, wait, failure)) != SELENE_OK) {
            own->is_in_doubt = 0;
            return was_sent && changes ? connection_away(own, 0, 1, failure) : status;
        }
        status = own->is_member && !own->is_joined ? member_join(own, failure) : SELENE_OK;
        if (session != 0 && session != own->session) return connection_ended(1, failure);
        // Of those who do not work a refusal of the pool is no matter.
        if (status != SELENE_OK && operation->right == SELENE_RIGHT_WORK) return status;
        if (own->descriptor < 0) continue;
        wire request = {.most = own->owner.max_frame};
        wire_begin(&request, operation->number, ++own->last_request);
        wire_ask(&request, operation, words);
        wire_finish(&request, 0, 0);
        if (request.has_failed) {
            free(request.data);
            if (request.is_short)
                return wire_fail(failure, SELENE_ERROR_EXHAUSTED, "request", NULL,
                                 "there is no memory for it");
            return wire_fail(failure, SELENE_ERROR_TOO_LARGE, "request", NULL,
                             "longer than the %llu bytes that the owner (process %u) takes at "
                             "once; ask for less at a time",
                             (unsigned long long)own->owner.max_frame, own->owner.process);
        }
        int is_untouched;
        errno = 0;
        int is_answered = connection_exchange(own, &request, &is_untouched);
        int error = errno;
        free(request.data);
        if (is_answered) break;
        connection_drop(own);
        was_sent |= !is_untouched;
        if (attempt == 0 && session == 0 && error != ETIMEDOUT && error != EPROTO &&
            (is_untouched || operation->may_repeat) && !atomic_load(&own->is_closed))
            continue;
        own->is_in_doubt = !is_untouched && error != ETIMEDOUT && error != EPROTO;
        return connection_away(own, error, was_sent && changes, failure);
    }
    wire_head head;
    memcpy(&head, own->in, sizeof head);
    wire_reader body = {own->in + sizeof head, own->in + head.length, 0};
    wire_clear(failure, head.status);
    if (head.status == SELENE_OK ? wire_results(body, operation, words)
                                 : wire_read_refusal(body, failure)) {
        if (own->room > 65536) {
            free(own->in);
            own->in = NULL;
            own->room = 0;
        }
        return head.status;
    }
    connection_drop(own);
    return connection_away(own, EPROTO, 1, failure);
}

int32_t connection_ask(connection *own, uint32_t operation, const wire_word *words,
                       uint64_t session, service_failure *failure) {
    return connection_ask_within(own, operation, words, session, session != 0 ? 0 : own->wait,
                                 failure);
}

int32_t service_ask(uint64_t handle, uint32_t operation, uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d, service_failure *failure) {
    const wire_word words[WIRE_WORDS] = {{a}, {b}, {c}, {d}};
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    connection_take_turn(own);
    int32_t status = connection_ask(own, operation, words, 0, failure);
    connection_give_turn(own);
    wire_leave(entry);
    return status;
}

// ---- Open and close ----

// The socket that a path means: itself, or beside the store. It is where it is even if the process goes elsewhere.
static char *socket_path(const char *path, uint64_t length, int *is_of_store) {
    char *given, *whole, *result;
    struct stat found;
    if (asprintf(&given, "%.*s", (int)length, path) < 0) abort();
    int is_socket = stat(given, &found) == 0 && S_ISSOCK(found.st_mode);
    if (!is_socket && length > 5 && strcmp(given + length - 5, "-sock") == 0) is_socket = 1;
    whole = realpath(given, NULL);
    if (whole == NULL && given[0] != '/') {
        char folder[PLATFORM_PATH_SIZE];
        if (getcwd(folder, sizeof folder) == NULL) folder[0] = 0;
        if (asprintf(&whole, "%s/%s", folder, given) < 0) abort();
    }
    if (asprintf(&result, "%s%s", whole != NULL ? whole : given, is_socket ? "" : "-sock") < 0)
        abort();
    *is_of_store = !is_socket;
    free(whole);
    free(given);
    return result;
}

// What the engine says of a handle of this type that it is given: 1 it is open.
static int32_t is_open(uint64_t handle) {
    service_failure failure;
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, &failure);
    if (entry != NULL) wire_leave(entry);
    return entry != NULL ? 1 : failure.status == SELENE_ERROR_FORKED ? 2 : 0;
}

int32_t service_connect(const char *path, uint64_t path_length, const char *pool,
                        uint64_t pool_length, int64_t wait, int64_t timeout, int64_t server_user,
                        uint64_t *out_connection, service_failure *failure) {
    int is_of_store;
    connection *own =
        connection_new(socket_path(path, path_length, &is_of_store), wait, timeout, server_user);
    own->is_of_store = is_of_store;
    own->entry.destroy = free_entry;
    if (pool_length > 0) own->pool = strndup(pool, pool_length);
    else own->pool = strdup(system_program_name());
    if (own->pool == NULL) abort();
    pthread_mutex_lock(&own->turn);
    int32_t status = connection_reach(own, wait, failure);
    pthread_mutex_unlock(&own->turn);
    if (status == SELENE_OK) status = wire_enter(&own->entry, WIRE_CONNECTION, failure);
    if (status != SELENE_OK) {
        connection_free(own);
        return status;
    }
    platform_connections_are(is_open);
    *out_connection = own->entry.handle;
    wire_leave(&own->entry);
    return SELENE_OK;
}

int32_t service_leaving(uint64_t handle, int64_t grace, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    int is_first = !atomic_exchange(&own->is_ending, 1);
    // Nobody waits longer for an owner that is away.
    if (is_first) atomic_store(&own->ends_at, platform_boot_clock() + grace);
    wire_leave(entry);
    if (is_first) return SELENE_OK;
    return wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, "scheduler", NULL,
                     "another thread has closed it");
}

void service_disconnect(uint64_t handle) {
    service_failure failure;
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, &failure);
    if (entry == NULL) return;
    connection *own = (connection *)(void *)entry;
    member_leave(own);
    atomic_store(&own->is_closed, 1);
    listener_end(own);
    // A call of another thread that is in flight has the answer or OWNER_AWAY; the last one frees.
    wire_retire(entry, 0);
    wire_leave(entry);
}
