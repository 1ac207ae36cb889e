/* What was probably meant by a word that is not known. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    size_t length;
    /** How many slips are too many. */
    size_t limit;
    /** The nearest name that was tried; NULL if none is near: at most one slip for each three letters. */
    const char *name;
};

struct nearest nearest_to(const char *word, size_t length);

/** Tries one more of the names that are known. */
void nearest_try(struct nearest *nearest, const char *name);

#endif
