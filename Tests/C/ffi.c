/*
 * ffi.c - the border as a host without a C compiler sees it: through libffi (design, section 8, rule 9)
 *
 * Every exported function is called by ffi_call from a table of signatures, and every callback type is an
 * ffi_closure made at run time with data of its own, freed from its destroy. Counters show that none is leaked, none
 * is called after its destroy, and destroy comes exactly once, also when the call failed.
 *
 * Arguments: the list of exported symbols (Sources/SeleneABI/symbols.txt), then the filter of check.h.
 */
#include "check.h"

#include <ffi.h>

#include <pthread.h>
#include <stdatomic.h>

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
    FUNCTION(selene_version_number, "u"),
    FUNCTION(selene_version_string, "p"),
    FUNCTION(selene_status_name, "pi"),
    FUNCTION(selene_status_message, "pi"),
    FUNCTION(selene_status_detail, "p"),
    FUNCTION(selene_options_init, "ipu"),
    FUNCTION(selene_scheduler_open, "ipp"),
    FUNCTION(selene_scheduler_close, "ihl"),
    FUNCTION(selene_scheduler_now, "ihp"),
    FUNCTION(selene_scheduler_get, "ihp"),
    FUNCTION(selene_scheduler_enable, "ihu"),
    FUNCTION(selene_scheduler_next_wakeup, "ihpp"),
    FUNCTION(selene_scheduler_prune, "ihp"),
    FUNCTION(selene_scheduler_reset, "ih"),
    FUNCTION(selene_scheduler_observe, "ihppp"),
    FUNCTION(selene_handler_register, "ihplpppp"),
    FUNCTION(selene_handler_unregister, "ihpl"),
    FUNCTION(selene_task_init, "ipu"),
    FUNCTION(selene_task_register, "ihpp"),
    FUNCTION(selene_task_register_batch, "ihphpp"),
    FUNCTION(selene_task_cancel, "ihplp"),
    FUNCTION(selene_task_cancel_tag, "ihplp"),
    FUNCTION(selene_task_cancel_all, "ihp"),
    FUNCTION(selene_task_get, "ihplhp"),
    FUNCTION(selene_task_info_destroy, "vp"),
    FUNCTION(selene_task_list, "ihplp"),
    FUNCTION(selene_task_ids_destroy, "vp"),
    FUNCTION(selene_task_explain, "ihplp"),
    FUNCTION(selene_window_init, "ipu"),
    FUNCTION(selene_cycle_begin, "ihpp"),
    FUNCTION(selene_cycle_next, "ihppp"),
    FUNCTION(selene_cycle_end, "ihp"),
    FUNCTION(selene_cycle_run, "ihpp"),
    FUNCTION(selene_cycle_run_async, "ihpppppp"),
    FUNCTION(selene_cycle_plan, "ihpp"),
    FUNCTION(selene_report_destroy, "vp"),
    FUNCTION(selene_store_get, "ihp"),
    FUNCTION(selene_store_info_destroy, "vp"),
    FUNCTION(selene_store_backup, "ihpl"),
    FUNCTION(selene_store_check, "iplp"),
    FUNCTION(selene_store_salvage, "iplplp"),
    FUNCTION(selene_plan_destroy, "vp"),
    FUNCTION(selene_run_complete, "ihi"),
    FUNCTION(selene_run_retry, "ihl"),
    FUNCTION(selene_run_stopping, "ihp"),
    FUNCTION(selene_run_remaining, "ihp"),
    FUNCTION(selene_conditions_set, "ihuu"),
    FUNCTION(selene_conditions_get, "ihpp"),
    FUNCTION(selene_kind_name, "pi"),
    FUNCTION(selene_schedule_name, "pi"),
    FUNCTION(selene_state_name, "pi"),
    FUNCTION(selene_outcome_name, "pi"),
    FUNCTION(selene_stop_name, "pi"),
    FUNCTION(selene_disposition_name, "pi"),
    FUNCTION(selene_reason_name, "pi"),
    FUNCTION(selene_event_name, "pi"),
    FUNCTION(selene_constraint_name, "pu"),
};

#define FUNCTIONS (sizeof functions / sizeof functions[0])

static ffi_type *type_of(char letter) {
    switch (letter) {
    case 'v':
        return &ffi_type_void;
    case 'i':
        return &ffi_type_sint32;
    case 'u':
        return &ffi_type_uint32;
    case 'l':
        return &ffi_type_sint64;
    case 'h':
        return &ffi_type_uint64;
    case 'p':
        return &ffi_type_pointer;
    default:
        CHECK(!"a known letter");
    }
    return NULL;
}

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
#define CALL_STRING(expected, name, value)                                                         \
    CHECK_STRING((expected), (const char *)CALL(name, value).as.p)

/* ============================================================================
 *  CLOSURES
 * ========================================================================= */

enum type { RUN, STOP, DESTROY, CLOCK, REPORT, EVENT, TYPES };

static const char *const callback_signatures[TYPES] = {"vhpp", "vhip", "vp", "lp", "vpp", "vpp"};
static ffi_cif callback_cifs[TYPES];
static ffi_type *callback_types[TYPES][4];

