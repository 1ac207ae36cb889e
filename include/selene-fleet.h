/*
 * selene-fleet.h - many machines, one queue: a fleet in PostgreSQL, from C
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A FLEET is a scheduler whose records are in a schema of PostgreSQL 13 or newer (docs/fleet.md). Any number of
 * machines register tasks there, and any number run them. This library, libselene-fleet, registers, inspects and
 * manages tasks, and it connects a scheduler of selene.h to a fleet, whose tasks it then runs: a WORKER. It needs
 * libselene, libpq and the C library.
 *
 *     #include <selene-fleet.h>
 *
 *     selene_fleet_options options = SELENE_INIT(selene_fleet_options);
 *     selene_task task = SELENE_INIT(selene_task);
 *     selene_fleet fleet = 0;
 *     selene_worker worker = 0;
 *     options.dsn = SELENE_TEXT("dbname=app");
 *     selene_fleet_install(&options, NULL);                       once
 *     selene_fleet_open(&options, &fleet);
 *     task.id = SELENE_TEXT("invoice-7");
 *     task.schedule = SELENE_SCHEDULE_ONCE;
 *     selene_fleet_register(fleet, &task, NULL, NULL);            from any machine
 *     selene_fleet_work(fleet, scheduler, NULL, &worker);         on those that run it
 *     selene_driver_start(scheduler, NULL);
 *
 * The conventions are those of selene.h: status, time, text, ownership, structs, threads, memory. The differences:
 *
 * Status. selene_fleet_error says what was wrong in this thread's last failed call of this library. Any function that takes a handle may answer INVALID_HANDLE and FORKED. Any
 *   that talks to the database may answer these, which are not repeated below:
 *     OWNER_AWAY       the database cannot be reached, or the connection was lost or silent for the option timeout; nothing
 *                      was changed. The next call connects again
 *     OUTCOME_UNKNOWN  the same, after a request that changes records was sent: it may have been carried out. Registering
 *                      or cancelling the same id again does no harm
 *     REFUSED          the user of the database may not do so, or the database is read-only
 *     UNSUPPORTED      the schema is not there, or not that of a fleet that this library knows: selene_fleet_install; or a
 *                      pooler hands connections on after each statement
 *     BUSY             a lock, a deadlock, another transaction or a timeout of the database interfered; nothing was changed.
 *                      What the database ended for the sake of another transaction was tried ten times
 *     EXHAUSTED        the database has no resources left; STORE_FULL: its disk is full; nothing was changed
 *     INTERNAL         any other error of the database; nothing was changed
 *   An error of the fleet's functions is the status that they name (SQLSTATE SE and its number), with their detail.
 *   Text that the database does not accept is INVALID_ARGUMENT.
 *
 * Connections. A fleet has one for its calls, which are made one after another; a worker has one, and another to
 *   listen. Each is made when it is needed, and again after it was lost. They keep no session state, so a pooler may
 *   hand them on after each transaction, except the one to listen (listen_dsn). To register a task if, and only if, a
 *   transaction of your own commits, call the fleet's function register on your own connection: "select
 *   selene.register($1, ...)".
 *
 * Time is the database's: instants that a fleet returns are those of its clock. Durations are sent in whole
 *   microseconds, rounded up.
 *
 * Threads. Every function may be called from any thread. A worker has one thread, "selene/fleet"; another,
 *   "selene/connect", lives while a connection is made, since resolving names may take long. They block the signals
 *   that are sent to a process. No handler is called on them; an observer of the scheduler may be.
 *
 * Fork. In the child every handle of the parent answers FORKED, and the parent's connections are not touched; the child
 *   may open fleets of its own.
 */
#ifndef SELENE_FLEET_H
#define SELENE_FLEET_H

#include <selene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ============================================================================
 *  FLEET
 * ========================================================================= */

/** A fleet, to a program that registers, inspects and manages tasks. 0 is none. */
typedef uint64_t selene_fleet;

