#define _XOPEN_SOURCE 700
#include "keep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "due.h"
#include "duration.h"
#include "owner.h"
#include "printable.h"
#include "show.h"
#include "timestamp.h"

/* No id of a workload has a '='. */
#define NOTE_MARK '='
#define LONGEST_ID 255

struct note_id {
    char text[LONGEST_ID + 2];
};

static struct note_id note_of(selene_text id) {
    struct note_id note;
    if (id.length < 0) id.length = (int64_t)strlen(id.data);
    snprintf(note.text, sizeof note.text, "%c%.*s", NOTE_MARK, (int)id.length, id.data);
    return note;
}

static bool is_note(selene_text id) {
    return id.length > 0 && id.data[0] == NOTE_MARK;
}

static bool is_terminal(const selene_task_info *info) {
    return info->state >= SELENE_STATE_SUCCEEDED;
}

static bool same_text(selene_text a, selene_text b) {
    return a.length == b.length && memcmp(a.data, b.data, (size_t)a.length) == 0;
}

static bool same_conditions(const selene_task_info *a, const selene_task_info *b) {
    bool same = a->condition_count == b->condition_count;
    for (uint32_t i = 0; same && i < a->condition_count; i++)
        same = same_text(a->conditions[i], b->conditions[i]);
    return same;
}

static bool same_tags(const selene_task_info *a, const selene_task_info *b) {
    bool same = a->tag_count == b->tag_count;
    for (uint32_t i = 0; same && i < a->tag_count; i++)
        same = same_text(a->tags[i], b->tags[i]);
    return same;
}

static bool same_after(const selene_task_info *a, const selene_task_info *b) {
    bool same = a->after_count == b->after_count;
    for (uint32_t i = 0; same && i < a->after_count; i++)
        same = same_text(a->after[i], b->after[i]);
    return same;
}

static bool same_definition(const selene_task_info *a, const selene_task_info *b) {
    return same_text(a->handler, b->handler) && same_text(a->input, b->input) && same_tags(a, b) &&
           same_conditions(a, b) && a->constraints == b->constraints && a->kind == b->kind &&
           a->schedule == b->schedule && a->priority == b->priority &&
           a->recurrence == b->recurrence && a->backoff == b->backoff &&
           a->response_window == b->response_window && a->max_attempts == b->max_attempts &&
           a->expected_response == b->expected_response &&
           (a->initial_delay == b->initial_delay || a->recurrence == SELENE_RECURRENCE_CALENDAR) &&
           a->period == b->period && a->flex == b->flex && a->backoff_delay == b->backoff_delay &&
           a->timeout == b->timeout && a->stall_limit == b->stall_limit && a->jitter == b->jitter &&
           a->latest_begin == b->latest_begin && a->flags == b->flags &&
           same_text(a->group, b->group);
}

/* Without a workload a store is looked at, and all of it counts. */
static bool is_ours(const struct session *session, const selene_task_info *info) {
    return session->options->adopt || session->workload->handler[0] == '\0' ||
           owner_of(session->workload, info->handler) <= OWNER_EARLIER;
}

const char *keep_end(const struct session *session, selene_text id) {
    static const char *const ends[] = {"succeeded", "failed"};
    const char *end = NULL;
    selene_task_info *note;
    if (selene_task_get(session->scheduler, note_of(id).text, -1, 0, &note)) return NULL;
    for (int i = 0; i < 2 && !is_terminal(note) && is_ours(session, note); i++)
        if (strcmp(note->input.data, ends[i]) == 0) end = ends[i];
    selene_free(note);
    return end;
}

static void write_note(const struct session *session, const selene_task_info *info) {
    struct note_id id = note_of(info->id);
    selene_task note = SELENE_INIT(selene_task);
    note.id = (selene_text){id.text, -1};
    note.schedule = SELENE_SCHEDULE_STANDING;
    note.handler = (selene_text){session->workload->note_handler, -1};
    /* Of a kind that is switched on, or it would be refused. */
    if (!(session->options->window.kinds & SELENE_KIND_REFRESH)) note.kind = SELENE_KIND_PROCESSING;
    note.input = selene_name(SELENE_NAMES_STATE, info->state);
    note.input_length = (int64_t)strlen(note.input);
    if (selene_task_register(session->scheduler, &note, NULL))
        fprintf(stderr, "selene-run: %s will run again a day after its end: %s\n",
                printable(info->id.data, -1).text,
                printable(selene_error_last()->message.data, -1).text);
}

