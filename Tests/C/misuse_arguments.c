/*
 * misuse_arguments.c - every argument that may be wrong, wrong in every way
 *
 * Structs are given in heap blocks of exactly their struct_size, texts in blocks of exactly their length, so that a
 * sanitizer or valgrind sees a byte read or written too far.
 */
#include "misuse.h"

#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Accepted as ten years, and refused as more, whichever way leap days are counted. */
#define TEN_YEARS (3650 * SELENE_DAY)
#define ABOVE_TEN_YEARS (3654 * SELENE_DAY)

/** A scheduler with something in each place: tasks of each schedule, a handler, a condition, a successor. */
static selene_scheduler open_furnished(void) {
    static const selene_text tags[] = {{"tag", 3}, {"other", 5}};
    selene_scheduler scheduler = open_still();
    selene_task task = task_of("standing");
    task.tags = tags;
    task.tag_count = 2;
    task.input = "input";
    task.input_length = 5;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task = task_of("once");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.initial_delay = SELENE_HOUR;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task.existing = SELENE_EXISTING_APPEND;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    task = task_of("periodic");
    task.kind = SELENE_KIND_PROCESSING;
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_DAY;
    task.flex = SELENE_HOUR;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    add_pulled_handler(scheduler, "standing");
    CHECK_OK(selene_conditions_set(scheduler, 3, 1));
    return scheduler;
}

/* ---- NULL ------------------------------------------------------------------------ */

static void test_null_refused(void) {
    selene_scheduler s = watched = open_furnished();
    selene_window window = SELENE_WINDOW_INIT;
    selene_options options = still_options();
    selene_cycle cycle = 0;
    selene_run run;
    const selene_status invalid = SELENE_ERROR_INVALID_ARGUMENT;

    REFUSED(invalid, "options", selene_options_init(NULL, sizeof(selene_options)));
    REFUSED(invalid, "task", selene_task_init(NULL, sizeof(selene_task)));
    REFUSED(invalid, "window", selene_window_init(NULL, sizeof(selene_window)));
    REFUSED(invalid, "out_scheduler", selene_scheduler_open(NULL, NULL));
    REFUSED(invalid, "out_scheduler", selene_scheduler_open(&options, NULL));
    REFUSED(invalid, "out_now", selene_scheduler_now(s, NULL));
    REFUSED(invalid, "out_info", selene_scheduler_get(s, NULL));
    REFUSED(invalid, "name", selene_handler_register(s, NULL, -1, count_run, NULL, NULL, NULL));
    REFUSED(invalid, "name", selene_handler_register(s, NULL, 0, count_run, NULL, NULL, NULL));
    REFUSED(invalid, "name", selene_handler_register(s, NULL, 4, count_run, NULL, NULL, NULL));
    REFUSED(invalid, "name", selene_handler_unregister(s, NULL, -1));
    REFUSED(invalid, "name", selene_handler_unregister(s, NULL, 0));
    REFUSED(invalid, "name", selene_handler_unregister(s, NULL, 4));
    REFUSED(invalid, "task", selene_task_register(s, NULL, &outs.number));
    REFUSED(invalid, "id", selene_task_cancel(s, NULL, -1, &outs.count));
    REFUSED(invalid, "id", selene_task_cancel(s, NULL, 4, &outs.count));
    REFUSED(invalid, "tag", selene_task_cancel_tag(s, NULL, -1, &outs.count));
    REFUSED(invalid, "tag", selene_task_cancel_tag(s, NULL, 0, &outs.count));
    REFUSED(invalid, "tag", selene_task_cancel_tag(s, NULL, 4, &outs.count));
    REFUSED(invalid, "id", selene_task_get(s, NULL, -1, 0, &outs.task_info));
    REFUSED(invalid, "id", selene_task_get(s, NULL, 0, 0, &outs.task_info));
    REFUSED(invalid, "out_info", selene_task_get(s, "standing", -1, 0, NULL));
    REFUSED(invalid, "tag", selene_task_list(s, NULL, 4, &outs.task_ids));
    REFUSED(invalid, "out_ids", selene_task_list(s, NULL, 0, NULL));
    REFUSED(invalid, "id", selene_task_explain(s, NULL, -1, &outs.explanation));
    REFUSED(invalid, "out_explanation", selene_task_explain(s, "standing", -1, NULL));
    REFUSED(invalid, "out_cycle", selene_cycle_begin(s, &window, NULL));
    REFUSED(invalid, "out_plan", selene_cycle_plan(s, &window, NULL));
    REFUSED(invalid, "out_satisfied", selene_conditions_get(s, NULL, &outs.bits));
    REFUSED(invalid, "tasks",
            selene_task_register_batch(s, NULL, 1, &outs.number, &outs.more_number));
    REFUSED(invalid, "out_info", selene_store_get(s, NULL));
    REFUSED(invalid, "path", selene_store_backup(s, NULL, -1));
    REFUSED(invalid, "path", selene_store_backup(s, NULL, 0));
    REFUSED(invalid, "path", selene_store_backup(s, NULL, 4));
    REFUSED(invalid, "path", selene_store_check(NULL, -1, &outs.findings));
    REFUSED(invalid, "path", selene_store_check(NULL, 4, &outs.findings));
    REFUSED(invalid, "damaged",
            selene_store_salvage(NULL, -1, "/no/such/folder/store", -1, &outs.findings));
    REFUSED(invalid, "fresh",
            selene_store_salvage("/no/such/folder/store", -1, NULL, -1, &outs.findings));

    CHECK_OK(selene_cycle_begin(s, &window, &cycle));
    REFUSED(invalid, "out_step", selene_cycle_next(cycle, NULL, &outs.run_info, &outs.instant));
    REFUSED(invalid, "out_run", selene_cycle_next(cycle, &outs.number, NULL, &outs.instant));
    run = take_run(cycle);
    REFUSED(invalid, "out_reason", selene_run_stopping(run, NULL));
    REFUSED(invalid, "out_remaining", selene_run_remaining(run, NULL));
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_null_accepted(void) {
    selene_scheduler s = open_furnished();
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_cycle cycle = 0;
    selene_plan *plan = NULL;
    selene_task_ids *ids = NULL;
    selene_task task = task_of("standing");
    uint32_t satisfied = 99;
    int64_t instant = -1;
    int32_t step = -1;

    CHECK_OK(selene_scheduler_next_wakeup(s, NULL, NULL));
    CHECK_OK(selene_scheduler_next_wakeup(s, &instant, NULL));
    CHECK_OK(selene_scheduler_next_wakeup(s, NULL, &instant));
    CHECK_OK(selene_scheduler_prune(s, NULL));
    CHECK_OK(selene_handler_register(s, "null", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_handler_unregister(s, "null", -1));
    CHECK_OK(selene_task_register(s, &task, NULL));
    {
        const selene_task *tasks[1] = {&task};
        CHECK_OK(selene_task_register_batch(s, NULL, 0, NULL, NULL));
        CHECK_OK(selene_task_register_batch(s, tasks, 1, NULL, NULL));
    }
    CHECK_OK(selene_task_cancel(s, "once", -1, NULL));
    CHECK_OK(selene_task_cancel_tag(s, "nobody", -1, NULL));
    CHECK_OK(selene_task_list(s, NULL, 0, &ids));
    CHECK_INT(3, ids->count);
    selene_task_ids_destroy(ids);
    CHECK_OK(selene_conditions_get(s, &satisfied, NULL));
    CHECK_INT(1, satisfied);
    CHECK_OK(selene_scheduler_observe(s, NULL, NULL, NULL));
    CHECK_OK(selene_cycle_plan(s, NULL, &plan));
    CHECK_INT(1, plan->run_count);
    selene_plan_destroy(plan);
    CHECK_OK(selene_cycle_begin(s, NULL, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_task_cancel_all(s, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));

    s = open_default();
    CHECK_OK(selene_cycle_run(s, NULL, NULL));
    CHECK_OK(selene_cycle_run_async(s, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_scheduler_close(s, SELENE_SECOND));

    CHECK_OK(selene_scheduler_close(0, 0));
    selene_store_info_destroy(NULL);
    selene_task_info_destroy(NULL);
    selene_task_ids_destroy(NULL);
    selene_report_destroy(NULL);
    selene_plan_destroy(NULL);
}

/* ---- struct_size of what goes in ---------------------------------------------------- */

struct in_struct {
    const char *name;
    /** What the detail must name. */
    const char *word;
    size_t size;
    /** From this size on a struct is complete enough to be accepted. */
    size_t enough;
    /** The flags that are known. */
    uint32_t flags;
    void (*defaults)(void *bytes);
    selene_status (*use)(selene_scheduler scheduler, const void *bytes);
};

static void default_options(void *bytes) {
    selene_options options = still_options();
    memcpy(bytes, &options, sizeof options);
}

static void default_task(void *bytes) {
    selene_task task = task_of("in");
    memcpy(bytes, &task, sizeof task);
}

static void default_window(void *bytes) {
    selene_window window = SELENE_WINDOW_INIT;
    memcpy(bytes, &window, sizeof window);
}

static selene_status use_options(selene_scheduler s, const void *bytes) {
    selene_status status = selene_scheduler_open(bytes, &outs.handle);
    (void)s;
    if (status == SELENE_OK) CHECK_OK(selene_scheduler_close(outs.handle, 0));
    return status;
}

static selene_status use_task(selene_scheduler s, const void *bytes) {
    return selene_task_register(s, bytes, &outs.number);
}

static selene_status use_begin(selene_scheduler s, const void *bytes) {
    selene_status status = selene_cycle_begin(s, bytes, &outs.handle);
    if (status == SELENE_OK) CHECK_OK(selene_cycle_end(outs.handle, NULL));
    return status;
}

static selene_status use_run(selene_scheduler s, const void *bytes) {
    selene_status status = selene_cycle_run(s, bytes, &outs.report);
    if (status == SELENE_OK) selene_report_destroy(outs.report);
    return status;
}

static selene_status use_async(selene_scheduler s, const void *bytes) {
    int ended = atomic_load(&destroyed);
    selene_status status =
        selene_cycle_run_async(s, bytes, NULL, NULL, count_destroy, &outs.handle, &outs.instant);
    WAIT_FOR(ended + 1, destroyed);
    return status;
}

static selene_status use_plan(selene_scheduler s, const void *bytes) {
    selene_status status = selene_cycle_plan(s, bytes, &outs.plan);
    if (status == SELENE_OK) selene_plan_destroy(outs.plan);
    return status;
}

static const struct in_struct in_structs[] = {
    {"selene_options", "options", sizeof(selene_options), 8, 7, default_options, use_options},
    {"selene_task", "task", sizeof(selene_task), offsetof(selene_task, handler), 0, default_task,
     use_task},
    {"selene_window in begin", "window", sizeof(selene_window), 8, 3, default_window, use_begin},
    {"selene_window in run", "window", sizeof(selene_window), 8, 3, default_window, use_run},
    {"selene_window in run_async", "window", sizeof(selene_window), 8, 3, default_window,
     use_async},
    {"selene_window in plan", "window", sizeof(selene_window), 8, 3, default_window, use_plan},
};

/** A block of exactly size bytes (at least those of struct_size), begun as the defaults and filled up with fill. */
static void *block_of(const struct in_struct *in, size_t size, uint32_t struct_size, int fill) {
    unsigned char *block = malloc(size < 4 ? 4 : size);
    unsigned char defaults[512];
    CHECK(block && in->size <= sizeof defaults);
    memset(block, fill, size < 4 ? 4 : size);
    in->defaults(defaults);
    memcpy(block, defaults, size < in->size ? size : in->size);
    memcpy(block, &struct_size, sizeof struct_size);
    return block;
}

/** A scheduler whose windows are empty, on the system's clock, so that every way to use a window is possible. */
static selene_scheduler open_empty(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    selene_scheduler s = 0;
    selene_task task = task_of("later");
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &s));
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.initial_delay = SELENE_DAY;
    CHECK_OK(selene_task_register(s, &task, NULL));
    return s;
}

static void test_struct_size_in(void) {
    size_t i, size;
    for (i = 0; i < COUNT(in_structs); i++) {
        const struct in_struct *in = &in_structs[i];
        for (size = 0; size <= in->size; size++) {
            selene_scheduler s = watched = open_empty();
            void *block = block_of(in, size, (uint32_t)size, 0);
            if (size < 8) {
                REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, "struct_size", in->use(s, block));
            } else if (size < in->enough) {
                /* Whether a field that is cut counts as missing is no matter: its id is not there. */
                if (size <= offsetof(selene_task, id) + sizeof(char *))
                    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "id", in->use(s, block));
            } else {
                selene_status got = in->use(s, block);
                if (got != SELENE_OK) fprintf(stderr, "%s with struct_size %zu: ", in->name, size);
                CHECK_OK(got);
            }
            free(block);
            CHECK_OK(selene_scheduler_close(s, 0));
        }
    }
}

