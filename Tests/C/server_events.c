/*
 * server_events.c - what happens in an owner is told to its clients (docs/rules.md, L18)
 */
#include "server_tools.h"

#include <poll.h>

/** The next event, which there has to be; how many were lost before it. */
static uint64_t next_event(selene_scheduler from, selene_event *event) {
    int32_t found = 0;
    uint64_t lost = 0;
    *event = (selene_event)SELENE_INIT(selene_event);
    CHECK_OK(selene_events_next(from, PATIENCE, event, &found, &lost));
    CHECK_INT(1, found);
    return lost;
}

static void no_event(selene_scheduler from) {
    selene_event event = SELENE_INIT(selene_event);
    int32_t found = 1;
    uint64_t lost = 1;
    CHECK_OK(selene_events_next(from, 0, &event, &found, &lost));
    CHECK_INT(0, found);
    CHECK_INT(0, lost);
}

static int is_readable(int descriptor, int64_t wait) {
    struct pollfd polled = {descriptor, POLLIN, 0};
    return poll(&polled, 1, (int)(wait / MS));
}

static void fail_run(selene_run run, const selene_run_info *info, void *context) {
    (void)info, (void)context;
    selene_run_fail(run, SELENE_OUTCOME_FAILED, -1, "no such host", -1);
}

