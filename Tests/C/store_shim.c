/*
 * store_shim.c - a disk that loses power, fails and counts; preloaded between SQLite and the system
 *
 * Only one folder is concerned: the files in it, and its list of names. Of each file the shim knows what is durable
 * and what was written or cut since it was last synced; of the folder likewise which names are durable. A sync of a
 * file does not make its name durable, only a sync of the folder does. Nothing is really synced,
 * within the folder or elsewhere: what is durable is the shim's to say.
 *
 * It is told what to do by words, in the environment (SELENE_SHIM) or by store_shim(), which a program finds with
 * dlsym:
 *
 *     folder=PATH   the folder, as an absolute path without links; what it holds now is durable, all counts are 0
 *     seed=N        chooses what survives
 *     power=N       the power is lost at the N-th change (write, cut, name) or sync: the folder becomes what a disk
 *                   might hold then, and the process ends with status 77
 *     fault=KIND,N,ERROR,TIMES
 *                   of the write, sync, open, truncate or read calls the N-th from now (TIMES is once) or every one
 *                   from the N-th on (TIMES is on) fails with ERROR: EIO or ENOSPC. A write that fails leaves half of
 *                   its bytes where N is odd. What a sync that fails was to make durable is made so in part, the rest
 *                   never
 *     image=PATH    writes into another folder what a disk might hold if power were lost now
 *     lies          syncs say that they succeed and make nothing durable
 *     plain         from now on nothing fails
 *
 * store_shim_count() tells how many calls of a kind there were, how many changes and syncs together, which of those was
 * the last cut ("cut"), and how many calls failed ("fired").
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define SECTOR 512
#define NAMES 256
#define DESCRIPTORS 4096
#define LOST_POWER 77

EXPORT int store_shim(const char *words);
EXPORT uint64_t store_shim_count(const char *what);

/* ---- the system below ----------------------------------------------------- */

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_read)(int, void *, size_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_link)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);

static void find(void *function, const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    memcpy(function, &found, sizeof found);
}

static void find_all(void) {
    if (real_rename) return;
    find(&real_open, "open");
    find(&real_close, "close");
    find(&real_pwrite, "pwrite");
    find(&real_write, "write");
    find(&real_pread, "pread");
    find(&real_read, "read");
    find(&real_fsync, "fsync");
    find(&real_fdatasync, "fdatasync");
    find(&real_ftruncate, "ftruncate");
    find(&real_link, "link");
    find(&real_unlink, "unlink");
    find(&real_rename, "rename");
}

static void must(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "store_shim: %s: %s\n", what, strerror(errno));
    abort();
}

static void *grown(void *memory, size_t size) {
    void *out = realloc(memory, size ? size : 1);
    must(out != NULL, "memory");
    return out;
}

/* ---- what is known -------------------------------------------------------- */

/** The bytes of a file. */
struct content {
    unsigned char *bytes;
    size_t size, room;
};

/** A write, or a cut to a size (bytes is NULL). */
struct change {
    size_t offset, length;
    unsigned char *bytes;
};

struct file {
    struct content durable;
    /** Since the last sync, in order. */
    struct change *changes;
    size_t count, room;
    /** While an image is written: the name it has there. */
    char image[512];
    struct file *next;
};

/** A name in the folder. */
struct entry {
    char name[256];
    struct file *file;
};

struct listing {
    struct entry entries[NAMES];
    int count;
};

/** A change of the folder: a name was made (file is set), removed, or moved to another (to is set). */
struct renaming {
    char name[256], to[256];
    struct file *file;
};

