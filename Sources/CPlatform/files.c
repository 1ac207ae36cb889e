// Files that stores are made from: created whole, private, and durable.

#define _GNU_SOURCE
#include "CPlatform.h"

#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static ssize_t read_fully(int file, void *bytes, size_t size) {
    size_t length = 0;
    while (length < size) {
        ssize_t count = read(file, (char *)bytes + length, size - length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        length += (size_t)count;
    }
    return (ssize_t)length;
}

static int write_fully(int file, const void *bytes, size_t size) {
    size_t length = 0;
    while (length < size) {
        ssize_t count = write(file, (const char *)bytes + length, size - length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        length += (size_t)count;
    }
    return 0;
}

int64_t platform_read_head(const char *path, uint8_t *bytes, int64_t size) {
    // Not blocking, for a path that is a pipe.
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return -errno;
    struct stat facts;
    int64_t result = -EIO;
    if (fstat(file, &facts) == 0) {
        if (S_ISDIR(facts.st_mode)) result = -EISDIR;
        else if (!S_ISREG(facts.st_mode)) result = -EINVAL;
        else result = read_fully(file, bytes, (size_t)size);
    }
    if (result == -1) result = -errno;
    close(file);
    return result;
}

static platform_file_facts facts_of(const struct stat *found) {
    return (platform_file_facts){(uint64_t)found->st_dev, (uint64_t)found->st_ino,
                                 (int64_t)found->st_size, system_written(found)};
}

int32_t platform_file_look(const char *path, platform_file_facts *facts) {
    struct stat found;
    if (stat(path, &found) != 0) return errno;
    *facts = facts_of(&found);
    return 0;
}

int32_t platform_open(const char *path, int32_t for_writing) {
    int file = open(path, (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    return file < 0 ? -errno : file;
}

void platform_close(int32_t descriptor) {
    close(descriptor);
}

int32_t platform_look(int32_t descriptor, platform_file_facts *facts) {
    struct stat found;
    if (fstat(descriptor, &found) != 0) return errno;
    *facts = facts_of(&found);
    return 0;
}

int64_t platform_read_at(int32_t descriptor, int64_t offset, uint8_t *bytes, int64_t size) {
    int64_t length = 0;
    while (length < size) {
        ssize_t count = pread(descriptor, bytes + length, (size_t)(size - length), offset + length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (count == 0) break;
        length += count;
    }
    return length;
}

int64_t platform_data_from(int32_t descriptor, int64_t offset) {
    off_t data = lseek(descriptor, offset, SEEK_DATA);
    return data >= 0 ? data : errno == ENXIO ? -1 : offset;
}

int64_t platform_data_end(int32_t descriptor) {
    struct stat found;
    if (fstat(descriptor, &found) != 0) return -errno;
    off_t end = 0;
    for (;;) {
        off_t data = lseek(descriptor, end, SEEK_DATA);
        off_t hole = data < 0 ? data : lseek(descriptor, data, SEEK_HOLE);
        if (hole <= end) return data < 0 && errno != ENXIO ? found.st_size : end;
        end = hole;
    }
}

int64_t platform_memory(void) {
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? pages * size : INT64_MAX;
}

int32_t platform_cut(int32_t descriptor, int64_t size) {
    if (ftruncate(descriptor, size) != 0) return errno;
    return system_sync(descriptor) != 0 ? -errno : 0;
}

int64_t platform_free_room(int32_t descriptor) {
    struct statvfs facts;
    int64_t room;
    if (fstatvfs(descriptor, &facts) != 0) return INT64_MAX;
    return __builtin_mul_overflow(facts.f_bavail, facts.f_frsize, &room) ? INT64_MAX : room;
}

int64_t platform_file_size(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 ? (int64_t)facts.st_size : -1;
}

int32_t platform_whole_name(const char *path, char *name) {
    _Static_assert(PLATFORM_PATH_SIZE >= PATH_MAX, "realpath writes up to PATH_MAX bytes");
    if (realpath(path, name) != NULL) return 0;
    if (errno != ENOENT) return errno;
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    if (*file == 0) return ENOENT;
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(file - path));
    if (folder == NULL) abort();
    int error = realpath(folder, name) == NULL ? errno : 0;
    free(folder);
    if (error != 0) return error;
    size_t length = strlen(name);
    if (length + strlen(file) + 2 > PATH_MAX) return ENAMETOOLONG;
    if (name[length - 1] != '/') name[length++] = '/';
    strcpy(name + length, file);
    return 0;
}

int32_t platform_sync_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    char *directory = slash == NULL   ? strdup(".")
                      : slash == path ? strdup("/")
                                      : strndup(path, (size_t)(slash - path));
    if (directory == NULL) abort();
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    if (file < 0) return errno;
    // Some file systems cannot sync a directory; they say so with EINVAL.
    int error = system_sync(file) != 0 && errno != EINVAL ? errno : 0;
    close(file);
    return error;
}

int32_t platform_create_file(const char *path, const uint8_t *bytes, int64_t size) {
    // A name beside the path that no other uses: another thread, or another container's process of this number.
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.new-%ld-%llx", path, (long)getpid(),
                 (unsigned long long)platform_boot_clock()) < 0)
        abort();
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int error = file < 0 ? errno : 0;
    if (file >= 0) {
        if (write_fully(file, bytes, (size_t)size) != 0 || system_sync(file) != 0) error = errno;
        if (close(file) != 0 && error == 0) error = errno;
        // A link never replaces what is there; where links do not exist, a rename must do.
        if (error == 0 && link(temporary, path) != 0) {
            error = errno;
            if ((error == EPERM || error == ENOTSUP) && access(path, F_OK) != 0)
                error = rename(temporary, path) ? errno : 0;
        }
        unlink(temporary);
        if (error == 0) error = platform_sync_directory(path);
    }
    free(temporary);
    return error;
}

int32_t platform_create_empty(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    close(file);
    return 0;
}

int32_t platform_finish_file(const char *path, int64_t offset, const uint8_t *bytes, int64_t size) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int error = pwrite(file, bytes, (size_t)size, offset) != size ? errno : 0;
    if (error == 0 && system_sync(file) != 0) error = errno;
    close(file);
    return error != 0 ? error : platform_sync_directory(path);
}

void platform_remove_file(const char *path) {
    unlink(path);
}

void platform_keep_log(sqlite3 *database, int32_t keep) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, (int)keep, (int *)NULL);
}

int32_t platform_bind_copy(sqlite3_stmt *statement, int32_t index, const void *bytes, int32_t count,
                           int32_t is_text) {
    return is_text ? sqlite3_bind_text(statement, index, bytes, count, SQLITE_TRANSIENT)
                   : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

int32_t platform_append_open(const char *path) {
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return file < 0 ? -errno : file;
}

int32_t platform_append(int32_t descriptor, const uint8_t *bytes, int64_t size) {
    return write_fully(descriptor, bytes, (size_t)size) == 0 ? 0 : errno;
}
