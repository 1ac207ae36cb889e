/*
 * scale - what decisions and changes cost as the number of tasks grows
 *
 * Through the C interface of the shared library, in memory.
 *
 * Arguments: --json, numbers of tasks (1000 10000 100000 1000000).
 */
#include "failing.h"
#include "population.h"

#define MOST_SAMPLES 8192
#define REGISTERS 31
#define CACHES ((size_t)64 << 20)
#define CONDITIONS (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)

static double samples[MOST_SAMPLES];
static int64_t clock_now;

static int64_t read_clock(void *context) {
    (void)context;
    return clock_now;
}

static uint64_t chance(uint64_t below) {
    static uint64_t count;
    return mixed(~++count) % below;
}

/* ---- the population, registered ------------------------------------------------- */

/* These are satisfied; the others are read from the system in each window. */
static void set_conditions(selene_scheduler scheduler, uint32_t constraints) {
    stop_if(selene_conditions_set(scheduler, constraints, constraints), "conditions");
}

/* SELENE_OPTIONS_ bits of the schedulers that are opened. */
static uint32_t order;

/* With a clock of the host's own, so that tasks can be as old as is wanted, or with the system's. */
static selene_scheduler open_one(selene_clock_fn clock) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    clock_now = POPULATION_SECOND;
    options.clock = clock;
    options.flags = order;
    options.max_pending_refresh = SELENE_UNLIMITED;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    set_conditions(scheduler, CONDITIONS);
    stop_if(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL), "handler");
    return scheduler;
}

static int64_t write_id(char id[17], uint64_t number) {
    snprintf(id, 17, "task-%011u", (unsigned)number % 100000000);
    return 16;
}

static void describe(selene_task *task, char id[17], uint64_t number, uint64_t tasks) {
    static const selene_text groups[] = {
        {"group-0", 7}, {"group-1", 7}, {"group-2", 7}, {"group-3", 7}, {"group-4", 7},
        {"group-5", 7}, {"group-6", 7}, {"group-7", 7}, {"group-8", 7}, {"group-9", 7}};
    struct member member = member_of(number, tasks);
    *task = (selene_task)SELENE_INIT(selene_task);
    task->schedule = SELENE_SCHEDULE_STANDING;
    task->id = (selene_text){id, write_id(id, number)};
    task->handler = SELENE_TEXT("work");
    task->priority = member.priority;
    task->expected_response = member.estimate;
    task->constraints = member.needs_network ? SELENE_CONSTRAINT_NETWORK : 0;
    if (member.group >= 0) task->tags = &groups[member.group], task->tag_count = 1;
}

/* Nothing but an id and the handler's name. */
static void describe_plain(selene_task *task, char id[17], uint64_t number, uint64_t tasks) {
    (void)tasks;
    *task = (selene_task)SELENE_INIT(selene_task);
    task->schedule = SELENE_SCHEDULE_STANDING;
    task->id = (selene_text){id, write_id(id, number)};
    task->handler = SELENE_TEXT("work");
}

typedef void (*describe_fn)(selene_task *task, char id[17], uint64_t number, uint64_t tasks);

/* Fills a scheduler; out_time is what registering took for each task, without describing them. */
static selene_scheduler populate(uint64_t tasks, selene_clock_fn clock, describe_fn describe,
                                 double *out_time, double *out_memory) {
    double before = in_use();
    selene_scheduler scheduler = open_one(clock);
    volatile int64_t described = 0;
    selene_task task;
    char id[17];
    int64_t begin = now(), time;
    for (uint64_t i = 0; i < tasks; i++) {
        describe(&task, id, i, tasks);
        described += task.expected_response;
    }
    time = now() - begin;
    begin = now();
    for (uint64_t i = 0; i < tasks; i++) {
        describe(&task, id, i, tasks);
        clock_now = last_run_of(i);
        if (selene_task_register(scheduler, &task, NULL)) stop_if(1, "register");
    }
    *out_time = (double)(now() - begin - time) / (double)tasks;
    *out_memory = (in_use() - before) / (double)tasks;
    return scheduler;
}

