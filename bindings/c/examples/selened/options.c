#include "options.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../selene-run/duration.h"

#define ALLOW_ALLOWED                                                                              \
    "uid=USER, gid=GROUP or any, a colon, and look, read, enqueue, work, manage or all with "      \
    "commas"

static const char help[] =
    "Usage: selened --store FILE [OPTION]...\n"
    "   or: selened --fleet CONNINFO --socket PATH [OPTION]...\n"
    "Has the store of a scheduler open and serves it on a Unix socket to the processes of this\n"
    "machine, which register tasks, run them and look at them. Or it is the one connection of "
    "this\n"
    "machine to a fleet in PostgreSQL, whose tasks the processes of this machine run as if they "
    "were\n"
    "its own. It runs nothing itself.\n"
    "\n"
    "Options\n"
    "  --store FILE       the store; created if it does not exist\n"
    "  --socket PATH      the socket (FILE-sock); not with one that systemd passes\n"
    "  --allow WHO:RIGHTS\n"
    "                     who else may connect, besides the user of this process and root: WHO is\n"
    "                     uid=USER, gid=GROUP or any; RIGHTS are look, read, enqueue, work and "
    "manage\n"
    "                     with commas, or all; may be repeated, the rights of all that match are "
    "added\n"
    "  --mode OCTAL       the mode of the socket's file (600; 666 with --allow)\n"
    "  --max-clients N    connections at a time, 1 to 65536 (1024)\n"
    "  --profile NAME     what the governor requires of windows: open, apple, server or strict "
    "(open)\n"
    "  --drain TIME       when it is asked to end: how long the runs of clients may take to end "
    "by\n"
    "                     themselves (10s)\n"
    "  --adopt TIME       if the previous owner ended without closing: how long processes that "
    "had\n"
    "                     runs may take to reconnect before these count as interrupted (10s)\n"
    "  --verbose, -v      also log routine events: what was opened and closed\n"
    "  --help, --version\n"
    "\n";
static const char help_on_fleets[] =
    "Options with --fleet\n"
    "  --fleet CONNINFO   where the fleet is, as libpq takes it: \"service=app\",\n"
    "                     \"host=db dbname=app\", postgresql://...; \"\" for what $PGHOST and the "
    "like "
    "say\n"
    "  --schema NAME      the schema of the fleet (selene)\n"
    "  --queue NAME       take tasks of this queue; may be repeated (all queues)\n"
    "  --label NAME       what this machine has that others may lack, such as gpu: it takes\n"
    "                     tasks that require no other labels; may be repeated\n"
    "  --name NAME        of this machine, for people (the host's, and the process)\n"
    "  --lease TIME       how long the fleet waits for a sign of life before others take over\n"
    "                     what runs here: 100ms to 1h (30s)\n"
    "  --poll TIME        how often it looks for work when nothing notifies it: 10ms to 1h (1s)\n"
    "  --listen CONNINFO  where it listens for notifications, which cannot be behind a pooler "
    "(as\n"
    "                     --fleet)\n"
    "  --no-listen        only poll, which saves a connection\n"
    "  --relaxed          the database commits what runs here without waiting for its disk: short\n"
    "                     runs at up to twice the rate; if its server crashes the last of them\n"
    "                     may run again though they have ended\n"
    "\n"
    "Environment with --fleet\n"
    "  $SELENE_FLEET      CONNINFO, if neither --store nor --fleet is given\n"
    "  $PGPASSWORD, $PGPASSFILE, $PGSERVICEFILE and the others of libpq\n"
    "                     what CONNINFO does not say: a password among the arguments can be read "
    "by\n"
    "                     every user of the machine, one in ~/.pgpass or in the environment "
    "cannot\n"
    "\n"
    "This needs the module libselened-fleet.so, which make install-fleet and the package\n"
    "libselene-fleet1 (Debian) or selene-fleet (RPM) install. Tasks are registered, changed and\n"
    "cancelled in the fleet itself, not here. While the database is away it goes on serving, says "
    "so, and\n"
    "tries again.\n"
    "\n";
