/*
 * store_messages.h - what a child host tells the driver that will end it, through a pipe
 */
#ifndef STORE_MESSAGES_H
#define STORE_MESSAGES_H

#include "store_twin.h"

#include <poll.h>

enum message_kind {
    /** It has opened; value is the number of this life. */
    MESSAGE_OPENED = 1,
    /** It is about to make a call. */
    MESSAGE_INTENT,
    /** The call has answered. */
    MESSAGE_ANSWER,
    /** It has made all its calls and will not make another; value is how many changes and syncs the shim saw,
     *  the deed's value which of them was the last cut before it closed. */
    MESSAGE_DONE,
    /** It could not open; value is the status. */
    MESSAGE_REFUSED
};

/** Written at once, so it comes whole or not at all. */
struct message {
    int32_t kind;
    int32_t unused;
    uint64_t value;
    struct deed deed;
};

/** How a child is started: the words of its command line, in this order, behind its name. */
enum {
    CHILD_FILE = 1,
    CHILD_SEED,
    CHILD_SCRIPT,
    CHILD_CLOCK,
    CHILD_RELAXED,
    CHILD_LARGE,
    CHILD_CALLS,
    CHILD_BACKUPS,
    CHILD_PIPE,
    CHILD_WORDS
};

/* ---- the driver's side ---------------------------------------------------- */

/** How long a child may take to open, or to make all its calls: the alarm of the test comes before it. */
#define CHILD_PATIENCE SELENE_HOUR

/** A child host that runs. */
struct child {
    pid_t process;
    int pipe;
    int is_open, is_done;
    /** Changes and syncs, and the last cut of a file among them. */
    uint64_t changes, cut;
    selene_status refused;
};

/** Starts a child on a file; shim: words for the shim, or NULL for none. */
CHECK_UNUSED static struct child child_start(const char *file, const struct life *life,
                                             uint64_t calls, const char *backups,
                                             const char *shim) {
    struct child child = {0};
    int ends[2];
    CHECK(pipe(ends) == 0);
    (void)fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
    fflush(stdout);
    fflush(stderr);
    child.process = fork();
    CHECK(child.process >= 0);
    if (child.process == 0) {
        char words[CHILD_WORDS][32];
        char *arguments[CHILD_WORDS + 1] = {"store_child", (char *)file};
        for (int i = CHILD_SEED; i < CHILD_WORDS; i++)
            arguments[i] = words[i];
        snprintf(words[CHILD_SEED], 32, "%" PRIu64, life->character.seed);
        snprintf(words[CHILD_SCRIPT], 32, "%" PRIu64, life->character.script);
        snprintf(words[CHILD_CLOCK], 32, "%" PRId64, life->clock);
        snprintf(words[CHILD_RELAXED], 32, "%d", life->character.relaxed);
        snprintf(words[CHILD_LARGE], 32, "%d", life->character.large);
        snprintf(words[CHILD_CALLS], 32, "%" PRIu64, calls);
        snprintf(words[CHILD_PIPE], 32, "%d", ends[1]);
        arguments[CHILD_BACKUPS] = backups ? (char *)backups : "";
        close(ends[0]);
        if (shim) setenv("SELENE_SHIM", shim, 1);
        alarm((unsigned)check_environment("SELENE_TEST_ALARM", 60));
        become("store_child", arguments, shim != NULL);
        perror(beside("store_child"));
        _exit(1);
    }
    close(ends[1]);
    child.pipe = ends[0];
    return child;
}

/** Takes what has been told until an instant of check_now, or until there is nothing more to come. */
CHECK_UNUSED static void child_listen(struct child *child, struct life *life, int64_t until,
                                      int only_open) {
    for (;;) {
        struct message message;
        struct pollfd ready = {child->pipe, POLLIN, 0};
        int64_t left = until - check_now();
        struct timespec wait = {left / S, left % S};
        ssize_t size;
        if (left <= 0) wait = (struct timespec){0, 0};
        if (ppoll(&ready, 1, &wait, NULL) <= 0) return;
        size = read(child->pipe, &message, sizeof message);
        if (size == 0) return;
        CHECK_INT(sizeof message, size);
        switch (message.kind) {
        case MESSAGE_OPENED:
            child->is_open = 1;
            life->number = message.value;
            break;
        case MESSAGE_INTENT:
            life->begun = message.value + 1;
            break;
        case MESSAGE_ANSWER:
            CHECK_INT(life->answered, message.value);
            life_add(life, message.deed);
            break;
        case MESSAGE_DONE:
            child->is_done = 1;
            child->changes = message.value;
            child->cut = message.deed.value;
            break;
        case MESSAGE_REFUSED:
            child->refused = (selene_status)message.value;
            break;
        default:
            CHECK(!"a message");
        }
        if ((only_open && child->is_open) || child->is_done) return;
    }
}

/** Waits for the end of a child, and for the rest of what it told. Answers its status as wait does. */
CHECK_UNUSED static int child_end(struct child *child, struct life *life) {
    int status = 0;
    while (waitpid(child->process, &status, 0) < 0)
        CHECK(errno == EINTR);
    child_listen(child, life, check_now() + 10 * S, 0);
    close(child->pipe);
    return status;
}

#endif /* STORE_MESSAGES_H */
