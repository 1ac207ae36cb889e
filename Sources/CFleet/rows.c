// What a statement answered, as values: results come in the binary form of their types.

#include "fleet.h"

#include <stdlib.h>
#include <string.h>

// Numbers of types in PostgreSQL's catalogue, which are fixed.
enum {
    OF_BOOL = 16,
    OF_BYTEA = 17,
    OF_INT8 = 20,
    OF_INT2 = 21,
    OF_INT4 = 23,
    OF_TEXT_ARRAY = 1009,
    OF_TIMESTAMPTZ = 1184,
    OF_INTERVAL = 1186,
    OF_TEXT = 25,
    OF_VOID = 2278
};

// From the epoch to 2000, from which PostgreSQL counts.
#define BEGIN_OF_2000 (INT64_C(946684800) * SELENE_SECOND)
enum { ARRAY_HEAD = 20, ELEMENTS_MOST = 1 << 20 };

static int64_t number(const char *bytes, int length) {
    // What a char is differs from machine to machine.
    uint64_t value = (signed char)bytes[0] < 0 ? UINT64_MAX : 0;
    for (int i = 0; i < length; i++)
        value = value << 8 | (unsigned char)bytes[i];
    return (int64_t)value;
}

// Microseconds in ns; what is infinite is never.
static int64_t nanoseconds(int64_t microseconds) {
    if (microseconds > INT64_MAX / 1000 - BEGIN_OF_2000 / 1000) return SELENE_NEVER;
    return microseconds < INT64_MIN / 1000 ? INT64_MIN : microseconds * 1000;
}

// An interval in ns; what is longer than there are is the longest one.
static int64_t span(const char *bytes) {
    int64_t days = number(bytes + 8, 4) + 30 * number(bytes + 12, 4), value;
    if (__builtin_mul_overflow(days, SELENE_DAY, &value)) return days < 0 ? INT64_MIN : INT64_MAX;
    int64_t rest = nanoseconds(number(bytes, 8));
    if (__builtin_add_overflow(value, rest, &value)) return rest < 0 ? INT64_MIN : INT64_MAX;
    return value;
}

static void read_array(selene_value *out, const char *bytes, int length, void **kept) {
    out->type = SELENE_VALUE_ARRAY;
    if (length < ARRAY_HEAD || number(bytes, 4) != 1) return;
    int64_t count = number(bytes + 12, 4);
    if (count < 0 || count > ELEMENTS_MOST) return;
    void **chunk = fleet_memory(sizeof(void *) + (size_t)count * sizeof(selene_value));
    *chunk = *kept;
    *kept = chunk;
    selene_value *inner = (selene_value *)(chunk + 1);
    const char *at = bytes + ARRAY_HEAD, *end = bytes + length;
    for (int64_t i = 0; i < count && end - at >= 4; i++) {
        int64_t size = number(at, 4);
        at += 4;
        if (size < 0) continue;
        if (size > end - at) break;
        inner[i] = (selene_value){SELENE_VALUE_TEXT, 0, 0, at, size};
        at += size;
    }
    out->data = inner;
    out->length = count;
}

static selene_value read_cell(const char *bytes, int length, Oid type, void **kept) {
    selene_value value = {SELENE_VALUE_INTEGER, 0, 0, NULL, 0};
    int size = type == OF_INT8 || type == OF_TIMESTAMPTZ ? 8
               : type == OF_INT4                         ? 4
               : type == OF_INT2                         ? 2
               : type == OF_BOOL                         ? 1
               : type == OF_INTERVAL                     ? 16
                                                         : 0;
    if (type == OF_VOID || (size > 0 && length != size)) return (selene_value){0, 0, 0, NULL, 0};
    switch (type) {
    case OF_INT8:
    case OF_INT4:
    case OF_INT2:
        value.integer = number(bytes, length);
        return value;
    case OF_BOOL:
        value.type = SELENE_VALUE_BOOLEAN;
        value.integer = bytes[0] != 0;
        return value;
    case OF_TIMESTAMPTZ:
        value.integer = nanoseconds(number(bytes, 8));
        if (value.integer != SELENE_NEVER && value.integer != INT64_MIN)
            value.integer += BEGIN_OF_2000;
        return value;
    case OF_INTERVAL:
        value.integer = span(bytes);
        return value;
    case OF_TEXT_ARRAY:
        read_array(&value, bytes, length, kept);
        return value;
    default:
        value.type = type == OF_BYTEA ? SELENE_VALUE_BYTES : SELENE_VALUE_TEXT;
        value.data = bytes;
        value.length = length;
        return value;
    }
}

void rows_read(rows *own, PGresult *result) {
    *own = (rows){result, (uint64_t)PQntuples(result), (uint64_t)PQnfields(result), NULL, NULL};
    // And a row of nothing behind them: a schema that is not a fleet's may answer none where one is read.
    own->cells = fleet_memory((own->count + 1) * own->columns * sizeof(selene_value));
    for (int row = 0; row < PQntuples(result); row++)
        for (int column = 0; column < PQnfields(result); column++)
            if (!PQgetisnull(result, row, column))
                own->cells[(uint64_t)row * own->columns + (uint64_t)column] =
                    read_cell(PQgetvalue(result, row, column), PQgetlength(result, row, column),
                              PQftype(result, column), &own->kept);
}

void rows_free(rows *own) {
    while (own->kept != NULL) {
        void *next = *(void **)own->kept;
        free(own->kept);
        own->kept = next;
    }
    free(own->cells);
    PQclear(own->result);
}

void block_new(block *own, const rows *from, size_t head, size_t element, uint64_t count) {
    size_t before = head + element * count, texts = 0, bytes = 0;
    for (uint64_t i = 0; i < from->count * from->columns; i++) {
        const selene_value *cell = &from->cells[i], *inner = cell->data;
        if (cell->type != SELENE_VALUE_ARRAY) {
            bytes += (size_t)cell->length + 1;
            continue;
        }
        texts += (size_t)cell->length;
        for (int64_t k = 0; k < cell->length; k++)
            bytes += (size_t)inner[k].length + 1;
    }
    own->start = fleet_memory(before + texts * sizeof(selene_text) + bytes);
    own->texts = (selene_text *)(void *)((char *)own->start + before);
    own->bytes = (char *)(own->texts + texts);
}

selene_text block_text(block *own, const selene_value *value) {
    selene_text text = {own->bytes, 0};
    // Nothing is text, too, as everywhere else.
    if (value->type == SELENE_VALUE_TEXT || value->type == SELENE_VALUE_BYTES)
        text.length = value->length;
    if (text.length > 0) memcpy(own->bytes, value->data, (size_t)text.length);
    own->bytes += text.length + 1;
    return text;
}

const selene_text *block_texts(block *own, const selene_value *value, uint32_t *out_count) {
    const selene_text *first = own->texts;
    const selene_value *inner = value->data;
    *out_count = value->type == SELENE_VALUE_ARRAY ? (uint32_t)value->length : 0;
    for (uint32_t i = 0; i < *out_count; i++)
        *own->texts++ = block_text(own, &inner[i]);
    return *out_count > 0 ? first : NULL;
}
