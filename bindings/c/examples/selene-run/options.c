#define _XOPEN_SOURCE 700
#include "options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "keys.h"
#include "nearest.h"
#include "show.h"

#define MANY (SELENE_UNLIMITED - 1)

static const char help[] =
    "Usage: selene-run [OPTION]... WORKLOAD\n"
    "Runs the tasks of a workload file in windows of limited time, highest score first.\n"
    "\n"
    "Windows\n"
    "  --budget TIME      length of a window (30s)\n"
    "  --reserve TIME     kept free at its end, for stopping what still runs (budget / 20)\n"
    "  --every TIME       from the begin of one window to the begin of the next (1m)\n"
    "  --cycles N         how many windows; 0: only registers the tasks, or only looks (1; without "
    "end\n"
    "                     with --follow; 0 with --plan, --explain, --list, --failed)\n"
    "  --lanes N          tasks at a time, 1 to 64 (1)\n"
    "  --kinds LIST       kinds that run: refresh, processing, or both with a comma (both)\n"
    "  --strict-fit       start nothing whose estimate does not fit, not even as the first\n"
    "  --follow           stay; sleep until a task wants a window, at least --every; take over "
    "what "
    "is\n"
    "                     edited in WORKLOAD\n"
    "  --now ID           run one task now, whatever its rank, and end\n"
    "  --check            answer 1 if the last run of any task failed\n"
    "\n"
    "The governor\n"
    "  --profile NAME     what the governor demands of a window: open, apple, server or strict. "
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
    "  --plan             what the next window would run, and what not, and why\n"
    "  --explain ID       everything about one task, and why it does not run now\n"
    "  --list             every task with its state\n"
    "  --failed           every task that failed, and why\n"
    "  --clients          every process that is connected to the one that serves the store\n"
    "  --retry ID         enqueue a failed task again; needs --store FILE and no WORKLOAD\n"
    "  --watch            what happens in FILE, which another process has open, as it happens; "
    "needs\n"
    "                     --store FILE and no WORKLOAD\n"
    "  --pause ID, --pause-tag TAG\n"
    "                     let a task, or all that have a tag now, begin no more; as --retry\n"
    "  --resume ID, --resume-tag TAG\n"
    "                     let them go on; as --retry\n"
    "  --pause-group GROUP, --resume-group GROUP\n"
    "                     the same of a group, with what joins it later; as --retry\n"
    "\n"
    "Conditions; what is not set by hand is read from the system\n"
    "  --network, --no-network\n"
    "  --external-power, --on-battery\n"
    "\n"
    "Ranking and limits\n"
    "  --observed-range   score within the range of what is observed\n"
    "  --freshness        rank by age times a pace learnt from cost, news and failures\n"
    "  --max-pending-refresh N, --max-pending-processing N\n"
    "                     once and periodic tasks at a time; the others are held (no limit)\n"
    "  --condition NAME   the condition NAME, which tasks may ask for, holds; may be repeated\n"
    "  --group-limit GROUP=N\n"
    "                     at most N runs of a group at a time, 0: no limit; may be repeated\n"
    "\n"
    "Commands\n"
    "  --grace TIME       from SIGTERM to SIGKILL, at most (2s)\n"
    "  --drain TIME       on SIGINT or SIGTERM: what runs may end by itself for so long (2s)\n"
    "  --logs FOLDER      where output is kept, a file for each task ($SELENE_WORK/log)\n"
    "  --quiet            show no output of commands\n"
    "\n"
    "  --verbose, -v      show what the library says of stores, troubles and drivers\n"
    "  --help, --version\n"
    "\n";
