/*
 * member.c - a process that runs what a selened hands out, and says what it does: member SOCKET [KEY=NUMBER]...
 *
 * lanes (2), ms (what a run takes). It knows nothing of fleets, but for the fence of a run. It works until its input ends. A
 * line for each thing: "begin ID ATTEMPT FENCE", "end ID STATUS", "stop ID REASON", "closed STATUS".
 */
#include "handlers.h"

static void say_begin(selene_run run, const selene_run_info *info) {
    char rest[64];
    int64_t fence = 0, task = 0;
    CHECK_OK(selene_run_fence(run, &fence, &task));
    CHECK(task > 0);
    snprintf(rest, sizeof rest, "%" PRIu32 " %" PRId64, info->attempt, fence);
    say("begin", info->id.data, rest);
}

static void send_it(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    say_begin(run, info);
    work(run, info);
    say("end", info->id.data,
        selene_name(SELENE_NAMES_STATUS, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA)));
}

static int64_t option(int argc, char **argv, const char *key, int64_t value) {
    size_t length = strlen(key);
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], key, length) == 0 && argv[i][length] == '=')
            value = strtoll(argv[i] + length + 1, NULL, 10);
    return value;
}

int main(int argc, char **argv) {
    selene_connect_options where = SELENE_INIT(selene_connect_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_scheduler scheduler = 0;
    if (argc < 2) return 2;
    takes = option(argc, argv, "ms", 0) * SELENE_MILLISECOND;
    where.path = (selene_text){argv[1], -1};
    where.pool = SELENE_TEXT("members");
    where.wait = SELENE_MINUTE;
    driver.flags = SELENE_DRIVER_UNGOVERNED;
    driver.refresh_lanes = (uint32_t)option(argc, argv, "lanes", 2);
    CHECK_OK(selene_scheduler_connect(&where, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "send", -1, send_it, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "fail", -1, fail, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "last", -1, last, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "quit", -1, quit, NULL, NULL, NULL));
    CHECK_OK(selene_handler_register(scheduler, "hang", -1, hang, NULL, NULL, NULL));
    CHECK_OK(selene_driver_start(scheduler, &driver));
    say("serves", "", "");
    while (getchar() != EOF) {
    }
    selene_driver_stop(scheduler, SELENE_SECOND);
    say("closed", "",
        selene_name(SELENE_NAMES_STATUS, selene_scheduler_close(scheduler, SELENE_SECOND)));
    /* A handler that hangs does not keep the process. */
    _exit(0);
}
