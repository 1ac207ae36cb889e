/* --watch: what happens in the store of another process, as it happens. */
#ifndef WATCH_H
#define WATCH_H

#include "options.h"

/** Prints a line for each event until its owner ends or a signal comes; the exit code. */
int watch_store(const struct options *options);

#endif
