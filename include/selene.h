/*
 * selene.h - the background-work scheduler that any program can embed
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * This file is the contract and the manual: read it and you can write a
 * correct host.
 *
 * ============================================================================
 *  THE MODEL
 * ============================================================================
 *
 * A host registers TASKS once, each with the name of a HANDLER. Whenever it has
 * an opportunity (a wake-up, an idle moment, a timer) it opens a WINDOW: a time
 * budget of, say, 30 seconds. Selene ranks the tasks that may run, picks those
 * that fit into what is left of the window, runs them, ends on time and reports.
 *
 *   scheduler   one instance: tasks, handlers, conditions, clock, store
 *   task        work registered under an id: a definition, a state, a history
 *   kind        refresh (short, seconds) or processing (long, minutes)
 *   schedule    standing (a candidate in every window), once, or periodic
 *   handler     a host function under a name; tasks name their handler
 *   window      an opportunity: kinds, budget, reserve, number of lanes
 *   cycle       the use of one window: rank, pick, dispatch, complete, report
 *   run         one dispatch of one task, known by a 64-bit token
 *   estimate    the response time expected of a task's next run: the mean of
 *               its last n response times (n: response_window); while there are
 *               none, what the definition says, or else the mean of its handler's
 *
 * Ranking. Among the eligible tasks (enqueued, of the window's kind, handler
 * present, due, constraints satisfied, id permitted and not taken by an earlier
 * run) the score is (priority / 5) * (elapsed / greatest elapsed), where
 * elapsed is the time since the task's last run, or since its registration.
 * This is the formula that LinkedIn's Selene shipped. Nothing starves. Ties go
 * to the higher priority, then to the task registered first. Scores are
 * compared exactly; the doubles below are for reading only.
 *
 * Picking. A task is picked when a lane is free and its estimate fits into
 * (deadline - reserve) - now. The first pick of a cycle is made whatever its
 * estimate (unless SELENE_WINDOW_STRICT_FIT), so that a task longer than every
 * window runs, too. At deadline - reserve every run in flight is asked to stop
 * (reason EXPIRING); a run still open after the deadline is ended and counts as
 * failed.
 *
 * Three ways to run a cycle:
 *   pull   selene_cycle_begin, _next, _end: the host calls its own functions.
 *          The engine never blocks and starts no thread.
 *   push   selene_cycle_run, selene_cycle_run_async: library threads, one a
 *          lane, call the handlers, and the report comes by the deadline
 *          whatever the handlers do.
 *   lend   selene_cycle_begin with SELENE_WINDOW_LANES, selene_lane_open,
 *          _next, _close, selene_cycle_wait: the same on threads of the host.
 *
 * The store. A scheduler opened with a path keeps its tasks in a file there (an
 * SQLite database) and finds them again after a restart, a kill or a power
 * loss. Without a path everything lives in memory; it behaves the same
 * otherwise. A call that returned OK is durable before it returns (with
 * SELENE_OPTIONS_RELAXED: a power loss may undo the last calls, a crash of the
 * process may not). One exception: selene_run_complete means accepted, and is
 * durable when the next selene_cycle_next, selene_cycle_end or report comes, so
 * that a completion and the next start cost one commit.
 * While a commit waits for the disk, other changes wait for it; reads, stop
 * functions and outcomes do not. A cycle on library threads or lanes reports by
 * its deadline even then; the report is stored as soon as the disk is done.
 *
 * The promise is at least once, never exactly once: a run whose outcome was not
 * stored is repeated. A task that ran alone when its process ended has failed an
 * attempt (INTERRUPTED), and waits from the second time on, at least 30 s and
 * doubling, so a task that crashes its host cannot crash-loop it. Of several that
 * ran none has failed; what may have ended a process runs apart from others until
 * it has an outcome (SELENE_SUSPICION_QUARANTINED).
 *
 * A damaged store is refused, never read as an empty or an older one, except
 * where damage is indistinguishable from a power loss: to the last commit in the
 * log, inside a log written with SELENE_OPTIONS_RELAXED, or a log that was cut or
 * deleted.
 *
 * ============================================================================
 *  THE SMALLEST HOST
 * ============================================================================
 *
 *     #include <selene.h>
 *     #include <stdio.h>
 *
 *     static void hello(selene_run run, const selene_run_info *info, void *context) {
 *         (void)context;
 *         printf("running %s\n", info->id.data);
 *         selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
 *     }
 *
 *     int main(void) {
 *         selene_scheduler scheduler = 0;
 *         selene_task task = SELENE_INIT(selene_task);
 *         selene_window window = SELENE_INIT(selene_window);
 *         if (selene_scheduler_open(NULL, &scheduler)) return 1;
 *         selene_handler_register(scheduler, "hello", -1, hello, NULL, NULL, NULL);
 *         task.id = SELENE_TEXT("hello");
 *         selene_task_register(scheduler, &task, NULL);
 *         if (selene_cycle_run(scheduler, &window, NULL)) puts(selene_error_last()->message.data);
 *         return selene_scheduler_close(scheduler, 0);
 *     }
 *
 * ============================================================================
 *  A HOST THAT PULLS
 * ============================================================================
 *
 * It does the work itself, wherever it likes, and no thread is started: the
 * handler is a name without functions. A host with an event loop starts a run's
 * work, completes the run when the work is done, and asks for the next.
 *
 *     #include <selene.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *         selene_scheduler scheduler = 0;
 *         selene_cycle cycle = 0;
 *         selene_task task = SELENE_INIT(selene_task);
 *         selene_run_info run = SELENE_INIT(selene_run_info);
 *         int32_t step;
 *         if (selene_scheduler_open(NULL, &scheduler)) return 1;
 *         selene_handler_register(scheduler, "hello", -1, NULL, NULL, NULL, NULL);
 *         task.id = SELENE_TEXT("hello");
 *         selene_task_register(scheduler, &task, NULL);
 *         if (selene_cycle_begin(scheduler, NULL, &cycle)) puts(selene_error_last()->message.data);
 *         while (!selene_cycle_next(cycle, &step, &run, NULL) && step == SELENE_STEP_RUN) {
 *             printf("pulled %s\n", run.id.data);
 *             selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA);
 *         }
 *         selene_cycle_end(cycle, NULL);
 *         return selene_scheduler_close(scheduler, 0);
 *     }
 *
 * ============================================================================
 *  WHERE TO BEGIN
 * ============================================================================
 *
 * Most hosts need no more than these; the other functions can wait.
 *
 *   selene_scheduler_open, _close      one scheduler, with a store or in memory
 *   selene_handler_register            a function under a name, before the first window
 *   selene_task_register, _cancel      tasks; a live one may be registered again
 *   selene_cycle_run                   a window now, on library threads, or
 *   selene_driver_start, _stop         windows whenever something is due, as the
 *                                      governor grants them
 *   selene_run_complete, _fail         the outcome, which every run needs
 *   selene_run_stopping                whether a long run has been asked to stop
 *   selene_conditions_set              what the host knows of network and power
 *   selene_task_explain                why a task does not run, and
 *   selene_name                        what reasons, states and other numbers are called
 *   selene_free                        frees what a function has made: a report, a record
 *   selene_error_last                  what was wrong with the last failed call
 *   selene_server_start                other processes may connect, which
 *   selene_scheduler_connect           they do with this
 *
 * ============================================================================
 *  CONVENTIONS
 * ============================================================================
 *
 * Status. Every function that can fail returns selene_status; SELENE_OK is 0.
 *   A failed call changes nothing and leaves every out_ parameter as it was.
 *   selene_error_last() then says which field, what was found and what is
 *   allowed, as a sentence and as data. Any function that takes a
 *   handle may return these, which are not repeated below: INVALID_HANDLE (zero,
 *   closed, stale, foreign or random), FORKED, REENTRANT when called from inside
 *   a host clock or a log function.
 *   NULL where a pointer is required answers INVALID_ARGUMENT. With a store,
 *   every function that changes something may answer STORE_FULL, STORE_IO,
 *   STORE_CORRUPT, STORE_MOVED or OUTCOME_UNKNOWN; only after the last of these
 *   may something have changed.
 *
 * Time. Instants are int64_t nanoseconds since the Unix epoch in scheduler time
 *   (selene_scheduler_now), durations are int64_t nanoseconds; 10 years are 3653
 *   days. Scheduler time never goes backwards: it starts at the wall clock when
 *   the scheduler is opened and then follows the boot-time clock, which also
 *   counts sleep.
 *   On the system's clock a duration from 1 ns to 1 ms and an instant before 1971,
 *   other than 0, were meant in another unit: they answer INVALID_ARGUMENT, and the
 *   detail names the constant, as in 30 * SELENE_SECOND. Round up what you compute,
 *   also a grace. Not refused are how long a call waits (timeout, patience,
 *   selene_run_sleep), cpu_time, and anything on a clock of the host's
 *   (SELENE_OPTIONS_SET_CLOCK, clock), where ranges begin at 1 ns.
 *
 * Text. Text goes in as pointer and length in bytes; length -1 means
 *   NUL-terminated; it is copied. Ids, handler names and tags are 1 to 255 bytes
 *   of valid UTF-8 without NUL and equal when their bytes are. Text that comes
 *   out is followed by a NUL that its length does not count.
 *
 * Ownership. What _open returns is closed by _close; a struct that a function
 *   returns through a pointer-to-pointer belongs to the caller: one block of
 *   memory, with all that it points to, freed by selene_free. Everything else is
 *   borrowed.
 *
 * Structs. Every struct that crosses the border by itself begins with struct_size
 *   and flags; selene_text and the elements of arrays (selene_rule, selene_quota,
 *   selene_reason, …) do not. Zero is the default of every field: a struct of zeros
 *   with its struct_size, as SELENE_INIT makes it, has all of them. Where 0 itself
 *   must be sayable, SELENE_NONE says it. The tags behind a field are facts: @unit
 *   what it counts, @range what is allowed, @zero what a 0 there stands for, @none
 *   that SELENE_NONE says the 0 of the range, @when for which tasks it is. If
 *   struct_size is smaller than the library's, the missing fields have their
 *   defaults; if it is larger, the excess must be zero, or the call answers
 *   UNSUPPORTED_STRUCT, as it does below 8. Unknown flags answer INVALID_ARGUMENT.
 *   Structs grow at their end only. Of a struct that a function fills, struct_size
 *   says how much of it the caller knows.
 *
 * Callbacks. A callback is fn, context, destroy. destroy may be NULL; otherwise
 *   it is called exactly once, after the last call of fn returned, without a
 *   lock, also when the call that took it failed. If that call failed, fn is
 *   never called. Text and structs given to a callback live until it returns
 *   unless said otherwise. A stop function, an observer or a destroy may be
 *   called on the thread of any call before that call returns: never call the
 *   library while holding a lock that they take. A scheduler that has library
 *   threads calls them there: one that blocks does not keep the others from being
 *   called, and no cycle on library threads waits for it. A library thread that
 *   has been in one for more than a second counts towards max_overrun_threads.
 *
 * Leaving. A callback is meant to return. If it is left by longjmp, by an exception that is caught further out
 *   (exceptions pass through the shared and the static library unnoticed; on a library thread, where nothing catches
 *   them, they end the process), or because its thread calls pthread_exit, nothing crashes: the run has failed unless
 *   it had its outcome, its inline cycle ends, and a library thread that ended is replaced. The library notices when
 *   the thread ends, or calls the library again from where the jump led to; until then the thread counts as inside the
 *   callback. Where the thread is in its stack tells one from the other: a later call whose own frames reach as deep as
 *   the callback's did can be taken for a call from inside it, and close, reset and blocking cycles then answer
 *   REENTRANT. What the abandoned calls had allocated is leaked, and if the scheduler is closed before the jump is
 *   noticed, the destroy of the callback is not called. On a stack other than the thread's own, such as a fiber's, a
 *   jump is not noticed.
 *
 * Threads. Every function may be called from any thread. No lock is held while
 *   host code runs. Inside a handler, a stop function or an observer everything
 *   is legal for the same scheduler except close, reset and a blocking cycle
 *   (REENTRANT). Threads that the library starts are named by what they do,
 *   "selene/lane", "selene/window", "selene/driver", "selene/store",
 *   "selene/server", and "selene/worker" while they wait; they have a stack of at
 *   least 8 MiB and block the signals that are sent to a process
 *   (selene_options.blocked_signals), but not those of faults.
 *   Loading the library starts no thread and installs no signal handler.
 *   No function may be called in a signal handler: set a flag there, or write to
 *   a pipe or an eventfd that the host's loop reads, and call from that. A call
 *   there that has interrupted another one of its thread answers REENTRANT, where
 *   it would wait for that one for ever.
 *
 * Runtimes. A host in a language with a runtime of its own needs no callback and no thread of the library:
 *   selene_cycle_begin, _next, selene_run_complete and _end do the work on the host's thread, selene_driver_open, _step
 *   and _wait (or the descriptor) say when, selene_run_stopping asks whether to stop, selene_run_get repeats what a run
 *   is, selene_events_next reads events, selene_clock_set is the clock of a test. SELENE_OPTIONS_NO_THREADS makes sure
 *   that nothing else happens. Where threads of the library do call handlers, thread_begin and thread_end attach them to
 *   the runtime. A runtime that moves its own threads between those of the system reads selene_error_last before it
 *   lets that happen. docs/embedding.md is the guide.
 *
 * Fork. In the child every handle and token of the parent answers FORKED; the
 *   child may open schedulers of its own, but not a store that the parent had
 *   open at the fork (STORE_LOCKED). The parent is not affected; its fork() waits
 *   for other threads that are reading or writing a store at that moment.
 *   A callback may fork. If the child returns from it, no other callback is called
 *   there and nothing is written: the call that it was made in returns FORKED; if
 *   it was on a thread of the library, that thread ends, and with the last thread
 *   the process, with status 0.
 *
 * Memory. A failed allocation ends the process.
 */
#ifndef SELENE_H
#define SELENE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SELENE_API
#elif defined(__GNUC__) || defined(__clang__)
#define SELENE_API __attribute__((visibility("default")))
#else
#define SELENE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ============================================================================
 *  VERSION
 * ========================================================================= */

#define SELENE_VERSION_MAJOR 0
#define SELENE_VERSION_MINOR 2
#define SELENE_VERSION_PATCH 0
/** major * 1 000 000 + minor * 1 000 + patch. */
#define SELENE_VERSION_NUMBER 2000
#define SELENE_VERSION_STRING "0.2.0"

/**
 * The version of the library that is loaded, composed as SELENE_VERSION_NUMBER.
 *
 * Compare it with the macro to see whether header and library belong together.
 * Cannot fail. Thread: any. Since: 0.2.
 */
SELENE_API uint32_t selene_version(void);

/**
 * Frees what a function has made: a report, a record, a list, a decision.
 *
 * Each is one block of memory, with all texts and arrays that it points to.
 *
 * @param made  what a function returned through a pointer to a pointer; NULL is ignored
 *
 * Cannot fail. Thread: any. Since: 0.2.
 */
SELENE_API void selene_free(void *made);

/* ============================================================================
 *  TEXT AND CALLBACKS
 * ========================================================================= */

/** A piece of text or bytes. In: length -1 means NUL-terminated; NULL with length 0 is empty. */
typedef struct selene_text {
    const char *data;
    int64_t length;
} selene_text;

/** A selene_text of a string literal; in C from C99 on. */
#ifdef __cplusplus
#define SELENE_TEXT(literal) (selene_text{("" literal), static_cast<int64_t>(sizeof(literal) - 1)})
#else
#define SELENE_TEXT(literal) ((selene_text){("" literal), (int64_t)(sizeof(literal) - 1)})
#endif

/** Releases a callback's context; see Callbacks in the preamble. */
typedef void (*selene_destroy_fn)(void *context);

/**
 * Initialises a struct with all defaults: selene_task task = SELENE_INIT(selene_task). In C with designated initialisers, too:
 * selene_task task = {.struct_size = sizeof task, .id = SELENE_TEXT("hello")}.
 */
#ifdef __cplusplus
#define SELENE_INIT(type)                                                                          \
    ([]() -> type {                                                                                \
        type selene_initial{};                                                                     \
        selene_initial.struct_size = static_cast<uint32_t>(sizeof(type));                          \
        return selene_initial;                                                                     \
    }())
#else
#define SELENE_INIT(type)                                                                          \
    { .struct_size = (uint32_t)sizeof(type) }
#endif

/** A host clock: nanoseconds since the Unix epoch. It may not call the library (REENTRANT). */
typedef int64_t (*selene_clock_fn)(void *context);

/** Called when a thread of the library begins or ends, on that thread. Since: 0.2. */
typedef void (*selene_thread_fn)(void *context);

/* ============================================================================
 *  STATUS
 * ========================================================================= */

/** What a call answers; one of the SELENE_OK and SELENE_ERROR_ numbers. */
typedef int32_t selene_status;

enum {
    SELENE_OK = 0,
    /** The kind is switched off. (1 to 4 are the numbers of BGTaskScheduler.Error.) */
    SELENE_ERROR_UNAVAILABLE = 1,
    /** The limit of pending once and periodic tasks of this kind (max_pending_refresh, max_pending_processing; by
     *  default there is none), or of waiting successors, is reached. */
    SELENE_ERROR_TOO_MANY_PENDING = 2,
    /** The scheduler was opened with a list of permitted ids and this is not among them. */
    SELENE_ERROR_NOT_PERMITTED = 3,
    /** The task of a window of one task cannot run now. */
    SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE = 4,
    /** Expedited tasks have used their quota, and this one has SELENE_TASK_REFUSE_OUT_OF_QUOTA. Since: 0.2. */
    SELENE_ERROR_OUT_OF_QUOTA = 5,

    /** A parameter or a field is outside what is allowed. */
    SELENE_ERROR_INVALID_ARGUMENT = 16,
    /** The handle or token was never issued, is closed, or is of another type. */
    SELENE_ERROR_INVALID_HANDLE = 17,
    /** struct_size is too small, or a later field that this library does not know is set. */
    SELENE_ERROR_UNSUPPORTED_STRUCT = 18,
    /** The combination that was asked for is not supported, such as library threads with a host clock. */
    SELENE_ERROR_UNSUPPORTED = 19,
    /** The input is larger than the scheduler's max_input_size. */
    SELENE_ERROR_TOO_LARGE = 20,
    /** No task or handler has that name. */
    SELENE_ERROR_NOT_FOUND = 21,
    /** A handler of that name is registered, or its last run has not returned. */
    SELENE_ERROR_ALREADY_EXISTS = 22,
    /** The run was completed before; the first outcome stands. */
    SELENE_ERROR_ALREADY_COMPLETED = 23,
    /** The run was stopped, expired, or belongs to an earlier life of the scheduler. */
    SELENE_ERROR_STALE_RUN = 24,
    /** A cycle is open, or too many threads are still in handlers that overran. */
    SELENE_ERROR_BUSY = 25,
    /** The minimum interval of the kind has not passed; selene_scheduler_next_wakeup says when. */
    SELENE_ERROR_TOO_SOON = 26,
    /** This call is not legal inside a callback of the same scheduler. */
    SELENE_ERROR_REENTRANT = 27,
    /** The scheduler was opened before fork() and belongs to the parent. */
    SELENE_ERROR_FORKED = 28,
    /** A resource of the system or of the library ran out, such as threads. */
    SELENE_ERROR_EXHAUSTED = 29,
    /** An internal consistency check failed: a bug in this library. */
    SELENE_ERROR_INTERNAL = 30,

    /** The store cannot be opened or made: a directory, no such folder, no permission, read-only. */
    SELENE_ERROR_STORE_CANNOT_OPEN = 48,
    /** Another scheduler, in this process or another, has the store open; the message names the process. */
    SELENE_ERROR_STORE_LOCKED = 49,
    /** The file is damaged; selene_store_salvage saves what can be read. It was left as it is. */
    SELENE_ERROR_STORE_CORRUPT = 50,
    /** The file is not a Selene store, or that of another application (option owner); the message names both. It was
     *  left as it is. */
    SELENE_ERROR_STORE_FOREIGN = 51,
    /** The store was written by a newer version of this library. It was left as it is. */
    SELENE_ERROR_STORE_NEWER = 52,
    /** The disk or the quota is full; nothing changed. */
    SELENE_ERROR_STORE_FULL = 53,
    /** Reading or writing failed; nothing changed. */
    SELENE_ERROR_STORE_IO = 54,
    /** A commit failed midway (a sync, or no memory): the on-disk state is unknown; reopen the store before using
     *  it. */
    SELENE_ERROR_OUTCOME_UNKNOWN = 55,
    /** The file of the store or its log (the same name with -wal) was removed, renamed or replaced while it was
     *  open; nothing changed. Every change is refused until the names lead to the open files again, or the
     *  scheduler is closed and the store opened anew. selene_store_backup still copies everything that was answered
     *  OK; closing does not touch what is in their place. */
    SELENE_ERROR_STORE_MOVED = 56,

    /** Of a connection: no process serves the store, or the one that did has ended or does not answer. The fault says
     *  whether the request may have been carried out (SELENE_FAULT_IN_DOUBT). Since: 0.2. */
    SELENE_ERROR_OWNER_AWAY = 57,
    /** Of a connection: the process that has the store open does not permit this user to do so. Since: 0.2. */
    SELENE_ERROR_REFUSED = 58
};

/**
 * One sentence in English that explains a status.
 *
 * @param status  any integer
 *
 * Ownership: static. Cannot fail. Thread: any. Since: 0.1.
 */
SELENE_API const char *selene_status_message(selene_status status);

/** The vocabularies of selene_name: each is the enumeration of its name. Since: 0.2. */
enum {
    SELENE_NAMES_STATUS = 1,
    SELENE_NAMES_KIND = 2,
    SELENE_NAMES_SCHEDULE = 3,
    SELENE_NAMES_PRIORITY = 4,
    SELENE_NAMES_EXISTING = 5,
    SELENE_NAMES_RECURRENCE = 6,
    SELENE_NAMES_BACKOFF = 7,
    SELENE_NAMES_CONSTRAINT = 8,
    SELENE_NAMES_STATE = 9,
    SELENE_NAMES_DISPOSITION = 10,
    SELENE_NAMES_OUTCOME = 11,
    SELENE_NAMES_STOP = 12,
    SELENE_NAMES_REASON = 13,
    SELENE_NAMES_EVENT = 14,
    SELENE_NAMES_TROUBLE = 15,
    SELENE_NAMES_PROFILE = 16,
    SELENE_NAMES_SIGNAL = 17,
    SELENE_NAMES_SOURCE = 18,
    SELENE_NAMES_FACTOR = 19,
    SELENE_NAMES_VERDICT = 20,
    SELENE_NAMES_MEASURE = 21
};

/**
 * What a number is called: its constant without the prefix, in small letters, as "failed" for SELENE_NAMES_STATE and
 * SELENE_STATE_FAILED; of a status in capitals, as "NOT_FOUND".
 *
 * @param names   a SELENE_NAMES_ number
 * @param number  a number of it, of CONSTRAINT and TROUBLE one bit; "unknown" for any other, and for SELENE_…_DEFAULT,
 *                "UNKNOWN" where it is no status
 *
 * Ownership: static. Cannot fail. Thread: any. Since: 0.2.
 */
SELENE_API const char *selene_name(int32_t names, int64_t number);

/** What the numbers of a selene_error count. */
enum {
    /** There are no numbers: value, least and greatest are 0. */
    SELENE_UNIT_NONE = 0,
    SELENE_UNIT_NUMBER = 1,
    /** Nanoseconds. */
    SELENE_UNIT_DURATION = 2,
    /** Nanoseconds since the Unix epoch, in scheduler time. */
    SELENE_UNIT_INSTANT = 3,
    SELENE_UNIT_BYTES = 4,
    /** Bits that may be set; greatest has all of them. */
    SELENE_UNIT_BITS = 5
};

enum {
    /** Of OWNER_AWAY: the request may have been carried out; without it nothing was changed. Since: 0.2. */
    SELENE_FAULT_IN_DOUBT = 1
};

/** What was wrong in a failed call. Since: 0.2. */
typedef struct selene_error {
    uint32_t struct_size;
    /** SELENE_FAULT_ bits. */
    uint32_t flags;
    /** The status of that call; SELENE_OK if no call of this thread failed yet. */
    selene_status status;
    /** What the three numbers count, one of SELENE_UNIT_. */
    int32_t unit;
    /** The whole sentence, for people: which field, what was found and what is allowed; "" if no call failed yet. */
    selene_text message;
    /** The parameter or struct field: "priority", "tags[2]"; "" where the call as a whole is refused. */
    selene_text field;
    /** What the field belongs to or the range is for, such as a factor or a kind: "battery"; may be "". */
    selene_text subject;
    /** What was found, as text: a number's digits, a name, a path; cut after 255 bytes; may be "". */
    selene_text found;
    /** What is allowed, in words: "1 … 5", "0 … 24 h"; may be "". */
    selene_text allowed;
    /** What is wrong, in words: "is not registered"; "" for a number that is out of its range. */
    selene_text problem;
    /** The number that was found. */
    int64_t value;
    /** The least number that is allowed; INT64_MIN if there is no lower limit. */
    int64_t least;
    /** The greatest number that is allowed; INT64_MAX if there is no upper limit. */
    int64_t greatest;
} selene_error;

