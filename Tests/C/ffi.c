/*
 * ffi.c - the border as a host without a C compiler sees it: through libffi (design, section 8, rule 9)
 *
 * Every exported function is called by ffi_call from a table of signatures.
 *
 * Arguments: the list of exported symbols (Sources/SeleneABI/symbols.txt), then the filter of check.h.
 */
#include "ffi_tools.h"

/* ============================================================================
 *  THE TABLE
 * ========================================================================= */

/* One letter a type, the result first: v nothing, i int32_t, u uint32_t, l int64_t, h uint64_t (also handles and
 * tokens), p pointer. */
struct function {
    const char *name;
    void (*address)(void);
    const char *signature;
    int called;
};

#define FUNCTION(name, signature)                                                                  \
    { #name, FFI_FN(name), signature, 0 }

static struct function functions[] = {
    FUNCTION(selene_version, "u"),
    FUNCTION(selene_name, "pil"),
    FUNCTION(selene_error_last, "p"),
    FUNCTION(selene_status_message, "pi"),
    FUNCTION(selene_scheduler_open, "ipp"),
    FUNCTION(selene_scheduler_close, "ihl"),
    FUNCTION(selene_scheduler_now, "ihp"),
    FUNCTION(selene_scheduler_get, "ihp"),
    FUNCTION(selene_scheduler_enable, "ihu"),
    FUNCTION(selene_scheduler_pause, "ihupll"),
    FUNCTION(selene_pause_list, "ihp"),
    FUNCTION(selene_free, "vp"),
    FUNCTION(selene_scheduler_next_wakeup, "ihpp"),
    FUNCTION(selene_scheduler_prune, "ihp"),
    FUNCTION(selene_scheduler_drain, "ihl"),
    FUNCTION(selene_scheduler_resume, "ih"),
    FUNCTION(selene_scheduler_reset, "ih"),
    FUNCTION(selene_scheduler_observe, "ihppp"),
    FUNCTION(selene_clock_set, "ihl"),
    FUNCTION(selene_clock_advance, "ihlulp"),
    FUNCTION(selene_events_open, "ihhp"),
    FUNCTION(selene_events_next, "ihlppp"),
    FUNCTION(selene_events_close, "ih"),
    FUNCTION(selene_run_get, "ihp"),
    FUNCTION(selene_driver_wait, "ihlp"),
    FUNCTION(selene_handler_register, "ihplpppp"),
    FUNCTION(selene_handler_unregister, "ihpl"),
    FUNCTION(selene_task_register, "ihpp"),
    FUNCTION(selene_task_register_batch, "ihphpp"),
    FUNCTION(selene_task_cancel, "ihplp"),
    FUNCTION(selene_task_cancel_tag, "ihplp"),
    FUNCTION(selene_task_cancel_all, "ihp"),
    FUNCTION(selene_task_get, "ihplhp"),
    FUNCTION(selene_task_get_output, "ihplp"),
    FUNCTION(selene_task_waits, "ihplp"),
    FUNCTION(selene_task_retry, "ihpl"),
    FUNCTION(selene_task_retry_successors, "ihplp"),
    FUNCTION(selene_task_retry_all, "ihplup"),
    FUNCTION(selene_task_set_next, "ihpll"),
    FUNCTION(selene_task_pause, "ihplp"),
    FUNCTION(selene_task_pause_tag, "ihplp"),
    FUNCTION(selene_task_resume, "ihplp"),
    FUNCTION(selene_task_resume_tag, "ihplp"),
    FUNCTION(selene_group_set_limit, "ihplu"),
    FUNCTION(selene_group_pause, "ihpl"),
    FUNCTION(selene_group_resume, "ihpl"),
    FUNCTION(selene_group_get, "ihplp"),
    FUNCTION(selene_group_list, "ihp"),
    FUNCTION(selene_task_list_state, "ihip"),
    FUNCTION(selene_task_list, "ihplp"),
    FUNCTION(selene_task_explain, "ihplp"),
    FUNCTION(selene_cycle_begin, "ihpp"),
    FUNCTION(selene_cycle_next, "ihppp"),
    FUNCTION(selene_cycle_end, "ihp"),
    FUNCTION(selene_cycle_drain, "ihl"),
    FUNCTION(selene_cycle_wait, "ihlpp"),
    FUNCTION(selene_cycle_descriptor, "ihp"),
    FUNCTION(selene_lane_open, "ihp"),
    FUNCTION(selene_lane_next, "ihilppp"),
    FUNCTION(selene_lane_close, "ih"),
    FUNCTION(selene_cycle_run, "ihpp"),
    FUNCTION(selene_cycle_run_async, "ihpppppp"),
    FUNCTION(selene_cycle_plan, "ihpp"),
    FUNCTION(selene_log_set, "ippp"),
    FUNCTION(selene_store_get, "ihp"),
    FUNCTION(selene_store_backup, "ihpl"),
    FUNCTION(selene_store_check, "iplp"),
    FUNCTION(selene_store_salvage, "iplplp"),
    FUNCTION(selene_run_complete, "ihi"),
    FUNCTION(selene_run_retry, "ihl"),
    FUNCTION(selene_run_fail, "ihilpl"),
    FUNCTION(selene_run_progress, "ihllpl"),
    FUNCTION(selene_run_set_output, "ihpl"),
    FUNCTION(selene_run_set_user, "ihp"),
    FUNCTION(selene_run_user, "ihp"),
    FUNCTION(selene_run_complete_until, "ihil"),
    FUNCTION(selene_run_stopping, "ihp"),
    FUNCTION(selene_run_sleep, "ihlp"),
    FUNCTION(selene_run_remaining, "ihp"),
    FUNCTION(selene_conditions_set, "ihuu"),
    FUNCTION(selene_conditions_get, "ihpp"),
    FUNCTION(selene_condition_define, "ihpl"),
    FUNCTION(selene_condition_undefine, "ihpl"),
    FUNCTION(selene_condition_set, "ihpli"),
    FUNCTION(selene_condition_get, "ihplp"),
    FUNCTION(selene_condition_list, "ihp"),
    FUNCTION(selene_condition_missing, "ihplp"),
    FUNCTION(selene_signal_set, "ihill"),
    FUNCTION(selene_signal_clear, "ihi"),
    FUNCTION(selene_signal_get, "ihip"),
    FUNCTION(selene_governor_set_profile, "ihp"),
    FUNCTION(selene_governor_ask, "ihiup"),
    FUNCTION(selene_governor_last, "ihip"),
    FUNCTION(selene_ledger_get, "ihip"),
    FUNCTION(selene_ledger_report, "ihill"),
    FUNCTION(selene_use_report, "ihll"),
    FUNCTION(selene_governor_forecast, "ihiphp"),
    FUNCTION(selene_trace_record, "ihpl"),
    FUNCTION(selene_trace_replay, "iplpp"),
    FUNCTION(selene_server_start, "ihpp"),
    FUNCTION(selene_server_open, "ihppp"),
    FUNCTION(selene_server_step, "ihp"),
    FUNCTION(selene_server_get, "ihp"),
    FUNCTION(selene_server_close, "ih"),
    FUNCTION(selene_client_list, "ihp"),
    FUNCTION(selene_scheduler_connect, "ipp"),
    FUNCTION(selene_driver_start, "ihp"),
    FUNCTION(selene_driver_open, "ihpp"),
    FUNCTION(selene_driver_step, "ihpp"),
    FUNCTION(selene_driver_stop, "ihl"),
    FUNCTION(selene_task_launch, "ihpl"),
    FUNCTION(selene_task_expire, "ihpl"),
    FUNCTION(selene_node_open, "ihpp"),
    FUNCTION(selene_node_step, "ihpp"),
    FUNCTION(selene_node_wait, "ihlp"),
    FUNCTION(selene_node_rows, "ihhphh"),
    FUNCTION(selene_node_failed, "ihhipp"),
    FUNCTION(selene_node_hint, "ih"),
    FUNCTION(selene_node_get, "ihp"),
    FUNCTION(selene_node_leave, "ihl"),
    FUNCTION(selene_node_close, "ih"),
    FUNCTION(selene_run_fence, "ihpp"),
    FUNCTION(selene_run_decided_by_host, "ih"),
};

#define FUNCTIONS (sizeof functions / sizeof functions[0])

struct value {
    char type;
    union {
        int32_t i;
        uint32_t u;
        int64_t l;
        uint64_t h;
        void *p;
        ffi_arg word; /* what libffi widens small results to */
    } as;
};

static struct value i32(int32_t value) {
    return (struct value){.type = 'i', .as.i = value};
}
static struct value u32(uint32_t value) {
    return (struct value){.type = 'u', .as.u = value};
}
static struct value i64(int64_t value) {
    return (struct value){.type = 'l', .as.l = value};
}
static struct value u64(uint64_t value) {
    return (struct value){.type = 'h', .as.h = value};
}
static struct value ptr(const void *value) {
    return (struct value){.type = 'p', .as.p = (void *)(uintptr_t)value};
}

/** Calls a function of the table; the values must be of its argument types. */
static struct value call(const char *name, struct value *values, unsigned count) {
    ffi_cif cif;
    ffi_type *types[8];
    void *pointers[8];
    struct value result = {0};
    for (size_t i = 0; i < FUNCTIONS; i++) {
        struct function *function = &functions[i];
        if (strcmp(function->name, name) != 0) continue;
        CHECK_INT(strlen(function->signature) - 1, count);
        for (unsigned k = 0; k < count; k++) {
            CHECK_INT(function->signature[k + 1], values[k].type);
            types[k] = type_of(values[k].type);
            pointers[k] = &values[k].as;
        }
        CHECK_INT(FFI_OK, ffi_prep_cif(&cif, FFI_DEFAULT_ABI, count,
                                       type_of(function->signature[0]), types));
        ffi_call(&cif, function->address, &result.as.word, pointers);
        result.type = function->signature[0];
        function->called++;
        return result;
    }
    fprintf(stderr, "%s is not in the table\n", name);
    check_fail();
}

#define CALL(name, ...)                                                                            \
    call(name, (struct value[]){__VA_ARGS__},                                                      \
         (unsigned)(sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value)))