/* The last of the schedulers that were filled. */
static selene_scheduler measure_register(uint64_t tasks, selene_clock_fn clock,
                                         describe_fn describe, const char *way) {
    double memory[REGISTERS];
    int repeats = tasks > 1000000 ? 1 : tasks > 100000 ? 5 : tasks > 10000 ? 7 : REGISTERS;
    selene_scheduler scheduler = 0;
    for (int i = 0; i < repeats; i++) {
        if (scheduler) stop_if(selene_scheduler_close(scheduler, 0), "close");
        malloc_trim(0);
        scheduler = populate(tasks, clock, describe, &samples[i], &memory[i]);
    }
    found("register", way, tasks, "ns", samples, repeats);
    found("memory", way, tasks, "bytes", memory, repeats);
    return scheduler;
}

/* ---- decisions -------------------------------------------------------------------- */

/* Begin and all picks of a window of 30 s, if each run took its estimate. */
static double decide(selene_scheduler scheduler, selene_plan **out_plan) {
    selene_window window = SELENE_INIT(selene_window);
    int64_t begin = now();
    stop_if(selene_cycle_plan(scheduler, &window, out_plan), "plan");
    return (double)(now() - begin);
}

static void empty_caches(void) {
    static unsigned char *memory;
    if (!memory) memory = calloc(1, CACHES);
    for (size_t i = 0; i < CACHES; i += 64)
        memory[i]++;
}

static void measure_decide(selene_scheduler scheduler, uint64_t tasks) {
    selene_plan *plan = NULL;
    uint64_t choice = 0;
    (void)decide(scheduler, &plan);
    for (uint64_t i = 0; i < plan->run_count; i++)
        choice = choice_with(choice, strtoull(plan->runs[i].id.data + 5, NULL, 10));
    found_one("picks", "Selene", tasks, "tasks", (double)plan->run_count);
    found_one("choice", "Selene", tasks, "hash", (double)choice);
    selene_free(plan);
    for (int i = 0; i < 501; i++) {
        samples[i] = decide(scheduler, &plan);
        selene_free(plan);
    }
    found("decide", "Selene", tasks, "ns", samples, 501);
    for (int i = 0; i < 21; i++) {
        empty_caches();
        samples[i] = decide(scheduler, &plan);
        selene_free(plan);
    }
    found("decide", "Selene, caches emptied", tasks, "ns", samples, 21);
    set_conditions(scheduler, 0);
    for (int i = 0; i < 101; i++) {
        samples[i] = decide(scheduler, &plan);
        selene_free(plan);
    }
    found("decide", "Selene, conditions of the system", tasks, "ns", samples, 101);
    set_conditions(scheduler, CONDITIONS);
}

/* Whole windows of 30 s, pulled on the host's clock, and the steps of their runs. */
static void measure_cycle(selene_scheduler scheduler, uint64_t tasks) {
    static double next[MOST_SAMPLES], complete[MOST_SAMPLES], cycles[301];
    int runs = 0;
    for (int i = 0; i < 301; i++) {
        selene_window window = SELENE_INIT(selene_window);
        selene_run_info info = SELENE_INIT(selene_run_info);
        selene_cycle cycle = 0;
        int32_t step = SELENE_STEP_RUN;
        int64_t begin = now(), before, between;
        stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
        for (;;) {
            before = now();
            stop_if(selene_cycle_next(cycle, &step, &info, NULL), "next");
            if (step != SELENE_STEP_RUN) break;
            between = now();
            clock_now += info.estimate;
            stop_if(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA), "complete");
            if (runs == MOST_SAMPLES) continue;
            complete[runs] = (double)(now() - between);
            next[runs++] = (double)(between - before);
        }
        stop_if(selene_cycle_end(cycle, NULL), "end");
        cycles[i] = (double)(now() - begin);
    }
    found("cycle of 30 s", "Selene", tasks, "ns", cycles, 301);
    found("next", "Selene", tasks, "ns", next, runs);
    found("complete", "Selene", tasks, "ns", complete, runs);
}

/* ---- changes ------------------------------------------------------------------------ */

static void measure_again(selene_scheduler scheduler, uint64_t tasks, int32_t existing,
                          const char *what) {
    for (int i = 0; i < 1001; i++) {
        selene_task task;
        char id[17];
        int64_t begin;
        describe(&task, id, chance(tasks), tasks);
        task.priority = 1 + (int32_t)chance(5);
        task.existing = existing;
        begin = now();
        stop_if(selene_task_register(scheduler, &task, NULL), what);
        samples[i] = (double)(now() - begin);
    }
    found(what, "Selene", tasks, "ns", samples, 1001);
}

