/* The workload of --follow while its file is edited. */
#ifndef EDIT_H
#define EDIT_H

#include "show.h"

/** How often the file is looked at. */
#define LOOK_AT_WORKLOAD SELENE_SECOND

/**
 * Reads the workload again if its file was edited, and makes the scheduler hold what it says, as keep_workload does.
 * Waits until the file is the same for two looks, so that half of a file is not taken for all of it. A workload with
 * mistakes is told of once, and changes nothing.
 *
 * @return whether the tasks are others now
 */
bool edit_look(struct session *session);

/** Frees the workloads that were read. */
void edit_free(struct session *session);

#endif
