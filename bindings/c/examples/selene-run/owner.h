/* Whose a task of a store is: tasks of a workload carry its name in that of their handler. */
#ifndef OWNER_H
#define OWNER_H

#include "workload.h"

enum owner {
    /** The workload that is run. */
    OWNER_US,
    /** A workload of selene-run before 0.2, which did not say which. */
    OWNER_EARLIER,
    OWNER_OTHER_WORKLOAD,
    OWNER_OTHER_PROGRAM
};

/** Names the handlers of a workload's tasks and of its notes (keep.c) after its file, wherever that is. */
void owner_name(struct workload *workload);

/** Whose a task with this handler is. */
enum owner owner_of(const struct workload *workload, selene_text handler);

/** Whether a task with this handler is of a workload, so that its input is a command. */
bool owner_is_workload(selene_text handler);

#endif
