/*
 * misuse.h - what the misuse tests share
 *
 * A picture of all that a scheduler holds, the check that a refused call left it as it was and said why, and a table of
 * every function that takes a handle, each with arguments that are right but for the handle.
 */
#ifndef MISUSE_H
#define MISUSE_H

#include "check.h"

#include <stdatomic.h>
#include <stddef.h>

/* ---- a clock that stands still --------------------------------------------- */

#define CLOCK_BEGIN (INT64_C(1700000000) * SELENE_SECOND)

CHECK_UNUSED static int64_t still_now = CLOCK_BEGIN;

CHECK_UNUSED static int64_t still_clock(void *context) {
    (void)context;
    return still_now;
}

/** Options with this clock and without limits of pending tasks. */
CHECK_UNUSED static selene_options still_options(void) {
    selene_options options = SELENE_INIT(selene_options);
    options.clock = still_clock;
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.max_pending_processing = SELENE_UNLIMITED;
    options.seed = 1;
    return options;
}

CHECK_UNUSED static selene_scheduler open_still(void) {
    selene_options options = still_options();
    selene_scheduler scheduler = 0;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK(scheduler != 0);
    return scheduler;
}

CHECK_UNUSED static selene_scheduler open_default(void) {
    selene_scheduler scheduler = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    CHECK(scheduler != 0);
    return scheduler;
}

/* ---- small words ------------------------------------------------------------ */

CHECK_UNUSED static selene_text text_of(const char *text) {
    return (selene_text){text, (int64_t)strlen(text)};
}

CHECK_UNUSED static selene_task task_of(const char *id) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = text_of(id);
    task.schedule = SELENE_SCHEDULE_STANDING;
    return task;
}

CHECK_UNUSED static void add_task(selene_scheduler scheduler, const char *id) {
    selene_task task = task_of(id);
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

CHECK_UNUSED static void add_pulled_handler(selene_scheduler scheduler, const char *name) {
    CHECK_OK(selene_handler_register(scheduler, name, -1, NULL, NULL, NULL, NULL));
}

CHECK_UNUSED static int32_t state_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    int32_t state;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    state = info->state;
    selene_free(info);
    return state;
}

/** Begins a pulled cycle and takes its next run, which must be there. */
CHECK_UNUSED static selene_run take_run(selene_cycle cycle) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1;
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK(info.run != 0);
    return info.run;
}

/** Waits until a counter that other threads change has this value. */
#define WAIT_FOR(value, counter) wait_for((value), &(counter), #counter, __FILE__, __LINE__)

CHECK_UNUSED static void wait_for(int value, atomic_int *counter, const char *what,
                                  const char *file, int line) {
    int64_t limit = check_now() + PATIENCE;
    while (atomic_load(counter) != value && check_now() < limit)
        check_sleep(SELENE_MILLISECOND / 5);
    check_int(value, atomic_load(counter), what, file, line);
}

/** How often something slow is done: fewer times where the library is slowed down (see SELENE_TEST_ROUNDS). */
CHECK_UNUSED static int rounds(int usual) {
    return check_environment("SELENE_TEST_ROUNDS", 0) > 0 && usual > 50 ? usual / 50 : usual;
}

/* ---- pictures ---------------------------------------------------------------- */

/** All that can be read of a scheduler, as bytes. */
struct picture {
    size_t length;
    unsigned char bytes[64 * 1024];
};

CHECK_UNUSED static void picture_add(struct picture *picture, const void *data, size_t length) {
    CHECK(picture->length + length <= sizeof picture->bytes);
    if (length > 0) memcpy(picture->bytes + picture->length, data, length);
    picture->length += length;
}

CHECK_UNUSED static void picture_add_text(struct picture *picture, selene_text text) {
    picture_add(picture, &text.length, sizeof text.length);
    picture_add(picture, text.data, (size_t)text.length);
}

CHECK_UNUSED static void picture_add_task(struct picture *picture, const selene_task_info *info) {
    size_t numbers = offsetof(selene_task_info, tag_count);
    uint32_t i;
    picture_add_text(picture, info->id);
    picture_add_text(picture, info->handler);
    picture_add_text(picture, info->input);
    for (i = 0; i < info->tag_count; i++)
        picture_add_text(picture, info->tags[i]);
    picture_add(picture, (const char *)info + numbers,
                offsetof(selene_task_info, failure) - numbers);
    picture_add_text(picture, info->failure);
    picture_add(picture, &info->timeout, sizeof info->timeout);
    picture_add(picture, &info->paused, sizeof info->paused);
    picture_add(picture, &info->jitter, sizeof info->jitter);
    picture_add(picture, &info->stall_limit, sizeof info->stall_limit);
    picture_add(picture, &info->progress_at, sizeof info->progress_at);
    picture_add(picture, &info->progress_done, sizeof info->progress_done);
    picture_add(picture, &info->progress_total, sizeof info->progress_total);
    picture_add_text(picture, info->progress_text);
    picture_add(picture, &info->output_length, sizeof info->output_length);
    picture_add_text(picture, info->group);
    for (i = 0; i < info->after_count; i++)
        picture_add_text(picture, info->after[i]);
    picture_add(picture, &info->waits_for, sizeof info->waits_for);
    picture_add(picture, &info->latest_begin, sizeof info->latest_begin);
    for (i = 0; i < info->condition_count; i++)
        picture_add_text(picture, info->conditions[i]);
}

