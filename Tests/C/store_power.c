/*
 * store_power.c - the power goes at every write and sync, and the disk holds what it holds (D2, D4)
 *
 * A host runs above store_shim, which ends it at the n-th change or sync and leaves a disk on which what was not
 * synced is gone, torn or out of order. Some of them are opened once more and lose power again. Then the store is
 * opened in peace and compared with a twin.
 *
 * With synchronous FULL everything that was answered must be there. With RELAXED something must be lost sometimes,
 * and on a disk that lies about syncs too: that shows that the test can see it. But a RELAXED store is never damaged,
 * and no call is half in it.
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_ROUNDS, how many losses of power (300, of which a third
 * relaxed); SELENE_TEST_SEED; SELENE_TEST_CALLS, prints the calls of a life that failed.
 */
#include "store_messages.h"

static uint64_t first_seed;

/** What came of many losses of power. */
struct tally {
    uint64_t points, changes, calls, lost, damaged, again, cuts, closes;
};

/** Runs a host until the power goes at a change; false if it came to its end before. */
static int run(struct life *life, uint64_t calls, uint64_t change, uint64_t seed, int lies,
               struct child *out_child) {
    char words[PATH + 128];
    struct child child;
    int status;
    snprintf(words, sizeof words, "folder=%.4000s seed=%" PRIu64 " power=%" PRIu64 "%s",
             tools_folder, seed, change, lies ? " lies" : "");
    child = child_start(path("store"), life, calls, tools_folder, words);
    child_listen(&child, life, check_now() + CHILD_PATIENCE, 0);
    if (child.is_done) CHECK_INT(0, kill(child.process, SIGKILL));
    status = child_end(&child, life);
    if (out_child) *out_child = child;
    if (child.is_done) return 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 77) {
        fprintf(stderr, "the child ended with %x\n", (unsigned)status);
        check_fail();
    }
    return 1;
}

/** Loses power at one change of a script. Answers what is wrong, or NULL. */
static const char *lose(struct life *life, uint64_t calls, uint64_t change, uint64_t seed, int lies,
                        struct tally *tally) {
    struct player player;
    uint64_t count = 0, sealed;
    int64_t opened_at = 0, clock;
    const char *problem;
    new_folder();
    life->answered = life->begun = life->number = 0;
    (void)run(life, calls, change, seed, lies, NULL);
    clock = life->answered ? life->deeds[life->answered - 1].clock : life->clock;
    clock += (int64_t)chance_below(&seed, 100000) * MS;
    if (!lies && chance(&seed) % 3 == 0) {
        // And again while it recovers.
        struct life next = *life;
        next.deeds = NULL;
        next.answered = next.begun = next.room = next.number = 0;
        next.clock = clock;
        tally->again +=
            (uint64_t)run(&next, 0, 1 + chance_below(&seed, 12), chance(&seed), lies, NULL);
        if (next.number && !life->character.relaxed) life->number = next.number;
    }
    if (life->character.relaxed) life->number = 0;
    sealed = life_sealed(life);
    problem = life_open(life, path("store"), life->character.relaxed ? 0 : sealed, clock, &player,
                        &count, &opened_at);
    if (player.scheduler) CHECK_OK(selene_scheduler_close(player.scheduler, 0));
    if (!problem) problem = check_copies(life, tools_folder);
    if (!problem) check_integrity(path("store"));
    tally->points++;
    tally->calls += life->answered;
    tally->lost += count < sealed;
    tally->closes += life->answered == calls;
    if (problem) return problem;
    nftw(tools_folder, tools_remove, 16, FTW_DEPTH | FTW_PHYS);
    return NULL;
}

