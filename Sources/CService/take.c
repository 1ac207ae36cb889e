// Threads that lend themselves to a cycle of a connection (C20), and how they wait: for the owner's news, which one of them
// reads from the socket.

#include "member.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define HOUR (3600 * INT64_C(1000000000))

// A cycle that this process is in.
typedef struct taking {
    uint64_t cycle;
    uint32_t limit, open;
    // Its runs are taken by next, or through lanes; by threads of the library, which call the handlers.
    int is_pulled, has_lanes, is_called;
} taking;

typedef struct lane {
    uint64_t handle, cycle;
    // The run that it has, or 0; it is over though its thread has not come back, and another lane may have its place.
    uint64_t run;
    int is_left_behind, is_called;
} lane;

// ---- News ----

void news_came(connection *own) {
    pthread_mutex_lock(&own->waiting);
    atomic_fetch_add(&own->news, 1);
    pthread_cond_broadcast(&own->woken);
    driver_wake(own);
    if (own->is_read) platform_ring(own->bell);
    pthread_mutex_unlock(&own->waiting);
}

static taking *find(connection *own, uint64_t cycle) {
    for (size_t i = 0; i < own->taking_count; i++)
        if (own->takings[i].cycle == cycle) return &own->takings[i];
    return NULL;
}

void member_told(connection *own, const unsigned char *body, size_t length) {
    uint64_t words[3];
    if (length < sizeof words) return;
    memcpy(words, body, sizeof words);
    for (size_t i = 0; i < own->taken_count && words[0] != 0; i++) {
        taken *each = &own->taken[i];
        if (!standing_is(own, &each->at, words[0])) continue;
        each->is_stopped |= words[2] != 0;
        calls_stop(own, each, (int32_t)words[1]);
    }
    news_came(own);
}

// Whether what can be read is the answer to a call, which the one who made it takes; asked: the last request before.
static int is_answer(connection *own, uint64_t asked) {
    if (pthread_mutex_trylock(&own->turn) != 0) return 1;
    int is = own->last_request != asked;
    pthread_mutex_unlock(&own->turn);
    return is;
}

// One who waits reads what comes, until the bell tells it that something else has happened.
static void read_news(connection *own, uint64_t seen, int64_t until) {
    pthread_mutex_lock(&own->turn);
    if (own->descriptor >= 0 && !connection_hear(own)) news_came(own);
    int descriptor = own->descriptor;
    uint64_t asked = own->last_request;
    pthread_mutex_unlock(&own->turn);
    int64_t left = until - platform_boot_clock();
    if (atomic_load(&own->news) != seen || left <= 0 || atomic_load(&own->is_closed)) return;
    struct pollfd polled[2] = {{own->bell, POLLIN, 0}, {descriptor, POLLIN, 0}};
    poll(polled, descriptor >= 0 ? 2 : 1, left < HOUR ? (int)(left / 1000000) + 1 : 3600000);
    // Who calls takes news as well. To wake up for each answer, of which there may be a hundred in a millisecond, would
    // take half of their time.
    if (polled[0].revents == 0 && polled[1].revents != 0 && is_answer(own, asked))
        poll(polled, 1, 1);
    if (polled[0].revents != 0) system_bell_quiet(own->bell);
}

void news_await(connection *own, uint64_t seen, int64_t until) {
    pthread_mutex_lock(&own->waiting);
    if (own->bell < 0) own->bell = system_bell_open();
    while (atomic_load(&own->news) == seen && !atomic_load(&own->is_closed)) {
        int64_t left = until - platform_boot_clock();
        if (left <= 0) break;
        if (!own->is_read && own->bell >= 0) {
            own->is_read = 1;
            pthread_mutex_unlock(&own->waiting);
            read_news(own, seen, until);
            pthread_mutex_lock(&own->waiting);
            own->is_read = 0;
            // Another one reads on.
            if (atomic_load(&own->news) != seen || platform_boot_clock() >= until)
                pthread_cond_broadcast(&own->woken);
            continue;
        }
        // Where the system gives no descriptor nobody can be woken: they ask again.
        if (own->bell < 0 && left > 100000000) left = 100000000;
        if (left > HOUR) left = HOUR;
        system_condition_wait(&own->woken, &own->waiting, left);
        if (own->bell < 0) break;
    }
    pthread_mutex_unlock(&own->waiting);
}

// ---- Cycles ----

selene_window window_given(const void *window) {
    selene_window given = SELENE_WINDOW_INIT;
    uint32_t size = 0;
    if (window != NULL) memcpy(&size, window, sizeof size);
    if (size > 0) memcpy(&given, window, size < sizeof given ? size : sizeof given);
    return given;
}