/**
 * What was wrong in this thread's last failed call: its sentence (message), and the parts of it, for hosts that put it
 * into words of their own. A successful call leaves it as it is.
 *
 * A refused number has a unit, its value and the range; a name that is unknown or
 * taken and the path of a store stand in found. TOO_SOON: value is now, least the
 * instant from which subject may begin again. Where SELENE_NONE is allowed,
 * too, which @none says, least is the least number besides it. OWNER_AWAY of
 * an owner that runs but did not answer in time: unit is SELENE_UNIT_DURATION and
 * value the timeout that passed; in all other cases unit is SELENE_UNIT_NONE.
 *
 * @return never NULL; of a library that is older than this header the first
 *         struct_size bytes only
 *
 * Ownership: the library's, with its texts; valid until this thread's next call
 * that fails. Cannot fail. Thread: any, each has its own. Since: 0.2.
 */
SELENE_API const selene_error *selene_error_last(void);

/* ============================================================================
 *  OPTIONS
 * ========================================================================= */

/** Durations for readable code, in nanoseconds. An instant of time(), in seconds, is time(NULL) * SELENE_SECOND. */
#define SELENE_MICROSECOND INT64_C(1000)
#define SELENE_MILLISECOND INT64_C(1000000)
#define SELENE_SECOND INT64_C(1000000000)
#define SELENE_MINUTE INT64_C(60000000000)
#define SELENE_HOUR INT64_C(3600000000000)
#define SELENE_DAY INT64_C(86400000000000)

/** The instant that never comes; of a duration: no limit. */
#define SELENE_NEVER INT64_MAX
/** In a field whose 0 is a default that is not 0: 0. The tag @none says where. Since: 0.2. */
#define SELENE_NONE (-1)
/** No limit, for the counts of selene_options: UINT32_MAX. */
#define SELENE_UNLIMITED 4294967295U

enum {
    /** A task beyond the limit of pending requests is accepted as held instead of refused. */
    SELENE_OPTIONS_HOLD = 1,
    /**
     * Score with the observed range, as the authors of LinkedIn's Selene described it: each factor is
     * (x - least) / (greatest - least) over the eligible tasks, or 1 where these are equal.
     */
    SELENE_OPTIONS_OBSERVED_RANGE = 2,
    /** Stored calls survive a crash of the process, but a power loss may undo the last of them. */
    SELENE_OPTIONS_RELAXED = 4,
    /**
     * The freshness rule: the task whose age times its pace is greatest comes first, and the pace follows from what its
     * runs cost, how many of its last 16 runs found something new (NEW_DATA), its priority and its failures in a row.
     * Four times the time: half the pace. Four times the priority: double. News in a quarter of the runs: half. Each
     * failure in a row: 0.84. An estimate is then what four of five of the last 20 runs stayed within. Not together
     * with OBSERVED_RANGE. docs/rules.md has the formula (F1 to F12). Since: 0.2.
     */
    SELENE_OPTIONS_FRESHNESS = 8,
    /**
     * The library starts no thread for this scheduler: what would need one answers UNSUPPORTED (selene_cycle_run unless
     * INLINE, selene_cycle_run_async, selene_driver_start, selene_task_launch, selene_server_start). For hosts whose
     * runtime has one thread, or may be called only on threads that it knows; the section CONVENTIONS says how they work (Runtimes). Since: 0.2.
     */
    SELENE_OPTIONS_NO_THREADS = 16,
    /**
     * The host sets the clock (selene_clock_set, selene_clock_advance) instead of being asked; it begins at clock_start.
     * Not together with clock. Library threads, drivers, lanes and descriptors follow it: they wait until the host sets
     * it. A host clock in this header is the other kind, the function in clock. Since: 0.2.
     */
    SELENE_OPTIONS_SET_CLOCK = 32
};

/** How the library's threads compete with others (thread_quality). */
enum {
    /** They have the priority of the thread that starts them. Since: 0.2. */
    SELENE_THREADS_AS_HOST = 0,
    /**
     * They yield to others: the system prefers other threads that wake up (SCHED_BATCH) and serves their reads and
     * writes when the disk is otherwise idle (the idle class), if it supports these; threads and processes that
     * handlers start inherit both. For hosts whose handlers take long and are not urgent: on a busy machine runs end
     * later. With two other processes keeping two processors busy, 1 of 50 runs that were asked to stop did not end
     * within 20 ms (2 with SELENE_THREADS_AS_HOST; at nice 10, which is not what this sets, 23); on a disk that others
     * keep busy, commits that handlers wait for may take long. Since: 0.2.
     */
    SELENE_THREADS_BACKGROUND = 1
};

/** How a scheduler is opened. */
typedef struct selene_options {
    uint32_t struct_size;
    /** Switches. @unit SELENE_OPTIONS_ bits @zero none */
    uint32_t flags;
    /** Ids that may be registered; NULL (default) permits all. An entry that ends in ".*" permits
     *  every id that begins with the text before the '*'. Copied. */
    const selene_text *permitted;
    /** Number of these ids. @unit entries @range 0 … 65536 @zero 0 */
    uint64_t permitted_count;
    /** Once and periodic tasks that may be enqueued or running at a time. A phone's system sets 1 here and 10 for processing.
     *  With SELENE_OPTIONS_HOLD what is too many waits for a place. Standing tasks do not count.
     *  @unit count @range 0 … 4294967295 @zero SELENE_UNLIMITED @none 0 */
    int64_t max_pending_refresh;
    /** The same for processing. @unit count @range 0 … 4294967295 @zero SELENE_UNLIMITED @none 0 */
    int64_t max_pending_processing;
    /** Backoff delays are raised to this. @unit ns @range 0 … maximum_backoff @zero 10 s @none 0 */
    int64_t minimum_backoff;
    /** Backoff delays are cut to this. @unit ns @range minimum_backoff … 10 years @zero 5 h @none 0 */
    int64_t maximum_backoff;
    /** Least time between the begins of two refresh cycles. @unit ns @range 0 … 10 years @zero none */
    int64_t minimum_interval_refresh;
    /** The same for processing. @unit ns @range 0 … 10 years @zero none */
    int64_t minimum_interval_processing;
    /** How long after its end a run that never returned keeps its id. @unit ns @range 0 … 10 years @zero 10 min @none 0 */
    int64_t release_after;
    /** Shortens each backoff delay by at most this many per mille. @unit per mille @range 0 … 1000 @zero 0 */
    uint32_t backoff_jitter;
    /** Threads that may be left behind in handlers that overran. @unit count @range 0 … 1024 @zero 64 @none 0 */
    int32_t max_overrun_threads;
    /** Seed of the generator of backoff_jitter and of the tasks' jitter (SplitMix64).
     *  @unit number @range any @zero taken from the clock */
    uint64_t seed;
    /** Bytes of input that a task may carry. @unit bytes @range 0 … 2^29 @zero 10240 @none 0 */
    int64_t max_input_size;
    /** A clock that the host supplies; NULL (default) is the system's. With it everything is deterministic,
     *  and only pulled and inline cycles are possible. */
    selene_clock_fn clock;
    void *clock_context;
    selene_destroy_fn clock_destroy;
    /** File of the store; empty (default): the tasks live in memory. It is created, with mode 0600, if it does
     *  not exist. A relative path is resolved against the working directory at open; a symbolic link is followed
     *  then. */
    selene_text path;
    /**
     * The signals that the library's threads block, by their numbers, besides those that are blocked by the thread
     * whose call starts them. NULL (default): those that are sent to a process, for one of the host's threads to
     * handle: HUP INT QUIT PIPE ALRM TERM CHLD CONT TSTP TTIN TTOU VTALRM PROF WINCH IO. The others are delivered:
     * those of faults (SEGV BUS FPE ILL TRAP ABRT SYS), which are refused here, and those with which runtimes stop
     * their threads (USR1, USR2, URG, real-time signals). A host that handles USR1 or USR2 itself lists them, too.
     * Copied.
     */
    const int32_t *blocked_signals;
    /** Number of these signals; 0 with a pointer that is not NULL: none is blocked. @unit entries @range 0 … 64 @zero 0 */
    uint64_t blocked_signal_count;
    /**
     * The name of the application, as "org.example.mail": 1 … 255 bytes of UTF-8. A store keeps the name under which it
     * is first opened; from then on it can be opened under that name, or without one, as tools that only inspect it do;
     * under another name it answers STORE_FOREIGN. Empty (default): none. Copied. Since: 0.2.
     */
    selene_text owner;
    /** How long a run that has reached its task's timeout, and was asked to stop, may still complete. Since: 0.2.
     *  @unit ns @range 0 … 24 h @zero 5 s @none 0 */
    int64_t stop_grace;
    /** How many threads may still be in one handler after the time of their runs has ended. At this number its tasks
     *  become ineligible (SELENE_REASON_HANDLER_STUCK). A run that gave its outcome does not count. Since: 0.2.
     *  @unit count @range 1 … 1024 @zero 16 */
    uint32_t max_overrun_per_handler;
    /** How the library's threads compete with others. Since: 0.2.
     *  @unit SELENE_THREADS_ number @zero SELENE_THREADS_AS_HOST */
    int32_t thread_quality;
    /**
     * Called once on each thread that the library starts for this scheduler, before any other function of the host, so
     * that a runtime attaches the thread once and not for each run. Not called on the thread of a server
     * (selene_server_start). NULL (default): none. Since: 0.2.
     */
    selene_thread_fn thread_begin;
    /**
     * Called once on each such thread, after all other functions of the host, also if its handler overran and it ends
     * long after the scheduler was closed; not if the process ends first, nor in a forked child. selene_scheduler_close
     * waits for it on threads that are in no callback. NULL (default): none. Since: 0.2.
     */
    selene_thread_fn thread_end;
    /** Given to both. Since: 0.2. */
    void *thread_context;
    /** Releases thread_context after the last thread has ended, or when the call fails. Since: 0.2. */
    selene_destroy_fn thread_destroy;
    /** With SELENE_OPTIONS_SET_CLOCK what time it is when the scheduler is opened. Since: 0.2.
     *  @unit instant @range any @zero 0 */
    int64_t clock_start;
    /**
     * How long the runs of expedited tasks (SELENE_TASK_EXPEDITED) may take in 24 h, all together. A run counts from its
     * dispatch on and until 24 h after its end; one that is in flight when the quota is used up goes on. Kept in the
     * store. SELENE_NONE: no task goes before others because it is expedited; SELENE_NEVER: there is no limit. Since: 0.2.
     *
     * @unit ns @range 0 … 24 h, SELENE_NEVER @zero 10 min @none 0
     */
    int64_t expedited_quota;
    /** Bytes of the stack of each of the library's threads, on which the host's handlers run, rounded up to whole pages.
     *  Since: 0.2. @unit bytes @range 64 KiB … 1 GiB @zero 8 MiB, or what the process gives its threads, if that is more */
    uint64_t thread_stack_size;
    /**
     * How many windows, dispatches, changes of groups and changes of handlers selene_task_waits remembers of all tasks
     * together. Of changes of each condition, and of everything else, it remembers a quarter as many, at least 16. What
     * came before is reported as SELENE_REASON_EARLIER. Memory grows as things happen, up to about 250 bytes an entry (1 MiB by
     * default, 16 KiB for 64). Rounded up to a power of two. Since: 0.2.
     *
     * @unit count @range 16 … 65536 @zero 4096
     */
    uint64_t wait_log_entries;
    /** Bytes of output that a run may leave (selene_run_set_output). Since: 0.2. @unit bytes @range 0 … 2^29 @zero 1 MiB @none 0 */
    int64_t max_output_size;
    /** How long a task waits at least after a second run of it ended its process; each further time twice as long, and never
     *  less than its own backoff. The first time it waits for nothing. Since: 0.2.
     *  @unit ns @range 0 … 10 years @zero 30 s @none 0 */
    int64_t crash_pause;
} selene_options;

/* ============================================================================
 *  SCHEDULER
 * ========================================================================= */

/** A scheduler; 0 is none. Slot and generation, never an address. Like all handles and tokens it is below 2^63, so that
 *  it is positive in languages without unsigned integers. */
typedef uint64_t selene_scheduler;

enum {
    /** Short work, seconds. */
    SELENE_KIND_REFRESH = 1,
    /** Long work, minutes. */
    SELENE_KIND_PROCESSING = 2
};

/** What can keep a scheduler from working; bits in selene_scheduler_info, one number in an event. Since: 0.2. */
enum {
    /** The store refused the last commit: STORE_FULL, STORE_IO, or STORE_MOVED and OUTCOME_UNKNOWN, which last until it
     *  is opened again. Ends with the next commit that succeeds. That a file or log was removed, renamed or replaced is
     *  noticed within a second, even if nothing is committed, and so is its return: by calls, by a window that is waited
     *  for, by a driver. */
    SELENE_TROUBLE_STORE = 1,
    /** The system refused to start a thread (EXHAUSTED). Ends with the next one that starts. */
    SELENE_TROUBLE_THREAD = 2,
    /** max_overrun_threads handlers, or other functions of the host on library threads, overran, so that no window can be
     *  opened on library threads (BUSY). Ends when one returns. */
    SELENE_TROUBLE_OVERRUN = 4,
    /** The observer does not keep up: 65 536 events wait for it, and further ones are lost (EXHAUSTED). Ends when half
     *  of them are delivered; the message then says how many were lost, and the numbers of events skip them. */
    SELENE_TROUBLE_OBSERVER = 8,
    /** Runs of a handler have left max_overrun_per_handler threads behind: its tasks are not eligible (BUSY). Told for each
     *  handler; ends when one of its threads returns, and the message is the handler's name then. */
    SELENE_TROUBLE_HANDLER = 16,
    /** The clock has jumped by more than a minute. If the system's clock was set, scheduler time goes on as before and
     *  differs from it until the clock is set right or the scheduler is opened again. If a host's clock went back,
     *  scheduler time stands still until the clock has caught up. No call is refused because of it; the status is
     *  TOO_SOON. Noticed by calls, at most once a second. Since: 0.2. */
    SELENE_TROUBLE_CLOCK = 32,
    /** The database of the fleet does not answer its node, or refuses what it asks (UNAVAILABLE); the message says which, and
     *  what the database said. Nothing is claimed meanwhile; ends with the next answer. Since: 0.2. */
    SELENE_TROUBLE_FLEET = 64,
    /** The clock of the fleet's database was set, or this machine's counts wrongly: since the last beat the two have moved
     *  apart by more than a tenth of the lease. For the length of a lease the node then takes nothing back from nodes that
     *  seem dead. No call is refused because of it; the status is TOO_SOON. Ends when both ran alike from one beat to the
     *  next. Since: 0.2. */
    SELENE_TROUBLE_FLEET_CLOCK = 128
};

/** What a scheduler holds at this moment. Filled by selene_scheduler_get. */
typedef struct selene_scheduler_info {
    uint32_t struct_size;
    uint32_t flags;
    /** SELENE_KIND_ bits that are switched on. */
    uint32_t kinds;
    /** Threads left behind in handlers that overran, and library threads that have been in a stop function, an observer, a
     *  report or a destroy for more than a second. */
    uint32_t overrun_threads;
    /** Records by state; successors that wait are counted as blocked. */
    uint64_t enqueued;
    uint64_t held;
    uint64_t blocked;
    uint64_t running;
    uint64_t succeeded;
    uint64_t failed;
    uint64_t cancelled;
    /** Runs dispatched since the scheduler was opened. */
    uint64_t dispatched;
    /** The number of this life: it grows with each opening of the store; schedulers in memory are numbered
     *  separately. */
    uint64_t life;
    /** SELENE_TROUBLE_ bits of what keeps it from working now. Since: 0.2. */
    uint32_t troubles;
    /** Handlers that are stuck (SELENE_TROUBLE_HANDLER). Since: 0.2. */
    uint32_t stuck_handlers;
    /** What is left of expedited_quota, ns; SELENE_NEVER if there is no limit. Since: 0.2. */
    int64_t expedited_left;
    /** While nothing is left, when something is again if no more is used; SELENE_NEVER if the quota is 0. Else 0.
     *  Since: 0.2. */
    int64_t expedited_free_at;
} selene_scheduler_info;

/**
 * Opens a scheduler.
 *
 * @param options        how; NULL for all defaults
 * @param out_scheduler  the handle
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, EXHAUSTED (4 096 are open), the STORE_ statuses and
 *         OUTCOME_UNKNOWN; the file is then as it was
 *
 * Stored tasks are loaded as they were, even if the options would not accept them now: those over a limit keep
 * their places, those whose ids are no longer permitted are ineligible. Held tasks take free places. Tasks that
 * were running are interrupted (INTERRUPTED): one that was alone has failed an attempt.
 *
 * Ownership: the caller closes the handle with selene_scheduler_close. clock_destroy is called after
 * the last use of the clock, thread_destroy after the last thread has ended, both also when this call fails
 * (unless the struct was too small to hold them).
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_open(const selene_options *options,
                                               selene_scheduler *out_scheduler);

/**
 * Stops dispatching, and waits until nothing runs.
 *
 * Registering, cancelling, conditions and everything else go on; runs in flight complete as always, or their windows
 * end. A begin answers UNAVAILABLE, drivers open no window, selene_task_explain says DRAINED. The scheduler stays
 * drained, also after BUSY, until selene_scheduler_resume or the close: before a backup or an upgrade of the program,
 * drain, then close. With a host clock it does not wait: move the clock and call again.
 *
 * @param grace  ns to wait, 0 … 24 h; 0: does not wait
 * @return OK: nothing runs, and all outcomes are stored. BUSY: runs are in flight or their handlers have not returned;
 *         they go on. INVALID_ARGUMENT, REENTRANT (inside a callback of this scheduler, with a grace), the STORE_
 *         statuses and OUTCOME_UNKNOWN
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_scheduler_drain(selene_scheduler scheduler, int64_t grace);

/**
 * Lets a drained scheduler dispatch again; does nothing if it is not drained.
 *
 * @return UNAVAILABLE: it is being closed
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_scheduler_resume(selene_scheduler scheduler);

/**
 * Closes a scheduler: lets runs complete within a grace period, then stops those that are left.
 *
 * First it drains, as selene_scheduler_drain does: nothing more is dispatched, everything else goes on, and runs that
 * complete within grace count. In the last tenth of grace, at most 10 s before its end, the runs that are left are
 * asked to stop (SHUTDOWN); they may still complete; a run that fails then counts as stopped. A run that is open at
 * the end is over, and its task is enqueued again as it was before the run. As soon as nothing runs, or grace is over,
 * the handle is invalid, and the call waits for the rest of grace for handlers that were left behind and other
 * callbacks on library threads. Those that still run after that keep what they need: a handler's destroy follows its
 * last return, even after close has returned. Cycles that still run are reported.
 *
 * Runs that the calling thread itself has taken from a pulled cycle (if it alone took its runs) or through a lane are
 * not waited for, since nothing would complete them meanwhile; if other threads complete them, drain first. With a host
 * clock no run is waited for.
 *
 * @param scheduler  the handle; 0 does nothing
 * @param grace      ns: 0 … 24 h; 0: runs in flight are over at once
 * @return INVALID_ARGUMENT, REENTRANT (inside any callback of this scheduler), INVALID_HANDLE also if another thread closed
 *         it meanwhile with less grace. The STORE_ statuses and OUTCOME_UNKNOWN: the scheduler is closed, but its last
 *         changes could not be stored
 *
 * Thread: any, not inside a callback. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_close(selene_scheduler scheduler, int64_t grace);

/**
 * Reads scheduler time, which never goes backwards.
 *
 * @param out_now  ns since the Unix epoch
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_now(selene_scheduler scheduler, int64_t *out_now);

/**
 * Sets the clock of a scheduler with SELENE_OPTIONS_SET_CLOCK, and does what is due by then.
 *
 * Time never goes backwards: after an instant earlier than the one before, it stands still until it is passed again.
 *
 * @param now  ns since the Unix epoch
 * @return UNSUPPORTED (the clock is the system's, or a selene_clock_fn)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_clock_set(selene_scheduler scheduler, int64_t now);

enum {
    /** selene_clock_advance also waits for the host: for handlers, except those that wait in selene_run_sleep and those
     *  that were left behind, for the step of a driver that is due, and for a lane that a cycle waits for. Not for a host
     *  whose only thread is the caller. */
    SELENE_ADVANCE_HANDLERS = 1,
    /** selene_clock_advance goes no further than the first instant at which something is due. */
    SELENE_ADVANCE_ONCE = 2,
    /** As SELENE_ADVANCE_HANDLERS, and it waits for runs whose handler has returned without an outcome, as one does that has
     *  started a coroutine: until they have one, are over, or wait in selene_run_sleep. Not for runs that were pulled
     *  (selene_cycle_next), or that another process works on. */
    SELENE_ADVANCE_RUNS = 4
};

/**
 * Moves the clock of a scheduler with SELENE_OPTIONS_SET_CLOCK forward, from one instant at which something is due to the
 * next, up to an instant. At each of them it waits until every thread of the library has done what is due and waits
 * again: when the call returns, nothing more happens until the host calls the library or moves the clock.
 *
 * @param to        ns since the Unix epoch; the present or earlier: the call only waits; SELENE_NEVER: until nothing is
 *                  due, which never comes while a driver runs a periodic task
 * @param flags     0, or a sum of SELENE_ADVANCE_ numbers
 * @param patience  how long the call waits for working threads at each instant, in ns of real time, 0 or more
 * @param out_next  receives when something is due next, SELENE_NEVER if nothing is; or NULL
 * @return UNSUPPORTED (the clock is the system's, or a selene_clock_fn), INVALID_ARGUMENT, REENTRANT (inside a callback),
 *         BUSY (threads were still working, or runs open, after patience; the clock stands at that instant, the message
 *         names the first runs that the call waited for)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_clock_advance(selene_scheduler scheduler, int64_t to,
                                              uint32_t flags, int64_t patience, int64_t *out_next);

/**
 * Counts what the scheduler holds.
 *
 * @param out_info  filled up to its struct_size
 * @return UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_get(selene_scheduler scheduler,
                                              selene_scheduler_info *out_info);

/**
 * Switches kinds on and off; initially all are on.
 *
 * While a kind is off, registering its tasks and beginning its cycles answer UNAVAILABLE. A run in flight
 * goes on.
 *
 * @param kinds  SELENE_KIND_ bits to be on, all others are off; may be 0
 * @return INVALID_ARGUMENT (unknown bits)
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_enable(selene_scheduler scheduler, uint32_t kinds);

/**
 * Pauses kinds of tasks, everywhere or in one pool, until an instant, or resumes them. While a kind is paused none of its
 * tasks begins, whoever asks for it; runs in flight go on.
 *
 * Tasks can be registered as always, and keep their state, place and age; selene_task_explain says KIND_PAUSED. A window
 * may begin, but takes nothing that is paused. Drivers open no window for it; they and selene_scheduler_next_wakeup know
 * when the pause ends. Then a rolling window that is open takes the tasks at once, else the next window that begins. A
 * pause is kept in the store, also by selene_scheduler_reset; one that ended while nobody had the store open is over when
 * it is opened.
 *
 * Each kind has one pause everywhere and one in each pool, whether or not the pool has processes; a later call changes
 * its end. A task waits while either holds.
 *
 * @param kinds   SELENE_KIND_ bits; 0: both, if a pool is named
 * @param pool    the pool whose tasks are meant: those whose handlers its processes offer; empty or NULL: all tasks, also
 *                those of every pool
 * @param until   an instant after now, at most 10 years ahead; SELENE_NEVER: until they are resumed; 0: resumes them now
 * @return INVALID_ARGUMENT, EXHAUSTED (256 pools have a pause), the STORE_ statuses and OUTCOME_UNKNOWN
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_scheduler_pause(selene_scheduler scheduler, uint32_t kinds,
                                                const char *pool, int64_t pool_length,
                                                int64_t until);

/** Kinds that are paused until the same instant. Since: 0.2. */
typedef struct selene_pause {
    /** The pool whose tasks are held back; empty: all tasks. */
    selene_text pool;
    /** SELENE_KIND_ bits. */
    uint32_t kinds;
    uint32_t reserved;
    /** When it ends; SELENE_NEVER: when it is resumed. */
    int64_t until;
} selene_pause;

/** What is paused. Made by selene_pause_list. Since: 0.2. */
typedef struct selene_pauses {
    uint32_t struct_size;
    uint32_t flags;
    const selene_pause *pauses;
    uint64_t count;
} selene_pauses;

