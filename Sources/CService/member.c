// A connection that takes runs: its pool, what it offers there, and what it was told.

#include "member.h"

#include <errno.h>

enum {
    // Runs that are kept though they were never completed.
    TAKEN_MOST = 4096
};

// ---- Numbers ----

uint64_t token_of(const connection *own, uint64_t kind, uint64_t number) {
    return UINT64_C(1) << 62 | kind << 56 |
           (own->entry.handle >> 40 & 0xFFF) << (NUMBER_BITS + SESSION_BITS) |
           (own->session & SESSION_MASK) << NUMBER_BITS | (number & NUMBER_MASK);
}

int is_of_session(const connection *own, uint64_t token) {
    return (token >> NUMBER_BITS & SESSION_MASK) == (own->session & SESSION_MASK);
}

uint64_t at_owner(const connection *own, uint64_t token) {
    return (token >> 56 == (0x40 | CYCLE) ? own->cycles : own->runs) | (token & NUMBER_MASK);
}

// ---- Coming and going ----

int32_t member_tell(connection *own, uint32_t number, const wire_word *words,
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
        wire_clear(failure, head.status);
        wire_reader body = {own->in + sizeof head, own->in + head.length, 0};
        if (head.status == SELENE_OK && wire_results(body, operation, words)) return SELENE_OK;
        if (head.status != SELENE_OK && wire_read_refusal(body, failure)) return head.status;
        error = EPROTO;
    }
    connection_drop(own);
    return connection_away(own, error, 0, failure);
}

static int32_t listen_to_owner(connection *own, service_failure *failure) {
    own->news_request = own->last_request + 1;
    int32_t status =
        member_tell(own, SERVICE_CLIENT_HEAR, (const wire_word[WIRE_WORDS]){{0}}, failure);
    if (status != SELENE_OK) own->news_request = 0;
    return status;
}

int32_t member_join(connection *own, service_failure *failure) {
    const wire_word pool[WIRE_WORDS] = {{.pointer = own->pool}, {strlen(own->pool)}};
    int32_t status = member_tell(own, SERVICE_CLIENT_JOIN, pool, failure);
    for (size_t i = 0; status == SELENE_OK && i < own->offered_count; i++) {
        offered *each = &own->offered[i];
        if (each->is_told) continue;
        const wire_word words[WIRE_WORDS] = {
            {.pointer = each->name}, {each->length}, {(uint64_t)each->is_called}};
        status = member_tell(own, SERVICE_HANDLER_REGISTER, words, failure);
        each->is_told = status == SELENE_OK;
    }
    if (status == SELENE_OK && own->wants_news) status = listen_to_owner(own, failure);
    // An owner that grants no windows, of an earlier version, is still one to work for.
    if (status == SELENE_OK && own->drives && driver_join(own, failure) == SELENE_ERROR_OWNER_AWAY)
        status = SELENE_ERROR_OWNER_AWAY;
    if (status == SELENE_OK) status = member_rejoin(own, failure);
    own->is_joined = status == SELENE_OK;
    // Who reads waits for another descriptor.
    member_say(own, 0, 0, 0);
    return status;
}

int32_t member_hear(connection *own, service_failure *failure) {
    own->wants_news = 1;
    return own->is_joined && own->news_request == 0 ? listen_to_owner(own, failure) : SELENE_OK;
}

void member_lost(connection *own) {
    // An attempt to reach an owner that is away loses nothing, and must not wake whoever makes it.
    int had_something = own->is_joined;
    own->is_joined = 0;
    own->news_request = 0;
    for (size_t i = 0; i < own->offered_count; i++)
        own->offered[i].is_told = 0;
    if (had_something) member_say(own, UINT64_MAX, 0, 0);
}

void member_leave(connection *own) {
    service_failure failure;
    // While another thread waits for an answer the end of the connection has to say it.
    if (!system_mutex_lock(&own->turn, 1000000000)) return;
    if (own->is_joined && own->descriptor >= 0) {
        int64_t timeout = own->timeout;
        if (own->timeout > 1000000000) own->timeout = 1000000000;
        atomic_store(&own->ends_at, INT64_MAX);
        member_tell(own, SERVICE_CLIENT_LEAVE, (const wire_word[WIRE_WORDS]){{0}}, &failure);
        own->timeout = timeout;
    }
    pthread_mutex_unlock(&own->turn);
}

void member_free(connection *own) {
    for (size_t i = 0; i < own->offered_count; i++)
        free(own->offered[i].name);
    for (size_t i = 0; i < own->taken_count; i++)
        free(own->taken[i].output);
    given_free(own);
    free(own->offered);
    free(own->taken);
    free(own->pool);
}

void member_give_up(connection *own) {
    if (own->offered_count == 0 && !own->is_joined) own->is_member = 0;
}

// ---- News ----

void member_say(connection *own, uint64_t run, int32_t reason, int is_over) {
    own->said++;
    if (own->told != NULL) own->told(own->context, run, reason, is_over);
}

void member_told(connection *own, const unsigned char *body, size_t length) {
    uint64_t words[3];
    if (length < sizeof words) return;
    memcpy(words, body, sizeof words);
    uint64_t token = 0;
    for (size_t i = 0; i < own->taken_count && words[0] != 0 && token == 0; i++)
        if (standing_is(own, &own->taken[i].at, words[0])) token = own->taken[i].at.token;
    // Of what has its outcome already nobody wants to know.
    if (words[0] != 0 && token == 0) return;
    member_say(own, token, (int32_t)words[1], words[2] != 0);
    if (words[2] != 0) taken_forget(own, token);
}

// ---- Runs ----

taken *taken_find(connection *own, uint64_t token) {
    for (size_t i = own->taken_count; i-- > 0;)
        if (own->taken[i].at.token == token) return &own->taken[i];
    return NULL;
}

void taken_forget(connection *own, uint64_t token) {
    taken *at = taken_find(own, token);
    if (at == NULL) return;
    free(at->output);
    size_t place = (size_t)(at - own->taken);
    memmove(at, at + 1, (own->taken_count - place - 1) * sizeof *at);
    own->taken_count--;
}

uint64_t taken_keep(connection *own, uint64_t number, int is_pulled) {
    own->runs = number & ~NUMBER_MASK;
    if (own->taken_count >= TAKEN_MOST) {
        size_t oldest = 0;
        while (oldest + 1 < own->taken_count && !own->taken[oldest].is_pulled)
            oldest++;
        const uint64_t gone = own->taken[oldest].at.token;
        member_say(own, gone, SELENE_STOP_EXPIRING, 1);
        taken_forget(own, gone);
    }
    own->taken = realloc(own->taken, (own->taken_count + 1) * sizeof *own->taken);
    if (own->taken == NULL) abort();
    uint64_t token = token_of(own, RUN, number);
    own->taken[own->taken_count++] =
        (taken){.at = standing_of(own, token, number), .is_pulled = is_pulled};
    return token;
}
