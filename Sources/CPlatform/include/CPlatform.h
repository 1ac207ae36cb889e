// The C that the engine stands on: what libc and pthread offer, with types that Swift takes as they are.

#ifndef CPLATFORM_H
#define CPLATFORM_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

// Where pointers have 32 bits only WebAssembly plays all vectors and the checks of layouts.
#if UINTPTR_MAX < UINT64_MAX && !defined(__wasm32__)
#error "Selene has been tried on no machine of 32 bits but WebAssembly"
#endif

// ---- Monitor: a mutex, threads that wait for any change, and lines of threads that are called one by one ----

typedef struct platform_monitor platform_monitor;

platform_monitor *_Nonnull platform_monitor_create(void);
// Makes a monitor new again, whichever thread held it.
void platform_monitor_renew(platform_monitor *_Nonnull monitor);
void platform_monitor_lock(platform_monitor *_Nonnull monitor);
// 1 with the lock; 0 without it if this thread is between a lock and its unlock, also while it waits: its signal handler calls.
int32_t platform_monitor_enter(platform_monitor *_Nonnull monitor);
void platform_monitor_unlock(platform_monitor *_Nonnull monitor);
// Waits for a broadcast, at most this many nanoseconds of CLOCK_MONOTONIC; may wake spuriously.
void platform_monitor_wait(platform_monitor *_Nonnull monitor, int64_t nanoseconds, int is_own);
// How many of the library's own threads wait, in a line or not; -1 while one that was woken has not come back.
int64_t platform_monitor_still(platform_monitor *_Nonnull monitor);
// Waits until another thread unlocks or waits; may return early.
void platform_monitor_watch(platform_monitor *_Nonnull monitor, int64_t nanoseconds);
// The caller holds the lock.
void platform_monitor_broadcast(platform_monitor *_Nonnull monitor);
// Threads that wait for their call; NULL: none. The one that came last is called first. Guarded by the lock.
typedef struct platform_place *platform_line;
// Waits in a line until it is called, however long.
void platform_monitor_line_up(platform_monitor *_Nonnull monitor,
                              platform_line _Nullable *_Nonnull line);
// Wakes one thread of a line; whether there was one.
int32_t platform_monitor_call(platform_monitor *_Nonnull monitor,
                              platform_line _Nullable *_Nonnull line);

// The lock of the process-wide registry; held across fork(), so the child finds the registry whole.
void platform_registry_lock(void);
void platform_registry_unlock(void);

// The words in which handles and tokens find their scheduler; read without the lock, so written as wholes.
#define PLATFORM_REGISTRY_SIZE 4096

static inline uint64_t *_Nonnull platform_registry_slots(void) {
    extern uint64_t platform_slots[];
    return platform_slots;
}

static inline uint64_t *_Nonnull platform_registry_lives(void) {
    extern uint64_t platform_lives[];
    return platform_lives;
}

static inline uint64_t *_Nonnull platform_registry_used(void) {
    extern uint64_t platform_used;
    return &platform_used;
}

// Two: that of schedulers in memory, and that of those with a store.
static inline uint64_t *_Nonnull platform_registry_greatest_lives(void) {
    extern uint64_t platform_greatest_lives[];
    return platform_greatest_lives;
}

// Two, read without the lock, too: whether a log function is set, and whether lines wait that no thread is delivering.
static inline uint64_t *_Nonnull platform_log_words(void) {
    extern uint64_t platform_log_state[];
    return platform_log_state;
}

// ---- Memory ----

// What the shipped library has in the place of posix_memalign (Makefile): Swift asks for the alignment that malloc gives
// anyway, and malloc is cheaper.
int platform_memalign(void *_Nullable *_Nonnull result, size_t alignment, size_t size);

// ---- Threads and processes ----

// Starts a thread with a name, which stays where it is, and a stack of some size (0: 8 MiB, or what the process gives its
// threads if that is more); one for the background gives way to others. 0 if the system refuses. It blocks some signals, n being bit n - 1, and what the calling thread blocks, but none that a fault raises.
uint64_t platform_thread_start(const char *_Nonnull name,
                               void (*_Nonnull body)(void *_Nonnull context),
                               void *_Nonnull context, uint64_t blocked, uint64_t stack_size,
                               int32_t is_background);
