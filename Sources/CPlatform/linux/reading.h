// Reading the small files of procfs and sysfs: never blocks, never follows into a pipe, never takes more than it has room for.

#ifndef CPLATFORM_READING_H
#define CPLATFORM_READING_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Reads the head of a regular file as text; its length, −1 if it cannot be read.
ssize_t reading_text(const char *root, const char *path, char *text, size_t size);
// The same for <root><folder>/<name>/<attribute>, without a newline at the end.
ssize_t reading_attribute(const char *root, const char *folder, const char *name,
                          const char *attribute, char *text, size_t size);
// Whether an attribute is exactly this word.
int reading_is(const char *root, const char *folder, const char *name, const char *attribute,
               const char *word);
// Reads an attribute that is a whole number; 0 if it is none.
int reading_number(const char *root, const char *folder, const char *name, const char *attribute,
                   int64_t *number);
// Opens a folder; NULL if there is none.
DIR *reading_folder(const char *root, const char *path);
// The next name that does not begin with a dot; NULL after the last, or after the first hundreds.
const char *reading_next(DIR *folder, int *count);

#endif
