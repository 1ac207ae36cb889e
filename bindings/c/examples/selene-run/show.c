#define _XOPEN_SOURCE 700
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "duration.h"
#include "keep.h"
#include "owner.h"
#include "printable.h"
#include "timestamp.h"

/* Cells of a bar of progress. */
#define BAR 20
/* Bytes of what a task left. */
#define OUTPUT_SHOWN 60

struct text {
    char text[128];
};

static void append(struct text *out, const char *separator, const char *word) {
    size_t used = strlen(out->text);
    snprintf(out->text + used, sizeof out->text - used, "%s%s", used ? separator : "", word);
}

/* As workloads call it. */
static const char *requirement_name(uint32_t bit) {
    return bit == SELENE_CONSTRAINT_EXTERNAL_POWER ? "power"
                                                   : selene_name(SELENE_NAMES_CONSTRAINT, bit);
}

static struct text constraint_names(uint32_t constraints) {
    struct text out = {""};
    for (uint32_t bit = 1; bit && bit <= constraints; bit <<= 1)
        if (constraints & bit) append(&out, ", ", requirement_name(bit));
    return out;
}

static struct text kind_names(uint32_t kinds) {
    struct text out = {""};
    if (kinds & SELENE_KIND_REFRESH)
        append(&out, ", ", selene_name(SELENE_NAMES_KIND, SELENE_KIND_REFRESH));
    if (kinds & SELENE_KIND_PROCESSING)
        append(&out, ", ", selene_name(SELENE_NAMES_KIND, SELENE_KIND_PROCESSING));
    return out;
}

static int64_t now(const struct session *session) {
    int64_t instant = 0;
    selene_scheduler_now(session->scheduler, &instant);
    return instant;
}

static struct text from_now(const struct session *session, int64_t instant) {
    struct text out = {"now"};
    int64_t delay = instant - now(session);
    if (instant == SELENE_NEVER) strcpy(out.text, "never");
    else if (delay > 0) snprintf(out.text, sizeof out.text, "in %s", duration_text(delay).text);
    return out;
}

/* printf counts bytes; a table needs characters. */
void show_padded(const char *text, int width) {
    struct printable shown = printable(text, -1);
    for (const char *byte = shown.text; *byte; byte++)
        width -= ((unsigned char)*byte & 0xC0) != 0x80;
    printf("%s%*s", shown.text, width > 0 ? width : 0, "");
}

void show_time(const struct session *session) {
    if (session->options->follow) printf("%s  ", timestamp(TIMESTAMP_SHOWN).text);
}

static int id_width(const struct session *session) {
    const struct workload *workload = session->workload;
    int width = 8;
    for (size_t i = 0; i < workload->count; i++) {
        int64_t length = workload->tasks[i].definition.id.length;
        if (length > width) width = length > 32 ? 32 : (int)length;
    }
    return width;
}

static void print_id(const struct session *session, const char *id) {
    show_padded(id, id_width(session) + 2);
}

static struct text condition_names(const struct session *session) {
    uint32_t satisfied = 0;
    uint32_t by_hand = 0;
    struct text out = {""};
    selene_conditions_get(session->scheduler, &satisfied, &by_hand);
    for (uint32_t bit = SELENE_CONSTRAINT_NETWORK; bit <= SELENE_CONSTRAINT_EXTERNAL_POWER;
         bit <<= 1) {
        append(&out, ", ", satisfied & bit ? "" : "no ");
        append(&out, "", requirement_name(bit));
        if (by_hand & bit) append(&out, "", " (set by hand)");
    }
    return out;
}

void show_window(const struct session *session, const char *title, const selene_window *window) {
    int64_t reserve = window->reserve == 0             ? window->budget / 20
                      : window->reserve == SELENE_NONE ? 0
                                                       : window->reserve;
    show_time(session);
    printf("%s: %s, reserve %s, %u %s%s, %s; %s\n", title, duration_text(window->budget).text,
           duration_text(reserve).text, (unsigned)window->lanes,
           window->lanes == 1 ? "lane" : "lanes",
           window->flags & SELENE_WINDOW_STRICT_FIT ? ", strict fit" : "",
           window->task.data ? "one task" : kind_names(window->kinds).text,
           condition_names(session).text);
    write_out();
}

/* By a calendar: in local time. */
static struct text due_at(const struct session *session, const selene_task_info *info) {
    struct text out = {"at "};
    append(&out, "", timestamp_of(info->earliest_begin, now(session)).text);
    return out;
}