// Gives the calling thread another name, of at most 15 bytes.
void platform_thread_rename(const char *_Nonnull name);
// The signals that are sent to a process to be handled by one of its threads, as such bits.
uint64_t platform_signals_of_processes(void);
// Whether a signal exists that can be blocked, and no fault raises it.
int32_t platform_may_block(int32_t signal);
void platform_thread_join(uint64_t thread);
// A number of the calling thread, from 1, which no other thread of the process ever has.
uint64_t platform_thread_number(void);
void platform_sleep(int64_t nanoseconds);
int32_t platform_process(void);

// What tells a process from another one that had its number before: when it started, by the machine's clock since its start;
// which start of the machine that was; and where numbers of processes mean the same.
typedef struct platform_process_facts {
    int64_t started;
    int64_t boot;
    int64_t numbering;
} platform_process_facts;

// 1: it is there; 0: it is not, or has ended; −1: that is not known. Boot and numbering are those of the present.
int32_t platform_process_mark(int32_t process, platform_process_facts *_Nonnull facts);
void platform_thread_detach(uint64_t thread);

// A number that is another one in a forked child.
uint32_t platform_fork_generation(void);

// Whether a number is the handle of a connection to another process: 1 an open one, 2 one of the parent's, 0 none. Who
// makes connections says how that is found out.
int32_t platform_connection(uint64_t handle);
void platform_connections_are(int32_t (*_Nonnull find)(uint64_t handle));

// Keeps forks waiting while this thread may hold locks of others that a child would find locked for ever; may be nested.
void platform_fork_hold(void);
void platform_fork_release(void);

// ---- Atomics, for what is read without the lock ----

