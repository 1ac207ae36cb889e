// Selene for Node.js: the functions of selene.h with numbers for pointers (calls.inc), functions of JavaScript that C can
// call, and a watch on a descriptor. What they mean to JavaScript is in ../wasm/scheduler.mjs, as for WebAssembly.
//
// An environment (the main thread, each worker) has an engine of its own: its schedulers are opened without threads
// (SELENE_OPTIONS_NO_THREADS), so that C calls back only inside calls of that thread, and are closed when it ends.

#define NAPI_VERSION 8
#include <node_api.h>
#include <selene.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

// ---- the environment --------------------------------------------------------

enum { ON_CLOCK, ON_STOP, ON_EVENT, ON_DESTROY, ON_COUNT };

typedef struct instance {
    napi_env env;
    napi_ref functions[ON_COUNT];
    selene_scheduler *open;
    size_t open_count;
    size_t open_capacity;
    /** JavaScript cannot be called any more. */
    bool over;
    /** The name of the handler of the last run that was pulled. */
    size_t handler_length;
    char handler[256];
} instance;

/** What C gives its callbacks: whose object it is, and the object's number there. */
typedef struct lent {
    instance *owner;
    double number;
} lent;

static instance *instance_of(napi_env env) {
    void *found = NULL;
    napi_get_instance_data(env, &found);
    return found;
}

/** A function that says nothing gives undefined. */
static napi_value nothing(void) {
    return NULL;
}

// ---- numbers ----------------------------------------------------------------

// What is no such number is 0, which the library refuses where it matters.

static int32_t take_i32(napi_env env, napi_value given) {
    int32_t value = 0;
    napi_get_value_int32(env, given, &value);
    return value;
}

static uint32_t take_u32(napi_env env, napi_value given) {
    uint32_t value = 0;
    napi_get_value_uint32(env, given, &value);
    return value;
}

static int64_t take_i64(napi_env env, napi_value given) {
    int64_t value = 0;
    bool lossless = false;
    napi_get_value_bigint_int64(env, given, &value, &lossless);
    return value;
}

static uint64_t take_u64(napi_env env, napi_value given) {
    uint64_t value = 0;
    bool lossless = false;
    napi_get_value_bigint_uint64(env, given, &value, &lossless);
    return value;
}

static uintptr_t take_address(napi_env env, napi_value given) {
    int64_t value = 0;
    napi_get_value_int64(env, given, &value);
    return (uintptr_t)value;
}

static napi_value give_u32(napi_env env, uint32_t value) {
    napi_value given = NULL;
    napi_create_uint32(env, value, &given);
    return given;
}

static napi_value give_i32(napi_env env, int32_t value) {
    napi_value given = NULL;
    napi_create_int32(env, value, &given);
    return given;
}

static napi_value give_address(napi_env env, uintptr_t value) {
    napi_value given = NULL;
    napi_create_int64(env, (int64_t)value, &given);
    return given;
}

/** The arguments of a call; those that are missing are undefined. */
static void arguments(napi_env env, napi_callback_info info, size_t count, napi_value *given) {
    napi_get_cb_info(env, info, &count, given, NULL, NULL);
}

#define MOST 8
#define I32(index) take_i32(env, given[index])
#define U32(index) take_u32(env, given[index])
#define I64(index) take_i64(env, given[index])
#define U64(index) take_u64(env, given[index])
#define ADDRESS(index) take_address(env, given[index])
#define POINTER(index) (void *)take_address(env, given[index])
#define GIVE_I32(called) return give_i32(env, called)
#define GIVE_U32(called) return give_u32(env, called)
#define GIVE_POINTER(called) return give_address(env, (uintptr_t)(called))
#define GIVE_VOID(called)                                                                          \
    called;                                                                                        \
    return nothing()

#define CALL(name, count, give, values)                                                            \
    static napi_value js_##name(napi_env env, napi_callback_info info) {                           \
        napi_value given[MOST];                                                                    \
        arguments(env, info, count, given);                                                        \
        give(name values);                                                                         \
    }
#include "calls.inc"
#undef CALL

// ---- schedulers -------------------------------------------------------------

static napi_value js_selene_scheduler_open(napi_env env, napi_callback_info info) {
    napi_value given[2];
    arguments(env, info, 2, given);
    instance *here = instance_of(env);
    if (here->open_count == here->open_capacity) {
        size_t capacity = here->open_capacity ? 2 * here->open_capacity : 8;
        selene_scheduler *more = realloc(here->open, capacity * sizeof *more);
        if (!more) abort();
        here->open = more;
        here->open_capacity = capacity;
    }
    selene_scheduler *out = POINTER(1);
    selene_status status = selene_scheduler_open(POINTER(0), out);
    if (status == SELENE_OK) here->open[here->open_count++] = *out;
    return give_i32(env, status);
}

