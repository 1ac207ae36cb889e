/*
 * vectors.c - plays the conformance vectors through the C interface of the shipped library
 *
 * Arguments: the files (Tests/vectors/scenarios.json, Tests/vectors/mixed.json). What the steps mean stands in
 * Tests/vectors/README.md. With --store DIR in front the scheduler lives in a store in that folder, and is closed and
 * opened again before every step; with --open-store DIR it stays open. Both must change nothing (D1). Built as
 * vectors_connection.c it plays each three times through a connection to a scheduler that is served, as its one member:
 * by pulled cycles, by a lane, and by cycles in which the library calls the handlers, inline. Otherwise one lane of pulled
 * cycles plays. The clock is the host's own; a scenario has a process of its own, up to the first step that differs.
 *
 * A member of a step that nothing asked for fails the scenario, so that no vector can say something unheard.
 */
#include "check.h"

#include <cjson/cJSON.h>

#include <math.h>
#include <stdarg.h>
#include <unistd.h>

#ifndef THROUGH_A_CONNECTION
#define THROUGH_A_CONNECTION 0
#endif

#define LIMIT 256 /* runs in a cycle, handlers in a scenario: far above what the vectors have */

/* ---- the scenario that is played ------------------------------------------ */

static cJSON *scenario;   /* the one that run_test plays */
static cJSON *used;       /* what was taken out of it, kept so that nothing leaks */
static int step_index;    /* −1: before the first step */
static int64_t clock_now; /* ns */
static int clock_destroyed;
static int handlers_registered;
static int handlers_destroyed;
static const char *handler_names[LIMIT];
static int handler_count;
static selene_scheduler scheduler;

/* ---- the store, if there is one ------------------------------------------- */

static const char *store_folder; /* NULL: in memory */
static int store_stays_open;
static char store_path[4096];
static int lives;

static int remove_store(void) {
#ifdef __wasi__
    /* There it is in the memory of the module. */
    extern void module_file_remove(const char *name);
    module_file_remove(store_path);
    return 0;
#else
    return unlink(store_path);
#endif
}

/* ---- the owner, if there is a connection ------------------------------------ */

static selene_scheduler owner;
static char socket_path[64];
static int
    through_lanes; /* runs are taken by selene_lane_next, which gives the outcome of the one before */
static int is_called; /* the library calls the handlers, in windows of selene_cycle_run */

/* What a store does not keep and the host sets again. */
static selene_options options;
enum { ALL_CONSTRAINTS = 255 };
static uint32_t satisfied, enabled;
static const char *met_names[LIMIT]; /* conditions of its own */
static int met_count;

__attribute__((noreturn, format(printf, 1, 2))) static void differs(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "step %d: ", step_index);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    check_fail();
}

static int64_t host_clock(void *context) {
    (void)context;
    return clock_now;
}

static void host_clock_destroy(void *context) {
    (void)context;
    clock_destroyed++;
}

static void handler_destroy(void *context) {
    (void)context;
    handlers_destroyed++;
}

/* ---- reading -------------------------------------------------------------- */

/** Takes a member out of an object; what is left in the end was not understood. NULL if there is none. */
static cJSON *take(cJSON *object, const char *key) {
    cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(object, key);
    if (item) cJSON_AddItemToArray(used, item);
    return item;
}

static cJSON *take_required(cJSON *object, const char *key) {
    cJSON *item = take(object, key);
    if (!item) differs("the vector has no \"%s\"", key);
    return item;
}

static void nothing_left(const cJSON *object, const char *what) {
    if (object->child)
        differs("%s: the member \"%s\" is not understood", what, object->child->string);
}

static const char *text_of(const cJSON *item) {
    if (!cJSON_IsString(item))
        differs("the vector's \"%s\" is no text", item->string ? item->string : "item");
    return item->valuestring;
}

static int64_t integer_of(const cJSON *item) {
    if (!cJSON_IsNumber(item) || item->valuedouble != floor(item->valuedouble) ||
        fabs(item->valuedouble) > 0x1p53)
        differs("the vector's \"%s\" is no integer", item->string ? item->string : "item");
    return (int64_t)item->valuedouble;
}

static int boolean_of(const cJSON *item) {
    if (!cJSON_IsBool(item)) differs("the vector's \"%s\" is no boolean", item->string);
    return cJSON_IsTrue(item);
}

/** A number of milliseconds in nanoseconds, or otherwise if there is no such member. */
static int64_t take_ms(cJSON *object, const char *key, int64_t otherwise) {
    const cJSON *item = take(object, key);
    return item ? integer_of(item) * SELENE_MILLISECOND : otherwise;
}

/** The number whose name is the text, by the library's own names. */
static int32_t number_of(const cJSON *item, int32_t names) {
    const char *text = text_of(item);
    for (int32_t number = 0; number < 32; number++)
        if (strcmp(selene_name(names, number), text) == 0) return number;
    differs("no number is called \"%s\"", text);
}

static uint32_t constraints_of(const cJSON *list) {
    uint32_t bits = 0;
    const cJSON *item;
    if (!cJSON_IsArray(list)) differs("constraints are no list");
    cJSON_ArrayForEach(item, list) {
        uint32_t bit = 1;
        while (bit && strcmp(selene_name(SELENE_NAMES_CONSTRAINT, bit), text_of(item)) != 0)
            bit <<= 1;
        if (!bit) differs("no constraint is called \"%s\"", text_of(item));
        bits |= bit;
    }
    return bits;
}

