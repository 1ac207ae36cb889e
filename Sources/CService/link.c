// What a scheduler of this process asks of the owner that gives its runs, and how it hears news.
//
// Whoever asks has the turn, and gives it back only when it has taken the answer in: so answers and news are taken in in the
// order in which they came. The functions are called with the turn that service_link_enter gave, unless they say otherwise.

#include "member.h"

#include <errno.h>
#include <unistd.h>

#define HOUR (3600 * INT64_C(1000000000))
#define PAUSE INT64_C(100000000)

// ---- The turn ----

void *service_link_enter(uint64_t handle, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return NULL;
    connection *own = (connection *)(void *)entry;
    connection_take_turn(own);
    return own;
}

void service_link_exit(void *link) {
    connection *own = link;
    connection_give_turn(own);
    wire_leave(&own->entry);
}

// ---- Who reads ----

// What came since the last request; whether something was told.
static int hear(connection *own) {
    uint64_t said = own->said;
    if (own->descriptor >= 0 && !connection_hear(own)) connection_drop(own);
    return own->said != said;
}

// What the one that reads waits with. Whether it is there.
static int open_set(connection *own) {
    if (own->set >= 0) return 1;
    if (atomic_load(&own->bell) < 0) atomic_store(&own->bell, system_bell_open());
    const int bell = atomic_load(&own->bell), set = bell < 0 ? -1 : system_set_open();
    if (set < 0) return 0;
    if (!system_set_add(set, bell, SYSTEM_READ, &own->bell)) {
        close(set);
        return 0;
    }
    own->set = set;
    return 1;
}

// ---- Who works ----

int32_t service_link_worker(uint64_t handle, uint64_t *out_worker, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    // Without the turn, which a request may have for as long as an owner stands still.
    *out_worker = atomic_load(&((connection *)(void *)entry)->worker);
    wire_leave(entry);
    return SELENE_OK;
}

int32_t service_link_attach(uint64_t handle, uint64_t worker, service_told told,
                            void (*end)(void *context), void *context, uint64_t *out_worker,
                            service_failure *failure) {
    connection *own = service_link_enter(handle, failure);
    if (own == NULL) return failure->status;
    int32_t status = SELENE_OK;
    if (atomic_load(&own->is_ending))
        status = wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, "scheduler", NULL,
                           "another thread has closed it");
    if (status == SELENE_OK && atomic_load(&own->worker) == 0) {
        own->told = told;
        own->end = end;
        own->context = context;
        open_set(own);
        atomic_store(&own->worker, worker);
    }
    *out_worker = atomic_load(&own->worker);
    service_link_exit(own);
    return status;
}

void service_link_lost(uint64_t handle, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return;
    wire_fail(failure, SELENE_ERROR_OWNER_AWAY, "path", ((connection *)(void *)entry)->path,
              "its owner ended, or the connection was closed, while the window was open; "
              "its runs are over");
    failure->flags = SELENE_FAULT_IN_DOUBT;
    wire_leave(entry);
}

// ---- Handlers ----

static offered *find_offered(connection *own, const char *name, uint64_t length) {
    for (size_t i = 0; i < own->offered_count; i++)
        if (own->offered[i].length == length && memcmp(own->offered[i].name, name, length) == 0)
            return &own->offered[i];
    return NULL;
}

int32_t service_link_offer(void *link, const char *name, uint64_t length, int32_t is_called,
                           service_failure *failure) {
    connection *own = link;
    own->is_member = 1;
    const wire_word words[WIRE_WORDS] = {
        {.pointer = (void *)(uintptr_t)name}, {length}, {(uint64_t)is_called}};
    int32_t status = connection_ask(own, SERVICE_HANDLER_REGISTER, words, 0, failure);
    if (status == SELENE_OK) {
        own->offered = realloc(own->offered, (own->offered_count + 1) * sizeof *own->offered);
        char *copy = strndup(name, length);
        if (own->offered == NULL || copy == NULL) abort();
        own->offered[own->offered_count++] = (offered){copy, length, is_called, 1};
    }
    member_give_up(own);
    return status;
}