/**
 * Lists what selene_scheduler_pause holds back: first everywhere, then by pool, in the order of the bytes of their names.
 *
 * @param out_pauses  what is paused; none: a list of 0
 *
 * Ownership: the caller frees it with selene_free. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_pause_list(selene_scheduler scheduler, selene_pauses **out_pauses);

/**
 * Says when it is worth opening the next window.
 *
 * The earliest instant at which a task that waits for nothing but time may run: earliest begin, or the
 * kind's last begin + minimum interval where that is later. A due standing task wants a window at its
 * kind's last begin + minimum interval, or + 15 min if none is set; now if there was no cycle yet. Kinds
 * that are in a cycle or switched off do not count; a pulled cycle past its deadline, which the next begin
 * ends, keeps no kind. A change of conditions is a wake-up of its own. While a begin would be refused because no
 * thread is free (BUSY) the kinds whose last window called handlers do not count either, and after a refusal by the store or by
 * the system (EXHAUSTED) it is at the earliest a second later, so that a loop around this call never spins.
 *
 * To see whether a window is due now, compare out_delay with 0: out_at is never earlier than the now of this call, and
 * so always later than one that was read before.
 *
 * @param out_at     the instant, at least now; SELENE_NEVER if there is none. May be NULL
 * @param out_delay  ns from now; 0: now; SELENE_NEVER if there is none. May be NULL
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_next_wakeup(selene_scheduler scheduler, int64_t *out_at,
                                                      int64_t *out_delay);

/**
 * Removes all terminal records (succeeded, failed, cancelled) now instead of after 24 h.
 *
 * @param out_count  how many; may be NULL
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_prune(selene_scheduler scheduler, uint64_t *out_count);

/**
 * Removes all tasks and all history; keeps handlers, options, switches and conditions.
 *
 * @return BUSY (a cycle is open), REENTRANT
 *
 * Thread: any, not inside a callback. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_reset(selene_scheduler scheduler);

/* ============================================================================
 *  HANDLER
 * ========================================================================= */

/** One dispatch of one task; 0 is none. Never an address, never issued twice. */
typedef uint64_t selene_run;

struct selene_run_info;

/**
 * Runs a task. It returns nothing: the outcome is given by selene_run_complete, from any thread, before or after
 * this function returns. Returning without it means "still working": the lane stays taken until the outcome
 * is given or the window ends. Always give an outcome, also after a stop: until then (or release_after)
 * the task's id stays taken.
 *
 * info and what it points to live until this function returns.
 */
typedef void (*selene_run_fn)(selene_run run, const struct selene_run_info *info, void *context);

/**
 * Asks a run to stop, at most once a run; reason is a SELENE_STOP_ number.
 *
 * After EXPIRING and LEASE_LOST the run may still complete until the deadline, after TIMED_OUT and STALLED for
 * stop_grace, after SHUTDOWN within the grace of a close. With every other reason it is over already.
 * Called on whatever thread noticed, also while the run function is working on another one.
 */
typedef void (*selene_stop_fn)(selene_run run, int32_t reason, void *context);

/**
 * Registers a handler under a name.
 *
 * Tasks may be registered before or after. The name of an unregistered handler is free again after its last run.
 *
 * @param name         1 to 255 bytes of UTF-8
 * @param name_length  its bytes; −1: NUL-terminated
 * @param run          runs a task; NULL: its tasks are for pulled cycles only
 * @param stop         asks a run to stop, with run = NULL also a pulled one; may be NULL (selene_run_stopping says it too)
 * @param context      given to both
 * @param destroy      releases context after the last use; also when this call fails
 * @return INVALID_ARGUMENT, ALREADY_EXISTS
 *
 * Ownership: context stays the host's until destroy. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_handler_register(selene_scheduler scheduler, const char *name,
                                                 int64_t name_length, selene_run_fn run,
                                                 selene_stop_fn stop, void *context,
                                                 selene_destroy_fn destroy);

/**
 * Unregisters a handler; its tasks stay, ineligible from now on. Runs in flight go on.
 *
 * @return INVALID_ARGUMENT, NOT_FOUND
 *
 * Thread: any, also inside the handler itself. Since: 0.1.
 */
SELENE_API selene_status selene_handler_unregister(selene_scheduler scheduler, const char *name,
                                                   int64_t name_length);

/* ============================================================================
 *  TASK
 * ========================================================================= */

enum {
    /** By period: periodic with one, else once. */
    SELENE_SCHEDULE_DEFAULT = 0,
    /** Until it succeeds, is abandoned, or its attempts are used up. */
    SELENE_SCHEDULE_ONCE = 1,
    /** Once a period. */
    SELENE_SCHEDULE_PERIODIC = 2,
    /** A candidate in every window, for ever. */
    SELENE_SCHEDULE_STANDING = 3
};

enum {
    SELENE_PRIORITY_VERY_LOW = 1,
    SELENE_PRIORITY_LOW = 2,
    SELENE_PRIORITY_NORMAL = 3,
    SELENE_PRIORITY_HIGH = 4,
    SELENE_PRIORITY_VERY_HIGH = 5
};

/**
 * Conditions of the system that a task may require; bits. They are derived from the governor's signals: the value that
 * the host sets with selene_signal_set, else the system's reading, else the value that an unknown signal counts as. A
 * machine that cannot tell keeps no task waiting: a constraint is satisfied while nothing is known about it
 * (unknown_constraints of selene_explanation). Only what a task requires is read, and the governor need not be in use.
 */
enum {
    /** A network is reachable (NETWORK). */
    SELENE_CONSTRAINT_NETWORK = 1,
    /** The machine is on external power (EXTERNAL_POWER). */
    SELENE_CONSTRAINT_EXTERNAL_POWER = 2,
    /** A network is reachable and does not cost by volume (NETWORK, METERED, which only a host knows). Since: 0.2. */
    SELENE_CONSTRAINT_UNMETERED = 4,
    /** No battery is being emptied, or 20 % or more of it is left (DISCHARGING, BATTERY_LEVEL). Since: 0.2. */
    SELENE_CONSTRAINT_BATTERY_NOT_LOW = 8,
    /** No user is active (USER_ACTIVE). On Linux: no terminal was used in the last 5 minutes; of a graphical session the
     *  system tells nothing, so the host sets the signal. Since: 0.2. */
    SELENE_CONSTRAINT_IDLE = 16,
    /** 5 % or more of the file system that holds the store is free (STORAGE_FREE). Since: 0.2. */
    SELENE_CONSTRAINT_STORAGE_NOT_LOW = 32,
    /** No display is on (DISPLAY_ON). Since: 0.2. */
    SELENE_CONSTRAINT_DISPLAY_OFF = 64,
    /** A network is reachable and is not roaming (NETWORK, ROAMING, which only a host knows). Since: 0.2. */
    SELENE_CONSTRAINT_NOT_ROAMING = 128
};

/**
 * What registering does when a live (not yet terminal) record has the id.
 *
 * A program that registers its tasks each time it starts wants UPDATE, which is the default of periodic and standing tasks:
 * the task takes the program's definition and keeps its history, and nothing runs at once (a changed period counts from the
 * last run). With KEEP, which is the default of once tasks, a changed definition is ignored. Tasks that the program no
 * longer has stay in the store: list and cancel them. A program that registers a graph of once tasks each time it starts (selene_task.after)
 * should use SKIP for them, so that what has succeeded does not run again.
 *
 * A record that has ended is replaced by any policy but SKIP, unless a task that is not over comes after it: then
 * registering its id again is refused (ALREADY_EXISTS, with the name of that task), since its output would be lost.
 */
enum {
    /** By schedule: keep for once tasks, update for the others. */
    SELENE_EXISTING_DEFAULT = 0,
    /** The old record stays exactly as it is. */
    SELENE_EXISTING_KEEP = 1,
    /** The old one and all waiting behind it are cancelled (a run in flight is stopped); a new one starts. */
    SELENE_EXISTING_REPLACE = 2,
    /** The definition is replaced, history is kept. Kind and schedule may not change. A run in flight keeps
     *  its own copy. The earliest begin is computed from the new definition and the last run, unless the task is
     *  backing off, or is a standing one that has run. */
    SELENE_EXISTING_UPDATE = 3,
    /** Waits until the one before it succeeds; if that fails or is cancelled, so is this. Once tasks only. */
    SELENE_EXISTING_APPEND = 4,
    /** The same, but starts also after a failure. */
    SELENE_EXISTING_APPEND_OR_REPLACE = 5,
    /** As KEEP; also what has succeeded stays as it is while its record is there, and what has ended while a task
     *  that comes after it needs it: the disposition is then KEPT. Since: 0.2. */
    SELENE_EXISTING_SKIP = 6
};

/** How a periodic task's next period is counted. */
enum {
    /** From the completion of the run. */
    SELENE_RECURRENCE_AFTER_COMPLETION = 0,
    /** On the grid of the first earliest begin; missed periods are skipped. */
    SELENE_RECURRENCE_ANCHORED = 1,
    /**
     * Set by the host, for example by a calendar, with selene_task_set_next after registering and at each dispatch.
     * That instant is when the next period begins; a failed run is retried after its backoff, at that instant at the
     * latest, and the task of a stopped run is due again at once. If none was set, the next run comes after the period. Since: 0.2.
     */
    SELENE_RECURRENCE_CALENDAR = 2
};

/** How the delay before a retry grows with the attempt n, from backoff_delay d. */
enum {
    /** By schedule: none for standing, exponential for the others. */
    SELENE_BACKOFF_DEFAULT = 0,
    /** 0. */
    SELENE_BACKOFF_NONE = 1,
    /** d * n. */
    SELENE_BACKOFF_LINEAR = 2,
    /** d * 2^(n-1). */
    SELENE_BACKOFF_EXPONENTIAL = 3
};

/** What registering did. */
enum {
    /** A new record. */
    SELENE_DISPOSITION_ADDED = 0,
    /** A new record in place of a live one. */
    SELENE_DISPOSITION_REPLACED = 1,
    /** A new definition for the live record. */
    SELENE_DISPOSITION_UPDATED = 2,
    /** Nothing. */
    SELENE_DISPOSITION_KEPT = 3,
    /** A successor that waits. */
    SELENE_DISPOSITION_APPENDED = 4,
    /** A new record that waits for a free place (SELENE_OPTIONS_HOLD). */
    SELENE_DISPOSITION_HELD = 5
};

enum {
    SELENE_STATE_ENQUEUED = 0,
    /** Accepted beyond the limit; takes the next free place, higher priority first, then older first. */
    SELENE_STATE_HELD = 1,
    /** Waits for the task before it. */
    SELENE_STATE_BLOCKED = 2,
    SELENE_STATE_RUNNING = 3,
    /** Terminal, as the next two. */
    SELENE_STATE_SUCCEEDED = 4,
    SELENE_STATE_FAILED = 5,
    SELENE_STATE_CANCELLED = 6
};

/** Response times kept of each task. */
#define SELENE_RESPONSE_TIMES 30

enum {
    /**
     * The freshness rule does not learn from its outcomes: for work whose every run counts (uploads, clean-ups), and for
     * hosts that cannot tell whether a run found something new. Since: 0.2.
     */
    SELENE_TASK_STEADY = 1,
    /** It starts when all tasks that it comes after have ended, whatever their outcomes. Since: 0.2. */
    SELENE_TASK_AFTER_ANY_END = 2,
    /**
     * Important now: while some of the scheduler's expedited_quota is left, it is picked before all others of its kind
     * except those near their latest_begin (higher priority first, then the one registered first), and may have a
     * window before the minimum interval of its kind has passed; such a window runs expedited tasks only, and does not
     * count for the interval. While the quota is used up it is an ordinary task. Once tasks only. Since: 0.2.
     */
    SELENE_TASK_EXPEDITED = 4,
    /** With SELENE_TASK_EXPEDITED: registering it while the quota is used up answers OUT_OF_QUOTA. A task that was
     *  accepted, or that waits for others, then waits as an ordinary one. Since: 0.2. */
    SELENE_TASK_REFUSE_OUT_OF_QUOTA = 8
};

/** What a task is. id is required. */
typedef struct selene_task {
    uint32_t struct_size;
    /** Switches. @unit SELENE_TASK_ bits @zero none */
    uint32_t flags;
    /** Required. */
    selene_text id;
    /** Name of the handler; empty (default): the id. */
    selene_text handler;
    /** How long its work takes: seconds or minutes. @unit SELENE_KIND_ number @zero SELENE_KIND_REFRESH */
    int32_t kind;
    /** How often it runs. @unit SELENE_SCHEDULE_ number @zero periodic with a period, else once */
    int32_t schedule;
    /** Greater goes before. @unit SELENE_PRIORITY_ number @zero 3 */
    int32_t priority;
    /** What becomes of a live task of its id. @unit SELENE_EXISTING_ number @zero keep of a once task, else update */
    int32_t existing;
    /** How its periods are counted. @unit SELENE_RECURRENCE_ number @zero after completion */
    int32_t recurrence;
    /** How its retries are delayed. @unit SELENE_BACKOFF_ number @zero none of a standing task, else exponential */
    int32_t backoff;
    /** The estimate is the mean of this many of the last response times. SELENE_NONE: it is always expected_response.
     *  @unit count @range 0 … 30 @zero 3 @none 0 */
    int32_t response_window;
    /** Attempts of a once or periodic task until it has failed. @unit count @range any @zero no limit */
    uint32_t max_attempts;
    /** What it needs to run. @unit SELENE_CONSTRAINT_ bits @zero none */
    uint32_t constraints;
    /** Number of the tags. @unit entries @range 0 … 16 @zero 0 */
    uint32_t tag_count;
    /** The tags; repeated ones count once. Copied. */
    const selene_text *tags;
    /** Response time expected while none is known. 0, not known: the mean of the last response_window response times of its
     *  handler's runs, of whatever task, when it is registered, updated or started as a successor; while its handler has none,
     *  or if response_window is SELENE_NONE, nobody knows it: then 5 s are planned for it, and it fits into what is left of a
     *  window, however little, unless the fit is strict. @unit ns @range 0 … 24 h @zero not known @none 0 */
    int64_t expected_response;
    /** From registration to the earliest begin. @unit ns @range 0 … 10 years @zero 0 */
    int64_t initial_delay;
    /** From period to period. @unit ns @when periodic, which require it @range 1 ms … 10 years @zero none */
    int64_t period;
    /** The first run comes only in the last flex of the first period; 0: it may come at once.
     *  @unit ns @when periodic @range 0 … period @zero 0 */
    int64_t flex;
    /** First delay before a retry; clamped into the scheduler's backoff bounds. @unit ns @range 0 … @zero 30 s @none 0 */
    int64_t backoff_delay;
    /** Bytes handed to each run; default none. Copied. */
    const void *input;
    /** Number of these bytes; at most the scheduler's max_input_size. @unit bytes @range 0 … max_input_size @zero 0 */
    int64_t input_length;
    /** From its dispatch, after which a run is asked to stop (SELENE_STOP_TIMED_OUT). It may still complete for the
     *  scheduler's stop_grace, never past the deadline of its window; then it is over, expired, which counts as failed, and
     *  its lane goes to the next task. Since: 0.2. @unit ns @range 0 … 24 h @zero none */
    int64_t timeout;
    /** Without a call of selene_run_progress, or from dispatch to the first, after which a run is asked to stop
     *  (SELENE_STOP_STALLED); what follows is as for timeout, and the earlier of both asks. Since: 0.2.
     *  @unit ns @range 0 … 24 h @zero none */
    int64_t stall_limit;
    /** Lengthens its initial delay and each of its periods by a random part of at most this many per mille, so that a
     *  fleet does not wake all at once. The first begin stays within flex, and anchored periods keep their grid: each
     *  begin comes later than its place on it, but before the next. Whole microseconds, drawn anew for each period from
     *  the scheduler's seed; an update that changes neither delay, period, flex, recurrence nor jitter draws none.
     *  Since: 0.2. @unit per mille @range 0 … 1000 @zero 0 */
    uint32_t jitter;
    /** Number of the ids in after. Since: 0.2. @unit entries @when once @range 0 … 16 @zero 0 */
    uint32_t after_count;
    /** The group that it is in (selene_group_set_limit); empty (default): none. At most 255 bytes, as an id. Since: 0.2. */
    selene_text group;
    /** Ids of the tasks that it comes after: registered once tasks (so no cycle is possible), each with the length in
     *  bytes (−1: NUL-terminated); duplicates count once. For once tasks only, and not with append. It
     *  waits (SELENE_STATE_BLOCKED, without a place of its kind's limit) until all of them have succeeded, then starts
     *  as if registered at that moment, in the next free place. If one of them fails, it fails; if one is cancelled or
     *  replaced, it is cancelled, and so is what comes after it. Tasks that have already ended when it is registered
     *  count the same. Their records are kept until it is over, so its handler can read what they left
     *  (selene_task_get_output). Default: none. Copied. Since: 0.2. */
    const selene_text *after;
    /** From registration (of a successor, and of what comes after others: from its start) to its latest begin. In the last
     *  tenth of the time in which it may begin, at most 15 min, it is picked before all others of its kind, the earliest
     *  latest begin first. A task that still waits when the instant has passed, for whatever reason, or that could be retried
     *  only after it, has failed (SELENE_STOP_TOO_LATE); a run in flight goes on. More than initial_delay. Since: 0.2.
     *  @unit ns @when once @range initial_delay … 10 years @zero none */
    int64_t latest_begin;
    /** Names of conditions of the host (selene_condition_define) that must be satisfied, each with the length in bytes
     *  (−1: NUL-terminated), at most 255 bytes, as an id; duplicates count once. There may be 32 different ones in a
     *  scheduler. A condition that is not defined, or that the host has not set, is not satisfied. A run that loses one
     *  is stopped (SELENE_STOP_CONSTRAINT_LOST). Default: none. Copied. Since: 0.2. */
    const selene_text *conditions;
    /** Number of the names in conditions. Since: 0.2. @unit entries @range 0 … 32 @zero 0 */
    uint32_t condition_count;
    /** 0. */
    uint32_t reserved;
} selene_task;

/** Whether a task may have ended a process that ran it; the next outcome clears it. */
enum {
    /** It was in flight beside others when its process ended: that cost it no attempt, and of such tasks one runs at a time
     *  in a process. Since: 0.2. */
    SELENE_SUSPICION_QUARANTINED = 1,
    /** It was in flight when its process ended, alone or while it was quarantined, which was a failed attempt: it runs
     *  alone. Since: 0.2. */
    SELENE_SUSPICION_BLAMED = 2
};

/** A task's record: definition, state and history. Made by selene_task_get. */
typedef struct selene_task_info {
    uint32_t struct_size;
    uint32_t flags;
    selene_text id;
    selene_text handler;
    /** The input's bytes. */
    selene_text input;
    const selene_text *tags;
    uint32_t tag_count;
    uint32_t constraints;
    int32_t kind;
    int32_t schedule;
    int32_t priority;
    int32_t existing;
    int32_t recurrence;
    int32_t backoff;
    int32_t response_window;
    uint32_t max_attempts;
    /** 1 if its handler is registered, else 0. */
    int32_t has_handler;
    /** A SELENE_STATE_ number. */
    int32_t state;
    /** Attempts since the last success or period. */
    uint32_t attempts;
    /** SELENE_OUTCOME_ number of the last run; −1 if there was none. */
    int32_t last_outcome;
    /** SELENE_STOP_ number if the last run was stopped, expired, or ended with its process; SELENE_STOP_TOO_LATE of a task that
     *  was; else 0, also where a run was asked to stop and completed: failure then tells why it failed. */
    int32_t stop_reason;
    /** How often the definition was updated. */
    uint32_t generation;
    /** The number of the record; later ones are greater. */
    uint64_t sequence;
    /** Successors that wait behind it. */
    uint64_t appended;
    /** −1: not said. */
    int64_t expected_response;
    int64_t initial_delay;
    int64_t period;
    int64_t flex;
    /** The effective one, after clamping. */
    int64_t backoff_delay;
    int64_t registered_at;
    int64_t earliest_begin;
    /** The first earliest begin, without jitter: the grid of an anchored period begins here. */
    int64_t anchor;
    /** The instant its score's age counts from. */
    int64_t last_run;
    /** What a run is expected to take now. */
    int64_t estimate;
    /** The run in flight, or 0. */
    selene_run run;
    /** How many of the last response times are known, at most 30. */
    uint64_t response_time_count;
    /** The last response times in ns, oldest first. */
    int64_t response_times[SELENE_RESPONSE_TIMES];
    /** When a run last failed (FAILED, ABANDONED or EXPIRED, or its process ended) and none has succeeded since; else 0.
     *  Since: 0.2. */
    int64_t failed_at;
    /** Which attempt that was, from 1; 0 if there was none, also where it failed with a task that it comes after.
     *  Since: 0.2. */
    uint64_t failed_attempt;
    /** Why, in the words of selene_run_fail; "the window ended", "timed out", "made no progress" or "the process ended"
     *  where the run could not say it, or was asked to stop and failed without a word; else empty. Since: 0.2. */
    selene_text failure;
    /** 0: none. Since: 0.2. */
    int64_t timeout;
    /** 1 if the host has paused it (selene_task_pause), else 0. Since: 0.2. */
    uint32_t paused;
    /** Per mille; 0: none. Since: 0.2. */
    uint32_t jitter;
    /** 0: none. Since: 0.2. */
    int64_t stall_limit;
    /** When the run in flight last called selene_run_progress, and what it said then; 0 and empty where it has not, and
     *  where none is in flight. Since: 0.2. */
    int64_t progress_at;
    int64_t progress_done;
    int64_t progress_total;
    selene_text progress_text;
    /** How many bytes its last success left (selene_task_get_output); 0: none. Since: 0.2. */
    uint64_t output_length;
    /** The group that it is in, or empty. Since: 0.2. */
    selene_text group;
    /** Number of the ids in after. Since: 0.2. */
    uint32_t after_count;
    /** Which of them it still waits for: bit i for after[i]. Since: 0.2. */
    uint32_t waits_for;
    /** The ids of the tasks that it comes after. Since: 0.2. */
    const selene_text *after;
    /** ns from registered_at; 0: none. Since: 0.2. */
    int64_t latest_begin;
    /** The conditions of the host that it asks for, in the order of their bytes. Since: 0.2. */
    const selene_text *conditions;
    /** Number of the names in conditions. Since: 0.2. */
    uint32_t condition_count;
    /** 0, or a SELENE_SUSPICION_ number: whether it may have ended a process that ran it. Since: 0.2. */
    uint32_t quarantined;
    /** How many bytes its last success left, more than are kept (max_output_size), so that it has no output; else 0.
     *  Since: 0.2. */
    uint64_t output_lost;
} selene_task_info;

/** What the last success of a task left. Made by selene_task_get_output. */
typedef struct selene_task_output {
    uint32_t struct_size;
    uint32_t flags;
    /** The bytes, which need not be text, followed by a NUL that is not counted. */
    selene_text output;
} selene_task_output;

/** The ids of some tasks, or the names of groups or conditions. Made by selene_task_list, selene_task_list_state,
 *  selene_group_list, selene_condition_list and selene_condition_missing. */
typedef struct selene_task_ids {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t count;
    const selene_text *ids;
} selene_task_ids;

/**
 * Registers a task.
 *
 * Checks come in this order: arguments, permitted id, kind switched on, existing policy, limits.
 *
 * @param task             what it is; copied
 * @param out_disposition  a SELENE_DISPOSITION_ number; may be NULL
 * @return INVALID_ARGUMENT (a field out of range; append without a once task of the same kind; update of kind, schedule
 *         or after; after a task that is not a once task), UNSUPPORTED_STRUCT, TOO_LARGE, NOT_PERMITTED, UNAVAILABLE,
 *         NOT_FOUND (after a task that is not registered), TOO_MANY_PENDING
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_task_register(selene_scheduler scheduler, const selene_task *task,
                                              int32_t *out_disposition);

/**
 * Registers many tasks in one commit.
 *
 * Each is checked as by selene_task_register; one that is refused does not prevent the others.
 *
 * @param tasks            count pointers to what they are; copied
 * @param count            how many: up to 1 000 000
 * @param out_statuses     count statuses, one for each; may be NULL
 * @param out_dispositions count SELENE_DISPOSITION_ numbers, untouched where refused; may be NULL
 * @return INVALID_ARGUMENT, the STORE_ statuses and OUTCOME_UNKNOWN: then nothing was registered. OK also when
 *         tasks were refused; the message is that of the last one refused
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_task_register_batch(selene_scheduler scheduler,
                                                    const selene_task *const *tasks, uint64_t count,
                                                    selene_status *out_statuses,
                                                    int32_t *out_dispositions);

/**
 * Cancels a task, all that wait behind it, and what comes after it; a run in flight is stopped (CANCELLED).
 *
 * @param out_count  how many records became cancelled; 0 for a terminal one. May be NULL
 * @return INVALID_ARGUMENT, NOT_FOUND
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_task_cancel(selene_scheduler scheduler, const char *id,
                                            int64_t id_length, uint64_t *out_count);

/**
 * Cancels every live task with the tag, waiting ones included, and what waits behind them.
 *
 * @param out_count  how many records became cancelled; 0 if no task has the tag. May be NULL
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_task_cancel_tag(selene_scheduler scheduler, const char *tag,
                                                int64_t tag_length, uint64_t *out_count);

/**
 * Cancels every live task.
 *
 * @param out_count  how many records became cancelled; may be NULL
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_task_cancel_all(selene_scheduler scheduler, uint64_t *out_count);

/**
 * Enqueues a failed task again at once: the same definition, no attempts, and the response times and the failure of
 * before. Its record keeps its sequence, so tasks that come after it still do. It waits again for those of the tasks that
 * it comes after which have not succeeded, also for one that has failed, until that is retried, too; their outputs are
 * kept for it. With SELENE_TASK_AFTER_ANY_END it waits for those that are not over.
 *
 * @return INVALID_ARGUMENT (the task is not in the state FAILED, or it comes after one that was cancelled, or after one
 *         that waits for it), NOT_FOUND, NOT_PERMITTED, UNAVAILABLE, TOO_MANY_PENDING
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_retry(selene_scheduler scheduler, const char *id,
                                           int64_t id_length);

/**
 * Enqueues a failed task again, and all tasks that failed because it did, or because one of those did.
 *
 * Of the others, those that selene_task_retry would refuse stay failed and are not counted.
 *
 * @param out_count  how many tasks were enqueued again; may be NULL
 * @return as selene_task_retry, for the task itself
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_retry_successors(selene_scheduler scheduler, const char *id,
                                                      int64_t id_length, uint64_t *out_count);

/** Flags of selene_task_retry_all. */
enum {
    /** Also all tasks that failed because one of the selected did, or because one of those did. Since: 0.2. */
    SELENE_RETRY_SUCCESSORS = 1
};