/** Where a fleet is. Since: 0.2. */
typedef struct selene_fleet_options {
    uint32_t struct_size;
    /** 0. */
    uint32_t flags;
    /** How to reach the database, as a libpq connection string: "host=db dbname=app", "postgresql://…". Default: empty,
     *  the environment's settings (PGHOST …). */
    selene_text dsn;
    /** The same for the connection on which workers listen, which must not go through a pooler that hands it on.
     *  Default: empty, that of dsn. */
    selene_text listen_dsn;
    /** The fleet's schema, 1 … 63 bytes, as it is called, without quotes; selene_fleet_install makes none of more than 55,
     *  since the names of its roles are longer (INVALID_ARGUMENT). Default "selene". */
    selene_text schema;
    /** The queue of tasks whose place names none, and the one that selene_fleet_pause, _resume, _set_queue and
     *  _cancel_queue are about; 1 … 255 bytes. Default "default". */
    selene_text queue;
    /** How long making a connection may take, ns: 1 ms … 1 h; default 10 s. */
    int64_t connect_timeout;
    /** How long a call waits for its answer once it is sent, ns: 1 ms … 24 h; default 30 s. */
    int64_t timeout;
} selene_fleet_options;

/** Bytes that a function returns, followed by a NUL that is not counted. Since: 0.2. */
typedef struct selene_fleet_bytes {
    uint32_t struct_size;
    uint32_t flags;
    selene_text bytes;
} selene_fleet_bytes;

/**
 * What was wrong in this thread's last failed call of this library, as selene_error_last says it of those of selene.h.
 *
 * Messages of the database are given verbatim, as the problem, without numbers; field is "fleet" or "". A successful call leaves
 * it as it is, except selene_fleet_install and selene_fleet_register_batch.
 *
 * @return never NULL
 *
 * Ownership: the library's, with its texts; valid until this thread's next call of this library that fails. Cannot fail.
 * Thread: any, each has its own. Since: 0.2.
 */
SELENE_API const selene_error *selene_fleet_error(void);

/**
 * Opens a fleet. It connects when it is first used, so the database need not be there yet.
 *
 * @param options    where; NULL for all defaults
 * @param out_fleet  the handle
 * @return INVALID_ARGUMENT (also: a dsn that libpq cannot read), UNSUPPORTED_STRUCT
 *
 * Ownership: selene_fleet_close closes it. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_open(const selene_fleet_options *options,
                                           selene_fleet *out_fleet);

/**
 * Closes a fleet, and stops its workers as selene_worker_stop does; 0 is ignored.
 *
 * @param grace  how long, in ns, workers wait for runs in flight, all of them together: 0 … 24 h
 * @return INVALID_ARGUMENT, REENTRANT (on the thread of one of its workers); the fleet is open then
 *
 * Thread: any; blocks up to the grace and a few seconds; calls of other threads run to their end. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_close(selene_fleet fleet, int64_t grace);

/**
 * Creates the schema of a fleet, or upgrades it to this release and keeps what is there, in one transaction.
 *
 * After OK the message of selene_fleet_error has the warnings of the database, for example that roles are missing and may not be
 * created; "" if there were none.
 *
 * @param options     where; NULL for all defaults
 * @param out_script  NULL: it is done. Else nothing is done, no connection is made, and this is the script that would
 *                    be run, to read it or to run it some other way
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT
 *
 * Ownership: the caller frees the script with selene_free. Thread: any; blocks up to five minutes. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_install(const selene_fleet_options *options,
                                              selene_fleet_bytes **out_script);

/* ============================================================================
 *  TASK
 * ========================================================================= */

/** Where a task of a fleet goes. Since: 0.2. */
typedef struct selene_fleet_place {
    uint32_t struct_size;
    /** 0. */
    uint32_t flags;
    /** Its queue; default: empty, that of the fleet. Ids are unique across all queues. */
    selene_text queue;
    /** Labels that a worker must have to run it, such as "gpu"; at most 16. Default: none. */
    const selene_text *labels;
    uint64_t label_count;
} selene_fleet_place;

