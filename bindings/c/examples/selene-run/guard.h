/* A process that outlives selene-run for a moment, so that no command does: whatever kills selene-run, SIGKILL too. */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * Starts it. Call it from the only thread. When this process is gone, it sends SIGTERM to the groups that it was told of
 * and SIGKILL to what is left of them after the grace.
 *
 * @param grace  ns
 */
void guard_open(int64_t grace);

/** A command's process group begins or is gone. Any thread. */
void guard_add(pid_t group);
void guard_remove(pid_t group);

/** Ends it. */
void guard_close(void);

#endif
