/*
 * waits - what it costs to say where the time of a task went, whatever the number of tasks (W8)
 *
 * Registers tasks, flips a condition for which all of them wait, opens windows that pass them, and asks about one task
 * after the other. Numbers are medians, in microseconds: a flip, and a question after so many flips and windows.
 *
 * Arguments: numbers of tasks (1000 1000000). A row for each and 0, 100 and 4000 entries of the logs.
 */
#include "decisions.h"

#define QUESTIONS 501

static selene_scheduler filled(unsigned tasks) {
    selene_scheduler scheduler = open_for_work();
    for (unsigned i = 0; i < tasks; i++) {
        selene_task task = SELENE_INIT(selene_task);
        char id[32];
        task.id = (selene_text){id, snprintf(id, sizeof id, "task-%011u", i)};
        task.schedule = SELENE_SCHEDULE_STANDING;
        task.handler = SELENE_TEXT("work");
        task.constraints = SELENE_CONSTRAINT_NETWORK;
        stop_if(selene_task_register(scheduler, &task, NULL), "register");
    }
    return scheduler;
}

/** Half of so many entries are flips, the others windows with a dispatch each. The median of a flip. */
static double live(selene_scheduler scheduler, unsigned entries) {
    size_t count = 0;
    for (unsigned i = 0; i < entries / 2; i++) {
        int64_t begun = now();
        stop_if(selene_conditions_set(scheduler, CONDITIONS, i % 2 ? CONDITIONS : 0), "flip");
        if (count < QUESTIONS) samples[count++] = since(begun);
        selene_cycle cycle = 0;
        selene_run_info run = SELENE_INIT(selene_run_info);
        int32_t step = 0;
        stop_if(selene_cycle_begin(scheduler, NULL, &cycle), "begin");
        stop_if(selene_cycle_next(cycle, &step, &run, NULL), "next");
        if (step == SELENE_STEP_RUN)
            stop_if(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA), "complete");
        stop_if(selene_cycle_end(cycle, NULL), "end");
    }
    return count ? median(count) : 0;
}

static double ask(selene_scheduler scheduler, unsigned tasks) {
    for (size_t i = 0; i < QUESTIONS; i++) {
        char id[32];
        selene_waits *waits = NULL;
        /* Of those that were never dispatched. */
        int length = snprintf(id, sizeof id, "task-%011u",
                              (unsigned)(tasks - 1 - i * (tasks / 2 / QUESTIONS)));
        int64_t begun = now();
        stop_if(selene_task_waits(scheduler, id, length, &waits), "waits");
        samples[i] = since(begun);
        selene_free(waits);
    }
    return median(QUESTIONS);
}

static void measure(unsigned tasks) {
    for (unsigned entries = 0; entries <= 4000; entries = entries == 100 ? 4000 : entries + 100) {
        selene_scheduler scheduler = filled(tasks);
        double flip = live(scheduler, entries);
        printf("%9u %8u %10.2f %10.2f\n", tasks, entries, flip, ask(scheduler, tasks));
        fflush(stdout);
        stop_if(selene_scheduler_close(scheduler, 0), "close");
        if (entries == 4000) break;
    }
}

int main(int argc, char **argv) {
    printf("%9s %8s %10s %10s\n", "tasks", "entries", "flip us", "question us");
    for (int i = 1; i < argc; i++)
        measure((unsigned)strtoul(argv[i], NULL, 10));
    if (argc < 2) {
        measure(1000);
        measure(1000000);
    }
    return 0;
}
