/*
 * governor_threads.c - drivers that come and go, from many threads
 *
 * Environment: SELENE_TEST_ROUNDS, how often a driver is started and stopped (1000). Argument: the filter of check.h.
 */
#include "governor.h"

#include <dirent.h>

static int rounds(int usual) {
    return (int)check_environment("SELENE_TEST_ROUNDS", usual);
}

static int descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    CHECK(folder != NULL);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void test_start_stop(void) {
    const int before = descriptors();
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE, .outcome = SELENE_OUTCOME_FAILED};
    selene_task task = once_of("a");
    task.backoff = SELENE_BACKOFF_NONE;
    add_handler(scheduler, "a", &work);
    add(scheduler, task);
    for (int round = 0; round < rounds(1000); round++) {
        CHECK_OK(selene_driver_start(scheduler, NULL));
        if (round % 3 == 0) say(scheduler, SELENE_SIGNAL_THERMAL, round % 4);
        if (round % 7 == 0) check_sleep(MS);
        CHECK_OK(selene_driver_stop(scheduler, round % 2 ? S : 0));
    }
    CHECK_OK(selene_driver_stop(scheduler, S));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_INT(atomic_load(&work.started), atomic_load(&work.returned));
    CHECK_INT(1, atomic_load(&work.destroyed));
    CHECK_INT(before, descriptors());
}

static void test_open_stop(void) {
    selene_scheduler scheduler = open_plain();
    int32_t first = -1, descriptor = -1;
    for (int round = 0; round < rounds(1000); round++) {
        selene_cycle cycle = 0;
        CHECK_OK(selene_driver_open(scheduler, NULL, &descriptor));
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
        CHECK_OK(selene_driver_stop(scheduler, 0));
        if (round == 0) first = descriptor;
        CHECK_INT(first, descriptor); /* none is lost */
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* ---- everybody at once ----------------------------------------------------------- */

static selene_scheduler shared;
static atomic_int leaving, driven, asked;

static void *start_and_stop(void *context) {
    (void)context;
    while (!atomic_load(&leaving)) {
        selene_status status = selene_driver_start(shared, NULL);
        CHECK(status == SELENE_OK || status == SELENE_ERROR_BUSY);
        if (status == SELENE_OK) atomic_fetch_add(&driven, 1);
        check_sleep(MS / 2);
        CHECK_OK(selene_driver_stop(shared, 10 * MS));
    }
    return NULL;
}

static void *open_and_step(void *context) {
    (void)context;
    while (!atomic_load(&leaving)) {
        selene_cycle cycle = 0;
        int64_t at;
        selene_status status = selene_driver_open(shared, NULL, NULL);
        CHECK(status == SELENE_OK || status == SELENE_ERROR_BUSY);
        status = selene_driver_step(shared, &cycle, &at);
        CHECK(status == SELENE_OK || status == SELENE_ERROR_UNSUPPORTED);
        if (cycle) CHECK_OK(selene_cycle_end(cycle, NULL));
        CHECK_OK(selene_driver_stop(shared, 0));
    }
    return NULL;
}

static void *say_and_ask(void *context) {
    int64_t number = (int64_t)(intptr_t)context;
    while (!atomic_load(&leaving)) {
        selene_forecast windows[4];
        uint64_t count;
        selene_status status = selene_task_launch(shared, "again", -1);
        number++;
        CHECK(status == SELENE_OK || status == SELENE_ERROR_NOT_FOUND ||
              status == SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE || status == SELENE_ERROR_BUSY);
        status = selene_task_expire(shared, "again", -1);
        CHECK(status == SELENE_OK || status == SELENE_ERROR_NOT_FOUND);
        CHECK_OK(selene_signal_set(shared, SELENE_SIGNAL_USER_ACTIVE, number & 1, MS));
        CHECK_OK(selene_signal_set(shared, SELENE_SIGNAL_LOW_POWER_MODE, number >> 1 & 1, 0));
        ask(shared, (int32_t)(number % 2) + 1);
        hear(shared, (int32_t)(number % 21) + 1);
        balance(shared, REFRESH);
        CHECK_OK(selene_ledger_report(shared, PROCESSING, 1, 1));
        CHECK_OK(selene_governor_forecast(shared, REFRESH, windows, 4, &count));
        if (number % 16 == 0) set_base(shared, (int32_t)(number / 16 % 4));
        CHECK_OK(selene_signal_clear(shared, SELENE_SIGNAL_USER_ACTIVE));
        atomic_fetch_add(&asked, 1);
    }
    return NULL;
}

static void test_everybody(void) {
    struct work again = {.behaviour = UNTIL_STOPPED}, once = {.behaviour = COMPLETE};
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = once_of("again");
    pthread_t threads[5];
    options.minimum_backoff = SELENE_NONE;
    CHECK_OK(selene_scheduler_open(&options, &shared));
    CHECK_OK(selene_trace_record(shared, file_named("trace"), -1));
    task.kind = REFRESH;
    task.backoff = SELENE_BACKOFF_NONE;
    add_handler(shared, "again", &again);
    add(shared, task);
    add_once(shared, "once", PROCESSING, &once);
    CHECK_INT(0, pthread_create(&threads[0], NULL, start_and_stop, NULL));
    CHECK_INT(0, pthread_create(&threads[1], NULL, start_and_stop, NULL));
    CHECK_INT(0, pthread_create(&threads[2], NULL, open_and_step, NULL));
    CHECK_INT(0, pthread_create(&threads[3], NULL, say_and_ask, (void *)(intptr_t)0));
    CHECK_INT(0, pthread_create(&threads[4], NULL, say_and_ask, (void *)(intptr_t)1001));
    check_sleep(check_environment("SELENE_TEST_SECONDS", 3) * S);
    wait_for("a driver", &driven, 1);
    wait_for("an answer", &asked, 1);
    atomic_store(&leaving, 1);
    for (int i = 0; i < 5; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    CHECK_OK(selene_trace_record(shared, NULL, 0));
    CHECK_OK(selene_scheduler_close(shared, GRACE));
    {
        uint64_t decisions = 0, difference = 77;
        CHECK_OK(selene_trace_replay(file_named("trace"), -1, &decisions, &difference));
        CHECK_INT(0, difference);
        CHECK(decisions > 0);
    }
}

/* ---- exec -------------------------------------------------------------------------- */

/* A program that is executed has none of its descriptors; whoever runs the tests may have left some. */
static void test_exec(void) {
    static const char seen[] = "ls /proc/self/fd >";
    char before[300], after[300], compare[700];
    selene_scheduler scheduler = open_real();
    snprintf(before, sizeof before, "%s%s", seen, file_named("before"));
    CHECK_INT(0, system(before));
    CHECK_OK(selene_driver_start(scheduler, NULL));
    CHECK_OK(selene_trace_record(scheduler, file_named("trace"), -1));
    snprintf(after, sizeof after, "%s%s", seen, file_named("after"));
    CHECK_INT(0, system(after));
    snprintf(compare, sizeof compare, "diff %s %s", before + sizeof seen - 1,
             after + sizeof seen - 1);
    CHECK_INT(0, system(compare));
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G7 a driver is started and stopped a thousand times", test_start_stop);
    run_test("G7 a driver is opened and stopped a thousand times", test_open_stop);
    run_test("G7 drivers, signals, questions and simulations from five threads at once",
             test_everybody);
    run_test("P5 no descriptor of a driver reaches a program that is executed", test_exec);
    return check_end();
}
