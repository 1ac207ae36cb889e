/*
 * signals.c - signals of the host stay with the host's threads
 *
 * A storm of signals to the process while library threads are in handlers, between handlers and left behind: none of
 * them ever runs a signal handler, since each blocks what is sent to a process. A fault on such a thread, and a signal
 * that is sent to the thread itself, as the collectors of runtimes do, finds the host's handler.
 */
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static pid_t this_thread(void) {
    return (pid_t)syscall(SYS_gettid);
}

/* ---- the host's signal handler ------------------------------------------------------ */

static pid_t main_thread;
static atomic_int arrived, arrived_elsewhere;
static _Atomic pid_t elsewhere;

static void note_signal(int signal) {
    (void)signal;
    atomic_fetch_add(&arrived, 1);
    if (this_thread() != main_thread) {
        atomic_fetch_add(&arrived_elsewhere, 1);
        atomic_store(&elsewhere, this_thread());
    }
}

static const int stormy[] = {SIGUSR1, SIGUSR2, SIGWINCH, SIGURG, SIGPROF};

/* The process that sends them; it is made before there is a second thread. */
static int order_end, answer_end;
static pid_t sender;

static void send_signals(pid_t target, int orders, int answers) {
    int64_t duration;
    while (read(orders, &duration, sizeof duration) == sizeof duration) {
        int64_t end = check_now() + duration;
        /* Each of them at least once, however slow this process is. */
        for (size_t i = 0; i < COUNT(stormy) || check_now() < end; i++) {
            kill(target, stormy[i % COUNT(stormy)]);
            check_sleep(SELENE_MICROSECOND * 50);
        }
        if (write(answers, "!", 1) != 1) break;
    }
    _exit(0);
}

