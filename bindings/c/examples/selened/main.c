/*
 * selened - has a store open, or is a worker of a fleet, and serves it to the processes of this machine
 *
 * A small host of the library that runs nothing itself: it opens the store, or joins the fleet, serves it on a Unix socket of
 * its own or on those that systemd hands over, tells systemd how it is, and ends with grace when it is asked to. manager.c
 * speaks with systemd, fleet.c with a fleet; this file is the order of events.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../selene-run/printable.h"
#include "fleet.h"
#include "manager.h"
#include "options.h"

/* Bytes of input that a task may have, as of both command lines. */
#define MOST_INPUT (1 << 20)
#define STATUS_EVERY (10 * SELENE_SECOND)
/* How soon it is told that a fleet is away, or there again. */
#define FLEET_EVERY SELENE_SECOND
/* What closing takes besides the time for what runs, as systemd is told. */
#define CLOSING (10 * SELENE_SECOND)

/* Whether the journal reads the standard error, line by line, with a level at the begin of each. */
static bool is_journal(void) {
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat found;
    return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(2, &found) == 0 &&
           found.st_dev == device && found.st_ino == inode;
}

/* What the library says, on any thread. */
static void tell(int32_t level, const char *text, void *context) {
    const struct options *options = context;
    const char *name = level == SELENE_LOG_ERROR     ? "error"
                       : level == SELENE_LOG_WARNING ? "warning"
                                                     : "info";
    if (level != SELENE_LOG_ERROR && level != SELENE_LOG_WARNING && !options->verbose) return;
    fprintf(stderr, "%sselened: %s: %s\n",
            !is_journal()                 ? ""
            : level == SELENE_LOG_ERROR   ? "<3>"
            : level == SELENE_LOG_WARNING ? "<4>"
                                          : "<6>",
            name, printable(text, -1).text);
}

/* ---- Signals ---- */

/* Blocked before any thread begins, and taken when there is time for them. What was ignored before stays so, as under nohup. */
static sigset_t take_signals(void) {
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t taken;
    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaddset(&taken, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &taken, NULL);
    signal(SIGPIPE, SIG_IGN);
    return taken;
}

/* From now on the next one ends the process; a terminal that goes away says so twice. */
static void let_signals_end(void) {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGQUIT);
    sigprocmask(SIG_UNBLOCK, &ending, NULL);
}

/* ---- Open ---- */

static int refused(const char *what) {
    fprintf(stderr, "selened: %s%s%s\n", what, *what ? ": " : "",
            printable(selene_error_last()->message.data, -1).text);
    return EXIT_REFUSED;
}

static int open_scheduler(const struct options *options, selene_scheduler *scheduler) {
    selene_options how = SELENE_INIT(selene_options);
    selene_profile profile = SELENE_INIT(selene_profile);
    selene_status status;
    /* Who enqueues decides how many tasks wait and how fast they are tried again. */
    how.max_pending_refresh = how.max_pending_processing = SELENE_UNLIMITED;
    how.minimum_backoff = SELENE_NONE;
    how.max_input_size = MOST_INPUT;
    /* A fleet keeps the tasks itself. */
    if (options->store) how.path = (selene_text){options->store, -1};
    status = selene_scheduler_open(&how, scheduler);
    if (status) refused("");
    if (status == SELENE_ERROR_STORE_LOCKED) return EXIT_LOCKED;
    if (status) return EXIT_REFUSED;
    if (options->profile < 0) return EXIT_DONE;
    profile.base = options->profile;
    return selene_governor_set_profile(*scheduler, &profile) ? refused("the profile") : EXIT_DONE;
}

/* The name of a socket that was handed over. */
static struct printable address_of(int descriptor) {
    struct sockaddr_un address = {.sun_family = AF_UNSPEC};
    socklen_t length = sizeof address;
    int64_t used;
    if (getsockname(descriptor, (void *)&address, &length) != 0 || address.sun_family != AF_UNIX)
        return printable("?", -1);
    used = (int64_t)length - (int64_t)offsetof(struct sockaddr_un, sun_path);
    if (used > 0 && address.sun_path[0] == '\0') address.sun_path[0] = '@';
    else used = (int64_t)strnlen(address.sun_path, used > 0 ? (size_t)used : 0);
    return printable(address.sun_path, used);
}

static struct printable what_is_served(const struct options *options) {
    char text[80];
    if (options->store) return printable(options->store, -1);
    snprintf(text, sizeof text, "fleet %s", options->schema ? options->schema : "selene");
    return printable(text, -1);
}

