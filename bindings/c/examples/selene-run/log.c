#define _XOPEN_SOURCE 700
#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "duration.h"
#include "printable.h"
#include "timestamp.h"

#define LINES_SHOWN 10
#define LONGEST_LINE 900
#define ID_LENGTH_IN_NAMES 200

/* Another id has another file: what no name may have, and the sign for it, are written as in addresses. */
static bool write_path(struct log *log, const struct workspace *workspace, const char *id) {
    char name[ID_LENGTH_IN_NAMES + 4];
    size_t used = 0;
    for (; *id && used < ID_LENGTH_IN_NAMES; id++) {
        if (*id == '/' || *id == '%')
            used += (size_t)snprintf(name + used, 4, "%%%02X", (unsigned char)*id);
        else name[used++] = *id;
    }
    name[used] = '\0';
    errno = ENAMETOOLONG;
    return snprintf(log->path, sizeof log->path, "%s/%s.log", workspace->logs, name) < PATH_MAX;
}

bool log_open(struct log *log, const struct workspace *workspace, const char *id,
              uint32_t attempt) {
    log->file = -1;
    if (!write_path(log, workspace, id)) return false;
    log->file = open(log->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log->file < 0) return false;
    log_bound(log);
    dprintf(log->file, "--- %s attempt %u begins\n", timestamp(TIMESTAMP_LOGGED).text,
            (unsigned)attempt);
    log->begin = lseek(log->file, 0, SEEK_END);
    return true;
}

/* The last part of a file, into another; with what is written to it meanwhile, so that hardly anything is lost. */
static void copy_end(int from, int64_t at, int to) {
    char bytes[1 << 16];
    for (int64_t copied = 0; copied < LOG_LIMIT;) {
        ssize_t count = pread(from, bytes, sizeof bytes, (off_t)(at + copied));
        if (count <= 0 || write(to, bytes, (size_t)count) != count) return;
        copied += count;
    }
}

/* Cut, not renamed: the command goes on writing to the file that it has. */
void log_bound(struct log *log) {
    struct stat found;
    char older[PATH_MAX + 2];
    int copy;
    if (fstat(log->file, &found) || found.st_size <= LOG_LIMIT) return;
    snprintf(older, sizeof older, "%s.1", log->path);
    copy = open(older, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (copy >= 0) {
        copy_end(log->file, found.st_size - LOG_LIMIT / 2, copy);
        close(copy);
    }
    if (ftruncate(log->file, 0) == 0) log->begin = 0;
}

void log_show(const struct log *log, const char *id, bool with_time) {
    int copy = dup(log->file);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    char line[512];
    int lines = 0;
    if (file == NULL || fseeko(file, (off_t)log->begin, SEEK_SET)) lines = LINES_SHOWN + 1;
    /* One task's lines stay together though other lanes print too. */
    flockfile(stdout);
    while (lines <= LINES_SHOWN && fgets(line, sizeof line, file)) {
        bool more = ++lines > LINES_SHOWN;
        line[strcspn(line, "\n")] = '\0';
        if (with_time) printf("%s", timestamp(TIMESTAMP_SHOWN).text);
        printf("  %s | %s\n", printable(id, -1).text,
               more ? "… (the rest is in the log)" : printable(line, -1).text);
    }
    fflush(stdout);
    funlockfile(stdout);
    if (file) fclose(file);
    else if (copy >= 0) close(copy);
}

struct printable log_last_line(const struct log *log) {
    char bytes[LONGEST_LINE];
    int64_t end = lseek(log->file, 0, SEEK_END);
    int64_t begin =
        end - (int64_t)sizeof bytes > log->begin ? end - (int64_t)sizeof bytes : log->begin;
    ssize_t count = begin < end ? pread(log->file, bytes, (size_t)(end - begin), (off_t)begin) : 0;
    ssize_t first;
    while (count > 0 && isspace((unsigned char)bytes[count - 1]))
        count--;
    if (count < 0) count = 0;
    for (first = count; first > 0 && bytes[first - 1] != '\n'; first--) {
    }
    return printable(bytes + first, count - first);
}

void log_close(struct log *log, uint32_t attempt, const char *end, int64_t took) {
    char last = '\n';
    off_t size = lseek(log->file, 0, SEEK_END);
    if (size > 0 && pread(log->file, &last, 1, size - 1) < 0) last = '\n';
    dprintf(log->file, "%s--- %s attempt %u: %s after %s\n", last == '\n' ? "" : "\n",
            timestamp(TIMESTAMP_LOGGED).text, (unsigned)attempt, end, duration_text(took).text);
    log_bound(log);
    close(log->file);
}
