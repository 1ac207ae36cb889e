/*
 * misuse_arguments.c - NULL in every place, and all that else is refused: nothing changes, the destroy comes once, the
 * detail says why
 */
#include "misuse_arguments.h"

#include <pthread.h>

/* ---- NULL ------------------------------------------------------------------------ */

static void test_null_refused(void) {
    selene_scheduler s = watched = open_furnished();
    selene_window window = SELENE_INIT(selene_window);
    selene_options options = still_options();
    selene_cycle cycle = 0;
    selene_run run;
    const selene_status invalid = SELENE_ERROR_INVALID_ARGUMENT;

    REFUSED(invalid, "out_scheduler", selene_scheduler_open(NULL, NULL));
    REFUSED(invalid, "out_scheduler", selene_scheduler_open(&options, NULL));
    REFUSED(invalid, "out_now", selene_scheduler_now(s, NULL));
    REFUSED(invalid, "out_info", selene_scheduler_get(s, NULL));
    REFUSED(invalid, "name", selene_handler_register(s, NULL, -1, count_run, NULL, NULL, NULL));
    REFUSED(invalid, "name", selene_handler_register(s, NULL, 0, count_run, NULL, NULL, NULL));
    REFUSED(invalid, "name", selene_handler_register(s, NULL, 4, count_run, NULL, NULL, NULL));
    REFUSED(invalid, "name", selene_handler_unregister(s, NULL, -1));
    REFUSED(invalid, "name", selene_handler_unregister(s, NULL, 0));
    REFUSED(invalid, "name", selene_handler_unregister(s, NULL, 4));
    REFUSED(invalid, "task", selene_task_register(s, NULL, &outs.number));
    REFUSED(invalid, "id", selene_task_cancel(s, NULL, -1, &outs.count));
    REFUSED(invalid, "id", selene_task_cancel(s, NULL, 4, &outs.count));
    REFUSED(invalid, "tag", selene_task_cancel_tag(s, NULL, -1, &outs.count));
    REFUSED(invalid, "tag", selene_task_cancel_tag(s, NULL, 0, &outs.count));
    REFUSED(invalid, "tag", selene_task_cancel_tag(s, NULL, 4, &outs.count));
    REFUSED(invalid, "id", selene_task_get(s, NULL, -1, 0, &outs.task_info));
    REFUSED(invalid, "id", selene_task_get(s, NULL, 0, 0, &outs.task_info));
    REFUSED(invalid, "out_info", selene_task_get(s, "standing", -1, 0, NULL));
    REFUSED(invalid, "tag", selene_task_list(s, NULL, 4, &outs.task_ids));
    REFUSED(invalid, "out_ids", selene_task_list(s, NULL, 0, NULL));
    REFUSED(invalid, "out_ids", selene_task_list_state(s, SELENE_STATE_FAILED, NULL));
    REFUSED(invalid, "out_waits", selene_task_waits(s, "standing", -1, NULL));
    REFUSED(invalid, "id", selene_task_waits(s, NULL, -1, &outs.waits));
    REFUSED(SELENE_ERROR_NOT_FOUND, "id", selene_task_waits(s, "none", -1, &outs.waits));
    REFUSED(invalid, "out_output", selene_task_get_output(s, "standing", -1, NULL));
    REFUSED(invalid, "id", selene_task_get_output(s, NULL, -1, &outs.output));
    REFUSED(SELENE_ERROR_NOT_FOUND, "id", selene_task_get_output(s, "none", -1, &outs.output));
    REFUSED(invalid, "kinds", selene_scheduler_pause(s, 0, NULL, 0, SELENE_NEVER));
    REFUSED(invalid, "pool", selene_scheduler_pause(s, 1, NULL, 4, SELENE_NEVER));
    REFUSED(invalid, "until", selene_scheduler_pause(s, 1, NULL, 0, 1));
    REFUSED(invalid, "out_pauses", selene_pause_list(s, NULL));
    REFUSED(invalid, "name", selene_group_set_limit(s, NULL, -1, 1));
    REFUSED(invalid, "name", selene_group_set_limit(s, NULL, 4, 1));
    REFUSED(invalid, "name", selene_group_pause(s, NULL, -1));
    REFUSED(invalid, "name", selene_group_pause(s, NULL, 4));
    REFUSED(invalid, "name", selene_group_resume(s, NULL, -1));
    REFUSED(invalid, "name", selene_group_resume(s, NULL, 4));
    REFUSED(invalid, "name", selene_group_get(s, NULL, -1, &outs.group));
    REFUSED(invalid, "name", selene_group_get(s, NULL, 4, &outs.group));
    REFUSED(invalid, "out_info", selene_group_get(s, "group", -1, NULL));
    REFUSED(SELENE_ERROR_NOT_FOUND, "name", selene_group_get(s, "group", -1, &outs.group));
    REFUSED(invalid, "out_names", selene_group_list(s, NULL));
    REFUSED(invalid, "id", selene_task_retry(s, NULL, -1));
    REFUSED(invalid, "id", selene_task_retry(s, NULL, 4));
    REFUSED(invalid, "id", selene_task_retry_successors(s, NULL, -1, &outs.count));
    REFUSED(invalid, "tag", selene_task_retry_all(s, NULL, 4, 0, &outs.count));
    REFUSED(invalid, "tag", selene_task_retry_all(s, "", 0, 0, &outs.count));
    REFUSED(invalid, "flags", selene_task_retry_all(s, "tag", -1, 4, &outs.count));
    REFUSED(invalid, "id", selene_task_set_next(s, NULL, -1, 0));
    REFUSED(invalid, "id", selene_task_set_next(s, NULL, 4, 0));
    REFUSED(invalid, "next", selene_task_set_next(s, "standing", -1, -1));
    REFUSED(invalid, "next", selene_task_set_next(s, "standing", -1, SELENE_NEVER));
    REFUSED(invalid, "id", selene_task_pause(s, NULL, -1, &outs.count));
    REFUSED(invalid, "id", selene_task_pause(s, NULL, 4, &outs.count));
    REFUSED(invalid, "tag", selene_task_pause_tag(s, NULL, -1, &outs.count));
    REFUSED(invalid, "tag", selene_task_pause_tag(s, NULL, 4, &outs.count));
    REFUSED(invalid, "id", selene_task_resume(s, NULL, -1, &outs.count));
    REFUSED(invalid, "id", selene_task_resume(s, NULL, 4, &outs.count));
    REFUSED(invalid, "tag", selene_task_resume_tag(s, NULL, -1, &outs.count));
    REFUSED(invalid, "tag", selene_task_resume_tag(s, NULL, 4, &outs.count));
    REFUSED(invalid, "id", selene_task_explain(s, NULL, -1, &outs.explanation));
    REFUSED(invalid, "out_explanation", selene_task_explain(s, "standing", -1, NULL));
    REFUSED(invalid, "out_cycle", selene_cycle_begin(s, &window, NULL));
    REFUSED(invalid, "out_plan", selene_cycle_plan(s, &window, NULL));
    REFUSED(invalid, "out_satisfied", selene_conditions_get(s, NULL, &outs.bits));
    REFUSED(invalid, "name", selene_condition_define(s, NULL, -1));
    REFUSED(invalid, "name", selene_condition_define(s, NULL, 4));
    REFUSED(invalid, "name", selene_condition_undefine(s, NULL, -1));
    REFUSED(invalid, "name", selene_condition_undefine(s, NULL, 4));
    REFUSED(SELENE_ERROR_NOT_FOUND, "name", selene_condition_undefine(s, "none", -1));
    REFUSED(invalid, "name", selene_condition_set(s, NULL, -1, 1));
    REFUSED(invalid, "name", selene_condition_set(s, NULL, 4, 1));
    REFUSED(SELENE_ERROR_NOT_FOUND, "name", selene_condition_set(s, "none", -1, 1));
    REFUSED(invalid, "name", selene_condition_get(s, NULL, -1, &outs.number));
    REFUSED(invalid, "name", selene_condition_get(s, NULL, 4, &outs.number));
    REFUSED(invalid, "out_state", selene_condition_get(s, "none", -1, NULL));
    REFUSED(SELENE_ERROR_NOT_FOUND, "name", selene_condition_get(s, "none", -1, &outs.number));
    REFUSED(invalid, "out_names", selene_condition_list(s, NULL));
    REFUSED(invalid, "id", selene_condition_missing(s, NULL, -1, &outs.task_ids));
    REFUSED(invalid, "id", selene_condition_missing(s, NULL, 4, &outs.task_ids));
    REFUSED(invalid, "out_names", selene_condition_missing(s, "standing", -1, NULL));
    REFUSED(SELENE_ERROR_NOT_FOUND, "id", selene_condition_missing(s, "none", -1, &outs.task_ids));
    REFUSED(invalid, "tasks",
            selene_task_register_batch(s, NULL, 1, &outs.number, &outs.more_number));
    REFUSED(invalid, "out_info", selene_store_get(s, NULL));
    REFUSED(invalid, "path", selene_store_backup(s, NULL, -1));
    REFUSED(invalid, "path", selene_store_backup(s, NULL, 0));
    REFUSED(invalid, "path", selene_store_backup(s, NULL, 4));
    REFUSED(invalid, "path", selene_store_check(NULL, -1, &outs.findings));
    REFUSED(invalid, "path", selene_store_check(NULL, 4, &outs.findings));
    REFUSED(invalid, "damaged",
            selene_store_salvage(NULL, -1, "/no/such/folder/store", -1, &outs.findings));
    REFUSED(invalid, "fresh",
            selene_store_salvage("/no/such/folder/store", -1, NULL, -1, &outs.findings));

    REFUSED(invalid, "out_signal", selene_signal_get(s, SELENE_SIGNAL_THERMAL, NULL));
    REFUSED(invalid, "out_decision", selene_governor_ask(s, SELENE_KIND_REFRESH, 0, NULL));
    REFUSED(invalid, "out_decision", selene_governor_last(s, SELENE_KIND_REFRESH, NULL));
    REFUSED(invalid, "out_balance", selene_ledger_get(s, SELENE_KIND_REFRESH, NULL));
    REFUSED(invalid, "windows",
            selene_governor_forecast(s, SELENE_KIND_REFRESH, NULL, 1, &outs.count));
    REFUSED(invalid, "out_count",
            selene_governor_forecast(s, SELENE_KIND_REFRESH, &outs.forecast, 1, NULL));
    REFUSED(invalid, "out_cycle", selene_driver_step(s, NULL, &outs.instant));
    REFUSED(invalid, "out_ready", selene_driver_wait(s, 0, NULL));
    REFUSED(invalid, "timeout", selene_driver_wait(s, -1, &outs.number));
    REFUSED(invalid, "out_request", selene_node_step(s, NULL, &outs.instant));
    REFUSED(invalid, "out_ready", selene_node_wait(s, 0, NULL));
    REFUSED(invalid, "timeout", selene_node_wait(s, -1, &outs.number));
    REFUSED(invalid, "cells", selene_node_rows(s, 1, NULL, 1, 1));
    REFUSED(invalid, "out_info", selene_node_get(s, NULL));
    REFUSED(invalid, "out_event", selene_events_next(s, 0, NULL, &outs.number, NULL));
    REFUSED(invalid, "out_found", selene_events_next(s, 0, &outs.event, NULL, NULL));
    REFUSED(invalid, "timeout", selene_events_next(s, -1, &outs.event, &outs.number, NULL));
    REFUSED(invalid, "capacity", selene_events_open(s, 0, &outs.number));
    REFUSED(invalid, "capacity", selene_events_open(s, SELENE_EVENTS + 1, &outs.number));
    REFUSED(invalid, "path", selene_trace_record(s, "", 0));
    REFUSED(invalid, "path", selene_trace_replay(NULL, -1, &outs.count, NULL));
    REFUSED(invalid, "id", selene_task_launch(s, NULL, -1));
    REFUSED(invalid, "id", selene_task_launch(s, NULL, 4));
    REFUSED(invalid, "id", selene_task_expire(s, NULL, -1));

    CHECK_OK(selene_cycle_begin(s, &window, &cycle));
    REFUSED(invalid, "out_step", selene_cycle_next(cycle, NULL, &outs.run_info, &outs.instant));
    REFUSED(invalid, "out_run", selene_cycle_next(cycle, &outs.number, NULL, &outs.instant));
    run = take_run(cycle);
    REFUSED(invalid, "out_reason", selene_run_stopping(run, NULL));
    REFUSED(invalid, "out_remaining", selene_run_remaining(run, NULL));
    REFUSED(invalid, "out_info", selene_run_get(run, NULL));
    REFUSED(invalid, "message", selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, NULL, 4));
    REFUSED(invalid, "text", selene_run_progress(run, 1, 2, NULL, 4));
    REFUSED(invalid, "output", selene_run_set_output(run, NULL, 4));
    REFUSED(invalid, "out_user", selene_run_user(run, NULL));
    REFUSED(invalid, "out_fence", selene_run_fence(run, NULL, &outs.instant));
    REFUSED(SELENE_ERROR_UNSUPPORTED, "run", selene_run_fence(run, &outs.instant, NULL));
    REFUSED(SELENE_ERROR_UNSUPPORTED, "run", selene_run_decided_by_host(run));
    REFUSED(invalid, "length", selene_run_set_output(run, "x", -1));
    REFUSED(invalid, "length", selene_run_set_output(run, NULL, INT64_MIN));
    REFUSED(SELENE_ERROR_TOO_LARGE, "output", selene_run_set_output(run, "x", INT64_MAX));
    REFUSED(invalid, "text", selene_run_progress(run, 1, 2, "x", -2));
    REFUSED(invalid, "text", selene_run_progress(run, 1, 2, "\xFF", -1));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_null_accepted(void) {
    selene_scheduler s = open_furnished();
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    selene_plan *plan = NULL;
    selene_task_ids *ids = NULL;
    selene_task task = task_of("standing");
    uint32_t satisfied = 99;
    int64_t instant = -1;
    int32_t step = -1;

    CHECK_OK(selene_scheduler_next_wakeup(s, NULL, NULL));
    CHECK_OK(selene_scheduler_next_wakeup(s, &instant, NULL));
    CHECK_OK(selene_scheduler_next_wakeup(s, NULL, &instant));
    CHECK_OK(selene_scheduler_prune(s, NULL));
    CHECK_OK(selene_handler_register(s, "null", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_handler_unregister(s, "null", -1));
    CHECK_OK(selene_task_register(s, &task, NULL));
    {
        const selene_task *tasks[1] = {&task};
        CHECK_OK(selene_task_register_batch(s, NULL, 0, NULL, NULL));
        CHECK_OK(selene_task_register_batch(s, tasks, 1, NULL, NULL));
    }
    CHECK_OK(selene_task_cancel(s, "once", -1, NULL));
    CHECK_OK(selene_task_pause(s, "standing", -1, NULL));
    CHECK_OK(selene_task_pause_tag(s, "nobody", -1, NULL));
    CHECK_OK(selene_task_resume(s, "standing", -1, NULL));
    CHECK_OK(selene_task_resume_tag(s, "nobody", -1, NULL));
    CHECK_OK(selene_task_cancel_tag(s, "nobody", -1, NULL));
    CHECK_OK(selene_task_list(s, NULL, 0, &ids));
    CHECK_INT(3, ids->count);
    selene_free(ids);
    CHECK_OK(selene_conditions_get(s, &satisfied, NULL));
    CHECK_INT(1, satisfied & 3);
    CHECK_OK(selene_scheduler_observe(s, NULL, NULL, NULL));
    CHECK_OK(selene_cycle_plan(s, NULL, &plan));
    CHECK_INT(1, plan->run_count);
    selene_free(plan);
    CHECK_OK(selene_cycle_begin(s, NULL, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_task_cancel_all(s, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));

    s = open_default();
    CHECK_OK(selene_cycle_run(s, NULL, NULL));
    CHECK_OK(selene_cycle_run_async(s, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_scheduler_close(s, SELENE_MINUTE));

    CHECK_OK(selene_governor_set_profile(s = open_default(), NULL));
    CHECK_OK(selene_governor_forecast(s, SELENE_KIND_REFRESH, NULL, 0, &outs.count));
    CHECK_INT(0, outs.count);
    CHECK_OK(selene_driver_open(s, NULL, NULL));
    CHECK_OK(selene_driver_step(s, &outs.handle, NULL));
    CHECK_OK(selene_driver_stop(s, 0));
    CHECK_OK(selene_node_open(s, NULL, NULL));
    outs_reset();
    CHECK_OK(selene_node_step(s, &outs.request, NULL));
    CHECK_OK(selene_node_rows(s, outs.request.number, NULL, 0, 0));
    CHECK_OK(selene_node_failed(s, outs.request.number + 1, 0, NULL, NULL));
    CHECK_OK(selene_node_close(s));
    CHECK_OK(selene_scheduler_close(s, 0));

    CHECK_OK(selene_scheduler_close(0, 0));
    selene_free(NULL);
}

/* ---- other refusals leave everything as it was, too -------------------------------------- */

static void test_refused_register(void) {
    selene_options options = still_options();
    selene_window window = SELENE_INIT(selene_window);
    selene_scheduler s = 0;
    selene_task task;
    options.max_pending_refresh = 1;
    CHECK_OK(selene_scheduler_open(&options, &s));
    watched = s;
    add_task(s, "standing");
    task = task_of("once");
    task.schedule = SELENE_SCHEDULE_ONCE;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.id = text_of("one too many");
    REFUSED(SELENE_ERROR_TOO_MANY_PENDING, "refresh", selene_task_register(s, &task, &outs.number));
    task = task_of("standing");
    task.existing = SELENE_EXISTING_APPEND;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "existing",
            selene_task_register(s, &task, &outs.number));
    task.schedule = SELENE_SCHEDULE_ONCE;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "existing",
            selene_task_register(s, &task, &outs.number));
    task = task_of("once");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.kind = SELENE_KIND_PROCESSING;
    task.existing = SELENE_EXISTING_APPEND;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "kind", selene_task_register(s, &task, &outs.number));
    task.existing = SELENE_EXISTING_UPDATE;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "kind", selene_task_register(s, &task, &outs.number));
    task.kind = SELENE_KIND_REFRESH;
    task.schedule = SELENE_SCHEDULE_STANDING;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "schedule",
            selene_task_register(s, &task, &outs.number));
    CHECK_OK(selene_scheduler_enable(s, SELENE_KIND_PROCESSING));
    task = task_of("standing");
    REFUSED(SELENE_ERROR_UNAVAILABLE, "refresh", selene_task_register(s, &task, &outs.number));
    window.kinds = SELENE_KIND_REFRESH;
    REFUSED(SELENE_ERROR_UNAVAILABLE, "refresh", selene_cycle_begin(s, &window, &outs.handle));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_task_cancel(s, "nobody", -1, &outs.count));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_task_get(s, "nobody", -1, 0, &outs.task_info));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody",
            selene_task_explain(s, "nobody", -1, &outs.explanation));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_handler_unregister(s, "nobody", -1));
    CHECK_OK(selene_scheduler_close(s, 0));
}

