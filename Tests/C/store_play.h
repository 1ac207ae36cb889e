/*
 * store_play.h - seeded random hosts
 *
 * The call number n of a host depends on its seeds, on n, and on what the calls before it answered. So the same host
 * can be played again elsewhere, call by call: in memory, or on a copy of the file that it began with.
 */
#ifndef STORE_PLAY_H
#define STORE_PLAY_H

#include "store_tools.h"

#define PLAY_CYCLES 3
#define PLAY_FLIGHTS 256
#define PLAY_ROUND 40
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

/**
 * Becomes a program that was built beside this one, with the shim below it or without; returns if that fails. An emulator
 * of single programs is not taken over by them: SELENE_TEST_EMULATOR names the one that is then to begin it, of qemu's
 * sort, which takes what is set for the program alone from QEMU_SET_ENV.
 */
CHECK_UNUSED static void become(const char *program, char **arguments, int has_shim) {
    char *emulator = getenv("SELENE_TEST_EMULATOR"), *words[16], preload[PATH + 80];
    int count = 0;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", has_shim ? beside("store_shim.so") : "");
    if (!emulator) {
        if (has_shim) setenv("LD_PRELOAD", strchr(preload, '=') + 1, 1);
        execv(beside(program), arguments);
        return;
    }
    if (has_shim) setenv("QEMU_SET_ENV", preload, 1);
    words[count++] = emulator;
    words[count++] = (char *)beside(program);
    while (*++arguments && count < 15)
        words[count++] = *arguments;
    CHECK(!*arguments);
    words[count] = NULL;
    execvp(emulator, words);
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
    DEED_PAUSE,
    DEED_PAUSE_TAG,
    DEED_NONE
};

CHECK_UNUSED static const char *const deed_names[] = {
    "register", "batch",    "cancel", "cancel tag", "cancel all", "begin",
    "next",     "complete", "retry",  "end",        "wait",       "conditions",
    "prune",    "reset",    "backup", "pause",      "pause tag",  "nothing"};

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
    /** Its windows are long and its waits short, so that nothing expires; no task of it has a latest begin, unless it is
     *  hurried. */
    int patient;
    int hurried;
    int relaxed;
    /** 1: some batches are big. 2: each fifth call is a batch so big that the log is copied into the file now and then,
     *  and the last calls of each PLAY_ROUND end its cycles, so that it can close. */
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
    selene_options options = SELENE_INIT(selene_options);
    uint64_t nature = character.seed;
    options.flags = chance(&nature) % 2 ? SELENE_OPTIONS_HOLD : 0;
    if (character.relaxed) options.flags |= SELENE_OPTIONS_RELAXED;
    options.max_pending_refresh = 2 + (uint32_t)chance_below(&nature, 5);
    options.max_pending_processing = 2 + (uint32_t)chance_below(&nature, 8);
    options.minimum_interval_refresh = chance(&nature) % 2 ? 200 * MS : 0;
    options.backoff_jitter = chance(&nature) % 4 ? 0 : 300;
    options.expedited_quota =
        none_of(chance(&nature) % 4 ? (int64_t)chance_below(&nature, 60) * S : 0);
    options.seed = 7;
    return options;
}

/** Whether some tasks have a latest begin: where the delay of a retry is chosen by chance, it decides whether they fail. */
static int play_hurries(struct character character) {
    return (!character.patient || character.hurried) && play_options(character).backoff_jitter == 0;
}

/** Opens; file NULL: in memory. The player must stay where it is. */
CHECK_UNUSED static selene_status player_open(struct player *player, struct character character,
                                              const char *file, int64_t clock) {
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
    status = selene_conditions_set(player->scheduler, BOTH, BOTH);
    /* On a full disk the store opens and refuses every commit (V23). */
    if (status != SELENE_OK) {
        CHECK_STATUS(status, selene_scheduler_close(player->scheduler, 0));
        return status;
    }
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
    selene_text tags[2], after[3], conditions[2];
    unsigned char input[8192];
};

/**
 * Gives a task a latest begin, and an id of its own: it waits for no others and behind none, so that what becomes of it
 * does not depend on when its process ended. No call is made at that instant. An update, which counts from the registration,
 * has one that is far away: a task would be too late by it at once, and only the call after it would say so.
 */
