/* What a command leaves: the bytes of the file that SELENE_OUTPUT names. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <selene.h>

#include "log.h"

struct output {
    char path[PATH_MAX];
};

/** Makes the file of a run beside its log, empty; where that is refused the command has none. */
void output_open(struct output *output, const struct log *log);

/** Tells the library what the file has, if that is not too long; else says so. */
void output_take(const struct output *output, selene_run run, const char *id);

/** Removes the file. */
void output_close(const struct output *output);

#endif