static bool is_finished(const selene_task_info *info) {
    return info->schedule == SELENE_SCHEDULE_ONCE &&
           (info->state == SELENE_STATE_SUCCEEDED || info->state == SELENE_STATE_FAILED);
}

void keep_finished(const struct session *session) {
    const struct workload *workload = session->workload;
    for (size_t i = 0; i < workload->count; i++) {
        const selene_task *task = &workload->tasks[i].definition;
        selene_task_info *info;
        if (task->schedule != SELENE_SCHEDULE_ONCE) continue;
        if (selene_task_get(session->scheduler, task->id.data, task->id.length, 0, &info)) continue;
        if (is_finished(info) && is_ours(session, info) && !keep_end(session, task->id))
            write_note(session, info);
        selene_free(info);
    }
}

/* ---- the workload ----------------------------------------------------------- */

/* What is to be done about one task of the workload. */
enum step { NOTHING, REGISTER, UPDATE, REPLACE };

static enum step step_for(const struct session *session, const selene_task_info *wanted) {
    selene_scheduler scheduler = session->scheduler;
    selene_task_info *kept;
    enum step step = REPLACE;
    if (wanted->schedule == SELENE_SCHEDULE_ONCE && keep_end(session, wanted->id)) return NOTHING;
    if (selene_task_get(scheduler, wanted->id.data, wanted->id.length, 0, &kept)) return REGISTER;
    if (is_terminal(kept))
        step = is_finished(kept) && wanted->schedule == SELENE_SCHEDULE_ONCE ? NOTHING : REGISTER;
    else if (same_definition(kept, wanted) && same_after(kept, wanted)) step = NOTHING;
    else if (kept->kind == wanted->kind && kept->schedule == wanted->schedule &&
             same_after(kept, wanted))
        step = UPDATE;
    selene_free(kept);
    return step;
}

static bool goes_by_calendar(const struct session *session, selene_text id) {
    selene_task_info *info;
    bool does;
    if (selene_task_get(session->scheduler, id.data, id.length, 0, &info)) return false;
    does = !is_terminal(info) && info->recurrence == SELENE_RECURRENCE_CALENDAR;
    selene_free(info);
    return does;
}

/* Those that a task comes after, without what is noted as succeeded: that is known no more, and was waited for. False if
 * one is noted as failed, and the task with it. */
static bool left_of_after(const struct session *session, const struct workload_task *task,
                          selene_text *after, uint32_t *count) {
    *count = 0;
    for (uint32_t i = 0; i < task->definition.after_count; i++) {
        const selene_text id = task->after[i];
        const char *end = keep_end(session, id);
        selene_task_info *info;
        if (selene_task_get(session->scheduler, id.data, id.length, 0, &info) == SELENE_OK) {
            selene_free(info);
        } else if (end) {
            if (end[0] == 's' || task->definition.flags & SELENE_TASK_AFTER_ANY_END) continue;
            fprintf(
                stderr, "selene-run: %.*s comes after %.*s, which has failed: it does not run\n",
                (int)task->definition.id.length, task->definition.id.data, (int)id.length, id.data);
            return false;
        }
        after[(*count)++] = id;
    }
    return true;
}

static bool keep_task(const struct session *session, selene_scheduler wanted_from, size_t index) {
    const struct workload_task *task = &session->workload->tasks[index];
    selene_text after[WORKLOAD_AFTER];
    uint32_t after_count;
    selene_text id = task->definition.id;
    selene_task_info *wanted;
    enum step step;
    bool is_new;
    if (selene_task_get(wanted_from, id.data, id.length, 0, &wanted)) return false;
    step = step_for(session, wanted);
    selene_free(wanted);
    is_new = step == REGISTER || step == REPLACE || !goes_by_calendar(session, id);
    if (step == REPLACE)
        fprintf(stderr, "selene-run: %.*s is of another kind or schedule now: it starts anew\n",
                (int)id.length, id.data);
    if (step != NOTHING && left_of_after(session, task, after, &after_count) &&
        !workload_register_one(session->workload, index, session->scheduler,
                               step == REPLACE ? SELENE_EXISTING_REPLACE : SELENE_EXISTING_UPDATE,
                               after, after_count))
        return false;
    if (task->calendar.count) due_register(task, session->scheduler, is_new);
    return true;
}

