/*
 * clients - how many tasks processes that are connected enqueue in a second, each on the disk when its call returns
 *
 *     clients [--json] [FOLDER] [SECONDS] [CLIENTS...]     2 s of 1, 10 and 100 clients, in the current folder
 *
 * FOLDER should lie where stores are to lie: syncs differ. The owner is another process; each client is one, too, and asks for
 * one task at a time; first of all the owner itself does. What is told: answers a second, how long one takes, and how many of
 * them shared a commit.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "stores.h"

enum { MOST = 1024, SAMPLES = 200000 };

/** What the clients write down, each in a place of its own. */
static struct notes {
    volatile int go, end;
    volatile uint64_t commits;
    int counts[MOST];
    double samples[SAMPLES];
} * notes;

static void serve(void) {
    selene_scheduler scheduler = open_store("clients", 0);
    selene_server server = 0;
    stop_if(selene_server_start(scheduler, NULL, &server), "serve");
    notes->go = 1;
    for (;;) {
        selene_store_info *info = NULL;
        stop_if(selene_store_get(scheduler, &info), "store");
        notes->commits = info->commits;
        selene_free(info);
        usleep(1000);
    }
}

static void enqueue(int which, int clients) {
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    to.path = (selene_text){file_of("clients"), -1};
    to.wait = 10 * SELENE_SECOND;
    stop_if(selene_scheduler_connect(&to, &connection), "connect");
    while (notes->go < 2)
        usleep(100);
    for (int i = 0, room = SAMPLES / clients; !notes->end; i++) {
        int64_t begun = now();
        register_one(connection, which * 10000000 + i, SELENE_SCHEDULE_ONCE);
        if (i < room) notes->samples[which * room + i] = (double)(now() - begun);
        notes->counts[which] = i + 1;
    }
    exit(0);
}

/** The same of the process that has the store open, which serves nobody. */
static void measure_here(double seconds) {
    static double samples[SAMPLES];
    selene_scheduler scheduler = open_store("clients", 0);
    int64_t begun = now(), before = begun;
    int count = 0;
    while ((double)(before - begun) < seconds * 1e9) {
        register_one(scheduler, count, SELENE_SCHEDULE_ONCE);
        int64_t after = now();
        if (count < SAMPLES) samples[count] = (double)(after - before);
        before = after;
        count++;
    }
    found_one("durable enqueues", "here", 0, "/s", count / ((double)(before - begun) / 1e9));
    found_one("enqueues in a commit", "here", 0, "", 1);
    tails("durable enqueue", "here", samples, count < SAMPLES ? count : SAMPLES);
    stop_if(selene_scheduler_close(scheduler, 0), "close");
    remove_file("clients");
}

static void measure(int clients, double seconds) {
    pid_t processes[MOST];
    char way[64];
    int count = 0, sampled = 0, room = SAMPLES / clients;
    static double samples[SAMPLES];
    memset(notes, 0, sizeof *notes);
    pid_t serving = fork();
    if (serving == 0) serve();
    while (notes->go == 0)
        usleep(1000);
    for (int i = 0; i < clients; i++) {
        processes[i] = fork();
        stop_if(processes[i] < 0, "fork");
        if (processes[i] == 0) enqueue(i, clients);
    }
    /* Until all are connected. */
    usleep(500000);
    uint64_t commits = notes->commits;
    int64_t begun = now();
    notes->go = 2;
    usleep((useconds_t)(seconds * 1e6));
    notes->end = 1;
    double took = (double)(now() - begun) / 1e9;
    for (int i = 0; i < clients; i++)
        waitpid(processes[i], NULL, 0);
    usleep(10000);
    commits = notes->commits - commits;
    for (int i = 0; i < clients; i++) {
        count += notes->counts[i];
        for (int k = 0; k < room && k < notes->counts[i]; k++)
            samples[sampled++] = notes->samples[i * room + k];
    }
    snprintf(way, sizeof way, "%d client%s", clients, clients == 1 ? "" : "s");
    found_one("durable enqueues", way, 0, "/s", count / took);
    found_one("enqueues in a commit", way, 0, "",
              commits > 0 ? (double)count / (double)commits : 0);
    tails("durable enqueue", way, samples, sampled);
    kill(serving, SIGKILL);
    waitpid(serving, NULL, 0);
    remove_file("clients");
    remove_file("clients-sock");
}

int main(int count, char **arguments) {
    static const int usual[] = {1, 10, 100};
    count = choose_folder(take_json(count, arguments), arguments);
    double seconds = count > 1 ? atof(arguments[1]) : 2;
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    stop_if(notes == MAP_FAILED || seconds <= 0, "arguments");
    measure_here(seconds);
    for (int i = 2; i < count; i++) {
        int clients = atoi(arguments[i]);
        stop_if(clients < 1 || clients > MOST, "1 to 1024 clients");
        measure(clients, seconds);
    }
    for (int i = 0; count < 3 && i < 3; i++)
        measure(usual[i], seconds);
    return 0;
}
