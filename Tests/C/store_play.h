/*
 * store_play.h - seeded random hosts, and what must be left of one that came to a sudden end
 *
 * A host is a seed: the call number n of a host depends on the seed, on n, and on what the calls before it answered.
 * So the same host can be played again elsewhere, call by call: in memory, or on a copy of the file that it began
 * with. Where its process ended, the store must hold what the other one holds after some number of calls: all that are
 * durable by D2, and perhaps those begun after them. Runs in flight have become interrupted (D3); what that means is
 * worked out here from the rules, not asked of the library's own recovery.
 *
 * All instants of calls are whole milliseconds. In memory the end comes a nanosecond later, so that what is counted
 * from it is no instant that was there before.
 */
#ifndef STORE_PLAY_H
#define STORE_PLAY_H

#include "store_tools.h"

#include <sqlite3.h>

#define PLAY_CYCLES 3
#define PLAY_FLIGHTS 256
#define PLAY_BACKUP "copy-"

/** A program or library that was built beside this program. */
CHECK_UNUSED static const char *beside(const char *name) {
    static char out[2][PATH + 64];
    static unsigned next;
    char self[PATH];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *found = out[next++ % 2];
    CHECK(length > 0);
    self[length] = 0;
    *strrchr(self, '/') = 0;
    snprintf(found, sizeof out[0], "%s/%s", self, name);
    return found;
}

/* ---- the host ------------------------------------------------------------- */

enum deed_kind {
    DEED_REGISTER,
    DEED_BATCH,
    DEED_CANCEL,
    DEED_CANCEL_TAG,
    DEED_CANCEL_ALL,
    DEED_BEGIN,
    DEED_NEXT,
    DEED_COMPLETE,
    DEED_RETRY,
    DEED_END,
    DEED_WAIT,
    DEED_CONDITIONS,
    DEED_PRUNE,
    DEED_RESET,
    DEED_BACKUP,
    DEED_NONE
};

CHECK_UNUSED static const char *const deed_names[] = {
    "register", "batch", "cancel", "cancel tag", "cancel all", "begin", "next",   "complete",
    "retry",    "end",   "wait",   "conditions", "prune",      "reset", "backup", "nothing"};

/** One call and what it answered. */
struct deed {
    int32_t kind;
    selene_status status;
    /** A digest of what else it answered. */
    uint64_t value;
    /** The run that it started, or 0. */
    uint64_t run;
    /** Once it has returned, all that was answered before it must be durable (D2). */
    int32_t seals;
    /** A report says that outcomes are not stored. */
    int32_t is_not_stored;
    /** Scheduler time of the call. */
    int64_t clock;
};

/** A run in flight. */
struct flight {
    selene_run run;
    char id[16];
    int is_lost;
};

/** What a host is. */
struct character {
    /** Chooses its options. */
    uint64_t seed;
    /** Chooses its calls. */
    uint64_t script;
    /** Its windows are long and its waits short, so that nothing expires. */
    int patient;
    int relaxed;
    /** Batches are big enough for the log to be copied into the file now and then. */
    int large;
};

struct player {
    struct character character;
    selene_scheduler scheduler;
    int64_t clock;
    selene_cycle cycles[PLAY_CYCLES];
    struct flight flights[PLAY_FLIGHTS];
    int flight_count;
    /** Where backups go; NULL: they are left out. */
    const char *backups;
};

CHECK_UNUSED static int64_t play_clock(void *context) {
    return *(const int64_t *)context;
}

/** Limits, jitter and such, as chosen by the seed. */
static selene_options play_options(struct character character) {
    selene_options options = SELENE_OPTIONS_INIT;
    uint64_t nature = character.seed;
    options.flags = chance(&nature) % 2 ? SELENE_OPTIONS_HOLD : 0;
    if (character.relaxed) options.flags |= SELENE_OPTIONS_RELAXED;
    options.max_pending_refresh = 2 + (uint32_t)chance_below(&nature, 5);
    options.max_pending_processing = 2 + (uint32_t)chance_below(&nature, 8);
    options.minimum_interval_refresh = chance(&nature) % 2 ? 200 * MS : 0;
    options.backoff_jitter = chance(&nature) % 4 ? 0 : 300;
    options.seed = 7;
    return options;
}

/** Opens; file NULL: in memory. The player must stay where it is. */
CHECK_UNUSED static selene_status player_open(struct player *player, struct character character, const char *file,
                                              int64_t clock) {
    selene_options options = play_options(character);
    selene_status status;
    memset(player, 0, sizeof *player);
    player->character = character;
    player->clock = clock;
    options.clock = play_clock;
    options.clock_context = &player->clock;
    if (file) options.path = (selene_text){file, -1};
    status = selene_scheduler_open(&options, &player->scheduler);
    if (status) return status;
    CHECK_OK(selene_conditions_set(player->scheduler, BOTH, BOTH));
    CHECK_OK(selene_handler_register(player->scheduler, "work", -1, NULL, NULL, NULL, NULL));
    return SELENE_OK;
}

CHECK_UNUSED static uint64_t digest(uint64_t digest, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return digest;
}