static void play_hurry(struct play_task *out, uint64_t *random) {
    selene_task *task = &out->task;
    snprintf(out->id, sizeof out->id, "u%d", (int)chance_below(random, 4));
    task->schedule = SELENE_SCHEDULE_ONCE;
    task->existing = (int32_t)chance_below(random, 3);
    task->after_count = 0;
    task->flags &= ~SELENE_TASK_AFTER_ANY_END;
    task->latest_begin =
        task->initial_delay + (1 + (int64_t)chance_below(random, 60000)) * MS + MS / 2;
    if (task->existing == SELENE_EXISTING_UPDATE) task->latest_begin += 1000 * SELENE_DAY;
}

/** @param is_hurried  some have a latest begin */
CHECK_UNUSED static void play_task(struct play_task *out, uint64_t *random, int is_hurried) {
    static const selene_text tags[] = {{"red", 3}, {"green", 5}, {"blue", 4}};
    selene_task *task = &out->task;
    uint64_t number = chance_below(random, 14);
    *task = (selene_task)SELENE_INIT(selene_task);
    snprintf(out->id, sizeof out->id, "t%d", (int)number);
    task->id = (selene_text){out->id, -1};
    task->handler = chance(random) % 12 ? SELENE_TEXT("work") : SELENE_TEXT("nobody");
    task->kind = 1 + (int32_t)((number + (chance(random) % 8 == 0)) % 2);
    task->schedule = 1 + (int32_t)chance_below(random, 3);
    if (chance(random) % 5 == 0) task->schedule = SELENE_SCHEDULE_ONCE;
    task->priority = 1 + (int32_t)chance_below(random, 5);
    task->existing = (int32_t)chance_below(random, 6);
    task->recurrence = (int32_t)chance_below(random, 3);
    task->backoff = (int32_t)chance_below(random, 4);
    task->response_window = (int32_t)none_of(chance_below(random, 6));
    task->max_attempts = (uint32_t)chance_below(random, 4);
    task->constraints = chance(random) % 4 ? 0 : (uint32_t)chance_below(random, 4);
    task->tag_count = (uint32_t)chance_below(random, 3);
    for (uint32_t i = 0; i < task->tag_count; i++)
        out->tags[i] = tags[(chance(random) + i) % 3];
    task->tags = out->tags;
    if (chance(random) % 3 == 0) task->group = tags[chance_below(random, 3)];
    task->condition_count = chance(random) % 6 ? 0 : 1 + (uint32_t)chance_below(random, 2);
    for (uint32_t i = 0; i < task->condition_count; i++)
        out->conditions[i] = tags[(chance(random) + i) % 3];
    task->conditions = out->conditions;
    task->expected_response = none_of((int64_t)chance_below(random, 3000) * MS);
    task->initial_delay = chance(random) % 3 ? 0 : (int64_t)chance_below(random, 4000) * MS;
    task->period = (1 + (int64_t)chance_below(random, 100000)) * MS;
    task->flex =
        chance(random) % 2 ? 0 : (int64_t)chance_below(random, (uint64_t)(task->period / MS)) * MS;
    if (task->schedule != SELENE_SCHEDULE_PERIODIC) task->period = task->flex = 0;
    task->backoff_delay = (10000 + (int64_t)chance_below(random, 60000)) * MS;
    task->input_length = chance(random) % 3 ? 0 : (int64_t)chance_below(random, 300);
    if (chance(random) % 16 == 0)
        task->input_length = (int64_t)chance_below(random, sizeof out->input);
    for (int64_t i = 0; i < task->input_length; i++)
        out->input[i] = (unsigned char)((uint64_t)i * 31 + number + task->kind);
    task->input = out->input;
    if (task->schedule == SELENE_SCHEDULE_ONCE && chance(random) % 3) {
        static const selene_text names[] = {{"t1", -1}, {"t2", -1}, {"t5", -1},
                                            {"t8", -1}, {"u1", 2},  {"t11", 3}};
        task->after_count = 1 + (uint32_t)chance_below(random, 2);
        for (uint32_t i = 0; i < task->after_count; i++)
            out->after[i] = names[(chance(random) + i) % 6];
        task->after = out->after;
        if (chance(random) % 3 == 0) task->flags = SELENE_TASK_AFTER_ANY_END;
    }
    if (chance(random) % 4 == 0) task->jitter = (uint32_t)chance_below(random, 1001);
    if (task->schedule == SELENE_SCHEDULE_ONCE && chance(random) % 3 == 0) {
        task->flags |= SELENE_TASK_EXPEDITED;
        if (chance(random) % 3 == 0) task->flags |= SELENE_TASK_REFUSE_OUT_OF_QUOTA;
    }
    if (is_hurried && chance(random) % 6 == 0) play_hurry(out, random);
}