CHECK_UNUSED static void picture_take(struct picture *picture, selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_task_ids *ids = NULL;
    uint32_t conditions[2] = {0, 0};
    int64_t now = 0, at = 0, delay = 0;
    uint64_t i, position, positions;
    picture->length = 0;
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    picture_add(picture, &info, sizeof info);
    CHECK_OK(selene_conditions_get(scheduler, &conditions[0], &conditions[1]));
    picture_add(picture, &conditions[1], sizeof conditions[1]);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, &delay));
    /* What is due now stays due now, although now moves. */
    at = delay > 0 ? at : 0;
    picture_add(picture, &at, sizeof at);
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    picture_add(picture, &ids->count, sizeof ids->count);
    for (i = 0; i < ids->count; i++) {
        positions = 0;
        for (position = 0; position <= positions; position++) {
            selene_task_info *task = NULL;
            CHECK_OK(
                selene_task_get(scheduler, ids->ids[i].data, ids->ids[i].length, position, &task));
            if (position == 0) positions = task->appended;
            picture_add_task(picture, task);
            selene_free(task);
        }
    }
    selene_free(ids);
}

/* ---- outputs ------------------------------------------------------------------ */

/** Where the calls below let the library write. */
struct outs {
    selene_scheduler_info scheduler_info;
    selene_explanation explanation;
    selene_group_info group;
    selene_run_info run_info;
    int64_t instant, duration;
    uint64_t handle, count;
    uint32_t bits, more_bits;
    int32_t number, more_number;
    selene_task_info *task_info;
    selene_task_ids *task_ids;
    selene_report *report;
    selene_plan *plan;
    selene_store_info *store_info;
    selene_store_findings findings;
    selene_signal signal;
    selene_balance balance;
    selene_decision *decision;
    selene_forecast forecast;
    selene_event event;
    selene_run_info *run_facts;
    selene_node_request request;
    selene_node_info node_info;
    selene_task_output *output;
    selene_waits *waits;
    selene_clients *clients;
    selene_pauses *pauses;
};

CHECK_UNUSED static struct outs outs, outs_before;

/** Fills the outputs with what no call would write there. */
CHECK_UNUSED static void outs_reset(void) {
    memset(&outs, 0xA5, sizeof outs);
    outs.scheduler_info.struct_size = sizeof outs.scheduler_info;
    outs.scheduler_info.flags = 0;
    outs.explanation.struct_size = sizeof outs.explanation;
    outs.explanation.flags = 0;
    outs.group.struct_size = sizeof outs.group;
    outs.group.flags = 0;
    outs.run_info.struct_size = sizeof outs.run_info;
    outs.run_info.flags = 0;
    outs.findings.struct_size = sizeof outs.findings;
    outs.findings.flags = 0;
    outs.signal.struct_size = sizeof outs.signal;
    outs.signal.flags = 0;
    outs.balance.struct_size = sizeof outs.balance;
    outs.balance.flags = 0;
    outs.event.struct_size = sizeof outs.event;
    outs.event.flags = 0;
    outs.request.struct_size = sizeof outs.request;
    outs.request.flags = 0;
    outs.node_info.struct_size = sizeof outs.node_info;
    outs.node_info.flags = 0;
    memcpy(&outs_before, &outs, sizeof outs);
}

CHECK_UNUSED static int outs_untouched(void) {
    return memcmp(&outs, &outs_before, sizeof outs) == 0;
}

/** Frees what a call gave since they were filled. */
CHECK_UNUSED static void outs_free(void) {
#define FREE(field)                                                                                \
    if (outs.field != outs_before.field) selene_free(outs.field)
    FREE(task_info);
    FREE(task_ids);
    FREE(report);
    FREE(plan);
    FREE(store_info);
    FREE(decision);
    FREE(output);
    FREE(waits);
    FREE(clients);
    FREE(pauses);
    FREE(run_facts);
#undef FREE
    outs_reset();
}

/* ---- refused calls ------------------------------------------------------------- */

/** The scheduler that a refused call must leave as it is; 0: none. */
CHECK_UNUSED static selene_scheduler watched;
CHECK_UNUSED static struct picture before_call, after_call;

