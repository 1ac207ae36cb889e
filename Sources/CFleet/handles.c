// Numbers that stand for fleets and workers, and what becomes of them in a forked child.

#include "fleet.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static handle *all;
static uint64_t last;
static uint32_t process = 1;

// A fork waits for the table, so that the child finds it whole.
static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void) {
    process++;
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void watch_fork(void) {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

uint64_t handle_add(handle *own, uint32_t type, void (*free)(handle *own)) {
    pthread_mutex_lock(&lock);
    own->type = type;
    own->process = process;
    own->holds = 1;
    own->free = free;
    // Not a number that is likely to be anything else's.
    own->number = UINT64_C(0x5e1f) << 48 | (uint64_t)type << 40 | ++last;
    own->next = all;
    all = own;
    uint64_t number = own->number;
    pthread_mutex_unlock(&lock);
    return number;
}

// Where the number is in the table, which is locked.
static selene_status find(uint64_t number, uint32_t type, const char *noun, handle ***out) {
    for (handle **at = &all; *at != NULL; at = &(*at)->next) {
        if ((*at)->number != number || (*at)->type != type) continue;
        if ((*at)->process != process)
            return fleet_refuse(
                SELENE_ERROR_FORKED, noun,
                "opened before fork() and belongs to the parent; the child opens its own");
        *out = at;
        return SELENE_OK;
    }
    return fleet_refuse(SELENE_ERROR_INVALID_HANDLE, noun, "is not open");
}

selene_status handle_hold(uint64_t number, uint32_t type, const char *noun, handle **out) {
    handle **at;
    pthread_mutex_lock(&lock);
    selene_status status = find(number, type, noun, &at);
    if (status == SELENE_OK) {
        *out = *at;
        (*out)->holds++;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

selene_status handle_close(uint64_t number, uint32_t type, const char *noun, handle **out) {
    handle **at;
    pthread_mutex_lock(&lock);
    selene_status status = find(number, type, noun, &at);
    if (status == SELENE_OK) {
        *out = *at;
        *at = (*out)->next;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

handle *handle_find(uint32_t type, int (*is_wanted)(const handle *one, const void *what),
                    const void *what) {
    handle *found;
    pthread_mutex_lock(&lock);
    for (found = all; found != NULL; found = found->next)
        if (found->type == type && found->process == process && is_wanted(found, what)) break;
    if (found != NULL) found->holds++;
    pthread_mutex_unlock(&lock);
    return found;
}

void handle_release(handle *own) {
    pthread_mutex_lock(&lock);
    int is_last = --own->holds == 0;
    pthread_mutex_unlock(&lock);
    if (is_last) own->free(own);
}