CHECK_UNUSED static uint64_t digest_of(uint64_t before, int64_t number) {
    return digest(before, &number, sizeof number);
}

/** Memory of a task that is to be registered. */
struct play_task {
    selene_task task;
    char id[16];
    selene_text tags[2];
    unsigned char input[8192];
};

CHECK_UNUSED static void play_task(struct play_task *out, uint64_t *random) {
    static const selene_text tags[] = {{"red", 3}, {"green", 5}, {"blue", 4}};
    selene_task *task = &out->task;
    uint64_t number = chance_below(random, 14);
    *task = (selene_task)SELENE_TASK_INIT;
    snprintf(out->id, sizeof out->id, "t%d", (int)number);
    task->id = (selene_text){out->id, -1};
    task->handler = chance(random) % 12 ? SELENE_TEXT("work") : SELENE_TEXT("nobody");
    task->kind = 1 + (int32_t)((number + (chance(random) % 8 == 0)) % 2);
    task->schedule = (int32_t)chance_below(random, 3);
    if (chance(random) % 5 == 0) task->schedule = SELENE_SCHEDULE_ONCE;
    task->priority = 1 + (int32_t)chance_below(random, 5);
    task->existing = (int32_t)chance_below(random, 6) - 1;
    task->recurrence = (int32_t)chance_below(random, 2);
    task->backoff = (int32_t)chance_below(random, 4) - 1;
    task->response_window = (int32_t)chance_below(random, 6);
    task->max_attempts = (uint32_t)chance_below(random, 4);
    task->constraints = chance(random) % 4 ? 0 : (uint32_t)chance_below(random, 4);
    task->tag_count = (uint32_t)chance_below(random, 3);
    for (uint32_t i = 0; i < task->tag_count; i++)
        out->tags[i] = tags[(chance(random) + i) % 3];
    task->tags = out->tags;
    task->expected_response = (int64_t)chance_below(random, 3000) * MS;
    task->initial_delay = chance(random) % 3 ? 0 : (int64_t)chance_below(random, 4000) * MS;
    task->period = (1 + (int64_t)chance_below(random, 100000)) * MS;
    task->flex = chance(random) % 2 ? 0 : (int64_t)chance_below(random, (uint64_t)(task->period / MS)) * MS;
    task->backoff_delay = (10000 + (int64_t)chance_below(random, 60000)) * MS;
    task->input_length = chance(random) % 3 ? 0 : (int64_t)chance_below(random, 300);
    if (chance(random) % 16 == 0) task->input_length = (int64_t)chance_below(random, sizeof out->input);
    for (int64_t i = 0; i < task->input_length; i++)
        out->input[i] = (unsigned char)((uint64_t)i * 31 + number + task->kind);
    task->input = out->input;
}

static void play_register(struct player *player, uint64_t *random, struct deed *deed) {
    struct play_task task;
    int32_t disposition = -1;
    play_task(&task, random);
    deed->status = selene_task_register(player->scheduler, &task.task, &disposition);
    deed->value = (uint64_t)disposition;
    deed->seals = deed->status == SELENE_OK && disposition != SELENE_DISPOSITION_KEPT;
}

static void play_batch(struct player *player, uint64_t *random, struct deed *deed) {
    uint64_t count = 2 + chance_below(random, 12);
    struct play_task *tasks;
    const selene_task *pointers[80];
    selene_status statuses[80];
    int32_t dispositions[80];
    if (player->character.large && chance(random) % 2) count = 60;
    tasks = calloc(count, sizeof *tasks);
    CHECK(tasks != NULL);
    for (uint64_t i = 0; i < count; i++) {
        play_task(&tasks[i], random);
        if (count == 60) {
            snprintf(tasks[i].id, sizeof tasks[i].id, "b%d", (int)i);
            tasks[i].task.schedule = SELENE_SCHEDULE_STANDING;
            tasks[i].task.existing = SELENE_EXISTING_REPLACE;
            tasks[i].task.input_length = 4000;
        }
        pointers[i] = &tasks[i].task;
        statuses[i] = -1;
        dispositions[i] = -1;
    }
    deed->status = selene_task_register_batch(player->scheduler, pointers, count, statuses, dispositions);
    if (deed->status == SELENE_OK) {
        deed->value = digest(0, statuses, count * sizeof *statuses);
        deed->value = digest(deed->value, dispositions, count * sizeof *dispositions);
        for (uint64_t i = 0; i < count; i++)
            if (!statuses[i] && dispositions[i] != SELENE_DISPOSITION_KEPT) deed->seals = 1;
    }
    free(tasks);
}

