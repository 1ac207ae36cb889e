/*
 * node.h - the driver of a node, and the database that it asks: a few records in this process, which answer the statements
 * of a node with rows as the functions of Sources/Fleet give them
 *
 * Its clock is that of the scheduler, so a test says when what happens.
 */
#ifndef NODE_H
#define NODE_H

#include "governor.h"

#define LEASE (30 * S)
/** How long a node believes in a lease, and waits for an answer. */
#define BELIEF (24 * S)
#define WAIT_FOR_ANSWER (3 * S)

/* ---- records ------------------------------------------------------------------------ */

enum job_state { WAITS, RUNS, OVER };

/** A task of the fleet. */
struct job {
    const char *id, *handler;
    const void *input;
    int64_t input_length;
    int32_t class_number, priority;
    int64_t estimate;
    int32_t attempt, generation;
    int is_suspect;

    enum job_state state;
    int64_t task, run, worker;
    /** How it ended, as the last decision that counted says; delay −1: none. */
    int64_t outcome, response, delay;
    char failure[256], output[256];
    int64_t output_length;
    int decided, given_back;
    /** Somebody else's transaction is at its record: of its decision nothing is said. */
    int is_busy;
    /** Why its run is no longer its node's (N25); 0: none has taken it. */
    int32_t lost;
};

struct job_class {
    int32_t number, kind;
    uint32_t constraints;
    const char *label, *handler;
};

/** What happens to a call. */
enum fault {
    NONE,
    NO_CONNECTION, /* it was not sent */
    CALL_LOST,     /* it was sent, not made, and the connection ended */
    ANSWER_LOST,   /* it was made, and the connection ended */
    SILENCE,       /* it was sent and not made, and nothing is heard */
    REFUSAL,       /* of .sqlstate */
    NONSENSE       /* it was not made, and rows come that are not its own */
};

struct base {
    struct job jobs[256];
    int job_count;
    struct job_class classes[8];
    int class_count;
    int64_t last_worker, last_run, worker;
    /** Workers that have said bye, or were taken for dead. */
    char is_over[1024];

    enum fault fault;
    /** What the fault befalls: statements that contain this; NULL: all. */
    const char *of;
    const char *sqlstate;

    int hellos, beats, asked_classes, turns, claims, fates, byes;
    /** Of the last turn that claimed. */
    int64_t most, room, total, first;
    /** Of the last beat. */
    int held;
    /** Every beat tells that the node is to leave. */
    int is_draining;
    char schema[64], name[64], queues[64];
    int64_t wake_at;
    /** What it answered is not what a fleet answers, so what comes is not either. */
    int is_lenient;
};

CHECK_UNUSED static struct base base;

CHECK_UNUSED static void add_class(int32_t number, int32_t kind, uint32_t constraints,
                                   const char *label, const char *handler) {
    base.classes[base.class_count++] =
        (struct job_class){number, kind, constraints, label, handler};
}

/** A task of a class, whose handler it has. */
CHECK_UNUSED static struct job *add_job(const char *id, int32_t class_number) {
    struct job *job = &base.jobs[base.job_count++];
    CHECK(base.job_count <= (int)COUNT(base.jobs));
    memset(job, 0, sizeof *job);
    job->id = id;
    job->handler = "work";
    for (int i = 0; i < base.class_count; i++)
        if (base.classes[i].number == class_number) job->handler = base.classes[i].handler;
    job->class_number = class_number;
    job->priority = 3;
    job->estimate = MS;
    job->attempt = 0;
    job->generation = 1;
    job->task = base.job_count;
    return job;
}

/** The database gives a run up: it was cancelled, say, or another node has taken it. */
CHECK_UNUSED static void lose_job(struct job *job, int32_t reason) {
    job->lost = reason;
    job->state = OVER;
}

/* ---- rows ------------------------------------------------------------------------- */

