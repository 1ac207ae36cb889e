// The platform of a WebAssembly module: one thread, no descriptors, no sensors, and no files but those of files.c. Clocks and
// chance are the host's, by WASI. What would start a thread answers as a system does that refuses it.

#include "CPlatform.h"
#include "files.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NANOSECONDS 1000000000

// ---- Monitor: with one thread a lock is always free, and nobody else can broadcast ----

struct platform_monitor {
    char unused;
};

platform_monitor *platform_monitor_create(void) {
    platform_monitor *monitor = malloc(sizeof *monitor);
    if (monitor == NULL) abort();
    return monitor;
}

void platform_monitor_renew(platform_monitor *monitor) {
    (void)monitor;
}
void platform_monitor_lock(platform_monitor *monitor) {
    (void)monitor;
}
int32_t platform_monitor_enter(platform_monitor *monitor) {
    (void)monitor;
    return 1;
}
void platform_monitor_unlock(platform_monitor *monitor) {
    (void)monitor;
}
void platform_monitor_wait(platform_monitor *monitor, int64_t nanoseconds, int is_own) {
    (void)monitor;
    (void)is_own;
    platform_sleep(nanoseconds);
}
int64_t platform_monitor_still(platform_monitor *monitor) {
    (void)monitor;
    return 0;
}
void platform_monitor_watch(platform_monitor *monitor, int64_t nanoseconds) {
    (void)monitor;
    platform_sleep(nanoseconds);
}
void platform_monitor_broadcast(platform_monitor *monitor) {
    (void)monitor;
}
void platform_monitor_line_up(platform_monitor *monitor, platform_line *line) {
    (void)monitor;
    (void)line;
}
int32_t platform_monitor_call(platform_monitor *monitor, platform_line *line) {
    (void)monitor;
    (void)line;
    return 0;
}

// ---- Registry ----

uint64_t platform_slots[PLATFORM_REGISTRY_SIZE];
uint64_t platform_lives[PLATFORM_REGISTRY_SIZE];
uint64_t platform_used;
uint64_t platform_greatest_lives[2];
uint64_t platform_log_state[2];

void platform_registry_lock(void) {}
void platform_registry_unlock(void) {}

// ---- Threads and processes ----

uint64_t platform_thread_number(void) {
    return 1;
}

uint64_t platform_thread_start(const char *name, void (*body)(void *context), void *context,
                               uint64_t blocked, uint64_t stack_size, int32_t is_background) {
    (void)name, (void)body, (void)context, (void)blocked, (void)stack_size, (void)is_background;
    return 0;
}

void platform_thread_rename(const char *name) {
    (void)name;
}

uint64_t platform_signals_of_processes(void) {
    return 0;
}
int32_t platform_may_block(int32_t signal) {
    (void)signal;
    return 0;
}
void platform_thread_join(uint64_t thread) {
    (void)thread;
}
void platform_thread_detach(uint64_t thread) {
    (void)thread;
}

void platform_sleep(int64_t nanoseconds) {
    if (nanoseconds <= 0) return;
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / NANOSECONDS),
                            .tv_nsec = (long)(nanoseconds % NANOSECONDS)};
    nanosleep(&time, NULL);
}

int32_t platform_process(void) {
    return 1;
}
int32_t platform_process_mark(int32_t process, platform_process_facts *facts) {
    (void)process;
    *facts = (platform_process_facts){0, 0, 0};
    return -1;
}
uint32_t platform_fork_generation(void) {
    return 1;
}
void platform_fork_hold(void) {}
void platform_fork_release(void) {}

// ---- Callbacks that the thread is in ----

// No callback is left otherwise than by its return, and a module has one thread.
static platform_frame *frames;
static size_t frame_count, frame_room;

void platform_frame_push(platform_mark *mark, uint64_t owner, uint64_t kind, uint64_t number) {
    if (frame_count == frame_room) {
        frame_room = frame_room == 0 ? 8 : 2 * frame_room;
        frames = realloc(frames, frame_room * sizeof *frames);
        if (frames == NULL) abort();
    }
    frames[frame_count++] =
        (platform_frame){.owner = owner, .kind = kind, .number = number, .mark = mark};
}

int32_t platform_frame_pop(const platform_mark *mark) {
    (void)mark;
    frame_count--;
    return 1;
}

int32_t platform_frame_take_left(uintptr_t here, platform_frame *frame) {
    (void)here, (void)frame;
    return 0;
}

