/*
 * dispatch - what a run of a C handler costs, beside a bare call through a function pointer
 *
 * Both are measured in turn, in one run. Medians.
 */
#include "measure.h"

#include <selene.h>

#define ROUNDS 101
#define MOST_TASKS 1000

static void stop_if(int failed, const char *what) {
    if (!failed) return;
    fprintf(stderr, "dispatch: %s: %s\n", what, selene_status_detail());
    exit(1);
}

static uint64_t calls;

static void count(selene_run run, const selene_run_info *info, void *context) {
    (void)run, (void)info;
    ++*(uint64_t *)context;
}

static void count_and_complete(selene_run run, const selene_run_info *info, void *context) {
    count(run, info, context);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

/* Calls that the compiler cannot see through. */
static selene_run_fn volatile bare_handler = count;

static double bare_calls(int number) {
    static selene_run_info info = SELENE_RUN_INFO_INIT;
    int64_t begin = now();
    for (int i = 0; i < number; i++)
        bare_handler((selene_run)i, &info, &calls);
    return (double)(now() - begin) / number;
}

/* A whole inline cycle: begin, ranks, picks, dispatches, completes, reports. */
static double inline_cycle(selene_scheduler scheduler, int number) {
    selene_window window = SELENE_WINDOW_INIT;
    uint64_t before = calls;
    int64_t begin = now(), time;
    window.flags = SELENE_WINDOW_INLINE;
    stop_if(selene_cycle_run(scheduler, &window, NULL), "run");
    time = now() - begin;
    stop_if(calls - before != (uint64_t)number, "not every task ran");
    return (double)time / number;
}

/* The same, pulled: begin and end are not in it, only picks, calls and completions. */
static double pulled_cycle(selene_scheduler scheduler, int number) {
    selene_window window = SELENE_WINDOW_INIT;
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_cycle cycle = 0;
    int32_t step = SELENE_STEP_WAIT;
    int64_t begin, time;
    int runs = 0;
    stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
    begin = now();
    for (;;) {
        stop_if(selene_cycle_next(cycle, &step, &info, NULL), "next");
        if (step != SELENE_STEP_RUN) break;
        bare_handler(info.run, &info, &calls);
        selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA);
        runs++;
    }
    time = now() - begin;
    stop_if(selene_cycle_end(cycle, NULL), "end");
    stop_if(runs != number, "not every task ran");
    return (double)time / number;
}

static void measure_dispatch(int number) {
    static double bare[ROUNDS], inlined[ROUNDS], pulled[ROUNDS];
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_TASK_INIT;
    char id[32], text[64];
    double bare_median;
    stop_if(selene_scheduler_open(NULL, &scheduler), "open");
    stop_if(selene_handler_register(scheduler, "count", -1, count_and_complete, NULL, &calls, NULL),
            "handler");
    task.handler = SELENE_TEXT("count");
    task.expected_response = 0;
    for (int i = 0; i < number; i++) {
        task.id.data = id;
        task.id.length = snprintf(id, sizeof id, "task.%d", i);
        stop_if(selene_task_register(scheduler, &task, NULL), "task");
    }
    for (int i = 0; i < ROUNDS; i++) {
        bare[i] = bare_calls(MOST_TASKS);
        inlined[i] = inline_cycle(scheduler, number);
        pulled[i] = pulled_cycle(scheduler, number);
    }
    selene_scheduler_close(scheduler, 0);
    snprintf(text, sizeof text, "dispatch, %d tasks a window, each run", number);
    heading(text);
    bare_median = median(bare, ROUNDS);
    row("bare call through a function pointer", bare_median, bare_median, "ns");
    row("pulled: next, call, complete", median(pulled, ROUNDS), bare_median, "ns");
    row("inline cycle: begin, rank, these, report", median(inlined, ROUNDS), bare_median, "ns");
}

int main(void) {
    measure_dispatch(10);
    measure_dispatch(MOST_TASKS);
    return 0;
}
