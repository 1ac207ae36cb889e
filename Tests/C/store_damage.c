/*
 * store_damage.c - damaged store files: no crash, no hang, no silent emptiness, and the original is kept (D4)
 *
 * Every number of a damage is its seed: what it is made of, where it lies and how it looks follow from it. Blocks of
 * them are played in a child process each, so that a crash or a hang is told with its number and the next block goes
 * on.
 *
 * Arguments: how many (10 000; 200 where SELENE_TEST_ROUNDS says that everything is slow), the number of the first (1), how
 * many processes at a time (2). Works in /dev/shm if it can: no write here has to survive a power loss.
 */
#include "store_tools.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum {
    TASKS = 40,
    MORE_TASKS = 20,
    BLOCK = 250,
    SALVAGE_EVERY = 3,
    /* Seconds for one damage. */
    DAMAGE_PATIENCE = 20
};

/* ---- the stores that are damaged -------------------------------------------- */

struct image {
    const char *name;
    struct bytes file;
    /** Empty: it was closed. */
    struct bytes log;
    /** What is in it. */
    uint64_t most;
    char *tasks;
};

static struct image images[3];
static size_t page_size;

static void leave_log(void) {
    selene_scheduler scheduler = open_store(path("store"));
    add_handler(scheduler, "work");
    register_some(scheduler, TASKS, MORE_TASKS);
    pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), some_outcome);
    die();
}

static void tell_records(void) {
    selene_scheduler scheduler = open_store(path("store"));
    uint64_t count = count_of(scheduler);
    char *tasks = dump_tasks(scheduler);
    write_bytes(path("count"), &count, sizeof count);
    write_bytes(path("tasks"), tasks, strlen(tasks) + 1);
    free(tasks);
    close_store(scheduler);
}

/** Opens a copy of the image in a child; gives how many records there are. */
static uint64_t read_records(struct image *image) {
    struct bytes bytes;
    uint64_t count = 0;
    new_folder();
    write_bytes(path("store"), image->file.data, image->file.size);
    if (image->log.size) write_bytes(path("store-wal"), image->log.data, image->log.size);
    CHECK_INT(0, in_child(tell_records));
    bytes = read_bytes(path("count"));
    CHECK_INT(sizeof count, bytes.size);
    memcpy(&count, bytes.data, sizeof count);
    free(bytes.data);
    free(image->tasks);
    image->tasks = (char *)read_bytes(path("tasks")).data;
    return count;
}

static void make_closed_store(void) {
    make_store(path("store"), TASKS + MORE_TASKS);
}

static void make_smaller_store(void) {
    make_store(path("store"), TASKS);
}

static void leave_all_in_log(void) {
    selene_scheduler scheduler = open_store(path("store"));
    fill(scheduler, TASKS + MORE_TASKS);
    die();
}

static void take_image(struct image *image) {
    image->file = read_bytes(path("store"));
    image->log = read_bytes(path("store-wal"));
    CHECK(image->log.size > 0 && image->log.size != SIZE_MAX);
    image->most = read_records(image);
    CHECK(image->most > TASKS);
}

/** The parent opens nothing itself, so that its children may fork. */
static void make_images(void) {
    new_folder();
    CHECK_INT(0, in_child(make_closed_store));
    images[0] = (struct image){.name = "closed", .file = read_bytes(path("store"))};
    images[0].most = read_records(&images[0]);

    new_folder();
    CHECK_INT(0, in_child(make_smaller_store));
    CHECK_INT(KILLED, in_child(leave_log));
    images[1] = (struct image){.name = "with a log"};
    take_image(&images[1]);

    /* Killed in its first life: the file is still empty, all tasks are in the log. */
    new_folder();
    CHECK_INT(KILLED, in_child(leave_all_in_log));
    images[2] = (struct image){.name = "that is a log"};
    take_image(&images[2]);
    page_size = (size_t)images[0].file.data[16] << 8 | images[0].file.data[17];
}

/* ---- damages ------------------------------------------------------------------ */

enum damage_kind {
    FLIP,
    FLIPS,
    RUN,
    SWAP,
    ZERO_PAGE,
    GARBAGE_PAGE,
    COPY_PAGE,
    TRUNCATE,
    EXTEND,
    HEADER,
    TREE,
    LOG_FLIP,
    LOG_RUN,
    LOG_TRUNCATE,
    LOG_HEADER,
    LOG_GARBAGE,
    KINDS
};