/** A task of a fleet: the live record of an id, or else the last. Made by selene_fleet_get, and by selene_fleet_list.
 *  Since: 0.2. */
typedef struct selene_fleet_record {
    uint32_t struct_size;
    uint32_t flags;
    /** Its number, ever-growing. */
    int64_t sequence;
    selene_text id;
    selene_text queue;
    selene_text handler;
    const selene_text *labels;
    const selene_text *tags;
    uint32_t label_count;
    uint32_t tag_count;
    /** SELENE_CONSTRAINT_ bits. */
    uint32_t constraints;
    /** SELENE_KIND_, SELENE_SCHEDULE_ and SELENE_STATE_ numbers; −1 for one that this library does not know. */
    int32_t kind;
    int32_t schedule;
    int32_t state;
    int32_t priority;
    /** SELENE_STOP_ number if its last run was stopped; else 0. */
    int32_t stop_reason;
    /** Attempts since the last success or period, with that of the run in flight. */
    uint32_t attempts;
    /** How often its definition was updated. */
    uint32_t generation;
    /** How many response times the estimate is the mean of. */
    uint32_t response_time_count;
    /** 0. */
    uint32_t reserved;
    int64_t registered_at;
    int64_t earliest_begin;
    int64_t last_run;
    /** When it ended; 0: it has not. */
    int64_t ended_at;
    /** What a run is expected to take, ns. */
    int64_t estimate;
    /** The number of the run in flight, or of the last one of a task that has ended (selene_run_fence); 0: none. */
    int64_t run;
    /** The worker that runs it; empty: none. */
    selene_text node;
    /** Why its last run failed; empty: it did not fail, or gave no reason. */
    selene_text failure;
    /** How many records wait behind it. */
    uint64_t appended;
} selene_fleet_record;

enum {
    /** Tasks of all queues. */
    SELENE_FLEET_EVERY_QUEUE = 1
};

/** Which tasks selene_fleet_list gives. Since: 0.2. */
typedef struct selene_fleet_filter {
    uint32_t struct_size;
    /** SELENE_FLEET_ bits; default none. */
    uint32_t flags;
    /** Those of this queue; default: empty, that of the fleet. */
    selene_text queue;
    /** Those that have this tag; default: empty, all. */
    selene_text tag;
    /** Those in this state, 1u << a SELENE_STATE_ number; default 0: all; several bits: UNSUPPORTED. Tasks that have ended are
     *  not listed. */
    uint32_t states;
    /** At most this many: 1 … 1 000; default 100. */
    uint32_t most;
    /** Those after this number: next of the previous page; default 0: from the first on. */
    int64_t after;
} selene_fleet_filter;

/** Some tasks of a fleet, by number. Made by selene_fleet_list. Since: 0.2. */
typedef struct selene_fleet_page {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t count;
    /** Live records, those that wait behind others among them (SELENE_STATE_BLOCKED); so appended is 0, and ended_at. */
    const selene_fleet_record *const *records;
    /** What after is for the next page; 0: there is none. */
    int64_t next;
} selene_fleet_page;

/** Why a task does not run now. Since: 0.2. */
typedef struct selene_fleet_reason {
    /** "not_due", "no_node", "ready", … */
    selene_text reason;
    /** In words. */
    selene_text detail;
    /** When that may change; SELENE_NEVER: not known. */
    int64_t until;
} selene_fleet_reason;

/** Every reason why a task does not run now. Made by selene_fleet_explain. Since: 0.2. */
typedef struct selene_fleet_explanation {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t count;
    const selene_fleet_reason *reasons;
} selene_fleet_explanation;