static void install(void) {
    struct sigaction action;
    int orders[2], answers[2];
    size_t i;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal;
    main_thread = this_thread();
    for (i = 0; i < COUNT(stormy); i++)
        CHECK_INT(0, sigaction(stormy[i], &action, NULL));
    CHECK_INT(0, pipe(orders));
    CHECK_INT(0, pipe(answers));
    sender = fork();
    CHECK(sender >= 0);
    if (sender == 0) {
        close(orders[1]);
        close(answers[0]);
        send_signals(getppid(), orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    order_end = orders[1];
    answer_end = answers[0];
}

/** Lets signals rain on the process for so long. */
static void storm(int64_t duration) {
    char answer;
    CHECK_INT(sizeof duration, write(order_end, &duration, sizeof duration));
    while (read(answer_end, &answer, 1) != 1)
        CHECK_INT(EINTR, errno);
}

static void end_storms(void) {
    int status = -1;
    close(order_end);
    while (waitpid(sender, &status, 0) < 0 && errno == EINTR) {
    }
    CHECK_INT(0, status);
}

/* ---- what /proc says of threads -------------------------------------------------------- */

/** The signals that a thread of this process blocks, as bits; 0 if it is gone. */
static uint64_t blocked_by(pid_t thread) {
    char path[64], line[256];
    unsigned long long mask = 0;
    FILE *file;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread);
    file = fopen(path, "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "SigBlk: %llx", &mask) == 1) break;
    fclose(file);
    return mask;
}

static int thread_ids(pid_t *threads, int most) {
    DIR *directory = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;
    CHECK(directory != NULL);
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        CHECK(count < most);
        threads[count++] = (pid_t)atoi(entry->d_name);
    }
    closedir(directory);
    return count;
}

/** Valgrind gives threads other masks than they ask for, and keeps the signals away itself. */
static int masks_are_real(void) {
    char line[512];
    int real = 1;
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (strstr(line, "vgpreload")) real = 0;
    fclose(file);
    return real;
}

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
static const int by_default[] = {SIGHUP,  SIGINT,    SIGQUIT, SIGPIPE,  SIGALRM,
                                 SIGTERM, SIGCHLD,   SIGCONT, SIGTSTP,  SIGTTIN,
                                 SIGTTOU, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO};

static uint64_t bits_of(const int *signals, size_t count) {
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= BIT(signals[i]);
    return bits;
}

/** Every thread but the main one blocks exactly this. Answers how many these are. */
static int check_masks(uint64_t expected) {
    pid_t threads[256];
    int i, others = 0, count = thread_ids(threads, (int)COUNT(threads)), real = masks_are_real();
    for (i = 0; i < count; i++) {
        uint64_t blocked;
        if (threads[i] == main_thread || threads[i] == getpid())
            continue; /* that one waits for the test */
        blocked = blocked_by(threads[i]);
        if (blocked == 0) continue;
        if (real && blocked != expected) {
            fprintf(stderr, "thread %d blocks %016" PRIx64 ", not %016" PRIx64 "\n",
                    (int)threads[i], blocked, expected);
            check_fail();
        }
        others++;
    }
    return others;
}

/** The default, and what else this host handles. */
static int32_t named[COUNT(by_default) + COUNT(stormy)];

static selene_options naming(void) {
    selene_options options = SELENE_INIT(selene_options);
    memcpy(named, by_default, sizeof by_default);
    memcpy(named + COUNT(by_default), stormy, sizeof stormy);
    options.blocked_signals = named;
    options.blocked_signal_count = COUNT(named);
    return options;
}

static uint64_t all_named(void) {
    return bits_of(by_default, COUNT(by_default)) | bits_of(stormy, COUNT(stormy));
}

/* ---- work on library threads ------------------------------------------------------------- */

static atomic_int entered, interrupted, wrong_thread, ended, left;

/** Sleeps in a system call, which no signal may interrupt. */
static void sleep_uninterrupted(int64_t duration) {
    struct timespec rest = {(time_t)(duration / SELENE_SECOND), (long)(duration % SELENE_SECOND)};
    if (nanosleep(&rest, NULL) != 0) atomic_fetch_add(&interrupted, 1);
}

static void work(selene_run run, const selene_run_info *info, void *context) {
    selene_status got;
    (void)info, (void)context;
    atomic_fetch_add(&entered, 1);
    if (this_thread() == main_thread) atomic_fetch_add(&wrong_thread, 1);
    sleep_uninterrupted(5 * SELENE_MILLISECOND);
    got = selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
    /* The last ones meet the close. */
    CHECK(got == SELENE_OK || (got == SELENE_ERROR_STALE_RUN && ended));
    sleep_uninterrupted(SELENE_MILLISECOND);
}

static void overrun(selene_run run, const selene_run_info *info, void *context) {
    (void)run, (void)info, (void)context;
    atomic_fetch_add(&entered, 1);
    while (!atomic_load(&ended))
        sleep_uninterrupted(20 * SELENE_MILLISECOND);
    atomic_fetch_add(&left, 1);
}

static void receive(const selene_report *report, void *context) {
    selene_scheduler scheduler = *(selene_scheduler *)context;
    (void)report;
    /* On and on, until it is closed or told to end. */
    if (!atomic_load(&ended)) {
        selene_window window = SELENE_INIT(selene_window);
        selene_status got;
        window.lanes = 4;
        got = selene_cycle_run_async(scheduler, &window, receive, context, NULL, NULL, NULL);
        /* A close that lets runs end has begun, or is over. */
        CHECK(got == SELENE_OK || got == SELENE_ERROR_UNAVAILABLE ||
              got == SELENE_ERROR_INVALID_HANDLE);
    }
}

static selene_scheduler open_busy(selene_scheduler *context) {
    static const char *const names[] = {"one", "two", "three", "four", "five", "six"};
    selene_window window = SELENE_INIT(selene_window);
    selene_scheduler scheduler = 0;
    const selene_options options = naming();
    size_t i;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    *context = scheduler;
    CHECK_OK(selene_handler_register(scheduler, "work", -1, work, NULL, NULL, NULL));
    for (i = 0; i < COUNT(names); i++) {
        selene_task task = SELENE_INIT(selene_task);
        task.id = (selene_text){names[i], -1};
        task.schedule = SELENE_SCHEDULE_STANDING;
        task.handler = SELENE_TEXT("work");
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
    }
    window.lanes = 4;
    CHECK_OK(selene_cycle_run_async(scheduler, &window, receive, context, NULL, NULL, NULL));
    return scheduler;
}

static void test_storm(void) {
    static selene_scheduler context;
    selene_scheduler scheduler;
    install();
    scheduler = open_busy(&context);
    /* On a slow machine until there was enough of it. */
    do {
        storm(800 * SELENE_MILLISECOND);
        CHECK(check_masks(all_named()) >= 4);
    } while (arrived <= 100 || entered <= 6);
    ended = 1;
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    printf("%d signals arrived during %d runs\n", (int)arrived, (int)entered);
    CHECK_INT(0, arrived_elsewhere);
    CHECK_INT(0, wrong_thread);
    CHECK_INT(0, interrupted);
    end_storms();
}

/** The host's thread blocks the signals: then nobody takes them, they wait. */
static void test_nobody_takes_them(void) {
    static selene_scheduler context;
    selene_scheduler scheduler;
    sigset_t blocked, before, pending;
    size_t i;
    install();
    sigemptyset(&blocked);
    for (i = 0; i < COUNT(stormy); i++)
        sigaddset(&blocked, stormy[i]);
    scheduler = open_busy(&context);
    CHECK_INT(0, pthread_sigmask(SIG_BLOCK, &blocked, &before));
    arrived = 0;
    storm(500 * SELENE_MILLISECOND);
    CHECK_INT(0, arrived);
    CHECK_INT(0, sigpending(&pending));
    for (i = 0; i < COUNT(stormy); i++)
        CHECK_INT(1, sigismember(&pending, stormy[i]));
    CHECK(check_masks(all_named()) >= 4);
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, &before, NULL));
    CHECK_INT(COUNT(stormy), arrived);
    CHECK_INT(0, arrived_elsewhere);
    ended = 1;
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    CHECK_INT(0, interrupted);
    end_storms();
}

