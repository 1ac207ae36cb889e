/* A command as a child process with a process group of its own. */
#ifndef CHILD_H
#define CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    /** Leader of the group; 0 before the start. */
    pid_t pid;
    bool leader_ended;
    /** The leader's, as waitpid tells it, once child_ended said true. */
    int status;
};

/**
 * Makes this process the parent of what its children leave behind, where the system can do that, so
 * that none of it is out of reach.
 */
void children_adopt(void);

/** Reaps what left its group and ended since. Only while no child is running. */
void children_reap_strays(void);

/**
 * Starts `/bin/sh -c command id attempt` with output and errors going to a descriptor. One call at a time.
 *
 * @param progress  what it finds in SELENE_PROGRESS
 * @param left      what it finds in SELENE_OUTPUT
 * @param mask  the signals that shall be blocked in it
 * @param before  called with its process group before it does anything
 * @return 0, or an errno
 */
int child_start(struct child *child, const char *command, const char *id, uint32_t attempt,
                const char *progress, const char *left, int output, const sigset_t *mask,
                void (*before)(pid_t group));

/** Sends a signal to the whole group. Only before child_ended said true. */
void child_signal(const struct child *child, int number);

/**
 * Whether the whole group is gone, and reaped. Never blocks.
 *
 * A command that ends by itself takes what it left in the background with it; one that was asked to
 * stop leaves the rest of its group the same grace.
 */
bool child_ended(struct child *child, bool was_asked_to_stop);

#endif