static void play_begin(struct player *player, uint64_t *random, struct deed *deed) {
    selene_window window = SELENE_WINDOW_INIT;
    char id[16];
    int free_slot = -1;
    for (int i = PLAY_CYCLES; i-- > 0;)
        if (!player->cycles[i]) free_slot = i;
    window.kinds = 1 + (uint32_t)chance_below(random, 3);
    window.lanes = 1 + (uint32_t)chance_below(random, 4);
    window.budget = chance(random) % 3 || player->character.patient ? 10 * SELENE_HOUR : (1 + (int64_t)chance_below(random, 10000)) * MS;
    if (chance(random) % 4 == 0) window.flags = SELENE_WINDOW_STRICT_FIT;
    if (chance(random) % 3 == 0) {
        snprintf(id, sizeof id, "t%d", (int)chance_below(random, 14));
        window.task = (selene_text){id, -1};
        window.lanes = 1;
    }
    if (free_slot < 0) {
        deed->kind = DEED_NONE;
        return;
    }
    deed->status = selene_cycle_begin(player->scheduler, &window, &player->cycles[free_slot]);
    deed->seals = deed->status == SELENE_OK && window.task.length == 0;
}

/** An open cycle, or −1. */
static int play_some_cycle(const struct player *player, uint64_t *random) {
    int first = (int)chance_below(random, PLAY_CYCLES);
    for (int i = 0; i < PLAY_CYCLES; i++)
        if (player->cycles[(first + i) % PLAY_CYCLES]) return (first + i) % PLAY_CYCLES;
    return -1;
}

static void play_next(struct player *player, int at, struct deed *deed) {
    selene_run_info info = SELENE_RUN_INFO_INIT;
    int32_t step = -1;
    int64_t wake_at = 0;
    struct flight *flight;
    deed->kind = DEED_NEXT;
    deed->status = selene_cycle_next(player->cycles[at], &step, &info, &wake_at);
    // A begin past its deadline ended it.
    if (deed->status == SELENE_ERROR_INVALID_HANDLE) player->cycles[at] = 0;
    if (deed->status) return;
    deed->seals = 1;
    deed->value = digest_of(digest_of(0, step), wake_at);
    if (step != SELENE_STEP_RUN) {
        deed->value = deed->value << 2 | (uint64_t)step;
        return;
    }
    deed->value = digest(deed->value, info.id.data, (size_t)info.id.length);
    deed->value = digest(deed->value, info.input.data, (size_t)info.input.length);
    deed->value = digest_of(digest_of(deed->value, info.attempt), info.generation);
    deed->value = digest_of(digest_of(deed->value, info.estimate), info.deadline);
    deed->value = deed->value << 2 | (uint64_t)step;
    deed->run = info.run;
    for (int i = 0; i < player->flight_count; i++) {
        // No task runs twice at once: its earlier run must have been stopped, and have come back.
        if (info.id.length != (int64_t)strlen(player->flights[i].id)) continue;
        CHECK(memcmp(player->flights[i].id, info.id.data, (size_t)info.id.length) != 0);
    }
    CHECK(player->flight_count < PLAY_FLIGHTS);
    flight = &player->flights[player->flight_count++];
    memset(flight, 0, sizeof *flight);
    flight->run = info.run;
    snprintf(flight->id, sizeof flight->id, "%.15s", info.id.data);
}

static void play_complete(struct player *player, uint64_t *random, struct deed *deed) {
    uint64_t at = chance_below(random, (uint64_t)player->flight_count);
    struct flight *flight = &player->flights[at];
    if (deed->kind == DEED_RETRY)
        deed->status = selene_run_retry(flight->run, (int64_t)chance_below(random, 3000) * MS);
    else
        deed->status = selene_run_complete(flight->run, (int32_t)chance_below(random, 4));
    *flight = player->flights[--player->flight_count];
}

static void play_end(struct player *player, int at, struct deed *deed) {
    selene_report *report = NULL;
    deed->status = selene_cycle_end(player->cycles[at], &report);
    if (deed->status == SELENE_OK || deed->status == SELENE_ERROR_INVALID_HANDLE) player->cycles[at] = 0;
    if (!report) return;
    deed->seals = deed->status == SELENE_OK && !(report->flags & SELENE_REPORT_NOT_STORED);
    deed->is_not_stored = (report->flags & SELENE_REPORT_NOT_STORED) != 0;
    deed->value = digest_of(digest_of(0, report->result), report->ended_at);
    deed->value = digest_of(digest_of(deed->value, (int64_t)report->eligible), (int64_t)report->did_not_fit);
    deed->value = digest_of(digest_of(deed->value, (int64_t)report->new_data), (int64_t)report->no_data);
    deed->value = digest_of(digest_of(deed->value, (int64_t)report->failed), (int64_t)report->abandoned);
    deed->value = digest_of(digest_of(deed->value, (int64_t)report->expired), (int64_t)report->stopped);
    for (uint64_t i = 0; i < report->run_count; i++) {
        deed->value = digest(deed->value, report->runs[i].id.data, (size_t)report->runs[i].id.length);
        deed->value = digest_of(digest_of(deed->value, report->runs[i].outcome), report->runs[i].response_time);
    }
    selene_report_destroy(report);
}

static void play_wait(struct player *player, uint64_t *random, struct deed *deed) {
    int64_t at = 0;
    uint64_t how = chance_below(random, 60);
    int64_t span = (int64_t)chance_below(random, how < 40 ? 500 : 40000) * MS;
    if (how == 59 && !player->character.patient) span = 25 * SELENE_HOUR;
    player->clock += span;
    // Expiry is applied by the next call of any kind.
    deed->status = selene_scheduler_next_wakeup(player->scheduler, &at, NULL);
    deed->value = (uint64_t)at;
}