static uint32_t kinds_of(const cJSON *list) {
    uint32_t bits = 0;
    const cJSON *item;
    if (!cJSON_IsArray(list)) differs("kinds are no list");
    cJSON_ArrayForEach(item, list) bits |= (uint32_t)number_of(item, SELENE_NAMES_KIND);
    return bits;
}

static selene_text *texts_of(const cJSON *list, uint64_t *count) {
    const cJSON *item;
    selene_text *texts;
    if (!cJSON_IsArray(list)) differs("\"%s\" is no list", list->string);
    texts = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *texts);
    CHECK(texts != NULL);
    *count = 0;
    cJSON_ArrayForEach(item, list) {
        texts[*count].data = text_of(item);
        texts[*count].length = (int64_t)strlen(text_of(item));
        ++*count;
    }
    return texts;
}

/* ---- comparing ------------------------------------------------------------ */

static void same_integer(const char *what, int64_t expected, int64_t got) {
    if (expected != got) differs("%s: expected %" PRId64 ", got %" PRId64, what, expected, got);
}

static void same_text(const char *what, const char *expected, const char *got) {
    if (strcmp(expected, got) != 0) differs("%s: expected \"%s\", got \"%s\"", what, expected, got);
}

static void same_selene_text(const char *what, const char *expected, selene_text got) {
    if (!got.data || got.length != (int64_t)strlen(expected) || strcmp(got.data, expected) != 0)
        differs("%s: expected \"%s\", got \"%s\"", what, expected, got.data ? got.data : "(NULL)");
}

static void same_score(const char *what, double expected, double got) {
    if (!(fabs(expected - got) <= 1e-9))
        differs("%s: expected a score of %.12f, got %.12f", what, expected, got);
}

/** Compares with the expected status; true if both are OK and there is more to compare. */
static int same_status(cJSON *expect, selene_status got) {
    const char *expected = text_of(take_required(expect, "status"));
    if (strcmp(expected, selene_name(SELENE_NAMES_STATUS, got)) != 0)
        differs("status: expected %s, got %s%s%s", expected, selene_name(SELENE_NAMES_STATUS, got),
                got ? ": " : "", got ? selene_error_last()->message.data : "");
    return got == SELENE_OK;
}

/* ---- steps ---------------------------------------------------------------- */

static void play_called(selene_run run, const selene_run_info *info, void *context);

static selene_status register_handler(const char *name) {
    handlers_registered++;
    return selene_handler_register(scheduler, name, -1, is_called ? play_called : NULL, NULL, NULL,
                                   handler_destroy);
}

static void add_handler(const char *name) {
    for (int i = 0; i < handler_count; i++)
        if (strcmp(handler_names[i], name) == 0) return;
    CHECK(handler_count < LIMIT);
    CHECK_OK(register_handler(name));
    handler_names[handler_count++] = name;
}

static void set_conditions(void) {
    CHECK_OK(selene_conditions_set(scheduler, ALL_CONSTRAINTS, satisfied));
}

/** Serves the scheduler; its calls go through a connection from now on. */
static void connect_scheduler(void) {
    selene_server_options terms = SELENE_INIT(selene_server_options);
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_server server = 0;
    owner = scheduler;
    snprintf(socket_path, sizeof socket_path, "/tmp/selene-vector-%ld", (long)getpid());
    terms.path = to.path = (selene_text){socket_path, -1};
    CHECK_OK(selene_server_start(owner, &terms, &server));
    CHECK_OK(selene_scheduler_connect(&to, &scheduler));
}

static void open_scheduler(void) {
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    lives++;
    if (THROUGH_A_CONNECTION) connect_scheduler();
    set_conditions();
}

/** Closes and opens again; what a store does not keep is set again. */
static void reopen_scheduler(void) {
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    open_scheduler();
    for (int i = 0; i < handler_count; i++)
        CHECK_OK(register_handler(handler_names[i]));
    CHECK_OK(selene_scheduler_enable(scheduler, enabled));
    for (int i = 0; i < met_count; i++)
        CHECK_OK(selene_condition_set(scheduler, met_names[i], -1, 1));
}

static void forget_met(const char *name) {
    for (int i = 0; i < met_count; i++)
        if (strcmp(met_names[i], name) == 0) met_names[i--] = met_names[--met_count];
}

/** Says that a condition of the host's is met, or is not. */
static void set_condition(const char *name, int is_met, cJSON *expect) {
    if (!same_status(expect, selene_condition_set(scheduler, name, -1, is_met))) return;
    forget_met(name);
    if (!is_met) return;
    CHECK(met_count < LIMIT);
    met_names[met_count++] = name;
}

static void undefine_condition(const char *name, cJSON *expect) {
    same_status(expect, selene_condition_undefine(scheduler, name, -1));
    forget_met(name);
}