static const char *const kind_names[KINDS] = {
    "one bit",          "some bits",         "a run of bytes", "two pages swapped",
    "a zeroed page",    "a page of garbage", "a page copied",  "truncated",
    "extended",         "a header field",    "a page's head",  "a bit of the log",
    "a run of the log", "the log truncated", "the log's head", "a log of garbage"};

struct damage {
    uint64_t number;
    const struct image *image;
    enum damage_kind kind;
    struct bytes file;
    struct bytes log;
    /** Nothing but bytes inside of cells may have changed: SQLite need not notice. */
    int may_hide;
};

static struct bytes copy_bytes(const struct bytes *bytes, size_t extra) {
    struct bytes out = {malloc(bytes->size + extra + 1), bytes->size};
    CHECK(out.data != NULL);
    if (bytes->size) memcpy(out.data, bytes->data, bytes->size);
    return out;
}

static void fill_garbage(unsigned char *data, size_t size, uint64_t *random) {
    uint64_t how = chance_below(random, 4);
    for (size_t i = 0; i < size; i++)
        data[i] = how == 0 ? 0 : how == 1 ? 0xFF : (unsigned char)chance(random);
}

static void flip(struct bytes *bytes, uint64_t *random) {
    bytes->data[chance_below(random, bytes->size)] ^= (unsigned char)(1 << chance_below(random, 8));
}

static void change_run(struct bytes *bytes, uint64_t *random) {
    size_t size = 1 + chance_below(random, 200);
    size_t at = chance_below(random, bytes->size);
    if (size > bytes->size - at) size = bytes->size - at;
    fill_garbage(bytes->data + at, size, random);
}

static struct damage make_damage(uint64_t number) {
    uint64_t random = number * UINT64_C(0xD1342543DE82EF95);
    struct damage out = {.number = number, .image = &images[chance_below(&random, 3)]};
    size_t pages, one, other;
    do
        out.kind = (enum damage_kind)chance_below(&random, KINDS);
    while (out.kind >= LOG_FLIP && out.kind < LOG_GARBAGE && !out.image->log.size);
    out.file = copy_bytes(&out.image->file, 3 * page_size);
    out.log = copy_bytes(&out.image->log, 8 * page_size);
    pages = out.file.size / page_size;
    one = page_size * chance_below(&random, pages);
    other = page_size * chance_below(&random, pages);
    switch (out.kind) {
    case FLIP:
        flip(&out.file, &random);
        out.may_hide = 1;
        break;
    case FLIPS:
        for (uint64_t i = 2 + chance_below(&random, 20); i > 0; i--)
            flip(&out.file, &random);
        out.may_hide = 1;
        break;
    case RUN:
        change_run(&out.file, &random);
        out.may_hide = 1;
        break;
    case SWAP:
        for (size_t i = 0; i < page_size; i++) {
            unsigned char byte = out.file.data[one + i];
            out.file.data[one + i] = out.file.data[other + i];
            out.file.data[other + i] = byte;
        }
        break;
    case ZERO_PAGE:
        memset(out.file.data + one, 0, page_size);
        break;
    case GARBAGE_PAGE:
        fill_garbage(out.file.data + one, page_size, &random);
        break;
    case COPY_PAGE:
        memmove(out.file.data + one, out.file.data + other, page_size);
        break;
    case TRUNCATE:
        out.file.size = chance_below(&random, out.file.size);
        break;
    case EXTEND:
        one = 1 + chance_below(&random, 3 * page_size);
        fill_garbage(out.file.data + out.file.size, one, &random);
        out.file.size += one;
        break;
    case HEADER:
        one = chance_below(&random, 25) * 4;
        fill_garbage(out.file.data + one, 1 + chance_below(&random, 4), &random);
        break;
    case TREE:
        one += one == 0 ? 100 : 0;
        for (uint64_t i = 1 + chance_below(&random, 3); i > 0; i--)
            out.file.data[one + chance_below(&random, 40)] = (unsigned char)chance(&random);
        out.may_hide = 1;
        break;
    case LOG_FLIP:
        flip(&out.log, &random);
        break;
    case LOG_RUN:
        change_run(&out.log, &random);
        break;
    case LOG_TRUNCATE:
        out.log.size = chance_below(&random, out.log.size);
        break;
    case LOG_HEADER:
        fill_garbage(out.log.data + chance_below(&random, 8) * 4, 4, &random);
        break;
    case LOG_GARBAGE:
        out.log.size = chance_below(&random, 8 * page_size);
        fill_garbage(out.log.data, out.log.size, &random);
        if (out.log.size >= 8 && chance_below(&random, 2))
            memcpy(out.log.data, "\x37\x7f\x06\x82\x00\x2d\xe2\x18", 8);
        break;
    case KINDS:
        break;
    }
    return out;
}

