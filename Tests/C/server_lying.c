/*
 * server_lying.c - an owner that is not believed: a process of another user, and answers that make no sense (L19, L20)
 *
 * A door stands between clients and a real owner, and changes what the owner answers. Whatever comes out of it, a call answers
 * what the rules have for it, or OWNER_AWAY; what it answers OK can be read to its last byte.
 *
 * Argument: the filter of check.h.
 */
#include "server_tools.h"

#include "server_door.h"

#include <poll.h>
#include <sys/wait.h>

/* ---- the door --------------------------------------------------------------------------------- */

enum { FRAME_MOST = 1 << 20, PAIRS = 64 };

/** Changes an answer, and says how long it is then. */
static size_t (*lie)(unsigned char *frame, size_t length);
static _Atomic uint64_t told;

static int read_whole(int from, unsigned char *to, size_t length) {
    for (size_t have = 0; have < length;) {
        ssize_t count = recv(from, to + have, length - have, 0);
        if (count <= 0) return 0;
        have += (size_t)count;
    }
    return 1;
}

static int send_whole(int to, const unsigned char *from, size_t length) {
    for (size_t sent = 0; sent < length;) {
        ssize_t count = send(to, from + sent, length - sent, MSG_NOSIGNAL);
        if (count <= 0) return 0;
        sent += (size_t)count;
    }
    return 1;
}

/** One frame from one side to the other; 0 when either has gone. */
static int pass_on(int from, int to, int is_answer) {
    static unsigned char frame[FRAME_MOST + 65536];
    uint32_t length;
    if (!read_whole(from, frame, 16)) return 0;
    memcpy(&length, frame, sizeof length);
    CHECK(length >= 16 && length <= FRAME_MOST);
    if (!read_whole(from, frame + 16, length - 16)) return 0;
    size_t whole = is_answer && lie ? lie(frame, length) : length;
    atomic_fetch_add(&told, 1);
    return send_whole(to, frame, whole);
}

static void *stand(void *unused) {
    struct pollfd polled[1 + 2 * PAIRS] = {{door.listener, POLLIN, 0}};
    int count = 1;
    (void)unused;
    while (!atomic_load(&door.ends)) {
        if (poll(polled, (nfds_t)count, 10) <= 0) continue;
        for (int i = 1; i < count; i += 2) {
            int is_open = 1;
            if (polled[i].revents) is_open = pass_on(polled[i].fd, polled[i + 1].fd, 0);
            if (is_open && polled[i + 1].revents)
                is_open = pass_on(polled[i + 1].fd, polled[i].fd, 1);
            if (is_open) continue;
            close(polled[i].fd);
            close(polled[i + 1].fd);
            count -= 2;
            memmove(polled + i, polled + count, 2 * sizeof *polled);
            i -= 2;
        }
        if (polled[0].revents && count < 1 + 2 * PAIRS) {
            int client = accept(door.listener, NULL, NULL);
            int owner = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            CHECK(client >= 0 && owner >= 0);
            CHECK(connect(owner, (const void *)&door.served, sizeof door.served) == 0);
            polled[count++] = (struct pollfd){client, POLLIN, 0};
            polled[count++] = (struct pollfd){owner, POLLIN, 0};
        }
    }
    for (int i = 1; i < count; i++)
        close(polled[i].fd);
    return NULL;
}

static uint16_t operation_of(const unsigned char *frame) {
    uint16_t operation;
    memcpy(&operation, frame + 4, sizeof operation);
    return operation;
}

static uint16_t status_of(const unsigned char *frame) {
    uint16_t status;
    memcpy(&status, frame + 6, sizeof status);
    return status;
}

static void set_word(unsigned char *frame, size_t at, uint64_t word) {
    memcpy(frame + at, &word, sizeof word);
}

static selene_status connect_at_door(selene_scheduler *out) {
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    to.path = text_of(door.here.sun_path);
    return selene_scheduler_connect(&to, out);
}

/* ---- lies one by one -------------------------------------------------------------------------- */