/** A refused call: answers exactly this status, says why with this word, changes nothing and writes nothing. */
#define REFUSED(expected, word, call)                                                              \
    do {                                                                                           \
        selene_status refused_status;                                                              \
        refused_begin(word);                                                                       \
        refused_status = (call);                                                                   \
        refused_end((expected), refused_status, (word), #call, __FILE__, __LINE__);                \
    } while (0)

CHECK_UNUSED static void refused_begin(const char *word) {
    if (watched) picture_take(&before_call, watched);
    outs_reset();
    /* Another refusal, whose detail does not have the word, so that an old detail is not taken for the new one. */
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(NULL, NULL));
    if (strstr(selene_error_last()->message.data, word))
        CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_run_complete(0, SELENE_OUTCOME_NEW_DATA));
    CHECK(strstr(selene_error_last()->message.data, word) == NULL);
}

CHECK_UNUSED static void refused_end(selene_status expected, selene_status got, const char *word,
                                     const char *call, const char *file, int line) {
    char detail[1024];
    check_status(expected, got, call, file, line);
    snprintf(detail, sizeof detail, "%s", selene_error_last()->message.data);
    if (!strstr(detail, word)) {
        fprintf(stderr, "%s:%d: %s: the detail \"%s\" does not name \"%s\"\n", file, line, call,
                detail, word);
        check_fail();
    }
    if (!outs_untouched()) {
        fprintf(stderr, "%s:%d: %s: wrote an output although it was refused\n", file, line, call);
        check_fail();
    }
    if (!watched) return;
    picture_take(&after_call, watched);
    if (before_call.length != after_call.length ||
        memcmp(before_call.bytes, after_call.bytes, before_call.length) != 0) {
        fprintf(stderr, "%s:%d: %s: changed something although it was refused\n", file, line, call);
        check_fail();
    }
}

/* ---- callbacks that count -------------------------------------------------------- */

CHECK_UNUSED static atomic_int destroyed, called;

CHECK_UNUSED static void count_destroy(void *context) {
    (void)context;
    atomic_fetch_add(&destroyed, 1);
}

CHECK_UNUSED static void count_run(selene_run run, const selene_run_info *info, void *context) {
    (void)run, (void)info, (void)context;
    atomic_fetch_add(&called, 1);
}

CHECK_UNUSED static void count_stop(selene_run run, int32_t reason, void *context) {
    (void)run, (void)reason, (void)context;
    atomic_fetch_add(&called, 1);
}

CHECK_UNUSED static void count_event(const selene_event *event, void *context) {
    (void)event, (void)context;
    atomic_fetch_add(&called, 1);
}

CHECK_UNUSED static void count_report(const selene_report *report, void *context) {
    (void)report, (void)context;
    atomic_fetch_add(&called, 1);
}

/* ---- every function that takes a handle ------------------------------------------- */