/** In a batch each task is judged on its own, by what selene_task_register would say. */
static void test_batch(void) {
    selene_task good = task_of("good"), other = task_of("other"), bad = task_of("bad"), small,
                flags;
    struct {
        selene_task task;
        uint64_t excess;
    } larger = {task_of("larger"), 1};
    const selene_task *tasks[8];
    selene_status statuses[9];
    int32_t dispositions[9];
    selene_scheduler s = watched = open_furnished();
    size_t i;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "count",
            selene_task_register_batch(s, tasks, 1000001, &outs.number, &outs.more_number));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "count",
            selene_task_register_batch(s, tasks, UINT64_MAX, &outs.number, &outs.more_number));
    REFUSED(
        SELENE_ERROR_INVALID_ARGUMENT, "count",
        selene_task_register_batch(s, tasks, UINT64_C(1) << 61, &outs.number, &outs.more_number));
    bad.priority = 6;
    small = good;
    small.struct_size = 7;
    flags = good;
    flags.flags = 4;
    larger.task.struct_size = sizeof larger;
    tasks[0] = &good, tasks[1] = &bad, tasks[2] = NULL, tasks[3] = &small, tasks[4] = &flags;
    tasks[5] = &larger.task, tasks[6] = &good, tasks[7] = &other;
    memset(statuses, 0xA5, sizeof statuses);
    memset(dispositions, 0xA5, sizeof dispositions);
    CHECK_OK(selene_task_register_batch(s, tasks, 8, statuses, dispositions));
    CHECK_INT(SELENE_OK, statuses[0]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[1]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[2]);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED_STRUCT, statuses[3]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[4]);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED_STRUCT, statuses[5]);
    CHECK_INT(SELENE_OK, statuses[6]);
    CHECK_INT(SELENE_OK, statuses[7]);
    CHECK_INT(SELENE_DISPOSITION_ADDED, dispositions[0]);
    CHECK_INT(SELENE_DISPOSITION_UPDATED, dispositions[6]);
    CHECK_INT(SELENE_DISPOSITION_ADDED, dispositions[7]);
    for (i = 1; i < 6; i++)
        CHECK_INT(statuses[8], dispositions[i]);
    CHECK_INT(statuses[8], dispositions[8]);
    CHECK(selene_error_last()->message.data[0] != '\0');
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(s, "other"));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_cancel(s, "bad", -1, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
}

