// A connection that takes runs: its handlers, its cycles, and what it was told of its runs.

#include "member.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum {
    // Runs whose texts are kept though they were never completed.
    TAKEN_MOST = 4096
};

// ---- Tokens ----

uint64_t token_of(const connection *own, uint64_t kind, uint64_t number) {
    return UINT64_C(1) << 62 | kind << 56 |
           (own->entry.handle >> 40 & 0xFFF) << (NUMBER_BITS + SESSION_BITS) |
           (own->session & SESSION_MASK) << NUMBER_BITS | (number & NUMBER_MASK);
}

size_t slot_of(uint64_t token) {
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

uint64_t at_owner(const connection *own, uint64_t token) {
    return (token >> 56 == (0x40 | CYCLE) ? own->cycles : own->runs) | (token & NUMBER_MASK);
}

// ---- Coming and going ----

// A request, without coming back by itself.
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
    wire_close(own->descriptor, 1);
    own->descriptor = -1;
    member_lost(own);
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
        offered *each = own->offered[i];
        if (each->is_told) continue;
        const wire_word words[WIRE_WORDS] = {
            {.pointer = each->name}, {each->length}, {each->handler.run != NULL}};
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
    news_came(own);
    return status;
}

int32_t member_hear(connection *own, service_failure *failure) {
    own->wants_news = 1;
    return own->is_joined && own->news_request == 0 ? listen_to_owner(own, failure) : SELENE_OK;
}

void member_lost(connection *own) {
    // An attempt to reach an owner that is away loses nothing, and must not wake whoever makes it.
    int had_something = own->is_joined || own->taking_count > 0;
    own->is_joined = 0;
    own->news_request = 0;
    takings_lost(own);
    if (had_something) news_came(own);
    for (size_t i = 0; i < own->offered_count; i++)
        own->offered[i]->is_told = 0;
}

void member_leave(connection *own) {
    service_failure failure;
    // While another thread waits for an answer the end of the connection has to say it.
    if (!system_mutex_lock(&own->turn, 1000000000)) return;
    if (own->is_joined && own->descriptor >= 0) {
        int64_t timeout = own->timeout;
        if (own->timeout > 1000000000) own->timeout = 1000000000;
        member_tell(own, SERVICE_CLIENT_LEAVE, (const wire_word[WIRE_WORDS]){{0}}, &failure);
        own->timeout = timeout;
    }
    pthread_mutex_unlock(&own->turn);
}

void offered_leave(offered *from) {
    if (atomic_fetch_sub(&from->uses, 1) > 1) return;
    if (from->handler.destroy != NULL) from->handler.destroy(from->handler.context);
    free(from->name);
    free(from);
}

void member_free(connection *own) {
    for (size_t i = 0; i < own->offered_count; i++)
        offered_leave(own->offered[i]);
    for (size_t i = 0; i < own->taken_count; i++) {
        free(own->taken[i].told);
        free(own->taken[i].output);
    }
    given_free(own);
    free(own->offered);
    free(own->taken);
    free(own->pool);
}

// ---- Handlers ----

// The lock is held. Who could not become a member does not try again with each call.
void member_give_up(connection *own) {
    if (own->offered_count == 0 && !own->is_joined) own->is_member = 0;
}

static offered *find(connection *own, const char *name, uint64_t length) {
    for (size_t i = 0; i < own->offered_count; i++)
        if (own->offered[i]->length == length && memcmp(own->offered[i]->name, name, length) == 0)
            return own->offered[i];
    return NULL;
}

offered *offered_use(connection *own, selene_text name) {
    offered *found = find(own, name.data, (uint64_t)name.length);
    if (found != NULL) atomic_fetch_add(&found->uses, 1);
    return found;
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
    else if (handler->stop != NULL && !calls_tell(own))
        status = wire_fail(failure, SELENE_ERROR_EXHAUSTED, "", NULL,
                           "the system refused to start a thread");
    else status = connection_ask(own, SERVICE_HANDLER_REGISTER, words, 0, failure);
    if (status == SELENE_OK) {
        own->offered = realloc(own->offered, (own->offered_count + 1) * sizeof *own->offered);
        offered *made = malloc(sizeof *made);
        char *copy = strndup(name, length);
        if (own->offered == NULL || made == NULL || copy == NULL) abort();
        *made = (offered){copy, length, *handler, 1, 1};
        own->offered[own->offered_count++] = made;
    }
    member_give_up(own);
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return status;
}

int32_t service_handler_remove(uint64_t handle, const char *name, uint64_t length,
                               service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
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
            member_tell(own, SERVICE_HANDLER_UNREGISTER, words, failure);
        size_t place = 0;
        while (own->offered[place] != at)
            place++;
        own->offered[place] = own->offered[--own->offered_count];
    }
    pthread_mutex_unlock(&own->turn);
    // A thread that is in it ends it when it returns.
    if (at != NULL) offered_leave(at);
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
        const selene_window given = window_given(window);
        taking_begin(own, *out_cycle, given.lanes, (given.flags & SELENE_WINDOW_LANES) != 0, 0);
    }
    member_give_up(own);
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return status;
}

