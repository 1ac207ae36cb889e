/*
 * pulled.c - what a pulled run costs: for each line that it reads, a window of 500 runs, and ns a run
 *
 * What the same programs of the other bindings are compared with (Benchmarks/python/runtimes.py). Argument: number of tasks.
 */
#include <selene.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void need(selene_status status) {
    if (status == SELENE_OK) return;
    fprintf(stderr, "pulled: %s\n", selene_error_last()->message.data);
    exit(1);
}

static double now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char **arguments) {
    const int tasks = count > 1 ? atoi(arguments[1]) : 1000;
    const uint32_t every = SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER;
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_scheduler scheduler = 0;
    char id[32], line[16];
    options.flags = SELENE_OPTIONS_NO_THREADS;
    need(selene_scheduler_open(&options, &scheduler));
    need(selene_conditions_set(scheduler, every, every));
    need(selene_handler_register(scheduler, "count", -1, NULL, NULL, NULL, NULL));
    task.handler = SELENE_TEXT("count");
    task.expected_response = SELENE_NONE;
    for (int i = 0; i < tasks; i++) {
        task.id.data = id;
        task.schedule = SELENE_SCHEDULE_STANDING;
        task.id.length = snprintf(id, sizeof id, "task-%011d", i);
        need(selene_task_register(scheduler, &task, NULL));
    }
    while (fgets(line, sizeof line, stdin)) {
        const double begin = now();
        selene_cycle cycle = 0;
        int32_t step = SELENE_STEP_DONE;
        int runs = 0;
        need(selene_cycle_begin(scheduler, &window, &cycle));
        while (runs < 500) {
            selene_run_info info = SELENE_INIT(selene_run_info);
            need(selene_cycle_next(cycle, &step, &info, NULL));
            if (step != SELENE_STEP_RUN) break;
            need(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
            runs++;
        }
        need(selene_cycle_end(cycle, NULL));
        printf("%.1f\n", (now() - begin) / runs);
        fflush(stdout);
    }
    return selene_scheduler_close(scheduler, 0) != SELENE_OK;
}