/* Two texts, since a string may be too long for a compiler. */
static const char help_on_the_rest[] =
    "TIME is " DURATION_ALLOWED ".\n"
    "\n"
    "A line \"serving FILE on SOCKET\", or \"serving fleet SCHEMA on SOCKET\", says that clients "
    "can\n"
    "connect. Warnings and errors go to the standard error.\n"
    "\n"
    "Signals\n"
    "  SIGTERM, SIGINT    take no new work, let the runs of clients end within the time of "
    "--drain,\n"
    "                     put the tasks of the others back as before, close the store, or leave "
    "the\n"
    "                     fleet, and end; a second one ends it at once, which loses nothing that "
    "was\n"
    "                     answered\n"
    "  SIGHUP, SIGQUIT    the same, with another exit code; where SIGHUP is ignored, as under "
    "nohup,\n"
    "                     it stays ignored. There is no configuration to reload\n"
    "\n"
    "As a service of systemd\n"
    "  $LISTEN_FDS        sockets that are passed are served, and stay when it ends\n"
    "  $NOTIFY_SOCKET     receives READY=1, STOPPING=1, and STATUS= every ten seconds, and at "
    "once\n"
    "                     when the state of a fleet changes\n"
    "  $WATCHDOG_USEC     WATCHDOG=1 comes twice in this time, as long as the scheduler answers\n"
    "\n"
    "Exit codes of selened\n"
    "  0  it was asked to end by SIGTERM or SIGINT\n"
    "  2  a wrong option\n"
    "  4  the scheduler, its store, its socket or the terms of a fleet were refused\n"
    "  5  the system refused: a descriptor that was passed is not a socket, or the module for a\n"
    "     fleet is missing\n"
    "  6  another process has the store open\n"
    "  128 + N  ended by signal N\n";

enum option_number {
    STORE = FIRST_OPTION,
    SOCKET,
    ALLOW,
    MODE,
    MAX_CLIENTS,
    PROFILE,
    DRAIN,
    ADOPT,
    VERBOSE,
    HELP,
    VERSION,
    /* What is for a fleet alone begins here. */
    FLEET,
    SCHEMA,
    QUEUE,
    LABEL,
    NAME,
    LEASE,
    POLL,
    LISTEN,
    NO_LISTEN,
    RELAXED
};

static const struct option table[] = {
    {"store", required_argument, NULL, STORE},
    {"socket", required_argument, NULL, SOCKET},
    {"allow", required_argument, NULL, ALLOW},
    {"mode", required_argument, NULL, MODE},
    {"max-clients", required_argument, NULL, MAX_CLIENTS},
    {"profile", required_argument, NULL, PROFILE},
    {"drain", required_argument, NULL, DRAIN},
    {"adopt", required_argument, NULL, ADOPT},
    {"verbose", no_argument, NULL, VERBOSE},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {"fleet", required_argument, NULL, FLEET},
    {"schema", required_argument, NULL, SCHEMA},
    {"queue", required_argument, NULL, QUEUE},
    {"label", required_argument, NULL, LABEL},
    {"name", required_argument, NULL, NAME},
    {"lease", required_argument, NULL, LEASE},
    {"poll", required_argument, NULL, POLL},
    {"listen", required_argument, NULL, LISTEN},
    {"no-listen", no_argument, NULL, NO_LISTEN},
    {"relaxed", no_argument, NULL, RELAXED},
    {NULL, 0, NULL, 0},
};

static bool is(const char *text, size_t length, const char *other) {
    return strlen(other) == length && memcmp(text, other, length) == 0;
}

static bool refuse_allow(void) {
    return refuse("--allow: found \"%s\"; allowed is " ALLOW_ALLOWED, optarg);
}

static bool read_rights(const char *text, uint32_t *out) {
    static const char *const names[] = {"look", "read", "enqueue", "work", "manage"};
    for (;;) {
        size_t length = strcspn(text, ",");
        uint32_t found = is(text, length, "all") ? SELENE_RIGHT_ALL : 0;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (is(text, length, names[i])) found |= 1U << i;
        if (found == 0) return refuse_allow();
        *out |= found;
        if (text[length] == '\0') return true;
        text += length + 1;
    }
}

/* A number, or the name of a user or a group. */
static bool read_who(const char *name, bool is_group, uint32_t *out) {
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    const struct group *group;
    const struct passwd *user;
    if (*name >= '0' && *name <= '9' && *end == '\0') {
        if (number >= SELENE_ANYBODY) return refuse_allow();
        *out = (uint32_t)number;
        return true;
    }
    group = is_group ? getgrnam(name) : NULL;
    user = is_group ? NULL : getpwnam(name);
    if (group) *out = group->gr_gid;
    if (user) *out = user->pw_uid;
    if (group || user) return true;
    return refuse("--allow: there is no %s \"%s\"", is_group ? "group" : "user", name);
}

static bool read_allow(struct options *options) {
    const char *colon = strchr(optarg, ':');
    selene_peer_rule rule = {SELENE_ANYBODY, SELENE_ANYBODY, 0, 0};
    char who[256];
    size_t length = colon ? (size_t)(colon - optarg) : 0;
    if (length < 3 || length >= sizeof who) return refuse_allow();
    if (options->rule_count == MOST_RULES)
        return refuse("--allow: allowed are at most %d", MOST_RULES);
    memcpy(who, optarg, length);
    who[length] = '\0';
    if (strncmp(who, "uid=", 4) == 0) {
        if (!read_who(who + 4, false, &rule.uid)) return false;
    } else if (strncmp(who, "gid=", 4) == 0) {
        if (!read_who(who + 4, true, &rule.gid)) return false;
    } else if (strcmp(who, "any") != 0) {
        return refuse_allow();
    }
    if (!read_rights(colon + 1, &rule.rights)) return false;
    options->rules[options->rule_count++] = rule;
    return true;
}

