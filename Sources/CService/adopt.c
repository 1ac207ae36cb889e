// What a connection has of runs when their owner ends: it says so to the next one, which lets it keep them (L10).
//
// An outcome that the owner has accepted is durable with a later answer (D2). Until then it is kept here, and is given again
// where the owner has ended before.

#include "member.h"

enum {
    // Outcomes that may not be durable yet; of more than that the oldest is taken for durable.
    GIVEN_MOST = 4096,
    UNKNOWN = 0,
    GOES_ON = 1
};

// An outcome, as it was given: the words of its operation, of which the first is the run's number.
typedef struct given {
    standing at;
    uint32_t operation;
    wire_word words[5];
    char *message;
    unsigned char *output;
    size_t output_length;
    // The session in which the owner was told, and what that answered; an owner has accepted it.
    uint64_t told;
    int32_t answer;
    int is_accepted;
} given;

// ---- Where runs stand ----

standing standing_of(const connection *own, uint64_t token, uint64_t number) {
    return (standing){token, number, number, own->session, 0};
}

static standing *find(connection *own, uint64_t token) {
    for (size_t i = 0; i < own->given_count; i++)
        if (own->given[i].at.token == token) return &own->given[i].at;
    taken *from = taken_find(own, token);
    return from != NULL ? &from->at : NULL;
}

int standing_is_kept(connection *own, uint64_t token) {
    const standing *at = find(own, token);
    return at != NULL && !at->is_over;
}

int standing_number(connection *own, uint64_t token, wire_word *out_number) {
    const standing *at = find(own, token);
    if (at == NULL || at->session != own->session || at->is_over) return 0;
    out_number->bits = at->number;
    return 1;
}

int standing_is(const connection *own, const standing *at, uint64_t number) {
    return at->session == own->session && !at->is_over && at->number == number;
}

// ---- Outcomes ----

static void free_given(given *one) {
    free(one->message);
    free(one->output);
}

static void remove_given(connection *own, size_t place) {
    free_given(&own->given[place]);
    memmove(own->given + place, own->given + place + 1,
            (own->given_count - place - 1) * sizeof *own->given);
    own->given_count--;
}

void given_keep(connection *own, uint64_t token, uint32_t operation, const wire_word *words,
                int is_accepted) {
    taken *from;
    for (size_t i = 0; i < own->given_count; i++) {
        given *each = &own->given[i];
        if (each->at.token != token) continue;
        if (is_accepted) {
            each->told = own->session;
            each->is_accepted = 1;
        }
        return;
    }
    from = taken_find(own, token);
    if (from == NULL || from->at.is_over) return;
    if (own->given_count >= GIVEN_MOST) remove_given(own, 0);
    own->given = realloc(own->given, (own->given_count + 1) * sizeof *own->given);
    if (own->given == NULL) abort();
    given *made = &own->given[own->given_count++];
    *made = (given){.at = from->at,
                    .operation = operation,
                    .told = is_accepted ? own->session : 0,
                    .is_accepted = is_accepted};
    memcpy(made->words, words, sizeof made->words);
    if (operation == SERVICE_RUN_FAIL && words[3].pointer != NULL) {
        const char *message = words[3].pointer;
        size_t length = words[4].number < 0 ? strlen(message) : (size_t)words[4].number;
        made->message = malloc(length + 1);
        if (made->message == NULL) abort();
        memcpy(made->message, message, length);
        made->words[3].pointer = made->message;
        made->words[4].number = (int64_t)length;
    }
    made->output = from->output;
    made->output_length = from->output_length;
    from->output = NULL;
}

void given_are_durable(connection *own) {
    for (size_t i = own->given_count; i-- > 0;)
        if (own->given[i].told == own->session || own->given[i].at.is_over) remove_given(own, i);
}

int given_again(connection *own, uint64_t token, int32_t *out_answer) {
    for (size_t i = 0; i < own->given_count; i++) {
        const given *each = &own->given[i];
        if (each->at.token != token || each->told != own->session || each->at.is_over) continue;
        *out_answer = each->answer;
        return 1;
    }
    return 0;
}

void given_free(connection *own) {
    for (size_t i = 0; i < own->given_count; i++)
        free_given(&own->given[i]);
    free(own->given);
}

void output_keep(taken *run, const void *output, int64_t length) {
    free(run->output);
    run->output = NULL;
    run->output_length = length > 0 ? (size_t)length : 0;
    if (run->output_length == 0) return;
    run->output = malloc(run->output_length);
    if (run->output == NULL) abort();
    memcpy(run->output, output, run->output_length);
}

// ---- The next owner ----

// Says to it that a run goes on here, and what its host has said of it.
static int32_t rejoin(connection *own, standing *at, const void *output, size_t length,
                      service_failure *failure) {
    int32_t how = UNKNOWN;
    int64_t number = 0;
    if (at->session == own->session || at->is_over) return SELENE_OK;
    const wire_word words[WIRE_WORDS] = {{at->origin}, {.pointer = &how}, {.pointer = &number}};
    int32_t status = member_tell(own, SERVICE_RUN_ADOPT, words, failure);
    if (status == SELENE_ERROR_OWNER_AWAY) return status;
    // Owners of an earlier version do not know the question.
    if (status != SELENE_OK || how != GOES_ON) {
        at->is_over = status == SELENE_OK && how == UNKNOWN ? 1 : 2;
        return SELENE_OK;
    }
    at->session = own->session;
    at->number = (uint64_t)number;
    if (output == NULL) return SELENE_OK;
    const wire_word said[WIRE_WORDS] = {
        {at->number}, {.pointer = (void *)(uintptr_t)output}, {length}};
    status = member_tell(own, SERVICE_RUN_SET_OUTPUT, said, failure);
    return status == SELENE_ERROR_OWNER_AWAY ? status : SELENE_OK;
}

int32_t member_rejoin(connection *own, service_failure *failure) {
    int32_t status = SELENE_OK;
    for (size_t i = 0; i < own->taken_count && status == SELENE_OK;) {
        taken *each = &own->taken[i];
        const uint64_t token = each->at.token;
        status = rejoin(own, &each->at, each->output, each->output_length, failure);
        if (!each->at.is_over) {
            i++;
            continue;
        }
        member_say(own, token, SELENE_STOP_INTERRUPTED, 1);
        taken_forget(own, token);
    }
    for (size_t i = 0; i < own->given_count && status == SELENE_OK; i++) {
        given *each = &own->given[i];
        status = rejoin(own, &each->at, each->output, each->output_length, failure);
        if (status != SELENE_OK || each->at.is_over || each->told == own->session) continue;
        wire_word words[WIRE_WORDS] = {{each->at.number}};
        memcpy(words + 1, each->words + 1, sizeof each->words - sizeof *each->words);
        status = member_tell(own, each->operation, words, failure);
        if (status == SELENE_ERROR_OWNER_AWAY) continue;
        // That it is over, or has its outcome, is as good.
        each->told = own->session;
        each->answer = status;
        each->is_accepted |= status == SELENE_OK;
        status = SELENE_OK;
    }
    return status;
}

int given_was_accepted(connection *own, uint64_t token) {
    for (size_t i = 0; i < own->given_count; i++) {
        if (own->given[i].at.token != token || own->given[i].at.is_over != 1) continue;
        // The owner that accepted it has stored it, or the next one would wait for the run.
        int was_accepted = own->given[i].is_accepted;
        remove_given(own, i);
        return was_accepted;
    }
    return 0;
}