static void test_struct_size_missing_fields(void) {
    selene_scheduler s = open_furnished();
    selene_task_info *info = NULL;
    selene_task task = task_of("cut");
    selene_task *cut;
    size_t size;
    /* Everything from priority on is something else than its default; what is not covered must be the default. A header's
     * struct ends on eight bytes; of any other size it only matters that it does no harm. */
    task.priority = 5;
    task.existing = SELENE_EXISTING_REPLACE;
    task.backoff = SELENE_BACKOFF_LINEAR;
    task.response_window = 7;
    task.max_attempts = 9;
    task.constraints = 3;
    task.expected_response = SELENE_HOUR;
    task.initial_delay = SELENE_HOUR;
    task.backoff_delay = SELENE_HOUR;
    task.input = "12345";
    task.input_length = 5;
    for (size = offsetof(selene_task, kind); size <= sizeof task; size += 4) {
        cut = malloc(size);
        CHECK(cut);
        memcpy(cut, &task, size);
        cut->struct_size = (uint32_t)size;
        CHECK_OK(selene_task_register(s, cut, NULL));
        free(cut);
        if (size % 8 != 0) continue;
        CHECK_OK(selene_task_get(s, "cut", -1, 0, &info));
#define COVERED(field) (offsetof(selene_task, field) + sizeof task.field <= size)
        CHECK_INT(COVERED(priority) ? 5 : 3, info->priority);
        CHECK_INT(COVERED(backoff) ? SELENE_BACKOFF_LINEAR : SELENE_BACKOFF_NONE, info->backoff);
        CHECK_INT(COVERED(response_window) ? 7 : 3, info->response_window);
        CHECK_INT(COVERED(max_attempts) ? 9 : 0, info->max_attempts);
        CHECK_INT(COVERED(constraints) ? 3 : 0, info->constraints);
        CHECK_INT(COVERED(expected_response) ? SELENE_HOUR : 5 * SELENE_SECOND,
                  info->expected_response);
        CHECK_INT(COVERED(initial_delay) ? SELENE_HOUR : 0, info->initial_delay);
        CHECK_INT(COVERED(backoff_delay) ? SELENE_HOUR : 30 * SELENE_SECOND, info->backoff_delay);
        CHECK_INT(COVERED(input_length) ? 5 : 0, info->input.length);
#undef COVERED
        selene_task_info_destroy(info);
        CHECK_OK(selene_task_cancel(s, "cut", -1, NULL));
        CHECK_OK(selene_scheduler_prune(s, NULL));
    }
    CHECK_OK(selene_scheduler_close(s, 0));
}

/** A pointer that is cut in the middle is no pointer. */
static void test_struct_size_cut_pointer(void) {
    static const selene_text tags[] = {{"tag", 3}, {"other", 5}};
    selene_scheduler s = watched = open_furnished(), other = 0;
    selene_task task = task_of("cut");
    selene_options options = still_options();
    selene_window window = SELENE_WINDOW_INIT;
    int64_t now = 0;

    task.tags = tags;
    task.tag_count = 2;
    task.struct_size = offsetof(selene_task, tags) + 4;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tags", selene_task_register(s, &task, &outs.number));
    task.tag_count = 0;
    task.input = "12345";
    task.input_length = 5;
    task.struct_size = offsetof(selene_task, input) + 4;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.struct_size = offsetof(selene_task, input_length);
    CHECK_OK(selene_task_register(s, &task, NULL));

    options.struct_size = offsetof(selene_options, clock) + 4;
    CHECK_OK(selene_scheduler_open(&options, &other));
    CHECK_OK(selene_scheduler_now(other, &now));
    CHECK(now > CLOCK_BEGIN);
    CHECK_OK(selene_scheduler_close(other, 0));
    options = still_options();
    options.clock_destroy = count_destroy;
    options.struct_size = offsetof(selene_options, clock_destroy) + 4;
    CHECK_OK(selene_scheduler_open(&options, &other));
    CHECK_OK(selene_scheduler_close(other, 0));
    CHECK_INT(0, destroyed);
    options = still_options();
    options.permitted = tags;
    options.permitted_count = 2;
    options.struct_size = offsetof(selene_options, permitted) + 4;
    CHECK_OK(selene_scheduler_open(&options, &other));
    add_task(other, "any");
    CHECK_OK(selene_scheduler_close(other, 0));

    window.task = text_of("standing");
    window.struct_size = offsetof(selene_window, task) + 4;
    CHECK_OK(selene_cycle_begin(s, &window, &other));
    CHECK_OK(selene_cycle_end(other, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_struct_size_larger_in(void) {
    size_t i;
    for (i = 0; i < COUNT(in_structs); i++) {
        const struct in_struct *in = &in_structs[i];
        const uint32_t larger = (uint32_t)in->size + 64;
        selene_scheduler s = watched = open_empty();
        unsigned char *block = block_of(in, larger, larger, 0);
        selene_status got = in->use(s, block);
        if (got != SELENE_OK) fprintf(stderr, "%s with a tail of zeros: ", in->name);
        CHECK_OK(got);
        CHECK_OK(selene_scheduler_close(s, 0));
        s = watched = open_empty();
        block[larger - 1] = 1;
        REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, in->word, in->use(s, block));
        block[larger - 1] = 0;
        block[in->size] = 0x80;
        REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, in->word, in->use(s, block));
        free(block);
        /* One byte more. */
        block = block_of(in, in->size + 1, (uint32_t)in->size + 1, 0);
        CHECK_OK(in->use(s, block));
        block[in->size] = 1;
        REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, in->word, in->use(s, block));
        free(block);
        /* A size that was never set: the first byte behind the struct that is not zero decides. */
        block = block_of(in, larger, UINT32_MAX, 0xFF);
        REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, in->word, in->use(s, block));
        free(block);
        CHECK_OK(selene_scheduler_close(s, 0));
    }
}

static selene_status init_options(void *bytes, uint32_t size) {
    return selene_options_init(bytes, size);
}

static selene_status init_task(void *bytes, uint32_t size) {
    return selene_task_init(bytes, size);
}

static selene_status init_window(void *bytes, uint32_t size) {
    return selene_window_init(bytes, size);
}

