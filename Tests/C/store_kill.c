/*
 * store_kill.c - a host is killed at any moment, again and again: what it was answered is there (D2, D3)
 *
 * Each round starts a child host on the store that the round before left, kills it, opens the store, and compares it
 * with a twin that made the same calls undisturbed. After some rounds a new store is begun. The child reads its own files
 * now and then, and what would open the store beside it is refused all the same (D5).
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_ROUNDS, how many kills (300); SELENE_TEST_SEED;
 * SELENE_TEST_CALLS, prints the calls of a life that failed.
 */
#include "store_messages.h"

#define LIVES 8

/** A store that goes through several lives. */
struct line {
    struct life life;
    uint64_t number, random;
    /** The longest that a life may last. */
    int64_t span;
    char base[PATH];
    /** Of the tasks in it. */
    struct deaths deaths;
    /** Tokens of all runs so far. */
    uint64_t *tokens;
    size_t token_count;
    uint64_t calls, kept;
};

static uint64_t first_seed;

static const char *store(void) {
    return path("store");
}

static void line_begin(struct line *line, uint64_t seed) {
    memset(line, 0, sizeof *line);
    new_folder();
    line->random = seed;
    line->life.character.seed = chance(&line->random);
    line->life.character.script = chance(&line->random);
    line->life.character.relaxed = chance(&line->random) % 3 == 0;
    line->life.character.large = (int)chance_below(&line->random, 8) - 5;
    if (line->life.character.large < 0) line->life.character.large = 0;
    line->life.clock = START;
    line->span = (1 + (int64_t)chance_below(&line->random, 40)) * MS;
    snprintf(line->base, sizeof line->base, "%.4000s/base", tools_folder);
}

static void line_end(struct line *line) {
    free(line->life.deeds);
    free(line->tokens);
    nftw(tools_folder, tools_remove, 16, FTW_DEPTH | FTW_PHYS);
    *tools_folder = 0;
}

/** Runs a child on the store and kills it. */
static void live(struct line *line) {
    struct life *life = &line->life;
    struct child child;
    int64_t now = check_now(), end;
    int in_open = chance(&line->random) % 8 == 0;
    life->answered = life->begun = life->number = 0;
    child = child_start(store(), life, life->character.large == 2 ? PLAY_ROUND : 4000, tools_folder,
                        NULL);
    if (in_open) {
        end = now + (int64_t)chance_below(&line->random, 8000) * SELENE_MICROSECOND;
    } else {
        child_listen(&child, life, now + CHILD_PATIENCE, 1);
        end = check_now() +
              (int64_t)chance_below(&line->random, (uint64_t)(line->span / SELENE_MICROSECOND)) *
                  SELENE_MICROSECOND;
    }
    child_listen(&child, life, end, 0);
    // Whatever it did to its files meanwhile, it has the store.
    if (child.is_open && life->character.large != 2 && chance(&line->random) % 4 == 0) {
        selene_options options = store_options(store());
        selene_scheduler other = 0;
        CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, selene_scheduler_open(&options, &other));
    }
    CHECK_INT(0, kill(child.process, SIGKILL));
    CHECK_INT(SIGKILL, WTERMSIG(child_end(&child, life)));
    if (!in_open && !child.is_open) {
        fprintf(stderr, "the child did not open\n");
        check_fail();
    }
}

/** Every token is one that was never given out before, and none is good for anything now. */
static const char *check_tokens(struct line *line) {
    const struct life *life = &line->life;
    size_t old = line->token_count;
    line->tokens = realloc(line->tokens, (old + life->answered + 1) * sizeof *line->tokens);
    for (uint64_t i = 0; i < life->answered; i++) {
        if (!life->deeds[i].run) continue;
        for (size_t k = 0; k < line->token_count; k++)
            if (line->tokens[k] == life->deeds[i].run) return "a token was given out twice";
        line->tokens[line->token_count++] = life->deeds[i].run;
    }
    for (size_t k = old; k < line->token_count; k++) {
        selene_status status = selene_run_complete(line->tokens[k], SELENE_OUTCOME_NEW_DATA);
        if (status != SELENE_ERROR_STALE_RUN)
            return "a token of an earlier life does not answer STALE_RUN";
    }
    return NULL;
}

