/* What a store keeps from one call of selene-run to the next. */
#ifndef KEEP_H
#define KEEP_H

#include <selene.h>
#include <stdbool.h>

#include "show.h"

/**
 * Makes the store hold what the workload says: new tasks are registered, changed ones updated, those that left the
 * workload cancelled, and once tasks that are finished stay finished. Tasks of other programs and workloads stay as they
 * are, and their ids are refused; with --adopt they are this workload's.
 *
 * Says on stderr what it cancelled or started anew, and what was refused. Gives the exit code.
 */
int keep_workload(const struct session *session);

/**
 * Notes which once tasks are finished. The library forgets a finished task after a day; the note, a
 * task without handler, stays as long as the task stands in the workload.
 */
void keep_finished(const struct session *session);

/** How a once task ended, as its note says: "succeeded" or "failed"; NULL if there is no note. */
const char *keep_end(const struct session *session, selene_text id);

/** Prints every task of a store with its state, and why its last run failed. */
selene_status keep_list(selene_scheduler scheduler);

/** Prints the tasks that failed, and why. */
selene_status keep_failed(selene_scheduler scheduler);

/** Prints who is connected, but for this process. */
selene_status keep_clients(selene_scheduler scheduler);

/** Enqueues a failed task again; that it is finished is noted no more. */
selene_status keep_retry(selene_scheduler scheduler, const char *id);

/** Pauses tasks, or lets them go on, and says how many; or changes a condition. */
selene_status keep_pause(selene_scheduler scheduler, const struct options *options);

/** Enqueues a task that runs once, and says what came of it. */
selene_status keep_enqueue(selene_scheduler scheduler, const struct options *options);

/** Lets a task of a store that another process serves run as soon as it can, and says how. */
selene_status keep_now(selene_scheduler scheduler, const char *id);

#endif
