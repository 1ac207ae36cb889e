/*
 * store_twin.h - what must be left of a host that came to a sudden end
 *
 * Where its process ended, the store must hold what a twin of the host holds after some number of calls: all that are
 * durable by D2, and perhaps those begun after them. Runs in flight have become interrupted (D3); what that means is
 * worked out here from the rules, not asked of the library's own recovery.
 *
 * All instants of calls are whole milliseconds. In memory the end comes a nanosecond later, so that what is counted
 * from it is no instant that was there before.
 */
#ifndef STORE_TWIN_H
#define STORE_TWIN_H

#include "store_play.h"

#include <sqlite3.h>

/* ---- what a scheduler holds ------------------------------------------------ */

struct record {
    char id[64];
    uint64_t position;
    /** Digest of the texts. */
    uint64_t texts;
    /** How many of its runs their processes did not survive since its last outcome (V8), as the twin counts it. */
    uint32_t deaths;
    selene_task_info info;
    /** Where chance had a part in the delay: the earliest that its earliest begin may be, which is then the latest. Else
     *  equal to it. */
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
    record->texts = digest(record->texts, info->group.data, (size_t)info->group.length);
    for (uint32_t i = 0; i < info->tag_count; i++)
        record->texts = digest(record->texts, info->tags[i].data, (size_t)info->tags[i].length + 1);
    for (uint32_t i = 0; i < info->condition_count; i++)
        record->texts =
            digest(record->texts, info->conditions[i].data, (size_t)info->conditions[i].length + 1);
    for (uint32_t i = 0; i < info->after_count; i++)
        record->texts =
            digest(record->texts, info->after[i].data, (size_t)info->after[i].length + 1);
}

/** What the last success of the record that was added last left. */
static void records_add_output(struct records *records, selene_scheduler scheduler,
                               selene_text id) {
    struct record *record = &records->items[records->count - 1];
    selene_task_output *output = NULL;
    CHECK_OK(selene_task_get_output(scheduler, id.data, id.length, &output));
    record->texts = digest_of(record->texts, output->output.length);
    record->texts = digest(record->texts, output->output.data, (size_t)output->output.length);
    selene_free(output);
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
            CHECK_OK(
                selene_task_get(scheduler, ids->ids[i].data, ids->ids[i].length, position, &info));
            if (position == 0) last = info->appended;
            records_add(&out, info, position);
            if (position == 0) records_add_output(&out, scheduler, info->id);
            selene_free(info);
        }
    }
    selene_free(ids);
    return out;
}

static int record_is_over(const struct record *record) {
    int32_t state = record->info.state;
    return state == SELENE_STATE_SUCCEEDED || state == SELENE_STATE_FAILED ||
           state == SELENE_STATE_CANCELLED;
}

static const struct record *records_find(const struct records *records, uint64_t sequence) {
    for (size_t i = 0; i < records->count; i++)
        if (records->items[i].info.sequence == sequence) return &records->items[i];
    return NULL;
}

static char play_problem[4096];

#define PLAY_FIELD(field)                                                                          \
    if ((int64_t)expected->info.field != (int64_t)got->info.field) {                               \
        snprintf(play_problem, sizeof play_problem,                                                \
                 "%s at %" PRIu64 ": %s should be %" PRId64 ", is %" PRId64, got->id,              \
                 got->position, #field, (int64_t)expected->info.field, (int64_t)got->info.field);  \
        return play_problem;                                                                       \
    }

static const char *record_difference(const struct record *expected, const struct record *got) {
    if (strcmp(expected->id, got->id) != 0 || expected->position != got->position) {
        snprintf(play_problem, sizeof play_problem,
                 "should be %s at %" PRIu64 ", is %s at %" PRIu64, expected->id, expected->position,
                 got->id, got->position);
        return play_problem;
    }
    PLAY_FIELD(sequence)
    PLAY_FIELD(state)
    PLAY_FIELD(attempts)
    PLAY_FIELD(generation)
    PLAY_FIELD(last_outcome)
    PLAY_FIELD(stop_reason)
    PLAY_FIELD(failed_at)
    PLAY_FIELD(failed_attempt)
    PLAY_FIELD(paused)
    PLAY_FIELD(quarantined)
    PLAY_FIELD(after_count)
    PLAY_FIELD(waits_for)
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
    PLAY_FIELD(latest_begin)
    PLAY_FIELD(jitter)
    PLAY_FIELD(flags)
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
        snprintf(play_problem, sizeof play_problem,
                 "%s at %" PRIu64 ": handler, tags or input are other ones", got->id,
                 got->position);
        return play_problem;
    }
    return NULL;
}

