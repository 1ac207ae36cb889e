/* poll - the host's own event loop pulls runs; workers, here processes, tell the end by a pipe. */
#include <poll.h>
#include <selene.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Works as many ms as the input says. All that a worker knows of Selene is its token. */
static void start_worker(const selene_run_info *info, int done) {
    printf("start %s\n", info->id.data);
    if (fork() != 0) return;
    poll(NULL, 0, atoi(info->input.data));
    _exit(write(done, &info->run, sizeof info->run) < 0);
}

static void finish(int done) {
    selene_run run;
    if (read(done, &run, sizeof run) == sizeof run)
        printf("done: %s\n",
               selene_name(SELENE_NAMES_STATUS, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA)));
}

int main(void) {
    const selene_text ids[] = {SELENE_TEXT("slow"), SELENE_TEXT("quick")};
    const selene_text works[] = {SELENE_TEXT("8000"), SELENE_TEXT("50")};
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    selene_report *report = NULL;
    int64_t now = 0, wake_at = 0;
    int32_t step = 0;
    int done[2];
    if (pipe(done) || selene_scheduler_open(NULL, &scheduler)) return 1;
    /* Without a function: its tasks are for pulled cycles. */
    if (selene_handler_register(scheduler, "worker", -1, NULL, NULL, NULL, NULL)) return 1;
    task.handler = SELENE_TEXT("worker");
    task.expected_response = 100 * SELENE_MILLISECOND;
    for (int i = 0; i < 2; i++) {
        task.id = ids[i], task.input = works[i].data, task.input_length = works[i].length;
        if (selene_task_register(scheduler, &task, NULL)) return 1;
    }
    window.budget = 4 * SELENE_SECOND, window.lanes = 2;
    if (selene_cycle_begin(scheduler, &window, &cycle)) return 1;
    while (!selene_cycle_next(cycle, &step, &info, &wake_at) && step != SELENE_STEP_DONE) {
        struct pollfd source = {done[0], POLLIN, 0};
        if (step == SELENE_STEP_RUN) start_worker(&info, done[1]);
        if (step == SELENE_STEP_RUN || selene_scheduler_now(scheduler, &now)) continue;
        if (poll(&source, 1, (int)((wake_at - now) / SELENE_MILLISECOND) + 1) > 0) finish(done[0]);
    }
    if (selene_cycle_end(cycle, &report)) return 1;
    for (const selene_report_run *one = report->runs; one < report->runs + report->run_count; one++)
        printf("%s: %s\n", one->id.data, selene_name(SELENE_NAMES_OUTCOME, one->outcome));
    selene_free(report);
    finish(done[0]); /* The slow one: too late, but its id is free again. */
    wait(NULL), wait(NULL);
    return selene_scheduler_close(scheduler, 0);
}
