// Reads the signals of the governor from Linux's proc, sys and dev files.

#define _GNU_SOURCE
#include "CPlatform.h"

#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

// The numbers of the signals, as in selene.h.
enum {
    BATTERY_LEVEL = 1,
    EXTERNAL_POWER = 2,
    THERMAL = 4,
    DISPLAY_ON = 6,
    NETWORK = 8,
    AIRPLANE = 10,
    CPU_BUSY = 13,
    CPU_PRESSURE = 14,
    MEMORY_PRESSURE = 15,
    IO_PRESSURE = 17,
    STORAGE_FREE = 19,
    DISCHARGING = 20,
    UTC_OFFSET = 21
};

static int64_t per_mille(int64_t part, int64_t whole) {
    if (part <= 0) return 0;
    if (part >= whole) return 1000;
    return part < INT64_MAX / 1000 ? part * 1000 / whole : part / (whole / 1000);
}

// ---- Power ----

// What one battery holds; a share if it says neither energy nor charge.
static int read_charge(const char *root, const char *folder, const char *name, int64_t *now,
                       int64_t *full, int64_t *share) {
    int64_t capacity;
    *now = *full = 0;
    if (!reading_number(root, folder, name, "energy_now", now) ||
        !reading_number(root, folder, name, "energy_full", full)) {
        *now = *full = 0;
        if (!reading_number(root, folder, name, "charge_now", now) ||
            !reading_number(root, folder, name, "charge_full", full))
            *now = *full = 0;
    }
    if (*now < 0 || *full <= 0 || *full > INT64_MAX / 64 || *now > *full * 2) *now = *full = 0;
    if (reading_number(root, folder, name, "capacity", &capacity) && capacity >= 0)
        *share = capacity >= 100 ? 1000 : capacity * 10;
    else if (*full > 0) *share = per_mille(*now, *full);
    else return 0;
    return 1;
}

static void probe_power(const char *root, int64_t *values) {
    static const char path[] = "/sys/class/power_supply";
    DIR *folder = reading_folder(root, path);
    if (folder == NULL) return;
    int external = 0, offline = 0, discharging = 0, present = 0, count = 0;
    int batteries = 0, measured = 0;
    int64_t all_now = 0, all_full = 0, all_shares = 0;
    for (const char *name; (name = reading_next(folder, &count)) != NULL;) {
        int64_t now, full, share, number;
        char type[32];
        // The battery of a mouse says nothing about the machine.
        if (reading_is(root, path, name, "scope", "Device")) continue;
        if (reading_attribute(root, path, name, "type", type, sizeof type) <= 0) continue;
        if (strcmp(type, "Battery") == 0 || strcmp(type, "UPS") == 0) {
            if (reading_number(root, path, name, "present", &number) && number == 0) continue;
            present = 1;
            if (reading_is(root, path, name, "status", "Discharging")) discharging = 1;
            if (!read_charge(root, path, name, &now, &full, &share)) continue;
            batteries += 1;
            all_shares += share;
            if (full > 0 && batteries <= 64) {
                measured += 1;
                all_now += now;
                all_full += full;
            }
        } else if (reading_number(root, path, name, "online", &number)) {
            if (number > 0) external = 1;
            else offline = 1;
        }
    }
    closedir(folder);
    // One battery says its share best; several count by what they hold, if all say it.
    if (batteries > 0)
        values[BATTERY_LEVEL] = batteries > 1 && measured == batteries
                                    ? per_mille(all_now, all_full)
                                    : all_shares / batteries;
    if (batteries > 0 || discharging) values[DISCHARGING] = discharging;
    // Without a battery a supply that is offline is a socket with nothing in it: something else feeds the machine.
    if (external || discharging || (offline && present)) values[EXTERNAL_POWER] = external;
}

// ---- Heat ----