/**
 * Enqueues all failed tasks again, or those that carry a tag, in the order in which they were registered.
 *
 * Those that selene_task_retry would refuse stay failed and are not counted.
 *
 * @param tag        NULL: all failed tasks
 * @param flags      0 or SELENE_RETRY_SUCCESSORS
 * @param out_count  how many tasks were enqueued again; may be NULL
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_retry_all(selene_scheduler scheduler, const char *tag,
                                               int64_t tag_length, uint32_t flags,
                                               uint64_t *out_count);

/**
 * Sets when a live task is due next, in place of the computed instant: the calendar of a host.
 *
 * While the task waits, this replaces its earliest begin, including an initial delay or a backoff; its anchor stays.
 * While it runs, it applies after the run, whatever its outcome, unless a once task has ended with it. It applies once:
 * after the run that begins then, the next instant is computed, or set again. It is kept in the store and by updates.
 * With SELENE_RECURRENCE_CALENDAR it is the next period's begin, before which retries may come.
 *
 * @param next  ns since the Unix epoch, of the scheduler's clock: 0 … now + 10 years; in the past: at once
 * @return INVALID_ARGUMENT (also: the task is over), NOT_FOUND
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_set_next(selene_scheduler scheduler, const char *id,
                                              int64_t id_length, int64_t next);

/**
 * Pauses a task and all that wait behind it: they stay as they are, and none begins until selene_task_resume. A run in
 * flight goes on. It is kept in the store, and by updates; a task that is replaced, retried or appended is not paused.
 *
 * @param out_count  how many records became paused; 0 if they already were, and for a terminal one. May be NULL
 * @return INVALID_ARGUMENT, NOT_FOUND
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_pause(selene_scheduler scheduler, const char *id,
                                           int64_t id_length, uint64_t *out_count);

/**
 * Pauses every live task that has the tag now, including waiting ones, but not tasks that are registered with it later.
 *
 * @param out_count  how many records became paused; may be NULL
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_pause_tag(selene_scheduler scheduler, const char *tag,
                                               int64_t tag_length, uint64_t *out_count);

/**
 * Lets a paused task go on in the state that it has, and all that wait behind it; its age has grown meanwhile.
 *
 * @param out_count  how many records were paused; may be NULL
 * @return INVALID_ARGUMENT, NOT_FOUND
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_resume(selene_scheduler scheduler, const char *id,
                                            int64_t id_length, uint64_t *out_count);

/**
 * Lets every paused task with the tag go on, whether it was paused by its id or by a tag.
 *
 * @param out_count  how many records were paused; may be NULL
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_resume_tag(selene_scheduler scheduler, const char *tag,
                                                int64_t tag_length, uint64_t *out_count);

/**
 * Reads a task's record: the live one, or else the last.
 *
 * @param position  0: the record itself; 1 …: the successors that wait behind it, in order
 * @param out_info  the record
 * @return INVALID_ARGUMENT, NOT_FOUND (no such task, or no such position)
 *
 * Ownership: the caller frees the record, with its texts, with selene_free.
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_task_get(selene_scheduler scheduler, const char *id,
                                         int64_t id_length, uint64_t position,
                                         selene_task_info **out_info);

/**
 * Reads what the last success of a task left (selene_run_set_output).
 *
 * A once task keeps it until its record is removed (selene_scheduler_prune, or 24 h after its end), a periodic or
 * standing one until its next success, which replaces it even if that leaves none. A successor (SELENE_EXISTING_APPEND)
 * has the output of the task before it until it succeeds itself, so its handler can read it under its own id. A
 * replacement, or a new record in place of an ended one, has none.
 *
 * @param out_output  the bytes; none if nothing was left
 * @return INVALID_ARGUMENT, NOT_FOUND
 *
 * Ownership: the caller frees it with selene_free. Thread: any, in a handler too. Since: 0.2.
 */
SELENE_API selene_status selene_task_get_output(selene_scheduler scheduler, const char *id,
                                                int64_t id_length, selene_task_output **out_output);

/**
 * Lists the ids of all tasks, or of those with a tag, in order of registration.
 *
 * @param tag         only tasks that have it; NULL with length 0: all
 * @param tag_length  its bytes; −1: NUL-terminated
 * @param out_ids     the ids
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller frees the list with selene_free. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_task_list(selene_scheduler scheduler, const char *tag,
                                          int64_t tag_length, selene_task_ids **out_ids);

/**
 * Lists the ids of the tasks in a state, for example of those that failed, in order of registration.
 *
 * @param state    a SELENE_STATE_ number; for BLOCKED the id of each successor that waits
 * @param out_ids  the ids
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller frees the list with selene_free. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_list_state(selene_scheduler scheduler, int32_t state,
                                                selene_task_ids **out_ids);

/** Why a task does not run now. */
enum {
    /** Its earliest begin has not come. */
    SELENE_REASON_NOT_DUE = 1,
    /** A constraint is not satisfied; constraints says which. */
    SELENE_REASON_CONSTRAINTS = 2,
    /** No handler has that name; or the last cycle of its kind called handlers, and this one has no function. */
    SELENE_REASON_NO_HANDLER = 3,
    /** It is held until a place is free. */
    SELENE_REASON_HELD = 4,
    /** It waits for the task before it. */
    SELENE_REASON_BLOCKED = 5,
    /** It is running. */
    SELENE_REASON_RUNNING = 6,
    /** Its kind is switched off. */
    SELENE_REASON_KIND_OFF = 7,
    /** It was eligible in the last cycle of its kind, and its estimate did not fit. */
    SELENE_REASON_DID_NOT_FIT = 8,
    /** An earlier run of this id is over but has not returned. */
    SELENE_REASON_STILL_RUNNING = 9,
    /** It has succeeded, failed or been cancelled. */
    SELENE_REASON_TERMINAL = 10,
    /** Its id is not among the permitted ones. */
    SELENE_REASON_NOT_PERMITTED = 11,
    /** It had its run in the cycle that is open. */
    SELENE_REASON_HAD_ITS_RUN = 12,
    /** The minimum interval of its kind has not passed. */
    SELENE_REASON_TOO_SOON = 13,
    /** A cycle of its kind is open and was begun before the task could run. */
    SELENE_REASON_NEXT_CYCLE = 14,
    /** Its last run was interrupted by the end of its process, and its backoff has not passed. */
    SELENE_REASON_INTERRUPTED = 15,
    /** The governor refused its kind the last time it was asked; selene_governor_last says why. */
    SELENE_REASON_GOVERNOR = 16,
    /** The store refused the last commit (SELENE_TROUBLE_STORE). Since: 0.2. */
    SELENE_REASON_STORE_REFUSES = 17,
    /** No library thread is available for a window (SELENE_TROUBLE_OVERRUN or _THREAD). Since: 0.2. */
    SELENE_REASON_NO_THREAD = 18,
    /** Its handler's runs have left too many threads behind, and none has come back (SELENE_TROUBLE_HANDLER).
     *  Since: 0.2. */
    SELENE_REASON_HANDLER_STUCK = 19,
    /** The scheduler was drained (selene_scheduler_drain). Since: 0.2. */
    SELENE_REASON_DRAINED = 20,
    /** It waits for a time while the clock has jumped (SELENE_TROUBLE_CLOCK). Since: 0.2. */
    SELENE_REASON_CLOCK = 21,
    /** The host has paused it (selene_task_pause). Since: 0.2. */
    SELENE_REASON_PAUSED = 22,
    /** The host has paused its group (selene_group_pause). Since: 0.2. */
    SELENE_REASON_GROUP_PAUSED = 23,
    /** As many runs of its group as may are under way (selene_group_set_limit). Since: 0.2. */
    SELENE_REASON_GROUP_FULL = 24,
    /** It is expedited, but the quota is used up: it waits as an ordinary one (expedited_quota). Since: 0.2. */
    SELENE_REASON_OUT_OF_QUOTA = 25,
    /** A condition of the host is not satisfied; selene_condition_missing says which. Since: 0.2. */
    SELENE_REASON_CONDITIONS = 26,
    /** It belongs to a fleet whose database does not answer, or refuses its node's requests (SELENE_TROUBLE_FLEET): the
     *  outcome of its run cannot be reported, and when the lease can no longer be relied on the run is asked to stop.
     *  Since: 0.2. */
    SELENE_REASON_FLEET_AWAY = 27,
    /** The host has paused its kind, everywhere or in the pool that runs it (selene_scheduler_pause). Since: 0.2. */
    SELENE_REASON_KIND_PAUSED = 28,
    /** It may have ended a process, or another task that runs or is next may: of such tasks one runs at a time in a process,
     *  and one that is to blame runs alone there (selene_task_info.quarantined). Since: 0.2. */
    SELENE_REASON_QUARANTINED = 29,

    /* Only selene_task_waits gives these. */

    /** It has failed and is not due again yet. Since: 0.2. */
    SELENE_REASON_BACKING_OFF = 64,
    /** It could run, and no window of its kind was open. Since: 0.2. */
    SELENE_REASON_NO_WINDOW = 65,
    /** A window was open that it fitted, and nothing was taken from it. Since: 0.2. */
    SELENE_REASON_WINDOW_OPEN = 66,
    /** A window was open that it fitted, and others were dispatched. Since: 0.2. */
    SELENE_REASON_PREFERRED_OTHERS = 67,
    /** No process had the store open. Since: 0.2. */
    SELENE_REASON_NO_PROCESS = 68,
    /** Not known: a process had the store open and was killed, or had not yet told the store. Since: 0.2. */
    SELENE_REASON_NOT_KNOWN = 69,
    /** Too long ago, or too much has happened since, to be kept. Since: 0.2. */
    SELENE_REASON_EARLIER = 70
};

/** One reason of an explanation. */
typedef struct selene_reason {
    /** A SELENE_REASON_ number. */
    int32_t reason;
    /** For CONSTRAINTS: the SELENE_CONSTRAINT_ bits that are missing. Else 0. */
    uint32_t constraints;
    /** When it may change by time alone; SELENE_NEVER if only an event can change it. For CONSTRAINTS: when values that
     *  the host set for a limited time expire, after which all are satisfied unless they are set again. */
    int64_t may_change_at;
} selene_reason;

/** Reasons that fit into an explanation. */
#define SELENE_REASONS 16

/** Why a task does not run now. Filled by selene_task_explain. */
typedef struct selene_explanation {
    uint32_t struct_size;
    uint32_t flags;
    /** A SELENE_STATE_ number. */
    int32_t state;
    /** How many of reasons are set; 0: nothing but a window is missing. */
    uint32_t reason_count;
    selene_reason reasons[SELENE_REASONS];
    /** Its place among the eligible tasks of its kind now, from 1; 0 if it is not eligible. */
    uint64_t rank;
    /** How many tasks of its kind are eligible now. */
    uint64_t eligible;
    /** Its score now, as it would be among those. */
    double score;
    /** ns. */
    int64_t estimate;
    /** The time that was left when the last cycle of its kind stopped picking, ns; −1 before the first. */
    int64_t last_room;
    /** What its pace follows from, and its age; 0 unless the scheduler has SELENE_OPTIONS_FRESHNESS. When it was last
     *  fresh: its age counts from then; each failure moves it a quarter of the way to the failure. Since: 0.2. */
    int64_t fresh_since;
    /** What a run costs: the mean of its last 20 response times, ns. Since: 0.2. */
    int64_t cost;
    /** How many of its last outcomes are known, at most 16, and how many of them found something new. Since: 0.2. */
    uint32_t known_runs;
    uint32_t news_runs;
    /** Its pace, in thousandths of that of a task of priority 3 that takes 5 s, always finds something new and never
     *  fails. Since: 0.2. */
    int32_t pace;
    /** The class of its pace, 0 (the fastest) … 63: four classes are half the pace. Since: 0.2. */
    int32_t pace_class;
    /** Its attempts since the last success or period: failures in a row, each of which makes its pace 0.84 of what it was,
     *  and the run in flight. Since: 0.2. */
    uint32_t attempts;
    /** 1 if it is picked before others because its latest begin is near; else 0. Since: 0.2. */
    uint32_t urgent;
    /** The last instant at which it may begin, while it waits and has one; else 0. Since: 0.2. */
    int64_t latest_begin;
    /** 1 if it is picked before others because it is expedited and some of the quota is left; else 0. Since: 0.2. */
    uint32_t expedited;
    /** The SELENE_CONSTRAINT_ bits that it requires and about which nothing is known, so that they count as satisfied.
     *  Since: 0.2. */
    uint32_t unknown_constraints;
    /** How many bytes its last success left, more than are kept (max_output_size), so that it has no output; else 0.
     *  Since: 0.2. */
    uint64_t output_lost;
} selene_explanation;

/**
 * Gives every reason why a task does not run now, and its rank, score and estimate.
 *
 * Conditions that the host does not set are read from the system. May take time proportional to the number of
 * tasks.
 *
 * @param out_explanation  filled up to its struct_size
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, NOT_FOUND
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_task_explain(selene_scheduler scheduler, const char *id,
                                             int64_t id_length,
                                             selene_explanation *out_explanation);

/** How much of a task's time went to one reason. Since: 0.2. */
typedef struct selene_wait {
    /** For CONDITIONS: the condition of the host; if several were missing, one of them. For GROUP_PAUSED and
     *  GROUP_FULL: the group. For BLOCKED: the id of the first task that it still waits for. NULL for other reasons,
     *  and if it is no longer known because the task was updated since or does not wait for another any more. */
    selene_text name;
    /** A SELENE_REASON_ number. */
    int32_t reason;
    int32_t reserved;
    /** For CONSTRAINTS: the SELENE_CONSTRAINT_ bit; if several were missing, the lowest of them. For GOVERNOR: the
     *  SELENE_FACTOR_ number of the veto; 0: its score was too low. Else 0. */
    int64_t detail;
    /** ns. */
    int64_t duration;
    /** How often it began to be the reason; for DID_NOT_FIT, WINDOW_OPEN and PREFERRED_OTHERS: in how many windows. */
    uint64_t times;
} selene_wait;

/** From an instant on a task waited for a reason. Since: 0.2. */
typedef struct selene_wait_change {
    /** As in selene_wait. */
    selene_text name;
    int64_t at;
    /** As in selene_wait; SELENE_REASON_TERMINAL when it was over. */
    int64_t detail;
    int32_t reason;
    int32_t reserved;
} selene_wait_change;

/** Where the time of a task went. Made by selene_task_waits. Since: 0.2. */
typedef struct selene_waits {
    uint32_t struct_size;
    uint32_t flags;
    /** What is told is from here … */
    int64_t since;
    /** … to here: now, or the end of the task. */
    int64_t until;
    /** A SELENE_STATE_ number. */
    int32_t state;
    int32_t reserved;
    /** By reason, detail and name, in the order in which they came first; the durations add up to until − since. */
    uint64_t part_count;
    const selene_wait *parts;
    /** The last 30 changes of reason, the oldest first. */
    uint64_t change_count;
    const selene_wait_change *changes;
    /** How many dispatches of others came before it while a window was open that it fitted into. */
    uint64_t preferred_count;
    /** The ids of the last of these, at most 8, the latest first, as far as those tasks are still there. */
    uint64_t preferred_id_count;
    const selene_text *preferred_ids;
} selene_waits;

/**
 * Gives where the time of a task went since it was last due, or since it was registered if it was due only once.
 *
 * A once task is followed from its registration to its end, a standing or periodic one from the begin of its period;
 * until it is due again that is the last one. At each instant one reason counts, the first in the order of
 * selene_task_explain; TOO_SOON does not count while a window of its kind is open. The values of conditions, the windows and the
 * governor's refusals are kept for 30 days, at most a few thousand entries each; older time is EARLIER.
 *
 * Takes time proportional to what has happened since then, independent of the number of tasks.
 *
 * @param out_waits  the answer
 * @return INVALID_ARGUMENT, NOT_FOUND
 *
 * Ownership: the caller frees the answer with selene_free. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_waits(selene_scheduler scheduler, const char *id,
                                           int64_t id_length, selene_waits **out_waits);

/* ============================================================================
 *  GROUP
 *
 *  Tasks that name the same group share a limit of runs at a time, and are paused together: for example uploads, of
 *  which two may run. A task is in at most one group. A group needs no registration: it exists as soon as a task names
 *  it, or its limit or pause is set, and until neither is so any more. What is set is kept in the store, also by
 *  selene_scheduler_reset.
 *
 *  The tasks of a group that is full or paused keep their state, rank, age and place. A pick passes over them without
 *  holding a lane, and takes them as soon as there is room, even in a window that is already open. A run counts for its
 *  group, as for its id, until it is over and has come back.
 *  ========================================================================= */

/** A group. Filled by selene_group_get. */
typedef struct selene_group_info {
    uint32_t struct_size;
    uint32_t flags;
    /** Runs at a time; 0: no limit. */
    uint32_t limit;
    /** 1 if the host has paused it, else 0. */
    uint32_t paused;
    /** Its runs that are not over, or have not come back. */
    uint64_t running;
    /** Its tasks that are enqueued, held or blocked. */
    uint64_t waiting;
} selene_group_info;

/**
 * Sets how many runs of a group may go on at a time, in whatever windows they are. Runs in flight go on, even if there
 * are more than that.
 *
 * @param limit  runs at a time; 0: no limit, which is the default
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_group_set_limit(selene_scheduler scheduler, const char *name,
                                                int64_t name_length, uint32_t limit);

/**
 * Pauses a group: its runs in flight go on, and none of its tasks begins until selene_group_resume, even if registered
 * later. Tasks that are paused themselves stay so when it is resumed.
 *
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_group_pause(selene_scheduler scheduler, const char *name,
                                            int64_t name_length);

/**
 * Resumes a paused group.
 *
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_group_resume(selene_scheduler scheduler, const char *name,
                                             int64_t name_length);

/**
 * Reads a group.
 *
 * @param out_info  filled up to its struct_size
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, NOT_FOUND (nothing is set for it, and none of its tasks waits or runs)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_group_get(selene_scheduler scheduler, const char *name,
                                          int64_t name_length, selene_group_info *out_info);

/**
 * Lists the names of all groups for which something is set, or that have tasks that wait or runs, in the order of their bytes.
 *
 * @param out_names  the names, as the ids of a list
 *
 * Ownership: the caller frees the list with selene_free. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_group_list(selene_scheduler scheduler, selene_task_ids **out_names);

/* ============================================================================
 *  WINDOW AND CYCLE
 * ========================================================================= */

enum {
    /** Nothing is picked whose estimate does not fit, not even first, as in LinkedIn's Selene. */
    SELENE_WINDOW_STRICT_FIT = 1,
    /** selene_cycle_run only: handlers run on the calling thread, one after another (lanes must be 1). Only
     *  handlers that call selene_run_stopping end on time then. */
    SELENE_WINDOW_INLINE = 2,
    /**
     * Picks only from what was eligible at its begin, with the ages and scores of that moment: what becomes due or is
     * registered while the window is open waits for the next one (Selene's greedy plan). Without this flag a window is
     * rolling: each pick looks at what is eligible at that moment, so that what becomes due begins in the next free lane, and
     * one long run holds up no other task. There a once or periodic task may run again when it is due again, a standing task
     * runs at most once, and the cycle is done when nothing runs and nothing that fits is eligible.
     */
    SELENE_WINDOW_FROZEN = 4,
    /** selene_cycle_begin only: threads of the host call the handlers, each through a lane (selene_lane_open). */
    SELENE_WINDOW_LANES = 8
};

/** An opportunity to work. */
typedef struct selene_window {
    uint32_t struct_size;
    /** How it picks and who calls handlers. @unit SELENE_WINDOW_ bits @zero none */
    uint32_t flags;
    /** The kinds of its tasks. 0: all kinds of which a window may begin: those that are switched on, of which none is open
     *  and whose minimum interval has passed. If there are none, the call is refused for the first of these reasons.
     *  @unit SELENE_KIND_ bits @zero 0 */
    uint32_t kinds;
    /** Runs at a time. @unit count @range 1 … 1024 @zero 1 */
    uint32_t lanes;
    /** From begin to deadline. @unit ns @range 1 ms … 24 h @zero 30 s */
    int64_t budget;
    /** Kept free at the end, in which runs are asked to stop. @unit ns @range 0 … budget @zero budget / 20 @none 0 */
    int64_t reserve;
    /**
     * Empty (default): all tasks of the kinds. Else the id of the one task to run now, whatever its rank, cost, delay
     * or backoff, regardless of open cycles of its kind and of minimum intervals. It must be
     * enqueued, of a kind that is switched on, with its handler registered, its constraints satisfied and its id not
     * taken, or the call answers IMMEDIATE_RUN_INELIGIBLE. kinds is ignored then, and lanes must be 1.
     */
    selene_text task;
} selene_window;

/** The use of one window; 0 is none. */
typedef uint64_t selene_cycle;

enum {
    /** For selene_lane_next only: no outcome: it was given before, will be given later, or there was no run. */
    SELENE_OUTCOME_NONE = -1,
    /** It worked, and found something new. */
    SELENE_OUTCOME_NEW_DATA = 0,
    /** It worked, and there was nothing new. Of a once or periodic task whose run was asked to stop it says nothing about the
     *  whole of the work, and counts as STOPPED. */
    SELENE_OUTCOME_NO_DATA = 1,
    /** It may be tried again, by backoff and max_attempts. */
    SELENE_OUTCOME_FAILED = 2,
    /** Failed for good. */
    SELENE_OUTCOME_ABANDONED = 3,
    /** In reports only: open after the deadline, or after the grace of its timeout or stall limit; counts as failed. */
    SELENE_OUTCOME_EXPIRED = 4,
    /** Ended by a stop: no attempt counts, and the task is enqueued again as before the run. A handler may give it once its
     *  run was asked to stop; after TIMED_OUT and STALLED, or without a request, it counts as FAILED. After EXPIRING the task
     *  lets others go first. */
    SELENE_OUTCOME_STOPPED = 5
};

/** Why a run is asked to stop. A later, larger one replaces an earlier one, and each of PREEMPTED … SHUTDOWN also
 *  TIMED_OUT, STALLED and LEASE_LOST. */
enum {
    SELENE_STOP_NONE = 0,
    /** The reserve of the window has begun; completing is still possible until the deadline. */
    SELENE_STOP_EXPIRING = 1,
    /** Something more important needs the machine; the task is enqueued again as before the run. */
    SELENE_STOP_PREEMPTED = 2,
    /** A constraint is no longer satisfied; enqueued again as before the run. */
    SELENE_STOP_CONSTRAINT_LOST = 3,
    /** A new record took the id. */
    SELENE_STOP_REPLACED = 4,
    SELENE_STOP_CANCELLED = 5,
    /** The host ends the work: it closes the scheduler, stops the driver, or drains or ends the window. Enqueued again as before
     *  the run, unless it completes within the grace. */
    SELENE_STOP_SHUTDOWN = 6,
    /** In records only: its process ended while it ran; counts as failed. */
    SELENE_STOP_INTERRUPTED = 7,
    /** Its task's timeout has passed; completing is still possible for stop_grace. Since: 0.2. */
    SELENE_STOP_TIMED_OUT = 8,
    /** It reported no progress for its task's stall_limit; completing is still possible for stop_grace. Since: 0.2. */
    SELENE_STOP_STALLED = 9,
    /** In records only: its task waited when its latest_begin had passed, or could be tried again only then, and has failed.
     *  Since: 0.2. */
    SELENE_STOP_TOO_LATE = 10,
    /** A run of a fleet whose node could not renew its lease in the database in time: another node may take the task
     *  soon. Completing is still possible until the deadline, and counts if none has taken it. Since: 0.2. */
    SELENE_STOP_LEASE_LOST = 11
};

/** One run of a report, in order of dispatch. */
typedef struct selene_report_run {
    selene_text id;
    selene_run run;
    /** A SELENE_OUTCOME_ number. */
    int32_t outcome;
    /** A SELENE_STOP_ number if it was asked to stop. */
    int32_t stop_reason;
    uint32_t attempt;
    int32_t priority;
    double score;
    int64_t estimate;
    int64_t started_at;
    /** ns from its dispatch to its end. */
    int64_t response_time;
} selene_report_run;