static void test_init_functions(void) {
    struct {
        selene_status (*init)(void *bytes, uint32_t size);
        size_t size;
    } inits[3];
    selene_options options = SELENE_OPTIONS_INIT;
    selene_task task = SELENE_TASK_INIT;
    selene_window window = SELENE_WINDOW_INIT;
    const void *macros[3];
    size_t i, size;
    inits[0].init = init_options, inits[1].init = init_task, inits[2].init = init_window;
    inits[0].size = sizeof options, inits[1].size = sizeof task, inits[2].size = sizeof window;
    macros[0] = &options, macros[1] = &task, macros[2] = &window;
    for (i = 0; i < 3; i++) {
        for (size = 0; size <= inits[i].size + 2; size++) {
            unsigned char *block = malloc(size + 1), *before = malloc(size + 1);
            uint32_t struct_size = 0;
            CHECK(block && before);
            memset(block, 0xA5, size + 1);
            memset(before, 0xA5, size + 1);
            if (size < 8 || size > inits[i].size) {
                REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, "struct_size",
                        inits[i].init(block, (uint32_t)size));
                CHECK(memcmp(block, before, size + 1) == 0);
            } else {
                CHECK_OK(inits[i].init(block, (uint32_t)size));
                memcpy(&struct_size, block, sizeof struct_size);
                CHECK_INT(size, struct_size);
                /* A field that is cut may be left out. */
                CHECK(memcmp(block + 4, (const char *)macros[i] + 4, (size & ~(size_t)7) - 4) == 0);
                CHECK_INT(0xA5, block[size]);
            }
            free(block);
            free(before);
        }
        REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, "struct_size", inits[i].init(&outs, UINT32_MAX));
    }
}

/* ---- struct_size of what comes out ---------------------------------------------------- */

/** Fills in a struct; the scheduler has an open cycle. */
struct out_struct {
    const char *name;
    const char *word;
    size_t size;
    /** Whether two calls write the same. */
    int repeats;
    selene_status (*fill)(void *bytes);
};

static selene_scheduler out_scheduler;
static selene_cycle out_cycle;
static int32_t out_step;

static selene_status fill_scheduler_info(void *bytes) {
    return selene_scheduler_get(out_scheduler, bytes);
}

static selene_status fill_explanation(void *bytes) {
    return selene_task_explain(out_scheduler, "once", -1, bytes);
}

static selene_status fill_run_info(void *bytes) {
    return selene_cycle_next(out_cycle, &out_step, bytes, NULL);
}

/* A whole store that nobody has open, of the process that runs the test. */
static char store_folder[] = "/tmp/misuse-XXXXXX", store_path[sizeof store_folder + 8];

static void remove_store(void) {
    unlink(store_path);
    rmdir(store_folder);
}

static selene_status fill_findings(void *bytes) {
    if (!store_path[0]) {
        selene_options options = still_options();
        selene_scheduler s = 0;
        CHECK(mkdtemp(store_folder) != NULL);
        snprintf(store_path, sizeof store_path, "%s/store", store_folder);
        options.path = text_of(store_path);
        CHECK_OK(selene_scheduler_open(&options, &s));
        add_task(s, "stored");
        CHECK_OK(selene_scheduler_close(s, 0));
        atexit(remove_store);
    }
    return selene_store_check(store_path, -1, bytes);
}

static const struct out_struct out_structs[] = {
    {"selene_scheduler_info", "out_info", sizeof(selene_scheduler_info), 1, fill_scheduler_info},
    {"selene_explanation", "out_explanation", sizeof(selene_explanation), 1, fill_explanation},
    {"selene_run_info", "out_run", sizeof(selene_run_info), 0, fill_run_info},
    {"selene_store_findings", "out_findings", sizeof(selene_store_findings), 1, fill_findings},
};

/** A fresh scheduler with a cycle in which a run can be taken. */
static void open_out(void) {
    out_scheduler = watched = open_furnished();
    CHECK_OK(selene_cycle_begin(out_scheduler, NULL, &out_cycle));
}

static void close_out(void) {
    CHECK_OK(selene_scheduler_close(out_scheduler, 0));
    out_scheduler = watched = 0;
}

/** A block of exactly size bytes (at least 8), which begins like an out struct and goes on as fill. */
static unsigned char *out_block(size_t size, uint32_t struct_size, int fill) {
    unsigned char *block = malloc(size < 8 ? 8 : size);
    CHECK(block);
    memset(block, fill, size < 8 ? 8 : size);
    memset(block, 0, 8);
    memcpy(block, &struct_size, sizeof struct_size);
    return block;
}

static void test_struct_size_out(void) {
    size_t i, size, whole;
    for (i = 0; i < COUNT(out_structs); i++) {
        const struct out_struct *out = &out_structs[i];
        unsigned char *full;
        open_out();
        full = out_block(out->size, (uint32_t)out->size, 0xA5);
        CHECK_OK(out->fill(full));
        close_out();
        for (size = 0; size <= out->size; size++) {
            /* Sixteen bytes behind it must stay as they are. */
            unsigned char *block = out_block(size + 16, (uint32_t)size, 0xA5), canary[16];
            memset(canary, 0xA5, sizeof canary);
            open_out();
            if (size < 8) {
                unsigned char before[24];
                memcpy(before, block, size + 16);
                REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, "struct_size", out->fill(block));
                CHECK(memcmp(before, block, size + 16) == 0);
            } else {
                uint32_t header[2];
                CHECK_OK(out->fill(block));
                memcpy(header, block, sizeof header);
                CHECK_INT(size, header[0]);
                CHECK_INT(0, header[1]);
                CHECK(memcmp(block + size, canary, sizeof canary) == 0);
                whole = size & ~(size_t)7;
                /* The life and the tokens of the other scheduler differ. */
                if (out->repeats)
                    whole = whole > offsetof(selene_scheduler_info, life) && i == 0
                                ? offsetof(selene_scheduler_info, life)
                                : whole;
                else whole = 8;
                CHECK(memcmp(block + 8, full + 8, whole - 8) == 0);
                if (out->fill == fill_run_info) {
                    CHECK_INT(SELENE_STEP_RUN, out_step);
                    if (size >= offsetof(selene_run_info, handler))
                        CHECK_TEXT("standing", ((selene_run_info *)(void *)block)->id);
                }
            }
            close_out();
            free(block);
        }
        free(full);
    }
}

static void test_struct_size_larger_out(void) {
    size_t i;
    for (i = 0; i < COUNT(out_structs); i++) {
        const struct out_struct *out = &out_structs[i];
        const uint32_t larger = (uint32_t)out->size + 32;
        unsigned char *block = out_block(larger, larger, 0), zeros[32] = {0};
        selene_status got;
        open_out();
        got = out->fill(block);
        if (got != SELENE_OK) fprintf(stderr, "%s with a tail of zeros: ", out->name);
        CHECK_OK(got);
        CHECK(memcmp(block + out->size, zeros, sizeof zeros) == 0);
        free(block);
        close_out();
        block = out_block(larger, larger, 0);
        block[larger - 1] = 1;
        open_out();
        REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, out->word, out->fill(block));
        block[larger - 1] = 0;
        block[out->size] = 1;
        REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, out->word, out->fill(block));
        free(block);
        block = out_block(larger, UINT32_MAX, 0xFF);
        REFUSED(SELENE_ERROR_UNSUPPORTED_STRUCT, out->word, out->fill(block));
        free(block);
        close_out();
    }
}

/* ---- flags ------------------------------------------------------------------------- */

/** Tries every bit that is not known, and all at once. */
static void try_flags(uint32_t known, unsigned char *block,
                      void (*refuse)(void *block, const void *context), const void *context) {
    int bit;
    for (bit = 0; bit <= 32; bit++) {
        uint32_t flags = bit < 32 ? UINT32_C(1) << bit : UINT32_MAX;
        if (flags == (flags & known)) continue;
        memcpy(block + 4, &flags, sizeof flags);
        refuse(block, context);
        /* Known ones beside it make it no better. */
        flags |= known;
        memcpy(block + 4, &flags, sizeof flags);
        refuse(block, context);
    }
}

static void refuse_in(void *block, const void *context) {
    const struct in_struct *in = context;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "flags", in->use(watched, block));
}

static void refuse_out(void *block, const void *context) {
    const struct out_struct *out = context;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "flags", out->fill(block));
}

static void test_flags_in(void) {
    size_t i;
    for (i = 0; i < COUNT(in_structs); i++) {
        unsigned char block[512];
        watched = open_empty();
        in_structs[i].defaults(block);
        try_flags(in_structs[i].flags, block, refuse_in, &in_structs[i]);
        CHECK_OK(selene_scheduler_close(watched, 0));
    }
}

static void test_flags_out(void) {
    size_t i;
    for (i = 0; i < COUNT(out_structs); i++) {
        unsigned char *block = out_block(out_structs[i].size, (uint32_t)out_structs[i].size, 0);
        open_out();
        try_flags(0, block, refuse_out, &out_structs[i]);
        close_out();
        free(block);
    }
}

/* ---- numbers ------------------------------------------------------------------------- */

#define MOST 12

/** A field, values that are refused for it and values that are accepted; the lists end before the first MARK. */
struct number {
    const char *field;
    size_t offset, width;
    int64_t refused[MOST], accepted[MOST];
};

#define MARK INT64_C(0x5E1E5E1E5E1E5E1E)
#define NUMBER(type, field) #field, offsetof(type, field), sizeof(((type *)0)->field)

static void set_number(void *bytes, const struct number *number, int64_t value) {
    if (number->width == 4) {
        uint32_t narrow = (uint32_t)value;
        memcpy((char *)bytes + number->offset, &narrow, sizeof narrow);
    } else {
        CHECK_INT(8, number->width);
        memcpy((char *)bytes + number->offset, &value, sizeof value);
    }
}

