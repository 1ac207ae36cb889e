// What SQLite asks of a system, in a module that has SQLite inside: the files of files.c. One thread and one module have
// them, so a lock is always free; the log needs no memory that is shared, since a store is locked for one connection.

#include "CPlatform.h"
#include "files.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct vfs_file {
    sqlite3_file base;
    memory_file *file;
    int removes;
} vfs_file;

static memory_file *of(sqlite3_file *file) {
    return ((vfs_file *)file)->file;
}

static int close_file(sqlite3_file *given) {
    memory_file *file = of(given);
    if (((vfs_file *)given)->removes && file->name != NULL) {
        file->uses--;
        files_remove(file);
    } else {
        files_close(file);
    }
    return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    size_t count = files_read(of(file), (uint64_t)offset, bytes, (size_t)size);
    if (count == (size_t)size) return SQLITE_OK;
    memset((uint8_t *)bytes + count, 0, (size_t)size - count);
    return SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    return files_write(of(file), (uint64_t)offset, bytes, (size_t)size) == 0 ? SQLITE_OK
                                                                             : SQLITE_FULL;
}

static int cut_file(sqlite3_file *file, sqlite3_int64 size) {
    files_cut(of(file), (uint64_t)size);
    return SQLITE_OK;
}

static int sync_file(sqlite3_file *file, int flags) {
    (void)file, (void)flags;
    return SQLITE_OK;
}

static int size_of_file(sqlite3_file *file, sqlite3_int64 *size) {
    *size = (sqlite3_int64)of(file)->size;
    return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}

static int look_at_lock(sqlite3_file *file, int *is_reserved) {
    (void)file;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int control(sqlite3_file *file, int operation, void *argument) {
    (void)file, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file) {
    (void)file;
    return 4096;
}

static int device(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = cut_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = look_at_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device,
};

static int open_file(sqlite3_vfs *system, sqlite3_filename name, sqlite3_file *given, int flags,
                     int *opened_as) {
    (void)system;
    static unsigned temporary;
    char own[32];
    given->pMethods = NULL;
    if (name == NULL) {
        own[0] = '?';
        unsigned rest = temporary++, length = 1;
        do
            own[length++] = (char)('0' + rest % 10);
        while ((rest /= 10) > 0);
        own[length] = 0;
        name = own;
    }
    memory_file *file = files_find(name);
    if (file == NULL && !(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    if (file != NULL && flags & SQLITE_OPEN_EXCLUSIVE) return SQLITE_CANTOPEN;
    if (file == NULL) file = files_make(name);
    if (file == NULL) return SQLITE_NOMEM;
    file->uses++;
    *(vfs_file *)given =
        (vfs_file){{&methods}, file, (flags & SQLITE_OPEN_DELETEONCLOSE) != 0 || name == own};
    if (opened_as != NULL) *opened_as = flags;
    return SQLITE_OK;
}

static int remove_file(sqlite3_vfs *system, const char *name, int is_synced) {
    (void)system, (void)is_synced;
    memory_file *file = files_find(name);
    if (file == NULL) return SQLITE_IOERR_DELETE_NOENT;
    files_remove(file);
    return SQLITE_OK;
}

static int access_file(sqlite3_vfs *system, const char *name, int flags, int *answer) {
    (void)system, (void)flags;
    *answer = files_find(name) != NULL;
    return SQLITE_OK;
}

static int whole_name(sqlite3_vfs *system, const char *name, int room, char *whole) {
    (void)system;
    if (strlen(name) >= (size_t)room) return SQLITE_CANTOPEN;
    strcpy(whole, name);
    return SQLITE_OK;
}

static int chance(sqlite3_vfs *system, int size, char *bytes) {
    (void)system;
    arc4random_buf(bytes, (size_t)size);
    return size;
}

static int sleep_for(sqlite3_vfs *system, int microseconds) {
    (void)system;
    return microseconds;
}

static int time_in_julian_milliseconds(sqlite3_vfs *system, sqlite3_int64 *time) {
    (void)system;
    *time = platform_wall_clock() / 1000000 + 210866760000000;
    return SQLITE_OK;
}

static int time_in_days(sqlite3_vfs *system, double *days) {
    sqlite3_int64 time;
    time_in_julian_milliseconds(system, &time);
    *days = (double)time / 86400000.0;
    return SQLITE_OK;
}

static int last_error(sqlite3_vfs *system, int room, char *text) {
    (void)system, (void)room, (void)text;
    return 0;
}

int sqlite3_os_init(void) {
    // The engine asks for the system of Unix, whatever a host made its default.
    static sqlite3_vfs system = {
        .iVersion = 2,
        .szOsFile = sizeof(vfs_file),
        .mxPathname = PLATFORM_PATH_SIZE,
        .zName = "unix",
        .xOpen = open_file,
        .xDelete = remove_file,
        .xAccess = access_file,
        .xFullPathname = whole_name,
        .xRandomness = chance,
        .xSleep = sleep_for,
        .xCurrentTime = time_in_days,
        .xGetLastError = last_error,
        .xCurrentTimeInt64 = time_in_julian_milliseconds,
    };
    return sqlite3_vfs_register(&system, 1);
}

int sqlite3_os_end(void) {
    return SQLITE_OK;
}

void platform_keep_log(sqlite3 *database, int32_t keep) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, (int)keep, (int *)NULL);
}

int32_t platform_bind_copy(sqlite3_stmt *statement, int32_t index, const void *bytes, int32_t count,
                           int32_t is_text) {
    return is_text ? sqlite3_bind_text(statement, index, bytes, count, SQLITE_TRANSIENT)
                   : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