void service_link_withdraw(void *link, const char *name, uint64_t length) {
    connection *own = link;
    service_failure failure;
    offered *at = find_offered(own, name, length);
    if (at == NULL) return;
    const wire_word words[WIRE_WORDS] = {{.pointer = at->name}, {at->length}};
    // Where there is no connection the next one does not offer it.
    int is_told = at->is_told && own->descriptor >= 0;
    char *gone = at->name;
    *at = own->offered[--own->offered_count];
    if (is_told) (void)member_tell(own, SERVICE_HANDLER_UNREGISTER, words, &failure);
    free(gone);
}

// ---- Cycles ----

int32_t service_link_begin(void *link, const void *window, int32_t how, uint64_t *out_cycle,
                           int64_t *out_deadline, service_failure *failure) {
    connection *own = link;
    uint64_t cycle = 0;
    const wire_word given = {.pointer = (void *)(uintptr_t)window};
    int32_t status;
    own->is_member = 1;
    *out_deadline = SELENE_NEVER;
    if (how == SERVICE_LINK_TAKES) {
        const wire_word words[WIRE_WORDS] = {given, {.pointer = &cycle}};
        status = connection_ask(own, SERVICE_CYCLE_BEGIN, words, 0, failure);
    } else {
        const wire_word words[WIRE_WORDS] = {given,
                                             {how == SERVICE_LINK_CALLS_LATER},
                                             {.pointer = &cycle},
                                             {.pointer = out_deadline}};
        status = connection_ask(own, SERVICE_CYCLE_CALL, words, 0, failure);
    }
    if (status == SELENE_OK) {
        own->cycles = cycle & ~NUMBER_MASK;
        *out_cycle = token_of(own, CYCLE, cycle);
    }
    member_give_up(own);
    return status;
}

// A request of a cycle that is of the present session.
static int32_t ask_of_cycle(connection *own, uint32_t operation, uint64_t cycle, wire_word *words,
                            service_failure *failure) {
    words[0].bits = at_owner(own, cycle);
    if (!is_of_session(own, cycle)) return connection_ended(0, failure);
    int32_t status = connection_ask(own, operation, words, own->session, failure);
    return status == SELENE_ERROR_STALE_RUN ? connection_ended(0, failure) : status;
}

void service_link_keep(void *link, uint64_t run, int32_t outcome) {
    connection *own = link;
    service_failure failure;
    const wire_word said[WIRE_WORDS] = {{0}, {.number = outcome}};
    given_keep(own, run, SERVICE_RUN_COMPLETE, said, 0);
    if (own->descriptor >= 0 && own->is_joined) (void)member_rejoin(own, &failure);
}

int32_t service_link_take(void *link, uint64_t cycle, uint64_t last, int32_t outcome, int32_t pulls,
                          service_step_taken *out, service_failure *failure) {
    connection *own = link;
    int32_t status = SELENE_OK;
    *out = (service_step_taken){.step = SELENE_STEP_DONE};
    void *told = NULL;
    if (pulls) {
        wire_word words[WIRE_WORDS] = {
            {0}, {.pointer = &told}, {.pointer = &out->step}, {.pointer = &out->until}};
        status = ask_of_cycle(own, SERVICE_CYCLE_NEXT, cycle, words, failure);
    } else {
        wire_word words[WIRE_WORDS] = {{0},
                                       {last != 0 ? at_owner(own, last) : 0},
                                       {.number = outcome},
                                       {.pointer = &told},
                                       {.pointer = &out->step},
                                       {.pointer = &out->until},
                                       {.pointer = &out->delay}};
        status = member_hear(own, failure);
        if (status == SELENE_OK)
            status = ask_of_cycle(own, SERVICE_CYCLE_TAKE, cycle, words, failure);
    }
    if (status == SELENE_OK) given_are_durable(own);
    // Of a cycle that went with its owner, or of an answer that never came, the next owner is told.
    else if (last != 0 &&
             (status == SELENE_ERROR_OWNER_AWAY || status == SELENE_ERROR_INVALID_HANDLE))
        service_link_keep(own, last, outcome);
    if (last != 0) taken_forget(own, last);
    if (status == SELENE_OK && told != NULL) {
        selene_run_info *info = told;
        info->run = taken_keep(own, info->run, pulls);
        out->run = told;
    }
    return status;
}