/**
 * Registers a task in a fleet; it is durable when this returns.
 *
 * @param task             what it is; copied
 * @param place            its queue and required labels; NULL: the fleet's queue, none
 * @param out_disposition  a SELENE_DISPOSITION_ number; may be NULL
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, TOO_LARGE, TOO_MANY_PENDING, UNSUPPORTED (also: what tasks of a fleet do not
 *         have: flags, timeout, stall_limit, jitter, group, after, latest_begin, conditions, SELENE_RECURRENCE_CALENDAR)
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_register(selene_fleet fleet, const selene_task *task,
                                               const selene_fleet_place *place,
                                               int32_t *out_disposition);

/**
 * Registers many tasks in a fleet in one commit; they are durable when this returns.
 *
 * Each is checked as by selene_fleet_register; one that is refused does not prevent the others. Callers that register
 * the same ids concurrently should do so in the same order.
 *
 * @param tasks            count pointers to what they are; copied
 * @param count            how many: up to 10 000, whose inputs are 256 MiB at most
 * @param place            of all of them: queue and required labels; NULL: the fleet's queue, none
 * @param out_statuses     count statuses, one for each; may be NULL. Written if the call is OK
 * @param out_dispositions count SELENE_DISPOSITION_ numbers, untouched where refused; may be NULL
 * @return INVALID_ARGUMENT (also: a text that the database does not take), UNSUPPORTED_STRUCT, TOO_LARGE: then nothing was
 *         registered. OK also when tasks were refused; the message is that of one of these
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_register_batch(
    selene_fleet fleet, const selene_task *const *tasks, uint64_t count,
    const selene_fleet_place *place, selene_status *out_statuses, int32_t *out_dispositions);

/**
 * Cancels a task, and all that wait behind it; a run in flight is asked to stop, and no longer counts.
 *
 * @param id         the task
 * @param id_length  its bytes; −1: NUL-terminated
 * @param out_count      how many records became cancelled; 0 if it had ended. May be NULL
 * @return INVALID_ARGUMENT, NOT_FOUND
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_cancel(selene_fleet fleet, const char *id, int64_t id_length,
                                             uint64_t *out_count);

/**
 * Cancels every live task with a tag, in all queues, with what waits behind.
 *
 * @param tag         the tag
 * @param tag_length  its bytes; −1: NUL-terminated
 * @param out_count        how many records became cancelled; may be NULL
 * @return INVALID_ARGUMENT
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_cancel_tag(selene_fleet fleet, const char *tag,
                                                 int64_t tag_length, uint64_t *out_count);

/**
 * Cancels every live task of the fleet's queue, with what waits behind.
 *
 * @param out_count  how many records became cancelled; may be NULL
 *
 * Thread: any; blocks, as long as that many records take. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_cancel_queue(selene_fleet fleet, uint64_t *out_count);

/**
 * Registers a failed task again: due at once, with the same terms and input, and no attempts counted. Tasks that waited
 * behind it ended with it, and stay ended.
 *
 * @param id         the task
 * @param id_length  its bytes; −1: NUL-terminated
 * @param out_disposition  SELENE_DISPOSITION_ADDED, or _HELD where its queue has no place; may be NULL
 * @return INVALID_ARGUMENT (also: it is live, or has not failed), TOO_MANY_PENDING, NOT_FOUND (it is not registered, or no
 *         longer known)
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_retry(selene_fleet fleet, const char *id, int64_t id_length,
                                            int32_t *out_disposition);

/** What a task that is due now waits for. Since: 0.2. */
enum {
    /** A worker, which takes it by its rank. */
    SELENE_FLEET_WAITS_FOR_WORKER = 0,
    /** A place of its queue, which has a limit. */
    SELENE_FLEET_WAITS_FOR_PLACE = 1,
    /** The end of the run of the record before it. */
    SELENE_FLEET_WAITS_FOR_RUN = 2
};

