/*
 * local_times.c - times of the day of selene-run's workloads, where clocks are changed and where not (W7)
 *
 * Against a plain walk over the minutes. Argument: the filter of check.h.
 */
#define _DEFAULT_SOURCE
#include "../../bindings/c/examples/selene-run/calendar.c"

#include "check.h"

/** 2027-01-01, and the days of a year and more, with a leap day. */
#define BEGIN (1798761600LL / 60)
#define MINUTES (14 * 31 * 1440)

static const char *const zones[] = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                    "Asia/Kolkata"};

static void in_zone(const char *zone) {
    CHECK(setenv("TZ", zone, 1) == 0);
    tzset();
}

/** The minute that the clocks show, counted from that of the epoch. */
static int64_t shown(int64_t minute) {
    return minute + offset_at(minute * 60) / 60;
}

/** Whether a minute of the day is in a calendar. */
static bool is_due(const struct calendar *calendar, int64_t wall) {
    bool found = false;
    for (int i = 0; i < calendar->count; i++)
        found = found || calendar->times[i] == wall % 1440;
    return found && (calendar->days >> ((wall / 1440 + 3) % 7) & 1);
}

/** Walks the minutes: what the clocks go over is due, once. */
static void walk(const struct calendar *calendar) {
    int64_t latest = shown(BEGIN - 1), expected = 0, found;
    int count = 0;
    found = calendar_after(calendar, (BEGIN * 60 - 1) * SELENE_SECOND);
    for (int64_t minute = BEGIN; minute < BEGIN + MINUTES; minute++) {
        bool due = false;
        const int64_t wall = shown(minute);
        for (int64_t over = latest + 1; over <= wall; over++)
            due = due || is_due(calendar, over);
        if (wall > latest) latest = wall;
        if (!due) continue;
        expected = minute * 60 * SELENE_SECOND;
        CHECK_INT(expected, found);
        /* And from just before it, and from well before it. */
        CHECK_INT(expected, calendar_after(calendar, expected - 1));
        found = calendar_after(calendar, expected);
        CHECK(found > expected);
        count++;
    }
    CHECK(count > 40);
}

static struct calendar calendar_of(const char *const *times, const char *days) {
    struct calendar calendar = {{0}, 0, 0x7f};
    for (; *times; times++)
        CHECK(calendar_read_time(&calendar, (selene_text){*times, (int64_t)strlen(*times)}));
    if (days) {
        calendar.days = 0;
        CHECK(calendar_read_days(&calendar, (selene_text){days, (int64_t)strlen(days)}));
    }
    return calendar;
}

static void test_zones(void) {
    static const char *const times[][4] = {{"02:30"},          {"02:00"},
                                           {"03:00"},          {"02:45", "01:15", "02:15"},
                                           {"00:00", "23:59"}, {"01:45"}};
    static const char *const days[] = {NULL, "sun", "mon..fri", "sat..mon"};
    for (size_t zone = 0; zone < sizeof zones / sizeof *zones; zone++) {
        in_zone(zones[zone]);
        CHECK(offset_at(BEGIN * 60) != 0);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            const struct calendar calendar = calendar_of(times[i], days[i % 4]);
            walk(&calendar);
        }
    }
}

static void test_changes(void) {
    static const char *const half_past_two[] = {"02:30", NULL};
    const struct calendar calendar = calendar_of(half_past_two, NULL);
    in_zone("Europe/Berlin");
    /* 2027-03-28 01:00 UTC, as the clocks are set forward. */
    CHECK_INT(1806195600 * SELENE_SECOND, calendar_after(&calendar, 1806192000 * SELENE_SECOND));
    /* 2027-10-31: 02:30 comes twice, it is due at 00:30 UTC, and then a day and an hour later. */
    const int64_t first = 1824942600 * SELENE_SECOND;
    CHECK_INT(first, calendar_after(&calendar, first - 1));
    CHECK_INT(first + 25 * SELENE_HOUR, calendar_after(&calendar, first));
    CHECK_INT(first + 25 * SELENE_HOUR, calendar_after(&calendar, first + SELENE_HOUR));
}

static void test_words(void) {
    static const char *const no_times[] = {"",      "3:00",  "24:00",  "23:60",
                                           "03:0a", "03.00", "003:00", "-3:00"};
    static const char *const no_days[] = {"",    "mo",        "mon-fri", "mon..",
                                          "MON", "mon...fri", "mon..fr"};
    static const char *const twice[] = {"15:30", "03:00", "15:30", "00:00", NULL};
    struct calendar calendar = {{0}, 0, 0};
    for (size_t i = 0; i < sizeof no_times / sizeof *no_times; i++)
        CHECK(!calendar_read_time(&calendar,
                                  (selene_text){no_times[i], (int64_t)strlen(no_times[i])}));
    for (size_t i = 0; i < sizeof no_days / sizeof *no_days; i++)
        CHECK(
            !calendar_read_days(&calendar, (selene_text){no_days[i], (int64_t)strlen(no_days[i])}));
    CHECK_INT(0, calendar.count);
    calendar = calendar_of(twice, "fri..mon");
    CHECK_INT(3, calendar.count);
    CHECK_INT(0, calendar.times[0]);
    CHECK_INT(180, calendar.times[1]);
    CHECK_INT(930, calendar.times[2]);
    CHECK_INT(0x71, calendar.days);
    for (int i = 0; i < CALENDAR_TIMES; i++) {
        char time[6];
        snprintf(time, sizeof time, "10:%02d", i);
        CHECK(calendar_read_time(&calendar, (selene_text){time, 5}) == (i < CALENDAR_TIMES - 3));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("W7 times of the day go as a walk over the minutes", test_zones);
    run_test("W7 a time that is left out is due as clocks are set, one that comes twice once",
             test_changes);
    run_test("W7 what is no time and no day is refused", test_words);
    return check_end();
}
