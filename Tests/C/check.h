/*
 * check.h - the few words that every C test is written with
 *
 * CHECK, CHECK_STATUS and the other checks print file, line, what was expected and what was found, and end the
 * process: the first thing that differs is the one that matters. They may be used on any thread.
 *
 * run_test runs one test in a forked child of its own with an alarm, so that a crash or a hang is one failed test.
 * The parent must not have opened a scheduler: handles do not survive fork(). A WebAssembly module has no processes: there
 * a test runs in that of all, and the first that fails ends it.
 *
 *     int main(int argc, char **argv) {
 *         check_begin(argc, argv);
 *         run_test("C7 a run may still complete exactly at the deadline", test_deadline);
 *         return check_end();
 *     }
 *
 * An argument of the program runs only the tests whose name contains it. Environment: SELENE_TEST_FOLDER, where stores are
 * that need no disk (/tmp); SELENE_TEST_ALARM, seconds for one test (120); SELENE_TEST_ROUNDS, how often something is done whose
 * number says nothing, for valgrind and sanitizers.
 */
#ifndef CHECK_H
#define CHECK_H

#include <selene.h>

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifndef __wasi__
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#endif

#define CHECK_UNUSED __attribute__((unused))

/* ---- checks ------------------------------------------------------------- */

/** The test that runs in this process and not in one of its own. */
CHECK_UNUSED static const char *check_running;

CHECK_UNUSED __attribute__((noreturn)) static void check_fail(void) {
    if (check_running) printf("FAILED %s\n", check_running);
    fflush(stdout);
    fflush(stderr);
    _exit(1);
}

/** The condition must hold. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: does not hold\n", __FILE__, __LINE__, #condition);         \
            check_fail();                                                                          \
        }                                                                                          \
    } while (0)

/** The call must answer exactly this status. */
#define CHECK_STATUS(expected, call) check_status((expected), (call), #call, __FILE__, __LINE__)

CHECK_UNUSED static void check_status(selene_status expected, selene_status got, const char *call,
                                      const char *file, int line) {
    if (got == expected) return;
    fprintf(stderr, "%s:%d: %s: expected %s, got %s (%" PRId32 ")%s%s\n", file, line, call,
            selene_name(SELENE_NAMES_STATUS, expected), selene_name(SELENE_NAMES_STATUS, got), got,
            got ? ": " : "", got ? selene_error_last()->message.data : "");
    check_fail();
}

/** The call must answer OK. */
#define CHECK_OK(call) CHECK_STATUS(SELENE_OK, call)

