/*
 * pools - how long a task of a fast pool waits for its pickup beside another pool whose runs take seconds
 *
 *     pools [--json] [FOLDER] [SECONDS]     30 s in the current folder
 *
 * Three processes: the owner of the store, whose driver runs a task every second; a pool of reports, each of which takes 4 s and
 * is followed by the next one; a pool of mails, which take no time. The owner registers ten mails a second. Reported: the time
 * from the call that registers a mail until its handler starts, and how often the owner's task ran.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "stores.h"

enum { MOST = 100000 };

/** What the processes write down. */
static struct notes {
    volatile int go, end;
    volatile int mails, reports, ticks;
    volatile int64_t registered[MOST];
    double samples[MOST];
} * notes;

static void complete(selene_run run) {
    selene_status status = selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
    if (status != SELENE_ERROR_STALE_RUN) stop_if(status, "complete");
}

static void mail(selene_run run, const selene_run_info *info, void *context) {
    int number = atoi(info->id.data + strlen("task."));
    int64_t begun = now();
    (void)context;
    notes->samples[number] = (double)(begun - notes->registered[number]);
    notes->mails++;
    complete(run);
}

static void report(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    for (int i = 0; i < 400 && !notes->end; i++)
        usleep(10000);
    notes->reports++;
    complete(run);
}

static void tick(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    notes->ticks++;
    complete(run);
}

static void run_pool(const char *name, selene_run_fn handler) {
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    to.path = (selene_text){file_of("pools"), -1};
    to.pool = (selene_text){name, -1};
    to.wait = 10 * SELENE_SECOND;
    stop_if(selene_scheduler_connect(&to, &connection), "connect");
    stop_if(selene_handler_register(connection, name, -1, handler, NULL, NULL, NULL), "handler");
    stop_if(selene_driver_start(connection, NULL), "driver");
    __atomic_add_fetch(&notes->go, 1, __ATOMIC_SEQ_CST);
    while (!notes->end)
        usleep(10000);
    (void)selene_scheduler_close(connection, SELENE_SECOND);
    exit(0);
}

static void ask_for(selene_scheduler scheduler, int number, const char *handler, int64_t period) {
    char id[32];
    selene_task task =
        task_of(id, number, period ? SELENE_SCHEDULE_PERIODIC : SELENE_SCHEDULE_ONCE);
    task.handler = (selene_text){handler, -1};
    task.period = period;
    task.expected_response = 0;
    stop_if(selene_task_register(scheduler, &task, NULL), "register");
}

static void own(double seconds) {
    selene_scheduler scheduler = open_store("pools", 0);
    selene_server server = 0;
    stop_if(selene_handler_register(scheduler, "tick", -1, tick, NULL, NULL, NULL), "handler");
    stop_if(selene_server_start(scheduler, NULL, &server), "serve");
    stop_if(selene_driver_start(scheduler, NULL), "driver");
    while (notes->go < 2)
        usleep(1000);
    ask_for(scheduler, MOST, "tick", SELENE_SECOND);
    int mails = (int)(seconds * 10), reports = (int)(seconds / 4) + 1;
    for (int i = 0; i < reports; i++)
        ask_for(scheduler, MOST + 1 + i, "report", 0);
    for (int i = 0; i < mails; i++) {
        usleep(100000);
        notes->registered[i] = now();
        ask_for(scheduler, i, "mail", 0);
    }
    int64_t until = now() + 10 * SELENE_SECOND;
    while (notes->mails < mails && now() < until)
        usleep(1000);
    notes->end = 1;
    (void)selene_scheduler_close(scheduler, SELENE_SECOND);
    exit(0);
}

int main(int count, char **arguments) {
    count = choose_folder(take_json(count, arguments), arguments);
    double seconds = count > 1 ? atof(arguments[1]) : 30;
    pid_t processes[3];
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    stop_if(notes == MAP_FAILED || seconds < 1 || seconds * 10 > MOST, "1 to 10000 seconds");
    processes[0] = fork();
    if (processes[0] == 0) own(seconds);
    processes[1] = fork();
    if (processes[1] == 0) run_pool("mail", mail);
    processes[2] = fork();
    if (processes[2] == 0) run_pool("report", report);
    for (int i = 0; i < 3; i++)
        waitpid(processes[i], NULL, 0);
    tails("pickup of a mail", "beside reports of 4 s", notes->samples, notes->mails);
    found_one("reports", "4 s each", 0, "", notes->reports);
    found_one("the owner's task", "every second", 0, "a second", notes->ticks / seconds);
    remove_file("pools");
    remove_file("pools-sock");
    return 0;
}
