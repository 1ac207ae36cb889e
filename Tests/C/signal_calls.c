/*
 * signal_calls.c - a signal handler that calls the library while its thread is in a call (V24)
 *
 * Where the thread holds the scheduler's lock, the handler's call is refused; before, it waited for itself for ever. The signal
 * comes where a test can choose it: in a sync of the store, some of which are made with the lock and some without.
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <dlfcn.h>
#include <signal.h>

static selene_scheduler scheduler;
static selene_run run;
/** How often a sync raises the signal; what the handler's calls were answered. */
static volatile sig_atomic_t raises, came, refused, allowed;
static char detail[128];

static void tell(selene_status status) {
    if (status == SELENE_ERROR_REENTRANT) refused++;
    else allowed++;
    if (status == SELENE_ERROR_REENTRANT) {
        strncpy(detail, selene_status_detail(), sizeof detail - 1);
        if (selene_status_fault()->status != SELENE_ERROR_REENTRANT) detail[0] = 0;
    }
}

static void on_signal(int number) {
    const int before = errno;
    int64_t now;
    int32_t reason;
    (void)number;
    came++;
    tell(selene_scheduler_now(scheduler, &now));
    tell(selene_scheduler_drain(scheduler, 0));
    tell(selene_scheduler_close(scheduler, 0));
    tell(selene_run_stopping(run, &reason));
    errno = before;
}

static int sync_and_raise(const char *name, int file) {
    int (*next)(int) = NULL;
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&next, &found, sizeof next);
    if (raises > 0) {
        raises--;
        raise(SIGUSR1);
    }
    return next(file);
}

int fdatasync(int file) {
    return sync_and_raise("fdatasync", file);
}
int fsync(int file) {
    return sync_and_raise("fsync", file);
}

/** The last sync of a close is made with the lock: nothing else is left that could want it. */
static void test_close(void) {
    selene_options options = stored_options(file_named("store"));
    struct sigaction action = {.sa_handler = on_signal};
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    add(scheduler, task_of("work"));
    run = next(begin(scheduler, window_of(H, 0, 1)), "work");
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
    CHECK_INT(0, sigaction(SIGUSR1, &action, NULL));
    raises = 100;
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK(came > 0);
    /* Each of its calls was answered; with the lock held, by a refusal that says why. */
    CHECK_INT(4 * came, refused + allowed);
    CHECK(refused > 0);
    CHECK(strstr(detail, "signal handler") != NULL);
}

/** In a handler of the host no lock is held, and whatever a handler may call a signal handler on its thread may call. */
static void call_in_handler(struct work *work, selene_run own, const selene_run_info *info) {
    (void)work, (void)info;
    run = own;
    raise(SIGUSR1);
    CHECK_OK(selene_run_complete(own, SELENE_OUTCOME_NEW_DATA));
}

static void on_signal_in_handler(int number) {
    int64_t now;
    int32_t reason;
    (void)number;
    came++;
    tell(selene_scheduler_now(scheduler, &now));
    tell(selene_run_stopping(run, &reason));
}

static void test_handler(void) {
    static struct work work = {.behaviour = ASK, .ask = call_in_handler};
    struct sigaction action = {.sa_handler = on_signal_in_handler};
    selene_window window = window_of(H, 0, 1);
    selene_report *report = NULL;
    scheduler = open_real();
    add_work(scheduler, "work", &work);
    CHECK_INT(0, sigaction(SIGUSR1, &action, NULL));
    window.flags = SELENE_WINDOW_INLINE;
    CHECK_OK(selene_cycle_run(scheduler, &window, &report));
    CHECK_INT(1, report->new_data);
    selene_report_destroy(report);
    CHECK_INT(1, came);
    CHECK_INT(2, allowed);
    CHECK_INT(0, refused);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("V24 a signal handler on a thread that holds the lock is refused", test_close);
    run_test("V24 in a function of the host a signal handler may call what that may", test_handler);
    return check_end();
}
