// Handles of servers and connections, and the descriptors that a forked child must not keep.

#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { SLOTS = 4096 };

// Guards what follows; a fork waits for it, so that the child finds the descriptors.
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static wire_entry *entries[SLOTS];
static uint64_t last_number;
// Those whose handle is closed and that have not come to their end, and what tells that one has.
static wire_entry *leaving;
static pthread_cond_t has_gone = PTHREAD_COND_INITIALIZER;
// One bit for each descriptor that is ours.
static uint64_t *kept;
static size_t kept_words;

static void before_fork(void) {
    pthread_mutex_lock(&table);
}
static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&table);
}
// A child that kept them would make an owner that is gone look alive to its clients, and a client to its owner.
static void after_fork_in_child(void) {
    for (size_t i = 0; i < kept_words; i++) {
        for (unsigned bit = 0; kept[i] != 0; bit++) {
            if ((kept[i] >> bit & 1) == 0) continue;
            close((int)(i * 64 + bit));
            kept[i] &= ~(UINT64_C(1) << bit);
        }
    }
    // The threads that end them, or wait for that, are not here.
    static const pthread_cond_t quiet = PTHREAD_COND_INITIALIZER;
    has_gone = quiet;
    leaving = NULL;
    pthread_mutex_unlock(&table);
}

