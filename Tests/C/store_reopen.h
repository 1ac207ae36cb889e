/*
 * store_reopen.h - what the tests share that close a store and open it again: its tasks, and the events it tells
 */
#ifndef STORE_REOPEN_H
#define STORE_REOPEN_H

#include "store_tools.h"

/** Closes and opens again. */
CHECK_UNUSED static selene_scheduler reopen(selene_scheduler scheduler, const char *file) {
    close_store(scheduler);
    scheduler = open_store(file);
    add_handler(scheduler, "work");
    return scheduler;
}

CHECK_UNUSED static selene_task_info *info_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    return info;
}

CHECK_UNUSED static void check_state(selene_scheduler scheduler, const char *id, int32_t state) {
    selene_task_info *info = info_of(scheduler, id);
    if (info->state != state) fprintf(stderr, "%s: ", id);
    CHECK_STRING(selene_name(SELENE_NAMES_STATE, state),
                 selene_name(SELENE_NAMES_STATE, info->state));
    selene_free(info);
}

CHECK_UNUSED static const selene_reason *reason_of(selene_scheduler scheduler, const char *id,
                                                   int32_t reason) {
    static selene_explanation why;
    why = (selene_explanation)SELENE_INIT(selene_explanation);
    CHECK_OK(selene_task_explain(scheduler, id, -1, &why));
    for (uint32_t i = 0; i < why.reason_count; i++)
        if (why.reasons[i].reason == reason) return &why.reasons[i];
    return NULL;
}

CHECK_UNUSED static selene_task once_of(const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    return task;
}

CHECK_UNUSED static void register_task(selene_scheduler scheduler, selene_task task,
                                       int32_t expected) {
    int32_t disposition = -1;
    CHECK_OK(selene_task_register(scheduler, &task, &disposition));
    CHECK_STRING(selene_name(SELENE_NAMES_DISPOSITION, expected),
                 selene_name(SELENE_NAMES_DISPOSITION, disposition));
}

/* ---- events ------------------------------------------------------------------- */

#define EVENTS 256

struct noted {
    int32_t type;
    int32_t state;
    int32_t detail;
    uint32_t attempts;
    int64_t time;
    int64_t time_at;
    uint64_t number;
    char id[64];
};

CHECK_UNUSED static struct noted noted[EVENTS];
CHECK_UNUSED static int noted_count;

CHECK_UNUSED static void note_event(const selene_event *event, void *context) {
    struct noted *now = &noted[noted_count];
    (void)context;
    CHECK(noted_count < EVENTS);
    *now = (struct noted){event->type, event->state,   event->detail, event->attempts,
                          event->time, event->time_at, event->number, ""};
    snprintf(now->id, sizeof now->id, "%s", event->id.data ? event->id.data : "");
    if (noted_count > 0) CHECK(now->number == noted[noted_count - 1].number + 1);
    noted_count++;
}

CHECK_UNUSED static void observe(selene_scheduler scheduler) {
    noted_count = 0;
    CHECK_OK(selene_scheduler_observe(scheduler, note_event, NULL, NULL));
}

CHECK_UNUSED static const struct noted *event_of(int32_t type, const char *id) {
    for (int i = 0; i < noted_count; i++)
        if (noted[i].type == type && strcmp(noted[i].id, id) == 0) return &noted[i];
    return NULL;
}

CHECK_UNUSED static int events_of(int32_t type) {
    int count = 0;
    for (int i = 0; i < noted_count; i++)
        count += noted[i].type == type;
    return count;
}

#endif /* STORE_REOPEN_H */
