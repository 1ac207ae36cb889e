/*
 * twice.c - two threads end the same thing at once, while what ends there is being stored (P3)
 *
 * The lock of a scheduler is free while its store is at work, so each end is a state that another thread may find half done.
 * Syncs wait at a gate, so the second thread always comes in the middle; in the races they take a millisecond.
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <dlfcn.h>
#include <sys/syscall.h>

/* ---- the disk ----------------------------------------------------------------------------------------------------- */

/** Syncs wait while it is held; how many wait; milliseconds that each takes otherwise. */
static atomic_int held, waiting, slowness;

static int sync_later(const char *name, int file) {
    int (*next)(int) = NULL;
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&next, &found, sizeof next);
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&held))
        check_sleep(MS);
    atomic_fetch_sub(&waiting, 1);
    if (atomic_load(&slowness)) check_sleep(atomic_load(&slowness) * MS);
    return next(file);
}

int fdatasync(int file) {
    return sync_later("fdatasync", file);
}
int fsync(int file) {
    return sync_later("fsync", file);
}

/* ---- what is ended ------------------------------------------------------------------------------------------------ */

static char store[64];

static selene_scheduler open_stored(void) {
    selene_scheduler scheduler = 0;
    if (!store[0]) snprintf(store, sizeof store, "%s", file_named("store"));
    selene_options options = stored_options(store);
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_conditions_set(scheduler, BOTH, BOTH));
    return scheduler;
}

/** Whatever a thread ends: a handle, a grace, and what the call answered. */
struct ender {
    selene_status (*end)(struct ender *own);
    uint64_t handle;
    int64_t grace;
    selene_report *report;
    /** What must be over when it returns, and whether it was. */
    atomic_int *over;
    int was_over;
    selene_status status;
    atomic_int number, has_returned;
    pthread_t thread;
};

static void *ender_main(void *argument) {
    struct ender *own = argument;
    atomic_store(&own->number, (int)syscall(SYS_gettid));
    own->status = own->end(own);
    own->was_over = own->over ? atomic_load(own->over) : 0;
    atomic_store(&own->has_returned, 1);
    return NULL;
}

static void start(struct ender *own) {
    CHECK_INT(0, pthread_create(&own->thread, NULL, ender_main, own));
}

/** Waits until the thread sleeps in its call. */
static void await_sleep(struct ender *own) {
    char name[64], state = 0;
    while (state != 'S') {
        WAIT_UNTIL(atomic_load(&own->number) != 0);
        snprintf(name, sizeof name, "/proc/self/task/%d/stat", atomic_load(&own->number));
        FILE *file = fopen(name, "r");
        CHECK(file != NULL);
        CHECK_INT(1, fscanf(file, "%*d (%*[^)]) %c", &state));
        fclose(file);
    }
    CHECK_INT(0, atomic_load(&own->has_returned));
}

static selene_status join(struct ender *own) {
    CHECK_INT(0, pthread_join(own->thread, NULL));
    return own->status;
}

static selene_status close_it(struct ender *own) {
    return selene_scheduler_close(own->handle, own->grace);
}
static selene_status drain_it(struct ender *own) {
    return selene_scheduler_drain(own->handle, own->grace);
}
static selene_status end_cycle(struct ender *own) {
    return selene_cycle_end(own->handle, &own->report);
}
static selene_status stop_driver(struct ender *own) {
    return selene_driver_stop(own->handle, own->grace);
}
static selene_status close_server(struct ender *own) {
    return selene_server_close(own->handle);
}

/** A task with a handler of the same name, which the store may know already. */
static void have_work(selene_scheduler scheduler, struct work *work) {
    selene_task task = task_of("work");
    add_handler(scheduler, "work", work);
    task.kind = PROCESSING;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
}

/** A window for all kinds that does not end by itself. */
static selene_window wide(uint32_t lanes) {
    selene_window window = window_of(H, 0, lanes);
    window.kinds = EACH;
    return window;
}

