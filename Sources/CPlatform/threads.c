// Monitors, threads, fork and callback frames.

#define _GNU_SOURCE
#include "CPlatform.h"

#include "system.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct platform_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_cond_t quiet;
    // Threads that wait for a change, or in a line, and were not woken since, and how many of the former are the library's own;
    // how often the former were woken, and how many threads were woken and have not come back. Guarded by the mutex, as all here.
    uint64_t waiting, own, lined;
    uint64_t changes, woken;
    // Threads that want to know when all others wait.
    uint64_t watching;
};

platform_monitor *platform_monitor_create(void) {
    platform_monitor *monitor = malloc(sizeof *monitor);
    if (monitor == NULL) abort();
    platform_monitor_renew(monitor);
    return monitor;
}

void platform_monitor_renew(platform_monitor *monitor) {
    pthread_mutex_init(&monitor->mutex, NULL);
    system_condition_init(&monitor->changed);
    system_condition_init(&monitor->quiet);
    monitor->waiting = monitor->own = monitor->lined = 0;
    monitor->changes = monitor->woken = monitor->watching = 0;
}

static void tell_watching(platform_monitor *monitor) {
    if (monitor->watching > 0) pthread_cond_broadcast(&monitor->quiet);
}

// How many locks this thread holds, takes or lets go. A mutex that knows its owner would not do: a signal may arrive when it is
// taken and its owner not yet written.
static _Thread_local volatile sig_atomic_t held;

void platform_monitor_lock(platform_monitor *monitor) {
    held++;
    pthread_mutex_lock(&monitor->mutex);
}

int32_t platform_monitor_enter(platform_monitor *monitor) {
    if (held > 0) return 0;
    platform_monitor_lock(monitor);
    return 1;
}

void platform_monitor_unlock(platform_monitor *monitor) {
    tell_watching(monitor);
    pthread_mutex_unlock(&monitor->mutex);
    held--;
}

void platform_monitor_wait(platform_monitor *monitor, int64_t nanoseconds, int is_own) {
    const uint64_t changes = monitor->changes;
    monitor->waiting++;
    if (is_own) monitor->own++;
    tell_watching(monitor);
    system_condition_wait(&monitor->changed, &monitor->mutex, nanoseconds <= 0 ? 1 : nanoseconds);
    if (monitor->changes != changes) {
        monitor->woken--;
    } else {
        monitor->waiting--;
        if (is_own) monitor->own--;
    }
}

void platform_monitor_broadcast(platform_monitor *monitor) {
    if (monitor->waiting == 0) return;
    monitor->changes++;
    monitor->woken += monitor->waiting;
    monitor->waiting = monitor->own = 0;
    pthread_cond_broadcast(&monitor->changed);
}

// A thread in a line, on its own stack.
struct platform_place {
    pthread_cond_t called;
    int is_called;
    struct platform_place *next;
};

void platform_monitor_line_up(platform_monitor *monitor, platform_line *line) {
    struct platform_place place = {.next = *line};
    pthread_cond_init(&place.called, NULL);
    *line = &place;
    monitor->lined++;
    tell_watching(monitor);
    while (!place.is_called)
        pthread_cond_wait(&place.called, &monitor->mutex);
    monitor->woken--;
    pthread_cond_destroy(&place.called);
}

int32_t platform_monitor_call(platform_monitor *monitor, platform_line *line) {
    struct platform_place *place = *line;
    if (place == NULL) return 0;
    *line = place->next;
    monitor->lined--;
    monitor->woken++;
    place->is_called = 1;
    pthread_cond_signal(&place->called);
    return 1;
}

int64_t platform_monitor_still(platform_monitor *monitor) {
    return monitor->woken > 0 ? -1 : (int64_t)(monitor->own + monitor->lined);
}

void platform_monitor_watch(platform_monitor *monitor, int64_t nanoseconds) {
    monitor->watching++;
    system_condition_wait(&monitor->quiet, &monitor->mutex, nanoseconds <= 0 ? 1 : nanoseconds);
    monitor->watching--;
}

// ---- The registry and fork ----

uint64_t platform_slots[PLATFORM_REGISTRY_SIZE];
uint64_t platform_lives[PLATFORM_REGISTRY_SIZE];
uint64_t platform_used;
uint64_t platform_greatest_lives[2];
uint64_t platform_log_state[2];

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static uint32_t fork_generation = 1;
// Who keeps forks waiting, and which forks wait. A fork comes before the threads that arrive after it, and when it is over
// those that waited come before the next one: neither starves the other, whatever the C library's own locks do.
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t may_hold, may_fork;
    // Threads that hold, that wait until a fork is over, and that waited and do not hold yet.
    uint32_t holding, waiting, passing;
    // Forks that wait or are under way, and whether one is under way.
    uint32_t forking, is_forking;
    uint64_t forks;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .may_hold = PTHREAD_COND_INITIALIZER,
          .may_fork = PTHREAD_COND_INITIALIZER};
