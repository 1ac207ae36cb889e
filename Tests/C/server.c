/*
 * server.c - one process has a store and serves it, others connect (docs/rules.md, section Server)
 */
#include "emulated.h"
#include "server_host.h"
#include "server_tools.h"

/* ---- what a connection is ------------------------------------------------------------- */

static void test_same_answers(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file);
    register_some(owner, 0, 60);
    fill(owner, 20);
    CHECK_OK(selene_conditions_set(owner, BOTH, SELENE_CONSTRAINT_NETWORK));
    serve(owner);
    selene_scheduler connection = connect_to(file);
    CHECK_DUMPS(dump_all(owner), dump_all(connection));
    /* By the name of the socket it is the same. */
    selene_scheduler by_socket = connect_to(path("t.db-sock"));
    add_once(by_socket, "through the socket");
    CHECK_DUMPS(dump_all(connection), dump_all(by_socket));
    CHECK_OK(selene_scheduler_close(by_socket, 0));
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_prune(connection, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_reset(connection));
    close_store(owner);
}

/** What is registered through a connection is what is registered directly. */
static void test_same_changes(void) {
    const char *here = path("here.db"), *there = path("there.db");
    selene_scheduler direct = open_store(here), owner = open_store(there);
    serve(owner);
    selene_scheduler connection = connect_to(there);
    uint64_t count = 0, other = 0;
    register_some(direct, 0, 80);
    register_some(connection, 0, 80);
    CHECK_DUMPS(dump_all(direct), dump_all(connection));
    CHECK_OK(selene_task_cancel_tag(direct, "even", -1, &count));
    CHECK_OK(selene_task_cancel_tag(connection, "even", -1, &other));
    CHECK_INT(count, other);
    CHECK_OK(selene_scheduler_enable(direct, SELENE_KIND_REFRESH));
    CHECK_OK(selene_scheduler_enable(connection, SELENE_KIND_REFRESH));
    CHECK_DUMPS(dump_all(direct), dump_all(owner));
    CHECK_OK(selene_task_cancel_all(direct, &count));
    CHECK_OK(selene_task_cancel_all(connection, &other));
    CHECK_INT(count, other);
    CHECK_OK(selene_scheduler_prune(direct, &count));
    CHECK_OK(selene_scheduler_prune(connection, &other));
    CHECK_INT(count, other);
    CHECK_DUMPS(dump_all(direct), dump_all(owner));
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(direct);
    close_store(owner);
}

static void test_no_owner(void) {
    selene_scheduler connection = 0;
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_connect(path("none.db"), 0, &connection));
    DETAIL("none.db-sock");
    DETAIL("no process serves it, and there is no such store");
    CHECK_INT(0, connection);
    write_bytes(path("file-sock"), "mine", 4);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_connect(path("file-sock"), 0, &connection));
    DETAIL("it is not a socket");
    CHECK(!exists(path("none.db")));
    int64_t begun = check_now();
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_connect(path("none.db"), 50 * MS, &connection));
    CHECK(check_now() - begun >= 50 * MS);
    /* A socket file that an owner left behind is nobody's, and the next owner's. */
    pid_t owner = start_owner(path("t.db"));
    end_owner(owner, SIGKILL);
    CHECK(exists(path("t.db-sock")));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_connect(path("t.db"), 0, &connection));
    owner = start_owner(path("t.db"));
    CHECK_OK(try_connect(path("t.db"), 0, &connection));
    CHECK_OK(selene_scheduler_close(connection, 0));
    end_owner(owner, SIGKILL);
}

