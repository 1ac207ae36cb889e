// What was wrong in a thread's last call.

#include "fleet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char detail[1024];

// The error, and its texts but for the sentence.
enum { FIELD, SUBJECT, FOUND, ALLOWED, PROBLEM, PARTS, PART_SIZE = 512 };
static _Thread_local selene_error last;
static _Thread_local char parts[PARTS][PART_SIZE];

static selene_text part(int place, const char *text) {
    snprintf(parts[place], PART_SIZE, "%s", text);
    return (selene_text){parts[place], (int64_t)strlen(parts[place])};
}

// All but the sentence.
static void set_parts(const selene_error *from) {
    last = *from;
    last.struct_size = sizeof last;
    last.field = part(FIELD, from->field.data);
    last.subject = part(SUBJECT, from->subject.data);
    last.found = part(FOUND, from->found.data);
    last.allowed = part(ALLOWED, from->allowed.data);
    last.problem = part(PROBLEM, from->problem.data);
}

static const selene_error none = {sizeof none, 0,       0,       0, {"", 0}, {"", 0}, {"", 0},
                                  {"", 0},     {"", 0}, {"", 0}, 0, 0,       0};

const selene_error *selene_fleet_error(void) {
    if (last.struct_size == 0) set_parts(&none);
    last.message = (selene_text){detail, (int64_t)strlen(detail)};
    return &last;
}

static void tell(const char *text) {
    snprintf(detail, sizeof detail, "%s", text);
}

void fleet_tell(const char *text) {
    set_parts(&none);
    tell(text);
}

static void tell_of(const char *field, const char *text) {
    snprintf(detail, sizeof detail, "%.60s%s%s", field, *field != 0 ? ": " : "", text);
}

selene_status fleet_refuse(selene_status status, const char *field, const char *format, ...) {
    // The detail may be among the arguments; its field has room before it.
    char text[sizeof detail - 64];
    selene_error made = none;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    made.status = status;
    made.field.data = field;
    made.problem.data = text;
    set_parts(&made);
    tell_of(field, text);
    return status;
}

selene_status fleet_refuse_told(selene_status status, const char *text, size_t length) {
    char field[61];
    size_t named = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    if (named == 0 || named >= sizeof field || length < named + 2 ||
        memcmp(text + named, ": ", 2) != 0)
        return fleet_refuse(status, "", "%.*s", (int)length, text);
    snprintf(field, sizeof field, "%.*s", (int)named, text);
    return fleet_refuse(status, field, "%.*s", (int)(length - named - 2), text + named + 2);
}

// A number that is not among those that are allowed: `found` and `allowed` as people read them, `how` what is said between,
// `hint` what ends the sentence.
static selene_status refuse_value(const selene_error *what, const char *field, const char *found,
                                  const char *allowed, const char *how, const char *hint) {
    char text[256];
    selene_error made = *what;
    snprintf(text, sizeof text, "%s%s, allowed are %s%s", found, how, allowed, hint);
    made.status = SELENE_ERROR_INVALID_ARGUMENT;
    made.field.data = field;
    made.found.data = found;
    made.allowed.data = allowed;
    set_parts(&made);
    tell_of(field, text);
    return made.status;
}

selene_status fleet_refuse_number(const char *field, int32_t unit, int64_t value, int64_t least,
                                  int64_t greatest) {
    char found[24], allowed[64];
    int is_bytes = unit == SELENE_UNIT_BYTES;
    selene_error made = none;
    snprintf(found, sizeof found, "%" PRId64, value);
    snprintf(allowed, sizeof allowed, "%" PRId64 " … %" PRId64 "%s", least, greatest,
             is_bytes ? " bytes" : "");
    made.unit = unit;
    made.value = value;
    made.least = least;
    made.greatest = greatest;
    return refuse_value(&made, field, found, allowed,
                        is_bytes ? " bytes is out of range" : " is out of range", "");
}

selene_status fleet_refuse_unit(const char *field, int64_t value, int64_t greatest) {
    char found[24], allowed[64], hint[96];
    selene_error made = none;
    snprintf(found, sizeof found, "%" PRId64, value);
    snprintf(allowed, sizeof allowed, "%" PRId64 " … %" PRId64, SELENE_MILLISECOND, greatest);
    snprintf(hint, sizeof hint,
             "; durations are in nanoseconds, was %" PRId64 " * SELENE_SECOND meant?", value);
    made.unit = SELENE_UNIT_DURATION;
    made.value = value;
    made.least = SELENE_MILLISECOND;
    made.greatest = greatest;
    return refuse_value(&made, field, found, allowed, " ns is out of range", hint);
}

selene_status fleet_refuse_bits(const char *field, uint32_t value, uint32_t known) {
    char found[16], allowed[16] = "none";
    selene_error made = none;
    snprintf(found, sizeof found, "%" PRIu32, value);
    if (known != 0) snprintf(allowed, sizeof allowed, "%" PRIu32, known);
    made.unit = SELENE_UNIT_BITS;
    made.value = value;
    made.greatest = known;
    return refuse_value(&made, field, found, allowed, " has bits that are not known", "");
}

selene_status fleet_pass(selene_status status) {
    if (status == SELENE_OK) return status;
    tell(selene_error_last()->message.data);
    set_parts(selene_error_last());
    return status;
}