/** Two integers must be equal; anything beyond int64_t is compared as its bits. */
#define CHECK_INT(expected, value)                                                                 \
    check_int((int64_t)(expected), (int64_t)(value), #value, __FILE__, __LINE__)

CHECK_UNUSED static void check_int(int64_t expected, int64_t got, const char *what,
                                   const char *file, int line) {
    if (got == expected) return;
    fprintf(stderr, "%s:%d: %s: expected %" PRId64 ", got %" PRId64 "\n", file, line, what,
            expected, got);
    check_fail();
}

/** A number for a field whose 0 is a default that is not 0. */
CHECK_UNUSED static int64_t none_of(int64_t number) {
    return number == 0 ? SELENE_NONE : number;
}

/** An integer must lie between two others, both included. */
#define CHECK_BETWEEN(low, value, high)                                                            \
    check_between((int64_t)(low), (int64_t)(value), (int64_t)(high), #value, __FILE__, __LINE__)

CHECK_UNUSED static void check_between(int64_t low, int64_t got, int64_t high, const char *what,
                                       const char *file, int line) {
    if (low <= got && got <= high) return;
    fprintf(stderr, "%s:%d: %s: expected %" PRId64 " to %" PRId64 ", got %" PRId64 "\n", file, line,
            what, low, high, got);
    check_fail();
}

/** Two NUL-terminated texts must be equal. */
#define CHECK_STRING(expected, value) check_string((expected), (value), #value, __FILE__, __LINE__)

CHECK_UNUSED static void check_string(const char *expected, const char *got, const char *what,
                                      const char *file, int line) {
    if (got && strcmp(got, expected) == 0) return;
    fprintf(stderr, "%s:%d: %s: expected \"%s\", got \"%s\"\n", file, line, what, expected,
            got ? got : "(NULL)");
    check_fail();
}

/** A text that came out of the library must have these characters, and the NUL behind them. */
#define CHECK_TEXT(expected, value) check_text((expected), (value), #value, __FILE__, __LINE__)

CHECK_UNUSED static void check_text(const char *expected, selene_text got, const char *what,
                                    const char *file, int line) {
    if (got.data && got.length == (int64_t)strlen(expected) &&
        memcmp(got.data, expected, strlen(expected) + 1) == 0)
        return;
    fprintf(stderr, "%s:%d: %s: expected \"%s\", got \"%s\" (length %" PRId64 ")\n", file, line,
            what, expected, got.data ? got.data : "(NULL)", got.length);
    check_fail();
}

/* ---- time --------------------------------------------------------------- */

/** Nanoseconds of a clock that only goes forward. */
CHECK_UNUSED static int64_t check_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/** Sleeps so many nanoseconds, signals or not. */
CHECK_UNUSED static void check_sleep(int64_t duration) {
    struct timespec rest = {(time_t)(duration / INT64_C(1000000000)),
                            (long)(duration % INT64_C(1000000000))};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
}

CHECK_UNUSED static int64_t check_environment(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? (int64_t)strtoll(text, NULL, 10) : otherwise;
}

/** As many tasks as there usually are; fewer where a library for tests looks at all of them in each call. */
CHECK_UNUSED static int check_tasks(int usual, int fewer) {
    return check_environment("SELENE_TEST_ROUNDS", 0) > 0 ? fewer : usual;
}

/** After this a test has waited in vain. */
#define PATIENCE (30 * SELENE_SECOND)

/** Waits for what another thread makes true. */
#define WAIT_UNTIL(condition)                                                                      \
    do {                                                                                           \
        const int64_t limit_ = check_now() + PATIENCE;                                             \
        while (!(condition)) {                                                                     \
            if (check_now() > limit_) {                                                            \
                fprintf(stderr, "%s:%d: waited in vain for %s\n", __FILE__, __LINE__, #condition); \
                check_fail();                                                                      \
            }                                                                                      \
            check_sleep(SELENE_MILLISECOND);                                                       \
        }                                                                                          \
    } while (0)

/* ---- files -------------------------------------------------------------- */

#ifndef __wasi__
/** Where stores of tests are that need no disk: SELENE_TEST_FOLDER, which may be in memory, else /tmp. */
CHECK_UNUSED static const char *check_folder(void) {
    const char *folder = getenv("SELENE_TEST_FOLDER");
    return folder && *folder ? folder : "/tmp";
}

/** Makes a new folder there, which the test removes. */
CHECK_UNUSED static void check_make_folder(char *path, size_t size, const char *name) {
    CHECK(snprintf(path, size, "%s/selene-%s.XXXXXX", check_folder(), name) < (int)size);
    CHECK(mkdtemp(path) != NULL);
}
#endif

/* ---- tests -------------------------------------------------------------- */

CHECK_UNUSED static int check_passed, check_failed, check_skipped;
CHECK_UNUSED static const char *check_filter;

/** Call first in main. */
CHECK_UNUSED static void check_begin(int argc, char **argv) {
    check_filter = argc > 1 ? argv[1] : NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/** Notes and prints how a test ended. */
CHECK_UNUSED static void check_result(const char *name, int passed, const char *why) {
    if (passed) check_passed++;
    else check_failed++;
    printf("%s %s%s%s%s\n", passed ? "ok" : "FAILED", name, why ? " (" : "", why ? why : "",
           why ? ")" : "");
    fflush(stdout);
}

#ifdef __wasi__
CHECK_UNUSED static void run_test(const char *name, void (*test)(void)) {
    if (check_filter && !strstr(name, check_filter)) return;
    check_running = name;
    test();
    check_running = NULL;
    check_result(name, 1, NULL);
}
#else
struct check_body {
    void (*body)(void);
    sigset_t mask;
    int returned;
};

CHECK_UNUSED static void *check_perform(void *context) {
    struct check_body *own = context;
    CHECK(pthread_sigmask(SIG_SETMASK, &own->mask, NULL) == 0);
    own->body();
    own->returned = 1;
    return NULL;
}

/**
 * Runs a body on a thread of its own and waits for its end; meanwhile signals go to that thread, not to the caller's.
 * A child of fork() works so: the runtime of ordinary Swift, with which the sanitizers' library is built, knows its
 * threads by numbers that it remembers, and after fork() the only thread has another. Two threads that then meet at
 * one of the runtime's locks wait for ever. (What is shipped has no such runtime.)
 */
CHECK_UNUSED static void check_on_thread(void (*body)(void)) {
    struct check_body own = {.body = body};
    sigset_t all;
    pthread_t thread;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &own.mask) == 0);
    CHECK(pthread_create(&thread, NULL, check_perform, &own) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(own.returned);
    CHECK(pthread_sigmask(SIG_SETMASK, &own.mask, NULL) == 0);
}

/** Starts a test in a child process of its own, beside those that follow; 0 if it is not to run. */
CHECK_UNUSED static pid_t begin_test(const char *name, void (*test)(void)) {
    pid_t child;
    if (check_filter && !strstr(name, check_filter)) return 0;
    fflush(stdout);
    fflush(stderr);
    child = fork();
    if (child == 0) {
        alarm((unsigned)check_environment("SELENE_TEST_ALARM", 120));
        check_on_thread(test);
        exit(0);
    }
    return child;
}

/** Waits for the end of a test that was begun; returning is passing. */
CHECK_UNUSED static void await_test(const char *name, pid_t child) {
    char why[64];
    int status = 0;
    if (child == 0) return;
    if (child < 0) {
        check_result(name, 0, "fork failed");
        return;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        check_result(name, 1, NULL);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        check_result(name, 0, "hung");
    } else if (WIFSIGNALED(status)) {
        snprintf(why, sizeof why, "signal %d", WTERMSIG(status));
        check_result(name, 0, why);
    } else {
        snprintf(why, sizeof why, "exit %d", WEXITSTATUS(status));
        check_result(name, 0, why);
    }
}

/** Runs a test in a child process of its own; returning is passing. */
CHECK_UNUSED static void run_test(const char *name, void (*test)(void)) {
    await_test(name, begin_test(name, test));
}
#endif

/**
 * Notes that a test did not run here; it counts as skipped. Where CI is set, a machine is meant to run all of them: there
 * only what the machine refuses excuses it, and what is missing on it is a failure.
 */
CHECK_UNUSED static void skip_test(const char *name, int is_refused, const char *why) {
    const char *ci = getenv("CI");
    if (check_filter && !strstr(name, check_filter)) return;
    if (!is_refused && ci && *ci) {
        check_result(name, 0, why);
        return;
    }
    check_skipped++;
    printf("skipped %s (%s)\n", name, why);
}

/** Prints the totals; what main returns. No test at all is a failure. */
CHECK_UNUSED static int check_end(void) {
    if (check_skipped) printf("%d skipped\n", check_skipped);
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed || !(check_passed + check_skipped) ? 1 : 0;
}

#endif /* CHECK_H */