/** A run in flight, of a cycle that is pulled, or through a lane. */
static selene_cycle take_run(selene_scheduler scheduler, uint32_t flags) {
    selene_window window = window_of(H, 0, 2);
    selene_run_info info = SELENE_INIT(selene_run_info);
    selene_task task = task_of("pulled");
    selene_cycle cycle;
    selene_lane lane = 0;
    int32_t step = -1;
    int64_t at;
    CHECK_OK(selene_handler_register(scheduler, "pulled", -1, NULL, NULL, NULL, NULL));
    task.priority = SELENE_PRIORITY_VERY_HIGH;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    window.flags = flags;
    window.kinds = REFRESH;
    cycle = begin(scheduler, window);
    if (flags == 0) {
        (void)next(cycle, "pulled");
    } else {
        CHECK_OK(selene_lane_open(cycle, &lane));
        CHECK_OK(selene_lane_next(lane, SELENE_OUTCOME_NONE, 0, &step, &info, &at));
        CHECK_INT(SELENE_STEP_RUN, step);
    }
    return cycle;
}

/* ---- close -------------------------------------------------------------------------------------------------------- */

/** One closes; the other is told so at once, while the end of a cycle is stored. */
static void close_twice(selene_scheduler scheduler, struct work *work) {
    struct ender first = {.end = close_it, .handle = scheduler, .over = &work->destroyed};
    struct ender second = first;
    atomic_store(&held, 1);
    start(&first);
    wait_for("the sync", &waiting, 1);
    start(&second);
    wait_for("the second close", &second.has_returned, 1);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, join(&second));
    CHECK_INT(0, atomic_load(&first.has_returned));
    atomic_store(&held, 0);
    CHECK_OK(join(&first));
    CHECK_INT(1, first.was_over);
    scheduler = open_stored();
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_INT(1, atomic_load(&work->destroyed));
}

static void test_close_pulled(void) {
    static struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler = open_stored();
    have_work(scheduler, &work);
    selene_free(push(scheduler, wide(2)));
    take_run(scheduler, 0);
    close_twice(scheduler, &work);
}

/** The end of a cycle of lanes is stored by a library thread, and whoever waits for that holds no store. */
static void test_close_lanes(void) {
    static struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler = open_stored();
    have_work(scheduler, &work);
    selene_free(push(scheduler, wide(2)));
    take_run(scheduler, SELENE_WINDOW_LANES);
    close_twice(scheduler, &work);
}

static void test_close_grace(void) {
    static struct work work = {.behaviour = GATE};
    selene_scheduler scheduler = open_stored();
    struct receiver receiver = {0};
    struct ender first = {
        .end = close_it, .handle = scheduler, .grace = H, .over = &work.destroyed};
    struct ender second = first;
    have_work(scheduler, &work);
    push_async(scheduler, wide(1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    start(&first);
    WAIT_UNTIL(selene_scheduler_resume(scheduler) != SELENE_OK);
    start(&second);
    atomic_store(&gate, 1);
    (void)join(&first), (void)join(&second);
    CHECK_INT(1, (first.status == SELENE_OK) + (second.status == SELENE_OK));
    CHECK_INT(1, (first.status == SELENE_ERROR_INVALID_HANDLE) +
                     (second.status == SELENE_ERROR_INVALID_HANDLE));
    CHECK_INT(1, first.status == SELENE_OK ? first.was_over : second.was_over);
    wait_for("the report", &receiver.destroyed, 1);
    CHECK_INT(1, atomic_load(&receiver.calls));
}

/** Who comes in the middle, whoever it is, finds the handle closed; nothing is answered OK that is lost. */
static void test_close_calls(void) {
    static struct work work = {.behaviour = COMPLETE};
    selene_scheduler scheduler = open_stored();
    struct ender closer = {.end = close_it, .handle = scheduler};
    selene_task task = task_of("late");
    selene_cycle cycle;
    selene_window window = window_of(S, 0, 1);
    int64_t now;
    take_run(scheduler, 0);
    have_work(scheduler, &work);
    atomic_store(&held, 1);
    start(&closer);
    wait_for("the sync", &waiting, 1);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_now(scheduler, &now));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_task_register(scheduler, &task, NULL));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_scheduler_drain(scheduler, 0));
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, selene_driver_stop(scheduler, 0));
    atomic_store(&held, 0);
    CHECK_OK(join(&closer));
}

struct registrar {
    selene_scheduler scheduler;
    int round;
    selene_status status;
    pthread_t thread;
};

static void *register_main(void *argument) {
    struct registrar *own = argument;
    selene_task task = task_of("slow");
    task.handler = SELENE_TEXT("work");
    task.priority = 1 + own->round % 5;
    own->status = selene_task_register(own->scheduler, &task, NULL);
    return NULL;
}