/** Defines a condition, takes one back, or says whether it is satisfied. */
static void play_condition(struct player *player, uint64_t *random, const char *name,
                           struct deed *deed) {
    int32_t before = -1, after = -1;
    selene_status known = selene_condition_get(player->scheduler, name, -1, &before);
    if (known == SELENE_ERROR_NOT_FOUND) known = SELENE_OK;
    switch (chance_below(random, 4)) {
    case 0:
        deed->status = selene_condition_undefine(player->scheduler, name, -1);
        break;
    case 1:
        deed->status =
            selene_condition_set(player->scheduler, name, -1, (int32_t)chance_below(random, 2));
        break;
    default:
        deed->status = selene_condition_define(player->scheduler, name, -1);
    }
    /* What was refused has said why, and changed nothing. */
    if (deed->status) after = before;
    else (void)selene_condition_get(player->scheduler, name, -1, &after);
    deed->value = (uint64_t)(after > 0);
    deed->seals = deed->status == SELENE_OK && !known && (before > 0) != (after > 0);
}

/** Sets a group, called as a tag is. */
static void play_group(struct player *player, uint64_t *random, const char *name,
                       struct deed *deed) {
    selene_group_info before = SELENE_INIT(selene_group_info),
                      after = SELENE_INIT(selene_group_info);
    selene_status known = selene_group_get(player->scheduler, name, -1, &before);
    switch (chance_below(random, 4)) {
    case 0:
        deed->status = selene_group_pause(player->scheduler, name, -1);
        break;
    case 1:
        deed->status = selene_group_set_limit(player->scheduler, name, -1,
                                              1 + (uint32_t)chance_below(random, 3));
        break;
    case 2:
        deed->status = selene_group_set_limit(player->scheduler, name, -1, 0);
        break;
    default:
        deed->status = selene_group_resume(player->scheduler, name, -1);
    }
    if (deed->status) after = before;
    else known |= selene_group_get(player->scheduler, name, -1, &after);
    deed->value = digest_of(digest_of(0, after.limit), after.paused);
    deed->seals = deed->status == SELENE_OK && !known &&
                  (before.limit != after.limit || before.paused != after.paused);
}

static void play_register(struct player *player, uint64_t *random, struct deed *deed) {
    struct play_task task;
    int32_t disposition = -1;
    play_task(&task, random, play_hurries(player->character));
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
    if (player->character.large == 2) count = 60;
    tasks = calloc(count, sizeof *tasks);
    CHECK(tasks != NULL);
    for (uint64_t i = 0; i < count; i++) {
        play_task(&tasks[i], random, play_hurries(player->character));
        if (count == 60) {
            snprintf(tasks[i].id, sizeof tasks[i].id, "b%d", (int)i);
            tasks[i].task.schedule = SELENE_SCHEDULE_STANDING;
            tasks[i].task.latest_begin = 0;
            tasks[i].task.flags = 0;
            tasks[i].task.existing = SELENE_EXISTING_REPLACE;
            tasks[i].task.input_length = player->character.large == 2 ? 8000 : 4000;
        }
        pointers[i] = &tasks[i].task;
        statuses[i] = -1;
        dispositions[i] = -1;
    }
    deed->status =
        selene_task_register_batch(player->scheduler, pointers, count, statuses, dispositions);
    if (deed->status == SELENE_OK) {
        deed->value = digest(0, statuses, count * sizeof *statuses);
        deed->value = digest(deed->value, dispositions, count * sizeof *dispositions);
        for (uint64_t i = 0; i < count; i++)
            if (!statuses[i] && dispositions[i] != SELENE_DISPOSITION_KEPT) deed->seals = 1;
    }
    free(tasks);
}

