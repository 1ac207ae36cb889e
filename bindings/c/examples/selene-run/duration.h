/* Durations as people write and read them: 250ms, 5s, 1h30m. */
#ifndef DURATION_H
#define DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What duration_read accepts, for messages. */
#define DURATION_ALLOWED "a number with us, ms, s, m, h or d, such as 250ms, 5s or 1h30m"

/** Reads a duration into nanoseconds. False, and *out untouched, for anything else or too much. */
bool duration_read(const char *text, size_t length, int64_t *out);

struct duration_text {
    char text[32];
};

/** Writes a duration for a reader: "12 ms", "1.25 s", "2 m 05 s". */
struct duration_text duration_text(int64_t nanoseconds);

#endif
