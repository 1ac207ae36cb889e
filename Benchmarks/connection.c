/*
 * connection - what calls and runs cost a process that makes them through a connection, beside the same made here
 *
 *     connection [--json] [ROUNDS]       100
 *
 * All ways take their turn in each round, so that a busy machine disturbs all of them alike: what is told of each is the mean of
 * its calls in a round, the best round first, and how many times that is what the same costs here. The owners are processes
 * of their own, with as many tasks in memory as this one: one that a thread serves, one whose event loop steps, one that
 * 256 connections more say nothing to. A round trip is selene_scheduler_now.
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing.h"

enum { TASKS = 1000, CALLS = 20, REQUESTS = 5000, IDLE = 256, WAYS = 4, MOST_ROUNDS = 1000 };

static int rounds = 100;

/** A scheduler, of this process or behind a connection, and the runs that are taken from it. */
struct way {
    const char *name;
    int is_stepped, idle;
    char path[64];
    pid_t owner;
    selene_scheduler scheduler;
    selene_cycle pulled, of_lanes;
    selene_lane lane;
    int registered;
};

static struct way ways[WAYS] = {{.name = "here"},
                                {.name = "connected"},
                                {.name = "connected, owner steps", .is_stepped = 1},
                                {.name = "connected, 256 idle", .idle = IDLE}};

/* ---- owners ------------------------------------------------------------------------------- */

static selene_scheduler open_one(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    stop_if(selene_scheduler_open(&options, &scheduler), "open");
    return scheduler;
}

/** Serves until it is killed. */
static void serve(const struct way *way, int ready) {
    selene_scheduler scheduler = open_one();
    selene_server_options terms = SELENE_INIT(selene_server_options);
    selene_server server = 0;
    struct pollfd polled = {-1, POLLIN, 0};
    terms.path = (selene_text){way->path, -1};
    if (way->is_stepped)
        stop_if(selene_server_open(scheduler, &terms, &server, &polled.fd), "serve");
    else stop_if(selene_server_start(scheduler, &terms, &server), "serve");
    stop_if(write(ready, "x", 1) != 1, "write");
    for (;;) {
        if (!way->is_stepped) pause();
        else if (poll(&polled, 1, -1) > 0) stop_if(selene_server_step(server, NULL), "step");
    }
}

static void start_owner(struct way *way) {
    int ready[2];
    char byte;
    snprintf(way->path, sizeof way->path, "/tmp/selene-connection-%ld-%d", (long)getpid(),
             (int)(way - ways));
    stop_if(pipe(ready) != 0 || (way->owner = fork()) < 0, "fork");
    if (way->owner == 0) serve(way, ready[1]);
    stop_if(read(ready[0], &byte, 1) != 1, "read");
    close(ready[0]);
    close(ready[1]);
}

static selene_scheduler connect_to(const struct way *way) {
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    to.path = (selene_text){way->path, -1};
    stop_if(selene_scheduler_connect(&to, &connection), "connect");
    return connection;
}

/** Nanoseconds of a processor that the threads of a process have taken. */
static double processor_of(pid_t process) {
    char path[64];
    double taken = 0;
    snprintf(path, sizeof path, "cat /proc/%ld/task/*/schedstat", (long)process);
    FILE *pipe = popen(path, "r");
    for (double one, waited, slices;
         pipe != NULL && fscanf(pipe, "%lf %lf %lf", &one, &waited, &slices) == 3;)
        taken += one;
    if (pipe != NULL) pclose(pipe);
    return taken;
}

/* ---- tasks and runs --------------------------------------------------------------------- */

static void register_one(struct way *way, const char *id, int32_t kind) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = (selene_text){id, -1};
    task.handler = (selene_text){"work", -1};
    task.kind = kind;
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.expected_response = SELENE_NONE;
    stop_if(selene_task_register(way->scheduler, &task, NULL), id);
}

static void furnish(struct way *way) {
    selene_window window = SELENE_INIT(selene_window);
    char id[32];
    stop_if(selene_handler_register(way->scheduler, "work", -1, NULL, NULL, NULL, NULL), "handler");
    for (int i = 0; i < rounds * CALLS + TASKS; i++) {
        snprintf(id, sizeof id, "refresh-%d", i);
        register_one(way, id, SELENE_KIND_REFRESH);
        snprintf(id, sizeof id, "processing-%d", i);
        register_one(way, id, SELENE_KIND_PROCESSING);
    }
    window.budget = SELENE_HOUR;
    window.kinds = SELENE_KIND_REFRESH;
    stop_if(selene_cycle_begin(way->scheduler, &window, &way->pulled), "begin");
    window.kinds = SELENE_KIND_PROCESSING;
    window.flags = SELENE_WINDOW_LANES;
    stop_if(selene_cycle_begin(way->scheduler, &window, &way->of_lanes), "begin");
    stop_if(selene_lane_open(way->of_lanes, &way->lane), "lane");
}

