// Monitors, threads, fork and callback frames.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct platform_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

platform_monitor *platform_monitor_create(void) {
    platform_monitor *monitor = malloc(sizeof *monitor);
    if (monitor == NULL) abort();
    platform_monitor_renew(monitor);
    return monitor;
}

void platform_monitor_renew(platform_monitor *monitor) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&monitor->mutex, NULL);
    pthread_cond_init(&monitor->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void platform_monitor_lock(platform_monitor *monitor) {
    pthread_mutex_lock(&monitor->mutex);
}

void platform_monitor_unlock(platform_monitor *monitor) {
    pthread_mutex_unlock(&monitor->mutex);
}

void platform_monitor_wait(platform_monitor *monitor, int64_t nanoseconds) {
    if (nanoseconds <= 0) nanoseconds = 1;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t sum = until.tv_nsec + nanoseconds % 1000000000;
    until.tv_sec += (time_t)(nanoseconds / 1000000000 + sum / 1000000000);
    until.tv_nsec = (long)(sum % 1000000000);
    pthread_cond_timedwait(&monitor->changed, &monitor->mutex, &until);
}

void platform_monitor_broadcast(platform_monitor *monitor) {
    pthread_cond_broadcast(&monitor->changed);
}

// ---- The registry and fork ----

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static uint32_t fork_generation = 1;

static void before_fork(void) {
    pthread_mutex_lock(&registry);
}
static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&registry);
}
static void after_fork_in_child(void) {
    __atomic_add_fetch(&fork_generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&registry);
}

// At loading, so that no fork comes before it.
__attribute__((constructor)) static void watch_fork(void) {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void platform_registry_lock(void) {
    pthread_mutex_lock(&registry);
}

void platform_registry_unlock(void) {
    pthread_mutex_unlock(&registry);
}

uint32_t platform_fork_generation(void) {
    return __atomic_load_n(&fork_generation, __ATOMIC_ACQUIRE);
}

// ---- Threads ----

struct start {
    void (*body)(void *context);
    void *context;
};

static void *begin_thread(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    start.body(start.context);
    return NULL;
}

uint64_t platform_thread_start(void (*body)(void *context), void *context) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) abort();
    *start = (struct start){body, context};
    sigset_t all, before;
    sigfillset(&all);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, begin_thread, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        free(start);
        return 0;
    }
    return (uint64_t)thread;
}

void platform_sleep(int64_t nanoseconds) {
    struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    nanosleep(&time, NULL);
}

int32_t platform_process(void) {
    return (int32_t)getpid();
}

void platform_thread_join(uint64_t thread) {
    pthread_join((pthread_t)thread, NULL);
}

void platform_thread_detach(uint64_t thread) {
    pthread_detach((pthread_t)thread);
}

// ---- Frames and the detail text ----

static _Thread_local platform_frame *innermost;
static _Thread_local char detail[PLATFORM_DETAIL_SIZE];

void platform_frame_push(platform_frame *frame, uint64_t owner) {
    frame->outer = innermost;
    frame->owner = owner;
    innermost = frame;
}

void platform_frame_pop(platform_frame *frame) {
    innermost = frame->outer;
}

int32_t platform_frame_within(uint64_t owner) {
    for (const platform_frame *frame = innermost; frame != NULL; frame = frame->outer) {
        if (frame->owner == owner) return 1;
    }
    return 0;
}

char *platform_detail(void) {
    return detail;
}

// ---- Clocks ----

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t platform_wall_clock(void) {
    return read_clock(CLOCK_REALTIME);
}

int64_t platform_boot_clock(void) {
    return read_clock(CLOCK_BOOTTIME);
}
