/* Times of the day at which a task is due, in local time, on some days of the week. */
#ifndef CALENDAR_H
#define CALENDAR_H

#include <selene.h>
#include <stdbool.h>
#include <stdint.h>

#define CALENDAR_TIMES 32
#define CALENDAR_TIMES_ALLOWED                                                                     \
    "times of the day from 00:00 to 23:59, such as 03:00, more after a comma"
#define CALENDAR_DAYS_ALLOWED                                                                      \
    "mon, tue, wed, thu, fri, sat, sun, or from one to another, such as mon..fri"

struct calendar {
    /** Minutes since midnight, ascending; none: it is no calendar. */
    int16_t times[CALENDAR_TIMES];
    int count;
    /** A bit a day, Monday's first. */
    uint32_t days;
};

/** Reads one time, such as 03:00, into a calendar; false if it is none, or one too many. */
bool calendar_read_time(struct calendar *calendar, selene_text text);

/** Reads a day of the week, or some, such as mon..fri; false if it is none. */
bool calendar_read_days(struct calendar *calendar, selene_text text);

/**
 * The first instant after one, both in ns since the Unix epoch. A time that is left out as the clocks are set forward is
 * due at that moment; one that comes twice, the first time.
 */
int64_t calendar_after(const struct calendar *calendar, int64_t instant);

#endif
