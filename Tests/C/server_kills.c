/*
 * server_kills.c - processes that take runs are killed again and again: nothing is lost, nothing that was acknowledged runs
 * again, and each is noticed at once (docs/rules.md, L8, L9)
 *
 * SELENE_TEST_KILLS says how many are killed: 60, or 10 000 by `make torture`.
 */
#include "server_tools.h"

#include <sys/mman.h>

enum { TASKS = 200, WORKERS = 3 };

/** What the workers wrote down, who may be killed between any two of these. */
static struct notes {
    /** In which round a task last had its effect, and its outcome was answered; how often what was answered ran again. */
    atomic_int done[TASKS], answered[TASKS];
    atomic_int effects, again;
} * notes;

static int number_of(const selene_run_info *run) {
    return atoi(run->id.data + 1);
}

/** Takes runs through a lane, one after another, until it is killed. */
static void work(const char *file, uint64_t seed) {
    selene_scheduler member = member_of(file, "workers");
    CHECK_OK(offer(member, "h"));
    for (;;) {
        selene_window window = SELENE_INIT(selene_window);
        selene_cycle cycle = 0;
        selene_lane lane = 0;
        selene_run_info run = SELENE_INIT(selene_run_info);
        int32_t step, outcome = SELENE_OUTCOME_NONE;
        window.flags = SELENE_WINDOW_LANES;
        window.budget = 600 * S;
        selene_status status = selene_cycle_begin(member, &window, &cycle);
        if (status == SELENE_ERROR_BUSY) continue;
        CHECK_OK(status);
        CHECK_OK(selene_lane_open(cycle, &lane));
        for (int last = -1, round = 0;;) {
            CHECK_OK(selene_lane_next(lane, outcome, 5 * MS, &step, &run, NULL));
            if (last >= 0) atomic_store(&notes->answered[last], round);
            last = -1;
            outcome = SELENE_OUTCOME_NONE;
            if (step == SELENE_STEP_WAIT) continue;
            if (step == SELENE_STEP_DONE) break;
            last = number_of(&run);
            memcpy(&round, run.input.data, sizeof round);
            if (atomic_load(&notes->answered[last]) >= round) atomic_fetch_add(&notes->again, 1);
            if (chance_below(&seed, 4) == 0) check_sleep((int64_t)chance_below(&seed, 400) * 1000);
            atomic_store(&notes->done[last], round);
            atomic_fetch_add(&notes->effects, 1);
            outcome = SELENE_OUTCOME_NEW_DATA;
        }
        CHECK_OK(selene_lane_close(lane));
        CHECK_OK(selene_cycle_end(cycle, NULL));
        check_sleep(MS);
    }
}

static pid_t start(const char *file, uint64_t seed) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        work(file, seed);
        _exit(1);
    }
    return child;
}

static void add(selene_scheduler owner, int number, int round) {
    char id[16];
    selene_task task;
    snprintf(id, sizeof id, "t%d", number);
    task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of("h");
    task.expected_response = MS;
    task.input = &round;
    task.input_length = sizeof round;
    CHECK_OK(selene_task_register(owner, &task, NULL));
}

/** How many tasks run; what was interrupted is due at once, where its half minute is of no interest; *left: not ended. */
static int look(selene_scheduler owner, int *left) {
    selene_task_ids *running = NULL;
    int64_t now = 0;
    CHECK_OK(selene_scheduler_now(owner, &now));
    *left = 0;
    for (int i = 0; i < TASKS; i++) {
        char id[16];
        selene_task_info *info = NULL;
        snprintf(id, sizeof id, "t%d", i);
        CHECK_OK(selene_task_get(owner, id, -1, 0, &info));
        *left += info->state != SELENE_STATE_SUCCEEDED;
        if (info->state == SELENE_STATE_ENQUEUED && info->attempts > 0 &&
            info->earliest_begin > now) {
            CHECK_INT(SELENE_STOP_INTERRUPTED, info->stop_reason);
            CHECK(info->earliest_begin - now > 25 * S);
            CHECK_OK(selene_task_set_next(owner, id, -1, now));
        }
        selene_free(info);
    }
    CHECK_OK(selene_task_list_state(owner, SELENE_STATE_RUNNING, &running));
    int count = (int)running->count;
    selene_free(running);
    return count;
}

static int by_length(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void test_kills(void) {
    const char *file = path("t.db");
    int kills = (int)check_environment("SELENE_TEST_KILLS", 60), left = 0, rounds = 1;
    int64_t began = 0, *noticed = calloc((size_t)kills, sizeof *noticed);
    uint64_t seed = (uint64_t)check_environment("SELENE_TEST_SEED", 20261124);
    selene_options options = store_options(file);
    selene_clients *clients = NULL;
    pid_t workers[WORKERS];
    printf("seed %llu\n", (unsigned long long)seed);
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(notes != MAP_FAILED && noticed != NULL && kills > 0);
    options.clock = NULL;
    options.flags |= SELENE_OPTIONS_RELAXED;
    selene_scheduler owner = open_with(options);
    selene_server server = serve(owner);
    for (int i = 0; i < TASKS; i++)
        add(owner, i, rounds);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = start(file, chance(&seed));
    for (int killed = 0; killed < kills; killed++) {
        int which = (int)chance_below(&seed, WORKERS), status;
        check_sleep((int64_t)chance_below(&seed, 4000) * 1000);
        int64_t at = check_now();
        CHECK(kill(workers[which], SIGKILL) == 0);
        CHECK(waitpid(workers[which], &status, 0) == workers[which]);
        CHECK(WIFSIGNALED(status));
        /* It is one of those who are connected no more, so its run is over. */
        for (int is_there = 1; is_there;) {
            CHECK_OK(selene_client_list(owner, &clients));
            is_there = 0;
            for (uint64_t i = 0; i < clients->count; i++)
                is_there |= clients->clients[i].process == (uint32_t)workers[which];
            selene_free(clients);
            CHECK(check_now() - at < PATIENCE);
        }
        noticed[killed] = check_now() - at;
        workers[which] = start(file, chance(&seed));
        CHECK(look(owner, &left) <= WORKERS);
        if (left > 0) continue;
        /* Another round of work. */
        rounds++;
        for (int i = 0; i < TASKS; i++)
            add(owner, i, rounds);
        left = TASKS;
    }
    /* Those that are left finish it. */
    for (began = check_now(); left > 0;) {
        look(owner, &left);
        check_sleep(MS);
        CHECK(check_now() - began < 3 * PATIENCE);
    }
    for (int i = 0; i < WORKERS; i++)
        end_owner(workers[i], SIGKILL);
    WAIT_UNTIL(info_of_server(server).clients == 0);
    for (int i = 0; i < TASKS; i++)
        CHECK_INT(rounds, atomic_load(&notes->done[i]));
    CHECK_INT(0, atomic_load(&notes->again));
    CHECK_INT(0, look(owner, &left));
    qsort(noticed, (size_t)kills, sizeof *noticed, by_length);
    printf(
        "%d killed, %d rounds of %d tasks, %d effects; noticed after %.1f ms, %.1f at the latest\n",
        kills, rounds, TASKS, atomic_load(&notes->effects), (double)noticed[kills / 2] / 1e6,
        (double)noticed[kills - 1] / 1e6);
    free(noticed);
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test(
        "L9 processes that take runs are killed: nothing is lost, and what was answered stands",
        test_kills);
    tools_end();
    return check_end();
}
