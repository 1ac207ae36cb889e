#define _XOPEN_SOURCE 700
#include "workspace.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool complain(const char *path) {
    fprintf(stderr, "selene-run: %s: %s\n", path, strerror(errno));
    return false;
}

static bool make_folder(const char *path) {
    struct stat found;
    if (mkdir(path, 0777) == 0) return true;
    if (errno == EEXIST && stat(path, &found) == 0) {
        if (S_ISDIR(found.st_mode)) return true;
        errno = ENOTDIR;
    }
    return complain(path);
}

static bool join(char *out, const char *folder, const char *name) {
    if (snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX) return true;
    errno = ENAMETOOLONG;
    return complain(folder);
}

static bool use_folder(char *out, const char *given) {
    if (!make_folder(given)) return false;
    return realpath(given, out) || complain(given);
}

static bool make_temporary(struct workspace *workspace) {
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || *parent == '\0') parent = "/tmp";
    if (!join(workspace->path, parent, "selene-run.XXXXXX")) return false;
    if (mkdtemp(workspace->path) == NULL) return complain(workspace->path);
    workspace->temporary = true;
    return true;
}

bool workspace_open(struct workspace *workspace, const char *logs) {
    const char *given = getenv("SELENE_WORK");
    char inside[PATH_MAX];
    workspace->temporary = false;
    if (given && *given ? !use_folder(workspace->path, given) : !make_temporary(workspace))
        return false;
    if (!join(inside, workspace->path, "log") ||
        !use_folder(workspace->logs, logs ? logs : inside) ||
        setenv("SELENE_WORK", workspace->path, 1)) {
        workspace_close(workspace);
        return false;
    }
    return true;
}

static int remove_entry(const char *path, const struct stat *found, int type, struct FTW *walk) {
    (void)found, (void)type, (void)walk;
    return remove(path);
}

void workspace_close(const struct workspace *workspace) {
    if (workspace->temporary && nftw(workspace->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS))
        complain(workspace->path);
}