static napi_value js_selene_scheduler_close(napi_env env, napi_callback_info info) {
    napi_value given[2];
    arguments(env, info, 2, given);
    instance *here = instance_of(env);
    selene_scheduler scheduler = U64(0);
    selene_status status = selene_scheduler_close(scheduler, I64(1));
    for (size_t at = 0; status == SELENE_OK && at < here->open_count; at++) {
        if (here->open[at] != scheduler) continue;
        here->open[at] = here->open[--here->open_count];
        break;
    }
    return give_i32(env, status);
}

/** The environment ends: nobody else would close what it has open, and give its stores free. */
static void end(void *context) {
    instance *here = context;
    here->over = true;
    for (size_t at = 0; at < here->open_count; at++)
        selene_scheduler_close(here->open[at], 0);
    free(here->open);
    free(here);
}

// ---- functions that C calls -------------------------------------------------

/** Calls a function of JavaScript; what it throws, which it should not, is the process's uncaught exception. */
static bool call_back(const lent *context, int which, size_t count, napi_value *values,
                      napi_value *result) {
    napi_env env = context->owner->env;
    napi_value function = NULL, receiver = NULL, error = NULL;
    napi_create_double(env, context->number, &values[count - 1]);
    napi_get_reference_value(env, context->owner->functions[which], &function);
    napi_get_undefined(env, &receiver);
    if (napi_call_function(env, receiver, function, count, values, result) == napi_ok) return true;
    if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
    return false;
}

static int64_t on_clock(void *context) {
    const lent *lent = context;
    if (lent->owner->over) return 0;
    napi_handle_scope scope;
    napi_open_handle_scope(lent->owner->env, &scope);
    napi_value values[1], result = NULL;
    int64_t now =
        call_back(lent, ON_CLOCK, 1, values, &result) ? take_i64(lent->owner->env, result) : 0;
    napi_close_handle_scope(lent->owner->env, scope);
    return now;
}

static void on_stop(selene_run run, int32_t reason, void *context) {
    const lent *lent = context;
    if (lent->owner->over) return;
    napi_handle_scope scope;
    napi_open_handle_scope(lent->owner->env, &scope);
    napi_value values[3];
    napi_create_bigint_uint64(lent->owner->env, run, &values[0]);
    values[1] = give_i32(lent->owner->env, reason);
    call_back(lent, ON_STOP, 3, values, NULL);
    napi_close_handle_scope(lent->owner->env, scope);
}

static void on_event(const selene_event *event, void *context) {
    const lent *lent = context;
    if (lent->owner->over) return;
    napi_handle_scope scope;
    napi_open_handle_scope(lent->owner->env, &scope);
    napi_value values[2] = {give_address(lent->owner->env, (uintptr_t)event)};
    call_back(lent, ON_EVENT, 2, values, NULL);
    napi_close_handle_scope(lent->owner->env, scope);
}

static void on_destroy(void *context) {
    lent *lent = context;
    if (!lent->owner->over) {
        napi_handle_scope scope;
        napi_open_handle_scope(lent->owner->env, &scope);
        napi_value values[1];
        call_back(lent, ON_DESTROY, 1, values, NULL);
        napi_close_handle_scope(lent->owner->env, scope);
    }
    free(lent);
}

/** callbacks(clock, stop, event, destroy): the functions of this environment; gives what C calls in their place. */
static napi_value js_callbacks(napi_env env, napi_callback_info info) {
    const uintptr_t addresses[ON_COUNT] = {(uintptr_t)on_clock, (uintptr_t)on_stop,
                                           (uintptr_t)on_event, (uintptr_t)on_destroy};
    napi_value given[ON_COUNT], made = NULL;
    arguments(env, info, ON_COUNT, given);
    napi_create_array_with_length(env, ON_COUNT, &made);
    for (uint32_t which = 0; which < ON_COUNT; which++) {
        napi_create_reference(env, given[which], 1, &instance_of(env)->functions[which]);
        napi_set_element(env, made, which, give_address(env, addresses[which]));
    }
    return made;
}