/** Tries every value of every number in a struct of these defaults. */
static void try_numbers(const struct number *numbers, size_t count, const void *defaults,
                        size_t size, selene_status (*use)(selene_scheduler, const void *)) {
    size_t i, k;
    for (i = 0; i < count; i++) {
        unsigned char bytes[512];
        selene_scheduler s = watched = open_empty();
        CHECK(size <= sizeof bytes);
        for (k = 0; numbers[i].refused[k] != MARK; k++) {
            memcpy(bytes, defaults, size);
            set_number(bytes, &numbers[i], numbers[i].refused[k]);
            REFUSED(SELENE_ERROR_INVALID_ARGUMENT, numbers[i].field, use(s, bytes));
        }
        CHECK_OK(selene_scheduler_close(s, 0));
        for (k = 0; numbers[i].accepted[k] != MARK; k++) {
            selene_status got;
            s = open_empty();
            memcpy(bytes, defaults, size);
            set_number(bytes, &numbers[i], numbers[i].accepted[k]);
            got = use(s, bytes);
            if (got != SELENE_OK)
                fprintf(stderr, "%s %" PRId64 ": ", numbers[i].field, numbers[i].accepted[k]);
            CHECK_OK(got);
            CHECK_OK(selene_scheduler_close(s, 0));
        }
    }
}

static const struct number task_numbers[] = {
    {NUMBER(selene_task, kind), {-1, 0, 3, 99, INT32_MIN, INT32_MAX, MARK}, {1, 2, MARK}},
    {NUMBER(selene_task, schedule), {-1, 3, 99, INT32_MIN, INT32_MAX, 256, MARK}, {0, 1, MARK}},
    {NUMBER(selene_task, priority),
     {0, 6, -1, 99, INT32_MIN, INT32_MAX, 257, MARK},
     {1, 2, 3, 4, 5, MARK}},
    {NUMBER(selene_task, existing),
     {-2, 5, 99, INT32_MIN, INT32_MAX, 256, MARK},
     {-1, 0, 1, 2, MARK}},
    {NUMBER(selene_task, recurrence), {-1, 2, 99, INT32_MIN, INT32_MAX, 256, MARK}, {0, 1, MARK}},
    {NUMBER(selene_task, backoff),
     {-2, 3, 99, INT32_MIN, INT32_MAX, 256, MARK},
     {-1, 0, 1, 2, MARK}},
    {NUMBER(selene_task, response_window),
     {-1, 31, 99, INT32_MIN, INT32_MAX, 256, MARK},
     {0, 1, 30, MARK}},
    {NUMBER(selene_task, max_attempts), {MARK}, {0, 1, UINT32_MAX, MARK}},
    {NUMBER(selene_task, constraints), {4, 7, 0x80000000, UINT32_MAX, MARK}, {0, 1, 2, 3, MARK}},
    {NUMBER(selene_task, expected_response),
     {-1, INT64_MIN, SELENE_DAY + 1, INT64_MAX, MARK},
     {0, 1, SELENE_DAY, MARK}},
    {NUMBER(selene_task, initial_delay),
     {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {0, 1, TEN_YEARS, MARK}},
    /* Ignored where the task is not periodic. */
    {NUMBER(selene_task, period), {MARK}, {0, -1, INT64_MIN, INT64_MAX, MARK}},
    {NUMBER(selene_task, backoff_delay), {MARK}, {0, 1, SELENE_DAY, TEN_YEARS, INT64_MAX, MARK}},
};

static const struct number periodic_numbers[] = {
    {NUMBER(selene_task, period),
     {-1, 0, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {1, SELENE_HOUR, TEN_YEARS, MARK}},
    {NUMBER(selene_task, recurrence), {-1, 2, 99, INT32_MIN, MARK}, {0, 1, MARK}},
    {NUMBER(selene_task, initial_delay),
     {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {0, TEN_YEARS, MARK}},
};

static const struct number flex_numbers[] = {
    {NUMBER(selene_task, flex),
     {-1, INT64_MIN, SELENE_HOUR + 1, INT64_MAX, MARK},
     {0, 1, SELENE_HOUR - 1, SELENE_HOUR, MARK}},
};

static void test_task_numbers(void) {
    selene_task task = task_of("numbers");
    try_numbers(task_numbers, COUNT(task_numbers), &task, sizeof task, use_task);
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.kind = SELENE_KIND_PROCESSING;
    task.period = 1;
    try_numbers(periodic_numbers, COUNT(periodic_numbers), &task, sizeof task, use_task);
    task.period = SELENE_HOUR;
    try_numbers(flex_numbers, COUNT(flex_numbers), &task, sizeof task, use_task);
}

static void test_backoff_delay_clamped(void) {
    static const int64_t given[] = {0,        1, 10 * SELENE_SECOND, SELENE_HOUR, 6 * SELENE_HOUR,
                                    INT64_MAX};
    static const int64_t effective[] = {10 * SELENE_SECOND, 10 * SELENE_SECOND, 10 * SELENE_SECOND,
                                        SELENE_HOUR,        5 * SELENE_HOUR,    5 * SELENE_HOUR};
    selene_scheduler s = open_still();
    size_t i;
    for (i = 0; i < COUNT(given); i++) {
        selene_task task = task_of("clamped");
        selene_task_info *info = NULL;
        task.backoff_delay = given[i];
        CHECK_OK(selene_task_register(s, &task, NULL));
        CHECK_OK(selene_task_get(s, "clamped", -1, 0, &info));
        CHECK_INT(effective[i], info->backoff_delay);
        selene_task_info_destroy(info);
    }
    CHECK_OK(selene_scheduler_close(s, 0));
}

static const struct number window_numbers[] = {
    {NUMBER(selene_window, kinds), {0, 4, 7, 0x80000000, UINT32_MAX, MARK}, {1, 2, 3, MARK}},
    {NUMBER(selene_window, lanes), {0, 65, 99, 0x80000000, UINT32_MAX, MARK}, {1, 2, 64, MARK}},
    {NUMBER(selene_window, budget),
     {0, -1, INT64_MIN, SELENE_DAY + 1, INT64_MAX, MARK},
     {1, SELENE_SECOND, SELENE_DAY, MARK}},
    {NUMBER(selene_window, reserve),
     {-2, -99, INT64_MIN, 30 * SELENE_SECOND + 1, INT64_MAX, MARK},
     {-1, 0, 1, 30 * SELENE_SECOND, MARK}},
};

static void test_window_numbers(void) {
    static selene_status (*const uses[])(selene_scheduler, const void *) = {use_begin, use_run,
                                                                            use_async, use_plan};
    selene_window window = SELENE_WINDOW_INIT;
    size_t i;
    for (i = 0; i < COUNT(uses); i++)
        try_numbers(window_numbers, COUNT(window_numbers), &window, sizeof window, uses[i]);
}

static void test_window_combinations(void) {
    selene_scheduler s = watched = open_empty(), still;
    selene_window window = SELENE_WINDOW_INIT;
    window.flags = SELENE_WINDOW_INLINE;
    REFUSED(SELENE_ERROR_UNSUPPORTED, "INLINE", selene_cycle_begin(s, &window, &outs.handle));
    REFUSED(SELENE_ERROR_UNSUPPORTED, "INLINE",
            selene_cycle_run_async(s, &window, count_report, NULL, count_destroy, &outs.handle,
                                   &outs.instant));
    CHECK_INT(1, destroyed);
    window.lanes = 2;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "lanes", selene_cycle_run(s, &window, &outs.report));
    window.flags = 0;
    window.task = text_of("later");
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "lanes", selene_cycle_run(s, &window, &outs.report));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "lanes", selene_cycle_begin(s, &window, &outs.handle));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "lanes", selene_cycle_plan(s, &window, &outs.plan));
    window.lanes = 1;
    REFUSED(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "later",
            selene_cycle_begin(s, &window, &outs.handle));
    window.task = text_of("nobody");
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_cycle_begin(s, &window, &outs.handle));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_cycle_run(s, &window, &outs.report));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_cycle_plan(s, &window, &outs.plan));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody",
            selene_cycle_run_async(s, &window, count_report, NULL, count_destroy, &outs.handle,
                                   &outs.instant));
    CHECK_INT(2, destroyed);
    /* Kinds are ignored where a task is named. */
    window.kinds = 0xFFFFFFFF;
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_cycle_begin(s, &window, &outs.handle));
    window = (selene_window)SELENE_WINDOW_INIT;
    still = watched = open_still();
    REFUSED(SELENE_ERROR_UNSUPPORTED, "clock", selene_cycle_run(still, &window, &outs.report));
    REFUSED(SELENE_ERROR_UNSUPPORTED, "clock",
            selene_cycle_run_async(still, &window, count_report, NULL, count_destroy, &outs.handle,
                                   &outs.instant));
    CHECK_INT(3, destroyed);
    CHECK_INT(0, called);
    CHECK_OK(selene_scheduler_close(still, 0));
    CHECK_OK(selene_scheduler_close(s, 0));
}

