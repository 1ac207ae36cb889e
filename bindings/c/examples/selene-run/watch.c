#define _XOPEN_SOURCE 700
#include "watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/stat.h>

#include "printable.h"
#include "show.h"
#include "timestamp.h"

enum { MOST_WAITING = 10000 };

static volatile sig_atomic_t caught;

static void note(int number) {
    caught = number;
}

/* Signals come only while it waits, so that none is missed. */
static void take_signals(sigset_t *waiting) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        /* nohup and the like mean it. */
        if (sigaction(numbers[i], NULL, &before) || before.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &action, NULL);
        sigaddset(&blocked, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &blocked, waiting);
}

static const char *detail_of(const selene_event *event) {
    switch (event->type) {
    case SELENE_EVENT_REGISTERED:
        return selene_name(SELENE_NAMES_DISPOSITION, event->detail);
    case SELENE_EVENT_COMPLETED:
    case SELENE_EVENT_CYCLE_ENDED:
        return selene_name(SELENE_NAMES_OUTCOME, event->detail);
    case SELENE_EVENT_STOPPED:
        return selene_name(SELENE_NAMES_STOP, event->detail);
    case SELENE_EVENT_REFUSED:
        return event->detail ? selene_name(SELENE_NAMES_FACTOR, event->detail) : "";
    case SELENE_EVENT_TROUBLE:
        return selene_name(SELENE_NAMES_TROUBLE, event->detail);
    default:
        return "";
    }
}

static void print_event(const selene_event *event) {
    const char *detail = detail_of(event);
    const bool is_counted = event->progress_done > 0 ||
                            (event->type == SELENE_EVENT_PROGRESS && event->progress_total > 0);
    printf("%s  %-11s", timestamp_exact(event->time).text,
           selene_name(SELENE_NAMES_EVENT, event->type));
    if (event->id.length > 0) printf("  %s", printable(event->id.data, event->id.length).text);
    else
        for (uint32_t kind = 1, first = 1; kind <= SELENE_KIND_PROCESSING; kind <<= 1) {
            if (!(event->kinds & kind)) continue;
            printf("%s%s", first ? "  " : ", ", selene_name(SELENE_NAMES_KIND, (int32_t)kind));
            first = 0;
        }
    if (*detail) printf("  %s", detail);
    if (event->type == SELENE_EVENT_PROGRESS && event->progress_total > 0)
        printf("  %lld/%lld", (long long)event->progress_done, (long long)event->progress_total);
    else if (event->progress_done > 0) printf("  %lld", (long long)event->progress_done);
    if (event->message.length > 0)
        printf("%s%s", *detail || is_counted ? ": " : "  ",
               printable(event->message.data, event->message.length).text);
    else if (event->type == SELENE_EVENT_TROUBLE && event->status == SELENE_OK) printf(" is over");
    putchar('\n');
}

/* Everything that waits. */
static selene_status print_events(selene_scheduler scheduler) {
    for (;;) {
        selene_event event = SELENE_INIT(selene_event);
        int32_t found = 0;
        uint64_t lost = 0;
        selene_status status = selene_events_next(scheduler, 0, &event, &found, &lost);
        if (status) return status;
        if (lost > 0) printf("%llu events were lost\n", (unsigned long long)lost);
        if (!found) return SELENE_OK;
        print_event(&event);
    }
}

static int failed(void) {
    fprintf(stderr, "selene-run: %s\n", printable(selene_error_last()->message.data, -1).text);
    return EXIT_REFUSED;
}

void believe_owner_of(selene_connect_options *how, const char *path) {
    struct stat found;
    how->path = (selene_text){path, -1};
    if (stat(path, &found) == 0) how->server_user = found.st_uid;
}

int watch_store(const struct options *options) {
    selene_connect_options how = SELENE_INIT(selene_connect_options);
    selene_scheduler scheduler = 0;
    int exit_code = EXIT_DONE, descriptor = -1;
    sigset_t waiting;
    believe_owner_of(&how, options->store);
    if (selene_scheduler_connect(&how, &scheduler)) return failed();
    take_signals(&waiting);
    if (selene_events_open(scheduler, MOST_WAITING, &descriptor)) exit_code = failed();
    else printf("watching %s\n", printable(options->store, -1).text);
    while (exit_code == EXIT_DONE) {
        fd_set readable;
        if (print_events(scheduler)) exit_code = failed();
        if (!write_out()) exit_code = EXIT_SYSTEM;
        if (exit_code != EXIT_DONE) break;
        FD_ZERO(&readable);
        FD_SET(descriptor, &readable);
        pselect(descriptor + 1, &readable, NULL, NULL, NULL, &waiting);
        if (caught) exit_code = EXIT_SIGNALLED + caught;
    }
    selene_scheduler_close(scheduler, 0);
    return exit_code;
}