void taken_forget(connection *own, size_t place) {
    free(own->taken[place].told);
    free(own->taken[place].output);
    memmove(own->taken + place, own->taken + place + 1,
            (own->taken_count - place - 1) * sizeof *own->taken);
    own->taken_count--;
    calls_news(own);
}

void taken_keep(connection *own, selene_run_info *told, uint64_t cycle) {
    uint64_t number = told->run;
    own->runs = number & ~NUMBER_MASK;
    told->run = token_of(own, RUN, number);
    told->cycle = cycle;
    if (own->taken_count >= TAKEN_MOST) {
        size_t oldest = 0;
        while (oldest + 1 < own->taken_count && own->taken[oldest].is_of_lane)
            oldest++;
        if (!own->taken[oldest].is_of_lane) taken_forget(own, oldest);
    }
    own->taken = realloc(own->taken, (own->taken_count + 1) * sizeof *own->taken);
    if (own->taken == NULL) abort();
    own->taken[own->taken_count++] = (taken){.at = standing_of(own, told->run, number),
                                             .token = told->run,
                                             .cycle = cycle,
                                             .told = told};
}

static void fail_completed(service_failure *failure) {
    wire_fail(failure, SELENE_ERROR_ALREADY_COMPLETED, "run", NULL,
              "already completed; the first outcome stands");
}

static int has_outcome(uint32_t operation) {
    return operation >= SERVICE_RUN_COMPLETE && operation <= SERVICE_RUN_COMPLETE_UNTIL;
}

// Who asks of a run, or tells how far it is, may be in the midst of its work: only what it leaves waits for the next owner.
static int64_t wait_of(const connection *own, uint32_t operation) {
    return has_outcome(operation) || operation == SERVICE_RUN_SET_OUTPUT ? own->wait : 0;
}

connection *member_enter(uint64_t token, uint32_t operation, wire_word *out_number,
                         service_failure *failure) {
    int is_run = service_is_run(token);
    wire_entry *entry =
        wire_acquire_at(slot_of(token), WIRE_CONNECTION, is_run ? "run" : "cycle", failure);
    if (entry == NULL) return NULL;
    connection *own = (connection *)(void *)entry;
    pthread_mutex_lock(&own->turn);
    out_number->bits = at_owner(own, token);
    if (is_run && standing_number(own, token, out_number)) return own;
    if (is_run && standing_is_kept(own, token)) {
        // The next owner may know it, once it is asked; until then nothing is known of it.
        int32_t status = connection_settle(own, wait_of(own, operation), failure);
        if (status == SELENE_OK && standing_number(own, token, out_number)) return own;
        if (status != SELENE_OK) {
            pthread_mutex_unlock(&own->turn);
            wire_leave(entry);
            return NULL;
        }
    } else if (is_of_session(own, token)) {
        return own;
    }
    // Nothing of it is left, wherever the owner is.
    if (is_run && given_was_accepted(own, token)) fail_completed(failure);
    else connection_ended(is_run, failure);
    for (size_t i = 0; i < own->taken_count; i++)
        if (own->taken[i].token == token && !own->taken[i].is_of_lane) taken_forget(own, i--);
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return NULL;
}

connection *cycle_enter(uint64_t cycle, wire_word *out_number, service_failure *failure) {
    return member_enter(cycle, SERVICE_CYCLE_NEXT, out_number, failure);
}

void member_exit(connection *own) {
    pthread_mutex_unlock(&own->turn);
    wire_leave(&own->entry);
}

int32_t service_cycle_next(uint64_t cycle, int32_t *out_step, const void **out_run,
                           int64_t *out_wake_at, service_failure *failure) {
    wire_word number;
    connection *own = cycle_enter(cycle, &number, failure);
    if (own == NULL) return failure->status;
    void *told = NULL;
    if (taking_gives(own, cycle, 0, failure) != SELENE_OK) {
        member_exit(own);
        return failure->status;
    }
    const wire_word words[WIRE_WORDS] = {
        number, {.pointer = &told}, {.pointer = out_step}, {.pointer = out_wake_at}};
    int32_t status = connection_ask(own, SERVICE_CYCLE_NEXT, words, own->session, failure);
    if (status == SELENE_ERROR_STALE_RUN) status = connection_ended(0, failure);
    if (status == SELENE_OK) given_are_durable(own);
    if (status == SELENE_OK && told != NULL) {
        taken_keep(own, told, cycle);
        taking_pulled(own, cycle);
    }
    *out_run = told;
    member_exit(own);
    return status;
}