static void test_socket(void) {
    selene_server_options options = SELENE_INIT(selene_server_options);
    selene_scheduler owner = open_store(path("t.db")), in_memory = 0;
    selene_server server = serve(owner), second = 0;
    struct stat found;
    CHECK(lstat(path("t.db-sock"), &found) == 0 && S_ISSOCK(found.st_mode));
    CHECK_INT(0600, found.st_mode & 0777);
    /* Somebody answers there. */
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_server_start(owner, NULL, &second));
    CHECK_OK(selene_server_close(server));
    CHECK(!exists(path("t.db-sock")));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_close(server));
    /* A file that is not a socket stays. */
    write_bytes(path("t.db-sock"), "mine", 4);
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_server_start(owner, NULL, &second));
    DETAIL("not a socket");
    CHECK(exists(path("t.db-sock")));
    CHECK_INT(0, second);
    /* A name longer than an address, and one that counts from the folder that the process is in. */
    char longer[400];
    snprintf(longer, sizeof longer, "%.200s/%0*d", tools_folder, 150, 7);
    CHECK(mkdir(longer, 0755) == 0);
    strcat(longer, "/socket-sock");
    options.path = text_of(longer);
    server = serve_with(owner, options);
    selene_scheduler connection = connect_to(longer);
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_OK(selene_server_close(server));
    CHECK(chdir(tools_folder) == 0);
    options.path = text_of("here-sock");
    server = serve_with(owner, options);
    CHECK(chdir("/") == 0);
    connection = connect_to(path("here-sock"));
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_OK(selene_server_close(server));
    CHECK(!exists(path("here-sock")));
    options.path = text_of("/no/such/folder/socket");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, &options, &second));
    DETAIL("No such file");
    close_store(owner);
    /* Tasks in memory have no place of their own. */
    CHECK_OK(selene_scheduler_open(NULL, &in_memory));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(in_memory, NULL, &second));
    DETAIL("must be given");
    options.path = text_of(path("memory-sock"));
    server = serve_with(in_memory, options);
    connection = connect_to(path("memory-sock"));
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_OK(selene_scheduler_close(in_memory, 0));
    CHECK(!exists(path("memory-sock")));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_close(server));
}

/** A socket that another process made, as a service manager does, is served as it is, and stays. */
static void test_descriptor(void) {
    selene_server_options options = SELENE_INIT(selene_server_options);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    selene_scheduler owner = open_store(path("t.db")), connection = 0;
    selene_server server = 0;
    int made = socket(AF_UNIX, SOCK_STREAM, 0), pair[2];
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s", path("given"));
    CHECK(bind(made, (const void *)&address, sizeof address) == 0);
    options.flags = SELENE_SERVER_DESCRIPTOR;
    options.descriptor = made;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, &options, &server));
    DETAIL("must be a Unix stream socket that listens");
    CHECK(listen(made, 16) == 0);
    /* A client that came before the owner waits. */
    int early = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(connect(early, (const void *)&address, sizeof address) == 0);
    options.path = text_of(path("elsewhere"));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, &options, &server));
    DETAIL("path");
    options.path = (selene_text){NULL, 0};
    for (int life = 0; life < 2; life++) {
        server = serve_with(owner, options);
        CHECK(!exists(path("t.db-sock")));
        connection = connect_to(path("given"));
        add_once(connection, life ? "second" : "first");
        CHECK_OK(selene_scheduler_close(connection, 0));
        /* The early one was met, too. */
        if (life == 0) WAIT_UNTIL(info_of_server(server).accepted == 2);
        CHECK_OK(selene_server_close(server));
        CHECK(exists(path("given")));
    }
    close(early);
    /* The server had one of its own: the host's is as it was. */
    server = serve_with(owner, options);
    close(made);
    connection = connect_to(path("given"));
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_OK(selene_server_close(server));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, &options, &server));
    DETAIL("Bad file descriptor");
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    options.descriptor = pair[0];
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, &options, &server));
    DETAIL("that listens");
    close(pair[0]);
    close(pair[1]);
    options.descriptor = -2;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, &options, &server));
    DETAIL("descriptor");
    options.flags = 0;
    options.descriptor = 3;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, &options, &server));
    DETAIL("without SELENE_SERVER_DESCRIPTOR");
    options.descriptor = 0;
    options.reserved = 1;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, &options, &server));
    DETAIL("reserved");
    close_store(owner);
}