void taking_begin(connection *own, uint64_t cycle, uint32_t lanes, int has_lanes, int is_called) {
    own->takings = realloc(own->takings, (own->taking_count + 1) * sizeof *own->takings);
    if (own->takings == NULL) abort();
    own->takings[own->taking_count++] = (taking){cycle, lanes, 0, 0, has_lanes, is_called};
}

int32_t taking_gives(connection *own, uint64_t cycle, int through_lanes, service_failure *failure) {
    taking *at = find(own, cycle);
    if (at == NULL)
        return wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, "cycle", NULL,
                         "a handle that is closed, or a number that is not a handle");
    if (at->is_called && !through_lanes)
        return wire_fail(failure, SELENE_ERROR_UNSUPPORTED, "cycle", NULL,
                         "run by library threads; only a pulled cycle gives its runs to the host");
    if (through_lanes ? at->is_pulled || at->is_called : at->has_lanes)
        return wire_fail(failure, SELENE_ERROR_UNSUPPORTED, "cycle", NULL,
                         through_lanes ? "not begun for lanes, or its runs are taken by "
                                         "selene_cycle_next"
                                       : "begun with SELENE_WINDOW_LANES; take its runs with "
                                         "selene_lane_next");
    return SELENE_OK;
}

void taking_pulled(connection *own, uint64_t cycle) {
    taking *at = find(own, cycle);
    if (at != NULL) at->is_pulled = 1;
}

void taking_end(connection *own, uint64_t cycle) {
    taking *at = find(own, cycle);
    if (at != NULL) *at = own->takings[--own->taking_count];
    news_came(own);
}

int taking_is_called(connection *own, uint64_t cycle) {
    const taking *at = find(own, cycle);
    return at != NULL && at->is_called;
}

void takings_lost(connection *own) {
    own->taking_count = 0;
}

void taking_free(connection *own) {
    if (own->bell >= 0) close(own->bell);
    free(own->takings);
    free(own->lanes);
}

int32_t service_cycle_wait(uint64_t cycle, int64_t timeout, void **out_report, int64_t *out_wake_at,
                           service_failure *failure) {
    return cycle_await(cycle, timeout, out_report, out_wake_at, NULL, failure);
}

int32_t cycle_await(uint64_t cycle, int64_t timeout, void **out_report, int64_t *out_wake_at,
                    window *called, service_failure *failure) {
    int64_t begun = platform_boot_clock();
    int64_t until = timeout > INT64_MAX - begun ? INT64_MAX : begun + timeout;
    *out_report = NULL;
    for (;;) {
        wire_word number;
        connection *own = cycle_enter(cycle, &number, failure);
        if (own == NULL) return failure->status;
        taking *at = find(own, cycle);
        uint64_t seen = atomic_load(&own->news);
        int32_t is_over = 0, status = SELENE_OK;
        int64_t delay = 0;
        if (called != NULL) window_keep(own, called);
        if (at != NULL && (at->is_called ? called == NULL : !at->has_lanes))
            status = wire_fail(failure, SELENE_ERROR_UNSUPPORTED, "cycle", NULL,
                               "without lanes; begin it with SELENE_WINDOW_LANES");
        const wire_word words[WIRE_WORDS] = {
            number, {.pointer = &is_over}, {.pointer = out_wake_at}, {.pointer = &delay}};
        if (status == SELENE_OK) status = member_hear(own, failure);
        if (status == SELENE_OK)
            status = connection_ask(own, SERVICE_CYCLE_PROGRESS, words, own->session, failure);
        if (status == SELENE_OK && is_over) {
            const wire_word ending[WIRE_WORDS] = {number, {.pointer = out_report}};
            status = connection_ask(own, SERVICE_CYCLE_END, ending, own->session, failure);
            if (status == SELENE_OK) {
                member_translate(own, SERVICE_CYCLE_END, cycle, ending);
                given_are_durable(own);
                taking_end(own, cycle);
                if (called != NULL) (void)calls_take(own, cycle);
            }
        }
        if (status == SELENE_ERROR_STALE_RUN) status = connection_ended(0, failure);
        // Only an owner whose host tells the time says that waiting is of no use, and that begins no such window.
        if (status == SELENE_OK && !is_over && delay < 0 && called != NULL) {
            connection_drop(own);
            status = connection_away(own, EPROTO, 1, failure);
        }
        int64_t now = platform_boot_clock();
        if (status != SELENE_OK || is_over || delay < 0 || now >= until) {
            member_exit(own);
            return status;
        }
        pthread_mutex_unlock(&own->turn);
        news_await(own, seen, delay > until - now ? until : now + delay);
        wire_leave(&own->entry);
    }
}

