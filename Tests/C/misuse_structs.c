/*
 * misuse_structs.c - structs of every size, smaller and larger than the library's, and with unknown flags
 *
 * They are given in heap blocks of exactly their struct_size, so that a sanitizer or valgrind sees a byte read or
 * written too far.
 */
#include "misuse_arguments.h"

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
    selene_window window = SELENE_INIT(selene_window);
    memcpy(bytes, &window, sizeof window);
}

static void default_profile(void *bytes) {
    selene_profile profile = SELENE_INIT(selene_profile);
    memcpy(bytes, &profile, sizeof profile);
}

static void default_driver(void *bytes) {
    selene_driver driver = SELENE_INIT(selene_driver);
    memcpy(bytes, &driver, sizeof driver);
}

static void default_node(void *bytes) {
    selene_node_options options = SELENE_INIT(selene_node_options);
    memcpy(bytes, &options, sizeof options);
}

static const struct in_struct in_structs[] = {
    {"selene_options", "options", sizeof(selene_options), 8, 63, default_options, use_options},
    {"selene_task", "task", sizeof(selene_task), offsetof(selene_task, handler), 15, default_task,
     use_task},
    {"selene_window in begin", "window", sizeof(selene_window), 8, 15, default_window, use_begin},
    {"selene_window in run", "window", sizeof(selene_window), 8, 15, default_window, use_run},
    {"selene_window in run_async", "window", sizeof(selene_window), 8, 15, default_window,
     use_async},
    {"selene_window in plan", "window", sizeof(selene_window), 8, 15, default_window, use_plan},
    {"selene_profile", "profile", sizeof(selene_profile), 8, 0, default_profile, use_profile},
    {"selene_driver in open", "driver", sizeof(selene_driver), 8, 31, default_driver,
     use_driver_open},
    {"selene_driver in start", "driver", sizeof(selene_driver), 8, 31, default_driver,
     use_driver_start},
    {"selene_node_options", "options", sizeof(selene_node_options), 8, 1, default_node,
     use_node_open},
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
    task.schedule = SELENE_SCHEDULE_ONCE;
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
    task.timeout = SELENE_HOUR;
    task.stall_limit = SELENE_HOUR;
    task.jitter = 1000;
    task.group = SELENE_TEXT("group");
    selene_text condition = SELENE_TEXT("condition");
    task.conditions = &condition;
    task.condition_count = 1;
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
        CHECK_INT(COVERED(backoff) ? SELENE_BACKOFF_LINEAR : SELENE_BACKOFF_EXPONENTIAL,
                  info->backoff);
        CHECK_INT(COVERED(response_window) ? 7 : 3, info->response_window);
        CHECK_INT(COVERED(max_attempts) ? 9 : 0, info->max_attempts);
        CHECK_INT(COVERED(constraints) ? 3 : 0, info->constraints);
        CHECK_INT(COVERED(expected_response) ? SELENE_HOUR : -1, info->expected_response);
        CHECK_INT(COVERED(initial_delay) ? SELENE_HOUR : 0, info->initial_delay);
        CHECK_INT(COVERED(backoff_delay) ? SELENE_HOUR : 30 * SELENE_SECOND, info->backoff_delay);
        CHECK_INT(COVERED(input_length) ? 5 : 0, info->input.length);
        CHECK_INT(COVERED(timeout) ? SELENE_HOUR : 0, info->timeout);
        CHECK_INT(COVERED(stall_limit) ? SELENE_HOUR : 0, info->stall_limit);
        CHECK_INT(COVERED(jitter) ? 1000 : 0, info->jitter);
        CHECK_TEXT(COVERED(group) ? "group" : "", info->group);
        CHECK_INT(COVERED(condition_count), info->condition_count);
#undef COVERED
        selene_free(info);
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
    selene_window window = SELENE_INIT(selene_window);
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
    task.group = (selene_text){"group", 5};
    task.struct_size = offsetof(selene_task, group) + 4;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.struct_size = offsetof(selene_task, group) + 8;
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

/** What a smaller profile or driver does not have is its default. */
static void test_struct_size_governor(void) {
    static const selene_rule rule = {SELENE_FACTOR_METERED, 3, SELENE_RULE_VETO, 0, 0, 0};
    selene_scheduler s = open_still();
    selene_profile profile = SELENE_INIT(selene_profile);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_decision *decision = NULL;
    size_t size;
    CHECK_OK(selene_signal_set(s, SELENE_SIGNAL_METERED, 1, 0));
    profile.base = SELENE_PROFILE_APPLE;
    profile.threshold = 1000;
    profile.rules = &rule;
    profile.rule_count = 1;
    for (size = 8; size <= sizeof profile; size += 8) {
        selene_profile *cut = malloc(size);
        CHECK(cut);
        memcpy(cut, &profile, size);
        cut->struct_size = (uint32_t)size;
        CHECK_OK(selene_governor_set_profile(s, cut));
        CHECK_OK(selene_governor_ask(s, SELENE_KIND_PROCESSING, 0, &decision));
#define COVERED(field) (offsetof(selene_profile, field) + sizeof profile.field <= size)
        CHECK_INT(!COVERED(threshold), decision->granted);
        CHECK_INT(COVERED(threshold) ? 1000 : 500, decision->threshold);
        CHECK_INT(COVERED(rule_count) ? 8 : COVERED(base) ? 7 : 0, decision->finding_count);
#undef COVERED
        selene_free(decision);
        free(cut);
    }
    driver.processing_lanes = 1025;
    driver.struct_size = offsetof(selene_driver, processing_lanes);
    CHECK_OK(selene_driver_open(s, &driver, NULL));
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

static selene_status fill_signal(void *bytes) {
    return selene_signal_get(out_scheduler, SELENE_SIGNAL_THERMAL, bytes);
}

static selene_status fill_balance(void *bytes) {
    return selene_ledger_get(out_scheduler, SELENE_KIND_REFRESH, bytes);
}

static selene_status fill_group(void *bytes) {
    CHECK_OK(selene_group_set_limit(out_scheduler, "group", -1, 2));
    return selene_group_get(out_scheduler, "group", -1, bytes);
}

static selene_status fill_node_info(void *bytes) {
    return selene_node_get(out_scheduler, bytes);
}

static selene_status fill_request(void *bytes) {
    return selene_node_step(out_scheduler, bytes, NULL);
}

static const struct out_struct out_structs[] = {
    {"selene_scheduler_info", "out_info", sizeof(selene_scheduler_info), 1, fill_scheduler_info},
    {"selene_explanation", "out_explanation", sizeof(selene_explanation), 1, fill_explanation},
    {"selene_run_info", "out_run", sizeof(selene_run_info), 0, fill_run_info},
    {"selene_store_findings", "out_findings", sizeof(selene_store_findings), 1, fill_findings},
    {"selene_signal", "out_signal", sizeof(selene_signal), 1, fill_signal},
    {"selene_balance", "out_balance", sizeof(selene_balance), 1, fill_balance},
    {"selene_group_info", "out_info", sizeof(selene_group_info), 1, fill_group},
    {"selene_node_info", "out_info", sizeof(selene_node_info), 1, fill_node_info},
    {"selene_node_request", "out_request", sizeof(selene_node_request), 0, fill_request},
};

/** A fresh scheduler with a cycle in which a run can be taken. */
static void open_out(void) {
    out_scheduler = watched = open_furnished();
    CHECK_OK(selene_signal_set(out_scheduler, SELENE_SIGNAL_THERMAL, 1, SELENE_HOUR));
    CHECK_OK(selene_cycle_begin(out_scheduler, NULL, &out_cycle));
    CHECK_OK(selene_node_open(out_scheduler, NULL, NULL));
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
    char told[32];
    int bit;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "flags", in->use(watched, block));
    /* It says whose flags, and each that is known by its number. */
    snprintf(told, sizeof told, "out of range for %s, ", in->word);
    CHECK(strstr(selene_error_last()->message.data, told) != NULL);
    for (bit = 0; bit < 32; bit++) {
        snprintf(told, sizeof told, "(%" PRIu32 ")", UINT32_C(1) << bit);
        CHECK_INT((in->flags >> bit) & 1, strstr(selene_error_last()->message.data, told) != NULL);
    }
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

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("8.4 a struct that goes in is refused below 8 bytes and accepted from there on",
             test_struct_size_in);
    run_test("8.4 fields that a smaller struct does not have are defaults",
             test_struct_size_missing_fields);
    run_test("8.4 a pointer of which a smaller struct has only a part is not followed",
             test_struct_size_cut_pointer);
    run_test("8.4 fields that a smaller profile or driver does not have are defaults",
             test_struct_size_governor);
    run_test("8.4 a larger struct that goes in is accepted while its excess is zero",
             test_struct_size_larger_in);
    run_test("8.4 a smaller struct that comes out is filled only up to its size",
             test_struct_size_out);
    run_test("8.4 a larger struct that comes out is accepted while its excess is zero",
             test_struct_size_larger_out);
    run_test("8.4 unknown flags of a struct that goes in are INVALID_ARGUMENT", test_flags_in);
    run_test("8.4 unknown flags of a struct that comes out are INVALID_ARGUMENT", test_flags_out);
    return check_end();
}
