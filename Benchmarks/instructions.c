/*
 * instructions - a fixed amount of work, to count instructions with callgrind
 *
 * Registers a thousand tasks and pulls windows of a number of runs each. Nothing is measured here; the counts are the same
 * on a busy machine as on a quiet one:
 *
 *   valgrind --tool=callgrind --callgrind-out-file=out build/bench/instructions 10 500
 *   callgrind_annotate --inclusive=yes out | grep selene_
 *
 * divided by the calls that this program prints.
 *
 * Arguments: runs in a window (10), windows (500), `freshness` for tasks that are ranked by the freshness rule.
 */
#include <selene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS 1000
#define CONDITIONS (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)

static void need(selene_status status, const char *what) {
    if (status == SELENE_OK) return;
    fprintf(stderr, "instructions: %s: %s\n", what, selene_error_last()->message.data);
    exit(1);
}

int main(int count, char **arguments) {
    int runs = count > 1 ? atoi(arguments[1]) : 10;
    int windows = count > 2 ? atoi(arguments[2]) : 500;
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    char id[32];

    if (count > 3 && !strcmp(arguments[3], "freshness")) options.flags = SELENE_OPTIONS_FRESHNESS;
    need(selene_scheduler_open(&options, &scheduler), "open");
    need(selene_handler_register(scheduler, "count", -1, NULL, NULL, NULL, NULL), "handler");
    need(selene_conditions_set(scheduler, CONDITIONS, CONDITIONS), "conditions");
    task.handler = SELENE_TEXT("count");
    task.expected_response = SELENE_NONE;
    for (int i = 0; i < TASKS; i++) {
        task.id.data = id;
        task.schedule = SELENE_SCHEDULE_STANDING;
        task.id.length = snprintf(id, sizeof id, "task-%011d", i);
        need(selene_task_register(scheduler, &task, NULL), "task");
    }
    for (int i = 0; i < windows; i++) {
        selene_cycle cycle = 0;
        need(selene_cycle_begin(scheduler, &window, &cycle), "begin");
        for (int run = 0; run < runs; run++) {
            selene_run_info info = SELENE_INIT(selene_run_info);
            int32_t step = 0;
            need(selene_cycle_next(cycle, &step, &info, NULL), "next");
            need(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA), "complete");
        }
        need(selene_cycle_end(cycle, NULL), "end");
    }
    printf("register %d, begin %d, next %d, complete %d, end %d\n", TASKS, windows, runs * windows,
           runs * windows, windows);
    return selene_scheduler_close(scheduler, 0) != SELENE_OK;
}