static void play_register(cJSON *step, cJSON *expect, int all_handlers) {
    selene_task task = SELENE_INIT(selene_task);
    selene_text *tags = NULL, *conditions = NULL, *after = NULL;
    void *input = NULL;
    int32_t disposition = -1;
    const char *id = text_of(take_required(step, "id"));
    const cJSON *item;
    selene_status status;

    task.id.data = id;
    task.id.length = (int64_t)strlen(id);
    task.schedule = SELENE_SCHEDULE_STANDING;
    if ((item = take(step, "handler"))) {
        task.handler.data = text_of(item);
        task.handler.length = -1;
    }
    if ((item = take(step, "kind"))) task.kind = number_of(item, SELENE_NAMES_KIND);
    if ((item = take(step, "schedule"))) task.schedule = number_of(item, SELENE_NAMES_SCHEDULE);
    if ((item = take(step, "priority"))) task.priority = (int32_t)integer_of(item);
    if ((item = take(step, "existing"))) task.existing = number_of(item, SELENE_NAMES_EXISTING);
    if ((item = take(step, "recurrence")))
        task.recurrence = number_of(item, SELENE_NAMES_RECURRENCE);
    if ((item = take(step, "backoff"))) task.backoff = number_of(item, SELENE_NAMES_BACKOFF);
    if ((item = take(step, "window"))) task.response_window = (int32_t)none_of(integer_of(item));
    if ((item = take(step, "max_attempts"))) task.max_attempts = (uint32_t)integer_of(item);
    if ((item = take(step, "constraints"))) task.constraints = constraints_of(item);
    if ((item = take(step, "tags"))) {
        uint64_t count = 0;
        task.tags = tags = texts_of(item, &count);
        task.tag_count = (uint32_t)count;
    }
    if ((item = take(step, "after"))) {
        uint64_t count = 0;
        task.after = after = texts_of(item, &count);
        task.after_count = (uint32_t)count;
    }
    if ((item = take(step, "after_any_end")) && boolean_of(item))
        task.flags |= SELENE_TASK_AFTER_ANY_END;
    item = take(step, "expected_ms");
    if (!cJSON_IsNull(item))
        task.expected_response = none_of((item ? integer_of(item) : 5000) * SELENE_MILLISECOND);
    task.initial_delay = take_ms(step, "initial_delay_ms", task.initial_delay);
    task.latest_begin = take_ms(step, "latest_begin_ms", task.latest_begin);
    task.stall_limit = take_ms(step, "stall_ms", task.stall_limit);
    task.period = take_ms(step, "period_ms", task.period);
    task.flex = take_ms(step, "flex_ms", task.flex);
    if ((item = take(step, "needs"))) {
        uint64_t count = 0;
        task.conditions = conditions = texts_of(item, &count);
        task.condition_count = (uint32_t)count;
    }
    if ((item = take(step, "group"))) task.group = (selene_text){text_of(item), -1};
    if ((item = take(step, "jitter"))) task.jitter = (uint32_t)integer_of(item);
    if ((item = take(step, "expedited"))) {
        task.flags |= SELENE_TASK_EXPEDITED;
        if (strcmp(text_of(item), "refuse") == 0) task.flags |= SELENE_TASK_REFUSE_OUT_OF_QUOTA;
        else CHECK_STRING("ordinary", text_of(item));
    }
    task.backoff_delay = none_of(take_ms(step, "backoff_ms", 30 * SELENE_SECOND));
    if ((item = take(step, "input_size"))) {
        task.input_length = integer_of(item);
        task.input = input = calloc(1, (size_t)task.input_length + 1);
        CHECK(input != NULL);
    }
    nothing_left(step, "register");

    status = selene_task_register(scheduler, &task, &disposition);
    free(tags);
    free(conditions);
    free(after);
    free(input);
    if (!same_status(expect, status)) {
        same_integer("disposition of a refused call", -1, disposition);
        return;
    }
    same_text("disposition", text_of(take_required(expect, "disposition")),
              selene_name(SELENE_NAMES_DISPOSITION, disposition));
    if (all_handlers) add_handler(task.handler.data ? task.handler.data : id);
}

static void play_count(cJSON *expect, selene_status status, uint64_t count) {
    if (same_status(expect, status))
        same_integer("count", integer_of(take_required(expect, "count")), (int64_t)count);
}

static void play_info(const char *id, cJSON *expect) {
    selene_task_info *info = NULL;
    const cJSON *exact;
    if (!same_status(expect, selene_task_get(scheduler, id, -1, 0, &info))) {
        CHECK(info == NULL);
        return;
    }
    same_selene_text("id", id, info->id);
    same_text("state", text_of(take_required(expect, "state")),
              selene_name(SELENE_NAMES_STATE, info->state));
    same_integer("attempts", integer_of(take_required(expect, "attempts")), info->attempts);
    if ((exact = take(expect, "earliest_begin_ns")))
        same_integer("earliest_begin", integer_of(exact), info->earliest_begin);
    else
        same_integer("earliest_begin", take_ms(expect, "earliest_begin_ms", -1),
                     info->earliest_begin);
    same_integer("last_run", take_ms(expect, "last_run_ms", -1), info->last_run);
    same_integer("estimate", integer_of(take_required(expect, "estimate_ns")), info->estimate);
    same_integer("generation", integer_of(take_required(expect, "generation")), info->generation);
    same_integer("appended", integer_of(take_required(expect, "appended")),
                 (int64_t)info->appended);
    same_integer("runs", integer_of(take_required(expect, "runs")),
                 (int64_t)info->response_time_count);
    selene_free(info);
}

/** What a part of a task's time is about: a constraint, or what has a name. */
static const char *about_of(int32_t reason, int64_t detail, selene_text name) {
    if (reason == SELENE_REASON_CONSTRAINTS)
        return selene_name(SELENE_NAMES_CONSTRAINT, (uint32_t)detail);
    return name.data;
}

static void same_about(const cJSON *expected, const char *got) {
    if (cJSON_IsNull(expected) && got) differs("about: expected nothing, got \"%s\"", got);
    if (!cJSON_IsNull(expected)) same_text("about", text_of(expected), got ? got : "(nothing)");
}