/* A note of a task that left, or that is not a once task any more, is useless. */
static bool note_is_useless(const struct workload *workload, selene_text note) {
    const struct workload_task *task =
        workload_find(workload, note.data + 1, (size_t)note.length - 1);
    return task == NULL || task->definition.schedule != SELENE_SCHEDULE_ONCE;
}

static void tell_foreign(const struct session *session, selene_text id,
                         const selene_task_info *info) {
    fprintf(stderr, "selene-run: %s in %s is not a task of %s (its handler is \"%s\")",
            printable(id.data, id.length).text, session->options->store, session->workload->path,
            printable(info->handler.data, info->handler.length).text);
}

/* False if a task of the store has this id and is not the workload's. */
static bool is_free(const struct session *session, selene_text id) {
    selene_task_info *info;
    bool is_free;
    if (selene_task_get(session->scheduler, id.data, id.length, 0, &info)) return true;
    is_free = is_ours(session, info);
    if (!is_free) {
        tell_foreign(session, id, info);
        fputs("; allowed is another id, another store, or --adopt, which takes over all tasks of "
              "the store\n",
              stderr);
    }
    selene_free(info);
    return is_free;
}

static bool ids_are_free(const struct session *session) {
    bool are_free = true;
    for (size_t i = 0; i < session->workload->count && are_free; i++) {
        selene_text id = session->workload->tasks[i].definition.id;
        are_free = is_free(session, id) && is_free(session, (selene_text){note_of(id).text, -1});
    }
    return are_free;
}

/* Looks at a task that is not in the workload: one that left it is cancelled, one of another program stays. */
static selene_status leave_or_cancel(const struct session *session, const selene_task_info *info) {
    enum owner owner = owner_of(session->workload, info->handler);
    selene_text id = info->id;
    selene_status status = SELENE_OK;
    uint64_t count = 0;
    if (owner == OWNER_US || session->options->adopt)
        status = selene_task_cancel(session->scheduler, id.data, id.length, &count);
    else if (owner != OWNER_OTHER_WORKLOAD && !is_terminal(info) && !is_note(id)) {
        tell_foreign(session, id, info);
        fputs(": it stays and does not run here; --adopt takes over all tasks of the store\n",
              stderr);
    }
    if (count > 0 && !is_note(id))
        fprintf(stderr, "selene-run: %s is not in %s any more: cancelled\n",
                printable(id.data, id.length).text, session->workload->path);
    return status;
}

static selene_status cancel_what_left(const struct session *session) {
    selene_task_ids *ids;
    selene_status status = selene_task_list(session->scheduler, NULL, 0, &ids);
    if (status) return status;
    for (uint64_t i = 0; i < ids->count && !status; i++) {
        selene_text id = ids->ids[i];
        selene_task_info *info;
        bool left = is_note(id) ? note_is_useless(session->workload, id)
                                : !workload_find(session->workload, id.data, (size_t)id.length);
        if (!left || selene_task_get(session->scheduler, id.data, id.length, 0, &info)) continue;
        status = leave_or_cancel(session, info);
        selene_free(info);
    }
    selene_free(ids);
    return status;
}

/* A scheduler in memory says what the library makes of the definitions, and refuses the wrong ones before the store is
 * touched. */
static bool register_aside(const struct workload *workload, selene_scheduler *wanted) {
    selene_options how = SELENE_INIT(selene_options);
    how.max_pending_refresh = SELENE_UNLIMITED;
    how.max_pending_processing = SELENE_UNLIMITED;
    how.minimum_backoff = SELENE_NONE;
    how.max_input_size = 1 << 20;
    if (selene_scheduler_open(&how, wanted)) return false;
    return workload_register(workload, *wanted);
}

int keep_workload(const struct session *session) {
    selene_scheduler wanted = 0;
    int exit_code = EXIT_WORKLOAD;
    if (register_aside(session->workload, &wanted)) {
        exit_code = EXIT_REFUSED;
        if (ids_are_free(session)) {
            keep_finished(session);
            exit_code = EXIT_DONE;
            if (cancel_what_left(session)) {
                fprintf(stderr, "selene-run: %s\n",
                        printable(selene_error_last()->message.data, -1).text);
                exit_code = EXIT_REFUSED;
            }
        }
        if (exit_code == EXIT_DONE) due_clear();
        for (size_t i = 0; exit_code == EXIT_DONE && i < session->workload->count; i++)
            if (!keep_task(session, wanted, i)) exit_code = EXIT_WORKLOAD;
    }
    selene_scheduler_close(wanted, 0);
    return exit_code;
}

