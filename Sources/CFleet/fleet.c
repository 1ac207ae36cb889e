// Section FLEET of the header: where a fleet is, and a call of one of its functions.

#include "fleet.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSTALLING (5 * SELENE_MINUTE)

static void free_fleet(handle *one) {
    fleet *own = (fleet *)(void *)one;
    link_drop(&own->link);
    pthread_mutex_destroy(&own->lock);
    free(own->dsn);
    free(own->listen_dsn);
    free(own->schema);
    free(own->quoted);
    free(own->queue);
    free(own);
}

static selene_status check_dsn(selene_text *dsn, const char *name) {
    char *error = NULL;
    selene_status status = fleet_check_text(dsn, 0, 65536, name);
    if (status != SELENE_OK) return status;
    char *copy = fleet_copy(*dsn);
    // As libpq tells a name of a database from a connection string.
    int is_name = strchr(copy, '=') == NULL && strncmp(copy, "postgres", 8) != 0;
    PQconninfoOption *parsed = is_name ? NULL : PQconninfoParse(copy, &error);
    if (!is_name && parsed == NULL) {
        size_t length = error != NULL ? strcspn(error, "\n") : 0;
        status = fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT, name, "%.*s", (int)length,
                              error != NULL ? error : "");
    }
    if (parsed != NULL) PQconninfoFree(parsed);
    PQfreemem(error);
    free(copy);
    return status;
}

// Whatever the size of the caller's struct.
static selene_status make(const selene_fleet_options *given, fleet **out) {
    selene_fleet_options options = SELENE_INIT(selene_fleet_options);
    selene_status status = fleet_take(&options, sizeof options, given, "options");
    if (status == SELENE_OK && options.flags != 0)
        status = fleet_refuse_bits("flags", options.flags, 0);
    fleet_settle_text(&options.schema, "selene");
    fleet_settle_text(&options.queue, "default");
    if (options.connect_timeout == 0) options.connect_timeout = 10 * SELENE_SECOND;
    if (options.timeout == 0) options.timeout = 30 * SELENE_SECOND;
    if (status == SELENE_OK) status = check_dsn(&options.dsn, "dsn");
    if (status == SELENE_OK) status = check_dsn(&options.listen_dsn, "listen_dsn");
    if (status == SELENE_OK) status = fleet_check_text(&options.schema, 1, 63, "schema");
    if (status == SELENE_OK) status = fleet_check_text(&options.queue, 1, 255, "queue");
    if (status == SELENE_OK)
        status = fleet_check_time(options.connect_timeout, SELENE_MILLISECOND, SELENE_HOUR,
                                  "connect_timeout");
    if (status == SELENE_OK)
        status = fleet_check_time(options.timeout, SELENE_MILLISECOND, SELENE_DAY, "timeout");
    if (status != SELENE_OK) return status;
    fleet *own = fleet_memory(sizeof *own);
    own->dsn = fleet_copy(options.dsn);
    own->listen_dsn = fleet_copy(options.listen_dsn.length > 0 ? options.listen_dsn : options.dsn);
    own->schema = fleet_copy(options.schema);
    own->quoted = fleet_quote(own->schema, '"');
    own->queue = fleet_copy(options.queue);
    own->connect_timeout = options.connect_timeout;
    own->timeout = options.timeout;
    own->link.dsn = own->dsn;
    own->link.connect_timeout = options.connect_timeout;
    pthread_mutex_init(&own->lock, NULL);
    *out = own;
    return SELENE_OK;
}

selene_status selene_fleet_open(const selene_fleet_options *options, selene_fleet *out_fleet) {
    fleet *own;
    selene_status status = fleet_check_pointer(out_fleet, "out_fleet");
    if (status == SELENE_OK) status = make(options, &own);
    if (status == SELENE_OK) *out_fleet = handle_add(&own->handle, FLEET_HANDLE, free_fleet);
    return status;
}

selene_status fleet_hold(selene_fleet number, fleet **out) {
    return handle_hold(number, FLEET_HANDLE, "fleet", (handle **)(void *)out);
}

selene_status selene_fleet_close(selene_fleet number, int64_t grace) {
    fleet *own;
    if (number == 0) return SELENE_OK;
    selene_status status = fleet_check_time(grace, 0, SELENE_DAY, "grace");
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    status = workers_check(own);
    if (status == SELENE_OK) {
        handle *closed;
        status = handle_close(number, FLEET_HANDLE, "fleet", &closed);
        if (status == SELENE_OK) {
            workers_stop(own, grace);
            handle_release(closed);
        }
    }
    handle_release(&own->handle);
    return status;
}

selene_status selene_fleet_install(const selene_fleet_options *options,
                                   selene_fleet_bytes **out_script) {
    fleet *own;
    selene_status status = make(options, &own);
    if (status != SELENE_OK) return status;
    char *script = fleet_script(own->schema, own->quoted);
    if (out_script != NULL) {
        size_t length = strlen(script);
        selene_fleet_bytes *out = fleet_memory(sizeof *out + length + 1);
        out->struct_size = sizeof *out;
        out->bytes = (selene_text){memcpy(out + 1, script, length), (int64_t)length};
        *out_script = out;
    } else {
        answer given;
        link_call(&own->link, statement_script(script), INSTALLING, &given);
        if (given.result == NULL) status = fleet_failed(&given, 0);
        PQclear(given.result);
        if (status == SELENE_OK) fleet_tell(own->link.warnings);
    }
    free(script);
    free_fleet(&own->handle);
    return status;
}

