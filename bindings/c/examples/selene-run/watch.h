/* --watch: what happens in the store of another process, as it happens. */
#ifndef WATCH_H
#define WATCH_H

#include "options.h"

/** Prints a line for each event until its owner ends or a signal comes; the exit code. */
int watch_store(const struct options *options);

/* Connects to whoever serves a store that the command names: the user whom the store or the socket belongs to is believed, as
 * when it is opened. */
void believe_owner_of(selene_connect_options *how, const char *path);

#endif