/** The code of a closure under each of its C types. */
union callback {
    void *code;
    selene_run_fn run;
    selene_stop_fn stop;
    selene_destroy_fn destroy;
    selene_clock_fn clock;
    selene_report_fn report;
    selene_event_fn event;
};

/** What a run closure does beyond counting. */
enum behaviour { COMPLETE, CANCEL_ITSELF, UNREGISTER_ITSELF, WAIT_FOR_GATE, COMPLETE_WHEN_STOPPED };

/** One callback triple with its own closures: a handler, an observer, the receiver of a report, or a clock. */
struct owner {
    int number;
    char name[32];
    void *context; /* what the library is given; no address of anything */
    selene_scheduler scheduler;
    enum behaviour behaviour;
    ffi_closure *closures[TYPES];
    union callback callbacks[TYPES];
    atomic_int calls[TYPES];
    atomic_int inside;
    atomic_int destroyed;
    _Atomic uint64_t last; /* REPORT: the cycle; EVENT: the number */
    pthread_t home;        /* where callbacks are due, if at_home */
    int at_home;
    int64_t retired_at;
    struct owner *next;
};

static atomic_long made[TYPES], freed[TYPES], called[TYPES];
static atomic_long owners_made, owners_destroyed;
static atomic_long called_late, destroyed_twice, destroyed_early, wrong_context, wrong_data;
static _Atomic int64_t clock_value;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int gate_open;
static int gate_waiting;
static struct owner *retired;

static void callback(ffi_cif *cif, void *result, void **arguments, void *data);

static void free_closure(struct owner *owner, enum type type) {
    if (!owner->closures[type]) return;
    ffi_closure_free(owner->closures[type]);
    owner->closures[type] = NULL;
    atomic_fetch_add(&freed[type], 1);
}

static enum type type_of_cif(const ffi_cif *cif) {
    return (enum type)(cif - callback_cifs);
}

