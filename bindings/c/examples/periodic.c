/* periodic - hours of a periodic task with backoff, on a clock of the host's own: in no time. */
#include <selene.h>
#include <stdio.h>

static int64_t now = 1800000000 * SELENE_SECOND;

static int64_t host_clock(void *context) {
    (void)context;
    return now;
}

/* The server is away during the first three tries. */
static void sync_mail(selene_run run, const selene_run_info *info, void *context) {
    int *tries = context;
    int32_t outcome = ++*tries <= 3 ? SELENE_OUTCOME_FAILED : SELENE_OUTCOME_NEW_DATA;
    printf("attempt %u: %s\n", (unsigned)info->attempt, selene_name(SELENE_NAMES_OUTCOME, outcome));
    selene_run_complete(run, outcome);
}

int main(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_scheduler scheduler = 0;
    int64_t begin = now;
    int tries = 0;

    options.clock = host_clock;
    if (selene_scheduler_open(&options, &scheduler)) return 1;
    if (selene_handler_register(scheduler, "mail", -1, sync_mail, NULL, &tries, NULL)) return 1;

    task.id = SELENE_TEXT("mail");
    task.schedule = SELENE_SCHEDULE_PERIODIC;
    task.period = SELENE_HOUR;
    task.backoff = SELENE_BACKOFF_EXPONENTIAL;
    task.backoff_delay = SELENE_MINUTE;
    if (selene_task_register(scheduler, &task, NULL)) return 1;

    window.flags = SELENE_WINDOW_INLINE;
    for (int windows = 0; windows < 7; windows++) {
        /* A real host would sleep until then. */
        if (selene_scheduler_next_wakeup(scheduler, &now, NULL)) return 1;
        long long seconds = (now - begin) / SELENE_SECOND;
        printf("%lld:%02lld:%02lld  ", seconds / 3600, seconds / 60 % 60, seconds % 60);
        if (selene_cycle_run(scheduler, &window, NULL)) return 1;
    }
    return selene_scheduler_close(scheduler, 0);
}
