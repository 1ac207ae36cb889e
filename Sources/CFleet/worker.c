// Section WORKER of the header: a thread that makes the statements which the node of a scheduler asks for (N8 to N14, N28,
// N29). What it does is decided in libselene; here are connections and time.

#include "fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { NAMES_MOST = 1000 };
// The scheduler may be closed, which the descriptor of its node does not tell.
#define LONGEST_WAIT SELENE_SECOND
#define LISTEN_AGAIN (5 * SELENE_SECOND)
#define LISTEN_TIMEOUT (10 * SELENE_SECOND)
// A pooler that does not let it listen is asked again.
#define POOLED_AGAIN (5 * SELENE_MINUTE)
// How long a notification may take that another connection has sent.
#define HEARD_WITHIN (2 * SELENE_SECOND)

typedef struct worker {
    handle handle;
    fleet *fleet;
    selene_scheduler scheduler;
    pthread_t thread;
    // Readable when a step is due; the node's.
    int node;
    // Wakes the thread.
    int bell;
    atomic_int is_over;
    fleet_link link;
    uint64_t request;
    // Of the listener; the statement that listens, or NULL: it does not.
    fleet_link listener;
    char *listen_sql;
    int64_t listen_at;
    atomic_int listens;
    // Where a pooler made the listener: another connection, which notifies it, and until when that is to be heard.
    fleet_link other;
    char *notify_sql;
    int64_t heard_until;
    atomic_int is_deaf;
} worker;

// ---- The thread ----

// Tells the node what its statement answered, or why it has no answer.
static void tell(worker *own, answer *given) {
    if (given->result == NULL) {
        selene_node_failed(own->scheduler, own->request, given->is_sent,
                           given->is_sent && strlen(given->state) == 5 ? given->state : NULL,
                           given->message);
        return;
    }
    rows read;
    rows_read(&read, given->result);
    selene_status status =
        selene_node_rows(own->scheduler, own->request, read.cells, read.count, read.columns);
    if (status != SELENE_OK)
        selene_node_failed(own->scheduler, own->request, 1, NULL,
                           selene_error_last()->message.data);
    rows_free(&read);
}

// Whether any notification has come.
static int is_notified(fleet_link *link) {
    PGnotify *one;
    int count = 0;
    for (; (one = PQnotifies(link->connection)) != NULL; count++)
        PQfreemem(one);
    return count > 0;
}

static void hear(worker *own, int listens) {
    atomic_store(&own->listens, listens);
    if (listens) atomic_store(&own->is_deaf, 0);
    // What was notified before it listened.
    if (listens) selene_node_hint(own->scheduler);
}

static void listen_again(worker *own, int64_t after) {
    hear(own, 0);
    // A connection that is being made is not waited for here.
    link_close(&own->listener);
    link_close(&own->other);
    own->heard_until = 0;
    own->listen_at = fleet_clock() + after;
}

// A pooler takes "listen" and hands the session on: whether what another connection notifies arrives says what it is worth.
static void try_to_hear(worker *own) {
    answer given;
    if (is_notified(&own->listener)) {
        link_drop(&own->other);
        own->heard_until = 0;
        hear(own, 1);
        return;
    }
    if (own->other.statement != NULL && link_go_on(&own->other, &given)) {
        if (given.result == NULL) {
            listen_again(own, LISTEN_AGAIN);
            return;
        }
        PQclear(given.result);
        own->heard_until = fleet_clock() + HEARD_WITHIN;
    }
    if (own->other.statement != NULL || fleet_clock() < own->heard_until) return;
    atomic_store(&own->is_deaf, 1);
    listen_again(own, POOLED_AGAIN);
}

static void set_channel(worker *own, const char *listen, const char *notify) {
    free(own->listen_sql);
    free(own->notify_sql);
    own->listen_sql = fleet_with_schema(listen, own->fleet->quoted);
    own->notify_sql = fleet_with_schema(notify, own->fleet->quoted);
}

// Hears notifications; what goes wrong with that is only slower.
static void listen_on(worker *own) {
    answer given;
    fleet_link *link = &own->listener;
    if (own->listen_sql == NULL) return;
    int has_answer = link_go_on(link, &given);
    // The channel of an older fleet is the name of its schema.
    if (has_answer && given.result == NULL && strcmp(given.state, "42883") == 0) {
        set_channel(own, "listen %", "notify %");
        has_answer = 0;
    }
    if (has_answer && given.result != NULL) {
        PQclear(given.result);
        if (link->is_pooled) {
            own->heard_until = fleet_clock() + LISTEN_TIMEOUT;
            link_ask(&own->other, statement_script(own->notify_sql), LISTEN_TIMEOUT);
        } else {
            hear(own, 1);
        }
    }
    if (link->connection != NULL && own->heard_until != 0) {
        try_to_hear(own);
        return;
    }
    if (link->connection != NULL && atomic_load(&own->listens)) {
        if (is_notified(link)) selene_node_hint(own->scheduler);
        return;
    }
    // It was lost, or refused.
    if (has_answer || own->heard_until != 0 || atomic_load(&own->listens))
        listen_again(own, LISTEN_AGAIN);
    if (link->statement != NULL || fleet_clock() < own->listen_at) return;
    link_ask(link, statement_script(own->listen_sql), LISTEN_TIMEOUT);
    link_go_on(link, &given);
}

