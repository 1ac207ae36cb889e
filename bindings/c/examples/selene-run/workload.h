/* The workload file: a task a line, `id  key=value …  -- command`. README.md describes it. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <selene.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "calendar.h"

#define WORKLOAD_TAGS 16
#define WORKLOAD_CONDITIONS 32
#define WORKLOAD_AFTER 16

struct workload_task {
    /** Its texts point into the workload's. */
    selene_task definition;
    selene_text tags[WORKLOAD_TAGS];
    selene_text conditions[WORKLOAD_CONDITIONS];
    /** The ids of those that it comes after, which stand before it in a workload that was read. */
    selene_text after[WORKLOAD_AFTER];
    /** When it is due; without times: by no calendar. */
    struct calendar calendar;
};

struct workload {
    const char *path;
    /** The handler that every task names, with the command as its input; and that of notes (keep.c), which never run. */
    char handler[256];
    char note_handler[256];
    char *text;
    size_t length;
    struct workload_task *tasks;
    size_t count;
    /** The file as it was read. */
    struct stat file;
    /** One that was read before (edit.c). */
    struct workload *older;
};

/** Reads a file, "-" for the standard input. Says on stderr what is wrong, where, and what is allowed. */
bool workload_read(struct workload *workload, const char *path);

/** Makes a workload of the tasks of a store: their ids, which point into the list. False without memory. */
bool workload_of(struct workload *workload, const selene_task_ids *ids);

void workload_free(struct workload *workload);

/** Registers all tasks; what the library refuses is reported at the task's line. */
bool workload_register(const struct workload *workload, selene_scheduler scheduler);

/** Registers one task, with a SELENE_EXISTING_ number, after these. */
bool workload_register_one(const struct workload *workload, size_t index,
                           selene_scheduler scheduler, int32_t existing, const selene_text *after,
                           uint32_t after_count);

/** The task of an id, or NULL. */
const struct workload_task *workload_find(const struct workload *workload, const char *id,
                                          size_t length);

#endif
