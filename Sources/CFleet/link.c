// A connection and the statement that is under way on it, without blocking.

#include "fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A text of libpq as one line: it breaks lines, and begins them with tabs.
static void keep(char *out, size_t size, const char *text) {
    size_t length = 0;
    for (; text != NULL && *text != 0 && length + 1 < size; text++) {
        int is_space = *text == '\n' || *text == '\t' || *text == ' ';
        if (!is_space) out[length++] = *text;
        else if (length > 0 && out[length - 1] != ' ') out[length++] = ' ';
    }
    if (length > 0 && out[length - 1] == ' ') length--;
    out[length] = 0;
}

// What the database warns of; what it merely notes is dropped.
static void hear(void *context, const PGresult *notice) {
    fleet_link *own = context;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    size_t used = strlen(own->warnings);
    if (severity != NULL && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
        own->is_ended = 1;
    if (severity == NULL || strcmp(severity, "WARNING") != 0 || text == NULL) return;
    snprintf(own->warnings + used, sizeof own->warnings - used, "%s%s", used > 0 ? "\n" : "", text);
}

static void disconnect(fleet_link *own) {
    PQclear(own->result);
    PQfinish(own->connection);
    own->result = NULL;
    own->connection = NULL;
}

void link_close(fleet_link *own) {
    disconnect(own);
    statement_free(own->statement);
    own->statement = NULL;
    own->is_sent = 0;
}

void link_drop(fleet_link *own) {
    if (own->attempt != NULL) attempt_leave(own->attempt);
    own->attempt = NULL;
    link_close(own);
}

void link_ask(fleet_link *own, statement *asked, int64_t timeout) {
    if (own->statement != NULL) {
        statement_free(own->statement);
        // Its answer may come yet; a connection that is being made is as good for the next one.
        if (own->is_sent) disconnect(own);
    }
    own->statement = asked;
    own->is_sent = 0;
    own->is_called = 0;
    own->timeout = timeout;
    own->deadline = fleet_clock() + timeout;
    own->warnings[0] = 0;
}

struct pollfd link_polled(const fleet_link *own) {
    struct pollfd polled = {-1, POLLIN, 0};
    if (own->attempt != NULL) polled.fd = attempt_descriptor(own->attempt);
    if (own->connection != NULL) polled.fd = PQsocket(own->connection);
    // More to send: PQflush has said so.
    if (own->is_sent > 1) polled.events |= POLLOUT;
    return polled;
}

// The statement is over.
static int finish(fleet_link *own, answer *out, PGresult *result) {
    statement_free(own->statement);
    own->statement = NULL;
    out->result = result;
    out->is_sent = own->is_sent != 0;
    own->is_sent = 0;
    return 1;
}

static int fail(fleet_link *own, answer *out, const char *message) {
    out->state[0] = 0;
    keep(out->message, sizeof out->message, message);
    return finish(own, out, NULL);
}

// The connection is gone: what libpq knows of that.
static int lose(fleet_link *own, answer *out) {
    fail(own, out, PQerrorMessage(own->connection));
    disconnect(own);
    return 1;
}

static int refused(fleet_link *own, answer *out, PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (message == NULL) message = PQresultErrorMessage(result);
    fail(own, out, message);
    snprintf(out->state, sizeof out->state, "%s", state != NULL ? state : "");
    PQclear(result);
    // A script leaves its transaction open. A server that may only be read was the right one once, or will be: the next
    // connection finds the one that is.
    if (PQstatus(own->connection) == CONNECTION_BAD || strcmp(out->state, "25006") == 0 ||
        PQtransactionStatus(own->connection) != PQTRANS_IDLE)
        disconnect(own);
    return 1;
}

// Whether the database has closed a connection on which nothing was under way.
static int is_closed(fleet_link *own) {
    struct pollfd polled = {PQsocket(own->connection), POLLIN, 0};
    while (poll(&polled, 1, 0) > 0) {
        if (!PQconsumeInput(own->connection)) return 1;
        // Reads what has come, which may say why it will be closed.
        PQisBusy(own->connection);
        if (own->is_ended) return 1;
    }
    return PQstatus(own->connection) == CONNECTION_BAD;
}

static int send_statement(fleet_link *own) {
    const statement *asked = own->statement;
    own->is_sent = 1;
    if (own->is_called) own->deadline = fleet_clock() + own->timeout;
    if (asked->is_script) return PQsendQuery(own->connection, asked->sql);
    return PQsendQueryParams(own->connection, asked->sql, asked->count, NULL, asked->values,
                             asked->lengths, asked->formats, 1);
}

// Takes the connection that was made, if that is over; 1: there is one.
static int take_connection(fleet_link *own, answer *why) {
    struct pollfd over = {attempt_descriptor(own->attempt), POLLIN, 0};
    if (poll(&over, 1, 0) <= 0) return 0;
    own->connection = attempt_end(own->attempt, &own->is_pooled, why);
    own->attempt = NULL;
    if (own->connection == NULL) return 0;
    own->is_ended = 0;
    PQsetNoticeReceiver(own->connection, hear, own);
    return 1;
}

// Sends the statement if there is a connection, or begins to make one; 1: it has failed, and *out says so.
static int begin(fleet_link *own, answer *out) {
    if (own->connection == NULL) {
        answer why;
        if (own->attempt == NULL) own->attempt = attempt_new(own->dsn, own->connect_timeout);
        if (own->attempt == NULL) return fail(own, out, "the system refuses a thread");
        if (!take_connection(own, &why)) {
            if (own->attempt != NULL) return 0;
            fail(own, out, why.message);
            memcpy(out->state, why.state, sizeof out->state);
            return 1;
        }
    }
    return send_statement(own) ? 0 : lose(own, out);
}

// Reads what has come of the answer; 1: it is over.
static int read_answer(fleet_link *own, answer *out) {
    int left = PQflush(own->connection);
    own->is_sent = left > 0 ? 2 : 1;
    int is_lost = !PQconsumeInput(own->connection);
    // What came before the end is read even so, but never waited for.
    if (left < 0 && !is_lost && PQisBusy(own->connection)) return lose(own, out);
    while (is_lost || !PQisBusy(own->connection)) {
        PGresult *result = PQgetResult(own->connection);
        if (result == NULL) {
            result = own->result;
            own->result = NULL;
            if (result == NULL) return lose(own, out);
            return PQresultStatus(result) == PGRES_FATAL_ERROR ? refused(own, out, result)
                                                               : finish(own, out, result);
        }
        // Of a script the last one, or the first that was refused.
        PGresult *other = own->result;
        own->result = result;
        if (other != NULL && PQresultStatus(other) == PGRES_FATAL_ERROR) {
            own->result = other;
            other = result;
        }
        PQclear(other);
    }
    return 0;
}

int link_go_on(fleet_link *own, answer *out) {
    // Nobody waits on a connection that the database has closed while nothing was under way.
    if (own->connection != NULL && !own->is_sent && is_closed(own)) disconnect(own);
    if (own->statement == NULL) {
        answer why;
        if (own->attempt != NULL) take_connection(own, &why);
        return 0;
    }
    if (!own->is_sent && begin(own, out)) return 1;
    if (own->is_sent && read_answer(own, out)) return 1;
    if (fleet_clock() < own->deadline) return 0;
    int was_sent = own->is_sent;
    fail(own, out,
         was_sent ? "no answer within the time for it" : "no connection within the time for it");
    if (was_sent) disconnect(own);
    return 1;
}

void link_call(fleet_link *own, statement *asked, int64_t timeout, answer *out) {
    link_ask(own, asked, timeout);
    own->is_called = 1;
    // The attempt ends by itself before that, unless a name is still being resolved.
    own->deadline = fleet_clock() + own->connect_timeout + SELENE_SECOND;
    while (!link_go_on(own, out)) {
        struct pollfd polled = link_polled(own);
        int64_t left = own->deadline - fleet_clock();
        poll(&polled, 1, left > 0 ? (int)(left / SELENE_MILLISECOND) + 1 : 0);
    }
}