/** Runs that lose a condition are stopped, and their tasks are as before: that must be durable. */
static void play_conditions(struct player *player, uint64_t *random, struct deed *deed) {
    deed->status = selene_conditions_set(player->scheduler, BOTH, BOTH & (uint32_t)(chance(random) | chance(random)));
    for (int i = 0; i < player->flight_count; i++) {
        int32_t reason = 0;
        selene_status status = selene_run_stopping(player->flights[i].run, &reason);
        if (status || reason != SELENE_STOP_CONSTRAINT_LOST || player->flights[i].is_lost) continue;
        player->flights[i].is_lost = 1;
        deed->value++;
    }
    deed->seals = deed->status == SELENE_OK && deed->value > 0;
}

static void play_backup(struct player *player, uint64_t index, struct deed *deed) {
    char name[PATH];
    if (!player->backups) return;
    snprintf(name, sizeof name, "%.4000s/" PLAY_BACKUP "%" PRIu64, player->backups, index);
    deed->status = selene_store_backup(player->scheduler, name, -1);
}

/** What call number index of this host is, as far as that does not depend on earlier answers. */
CHECK_UNUSED static enum deed_kind play_kind(uint64_t *random) {
    static const struct {
        unsigned weight;
        enum deed_kind kind;
    } mix[] = {{220, DEED_REGISTER}, {40, DEED_BATCH},  {40, DEED_CANCEL}, {20, DEED_CANCEL_TAG}, {4, DEED_CANCEL_ALL},
               {110, DEED_BEGIN},    {230, DEED_NEXT},  {160, DEED_COMPLETE}, {50, DEED_RETRY},   {40, DEED_END},
               {50, DEED_WAIT},      {12, DEED_CONDITIONS}, {10, DEED_PRUNE}, {4, DEED_RESET},    {10, DEED_BACKUP}};
    uint64_t pick = chance_below(random, 1000);
    for (size_t i = 0; i < sizeof mix / sizeof mix[0]; i++) {
        if (pick < mix[i].weight) return mix[i].kind;
        pick -= mix[i].weight;
    }
    return DEED_REGISTER;
}

/** Makes call number index. */
CHECK_UNUSED static struct deed play(struct player *player, uint64_t index) {
    uint64_t random = player->character.script * UINT64_C(0xD1342543DE82EF95) + index, count = 0;
    struct deed deed = {0};
    char name[16];
    int cycle;
    static const char *const tags[] = {"red", "green", "blue"};
    deed.kind = play_kind(&random);
    cycle = play_some_cycle(player, &random);
    if ((deed.kind == DEED_COMPLETE || deed.kind == DEED_RETRY) && !player->flight_count) deed.kind = DEED_NEXT;
    if ((deed.kind == DEED_NEXT || deed.kind == DEED_END) && cycle < 0) deed.kind = DEED_BEGIN;
    if (deed.kind == DEED_RESET && cycle >= 0) deed.kind = DEED_END;
    switch ((enum deed_kind)deed.kind) {
    case DEED_REGISTER: play_register(player, &random, &deed); break;
    case DEED_BATCH: play_batch(player, &random, &deed); break;
    case DEED_CANCEL:
        snprintf(name, sizeof name, "t%d", (int)chance_below(&random, 15));
        deed.status = selene_task_cancel(player->scheduler, name, -1, &count);
        break;
    case DEED_CANCEL_TAG:
        deed.status = selene_task_cancel_tag(player->scheduler, tags[chance_below(&random, 3)], -1, &count);
        break;
    case DEED_CANCEL_ALL: deed.status = selene_task_cancel_all(player->scheduler, &count); break;
    case DEED_BEGIN: play_begin(player, &random, &deed); break;
    case DEED_NEXT: play_next(player, cycle, &deed); break;
    case DEED_COMPLETE:
    case DEED_RETRY: play_complete(player, &random, &deed); break;
    case DEED_END: play_end(player, cycle, &deed); break;
    case DEED_WAIT: play_wait(player, &random, &deed); break;
    case DEED_CONDITIONS: play_conditions(player, &random, &deed); break;
    case DEED_PRUNE: deed.status = selene_scheduler_prune(player->scheduler, &count); break;
    case DEED_RESET:
        deed.status = selene_scheduler_reset(player->scheduler);
        deed.seals = deed.status == SELENE_OK;
        break;
    case DEED_BACKUP: play_backup(player, index, &deed); break;
    case DEED_NONE: break;
    }
    if (count) {
        deed.value = count;
        deed.seals = deed.status == SELENE_OK;
    }
    deed.clock = player->clock;
    return deed;
}

/* ---- what a scheduler holds ------------------------------------------------ */

struct record {
    char id[64];
    uint64_t position;
    /** Digest of the texts. */
    uint64_t texts;
    selene_task_info info;
    /** Where the delay is shortened by chance: the earliest that its earliest begin may be. Else equal to it. */
    int64_t least_begin;
};

struct records {
    struct record *items;
    size_t count, room;
};

CHECK_UNUSED static void records_free(struct records *records) {
    free(records->items);
    *records = (struct records){NULL, 0, 0};
}

