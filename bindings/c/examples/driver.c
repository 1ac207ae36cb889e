/* An event loop and the driver: poll(2) says when a step is due, and the governor when a window may open. */
#include <poll.h>
#include <selene.h>
#include <stdio.h>

static selene_scheduler scheduler;

/* Works through a window that the governor granted; a real host would start its runs and go on with its loop. */
static void use_window(selene_cycle cycle) {
    selene_run_info info = SELENE_INIT(selene_run_info);
    int32_t step;
    while (!selene_cycle_next(cycle, &step, &info, NULL) && step == SELENE_STEP_RUN) {
        printf("running %s\n", info.id.data);
        selene_run_complete(info.run, SELENE_OUTCOME_NEW_DATA);
    }
    selene_cycle_end(cycle, NULL);
}

static void tell(const selene_event *event, void *context) {
    (void)context;
    if (event->type == SELENE_EVENT_REFUSED)
        printf("no window: %s\n", selene_name(SELENE_NAMES_FACTOR, event->detail));
}

int main(void) {
    const int32_t active = SELENE_SIGNAL_USER_ACTIVE;
    selene_profile profile = SELENE_INIT(selene_profile);
    selene_task task = SELENE_INIT(selene_task);
    struct pollfd wait = {-1, POLLIN, 0};
    int is_done = 0;
    task.id = SELENE_TEXT("index");
    task.kind = SELENE_KIND_PROCESSING;
    task.schedule = SELENE_SCHEDULE_ONCE;
    profile.base = SELENE_PROFILE_APPLE;
    if (selene_scheduler_open(NULL, &scheduler)) return 1;
    selene_scheduler_observe(scheduler, tell, NULL, NULL);
    selene_handler_register(scheduler, "index", -1, NULL, NULL, NULL, NULL);
    selene_governor_set_profile(scheduler, &profile);
    selene_signal_set(scheduler, active, 1, 0);
    selene_task_register(scheduler, &task, NULL);
    selene_driver_open(scheduler, NULL, &wait.fd);
    /* A person works at the machine and leaves after half a second: nothing happens until then. */
    while (!is_done) {
        selene_cycle cycle = 0;
        if (poll(&wait, 1, 500) == 0) {
            puts("the user leaves");
            selene_signal_set(scheduler, active, 0, 0);
            continue;
        }
        if (selene_driver_step(scheduler, &cycle, NULL)) return 1;
        if (cycle) use_window(cycle), is_done = 1;
    }
    return selene_scheduler_close(scheduler, 0);
}