// ---- Lanes ----

static lane *find_lane(connection *own, uint64_t handle) {
    for (size_t i = 0; i < own->lane_count; i++)
        if (own->lanes[i].handle == handle) return &own->lanes[i];
    return NULL;
}

static taken *taken_of(connection *own, uint64_t run) {
    for (size_t i = 0; i < own->taken_count && run != 0; i++)
        if (own->taken[i].token == run) return &own->taken[i];
    return NULL;
}

// Lanes whose run is over have a place for another one.
static uint32_t open_lanes(connection *own, uint64_t cycle) {
    uint32_t open = 0;
    for (size_t i = 0; i < own->lane_count; i++) {
        lane *each = &own->lanes[i];
        if (each->cycle != cycle) continue;
        const taken *run = taken_of(own, each->run);
        if (run != NULL && !run->is_over && run->is_stopped) each->is_left_behind = 1;
        open += !each->is_left_behind;
    }
    return open;
}

int32_t service_lane_open(uint64_t cycle, uint64_t *out_lane, service_failure *failure) {
    return lane_open(cycle, 0, out_lane, failure);
}

int32_t lane_open(uint64_t cycle, int is_called, uint64_t *out_lane, service_failure *failure) {
    wire_word number;
    connection *own = cycle_enter(cycle, &number, failure);
    if (own == NULL) return failure->status;
    // What has come of its runs counts; that the owner has gone the next request finds.
    if (own->descriptor >= 0) (void)connection_hear(own);
    taking *at = find(own, cycle);
    int32_t status = is_called && at != NULL ? SELENE_OK : taking_gives(own, cycle, 1, failure);
    if (status == SELENE_OK && open_lanes(own, cycle) >= at->limit)
        status = wire_fail(failure, SELENE_ERROR_BUSY, "cycle", NULL,
                           "all %u lanes of its window are open", at->limit);
    if (status == SELENE_OK) {
        at->has_lanes = 1;
        own->lanes = realloc(own->lanes, (own->lane_count + 1) * sizeof *own->lanes);
        if (own->lanes == NULL) abort();
        *out_lane = token_of(own, LANE, ++own->last_lane);
        own->lanes[own->lane_count++] = (lane){*out_lane, cycle, 0, 0, is_called};
    }
    member_exit(own);
    return status;
}

// The connection of a lane, locked, also where the owner has gone; NULL: the failure says why.
static connection *enter(uint64_t handle, service_failure *failure) {
    wire_entry *entry = wire_acquire_at(slot_of(handle), WIRE_CONNECTION, "lane", failure);
    if (entry == NULL) return NULL;
    connection *own = (connection *)(void *)entry;
    pthread_mutex_lock(&own->turn);
    if (own->descriptor >= 0) (void)connection_hear(own);
    if (find_lane(own, handle) != NULL) return own;
    wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, "lane", NULL,
              "a handle that is closed, or a number that is not a handle, is not an open handle");
    member_exit(own);
    return NULL;
}

// Its thread is back: what was told of its run is not needed any more if that has its outcome.
static void come_back(connection *own, lane *of) {
    taken *run = taken_of(own, of->run);
    if (run != NULL && (run->is_over || run->is_stopped))
        taken_forget(own, (size_t)(run - own->taken));
    else if (run != NULL) run->is_of_lane = 0;
    of->run = 0;
}

int32_t service_lane_next(uint64_t handle, int32_t outcome, int64_t timeout, int32_t *out_step,
                          const void **out_run, int64_t *out_wake_at, service_failure *failure) {
    return lane_take(handle, outcome, timeout, out_step, out_run, out_wake_at, NULL, failure);
}

