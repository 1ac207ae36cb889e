/* Where commands may write: the folder $SELENE_WORK, with a log of each task's output. */
#ifndef WORKSPACE_H
#define WORKSPACE_H

#include <limits.h>
#include <stdbool.h>

struct workspace {
    char path[PATH_MAX];
    char logs[PATH_MAX];
    bool temporary;
};

/**
 * Makes the folders and sets SELENE_WORK for all commands: what it names, else a new temporary
 * folder. Says on stderr what failed.
 *
 * @param logs  the folder of the logs; NULL: "log" inside the workspace
 */
bool workspace_open(struct workspace *workspace, const char *logs);

/** Removes a temporary one with all that is in it. */
void workspace_close(const struct workspace *workspace);

#endif
