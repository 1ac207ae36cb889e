// The lock of a store: one that nothing else in the process can take away (D5).
//
// SQLite locks with POSIX record locks. They belong to a process, which loses all that it has on a file when anything in
// it closes any descriptor of that file: a backup, a checksum, a second copy of this library. A lock of an open file
// description ends only with its own descriptor. The owner of a store has two of them, where no file has bytes:
//
// - from a byte that names the owner to the end of what a file can have. All such ranges overlap, so that there is one
//   owner; and a process that is refused reads the owner from the beginning of the range.
// - the byte that every SQLite locks for a moment before it reads. It takes the place of the lock that this process's SQLite
//   has there, and keeps out every process that only knows SQLite's.

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "the locks lie beyond what 32 bits reach");

// Those of SQLite, as its file format has them.
static const off_t sqlite_pending = 0x40000000;
static const off_t sqlite_locks = 512;
// Number of a process (22 bits in Linux), above it 32 bits that are others where its numbers are others.
static const off_t owners = (off_t)1 << 62;
enum { PROCESS_BITS = 22 };

struct platform_lock {
    platform_lock *next;
    dev_t device;
    ino_t inode;
    int file;
    // F_WRLCK, or F_RDLCK for a file that can only be read.
    short type;
    // Not a lock, but a descriptor that must not be closed: another part of this process has the file open.
    int is_kept;
};

// All of them. Guarded by the registry lock, so a forked child finds them whole.
static platform_lock *locks;

static void insert(platform_lock *lock) {
    platform_registry_lock();
    lock->next = locks;
    locks = lock;
    platform_registry_unlock();
}

static void extract(platform_lock *lock) {
    platform_registry_lock();
    platform_lock **place = &locks;
    while (*place != NULL && *place != lock)
        place = &(*place)->next;
    if (*place != NULL) *place = lock->next;
    platform_registry_unlock();
}

// The descriptor that was kept of a file, if there is one; it is the caller's from now on.
static platform_lock *extract_kept(dev_t device, ino_t inode) {
    platform_registry_lock();
    platform_lock **place = &locks;
    while (*place != NULL && !((*place)->is_kept && (*place)->file >= 0 &&
                               (*place)->device == device && (*place)->inode == inode))
        place = &(*place)->next;
    platform_lock *found = *place;
    if (found != NULL) *place = found->next;
    platform_registry_unlock();
    return found;
}

static void end(platform_lock *lock) {
    if (lock->file >= 0) close(lock->file);
    free(lock);
}

// Where numbers of processes mean the same: in one container of one run of one machine.
static uint32_t numbering(void) {
    uint32_t hash = 2166136261u;
    struct stat space;
    char boot[64] = "";
    if (stat("/proc/self/ns/pid", &space) == 0) hash = (hash ^ (uint32_t)space.st_ino) * 16777619u;
    platform_read_head("/proc/sys/kernel/random/boot_id", (uint8_t *)boot, sizeof boot - 1);
    for (const char *byte = boot; *byte != 0; byte++)
        hash = (hash ^ (uint8_t)*byte) * 16777619u;
    return hash;
}

static struct flock range(short type, off_t start, off_t length) {
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
}

// A process as people know it.
static void name_process(int32_t process, platform_holder *holder) {
    char path[64], name[sizeof holder->name] = "";
    holder->process = process;
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)process);
    platform_read_head(path, (uint8_t *)name, sizeof name - 1);
    name[strcspn(name, "\n")] = 0;
    for (char *byte = name; *byte != 0; byte++)
        if (*byte < ' ' || *byte > '~') *byte = '?';
    memcpy(holder->name, name, sizeof name);
}

