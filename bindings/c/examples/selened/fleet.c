#include "fleet.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../selene-run/printable.h"
#include "module.h"

/* Of one name for all releases that have the same interface. */
#define LIBRARY "libselened-fleet.so.1"
#define WHERE_IT_IS                                                                                \
    "it is in the package libselene-fleet1 (Debian) or selene-fleet (RPM), or comes by make "      \
    "install-fleet from the sources"
#define LOOK_AGAIN (20 * SELENE_MILLISECOND)

static const struct fleet_module *module;

/* What the database was last said to refuse, or why it cannot be reached. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct printable trouble;
static bool has_left;

/* ---- Join ---- */

static bool load(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *why = library ? NULL : dlerror();
    if (library == NULL) {
        /* Not every system's words have its name. */
        fprintf(stderr, "selened: --fleet: %s%s; " WHERE_IT_IS "\n",
                why && strstr(why, LIBRARY) ? "" : LIBRARY ": ",
                why ? printable(why, -1).text : "cannot be loaded");
        return false;
    }
    module = dlsym(library, FLEET_MODULE);
    if (module && strcmp(module->version, SELENE_VERSION_STRING) == 0) return true;
    fprintf(stderr,
            "selened: --fleet: " LIBRARY " is of release %s, selened of %s; " WHERE_IT_IS "\n",
            module ? printable(module->version, -1).text : "another", SELENE_VERSION_STRING);
    return false;
}

/* Called on a thread of the library. */
static void hear(const selene_event *event, void *context) {
    (void)context;
    if (event->type != SELENE_EVENT_TROUBLE || event->detail != SELENE_TROUBLE_FLEET) return;
    pthread_mutex_lock(&lock);
    if (event->status != SELENE_OK) trouble = printable(event->message.data, event->message.length);
    else if (!has_left) fputs("selened: the database of the fleet answers again\n", stderr);
    pthread_mutex_unlock(&lock);
}

/* In the names of the options. */
static int refused(const selene_error *error) {
    static const char *const names[][2] = {{"dsn", "--fleet"}, {"listen_dsn", "--listen"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(error->field.data, names[i][0]) != 0 || error->problem.length == 0) continue;
        fprintf(stderr, "selened: %s: %s\n", names[i][1],
                printable(error->problem.data, error->problem.length).text);
        return EXIT_REFUSED;
    }
    fprintf(stderr, "selened: --fleet: %s\n", printable(error->message.data, -1).text);
    return EXIT_REFUSED;
}

int fleet_join(const struct options *options, selene_scheduler scheduler) {
    const struct fleet_terms terms = {
        .conninfo = options->fleet,
        .listen = options->listen,
        .schema = options->schema,
        .name = options->name,
        .queues = options->queues,
        .queue_count = options->queue_count,
        .labels = options->labels,
        .label_count = options->label_count,
        .lease = options->lease,
        .poll = options->poll,
        .polls_only = options->polls_only,
        .relaxed = options->relaxed,
    };
    if (!load()) return EXIT_SYSTEM;
    if (selene_scheduler_observe(scheduler, hear, NULL, NULL)) {
        fprintf(stderr, "selened: %s\n", printable(selene_error_last()->message.data, -1).text);
        return EXIT_REFUSED;
    }
    if (module->join(&terms, scheduler) == SELENE_OK) return EXIT_DONE;
    return refused(module->error());
}

/* ---- Standing ---- */

static char standing[sizeof trouble.text];

static void describe(selene_scheduler scheduler, char *out, size_t size) {
    selene_scheduler_info info = SELENE_INIT(selene_scheduler_info);
    selene_node_info node = SELENE_INIT(selene_node_info);
    *out = '\0';
    if (selene_node_get(scheduler, &node) || selene_scheduler_get(scheduler, &info)) return;
    if (info.troubles & SELENE_TROUBLE_FLEET) {
        pthread_mutex_lock(&lock);
        snprintf(out, size, "%s",
                 *trouble.text ? trouble.text : "the database of the fleet does not answer");
        pthread_mutex_unlock(&lock);
    } else if (node.state == SELENE_NODE_CLOSED) {
        snprintf(out, size, "has left the fleet, which asked for it");
    } else if (node.state == SELENE_NODE_LEAVING) {
        snprintf(out, size, "leaving the fleet");
    } else if (node.worker) {
        snprintf(out, size, "worker %lld of the fleet", (long long)node.worker);
    } else {
        snprintf(out, size, "joining the fleet");
    }
}

const char *fleet_standing(selene_scheduler scheduler) {
    describe(scheduler, standing, sizeof standing);
    return standing;
}

bool fleet_has_changed(selene_scheduler scheduler) {
    char words[sizeof standing];
    describe(scheduler, words, sizeof words);
    return strcmp(words, standing) != 0;
}

/* ---- Leave ---- */

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec * SELENE_SECOND + time.tv_nsec;
}

static bool is_left(selene_scheduler scheduler) {
    selene_node_info info = SELENE_INIT(selene_node_info);
    return selene_node_get(scheduler, &info) || info.state == SELENE_NODE_CLOSED;
}

/* Who has not joined, and runs nothing, has nothing to give back, however long the database is away. */
static bool is_outside(selene_scheduler scheduler) {
    selene_node_info info = SELENE_INIT(selene_node_info);
    return selene_node_get(scheduler, &info) ||
           (info.worker == 0 && info.working + info.ready + info.undecided == 0);
}

static bool left_by(selene_scheduler scheduler, int64_t until) {
    const struct timespec pause = {0, LOOK_AGAIN};
    while (!is_left(scheduler)) {
        if (now() >= until) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

void fleet_leave(const struct options *options, selene_scheduler scheduler) {
    const int64_t until = now() + options->drain;
    if (module == NULL) return;
    if (!is_outside(scheduler) &&
        selene_node_leave(scheduler, options->drain + GIVING_BACK) == SELENE_OK &&
        !left_by(scheduler, until)) {
        /* What is stopped here is none of the fleet's decisions: it goes back as before the run when its process lets go. */
        selene_task_cancel_all(scheduler, NULL);
        left_by(scheduler, until + GIVING_BACK);
    }
    pthread_mutex_lock(&lock);
    has_left = true;
    pthread_mutex_unlock(&lock);
    module->leave();
}
