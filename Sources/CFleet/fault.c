// What was wrong in a thread's last call.

#include "fleet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char detail[1024];

// The same as data, and the texts of it.
enum { FIELD, SUBJECT, FOUND, ALLOWED, PROBLEM, PARTS, PART_SIZE = 512 };
static _Thread_local selene_fault fault;
static _Thread_local char parts[PARTS][PART_SIZE];

static selene_text part(int place, const char *text) {
    snprintf(parts[place], PART_SIZE, "%s", text);
    return (selene_text){parts[place], (int64_t)strlen(parts[place])};
}

static void set_fault(const selene_fault *from) {
    fault = *from;
    fault.struct_size = sizeof fault;
    fault.field = part(FIELD, from->field.data);
    fault.subject = part(SUBJECT, from->subject.data);
    fault.found = part(FOUND, from->found.data);
    fault.allowed = part(ALLOWED, from->allowed.data);
    fault.problem = part(PROBLEM, from->problem.data);
}

static const selene_fault none = {sizeof none, 0,       0,       0, {"", 0}, {"", 0},
                                  {"", 0},     {"", 0}, {"", 0}, 0, 0,       0};

const char *selene_fleet_detail(void) {
    return detail;
}

const selene_fault *selene_fleet_fault(void) {
    if (fault.struct_size == 0) set_fault(&none);
    return &fault;
}

void fleet_tell(const char *text) {
    snprintf(detail, sizeof detail, "%s", text);
}

static void tell_of(const char *field, const char *text) {
    snprintf(detail, sizeof detail, "%.60s%s%s", field, *field != 0 ? ": " : "", text);
}

selene_status fleet_refuse(selene_status status, const char *field, const char *format, ...) {
    // The detail may be among the arguments; its field has room before it.
    char text[sizeof detail - 64];
    selene_fault made = none;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    made.status = status;
    made.field.data = field;
    made.problem.data = text;
    set_fault(&made);
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
static selene_status refuse_value(const selene_fault *what, const char *field, const char *found,
                                  const char *allowed, const char *how, const char *hint) {
    char text[256];
    selene_fault made = *what;
    snprintf(text, sizeof text, "%s%s, allowed are %s%s", found, how, allowed, hint);
    made.status = SELENE_ERROR_INVALID_ARGUMENT;
    made.field.data = field;
    made.found.data = found;
    made.allowed.data = allowed;
    set_fault(&made);
    tell_of(field, text);
    return made.status;
}

selene_status fleet_refuse_number(const char *field, int32_t unit, int64_t value, int64_t least,
                                  int64_t greatest) {
    char found[24], allowed[64];
    int is_bytes = unit == SELENE_UNIT_BYTES;
    selene_fault made = none;
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
    selene_fault made = none;
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
    selene_fault made = none;
    snprintf(found, sizeof found, "%" PRIu32, value);
    if (known != 0) snprintf(allowed, sizeof allowed, "%" PRIu32, known);
    made.unit = SELENE_UNIT_BITS;
    made.value = value;
    made.greatest = known;
    return refuse_value(&made, field, found, allowed, " has bits that are not known", "");
}

selene_status fleet_pass(selene_status status) {
    if (status == SELENE_OK) return status;
    fleet_tell(selene_status_detail());
    set_fault(selene_status_fault());
    return status;
}