enum kind { WRITE, SYNC, OPEN, TRUNCATE, READ, KINDS };
static const char *const kinds[KINDS] = {"write", "sync", "open", "truncate", "read"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[512];
static struct listing durable, current;
static struct renaming renamings[NAMES];
static int renaming_count;
static struct file *files[DESCRIPTORS];
static unsigned char is_folder[DESCRIPTORS];
static uint64_t counts[KINDS], event, last_cut, fired, power_at, seed;
static int lies;
static struct {
    int is_set, forever, error;
    enum kind kind;
    uint64_t at;
} fault;

static uint64_t chance(void) {
    uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* ---- contents ------------------------------------------------------------- */

static void resize(struct content *content, size_t size) {
    if (size > content->room) {
        content->room = size * 2;
        content->bytes = grown(content->bytes, content->room);
    }
    if (size > content->size) memset(content->bytes + content->size, 0, size - content->size);
    content->size = size;
}

static void apply(struct content *content, const struct change *change) {
    if (!change->bytes) {
        resize(content, change->offset);
        return;
    }
    if (change->offset + change->length > content->size)
        resize(content, change->offset + change->length);
    memcpy(content->bytes + change->offset, change->bytes, change->length);
}

static struct content copy_of(const struct content *content) {
    struct content out = {NULL, 0, 0};
    resize(&out, content->size);
    if (content->size) memcpy(out.bytes, content->bytes, content->size);
    return out;
}

static void forget_changes(struct file *file) {
    for (size_t i = 0; i < file->count; i++)
        free(file->changes[i].bytes);
    file->count = 0;
}

static void note(struct file *file, size_t offset, const void *bytes, size_t length) {
    struct change *change;
    if (file->count == file->room) {
        file->room = file->room ? file->room * 2 : 16;
        file->changes = grown(file->changes, file->room * sizeof *file->changes);
    }
    change = &file->changes[file->count++];
    *change = (struct change){offset, length, NULL};
    if (!bytes) return;
    change->bytes = grown(NULL, length);
    memcpy(change->bytes, bytes, length);
}

enum survival {
    /** Nothing that was not synced. */
    NOTHING,
    /** Everything up to some change, which is torn. */
    BEGINNING,
    /** Some changes and not others, in any order. */
    SOME,
    /** Some sectors and not others, of each change. */
    SECTORS,
    /** All but the first. */
    LATER,
    EVERYTHING,
    SURVIVALS
};

/** The sectors of a write, as the system holds them now, come to the disk; those that the coin chooses. */
static void reach(struct content *disk, const struct content *held, const struct change *change,
                  size_t length, int coin) {
    size_t at = change->offset / SECTOR * SECTOR, end = change->offset + length;
    for (; at < end; at += SECTOR) {
        size_t stop = at + SECTOR < held->size ? at + SECTOR : held->size;
        if (coin && chance() % 2) continue;
        if (stop > disk->size) resize(disk, stop);
        memcpy(disk->bytes + at, held->bytes + at, stop - at);
    }
    // The size may be known before the bytes.
    if (coin && chance() % 4 == 0 && held->size > disk->size) resize(disk, held->size);
}

/** What the disk holds of a file after power was lost. A sector is what it was at some moment since the last sync. */
static struct content survivor(const struct file *file, enum survival survival) {
    struct content disk = copy_of(&file->durable), held = copy_of(&file->durable);
    size_t torn = file->count ? chance() % file->count : 0;
    for (size_t i = 0; i < file->count; i++) {
        const struct change *change = &file->changes[i];
        size_t length = change->length;
        int kept = survival == EVERYTHING || survival == SECTORS ||
                   (survival == BEGINNING && i <= torn) || (survival == SOME && chance() % 2) ||
                   (survival == LATER && i > 0);
        apply(&held, change);
        if (!kept || (survival == SECTORS && !change->bytes && chance() % 2)) continue;
        if (!change->bytes) {
            apply(&disk, change);
            continue;
        }
        if (survival == BEGINNING && i == torn) length = chance() % (length / SECTOR + 1) * SECTOR;
        if (length) reach(&disk, &held, change, length, survival == SECTORS);
    }
    free(held.bytes);
    return disk;
}

static struct file *all_files;

static struct file *new_file(void) {
    struct file *file = grown(NULL, sizeof *file);
    memset(file, 0, sizeof *file);
    file->next = all_files;
    all_files = file;
    return file;
}

static void forget_files(void) {
    while (all_files) {
        struct file *file = all_files;
        all_files = file->next;
        forget_changes(file);
        free(file->changes);
        free(file->durable.bytes);
        free(file);
    }
}

/* ---- names ---------------------------------------------------------------- */

static int position(const struct listing *listing, const char *name) {
    for (int i = 0; i < listing->count; i++)
        if (strcmp(listing->entries[i].name, name) == 0) return i;
    return -1;
}

static struct file *file_of(const struct listing *listing, const char *name) {
    int at = position(listing, name);
    return at < 0 ? NULL : listing->entries[at].file;
}

static void set_name(struct listing *listing, const char *name, struct file *file) {
    int at = position(listing, name);
    if (!file) {
        if (at >= 0) listing->entries[at] = listing->entries[--listing->count];
        return;
    }
    if (at < 0) {
        must(listing->count < NAMES, "names");
        at = listing->count++;
        snprintf(listing->entries[at].name, sizeof listing->entries[at].name, "%s", name);
    }
    listing->entries[at].file = file;
}

static void rename_in(struct listing *listing, const struct renaming *renaming) {
    if (!*renaming->to) {
        set_name(listing, renaming->name, renaming->file);
        return;
    }
    set_name(listing, renaming->to, file_of(listing, renaming->name));
    set_name(listing, renaming->name, NULL);
}

static void note_name(const char *name, const char *to, struct file *file) {
    struct renaming *renaming = &renamings[renaming_count++];
    must(renaming_count < NAMES, "renamings");
    snprintf(renaming->name, sizeof renaming->name, "%s", name);
    snprintf(renaming->to, sizeof renaming->to, "%s", to);
    renaming->file = file;
    rename_in(&current, renaming);
}

/** The name in the folder that a path means; NULL for any other path. */
static const char *name_of(const char *path) {
    size_t length = strlen(folder);
    if (!length || strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
    return path[length + 1] && !strchr(path + length + 1, '/') ? path + length + 1 : NULL;
}

static int is_the_folder(const char *path) {
    return *folder && strcmp(path, folder) == 0;
}

static struct file *file_at(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS ? files[descriptor] : NULL;
}

static int is_folder_at(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS && is_folder[descriptor];
}

/* ---- power ---------------------------------------------------------------- */

static void write_file(const char *path, const struct content *content) {
    int descriptor = real_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t done = 0;
    must(descriptor >= 0, path);
    while (done < content->size) {
        ssize_t now = real_write(descriptor, content->bytes + done, content->size - done);
        must(now > 0, path);
        done += (size_t)now;
    }
    real_close(descriptor);
}

/** Writes what a disk might hold now into a folder that is empty. */
static void write_image(const char *where) {
    struct listing names = durable;
    enum survival survival = (enum survival)(chance() % SURVIVALS),
                  of_names = (enum survival)(chance() % SURVIVALS);
    int last = renaming_count ? (int)(chance() % (uint64_t)renaming_count) : 0;
    for (int i = 0; i < renaming_count; i++) {
        int kept = of_names == EVERYTHING || (of_names == BEGINNING && i <= last) ||
                   ((of_names == SOME || of_names == SECTORS) && chance() % 2) ||
                   (of_names == LATER && i > 0);
        if (kept) rename_in(&names, &renamings[i]);
    }
    for (int i = 0; i < names.count; i++)
        names.entries[i].file->image[0] = 0;
    for (int i = 0; i < names.count; i++) {
        struct file *file = names.entries[i].file;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", where, names.entries[i].name);
        if (*file->image) {
            must(real_link(file->image, path) == 0, path);
        } else {
            struct content content = survivor(file, survival);
            write_file(path, &content);
            snprintf(file->image, sizeof file->image, "%.511s", path);
            free(content.bytes);
        }
    }
}

static void lose_power(void) {
    for (int i = 0; i < current.count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, current.entries[i].name);
        must(real_unlink(path) == 0, path);
    }
    write_image(folder);
    _exit(LOST_POWER);
}

/** A change was made, or a sync is about to be. */
static void happens(void) {
    if (++event == power_at) lose_power();
}

/* ---- faults --------------------------------------------------------------- */

/** Counts a call; whether it fails, with errno. */
static int fails(enum kind kind) {
    uint64_t number = ++counts[kind];
    if (!fault.is_set || fault.kind != kind) return 0;
    if (fault.forever ? number < fault.at : number != fault.at) return 0;
    fired++;
    errno = fault.error;
    return 1;
}

static int sync_file(struct file *file) {
    if (fails(SYNC)) {
        struct content content = survivor(file, (enum survival)(chance() % SURVIVALS));
        int error = fault.error;
        free(file->durable.bytes);
        file->durable = content;
        forget_changes(file);
        errno = error;
        return -1;
    }
    happens();
    if (lies) return 0;
    for (size_t i = 0; i < file->count; i++)
        apply(&file->durable, &file->changes[i]);
    forget_changes(file);
    return 0;
}

static int sync_folder(void) {
    if (fails(SYNC)) return -1;
    happens();
    if (lies) return 0;
    for (int i = 0; i < renaming_count; i++)
        rename_in(&durable, &renamings[i]);
    renaming_count = 0;
    return 0;
}

/* ---- words ---------------------------------------------------------------- */

/** Whatever is in the folder now is durable. */
static void take_folder(const char *path) {
    DIR *directory = opendir(path);
    struct dirent *found;
    must(directory != NULL, path);
    snprintf(folder, sizeof folder, "%s", path);
    forget_files();
    durable.count = current.count = renaming_count = 0;
    memset(files, 0, sizeof files);
    memset(is_folder, 0, sizeof is_folder);
    memset(counts, 0, sizeof counts);
    event = last_cut = fired = 0;
    while ((found = readdir(directory))) {
        char name[1024];
        struct stat facts;
        struct file *file;
        int descriptor;
        snprintf(name, sizeof name, "%s/%s", path, found->d_name);
        if (stat(name, &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        file = new_file();
        resize(&file->durable, (size_t)facts.st_size);
        descriptor = real_open(name, O_RDONLY | O_CLOEXEC);
        must(descriptor >= 0, name);
        for (size_t at = 0; at < file->durable.size;) {
            ssize_t now = real_read(descriptor, file->durable.bytes + at, file->durable.size - at);
            must(now > 0, name);
            at += (size_t)now;
        }
        real_close(descriptor);
        set_name(&durable, found->d_name, file);
    }
    closedir(directory);
    current = durable;
}

static int take_fault(const char *word) {
    char kind[16], error[16], times[16];
    unsigned long long at;
    if (sscanf(word, "%15[a-z],%llu,%15[A-Z],%15[a-z]", kind, &at, error, times) != 4) return -1;
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(kind, kinds[i]) != 0) continue;
        fault.kind = (enum kind)i;
        fault.at = counts[i] + at;
        fault.error = strcmp(error, "ENOSPC") == 0 ? ENOSPC : EIO;
        fault.forever = strcmp(times, "on") == 0;
        fault.is_set = 1;
        return 0;
    }
    return -1;
}

int store_shim(const char *words) {
    char *copy = strdup(words), *rest = copy, *word;
    int result = 0;
    must(copy != NULL, "memory");
    find_all();
    pthread_mutex_lock(&lock);
    while ((word = strsep(&rest, " "))) {
        if (strncmp(word, "folder=", 7) == 0) take_folder(word + 7);
        else if (strncmp(word, "seed=", 5) == 0) seed = strtoull(word + 5, NULL, 10);
        else if (strncmp(word, "power=", 6) == 0) power_at = strtoull(word + 6, NULL, 10);
        else if (strncmp(word, "image=", 6) == 0) write_image(word + 6);
        else if (strncmp(word, "fault=", 6) == 0) result |= take_fault(word + 6);
        else if (strcmp(word, "lies") == 0) lies = 1;
        else if (strcmp(word, "plain") == 0) fault.is_set = 0, power_at = 0, lies = 0;
        else if (*word) result = -1;
    }
    pthread_mutex_unlock(&lock);
    free(copy);
    return result;
}

uint64_t store_shim_count(const char *what) {
    uint64_t result = strcmp(what, "cut") == 0     ? last_cut
                      : strcmp(what, "fired") == 0 ? fired
                                                   : event;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < KINDS; i++)
        if (strcmp(what, kinds[i]) == 0) result = counts[i];
    pthread_mutex_unlock(&lock);
    return result;
}

__attribute__((constructor)) static void begin(void) {
    const char *words = getenv("SELENE_SHIM");
    find_all();
    if (words && store_shim(words) != 0) must(0, words);
}

/* ---- the calls ------------------------------------------------------------ */

static int opened(const char *path, int flags, mode_t mode) {
    const char *name;
    int descriptor, whole;
    find_all();
    name = name_of(path);
    whole = is_the_folder(path);
    if (!name && !whole) return real_open(path, flags, mode);
    pthread_mutex_lock(&lock);
    descriptor = fails(OPEN) ? -1 : real_open(path, flags, mode);
    if (descriptor >= 0) {
        must(descriptor < DESCRIPTORS, "descriptors");
        is_folder[descriptor] = whole != 0;
        files[descriptor] = name ? file_of(&current, name) : NULL;
        if (name && !files[descriptor]) {
            struct file *file = new_file();
            files[descriptor] = file;
            note_name(name, "", file);
            happens();
        } else if (name && (flags & O_TRUNC)) {
            note(files[descriptor], 0, NULL, 0);
            happens();
        }
    }
    pthread_mutex_unlock(&lock);
    return descriptor;
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(arguments, int) : 0;
}

#define OPEN_BODY                                                                                  \
    va_list arguments;                                                                             \
    mode_t mode;                                                                                   \
    va_start(arguments, flags);                                                                    \
    mode = mode_of(flags, arguments);                                                              \
    va_end(arguments);

EXPORT int open(const char *path, int flags, ...) {
    OPEN_BODY
    return opened(path, flags, mode);
}

#ifdef __GLIBC__
EXPORT int open64(const char *path, int flags, ...) {
    OPEN_BODY
    return opened(path, flags, mode);
}
#endif

EXPORT int openat(int from, const char *path, int flags, ...) {
    static int (*real_openat)(int, const char *, int, ...);
    OPEN_BODY
    if (from == AT_FDCWD || *path == '/') return opened(path, flags, mode);
    if (!real_openat) find(&real_openat, "openat");
    return real_openat(from, path, flags, mode);
}

#ifdef __GLIBC__
EXPORT int openat64(int from, const char *path, int flags, ...) {
    OPEN_BODY
    return openat(from, path, flags, mode);
}
#endif

EXPORT int close(int descriptor) {
    find_all();
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        pthread_mutex_lock(&lock);
        files[descriptor] = NULL;
        is_folder[descriptor] = 0;
        pthread_mutex_unlock(&lock);
    }
    return real_close(descriptor);
}