/* When it may run again. */
static struct text next_chance(const struct session *session, selene_text id) {
    struct text out = {"-"};
    selene_task_info *info;
    if (selene_task_get(session->scheduler, id.data, id.length, 0, &info)) return out;
    if (info->state != SELENE_STATE_ENQUEUED)
        strcpy(out.text, selene_name(SELENE_NAMES_STATE, info->state));
    else if (info->earliest_begin <= now(session)) strcpy(out.text, "next window");
    else if (info->recurrence == SELENE_RECURRENCE_CALENDAR) out = due_at(session, info);
    else out = from_now(session, info->earliest_begin);
    selene_free(info);
    return out;
}

static bool runs_now(const struct session *session, selene_text id) {
    const char *now = session->options->now;
    return now && strlen(now) == (size_t)id.length && memcmp(now, id.data, strlen(now)) == 0;
}

void show_interrupted(const struct session *session) {
    const struct workload *workload = session->workload;
    for (size_t i = 0; i < workload->count; i++) {
        selene_text id = workload->tasks[i].definition.id;
        selene_task_info *info;
        if (selene_task_get(session->scheduler, id.data, id.length, 0, &info)) continue;
        if (info->stop_reason == SELENE_STOP_INTERRUPTED) {
            struct text again = {"now"};
            if (!runs_now(session, id)) again = next_chance(session, id);
            show_time(session);
            printf("interrupted: %s was running when its process ended, ",
                   printable(id.data, id.length).text);
            // Beside others: then it may not have been its fault.
            if (info->last_outcome == SELENE_OUTCOME_STOPPED) printf("which is no attempt");
            else printf("attempt %u", (unsigned)info->failed_attempt);
            printf("; again: %s\n", again.text);
        }
        selene_free(info);
    }
    write_out();
}

static void show_run_pace(const selene_pace *pace) {
    struct text news = {"-"};
    if (pace->known_runs)
        snprintf(news.text, sizeof news.text, "%" PRIu32 " of %" PRIu32, pace->news_runs,
                 pace->known_runs);
    printf("%5.2f  %8s  ", (double)pace->pace / 1000, news.text);
}

static void show_run(const struct session *session, const selene_report *report, uint64_t index) {
    const selene_report_run *run = &report->runs[index];
    struct text outcome = {""};
    append(&outcome, "", selene_name(SELENE_NAMES_OUTCOME, run->outcome));
    if (run->stop_reason) append(&outcome, ", ", selene_name(SELENE_NAMES_STOP, run->stop_reason));
    printf("  %2" PRIu64 "  ", index + 1);
    print_id(session, run->id.data);
    printf("%-9s  %5.3f  ", selene_name(SELENE_NAMES_PRIORITY, run->priority), run->score);
    if (report->paces) show_run_pace(&report->paces[index]);
    printf("%9s  %9s  %9s  %-19s  %-12s  %s\n", duration_text(run->estimate).text,
           duration_text(run->started_at - report->began_at).text,
           duration_text(run->response_time).text, outcome.text,
           runner_end(session->runner, run->run).text, next_chance(session, run->id).text);
}

static void show_runs(const struct session *session, const selene_report *report) {
    if (report->run_count == 0) {
        puts("\n  nothing ran");
        return;
    }
    printf("\n   #  ");
    print_id(session, "task");
    printf("%-9s  %5s  ", "priority", "score");
    if (report->paces) printf("%5s  %8s  ", "pace", "news");
    printf("%9s  %9s  %9s  %-19s  %-12s  %s\n", "estimate", "start", "took", "outcome", "command",
           "again");
    for (uint64_t i = 0; i < report->run_count; i++)
        show_run(session, report, i);
}