/** Everything that is outside what is allowed is refused by its name, and leaves nothing. */
static void test_options(void) {
    selene_scheduler owner = open_store(path("t.db")), connection = 0;
    selene_server server = 0;
    selene_peer_rule rule = {0, 0, 32, 0};
    for (int field = 0; field < 11; field++) {
        static const char *const names[] = {
            "flags",       "rule_count",       "rules",       "rules", "mode", "max_clients",
            "max_clients", "max_request_size", "struct_size", "adopt", "adopt"};
        selene_server_options options = SELENE_INIT(selene_server_options);
        if (field == 0) options.flags = 2;
        if (field == 1) options.rule_count = 1025;
        if (field == 2) options.rule_count = 1;
        if (field == 3) options.rules = &rule, options.rule_count = 1;
        if (field == 4) options.mode = 01000;
        if (field == 5) options.max_clients = UINT32_MAX;
        if (field == 6) options.max_clients = 65537;
        if (field == 7) options.max_request_size = 65535;
        if (field == 8) options.struct_size = 7;
        if (field == 9) options.adopt = -2;
        if (field == 10) options.adopt = 24 * SELENE_HOUR + 1;
        CHECK_STATUS(field == 8 ? SELENE_ERROR_UNSUPPORTED_STRUCT : SELENE_ERROR_INVALID_ARGUMENT,
                     selene_server_start(owner, &options, &server));
        DETAIL(names[field]);
    }
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_server_start(owner, NULL, NULL));
    DETAIL("out_server");
    CHECK_INT(0, server);
    CHECK(!exists(path("t.db-sock")));
    for (int field = 0; field < 7; field++) {
        static const char *const names[] = {"flags",   "path",    "path",       "wait",
                                            "timeout", "timeout", "struct_size"};
        selene_connect_options options = SELENE_INIT(selene_connect_options);
        options.path = text_of(path("t.db"));
        if (field == 0) options.flags = 2;
        if (field == 1) options.path.length = 0;
        if (field == 2) options.path = (selene_text){"a\0b", 3};
        if (field == 3) options.wait = -1;
        if (field == 4) options.timeout = 999999;
        if (field == 5) options.timeout = SELENE_DAY + 1;
        if (field == 6) options.struct_size = 7;
        CHECK_STATUS(field == 6 ? SELENE_ERROR_UNSUPPORTED_STRUCT : SELENE_ERROR_INVALID_ARGUMENT,
                     selene_scheduler_connect(&options, &connection));
        DETAIL(names[field]);
    }
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_connect(NULL, &connection));
    DETAIL("options");
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_scheduler_connect(
                     &(selene_connect_options)SELENE_INIT(selene_connect_options), NULL));
    DETAIL("out_scheduler");
    CHECK_INT(0, connection);
    close_store(owner);
}

/* ---- durability ------------------------------------------------------------------------- */

static atomic_int is_inside, may_leave;

static void hold_first(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_REGISTERED || atomic_exchange(&is_inside, 1)) return;
    int64_t until = check_now() + PATIENCE;
    while (!atomic_load(&may_leave) && check_now() < until)
        check_sleep(MS);
}

static void test_group_commit(void) {
    enum { CLIENTS = 8 };
    const char *file = path("t.db");
    char frame[512], id[32], body[1024];
    int clients[CLIENTS + 1];
    selene_scheduler owner = open_store(file);
    serve(owner);
    for (int i = 0; i <= CLIENTS; i++)
        clients[i] = raw_client(file);
    CHECK_OK(selene_scheduler_observe(owner, hold_first, NULL, NULL));
    /* While the server's thread is held in the first registration, the others come in. */
    for (int i = 0; i <= CLIENTS; i++) {
        snprintf(id, sizeof id, "task %d", i);
        size_t length = raw_registration(frame, id);
        CHECK(send(clients[i], frame, length, 0) == (ssize_t)length);
        if (i == 0) WAIT_UNTIL(atomic_load(&is_inside));
    }
    uint64_t before = commits_of(owner);
    atomic_store(&may_leave, 1);
    for (int i = 0; i <= CLIENTS; i++)
        CHECK_INT(0, raw_answer(clients[i], body, sizeof body));
    CHECK_INT(before + 1, commits_of(owner));
    CHECK_INT(CLIENTS + 1, count_of(owner));
    for (int i = 0; i <= CLIENTS; i++)
        close(clients[i]);
    close_store(owner);
}

