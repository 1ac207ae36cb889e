#define _XOPEN_SOURCE 700
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "duration.h"
#include "keys.h"
#include "show.h"

#define MANY (SELENE_UNLIMITED - 1)

static const char help[] =
    "Usage: selene-run [OPTION]... WORKLOAD\n"
    "Runs the tasks of a workload file in windows of limited time, highest score first.\n"
    "\n"
    "Windows\n"
    "  --budget TIME      length of a window (30s)\n"
    "  --reserve TIME     kept free at its end, for stopping what still runs (budget / 20)\n"
    "  --every TIME       from the begin of one window to the begin of the next (1m; with "
    "--follow\n"
    "                     0: whenever a task is due)\n"
    "  --cycles N         how many windows; 0: only registers the tasks, or only looks (1; without "
    "end\n"
    "                     with --follow; 0 with --plan, --explain, why, --list, --failed)\n"
    "  --lanes N          tasks at a time, 1 to 1024 (1)\n"
    "  --kinds LIST       kinds that run: refresh, processing, or both with a comma (both)\n"
    "  --strict-fit       start nothing whose estimate does not fit, not even as the first\n"
    "  --follow           stay; sleep until a task wants a window, at least --every; take over "
    "what "
    "is\n"
    "                     edited in WORKLOAD\n"
    "  --now ID           run one task now, whatever its rank, and end; with --store FILE and no\n"
    "                     WORKLOAD in the process that serves it\n"
    "  --check            answer 1 if the last run of any task failed\n"
    "\n"
    "The governor\n"
    "  --profile NAME     what the governor requires of a window: open, apple, server or strict. "
    "With\n"
    "                     --follow windows open when it grants them, of 30s for refresh and 10m "
    "for\n"
    "                     processing without --budget\n"
    "  --why              each decision of the governor in full; with --cycles 0 only that\n"
    "  --trace FILE       record signals, decisions and runs into a new file\n"
    "\n"
    "Keeping\n"
    "  --store FILE       keep the tasks and their history in FILE from one call to the next\n"
    "  --adopt            take over the tasks of other programs and workloads that FILE has\n"
    "\n"
    "Looking, after the windows if --cycles asks for any; at a store alone if there is no "
    "WORKLOAD\n"
    "  --plan             what the next window would run, what it would not, and why\n"
    "  --explain ID       everything about one task, and why it does not run now\n"
    "  why ID             where the time of one task went since it was last due, reason by reason\n"
    "  --json             with why ID: its answer as JSON\n"
    "  --list             every task with its state\n"
    "  --failed           every task that failed, and why\n"
    "  --clients          every process that is connected to the one that serves the store\n"
    "  --retry ID         enqueue a failed task again; needs --store FILE and no WORKLOAD\n"
    "  --cancel ID, --cancel-tag TAG\n"
    "                     cancel a task, or all that have a tag, with what waits behind them; as "
    "--retry\n"
    "  --enqueue ID       enqueue a task that runs once, for a program that runs its handler; as "
    "--retry\n"
    "  --handler NAME     the handler that runs the task of --enqueue (the id)\n"
    "  --input TEXT       the input for that handler\n"
    "  --delay TIME       not before this has passed (0s)\n"
    "  --watch            what happens in FILE, which another process has open, as it happens; "
    "needs\n"
    "                     --store FILE and no WORKLOAD\n"
    "  --pause ID, --pause-tag TAG\n"
    "                     pause a task, or all that have a tag now; as --retry\n"
    "  --resume ID, --resume-tag TAG\n"
    "                     resume them; as --retry\n"
    "  --pause-group GROUP, --resume-group GROUP\n"
    "                     the same for a group, including tasks that join it later; as --retry\n"
    "  --pause-kinds LIST, --resume-kinds LIST\n"
    "                     the same for kinds, refresh, processing, or both with a comma; as "
    "--retry\n"
    "  --pause-pool POOL, --resume-pool POOL\n"
    "                     the same for all that processes of a pool run; as --retry\n"
    "  --pause-for TIME   how long kinds, or those of a pool, are paused (until resumed)\n"
    "  --meet NAME, --lose NAME\n"
    "                     set the condition NAME to satisfied, or not satisfied, in the process "
    "that\n"
    "                     serves FILE; as --retry\n"
    "\n";