static const struct number options_numbers[] = {
    {NUMBER(selene_options, permitted_count), {MARK}, {0, MARK}},
    {NUMBER(selene_options, max_pending_refresh), {MARK}, {0, 1, 1000000, UINT32_MAX, MARK}},
    {NUMBER(selene_options, max_pending_processing), {MARK}, {0, 1, 1000000, UINT32_MAX, MARK}},
    {NUMBER(selene_options, minimum_backoff),
     {-1, INT64_MIN, 5 * SELENE_HOUR + 1, INT64_MAX, MARK},
     {0, 1, 5 * SELENE_HOUR, MARK}},
    {NUMBER(selene_options, maximum_backoff),
     {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {10 * SELENE_SECOND, TEN_YEARS, MARK}},
    {NUMBER(selene_options, minimum_interval_refresh),
     {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {0, 1, TEN_YEARS, MARK}},
    {NUMBER(selene_options, minimum_interval_processing),
     {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {0, 1, TEN_YEARS, MARK}},
    {NUMBER(selene_options, release_after),
     {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX, MARK},
     {0, 1, TEN_YEARS, MARK}},
    {NUMBER(selene_options, backoff_jitter),
     {1001, 0x80000000, UINT32_MAX, MARK},
     {0, 1, 1000, MARK}},
    {NUMBER(selene_options, max_overrun_threads),
     {1025, 0x80000000, UINT32_MAX, MARK},
     {0, 1, 1024, MARK}},
    {NUMBER(selene_options, seed), {MARK}, {0, -1, INT64_MIN, INT64_MAX, MARK}},
    {NUMBER(selene_options, max_input_size),
     {(INT64_C(1) << 29) + 1, -1, INT64_MIN, INT64_MAX, MARK},
     {0, 1, INT64_C(1) << 29, MARK}},
};

static void test_options_numbers(void) {
    selene_options options = SELENE_OPTIONS_INIT;
    try_numbers(options_numbers, COUNT(options_numbers), &options, sizeof options, use_options);
    /* The lower bound lies above the upper one. */
    options.minimum_backoff = 2 * SELENE_SECOND;
    options.maximum_backoff = SELENE_SECOND;
    watched = open_empty();
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "backoff",
            selene_scheduler_open(&options, &outs.handle));
    CHECK_OK(selene_scheduler_close(watched, 0));
}

static void test_call_numbers(void) {
    static const uint32_t no_bits[] = {4, 5, 7, 0x80000000, UINT32_MAX};
    static const int32_t no_outcomes[] = {
        -1, SELENE_OUTCOME_EXPIRED, SELENE_OUTCOME_STOPPED, 99, 256, INT32_MIN, INT32_MAX};
    static const int64_t no_delays[] = {-1, INT64_MIN, ABOVE_TEN_YEARS, INT64_MAX};
    static const int64_t no_graces[] = {-1, INT64_MIN, SELENE_DAY + 1, INT64_MAX};
    static const uint64_t no_positions[] = {
        2, 3, 1000, (uint64_t)INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    selene_scheduler s = watched = open_furnished();
    selene_cycle cycle = 0;
    selene_run run;
    size_t i;
    for (i = 0; i < COUNT(no_bits); i++) {
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "kinds", selene_scheduler_enable(s, no_bits[i]));
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "constraints",
                selene_conditions_set(s, no_bits[i], 0));
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "satisfied",
                selene_conditions_set(s, 1, no_bits[i]));
    }
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "satisfied", selene_conditions_set(s, 1, 2));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "satisfied", selene_conditions_set(s, 0, 1));
    for (i = 0; i < COUNT(no_positions); i++)
        REFUSED(SELENE_ERROR_NOT_FOUND, "position",
                selene_task_get(s, "once", -1, no_positions[i], &outs.task_info));
    for (i = 0; i < COUNT(no_graces); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "grace", selene_scheduler_close(s, no_graces[i]));
    CHECK_OK(selene_cycle_begin(s, NULL, &cycle));
    run = take_run(cycle);
    for (i = 0; i < COUNT(no_outcomes); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "outcome", selene_run_complete(run, no_outcomes[i]));
    for (i = 0; i < COUNT(no_delays); i++)
        REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "delay", selene_run_retry(run, no_delays[i]));
    CHECK_OK(selene_run_retry(run, TEN_YEARS));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_enable(s, 0));
    CHECK_OK(selene_scheduler_close(s, SELENE_DAY));
}

/* ---- texts --------------------------------------------------------------------------- */

/** A way in which a text goes in. */
struct text_use {
    const char *field;
    /** Empty text has a meaning of its own there. */
    int may_be_empty;
    selene_status (*use)(selene_scheduler scheduler, const char *data, int64_t length);
};

static selene_status text_id(selene_scheduler s, const char *data, int64_t length) {
    selene_task task = SELENE_TASK_INIT;
    task.id = (selene_text){data, length};
    return selene_task_register(s, &task, &outs.number);
}

static selene_status text_handler(selene_scheduler s, const char *data, int64_t length) {
    selene_task task = task_of("standing");
    task.handler = (selene_text){data, length};
    return selene_task_register(s, &task, &outs.number);
}

static selene_status text_tag(selene_scheduler s, const char *data, int64_t length) {
    selene_text tags[3] = {{"first", 5}, {NULL, 0}, {"last", 4}};
    selene_task task = task_of("standing");
    tags[1] = (selene_text){data, length};
    task.tags = tags;
    task.tag_count = 3;
    return selene_task_register(s, &task, &outs.number);
}

static selene_status text_name(selene_scheduler s, const char *data, int64_t length) {
    return selene_handler_register(s, data, length, NULL, NULL, NULL, NULL);
}

static selene_status text_unregister(selene_scheduler s, const char *data, int64_t length) {
    return selene_handler_unregister(s, data, length);
}

static selene_status text_cancel(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_cancel(s, data, length, &outs.count);
}

static selene_status text_cancel_tag(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_cancel_tag(s, data, length, &outs.count);
}

static selene_status text_get(selene_scheduler s, const char *data, int64_t length) {
    selene_status status = selene_task_get(s, data, length, 0, &outs.task_info);
    if (status == SELENE_OK) selene_task_info_destroy(outs.task_info);
    return status;
}

static selene_status text_list(selene_scheduler s, const char *data, int64_t length) {
    selene_status status = selene_task_list(s, data, length, &outs.task_ids);
    if (status == SELENE_OK) selene_task_ids_destroy(outs.task_ids);
    return status;
}

static selene_status text_explain(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_explain(s, data, length, &outs.explanation);
}

static selene_status text_window(selene_scheduler s, const char *data, int64_t length) {
    selene_window window = SELENE_WINDOW_INIT;
    window.task = (selene_text){data, length};
    return use_begin(s, &window);
}

static selene_status text_plan(selene_scheduler s, const char *data, int64_t length) {
    selene_window window = SELENE_WINDOW_INIT;
    window.task = (selene_text){data, length};
    return use_plan(s, &window);
}

static selene_status text_permitted(selene_scheduler s, const char *data, int64_t length) {
    selene_text permitted[2] = {{"first", 5}, {NULL, 0}};
    selene_options options = SELENE_OPTIONS_INIT;
    permitted[1] = (selene_text){data, length};
    options.permitted = permitted;
    options.permitted_count = 2;
    return use_options(s, &options);
}

static const struct text_use text_uses[] = {
    {"id", 0, text_id},
    {"handler", 1, text_handler},
    {"tag", 0, text_tag},
    {"name", 0, text_name},
    {"name", 0, text_unregister},
    {"id", 0, text_cancel},
    {"tag", 0, text_cancel_tag},
    {"id", 0, text_get},
    {"tag", 1, text_list},
    {"id", 0, text_explain},
    {"task", 1, text_window},
    {"task", 1, text_plan},
    {"permitted", 0, text_permitted},
};

/** Literal and its length without the NUL at its end. */
#define BYTES(literal)                                                                             \
    { ("" literal), (int64_t)sizeof(literal) - 1 }

static const selene_text bad_texts[] = {
    BYTES("\0"),
    BYTES("a\0b"),
    BYTES("ab\0"),
    BYTES("\0a"),
    /* overlong */
    BYTES("\xC0\x80"),
    BYTES("\xC0\xAF"),
    BYTES("\xC1\xBF"),
    BYTES("\xE0\x80\x80"),
    BYTES("\xE0\x9F\xBF"),
    BYTES("\xF0\x80\x80\x80"),
    BYTES("\xF0\x8F\xBF\xBF"),
    /* surrogates */
    BYTES("\xED\xA0\x80"),
    BYTES("\xED\xBF\xBF"),
    BYTES("a\xED\xA0\xBD\xED\xB8\x80"),
    /* truncated, at the end and in the middle */
    BYTES("\xC3"),
    BYTES("a\xC3"),
    BYTES("\xE2\x82"),
    BYTES("\xE2"),
    BYTES("\xF0\x9F\x98"),
    BYTES("\xF0\x9F"),
    BYTES("\xF0"),
    BYTES("\xC3"
          "a"),
    BYTES("\xE2\x82"
          "a"),
    BYTES("\xF0\x9F\x98"
          "a"),
    BYTES("\xE2\xC3\xA9"),
    /* above U+10FFFF, and bytes that no UTF-8 has */
    BYTES("\xF4\x90\x80\x80"),
    BYTES("\xF5\x80\x80\x80"),
    BYTES("\xF7\xBF\xBF\xBF"),
    BYTES("\xF8\x88\x80\x80\x80"),
    BYTES("\xFC\x84\x80\x80\x80\x80"),
    BYTES("\xFE"),
    BYTES("\xFF"),
    BYTES("a\xFFz"),
    /* continuation without a beginning */
    BYTES("\x80"),
    BYTES("\xBF"),
    BYTES("a\x80"),
    BYTES("\xC3\xA9\xA9"),
};

static const selene_text good_texts[] = {
    BYTES("a"),
    BYTES(" "),
    BYTES("\x01"),
    BYTES("\x7F"),
    BYTES("a b/c.d\\e\"f\n"),
    BYTES("*"),
    BYTES(".*"),
    BYTES("\xC2\x80"),
    BYTES("\xDF\xBF"),
    BYTES("\xE0\xA0\x80"),
    BYTES("\xED\x9F\xBF"),
    BYTES("\xEE\x80\x80"),
    BYTES("\xEF\xBF\xBF"),
    BYTES("\xEF\xBB\xBF"
          "bom"),
    BYTES("\xF0\x90\x80\x80"),
    BYTES("\xF4\x8F\xBF\xBF"),
    BYTES("\xCC\x81"
          "combining"),
};

/** The text in a block of exactly its size; with terminated there is a NUL behind. */
static char *text_block(selene_text text, int terminated) {
    size_t length = (size_t)text.length;
    char *block =
        malloc(length + (terminated ? 1 : 0) + (length + (size_t)terminated == 0 ? 1 : 0));
    CHECK(block);
    if (length > 0) memcpy(block, text.data, length);
    if (terminated) block[length] = '\0';
    return block;
}

