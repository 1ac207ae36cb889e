#define _DEFAULT_SOURCE
#include "calendar.h"

#include <string.h>
#include <time.h>

#define DAY 86400

bool calendar_read_time(struct calendar *calendar, selene_text text) {
    const char *at = text.data;
    int place = calendar->count, minutes;
    if (text.length != 5 || at[2] != ':' || calendar->count == CALENDAR_TIMES) return false;
    for (int i = 0; i < 5; i++)
        if (i != 2 && (at[i] < '0' || at[i] > '9')) return false;
    if (at[0] > '2' || (at[0] == '2' && at[1] > '3') || at[3] > '5') return false;
    minutes = ((at[0] - '0') * 10 + at[1] - '0') * 60 + (at[3] - '0') * 10 + at[4] - '0';
    while (place > 0 && calendar->times[place - 1] >= minutes)
        place--;
    if (place < calendar->count && calendar->times[place] == minutes) return true;
    memmove(&calendar->times[place + 1], &calendar->times[place],
            (size_t)(calendar->count - place) * sizeof *calendar->times);
    calendar->times[place] = (int16_t)minutes;
    calendar->count++;
    return true;
}

/* The day of the week of three letters, Monday is 0; −1: none. */
static int day_of(const char *text) {
    static const char names[] = "montuewedthufrisatsun";
    for (int day = 0; day < 7; day++)
        if (memcmp(names + 3 * day, text, 3) == 0) return day;
    return -1;
}

bool calendar_read_days(struct calendar *calendar, selene_text text) {
    int day, last;
    if (text.length != 3 && (text.length != 8 || memcmp(text.data + 3, "..", 2) != 0)) return false;
    day = day_of(text.data);
    last = day_of(text.data + text.length - 3);
    if (day < 0 || last < 0) return false;
    for (; day != last; day = (day + 1) % 7)
        calendar->days |= 1u << day;
    calendar->days |= 1u << last;
    return true;
}

/* How far local time is ahead of UTC. */
static int64_t offset_at(int64_t second) {
    time_t time = (time_t)second;
    struct tm parts;
    return localtime_r(&time, &parts) ? parts.tm_gmtoff : 0;
}

/* The instant at which the clocks show a number of seconds since the epoch's midnight for the first time, or are set over
 * it. */
static int64_t shown_at(int64_t wall) {
    const int64_t before = offset_at(wall - 2 * DAY), after = offset_at(wall + 2 * DAY);
    const int64_t first = wall - before, second = wall - after;
    int64_t low, high;
    bool fits_first = offset_at(first) == before, fits_second = offset_at(second) == after;
    if (fits_first && (!fits_second || first <= second)) return first;
    if (fits_second) return second;
    /* It is left out: with the offset before, it is later than the change. */
    low = first - DAY;
    high = first;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (offset_at(middle) == before) low = middle;
        else high = middle;
    }
    return high;
}

int64_t calendar_after(const struct calendar *calendar, int64_t instant) {
    int64_t second = instant / SELENE_SECOND, local = second + offset_at(second);
    int64_t day = local / DAY - 1;
    for (int i = 0; i < 10; i++, day++) {
        /* The epoch was a Thursday. */
        if (!(calendar->days >> ((day + 3) % 7) & 1)) continue;
        for (int k = 0; k < calendar->count; k++) {
            int64_t found = shown_at(day * DAY + calendar->times[k] * 60) * SELENE_SECOND;
            if (found > instant) return found;
        }
    }
    return instant + 7 * SELENE_DAY;
}
