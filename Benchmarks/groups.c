/*
 * groups - what decisions cost with the groups in use, each of which may have one run at a time (W3)
 *
 * Registers tasks, every one in a group, and pulls windows of 64 lanes: of each group one run is under way while there are
 * lanes, so all others are full. Numbers are the medians of many: a begin with its end, and a decision, which is a `next`
 * and the `complete` of the run that has been under way for longest. In a rolling window each pick looks anew.
 *
 * Arguments: numbers of tasks (1000 1000000). A row for each and 0, 1, 16 and 256 groups.
 */
#include "measure.h"

#include <selene.h>

#define CONDITIONS (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)
#define RUNS 2000
#define WINDOWS 101

static double samples[RUNS];

static void stop_if(int failed, const char *what) {
    if (!failed) return;
    fprintf(stderr, "groups: %s: %s\n", what, selene_status_detail());
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

static selene_scheduler filled(unsigned tasks, unsigned groups) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    options.max_pending_refresh = SELENE_UNLIMITED;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    stop_if(selene_conditions_set(scheduler, CONDITIONS, CONDITIONS), "conditions");
    stop_if(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL), "handler");
    for (unsigned i = 0; i < tasks; i++) {
        selene_task task = SELENE_TASK_INIT;
        char id[32], group[32];
        task.id = (selene_text){id, snprintf(id, sizeof id, "task-%011u", i)};
        task.handler = SELENE_TEXT("work");
        task.priority = (int32_t)(1 + i % 5);
        task.expected_response = 0;
        if (groups) {
            task.group =
                (selene_text){group, snprintf(group, sizeof group, "group %u", i % groups)};
            if (i < groups) stop_if(selene_group_set_limit(scheduler, group, -1, 1), "limit");
        }
        stop_if(selene_task_register(scheduler, &task, NULL), "register");
    }
    return scheduler;
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

static double decisions(selene_scheduler scheduler, unsigned groups, uint32_t flags) {
    selene_window window = SELENE_WINDOW_INIT;
    selene_cycle cycle;
    selene_run out[64];
    size_t oldest = 0, count = 0, wanted = groups && groups < 64 ? groups : 63;
    window.budget = SELENE_HOUR;
    window.lanes = 64;
    window.flags = flags;
    stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
    for (int i = 0; i < RUNS; i++) {
        selene_run_info info = SELENE_RUN_INFO_INIT;
        int32_t step = 0;
        const int64_t begun = now_ns();
        if (count == wanted) {
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
    static const unsigned groups[] = {0, 1, 16, 256}, usual[] = {10000, 1000000};
    printf("%9s %7s %12s %14s %22s   (µs)\n", "tasks", "groups", "begin, end", "decision",
           "decision, rolling");
    for (int row = 0; row < (count > 1 ? count - 1 : 2); row++) {
        const unsigned tasks = count > 1 ? (unsigned)atoi(arguments[row + 1]) : usual[row];
        for (int i = 0; i < 4; i++) {
            selene_scheduler scheduler = filled(tasks, groups[i]);
            const double begin = begins(scheduler), frozen = decisions(scheduler, groups[i], 0);
            printf("%9u %7u %12.2f %14.2f %22.2f\n", tasks, groups[i], begin, frozen,
                   decisions(scheduler, groups[i], SELENE_WINDOW_ROLLING));
            stop_if(selene_scheduler_close(scheduler, 0), "close");
        }
    }
    return 0;
}