// How often this thread keeps forks waiting.
static _Thread_local uint32_t fork_holds;

static int is_gate_free(void) {
    return gate.holding == 0 && gate.passing == 0 && !gate.is_forking;
}

static void call_fork(void) {
    if (gate.forking > 0 && is_gate_free()) pthread_cond_signal(&gate.may_fork);
}

void platform_fork_hold(void) {
    if (fork_holds++ > 0) return;
    pthread_mutex_lock(&gate.mutex);
    if (gate.forking > 0) {
        const uint64_t forks = gate.forks;
        gate.waiting++;
        while (gate.forks == forks)
            pthread_cond_wait(&gate.may_hold, &gate.mutex);
        gate.passing--;
    }
    gate.holding++;
    pthread_mutex_unlock(&gate.mutex);
}

void platform_fork_release(void) {
    if (--fork_holds > 0) return;
    pthread_mutex_lock(&gate.mutex);
    gate.holding--;
    call_fork();
    pthread_mutex_unlock(&gate.mutex);
}

static void before_fork(void) {
    // A thread that forks in the middle of such a call, in a hook of SQLite or a signal handler, cannot wait for itself.
    if (fork_holds == 0) {
        pthread_mutex_lock(&gate.mutex);
        gate.forking++;
        while (!is_gate_free())
            pthread_cond_wait(&gate.may_fork, &gate.mutex);
        gate.is_forking = 1;
        pthread_mutex_unlock(&gate.mutex);
    }
    pthread_mutex_lock(&registry);
}
static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&registry);
    if (fork_holds > 0) return;
    pthread_mutex_lock(&gate.mutex);
    gate.is_forking = 0;
    gate.forking--;
    gate.forks++;
    gate.passing += gate.waiting;
    gate.waiting = 0;
    pthread_cond_broadcast(&gate.may_hold);
    call_fork();
    pthread_mutex_unlock(&gate.mutex);
}
static void after_fork_in_child(void) {
    __atomic_add_fetch(&fork_generation, 1, __ATOMIC_RELEASE);
    platform_locks_leave();
    pthread_mutex_unlock(&registry);
    // Who waited or held is not here, but for this thread.
    static const pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
    static const pthread_cond_t quiet = PTHREAD_COND_INITIALIZER;
    gate.mutex = free_mutex;
    gate.may_hold = gate.may_fork = quiet;
    gate.holding = fork_holds > 0;
    gate.waiting = gate.passing = gate.forking = gate.is_forking = 0;
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

static int32_t (*connections)(uint64_t handle);

void platform_connections_are(int32_t (*find)(uint64_t handle)) {
    __atomic_store_n(&connections, find, __ATOMIC_RELEASE);
}

int32_t platform_connection(uint64_t handle) {
    int32_t (*find)(uint64_t) = __atomic_load_n(&connections, __ATOMIC_ACQUIRE);
    return find == NULL ? 0 : find(handle);
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

// What a main thread has by default. Some C libraries give a thread 128 KiB, in which hosts' handlers do not fit.
static const size_t least_stack = 8 << 20;

static size_t whole_pages(uint64_t size) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (size_t)((size + page - 1) / page * page);
}

struct start {
    void (*body)(void *context);
    void *context;
    const char *name;
    int32_t is_background;
};

static void *begin_thread(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    system_thread_name(start.name);
    if (start.is_background) system_thread_step_back();
    start.body(start.context);
    return NULL;
}

void platform_thread_rename(const char *name) {
    system_thread_name(name);
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

uint64_t platform_thread_start(const char *name, void (*body)(void *context), void *context,
                               uint64_t blocked, uint64_t stack_size, int32_t is_background) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) abort();
    *start = (struct start){body, context, name, is_background};
    // A host's own default counts where it is greater.
    pthread_attr_t attributes;
    size_t stack = 0;
    pthread_attr_init(&attributes);
    if (stack_size > 0) pthread_attr_setstacksize(&attributes, whole_pages(stack_size));
    else if (pthread_attr_getstacksize(&attributes, &stack) != 0 || stack < least_stack)
        pthread_attr_setstacksize(&attributes, least_stack);
    sigset_t mask, before;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    mask = before;
    for (int signal = 1; signal <= 64; signal++)
        if (blocked >> (signal - 1) & 1) sigaddset(&mask, signal);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&mask, faults[i]);
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    int failed = pthread_create(&thread, &attributes, begin_thread, start);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        free(start);
        return 0;
    }
    return (uint64_t)thread;
}