static void test_left_behind(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    const selene_options options = naming();
    int64_t limit;
    install();
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "task", -1, overrun, NULL, NULL, NULL));
    task.id = SELENE_TEXT("task");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    window.budget = 3 * SELENE_SECOND;
    CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_INT(1, info.overrun_threads);
    CHECK(check_masks(all_named()) >= 1);
    /* Closed over its head, it still keeps them blocked. */
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    storm(150 * SELENE_MILLISECOND);
    CHECK(check_masks(all_named()) >= 1);
    CHECK_INT(0, arrived_elsewhere);
    CHECK_INT(0, left);
    ended = 1;
    limit = check_now() + PATIENCE;
    while (!left) {
        CHECK(check_now() < limit);
        check_sleep(SELENE_MILLISECOND);
    }
    CHECK_INT(0, interrupted);
    end_storms();
}

/* ---- the caller's own mask ------------------------------------------------------------------ */

static uint64_t mask_inside;

static void note_mask(selene_run run, const selene_run_info *info, void *context) {
    selene_status got;
    (void)info, (void)context;
    mask_inside = blocked_by(this_thread());
    got = selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
    /* The last one may meet the close. */
    CHECK(got == SELENE_OK || got == SELENE_ERROR_STALE_RUN);
}

static void test_own_mask(void) {
    static const int some[] = {SIGUSR2, SIGTERM};
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_window window = SELENE_INIT(selene_window);
    sigset_t mine, now;
    uint64_t before;
    int signal, k;
    sigemptyset(&mine);
    for (k = 0; k < (int)COUNT(some); k++)
        sigaddset(&mine, some[k]);
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, &mine, NULL));
    before = blocked_by(this_thread());
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "task", -1, note_mask, NULL, NULL, NULL));
    task.id = SELENE_TEXT("task");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    for (k = 0; k < 2; k++) {
        window.flags = k ? SELENE_WINDOW_INLINE : 0;
        CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
        CHECK_OK(selene_cycle_run(scheduler, &window, NULL));
        CHECK_INT(0, pthread_sigmask(SIG_SETMASK, NULL, &now));
        for (signal = 1; signal < 32; signal++)
            CHECK_INT(sigismember(&mine, signal), sigismember(&now, signal));
        /* On the thread of the caller those are blocked that it blocks. */
        if (k == 1 && masks_are_real()) CHECK(mask_inside == before);
    }
    CHECK_OK(selene_cycle_run_async(scheduler, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, NULL, &now));
    for (signal = 1; signal < 32; signal++)
        CHECK_INT(sigismember(&mine, signal), sigismember(&now, signal));
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
}

