/*
 * selene-run - runs shell commands in windows of limited time, highest score first
 *
 * A host of Selene that does real work: every task of a workload file is a command, and the one
 * handler runs it as a child process. runner.c holds what a host has to get right: stopping in
 * time, reaping, signals. This file is the order of events.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "due.h"
#include "duration.h"
#include "edit.h"
#include "follow.h"
#include "grant.h"
#include "keep.h"
#include "look.h"
#include "options.h"
#include "printable.h"
#include "runner.h"
#include "show.h"
#include "watch.h"
#include "workload.h"
#include "workspace.h"

/* Age counts from registration. Too short to be noticed, and long against the time
 * between two registrations that priorities, not lines, decide the first window. */
#define SETTLING (50 * SELENE_MILLISECOND)

static int refused(const struct session *session, const char *what) {
    if (runner_signal(session->runner)) return EXIT_DONE;
    fprintf(stderr, "selene-run: %s: %s\n", what,
            printable(selene_error_last()->message.data, -1).text);
    return EXIT_REFUSED;
}

static selene_status open_scheduler(const struct options *options, selene_scheduler *scheduler) {
    selene_options how = SELENE_INIT(selene_options);
    how.flags = SELENE_OPTIONS_HOLD;
    if (options->observed_range) how.flags |= SELENE_OPTIONS_OBSERVED_RANGE;
    if (options->freshness) how.flags |= SELENE_OPTIONS_FRESHNESS;
    how.max_pending_refresh =
        options->max_pending_refresh ? (int64_t)options->max_pending_refresh : SELENE_NONE;
    how.max_pending_processing =
        options->max_pending_processing ? (int64_t)options->max_pending_processing : SELENE_NONE;
    how.expedited_quota = options->expedited_quota;
    /* Who writes a workload decides how fast it retries. */
    how.minimum_backoff = SELENE_NONE;
    how.max_input_size = 1 << 20;
    if (options->follow) {
        how.minimum_interval_refresh = options->every;
        how.minimum_interval_processing = options->every;
    }
    if (options->store) how.path = (selene_text){options->store, -1};
    return selene_scheduler_open(&how, scheduler);
}

static bool output_works(int *exit_code) {
    if (write_out()) return true;
    *exit_code = EXIT_SYSTEM;
    return false;
}

/* Opens one window; false when there shall be no other. */
static bool run_window(const struct session *session, const char *title,
                       const selene_window *window, int *exit_code) {
    selene_report *report;
    show_window(session, title, window);
    if (selene_cycle_run(session->scheduler, window, &report)) {
        *exit_code = refused(session, "the window was refused");
        return false;
    }
    show_report(session, window, report);
    selene_free(report);
    runner_forget(session->runner);
    if (session->options->store) keep_finished(session);
    return output_works(exit_code) && !runner_signal(session->runner);
}

static bool anything_left(const struct session *session) {
    bool left = false;
    for (size_t i = 0; i < session->workload->count && !left; i++) {
        selene_text id = session->workload->tasks[i].definition.id;
        selene_task_info *info;
        if (selene_task_get(session->scheduler, id.data, id.length, 0, &info)) continue;
        left = info->state < SELENE_STATE_SUCCEEDED;
        selene_free(info);
    }
    return left;
}

/* The windows one after another, by the clock. */
static int run_windows(const struct session *session) {
    const struct options *options = session->options;
    int exit_code = EXIT_DONE;
    int64_t begin = monotonic_now();
    for (int64_t number = 1; number <= options->cycles; number++) {
        selene_window window;
        char title[64];
        snprintf(title, sizeof title, "window %lld of %lld", (long long)number,
                 (long long)options->cycles);
        begin = monotonic_now();
        window = options->window;
        if (grant(session, &window) && !run_window(session, title, &window, &exit_code)) break;
        if (!anything_left(session)) {
            puts("nothing is left to do");
            break;
        }
        if (number < options->cycles &&
            !runner_sleep(session->runner, begin + options->every - monotonic_now()))
            break;
    }
    return exit_code;
}

static bool has_failed(const struct session *session, const char *id, int64_t length) {
    selene_task_info *info;
    bool failed;
    if (selene_task_get(session->scheduler, id, length, 0, &info)) {
        const char *end = keep_end(session, (selene_text){id, length});
        return end && strcmp(end, "failed") == 0;
    }
    failed = info->last_outcome == SELENE_OUTCOME_FAILED ||
             info->last_outcome == SELENE_OUTCOME_ABANDONED ||
             info->last_outcome == SELENE_OUTCOME_EXPIRED;
    selene_free(info);
    return failed;
}