static selene_status call_close(uint64_t h) {
    return selene_scheduler_close(h, 0);
}
static selene_status call_now(uint64_t h) {
    return selene_scheduler_now(h, &outs.instant);
}
static selene_status call_get(uint64_t h) {
    return selene_scheduler_get(h, &outs.scheduler_info);
}
static selene_status call_enable(uint64_t h) {
    return selene_scheduler_enable(h, SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING);
}
static selene_status call_pause_kinds(uint64_t h) {
    return selene_scheduler_pause(h, SELENE_KIND_REFRESH, "pool", -1, SELENE_NEVER);
}
static selene_status call_pause_list(uint64_t h) {
    return selene_pause_list(h, &outs.pauses);
}
static selene_status call_next_wakeup(uint64_t h) {
    return selene_scheduler_next_wakeup(h, &outs.instant, &outs.duration);
}
static selene_status call_prune(uint64_t h) {
    return selene_scheduler_prune(h, &outs.count);
}
static selene_status call_drain(uint64_t h) {
    return selene_scheduler_drain(h, 0);
}
static selene_status call_resume(uint64_t h) {
    return selene_scheduler_resume(h);
}
static selene_status call_reset(uint64_t h) {
    return selene_scheduler_reset(h);
}
static selene_status call_observe(uint64_t h) {
    return selene_scheduler_observe(h, count_event, NULL, count_destroy);
}
static selene_status call_handler_register(uint64_t h) {
    return selene_handler_register(h, "handler", -1, count_run, count_stop, NULL, count_destroy);
}
static selene_status call_handler_unregister(uint64_t h) {
    return selene_handler_unregister(h, "handler", -1);
}
static selene_status call_task_register(uint64_t h) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = SELENE_TEXT("task");
    return selene_task_register(h, &task, &outs.number);
}
static selene_status call_task_register_batch(uint64_t h) {
    selene_task task = SELENE_INIT(selene_task);
    const selene_task *tasks[1] = {&task};
    task.id = SELENE_TEXT("task");
    return selene_task_register_batch(h, tasks, 1, &outs.number, &outs.more_number);
}
static selene_status call_task_cancel(uint64_t h) {
    return selene_task_cancel(h, "task", -1, &outs.count);
}
static selene_status call_task_cancel_tag(uint64_t h) {
    return selene_task_cancel_tag(h, "tag", -1, &outs.count);
}
static selene_status call_task_cancel_all(uint64_t h) {
    return selene_task_cancel_all(h, &outs.count);
}
static selene_status call_task_get(uint64_t h) {
    return selene_task_get(h, "task", -1, 0, &outs.task_info);
}
static selene_status call_task_waits(uint64_t h) {
    return selene_task_waits(h, "task", -1, &outs.waits);
}
static selene_status call_task_get_output(uint64_t h) {
    return selene_task_get_output(h, "task", -1, &outs.output);
}
static selene_status call_task_list(uint64_t h) {
    return selene_task_list(h, NULL, 0, &outs.task_ids);
}
static selene_status call_task_list_state(uint64_t h) {
    return selene_task_list_state(h, SELENE_STATE_FAILED, &outs.task_ids);
}
static selene_status call_task_retry(uint64_t h) {
    return selene_task_retry(h, "task", -1);
}
static selene_status call_task_retry_successors(uint64_t h) {
    return selene_task_retry_successors(h, "task", -1, &outs.count);
}
static selene_status call_task_retry_all(uint64_t h) {
    return selene_task_retry_all(h, "tag", -1, 0, &outs.count);
}
static selene_status call_task_set_next(uint64_t h) {
    return selene_task_set_next(h, "task", -1, 0);
}
static selene_status call_task_pause(uint64_t h) {
    return selene_task_pause(h, "task", -1, &outs.count);
}
static selene_status call_task_pause_tag(uint64_t h) {
    return selene_task_pause_tag(h, "tag", -1, &outs.count);
}
static selene_status call_task_resume(uint64_t h) {
    return selene_task_resume(h, "task", -1, &outs.count);
}
static selene_status call_task_resume_tag(uint64_t h) {
    return selene_task_resume_tag(h, "tag", -1, &outs.count);
}
static selene_status call_group_set_limit(uint64_t h) {
    return selene_group_set_limit(h, "group", -1, 2);
}
static selene_status call_group_pause(uint64_t h) {
    return selene_group_pause(h, "group", -1);
}
static selene_status call_group_resume(uint64_t h) {
    return selene_group_resume(h, "group", -1);
}
static selene_status call_group_get(uint64_t h) {
    return selene_group_get(h, "group", -1, &outs.group);
}
static selene_status call_group_list(uint64_t h) {
    return selene_group_list(h, &outs.task_ids);
}
static selene_status call_task_explain(uint64_t h) {
    return selene_task_explain(h, "task", -1, &outs.explanation);
}
static selene_status call_cycle_begin(uint64_t h) {
    return selene_cycle_begin(h, NULL, &outs.handle);
}
static selene_status call_cycle_run(uint64_t h) {
    return selene_cycle_run(h, NULL, &outs.report);
}
static selene_status call_cycle_run_async(uint64_t h) {
    return selene_cycle_run_async(h, NULL, count_report, NULL, count_destroy, &outs.handle,
                                  &outs.instant);
}
static selene_status call_cycle_plan(uint64_t h) {
    return selene_cycle_plan(h, NULL, &outs.plan);
}
static selene_status call_conditions_set(uint64_t h) {
    return selene_conditions_set(h, SELENE_CONSTRAINT_NETWORK, SELENE_CONSTRAINT_NETWORK);
}
static selene_status call_conditions_get(uint64_t h) {
    return selene_conditions_get(h, &outs.bits, &outs.more_bits);
}
static selene_status call_condition_define(uint64_t h) {
    return selene_condition_define(h, "condition", -1);
}
static selene_status call_condition_undefine(uint64_t h) {
    return selene_condition_undefine(h, "condition", -1);
}
static selene_status call_condition_set(uint64_t h) {
    return selene_condition_set(h, "condition", -1, 1);
}
static selene_status call_condition_get(uint64_t h) {
    return selene_condition_get(h, "condition", -1, &outs.number);
}
static selene_status call_condition_list(uint64_t h) {
    return selene_condition_list(h, &outs.task_ids);
}
static selene_status call_condition_missing(uint64_t h) {
    return selene_condition_missing(h, "standing", -1, &outs.task_ids);
}
static selene_status call_store_get(uint64_t h) {
    return selene_store_get(h, &outs.store_info);
}
/* Not even a scheduler that has a store would make this file. */
static selene_status call_store_backup(uint64_t h) {
    return selene_store_backup(h, "/no/such/folder/store", -1);
}
static selene_status call_signal_set(uint64_t h) {
    return selene_signal_set(h, SELENE_SIGNAL_THERMAL, 1, 0);
}
static selene_status call_signal_clear(uint64_t h) {
    return selene_signal_clear(h, SELENE_SIGNAL_THERMAL);
}
static selene_status call_signal_get(uint64_t h) {
    return selene_signal_get(h, SELENE_SIGNAL_THERMAL, &outs.signal);
}
static selene_status call_set_profile(uint64_t h) {
    return selene_governor_set_profile(h, NULL);
}
static selene_status call_ask(uint64_t h) {
    return selene_governor_ask(h, SELENE_KIND_REFRESH, 0, &outs.decision);
}
static selene_status call_last(uint64_t h) {
    return selene_governor_last(h, SELENE_KIND_REFRESH, &outs.decision);
}
static selene_status call_ledger_get(uint64_t h) {
    return selene_ledger_get(h, SELENE_KIND_REFRESH, &outs.balance);
}
static selene_status call_ledger_report(uint64_t h) {
    return selene_ledger_report(h, SELENE_KIND_REFRESH, 1, 1);
}
static selene_status call_use_report(uint64_t h) {
    return selene_use_report(h, 0, 0);
}
static selene_status call_forecast(uint64_t h) {
    return selene_governor_forecast(h, SELENE_KIND_REFRESH, &outs.forecast, 1, &outs.count);
}
/* Not even a scheduler would make this file. */
static selene_status call_trace_record(uint64_t h) {
    return selene_trace_record(h, "/no/such/folder/trace", -1);
}
static selene_status call_driver_start(uint64_t h) {
    return selene_driver_start(h, NULL);
}
static selene_status call_driver_open(uint64_t h) {
    return selene_driver_open(h, NULL, &outs.number);
}
static selene_status call_driver_step(uint64_t h) {
    return selene_driver_step(h, &outs.handle, &outs.instant);
}
static selene_status call_driver_stop(uint64_t h) {
    return selene_driver_stop(h, 0);
}
/* Not even a scheduler would make this socket. */
static selene_status call_server_start(uint64_t h) {
    selene_server_options options = SELENE_INIT(selene_server_options);
    options.path = SELENE_TEXT("/no/such/folder/socket");
    return selene_server_start(h, &options, &outs.handle);
}
static selene_status call_server_open(uint64_t h) {
    selene_server_options options = SELENE_INIT(selene_server_options);
    options.path = SELENE_TEXT("/no/such/folder/socket");
    return selene_server_open(h, &options, &outs.handle, &outs.number);
}
static selene_status call_launch(uint64_t h) {
    return selene_task_launch(h, "task", -1);
}
static selene_status call_expire(uint64_t h) {
    return selene_task_expire(h, "task", -1);
}
static selene_status call_cycle_next(uint64_t h) {
    return selene_cycle_next(h, &outs.number, &outs.run_info, &outs.instant);
}
static selene_status call_cycle_end(uint64_t h) {
    return selene_cycle_end(h, &outs.report);
}
static selene_status call_cycle_drain(uint64_t h) {
    return selene_cycle_drain(h, 0);
}
static selene_status call_cycle_wait(uint64_t h) {
    return selene_cycle_wait(h, SELENE_NEVER, &outs.report, &outs.instant);
}
static selene_status call_cycle_descriptor(uint64_t h) {
    return selene_cycle_descriptor(h, &outs.number);
}
static selene_status call_lane_open(uint64_t h) {
    return selene_lane_open(h, &outs.handle);
}
static selene_status call_lane_next(uint64_t h) {
    return selene_lane_next(h, SELENE_OUTCOME_NONE, SELENE_NEVER, &outs.number, &outs.run_info,
                            &outs.instant);
}
static selene_status call_lane_close(uint64_t h) {
    return selene_lane_close(h);
}
static selene_status call_run_complete(uint64_t h) {
    return selene_run_complete(h, SELENE_OUTCOME_NEW_DATA);
}
static selene_status call_run_retry(uint64_t h) {
    return selene_run_retry(h, SELENE_SECOND);
}
static selene_status call_run_progress(uint64_t h) {
    return selene_run_progress(h, 1, 2, "half", -1);
}

