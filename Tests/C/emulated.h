/*
 * emulated.h - what an emulator of single programs cannot do, though it says that it can
 */
#ifndef EMULATED_H
#define EMULATED_H

#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/** Why a test is left out where children_have_threads() does not hold. */
#define EMULATED "an emulator that loses its count of threads when one of them forks"

static void *emulated_read_to_the_end(void *descriptor) {
    char byte;
    while (read(*(int *)descriptor, &byte, 1) > 0) {
    }
    return NULL;
}

static void *emulated_return_at_once(void *context) {
    return context;
}

/**
 * Whether a child that is forked while its parent has another thread can begin threads of its own. The kernel's can; an
 * emulator of single programs has the parent's other threads in its books still, and fails. Nothing here is the library's.
 */
static int children_have_threads(void) {
    int ends[2], status = 0;
    pthread_t beside, own;
    CHECK(pipe(ends) == 0 &&
          pthread_create(&beside, NULL, emulated_read_to_the_end, &ends[0]) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        /* What the emulator has to say of itself is not the test's. */
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        alarm(60);
        if (pthread_create(&own, NULL, emulated_return_at_once, NULL) != 0) _exit(1);
        _exit(pthread_join(own, NULL) != 0);
    }
    close(ends[1]);
    CHECK(waitpid(child, &status, 0) == child && pthread_join(beside, NULL) == 0);
    close(ends[0]);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#endif