static void play_begin(struct player *player, uint64_t *random, struct deed *deed) {
    selene_window window = SELENE_INIT(selene_window);
    char id[16];
    int free_slot = -1;
    for (int i = PLAY_CYCLES; i-- > 0;)
        if (!player->cycles[i]) free_slot = i;
    window.kinds = 1 + (uint32_t)chance_below(random, 3);
    window.lanes = 1 + (uint32_t)chance_below(random, 4);
    window.budget = chance(random) % 3 || player->character.patient
                        ? 10 * SELENE_HOUR
                        : (1 + (int64_t)chance_below(random, 10000)) * MS;
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
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step = -1, reason = 0;
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
        // No task runs twice at once: its earlier run must be over, and was let go ten minutes later.
        if (info.id.length != (int64_t)strlen(player->flights[i].id)) continue;
        if (memcmp(player->flights[i].id, info.id.data, (size_t)info.id.length) != 0) continue;
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_stopping(player->flights[i].run, &reason));
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
    // Whether it is still open does not matter.
    if (chance(random) % 3 == 0) {
        char left[1200];
        size_t length = chance_below(random, sizeof left);
        memset(left, (int)(length % 251), sizeof left);
        (void)selene_run_set_output(flight->run, left, (int64_t)length);
    }
    if (deed->kind == DEED_RETRY)
        deed->status = selene_run_retry(flight->run, (int64_t)chance_below(random, 3000) * MS);
    else deed->status = selene_run_complete(flight->run, (int32_t)chance_below(random, 4));
    *flight = player->flights[--player->flight_count];
}

static void play_end(struct player *player, int at, struct deed *deed) {
    selene_report *report = NULL;
    deed->status = selene_cycle_end(player->cycles[at], &report);
    if (deed->status == SELENE_OK || deed->status == SELENE_ERROR_INVALID_HANDLE)
        player->cycles[at] = 0;
    if (!report) return;
    deed->seals = deed->status == SELENE_OK && !(report->flags & SELENE_REPORT_NOT_STORED);
    deed->is_not_stored = (report->flags & SELENE_REPORT_NOT_STORED) != 0;
    deed->value = digest_of(digest_of(0, report->result), report->ended_at);
    deed->value =
        digest_of(digest_of(deed->value, (int64_t)report->eligible), (int64_t)report->did_not_fit);
    deed->value =
        digest_of(digest_of(deed->value, (int64_t)report->new_data), (int64_t)report->no_data);
    deed->value =
        digest_of(digest_of(deed->value, (int64_t)report->failed), (int64_t)report->abandoned);
    deed->value =
        digest_of(digest_of(deed->value, (int64_t)report->expired), (int64_t)report->stopped);
    for (uint64_t i = 0; i < report->run_count; i++) {
        deed->value =
            digest(deed->value, report->runs[i].id.data, (size_t)report->runs[i].id.length);
        deed->value = digest_of(digest_of(deed->value, report->runs[i].outcome),
                                report->runs[i].response_time);
    }
    selene_free(report);
}

static void play_wait(struct player *player, uint64_t *random, struct deed *deed) {
    int64_t at = 0;
    uint64_t how = chance_below(random, 60);
    int64_t span = (int64_t)chance_below(random, how < 40 ? 500 : 40000) * MS;
    if (how == 59 && !player->character.patient) {
        // Time alone: were a call of it stored and not answered, the clock of the machine would seem to be set back by a
        // day, which a store forgets.
        player->clock += 25 * SELENE_HOUR;
        return;
    }
    player->clock += span;
    // Expiry is applied by the next call of any kind.
    deed->status = selene_scheduler_next_wakeup(player->scheduler, &at, NULL);
    deed->value = (uint64_t)at;
}