static struct record *records_grow(struct records *records) {
    if (records->count == records->room) {
        records->room = records->room ? records->room * 2 : 32;
        records->items = realloc(records->items, records->room * sizeof *records->items);
        CHECK(records->items != NULL);
    }
    return &records->items[records->count++];
}

static void records_add(struct records *records, const selene_task_info *info, uint64_t position) {
    struct record *record = records_grow(records);
    memset(record, 0, sizeof *record);
    snprintf(record->id, sizeof record->id, "%.63s", info->id.data);
    record->position = position;
    record->info = *info;
    record->least_begin = info->earliest_begin;
    record->texts = digest(0, info->handler.data, (size_t)info->handler.length);
    record->texts = digest(record->texts, info->input.data, (size_t)info->input.length);
    for (uint32_t i = 0; i < info->tag_count; i++)
        record->texts = digest(record->texts, info->tags[i].data, (size_t)info->tags[i].length + 1);
}

/** Every record of a scheduler. */
CHECK_UNUSED static struct records records_of(selene_scheduler scheduler) {
    struct records out = {NULL, 0, 0};
    selene_task_ids *ids = NULL;
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    for (uint64_t i = 0; i < ids->count; i++) {
        uint64_t last = 0;
        for (uint64_t position = 0; position <= last; position++) {
            selene_task_info *info = NULL;
            CHECK_OK(selene_task_get(scheduler, ids->ids[i].data, ids->ids[i].length, position, &info));
            if (position == 0) last = info->appended;
            records_add(&out, info, position);
            selene_task_info_destroy(info);
        }
    }
    selene_task_ids_destroy(ids);
    return out;
}

static const struct record *records_find(const struct records *records, uint64_t sequence) {
    for (size_t i = 0; i < records->count; i++)
        if (records->items[i].info.sequence == sequence) return &records->items[i];
    return NULL;
}

static char play_problem[4096];