/* Two texts, since a string may be too long for a compiler. */
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
    "its task; one that tells nothing for its stall_limit is asked "
    "to\n"
    "stop. Its exit code says what came of it:\n"
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
    BUDGET = 256,
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
    NETWORK,
    NO_NETWORK,
    EXTERNAL_POWER,
    ON_BATTERY,
    OBSERVED_RANGE,
    FRESHNESS,
    MAX_PENDING_REFRESH,
    MAX_PENDING_PROCESSING,
    GRACE,
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
    WATCH,
    PAUSE,
    PAUSE_TAG,
    RESUME,
    RESUME_TAG,
    PAUSE_GROUP,
    RESUME_GROUP,
    GROUP_LIMIT,
    CONDITION,
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
    {"network", no_argument, NULL, NETWORK},
    {"no-network", no_argument, NULL, NO_NETWORK},
    {"external-power", no_argument, NULL, EXTERNAL_POWER},
    {"on-battery", no_argument, NULL, ON_BATTERY},
    {"observed-range", no_argument, NULL, OBSERVED_RANGE},
    {"freshness", no_argument, NULL, FRESHNESS},
    {"max-pending-refresh", required_argument, NULL, MAX_PENDING_REFRESH},
    {"max-pending-processing", required_argument, NULL, MAX_PENDING_PROCESSING},
    {"grace", required_argument, NULL, GRACE},
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
    {"watch", no_argument, NULL, WATCH},
    {"pause", required_argument, NULL, PAUSE},
    {"pause-tag", required_argument, NULL, PAUSE_TAG},
    {"resume", required_argument, NULL, RESUME},
    {"resume-tag", required_argument, NULL, RESUME_TAG},
    {"pause-group", required_argument, NULL, PAUSE_GROUP},
    {"resume-group", required_argument, NULL, RESUME_GROUP},
    {"group-limit", required_argument, NULL, GROUP_LIMIT},
    {"condition", required_argument, NULL, CONDITION},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

static bool refuse(const char *format, ...) {
    va_list arguments;
    fputs("selene-run: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("; try --help\n", stderr);
    return false;
}

static bool read_time(const char *name, int64_t least, int64_t greatest, int64_t *out) {
    int64_t value;
    if (!duration_read(optarg, strlen(optarg), &value))
        return refuse("--%s: found \"%s\"; allowed is " DURATION_ALLOWED, name, optarg);
    if (value < least || value > greatest)
        return refuse("--%s: found \"%s\"; allowed is from %s to %s", name, optarg,
                      duration_exact(least).text, duration_exact(greatest).text);
    *out = value;
    return true;
}

static bool read_count(const char *name, int64_t least, int64_t greatest, int64_t *out) {
    char *end;
    long long value = strtoll(optarg, &end, 10);
    if (*optarg < '0' || *optarg > '9' || *end || value < least || value > greatest)
        return refuse("--%s: found \"%s\"; allowed is a number from %lld to %lld", name, optarg,
                      (long long)least, (long long)greatest);
    *out = value;
    return true;
}

/* The greatest number is SELENE_UNLIMITED, which is meant by saying nothing. */
static bool read_small(const char *name, int64_t least, int64_t greatest, uint32_t *out) {
    int64_t value;
    if (!read_count(name, least, greatest, &value)) return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_kinds(uint32_t *out) {
    if (kinds_read(optarg, out)) return true;
    return refuse("--kinds: found \"%s\"; allowed is refresh, processing or refresh,processing",
                  optarg);
}

static bool read_profile(int32_t *out) {
    for (int32_t profile = SELENE_PROFILE_OPEN; profile <= SELENE_PROFILE_STRICT; profile++) {
        if (strcmp(optarg, selene_profile_name(profile)) != 0) continue;
        *out = profile;
        return true;
    }
    return refuse("--profile: found \"%s\"; allowed is open, apple, server or strict", optarg);
}

static bool set_condition(struct options *options, uint32_t constraint, bool satisfied) {
    options->conditions |= constraint;
    options->satisfied &= ~constraint;
    if (satisfied) options->satisfied |= constraint;
    return true;
}

static bool set_pause(struct options *options, const char *name, pause_function *function) {
    if (options->pause.option)
        return refuse("--%s and --%s exclude each other", options->pause.option, name);
    options->pause = (struct pause_option){name, optarg, function};
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
        return read_time(name, 0, SELENE_DAY, &options->window.reserve);
    case EVERY:
        return read_time(name, 0, 3650 * SELENE_DAY, &options->every);
    case CYCLES:
        return read_count(name, 0, MANY, &options->cycles);
    case LANES:
        return read_small(name, 1, 64, &options->window.lanes);
    case KINDS:
        return read_kinds(&options->window.kinds);
    case STRICT_FIT:
        options->window.flags |= SELENE_WINDOW_STRICT_FIT;
        return true;
    case FOLLOW:
        return options->follow = true;
    case NOW:
        options->now = optarg;
        return true;
    case CHECK:
        return options->check = true;
    case PROFILE:
        return read_profile(&options->profile);
    case WHY:
        return options->why = true;
    case TRACE:
        options->trace = optarg;
        return true;
    case PLAN:
        return options->plan = true;
    case EXPLAIN:
        options->explain = optarg;
        return true;
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
    case DRAIN:
        return read_time(name, 0, SELENE_HOUR, &options->drain);
    case LOGS:
        options->logs = optarg;
        return true;
    case QUIET:
        return options->quiet = true;
    case VERBOSE:
        return options->verbose = true;
    case STORE:
        /* SQLite's name for none: here it would be a file. */
        if (*optarg == '\0' || strcmp(optarg, ":memory:") == 0)
            return refuse("--store: found \"%s\"; allowed is the name of a file", optarg);
        options->store = optarg;
        return true;
    case ADOPT:
        return options->adopt = true;
    case LIST:
        return options->list = true;
    case FAILED:
        return options->failed = true;
    case CLIENTS:
        return options->clients = true;
    case RETRY:
        options->retry = optarg;
        return true;
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
    case GROUP_LIMIT:
        return add_group_limit(options);
    case CONDITION:
        return add_condition(options);
    case HELP:
    case VERSION:
        break;
    }
    return false;
}

static bool is_look(const struct options *options) {
    return options->plan || options->explain || options->list || options->failed ||
           options->clients || options->retry || options->pause.option;
}

static bool check_options(struct options *options, int count, char **arguments) {
    bool needs_none =
        options->store && (is_look(options) || options->watch) && options->cycles <= 0;
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
        (options->window.reserve >= 0 || options->window.flags))
        return refuse("--reserve and --strict-fit are for windows that are opened by the clock; "
                      "they cannot be used with --follow and --profile");
    if (options->cycles < 0 && !options->follow)
        options->cycles = is_look(options) || options->now ? 0 : 1;
    return true;
}

