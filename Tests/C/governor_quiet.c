/*
 * governor_quiet.c - on the system's clock a driver wakes, and costs nothing while there is nothing to do
 *
 * Where a test says nothing of a signal, the machine must not either: the user is active where somebody types at a
 * terminal; only hosts say what is metered.
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <dirent.h>

static void start(selene_scheduler scheduler) {
    CHECK_OK(selene_driver_start(scheduler, NULL));
}

/* Signal after signal: each wakes it. */
static void test_wakes(void) {
    enum { ROUNDS = 50 };
    static struct work works[ROUNDS];
    selene_scheduler scheduler = open_real();
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, PROCESSING);
    start(scheduler);
    for (int i = 0; i < ROUNDS; i++) {
        char id[16];
        say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
        snprintf(id, sizeof id, "task%d", i);
        works[i].behaviour = COMPLETE;
        add_once(scheduler, id, PROCESSING, &works[i]);
        check_sleep((i % 5) * MS);
        CHECK_INT(0, atomic_load(&works[i].started));
        say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0);
        wait_for("the handler", &works[i].started, 1);
        /* Its window must end, or the next veto stops nothing but time. */
        wait_for_state(scheduler, id, SELENE_STATE_SUCCEEDED);
    }
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/** Context switches of all threads of this process. */
static long switches(void) {
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    long sum = 0;
    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        char path[300], line[256];
        FILE *file;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        file = fopen(path, "r");
        if (!file) continue;
        while (fgets(line, sizeof line, file)) {
            long count;
            if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1 ||
                sscanf(line, "nonvoluntary_ctxt_switches: %ld", &count) == 1)
                sum += count;
        }
        fclose(file);
    }
    closedir(folder);
    return sum;
}

/** No thread of this process may wake, but this one: to sleep and back, and what reading the files costs. */
static void check_quiet(int64_t duration, long least) {
    /* A thread that was held up may come to rest only now; then there is one try. */
    for (int time = 0; time < 20; time++) {
        long before = switches();
        check_sleep(500 * MS);
        if (switches() - before <= least) break;
    }
    {
        long before = switches(), after;
        check_sleep(duration);
        after = switches();
        if (after - before > least)
            fprintf(stderr, "%ld context switches in %.1f s\n", after - before,
                    (double)duration / 1e9);
        CHECK(after - before <= least);
    }
}

static void test_quiet(void) {
    /* A minute, beside the other tests; where all is slow on purpose, less. */
    const int64_t duration = check_environment("SELENE_TEST_QUIET", check_tasks(60, 10)) * S;
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE}, refused = {.behaviour = COMPLETE};
    selene_task task = once_of("tomorrow");
    /* Something for tomorrow, something done, and something that a signal refuses. */
    alarm((unsigned)(check_environment("SELENE_TEST_ALARM", 60) + duration / S));
    set_stopping(scheduler, SELENE_FACTOR_USER_ACTIVE, PROCESSING);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    task.initial_delay = SELENE_DAY;
    observe(scheduler);
    add(scheduler, task);
    start(scheduler);
    add_once(scheduler, "done", REFRESH, &work);
    add_once(scheduler, "refused", PROCESSING, &refused);
    wait_for_events(0, SELENE_EVENT_CYCLE_ENDED, -1, 1);
    wait_for_events(0, SELENE_EVENT_REFUSED, -1, 1);
    /* An emulator has threads of its own; who looks once a second has twice as many. */
    check_quiet(duration, check_tasks(10, 15));
    CHECK_INT(0, atomic_load(&refused.started));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    static const char quiet[] = "G7 with nothing to do it does nothing";
    pid_t child;
    check_begin(argc, argv);
    child = begin_test(quiet, test_quiet);
    run_test("G7 signal after signal wakes it", test_wakes);
    await_test(quiet, child);
    return check_end();
}