static struct text reason_text(const selene_reason *reason, const selene_explanation *explanation) {
    struct text out = {""};
    switch (reason->reason) {
    case SELENE_REASON_NOT_DUE:
        append(&out, "", "not due yet");
        break;
    case SELENE_REASON_CONSTRAINTS:
        append(&out, "", "needs ");
        append(&out, "", constraint_names(reason->constraints).text);
        break;
    case SELENE_REASON_NO_HANDLER:
        append(&out, "", "no handler");
        break;
    case SELENE_REASON_HELD:
        append(&out, "", "is held until a place is free");
        break;
    case SELENE_REASON_BLOCKED:
        append(&out, "", "waits for the task before it");
        break;
    case SELENE_REASON_RUNNING:
        append(&out, "", "is running");
        break;
    case SELENE_REASON_KIND_OFF:
        append(&out, "", "its kind is switched off");
        break;
    case SELENE_REASON_DID_NOT_FIT:
        append(&out, "", "did not fit: takes ");
        append(&out, "", duration_text(explanation->estimate).text);
        append(&out, "", ", left were ");
        append(&out, "", duration_text(explanation->last_room).text);
        break;
    case SELENE_REASON_STILL_RUNNING:
        append(&out, "", "its last run has not come back");
        break;
    case SELENE_REASON_TERMINAL:
        append(&out, "", "is over: ");
        append(&out, "", selene_name(SELENE_NAMES_STATE, explanation->state));
        break;
    case SELENE_REASON_NOT_PERMITTED:
        append(&out, "", "its id is not permitted");
        break;
    case SELENE_REASON_HAD_ITS_RUN:
        append(&out, "", "had its run in this window");
        break;
    case SELENE_REASON_TOO_SOON:
        append(&out, "", "too soon after the last window of its kind");
        break;
    case SELENE_REASON_NEXT_CYCLE:
        append(&out, "", "waits for the next window");
        break;
    case SELENE_REASON_INTERRUPTED:
        append(&out, "", "was running when its process ended");
        break;
    case SELENE_REASON_GOVERNOR:
        append(&out, "", "the governor refused a window");
        break;
    case SELENE_REASON_STORE_REFUSES:
        append(&out, "", "the store refused the last commit");
        break;
    case SELENE_REASON_NO_THREAD:
        append(&out, "", "no thread can be had for a window");
        break;
    case SELENE_REASON_HANDLER_STUCK:
        append(&out, "", "its handler has left too many threads behind");
        break;
    case SELENE_REASON_DRAINED:
        append(&out, "", "the scheduler is drained");
        break;
    case SELENE_REASON_CLOCK:
        append(&out, "", "the clock has jumped");
        break;
    case SELENE_REASON_PAUSED:
        append(&out, "", "is paused");
        break;
    case SELENE_REASON_GROUP_PAUSED:
        append(&out, "", "its group is paused");
        break;
    case SELENE_REASON_GROUP_FULL:
        append(&out, "", "as many runs of its group as may are under way");
        break;
    case SELENE_REASON_OUT_OF_QUOTA:
        append(&out, "", "expedited tasks have used their quota");
        break;
    case SELENE_REASON_CONDITIONS:
        append(&out, "", "needs conditions");
        break;
    case SELENE_REASON_FLEET_AWAY:
        append(&out, "", "the database of its fleet does not answer");
        break;
    case SELENE_REASON_QUARANTINED:
        append(&out, "", "it, or a task that it waits for, may have ended a process");
        break;
    case SELENE_REASON_KIND_PAUSED:
        append(&out, "", "its kind is paused");
        break;
    default:
        append(&out, "", selene_name(SELENE_NAMES_REASON, reason->reason));
        break;
    }
    return out;
}

/* The conditions of the host that a task waits for. */
static void show_missing_conditions(const struct session *session, selene_text id) {
    selene_task_ids *names = NULL;
    if (selene_condition_missing(session->scheduler, id.data, id.length, &names)) return;
    for (uint64_t i = 0; i < names->count; i++)
        printf("%s%s", i ? ", " : ": ", printable(names->ids[i].data, names->ids[i].length).text);
    selene_free(names);
}

/* The name that its handler would have. */
static void show_handler(const struct session *session, selene_text id) {
    selene_task_info *info = NULL;
    if (selene_task_get(session->scheduler, id.data, id.length, 0, &info)) return;
    printf(" \"%s\"", printable(info->handler.data, info->handler.length).text);
    selene_free(info);
}

static void show_reason(const struct session *session, selene_text id, const selene_reason *reason,
                        const selene_explanation *explanation) {
    printf("%s", reason_text(reason, explanation).text);
    if (reason->reason == SELENE_REASON_CONDITIONS) show_missing_conditions(session, id);
    if (reason->reason == SELENE_REASON_NO_HANDLER) show_handler(session, id);
    if (reason->reason == SELENE_REASON_TERMINAL || reason->reason == SELENE_REASON_DID_NOT_FIT)
        return;
    if (reason->may_change_at == SELENE_NEVER) printf("; time alone does not change that");
    else printf("; may change %s", from_now(session, reason->may_change_at).text);
}

