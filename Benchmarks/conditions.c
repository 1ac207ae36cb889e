/*
 * conditions - what decisions cost with the sets of conditions that tasks ask for, and what a condition costs that flips (W2)
 *
 * Registers tasks, which ask for up to 64 different sets of six conditions, all of them satisfied, and pulls windows of 64
 * lanes. Numbers are the medians of many: a begin with its end; a decision, which is a `next` and the `complete` of the run
 * that has been under way for longest; and a condition that is lost and met again while nothing needs it at work. In a
 * rolling window each pick looks anew.
 *
 * Arguments: numbers of tasks (10000 1000000). A row for each and 1, 2, 16 and 64 sets.
 */
#include "measure.h"

#include <selene.h>

#define CONDITIONS (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)
#define RUNS 2000
#define WINDOWS 101

static double samples[RUNS];

static void stop_if(int failed, const char *what) {
    if (!failed) return;
    fprintf(stderr, "conditions: %s: %s\n", what, selene_status_detail());
    exit(1);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(size_t count) {
    qsort(samples, count, sizeof samples[0], by_size);
    return samples[count / 2];
}

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static const char *const names[] = {"signed-in", "vpn", "disk", "camera", "window", "idle"};

static selene_scheduler filled(unsigned tasks, unsigned sets) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    options.max_pending_refresh = SELENE_UNLIMITED;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    stop_if(selene_conditions_set(scheduler, CONDITIONS, CONDITIONS), "conditions");
    for (int i = 0; i < 6; i++) {
        stop_if(selene_condition_define(scheduler, names[i], -1), "define");
        stop_if(selene_condition_set(scheduler, names[i], -1, 1), "set");
    }
    stop_if(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL), "handler");
    for (unsigned i = 0; i < tasks; i++) {
        selene_task task = SELENE_TASK_INIT;
        selene_text asked[6];
        char id[32];
        task.id = (selene_text){id, snprintf(id, sizeof id, "task-%011u", i)};
        task.handler = SELENE_TEXT("work");
        task.priority = (int32_t)(1 + i % 5);
        task.expected_response = 0;
        task.conditions = asked;
        for (unsigned bit = 0; bit < 6; bit++)
            if (i % sets >> bit & 1) asked[task.condition_count++] = (selene_text){names[bit], -1};
        stop_if(selene_task_register(scheduler, &task, NULL), "register");
    }
    return scheduler;
}

static double flips(selene_scheduler scheduler) {
    for (int i = 0; i < RUNS; i++) {
        const int64_t begun = now_ns();
        stop_if(selene_condition_set(scheduler, "signed-in", -1, 0), "lose");
        stop_if(selene_condition_set(scheduler, "signed-in", -1, 1), "meet");
        samples[i] = (double)(now_ns() - begun) / 1000;
    }
    return median(RUNS);
}

static double begins(selene_scheduler scheduler) {
    selene_window window = SELENE_WINDOW_INIT;
    for (int i = 0; i < WINDOWS; i++) {
        selene_cycle cycle;
        const int64_t begun = now_ns();
        stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
        stop_if(selene_cycle_end(cycle, NULL), "end");
        samples[i] = (double)(now_ns() - begun) / 1000;
    }
    return median(WINDOWS);
}

static double decisions(selene_scheduler scheduler, uint32_t flags) {
    selene_window window = SELENE_WINDOW_INIT;
    selene_cycle cycle;
    selene_run out[64];
    size_t oldest = 0, count = 0;
    window.budget = SELENE_HOUR;
    window.lanes = 64;
    window.flags = flags;
    stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
    for (int i = 0; i < RUNS; i++) {
        selene_run_info info = SELENE_RUN_INFO_INIT;
        int32_t step = 0;
        const int64_t begun = now_ns();
        if (count == 63) {
            stop_if(selene_run_complete(out[oldest], SELENE_OUTCOME_NEW_DATA), "complete");
            oldest = (oldest + 1) % 64, count--;
        }
        stop_if(selene_cycle_next(cycle, &step, &info, NULL) || step != SELENE_STEP_RUN, "next");
        out[(oldest + count++) % 64] = info.run;
        samples[i] = (double)(now_ns() - begun) / 1000;
    }
    while (count > 0) {
        stop_if(selene_run_complete(out[oldest], SELENE_OUTCOME_NEW_DATA), "complete");
        oldest = (oldest + 1) % 64, count--;
    }
    stop_if(selene_cycle_end(cycle, NULL), "end");
    return median(RUNS);
}

int main(int count, char **arguments) {
    static const unsigned sets[] = {1, 2, 16, 64}, usual[] = {10000, 1000000};
    printf("%9s %6s %12s %12s %20s %14s   (µs)\n", "tasks", "sets", "begin, end", "decision",
           "decision, rolling", "lost and met");
    for (int row = 0; row < (count > 1 ? count - 1 : 2); row++) {
        const unsigned tasks = count > 1 ? (unsigned)atoi(arguments[row + 1]) : usual[row];
        for (int i = 0; i < 4; i++) {
            selene_scheduler scheduler = filled(tasks, sets[i]);
            const double begin = begins(scheduler), frozen = decisions(scheduler, 0);
            const double rolling = decisions(scheduler, SELENE_WINDOW_ROLLING);
            printf("%9u %6u %12.2f %12.2f %20.2f %14.2f\n", tasks, sets[i], begin, frozen, rolling,
                   flips(scheduler));
            stop_if(selene_scheduler_close(scheduler, 0), "close");
        }
    }
    return 0;
}
