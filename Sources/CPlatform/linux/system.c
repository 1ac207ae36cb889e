// What system.h says, for Linux.

#define _GNU_SOURCE
#include "../system.h"

#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SYS_pidfd_open
// The same on all machines.
#define SYS_pidfd_open 434
#endif
#ifndef SO_PEERGROUPS
// Headers are older than the systems; where it is unknown there are no further groups.
#define SO_PEERGROUPS 59
#endif

// ---- Threads ----

void system_thread_name(const char *name) {
    prctl(PR_SET_NAME, name);
}

void system_thread_step_back(void) {
    // By its number: some C libraries have this function and refuse it.
    const struct sched_param none = {0};
    syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &none);
    // This thread, and the idle class, as <linux/ioprio.h> has them, which is younger than some systems.
    syscall(SYS_ioprio_set, 1, 0, 3 << 13);
}

int system_thread_stack(uintptr_t *low, uintptr_t *high) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    int is_known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
    pthread_attr_destroy(&attributes);
    *low = (uintptr_t)lowest;
    *high = (uintptr_t)lowest + size;
    return is_known;
}

static struct timespec after(clockid_t clock, int64_t nanoseconds) {
    struct timespec at;
    clock_gettime(clock, &at);
    const int64_t sum = at.tv_nsec + nanoseconds % 1000000000;
    at.tv_sec += (time_t)(nanoseconds / 1000000000 + sum / 1000000000);
    at.tv_nsec = (long)(sum % 1000000000);
    return at;
}

void system_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void system_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
    const struct timespec until = after(CLOCK_MONOTONIC, nanoseconds);
    pthread_cond_timedwait(condition, mutex, &until);
}

int system_mutex_lock(pthread_mutex_t *mutex, int64_t nanoseconds) {
    const struct timespec until = after(CLOCK_REALTIME, nanoseconds);
    return pthread_mutex_timedlock(mutex, &until) == 0;
}

// ---- Clocks ----

int64_t platform_boot_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// ---- Files ----

int64_t system_written(const struct stat *facts) {
    return (int64_t)facts->st_mtim.tv_sec * 1000000000 + facts->st_mtim.tv_nsec;
}

int system_sync(int descriptor) {
    return fsync(descriptor);
}

// ---- Texts ----

// The texts of the C locale, whatever the host's is. Whichever thread comes first leaves the locale for all others.
const char *platform_error_text(int32_t error) {
    static _Atomic(locale_t) plain;
    locale_t locale = plain;
    if (locale == NULL) {
        locale_t none = NULL;
        locale = newlocale(LC_ALL_MASK, "C", NULL);
        if (locale == NULL) return "unknown error";
        if (!atomic_compare_exchange_strong(&plain, &none, locale)) {
            freelocale(locale);
            locale = none;
        }
    }
    return strerror_l(error, locale);
}

// ---- Sockets ----

int system_socket(void) {
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int system_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

ssize_t system_send(int descriptor, const void *bytes, size_t size) {
    return send(descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int system_peer_of(int descriptor, system_peer *peer) {
    struct ucred found;
    socklen_t size = sizeof found;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return 0;
    *peer = (system_peer){(int32_t)found.pid, found.uid, found.gid};
    return 1;
}

size_t system_groups_of(int descriptor, gid_t **out_groups) {
    socklen_t size = 0;
    *out_groups = NULL;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0 || errno != ERANGE)
        return 0;
    *out_groups = malloc(size);
    if (*out_groups == NULL) abort();
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, *out_groups, &size) != 0) return 0;
    return size / sizeof **out_groups;
}

int system_short_folder(const char *folder, char *name, size_t size) {
    int descriptor = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) snprintf(name, size, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

// ---- Processes ----

const char *system_program_name(void) {
    return program_invocation_short_name;
}

int system_peer_watch(int descriptor, int32_t process) {
    int watch = -1;
    socklen_t size = sizeof watch;
    // That very process, though another may have its number by now; older systems know only the number.
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &watch, &size) == 0) return watch;
    if (errno == EINVAL || errno == ESRCH) {
        errno = ESRCH;
        return -1;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) return -1;
    return (int)syscall(SYS_pidfd_open, process, 0);
}

ssize_t system_process_command(int32_t process, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)process);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -1;
    ssize_t length = read(descriptor, text, size);
    close(descriptor);
    return length;
}

// ---- What is ready ----

enum { MOST_READY = 256 };

int system_set_open(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

static int set(int of, int what, int descriptor, uint32_t events, void *pointer) {
    struct epoll_event event = {.events = (events & SYSTEM_READ ? EPOLLIN : 0u) |
                                          (events & SYSTEM_WRITE ? EPOLLOUT : 0u),
                                .data.ptr = pointer};
    return epoll_ctl(of, what, descriptor, &event) == 0;
}

int system_set_add(int of, int descriptor, uint32_t events, void *what) {
    return set(of, EPOLL_CTL_ADD, descriptor, events, what);
}

int system_set_change(int of, int descriptor, uint32_t events, void *what) {
    return set(of, EPOLL_CTL_MOD, descriptor, events, what);
}

void system_set_remove(int of, int descriptor) {
    epoll_ctl(of, EPOLL_CTL_DEL, descriptor, NULL);
}

int system_set_wait(int of, system_ready *ready, int room, int milliseconds) {
    struct epoll_event events[MOST_READY];
    int count = epoll_wait(of, events, room < MOST_READY ? room : MOST_READY, milliseconds);
    for (int i = 0; i < count; i++)
        ready[i] = (system_ready){
            events[i].data.ptr,
            (events[i].events & EPOLLOUT ? (uint32_t)SYSTEM_WRITE : 0u) |
                (events[i].events & ~(uint32_t)EPOLLOUT ? (uint32_t)SYSTEM_READ : 0u)};
    return count < 0 ? 0 : count;
}

int system_bell_open(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void platform_ring(int32_t bell) {
    uint64_t one = 1;
    while (write(bell, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void system_bell_quiet(int bell) {
    uint64_t count;
    while (read(bell, &count, sizeof count) < 0 && errno == EINTR) {
    }
}