/* ---- what is tried with each ---------------------------------------------------- */

/** Shared with the parent. */
static struct tally {
    uint64_t number;
    uint64_t refused[KINDS], opened[KINDS], changed[KINDS];
    uint64_t salvaged, salvaged_nothing, not_salvaged, saved, of;
} * tally;

static const char *what_now = "";

__attribute__((noreturn, format(printf, 2, 3))) static void bad(const struct damage *damage,
                                                                const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "damage %" PRIu64 " (%s, store %s): %s: ", damage->number,
            kind_names[damage->kind], damage->image->name, what_now);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    check_fail();
}

/** Where the frames of the last two commits begin: what is damaged there may be what power that was lost has torn. */
static size_t last_commits(const struct bytes *log) {
    size_t frame = 24 + page_size, begin[3] = {32, 32, 32};
    for (size_t at = 32; at + frame <= log->size; at += frame) {
        int is_commit =
            log->data[at + 4] | log->data[at + 5] | log->data[at + 6] | log->data[at + 7];
        if (!is_commit) continue;
        begin[0] = begin[1];
        begin[1] = begin[2];
        begin[2] = at + frame;
    }
    return begin[0];
}

/** The log was damaged in such a way that it may be one that was not written to its end. */
static int is_cut(const struct damage *damage) {
    size_t same = 0, length = damage->log.size < damage->image->log.size ? damage->log.size
                                                                         : damage->image->log.size;
    size_t blank = 32;
    if (damage->kind < LOG_FLIP || damage->image->log.size == 0) return 0;
    while (same < length && damage->log.data[same] == damage->image->log.data[same])
        same++;
    while (blank < damage->log.size && damage->log.data[blank] == 0)
        blank++;
    /* It is cut, or nothing is in it, or only its last commits are other. */
    return same >= length || blank >= damage->log.size || same >= last_commits(&damage->image->log);
}

static int is_damage(selene_status status) {
    return status == SELENE_ERROR_STORE_CORRUPT || status == SELENE_ERROR_STORE_FOREIGN ||
           status == SELENE_ERROR_STORE_NEWER;
}

static void check_kept(const struct damage *damage) {
    struct bytes file = read_bytes(path("store")), log = read_bytes(path("store-wal"));
    static struct tree tree;
    if (file.size != damage->file.size || memcmp(file.data, damage->file.data, file.size) != 0)
        bad(damage, "the file was changed");
    if (damage->log.size == 0
            ? log.size != SIZE_MAX
            : log.size != damage->log.size || memcmp(log.data, damage->log.data, log.size) != 0)
        bad(damage, "the log was changed: %zu bytes before, %zd now", damage->log.size,
            (ssize_t)log.size);
    free(file.data);
    free(log.data);
    tree_read(&tree);
    if (tree.count != (damage->log.size ? 2 : 1))
        bad(damage, "%d files were left, such as %s", tree.count,
            tree.entries[tree.count - 1].name);
    tree_free(&tree);
}

/** Works with what was opened: whatever it is, it must not fall over. */
static void use(selene_scheduler scheduler) {
    selene_window window = window_of(ANY_KIND, SELENE_MINUTE);
    selene_cycle cycle = 0;
    selene_task_ids *ids = NULL;
    selene_task task = task_of("new");
    (void)selene_handler_register(scheduler, "work", -1, NULL, NULL, NULL, NULL);
    (void)selene_conditions_set(scheduler, BOTH, BOTH);
    if (selene_task_list(scheduler, NULL, 0, &ids) == SELENE_OK) {
        for (uint64_t i = 0; i < ids->count; i++) {
            selene_explanation why = SELENE_INIT(selene_explanation);
            selene_task_info *info = NULL;
            (void)selene_task_explain(scheduler, ids->ids[i].data, ids->ids[i].length, &why);
            if (selene_task_get(scheduler, ids->ids[i].data, ids->ids[i].length, 0, &info) == 0)
                selene_free(info);
        }
        selene_free(ids);
    }
    (void)selene_task_register(scheduler, &task, NULL);
    if (selene_cycle_begin(scheduler, &window, &cycle) == SELENE_OK) {
        for (int i = 0; i < 8; i++) {
            selene_run_info run = SELENE_INIT(selene_run_info);
            int32_t step = SELENE_STEP_DONE;
            if (selene_cycle_next(cycle, &step, &run, NULL) || step != SELENE_STEP_RUN) break;
            (void)selene_run_complete(run.run, i % 4);
        }
        (void)selene_cycle_end(cycle, NULL);
    }
    (void)selene_task_cancel_all(scheduler, NULL);
    (void)selene_scheduler_prune(scheduler, NULL);
}