static void add_with(selene_scheduler scheduler, const char *id, const char *handler) {
    selene_task task = task_of(id);
    task.schedule = SELENE_SCHEDULE_ONCE;
    task.handler = text_of(handler);
    task.max_attempts = 1;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

/** What a client is told is what the owner's own queue has. */
static void test_same_events(void) {
    const char *file = path("t.db");
    selene_options how = store_options(file);
    how.clock = NULL;
    selene_scheduler owner = open_with(how);
    selene_window window = SELENE_INIT(selene_window);
    selene_report *report = NULL;
    serve(owner);
    selene_scheduler connection = connect_to(file);
    CHECK_OK(selene_handler_register(owner, "fails", -1, fail_run, NULL, NULL, NULL));
    CHECK_OK(selene_events_open(owner, 1000, NULL));
    CHECK_OK(selene_events_open(connection, 1000, NULL));
    add_with(owner, "direct", "fails");
    add_with(connection, "through the connection", "fails");
    CHECK_OK(selene_conditions_set(owner, BOTH, BOTH));
    CHECK_OK(selene_scheduler_enable(owner, (SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING)));
    window.kinds = (SELENE_KIND_REFRESH | SELENE_KIND_PROCESSING);
    window.budget = 60 * S;
    CHECK_OK(selene_cycle_run(owner, &window, &report));
    CHECK_INT(2, report->run_count);
    selene_free(report);
    CHECK_OK(selene_task_cancel_all(connection, NULL));
    add_once(connection, "last");
    for (int is_last = 0, failures = 0; !is_last;) {
        selene_event here, there;
        CHECK_INT(0, next_event(owner, &here));
        CHECK_INT(0, next_event(connection, &there));
        CHECK_INT(here.id.length, there.id.length);
        CHECK(memcmp(here.id.data, there.id.data, (size_t)here.id.length + 1) == 0);
        CHECK_INT(here.message.length, there.message.length);
        CHECK(memcmp(here.message.data, there.message.data, (size_t)here.message.length + 1) == 0);
        failures += here.type == SELENE_EVENT_COMPLETED && here.message.length > 0;
        is_last = here.id.length == 4 && memcmp(here.id.data, "last", 4) == 0;
        if (is_last) CHECK_INT(2, failures);
        here.id = there.id;
        here.message = there.message;
        CHECK(memcmp(&here, &there, sizeof here) == 0);
    }
    no_event(owner);
    no_event(connection);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

/** What a call did can be read when it has returned, and the descriptor says that there is something. */
static void test_order_and_descriptor(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file);
    selene_event event = SELENE_INIT(selene_event);
    char id[32];
    int descriptor = -1;
    int32_t found;
    serve(owner);
    selene_scheduler connection = connect_to(file);
    CHECK_STATUS(SELENE_ERROR_UNSUPPORTED, selene_events_next(connection, 0, &event, &found, NULL));
    CHECK_OK(selene_events_close(connection));
    CHECK_OK(selene_events_open(connection, 100, &descriptor));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_events_open(connection, 100, NULL));
    CHECK_INT(0, is_readable(descriptor, 0));
    for (int i = 0; i < 200; i++) {
        snprintf(id, sizeof id, "task %d", i);
        add_once(connection, id);
        CHECK_INT(1, is_readable(descriptor, 0));
        found = 0;
        CHECK_OK(selene_events_next(connection, 0, &event, &found, NULL));
        CHECK_INT(1, found);
        CHECK_TEXT(id, event.id);
        CHECK_INT(SELENE_EVENT_REGISTERED, event.type);
        no_event(connection);
        CHECK_INT(0, is_readable(descriptor, 0));
    }
    /* What the owner itself does comes by itself. */
    add_once(owner, "one");
    add_once(owner, "two");
    CHECK_INT(1, is_readable(descriptor, PATIENCE));
    CHECK_INT(0, next_event(connection, &event));
    CHECK_TEXT("one", event.id);
    CHECK_INT(1, is_readable(descriptor, PATIENCE));
    CHECK_INT(0, next_event(connection, &event));
    CHECK_TEXT("two", event.id);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

/** Who does not read loses the oldest, and is told how many. */
static void test_slow_reader(void) {
    enum { TASKS = 4000, CAPACITY = 8, BATCH = 1000 };
    static char ids[BATCH][32];
    static selene_task tasks[BATCH];
    static const selene_task *batch[BATCH];
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file);
    selene_event event;
    serve(owner);
    selene_scheduler slow = connect_to(file), quick = connect_to(file);
    CHECK_OK(selene_events_open(slow, CAPACITY, NULL));
    CHECK_OK(selene_events_open(quick, SELENE_EVENTS, NULL));
    for (int i = 0; i < TASKS; i++) {
        int at = i % BATCH;
        snprintf(ids[at], sizeof ids[at], "task %d", i);
        tasks[at] = task_of(ids[at]);
        tasks[at].schedule = SELENE_SCHEDULE_ONCE;
        batch[at] = &tasks[at];
        if (at == BATCH - 1) CHECK_OK(selene_task_register_batch(owner, batch, BATCH, NULL, NULL));
    }
    /* The quick one has them all, so the slow one's were sent, wait, or are lost. */
    uint64_t first = 0;
    for (int i = 0; i < TASKS; i++) {
        CHECK_INT(0, next_event(quick, &event));
        if (i == 0) first = event.number;
        CHECK_INT(first + (uint64_t)i, event.number);
    }
    uint64_t heard = 0, lost = 0, in_a_row = 0, number = first - 1;
    while (number < first + TASKS - 1) {
        uint64_t before = next_event(slow, &event);
        CHECK_INT(number + 1 + before, event.number);
        in_a_row = before == 0 ? in_a_row + 1 : 1;
        number = event.number;
        lost += before;
        heard++;
    }
    CHECK_INT(TASKS, heard + lost);
    CHECK(lost > 0);
    CHECK(in_a_row >= CAPACITY);
    snprintf(ids[0], sizeof ids[0], "task %d", TASKS - 1);
    CHECK_TEXT(ids[0], event.id);
    no_event(slow);
    CHECK_OK(selene_scheduler_close(slow, 0));
    CHECK_OK(selene_scheduler_close(quick, 0));
    close_store(owner);
}