static void play_waits(const char *id, cJSON *expect) {
    selene_waits *waits = NULL;
    const cJSON *list, *item;
    uint64_t place = 0;
    if (!same_status(expect, selene_task_waits(scheduler, id, -1, &waits))) return;
    list = take_required(expect, "parts");
    cJSON_ArrayForEach(item, list) {
        if (place == waits->part_count) differs("parts: there are only %" PRIu64, place);
        const selene_wait *part = &waits->parts[place++];
        same_text("reason", text_of(cJSON_GetArrayItem(item, 0)),
                  selene_name(SELENE_NAMES_REASON, part->reason));
        same_about(cJSON_GetArrayItem(item, 1), about_of(part->reason, part->detail, part->name));
        same_integer(selene_name(SELENE_NAMES_REASON, part->reason),
                     integer_of(cJSON_GetArrayItem(item, 2)) * SELENE_MILLISECOND, part->duration);
        same_integer("times", integer_of(cJSON_GetArrayItem(item, 3)), (int64_t)part->times);
    }
    same_integer("number of parts", (int64_t)place, (int64_t)waits->part_count);
    place = 0;
    list = take_required(expect, "changes");
    cJSON_ArrayForEach(item, list) {
        if (place == waits->change_count) differs("changes: there are only %" PRIu64, place);
        const selene_wait_change *change = &waits->changes[place++];
        same_integer("change", integer_of(cJSON_GetArrayItem(item, 0)) * SELENE_MILLISECOND,
                     change->at);
        same_text("changed to", text_of(cJSON_GetArrayItem(item, 1)),
                  selene_name(SELENE_NAMES_REASON, change->reason));
    }
    same_integer("number of changes", (int64_t)place, (int64_t)waits->change_count);
    place = 0;
    list = take_required(expect, "preferred");
    cJSON_ArrayForEach(item, list) {
        if (place == waits->preferred_id_count) differs("preferred: only %" PRIu64, place);
        same_selene_text("preferred", text_of(item), waits->preferred_ids[place++]);
    }
    same_integer("number of those preferred", (int64_t)place, (int64_t)waits->preferred_id_count);
    selene_free(waits);
}

static void play_left(const char *id, cJSON *expect) {
    selene_task_info *info = NULL;
    selene_task_output *output = NULL;
    if (!same_status(expect, selene_task_get_output(scheduler, id, -1, &output))) return;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    same_text("stop", text_of(take_required(expect, "stop")),
              selene_name(SELENE_NAMES_STOP, info->stop_reason));
    same_selene_text("failure", text_of(take_required(expect, "failure")), info->failure);
    same_selene_text("output", text_of(take_required(expect, "output")), output->output);
    same_integer("bytes of output", output->output.length, (int64_t)info->output_length);
    selene_free(output);
    selene_free(info);
}

static void play_set_next(cJSON *step, cJSON *expect) {
    const char *id = text_of(take_required(step, "id"));
    same_status(expect, selene_task_set_next(scheduler, id, -1, take_ms(step, "to_ms", -1)));
    nothing_left(step, "set_next");
}

static void play_next_wakeup(cJSON *expect) {
    int64_t at = -1, delay = -1;
    const cJSON *expected;
    if (!same_status(expect, selene_scheduler_next_wakeup(scheduler, &at, &delay))) return;
    expected = take_required(expect, "at_ms");
    if (cJSON_IsNull(expected)) {
        same_integer("wake-up", SELENE_NEVER, at);
        same_integer("delay of the wake-up", SELENE_NEVER, delay);
    } else {
        same_integer("wake-up", integer_of(expected) * SELENE_MILLISECOND, at);
        same_integer("delay of the wake-up", at - clock_now, delay);
    }
}

static selene_window window_of(cJSON *step) {
    selene_window window = SELENE_INIT(selene_window);
    const cJSON *item;
    window.budget = take_ms(step, "budget_ms", 30 * SELENE_SECOND);
    window.reserve = none_of(take_ms(step, "reserve_ms", window.budget / 20));
    window.kinds = (item = take(step, "kinds")) ? kinds_of(item) : SELENE_KIND_REFRESH;
    if (!(item = take(step, "frozen")) || boolean_of(item)) window.flags |= SELENE_WINDOW_FROZEN;
    if ((item = take(step, "strict_fit")) && boolean_of(item))
        window.flags |= SELENE_WINDOW_STRICT_FIT;
    return window;
}

static void play_plan(cJSON *step, cJSON *expect) {
    selene_window window = window_of(step);
    selene_plan *plan = NULL;
    const cJSON *ids, *id;
    uint64_t position = 0;
    int64_t starts_at = clock_now;
    nothing_left(step, "plan");
    if (!same_status(expect, selene_cycle_plan(scheduler, &window, &plan))) return;
    ids = take_required(expect, "ids");
    cJSON_ArrayForEach(id, ids) {
        if (position == plan->run_count) differs("plan: \"%s\" is missing", text_of(id));
        same_selene_text("plan", text_of(id), plan->runs[position].id);
        same_integer("start in the plan", starts_at, plan->runs[position].starts_at);
        starts_at += plan->runs[position].estimate;
        position++;
    }
    if (position < plan->run_count)
        differs("plan: \"%s\" is too much", plan->runs[position].id.data);
    selene_free(plan);
}

/** What a run of a cycle did, as the host saw it. */
struct played {
    selene_run run;
    char id[256];
    double score;
    int64_t estimate;
    int64_t started_at;
    int64_t response_time;
    int32_t outcome;
    uint32_t attempt;
    int32_t stops;
};