static bool read_mode(int64_t *out) {
    char *end;
    unsigned long value = strtoul(optarg, &end, 8);
    if (*optarg < '0' || *optarg > '7' || *end || value == 0 || value > 0777)
        return refuse("--mode: found \"%s\"; allowed is an octal number from 1 to 777", optarg);
    *out = (int64_t)value;
    return true;
}

static bool read_name(const char *name, size_t longest, const char **out) {
    if (*optarg == '\0' || strlen(optarg) > longest)
        return refuse("--%s: found \"%s\"; allowed are 1 to %zu bytes", name, optarg, longest);
    *out = optarg;
    return true;
}

static bool read_names(const char *name, selene_text *names, uint64_t *count) {
    const char *found = NULL;
    if (*count == MOST_NAMES) return refuse("--%s: allowed are at most %d", name, MOST_NAMES);
    if (!read_name(name, 255, &found)) return false;
    names[(*count)++] = (selene_text){found, -1};
    return true;
}

static bool read_option(struct options *options, int option, const char *name) {
    switch ((enum option_number)option) {
    case STORE:
        return read_store(&options->store);
    case SOCKET:
        if (*optarg == '\0') return refuse("--socket: found \"\"; allowed is the name of a file");
        options->socket = optarg;
        return true;
    case ALLOW:
        return read_allow(options);
    case MODE:
        return read_mode(&options->mode);
    case MAX_CLIENTS:
        return read_count(name, 1, 65536, &options->max_clients);
    case PROFILE:
        return read_profile(&options->profile);
    case DRAIN:
        return read_time(name, 0, SELENE_HOUR, &options->drain);
    case ADOPT:
        return read_time(name, 0, 24 * SELENE_HOUR, &options->adopt);
    case VERBOSE:
        return options->verbose = true;
    case FLEET:
        options->fleet = optarg;
        return true;
    case SCHEMA:
        return read_name(name, 63, &options->schema);
    case QUEUE:
        return read_names(name, options->queues, &options->queue_count);
    case LABEL:
        return read_names(name, options->labels, &options->label_count);
    case NAME:
        return read_name(name, 255, &options->name);
    case LEASE:
        return read_time(name, SELENE_SECOND / 10, SELENE_HOUR, &options->lease);
    case POLL:
        return read_time(name, SELENE_SECOND / 100, SELENE_HOUR, &options->poll);
    case LISTEN:
        options->listen = optarg;
        return true;
    case NO_LISTEN:
        return options->polls_only = true;
    case RELAXED:
        return options->relaxed = true;
    case HELP:
    case VERSION:
        break;
    }
    return false;
}

/* What is served, and whether what was given is for that; `last` is an option of a fleet, or NULL. */
static bool check(struct options *options, const char *last) {
    const char *fleet = getenv("SELENE_FLEET");
    if (options->store && options->fleet)
        return refuse("--fleet: found --store, too; allowed is one of both");
    if (options->store == NULL && options->fleet == NULL) options->fleet = fleet;
    if (options->store == NULL && options->fleet == NULL)
        return refuse("found no --store and no --fleet; one is needed");
    if (options->store && last) return refuse("--%s: found --store; it is for --fleet", last);
    if (options->listen && options->polls_only)
        return refuse("--no-listen: found --listen, too; allowed is one of both");
    if (options->mode < 0) options->mode = options->rule_count ? 0666 : 0600;
    return true;
}

bool options_read(struct options *options, int count, char **arguments, int *out_exit) {
    const char *name = "", *of_fleet = NULL;
    int option;
    *options = (struct options){.profile = -1,
                                .mode = -1,
                                .max_clients = 1024,
                                .drain = 10 * SELENE_SECOND,
                                .adopt = 10 * SELENE_SECOND,
                                .lease = -1,
                                .poll = -1};
    *out_exit = EXIT_USAGE;
    arguments_are("selened", table);
    while ((option = next_option(count, arguments, &name)) != NO_OPTION) {
        if (option == WRONG_OPTION) return false;
        if (option == 'v') option = VERBOSE;
        if (option == HELP || option == 'h' || option == VERSION) {
            /* In one piece, so that it is known why it cannot be written. */
            static char whole[1 << 14];
            setvbuf(stdout, whole, _IOFBF, sizeof whole);
            if (option == VERSION) printf("selened %s\n", SELENE_VERSION_STRING);
            else
                fputs(help, stdout), fputs(help_on_fleets, stdout), fputs(help_on_the_rest, stdout);
            *out_exit = write_out() ? EXIT_DONE : EXIT_SYSTEM;
            return false;
        }
        if (!read_option(options, option, name)) return false;
        if (option > FLEET) of_fleet = name;
    }
    if (optind < count) return refuse("found \"%s\"; allowed are options alone", arguments[optind]);
    return check(options, of_fleet);
}
