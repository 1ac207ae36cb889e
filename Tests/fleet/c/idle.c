/*
 * idle.c - many nodes in one process: idle DSN COUNT LEASE. Each has a scheduler, a driver, a connection that it makes when it
 * needs one, and the handler "send"; lease in ms. It says "open", a line "begin ID NODE" for each run, and "stopped"; it works
 * until its input ends.
 */
#include "../../C/check.h"

#include <selene-fleet.h>

static void send_it(selene_run run, const selene_run_info *info, void *context) {
    printf("begin %s %d\n", info->id.data, *(const int *)context);
    fflush(stdout);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

int main(int argc, char **argv) {
    selene_fleet_options where = SELENE_INIT(selene_fleet_options);
    selene_worker_options how = SELENE_INIT(selene_worker_options);
    selene_options options = SELENE_INIT(selene_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_fleet fleet = 0;
    if (argc < 4) return 2;
    int count = atoi(argv[2]);
    selene_scheduler *schedulers = calloc((size_t)count, sizeof *schedulers);
    selene_worker *workers = calloc((size_t)count, sizeof *workers);
    int *numbers = calloc((size_t)count, sizeof *numbers);
    CHECK(schedulers != NULL && workers != NULL && numbers != NULL);
    where.dsn = (selene_text){argv[1], -1};
    where.connect_timeout = SELENE_MINUTE;
    how.lease = strtoll(argv[3], NULL, 10) * SELENE_MILLISECOND;
    how.flags = SELENE_WORKER_POLLS_ONLY;
    driver.flags = SELENE_DRIVER_UNGOVERNED;
    options.max_pending_refresh = SELENE_UNLIMITED;
    CHECK_OK(selene_fleet_open(&where, &fleet));
    for (int i = 0; i < count; i++) {
        numbers[i] = i;
        CHECK_OK(selene_scheduler_open(&options, &schedulers[i]));
        CHECK_OK(
            selene_handler_register(schedulers[i], "send", -1, send_it, NULL, &numbers[i], NULL));
        CHECK_OK(selene_fleet_work(fleet, schedulers[i], &how, &workers[i]));
        CHECK_OK(selene_driver_start(schedulers[i], &driver));
    }
    printf("open\n");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    CHECK_OK(selene_fleet_close(fleet, 30 * SELENE_SECOND));
    for (int i = 0; i < count; i++)
        selene_scheduler_close(schedulers[i], 0);
    printf("stopped\n");
    free(schedulers);
    free(workers);
    free(numbers);
    return 0;
}