int32_t lane_take(uint64_t handle, int32_t outcome, int64_t timeout, int32_t *out_step,
                  const void **out_run, int64_t *out_wake_at, offered **out_handler,
                  service_failure *failure) {
    int64_t begun = platform_boot_clock();
    int64_t until = timeout > INT64_MAX - begun ? INT64_MAX : begun + timeout;
    *out_run = NULL;
    for (int has_waited = 0;; has_waited = 1) {
        connection *own = enter(handle, failure);
        if (own == NULL) {
            // It was closed while this thread was about to look again.
            if (!has_waited || failure->status != SELENE_ERROR_INVALID_HANDLE)
                return failure->status;
            *out_step = SELENE_STEP_DONE;
            return SELENE_OK;
        }
        lane *at = find_lane(own, handle);
        wire_word last = {0};
        uint64_t cycle = at->cycle, seen = atomic_load(&own->news);
        int64_t delay = 0;
        void *told = NULL;
        int32_t status = SELENE_OK;
        *out_step = SELENE_STEP_DONE;
        // Of a cycle that is over there is nothing more, nor where another lane has taken its place.
        taking *in = find(own, cycle);
        uint32_t open = open_lanes(own, cycle);
        if (in != NULL && at->is_left_behind && open < in->limit) at->is_left_behind = 0;
        int is_asked = in != NULL && !at->is_left_behind && !(at->is_called && own->is_leaving);
        if (is_asked) status = member_hear(own, failure);
        if (outcome != SELENE_OUTCOME_NONE && at->run != 0) last.bits = at_owner(own, at->run);
        const wire_word words[WIRE_WORDS] = {{at_owner(own, cycle)}, last,
                                             {.number = outcome},    {.pointer = &told},
                                             {.pointer = out_step},  {.pointer = out_wake_at},
                                             {.pointer = &delay}};
        if (status == SELENE_OK && is_asked)
            status = connection_ask(own, SERVICE_CYCLE_TAKE, words, own->session, failure);
        if (status == SELENE_OK && is_asked) given_are_durable(own);
        // Of a cycle that went with its owner, or of an answer that never came, the next owner is told.
        else if (last.bits != 0 && (!is_asked || status == SELENE_ERROR_OWNER_AWAY ||
                                    status == SELENE_ERROR_STALE_RUN)) {
            service_failure later;
            const wire_word said[WIRE_WORDS] = {{0}, {.number = outcome}};
            given_keep(own, at->run, SERVICE_RUN_COMPLETE, said, 0);
            if (own->descriptor >= 0 && own->is_joined) (void)member_rejoin(own, &later);
        }
        // It has ended it meanwhile, or is another one now, or was closed while this thread looked again.
        if (status == SELENE_ERROR_INVALID_HANDLE || status == SELENE_ERROR_STALE_RUN ||
            (status != SELENE_OK && has_waited && atomic_load(&own->is_closed))) {
            status = SELENE_OK;
            *out_step = SELENE_STEP_DONE;
        }
        if (status != SELENE_ERROR_OWNER_AWAY) {
            taken *run = taken_of(own, at->run);
            if (run != NULL && outcome != SELENE_OUTCOME_NONE) run->is_over = 1;
            come_back(own, at);
        }
        if (status == SELENE_OK && told != NULL) {
            taken_keep(own, told, cycle);
            own->taken[own->taken_count - 1].is_of_lane = 1;
            at->run = own->taken[own->taken_count - 1].token;
            *out_run = told;
            if (out_handler != NULL)
                *out_handler = offered_use(own, ((const selene_run_info *)told)->handler);
        }
        // Who waits for the cycle may look again.
        if (is_asked && *out_step == SELENE_STEP_DONE) news_came(own);
        int64_t now = platform_boot_clock();
        if (status != SELENE_OK || *out_step != SELENE_STEP_WAIT || delay < 0 || now >= until) {
            member_exit(own);
            return status;
        }
        pthread_mutex_unlock(&own->turn);
        news_await(own, seen, delay > until - now ? until : now + delay);
        int is_closed = atomic_load(&own->is_closed);
        wire_leave(&own->entry);
        outcome = SELENE_OUTCOME_NONE;
        if (!is_closed) continue;
        *out_step = SELENE_STEP_DONE;
        return SELENE_OK;
    }
}

int32_t service_lane_close(uint64_t handle, service_failure *failure) {
    connection *own = enter(handle, failure);
    if (own == NULL) return failure->status;
    lane *at = find_lane(own, handle);
    come_back(own, at);
    *at = own->lanes[--own->lane_count];
    member_exit(own);
    return SELENE_OK;
}

uint32_t lanes_left_behind(connection *own, uint64_t cycle) {
    uint32_t count = 0;
    for (size_t i = 0; i < own->lane_count; i++) {
        lane *each = &own->lanes[i];
        if (!each->is_called || each->run == 0 || (cycle != 0 && each->cycle != cycle)) continue;
        const taken *run = taken_of(own, each->run);
        if (run != NULL && !run->is_over && run->is_stopped) each->is_left_behind = 1;
        count += each->is_left_behind || find(own, each->cycle) == NULL;
    }
    return count;
}

int lanes_at_work(connection *own, uint64_t cycle) {
    for (size_t i = 0; i < own->taken_count; i++) {
        const taken *each = &own->taken[i];
        if (each->cycle != cycle || !taking_is_called(own, cycle) || each->is_stopped) continue;
        if (!each->is_over || each->is_of_lane) return 1;
    }
    return 0;
}