static bool any_failed(const struct session *session) {
    for (size_t i = 0; i < session->workload->count; i++) {
        selene_text id = session->workload->tasks[i].definition.id;
        if (has_failed(session, id.data, id.length)) return true;
    }
    return false;
}

static int run_now(const struct session *session) {
    selene_window window = session->options->window;
    int exit_code = EXIT_DONE;
    window.task = (selene_text){session->options->now, -1};
    run_window(session, "one task now", &window, &exit_code);
    if (exit_code == EXIT_REFUSED) {
        printf("  not run: ");
        show_reasons(session, window.task, &window);
    } else if (exit_code == EXIT_DONE && has_failed(session, session->options->now, -1)) {
        exit_code = EXIT_TASK_FAILED;
    }
    return exit_code;
}

/* Other processes may look at what is followed, and enqueue; it ends with the scheduler. */
static void serve(const struct session *session) {
    selene_server server = 0;
    if (selene_server_start(session->scheduler, NULL, &server))
        fprintf(stderr, "selene-run: other processes cannot connect: %s\n",
                printable(selene_error_last()->message.data, -1).text);
}

/* What the command line says of groups counts from the first window on. */
static selene_status set_groups(const struct session *session) {
    selene_status status = SELENE_OK;
    for (size_t i = 0; i < session->options->group_limit_count && !status; i++) {
        const char *name = session->options->group_limits[i], *sign = strrchr(name, '=');
        status = selene_group_set_limit(session->scheduler, name, sign - name,
                                        (uint32_t)strtoul(sign + 1, NULL, 10));
    }
    return status;
}

/* What the command line says of conditions, the same. */
static selene_status set_conditions(const struct session *session) {
    const struct options *options = session->options;
    selene_status status =
        selene_conditions_set(session->scheduler, options->conditions, options->satisfied);
    for (size_t i = 0; i < options->condition_name_count && !status; i++) {
        status = selene_condition_define(session->scheduler, options->condition_names[i], -1);
        if (!status)
            status = selene_condition_set(session->scheduler, options->condition_names[i], -1, 1);
    }
    return status;
}

static int work(struct session *session) {
    const struct options *options = session->options;
    const bool runs = options->now || options->cycles != 0;
    int exit_code = EXIT_DONE;
    if (options->store && runs && !runner_lock(session->runner, options->store)) return EXIT_DONE;
    if (set_conditions(session)) return refused(session, "the conditions were refused");
    if (set_groups(session)) return refused(session, "the limits of groups were refused");
    if (options->store) exit_code = keep_workload(session);
    else if (!workload_register(session->workload, session->scheduler)) exit_code = EXIT_WORKLOAD;
    if (exit_code) return exit_code;
    for (size_t i = 0; i < session->workload->count && !options->store; i++)
        if (session->workload->tasks[i].calendar.count)
            due_register(&session->workload->tasks[i], session->scheduler, true);
    /* Only now: tasks of a kind that is off could not be registered. */
    if (selene_scheduler_enable(session->scheduler, options->window.kinds))
        return refused(session, "the kinds were refused");
    if (options->trace && selene_trace_record(session->scheduler, options->trace, -1)) {
        refused(session, options->trace);
        return EXIT_SYSTEM;
    }
    if (options->follow && options->store) serve(session);
    if (options->store && runs) show_interrupted(session);
    if (!runner_sleep(session->runner, SETTLING)) return EXIT_DONE;
    if (options->now) exit_code = run_now(session);
    if (follow_profile(session)) return refused(session, "the profile was refused");
    if (exit_code == EXIT_DONE && !options->follow) exit_code = run_windows(session);
    if (exit_code == EXIT_DONE && options->follow && follow(session, anything_left))
        return refused(session, "no driver");
    if (exit_code == EXIT_DONE && !runner_signal(session->runner) && look(session))
        return refused(session, "nothing to show");
    if (exit_code == EXIT_DONE && options->check && any_failed(session))
        exit_code = EXIT_TASK_FAILED;
    return exit_code;
}

static int opening_failed(selene_status status) {
    fprintf(stderr, "selene-run: %s\n", printable(selene_error_last()->message.data, -1).text);
    return status == SELENE_ERROR_STORE_LOCKED ? EXIT_LOCKED : EXIT_REFUSED;
}

static bool is_socket(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && S_ISSOCK(found.st_mode);
}

static selene_status connect_to(const struct options *options, selene_scheduler *scheduler) {
    selene_connect_options how = SELENE_INIT(selene_connect_options);
    believe_owner_of(&how, options->store);
    return selene_scheduler_connect(&how, scheduler);
}

