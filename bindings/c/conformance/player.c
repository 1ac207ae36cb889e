/*
 * player.c - plays commands of Tests/conformance through the C interface: the reference that other players are compared with
 */
#include <selene.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 16384, MOST = 64 };

static selene_scheduler scheduler;
static selene_cycle cycle;
static selene_run_info run = SELENE_INIT(selene_run_info);
static int64_t now;
/** The command: its words, of which fields are parted into key and value. */
static char *words[MOST], *values[MOST];
static int count;
/** Zeros. */
static char input[LONGEST];

/** Turns %XX into bytes, in place; the text. */
static selene_text decode(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        unsigned byte = 0;
        if (*from == '%' && sscanf(from + 1, "%2x", &byte) == 1) {
            *to++ = (char)byte;
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    return (selene_text){text, to - text};
}

static void encode(selene_text text) {
    for (int64_t i = 0; i < text.length; i++)
        printf("%%%02X", (unsigned char)text.data[i]);
}

static void say(selene_text text) {
    putchar(' ');
    encode(text);
}

static const char *text_of(const char *key) {
    for (int i = 1; i < count; i++)
        if (values[i] && strcmp(words[i], key) == 0) return values[i];
    return NULL;
}

static int64_t number_of(const char *key, int64_t otherwise) {
    const char *text = text_of(key);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

/** A number whose 0 is not the default. */
static int64_t none_of(const char *key) {
    const int64_t number = number_of(key, 0);
    return number == 0 && text_of(key) ? SELENE_NONE : number;
}

static selene_text field(const char *key) {
    char *text = (char *)(uintptr_t)text_of(key);
    return text ? decode(text) : (selene_text){NULL, 0};
}

/** Texts with commas between them. */
static uint32_t list(const char *key, selene_text *texts) {
    char *text = (char *)(uintptr_t)text_of(key), *rest = NULL;
    uint32_t found = 0;
    for (char *one = text ? strtok_r(text, ",", &rest) : NULL; one;
         one = strtok_r(NULL, ",", &rest))
        texts[found++] = decode(one);
    return found;
}

static selene_status open_scheduler(void) {
    static selene_text permitted[MOST];
    selene_options options = SELENE_INIT(selene_options);
    selene_status status = SELENE_OK;
    selene_scheduler_close(scheduler, 0);
    scheduler = 0;
    options.flags = SELENE_OPTIONS_SET_CLOCK | SELENE_OPTIONS_NO_THREADS;
    if (number_of("hold", 0)) options.flags |= SELENE_OPTIONS_HOLD;
    if (number_of("observed_range", 0)) options.flags |= SELENE_OPTIONS_OBSERVED_RANGE;
    options.clock_start = now;
    options.path = field("path");
    if (text_of("permitted")) {
        options.permitted = permitted;
        options.permitted_count = list("permitted", permitted);
    }
    options.max_pending_refresh =
        text_of("max_pending_refresh") ? none_of("max_pending_refresh") : 1;
    options.max_pending_processing =
        text_of("max_pending_processing") ? none_of("max_pending_processing") : 10;
    options.seed = (uint64_t)number_of("seed", 0);
    options.minimum_interval_refresh = number_of("minimum_interval_refresh", 0);
    options.expedited_quota = none_of("expedited_quota");
    if (!status) status = selene_scheduler_open(&options, &scheduler);
    if (!status) status = selene_conditions_set(scheduler, 255, 255);
    return status ? status : selene_events_open(scheduler, SELENE_EVENTS, NULL);
}

static selene_status register_task(int32_t *disposition) {
    selene_text tags[MOST], needs[MOST], after[MOST];
    selene_task task = SELENE_INIT(selene_task);
    task.id = field("id");
    task.handler = field("handler");
    task.kind = (int32_t)number_of("kind", 0);
    task.schedule = (int32_t)number_of("schedule", 0);
    task.priority = (int32_t)number_of("priority", 0);
    task.existing = (int32_t)number_of("existing", 0);
    task.recurrence = (int32_t)number_of("recurrence", 0);
    task.backoff = (int32_t)number_of("backoff", 0);
    task.response_window = (int32_t)none_of("response_window");
    task.max_attempts = (uint32_t)number_of("max_attempts", 0);
    task.constraints = (uint32_t)number_of("constraints", 0);
    task.tag_count = list("tags", tags);
    task.tags = tags;
    task.condition_count = list("conditions", needs);
    task.conditions = needs;
    task.after_count = list("after", after);
    task.after = after;
    task.expected_response = none_of("expected_response");
    task.initial_delay = number_of("initial_delay", 0);
    task.period = number_of("period", 0);
    task.flex = number_of("flex", 0);
    task.backoff_delay = none_of("backoff_delay");
    task.timeout = number_of("timeout", 0);
    task.stall_limit = number_of("stall_limit", 0);
    task.group = field("group");
    task.latest_begin = number_of("latest_begin", 0);
    task.jitter = (uint32_t)number_of("jitter", 0);
    task.flags = (uint32_t)number_of("flags", 0);
    task.input = input;
    task.input_length = number_of("input_size", 0);
    return selene_task_register(scheduler, &task, disposition);
}

static selene_window window(void) {
    selene_window window = SELENE_INIT(selene_window);
    window.budget = number_of("budget", 0);
    window.reserve = none_of("reserve");
    window.kinds = (uint32_t)number_of("kinds", 0);
    if (number_of("strict", 0)) window.flags |= SELENE_WINDOW_STRICT_FIT;
    if (number_of("frozen", 0)) window.flags |= SELENE_WINDOW_FROZEN;
    return window;
}

/** Answers nothing but ok, or why not. */
static void answer(selene_status status) {
    if (status)
        printf("error %s %s", selene_name(SELENE_NAMES_STATUS, status),
               selene_error_last()->message.data);
    else printf("ok");
}

static void info(const char *id, int64_t length) {
    selene_task_info *info = NULL;
    const selene_status status = selene_task_get(scheduler, id, length, 0, &info);
    answer(status);
    if (status) return;
    printf(" %d %u %" PRId64 " %" PRId64 " %" PRId64 " %u %" PRIu64 " %" PRIu64, info->state,
           info->attempts, info->earliest_begin, info->last_run, info->estimate, info->generation,
           info->appended, info->response_time_count);
    say(info->failure.length > 0 ? info->failure : (selene_text){"-", 1});
    selene_free(info);
}

static void waits(const char *id, int64_t length) {
    selene_waits *waits = NULL;
    const selene_status status = selene_task_waits(scheduler, id, length, &waits);
    answer(status);
    if (status) return;
    for (uint64_t i = 0; i < waits->part_count; i++)
        printf(" %s %" PRId64 " %" PRId64 " %" PRIu64,
               selene_name(SELENE_NAMES_REASON, waits->parts[i].reason), waits->parts[i].detail,
               waits->parts[i].duration, waits->parts[i].times);
    printf(" preferred");
    for (uint64_t i = 0; i < waits->preferred_id_count; i++)
        say(waits->preferred_ids[i]);
    selene_free(waits);
}

static void left(const char *id, int64_t length) {
    selene_task_info *info = NULL;
    selene_task_output *output = NULL;
    selene_status status = selene_task_get(scheduler, id, length, 0, &info);
    if (!status) status = selene_task_get_output(scheduler, id, length, &output);
    answer(status);
    if (!status) {
        printf(" %d =", info->stop_reason);
        encode(output->output);
    }
    selene_free(output);
    selene_free(info);
}

static void plan(void) {
    const selene_window given = window();
    selene_plan *plan = NULL;
    const selene_status status = selene_cycle_plan(scheduler, &given, &plan);
    answer(status);
    for (uint64_t i = 0; !status && i < plan->run_count; i++)
        say(plan->runs[i].id);
    selene_free(plan);
}

static void next(void) {
    int32_t step = -1;
    const selene_status status = selene_cycle_next(cycle, &step, &run, NULL);
    answer(status);
    if (status) return;
    printf(" %s", step == SELENE_STEP_RUN ? "run" : step == SELENE_STEP_WAIT ? "wait" : "done");
    if (step != SELENE_STEP_RUN) return;
    say(run.id);
    printf(" %.17g %" PRId64 " %u", run.score, run.estimate, run.attempt);
}

static void end(void) {
    selene_report *report = NULL;
    const selene_status status = selene_cycle_end(cycle, &report);
    answer(status);
    if (status) return;
    printf(" %d %" PRId64 " %" PRIu64, report->result, report->ended_at, report->eligible);
    for (uint64_t i = 0; i < report->run_count; i++)
        printf(" %d", report->runs[i].outcome);
    selene_free(report);
}

static void events(void) {
    selene_event event = SELENE_INIT(selene_event);
    int32_t found = 0;
    answer(SELENE_OK);
    while (selene_events_next(scheduler, 0, &event, &found, NULL) == SELENE_OK && found) {
        printf(" %d:", event.type);
        encode(event.id);
    }
}

/* ---- ends ------------------------------------------------------------------------------ */

/** The handler of a case of ends: it is at work, has been told to come back, or to stop. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *answer;
    int has_begun, is_released;
    selene_scheduler scheduler;
    int64_t grace;
} work = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int answers(const char *answer) {
    return strcmp(work.answer, answer) == 0;
}

static void tell(int *flag) {
    pthread_mutex_lock(&work.lock);
    *flag = 1;
    pthread_cond_broadcast(&work.changed);
    pthread_mutex_unlock(&work.lock);
}

static void await(const int *flag) {
    pthread_mutex_lock(&work.lock);
    while (!*flag)
        pthread_cond_wait(&work.changed, &work.lock);
    pthread_mutex_unlock(&work.lock);
}

/** What it answers when it is asked to stop; the run may be over. */
static void reply(selene_run at_work) {
    if (answers("obeys")) (void)selene_run_complete(at_work, SELENE_OUTCOME_STOPPED);
    if (answers("fails"))
        (void)selene_run_fail(at_work, SELENE_OUTCOME_FAILED, -1, "was asked", -1);
    if (answers("finishes")) (void)selene_run_complete(at_work, SELENE_OUTCOME_NEW_DATA);
}

static void begin_work(selene_run at_work, const selene_run_info *details, void *context) {
    (void)details, (void)context;
    tell(&work.has_begun);
    await(&work.is_released);
    if (answers("completes") || answers("deaf"))
        (void)selene_run_complete(at_work, SELENE_OUTCOME_NEW_DATA);
    else reply(at_work);
}

static void stop_work(selene_run at_work, int32_t reason, void *context) {
    (void)at_work, (void)reason, (void)context;
    if (!answers("completes") && !answers("deaf")) tell(&work.is_released);
}

static void *release(void *context) {
    (void)context;
    tell(&work.is_released);
    return NULL;
}

/** Ends work in flight; what is deaf comes back behind it. */
static selene_status end_work(const char *way) {
    const int is_shutdown = strcmp(way, "shutdown") == 0;
    pthread_t thread;
    selene_status status, closed;
    await(&work.has_begun);
    if (answers("completes")) pthread_create(&thread, NULL, release, NULL);
    status = is_shutdown ? selene_driver_stop(work.scheduler, work.grace)
                         : selene_scheduler_close(work.scheduler, work.grace);
    if (answers("completes")) pthread_join(thread, NULL);
    tell(&work.is_released);
    closed = is_shutdown ? selene_scheduler_close(work.scheduler, 0) : SELENE_OK;
    return status ? status : closed;
}

/** Plays one; "wait" is what C does not have: nothing is cancelled there but by an end. */
static void play_end(const char *way) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_status status;
    if (strcmp(way, "wait") == 0) {
        printf("error UNSUPPORTED C has no wait that is cancelled");
        return;
    }
    work.answer = text_of("answer");
    work.grace = number_of("grace", 0);
    options.path = field("path");
    driver.flags = SELENE_DRIVER_UNGOVERNED;
    status = selene_scheduler_open(&options, &work.scheduler);
    if (!status)
        status =
            selene_handler_register(work.scheduler, "work", -1, begin_work, stop_work, NULL, NULL);
    if (!status) status = selene_driver_start(work.scheduler, &driver);
    if (!status && strcmp(way, "exit") == 0) {
        if (!answers("idle")) await(&work.has_begun);
        exit(0);
    }
    answer(status ? status : end_work(way));
}

static void perform(const char *verb) {
    selene_text first = {NULL, 0};
    uint64_t number = 0;
    int64_t at = 0;
    int32_t value = 0;
    selene_status status = SELENE_OK;
    if (count > 1 && !values[1]) first = decode(words[1]);
#define IS(name) (strcmp(verb, name) == 0)
    if (IS("register")) {
        answer(status = register_task(&value));
        if (!status) printf(" %d", value);
    } else if (IS("cancel") || IS("cancel_tag") || IS("cancel_all")) {
        answer(status = IS("cancel")
                            ? selene_task_cancel(scheduler, first.data, first.length, &number)
                        : IS("cancel_tag")
                            ? selene_task_cancel_tag(scheduler, first.data, first.length, &number)
                            : selene_task_cancel_all(scheduler, &number));
        if (!status) printf(" %" PRIu64, number);
    } else if (IS("clock")) {
        now = strtoll(first.data, NULL, 10);
        answer(scheduler ? selene_clock_set(scheduler, now) : SELENE_OK);
    } else if (IS("open")) {
        answer(open_scheduler());
    } else if (IS("close")) {
        answer(selene_scheduler_close(scheduler, 0));
        scheduler = 0;
    } else if (IS("handler")) {
        answer(
            selene_handler_register(scheduler, first.data, first.length, NULL, NULL, NULL, NULL));
    } else if (IS("conditions")) {
        answer(selene_conditions_set(scheduler, 255, (uint32_t)atoi(first.data)));
    } else if (IS("enable")) {
        answer(selene_scheduler_enable(scheduler, (uint32_t)atoi(first.data)));
    } else if (IS("pause")) {
        answer(status = selene_task_pause(scheduler, first.data, first.length, &number));
        if (!status) printf(" %" PRIu64, number);
    } else if (IS("define")) {
        answer(selene_condition_define(scheduler, first.data, first.length));
    } else if (IS("undefine")) {
        answer(selene_condition_undefine(scheduler, first.data, first.length));
    } else if (IS("meet") || IS("lose")) {
        answer(selene_condition_set(scheduler, first.data, first.length, IS("meet")));
    } else if (IS("pause_group")) {
        answer(selene_group_pause(scheduler, first.data, first.length));
    } else if (IS("resume_group")) {
        answer(selene_group_resume(scheduler, first.data, first.length));
    } else if (IS("limit_group")) {
        answer(selene_group_set_limit(scheduler, first.data, first.length,
                                      (uint32_t)number_of("limit", 0)));
    } else if (IS("pause_tag")) {
        answer(status = selene_task_pause_tag(scheduler, first.data, first.length, &number));
        if (!status) printf(" %" PRIu64, number);
    } else if (IS("resume")) {
        answer(status = selene_task_resume(scheduler, first.data, first.length, &number));
        if (!status) printf(" %" PRIu64, number);
    } else if (IS("resume_tag")) {
        answer(status = selene_task_resume_tag(scheduler, first.data, first.length, &number));
        if (!status) printf(" %" PRIu64, number);
    } else if (IS("retry")) {
        answer(selene_task_retry(scheduler, first.data, first.length));
    } else if (IS("info")) {
        info(first.data, first.length);
    } else if (IS("waits")) {
        waits(first.data, first.length);
    } else if (IS("left")) {
        left(first.data, first.length);
    } else if (IS("set_next")) {
        answer(selene_task_set_next(scheduler, first.data, first.length, number_of("at", -1)));
    } else if (IS("output")) {
        answer(selene_run_set_output(run.run, first.data, first.length));
    } else if (IS("progress")) {
        answer(selene_run_progress(run.run, atoi(first.data), number_of("total", 0), NULL, 0));
    } else if (IS("wakeup")) {
        answer(status = selene_scheduler_next_wakeup(scheduler, &at, NULL));
        if (!status && at == SELENE_NEVER) printf(" never");
        if (!status && at != SELENE_NEVER) printf(" %" PRId64, at);
    } else if (IS("plan")) {
        plan();
    } else if (IS("begin")) {
        const selene_window given = window();
        answer(selene_cycle_begin(scheduler, &given, &cycle));
    } else if (IS("next")) {
        next();
    } else if (IS("complete")) {
        answer(selene_run_complete(run.run, atoi(first.data)));
    } else if (IS("fail")) {
        answer(selene_run_fail(run.run, SELENE_OUTCOME_FAILED, -1, first.data, first.length));
    } else if (IS("stopping")) {
        answer(status = selene_run_stopping(run.run, &value));
        if (!status) printf(" %d", value);
    } else if (IS("end")) {
        end();
    } else if (IS("events")) {
        events();
    } else if (IS("ends")) {
        play_end(first.data);
    } else if (IS("unknown")) {
        printf("error UNSUPPORTED its words are known to the compiler");
    } else if (IS("exit")) {
        exit(0);
    } else {
        printf("error UNKNOWN there is no command %s", verb);
    }
    putchar('\n');
    fflush(stdout);
}

int main(void) {
    static char line[LONGEST];
    while (fgets(line, sizeof line, stdin)) {
        char *rest = NULL;
        count = 0;
        for (char *word = strtok_r(line, " \n", &rest); word && count < MOST;
             word = strtok_r(NULL, " \n", &rest)) {
            words[count] = word;
            values[count] = strchr(word, '=');
            if (values[count]) *values[count]++ = 0;
            count++;
        }
        if (count > 0) perform(words[0]);
    }
    return 0;
}
