/*
 * server_budget.c - what a client may take of its owner: memory, time and places (L12)
 *
 * The clients are processes that may only look where this process is root, else of the owner's own user, whose clients have
 * limits, too.
 *
 * Argument: the filter of check.h.
 */
#include "server_tools.h"

#include <sys/wait.h>

/** The address sanitizer keeps what was freed, so what lies in memory says nothing. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#define KEEPS_FREED __has_feature(address_sanitizer)

enum { HALVES = 400, LISTS = 200, FRAME = 16 << 20, LONGEST = 6000 };

/** KiB of this process that lie in memory. */
static long resident(void) {
    long found = 0;
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmRSS: %ld", &found) == 1) break;
    fclose(status);
    return found;
}

static void allow_descriptors(void) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static selene_server serve_all(selene_scheduler owner, int64_t patience, uint32_t most) {
    static selene_peer_rule rule = {SELENE_ANYBODY, SELENE_ANYBODY, SELENE_RIGHT_LOOK, 0};
    selene_server_options options = SELENE_INIT(selene_server_options);
    options.rules = &rule;
    options.rule_count = 1;
    options.mode = 0666;
    options.patience = patience;
    options.max_clients = most;
    return serve_with(owner, options);
}

/** A process that does something with the owner, and is there until `end` is closed; it has said one byte by then. */
static pid_t start(void (*act)(const char *file), const char *file, int *end) {
    int ready[2], ends[2];
    char byte;
    CHECK(pipe(ready) == 0 && pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(ends[1]);
        close(ready[0]);
        if (geteuid() == 0) become_nobody();
        act(file);
        CHECK(write(ready[1], "x", 1) == 1);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    close(ready[1]);
    close(ends[0]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    *end = ends[1];
    return child;
}

static void end(pid_t child, int end) {
    int status;
    close(end);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
}

/** As much of a frame as the system takes at once. */
static void send_half(int to) {
    static char zeros[1 << 20];
    const struct head head = {FRAME, 22, 0, 1};
    CHECK(send(to, &head, sizeof head, MSG_NOSIGNAL) == sizeof head);
    for (size_t sent = 0; sent + sizeof zeros < FRAME - sizeof head;) {
        ssize_t count = send(to, zeros, sizeof zeros, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count <= 0) return;
        sent += (size_t)count;
    }
}

static void ask_for_list(int to) {
    const struct {
        struct head head;
        uint64_t words[3];
    } list = {{sizeof list, 23, 0, 1}, {0, 0, 1}};
    CHECK(send(to, &list, sizeof list, MSG_NOSIGNAL) == sizeof list);
}

static void press(const char *file) {
    allow_descriptors();
    for (int i = 0; i < HALVES; i++)
        send_half(raw_client(file));
    for (int i = 0; i < LISTS; i++)
        ask_for_list(raw_client(file));
}

static void add_many(selene_scheduler owner, int count) {
    enum { BATCH = 1000 };
    static selene_task tasks[BATCH];
    static const selene_task *all[BATCH];
    static char ids[BATCH][256];
    for (int begun = 0; begun < count; begun += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            snprintf(ids[i], sizeof ids[i], "task-%d-%0200d", begun + i, 0);
            tasks[i] = task_of(ids[i]);
            tasks[i].handler = text_of("work");
            all[i] = &tasks[i];
        }
        CHECK_OK(selene_task_register_batch(owner, all, BATCH, NULL, NULL));
    }
}

static selene_scheduler open_roomy(const char *file) {
    selene_options options = store_options(file);
    options.clock = NULL;
    options.max_pending_refresh = SELENE_UNLIMITED;
    return open_with(options);
}

/** The owner's memory stays, and others are served meanwhile. */
static void test_pressure(void) {
    const char *file = path("t.db");
    CHECK(chmod(tools_folder, 0755) == 0);
    allow_descriptors();
    selene_scheduler owner = open_roomy(file);
    selene_server server = serve_all(owner, SELENE_HOUR, 2048);
    selene_scheduler witness = connect_to(file);
    selene_task_ids *ids = NULL;
    int64_t now;
    int ends;
    add_many(owner, LONGEST);
    /* As much as the answer itself takes was there before. */
    CHECK_OK(selene_task_list(owner, NULL, 0, &ids));
    selene_free(ids);
    long before = resident();
    pid_t crowd = start(press, file, &ends);
    for (int i = 0; i < 100; i++)
        CHECK_OK(selene_scheduler_now(witness, &now));
    add_once(witness, "meanwhile");
    WAIT_UNTIL(info_of_server(server).clients == 1 + HALVES + LISTS);
    CHECK_OK(selene_scheduler_now(witness, &now));
    long more = resident() - before;
    printf("%ld KiB more under %d halves and %d lists\n", more, HALVES, LISTS);
    if (!KEEPS_FREED) CHECK(more < 64 * 1024);
    if (geteuid() == 0) {
        /* What one user's clients hold is no matter of another's. */
        CHECK_OK(selene_task_list(witness, NULL, 0, &ids));
        CHECK_INT(LONGEST + 1, ids->count);
        selene_free(ids);
    }
    end(crowd, ends);
    WAIT_UNTIL(info_of_server(server).clients == 1);
    ids = NULL;
    CHECK_OK(selene_task_list(witness, NULL, 0, &ids));
    CHECK_INT(LONGEST + 1, ids->count);
    selene_free(ids);
    CHECK_OK(selene_scheduler_close(witness, 0));
    close_store(owner);
}

/** A request whose rest does not come, however short, and an answer that is not taken: the connection ends. */
static void test_time(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_roomy(file);
    selene_server server = serve_all(owner, 2 * S, 1024);
    add_many(owner, 5000);
    int large = raw_client(file), small = raw_client(file), unread = raw_client(file);
    int idle = raw_client(file);
    const struct head head = {64, 22, 0, 1};
    CHECK_INT(4, info_of_server(server).clients);
    send_half(large);
    CHECK(send(small, &head, sizeof head, MSG_NOSIGNAL) == sizeof head);
    ask_for_list(unread);
    WAIT_UNTIL(info_of_server(server).clients == 1);
    CHECK_INT(3, info_of_server(server).refused);
    CHECK_INT(0, info_of_server(server).broken);
    /* Who has said nothing, and owes nothing, stays. */
    struct {
        struct head head;
        uint64_t wanted;
    } question = {{24, 1, 0, 3}, 1};
    char body[64];
    CHECK(send(idle, &question, sizeof question, MSG_NOSIGNAL) == sizeof question);
    CHECK_INT(0, raw_answer(idle, body, sizeof body));
    close(large), close(small), close(unread), close(idle);
    close_store(owner);
}

/** Those who wait for room get it when others have gone, and then their request is carried out. */
static void test_room(void) {
    enum { LARGE = 6 };
    static char input[10 << 20];
    const char *file = path("t.db");
    selene_options options = store_options(file);
    options.clock = NULL;
    options.max_input_size = sizeof input;
    selene_scheduler owner = open_with(options);
    serve_all(owner, SELENE_HOUR, 1024);
    int halves[LARGE];
    for (int i = 0; i < LARGE; i++)
        send_half(halves[i] = raw_client(file));
    selene_scheduler connection = connect_to(file);
    selene_task task = task_of("large");
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        /* Another process asks, since this one is about to let the others go. */
        selene_scheduler mine = 0;
        for (int i = 0; i < LARGE; i++)
            close(halves[i]);
        CHECK_OK(try_connect(file, 0, &mine));
        task.input = input;
        task.input_length = sizeof input;
        CHECK_OK(selene_task_register(mine, &task, NULL));
        _exit(0);
    }
    int64_t now;
    CHECK_OK(selene_scheduler_now(connection, &now));
    for (int i = 0; i < LARGE; i++)
        close(halves[i]);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(0, status);
    CHECK_INT(SELENE_STATE_ENQUEUED, state_of(connection, "large"));
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

static void take_places(const char *file) {
    static char body[65536];
    int refused = 0;
    allow_descriptors();
    for (int i = 0; i < 64; i++) {
        struct hello hello = hello_of(2, 2);
        int client = raw_socket(file);
        CHECK(send(client, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello);
        int status = raw_answer(client, body, sizeof body);
        CHECK(status == 0 || status == SELENE_ERROR_EXHAUSTED);
        refused += status != 0;
    }
    CHECK_INT(64 - 32, refused);
}

/** One user has half of the places at most, and some are kept for the owner's and root. */
static void test_places(void) {
    const char *file = path("t.db");
    CHECK(chmod(tools_folder, 0755) == 0);
    selene_scheduler owner = open_roomy(file), own[32];
    selene_server server = serve_all(owner, SELENE_HOUR, 64);
    int ends;
    pid_t crowd = start(take_places, file, &ends);
    WAIT_UNTIL(info_of_server(server).clients == 32);
    for (int i = 0; i < 32; i++)
        own[i] = connect_to(file);
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED, try_connect(file, 0, &own[0]));
    for (int i = 1; i < 32; i++)
        CHECK_OK(selene_scheduler_close(own[i], 0));
    end(crowd, ends);
    close_store(owner);
}

int main(int argc, char **argv) {
    const char *places = "L12 of the places one user has half at most, and some are kept";
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L12 400 half frames and 200 lists that nobody reads cost less than 64 MiB",
             test_pressure);
    run_test(
        "L12 a request whose rest does not come ends its connection, as does an answer that is "
        "not taken",
        test_time);
    run_test("L12 a request that waits for room is carried out when there is some", test_room);
    if (geteuid() != 0) skip_test(places, 1, "not root");
    else run_test(places, test_places);
    tools_end();
    return check_end();
}
