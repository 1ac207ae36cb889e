// What the engine calls of SQLite, in the module without a store: every call fails, so a scheduler with a path answers
// STORE_CANNOT_OPEN, and one in memory works. The declarations are those of sqlite3.h, which the compiler compares.

#include "CPlatform.h"

#define REFUSES(name, ...)                                                                         \
    int name(__VA_ARGS__) {                                                                        \
        return SQLITE_CANTOPEN;                                                                    \
    }
#define NOTHING(type, name, ...)                                                                   \
    type name(__VA_ARGS__) {                                                                       \
        return 0;                                                                                  \
    }

static const char none[] = "this module has no store; selene-store.wasm has one";

typedef void (*destructor)(void *);
typedef int (*hook)(void *);
typedef int (*log_hook)(void *, sqlite3 *, const char *, int);
typedef int (*row)(void *, int, char **, char **);

REFUSES(sqlite3_open_v2, const char *path, sqlite3 **database, int flags, const char *system)
REFUSES(sqlite3_close_v2, sqlite3 *database)
REFUSES(sqlite3_exec, sqlite3 *database, const char *statement, row each, void *context,
        char **message)
REFUSES(sqlite3_extended_errcode, sqlite3 *database)
REFUSES(sqlite3_extended_result_codes, sqlite3 *database, int wanted)
REFUSES(sqlite3_system_errno, sqlite3 *database)
REFUSES(sqlite3_get_autocommit, sqlite3 *database)
REFUSES(sqlite3_db_readonly, sqlite3 *database, const char *name)
REFUSES(sqlite3_deserialize, sqlite3 *database, const char *name, unsigned char *image,
        sqlite3_int64 size, sqlite3_int64 room, unsigned flags)
REFUSES(sqlite3_wal_checkpoint_v2, sqlite3 *database, const char *name, int mode, int *frames,
        int *done)
REFUSES(sqlite3_file_control, sqlite3 *database, const char *name, int what, void *value)
REFUSES(sqlite3_prepare_v3, sqlite3 *database, const char *text, int size, unsigned flags,
        sqlite3_stmt **statement, const char **rest)
REFUSES(sqlite3_bind_blob, sqlite3_stmt *statement, int index, const void *bytes, int count,
        destructor destroy)
REFUSES(sqlite3_bind_text, sqlite3_stmt *statement, int index, const char *text, int count,
        destructor destroy)
REFUSES(sqlite3_bind_int64, sqlite3_stmt *statement, int index, sqlite3_int64 number)
REFUSES(sqlite3_bind_null, sqlite3_stmt *statement, int index)
REFUSES(sqlite3_bind_value, sqlite3_stmt *statement, int index, const sqlite3_value *value)
REFUSES(sqlite3_step, sqlite3_stmt *statement)
REFUSES(sqlite3_reset, sqlite3_stmt *statement)
REFUSES(sqlite3_finalize, sqlite3_stmt *statement)
NOTHING(int, sqlite3_column_count, sqlite3_stmt *statement)
NOTHING(int, sqlite3_column_type, sqlite3_stmt *statement, int column)
NOTHING(int, sqlite3_column_bytes, sqlite3_stmt *statement, int column)
NOTHING(sqlite3_int64, sqlite3_column_int64, sqlite3_stmt *statement, int column)
NOTHING(const void *, sqlite3_column_blob, sqlite3_stmt *statement, int column)
NOTHING(sqlite3_value *, sqlite3_column_value, sqlite3_stmt *statement, int column)
NOTHING(void *, sqlite3_commit_hook, sqlite3 *database, hook call, void *context)
NOTHING(void *, sqlite3_wal_hook, sqlite3 *database, log_hook call, void *context)
NOTHING(sqlite3_stmt *, sqlite3_next_stmt, sqlite3 *database, sqlite3_stmt *statement)
NOTHING(unsigned char *, sqlite3_serialize, sqlite3 *database, const char *name,
        sqlite3_int64 *size, unsigned flags)

// Nothing is wrong with its version.
int sqlite3_threadsafe(void) {
    return 1;
}
int sqlite3_libversion_number(void) {
    return SQLITE_VERSION_NUMBER;
}
const char *sqlite3_libversion(void) {
    return none;
}
const char *sqlite3_errmsg(sqlite3 *database) {
    return none;
}
const char *sqlite3_errstr(int code) {
    return none;
}
void sqlite3_free(void *memory) {}

int32_t platform_bind_copy(sqlite3_stmt *statement, int32_t index, const void *bytes, int32_t count,
                           int32_t is_text) {
    return SQLITE_CANTOPEN;
}

void platform_keep_log(sqlite3 *database, int32_t keep) {}