enum {
    /** The outcomes could not be stored yet; each later call tries again. */
    SELENE_REPORT_NOT_STORED = 1
};

/** What the turn of a run followed from under SELENE_OPTIONS_FRESHNESS, as it was picked: the fields of
 *  selene_explanation. Since: 0.2. */
typedef struct selene_pace {
    int64_t fresh_since;
    int64_t cost;
    uint32_t known_runs;
    uint32_t news_runs;
    int32_t pace;
    int32_t pace_class;
} selene_pace;

/** What a cycle did. Made by selene_cycle_end and selene_cycle_run. */
typedef struct selene_report {
    uint32_t struct_size;
    /** SELENE_REPORT_ bits. */
    uint32_t flags;
    selene_cycle cycle;
    /** SELENE_OUTCOME_ number: new data if any run gave it, else failed if any failed, expired or was
     *  abandoned, else no data. Stopped runs do not count. */
    int32_t result;
    /** SELENE_KIND_ bits of the window; 0 for a window of one task, which occupies no kind. */
    uint32_t kinds;
    int64_t began_at;
    int64_t ended_at;
    /** SELENE_NEVER where nobody decided one (selene_driver); then budget is how long the window picked. */
    int64_t deadline;
    int64_t budget;
    int64_t reserve;
    /** Tasks eligible at begin. */
    uint64_t eligible;
    /** Tasks that could still have run at the end but did not fit. */
    uint64_t did_not_fit;
    uint64_t new_data;
    uint64_t no_data;
    uint64_t failed;
    uint64_t abandoned;
    uint64_t expired;
    uint64_t stopped;
    uint64_t run_count;
    /** In order of dispatch; of a window without a deadline the last 1,024. */
    const selene_report_run *runs;
    /** One for each of runs; NULL unless the scheduler has SELENE_OPTIONS_FRESHNESS. Since: 0.2. */
    const selene_pace *paces;
} selene_report;

/** One task of a plan, in order of dispatch. */
typedef struct selene_plan_run {
    selene_text id;
    double score;
    int64_t estimate;
    /** When it would start if every run took its estimate. */
    int64_t starts_at;
} selene_plan_run;

/** What a window would pick now. Made by selene_cycle_plan. */
typedef struct selene_plan {
    uint32_t struct_size;
    uint32_t flags;
    /** Tasks eligible now. */
    uint64_t eligible;
    uint64_t run_count;
    const selene_plan_run *runs;
} selene_plan;

/** One dispatch. Given to handlers and by selene_cycle_next. */
typedef struct selene_run_info {
    uint32_t struct_size;
    uint32_t flags;
    selene_run run;
    selene_cycle cycle;
    selene_text id;
    selene_text handler;
    selene_text input;
    int32_t kind;
    int32_t priority;
    /** 1 for the first. */
    uint32_t attempt;
    uint32_t generation;
    double score;
    int64_t estimate;
    int64_t started_at;
    /** When it will be asked to stop: the window's deadline − reserve, or its timeout before that; SELENE_NEVER where nobody
     *  decided either (selene_driver). */
    int64_t expires_at;
    /** When it is over: the window's deadline, or the end of its timeout's grace before that; likewise. */
    int64_t deadline;
    /** From selene_run_get: when it last called selene_run_progress, and what it said then; 0 and empty where it has
     *  not. Since: 0.2. */
    int64_t progress_at;
    int64_t progress_done;
    int64_t progress_total;
    selene_text progress_text;
} selene_run_info;

/** What selene_cycle_next found. */
enum {
    /** A run: work on it, then complete it. */
    SELENE_STEP_RUN = 0,
    /** Nothing now: runs are in flight. Call again when one is completed, or at out_wake_at. */
    SELENE_STEP_WAIT = 1,
    /** Nothing is left in this cycle: call selene_cycle_end. */
    SELENE_STEP_DONE = 2
};

/**
 * Begins a pulled cycle: reads the conditions that the host does not set and ranks what is eligible. With
 * SELENE_WINDOW_LANES its runs are taken through lanes (section LANE), else by selene_cycle_next.
 *
 * Refusals come in this order: arguments, REENTRANT, UNAVAILABLE, BUSY, TOO_SOON. If a kind that the window names is
 * refused, so is the window. A refused begin does not count for the minimum interval, an empty cycle does. A pulled cycle of
 * the same kind that is past its deadline and was never ended is ended first.
 *
 * @param window     the window; NULL for all defaults
 * @param out_cycle  the cycle
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, UNSUPPORTED (INLINE), UNAVAILABLE (a kind is off), BUSY (a cycle
 *         of a kind is open; LANES: too many threads are left behind), TOO_SOON; for a window of one task
 *         NOT_FOUND and IMMEDIATE_RUN_INELIGIBLE
 *
 * Ownership: the caller ends the cycle with selene_cycle_end. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_cycle_begin(selene_scheduler scheduler, const selene_window *window,
                                            selene_cycle *out_cycle);

/**
 * Takes the next run of a pulled cycle. Never blocks.
 *
 * It may call stop functions of runs whose time is up before it returns. Call it again after each completion, also of
 * a run that such a stop function completed: without that call the window stays open until its deadline.
 *
 * @param cycle        of selene_cycle_begin; a pushed one, or one of lanes, answers UNSUPPORTED
 * @param out_step     a SELENE_STEP_ number
 * @param out_run      for STEP_RUN the run, filled up to its struct_size;
 *                     not touched for the others
 * @param out_wake_at  for STEP_WAIT when to call again: the next expiry, or, in a rolling window, the instant before
 *                     it at which a task becomes due; not touched for the others. May be NULL
 * @return INVALID_HANDLE (also after the end), UNSUPPORTED_STRUCT, UNSUPPORTED
 *
 * Ownership: the texts of out_run are borrowed until the run's first selene_run_complete returns, the scheduler is
 * closed, or the run was let go (SELENE_EVENT_RELEASED) and 1 024 more after it. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_cycle_next(selene_cycle cycle, int32_t *out_step,
                                           selene_run_info *out_run, int64_t *out_wake_at);

/**
 * Ends a cycle and reports. Runs that are still open are asked to stop (SHUTDOWN) and are over: no attempt counts, and their
 * tasks are enqueued again as before the run. Behind the deadline of the window they have failed already (EXPIRED).
 *
 * A cycle on library threads ends early in the same way, and is reported to its waiters. If the store refuses, the
 * cycle and its runs stay open, so that the call can be repeated.
 *
 * @param cycle       the cycle; its handle is invalid afterwards
 * @param out_report  what it did; may be NULL
 *
 * Ownership: the caller frees the report with selene_free. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_cycle_end(selene_cycle cycle, selene_report **out_report);

/**
 * Starts nothing more in a cycle, and gives its runs a grace period.
 *
 * It sets the deadline to now + grace if that is earlier. In the last tenth of grace, at most 10 s before its end, the runs
 * that are left are asked to stop (SHUTDOWN); they may complete until the deadline, but a run that fails then counts as
 * stopped, as does what is open after it: the task is enqueued again as before the run. If the window's own deadline is
 * earlier, it ends as usual. The cycle is reported as usual. A second call can only bring both nearer. Of a cycle that
 * members of a pool share (selene_connect), only the caller's part ends.
 *
 * @param cycle  any open cycle
 * @param grace  ns: 0 … 24 h; 0: runs are over at once
 * @return INVALID_ARGUMENT; with 0 the STORE_ statuses, and nothing has changed
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_cycle_drain(selene_cycle cycle, int64_t grace);

/**
 * Runs a whole cycle and returns its report by the deadline, whatever the handlers do.
 *
 * Library threads, one a lane, call the handlers. A thread whose handler overran is left behind and counts
 * against max_overrun_threads until it returns. With SELENE_WINDOW_INLINE the handlers run on the calling
 * thread. With a host clock only INLINE is possible; a handler that then returns without an outcome ends the
 * cycle when no lane is free.
 *
 * @param window      the window; NULL for all defaults
 * @param out_report  what it did; may be NULL
 * @return as selene_cycle_begin; REENTRANT (inside a callback of this scheduler), BUSY (also: too many threads
 *         are left behind), UNSUPPORTED (threads with a host clock), EXHAUSTED (the system refused a thread). The
 *         STORE_ statuses also after handlers ran: the store refused a start or an outcome, there is no report, and
 *         outcomes that could not be stored are tried again by later calls
 *
 * Ownership: the caller frees the report with selene_free. Thread: any, not inside a callback; blocks.
 * Since: 0.1.
 */
SELENE_API selene_status selene_cycle_run(selene_scheduler scheduler, const selene_window *window,
                                          selene_report **out_report);

/** Receives the report of a cycle; report lives until the function returns. */
typedef void (*selene_report_fn)(const selene_report *report, void *context);

/**
 * Runs a whole cycle on library threads and reports to a callback.
 *
 * While such a cycle of exactly these kinds is running, the call joins it: it gets that cycle's deadline and, when
 * it ends, its report; nothing is begun.
 *
 * @param window        the window; NULL for all defaults; not INLINE
 * @param report        called once by the deadline, on a library thread or the one that ends the cycle; may be NULL
 * @param context       given to report
 * @param destroy       releases context; also when this call fails
 * @param out_cycle     the cycle, for selene_cycle_end; invalid once it was reported. May be NULL
 * @param out_deadline  when it will be over at the latest. May be NULL
 * @return as selene_cycle_run, but legal inside a callback
 *
 * Ownership: the cycle ends by itself; the report is the library's. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_cycle_run_async(selene_scheduler scheduler,
                                                const selene_window *window,
                                                selene_report_fn report, void *context,
                                                selene_destroy_fn destroy, selene_cycle *out_cycle,
                                                int64_t *out_deadline);

/**
 * Gives what such a window would pick now if every run took its estimate. It runs and changes nothing, and
 * ignores open cycles, minimum intervals and switches.
 *
 * @param window    the window; NULL for all defaults
 * @param out_plan  the picks in order
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT; for a window of one task NOT_FOUND and IMMEDIATE_RUN_INELIGIBLE
 *
 * Ownership: the caller frees the plan with selene_free. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_cycle_plan(selene_scheduler scheduler, const selene_window *window,
                                           selene_plan **out_plan);

/* ============================================================================
 *  LANE
 * ============================================================================
 *
 * Threads of the host lend themselves to a cycle, for hosts whose handlers must run on threads of their own: a
 * language's runtime, a thread pool. Each opens a lane, takes runs through it until there are no more, and closes it:
 *
 *     static void *work(void *argument) {
 *         selene_cycle cycle = *(selene_cycle *)argument;
 *         selene_lane lane = 0;
 *         selene_run_info run = SELENE_INIT(selene_run_info);
 *         int32_t step, outcome = SELENE_OUTCOME_NONE;
 *         if (selene_lane_open(cycle, &lane)) return NULL;
 *         while (!selene_lane_next(lane, outcome, SELENE_NEVER, &step, &run, NULL) && step == SELENE_STEP_RUN)
 *             outcome = do_the_work(&run);
 *         selene_lane_close(lane);
 *         return NULL;
 *     }
 *
 * The thread that began the cycle waits for its report with selene_cycle_wait, which comes by the deadline whatever those
 * threads do. A run that is over while its thread is still in the handler leaves that thread behind: it counts
 * against max_overrun_threads until it calls again, and another lane may be opened in its place; then its own lane has no
 * more runs for it. From the deadline on the next call of any function ends the cycle; its report is kept for the host
 * (of the last 16 such cycles).
 */

/** The place of one thread in a cycle; 0 is none. */
typedef uint64_t selene_lane;

/**
 * Opens a lane of a cycle that was begun with SELENE_WINDOW_LANES, or of a pulled one that has not given a run yet,
 * whose runs are taken through lanes from then on.
 *
 * @param cycle     the cycle; if it is over, the lane's first answer is DONE
 * @param out_lane  the lane
 * @return UNSUPPORTED (a pulled cycle that has given a run, or a pushed one), BUSY (as many lanes are open as the window
 *         has; those whose threads were left behind do not count)
 *
 * Ownership: the caller closes it by selene_lane_close. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_lane_open(selene_cycle cycle, selene_lane *out_lane);

/**
 * Returns from the previous run, gives its outcome if there is one, and takes the next run, waiting for one.
 *
 * Completing a run and taking the next in one call is the cheapest way to work. An outcome that comes too late, or a
 * second one, changes nothing and is not an error here. With a host clock it does not wait: only the host lets time
 * pass.
 *
 * @param lane         the lane; one thread at a time
 * @param outcome      of the run that this lane gave before, as of selene_run_complete; or SELENE_OUTCOME_NONE: it was given
 *                     (selene_run_complete, selene_run_retry), will be given later, or there was no run
 * @param timeout      how long to wait at most, in ns; 0: not at all; SELENE_NEVER: until there is a run, or no more
 * @param out_step     STEP_RUN; STEP_WAIT: time was up before; STEP_DONE: close the lane; nothing is left to run, the
 *                     cycle is over or drained, or another lane has taken this one's place
 * @param out_run      for STEP_RUN the run, filled up to its struct_size;
 *                     not touched for the others
 * @param out_wake_at  for STEP_WAIT when to call again: the next expiry; not touched for the others. May be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, REENTRANT (inside a callback of this scheduler, unless timeout is 0).
 *         The STORE_ statuses: no run was started, but the outcome was taken; call again with _NONE
 *
 * Ownership: the texts of out_run are borrowed until the next call with this lane, or the scheduler is closed.
 * Thread: any; blocks. Returns when the scheduler is closed. Since: 0.2.
 */
SELENE_API selene_status selene_lane_next(selene_lane lane, int32_t outcome, int64_t timeout,
                                          int32_t *out_step, selene_run_info *out_run,
                                          int64_t *out_wake_at);

/**
 * Closes a lane. Its thread has returned from its run, if it had one; the run's outcome may still be given by its token.
 *
 * @return INVALID_HANDLE also after the scheduler was closed, which closes all lanes
 *
 * Thread: any; not while another thread waits in selene_lane_next for it. Since: 0.2.
 */
SELENE_API selene_status selene_lane_close(selene_lane lane);

/**
 * Waits for the report of a cycle that was begun with SELENE_WINDOW_LANES, which comes by its deadline.
 *
 * The cycle is over when nothing is left to run, or it was drained and no run is open, or the deadline has passed.
 * This call then ends it, as selene_cycle_end does. While it waits it asks runs to stop in time, which nothing else
 * does while all threads are in handlers.
 *
 * @param cycle        the cycle; its handle is invalid after the report
 * @param timeout      how long to wait at most, in ns; 0: not at all; SELENE_NEVER: until the report
 * @param out_report   what it did; NULL if time was up before
 * @param out_wake_at  when to call again, if time was up before: the next expiry; else not touched. May be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED (a cycle without lanes), REENTRANT (inside a callback of this scheduler, unless
 *         timeout is 0)
 *
 * Ownership: the caller frees the report with selene_free. Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_cycle_wait(selene_cycle cycle, int64_t timeout,
                                           selene_report **out_report, int64_t *out_wake_at);

/**
 * Gives a descriptor for an event loop, which is readable when there may be a run for the lanes of a cycle, or its
 * report.
 *
 * When it is readable, call selene_lane_next for the lanes that are free and selene_cycle_wait, both with timeout 0,
 * until they answer WAIT and no report: only that makes it unreadable until something happens or the next expiry comes.
 * Do not read it. With a host clock it does not follow time.
 *
 * @param cycle   of selene_cycle_begin or selene_driver_step, with lanes
 * @param out_fd  the descriptor, the same for the whole cycle
 * @return INVALID_ARGUMENT, UNSUPPORTED (a cycle without lanes), EXHAUSTED (the system refused a descriptor)
 *
 * Ownership: the library's; it is closed when the report is returned or the scheduler is closed: remove it from the
 * loop before that. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_cycle_descriptor(selene_cycle cycle, int32_t *out_fd);

/* ============================================================================
 *  RUN
 * ========================================================================= */

/**
 * Gives a run's outcome, once.
 *
 * It may come from any thread, before or after the handler returned. A pulled run returns by this call: make it even
 * when the run was stopped (it answers STALE_RUN, and the id is free again).
 *
 * @param run      the token
 * @param outcome  SELENE_OUTCOME_NEW_DATA … _ABANDONED, or _STOPPED
 * @return INVALID_ARGUMENT, INVALID_HANDLE (never issued), ALREADY_COMPLETED, STALE_RUN. Only the first
 *         completion of a run in flight changes a record. Of the runs that were stopped or expired, the last 65 536
 *         are remembered; older ones answer ALREADY_COMPLETED
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_run_complete(selene_run run, int32_t outcome);

/**
 * Gives the outcome FAILED and a delay, which replaces the backoff of this attempt.
 *
 * @param delay  ns until the retry: 0 … 10 years
 * @return as selene_run_complete
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_run_retry(selene_run run, int64_t delay);

/**
 * Gives the outcome of a failure and its reason. The task keeps it until its next success (selene_task_info, and the
 * event COMPLETED).
 *
 * @param outcome         SELENE_OUTCOME_FAILED or _ABANDONED
 * @param delay           ns until the retry: 0 … 10 years, in place of the backoff of this attempt; −1: that backoff.
 *                        Not used with ABANDONED
 * @param message         for people, UTF-8 without NUL; cut to 1 024 bytes at a character boundary. NULL: none
 * @param message_length  bytes; −1: NUL-terminated
 * @return INVALID_ARGUMENT (the run is still open then), else as selene_run_complete
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_fail(selene_run run, int32_t outcome, int64_t delay,
                                         const char *message, int64_t message_length);

/**
 * Gives a run's outcome and says when its task is due next, in place of the instant that is computed: the next period, the
 * next begin of a standing task, or the retry of a failure (selene_task_set_next). A once task that is over with that
 * outcome stays so.
 *
 * @param outcome  SELENE_OUTCOME_NEW_DATA … _ABANDONED, or _STOPPED
 * @param next     ns since the Unix epoch, of the scheduler's clock: 0 … now + 10 years; in the past: at once
 * @return INVALID_ARGUMENT (the run is still open then), else as selene_run_complete
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_complete_until(selene_run run, int32_t outcome, int64_t next);

/**
 * Asks whether a run should stop.
 *
 * @param out_reason  a SELENE_STOP_ number; SELENE_STOP_NONE: go on
 * @return INVALID_HANDLE; STALE_RUN or ALREADY_COMPLETED once the run has returned
 *
 * Thread: any; cheap enough to be called in a loop. Since: 0.1.
 */
SELENE_API selene_status selene_run_stopping(selene_run run, int32_t *out_reason);

/**
 * Waits until so much scheduler time has passed, or the run is asked to stop. On a clock that the host sets the call
 * returns when the host has moved the clock far enough.
 *
 * @param nanoseconds  ns, 0 or more
 * @param out_reason   receives a SELENE_STOP_ number; SELENE_STOP_NONE: the whole time has passed
 * @return as selene_run_stopping; INVALID_ARGUMENT; UNSUPPORTED (the clock is a selene_clock_fn, or the run was taken
 *         through a connection); REENTRANT (inside a callback that is not a handler)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_sleep(selene_run run, int64_t nanoseconds, int32_t *out_reason);

/**
 * Gives how much time a run has until it is asked to stop.
 *
 * @param out_remaining  ns until deadline − reserve, or until its timeout or, if it reports no progress, its stall
 *                       limit before that; 0 when that is past or the run was stopped
 * @return as selene_run_stopping
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_run_remaining(selene_run run, int64_t *out_remaining);

/**
 * Reports how far an open run has come, for observers of its task, and restarts its stall limit.
 *
 * The latest report is given by selene_task_get and selene_run_get until the run is over, and as SELENE_EVENT_PROGRESS
 * at most four times a second. Every call restarts the stall limit, even with unchanged numbers; a call after the run
 * was asked to stop (STALLED) does not undo that. Nothing is stored.
 *
 * @param done         how much is done, in any unit; from 0, and it may exceed total
 * @param total        of how much; 0: unknown
 * @param text         for people, UTF-8 without NUL; cut to 1 024 bytes at a character boundary. NULL: none
 * @param text_length  bytes; −1: NUL-terminated
 * @return INVALID_ARGUMENT (a negative number, not text), INVALID_HANDLE; STALE_RUN or ALREADY_COMPLETED once the run is
 *         over
 *
 * Thread: any; cheap enough to be called in a loop. Since: 0.2.
 */
SELENE_API selene_status selene_run_progress(selene_run run, int64_t done, int64_t total,
                                             const char *text, int64_t text_length);

/**
 * Attaches a pointer of the host's to a run: a host that calls selene_cycle_next sets it, and any code that has only
 * the token, such as a stop function or a worker, can read it. A handler may set it for its own run, too. The library
 * does not use it. It is forgotten when the run has come back.
 *
 * @param user  NULL: none
 * @return INVALID_HANDLE; STALE_RUN or ALREADY_COMPLETED once the run has come back
 *
 * Ownership: what it points to is the host's. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_set_user(selene_run run, void *user);

/**
 * Reads the pointer that selene_run_set_user has set.
 *
 * @param out_user  NULL if none was set
 * @return INVALID_ARGUMENT (out_user is NULL), INVALID_HANDLE; STALE_RUN or ALREADY_COMPLETED once the run has come back
 *
 * Ownership: what it points to is the host's. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_user(selene_run run, void **out_user);

/**
 * Sets the output that an open run leaves if it succeeds, for readers of its task and for the handlers of tasks that
 * come after it: a result small enough for a row. Put larger results in a file and leave its name.
 *
 * The last call before the outcome counts, and the outcome must be NEW_DATA or NO_DATA: a run that fails, or is stopped,
 * leaves what the last success left. Stored in the commit of its outcome. A success without it leaves nothing.
 *
 * @param output  copied; NULL with length 0: none
 * @param length  bytes, from 0 to the scheduler's max_output_size
 * @return INVALID_ARGUMENT (NULL with bytes, negative length), INVALID_HANDLE; TOO_LARGE: nothing of it is kept, nor of an
 *         earlier call; if the run succeeds, its task says so (output_lost, SELENE_EVENT_OUTPUT_LOST), and reading the output
 *         answers TOO_LARGE; STALE_RUN or ALREADY_COMPLETED once the run is over
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_set_output(selene_run run, const void *output, int64_t length);

/**
 * Repeats what a handler was given, until the run has come back: for hosts that pass on the token alone, since what a
 * callback is given lives only until it returns.
 *
 * @param out_info  the facts; expires_at and deadline are those of its dispatch, but deadline of a run that was asked to
 *                  stop because it made no progress is the end of its grace
 * @return as selene_run_stopping
 *
 * Ownership: the caller frees them, with their texts, with selene_free. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_get(selene_run run, selene_run_info **out_info);

/* ============================================================================
 *  CONDITIONS
 * ========================================================================= */

/**
 * Sets whether some constraints are satisfied, in one call, and clears those of the last such call that it does not
 * name.
 *
 * It sets the signals behind them, which the governor reads, too, without an expiry: for a satisfied bit to what the
 * unknown signal counts as, for an unsatisfied one to the nearest value that means so (METERED 1, BATTERY_LEVEL 199 and
 * DISCHARGING 1, STORAGE_FREE 49, …). Those that are cleared follow the system's reading again, as after
 * selene_signal_clear. A host that knows more sets the signals themselves. A run in flight that loses one is stopped
 * (CONSTRAINT_LOST).
 *
 * @param constraints  the SELENE_CONSTRAINT_ bits that the host sets
 * @param satisfied    of these, the bits that are satisfied
 * @return INVALID_ARGUMENT (unknown bits, or satisfied has bits that are not in constraints)
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_conditions_set(selene_scheduler scheduler, uint32_t constraints,
                                               uint32_t satisfied);

/**
 * Reads which constraints are satisfied, as a begin would now.
 *
 * @param out_satisfied  the bits that are satisfied, those of unknown signals as these count
 * @param out_host       the bits whose signal the host has set; may be NULL
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_conditions_get(selene_scheduler scheduler, uint32_t *out_satisfied,
                                               uint32_t *out_host);

/**
 * Defines a condition of the host, such as "signed-in", "vpn" or "disk-mounted", which tasks require by its name
 * (conditions of selene_task). It is not satisfied until selene_condition_set sets it. Defining it again does nothing.
 *
 * Names are kept in the store, also by selene_scheduler_reset; whether they are satisfied is not: when a scheduler is
 * opened none is, until the host has set it.
 *
 * @param name         1 to 255 bytes of UTF-8 without NUL
 * @param name_length  bytes; −1: NUL-terminated
 * @return INVALID_ARGUMENT, EXHAUSTED (32 are defined, or required by tasks)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_condition_define(selene_scheduler scheduler, const char *name,
                                                 int64_t name_length);

/**
 * Removes the definition of a condition, which is then not satisfied: runs in flight that need it are stopped
 * (CONSTRAINT_LOST), and tasks that require it wait until it is defined and set again.
 *
 * @return INVALID_ARGUMENT, NOT_FOUND (it is not defined)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_condition_undefine(selene_scheduler scheduler, const char *name,
                                                   int64_t name_length);

/**
 * Sets whether a condition of the host is satisfied. Tasks that waited for it become eligible at once in rolling
 * windows, and from the next begin in others; a run in flight that loses it is stopped (CONSTRAINT_LOST). The cost does
 * not depend on the number of tasks.
 *
 * @param satisfied  0: it is not; any other number: it is
 * @return INVALID_ARGUMENT, NOT_FOUND (it is not defined)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_condition_set(selene_scheduler scheduler, const char *name,
                                              int64_t name_length, int32_t satisfied);

/** What a condition of the host is. */
enum {
    /** A task asks for it, but it is not defined. Since: 0.2. */
    SELENE_CONDITION_UNDEFINED = 0,
    /** Defined, and not satisfied or not set yet. Since: 0.2. */
    SELENE_CONDITION_UNSATISFIED = 1,
    /** Defined and satisfied. Since: 0.2. */
    SELENE_CONDITION_SATISFIED = 2
};

