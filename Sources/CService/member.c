// A connection that takes runs: its handlers, its cycles, and what it was told of its runs.

#include "connect.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum {
    // What a handle or token of a connection has besides its type: the connection's place, some of its session, a number.
    NUMBER_BITS = 37,
    SESSION_BITS = 7,
    CYCLE = 6,
    RUN = 7,
    // Runs whose texts are kept though they were never completed.
    TAKEN_MOST = 4096
};
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)
#define SESSION_MASK ((UINT64_C(1) << SESSION_BITS) - 1)

typedef struct offered {
    char *name;
    uint64_t length;
    service_handler handler;
    // The owner of this session knows of it.
    int is_told;
} offered;

// A run, and what was told of it.
typedef struct taken {
    uint64_t token;
    void *told;
} taken;

// ---- Tokens ----

static uint64_t token_of(const connection *own, uint64_t kind, uint64_t number) {
    return UINT64_C(1) << 62 | kind << 56 |
           (own->entry.handle >> 40 & 0xFFF) << (NUMBER_BITS + SESSION_BITS) |
           (own->session & SESSION_MASK) << NUMBER_BITS | (number & NUMBER_MASK);
}

static size_t slot_of(uint64_t token) {
    return (size_t)(token >> (NUMBER_BITS + SESSION_BITS) & 0xFFF);
}

static int is_of_session(const connection *own, uint64_t token) {
    return (token >> NUMBER_BITS & SESSION_MASK) == (own->session & SESSION_MASK);
}

int member_has(uint64_t cycle) {
    service_failure failure;
    wire_entry *entry = wire_acquire_at(slot_of(cycle), WIRE_CONNECTION, "cycle", &failure);
    if (entry == NULL) return 0;
    connection *own = (connection *)(void *)entry;
    pthread_mutex_lock(&own->turn);
    int has = own->is_member && own->cycles != 0 && is_of_session(own, cycle);
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return has;
}

static uint64_t at_owner(const connection *own, uint64_t token) {
    return (token >> 56 == (0x40 | CYCLE) ? own->cycles : own->runs) | (token & NUMBER_MASK);
}

// ---- Coming and going ----

// A request whose answer has no results, without coming back by itself.
static int32_t tell(connection *own, uint32_t number, const wire_word *words,
                    service_failure *failure) {
    const wire_operation *operation = wire_find(number);
    wire request = {.most = own->owner.max_frame};
    wire_head head;
    int is_untouched;
    wire_begin(&request, operation->number, ++own->last_request);
    wire_ask(&request, operation, words);
    wire_finish(&request, 0, 0);
    errno = 0;
    int is_answered = connection_exchange(own, &request, &is_untouched);
    int error = errno;
    free(request.data);
    if (is_answered) {
        memcpy(&head, own->in, sizeof head);
        memset(failure, 0, sizeof *failure);
        failure->status = head.status;
        if (head.status == SELENE_OK) return SELENE_OK;
        if (wire_read_refusal((wire_reader){own->in + sizeof head, own->in + head.length}, failure))
            return head.status;
        error = EPROTO;
    }
    wire_close(own->descriptor);
    own->descriptor = -1;
    member_lost(own);
    return wire_fail(failure, SELENE_ERROR_OWNER_AWAY, "path", own->path, "%s; nothing was changed",
                     connection_words(error));
}

int32_t member_join(connection *own, service_failure *failure) {
    const wire_word pool[WIRE_WORDS] = {{.pointer = own->pool}, {strlen(own->pool)}};
    int32_t status = tell(own, SERVICE_CLIENT_JOIN, pool, failure);
    for (size_t i = 0; status == SELENE_OK && i < own->offered_count; i++) {
        offered *each = &own->offered[i];
        if (each->is_told) continue;
        const wire_word words[WIRE_WORDS] = {
            {.pointer = each->name}, {each->length}, {each->handler.run != NULL}};
        status = tell(own, SERVICE_HANDLER_REGISTER, words, failure);
        each->is_told = status == SELENE_OK;
    }
    own->is_joined = status == SELENE_OK;
    return status;
}

void member_lost(connection *own) {
    own->is_joined = 0;
    for (size_t i = 0; i < own->offered_count; i++)
        own->offered[i].is_told = 0;
}