static void measure_questions(selene_scheduler scheduler, uint64_t tasks) {
    char id[17];
    for (int i = 0; i < 301; i++) {
        int64_t at, begin = now();
        stop_if(selene_scheduler_next_wakeup(scheduler, &at, NULL), "wake-up");
        samples[i] = (double)(now() - begin);
    }
    found("next wake-up", "Selene", tasks, "ns", samples, 301);
    for (int i = 0; i < 301; i++) {
        selene_explanation explanation = SELENE_INIT(selene_explanation);
        int64_t length = write_id(id, chance(tasks)), begin = now();
        stop_if(selene_task_explain(scheduler, id, length, &explanation), "explain");
        samples[i] = (double)(now() - begin);
    }
    found("explain", "Selene", tasks, "ns", samples, 301);
}

static void measure_cancel(selene_scheduler scheduler, uint64_t tasks) {
    char id[17], tag[8];
    int count = 0;
    for (int i = 0; i < 301; i++) {
        int64_t length = write_id(id, chance(tasks)), begin = now();
        stop_if(selene_task_cancel(scheduler, id, length, NULL), "cancel");
        samples[i] = (double)(now() - begin);
    }
    found("cancel", "Selene", tasks, "ns", samples, 301);
    for (int i = 0; i < 10; i++) {
        uint64_t cancelled = 0;
        int64_t begin;
        snprintf(tag, sizeof tag, "group-%d", i);
        begin = now();
        stop_if(selene_task_cancel_tag(scheduler, tag, -1, &cancelled), "cancel tag");
        if (cancelled) samples[count++] = (double)(now() - begin) / (double)cancelled;
    }
    found("cancel by tag, each", "Selene", tasks, "ns", samples, count);
}

/* The same decision by the other rule, which picks others. */
static void measure_freshness(uint64_t tasks) {
    static double once[1];
    selene_plan *plan = NULL;
    selene_scheduler scheduler;
    order = SELENE_OPTIONS_FRESHNESS;
    scheduler = populate(tasks, read_clock, describe, &once[0], &once[0]);
    order = 0;
    for (int i = 0; i < 501; i++) {
        samples[i] = decide(scheduler, &plan);
        if (i == 0)
            found_one("picks", "Selene, freshness", tasks, "tasks", (double)plan->run_count);
        selene_free(plan);
    }
    found("decide", "Selene, freshness", tasks, "ns", samples, 501);
    stop_if(selene_scheduler_close(scheduler, 0), "close");
    malloc_trim(0);
}

static void measure(uint64_t tasks) {
    selene_scheduler scheduler = 0;
    if (tasks <= 1000000) {
        scheduler = measure_register(tasks, NULL, describe_plain, "Selene, defaults");
        stop_if(selene_scheduler_close(scheduler, 0), "close");
    }
    scheduler = measure_register(tasks, read_clock, describe, "Selene");
    measure_decide(scheduler, tasks);
    measure_cycle(scheduler, tasks);
    measure_again(scheduler, tasks, SELENE_EXISTING_UPDATE, "update");
    measure_again(scheduler, tasks, SELENE_EXISTING_REPLACE, "replace");
    measure_questions(scheduler, tasks);
    measure_cancel(scheduler, tasks);
    stop_if(selene_scheduler_close(scheduler, 0), "close");
    malloc_trim(0);
    measure_freshness(tasks);
}

int main(int count, char **arguments) {
    count = take_json(count, arguments);
    about("Selene", "begin and all picks of a window of 30 s (selene_cycle_plan): priority, age, "
                    "estimate, constraints that the host sets");
    about("Selene, defaults", "tasks of an id with 16 bytes, a handler and nothing else; the "
                              "system's clock, where the others have a clock of the host's own");
    about("Selene, caches emptied", "the same after 64 MB of other memory were written");
    about("Selene, freshness", "the same by the freshness rule, which picks others");
    about("Selene, conditions of the system",
          "the same; whether there is network and external power "
          "is read from the system first");
    each_size(count, arguments, measure);
    return 0;
}
