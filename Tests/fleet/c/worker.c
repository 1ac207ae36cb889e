/*
 * worker.c - a worker of a fleet that says what it does: worker DSN NAME [KEY=NUMBER]...
 *
 * lanes (4), lease, poll, horizon, ms (what a run takes), grace, polls (1: it does not listen), relaxed, timeout of connecting; times
 * in ms; listen_dsn=DSN. It works until its input ends. A line for each thing: "begin ID ATTEMPT FENCE", "end ID",
 * "stop ID REASON", "trouble|clock begins|ends TEXT", "listens", "pooled", "stopped STATUS". Handlers: send, fail, last, quit, and one of
 * its name, which is as last. worker.py beside this folder is the same in Python.
 */
#include "handlers.h"

#include <poll.h>
#include <selene-fleet.h>
#include <stdatomic.h>

static void say_begin(selene_run run, const selene_run_info *info) {
    char rest[64];
    int64_t fence = 0;
    selene_run_fence(run, &fence, NULL);
    snprintf(rest, sizeof rest, "%" PRIu32 " %" PRId64, info->attempt, fence);
    say("begin", info->id.data, rest);
}

static void send_it(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    say_begin(run, info);
    work(run, info);
    say("end", info->id.data, "");
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void asked_to_stop(selene_run run, int32_t reason, void *context) {
    (void)run;
    (void)context;
    say("stop", "hang", selene_name(SELENE_NAMES_STOP, reason));
}

static void tell(const selene_event *event, void *context) {
    (void)context;
    if (event->type == SELENE_EVENT_TROUBLE && event->detail == SELENE_TROUBLE_FLEET)
        say("trouble", event->status != SELENE_OK ? "begins" : "ends", event->message.data);
    if (event->type == SELENE_EVENT_TROUBLE && event->detail == SELENE_TROUBLE_FLEET_CLOCK)
        say("clock", event->status != SELENE_OK ? "begins" : "ends", event->message.data);
}

static const char *text_option(int argc, char **argv, const char *key) {
    size_t length = strlen(key);
    for (int i = 3; i < argc; i++)
        if (strncmp(argv[i], key, length) == 0 && argv[i][length] == '=')
            return argv[i] + length + 1;
    return "";
}

static int64_t option(int argc, char **argv, const char *key, int64_t value) {
    const char *text = text_option(argc, argv, key);
    return text[0] != 0 ? strtoll(text, NULL, 10) : value;
}

int main(int argc, char **argv) {
    static const selene_text labels[] = {{"eu", 2}};
    selene_fleet_options where = SELENE_INIT(selene_fleet_options);
    selene_worker_options how = SELENE_INIT(selene_worker_options);
    selene_worker_info info = SELENE_INIT(selene_worker_info);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    selene_fleet fleet = 0;
    selene_worker worker = 0;
    struct pollfd input = {0, POLLIN, 0};
    char rest[16];
    int has_said = 0, is_pooled = 0;
    if (argc < 3) return 2;
    takes = option(argc, argv, "ms", 0) * SELENE_MILLISECOND;
    where.dsn = (selene_text){argv[1], -1};
    where.listen_dsn = (selene_text){text_option(argc, argv, "listen_dsn"), -1};
    where.connect_timeout = option(argc, argv, "timeout", 10000) * SELENE_MILLISECOND;
    how.name = (selene_text){argv[2], -1};
    how.labels = labels;
    how.label_count = 1;
    how.lease = option(argc, argv, "lease", 30000) * SELENE_MILLISECOND;
    how.poll = option(argc, argv, "poll", 50) * SELENE_MILLISECOND;
    how.horizon = option(argc, argv, "horizon", 250) * SELENE_MILLISECOND;
    how.flags = option(argc, argv, "polls", 0) ? SELENE_WORKER_POLLS_ONLY : 0;
    if (option(argc, argv, "relaxed", 0)) how.flags |= SELENE_WORKER_RELAXED;
    driver.flags = SELENE_DRIVER_UNGOVERNED;
    driver.refresh_lanes = (uint32_t)option(argc, argv, "lanes", 4);
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_scheduler_observe(scheduler, tell, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "send", -1, send_it, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "fail", -1, fail, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "last", -1, last, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "quit", -1, quit, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "hang", -1, hang, asked_to_stop, NULL, NULL));
    /* For tasks that no other worker is to have. */
    CHECK_OK(selene_handler_register(scheduler, argv[2], -1, last, NULL, NULL, NULL));
    CHECK_OK(selene_fleet_open(&where, &fleet));
    CHECK_OK(selene_fleet_work(fleet, scheduler, &how, &worker));
    CHECK_OK(selene_driver_start(scheduler, &driver));
    do {
        CHECK_OK(selene_worker_get(worker, &info));
        if (info.listens && !has_said) say("listens", "", "");
        has_said = (int)info.listens;
        if ((info.flags & SELENE_WORKER_IS_POOLED) && !is_pooled) say("pooled", "", "");
        is_pooled = (int)(info.flags & SELENE_WORKER_IS_POOLED);
    } while (poll(&input, 1, 10) == 0);
    selene_status status =
        selene_worker_stop(worker, option(argc, argv, "grace", 30000) * SELENE_MILLISECOND);
    snprintf(rest, sizeof rest, "%" PRId32, status);
    say("stopped", rest, "");
    selene_driver_stop(scheduler, 0);
    CHECK_OK(selene_fleet_close(fleet, 0));
    selene_scheduler_close(scheduler, 0);
    /* A handler that hangs does not keep the process. */
    fflush(stdout);
    if (option(argc, argv, "hangs", 0)) _exit(0);
    return 0;
}
