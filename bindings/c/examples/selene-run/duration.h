/* Durations as people write and read them: 250ms, 2.5s, 1h30m, or plain seconds. */
#ifndef DURATION_H
#define DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What duration_read accepts, for messages. */
#define DURATION_ALLOWED                                                                           \
    "seconds, or a number with ns, us, ms, s, m, h, d or w, such as 250ms, 2.5s or 1h30m"

/** Reads a duration into nanoseconds. False, and *out untouched, for anything else or too much. */
bool duration_read(const char *text, size_t length, int64_t *out);

struct duration_text {
    char text[48];
};

/** Writes a duration for a reader: "12 ms", "1.25 s", "2 m 05 s". */
struct duration_text duration_text(int64_t nanoseconds);

/** Writes a duration as duration_read reads it: "1h30m". */
struct duration_text duration_exact(int64_t nanoseconds);

#endif
