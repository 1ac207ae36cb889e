/* A program outside the tree that uses an installed Selene: one task, one window, one report. */
#include <selene.h>

#include <stdio.h>

static void work(selene_run run, const selene_run_info *info, void *context) {
    (void)info;
    ++*(int *)context;
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

int main(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    int runs = 0;

    task.id = SELENE_TEXT("install.check");
    window.budget = SELENE_MINUTE;
    if (selene_scheduler_open(NULL, &scheduler) != SELENE_OK ||
        selene_handler_register(scheduler, "install.check", -1, work, NULL, &runs, NULL) !=
            SELENE_OK ||
        selene_task_register(scheduler, &task, NULL) != SELENE_OK ||
        selene_cycle_run(scheduler, &window, &report) != SELENE_OK) {
        fprintf(stderr, "%s\n", selene_error_last()->message.data);
        return 1;
    }
    printf("%s %d %d\n", SELENE_VERSION_STRING, runs, report->result == SELENE_OUTCOME_NEW_DATA);
    selene_free(report);
    return selene_scheduler_close(scheduler, SELENE_SECOND);
}