/** Which word of the answers to which operation becomes what. */
static struct {
    uint16_t operation;
    size_t at;
    uint64_t word;
    int is_cut;
} one;

static size_t tell_one(unsigned char *frame, size_t length) {
    if (operation_of(frame) != one.operation || status_of(frame) != SELENE_OK) return length;
    if (one.is_cut) {
        uint32_t shorter = (uint32_t)one.at;
        memcpy(frame, &shorter, sizeof shorter);
        return one.at;
    }
    if (one.at + 8 <= length) set_word(frame, one.at, one.word);
    return length;
}

static void work(selene_run run, const selene_run_info *info, void *context) {
    (void)context;
    CHECK(info != NULL && info->run == run && info->id.data != NULL);
    (void)selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

/** Everything that a client may do with one task, and a window of so long; the first status that is not OK. */
static selene_status ask_all(selene_scheduler connection, int64_t budget) {
    selene_task_info *info = NULL;
    selene_task_ids *ids = NULL;
    selene_explanation explanation = SELENE_INIT(selene_explanation);
    selene_scheduler_info census = SELENE_INIT(selene_scheduler_info);
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    selene_waits *waits = NULL;
    selene_plan *plan = NULL;
    selene_store_info *store = NULL;
    selene_clients *clients = NULL;
    int64_t now;
    uint64_t bytes = 0;
    selene_status status = selene_task_get(connection, "task", -1, 0, &info), first = status;
#define NEXT(call)                                                                                 \
    do {                                                                                           \
        status = (call);                                                                           \
        if (first == SELENE_OK) first = status;                                                    \
    } while (0)
#define READ(text)                                                                                 \
    do {                                                                                           \
        selene_text read_ = (text);                                                                \
        CHECK(read_.data != NULL && read_.length >= 0);                                            \
        bytes += strlen(read_.data);                                                               \
    } while (0)
    if (status == SELENE_OK) {
        CHECK(info != NULL);
        READ(info->id);
        READ(info->handler);
        READ(info->input);
        READ(info->failure);
        READ(info->group);
        READ(info->progress_text);
        for (uint32_t i = 0; i < info->tag_count; i++)
            READ(info->tags[i]);
        for (uint32_t i = 0; i < info->after_count; i++)
            READ(info->after[i]);
        for (uint32_t i = 0; i < info->condition_count; i++)
            READ(info->conditions[i]);
        selene_free(info);
    }
    NEXT(selene_task_list(connection, NULL, 0, &ids));
    if (status == SELENE_OK) {
        CHECK(ids != NULL);
        for (uint64_t i = 0; i < ids->count; i++)
            READ(ids->ids[i]);
        selene_free(ids);
    }
    NEXT(selene_task_explain(connection, "task", -1, &explanation));
    if (status == SELENE_OK) CHECK(explanation.reason_count <= SELENE_REASONS);
    NEXT(selene_scheduler_now(connection, &now));
    NEXT(selene_scheduler_get(connection, &census));
    NEXT(selene_task_waits(connection, "task", -1, &waits));
    if (status == SELENE_OK) {
        for (uint64_t i = 0; i < waits->part_count; i++)
            bytes += (uint64_t)waits->parts[i].reason + (waits->parts[i].name.data != NULL);
        for (uint64_t i = 0; i < waits->preferred_id_count; i++)
            READ(waits->preferred_ids[i]);
        selene_free(waits);
    }
    NEXT(selene_cycle_plan(connection, &window, &plan));
    if (status == SELENE_OK) {
        for (uint64_t i = 0; i < plan->run_count; i++)
            READ(plan->runs[i].id);
        selene_free(plan);
    }
    NEXT(selene_store_get(connection, &store));
    if (status == SELENE_OK) {
        READ(store->path);
        selene_free(store);
    }
    NEXT(selene_client_list(connection, &clients));
    if (status == SELENE_OK) {
        for (uint64_t i = 0; i < clients->count; i++) {
            READ(clients->clients[i].pool);
            READ(clients->clients[i].command);
        }
        selene_free(clients);
    }
    status = selene_handler_register(connection, "work", -1, work, NULL, NULL, NULL);
    if (status != SELENE_ERROR_ALREADY_EXISTS && first == SELENE_OK) first = status;
    window.budget = budget;
    NEXT(selene_cycle_run(connection, &window, &report));
    if (status == SELENE_OK) {
        CHECK(report != NULL);
        for (uint64_t i = 0; i < report->run_count; i++)
            READ(report->runs[i].id);
        selene_free(report);
    }
    return bytes == UINT64_MAX ? SELENE_ERROR_INTERNAL : first;
}

static selene_scheduler open_furnished(const char *file) {
    static const selene_text tags[] = {{"tag", 3}};
    selene_scheduler owner = open_here(file);
    selene_task task = task_of("task");
    task.handler = text_of("work");
    task.tags = tags;
    task.tag_count = 1;
    task.group = text_of("group");
    task.input = "input";
    task.input_length = 5;
    CHECK_OK(selene_task_register(owner, &task, NULL));
    return owner;
}

/** Where a struct's field lies in an answer that has only the struct: behind head, size and what follows. */
#define IN_STRUCT(type, field) (32 + offsetof(type, field))

static void test_lies(void) {
    static const struct {
        const char *what;
        uint16_t operation;
        size_t at;
        uint64_t word;
        int is_cut;
    } lies[] = {
        {"an owner that takes no bytes", 0, 40, 0, 0},
        {"an owner that takes any number of them", 0, 40, UINT64_MAX, 0},
        {"a protocol that was not asked for", 0, 24, UINT64_C(7) << 32 | 99, 0},
        {"a task without an id", 22, IN_STRUCT(selene_task_info, id), 0, 0},
        {"an id of −1 bytes", 22, IN_STRUCT(selene_task_info, id) + 8, UINT64_MAX, 0},
        {"tags that are nowhere", 22, IN_STRUCT(selene_task_info, tags), 0, 0},
        {"a kind that is none", 22, IN_STRUCT(selene_task_info, kind), UINT64_C(1) << 40, 0},
        {"an instant before there were computers", 22, IN_STRUCT(selene_task_info, last_run),
         UINT64_C(1) << 63, 0},
        {"a task that is cut behind its size", 22, 40, 0, 1},
        {"more ids than there are", 23, IN_STRUCT(selene_task_ids, count), 1000, 0},
        {"ids that are nowhere", 23, IN_STRUCT(selene_task_ids, ids), 0, 0},
        {"more reasons than have room", 25,
         16 + 16 + (offsetof(selene_explanation, reason_count) & ~(size_t)7), UINT64_C(1) << 40, 0},
        {"a store that is nowhere with a length", 56, IN_STRUCT(selene_store_info, path), 0, 0},
        {"a run that is there and is not", 104, 16, 0, 0},
        {"a step that is none", 104, 24, 77, 0},
        {"a window without a number", 106, 16, 0, 0},
    };
    selene_scheduler owner = open_furnished(path("t.db"));
    lie = tell_one;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        selene_scheduler connection = 0;
        memset(&one, 0, sizeof one);
        one.operation = UINT16_MAX;
        if (i == 0) open_door(owner, stand);
        one.at = lies[i].at;
        one.word = lies[i].word;
        one.is_cut = lies[i].is_cut;
        one.operation = lies[i].operation;
        selene_status status = connect_at_door(&connection);
        if (status == SELENE_OK) {
            status = ask_all(connection, SELENE_HOUR);
            CHECK_OK(selene_scheduler_close(connection, 0));
        }
        if (status != SELENE_ERROR_OWNER_AWAY)
            fprintf(stderr, "%s: %s\n", lies[i].what, selene_name(SELENE_NAMES_STATUS, status));
        CHECK_INT(SELENE_ERROR_OWNER_AWAY, status);
        CHECK(selene_error_last()->status != SELENE_OK);
    }
    /* An owner that says the truth is believed, behind all of them. */
    one.operation = UINT16_MAX;
    selene_scheduler connection = connect_here();
    CHECK_OK(ask_all(connection, SELENE_HOUR));
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_door(owner);
}

