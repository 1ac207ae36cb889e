#include "duration.h"

#include <selene.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t length;
};

/* "ms" stands before "m": the first that matches is taken. */
static const struct unit units[] = {
    {"us", SELENE_MICROSECOND}, {"ms", SELENE_MILLISECOND}, {"s", SELENE_SECOND},
    {"m", SELENE_MINUTE},       {"h", SELENE_HOUR},         {"d", SELENE_DAY},
};

static const struct unit *unit_at(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t size = strlen(units[i].name);
        if (size <= length && memcmp(text, units[i].name, size) == 0) return &units[i];
    }
    return NULL;
}

/* Reads one number with its unit; gives how many bytes that were, 0 if it was none. */
static size_t read_part(const char *text, size_t length, int64_t *total) {
    int64_t number = 0;
    size_t digits = 0;
    const struct unit *unit;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9') {
        if (number > INT64_MAX / 10 - 1) return 0;
        number = number * 10 + (text[digits++] - '0');
    }
    unit = unit_at(text + digits, length - digits);
    if (digits == 0 || unit == NULL) return 0;
    if (number > (INT64_MAX - *total) / unit->length) return 0;
    *total += number * unit->length;
    return digits + strlen(unit->name);
}

bool duration_read(const char *text, size_t length, int64_t *out) {
    int64_t total = 0;
    size_t at = 0;
    if (length == 0) return false;
    while (at < length) {
        size_t size = read_part(text + at, length - at, &total);
        if (size == 0) return false;
        at += size;
    }
    *out = total;
    return true;
}

static void write_pair(struct duration_text *out, int64_t value, int64_t large, const char *name,
                       int64_t small, const char *small_name) {
    snprintf(out->text, sizeof out->text, "%lld %s %02lld %s", (long long)(value / large), name,
             (long long)(value % large / small), small_name);
}

struct duration_text duration_text(int64_t nanoseconds) {
    struct duration_text out;
    double value = (double)nanoseconds;
    /* The bounds are where rounding would write 1000 ms or 60.00 s. */
    if (nanoseconds < SELENE_MILLISECOND && nanoseconds > 0)
        snprintf(out.text, sizeof out.text, "%.2f ms", value / (double)SELENE_MILLISECOND);
    else if (nanoseconds < SELENE_SECOND - SELENE_MILLISECOND / 2)
        snprintf(out.text, sizeof out.text, "%.0f ms", value / (double)SELENE_MILLISECOND);
    else if (nanoseconds < SELENE_MINUTE - 5 * SELENE_MILLISECOND)
        snprintf(out.text, sizeof out.text, "%.2f s", value / (double)SELENE_SECOND);
    else if (nanoseconds < SELENE_HOUR)
        write_pair(&out, nanoseconds, SELENE_MINUTE, "m", SELENE_SECOND, "s");
    else if (nanoseconds < SELENE_DAY)
        write_pair(&out, nanoseconds, SELENE_HOUR, "h", SELENE_MINUTE, "m");
    else write_pair(&out, nanoseconds, SELENE_DAY, "d", SELENE_HOUR, "h");
    return out;
}