static void refuse_text(const struct text_use *text, const char *data, int64_t length) {
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, text->field, text->use(watched, data, length));
}

static void test_bad_texts(void) {
    size_t i, k;
    char *block, longest[300];
    watched = open_furnished();
    memset(longest, 'a', sizeof longest);
    for (i = 0; i < COUNT(text_uses); i++) {
        const struct text_use *text = &text_uses[i];
        for (k = 0; k < COUNT(bad_texts); k++) {
            block = text_block(bad_texts[k], 0);
            refuse_text(text, block, bad_texts[k].length);
            free(block);
            if (memchr(bad_texts[k].data, 0, (size_t)bad_texts[k].length)) continue;
            block = text_block(bad_texts[k], 1);
            refuse_text(text, block, -1);
            free(block);
        }
        block = text_block((selene_text){longest, 256}, 1);
        refuse_text(text, block, 256);
        refuse_text(text, block, -1);
        /* 255 bytes, of which the last begins a character that is not there. */
        block[254] = '\xC3';
        refuse_text(text, block, 255);
        free(block);
        /* Lengths that mean nothing, or more than there can be. */
        block = text_block((selene_text){"abc", 3}, 0);
        refuse_text(text, block, -2);
        refuse_text(text, block, -99);
        refuse_text(text, block, INT64_MIN);
        refuse_text(text, block, INT64_MIN + 1);
        refuse_text(text, block, INT64_MAX);
        refuse_text(text, block, INT64_C(1) << 32);
        free(block);
        refuse_text(text, NULL, 1);
        refuse_text(text, NULL, 255);
        refuse_text(text, NULL, -2);
        refuse_text(text, NULL, INT64_MAX);
        refuse_text(text, NULL, INT64_MIN);
        if (text->may_be_empty) continue;
        refuse_text(text, NULL, 0);
        refuse_text(text, NULL, -1);
        refuse_text(text, "", 0);
        refuse_text(text, "", -1);
        refuse_text(text, "abc", 0);
    }
    CHECK_OK(selene_scheduler_close(watched, 0));
}

static void test_good_texts(void) {
    size_t i, k;
    char *block, longest[255];
    memset(longest, 'a', sizeof longest);
    for (i = 0; i < COUNT(text_uses); i++) {
        for (k = 0; k <= COUNT(good_texts); k++) {
            selene_text text =
                k < COUNT(good_texts) ? good_texts[k] : (selene_text){longest, sizeof longest};
            int terminated;
            for (terminated = 0; terminated <= 1; terminated++) {
                selene_scheduler s = open_furnished();
                selene_status got;
                outs_reset();
                block = text_block(text, terminated);
                got = text_uses[i].use(s, block, terminated ? -1 : text.length);
                free(block);
                if (got != SELENE_OK && got != SELENE_ERROR_NOT_FOUND) {
                    fprintf(stderr, "%s, good text %zu: %s\n", text_uses[i].field, k,
                            selene_status_detail());
                    check_fail();
                }
                CHECK_OK(selene_scheduler_close(s, 0));
            }
        }
    }
}

static void test_texts_are_copied(void) {
    selene_scheduler s = open_still();
    char id[] = "a task of some length", handler[] = "a handler of some length", tag[] = "tag",
         input[] = "input";
    selene_text tags[1];
    selene_task task = SELENE_TASK_INIT;
    selene_task_info *info = NULL;
    task.id = text_of(id);
    task.id.length = 6; /* "a task" */
    task.handler = text_of(handler);
    tags[0] = text_of(tag);
    task.tags = tags;
    task.tag_count = 1;
    task.input = input;
    task.input_length = 5;
    CHECK_OK(selene_task_register(s, &task, NULL));
    memset(id, 'x', sizeof id);
    memset(handler, 'x', sizeof handler);
    memset(tag, 'x', sizeof tag);
    memset(input, 'x', sizeof input);
    memset(tags, 0xFF, sizeof tags);
    CHECK_OK(selene_task_get(s, "a task", -1, 0, &info));
    CHECK_TEXT("a task", info->id);
    CHECK_TEXT("a handler of some length", info->handler);
    CHECK_INT(1, info->tag_count);
    CHECK_TEXT("tag", info->tags[0]);
    CHECK_TEXT("input", info->input);
    selene_task_info_destroy(info);
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_tags(void) {
    static char names[17][4];
    selene_text tags[17];
    selene_scheduler s = watched = open_furnished();
    selene_task task = task_of("tagged");
    selene_task_info *info = NULL;
    size_t i;
    for (i = 0; i < 17; i++) {
        snprintf(names[i], sizeof names[i], "t%zu", i);
        tags[i] = text_of(names[i]);
    }
    task.tags = tags;
    task.tag_count = 17;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tag", selene_task_register(s, &task, &outs.number));
    task.tag_count = 99;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tag", selene_task_register(s, &task, &outs.number));
    task.tag_count = UINT32_MAX;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tag", selene_task_register(s, &task, &outs.number));
    task.tags = NULL;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tag", selene_task_register(s, &task, &outs.number));
    task.tag_count = 1;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tags", selene_task_register(s, &task, &outs.number));
    task.tag_count = 16;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tags", selene_task_register(s, &task, &outs.number));
    /* No tags, wherever the pointer goes. */
    task.tag_count = 0;
    task.tags = (const selene_text *)(uintptr_t)1;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.tags = tags;
    task.tag_count = 16;
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_task_get(s, "tagged", -1, 0, &info));
    CHECK_INT(16, info->tag_count);
    selene_task_info_destroy(info);
    for (i = 1; i < 16; i++)
        tags[i] = tags[0];
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_task_get(s, "tagged", -1, 0, &info));
    CHECK_INT(1, info->tag_count);
    selene_task_info_destroy(info);
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_input(void) {
    selene_options options = still_options();
    selene_scheduler s = watched = open_furnished();
    selene_task task = task_of("input");
    selene_task_info *info = NULL;
    unsigned char *input = malloc(10241);
    size_t i;
    CHECK(input);
    for (i = 0; i < 10241; i++)
        input[i] = (unsigned char)(i * 7);
    task.input = input;
    task.input_length = 10241;
    REFUSED(SELENE_ERROR_TOO_LARGE, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = INT64_MAX;
    REFUSED(SELENE_ERROR_TOO_LARGE, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = -1;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = -2;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = INT64_MIN;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input = NULL;
    task.input_length = 1;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = 10240;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = -1;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = 0;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.input = (const void *)(uintptr_t)1;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.input = input;
    task.input_length = 10240;
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_task_get(s, "input", -1, 0, &info));
    CHECK_INT(10240, info->input.length);
    CHECK(memcmp(info->input.data, input, 10240) == 0);
    CHECK_INT(0, info->input.data[10240]);
    selene_task_info_destroy(info);
    CHECK_OK(selene_scheduler_close(s, 0));
    /* The scheduler's own limit. */
    options.max_input_size = 0;
    CHECK_OK(selene_scheduler_open(&options, &s));
    watched = s;
    task.input_length = 1;
    REFUSED(SELENE_ERROR_TOO_LARGE, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = 0;
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
    free(input);
}

static void test_permitted(void) {
    const uint64_t many = 65537;
    selene_text *list = malloc(many * sizeof *list);
    char(*names)[16] = malloc(many * sizeof *names);
    selene_options options = still_options();
    selene_scheduler s = 0;
    uint64_t i;
    const selene_status invalid = SELENE_ERROR_INVALID_ARGUMENT;
    CHECK(list && names);
    for (i = 0; i < many; i++) {
        snprintf(names[i], sizeof names[i], "id.%" PRIu64, i);
        list[i] = text_of(names[i]);
    }
    watched = open_furnished();
    options.permitted_count = 1;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = UINT64_MAX;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted = list;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = UINT64_MAX / sizeof *list + 1;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = (uint64_t)INT64_MAX;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = many;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = many - 1;
    CHECK_OK(selene_scheduler_open(&options, &s));
    memset(names, 'x', many * sizeof *names);
    add_task(s, "id.65535");
    CHECK_OK(selene_scheduler_close(watched, 0));
    watched = s;
    {
        selene_task task = task_of("id.65536");
        REFUSED(SELENE_ERROR_NOT_PERMITTED, "id", selene_task_register(s, &task, &outs.number));
        task.id = text_of("id.");
        REFUSED(SELENE_ERROR_NOT_PERMITTED, "id", selene_task_register(s, &task, &outs.number));
        /* Arguments are looked at first. */
        task.priority = 6;
        REFUSED(invalid, "priority", selene_task_register(s, &task, &outs.number));
    }
    CHECK_OK(selene_scheduler_close(s, 0));
    watched = 0;
    list[0] = text_of("");
    options.permitted_count = 1;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    list[0] = (selene_text){NULL, 0};
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    list[0] = (selene_text){NULL, -1};
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    free(list);
    free(names);
}

/* ---- other refusals leave everything as it was, too -------------------------------------- */

static void test_refused_register(void) {
    selene_options options = still_options();
    selene_scheduler s = 0;
    selene_task task;
    options.max_pending_refresh = 1;
    CHECK_OK(selene_scheduler_open(&options, &s));
    watched = s;
    add_task(s, "standing");
    task = task_of("once");
    task.schedule = SELENE_SCHEDULE_ONCE;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.id = text_of("one too many");
    REFUSED(SELENE_ERROR_TOO_MANY_PENDING, "refresh", selene_task_register(s, &task, &outs.number));
    task = task_of("standing");
    task.existing = SELENE_EXISTING_APPEND;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "existing",
            selene_task_register(s, &task, &outs.number));
    task.schedule = SELENE_SCHEDULE_ONCE;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "existing",
            selene_task_register(s, &task, &outs.number));
    task = task_of("once");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.kind = SELENE_KIND_PROCESSING;
    task.existing = SELENE_EXISTING_APPEND;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "kind", selene_task_register(s, &task, &outs.number));
    task.existing = SELENE_EXISTING_UPDATE;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "kind", selene_task_register(s, &task, &outs.number));
    task.kind = SELENE_KIND_REFRESH;
    task.schedule = SELENE_SCHEDULE_STANDING;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "schedule",
            selene_task_register(s, &task, &outs.number));
    CHECK_OK(selene_scheduler_enable(s, SELENE_KIND_PROCESSING));
    task = task_of("standing");
    REFUSED(SELENE_ERROR_UNAVAILABLE, "refresh", selene_task_register(s, &task, &outs.number));
    REFUSED(SELENE_ERROR_UNAVAILABLE, "refresh", selene_cycle_begin(s, NULL, &outs.handle));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_task_cancel(s, "nobody", -1, &outs.count));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_task_get(s, "nobody", -1, 0, &outs.task_info));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody",
            selene_task_explain(s, "nobody", -1, &outs.explanation));
    REFUSED(SELENE_ERROR_NOT_FOUND, "nobody", selene_handler_unregister(s, "nobody", -1));
    CHECK_OK(selene_scheduler_close(s, 0));
}