/** Keeps a closure that may be executing until it surely is not; see sweep. */
static void retire(struct owner *owner) {
    pthread_mutex_lock(&lock);
    owner->retired_at = check_now();
    owner->next = retired;
    retired = owner;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/** Frees the destroy closures that returned long ago. */
static void sweep(void) {
    int64_t before = check_now() - 50 * SELENE_MILLISECOND;
    pthread_mutex_lock(&lock);
    for (struct owner **link = &retired; *link;) {
        struct owner *owner = *link;
        if (owner->retired_at > before) {
            link = &owner->next;
            continue;
        }
        *link = owner->next;
        free_closure(owner, DESTROY);
        free(owner);
    }
    pthread_mutex_unlock(&lock);
}

static void act_run(struct owner *owner, selene_run run, const selene_run_info *info) {
    uint64_t count = 0;
    if (info->run != run || strcmp(info->id.data, owner->name) != 0 ||
        info->id.length != (int64_t)strlen(owner->name))
        atomic_fetch_add(&wrong_data, 1);
    switch (owner->behaviour) {
    case COMPLETE:
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        break;
    case CANCEL_ITSELF:
        CHECK_OK(selene_task_cancel(owner->scheduler, owner->name, -1, &count));
        CHECK_INT(1, count);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        break;
    case UNREGISTER_ITSELF:
        CHECK_OK(selene_handler_unregister(owner->scheduler, owner->name, -1));
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
        break;
    case WAIT_FOR_GATE:
        pthread_mutex_lock(&lock);
        gate_waiting++;
        pthread_cond_broadcast(&changed);
        while (!gate_open)
            pthread_cond_wait(&changed, &lock);
        gate_waiting--;
        pthread_mutex_unlock(&lock);
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        break;
    case COMPLETE_WHEN_STOPPED:
        break;
    }
}

/** Every closure of every type ends here. */
static void callback(ffi_cif *cif, void *result, void **arguments, void *data) {
    struct owner *owner = data;
    enum type type = type_of_cif(cif);
    void *context = *(void **)arguments[cif->nargs - 1];

    if (context != owner->context) atomic_fetch_add(&wrong_context, 1);
    if (owner->at_home && !pthread_equal(owner->home, pthread_self()))
        atomic_fetch_add(&wrong_data, 1);
    atomic_fetch_add(&called[type], 1);
    atomic_fetch_add(&owner->calls[type], 1);
    if (type == DESTROY) {
        if (atomic_load(&owner->inside)) atomic_fetch_add(&destroyed_early, 1);
        if (atomic_exchange(&owner->destroyed, 1)) {
            atomic_fetch_add(&destroyed_twice, 1);
            return;
        }
        for (int each = 0; each < TYPES; each++)
            if (each != DESTROY) free_closure(owner, (enum type)each);
        atomic_fetch_add(&owners_destroyed, 1);
        retire(owner);
        return;
    }

    if (atomic_load(&owner->destroyed)) atomic_fetch_add(&called_late, 1);
    atomic_fetch_add(&owner->inside, 1);
    if (type == RUN) {
        act_run(owner, *(selene_run *)arguments[0], *(const selene_run_info **)arguments[1]);
    } else if (type == STOP) {
        int32_t reason = *(int32_t *)arguments[1];
        if (owner->behaviour == COMPLETE_WHEN_STOPPED) {
            if (reason != SELENE_STOP_EXPIRING) atomic_fetch_add(&wrong_data, 1);
            CHECK_OK(selene_run_complete(*(selene_run *)arguments[0], SELENE_OUTCOME_NEW_DATA));
        } else if (reason != SELENE_STOP_CANCELLED) {
            atomic_fetch_add(&wrong_data, 1);
        }
    } else if (type == CLOCK) {
        *(int64_t *)result = atomic_load(&clock_value);
    } else if (type == REPORT) {
        const selene_report *report = *(const selene_report **)arguments[0];
        if (report->struct_size != sizeof(selene_report)) atomic_fetch_add(&wrong_data, 1);
        atomic_store(&owner->last, report->cycle);
    } else if (type == EVENT) {
        const selene_event *event = *(const selene_event **)arguments[0];
        if (event->struct_size != sizeof(selene_event) ||
            event->number <= atomic_load(&owner->last))
            atomic_fetch_add(&wrong_data, 1);
        atomic_store(&owner->last, event->number);
    }
    atomic_fetch_sub(&owner->inside, 1);
}

static void prepare_callbacks(void) {
    for (int type = 0; type < TYPES; type++) {
        unsigned count = (unsigned)strlen(callback_signatures[type]) - 1;
        for (unsigned k = 0; k < count; k++)
            callback_types[type][k] = type_of(callback_signatures[type][k + 1]);
        CHECK_INT(FFI_OK,
                  ffi_prep_cif(&callback_cifs[type], FFI_DEFAULT_ABI, count,
                               type_of(callback_signatures[type][0]), callback_types[type]));
    }
}

/** An owner with closures of these types and one for destroy. */
static struct owner *make_owner(const char *name, int first, int second) {
    static int numbers;
    const int types[3] = {first, second, DESTROY};
    struct owner *owner = calloc(1, sizeof *owner);
    CHECK(owner != NULL);
    if (!callback_cifs[0].nargs) prepare_callbacks();
    owner->number = ++numbers;
    owner->context = (void *)(uintptr_t)(UINT64_C(0x5e1e0000) + (unsigned)owner->number);
    snprintf(owner->name, sizeof owner->name, "%s", name);
    for (int k = 0; k < 3; k++) {
        int type = types[k];
        if (type < 0) continue;
        owner->closures[type] =
            ffi_closure_alloc(sizeof(ffi_closure), &owner->callbacks[type].code);
        CHECK(owner->closures[type] != NULL);
        CHECK_INT(FFI_OK, ffi_prep_closure_loc(owner->closures[type], &callback_cifs[type],
                                               callback, owner, owner->callbacks[type].code));
        atomic_fetch_add(&made[type], 1);
    }
    atomic_fetch_add(&owners_made, 1);
    return owner;
}

static struct owner *make_handler(selene_scheduler scheduler, const char *name,
                                  enum behaviour behaviour) {
    struct owner *owner = make_owner(name, RUN, STOP);
    owner->scheduler = scheduler;
    owner->behaviour = behaviour;
    return owner;
}

static selene_status register_handler(selene_scheduler scheduler, const char *name,
                                      struct owner *owner) {
    return selene_handler_register(scheduler, name, -1, owner->callbacks[RUN].run,
                                   owner->callbacks[STOP].stop, owner->context,
                                   owner->callbacks[DESTROY].destroy);
}

static void register_task(selene_scheduler scheduler, const char *id) {
    selene_task task = SELENE_TASK_INIT;
    task.id.data = id;
    task.id.length = -1;
    task.expected_response = SELENE_MILLISECOND;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

/** Waits until every owner was destroyed, frees the rest, and looks at the counters. */
static void settle(void) {
    int64_t limit = check_now() + 10 * SELENE_SECOND + check_slack();
    while (atomic_load(&owners_destroyed) < atomic_load(&owners_made) && check_now() < limit)
        check_sleep(SELENE_MILLISECOND);
    CHECK_INT(atomic_load(&owners_made), atomic_load(&owners_destroyed));
    check_sleep(100 * SELENE_MILLISECOND); /* a second destroy would come now */
    sweep();
    CHECK_INT(atomic_load(&owners_made), atomic_load(&called[DESTROY]));
    CHECK_INT(0, atomic_load(&destroyed_twice));
    CHECK_INT(0, atomic_load(&destroyed_early));
    CHECK_INT(0, atomic_load(&called_late));
    CHECK_INT(0, atomic_load(&wrong_context));
    CHECK_INT(0, atomic_load(&wrong_data));
    for (int type = 0; type < TYPES; type++)
        CHECK_INT(atomic_load(&made[type]), atomic_load(&freed[type]));
    CHECK(retired == NULL);
}

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

static void test_every_function(void) {
    selene_options options, default_options = SELENE_OPTIONS_INIT;
    selene_task task, default_task = SELENE_TASK_INIT;
    selene_window window, default_window = SELENE_WINDOW_INIT;
    selene_scheduler_info counts = SELENE_SCHEDULER_INFO_INIT;
    selene_run_info run = SELENE_RUN_INFO_INIT, other = SELENE_RUN_INFO_INIT;
    selene_explanation explanation = SELENE_EXPLANATION_INIT;
    selene_scheduler scheduler = 0, threaded = 0;
    selene_task_info *info = NULL;
    selene_task_ids *ids = NULL;
    selene_plan *plan = NULL;
    selene_report *report = NULL;
    selene_cycle cycle = 0;
    int64_t at = -1, delay = -1;
    uint64_t count = 99;
    uint32_t satisfied = 99, host = 99;
    int32_t number = 99;
    const selene_text tag = SELENE_TEXT("tag");
    struct owner *clock = make_owner("clock", CLOCK, -1);
    struct owner *observer = make_owner("observer", EVENT, -1);
    struct owner *handler, *receiver;

    CHECK_INT(SELENE_VERSION_NUMBER, (uint32_t)call("selene_version_number", NULL, 0).as.word);
    CHECK_STRING(SELENE_VERSION_STRING, (const char *)call("selene_version_string", NULL, 0).as.p);
    CHECK_STRING("", (const char *)call("selene_status_detail", NULL, 0).as.p);
    CALL_STRING("NOT_FOUND", "selene_status_name", i32(SELENE_ERROR_NOT_FOUND));
    CHECK(strlen((const char *)CALL("selene_status_message", i32(SELENE_ERROR_NOT_FOUND)).as.p) >
          0);
    CALL_STRING("processing", "selene_kind_name", i32(SELENE_KIND_PROCESSING));
    CALL_STRING("periodic", "selene_schedule_name", i32(SELENE_SCHEDULE_PERIODIC));
    CALL_STRING("cancelled", "selene_state_name", i32(SELENE_STATE_CANCELLED));
    CALL_STRING("abandoned", "selene_outcome_name", i32(SELENE_OUTCOME_ABANDONED));
    CALL_STRING("shutdown", "selene_stop_name", i32(SELENE_STOP_SHUTDOWN));
    CALL_STRING("held", "selene_disposition_name", i32(SELENE_DISPOSITION_HELD));
    CALL_STRING("next_cycle", "selene_reason_name", i32(SELENE_REASON_NEXT_CYCLE));
    CALL_STRING("released", "selene_event_name", i32(SELENE_EVENT_RELEASED));
    CALL_STRING("external_power", "selene_constraint_name", u32(SELENE_CONSTRAINT_EXTERNAL_POWER));

    memset(&options, 0xa5, sizeof options);
    memset(&task, 0xa5, sizeof task);
    memset(&window, 0xa5, sizeof window);
    CALL_OK("selene_options_init", ptr(&options), u32(sizeof options));
    CALL_OK("selene_task_init", ptr(&task), u32(sizeof task));
    CALL_OK("selene_window_init", ptr(&window), u32(sizeof window));
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
    CHECK_INT(SELENE_CONSTRAINT_NETWORK, satisfied);
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
    CHECK(strlen((const char *)call("selene_status_detail", NULL, 0).as.p) > 0);

    task.id = SELENE_TEXT("a");
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
    CALL("selene_task_ids_destroy", ptr(ids));
    CALL_OK("selene_task_get", u64(scheduler), ptr("b"), i64(-1), u64(0), ptr(&info));
    CHECK_TEXT("pulled", info->handler);
    CHECK_INT(5, info->priority);
    CALL("selene_task_info_destroy", ptr(info));
    CALL_OK("selene_task_explain", u64(scheduler), ptr("a"), i64(1), ptr(&explanation));
    CHECK_INT(0, explanation.reason_count);
    CHECK_INT(2, explanation.rank);
    CALL_OK("selene_scheduler_next_wakeup", u64(scheduler), ptr(&at), ptr(&delay));
    CHECK_INT(1000 * SELENE_SECOND, at);
    CHECK_INT(0, delay);
    CALL_OK("selene_cycle_plan", u64(scheduler), ptr(&window), ptr(&plan));
    CHECK_INT(2, plan->run_count);
    CHECK_TEXT("b", plan->runs[0].id);
    CALL("selene_plan_destroy", ptr(plan));

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
    CHECK_INT(SELENE_STOP_NONE, number);
    CALL_OK("selene_run_remaining", u64(run.run), ptr(&delay));
    CHECK_INT(30 * SELENE_SECOND - 30 * SELENE_SECOND / 20, delay);
    CALL_OK("selene_run_complete", u64(run.run), i32(SELENE_OUTCOME_NEW_DATA));
    CALL_OK("selene_run_retry", u64(other.run), i64(7 * SELENE_SECOND));
    CALL_OK("selene_cycle_end", u64(cycle), ptr(&report));
    CHECK_INT(2, report->run_count);
    CHECK_INT(1, report->failed);
    CALL("selene_report_destroy", ptr(report));
    CALL_OK("selene_task_get", u64(scheduler), ptr("a"), i64(-1), u64(0), ptr(&info));
    CHECK_INT(1007 * SELENE_SECOND, info->earliest_begin);
    CALL("selene_task_info_destroy", ptr(info));

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
    CALL("selene_report_destroy", ptr(report));

    CALL_OK("selene_scheduler_get", u64(scheduler), ptr(&counts));
    CHECK_INT(2, counts.enqueued);
    CHECK_INT(3, counts.dispatched);
    CALL_OK("selene_task_cancel", u64(scheduler), ptr("b"), i64(-1), ptr(&count));
    CHECK_INT(1, count);
    CALL_OK("selene_task_cancel_tag", u64(scheduler), ptr("tag"), i64(-1), ptr(&count));
    CHECK_INT(1, count);
    CALL_OK("selene_task_cancel_all", u64(scheduler), ptr(&count));
    CHECK_INT(0, count);
    CALL_OK("selene_scheduler_prune", u64(scheduler), ptr(&count));
    CHECK_INT(2, count);
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
    selene_options stored = SELENE_OPTIONS_INIT;
    selene_scheduler keeper = 0;
    selene_task pair[2] = {SELENE_TASK_INIT, SELENE_TASK_INIT};
    const selene_task *batch[2] = {&pair[0], &pair[1]};
    selene_status statuses[2] = {-1, -1};
    int32_t dispositions[2] = {-1, -1};
    selene_store_info *facts = NULL;
    selene_store_findings findings = SELENE_STORE_FINDINGS_INIT;
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
    CALL("selene_store_info_destroy", ptr(facts));
    CALL_OK("selene_store_backup", u64(keeper), ptr(copy), i64(-1));
    CALL_OK("selene_scheduler_close", u64(keeper), i64(0));
    CALL_OK("selene_store_check", ptr(copy), i64(-1), ptr(&findings));
    CHECK_INT(1, findings.tasks);
    CALL_OK("selene_store_salvage", ptr(copy), i64(-1), ptr(fresh), i64(-1), ptr(&findings));
    CHECK_INT(1, findings.tasks);
    CHECK_INT(0, findings.damaged);
    unlink(store), unlink(copy), unlink(fresh), rmdir(folder);

    /* On library threads: a scheduler without a host clock. */
    CALL_OK("selene_scheduler_open", ptr(NULL), ptr(&threaded));
    receiver = make_owner("receiver", REPORT, -1);
    cycle = 0;
    CALL_OK("selene_cycle_run_async", u64(threaded), ptr(NULL),
            ptr(receiver->callbacks[REPORT].code), ptr(receiver->context),
            ptr(receiver->callbacks[DESTROY].code), ptr(&cycle), ptr(&at));
    CHECK(cycle != 0);
    CALL_OK("selene_scheduler_close", u64(threaded), i64(SELENE_SECOND));
    CALL_OK("selene_scheduler_close", u64(scheduler), i64(0));
    CALL_STATUS(SELENE_ERROR_INVALID_HANDLE, "selene_scheduler_now", u64(scheduler), ptr(&at));

    settle();
    CHECK_INT(1, atomic_load(&called[REPORT]));
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (!functions[i].called) fprintf(stderr, "%s was never called\n", functions[i].name);
    for (size_t i = 0; i < FUNCTIONS; i++)
        CHECK(functions[i].called > 0);
}

/* ============================================================================
 *  THE CALLBACKS: TESTS
 * ========================================================================= */

enum {
    AT_ONCE = 40,
    HANDLER_ROUNDS = 250,
    JOINED = 10,
    REPORT_ROUNDS = 1000,
    SCHEDULERS = 8,
    SCHEDULER_ROUNDS = 1250
};

static void wait_for_destroyed(long count) {
    int64_t limit = check_now() + 20 * SELENE_SECOND + check_slack();
    pthread_mutex_lock(&lock);
    while (atomic_load(&owners_destroyed) < count) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        pthread_cond_timedwait(&changed, &lock, &until);
        CHECK(check_now() < limit);
    }
    pthread_mutex_unlock(&lock);
}

/** 250 rounds of 40 handlers: some cancel their own task, some unregister themselves, the rest is unregistered. */
static void play_handlers(uint32_t lanes, uint32_t flags) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_WINDOW_INIT;
    long runs = 0, stops = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    window.lanes = lanes;
    window.flags = flags;
    for (int round = 0; round < HANDLER_ROUNDS; round++) {
        selene_report *report = NULL;
        for (int k = 0; k < AT_ONCE; k++) {
            char name[32];
            struct owner *owner;
            snprintf(name, sizeof name, "handler %d", k);
            owner = make_handler(scheduler, name,
                                 k % 8 == 0   ? CANCEL_ITSELF
                                 : k % 8 == 1 ? UNREGISTER_ITSELF
                                              : COMPLETE);
            owner->home = pthread_self();
            owner->at_home = (flags & SELENE_WINDOW_INLINE) != 0;
            CHECK_OK(register_handler(scheduler, name, owner));
            register_task(scheduler, name);
        }
        if (round % 2 == 0 || flags) {
            CHECK_OK(selene_cycle_run(scheduler, &window, &report));
            CHECK_INT(AT_ONCE, report->run_count);
            CHECK_INT(AT_ONCE / 8, report->stopped);
            CHECK_INT(AT_ONCE / 8, report->no_data);
            CHECK_INT(AT_ONCE - 2 * (AT_ONCE / 8), report->new_data);
            selene_report_destroy(report);
        } else {
            struct owner *receiver = make_owner("receiver", REPORT, -1);
            long before = atomic_load(&called[REPORT]);
            int64_t limit = check_now() + 20 * SELENE_SECOND + check_slack();
            CHECK_OK(selene_cycle_run_async(scheduler, &window, receiver->callbacks[REPORT].report,
                                            receiver->context, receiver->callbacks[DESTROY].destroy,
                                            NULL, NULL));
            while (atomic_load(&called[REPORT]) == before) {
                CHECK(check_now() < limit);
                check_sleep(SELENE_MILLISECOND / 10);
            }
        }
        for (int k = 0; k < AT_ONCE; k++) {
            char name[32];
            snprintf(name, sizeof name, "handler %d", k);
            if (k % 8 == 1) {
                CHECK_STATUS(SELENE_ERROR_NOT_FOUND,
                             selene_handler_unregister(scheduler, name, -1));
            } else {
                CHECK_OK(selene_handler_unregister(scheduler, name, -1));
            }
        }
        /* A name is free again only after its last run, which may still be returning. */
        wait_for_destroyed(atomic_load(&owners_made));
        runs += AT_ONCE;
        stops += AT_ONCE / 8;
        sweep();
    }
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    settle();
    CHECK_INT(HANDLER_ROUNDS * AT_ONCE, atomic_load(&made[RUN]));
    CHECK_INT(HANDLER_ROUNDS * AT_ONCE, atomic_load(&made[STOP]));
    CHECK_INT(runs, atomic_load(&called[RUN]));
    CHECK_INT(stops, atomic_load(&called[STOP]));
}

