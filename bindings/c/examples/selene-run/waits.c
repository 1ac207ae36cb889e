#define _XOPEN_SOURCE 700
#include "waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "duration.h"
#include "printable.h"
#include "timestamp.h"

/* Cells of the longest bar. */
#define BAR 24

/* In the words of pyselene. */
static const char *sentence(int32_t reason) {
    static const char *const sentences[] = {
        [SELENE_REASON_NOT_DUE] = "its earliest begin has not come",
        [SELENE_REASON_CONSTRAINTS] = "missing",
        [SELENE_REASON_NO_HANDLER] =
            "no handler has its name, here or in a process that is connected",
        [SELENE_REASON_HELD] = "held until a place is free",
        [SELENE_REASON_BLOCKED] = "waits for the task before it",
        [SELENE_REASON_RUNNING] = "it is running",
        [SELENE_REASON_KIND_OFF] = "its kind is switched off",
        [SELENE_REASON_DID_NOT_FIT] = "it did not fit into the last window of its kind",
        [SELENE_REASON_STILL_RUNNING] = "an earlier run has not come back",
        [SELENE_REASON_TERMINAL] = "it has ended",
        [SELENE_REASON_NOT_PERMITTED] = "its id is not permitted",
        [SELENE_REASON_HAD_ITS_RUN] = "it had its run in the open cycle",
        [SELENE_REASON_TOO_SOON] = "the minimum interval of its kind has not passed",
        [SELENE_REASON_NEXT_CYCLE] = "the open cycle began before it could run",
        [SELENE_REASON_INTERRUPTED] =
            "its process ended during its last run; it waits out the backoff",
        [SELENE_REASON_GOVERNOR] = "the governor refused its kind a window",
        [SELENE_REASON_STORE_REFUSES] = "the store refused the last commit",
        [SELENE_REASON_NO_THREAD] = "no thread can be had for a window",
        [SELENE_REASON_HANDLER_STUCK] = "its handler has left too many threads behind",
        [SELENE_REASON_DRAINED] = "the scheduler is drained",
        [SELENE_REASON_CLOCK] = "it waits for a time, and the clock has jumped",
        [SELENE_REASON_PAUSED] = "it is paused",
        [SELENE_REASON_GROUP_PAUSED] = "its group is paused",
        [SELENE_REASON_GROUP_FULL] = "as many runs of its group as may are under way",
        [SELENE_REASON_OUT_OF_QUOTA] =
            "it is an ordinary task, because expedited ones have used their quota",
        [SELENE_REASON_CONDITIONS] = "conditions of the host are not satisfied",
        [SELENE_REASON_FLEET_AWAY] =
            "the database of its fleet does not answer, or refuses what is asked",
        [SELENE_REASON_KIND_PAUSED] = "its kind is paused, everywhere or in its pool",
        [SELENE_REASON_QUARANTINED] = "it, or a task that it waits for, may have ended a process",
        [SELENE_REASON_BACKING_OFF] = "it has failed, and waits before it tries again",
        [SELENE_REASON_NO_WINDOW] = "no window was open",
        [SELENE_REASON_WINDOW_OPEN] = "a window was open, and nothing was taken from it",
        [SELENE_REASON_PREFERRED_OTHERS] = "windows preferred others",
        [SELENE_REASON_NO_PROCESS] = "no process had the store open",
        [SELENE_REASON_NOT_KNOWN] = "not known, the process was away",
        [SELENE_REASON_EARLIER] = "too long ago to be kept",
    };
    if (reason < 0 || (size_t)reason >= sizeof sentences / sizeof sentences[0] ||
        !sentences[reason])
        return selene_name(SELENE_NAMES_REASON, reason);
    return sentences[reason];
}

/* What a reason is about: a constraint, a factor, or what has a name; NULL where that says nothing. */
static const char *about(int32_t reason, int64_t detail, selene_text name) {
    if (name.data) return name.data;
    if (reason == SELENE_REASON_CONSTRAINTS)
        return selene_name(SELENE_NAMES_CONSTRAINT, (uint32_t)detail);
    if (reason == SELENE_REASON_GOVERNOR && detail)
        return selene_name(SELENE_NAMES_FACTOR, (int32_t)detail);
    return NULL;
}

static void print_words(int32_t reason, int64_t detail, selene_text name) {
    const char *what = about(reason, detail, name);
    printf("%s%s%s", sentence(reason), what ? ": " : "", what ? printable(what, -1).text : "");
}

/* What is more than nothing is seen. */
static void print_bar(int64_t length, int64_t longest) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int cells = 0;
    if (length > 0 && longest > 0) {
        int parts = (int)((double)length * BAR * 8 / (double)longest);
        if (parts < 1) parts = 1;
        for (; cells < parts / 8; cells++)
            fputs("█", stdout);
        fputs(eighths[parts % 8], stdout);
        cells += parts % 8 > 0;
    }
    printf("%*s", BAR - cells, "");
}

static int longer(const void *a, const void *b) {
    const selene_wait *const *left = a, *const *right = b;
    int64_t x = (*left)->duration, y = (*right)->duration;
    /* Where they are as long, in the order of the answer. */
    return x != y ? (x < y) - (x > y) : (*left > *right) - (*left < *right);
}

