/*
 * graphs - what tasks cost that come after others, by the number of edges (W4)
 *
 * Registers tasks in layers of a hundred, each after some of the layer before, runs all of them in one rolling window of one
 * lane, and cancels a graph of the same kind from its first layer on. Numbers are means over all tasks, in microseconds.
 *
 * Arguments: numbers of tasks (10000 100000). A row for each and 0, 1, 3 and 16 edges a task.
 */
#include "decisions.h"

#define LAYER 100
#define MOST_EDGES 16

static selene_scheduler graph(unsigned tasks, unsigned edges) {
    selene_scheduler scheduler = open_for_work();
    for (unsigned i = 0; i < tasks; i++) {
        selene_task task = SELENE_INIT(selene_task);
        selene_text after[MOST_EDGES];
        char id[32], names[MOST_EDGES][32];
        task.id = (selene_text){id, snprintf(id, sizeof id, "task-%011u", i)};
        task.handler = SELENE_TEXT("work");
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.expected_response = SELENE_NONE;
        task.after = after;
        task.after_count = i < LAYER ? 0 : edges;
        for (unsigned k = 0; k < task.after_count; k++) {
            const unsigned other = i / LAYER * LAYER - LAYER + (i * 7 + k * 31) % LAYER;
            after[k] = (selene_text){names[k], snprintf(names[k], 32, "task-%011u", other)};
        }
        stop_if(selene_task_register(scheduler, &task, NULL), "register");
    }
    return scheduler;
}

static void run_all(selene_scheduler scheduler, unsigned tasks) {
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle;
    int32_t step = SELENE_STEP_RUN;
    window.budget = SELENE_HOUR;
    stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
    for (unsigned i = 0; i < tasks; i++) {
        stop_if(selene_cycle_next(cycle, &step, &run, NULL), "next");
        stop_if(step != SELENE_STEP_RUN, "a task does not run");
        stop_if(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA), "complete");
    }
    stop_if(selene_cycle_end(cycle, NULL), "end");
}

static void cancel_first(selene_scheduler scheduler) {
    for (unsigned i = 0; i < LAYER; i++) {
        char id[32];
        const int length = snprintf(id, sizeof id, "task-%011u", i);
        stop_if(selene_task_cancel(scheduler, id, length, NULL), "cancel");
    }
}

static void measure(unsigned tasks) {
    static const unsigned edges[] = {0, 1, 3, MOST_EDGES};
    for (int row = 0; row < 4; row++) {
        int64_t begun = now();
        selene_scheduler scheduler = graph(tasks, edges[row]);
        const double registered = since(begun) / tasks;
        begun = now();
        run_all(scheduler, tasks);
        const double ran = since(begun) / tasks;
        stop_if(selene_scheduler_close(scheduler, 0), "close");
        printf("%9u %6u %10.2f %10.2f", tasks, edges[row], registered, ran);
        if (edges[row]) {
            scheduler = graph(tasks, edges[row]);
            begun = now();
            cancel_first(scheduler);
            printf(" %10.2f", since(begun) / tasks);
            stop_if(selene_scheduler_close(scheduler, 0), "close");
        }
        putchar('\n');
        fflush(stdout);
    }
}

int main(int count, char **arguments) {
    printf("%9s %6s %10s %10s %10s   (µs a task)\n", "tasks", "edges", "register", "run", "cancel");
    for (int i = 1; i < count; i++)
        measure((unsigned)strtoul(arguments[i], NULL, 10));
    if (count < 2) {
        measure(10000);
        measure(100000);
    }
    return 0;
}
