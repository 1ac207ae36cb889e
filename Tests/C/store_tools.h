/*
 * store_tools.h - folders, files and what a scheduler holds: the words that the tests of the store share
 *
 * Every test works in a folder of its own below one that tools_begin makes (in $SELENE_TEST_FOLDER, else $TMPDIR, else /tmp) and tools_end
 * removes. Files are compared as bytes; what a scheduler holds is compared as text that shows every field.
 *
 * A test that opens a store's file by itself while a scheduler of its own process has it open takes SQLite's locks
 * away, as a host would (D5).
 */
#ifndef STORE_TOOLS_H
#define STORE_TOOLS_H

#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>

#define MS SELENE_MILLISECOND
#define S SELENE_SECOND
#define BOTH (SELENE_CONSTRAINT_NETWORK | SELENE_CONSTRAINT_EXTERNAL_POWER)
#define START (INT64_C(1000000) * S)
#define PATH 4096

/* ---- chance -------------------------------------------------------------- */

/** The next number of a generator; the state is its seed. */
CHECK_UNUSED static uint64_t chance(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/** A number in 0 … limit − 1. */
CHECK_UNUSED static uint64_t chance_below(uint64_t *state, uint64_t limit) {
    return chance(state) % limit;
}

/* ---- folders and files --------------------------------------------------- */

CHECK_UNUSED static char tools_base[PATH];
CHECK_UNUSED static char tools_folder[PATH];

CHECK_UNUSED static int tools_remove(const char *path, const struct stat *found, int type,
                                     struct FTW *walk) {
    (void)found, (void)type, (void)walk;
    return remove(path);
}

/** Call in main before the first test. where: NULL, or the folder to prefer if it can be written. */
CHECK_UNUSED static void tools_begin(const char *where) {
    char whole[PATH_MAX];
    const char *parent = getenv("SELENE_TEST_FOLDER");
    if (!parent || !*parent) parent = getenv("TMPDIR");
    if (!parent || !*parent) parent = "/tmp";
    if (where && access(where, W_OK) == 0) parent = where;
    /* As the library tells it: without links. */
    if (!realpath(parent, whole)) whole[0] = 0;
    snprintf(tools_base, sizeof tools_base, "%.4000s/selene-store.XXXXXX", whole);
    if (!mkdtemp(tools_base) || chmod(tools_base, 0755) != 0) {
        perror(tools_base);
        exit(1);
    }
}

/** Call in main after the last test. */
CHECK_UNUSED static void tools_end(void) {
    nftw(tools_base, tools_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/** Makes a new folder, which path() is about from now on. */
CHECK_UNUSED static const char *new_folder(void) {
    snprintf(tools_folder, sizeof tools_folder, "%.4000s/XXXXXX", tools_base);
    CHECK(mkdtemp(tools_folder) != NULL);
    CHECK(chmod(tools_folder, 0755) == 0);
    return tools_folder;
}

/** The path of a name in the folder; good for 32 calls. */
CHECK_UNUSED static const char *path(const char *name) {
    static char paths[32][PATH + 300];
    static unsigned next;
    char *out = paths[next++ % 32];
    if (!*tools_folder) new_folder();
    snprintf(out, sizeof paths[0], "%s/%s", tools_folder, name);
    return out;
}

struct bytes {
    unsigned char *data;
    size_t size;
};

/** Reads a file; a size of SIZE_MAX says that it cannot be read. */
CHECK_UNUSED static struct bytes read_bytes(const char *file) {
    struct bytes out = {NULL, SIZE_MAX};
    struct stat found;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    if (descriptor < 0) return out;
    CHECK(fstat(descriptor, &found) == 0);
    out.data = malloc((size_t)found.st_size + 1);
    CHECK(out.data != NULL);
    while (size < (size_t)found.st_size) {
        ssize_t now = read(descriptor, out.data + size, (size_t)found.st_size - size);
        CHECK(now > 0);
        size += (size_t)now;
    }
    out.size = size;
    close(descriptor);
    return out;
}

CHECK_UNUSED static void write_bytes(const char *file, const void *data, size_t size) {
    int descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t done = 0;
    if (descriptor < 0) perror(file);
    CHECK(descriptor >= 0);
    while (done < size) {
        ssize_t now = write(descriptor, (const char *)data + done, size - done);
        CHECK(now > 0);
        done += (size_t)now;
    }
    CHECK(close(descriptor) == 0);
}

CHECK_UNUSED static int exists(const char *file) {
    struct stat found;
    return lstat(file, &found) == 0;
}

/* ---- a folder as it is --------------------------------------------------- */

#define TREE_LIMIT 64

/** Every entry of the folder with its mode and bytes. */
struct tree {
    int count;
    struct {
        char name[256];
        mode_t mode;
        struct bytes bytes;
    } entries[TREE_LIMIT];
};

CHECK_UNUSED static void tree_read(struct tree *tree) {
    struct dirent **names;
    int count = scandir(tools_folder, &names, NULL, alphasort);
    CHECK(count >= 0);
    tree->count = 0;
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        struct stat found;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            CHECK(tree->count < TREE_LIMIT);
            CHECK(lstat(path(name), &found) == 0);
            snprintf(tree->entries[tree->count].name, 256, "%s", name);
            tree->entries[tree->count].mode = found.st_mode;
            tree->entries[tree->count].bytes = (struct bytes){NULL, 0};
            if (S_ISREG(found.st_mode)) tree->entries[tree->count].bytes = read_bytes(path(name));
            tree->count++;
        }
        free(names[i]);
    }
    free(names);
}

CHECK_UNUSED static void tree_free(struct tree *tree) {
    for (int i = 0; i < tree->count; i++)
        free(tree->entries[i].bytes.data);
    tree->count = 0;
}

/** What is in the folder now that was not, or was other; NULL if it is as it was. */
CHECK_UNUSED static const char *tree_difference(const struct tree *before) {
    static char what[512];
    static struct tree now;
    *what = 0;
    tree_read(&now);
    for (int i = 0; i < now.count || i < before->count; i++) {
        if (i == now.count || i == before->count ||
            strcmp(now.entries[i].name, before->entries[i].name) != 0) {
            snprintf(what, sizeof what, "%d entries before, %d now; first other one: %.200s",
                     before->count, now.count,
                     i < now.count ? now.entries[i].name : before->entries[i].name);
            break;
        }
        if (now.entries[i].mode != before->entries[i].mode) {
            snprintf(what, sizeof what, "%.200s: mode %o before, %o now", now.entries[i].name,
                     before->entries[i].mode, now.entries[i].mode);
            break;
        }
        if (now.entries[i].bytes.size != before->entries[i].bytes.size) {
            snprintf(what, sizeof what, "%.200s: %zu bytes before, %zu now", now.entries[i].name,
                     before->entries[i].bytes.size, now.entries[i].bytes.size);
            break;
        }
        if (now.entries[i].bytes.size != SIZE_MAX && now.entries[i].bytes.size > 0 &&
            memcmp(now.entries[i].bytes.data, before->entries[i].bytes.data,
                   now.entries[i].bytes.size) != 0) {
            snprintf(what, sizeof what, "%.200s: other bytes", now.entries[i].name);
            break;
        }
    }
    tree_free(&now);
    return *what ? what : NULL;
}

/** The folder must be as it was, byte for byte. */
#define CHECK_TREE(before) check_tree((before), __FILE__, __LINE__)

CHECK_UNUSED static void check_tree(const struct tree *before, const char *file, int line) {
    const char *difference = tree_difference(before);
    if (!difference) return;
    fprintf(stderr, "%s:%d: the folder is not as it was: %s\n", file, line, difference);
    check_fail();
}

/* ---- processes ----------------------------------------------------------- */

/** Runs a body in a child process; its exit status, or 128 + the signal that ended it. */
CHECK_UNUSED static int in_child(void (*body)(void)) {
    int status = 0;
    pid_t child;
    fflush(stdout);
    fflush(stderr);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_on_thread(body);
        fflush(stdout);
        fflush(stderr);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/** Ends this process as the kernel does: nothing is closed. What in_child then gives is KILLED. */
__attribute__((noreturn)) CHECK_UNUSED static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

#define KILLED (128 + SIGKILL)

/** From now on this process is nobody, whom permissions bind. A process that is not root stays who it is. */
CHECK_UNUSED static void become_nobody(void) {
    if (geteuid() != 0) return;
    CHECK(setgroups(0, NULL) == 0);
    CHECK(setgid(65534) == 0);
    CHECK(setuid(65534) == 0);
}

/** Gives a file or folder to nobody. */
CHECK_UNUSED static void give_to_nobody(const char *file) {
    if (geteuid() == 0) CHECK(lchown(file, 65534, 65534) == 0);
}

/* ---- schedulers ---------------------------------------------------------- */

CHECK_UNUSED static int64_t clock_now = START;

CHECK_UNUSED static int64_t host_clock(void *context) {
    (void)context;
    return clock_now;
}

/** Options of a scheduler that lives in a file and on the host's clock. */
CHECK_UNUSED static selene_options store_options(const char *file) {
    selene_options options = SELENE_INIT(selene_options);
    options.path = (selene_text){file, file ? (int64_t)strlen(file) : 0};
    options.clock = host_clock;
    options.max_pending_refresh = SELENE_UNLIMITED;
    options.max_pending_processing = SELENE_UNLIMITED;
    options.seed = 7;
    return options;
}

CHECK_UNUSED static selene_scheduler open_with(selene_options options) {
    selene_scheduler scheduler = 0;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

CHECK_UNUSED static selene_scheduler open_store(const char *file) {
    return open_with(store_options(file));
}

CHECK_UNUSED static void close_store(selene_scheduler scheduler) {
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A handler for pulled cycles. */
CHECK_UNUSED static void add_handler(selene_scheduler scheduler, const char *name) {
    CHECK_OK(selene_handler_register(scheduler, name, -1, NULL, NULL, NULL, NULL));
}

/** A task of an id, with the handler "work". */
CHECK_UNUSED static selene_task task_of(const char *id) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = (selene_text){id, -1};
    task.schedule = SELENE_SCHEDULE_STANDING;
    task.handler = SELENE_TEXT("work");
    return task;
}

CHECK_UNUSED static uint64_t commits_of(selene_scheduler scheduler) {
    selene_store_info *info = NULL;
    uint64_t commits;
    CHECK_OK(selene_store_get(scheduler, &info));
    commits = info->commits;
    selene_free(info);
    return commits;
}

/** How many records there are, waiting ones included. */
CHECK_UNUSED static uint64_t count_of(selene_scheduler scheduler) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    return info.enqueued + info.held + info.blocked + info.running + info.succeeded + info.failed +
           info.cancelled;
}

/** What a pulled cycle does with a run: gives the outcome, and says how long it took. */
typedef int32_t (*outcome_fn)(const selene_run_info *info, int64_t *out_takes);

CHECK_UNUSED static int32_t all_new_data(const selene_run_info *info, int64_t *out_takes) {
    *out_takes = info->estimate < S ? info->estimate : S;
    return SELENE_OUTCOME_NEW_DATA;
}

CHECK_UNUSED static int32_t all_fail(const selene_run_info *info, int64_t *out_takes) {
    (void)info;
    *out_takes = S;
    return SELENE_OUTCOME_FAILED;
}

/** A whole pulled cycle; how many ran. */
CHECK_UNUSED static uint64_t pull(selene_scheduler scheduler, selene_window window,
                                  outcome_fn outcome_of) {
    selene_cycle cycle = 0;
    uint64_t count = 0;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    for (;;) {
        selene_run_info info = SELENE_INIT(selene_run_info);
        int32_t step = SELENE_STEP_DONE, outcome;
        int64_t takes = 0;
        CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
        if (step != SELENE_STEP_RUN) break;
        outcome = outcome_of(&info, &takes);
        clock_now += takes;
        // Every third run leaves something, of any length.
        if (clock_now % 3 == 0)
            CHECK_OK(selene_run_set_output(info.run, &info, (int64_t)(count * 7 % sizeof info)));
        CHECK_OK(selene_run_complete(info.run, outcome));
        count++;
    }
    CHECK_OK(selene_cycle_end(cycle, NULL));
    return count;
}

CHECK_UNUSED static selene_window window_of(uint32_t kinds, int64_t budget) {
    selene_window window = SELENE_INIT(selene_window);
    window.kinds = kinds;
    window.flags = SELENE_WINDOW_FROZEN;
    window.budget = budget;
    return window;
}

#define ANY_KIND (SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING)

/* ---- what a scheduler holds, as text ------------------------------------- */

CHECK_UNUSED static void dump_bytes(FILE *out, const char *name, selene_text text) {
    fprintf(out, " %s=", name);
    for (int64_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte > ' ' && byte < 127 && byte != '%') fputc(byte, out);
        else fprintf(out, "%%%02x", byte);
    }
}

/** What is set of groups. */
CHECK_UNUSED static void dump_groups(FILE *out, selene_scheduler scheduler) {
    selene_task_ids *names = NULL;
    CHECK_OK(selene_group_list(scheduler, &names));
    for (uint64_t i = 0; i < names->count; i++) {
        selene_group_info info = SELENE_INIT(selene_group_info);
        CHECK_OK(selene_group_get(scheduler, names->ids[i].data, names->ids[i].length, &info));
        fprintf(out, "group %s limit=%u paused=%u waiting=%" PRIu64 "\n", names->ids[i].data,
                info.limit, info.paused, info.waiting);
    }
    selene_free(names);
}

/** Which conditions are defined; whether they are satisfied is not kept. */
CHECK_UNUSED static void dump_conditions(FILE *out, selene_scheduler scheduler) {
    selene_task_ids *names = NULL;
    CHECK_OK(selene_condition_list(scheduler, &names));
    for (uint64_t i = 0; i < names->count; i++) {
        int32_t state = 0;
        CHECK_OK(selene_condition_get(scheduler, names->ids[i].data, -1, &state));
        fprintf(out, "condition %s defined=%d\n", names->ids[i].data, state > 0);
    }
    selene_free(names);
}

CHECK_UNUSED static void dump_info(FILE *out, const selene_task_info *info) {
    dump_bytes(out, "id", info->id);
    dump_bytes(out, "handler", info->handler);
    dump_bytes(out, "input", info->input);
    dump_bytes(out, "group", info->group);
    fprintf(out, " tags=%u", info->tag_count);
    for (uint32_t i = 0; i < info->tag_count; i++)
        dump_bytes(out, "tag", info->tags[i]);
    fprintf(out,
            " constraints=%u kind=%d schedule=%d priority=%d recurrence=%d backoff=%d window=%d"
            " max_attempts=%u",
            info->constraints, info->kind, info->schedule, info->priority, info->recurrence,
            info->backoff, info->response_window, info->max_attempts);
    fprintf(out,
            " state=%s attempts=%u outcome=%d stop=%d generation=%u sequence=%" PRIu64
            " appended=%" PRIu64,
            selene_name(SELENE_NAMES_STATE, info->state), info->attempts, info->last_outcome,
            info->stop_reason, info->generation, info->sequence, info->appended);
    fprintf(out,
            " expected=%" PRId64 " delay=%" PRId64 " period=%" PRId64 " flex=%" PRId64
            " backoff_delay=%" PRId64,
            info->expected_response, info->initial_delay, info->period, info->flex,
            info->backoff_delay);
    fprintf(out,
            " registered=%" PRId64 " earliest=%" PRId64 " last_run=%" PRId64 " estimate=%" PRId64
            " running=%d",
            info->registered_at, info->earliest_begin, info->last_run, info->estimate,
            info->run != 0);
    fprintf(out, " times=%" PRIu64, info->response_time_count);
    for (uint64_t i = 0; i < info->response_time_count; i++)
        fprintf(out, ",%" PRId64, info->response_times[i]);
    fprintf(out, " failed=%" PRId64 ",%" PRIu64, info->failed_at, info->failed_attempt);
    dump_bytes(out, "failure", info->failure);
    fprintf(out, " paused=%u waits_for=%x", info->paused, info->waits_for);
    for (uint32_t i = 0; i < info->after_count; i++)
        dump_bytes(out, "after", info->after[i]);
    for (uint32_t i = 0; i < info->condition_count; i++)
        dump_bytes(out, "needs", info->conditions[i]);
    fputc('\n', out);
}

CHECK_UNUSED static void dump_output(FILE *out, selene_scheduler scheduler, selene_text id) {
    selene_task_output *output = NULL;
    CHECK_OK(selene_task_get_output(scheduler, id.data, id.length, &output));
    dump_bytes(out, "output", output->output);
    fputc('\n', out);
    selene_free(output);
}

/** Every record with every field, in the order of the list, those that wait behind it below it. */
CHECK_UNUSED static char *dump_tasks(selene_scheduler scheduler) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    selene_task_ids *ids = NULL;
    CHECK(out != NULL);
    CHECK_OK(selene_task_list(scheduler, NULL, 0, &ids));
    for (uint64_t i = 0; i < ids->count; i++) {
        uint64_t last = 0;
        for (uint64_t position = 0; position <= last; position++) {
            selene_task_info *info = NULL;
            CHECK_OK(
                selene_task_get(scheduler, ids->ids[i].data, ids->ids[i].length, position, &info));
            if (position == 0) last = info->appended;
            fprintf(out, "%" PRIu64 ":", position);
            dump_info(out, info);
            if (position == 0) dump_output(out, scheduler, info->id);
            selene_free(info);
        }
    }
    selene_free(ids);
    dump_groups(out, scheduler);
    dump_conditions(out, scheduler);
    fclose(out);
    return text;
}