static int64_t sooner(int64_t one, int64_t other) {
    return one < other ? one : other;
}

static void wait_for_news(worker *own) {
    struct pollfd polled[] = {
        {own->node, POLLIN, 0},      {own->bell, POLLIN, 0},   link_polled(&own->link),
        link_polled(&own->listener), link_polled(&own->other),
    };
    int64_t until = fleet_clock() + LONGEST_WAIT;
    if (own->link.statement != NULL) until = sooner(until, own->link.deadline);
    if (own->listener.statement != NULL) until = sooner(until, own->listener.deadline);
    if (own->heard_until != 0) until = sooner(until, own->heard_until);
    int64_t left = until - fleet_clock();
    eventfd_t rung;
    poll(polled, 5, left > 0 ? (int)((left + SELENE_MILLISECOND - 1) / SELENE_MILLISECOND) : 0);
    // It has woken the thread once.
    if (polled[1].revents != 0) eventfd_read(own->bell, &rung);
}

static void *work(void *context) {
    worker *own = context;
    answer given;
    pthread_setname_np(pthread_self(), "selene/fleet");
    for (;;) {
        selene_node_request request = SELENE_INIT(selene_node_request);
        selene_node_info info = SELENE_INIT(selene_node_info);
        // Its scheduler, or the node, was closed.
        if (selene_node_step(own->scheduler, &request, NULL) != SELENE_OK) break;
        if (request.number != 0) {
            // The node waits no longer for the one before.
            own->request = request.number;
            link_ask(&own->link, statement_new(request.sql, request.values, request.value_count),
                     request.timeout);
        }
        if (link_go_on(&own->link, &given)) {
            tell(own, &given);
            continue;
        }
        listen_on(own);
        if (selene_node_get(own->scheduler, &info) != SELENE_OK) break;
        if (info.state == SELENE_NODE_CLOSED) break;
        wait_for_news(own);
    }
    atomic_store(&own->is_over, 1);
    link_drop(&own->link);
    link_drop(&own->listener);
    link_drop(&own->other);
    atomic_store(&own->listens, 0);
    return NULL;
}

// ---- Work, get, stop ----

static void free_worker(handle *one) {
    worker *own = (worker *)(void *)one;
    handle_release(&own->fleet->handle);
    close(own->bell);
    free(own->listen_sql);
    free(own->notify_sql);
    free(own);
}

static selene_status check_texts(const selene_text *texts, uint64_t count, const char *name) {
    if (count == 0) return SELENE_OK;
    selene_status status = fleet_check_range((int64_t)count, 0, NAMES_MOST, name);
    return status == SELENE_OK ? fleet_check_pointer(texts, name) : status;
}

// Opens the node, whose statuses are those of the call.
static selene_status open_node(worker *own, const selene_worker_options *options) {
    selene_node_options node = SELENE_INIT(selene_node_options);
    char host[128] = "", name[256];
    node.schema = (selene_text){own->fleet->schema, -1};
    node.queues = options->queues;
    node.queue_count = options->queue_count;
    node.labels = options->labels;
    node.label_count = options->label_count;
    node.lease = options->lease;
    node.horizon = options->horizon;
    node.poll = options->poll;
    node.name = options->name;
    if (options->flags & SELENE_WORKER_RELAXED) node.flags = SELENE_NODE_OPTION_RELAXED;
    if (node.name.length == 0) {
        gethostname(host, sizeof host - 1);
        snprintf(name, sizeof name, "%s:%d", host, (int)getpid());
        node.name = (selene_text){name, -1};
    }
    return fleet_pass(selene_node_open(own->scheduler, &node, &own->node));
}

static selene_status begin(worker *own, const selene_worker_options *options) {
    selene_status status = open_node(own, options);
    if (status != SELENE_OK) return status;
    own->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    own->link.dsn = own->fleet->dsn;
    own->listener.dsn = own->fleet->listen_dsn;
    own->other.dsn = own->fleet->dsn;
    own->link.connect_timeout = own->listener.connect_timeout = own->fleet->connect_timeout;
    own->other.connect_timeout = own->fleet->connect_timeout;
    if (!(options->flags & SELENE_WORKER_POLLS_ONLY))
        set_channel(own, "select %.listen()", "select %.tell()");
    if (own->bell >= 0 && fleet_thread(&own->thread, work, own)) return SELENE_OK;
    selene_node_close(own->scheduler);
    return fleet_refuse(SELENE_ERROR_EXHAUSTED, "worker", "the system refuses a thread");
}

