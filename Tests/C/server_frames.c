/*
 * server_frames.c - what comes over a connection that is too new, too long, too slow or not the protocol at all
 */
#include "emulated.h"
#include "server_tools.h"

#include <fcntl.h>
#include <sys/wait.h>

/* ---- bad peers ---------------------------------------------------------------------------- */

static void test_versions(void) {
    static char body[65536];
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file);
    selene_server server = serve(owner);
    struct hello hello = hello_of(3, 7);
    int client = raw_socket(file);
    CHECK(send(client, &hello, sizeof hello, 0) == sizeof hello);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED, raw_answer(client, body, sizeof body));
    CHECK(memmem(body, 4096, "99.1.2", 6) != NULL && memmem(body, 4096, "3 to 7", 6) != NULL);
    CHECK_INT(-1, raw_answer(client, body, sizeof body));
    close(client);
    /* The first one numbered choices otherwise. */
    hello = hello_of(1, 1);
    client = raw_socket(file);
    CHECK(send(client, &hello, sizeof hello, 0) == sizeof hello);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED, raw_answer(client, body, sizeof body));
    close(client);
    /* One that speaks newer ones, too, is understood; what it asks beyond this one is refused, and it goes on. */
    hello = hello_of(1, 7);
    client = raw_socket(file);
    CHECK(send(client, &hello, sizeof hello, 0) == sizeof hello);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    struct head unknown = {sizeof unknown, 60000, 0, 2}, now[2] = {{24, 1, 0, 3}, {1, 0, 0, 0}};
    CHECK(send(client, &unknown, sizeof unknown, 0) == sizeof unknown);
    CHECK_INT(SELENE_ERROR_UNSUPPORTED, raw_answer(client, body, sizeof body));
    CHECK(send(client, now, 24, 0) == 24);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    close(client);
    CHECK_INT(0, info_of_server(server).broken);
    close_store(owner);
}

/** Whatever comes, the connection that it came on ends with a status, and nobody else notices. */
static void test_broken_frames(void) {
    static char body[1 << 20];
    const char *file = path("t.db");
    uint64_t seed = 20261123;
    selene_scheduler owner = open_store(file);
    selene_server server = serve(owner);
    selene_scheduler witness = connect_to(file);
    const int rounds = (int)check_environment("SELENE_TEST_ROUNDS", 1500);
    printf("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < rounds; i++) {
        unsigned char frame[600];
        size_t length = raw_registration((char *)frame, "fuzzed");
        int client = chance_below(&seed, 8) == 0 ? raw_socket(file) : raw_client(file);
        if (chance_below(&seed, 4) == 0) {
            length = 16 + chance_below(&seed, 500);
            for (size_t at = 0; at < length; at++)
                frame[at] = (unsigned char)chance(&seed);
            frame[2] = frame[3] = 0;
        } else {
            /* One or two bytes of a good one, whose operation may be any. */
            uint16_t operation = (uint16_t)chance_below(&seed, 128);
            if (chance_below(&seed, 2) == 0) memcpy(frame + 4, &operation, 2);
            for (int changes = 1 + (int)chance_below(&seed, 2); changes > 0; changes--)
                frame[chance_below(&seed, length)] = (unsigned char)chance(&seed);
            if (chance_below(&seed, 4) == 0) length -= chance_below(&seed, length);
        }
        (void)!send(client, frame, length, MSG_NOSIGNAL);
        shutdown(client, SHUT_WR);
        while (raw_answer(client, body, sizeof body) >= 0) {
        }
        close(client);
    }
    selene_server_info info = info_of_server(server);
    CHECK(info.broken > 0);
    int64_t now;
    CHECK_OK(selene_scheduler_now(witness, &now));
    WAIT_UNTIL(info_of_server(server).clients == 1);
    /* A length that no memory has is refused before there is memory for it. */
    struct head large = {0xFFFFFFF8, 16, 0, 9};
    int client = raw_client(file);
    CHECK(send(client, &large, sizeof large, 0) == sizeof large);
    CHECK_INT(SELENE_ERROR_TOO_LARGE, raw_answer(client, body, sizeof body));
    CHECK_INT(-1, raw_answer(client, body, sizeof body));
    close(client);
    CHECK_OK(selene_scheduler_close(witness, 0));
    close_store(owner);
}