/** The destroy of each call that takes a callback, when the call is refused for its arguments. */
static void test_destroy_of_refused(void) {
    static const int64_t lengths[] = {0, 256, -2, INT64_MIN, INT64_MAX};
    selene_scheduler s = open_empty();
    selene_window window = SELENE_INIT(selene_window);
    selene_options options = still_options();
    selene_cycle cycle = 0;
    char name[257];
    size_t i;
    int expected = 0;
    memset(name, 'n', sizeof name - 1);
    name[256] = '\0';
    for (i = 0; i < COUNT(lengths); i++) {
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_handler_register(s, name, lengths[i], count_run, count_stop, NULL,
                                             count_destroy));
        CHECK_INT(++expected, destroyed);
    }
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_handler_register(s, NULL, -1, count_run, count_stop, NULL, count_destroy));
    CHECK_INT(++expected, destroyed);
    CHECK_OK(selene_handler_register(s, "name", -1, NULL, NULL, NULL, NULL));
    CHECK_STATUS(
        SELENE_ERROR_ALREADY_EXISTS,
        selene_handler_register(s, "name", -1, count_run, count_stop, NULL, count_destroy));
    CHECK_INT(++expected, destroyed);
    window.budget = -1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_cycle_run_async(s, &window, count_report, NULL, count_destroy, NULL, NULL));
    CHECK_INT(++expected, destroyed);
    window.struct_size = 3;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED_STRUCT,
                 selene_cycle_run_async(s, &window, count_report, NULL, count_destroy, NULL, NULL));
    CHECK_INT(++expected, destroyed);
    CHECK_OK(selene_cycle_begin(s, NULL, &cycle));
    CHECK_STATUS(SELENE_ERROR_BUSY,
                 selene_cycle_run_async(s, NULL, count_report, NULL, count_destroy, NULL, NULL));
    CHECK_INT(++expected, destroyed);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_enable(s, 0));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE,
                 selene_cycle_run_async(s, NULL, count_report, NULL, count_destroy, NULL, NULL));
    CHECK_INT(++expected, destroyed);
    /* No observer: its context ends at once. */
    CHECK_OK(selene_scheduler_observe(s, NULL, NULL, count_destroy));
    CHECK_INT(++expected, destroyed);
    CHECK_OK(selene_scheduler_close(s, 0));

    options.clock_destroy = count_destroy;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, NULL));
    CHECK_INT(++expected, destroyed);
    options.backoff_jitter = 1001;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &s));
    CHECK_INT(++expected, destroyed);
    options.backoff_jitter = 0;
    options.flags = 0x80;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &s));
    CHECK_INT(++expected, destroyed);
    options.flags = 0;
    options.permitted_count = 1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &s));
    CHECK_INT(++expected, destroyed);
    {
        struct {
            selene_options options;
            uint64_t excess;
        } larger = {still_options(), 1};
        larger.options.struct_size = sizeof larger;
        larger.options.clock_destroy = count_destroy;
        CHECK_STATUS(SELENE_ERROR_UNSUPPORTED_STRUCT, selene_scheduler_open(&larger.options, &s));
        CHECK_INT(++expected, destroyed);
    }
    /* Too small a struct holds no clock_destroy. */
    options = still_options();
    options.clock_destroy = count_destroy;
    options.struct_size = 4;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED_STRUCT, selene_scheduler_open(&options, &s));
    CHECK_INT(expected, destroyed);
    /* And of one that is opened: when it is closed. */
    options.struct_size = sizeof options;
    CHECK_OK(selene_scheduler_open(&options, &s));
    CHECK_INT(expected, destroyed);
    CHECK_OK(selene_scheduler_close(s, 0));
    CHECK_INT(++expected, destroyed);
    CHECK_INT(0, called);
}