int32_t service_link_progress(void *link, uint64_t cycle, service_step_taken *out,
                              service_failure *failure) {
    connection *own = link;
    int32_t is_over = 0;
    *out = (service_step_taken){.step = SELENE_STEP_WAIT};
    wire_word words[WIRE_WORDS] = {
        {0}, {.pointer = &is_over}, {.pointer = &out->until}, {.pointer = &out->delay}};
    int32_t status = member_hear(own, failure);
    if (status == SELENE_OK)
        status = ask_of_cycle(own, SERVICE_CYCLE_PROGRESS, cycle, words, failure);
    if (is_over) out->step = SELENE_STEP_DONE;
    return status;
}

int32_t service_link_end(void *link, uint64_t cycle, void **out_report, service_failure *failure) {
    connection *own = link;
    *out_report = NULL;
    wire_word words[WIRE_WORDS] = {{0}, {.pointer = out_report}};
    int32_t status = ask_of_cycle(own, SERVICE_CYCLE_END, cycle, words, failure);
    if (status != SELENE_OK) return status;
    given_are_durable(own);
    selene_report *report = *out_report;
    for (uint64_t i = 0; i < report->run_count; i++) {
        // The struct lies in the same piece of memory, which is ours.
        selene_report_run *run = (selene_report_run *)(uintptr_t)&report->runs[i];
        run->run = token_of(own, RUN, run->run);
    }
    return SELENE_OK;
}

int32_t service_link_drain(void *link, uint64_t cycle, int64_t grace, service_failure *failure) {
    wire_word words[WIRE_WORDS] = {{0}, {.number = grace}};
    return ask_of_cycle(link, SERVICE_CYCLE_DRAIN, cycle, words, failure);
}

void service_link_rest(void *link) {
    connection *own = link;
    service_failure failure;
    if (own->is_joined && own->descriptor >= 0)
        (void)connection_ask(own, SERVICE_CLIENT_REST, (const wire_word[WIRE_WORDS]){{0}},
                             own->session, &failure);
}

void *service_report_copy(const void *report) {
    wire encoded = {.most = WIRE_ANSWER_MOST};
    wire_struct(&encoded, 'Q', report);
    wire_reader body = {encoded.data, encoded.data + encoded.length, 0};
    void *made = wire_made(&body, 'Q');
    if (made == NULL) abort();
    free(encoded.data);
    return made;
}

// ---- Runs ----

static int has_outcome(uint32_t operation) {
    return operation >= SERVICE_RUN_COMPLETE && operation <= SERVICE_RUN_COMPLETE_UNTIL;
}

// Who asks of a run, or tells how far it is, may be in the midst of its work: only what it leaves waits for the next owner.
static int64_t wait_of(const connection *own, uint32_t operation) {
    return has_outcome(operation) || operation == SERVICE_RUN_SET_OUTPUT ? own->wait : 0;
}

static int32_t was_completed(service_failure *failure) {
    return wire_fail(failure, SELENE_ERROR_ALREADY_COMPLETED, "run", NULL,
                     "already completed; the first outcome stands");
}

// The number that a run has at the owner, or at the next one if that goes on with it.
static int32_t find_run(connection *own, uint64_t run, uint32_t operation, wire_word *out_number,
                        service_failure *failure) {
    out_number->bits = at_owner(own, run);
    if (standing_number(own, run, out_number)) return SELENE_OK;
    if (standing_is_kept(own, run)) {
        // The next owner may know it, once it is asked; until then nothing is known of it.
        int32_t status = connection_settle(own, wait_of(own, operation), failure);
        if (status != SELENE_OK || standing_number(own, run, out_number)) return status;
    } else if (is_of_session(own, run)) {
        return SELENE_OK;
    }
    // Nothing of it is left, wherever the owner is.
    if (given_was_accepted(own, run)) return was_completed(failure);
    return connection_ended(1, failure);
}

