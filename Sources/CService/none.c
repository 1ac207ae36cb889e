// In place of all the other files: a WebAssembly module has no other process to serve or to ask.

#include "CPlatform.h"
#include "CService.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNSUPPORTED = 19 };

static int32_t fail(service_failure *failure, const char *field) {
    static const char problem[] = "this module has no sockets, and no other processes";
    memset(failure, 0, sizeof *failure);
    failure->status = UNSUPPORTED;
    snprintf(failure->texts[0], SERVICE_TEXT_SIZE, "%s: %s", field, problem);
    snprintf(failure->texts[1], SERVICE_TEXT_SIZE, "%s", field);
    snprintf(failure->texts[5], SERVICE_TEXT_SIZE, "%s", problem);
    return failure->status;
}

int32_t service_open(uint64_t scheduler, const service_terms *terms, const service_taps *taps,
                     const service_crews *crews, uint64_t *out_server, int32_t *out_fd,
                     service_failure *failure) {
    return fail(failure, "server");
}
int32_t service_step(uint64_t server, int64_t *out_wake_at, service_failure *failure) {
    return fail(failure, "server");
}
int32_t service_census_of(uint64_t server, service_census *out_census, service_failure *failure) {
    return fail(failure, "server");
}
int32_t service_close(uint64_t server, service_failure *failure) {
    return fail(failure, "server");
}
int32_t service_serve(uint64_t scheduler, int64_t nanoseconds) {
    return 0;
}
void service_end(uint64_t scheduler) {
    (void)scheduler;
}
int32_t service_connect(const char *path, uint64_t path_length, const char *pool,
                        uint64_t pool_length, int64_t wait, int64_t timeout, int64_t server_user,
                        uint64_t *out_connection, service_failure *failure) {
    return fail(failure, "path");
}
int32_t service_leaving(uint64_t connection, int64_t grace, service_failure *failure) {
    return fail(failure, "scheduler");
}
void service_disconnect(uint64_t connection) {
    (void)connection;
}
int32_t service_ask(uint64_t connection, uint32_t operation, uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d, service_failure *failure) {
    return fail(failure, "scheduler");
}
int32_t service_link_worker(uint64_t connection, uint64_t *out_worker, service_failure *failure) {
    return fail(failure, "scheduler");
}
void *service_report_copy(const void *report) {
    (void)report;
    abort(); // no owner has made one
}
void *service_clients(uint64_t scheduler) {
    uint64_t *none = calloc(1, 24);
    uint32_t size = 24;
    if (none == NULL) abort();
    memcpy(none, &size, sizeof size);
    return none;
}
int32_t service_events_open(uint64_t connection, uint64_t capacity, int32_t *out_fd,
                            service_failure *failure) {
    return fail(failure, "scheduler");
}
int32_t service_events_next(uint64_t connection, int64_t timeout, const void **out_event,
                            uint64_t *out_lost, service_failure *failure) {
    return fail(failure, "scheduler");
}
int32_t service_events_close(uint64_t connection, service_failure *failure) {
    return fail(failure, "scheduler");
}

int32_t platform_connection(uint64_t handle) {
    return 0;
}