static void test_handlers_on_library_threads(void) {
    play_handlers(4, 0);
}
static void test_handlers_on_the_main_thread(void) {
    play_handlers(1, SELENE_WINDOW_INLINE);
}

static void test_handlers_of_a_pulled_cycle(void) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_WINDOW_INIT;
    selene_run runs[AT_ONCE];
    selene_cycle cycle = 0;
    uint64_t count = 0;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    window.lanes = AT_ONCE;
    for (int round = 0; round < HANDLER_ROUNDS; round++) {
        for (int k = 0; k < AT_ONCE; k++) {
            char name[32];
            struct owner *owner;
            snprintf(name, sizeof name, "handler %d", k);
            owner = make_handler(scheduler, name, COMPLETE);
            owner->home = pthread_self();
            owner->at_home = 1;
            CHECK_OK(register_handler(scheduler, name, owner));
            register_task(scheduler, name);
        }
        CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
        for (int k = 0; k < AT_ONCE; k++) {
            selene_run_info info = SELENE_RUN_INFO_INIT;
            int32_t step = -1;
            CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
            CHECK_INT(SELENE_STEP_RUN, step);
            runs[k] = info.run;
        }
        CHECK_OK(selene_task_cancel_all(scheduler, &count));
        CHECK_INT(AT_ONCE, count);
        for (int k = 0; k < AT_ONCE; k++)
            CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                         selene_run_complete(runs[k], SELENE_OUTCOME_NEW_DATA));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        for (int k = 0; k < AT_ONCE; k++) {
            char name[32];
            snprintf(name, sizeof name, "handler %d", k);
            CHECK_OK(selene_handler_unregister(scheduler, name, -1));
        }
        CHECK_INT(atomic_load(&owners_made), atomic_load(&owners_destroyed));
        sweep();
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    settle();
    CHECK_INT(0, atomic_load(&called[RUN]));
    CHECK_INT(HANDLER_ROUNDS * AT_ONCE, atomic_load(&called[STOP]));
}