/** What signals do is what it was, after all has been used. */
static void test_dispositions(void) {
    static struct sigaction before[65], after[65];
    static selene_scheduler context;
    selene_scheduler scheduler;
    int signal;
    for (signal = 1; signal < 65; signal++)
        sigaction(signal, NULL, &before[signal]);
    main_thread = this_thread();
    scheduler = open_busy(&context);
    check_sleep(50 * SELENE_MILLISECOND);
    for (signal = 1; signal < 65; signal++) {
        sigaction(signal, NULL, &after[signal]);
        CHECK(before[signal].sa_handler == after[signal].sa_handler);
        CHECK_INT(before[signal].sa_flags, after[signal].sa_flags);
    }
    ended = 1;
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
    for (signal = 1; signal < 65; signal++) {
        sigaction(signal, NULL, &after[signal]);
        CHECK(before[signal].sa_handler == after[signal].sa_handler);
    }
}

/* ---- faults, and signals to one thread --------------------------------------------------------- */

static atomic_int faulted;
static _Atomic pid_t faulted_on, worker;
static sigjmp_buf back;
static int32_t *nowhere;

static void note_fault(int signal) {
    atomic_store(&faulted, signal);
    atomic_store(&faulted_on, this_thread());
    siglongjmp(back, 1);
}

static void note_thread(int signal) {
    (void)signal;
    atomic_store(&arrived_elsewhere, this_thread() == atomic_load(&worker));
}

static const int *sent;

static void send_to_itself(const int *signals) {
    for (; *signals; signals++) {
        atomic_store(&arrived_elsewhere, 0);
        CHECK_INT(0, pthread_kill(pthread_self(), *signals));
        CHECK_INT(1, atomic_load(&arrived_elsewhere));
    }
}

/** As a collector does that finds a null where it expected an object, and stops the threads that it knows. */
static void fault(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    atomic_store(&worker, this_thread());
    if (!masks_are_real()) {
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        return;
    }
    CHECK(blocked_by(this_thread()) == bits_of(by_default, COUNT(by_default)));
    if (sigsetjmp(back, 1) == 0) *(volatile int32_t *)nowhere = 1;
    CHECK_INT(SIGSEGV, atomic_load(&faulted));
    CHECK(atomic_load(&faulted_on) == atomic_load(&worker));
    send_to_itself(sent);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_faults(void) {
    const int signals[] = {SIGUSR1, SIGUSR2, SIGRTMIN, SIGRTMAX - 1, 0};
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_report *report;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_fault;
    CHECK_INT(0, sigaction(SIGSEGV, &action, NULL));
    action.sa_handler = note_thread;
    sent = signals;
    for (const int *signal = sent; *signal; signal++)
        CHECK_INT(0, sigaction(*signal, &action, NULL));
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "task", -1, fault, NULL, NULL, NULL));
    task.id = SELENE_TEXT("task");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_cycle_run(scheduler, NULL, &report));
    CHECK_INT(1, report->new_data);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
}

/** A host that takes a signal with sigwait blocks it in all its threads; it would end the process elsewhere. */
static void test_inherited(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    selene_options options = SELENE_INIT(selene_options);
    const int32_t none = 0;
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);
    sigaddset(&mine, SIGSEGV);
    CHECK_INT(0, pthread_sigmask(SIG_SETMASK, &mine, NULL));
    options.blocked_signals = &none;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "task", -1, note_mask, NULL, NULL, NULL));
    task.id = SELENE_TEXT("task");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_cycle_run(scheduler, NULL, NULL));
    if (masks_are_real()) CHECK(mask_inside == BIT(SIGUSR1));
    CHECK_OK(selene_scheduler_close(scheduler, 10 * SELENE_SECOND));
}

static char name_of_thread[16];

static void read_name(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    prctl(PR_GET_NAME, name_of_thread);
    CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
}