/**
 * Reads a condition of the host.
 *
 * @param out_state  a SELENE_CONDITION_ number
 * @return INVALID_ARGUMENT, NOT_FOUND (it is not defined, and no task asks for it)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_condition_get(selene_scheduler scheduler, const char *name,
                                              int64_t name_length, int32_t *out_state);

/**
 * Lists the names of all conditions that are defined or that a task asks for, in the order of their bytes.
 *
 * @param out_names  the names, as the ids of a list
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller frees the list with selene_free. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_condition_list(selene_scheduler scheduler,
                                               selene_task_ids **out_names);

/**
 * Lists the names of the conditions of the host that a task asks for and that are not satisfied, in the order of their
 * bytes: the conditions behind SELENE_REASON_CONDITIONS of an explanation.
 *
 * @param id         the task; id_length its bytes, −1: NUL-terminated
 * @param out_names  the names, as the ids of a list; an empty one if nothing is missing
 * @return INVALID_ARGUMENT, NOT_FOUND (the task is unknown)
 *
 * Ownership: the caller frees the list with selene_free. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_condition_missing(selene_scheduler scheduler, const char *id,
                                                  int64_t id_length, selene_task_ids **out_names);

/* ============================================================================
 *  EVENTS
 * ========================================================================= */

enum {
    /** A register call changed something; detail says what. */
    SELENE_EVENT_REGISTERED = 1,
    /** A run was dispatched. */
    SELENE_EVENT_STARTED = 2,
    /** A run was asked to stop. After EXPIRING, LEASE_LOST, TIMED_OUT and STALLED it may still complete
     *  (selene_stop_fn); with every other reason it is over. SHUTDOWN and these may come twice: the first time the run is only
     *  asked, and the state is RUNNING; then it is over, and its task waits again. */
    SELENE_EVENT_STOPPED = 3,
    /** A run is decided; or, without a run, a successor failed before it started. */
    SELENE_EVENT_COMPLETED = 4,
    /** The task will be tried again at time_at. */
    SELENE_EVENT_RETRY = 5,
    /** The task waits for a free place. */
    SELENE_EVENT_HELD = 6,
    /** A held task took a free place. */
    SELENE_EVENT_PROMOTED = 7,
    SELENE_EVENT_CANCELLED = 8,
    SELENE_EVENT_CYCLE_BEGUN = 9,
    SELENE_EVENT_CYCLE_ENDED = 10,
    /** A successor took the place of the task before it. */
    SELENE_EVENT_UNBLOCKED = 11,
    /** A run that did not return was released after release_after; its id is free. */
    SELENE_EVENT_RELEASED = 12,
    /** The task was running when its process ended; detail: a SELENE_SUSPICION_ number, or 0. */
    SELENE_EVENT_INTERRUPTED = 13,
    /** At open: the time last seen by the store was more than 24 h ahead of the wall clock and was treated as a
     *  mistake; all stored instants were moved by time_at ns. */
    SELENE_EVENT_CLOCK_MOVED = 14,
    /** The governor refused a window of kinds; asking again may be worth it at time_at. */
    SELENE_EVENT_REFUSED = 15,
    /** The governor granted a window of kinds. */
    SELENE_EVENT_GRANTED = 16,
    /** The recording of a trace ended, because the file could not be written. */
    SELENE_EVENT_TRACE_ENDED = 17,
    /** Something keeps the scheduler from working, or no longer does; detail says what, status whether. It comes
     *  when the trouble begins, when its status becomes another, or what a fleet's database refuses its node with, and when
     *  it ends; for trouble that comes and goes or changes, at most once a minute, unless it becomes worse. Since: 0.2. */
    SELENE_EVENT_TROUBLE = 18,
    /** A task was paused; without a task: the kinds in kinds, until time_at, in the pool whose name is in message (empty:
     *  everywhere); without kinds: the group whose name is in message. Since: 0.2. */
    SELENE_EVENT_PAUSED = 19,
    /** What was paused goes on: a task, kinds (also when their time has come), or a group. Since: 0.2. */
    SELENE_EVENT_RESUMED = 20,
    /** A run reported its progress (selene_run_progress): the first report at once, later ones at most four times a
     *  second of scheduler time, and always the last one, before the end of the run. Since: 0.2. */
    SELENE_EVENT_PROGRESS = 21,
    /** A condition of the host is satisfied now (selene_condition_set); message is its name. Since: 0.2. */
    SELENE_EVENT_CONDITION_MET = 22,
    /** A condition of the host is no longer satisfied; message is its name. Since: 0.2. */
    SELENE_EVENT_CONDITION_LOST = 23,
    /** The quota of expedited tasks is used up: they are ordinary ones until something is left again, at time_at if no more
     *  of it is used (expedited_quota). Not told of a quota of 0. Since: 0.2. */
    SELENE_EVENT_QUOTA_USED_UP = 24,
    /** Something of the quota of expedited tasks is left again. Since: 0.2. */
    SELENE_EVENT_QUOTA_LEFT = 25,
    /** A run has succeeded, and what it left is not kept, because it is too long (max_output_size): progress_done has its
     *  bytes, progress_total how many are kept at most. Since: 0.2. */
    SELENE_EVENT_OUTPUT_LOST = 26
};

/** One change. */
typedef struct selene_event {
    uint32_t struct_size;
    uint32_t flags;
    /** 1, 2, 3 … in the order of the changes. */
    uint64_t number;
    /** A SELENE_EVENT_ number. */
    int32_t type;
    /** The task's state after it; −1 where there is no task. */
    int32_t state;
    /** When, in scheduler time. What happens by time alone, such as an expiry, has its nominal instant and is told by
     *  the next call: it may be earlier than the time of an event with a smaller number. */
    int64_t time;
    /** The task; empty where there is none. */
    selene_text id;
    /** The run, or 0. */
    selene_run run;
    /** The cycle, or 0. */
    selene_cycle cycle;
    /** REGISTERED: a SELENE_DISPOSITION_ number. COMPLETED: the outcome. STOPPED: the reason.
     *  CYCLE_ENDED: the result. REFUSED: the first factor whose veto refused, 0 if the score was too low.
     *  TROUBLE: a SELENE_TROUBLE_ number. Else 0. */
    int32_t detail;
    /** STARTED, STOPPED, COMPLETED and RETRY of a run: the number of its attempt, which a stop that enqueues the task again
     *  as before the run does not count. Else the attempts of the task. */
    uint32_t attempts;
    /** RETRY and INTERRUPTED: when it is due again. STARTED and CYCLE_BEGUN: the deadline. CLOCK_MOVED: the
     *  span in ns. REFUSED: when asking again may be worth it, SELENE_NEVER: when a signal changes. PAUSED of kinds: until when;
     *  SELENE_NEVER: until they are resumed. Else 0. */
    int64_t time_at;
    /** SELENE_KIND_ bits of the task, the cycle, the decision or the pause. */
    uint32_t kinds;
    /** TROUBLE: the status that calls are refused with because of it; SELENE_OK: it has ended. Else 0. Since: 0.2. */
    selene_status status;
    /** TROUBLE that begins: what is wrong, for people, as selene_error_last says it; end of TROUBLE_OBSERVER: how many
     *  events were lost; end of TROUBLE_HANDLER: which handler. COMPLETED and INTERRUPTED: why the run failed, as
     *  selene_task_info has it. PROGRESS: its text. PAUSED and RESUMED of a group or of kinds in a pool, CONDITION_MET and
     *  CONDITION_LOST: the name. Else empty. Since: 0.2. */
    selene_text message;
    /** Of a task whose scheduler has SELENE_OPTIONS_FRESHNESS what its turn follows from after the change, as in
     *  selene_explanation; STARTED: as it was picked. Else 0. Since: 0.2. */
    int64_t fresh_since;
    int64_t cost;
    uint32_t known_runs;
    uint32_t news_runs;
    int32_t pace;
    int32_t pace_class;
    /** PROGRESS: how much is done, of how much (0: unknown). OUTPUT_LOST: the bytes of the output, and how many are kept at
     *  most. Else 0. Since: 0.2. */
    int64_t progress_done;
    int64_t progress_total;
} selene_event;

/** Receives every change, one at a time; what it changes itself is queued behind. */
typedef void (*selene_event_fn)(const selene_event *event, void *context);

/**
 * Sets the one observer of a scheduler; an earlier one is released after the events that are queued for it.
 *
 * The first observer is also told what happened at open.
 *
 * @param observer  called without a lock, on the thread of the call that made the change or on one of the library; NULL:
 *                  none. While it is in one event, calls of other threads leave theirs to it and return
 * @param context   given to observer
 * @param destroy   releases context after the last event; also when this call fails
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_scheduler_observe(selene_scheduler scheduler,
                                                  selene_event_fn observer, void *context,
                                                  selene_destroy_fn destroy);

/** Most events that a queue may hold. Since: 0.2. */
#define SELENE_EVENTS 65536

/**
 * Opens the queue of a scheduler's events, for hosts that read them instead of being called: beside the observer, or in
 * its place. What happened at open is told to the first of the two.
 *
 * Through a connection it has what happens in the owner from now on, whoever causes it, in its order; what a call through
 * the connection did can be read when that has returned. There the oldest are lost where there is no room, besides the
 * few that are on their way. The right to look is needed.
 *
 * @param capacity  how many events wait at most, 1 … SELENE_EVENTS; those that find no room are lost, counted
 * @param out_fd    readable while an event waits, until selene_events_next finds none; poll only, never read or close.
 *                  May be NULL
 * @return INVALID_ARGUMENT, ALREADY_EXISTS (it is open), EXHAUSTED (the system refused a descriptor)
 *
 * Ownership: the descriptor is the library's, until selene_events_close or the scheduler's close. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_events_open(selene_scheduler scheduler, uint64_t capacity,
                                            int32_t *out_fd);

/**
 * Takes the next event out of the queue, or waits for one.
 *
 * @param timeout    how long to wait at most, in ns; 0: not at all; SELENE_NEVER: until there is one
 * @param out_event  the event, filled up to its struct_size; not touched if there is
 *                   none
 * @param out_found  1: an event; 0: there is none
 * @param out_lost   how many events were lost before this one since the last that was told; their numbers are missing.
 *                   May be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, UNSUPPORTED (no queue is open, or it was closed meanwhile), REENTRANT
 *         (inside a callback of this scheduler, unless timeout is 0), OWNER_AWAY (of a connection: the owner has ended or
 *         serves no more, and what it told before is read; until the queue is closed and opened again)
 *
 * Ownership: the texts of out_event are borrowed until the next event is taken, or the queue or the scheduler is closed.
 * Thread: any, one at a time; blocks up to the timeout. Since: 0.2.
 */
SELENE_API selene_status selene_events_next(selene_scheduler scheduler, int64_t timeout,
                                            selene_event *out_event, int32_t *out_found,
                                            uint64_t *out_lost);

/**
 * Closes the queue with what waits in it; without one it does nothing. A thread that waits in selene_events_next returns.
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_events_close(selene_scheduler scheduler);

/* ============================================================================
 *  LOG
 * ========================================================================= */

/** How bad a line is. */
enum {
    /** Something was refused or lost: a store that could not be opened, changes that could not be stored, a fault of the
     *  library. */
    SELENE_LOG_ERROR = 1,
    /** Something keeps the scheduler from working, or will: troubles and their ends, threads left behind, interrupted tasks,
     *  a salvage. */
    SELENE_LOG_WARNING = 2,
    /** Routine events: stores opened and closed, drivers. */
    SELENE_LOG_INFO = 3
};

/**
 * Receives a line. It may call nothing of the library but selene_name (REENTRANT).
 *
 * @param level    a SELENE_LOG_ number; treat others as INFO
 * @param text     one sentence, UTF-8 without control characters, ends with a NUL; it begins with the store or the
 *                 scheduler that it is about
 * @param context  that of selene_log_set
 */
typedef void (*selene_log_fn)(int32_t level, const char *text, void *context);

/**
 * Sets the one log function of the process; the library is silent without one.
 *
 * One for the process, as in SQLite, because half of what it is told has no scheduler yet or no more: a store that another
 * process has open, a salvage, a close. Programs use events, statuses and reports; lines are for people, and their words
 * change from one version to the next.
 *
 * Lines come in the order in which things happened, one at a time, never under a lock. As stop functions and observers the
 * function is called on a thread of the library where a scheduler has any, else on the thread of the call that caused the
 * line or of another call, before it returns. While it is in one line up to 1 024 others wait for it; those beyond are lost,
 * and a line says how many.
 *
 * @param log      NULL: none
 * @param context  given to log
 * @param destroy  releases context after the last call; when another function takes the place of one that another thread is
 *                 just calling, that thread calls destroy. Also when this call fails
 * @return REENTRANT inside a log function or a host clock
 *
 * After fork() the child has the function, too, but none of the lines that were waiting.
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_log_set(selene_log_fn log, void *context,
                                        selene_destroy_fn destroy);

/* ============================================================================
 *  STORE
 * ========================================================================= */

/** What the store of a scheduler is. Made by selene_store_get. */
typedef struct selene_store_info {
    uint32_t struct_size;
    uint32_t flags;
    /** The absolute path of the file, with links resolved; empty in memory. */
    selene_text path;
    /** Version of SQLite in use, as "3.40.1". */
    selene_text sqlite_version;
    /** 1 if a power loss may undo the last calls (SELENE_OPTIONS_RELAXED), else 0. */
    int32_t relaxed;
    /** Version of the schema of the file. */
    int32_t schema_version;
    uint64_t page_size;
    /** Pages of the file. */
    uint64_t pages;
    /** Bytes in the write-ahead log. */
    uint64_t wal_size;
    /** Commits since the scheduler was opened. */
    uint64_t commits;
    /** The application that the store belongs to (option owner); empty if none was given. Since: 0.2. */
    selene_text owner;
} selene_store_info;

/** What selene_store_check and selene_store_salvage found. */
typedef struct selene_store_findings {
    uint32_t struct_size;
    uint32_t flags;
    /** Version of the schema of the file. */
    uint64_t schema_version;
    /** Tasks that can be read, successors that wait included. */
    uint64_t tasks;
    /** Rows that cannot be read or are not tasks, and damaged pages of the log. Rows on a page that is lost entirely
     *  cannot be counted. */
    uint64_t damaged;
} selene_store_findings;

/**
 * Gives where and how a scheduler stores its tasks.
 *
 * @param out_info  the facts
 * @return STORE_IO
 *
 * Ownership: the caller frees them, with their texts, with selene_free. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_store_get(selene_scheduler scheduler, selene_store_info **out_info);

/**
 * Copies the store of a scheduler, as it is now, into a new file while it is in use.
 *
 * @param path         the new file, which must not exist; mode 0600
 * @param path_length  its bytes; −1: NUL-terminated
 * @return INVALID_ARGUMENT, UNSUPPORTED (the tasks live in memory), STORE_CANNOT_OPEN (it exists, or cannot be
 *         made), STORE_FULL, STORE_IO; the new file is then removed
 *
 * Thread: any; the scheduler waits meanwhile. Since: 0.1.
 */
SELENE_API selene_status selene_store_backup(selene_scheduler scheduler, const char *path,
                                             int64_t path_length);

/**
 * Examines a store that is not open anywhere, without changing it.
 *
 * @param path          the file
 * @param path_length   its bytes; −1: NUL-terminated
 * @param out_findings  what was found; may be NULL
 * @return OK (it is whole), INVALID_ARGUMENT, UNSUPPORTED_STRUCT, STORE_CANNOT_OPEN, STORE_LOCKED, STORE_CORRUPT,
 *         STORE_FOREIGN, STORE_NEWER, STORE_IO
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_store_check(const char *path, int64_t path_length,
                                            selene_store_findings *out_findings);

/**
 * Saves every task that can be read from a damaged store into a new one. The damaged file is left as it is.
 *
 * It reads the rows, each of which has a checksum, and ignores the header of the file. The log (the same name with
 * -wal) has to lie beside the file if there is one. It needs memory for the file and its tasks; a file larger than the machine's
 * memory is refused before it is read.
 *
 * @param damaged         the damaged file; not open anywhere
 * @param damaged_length  its bytes; −1: NUL-terminated
 * @param fresh           the new file, which must not exist; mode 0600
 * @param fresh_length    its bytes; −1: NUL-terminated
 * @param out_findings    how many tasks were saved, and how many rows were not; may be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, STORE_CANNOT_OPEN, STORE_LOCKED, STORE_FOREIGN, STORE_NEWER
 *         (it has other tables), STORE_CORRUPT (no row of a store was found), STORE_FULL, STORE_IO, EXHAUSTED (too large
 *         for the memory); then there is no new file
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_store_salvage(const char *damaged, int64_t damaged_length,
                                              const char *fresh, int64_t fresh_length,
                                              selene_store_findings *out_findings);

/* ============================================================================
 *  SERVER
 *
 *  A store has one owner: the process whose scheduler has it open. That process may serve it on a Unix socket; others
 *  connect and call the same functions through a handle of their own. Only processes of this machine can.
 *  docs/protocol.md describes the protocol.
 *  ========================================================================= */

/** A server of a scheduler; 0 is none. */
typedef uint64_t selene_server;

/** What a process that connects may do; bits. Since: 0.2. */
enum {
    /** Get, list, explain, counts, conditions, signals, decisions, events; the input of a task comes out empty. */
    SELENE_RIGHT_LOOK = 1,
    /** Read the input and the output of tasks, too. */
    SELENE_RIGHT_READ = 2,
    /** Register, cancel, retry, pause and resume tasks. */
    SELENE_RIGHT_ENQUEUE = 4,
    /** Offer handlers, take runs and give their outcomes. */
    SELENE_RIGHT_WORK = 8,
    /** Cancel all, prune, enable, pause kinds, resume, launch, expire, set conditions and signals, report use. */
    SELENE_RIGHT_MANAGE = 16,
    SELENE_RIGHT_ALL = 31
};

/** Any user or group, in a selene_peer_rule: UINT32_MAX. */
#define SELENE_ANYBODY 4294967295U

/** What processes of a user and group may do. The system identifies them, not they themselves. Since: 0.2. */
typedef struct selene_peer_rule {
    /** The process's user; SELENE_ANYBODY: any. @unit number @range any @zero root */
    uint32_t uid;
    /** One of its groups when it connected; SELENE_ANYBODY: any. @unit number @range any @zero 0 */
    uint32_t gid;
    /** What such a process may do; the rights of all rules that fit are added. @unit SELENE_RIGHT_ bits @zero none */
    uint32_t rights;
    /** 0. */
    uint32_t reserved;
} selene_peer_rule;

/** How a scheduler is served: bits of the flags of selene_server_options. */
enum {
    /** At a socket that the host has: descriptor. Since: 0.2. */
    SELENE_SERVER_DESCRIPTOR = 1
};

/** How a scheduler is served. Since: 0.2. */
typedef struct selene_server_options {
    uint32_t struct_size;
    /** SELENE_SERVER_DESCRIPTOR or 0. @unit number @range 0 … SELENE_SERVER_DESCRIPTOR @zero none */
    uint32_t flags;
    /** The socket; empty (default): the store's path and "-sock". A socket that an earlier owner left behind is
     *  replaced. */
    selene_text path;
    /** Who else may connect, besides the user of this process and root, who may do everything. Copied. */
    const selene_peer_rule *rules;
    /** Number of these rules. @unit entries @range 0 … 1024 @zero 0 */
    uint64_t rule_count;
    /** The socket's file mode. Users who cannot write to it cannot connect, so with rules it is usually 0666.
     *  @unit number @range 0 … 511 @zero 384 */
    uint32_t mode;
    /** Connections at a time, of which one that reads events has two. A process that connects
     *  has the patience (below) to identify itself, 1 s at most if others want its place, and does not count before. A
     *  sixteenth of them, at most 64, are kept for this process's user and root; of the others each user gets at most half.
     *  @unit count @range 1 … 65536 @zero 1024 */
    uint32_t max_clients;
    /** Bytes of one request. @unit bytes @range 64 KiB … 1 GiB @zero 16 MiB */
    uint64_t max_request_size;
    /** With SELENE_SERVER_DESCRIPTOR a listening Unix stream socket, such as systemd passes: path must be empty then, and
     *  mode is ignored. The server makes a duplicate, so the host may close its own, and the socket's file stays. The
     *  socket is made non-blocking. @unit number @range 0 … @zero 0 */
    int32_t descriptor;
    /** 0. */
    uint32_t reserved;
    /** How long it waits for processes that had runs when the previous owner ended without closing: those that reconnect in
     *  that time keep their runs, those of the others count as interrupted. Since: 0.2.
     *  @unit ns @range 0 … 24 h @zero 10 s @none 0 */
    int64_t adopt;
    /** How long a connection may take to identify itself, to send the rest of a request, or to take an answer of
     *  which the system takes no more. Each 64 KiB that come or are taken begin it anew. Then the
     *  connection is ended. Since: 0.2. @unit ns @range 1 ms … 24 h @zero 5 s */
    int64_t patience;
} selene_server_options;

/** What a server has done. Filled by selene_server_get. Since: 0.2. */
typedef struct selene_server_info {
    uint32_t struct_size;
    uint32_t flags;
    /** Processes that are connected. */
    uint64_t clients;
    /** Connections since it was opened. */
    uint64_t accepted;
    /** Requests since then. */
    uint64_t requests;
    /** Requests and connections that rights or limits refused. */
    uint64_t refused;
    /** Connections that were ended because of a violation of the protocol. */
    uint64_t broken;
} selene_server_info;

/** Whose process a connection believes besides those of its own user and of root. Since: 0.2. */
enum {
    /** No other's. */
    SELENE_SERVER_USER_SAME = 0,
    /** Any user's. */
    SELENE_SERVER_USER_ANY = -1
};

/** How to connect. Since: 0.2. */
typedef struct selene_connect_options {
    uint32_t struct_size;
    /** 0. @unit number @range 0 … 0 @zero 0 */
    uint32_t flags;
    /** Required: the store, whose socket has its name and "-sock", or the socket itself. */
    selene_text path;
    /** How long a call waits for an owner while none serves the socket. @unit ns @range 0 … 24 h @zero not at all */
    int64_t wait;
    /** How long a call waits for an answer. @unit ns @range 1 ms … 24 h @zero 30 s */
    int64_t timeout;
    /** The pool whose handlers it offers and whose tasks it runs, once it registers a handler or begins a cycle: 1 … 255
     *  bytes; empty (default): the name of its executable. */
    selene_text pool;
    /** Whose process may serve, besides one of this process's user or of root: the number of a user, or
     *  SELENE_SERVER_USER_SAME, SELENE_SERVER_USER_ANY. The system says whose process it is, before anything is
     *  told to it: whoever may write to a folder may serve a socket there.
     *  @unit number @range SELENE_SERVER_USER_ANY … 4294967295 @zero SELENE_SERVER_USER_SAME */
    int64_t server_user;
} selene_connect_options;

/** A process that is connected. Since: 0.2. */
typedef struct selene_client {
    /** Its pool; empty until it has registered a handler or begun a cycle. */
    selene_text pool;
    /** Its command line as the system reports it, up to 255 bytes; empty if it has ended meanwhile. */
    selene_text command;
    /** The ids of the process and of its user, as the system reports them. */
    uint32_t process;
    uint32_t user;
    /** SELENE_RIGHT_ bits. */
    uint32_t rights;
    /** Of its library, as SELENE_VERSION_NUMBER. */
    uint32_t version;
    /** How many handlers it offers, how many runs it has that are not over, and what it has asked since it connected. */
    uint64_t handlers;
    uint64_t runs;
    uint64_t requests;
} selene_client;

/** Who is connected. Made by selene_client_list. Since: 0.2. */
typedef struct selene_clients {
    uint32_t struct_size;
    uint32_t flags;
    const selene_client *clients;
    uint64_t count;
} selene_clients;

/**
 * Serves a scheduler on a Unix socket, on a library thread of its own.
 *
 * Requests that arrive together share a commit, and none is answered before it: OK is as durable as from a local call.
 * Stop functions and observers may be called on the server's thread.
 *
 * @param scheduler   of this process; a connection is not served
 * @param options     how; NULL for all defaults
 * @param out_server  the handle
 * @return INVALID_ARGUMENT (also: the socket cannot be made; no path for tasks in memory; a descriptor that does not listen),
 *         UNSUPPORTED_STRUCT, UNSUPPORTED (scheduler is a connection, or has SELENE_OPTIONS_NO_THREADS), ALREADY_EXISTS
 *         (another server answers there, or a file that is not a socket), EXHAUSTED, STORE_IO
 *
 * Ownership: the caller closes the server with selene_server_close; closing the scheduler does so, too. Thread: any.
 * Since: 0.2.
 */
