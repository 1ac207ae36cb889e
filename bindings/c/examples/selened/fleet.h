/* The fleet whose tasks a selened hands out to the processes of its machine. */
#ifndef SELENED_FLEET_H
#define SELENED_FLEET_H

#include "options.h"

/** What leaving takes besides the time for what runs, ns. */
#define GIVING_BACK (5 * SELENE_SECOND)

/** Lets the tasks of a scheduler in memory come from the fleet of the options. An exit code; what is wrong was said. */
int fleet_join(const struct options *options, selene_scheduler scheduler);

/** How it stands, in words that stay until the next call; "" without a fleet. */
const char *fleet_standing(selene_scheduler scheduler);

/** Whether it stands in another way than fleet_standing has told last. */
bool fleet_has_changed(selene_scheduler scheduler);

/** Takes nothing more, waits for what runs as long as the options say, gives back the rest, and says bye. */
void fleet_leave(const struct options *options, selene_scheduler scheduler);

#endif