static void try_salvage(const struct damage *damage) {
    selene_store_findings findings = SELENE_INIT(selene_store_findings);
    selene_status status = selene_store_salvage(path("store"), -1, path("fresh"), -1, &findings);
    if (status == SELENE_OK) {
        selene_options options = store_options(path("fresh"));
        selene_scheduler scheduler = 0;
        uint64_t count;
        selene_status opened = selene_scheduler_open(&options, &scheduler);
        if (opened)
            bad(damage, "what was saved does not open: %s", selene_error_last()->message.data);
        count = count_of(scheduler);
        /* What ended long ago, by its damaged record, may be gone at open. */
        if (count > findings.tasks || count + 3 < findings.tasks)
            bad(damage, "%" PRIu64 " saved, but %" PRIu64 " are there", findings.tasks, count);
        if (findings.tasks > damage->image->most + (is_cut(damage) ? 12 : 2))
            bad(damage, "%" PRIu64 " of %" PRIu64 " saved", findings.tasks, damage->image->most);
        close_store(scheduler);
        if (unlink(path("fresh")) != 0) bad(damage, "there is no new file");
        tally->salvaged++;
        tally->salvaged_nothing += findings.tasks == 0;
        tally->saved += findings.tasks;
        tally->of += damage->image->most;
    } else {
        if (!is_damage(status)) bad(damage, "%s", selene_error_last()->message.data);
        if (findings.tasks || findings.damaged) bad(damage, "findings of a call that failed");
        tally->not_salvaged++;
    }
    check_kept(damage);
}

static void play_damage(uint64_t number) {
    struct damage damage = make_damage(number);
    selene_options options = store_options(path("store"));
    selene_scheduler scheduler = 0;
    selene_status checked, opened;
    tally->number = number;
    write_bytes(path("store"), damage.file.data, damage.file.size);
    if (damage.log.size) write_bytes(path("store-wal"), damage.log.data, damage.log.size);
    else unlink(path("store-wal"));

    what_now = "check";
    checked = selene_store_check(path("store"), -1, NULL);
    if (checked && !is_damage(checked)) bad(&damage, "%s", selene_error_last()->message.data);
    check_kept(&damage);

    /* The dearest of all, so not each time. */
    if (number % SALVAGE_EVERY == 0) {
        what_now = "salvage";
        try_salvage(&damage);
    }

    what_now = "open";
    opened = selene_scheduler_open(&options, &scheduler);
    if ((checked == SELENE_OK) != (opened == SELENE_OK))
        bad(&damage, "check answers %s, open %s: %s", selene_name(SELENE_NAMES_STATUS, checked),
            selene_name(SELENE_NAMES_STATUS, opened), selene_error_last()->message.data);
    if (opened) {
        if (!is_damage(opened)) bad(&damage, "%s", selene_error_last()->message.data);
        if (!strstr(selene_error_last()->message.data, "store"))
            bad(&damage, "the file is not named");
        tally->refused[damage.kind]++;
        check_kept(&damage);
    } else {
        uint64_t count = count_of(scheduler);
        char *tasks = dump_tasks(scheduler);
        /* Records may turn into ones that ended long ago. A log that ends too soon is as one whose end was never
           written, however much that was. */
        uint64_t least = is_cut(&damage)   ? 0
                         : damage.may_hide ? damage.image->most - 3
                                           : damage.image->most;
        /* At an earlier time there may have been some more. */
        if (count < least || count > damage.image->most + (is_cut(&damage) ? 12 : 0))
            bad(&damage, "opened with %" PRIu64 " tasks, there were %" PRIu64, count,
                damage.image->most);
        tally->opened[damage.kind]++;
        if (strcmp(tasks, damage.image->tasks) != 0) {
            tally->changed[damage.kind]++;
            if (!damage.may_hide && !is_cut(&damage)) bad(&damage, "opened with other tasks");
        }
        free(tasks);
        what_now = "use";
        use(scheduler);
        what_now = "close";
        if (selene_scheduler_close(scheduler, 0))
            bad(&damage, "%s", selene_error_last()->message.data);
    }
    free(damage.file.data);
    free(damage.log.data);
}

