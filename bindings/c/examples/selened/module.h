/* What the module libselened-fleet.so gives selened: a fleet over libpq. selened itself needs no libpq. */
#ifndef MODULE_H
#define MODULE_H

#include <selene.h>
#include <stdbool.h>
#include <stdint.h>

/** Where the fleet is and how this machine works for it; texts without a value are NULL. */
struct fleet_terms {
    const char *conninfo, *listen, *schema, *name;
    const selene_text *queues, *labels;
    uint64_t queue_count, label_count;
    /** ns; −1: the default. */
    int64_t lease, poll;
    bool polls_only, relaxed;
};

/** The one thing that the module exports. Every function may be called from one thread alone. */
struct fleet_module {
    /** The release that it is of; the rest is as here if that is the program's, too. */
    const char *version;
    /** Lets the tasks of the scheduler come from the fleet, as selene_fleet_work does; it does not wait for the database. */
    selene_status (*join)(const struct fleet_terms *terms, selene_scheduler scheduler);
    /** Ends that, whatever the database does; after selene_node_leave. */
    void (*leave)(void);
    /** What was wrong with the last call, and the field of selene_fleet_options or selene_worker_options. */
    const selene_error *(*error)(void);
};

#define FLEET_MODULE "selened_fleet_module"

#endif