CHECK_UNUSED static selene_value integer(int64_t number) {
    return (selene_value){SELENE_VALUE_INTEGER, 0, number, NULL, 0};
}
CHECK_UNUSED static selene_value null(void) {
    return (selene_value){SELENE_VALUE_NULL, 0, 0, NULL, 0};
}
CHECK_UNUSED static selene_value text(const char *text) {
    return (selene_value){SELENE_VALUE_TEXT, 0, 0, text, (int64_t)strlen(text)};
}
CHECK_UNUSED static selene_value bytes(const void *data, int64_t length) {
    return (selene_value){SELENE_VALUE_BYTES, 0, 0, data, length};
}

struct rows {
    selene_value cells[4096];
    uint64_t rows, columns;
};

CHECK_UNUSED static selene_value *add_row(struct rows *rows, uint64_t columns) {
    selene_value *row = &rows->cells[rows->rows++ * columns];
    CHECK(rows->rows * columns <= COUNT(rows->cells));
    rows->columns = columns;
    for (uint64_t i = 0; i < columns; i++)
        row[i] = null();
    return row;
}

CHECK_UNUSED static const selene_value *entries(selene_value value) {
    CHECK_INT(SELENE_VALUE_ARRAY, value.type);
    return value.data;
}

CHECK_UNUSED static int has_entry(selene_value array, int64_t number) {
    const selene_value *entry = entries(array);
    for (int64_t i = 0; i < array.length; i++)
        if (entry[i].integer == number) return 1;
    return 0;
}

/** Text or bytes; how many there are, −1 for none. */
CHECK_UNUSED static int64_t keep_bytes(char *room, size_t size, selene_value value) {
    memset(room, 0, size);
    if (value.type == SELENE_VALUE_NULL) return -1;
    CHECK(value.length < (int64_t)size);
    if (value.length) memcpy(room, value.data, (size_t)value.length);
    return value.length;
}

/* ---- statements ----------------------------------------------------------------- */

/** Says which of its runs a worker has no longer. */
CHECK_UNUSED static void tell_lost(struct rows *rows, selene_value held, uint64_t columns,
                                   int64_t what, int number_at, int reason_at) {
    for (int i = 0; i < base.job_count; i++) {
        if (!base.jobs[i].lost || !has_entry(held, base.jobs[i].run)) continue;
        selene_value *row = add_row(rows, columns);
        row[0] = integer(what);
        row[number_at] = integer(base.jobs[i].run);
        row[reason_at] = integer(base.jobs[i].lost);
    }
}

CHECK_UNUSED static int is_over(int64_t worker) {
    return worker < 1 || worker > base.last_worker || base.is_over[worker % 1024];
}

CHECK_UNUSED static void answer_beat(const selene_value *values, struct rows *rows) {
    CHECK_INT(SELENE_VALUE_INTEGER, values[0].type);
    base.beats++;
    base.held = (int)values[2].length;
    if (is_over(values[0].integer)) return;
    selene_value *row = add_row(rows, 3);
    row[0] = integer(0);
    row[1] = integer(atomic_load(&clock_now) + LEASE);
    row[2] = integer(LEASE);
    if (base.is_draining) {
        row = add_row(rows, 3);
        row[0] = integer(4);
        row[1] = integer(1);
    }
    tell_lost(rows, values[2], 3, 1, 1, 2);
}

CHECK_UNUSED static int is_busy(int64_t run) {
    for (int i = 0; i < base.job_count; i++)
        if (base.jobs[i].run == run && base.jobs[i].is_busy) return 1;
    return 0;
}

CHECK_UNUSED static void decide(const selene_value *values, struct rows *rows) {
    for (int64_t i = 0; i < values[2].length; i++) {
        const int64_t run = entries(values[2])[i].integer;
        if (is_busy(run)) continue;
        selene_value *row = add_row(rows, 14);
        row[0] = integer(0);
        row[1] = integer(run);
        for (int k = 0; k < base.job_count; k++) {
            struct job *job = &base.jobs[k];
            if (job->run != run || job->state != RUNS) continue;
            if (!base.is_lenient) CHECK_INT(job->task, entries(values[1])[i].integer);
            job->outcome = entries(values[3])[i].integer;
            job->response = entries(values[4])[i].integer;
            selene_value delay = entries(values[5])[i];
            job->delay = delay.type == SELENE_VALUE_NULL ? -1 : delay.integer;
            keep_bytes(job->failure, sizeof job->failure, entries(values[6])[i]);
            job->output_length = keep_bytes(job->output, sizeof job->output, entries(values[7])[i]);
            job->decided++;
            job->state = OVER;
            row[2] = integer(5);
        }
    }
}