static const char *ordinal(uint64_t number) {
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    return ends[number % 10 < 4 && number / 10 % 10 != 1 ? number % 10 : 0];
}

/* What the turn of a task follows from under the freshness rule. */
static void show_pace(const struct session *session, const selene_explanation *why) {
    int64_t instant = now(session), age = instant - why->fresh_since;
    printf("fresh since %s (%s); takes %s", timestamp_of(why->fresh_since, instant).text,
           duration_text(age > 0 ? age : 0).text, duration_text(why->cost).text);
    if (why->known_runs)
        printf(", four of five runs at most %s; %" PRIu32 " of %" PRIu32
               " runs found something new",
               duration_text(why->estimate).text, why->news_runs, why->known_runs);
    if (why->attempts && why->state != SELENE_STATE_RUNNING)
        printf("; %" PRIu32 " failed in a row", why->attempts);
    printf("; its pace is %.2f of a normal task's", (double)why->pace / 1000);
    if (why->rank)
        printf("; %" PRIu64 "%s of %" PRIu64, why->rank, ordinal(why->rank), why->eligible);
    puts("");
}

/* How long it may wait, and whether it goes first for that. */
static void show_latest(const struct session *session, const selene_explanation *why) {
    int64_t now = 0;
    selene_scheduler_now(session->scheduler, &now);
    printf(why->urgent ? "too late in %s, so it goes first\n" : "too late in %s\n",
           duration_text(why->latest_begin > now ? why->latest_begin - now : 0).text);
}

void show_reasons(const struct session *session, selene_text id, const selene_window *window) {
    selene_explanation why = SELENE_INIT(selene_explanation);
    if (selene_task_explain(session->scheduler, id.data, id.length, &why)) {
        const char *end = keep_end(session, id);
        if (end) printf("is over for more than a day: %s\n", end);
        else puts(printable(selene_error_last()->message.data, -1).text);
        return;
    }
    if (why.reason_count == 0 && window && why.estimate > window->budget)
        printf("takes %s, more than a whole window; it runs when it ranks first\n",
               duration_text(why.estimate).text);
    else if (why.reason_count == 0)
        printf("nothing is missing but the next window; rank %" PRIu64 " of %" PRIu64
               ", score %.3f, takes %s\n",
               why.rank, why.eligible, why.score, duration_text(why.estimate).text);
    for (uint32_t i = 0; i < why.reason_count; i++) {
        if (i) printf("; ");
        show_reason(session, id, &why.reasons[i], &why);
    }
    if (why.reason_count) puts("");
    if (why.latest_begin) show_latest(session, &why);
    if (why.expedited) puts("is expedited, so it goes first");
    if (why.unknown_constraints)
        printf("not known, so taken as satisfied: %s\n",
               constraint_names(why.unknown_constraints).text);
    if (why.pace) show_pace(session, &why);
}

static bool same(selene_text a, selene_text b) {
    return a.length == b.length && memcmp(a.data, b.data, (size_t)a.length) == 0;
}

/* Shows the reasons of one more task that is missing, under a heading if it is the first. */
static void show_missing(const struct session *session, const selene_window *window, size_t index,
                         const char *heading, bool *begun) {
    selene_text id = session->workload->tasks[index].definition.id;
    char name[256];
    if (!*begun) printf("\n  %s\n", heading);
    *begun = true;
    snprintf(name, sizeof name, "%.*s", (int)id.length, id.data);
    printf("      ");
    print_id(session, name);
    show_reasons(session, id, window);
}

static bool in_report(const selene_report *report, selene_text id) {
    for (uint64_t i = 0; i < report->run_count; i++)
        if (same(report->runs[i].id, id)) return true;
    return false;
}

static void show_result(const selene_report *report) {
    int64_t used = report->ended_at - report->began_at;
    printf("\n  result %s: %" PRIu64 " ran (%" PRIu64 " new_data, %" PRIu64 " no_data, %" PRIu64
           " failed, %" PRIu64 " abandoned, %" PRIu64 " expired, %" PRIu64 " stopped) of %" PRIu64
           " eligible, %" PRIu64 " did not fit\n",
           selene_name(SELENE_NAMES_OUTCOME, report->result), report->run_count, report->new_data,
           report->no_data, report->failed, report->abandoned, report->expired, report->stopped,
           report->eligible, report->did_not_fit);
    printf("  used %s of %s (%.0f %%)\n\n", duration_text(used).text,
           duration_text(report->budget).text, 100.0 * (double)used / (double)report->budget);
}