static const cJSON *said(const cJSON *script, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(script, key);
}

/** What a run says while it is open. */
static void play_open_run(const struct played *now, const cJSON *script) {
    const cJSON *item, *tells = said(script, "tells_ms");
    int64_t began = clock_now, count = 0;
    if ((item = said(script, "output")))
        CHECK_OK(selene_run_set_output(now->run, text_of(item), (int64_t)strlen(text_of(item))));
    if ((item = said(script, "next_ms")))
        CHECK_OK(
            selene_task_set_next(scheduler, now->id, -1, integer_of(item) * SELENE_MILLISECOND));
    cJSON_ArrayForEach(item, tells) {
        clock_now = began + integer_of(item) * SELENE_MILLISECOND;
        CHECK_OK(selene_run_progress(now->run, ++count, cJSON_GetArraySize(tells), NULL, 0));
    }
    clock_now = began;
}

/** Why a run is asked to stop as it ends. */
static void check_stops(struct played *now, const cJSON *script) {
    const cJSON *item = said(script, "stops");
    if (!item) return;
    CHECK_OK(selene_run_stopping(now->run, &now->stops));
    same_text("stops", text_of(item), selene_name(SELENE_NAMES_STOP, now->stops));
}

static void check_runs(cJSON *runs) {
    cJSON *list, *entry;
    cJSON_ArrayForEach(list, runs) {
        if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != 1)
            differs("runs of \"%s\": not one", list->string);
        cJSON_ArrayForEach(entry, list) {
            const cJSON *member;
            cJSON_ArrayForEach(member, entry) {
                static const char *const known[] = {"takes_ms", "outcome", "output",  "next_ms",
                                                    "tells_ms", "stops",   "over_ms", NULL};
                int place = 0;
                while (known[place] && strcmp(member->string, known[place]) != 0)
                    place++;
                if (!known[place])
                    differs("runs of \"%s\": the member \"%s\" is not understood", list->string,
                            member->string);
            }
        }
    }
}

static void check_report(const selene_report *report, const struct played *played, uint64_t count,
                         const selene_window *window, int64_t began_at) {
    uint64_t counted[6] = {0, 0, 0, 0, 0, 0};
    int32_t result;
    same_integer("runs in the report", (int64_t)count, (int64_t)report->run_count);
    for (uint64_t i = 0; i < count; i++) {
        const selene_report_run *run = &report->runs[i];
        same_selene_text("id in the report", played[i].id, run->id);
        same_integer("token in the report", (int64_t)played[i].run, (int64_t)run->run);
        same_score("the report", played[i].score, run->score);
        same_integer("estimate in the report", played[i].estimate, run->estimate);
        same_integer("start in the report", played[i].started_at, run->started_at);
        same_integer("response time in the report", played[i].response_time, run->response_time);
        same_integer("attempt in the report", played[i].attempt, run->attempt);
        same_text("outcome in the report", selene_name(SELENE_NAMES_OUTCOME, played[i].outcome),
                  selene_name(SELENE_NAMES_OUTCOME, run->outcome));
        /* An expired run was asked to stop before; a completed one only if the reserve had begun. */
        if (played[i].stops)
            same_integer("stop reason in the report", played[i].stops, run->stop_reason);
        else if (run->outcome == SELENE_OUTCOME_EXPIRED)
            same_integer("stop reason in the report", SELENE_STOP_EXPIRING, run->stop_reason);
        else if (run->stop_reason != SELENE_STOP_NONE && run->stop_reason != SELENE_STOP_EXPIRING)
            differs("stop reason in the report: got %s",
                    selene_name(SELENE_NAMES_STOP, run->stop_reason));
        counted[run->outcome]++;
    }
    same_integer("new_data", (int64_t)counted[SELENE_OUTCOME_NEW_DATA], (int64_t)report->new_data);
    same_integer("no_data", (int64_t)counted[SELENE_OUTCOME_NO_DATA], (int64_t)report->no_data);
    same_integer("failed", (int64_t)counted[SELENE_OUTCOME_FAILED], (int64_t)report->failed);
    same_integer("abandoned", (int64_t)counted[SELENE_OUTCOME_ABANDONED],
                 (int64_t)report->abandoned);
    same_integer("expired", (int64_t)counted[SELENE_OUTCOME_EXPIRED], (int64_t)report->expired);
    same_integer("stopped", 0, (int64_t)report->stopped);
    result = report->new_data                                         ? SELENE_OUTCOME_NEW_DATA
             : report->failed || report->expired || report->abandoned ? SELENE_OUTCOME_FAILED
                                                                      : SELENE_OUTCOME_NO_DATA;
    same_integer("result by the report's counts", result, report->result);
    same_integer("begin in the report", began_at, report->began_at);
    same_integer("end in the report", clock_now, report->ended_at);
    same_integer("deadline in the report", began_at + window->budget, report->deadline);
    same_integer("budget in the report", window->budget, report->budget);
    same_integer("reserve in the report", window->reserve == SELENE_NONE ? 0 : window->reserve,
                 report->reserve);
    same_integer("kinds in the report", window->kinds, report->kinds);
    if (report->eligible < count || report->did_not_fit > report->eligible - count)
        differs("report: %" PRIu64 " eligible, %" PRIu64 " ran, %" PRIu64 " did not fit",
                report->eligible, count, report->did_not_fit);
}

/** The cycle that is played. */
static struct {
    cJSON *runs;
    selene_window window;
    int64_t deadline, reserve;
    selene_cycle cycle; /* 0: not known before its first run */
    uint64_t count;
    int is_expired;
    int32_t outcome; /* what the lane says of the run before */
} playing;
static struct played played[LIMIT];