/* ---- the list ----------------------------------------------------------------- */

static int longest_id(const selene_task_ids *ids) {
    int width = 4;
    for (uint64_t i = 0; i < ids->count; i++)
        if (ids->ids[i].length > width)
            width = ids->ids[i].length > 32 ? 32 : (int)ids->ids[i].length;
    return width;
}

/* What keeps a task from running whatever the time; false if nothing does. */
static bool print_obstacle(selene_scheduler scheduler, const selene_task_info *info, int64_t now) {
    selene_explanation why = SELENE_INIT(selene_explanation);
    bool is_without = false;
    int64_t ends_at = 0;
    if (info->paused) return fputs("paused", stdout) >= 0;
    if (selene_task_explain(scheduler, info->id.data, info->id.length, &why)) return false;
    for (uint32_t i = 0; i < why.reason_count; i++) {
        if (why.reasons[i].reason == SELENE_REASON_GROUP_PAUSED)
            return fputs("group paused", stdout) >= 0;
        if (why.reasons[i].reason == SELENE_REASON_KIND_PAUSED)
            ends_at = why.reasons[i].may_change_at;
        is_without |= why.reasons[i].reason == SELENE_REASON_NO_HANDLER;
    }
    if (ends_at == SELENE_NEVER) printf("kind paused");
    else if (ends_at) printf("kind paused until %s", timestamp_of(ends_at, now).text);
    else if (is_without)
        printf("no handler \"%s\"", printable(info->handler.data, info->handler.length).text);
    return ends_at || is_without;
}

static void print_when(selene_scheduler scheduler, const selene_task_info *info, int64_t now) {
    if (info->state != SELENE_STATE_ENQUEUED) fputs(info->paused ? "paused" : "-", stdout);
    else if (print_obstacle(scheduler, info, now)) return;
    else if (info->earliest_begin <= now) fputs("next window", stdout);
    else if (info->recurrence == SELENE_RECURRENCE_CALENDAR)
        printf("at %s", timestamp_of(info->earliest_begin, now).text);
    else printf("in %s", duration_text(info->earliest_begin - now).text);
}

static void print_task(selene_scheduler scheduler, const selene_task_info *info, int width,
                       int64_t now) {
    char last[64] = "never ran";
    if (is_note(info->id)) {
        show_padded(info->id.data + 1, width);
        printf("  %-9s  %-10s  %-10s  %8s  %-28s  -\n",
               printable(info->input.data, info->input.length).text, "once", "", "",
               "more than a day ago");
        return;
    }
    if (info->last_outcome >= 0) {
        const char *end = info->stop_reason == SELENE_STOP_INTERRUPTED
                              ? selene_name(SELENE_NAMES_STOP, info->stop_reason)
                              : selene_name(SELENE_NAMES_OUTCOME, info->last_outcome);
        /* A run that was stopped leaves the instant of the one before it. */
        if (info->last_outcome == SELENE_OUTCOME_STOPPED) snprintf(last, sizeof last, "%s", end);
        else
            snprintf(last, sizeof last, "%s, %s ago", end,
                     duration_text(now - info->last_run).text);
    }
    show_padded(info->id.data, width);
    printf("  %-9s  %-10s  %-10s  %8u  %-28s  ", selene_name(SELENE_NAMES_STATE, info->state),
           selene_name(SELENE_NAMES_SCHEDULE, info->schedule),
           selene_name(SELENE_NAMES_KIND, info->kind), (unsigned)info->attempts, last);
    print_when(scheduler, info, now);
    putchar('\n');
    if (info->failure.length > 0 || *show_too_late(info))
        printf("  failed: %s%s\n", printable(info->failure.data, info->failure.length).text,
               show_too_late(info));
}

/* A note says nothing new while the task itself is still there. */
static bool is_worth_a_line(selene_scheduler scheduler, const selene_task_info *info) {
    selene_task_info *task;
    bool is_known;
    if (!is_note(info->id)) return true;
    if (is_terminal(info)) return false;
    is_known =
        selene_task_get(scheduler, info->id.data + 1, info->id.length - 1, 0, &task) == SELENE_OK;
    if (is_known) selene_free(task);
    return !is_known;
}