void show_report(const struct session *session, const selene_window *window,
                 const selene_report *report) {
    bool begun = false;
    bool asks_for_others = window->task.data == NULL;
    show_runs(session, report);
    for (size_t i = 0; asks_for_others && i < session->workload->count; i++) {
        if (runner_signal(session->runner)) break;
        if (!in_report(report, session->workload->tasks[i].definition.id))
            show_missing(session, NULL, i, "did not run", &begun);
    }
    show_result(report);
    write_out();
}

static bool in_plan(const selene_plan *plan, selene_text id) {
    for (uint64_t i = 0; i < plan->run_count; i++)
        if (same(plan->runs[i].id, id)) return true;
    return false;
}

static void show_plan_runs(const struct session *session, const selene_plan *plan) {
    int64_t start = plan->run_count ? plan->runs[0].starts_at : 0;
    if (plan->run_count == 0) {
        puts("\n  nothing would run");
        return;
    }
    printf("\n   #  ");
    print_id(session, "task");
    printf("%5s  %9s  %9s\n", "score", "estimate", "start");
    for (uint64_t i = 0; i < plan->run_count; i++) {
        const selene_plan_run *run = &plan->runs[i];
        printf("  %2" PRIu64 "  ", i + 1);
        print_id(session, run->id.data);
        printf("%5.3f  %9s  %9s\n", run->score, duration_text(run->estimate).text,
               duration_text(run->starts_at - start).text);
    }
}

selene_status show_plan(const struct session *session) {
    const selene_window *window = &session->options->window;
    selene_plan *plan;
    bool begun = false;
    selene_status status = selene_cycle_plan(session->scheduler, window, &plan);
    if (status) return status;
    show_window(session, "plan of a window", window);
    show_plan_runs(session, plan);
    for (size_t i = 0; i < session->workload->count; i++)
        if (!in_plan(plan, session->workload->tasks[i].definition.id))
            show_missing(session, window, i, "would not run", &begun);
    printf("\n  %" PRIu64 " of %" PRIu64 " eligible would run\n\n", plan->run_count,
           plan->eligible);
    selene_free(plan);
    return SELENE_OK;
}

/* The input of a task of selene-run is its command, of another program's anything. */
static void show_input(const selene_task_info *info) {
    const bool is_command = owner_is_workload(info->handler);
    const char *head = is_command ? "  command: " : "  input: ";
    const char *input = info->input.data;
    int64_t length = info->input.length;
    while (length > 0) {
        const char *end = memchr(input, '\n', (size_t)length);
        int64_t line = end ? end - input : length;
        printf("%s%s\n", head, printable(input, line).text);
        head = is_command ? "           " : "         ";
        input += line + (end != NULL);
        length -= line + (end != NULL);
    }
}

static void show_definition(const selene_task_info *info) {
    printf("  %s, %s, priority %s", selene_name(SELENE_NAMES_KIND, info->kind),
           selene_name(SELENE_NAMES_SCHEDULE, info->schedule),
           selene_name(SELENE_NAMES_PRIORITY, info->priority));
    if (info->recurrence == SELENE_RECURRENCE_CALENDAR) fputs(", by a calendar", stdout);
    else if (info->schedule == SELENE_SCHEDULE_PERIODIC)
        printf(", period %s", duration_text(info->period).text);
    if (info->constraints) printf(", needs %s", constraint_names(info->constraints).text);
    if (info->max_attempts) printf(", at most %u attempts", (unsigned)info->max_attempts);
    if (info->timeout) printf(", timeout %s", duration_text(info->timeout).text);
    if (info->stall_limit) printf(", stall limit %s", duration_text(info->stall_limit).text);
    if (info->latest_begin) printf(", too late after %s", duration_text(info->latest_begin).text);
    if (info->jitter) printf(", jitter %g %%", info->jitter / 10.0);
    if (info->flags & SELENE_TASK_STEADY) printf(", steady");
    if (info->flags & SELENE_TASK_EXPEDITED) printf(", expedited");
    puts("");
    if (info->group.length)
        printf("  group %s\n", printable(info->group.data, info->group.length).text);
    for (uint32_t i = 0; i < info->tag_count; i++)
        printf(i ? ", %s" : "  tags %s", printable(info->tags[i].data, info->tags[i].length).text);
    if (info->tag_count) puts("");
    for (uint32_t i = 0; i < info->condition_count; i++)
        printf(i ? ", %s" : "  conditions %s",
               printable(info->conditions[i].data, info->conditions[i].length).text);
    if (info->condition_count) puts("");
    show_input(info);
}