/* More than one text, since a string may be too long for a compiler. */
static const char help_on_more[] =
    "Conditions; what is not set by hand is read from the system\n"
    "  --network, --no-network\n"
    "  --external-power, --on-battery\n"
    "\n"
    "Ranking and limits\n"
    "  --observed-range   score within the range of what is observed\n"
    "  --freshness        rank by age times a pace learnt from cost, news and failures\n"
    "  --max-pending-refresh N, --max-pending-processing N\n"
    "                     once and periodic tasks at a time; the others are held (no limit)\n"
    "  --expedited-quota TIME\n"
    "                     how long expedited tasks may run in 24 h, all together (10m)\n"
    "  --condition NAME   the condition NAME, which tasks may require, is satisfied; may be "
    "repeated\n"
    "  --group-limit GROUP=N\n"
    "                     at most N runs of a group at a time, 0: no limit; may be repeated\n"
    "\n"
    "Commands\n"
    "  --grace TIME       from SIGTERM to SIGKILL, at most (2s)\n"
    "  --drain TIME       on SIGINT or SIGTERM: how long running commands may take to end (2s)\n"
    "  --logs FOLDER      where output is kept, a file for each task ($SELENE_WORK/log)\n"
    "  --quiet            show no output of commands\n"
    "\n"
    "  --verbose, -v      show the library's log of stores, troubles and drivers\n"
    "  --help, --version\n"
    "\n";
static const char help_on_files[] =
    "TIME is " DURATION_ALLOWED ".\n"
    "WORKLOAD is a file, or - for the standard input: a task a line,\n"
    "  id  key=value ...  -- command\n"
    "with the keys kind, schedule, priority, expected, response_window, delay, latest_begin, "
    "every,\n"
    "flex, anchored, at, on, jitter, backoff, backoff_delay, max_attempts, timeout, stall_limit,\n"
    "steady, expedited, out_of_quota, requires, group, tags, conditions, after,\n"
    "after_any_end; at=03:00,15:30 on=mon..fri is in local time.\n"
    "Lines that are indented continue the task above; # begins a comment.\n"
    "\n"
    "A command runs as /bin/sh -c COMMAND in a process group of its own, $0 is the id, $1 the\n"
    "number of the attempt. It may write to the folder $SELENE_WORK; if that is not set it is a\n"
    "temporary one, removed at the end. When it shall stop its group gets SIGTERM, then SIGKILL;\n"
    "what it leaves in the background ends with it. A line like \"3/10 text\", written to the "
    "file\n"
    "$SELENE_PROGRESS, tells how far it is; what it writes to the file $SELENE_OUTPUT is kept "
    "with\n"
    "its task; one that tells nothing for its stall_limit is asked to stop. Its exit code says "
    "what\n"
    "came of it:\n"
    "  0  new data    77  no data    99  abandoned, never to be tried again\n"
    "  any other, or a signal: failed, to be tried again (75, EX_TEMPFAIL, is the usual one)\n"
    "\n"
    "Exit codes of selene-run\n"
    "  0  the windows were run, whatever the tasks' outcomes; also --follow ended by SIGINT or "
    "SIGTERM\n"
    "  1  the task of --now failed; with --check: the last run of some task failed\n"
    "  2  a wrong option, or an id that does not exist\n"
    "  3  the workload is wrong or cannot be read\n"
    "  4  the scheduler or its store refused, as when the task of --now may not run\n"
    "  5  the system refused, as when a folder cannot be made or output cannot be written\n"
    "  6  another program has the store open\n"
    "  128 + N  ended by signal N\n";

enum option_number {
    BUDGET = FIRST_OPTION,
    RESERVE,
    EVERY,
    CYCLES,
    LANES,
    KINDS,
    STRICT_FIT,
    FOLLOW,
    NOW,
    CHECK,
    PROFILE,
    WHY,
    TRACE,
    PLAN,
    EXPLAIN,
    JSON,
    NETWORK,
    NO_NETWORK,
    EXTERNAL_POWER,
    ON_BATTERY,
    OBSERVED_RANGE,
    FRESHNESS,
    MAX_PENDING_REFRESH,
    MAX_PENDING_PROCESSING,
    GRACE,
    EXPEDITED_QUOTA,
    DRAIN,
    LOGS,
    QUIET,
    VERBOSE,
    STORE,
    ADOPT,
    LIST,
    FAILED,
    CLIENTS,
    RETRY,
    CANCEL,
    CANCEL_TAG,
    ENQUEUE,
    HANDLER,
    INPUT,
    DELAY,
    WATCH,
    PAUSE,
    PAUSE_TAG,
    RESUME,
    RESUME_TAG,
    PAUSE_GROUP,
    RESUME_GROUP,
    PAUSE_KINDS,
    RESUME_KINDS,
    PAUSE_POOL,
    RESUME_POOL,
    PAUSE_FOR,
    GROUP_LIMIT,
    CONDITION,
    MEET,
    LOSE,
    HELP,
    VERSION
};

