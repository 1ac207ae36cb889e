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
    {"w", 7 * SELENE_DAY},      {"d", SELENE_DAY},
    {"h", SELENE_HOUR},         {"ms", SELENE_MILLISECOND},
    {"m", SELENE_MINUTE},       {"s", SELENE_SECOND},
    {"us", SELENE_MICROSECOND}, {"ns", 1},
};

static const struct unit *unit_at(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t size = strlen(units[i].name);
        if (size <= length && memcmp(text, units[i].name, size) == 0) return &units[i];
    }
    return NULL;
}

static size_t count_digits(const char *text, size_t length) {
    size_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    return digits;
}

/* A number as it is written: digits, and perhaps a point and more digits. */
struct number {
    const char *text;
    size_t whole;
    size_t fraction;
    /* Of all of it; 0 if there is no number. */
    size_t length;
};

static struct number number_at(const char *text, size_t length) {
    struct number number = {text, count_digits(text, length), 0, 0};
    size_t point = number.whole;
    if (point < length && text[point] == '.')
        number.fraction = count_digits(text + point + 1, length - point - 1);
    if (point == 0 || (point < length && text[point] == '.' && number.fraction == 0)) return number;
    number.length = point + (number.fraction ? number.fraction + 1 : 0);
    return number;
}

/* Adds number · unit, rounded down to the nanosecond; false if that is too much. Without floating point: what a person
 * writes is what the scheduler gets. */
static bool add(struct number number, int64_t unit, int64_t *total) {
    const char *digit = number.text + number.length;
    int64_t whole = 0;
    int64_t part = 0;
    for (size_t i = 0; i < number.whole; i++) {
        if (whole > INT64_MAX / 10 - 1) return false;
        whole = whole * 10 + (number.text[i] - '0');
    }
    /* From the last digit: the rest of each division by ten is less than the digit before it can tell. */
    for (size_t i = 0; i < number.fraction; i++)
        part = ((*--digit - '0') * unit + part) / 10;
    if (whole > (INT64_MAX - part) / unit || whole * unit + part > INT64_MAX - *total) return false;
    *total += whole * unit + part;
    return true;
}

/* Reads one number with its unit; gives how many bytes that were, 0 if it was none. */
static size_t read_part(const char *text, size_t length, int64_t *total) {
    struct number number = number_at(text, length);
    const struct unit *unit = unit_at(text + number.length, length - number.length);
    if (number.length == 0 || unit == NULL || !add(number, unit->length, total)) return 0;
    return number.length + strlen(unit->name);
}

bool duration_read(const char *text, size_t length, int64_t *out) {
    struct number seconds = number_at(text, length);
    int64_t total = 0;
    size_t at = 0;
    if (length == 0) return false;
    if (seconds.length == length) {
        if (!add(seconds, SELENE_SECOND, &total)) return false;
        at = length;
    }
    while (at < length) {
        size_t size = read_part(text + at, length - at, &total);
        if (size == 0) return false;
        at += size;
    }
    *out = total;
    return true;
}

struct duration_text duration_exact(int64_t nanoseconds) {
    static const struct unit parts[] = {
        {"d", SELENE_DAY},
        {"h", SELENE_HOUR},
        {"m", SELENE_MINUTE},
        {"s", SELENE_SECOND},
        {"ms", SELENE_MILLISECOND},
        {"us", SELENE_MICROSECOND},
        {"ns", 1},
    };
    struct duration_text out = {"0s"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        long long count = nanoseconds / parts[i].length;
        nanoseconds %= parts[i].length;
        if (count)
            used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%lld%s", count,
                                     parts[i].name);
    }
    return out;
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
