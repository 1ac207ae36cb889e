#define _XOPEN_SOURCE 700
#include "runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "child.h"
#include "due.h"
#include "guard.h"
#include "log.h"
#include "output.h"
#include "printable.h"
#include "progress.h"

#define NOT_STARTED (-1)

/* How often what a command writes is looked at: a log without end is cut to its limit, progress is told. More often where
 * its stall limit would be over before that. */
#define LOOK_AT_FILES SELENE_SECOND
#define LOOK_AT_FILES_LEAST (10 * SELENE_MILLISECOND)

/* A run whose command is a child now; lives on the stack of its handler's thread. */
struct job {
    selene_run run;
    struct child child;
    struct log *log;
    struct progress progress;
    struct output output;
    /* Monotonic: when the group must be gone, so that the rest is done by the deadline. */
    int64_t last_call;
    int64_t kill_at;
    bool stopping;
    struct job *next;
};

struct job_end {
    selene_run run;
    int status;
};

int64_t monotonic_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SELENE_SECOND + now.tv_nsec;
}

/* Waits, with the lock held, for a change or an instant. */
static void wait_until(struct runner *runner, int64_t at) {
    struct timespec time = {(time_t)(at / SELENE_SECOND), (long)(at % SELENE_SECOND)};
    if (at == SELENE_NEVER) pthread_cond_wait(&runner->changed, &runner->lock);
    else pthread_cond_timedwait(&runner->changed, &runner->lock, &time);
}

static void enlist(struct runner *runner, struct job *job) {
    job->next = runner->jobs;
    runner->jobs = job;
}

static void delist(struct runner *runner, struct job *job) {
    struct job **link = &runner->jobs;
    while (*link != job)
        link = &(*link)->next;
    *link = job->next;
}

static void count_handlers(struct runner *runner, int change) {
    pthread_mutex_lock(&runner->lock);
    runner->handlers += change;
    pthread_cond_broadcast(&runner->changed);
    pthread_mutex_unlock(&runner->lock);
}

/* With the lock held. */
static void ask_to_stop(struct runner *runner, struct job *job, int32_t reason) {
    if (job->stopping) return;
    job->stopping = true;
    job->kill_at = monotonic_now() + runner->grace;
    if ((reason == SELENE_STOP_EXPIRING || reason == SELENE_STOP_TIMED_OUT ||
         reason == SELENE_STOP_STALLED) &&
        job->kill_at > job->last_call)
        job->kill_at = job->last_call;
    child_signal(&job->child, SIGTERM);
    pthread_cond_broadcast(&runner->changed);
}

static void stop_command(selene_run run, int32_t reason, void *context) {
    struct runner *runner = context;
    pthread_mutex_lock(&runner->lock);
    for (struct job *job = runner->jobs; job; job = job->next)
        if (job->run == run) ask_to_stop(runner, job, reason);
    pthread_mutex_unlock(&runner->lock);
}

/* After how long the files of a run are looked at again. */
static int64_t look_after(selene_run run) {
    int64_t remaining = 0;
    if (selene_run_remaining(run, &remaining) || remaining <= 0) return LOOK_AT_FILES;
    if (remaining / 2 >= LOOK_AT_FILES) return LOOK_AT_FILES;
    return remaining / 2 > LOOK_AT_FILES_LEAST ? remaining / 2 : LOOK_AT_FILES_LEAST;
}

/* With the lock held: waits until the child is gone, and kills it when its grace is over. */
static void wait_for_child(struct runner *runner, struct job *job) {
    int64_t look_at, pause = LOOK_AT_FILES_LEAST;
    while (!child_ended(&job->child, job->stopping)) {
        if (job->stopping && monotonic_now() >= job->kill_at) {
            child_signal(&job->child, SIGKILL);
            job->kill_at = SELENE_NEVER;
        }
        look_at = monotonic_now() + pause;
        wait_until(runner, job->kill_at < look_at ? job->kill_at : look_at);
        if (monotonic_now() < look_at) continue;
        pthread_mutex_unlock(&runner->lock);
        log_bound(job->log);
        progress_look(&job->progress, job->run);
        pause = look_after(job->run);
        pthread_mutex_lock(&runner->lock);
    }
    guard_remove(job->child.pid);
}