uint64_t platform_thread_number(void) {
    static uint64_t last;
    static _Thread_local uint64_t number;
    if (number == 0) number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return number;
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

static _Thread_local _Alignas(8) char detail[PLATFORM_DETAIL_SIZE + PLATFORM_FAULT_SIZE];

// Not on the stack, so that nothing of a dead one is taken for a frame; in the heap when there are more than a few.
enum { FIRST_FRAMES = 8 };
static _Thread_local platform_frame first_frames[FIRST_FRAMES];
static _Thread_local struct {
    platform_frame *list;
    size_t count, room;
    // The thread's own stack; code that runs on another, as a fiber does, is never said to have left anything.
    uintptr_t low, high;
    uint64_t last_serial;
} frames;

static pthread_key_t frames_key;
static void (*when_thread_ends)(void);

void platform_on_thread_end(void (*function)(void)) {
    __atomic_store_n(&when_thread_ends, function, __ATOMIC_RELEASE);
}

// The thread ends, maybe in the middle of a callback.
static void end_frames(void *list) {
    void (*function)(void) = __atomic_load_n(&when_thread_ends, __ATOMIC_ACQUIRE);
    if (frames.count > 0 && function != NULL) function();
    if (frames.list == list) {
        frames.list = NULL;
        frames.count = frames.room = 0;
    }
    if (list != first_frames) free(list);
}

__attribute__((constructor)) static void make_frames_key(void) {
    if (pthread_key_create(&frames_key, end_frames) != 0) abort();
}

static void find_stack(void) {
    uintptr_t low, high;
    if (!system_thread_stack(&low, &high)) return;
    frames.low = low;
    frames.high = high;
}

static void grow_frames(void) {
    size_t room = FIRST_FRAMES;
    platform_frame *list = first_frames;
    if (frames.room > 0) {
        room = 2 * frames.room;
        list = realloc(frames.list == first_frames ? NULL : frames.list, room * sizeof *list);
        if (list != NULL && frames.list == first_frames)
            memcpy(list, first_frames, sizeof first_frames);
    } else if (frames.high == 0) {
        find_stack();
    }
    if (list == NULL || pthread_setspecific(frames_key, list) != 0) abort();
    frames.list = list;
    frames.room = room;
}

__attribute__((noinline)) void platform_frame_push(platform_mark *mark, uint64_t owner,
                                                   uint64_t kind, uint64_t number) {
    if (frames.count == frames.room) grow_frames();
    // No number that happens to stand there.
    const uint64_t serial = ++frames.last_serial * UINT64_C(0x9E3779B97F4A7C15) | 1;
    for (size_t i = 0; i < sizeof mark->words / sizeof *mark->words; i++)
        mark->words[i] = serial + i;
    frames.list[frames.count++] =
        (platform_frame){owner, kind, number, (uintptr_t)__builtin_frame_address(0), mark, serial};
}

static int on_stack(uintptr_t place) {
    return place >= frames.low && place < frames.high;
}

int32_t platform_frame_pop(const platform_mark *mark) {
    size_t place = frames.count, on_other_stacks = 0;
    while (place > 0 && frames.list[place - 1].mark != mark)
        on_other_stacks += !on_stack(frames.list[--place].place);
    if (place == 0) return 1;
    const size_t above = frames.count - place;
    on_other_stacks += !on_stack(frames.list[place - 1].place);
    if (above > 0 && on_other_stacks == 0) return 0;
    // Fibers of one thread may be in callbacks side by side, and come back in any order.
    memmove(&frames.list[place - 1], &frames.list[place], above * sizeof *frames.list);
    frames.count--;
    return 1;
}

// Reads a stack whose frames may be gone.
__attribute__((no_sanitize("address"), noinline)) static int was_left(const platform_frame *frame,
                                                                      uintptr_t here) {
    if (!on_stack(frame->place) || !on_stack(here)) return 0;
    if (frame->place <= here) return 1;
    if (!on_stack((uintptr_t)frame->mark)) return 0;
    const volatile uint64_t *words = frame->mark->words;
    for (size_t i = 0; i < sizeof frame->mark->words / sizeof *frame->mark->words; i++)
        if (words[i] != frame->serial + i) return 1;
    return 0;
}

int32_t platform_frame_take_left(uintptr_t here, platform_frame *frame) {
    if (frames.count == 0 || !was_left(&frames.list[frames.count - 1], here)) return 0;
    return platform_frame_take(frame);
}

int32_t platform_frame_take_above(const platform_mark *mark, platform_frame *frame) {
    if (frames.count == 0 || frames.list[frames.count - 1].mark == mark) return 0;
    return platform_frame_take(frame);
}

int32_t platform_frame_take(platform_frame *frame) {
    if (frames.count == 0) return 0;
    *frame = frames.list[--frames.count];
    return 1;
}

int32_t platform_frame_is_any(void) {
    return frames.count != 0;
}

int32_t platform_frame_within(uint64_t owner) {
    for (size_t i = frames.count; i > 0; i--) {
        if (frames.list[i - 1].owner == owner) return 1;
    }
    return 0;
}

uint64_t platform_frame_kind(uint64_t owner) {
    for (size_t i = frames.count; i > 0; i--) {
        if (frames.list[i - 1].owner == owner) return frames.list[i - 1].kind;
    }
    return UINT64_MAX;
}

char *platform_detail(void) {
    return detail;
}

// ---- Clocks ----

int64_t platform_wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
