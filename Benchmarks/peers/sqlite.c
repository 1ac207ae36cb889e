/*
 * sqlite - what indexed queries take that answer the same question, and the simpler one of what is due
 *
 * In memory, prepared statements, each on an index that holds all it needs.
 *
 * Arguments: --json, numbers of tasks (1000 10000 100000 1000000).
 */
#include "../measure.h"
#include "../population.h"

#include <sqlite3.h>

#define SAME "SQLite index, same question"
#define DUE "SQLite index, ten due"

static sqlite3 *database;

static void check(int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE) return;
    fprintf(stderr, "sqlite: %s: %s\n", what, sqlite3_errmsg(database));
    exit(1);
}

static void execute(const char *sql) {
    check(sqlite3_exec(database, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), sql);
    return statement;
}

static void populate(uint64_t tasks) {
    sqlite3_stmt *insert;
    execute("CREATE TABLE task (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
            "priority INTEGER NOT NULL, last_run INTEGER NOT NULL, estimate INTEGER NOT NULL,"
            "due INTEGER NOT NULL) STRICT;"
            "CREATE INDEX by_age ON task (priority, last_run, estimate);"
            "CREATE INDEX by_due ON task (due, estimate)");
    insert = prepare("INSERT INTO task VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    execute("BEGIN");
    for (uint64_t i = 0; i < tasks; i++) {
        struct member member = member_of(i, tasks);
        char id[20];
        int length = snprintf(id, sizeof id, "task-%011u", (unsigned)i % 100000000);
        sqlite3_bind_int64(insert, 1, (int64_t)i);
        sqlite3_bind_text(insert, 2, id, length, SQLITE_STATIC);
        sqlite3_bind_int(insert, 3, member.priority);
        sqlite3_bind_int64(insert, 4, last_run_of(i));
        sqlite3_bind_int64(insert, 5, member.estimate);
        /* Ten are due now, the others later. */
        sqlite3_bind_int64(insert, 6, i < 10 ? 0 : 1 + (int64_t)(mixed(i) % 86400000));
        check(sqlite3_step(insert), "insert");
        sqlite3_reset(insert);
    }
    execute("COMMIT");
    sqlite3_finalize(insert);
}

/* A cursor for each priority, the oldest first; the best of their heads until the window is full. */
static double decide(sqlite3_stmt **oldest, uint64_t tasks, int *out_picks, uint64_t *out_choice) {
    int64_t begin = now(), time = time_of(tasks), left = POPULATION_ROOM;
    int more[POPULATION_PRIORITIES + 1];
    *out_picks = 0, *out_choice = 0;
    for (int i = 1; i <= POPULATION_PRIORITIES; i++)
        more[i] = sqlite3_step(oldest[i]) == SQLITE_ROW;
    while (left >= POPULATION_LEAST_ESTIMATE) {
        int64_t highest = -1, estimate;
        int best = 0;
        for (int i = POPULATION_PRIORITIES; i > 0; i--) {
            int64_t score = more[i] ? i * (time - sqlite3_column_int64(oldest[i], 0)) : -1;
            if (score > highest) highest = score, best = i;
        }
        if (!best) break;
        estimate = sqlite3_column_int64(oldest[best], 1);
        if (estimate <= left) {
            left -= estimate;
            ++*out_picks;
            *out_choice = choice_with(*out_choice, (uint64_t)sqlite3_column_int64(oldest[best], 2));
        }
        more[best] = sqlite3_step(oldest[best]) == SQLITE_ROW;
    }
    for (int i = 1; i <= POPULATION_PRIORITIES; i++)
        sqlite3_reset(oldest[i]);
    return (double)(now() - begin);
}

static double find_due(sqlite3_stmt *due) {
    int64_t begin = now();
    int rows = 0;
    while (sqlite3_step(due) == SQLITE_ROW)
        rows += sqlite3_column_int64(due, 1) > 0;
    sqlite3_reset(due);
    check(rows == 10 ? SQLITE_OK : SQLITE_ERROR, "ten are due");
    return (double)(now() - begin);
}

static void measure(uint64_t tasks) {
    static double samples[501];
    sqlite3_stmt *oldest[POPULATION_PRIORITIES + 1], *due;
    double before = in_use();
    int64_t begin = now();
    uint64_t choice = 0;
    int picks = 0;
    check(sqlite3_open(":memory:", &database), "open");
    populate(tasks);
    found_one("register", SAME, tasks, "ns", (double)(now() - begin) / (double)tasks);
    found_one("memory", SAME, tasks, "bytes", (in_use() - before) / (double)tasks);
    for (int i = 1; i <= POPULATION_PRIORITIES; i++) {
        oldest[i] = prepare("SELECT last_run, estimate, number FROM task WHERE priority = ?1"
                            " ORDER BY last_run");
        sqlite3_bind_int(oldest[i], 1, i);
    }
    due = prepare("SELECT number, estimate FROM task WHERE due <= 0 ORDER BY due LIMIT 10");
    for (int i = 0; i < 501; i++)
        samples[i] = decide(oldest, tasks, &picks, &choice);
    found("decide", SAME, tasks, "ns", samples, 501);
    found_one("picks", SAME, tasks, "tasks", picks);
    found_one("choice", SAME, tasks, "hash", (double)choice);
    for (int i = 0; i < 501; i++)
        samples[i] = find_due(due);
    found("decide", DUE, tasks, "ns", samples, 501);
    for (int i = 1; i <= POPULATION_PRIORITIES; i++)
        sqlite3_finalize(oldest[i]);
    sqlite3_finalize(due);
    sqlite3_close(database);
}

int main(int count, char **arguments) {
    char text[200];
    count = take_json(count, arguments);
    snprintf(text, sizeof text,
             "five cursors of SQLite %s in memory, read by turns until the window is full: "
             "priority, age, "
             "estimate; writes nothing back",
             sqlite3_libversion());
    about(SAME, text);
    about(DUE, "one query with LIMIT 10 by due time: time alone; writes nothing back");
    each_size(count, arguments, measure);
    return 0;
}