/* The argument that was read last, as it was written. */
static const char *written(char **arguments) {
    return arguments[optarg == arguments[optind - 1] ? optind - 2 : optind - 1];
}

static bool refuse_option(const char *argument) {
    struct nearest nearest = nearest_to(argument + 2, strcspn(argument + 2, "="));
    for (const struct option *option = table; option->name; option++)
        nearest_try(&nearest, option->name);
    if (nearest.name)
        return refuse("%s: there is no such option; did you mean --%s?", argument, nearest.name);
    return refuse("%s: there is no such option", argument);
}

/* Refuses what is not an option, in words of our own. */
static bool refuse_unknown(int option, char **arguments) {
    const char *argument = arguments[optind - 1];
    if (option == ':') return refuse("%s: found nothing; allowed is a value", argument);
    if (optopt >= BUDGET) return refuse("%s: found a value; allowed is none", argument);
    if (optopt) return refuse("-%c: there is no such option", optopt);
    return refuse_option(argument);
}

/* Today's abbreviation may be tomorrow's option. */
static bool is_whole(const char *argument, const char *name) {
    size_t length = strlen(name);
    if (strncmp(argument + 2, name, length) == 0 &&
        (argument[2 + length] == '\0' || argument[2 + length] == '='))
        return true;
    return refuse("%s: there is no such option; --%s is one", argument, name);
}

bool options_read(struct options *options, int count, char **arguments, int *out_exit) {
    int option;
    int index = 0;
    *options = (struct options){.window = SELENE_WINDOW_INIT,
                                .every = SELENE_MINUTE,
                                .cycles = -1,
                                .profile = -1,
                                .max_pending_refresh = SELENE_UNLIMITED,
                                .max_pending_processing = SELENE_UNLIMITED,
                                .grace = 2 * SELENE_SECOND,
                                .drain = 2 * SELENE_SECOND};
    options->window.kinds = SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING;
    *out_exit = EXIT_USAGE;
    opterr = 0;
    while ((option = getopt_long(count, arguments, ":hv", table, &index)) != -1) {
        if (option == '?' || option == ':') return refuse_unknown(option, arguments);
        if (option == 'v') option = VERBOSE;
        else if (option != 'h' && !is_whole(written(arguments), table[index].name)) return false;
        if (option == HELP || option == 'h' || option == VERSION) {
            if (option == VERSION) printf("selene-run %s\n", selene_version_string());
            else fputs(help, stdout), fputs(help_on_files, stdout);
            *out_exit = write_out() ? EXIT_DONE : EXIT_SYSTEM;
            return false;
        }
        if (!read_option(options, option, table[index].name)) return false;
    }
    return check_options(options, count, arguments);
}