/**
 * Lets a live task be due now, whatever it waited for by time; its periods stay where they are.
 *
 * @param id         the task
 * @param id_length  its bytes; −1: NUL-terminated
 * @param out_waits      a SELENE_FLEET_WAITS_ number, what it still waits for; −1: something that this library does not know.
 *                       May be NULL
 * @return INVALID_ARGUMENT (also: it runs already), NOT_FOUND (no live task has that id)
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_run_now(selene_fleet fleet, const char *id, int64_t id_length,
                                              int32_t *out_waits);

/**
 * Reads the record of an id.
 *
 * @param id         the task
 * @param id_length  its bytes; −1: NUL-terminated
 * @param out_record     one block, with its texts
 * @return INVALID_ARGUMENT, NOT_FOUND (it is not registered, or no longer known)
 *
 * Ownership: the caller frees it with selene_free. Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_get(selene_fleet fleet, const char *id, int64_t id_length,
                                          selene_fleet_record **out_record);

/**
 * Lists live tasks, by number: a page of them. For all, call it again with next of each page as after, until that is 0.
 *
 * @param filter    which; NULL for all defaults: the first 100 of the fleet's queue
 * @param out_page  one block, with its records and their texts
 * @return INVALID_ARGUMENT, UNSUPPORTED (several states), UNSUPPORTED_STRUCT
 *
 * Ownership: the caller frees it with selene_free. Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_list(selene_fleet fleet, const selene_fleet_filter *filter,
                                           selene_fleet_page **out_page);

/**
 * Gives every reason why a task does not run now.
 *
 * @param id         the task
 * @param id_length  its bytes; −1: NUL-terminated
 * @param out_explanation  one block, with its texts
 * @return INVALID_ARGUMENT, NOT_FOUND (it is not registered, or no longer known)
 *
 * Ownership: the caller frees it with selene_free. Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_explain(selene_fleet fleet, const char *id, int64_t id_length,
                                              selene_fleet_explanation **out_explanation);

/**
 * Reads what the last success of a task left (selene_run_set_output).
 *
 * @param id         the task
 * @param id_length  its bytes; −1: NUL-terminated
 * @param out_result     NULL: it left nothing, has not ended, or is no longer known
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller frees it with selene_free. Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_result(selene_fleet fleet, const char *id, int64_t id_length,
                                             selene_fleet_bytes **out_result);

/* ============================================================================
 *  QUEUE
 * ========================================================================= */

/** What a queue lets through, and how its tasks wait. 0, the default of each, leaves it as it is; SELENE_NONE says 0. Since: 0.2. */
typedef struct selene_fleet_queue_terms {
    uint32_t struct_size;
    /** 0. */
    uint32_t flags;
    /** How long a standing task waits after a run, ns: 0 … 10 years; 15 min in a new queue. */
    int64_t pace;
    /** The shortest and the longest pause after a failure, ns: 0 … 10 years, the first not above the second; 10 s and 5 h in a
     *  new queue. */
    int64_t backoff_min;
    int64_t backoff_max;
    /** How long records are kept that have ended, ns: 0 … 10 years; 24 h in a new queue; SELENE_NONE keeps none. */
    int64_t retention;
    /** How many bytes an input may have: 0 … 1 073 741 823; 10 240 in a new queue. */
    int64_t max_input;
    /** How many requests of each kind may be pending, standing tasks aside: 0 … 2 147 483 647; SELENE_UNLIMITED, as in a new
     *  queue: any number. With a limit registrations of the queue wait for one another's commit. */
    int64_t limit_refresh;
    int64_t limit_processing;
    /** By how many thousandths chance may shorten a pause after a failure: 0 … 1 000; 0 in a new queue. */
    int32_t jitter;
    /** 1: what finds no place waits for one (SELENE_STATE_HELD); SELENE_NONE, as in a new queue: it is refused. */
    int32_t holds;
} selene_fleet_queue_terms;