static int32_t ask_of_run(connection *own, uint32_t operation, uint64_t run, wire_word *words,
                          service_failure *failure) {
    uint64_t session = own->session;
    const int64_t wait = wait_of(own, operation);
    int32_t status = connection_ask_within(own, operation, words, session, wait, failure);
    // It was over before it was asked, or nobody knows whether it was asked.
    int is_next = status == SELENE_ERROR_STALE_RUN && own->session != session;
    if (!is_next && !(status == SELENE_ERROR_OWNER_AWAY && own->is_in_doubt)) return status;
    service_failure later;
    int32_t answer;
    if (!is_next && has_outcome(operation)) given_keep(own, run, operation, words, 0);
    if (!is_next &&
        (!standing_is_kept(own, run) || connection_settle(own, wait, &later) != SELENE_OK))
        return status;
    if (!standing_number(own, run, &words[0])) {
        if (!is_next || !given_was_accepted(own, run)) return status;
        return was_completed(failure);
    }
    if (!is_next && given_again(own, run, &answer) && answer == SELENE_OK) return SELENE_OK;
    return connection_ask(own, operation, words, own->session, failure);
}

int32_t service_link_ask(void *link, uint64_t run, uint32_t operation, const uint64_t *given,
                         service_failure *failure) {
    connection *own = link;
    wire_word words[WIRE_WORDS] = {{0}, {given[0]}, {given[1]}, {given[2]}, {given[3]}};
    int32_t status = find_run(own, run, operation, &words[0], failure);
    int is_asked = status == SELENE_OK;
    if (is_asked) status = ask_of_run(own, operation, run, words, failure);
    // The next owner is told of it, too, if it goes on with the run, also where this one could not be asked any more.
    if (is_asked && has_outcome(operation) &&
        (status == SELENE_OK || status == SELENE_ERROR_OWNER_AWAY))
        given_keep(own, run, operation, words, status == SELENE_OK);
    taken *at =
        operation == SERVICE_RUN_SET_OUTPUT && status == SELENE_OK ? taken_find(own, run) : NULL;
    if (at != NULL) output_keep(at, words[1].pointer, words[2].number);
    if (has_outcome(operation) && (status == SELENE_OK || status == SELENE_ERROR_STALE_RUN ||
                                   status == SELENE_ERROR_ALREADY_COMPLETED))
        taken_forget(own, run);
    return status;
}

// ---- The driver (L7) ----

int32_t driver_join(connection *own, service_failure *failure) {
    const wire_word words[WIRE_WORDS] = {{.pointer = &own->driver}, {own->drives == 1}};
    return member_tell(own, SERVICE_DRIVER_OPEN, words, failure);
}

int32_t service_link_drive(void *link, const void *driver, int32_t calls,
                           service_failure *failure) {
    connection *own = link;
    selene_driver terms = {0};
    uint32_t size = 0;
    if (driver != NULL) memcpy(&size, driver, sizeof size);
    if (size > 0) memcpy(&terms, driver, size < sizeof terms ? size : sizeof terms);
    terms.struct_size = sizeof terms;
    const wire_word words[WIRE_WORDS] = {{.pointer = &terms}, {calls != 0}};
    own->is_member = 1;
    int32_t status = member_hear(own, failure);
    if (status == SELENE_OK) status = connection_ask(own, SERVICE_DRIVER_OPEN, words, 0, failure);
    if (status == SELENE_OK) {
        own->driver = terms;
        own->drives = calls ? 1 : 2;
    }
    member_give_up(own);
    return status;
}