SELENE_API selene_status selene_server_start(selene_scheduler scheduler,
                                             const selene_server_options *options,
                                             selene_server *out_server);

/**
 * Serves a scheduler without a thread, from an event loop: whenever its descriptor is readable call selene_server_step. It
 * is readable at once, and stays so until a step leaves nothing to do: watch it level-triggered.
 *
 * While the host does not step, who connects and who asks wait, each up to its timeout (OWNER_AWAY); processes that have
 * ended are noticed, and runs of members are asked to stop, at the next step. adopt of the options counts from here, so step
 * soon. selene_scheduler_drain and selene_scheduler_close step it themselves while they wait for runs.
 *
 * @param scheduler   of this process; a connection is not served
 * @param options     how; NULL for all defaults
 * @param out_server  the handle
 * @param out_fd      readable when a step is due; poll only, never read or close. May be NULL
 * @return what selene_server_start answers; SELENE_OPTIONS_NO_THREADS is no hindrance
 *
 * Ownership: the caller closes the server with selene_server_close; closing the scheduler does so, too. The descriptor is
 * the library's, until then. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_server_open(selene_scheduler scheduler,
                                            const selene_server_options *options,
                                            selene_server *out_server, int32_t *out_fd);

/**
 * Takes in what clients of such a server have asked, one request of each, makes the calls in one commit, and answers. It
 * waits for no client, but for the disk where the commit is durable.
 *
 * Stop functions and observers may be called by it. selene_error_last stays what it was: what is refused to a client is
 * told to that client alone.
 *
 * @param server       of selene_server_open
 * @param out_wake_at  when to step again even if the descriptor stays silent; SELENE_NEVER: not before. The descriptor
 *                     follows time, so only who does not wait for it needs this. May be NULL
 * @return UNSUPPORTED (a library thread serves: selene_server_start), BUSY (another thread steps it just now), REENTRANT
 *         (inside a callback that a step of it calls)
 *
 * Thread: any, one at a time; also inside a handler, so that one that takes long may go on serving. Since: 0.2.
 */
SELENE_API selene_status selene_server_step(selene_server server, int64_t *out_wake_at);

/**
 * Counts what a server has done.
 *
 * @param server    of selene_server_start or selene_server_open
 * @param out_info  filled up to its struct_size
 * @return UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_server_get(selene_server server, selene_server_info *out_info);

/**
 * Lists the processes that are connected to the servers of a scheduler, the latest first. A process that reads events
 * is listed twice.
 *
 * @param scheduler    of this process, or a connection, which is then in the list
 * @param out_clients  who
 * @return INVALID_ARGUMENT; of a connection OWNER_AWAY, REFUSED
 *
 * Ownership: the caller frees it with selene_free. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_client_list(selene_scheduler scheduler,
                                            selene_clients **out_clients);

/**
 * Ends a server and removes its socket. Requests in progress are answered; for all others the owner is away. The
 * scheduler goes on.
 *
 * @param server  the handle; 0 does nothing
 * @return REENTRANT (inside a callback that the server's own thread, or a step of it, calls)
 *
 * Thread: any; waits for the request that is being made, or the step. Since: 0.2.
 */
SELENE_API selene_status selene_server_close(selene_server server);

/**
 * Connects to the process that has a store open and serves it. It neither opens the store nor starts a process.
 *
 * The handle is used as that of a scheduler: now, get, enable, pause, next_wakeup, prune and resume; all functions of tasks;
 * selene_cycle_plan, conditions, signals, selene_store_get, selene_governor_ask and _last, the ledger and
 * selene_use_report. Each call is made by the owner, and returns what it returns there. selene_events_open, _next and
 * _close give the owner's events. Calls from several threads are made one after another.
 *
 * A connection can take runs, too: selene_handler_register, selene_handler_unregister, selene_cycle_begin, _next, _end
 * and _drain, lanes (selene_lane_open, _next and _close, selene_cycle_wait), and all functions of runs. Its process is
 * then a member of the pool that was named at connect. The tasks of a handler that members offer are theirs: a window
 * of the owner does not take them, and a member's window, and its selene_cycle_plan, take those whose handlers it has
 * offered itself. A handler name belongs to one pool, or to the owner (ALREADY_EXISTS). While no member offers it, its
 * tasks wait (SELENE_REASON_NO_HANDLER). BUSY, TOO_SOON and the next wake-up are those of the pool. A begin while the
 * pool has a cycle of exactly these kinds open joins it: the deadline stays, and the cycle may run as many more tasks
 * at a time as the window has lanes; the report of each end has all runs so far, and the cycle ends when its last
 * member ends it.
 *
 * A lane gives the outcome of a run and takes the next one in one round trip; selene_run_complete and selene_cycle_next
 * take two. A thread that waits in selene_lane_next, or in selene_cycle_wait, is woken by the owner: by what becomes
 * eligible in a rolling window, a run that comes back, a run that is stopped. A run that is over frees its lane as in
 * the owner; threads that are left behind are not counted.
 *
 * Windows whose handlers the library calls (selene_cycle_run, also with SELENE_WINDOW_INLINE, and
 * selene_cycle_run_async) are those of the pool in the same way: this process calls the handlers, inline or on threads
 * that it starts for the window, 16 of which may be left behind (BUSY). If the owner ends before the window,
 * selene_cycle_run answers OWNER_AWAY, and the callback of an asynchronous window receives a report without runs that
 * has SELENE_REPORT_NOT_STORED. A close with a grace lets these runs complete; those that are left are stopped, and
 * their tasks wait again as before.
 *
 * A run belongs to the connection that took it (others: INVALID_HANDLE). Stop functions are called on a thread that the
 * library starts with the first handler that has one, or with a driver; it starts no other threads than those of
 * windows and of selene_driver_start. When the connection ends without selene_scheduler_close, for example because the
 * process was killed, the tasks of its runs wait again as after a crash of the owner: one that was alone there has failed
 * an attempt. After selene_scheduler_close they wait again as before the run. A process that is alive but does nothing,
 * suspended or hung, keeps its runs until their deadline. An owner that is closed with a grace waits for the runs of its
 * members, too. When it has ended, so have its cycles (INVALID_HANDLE; a lane's answer is DONE), and, if it was closed,
 * their runs (STALE_RUN); the handlers are offered again to the next one by the call that finds it.
 *
 * Runs whose owner ended without closing go on: the next one waits for their processes (adopt of
 * selene_server_options), and the first call that reaches it reports the runs there are, and repeats outcomes that were
 * not durable. Tokens stay valid; that of a run that was given up meanwhile answers STALE_RUN. A completion that
 * answered OWNER_AWAY is passed on to the next owner, too; repeat the call to learn the result: OK, or
 * ALREADY_COMPLETED.
 *
 * A driver of a connection (selene_driver_start, _open, _step, _wait, _stop) opens the windows that the owner grants,
 * whether that has a driver of its own or not: the owner's governor decides, once for each kind, its ledger and budgets
 * are those of the machine. So is a window that was granted: every pool that has tasks of the kind takes part in it at
 * the same time, with its own lanes, until it ends. Other members of the pool that have a driver join the window when
 * it has tasks for them. When the process ends, or its driver is stopped, its part ends. A driver continues by itself
 * with the next owner; while there is none selene_driver_step answers OWNER_AWAY, and its descriptor is readable again
 * after a second.
 *
 * Everything else (descriptors of cycles, observers, …) answers UNSUPPORTED.
 *
 * Where the owner is away a call waits for the next one, up to wait, and holds up no other call of the connection. These
 * do not wait: selene_driver_step, calls of a cycle or lane, and those that ask of a run or tell its progress; calls that
 * say what a run leaves do. Once selene_scheduler_close has begun no call waits longer than its grace.
 *
 * When the owner has ended and another one serves the store, the next call reaches that one. Any call through the
 * handle may answer OWNER_AWAY: no process serves the socket, or the owner ended or did not answer during the call. The
 * fault says whether the request may have been carried out (SELENE_FAULT_IN_DOUBT). Calls that only read, and those
 * that are idempotent, are retried once. REFUSED: the owner does not permit this user to do so.
 *
 * @param options        how; path is required
 * @param out_scheduler  the handle, closed by selene_scheduler_close
 * @return INVALID_ARGUMENT (also: a name that is too long for a socket), UNSUPPORTED_STRUCT, OWNER_AWAY (no process serves
 *         it: the message says what is there), REFUSED (this user may not write to the socket, or has no rights), UNSUPPORTED
 *         (the owner speaks no common version of the protocol), EXHAUSTED (of descriptors here, or of clients there)
 *
 * Ownership: the caller closes the handle with selene_scheduler_close. In the child of a fork it answers FORKED; the
 * child connects anew. Thread: any; blocks for at most wait and timeout. Since: 0.2.
 */
SELENE_API selene_status selene_scheduler_connect(const selene_connect_options *options,
                                                  selene_scheduler *out_scheduler);

/* ============================================================================
 *  GOVERNOR
 *
 * On a phone the system decides when background work gets a window. Elsewhere
 * the governor decides: it looks at SIGNALS (battery, heat, user activity, load,
 * …), applies a PROFILE to them, and grants or refuses windows, with a reason for
 * each FACTOR. Its LEDGER counts what background work has used; its usage history
 * tells when the host is likely to be used.
 *
 * Its decisions bind the DRIVER, which acts as the system scheduler, and callers
 * of selene_governor_ask; never a host's own selene_cycle_begin. Every window of a
 * kind is booked, no matter what opened it, and a new veto stops its runs if the
 * profile says so; that window then dispatches no more tasks of the kind. With the
 * profile that a scheduler opens with, OPEN, it grants everything and books
 * nothing. A decision is a pure function of profile, signals, ledger, usage
 * history and time: a recorded TRACE gives the same decisions when it is replayed.
 *
 * Shares, scores and probabilities are in per mille everywhere.
 * ========================================================================= */

/* ---- Signals ------------------------------------------------------------- */

/**
 * What the governor looks at. Each has a value or is unknown; an unknown signal counts as the value given below, so that
 * a machine without sensors works.
 */
enum {
    /** Charge of all batteries, 0 … 1000. Unknown: 1000. */
    SELENE_SIGNAL_BATTERY_LEVEL = 1,
    /** 1 on external power. Unknown: 1. */
    SELENE_SIGNAL_EXTERNAL_POWER = 2,
    /** 1 while the system should save power. Set by the host. Unknown: 0. */
    SELENE_SIGNAL_LOW_POWER_MODE = 3,
    /** 0 nominal, 1 fair (set by hosts only), 2 serious, 3 critical. Unknown: 0. */
    SELENE_SIGNAL_THERMAL = 4,
    /** 1 while a person works at the machine. Unknown: 0. */
    SELENE_SIGNAL_USER_ACTIVE = 5,
    /** 1 while a display is on. Unknown: 0. */
    SELENE_SIGNAL_DISPLAY_ON = 6,
    /** 1 once a person has unlocked the machine since it started. Set by the host. Unknown: 1. */
    SELENE_SIGNAL_UNLOCKED = 7,
    /** 1 while a network is reachable. Unknown: 1. */
    SELENE_SIGNAL_NETWORK = 8,
    /** 1 while the network costs by volume. Set by the host. Unknown: 0. */
    SELENE_SIGNAL_METERED = 9,
    /** 1 while all wireless radios are switched off. Unknown: 0. */
    SELENE_SIGNAL_AIRPLANE = 10,
    /** 0 when the user does not permit this host to work in the background. Set by the host, kept in the store.
     *  Unknown: 1. */
    SELENE_SIGNAL_BACKGROUND_SWITCH = 11,
    /** A SELENE_PRESENCE_ number. Set by the host, kept in the store. Unknown: background. */
    SELENE_SIGNAL_HOST_PRESENCE = 12,
    /** Share of CPU time that is not idle: in the last seconds, or at this moment where none were observed. Unknown: 0. */
    SELENE_SIGNAL_CPU_BUSY = 13,
    /** Share of the last 10 s in which some task waited for a CPU (pressure stall information). Unknown: 0. */
    SELENE_SIGNAL_CPU_PRESSURE = 14,
    /** Likewise for memory. Unknown: 0. */
    SELENE_SIGNAL_MEMORY_PRESSURE = 15,
    /** Share of the last 10 s in which all tasks waited for memory. Unknown: 0. */
    SELENE_SIGNAL_MEMORY_STALLED = 16,
    /** Some task waited for input or output. Unknown: 0. */
    SELENE_SIGNAL_IO_PRESSURE = 17,
    /** All tasks waited for input or output. Unknown: 0. */
    SELENE_SIGNAL_IO_STALLED = 18,
    /** Free share of the file system that holds the store; without a store set by the host. Unknown: 1000. */
    SELENE_SIGNAL_STORAGE_FREE = 19,
    /** 1 while a battery of the machine is being emptied. Unknown: 0. */
    SELENE_SIGNAL_DISCHARGING = 20,
    /** Local time minus UTC in seconds, −64 800 … 64 800. Unknown: 0. */
    SELENE_SIGNAL_UTC_OFFSET = 21,
    /** 1 while roaming, which may cost more; for constraints only, no factor uses it. Set by the host. Unknown: 0.
     *  Since: 0.2. */
    SELENE_SIGNAL_ROAMING = 22
};

/** The host as its user sees it. */
enum {
    SELENE_PRESENCE_BACKGROUND = 0,
    SELENE_PRESENCE_FOREGROUND = 1,
    /** The user has quit it and has not started it again. */
    SELENE_PRESENCE_QUIT = 2
};

/** Where the value of a signal comes from; a later number overrides an earlier one. */
enum {
    SELENE_SOURCE_UNKNOWN = 0,
    /** Read from the system. */
    SELENE_SOURCE_PROBE = 1,
    /** selene_signal_set. */
    SELENE_SOURCE_HOST = 2,
    /** Reserved: no function returns it. */
    SELENE_SOURCE_TRACE = 3,
    /** For factors: the governor's own ledger and history. */
    SELENE_SOURCE_BOOKS = 4
};

/** What is known of a signal. */
typedef struct selene_signal {
    uint32_t struct_size;
    uint32_t flags;
    /** The value, or what it counts as while it is unknown. */
    int64_t value;
    /** SELENE_SOURCE_ number. */
    int32_t source;
    /** 0. */
    int32_t reserved;
    /** When it was set last; its age counts from here. SELENE_NEVER if it is unknown. */
    int64_t set_at;
    /** Since when it has this value. SELENE_NEVER if it is unknown. */
    int64_t since;
    /** When it becomes unknown unless it is set again; SELENE_NEVER: it stays. */
    int64_t until;
} selene_signal;

/**
 * Sets a signal, overriding the system's reading until it expires or is cleared.
 *
 * It counts for the governor and for the constraints of tasks alike. If it raises a veto, the runs in flight of the
 * vetoed kind are stopped if the profile says so (PREEMPTED); if a constraint is lost, so are the runs that need it
 * (CONSTRAINT_LOST). Tasks that it, or its expiry, makes eligible can run. The driver looks at the change at once.
 * SELENE_SIGNAL_BACKGROUND_SWITCH and _HOST_PRESENCE are kept in the store, unless they are set for a time.
 *
 * @param signal     a SELENE_SIGNAL_ number
 * @param value      within the signal's range
 * @param valid_for  ns, after which it is unknown again; 0 or less: it stays
 * @return INVALID_ARGUMENT (unknown signal, or a value outside its range)
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_signal_set(selene_scheduler scheduler, int32_t signal,
                                           int64_t value, int64_t valid_for);

/**
 * Clears the host's value of a signal; the system's reading applies again.
 *
 * @param signal  a SELENE_SIGNAL_ number; one that the host never set does nothing
 * @return INVALID_ARGUMENT (unknown signal)
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_signal_clear(selene_scheduler scheduler, int32_t signal);

/**
 * Reads a signal as a decision would now.
 *
 * Reads the system's files for this signal, unless the host has set it or supplies the clock. The share of busy CPU
 * time needs two readings.
 *
 * @param signal      a SELENE_SIGNAL_ number
 * @param out_signal  filled up to its struct_size
 * @return INVALID_ARGUMENT (unknown signal), UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_signal_get(selene_scheduler scheduler, int32_t signal,
                                           selene_signal *out_signal);

/* ---- Profile ------------------------------------------------------------- */

/** What a profile can require. Factors 1 to 19 look at the signal of the same number. */
enum {
    /** The level while discharging, 1000 otherwise; at least. Usually 200. */
    SELENE_FACTOR_BATTERY = 1,
    /** … the factors 2 to 19 have the numbers and units of SELENE_SIGNAL_EXTERNAL_POWER … _STORAGE_FREE. */
    SELENE_FACTOR_EXTERNAL_POWER = 2,
    SELENE_FACTOR_LOW_POWER_MODE = 3,
    SELENE_FACTOR_THERMAL = 4,
    SELENE_FACTOR_USER_ACTIVE = 5,
    SELENE_FACTOR_DISPLAY_ON = 6,
    SELENE_FACTOR_UNLOCKED = 7,
    SELENE_FACTOR_NETWORK = 8,
    SELENE_FACTOR_METERED = 9,
    SELENE_FACTOR_AIRPLANE = 10,
    SELENE_FACTOR_BACKGROUND_SWITCH = 11,
    SELENE_FACTOR_HOST_PRESENCE = 12,
    SELENE_FACTOR_CPU_BUSY = 13,
    SELENE_FACTOR_CPU_PRESSURE = 14,
    SELENE_FACTOR_MEMORY_PRESSURE = 15,
    SELENE_FACTOR_MEMORY_STALLED = 16,
    SELENE_FACTOR_IO_PRESSURE = 17,
    SELENE_FACTOR_IO_STALLED = 18,
    SELENE_FACTOR_STORAGE_FREE = 19,
    /** A quota of the kind is spent. Observed: what was used of the fullest, per mille of its limit. */
    SELENE_FACTOR_BUDGET = 20,
    /** ns since the kind's last window began; at least. Usually 15 min. */
    SELENE_FACTOR_RATE = 21,
    /** How well the present hour suits the kind: refresh prefers hours of use, processing hours without. Usually 500,
     *  at least. */
    SELENE_FACTOR_USE_PREDICTION = 22,
    /** ns since the host was last used; at most. Usually 7 days. */
    SELENE_FACTOR_RECENT_USE = 23
};

/** What a profile does with a factor. */
enum {
    SELENE_RULE_IGNORE = 0,
    /** An observation that does not meet the requirement refuses the window. */
    SELENE_RULE_VETO = 1,
    /** The score of the observation counts with a weight. */
    SELENE_RULE_WEIGHT = 2
};

enum {
    /** For selene_rule.flags: a new veto stops runs in flight of the kind. Only for vetoes of factors 1 to 19. */
    SELENE_RULE_PREEMPTS = 1
};

/** For selene_rule.required: what the built-in profiles require. */
#define SELENE_REQUIRED_USUAL INT64_MIN

/** One row of a profile's table. */
typedef struct selene_rule {
    /** The factor that it judges. @unit SELENE_FACTOR_ number @zero 0 */
    int32_t factor;
    /** The kinds of windows that it applies to. @unit SELENE_KIND_ bits @zero none */
    uint32_t kinds;
    /** Whether it ignores, vetoes or weighs. @unit SELENE_RULE_ number @zero 0 */
    int32_t mode;
    /** SELENE_RULE_PREEMPTS or 0. @unit number @range 0 … SELENE_RULE_PREEMPTS @zero 0 */
    uint32_t flags;
    /** For SELENE_RULE_WEIGHT. @unit number @when it weighs @range 1 … 1000 @zero 0 */
    int64_t weight;
    /** The least or greatest value that meets it, in the factor's unit; or SELENE_REQUIRED_USUAL.
     *  @unit number @range any @zero 0 */
    int64_t required;
} selene_rule;

/** What a quota counts. */
enum {
    /** ns of open windows. */
    SELENE_MEASURE_WINDOW_TIME = 1,
    /** ns of CPU time, by selene_ledger_report. */
    SELENE_MEASURE_CPU_TIME = 2,
    SELENE_MEASURE_WINDOWS = 3,
    /** Bytes, by selene_ledger_report. */
    SELENE_MEASURE_BYTES = 4
};

/** How much a kind may use in any period of a length. */
typedef struct selene_quota {
    /** Each of these kinds gets its own. @unit SELENE_KIND_ bits @zero none */
    uint32_t kinds;
    /** What is measured. @unit SELENE_MEASURE_ number @zero 0 */
    int32_t measure;
    /** The most that may be used, in the measure's unit. @unit number @range 1 … @zero 0 */
    int64_t limit;
    /** The time in which the limit applies. @unit ns @range 1 s … 24 h @zero 0 */
    int64_t period;
} selene_quota;

/** The profiles that come with the library; docs/governor.md has their tables. */
enum {
    /** Nothing but constraints. */
    SELENE_PROFILE_OPEN = 0,
    /** What a phone's system requires. */
    SELENE_PROFILE_APPLE = 1,
    /** What a server requires: that the machine is not under load. */
    SELENE_PROFILE_SERVER = 2,
    /** All of both, for both kinds. */
    SELENE_PROFILE_STRICT = 3
};

/** What a governor requires: a built-in profile and the differences from it. */
typedef struct selene_profile {
    uint32_t struct_size;
    /** 0. @unit number @range 0 … 0 @zero 0 */
    uint32_t flags;
    /** The built-in profile. @unit SELENE_PROFILE_ number @zero SELENE_PROFILE_OPEN */
    int32_t base;
    /** The least weighted score that grants. @unit per mille @range 0 … 1000 @zero the base's (500) @none 0 */
    int32_t threshold;
    /** Rows that replace the base's; the last row for a cell wins. */
    const selene_rule *rules;
    /** Number of these rows. @unit entries @range any @zero 0 */
    uint64_t rule_count;
    /** If any, in place of all of the base's; at most 4 for each kind. */
    const selene_quota *quotas;
    /** Number of these. @unit entries @range any @zero 0 */
    uint64_t quota_count;
} selene_profile;

/**
 * Sets what the governor requires from now on. The ledger is judged by the new quotas; the profile is not stored.
 *
 * @param profile  the profile, copied; NULL is OPEN
 * @return INVALID_ARGUMENT (names the field), UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_governor_set_profile(selene_scheduler scheduler,
                                                     const selene_profile *profile);

/* ---- Decisions ----------------------------------------------------------- */

/** What became of a factor. */
enum {
    /** A veto that is not raised. */
    SELENE_VERDICT_PASSED = 1,
    /** A veto that refuses. */
    SELENE_VERDICT_VETOED = 2,
    /** A weight; its score counts. */
    SELENE_VERDICT_WEIGHED = 3
};

/** One factor of a decision. */
typedef struct selene_finding {
    /** SELENE_FACTOR_ number. */
    int32_t factor;
    /** SELENE_VERDICT_ number. */
    int32_t verdict;
    /** SELENE_SOURCE_ number. */
    int32_t source;
    /** SELENE_RULE_PREEMPTS or 0. */
    uint32_t flags;
    /** In the factor's unit. If source is UNKNOWN nothing was observed: this is what unknown counts as, which passes or
     *  not as the verdict says; better shown as a dash. */
    int64_t observed;
    int64_t required;
    /** 0 … 1000 and 1 … 1000, for weights. */
    int64_t score;
    int64_t weight;
    /** The earliest instant at which it can be better; SELENE_NEVER: when a signal changes. */
    int64_t clears_at;
} selene_finding;

/** A grant or a refusal, with its reasons. Made by selene_governor_ask. */
typedef struct selene_decision {
    uint32_t struct_size;
    uint32_t flags;
    int32_t kind;
    /** 1 granted, 0 refused. */
    int32_t granted;
    int64_t at;
    /** Weighted, 0 … 1000, and what it must reach; 1000 without weights. */
    int64_t score;
    int64_t threshold;
    /** The longest window that the budgets leave room for, in ns; SELENE_NEVER: any. */
    int64_t longest_window;
    /** The earliest instant at which asking again is worth it, unless a signal changes before; at if granted. */
    int64_t ask_again_at;
    /** Every factor that the profile does not ignore, in order of their numbers. */
    uint64_t finding_count;
    const selene_finding *findings;
} selene_decision;

enum {
    /** For selene_governor_ask: on behalf of a task that never ran, which may use a tenth more than the budgets. */
    SELENE_ASK_NEVER_RAN = 1
};

/**
 * Asks whether a kind deserves a window now, and why. Reads the system's signals first, which may raise a veto; books
 * nothing.
 *
 * A refusal is not an error: the status is OK and granted is 0. Each refusal is an event (REFUSED).
 *
 * @param kind          SELENE_KIND_REFRESH or SELENE_KIND_PROCESSING
 * @param flags         SELENE_ASK_ bits
 * @param out_decision  the decision
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller frees the decision with selene_free. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_governor_ask(selene_scheduler scheduler, int32_t kind,
                                             uint32_t flags, selene_decision **out_decision);

/**
 * Reads the last decision about a kind, of selene_governor_ask or of the driver.
 *
 * @param kind          SELENE_KIND_REFRESH or SELENE_KIND_PROCESSING
 * @param out_decision  the decision
 * @return INVALID_ARGUMENT, NOT_FOUND (nothing was decided since the scheduler was opened)
 *
 * Ownership: the caller frees the decision with selene_free. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_governor_last(selene_scheduler scheduler, int32_t kind,
                                              selene_decision **out_decision);

/* ---- Ledger -------------------------------------------------------------- */