/* ---- the detail ------------------------------------------------------------------------------ */

static void *detail_of_another_thread(void *context) {
    (void)context;
    CHECK_STRING("", selene_error_last()->message.data);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_enable(0, 0));
    CHECK(selene_error_last()->message.data[0] != '\0');
    return NULL;
}

static void test_detail(void) {
    pthread_t thread;
    selene_scheduler s;
    char detail[1024];
    CHECK_STRING("", selene_error_last()->message.data);
    s = open_still();
    CHECK_STRING("", selene_error_last()->message.data);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_enable(s, 99));
    snprintf(detail, sizeof detail, "%s", selene_error_last()->message.data);
    CHECK(strstr(detail, "kinds") && strstr(detail, "99"));
    CHECK_INT(0, pthread_create(&thread, NULL, detail_of_another_thread, NULL));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_scheduler_enable(s, 3));
    CHECK_STRING(detail, selene_error_last()->message.data);
    /* What it quotes may be long, or not fit for a terminal. */
    {
        char id[256];
        size_t i;
        memset(id, 1, sizeof id - 1);
        id[255] = '\0';
        CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_cancel(s, id, -1, NULL));
        snprintf(detail, sizeof detail, "%s", selene_error_last()->message.data);
        CHECK(detail[0] != '\0');
        for (i = 0; detail[i]; i++)
            CHECK((unsigned char)detail[i] >= ' ' && detail[i] != 0x7F);
        for (i = 0; i + 1 < sizeof id - 1; i += 2)
            memcpy(id + i, "\xC3\xA9", 2);
        id[254] = '\0';
        CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_cancel(s, id, -1, NULL));
        CHECK(selene_error_last()->message.data[0] != '\0');
    }
    CHECK_OK(selene_scheduler_close(s, 0));
}

