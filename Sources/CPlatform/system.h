// What every system has in its own way. The folder linux has it for Linux, and with it what CPlatform.h says of watches, probes,
// processes, chance and the lock of a store; all other C of CPlatform and CService is POSIX. A port is a folder beside it (X9).

#ifndef SYSTEM_H
#define SYSTEM_H

#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

// ---- Threads ----

// Names the calling thread, by at most 15 bytes.
void system_thread_name(const char *name);
// The calling thread gives way: to threads that wake, and to others that use the disk. What the system refuses stays as it is.
void system_thread_step_back(void);
// The calling thread's own stack; 0 if that is not known.
int system_thread_stack(uintptr_t *low, uintptr_t *high);

// A condition variable whose waits no setting of the clock makes longer or shorter.
void system_condition_init(pthread_cond_t *condition);
// Waits so many nanoseconds at most; may wake for no reason.
void system_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds);
// Locks a mutex if that takes no longer; whether it did.
int system_mutex_lock(pthread_mutex_t *mutex, int64_t nanoseconds);

// ---- Files ----

// When a file was last written, in nanoseconds since 1970.
int64_t system_written(const struct stat *facts);
// Brings what was written to the disk itself. 0, or −1 and errno.
int system_sync(int descriptor);

// ---- Sockets ----

// A Unix stream socket that does not block and that no program inherits, or −1.
int system_socket(void);
// The same of one who connects.
int system_accept(int listener);
// Sends what goes out at once; no signal tells that nobody reads.
ssize_t system_send(int descriptor, const void *bytes, size_t size);

typedef struct system_peer {
    // 0 if it has no number here.
    int32_t process;
    uint32_t user, group;
} system_peer;

// Who is at the other end; 0 if that is not known.
int system_peer_of(int descriptor, system_peer *peer);
// The groups that the process has besides its first one; to be freed. How many there are, 0 where the system does not say.
size_t system_groups_of(int descriptor, gid_t **out_groups);
// A name for a folder that is short however long its own is, as long as the descriptor is open that it gives; −1 and errno.
int system_short_folder(const char *folder, char *name, size_t size);

// ---- Processes ----

// What this program is called, without its folder.
const char *system_program_name(void);

// A descriptor that becomes readable when the process that connected ends; −1 and errno: ESRCH if it has, EMFILE, ENFILE or
// ENOMEM where the system has none left, another where that cannot be told.
int system_peer_watch(int descriptor, int32_t process);
// The command with which a process was begun, its arguments parted by NUL; the number of bytes, or −1.
ssize_t system_process_command(int32_t process, char *text, size_t size);

// ---- What is ready ----

enum { SYSTEM_READ = 1, SYSTEM_WRITE = 2 };

typedef struct system_ready {
    void *what;
    // What can be done; an end or a fault is something to be read.
    uint32_t events;
} system_ready;

// A set of descriptors, as a descriptor of its own, or −1.
int system_set_open(void);
// Adds a descriptor, or changes what of it is waited for: 0 leaves it in the set. Whether it is there.
int system_set_add(int set, int descriptor, uint32_t events, void *what);
int system_set_change(int set, int descriptor, uint32_t events, void *what);
void system_set_remove(int set, int descriptor);
// Waits until some are ready, so many milliseconds at most, −1: however long. How many there are; none after a signal.
int system_set_wait(int set, system_ready *ready, int room, int milliseconds);

// A descriptor that is readable once it was rung (platform_ring), until it is quieted; or −1.
int system_bell_open(void);
void system_bell_quiet(int bell);

#endif