void member_leave(connection *own) {
    service_failure failure;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    // While another thread waits for an answer the end of the connection has to say it.
    if (pthread_mutex_timedlock(&own->turn, &until) != 0) return;
    if (own->is_joined && own->descriptor >= 0) {
        int64_t timeout = own->timeout;
        if (own->timeout > 1000000000) own->timeout = 1000000000;
        tell(own, SERVICE_CLIENT_LEAVE, (const wire_word[WIRE_WORDS]){{0}}, &failure);
        own->timeout = timeout;
    }
    pthread_mutex_unlock(&own->turn);
}

static void end_handler(const service_handler *handler) {
    if (handler->destroy != NULL) handler->destroy(handler->context);
}

void member_free(connection *own) {
    for (size_t i = 0; i < own->offered_count; i++) {
        end_handler(&own->offered[i].handler);
        free(own->offered[i].name);
    }
    for (size_t i = 0; i < own->taken_count; i++)
        free(own->taken[i].told);
    free(own->offered);
    free(own->taken);
    free(own->pool);
}

// ---- Handlers ----

// The lock is held. Who could not become a member does not try again with each call.
static void give_up(connection *own) {
    if (own->offered_count == 0 && !own->is_joined) own->is_member = 0;
}

static offered *find(connection *own, const char *name, uint64_t length) {
    for (size_t i = 0; i < own->offered_count; i++)
        if (own->offered[i].length == length && memcmp(own->offered[i].name, name, length) == 0)
            return &own->offered[i];
    return NULL;
}

int32_t service_handler_add(uint64_t handle, const char *name, uint64_t length,
                            const service_handler *handler, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    pthread_mutex_lock(&own->turn);
    own->is_member = 1;
    const wire_word words[WIRE_WORDS] = {
        {.pointer = (void *)(uintptr_t)name}, {length}, {handler->run != NULL}};
    int32_t status;
    if (find(own, name, length) != NULL)
        status = wire_fail(failure, SELENE_ERROR_ALREADY_EXISTS, "name", NULL,
                           "\"%.*s\" already has a handler", (int)length, name);
    else status = connection_ask(own, SERVICE_HANDLER_REGISTER, words, 0, failure);
    if (status == SELENE_OK) {
        own->offered = realloc(own->offered, (own->offered_count + 1) * sizeof *own->offered);
        char *copy = strndup(name, length);
        if (own->offered == NULL || copy == NULL) abort();
        own->offered[own->offered_count++] = (offered){copy, length, *handler, 1};
    }
    give_up(own);
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return status;
}

int32_t service_handler_remove(uint64_t handle, const char *name, uint64_t length,
                               service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    service_handler gone = {NULL, NULL, NULL, NULL};
    int32_t status = SELENE_OK;
    pthread_mutex_lock(&own->turn);
    offered *at = find(own, name, length);
    if (at == NULL) {
        status = wire_fail(failure, SELENE_ERROR_NOT_FOUND, "name", NULL,
                           "\"%.*s\" is not a registered handler", (int)length, name);
    } else {
        const wire_word words[WIRE_WORDS] = {{.pointer = at->name}, {at->length}};
        // Where there is no connection the next one does not offer it.
        if (at->is_told && own->descriptor >= 0)
            tell(own, SERVICE_HANDLER_UNREGISTER, words, failure);
        gone = at->handler;
        free(at->name);
        *at = own->offered[--own->offered_count];
    }
    pthread_mutex_unlock(&own->turn);
    // A thread that is in it goes on with its own copy.
    end_handler(&gone);
    wire_leave(entry);
    return status;
}

// ---- Cycles ----

int32_t service_cycle_begin(uint64_t handle, const void *window, uint64_t *out_cycle,
                            service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    uint64_t cycle = 0;
    const wire_word words[WIRE_WORDS] = {{.pointer = (void *)(uintptr_t)window},
                                         {.pointer = &cycle}};
    pthread_mutex_lock(&own->turn);
    own->is_member = 1;
    int32_t status = connection_ask(own, SERVICE_CYCLE_BEGIN, words, 0, failure);
    if (status == SELENE_OK) {
        own->cycles = cycle & ~NUMBER_MASK;
        *out_cycle = token_of(own, CYCLE, cycle);
    }
    give_up(own);
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return status;
}

static void forget(connection *own, size_t place) {
    free(own->taken[place].told);
    memmove(own->taken + place, own->taken + place + 1,
            (own->taken_count - place - 1) * sizeof *own->taken);
    own->taken_count--;
}

