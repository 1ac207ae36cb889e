// Monitors, threads, fork and callback frames.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct platform_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_cond_t work;
    // How many threads wait for a change; guarded by the mutex.
    uint64_t waiting;
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
    pthread_cond_init(&monitor->work, NULL);
    pthread_condattr_destroy(&attributes);
    monitor->waiting = 0;
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
    monitor->waiting++;
    pthread_cond_timedwait(&monitor->changed, &monitor->mutex, &until);
    monitor->waiting--;
}

void platform_monitor_broadcast(platform_monitor *monitor) {
    if (monitor->waiting > 0) pthread_cond_broadcast(&monitor->changed);
}

void platform_monitor_rest(platform_monitor *monitor) {
    pthread_cond_wait(&monitor->work, &monitor->mutex);
}

void platform_monitor_call(platform_monitor *monitor) {
    pthread_cond_broadcast(&monitor->work);
}

// ---- The registry and fork ----

uint64_t platform_slots[PLATFORM_REGISTRY_SIZE];
uint64_t platform_lives[PLATFORM_REGISTRY_SIZE];
uint64_t platform_used;
uint64_t platform_greatest_lives[2];

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static uint32_t fork_generation = 1;
// Held by the threads that keep forks waiting; a fork that waits comes before threads that arrive later.
static pthread_rwlock_t forks = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
// How often this thread keeps forks waiting.
static _Thread_local uint32_t fork_holds;

void platform_fork_hold(void) {
    if (fork_holds++ == 0) pthread_rwlock_rdlock(&forks);
}

void platform_fork_release(void) {
    if (--fork_holds == 0) pthread_rwlock_unlock(&forks);
}

static void before_fork(void) {
    // A thread that forks in the middle of such a call, in a hook of SQLite or a signal handler, cannot wait for itself.
    if (fork_holds == 0) pthread_rwlock_wrlock(&forks);
    pthread_mutex_lock(&registry);
}
static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&registry);
    if (fork_holds == 0) pthread_rwlock_unlock(&forks);
}
static void after_fork_in_child(void) {
    __atomic_add_fetch(&fork_generation, 1, __ATOMIC_RELEASE);
    platform_locks_leave();
    pthread_mutex_unlock(&registry);
    // It knows its writer by the number of a thread, which is another here.
    static const pthread_rwlock_t fresh = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    forks = fresh;
    if (fork_holds > 0) pthread_rwlock_rdlock(&forks);
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

// ---- Memory ----

int platform_memalign(void **result, size_t alignment, size_t size) {
    // A size of aligned_alloc is a multiple of the alignment.
    *result = alignment <= _Alignof(max_align_t)
                  ? malloc(size)
                  : aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
    return *result == NULL ? ENOMEM : 0;
}

// ---- Threads ----

struct start {
    void (*body)(void *context);
    void *context;
};

static void *begin_thread(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    prctl(PR_SET_NAME, "selene");
    start.body(start.context);
    return NULL;
}

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

uint64_t platform_signals_of_processes(void) {
    static const int signals[] = {SIGHUP,  SIGINT,    SIGQUIT, SIGPIPE,  SIGALRM,
                                  SIGTERM, SIGCHLD,   SIGCONT, SIGTSTP,  SIGTTIN,
                                  SIGTTOU, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO};
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        bits |= UINT64_C(1) << (signals[i] - 1);
    return bits;
}

int32_t platform_may_block(int32_t signal) {
    sigset_t set;
    sigemptyset(&set);
    if (signal < 1 || signal > 64 || signal == SIGKILL || signal == SIGSTOP ||
        sigaddset(&set, signal) != 0)
        return 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (signal == faults[i]) return 0;
    return 1;
}

uint64_t platform_thread_start(void (*body)(void *context), void *context, uint64_t blocked) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) abort();
    *start = (struct start){body, context};
    sigset_t mask, before;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    mask = before;
    for (int signal = 1; signal <= 64; signal++)
        if (blocked >> (signal - 1) & 1) sigaddset(&mask, signal);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&mask, faults[i]);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
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

// ---- Frames and what a failed call leaves ----

static _Thread_local platform_frame *innermost;
static _Thread_local _Alignas(8) char detail[PLATFORM_DETAIL_SIZE + PLATFORM_FAULT_SIZE];

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
