/*
 * load - what loading the library costs, beside SQLite, which it stands on
 *
 * Each of many fresh processes loads libsqlite3.so.0 and then the library, and takes the time of both.
 *
 * Arguments: --json, the library's file. This program itself is linked with neither.
 */
#include "measure.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 101

extern char **environ;

static void stop_if(int failed, const char *what) {
    if (!failed) return;
    perror(what);
    exit(1);
}

/* What a fresh process does: loads both and writes the two times. */
static int load(const char *library) {
    double times[2];
    int64_t begin = now(), between;
    void *sqlite = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    between = now();
    if (!sqlite || !dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
        fprintf(stderr, "load: %s\n", dlerror());
        return 1;
    }
    times[1] = (double)(now() - between);
    times[0] = (double)(between - begin);
    return write(STDOUT_FILENO, times, sizeof times) == (ssize_t)sizeof times ? 0 : 1;
}

static void measure(char *library, double *sqlite, double *selene) {
    char *const arguments[] = {"load", "--in-this-process", library, NULL};
    posix_spawn_file_actions_t actions;
    double times[2];
    int ends[2], status;
    pid_t child;
    stop_if(pipe(ends), "pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    stop_if(posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ), "spawn");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    stop_if(read(ends[0], times, sizeof times) != (ssize_t)sizeof times, "read");
    close(ends[0]);
    stop_if(waitpid(child, &status, 0) != child || status != 0, "wait");
    *sqlite = times[0];
    *selene = times[1];
}

int main(int count, char **arguments) {
    static double sqlite[PROCESSES], selene[PROCESSES];
    struct stat file;
    if (count == 3 && strcmp(arguments[1], "--in-this-process") == 0) return load(arguments[2]);
    count = take_json(count, arguments);
    if (count != 2) {
        fprintf(stderr, "usage: load [--json] LIBRARY\n");
        return 2;
    }
    stop_if(stat(arguments[1], &file), arguments[1]);
    for (int i = 0; i < PROCESSES; i++)
        measure(arguments[1], &sqlite[i], &selene[i]);
    found("load", "libsqlite3.so.0", 0, "ns", sqlite, PROCESSES);
    found("load", "libselene.so above it", 0, "ns", selene, PROCESSES);
    found_one("size", "libselene.so, stripped", 0, "bytes", (double)file.st_size);
    return 0;
}
