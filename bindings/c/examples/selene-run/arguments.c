#define _XOPEN_SOURCE 700
#include "arguments.h"

#include <errno.h>
#include <selene.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "nearest.h"

static const char *program;
static const struct option *options;

void arguments_are(const char *name, const struct option *table) {
    program = name;
    options = table;
    opterr = 0;
}

const char *program_name(void) {
    return program;
}

bool refuse(const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s: ", program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("; try --help\n", stderr);
    return false;
}

bool read_time(const char *name, int64_t least, int64_t greatest, int64_t *out) {
    int64_t value;
    if (!duration_read(optarg, strlen(optarg), &value))
        return refuse("--%s: found \"%s\"; allowed is " DURATION_ALLOWED, name, optarg);
    if (value < least || value > greatest)
        return refuse("--%s: found \"%s\"; allowed is from %s to %s", name, optarg,
                      duration_exact(least).text, duration_exact(greatest).text);
    *out = value;
    return true;
}

bool read_count(const char *name, int64_t least, int64_t greatest, int64_t *out) {
    char *end;
    long long value = strtoll(optarg, &end, 10);
    if (*optarg < '0' || *optarg > '9' || *end || value < least || value > greatest)
        return refuse("--%s: found \"%s\"; allowed is a number from %lld to %lld", name, optarg,
                      (long long)least, (long long)greatest);
    *out = value;
    return true;
}

bool read_profile(int32_t *out) {
    for (int32_t profile = SELENE_PROFILE_OPEN; profile <= SELENE_PROFILE_STRICT; profile++) {
        if (strcmp(optarg, selene_name(SELENE_NAMES_PROFILE, profile)) != 0) continue;
        *out = profile;
        return true;
    }
    return refuse("--profile: found \"%s\"; allowed is open, apple, server or strict", optarg);
}

bool read_store(const char **out) {
    /* SQLite's name for none: here it would be a file. */
    if (*optarg == '\0' || strcmp(optarg, ":memory:") == 0)
        return refuse("--store: found \"%s\"; allowed is the name of a file", optarg);
    *out = optarg;
    return true;
}

/* The argument that was read last, as it was written. */
static const char *written(char **arguments) {
    return arguments[optarg == arguments[optind - 1] ? optind - 2 : optind - 1];
}

static bool refuse_option(const char *argument) {
    struct nearest nearest = nearest_to(argument + 2, strcspn(argument + 2, "="));
    for (const struct option *option = options; option->name; option++)
        nearest_try(&nearest, option->name);
    if (nearest.name)
        return refuse("%s: unknown option; did you mean --%s?", argument, nearest.name);
    return refuse("%s: unknown option", argument);
}

/* Refuses what is not an option, in words of our own. */
static bool refuse_unknown(int option, char **arguments) {
    const char *argument = arguments[optind - 1];
    if (option == ':') return refuse("%s: found nothing; allowed is a value", argument);
    if (optopt >= FIRST_OPTION) return refuse("%s: found a value; allowed is none", argument);
    if (optopt) return refuse("-%c: unknown option", optopt);
    return refuse_option(argument);
}

/* Today's abbreviation may be tomorrow's option. */
static bool is_whole(const char *argument, const char *name) {
    size_t length = strlen(name);
    if (strncmp(argument + 2, name, length) == 0 &&
        (argument[2 + length] == '\0' || argument[2 + length] == '='))
        return true;
    return refuse("%s: unknown option; --%s is one", argument, name);
}

int next_option(int count, char **arguments, const char **out_name) {
    int index = 0;
    int option = getopt_long(count, arguments, ":hv", options, &index);
    *out_name = options[index].name;
    if (option == '?' || option == ':') {
        refuse_unknown(option, arguments);
        return WRONG_OPTION;
    }
    if (option >= FIRST_OPTION && !is_whole(written(arguments), *out_name)) return WRONG_OPTION;
    return option;
}

bool write_out(void) {
    static bool told;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    if (!told)
        fprintf(stderr, "%s: the output cannot be written%s%s\n", program, errno ? ": " : "",
                errno ? strerror(errno) : "");
    told = true;
    return false;
}