#define CALL_STATUS(expected, name, ...)                                                           \
    CHECK_STATUS((expected), (int32_t)CALL(name, __VA_ARGS__).as.word)
#define CALL_OK(name, ...) CALL_STATUS(SELENE_OK, name, __VA_ARGS__)
#define CALL_STRING(expected, name, ...)                                                           \
    CHECK_STRING((expected), (const char *)CALL(name, __VA_ARGS__).as.p)

/* ============================================================================
 *  THE TABLE: TESTS
 * ========================================================================= */

static const char *symbols_path;

static void test_symbols(void) {
    FILE *file = fopen(symbols_path, "r");
    char line[256];
    size_t found = 0;
    int missing = 0;
    if (!file) perror(symbols_path);
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file)) {
        size_t i = 0;
        line[strcspn(line, " \t\r\n")] = 0;
        if (!line[0] || line[0] == '#') continue;
        while (i < FUNCTIONS && strcmp(functions[i].name, line) != 0)
            i++;
        if (i < FUNCTIONS) {
            CHECK_INT(0, functions[i].called++); /* no symbol twice */
            found++;
        } else {
            fprintf(stderr, "%s is exported and not in the table\n", line);
            missing++;
        }
    }
    fclose(file);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (functions[i].called) continue;
        fprintf(stderr, "%s is in the table and not exported\n", functions[i].name);
        missing++;
    }
    CHECK_INT(0, missing);
    CHECK_INT(FUNCTIONS, found);
}