// At loading, so that no fork comes before it.
__attribute__((constructor)) static void watch_fork(void) {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int keep_descriptor(int descriptor) {
    if (descriptor < 0) return descriptor;
    size_t word = (size_t)descriptor / 64;
    if (word >= kept_words) {
        size_t count = word + 16;
        kept = realloc(kept, count * sizeof *kept);
        if (kept == NULL) abort();
        memset(kept + kept_words, 0, (count - kept_words) * sizeof *kept);
        kept_words = count;
    }
    kept[word] |= UINT64_C(1) << (descriptor % 64);
    return descriptor;
}

int wire_socket(void) {
    pthread_mutex_lock(&table);
    int made = keep_descriptor(system_socket());
    int error = errno;
    pthread_mutex_unlock(&table);
    errno = error;
    return made;
}

int wire_accept(int listener) {
    pthread_mutex_lock(&table);
    int made = keep_descriptor(system_accept(listener));
    int error = errno;
    pthread_mutex_unlock(&table);
    errno = error;
    return made;
}

int wire_duplicate(int descriptor) {
    pthread_mutex_lock(&table);
    int made = keep_descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
    int error = errno;
    pthread_mutex_unlock(&table);
    errno = error;
    return made;
}

void wire_close(int descriptor, int is_whole) {
    if (descriptor < 0) return;
    pthread_mutex_lock(&table);
    kept[descriptor / 64] &= ~(UINT64_C(1) << (descriptor % 64));
    // The other end is told even if a child that is just being forked has it for a moment more.
    if (is_whole) shutdown(descriptor, SHUT_RDWR);
    close(descriptor);
    pthread_mutex_unlock(&table);
}

int32_t wire_enter(wire_entry *entry, uint64_t kind, service_failure *failure) {
    pthread_mutex_lock(&table);
    size_t slot = 0;
    // What a forked child inherited keeps its place, so that its handle goes on saying so.
    while (slot < SLOTS && entries[slot] != NULL)
        slot++;
    if (slot < SLOTS) {
        entry->handle = UINT64_C(1) << 62 | kind << 56 | (uint64_t)slot << 40 |
                        (++last_number & ((UINT64_C(1) << 40) - 1));
        entry->generation = platform_fork_generation();
        entry->users = 2;
        entries[slot] = entry;
    }
    pthread_mutex_unlock(&table);
    if (slot < SLOTS) return SELENE_OK;
    return wire_fail(failure, SELENE_ERROR_EXHAUSTED, "path", NULL,
                     "%d servers and connections are open, which is the limit", SLOTS);
}

wire_entry *wire_acquire(uint64_t handle, uint64_t kind, service_failure *failure) {
    const char *noun = kind == WIRE_SERVER ? "server" : "scheduler";
    size_t slot = handle >> 40 & 0xFFFF;
    wire_entry *entry = NULL;
    pthread_mutex_lock(&table);
    if (slot < SLOTS) entry = entries[slot];
    if (entry != NULL && entry->handle >> 56 != (0x40 | kind)) entry = NULL;
    if (entry == NULL || entry->handle != handle) {
        entry = NULL;
        wire_fail(failure, SELENE_ERROR_INVALID_HANDLE, noun, NULL, "%s is not an open handle",
                  handle == 0 ? "0" : "a handle that is closed, or a number that is not a handle,");
    } else if (entry->generation != platform_fork_generation()) {
        entry = NULL;
        wire_fail(failure, SELENE_ERROR_FORKED, noun, NULL,
                  "opened before fork() and belongs to the parent; the child opens its own");
    } else {
        entry->users++;
    }
    pthread_mutex_unlock(&table);
    return entry;
}

void wire_leave(wire_entry *entry) {
    pthread_mutex_lock(&table);
    uint32_t left = --entry->users;
    pthread_mutex_unlock(&table);
    if (left == 0) entry->destroy(entry);
}

int wire_retire(wire_entry *entry, int is_awaited) {
    pthread_mutex_lock(&table);
    size_t slot = entry->handle >> 40 & 0xFFFF;
    int is_first = entries[slot] == entry;
    if (is_first) {
        entries[slot] = NULL;
        entry->users--;
        if (is_awaited) {
            entry->next_leaving = leaving;
            leaving = entry;
        }
    }
    pthread_mutex_unlock(&table);
    return is_first;
}

void wire_gone(wire_entry *entry) {
    pthread_mutex_lock(&table);
    wire_entry **at = &leaving;
    while (*at != NULL && *at != entry)
        at = &(*at)->next_leaving;
    if (*at != NULL) *at = entry->next_leaving;
    pthread_cond_broadcast(&has_gone);
    pthread_mutex_unlock(&table);
}

void wire_await_gone(int (*is_meant)(const wire_entry *entry, void *context), void *context) {
    pthread_mutex_lock(&table);
    for (;;) {
        const wire_entry *at = leaving;
        while (at != NULL && !is_meant(at, context))
            at = at->next_leaving;
        if (at == NULL) break;
        pthread_cond_wait(&has_gone, &table);
    }
    pthread_mutex_unlock(&table);
}

void wire_each(uint64_t kind, void (*visit)(wire_entry *entry, void *context), void *context) {
    for (size_t slot = 0; slot < SLOTS; slot++) {
        pthread_mutex_lock(&table);
        wire_entry *entry = entries[slot];
        if (entry != NULL && (entry->handle >> 56 != (0x40 | kind) ||
                              entry->generation != platform_fork_generation()))
            entry = NULL;
        if (entry != NULL) entry->users++;
        pthread_mutex_unlock(&table);
        if (entry == NULL) continue;
        visit(entry, context);
        wire_leave(entry);
    }
}

int32_t wire_address(const char *path, struct sockaddr_un *address, int *folder,
                     service_failure *failure) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    *folder = -1;
    size_t length = strlen(path);
    if (length < sizeof address->sun_path) {
        memcpy(address->sun_path, path, length + 1);
        return SELENE_OK;
    }
    // A name that is longer than an address goes by its folder.
    const char *slash = strrchr(path, '/');
    char name[PLATFORM_PATH_SIZE];
    size_t before = slash != NULL ? (size_t)(slash - path) : 0;
    if (slash == NULL || before >= sizeof name || strlen(slash) > 80)
        return wire_fail(failure, SELENE_ERROR_INVALID_ARGUMENT, "path", path,
                         "the name of a socket is at most 79 bytes, or 107 with its folder");
    memcpy(name, path, before);
    name[before] = 0;
    char brief[32];
    *folder = system_short_folder(name, brief, sizeof brief);
    if (*folder < 0) return -1;
    snprintf(address->sun_path, sizeof address->sun_path, "%s%s", brief, slash);
    return SELENE_OK;
}