/** What a run is and does, from its begin to its end. */
static void play_run(const selene_run_info *info) {
    struct played *now = &played[playing.count];
    const cJSON *item, *script;
    int64_t takes;
    CHECK(playing.count++ < LIMIT);
    CHECK(info->id.length < (int64_t)sizeof now->id);
    memset(now, 0, sizeof *now);
    memcpy(now->id, info->id.data, (size_t)info->id.length);
    now->run = info->run;
    now->score = info->score;
    now->estimate = info->estimate;
    now->started_at = info->started_at;
    now->attempt = info->attempt;
    if (is_called && playing.cycle == 0) playing.cycle = info->cycle;
    same_integer("cycle of the run", (int64_t)playing.cycle, (int64_t)info->cycle);
    same_integer("start of the run", clock_now, info->started_at);
    same_integer("expiry of the run", playing.deadline - playing.reserve, info->expires_at);
    same_integer("deadline of the run", playing.deadline, info->deadline);
    if (!(playing.window.kinds & (uint32_t)info->kind))
        differs("\"%s\" is of another kind", now->id);
    if (info->attempt < 1) differs("\"%s\" ran as attempt 0", now->id);

    script = playing.runs
                 ? cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(playing.runs, now->id), 0)
                 : NULL;
    item = script ? cJSON_GetObjectItemCaseSensitive(script, "takes_ms") : NULL;
    if (script) play_open_run(now, script);
    takes = (item ? integer_of(item) : info->estimate / SELENE_MILLISECOND) * SELENE_MILLISECOND;
    item = script ? cJSON_GetObjectItemCaseSensitive(script, "outcome") : NULL;
    now->outcome = item ? number_of(item, SELENE_NAMES_OUTCOME) : SELENE_OUTCOME_NEW_DATA;
    if (takes > playing.deadline - clock_now) {
        clock_now = playing.deadline;
        now->outcome = SELENE_OUTCOME_EXPIRED;
        playing.is_expired = 1;
    } else {
        clock_now += takes;
        playing.outcome = SELENE_OUTCOME_NONE;
        if (script) check_stops(now, script);
        if ((item = script ? said(script, "over_ms") : NULL)) {
            CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(info->run, now->outcome));
            now->outcome = SELENE_OUTCOME_EXPIRED;
            now->stops = SELENE_STOP_STALLED;
            now->response_time = integer_of(item) * SELENE_MILLISECOND;
            return;
        }
        if (through_lanes) playing.outcome = now->outcome;
        else CHECK_OK(selene_run_complete(info->run, now->outcome));
    }
    now->response_time = clock_now - now->started_at;
}

/** The host comes back from the run that did not end in time; only so is its id free again. */
static void come_back(void) {
    CHECK_STATUS(SELENE_ERROR_STALE_RUN,
                 selene_run_complete(played[playing.count - 1].run, SELENE_OUTCOME_FAILED));
}

/** A handler that the library calls; from a run that does not end in time it returns without an outcome. */
static void play_called(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    CHECK(info->run == run);
    if (playing.is_expired) differs("\"%s\" is called behind the deadline", info->id.data);
    play_run(info);
}

/** Takes runs until there is none, or one did not end in time; the report. */
static selene_report *pull_cycle(void) {
    selene_report *report = NULL;
    selene_lane lane = 0;
    if (through_lanes) CHECK_OK(selene_lane_open(playing.cycle, &lane));
    while (!playing.is_expired) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t found = SELENE_STEP_RUN;
        int64_t wake_at = -1;
        CHECK_OK(through_lanes ? selene_lane_next(lane, playing.outcome, 0, &found, &info, &wake_at)
                               : selene_cycle_next(playing.cycle, &found, &info, &wake_at));
        if (found == SELENE_STEP_DONE) break;
        if (found != SELENE_STEP_RUN) differs("next: expected a run or done, got %" PRId32, found);
        play_run(&info);
    }
    if (through_lanes && !playing.is_expired) {
        CHECK_OK(selene_cycle_wait(playing.cycle, 0, &report, NULL));
        CHECK(report != NULL);
    } else {
        CHECK_OK(selene_cycle_end(playing.cycle, &report));
    }
    if (playing.is_expired) come_back();
    if (through_lanes) CHECK_OK(selene_lane_close(lane));
    return report;
}