/** The owner is killed while a client registers: what was answered OK is there, and the handle finds the next owner. */
static void test_owner_killed(void) {
    const char *file = path("t.db");
    char id[32];
    pid_t owner = start_owner(file);
    selene_scheduler connection = connect_to(file);
    int number = 0, acknowledged[2000] = {0};
    for (int life = 0; life < 4; life++) {
        int64_t begun = check_now();
        int is_killed = 0;
        selene_status status = SELENE_OK;
        while (status == SELENE_OK && number < 2000) {
            snprintf(id, sizeof id, "task %d", number);
            selene_task task = task_of(id);
            task.schedule = SELENE_SCHEDULE_ONCE;
            status = selene_task_register(connection, &task, NULL);
            acknowledged[number++] = status == SELENE_OK;
            if (!is_killed && check_now() - begun > (5 + 7 * life) * MS) {
                end_owner(owner, SIGKILL);
                is_killed = 1;
            }
        }
        if (!is_killed) end_owner(owner, SIGKILL);
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_scheduler_prune(connection, NULL));
        owner = start_owner(file);
        for (int i = 0; i < number; i++) {
            selene_task_info *info = NULL;
            snprintf(id, sizeof id, "task %d", i);
            status = selene_task_get(connection, id, -1, 0, &info);
            if (acknowledged[i]) CHECK_OK(status);
            selene_free(info);
        }
    }
    end_owner(owner, SIGKILL);
    CHECK_OK(selene_scheduler_close(connection, 0));
}

struct asked {
    selene_scheduler connection;
    int is_question;
    selene_status status;
    char detail[512];
};

static void *ask_one(void *context) {
    struct asked *own = context;
    uint64_t count;
    int64_t now;
    own->status = own->is_question ? selene_scheduler_now(own->connection, &now)
                                   : selene_task_cancel_all(own->connection, &count);
    snprintf(own->detail, sizeof own->detail, "%s", selene_error_last()->message.data);
    return NULL;
}

/** A call in flight when the owner is killed says what may have happened. */
static void test_owner_killed_in_flight(void) {
    const char *file = path("t.db");
    for (int is_question = 0; is_question < 2; is_question++) {
        pid_t owner = start_owner(file);
        struct asked asked = {.connection = connect_to(file), .is_question = is_question};
        pthread_t thread;
        stop_owner(owner);
        CHECK(pthread_create(&thread, NULL, ask_one, &asked) == 0);
        check_sleep(20 * MS);
        end_owner(owner, SIGKILL);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_INT(SELENE_ERROR_OWNER_AWAY, asked.status);
        /* It may also have come only now: then nobody was there. */
        CHECK(strstr(asked.detail, "may have been carried out") ||
              strstr(asked.detail, "nothing was changed"));
        if (is_question) CHECK(!strstr(asked.detail, "may have been carried out"));
        CHECK_OK(selene_scheduler_close(asked.connection, 0));
    }
}

/** What may have been done is not asked of the next owner as well. */
static void test_asked_once(void) {
    const char *file = path("t.db");
    pid_t owner = start_owner(file);
    struct asked asked = {0};
    pthread_t thread;
    /* The next one is forked before the thread calls: not every runtime lets a child use what another thread holds. */
    struct owner next = fork_owner(file);
    CHECK_OK(try_connect(file, PATIENCE, &asked.connection));
    stop_owner(owner);
    CHECK(pthread_create(&thread, NULL, ask_one, &asked) == 0);
    await_question();
    end_owner(owner, SIGKILL);
    owner = let_own(next);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(SELENE_ERROR_OWNER_AWAY, asked.status);
    CHECK(strstr(asked.detail, "may have been carried out") != NULL);
    end_owner(owner, SIGKILL);
    CHECK_OK(selene_scheduler_close(asked.connection, 0));
}

static void *listen_to_one(void *context) {
    struct asked *own = context;
    selene_event event = SELENE_INIT(selene_event);
    int32_t found = 1;
    while (found && (own->status = selene_events_next(own->connection, SELENE_NEVER, &event, &found,
                                                      NULL)) == SELENE_OK) {
    }
    snprintf(own->detail, sizeof own->detail, "%s", selene_error_last()->message.data);
    return NULL;
}

