// The script that installs a fleet, in a schema of any name.

#include "fleet.h"

#include <stdlib.h>
#include <string.h>

// Made from Sources/Fleet when this library is (script.awk).
extern const char *const fleet_script_lines[];

char *fleet_quote(const char *name, char quote) {
    char *text = fleet_memory(2 * strlen(name) + 3), *at = text;
    *at++ = quote;
    for (; *name != 0; name++) {
        if (*name == quote) *at++ = quote;
        *at++ = *name;
    }
    *at = quote;
    return text;
}

// Writes a line in which the schema's name stands for its variables; NULL only counts.
static size_t write_line(char *at, const char *line, const char *literal, const char *quoted) {
    static const char as_name[] = ":\"schema\"", as_literal[] = ":'schema'";
    size_t length = 0;
    while (*line != 0) {
        const char *text = line;
        size_t count = 1, skip = 1;
        if (strncmp(line, as_name, sizeof as_name - 1) == 0) {
            text = quoted;
            count = strlen(quoted);
            skip = sizeof as_name - 1;
        } else if (strncmp(line, as_literal, sizeof as_literal - 1) == 0) {
            text = literal;
            count = strlen(literal);
            skip = sizeof as_literal - 1;
        }
        if (at != NULL) memcpy(at + length, text, count);
        length += count;
        line += skip;
    }
    return length;
}

char *fleet_script(const char *schema, const char *quoted) {
    char *literal = fleet_quote(schema, '\'');
    size_t length = 0;
    for (const char *const *line = fleet_script_lines; *line != NULL; line++)
        length += write_line(NULL, *line, literal, quoted);
    char *script = fleet_memory(length + 1), *at = script;
    for (const char *const *line = fleet_script_lines; *line != NULL; line++)
        at += write_line(at, *line, literal, quoted);
    free(literal);
    return script;
}