/** An owner that serves no more ends what it tells, once what came is read. */
static void test_end_of_owner(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file);
    selene_event event = SELENE_INIT(selene_event);
    int32_t found = 0;
    int descriptor = -1;
    selene_server server = serve(owner);
    selene_scheduler connection = connect_to(file);
    CHECK_OK(selene_events_open(connection, 100, &descriptor));
    add_once(connection, "before");
    CHECK_OK(selene_server_close(server));
    CHECK_INT(0, next_event(connection, &event));
    CHECK_TEXT("before", event.id);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(1, is_readable(descriptor, PATIENCE));
        CHECK_STATUS(SELENE_ERROR_OWNER_AWAY,
                     selene_events_next(connection, SELENE_NEVER, &event, &found, NULL));
        DETAIL("opened again");
    }
    /* What was read last is still there. */
    CHECK_TEXT("before", event.id);
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_events_open(connection, 100, NULL));
    CHECK_OK(selene_events_close(connection));
    CHECK_STATUS(SELENE_ERROR_OWNER_AWAY, selene_events_open(connection, 100, NULL));
    server = serve(owner);
    CHECK_OK(selene_events_open(connection, 100, NULL));
    add_once(owner, "after");
    CHECK_INT(0, next_event(connection, &event));
    CHECK_TEXT("after", event.id);
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

struct reader {
    pthread_t thread;
    selene_scheduler connection;
    selene_status status;
};

static void *read_forever(void *context) {
    struct reader *own = context;
    selene_event event = SELENE_INIT(selene_event);
    int32_t found = 1;
    while ((own->status = selene_events_next(own->connection, SELENE_NEVER, &event, &found,
                                             NULL)) == SELENE_OK) {
    }
    return NULL;
}

/** Who waits returns when the queue or the handle is closed, and holds up no call meanwhile. */
static void test_close_while_read(void) {
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file);
    selene_server server = serve(owner);
    for (int by_handle = 0; by_handle < 2; by_handle++) {
        struct reader reader = {.connection = connect_to(file)};
        CHECK_OK(selene_events_open(reader.connection, 100, NULL));
        CHECK(pthread_create(&reader.thread, NULL, read_forever, &reader) == 0);
        add_once(reader.connection, by_handle ? "one" : "two");
        if (by_handle) CHECK_OK(selene_scheduler_close(reader.connection, 0));
        else CHECK_OK(selene_events_close(reader.connection));
        CHECK(pthread_join(reader.thread, NULL) == 0);
        CHECK(reader.status == SELENE_ERROR_UNSUPPORTED ||
              (by_handle && reader.status == SELENE_ERROR_INVALID_HANDLE));
        if (!by_handle) CHECK_OK(selene_scheduler_close(reader.connection, 0));
    }
    WAIT_UNTIL(info_of_server(server).clients == 0);
    close_store(owner);
}