/** The tasks, their counts, the next wake-up, and what a window of any kind would pick. */
CHECK_UNUSED static char *dump_all(selene_scheduler scheduler) {
    char *text = NULL, *tasks = dump_tasks(scheduler);
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_window window = window_of(ANY_KIND, SELENE_DAY);
    selene_plan *plan = NULL;
    int64_t at = 0, now = 0;
    CHECK(out != NULL);
    CHECK_OK(selene_scheduler_now(scheduler, &now));
    CHECK_OK(selene_scheduler_get(scheduler, &info));
    CHECK_OK(selene_scheduler_next_wakeup(scheduler, &at, NULL));
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    fprintf(out,
            "now=%" PRId64 " wakeup=%" PRId64 " states=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\nplan:",
            now, at, info.enqueued, info.held, info.blocked, info.running, info.succeeded,
            info.failed, info.cancelled);
    for (uint64_t i = 0; i < plan->run_count; i++) {
        dump_bytes(out, "", plan->runs[i].id);
        fprintf(out, "(%.12f,%" PRId64 ")", plan->runs[i].score, plan->runs[i].estimate);
    }
    fprintf(out, " of %" PRIu64 "\n%s", plan->eligible, tasks);
    selene_free(plan);
    fclose(out);
    free(tasks);
    return text;
}