/** Runs that lose a condition are stopped, and their tasks are as before: that must be durable. */
static void play_conditions(struct player *player, uint64_t *random, struct deed *deed) {
    deed->status = selene_conditions_set(player->scheduler, BOTH,
                                         BOTH & (uint32_t)(chance(random) | chance(random)));
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
    } mix[] = {{200, DEED_REGISTER}, {40, DEED_BATCH},  {40, DEED_CANCEL}, {20, DEED_CANCEL_TAG},
               {4, DEED_CANCEL_ALL}, {110, DEED_BEGIN}, {230, DEED_NEXT},  {160, DEED_COMPLETE},
               {50, DEED_RETRY},     {40, DEED_END},    {50, DEED_WAIT},   {12, DEED_CONDITIONS},
               {10, DEED_PRUNE},     {4, DEED_RESET},   {10, DEED_BACKUP}, {10, DEED_PAUSE},
               {10, DEED_PAUSE_TAG}};
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
    if (player->character.large == 2 && index % 5 == 4) deed.kind = DEED_BATCH;
    cycle = play_some_cycle(player, &random);
    if ((deed.kind == DEED_COMPLETE || deed.kind == DEED_RETRY) && !player->flight_count)
        deed.kind = DEED_NEXT;
    if (player->character.large == 2 && index % PLAY_ROUND >= PLAY_ROUND - PLAY_CYCLES) {
        if (cycle < 0) deed.kind = DEED_NONE;
        else deed.kind = DEED_END;
    }
    if ((deed.kind == DEED_NEXT || deed.kind == DEED_END) && cycle < 0) deed.kind = DEED_BEGIN;
    if (deed.kind == DEED_RESET && cycle >= 0) deed.kind = DEED_END;
    switch ((enum deed_kind)deed.kind) {
    case DEED_REGISTER:
        play_register(player, &random, &deed);
        break;
    case DEED_BATCH:
        play_batch(player, &random, &deed);
        break;
    case DEED_CANCEL:
        snprintf(name, sizeof name, "t%d", (int)chance_below(&random, 15));
        deed.status = selene_task_cancel(player->scheduler, name, -1, &count);
        break;
    case DEED_CANCEL_TAG:
        deed.status =
            selene_task_cancel_tag(player->scheduler, tags[chance_below(&random, 3)], -1, &count);
        break;
    /* More often they go on, or nothing would run. */
    case DEED_PAUSE:
        snprintf(name, sizeof name, "t%d", (int)chance_below(&random, 15));
        deed.status = chance(&random) % 3 ? selene_task_resume(player->scheduler, name, -1, &count)
                                          : selene_task_pause(player->scheduler, name, -1, &count);
        deed.value = digest_of(0, (int64_t)count);
        deed.seals = deed.status == SELENE_OK && count > 0;
        break;
    case DEED_PAUSE_TAG: {
        const char *tag = tags[chance_below(&random, 3)];
        if (chance(&random) % 2) {
            (chance(&random) % 3 ? play_group : play_condition)(player, &random, tag, &deed);
            break;
        }
        deed.status = chance(&random) % 3
                          ? selene_task_resume_tag(player->scheduler, tag, -1, &count)
                          : selene_task_pause_tag(player->scheduler, tag, -1, &count);
        deed.value = digest_of(0, (int64_t)count);
        deed.seals = deed.status == SELENE_OK && count > 0;
        break;
    }
    case DEED_CANCEL_ALL:
        deed.status = selene_task_cancel_all(player->scheduler, &count);
        break;
    case DEED_BEGIN:
        play_begin(player, &random, &deed);
        break;
    case DEED_NEXT:
        play_next(player, cycle, &deed);
        break;
    case DEED_COMPLETE:
    case DEED_RETRY:
        play_complete(player, &random, &deed);
        break;
    case DEED_END:
        play_end(player, cycle, &deed);
        break;
    case DEED_WAIT:
        play_wait(player, &random, &deed);
        break;
    case DEED_CONDITIONS:
        play_conditions(player, &random, &deed);
        break;
    case DEED_PRUNE:
        deed.status = selene_scheduler_prune(player->scheduler, &count);
        break;
    case DEED_RESET:
        deed.status = selene_scheduler_reset(player->scheduler);
        deed.seals = deed.status == SELENE_OK;
        break;
    case DEED_BACKUP:
        play_backup(player, index, &deed);
        break;
    case DEED_NONE:
        break;
    }
    if (count) {
        deed.value = count;
        deed.seals = deed.status == SELENE_OK;
    }
    deed.clock = player->clock;
    return deed;
}

#endif /* STORE_PLAY_H */