/* The kinds that are paused, everywhere or in a pool, as pyselene says it. */
static void print_pauses(selene_scheduler scheduler) {
    selene_pauses *pauses = NULL;
    /* An owner of an earlier version cannot be asked. */
    if (selene_pause_list(scheduler, &pauses)) return;
    for (uint64_t i = 0; i < pauses->count; i++) {
        const selene_pause *pause = &pauses->pauses[i];
        const bool both = pause->kinds == (SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING);
        printf("%s%s%s: paused until %s\n",
               both ? "refresh and processing"
                    : selene_name(SELENE_NAMES_KIND, (int32_t)pause->kinds),
               pause->pool.length ? " of pool " : "",
               printable(pause->pool.data, pause->pool.length).text,
               pause->until == SELENE_NEVER ? "resumed" : timestamp_exact(pause->until).text);
    }
    selene_free(pauses);
}

selene_status keep_list(selene_scheduler scheduler) {
    selene_task_ids *ids;
    int64_t now = 0;
    int width;
    selene_status status = selene_task_list(scheduler, NULL, 0, &ids);
    if (!status) status = selene_scheduler_now(scheduler, &now);
    if (status) return status;
    width = longest_id(ids);
    printf("%-*s  %-9s  %-10s  %-10s  %8s  %-28s  %s\n", width, "task", "state", "schedule", "kind",
           "attempts", "last run", "again");
    for (uint64_t i = 0; i < ids->count; i++) {
        selene_task_info *info;
        if (selene_task_get(scheduler, ids->ids[i].data, ids->ids[i].length, 0, &info)) continue;
        if (is_worth_a_line(scheduler, info)) print_task(scheduler, info, width, now);
        selene_free(info);
    }
    selene_free(ids);
    print_pauses(scheduler);
    return SELENE_OK;
}

static void print_failed(const selene_task_info *info, int width, int64_t now) {
    char when[64] = "-";
    if (info->failed_attempt > 0)
        snprintf(when, sizeof when, "%s ago", duration_text(now - info->failed_at).text);
    show_padded(info->id.data, width);
    printf("  %-13s  %8u  %s%s\n", when, (unsigned)info->failed_attempt,
           printable(info->failure.data, info->failure.length).text, show_too_late(info));
}

selene_status keep_failed(selene_scheduler scheduler) {
    selene_task_ids *ids;
    int64_t now = 0;
    int width;
    selene_status status = selene_task_list_state(scheduler, SELENE_STATE_FAILED, &ids);
    if (!status) status = selene_scheduler_now(scheduler, &now);
    if (status) return status;
    width = longest_id(ids);
    if (ids->count == 0) puts("no task has failed");
    else printf("%-*s  %-13s  %8s  %s\n", width, "task", "failed", "attempt", "why");
    for (uint64_t i = 0; i < ids->count; i++) {
        selene_task_info *info;
        if (selene_task_get(scheduler, ids->ids[i].data, ids->ids[i].length, 0, &info)) continue;
        print_failed(info, width, now);
        selene_free(info);
    }
    selene_free(ids);
    return SELENE_OK;
}

selene_status keep_clients(selene_scheduler scheduler) {
    selene_clients *clients;
    uint64_t shown = 0;
    selene_status status = selene_client_list(scheduler, &clients);
    if (status) return status;
    for (uint64_t i = 0; i < clients->count; i++) {
        const selene_client *client = &clients->clients[i];
        if (client->process == (uint32_t)getpid()) continue;
        if (shown++ == 0)
            printf("%8s  %8s  %-20s  %8s  %8s  %s\n", "process", "user", "pool", "handlers", "runs",
                   "command");
        printf("%8u  %8u  %-20s  %8u  %8u  ", (unsigned)client->process, (unsigned)client->user,
               client->pool.length > 0 ? printable(client->pool.data, client->pool.length).text
                                       : "-",
               (unsigned)client->handlers, (unsigned)client->runs);
        puts(printable(client->command.data, client->command.length).text);
    }
    if (shown == 0) puts("no other process is connected");
    selene_free(clients);
    return SELENE_OK;
}

