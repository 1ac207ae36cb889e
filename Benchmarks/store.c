/*
 * store - what durability costs, beside plain sqlite3 statements of the same durability
 *
 * Both are measured in turn, in one run, on files in one folder. The plain side has the leanest table that holds such
 * tasks: no secondary index, one prepared statement for each change. Medians.
 *
 * Argument: the folder (default: the current one). It should lie where stores are to lie: syncs differ.
 */
#include "measure.h"

#include <fcntl.h>
#include <selene.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 400
#define BATCH 10000
#define MANY 100000
#define RUNS 10

static char folder[4000] = ".";
/* The process that names the files; its children find them by it. */
static pid_t owner;
static uint64_t cycle_commits;

static void stop_if(int failed, const char *what) {
    if (!failed) return;
    fprintf(stderr, "store: %s: %s\n", what, selene_status_detail());
    exit(1);
}

static const char *file_of(const char *name) {
    static char path[4100];
    snprintf(path, sizeof path, "%s/selene-bench-%ld-%s", folder, (long)owner, name);
    return path;
}

static void remove_file(const char *name) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (int i = 0; i < 4; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s%s", file_of(name), suffixes[i]);
        unlink(path);
    }
}

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

static selene_scheduler open_store(const char *name, int relaxed) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    if (name) options.path = (selene_text){file_of(name), -1};
    if (relaxed) options.flags |= SELENE_OPTIONS_RELAXED;
    options.max_pending_refresh = SELENE_UNLIMITED;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    stop_if(selene_conditions_set(scheduler, SELENE_CONSTRAINT_NETWORK, 0), "conditions");
    stop_if(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL), "handler");
    return scheduler;
}

static selene_task task_of(char *id, int number, int schedule) {
    selene_task task = SELENE_TASK_INIT;
    task.id.data = id;
    task.id.length = snprintf(id, 32, "task.%011d", number);
    task.handler = SELENE_TEXT("work");
    task.schedule = schedule;
    task.expected_response = 0;
    return task;
}

static void register_one(selene_scheduler scheduler, int number, int schedule) {
    char id[32];
    selene_task task = task_of(id, number, schedule);
    stop_if(selene_task_register(scheduler, &task, NULL), "register");
}

static void register_batch(selene_scheduler scheduler, int first, int count) {
    selene_task *tasks = calloc((size_t)count, sizeof *tasks);
    const selene_task **pointers = calloc((size_t)count, sizeof *pointers);
    char(*ids)[32] = calloc((size_t)count, sizeof *ids);
    for (int i = 0; i < count; i++) {
        tasks[i] = task_of(ids[i], first + i, SELENE_SCHEDULE_STANDING);
        pointers[i] = &tasks[i];
    }
    stop_if(selene_task_register_batch(scheduler, pointers, (uint64_t)count, NULL, NULL), "batch");
    free(tasks);
    free(pointers);
    free(ids);
}

static void run_cycle(selene_scheduler scheduler, int number) {
    selene_window window = SELENE_WINDOW_INIT;
    selene_run_info info = SELENE_RUN_INFO_INIT;
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
    selene_store_info_destroy(info);
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
    return (double)(now() - begin) / 1000;
}

/* The whole life of a task: register, start, complete, a commit each. */
static double turn_life(selene_scheduler scheduler, struct plain *plain, int number) {
    char id[32];
    selene_task task = task_of(id, 1000000 + number, SELENE_SCHEDULE_ONCE);
    selene_window window = SELENE_WINDOW_INIT;
    selene_run_info info = SELENE_RUN_INFO_INIT;
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
    return (double)(now() - begin) / 1000;
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
    return (double)(now() - begin) / 1000;
}

static double turn_batch(selene_scheduler scheduler, struct plain *plain, int number) {
    int64_t begin = now();
    if (scheduler) {
        register_batch(scheduler, number * BATCH, BATCH);
    } else {
        plain_run(plain, plain->begin);
        for (int i = 0; i < BATCH; i++) {
            char id[32];
            plain_insert(plain, id, snprintf(id, sizeof id, "task.%011d", number * BATCH + i));
        }
        plain_run(plain, plain->commit);
    }
    return (double)(now() - begin) / BATCH / 1000;
}

static void measure(turn_fn turn, int turns, int relaxed, int standing, const char *plain_name,
                    const char *name) {
    static double times[2][TURNS];
    struct plain plain;
    selene_scheduler scheduler;
    double base;
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
    if (turn == turn_cycle) {
        uint64_t before = commits_of(scheduler);
        turn(scheduler, NULL, 0);
        cycle_commits = commits_of(scheduler) - before;
    }
    plain_close(&plain);
    selene_scheduler_close(scheduler, 0);
    remove_file("store");
    base = median(times[0], turns);
    row(plain_name, base, base, "us");
    row(name, median(times[1], turns), base, "us");
}