/* ---- the error ------------------------------------------------------------------------------- */

/** Of this thread's last failure: all texts, and the three numbers. */
static void check_error(const char *file, int line, selene_status status, const char *field,
                        const char *subject, const char *found, const char *allowed,
                        const char *problem, int32_t unit, int64_t value, int64_t least,
                        int64_t greatest) {
    const selene_error *error = selene_error_last();
    const selene_text texts[] = {error->field, error->subject, error->found, error->allowed,
                                 error->problem};
    const char *expected[] = {field, subject, found, allowed, problem};
    size_t i;
    CHECK_INT(sizeof(selene_error), error->struct_size);
    CHECK_INT(0, error->flags);
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK_STRING(expected[i], texts[i].data);
        CHECK_INT((int64_t)strlen(expected[i]), texts[i].length);
    }
    if (error->status == status && error->unit == unit && error->value == value &&
        error->least == least && error->greatest == greatest)
        return;
    fprintf(stderr,
            "%s:%d: status %d, unit %d, %" PRId64 " of %" PRId64 " to %" PRId64
            ", expected %d, %d, %" PRId64 " of %" PRId64 " to %" PRId64 "\n",
            file, line, error->status, error->unit, error->value, error->least, error->greatest,
            status, unit, value, least, greatest);
    check_fail();
}