static void keep(connection *own, selene_run_info *told, uint64_t cycle) {
    own->runs = told->run & ~NUMBER_MASK;
    told->run = token_of(own, RUN, told->run);
    told->cycle = cycle;
    if (own->taken_count == TAKEN_MOST) forget(own, 0);
    own->taken = realloc(own->taken, (own->taken_count + 1) * sizeof *own->taken);
    if (own->taken == NULL) abort();
    own->taken[own->taken_count++] = (taken){told->run, told};
}

// The connection of a cycle or a run, locked; the number that it has at the owner comes out.
static connection *enter(uint64_t token, wire_word *out_number, service_failure *failure) {
    int is_run = service_is_run(token);
    wire_entry *entry =
        wire_acquire_at(slot_of(token), WIRE_CONNECTION, is_run ? "run" : "cycle", failure);
    if (entry == NULL) return NULL;
    connection *own = (connection *)(void *)entry;
    pthread_mutex_lock(&own->turn);
    out_number->bits = at_owner(own, token);
    if (is_of_session(own, token)) return own;
    // Nothing of it is left, wherever the owner is.
    wire_fail(failure, is_run ? SELENE_ERROR_STALE_RUN : SELENE_ERROR_INVALID_HANDLE,
              is_run ? "run" : "cycle", NULL,
              "over: the connection on which it was taken has ended");
    for (size_t i = 0; i < own->taken_count; i++)
        if (own->taken[i].token == token) forget(own, i--);
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return NULL;
}

static void leave(connection *own) {
    pthread_mutex_unlock(&own->turn);
    wire_leave(&own->entry);
}

int32_t service_cycle_next(uint64_t cycle, int32_t *out_step, const void **out_run,
                           int64_t *out_wake_at, service_failure *failure) {
    wire_word number;
    connection *own = enter(cycle, &number, failure);
    if (own == NULL) return failure->status;
    void *told = NULL;
    const wire_word words[WIRE_WORDS] = {
        number, {.pointer = &told}, {.pointer = out_step}, {.pointer = out_wake_at}};
    int32_t status = connection_ask(own, SERVICE_CYCLE_NEXT, words, own->session, failure);
    if (status == SELENE_ERROR_STALE_RUN) status = failure->status = SELENE_ERROR_INVALID_HANDLE;
    if (status == SELENE_OK && told != NULL) keep(own, told, cycle);
    *out_run = told;
    leave(own);
    return status;
}

// The numbers in what came are the owner's; those that a host gets are this connection's.
static void translate(connection *own, uint32_t operation, uint64_t token, const wire_word *words) {
    void *made = NULL;
    if ((operation == SERVICE_CYCLE_END || operation == SERVICE_RUN_GET) &&
        words[1].pointer != NULL)
        memcpy(&made, words[1].pointer, sizeof made);
    if (made == NULL) return;
    if (operation == SERVICE_RUN_GET) {
        selene_run_info *info = made;
        info->run = token;
        info->cycle = token_of(own, CYCLE, info->cycle);
        return;
    }
    selene_report *report = made;
    report->cycle = token;
    for (uint64_t i = 0; i < report->run_count; i++) {
        // The struct lies in the same piece of memory, which is ours.
        selene_report_run *run = (selene_report_run *)(uintptr_t)&report->runs[i];
        run->run = token_of(own, RUN, run->run);
    }
}

int32_t service_ask_of(uint64_t token, uint32_t operation, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t d, service_failure *failure) {
    wire_word words[WIRE_WORDS] = {{0}, {a}, {b}, {c}, {d}};
    connection *own = enter(token, &words[0], failure);
    if (own == NULL) return failure->status;
    int32_t status = connection_ask(own, operation, words, own->session, failure);
    int is_run = service_is_run(token);
    if (status == SELENE_ERROR_STALE_RUN && !is_run)
        status = failure->status = SELENE_ERROR_INVALID_HANDLE;
    if (status == SELENE_OK) translate(own, operation, token, words);
    int has_outcome = operation >= SERVICE_RUN_COMPLETE && operation <= SERVICE_RUN_COMPLETE_UNTIL;
    int is_over = status == SELENE_OK || status == SELENE_ERROR_STALE_RUN ||
                  status == SELENE_ERROR_ALREADY_COMPLETED;
    for (size_t i = 0; is_run && has_outcome && is_over && i < own->taken_count; i++)
        if (own->taken[i].token == token) forget(own, i--);
    leave(own);
    return status;
}