/** What the ledger says of a kind. */
typedef struct selene_balance {
    uint32_t struct_size;
    uint32_t flags;
    /** 1 while a quota of the kind is spent: until 30 s (one window, a sixteenth of the bytes) are free again. */
    int32_t is_spent;
    /** Of the fullest quota, per mille of its limit. */
    int32_t used;
    /** Window time that is left in ns; SELENE_NEVER: no limit. */
    int64_t free;
    /** When no quota is spent any more if nothing else is used. */
    int64_t free_at;
    /** When the kind's last booked window began; SELENE_NEVER if there was none. */
    int64_t last_begin;
} selene_balance;

/**
 * Reads what a kind has used in the last 24 hours and may still use by the present profile.
 *
 * Windows are booked while the profile has any requirement or a driver is open: each with its whole budget when it
 * begins, so a process that is killed has already been charged; what it did not use is refunded when it ends. Kept in
 * the store if there is one.
 *
 * @param kind         SELENE_KIND_REFRESH or SELENE_KIND_PROCESSING
 * @param out_balance  filled up to its struct_size
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_ledger_get(selene_scheduler scheduler, int32_t kind,
                                           selene_balance *out_balance);

/**
 * Reports what a kind used besides time. It counts for the kind's last window.
 *
 * @param kind      SELENE_KIND_REFRESH or SELENE_KIND_PROCESSING
 * @param cpu_time  ns, 0 or more
 * @param bytes     0 or more
 * @return INVALID_ARGUMENT
 *
 * Thread: any, also inside a handler. Since: 0.1.
 */
SELENE_API selene_status selene_ledger_report(selene_scheduler scheduler, int32_t kind,
                                              int64_t cpu_time, int64_t bytes);

/* ---- Habits -------------------------------------------------------------- */

/**
 * Reports that the host was used. Hours of the local day (SELENE_SIGNAL_UTC_OFFSET) that see use are remembered, older
 * days counting half as much every 28 days; kept in the store if there is one.
 *
 * @param began_at  when the use began
 * @param ended_at  when it ended, not before began_at; at most the 7 days before it count. Both may be now
 * @return INVALID_ARGUMENT
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_use_report(selene_scheduler scheduler, int64_t began_at,
                                           int64_t ended_at);

/** One of the likely next windows. */
typedef struct selene_forecast {
    int64_t begins_at;
    int64_t ends_at;
    /** The probability that the hour suits the kind: the host is used in this hour (refresh), or is not (processing). 500 while
     *  nothing is known. */
    int64_t probability;
} selene_forecast;

/**
 * Lists the hours in which a window would be granted if nothing but the time changed, for the next 14 days.
 *
 * @param kind         the kind
 * @param windows      where to write them, in order
 * @param capacity     how many fit there; at most 64 are given
 * @param out_count    how many were written; 0 while a veto is raised that only a signal can clear
 * @return INVALID_ARGUMENT
 *
 * Ownership: windows is the caller's. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_governor_forecast(selene_scheduler scheduler, int32_t kind,
                                                  selene_forecast *windows, uint64_t capacity,
                                                  uint64_t *out_count);

/* ---- Trace --------------------------------------------------------------- */

/**
 * Records signals, decisions, windows and runs to a file from now on, until the same call with NULL, or close.
 *
 * The file is text, one line for each thing; docs/governor.md describes it. It is written as things happen and not
 * synced: a power loss may lose its end. If it cannot be written, the recording ends with an event.
 *
 * @param path         a file that does not exist yet; NULL ends the recording, if there is one
 * @param path_length  its length in bytes, −1 if it ends with a NUL
 * @return INVALID_ARGUMENT, ALREADY_EXISTS (the file, or a recording that has not ended), STORE_CANNOT_OPEN
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_trace_record(selene_scheduler scheduler, const char *path,
                                             int64_t path_length);

/**
 * Replays a trace: decides again what was decided then, from what was known then.
 *
 * @param path                  the trace
 * @param path_length           its length in bytes, −1 if it ends with a NUL
 * @param out_decisions         how many decisions it holds. May be NULL
 * @param out_first_difference  the first line that is decided otherwise now; 0: the replay is the trace, byte for byte.
 *                              May be NULL
 * @return INVALID_ARGUMENT (not a trace, or damaged: the message names the line), STORE_CANNOT_OPEN, STORE_LOCKED (a store
 *         that is open in this process), STORE_IO
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_trace_replay(const char *path, int64_t path_length,
                                             uint64_t *out_decisions,
                                             uint64_t *out_first_difference);

/* ---- Driver -------------------------------------------------------------- */

enum {
    /** selene_driver_open only: its windows are begun with SELENE_WINDOW_LANES. */
    SELENE_DRIVER_LANES = 1,
    /** Nothing is picked whose estimate does not fit, not even first (SELENE_WINDOW_STRICT_FIT). Since: 0.2. */
    SELENE_DRIVER_STRICT_FIT = 2,
    /** One window at a time, for all kinds that are due and granted, with the greatest of their budgets and lanes: with
     *  one lane one run at a time. Else each kind has its own, and both may be open at once. Since: 0.2. */
    SELENE_DRIVER_TOGETHER = 4,
    /** Its windows pick only from what was eligible at their begin (SELENE_WINDOW_FROZEN). Since: 0.2. */
    SELENE_DRIVER_FROZEN = 8,
    /** It asks no governor and keeps no ledger: a due task gets its window, as if the host had begun it at that moment.
     *  With SELENE_DRIVER_TOGETHER the window is for all its kinds that may begin, so that a task that becomes due in
     *  it need not wait for another. Since: 0.2. */
    SELENE_DRIVER_UNGOVERNED = 16
};

/** How a driver opens windows. */
typedef struct selene_driver {
    uint32_t struct_size;
    /** How it opens windows. @unit SELENE_DRIVER_ bits @zero none */
    uint32_t flags;
    /** Budget of the refresh windows that it opens: such a window has a deadline, at which its runs are over. 0: nobody has
     *  decided a deadline. Under the profiles apple and strict, which ration time, windows then have 30 s, and 10 min of
     *  processing. Otherwise they are open-ended: they pick runs for that long, without a reserve; then the next window may begin,
     *  and runs in flight go on, without a deadline but their task's timeout and stall_limit (their deadline is SELENE_NEVER);
     *  they still take from the lanes, and the report comes with the last of them. In any case cut to what the ledger leaves,
     *  but not below 30 s: then it waits for room. @unit ns @range 0 … 24 h @zero 0 */
    int64_t refresh_budget;
    /** The same for processing. @unit ns @range 0 … 24 h @zero 0 */
    int64_t processing_budget;
    /** Lanes of refresh windows. @unit count @range 1 … 1024 @zero 1 */
    uint32_t refresh_lanes;
    /** Lanes of windows for processing. @unit count @range 1 … 1024 @zero 1 */
    uint32_t processing_lanes;
    /** The kinds of its windows; 0: both. Windows of other kinds are left to the host. Since: 0.2.
     *  @unit SELENE_KIND_ bits @zero 0 */
    uint32_t kinds;
    /** 0. */
    uint32_t reserved;
    /** Kept free at the end of each window that has a deadline, in which runs are asked to stop; at most the window's budget.
     *  Since: 0.2. @unit ns @range 0 … 24 h @zero budget / 20 @none 0 */
    int64_t reserve;
    /** Least time between the begins of two windows of one kind. If it exceeds the minimum interval of the kind, it replaces
     *  it: a standing task then wants a window that often. Since: 0.2. @unit ns @range 0 … 10 years @zero 0 */
    int64_t every;
} selene_driver;

/**
 * Starts a library thread that acts as the system scheduler: it sleeps until something can run, asks the governor, and opens windows
 * whose runs are called on library threads.
 *
 * It wakes for the next wake-up of a task, for a factor that can clear, for a signal or condition that the host sets, and
 * for what the system announces (routes and interfaces, power supplies, memory pressure); with nothing to do it sleeps
 * without a timeout. Standing tasks want a window 15 min after the last of their kind, or after its minimum interval.
 *
 * There is no need to write a loop around selene_scheduler_next_wakeup: with SELENE_DRIVER_UNGOVERNED it asks for no
 * grant, and kinds, every and the other flags make its windows those of such a loop.
 *
 * @param driver  how; NULL for all defaults
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, UNSUPPORTED (host clock), BUSY (a driver is open), EXHAUSTED
 *
 * Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_driver_start(selene_scheduler scheduler,
                                             const selene_driver *driver);

/**
 * Opens a driver without a thread, for event loops: whenever its descriptor is readable call selene_driver_step. It stays
 * readable until a step gives no window.
 *
 * With a host clock the descriptor does not follow time: step again at out_wake_at.
 *
 * @param driver  how; NULL for all defaults
 * @param out_fd  readable when a step is due; poll only, never read or close. May be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, BUSY (a driver is open), EXHAUSTED
 *
 * Ownership: the descriptor is the library's, until selene_driver_stop or close. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_driver_open(selene_scheduler scheduler, const selene_driver *driver,
                                            int32_t *out_fd);

/**
 * Does what is due: takes in changes of the system, asks the governor, and begins a pulled cycle for the host to work on.
 * Never blocks.
 *
 * A step begins at most one cycle, and each kind may have one open, so a host may have two to work on at a time. out_wake_at
 * is about the next window only: a host that waits for both also wakes at the out_wake_at of selene_cycle_next of each
 * cycle that is open. A host whose work takes its time starts it, goes on with its loop, and calls selene_cycle_next again
 * after each completion; bindings/c/examples/driver_async.c is one.
 *
 * @param out_cycle    a granted window, for selene_cycle_next and _end; 0: none now
 * @param out_wake_at  when to step again even if the descriptor stays silent; SELENE_NEVER: not before. May be NULL
 * @return UNSUPPORTED (no driver of selene_driver_open)
 *
 * Ownership: the caller ends the cycle with selene_cycle_end. Thread: any. Since: 0.1.
 */
SELENE_API selene_status selene_driver_step(selene_scheduler scheduler, selene_cycle *out_cycle,
                                            int64_t *out_wake_at);

/**
 * Waits until a step is due, for hosts that cannot use a descriptor: with selene_driver_step it makes the whole loop of
 * a driver.
 *
 * @param timeout    how long to wait at most, in ns of real time; 0: not at all; SELENE_NEVER: until a step is due
 * @param out_ready  1: call selene_driver_step; 0: time was up before
 * @return INVALID_ARGUMENT, UNSUPPORTED (no driver of selene_driver_open, or it was stopped meanwhile), REENTRANT (inside
 *         a callback of this scheduler, unless timeout is 0). With the option clock it does not follow time
 *
 * Thread: any; blocks up to the timeout. Returns when the driver is stopped or the scheduler is closed. Since: 0.2.
 */
SELENE_API selene_status selene_driver_wait(selene_scheduler scheduler, int64_t timeout,
                                            int32_t *out_ready);

/**
 * Stops the driver. Nothing more is started in its windows on library threads, and their runs may complete within grace.
 * In the last tenth of grace, at most 10 s before its end, the runs that are left are asked to stop (SHUTDOWN), and a run that
 * fails then counts as stopped; what is open at the end is stopped, and its task is enqueued again as before the run. A cycle
 * that it began for the host to work on is left for the host to drain or end. Without a driver it does nothing.
 *
 * @param grace  ns: 0 … 24 h; 0: runs are over at once
 * @return INVALID_ARGUMENT, REENTRANT (inside a callback of the scheduler)
 *
 * Thread: any; blocks until nothing runs, for at most the grace. Since: 0.1.
 */
SELENE_API selene_status selene_driver_stop(selene_scheduler scheduler, int64_t grace);

/* ---- Launch and expire --------------------------------------------------- */

/**
 * Runs a pending task now, as if the system had launched it, on a library thread, regardless of governor, pace and
 * rank, with the budget that the driver gives its kind (30 s and 10 min without one). For tests and debugging; the task
 * really runs.
 *
 * @param id         the task; once or periodic, enqueued
 * @param id_length  its length in bytes, −1 if it ends with a NUL
 * @return INVALID_ARGUMENT, NOT_FOUND (no pending request has this id), IMMEDIATE_RUN_INELIGIBLE, UNSUPPORTED (host clock),
 *         BUSY, EXHAUSTED
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_launch(selene_scheduler scheduler, const char *id,
                                            int64_t id_length);

/**
 * Ends the window of a running task now as if its time had run out: all its runs are asked to stop (EXPIRING) and are over
 * after its reserve.
 *
 * @param id         the task
 * @param id_length  its length in bytes, −1 if it ends with a NUL
 * @return INVALID_ARGUMENT, NOT_FOUND (no run of this id is in flight)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_task_expire(selene_scheduler scheduler, const char *id,
                                            int64_t id_length);

/* ============================================================================
 *  NODE
 *
 *  A node lets the tasks of a scheduler come from a fleet: from the schema of PostgreSQL in Sources/Fleet, on which many
 *  machines work (docs/fleet.md). The scheduler, which is in memory, has what it has always: handlers, windows, lanes,
 *  governor, driver, events. The node offers what its open windows leave, claims tasks for that, registers each here as a
 *  once task under its id, and tells the database how its run ended.
 *
 *  This library has no connection to a database. Whoever has one is the node's driver: libselene-fleet, pyselene.fleet, or a
 *  loop like this one, which any language and any client of PostgreSQL can have.
 *
 *      while (info.state != SELENE_NODE_CLOSED) {
 *          selene_node_step(scheduler, &request, &wake_at);
 *          if (request.number)          send request.sql with request.values; when the answer comes call selene_node_rows,
 *                                       when there is none selene_node_failed
 *          else                         wait until the descriptor is readable
 *          selene_node_get(scheduler, &info);
 *      }
 *
 *  While a request is under way step whenever the descriptor is readable, too: runs are stopped on time only so. There is
 *  one request at a time. Each is one statement and one commit, and needs nothing of its connection, which may be another
 *  one each time, also one through a pooler.
 *
 *  Its windows have to roll, as they do without SELENE_WINDOW_FROZEN: what is claimed was not there at their begin. A
 *  window does not end while the node asks for more to do in it. A driver, or run_forever, opens windows only for what it
 *  has: so the node claims one task in advance. It is given back if no window opens within 10 s, or the governor refuses
 *  one.
 *
 *  A run that is stopped (SELENE_STOP_PREEMPTED, _CONSTRAINT_LOST, _SHUTDOWN, or cancelled here) is given back when its
 *  function has returned: its task is as before the run. To cancel a task everywhere, cancel it in the fleet.
 *
 *  A fleet may ask a node to leave (its function drain), which that hears with a beat: it takes nothing more, lets its runs
 *  end, and is CLOSED, as after selene_node_leave without a limit of time.
 *
 *  The scheduler may be served (section SERVER): connected processes run tasks of the fleet as if they were the owner's.
 *  What they would register, change or cancel is refused with UNSUPPORTED: here it would be lost, or come back.
 * ========================================================================= */

/** What a selene_value is. Since: 0.2. */
enum {
    SELENE_VALUE_NULL = 0,
    /** bigint, int or smallint. */
    SELENE_VALUE_INTEGER = 1,
    /** boolean; integer is 0 or 1. */
    SELENE_VALUE_BOOLEAN = 2,
    /** text, UTF-8. */
    SELENE_VALUE_TEXT = 3,
    /** bytea. */
    SELENE_VALUE_BYTES = 4,
    /** An array of one dimension. */
    SELENE_VALUE_ARRAY = 5
};

/** A parameter of a statement, or a cell of a row. Since: 0.2. */
typedef struct selene_value {
    /** A SELENE_VALUE_ number. */
    int32_t type;
    /** 0. */
    uint32_t reserved;
    int64_t integer;
    /** TEXT and BYTES: the bytes; text that the library gives is NUL-terminated. ARRAY: selene_value structs. */
    const void *data;
    /** Number of the bytes, or of the structs. */
    int64_t length;
} selene_value;

/** A statement that a node wants to be made. Since: 0.2. */
typedef struct selene_node_request {
    uint32_t struct_size;
    uint32_t flags;
    /** By which it is answered; 0: there is none now. */
    uint64_t number;
    /** With parameters $1, $2 …, which say their types. */
    selene_text sql;
    const selene_value *values;
    uint64_t value_count;
    /** After this many ns without an answer call selene_node_failed and close the connection that was used; the node
     *  does not wait longer either. */
    int64_t timeout;
} selene_node_request;

/** How a node works: bits of `flags`. Since: 0.2. */
enum {
    /** The database commits what this node claims and decides without waiting for its disk, for up to twice the rate of
     *  short runs. If the database's server crashes, what it committed in its last second may be lost: such a run, though it
     *  has ended here, runs again. After a crash no node of the fleet is given anything until each relaxed node has said
     *  what it still runs, or its lease is over. */
    SELENE_NODE_OPTION_RELAXED = 1
};

/** How a node works. Since: 0.2. */
typedef struct selene_node_options {
    uint32_t struct_size;
    /** 0 or SELENE_NODE_OPTION_RELAXED. @unit number @range 0 … SELENE_NODE_OPTION_RELAXED @zero 0 */
    uint32_t flags;
    /** The fleet's schema, 1 … 63 bytes, as it is called, without quotes. Default "selene". */
    selene_text schema;
    /** Of the node, for people: that of the machine, say; 1 … 255 bytes. Nothing depends on it. Default "node". */
    selene_text name;
    /** Queues whose tasks it takes; default: all. */
    const selene_text *queues;
    /** Number of these queues. @unit entries @range 0 … 1000 @zero 0 */
    uint64_t queue_count;
    /** What this machine has that others may lack, such as "gpu": it takes tasks that require no other labels. */
    const selene_text *labels;
    /** Number of these labels. @unit entries @range 0 … 64 @zero 0 */
    uint64_t label_count;
    /** How long the database waits for a sign of life before others take over what this node runs. A handler may take longer; it
     *  has to stop when a node cannot reach the database for 0.8 of it. @unit ns @range 100 ms … 1 h @zero 30 s */
    int64_t lease;
    /** A claim takes at most what keeps the free lanes busy for this long; SELENE_NONE: one task a lane.
     *  @unit ns @range 0 … 10 s @zero 250 ms @none 0 */
    int64_t horizon;
    /** How often a node with a free lane looks for work without a hint (selene_node_hint).
     *  @unit ns @range 10 ms … 1 h @zero 1 s */
    int64_t poll;
} selene_node_options;

/** What a node does. Since: 0.2. */
enum {
    /** It has no lease, and asks for one. */
    SELENE_NODE_JOINING = 0,
    SELENE_NODE_WORKING = 1,
    /** It takes nothing more (selene_node_leave, or its fleet has asked it to leave). */
    SELENE_NODE_LEAVING = 2,
    /** It has reported everything to the database, or its grace is over; it makes no more requests. */
    SELENE_NODE_CLOSED = 3
};

/** How a node stands. Filled by selene_node_get. Since: 0.2. */
typedef struct selene_node_info {
    uint32_t struct_size;
    uint32_t flags;
    /** A SELENE_NODE_ number. */
    int32_t state;
    /** 0. */
    uint32_t reserved;
    /** Its number in the view nodes of the fleet, which is another one after each time that its lease was lost; 0: none. */
    int64_t worker;
    /** Until when it relies on its lease; 0 without one. */
    int64_t believes_until;
    /** Runs that were begun, or wait here for a lane; that were claimed and wait for these; whose end the database has not
     *  acknowledged. */
    uint64_t working;
    uint64_t ready;
    uint64_t undecided;
} selene_node_info;

/**
 * Opens the node of a scheduler, which has at most one.
 *
 * @param options  how; NULL for all defaults
 * @param out_fd   readable when a step is due; poll only, never read or close. May be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, UNSUPPORTED (the scheduler has a store, or is a connection), BUSY (a node is
 *         open), EXHAUSTED
 *
 * Ownership: the descriptor is the library's, until selene_node_close or the scheduler's close. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_node_open(selene_scheduler scheduler,
                                          const selene_node_options *options, int32_t *out_fd);

/**
 * Does what is due, and gives the next statement to make. Never blocks.
 *
 * @param out_request  the statement; number 0: none now, or one is under way
 * @param out_wake_at  when to step again even if the descriptor stays silent; SELENE_NEVER: not before. May be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, UNSUPPORTED (no node is open)
 *
 * Ownership: what the request points to is the library's, until the next request or selene_node_close. Thread: any.
 * Since: 0.2.
 */
SELENE_API selene_status selene_node_step(selene_scheduler scheduler,
                                          selene_node_request *out_request, int64_t *out_wake_at);

/**
 * Waits until a step is due, for hosts that cannot use a descriptor.
 *
 * @param timeout    how long to wait at most, in ns of real time; 0: not at all; SELENE_NEVER: until a step is due
 * @param out_ready  1: call selene_node_step; 0: time was up before
 * @return INVALID_ARGUMENT, UNSUPPORTED (no node is open, or it was closed meanwhile), REENTRANT (inside a callback of this
 *         scheduler, unless timeout is 0)
 *
 * Thread: any; blocks up to the timeout. Since: 0.2.
 */
SELENE_API selene_status selene_node_wait(selene_scheduler scheduler, int64_t timeout,
                                          int32_t *out_ready);

/**
 * Gives a node the result of its statement. A result that it no longer waits for is ignored.
 *
 * @param number   of the request
 * @param cells    the rows one behind the other; may be NULL without rows
 * @param rows     how many
 * @param columns  cells of a row
 * @return INVALID_ARGUMENT (also: a value of an unknown type, a length below 0, more than 16 777 216 cells), UNSUPPORTED (no
 *         node is open)
 *
 * Ownership: all is copied. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_node_rows(selene_scheduler scheduler, uint64_t number,
                                          const selene_value *cells, uint64_t rows,
                                          uint64_t columns);

/**
 * Tells a node that its statement has no result. One that it no longer waits for is ignored.
 *
 * @param number    of the request
 * @param sent      0: the statement has certainly not reached the database, since there was no connection; 1: it may have
 * @param sqlstate  what the database refused it with, five characters; NULL: the connection was lost, or time was up
 * @param message   the message of the database, or of its client, for people; may be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED (no node is open)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_node_failed(selene_scheduler scheduler, uint64_t number,
                                            int32_t sent, const char *sqlstate,
                                            const char *message);

/**
 * Tells a node that something may be due in its fleet, or that a task that it runs was cancelled there: a notification of
 * LISTEN has come, say. It claims at once, and asks which of its runs it still has: the latter no more often than it
 * polls, however many hints come.
 *
 * @return UNSUPPORTED (no node is open)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_node_hint(selene_scheduler scheduler);

/**
 * Gives the state of a node.
 *
 * @param out_info  where to write; its struct_size is set
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, UNSUPPORTED (no node is open)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_node_get(selene_scheduler scheduler, selene_node_info *out_info);

/**
 * Makes a node take nothing more: it gives back what was not begun, waits until its runs have come back, reports their
 * outcomes to the database, and signs off. Keep stepping it until selene_node_get gives SELENE_NODE_CLOSED.
 *
 * @param grace  after how many ns it is closed all the same, 0 … 24 h; what it still has then others take once the lease is
 *               over
 * @return INVALID_ARGUMENT, UNSUPPORTED (no node is open)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_node_leave(selene_scheduler scheduler, int64_t grace);

/**
 * Closes the node of a scheduler; without one it does nothing. What it has not reported to the database is never
 * reported, and its runs in flight are stopped (SELENE_STOP_SHUTDOWN): call selene_node_leave first.
 *
 * @return INVALID_HANDLE
 *
 * Thread: any; wakes threads in selene_node_wait. Since: 0.2.
 */
SELENE_API selene_status selene_node_close(selene_scheduler scheduler);

/**
 * Gives the number of a run in its fleet. Each claim gives a greater one, so that outside systems to which it is passed
 * can refuse what an earlier run of the same task still sends.
 *
 * @param out_fence  the number
 * @param out_task   that of its task, which the function complete of the fleet asks for, too. May be NULL
 * @return INVALID_ARGUMENT, INVALID_HANDLE, ALREADY_COMPLETED, STALE_RUN, UNSUPPORTED (its task is not one of a fleet)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_fence(selene_run run, int64_t *out_fence, int64_t *out_task);

/**
 * Declares that the host itself reports the outcome of a run to the fleet, with the fleet's function complete in a
 * transaction of the handler, whose effects in that database are thus made exactly once. Call it before that, and
 * complete the run afterwards like any other: the outcome that the fleet then knows stands. If the transaction did not
 * commit, a success counts as a failure.
 *
 * @return INVALID_HANDLE, ALREADY_COMPLETED, STALE_RUN, UNSUPPORTED (its task is not one of a fleet)
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_run_decided_by_host(selene_run run);

#ifdef __cplusplus
}
#endif

#endif /* SELENE_H */