static void test_stops_of_expiry(void) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_WINDOW_INIT;
    selene_report *report = NULL;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    for (int k = 0; k < 4; k++) {
        char name[32];
        snprintf(name, sizeof name, "handler %d", k);
        CHECK_OK(register_handler(scheduler, name,
                                  make_handler(scheduler, name, COMPLETE_WHEN_STOPPED)));
        register_task(scheduler, name);
    }
    window.lanes = 4;
    window.budget = check_stretch(1200 * SELENE_MILLISECOND);
    window.reserve = check_stretch(1000 * SELENE_MILLISECOND);
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(4, report->run_count);
    CHECK_INT(4, report->new_data);
    for (int k = 0; k < 4; k++)
        CHECK_INT(SELENE_STOP_EXPIRING, report->runs[k].stop_reason);
    selene_report_destroy(report);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    settle();
    CHECK_INT(4, atomic_load(&called[STOP]));
}

static void test_reports(void) {
    selene_scheduler scheduler = 0;
    struct owner *worker;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    worker = make_handler(scheduler, "worker", WAIT_FOR_GATE);
    CHECK_OK(register_handler(scheduler, "worker", worker));
    register_task(scheduler, "worker");
    for (int round = 0; round < REPORT_ROUNDS; round++) {
        long before = atomic_load(&owners_destroyed);
        selene_cycle first = 0;
        int64_t first_deadline = 0;
        for (int k = 0; k < JOINED; k++) {
            struct owner *receiver = make_owner("receiver", REPORT, -1);
            selene_cycle cycle = 0;
            int64_t deadline = 0;
            CHECK_OK(selene_cycle_run_async(scheduler, NULL, receiver->callbacks[REPORT].report,
                                            receiver->context, receiver->callbacks[DESTROY].destroy,
                                            &cycle, &deadline));
            if (k == 0) {
                first = cycle;
                first_deadline = deadline;
                pthread_mutex_lock(&lock);
                while (!gate_waiting)
                    pthread_cond_wait(&changed, &lock);
                pthread_mutex_unlock(&lock);
            }
            CHECK_INT(first, cycle);
            CHECK_INT(first_deadline, deadline);
        }
        pthread_mutex_lock(&lock);
        gate_open = 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        wait_for_destroyed(before + JOINED);
        pthread_mutex_lock(&lock);
        for (struct owner *owner = retired; owner; owner = owner->next) {
            if (owner->last && owner->last != first) continue; /* of an earlier round */
            CHECK_INT(1, atomic_load(&owner->calls[REPORT]));
        }
        gate_open = 0;
        pthread_mutex_unlock(&lock);
        sweep();
    }
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    settle();
    CHECK_INT(REPORT_ROUNDS, atomic_load(&called[RUN]));
    CHECK_INT(REPORT_ROUNDS * JOINED, atomic_load(&called[REPORT]));
    CHECK_INT(REPORT_ROUNDS * JOINED, atomic_load(&made[REPORT]));
}

