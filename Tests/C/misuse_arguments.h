/*
 * misuse_arguments.h - what the tests of wrong arguments share: schedulers to try them on, and every call that takes a
 * struct
 */
#ifndef MISUSE_ARGUMENTS_H
#define MISUSE_ARGUMENTS_H

#include "misuse.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/** A scheduler with something in each place: tasks of each schedule, a handler, a condition, a successor. */
CHECK_UNUSED static selene_scheduler open_furnished(void) {
    static const selene_text tags[] = {{"tag", 3}, {"other", 5}};
    selene_scheduler scheduler = open_still();
    selene_task task = task_of("standing");
    task.tags = tags;
    task.tag_count = 2;
    task.input = "input";
    task.input_length = 5;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task = task_of("once");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.initial_delay = SELENE_HOUR;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task.existing = SELENE_EXISTING_APPEND;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task = task_of("periodic");
    task.kind = SELENE_KIND_PROCESSING;
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_DAY;
    task.flex = SELENE_HOUR;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    add_pulled_handler(scheduler, "standing");
    CHECK_OK(selene_conditions_set(scheduler, 3, 1));
    return scheduler;
}

/** A scheduler whose windows are empty, on the system's clock, so that every way to use a window is possible. */
CHECK_UNUSED static selene_scheduler open_empty(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler s = 0;
    selene_task task = task_of("later");
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &s));
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.initial_delay = SELENE_DAY;
    CHECK_OK(selene_task_register(s, &task, NULL));
    return s;
}

/* ---- the calls that take a struct ---------------------------------------------- */

CHECK_UNUSED static selene_status use_options(selene_scheduler s, const void *bytes) {
    selene_status status = selene_scheduler_open(bytes, &outs.handle);
    (void)s;
    if (status == SELENE_OK) CHECK_OK(selene_scheduler_close(outs.handle, 0));
    return status;
}

CHECK_UNUSED static selene_status use_task(selene_scheduler s, const void *bytes) {
    return selene_task_register(s, bytes, &outs.number);
}

CHECK_UNUSED static selene_status use_begin(selene_scheduler s, const void *bytes) {
    selene_status status = selene_cycle_begin(s, bytes, &outs.handle);
    if (status == SELENE_OK) CHECK_OK(selene_cycle_end(outs.handle, NULL));
    return status;
}

CHECK_UNUSED static selene_status use_run(selene_scheduler s, const void *bytes) {
    selene_status status = selene_cycle_run(s, bytes, &outs.report);
    if (status == SELENE_OK) selene_free(outs.report);
    return status;
}

CHECK_UNUSED static selene_status use_async(selene_scheduler s, const void *bytes) {
    int ended = atomic_load(&destroyed);
    selene_status status =
        selene_cycle_run_async(s, bytes, NULL, NULL, count_destroy, &outs.handle, &outs.instant);
    WAIT_FOR(ended + 1, destroyed);
    return status;
}

CHECK_UNUSED static selene_status use_plan(selene_scheduler s, const void *bytes) {
    selene_status status = selene_cycle_plan(s, bytes, &outs.plan);
    if (status == SELENE_OK) selene_free(outs.plan);
    return status;
}

CHECK_UNUSED static selene_status use_profile(selene_scheduler s, const void *bytes) {
    return selene_governor_set_profile(s, bytes);
}

CHECK_UNUSED static selene_status use_driver_open(selene_scheduler s, const void *bytes) {
    selene_status status = selene_driver_open(s, bytes, &outs.number);
    if (status == SELENE_OK) CHECK_OK(selene_driver_stop(s, 0));
    return status;
}

CHECK_UNUSED static selene_status use_driver_start(selene_scheduler s, const void *bytes) {
    selene_status status = selene_driver_start(s, bytes);
    if (status == SELENE_OK) CHECK_OK(selene_driver_stop(s, SELENE_SECOND));
    return status;
}

CHECK_UNUSED static selene_status use_node_open(selene_scheduler s, const void *bytes) {
    selene_status status = selene_node_open(s, bytes, &outs.number);
    if (status == SELENE_OK) CHECK_OK(selene_node_close(s));
    return status;
}

#endif /* MISUSE_ARGUMENTS_H */
