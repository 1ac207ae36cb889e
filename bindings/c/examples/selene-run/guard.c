#define _XOPEN_SOURCE 700
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY 10000000
/* A task that was running waits at least 30 s after it is found in the store: nothing of it may go on beside the next. */
#define LONGEST_GRACE 20000000000

static pid_t guard = -1;
static int pipe_to_guard = -1;

struct groups {
    pid_t *groups;
    size_t count;
};

/* Groups that cannot be kept are not guarded. */
static void keep(struct groups *groups, pid_t message) {
    pid_t *more;
    if (message > 0) {
        more = realloc(groups->groups, (groups->count + 1) * sizeof *more);
        if (more == NULL) return;
        groups->groups = more;
        more[groups->count++] = message;
        return;
    }
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i] == -message) groups->groups[i--] = groups->groups[--groups->count];
}

static bool any_left(const struct groups *groups) {
    for (size_t i = 0; i < groups->count; i++)
        if (kill(-groups->groups[i], 0) == 0) return true;
    return false;
}

static void signal_all(const struct groups *groups, int number) {
    for (size_t i = 0; i < groups->count; i++)
        kill(-groups->groups[i], number);
}

static void stop_all(const struct groups *groups, int64_t grace) {
    const struct timespec pause = {0, LOOK_EVERY};
    if (grace > LONGEST_GRACE) grace = LONGEST_GRACE;
    signal_all(groups, SIGTERM);
    /* A group that was stopped would not notice. */
    signal_all(groups, SIGCONT);
    for (; grace > 0 && any_left(groups); grace -= LOOK_EVERY)
        nanosleep(&pause, NULL);
    signal_all(groups, SIGKILL);
}

/* Does not keep what belongs to the terminal, or to whoever reads the output, beyond the end. */
static void let_go(void) {
    int nothing = open("/dev/null", O_RDWR);
    for (int file = 0; file <= 2; file++)
        dup2(nothing, file);
    if (nothing > 2) close(nothing);
    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

/* The end of the pipe is the end of selene-run. */
static void watch(int messages, int64_t grace) {
    struct groups groups = {NULL, 0};
    pid_t message;
    ssize_t size;
    let_go();
    while ((size = read(messages, &message, sizeof message)) == sizeof message ||
           (size < 0 && errno == EINTR))
        if (size > 0) keep(&groups, message);
    stop_all(&groups, grace);
    _exit(0);
}

void guard_open(int64_t grace) {
    int ends[2];
    if (pipe(ends)) return;
    guard = fork();
    if (guard == 0) {
        close(ends[1]);
        watch(ends[0], grace);
    }
    close(ends[0]);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pipe_to_guard = ends[1];
}

/* So short a message is written whole. A guard that is gone guards nothing. */
static void tell(pid_t message) {
    if (pipe_to_guard >= 0 && write(pipe_to_guard, &message, sizeof message) < 0) return;
}

void guard_add(pid_t group) {
    tell(group);
}

void guard_remove(pid_t group) {
    tell(-group);
}

void guard_close(void) {
    if (pipe_to_guard >= 0) close(pipe_to_guard);
    if (guard > 0) waitpid(guard, NULL, 0);
}
