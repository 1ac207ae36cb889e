/* The command line of selene-run. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <selene.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arguments.h"

/** Pauses tasks by what their id or tag is, lets them go on, or changes what they wait for. */
typedef selene_status pause_function(selene_scheduler scheduler, const char *name, int64_t length,
                                     uint64_t *out_count);

struct pause_option {
    /** NULL: not given. */
    const char *option;
    const char *name;
    /** NULL: kinds are meant, or those of the pool that is named. */
    pause_function *function;
    /** SELENE_KIND_ bits; 0: both, of a pool. */
    uint32_t kinds;
};

/** Conditions that can be given. */
#define CONDITION_NAMES 32

/** Limits of groups that can be given. */
#define GROUP_LIMITS 64

struct options {
    /** NULL: a store is looked at, and nothing else is done. */
    const char *workload;
    /** NULL: the tasks live as long as the program. */
    const char *store;
    /** All tasks of the store become the workload's. */
    bool adopt;
    bool list;
    selene_window window;
    /** The window's budget was given. */
    bool has_budget;
    /** SELENE_PROFILE_ number; −1: not given. */
    int32_t profile;
    bool why;
    /** NULL: nothing is recorded. */
    const char *trace;
    /** ns from begin to begin. */
    int64_t every;
    /** −1: not given. */
    int64_t cycles;
    bool follow;
    bool check;
    bool plan;
    const char *explain;
    /** Where the time of a task went is shown. */
    const char *waits;
    /** That as JSON. */
    bool json;
    bool failed;
    /** Who is connected is shown. */
    bool clients;
    /** A task that failed is enqueued again. */
    const char *retry;
    /** A task that is to run once, its handler, what that gets, and ns before it may begin. */
    const char *enqueue;
    const char *handler;
    const char *input;
    int64_t delay;
    /** What happens in a store that another process has open is shown as it happens. */
    bool watch;
    struct pause_option pause;
    /** How long kinds are paused, ns; 0: until they are resumed. */
    int64_t pause_for;
    /** What `pause` changes is a condition. */
    bool changes_condition;
    /** Conditions that hold. */
    const char *condition_names[CONDITION_NAMES];
    size_t condition_name_count;
    /** Each NAME=N, which sets the limit of a group. */
    const char *group_limits[GROUP_LIMITS];
    size_t group_limit_count;
    const char *now;
    /** SELENE_CONSTRAINT_ bits set by hand, and which of them are satisfied. */
    uint32_t conditions;
    uint32_t satisfied;
    bool observed_range;
    bool freshness;
    uint32_t max_pending_refresh;
    uint32_t max_pending_processing;
    int64_t expedited_quota;
    int64_t grace;
    int64_t drain;
    const char *logs;
    bool quiet;
    bool verbose;
};

/** Reads the command line. False when the program shall end, with *out_exit. */
bool options_read(struct options *options, int count, char **arguments, int *out_exit);

#endif