selene_status keep_retry(selene_scheduler scheduler, const char *id) {
    selene_status status = selene_task_retry(scheduler, id, -1);
    if (status) return status;
    selene_task_cancel(scheduler, note_of((selene_text){id, -1}).text, -1, NULL);
    printf("enqueued %s again\n", printable(id, -1).text);
    return SELENE_OK;
}

/* What was done with tasks. */
static const char *done_with(const char *option) {
    return strncmp(option, "pause", 5) == 0    ? "paused"
           : strncmp(option, "resume", 6) == 0 ? "resumed"
           : strcmp(option, "meet") == 0       ? "met"
           : strcmp(option, "lose") == 0       ? "lost"
                                               : "cancelled";
}

/* Kinds as such, everywhere or in a pool. */
static selene_status pause_kinds(selene_scheduler scheduler, const struct options *options) {
    const struct pause_option *pause = &options->pause;
    const char *pool = pause->kinds ? NULL : pause->name;
    int64_t until = strncmp(pause->option, "pause", 5) == 0 ? SELENE_NEVER : 0;
    selene_status status = SELENE_OK;
    if (options->pause_for) {
        status = selene_scheduler_now(scheduler, &until);
        until += options->pause_for;
    }
    if (!status) status = selene_scheduler_pause(scheduler, pause->kinds, pool, -1, until);
    if (status) return status;
    printf("%s %s%s", done_with(pause->option), pool ? "pool " : "",
           printable(pause->name, -1).text);
    if (options->pause_for) printf(" until %s", timestamp_exact(until).text);
    putchar('\n');
    return SELENE_OK;
}

selene_status keep_pause(selene_scheduler scheduler, const struct options *options) {
    const struct pause_option *pause = &options->pause;
    uint64_t count = 0;
    if (!pause->function) return pause_kinds(scheduler, options);
    selene_status status = pause->function(scheduler, pause->name, -1, &count);
    if (status) return status;
    if (!options->changes_condition && strstr(pause->option, "group")) {
        selene_group_info info = SELENE_INIT(selene_group_info);
        status = selene_group_get(scheduler, pause->name, -1, &info);
        if (status && status != SELENE_ERROR_NOT_FOUND) return status;
        printf("%s group %s: %" PRIu64 " of its tasks wait%s\n", done_with(pause->option),
               printable(pause->name, -1).text, info.waiting, info.waiting == 1 ? "s" : "");
        return SELENE_OK;
    }
    if (options->changes_condition)
        printf("%s condition %s\n", done_with(pause->option), printable(pause->name, -1).text);
    else printf("%s %" PRIu64 " task%s\n", done_with(pause->option), count, count == 1 ? "" : "s");
    return SELENE_OK;
}

selene_status keep_enqueue(selene_scheduler scheduler, const struct options *options) {
    selene_task task = SELENE_INIT(selene_task);
    int32_t disposition = 0;
    selene_status status;
    task.id = (selene_text){options->enqueue, -1};
    task.handler = (selene_text){options->handler ? options->handler : options->enqueue, -1};
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.initial_delay = options->delay;
    task.input = options->input;
    task.input_length = options->input ? (int64_t)strlen(options->input) : 0;
    status = selene_task_register(scheduler, &task, &disposition);
    if (status) return status;
    printf("%s %s\n", selene_name(SELENE_NAMES_DISPOSITION, disposition),
           printable(options->enqueue, -1).text);
    return SELENE_OK;
}

static bool runs(selene_scheduler scheduler, const char *id) {
    selene_task_info *info;
    bool found;
    if (selene_task_get(scheduler, id, -1, 0, &info)) return false;
    found = info->state == SELENE_STATE_RUNNING;
    selene_free(info);
    return found;
}

selene_status keep_now(selene_scheduler scheduler, const char *id) {
    selene_status status = SELENE_OK;
    int64_t now;
    if (runs(scheduler, id)) {
        printf("%s runs already\n", printable(id, -1).text);
        return SELENE_OK;
    }
    status = selene_task_launch(scheduler, id, -1);
    if (!status) printf("began %s\n", printable(id, -1).text);
    /* Its handler is another process's, or it is a standing one. */
    if (status != SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE && status != SELENE_ERROR_NOT_FOUND)
        return status;
    status = selene_scheduler_now(scheduler, &now);
    if (!status) status = selene_task_set_next(scheduler, id, -1, now);
    if (!status)
        printf("%s is due now; if it does not run, --explain says why\n", printable(id, -1).text);
    return status;
}
