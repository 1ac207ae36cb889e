#define _XOPEN_SOURCE 700
#include "guard.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"

#define LOOK_EVERY 20000000
/* A task that was running waits at least 30 s after it is found in the store: nothing of it may go on beside the next. */
#define LONGEST_GRACE 20000000000
/* What was killed is gone soon, unless it waits for a device. */
#define LONGEST_END 5000000000
/* Not the number of a group: asks for the lock. */
#define LOCK 0

static pid_t guard = -1;
static int connection = -1;

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

static bool is_member(const char *process, pid_t group) {
    char path[sizeof "/proc//stat" + 16], text[512];
    const char *name_ends;
    char state;
    int found;
    size_t size;
    FILE *file;
    if (!isdigit((unsigned char)*process) || strlen(process) > 16) return false;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    file = fopen(path, "r");
    if (file == NULL) return false;
    size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    name_ends = strrchr(text, ')');
    return name_ends && sscanf(name_ends + 1, " %c %*d %d", &state, &found) == 2 &&
           found == (int)group && state != 'Z' && state != 'X';
}

/* A process that has ended and that nobody reaps is still in its group: where the system tells, it does not count. */
static bool is_left(pid_t group) {
    bool found = false;
    struct dirent *entry;
    DIR *processes;
    if (kill(-group, 0)) return false;
    if (access("/proc/self/stat", R_OK)) return true;
    processes = opendir("/proc");
    if (processes == NULL) return true;
    while (!found && (entry = readdir(processes)))
        found = is_member(entry->d_name, group);
    closedir(processes);
    return found;
}

static bool any_left(const struct groups *groups) {
    for (size_t i = 0; i < groups->count; i++)
        if (is_left(groups->groups[i])) return true;
    return false;
}

static void signal_all(const struct groups *groups, int number) {
    for (size_t i = 0; i < groups->count; i++)
        kill(-groups->groups[i], number);
}

static void wait_until_gone(const struct groups *groups, int64_t longest) {
    const struct timespec pause = {0, LOOK_EVERY};
    const int64_t end = monotonic_now() + longest;
    while (any_left(groups) && monotonic_now() < end)
        nanosleep(&pause, NULL);
}

static void stop_all(const struct groups *groups, int64_t grace) {
    signal_all(groups, SIGTERM);
    /* A group that was stopped would not notice. */
    signal_all(groups, SIGCONT);
    wait_until_gone(groups, grace < LONGEST_GRACE ? grace : LONGEST_GRACE);
    signal_all(groups, SIGKILL);
    wait_until_gone(groups, LONGEST_END);
}

/* A file beside the store that is locked as long as commands of a run on the store may go on. */
struct lock {
    char path[PATH_MAX + sizeof GUARD_SUFFIX];
    int file;
};

static bool is_at_its_path(const struct lock *lock) {
    struct stat named, opened;
    return lstat(lock->path, &named) == 0 && fstat(lock->file, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/* Whoever may open the store may wait for what runs on it. */
static int open_lock(struct lock *lock, const char *store) {
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat found;
    if (realpath(store, lock->path) == NULL || stat(lock->path, &found)) return errno;
    strcat(lock->path, GUARD_SUFFIX);
    lock->file = open(lock->path, O_RDWR | O_CREAT | flags, found.st_mode & 0666);
    if (lock->file < 0 && errno == EACCES) lock->file = open(lock->path, O_RDONLY | flags);
    return lock->file < 0 ? errno : 0;
}

/* Does not wait: EWOULDBLOCK while another guard has it. */
static int take(struct lock *lock, const char *store) {
    int problem = 0;
    while (lock->file < 0 && problem == 0) {
        problem = open_lock(lock, store);
        if (problem == 0 && flock(lock->file, LOCK_EX | LOCK_NB)) problem = errno;
        /* The one before may have removed it before it let go. */
        if (lock->file >= 0 && (problem || !is_at_its_path(lock))) {
            close(lock->file);
            lock->file = -1;
        }
    }
    return problem;
}

/* What is not empty is not ours. The end of this process unlocks it. */
static void remove_lock(const struct lock *lock) {
    struct stat found;
    if (lock->file >= 0 && fstat(lock->file, &found) == 0 && S_ISREG(found.st_mode) &&
        found.st_size == 0 && is_at_its_path(lock))
        unlink(lock->path);
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
    signal(SIGPIPE, SIG_IGN);
}

/* The end of the connection is the end of selene-run. */
static void watch(int messages, int64_t grace, const char *store) {
    struct groups groups = {NULL, 0};
    struct lock lock = {.file = -1};
    pid_t message;
    ssize_t size;
    let_go();
    while ((size = read(messages, &message, sizeof message)) == sizeof message ||
           (size < 0 && errno == EINTR)) {
        if (size > 0 && message == LOCK) {
            int answer = take(&lock, store);
            if (write(messages, &answer, sizeof answer) < 0) break;
        } else if (size > 0) {
            keep(&groups, message);
        }
    }
    stop_all(&groups, grace);
    remove_lock(&lock);
    _exit(0);
}

void guard_open(int64_t grace, const char *store) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return;
    guard = fork();
    if (guard == 0) {
        close(ends[1]);
        watch(ends[0], grace, store);
    }
    close(ends[0]);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    connection = ends[1];
}

/* So short a message is written whole. A guard that is gone guards nothing. */
static void tell(pid_t message) {
    if (connection >= 0 && write(connection, &message, sizeof message) < 0) return;
}

int guard_lock(void) {
    int answer = 0;
    tell(LOCK);
    return read(connection, &answer, sizeof answer) == sizeof answer ? answer : 0;
}

void guard_add(pid_t group) {
    tell(group);
}

void guard_remove(pid_t group) {
    tell(-group);
}

void guard_close(void) {
    if (connection >= 0) close(connection);
    if (guard > 0) waitpid(guard, NULL, 0);
}
