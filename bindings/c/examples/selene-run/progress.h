/* What a command says of its progress: lines like `3/10 text` in the file that SELENE_PROGRESS names. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <limits.h>
#include <selene.h>
#include <sys/stat.h>

#include "log.h"

struct progress {
    char path[PATH_MAX];
    /** The file as it was when it was last read. */
    struct stat seen;
};

/** Makes the file of a run beside its log, empty; where that is refused the command has none. */
void progress_open(struct progress *progress, const struct log *log);

/** Tells the library the last line of the file, if that was written to since. */
void progress_look(struct progress *progress, selene_run run);

/** Removes the file. */
void progress_close(const struct progress *progress);

#endif
