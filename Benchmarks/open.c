/*
 * open - what opening a store takes as the number of its tasks grows, beside reading every row of it
 *
 * Each in a fresh process, which also tells what it keeps in memory.
 *
 * Arguments: --json, the folder (default: the current one), numbers of tasks (1000 10000 100000 1000000).
 */
#include "stores.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define REPEATS 3

static uint64_t number_of_tasks;

struct cost {
    double time, memory;
};

/* What this process has of memory. */
static double resident(void) {
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* What a body costs in a process of its own. */
static struct cost in_child(void (*body)(void)) {
    struct cost cost = {0, 0};
    int ends[2], status = 0;
    pid_t child;
    stop_if(pipe(ends) != 0, "pipe");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        double before = resident();
        int64_t begin = now();
        body();
        cost.time = (double)(now() - begin);
        cost.memory = resident() - before;
        _exit(write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
    }
    close(ends[1]);
    stop_if(read(ends[0], &cost, sizeof cost) != sizeof cost, "child");
    waitpid(child, &status, 0);
    close(ends[0]);
    return cost;
}

static void register_into(selene_scheduler scheduler) {
    for (uint64_t i = 0; i < number_of_tasks; i += BATCH) {
        uint64_t left = number_of_tasks - i;
        register_batch(scheduler, (int)i, left < BATCH ? (int)left : BATCH);
    }
}

static void fill(void) {
    selene_scheduler scheduler = open_store("open", 1);
    register_into(scheduler);
    stop_if(selene_scheduler_close(scheduler, 0), "close");
}

/* The same tasks without a store. */
static void register_all(void) {
    register_into(open_store(NULL, 0));
}

static void open_it(void) {
    open_store("open", 0);
}

/* What opening cannot do without. */
static void read_it(void) {
    sqlite3 *database = NULL;
    sqlite3_stmt *rows = NULL;
    int64_t sum = 0;
    stop_if(sqlite3_open(file_of("open"), &database) != SQLITE_OK, "read");
    stop_if(sqlite3_prepare_v2(database, "SELECT * FROM task", -1, &rows, NULL) != SQLITE_OK,
            "read");
    while (sqlite3_step(rows) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(rows); i++)
            sum += sqlite3_column_int64(rows, i);
    stop_if(sum == 0, "read");
}

static void measure(uint64_t tasks) {
    double opening[REPEATS], reading[REPEATS], memory[REPEATS], registered[REPEATS];
    struct stat file;
    number_of_tasks = tasks;
    remove_file("open");
    in_child(fill);
    for (int i = 0; i < REPEATS; i++) {
        struct cost cost = in_child(open_it);
        opening[i] = cost.time;
        memory[i] = cost.memory / (double)tasks;
        reading[i] = in_child(read_it).time;
        registered[i] = in_child(register_all).memory / (double)tasks;
    }
    stop_if(stat(file_of("open"), &file) != 0, "stat");
    found("open the store", "Selene", tasks, "ns", opening, REPEATS);
    found("open the store", "SELECT of all rows", tasks, "ns", reading, REPEATS);
    found("memory", "Selene, opened from a store", tasks, "bytes", memory, REPEATS);
    found("memory", "Selene, the same registered", tasks, "bytes", registered, REPEATS);
    found_one("memory", "file of the store", tasks, "bytes", (double)file.st_size / (double)tasks);
    remove_file("open");
}

int main(int count, char **arguments) {
    count = take_json(count, arguments);
    count = choose_folder(count, arguments);
    each_size(count, arguments, measure);
    return 0;
}