static void test_observers(void) {
    selene_scheduler schedulers[SCHEDULERS];
    for (int k = 0; k < SCHEDULERS; k++)
        CHECK_OK(selene_scheduler_open(NULL, &schedulers[k]));
    for (int round = 0; round < SCHEDULER_ROUNDS; round++) {
        for (int k = 0; k < SCHEDULERS; k++) {
            struct owner *observer = make_owner("observer", EVENT, -1);
            observer->home = pthread_self();
            observer->at_home = 1;
            CHECK_OK(selene_scheduler_observe(schedulers[k], observer->callbacks[EVENT].event,
                                              observer->context,
                                              observer->callbacks[DESTROY].destroy));
        }
        for (int k = 0; k < SCHEDULERS; k++)
            register_task(schedulers[k], "x");
        sweep();
    }
    for (int k = 0; k < SCHEDULERS; k++) {
        if (k % 2) CHECK_OK(selene_scheduler_observe(schedulers[k], NULL, NULL, NULL));
        CHECK_OK(selene_scheduler_close(schedulers[k], 0));
    }
    settle();
    CHECK_INT(SCHEDULERS * SCHEDULER_ROUNDS, atomic_load(&made[EVENT]));
    CHECK_INT(SCHEDULERS * SCHEDULER_ROUNDS, atomic_load(&called[EVENT]));
}

