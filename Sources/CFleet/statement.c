// Parameters as PostgreSQL reads them: text, since the statements say the types of their parameters; bytes as they are.

#include "fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MOST = 21, SPAN_BYTES = 16 };

// Bytes that a value takes at most, with a NUL.
static size_t room_of(const selene_value *value, int is_element) {
    switch (value->type) {
    case SELENE_VALUE_TEXT:
        return (size_t)value->length * (is_element ? 2 : 1) + 3;
    case SELENE_VALUE_BYTES:
        return is_element ? (size_t)value->length * 2 + 6 : (size_t)value->length + 1;
    case SELENE_VALUE_ARRAY: {
        const selene_value *inner = value->data;
        size_t room = 3;
        for (int64_t i = 0; i < value->length; i++)
            room += room_of(&inner[i], 1) + 1;
        return room;
    }
    case VALUE_SPAN:
        return SPAN_BYTES;
    default:
        return NUMBER_MOST;
    }
}

static char *write_number(char *at, int64_t number) {
    return at + sprintf(at, "%" PRId64, number);
}

// An element of an array, between quotes where it may be taken for anything else.
static char *write_element(char *at, const selene_value *value) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = value->data;
    switch (value->type) {
    case SELENE_VALUE_INTEGER:
        return write_number(at, value->integer);
    case SELENE_VALUE_BOOLEAN:
        *at++ = value->integer ? 't' : 'f';
        return at;
    case SELENE_VALUE_TEXT:
        *at++ = '"';
        for (int64_t i = 0; i < value->length; i++) {
            if (bytes[i] == '"' || bytes[i] == '\\') *at++ = '\\';
            *at++ = (char)bytes[i];
        }
        *at++ = '"';
        return at;
    case SELENE_VALUE_BYTES:
        memcpy(at, "\"\\\\x", 4);
        at += 4;
        for (int64_t i = 0; i < value->length; i++) {
            *at++ = digits[bytes[i] >> 4];
            *at++ = digits[bytes[i] & 15];
        }
        *at++ = '"';
        return at;
    default:
        memcpy(at, "NULL", 4);
        return at + 4;
    }
}

// Eight bytes of microseconds, then days and months.
static char *write_span(char *at, int64_t span) {
    uint64_t microseconds = (uint64_t)(span / 1000 + (span % 1000 > 0));
    memset(at, 0, SPAN_BYTES);
    for (int i = 0; i < 8; i++)
        at[i] = (char)(microseconds >> (56 - 8 * i));
    return at + SPAN_BYTES;
}

static char *write_value(char *at, const selene_value *value, int *out_format) {
    switch (value->type) {
    case SELENE_VALUE_TEXT:
    case SELENE_VALUE_BYTES:
        *out_format = value->type == SELENE_VALUE_BYTES;
        if (value->length > 0) memcpy(at, value->data, (size_t)value->length);
        return at + value->length;
    case SELENE_VALUE_ARRAY: {
        const selene_value *inner = value->data;
        *at++ = '{';
        for (int64_t i = 0; i < value->length; i++) {
            if (i > 0) *at++ = ',';
            at = write_element(at, &inner[i]);
        }
        *at++ = '}';
        return at;
    }
    case VALUE_SPAN:
        *out_format = 1;
        return write_span(at, value->integer);
    default:
        return write_element(at, value);
    }
}

statement *statement_new(selene_text sql, const selene_value *values, uint64_t count) {
    size_t each = sizeof(char *) + 2 * sizeof(int);
    size_t room = sizeof(statement) + count * each + (size_t)sql.length + 1;
    for (uint64_t i = 0; i < count; i++)
        room += room_of(&values[i], 0) + 1;
    statement *own = fleet_memory(room);
    own->count = (int)count;
    own->values = (const char **)(own + 1);
    own->lengths = (int *)(own->values + count);
    own->formats = own->lengths + count;
    char *at = (char *)(own->formats + count);
    own->sql = at;
    memcpy(at, sql.data, (size_t)sql.length);
    at += sql.length + 1;
    for (uint64_t i = 0; i < count; i++) {
        if (values[i].type == SELENE_VALUE_NULL) continue;
        own->values[i] = at;
        at = write_value(at, &values[i], &own->formats[i]);
        own->lengths[i] = (int)(at - own->values[i]);
        *at++ = 0;
    }
    return own;
}

char *statement_array(const selene_value *values, uint64_t count) {
    const selene_value array = {SELENE_VALUE_ARRAY, 0, 0, values, (int64_t)count};
    int format;
    char *text = fleet_memory(room_of(&array, 0) + 1);
    *write_value(text, &array, &format) = 0;
    return text;
}

statement *statement_script(const char *sql) {
    statement *own = statement_new((selene_text){sql, (int64_t)strlen(sql)}, NULL, 0);
    own->is_script = 1;
    return own;
}

void statement_free(statement *own) {
    free(own);
}