static inline uint64_t platform_load(const uint64_t *_Nonnull word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void platform_store(uint64_t *_Nonnull word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// ---- Callbacks that this thread is in ----

// One call into the host; frames form a stack for each thread, apart from the thread's own: a callback that is left by a
// jump or an exception leaves its frame behind (A8).
typedef struct platform_frame {
    uint64_t owner;
    // What was called, as the owner knows it.
    uint64_t kind;
    uint64_t number;
    // Where the thread's stack was, and what stands on it as long as the call has not been left.
    uintptr_t place;
    const struct platform_mark *_Nullable mark;
    uint64_t serial;
} platform_frame;

// Words on the stack that another call would write over.
typedef struct platform_mark {
    uint64_t words[4];
} platform_mark;

// The owner of frames in which no call of the library is legal: those of host clocks and log functions.
static const uint64_t PLATFORM_CLOSED_OWNER = ~(uint64_t)0;

void platform_frame_push(platform_mark *_Nonnull mark, uint64_t owner, uint64_t kind,
                         uint64_t number);
// Ends the frame of a mark; 0 if frames that were left stand above it, which are to be taken first.
int32_t platform_frame_pop(const platform_mark *_Nonnull mark);
// Where the stack of the function is that asks: near its caller's, however much room its own variables take.
static inline __attribute__((always_inline)) uintptr_t platform_stack_place(void) {
    return (uintptr_t)__builtin_frame_address(0);
}
// Takes a frame whose call was left, as is seen from a call of the library that has come as far as `here`.
int32_t platform_frame_take_left(uintptr_t here, platform_frame *_Nonnull frame);
// Takes a frame above that of a mark.
int32_t platform_frame_take_above(const platform_mark *_Nonnull mark,
                                  platform_frame *_Nonnull frame);
// Takes the uppermost frame, whatever it is.
int32_t platform_frame_take(platform_frame *_Nonnull frame);
// What a thread calls that ends with frames.
void platform_on_thread_end(void (*_Nonnull function)(void));
// Whether this thread is inside a callback, or has left one.
int32_t platform_frame_is_any(void);
// Whether this thread is inside a callback of the owner.
int32_t platform_frame_within(uint64_t owner);
// The kind of the innermost callback of the owner on this thread; UINT64_MAX: none.
uint64_t platform_frame_kind(uint64_t owner);

// ---- Clocks ----

int64_t platform_wall_clock(void);
// Counts sleep; never set.
int64_t platform_boot_clock(void);

// ---- What the last failed call of this thread left ----

// The sentence, then room for its parts; all zero at first.
#define PLATFORM_DETAIL_SIZE 512
#define PLATFORM_FAULT_SIZE 1416
#define PLATFORM_PATH_SIZE 4096

char *_Nonnull platform_detail(void);

// ---- Conditions of the system ----

// 1 if a default route exists whose interface is up, else 0. root is "" or a directory that stands for "/".
int32_t platform_has_network(const char *_Nonnull root);

// ---- Signals of the governor ----

// Signals are numbered as in selene.h; 0 is none.
#define PLATFORM_SIGNALS 23
static const int64_t PLATFORM_UNKNOWN = INT64_MIN;

enum {
    PLATFORM_PROBE_POWER = 1,
    PLATFORM_PROBE_THERMAL = 2,
    PLATFORM_PROBE_PEOPLE = 4,
    PLATFORM_PROBE_NETWORK = 8,
    PLATFORM_PROBE_LOAD = 16,
    PLATFORM_PROBE_STORAGE = 32,
    PLATFORM_PROBE_PLACE = 64
};

typedef struct platform_readings {
    // By signal; PLATFORM_UNKNOWN where the system does not say. CPU_BUSY is that of this moment: tasks that run, by CPU.
    int64_t values[PLATFORM_SIGNALS];
    // ns since a terminal was last read from; PLATFORM_UNKNOWN without terminals.
    int64_t idle;
    // Ticks of all CPUs since the start, busy and all; 0 if they are not known.
    uint64_t busy;
    uint64_t total;
} platform_readings;

// Reads the signals of some groups. root is "" or a directory that stands for "/"; store is a path on the file system
// whose room counts. Never blocks on what it finds there; what is not what it should be is unknown.
void platform_probe(const char *_Nonnull root, const char *_Nonnull store, uint32_t groups,
                    platform_readings *_Nonnull readings);

// ---- What a driver wakes for ----

// Pokes, a timer, and what the system announces, behind one descriptor that is readable when any of them has something.
typedef struct platform_watch platform_watch;

// What can make it readable; each has what those before it have.
enum { PLATFORM_WATCH_POKES, PLATFORM_WATCH_TIME, PLATFORM_WATCH_SYSTEM };

// NULL if the system refuses.
platform_watch *_Nullable platform_watch_open(int32_t wanted);
void platform_watch_close(platform_watch *_Nonnull watch);
int32_t platform_watch_descriptor(const platform_watch *_Nonnull watch);
void platform_watch_poke(const platform_watch *_Nonnull watch);
// Makes a bell readable: one that system.h opens, or what a host gave as one.
void platform_ring(int32_t descriptor);
// Wakes after this many nanoseconds of CLOCK_BOOTTIME; −1: never.
void platform_watch_set_timer(const platform_watch *_Nonnull watch, int64_t nanoseconds);
// Whether to wake when memory is at its end.
void platform_watch_memory(platform_watch *_Nonnull watch, int32_t wanted);
// Wakes also when one of two files loses its name or gets another; 0 if the system cannot tell.
int32_t platform_watch_files(platform_watch *_Nonnull watch, const char *_Nonnull first,
                             const char *_Nonnull second);
// Blocks until the descriptor is readable, or this many nanoseconds have passed; INT64_MAX: however long. Whether it is.
int32_t platform_watch_wait(const platform_watch *_Nonnull watch, int64_t nanoseconds);
// What platform_watch_drain says besides groups: something has happened to the files.
static const uint32_t PLATFORM_WATCH_FILES = (uint32_t)1 << 31;
// Takes in what waits; the groups of signals that may have changed.
uint32_t platform_watch_drain(const platform_watch *_Nonnull watch);

// Makes a file of mode 0600 to append to; its descriptor, or −errno. EEXIST leaves what is there. It is closed with
// platform_close.
int32_t platform_append_open(const char *_Nonnull path);
// Writes all of it. 0 or errno.
int32_t platform_append(int32_t descriptor, const uint8_t *_Nonnull bytes, int64_t size);

// ---- Files ----

// Reads the head of a regular file; the number of bytes read, or −errno.
int64_t platform_read_head(const char *_Nonnull path, uint8_t *_Nonnull bytes, int64_t size);

// What a name leads to: what makes a file the same file under every name, and when it was last written.
typedef struct platform_file_facts {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t written;
} platform_file_facts;

// 0 or errno.
int32_t platform_file_look(const char *_Nonnull path, platform_file_facts *_Nonnull facts);
// Brings the names in the directory of a file to the disk. 0 or errno.
int32_t platform_sync_directory(const char *_Nonnull path);
// Opens a file that exists; its descriptor, or −errno. It is closed with platform_close.
int32_t platform_open(const char *_Nonnull path, int32_t for_writing);
void platform_close(int32_t descriptor);
// 0 or errno.
int32_t platform_look(int32_t descriptor, platform_file_facts *_Nonnull facts);
// Reads a part of a file; the number of bytes read, which is less only at its end, or −errno.
int64_t platform_read_at(int32_t descriptor, int64_t offset, uint8_t *_Nonnull bytes, int64_t size);
// Where, from an offset on, the file has bytes that were written: what is before it are zeros that are nowhere on the disk.
// −1 if there are none. Where the file system does not tell, the offset itself.
int64_t platform_data_from(int32_t descriptor, int64_t offset);
// Where the last of such bytes end, or −errno; the size where the file system does not tell.
int64_t platform_data_end(int32_t descriptor);
// Bytes of memory that the machine has.
int64_t platform_memory(void);
// Cuts a file to a size, durably. 0 or errno, −errno if it was the sync that failed.
int32_t platform_cut(int32_t descriptor, int64_t size);
// Bytes that are free for ordinary users on the file system of a file; INT64_MAX if the system does not say.
int64_t platform_free_room(int32_t descriptor);
// Size of a file, −1 if there is none.
int64_t platform_file_size(const char *_Nonnull path);

/// Writes the name that a path has from the root on, without links, as SQLite finds it; the file itself may be new. `name`
/// has room for PLATFORM_PATH_SIZE bytes. Returns an errno, or 0.
int32_t platform_whole_name(const char *_Nonnull path, char *_Nonnull name);
// Makes a file of mode 0600 with this content: wholly and durably, or not at all. 0 or errno; EEXIST leaves what is there.
int32_t platform_create_file(const char *_Nonnull path, const uint8_t *_Nonnull bytes,
                             int64_t size);
// Makes an empty file of mode 0600. 0 or errno.
int32_t platform_create_empty(const char *_Nonnull path);
// Writes some bytes of a file, and brings it and its name in the directory to the disk. 0 or errno.
int32_t platform_finish_file(const char *_Nonnull path, int64_t offset,
                             const uint8_t *_Nonnull bytes, int64_t size);
void platform_remove_file(const char *_Nonnull path);
const char *_Nonnull platform_error_text(int32_t error);

// ---- The lock of a store ----

typedef struct platform_lock platform_lock;

// Who has a lock.
typedef struct platform_holder {
    // 0 if it is not known.
    int32_t process;
    // A process of another container or another machine, whose numbers mean nothing here.
    int32_t is_elsewhere;
    // What the process is called; "" if it is not known.
    char name[32];
} platform_holder;

// Locks a file for this process, of which nothing else in it may have taken a lock. 0, an errno, or EAGAIN if it is locked;
// then holder is the process that has it. The lock is NULL where the system has no such locks.
int32_t platform_lock_take(const char *_Nonnull path, uint64_t device, uint64_t inode,
                           platform_lock *_Nullable *_Nonnull lock,
                           platform_holder *_Nonnull holder);
// Keeps out also a process that has only SQLite's locks; once SQLite has its own. 0 or errno.
int32_t platform_lock_complete(platform_lock *_Nullable lock);
// Ends a lock, and with it all locks of SQLite that this process has on the file.
void platform_lock_release(platform_lock *_Nullable lock);
// In a forked child: the locks stay the parent's.
void platform_locks_leave(void);

// ---- SQLite ----

// Binds a copy of some bytes (SQLITE_TRANSIENT is a cast that Swift does not import); the code of SQLite.
int32_t platform_bind_copy(sqlite3_stmt *_Nullable statement, int32_t index,
                           const void *_Nonnull bytes, int32_t count, int32_t is_text);

// Whether closing a database leaves its log as it is (sqlite3_db_config takes a variable number of arguments).
void platform_keep_log(sqlite3 *_Nullable database, int32_t keep);

#endif