/** Who waits for an event when the owner is killed is told at once, and may listen to the next owner. */
static void test_owner_killed_while_heard(void) {
    const char *file = path("t.db");
    selene_event event = SELENE_INIT(selene_event);
    int32_t found = 0;
    pid_t owner = start_owner(file);
    struct asked asked = {.connection = connect_to(file)};
    pthread_t thread;
    CHECK_OK(selene_events_open(asked.connection, 100, NULL));
    add_once(asked.connection, "of the first");
    CHECK(pthread_create(&thread, NULL, listen_to_one, &asked) == 0);
    end_owner(owner, SIGKILL);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(SELENE_ERROR_OWNER_AWAY, asked.status);
    CHECK(strstr(asked.detail, "ended the connection") != NULL);
    owner = start_owner(file);
    /* Calls find the next owner by themselves; events do not, so that nobody takes what he did not hear for nothing. */
    add_once(asked.connection, "of the second");
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY,
                 selene_events_next(asked.connection, 0, &event, &found, NULL));
    CHECK_OK(selene_events_close(asked.connection));
    CHECK_OK(selene_events_open(asked.connection, 100, NULL));
    add_once(asked.connection, "heard");
    CHECK_OK(selene_events_next(asked.connection, 0, &event, &found, NULL));
    CHECK_INT(1, found);
    CHECK_TEXT("heard", event.id);
    end_owner(owner, SIGKILL);
    CHECK_OK(selene_scheduler_close(asked.connection, 0));
}

static void test_owner_stopped(void) {
    const char *file = path("t.db");
    selene_connect_options options = SELENE_INIT(selene_connect_options);
    selene_scheduler connection = 0, patient = 0;
    int64_t now;
    pid_t owner = start_owner(file);
    options.path = text_of(file);
    CHECK_OK(selene_scheduler_connect(&options, &patient));
    options.timeout = 200 * MS;
    options.wait = 0;
    /* Where all is slow even the greeting takes its time. */
    for (int i = 0; i < 100 && connection == 0; i++)
        if (selene_scheduler_connect(&options, &connection) != SELENE_OK) check_sleep(100 * MS);
    CHECK(connection != 0);
    stop_owner(owner);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_task_cancel_all(connection, NULL));
    DETAIL("not answer in time");
    CHECK_INT(SELENE_UNIT_DURATION, selene_error_last()->unit);
    CHECK_INT(200 * MS, selene_error_last()->value);
    CHECK(kill(owner, SIGCONT) == 0);
    CHECK_OK(selene_scheduler_now(patient, &now));
    WAIT_UNTIL(selene_scheduler_now(connection, &now) == SELENE_OK);
    end_owner(owner, SIGKILL);
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_OK(selene_scheduler_close(patient, 0));
}

/** A call waits for the next owner if it was asked to. */
static void test_wait_for_owner(void) {
    const char *file = path("t.db");
    pid_t owner = start_owner(file);
    selene_scheduler connection = 0;
    /* Forked before the thread calls, as above. */
    struct owner next = fork_owner(file);
    CHECK_OK(try_connect(file, PATIENCE, &connection));
    end_owner(owner, SIGKILL);
    struct asked asked = {.connection = connection};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ask_one, &asked) == 0);
    owner = let_own(next);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(SELENE_OK, asked.status);
    end_owner(owner, SIGKILL);
    CHECK_OK(selene_scheduler_close(connection, 0));
}

/* ---- rights ----------------------------------------------------------------------------- */

static const char *served_file;

static void test_stranger_refused(void) {
    selene_scheduler connection = 0;
    become_nobody();
    CHECK_STATUS(SELENE_ERROR_REFUSED, try_connect(served_file, 0, &connection));
    DETAIL("has no rights");
    CHECK_INT(0, connection);
}

