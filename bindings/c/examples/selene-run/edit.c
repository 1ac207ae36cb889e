#define _XOPEN_SOURCE 700
#include "edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "keep.h"

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The observer may still read the workload before: all of them stay until the end. */
static struct workload *read_again(struct session *session) {
    struct workload *fresh = calloc(1, sizeof *fresh);
    bool is_right;
    if (fresh == NULL) return NULL;
    is_right = workload_read(fresh, session->workload->path);
    fresh->older = session->edits;
    session->edits = fresh;
    return is_right ? fresh : NULL;
}

/* Whatever kinds run here, tasks of the other may stand in the workload. */
static bool take_over(struct session *session, const struct workload *fresh) {
    const struct workload *before = session->workload;
    bool is_kept;
    session->workload = fresh;
    selene_scheduler_enable(session->scheduler, SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING);
    is_kept = keep_workload(session) == EXIT_DONE;
    selene_scheduler_enable(session->scheduler, session->options->window.kinds);
    if (!is_kept) session->workload = before;
    return is_kept;
}

bool edit_look(struct session *session) {
    static struct stat last, refused;
    const struct workload *workload = session->workload, *fresh;
    struct stat now;
    bool is_written;
    if (stat(workload->path, &now)) return false;
    is_written = !same_file(&now, &last);
    last = now;
    if (is_written || same_file(&now, &workload->file) || same_file(&now, &refused)) return false;
    fresh = read_again(session);
    if (fresh == NULL || !take_over(session, fresh)) {
        refused = now;
        fprintf(stderr,
                "selene-run: %s was edited, and has mistakes: the tasks stay as they were\n",
                workload->path);
        return false;
    }
    /* An event may be told on another thread at the same time. */
    flockfile(stdout);
    show_time(session);
    printf("%s was edited: it has %zu %s now\n", workload->path, fresh->count,
           fresh->count == 1 ? "task" : "tasks");
    funlockfile(stdout);
    return write_out();
}

void edit_free(struct session *session) {
    while (session->edits) {
        struct workload *workload = session->edits;
        session->edits = workload->older;
        workload_free(workload);
        free(workload);
    }
}