selene_status selene_fleet_work(selene_fleet number, selene_scheduler scheduler,
                                const selene_worker_options *given, selene_worker *out_worker) {
    selene_worker_options options = SELENE_INIT(selene_worker_options);
    fleet *of;
    selene_status status = fleet_check_pointer(out_worker, "out_worker");
    if (status == SELENE_OK) status = fleet_take(&options, sizeof options, given, "options");
    const uint32_t known = SELENE_WORKER_POLLS_ONLY | SELENE_WORKER_RELAXED;
    if (status == SELENE_OK && (options.flags & ~known) != 0)
        status = fleet_refuse_bits("flags", options.flags, known);
    if (status == SELENE_OK) status = check_texts(options.queues, options.queue_count, "queues");
    if (status == SELENE_OK) status = check_texts(options.labels, options.label_count, "labels");
    if (status == SELENE_OK) status = fleet_check_text(&options.name, 0, 255, "name");
    if (status == SELENE_OK) status = fleet_hold(number, &of);
    if (status != SELENE_OK) return status;
    worker *own = fleet_memory(sizeof *own);
    own->fleet = of;
    own->scheduler = scheduler;
    own->bell = -1;
    status = begin(own, &options);
    if (status == SELENE_OK) *out_worker = handle_add(&own->handle, WORKER_HANDLE, free_worker);
    else free_worker(&own->handle);
    return status;
}

static selene_status hold(selene_worker number, worker **out) {
    return handle_hold(number, WORKER_HANDLE, "worker", (handle **)(void *)out);
}

selene_status selene_worker_get(selene_worker number, selene_worker_info *out_info) {
    worker *own;
    selene_worker_info info = SELENE_INIT(selene_worker_info);
    selene_node_info node = SELENE_INIT(selene_node_info);
    selene_status status = fleet_check_pointer(out_info, "out_info");
    if (status == SELENE_OK) status = hold(number, &own);
    if (status != SELENE_OK) return status;
    if (atomic_load(&own->is_over) || selene_node_get(own->scheduler, &node) != SELENE_OK)
        node.state = SELENE_NODE_CLOSED;
    info.state = node.state;
    info.listens = (uint32_t)atomic_load(&own->listens);
    if (atomic_load(&own->is_deaf)) info.flags |= SELENE_WORKER_IS_POOLED;
    info.number = node.worker;
    info.believes_until = node.believes_until;
    info.working = node.working;
    info.ready = node.ready;
    info.undecided = node.undecided;
    handle_release(&own->handle);
    return fleet_fill(out_info, &info, sizeof info, "out_info");
}

// A worker that is no longer in the table: waits for it, and frees it.
static void end(worker *own, int64_t grace) {
    selene_node_leave(own->scheduler, grace);
    eventfd_write(own->bell, 1);
    pthread_join(own->thread, NULL);
    selene_node_close(own->scheduler);
    handle_release(&own->handle);
}

static int is_own_thread(const worker *own) {
    return pthread_equal(own->thread, pthread_self());
}

static selene_status refuse_own_thread(void) {
    return fleet_refuse(SELENE_ERROR_REENTRANT, "worker", "this is its own thread");
}

selene_status selene_worker_stop(selene_worker number, int64_t grace) {
    worker *own;
    handle *closed;
    if (number == 0) return SELENE_OK;
    selene_status status = fleet_check_time(grace, 0, SELENE_DAY, "grace");
    if (status == SELENE_OK) status = hold(number, &own);
    if (status != SELENE_OK) return status;
    status = is_own_thread(own) ? refuse_own_thread()
                                : handle_close(number, WORKER_HANDLE, "worker", &closed);
    handle_release(&own->handle);
    if (status == SELENE_OK) end((worker *)(void *)closed, grace);
    return status;
}

// ---- All of a fleet ----

static int is_of(const handle *one, const void *what) {
    return ((const worker *)(const void *)one)->fleet == what;
}

static int is_mine(const handle *one, const void *what) {
    return is_of(one, what) && is_own_thread((const worker *)(const void *)one);
}

selene_status workers_check(const fleet *of) {
    handle *mine = handle_find(WORKER_HANDLE, is_mine, of);
    if (mine == NULL) return SELENE_OK;
    handle_release(mine);
    return refuse_own_thread();
}

// One after the other, but they leave together, so that the grace is one for all.
void workers_stop(fleet *of, int64_t grace) {
    int64_t until = fleet_clock() + grace;
    handle *first = NULL, *one;
    while ((one = handle_find(WORKER_HANDLE, is_of, of)) != NULL) {
        handle *closed;
        // Somebody else may be just stopping it.
        if (handle_close(one->number, WORKER_HANDLE, "worker", &closed) == SELENE_OK) {
            selene_node_leave(((worker *)(void *)closed)->scheduler, grace);
            closed->next = first;
            first = closed;
        }
        handle_release(one);
    }
    while (first != NULL) {
        worker *own = (worker *)(void *)first;
        int64_t left = until - fleet_clock();
        first = first->next;
        end(own, left > 0 ? left : 0);
    }
}
