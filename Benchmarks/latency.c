/*
 * latency.c - the time from enqueueing a task to the first line of its handler, while a lane is free
 *
 *     latency [TASKS]     2000, one after another, a millisecond apart; with no window open, and beside a long run
 *
 * Driver with all defaults and four lanes, tasks in memory.
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "failing.h"

static selene_scheduler scheduler;
static int64_t begun;
static sem_t done;

static void work(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    begun = now();
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
    sem_post(&done);
}

static void stay(selene_run run, const selene_run_info *info, void *context) {
    int32_t reason = SELENE_STOP_NONE;
    (void)info, (void)context;
    sem_post(&done);
    while (!reason && !selene_run_stopping(run, &reason))
        usleep(100000);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static void enqueue(const char *id, const char *handler) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = (selene_text){id, -1};
    task.handler = (selene_text){handler, -1};
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.expected_response = SELENE_MILLISECOND;
    stop_if(selene_task_register(scheduler, &task, NULL), id);
}

static void measure(const char *way, int count, int beside) {
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    double *samples = malloc((size_t)count * sizeof *samples);
    options.max_pending_refresh = SELENE_UNLIMITED;
    driver.refresh_lanes = 4;
    driver.refresh_budget = SELENE_HOUR;
    stop_if(samples == NULL || selene_scheduler_open(&options, &scheduler), "open");
    stop_if(selene_handler_register(scheduler, "work", -1, work, NULL, NULL, NULL), "handler");
    stop_if(selene_handler_register(scheduler, "stay", -1, stay, NULL, NULL, NULL), "handler");
    stop_if(selene_driver_start(scheduler, &driver), "driver");
    if (beside) {
        enqueue("stay", "stay");
        sem_wait(&done);
    }
    for (int i = 0; i < count; i++) {
        char id[32];
        int64_t begin;
        snprintf(id, sizeof id, "task-%d", i);
        usleep(1000);
        begin = now();
        enqueue(id, "work");
        sem_wait(&done);
        samples[i] = (double)(begun - begin);
    }
    tails("enqueue to begin", way, samples, count);
    selene_scheduler_close(scheduler, SELENE_SECOND);
    free(samples);
}

int main(int count, char **arguments) {
    int tasks;
    count = take_json(count, arguments);
    tasks = count > 1 ? atoi(arguments[1]) : 2000;
    stop_if(tasks < 1 || sem_init(&done, 0, 0), "tasks");
    about("Selene, driver",
          "selene_driver_start with four lanes, its windows and all else as they are by default");
    measure("Selene, driver", tasks, 0);
    measure("Selene, driver, beside a run", tasks, 1);
    return 0;
}