static selene_status call_run_set_user(uint64_t h) {
    return selene_run_set_user(h, NULL);
}
static selene_status call_run_user(uint64_t h) {
    void *user = NULL;
    return selene_run_user(h, &user);
}
static selene_status call_run_set_output(uint64_t h) {
    return selene_run_set_output(h, "left", 4);
}
static selene_status call_run_complete_until(uint64_t h) {
    return selene_run_complete_until(h, SELENE_OUTCOME_NO_DATA, 0);
}
static selene_status call_run_fail(uint64_t h) {
    return selene_run_fail(h, SELENE_OUTCOME_FAILED, -1, "why", -1);
}
static selene_status call_run_stopping(uint64_t h) {
    return selene_run_stopping(h, &outs.number);
}
static selene_status call_run_remaining(uint64_t h) {
    return selene_run_remaining(h, &outs.duration);
}

static selene_status call_run_get(uint64_t h) {
    return selene_run_get(h, &outs.run_facts);
}
static selene_status call_clock_set(uint64_t h) {
    return selene_clock_set(h, SELENE_SECOND);
}
static selene_status call_clock_advance(uint64_t h) {
    return selene_clock_advance(h, SELENE_SECOND, 0, 0, &outs.instant);
}
static selene_status call_run_sleep(uint64_t h) {
    return selene_run_sleep(h, 0, &outs.number);
}
static selene_status call_events_open(uint64_t h) {
    return selene_events_open(h, 1, &outs.number);
}
static selene_status call_events_next(uint64_t h) {
    return selene_events_next(h, 0, &outs.event, &outs.number, &outs.count);
}
static selene_status call_events_close(uint64_t h) {
    return selene_events_close(h);
}
static selene_status call_client_list(uint64_t h) {
    return selene_client_list(h, &outs.clients);
}
static selene_status call_driver_wait(uint64_t h) {
    return selene_driver_wait(h, 0, &outs.number);
}
static selene_status call_node_open(uint64_t h) {
    return selene_node_open(h, NULL, &outs.number);
}
static selene_status call_node_step(uint64_t h) {
    return selene_node_step(h, &outs.request, &outs.instant);
}
static selene_status call_node_wait(uint64_t h) {
    return selene_node_wait(h, 0, &outs.number);
}
static selene_status call_node_rows(uint64_t h) {
    return selene_node_rows(h, 1, NULL, 0, 0);
}
static selene_status call_node_failed(uint64_t h) {
    return selene_node_failed(h, 1, 0, NULL, NULL);
}
static selene_status call_node_hint(uint64_t h) {
    return selene_node_hint(h);
}
static selene_status call_node_get(uint64_t h) {
    return selene_node_get(h, &outs.node_info);
}
static selene_status call_node_leave(uint64_t h) {
    return selene_node_leave(h, 0);
}
static selene_status call_node_close(uint64_t h) {
    return selene_node_close(h);
}
static selene_status call_run_fence(uint64_t h) {
    return selene_run_fence(h, &outs.instant, &outs.duration);
}
static selene_status call_run_decided_by_host(uint64_t h) {
    return selene_run_decided_by_host(h);
}

