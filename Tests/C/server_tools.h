/*
 * server_tools.h - servers, connections and frames: the words that the tests of serving share
 *
 * A connection to a scheduler of the same process goes over a socket as any other does, so owner and client are two
 * processes only where one of them ends, stops, or is another user.
 */
#ifndef SERVER_TOOLS_H
#define SERVER_TOOLS_H

#include "store_tools.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* ---- small words ------------------------------------------------------------------ */

CHECK_UNUSED static selene_text text_of(const char *text) {
    return (selene_text){text, (int64_t)strlen(text)};
}

CHECK_UNUSED static selene_server serve_with(selene_scheduler scheduler,
                                             selene_server_options options) {
    selene_server server = 0;
    CHECK_OK(selene_server_start(scheduler, &options, &server));
    CHECK(server != 0);
    return server;
}

CHECK_UNUSED static selene_server serve(selene_scheduler scheduler) {
    return serve_with(scheduler, (selene_server_options)SELENE_INIT(selene_server_options));
}

CHECK_UNUSED static selene_status try_connect(const char *file, int64_t wait,
                                              selene_scheduler *out) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    options.path = text_of(file);
    options.wait = wait;
    return selene_scheduler_connect(&options, out);
}

CHECK_UNUSED static selene_scheduler connect_to(const char *file) {
    selene_scheduler connection = 0;
    CHECK_OK(try_connect(file, 0, &connection));
    CHECK(connection != 0);
    return connection;
}

/** A store with the system's clock. */
CHECK_UNUSED static selene_scheduler open_here(const char *file) {
    selene_options options = store_options(file);
    options.clock = NULL;
    return open_with(options);
}

/** The same on a clock that the test tells. */
CHECK_UNUSED static selene_scheduler open_told_here(const char *file) {
    selene_options options = store_options(file);
    options.clock = NULL;
    options.flags |= SELENE_OPTIONS_SET_CLOCK;
    options.clock_start = 500000 * SELENE_HOUR;
    return open_with(options);
}

/** A connection that is one of a pool. */
CHECK_UNUSED static selene_scheduler member_of(const char *file, const char *pool) {
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    options.path = text_of(file);
    options.pool = text_of(pool);
    CHECK_OK(selene_scheduler_connect(&options, &connection));
    return connection;
}

/** A handler whose runs are pulled. */
CHECK_UNUSED static selene_status offer(selene_scheduler scheduler, const char *name) {
    return selene_handler_register(scheduler, name, -1, NULL, NULL, NULL, NULL);
}

CHECK_UNUSED static int32_t state_of(selene_scheduler scheduler, const char *id) {
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(scheduler, id, -1, 0, &info));
    int32_t state = info->state;
    selene_free(info);
    return state;
}

CHECK_UNUSED static void add_once(selene_scheduler scheduler, const char *id) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

CHECK_UNUSED static selene_server_info info_of_server(selene_server server) {
    selene_server_info info = SELENE_INIT(selene_server_info);
    CHECK_OK(selene_server_get(server, &info));
    return info;
}

#define DETAIL(word)                                                                               \
    do {                                                                                           \
        if (!strstr(selene_error_last()->message.data, word))                                      \
            fprintf(stderr, "%s:%d: \"%s\" has no \"%s\"\n", __FILE__, __LINE__,                   \
                    selene_error_last()->message.data, word);                                      \
        CHECK(strstr(selene_error_last()->message.data, word) != NULL);                            \
    } while (0)

/* ---- an owner in a process of its own ------------------------------------------------ */

/** A process that becomes the owner when it is told to: its first word is read from one pipe, its own goes into the other. */
struct owner {
    pid_t pid;
    int go[2], ready[2];
};