static void measure_durability(int relaxed) {
    heading(relaxed ? "synchronous NORMAL" : "synchronous FULL");
    measure(turn_register, TURNS, relaxed, 0, "INSERT, one commit", "register");
    measure(turn_life, TURNS / 2, relaxed, 0, "INSERT, UPDATE, UPDATE, a commit each",
            "register, start, complete");
    measure(turn_cycle, TURNS / 8, relaxed, RUNS, "21 UPDATEs in 12 commits", "a cycle of 10 runs");
    measure(turn_batch, 5, relaxed, 0, "INSERT, one commit for 10 000; each",
            "batch register of 10 000; each");
}

/* ---- many tasks ----------------------------------------------------------------- */

struct many {
    double seconds;
    double kilobytes;
};

static double resident(void) {
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

/* What a body costs in a process of its own. */
static struct many in_child(void (*body)(void)) {
    struct many out = {0, 0};
    int ends[2];
    int status = 0;
    pid_t child;
    stop_if(pipe(ends) != 0, "pipe");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        double before = resident();
        int64_t begin = now();
        body();
        out.seconds = (double)(now() - begin) / 1e9;
        out.kilobytes = resident() - before;
        _exit(write(ends[1], &out, sizeof out) == sizeof out ? 0 : 1);
    }
    close(ends[1]);
    stop_if(read(ends[0], &out, sizeof out) != sizeof out, "child");
    waitpid(child, &status, 0);
    close(ends[0]);
    return out;
}

static void make_many(void) {
    selene_scheduler scheduler = open_store("many", 0);
    for (int i = 0; i < MANY; i += BATCH)
        register_batch(scheduler, i, BATCH);
    selene_scheduler_close(scheduler, 0);
}

static void open_many(void) {
    open_store("many", 0);
}

static void register_many(void) {
    selene_scheduler scheduler = open_store(NULL, 0);
    for (int i = 0; i < MANY; i++)
        register_one(scheduler, i, SELENE_SCHEDULE_STANDING);
}

/* Reads every row of the same file: what opening cannot do without. */
static void read_many(void) {
    sqlite3 *database = NULL;
    sqlite3_stmt *rows = NULL;
    int64_t sum = 0;
    stop_if(sqlite3_open(file_of("many"), &database) != SQLITE_OK, "read");
    stop_if(sqlite3_prepare_v2(database, "SELECT * FROM task", -1, &rows, NULL) != SQLITE_OK,
            "read");
    while (sqlite3_step(rows) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(rows); i++)
            sum += sqlite3_column_int64(rows, i);
    stop_if(sum == 0, "read");
}

static void measure_many(void) {
    double seconds[3][3], kilobytes[2][3], base;
    struct stat found;
    for (int i = 0; i < 3; i++) {
        struct many opened, registered, read;
        remove_file("many");
        in_child(make_many);
        opened = in_child(open_many);
        registered = in_child(register_many);
        read = in_child(read_many);
        seconds[0][i] = read.seconds * 1000;
        seconds[1][i] = opened.seconds * 1000;
        seconds[2][i] = registered.seconds * 1000;
        kilobytes[0][i] = registered.kilobytes;
        kilobytes[1][i] = opened.kilobytes;
    }
    stop_if(stat(file_of("many"), &found) != 0, "stat");
    heading("100 000 tasks");
    base = median(seconds[0], 3);
    row("SELECT every row", base, base, "ms");
    row("open, check and load the store", median(seconds[1], 3), base, "ms");
    row("register them in memory", median(seconds[2], 3), base, "ms");
    base = median(kilobytes[0], 3);
    row("resident after registering in memory", base, base, "kB");
    row("resident after opening the store", median(kilobytes[1], 3), base, "kB");
    printf("  the file has %.0f bytes a task\n", (double)found.st_size / MANY);
    remove_file("many");
}

int main(int argc, char **argv) {
    owner = getpid();
    if (argc > 1) snprintf(folder, sizeof folder, "%s", argv[1]);
    printf("SQLite %s, files in %s\n", sqlite3_libversion(), folder);
    /* First, while this process is small: its children begin with what it has. */
    measure_many();
    measure_durability(0);
    measure_durability(1);
    printf("  a cycle of %d runs made %llu commits\n", RUNS, (unsigned long long)cycle_commits);
    return 0;
}
