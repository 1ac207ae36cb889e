// What tells a process from another one that had its number before.

#include "CPlatform.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int64_t boot_of_machine(void) {
    char boot[64] = "";
    uint64_t hash = UINT64_C(14695981039346656037);
    if (platform_read_head("/proc/sys/kernel/random/boot_id", (uint8_t *)boot, sizeof boot - 1) <=
        0)
        return 0;
    for (const char *byte = boot; *byte != 0; byte++)
        hash = (hash ^ (uint8_t)*byte) * UINT64_C(1099511628211);
    return (int64_t)(hash >> 1);
}

int32_t platform_process_mark(int32_t process, platform_process_facts *facts) {
    char path[64], text[1024];
    struct stat space;
    *facts = (platform_process_facts){0, boot_of_machine(), 0};
    if (stat("/proc/self/ns/pid", &space) == 0) facts->numbering = (int64_t)space.st_ino;
    if (process <= 0) return -1;
    if (kill(process, 0) != 0 && errno == ESRCH) return 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    int64_t length = platform_read_head(path, (uint8_t *)text, sizeof text - 1);
    if (length <= 0 || facts->boot == 0 || facts->numbering == 0) return -1;
    text[length] = 0;
    // The name may have spaces and brackets; behind it come the state and, 19 fields later, the start.
    char *at = strrchr(text, ')');
    if (at == NULL || at[1] != ' ') return -1;
    char state = at[2];
    for (int field = 0; field < 20; field++) {
        at = strchr(at + 1, ' ');
        if (at == NULL) return -1;
    }
    facts->started = strtoll(at, NULL, 10);
    // One that was killed and not yet waited for does nothing more.
    return state == 'Z' || state == 'X' ? 0 : 1;
}
