/*
 * decisions.h - what a begin, an end and a decision cost, for programs that fill a scheduler in ways of their own
 */
#ifndef DECISIONS_H
#define DECISIONS_H

#include "failing.h"

#define CONDITIONS (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)
#define RUNS 2000
#define WINDOWS 101
#define LANES 64
/** Sets of six constraints: the first two have classes of their own. */
#define FIRST_CONSTRAINT SELENE_CONSTRAINT_UNMETERED

static double samples[RUNS];

/** Microseconds since then. */
static double since(int64_t begun) {
    return (double)(now() - begun) / 1000;
}

static double median(size_t count) {
    qsort(samples, count, sizeof samples[0], by_value);
    return samples[count / 2];
}

/** Any number of tasks, all constraints satisfied, and the handler "work". */
static selene_scheduler open_for_work(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    options.max_pending_refresh = SELENE_UNLIMITED;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    stop_if(selene_conditions_set(scheduler, CONDITIONS, CONDITIONS), "conditions");
    stop_if(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL), "handler");
    return scheduler;
}

/** A begin with its end. */
MEASURE_UNUSED static double begins(selene_scheduler scheduler) {
    selene_window window = SELENE_INIT(selene_window);
    for (int i = 0; i < WINDOWS; i++) {
        selene_cycle cycle;
        const int64_t begun = now();
        stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
        stop_if(selene_cycle_end(cycle, NULL), "end");
        samples[i] = since(begun);
    }
    return median(WINDOWS);
}

/** The runs of a window that are under way, the oldest first. */
struct under_way {
    selene_run runs[LANES];
    size_t oldest, count;
};

static void complete_oldest(struct under_way *out) {
    stop_if(selene_run_complete(out->runs[out->oldest], SELENE_OUTCOME_NEW_DATA), "complete");
    out->oldest = (out->oldest + 1) % LANES, out->count--;
}

static void end_window(selene_cycle cycle, struct under_way *out) {
    while (out->count > 0)
        complete_oldest(out);
    stop_if(selene_cycle_end(cycle, NULL), "end");
}

/** A `next`, and the `complete` of the run that has been under way for longest once so many are. Where all tasks had their
 *  run in a window, another begins. */
MEASURE_UNUSED static double decisions(selene_scheduler scheduler, size_t wanted, uint32_t flags) {
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle cycle;
    struct under_way out = {{0}, 0, 0};
    int picked = 0;
    window.budget = SELENE_HOUR;
    window.lanes = LANES;
    window.flags = flags;
    stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
    for (int i = 0; i < RUNS;) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t step = 0;
        const int64_t begun = now();
        if (out.count == wanted) complete_oldest(&out);
        stop_if(selene_cycle_next(cycle, &step, &info, NULL), "next");
        if (step != SELENE_STEP_RUN) {
            stop_if(picked == 0, "next found nothing that may run");
            end_window(cycle, &out);
            stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
            picked = 0;
            continue;
        }
        out.runs[(out.oldest + out.count++) % LANES] = info.run;
        samples[i++] = since(begun);
        picked++;
    }
    end_window(cycle, &out);
    return median(RUNS);
}

#endif /* DECISIONS_H */