static void remember_end(struct runner *runner, selene_run run, int status) {
    struct job_end *ends = realloc(runner->ends, (runner->end_count + 1) * sizeof *ends);
    if (ends == NULL) return;
    runner->ends = ends;
    ends[runner->end_count++] = (struct job_end){run, status};
}

/* With the lock held: false, and nothing was started, also when the program is about to end. */
static bool start(struct runner *runner, struct job *job, const selene_run_info *info) {
    int problem;
    if (runner->signal || runner->leaving) return false;
    problem =
        child_start(&job->child, info->input.data, info->id.data, info->attempt, job->progress.path,
                    job->output.path, job->log->file, &runner->command_mask, guard_add);
    if (problem) {
        fprintf(stderr, "selene-run: %s: /bin/sh: %s\n", printable(info->id.data, -1).text,
                strerror(problem));
        return false;
    }
    enlist(runner, job);
    return true;
}

/* Runs the command of a task; gives its status as waitpid does, or NOT_STARTED. */
static int run_child(struct runner *runner, const selene_run_info *info, struct log *log) {
    struct job job = {.run = info->run, .log = log, .kill_at = SELENE_NEVER};
    int64_t reserve = info->deadline - info->expires_at;
    int64_t remaining = 0;
    int32_t reason = SELENE_STOP_NONE;
    int status = NOT_STARTED;
    bool started;
    progress_open(&job.progress, log);
    output_open(&job.output, log);
    selene_run_remaining(info->run, &remaining);
    job.last_call = monotonic_now() + remaining + reserve - reserve / 4;

    pthread_mutex_lock(&runner->lock);
    started = start(runner, &job, info);
    pthread_mutex_unlock(&runner->lock);

    /* A stop that came before the job was listed found nothing to stop. Asked without the lock:
     * any call may notice an expiry and call stop_command from within. */
    selene_run_stopping(info->run, &reason);

    pthread_mutex_lock(&runner->lock);
    if (started) {
        if (reason) ask_to_stop(runner, &job, reason);
        wait_for_child(runner, &job);
        delist(runner, &job);
        status = job.child.status;
    }
    remember_end(runner, info->run, status);
    pthread_mutex_unlock(&runner->lock);
    progress_look(&job.progress, info->run);
    progress_close(&job.progress);
    if (started) output_take(&job.output, info->run, info->id.data);
    output_close(&job.output);
    return status;
}

static int32_t outcome_of(int status) {
    if (status == NOT_STARTED || !WIFEXITED(status)) return SELENE_OUTCOME_FAILED;
    switch (WEXITSTATUS(status)) {
    case COMMAND_NEW_DATA:
        return SELENE_OUTCOME_NEW_DATA;
    case COMMAND_NO_DATA:
        return SELENE_OUTCOME_NO_DATA;
    case COMMAND_ABANDONED:
        return SELENE_OUTCOME_ABANDONED;
    default:
        return SELENE_OUTCOME_FAILED;
    }
}

static struct end_text end_of_status(int status) {
    struct end_text end;
    if (status == NOT_STARTED) snprintf(end.text, sizeof end.text, "not started");
    else if (WIFEXITED(status)) snprintf(end.text, sizeof end.text, "exit %d", WEXITSTATUS(status));
    else if (WTERMSIG(status) == SIGTERM) snprintf(end.text, sizeof end.text, "SIGTERM");
    else if (WTERMSIG(status) == SIGKILL) snprintf(end.text, sizeof end.text, "SIGKILL");
    else snprintf(end.text, sizeof end.text, "signal %d", WTERMSIG(status));
    return end;
}

/* Refused as STALE_RUN after a stop or the deadline; it still brings the run back. */
static void give_outcome(selene_run run, int status, const char *last_line) {
    char why[sizeof(struct printable) + sizeof(struct end_text) + 1];
    int32_t outcome = outcome_of(status);
    if (outcome < SELENE_OUTCOME_FAILED) {
        selene_run_complete(run, outcome);
        return;
    }
    snprintf(why, sizeof why, "%s%s%s", end_of_status(status).text, *last_line ? ": " : "",
             last_line);
    selene_run_fail(run, outcome, -1, why, -1);
}

