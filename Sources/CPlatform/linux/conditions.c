// Reads whether a network is reachable from Linux's proc and sys files.

#define _GNU_SOURCE
#include "CPlatform.h"

#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_SIZE = 64 * 1024 };

// An interface is up when it is switched on (IFF_UP) and its link, if it knows one, is up, too: not that of a VLAN whose
// cable is unplugged (lowerlayerdown), nor one that waits to be let in (dormant).
static int is_interface_up(const char *root, const char *name) {
    enum { UP = 0x1 };
    char text[32];
    if (strchr(name, '/') != NULL) return 0;
    if (reading_attribute(root, "/sys/class/net", name, "operstate", text, sizeof text) > 0 &&
        strcmp(text, "up") != 0 && strcmp(text, "unknown") != 0)
        return 0;
    if (reading_attribute(root, "/sys/class/net", name, "flags", text, sizeof text) <= 0) return 1;
    return (strtoul(text, NULL, 16) & UP) != 0;
}

// Columns: Iface Destination Gateway Flags RefCnt Use Metric Mask …; the first line is a heading.
static int has_ipv4_route(const char *root, char *table) {
    enum { UP = 0x1, REJECT = 0x200 };
    if (reading_text(root, "/proc/net/route", table, TABLE_SIZE) <= 0) return 0;
    char *rest = table;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        char name[32];
        unsigned long destination, flags, mask;
        if (sscanf(line, "%31s %lx %*x %lx %*d %*d %*d %lx", name, &destination, &flags, &mask) !=
            4)
            continue;
        if (destination == 0 && mask == 0 && (flags & UP) && !(flags & REJECT) &&
            is_interface_up(root, name))
            return 1;
    }
    return 0;
}

// Columns: destination, prefix length, source, prefix length, next hop, metric, refcount, use, flags, interface.
static int has_ipv6_route(const char *root, char *table) {
    enum { UP = 0x1, REJECT = 0x200 };
    if (reading_text(root, "/proc/net/ipv6_route", table, TABLE_SIZE) <= 0) return 0;
    char *rest = table;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        char destination[40], name[32];
        unsigned prefix;
        unsigned long flags;
        if (sscanf(line, "%39s %x %*s %*x %*s %*x %*x %*x %lx %31s", destination, &prefix, &flags,
                   name) != 4)
            continue;
        int is_default = prefix == 0 && strspn(destination, "0") == strlen(destination);
        if (is_default && (flags & UP) && !(flags & REJECT) && strcmp(name, "lo") != 0 &&
            is_interface_up(root, name))
            return 1;
    }
    return 0;
}

int32_t platform_has_network(const char *root) {
    char *table = malloc(TABLE_SIZE);
    if (table == NULL) abort();
    int found = has_ipv4_route(root, table) || has_ipv6_route(root, table);
    free(table);
    return found;
}
