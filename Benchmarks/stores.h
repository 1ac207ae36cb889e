/*
 * stores.h - stores in a folder that a benchmark fills and removes, and tasks for them
 */
#ifndef STORES_H
#define STORES_H

#include "failing.h"

#include <unistd.h>

#define BATCH 10000
#define CONDITIONS (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)

MEASURE_UNUSED static char folder[4000] = ".";
/* The process that names the files; its children find them by it. */
MEASURE_UNUSED static pid_t owner;

/** Takes the folder from the front of the arguments, if there is one, and returns how many are left. */
MEASURE_UNUSED static int choose_folder(int count, char **arguments) {
    owner = getpid();
    if (count < 2 || (arguments[1][0] >= '0' && arguments[1][0] <= '9')) return count;
    snprintf(folder, sizeof folder, "%s", arguments[1]);
    memmove(arguments + 1, arguments + 2, (size_t)(count - 1) * sizeof *arguments);
    return count - 1;
}

MEASURE_UNUSED static const char *file_of(const char *name) {
    static char path[4100];
    snprintf(path, sizeof path, "%s/selene-bench-%ld-%s", folder, (long)owner, name);
    return path;
}

MEASURE_UNUSED static void remove_file(const char *name) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (int i = 0; i < 4; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s%s", file_of(name), suffixes[i]);
        unlink(path);
    }
}

MEASURE_UNUSED static selene_scheduler open_store(const char *name, int relaxed) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    if (name) options.path = (selene_text){file_of(name), -1};
    if (relaxed) options.flags |= SELENE_OPTIONS_RELAXED;
    options.max_pending_refresh = SELENE_UNLIMITED;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    stop_if(selene_conditions_set(scheduler, CONDITIONS, 0), "conditions");
    stop_if(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL), "handler");
    return scheduler;
}

MEASURE_UNUSED static selene_task task_of(char *id, int number, int schedule) {
    selene_task task = SELENE_INIT(selene_task);
    task.id.data = id;
    task.id.length = snprintf(id, 32, "task.%011d", number);
    task.handler = SELENE_TEXT("work");
    task.schedule = schedule;
    task.expected_response = SELENE_NONE;
    return task;
}

MEASURE_UNUSED static void register_one(selene_scheduler scheduler, int number, int schedule) {
    char id[32];
    selene_task task = task_of(id, number, schedule);
    stop_if(selene_task_register(scheduler, &task, NULL), "register");
}

/** Tasks, made before anything is measured; destroy with batch_destroy. */
struct batch {
    selene_task *tasks;
    const selene_task **pointers;
    char (*ids)[32];
    int count;
};

MEASURE_UNUSED static struct batch batch_create(int first, int count) {
    struct batch batch = {calloc((size_t)count, sizeof *batch.tasks),
                          calloc((size_t)count, sizeof *batch.pointers),
                          calloc((size_t)count, sizeof *batch.ids), count};
    for (int i = 0; i < count; i++) {
        batch.tasks[i] = task_of(batch.ids[i], first + i, SELENE_SCHEDULE_STANDING);
        batch.pointers[i] = &batch.tasks[i];
    }
    return batch;
}

MEASURE_UNUSED static void batch_destroy(struct batch *batch) {
    free(batch->tasks);
    free(batch->pointers);
    free(batch->ids);
}

MEASURE_UNUSED static void batch_register(selene_scheduler scheduler, const struct batch *batch) {
    stop_if(
        selene_task_register_batch(scheduler, batch->pointers, (uint64_t)batch->count, NULL, NULL),
        "batch");
}

/** Makes a batch and registers it. */
MEASURE_UNUSED static void register_batch(selene_scheduler scheduler, int first, int count) {
    struct batch batch = batch_create(first, count);
    batch_register(scheduler, &batch);
    batch_destroy(&batch);
}

#endif