int32_t platform_frame_take_above(const platform_mark *mark, platform_frame *frame) {
    (void)mark, (void)frame;
    return 0;
}

int32_t platform_frame_take(platform_frame *frame) {
    (void)frame;
    return 0;
}

void platform_on_thread_end(void (*function)(void)) {
    (void)function;
}

int32_t platform_frame_is_any(void) {
    return frame_count != 0;
}

int32_t platform_frame_within(uint64_t owner) {
    for (size_t i = frame_count; i > 0; i--) {
        if (frames[i - 1].owner == owner) return 1;
    }
    return 0;
}

uint64_t platform_frame_kind(uint64_t owner) {
    for (size_t i = frame_count; i > 0; i--) {
        if (frames[i - 1].owner == owner) return frames[i - 1].kind;
    }
    return UINT64_MAX;
}

// ---- Clocks ----

static int64_t read_clock(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return 0;
    return (int64_t)time.tv_sec * NANOSECONDS + time.tv_nsec;
}

int64_t platform_wall_clock(void) {
    return read_clock(CLOCK_REALTIME);
}
int64_t platform_boot_clock(void) {
    return read_clock(CLOCK_MONOTONIC);
}

// ---- Details ----

static _Alignas(8) char detail[PLATFORM_DETAIL_SIZE + PLATFORM_FAULT_SIZE];

char *platform_detail(void) {
    return detail;
}

const char *platform_error_text(int32_t error) {
    return error == ENOSYS         ? "a WebAssembly module has no files"
           : error == FILES_ABSENT ? "it does not exist"
           : error == FILES_EXIST  ? "it exists"
           : error == FILES_FULL   ? "no memory is left"
                                   : "the call failed";
}

// ---- Conditions and signals: the host sets them; here everything that nobody set is unknown ----

void platform_probe(const char *root, const char *store, uint32_t groups,
                    platform_readings *readings) {
    (void)root, (void)store, (void)groups;
    for (int signal = 0; signal < PLATFORM_SIGNALS; signal++)
        readings->values[signal] = PLATFORM_UNKNOWN;
    readings->idle = PLATFORM_UNKNOWN;
    readings->busy = readings->total = 0;
}

// ---- What a driver wakes for: nothing here has a descriptor ----

platform_watch *platform_watch_open(int32_t wanted) {
    (void)wanted;
    return NULL;
}

void platform_watch_close(platform_watch *watch) {
    (void)watch;
}
int32_t platform_watch_descriptor(const platform_watch *watch) {
    (void)watch;
    return -1;
}
void platform_ring(int32_t descriptor) {
    (void)descriptor;
}
void platform_watch_poke(const platform_watch *watch) {
    (void)watch;
}
void platform_watch_set_timer(const platform_watch *watch, int64_t nanoseconds) {
    (void)watch, (void)nanoseconds;
}
void platform_watch_memory(platform_watch *watch, int32_t wanted) {
    (void)watch, (void)wanted;
}
int32_t platform_watch_files(platform_watch *watch, const char *first, const char *second) {
    (void)watch, (void)first, (void)second;
    return 0;
}
int32_t platform_watch_wait(const platform_watch *watch, int64_t nanoseconds) {
    (void)watch, (void)nanoseconds;
    return 0;
}
uint32_t platform_watch_drain(const platform_watch *watch) {
    (void)watch;
    return 0;
}

// ---- The lock of a store ----

int32_t platform_lock_take(const char *path, uint64_t device, uint64_t inode, platform_lock **lock,
                           platform_holder *holder) {
    // Nobody else reaches the memory of a module.
    (void)path, (void)device, (void)inode, (void)holder;
    *lock = NULL;
    return 0;
}

int32_t platform_lock_complete(platform_lock *lock) {
    (void)lock;
    return 0;
}

void platform_lock_release(platform_lock *lock) {
    (void)lock;
}
void platform_locks_leave(void) {}

// ---- What Swift's runtime asks for ----

// Seeds the hashes of sets and dictionaries. WASI's getentropy is random_get.
void arc4random_buf(void *bytes, size_t count) {
    for (uint8_t *at = bytes; count > 0;) {
        size_t piece = count < 256 ? count : 256;
        if (getentropy(at, piece) != 0) abort();
        at += piece;
        count -= piece;
    }
}

uintptr_t __stack_chk_guard = 0x595e9fbd;

_Noreturn void __stack_chk_fail(void) {
    abort();
}