static void test_clocks(void) {
    atomic_store(&clock_value, SELENE_SECOND);
    for (int round = 0; round < SCHEDULER_ROUNDS; round++) {
        selene_scheduler schedulers[SCHEDULERS];
        for (int k = 0; k < SCHEDULERS; k++) {
            selene_options options = SELENE_OPTIONS_INIT;
            struct owner *clock = make_owner("clock", CLOCK, -1);
            clock->home = pthread_self();
            clock->at_home = 1;
            options.clock = clock->callbacks[CLOCK].clock;
            options.clock_context = clock->context;
            options.clock_destroy = clock->callbacks[DESTROY].destroy;
            CHECK_OK(selene_scheduler_open(&options, &schedulers[k]));
        }
        for (int k = 0; k < SCHEDULERS; k++) {
            int64_t now = 0;
            atomic_fetch_add(&clock_value, 1);
            CHECK_OK(selene_scheduler_now(schedulers[k], &now));
            CHECK_INT(atomic_load(&clock_value), now);
            CHECK_OK(selene_scheduler_close(schedulers[k], 0));
        }
        sweep();
    }
    settle();
    CHECK_INT(SCHEDULERS * SCHEDULER_ROUNDS, atomic_load(&made[CLOCK]));
    CHECK(atomic_load(&called[CLOCK]) >= SCHEDULERS * SCHEDULER_ROUNDS);
}

static void refuse_handler(selene_status expected, selene_scheduler scheduler, const char *name,
                           int64_t length) {
    struct owner *owner = make_handler(scheduler, name ? name : "", COMPLETE);
    CHECK_STATUS(expected,
                 selene_handler_register(scheduler, name, length, owner->callbacks[RUN].run,
                                         owner->callbacks[STOP].stop, owner->context,
                                         owner->callbacks[DESTROY].destroy));
    CHECK_INT(atomic_load(&owners_made) - 1,
              atomic_load(&owners_destroyed)); /* all but the live one */
}

