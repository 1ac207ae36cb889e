/* The driver in an event loop whose work takes its time: processes do it, and tell their end by a pipe. A window of each
 * kind may be open, so the loop wakes for the driver, for each of the windows, and for the pipe. */
#include <poll.h>
#include <selene.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static selene_scheduler scheduler;
static int done[2];

/* Starts what there is for it in a window, and ends one in which nothing is left. Gives when to look again. */
static int64_t look_into(selene_cycle *window) {
    selene_run_info run = SELENE_INIT(selene_run_info);
    int64_t wake_at = SELENE_NEVER;
    int32_t step = SELENE_STEP_DONE;
    while (!selene_cycle_next(*window, &step, &run, &wake_at) && step == SELENE_STEP_RUN) {
        printf("start %s\n", run.id.data), fflush(stdout);
        if (fork() != 0) continue;
        poll(NULL, 0, run.kind == SELENE_KIND_PROCESSING ? 600 : 200);
        _exit(write(done[1], &run.run, sizeof run.run) < 0);
    }
    if (step == SELENE_STEP_WAIT) return wake_at;
    *window = (puts("a window ends"), selene_cycle_end(*window, NULL), 0);
    return SELENE_NEVER;
}

/* Milliseconds to wait, an hour at most. */
static int until(int64_t instant) {
    int64_t now = 0, most = SELENE_HOUR;
    if (selene_scheduler_now(scheduler, &now) || instant <= now) return 0;
    return (int)((instant - now < most ? instant - now : most) / SELENE_MILLISECOND) + 1;
}

int main(void) {
    struct pollfd source[] = {{-1, POLLIN, 0}, {-1, POLLIN, 0}};
    selene_cycle windows[] = {0, 0}, granted;
    selene_run run;
    signal(SIGCHLD, SIG_IGN); /* The pipe tells enough. */
    if (pipe(done) || selene_scheduler_open(NULL, &scheduler)) return 1;
    if (selene_handler_register(scheduler, "worker", -1, NULL, NULL, NULL, NULL)) return 1;
    for (int kind = SELENE_KIND_REFRESH; kind <= SELENE_KIND_PROCESSING; kind++) {
        selene_task task = SELENE_INIT(selene_task);
        task.id = kind == SELENE_KIND_REFRESH ? SELENE_TEXT("mail") : SELENE_TEXT("index");
        task.handler = SELENE_TEXT("worker"), task.kind = kind;
        if (selene_task_register(scheduler, &task, NULL)) return 1;
    }
    if (selene_driver_open(scheduler, NULL, &source[0].fd)) return 1;
    source[1].fd = done[0];
    for (int left = 2; left > 0 || windows[0] || windows[1];) {
        int64_t wake_at, at;
        while (!selene_driver_step(scheduler, &granted, &wake_at) && granted)
            windows[windows[0] != 0] = granted;
        for (int i = 0; i < 2; i++)
            if (windows[i] && (at = look_into(&windows[i])) < wake_at) wake_at = at;
        if (left == 0 || poll(source, 2, until(wake_at)) <= 0 || !source[1].revents) continue;
        if (read(done[0], &run, sizeof run) != sizeof run) return 1;
        if (selene_run_complete(run, SELENE_OUTCOME_NEW_DATA) == SELENE_OK) left--;
    }
    return selene_scheduler_close(scheduler, 0);
}