static void test_stranger_looks(void) {
    selene_task task = task_of("mine");
    selene_task_info *info = NULL;
    selene_task_output *output = NULL;
    become_nobody();
    selene_scheduler connection = connect_to(served_file);
    CHECK_OK(selene_task_get(connection, "secret", -1, 0, &info));
    CHECK_TEXT("secret", info->id);
    CHECK_INT(0, info->input.length);
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_task_get_output(connection, "secret", -1, &output));
    DETAIL("SELENE_RIGHT_READ");
    selene_free(info);
    CHECK_OK(selene_events_open(connection, 8, NULL));
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_task_register(connection, &task, NULL));
    DETAIL("SELENE_RIGHT_ENQUEUE");
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_task_cancel_all(connection, NULL));
    DETAIL("SELENE_RIGHT_MANAGE");
    CHECK_OK(selene_scheduler_close(connection, 0));
}

static void test_stranger_enqueues(void) {
    selene_task_info *info = NULL;
    become_nobody();
    selene_scheduler connection = connect_to(served_file);
    add_once(connection, "of a stranger");
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_events_open(connection, 8, NULL));
    DETAIL("SELENE_RIGHT_LOOK");
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_task_get(connection, "secret", -1, 0, &info));
    CHECK_STATUS(SELENE_ERROR_REFUSED,
                 selene_handler_register(connection, "h", -1, NULL, NULL, NULL, NULL));
    DETAIL("SELENE_RIGHT_WORK");
    selene_cycle cycle = 0;
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_cycle_begin(connection, NULL, &cycle));
    /* What it may do it may still do. */
    CHECK_OK(selene_task_cancel(connection, "of a stranger", -1, NULL));
    CHECK_OK(selene_scheduler_close(connection, 0));
}

