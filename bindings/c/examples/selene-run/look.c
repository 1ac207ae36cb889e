#define _XOPEN_SOURCE 700
#include "look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "keep.h"
#include "printable.h"
#include "waits.h"

selene_status look(const struct session *session) {
    const struct options *options = session->options;
    selene_status status = SELENE_OK;
    /* With windows each decision was shown before its window. */
    if (options->why && options->cycles == 0)
        status = show_decisions(session, options->window.kinds);
    if (!status && options->plan) status = show_plan(session);
    if (!status && options->explain) status = show_task(session, options->explain);
    if (!status && options->waits) status = show_waits(session, options->waits);
    if (!status && options->list) status = keep_list(session->scheduler);
    if (!status && options->failed) status = keep_failed(session->scheduler);
    if (!status && options->clients) status = keep_clients(session->scheduler);
    return status;
}

bool look_knows(const struct workload *workload, const char *option, const char *id) {
    if (id == NULL || workload_find(workload, id, strlen(id))) return true;
    fprintf(stderr, "selene-run: %s: no task \"%s\" in %s; there are:", option,
            printable(id, -1).text, workload->path);
    for (size_t i = 0; i < workload->count; i++)
        fprintf(stderr, " %s",
                printable(workload->tasks[i].definition.id.data,
                          workload->tasks[i].definition.id.length)
                    .text);
    fputc('\n', stderr);
    return false;
}

/* A task of a fleet may be elsewhere, or its database away: its owner's words say so. */
static bool owner_knows(selene_scheduler scheduler, const struct workload *stored, const char *id) {
    selene_explanation why = SELENE_INIT(selene_explanation);
    if (id == NULL || workload_find(stored, id, strlen(id))) return true;
    if (selene_task_explain(scheduler, id, -1, &why) != SELENE_ERROR_NOT_FOUND) return true;
    fprintf(stderr, "selene-run: --explain: %s\n",
            printable(selene_error_last()->message.data, -1).text);
    return false;
}

static bool is_text(selene_text text, const char *name, size_t length) {
    return (size_t)text.length == length && memcmp(text.data, name, length) == 0;
}

/* Says the names that tasks ask for, or are in; how many they are. */
static size_t say_names(const struct workload *workload, bool are_groups) {
    size_t count = 0;
    for (size_t i = 0; i < workload->count; i++) {
        const struct workload_task *task = &workload->tasks[i];
        const size_t names =
            are_groups ? task->definition.group.length > 0 : task->definition.condition_count;
        for (size_t k = 0; k < names; k++) {
            const selene_text name = are_groups ? task->definition.group : task->conditions[k];
            fprintf(stderr, "%s %s",
                    count++ ? "," : " there are:", printable(name.data, name.length).text);
        }
    }
    return count;
}

static bool refuse_name(const struct workload *workload, const char *option, const char *words,
                        const char *name, size_t length, bool is_group) {
    fprintf(stderr, "selene-run: %s: no task of %s %s \"%s\";", option, workload->path, words,
            printable(name, (int64_t)length).text);
    if (say_names(workload, is_group) == 0) fputs(" there is none", stderr);
    fputc('\n', stderr);
    return false;
}

bool look_knows_names(const struct workload *workload, const struct options *options) {
    for (size_t n = 0; n < options->condition_name_count; n++) {
        const char *name = options->condition_names[n];
        bool is_known = false;
        for (size_t i = 0; i < workload->count; i++)
            for (size_t k = 0; k < workload->tasks[i].definition.condition_count; k++)
                is_known |= is_text(workload->tasks[i].conditions[k], name, strlen(name));
        if (!is_known)
            return refuse_name(workload, "--condition", "asks for", name, strlen(name), false);
    }
    for (size_t n = 0; n < options->group_limit_count; n++) {
        const char *name = options->group_limits[n];
        const size_t length = (size_t)(strrchr(name, '=') - name);
        bool is_known = false;
        for (size_t i = 0; i < workload->count; i++)
            is_known |= is_text(workload->tasks[i].definition.group, name, length);
        if (!is_known) return refuse_name(workload, "--group-limit", "is in", name, length, true);
    }
    return true;
}

/* A handler that is never called stands in for each, so that plans and reasons are as in the program that has them. */
static selene_status stand_in(selene_scheduler scheduler, selene_text id) {
    selene_task_info *info;
    selene_status status = selene_task_get(scheduler, id.data, id.length, 0, &info);
    if (status) return status;
    status = selene_handler_register(scheduler, info->handler.data, info->handler.length, NULL,
                                     NULL, NULL, NULL);
    selene_free(info);
    return status == SELENE_ERROR_ALREADY_EXISTS ? SELENE_OK : status;
}

