#include "manager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* More than anybody hands over; what the variable says is a number of descriptors that are open. */
#define MOST_HANDED 64
#define LONGEST_NAME 255

/* A number from 1 on; 0 if it is not one. */
static uint64_t number_of(const char *name) {
    const char *text = getenv(name);
    char *end;
    unsigned long long value;
    if (text == NULL || *text < '0' || *text > '9') return 0;
    errno = 0;
    value = strtoull(text, &end, 10);
    return *end || errno ? 0 : value;
}

/* Variables for another process, such as the parent, are not for this one. */
static bool is_meant(const char *name) {
    return number_of(name) == (uint64_t)getpid();
}

int handed_over(void) {
    const char *text = getenv("LISTEN_FDS");
    uint64_t count = number_of("LISTEN_FDS");
    if (text == NULL || !is_meant("LISTEN_PID")) return 0;
    if (count == 0 || count > MOST_HANDED) {
        fprintf(stderr, "selened: LISTEN_FDS: found \"%.64s\"; allowed is a number from 1 to %d\n",
                text, MOST_HANDED);
        return -1;
    }
    for (int file = FIRST_HANDED; file < FIRST_HANDED + (int)count; file++)
        fcntl(file, F_SETFD, FD_CLOEXEC);
    return (int)count;
}

const char *handed_name(int number) {
    static char name[LONGEST_NAME + 1];
    const char *names = getenv("LISTEN_FDNAMES");
    snprintf(name, sizeof name, "descriptor %d", FIRST_HANDED + number);
    for (; names && number > 0; number--) {
        names = strchr(names, ':');
        if (names) names++;
    }
    if (names && strcspn(names, ":") > 0)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(names, ":"), names);
    return name;
}

bool has_manager(void) {
    const char *path = getenv("NOTIFY_SOCKET");
    return path && *path;
}

/* Not being heard is no reason to end, but to say so once. */
static void not_heard(const char *path, const char *why) {
    static bool told;
    if (!told) fprintf(stderr, "selened: NOTIFY_SOCKET: \"%s\": %s\n", path, why);
    told = true;
}

void tell_manager(const char *format, ...) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    char text[1024];
    va_list arguments;
    size_t length;
    int own;
    if (!has_manager()) return;
    length = strlen(path);
    if ((*path != '/' && *path != '@') || length >= sizeof address.sun_path) {
        not_heard(path, "allowed is a path or a name that begins with @");
        return;
    }
    memcpy(address.sun_path, path, length);
    /* A name without a file. */
    if (*path == '@') address.sun_path[0] = '\0';
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (own < 0 || sendto(own, text, strlen(text), MSG_NOSIGNAL, (const void *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
        not_heard(path, strerror(errno));
    if (own >= 0) close(own);
}

int64_t watchdog_period(void) {
    uint64_t period = number_of("WATCHDOG_USEC");
    if (getenv("WATCHDOG_USEC") == NULL || (getenv("WATCHDOG_PID") && !is_meant("WATCHDOG_PID")))
        return 0;
    if (period > 0 && period <= INT64_MAX / 1000) return (int64_t)period * 1000;
    fprintf(stderr,
            "selened: WATCHDOG_USEC: found \"%.64s\"; allowed is a number from 1; it is not told "
            "that this process lives\n",
            getenv("WATCHDOG_USEC"));
    return 0;
}