CHECK_UNUSED static void claim(const selene_value *values, struct rows *rows) {
    int64_t given = 0;
    base.claims++;
    base.most = values[12].integer;
    base.room = values[13].integer;
    base.total = values[14].integer;
    base.first = values[15].integer;
    if (!base.is_lenient) CHECK_INT(base.worker, values[0].integer);
    for (int i = 0; i < base.job_count && given < base.most; i++) {
        struct job *job = &base.jobs[i];
        const int32_t line = job->class_number << 8 | job->priority << 4 | job->is_suspect;
        if (job->state != WAITS) continue;
        if (!has_entry(values[11], job->class_number) && !has_entry(values[16], line)) continue;
        if (!base.first && job->estimate > base.room) continue;
        job->state = RUNS;
        job->run = ++base.last_run;
        job->worker = base.worker;
        job->attempt++;
        given++;
        selene_value *row = add_row(rows, 14);
        row[0] = integer(1);
        row[1] = integer(job->run);
        row[4] = integer(job->task);
        row[5] = text(job->id);
        row[6] = text(job->handler);
        row[7] = integer(job->class_number);
        row[8] = bytes(job->input, job->input_length);
        row[9] = integer(job->estimate);
        row[10] = integer(job->attempt);
        row[11] = integer(job->generation);
        row[12] = integer(line);
        row[13] = integer(0);
    }
}

CHECK_UNUSED static void give_back(struct job *job) {
    job->state = WAITS;
    job->attempt--;
    job->given_back++;
}

CHECK_UNUSED static void answer_turn(const selene_value *values, struct rows *rows) {
    base.turns++;
    decide(values, rows);
    for (int64_t i = 0; i < values[9].length; i++)
        for (int k = 0; k < base.job_count; k++)
            if (base.jobs[k].run == entries(values[9])[i].integer && base.jobs[k].state == RUNS)
                give_back(&base.jobs[k]);
    tell_lost(rows, values[10], 14, 2, 1, 2);
    if (values[12].integer > 0) claim(values, rows);
}

CHECK_UNUSED static void answer_fate(const selene_value *values, struct rows *rows) {
    base.fates++;
    for (int64_t i = 0; i < values[1].length; i++) {
        const int64_t run = entries(values[1])[i].integer;
        selene_value *row = add_row(rows, 2);
        row[0] = integer(run);
        row[1] = integer(2);
        for (int k = 0; k < base.job_count; k++)
            if (base.jobs[k].run == run)
                row[1] = integer(base.jobs[k].state == RUNS ? 0 : base.jobs[k].decided ? 1 : 2);
    }
}