static atomic_int may_return;

/** Runs until it is let go, so that a lane beside it has to wait. */
static void hold(selene_run run, const selene_run_info *info, void *context) {
    (void)info;
    (void)context;
    WAIT_UNTIL(atomic_load(&may_return));
    (void)selene_run_complete(run, SELENE_OUTCOME_NEW_DATA);
}

/** Only an owner whose host tells the time says that waiting is of no use, and that begins no window with threads. */
static void test_waits_in_vain(void) {
    selene_scheduler owner = open_furnished(path("t.db")), connection = 0;
    selene_window window = SELENE_INIT(selene_window);
    lie = tell_one;
    open_door(owner, stand);
    CHECK_OK(selene_group_set_limit(owner, "narrow", -1, 1));
    for (int i = 0; i < 2; i++) {
        selene_task task = task_of(i ? "one" : "two");
        task.handler = text_of("hold");
        task.group = text_of("narrow");
        CHECK_OK(selene_task_register(owner, &task, NULL));
    }
    memset(&one, 0, sizeof one);
    one.operation = 104;
    one.at = 40;
    one.word = UINT64_MAX;
    CHECK_OK(connect_at_door(&connection));
    CHECK_OK(selene_handler_register(connection, "hold", -1, hold, NULL, NULL, NULL));
    window.lanes = 2;
    window.budget = SELENE_HOUR;
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_cycle_run(connection, &window, NULL));
    CHECK(selene_error_last()->flags & SELENE_FAULT_IN_DOUBT);
    atomic_store(&may_return, 1);
    one.operation = UINT16_MAX;
    CHECK_OK(selene_scheduler_close(connection, PATIENCE));
    close_door(owner);
}