/** The time of the last commit that was answered. */
static int64_t last_seen(const struct life *life) {
    for (uint64_t i = life->answered; i-- > 0;) {
        const struct deed *deed = &life->deeds[i];
        int is_commit =
            deed->seals && deed->kind != DEED_END && (deed->kind != DEED_NEXT || deed->run);
        if (is_commit) return deed->clock;
    }
    return life->number ? life->clock : 0;
}

/** Opens what the last life left, compares, and makes it the base of the next one. */
static const char *look(struct line *line) {
    struct life *life = &line->life;
    struct player player;
    uint64_t count = 0;
    int64_t opened_at = 0;
    const char *problem;
    int64_t clock = life->answered ? life->deeds[life->answered - 1].clock : life->clock;
    uint64_t way = chance_below(&line->random, 3), sealed = life_sealed(life);
    int64_t wall = clock;
    if (way == 1) wall += (int64_t)chance_below(&line->random, 3600000) * MS;
    if (way == 2) wall -= (int64_t)chance_below(&line->random, 3600000) * MS;
    problem = life_open(life, store(), sealed, wall, &player, &count, &opened_at);
    const struct deaths deaths = play_deaths;
    if (!problem) problem = check_tokens(line);
    if (!problem && opened_at < last_seen(life)) problem = "time goes back";
    if (player.scheduler) CHECK_OK(selene_scheduler_close(player.scheduler, 0));
    if (!problem) problem = check_copies(life, tools_folder);
    if (problem) return problem;
    CHECK(!exists(path("store-wal")));
    check_integrity(store());
    copy_file(store(), line->base);
    line->calls += life->answered;
    line->kept += count - sealed;
    line->deaths = deaths;
    life->deaths = &line->deaths;
    life->base = line->base;
    life->clock = opened_at + (int64_t)chance_below(&line->random, 1000) * MS;
    life->character.script = chance(&line->random);
    line->number++;
    return NULL;
}

static void report(const struct line *line, uint64_t round, const char *problem) {
    fprintf(stderr, "round %" PRIu64 " (seed %" PRIu64 "), life %" PRIu64 "%s%s: %s\n", round,
            first_seed, line->number, line->life.character.relaxed ? ", relaxed" : "",
            line->life.character.large ? ", large" : "", problem);
    if (getenv("SELENE_TEST_CALLS"))
        for (uint64_t i = 0; i < line->life.answered; i++)
            fprintf(stderr, "  %" PRIu64 " %s: %s, at %" PRId64 " ms\n", i,
                    deed_names[line->life.deeds[i].kind],
                    selene_name(SELENE_NAMES_STATUS, line->life.deeds[i].status),
                    (line->life.deeds[i].clock - START) / MS);
    fprintf(stderr, "the store is kept in %s\n", tools_folder);
    check_fail();
}

static void test_kills(void) {
    uint64_t rounds = (uint64_t)check_environment("SELENE_TEST_ROUNDS", 300), calls = 0, kept = 0;
    static struct line line;
    for (uint64_t round = 0; round < rounds; round++) {
        const char *problem;
        if (round % LIVES == 0) line_begin(&line, first_seed * UINT64_C(1000003) + round);
        live(&line);
        problem = look(&line);
        if (problem) report(&line, round, problem);
        if (round % LIVES == LIVES - 1 || round == rounds - 1) {
            calls += line.calls;
            kept += line.kept;
            line_end(&line);
        }
    }
    printf("%" PRIu64 " kills, %" PRIu64 " calls answered, %" PRIu64 " more calls found done\n",
           rounds, calls, kept);
}

/* ---- what the test can see ------------------------------------------------- */

/** Changes the store behind the library's back. */
static void tamper(const char *sql) {
    sqlite3 *database = NULL;
    CHECK_INT(SQLITE_OK, sqlite3_open(store(), &database));
    CHECK_INT(SQLITE_OK, sqlite3_exec(database, sql, NULL, NULL, NULL));
    CHECK_INT(1, sqlite3_changes(database));
    CHECK_INT(SQLITE_OK, sqlite3_close(database));
}

/** Whether the latest task of a scheduler waits for its turn. */
static int latest_waits(selene_scheduler scheduler) {
    struct records records = records_of(scheduler);
    uint64_t latest = 0;
    int32_t state = -1;
    for (size_t i = 0; i < records.count; i++) {
        if (records.items[i].info.sequence < latest) continue;
        latest = records.items[i].info.sequence;
        state = records.items[i].info.state;
    }
    records_free(&records);
    return state == SELENE_STATE_ENQUEUED;
}