static void test_stranger_works(void) {
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    selene_task task = task_of("mine");
    int32_t step = -1;
    become_nobody();
    selene_scheduler connection = connect_to(served_file);
    CHECK_STATUS(SELENE_ERROR_REFUSED, selene_task_register(connection, &task, NULL));
    CHECK_OK(selene_handler_register(connection, "of a stranger", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_cycle_begin(connection, NULL, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_TEXT("for it", run.id);
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(connection, 0));
}

static void test_rights(void) {
    selene_peer_rule rule = {65534, SELENE_ANYBODY, 0, 0};
    selene_server_options options = SELENE_INIT(selene_server_options);
    served_file = path("t.db");
    selene_scheduler owner = open_store(served_file);
    selene_task task = task_of("secret");
    task.input = "secret";
    task.input_length = 6;
    CHECK_OK(selene_task_register(owner, &task, NULL));
    options.mode = 0666;
    selene_server server = serve_with(owner, options);
    /* The process that has it may do everything. */
    selene_scheduler own = connect_to(served_file);
    selene_task_info *info = NULL;
    CHECK_OK(selene_task_get(own, "secret", -1, 0, &info));
    CHECK_TEXT("secret", info->input);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(own, 0));
    CHECK_INT(0, in_child(test_stranger_refused));
    CHECK_INT(1, info_of_server(server).refused);
    CHECK_OK(selene_server_close(server));
    options.rules = &rule;
    options.rule_count = 1;
    rule.rights = SELENE_RIGHT_LOOK;
    server = serve_with(owner, options);
    CHECK_INT(0, in_child(test_stranger_looks));
    CHECK_INT(3, info_of_server(server).refused);
    CHECK_OK(selene_server_close(server));
    rule = (selene_peer_rule){SELENE_ANYBODY, 65534, SELENE_RIGHT_ENQUEUE, 0};
    server = serve_with(owner, options);
    CHECK_INT(0, in_child(test_stranger_enqueues));
    CHECK_INT(4, info_of_server(server).refused);
    CHECK_OK(selene_server_close(server));
    task = task_of("for it");
    task.handler = text_of("of a stranger");
    task.schedule = SELENE_SCHEDULE_STANDING;
    CHECK_OK(selene_task_register(owner, &task, NULL));
    rule = (selene_peer_rule){65534, SELENE_ANYBODY, SELENE_RIGHT_WORK, 0};
    server = serve_with(owner, options);
    CHECK_INT(0, in_child(test_stranger_works));
    CHECK_INT(1, info_of_server(server).refused);
    CHECK_OK(selene_server_close(server));
    /* Without write permission nobody else comes as far as the rules. */
    options.mode = 0600;
    server = serve_with(owner, options);
    CHECK_INT(0, info_of_server(server).accepted);
    close_store(owner);
}

/* ---- many ------------------------------------------------------------------------------- */

static void test_many_clients(void) {
    enum { CLIENTS = 1000 };
    static selene_scheduler connections[CLIENTS];
    const char *file = path("t.db");
    struct rlimit limit;
    char id[32];
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    int most = limit.rlim_cur < 2100 ? (int)limit.rlim_cur / 2 - 50 : CLIENTS;
    selene_server_options options = SELENE_INIT(selene_server_options);
    options.max_clients = (uint32_t)most;
    selene_scheduler owner = open_store(file), one_more = 0;
    selene_server server = serve_with(owner, options);
    for (int i = 0; i < most; i++)
        connections[i] = connect_to(file);
    CHECK_INT(most, info_of_server(server).clients);
    CHECK_STATUS(SELENE_ERROR_EXHAUSTED, try_connect(file, 0, &one_more));
    DETAIL("which is the limit");
    for (int i = 0; i < most; i += 10) {
        snprintf(id, sizeof id, "of client %d", i);
        add_once(connections[i], id);
    }
    CHECK_INT((most + 9) / 10, count_of(connections[most - 1]));
    for (int i = 0; i < most; i++)
        CHECK_OK(selene_scheduler_close(connections[i], 0));
    WAIT_UNTIL(info_of_server(server).clients == 0);
    close_store(owner);
}

/* ---- processes and order -------------------------------------------------------------------- */

static selene_scheduler inherited, inherited_owner;
static selene_server inherited_server;

static int sockets_before;

static int count_sockets(void) {
    struct stat found;
    int count = 0;
    for (int descriptor = 0; descriptor < 256; descriptor++)
        count += fstat(descriptor, &found) == 0 && S_ISSOCK(found.st_mode);
    return count;
}

static void test_in_forked(void) {
    selene_server_info info = SELENE_INIT(selene_server_info);
    int64_t now;
    CHECK_INT(sockets_before, count_sockets());
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_now(inherited, &now));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_reset(inherited));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_scheduler_close(inherited, 0));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_server_get(inherited_server, &info));
    CHECK_STATUS(SELENE_ERROR_FORKED, selene_server_close(inherited_server));
    CHECK_STATUS(SELENE_ERROR_FORKED,
                 selene_server_start(inherited_owner, NULL, &inherited_server));
    /* The child is a client as any other. */
    selene_scheduler own = connect_to(served_file);
    add_once(own, "of the child");
    CHECK_OK(selene_scheduler_close(own, 0));
}

static void test_fork(void) {
    int ends[2];
    char byte;
    int64_t now;
    served_file = path("t.db");
    sockets_before = count_sockets();
    inherited_owner = open_store(served_file);
    inherited_server = serve(inherited_owner);
    inherited = connect_to(served_file);
    CHECK_INT(0, in_child(test_in_forked));
    CHECK_INT(1, count_of(inherited));
    /* A child that goes on does not keep the socket alive when the owner has ended. */
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) >= 0 ? 0 : 1);
    }
    close(ends[0]);
    CHECK_OK(selene_server_close(inherited_server));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, try_connect(served_file, 0, &inherited_server));
    inherited_server = serve(inherited_owner);
    CHECK_OK(selene_scheduler_now(inherited, &now));
    close(ends[1]);
    CHECK(waitpid(child, NULL, 0) == child);
    close_store(inherited_owner);
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_scheduler_prune(inherited, NULL));
    CHECK_OK(selene_scheduler_close(inherited, 0));
}

static selene_server closing_server;
static selene_status inside_status = -1;

static void close_inside(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_REGISTERED) return;
    inside_status = selene_server_close(closing_server);
    atomic_store(&is_inside, 1);
}

