/* Texts of others - ids of a store, what commands print - as a terminal may get them. */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stdint.h>

struct printable {
    char text[1024];
};

/**
 * Escapes what would move a cursor, colour, turn text around or not be seen: control characters but the tab as \n or \u001b, bytes
 * that are not UTF-8 as \xff. A text that is too long is cut, with "…" at its end.
 *
 * @param length  in bytes, −1 if it ends with a NUL
 */
struct printable printable(const char *text, int64_t length);

#endif
