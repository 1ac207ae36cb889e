/*
 * own_file.h - a store of one test alone, in a folder that the test makes and removes
 */
#ifndef OWN_FILE_H
#define OWN_FILE_H

#include "cycles.h"

static char folder[64], file[80];

/** Makes the folder; `file` is where its store may be. */
static void new_file(void) {
    check_make_folder(folder, sizeof folder, "own");
    snprintf(file, sizeof file, "%s/store", folder);
}

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK_INT(0, system(command));
}

/** A scheduler in which any number of tasks may wait, and whose handler is "work"; NULL: in memory. */
CHECK_UNUSED static selene_scheduler open_for_work(const char *path) {
    selene_options options = SELENE_INIT(selene_options);
    options.max_pending_refresh = options.max_pending_processing = SELENE_UNLIMITED;
    if (path) options.path = (selene_text){path, -1};
    selene_scheduler scheduler = open_virtual(options);
    CHECK_OK(selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL));
    return scheduler;
}

/** Lets a process of its own do something that ends it. */
CHECK_UNUSED static void in_process(void (*body)(void)) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) body();
    CHECK_INT(child, waitpid(child, &status, 0));
    CHECK_INT(0, status);
}

#endif /* OWN_FILE_H */