static void test_close(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file), twice = 0;
    closing_server = serve(owner);
    selene_scheduler connection = connect_to(file);
    /* In a callback that the server's own thread makes it cannot be closed. */
    CHECK_OK(selene_scheduler_observe(owner, close_inside, NULL, NULL));
    add_once(connection, "one");
    WAIT_UNTIL(atomic_load(&is_inside));
    CHECK_INT(SELENE_ERROR_REENTRANT, inside_status);
    CHECK_OK(selene_scheduler_observe(owner, NULL, NULL, NULL));
    /* A connection is not served; of its own handle everything is as before. */
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_server_start(connection, NULL, &twice));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_close(owner));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_close(connection));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(closing_server, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_close(connection, -1));
    CHECK_OK(selene_server_close(0));
    CHECK_OK(selene_server_close(closing_server));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_task_cancel_all(connection, NULL));
    /* Closing the scheduler closes its server first. */
    closing_server = serve(owner);
    CHECK_OK(selene_scheduler_close(connection, 0));
    connection = connect_to(file);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_close(owner, -1));
    CHECK_INT(1, count_of(connection));
    close_store(owner);
    CHECK(!exists(path("t.db-sock")));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_server_close(closing_server));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_task_cancel_all(connection, NULL));
    CHECK_OK(selene_scheduler_close(connection, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_close(connection, 0));
}

struct caller {
    pthread_t thread;
    selene_scheduler connection;
    int number;
};

static void *call_often(void *context) {
    struct caller *own = context;
    char id[32];
    for (int i = 0; i < 50; i++) {
        snprintf(id, sizeof id, "%d of %d", i, own->number);
        add_once(own->connection, id);
    }
    return NULL;
}

static void test_threads_of_one_connection(void) {
    struct caller callers[4];
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file);
    serve(owner);
    selene_scheduler connection = connect_to(file);
    for (int i = 0; i < 4; i++) {
        callers[i] = (struct caller){.connection = connection, .number = i};
        CHECK(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]) == 0);
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(callers[i].thread, NULL) == 0);
    CHECK_INT(200, count_of(owner));
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

int main(int argc, char **argv) {
    const char *rights = "L11 another user may do what the rules say, and nothing else";
    const char *forked =
        "L15 a forked child has neither the connection nor the server, and disturbs neither";
    check_begin(argc, argv);
    int is_emulated = !children_have_threads();
    tools_begin(NULL);
    run_test("L3 a connection answers what the owner answers", test_same_answers);
    run_test("L3 what is changed through a connection is what is changed directly",
             test_same_changes);
    run_test("L3 with no owner there the answer is OWNER_AWAY, and nothing is made", test_no_owner);
    run_test("L2 the socket is beside the store, of its user alone, and replaces only a dead one",
             test_socket);
    run_test("L2 a socket that was handed over is served, and stays", test_descriptor);
    run_test("L2 options outside what is allowed are refused by name", test_options);
    run_test("L4 registrations that come together share a commit", test_group_commit);
    run_test("L4 threads may share a connection", test_threads_of_one_connection);
    run_test("L10 an owner that is killed loses nothing that it answered, and the next is found",
             test_owner_killed);
    run_test("L10 a call in flight when the owner is killed says whether it may have been done",
             test_owner_killed_in_flight);
    run_test("L10 what may have been done is not asked of the next owner as well", test_asked_once);
    run_test(
        "L10 who waits for an event when the owner is killed is told, and may listen to the next",
        test_owner_killed_while_heard);
    run_test("L10 an owner that does not answer in time is away until it does", test_owner_stopped);
    run_test("L10 a call waits for the next owner where it was asked to", test_wait_for_owner);
    if (is_emulated) skip_test(rights, 1, EMULATED);
    else if (geteuid() != 0) skip_test(rights, 1, "not root");
    else run_test(rights, test_rights);
    run_test("L12 a thousand clients are connected at once, and one more is told so",
             test_many_clients);
    if (is_emulated) skip_test(forked, 1, EMULATED);
    else run_test(forked, test_fork);
    run_test("L2 a server closes by itself, with its scheduler, and not inside its own callbacks",
             test_close);
    tools_end();
    return check_end();
}