static const struct option table[] = {
    {"budget", required_argument, NULL, BUDGET},
    {"reserve", required_argument, NULL, RESERVE},
    {"every", required_argument, NULL, EVERY},
    {"cycles", required_argument, NULL, CYCLES},
    {"lanes", required_argument, NULL, LANES},
    {"kinds", required_argument, NULL, KINDS},
    {"strict-fit", no_argument, NULL, STRICT_FIT},
    {"follow", no_argument, NULL, FOLLOW},
    {"now", required_argument, NULL, NOW},
    {"check", no_argument, NULL, CHECK},
    {"profile", required_argument, NULL, PROFILE},
    {"why", no_argument, NULL, WHY},
    {"trace", required_argument, NULL, TRACE},
    {"plan", no_argument, NULL, PLAN},
    {"explain", required_argument, NULL, EXPLAIN},
    {"json", no_argument, NULL, JSON},
    {"network", no_argument, NULL, NETWORK},
    {"no-network", no_argument, NULL, NO_NETWORK},
    {"external-power", no_argument, NULL, EXTERNAL_POWER},
    {"on-battery", no_argument, NULL, ON_BATTERY},
    {"observed-range", no_argument, NULL, OBSERVED_RANGE},
    {"freshness", no_argument, NULL, FRESHNESS},
    {"max-pending-refresh", required_argument, NULL, MAX_PENDING_REFRESH},
    {"max-pending-processing", required_argument, NULL, MAX_PENDING_PROCESSING},
    {"grace", required_argument, NULL, GRACE},
    {"expedited-quota", required_argument, NULL, EXPEDITED_QUOTA},
    {"drain", required_argument, NULL, DRAIN},
    {"logs", required_argument, NULL, LOGS},
    {"quiet", no_argument, NULL, QUIET},
    {"verbose", no_argument, NULL, VERBOSE},
    {"store", required_argument, NULL, STORE},
    {"adopt", no_argument, NULL, ADOPT},
    {"list", no_argument, NULL, LIST},
    {"failed", no_argument, NULL, FAILED},
    {"clients", no_argument, NULL, CLIENTS},
    {"retry", required_argument, NULL, RETRY},
    {"cancel", required_argument, NULL, CANCEL},
    {"cancel-tag", required_argument, NULL, CANCEL_TAG},
    {"enqueue", required_argument, NULL, ENQUEUE},
    {"handler", required_argument, NULL, HANDLER},
    {"input", required_argument, NULL, INPUT},
    {"delay", required_argument, NULL, DELAY},
    {"watch", no_argument, NULL, WATCH},
    {"pause", required_argument, NULL, PAUSE},
    {"pause-tag", required_argument, NULL, PAUSE_TAG},
    {"resume", required_argument, NULL, RESUME},
    {"resume-tag", required_argument, NULL, RESUME_TAG},
    {"pause-group", required_argument, NULL, PAUSE_GROUP},
    {"resume-group", required_argument, NULL, RESUME_GROUP},
    {"pause-kinds", required_argument, NULL, PAUSE_KINDS},
    {"resume-kinds", required_argument, NULL, RESUME_KINDS},
    {"pause-pool", required_argument, NULL, PAUSE_POOL},
    {"resume-pool", required_argument, NULL, RESUME_POOL},
    {"pause-for", required_argument, NULL, PAUSE_FOR},
    {"group-limit", required_argument, NULL, GROUP_LIMIT},
    {"condition", required_argument, NULL, CONDITION},
    {"meet", required_argument, NULL, MEET},
    {"lose", required_argument, NULL, LOSE},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

/* The greatest number is SELENE_UNLIMITED, which is meant by saying nothing. */
static bool read_small(const char *name, int64_t least, int64_t greatest, uint32_t *out) {
    int64_t value;
    if (!read_count(name, least, greatest, &value)) return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_kinds_of(const char *name, uint32_t *out) {
    if (kinds_read(optarg, out)) return true;
    return refuse("--%s: found \"%s\"; allowed is refresh, processing or refresh,processing", name,
                  optarg);
}

static bool set_condition(struct options *options, uint32_t constraint, bool satisfied) {
    options->conditions |= constraint;
    options->satisfied &= ~constraint;
    if (satisfied) options->satisfied |= constraint;
    return true;
}

/* What names one thing: the last of several would be taken, and the others forgotten. */
static bool read_once(const char *name, const char **out) {
    if (*out) return refuse("--%s was given twice; allowed is once", name);
    *out = optarg;
    return true;
}

static bool set_pause(struct options *options, const char *name, pause_function *function) {
    if (options->pause.option && strcmp(options->pause.option, name) == 0)
        return refuse("--%s was given twice; allowed is once", name);
    if (options->pause.option)
        return refuse("--%s and --%s exclude each other", options->pause.option, name);
    options->pause = (struct pause_option){name, optarg, function, 0};
    return true;
}

/* A time whose 0 is not the default. */
static bool read_time_or_none(const char *name, int64_t *out) {
    if (!read_time(name, 0, SELENE_DAY, out)) return false;
    if (*out == 0) *out = SELENE_NONE;
    return true;
}

static selene_status pause_group(selene_scheduler scheduler, const char *name, int64_t length,
                                 uint64_t *out_count) {
    *out_count = 0;
    return selene_group_pause(scheduler, name, length);
}

static selene_status resume_group(selene_scheduler scheduler, const char *name, int64_t length,
                                  uint64_t *out_count) {
    *out_count = 0;
    return selene_group_resume(scheduler, name, length);
}

/* Tasks may ask for one that nobody has defined. */
static selene_status change_condition(selene_scheduler scheduler, const char *name, int64_t length,
                                      int32_t satisfied) {
    selene_status status = selene_condition_define(scheduler, name, length);
    return status ? status : selene_condition_set(scheduler, name, length, satisfied);
}

static selene_status meet(selene_scheduler scheduler, const char *name, int64_t length,
                          uint64_t *out_count) {
    *out_count = 0;
    return change_condition(scheduler, name, length, 1);
}

static selene_status lose(selene_scheduler scheduler, const char *name, int64_t length,
                          uint64_t *out_count) {
    *out_count = 0;
    return change_condition(scheduler, name, length, 0);
}

static bool set_met(struct options *options, const char *name, pause_function *function) {
    options->changes_condition = true;
    return set_pause(options, name, function);
}

static bool add_condition(struct options *options) {
    size_t length = strlen(optarg);
    if (length == 0 || length > 255)
        return refuse("--condition: found \"%s\"; allowed is a name of 1 to 255 bytes", optarg);
    if (options->condition_name_count == CONDITION_NAMES)
        return refuse("--condition: allowed are at most %d", CONDITION_NAMES);
    options->condition_names[options->condition_name_count++] = optarg;
    return true;
}

static bool add_group_limit(struct options *options) {
    const char *sign = strrchr(optarg, '=');
    char *end = NULL;
    long long runs = sign ? strtoll(sign + 1, &end, 10) : -1;
    if (!sign || sign == optarg || sign - optarg > 255 || sign[1] < '0' || sign[1] > '9' || *end ||
        runs > INT32_MAX)
        return refuse("--group-limit: found \"%s\"; allowed is a name of 1 to 255 bytes, = and a "
                      "number from 0",
                      optarg);
    if (options->group_limit_count == GROUP_LIMITS)
        return refuse("--group-limit: allowed are at most %d", GROUP_LIMITS);
    options->group_limits[options->group_limit_count++] = optarg;
    return true;
}

static bool read_option(struct options *options, int option, const char *name) {
    switch ((enum option_number)option) {
    case BUDGET:
        options->has_budget = true;
        return read_time(name, SELENE_MILLISECOND, SELENE_DAY, &options->window.budget);
    case RESERVE:
        return read_time_or_none(name, &options->window.reserve);
    case EVERY:
        return read_time(name, 0, 3650 * SELENE_DAY, &options->every);
    case CYCLES:
        return read_count(name, 0, MANY, &options->cycles);
    case LANES:
        return read_small(name, 1, 1024, &options->window.lanes);
    case KINDS:
        return read_kinds_of(name, &options->window.kinds);
    case STRICT_FIT:
        options->window.flags |= SELENE_WINDOW_STRICT_FIT;
        return true;
    case FOLLOW:
        return options->follow = true;
    case NOW:
        return read_once(name, &options->now);
    case CHECK:
        return options->check = true;
    case PROFILE:
        return read_profile(&options->profile);
    case WHY:
        return options->why = true;
    case TRACE:
        return read_once(name, &options->trace);
    case PLAN:
        return options->plan = true;
    case EXPLAIN:
        return read_once(name, &options->explain);
    case JSON:
        return options->json = true;
    case NETWORK:
        return set_condition(options, SELENE_CONSTRAINT_NETWORK, true);
    case NO_NETWORK:
        return set_condition(options, SELENE_CONSTRAINT_NETWORK, false);
    case EXTERNAL_POWER:
        return set_condition(options, SELENE_CONSTRAINT_EXTERNAL_POWER, true);
    case ON_BATTERY:
        return set_condition(options, SELENE_CONSTRAINT_EXTERNAL_POWER, false);
    case OBSERVED_RANGE:
        return options->observed_range = true;
    case FRESHNESS:
        return options->freshness = true;
    case MAX_PENDING_REFRESH:
        return read_small(name, 0, MANY, &options->max_pending_refresh);
    case MAX_PENDING_PROCESSING:
        return read_small(name, 0, MANY, &options->max_pending_processing);
    case GRACE:
        return read_time(name, 0, SELENE_HOUR, &options->grace);
    case EXPEDITED_QUOTA:
        return read_time_or_none(name, &options->expedited_quota);
    case DRAIN:
        return read_time(name, 0, SELENE_HOUR, &options->drain);
    case LOGS:
        return read_once(name, &options->logs);
    case QUIET:
        return options->quiet = true;
    case VERBOSE:
        return options->verbose = true;
    case STORE:
        return read_store(&options->store);
    case ADOPT:
        return options->adopt = true;
    case LIST:
        return options->list = true;
    case FAILED:
        return options->failed = true;
    case CLIENTS:
        return options->clients = true;
    case RETRY:
        return read_once(name, &options->retry);
    case CANCEL:
        return set_pause(options, name, selene_task_cancel);
    case CANCEL_TAG:
        return set_pause(options, name, selene_task_cancel_tag);
    case ENQUEUE:
        return read_once(name, &options->enqueue);
    case HANDLER:
        return read_once(name, &options->handler);
    case INPUT:
        return read_once(name, &options->input);
    case DELAY:
        return read_time(name, 0, 3650 * SELENE_DAY, &options->delay);
    case WATCH:
        return options->watch = true;
    case PAUSE:
        return set_pause(options, name, selene_task_pause);
    case PAUSE_TAG:
        return set_pause(options, name, selene_task_pause_tag);
    case RESUME:
        return set_pause(options, name, selene_task_resume);
    case RESUME_TAG:
        return set_pause(options, name, selene_task_resume_tag);
    case PAUSE_GROUP:
        return set_pause(options, name, pause_group);
    case RESUME_GROUP:
        return set_pause(options, name, resume_group);
    case PAUSE_KINDS:
    case RESUME_KINDS:
        return set_pause(options, name, NULL) && read_kinds_of(name, &options->pause.kinds);
    case PAUSE_POOL:
    case RESUME_POOL:
        if (!*optarg) return refuse("--%s: found \"\"; allowed is the name of a pool", name);
        return set_pause(options, name, NULL);
    case PAUSE_FOR:
        return read_time(name, 1, 3650 * SELENE_DAY, &options->pause_for);
    case GROUP_LIMIT:
        return add_group_limit(options);
    case CONDITION:
        return add_condition(options);
    case MEET:
        return set_met(options, name, meet);
    case LOSE:
        return set_met(options, name, lose);
    case HELP:
    case VERSION:
        break;
    }
    return false;
}

static bool is_look(const struct options *options) {
    return options->plan || options->explain || options->waits || options->list ||
           options->failed || options->clients || options->retry || options->pause.option ||
           options->enqueue;
}

/* The words "why ID" before a workload, or without one. */
static void read_command(struct options *options, int count, char **arguments) {
    if (count - optind < 2 || strcmp(arguments[optind], "why") != 0) return;
    options->waits = arguments[optind + 1];
    optind += 2;
}

static bool check_options(struct options *options, int count, char **arguments) {
    read_command(options, count, arguments);
    bool needs_none = options->store && (is_look(options) || options->watch || options->now) &&
                      options->cycles <= 0;
    if (options->json && !options->waits)
        return refuse("--json is how the answer of why is written; allowed is why ID with it");
    if (options->json && options->cycles > 0)
        return refuse("--json is for looking alone; allowed is no --cycles with it");
    if (options->watch && (optind < count || !options->store))
        return refuse("--watch shows what happens in a store; allowed is --store FILE with it, and "
                      "no workload");
    if (options->watch && is_look(options)) return refuse("--watch looks at nothing else");
    if (options->clients && (optind < count || !options->store))
        return refuse(
            "--clients shows who is connected to the process that serves a store; allowed "
            "is --store FILE with it, and no workload");
    if (options->retry && (optind < count || !options->store))
        return refuse("--retry enqueues a task of a store; allowed is --store FILE with it, and no "
                      "workload");
    if (options->pause.option && (optind < count || !options->store))
        return refuse(
            "--%s is for tasks of a store; allowed is --store FILE with it, and no workload",
            options->pause.option);
    if (options->pause_for && (options->pause.function || !options->pause.option ||
                               strncmp(options->pause.option, "pause", 5) != 0))
        return refuse("--pause-for is for kinds; allowed is --pause-kinds or --pause-pool with it");
    if (options->enqueue && (optind < count || !options->store))
        return refuse("--enqueue is for a store; allowed is --store FILE with it, and no workload");
    if ((options->handler || options->input || options->delay) && !options->enqueue)
        return refuse("--handler, --input and --delay are for --enqueue; allowed is it with them");
    if (optind == count && is_look(options) && !options->store)
        return refuse("found neither a workload nor --store; needed is one of them");
    if (optind + 1 != count && !(optind == count && needs_none))
        return refuse("found %d workload files; allowed is one", count - optind);
    options->workload = arguments[optind];
    if (options->condition_name_count && !options->workload)
        return refuse("--condition is for the runs of a workload; allowed is one with it");
    if (options->group_limit_count && !options->workload)
        return refuse("--group-limit is for the runs of a workload; allowed is one with it");
    if (options->adopt && !options->store)
        return refuse("--adopt takes over what a store has; allowed is --store FILE with it");
    if (options->window.reserve > options->window.budget)
        return refuse("--reserve %s is longer than --budget %s; allowed is at most the budget",
                      duration_exact(options->window.reserve).text,
                      duration_exact(options->window.budget).text);
    if (options->freshness && options->observed_range)
        return refuse("--freshness and --observed-range exclude each other");
    if (options->now && options->follow) return refuse("--follow and --now exclude each other");
    if (options->now && options->cycles >= 0)
        return refuse("--cycles and --now exclude each other");
    if (options->now && options->window.lanes != 1)
        return refuse("--now runs one task; allowed is --lanes 1");
    if (options->profile >= 0 && options->follow &&
        (options->window.reserve != 0 || options->window.flags))
        return refuse("--reserve and --strict-fit are for windows that are opened by the clock; "
                      "they cannot be used with --follow and --profile");
    if (options->every < 0) options->every = options->follow ? 0 : SELENE_MINUTE;
    if (options->cycles < 0 && !options->follow)
        options->cycles = is_look(options) || options->now ? 0 : 1;
    return true;
}

bool options_read(struct options *options, int count, char **arguments, int *out_exit) {
    const char *name = "";
    int option;
    *options = (struct options){.window = SELENE_INIT(selene_window),
                                .every = -1,
                                .cycles = -1,
                                .profile = -1,
                                .max_pending_refresh = SELENE_UNLIMITED,
                                .max_pending_processing = SELENE_UNLIMITED,
                                .grace = 2 * SELENE_SECOND,
                                .drain = 2 * SELENE_SECOND};
    options->window.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    options->window.lanes = 1;
    options->window.budget = 30 * SELENE_SECOND;
    *out_exit = EXIT_USAGE;
    arguments_are("selene-run", table);
    while ((option = next_option(count, arguments, &name)) != NO_OPTION) {
        if (option == WRONG_OPTION) return false;
        if (option == 'v') option = VERBOSE;
        if (option == HELP || option == 'h' || option == VERSION) {
            if (option == VERSION) printf("selene-run %s\n", SELENE_VERSION_STRING);
            else fputs(help, stdout), fputs(help_on_more, stdout), fputs(help_on_files, stdout);
            *out_exit = write_out() ? EXIT_DONE : EXIT_SYSTEM;
            return false;
        }
        if (!read_option(options, option, name)) return false;
    }
    return check_options(options, count, arguments);
}
