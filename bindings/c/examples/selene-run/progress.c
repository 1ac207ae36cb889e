#define _XOPEN_SOURCE 700
#include "progress.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "printable.h"

#define LONGEST_LINE 1200

void progress_open(struct progress *progress, const struct log *log) {
    int file;
    snprintf(progress->path, sizeof progress->path, "%.*s.progress",
             (int)(strlen(log->path) - strlen(".log")), log->path);
    file = open(progress->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || fstat(file, &progress->seen)) progress->path[0] = '\0';
    if (file >= 0) close(file);
}

/* Takes a number off a text; −1 and the text as it was, if there is none. */
static int64_t take_number(const char **text) {
    int64_t number = 0;
    const char *at = *text;
    if (!isdigit((unsigned char)*at)) return -1;
    for (; isdigit((unsigned char)*at); at++) {
        const int digit = *at - '0';
        number = number > (INT64_MAX - digit) / 10 ? INT64_MAX : number * 10 + digit;
    }
    *text = at;
    return number;
}

static void tell(selene_run run, const char *line, int64_t length) {
    const struct printable shown = printable(line, length);
    const char *text = shown.text, *rest;
    int64_t done, total = 0;
    while (*text == ' ')
        text++;
    rest = text;
    done = take_number(&rest);
    if (done >= 0 && *rest == '/') {
        rest++;
        total = take_number(&rest);
    }
    /* Not numbers: all of it is text. */
    if (done < 0 || total < 0 || (*rest && !isspace((unsigned char)*rest))) done = total = 0;
    else text = rest;
    while (isspace((unsigned char)*text))
        text++;
    selene_run_progress(run, done, total, text, -1);
}

void progress_look(struct progress *progress, selene_run run) {
    char bytes[LONGEST_LINE];
    struct stat found;
    int file = *progress->path ? open(progress->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ssize_t count = 0, first;
    if (file < 0) return;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
        (found.st_ino != progress->seen.st_ino || found.st_size != progress->seen.st_size ||
         found.st_mtim.tv_sec != progress->seen.st_mtim.tv_sec ||
         found.st_mtim.tv_nsec != progress->seen.st_mtim.tv_nsec)) {
        progress->seen = found;
        count = pread(file, bytes, sizeof bytes,
                      found.st_size > LONGEST_LINE ? found.st_size - LONGEST_LINE : 0);
    }
    close(file);
    /* A line that has no end yet comes with the next look. */
    while (count > 0 && bytes[count - 1] != '\n')
        count--;
    while (count > 0 && isspace((unsigned char)bytes[count - 1]))
        count--;
    for (first = count; first > 0 && bytes[first - 1] != '\n'; first--) {
    }
    if (count > 0) tell(run, bytes + first, count - first);
}

void progress_close(const struct progress *progress) {
    if (*progress->path) unlink(progress->path);
}