static void play_cycle(cJSON *step, cJSON *expect) {
    const cJSON *item, *list;
    int64_t began_at = clock_now;
    selene_report *report = NULL;
    selene_window window = window_of(step);
    selene_status status;
    uint64_t count;

    memset(&playing, 0, sizeof playing);
    playing.runs = take(step, "runs");
    playing.deadline = began_at + window.budget;
    playing.reserve = window.reserve == SELENE_NONE ? 0 : window.reserve;
    playing.outcome = SELENE_OUTCOME_NONE;
    nothing_left(step, "cycle");
    if (playing.runs) check_runs(playing.runs);
    if (through_lanes) window.flags |= SELENE_WINDOW_LANES;
    if (is_called) window.flags |= SELENE_WINDOW_INLINE;
    playing.window = window;
    status = is_called ? selene_cycle_run(scheduler, &window, &report)
                       : selene_cycle_begin(scheduler, &window, &playing.cycle);
    if (!same_status(expect, status)) {
        same_integer("cycle of a refused begin", 0, (int64_t)playing.cycle);
        return;
    }
    if (!is_called) report = pull_cycle();
    else if (playing.is_expired) come_back();
    count = playing.count;

    list = take_required(expect, "picked");
    for (uint64_t i = 0; i < count || i < (uint64_t)cJSON_GetArraySize(list); i++) {
        cJSON *pick = cJSON_GetArrayItem(list, (int)i);
        char what[64];
        if (!pick) differs("picked: \"%s\" is too much", played[i].id);
        if (i == count) differs("picked: \"%s\" is missing", text_of(take_required(pick, "id")));
        snprintf(what, sizeof what, "pick %d", (int)i);
        same_text(what, text_of(take_required(pick, "id")), played[i].id);
        item = take_required(pick, "score");
        if (!cJSON_IsNumber(item)) differs("the vector's score is no number");
        same_score(what, item->valuedouble, played[i].score);
        same_integer("estimate of the pick", integer_of(take_required(pick, "estimate_ns")),
                     played[i].estimate);
        nothing_left(pick, "picked");
    }
    list = take_required(expect, "outcomes");
    same_integer("number of outcomes", cJSON_GetArraySize(list), (int64_t)count);
    for (uint64_t i = 0; i < count; i++)
        same_text("outcome", text_of(cJSON_GetArrayItem(list, (int)i)),
                  selene_name(SELENE_NAMES_OUTCOME, played[i].outcome));
    same_text("result", text_of(take_required(expect, "result")),
              selene_name(SELENE_NAMES_OUTCOME, report->result));
    same_integer("ended_at", integer_of(take_required(expect, "ended_at")) * SELENE_MILLISECOND,
                 report->ended_at);
    same_integer("eligible", integer_of(take_required(expect, "eligible")),
                 (int64_t)report->eligible);
    check_report(report, played, count, &window, began_at);
    selene_free(report);
}

static void play_step(cJSON *step, int all_handlers) {
    int64_t at = integer_of(take_required(step, "at_ms")) * SELENE_MILLISECOND;
    cJSON *expect = take_required(step, "expect"), *item;
    uint64_t count = 0;
    selene_status status;

    if (at < clock_now) differs("the clock would go back");
    clock_now = at;
    if (store_folder && !store_stays_open) reopen_scheduler();
    if ((item = take(step, "register"))) {
        play_register(item, expect, all_handlers);
    } else if ((item = take(step, "handler"))) {
        if (same_status(expect, register_handler(text_of(item))))
            handler_names[handler_count++] = text_of(item);
    } else if ((item = take(step, "conditions"))) {
        satisfied = constraints_of(item);
        same_status(expect, selene_conditions_set(scheduler, ALL_CONSTRAINTS, satisfied));
    } else if ((item = take(step, "enable"))) {
        enabled = kinds_of(item);
        same_status(expect, selene_scheduler_enable(scheduler, enabled));
    } else if ((item = take(step, "cancel"))) {
        status = selene_task_cancel(scheduler, text_of(item), -1, &count);
        play_count(expect, status, count);
    } else if ((item = take(step, "cancel_tag"))) {
        status = selene_task_cancel_tag(scheduler, text_of(item), -1, &count);
        play_count(expect, status, count);
    } else if ((item = take(step, "pause"))) {
        status = selene_task_pause(scheduler, text_of(item), -1, &count);
        play_count(expect, status, count);
    } else if ((item = take(step, "pause_tag"))) {
        status = selene_task_pause_tag(scheduler, text_of(item), -1, &count);
        play_count(expect, status, count);
    } else if ((item = take(step, "resume"))) {
        status = selene_task_resume(scheduler, text_of(item), -1, &count);
        play_count(expect, status, count);
    } else if ((item = take(step, "resume_tag"))) {
        status = selene_task_resume_tag(scheduler, text_of(item), -1, &count);
        play_count(expect, status, count);
    } else if ((item = take(step, "define"))) {
        same_status(expect, selene_condition_define(scheduler, text_of(item), -1));
    } else if ((item = take(step, "undefine"))) {
        undefine_condition(text_of(item), expect);
    } else if ((item = take(step, "meet"))) {
        set_condition(text_of(item), 1, expect);
    } else if ((item = take(step, "lose"))) {
        set_condition(text_of(item), 0, expect);
    } else if ((item = take(step, "pause_group"))) {
        same_status(expect, selene_group_pause(scheduler, text_of(item), -1));
    } else if ((item = take(step, "resume_group"))) {
        same_status(expect, selene_group_resume(scheduler, text_of(item), -1));
    } else if ((item = take(step, "cancel_all"))) {
        if (!boolean_of(item)) differs("cancel_all is not true");
        status = selene_task_cancel_all(scheduler, &count);
        play_count(expect, status, count);
    } else if ((item = take(step, "plan"))) {
        play_plan(item, expect);
    } else if ((item = take(step, "cycle"))) {
        play_cycle(item, expect);
    } else if ((item = take(step, "info"))) {
        play_info(text_of(item), expect);
    } else if ((item = take(step, "waits"))) {
        play_waits(text_of(item), expect);
    } else if ((item = take(step, "left"))) {
        play_left(text_of(item), expect);
    } else if ((item = take(step, "retry"))) {
        same_status(expect, selene_task_retry(scheduler, text_of(item), -1));
    } else if ((item = take(step, "set_next"))) {
        play_set_next(item, expect);
    } else if ((item = take(step, "next_wakeup"))) {
        if (!boolean_of(item)) differs("next_wakeup is not true");
        play_next_wakeup(expect);
    }
    nothing_left(step, "step");
    nothing_left(expect, "expect");
}

