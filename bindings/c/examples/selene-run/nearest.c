#include "nearest.h"

#include <string.h>

/* Longer words are not compared. */
#define LONGEST_WORD 32

/* How many letters must be added, left out, replaced or exchanged with their neighbour to make one word of the other. */
static size_t distance(const char *word, size_t length, const char *name) {
    size_t rows[3][LONGEST_WORD + 1] = {{0}};
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t width = strlen(name);
    for (size_t j = 0; j <= width; j++)
        above[j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t *unused = before;
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t best = above[j - 1] + (word[i - 1] != name[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        before = above;
        above = row;
        row = unused;
    }
    return above[width];
}

struct nearest nearest_to(const char *word, size_t length) {
    return (struct nearest){word, length, length / 3 + 1, NULL};
}

void nearest_try(struct nearest *nearest, const char *name) {
    size_t slips;
    if (nearest->length > LONGEST_WORD || strlen(name) > LONGEST_WORD) return;
    slips = distance(nearest->word, nearest->length, name);
    if (slips >= nearest->limit) return;
    nearest->limit = slips;
    nearest->name = name;
}
