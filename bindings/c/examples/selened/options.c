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
    "Has the store of a scheduler open and serves it on a Unix socket to the processes of this\n"
    "machine, which register tasks, run them and look at them. It runs nothing itself.\n"
    "\n"
    "Options\n"
    "  --store FILE       the store; it is made if it is not there\n"
    "  --socket PATH      the socket (FILE-sock); not with one that systemd hands over\n"
    "  --allow WHO:RIGHTS\n"
    "                     who else may connect, besides the user of this process and root: WHO is\n"
    "                     uid=USER, gid=GROUP or any; RIGHTS are look, read, enqueue, work and "
    "manage\n"
    "                     with commas, or all; may be repeated, and what fits is added\n"
    "  --mode OCTAL       the mode of the socket's file (600; 666 with --allow)\n"
    "  --max-clients N    connections at a time, 1 to 65536 (1024)\n"
    "  --profile NAME     what the governor demands of windows: open, apple, server or strict "
    "(open)\n"
    "  --drain TIME       when it is asked to end: how long what clients run may take to end by\n"
    "                     itself (10s)\n"
    "  --adopt TIME       where the owner before ended without closing: how long processes that "
    "had\n"
    "                     runs may take to come for them; then they were interrupted (10s)\n"
    "  --verbose, -v      also say the ordinary course: what was opened and closed\n"
    "  --help, --version\n"
    "\n";
/* Two texts, since a string may be too long for a compiler. */
static const char help_on_the_rest[] =
    "TIME is " DURATION_ALLOWED ".\n"
    "\n"
    "A line \"serving FILE on SOCKET\" tells that clients can connect. Warnings and errors go to "
    "the\n"
    "standard error.\n"
    "\n"
    "Signals\n"
    "  SIGTERM, SIGINT    take no new work, let clients end what they run for the time of "
    "--drain,\n"
    "                     put the rest back as it was before, close the store and end; a second "
    "one\n"
    "                     ends it at once, which loses nothing that was answered\n"
    "  SIGHUP, SIGQUIT    the same, with another exit code; where SIGHUP is ignored, as under "
    "nohup,\n"
    "                     it stays so. There is no configuration to be read again\n"
    "\n"
    "As a service of systemd\n"
    "  $LISTEN_FDS        sockets that are handed over are served, and stay when it ends\n"
    "  $NOTIFY_SOCKET     is told READY=1, STOPPING=1, and STATUS= every ten seconds\n"
    "  $WATCHDOG_USEC     WATCHDOG=1 comes twice in this time, as long as the scheduler answers\n"
    "\n"
    "Exit codes of selened\n"
    "  0  it was asked to end by SIGTERM or SIGINT\n"
    "  2  a wrong option\n"
    "  4  the scheduler, its store or its socket refused\n"
    "  5  the system refused, as where what was handed over is not a socket\n"
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
    VERSION
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
    if (*optarg < '0' || *optarg > '7' || *end || value > 0777)
        return refuse("--mode: found \"%s\"; allowed is an octal number from 0 to 777", optarg);
    *out = (int64_t)value;
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
    case HELP:
    case VERSION:
        break;
    }
    return false;
}

bool options_read(struct options *options, int count, char **arguments, int *out_exit) {
    const char *name = "";
    int option;
    *options = (struct options){.profile = -1,
                                .mode = -1,
                                .max_clients = 1024,
                                .drain = 10 * SELENE_SECOND,
                                .adopt = 10 * SELENE_SECOND};
    *out_exit = EXIT_USAGE;
    arguments_are("selened", table);
    while ((option = next_option(count, arguments, &name)) != NO_OPTION) {
        if (option == WRONG_OPTION) return false;
        if (option == 'v') option = VERBOSE;
        if (option == HELP || option == 'h' || option == VERSION) {
            if (option == VERSION) printf("selened %s\n", selene_version_string());
            else fputs(help, stdout), fputs(help_on_the_rest, stdout);
            *out_exit = write_out() ? EXIT_DONE : EXIT_SYSTEM;
            return false;
        }
        if (!read_option(options, option, name)) return false;
    }
    if (optind < count) return refuse("found \"%s\"; allowed are options alone", arguments[optind]);
    if (options->store == NULL) return refuse("found no --store; it is needed");
    if (options->mode < 0) options->mode = options->rule_count ? 0666 : 0600;
    return true;
}