const char *show_too_late(const selene_task_info *info) {
    if (info->state != SELENE_STATE_FAILED || info->stop_reason != SELENE_STOP_TOO_LATE) return "";
    /* An attempt that was never begun says so itself. */
    if (info->failed_attempt > info->attempts) return "";
    return info->failure.length > 0 ? "; too late to try again by its latest begin"
                                    : "failed; too late to try again by its latest begin";
}

static void show_history(const struct session *session, const selene_task_info *info) {
    printf("  %s", selene_name(SELENE_NAMES_STATE, info->state));
    if (info->state == SELENE_STATE_ENQUEUED)
        printf(", due %s",
               info->recurrence == SELENE_RECURRENCE_CALENDAR && info->earliest_begin > now(session)
                   ? due_at(session, info).text
                   : from_now(session, info->earliest_begin).text);
    printf(", attempts %u, estimate %s", (unsigned)info->attempts,
           duration_text(info->estimate).text);
    if (info->last_outcome == SELENE_OUTCOME_STOPPED)
        printf(", last run: %s", selene_name(SELENE_NAMES_OUTCOME, info->last_outcome));
    else if (info->last_outcome >= 0)
        printf(", last run %s ago: %s", duration_text(now(session) - info->last_run).text,
               selene_name(SELENE_NAMES_OUTCOME, info->last_outcome));
    puts("");
    for (uint64_t i = 0; i < info->response_time_count; i++)
        printf(i ? ", %s" : "  took %s", duration_text(info->response_times[i]).text);
    if (info->response_time_count) puts("");
    if (info->failed_at) {
        printf("  failed %s ago", duration_text(now(session) - info->failed_at).text);
        if (info->failed_attempt) printf(" in attempt %u", (unsigned)info->failed_attempt);
        printf(": %s%s\n", printable(info->failure.data, info->failure.length).text,
               show_too_late(info));
    }
    for (uint32_t i = 0; i < info->after_count; i++)
        printf(i ? ", %s%s" : "  after %s%s",
               printable(info->after[i].data, info->after[i].length).text,
               info->waits_for >> i & 1 ? " (waits)" : "");
    if (info->after_count) puts("");
}

/* The first bytes of what its last success left, on one line. */
static void show_output(const struct session *session, selene_text id) {
    selene_task_output *left;
    if (selene_task_get_output(session->scheduler, id.data, id.length, &left)) return;
    const int64_t length = left->output.length;
    if (length > 0)
        printf("  left %lld bytes: %s%s\n", (long long)length,
               printable(left->output.data, length < OUTPUT_SHOWN ? length : OUTPUT_SHOWN).text,
               length > OUTPUT_SHOWN ? " ..." : "");
    selene_free(left);
}

selene_status show_task(const struct session *session, const char *id) {
    selene_task_info *info;
    selene_status status = selene_task_get(session->scheduler, id, -1, 0, &info);
    const char *end = status ? keep_end(session, (selene_text){id, -1}) : NULL;
    if (end) printf("%s\n  is over for more than a day: %s\n\n", printable(id, -1).text, end);
    if (status) return end ? SELENE_OK : status;
    puts(printable(info->id.data, info->id.length).text);
    show_definition(info);
    show_history(session, info);
    if (info->output_lost)
        printf("  left %llu bytes, which are too many and were not kept\n",
               (unsigned long long)info->output_lost);
    if (info->output_length) show_output(session, info->id);
    printf("  ");
    show_reasons(session, info->id, &session->options->window);
    puts("");
    selene_free(info);
    return SELENE_OK;
}

/* ---- the governor ------------------------------------------------------------ */

enum { SHARE, YES_OR_NO, LEVEL, DURATION };

static int unit_of(int32_t factor) {
    switch (factor) {
    case SELENE_FACTOR_RATE:
    case SELENE_FACTOR_RECENT_USE:
        return DURATION;
    case SELENE_FACTOR_THERMAL:
    case SELENE_FACTOR_HOST_PRESENCE:
        return LEVEL;
    case SELENE_FACTOR_BATTERY:
    case SELENE_FACTOR_STORAGE_FREE:
    case SELENE_FACTOR_BUDGET:
    case SELENE_FACTOR_USE_PREDICTION:
        return SHARE;
    default:
        return factor >= SELENE_FACTOR_CPU_BUSY && factor <= SELENE_FACTOR_IO_STALLED ? SHARE
                                                                                      : YES_OR_NO;
    }
}

