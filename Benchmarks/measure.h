/*
 * measure.h - a clock, samples, and the one form in which every benchmark tells what it found
 *
 * A program prints a table; with --json as its first argument one JSON object a line instead:
 *
 *     {"what": "decide", "way": "Selene", "tasks": 1000, "unit": "ns", "min": 3221.0, "q1": 3260.0, "median": 3286.0,
 *      "q3": 3301.0, "repeats": 501}
 *     {"way": "Selene", "about": "what this way does and what it does not"}
 *
 * Times are in ns. q1 and q3 are the quartiles: half of the samples lie between them.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <inttypes.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEASURE_UNUSED __attribute__((unused))

/** Nanoseconds of a clock that only goes forward. */
MEASURE_UNUSED static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/** Bytes that this process has from malloc. */
MEASURE_UNUSED static double in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

/* ---- arguments ----------------------------------------------------------------- */

static int as_json;

/** Takes --json from the front of the arguments, sets as_json, and returns how many are left. */
MEASURE_UNUSED static int take_json(int count, char **arguments) {
    if (count < 2 || strcmp(arguments[1], "--json") != 0) return count;
    as_json = 1;
    memmove(arguments + 1, arguments + 2, (size_t)(count - 1) * sizeof *arguments);
    return count - 1;
}

/** Measures with each number of tasks that the arguments name, or with 1 000 to 1 000 000. */
MEASURE_UNUSED static void each_size(int count, char **arguments, void (*measure)(uint64_t tasks)) {
    static const uint64_t usual[] = {1000, 10000, 100000, 1000000};
    for (int i = 1; i < count; i++) {
        uint64_t tasks = strtoull(arguments[i], NULL, 10);
        if (tasks < 1000 || tasks > 99999999) {
            fprintf(stderr, "%s: %s tasks; allowed: 1000 to 99999999\n", arguments[0],
                    arguments[i]);
            exit(2);
        }
        measure(tasks);
    }
    for (int i = 0; count == 1 && i < 4; i++)
        measure(usual[i]);
}

/* ---- what was found -------------------------------------------------------------- */

MEASURE_UNUSED static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/** Sorts the samples and tells their quartiles; tasks is 0 where their number does not matter. */
MEASURE_UNUSED static void found(const char *what, const char *way, uint64_t tasks,
                                 const char *unit, double *samples, int count) {
    double low, middle, high;
    if (count == 0) return;
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    low = samples[count / 4], middle = samples[count / 2], high = samples[count * 3 / 4];
    if (as_json)
        printf("{\"what\": \"%s\", \"way\": \"%s\", \"tasks\": %" PRIu64
               ", \"unit\": \"%s\", \"min\": %.1f, \"q1\": %.1f, \"median\": %.1f, \"q3\": %.1f, "
               "\"repeats\": %d}\n",
               what, way, tasks, unit, samples[0], low, middle, high, count);
    else
        printf("%-28s %-34s %9" PRIu64 " %14.1f %-6s %14.1f - %.1f\n", what, way, tasks, middle,
               unit, low, high);
    fflush(stdout);
}

/** Sorts the samples and tells how long the slowest took, too: as three measurements, p50, p99 and the greatest. */
MEASURE_UNUSED static void tails(const char *what, const char *way, double *samples, int count) {
    static const char *const names[] = {"p50", "p99", "greatest"};
    char named[64];
    int at[3];
    at[0] = count / 2, at[1] = count - 1 - count / 100, at[2] = count - 1;
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    for (int i = 0; i < 3; i++) {
        double one = samples[at[i]];
        snprintf(named, sizeof named, "%s, %s", what, names[i]);
        found(named, way, 0, "ns", &one, 1);
    }
}

/** The same for what is known after one look. */
MEASURE_UNUSED static void found_one(const char *what, const char *way, uint64_t tasks,
                                     const char *unit, double value) {
    found(what, way, tasks, unit, &value, 1);
}

/** Says what a way does and what it does not; no quotation marks in it. */
MEASURE_UNUSED static void about(const char *way, const char *text) {
    if (as_json) printf("{\"way\": \"%s\", \"about\": \"%s\"}\n", way, text);
    else printf("%s: %s\n", way, text);
}

#endif