static int serve(const struct options *options, selene_scheduler scheduler, int handed) {
    selene_server_options how = SELENE_INIT(selene_server_options);
    selene_server server;
    selene_store_info *store = NULL;
    how.rules = options->rules;
    how.rule_count = options->rule_count;
    how.mode = (uint32_t)options->mode;
    how.max_clients = (uint32_t)options->max_clients;
    how.adopt = options->adopt == 0 ? SELENE_NONE : options->adopt;
    for (int i = 0; i < handed; i++) {
        how.flags = SELENE_SERVER_DESCRIPTOR;
        how.descriptor = FIRST_HANDED + i;
        if (selene_server_start(scheduler, &how, &server) == SELENE_OK) continue;
        refused(printable(handed_name(i), -1).text);
        return EXIT_SYSTEM;
    }
    for (int i = 0; i < handed; i++) {
        printf("serving %s on %s\n", what_is_served(options).text,
               address_of(FIRST_HANDED + i).text);
        close(FIRST_HANDED + i);
    }
    if (handed > 0) return EXIT_DONE;
    if (options->socket) how.path = (selene_text){options->socket, -1};
    if (selene_server_start(scheduler, &how, &server)) return refused("the socket");
    if (options->socket == NULL && selene_store_get(scheduler, &store)) return refused("the store");
    printf("serving %s on %s%s\n", what_is_served(options).text,
           options->socket ? printable(options->socket, -1).text
                           : printable(store->path.data, store->path.length).text,
           options->socket ? "" : "-sock");
    selene_free(store);
    return EXIT_DONE;
}

/* ---- Serve ---- */

/* Goes through the scheduler's locks and the server's: who hangs in one does not say that it lives. */
static void tell_how_it_is(selene_scheduler scheduler, bool is_watched) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_clients *clients = NULL;
    unsigned long long connected = 0, runs = 0;
    const char *fleet = fleet_standing(scheduler);
    if (selene_scheduler_get(scheduler, &info) || selene_client_list(scheduler, &clients)) {
        tell_manager("STATUS=%s", printable(selene_error_last()->message.data, -1).text);
        return;
    }
    connected = clients->count;
    for (uint64_t i = 0; i < clients->count; i++)
        runs += clients->clients[i].runs;
    selene_free(clients);
    tell_manager("%sSTATUS=%llu connected, %llu running%s%s", is_watched ? "WATCHDOG=1\n" : "",
                 connected, runs, *fleet ? "; " : "", fleet);
}

/* Waits for a signal, and tells the manager meanwhile how it is. */
static int wait_for_signal(const struct options *options, selene_scheduler scheduler,
                           const sigset_t *taken) {
    const int64_t watchdog = watchdog_period();
    int64_t every = STATUS_EVERY, pause, passed = 0;
    if (watchdog > 0 && watchdog / 2 < every) every = watchdog / 2;
    pause = options->fleet && FLEET_EVERY < every ? FLEET_EVERY : every;
    for (;;) {
        const struct timespec limit = {(time_t)(pause / SELENE_SECOND),
                                       (long)(pause % SELENE_SECOND)};
        int number = has_manager() ? sigtimedwait(taken, NULL, &limit) : sigwaitinfo(taken, NULL);
        if (number > 0) return number;
        if (errno != EAGAIN) continue;
        passed += pause;
        if (passed < every && !fleet_has_changed(scheduler)) continue;
        tell_how_it_is(scheduler, watchdog > 0);
        passed = 0;
    }
}

static int serve_until_signal(const struct options *options, selene_scheduler scheduler,
                              const sigset_t *taken) {
    int number;
    tell_manager("READY=1");
    tell_how_it_is(scheduler, false);
    number = wait_for_signal(options, scheduler, taken);
    tell_manager("STOPPING=1\nSTATUS=what runs may end for %lld s\nEXTEND_TIMEOUT_USEC=%lld",
                 (long long)(options->drain / SELENE_SECOND),
                 (long long)((options->drain + CLOSING) / SELENE_MICROSECOND));
    let_signals_end();
    return number;
}

int main(int count, char **arguments) {
    static struct options options;
    const sigset_t taken = take_signals();
    selene_scheduler scheduler = 0;
    int exit_code, handed, number = 0;
    if (!options_read(&options, count, arguments, &exit_code)) return exit_code;
    handed = handed_over();
    if (handed < 0) return EXIT_SYSTEM;
    if (handed > 0 && options.socket) {
        refuse("--socket: systemd has handed over %s; allowed is one of both", handed_name(0));
        return EXIT_USAGE;
    }
    selene_log_set(tell, &options, NULL);
    if (handed == 0 && options.fleet && options.socket == NULL) {
        refuse("found no --socket; with --fleet it is needed, unless systemd hands one over");
        return EXIT_USAGE;
    }
    exit_code = open_scheduler(&options, &scheduler);
    if (exit_code == EXIT_DONE && options.fleet) exit_code = fleet_join(&options, scheduler);
    if (exit_code == EXIT_DONE) exit_code = serve(&options, scheduler, handed);
    if (exit_code == EXIT_DONE && !write_out()) exit_code = EXIT_SYSTEM;
    if (exit_code == EXIT_DONE) number = serve_until_signal(&options, scheduler, &taken);
    if (number) fleet_leave(&options, scheduler);
    if (selene_scheduler_close(scheduler, options.fleet ? 0 : options.drain) &&
        exit_code == EXIT_DONE)
        exit_code = refused("the store was not closed");
    if (number && number != SIGTERM && number != SIGINT && exit_code == EXIT_DONE)
        exit_code = EXIT_SIGNALLED + number;
    return exit_code;
}