/** lend(number): a context of C's, which its destroy frees. */
static napi_value js_lend(napi_env env, napi_callback_info info) {
    napi_value given[1];
    arguments(env, info, 1, given);
    lent *made = malloc(sizeof *made);
    if (!made) abort();
    made->owner = instance_of(env);
    napi_get_value_double(env, given[0], &made->number);
    return give_address(env, (uintptr_t)made);
}

// ---- memory -----------------------------------------------------------------

/** address(buffer): where an ArrayBuffer's bytes are, as long as it lives. */
static napi_value js_address(napi_env env, napi_callback_info info) {
    napi_value given[1];
    void *data = NULL;
    size_t length = 0;
    arguments(env, info, 1, given);
    napi_get_arraybuffer_info(env, given[0], &data, &length);
    return give_address(env, (uintptr_t)data);
}

/** copy(to, from, length) */
static napi_value js_copy(napi_env env, napi_callback_info info) {
    napi_value given[3];
    arguments(env, info, 3, given);
    memcpy(POINTER(0), POINTER(1), ADDRESS(2));
    return nothing();
}

/** A string of UTF-8; of ASCII, which most texts are, it is quicker made. */
static napi_value string(napi_env env, const char *data, size_t length) {
    napi_value made = NULL;
    unsigned char any = 0;
    for (size_t at = 0; at < length; at++)
        any |= (unsigned char)data[at];
    if (any < 0x80) {
        napi_create_string_latin1(env, data, length, &made);
    } else {
        napi_create_string_utf8(env, data, length, &made);
    }
    return made;
}

/** text(at, length): a string; length -1: up to its NUL. */
static napi_value js_text(napi_env env, napi_callback_info info) {
    napi_value given[2];
    arguments(env, info, 2, given);
    const char *data = POINTER(0);
    const int64_t length = (int64_t)ADDRESS(1);
    return string(env, data, length < 0 ? strlen(data) : (size_t)length);
}

/** texts(at, stride, offset, count): those at an offset in each struct of an array, in one string with a NUL between. */
static napi_value js_texts(napi_env env, napi_callback_info info) {
    napi_value given[4];
    arguments(env, info, 4, given);
    const char *first = (const char *)POINTER(0) + ADDRESS(2);
    const size_t stride = ADDRESS(1), count = ADDRESS(3);
    size_t length = 0, end = 0;
    for (size_t at = 0; at < count; at++)
        length += (size_t)((const selene_text *)(const void *)(first + at * stride))->length + 1;
    char *all = malloc(length + 1);
    if (!all) abort();
    for (size_t at = 0; at < count; at++) {
        const selene_text *one = (const void *)(first + at * stride);
        if (one->length) memcpy(all + end, one->data, (size_t)one->length);
        end += (size_t)one->length;
        all[end++] = '\0';
    }
    napi_value made = string(env, all, end ? end - 1 : 0);
    free(all);
    return made;
}

// ---- pulled runs ------------------------------------------------------------

/** What `inRoom` lends. */
typedef struct room {
    selene_run_info info;
    int32_t step;
    /** The handler is not that of the run before. */
    int32_t has_other_handler;
    int64_t wake_at;
} room;

/** next(cycle, room): the id of the run, 0 if there is none now, else the status of the refusal. */
static napi_value js_next(napi_env env, napi_callback_info info) {
    napi_value given[2];
    arguments(env, info, 2, given);
    room *lent = POINTER(1);
    lent->info.struct_size = sizeof lent->info;
    lent->info.flags = 0;
    const selene_status status =
        selene_cycle_next(U64(0), &lent->step, &lent->info, &lent->wake_at);
    if (status != SELENE_OK || lent->step != SELENE_STEP_RUN) return give_i32(env, status);
    instance *here = instance_of(env);
    const selene_text handler = lent->info.handler;
    lent->has_other_handler = here->handler_length != (size_t)handler.length ||
                              memcmp(here->handler, handler.data, here->handler_length) != 0;
    // Names have at most 255 bytes.
    if (lent->has_other_handler && (size_t)handler.length <= sizeof here->handler) {
        here->handler_length = (size_t)handler.length;
        memcpy(here->handler, handler.data, here->handler_length);
    }
    return string(env, lent->info.id.data, (size_t)lent->info.id.length);
}

// ---- descriptors ------------------------------------------------------------

/** A descriptor of the library's in the loop of the environment. */
typedef struct watch {
    uv_poll_t poll;
    napi_env env;
    napi_ref function;
    napi_async_context context;
    napi_async_cleanup_hook_handle hook;
    bool is_closing;
} watch;

static void on_closed(uv_handle_t *handle) {
    watch *watch = handle->data;
    napi_remove_async_cleanup_hook(watch->hook);
    free(watch);
}

