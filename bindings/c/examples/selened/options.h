/* The command line of selened. */
#ifndef SELENED_OPTIONS_H
#define SELENED_OPTIONS_H

#include <selene.h>
#include <stdbool.h>
#include <stdint.h>

#include "../selene-run/arguments.h"

/** Rules that can be given, as many as the library takes. */
#define MOST_RULES 1024
/** Queues and labels that can be given, as many as a node takes of labels. */
#define MOST_NAMES 64

struct options {
    /** NULL: a fleet is served. */
    const char *store;
    /** NULL: beside the store, or what the service manager handed over. */
    const char *socket;
    /** SELENE_PROFILE_ number; −1: not given. */
    int32_t profile;
    selene_peer_rule rules[MOST_RULES];
    uint64_t rule_count;
    /** Of the socket's file; −1: not given. */
    int64_t mode;
    int64_t max_clients;
    /** ns */
    int64_t drain, adopt;
    bool verbose;
    /** Where the fleet is, as libpq takes it; NULL: a store is served. What follows is for it; NULL and −1: not given. */
    const char *fleet, *listen, *schema, *name;
    selene_text queues[MOST_NAMES], labels[MOST_NAMES];
    uint64_t queue_count, label_count;
    /** ns */
    int64_t lease, poll;
    bool polls_only, relaxed;
};

/** Reads the command line. False when the program shall end, with *out_exit. */
bool options_read(struct options *options, int count, char **arguments, int *out_exit);

#endif