static int64_t limit_of(const cJSON *item) {
    if (cJSON_IsString(item) && strcmp(item->valuestring, "unlimited") == 0)
        return SELENE_UNLIMITED;
    return none_of(integer_of(item));
}

static void play_scenario(void) {
    selene_text *permitted = NULL;
    cJSON *given = take_required(scenario, "options");
    cJSON *handlers, *steps, *step;
    const cJSON *item;

    step_index = -1;
    clock_now = 0;
    clock_destroyed = handlers_registered = handlers_destroyed = handler_count = lives = met_count =
        0;
    satisfied = ALL_CONSTRAINTS;
    enabled = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    options = (selene_options)SELENE_INIT(selene_options);
    options.clock = host_clock;
    options.clock_destroy = host_clock_destroy;
    if ((item = take(given, "hold")) && boolean_of(item)) options.flags |= SELENE_OPTIONS_HOLD;
    if ((item = take(given, "observed_range")) && boolean_of(item))
        options.flags |= SELENE_OPTIONS_OBSERVED_RANGE;
    if ((item = take(given, "permitted")))
        options.permitted = permitted = texts_of(item, &options.permitted_count);
    /* What they do not say is a phone's. */
    options.max_pending_refresh = 1;
    options.max_pending_processing = 10;
    if ((item = take(given, "max_pending_refresh"))) options.max_pending_refresh = limit_of(item);
    if ((item = take(given, "max_pending_processing")))
        options.max_pending_processing = limit_of(item);
    if ((item = take(given, "seed"))) options.seed = (uint64_t)integer_of(item);
    options.minimum_interval_refresh = take_ms(given, "minimum_interval_refresh_ms", 0);
    options.expedited_quota = none_of(take_ms(given, "expedited_quota_ms", 10 * SELENE_MINUTE));
    options.minimum_interval_processing = take_ms(given, "minimum_interval_processing_ms", 0);
    nothing_left(given, "options");

    if (store_folder) {
        snprintf(store_path, sizeof store_path, "%s/vector-%ld", store_folder, (long)getpid());
        options.path = (selene_text){store_path, -1};
    }
    open_scheduler();
    if ((handlers = take(scenario, "handlers")))
        cJSON_ArrayForEach(item, handlers) add_handler(text_of(item));

    steps = take_required(scenario, "steps");
    if (!cJSON_IsArray(steps) || !steps->child) differs("the scenario has no steps");
    cJSON_ArrayForEach(step, steps) {
        step_index++;
        play_step(step, handlers == NULL);
    }
    nothing_left(scenario, "scenario");

    CHECK_OK(selene_scheduler_close(scheduler, 0));
    if (THROUGH_A_CONNECTION) CHECK_OK(selene_scheduler_close(owner, 0));
    CHECK_INT(lives, clock_destroyed);
    CHECK_INT(handlers_registered, handlers_destroyed);
    free(permitted);
    if (store_folder) {
        CHECK_OK(selene_store_check(store_path, -1, NULL));
        CHECK(remove_store() == 0);
    }
}

/* ---- files ---------------------------------------------------------------- */

static cJSON *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *bytes;
    long size;
    cJSON *root;
    if (!file || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
        perror(path);
        exit(1);
    }
    rewind(file);
    bytes = malloc((size_t)size + 1);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    bytes[size] = 0;
    root = cJSON_Parse(bytes);
    free(bytes);
    if (!root) {
        fprintf(stderr, "%s: not JSON\n", path);
        exit(1);
    }
    return root;
}

/** The rules and the name of the scenario, as the name of a test. */
static void name_scenario(char *name, size_t size) {
    cJSON *rules = take_required(scenario, "rules");
    const cJSON *rule;
    size_t length = 0;
    name[0] = 0;
    cJSON_ArrayForEach(rule, rules) {
        snprintf(name + length, size - length, "%s ", text_of(rule));
        length = strlen(name);
    }
    snprintf(name + length, size - length, "%s", text_of(take_required(scenario, "name")));
}

int main(int argc, char **argv) {
    int first = 1;
    check_begin(0, NULL);
    if (argc > 2 && (strcmp(argv[1], "--store") == 0 || strcmp(argv[1], "--open-store") == 0)) {
        store_stays_open = strcmp(argv[1], "--open-store") == 0;
        store_folder = argv[2];
        first = 3;
    }
    if (argc <= first) {
        fprintf(stderr, "usage: vectors [--store DIR | --open-store DIR] FILE.json ...\n");
        return 2;
    }
    used = cJSON_CreateArray();
    for (int i = first; i < argc; i++) {
        cJSON *root = read_file(argv[i]);
        cJSON *scenarios = take_required(root, "scenarios");
        cJSON *next;
        nothing_left(root, argv[i]);
        for (cJSON *current = scenarios->child; current; current = next) {
            char name[512];
            next = current->next;
            scenario = current;
            name_scenario(name, sizeof name);
            size_t length = strlen(name);
            through_lanes = is_called = 0;
            run_test(name, play_scenario);
            if (!THROUGH_A_CONNECTION) continue;
            through_lanes = 1;
            snprintf(name + length, sizeof name - length, " (lanes)");
            run_test(name, play_scenario);
            through_lanes = 0;
            is_called = 1;
            snprintf(name + length, sizeof name - length, " (called)");
            run_test(name, play_scenario);
        }
        cJSON_Delete(root);
    }
    cJSON_Delete(used);
    return check_end();
}