static void print_part(const selene_waits *waits, const selene_wait *part, int64_t longest) {
    int64_t total = waits->until - waits->since;
    printf("  %10s  %5.1f %%  ", duration_text(part->duration).text,
           100 * (double)part->duration / (double)(total > 0 ? total : 1));
    print_bar(part->duration, longest);
    printf("  ");
    print_words(part->reason, part->detail, part->name);
    if (part->times > 1) printf(" (%" PRIu64 " times)", part->times);
    puts("");
}

static selene_status print_parts(const selene_waits *waits) {
    const selene_wait **sorted = malloc((waits->part_count + 1) * sizeof(const selene_wait *));
    if (!sorted) return SELENE_ERROR_EXHAUSTED;
    for (uint64_t i = 0; i < waits->part_count; i++)
        sorted[i] = &waits->parts[i];
    qsort(sorted, waits->part_count, sizeof *sorted, longer);
    for (uint64_t i = 0; i < waits->part_count; i++)
        print_part(waits, sorted[i], sorted[0]->duration);
    free(sorted);
    return SELENE_OK;
}

static selene_status print_table(const char *id, const selene_waits *waits) {
    printf("%s is %s; of the %s since %s\n", printable(id, -1).text,
           selene_name(SELENE_NAMES_STATE, waits->state),
           duration_text(waits->until - waits->since).text, timestamp_exact(waits->since).text);
    selene_status status = print_parts(waits);
    if (waits->preferred_count) {
        printf("%" PRIu64 " %s went before it", waits->preferred_count,
               waits->preferred_count == 1 ? "run" : "runs");
        for (uint64_t i = 0; i < waits->preferred_id_count; i++)
            printf(i ? ", %s" : ", the last of %s",
                   printable(waits->preferred_ids[i].data, waits->preferred_ids[i].length).text);
        puts("");
    }
    for (uint64_t i = 0; i < waits->change_count; i++) {
        const selene_wait_change *change = &waits->changes[i];
        printf("  %s  ", timestamp_exact(change->at).text);
        print_words(change->reason, change->detail, change->name);
        puts("");
    }
    return status;
}

/* ---- JSON ----------------------------------------------------------------- */

static void print_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') printf("\\%c", *text);
        else if ((unsigned char)*text < 0x20) printf("\\u%04x", (unsigned)*text);
        else putchar(*text);
    }
    putchar('"');
}

/* "2026-03-01T14:02:03.25Z", to the microsecond. */
static void print_instant(int64_t instant) {
    time_t seconds = (time_t)(instant / SELENE_SECOND);
    long micros = (long)(instant % SELENE_SECOND / SELENE_MICROSECOND);
    struct tm parts;
    char text[64] = "";
    if (gmtime_r(&seconds, &parts)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    printf("\"%s", text);
    if (micros) printf(".%06ld", micros);
    printf("Z\"");
}

static void print_reason(int32_t reason, int64_t detail, selene_text name) {
    const char *what = about(reason, detail, name);
    printf("\"reason\": \"%s\", \"about\": ", selene_name(SELENE_NAMES_REASON, reason));
    if (what) print_string(what);
    else printf("null");
}

static void print_json(const char *id, const selene_waits *waits) {
    printf("{\n  \"id\": ");
    print_string(id);
    printf(",\n  \"state\": \"%s\",\n  \"since\": ", selene_name(SELENE_NAMES_STATE, waits->state));
    print_instant(waits->since);
    printf(",\n  \"until\": ");
    print_instant(waits->until);
    printf(",\n  \"total_ns\": %" PRId64 ",\n  \"parts\": [", waits->until - waits->since);
    for (uint64_t i = 0; i < waits->part_count; i++) {
        const selene_wait *part = &waits->parts[i];
        printf("%s\n    {", i ? "," : "");
        print_reason(part->reason, part->detail, part->name);
        printf(", \"duration_ns\": %" PRId64 ", \"times\": %" PRIu64 "}", part->duration,
               part->times);
    }
    printf("\n  ],\n  \"changes\": [");
    for (uint64_t i = 0; i < waits->change_count; i++) {
        const selene_wait_change *change = &waits->changes[i];
        printf("%s\n    {\"at\": ", i ? "," : "");
        print_instant(change->at);
        printf(", ");
        print_reason(change->reason, change->detail, change->name);
        printf("}");
    }
    printf("\n  ],\n  \"preferred\": %" PRIu64 ",\n  \"preferred_ids\": [", waits->preferred_count);
    for (uint64_t i = 0; i < waits->preferred_id_count; i++) {
        if (i) printf(", ");
        print_string(waits->preferred_ids[i].data);
    }
    puts("]\n}");
}

selene_status show_waits(const struct session *session, const char *id) {
    selene_waits *waits = NULL;
    selene_status status = selene_task_waits(session->scheduler, id, -1, &waits);
    if (status) return status;
    if (session->options->json) print_json(id, waits);
    else status = print_table(id, waits);
    selene_free(waits);
    return status;
}
