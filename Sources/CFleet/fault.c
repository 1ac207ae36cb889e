// What was wrong in a thread's last call.

#include "fleet.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char detail[1024];

const char *selene_fleet_detail(void) {
    return detail;
}

void fleet_tell(const char *text) {
    snprintf(detail, sizeof detail, "%s", text);
}

selene_status fleet_refuse(selene_status status, const char *format, ...) {
    // The detail may be among the arguments.
    char text[sizeof detail];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fleet_tell(text);
    return status;
}

selene_status fleet_pass(selene_status status) {
    if (status != SELENE_OK) fleet_tell(selene_status_detail());
    return status;
}