/* ---- blocks ---------------------------------------------------------------------- */

static pid_t start_block(uint64_t first, uint64_t count, struct tally *mine) {
    pid_t child;
    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const struct rlimit memory = {(rlim_t)4 << 30, (rlim_t)4 << 30}, no_core = {0, 0};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        setrlimit(RLIMIT_AS, &memory);
#endif
        (void)memory;
        setrlimit(RLIMIT_CORE, &no_core);
        tally = mine;
        new_folder();
        for (uint64_t number = first; number < first + count; number++) {
            alarm((unsigned)check_environment("SELENE_TEST_ALARM", DAMAGE_PATIENCE));
            play_damage(number);
        }
        nftw(tools_folder, tools_remove, 16, FTW_DEPTH | FTW_PHYS);
        _exit(0);
    }
    return child;
}

static void say_end(int status, const struct tally *of) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        printf("FAILED D4 damage %" PRIu64 " (hung)\n", of->number);
    else if (WIFSIGNALED(status))
        printf("FAILED D4 damage %" PRIu64 " (signal %d)\n", of->number, WTERMSIG(status));
    else printf("FAILED D4 damage %" PRIu64 "\n", of->number);
}

#define MOST_PROCESSES 16

int main(int argc, char **argv) {
    uint64_t otherwise = check_environment("SELENE_TEST_ROUNDS", 0) > 0 ? 200 : 10000;
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : otherwise;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t next = first, failed = 0, running = 0, played = 0;
    uint64_t processes = argc > 3 ? strtoull(argv[3], NULL, 10) : 2;
    struct tally *tallies, sum = {0};
    pid_t children[MOST_PROCESSES] = {0};

    check_begin(0, NULL);
    tools_begin("/dev/shm");
    if (processes < 1 || processes > MOST_PROCESSES) processes = 2;
    tallies = mmap(NULL, sizeof *tallies * MOST_PROCESSES, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(tallies != MAP_FAILED);
    make_images();
    while (next < first + count || running > 0) {
        for (uint64_t i = 0; i < processes && next < first + count; i++) {
            uint64_t block = first + count - next < BLOCK ? first + count - next : BLOCK;
            if (children[i]) continue;
            children[i] = start_block(next, block, &tallies[i]);
            running++;
            next += block;
        }
        {
            int status = 0;
            pid_t ended = waitpid(-1, &status, 0);
            for (uint64_t i = 0; i < processes; i++) {
                if (children[i] != ended) continue;
                children[i] = 0;
                running--;
                if (status) {
                    failed++;
                    say_end(status, &tallies[i]);
                }
            }
        }
    }
    for (int i = 0; i < MOST_PROCESSES; i++) {
        const uint64_t *from = (const uint64_t *)&tallies[i];
        uint64_t *to = (uint64_t *)&sum;
        for (size_t k = 0; k < sizeof sum / sizeof *to; k++)
            to[k] += from[k];
    }
    printf("# %-18s %8s %8s %8s\n", "damage", "refused", "opened", "changed");
    for (int kind = 0; kind < KINDS; kind++) {
        printf("# %-18s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", kind_names[kind],
               sum.refused[kind], sum.opened[kind], sum.changed[kind]);
        played += sum.refused[kind] + sum.opened[kind];
    }
    printf("# salvaged %" PRIu64 " times, %" PRIu64 " of %" PRIu64 " tasks (%.1f %%), %" PRIu64
           " times none; refused %" PRIu64 " times\n",
           sum.salvaged, sum.saved, sum.of, sum.of ? 100.0 * (double)sum.saved / (double)sum.of : 0,
           sum.salvaged_nothing, sum.not_salvaged);
    check_result("D4 no damage crashes, hangs, empties or changes a store; check and open agree",
                 failed == 0, NULL);
    check_result("D4 salvage saves most of what there is", sum.saved * 100 >= sum.of * 85, NULL);
    check_result("D4 every damage was played", failed > 0 || played == count, NULL);
    tools_end();
    return check_end();
}
