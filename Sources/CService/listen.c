// The events of an owner, for a client: they come over a connection of their own, so that its descriptor tells of them and
// nobody who waits for one holds up a call.

#include "connect.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

typedef struct listener {
    connection *link;
    // Guarded by the connection's lock: its own and one for each call in flight.
    unsigned users;
    // Guards what follows: one takes an event at a time.
    pthread_mutex_t turn;
    wire_head head;
    unsigned char *in;
    // Of the frame that is coming, with its head.
    size_t have;
    // What was taken last, whose texts the host reads.
    void *current;
    // Why no more will come.
    int is_over;
    char why[160];
} listener;

static void leave(connection *own, listener *from) {
    pthread_mutex_lock(&own->listening);
    unsigned left = --from->users;
    pthread_mutex_unlock(&own->listening);
    if (left > 0) return;
    connection_free(from->link);
    pthread_mutex_destroy(&from->turn);
    free(from->in);
    free(from->current);
    free(from);
}

void listener_end(connection *own) {
    pthread_mutex_lock(&own->listening);
    listener *from = own->listener;
    own->listener = NULL;
    pthread_mutex_unlock(&own->listening);
    if (from == NULL) return;
    atomic_store(&from->link->is_closed, 1);
    // Wakes who waits; the last one closes it.
    shutdown(from->link->descriptor, SHUT_RDWR);
    leave(own, from);
}

static int32_t subscribe(connection *link, uint64_t capacity, service_failure *failure) {
    wire request = {.most = WIRE_HELLO_MOST};
    wire_head head;
    int is_untouched;
    wire_begin(&request, SERVICE_EVENTS_OPEN, ++link->last_request);
    wire_number(&request, capacity);
    wire_finish(&request, 0, SELENE_OK);
    errno = 0;
    int is_answered = connection_exchange(link, &request, &is_untouched);
    int error = errno;
    free(request.data);
    if (!is_answered) return connection_away(link, error, 0, failure);
    memcpy(&head, link->in, sizeof head);
    if (head.status == SELENE_OK) return SELENE_OK;
    wire_clear(failure, head.status);
    if (wire_read_refusal((wire_reader){link->in + sizeof head, link->in + head.length, 0},
                          failure))
        return head.status;
    return connection_away(link, EPROTO, 0, failure);
}

static int32_t is_open_already(service_failure *failure) {
    return wire_fail(failure, SELENE_ERROR_ALREADY_EXISTS, "", NULL, "the queue of events is open");
}

int32_t service_events_open(uint64_t handle, uint64_t capacity, int32_t *out_fd,
                            service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    char *path = strdup(own->path);
    if (path == NULL) abort();
    listener *made = calloc(1, sizeof *made);
    if (made == NULL) abort();
    made->link = connection_new(path, own->wait, own->timeout, own->server_user);
    made->users = 1;
    pthread_mutex_init(&made->turn, NULL);
    pthread_mutex_lock(&own->listening);
    int32_t status = own->listener != NULL ? is_open_already(failure) : SELENE_OK;
    pthread_mutex_unlock(&own->listening);
    pthread_mutex_lock(&made->link->turn);
    if (status == SELENE_OK) status = connection_reach(made->link, own->wait, failure);
    pthread_mutex_unlock(&made->link->turn);
    if (status == SELENE_OK) status = subscribe(made->link, capacity, failure);
    if (status == SELENE_OK) {
        // Another thread may have opened or closed something meanwhile.
        pthread_mutex_lock(&own->listening);
        if (own->listener != NULL) status = is_open_already(failure);
        else if (atomic_load(&own->is_closed))
            status = wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, "scheduler", NULL,
                               "was closed meanwhile");
        else own->listener = made;
        pthread_mutex_unlock(&own->listening);
    }
    if (status == SELENE_OK && out_fd != NULL) *out_fd = made->link->descriptor;
    if (status != SELENE_OK) leave(own, made);
    wire_leave(entry);
    return status;
}

static void end_with(listener *from, int error) {
    from->is_over = 1;
    snprintf(from->why, sizeof from->why, "%s", connection_words(error));
}

// Reads up to a length of the frame that is coming; 0: not all of it is there.
static int read_up_to(listener *from, unsigned char *at, size_t end) {
    while (from->have < end) {
        ssize_t count = recv(from->link->descriptor, at, end - from->have, MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return 0;
        if (count <= 0) {
            end_with(from, count == 0 ? 0 : errno);
            return 0;
        }
        from->have += (size_t)count;
        at += count;
    }
    return 1;
}

// The next event, if all of it is there. No more is read than that, so that the descriptor tells of the one behind it.
static int take(listener *from, uint64_t *lost) {
    unsigned char *head = (unsigned char *)&from->head;
    if (from->is_over || !read_up_to(from, head + from->have, sizeof from->head)) return 0;
    size_t length = from->head.length;
    // An event is some hundreds of bytes.
    if (length < sizeof from->head + 8 || length > 1 << 20 || from->head.status != SELENE_OK ||
        from->head.request != from->link->last_request ||
        from->head.operation != SERVICE_EVENTS_OPEN) {
        end_with(from, EPROTO);
        return 0;
    }
    if (from->in == NULL) from->in = malloc(length);
    if (from->in == NULL) abort();
    if (!read_up_to(from, from->in + from->have, length)) return 0;
    wire_reader body = {from->in + sizeof from->head + 8, from->in + length, 0};
    memcpy(lost, from->in + sizeof from->head, sizeof *lost);
    void *event = wire_made(&body, 'V');
    free(from->in);
    from->in = NULL;
    from->have = 0;
    if (event == NULL) {
        end_with(from, EPROTO);
        return 0;
    }
    free(from->current);
    from->current = event;
    return 1;
}

int32_t service_events_next(uint64_t handle, int64_t timeout, const void **out_event,
                            uint64_t *out_lost, service_failure *failure) {
    *out_event = NULL;
    *out_lost = 0;
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    pthread_mutex_lock(&own->listening);
    listener *from = own->listener;
    if (from != NULL) from->users++;
    pthread_mutex_unlock(&own->listening);
    int32_t status = SELENE_OK;
    int64_t begun = platform_boot_clock();
    if (from != NULL) pthread_mutex_lock(&from->turn);
    while (from != NULL) {
        if (atomic_load(&from->link->is_closed)) break;
        if (take(from, out_lost)) {
            *out_event = from->current;
            break;
        }
        // What wakes it may be its end.
        if (atomic_load(&from->link->is_closed)) break;
        if (from->is_over) {
            status = wire_fail(
                failure, SELENE_ERROR_OWNER_AWAY, "path", own->path,
                "%s; later events are not reported until the events are opened again", from->why);
            break;
        }
        int64_t passed = platform_boot_clock() - begun;
        if (passed >= timeout) break;
        int64_t left = (timeout - passed) / 1000000 + 1;
        struct pollfd polled = {from->link->descriptor, POLLIN, 0};
        poll(&polled, 1, left < INT32_MAX ? (int)left : INT32_MAX);
    }
    if (from == NULL || atomic_load(&from->link->is_closed)) {
        *out_event = NULL;
        status =
            wire_fail(failure, SELENE_ERROR_UNSUPPORTED, "", NULL, "no queue of events is open");
    }
    if (from != NULL) {
        pthread_mutex_unlock(&from->turn);
        leave(own, from);
    }
    wire_leave(entry);
    return status;
}

int32_t service_events_close(uint64_t handle, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    listener_end((connection *)(void *)entry);
    wire_leave(entry);
    return SELENE_OK;
}
