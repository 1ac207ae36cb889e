/*
 * store_fault.c - every write, sync, open, cut and read of a store fails once, or from some moment on (D2, D4)
 *
 * A host plays on a store above store_shim, and beside it a twin on a file that never fails. A call that the store
 * refuses is not made on the twin: after each call both must hold the same. Later the fault is over, and the host goes
 * on. In the end its process ends, or it closes; what the store holds then must be what the twin holds, or, after a
 * failed sync, what it held before or after the call that was told OUTCOME_UNKNOWN.
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_ROUNDS, about how many faults of each sort (120);
 * SELENE_TEST_SEED; SELENE_TEST_CALLS, prints the calls of a case that failed.
 */
#include "store_twin.h"

#include <dlfcn.h>
#include <sys/mman.h>

#define MOST_CALLS (2 * PLAY_ROUND)
#define MOST_FAILURES 8
/** Seconds after which a case hangs. */
#define CASE_ALARM 300

static uint64_t first_seed;
static int (*shim)(const char *words);
static uint64_t (*shim_count)(const char *what);

/** What a store is before the faults begin. */
struct start {
    struct life life;
    /** The files of a host that was ended in its work; empty: there are none. */
    char left[PATH + 64];
    char base[PATH + 64];
    /** How many calls the host makes. */
    uint64_t calls;
    /** How many calls of the system there are until it closes, and until it has closed. */
    uint64_t counted, closed;
};

struct fault {
    const char *kind;
    uint64_t number;
    const char *error;
    int forever;
    /** It comes while the host closes, or not at all. */
    int in_close;
};

/** What all cases together saw. */
struct tally {
    uint64_t cases, calls, refused, opens_refused, unknown, silent, in_close;
    /** Of the last case: calls of the kind until the host closed, and until it had closed. */
    uint64_t counted, closed;
};
static struct tally *tally;

static char disk[PATH + 64], after[PATH + 64], twins[PATH + 64], twin_file[PATH + 128];