// 0 nominal, 2 at the passive trip, 3 at the hot or critical one; −1 if the zone does not say.
static int zone_level(const char *root, const char *folder, const char *name) {
    enum { MOST_TRIPS = 12 };
    int64_t temperature, trip;
    char attribute[32], type[16];
    if (!reading_number(root, folder, name, "temp", &temperature)) return -1;
    int level = -1;
    for (int index = 0; index < MOST_TRIPS; index++) {
        snprintf(attribute, sizeof attribute, "trip_point_%d_type", index);
        if (reading_attribute(root, folder, name, attribute, type, sizeof type) <= 0) break;
        int reached = strcmp(type, "passive") == 0                                ? 2
                      : strcmp(type, "hot") == 0 || strcmp(type, "critical") == 0 ? 3
                                                                                  : 0;
        snprintf(attribute, sizeof attribute, "trip_point_%d_temp", index);
        // Trips that firmware left empty stand at or below 0 °C.
        if (reached == 0 || !reading_number(root, folder, name, attribute, &trip) || trip <= 0)
            continue;
        if (level < 0) level = 0;
        if (temperature >= trip && reached > level) level = reached;
    }
    return level;
}

static void probe_thermal(const char *root, int64_t *values) {
    static const char path[] = "/sys/class/thermal";
    DIR *folder = reading_folder(root, path);
    if (folder == NULL) return;
    int worst = -1, count = 0;
    for (const char *name; (name = reading_next(folder, &count)) != NULL;) {
        if (strncmp(name, "thermal_zone", 12) != 0) continue;
        if (reading_is(root, path, name, "mode", "disabled")) continue;
        int level = zone_level(root, path, name);
        if (level > worst) worst = level;
    }
    closedir(folder);
    if (worst >= 0) values[THERMAL] = worst;
}

// ---- People ----

// The newest access to the terminals of a folder, in ns of the wall clock.
static void newest_access(const char *root, const char *path, const char *prefix, int64_t *newest) {
    enum { PATH_SIZE = 1024 };
    char whole[PATH_SIZE];
    DIR *folder = reading_folder(root, path);
    if (folder == NULL) return;
    int count = 0;
    size_t length = strlen(prefix);
    for (const char *name; (name = reading_next(folder, &count)) != NULL;) {
        struct stat facts;
        const char *digits = name + length;
        if (strncmp(name, prefix, length) != 0 || *digits < '0' || *digits > '9') continue;
        if (snprintf(whole, sizeof whole, "%s%s/%s", root, path, name) >= (int)sizeof whole)
            continue;
        // Not opened: that alone would count as an access.
        if (stat(whole, &facts) != 0 || (root[0] == '\0' && !S_ISCHR(facts.st_mode))) continue;
        int64_t access =
            (int64_t)facts.st_atim.tv_sec * INT64_C(1000000000) + facts.st_atim.tv_nsec;
        if (access > *newest) *newest = access;
    }
    closedir(folder);
}

static void probe_people(const char *root, platform_readings *readings) {
    int64_t newest = PLATFORM_UNKNOWN;
    newest_access(root, "/dev", "tty", &newest);
    newest_access(root, "/dev/pts", "", &newest);
    if (newest != PLATFORM_UNKNOWN) {
        int64_t now = platform_wall_clock();
        readings->idle = newest < now ? now - newest : 0;
    }

    static const char path[] = "/sys/class/drm";
    DIR *folder = reading_folder(root, path);
    if (folder == NULL) return;
    int count = 0;
    for (const char *name; (name = reading_next(folder, &count)) != NULL;) {
        char text[16];
        if (reading_attribute(root, path, name, "dpms", text, sizeof text) <= 0) continue;
        int64_t *value = &readings->values[DISPLAY_ON];
        if (*value == PLATFORM_UNKNOWN) *value = 0;
        if (strcmp(text, "On") == 0 && reading_is(root, path, name, "status", "connected"))
            *value = 1;
    }
    closedir(folder);
}

// ---- Network ----

static void probe_network(const char *root, int64_t *values) {
    static const char path[] = "/sys/class/rfkill";
    values[NETWORK] = platform_has_network(root);
    DIR *folder = reading_folder(root, path);
    if (folder == NULL) return;
    int radios = 0, blocked = 0, count = 0;
    for (const char *name; (name = reading_next(folder, &count)) != NULL;) {
        if (!reading_is(root, path, name, "type", "wlan") &&
            !reading_is(root, path, name, "type", "wwan"))
            continue;
        radios += 1;
        blocked +=
            reading_is(root, path, name, "soft", "1") || reading_is(root, path, name, "hard", "1");
    }
    closedir(folder);
    // Bluetooth may stay on in airplane mode.
    if (radios > 0) values[AIRPLANE] = radios == blocked;
}

