/* Asks the governor before a window that is opened by the clock. */
#ifndef GRANT_H
#define GRANT_H

#include "show.h"

/**
 * Leaves a window the kinds that the governor grants and the time that it leaves them. Says which it refuses, or with
 * --why everything about each decision. Without --profile and --why nothing is asked.
 *
 * @return false if it refuses all of them
 */
bool grant(const struct session *session, selene_window *window);

#endif
