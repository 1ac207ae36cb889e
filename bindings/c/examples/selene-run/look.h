/* --plan, --explain, why, --list and --why: what is looked at after the windows, or of a store alone. */
#ifndef LOOK_H
#define LOOK_H

#include "show.h"

/** Prints what the options ask for. */
selene_status look(const struct session *session);

/** The same of all tasks of a store; nothing is registered, and nothing can run. Of one that
 *  another process has open (is_live) nothing is changed to look at it. Gives the exit code. */
int look_stored(const struct options *options, selene_scheduler scheduler, bool is_live);

/** True if the id of an option is NULL or in the workload; else says on stderr which ids are. */
bool look_knows(const struct workload *workload, const char *option, const char *id);

/** True if tasks ask for the conditions of the options, and are in their groups; else says on stderr which there are. */
bool look_knows_names(const struct workload *workload, const struct options *options);

#endif