/* A value in the unit of its factor. */
static struct text value_text(int32_t factor, int64_t value) {
    struct text out = {""};
    switch (unit_of(factor)) {
    case SHARE:
        snprintf(out.text, sizeof out.text, "%.1f %%", (double)value / 10);
        break;
    case YES_OR_NO:
        append(&out, "", value ? "yes" : "no");
        break;
    case DURATION:
        append(&out, "", duration_text(value).text);
        break;
    default:
        snprintf(out.text, sizeof out.text, "%" PRId64, value);
        break;
    }
    return out;
}

static bool is_at_least(int32_t factor) {
    switch (factor) {
    case SELENE_FACTOR_BATTERY:
    case SELENE_FACTOR_EXTERNAL_POWER:
    case SELENE_FACTOR_UNLOCKED:
    case SELENE_FACTOR_NETWORK:
    case SELENE_FACTOR_BACKGROUND_SWITCH:
    case SELENE_FACTOR_STORAGE_FREE:
    case SELENE_FACTOR_RATE:
    case SELENE_FACTOR_USE_PREDICTION:
        return true;
    default:
        return false;
    }
}

static struct text requirement_text(const selene_finding *finding) {
    struct text out = {""};
    if (finding->factor == SELENE_FACTOR_BUDGET) {
        append(&out, "", "not spent");
    } else if (unit_of(finding->factor) != YES_OR_NO) {
        append(&out, "", is_at_least(finding->factor) ? "at least " : "at most ");
        append(&out, "", value_text(finding->factor, finding->required).text);
    } else {
        append(&out, "", value_text(finding->factor, finding->required).text);
    }
    return out;
}

static struct text clears_text(const struct session *session, int64_t instant) {
    if (instant != SELENE_NEVER) return from_now(session, instant);
    return (struct text){"when it changes"};
}

static struct text asks_again_text(const struct session *session, int64_t instant) {
    if (instant != SELENE_NEVER) return from_now(session, instant);
    return (struct text){"when a signal changes"};
}

static void show_finding(const struct session *session, const selene_finding *finding) {
    struct text verdict = {""};
    bool is_well = finding->verdict == SELENE_VERDICT_PASSED ||
                   (finding->verdict == SELENE_VERDICT_WEIGHED && finding->score == 1000);
    append(&verdict, "", selene_name(SELENE_NAMES_VERDICT, finding->verdict));
    if (finding->verdict == SELENE_VERDICT_WEIGHED) {
        char score[32];
        snprintf(score, sizeof score, "%.1f %%", (double)finding->score / 10);
        append(&verdict, " ", score);
    }
    printf("  %-17s  %-9s  %-19s  %-15s  %-5s  %s\n",
           selene_name(SELENE_NAMES_FACTOR, finding->factor),
           finding->source == SELENE_SOURCE_UNKNOWN
               ? "-"
               : value_text(finding->factor, finding->observed).text,
           requirement_text(finding).text, verdict.text,
           finding->source == SELENE_SOURCE_UNKNOWN
               ? "-"
               : selene_name(SELENE_NAMES_SOURCE, finding->source),
           is_well ? "" : clears_text(session, finding->clears_at).text);
}

void show_decision(const struct session *session, const selene_decision *decision) {
    show_time(session);
    printf("%s: %s", selene_name(SELENE_NAMES_KIND, decision->kind),
           decision->granted ? "granted" : "refused");
    if (decision->score < 1000 || decision->score < decision->threshold)
        printf(", score %.1f %% of %.1f %%", (double)decision->score / 10,
               (double)decision->threshold / 10);
    if (!decision->granted)
        printf("; asks again %s", asks_again_text(session, decision->ask_again_at).text);
    puts("");
    if (decision->finding_count)
        printf("  %-17s  %-9s  %-19s  %-15s  %-5s  %s\n", "factor", "observed", "required",
               "verdict", "by", "better");
    else puts("  nothing is demanded");
    for (uint64_t i = 0; i < decision->finding_count; i++)
        show_finding(session, &decision->findings[i]);
    puts("");
}