static void close_watch(watch *watch) {
    if (watch->is_closing) return;
    watch->is_closing = true;
    napi_delete_reference(watch->env, watch->function);
    napi_async_destroy(watch->env, watch->context);
    uv_close((uv_handle_t *)&watch->poll, on_closed);
}

static void on_end(napi_async_cleanup_hook_handle hook, void *context) {
    (void)hook;
    close_watch(context);
}

/** Once: JavaScript arms it again. */
static void on_readable(uv_poll_t *poll, int status, int events) {
    (void)status, (void)events;
    watch *watch = poll->data;
    uv_poll_stop(poll);
    napi_handle_scope scope;
    napi_open_handle_scope(watch->env, &scope);
    napi_value function = NULL, receiver = NULL, error = NULL;
    napi_get_reference_value(watch->env, watch->function, &function);
    napi_get_global(watch->env, &receiver);
    if (napi_make_callback(watch->env, watch->context, receiver, function, 0, NULL, NULL) ==
            napi_pending_exception &&
        napi_get_and_clear_last_exception(watch->env, &error) == napi_ok)
        napi_fatal_exception(watch->env, error);
    napi_close_handle_scope(watch->env, scope);
}

/** watch(fd, function): gives what arm and unwatch take. */
static napi_value js_watch(napi_env env, napi_callback_info info) {
    napi_value given[2], name = NULL, made = NULL;
    arguments(env, info, 2, given);
    uv_loop_t *loop = NULL;
    watch *watch = calloc(1, sizeof *watch);
    if (!watch) abort();
    napi_get_uv_event_loop(env, &loop);
    int code = uv_poll_init(loop, &watch->poll, I32(0));
    if (code) {
        free(watch);
        napi_throw_error(env, uv_err_name(code), uv_strerror(code));
        return NULL;
    }
    watch->poll.data = watch;
    watch->env = env;
    napi_create_reference(env, given[1], 1, &watch->function);
    napi_create_string_utf8(env, "selene", NAPI_AUTO_LENGTH, &name);
    napi_async_init(env, NULL, name, &watch->context);
    napi_add_async_cleanup_hook(env, on_end, watch, &watch->hook);
    napi_create_external(env, watch, NULL, NULL, &made);
    return made;
}

/** arm(watch): calls its function once, when the descriptor is readable. */
static napi_value js_arm(napi_env env, napi_callback_info info) {
    napi_value given[1];
    void *found = NULL;
    arguments(env, info, 1, given);
    if (napi_get_value_external(env, given[0], &found) == napi_ok)
        uv_poll_start(&((watch *)found)->poll, UV_READABLE, on_readable);
    return nothing();
}

/** disarm(watch): before its descriptor is closed. */
static napi_value js_disarm(napi_env env, napi_callback_info info) {
    napi_value given[1];
    void *found = NULL;
    arguments(env, info, 1, given);
    if (napi_get_value_external(env, given[0], &found) == napi_ok)
        uv_poll_stop(&((watch *)found)->poll);
    return nothing();
}

/** unwatch(watch): once, before another descriptor has its number. */
static napi_value js_unwatch(napi_env env, napi_callback_info info) {
    napi_value given[1];
    void *found = NULL;
    arguments(env, info, 1, given);
    if (napi_get_value_external(env, given[0], &found) == napi_ok) close_watch(found);
    return nothing();
}

// ---- the module -------------------------------------------------------------

#define FUNCTION(name)                                                                             \
    { #name, NULL, js_##name, NULL, NULL, NULL, napi_enumerable, NULL }
#define CALL(name, count, give, values) FUNCTION(name),

NAPI_MODULE_INIT() {
    const napi_property_descriptor functions[] = {
#include "calls.inc"
        FUNCTION(selene_scheduler_open),
        FUNCTION(selene_scheduler_close),
        FUNCTION(callbacks),
        FUNCTION(lend),
        FUNCTION(address),
        FUNCTION(copy),
        FUNCTION(text),
        FUNCTION(texts),
        FUNCTION(next),
        FUNCTION(watch),
        FUNCTION(arm),
        FUNCTION(disarm),
        FUNCTION(unwatch),
    };
    instance *here = calloc(1, sizeof *here);
    if (!here) abort();
    here->env = env;
    if (napi_set_instance_data(env, here, NULL, NULL) != napi_ok ||
        napi_add_env_cleanup_hook(env, end, here) != napi_ok) {
        free(here);
        return NULL;
    }
    napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
    return exports;
}
