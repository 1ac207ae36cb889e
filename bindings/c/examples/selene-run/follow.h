/* --follow: the library's driver opens the windows, and this file tells of them. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <selene.h>
#include <stdbool.h>

#include "show.h"

/** Sets the profile. */
selene_status follow_profile(const struct session *session);

/**
 * Runs windows as tasks want them and the governor grants them, until the program is asked to end, nothing is left, or
 * --cycles are over; takes over what is edited in the workload.
 *
 * @param anything_left  whether a task may still want a window
 * @return how the driver was started; else OK
 */
selene_status follow(struct session *session, bool (*anything_left)(const struct session *));

#endif