selene_status show_decisions(const struct session *session, uint32_t kinds) {
    for (int32_t kind = SELENE_KIND_REFRESH; kind <= SELENE_KIND_PROCESSING; kind++) {
        selene_decision *decision;
        selene_status status;
        if (!(kinds & (uint32_t)kind)) continue;
        status = selene_governor_last(session->scheduler, kind, &decision);
        if (status == SELENE_ERROR_NOT_FOUND)
            status = selene_governor_ask(session->scheduler, kind, 0, &decision);
        if (status) return status;
        show_decision(session, decision);
        selene_free(decision);
    }
    return SELENE_OK;
}

static void show_refusal_line(const struct session *session, uint32_t kinds, int32_t factor,
                              int64_t again_at) {
    show_time(session);
    printf("refused %s: %s; asks again %s\n", kind_names(kinds).text,
           factor ? selene_name(SELENE_NAMES_FACTOR, factor) : "the score is too low",
           asks_again_text(session, again_at).text);
}

void show_refused(const struct session *session, const selene_decision *decision) {
    int32_t factor = 0;
    for (uint64_t i = 0; i < decision->finding_count && !factor; i++)
        if (decision->findings[i].verdict == SELENE_VERDICT_VETOED)
            factor = decision->findings[i].factor;
    show_refusal_line(session, (uint32_t)decision->kind, factor, decision->ask_again_at);
}

void show_refusal(const struct session *session, const selene_event *event) {
    show_refusal_line(session, event->kinds, event->detail, event->time_at);
}

/* A window of one task has no kinds. */
static const char *window_name(const selene_event *event) {
    if (event->kinds == 0) return "a task that never ran";
    if (event->kinds == (SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING)) return "both kinds";
    return selene_name(SELENE_NAMES_KIND, (int32_t)event->kinds);
}

/* [######--------------] 3/10 text */
static void show_progress(const selene_event *event) {
    const int64_t done = event->progress_done, total = event->progress_total;
    if (total > 0) {
        const int full = done >= total ? BAR : (int)((double)done * BAR / (double)total);
        char bar[BAR + 1] = "";
        memset(bar, '-', BAR);
        memset(bar, '#', (size_t)full);
        printf("[%s] %lld/%lld", bar, (long long)done, (long long)total);
    } else if (done > 0) {
        printf("%lld", (long long)done);
    }
    printf("%s%s\n", (total > 0 || done > 0) && event->message.length > 0 ? " " : "",
           printable(event->message.data, event->message.length).text);
}

void show_event(const struct session *session, const selene_event *event) {
    switch (event->type) {
    case SELENE_EVENT_CYCLE_BEGUN:
        show_time(session);
        printf("window of %s: %s\n", window_name(event),
               event->time_at == SELENE_NEVER ? "open-ended"
                                              : duration_text(event->time_at - event->time).text);
        break;
    case SELENE_EVENT_COMPLETED:
    case SELENE_EVENT_STOPPED:
        /* What expires, has timed out or makes no progress may still complete. */
        if (event->type == SELENE_EVENT_STOPPED &&
            (event->detail == SELENE_STOP_EXPIRING || event->detail == SELENE_STOP_TIMED_OUT ||
             event->detail == SELENE_STOP_STALLED))
            break;
        show_time(session);
        printf("  ");
        print_id(session, event->id.data);
        printf("%-19s  %-12s  %s\n",
               event->type == SELENE_EVENT_COMPLETED
                   ? selene_name(SELENE_NAMES_OUTCOME, event->detail)
                   : selene_name(SELENE_NAMES_STOP, event->detail),
               event->type == SELENE_EVENT_COMPLETED ? runner_end(session->runner, event->run).text
                                                     : "",
               next_chance(session, event->id).text);
        break;
    case SELENE_EVENT_PROGRESS:
        show_time(session);
        printf("  ");
        print_id(session, event->id.data);
        show_progress(event);
        break;
    case SELENE_EVENT_CYCLE_ENDED:
        show_time(session);
        printf("window of %s: over, %s\n", window_name(event),
               selene_name(SELENE_NAMES_OUTCOME, event->detail));
        break;
    case SELENE_EVENT_TROUBLE:
        show_time(session);
        if (event->status == SELENE_OK)
            printf("trouble is over: %s\n", selene_name(SELENE_NAMES_TROUBLE, event->detail));
        else printf("trouble: %s\n", printable(event->message.data, event->message.length).text);
        break;
    default:
        break;
    }
}