#define PLAY_FIELD(field)                                                                                              \
    if ((int64_t)expected->info.field != (int64_t)got->info.field) {                                                   \
        snprintf(play_problem, sizeof play_problem, "%s at %" PRIu64 ": %s should be %" PRId64 ", is %" PRId64,        \
                 got->id, got->position, #field, (int64_t)expected->info.field, (int64_t)got->info.field);             \
        return play_problem;                                                                                           \
    }

static const char *record_difference(const struct record *expected, const struct record *got) {
    if (strcmp(expected->id, got->id) != 0 || expected->position != got->position) {
        snprintf(play_problem, sizeof play_problem, "should be %s at %" PRIu64 ", is %s at %" PRIu64, expected->id,
                 expected->position, got->id, got->position);
        return play_problem;
    }
    PLAY_FIELD(sequence)
    PLAY_FIELD(state)
    PLAY_FIELD(attempts)
    PLAY_FIELD(generation)
    PLAY_FIELD(last_outcome)
    PLAY_FIELD(stop_reason)
    PLAY_FIELD(kind)
    PLAY_FIELD(schedule)
    PLAY_FIELD(priority)
    PLAY_FIELD(recurrence)
    PLAY_FIELD(backoff)
    PLAY_FIELD(response_window)
    PLAY_FIELD(max_attempts)
    PLAY_FIELD(constraints)
    PLAY_FIELD(tag_count)
    PLAY_FIELD(appended)
    PLAY_FIELD(expected_response)
    PLAY_FIELD(initial_delay)
    PLAY_FIELD(period)
    PLAY_FIELD(flex)
    PLAY_FIELD(backoff_delay)
    PLAY_FIELD(registered_at)
    PLAY_FIELD(last_run)
    PLAY_FIELD(response_time_count)
    for (uint64_t i = 0; i < expected->info.response_time_count; i++)
        PLAY_FIELD(response_times[i])
    PLAY_FIELD(estimate)
    if (got->info.earliest_begin < expected->least_begin) PLAY_FIELD(earliest_begin)
    if (got->info.earliest_begin > expected->info.earliest_begin) PLAY_FIELD(earliest_begin)
    if ((expected->info.run != 0) != (got->info.run != 0)) PLAY_FIELD(run)
    if (expected->texts != got->texts) {
        snprintf(play_problem, sizeof play_problem, "%s at %" PRIu64 ": handler, tags or input are other ones", got->id,
                 got->position);
        return play_problem;
    }
    return NULL;
}

/** The first difference, or NULL. */
CHECK_UNUSED static const char *records_difference(const struct records *expected, const struct records *got) {
    for (size_t i = 0; i < expected->count && i < got->count; i++) {
        const char *difference = record_difference(&expected->items[i], &got->items[i]);
        if (difference) return difference;
    }
    if (expected->count == got->count) return NULL;
    snprintf(play_problem, sizeof play_problem, "should be %zu records, are %zu; the first other one is %s",
             expected->count, got->count,
             expected->count > got->count ? expected->items[got->count].id : got->items[expected->count].id);
    return play_problem;
}

/* ---- the end of a process (D3) --------------------------------------------- */

/** a · b, at most limit. */
static int64_t play_times(int64_t a, int64_t b, int64_t limit) {
    return a && b > limit / a ? limit : a * b;
}

/** Delay of attempt n, C10. */
static int64_t play_delay(int32_t backoff, int64_t base, uint32_t attempt) {
    const int64_t most = 5 * SELENE_HOUR;
    if (backoff == SELENE_BACKOFF_NONE || !base) return 0;
    if (backoff == SELENE_BACKOFF_LINEAR) return play_times(base, attempt, most);
    if (attempt > 40) return most;
    return play_times(base, INT64_C(1) << (attempt - 1), most);
}

/**
 * What must be found of a scheduler in memory whose process ends now, when its store is opened at an instant.
 *
 * The scheduler is of no use for the host afterwards.
 *
 * @param got  what is found
 */
CHECK_UNUSED static struct records after_the_end(struct player *player, int64_t opened_at,
                                                 const struct records *got) {
    struct records before = records_of(player->scheduler), after, kept = {NULL, 0, 0};
    selene_window window = SELENE_WINDOW_INIT;
    selene_cycle cycle = 0;
    int64_t end = player->clock + 1;
    selene_task_ids *left = NULL;
    player->clock = end;
    for (size_t i = 0; i < before.count; i++) {
        const selene_task_info *info = &before.items[i].info;
        int64_t own, pause;
        if (info->state != SELENE_STATE_RUNNING) continue;
        own = play_delay(info->backoff, info->backoff_delay, info->attempts);
        pause = play_delay(SELENE_BACKOFF_EXPONENTIAL, 30 * S, info->attempts);
        CHECK_OK(selene_run_retry(info->run, own > pause ? own : pause));
    }
    for (int i = 0; i < PLAY_CYCLES; i++) {
        if (player->cycles[i]) (void)selene_cycle_end(player->cycles[i], NULL);
        player->cycles[i] = 0;
    }
    after = records_of(player->scheduler);
    for (size_t i = 0; i < after.count; i++) {
        selene_task_info *info = &after.items[i].info;
        const struct record *old = records_find(&before, info->sequence);
        int was_running;
        int64_t *instants[] = {&info->registered_at, &info->earliest_begin, &info->last_run};
        int64_t due = info->earliest_begin;
        int is_backing_off;
        CHECK(old != NULL);
        was_running = old->info.state == SELENE_STATE_RUNNING;
        is_backing_off = was_running && info->state == SELENE_STATE_ENQUEUED && info->attempts > 0;
        if (was_running) {
            // The attempt failed without a response time.
            info->stop_reason = SELENE_STOP_INTERRUPTED;
            info->last_outcome = SELENE_OUTCOME_FAILED;
            info->response_time_count = old->info.response_time_count;
            memcpy(info->response_times, old->info.response_times, sizeof info->response_times);
            info->estimate = old->info.estimate;
        }
        for (size_t k = 0; k < sizeof instants / sizeof instants[0]; k++) {
            const int64_t was[] = {old->info.registered_at, old->info.earliest_begin, old->info.last_run};
            if (*instants[k] != was[k]) *instants[k] += opened_at - end;
        }
        // The grid of an anchored period: its first instant after the opening.
        if (was_running && info->schedule == SELENE_SCHEDULE_PERIODIC && !is_backing_off &&
            info->recurrence == SELENE_RECURRENCE_ANCHORED) {
            int64_t ahead = due - opened_at;
            if (ahead <= 0) ahead = info->period - -ahead % info->period;
            else if (opened_at < end) ahead = (ahead - 1) % info->period + 1;
            info->earliest_begin = opened_at + ahead;
        }
        after.items[i].least_begin = info->earliest_begin;
        if (is_backing_off) {
            int64_t own = play_delay(info->backoff, info->backoff_delay, info->attempts);
            int64_t pause = play_delay(SELENE_BACKOFF_EXPONENTIAL, 30 * S, info->attempts);
            int64_t least = own - own / 1000 * play_options(player->character).backoff_jitter;
            after.items[i].least_begin = opened_at + (least > pause ? least : pause);
        }
    }
    // What ended long ago goes at the opening, as it does at a begin (T9). If the time of the end is forgotten, that
    // cannot be tried: then what has ended may be gone or not.
    if (opened_at < end) {
        for (size_t i = 0; i < after.count; i++) {
            int32_t state = after.items[i].info.state;
            int is_over = state == SELENE_STATE_SUCCEEDED || state == SELENE_STATE_FAILED ||
                          state == SELENE_STATE_CANCELLED;
            if (!is_over || records_find(got, after.items[i].info.sequence))
                *records_grow(&kept) = after.items[i];
        }
    } else {
        player->clock = opened_at;
        window.kinds = SELENE_KIND_PROCESSING;
        CHECK_OK(selene_cycle_begin(player->scheduler, &window, &cycle));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_task_list(player->scheduler, NULL, 0, &left));
        for (size_t i = 0; i < after.count; i++) {
            int is_left = 0;
            for (uint64_t k = 0; k < left->count; k++)
                is_left |= strcmp(left->ids[k].data, after.items[i].id) == 0;
            if (is_left) *records_grow(&kept) = after.items[i];
        }
        selene_task_ids_destroy(left);
    }
    records_free(&before);
    records_free(&after);
    return kept;
}