enum handle_type { TAKES_SCHEDULER, TAKES_CYCLE, TAKES_LANE, TAKES_RUN };

struct handle_call {
    const char *name;
    enum handle_type type;
    selene_status (*call)(uint64_t handle);
    /** How many contexts the call must end when it is refused. */
    int destroys;
};

CHECK_UNUSED static const struct handle_call handle_calls[] = {
    {"selene_scheduler_close", TAKES_SCHEDULER, call_close, 0},
    {"selene_scheduler_now", TAKES_SCHEDULER, call_now, 0},
    {"selene_scheduler_get", TAKES_SCHEDULER, call_get, 0},
    {"selene_scheduler_enable", TAKES_SCHEDULER, call_enable, 0},
    {"selene_scheduler_pause", TAKES_SCHEDULER, call_pause_kinds, 0},
    {"selene_pause_list", TAKES_SCHEDULER, call_pause_list, 0},
    {"selene_scheduler_next_wakeup", TAKES_SCHEDULER, call_next_wakeup, 0},
    {"selene_scheduler_prune", TAKES_SCHEDULER, call_prune, 0},
    {"selene_scheduler_drain", TAKES_SCHEDULER, call_drain, 0},
    {"selene_scheduler_resume", TAKES_SCHEDULER, call_resume, 0},
    {"selene_scheduler_reset", TAKES_SCHEDULER, call_reset, 0},
    {"selene_scheduler_observe", TAKES_SCHEDULER, call_observe, 1},
    {"selene_clock_set", TAKES_SCHEDULER, call_clock_set, 0},
    {"selene_clock_advance", TAKES_SCHEDULER, call_clock_advance, 0},
    {"selene_events_open", TAKES_SCHEDULER, call_events_open, 0},
    {"selene_events_next", TAKES_SCHEDULER, call_events_next, 0},
    {"selene_events_close", TAKES_SCHEDULER, call_events_close, 0},
    {"selene_handler_register", TAKES_SCHEDULER, call_handler_register, 1},
    {"selene_handler_unregister", TAKES_SCHEDULER, call_handler_unregister, 0},
    {"selene_task_register", TAKES_SCHEDULER, call_task_register, 0},
    {"selene_task_register_batch", TAKES_SCHEDULER, call_task_register_batch, 0},
    {"selene_task_cancel", TAKES_SCHEDULER, call_task_cancel, 0},
    {"selene_task_cancel_tag", TAKES_SCHEDULER, call_task_cancel_tag, 0},
    {"selene_task_cancel_all", TAKES_SCHEDULER, call_task_cancel_all, 0},
    {"selene_task_get", TAKES_SCHEDULER, call_task_get, 0},
    {"selene_task_get_output", TAKES_SCHEDULER, call_task_get_output, 0},
    {"selene_task_waits", TAKES_SCHEDULER, call_task_waits, 0},
    {"selene_task_list", TAKES_SCHEDULER, call_task_list, 0},
    {"selene_task_list_state", TAKES_SCHEDULER, call_task_list_state, 0},
    {"selene_task_retry", TAKES_SCHEDULER, call_task_retry, 0},
    {"selene_task_retry_successors", TAKES_SCHEDULER, call_task_retry_successors, 0},
    {"selene_task_retry_all", TAKES_SCHEDULER, call_task_retry_all, 0},
    {"selene_task_set_next", TAKES_SCHEDULER, call_task_set_next, 0},
    {"selene_task_pause", TAKES_SCHEDULER, call_task_pause, 0},
    {"selene_task_pause_tag", TAKES_SCHEDULER, call_task_pause_tag, 0},
    {"selene_task_resume", TAKES_SCHEDULER, call_task_resume, 0},
    {"selene_task_resume_tag", TAKES_SCHEDULER, call_task_resume_tag, 0},
    {"selene_group_set_limit", TAKES_SCHEDULER, call_group_set_limit, 0},
    {"selene_group_pause", TAKES_SCHEDULER, call_group_pause, 0},
    {"selene_group_resume", TAKES_SCHEDULER, call_group_resume, 0},
    {"selene_group_get", TAKES_SCHEDULER, call_group_get, 0},
    {"selene_group_list", TAKES_SCHEDULER, call_group_list, 0},
    {"selene_task_explain", TAKES_SCHEDULER, call_task_explain, 0},
    {"selene_cycle_begin", TAKES_SCHEDULER, call_cycle_begin, 0},
    {"selene_cycle_run", TAKES_SCHEDULER, call_cycle_run, 0},
    {"selene_cycle_run_async", TAKES_SCHEDULER, call_cycle_run_async, 1},
    {"selene_cycle_plan", TAKES_SCHEDULER, call_cycle_plan, 0},
    {"selene_conditions_set", TAKES_SCHEDULER, call_conditions_set, 0},
    {"selene_conditions_get", TAKES_SCHEDULER, call_conditions_get, 0},
    {"selene_condition_define", TAKES_SCHEDULER, call_condition_define, 0},
    {"selene_condition_undefine", TAKES_SCHEDULER, call_condition_undefine, 0},
    {"selene_condition_set", TAKES_SCHEDULER, call_condition_set, 0},
    {"selene_condition_get", TAKES_SCHEDULER, call_condition_get, 0},
    {"selene_condition_list", TAKES_SCHEDULER, call_condition_list, 0},
    {"selene_condition_missing", TAKES_SCHEDULER, call_condition_missing, 0},
    {"selene_store_get", TAKES_SCHEDULER, call_store_get, 0},
    {"selene_store_backup", TAKES_SCHEDULER, call_store_backup, 0},
    {"selene_signal_set", TAKES_SCHEDULER, call_signal_set, 0},
    {"selene_signal_clear", TAKES_SCHEDULER, call_signal_clear, 0},
    {"selene_signal_get", TAKES_SCHEDULER, call_signal_get, 0},
    {"selene_governor_set_profile", TAKES_SCHEDULER, call_set_profile, 0},
    {"selene_governor_ask", TAKES_SCHEDULER, call_ask, 0},
    {"selene_governor_last", TAKES_SCHEDULER, call_last, 0},
    {"selene_ledger_get", TAKES_SCHEDULER, call_ledger_get, 0},
    {"selene_ledger_report", TAKES_SCHEDULER, call_ledger_report, 0},
    {"selene_use_report", TAKES_SCHEDULER, call_use_report, 0},
    {"selene_governor_forecast", TAKES_SCHEDULER, call_forecast, 0},
    {"selene_trace_record", TAKES_SCHEDULER, call_trace_record, 0},
    {"selene_driver_start", TAKES_SCHEDULER, call_driver_start, 0},
    {"selene_driver_open", TAKES_SCHEDULER, call_driver_open, 0},
    {"selene_driver_step", TAKES_SCHEDULER, call_driver_step, 0},
    {"selene_driver_wait", TAKES_SCHEDULER, call_driver_wait, 0},
    {"selene_driver_stop", TAKES_SCHEDULER, call_driver_stop, 0},
    {"selene_server_start", TAKES_SCHEDULER, call_server_start, 0},
    {"selene_server_open", TAKES_SCHEDULER, call_server_open, 0},
    {"selene_client_list", TAKES_SCHEDULER, call_client_list, 0},
    {"selene_node_open", TAKES_SCHEDULER, call_node_open, 0},
    {"selene_node_step", TAKES_SCHEDULER, call_node_step, 0},
    {"selene_node_wait", TAKES_SCHEDULER, call_node_wait, 0},
    {"selene_node_rows", TAKES_SCHEDULER, call_node_rows, 0},
    {"selene_node_failed", TAKES_SCHEDULER, call_node_failed, 0},
    {"selene_node_hint", TAKES_SCHEDULER, call_node_hint, 0},
    {"selene_node_get", TAKES_SCHEDULER, call_node_get, 0},
    {"selene_node_leave", TAKES_SCHEDULER, call_node_leave, 0},
    {"selene_node_close", TAKES_SCHEDULER, call_node_close, 0},
    {"selene_task_launch", TAKES_SCHEDULER, call_launch, 0},
    {"selene_task_expire", TAKES_SCHEDULER, call_expire, 0},
    {"selene_cycle_next", TAKES_CYCLE, call_cycle_next, 0},
    {"selene_cycle_end", TAKES_CYCLE, call_cycle_end, 0},
    {"selene_cycle_drain", TAKES_CYCLE, call_cycle_drain, 0},
    {"selene_cycle_wait", TAKES_CYCLE, call_cycle_wait, 0},
    {"selene_cycle_descriptor", TAKES_CYCLE, call_cycle_descriptor, 0},
    {"selene_lane_open", TAKES_CYCLE, call_lane_open, 0},
    {"selene_lane_next", TAKES_LANE, call_lane_next, 0},
    {"selene_lane_close", TAKES_LANE, call_lane_close, 0},
    {"selene_run_complete", TAKES_RUN, call_run_complete, 0},
    {"selene_run_retry", TAKES_RUN, call_run_retry, 0},
    {"selene_run_complete_until", TAKES_RUN, call_run_complete_until, 0},
    {"selene_run_fail", TAKES_RUN, call_run_fail, 0},
    {"selene_run_progress", TAKES_RUN, call_run_progress, 0},
    {"selene_run_set_output", TAKES_RUN, call_run_set_output, 0},
    {"selene_run_set_user", TAKES_RUN, call_run_set_user, 0},
    {"selene_run_user", TAKES_RUN, call_run_user, 0},
    {"selene_run_stopping", TAKES_RUN, call_run_stopping, 0},
    {"selene_run_sleep", TAKES_RUN, call_run_sleep, 0},
    {"selene_run_remaining", TAKES_RUN, call_run_remaining, 0},
    {"selene_run_get", TAKES_RUN, call_run_get, 0},
    {"selene_run_fence", TAKES_RUN, call_run_fence, 0},
    {"selene_run_decided_by_host", TAKES_RUN, call_run_decided_by_host, 0},
};

