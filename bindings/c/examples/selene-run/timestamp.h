/* The time of day, in local time. */
#ifndef TIMESTAMP_H
#define TIMESTAMP_H

#include <stdint.h>

/** For people who watch, and for logs, which outlive a change of the zone. */
#define TIMESTAMP_SHOWN "%Y-%m-%d %H:%M:%S"
#define TIMESTAMP_LOGGED "%Y-%m-%dT%H:%M:%S%z"

struct timestamp {
    char text[32];
};

/** The time now, in a form of strftime. */
struct timestamp timestamp(const char *form);

/** An instant in ns since the Unix epoch: "14:02", with the date if that is not the day of now. */
struct timestamp timestamp_of(int64_t instant, int64_t now);

/** The same to the second. */
struct timestamp timestamp_exact(int64_t instant);

#endif
