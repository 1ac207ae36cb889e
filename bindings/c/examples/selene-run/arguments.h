/* What the command lines of selene-run and selened have in common: how options are read and refused, exit codes. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/** Exit codes, as --help tells them. */
enum {
    EXIT_DONE = 0,
    EXIT_TASK_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_WORKLOAD = 3,
    EXIT_REFUSED = 4,
    EXIT_SYSTEM = 5,
    EXIT_LOCKED = 6,
    /** Plus the number of the signal. */
    EXIT_SIGNALLED = 128
};

/** Numbers of long options begin here; those of short ones are their letters. */
enum { FIRST_OPTION = 256, NO_OPTION = -1, WRONG_OPTION = '?' };

/** How the program is called in messages, and its options; both must stay. */
void arguments_are(const char *program, const struct option *table);

/** Its name. */
const char *program_name(void);

/**
 * The next option, whose value is in optarg.
 *
 * @param out_name  that of a long one
 * @return its number; NO_OPTION when there is no more; WRONG_OPTION, and it was said on stderr what is wrong
 */
int next_option(int count, char **arguments, const char **out_name);

/** Says on stderr what is wrong; false. */
bool refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Read the value of the option that was found last; false if it was refused. */
bool read_time(const char *name, int64_t least, int64_t greatest, int64_t *out);
bool read_count(const char *name, int64_t least, int64_t greatest, int64_t *out);
bool read_profile(int32_t *out);
bool read_store(const char **out);

/** Brings what was printed to the outside; if that fails, or has failed, says why on standard error, once. */
bool write_out(void);

#endif