/** Clients come and go while things happen; each hears all of what happens while it is there. */
static void test_coming_and_going(void) {
    enum { CLIENTS = 20, ROUNDS = 20 };
    const char *file = path("t.db");
    selene_scheduler owner = open_store(file), connections[CLIENTS] = {0};
    selene_server server = serve(owner);
    uint64_t heard[CLIENTS] = {0}, seed = 20261123;
    char id[32];
    for (int round = 0; round < ROUNDS * CLIENTS; round++) {
        uint64_t at = chance_below(&seed, CLIENTS);
        selene_event event;
        if (connections[at] == 0) {
            connections[at] = connect_to(file);
            CHECK_OK(selene_events_open(connections[at], 1000, NULL));
            heard[at] = 0;
        } else if (chance_below(&seed, 3) == 0) {
            CHECK_OK(selene_scheduler_close(connections[at], 0));
            connections[at] = 0;
        }
        snprintf(id, sizeof id, "task %d", round);
        add_once(owner, id);
        for (int i = 0; i < CLIENTS; i++) {
            if (connections[i] == 0 || (i % 2 && round % 10)) continue;
            do {
                CHECK_INT(0, next_event(connections[i], &event));
                if (heard[i] > 0) CHECK_INT(heard[i] + 1, event.number);
                heard[i] = event.number;
            } while (event.id.length != (int64_t)strlen(id) ||
                     memcmp(event.id.data, id, strlen(id)) != 0);
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        if (connections[i]) CHECK_OK(selene_scheduler_close(connections[i], 0));
    WAIT_UNTIL(info_of_server(server).clients == 0);
    close_store(owner);
}

/** A client sees how far a run of the owner is. */
static void test_progress(void) {
    const char *file = path("t.db");
    selene_options how = store_options(file);
    selene_scheduler owner = open_with(how);
    selene_task_info *info = NULL;
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_cycle cycle = 0;
    selene_event event;
    int32_t step = -1;
    serve(owner);
    selene_scheduler connection = connect_to(file);
    CHECK_OK(selene_handler_register(owner, "work", -1, NULL, NULL, NULL, NULL));
    selene_task task = task_of("a");
    task.stall_limit = 90 * S;
    CHECK_OK(selene_task_register(connection, &task, NULL));
    CHECK_OK(selene_cycle_begin(owner, NULL, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_OK(selene_events_open(connection, 1000, NULL));
    CHECK_OK(selene_run_progress(run.run, 3, 10, "three", -1));
    next_event(connection, &event);
    CHECK_INT(SELENE_EVENT_PROGRESS, event.type);
    CHECK_INT(3, event.progress_done);
    CHECK_INT(10, event.progress_total);
    CHECK_TEXT("three", event.message);
    CHECK_OK(selene_task_get(connection, "a", -1, 0, &info));
    CHECK_INT(90 * S, info->stall_limit);
    CHECK_INT(3, info->progress_done);
    CHECK_INT(10, info->progress_total);
    CHECK_TEXT("three", info->progress_text);
    CHECK(info->progress_at > 0);
    selene_free(info);
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(connection, 0));
    close_store(owner);
}

/** One socket has calls and events, as a client by hand may have it; it is told of them once. */
static void test_one_socket(void) {
    static char body[65536];
    const char *file = path("t.db");
    char frame[512];
    struct {
        struct head head;
        uint64_t capacity;
    } listen = {{sizeof listen, 80, 0, 5}, 70000};
    selene_scheduler owner = open_store(file);
    selene_server server = serve(owner);
    int client = raw_client(file);
    CHECK(send(client, &listen, sizeof listen, 0) == sizeof listen);
    CHECK_INT(SELENE_ERROR_INVALID_ARGUMENT, raw_answer(client, body, sizeof body));
    listen.capacity = 10;
    CHECK(send(client, &listen, sizeof listen, 0) == sizeof listen);
    CHECK_INT(0, raw_answer(client, body, sizeof body));
    CHECK(send(client, &listen, sizeof listen, 0) == sizeof listen);
    CHECK_INT(SELENE_ERROR_ALREADY_EXISTS, raw_answer(client, body, sizeof body));
    size_t length = raw_registration(frame, "of its own");
    CHECK(send(client, frame, length, 0) == (ssize_t)length);
    /* The answer and the event, in either order. */
    int events = 0;
    for (int i = 0; i < 2; i++) {
        memset(body, 0, sizeof body);
        CHECK_INT(0, raw_answer(client, body, sizeof body));
        events += memmem(body, 1024, "of its own", 10) != NULL;
    }
    CHECK_INT(1, events);
    CHECK_INT(0, info_of_server(server).broken);
    close(client);
    close_store(owner);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    tools_begin(NULL);
    run_test("L18 a client is told what the owner's own queue has", test_same_events);
    run_test("L18 what a call did can be read when it has returned, and the descriptor says so",
             test_order_and_descriptor);
    run_test("L18 who does not read loses the oldest events, and is told how many",
             test_slow_reader);
    run_test("L18 an owner that serves no more ends what it tells", test_end_of_owner);
    run_test("L18 who waits for an event returns when its queue or its handle is closed",
             test_close_while_read);
    run_test("L18 clients come and go, and each hears all that happens while it is there",
             test_coming_and_going);
    run_test("W6 L18 a client sees how far a run of the owner is", test_progress);
    run_test("L18 calls and events may share a socket", test_one_socket);
    tools_end();
    return check_end();
}