static void test_named(void) {
    selene_scheduler scheduler = 0;
    selene_task task = SELENE_INIT(selene_task);
    char before[16], after[16];
    prctl(PR_GET_NAME, before);
    CHECK_OK(selene_scheduler_open(NULL, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "a", -1, read_name, NULL, NULL, NULL));
    task.id = SELENE_TEXT("a");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_cycle_run(scheduler, NULL, NULL));
    CHECK(strcmp("selene/lane", name_of_thread) == 0);
    prctl(PR_GET_NAME, after);
    CHECK(strcmp(before, after) == 0);
    CHECK_OK(selene_scheduler_close(scheduler, SELENE_SECOND));
}

static void test_refused(void) {
    static const int32_t bad[] = {0, -1, 65, SIGKILL, SIGSTOP};
    selene_scheduler scheduler = 7;
    selene_options options = SELENE_INIT(selene_options);
    int32_t two[2] = {SIGTERM, 0};
    options.blocked_signals = two;
    options.blocked_signal_count = 2;
    for (size_t i = 0; i < COUNT(bad) + COUNT(faults); i++) {
        two[1] = i < COUNT(bad) ? bad[i] : faults[i - COUNT(bad)];
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
        CHECK(strstr(selene_error_last()->message.data, "blocked_signals") != NULL);
    }
    options.blocked_signal_count = 65;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
    options.blocked_signal_count = 1;
    options.blocked_signals = NULL;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
    CHECK_INT(7, scheduler);
}

/* ---- calls in a signal handler --------------------------------------------------------- */

static selene_scheduler calling;
static atomic_int refused_calls, calls_in_handler;
static pthread_t caller;
/** Posted by each signal that was taken. */
static sem_t taken;

/** A mistake: the signal handler calls the library. */
static void call_in_handler(int signal) {
    int64_t now = 0;
    (void)signal;
    atomic_fetch_add(&calls_in_handler, 1);
    if (selene_scheduler_now(calling, &now) == SELENE_ERROR_REENTRANT)
        atomic_fetch_add(&refused_calls, 1);
    sem_post(&taken);
}

/** Sends a signal as soon as the one before was taken, so that some arrive at every instruction of a call. */
static void *interrupt(void *unused) {
    (void)unused;
    while (!atomic_load(&ended)) {
        CHECK_INT(0, pthread_kill(caller, SIGUSR1));
        CHECK_INT(0, sem_wait(&taken));
    }
    return NULL;
}

static void test_handler_calls(void) {
    struct sigaction action, before;
    const int calls = check_tasks(20000, 200);
    pthread_t other;
    memset(&action, 0, sizeof action);
    action.sa_handler = call_in_handler;
    CHECK_INT(0, sem_init(&taken, 0, 0));
    CHECK_OK(selene_scheduler_open(NULL, &calling));
    CHECK_INT(0, sigaction(SIGUSR1, &action, &before));
    caller = pthread_self();
    CHECK_INT(0, pthread_create(&other, NULL, interrupt, NULL));
    while (atomic_load(&calls_in_handler) < calls || atomic_load(&refused_calls) < 20) {
        int64_t now = 0;
        CHECK_OK(selene_scheduler_now(calling, &now));
    }
    atomic_store(&ended, 1);
    CHECK_INT(0, pthread_join(other, NULL));
    CHECK_INT(0, sigaction(SIGUSR1, &before, NULL));
    printf("%d calls in the signal handler, %d refused\n", (int)calls_in_handler,
           (int)refused_calls);
    CHECK_OK(selene_scheduler_close(calling, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P5 in a storm of signals none lands on a library thread", test_storm);
    run_test("P5 signals that the host blocks are taken by no library thread",
             test_nobody_takes_them);
    run_test("P5 a thread that was left behind blocks what the host named, also after close",
             test_left_behind);
    run_test("P5 the calling thread's own mask is left as it is", test_own_mask);
    run_test("P5 nothing changes what a signal does", test_dispositions);
    run_test("P5 a fault on a library thread, and a signal to that thread, find the host's handler",
             test_faults);
    run_test("P5 what the starting thread blocks is blocked, but for faults", test_inherited);
    run_test("P5 library threads have a name, and no other thread gets it", test_named);
    run_test("P5 signals that cannot be blocked, or that faults raise, are refused", test_refused);
    run_test("V24 a call in a signal handler that interrupts another is refused",
             test_handler_calls);
    return check_end();
}
