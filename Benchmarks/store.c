/*
 * store - what durability costs, beside plain sqlite3 statements of the same durability
 *
 * Both are measured in turn, in one run, on files in one folder. The plain side has the leanest table that holds such
 * tasks: no secondary index, one prepared statement for each change.
 *
 * Arguments: --json, the folder (default: the current one). It should lie where stores are to lie: syncs differ.
 */
#include "stores.h"

#include <sqlite3.h>

#define TURNS 400
#define RUNS 10

/* ---- plain sqlite3 ---------------------------------------------------------- */

struct plain {
    sqlite3 *database;
    sqlite3_stmt *insert, *start, *complete, *begin, *commit;
    int64_t sequence;
};

static void plain_check(struct plain *plain, int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE) return;
    fprintf(stderr, "store: sqlite3, %s: %s\n", what, sqlite3_errmsg(plain->database));
    exit(1);
}

static void plain_run(struct plain *plain, sqlite3_stmt *statement) {
    plain_check(plain, sqlite3_step(statement), "step");
    sqlite3_reset(statement);
}

static void plain_open(struct plain *plain, int relaxed) {
    static const struct {
        size_t at;
        const char *sql;
    } statements[] = {{offsetof(struct plain, insert),
                       "INSERT INTO task VALUES (?1, ?2, ?3, 0, 0, ?4, ?4, NULL)"},
                      {offsetof(struct plain, start),
                       "UPDATE task SET state = 1, attempts = attempts + 1 WHERE sequence = ?1"},
                      {offsetof(struct plain, complete),
                       "UPDATE task SET state = 2, last_run = ?2, times = ?3 WHERE sequence = ?1"},
                      {offsetof(struct plain, begin), "BEGIN IMMEDIATE"},
                      {offsetof(struct plain, commit), "COMMIT"}};
    remove_file("plain");
    memset(plain, 0, sizeof *plain);
    plain_check(plain, sqlite3_open(file_of("plain"), &plain->database), "open");
    plain_check(plain,
                sqlite3_exec(plain->database,
                             "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                             "CREATE TABLE task (sequence INTEGER PRIMARY KEY, id TEXT NOT NULL,"
                             "definition BLOB NOT NULL, state INTEGER NOT NULL,"
                             "attempts INTEGER NOT NULL, earliest INTEGER NOT NULL,"
                             "last_run INTEGER NOT NULL, times BLOB) STRICT",
                             NULL, NULL, NULL),
                "create");
    plain_check(plain,
                sqlite3_exec(plain->database,
                             relaxed ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL",
                             NULL, NULL, NULL),
                "synchronous");
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        plain_check(plain,
                    sqlite3_prepare_v3(plain->database, statements[i].sql, -1,
                                       SQLITE_PREPARE_PERSISTENT,
                                       (sqlite3_stmt **)((char *)plain + statements[i].at), NULL),
                    statements[i].sql);
}

static void plain_close(struct plain *plain) {
    sqlite3_stmt *statement;
    while ((statement = sqlite3_next_stmt(plain->database, NULL)))
        sqlite3_finalize(statement);
    sqlite3_close(plain->database);
    remove_file("plain");
}

/* The definition of a task with defaults, packed. */
static const char definition[80];

static void plain_insert(struct plain *plain, const char *id, int length) {
    sqlite3_bind_int64(plain->insert, 1, ++plain->sequence);
    sqlite3_bind_text(plain->insert, 2, id, length, SQLITE_STATIC);
    sqlite3_bind_blob(plain->insert, 3, definition, sizeof definition, SQLITE_STATIC);
    sqlite3_bind_int64(plain->insert, 4, now());
    plain_run(plain, plain->insert);
}

static void plain_start(struct plain *plain, int64_t sequence) {
    sqlite3_bind_int64(plain->start, 1, sequence);
    plain_run(plain, plain->start);
}

static void plain_complete(struct plain *plain, int64_t sequence) {
    int64_t time = now();
    sqlite3_bind_int64(plain->complete, 1, sequence);
    sqlite3_bind_int64(plain->complete, 2, time);
    sqlite3_bind_blob(plain->complete, 3, &time, sizeof time, SQLITE_STATIC);
    plain_run(plain, plain->complete);
}

/* ---- selene ------------------------------------------------------------------- */

static void run_cycle(selene_scheduler scheduler, int number) {
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    int32_t step;
    int runs = 0;
    stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
    for (;;) {
        stop_if(selene_cycle_next(cycle, &step, &info, NULL), "next");
        if (step != SELENE_STEP_RUN) break;
        stop_if(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA), "complete");
        runs++;
    }
    stop_if(selene_cycle_end(cycle, NULL), "end");
    stop_if(runs != number, "not every task ran");
}

static uint64_t commits_of(selene_scheduler scheduler) {
    selene_store_info *info = NULL;
    uint64_t commits;
    stop_if(selene_store_get(scheduler, &info), "get");
    commits = info->commits;
    selene_free(info);
    return commits;
}

/* ---- beside each other -------------------------------------------------------- */