/** After how many calls of a host, these at least, the last of them has added a task that waits for its turn. */
static uint64_t calls_to_added(const struct life *life, uint64_t least) {
    struct player player;
    uint64_t count = 0;
    CHECK_OK(player_open(&player, life->character, NULL, life->clock));
    for (int is_added = 0; !is_added; count++) {
        const struct deed deed = play(&player, count);
        CHECK(count < least + 10000);
        // One that is appended to what was cancelled is added, and cancelled.
        is_added = count + 1 >= least && deed.kind == DEED_REGISTER && deed.status == SELENE_OK &&
                   deed.value == SELENE_DISPOSITION_ADDED && latest_waits(player.scheduler);
    }
    CHECK_OK(selene_scheduler_close(player.scheduler, 0));
    return count;
}

/** Compares a copy of what a killed host left, in which something may have been changed. */
static const char *look_at_copy(const struct life *life, const char *sql, uint64_t least) {
    struct player player;
    uint64_t count = 0;
    int64_t opened_at = 0;
    const char *problem;
    static const char *const ends[] = {"", "-wal"};
    for (int i = 0; i < 2; i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "left%s", ends[i]);
        snprintf(to, sizeof to, "store%s", ends[i]);
        unlink(path(to));
        if (exists(path(from))) copy_file(path(from), path(to));
    }
    if (sql) tamper(sql);
    problem = life_open(life, store(), least, life->deeds[life->answered - 1].clock, &player,
                        &count, &opened_at);
    if (player.scheduler) CHECK_OK(selene_scheduler_close(player.scheduler, 0));
    return problem;
}

/** What the last call added is the task of the greatest sequence, and nothing came of it yet: of one that has ended
 *  nobody could say whether it is forgotten, or gone by rule. */
static void test_sees(void) {
#define LAST " WHERE sequence = (SELECT max(sequence) FROM task)"
    static const char *const changes[] = {
        "DELETE FROM task" LAST, "UPDATE task SET attempts = attempts + 1" LAST,
        "UPDATE task SET earliest_begin = earliest_begin + 1" LAST,
        "UPDATE task SET input = x'00'" LAST};
    struct life life = {0};
    struct child child;
    uint64_t random = first_seed, calls, sealed;
    unsigned char *refused;
    new_folder();
    life.character.seed = chance(&random);
    life.character.script = chance(&random);
    life.clock = START;
    calls = calls_to_added(&life, 100);
    child = child_start(store(), &life, calls, NULL, NULL);
    child_listen(&child, &life, check_now() + CHILD_PATIENCE, 0);
    CHECK(child.is_done);
    CHECK_INT(0, kill(child.process, SIGKILL));
    (void)child_end(&child, &life);
    CHECK_INT(0, rename(store(), path("left")));
    CHECK_INT(0, rename(path("store-wal"), path("left-wal")));

    sealed = life_sealed(&life);
    CHECK_INT(calls, sealed);
    CHECK_STRING("", look_at_copy(&life, NULL, sealed) ? play_problem : "");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        CHECK(look_at_copy(&life, changes[i], sealed) != NULL);
    // A change that the twin does not make; then one that only the twin makes.
    refused = calloc(calls, sizeof *refused);
    CHECK(refused != NULL);
    refused[calls - 1] = 1;
    life.refused = refused;
    CHECK(look_at_copy(&life, NULL, sealed) != NULL);
    life.refused = NULL;
    life.begun = calls_to_added(&life, calls + 1);
    CHECK(look_at_copy(&life, NULL, life.begun) != NULL);
    free(refused);
    free(life.deeds);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    first_seed = (uint64_t)check_environment("SELENE_TEST_SEED", 1);
    printf("seed %" PRIu64 "\n", first_seed);
    setenv("SELENE_TEST_ALARM", "36000", 0);
    tools_begin(NULL);
    run_test("this test sees what is forgotten, half done, or was never answered", test_sees);
    run_test("D2 D3 what a killed host was answered is there, and nothing is half done",
             test_kills);
    if (!check_failed) tools_end();
    return check_end();
}
