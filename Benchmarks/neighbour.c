/*
 * neighbour.c - how often a task of one second runs beside a neighbour that is long, hangs, or fails
 *
 *     neighbour [SECONDS]     60, all neighbours at the same time, each beside a scheduler of its own
 *
 * Driver with all defaults and four lanes. The task is periodic, 1 s, priority very high; the neighbour periodic, 1 s, very
 * low. Alone it can run as often as there are seconds.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "failing.h"

enum { ALONE, HONEST, HANGS, FAILS, NEIGHBOURS };
static const char *const names[NEIGHBOURS] = {"no neighbour", "an honest one of 20 s",
                                              "one that hangs", "one that fails at once"};

struct host {
    selene_scheduler scheduler;
    int neighbour;
    atomic_int runs;
    _Atomic int64_t last, greatest_gap;
};

static void run_task(selene_run run, const selene_run_info *info, void *context) {
    struct host *host = context;
    int64_t begin = now(), last = atomic_exchange(&host->last, begin);
    (void)info;
    if (last && begin - last > host->greatest_gap) host->greatest_gap = begin - last;
    atomic_fetch_add(&host->runs, 1);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void run_neighbour(selene_run run, const selene_run_info *info, void *context) {
    struct host *host = context;
    int32_t reason = SELENE_STOP_NONE;
    (void)info;
    while (host->neighbour == HANGS)
        pause();
    for (int i = 0; host->neighbour == HONEST && i < 2000 && !reason; i++) {
        usleep(10000);
        selene_run_stopping(run, &reason);
    }
    selene_run_complete(run,
                        host->neighbour == FAILS ? SELENE_OUTCOME_FAILED : SELENE_OUTCOME_NEW_DATA);
}

static void add(const struct host *host, const char *id, int32_t priority) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = (selene_text){id, -1};
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_SECOND;
    task.priority = priority;
    task.expected_response = SELENE_SECOND;
    stop_if(selene_task_register(host->scheduler, &task, NULL), id);
}

static void open_host(struct host *host, int neighbour) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    host->neighbour = neighbour;
    options.max_pending_refresh = SELENE_UNLIMITED;
    driver.refresh_lanes = 4;
    stop_if(selene_scheduler_open(&options, &host->scheduler), "open");
    stop_if(selene_handler_register(host->scheduler, "task", -1, run_task, NULL, host, NULL),
            "handler");
    stop_if(
        selene_handler_register(host->scheduler, "neighbour", -1, run_neighbour, NULL, host, NULL),
        "handler");
    if (neighbour != ALONE) add(host, "neighbour", SELENE_PRIORITY_VERY_LOW);
    add(host, "task", SELENE_PRIORITY_VERY_HIGH);
    stop_if(selene_driver_start(host->scheduler, &driver), "driver");
}

int main(int count, char **arguments) {
    static struct host hosts[NEIGHBOURS];
    unsigned seconds;
    count = take_json(count, arguments);
    seconds = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 60;
    about("Selene, driver",
          "selene_driver_start with four lanes, its windows and all else as they are by default");
    for (int i = 0; i < NEIGHBOURS; i++)
        open_host(&hosts[i], i);
    sleep(seconds);
    for (int i = 0; i < NEIGHBOURS; i++) {
        char what[64];
        snprintf(what, sizeof what, "runs beside %s", names[i]);
        found_one(what, "Selene, driver", 0, "runs", hosts[i].runs);
        snprintf(what, sizeof what, "gap beside %s", names[i]);
        found_one(what, "Selene, driver", 0, "ns", (double)hosts[i].greatest_gap);
    }
    fflush(stdout);
    _exit(0); /* One handler never returns. */
}
