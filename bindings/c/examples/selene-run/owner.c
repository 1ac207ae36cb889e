#define _XOPEN_SOURCE 700
#include "owner.h"

#include <stdio.h>
#include <string.h>

#define TASKS "workload "
#define NOTES "finished "
#define LONGEST_NAME 200

void owner_name(struct workload *workload) {
    const char *slash = strrchr(workload->path, '/');
    const char *name = slash ? slash + 1 : workload->path;
    snprintf(workload->handler, sizeof workload->handler, TASKS "%.*s", LONGEST_NAME, name);
    snprintf(workload->note_handler, sizeof workload->note_handler, NOTES "%.*s", LONGEST_NAME,
             name);
}

static bool is(selene_text text, const char *other) {
    return (size_t)text.length == strlen(other) && memcmp(text.data, other, strlen(other)) == 0;
}

static bool begins(selene_text text, const char *with) {
    return (size_t)text.length >= strlen(with) && memcmp(text.data, with, strlen(with)) == 0;
}

enum owner owner_of(const struct workload *workload, selene_text handler) {
    if (is(handler, workload->handler) || is(handler, workload->note_handler)) return OWNER_US;
    if (is(handler, "shell") || is(handler, "finished")) return OWNER_EARLIER;
    return begins(handler, TASKS) || begins(handler, NOTES) ? OWNER_OTHER_WORKLOAD
                                                            : OWNER_OTHER_PROGRAM;
}

bool owner_is_workload(selene_text handler) {
    return is(handler, "shell") || begins(handler, TASKS);
}
