/*
 * handlers.h - what worker.c and member.c do alike; say_begin is their own
 */
#ifndef HANDLERS_H
#define HANDLERS_H

#include "../../C/check.h"

static int64_t takes = 0;

static void say(const char *word, const char *id, const char *rest) {
    printf("%s %s %s\n", word, id, rest);
    fflush(stdout);
}

static void say_begin(selene_run run, const selene_run_info *info);

/* The work of "send": takes a while, and leaves the input behind the word "sent". */
static void work(selene_run run, const selene_run_info *info) {
    char output[1024];
    if (takes > 0) usleep((useconds_t)(takes / 1000));
    int length = snprintf(output, sizeof output, "sent %s", info->input.data);
    selene_run_set_output(run, output, length);
}

static void fail(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    say_begin(run, info);
    selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "no \"luck\"", -1);
}

/* Until it is asked to stop; why. */
static int32_t await_stop(selene_run run, const selene_run_info *info) {
    int32_t reason = 0;
    say_begin(run, info);
    while (selene_run_stopping(run, &reason) == SELENE_OK && reason == 0)
        usleep(2000);
    return reason;
}

static void last(selene_run run, const selene_run_info *info, void *context) {
    const int32_t reason = await_stop(run, info);
    (void)context;
    say("stop", info->id.data, selene_name(SELENE_NAMES_STOP, reason));
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

/* Fails because it is asked to stop. */
static void quit(selene_run run, const selene_run_info *info, void *context) {
    (void)await_stop(run, info), (void)context;
    selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "was asked to stop", -1);
}

/* Whatever it is asked. */
static void hang(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    say_begin(run, info);
    for (;;)
        pause();
}

#endif
