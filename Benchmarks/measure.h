/* measure.h - a clock, medians, and the table that every benchmark prints */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/** Nanoseconds of a clock that only goes forward. */
static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/** Sorts the values. */
static inline double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static inline void heading(const char *text) {
    printf("\n%-46s %12s %12s %8s\n", text, "median", "above", "ratio");
}

/** A line of the table; what the others are compared with is itself as base. */
static inline void row(const char *what, double value, double base, const char *unit) {
    if (value == base) printf("  %-44s %9.1f %s\n", what, value, unit);
    else
        printf("  %-44s %9.1f %s %9.1f %s %8.2f\n", what, value, unit, value - base, unit,
               value / base);
}

#endif
