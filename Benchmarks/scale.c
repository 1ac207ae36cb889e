/*
 * scale - what decisions and changes cost as the number of tasks grows, beside sorting all of them
 *
 * Through the C interface of the shared library, on a host clock, in memory. Arguments: the numbers of tasks (1000 10000
 * 100000 1000000 10000000); --json FILE writes the figures, too.
 */
#include "measure.h"

#include <inttypes.h>
#include <malloc.h>
#include <selene.h>
#include <string.h>

#define MOST_SAMPLES 2001
#define S SELENE_SECOND

static int64_t clock_now = S;

static int64_t read_clock(void *context) {
    (void)context;
    return clock_now;
}

static void stop_if(int failed, const char *what) {
    if (!failed) return;
    fprintf(stderr, "scale: %s: %s\n", what, selene_status_detail());
    exit(1);
}

static uint64_t mix(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static FILE *json;

static void figure(const char *what, uint64_t tasks, double value, double high, const char *unit) {
    static int count;
    printf("  %-34s %10" PRIu64 " %12.3f %12.3f %s\n", what, tasks, value, high, unit);
    fflush(stdout);
    if (json)
        fprintf(json,
                "%s\n  {\"what\": \"%s\", \"tasks\": %" PRIu64
                ", \"median\": %.4f, \"p90\": %.4f, \"unit\": \"%s\"}",
                count++ ? "," : "", what, tasks, value, high, unit);
}

/** Sorts the samples and prints their median and their ninth decile. */
static void figures(const char *what, uint64_t tasks, double *samples, int count,
                    const char *unit) {
    double middle = median(samples, count);
    figure(what, tasks, middle, samples[count * 9 / 10], unit);
}

static double in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

static selene_scheduler open_one(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler scheduler = 0;
    options.clock = read_clock;
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.max_pending_processing = SELENE_UNLIMITED;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    stop_if(selene_conditions_set(scheduler, 3, 3), "conditions");
    stop_if(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL), "handler");
    return scheduler;
}

/* What a task of the population is: priorities, estimates of 1 ms to 8 s, some constraints, few tags. */
static void describe(selene_task *task, char id[17], uint64_t number, uint64_t *random) {
    static const selene_text tag = {"tagged", 6};
    snprintf(id, 17, "task-%011u", (unsigned)number % 100000000);
    task->id = (selene_text){id, 16};
    task->handler = SELENE_TEXT("work");
    task->priority = 1 + (int32_t)(mix(random) % 5);
    task->expected_response = (1000 + (int64_t)(mix(random) % 16) * 450) * 1000000;
    task->constraints = mix(random) % 4 ? 0 : 1;
    task->tags = &tag;
    task->tag_count = number % 1000 == 0;
}

/** Begin and all picks of a window of 30 s, each run taking its estimate. */
static double decide(selene_scheduler scheduler, int *out_picks) {
    selene_window window = SELENE_WINDOW_INIT;
    selene_plan *plan = NULL;
    int64_t begin = now(), time;
    stop_if(selene_cycle_plan(scheduler, &window, &plan), "plan");
    time = now() - begin;
    *out_picks = (int)plan->run_count;
    selene_plan_destroy(plan);
    return (double)time / 1000;
}

/** A whole pulled window on the clock of the host. */
static double cycle(selene_scheduler scheduler, int *out_runs) {
    selene_window window = SELENE_WINDOW_INIT;
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_cycle cycle = 0;
    int32_t step;
    int64_t begin = now();
    *out_runs = 0;
    stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
    while (selene_cycle_next(cycle, &step, &info, NULL) == SELENE_OK && step == SELENE_STEP_RUN) {
        clock_now += info.estimate;
        selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA);
        ++*out_runs;
    }
    stop_if(selene_cycle_end(cycle, NULL), "end");
    return (double)(now() - begin) / 1000;
}

/* ---- the plain rule ---------------------------------------------------------- */

struct plain {
    double score;
    int64_t last_run, estimate;
    uint32_t sequence;
    int32_t priority;
};

static int by_score(const void *left, const void *right) {
    const struct plain *a = left, *b = right;
    if (a->score != b->score) return a->score < b->score ? 1 : -1;
    if (a->priority != b->priority) return b->priority - a->priority;
    return a->sequence < b->sequence ? -1 : 1;
}

/** What sorting and scanning all of them costs in C. */
static double sort_and_scan(uint64_t tasks) {
    struct plain *all = malloc(tasks * sizeof *all);
    uint64_t random = 7;
    int64_t begin, left = 28 * S + S / 2, greatest = 1;
    for (uint64_t i = 0; i < tasks; i++) {
        all[i] =
            (struct plain){0, (int64_t)(i * 1000), (1 + (int64_t)(mix(&random) % 8000)) * 1000000,
                           (uint32_t)i, 1 + (int32_t)(mix(&random) % 5)};
    }
    begin = now();
    for (uint64_t i = 0; i < tasks; i++)
        if (clock_now - all[i].last_run > greatest) greatest = clock_now - all[i].last_run;
    for (uint64_t i = 0; i < tasks; i++)
        all[i].score =
            all[i].priority / 5.0 * ((double)(clock_now - all[i].last_run) / (double)greatest);
    qsort(all, tasks, sizeof *all, by_score);
    for (uint64_t i = 0; i < tasks; i++)
        if (all[i].estimate <= left) left -= all[i].estimate;
    begin = now() - begin;
    free(all);
    return (double)begin / 1000 + (double)(left == -1);
}