/** No gate: wherever they meet, one closes and the others are told so, and a registration that was answered OK is there. */
static void test_close_races(void) {
    enum { CLOSERS = 3 };
    atomic_store(&slowness, 1);
    for (int round = 0; round < 24; round++) {
        static struct work works[24];
        struct work *work = &works[round];
        selene_scheduler scheduler = open_stored();
        struct registrar registrar = {.scheduler = scheduler, .round = round};
        struct ender closers[CLOSERS];
        struct receiver receiver = {0};
        int closed = 0, refused = 0;
        *work = (struct work){.behaviour = COMPLETE};
        if (round % 3 > 0) take_run(scheduler, round % 3 == 1 ? 0 : SELENE_WINDOW_LANES);
        have_work(scheduler, work);
        if (round % 3 == 0) push_async(scheduler, wide(2), &receiver, NULL);
        CHECK_INT(0, pthread_create(&registrar.thread, NULL, register_main, &registrar));
        for (int k = 0; k < CLOSERS; k++) {
            closers[k] = (struct ender){.end = close_it, .handle = scheduler};
            start(&closers[k]);
        }
        CHECK_INT(0, pthread_join(registrar.thread, NULL));
        for (int k = 0; k < CLOSERS; k++) {
            selene_status status = join(&closers[k]);
            closed += status == SELENE_OK;
            refused += status == SELENE_ERROR_INVALID_HANDLE;
        }
        CHECK_INT(1, closed);
        CHECK_INT(CLOSERS - 1, refused);
        /* Without a grace nobody waits for a handler. */
        WAIT_UNTIL(atomic_load(&work->destroyed) == 1);
        if (round % 3 == 0) WAIT_UNTIL(atomic_load(&receiver.destroyed) == 1);
        scheduler = open_stored();
        if (registrar.status == SELENE_OK)
            CHECK_INT(SELENE_KIND_REFRESH, record(scheduler, "slow").kind);
        else CHECK_INT(SELENE_ERROR_INVALID_HANDLE, registrar.status);
        CHECK_OK(selene_scheduler_reset(scheduler));
        CHECK_OK(selene_scheduler_close(scheduler, 0));
    }
}

/* ---- drain -------------------------------------------------------------------------------------------------------- */