/** A client that never reads, and one that says one byte at a time, hold up no other. */
static void test_slow_clients(void) {
    const char *file = path("t.db");
    char frame[512], body[1024];
    selene_scheduler owner = open_store(file);
    selene_server_options options = SELENE_INIT(selene_server_options);
    options.patience = SELENE_HOUR;
    selene_server server = serve_with(owner, options);
    selene_scheduler connection = connect_to(file);
    int deaf = raw_client(file), slow = raw_client(file);
    register_some(connection, 0, 200);
    struct {
        struct head head;
        uint64_t words[3];
    } list = {{sizeof list, 23, 0, 1}, {0, 0, 1}};
    /* It asks until nothing more is taken of it. */
    for (int i = 0; i < 100000; i++)
        if (send(deaf, &list, sizeof list, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof list) break;
    size_t length = raw_registration(frame, "byte by byte");
    for (size_t at = 0; at < length; at++) {
        CHECK(send(slow, frame + at, 1, 0) == 1);
        if (at % 50 == 0) add_once(connection, "meanwhile");
        if (at % 50 == 0) CHECK_OK(selene_task_cancel(connection, "meanwhile", -1, NULL));
    }
    CHECK_INT(0, raw_answer(slow, body, sizeof body));
    CHECK_INT(3, info_of_server(server).clients);
    close(deaf);
    close(slow);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

/** Who connects and says nothing, or does not take its last answer, keeps nobody out, and has to go after a while. */
static void test_silent_clients(void) {
    enum { SILENT = 150 };
    const char *file = path("t.db");
    int silent[SILENT];
    char body[1024];
    selene_scheduler owner = open_store(file), connection = 0, one_more = 0;
    selene_server_options options = SELENE_INIT(selene_server_options);
    options.max_clients = 1;
    options.patience = 2 * S;
    selene_server server = serve_with(owner, options);
    int64_t begun = check_now();
    for (int i = 0; i < SILENT; i++)
        silent[i] = raw_socket(file);
    CHECK(send(silent[0], "half a", 6, 0) == 6);
    /* They are no clients yet, though as many as they are wait for their turn at the door. */
    selene_connect_options to = SELENE_INIT(selene_connect_options);
    to.path = text_of(file);
    CHECK_OK(selene_scheduler_connect(&to, &connection));
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED, selene_scheduler_connect(&to, &one_more));
    for (int i = 0; i < SILENT; i++)
        CHECK_INT(-1, raw_answer(silent[i], body, sizeof body));
    CHECK(check_now() - begun >= 1 * S);
    WAIT_UNTIL(info_of_server(server).clients == 1);
    CHECK_INT(0, info_of_server(server).broken);
    add_once(connection, "goes on");
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

static void look_as_nobody(void) {
    selene_scheduler connection = 0;
    become_nobody();
    CHECK_OK(try_connect(path("t.db"), 0, &connection));
    CHECK_OK(selene_scheduler_close(connection, 0));
}

/** Of those who may but look few are waited for at a time, whatever they do: the others have their places. */
static void test_onlookers(void) {
    enum { SILENT = 60, WAITED_FOR = 16 };
    const char *file = path("t.db");
    int ends[2], status;
    char byte;
    selene_peer_rule rule = {65534, SELENE_ANYBODY, SELENE_RIGHT_LOOK, 0};
    selene_server_options options = SELENE_INIT(selene_server_options);
    options.mode = 0666;
    options.rules = &rule;
    options.rule_count = 1;
    CHECK(chmod(tools_folder, 0755) == 0 && pipe(ends) == 0);
    selene_scheduler owner = open_here(file);
    selene_server server = serve_with(owner, options);
    pid_t crowd = fork();
    CHECK(crowd >= 0);
    if (crowd == 0) {
        become_nobody();
        close(ends[1]);
        for (int i = 0; i < SILENT; i++)
            CHECK(raw_socket(file) >= 0);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    WAIT_UNTIL(info_of_server(server).refused == SILENT - WAITED_FOR);
    /* Who says hello is none of these any more. */
    close(ends[0]);
    close(ends[1]);
    CHECK(waitpid(crowd, &status, 0) == crowd && status == 0);
    WAIT_UNTIL(info_of_server(server).clients == 0);
    for (int i = 0; i < 2 * WAITED_FOR; i++)
        CHECK_INT(0, in_child(look_as_nobody));
    close_store(owner);
}

/** One that breaks the protocol and does not take what it was answered before is let go, too. */
static void test_deaf_client(void) {
    static char input[4 << 20];
    const char *file = path("t.db");
    selene_options options = store_options(file);
    options.max_input_size = sizeof input;
    selene_server_options terms = SELENE_INIT(selene_server_options);
    terms.patience = S;
    selene_scheduler owner = open_with(options);
    selene_server server = serve_with(owner, terms);
    selene_task task = task_of("a");
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.input = input;
    task.input_length = sizeof input;
    CHECK_OK(selene_task_register(owner, &task, NULL));
    /* What asks for that task, and what is no frame. */
    struct {
        struct head head;
        uint64_t present, length;
        char id[8];
        uint64_t place, is_wanted;
        struct head wrong;
    } frames = {{56, 22, 0, 1}, 1, 1, "a", 0, 1, {17, 22, 0, 2}};
    int deaf = raw_client(file);
    CHECK(send(deaf, &frames, sizeof frames, 0) == sizeof frames);
    WAIT_UNTIL(info_of_server(server).broken == 1);
    CHECK_INT(1, info_of_server(server).clients);
    WAIT_UNTIL(info_of_server(server).clients == 0);
    close(deaf);
    close_store(owner);
}

/** Whether the limit of descriptors is that of the system: valgrind has one of its own. */
static int is_limited_to(unsigned long most) {
    char line[256];
    unsigned long found = 0;
    FILE *limits = fopen("/proc/self/limits", "r");
    while (limits != NULL && fgets(line, sizeof line, limits) != NULL)
        if (sscanf(line, "Max open files %lu", &found) == 1) break;
    if (limits != NULL) fclose(limits);
    return found == most;
}

static void limit_descriptors(void) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur > 256) limit.rlim_cur = 256;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (!is_limited_to(limit.rlim_cur)) _exit(1);
}

/** A process that cannot be watched for want of descriptors is no member, and is told so. */
static void test_no_descriptors(void) {
    const char *file = path("t.db");
    int taken[4096], count = 0;
    selene_scheduler owner = open_here(file);
    serve(owner);
    selene_scheduler member = member_of(file, "pool");
    limit_descriptors();
    while (count < 4096 && (taken[count] = dup(0)) >= 0)
        count++;
    CHECK(count > 0 && count < 4096);
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED, offer(member, "here"));
    DETAIL("watch");
    close(taken[0]);
    CHECK_OK(offer(member, "here"));
    for (int i = 1; i < count; i++)
        close(taken[i]);
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** Whether the system tells who connected by more than a number, which Linux does from 6.5 on. */
static int knows_processes(void) {
    int ends[2], found = -1;
    socklen_t size = sizeof found;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    int is_known = getsockopt(ends[0], SOL_SOCKET, 77 /* SO_PEERPIDFD */, &found, &size) == 0;
    if (is_known) close(found);
    close(ends[0]);
    close(ends[1]);
    return is_known;
}

/** A child of the process that connected has its socket and joins when that has ended, and another process its number. */
static void test_reused_number(void) {
    const char *file = path("t.db");
    static char body[65536];
    int ends[2];
    char byte, number[16];
    selene_scheduler owner = open_here(file);
    selene_server server = serve(owner);
    CHECK(pipe(ends) == 0);
    pid_t first = fork();
    CHECK(first >= 0);
    if (first == 0) {
        int client = raw_client(file);
        pid_t heir = fork();
        CHECK(heir >= 0);
        if (heir > 0) _exit(0);
        alarm(60);
        struct {
            struct head head;
            uint64_t present, length;
            char pool[8];
        } join = {{40, 88, 0, 2}, 1, 4, "pool"};
        CHECK(read(ends[0], &byte, 1) == 1);
        CHECK(send(client, &join, sizeof join, MSG_NOSIGNAL) == sizeof join);
        while (raw_answer(client, body, sizeof body) >= 0) {
        }
        _exit(0);
    }
    CHECK(waitpid(first, NULL, 0) == first);
    pid_t other = -1;
    for (int tries = 0; other != first && tries < 100; tries++) {
        int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
        int length = snprintf(number, sizeof number, "%d", (int)first - 1);
        int is_set = last >= 0 && write(last, number, (size_t)length) == length;
        if (last >= 0) close(last);
        other = fork();
        CHECK(other >= 0);
        if (other == 0) {
            for (;;)
                pause();
        }
        if (other != first) {
            CHECK(kill(other, SIGKILL) == 0 && waitpid(other, NULL, 0) == other);
            if (!is_set) {
                printf("the next process's number cannot be chosen here\n");
                other = -1;
                break;
            }
        }
    }
    CHECK(write(ends[1], "x", 1) == 1);
    if (other == first) {
        /* It has ended, so its socket is of no use to the heir. */
        WAIT_UNTIL(info_of_server(server).clients == 0);
        CHECK(kill(other, SIGKILL) == 0 && waitpid(other, NULL, 0) == other);
    }
    close_store(owner);
}

/** A process says how a run ended that another of its pool took. */
static void test_of_another(void) {
    const char *file = path("t.db");
    static char body[65536];
    selene_scheduler owner = open_here(file);
    serve(owner);
    CHECK_OK(selene_events_open(owner, 100, NULL));
    selene_scheduler member = member_of(file, "pool");
    selene_window window = SELENE_INIT(selene_window);
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_event event = SELENE_INIT(selene_event);
    selene_cycle cycle = 0;
    int32_t step = SELENE_STEP_DONE, found = 1;
    CHECK_OK(offer(member, "here"));
    selene_task task = task_of("t");
    task.handler = text_of("here");
    CHECK_OK(selene_task_register(owner, &task, NULL));
    CHECK_OK(selene_cycle_begin(member, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    do {
        CHECK_OK(selene_events_next(owner, 0, &event, &found, NULL));
        CHECK(found);
    } while (event.type != SELENE_EVENT_STARTED);
    int client = raw_client(file);
    struct {
        struct head head;
        uint64_t present, length;
        char pool[8];
    } join = {{40, 88, 0, 2}, 1, 4, "pool"};
    struct {
        struct head head;
        uint64_t run, outcome;
    } complete = {{32, 112, 0, 3}, event.run, SELENE_OUTCOME_NEW_DATA};
    CHECK(send(client, &join, sizeof join, MSG_NOSIGNAL) == sizeof join);
    CHECK_INT(SELENE_OK, raw_answer(client, body, sizeof body));
    CHECK(send(client, &complete, sizeof complete, MSG_NOSIGNAL) == sizeof complete);
    CHECK_INT(SELENE_ERROR_INVALID_HANDLE, raw_answer(client, body, sizeof body));
    CHECK(memmem(body, 4096, "another process took it", 23) != NULL);
    close(client);
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_scheduler_close(member, 0));
    close_store(owner);
}

/** A request that is longer than the owner takes is refused before it is sent, and the connection goes on. */
static void test_large_requests(void) {
    static char input[200000];
    const char *file = path("t.db");
    selene_options options = store_options(file);
    options.max_input_size = sizeof input;
    selene_scheduler owner = open_with(options);
    selene_server_options terms = SELENE_INIT(selene_server_options);
    terms.max_request_size = 65536;
    selene_server server = serve_with(owner, terms);
    selene_scheduler connection = connect_to(file);
    selene_task task = task_of("large");
    selene_task_info *info = NULL;
    memset(input, 'i', sizeof input);
    task.input = input;
    task.input_length = sizeof input;
    CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_task_register(connection, &task, NULL));
    DETAIL("65536 bytes");
    task.input_length = 60000;
    CHECK_OK(selene_task_register(connection, &task, NULL));
    CHECK_INT(0, info_of_server(server).broken);
    /* What comes back is not bounded by it. */
    task.id = text_of("larger");
    task.input_length = sizeof input;
    CHECK_OK(selene_task_register(owner, &task, NULL));
    CHECK_OK(selene_task_get(connection, "larger", -1, 0, &info));
    CHECK_INT(sizeof input, info->input.length);
    CHECK(memcmp(info->input.data, input, sizeof input) == 0);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

/* ---- an owner of another version ------------------------------------------------------------- */

/** Stands between a client and the owner, and makes the struct of each answer to operation 22 so many bytes longer. */
struct between {
    const char *file;
    int listener;
    atomic_int longer;
};

static size_t relay(int from, int to, char *frame, int longer) {
    struct head head;
    uint64_t sizes[2];
    if (recv(from, frame, sizeof head, MSG_WAITALL) != (ssize_t)sizeof head) return 0;
    memcpy(&head, frame, sizeof head);
    size_t length = head.length, rest = length - sizeof head;
    CHECK(length <= 32768);
    if (rest > 0 && recv(from, frame + sizeof head, rest, MSG_WAITALL) != (ssize_t)rest) return 0;
    if (longer != 0 && head.operation == 22 && head.status == 0) {
        char *bytes = frame + sizeof head + sizeof sizes;
        memcpy(sizes, frame + sizeof head, sizeof sizes);
        uint64_t before = sizes[0];
        sizes[0] += (uint64_t)(int64_t)longer;
        memmove(bytes + sizes[0], bytes + before, length - (size_t)(bytes - frame) - before);
        /* What is newer has a meaning that an older header does not know. */
        if (longer > 0) memset(bytes + before, 0xEE, (size_t)longer);
        uint32_t size = (uint32_t)sizes[0];
        memcpy(bytes, &size, sizeof size);
        memcpy(frame + sizeof head, sizes, sizeof sizes);
        length = (size_t)((int64_t)length + longer);
        head.length = (uint32_t)length;
        memcpy(frame, &head, sizeof head);
    }
    return send(to, frame, length, MSG_NOSIGNAL) == (ssize_t)length ? length : 0;
}

static void *stand_between(void *argument) {
    static char frame[65536];
    struct between *own = argument;
    int client = accept(own->listener, NULL, NULL), owner = raw_socket(own->file);
    CHECK(client >= 0);
    while (relay(client, owner, frame, 0) > 0 &&
           relay(owner, client, frame, atomic_load(&own->longer)) > 0) {
    }
    close(client);
    close(owner);
    return NULL;
}

static void test_ages(void) {
    const char *file = path("t.db"), *middle = path("m.db");
    selene_scheduler owner = open_store(file);
    struct between own = {.file = file};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    static const selene_text tags[] = {{"tag", 3}};
    selene_task task = task_of("task");
    pthread_t thread;
    serve(owner);
    task.handler = text_of("handler");
    task.tags = tags;
    task.tag_count = 1;
    task.group = text_of("group");
    CHECK_OK(selene_task_register(owner, &task, NULL));
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s-sock", middle);
    own.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(own.listener, (const void *)&address, sizeof address) == 0);
    CHECK(listen(own.listener, 1) == 0);
    CHECK(pthread_create(&thread, NULL, stand_between, &own) == 0);
    selene_scheduler connection = connect_to(middle);
    int whole = (int)sizeof(selene_task_info);
    /* No release had it shorter than up to its id: that is no answer (L19). */
    for (int size = 24; size <= whole + 256; size += 8) {
        selene_task_info *info = NULL;
        atomic_store(&own.longer, size - whole);
        CHECK_OK(selene_task_get(connection, "task", -1, 0, &info));
        CHECK_INT(whole, info->struct_size);
        /* A field that the owner does not know is 0, and a text empty. */
        int has_handler = size >= 40,
            has_group = size >= (int)offsetof(selene_task_info, group) + 16;
        CHECK(info->id.data != NULL && info->handler.data != NULL && info->group.data != NULL);
        CHECK_TEXT("task", info->id);
        CHECK(strcmp(info->handler.data, has_handler ? "handler" : "") == 0);
        CHECK(strcmp(info->group.data, has_group ? "group" : "") == 0);
        CHECK_INT(has_group ? 5 : 0, info->group.length);
        if (info->tag_count > 0 && info->tags != NULL)
            CHECK(strcmp(info->tags[0].data, "tag") == 0);
        if (size < (int)offsetof(selene_task_info, priority) + 4) CHECK_INT(0, info->priority);
        else CHECK_INT(3, info->priority);
        selene_free(info);
    }
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK(pthread_join(thread, NULL) == 0);
    close(own.listener);
    CHECK(unlink(address.sun_path) == 0);
    close_store(owner);
}

int main(int argc, char **argv) {
    const char *unwatched = "L12 a process that cannot be watched is no member, and is told so";
    const char *reused =
        "L9 a process that has the number of one that connected is not taken for it";
    const char *onlookers = "L12 of those who may but look few are waited for at a time";
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L13 versions are negotiated, and what is unknown is refused by name", test_versions);
    run_test("L13 structs of an older or newer owner are read as far as both know them", test_ages);
    run_test("L12 what is not the protocol ends its connection and no other", test_broken_frames);
    run_test("L12 a client that never reads, or says a byte at a time, holds up no other",
             test_slow_clients);
    run_test("L12 who connects and says nothing keeps nobody out", test_silent_clients);
    if (geteuid() != 0) skip_test(onlookers, 1, "not root");
    else run_test(onlookers, test_onlookers);
    run_test("L12 who breaks the protocol and takes no answer is let go", test_deaf_client);
    if (in_child(limit_descriptors) != 0) skip_test(unwatched, 1, "no limit of the system's");
    else run_test(unwatched, test_no_descriptors);
    if (!knows_processes()) skip_test(reused, 1, "the system knows a process by its number");
    else if (geteuid() != 0) skip_test(reused, 1, "not root");
    else if (!children_have_threads()) skip_test(reused, 1, EMULATED);
    else run_test(reused, test_reused_number);
    run_test("L8 whoever guesses the number of another's run cannot end it", test_of_another);
    run_test("L12 a request that is too long is refused before it is sent", test_large_requests);
    tools_end();
    return check_end();
}
