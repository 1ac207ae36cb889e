/* The time of day, in local time. */
#ifndef TIMESTAMP_H
#define TIMESTAMP_H

/** For people who watch, and for logs, which outlive a change of the zone. */
#define TIMESTAMP_SHOWN "%Y-%m-%d %H:%M:%S"
#define TIMESTAMP_LOGGED "%Y-%m-%dT%H:%M:%S%z"

struct timestamp {
    char text[32];
};

/** The time now, in a form of strftime. */
struct timestamp timestamp(const char *form);

#endif