/** A queue of a fleet. Since: 0.2. */
typedef struct selene_fleet_queue {
    uint32_t struct_size;
    uint32_t flags;
    selene_text name;
    /** Until when workers are given none of its tasks; 0: it is not paused; SELENE_NEVER: until selene_fleet_resume. */
    int64_t paused_until;
    /** How many tasks are ready, counted up to 10 000; for how long the oldest of them has been ready, ns; −1: none is. */
    uint64_t ready;
    int64_t oldest;
    /** How many requests of each kind are pending; −1: there is no limit, and nobody counts them. */
    int64_t pending_refresh;
    int64_t pending_processing;
    /** Its settings, all of them, each as it is: what is 0 is none. */
    const selene_fleet_queue_terms *terms;
} selene_fleet_queue;

/** Queues of a fleet, by name. Made by selene_fleet_queue_list. Since: 0.2. */
typedef struct selene_fleet_queues {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t count;
    const selene_fleet_queue *const *queues;
} selene_fleet_queues;

/** A line of a fleet's status. Since: 0.2. */
typedef struct selene_fleet_item {
    /** "nodes", "ready", "queue 'mail'", … */
    selene_text item;
    selene_text value;
    /** 1: needs attention. */
    uint32_t is_alarm;
    /** 0. */
    uint32_t reserved;
} selene_fleet_item;

/** The state of a fleet. Made by selene_fleet_status. Since: 0.2. */
typedef struct selene_fleet_items {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t count;
    /** How many of them are alarms. */
    uint64_t alarm_count;
    const selene_fleet_item *items;
} selene_fleet_items;

/**
 * Pauses the fleet's queue: workers are given none of its tasks; runs in flight go on.
 *
 * @param span  for how long, ns: 0 … 10 years; SELENE_NEVER: until selene_fleet_resume
 * @return INVALID_ARGUMENT
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_pause(selene_fleet fleet, int64_t span);

/** Resumes the fleet's queue. Thread: any; blocks. Since: 0.2. */
SELENE_API selene_status selene_fleet_resume(selene_fleet fleet);

/**
 * Changes the settings of the fleet's queue, all that is given or nothing; makes the queue if it is not there.
 *
 * They count for what is registered from now on. A limit below the number of pending requests takes none away; where
 * `holds` is switched off, what is held already stays held.
 *
 * @param terms  what is to change
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, BUSY (a transaction that has registered, cancelled or completed tasks, or
 *         has set the queue, was open for 2 s: nothing was changed; try again when it has ended)
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_set_queue(selene_fleet fleet,
                                                const selene_fleet_queue_terms *terms);

/**
 * Lists queues with their settings and what waits in them, by name: at most 1 000. A queue is made by the first task that
 * names it.
 *
 * @param after         only those after this name, which is the last one of the page before; NULL and 0: from the first on
 * @param after_length  its bytes; −1: NUL-terminated
 * @param out_queues    one block, with its texts
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller frees it with selene_free. Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_queue_list(selene_fleet fleet, const char *after,
                                                 int64_t after_length,
                                                 selene_fleet_queues **out_queues);

/**
 * Notifies listening workers that tasks of the fleet's queue are due, so that they need not wait for their next poll:
 * call it once after registering.
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_wake(selene_fleet fleet);

/**
 * Forgets records that ended longer ago than age, in all queues, and makes and drops partitions of the history. Workers
 * do so by themselves, except that records with the longest retention are dropped a day at a time.
 *
 * @param age        ns: 0 … 10 years; SELENE_NEVER: the retention of each queue
 * @param out_count  how many records were forgotten one by one; dropped partitions do not count. May be NULL
 * @return INVALID_ARGUMENT
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_prune(selene_fleet fleet, int64_t age, uint64_t *out_count);

/**
 * Gives the state of a fleet, and what needs attention.
 *
 * @param out_items  one block, with its texts
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller frees it with selene_free. Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_status(selene_fleet fleet, selene_fleet_items **out_items);

/* ============================================================================
 *  NODE
 * ========================================================================= */

