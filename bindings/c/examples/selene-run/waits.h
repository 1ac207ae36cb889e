/* Where the time of a task went. */
#ifndef WAITS_H
#define WAITS_H

#include "show.h"

/** What a task waited for since it was last due, and for how long, with the last changes; or the same as JSON. */
selene_status show_waits(const struct session *session, const char *id);

#endif