/* ---- what is asked ---------------------------------------------------------------------- */

static void ask_now(struct way *way) {
    int64_t at;
    stop_if(selene_scheduler_now(way->scheduler, &at), "now");
}

static void ask_why(struct way *way) {
    selene_explanation why = SELENE_INIT(selene_explanation);
    char id[32];
    snprintf(id, sizeof id, "refresh-%d", rounds * CALLS + TASKS - 1);
    stop_if(selene_task_explain(way->scheduler, id, -1, &why), "explain");
}

static void ask_list(struct way *way) {
    selene_task_ids *ids = NULL;
    stop_if(selene_task_list_state(way->scheduler, SELENE_STATE_ENQUEUED, &ids), "list");
    selene_free(ids);
}

static void enqueue(struct way *way) {
    char id[32];
    snprintf(id, sizeof id, "new-%d", way->registered++);
    register_one(way, id, SELENE_KIND_REFRESH);
}

static void pull(struct way *way) {
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = 0;
    stop_if(selene_cycle_next(way->pulled, &step, &run, NULL), "next");
    stop_if(step != SELENE_STEP_RUN || selene_run_complete(run.run, SELENE_OUTCOME_NO_DATA),
            "complete");
}

static void take(struct way *way) {
    selene_run_info run = SELENE_INIT(selene_run_info);
    int32_t step = 0;
    static int has_run[WAYS];
    int32_t before = has_run[way - ways]++ ? SELENE_OUTCOME_NO_DATA : SELENE_OUTCOME_NONE;
    stop_if(selene_lane_next(way->lane, before, 0, &step, &run, NULL) || step != SELENE_STEP_RUN,
            "lane");
}

static const struct question {
    const char *name;
    void (*ask)(struct way *way);
    int calls;
} questions[] = {{"a round trip", ask_now, CALLS},          {"explain", ask_why, CALLS},
                 {"enqueue, in memory", enqueue, CALLS},    {"list of thousands", ask_list, 1},
                 {"a run, next and complete", pull, CALLS}, {"a run, lane", take, CALLS}};
enum { QUESTIONS = sizeof questions / sizeof *questions };

int main(int argc, char **argv) {
    static double samples[QUESTIONS][WAYS][MOST_ROUNDS];
    argc = take_json(argc, argv);
    if (argc > 1) rounds = atoi(argv[1]);
    if (rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "connection: %d rounds; allowed: 1 to %d\n", rounds, MOST_ROUNDS);
        return 2;
    }
    for (int i = 1; i < WAYS; i++)
        start_owner(&ways[i]);
    for (int i = 0; i < WAYS; i++) {
        ways[i].scheduler = i == 0 ? open_one() : connect_to(&ways[i]);
        furnish(&ways[i]);
        for (int k = 0; k < ways[i].idle; k++)
            connect_to(&ways[i]);
    }
    for (int round = -1; round < rounds - 1 || round < 0; round++) {
        for (int q = 0; q < QUESTIONS; q++) {
            for (int i = 0; i < WAYS; i++) {
                int64_t begun = now();
                for (int call = 0; call < questions[q].calls; call++)
                    questions[q].ask(&ways[i]);
                if (round >= 0) samples[q][i][round] = (double)(now() - begun) / questions[q].calls;
            }
        }
    }
    int kept = rounds > 1 ? rounds - 1 : 0;
    for (int q = 0; q < QUESTIONS; q++) {
        double best[WAYS];
        for (int i = 0; i < WAYS; i++) {
            found(questions[q].name, ways[i].name, 0, "ns", samples[q][i], kept);
            best[i] = samples[q][i][0];
        }
        for (int i = 1; i < WAYS && kept > 0; i++) {
            char what[64];
            snprintf(what, sizeof what, "%s, times here", questions[q].name);
            found_one(what, ways[i].name, 0, "", best[i] / best[0]);
        }
    }
    for (int i = 1; i < WAYS; i++) {
        double before = processor_of(ways[i].owner);
        for (int call = 0; call < REQUESTS; call++)
            ask_now(&ways[i]);
        found_one("a request, owner's processor", ways[i].name, 0, "ns",
                  (processor_of(ways[i].owner) - before) / REQUESTS);
    }
    for (int i = 1; i < WAYS; i++) {
        double before = processor_of(ways[i].owner);
        int64_t begun = now();
        usleep(2000000);
        found_one("owner at rest, processor", ways[i].name, 0, "ns/s",
                  (processor_of(ways[i].owner) - before) / ((double)(now() - begun) / 1e9));
    }
    for (int i = 1; i < WAYS; i++) {
        kill(ways[i].owner, SIGKILL);
        waitpid(ways[i].owner, NULL, 0);
        unlink(ways[i].path);
    }
    return 0;
}