/* ---- any lie ---------------------------------------------------------------------------------- */

static uint64_t seed;

static size_t tell_any(unsigned char *frame, size_t length) {
    static const uint64_t edges[] = {0,
                                     1,
                                     7,
                                     8,
                                     16,
                                     255,
                                     65535,
                                     65536,
                                     INT32_MAX,
                                     UINT64_C(1) << 31,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 62,
                                     INT64_MAX,
                                     UINT64_C(1) << 63,
                                     UINT64_MAX,
                                     UINT64_MAX - 7};
    uint32_t said;
    if (chance_below(&seed, 8) != 0) return length;
    switch (chance_below(&seed, 6)) {
    case 0:
    case 1:
    case 2:
        for (uint64_t i = chance_below(&seed, 3) + 1; i > 0 && length >= 24; i--)
            set_word(frame, 16 + 8 * chance_below(&seed, (length - 16) / 8),
                     edges[chance_below(&seed, sizeof edges / sizeof *edges)]);
        return length;
    case 3:
        frame[chance_below(&seed, length)] ^= (unsigned char)(1 << chance_below(&seed, 8));
        return length;
    case 4:
        length = 16 + (chance_below(&seed, length - 15) & ~UINT64_C(7));
        said = (uint32_t)length;
        memcpy(frame, &said, sizeof said);
        return length;
    default:
        memset(frame + length, 0, 64);
        said = (uint32_t)length + 64;
        memcpy(frame, &said, sizeof said);
        return length + 64;
    }
}

static void test_any_lie(void) {
    selene_scheduler owner = open_furnished(path("t.db"));
    int rounds = check_tasks(150, 40), away = 0;
    seed = (uint64_t)check_environment("SELENE_TEST_SEED", 20261129);
    printf("seed %llu\n", (unsigned long long)seed);
    lie = tell_any;
    open_door(owner, stand);
    for (int i = 0; i < rounds; i++) {
        selene_connect_options to = SELENE_INIT(selene_connect_options);
        selene_scheduler connection = 0;
        to.path = text_of(door.here.sun_path);
        /* An answer whose length is a lie may never be whole. */
        to.timeout = 100 * SELENE_MILLISECOND;
        selene_status status = selene_scheduler_connect(&to, &connection);
        if (status == SELENE_OK) {
            status = ask_all(connection, 200 * SELENE_MILLISECOND);
            CHECK_OK(selene_scheduler_close(connection, 0));
        }
        away += status == SELENE_ERROR_OWNER_AWAY;
    }
    CHECK(away > rounds / 10);
    close_door(owner);
}

