/*
 * node - a node of the demonstration that `make fleet` gives: node install | tasks N | work NAME | wait | status
 *
 * The database is what the environment says (PGHOST, PGDATABASE …).
 */
#include <inttypes.h>
#include <selene-fleet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LANES = 2 };

static const char *name;
static struct timespec begun;

static int check(selene_status status) {
    if (status)
        fprintf(stderr, "%s: %s\n", selene_name(SELENE_NAMES_STATUS, status),
                selene_fleet_error()->message.data);
    return status != SELENE_OK;
}

/* A line with the seconds since the demonstration began, which FLEET_BEGAN says. */
static void say(const char *what, const char *id, const char *rest) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = (double)(now.tv_sec - begun.tv_sec) + (double)now.tv_nsec / 1e9;
    printf("%6.1f s  node %s %s%s%s%s\n", seconds, name, what, *id ? " " : "", id, rest);
    fflush(stdout);
}

/* A piece of work that takes a second and a half. */
static void export_it(selene_run run, const selene_run_info *info, void *context) {
    char rest[64] = "";
    int32_t reason = 0;
    (void)context;
    if (info->attempt > 1) snprintf(rest, sizeof rest, ", attempt %" PRIu32, info->attempt);
    say("begins", info->id.data, rest);
    for (int i = 0; i < 15 && reason == 0; i++) {
        usleep(100000);
        if (selene_run_stopping(run, &reason)) break;
    }
    if (reason == 0) say("ends  ", info->id.data, rest);
    selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

static int install(void) {
    if (check(selene_fleet_install(NULL, NULL))) return 1;
    if (selene_fleet_error()->message.data[0]) puts(selene_fleet_error()->message.data);
    return 0;
}

static int tasks(selene_fleet fleet, int count) {
    for (int i = 1; i <= count; i++) {
        char id[32];
        selene_task task = SELENE_INIT(selene_task);
        snprintf(id, sizeof id, "export-%d", i);
        task.id = (selene_text){id, -1};
        task.handler = SELENE_TEXT("export");
        task.schedule = SELENE_SCHEDULE_ONCE;
        task.expected_response = 1500 * SELENE_MILLISECOND;
        if (check(selene_fleet_register(fleet, &task, NULL, NULL))) return 1;
    }
    return check(selene_fleet_wake(fleet)) || check(selene_fleet_prune(fleet, SELENE_NEVER, NULL));
}

/* Works until it is told to end. */
static int work(selene_fleet fleet, const sigset_t *end) {
    selene_options options = SELENE_INIT(selene_options);
    selene_worker_options how = SELENE_INIT(selene_worker_options);
    selene_driver driver = SELENE_INIT(selene_driver);
    selene_scheduler scheduler = 0;
    selene_worker worker = 0;
    int number;
    options.max_pending_refresh = SELENE_UNLIMITED;
    how.name = (selene_text){name, -1};
    how.lease = 2 * SELENE_SECOND;
    how.horizon = SELENE_NONE;
    driver.refresh_lanes = LANES;
    if (selene_scheduler_open(&options, &scheduler)) return 1;
    if (selene_handler_register(scheduler, "export", -1, export_it, NULL, NULL, NULL)) return 1;
    if (check(selene_fleet_work(fleet, scheduler, &how, &worker))) return 1;
    if (selene_driver_start(scheduler, &driver)) return 1;
    sigwait(end, &number);
    if (check(selene_worker_stop(worker, 10 * SELENE_SECOND))) return 1;
    say("has left", "", "");
    return selene_scheduler_close(scheduler, 0);
}

/* How each task stands that has not ended: 2 while there are any. */
static int wait_for(selene_fleet fleet, int count) {
    int is_waiting = 0;
    for (int i = 1; i <= count; i++) {
        char id[32];
        selene_fleet_record *task;
        selene_fleet_explanation *why;
        snprintf(id, sizeof id, "export-%d", i);
        if (check(selene_fleet_get(fleet, id, -1, &task))) return 1;
        int is_over = task->ended_at != 0;
        selene_free(task);
        if (is_over) continue;
        is_waiting = 2;
        if (check(selene_fleet_explain(fleet, id, -1, &why))) return 1;
        for (uint64_t k = 0; k < why->count; k++) {
            char until[64] = "";
            time_t at = (time_t)(why->reasons[k].until / SELENE_SECOND);
            struct tm local;
            if (why->reasons[k].until != SELENE_NEVER)
                strftime(until, sizeof until, ", until %H:%M:%S", localtime_r(&at, &local));
            printf("          %s: %s, %s%s\n", id, why->reasons[k].reason.data,
                   why->reasons[k].detail.data, until);
        }
        selene_free(why);
    }
    return is_waiting;
}

static int status(selene_fleet fleet) {
    selene_fleet_items *items;
    if (check(selene_fleet_status(fleet, &items))) return 1;
    for (uint64_t i = 0; i < items->count; i++)
        printf("          %s%s: %s\n", items->items[i].is_alarm ? "! " : "",
               items->items[i].item.data, items->items[i].value.data);
    selene_free(items);
    return 0;
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "", *began = getenv("FLEET_BEGAN");
    int number = argc > 2 ? atoi(argv[2]) : 0, result = 2;
    selene_fleet fleet = 0;
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigprocmask(SIG_BLOCK, &end, NULL);
    clock_gettime(CLOCK_REALTIME, &begun);
    if (began != NULL) begun.tv_sec = (time_t)strtoll(began, NULL, 10);
    begun.tv_nsec = 0;
    if (strcmp(word, "install") == 0) return install();
    if (check(selene_fleet_open(NULL, &fleet))) return 1;
    name = argc > 2 ? argv[2] : "";
    if (strcmp(word, "tasks") == 0) result = tasks(fleet, number);
    if (strcmp(word, "work") == 0) result = work(fleet, &end);
    if (strcmp(word, "wait") == 0) result = wait_for(fleet, number);
    if (strcmp(word, "status") == 0) result = status(fleet);
    return check(selene_fleet_close(fleet, 0)) ? 1 : result;
}
