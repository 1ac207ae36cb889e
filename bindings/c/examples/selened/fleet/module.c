/*
 * The module libselened-fleet.so of selened: libselene-fleet without libselene
 *
 * selened has the engine inside. libselene-fleet.so would bring libselene.so, a second engine, whose handles are not those of
 * the first; what is linked here takes the functions of the engine from the program that loads it.
 */
#include "../module.h"

#include <selene-fleet.h>
#include <stddef.h>

static selene_fleet fleet;
static selene_worker worker;

static selene_text text(const char *value, selene_text otherwise) {
    return value ? (selene_text){value, -1} : otherwise;
}

static selene_status join(const struct fleet_terms *terms, selene_scheduler scheduler) {
    selene_fleet_options where = SELENE_INIT(selene_fleet_options);
    selene_worker_options how = SELENE_INIT(selene_worker_options);
    selene_status status;
    where.dsn = text(terms->conninfo, where.dsn);
    where.listen_dsn = text(terms->listen, where.listen_dsn);
    where.schema = text(terms->schema, where.schema);
    how.name = text(terms->name, how.name);
    how.queues = terms->queues;
    how.queue_count = terms->queue_count;
    how.labels = terms->labels;
    how.label_count = terms->label_count;
    if (terms->lease >= 0) how.lease = terms->lease;
    if (terms->poll >= 0) how.poll = terms->poll;
    if (terms->polls_only) how.flags |= SELENE_WORKER_POLLS_ONLY;
    if (terms->relaxed) how.flags |= SELENE_WORKER_RELAXED;
    status = selene_fleet_open(&where, &fleet);
    return status ? status : selene_fleet_work(fleet, scheduler, &how, &worker);
}

static void leave(void) {
    selene_worker_stop(worker, 0);
    selene_fleet_close(fleet, 0);
}

extern const struct fleet_module selened_fleet_module;
const struct fleet_module selened_fleet_module = {SELENE_VERSION_STRING, join, leave,
                                                  selene_fleet_error};