static void run_command(selene_run run, const selene_run_info *info, void *context) {
    struct runner *runner = context;
    struct log log;
    struct printable last = {""};
    int64_t begin = monotonic_now();
    int status = NOT_STARTED;
    count_handlers(runner, +1);
    due_dispatched(info->id, runner->scheduler);
    if (log_open(&log, runner->workspace, info->id.data, info->attempt)) {
        status = run_child(runner, info, &log);
        last = log_last_line(&log);
        if (!runner->quiet) log_show(&log, info->id.data, runner->with_time);
        log_close(&log, info->attempt, end_of_status(status).text, monotonic_now() - begin);
    } else {
        fprintf(stderr, "selene-run: the log of %s: %s\n", printable(info->id.data, -1).text,
                strerror(errno));
    }
    give_outcome(run, status, last.text);
    count_handlers(runner, -1);
}

/* On a thread of its own: children are reaped with the help of the one that receives signals. */
static void *drain_and_close(void *context) {
    struct runner *runner = context;
    selene_scheduler_close(runner->scheduler, runner->drain);
    return NULL;
}

/* A second request waits for nothing: tasks are enqueued as before, and their commands killed. */
static void end_program(struct runner *runner, int number) {
    pthread_mutex_lock(&runner->lock);
    if (runner->signal) {
        pthread_mutex_unlock(&runner->lock);
        selene_scheduler_close(runner->scheduler, 0);
        pthread_mutex_lock(&runner->lock);
        for (struct job *job = runner->jobs; job; job = job->next) {
            job->stopping = true;
            job->kill_at = 0;
        }
        pthread_cond_broadcast(&runner->changed);
        pthread_mutex_unlock(&runner->lock);
        return;
    }
    runner->signal = number;
    runner->has_closer =
        runner->drain && !pthread_create(&runner->closer, NULL, drain_and_close, runner);
    pthread_cond_broadcast(&runner->changed);
    pthread_mutex_unlock(&runner->lock);
    fputs("selene-run: stopping what runs; once more kills it at once\n", stderr);
    if (!runner->has_closer) selene_scheduler_close(runner->scheduler, 0);
}

/* Only where no other signal comes, or the program waits for no more. */
static void join_closer(struct runner *runner) {
    pthread_mutex_lock(&runner->lock);
    const bool has_closer = runner->has_closer;
    runner->has_closer = false;
    pthread_mutex_unlock(&runner->lock);
    if (has_closer) pthread_join(runner->closer, NULL);
}

/* Receives the signals of the program, one after another, as an ordinary function. */
static void *watch(void *context) {
    struct runner *runner = context;
    bool left = false;
    while (!left) {
        int number = 0;
        if (sigwait(&runner->watched, &number)) continue;
        if (number != SIGCHLD) {
            end_program(runner, number);
            continue;
        }
        pthread_mutex_lock(&runner->lock);
        left = runner->left;
        pthread_cond_broadcast(&runner->changed);
        pthread_mutex_unlock(&runner->lock);
    }
    return NULL;
}

static void ignore(int number) {
    (void)number;
}

