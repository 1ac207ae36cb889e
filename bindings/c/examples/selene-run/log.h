/* The log of a task: what its commands printed, run by run. */
#ifndef LOG_H
#define LOG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "printable.h"
#include "workspace.h"

/** A log that grows beyond this goes on anew; its last part, at most as much, is in ID.log.1 until the next time. */
#define LOG_LIMIT (4 << 20)

struct log {
    char path[PATH_MAX];
    /** Commands write to it, at its end; −1 if it could not be opened. */
    int file;
    /** Where the output of this run begins. */
    int64_t begin;
};

/** Opens a task's log and writes which attempt begins, and when. False with errno set. */
bool log_open(struct log *log, const struct workspace *workspace, const char *id, uint32_t attempt);

/** Keeps the log within its limit; also while a command writes to it. */
void log_bound(struct log *log);

/** Prints what the run wrote, its first lines, each with the id before it and, if asked for, the time. */
void log_show(const struct log *log, const char *id, bool with_time);

/** The last line of the run's output that says something, as a terminal may get it; empty if there is none. */
struct printable log_last_line(const struct log *log);

/** Writes when the attempt ended, how, and after how many ns; and closes the log. */
void log_close(struct log *log, uint32_t attempt, const char *end, int64_t took);

#endif