/* While another process has the store, or this user may not open it, what that process serves is looked at. */
static selene_status connect_to_owner(const struct options *options, selene_status why,
                                      selene_scheduler *scheduler) {
    const struct printable refused = printable(selene_error_last()->message.data, -1);
    selene_status status;
    bool is_still;
    status = connect_to(options, scheduler);
    if (status != SELENE_ERROR_OWNER_AWAY) return status;
    /* It may serve it, and stand still. */
    is_still = selene_error_last()->unit == SELENE_UNIT_DURATION;
    if (is_still)
        fprintf(stderr, "selene-run: %s\n", printable(selene_error_last()->message.data, -1).text);
    fprintf(stderr, "selene-run: %s%s\n", refused.text,
            why == SELENE_ERROR_STORE_LOCKED && !is_still ? ", which does not serve it" : "");
    return status;
}

/* A store without a workload: nothing is registered, nothing runs. */
static int look_at_store(const struct options *options) {
    selene_scheduler scheduler = 0;
    bool is_live = false;
    selene_status status;
    int exit_code;
    if (access(options->store, F_OK)) {
        fprintf(stderr, "selene-run: %s: %s\n", options->store, strerror(errno));
        return EXIT_REFUSED;
    }
    if (options->watch) return watch_store(options);
    is_live = is_socket(options->store);
    status = is_live ? connect_to(options, &scheduler) : open_scheduler(options, &scheduler);
    if (status == SELENE_ERROR_STORE_LOCKED || status == SELENE_ERROR_STORE_CANNOT_OPEN) {
        int exit_without = status == SELENE_ERROR_STORE_LOCKED ? EXIT_LOCKED : EXIT_REFUSED;
        status = connect_to_owner(options, status, &scheduler);
        if (status == SELENE_ERROR_OWNER_AWAY) return exit_without;
        is_live = true;
    }
    if (status) return opening_failed(status);
    exit_code = look_stored(options, scheduler, is_live);
    output_works(&exit_code);
    selene_scheduler_close(scheduler, 0);
    return exit_code;
}

/* What --follow waits for. A terminal that goes away is not a request to end: a supervisor should start it again. */
static bool is_request(int number) {
    return number == SIGINT || number == SIGTERM;
}

static int run_session(const struct options *options, const struct workload *workload,
                       const struct workspace *workspace) {
    static struct runner runner;
    struct session session = {options, workload, &runner, 0, NULL};
    selene_status status;
    int exit_code;
    int number;
    runner_open(&runner, workspace, options);
    status = open_scheduler(options, &session.scheduler);
    if (status) return opening_failed(status);
    status = runner_attach(&runner, session.scheduler, workload->handler);
    if (status) {
        fprintf(stderr, "selene-run: %s\n", selene_status_message(status));
        return EXIT_REFUSED;
    }
    exit_code = work(&session);
    number = runner_signal(&runner);
    runner_close(&runner);
    edit_free(&session);
    due_free();
    if (number && exit_code == EXIT_DONE && !(options->follow && is_request(number)))
        return EXIT_SIGNALLED + number;
    return exit_code;
}

/* What the library says, on any thread. */
static void tell(int32_t level, const char *text, void *context) {
    const char *name = level == SELENE_LOG_ERROR     ? "error"
                       : level == SELENE_LOG_WARNING ? "warning"
                                                     : "info";
    (void)context;
    fprintf(stderr, "selene-run: %s: %s\n", name, printable(text, -1).text);
}

int main(int count, char **arguments) {
    struct options options;
    struct workload workload;
    struct workspace workspace;
    int exit_code;
    if (!options_read(&options, count, arguments, &exit_code)) return exit_code;
    if (options.verbose) selene_log_set(tell, NULL, NULL);
    if (options.workload == NULL) return look_at_store(&options);
    exit_code = EXIT_SYSTEM;
    if (!workload_read(&workload, options.workload)) exit_code = EXIT_WORKLOAD;
    else if (!look_knows(&workload, "--now", options.now) ||
             !look_knows(&workload, "--explain", options.explain) ||
             !look_knows(&workload, "why", options.waits) || !look_knows_names(&workload, &options))
        exit_code = EXIT_USAGE;
    else if (workspace_open(&workspace, options.logs)) {
        exit_code = run_session(&options, &workload, &workspace);
        workspace_close(&workspace);
    }
    workload_free(&workload);
    output_works(&exit_code);
    return exit_code;
}
