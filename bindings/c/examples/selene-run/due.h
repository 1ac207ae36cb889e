/* Tasks that are due by calendars: when each is next is said to the scheduler, which keeps that. */
#ifndef DUE_H
#define DUE_H

#include "workload.h"

/** How long from now a task of a calendar waits that is new. */
int64_t due_first(const struct calendar *calendar);

/** No task is due by a calendar any more. */
void due_clear(void);

/**
 * A task with a calendar is registered: what it missed is due once, else it waits for the next instant.
 *
 * @param is_new  whether it went by none before
 */
void due_register(const struct workload_task *task, selene_scheduler scheduler, bool is_new);

/** A run begins: after it, however it ends, its task waits for the next instant. Any thread. */
void due_dispatched(selene_text id, selene_scheduler scheduler);

/** Looks whether the clock was set, and says all instants anew if so. */
void due_look(selene_scheduler scheduler);

void due_free(void);

#endif
