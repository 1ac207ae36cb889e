/*
 * failing.h - how a program that measures the library ends where a call fails
 */
#ifndef FAILING_H
#define FAILING_H

#include <errno.h>
#include <selene.h>

#include "measure.h"

/** Says what failed, and the library's detail, and ends. */
MEASURE_UNUSED static void stop_if(int failed, const char *what) {
    if (!failed) return;
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
            selene_error_last()->message.data);
    exit(1);
}

#endif
