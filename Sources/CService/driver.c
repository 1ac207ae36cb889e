// Windows that the owner grants (L7): a thread of the library, or the host's event loop, asks for the next one; what wakes
// it is the owner's news, which a thread reads.

#include "member.h"

#include <errno.h>
#include <poll.h>

enum { FIRST_PAUSE = 10000000 };
#define LONGEST_PAUSE INT64_C(1000000000)

int32_t driver_join(connection *own, service_failure *failure) {
    const wire_word words[WIRE_WORDS] = {{.pointer = &own->driver}, {own->drives == 1}};
    return member_tell(own, SERVICE_DRIVER_OPEN, words, failure);
}

void driver_wake(connection *own) {
    platform_watch *watch = atomic_load(&own->watch);
    if (watch != NULL) platform_watch_poke(watch);
}

void driver_free(connection *own) {
    platform_watch *watch = atomic_load(&own->watch);
    if (watch != NULL) platform_watch_close(watch);
}

// One step: a window that was granted, as this connection's cycle, or 0 and how long until the next step is due. The lock
// is held.
static int32_t step(connection *own, uint64_t *out_cycle, int32_t *out_lanes, int64_t *out_wake_at,
                    int64_t *out_delay, service_failure *failure) {
    uint64_t cycle = 0;
    const wire_word words[WIRE_WORDS] = {{.pointer = &cycle},
                                         {.pointer = out_lanes},
                                         {.pointer = out_wake_at},
                                         {.pointer = out_delay}};
    *out_cycle = 0;
    // It is made again and again: who stops the driver must not wait until an owner is there.
    int32_t status = connection_ask_within(own, SERVICE_DRIVER_STEP, words, 0, 0, failure);
    if (status != SELENE_OK || cycle == 0) return status;
    uint32_t most = own->driver.refresh_lanes > own->driver.processing_lanes
                        ? own->driver.refresh_lanes
                        : own->driver.processing_lanes;
    // Nothing was asked for that needs more.
    if (*out_lanes < 1 || (uint32_t)*out_lanes > most) {
        connection_drop(own);
        return connection_away(own, EPROTO, 1, failure);
    }
    own->cycles = cycle & ~NUMBER_MASK;
    *out_cycle = token_of(own, CYCLE, cycle);
    return SELENE_OK;
}

// ---- A thread ----

static void drive(connection *own, uint64_t number) {
    int64_t pause = FIRST_PAUSE;
    for (;;) {
        service_failure failure;
        uint64_t cycle = 0, seen = atomic_load(&own->news);
        int64_t wake_at = 0, delay = 0;
        int32_t lanes = 0, status = SELENE_OK;
        pthread_mutex_lock(&own->turn);
        int is_over = own->drives != 1 || own->drivers != number || own->is_leaving ||
                      atomic_load(&own->is_closed);
        // Too many threads are left behind: one that comes back is news.
        int is_full = !is_over && calls_are_full(own);
        if (!is_over && !is_full) status = step(own, &cycle, &lanes, &wake_at, &delay, &failure);
        int has_begun = cycle != 0 && calls_begin(own, cycle, (uint32_t)lanes);
        pthread_mutex_unlock(&own->turn);
        if (is_over) return;
        if (has_begun) {
            pause = FIRST_PAUSE;
            continue;
        }
        // The owner is away, or the system refuses threads: later again, the longer the more often.
        if (status != SELENE_OK || cycle != 0 || is_full) {
            delay = pause;
            if (pause < LONGEST_PAUSE) pause *= 2;
            // What wakes others need not be what it waits for.
            int64_t until = platform_boot_clock() + delay;
            while (atomic_load(&own->is_closed) == 0 && platform_boot_clock() < until) {
                seen = atomic_load(&own->news);
                news_await(own, seen, until);
            }
            continue;
        }
        pause = FIRST_PAUSE;
        int64_t now = platform_boot_clock();
        news_await(own, seen, delay < 0 || delay > INT64_MAX - now ? INT64_MAX : now + delay);
    }
}

// ---- Open and close ----

