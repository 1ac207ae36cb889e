// What callers give: structs of any release, texts, numbers.

#include "fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void *fleet_memory(size_t size) {
    void *memory = calloc(1, size + (size == 0));
    if (memory == NULL) abort();
    return memory;
}

selene_status fleet_check_pointer(const void *pointer, const char *name) {
    return pointer != NULL ? SELENE_OK
                           : fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT, name, "is NULL");
}

selene_status fleet_check_range(int64_t value, int64_t least, int64_t most, const char *name) {
    if (value >= least && value <= most) return SELENE_OK;
    return fleet_refuse_number(name, SELENE_UNIT_NUMBER, value, least, most);
}

selene_status fleet_check_time(int64_t value, int64_t least, int64_t most, const char *name) {
    if (value > 0 && value < SELENE_MILLISECOND) return fleet_refuse_unit(name, value, most);
    if (value >= least && value <= most) return SELENE_OK;
    return fleet_refuse_number(name, SELENE_UNIT_DURATION, value, least, most);
}

static selene_status check_size(uint32_t size, const char *name) {
    if (size >= 8) return SELENE_OK;
    return fleet_refuse(SELENE_ERROR_UNSUPPORTED_STRUCT, name, "struct_size %" PRIu32 " is below 8",
                        size);
}

selene_status fleet_take(void *own, uint32_t size, const void *given, const char *name) {
    uint32_t theirs;
    if (given == NULL) return SELENE_OK;
    memcpy(&theirs, given, sizeof theirs);
    selene_status status = check_size(theirs, name);
    if (status != SELENE_OK) return status;
    for (uint32_t at = size; at < theirs; at++)
        if (((const unsigned char *)given)[at] != 0)
            return fleet_refuse(SELENE_ERROR_UNSUPPORTED_STRUCT, name,
                                "a field that this library does not know is set, at byte %" PRIu32,
                                at);
    memcpy(own, given, theirs < size ? theirs : size);
    memcpy(own, &size, sizeof size);
    return SELENE_OK;
}

void fleet_settle(int64_t *number, int64_t usual) {
    if (*number == 0) *number = usual;
    else if (*number == SELENE_NONE) *number = 0;
}

void fleet_settle_text(selene_text *text, const char *usual) {
    if (text->length == 0 || (text->length == -1 && text->data != NULL && text->data[0] == 0))
        *text = (selene_text){usual, -1};
}

selene_status fleet_fill(void *out, const void *info, uint32_t size, const char *name) {
    uint32_t theirs;
    selene_status status = fleet_check_pointer(out, name);
    if (status != SELENE_OK) return status;
    memcpy(&theirs, out, sizeof theirs);
    status = check_size(theirs, name);
    if (status != SELENE_OK) return status;
    memcpy(out, info, theirs < size ? theirs : size);
    memcpy(out, &theirs, sizeof theirs);
    return SELENE_OK;
}

selene_status fleet_check_text(selene_text *text, int64_t least, int64_t most, const char *name) {
    if (text->length < -1)
        return fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT, name, "length %" PRId64 " is below 0",
                            text->length);
    if (text->data == NULL && text->length != 0)
        return fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT, name, "is NULL");
    if (text->length == -1) text->length = (int64_t)strlen(text->data);
    if (text->length < least || text->length > most)
        return fleet_refuse_number(name, SELENE_UNIT_BYTES, text->length, least, most);
    if (text->length > 0 && memchr(text->data, 0, (size_t)text->length) != NULL)
        return fleet_refuse(SELENE_ERROR_INVALID_ARGUMENT, name, "has a NUL");
    return SELENE_OK;
}

char *fleet_copy(selene_text text) {
    char *copy = fleet_memory((size_t)text.length + 1);
    if (text.length > 0) memcpy(copy, text.data, (size_t)text.length);
    return copy;
}
