/* What selene-run prints about plans, cycles and tasks. */
#ifndef SHOW_H
#define SHOW_H

#include <selene.h>
#include <stdint.h>

#include "options.h"
#include "runner.h"
#include "workload.h"

struct session {
    const struct options *options;
    /** Another one after an edit, while other threads look at it. */
    const struct workload *_Atomic workload;
    struct runner *runner;
    selene_scheduler scheduler;
    /** What was read after edits, the last one first. */
    struct workload *edits;
};

/** The line above a cycle's output: its number, its window, the conditions. */
void show_window(const struct session *session, const char *title, const selene_window *window);

/** The tasks of the workload that were running when their process ended, and when they run again. */
void show_interrupted(const struct session *session);

/** What ran, what did not and why, and the result. */
void show_report(const struct session *session, const selene_window *window,
                 const selene_report *report);

/** What such a window would run now, what not and why. */
selene_status show_plan(const struct session *session);

/** One task: definition, state, history, and why it does not run. */
selene_status show_task(const struct session *session, const char *id);

/** One line about what happened in a window of the driver; nothing where it does not matter here. */
void show_event(const struct session *session, const selene_event *event);

/** One line about a refusal of the governor. */
void show_refusal(const struct session *session, const selene_event *event);

/** A decision of the governor, factor by factor. */
void show_decision(const struct session *session, const selene_decision *decision);

/** One line about a decision that is a refusal. */
void show_refused(const struct session *session, const selene_decision *decision);

/** What the governor decided last about each of these kinds, factor by factor; asks it if it did not decide yet. */
selene_status show_decisions(const struct session *session, uint32_t kinds);

/** Begins a line with the time of day, if it is one of many that come as things happen. */
void show_time(const struct session *session);

/** What stands behind the failure of a task that could be tried again only after its latest begin; else nothing. */
const char *show_too_late(const selene_task_info *info);

/** Prints a text, escaped, and blanks up to a width in characters. */
void show_padded(const char *text, int width);

/** Every reason why a task does not run now, in one line. */
void show_reasons(const struct session *session, selene_text id, const selene_window *window);

#endif