/** The governor of a scheduler on the clock of libffi, and a driver on a thread. */
static void call_governor(selene_scheduler scheduler, selene_scheduler threaded) {
    selene_profile profile = {0};
    selene_driver driver = {0};
    selene_signal signal = {0};
    selene_balance balance = {0};
    selene_decision *decision = NULL;
    selene_forecast forecast = {0, 0, 0};
    selene_task request = SELENE_INIT(selene_task);
    selene_cycle cycle = 77;
    uint64_t count = 77, difference = 77;
    int64_t now = 0, at = 0;
    int32_t descriptor = -1, ready = -1;
    char folder[] = "/tmp/selene-ffi.XXXXXX", trace[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(trace, sizeof trace, "%s/trace", folder);

    CALL_STRING("thermal", "selene_name", i32(SELENE_NAMES_SIGNAL), i64(SELENE_SIGNAL_THERMAL));
    CALL_STRING("books", "selene_name", i32(SELENE_NAMES_SOURCE), i64(SELENE_SOURCE_BOOKS));
    CALL_STRING("recent_use", "selene_name", i32(SELENE_NAMES_FACTOR),
                i64(SELENE_FACTOR_RECENT_USE));
    CALL_STRING("vetoed", "selene_name", i32(SELENE_NAMES_VERDICT), i64(SELENE_VERDICT_VETOED));
    CALL_STRING("bytes", "selene_name", i32(SELENE_NAMES_MEASURE), i64(SELENE_MEASURE_BYTES));
    CALL_STRING("strict", "selene_name", i32(SELENE_NAMES_PROFILE), i64(SELENE_PROFILE_STRICT));
    signal = (selene_signal)SELENE_INIT(selene_signal);
    balance = (selene_balance)SELENE_INIT(selene_balance);

    CALL_OK("selene_trace_record", u64(scheduler), ptr(trace), i64(-1));
    profile = (selene_profile)SELENE_INIT(selene_profile);
    profile.base = SELENE_PROFILE_APPLE;
    CALL_OK("selene_governor_set_profile", u64(scheduler), ptr(&profile));
    CALL_OK("selene_signal_set", u64(scheduler), i32(SELENE_SIGNAL_USER_ACTIVE), i64(1),
            i64(SELENE_MINUTE));
    CALL_OK("selene_signal_get", u64(scheduler), i32(SELENE_SIGNAL_USER_ACTIVE), ptr(&signal));
    CHECK_INT(1, signal.value);
    CHECK_INT(SELENE_SOURCE_HOST, signal.source);
    CHECK_INT(SELENE_MINUTE, signal.until - signal.set_at);
    CALL_OK("selene_governor_ask", u64(scheduler), i32(SELENE_KIND_PROCESSING), u32(0),
            ptr(&decision));
    CHECK_INT(0, decision->granted);
    CALL("selene_free", ptr(decision));
    CALL_OK("selene_governor_last", u64(scheduler), i32(SELENE_KIND_PROCESSING), ptr(&decision));
    CHECK_INT(SELENE_KIND_PROCESSING, decision->kind);
    CHECK_INT(signal.until, decision->ask_again_at);
    CALL("selene_free", ptr(decision));
    CALL_OK("selene_signal_clear", u64(scheduler), i32(SELENE_SIGNAL_USER_ACTIVE));
    CALL_OK("selene_ledger_report", u64(scheduler), i32(SELENE_KIND_REFRESH), i64(5), i64(6));
    CALL_OK("selene_ledger_get", u64(scheduler), i32(SELENE_KIND_REFRESH), ptr(&balance));
    CHECK_INT(10 * SELENE_MINUTE, balance.free);
    CALL_OK("selene_scheduler_now", u64(scheduler), ptr(&now));
    CALL_OK("selene_use_report", u64(scheduler), i64(now), i64(now));
    CALL_OK("selene_governor_forecast", u64(scheduler), i32(SELENE_KIND_REFRESH), ptr(&forecast),
            u64(1), ptr(&count));
    CHECK_INT(1, count);
    CHECK_INT(500, forecast.probability);
    CALL_OK("selene_trace_record", u64(scheduler), ptr(NULL), i64(0));
    CALL_OK("selene_trace_replay", ptr(trace), i64(-1), ptr(&count), ptr(&difference));
    CHECK_INT(1, count);
    CHECK_INT(0, difference);
    unlink(trace), rmdir(folder);

    driver = (selene_driver)SELENE_INIT(selene_driver);
    CHECK_INT(0, driver.processing_budget);
    CALL_OK("selene_driver_open", u64(scheduler), ptr(&driver), ptr(&descriptor));
    CHECK(descriptor >= 0);
    CALL_OK("selene_driver_step", u64(scheduler), ptr(&cycle), ptr(&at));
    CHECK_INT(0, cycle);
    CALL_OK("selene_driver_wait", u64(scheduler), i64(0), ptr(&ready));
    CHECK_INT(0, ready);
    CALL_OK("selene_driver_stop", u64(scheduler), i64(0));
    request.id = SELENE_TEXT("request");
    request.schedule = SELENE_SCHEDULE_ONCE;
    CALL_OK("selene_task_register", u64(threaded), ptr(&request), ptr(NULL));
    CALL_STATUS(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, "selene_task_launch", u64(threaded),
                ptr("request"), i64(-1));
    CALL_STATUS(SELENE_ERROR_NOT_FOUND, "selene_task_expire", u64(threaded), ptr("request"),
                i64(-1));
    CALL_OK("selene_driver_start", u64(threaded), ptr(NULL));
    CALL_OK("selene_driver_stop", u64(threaded), i64(SELENE_SECOND));
}

/** A node: its first statement, an answer, that there is none, and a run that is none of it. */
static void call_node(selene_scheduler scheduler, selene_run run) {
    selene_node_options options = {0};
    selene_node_request request = {0};
    selene_node_info info = {0};
    selene_value cells[2] = {{SELENE_VALUE_INTEGER, 0, 7, NULL, 0},
                             {SELENE_VALUE_INTEGER, 0, 0, NULL, 0}};
    int64_t at = 0;
    int32_t descriptor = -1, ready = -1;
    options = (selene_node_options)SELENE_INIT(selene_node_options);
    request = (selene_node_request)SELENE_INIT(selene_node_request);
    info = (selene_node_info)SELENE_INIT(selene_node_info);
    CALL_OK("selene_node_open", u64(scheduler), ptr(&options), ptr(&descriptor));
    CHECK(descriptor >= 0);
    CALL_OK("selene_node_wait", u64(scheduler), i64(0), ptr(&ready));
    CHECK_INT(1, ready);
    CALL_OK("selene_node_step", u64(scheduler), ptr(&request), ptr(&at));
    CHECK_INT(1, request.number);
    CHECK_INT(4, request.value_count);
    CHECK(strstr(request.sql.data, "hello") != NULL);
    CALL_OK("selene_node_rows", u64(scheduler), u64(request.number), ptr(cells), u64(1), u64(2));
    CALL_OK("selene_node_get", u64(scheduler), ptr(&info));
    CHECK_INT(SELENE_NODE_WORKING, info.state);
    CHECK_INT(7, info.worker);
    CALL_OK("selene_node_hint", u64(scheduler));
    CALL_OK("selene_node_failed", u64(scheduler), u64(request.number), i32(1), ptr("57P01"),
            ptr("terminating connection"));
    CALL_STATUS(SELENE_ERROR_UNSUPPORTED, "selene_run_fence", u64(run), ptr(&at), ptr(NULL));
    CALL_STATUS(SELENE_ERROR_UNSUPPORTED, "selene_run_decided_by_host", u64(run));
    CALL_OK("selene_node_leave", u64(scheduler), i64(0));
    CALL_OK("selene_node_get", u64(scheduler), ptr(&info));
    CHECK_INT(SELENE_NODE_CLOSED, info.state);
    CALL_OK("selene_node_close", u64(scheduler));
}

static void test_every_function(void) {
    selene_options options, default_options = SELENE_INIT(selene_options);
    selene_task task, default_task = SELENE_INIT(selene_task);
    selene_window window, default_window = SELENE_INIT(selene_window);
    selene_scheduler_info counts = {0};
    selene_run_info run = {0}, other = SELENE_INIT(selene_run_info), *told = NULL;
    void *user = NULL;
    selene_event event = {0};
    selene_explanation explanation = {0};
    selene_scheduler scheduler = 0, threaded = 0;
    selene_task_info *info = NULL;
    selene_task_ids *ids = NULL;
    selene_task_output *output = NULL;
    selene_plan *plan = NULL;
    selene_waits *waits = NULL;
    selene_report *report = NULL;
    const selene_error *fault;
    selene_cycle cycle = 0;
    int64_t at = -1, delay = -1;
    uint64_t count = 99;
    uint32_t satisfied = 99, host = 99;
    int32_t number = 99, fd = -1;
    selene_lane lane = 0;
    const selene_text tag = SELENE_TEXT("tag");
    struct owner *clock = make_owner("clock", CLOCK, -1);
    struct owner *observer = make_owner("observer", EVENT, -1);
    struct owner *handler, *receiver, *sink;

    CHECK_INT(SELENE_VERSION_NUMBER, (uint32_t)call("selene_version", NULL, 0).as.word);
    CHECK_STRING("", ((const selene_error *)call("selene_error_last", NULL, 0).as.p)->message.data);
    CALL_STRING("NOT_FOUND", "selene_name", i32(SELENE_NAMES_STATUS), i64(SELENE_ERROR_NOT_FOUND));
    CHECK(strlen((const char *)CALL("selene_status_message", i32(SELENE_ERROR_NOT_FOUND)).as.p) >
          0);
    CALL_STRING("processing", "selene_name", i32(SELENE_NAMES_KIND), i64(SELENE_KIND_PROCESSING));
    CALL_STRING("periodic", "selene_name", i32(SELENE_NAMES_SCHEDULE),
                i64(SELENE_SCHEDULE_PERIODIC));
    CALL_STRING("cancelled", "selene_name", i32(SELENE_NAMES_STATE), i64(SELENE_STATE_CANCELLED));
    CALL_STRING("abandoned", "selene_name", i32(SELENE_NAMES_OUTCOME),
                i64(SELENE_OUTCOME_ABANDONED));
    CALL_STRING("shutdown", "selene_name", i32(SELENE_NAMES_STOP), i64(SELENE_STOP_SHUTDOWN));
    CALL_STRING("held", "selene_name", i32(SELENE_NAMES_DISPOSITION), i64(SELENE_DISPOSITION_HELD));
    CALL_STRING("next_cycle", "selene_name", i32(SELENE_NAMES_REASON),
                i64(SELENE_REASON_NEXT_CYCLE));
    CALL_STRING("released", "selene_name", i32(SELENE_NAMES_EVENT), i64(SELENE_EVENT_RELEASED));
    CALL_STRING("overrun", "selene_name", i32(SELENE_NAMES_TROUBLE), i64(SELENE_TROUBLE_OVERRUN));
    CALL_STRING("external_power", "selene_name", i32(SELENE_NAMES_CONSTRAINT),
                i64(SELENE_CONSTRAINT_EXTERNAL_POWER));

    memset(&options, 0xa5, sizeof options);
    memset(&task, 0xa5, sizeof task);
    memset(&window, 0xa5, sizeof window);
    options = (selene_options)SELENE_INIT(selene_options);
    task = (selene_task)SELENE_INIT(selene_task);
    window = (selene_window)SELENE_INIT(selene_window);
    run = (selene_run_info)SELENE_INIT(selene_run_info);
    explanation = (selene_explanation)SELENE_INIT(selene_explanation);
    counts = (selene_scheduler_info)SELENE_INIT(selene_scheduler_info);
    CHECK_INT(0, memcmp(&options, &default_options, sizeof options));
    CHECK_INT(0, memcmp(&task, &default_task, sizeof task));
    CHECK_INT(0, memcmp(&window, &default_window, sizeof window));

    atomic_store(&clock_value, 1000 * SELENE_SECOND);
    options.clock = clock->callbacks[CLOCK].clock;
    options.clock_context = clock->context;
    options.clock_destroy = clock->callbacks[DESTROY].destroy;
    CALL_OK("selene_scheduler_open", ptr(&options), ptr(&scheduler));
    CHECK(scheduler != 0);
    CALL_OK("selene_scheduler_now", u64(scheduler), ptr(&at));
    CHECK_INT(1000 * SELENE_SECOND, at);
    CALL_OK("selene_scheduler_observe", u64(scheduler), ptr(observer->callbacks[EVENT].code),
            ptr(observer->context), ptr(observer->callbacks[DESTROY].code));
    CALL_OK("selene_conditions_set", u64(scheduler), u32(3), u32(SELENE_CONSTRAINT_NETWORK));
    CALL_OK("selene_conditions_get", u64(scheduler), ptr(&satisfied), ptr(&host));
    CHECK_INT(SELENE_CONSTRAINT_NETWORK, satisfied & 3);
    CHECK_INT(3, host);
    CALL_OK("selene_scheduler_enable", u64(scheduler), u32(SELENE_KIND_REFRESH));

    handler = make_handler(scheduler, "a", COMPLETE);
    CALL_OK("selene_handler_register", u64(scheduler), ptr("a"), i64(-1),
            ptr(handler->callbacks[RUN].code), ptr(handler->callbacks[STOP].code),
            ptr(handler->context), ptr(handler->callbacks[DESTROY].code));
    CALL_OK("selene_handler_register", u64(scheduler), ptr("pulled"), i64(6), ptr(NULL), ptr(NULL),
            ptr(NULL), ptr(NULL));
    CALL_STATUS(SELENE_ERROR_ALREADY_EXISTS, "selene_handler_register", u64(scheduler),
                ptr("pulled"), i64(6), ptr(NULL), ptr(NULL), ptr(NULL), ptr(NULL));
    CHECK(((const selene_error *)call("selene_error_last", NULL, 0).as.p)->message.length > 0);
    fault = call("selene_error_last", NULL, 0).as.p;
    CHECK_INT(SELENE_ERROR_ALREADY_EXISTS, fault->status);
    CHECK_STRING("name", fault->field.data);
    CHECK_STRING("pulled", fault->found.data);

    task.id = SELENE_TEXT("a");
    task.schedule = SELENE_SCHEDULE_STANDING;
    task.tags = &tag;
    task.tag_count = 1;
    task.expected_response = SELENE_SECOND;
    CALL_OK("selene_task_register", u64(scheduler), ptr(&task), ptr(&number));
    CHECK_INT(SELENE_DISPOSITION_ADDED, number);
    task.id = SELENE_TEXT("b");
    task.handler = SELENE_TEXT("pulled");
    task.tag_count = 0;
    task.priority = 5;
    CALL_OK("selene_task_register", u64(scheduler), ptr(&task), ptr(NULL));
    CHECK_INT(2, atomic_load(&observer->calls[EVENT]));

    CALL_OK("selene_task_list", u64(scheduler), ptr("tag"), i64(3), ptr(&ids));
    CHECK_INT(1, ids->count);
    CHECK_TEXT("a", ids->ids[0]);
    CALL("selene_free", ptr(ids));
    CALL_OK("selene_task_get", u64(scheduler), ptr("b"), i64(-1), u64(0), ptr(&info));
    CHECK_TEXT("pulled", info->handler);
    CHECK_INT(5, info->priority);
    CALL("selene_free", ptr(info));
    CALL_OK("selene_task_explain", u64(scheduler), ptr("a"), i64(1), ptr(&explanation));
    CHECK_INT(0, explanation.reason_count);
    CHECK_INT(2, explanation.rank);
    CALL_OK("selene_scheduler_next_wakeup", u64(scheduler), ptr(&at), ptr(&delay));
    CHECK_INT(1000 * SELENE_SECOND, at);
    CHECK_INT(0, delay);
    CALL_OK("selene_cycle_plan", u64(scheduler), ptr(&window), ptr(&plan));
    CHECK_INT(2, plan->run_count);
    CHECK_TEXT("b", plan->runs[0].id);
    CALL("selene_free", ptr(plan));

    /* A pulled cycle. */
    window.lanes = 2;
    CALL_OK("selene_cycle_begin", u64(scheduler), ptr(&window), ptr(&cycle));
    CALL_OK("selene_cycle_next", u64(cycle), ptr(&number), ptr(&run), ptr(NULL));
    CHECK_INT(SELENE_STEP_RUN, number);
    CHECK_TEXT("b", run.id);
    CALL_OK("selene_cycle_next", u64(cycle), ptr(&number), ptr(&other), ptr(NULL));
    CHECK_INT(SELENE_STEP_RUN, number);
    CALL_OK("selene_cycle_next", u64(cycle), ptr(&number), ptr(&other), ptr(&at));
    CHECK_INT(SELENE_STEP_WAIT, number);
    CHECK_INT(run.expires_at, at);
    CALL_OK("selene_run_stopping", u64(run.run), ptr(&number));
    CALL_STATUS(SELENE_ERROR_UNSUPPORTED, "selene_run_sleep", u64(run.run), i64(0), ptr(&number));
    CHECK_INT(SELENE_STOP_NONE, number);
    CALL_OK("selene_run_set_output", u64(run.run), ptr("left"), i64(4));
    CALL_OK("selene_run_set_user", u64(run.run), ptr(&window));
    CALL_OK("selene_run_user", u64(run.run), ptr(&user));
    CHECK(user == &window);
    CALL_OK("selene_run_progress", u64(run.run), i64(1), i64(4), ptr("a quarter"), i64(-1));
    CALL_OK("selene_run_get", u64(run.run), ptr(&told));
    CHECK_TEXT("b", told->id);
    CHECK_INT(1, told->progress_done);
    CHECK_INT(4, told->progress_total);
    CHECK_TEXT("a quarter", told->progress_text);
    CALL("selene_free", ptr(told));
    CALL_OK("selene_run_remaining", u64(run.run), ptr(&delay));
    call_node(scheduler, run.run);
    CHECK_INT(30 * SELENE_SECOND - 30 * SELENE_SECOND / 20, delay);
    CALL_OK("selene_run_complete", u64(run.run), i32(SELENE_OUTCOME_NEW_DATA));
    CALL_OK("selene_run_fail", u64(other.run), i32(SELENE_OUTCOME_FAILED), i64(7 * SELENE_SECOND),
            ptr("why"), i64(-1));
    CALL_STATUS(SELENE_ERROR_ALREADY_COMPLETED, "selene_run_retry", u64(other.run),
                i64(7 * SELENE_SECOND));
    CALL_STATUS(SELENE_ERROR_ALREADY_COMPLETED, "selene_run_complete_until", u64(other.run),
                i32(SELENE_OUTCOME_NEW_DATA), i64(7 * SELENE_SECOND));
    CALL_OK("selene_cycle_end", u64(cycle), ptr(&report));
    CHECK_INT(2, report->run_count);
    CHECK_INT(1, report->failed);
    CALL("selene_free", ptr(report));
    CALL_OK("selene_task_get_output", u64(scheduler), ptr("b"), i64(-1), ptr(&output));
    CHECK_TEXT("left", output->output);
    CALL("selene_free", ptr(output));
    CALL_OK("selene_task_waits", u64(scheduler), ptr("b"), i64(-1), ptr(&waits));
    CHECK(waits->until >= waits->since);
    CALL("selene_free", ptr(waits));
    CALL_OK("selene_task_get", u64(scheduler), ptr("a"), i64(-1), u64(0), ptr(&info));
    CHECK_INT(1007 * SELENE_SECOND, info->earliest_begin);
    CHECK_TEXT("why", info->failure);
    CALL("selene_free", ptr(info));
    CALL_OK("selene_task_list_state", u64(scheduler), i32(SELENE_STATE_FAILED), ptr(&ids));
    CHECK_INT(0, ids->count);
    CALL("selene_free", ptr(ids));
    CALL_STATUS(SELENE_ERROR_INVALID_ARGUMENT, "selene_task_retry", u64(scheduler), ptr("a"),
                i64(1));
    CALL_STATUS(SELENE_ERROR_INVALID_ARGUMENT, "selene_task_retry_successors", u64(scheduler),
                ptr("a"), i64(1), ptr(&count));
    CALL_OK("selene_task_retry_all", u64(scheduler), ptr(NULL), i64(0),
            u32(SELENE_RETRY_SUCCESSORS), ptr(&count));

    /* Events that are read. */
    event = (selene_event)SELENE_INIT(selene_event);
    CALL_OK("selene_events_open", u64(scheduler), u64(16), ptr(&fd));
    CALL_OK("selene_events_next", u64(scheduler), i64(0), ptr(&event), ptr(&number), ptr(&count));
    CHECK(number == 0 && count == 0);
    CALL_OK("selene_events_close", u64(scheduler));
    CALL_STATUS(SELENE_ERROR_UNSUPPORTED, "selene_clock_set", u64(scheduler), i64(0));
    CALL_STATUS(SELENE_ERROR_UNSUPPORTED, "selene_clock_advance", u64(scheduler), i64(0), u32(0),
                i64(0), ptr(NULL));

    /* This thread lends itself. */
    window.flags = SELENE_WINDOW_LANES;
    window.lanes = 1;
    atomic_store(&clock_value, 1009 * SELENE_SECOND);
    CALL_OK("selene_cycle_begin", u64(scheduler), ptr(&window), ptr(&cycle));
    CALL_OK("selene_cycle_descriptor", u64(cycle), ptr(&fd));
    CHECK(fd >= 0);
    CALL_OK("selene_lane_open", u64(cycle), ptr(&lane));
    CALL_OK("selene_lane_next", u64(lane), i32(SELENE_OUTCOME_NONE), i64(0), ptr(&number),
            ptr(&run), ptr(NULL));
    CHECK_INT(SELENE_STEP_RUN, number);
    CALL_OK("selene_cycle_wait", u64(cycle), i64(0), ptr(&report), ptr(&at));
    CHECK(report == NULL && at == run.expires_at);
    CALL_OK("selene_cycle_drain", u64(cycle), i64(SELENE_SECOND));
    CALL_OK("selene_lane_next", u64(lane), i32(SELENE_OUTCOME_NEW_DATA), i64(0), ptr(&number),
            ptr(&run), ptr(&at));
    CHECK_INT(SELENE_STEP_DONE, number);
    CALL_OK("selene_lane_close", u64(lane));
    CALL_OK("selene_cycle_wait", u64(cycle), i64(0), ptr(&report), ptr(NULL));
    CHECK_INT(1, report->new_data);
    CALL("selene_free", ptr(report));

    /* Inline, on this thread; b has no function to push. */
    atomic_store(&clock_value, 1010 * SELENE_SECOND);
    window.lanes = 1;
    window.flags = SELENE_WINDOW_INLINE;
    handler->home = pthread_self();
    handler->at_home = 1;
    CALL_OK("selene_cycle_run", u64(scheduler), ptr(&window), ptr(&report));
    CHECK_INT(1, report->run_count);
    CHECK_INT(1, report->new_data);
    CHECK_INT(1, atomic_load(&handler->calls[RUN]));
    CALL("selene_free", ptr(report));

    CALL_OK("selene_scheduler_get", u64(scheduler), ptr(&counts));
    CHECK_INT(2, counts.enqueued);
    CHECK_INT(4, counts.dispatched);
    CALL_OK("selene_task_set_next", u64(scheduler), ptr("b"), i64(-1), i64(0));
    CALL_OK("selene_task_pause", u64(scheduler), ptr("b"), i64(-1), ptr(&count));
    CHECK_INT(1, count);
    CALL_OK("selene_task_resume", u64(scheduler), ptr("b"), i64(-1), ptr(&count));
    CHECK_INT(1, count);
    CALL_OK("selene_task_pause_tag", u64(scheduler), ptr("tag"), i64(-1), ptr(&count));
    CHECK_INT(1, count);
    CALL_OK("selene_task_resume_tag", u64(scheduler), ptr("tag"), i64(-1), ptr(&count));
    CHECK_INT(1, count);
    selene_group_info group = {0};
    selene_pauses *pauses = NULL;
    selene_task_ids *names = NULL;
    group = (selene_group_info)SELENE_INIT(selene_group_info);
    CALL_OK("selene_group_set_limit", u64(scheduler), ptr("group"), i64(-1), u32(2));
    CALL_OK("selene_group_pause", u64(scheduler), ptr("group"), i64(-1));
    CALL_OK("selene_group_get", u64(scheduler), ptr("group"), i64(-1), ptr(&group));
    CHECK_INT(2, group.limit);
    CHECK_INT(1, group.paused);
    CALL_OK("selene_group_list", u64(scheduler), ptr(&names));
    CHECK_INT(1, names->count);
    CALL("selene_free", ptr(names));
    CALL_OK("selene_group_resume", u64(scheduler), ptr("group"), i64(-1));
    int32_t condition = -1;
    CALL_OK("selene_condition_define", u64(scheduler), ptr("vpn"), i64(-1));
    CALL_OK("selene_condition_set", u64(scheduler), ptr("vpn"), i64(-1), i32(1));
    CALL_OK("selene_condition_get", u64(scheduler), ptr("vpn"), i64(-1), ptr(&condition));
    CHECK_INT(SELENE_CONDITION_SATISFIED, condition);
    CALL_OK("selene_condition_list", u64(scheduler), ptr(&names));
    CHECK_INT(1, names->count);
    CALL("selene_free", ptr(names));
    CALL_OK("selene_condition_missing", u64(scheduler), ptr("b"), i64(-1), ptr(&names));
    CHECK_INT(0, names->count);
    CALL("selene_free", ptr(names));
    CALL_OK("selene_condition_undefine", u64(scheduler), ptr("vpn"), i64(-1));
    CALL_OK("selene_task_cancel", u64(scheduler), ptr("b"), i64(-1), ptr(&count));
    CHECK_INT(1, count);
    CALL_OK("selene_task_cancel_tag", u64(scheduler), ptr("tag"), i64(-1), ptr(&count));
    CHECK_INT(1, count);
    CALL_OK("selene_task_cancel_all", u64(scheduler), ptr(&count));
    CHECK_INT(0, count);
    CALL_OK("selene_scheduler_prune", u64(scheduler), ptr(&count));
    CALL_OK("selene_scheduler_drain", u64(scheduler), i64(0));
    CALL_OK("selene_scheduler_resume", u64(scheduler));
    CHECK_INT(2, count);
    CALL_OK("selene_scheduler_pause", u64(scheduler), u32(SELENE_KIND_REFRESH), ptr("pool"),
            i64(-1), i64(SELENE_NEVER));
    CALL_OK("selene_pause_list", u64(scheduler), ptr(&pauses));
    CHECK_INT(1, pauses->count);
    CHECK_INT(SELENE_KIND_REFRESH, pauses->pauses[0].kinds);
    CHECK_INT(SELENE_NEVER, pauses->pauses[0].until);
    CHECK_TEXT("pool", pauses->pauses[0].pool);
    CALL("selene_free", ptr(pauses));
    CALL_OK("selene_scheduler_reset", u64(scheduler));
    CALL_OK("selene_handler_unregister", u64(scheduler), ptr("pulled"), i64(-1));
    CALL_STATUS(SELENE_ERROR_NOT_FOUND, "selene_handler_unregister", u64(scheduler), ptr("pulled"),
                i64(-1));

    /* On a store, its copy, and what can be saved of that. */
    char folder[] = "/tmp/selene-ffi.XXXXXX", store[64], copy[64], fresh[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(store, sizeof store, "%s/store", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    snprintf(fresh, sizeof fresh, "%s/fresh", folder);
    selene_options stored = SELENE_INIT(selene_options);
    selene_scheduler keeper = 0;
    selene_task pair[2] = {SELENE_INIT(selene_task), SELENE_INIT(selene_task)};
    const selene_task *batch[2] = {&pair[0], &pair[1]};
    selene_status statuses[2] = {-1, -1};
    int32_t dispositions[2] = {-1, -1};
    selene_server_options terms = {0};
    selene_server_info served = {0};
    selene_connect_options to = {0};
    selene_server server = 0;
    int32_t descriptor = -1;
    selene_scheduler connection = 0;
    selene_clients *clients = NULL;
    selene_task_ids *listed = NULL;
    selene_store_info *facts = NULL;
    selene_store_findings findings = {0};
    stored.path = (selene_text){store, -1};
    pair[0].id = SELENE_TEXT("first");
    pair[1].id = SELENE_TEXT("");
    CALL_OK("selene_scheduler_open", ptr(&stored), ptr(&keeper));
    CALL_OK("selene_task_register_batch", u64(keeper), ptr(batch), u64(2), ptr(statuses),
            ptr(dispositions));
    CHECK_INT(SELENE_OK, statuses[0]);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, statuses[1]);
    CHECK_INT(SELENE_DISPOSITION_ADDED, dispositions[0]);
    CHECK_INT(-1, dispositions[1]);
    CALL_OK("selene_store_get", u64(keeper), ptr(&facts));
    CHECK_TEXT(store, facts->path);
    CHECK_INT(2, facts->commits);
    CALL("selene_free", ptr(facts));
    terms = (selene_server_options)SELENE_INIT(selene_server_options);
    CALL_OK("selene_server_start", u64(keeper), ptr(&terms), ptr(&server));
    to = (selene_connect_options)SELENE_INIT(selene_connect_options);
    to.path = (selene_text){store, -1};
    CALL_OK("selene_scheduler_connect", ptr(&to), ptr(&connection));
    CALL_OK("selene_task_list", u64(connection), ptr(NULL), i64(0), ptr(&listed));
    CHECK_INT(1, listed->count);
    CALL("selene_free", ptr(listed));
    served = (selene_server_info)SELENE_INIT(selene_server_info);
    CALL_OK("selene_server_get", u64(server), ptr(&served));
    CHECK_INT(1, served.clients);
    CALL_OK("selene_client_list", u64(keeper), ptr(&clients));
    CHECK_INT(1, clients->count);
    CALL("selene_free", ptr(clients));
    CALL_OK("selene_scheduler_close", u64(connection), i64(0));
    CALL_OK("selene_server_close", u64(server));
    CALL_OK("selene_server_open", u64(keeper), ptr(&terms), ptr(&server), ptr(&descriptor));
    CHECK(descriptor >= 0);
    CALL_OK("selene_server_step", u64(server), ptr(&at));
    CALL_OK("selene_server_close", u64(server));
    CALL_OK("selene_store_backup", u64(keeper), ptr(copy), i64(-1));
    CALL_OK("selene_scheduler_close", u64(keeper), i64(0));
    findings = (selene_store_findings)SELENE_INIT(selene_store_findings);
    CALL_OK("selene_store_check", ptr(copy), i64(-1), ptr(&findings));
    CHECK_INT(1, findings.tasks);
    sink = make_owner("log", LOG, -1);
    CALL_OK("selene_log_set", ptr(sink->callbacks[LOG].code), ptr(sink->context),
            ptr(sink->callbacks[DESTROY].code));
    CALL_OK("selene_store_salvage", ptr(copy), i64(-1), ptr(fresh), i64(-1), ptr(&findings));
    CHECK_INT(1, findings.tasks);
    CHECK_INT(0, findings.damaged);
    CHECK_INT(1, atomic_load(&called[LOG]));
    CALL_OK("selene_log_set", ptr(NULL), ptr(NULL), ptr(NULL));
    unlink(store), unlink(copy), unlink(fresh), rmdir(folder);

    /* On library threads: a scheduler without a host clock. */
    CALL_OK("selene_scheduler_open", ptr(NULL), ptr(&threaded));
    call_governor(scheduler, threaded);
    receiver = make_owner("receiver", REPORT, -1);
    cycle = 0;
    CALL_OK("selene_cycle_run_async", u64(threaded), ptr(NULL),
            ptr(receiver->callbacks[REPORT].code), ptr(receiver->context),
            ptr(receiver->callbacks[DESTROY].code), ptr(&cycle), ptr(&at));
    CHECK(cycle != 0);
    CALL_OK("selene_scheduler_close", u64(threaded), i64(10 * SELENE_SECOND));
    CALL_OK("selene_scheduler_close", u64(scheduler), i64(0));
    CALL_STATUS(SELENE_ERROR_INVALID_HANDLE, "selene_scheduler_now", u64(scheduler), ptr(&at));

    settle();
    CHECK_INT(1, atomic_load(&called[REPORT]));
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (!functions[i].called) fprintf(stderr, "%s was never called\n", functions[i].name);
    for (size_t i = 0; i < FUNCTIONS; i++)
        CHECK(functions[i].called > 0);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: ffi symbols.txt [FILTER]\n");
        return 2;
    }
    symbols_path = argv[1];
    check_begin(argc - 1, argv + 1);
    run_test("8.8 the table of this test names exactly the exported symbols", test_symbols);
    run_test("8.9 every exported function works through ffi_call", test_every_function);
    return check_end();
}
