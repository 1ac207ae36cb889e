// What the files of libselene-fleet have in common: handles, connections, statements, rows.

#ifndef FLEET_INSIDE_H
#define FLEET_INSIDE_H

#include <selene-fleet.h>

#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

// ---- Faults (fault.c) ----

// Sets the error of this thread and gives the status back; a field of "" is the call as a whole.
selene_status fleet_refuse(selene_status status, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// What the fleet's functions refuse, who say "field: problem".
selene_status fleet_refuse_told(selene_status status, const char *text, size_t length);
// INVALID_ARGUMENT: a number of a SELENE_UNIT_ outside its range; bits that are not all known.
selene_status fleet_refuse_number(const char *field, int32_t unit, int64_t value, int64_t least,
                                  int64_t greatest);
// A duration that was meant in another unit; the sentence names the constant (V21).
selene_status fleet_refuse_unit(const char *field, int64_t value, int64_t greatest);
selene_status fleet_refuse_bits(const char *field, uint32_t value, uint32_t known);
// The same with the error of a call of libselene; OK stays OK.
selene_status fleet_pass(selene_status status);
// Sets the error of this thread to what a call that succeeded has to say.
void fleet_tell(const char *text);

// ---- Arguments (arguments.c) ----

// Memory; a failed allocation ends the process.
void *fleet_memory(size_t size);
// Reads a struct of the caller's over `own`, which is empty, whatever its size.
selene_status fleet_take(void *own, uint32_t size, const void *given, const char *name);
// Puts in the place of 0 what it stands for, and 0 in that of SELENE_NONE; once.
void fleet_settle(int64_t *number, int64_t usual);
void fleet_settle_text(selene_text *text, const char *usual);
// Fills a struct of the caller's, which may be older than `info`.
selene_status fleet_fill(void *out, const void *info, uint32_t size, const char *name);
selene_status fleet_check_pointer(const void *pointer, const char *name);
selene_status fleet_check_range(int64_t value, int64_t least, int64_t most, const char *name);
// The same of a length of time, ns; seconds that were given for nanoseconds are refused (V21).
selene_status fleet_check_time(int64_t value, int64_t least, int64_t most, const char *name);
// A text of the caller's: its length, without NULs, and in its range.
selene_status fleet_check_text(selene_text *text, int64_t least, int64_t most, const char *name);
// A copy with a NUL behind it.
char *fleet_copy(selene_text text);

// ---- Handles (handles.c) ----

enum { FLEET_HANDLE = 1, WORKER_HANDLE = 2 };

// What a handle stands for begins with this.
typedef struct handle {
    struct handle *next;
    uint64_t number;
    uint32_t type;
    // The process it belongs to, as handles.c counts them.
    uint32_t process;
    // One for the handle, one for each call that uses it.
    uint32_t holds;
    void (*free)(struct handle *own);
} handle;

// Gives a number to what was made.
uint64_t handle_add(handle *own, uint32_t type, void (*free)(handle *own));
// Holds what a number stands for, until handle_release.
selene_status handle_hold(uint64_t number, uint32_t type, const char *noun, handle **out);
// The same, and the number stands for nothing from now on: of many callers one gets it.
selene_status handle_close(uint64_t number, uint32_t type, const char *noun, handle **out);
// Holds some handle of a type to which `is_wanted` says yes; NULL: there is none.
handle *handle_find(uint32_t type, int (*is_wanted)(const handle *one, const void *what),
                    const void *what);
void handle_release(handle *own);

// ---- Statements (statement.c) ----

// A parameter beside those of selene_value: an interval, of so many ns, rounded up to whole microseconds.
enum { VALUE_SPAN = 64 };

// A statement with its parameters in a form of its own, in one block.
typedef struct statement {
    char *sql;
    int count;
    // It may be several statements, without parameters (PQsendQuery).
    int is_script;
    const char **values;
    int *lengths;
    int *formats;
} statement;

statement *statement_new(selene_text sql, const selene_value *values, uint64_t count);
statement *statement_script(const char *sql);
// The text of an array, as the database reads it; the caller frees it.
char *statement_array(const selene_value *values, uint64_t count);
void statement_free(statement *own);

// ---- Rows (rows.c) ----

// What a statement answered. Instants and spans are integers in ns. Texts and bytes are those of `result`.
typedef struct rows {
    PGresult *result;
    uint64_t count;
    uint64_t columns;
    selene_value *cells;
    // Values of arrays.
    void *kept;
} rows;

void rows_read(rows *own, PGresult *result);
void rows_free(rows *own);

// A block for a struct, for `count` elements behind it, and for all texts and arrays of the rows behind those.
typedef struct block {
    void *start;
    selene_text *texts;
    char *bytes;
} block;

void block_new(block *own, const rows *from, size_t head, size_t element, uint64_t count);
selene_text block_text(block *own, const selene_value *value);
const selene_text *block_texts(block *own, const selene_value *value, uint32_t *out_count);

// ---- Connections (connect.c, link.c) ----

typedef struct answer {
    // The rows; NULL: there is no answer, and the rest says why.
    PGresult *result;
    // 0: the statement has certainly not reached the database.
    int is_sent;
    // Of the database's refusal, or of ours; empty: the connection was lost, or time was up.
    char state[6];
    char message[1024];
} answer;

// A connection that is being made, in a thread of its own: names may take long to be resolved, also between hosts.
typedef struct attempt attempt;

// NULL: the system refuses a thread.
attempt *attempt_new(const char *dsn, int64_t timeout);
// Readable when it is over.
int attempt_descriptor(const attempt *own);
// Ends it; the connection, and whether a pooler made it, or NULL and why there is none.
PGconn *attempt_end(attempt *own, int *out_is_pooled, answer *why);
// Leaves it to itself if it does not end within a second.
void attempt_leave(attempt *own);

// At most one connection and one statement at a time, without blocking: whoever has it polls.
typedef struct fleet_link {
    const char *dsn;
    int64_t connect_timeout;
    attempt *attempt;
    PGconn *connection;
    statement *statement;
    // 0: not yet; 2: a part of it is still to be sent.
    int is_sent;
    // The database has said that it ends the connection.
    int is_ended;
    // A pooler made the connection: the next statement may be another session's.
    int is_pooled;
    PGresult *result;
    // In the time of fleet_clock. That of a call begins when it is sent.
    int64_t deadline;
    int64_t timeout;
    int is_called;
    // What the database warned of while it answered.
    char warnings[1024];
} fleet_link;

// The time that also counts sleep, ns.
int64_t fleet_clock(void);
// Takes the statement. One that has no answer yet is given up, with its connection.
void link_ask(fleet_link *own, statement *asked, int64_t timeout);
// What to wait for; descriptor -1: nothing but the deadline.
struct pollfd link_polled(const fleet_link *own);
// Does what can be done; 1: there is an answer.
int link_go_on(fleet_link *own, answer *out);
// Asks and waits: for the connection as long as that may take, for the answer up to the timeout.
void link_call(fleet_link *own, statement *asked, int64_t timeout, answer *out);
// Closes the connection, and forgets the statement; a connection that is being made is for the next one.
void link_close(fleet_link *own);
// The same, and leaves a connection that is being made.
void link_drop(fleet_link *own);
// Blocks, on the thread that calls it, the signals that are sent to a process.
int fleet_thread(pthread_t *out_thread, void *(*work)(void *), void *context);

// ---- Fleets (fleet.c) ----

typedef struct fleet {
    handle handle;
    char *dsn;
    char *listen_dsn;
    char *schema;
    // As SQL has it.
    char *quoted;
    char *queue;
    int64_t connect_timeout;
    int64_t timeout;
    // One call after the other.
    pthread_mutex_t lock;
    fleet_link link;
} fleet;

selene_status fleet_hold(selene_fleet number, fleet **out);
// Makes a statement, in which "%" stands for the schema; what only reads leaves no doubt.
selene_status fleet_ask(fleet *own, const char *sql, const selene_value *values, uint64_t count,
                        int is_reading, rows *out);
// The same with a name as the only parameter, which is the field that is refused if it is none.
selene_status fleet_ask_of(selene_fleet number, const char *sql, const char *name, int64_t length,
                           const char *field, int is_reading, rows *out);
// The same of what answers how many; the count may be NULL.
selene_status fleet_count_of(selene_fleet number, const char *sql, const char *name, int64_t length,
                             const char *field, uint64_t *out_count);
// The SELENE_DISPOSITION_ number of a word; -1: none that is known (register.c).
int32_t fleet_disposition(const selene_value *word);
// The status of an answer that is none.
selene_status fleet_failed(const answer *given, int is_reading);
selene_value fleet_text(selene_text text);
// The same of a text that ends with a NUL.
selene_value fleet_word(const char *word);
// The script that installs a fleet, with a NUL (script.c).
char *fleet_script(const char *schema, const char *quoted);
// A name as SQL has it, between these quotes.
char *fleet_quote(const char *name, char quote);
// The text of a statement in which "%" stands for the quoted schema; the caller frees it.
char *fleet_with_schema(const char *sql, const char *quoted);

// ---- Workers (worker.c) ----

// Stops all workers of a fleet.
void workers_stop(fleet *of, int64_t grace);
// REENTRANT on the thread of a worker of this fleet.
selene_status workers_check(const fleet *of);

#endif