int32_t service_driver_open(uint64_t handle, const void *driver, int32_t has_thread,
                            int32_t *out_fd, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    selene_driver terms = SELENE_DRIVER_INIT;
    uint32_t size = 0;
    if (driver != NULL) memcpy(&size, driver, sizeof size);
    if (size > 0) memcpy(&terms, driver, size < sizeof terms ? size : sizeof terms);
    terms.struct_size = sizeof terms;
    int32_t status = SELENE_OK;
    pthread_mutex_lock(&own->turn);
    own->is_member = 1;
    const wire_word words[WIRE_WORDS] = {{.pointer = &terms}, {has_thread != 0}};
    if (own->is_leaving)
        status = wire_fail(failure, SELENE_ERROR_UNAVAILABLE, "", NULL, "it is being closed");
    else if (own->drives)
        status = wire_fail(failure, SELENE_ERROR_BUSY, "", NULL, "a driver is open; stop it first");
    if (status == SELENE_OK && !has_thread && atomic_load(&own->watch) == NULL) {
        platform_watch *watch = platform_watch_open(PLATFORM_WATCH_TIME);
        if (watch != NULL) atomic_store(&own->watch, watch);
        else
            status = wire_fail(failure, SELENE_ERROR_EXHAUSTED, "", NULL,
                               "the system refused a descriptor to wait with");
    }
    if (status == SELENE_OK && !calls_tell(own))
        status = wire_fail(failure, SELENE_ERROR_EXHAUSTED, "", NULL,
                           "the system refused to start a thread");
    if (status == SELENE_OK) status = member_hear(own, failure);
    if (status == SELENE_OK) status = connection_ask(own, SERVICE_DRIVER_OPEN, words, 0, failure);
    if (status == SELENE_OK) {
        own->driver = terms;
        own->drives = has_thread ? 1 : 2;
        own->drivers++;
        if (has_thread && !calls_start(own, "selene/driver", drive, own->drivers)) {
            own->drives = 0;
            (void)member_tell(own, SERVICE_DRIVER_STOP, (const wire_word[WIRE_WORDS]){{0}},
                              failure);
            status = wire_fail(failure, SELENE_ERROR_EXHAUSTED, "", NULL,
                               "the system refused to start a thread");
        }
        // The thread that opened it looks first.
        if (!has_thread) driver_wake(own);
        if (status == SELENE_OK && out_fd != NULL && !has_thread)
            *out_fd = platform_watch_descriptor(atomic_load(&own->watch));
    }
    member_give_up(own);
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return status;
}

static int32_t not_stepped(service_failure *failure) {
    return wire_fail(failure, SELENE_ERROR_UNSUPPORTED, "", NULL,
                     "no driver of selene_driver_open is open");
}

int32_t service_driver_step(uint64_t handle, uint64_t *out_cycle, int64_t *out_wake_at,
                            service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    int64_t delay = -1;
    int32_t lanes = 0, status;
    *out_cycle = 0;
    pthread_mutex_lock(&own->turn);
    platform_watch *watch = atomic_load(&own->watch);
    if (own->drives != 2) {
        status = not_stepped(failure);
    } else {
        uint64_t seen = atomic_load(&own->news);
        (void)platform_watch_drain(watch);
        status = step(own, out_cycle, &lanes, out_wake_at, &delay, failure);
        if (*out_cycle != 0)
            taking_begin(own, *out_cycle, (uint32_t)lanes,
                         (own->driver.flags & SELENE_DRIVER_LANES) != 0, 0);
        if (status != SELENE_OK) {
            // What the attempt itself has rung is no news.
            (void)platform_watch_drain(watch);
            delay = LONGEST_PAUSE;
        }
        // Without a window it sleeps, unless something has happened meanwhile.
        platform_watch_set_timer(watch, *out_cycle != 0 ? -1 : delay);
        if (*out_cycle != 0 || (status == SELENE_OK && atomic_load(&own->news) != seen))
            platform_watch_poke(watch);
    }
    pthread_mutex_unlock(&own->turn);
    wire_leave(entry);
    return status;
}

int32_t service_driver_wait(uint64_t handle, int64_t timeout, int32_t *out_ready,
                            service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    int32_t status = SELENE_OK;
    pthread_mutex_lock(&own->turn);
    uint64_t number = own->drivers;
    int is_open = own->drives == 2;
    pthread_mutex_unlock(&own->turn);
    if (timeout > 0 && platform_frame_within(handle) != 0)
        status = wire_fail(failure, SELENE_ERROR_REENTRANT, "", NULL,
                           "waiting for the driver is not possible inside a callback of the same "
                           "scheduler");
    else if (!is_open) status = not_stepped(failure);
    if (status == SELENE_OK) {
        *out_ready = platform_watch_wait(atomic_load(&own->watch), timeout);
        pthread_mutex_lock(&own->turn);
        if (own->drives != 2 || own->drivers != number || atomic_load(&own->is_closed))
            status =
                wire_fail(failure, SELENE_ERROR_UNSUPPORTED, "", NULL, "the driver was stopped");
        pthread_mutex_unlock(&own->turn);
    }
    wire_leave(entry);
    return status;
}

int32_t service_driver_stop(uint64_t handle, int64_t grace, service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    int64_t until = platform_boot_clock() + grace;
    if (platform_frame_within(handle) != 0) {
        wire_leave(entry);
        return wire_fail(failure, SELENE_ERROR_REENTRANT, "", NULL,
                         "stopping the driver is not possible inside a callback of the same "
                         "scheduler");
    }
    pthread_mutex_lock(&own->turn);
    int is_open = own->drives != 0, had_thread = own->drives == 1;
    own->drives = 0;
    uint64_t number = own->drivers;
    pthread_mutex_unlock(&own->turn);
    news_came(own);
    if (had_thread && grace > 0) calls_drain_granted(own, until, grace);
    pthread_mutex_lock(&own->turn);
    // Another may have been opened meanwhile.
    if (is_open && own->drivers == number && !own->drives) {
        // Where the owner has gone, so has what it granted.
        if (own->descriptor >= 0 && own->is_joined)
            (void)member_tell(own, SERVICE_DRIVER_STOP, (const wire_word[WIRE_WORDS]){{0}},
                              failure);
        if (had_thread) calls_drop_granted(own);
    }
    pthread_mutex_unlock(&own->turn);
    news_came(own);
    wire_leave(entry);
    return SELENE_OK;
}
