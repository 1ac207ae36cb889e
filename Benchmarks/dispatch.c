/*
 * dispatch - what a run of an empty C handler costs in each way it can be called, beside a bare call
 *
 * Windows of 500 runs, or of 10, with a given number of tasks registered; all ways in turn, round after round, each once
 * unmeasured and then measured. A run is a pick, the call, the completion, and its share of begin, ranking, end and
 * report.
 *
 * Arguments: --json, numbers of tasks (1000 10000 100000 1000000).
 */
#include "failing.h"

#include <ffi.h>

#define RUNS 500
#define FEW 10
#define ROUNDS 31
#define CONDITIONS (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)

/* What a handler counts: the run with this number ends its cycle. */
struct counter {
    int runs, last;
};

static void only_count(selene_run run, const selene_run_info *info, void *context) {
    (void)run, (void)info;
    ((struct counter *)context)->runs++;
}

static void count_and_complete(selene_run run, const selene_run_info *info, void *context) {
    struct counter *counter = context;
    selene_cycle cycle = info->cycle;
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
    if (__atomic_add_fetch(&counter->runs, 1, __ATOMIC_RELAXED) ==
        __atomic_load_n(&counter->last, __ATOMIC_RELAXED))
        selene_cycle_end(cycle, NULL);
}

/* The same as a host without a C compiler makes it: code made at run time, and data of its own. */
struct closure {
    selene_run_fn body;
    union {
        void *code;
        selene_run_fn run;
    } made;
};

static void closure_body(ffi_cif *cif, void *result, void **arguments, void *data) {
    const struct closure *closure = data;
    (void)cif, (void)result;
    closure->body(*(selene_run *)arguments[0], *(const selene_run_info **)arguments[1],
                  *(void **)arguments[2]);
}

/* The closures live as long as the program. */
static selene_run_fn closure_of(selene_run_fn body) {
    static ffi_type *types[] = {&ffi_type_uint64, &ffi_type_pointer, &ffi_type_pointer};
    static ffi_cif cif;
    struct closure *closure = malloc(sizeof *closure);
    ffi_closure *code = ffi_closure_alloc(sizeof *code, &closure->made.code);
    closure->body = body;
    if (!code || ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 3, &ffi_type_void, types) != FFI_OK ||
        ffi_prep_closure_loc(code, &cif, closure_body, closure, closure->made.code) != FFI_OK) {
        fprintf(stderr, "dispatch: libffi makes no closure\n");
        exit(1);
    }
    return closure->made.run;
}

/* Calls that the compiler cannot see through. */
static double bare_calls(selene_run_fn volatile handler) {
    static selene_run_info info = SELENE_INIT(selene_run_info);
    struct counter counter = {0, 0};
    int64_t begin = now();
    for (int i = 0; i < RUNS; i++)
        handler((selene_run)i, &info, &counter);
    return (double)(now() - begin) / RUNS;
}

/* ---- whole windows ----------------------------------------------------------------- */

static selene_scheduler open_with(uint64_t tasks, selene_run_fn handler, struct counter *counter) {
    selene_scheduler scheduler = 0;
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = SELENE_INIT(selene_task);
    char id[32];
    /* Windows end while other lanes are in the handler, which is not stuck because of that. */
    options.max_overrun_per_handler = 1024;
    options.max_overrun_threads = 1024;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    stop_if(selene_handler_register(scheduler, "count", -1, handler, NULL, counter, NULL),
            "handler");
    stop_if(selene_conditions_set(scheduler, CONDITIONS, CONDITIONS), "conditions");
    task.handler = SELENE_TEXT("count");
    task.expected_response = SELENE_NONE;
    for (uint64_t i = 0; i < tasks; i++) {
        task.id.data = id;
        task.schedule = SELENE_SCHEDULE_STANDING;
        task.id.length = snprintf(id, sizeof id, "task-%011u", (unsigned)i % 100000000);
        if (selene_task_register(scheduler, &task, NULL)) stop_if(1, "task");
    }
    return scheduler;
}

static double pushed(selene_scheduler scheduler, struct counter *counter, int runs, uint32_t flags,
                     uint32_t lanes) {
    selene_window window = SELENE_INIT(selene_window);
    int before = __atomic_load_n(&counter->runs, __ATOMIC_RELAXED);
    int64_t begin = now();
    __atomic_store_n(&counter->last, before + runs, __ATOMIC_RELAXED);
    window.flags = flags;
    window.lanes = lanes;
    stop_if(selene_cycle_run(scheduler, &window, NULL), "run");
    begin = now() - begin;
    /* A run of another lane may still be counted, in this window or the next. */
    runs = __atomic_load_n(&counter->runs, __ATOMIC_RELAXED) - before;
    stop_if(runs < FEW, "too few runs");
    return (double)begin / runs;
}

