// Reading the small files of procfs and sysfs.

#define _GNU_SOURCE
#include "reading.h"

#include "CPlatform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024, MOST_NAMES = 512 };

ssize_t reading_text(const char *root, const char *path, char *text, size_t size) {
    char whole[PATH_SIZE];
    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole) return -1;
    int64_t length = platform_read_head(whole, (uint8_t *)text, (int64_t)size - 1);
    if (length < 0) return -1;
    text[length] = '\0';
    return (ssize_t)length;
}

ssize_t reading_attribute(const char *root, const char *folder, const char *name,
                          const char *attribute, char *text, size_t size) {
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s/%s", folder, name, attribute) >= (int)sizeof path)
        return -1;
    ssize_t length = reading_text(root, path, text, size);
    if (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
    return length;
}

int reading_is(const char *root, const char *folder, const char *name, const char *attribute,
               const char *word) {
    char text[32];
    return reading_attribute(root, folder, name, attribute, text, sizeof text) > 0 &&
           strcmp(text, word) == 0;
}

int reading_number(const char *root, const char *folder, const char *name, const char *attribute,
                   int64_t *number) {
    char text[32], *end;
    if (reading_attribute(root, folder, name, attribute, text, sizeof text) <= 0) return 0;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0) return 0;
    *number = value;
    return 1;
}

DIR *reading_folder(const char *root, const char *path) {
    char whole[PATH_SIZE];
    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole) return NULL;
    return opendir(whole);
}

const char *reading_next(DIR *folder, int *count) {
    struct dirent *entry;
    while (*count < MOST_NAMES && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        *count += 1;
        return entry->d_name;
    }
    return NULL;
}