static selene_status prepare(const struct session *session, const selene_task_ids *ids) {
    const struct options *options = session->options;
    selene_status status =
        selene_conditions_set(session->scheduler, options->conditions, options->satisfied);
    if (!status && options->retry) status = keep_retry(session->scheduler, options->retry);
    if (!status && options->pause.option) status = keep_pause(session->scheduler, options);
    if (!status && options->enqueue) status = keep_enqueue(session->scheduler, options);
    for (uint64_t i = 0; i < ids->count && !status; i++)
        status = stand_in(session->scheduler, ids->ids[i]);
    if (!status) status = selene_scheduler_enable(session->scheduler, options->window.kinds);
    if (!status) status = follow_profile(session);
    return status ? status : look(session);
}

/* What another process has open is as that process says. */
static bool is_its_owners(const struct options *options) {
    if (!options->conditions && options->profile < 0 && !options->observed_range &&
        !options->freshness)
        return false;
    fprintf(stderr,
            "selene-run: %s is open in another process, which decides; not allowed with it: "
            "--network, --external-power, --profile, --observed-range, --freshness\n",
            printable(options->store, -1).text);
    return true;
}

static selene_status look_live(const struct session *session) {
    selene_status status = SELENE_OK;
    if (session->options->retry) status = keep_retry(session->scheduler, session->options->retry);
    if (!status && session->options->pause.option)
        status = keep_pause(session->scheduler, session->options);
    if (!status && session->options->enqueue)
        status = keep_enqueue(session->scheduler, session->options);
    if (!status && session->options->now)
        status = keep_now(session->scheduler, session->options->now);
    return status ? status : look(session);
}

/* One task is cancelled by its id, or run at once, as well as paused. A tag may be nobody's. */
static bool knows_paused(const struct workload *stored, const struct options *options) {
    const struct pause_option *pause = &options->pause;
    if (pause->function == selene_task_pause) return look_knows(stored, "--pause", pause->name);
    if (pause->function == selene_task_resume) return look_knows(stored, "--resume", pause->name);
    if (pause->function == selene_task_cancel) return look_knows(stored, "--cancel", pause->name);
    return true;
}

/* Conditions that nobody asks for and nobody defined are mistyped. */
static bool knows_condition(selene_scheduler scheduler, const struct options *options) {
    const char *name = options->pause.name;
    selene_task_ids *names = NULL;
    bool is_known = false;
    if (!options->changes_condition) return true;
    /* What is wrong is then told as the condition is changed. */
    if (selene_condition_list(scheduler, &names)) return true;
    for (uint64_t i = 0; i < names->count && !is_known; i++)
        is_known = strcmp(names->ids[i].data, name) == 0;
    if (!is_known) {
        fprintf(stderr, "selene-run: --%s: no task asks for the condition \"%s\"; there %s",
                options->pause.option, printable(name, -1).text, names->count ? "are:" : "is none");
        for (uint64_t i = 0; i < names->count; i++)
            fprintf(stderr, " %s", printable(names->ids[i].data, names->ids[i].length).text);
        fputc('\n', stderr);
    }
    selene_free(names);
    return is_known;
}

int look_stored(const struct options *options, selene_scheduler scheduler, bool is_live) {
    struct workload stored = {.path = options->store};
    struct session session = {options, &stored, NULL, scheduler, NULL};
    selene_task_ids *ids = NULL;
    int exit_code = EXIT_REFUSED;
    selene_status status;
    if (is_live && is_its_owners(options)) return EXIT_USAGE;
    if (!is_live && options->now) {
        fprintf(
            stderr,
            "selene-run: %s: no process serves it, so none would run \"%s\"; allowed is WORKLOAD "
            "with it\n",
            printable(options->store, -1).text, printable(options->now, -1).text);
        return EXIT_REFUSED;
    }
    if (!is_live && options->changes_condition) {
        fprintf(stderr,
                "selene-run: %s: no process serves it, and a store keeps no conditions; allowed is "
                "--condition \"%s\" with WORKLOAD\n",
                printable(options->store, -1).text, printable(options->pause.name, -1).text);
        return EXIT_REFUSED;
    }
    status = selene_task_list(scheduler, NULL, 0, &ids);
    if (!status && !workload_of(&stored, ids)) status = SELENE_ERROR_EXHAUSTED;
    if (!status && ((is_live ? !owner_knows(scheduler, &stored, options->explain)
                             : !look_knows(&stored, "--explain", options->explain)) ||
                    !look_knows(&stored, "why", options->waits) ||
                    !look_knows(&stored, "--retry", options->retry) ||
                    !look_knows(&stored, "--now", options->now) ||
                    !knows_paused(&stored, options) || !knows_condition(scheduler, options)))
        exit_code = EXIT_USAGE;
    else if (!status) status = is_live ? look_live(&session) : prepare(&session, ids);
    if (status)
        fprintf(stderr, "selene-run: %s\n", printable(selene_error_last()->message.data, -1).text);
    else if (exit_code != EXIT_USAGE) exit_code = EXIT_DONE;
    workload_free(&stored);
    selene_free(ids);
    return exit_code;
}
