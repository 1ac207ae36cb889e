/*
 * store_siege.c - the eight ways in which a store that is open loses its lock or its files, each at a random moment, with
 * another opener behind it and a kill at the end: nothing that was answered OK is lost (D5, D6)
 *
 * In each round a host registers task after task in a store of its own and tells after each OK. One of the ways happens
 * meanwhile; whoever else opens the store is refused; the host is killed; every task that was answered OK is there.
 *
 * Argument: the filter of check.h. Environment: SELENE_TEST_ROUNDS, how many rounds (48); SELENE_TEST_SEED.
 */
#include "store_open.h"

#include <dlfcn.h>
#include <poll.h>
#include <sqlite3.h>

#define SIEGE_PATIENCE (60 * S)
/** What the host tells in place of a number. */
#define MOVED (-1)
#define DID_IT (-2)

enum way {
    HOST_READS,
    SECOND_COPY,
    FORK_AND_EXEC,
    FORK_STAYS,
    COPIED,
    READ_BY_SQLITE,
    LOG_REMOVED,
    FILE_REPLACED,
    WAYS
};

static const char *const way_names[WAYS] = {"the host reads its files",
                                            "a second copy of the library",
                                            "fork and exec",
                                            "a fork that stays",
                                            "cp",
                                            "another program reads by SQLite",
                                            "the log is removed",
                                            "the file is replaced"};

static const char *copy_of_library;

/* ============================================================================
 *  THE HOST
 * ========================================================================= */

static void tell(int pipe_end, int32_t number) {
    if (write(pipe_end, &number, sizeof number) != (ssize_t)sizeof number) _exit(7);
}

static void read_whole(const char *file) {
    struct bytes bytes = read_bytes(file);
    free(bytes.data);
}

/** Opens the store by the functions of a second copy of the library, as a plugin does that has its own. */
static void open_by_copy(void) {
    selene_status (*open_there)(const selene_options *, selene_scheduler *);
    selene_options options = store_options(shared_path);
    selene_scheduler scheduler = 0;
    void *copy = dlopen(copy_of_library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    CHECK(copy != NULL);
    *(void **)&open_there = dlsym(copy, "selene_scheduler_open");
    CHECK(open_there != NULL);
    CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, open_there(&options, &scheduler));
}

static void spawn(int stays) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (stays) {
            read_whole(shared_path);
            _exit(0);
        }
        execl("/proc/self/exe", "store_siege", "--refused", shared_path, (char *)NULL);
        _exit(9);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/** What the host itself does to its store. */
static void act(enum way way) {
    switch (way) {
    case HOST_READS:
        read_whole(shared_path);
        read_whole(path("store-wal"));
        break;
    case SECOND_COPY:
        open_by_copy();
        break;
    case FORK_AND_EXEC:
        spawn(0);
        break;
    case FORK_STAYS:
        spawn(1);
        break;
    default:
        break;
    }
}

static void host(enum way way, int32_t when, int pipe_end) {
    selene_scheduler scheduler = open_store(shared_path);
    for (int32_t number = 1;; number++) {
        char id[32];
        selene_task task = task_of(id);
        selene_status status;
        snprintf(id, sizeof id, "t%d", (int)number);
        status = selene_task_register(scheduler, &task, NULL);
        if (status == SELENE_ERROR_STORE_MOVED) {
            tell(pipe_end, MOVED);
            number--;
            check_sleep(MS);
            continue;
        }
        CHECK_OK(status);
        tell(pipe_end, number);
        if (number == when) {
            act(way);
            tell(pipe_end, DID_IT);
        }
    }
}

/* ============================================================================
 *  A ROUND
 * ========================================================================= */

struct siege {
    int pipe_end;
    int32_t answered;
    /** How many tasks were answered OK after the first refusal. */
    int32_t later;
    int is_moved, did_it;
};

/** Reads one message of the host; answers 0 when none came by an instant. */
static int hear(struct siege *siege, int64_t until) {
    int32_t number;
    struct pollfd end = {siege->pipe_end, POLLIN, 0};
    int64_t left = until - check_now();
    if (poll(&end, 1, left > 0 ? (int)(left / MS) : 0) != 1) return 0;
    CHECK(read(siege->pipe_end, &number, sizeof number) == (ssize_t)sizeof number);
    if (number == MOVED) {
        siege->is_moved = 1;
    } else if (number == DID_IT) {
        siege->did_it = 1;
    } else {
        siege->answered = number;
        if (siege->is_moved) siege->later++;
    }
    return 1;
}

static void hear_all(struct siege *siege) {
    int32_t number;
    // The host is gone: what it told is all in the pipe.
    while (read(siege->pipe_end, &number, sizeof number) == (ssize_t)sizeof number)
        if (number > 0) siege->answered = number;
}