/** In a batch each task is judged on its own, by what selene_task_register would say. */
static void test_batch(void) {
    selene_task good = task_of("good"), other = task_of("other"), bad = task_of("bad"), small,
                flags;
    struct {
        selene_task task;
        uint64_t excess;
    } larger = {task_of("larger"), 1};
    const selene_task *tasks[8];
    selene_status statuses[9];
    int32_t dispositions[9];
    selene_scheduler s = watched = open_furnished();
    size_t i;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "count",
            selene_task_register_batch(s, tasks, 1000001, &outs.number, &outs.more_number));
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "count",
            selene_task_register_batch(s, tasks, UINT64_MAX, &outs.number, &outs.more_number));
    REFUSED(
        SELENE_ERROR_INVALID_ARGUMENT, "count",
        selene_task_register_batch(s, tasks, UINT64_C(1) << 61, &outs.number, &outs.more_number));
    bad.priority = 6;
    small = good;
    small.struct_size = 7;
    flags = good;
    flags.flags = 1;
    larger.task.struct_size = sizeof larger;
    tasks[0] = &good, tasks[1] = &bad, tasks[2] = NULL, tasks[3] = &small, tasks[4] = &flags;
    tasks[5] = &larger.task, tasks[6] = &good, tasks[7] = &other;
    memset(statuses, 0xA5, sizeof statuses);
    memset(dispositions, 0xA5, sizeof dispositions);
    CHECK_OK(selene_task_register_batch(s, tasks, 8, statuses, dispositions));
    CHECK_INT(SELENE_OK, statuses[0]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[1]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[2]);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED_STRUCT, statuses[3]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[4]);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED_STRUCT, statuses[5]);
    CHECK_INT(SELENE_OK, statuses[6]);
    CHECK_INT(SELENE_OK, statuses[7]);
    CHECK_INT(SELENE_DISPOSITION_ADDED, dispositions[0]);
    CHECK_INT(SELENE_DISPOSITION_UPDATED, dispositions[6]);
    CHECK_INT(SELENE_DISPOSITION_ADDED, dispositions[7]);
    for (i = 1; i < 6; i++)
        CHECK_INT(statuses[8], dispositions[i]);
    CHECK_INT(statuses[8], dispositions[8]);
    CHECK(selene_status_detail()[0] != '\0');
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(s, "other"));
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_cancel(s, "bad", -1, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
}

/** The destroy of each call that takes a callback, when the call is refused for its arguments. */
static void test_destroy_of_refused(void) {
    static const int64_t lengths[] = {0, 256, -2, INT64_MIN, INT64_MAX};
    selene_scheduler s = open_empty();
    selene_window window = SELENE_WINDOW_INIT;
    selene_options options = still_options();
    selene_cycle cycle = 0;
    char name[257];
    size_t i;
    int expected = 0;
    memset(name, 'n', sizeof name - 1);
    name[256] = '\0';
    for (i = 0; i < COUNT(lengths); i++) {
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_handler_register(s, name, lengths[i], count_run, count_stop, NULL,
                                             count_destroy));
        CHECK_INT(++expected, destroyed);
    }
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_handler_register(s, NULL, -1, count_run, count_stop, NULL, count_destroy));
    CHECK_INT(++expected, destroyed);
    CHECK_OK(selene_handler_register(s, "name", -1, NULL, NULL, NULL, NULL));
    CHECK_STATUS(
        SELENE_ERROR_ALREADY_EXISTS,
        selene_handler_register(s, "name", -1, count_run, count_stop, NULL, count_destroy));
    CHECK_INT(++expected, destroyed);
    window.budget = 0;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_cycle_run_async(s, &window, count_report, NULL, count_destroy, NULL, NULL));
    CHECK_INT(++expected, destroyed);
    window.struct_size = 3;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED_STRUCT,
                 selene_cycle_run_async(s, &window, count_report, NULL, count_destroy, NULL, NULL));
    CHECK_INT(++expected, destroyed);
    CHECK_OK(selene_cycle_begin(s, NULL, &cycle));
    CHECK_STATUS(SELENE_ERROR_BUSY,
                 selene_cycle_run_async(s, NULL, count_report, NULL, count_destroy, NULL, NULL));
    CHECK_INT(++expected, destroyed);
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_enable(s, 0));
    CHECK_STATUS(SELENE_ERROR_UNAVAILABLE,
                 selene_cycle_run_async(s, NULL, count_report, NULL, count_destroy, NULL, NULL));
    CHECK_INT(++expected, destroyed);
    /* No observer: its context ends at once. */
    CHECK_OK(selene_scheduler_observe(s, NULL, NULL, count_destroy));
    CHECK_INT(++expected, destroyed);
    CHECK_OK(selene_scheduler_close(s, 0));

    options.clock_destroy = count_destroy;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, NULL));
    CHECK_INT(++expected, destroyed);
    options.backoff_jitter = 1001;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &s));
    CHECK_INT(++expected, destroyed);
    options.backoff_jitter = 0;
    options.flags = 0x80;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &s));
    CHECK_INT(++expected, destroyed);
    options.flags = 0;
    options.permitted_count = 1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &s));
    CHECK_INT(++expected, destroyed);
    {
        struct {
            selene_options options;
            uint64_t excess;
        } larger = {still_options(), 1};
        larger.options.struct_size = sizeof larger;
        larger.options.clock_destroy = count_destroy;
        CHECK_STATUS(SELENE_ERROR_UNSUPPORTED_STRUCT, selene_scheduler_open(&larger.options, &s));
        CHECK_INT(++expected, destroyed);
    }
    /* Too small a struct holds no clock_destroy. */
    options = still_options();
    options.clock_destroy = count_destroy;
    options.struct_size = 4;
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED_STRUCT, selene_scheduler_open(&options, &s));
    CHECK_INT(expected, destroyed);
    /* And of one that is opened: when it is closed. */
    options.struct_size = sizeof options;
    CHECK_OK(selene_scheduler_open(&options, &s));
    CHECK_INT(expected, destroyed);
    CHECK_OK(selene_scheduler_close(s, 0));
    CHECK_INT(++expected, destroyed);
    CHECK_INT(0, called);
}

/* ---- times that overflow ------------------------------------------------------------------ */

/** Takes every run of a cycle and gives all the same outcome. Ends the cycle. */
static uint64_t work_through(selene_scheduler s, int32_t outcome) {
    selene_window window = SELENE_WINDOW_INIT;
    selene_run_info info = SELENE_RUN_INFO_INIT;
    selene_report *report = NULL;
    selene_cycle cycle = 0;
    uint64_t count;
    int32_t step;
    window.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    window.budget = SELENE_DAY;
    CHECK_OK(selene_cycle_begin(s, &window, &cycle));
    for (;;) {
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        if (step != SELENE_STEP_RUN) break;
        CHECK_OK(selene_run_complete(info.run, outcome));
    }
    CHECK_INT(SELENE_STEP_DONE, step);
    CHECK_OK(selene_cycle_end(cycle, &report));
    count = report->run_count;
    selene_report_destroy(report);
    return count;
}

/** Tasks of every schedule with the longest times there are. */
static void add_longest(selene_scheduler s) {
    static const char *const names[] = {"standing", "once", "period", "anchored", "short"};
    size_t i;
    for (i = 0; i < COUNT(names); i++) {
        selene_task task = task_of(names[i]);
        task.schedule = i == 0   ? SELENE_SCHEDULE_STANDING
                        : i == 1 ? SELENE_SCHEDULE_ONCE
                                 : SELENE_SCHEDULE_PERIODIC;
        task.recurrence = i >= 3 ? SELENE_RECURRENCE_ANCHORED : SELENE_RECURRENCE_AFTER_COMPLETION;
        task.period = i == 4 ? 1 : TEN_YEARS;
        task.flex = i == 2 ? 1 : 0;
        task.initial_delay = i < 2 ? TEN_YEARS : 0;
        task.expected_response = SELENE_DAY / 32;
        task.backoff_delay = INT64_MAX;
        task.backoff = SELENE_BACKOFF_EXPONENTIAL;
        CHECK_OK(selene_task_register(s, &task, NULL));
        add_pulled_handler(s, names[i]);
    }
}

