/* The keys of a workload's tasks; they are called as in the workloads of pyselene. */
#ifndef KEYS_H
#define KEYS_H

#include "workload.h"

struct key_problem {
    /** Where in the file's text. */
    const char *at;
    char message[512];
};

#define KEYS 27

/** Where each key of a task stands in the file's text; NULL for those that do not. */
struct key_places {
    const char *at[KEYS];
};

/** Reads one key=value word into a task. False, with the problem told, if it is not allowed. */
bool key_read(selene_text word, struct workload_task *task, struct key_places *places,
              struct key_problem *problem);

/** Where the key of that name stands, or NULL. */
const char *key_place(const struct key_places *places, const char *name);

/** Reads a comma-separated list of kinds into SELENE_KIND_ bits; false if it is none. */
bool kinds_read(const char *list, uint32_t *out);

#endif