// The numbers in what came are the owner's; those that a host gets are this connection's.
void member_translate(connection *own, uint32_t operation, uint64_t token, const wire_word *words) {
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

// Ends a cycle: whoever waits for its report has it, too.
static int32_t end_cycle(uint64_t token, void **out_report, service_failure *failure) {
    void *report = NULL;
    wire_word words[WIRE_WORDS] = {{0}, {.pointer = &report}};
    connection *own = cycle_enter(token, &words[0], failure);
    if (own == NULL) return failure->status;
    int is_called = taking_is_called(own, token);
    if (!is_called && out_report == NULL) words[1].pointer = NULL;
    int32_t status = connection_ask(own, SERVICE_CYCLE_END, words, own->session, failure);
    if (status == SELENE_ERROR_STALE_RUN) status = connection_ended(0, failure);
    if (status == SELENE_OK) {
        member_translate(own, SERVICE_CYCLE_END, token, words);
        given_are_durable(own);
    }
    if (status != SELENE_ERROR_OWNER_AWAY) taking_end(own, token);
    struct window *called = status == SELENE_OK && is_called ? calls_take(own, token) : NULL;
    pthread_mutex_unlock(&own->turn);
    if (called != NULL) calls_report(own, called, report);
    wire_leave(&own->entry);
    if (out_report != NULL && status == SELENE_OK) *out_report = report;
    else free(report);
    return status;
}

int32_t member_ask(connection *own, uint32_t operation, uint64_t token, wire_word *words,
                   service_failure *failure) {
    uint64_t session = own->session;
    const int64_t wait = service_is_run(token) ? wait_of(own, operation) : 0;
    int32_t status = connection_ask_within(own, operation, words, session, wait, failure);
    if (!service_is_run(token)) return status;
    // It was over before it was asked, or nobody knows whether it was asked.
    int is_next = status == SELENE_ERROR_STALE_RUN && own->session != session;
    if (!is_next && !(status == SELENE_ERROR_OWNER_AWAY && own->is_in_doubt)) return status;
    service_failure later;
    int32_t answer;
    if (!is_next && has_outcome(operation)) given_keep(own, token, operation, words, 0);
    if (!is_next &&
        (!standing_is_kept(own, token) || connection_settle(own, wait, &later) != SELENE_OK))
        return status;
    if (!standing_number(own, token, &words[0])) {
        if (!is_next || !given_was_accepted(own, token)) return status;
        fail_completed(failure);
        return failure->status;
    }
    if (!is_next && given_again(own, token, &answer) && answer == SELENE_OK) return SELENE_OK;
    return connection_ask(own, operation, words, own->session, failure);
}

int32_t service_ask_of(uint64_t token, uint32_t operation, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t d, service_failure *failure) {
    if (operation == SERVICE_CYCLE_END) return end_cycle(token, (void **)(uintptr_t)a, failure);
    wire_word words[WIRE_WORDS] = {{0}, {a}, {b}, {c}, {d}};
    connection *own = member_enter(token, operation, &words[0], failure);
    if (own == NULL) return failure->status;
    int32_t status = member_ask(own, operation, token, words, failure);
    int is_run = service_is_run(token);
    if (status == SELENE_ERROR_STALE_RUN && !is_run) status = connection_ended(0, failure);
    if (status == SELENE_OK) member_translate(own, operation, token, words);
    int is_over = status == SELENE_OK || status == SELENE_ERROR_STALE_RUN ||
                  status == SELENE_ERROR_ALREADY_COMPLETED;
    // The next owner is told of it, too, if it goes on with the run, also where this one could not be asked any more.
    if (has_outcome(operation) && (status == SELENE_OK || status == SELENE_ERROR_OWNER_AWAY))
        given_keep(own, token, operation, words, status == SELENE_OK);
    for (size_t i = 0;
         operation == SERVICE_RUN_SET_OUTPUT && status == SELENE_OK && i < own->taken_count; i++)
        if (own->taken[i].token == token)
            output_keep(&own->taken[i], words[1].pointer, words[2].number);
    for (size_t i = 0; is_run && has_outcome(operation) && is_over && i < own->taken_count; i++)
        if (own->taken[i].token == token) {
            // What a lane has of it is kept until its thread comes back.
            if (own->taken[i].is_of_lane) own->taken[i].is_over = 1;
            else taken_forget(own, i--);
        }
    if (operation == SERVICE_CYCLE_DRAIN && status == SELENE_OK) news_came(own);
    member_exit(own);
    return status;
}

int32_t service_run_user(uint64_t run, int32_t is_set, void **user, service_failure *failure) {
    wire_word number;
    int32_t reason, is_found = 0;
    connection *own = member_enter(run, SERVICE_RUN_STOPPING, &number, failure);
    if (own == NULL) return failure->status;
    for (size_t i = 0; i < own->taken_count && !is_found; i++) {
        taken *each = &own->taken[i];
        if (each->token != run) continue;
        is_found = 1;
        if (is_set) each->user = *user;
        else *user = each->user;
    }
    member_exit(own);
    if (is_found) return SELENE_OK;
    // The owner says what has become of it.
    int32_t status =
        service_ask_of(run, SERVICE_RUN_STOPPING, (uint64_t)(uintptr_t)&reason, 0, 0, 0, failure);
    if (status != SELENE_OK) return status;
    return wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, "run", NULL,
                     "not one of this connection, or so many were taken after it");
}