static void test_clock_extremes(void) {
    static const int64_t starts[] = {
        INT64_MIN,     INT64_MIN + 1, -1, 0, 1, INT64_MAX - TEN_YEARS, INT64_MAX - SELENE_DAY,
        INT64_MAX - 1, INT64_MAX};
    static const int64_t steps[] = {1, SELENE_DAY, TEN_YEARS, INT64_MAX / 2, INT64_MAX};
    size_t i, k;
    for (i = 0; i < COUNT(starts); i++) {
        selene_options options = still_options();
        selene_scheduler s = 0;
        int64_t last = INT64_MIN, now = 0, at, delay;
        options.maximum_backoff = TEN_YEARS;
        still_now = starts[i];
        CHECK_OK(selene_scheduler_open(&options, &s));
        add_longest(s);
        for (k = 0; k < COUNT(steps); k++) {
            selene_explanation explanation = SELENE_EXPLANATION_INIT;
            CHECK_OK(selene_scheduler_now(s, &now));
            CHECK(now >= last);
            last = now;
            CHECK_OK(selene_scheduler_next_wakeup(s, &at, &delay));
            CHECK(delay >= 0);
            CHECK_OK(selene_task_explain(s, "anchored", -1, &explanation));
            CHECK_OK(selene_task_explain(s, "short", -1, &explanation));
            work_through(s, k % 2 ? SELENE_OUTCOME_FAILED : SELENE_OUTCOME_NEW_DATA);
            still_now = still_now > INT64_MAX - steps[k] ? INT64_MAX : still_now + steps[k];
        }
        CHECK_OK(selene_scheduler_close(s, 0));
    }
}

static void test_clock_goes_back(void) {
    static const int64_t readings[] = {
        CLOCK_BEGIN, CLOCK_BEGIN + 5, INT64_MIN, 0,         CLOCK_BEGIN + 4,
        -1,          CLOCK_BEGIN + 6, INT64_MAX, INT64_MIN, CLOCK_BEGIN};
    selene_scheduler s;
    int64_t last = INT64_MIN, now = 0;
    size_t i;
    still_now = CLOCK_BEGIN;
    s = open_still();
    add_longest(s);
    for (i = 0; i < COUNT(readings); i++) {
        still_now = readings[i];
        CHECK_OK(selene_scheduler_now(s, &now));
        CHECK(now >= last);
        last = now;
        work_through(s, SELENE_OUTCOME_NO_DATA);
    }
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_backoff_saturates(void) {
    static const int32_t policies[] = {SELENE_BACKOFF_LINEAR, SELENE_BACKOFF_EXPONENTIAL};
    size_t i;
    int attempt;
    for (i = 0; i < COUNT(policies); i++) {
        selene_options options = still_options();
        selene_scheduler s = 0;
        selene_task task = task_of("fails");
        selene_task_info *info = NULL;
        still_now = CLOCK_BEGIN;
        options.maximum_backoff = TEN_YEARS / 100;
        options.backoff_jitter = 1000;
        CHECK_OK(selene_scheduler_open(&options, &s));
        add_pulled_handler(s, "fails");
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.backoff = policies[i];
        task.backoff_delay = SELENE_DAY;
        CHECK_OK(selene_task_register(s, &task, NULL));
        /* 2^(n-1) days exceed 64 bits of nanoseconds from the 17th attempt on, and the shift 64 from the 65th. */
        for (attempt = 1; attempt <= 140; attempt++) {
            CHECK_INT(1, work_through(s, SELENE_OUTCOME_FAILED));
            CHECK_OK(selene_task_get(s, "fails", -1, 0, &info));
            CHECK_INT(attempt, info->attempts);
            CHECK_BETWEEN(still_now, info->earliest_begin, still_now + options.maximum_backoff);
            selene_task_info_destroy(info);
            still_now += options.maximum_backoff;
        }
        CHECK_OK(selene_scheduler_close(s, 0));
    }
}

/* ---- texts of numbers, and the detail -------------------------------------------------------- */

static void test_names_of_any_integer(void) {
    static const int32_t odd[] = {-1, -2, 7,   8,   13,    15,        16,       31,
                                  32, 99, 255, 256, 65536, INT32_MAX, INT32_MIN};
    static const char *(*const names[])(int32_t) = {
        selene_kind_name, selene_schedule_name,    selene_state_name,  selene_outcome_name,
        selene_stop_name, selene_disposition_name, selene_reason_name, selene_event_name};
    int32_t value;
    size_t i, k;
    for (value = -300; value <= 300; value++) {
        CHECK(selene_status_name(value)[0] != '\0');
        CHECK(selene_status_message(value)[0] != '\0');
        CHECK_INT((value >= 0 && value <= 4) || (value >= 16 && value <= 30) ||
                      (value >= 48 && value <= 55),
                  strcmp(selene_status_name(value), "UNKNOWN") != 0);
    }
    for (i = 0; i < COUNT(odd); i++) {
        CHECK(selene_status_name(odd[i])[0] != '\0');
        CHECK(selene_status_message(odd[i])[0] != '\0');
        for (k = 0; k < COUNT(names); k++)
            CHECK(names[k](odd[i])[0] != '\0');
        if (odd[i] < 0 || odd[i] > 15)
            for (k = 0; k < COUNT(names); k++)
                CHECK_STRING("unknown", names[k](odd[i]));
    }
    CHECK_STRING("unknown", selene_constraint_name(0));
    CHECK_STRING("unknown", selene_constraint_name(3));
    CHECK_STRING("unknown", selene_constraint_name(4));
    CHECK_STRING("unknown", selene_constraint_name(UINT32_MAX));
}

static void *detail_of_another_thread(void *context) {
    (void)context;
    CHECK_STRING("", selene_status_detail());
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_enable(0, 0));
    CHECK(selene_status_detail()[0] != '\0');
    return NULL;
}

static void test_detail(void) {
    pthread_t thread;
    selene_scheduler s;
    char detail[1024];
    CHECK_STRING("", selene_status_detail());
    s = open_still();
    CHECK_STRING("", selene_status_detail());
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_enable(s, 99));
    snprintf(detail, sizeof detail, "%s", selene_status_detail());
    CHECK(strstr(detail, "kinds") && strstr(detail, "99"));
    CHECK_INT(0, pthread_create(&thread, NULL, detail_of_another_thread, NULL));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_OK(selene_scheduler_enable(s, 3));
    CHECK_STRING(detail, selene_status_detail());
    /* What it quotes may be long, or not fit for a terminal. */
    {
        char id[256];
        size_t i;
        memset(id, 1, sizeof id - 1);
        id[255] = '\0';
        CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_cancel(s, id, -1, NULL));
        snprintf(detail, sizeof detail, "%s", selene_status_detail());
        CHECK(detail[0] != '\0');
        for (i = 0; detail[i]; i++)
            CHECK((unsigned char)detail[i] >= ' ' && detail[i] != 0x7F);
        for (i = 0; i + 1 < sizeof id - 1; i += 2)
            memcpy(id + i, "\xC3\xA9", 2);
        id[254] = '\0';
        CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_task_cancel(s, id, -1, NULL));
        CHECK(selene_status_detail()[0] != '\0');
    }
    CHECK_OK(selene_scheduler_close(s, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("8.2 a NULL where a pointer is needed is INVALID_ARGUMENT and changes nothing",
             test_null_refused);
    run_test("8.2 a NULL is accepted wherever the header says that it may be", test_null_accepted);
    run_test("8.4 a struct that goes in is refused below 8 bytes and accepted from there on",
             test_struct_size_in);
    run_test("8.4 fields that a smaller struct does not have are defaults",
             test_struct_size_missing_fields);
    run_test("8.4 a pointer of which a smaller struct has only a part is not followed",
             test_struct_size_cut_pointer);
    run_test("8.4 a larger struct that goes in is accepted while its excess is zero",
             test_struct_size_larger_in);
    run_test("8.4 an _init function writes the defaults up to the size it is given",
             test_init_functions);
    run_test("8.4 a smaller struct that comes out is filled only up to its size",
             test_struct_size_out);
    run_test("8.4 a larger struct that comes out is accepted while its excess is zero",
             test_struct_size_larger_out);
    run_test("8.4 unknown flags of a struct that goes in are INVALID_ARGUMENT", test_flags_in);
    run_test("8.4 unknown flags of a struct that comes out are INVALID_ARGUMENT", test_flags_out);
    run_test("T2 numbers of a task outside their range are refused, at its ends accepted",
             test_task_numbers);
    run_test("T2 a backoff delay is clamped into the bounds of the scheduler",
             test_backoff_delay_clamped);
    run_test("C1 numbers of a window outside their range are refused, at its ends accepted",
             test_window_numbers);
    run_test("C5 combinations of a window that do not exist are refused", test_window_combinations);
    run_test("8.4 numbers of the options outside their range are refused, at its ends accepted",
             test_options_numbers);
    run_test("P6 numbers of calls outside their range are refused and change nothing",
             test_call_numbers);
    run_test("T1 text that is empty, too long or no UTF-8 is refused wherever text goes in",
             test_bad_texts);
    run_test("T1 text of 1 to 255 bytes of UTF-8 is accepted wherever text goes in",
             test_good_texts);
    run_test("8.5 text that goes in is copied", test_texts_are_copied);
    run_test("T1 17 tags are refused, 16 accepted, repeated ones count once", test_tags);
    run_test("T2 input is refused above its limit, and when it is not there", test_input);
    run_test("T7 a list of permitted ids is refused when it is too long, NULL or not text",
             test_permitted);
    run_test("T4 a refused register changes nothing, whatever refused it", test_refused_register);
    run_test("T4 in a batch what is refused changes nothing and stops nothing", test_batch);
    run_test("8.6 destroy is called exactly once when the call that took it is refused",
             test_destroy_of_refused);
    run_test("P6 no time overflows, wherever a host clock stands", test_clock_extremes);
    run_test("P2 scheduler time never goes back, whatever a host clock says", test_clock_goes_back);
    run_test("C10 backoff saturates at the maximum backoff", test_backoff_saturates);
    run_test("8.3 every integer has a name", test_names_of_any_integer);
    run_test("8.3 the detail belongs to the thread and stays until its next failed call",
             test_detail);
    return check_end();
}