/** Prints the begin of a line, and what stands around a place in it. */
CHECK_UNUSED static void print_line(const char *what, const char *text, size_t at) {
    size_t begin = at, from, length;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    from = at - begin > 40 ? at - 40 : begin;
    length = strcspn(text + from, "\n");
    fprintf(stderr, "  %s %.*s … %.*s\n", what, (int)strcspn(text + begin, " \n") + 30,
            text + begin, length > 160 ? 160 : (int)length, text + from);
}

/** Two dumps must be equal; prints the first line that is not. Ends both. */
#define CHECK_DUMPS(expected, got) check_dumps((expected), (got), __FILE__, __LINE__)

CHECK_UNUSED static void check_dumps(char *expected, char *got, const char *file, int line) {
    size_t at = 0;
    if (strcmp(expected, got) != 0) {
        while (expected[at] && expected[at] == got[at])
            at++;
        fprintf(stderr, "%s:%d: the tasks are not the same; the first difference:\n", file, line);
        print_line("expected", expected, at);
        print_line("got     ", got, at);
        check_fail();
    }
    free(expected);
    free(got);
}

/* ---- many tasks ---------------------------------------------------------- */

/** One of many tasks, of every sort in turn. The texts are good until the next call. */
CHECK_UNUSED static selene_task some_task(int number) {
    static char id[64], input[600];
    static const selene_text tags[] = {{"red", 3}, {"grün", 5}, {"blue sky", 8}, {"\x01", 1}};
    selene_task task = SELENE_INIT(selene_task);
    task.id.data = id;
    task.id.length = snprintf(id, sizeof id, "task.%03d%s", number, number % 7 ? "" : " ü/?#%");
    if (number % 5) task.handler = SELENE_TEXT("work");
    task.kind = number % 3 ? SELENE_KIND_REFRESH : SELENE_KIND_PROCESSING;
    task.schedule = number % 4 < 3 ? 1 + number % 4 : SELENE_SCHEDULE_ONCE;
    task.priority = 1 + number % 5;
    task.recurrence = number % 2;
    task.backoff = number % 4;
    task.response_window = (int32_t)none_of(number % 31);
    task.max_attempts = (uint32_t)(number % 6);
    task.constraints = (uint32_t)(number % 4);
    task.tag_count = (uint32_t)(number % 5);
    task.tags = tags;
    task.expected_response = number * 37 * MS + 1;
    task.initial_delay = number % 6 == 1 ? number * S + 3 : 0;
    if (task.schedule == SELENE_SCHEDULE_PERIODIC) {
        task.period = SELENE_HOUR + number;
        task.flex = number % 8 ? 0 : SELENE_MINUTE + 1;
    }
    task.backoff_delay = 11 * S + number;
    task.input_length = number % 3 ? (number * 13) % 600 : 0;
    for (int64_t i = 0; i < task.input_length; i++)
        input[i] = (char)((i * 7 + number) & 0xff);
    task.input = input;
    return task;
}