static ssize_t written(int descriptor, struct file *file, const void *bytes, size_t length,
                       off_t offset) {
    ssize_t result = -1;
    pthread_mutex_lock(&lock);
    if (fails(WRITE)) {
        size_t half = fault.at % 2 ? length / 2 : 0;
        int error = errno;
        if (half && real_pwrite(descriptor, bytes, half, offset) == (ssize_t)half)
            note(file, (size_t)offset, bytes, half);
        errno = error;
    } else {
        note(file, (size_t)offset, bytes, length);
        happens();
        result = real_pwrite(descriptor, bytes, length, offset);
        must(result == (ssize_t)length, "write");
    }
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    struct file *file = file_at(descriptor);
    find_all();
    return file ? written(descriptor, file, bytes, length, offset)
                : real_pwrite(descriptor, bytes, length, offset);
}

#ifdef __GLIBC__
EXPORT ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
    return pwrite(descriptor, bytes, length, offset);
}
#endif

EXPORT ssize_t write(int descriptor, const void *bytes, size_t length) {
    struct file *file = file_at(descriptor);
    ssize_t result;
    find_all();
    if (!file) return real_write(descriptor, bytes, length);
    result = written(descriptor, file, bytes, length, lseek(descriptor, 0, SEEK_CUR));
    if (result > 0) lseek(descriptor, result, SEEK_CUR);
    return result;
}

