/* Runs commands for the scheduler, stops them in time, and ends the program when it is asked to. */
#ifndef RUNNER_H
#define RUNNER_H

#include <pthread.h>
#include <selene.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "workspace.h"

/** What exit codes of commands mean; every other one is a failure that may be tried again. */
enum {
    COMMAND_NEW_DATA = 0,
    /** As automake's "skipped". */
    COMMAND_NO_DATA = 77,
    /** As automake's "hard error". */
    COMMAND_ABANDONED = 99
};

struct job;
struct job_end;

struct runner {
    selene_scheduler scheduler;
    const struct workspace *workspace;
    /** ns from SIGTERM to SIGKILL; less if the window ends earlier. */
    int64_t grace;
    /** ns that commands may take to end by themselves when the program is asked to end. */
    int64_t drain;
    /** Output goes to the logs only. */
    bool quiet;
    /** Lines of output begin with the time. */
    bool with_time;

    sigset_t command_mask;
    sigset_t watched;
    pthread_t watcher;

    /** Guards what follows. */
    pthread_mutex_t lock;
    /** A child ended, a job was asked to stop, or the program is. */
    pthread_cond_t changed;
    struct job *jobs;
    /** Handlers at work, in any of their phases. */
    int handlers;
    struct job_end *ends;
    size_t end_count;
    /** The signal that asked the program to end; 0 before. */
    int signal;
    /** Closes the scheduler after that. */
    pthread_t closer;
    bool has_closer;
    /** Windows that a driver has ended. */
    int64_t windows;
    /** No command is started any more. */
    bool leaving;
    /** The watcher may go. */
    bool left;
};

/** Prepares signals. Call it before the scheduler is opened, from the only thread. */
void runner_open(struct runner *runner, const struct workspace *workspace,
                 const struct options *options);

/** Registers the handler that runs commands. The runner must outlive the scheduler. */
selene_status runner_attach(struct runner *runner, selene_scheduler scheduler, const char *handler);

/** Closes the scheduler, waits until every child is gone, and gives signals back. */
void runner_close(struct runner *runner);

/** The signal that asked the program to end, or 0. */
int runner_signal(struct runner *runner);

/** Sleeps; false, at once, when the program was asked to end. */
bool runner_sleep(struct runner *runner, int64_t duration);

/**
 * Waits for commands of another run on this store, which was killed or did not wait for them, and keeps those of the next
 * one waiting for the commands of this one. Before the first command. Says on stderr what it waits for.
 *
 * @return false, at once, when the program was asked to end
 */
bool runner_lock(struct runner *runner, const char *store);

/** A window of a driver has ended. */
void runner_note_window(struct runner *runner);

enum awaited { AWAITED_SIGNAL, AWAITED_WINDOW, AWAITED_NOTHING };

/** Waits until this number of windows of a driver have ended, the program was asked to end, or the time is over. */
enum awaited runner_await_windows(struct runner *runner, int64_t windows, int64_t duration);

/** Nanoseconds of a clock that only goes on. */
int64_t monotonic_now(void);

struct end_text {
    char text[32];
};

/** How the command of a run of the current cycle ended: "exit 0", "SIGTERM", … */
struct end_text runner_end(struct runner *runner, selene_run run);

/** Forgets the ends of the cycle that was just shown, and reaps strays. */
void runner_forget(struct runner *runner);

#endif
