// Reads the conditions that constraints ask for from Linux's proc and sys files.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 1024, TABLE_SIZE = 64 * 1024 };

// Reads the head of a file as text; returns its length, −1 if it cannot be read.
static ssize_t read_text(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    size_t length = 0;
    ssize_t count;
    while (length < size - 1 && (count = read(file, text + length, size - 1 - length)) > 0)
        length += (size_t)count;
    close(file);
    text[length] = '\0';
    return (ssize_t)length;
}

static ssize_t read_attribute(const char *root, const char *folder, const char *name,
                              const char *attribute, char *text, size_t size) {
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s%s/%s/%s", root, folder, name, attribute) >=
        (int)sizeof path)
        return -1;
    ssize_t length = read_text(path, text, size);
    if (length > 0 && text[length - 1] == '\n') text[length - 1] = '\0';
    return length;
}

// An interface is up when it is switched on (IFF_UP) and its link is not known to be down.
static int is_interface_up(const char *root, const char *name) {
    enum { UP = 0x1 };
    char text[32];
    if (strchr(name, '/') != NULL) return 0;
    if (read_attribute(root, "/sys/class/net", name, "operstate", text, sizeof text) > 0 &&
        strcmp(text, "down") == 0)
        return 0;
    if (read_attribute(root, "/sys/class/net", name, "flags", text, sizeof text) <= 0) return 1;
    return (strtoul(text, NULL, 16) & UP) != 0;
}

// Columns: Iface Destination Gateway Flags RefCnt Use Metric Mask …; the first line is a heading.
static int has_ipv4_route(const char *root, char *table) {
    enum { UP = 0x1, REJECT = 0x200 };
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/proc/net/route", root);
    if (read_text(path, table, TABLE_SIZE) <= 0) return 0;
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
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/proc/net/ipv6_route", root);
    if (read_text(path, table, TABLE_SIZE) <= 0) return 0;
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

int32_t platform_has_external_power(const char *root) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/sys/class/power_supply", root);
    DIR *folder = opendir(path);
    if (folder == NULL) return 1;
    int external = 0, offline = 0, discharging = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char text[64];
        const char *name = entry->d_name;
        if (name[0] == '.') continue;
        // The battery of a mouse says nothing about the machine.
        if (read_attribute(root, "/sys/class/power_supply", name, "scope", text, sizeof text) > 0 &&
            strcmp(text, "Device") == 0)
            continue;
        if (read_attribute(root, "/sys/class/power_supply", name, "type", text, sizeof text) <= 0)
            continue;
        if (strcmp(text, "Battery") == 0) {
            if (read_attribute(root, "/sys/class/power_supply", name, "status", text, sizeof text) >
                    0 &&
                strcmp(text, "Discharging") == 0)
                discharging = 1;
        } else if (read_attribute(root, "/sys/class/power_supply", name, "online", text,
                                  sizeof text) > 0) {
            if (atoi(text) > 0) external = 1;
            else offline = 1;
        }
    }
    closedir(folder);
    if (external) return 1;
    return !(offline || discharging);
}