/** What others do to the store of the host. */
static void strike(enum way way) {
    sqlite3 *database = NULL;
    struct bytes bytes;
    switch (way) {
    case COPIED:
        bytes = read_bytes(shared_path);
        write_bytes(path("copied"), bytes.data, bytes.size);
        free(bytes.data);
        break;
    case READ_BY_SQLITE:
        CHECK_INT(SQLITE_OK, sqlite3_open(shared_path, &database));
        CHECK_INT(SQLITE_BUSY,
                  sqlite3_exec(database, "SELECT count(*) FROM task", NULL, NULL, NULL));
        sqlite3_close(database);
        break;
    case LOG_REMOVED:
        CHECK(unlink(path("store-wal")) == 0);
        break;
    case FILE_REPLACED:
        // As one brings a backup back: the log of what was there goes with it.
        CHECK(rename(path("other"), shared_path) == 0 && unlink(path("store-wal")) == 0);
        break;
    default:
        break;
    }
}

static int has(selene_scheduler scheduler, int32_t number) {
    char id[32];
    selene_task_info *info = NULL;
    snprintf(id, sizeof id, "t%d", (int)number);
    if (selene_task_get(scheduler, id, -1, 0, &info)) return 0;
    selene_free(info);
    return 1;
}

/** Opens what the host left; every task that was answered OK must be there. How many there are. */
static uint64_t look(int32_t answered) {
    selene_scheduler scheduler = open_store(shared_path);
    uint64_t count = count_of(scheduler);
    for (int32_t number = 1; number <= answered; number++) {
        if (has(scheduler, number)) continue;
        fprintf(stderr, "task %d of %d that were answered OK is gone\n", (int)number,
                (int)answered);
        check_fail();
    }
    close_store(scheduler);
    return count;
}

static void besiege(enum way way, uint64_t *random) {
    struct siege siege = {0, 0, 0, 0, 0};
    int ends[2], status;
    int32_t when = 1 + (int32_t)chance_below(random, 40);
    int is_lost = way == LOG_REMOVED || way == FILE_REPLACED;
    int64_t until = check_now() + SIEGE_PATIENCE;
    pid_t child;
    new_folder();
    shared_path = path("store");
    if (way == FILE_REPLACED) {
        shared_path = path("other");
        selene_scheduler other = open_store(shared_path);
        close_store(other);
        shared_path = path("store");
    }
    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(ends[0]);
        host(way, when, ends[1]);
    }
    close(ends[1]);
    siege.pipe_end = ends[0];
    while (siege.answered < when)
        CHECK(hear(&siege, until));
    if (way < COPIED) {
        while (!siege.did_it)
            CHECK(hear(&siege, until));
    } else {
        strike(way);
    }
    if (way == FILE_REPLACED) {
        // What has the name now is no longer the host's, which finds out by its next commit.
        while (!siege.is_moved)
            CHECK(hear(&siege, until));
    } else {
        CHECK_STATUS(SELENE_ERROR_STORE_LOCKED, open_quietly(shared_path));
        while (way == LOG_REMOVED && !siege.is_moved)
            CHECK(hear(&siege, until));
    }
    for (uint64_t more = chance_below(random, 20); more > 0; more--)
        CHECK(hear(&siege, until));
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    hear_all(&siege);
    close(ends[0]);
    if (is_lost) CHECK_INT(0, siege.later);
    if (way == FILE_REPLACED) CHECK_INT(0, look(0));
    else CHECK_BETWEEN(siege.answered, look(siege.answered), siege.answered + 1);
    nftw(tools_folder, tools_remove, 16, FTW_DEPTH | FTW_PHYS);
    *tools_folder = 0;
}

static enum way tested;

static void test_way(void) {
    uint64_t rounds = (uint64_t)check_environment("SELENE_TEST_ROUNDS", 48) / WAYS + 1;
    uint64_t random = (uint64_t)check_environment("SELENE_TEST_SEED", 1) + tested;
    for (uint64_t round = 0; round < rounds; round++)
        besiege(tested, &random);
}

/** Writes a copy of the library that this program uses. */
static void copy_library(void) {
    Dl_info info;
    struct bytes library;
    void *known = dlsym(RTLD_DEFAULT, "selene_name");
    CHECK(known && dladdr(known, &info));
    library = read_bytes(info.dli_fname);
    CHECK(library.size != SIZE_MAX);
    copy_of_library = strdup(path("copy.so"));
    write_bytes(copy_of_library, library.data, library.size);
    free(library.data);
    *tools_folder = 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--refused")) {
        shared_path = argv[2];
        told_locked_by_open();
        return 0;
    }
    check_begin(argc, argv);
    tools_begin("/dev/shm");
    copy_library();
    for (tested = 0; tested < WAYS; tested++) {
        char name[200];
        snprintf(name, sizeof name,
                 "D5 D6 nothing answered OK is lost, whatever happens to the store: %s",
                 way_names[tested]);
        run_test(name, test_way);
    }
    tools_end();
    return check_end();
}
