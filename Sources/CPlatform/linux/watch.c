// Waits for what a driver wakes for: a poke, a time, and what the system announces.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

// What can wake; the numbers are the places of their descriptors.
enum { POKED, TIMER, ROUTES, DEVICES, MEMORY, FILES, SOURCES };

struct platform_watch {
    int all;
    // −1 where the system does not offer it.
    int sources[SOURCES];
};

static void add(platform_watch *watch, int source, int descriptor, uint32_t events) {
    watch->sources[source] = descriptor;
    if (descriptor < 0) return;
    struct epoll_event event = {.events = events, .data.u32 = (uint32_t)source};
    if (epoll_ctl(watch->all, EPOLL_CTL_ADD, descriptor, &event) == 0) return;
    close(descriptor);
    watch->sources[source] = -1;
}

static int netlink(int protocol, uint32_t groups) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

platform_watch *platform_watch_open(int32_t wanted) {
    platform_watch *watch = malloc(sizeof *watch);
    if (watch == NULL) abort();
    for (int source = 0; source < SOURCES; source++)
        watch->sources[source] = -1;
    watch->all = epoll_create1(EPOLL_CLOEXEC);
    if (watch->all >= 0) add(watch, POKED, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), EPOLLIN);
    if (watch->sources[POKED] < 0) {
        platform_watch_close(watch);
        return NULL;
    }
    if (wanted == PLATFORM_WATCH_POKES) return watch;
    add(watch, TIMER, timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), EPOLLIN);
    if (wanted == PLATFORM_WATCH_SYSTEM) {
        add(watch, ROUTES,
            netlink(NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE), EPOLLIN);
        add(watch, DEVICES, netlink(NETLINK_KOBJECT_UEVENT, 1), EPOLLIN);
    }
    if (watch->sources[TIMER] >= 0) return watch;
    platform_watch_close(watch);
    return NULL;
}

void platform_watch_close(platform_watch *watch) {
    for (int source = 0; source < SOURCES; source++)
        if (watch->sources[source] >= 0) close(watch->sources[source]);
    if (watch->all >= 0) close(watch->all);
    free(watch);
}

int32_t platform_watch_descriptor(const platform_watch *watch) {
    return watch->all;
}

void platform_watch_poke(const platform_watch *watch) {
    uint64_t one = 1;
    // It fails only when it is full of pokes.
    if (write(watch->sources[POKED], &one, sizeof one) < 0) return;
}

void platform_watch_set_timer(const platform_watch *watch, int64_t nanoseconds) {
    struct itimerspec time = {0};
    if (nanoseconds >= 0) {
        time.it_value.tv_sec = (time_t)(nanoseconds / 1000000000);
        time.it_value.tv_nsec = (long)(nanoseconds % 1000000000);
        // All zeros would be no timer.
        if (nanoseconds == 0) time.it_value.tv_nsec = 1;
    }
    if (watch->sources[TIMER] >= 0) timerfd_settime(watch->sources[TIMER], 0, &time, NULL);
}

void platform_watch_memory(platform_watch *watch, int32_t wanted) {
    if (wanted == 0 && watch->sources[MEMORY] >= 0) {
        close(watch->sources[MEMORY]);
        watch->sources[MEMORY] = -1;
    }
    if (wanted == 0 || watch->sources[MEMORY] >= 0) return;
    // Tells when all tasks together waited 100 ms in 2 s, the shortest period that needs no privilege.
    static const char trigger[] = "full 100000 2000000";
    int descriptor = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0 && write(descriptor, trigger, sizeof trigger) < 0) {
        close(descriptor);
        descriptor = -1;
    }
    add(watch, MEMORY, descriptor, EPOLLPRI | EPOLLET);
}

int32_t platform_watch_files(platform_watch *watch, const char *first, const char *second) {
    // The last name of a file that is open is no IN_DELETE_SELF, but a change of its number of links.
    const uint32_t events = IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;
    int descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (descriptor < 0) return 0;
    if (inotify_add_watch(descriptor, first, events) < 0 ||
        inotify_add_watch(descriptor, second, events) < 0) {
        close(descriptor);
        return 0;
    }
    add(watch, FILES, descriptor, EPOLLIN);
    return watch->sources[FILES] >= 0;
}

int32_t platform_watch_wait(const platform_watch *watch, int64_t nanoseconds) {
    const int64_t begun = platform_boot_clock();
    struct pollfd wanted = {.fd = watch->all, .events = POLLIN};
    while (1) {
        const int64_t left = nanoseconds - (platform_boot_clock() - begun);
        const int64_t rest = left > 0 ? left : 0;
        const struct timespec time = {(time_t)(rest / 1000000000), (long)(rest % 1000000000)};
        const int found = ppoll(&wanted, 1, nanoseconds == INT64_MAX ? NULL : &time, NULL);
        if (found > 0) return 1;
        if (found == 0 || errno != EINTR) return 0;
    }
}

// Which signals a device's message concerns; a NUL stands behind it.
static uint32_t concerns(const char *message, ssize_t size) {
    static const struct {
        const char *subsystem;
        uint32_t groups;
    } known[] = {{"SUBSYSTEM=power_supply", PLATFORM_PROBE_POWER},
                 {"SUBSYSTEM=thermal", PLATFORM_PROBE_THERMAL},
                 {"SUBSYSTEM=drm", PLATFORM_PROBE_PEOPLE},
                 {"SUBSYSTEM=rfkill", PLATFORM_PROBE_NETWORK}};
    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(message + at) + 1)
        for (size_t place = 0; place < sizeof known / sizeof *known; place++)
            if (strcmp(message + at, known[place].subsystem) == 0) return known[place].groups;
    return 0;
}

// What devices announce: whatever `known` tells.
enum {
    DEVICE_GROUPS = PLATFORM_PROBE_POWER | PLATFORM_PROBE_THERMAL | PLATFORM_PROBE_PEOPLE |
                    PLATFORM_PROBE_NETWORK
};

// Reads everything that waits, of some groups. A socket that lost messages has something to say of all of them.
static uint32_t drain(int descriptor, uint32_t groups) {
    char bytes[4096];
    uint32_t found = 0;
    for (;;) {
        ssize_t size = read(descriptor, bytes, sizeof bytes - 1);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == ENOBUFS) found |= groups;
        else if (size <= 0) return found;
        else {
            bytes[size] = '\0';
            found |= groups == DEVICE_GROUPS ? concerns(bytes, size) : groups;
        }
    }
}

uint32_t platform_watch_drain(const platform_watch *watch) {
    struct epoll_event events[SOURCES];
    uint32_t groups = 0;
    int count = epoll_wait(watch->all, events, SOURCES, 0);
    for (int place = 0; place < count; place++) {
        int descriptor = watch->sources[events[place].data.u32];
        switch (events[place].data.u32) {
        case ROUTES:
            groups |= drain(descriptor, PLATFORM_PROBE_NETWORK);
            break;
        case DEVICES:
            groups |= drain(descriptor, DEVICE_GROUPS);
            break;
        case MEMORY:
            groups |= PLATFORM_PROBE_LOAD;
            break;
        case FILES:
            drain(descriptor, 0);
            groups |= PLATFORM_WATCH_FILES;
            break;
        default:
            drain(descriptor, 0);
            break;
        }
    }
    return groups;
}