/* ---- one population ----------------------------------------------------------- */

static double samples[MOST_SAMPLES];

static void cool(void) {
    static unsigned char *memory;
    const size_t size = 64 << 20;
    if (!memory) memory = malloc(size);
    for (size_t i = 0; i < size; i += 64)
        memory[i]++;
}

static void measure(uint64_t tasks) {
    uint64_t random = 1, cancelled = 0;
    selene_task task = SELENE_TASK_INIT;
    char id[17];
    double before = in_use();
    selene_scheduler scheduler = open_one();
    int64_t begin, time;
    int picks = 0, count;

    begin = now();
    for (uint64_t i = 0; i < tasks; i++) {
        snprintf(id, sizeof id, "task-%011u", (unsigned)i % 100000000);
        task = (selene_task)SELENE_TASK_INIT;
        describe(&task, id, i, &random);
    }
    time = now() - begin;
    random = 1;
    begin = now();
    for (uint64_t i = 0; i < tasks; i++) {
        task = (selene_task)SELENE_TASK_INIT;
        describe(&task, id, i, &random);
        clock_now += 1000;
        if (selene_task_register(scheduler, &task, NULL)) stop_if(1, "register");
    }
    figure("register", tasks, (double)(now() - begin - time) / (double)tasks, 0, "ns");
    figure("memory", tasks, (in_use() - before) / (double)tasks, 0, "bytes a task");

    (void)decide(scheduler, &picks);
    for (count = 0; count < 501; count++)
        samples[count] = decide(scheduler, &picks);
    figures("decide (plan of 30 s)", tasks, samples, count, "us");
    for (count = 0; count < 21; count++) {
        cool();
        samples[count] = decide(scheduler, &picks);
    }
    figures("decide, caches emptied", tasks, samples, count, "us");
    for (count = 0; count < 501; count++)
        samples[count] = cycle(scheduler, &picks);
    figures("cycle of 30 s (begin, runs, end)", tasks, samples, count, "us");
    printf("  %-34s %10" PRIu64 " %12d\n", "runs of the last cycle", tasks, picks);

    for (count = 0; count < 1001; count++) {
        uint64_t number = mix(&random) % tasks;
        task = (selene_task)SELENE_TASK_INIT;
        describe(&task, id, number, &random);
        task.tag_count = 0;
        begin = now();
        stop_if(selene_task_register(scheduler, &task, NULL), "update");
        samples[count] = (double)(now() - begin);
    }
    figures("update", tasks, samples, count, "ns");
    for (count = 0; count < 1001; count++) {
        uint64_t number = mix(&random) % tasks;
        task = (selene_task)SELENE_TASK_INIT;
        describe(&task, id, number, &random);
        task.existing = SELENE_EXISTING_REPLACE;
        task.tag_count = 0;
        begin = now();
        stop_if(selene_task_register(scheduler, &task, NULL), "replace");
        samples[count] = (double)(now() - begin);
    }
    figures("replace", tasks, samples, count, "ns");
    for (count = 0; count < 301; count++) {
        snprintf(id, sizeof id, "task-%011u", (unsigned)(mix(&random) % tasks) % 100000000);
        begin = now();
        stop_if(selene_task_cancel(scheduler, id, 16, NULL), "cancel");
        samples[count] = (double)(now() - begin);
    }
    figures("cancel", tasks, samples, count, "ns");
    for (count = 0; count < 301; count++) {
        int64_t at;
        begin = now();
        stop_if(selene_scheduler_next_wakeup(scheduler, &at, NULL), "wake-up");
        samples[count] = (double)(now() - begin);
    }
    figures("next wake-up", tasks, samples, count, "ns");
    for (count = 0; count < 101; count++) {
        selene_explanation explanation = SELENE_EXPLANATION_INIT;
        snprintf(id, sizeof id, "task-%011u", (unsigned)(mix(&random) % tasks) % 100000000);
        begin = now();
        stop_if(selene_task_explain(scheduler, id, 16, &explanation), "explain");
        samples[count] = (double)(now() - begin) / 1000;
    }
    figures("explain", tasks, samples, count, "us");
    begin = now();
    stop_if(selene_task_cancel_tag(scheduler, "tagged", -1, &cancelled), "cancel tag");
    figure("cancel by tag, each", tasks,
           (double)(now() - begin) / (double)(cancelled ? cancelled : 1), 0, "ns");
    stop_if(selene_scheduler_close(scheduler, 0), "close");

    if (tasks <= 1000000) {
        for (count = 0; count < (tasks > 10000 ? 3 : 21); count++)
            samples[count] = sort_and_scan(tasks);
        figures("sort and scan in C", tasks, samples, count, "us");
    }
    malloc_trim(0);
}

int main(int argc, char **argv) {
    static const char *const usual[] = {"1000", "10000", "100000", "1000000"};
    int count = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = fopen(argv[++i], "w");
            stop_if(!json, "json");
            fputs("[", json);
        } else count++;
    printf("%-36s %10s %12s %12s\n", "what", "tasks", "median", "9th decile");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) i++;
        else measure(strtoull(argv[i], NULL, 10));
    }
    for (int i = 0; !count && i < 4; i++)
        measure(strtoull(usual[i], NULL, 10));
    if (json) fputs("\n]\n", json), fclose(json);
    return 0;
}