#define ERROR(...) check_error(__FILE__, __LINE__, __VA_ARGS__)

static void *error_of_another_thread(void *context) {
    (void)context;
    ERROR(SELENE_OK, "", "", "", "", "", SELENE_UNIT_NONE, 0, 0, 0);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(NULL, NULL));
    ERROR(SELENE_ERROR_INVALID_ARGUMENT, "out_scheduler", "", "", "", "must not be NULL",
          SELENE_UNIT_NONE, 0, 0, 0);
    return NULL;
}

static void test_error(void) {
    selene_options options = still_options();
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_rule rule = {0};
    selene_profile profile = SELENE_INIT(selene_profile);
    selene_text tags[2];
    selene_scheduler s;
    selene_cycle cycle;
    pthread_t thread;
    char id[256];
    ERROR(SELENE_OK, "", "", "", "", "", SELENE_UNIT_NONE, 0, 0, 0);
    options.minimum_interval_refresh = 10 * SELENE_SECOND;
    options.max_pending_refresh = 1;
    CHECK_OK(selene_scheduler_open(&options, &s));
    ERROR(SELENE_OK, "", "", "", "", "", SELENE_UNIT_NONE, 0, 0, 0);

    task.id = SELENE_TEXT("a");
    task.priority = 9;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(s, &task, NULL));
    ERROR(SELENE_ERROR_INVALID_ARGUMENT, "priority", "", "9", "1 … 5", "", SELENE_UNIT_NUMBER, 9, 1,
          5);
    CHECK_STRING("priority: 9 is out of range, allowed are 1 … 5",
                 selene_error_last()->message.data);
    /* A call that succeeds leaves it, and so does a failure of another thread. */
    CHECK_OK(selene_scheduler_enable(s, 3));
    CHECK_INT(0, pthread_create(&thread, NULL, error_of_another_thread, NULL));
    CHECK_INT(0, pthread_join(thread, NULL));
    ERROR(SELENE_ERROR_INVALID_ARGUMENT, "priority", "", "9", "1 … 5", "", SELENE_UNIT_NUMBER, 9, 1,
          5);

    task.priority = 3;
    task.expected_response = INT64_MIN;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(s, &task, NULL));
    ERROR(SELENE_ERROR_INVALID_ARGUMENT, "expected_response", "", "-9223372036854775808",
          "0 … 24 h", "", SELENE_UNIT_DURATION, INT64_MIN, 0, 24 * 3600 * SELENE_SECOND);

    task.expected_response = SELENE_NONE;
    task.input = "x";
    task.input_length = 1 << 20;
    CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_task_register(s, &task, NULL));
    ERROR(SELENE_ERROR_TOO_LARGE, "input_length", "", "1048576", "0 … 10240 bytes", "",
          SELENE_UNIT_BYTES, 1 << 20, 0, 10240);
    CHECK_STRING("input_length: 1048576 bytes is out of range, allowed are 0 … 10240 bytes",
                 selene_error_last()->message.data);

    task.input_length = 0;
    tags[0] = SELENE_TEXT("t");
    tags[1] = SELENE_TEXT("");
    task.tags = tags;
    task.tag_count = 2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_task_register(s, &task, NULL));
    ERROR(SELENE_ERROR_INVALID_ARGUMENT, "tags[1]", "", "0", "1 … 255 bytes", "", SELENE_UNIT_BYTES,
          0, 1, 255);

    /* A name that was found is told whole, as it is. */
    memset(id, 1, sizeof id - 1);
    id[255] = '\0';
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_cancel(s, id, -1, NULL));
    ERROR(SELENE_ERROR_NOT_FOUND, "id", "", id, "", "is not registered", SELENE_UNIT_NONE, 0, 0, 0);

    /* What is full, and until when is too soon. */
    task.tag_count = 0;
    task.schedule = SELENE_SCHEDULE_ONCE;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.id = SELENE_TEXT("b");
    CHECK_STATUS(SELENE_ERROR_TOO_MANY_PENDING, selene_task_register(s, &task, NULL));
    CHECK_INT(1, selene_error_last()->greatest);
    CHECK_STRING("refresh", selene_error_last()->subject.data);
    window.budget = SELENE_SECOND;
    window.kinds = SELENE_KIND_REFRESH;
    CHECK_OK(selene_cycle_begin(s, &window, &cycle));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_STATUS(SELENE_ERROR_TOO_SOON, selene_cycle_begin(s, &window, &cycle));
    CHECK_INT(SELENE_UNIT_INSTANT, selene_error_last()->unit);
    CHECK_INT(10 * SELENE_SECOND, selene_error_last()->least - selene_error_last()->value);
    CHECK_STRING("kinds: refresh may begin again in 10 s", selene_error_last()->message.data);

    rule.factor = SELENE_FACTOR_RECENT_USE;
    rule.kinds = SELENE_KIND_REFRESH;
    rule.mode = SELENE_RULE_VETO;
    rule.required = -5;
    profile.rules = &rule;
    profile.rule_count = 1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_governor_set_profile(s, &profile));
    ERROR(SELENE_ERROR_INVALID_ARGUMENT, "required", "recent_use", "-5", "0 … 10 years", "",
          SELENE_UNIT_DURATION, -5, 0, INT64_C(3653) * 86400 * SELENE_SECOND);
    CHECK_STRING("required: -5 ns is out of range for recent_use, allowed are 0 … 10 years",
                 selene_error_last()->message.data);
    CHECK_OK(selene_scheduler_close(s, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("8.2 a NULL where a pointer is needed is INVALID_ARGUMENT and changes nothing",
             test_null_refused);
    run_test("8.2 a NULL is accepted wherever the header says that it may be", test_null_accepted);
    run_test("T4 a refused register changes nothing, whatever refused it", test_refused_register);
    run_test("T4 in a batch what is refused changes nothing and stops nothing", test_batch);
    run_test("8.6 destroy is called exactly once when the call that took it is refused",
             test_destroy_of_refused);
    run_test("8.3 the detail belongs to the thread and stays until its next failed call",
             test_detail);
    run_test("P7 the error is the sentence as data, each thread's own", test_error);
    return check_end();
}