static void remove_folder(const char *name) {
    if (exists(name)) nftw(name, tools_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/** Copies the files of a store, in a process of its own: closing a file ends the locks on it. */
static void copy_store(const char *from, const char *to) {
    pid_t child = fork();
    int status = 0;
    CHECK(child >= 0);
    if (child == 0) {
        char file[2][PATH + 128];
        static const char *const names[] = {"store", "store-wal"};
        for (int i = 0; i < 2; i++) {
            snprintf(file[0], sizeof file[0], "%s/%s", from, names[i]);
            snprintf(file[1], sizeof file[1], "%s/%s", to, names[i]);
            if (exists(file[0])) copy_file(file[0], file[1]);
        }
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
}

static const char *in(const char *folder, const char *name) {
    static char out[4][PATH + 128];
    static unsigned next;
    snprintf(out[next % 4], sizeof out[0], "%s/%s", folder, name);
    return out[next++ % 4];
}

static int is_store_status(selene_status status) {
    return status >= SELENE_ERROR_STORE_CANNOT_OPEN && status <= SELENE_ERROR_OUTCOME_UNKNOWN;
}

/** Whether a fault may be answered so. */
static int is_right(const struct fault *fault, selene_status status, int may_be_plain) {
    int no_room = strcmp(fault->error, "ENOSPC") == 0;
    selene_status plain = no_room ? SELENE_ERROR_STORE_FULL : SELENE_ERROR_STORE_IO;
    if (strcmp(fault->kind, "sync") == 0)
        return status == SELENE_ERROR_OUTCOME_UNKNOWN ||
               (may_be_plain && (status == plain || status == SELENE_ERROR_STORE_IO));
    // The folder may be what cannot be opened, so that it cannot be synced.
    if (strcmp(fault->kind, "open") == 0)
        return status == plain || status == SELENE_ERROR_STORE_CANNOT_OPEN ||
               (may_be_plain && status == SELENE_ERROR_OUTCOME_UNKNOWN);
    // SQLite does not say why it could not cut a file.
    if (strcmp(fault->kind, "truncate") == 0)
        return status == plain || status == SELENE_ERROR_STORE_IO;
    // A file that cannot be read is taken for damaged by SQLite.
    if (strcmp(fault->kind, "read") == 0)
        return status == plain || status == SELENE_ERROR_STORE_CORRUPT;
    return status == plain;
}

static void check_right(const struct fault *fault, selene_status status, const char *call,
                        int may_be_plain) {
    static const char *const words[] = {"full", "No space left", "I/O", "Input/output", "reopen"};
    const char *detail = selene_error_last()->message.data;
    int first = status == SELENE_ERROR_STORE_FULL ? 0 : status == SELENE_ERROR_STORE_IO ? 2 : 4;
    int is_told = (status != SELENE_ERROR_STORE_FULL && status != SELENE_ERROR_STORE_IO &&
                   status != SELENE_ERROR_OUTCOME_UNKNOWN) ||
                  strstr(detail, words[first]) || (first < 4 && strstr(detail, words[first + 1]));
    if (is_right(fault, status, may_be_plain) && is_told && strstr(detail, disk)) return;
    fprintf(stderr, "%s answered %s: %s\n", call, selene_name(SELENE_NAMES_STATUS, status),
            selene_error_last()->message.data);
    check_fail();
}

static void print_calls(const struct life *life) {
    if (!getenv("SELENE_TEST_CALLS")) return;
    for (uint64_t i = 0; i < life->answered; i++)
        fprintf(stderr, "  %" PRIu64 " %s: %s, at %" PRId64 " ms\n", i,
                deed_names[life->deeds[i].kind],
                selene_name(SELENE_NAMES_STATUS, life->deeds[i].status),
                (life->deeds[i].clock - START) / MS);
}

/** While a store refuses nothing is to begin at once, and it is said when it is tried again (C19): within a second. */
static int is_later(const struct player *player, const struct deed *deed,
                    const struct deed *of_twin) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    int64_t now = 0, at = (int64_t)deed->value;
    CHECK_OK(selene_scheduler_get(player->scheduler, &info));
    CHECK_OK(selene_scheduler_now(player->scheduler, &now));
    return (info.troubles & SELENE_TROUBLE_STORE) != 0 && (int64_t)of_twin->value < at &&
           at > now && at <= now + S;
}

/** Who is too late while a store refuses has failed with its next commit, and so has who comes after; the twin's have
 *  already. */
static int is_behind(const struct player *player, const struct life *life) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    if (!life->character.hurried) return 0;
    CHECK_OK(selene_scheduler_get(player->scheduler, &info));
    return (info.troubles & SELENE_TROUBLE_STORE) != 0;
}

/** Both must hold the same. */
static void check_same(const struct player *twin, const struct player *player,
                       const struct life *life) {
    const struct deed *deed = &life->deeds[life->answered - 1];
    struct records expected = records_of(twin->scheduler), got = records_of(player->scheduler);
    const char *difference = records_difference(&expected, &got);
    if (difference) {
        fprintf(stderr, "after call %" PRIu64 " (%s, %s): %s\n", life->answered - 1,
                deed_names[deed->kind], selene_name(SELENE_NAMES_STATUS, deed->status), difference);
        print_calls(life);
        check_fail();
    }
    records_free(&expected);
    records_free(&got);
}

/** Opens the store while a fault may come. Answers how often that was refused. */
static uint64_t open_under(const struct fault *fault, const struct start *start,
                           struct player *player) {
    struct character character = start->life.character;
    for (uint64_t attempt = 0;; attempt++) {
        selene_status status = player_open(player, character, in(disk, "store"), start->life.clock);
        if (!status) return attempt;
        check_right(fault, status, "open", 1);
        tally->opens_refused++;
        if (attempt == 1 || !fault->forever) CHECK_INT(0, shim("plain"));
        CHECK(attempt < 3);
    }
}

/** After a failed sync nothing can be changed, and everything can be read. */
static void check_useless(struct player *player) {
    selene_task task = task_of("t1");
    selene_cycle cycle = 0;
    struct records records;
    task.existing = SELENE_EXISTING_REPLACE;
    CHECK_STATUS(SELENE_ERROR_OUTCOME_UNKNOWN,
                 selene_task_register(player->scheduler, &task, NULL));
    CHECK_STATUS(SELENE_ERROR_OUTCOME_UNKNOWN,
                 selene_scheduler_reset(player->scheduler) == SELENE_ERROR_BUSY
                     ? SELENE_ERROR_OUTCOME_UNKNOWN
                     : selene_scheduler_reset(player->scheduler));
    (void)selene_cycle_begin(player->scheduler, NULL, &cycle);
    records = records_of(player->scheduler);
    records_free(&records);
}

/** A fault that never came tests nothing. */
static void check_fired(const struct fault *fault) {
    if (fault->number == 0 || shim_count("fired") > 0) return;
    fprintf(stderr, "the fault did not come: there were %" PRIu64 " calls\n",
            shim_count(fault->kind));
    check_fail();
}

/** What closing answered OK to is what the twin holds. Else it is what it was before closing, or that, too, when only the
 *  last commit of closing failed. */
static void check_after_close(selene_status status, const struct life *life, struct player *twin,
                              struct character of_twin, int64_t clock) {
    static struct player late;
    uint64_t count = 0;
    int64_t opened_at = 0;
    if (status) {
        const char *problem;
        copy_store(disk, after);
        problem = life_open(life, in(after, "store"), life_sealed(life), clock + S, &late, &count,
                            &opened_at);
        if (late.scheduler) CHECK_OK(selene_scheduler_close(late.scheduler, 0));
        late.scheduler = 0;
        if (!problem) return;
    }
    CHECK_OK(player_open(&late, life->character, in(disk, "store"), clock));
    CHECK_OK(player_open(twin, of_twin, twin_file, clock));
    check_same(twin, &late, life);
    CHECK_OK(selene_scheduler_close(twin->scheduler, 0));
    CHECK_OK(selene_scheduler_close(late.scheduler, 0));
}

/** One fault, from the opening to the end. Fails the process if something is wrong. */
static void play_case(const struct start *start, const struct fault *fault, uint64_t seed) {
    static struct player player, twin, late;
    static unsigned char refused[MOST_CALLS];
    struct life life = start->life;
    struct character of_twin = life.character;
    uint64_t count = 0, refusals = 0;
    int64_t opened_at = 0;
    int is_unknown = 0, was_refused = 0, is_sync = strcmp(fault->kind, "sync") == 0;
    char words[PATH + 256];
    const char *problem;

    snprintf(words, sizeof words, "folder=%s seed=%" PRIu64 " fault=%s,%" PRIu64 ",%s,%s", disk,
             seed, fault->kind, fault->number, fault->error, fault->forever ? "on" : "once");
    if (*start->left) copy_store(start->left, disk);
    CHECK_INT(0, shim(words));
    life.refused = refused;
    life.deeds = NULL;
    life.answered = life.begun = life.room = 0;
    refusals = open_under(fault, start, &player);
    player.backups = disk;
    if (life.base) copy_file(life.base, twin_file);
    of_twin.relaxed = 1;
    CHECK_OK(player_open(&twin, of_twin, twin_file, life.clock));

    for (uint64_t i = 0; i < start->calls; i++) {
        struct deed deed = play(&player, i), other;
        tally->calls++;
        life.begun = i + 1;
        if (is_store_status(deed.status)) {
            check_right(fault, deed.status, deed_names[deed.kind], deed.kind == DEED_BACKUP);
            is_unknown = deed.status == SELENE_ERROR_OUTCOME_UNKNOWN;
            if (is_unknown) break;
            deed.seals = 0;
            refused[i] = 1;
            tally->refused++;
            twin.clock = player.clock;
            life_add(&life, deed);
            if (!is_behind(&player, &life)) check_same(&twin, &player, &life);
            was_refused = 1;
            if (++refusals >= 6) CHECK_INT(0, shim("plain"));
            continue;
        }
        other = play(&twin, i);
        if (deed.kind == DEED_WAIT &&
            (is_later(&player, &deed, &other) || is_behind(&player, &life)))
            deed.value = other.value;
        if (deed.kind != DEED_BACKUP &&
            (deed.kind != other.kind || deed.status != other.status || deed.value != other.value)) {
            fprintf(stderr,
                    "call %" PRIu64 " (%s) answered %s, %016" PRIx64
                    "; its twin (%s) %s, %016" PRIx64 "\n",
                    i, deed_names[deed.kind], selene_name(SELENE_NAMES_STATUS, deed.status),
                    deed.value, deed_names[other.kind],
                    selene_name(SELENE_NAMES_STATUS, other.status), other.value);
            print_calls(&life);
            check_fail();
        }
        if (deed.is_not_stored) deed.seals = 0;
        life_add(&life, deed);
        // Comparing costs more than calling.
        if ((was_refused || i % 8 == 0 || i == start->calls - 1) && !is_behind(&player, &life))
            check_same(&twin, &player, &life);
        was_refused = 0;
    }
    tally->unknown += (uint64_t)is_unknown;
    if (is_unknown) check_useless(&player);
    else if (is_sync && shim_count("sync") >= fault->number && !refusals) tally->silent++;

    tally->counted = shim_count(fault->kind);
    if (fault->in_close) {
        // It closes under the fault: what it answers OK to is there, and what was answered before in any case.
        selene_status status = selene_scheduler_close(player.scheduler, 0);
        tally->closed = shim_count(fault->kind);
        check_fired(fault);
        CHECK_INT(0, shim("plain"));
        CHECK_OK(selene_scheduler_close(twin.scheduler, 0));
        if (status) check_right(fault, status, "close", 1);
        check_after_close(status, &life, &twin, of_twin, player.clock);
        free(life.deeds);
        return;
    }
    check_fired(fault);
    if (!is_unknown && seed % 2) {
        // It closes: the same again.
        CHECK_INT(0, shim("plain"));
        selene_status status = selene_scheduler_close(player.scheduler, 0);
        CHECK_OK(selene_scheduler_close(twin.scheduler, 0));
        // Of a sync that failed behind the last commit nobody has heard yet.
        if (!is_sync || status != SELENE_ERROR_OUTCOME_UNKNOWN) CHECK_OK(status);
        CHECK(status || !exists(in(disk, "store-wal")));
        check_after_close(status, &life, &twin, of_twin, player.clock);
        problem = check_copies(&life, disk);
    } else {
        // Its process ends; after a failed sync the machine, too.
        snprintf(words, sizeof words, "image=%s", after);
        if (is_sync) CHECK_INT(0, shim(words));
        CHECK_INT(0, shim("plain"));
        if (!is_sync) copy_store(disk, after);
        CHECK_OK(selene_scheduler_close(twin.scheduler, 0));
        problem = life_open(&life, in(after, "store"), life_sealed(&life), player.clock + S, &late,
                            &count, &opened_at);
        if (late.scheduler) CHECK_OK(selene_scheduler_close(late.scheduler, 0));
        if (!problem) problem = check_copies(&life, is_sync ? after : disk);
        if (!problem) check_integrity(in(after, "store"));
        // And the one that failed can be closed, and opened again.
        if (!problem) {
            selene_status status = selene_scheduler_close(player.scheduler, 0);
            is_unknown |= is_sync && status == SELENE_ERROR_OUTCOME_UNKNOWN;
            if (!is_unknown) CHECK_OK(status);
            if (is_unknown) {
                problem = life_open(&life, in(disk, "store"), life_sealed(&life), player.clock + S,
                                    &late, &count, &opened_at);
                if (late.scheduler) CHECK_OK(selene_scheduler_close(late.scheduler, 0));
            }
        }
    }
    if (problem) {
        fprintf(stderr, "%s\n", problem);
        print_calls(&life);
        check_fail();
    }
    free(life.deeds);
}

/** Makes what stores are before the faults begin: nothing, or what a host left that was ended. */
static void prepare(struct start *start, uint64_t seed, int left, int large, uint64_t calls) {
    static struct player player;
    uint64_t random = seed;
    memset(start, 0, sizeof *start);
    new_folder();
    snprintf(disk, sizeof disk, "%s/disk", tools_folder);
    snprintf(after, sizeof after, "%s/after", tools_folder);
    snprintf(twins, sizeof twins, "%s/twins", tools_folder);
    snprintf(twin_file, sizeof twin_file, "%s/twin", twins);
    start->life.character.seed = chance(&random);
    start->life.character.script = chance(&random);
    start->life.character.patient = 1;
    start->life.character.hurried = (int)(seed >> 5 & 1);
    start->life.character.large = large;
    start->calls = calls;
    start->life.clock = START;
    if (!left) return;
    snprintf(start->left, sizeof start->left, "%s/left", tools_folder);
    snprintf(start->base, sizeof start->base, "%s/base", tools_folder);
    CHECK(mkdir(start->left, 0755) == 0);
    for (int end = 0; end < 2; end++) {
        // First a host that is ended in its work; then one that opens a copy of that, and closes: the base of twins.
        pid_t child = fork();
        int status = 0;
        CHECK(child >= 0);
        if (child == 0) {
            struct character character = start->life.character;
            if (end == 0) {
                character.script = chance(&random);
                CHECK_OK(player_open(&player, character, in(start->left, "store"), START));
                for (uint64_t i = 0; i < 80; i++)
                    (void)play(&player, i);
                write_bytes(in(tools_folder, "clock"), &player.clock, sizeof player.clock);
            } else {
                CHECK_OK(player_open(&player, character, in(after, "store"), start->life.clock));
                CHECK_OK(selene_scheduler_close(player.scheduler, 0));
            }
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_INT(0, status);
        if (end == 0) {
            struct bytes clock = read_bytes(in(tools_folder, "clock"));
            memcpy(&start->life.clock, clock.data, sizeof start->life.clock);
            free(clock.data);
            CHECK(mkdir(after, 0755) == 0);
            copy_store(start->left, after);
        }
    }
    copy_file(in(after, "store"), start->base);
    start->life.base = start->base;
}

static void new_folders(void) {
    const char *const names[] = {disk, after, twins};
    for (int i = 0; i < 3; i++) {
        remove_folder(names[i]);
        CHECK(mkdir(names[i], 0755) == 0);
    }
}

/** Runs one case in a process of its own; whether it passed. */
static int run_case(const struct start *start, const struct fault *fault, uint64_t seed) {
    int status = 0;
    pid_t child;
    new_folders();
    fflush(stdout);
    fflush(stderr);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(CASE_ALARM);
        play_case(start, fault, seed);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    tally->cases++;
    if (status == 0) return 1;
    fprintf(stderr,
            "%s: %s %" PRIu64 " fails with %s, %s (seed %" PRIu64 ", case %" PRIu64 "): %s %d\n",
            *start->left ? "left" : "new", fault->kind, fault->number, fault->error,
            fault->forever ? "for ever" : "once", first_seed, seed,
            WIFSIGNALED(status) ? "ended by signal" : "see above",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return 0;
}

/** How often such a call happens in a whole case without a fault, until it closes and until it has. */
static void count_calls(struct start *start, const char *kind) {
    const struct fault none = {kind, 0, "EIO", 0, 1};
    CHECK(run_case(start, &none, 1));
    start->counted = tally->counted;
    start->closed = tally->closed;
}

/** Fails each step-th of the calls of a kind from one number to another, in so many ways. */
static uint64_t fail_some(const struct start *start, const char *kind, uint64_t from, uint64_t to,
                          uint64_t step, int ways, uint64_t *random) {
    uint64_t failures = 0;
    for (uint64_t number = from + 1 + chance_below(random, step); number <= to; number += step)
        for (int way = 0; way < ways; way++) {
            const struct fault fault = {kind, number, way % 2 ? "ENOSPC" : "EIO", way / 2,
                                        from == start->counted};
            // Reading never finds the disk full.
            if (way % 2 && strcmp(kind, "read") == 0) continue;
            tally->in_close += (uint64_t)fault.in_close;
            failures += !run_case(start, &fault, chance(random));
            if (failures == MOST_FAILURES) check_fail();
        }
    return failures;
}

static void fail_often(const char *kind) {
    static struct start start;
    uint64_t rounds = (uint64_t)check_environment("SELENE_TEST_ROUNDS", 120), failures = 0;
    uint64_t random = first_seed, scripts = 3 + rounds / 400 * 3;
    memset(tally, 0, sizeof *tally);
    for (uint64_t script = 0; script < scripts; script++) {
        int left = script % 3 == 1, large = left ? 1 : script % 3 == 2 ? 2 : 0;
        uint64_t share;
        prepare(&start, chance(&random), left, large, large == 2 ? MOST_CALLS : 60);
        count_calls(&start, kind);
        share = rounds / scripts / 4 + 1;
        // Batches cost more than other calls.
        if (large == 2) share = (share + 3) / 4;
        failures +=
            fail_some(&start, kind, 0, start.counted, start.counted / share + 1, 4, &random);
        failures += fail_some(&start, kind, start.counted, start.closed,
                              (start.closed - start.counted) / 4 + 1, 4, &random);
        remove_folder(tools_folder);
    }
    // And a short life of which each call fails.
    prepare(&start, chance(&random), 0, 0, 10);
    count_calls(&start, kind);
    failures += fail_some(&start, kind, 0, start.counted, 1, 1, &random);
    failures += fail_some(&start, kind, start.counted, start.closed, 1, 1, &random);
    remove_folder(tools_folder);
    printf("%" PRIu64 " faults, %" PRIu64 " of them in closing, %" PRIu64 " calls: %" PRIu64
           " refused, and %" PRIu64 " openings; %" PRIu64 " stores failed, %" PRIu64
           " failed syncs were not heard of\n",
           tally->cases, tally->in_close, tally->calls, tally->refused, tally->opens_refused,
           tally->unknown, tally->silent);
    CHECK(tally->cases > 0 && failures == 0);
}

static void test_write(void) {
    fail_often("write");
    CHECK(tally->refused > 0);
}

static void test_sync(void) {
    fail_often("sync");
    CHECK(tally->unknown > 0);
}

static void test_open(void) {
    fail_often("open");
    CHECK(tally->opens_refused > 0);
}

static void test_truncate(void) {
    fail_often("truncate");
    CHECK(tally->opens_refused > 0);
}

static void test_read(void) {
    fail_often("read");
    CHECK(tally->opens_refused > 0);
}

/* ---- what is written (D2) --------------------------------------------------- */

/** A cycle of ten runs: as many commits as runs, and two more. */
static void cycle_of_ten(selene_scheduler scheduler) {
    CHECK_INT(10, pull(scheduler, window_of(SELENE_KIND_REFRESH, SELENE_HOUR), all_new_data));
}

static void test_counts(void) {
    enum { MANY = 10000 };
    static selene_task tasks[MANY];
    static const selene_task *pointers[MANY];
    static char ids[MANY][16];
    char words[PATH + 128];
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        selene_options options;
        selene_scheduler scheduler;
        uint64_t commits, syncs;
        snprintf(words, sizeof words, "folder=%s", new_folder());
        CHECK_INT(0, shim(words));
        options = store_options(path("store"));
        if (relaxed) options.flags |= SELENE_OPTIONS_RELAXED;
        scheduler = open_with(options);
        add_handler(scheduler, "work");
        for (int i = 0; i < MANY; i++) {
            snprintf(ids[i], sizeof ids[i], "task.%d", i);
            tasks[i] = task_of(ids[i]);
            // Ten of them are refresh tasks.
            if (i >= 10) tasks[i].kind = SELENE_KIND_PROCESSING;
            pointers[i] = &tasks[i];
        }
        commits = commits_of(scheduler), syncs = shim_count("sync");
        CHECK_OK(selene_task_register_batch(scheduler, pointers, MANY, NULL, NULL));
        CHECK_INT(1, commits_of(scheduler) - commits);
        CHECK_BETWEEN(relaxed ? 0 : 1, shim_count("sync") - syncs, 4);
        clock_now += SELENE_DAY;
        commits = commits_of(scheduler), syncs = shim_count("sync");
        cycle_of_ten(scheduler);
        CHECK_BETWEEN(10, commits_of(scheduler) - commits, 12);
        CHECK_INT(relaxed ? 0 : commits_of(scheduler) - commits, shim_count("sync") - syncs);
        close_store(scheduler);
    }
}

static void leave_frames(void) {
    selene_scheduler scheduler = open_store(path("store"));
    char id[16];
    for (int i = 0; i < 400; i++) {
        selene_task task = task_of(id);
        snprintf(id, sizeof id, "task.%d", i);
        task.id.length = -1;
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
    die();
}

/** A log that was left behind is looked at frame by frame, and opened a few times. */
static void test_opens(void) {
    char words[PATH + 128];
    uint64_t opens;
    selene_scheduler scheduler;
    new_folder();
    CHECK_INT(KILLED, in_child(leave_frames));
    snprintf(words, sizeof words, "folder=%s", tools_folder);
    CHECK_INT(0, shim(words));
    opens = shim_count("open");
    scheduler = open_store(path("store"));
    CHECK_BETWEEN(1, shim_count("open") - opens, 12);
    CHECK_INT(400, count_of(scheduler));
    close_store(scheduler);
}

/** Finds the calls of the shim; starts this program again with it if it is not there. */
static void find_shim(char **argv) {
    void *found = dlsym(RTLD_DEFAULT, "store_shim"),
         *counter = dlsym(RTLD_DEFAULT, "store_shim_count");
    if (!found) {
        if (getenv("SELENE_TEST_PRELOADED")) {
            fprintf(stderr, "%s cannot be loaded\n", beside("store_shim.so"));
            exit(1);
        }
        setenv("SELENE_TEST_PRELOADED", "1", 1);
        become("store_fault", argv, 1);
        exit(1);
    }
    memcpy(&shim, &found, sizeof found);
    memcpy(&shim_count, &counter, sizeof counter);
}

int main(int argc, char **argv) {
    find_shim(argv);
    check_begin(argc, argv);
    first_seed = (uint64_t)check_environment("SELENE_TEST_SEED", 1);
    printf("seed %" PRIu64 "\n", first_seed);
    setenv("SELENE_TEST_ALARM", "36000", 0);
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(tally != MAP_FAILED);
    tools_begin(NULL);
    run_test("D2 a batch is one commit, a cycle of ten runs twelve at most, each of them one sync",
             test_counts);
    run_test("a log is opened once, however many frames it has", test_opens);
    run_test("D2 D4 a write that fails changes nothing, and the host goes on", test_write);
    run_test("D4 a sync that fails ends the store until it is opened again", test_sync);
    run_test("D2 D4 an open that fails changes nothing", test_open);
    run_test("D2 D4 a cut that fails changes nothing", test_truncate);
    run_test("D4 a read that fails changes nothing", test_read);
    if (!check_failed) tools_end();
    return check_end();
}