/** Makes a statement. */
CHECK_UNUSED static void perform(const selene_node_request *request, struct rows *rows) {
    const char *sql = request->sql.data;
    const selene_value *values = request->values;
    rows->rows = rows->columns = 0;
    if (strstr(sql, "hello(")) {
        CHECK_INT(4, request->value_count);
        selene_value *row = add_row(rows, 2);
        base.hellos++;
        base.worker = ++base.last_worker;
        base.is_over[base.worker % (int64_t)COUNT(base.is_over)] = 0;
        keep_bytes(base.name, sizeof base.name, values[0]);
        CHECK_INT(LEASE, values[1].integer);
        CHECK_STRING(SELENE_VERSION_STRING, values[2].data);
        CHECK_INT(1, values[3].length);
        row[0] = integer(base.worker);
        row[1] = integer(atomic_load(&clock_now));
    } else if (strstr(sql, "beat(")) {
        CHECK_INT(7, request->value_count);
        answer_beat(values, rows);
    } else if (strstr(sql, "classes($1")) {
        CHECK_INT(1, request->value_count);
        base.asked_classes++;
        snprintf(base.queues, sizeof base.queues, "%s",
                 values[0].type == SELENE_VALUE_NULL ? "" : (char *)entries(values[0])[0].data);
        for (int i = 0; i < base.class_count; i++) {
            static selene_value labels[8];
            selene_value *row = add_row(rows, 5);
            const struct job_class *one = &base.classes[i];
            if (one->label) labels[i] = text(one->label);
            row[0] = integer(one->number);
            row[1] = integer(one->kind);
            row[2] = integer(one->constraints);
            row[3] = (selene_value){SELENE_VALUE_ARRAY, 0, 0, &labels[i], one->label ? 1 : 0};
            row[4] = text(one->handler);
        }
    } else if (strstr(sql, "turn(")) {
        CHECK_INT(21, request->value_count);
        answer_turn(values, rows);
    } else if (strstr(sql, "fate(")) {
        CHECK_INT(3, request->value_count);
        answer_fate(values, rows);
    } else if (strstr(sql, "bye(")) {
        CHECK_INT(1, request->value_count);
        base.byes++;
        if (!is_over(values[0].integer)) base.is_over[values[0].integer % 1024] = 1;
        for (int i = 0; i < base.job_count; i++)
            if (base.jobs[i].worker == values[0].integer && base.jobs[i].state == RUNS)
                give_back(&base.jobs[i]);
        add_row(rows, 1)[0] = integer(0);
    } else {
        fprintf(stderr, "no such statement: %s\n", sql);
        check_fail();
    }
}

/* ---- the driver -------------------------------------------------------------------- */

/** Makes the statement of a request and says how it went; whether there was one. */
CHECK_UNUSED static int serve_one(selene_scheduler scheduler) {
    static struct rows rows;
    selene_node_request request = SELENE_INIT(selene_node_request);
    CHECK_OK(selene_node_step(scheduler, &request, &base.wake_at));
    if (!request.number) return 0;
    CHECK_INT(WAIT_FOR_ANSWER, request.timeout);
    CHECK_INT((int64_t)strlen(request.sql.data), request.sql.length);
    switch (base.of && !strstr(request.sql.data, base.of) ? NONE : base.fault) {
    case NO_CONNECTION:
        CHECK_OK(selene_node_failed(scheduler, request.number, 0, NULL, "connection refused"));
        return 1;
    case ANSWER_LOST:
        perform(&request, &rows);
        __attribute__((fallthrough));
    case CALL_LOST:
        CHECK_OK(selene_node_failed(scheduler, request.number, 1, NULL, "connection reset"));
        return 1;
    case SILENCE:
        return 1;
    case REFUSAL:
        CHECK_OK(selene_node_failed(scheduler, request.number, 1, base.sqlstate,
                                    "permission denied for function hello"));
        return 1;
    case NONSENSE: {
        const selene_value cell = integer(99);
        CHECK_OK(selene_node_rows(scheduler, request.number, &cell, 1, 1));
        return 1;
    }
    case NONE:
        perform(&request, &rows);
        CHECK_OK(selene_node_rows(scheduler, request.number, rows.cells, rows.rows, rows.columns));
        return 1;
    }
    return 0;
}

/** Makes what is due now. */
CHECK_UNUSED static void serve(selene_scheduler scheduler) {
    int calls = 0;
    while (serve_one(scheduler))
        CHECK(++calls < 1000);
}

/** The same while time goes by. */
CHECK_UNUSED static void serve_for(selene_scheduler scheduler, int64_t duration) {
    for (const int64_t until = atomic_load(&clock_now) + duration;;) {
        serve(scheduler);
        const int64_t now = atomic_load(&clock_now);
        if (now >= until) return;
        advance(base.wake_at > now && base.wake_at < until ? base.wake_at - now : until - now);
    }
}

CHECK_UNUSED static selene_node_info standing(selene_scheduler scheduler) {
    selene_node_info info = SELENE_INIT(selene_node_info);
    CHECK_OK(selene_node_get(scheduler, &info));
    CHECK_INT(sizeof info, info.struct_size);
    CHECK_INT(0, info.flags);
    CHECK_INT(0, info.reserved);
    return info;
}

#endif /* NODE_H */
