// Making a connection: in a thread of its own, since libpq resolves names on the thread that asks for it.

#include "fleet.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { LEFT_AFTER = 1000 };

struct attempt {
    // One of the thread's, one of whoever waits for it.
    atomic_int holds;
    pthread_t thread;
    char *dsn;
    int64_t timeout;
    // Readable when it is over; when it is to stop.
    int over;
    int stop;
    PGconn *connection;
    // Made by a pooler.
    int is_pooled;
    // Why there is none.
    char state[6];
    char message[1024];
};

int64_t fleet_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * SELENE_SECOND + now.tv_nsec;
}

int fleet_thread(pthread_t *out_thread, void *(*work)(void *), void *context) {
    static const int sent_to_processes[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,   SIGALRM,
                                            SIGTERM, SIGCHLD, SIGCONT, SIGTSTP,   SIGTTIN,
                                            SIGTTOU, SIGIO,   SIGPROF, SIGVTALRM, SIGWINCH};
    sigset_t blocked, before;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof sent_to_processes / sizeof *sent_to_processes; i++)
        sigaddset(&blocked, sent_to_processes[i]);
    // It begins with what its maker blocks.
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int error = pthread_create(out_thread, NULL, work, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

static void ignore(void *context, const PGresult *notice) {
    (void)context;
    (void)notice;
}

static void release(attempt *own) {
    if (atomic_fetch_sub(&own->holds, 1) > 1) return;
    if (own->connection != NULL) PQfinish(own->connection);
    close(own->over);
    close(own->stop);
    free(own->dsn);
    free(own);
}

// Makes a statement and waits for its answer, until time is up or the attempt is to stop; NULL: there is none.
static PGresult *ask(const attempt *own, PGconn *connection, const char *sql, int64_t until) {
    PGresult *last = NULL, *next;
    if (!PQsendQuery(connection, sql)) return NULL;
    for (;;) {
        while (!PQisBusy(connection)) {
            next = PQgetResult(connection);
            if (next == NULL) return last;
            PQclear(last);
            last = next;
        }
        int64_t left = until - fleet_clock();
        struct pollfd polled[] = {{own->stop, POLLIN, 0}, {PQsocket(connection), POLLIN, 0}};
        if (left > 0) poll(polled, 2, (int)(left / SELENE_MILLISECOND) + 1);
        if (left <= 0 || polled[0].revents != 0 || !PQconsumeInput(connection)) break;
    }
    PQclear(last);
    return NULL;
}

// Whether what stands between lets statements through that are one transaction. A pooler makes up the number of the process
// that it tells its clients. It also turns array_nulls on: the library sends arrays with nulls.
static int check(attempt *own, PGconn *connection, int64_t until) {
    static const char *const transaction[] = {"begin", "commit"};
    PGresult *told = ask(own, connection,
                         "select pg_backend_pid(), set_config('array_nulls', 'on', false)", until);
    int is_good = told != NULL && PQntuples(told) == 1;
    own->is_pooled = is_good && atoi(PQgetvalue(told, 0, 0)) != PQbackendPID(connection);
    PQclear(told);
    for (int i = 0; i < 2 && is_good && own->is_pooled; i++) {
        told = ask(own, connection, transaction[i], until);
        is_good = told != NULL && PQresultStatus(told) == PGRES_COMMAND_OK;
        if (!is_good &&
            strstr(told != NULL ? PQresultErrorMessage(told) : PQerrorMessage(connection),
                   "statement pooling") != NULL) {
            snprintf(own->state, sizeof own->state, "SE%03d", SELENE_ERROR_UNSUPPORTED);
            snprintf(own->message, sizeof own->message,
                     "dsn: the pooler hands connections on after each statement, and a fleet needs "
                     "transactions: its pool_mode may be transaction or session");
        }
        PQclear(told);
    }
    return is_good;
}

// Which of several servers a dsn means, as lists with commas between.
typedef struct places {
    char *host, *hostaddr, *port;
    int count;
} places;

static int commas(const char *list) {
    int count = 0;
    for (; list != NULL && *list != 0; list++)
        count += *list == ',';
    return count;
}

static char *copy_of(const char *text) {
    char *copy = text != NULL ? strdup(text) : NULL;
    if (text != NULL && copy == NULL) abort();
    return copy;
}

// Also those that the environment, or a file of services, says.
static void read_places(places *out, PGconn *connection) {
    PQconninfoOption *all = PQconninfo(connection);
    for (const PQconninfoOption *one = all; one != NULL && one->keyword != NULL; one++) {
        if (strcmp(one->keyword, "host") == 0) out->host = copy_of(one->val);
        if (strcmp(one->keyword, "hostaddr") == 0) out->hostaddr = copy_of(one->val);
        if (strcmp(one->keyword, "port") == 0) out->port = copy_of(one->val);
    }
    PQconninfoFree(all);
    out->count = 1 + (commas(out->hostaddr) > 0 ? commas(out->hostaddr) : commas(out->host));
}

// The entry at a place of a list, of its own; the only one stands for all.
static char *entry(const char *list, int place) {
    if (list == NULL) return NULL;
    for (; place > 0 && strchr(list, ',') != NULL; place--)
        list = strchr(list, ',') + 1;
    char *copy = strndup(list, strcspn(list, ","));
    if (copy == NULL) abort();
    return copy;
}

// Begins to connect: as the dsn says, or to one of its places.
static PGconn *start(const attempt *own, const places *of, int place) {
    // What a dsn says goes before the first four.
    static const char *const keywords[] = {"fallback_application_name",
                                           "keepalives_idle",
                                           "keepalives_interval",
                                           "keepalives_count",
                                           "dbname",
                                           "client_encoding",
                                           "host",
                                           "hostaddr",
                                           "port",
                                           NULL};
    char *host = place >= 0 ? entry(of->host, place) : NULL;
    char *hostaddr = place >= 0 ? entry(of->hostaddr, place) : NULL;
    char *port = place >= 0 ? entry(of->port, place) : NULL;
    const char *values[] = {"selene", "30", "10",     "3",  own->dsn,
                            "UTF8",   host, hostaddr, port, NULL};
    PGconn *connection = PQconnectStartParams(keywords, values, 1);
    if (connection == NULL) abort();
    PQsetNoticeReceiver(connection, ignore, NULL);
    free(host);
    free(hostaddr);
    free(port);
    return connection;
}

enum { CONNECTED, REFUSED, LATE, STOPPED };

static int go_on(attempt *own, PGconn *connection, int64_t until) {
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (PQstatus(connection) != CONNECTION_BAD && next != PGRES_POLLING_FAILED) {
        if (next == PGRES_POLLING_OK) {
            if (check(own, connection, until))
                return PQsetnonblocking(connection, 1) == 0 ? CONNECTED : REFUSED;
            return own->state[0] == 0 && fleet_clock() >= until ? LATE : REFUSED;
        }
        int64_t left = until - fleet_clock();
        struct pollfd polled[] = {{own->stop, POLLIN, 0}, {PQsocket(connection), POLLOUT, 0}};
        if (next == PGRES_POLLING_READING) polled[1].events = POLLIN;
        if (left > 0) poll(polled, 2, (int)(left / SELENE_MILLISECOND) + 1);
        if (polled[0].revents != 0) return STOPPED;
        if (polled[1].revents != 0) next = PQconnectPoll(connection);
        else if (left <= 0) return LATE;
    }
    return REFUSED;
}

// libpq passes over servers that refuse; one that is silent would keep it from the others for the whole time. So where there
// are several they have a part of it, and then each of them another one.
static void *make(void *context) {
    attempt *own = context;
    places all = {NULL, NULL, NULL, 1};
    int result = LATE;
    pthread_setname_np(pthread_self(), "selene/connect");
    int64_t until = fleet_clock() + own->timeout;
    for (int place = -1; result == LATE && place < (all.count > 1 ? all.count : 0); place++) {
        PGconn *connection = start(own, &all, place);
        if (place < 0) read_places(&all, connection);
        own->state[0] = 0;
        int parts = all.count > 1 ? all.count - place : 1;
        int64_t now = fleet_clock();
        result = go_on(own, connection, now + (until - now) / parts);
        if (result == REFUSED && place >= 0 && place + 1 < all.count) result = LATE;
        if (result == CONNECTED) {
            own->connection = connection;
            break;
        }
        const char *why = PQerrorMessage(connection);
        if (result == REFUSED && own->state[0] == 0)
            snprintf(own->message, sizeof own->message, "%s", why);
        PQfinish(connection);
    }
    if (result == LATE)
        snprintf(own->message, sizeof own->message, "no connection within the time for it");
    free(all.host);
    free(all.hostaddr);
    free(all.port);
    eventfd_write(own->over, 1);
    release(own);
    return NULL;
}

attempt *attempt_new(const char *dsn, int64_t timeout) {
    attempt *own = fleet_memory(sizeof *own);
    atomic_init(&own->holds, 2);
    own->dsn = strdup(dsn);
    if (own->dsn == NULL) abort();
    own->timeout = timeout;
    own->is_pooled = 0;
    own->state[0] = own->message[0] = 0;
    own->over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    own->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (own->over >= 0 && own->stop >= 0 && fleet_thread(&own->thread, make, own)) return own;
    if (own->over >= 0) close(own->over);
    if (own->stop >= 0) close(own->stop);
    free(own->dsn);
    free(own);
    return NULL;
}

int attempt_descriptor(const attempt *own) {
    return own->over;
}

PGconn *attempt_end(attempt *own, int *out_is_pooled, answer *why) {
    pthread_join(own->thread, NULL);
    PGconn *connection = own->connection;
    own->connection = NULL;
    *out_is_pooled = own->is_pooled;
    snprintf(why->state, sizeof why->state, "%s", own->state);
    snprintf(why->message, sizeof why->message, "%s", own->message);
    release(own);
    return connection;
}

void attempt_leave(attempt *own) {
    struct pollfd over = {own->over, POLLIN, 0};
    eventfd_write(own->stop, 1);
    if (poll(&over, 1, LEFT_AFTER) == 1) pthread_join(own->thread, NULL);
    else pthread_detach(own->thread);
    release(own);
}