/* ---- what was answered before the end --------------------------------------- */

/** The life of one process of a host. */
struct life {
    struct character character;
    /** A copy of the file it began with; NULL: there was none. */
    const char *base;
    int64_t clock;
    /** What the calls answered, in order; the last may have been begun only. */
    struct deed *deeds;
    uint64_t answered, begun, room;
    /** Calls that a store refused, by index; NULL: none. */
    const unsigned char *refused;
    /** The number of this life, and the most that sequences and tokens reached. */
    uint64_t number;
};

CHECK_UNUSED static void life_add(struct life *life, struct deed deed) {
    if (life->answered == life->room) {
        life->room = life->room ? life->room * 2 : 64;
        life->deeds = realloc(life->deeds, life->room * sizeof *life->deeds);
        CHECK(life->deeds != NULL);
    }
    life->deeds[life->answered++] = deed;
}

/** How many calls must be durable. */
CHECK_UNUSED static uint64_t life_sealed(const struct life *life) {
    uint64_t out = life->answered;
    while (out > 0 && !life->deeds[out - 1].seals)
        out--;
    return out;
}

/** Copies a closed store. */
CHECK_UNUSED static void copy_file(const char *from, const char *to) {
    struct bytes bytes = read_bytes(from);
    CHECK(bytes.size != SIZE_MAX);
    write_bytes(to, bytes.data, bytes.size);
    free(bytes.data);
}

/** Plays the first calls of a life again. Answers what was answered otherwise, or NULL. */
CHECK_UNUSED static const char *replay(const struct life *life, uint64_t count, struct player *out) {
    char twin[PATH + 16];
    struct character character = life->character;
    if (life->base) {
        snprintf(twin, sizeof twin, "%s.twin", life->base);
        copy_file(life->base, twin);
        character.relaxed = 1;
    }
    CHECK_OK(player_open(out, character, life->base ? twin : NULL, life->clock));
    for (uint64_t i = 0; i < count; i++) {
        struct deed deed;
        if (life->refused && life->refused[i]) continue;
        deed = play(out, i);
        if (i >= life->answered || deed.kind == DEED_BACKUP) continue;
        if (deed.kind != life->deeds[i].kind || deed.status != life->deeds[i].status ||
            deed.value != life->deeds[i].value) {
            snprintf(play_problem, sizeof play_problem,
                     "call %" PRIu64 " (%s) answered %s, %016" PRIx64 "; its twin (%s) %s, %016" PRIx64, i,
                     deed_names[life->deeds[i].kind], selene_status_name(life->deeds[i].status), life->deeds[i].value,
                     deed_names[deed.kind], selene_status_name(deed.status), deed.value);
            return play_problem;
        }
    }
    return NULL;
}

CHECK_UNUSED static void replay_end(const struct life *life, struct player *player) {
    char twin[PATH + 16];
    (void)selene_scheduler_close(player->scheduler, 0);
    if (!life->base) return;
    snprintf(twin, sizeof twin, "%s.twin", life->base);
    unlink(twin);
}

/** What a scheduler holds besides its records. */
struct finding {
    /** What beginning a refresh cycle answers now, and the sequence that the next record gets. */
    selene_status begins;
    uint64_t next_sequence;
};

/** Tries what cannot be read from the records: last begins, last sequence. */
CHECK_UNUSED static struct finding look_behind(selene_scheduler scheduler) {
    struct finding out;
    selene_window window = SELENE_WINDOW_INIT;
    selene_task task = task_of("probe");
    selene_task_info *info = NULL;
    selene_cycle cycle = 0;
    task.existing = SELENE_EXISTING_REPLACE;
    out.begins = selene_cycle_begin(scheduler, &window, &cycle);
    if (cycle) CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_task_get(scheduler, "probe", -1, 0, &info));
    out.next_sequence = info->sequence;
    selene_task_info_destroy(info);
    return out;
}

/**
 * Finds after how many calls of a life the process ended, as the store tells it: least … most.
 *
 * @param opened_at  when the store was opened
 * @param got        what it holds
 * @param behind     and what else
 * @param out_count  how many calls are in it
 * @return NULL, or what is wrong
 */
