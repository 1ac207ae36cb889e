/*
 * server_door.h - a door between clients and an owner: a socket that a program of tests listens on, before the owner's
 */
#ifndef SERVER_DOOR_H
#define SERVER_DOOR_H

#include "check.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
    char folder[32];
    struct sockaddr_un served, here;
    int listener;
    atomic_int ends;
    pthread_t thread;
} door;

/** Serves an owner behind the door, at which a function stands in a thread of its own until door.ends. */
static void open_door(selene_scheduler owner, void *(*stand)(void *)) {
    selene_server_options terms = SELENE_INIT(selene_server_options);
    selene_server server = 0;
    memset(&door, 0, sizeof door);
    door.served.sun_family = door.here.sun_family = AF_UNIX;
    strcpy(door.folder, "/tmp/door-XXXXXX");
    CHECK(mkdtemp(door.folder) != NULL);
    snprintf(door.served.sun_path, 64, "%s/served-sock", door.folder);
    snprintf(door.here.sun_path, 64, "%s/here-sock", door.folder);
    terms.path = text_of(door.served.sun_path);
    CHECK_OK(selene_server_start(owner, &terms, &server));
    door.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(door.listener >= 0);
    CHECK(bind(door.listener, (const void *)&door.here, sizeof door.here) == 0);
    CHECK(listen(door.listener, 8) == 0);
    CHECK(pthread_create(&door.thread, NULL, stand, NULL) == 0);
}

/** Closes it with its owner. */
static void close_door(selene_scheduler owner) {
    atomic_store(&door.ends, 1);
    CHECK(pthread_join(door.thread, NULL) == 0);
    close(door.listener);
    CHECK_OK(selene_scheduler_close(owner, 0));
    CHECK(unlink(door.here.sun_path) == 0 && rmdir(door.folder) == 0);
}

/** A connection through it. */
static selene_scheduler connect_here(void) {
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    to.path = text_of(door.here.sun_path);
    CHECK_OK(selene_scheduler_connect(&to, &connection));
    return connection;
}

#endif