static void test_drain(void) {
    static struct work work = {.behaviour = GATE};
    selene_scheduler scheduler = open_stored();
    struct receiver receiver = {0};
    struct ender first = {.end = drain_it, .handle = scheduler, .grace = H, .over = &work.returned};
    struct ender second = first;
    have_work(scheduler, &work);
    push_async(scheduler, wide(1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    start(&first);
    start(&second);
    WAIT_UNTIL(why(scheduler, "work", SELENE_REASON_DRAINED).reason ||
               record(scheduler, "work").state == SELENE_STATE_RUNNING);
    atomic_store(&held, 1);
    atomic_store(&gate, 1);
    wait_for("the sync", &waiting, 1);
    CHECK_INT(0, atomic_load(&first.has_returned) + atomic_load(&second.has_returned));
    atomic_store(&held, 0);
    CHECK_OK(join(&first));
    CHECK_OK(join(&second));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A close in the middle of a drain, and the other way round. */
static void test_drain_close(void) {
    for (int which = 0; which < 2; which++) {
        static struct work works[2];
        struct work *work = &works[which];
        selene_scheduler scheduler = open_stored();
        struct receiver receiver = {0};
        struct ender drain = {.end = drain_it, .handle = scheduler, .grace = H};
        struct ender closer = {.end = close_it, .handle = scheduler};
        *work = (struct work){.behaviour = UNTIL_STOPPED};
        have_work(scheduler, work);
        push_async(scheduler, wide(1), &receiver, NULL);
        wait_for("the handler", &work->started, 1);
        if (which == 0) start(&drain);
        atomic_store(&held, 1);
        start(&closer);
        wait_for("the sync", &waiting, 1);
        if (which == 1) start(&drain);
        atomic_store(&held, 0);
        CHECK_OK(join(&closer));
        CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, join(&drain));
        WAIT_UNTIL(atomic_load(&work->destroyed) == 1);
        WAIT_UNTIL(atomic_load(&receiver.destroyed) == 1);
    }
}

/* ---- the end of a cycle ------------------------------------------------------------------------------------------- */

static void end_cycle_twice(uint32_t flags) {
    selene_scheduler scheduler = open_stored();
    struct ender first = {.end = end_cycle}, second;
    int reports;
    first.handle = take_run(scheduler, flags);
    second = first;
    atomic_store(&held, 1);
    start(&first);
    wait_for("the sync", &waiting, 1);
    start(&second);
    CHECK_INT(0, atomic_load(&first.has_returned));
    atomic_store(&held, 0);
    (void)join(&first), (void)join(&second);
    reports = (first.report != NULL) + (second.report != NULL);
    CHECK_BETWEEN(1, reports, 2);
    for (int k = 0; k < 2; k++) {
        struct ender *own = k == 0 ? &first : &second;
        CHECK(own->status == SELENE_OK || own->status == SELENE_ERROR_INVALID_HANDLE);
        CHECK_INT(own->status == SELENE_OK, own->report != NULL);
        if (own->report) CHECK_INT(1, own->report->run_count);
        selene_free(own->report);
    }
    CHECK_INT(SELENE_OUTCOME_STOPPED, record(scheduler, "pulled").last_outcome);
    CHECK_INT(0, record(scheduler, "pulled").attempts);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_cycle_pulled(void) {
    end_cycle_twice(0);
}
static void test_cycle_lanes(void) {
    end_cycle_twice(SELENE_WINDOW_LANES);
}

/* ---- servers ------------------------------------------------------------------------------------------------------ */

struct client {
    selene_scheduler connection;
    selene_status status;
    pthread_t thread;
};

static void *client_main(void *argument) {
    struct client *own = argument;
    selene_task task = task_of("asked");
    own->status = selene_task_register(own->connection, &task, NULL);
    return NULL;
}

/** A server whose thread is held up by the store, in a request of a client. */
static selene_server hold_up(selene_scheduler scheduler, struct client *client) {
    selene_server_options options = SELENE_INIT(selene_server_options);
    selene_connect_options connect = SELENE_INIT(selene_connect_options);
    selene_server server = 0;
    CHECK_OK(selene_server_start(scheduler, &options, &server));
    connect.path = (selene_text){store, -1};
    CHECK_OK(selene_scheduler_connect(&connect, &client->connection));
    atomic_store(&held, 1);
    CHECK_INT(0, pthread_create(&client->thread, NULL, client_main, client));
    wait_for("the sync", &waiting, 1);
    return server;
}

static void let_on(struct client *client) {
    atomic_store(&held, 0);
    CHECK_INT(0, pthread_join(client->thread, NULL));
    CHECK(client->status == SELENE_OK || client->status == SELENE_ERROR_OWNER_AWAY);
    CHECK_OK(selene_scheduler_close(client->connection, 0));
}

static int is_there(const char *end) {
    char socket[80];
    snprintf(socket, sizeof socket, "%s%s", store, end);
    return access(socket, F_OK) == 0;
}

static void test_server(void) {
    struct client client = {0};
    selene_scheduler scheduler = open_stored();
    selene_server server = hold_up(scheduler, &client);
    struct ender first = {.end = close_server, .handle = server}, second = first;
    start(&first);
    WAIT_UNTIL(!is_there("-sock"));
    start(&second);
    wait_for("the second close", &second.has_returned, 1);
    CHECK_STATUS(SELENE_ERROR_INVALID_HANDLE, join(&second));
    CHECK_INT(0, atomic_load(&first.has_returned));
    let_on(&client);
    CHECK_OK(join(&first));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** A scheduler is not closed under a server that another thread ends. */
static void test_server_close(void) {
    struct client client = {0};
    selene_scheduler scheduler = open_stored();
    selene_server server = hold_up(scheduler, &client);
    struct ender first = {.end = close_server, .handle = server};
    struct ender closer = {.end = close_it, .handle = scheduler, .over = &first.has_returned};
    start(&first);
    WAIT_UNTIL(!is_there("-sock"));
    start(&closer);
    let_on(&client);
    CHECK_OK(join(&first));
    CHECK_OK(join(&closer));
    CHECK_INT(SELENE_OK, client.status);
    scheduler = open_stored();
    CHECK_INT(SELENE_STATE_ENQUEUED, record(scheduler, "asked").state);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_connection(void) {
    static struct work work = {.behaviour = GATE};
    selene_scheduler scheduler = open_stored();
    selene_server_options options = SELENE_INIT(selene_server_options);
    selene_connect_options connect = SELENE_INIT(selene_connect_options);
    selene_server server = 0;
    struct receiver receiver = {0};
    struct ender first = {.end = close_it, .grace = H, .over = &work.returned}, second;
    CHECK_OK(selene_server_start(scheduler, &options, &server));
    connect.path = (selene_text){store, -1};
    CHECK_OK(selene_scheduler_connect(&connect, &first.handle));
    have_work(first.handle, &work);
    push_async(first.handle, wide(1), &receiver, NULL);
    wait_for("the handler", &work.started, 1);
    second = first;
    start(&first);
    start(&second);
    WAIT_UNTIL(atomic_load(&first.has_returned) + atomic_load(&second.has_returned) == 1);
    atomic_store(&gate, 1);
    (void)join(&first), (void)join(&second);
    CHECK_INT(1, (first.status == SELENE_OK) + (second.status == SELENE_OK));
    CHECK_INT(1, (first.status == SELENE_ERROR_INVALID_HANDLE) +
                     (second.status == SELENE_ERROR_INVALID_HANDLE));
    CHECK_INT(1, first.status == SELENE_OK ? first.was_over : second.was_over);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    WAIT_UNTIL(atomic_load(&work.destroyed) == 1);
}

/* ---- the driver --------------------------------------------------------------------------------------------------- */

/** Whoever stops the driver waits for it, also the one who comes second. */
static void test_driver(void) {
    static struct work work = {.behaviour = GATE};
    selene_scheduler scheduler = open_stored();
    selene_driver driver = SELENE_INIT(selene_driver);
    struct ender first = {
        .end = stop_driver, .handle = scheduler, .grace = H, .over = &work.returned};
    struct ender second = first;
    have_work(scheduler, &work);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    wait_for("the handler", &work.started, 1);
    start(&first);
    await_sleep(&first);
    start(&second);
    await_sleep(&second);
    atomic_store(&gate, 1);
    CHECK_OK(join(&first));
    CHECK_OK(join(&second));
    CHECK_INT(1, first.was_over);
    CHECK_INT(1, second.was_over);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
}

/** A close without a grace leaves no call waiting for a handler. */
static void test_driver_close(void) {
    static struct work work = {.behaviour = GATE};
    selene_scheduler scheduler = open_stored();
    selene_driver driver = SELENE_INIT(selene_driver);
    struct ender stop = {
        .end = stop_driver, .handle = scheduler, .grace = H, .over = &work.returned};
    struct ender closer = {.end = close_it, .handle = scheduler, .grace = 0};
    have_work(scheduler, &work);
    CHECK_OK(selene_driver_start(scheduler, &driver));
    wait_for("the handler", &work.started, 1);
    start(&stop);
    await_sleep(&stop);
    start(&closer);
    CHECK_OK(join(&closer));
    CHECK_OK(join(&stop));
    CHECK_INT(0, stop.was_over);
    CHECK_INT(1, atomic_load(&work.stopped));
    atomic_store(&gate, 1);
    WAIT_UNTIL(atomic_load(&work.destroyed) == 1);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("P3 of two closes one closes, while a pulled cycle's end is stored",
             test_close_pulled);
    run_test("P3 the same while a library thread stores the end", test_close_lanes);
    run_test("P3 the same behind a grace", test_close_grace);
    run_test("P3 no call comes in once a close has begun to end things", test_close_calls);
    run_test("P3 three closes and a registration, wherever they meet", test_close_races);
    run_test("R6 two drains at once", test_drain);
    run_test("R6 a drain and a close at once", test_drain_close);
    run_test("C5 two ends of a pulled cycle at once", test_cycle_pulled);
    run_test("C5 two ends of a cycle of lanes at once", test_cycle_lanes);
    run_test("L2 of two closes of a server one closes it", test_server);
    run_test("L2 a scheduler waits for a server that another thread closes", test_server_close);
    run_test("L9 of two closes of a connection one closes it", test_connection);
    run_test("G7 who stops a driver that is being stopped waits, too", test_driver);
    run_test("G7 a driver is stopped and its scheduler closed at once", test_driver_close);
    return check_end();
}