static int read_fails(int descriptor) {
    int result;
    if (!file_at(descriptor)) return 0;
    pthread_mutex_lock(&lock);
    result = fails(READ);
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT ssize_t pread(int descriptor, void *bytes, size_t length, off_t offset) {
    find_all();
    return read_fails(descriptor) ? -1 : real_pread(descriptor, bytes, length, offset);
}

#ifdef __GLIBC__
EXPORT ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t offset) {
    return pread(descriptor, bytes, length, offset);
}
#endif

EXPORT ssize_t read(int descriptor, void *bytes, size_t length) {
    find_all();
    return read_fails(descriptor) ? -1 : real_read(descriptor, bytes, length);
}

static int synced(int descriptor, int (*otherwise)(int)) {
    struct file *file = file_at(descriptor);
    int result;
    if (!file && !is_folder_at(descriptor)) return *folder ? 0 : otherwise(descriptor);
    pthread_mutex_lock(&lock);
    result = file ? sync_file(file) : sync_folder();
    pthread_mutex_unlock(&lock);
    return result;
}

EXPORT int fsync(int descriptor) {
    find_all();
    return synced(descriptor, real_fsync);
}

EXPORT int fdatasync(int descriptor) {
    find_all();
    return synced(descriptor, real_fdatasync);
}

