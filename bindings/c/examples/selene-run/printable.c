#include "printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Reads one character; gives how many bytes it has, 0 if these are not UTF-8. */
static size_t read_character(const unsigned char *at, size_t left, uint32_t *out) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *at < 0x80 ? 1 : *at < 0xC0 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    uint32_t value = length == 1 ? *at : *at & (0x7Fu >> length);
    if (length == 0 || length > left || *at > 0xF4) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (at[i] & 0x3F);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 0;
    *out = value;
    return length;
}

/* Characters that are seen as something else, or as nothing. */
static bool is_hidden(uint32_t value) {
    if (value == '\t') return false;
    return value < ' ' || (value >= 0x7F && value < 0xA0) || value == 0xAD ||
           (value >= 0x200B && value <= 0x200F) || (value >= 0x2028 && value <= 0x202E) ||
           (value >= 0x2060 && value <= 0x206F) || value == 0xFEFF || value >= 0xE0000;
}

static const char *escape(char *out, size_t size, uint32_t value) {
    if (value == '\n') return "\\n";
    if (value == '\r') return "\\r";
    snprintf(out, size, value < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)value);
    return out;
}

struct printable printable(const char *text, int64_t length) {
    static const char more[] = "…";
    struct printable out;
    size_t left = length < 0 ? strlen(text) : (size_t)length;
    size_t used = 0;
    while (left > 0) {
        char escaped[16];
        uint32_t value = 0;
        size_t size = read_character((const unsigned char *)text, left, &value);
        const char *piece = text;
        size_t bytes = size;
        if (size == 0) {
            snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned char)*text);
            piece = escaped;
            size = 1;
        } else if (is_hidden(value)) {
            piece = escape(escaped, sizeof escaped, value);
        }
        if (piece != text) bytes = strlen(piece);
        if (used + bytes + sizeof more > sizeof out.text) {
            memcpy(out.text + used, more, sizeof more - 1);
            used += sizeof more - 1;
            break;
        }
        memcpy(out.text + used, piece, bytes);
        used += bytes;
        text += size;
        left -= size;
    }
    out.text[used] = '\0';
    return out;
}