/** The first difference, or NULL. */
CHECK_UNUSED static const char *records_difference(const struct records *expected,
                                                   const struct records *got) {
    for (size_t i = 0; i < expected->count && i < got->count; i++) {
        const char *difference = record_difference(&expected->items[i], &got->items[i]);
        if (difference) return difference;
    }
    if (expected->count == got->count) return NULL;
    snprintf(play_problem, sizeof play_problem,
             "should be %zu records, are %zu; the first other one is %s", expected->count,
             got->count,
             expected->count > got->count ? expected->items[got->count].id
                                          : got->items[expected->count].id);
    return play_problem;
}

/* ---- the end of a process (D3, V7, V8) -------------------------------------- */

/** Of which tasks how many runs in a row have ended with their process (V8). */
struct deaths {
    size_t count;
    struct {
        uint64_t sequence;
        uint32_t deaths;
    } of[128];
};

/** Of a task that a life began with. */
static uint32_t deaths_of(const struct deaths *deaths, const selene_task_info *info) {
    if (!info->quarantined) return 0;
    for (size_t i = 0; deaths && i < deaths->count; i++)
        if (deaths->of[i].sequence == info->sequence) return deaths->of[i].deaths;
    // Nobody counted: one host lived before.
    return 1;
}

static void deaths_note(struct deaths *deaths, const struct record *record) {
    if (!record->info.quarantined) return;
    CHECK(deaths->count < sizeof deaths->of / sizeof deaths->of[0]);
    deaths->of[deaths->count].sequence = record->info.sequence;
    deaths->of[deaths->count++].deaths = record->deaths;
}

/** a · b, at most limit. */
static int64_t play_times(int64_t a, int64_t b, int64_t limit) {
    return a && b > limit / a ? limit : a * b;
}

/** Delay of attempt n, C10; and the pause after so many deaths but the first, V8. */
static int64_t play_delay(int32_t backoff, int64_t base, uint32_t attempt) {
    const int64_t most = 5 * SELENE_HOUR;
    if (backoff == SELENE_BACKOFF_NONE || !base) return 0;
    if (backoff == SELENE_BACKOFF_LINEAR) return play_times(base, attempt, most);
    if (attempt > 40) return most;
    return play_times(base, INT64_C(1) << (attempt - 1), most);
}

/**
 * Lets time go on to the opening, where those fail that were not begun by their latest begin (W9).
 *
 * @param ended  what was held at the end
 * @param found  and what of it is found at the opening; afterwards of what is held then
 */
static void play_opening(struct player *player, int64_t opened_at, const struct records *ended,
                         struct records *found) {
    struct records later;
    int64_t now = 0;
    player->clock = opened_at;
    CHECK_OK(selene_scheduler_next_wakeup(player->scheduler, &now, NULL));
    later = records_of(player->scheduler);
    for (size_t i = 0; i < later.count; i++) {
        struct record *record = &later.items[i];
        const struct record *was = records_find(ended, record->info.sequence);
        struct record to = *records_find(found, record->info.sequence);
        to.position = record->position;
        // What was left is the first one's.
        to.texts = record->texts;
        memcpy(to.id, record->id, sizeof to.id);
#define PLAY_CHANGE(field)                                                                         \
    if (record->info.field != was->info.field) to.info.field = record->info.field;
        PLAY_CHANGE(state)
        PLAY_CHANGE(stop_reason)
        PLAY_CHANGE(failed_at)
        PLAY_CHANGE(failed_attempt)
        PLAY_CHANGE(attempts)
        PLAY_CHANGE(waits_for)
        PLAY_CHANGE(appended)
        PLAY_CHANGE(paused)
        PLAY_CHANGE(registered_at)
        PLAY_CHANGE(last_run)
        PLAY_CHANGE(earliest_begin)
#undef PLAY_CHANGE
        *record = to;
    }
    records_free(found);
    *found = later;
}

/** By how much jitter may move a begin (W11). */
static int64_t play_jitter(const selene_task_info *info) {
    const int64_t wait =
        info->schedule == SELENE_SCHEDULE_PERIODIC ? info->period : info->initial_delay;
    return wait / 1000 * info->jitter + wait % 1000 * info->jitter / 1000;
}

/**
 * What must be found of a scheduler in memory whose process ends now, when its store is opened at an instant.
 *
 * The scheduler is of no use for the host afterwards.
 *
 * @param deaths  of the tasks that it began with; NULL: none
 * @param got     what is found
 */