// Whether another process has a lock in a range, and which.
static int is_held(int file, struct flock wanted, uint32_t numbers, platform_holder *holder) {
    if (fcntl(file, F_OFD_GETLK, &wanted) != 0 || wanted.l_type == F_UNLCK) return 0;
    if (wanted.l_pid > 0) {
        name_process((int32_t)wanted.l_pid, holder);
    } else if (wanted.l_start >= owners) {
        uint64_t owner = (uint64_t)(wanted.l_start - owners);
        if (owner >> PROCESS_BITS == numbers)
            name_process((int32_t)(owner & ((1u << PROCESS_BITS) - 1)), holder);
        else holder->is_elsewhere = 1;
    }
    return 1;
}

int32_t platform_lock_take(const char *path, uint64_t device, uint64_t inode,
                           platform_lock **result, platform_holder *holder) {
    *result = NULL;
    *holder = (platform_holder){0, 0, ""};
    platform_lock *lock = extract_kept((dev_t)device, (ino_t)inode);
    if (lock == NULL) {
        struct stat facts;
        // Opening a device may do something.
        if (stat(path, &facts) != 0) return errno;
        if (!S_ISREG(facts.st_mode)) return S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
        short type = F_WRLCK;
        int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (file < 0 && (errno == EACCES || errno == EPERM || errno == EROFS)) {
            type = F_RDLCK;
            file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        }
        if (file < 0) return errno;
        lock = malloc(sizeof *lock);
        if (lock == NULL) abort();
        *lock = (platform_lock){NULL, (dev_t)device, (ino_t)inode, file, type, 0};
        // Another file may have come into its place meanwhile; then that one is tried next.
        if (fstat(file, &facts) != 0 || facts.st_dev != lock->device ||
            facts.st_ino != lock->inode) {
            end(lock);
            return EAGAIN;
        }
    }
    uint32_t numbers = numbering();
    off_t owner = owners + (off_t)((uint64_t)numbers << PROCESS_BITS | (uint32_t)getpid());
    struct flock own = range(lock->type, owner, 0);
    int error = fcntl(lock->file, F_OFD_SETLK, &own) == 0 ? 0 : errno;
    int is_locked = error == EAGAIN || error == EACCES;
    if (is_locked) {
        is_held(lock->file, own, numbers, holder);
    } else if (error == 0) {
        // An earlier version of this library, or a tool, has only SQLite's lock.
        struct flock others = range(lock->type, sqlite_pending, sqlite_locks);
        is_locked = is_held(lock->file, others, numbers, holder);
    }
    if (is_locked && holder->process == getpid()) {
        // Closing the descriptor would take SQLite's locks from that other part.
        struct flock none = range(F_UNLCK, owner, 0);
        fcntl(lock->file, F_OFD_SETLK, &none);
        lock->is_kept = 1;
        insert(lock);
        return EAGAIN;
    }
    if (is_locked || error != 0) {
        end(lock);
        // A system that has no such locks leaves the store with SQLite's.
        return is_locked                                                   ? EAGAIN
               : error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ? 0
                                                                           : error;
    }
    lock->is_kept = 0;
    insert(lock);
    *result = lock;
    return 0;
}

int32_t platform_lock_complete(platform_lock *lock) {
    if (lock == NULL) return 0;
    // A process and an open file keep each other out, too. What SQLite has of the bytes that readers lock for good is still
    // locked.
    struct flock none = range(F_UNLCK, sqlite_pending, 1);
    fcntl(lock->file, F_SETLK, &none);
    // Other processes that try have it for a moment.
    for (int tries = 50;; tries--) {
        struct flock pending = range(lock->type, sqlite_pending, 1);
        if (fcntl(lock->file, F_OFD_SETLK, &pending) == 0) return 0;
        if (errno == EACCES) errno = EAGAIN;
        if (errno != EAGAIN || tries == 0) return errno;
        platform_sleep(1000000);
    }
}

void platform_lock_release(platform_lock *lock) {
    if (lock == NULL) return;
    extract(lock);
    end(lock);
}

// The child has the descriptors of the parent's locks, and would keep the stores locked when the parent is gone.
void platform_locks_leave(void) {
    for (platform_lock *lock = locks; lock != NULL; lock = lock->next) {
        if (lock->file >= 0) close(lock->file);
        lock->file = -1;
    }
}
