/* A process that outlives selene-run for a moment, so that no command does: whatever kills selene-run, SIGKILL too. */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** The name of the file that it locks is the store's with this at its end. pyselene locks the same one. */
#define GUARD_SUFFIX "-guard"

/** ns after which no guard of a run that was killed has anything more to do. */
#define GUARD_PATIENCE 30000000000

/**
 * Starts it. Call it from the only thread. When this process is gone, it sends SIGTERM to the groups that it was told of
 * and SIGKILL to what is left of them after the grace; then it removes the file that it has locked, and ends.
 *
 * @param grace  ns
 * @param store  whose file it may be asked to lock; it must stay; NULL if there is none
 */
void guard_open(int64_t grace, const char *store);

/**
 * Lets it lock the file beside the store, which is there, until no group is left. Not after guard_add.
 *
 * @return 0; EWOULDBLOCK while commands of another run may go on; else why it cannot be locked
 */
int guard_lock(void);

/** A command's process group begins or is gone. Any thread. */
void guard_add(pid_t group);
void guard_remove(pid_t group);

/** Ends it. */
void guard_close(void);

#endif