/** Registers so many of them; every ninth once task has two successors. */
CHECK_UNUSED static void register_some(selene_scheduler scheduler, int first, int count) {
    char name[64];
    selene_text last = {NULL, 0};
    for (int i = first; i < first + count; i++) {
        selene_task task = some_task(i);
        // Each fourth of the once tasks comes after the one before it, so that there are lines of two.
        if (task.schedule == SELENE_SCHEDULE_ONCE) {
            if (last.length > 0 && i % 4 == 3) {
                task.after = &last;
                task.after_count = 1;
                task.flags |= i % 8 == 3 ? SELENE_TASK_AFTER_ANY_END : 0;
            }
            snprintf(name, sizeof name, "%s", task.id.data);
        }
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        task.after_count = 0;
        if (task.schedule == SELENE_SCHEDULE_ONCE) last = (selene_text){name, -1};
        if (task.schedule == SELENE_SCHEDULE_ONCE && i % 9 == 1) {
            task.existing = SELENE_EXISTING_APPEND;
            task.priority = 6 - task.priority;
            CHECK_OK(selene_task_register(scheduler, &task, NULL));
            task.existing = SELENE_EXISTING_APPEND_OR_REPLACE;
            task.input_length = 1;
            CHECK_OK(selene_task_register(scheduler, &task, NULL));
        }
    }
}

/** Outcomes of every sort in turn. */
CHECK_UNUSED static int32_t some_outcome(const selene_run_info *info, int64_t *out_takes) {
    static int number;
    (void)info;
    number++;
    *out_takes = (number % 11) * 10 * MS + number;
    return number % 4;
}

/** A scheduler with tasks of all sorts that have run, failed, ended, wait and are held back. */
CHECK_UNUSED static void fill(selene_scheduler scheduler, int count) {
    add_handler(scheduler, "work");
    register_some(scheduler, 0, count);
    for (int round = 0; round < 4; round++) {
        pull(scheduler, window_of(ANY_KIND, SELENE_MINUTE), some_outcome);
        clock_now += SELENE_MINUTE;
    }
    if (count > 8) CHECK_OK(selene_task_cancel(scheduler, "task.003", -1, NULL));
}

/** A closed store with so many tasks; gives how many records are in it. */
CHECK_UNUSED static uint64_t make_store(const char *file, int count) {
    selene_scheduler scheduler = open_store(file);
    uint64_t records;
    fill(scheduler, count);
    records = count_of(scheduler);
    close_store(scheduler);
    return records;
}

#endif /* STORE_TOOLS_H */
