/* fleet - registers three tasks in a fleet, runs what is due of it, and says what became of them: fleet DSN */
#include <selene-fleet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(selene_status status) {
    if (status == SELENE_OK) return;
    fprintf(stderr, "%s: %s\n", selene_name(SELENE_NAMES_STATUS, status),
            selene_fleet_error()->message.data);
    exit(1);
}

static void send_mail(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    printf("sending %s %s\n", info->id.data, info->input.data);
    if (info->input.length == 0) {
        selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "nobody to send it to", -1);
        return;
    }
    selene_run_set_output(run, "sent", 4);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

int main(int argc, char **argv) {
    static const char *const ids[] = {"invoice-7", "invoice-8", "invoice-9"};
    static const char *const inputs[] = {"to a@example.com", "", "to b@example.com"};
    selene_fleet_options where = SELENE_INIT(selene_fleet_options);
    selene_fleet_record *records[3] = {NULL};
    selene_scheduler scheduler = 0;
    selene_fleet fleet = 0;
    selene_worker worker = 0;
    where.dsn = (selene_text){argc > 1 ? argv[1] : "dbname=app", -1};
    check(selene_fleet_install(&where, NULL));
    check(selene_fleet_open(&where, &fleet));
    for (int i = 0; i < 3; i++) { /* from any machine */
        selene_task task = SELENE_INIT(selene_task);
        task.id = (selene_text){ids[i], -1};
        task.handler = SELENE_TEXT("send");
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.max_attempts = 1;
        task.input = inputs[i];
        task.input_length = (int64_t)strlen(inputs[i]);
        check(selene_fleet_register(fleet, &task, NULL, NULL));
    }
    check(selene_scheduler_open(NULL, &scheduler));
    check(selene_handler_register(scheduler, "send", -1, send_mail, NULL, NULL, NULL));
    check(selene_fleet_work(fleet, scheduler, NULL, &worker)); /* on those that run them */
    check(selene_driver_start(scheduler, NULL));
    for (int i = 0; i < 3; usleep(20000)) {
        selene_free(records[i]);
        check(selene_fleet_get(fleet, ids[i], -1, &records[i]));
        if (records[i]->ended_at != 0) i++;
    }
    for (int i = 0; i < 3; i++) {
        printf("%s %s %s\n", ids[i], selene_name(SELENE_NAMES_STATE, records[i]->state),
               records[i]->failure.data);
        selene_free(records[i]);
    }
    check(selene_fleet_close(fleet, SELENE_MINUTE)); /* with its worker */
    return selene_scheduler_close(scheduler, 0);
}