/** A frozen window of refresh tasks. */
CHECK_UNUSED static selene_window refresh_window(void) {
    selene_window window = SELENE_INIT(selene_window);
    window.kinds = SELENE_KIND_REFRESH;
    window.flags = SELENE_WINDOW_FROZEN;
    return window;
}

CHECK_UNUSED static selene_status begin_refresh(selene_scheduler scheduler, selene_cycle *cycle) {
    const selene_window window = refresh_window();
    return selene_cycle_begin(scheduler, &window, cycle);
}

/** A lane of a cycle of processing tasks. */
CHECK_UNUSED static selene_lane open_lane_of(selene_scheduler scheduler) {
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle = 0;
    selene_lane lane = 0;
    window.kinds = SELENE_KIND_PROCESSING;
    window.flags = SELENE_WINDOW_LANES;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_lane_open(cycle, &lane));
    return lane;
}

#define HANDLE_CALLS (sizeof handle_calls / sizeof handle_calls[0])

/** Calls it with a handle that must be refused so: it writes nothing, and ends the context that it was given. */
CHECK_UNUSED static void call_refused(const struct handle_call *call, uint64_t handle,
                                      selene_status expected) {
    int destroyed_before = atomic_load(&destroyed), called_before = atomic_load(&called);
    selene_status got = call->call(handle);
    if (got == expected && outs_untouched() &&
        atomic_load(&destroyed) - destroyed_before == call->destroys &&
        atomic_load(&called) == called_before && selene_error_last()->message.data[0] != '\0')
        return;
    fprintf(stderr,
            "%s(0x%016" PRIx64
            ", …): expected %s, got %s; outputs %s; %d contexts ended, not %d; %d callbacks; "
            "detail \"%s\"\n",
            call->name, handle, selene_name(SELENE_NAMES_STATUS, expected),
            selene_name(SELENE_NAMES_STATUS, got), outs_untouched() ? "untouched" : "written",
            atomic_load(&destroyed) - destroyed_before, call->destroys,
            atomic_load(&called) - called_before, selene_error_last()->message.data);
    check_fail();
}

#endif /* MISUSE_H */