static double pulled(selene_scheduler scheduler, struct counter *counter, int runs) {
    selene_run_fn volatile handler = only_count;
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    int32_t step;
    int64_t begin = now();
    stop_if(selene_cycle_begin(scheduler, &window, &cycle), "begin");
    for (int i = 0; i < runs; i++) {
        stop_if(selene_cycle_next(cycle, &step, &info, NULL), "next");
        stop_if(step != SELENE_STEP_RUN, "too few tasks");
        handler(info.run, &info, counter);
        selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA);
    }
    stop_if(selene_cycle_end(cycle, NULL), "end");
    return (double)(now() - begin) / runs;
}

enum way {
    BARE,
    BARE_CLOSURE,
    PULLED,
    INLINE,
    FEW_INLINE,
    INLINE_CLOSURE,
    ONE_LANE,
    TWO_LANES,
    AFTER_THREADS,
    WAYS
};

static const struct {
    const char *name, *about;
} ways[WAYS] = {
    {"bare call", "a function in C through a pointer"},
    {"bare call of a libffi closure", "the same through code that libffi made at run time"},
    {"pulled", "begin, 500 times next, call and complete, end"},
    {"inline", "a window of 500 runs on the thread of the host"},
    {"inline, 10 runs a window", "the same with 10 runs, which share the cost of the window"},
    {"inline, libffi closure", "500 runs again, the handler a closure of libffi"},
    {"library thread, one lane", "a window of 500 runs on a thread of the library"},
    {"library threads, two lanes", "the same on two"},
    {"inline, after library threads", "inline while those threads wait for their next window"},
};

/* Who is asked to run something, and what. */
struct ground {
    selene_run_fn bare_closure;
    selene_scheduler plain, closed, threaded;
    struct counter counters[3];
};

static double sample(struct ground *on, enum way way) {
    switch (way) {
    case BARE:
        return bare_calls(only_count);
    case BARE_CLOSURE:
        return bare_calls(on->bare_closure);
    case PULLED:
        return pulled(on->plain, &on->counters[0], RUNS);
    case INLINE:
        return pushed(on->plain, &on->counters[0], RUNS, SELENE_WINDOW_INLINE, 1);
    case FEW_INLINE:
        return pushed(on->plain, &on->counters[0], FEW, SELENE_WINDOW_INLINE, 1);
    case INLINE_CLOSURE:
        return pushed(on->closed, &on->counters[1], RUNS, SELENE_WINDOW_INLINE, 1);
    case ONE_LANE:
        return pushed(on->threaded, &on->counters[2], RUNS, 0, 1);
    case TWO_LANES:
        return pushed(on->threaded, &on->counters[2], RUNS, 0, 2);
    default:
        return pushed(on->threaded, &on->counters[2], RUNS, SELENE_WINDOW_INLINE, 1);
    }
}

static void measure(uint64_t tasks) {
    static double samples[WAYS][ROUNDS];
    struct ground on = {closure_of(only_count), 0, 0, 0, {{0, 0}, {0, 0}, {0, 0}}};
    on.plain = open_with(tasks, count_and_complete, &on.counters[0]);
    on.closed = open_with(tasks, closure_of(count_and_complete), &on.counters[1]);
    on.threaded = open_with(tasks, count_and_complete, &on.counters[2]);
    for (int i = 0; i < ROUNDS; i++) {
        for (int way = 0; way < WAYS; way++) {
            sample(&on, (enum way)way);
            samples[way][i] = sample(&on, (enum way)way);
        }
    }
    for (int i = 0; i < WAYS; i++)
        found("dispatch", ways[i].name, tasks, "ns", samples[i], ROUNDS);
    stop_if(selene_scheduler_close(on.plain, 0), "close");
    stop_if(selene_scheduler_close(on.closed, 0), "close");
    stop_if(selene_scheduler_close(on.threaded, 0), "close");
}

int main(int count, char **arguments) {
    count = take_json(count, arguments);
    for (int i = 0; i < WAYS; i++)
        about(ways[i].name, ways[i].about);
    each_size(count, arguments, measure);
    return 0;
}