// ---- Calls ----

selene_value fleet_text(selene_text text) {
    return (selene_value){SELENE_VALUE_TEXT, 0, 0, text.data, text.length};
}

selene_value fleet_word(const char *word) {
    return fleet_text((selene_text){word, (int64_t)strlen(word)});
}

// What a SQLSTATE of the database's own means here; the first characters that fit count.
static selene_status status_of(const char *state) {
    static const struct {
        const char *state;
        selene_status status;
    } meanings[] = {
        {"22", SELENE_ERROR_INVALID_ARGUMENT}, {"42501", SELENE_ERROR_REFUSED},
        {"25006", SELENE_ERROR_REFUSED},       {"28", SELENE_ERROR_REFUSED},
        {"3F000", SELENE_ERROR_UNSUPPORTED},   {"42883", SELENE_ERROR_UNSUPPORTED},
        {"42P01", SELENE_ERROR_UNSUPPORTED},   {"42703", SELENE_ERROR_UNSUPPORTED},
        {"40001", SELENE_ERROR_BUSY},          {"40P01", SELENE_ERROR_BUSY},
        {"55P03", SELENE_ERROR_BUSY},          {"57014", SELENE_ERROR_BUSY},
        {"53100", SELENE_ERROR_STORE_FULL},    {"53", SELENE_ERROR_EXHAUSTED},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strncmp(state, meanings[i].state, strlen(meanings[i].state)) == 0)
            return meanings[i].status;
    return SELENE_ERROR_INTERNAL;
}

selene_status fleet_failed(const answer *given, int is_reading) {
    const char *state = given->state;
    // The connection was lost, or the server is going down: perhaps after the commit.
    int is_lost = state[0] == 0 || strncmp(state, "08", 2) == 0 || strncmp(state, "57P", 3) == 0 ||
                  strcmp(state, "40003") == 0;
    if (is_lost) {
        int is_open = given->is_sent && !is_reading;
        return fleet_refuse(is_open ? SELENE_ERROR_OUTCOME_UNKNOWN : SELENE_ERROR_OWNER_AWAY,
                            "fleet", "%s; %s", given->message,
                            is_open ? "the request may have been carried out"
                                    : "nothing was changed");
    }
    // A status that this library knows; OK is none.
    long number = strncmp(state, "SE", 2) == 0 ? strtol(state + 2, NULL, 10) : 0;
    if (number > 0 &&
        strcmp(selene_name(SELENE_NAMES_STATUS, (selene_status)number), "UNKNOWN") != 0)
        return fleet_refuse_told((selene_status)number, given->message, strlen(given->message));
    return fleet_refuse(status_of(state), "fleet", "%s (SQLSTATE %s)", given->message, state);
}

char *fleet_with_schema(const char *sql, const char *quoted) {
    size_t length = strlen(sql);
    for (const char *at = sql; *at != 0; at++)
        if (*at == '%') length += strlen(quoted);
    char *text = fleet_memory(length + 1), *to = text;
    for (; *sql != 0; sql++) {
        if (*sql != '%') *to++ = *sql;
        else to = stpcpy(to, quoted);
    }
    return text;
}

// How often a call is made that the database ends for the sake of another: nothing was changed then.
#define TRIES 10

static int is_conflict(const answer *given) {
    return given->result == NULL &&
           (strcmp(given->state, "40001") == 0 || strcmp(given->state, "40P01") == 0);
}

selene_status fleet_ask(fleet *own, const char *sql, const selene_value *values, uint64_t count,
                        int is_reading, rows *out) {
    answer given;
    char *text = fleet_with_schema(sql, own->quoted);
    for (int tries = 1;; tries++) {
        statement *asked = statement_new((selene_text){text, (int64_t)strlen(text)}, values, count);
        pthread_mutex_lock(&own->lock);
        link_call(&own->link, asked, own->timeout, &given);
        pthread_mutex_unlock(&own->lock);
        if (tries == TRIES || !is_conflict(&given)) break;
        // Up to half a second, and not as long as the other, so that the two do not meet again.
        poll(NULL, 0, (int)(fleet_clock() / SELENE_MICROSECOND % (1 << tries)));
    }
    free(text);
    if (given.result == NULL) return fleet_failed(&given, is_reading);
    rows_read(out, given.result);
    return SELENE_OK;
}

selene_status fleet_ask_of(selene_fleet number, const char *sql, const char *name, int64_t length,
                           const char *field, int is_reading, rows *out) {
    fleet *own;
    selene_text text = {name, length};
    selene_status status = fleet_check_text(&text, 1, 255, field);
    if (status == SELENE_OK) status = fleet_hold(number, &own);
    if (status != SELENE_OK) return status;
    selene_value value = fleet_text(text);
    status = fleet_ask(own, sql, &value, 1, is_reading, out);
    handle_release(&own->handle);
    return status;
}

selene_status fleet_count_of(selene_fleet number, const char *sql, const char *name, int64_t length,
                             const char *field, uint64_t *out_count) {
    rows told;
    selene_status status = fleet_ask_of(number, sql, name, length, field, 0, &told);
    if (status != SELENE_OK) return status;
    if (out_count != NULL) *out_count = (uint64_t)told.cells[0].integer;
    rows_free(&told);
    return SELENE_OK;
}