CHECK_UNUSED static struct records after_the_end(struct player *player, int64_t opened_at,
                                                 const struct deaths *deaths,
                                                 const struct records *got) {
    struct records before = records_of(player->scheduler), after, ended, kept = {NULL, 0, 0};
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle = 0;
    int64_t end = player->clock + 1;
    // Whether a task with a latest begin is tried again depends on the instant of that.
    const int64_t late = opened_at > end ? opened_at - end : 0;
    selene_task_ids *left = NULL;
    int running = 0;
    player->clock = end;
    for (size_t i = 0; i < before.count; i++) {
        before.items[i].deaths = deaths_of(deaths, &before.items[i].info);
        running += before.items[i].info.state == SELENE_STATE_RUNNING;
    }
    // To blame is what was alone, or quarantined before: that fails. Of several others each is stopped, and as before its run.
    for (size_t i = 0; i < before.count; i++) {
        const selene_task_info *info = &before.items[i].info;
        int64_t own = 0, pause = 0;
        if (info->state != SELENE_STATE_RUNNING || (running > 1 && !info->quarantined)) continue;
        if (before.items[i].deaths > 0) {
            own = play_delay(info->backoff, info->backoff_delay, info->attempts);
            pause = play_delay(SELENE_BACKOFF_EXPONENTIAL, 30 * S, before.items[i].deaths);
        }
        if (pause < own) pause = own;
        CHECK_OK(selene_run_retry(info->run, pause + (info->latest_begin ? late : 0)));
    }
    for (int i = 0; i < PLAY_CYCLES; i++) {
        if (player->cycles[i]) (void)selene_cycle_end(player->cycles[i], NULL);
        player->cycles[i] = 0;
    }
    after = records_of(player->scheduler);
    ended = records_of(player->scheduler);
    for (size_t i = 0; i < after.count; i++) {
        selene_task_info *info = &after.items[i].info;
        const struct record *old = records_find(&before, info->sequence);
        int was_running, is_blamed;
        int64_t *instants[] = {&info->registered_at, &info->earliest_begin, &info->last_run,
                               &info->failed_at};
        int64_t due = info->earliest_begin;
        int is_backing_off;
        CHECK(old != NULL);
        was_running = old->info.state == SELENE_STATE_RUNNING;
        is_blamed = was_running && (running == 1 || old->info.quarantined);
        is_backing_off = is_blamed && info->state == SELENE_STATE_ENQUEUED && info->attempts > 0;
        after.items[i].deaths = old->deaths + (uint32_t)was_running;
        if (was_running) {
            info->quarantined = is_blamed ? SELENE_SUSPICION_BLAMED : SELENE_SUSPICION_QUARANTINED;
            if (info->stop_reason != SELENE_STOP_TOO_LATE)
                info->stop_reason = SELENE_STOP_INTERRUPTED;
        }
        if (is_blamed) {
            // The attempt failed without a response time.
            info->last_outcome = SELENE_OUTCOME_FAILED;
            info->response_time_count = old->info.response_time_count;
            memcpy(info->response_times, old->info.response_times, sizeof info->response_times);
            info->estimate = old->info.estimate;
        }
        for (size_t k = 0; k < sizeof instants / sizeof instants[0]; k++) {
            const int64_t was[] = {old->info.registered_at, old->info.earliest_begin,
                                   old->info.last_run, old->info.failed_at};
            if (*instants[k] != was[k]) *instants[k] += opened_at - end;
        }
        if (is_blamed && info->latest_begin && info->earliest_begin != old->info.earliest_begin)
            info->earliest_begin -= late;
        // The grid of an anchored period: its first instant after the opening.
        if (is_blamed && info->schedule == SELENE_SCHEDULE_PERIODIC && !is_backing_off &&
            info->recurrence == SELENE_RECURRENCE_ANCHORED) {
            int64_t ahead = (info->jitter ? info->anchor : due) - opened_at;
            if (ahead <= 0) ahead = info->period - -ahead % info->period;
            else if (opened_at < end) ahead = (ahead - 1) % info->period + 1;
            info->earliest_begin = opened_at + ahead;
            // Nothing of the grid is before its anchor.
            if (opened_at < info->anchor) info->earliest_begin = info->anchor;
        }
        after.items[i].least_begin = info->earliest_begin;
        if (is_backing_off) {
            int64_t own = 0, pause = 0, least;
            if (old->deaths > 0) {
                own = play_delay(info->backoff, info->backoff_delay, info->attempts);
                pause = play_delay(SELENE_BACKOFF_EXPONENTIAL, 30 * S, old->deaths);
            }
            least = own - own / 1000 * play_options(player->character).backoff_jitter;
            after.items[i].least_begin = opened_at + (least > pause ? least : pause);
        }
    }
    if (late) play_opening(player, opened_at, &ended, &after);
    records_free(&ended);
    for (size_t i = 0; i < after.count; i++) {
        selene_task_info *info = &after.items[i].info;
        const struct record *old = records_find(&before, info->sequence);
        if (info->earliest_begin == old->info.earliest_begin || info->attempts > 0 || !info->jitter)
            continue;
        after.items[i].least_begin = info->earliest_begin;
        if (info->recurrence != SELENE_RECURRENCE_ANCHORED ||
            info->schedule != SELENE_SCHEDULE_PERIODIC)
            after.items[i].least_begin -= play_jitter(info);
        info->earliest_begin += play_jitter(info);
    }
    // What ended long ago goes at the opening, as it does at a begin (T9). If the time of the end is forgotten, that
    // cannot be tried: then what has ended may be gone or not.
    if (opened_at < end) {
        for (size_t i = 0; i < after.count; i++) {
            if (!record_is_over(&after.items[i]) || records_find(got, after.items[i].info.sequence))
                *records_grow(&kept) = after.items[i];
        }
    } else {
        player->clock = opened_at;
        window.kinds = SELENE_KIND_PROCESSING;
        CHECK_OK(selene_cycle_begin(player->scheduler, &window, &cycle));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_task_list(player->scheduler, NULL, 0, &left));
        for (size_t i = 0; i < after.count; i++) {
            // What the opening itself ends has not ended long ago, however long nobody opened it.
            int is_left = record_is_over(&after.items[i]) &&
                          !record_is_over(records_find(&before, after.items[i].info.sequence));
            for (uint64_t k = 0; k < left->count; k++)
                is_left |= strcmp(left->ids[k].data, after.items[i].id) == 0;
            if (is_left) *records_grow(&kept) = after.items[i];
        }
        selene_free(left);
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
    /** Of the tasks in it; NULL: nobody has counted. */
    const struct deaths *deaths;
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
CHECK_UNUSED static const char *replay(const struct life *life, uint64_t count,
                                       struct player *out) {
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
            snprintf(
                play_problem, sizeof play_problem,
                "call %" PRIu64 " (%s) answered %s, %016" PRIx64 "; its twin (%s) %s, %016" PRIx64,
                i, deed_names[life->deeds[i].kind],
                selene_name(SELENE_NAMES_STATUS, life->deeds[i].status), life->deeds[i].value,
                deed_names[deed.kind], selene_name(SELENE_NAMES_STATUS, deed.status), deed.value);
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

/**
 * Whether an expedited task waits: a begin that is too early is not refused then as long as something of the quota is left,
 * and how much of it a run used that its process left open is only known to the last commit (W10).
 */
static int expects_expedited(selene_scheduler scheduler) {
    struct records records = records_of(scheduler);
    int found = 0;
    for (size_t i = 0; i < records.count; i++)
        found |= records.items[i].info.state == SELENE_STATE_ENQUEUED &&
                 (records.items[i].info.flags & SELENE_TASK_EXPEDITED) != 0;
    records_free(&records);
    return found;
}

/** Tries what cannot be read from the records: last begins, last sequence. */
CHECK_UNUSED static struct finding look_behind(selene_scheduler scheduler) {
    struct finding out;
    selene_window window = SELENE_INIT(selene_window);
    selene_task task = task_of("probe");
    selene_task_info *info = NULL;
    selene_cycle cycle = 0;
    task.existing = SELENE_EXISTING_REPLACE;
    if (expects_expedited(scheduler)) window.kinds = SELENE_KIND_PROCESSING;
    out.begins = selene_cycle_begin(scheduler, &window, &cycle);
    if (cycle) CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_task_get(scheduler, "probe", -1, 0, &info));
    out.next_sequence = info->sequence;
    selene_free(info);
    return out;
}

/** What the twin that was compared last has counted. */
static struct deaths play_deaths;

/**
 * Compares what a life has left with what is left of its twin after so many calls.
 *
 * @param out_is_other  whether they answered otherwise, which no other number of calls explains
 * @return NULL, or the first difference
 */
static const char *life_difference(const struct life *life, uint64_t count, int64_t opened_at,
                                   const struct records *got, struct finding behind,
                                   int *out_is_other) {
    struct player player;
    struct records expected;
    struct finding found;
    const char *problem = replay(life, count, &player);
    *out_is_other = problem != NULL;
    if (problem) {
        replay_end(life, &player);
        return problem;
    }
    expected = after_the_end(&player, opened_at, life->deaths, got);
    problem = records_difference(&expected, got);
    play_deaths.count = 0;
    for (size_t i = 0; i < expected.count; i++)
        deaths_note(&play_deaths, &expected.items[i]);
    records_free(&expected);
    found = look_behind(player.scheduler);
    replay_end(life, &player);
    // A time that is forgotten makes begins too soon.
    if (player.clock > opened_at) found.begins = behind.begins;
    if (!problem &&
        (found.begins != behind.begins || found.next_sequence != behind.next_sequence)) {
        snprintf(play_problem, sizeof play_problem,
                 "begin should answer %s, answers %s; the next sequence should be %" PRIu64
                 ", is %" PRIu64,
                 selene_name(SELENE_NAMES_STATUS, found.begins),
                 selene_name(SELENE_NAMES_STATUS, behind.begins), found.next_sequence,
                 behind.next_sequence);
        problem = play_problem;
    }
    return problem;
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
CHECK_UNUSED static const char *life_find(const struct life *life, uint64_t least, uint64_t most,
                                          int64_t opened_at, const struct records *got,
                                          struct finding behind, uint64_t *out_count) {
    static char first[8192];
    snprintf(first, sizeof first,
             "%" PRIu64 " calls were answered, %" PRIu64 " begun, %" PRIu64
             " must be in it (of a last %s)",
             life->answered, life->begun, least,
             life->answered ? deed_names[life->deeds[life->answered - 1].kind] : "open");
    for (uint64_t count = most + 1; count-- > least;) {
        int is_other;
        const char *problem = life_difference(life, count, opened_at, got, behind, &is_other);
        if (problem && is_other) return problem;
        // It ended before what its opening did was stored, and whoever looks is the first to find tasks that are too late.
        if (problem && count == 0 && (!life->number || opened_at < life->clock)) {
            struct life unopened = *life;
            unopened.clock = opened_at;
            problem = life_difference(&unopened, 0, opened_at, got, behind, &is_other);
        }
        if (!problem) {
            *out_count = count;
            return NULL;
        }
        if (getenv("SELENE_TEST_CALLS") || most - count < 8 || count == least) {
            size_t at = strlen(first);
            snprintf(first + at, sizeof first - at, "\n  if %" PRIu64 " calls are in it: %s", count,
                     problem);
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
CHECK_UNUSED static const char *life_open(const struct life *life, const char *file, uint64_t least,
                                          int64_t clock, struct player *player, uint64_t *out_count,
                                          int64_t *out_opened_at) {
    static char problem[sizeof play_problem + 512];
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    struct records got;
    struct finding behind;
    const char *wrong;
    int64_t now = 0;
    selene_status status;
    player->scheduler = 0;
    if (exists(file) && (status = selene_store_check(file, -1, &findings)) != SELENE_OK) {
        snprintf(problem, sizeof problem, "check: %s: %s", selene_name(SELENE_NAMES_STATUS, status),
                 selene_error_last()->message.data);
        return problem;
    }
    if (!exists(file) && (life->number || life->base)) return "the store is gone";
    if ((status = player_open(player, life->character, file, clock)) != SELENE_OK) {
        snprintf(problem, sizeof problem, "open: %s: %s", selene_name(SELENE_NAMES_STATUS, status),
                 selene_error_last()->message.data);
        return problem;
    }
    CHECK_OK(selene_scheduler_get(player->scheduler, &info));
    CHECK_OK(selene_scheduler_now(player->scheduler, &now));
    *out_opened_at = now;
    got = records_of(player->scheduler);
    behind = look_behind(player->scheduler);
    wrong = info.life > life->number ? NULL : "the number of its life is not greater";
    if (!wrong)
        wrong = life_find(life, least, life->begun > life->answered ? life->begun : life->answered,
                          now, &got, behind, out_count);
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
            problem = life_open(&then, name, i, i ? life->deeds[i - 1].clock : life->clock, &player,
                                &count, &opened_at);
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
    CHECK_INT(SQLITE_OK,
              sqlite3_open_v2(name, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL));
    CHECK_INT(SQLITE_OK, sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &rows, NULL));
    CHECK_INT(SQLITE_ROW, sqlite3_step(rows));
    CHECK_STRING("ok", (const char *)sqlite3_column_text(rows, 0));
    sqlite3_finalize(rows);
    sqlite3_close(database);
}

#endif /* STORE_TWIN_H */
