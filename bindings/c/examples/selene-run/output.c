#define _XOPEN_SOURCE 700
#include "output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "printable.h"

/* No limit of a store is greater. */
#define LONGEST (1 << 26)

void output_open(struct output *output, const struct log *log) {
    int file;
    snprintf(output->path, sizeof output->path, "%.*s.output",
             (int)(strlen(log->path) - strlen(".log")), log->path);
    file = open(output->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) output->path[0] = '\0';
    else close(file);
}

void output_take(const struct output *output, selene_run run, const char *id) {
    int file = *output->path ? open(output->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    struct stat found;
    selene_status status = SELENE_OK;
    if (file < 0) return;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
        char *bytes = found.st_size <= LONGEST ? malloc((size_t)found.st_size) : NULL;
        ssize_t count = 0, more = 1;
        while (bytes && count < found.st_size && more > 0) {
            more = read(file, bytes + count, (size_t)(found.st_size - count));
            if (more > 0) count += more;
        }
        status = bytes ? selene_run_set_output(run, bytes, count) : SELENE_ERROR_TOO_LARGE;
        free(bytes);
    }
    close(file);
    if (status == SELENE_ERROR_TOO_LARGE)
        fprintf(stderr, "selene-run: %s: what it left is too long to be kept: %lld bytes\n",
                printable(id, -1).text, (long long)found.st_size);
}

void output_close(const struct output *output) {
    if (*output->path) unlink(output->path);
}