/** A process that will open the store, serve it, and sleep until it is killed; made while no other thread is in a call. */
CHECK_UNUSED static struct owner fork_owner(const char *file) {
    struct owner owner;
    char byte;
    CHECK(pipe(owner.go) == 0 && pipe(owner.ready) == 0);
    owner.pid = fork();
    CHECK(owner.pid >= 0);
    if (owner.pid == 0) {
        close(owner.go[1]);
        if (read(owner.go[0], &byte, 1) != 1) _exit(1);
        serve(open_here(file));
        CHECK(write(owner.ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    close(owner.go[0]);
    close(owner.ready[1]);
    return owner;
}

/** Lets it become the owner; its process. */
CHECK_UNUSED static pid_t let_own(struct owner owner) {
    char byte;
    CHECK(write(owner.go[1], "x", 1) == 1);
    CHECK(read(owner.ready[0], &byte, 1) == 1);
    close(owner.go[1]);
    close(owner.ready[0]);
    return owner.pid;
}

/** Opens the store, serves it, and sleeps until it is killed. */
CHECK_UNUSED static pid_t start_owner(const char *file) {
    return let_own(fork_owner(file));
}

CHECK_UNUSED static void stop_owner(pid_t owner) {
    int status;
    CHECK(kill(owner, SIGSTOP) == 0);
    CHECK(waitpid(owner, &status, WUNTRACED) == owner && WIFSTOPPED(status));
}

CHECK_UNUSED static void end_owner(pid_t owner, int signal) {
    int status;
    CHECK(kill(owner, signal) == 0);
    CHECK(waitpid(owner, &status, 0) == owner);
}

/* ---- frames by hand -------------------------------------------------------------------- */

struct head {
    uint32_t length;
    uint16_t operation, status;
    uint64_t request;
};

struct hello {
    struct head head;
    char magic[8];
    uint32_t lowest, highest, library, reserved;
};

CHECK_UNUSED static int raw_socket(const char *file) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {(time_t)(PATIENCE / S), 0};
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(made >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s-sock", file);
    CHECK(setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    while (connect(made, (const void *)&address, sizeof address) != 0)
        CHECK(errno == EAGAIN || errno == EINTR);
    return made;
}

/** Reads one answer; its status, or −1 when the connection has ended. */
CHECK_UNUSED static int raw_answer(int from, char *body, size_t room) {
    struct head head;
    size_t have = 0;
    if (recv(from, &head, sizeof head, MSG_WAITALL) != sizeof head) return -1;
    CHECK(head.length - sizeof head <= room);
    while (have < head.length - sizeof head) {
        ssize_t count = recv(from, body + have, head.length - sizeof head - have, 0);
        if (count <= 0) return -1;
        have += (size_t)count;
    }
    return head.status;
}

CHECK_UNUSED static struct hello hello_of(uint32_t lowest, uint32_t highest) {
    return (struct hello){{sizeof(struct hello), 0, 0, 1},
                          {'S', 'E', 'L', 'E', 'N', 'E', 0, 1},
                          lowest,
                          highest,
                          99001002,
                          0};
}

CHECK_UNUSED static int raw_client(const char *file) {
    static char body[65536];
    struct hello hello = hello_of(2, 2);
    int made = raw_socket(file);
    CHECK(send(made, &hello, sizeof hello, 0) == sizeof hello);
    CHECK_INT(0, raw_answer(made, body, sizeof body));
    return made;
}

/** The frame of a registration, whose length it answers. */
CHECK_UNUSED static size_t raw_registration(char *frame, const char *id) {
    selene_task task = task_of(id);
    uint64_t sizes[2] = {sizeof task, 0};
    struct head head = {0, 16, 0, 7};
    size_t at = sizeof head + sizeof sizes + sizeof task, length = strlen(id) + 1;
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.id = (selene_text){(const char *)(uintptr_t)1, (int64_t)strlen(id)};
    task.handler = (selene_text){NULL, 0};
    memset(frame, 0, 512);
    memcpy(frame + at, id, length);
    sizes[1] = (length + 7) & ~(size_t)7;
    at += sizes[1];
    memcpy(frame + sizeof head, sizes, sizeof sizes);
    memcpy(frame + sizeof head + sizeof sizes, &task, sizeof task);
    /* A disposition is not wanted. */
    memset(frame + at, 0, 8);
    head.length = (uint32_t)(at + 8);
    memcpy(frame, &head, sizeof head);
    return head.length;
}

#endif