/*
 * Every measure takes its turn on one side and then on the other, so that both meet the same disk. A turn gives the
 * time of one of its things.
 */
typedef double (*turn_fn)(selene_scheduler scheduler, struct plain *plain, int number);

/* Register: a commit. */
static double turn_register(selene_scheduler scheduler, struct plain *plain, int number) {
    char id[32];
    int64_t begin;
    int length = snprintf(id, sizeof id, "task.%011d", number);
    begin = now();
    if (scheduler) register_one(scheduler, number, SELENE_SCHEDULE_ONCE);
    else plain_insert(plain, id, length);
    return (double)(now() - begin);
}

/* The whole life of a task: register, start, complete, a commit each. */
static double turn_life(selene_scheduler scheduler, struct plain *plain, int number) {
    char id[32];
    selene_task task = task_of(id, 1000000 + number, SELENE_SCHEDULE_ONCE);
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    int32_t step;
    int64_t begin = now();
    if (scheduler) {
        stop_if(selene_task_register(scheduler, &task, NULL), "register");
        window.task = task.id;
        stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
        stop_if(selene_cycle_next(cycle, &step, &info, NULL), "next");
        stop_if(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA), "complete");
        stop_if(selene_cycle_end(cycle, NULL), "end");
    } else {
        plain_insert(plain, id, (int)task.id.length);
        plain_start(plain, plain->sequence);
        plain_complete(plain, plain->sequence);
    }
    return (double)(now() - begin);
}

/* A cycle of 10 runs; the plain side, too, commits its begin, and a completion together with the next start. */
static double turn_cycle(selene_scheduler scheduler, struct plain *plain, int number) {
    int64_t begin = now();
    if (scheduler) {
        run_cycle(scheduler, RUNS);
    } else {
        plain_start(plain, 1 + number % RUNS);
        for (int i = 0; i <= RUNS; i++) {
            plain_run(plain, plain->begin);
            if (i > 0) plain_complete(plain, i);
            if (i < RUNS) plain_start(plain, i + 1);
            plain_run(plain, plain->commit);
        }
    }
    return (double)(now() - begin);
}

static double turn_batch(selene_scheduler scheduler, struct plain *plain, int number) {
    struct batch batch = batch_create(number * BATCH, BATCH);
    int64_t begin = now(), end;
    if (scheduler) {
        batch_register(scheduler, &batch);
    } else {
        plain_run(plain, plain->begin);
        for (int i = 0; i < BATCH; i++)
            plain_insert(plain, batch.ids[i], (int)batch.tasks[i].id.length);
        plain_run(plain, plain->commit);
    }
    end = now();
    batch_destroy(&batch);
    return (double)(end - begin) / BATCH;
}

/* Says both sides under one name, such as "FULL: register". */
static void measure(const char *what, turn_fn turn, int turns, int relaxed, int standing) {
    static double times[2][TURNS];
    struct plain plain;
    selene_scheduler scheduler;
    char name[64];
    remove_file("store");
    plain_open(&plain, relaxed);
    scheduler = open_store("store", relaxed);
    for (int i = 0; i < standing; i++) {
        turn_register(0, &plain, i);
        register_one(scheduler, i, SELENE_SCHEDULE_STANDING);
    }
    for (int i = 0; i < turns; i++) {
        times[0][i] = turn(0, &plain, standing + i);
        times[1][i] = turn(scheduler, NULL, standing + i);
    }
    snprintf(name, sizeof name, "%s: %s", relaxed ? "NORMAL" : "FULL", what);
    found(name, "plain SQLite", 0, "ns", times[0], turns);
    found(name, "Selene", 0, "ns", times[1], turns);
    if (turn == turn_cycle && !relaxed) {
        uint64_t before = commits_of(scheduler);
        turn(scheduler, NULL, 0);
        found_one("commits", "a cycle of 10 runs", 0, "commits",
                  (double)(commits_of(scheduler) - before));
    }
    if (turn == turn_batch && !relaxed) {
        uint64_t before = commits_of(scheduler);
        turn(scheduler, NULL, standing + turns);
        found_one("commits", "a batch of 10 000 tasks", 0, "commits",
                  (double)(commits_of(scheduler) - before));
    }
    plain_close(&plain);
    stop_if(selene_scheduler_close(scheduler, 0), "close");
    remove_file("store");
}

static void measure_durability(int relaxed) {
    measure("register", turn_register, TURNS, relaxed, 0);
    measure("register, start, complete", turn_life, TURNS / 2, relaxed, 0);
    measure("a cycle of 10 runs", turn_cycle, TURNS / 8, relaxed, RUNS);
    measure("batch of 10 000, each", turn_batch, 5, relaxed, 0);
}

int main(int count, char **arguments) {
    char text[160];
    count = take_json(count, arguments);
    choose_folder(count, arguments);
    snprintf(text, sizeof text,
             "prepared statements of SQLite %s on the leanest table that holds such tasks, with "
             "the same commits",
             sqlite3_libversion());
    about("plain SQLite", text);
    measure_durability(0);
    measure_durability(1);
    return 0;
}