static void block_watched_signals(struct runner *runner) {
    struct sigaction action = {.sa_handler = ignore};
    struct sigaction hangup;
    sigaction(SIGHUP, NULL, &hangup);
    sigemptyset(&runner->watched);
    sigaddset(&runner->watched, SIGCHLD);
    sigaddset(&runner->watched, SIGINT);
    sigaddset(&runner->watched, SIGTERM);
    sigaddset(&runner->watched, SIGQUIT);
    /* nohup wants to outlive the terminal. */
    if (hangup.sa_handler != SIG_IGN) sigaddset(&runner->watched, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &runner->watched, &runner->command_mask);
    /* An ignored signal need not become pending, and a child of a parent that ignores SIGCHLD leaves no status. */
    sigaction(SIGCHLD, &action, NULL);
    /* A reader that goes away (`| head`) must not kill this process and leave its children. */
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

void runner_open(struct runner *runner, const struct workspace *workspace,
                 const struct options *options) {
    pthread_condattr_t attributes;
    *runner = (struct runner){.workspace = workspace,
                              .grace = options->grace,
                              .drain = options->drain,
                              .quiet = options->quiet,
                              .with_time = options->follow};
    guard_open(options->grace, options->store);
    block_watched_signals(runner);
    children_adopt();
    pthread_mutex_init(&runner->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&runner->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

selene_status runner_attach(struct runner *runner, selene_scheduler scheduler,
                            const char *handler) {
    runner->scheduler = scheduler;
    if (pthread_create(&runner->watcher, NULL, watch, runner)) return SELENE_ERROR_EXHAUSTED;
    return selene_handler_register(scheduler, handler, -1, run_command, stop_command, runner, NULL);
}

void runner_close(struct runner *runner) {
    /* Before another close, which might have less grace. */
    join_closer(runner);
    selene_scheduler_close(runner->scheduler, runner->grace + SELENE_SECOND);
    pthread_mutex_lock(&runner->lock);
    runner->leaving = true;
    while (runner->handlers)
        wait_until(runner, SELENE_NEVER);
    runner->left = true;
    pthread_mutex_unlock(&runner->lock);
    pthread_kill(runner->watcher, SIGCHLD);
    pthread_join(runner->watcher, NULL);
    join_closer(runner);
    guard_close();
    children_reap_strays();
    free(runner->ends);
}

int runner_signal(struct runner *runner) {
    int number;
    pthread_mutex_lock(&runner->lock);
    number = runner->signal;
    pthread_mutex_unlock(&runner->lock);
    return number;
}

bool runner_sleep(struct runner *runner, int64_t duration) {
    int64_t end = monotonic_now() + duration;
    bool go_on;
    pthread_mutex_lock(&runner->lock);
    while (!runner->signal && monotonic_now() < end)
        wait_until(runner, end);
    go_on = !runner->signal;
    pthread_mutex_unlock(&runner->lock);
    return go_on;
}

/* How often a lock that another process has is asked for. */
#define LOOK_AT_LOCK (20 * SELENE_MILLISECOND)

bool runner_lock(struct runner *runner, const char *store) {
    const int64_t end = monotonic_now() + GUARD_PATIENCE;
    const struct printable name = printable(store, -1);
    bool told = false;
    int problem;
    while ((problem = guard_lock()) == EWOULDBLOCK && monotonic_now() < end) {
        if (!told)
            fprintf(stderr,
                    "selene-run: %s: commands of the run before have not ended yet; waiting for "
                    "them\n",
                    name.text);
        told = true;
        if (!runner_sleep(runner, LOOK_AT_LOCK)) return false;
    }
    if (problem == EWOULDBLOCK)
        fprintf(stderr, "selene-run: %s: they have not ended; going on beside them\n", name.text);
    else if (problem)
        fprintf(stderr,
                "selene-run: %s" GUARD_SUFFIX ": %s; nothing on this store will wait for the "
                "commands of this run if it is killed\n",
                name.text, strerror(problem));
    return true;
}

void runner_note_window(struct runner *runner) {
    pthread_mutex_lock(&runner->lock);
    runner->windows++;
    pthread_cond_broadcast(&runner->changed);
    pthread_mutex_unlock(&runner->lock);
}

enum awaited runner_await_windows(struct runner *runner, int64_t windows, int64_t duration) {
    int64_t end = monotonic_now() + duration;
    enum awaited awaited = AWAITED_NOTHING;
    pthread_mutex_lock(&runner->lock);
    while (!runner->signal && runner->windows < windows && monotonic_now() < end)
        wait_until(runner, end);
    if (runner->signal) awaited = AWAITED_SIGNAL;
    else if (runner->windows >= windows) awaited = AWAITED_WINDOW;
    pthread_mutex_unlock(&runner->lock);
    return awaited;
}

struct end_text runner_end(struct runner *runner, selene_run run) {
    struct end_text end = {"being killed"};
    pthread_mutex_lock(&runner->lock);
    for (size_t i = 0; i < runner->end_count; i++)
        if (runner->ends[i].run == run) end = end_of_status(runner->ends[i].status);
    pthread_mutex_unlock(&runner->lock);
    return end;
}

void runner_forget(struct runner *runner) {
    pthread_mutex_lock(&runner->lock);
    runner->end_count = 0;
    if (runner->handlers == 0) children_reap_strays();
    pthread_mutex_unlock(&runner->lock);
}