/** Loses power that often, at changes that are spread over scripts. */
static struct tally lose_often(uint64_t points, int relaxed, int lies) {
    struct tally tally = {0};
    uint64_t random = first_seed * 7919 + (uint64_t)relaxed * 2 + (uint64_t)lies,
             scripts = 4 + points / 100;
    for (uint64_t script = 0; script < scripts; script++) {
        struct life life = {0};
        struct child whole = {0};
        uint64_t calls = 30 + chance_below(&random, 60), share = (points + scripts - 1) / scripts;
        life.character.seed = chance(&random);
        life.character.script = chance(&random);
        life.character.relaxed = relaxed;
        life.character.large = script % 4 == 3 ? 1 : script % 4 == 1 ? 2 : 0;
        if (life.character.large == 2) calls = 2 * PLAY_ROUND;
        life.clock = START;
        new_folder();
        CHECK_INT(0, run(&life, calls, 0, 0, 0, &whole));
        nftw(tools_folder, tools_remove, 16, FTW_DEPTH | FTW_PHYS);
        CHECK(whole.changes > 0);
        tally.changes += whole.changes;
        // A log that was cut in the midst of the work: the power is lost around that, and while it is closed.
        if (life.character.large == 2) CHECK(whole.cut > 0);
        for (uint64_t point = 0; point < share; point++) {
            uint64_t seed = chance(&random), step = whole.changes / share + 1,
                     change = point * step + 1 + chance_below(&random, step);
            const char *problem;
            if (life.character.large == 2 && point % 3 == 1)
                change = whole.cut - 4 + chance_below(&random, 16);
            if (life.character.large == 2 && point % 3 == 2)
                change = whole.changes - chance_below(&random, 8);
            if (change > whole.changes) continue;
            tally.cuts += life.character.large == 2 && point % 3 == 1;
            problem = lose(&life, calls, change, seed, lies, &tally);
            if (!problem) continue;
            if (lies) {
                tally.damaged++;
                continue;
            }
            fprintf(stderr,
                    "script %" PRIu64 " (seed %" PRIu64 "), power lost at %" PRIu64 " of %" PRIu64
                    ": %s\n",
                    script, first_seed, change, whole.changes, problem);
            if (getenv("SELENE_TEST_CALLS"))
                for (uint64_t i = 0; i < life.answered; i++)
                    fprintf(stderr, "  %" PRIu64 " %s: %s\n", i, deed_names[life.deeds[i].kind],
                            selene_name(SELENE_NAMES_STATUS, life.deeds[i].status));
            fprintf(stderr, "the store is kept in %s\n", tools_folder);
            check_fail();
        }
        free(life.deeds);
    }
    printf("%" PRIu64 " losses of power at %" PRIu64 " changes and syncs, %" PRIu64
           " while recovering, %" PRIu64 " at the cut of a log, %" PRIu64 " in closing, %" PRIu64
           " calls answered; in %" PRIu64 " something was lost, %" PRIu64 " damaged\n",
           tally.points, tally.changes, tally.again, tally.cuts, tally.closes, tally.calls,
           tally.lost, tally.damaged);
    return tally;
}

static uint64_t points(void) {
    return (uint64_t)check_environment("SELENE_TEST_ROUNDS", 300);
}

static void test_full(void) {
    struct tally tally = lose_often(points() - points() / 3, 0, 0);
    CHECK_INT(0, tally.lost);
    CHECK(tally.cuts > 0 && tally.closes > 0);
}

static void test_relaxed(void) {
    struct tally tally = lose_often(points() / 3, 1, 0);
    CHECK(tally.lost > 0);
}

static void test_lies(void) {
    struct tally tally = lose_often(40, 0, 1);
    CHECK(tally.damaged > 0);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    first_seed = (uint64_t)check_environment("SELENE_TEST_SEED", 1);
    printf("seed %" PRIu64 "\n", first_seed);
    setenv("SELENE_TEST_ALARM", "36000", 0);
    tools_begin(NULL);
    run_test("D2 FULL: a loss of power at any write or sync loses nothing that was answered",
             test_full);
    run_test("D2 RELAXED: it loses the last calls, never damages the store, and leaves nothing "
             "half done",
             test_relaxed);
    run_test("this test sees what a disk loses that lies about syncs", test_lies);
    if (!check_failed) tools_end();
    return check_end();
}