/* ---- another user's process ------------------------------------------------------------------- */

/** It serves where clients look, and tells whether anything was said to it. */
static void serve_as_nobody(int listener, int ready) {
    unsigned char frame[4096];
    become_nobody();
    /* Whose process it is the system says as of this call. */
    CHECK(listen(listener, 8) == 0);
    CHECK(write(ready, "x", 1) == 1);
    int client = accept(listener, NULL, NULL);
    _exit(client >= 0 && recv(client, frame, sizeof frame, 0) == 0 ? 0 : 1);
}

static void test_other_user(void) {
    const char *file = path("t.db");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    int ready[2], status;
    char byte;
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s-sock", file);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listener >= 0 && pipe(ready) == 0);
    CHECK(bind(listener, (const void *)&address, sizeof address) == 0);
    pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) serve_as_nobody(listener, ready[1]);
    close(listener);
    CHECK(read(ready[0], &byte, 1) == 1);
    to.path = text_of(file);
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_scheduler_connect(&to, &connection));
    DETAIL("user 65534");
    CHECK_INT(65534, selene_error_last()->value);
    CHECK(waitpid(other, &status, 0) == other);
    CHECK_INT(0, status);
    CHECK(unlink(address.sun_path) == 0);
}

static void own_as_nobody(const char *file, int ready, int end) {
    selene_server_options options = SELENE_INIT(selene_server_options);
    char byte;
    become_nobody();
    options.mode = 0666;
    selene_scheduler owner = open_here(file);
    serve_with(owner, options);
    CHECK(write(ready, "x", 1) == 1);
    (void)!read(end, &byte, 1);
    CHECK_OK(selene_scheduler_close(owner, 0));
    _exit(0);
}

/** Whom the options name is believed, and anybody where they say so. */
static void test_named_user(void) {
    const char *file = path("t.db");
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0;
    int ready[2], end[2], status;
    char byte;
    CHECK(pipe(ready) == 0 && pipe(end) == 0 && chmod(tools_folder, 0777) == 0);
    pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        close(end[1]);
        own_as_nobody(file, ready[1], end[0]);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    to.path = text_of(file);
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_scheduler_connect(&to, &connection));
    to.server_user = 65533;
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_scheduler_connect(&to, &connection));
    to.server_user = 65534;
    CHECK_OK(selene_scheduler_connect(&to, &connection));
    add_once(connection, "a");
    CHECK_OK(selene_scheduler_close(connection, 0));
    to.server_user = SELENE_SERVER_USER_ANY;
    CHECK_OK(selene_scheduler_connect(&to, &connection));
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(connection, "a"));
    CHECK_OK(selene_scheduler_close(connection, 0));
    to.server_user = -2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_connect(&to, &connection));
    DETAIL("server_user");
    close(end[1]);
    CHECK(waitpid(other, &status, 0) == other);
    CHECK_INT(0, status);
}

int main(int argc, char **argv) {
    const char *other = "L19 nothing is told to a process of another user";
    const char *named = "L19 a user that the options name is believed";
    check_begin(argc, argv);
    tools_begin(NULL);
    if (geteuid() != 0) skip_test(other, 1, "not root");
    else run_test(other, test_other_user);
    if (geteuid() != 0) skip_test(named, 1, "not root");
    else run_test(named, test_named_user);
    run_test("L20 an answer that makes no sense is none", test_lies);
    run_test("L20 a lane that would wait in vain ends its window", test_waits_in_vain);
    run_test("L20 whatever comes, what is answered OK can be read", test_any_lie);
    tools_end();
    return check_end();
}