CHECK_UNUSED static const char *life_find(const struct life *life, uint64_t least, uint64_t most, int64_t opened_at,
                                          const struct records *got, struct finding behind, uint64_t *out_count) {
    static char first[8192];
    snprintf(first, sizeof first,
             "%" PRIu64 " calls were answered, %" PRIu64 " begun, %" PRIu64 " must be in it (of a last %s)", life->answered,
             life->begun, least, life->answered ? deed_names[life->deeds[life->answered - 1].kind] : "open");
    for (uint64_t count = most + 1; count-- > least;) {
        struct player player;
        struct records expected;
        struct finding found;
        const char *problem = replay(life, count, &player);
        if (problem) {
            replay_end(life, &player);
            return problem;
        }
        expected = after_the_end(&player, opened_at, got);
        problem = records_difference(&expected, got);
        records_free(&expected);
        found = look_behind(player.scheduler);
        replay_end(life, &player);
        // A time that is forgotten makes begins too soon.
        if (player.clock > opened_at) found.begins = behind.begins;
        if (!problem && (found.begins != behind.begins || found.next_sequence != behind.next_sequence)) {
            snprintf(play_problem, sizeof play_problem,
                     "begin should answer %s, answers %s; the next sequence should be %" PRIu64 ", is %" PRIu64,
                     selene_status_name(found.begins), selene_status_name(behind.begins), found.next_sequence,
                     behind.next_sequence);
            problem = play_problem;
        }
        if (!problem) {
            *out_count = count;
            return NULL;
        }
        if (getenv("SELENE_TEST_CALLS") || most - count < 8 || count == least) {
            size_t at = strlen(first);
            snprintf(first + at, sizeof first - at, "\n  if %" PRIu64 " calls are in it: %s", count, problem);
        }
    }
    return first;
}

/**
 * Opens the store that a life has left, and compares.
 *
 * @param least      how many calls must be in it
 * @param clock      what the clock of the machine says
 * @param player     the host on the opened store; also closed by the caller if something is wrong
 * @param out_count  how many calls are in it
 * @param out_opened_at  scheduler time of the opening
 * @return NULL, or what is wrong
 */
CHECK_UNUSED static const char *life_open(const struct life *life, const char *file, uint64_t least, int64_t clock,
                                          struct player *player, uint64_t *out_count, int64_t *out_opened_at) {
    static char problem[sizeof play_problem + 512];
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
    selene_scheduler_info info = SELENE_SCHEDULER_INFO_INIT;
    struct records got;
    struct finding behind;
    const char *wrong;
    int64_t now = 0;
    selene_status status;
    player->scheduler = 0;
    if (exists(file) && (status = selene_store_check(file, -1, &findings)) != SELENE_OK) {
        snprintf(problem, sizeof problem, "check: %s: %s", selene_status_name(status), selene_status_detail());
        return problem;
    }
    if (!exists(file) && (life->number || life->base)) return "the store is gone";
    if ((status = player_open(player, life->character, file, clock)) != SELENE_OK) {
        snprintf(problem, sizeof problem, "open: %s: %s", selene_status_name(status), selene_status_detail());
        return problem;
    }
    CHECK_OK(selene_scheduler_get(player->scheduler, &info));
    CHECK_OK(selene_scheduler_now(player->scheduler, &now));
    *out_opened_at = now;
    got = records_of(player->scheduler);
    behind = look_behind(player->scheduler);
    wrong = info.life > life->number ? NULL : "the number of its life is not greater";
    if (!wrong)
        wrong = life_find(life, least, life->begun > life->answered ? life->begun : life->answered, now, &got,
                          behind, out_count);
    records_free(&got);
    return wrong;
}

/** Copies are whole, or are no stores yet. */
CHECK_UNUSED static const char *check_copies(const struct life *life, const char *folder) {
    for (uint64_t i = 0; i < life->begun || i < life->answered; i++) {
        char name[PATH + 32];
        struct life then = *life;
        struct player player;
        uint64_t count;
        int64_t opened_at;
        const char *problem = NULL;
        selene_status status;
        snprintf(name, sizeof name, "%.4000s/" PLAY_BACKUP "%" PRIu64, folder, i);
        if (i < life->answered && life->deeds[i].kind != DEED_BACKUP) continue;
        if (i < life->answered && life->deeds[i].status != SELENE_OK) {
            if (!life->refused || !life->refused[i]) return "a backup failed";
            // After a loss of power it may be there again.
            if (exists(name) && strstr(folder, "disk")) return "a backup that failed is there";
            continue;
        }
        if (!exists(name)) {
            if (i < life->answered) return "a backup is gone";
            continue;
        }
        status = selene_store_check(name, -1, NULL);
        if (status == SELENE_OK) {
            then.answered = then.begun = i;
            then.number = 0;
            problem = life_open(&then, name, i, i ? life->deeds[i - 1].clock : life->clock, &player, &count, &opened_at);
            if (player.scheduler) CHECK_OK(selene_scheduler_close(player.scheduler, 0));
        } else if (i < life->answered) {
            problem = "a backup is no store";
        }
        unlink(name);
        if (problem) {
            static char text[6000];
            snprintf(text, sizeof text, "backup of call %" PRIu64 ": %s", i, problem);
            return text;
        }
    }
    return NULL;
}

/** SQLite's own word on a closed store. */
CHECK_UNUSED static void check_integrity(const char *file) {
    sqlite3 *database = NULL;
    sqlite3_stmt *rows = NULL;
    char name[PATH + 32];
    snprintf(name, sizeof name, "file:%s?immutable=1", file);
    CHECK_INT(SQLITE_OK, sqlite3_open_v2(name, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL));
    CHECK_INT(SQLITE_OK, sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &rows, NULL));
    CHECK_INT(SQLITE_ROW, sqlite3_step(rows));
    CHECK_STRING("ok", (const char *)sqlite3_column_text(rows, 0));
    sqlite3_finalize(rows);
    sqlite3_close(database);
}

#endif /* STORE_PLAY_H */
