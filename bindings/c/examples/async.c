/* async - a handler starts work and returns; another thread gives the outcome. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <selene.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct download {
    selene_run run;
    pthread_t thread;
};

static void *download(void *argument) {
    struct download *self = argument;
    struct timespec network = {0, 50000000};
    nanosleep(&network, NULL);
    puts("thread: the data is here");
    /* Once only: the first outcome stands. */
    printf(
        "thread: first outcome %s\n",
        selene_name(SELENE_NAMES_STATUS, selene_run_complete(self->run, SELENE_OUTCOME_NEW_DATA)));
    printf("thread: second outcome %s\n",
           selene_name(SELENE_NAMES_STATUS, selene_run_complete(self->run, SELENE_OUTCOME_FAILED)));
    return NULL;
}

/* info ends with this function: what the thread needs is copied. */
static void begin(selene_run run, const selene_run_info *info, void *context) {
    struct download *self = context;
    self->run = run;
    printf("handler: begins %s and returns\n", info->id.data);
    if (pthread_create(&self->thread, NULL, download, self)) abort();
}

int main(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    struct download state;

    if (selene_scheduler_open(NULL, &scheduler)) return 1;
    if (selene_handler_register(scheduler, "news", -1, begin, NULL, &state, NULL)) return 1;
    task.id = SELENE_TEXT("news");
    if (selene_task_register(scheduler, &task, NULL)) return 1;

    if (selene_cycle_run(scheduler, &window, &report)) return 1;
    pthread_join(state.thread, NULL);
    printf("report: %s\n", selene_name(SELENE_NAMES_OUTCOME, report->result));
    selene_free(report);
    return selene_scheduler_close(scheduler, SELENE_SECOND);
}
