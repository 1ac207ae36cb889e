/* hello - one task, one window, one report. */
#include <selene.h>
#include <stdio.h>

static void greet(selene_run run, const selene_run_info *info, void *context) {
    const char *greeting = context;
    printf("%s, I am the task %s, in my attempt %u\n", greeting, info->id.data,
           (unsigned)info->attempt);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static int give_up(const char *what) {
    fprintf(stderr, "%s: %s\n", what, selene_error_last()->message.data);
    return 1;
}

int main(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    static char greeting[] = "hello";

    if (selene_scheduler_open(NULL, &scheduler)) return give_up("open");
    if (selene_handler_register(scheduler, "greet", -1, greet, NULL, greeting, NULL))
        return give_up("handler");

    task.id = SELENE_TEXT("world");
    task.handler = SELENE_TEXT("greet");
    if (selene_task_register(scheduler, &task, NULL)) return give_up("task");

    window.budget = 10 * SELENE_SECOND;
    if (selene_cycle_run(scheduler, &window, &report)) return give_up("cycle");
    printf("%llu ran, result %s\n", (unsigned long long)report->run_count,
           selene_name(SELENE_NAMES_OUTCOME, report->result));
    selene_free(report);

    return selene_scheduler_close(scheduler, SELENE_SECOND) ? give_up("close") : 0;
}