EXPORT int ftruncate(int descriptor, off_t size) {
    struct file *file = file_at(descriptor);
    int result = -1;
    find_all();
    if (!file) return real_ftruncate(descriptor, size);
    pthread_mutex_lock(&lock);
    if (!fails(TRUNCATE)) {
        note(file, (size_t)size, NULL, 0);
        last_cut = event + 1;
        happens();
        result = real_ftruncate(descriptor, size);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

#ifdef __GLIBC__
EXPORT int ftruncate64(int descriptor, off64_t size) {
    return ftruncate(descriptor, size);
}
#endif

EXPORT int link(const char *from, const char *to) {
    const char *name, *new_name;
    int result;
    find_all();
    name = name_of(from);
    new_name = name_of(to);
    result = real_link(from, to);
    if (result != 0 || !name || !new_name) return result;
    pthread_mutex_lock(&lock);
    note_name(new_name, "", file_of(&current, name));
    happens();
    pthread_mutex_unlock(&lock);
    return 0;
}

EXPORT int unlink(const char *path) {
    const char *name;
    int result;
    find_all();
    name = name_of(path);
    result = real_unlink(path);
    if (result != 0 || !name) return result;
    pthread_mutex_lock(&lock);
    note_name(name, "", NULL);
    happens();
    pthread_mutex_unlock(&lock);
    return 0;
}

EXPORT int rename(const char *from, const char *to) {
    const char *name, *new_name;
    int result;
    find_all();
    name = name_of(from);
    new_name = name_of(to);
    result = real_rename(from, to);
    if (result != 0 || !name || !new_name) return result;
    pthread_mutex_lock(&lock);
    note_name(name, new_name, NULL);
    happens();
    pthread_mutex_unlock(&lock);
    return 0;
}
