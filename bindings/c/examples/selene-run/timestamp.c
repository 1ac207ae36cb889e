#define _XOPEN_SOURCE 700
#include "timestamp.h"

#include <string.h>
#include <time.h>

static struct timestamp written(time_t second, const char *form) {
    struct timestamp out = {""};
    struct tm parts;
    if (localtime_r(&second, &parts)) strftime(out.text, sizeof out.text, form, &parts);
    return out;
}

struct timestamp timestamp(const char *form) {
    return written(time(NULL), form);
}

struct timestamp timestamp_of(int64_t instant, int64_t now) {
    time_t then = (time_t)(instant / 1000000000), present = (time_t)(now / 1000000000);
    struct timestamp day = written(then, "%F"), today = written(present, "%F");
    return written(then, strcmp(day.text, today.text) ? "%F %H:%M" : "%H:%M");
}

struct timestamp timestamp_exact(int64_t instant) {
    return written((time_t)(instant / 1000000000), TIMESTAMP_SHOWN);
}