// ---- Load ----

// Lines like "some avg10=0.12 avg60=…"; some at index, full behind it if there is room for it.
static void probe_pressure(const char *root, const char *path, int64_t *some, int64_t *full) {
    char text[512];
    if (reading_text(root, path, text, sizeof text) <= 0) return;
    for (char *line = text; line != NULL; line = strchr(line, '\n')) {
        if (*line == '\n') line += 1;
        char word[5];
        unsigned whole, hundredths;
        if (sscanf(line, "%4s avg10=%4u.%2u", word, &whole, &hundredths) != 3) continue;
        int64_t value = (int64_t)whole * 10 + hundredths / 10;
        if (value > 1000) value = 1000;
        if (strcmp(word, "some") == 0) *some = value;
        if (strcmp(word, "full") == 0 && full != NULL) *full = value;
    }
}

static void probe_load(const char *root, platform_readings *readings) {
    enum { IDLE = 3, WAITS = 4, COLUMNS = 8 };
    int64_t *values = readings->values;
    probe_pressure(root, "/proc/pressure/cpu", &values[CPU_PRESSURE], NULL);
    probe_pressure(root, "/proc/pressure/memory", &values[MEMORY_PRESSURE],
                   &values[MEMORY_PRESSURE + 1]);
    probe_pressure(root, "/proc/pressure/io", &values[IO_PRESSURE], &values[IO_PRESSURE + 1]);

    char text[512];
    long running, processors = sysconf(_SC_NPROCESSORS_ONLN);
    // One of those that run now is this thread.
    if (reading_text(root, "/proc/loadavg", text, sizeof text) > 0 && processors > 0 &&
        sscanf(text, "%*s %*s %*s %9ld/", &running) == 1)
        values[CPU_BUSY] = per_mille(running - 1, processors);
    if (reading_text(root, "/proc/stat", text, sizeof text) <= 0 || strncmp(text, "cpu ", 4) != 0)
        return;
    uint64_t busy = 0, total = 0;
    char *at = text + 4, *end;
    for (int column = 0; column < COLUMNS; column++) {
        while (*at == ' ')
            at += 1;
        if (*at < '0' || *at > '9') break;
        uint64_t ticks = strtoull(at, &end, 10);
        if (ticks > UINT64_MAX / 16) return;
        total += ticks;
        if (column != IDLE && column != WAITS) busy += ticks;
        at = end;
    }
    readings->busy = busy;
    readings->total = total;
}

// ---- All ----

void platform_probe(const char *root, const char *store, uint32_t groups,
                    platform_readings *readings) {
    int64_t *values = readings->values;
    for (int index = 0; index < PLATFORM_SIGNALS; index++)
        values[index] = PLATFORM_UNKNOWN;
    readings->idle = PLATFORM_UNKNOWN;
    readings->busy = readings->total = 0;
    if (groups & PLATFORM_PROBE_POWER) probe_power(root, values);
    if (groups & PLATFORM_PROBE_THERMAL) probe_thermal(root, values);
    if (groups & PLATFORM_PROBE_PEOPLE) probe_people(root, readings);
    if (groups & PLATFORM_PROBE_NETWORK) probe_network(root, values);
    if (groups & PLATFORM_PROBE_LOAD) probe_load(root, readings);
    if (groups & PLATFORM_PROBE_STORAGE) {
        struct statvfs facts;
        if (statvfs(store, &facts) == 0 && facts.f_blocks > 0)
            values[STORAGE_FREE] = per_mille((int64_t)facts.f_bavail, (int64_t)facts.f_blocks);
    }
    if (groups & PLATFORM_PROBE_PLACE) {
        struct tm local;
        time_t now = (time_t)(platform_wall_clock() / INT64_C(1000000000));
        if (localtime_r(&now, &local) != NULL) values[UTC_OFFSET] = local.tm_gmtoff;
    }
}