int32_t service_link_step(void *link, uint64_t *out_cycle, service_step_taken *out,
                          service_failure *failure) {
    connection *own = link;
    uint64_t cycle = 0;
    *out = (service_step_taken){.step = SELENE_STEP_WAIT};
    *out_cycle = 0;
    const wire_word words[WIRE_WORDS] = {{.pointer = &cycle},
                                         {.pointer = &out->lanes},
                                         {.pointer = &out->until},
                                         {.pointer = &out->delay}};
    // It is made again and again: who stops the driver must not wait until an owner is there.
    int32_t status = connection_ask_within(own, SERVICE_DRIVER_STEP, words, 0, 0, failure);
    if (status != SELENE_OK || cycle == 0) return status;
    uint32_t most = own->driver.refresh_lanes > own->driver.processing_lanes
                        ? own->driver.refresh_lanes
                        : own->driver.processing_lanes;
    // Nothing was asked for that needs more.
    if (out->lanes < 1 || (uint32_t)out->lanes > most) {
        connection_drop(own);
        return connection_away(own, EPROTO, 1, failure);
    }
    own->cycles = cycle & ~NUMBER_MASK;
    *out_cycle = token_of(own, CYCLE, cycle);
    return SELENE_OK;
}

void service_link_undrive(void *link) {
    connection *own = link;
    service_failure failure;
    if (!own->drives) return;
    own->drives = 0;
    // Where the owner has gone, so has what it granted.
    if (own->descriptor >= 0 && own->is_joined)
        (void)member_tell(own, SERVICE_DRIVER_STOP, (const wire_word[WIRE_WORDS]){{0}}, &failure);
}

// ---- News ----

int32_t service_link_hear(void *link, service_failure *failure) {
    return member_hear(link, failure);
}

void service_link_drop(void *link) {
    connection_drop(link);
}

int32_t service_link_settle(void *link, service_failure *failure) {
    return connection_settle(link, 0, failure);
}

int64_t service_link_return(void *link) {
    connection *own = link;
    service_failure failure;
    hear(own);
    if (own->descriptor >= 0 || own->taken_count + own->given_count == 0) return HOUR;
    return connection_settle(own, 0, &failure) == SELENE_OK ? 0 : PAUSE;
}

// The socket is waited for until somebody takes the turn, which this thread has.
static void await_socket(connection *own) {
    if (own->descriptor < 0) return;
    if (own->is_in_set) system_set_change(own->set, own->descriptor, SYSTEM_READ, &own->descriptor);
    else own->is_in_set = system_set_add(own->set, own->descriptor, SYSTEM_READ, &own->descriptor);
}

static void await_news(connection *own, int64_t span) {
    system_ready ready[2];
    const int limit = span <= 0 ? 0 : span < HOUR ? (int)(span / 1000000) + 1 : 3600000;
    const int count = system_set_wait(own->set, ready, 2, limit);
    atomic_store(&own->is_read, 0);
    for (int i = 0; i < count; i++) {
        if (ready[i].what == &own->bell) {
            system_bell_quiet(atomic_load(&own->bell));
            continue;
        }
        pthread_mutex_lock(&own->turn);
        hear(own);
        pthread_mutex_unlock(&own->turn);
    }
}

void service_link_read(uint64_t handle, int64_t span) {
    service_failure failure;
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, &failure);
    if (entry == NULL) {
        // Nobody would wake it.
        platform_sleep(span < 1000000 ? span : 1000000);
        return;
    }
    connection *own = (connection *)(void *)entry;
    const int64_t begun = platform_boot_clock();
    pthread_mutex_lock(&own->turn);
    const int is_told = hear(own), was_there = own->set >= 0, is_there = open_set(own);
    if (!is_told && is_there) {
        await_socket(own);
        atomic_store(&own->is_read, 1);
    }
    // Where the system gave no descriptor it could not be woken: it looks up now and then.
    const int is_deaf = !was_there || (own->descriptor >= 0 && !own->is_in_set);
    pthread_mutex_unlock(&own->turn);
    // The turn may have taken its time.
    span -= platform_boot_clock() - begun;
    if (is_deaf && span > PAUSE) span = PAUSE;
    if (!is_told && is_there) await_news(own, span);
    else if (!is_told && span > 0) platform_sleep(span);
    wire_leave(entry);
}

void service_link_ring(uint64_t handle) {
    service_failure failure;
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, &failure);
    if (entry == NULL) return;
    int bell = atomic_load(&((connection *)(void *)entry)->bell);
    if (bell >= 0) platform_ring(bell);
    wire_leave(entry);
}
