#define _XOPEN_SOURCE 700
#include "timestamp.h"

#include <time.h>

struct timestamp timestamp(const char *form) {
    struct timestamp out = {""};
    time_t now = time(NULL);
    struct tm parts;
    if (localtime_r(&now, &parts)) strftime(out.text, sizeof out.text, form, &parts);
    return out;
}