enum {
    /** Its lease holds. */
    SELENE_FLEET_NODE_IS_ALIVE = 1,
    /** It was asked to leave (selene_fleet_drain). */
    SELENE_FLEET_NODE_IS_DRAINING = 2
};

/** A worker of a fleet, in whatever process, that has said hello and not bye. Since: 0.2. */
typedef struct selene_fleet_node {
    uint32_t struct_size;
    /** SELENE_FLEET_NODE_ bits. */
    uint32_t flags;
    /** That of its incarnation, which is never used again; another one each time that its lease was lost. */
    int64_t number;
    selene_text name;
    /** The release of its library. */
    selene_text version;
    int64_t started_at;
    /** When it last beat, and until when its lease holds if it does not again. */
    int64_t beaten_at;
    int64_t expires_at;
    /** How long its lease is, ns. */
    int64_t lease;
    /** How many runs it has, counted to 10 000. */
    uint64_t runs;
    /** At most 20 of the handlers that it serves, by name. */
    const selene_text *handlers;
    uint32_t handler_count;
    /** How often its clock and the database's went apart. */
    uint32_t jumps;
} selene_fleet_node;

/** Workers of a fleet, those that are alive first, then by name. Made by selene_fleet_node_list. Since: 0.2. */
typedef struct selene_fleet_nodes {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t count;
    const selene_fleet_node *const *nodes;
} selene_fleet_nodes;

/**
 * Lists the nodes that work for a fleet: at most 1 000.
 *
 * @param out_nodes  one block, with its texts
 * @return INVALID_ARGUMENT
 *
 * Ownership: the caller frees it with selene_free. Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_node_list(selene_fleet fleet, selene_fleet_nodes **out_nodes);

/**
 * Asks a node to leave: it takes nothing more, gives back what was not begun, lets what runs end, however long that takes, and
 * says bye. It hears so with its next beat, within a third of its lease.
 *
 * Its process goes on without the fleet, and its worker is CLOSED (selene_worker_get). It does not end by itself, since
 * whatever supervises it would start it again, and it would join again.
 *
 * @param node         its name, as selene_fleet_node_list tells it
 * @param node_length  its bytes; −1: NUL-terminated
 * @param out_count          how many nodes have that name, all of which are asked; may be NULL
 * @return INVALID_ARGUMENT, NOT_FOUND (no node has that name)
 *
 * Thread: any; blocks. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_drain(selene_fleet fleet, const char *node,
                                            int64_t node_length, uint64_t *out_count);

/* ============================================================================
 *  WORKER
 * ========================================================================= */

/** What connects a scheduler to a fleet, whose tasks it runs. 0 is none. */
typedef uint64_t selene_worker;

enum {
    /** It does not listen for notifications (selene_fleet_wake), which saves a connection: it looks every poll. */
    SELENE_WORKER_POLLS_ONLY = 1,
    /** The database commits what it claims and decides without waiting for its disk, for up to twice the rate of short
     *  runs; after a crash of the database's server such a run may run again though it has ended (SELENE_NODE_OPTION_RELAXED). */
    SELENE_WORKER_RELAXED = 2
};

enum {
    /** It would listen, but a pooler hands connections on after each transaction, so that notifications do not arrive: it looks
     *  every poll, and tries again every five minutes. listen_dsn of its fleet may lead past the pooler. */
    SELENE_WORKER_IS_POOLED = 1
};

