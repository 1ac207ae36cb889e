#define _XOPEN_SOURCE 700
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

extern char **environ;

static bool adopts = false;

void children_adopt(void) {
#ifdef PR_SET_CHILD_SUBREAPER
    adopts = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
#endif
}

void children_reap_strays(void) {
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

/* The library's threads block all signals and this program ignores some: a command inherits neither. */
static int set_attributes(posix_spawnattr_t *attributes, const sigset_t *mask) {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, mask);
    posix_spawnattr_setsigdefault(attributes, &all);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF);
}

static int set_files(posix_spawn_file_actions_t *files, int gate, int output) {
    int problem = posix_spawn_file_actions_adddup2(files, gate, STDIN_FILENO);
    if (!problem) problem = posix_spawn_file_actions_adddup2(files, output, STDOUT_FILENO);
    if (!problem) problem = posix_spawn_file_actions_adddup2(files, output, STDERR_FILENO);
    return problem;
}

static int spawn(struct child *child, char *arguments[], int gate, int output,
                 const sigset_t *mask) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int problem = posix_spawn_file_actions_init(&files);
    if (problem) return problem;
    problem = posix_spawnattr_init(&attributes);
    if (!problem) {
        problem = set_attributes(&attributes, mask);
        if (!problem) problem = set_files(&files, gate, output);
        if (!problem)
            problem = posix_spawn(&child->pid, "/bin/sh", &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return problem;
}

int child_start(struct child *child, const char *command, const char *id, uint32_t attempt,
                const char *progress, const char *left, int output, const sigset_t *mask,
                void (*before)(pid_t group)) {
    char number[16];
    /* It begins when its guard knows it: if this process is killed before, it ends with the pipe. */
    char gate[] =
        "read -r _ && exec </dev/null && export SELENE_PROGRESS=\"$1\" SELENE_OUTPUT=\"$2\" && "
        "shift 2 && exec /bin/sh -c \"$@\"";
    char *arguments[] = {
        "sh",       "-c",   gate, "sh", (char *)progress, (char *)left, (char *)command,
        (char *)id, number, NULL};
    int ends[2];
    int problem;
    *child = (struct child){0};
    snprintf(number, sizeof number, "%u", (unsigned)attempt);
    if (pipe(ends)) return errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    problem = spawn(child, arguments, ends[0], output, mask);
    close(ends[0]);
    if (!problem) {
        before(child->pid);
        problem = write(ends[1], "\n", 1) < 0 && errno != EPIPE ? errno : 0;
    }
    close(ends[1]);
    return problem;
}

void child_signal(const struct child *child, int number) {
    kill(-child->pid, number);
    /* A group that was stopped would not notice. */
    if (number == SIGTERM) kill(-child->pid, SIGCONT);
}

/* Looks without reaping: as long as the leader is not reaped its number cannot be given to another
 * group, and signals reach the right one. */
static bool leader_ended(const struct child *child) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child->pid;
}

bool child_ended(struct child *child, bool was_asked_to_stop) {
    pid_t pid;
    int status;
    if (!child->leader_ended) {
        if (!leader_ended(child)) return false;
        child->leader_ended = true;
        if (!was_asked_to_stop || !adopts) child_signal(child, SIGKILL);
    }
    while ((pid = waitpid(-child->pid, &status, WNOHANG)) > 0)
        if (pid == child->pid) child->status = status;
    return pid < 0 && errno == ECHILD;
}
