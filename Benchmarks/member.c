/*
 * member.c - what a run costs a process that takes it through a connection, beside a bare round trip
 *
 *     member [RUNS]       20000; the owner is another process, its tasks in memory
 *
 * A round trip is selene_scheduler_now. A run is taken and completed by selene_cycle_next and selene_run_complete, or by
 * selene_lane_next, which does both.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing.h"

static char path[64];

/** The owner: it serves so many tasks, says so, and sleeps until it is killed. */
static pid_t start_owner(int count) {
    int ready[2];
    char byte;
    pid_t child;
    stop_if(pipe(ready) != 0 || (child = fork()) < 0, "fork");
    if (child == 0) {
        selene_options options = SELENE_OPTIONS_INIT;
        selene_server_options terms = SELENE_SERVER_OPTIONS_INIT;
        selene_scheduler scheduler;
        selene_server server;
        options.max_pending_refresh = SELENE_UNLIMITED;
        stop_if(selene_scheduler_open(&options, &scheduler), "open");
        for (int i = 0; i < count; i++) {
            char id[16];
            selene_task task = SELENE_TASK_INIT;
            snprintf(id, sizeof id, "t%d", i);
            task.id = (selene_text){id, -1};
            task.handler = (selene_text){"work", -1};
            task.schedule = SELENE_SCHEDULE_ONCE;
            task.expected_response = SELENE_MICROSECOND;
            stop_if(selene_task_register(scheduler, &task, NULL), id);
        }
        terms.path = (selene_text){path, -1};
        stop_if(selene_server_start(scheduler, &terms, &server), "serve");
        stop_if(write(ready[1], "x", 1) != 1, "write");
        for (;;)
            pause();
    }
    stop_if(read(ready[0], &byte, 1) != 1, "read");
    return child;
}

static void measure(const char *way, int count) {
    selene_connect_options to = SELENE_CONNECT_OPTIONS_INIT;
    selene_window window = SELENE_WINDOW_INIT;
    selene_scheduler member;
    selene_cycle cycle;
    selene_lane lane = 0;
    int is_bare = strcmp(way, "round trip") == 0, has_lanes = strcmp(way, "lane") == 0;
    double *samples = malloc((size_t)count * sizeof *samples);
    pid_t owner = start_owner(is_bare ? 1 : count);
    to.path = (selene_text){path, -1};
    window.flags = has_lanes ? SELENE_WINDOW_LANES : 0;
    window.budget = SELENE_HOUR;
    stop_if(samples == NULL || selene_scheduler_connect(&to, &member), "connect");
    stop_if(selene_handler_register(member, "work", -1, NULL, NULL, NULL, NULL), "handler");
    stop_if(selene_cycle_begin(member, &window, &cycle), "begin");
    if (has_lanes) stop_if(selene_lane_open(cycle, &lane), "lane");
    for (int i = 0; i < count; i++) {
        selene_run_info run = SELENE_RUN_INFO_INIT;
        int32_t step = SELENE_STEP_RUN;
        int64_t begun = now(), at;
        if (is_bare) stop_if(selene_scheduler_now(member, &at), "now");
        else if (has_lanes)
            stop_if(selene_lane_next(lane, i > 0 ? SELENE_OUTCOME_NEW_DATA : SELENE_OUTCOME_NONE, 0,
                                     &step, &run, NULL),
                    "next");
        else {
            stop_if(selene_cycle_next(cycle, &step, &run, NULL), "next");
            stop_if(step != SELENE_STEP_RUN || selene_run_complete(run.run, 0), "complete");
        }
        stop_if(step != SELENE_STEP_RUN, "a run");
        samples[i] = (double)(now() - begun);
    }
    tails("a run of a connected process", way, samples, count);
    free(samples);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    selene_scheduler_close(member, 0);
}

int main(int argc, char **argv) {
    argc = take_json(argc, argv);
    int count = argc > 1 ? atoi(argv[1]) : 20000;
    snprintf(path, sizeof path, "/tmp/selene-member-%ld", (long)getpid());
    measure("round trip", count);
    measure("next, complete", count);
    measure("lane", count);
    unlink(path);
    return 0;
}