static void refuse_report(selene_status expected, selene_scheduler scheduler,
                          const selene_window *window) {
    struct owner *owner = make_owner("receiver", REPORT, -1);
    selene_cycle cycle = 77;
    CHECK_STATUS(expected, selene_cycle_run_async(scheduler, window,
                                                  owner->callbacks[REPORT].report, owner->context,
                                                  owner->callbacks[DESTROY].destroy, &cycle, NULL));
    CHECK_INT(77, cycle);
    CHECK_INT(atomic_load(&owners_made) - 1, atomic_load(&owners_destroyed));
}

static void test_refused_calls(void) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_WINDOW_INIT, no_lane = SELENE_WINDOW_INIT;
    struct owner *live;
    selene_report *report = NULL;
    no_lane.lanes = 0;
    window.lanes = 4;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    live = make_handler(scheduler, "live", COMPLETE);
    CHECK_OK(register_handler(scheduler, "live", live));
    register_task(scheduler, "live");
    for (int round = 0; round < 200; round++) {
        selene_options options = SELENE_OPTIONS_INIT;
        selene_scheduler none = 55;
        struct owner *owner;
        refuse_handler(SELENE_ERROR_ALREADY_EXISTS, scheduler, "live", -1);
        refuse_handler(SELENE_ERROR_INVALID_HANDLE, scheduler + 1, "other", -1);
        refuse_handler(SELENE_ERROR_INVALID_HANDLE, 0, "other", -1);
        refuse_handler(SELENE_ERROR_INVALID_ARGUMENT, scheduler, "", -1);
        refuse_handler(SELENE_ERROR_INVALID_ARGUMENT, scheduler, NULL, 5);
        refuse_handler(SELENE_ERROR_INVALID_ARGUMENT, scheduler, "x", -2);
        refuse_handler(SELENE_ERROR_INVALID_ARGUMENT, scheduler, "\xff", 1);
        refuse_report(SELENE_ERROR_INVALID_HANDLE, 0, &window);
        refuse_report(SELENE_ERROR_INVALID_ARGUMENT, scheduler, &no_lane);

        owner = make_owner("observer", EVENT, -1);
        CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE,
                     selene_scheduler_observe(scheduler + 1, owner->callbacks[EVENT].event,
                                              owner->context, owner->callbacks[DESTROY].destroy));
        owner = make_owner("clock", CLOCK, -1);
        options.clock = owner->callbacks[CLOCK].clock;
        options.clock_context = owner->context;
        options.clock_destroy = owner->callbacks[DESTROY].destroy;
        options.minimum_backoff = -1;
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &none));
        CHECK_INT(55, none);
        CHECK_INT(atomic_load(&owners_made) - 1, atomic_load(&owners_destroyed));
        sweep();
    }
    /* The one that was there still works. */
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
    CHECK_INT(1, atomic_load(&called[RUN]));
    CHECK_INT(0, atomic_load(&called[EVENT]) + atomic_load(&called[REPORT]) +
                     atomic_load(&called[CLOCK]));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    settle();
}

/* A host that cannot make closures at run time: one C function for all, told apart by an integer context. */
static atomic_int plain_calls[9];

static void plain_run(selene_run run, const selene_run_info *info, void *context) {
    (void)info;
    atomic_fetch_add(&plain_calls[(uintptr_t)context], 1);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void plain_destroy(void *context) {
    atomic_fetch_add(&plain_calls[(uintptr_t)context], 100);
}

static void test_plain_functions(void) {
    selene_scheduler scheduler = 0;
    selene_window window = SELENE_WINDOW_INIT;
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    for (int k = 1; k <= 8; k++) {
        char name[32];
        snprintf(name, sizeof name, "handler %d", k);
        CHECK_OK(selene_handler_register(scheduler, name, -1, plain_run, NULL, (void *)(uintptr_t)k,
                                         plain_destroy));
        register_task(scheduler, name);
    }
    window.lanes = 4;
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
    CHECK_INT(0, atomic_load(&plain_calls[0]));
    for (int k = 1; k <= 8; k++)
        CHECK_INT(101, atomic_load(&plain_calls[k]));
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
    run_test("8.9 10 000 handlers are closures freed in their destroy, on library threads",
             test_handlers_on_library_threads);
    run_test("8.9 10 000 handlers are closures freed in their destroy, inline on the main thread",
             test_handlers_on_the_main_thread);
    run_test("8.9 10 000 handlers are closures freed in their destroy, pulled and cancelled",
             test_handlers_of_a_pulled_cycle);
    run_test("8.9 stop closures are called at the expiry and may complete their run",
             test_stops_of_expiry);
    run_test("8.9 10 000 receivers of reports are closures, ten joined in each cycle",
             test_reports);
    run_test("8.9 10 000 observers are closures, each ended by the next", test_observers);
    run_test("8.9 10 000 host clocks are closures, eight schedulers at a time", test_clocks);
    run_test("8.6 a refused call destroys its context exactly once and never calls its function",
             test_refused_calls);
    run_test("8.9 a fixed C function and a context are enough", test_plain_functions);
    return check_end();
}