/** How a worker works. Since: 0.2. */
typedef struct selene_worker_options {
    uint32_t struct_size;
    /** SELENE_WORKER_ bits; default none. */
    uint32_t flags;
    /** Queues whose tasks it takes; default: all. At most 1 000. */
    const selene_text *queues;
    uint64_t queue_count;
    /** What this machine has that others may lack, such as "gpu": it takes tasks that require no other labels. At most
     *  64. */
    const selene_text *labels;
    uint64_t label_count;
    /** How long, in ns, the database waits for a sign of life before others take over what runs here: 100 ms … 1 h;
     *  default 30 s. A handler may take longer; it is asked to stop when the database cannot be reached for 0.8 of
     *  it. */
    int64_t lease;
    /** A claim takes at most what keeps the free lanes busy for this long, ns: 0 … 10 s; default 250 ms; SELENE_NONE: one task a
     *  lane. */
    int64_t horizon;
    /** How often, in ns, it looks for work with a free lane without a notification: 10 ms … 1 h; default 1 s. */
    int64_t poll;
    /** For people: 1 … 255 bytes. Default: empty, the machine's name and the process. */
    selene_text name;
} selene_worker_options;

/** How a worker stands. Filled by selene_worker_get. Since: 0.2. */
typedef struct selene_worker_info {
    uint32_t struct_size;
    /** SELENE_WORKER_IS_ bits. */
    uint32_t flags;
    /** A SELENE_NODE_ number; CLOSED also where its scheduler was closed, and where it has left because its fleet asked it to
     *  (selene_fleet_drain). */
    int32_t state;
    /** 1: it hears notifications now. */
    uint32_t listens;
    /** Its number in the view nodes of the fleet, which is another one after each time that its lease was lost; 0: none. */
    int64_t number;
    /** Until when it relies on its lease, in the time of its scheduler; 0 without one. */
    int64_t believes_until;
    /** Runs that were begun, or wait here for a lane; that were claimed and wait for these; whose end the database has not
     *  acknowledged. */
    uint64_t working;
    uint64_t ready;
    uint64_t undecided;
} selene_worker_info;

/**
 * Makes a scheduler in memory run the tasks of a fleet from now on until the worker is stopped. The section NODE of
 * selene.h says how they run: with the scheduler's handlers, lanes, windows, governor and driver; its windows must be
 * rolling, as those of drivers are. It returns at once; if the database is away, SELENE_TROUBLE_FLEET says so.
 *
 * No limit of the scheduler refuses what is claimed, since the fleet has limits of its own, but it counts for them: where the
 * process has limits of its own, max_pending_refresh and max_pending_processing, tasks of its own find less room.
 *
 * @param scheduler   in memory, and without a worker; it is closed after the worker was stopped
 * @param options     how; NULL for all defaults
 * @param out_worker  the handle
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT, UNSUPPORTED (the scheduler has a store, or is a connection), BUSY (it has a
 *         worker, or a node), EXHAUSTED
 *
 * Ownership: selene_worker_stop, or selene_fleet_close, ends it. Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_fleet_work(selene_fleet fleet, selene_scheduler scheduler,
                                           const selene_worker_options *options,
                                           selene_worker *out_worker);

/**
 * Gives the state of a worker.
 *
 * @param out_info  where to write; its struct_size is set
 * @return INVALID_ARGUMENT, UNSUPPORTED_STRUCT
 *
 * Thread: any. Since: 0.2.
 */
SELENE_API selene_status selene_worker_get(selene_worker worker, selene_worker_info *out_info);

/**
 * Stops a worker: it takes nothing more, gives back what was not begun, waits until its runs have ended, and reports
 * them to the database. Windows, driver and scheduler stay as they are. 0 is ignored.
 *
 * @param grace  how long it waits at most, in ns, 0 … 24 h; others take over what it still has when the lease is over
 * @return INVALID_ARGUMENT, REENTRANT (on the worker's own thread)
 *
 * Thread: any; blocks up to the grace, and a second more where a connection is just being made. Inside a handler of the
 * scheduler it waits for that handler's own run until the grace is over. Since: 0.2.
 */
SELENE_API selene_status selene_worker_stop(selene_worker worker, int64_t grace);

#ifdef __cplusplus
}
#endif

#endif /* SELENE_FLEET_H */
