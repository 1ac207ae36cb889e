// Windows of a connection whose handlers are called here (C5): on the thread that asked, or on threads of the library, one a
// lane, which take runs as lanes of a host do. And stop functions (C7), on a thread of their own.

#include "member.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum {
    // Threads in handlers whose runs are over, as SELENE_OPTIONS_INIT has it.
    OVERRUN_MOST = 16
};

typedef struct receiver {
    service_receiver given;
    struct receiver *next;
} receiver;

// A window that is worked off here. Guarded by the connection's lock of calls.
struct window {
    uint64_t cycle;
    // 0: of one task, which nobody joins.
    uint32_t kinds;
    uint32_t lanes;
    int64_t deadline;
    int is_inline;
    // Nobody waits for it: the owner has granted it to the driver.
    int is_granted;
    // Threads that were started for its lanes; guarded by the lock of requests.
    uint32_t started;
    // It is reported; the report that its caller waits for, or what the store refused.
    int has_caller;
    void *report;
    service_failure *refused;
    receiver *receivers;
    // The list's, and one for each thread.
    uint32_t users;
    struct window *next;
};

// A thread of the library.
typedef struct worker {
    connection *own;
    uint64_t thread;
    void (*work)(struct worker *by);
    window *at;
    // What one has besides that works for something else.
    void (*other)(connection *own, uint64_t number);
    uint64_t number;
    int is_done, is_in_host;
    struct worker *next;
} worker;

// A stop function that is to be called.
typedef struct stop {
    offered *handler;
    uint64_t run;
    int32_t reason;
    struct stop *next;
} stop;

// ---- Calls into the host ----

// Begins a call, so that the thread knows where it is; the process that it is in. Inline, since the frame has a place on the
// stack that is not below those of the call.
__attribute__((always_inline)) static inline uint32_t enter_host(connection *own, worker *by,
                                                                 platform_mark *mark) {
    if (by != NULL) {
        pthread_mutex_lock(&own->calling);
        by->is_in_host = 1;
        pthread_mutex_unlock(&own->calling);
    }
    platform_frame_push(mark, own->entry.handle, 0, 0);
    return platform_fork_generation();
}

// 0: this is a child of the process that the call was made in, where nothing of the parent's may be touched.
static int leave_host(connection *own, worker *by, const platform_mark *mark, uint32_t process) {
    platform_frame left;
    if (platform_frame_pop(mark) == 0) {
        while (platform_frame_take_above(mark, &left)) {
        }
        platform_frame_pop(mark);
    }
    if (platform_fork_generation() != process) return 0;
    if (by == NULL) return 1;
    pthread_mutex_lock(&own->calling);
    by->is_in_host = 0;
    pthread_cond_broadcast(&own->called);
    pthread_mutex_unlock(&own->calling);
    return 1;
}

// Waits for something to happen here, at most until an instant of the boot clock. The lock of calls is held.
static void await_calls(connection *own, int64_t until) {
    int64_t left = until - platform_boot_clock();
    // Outcomes that were given elsewhere are asked for, too.
    if (left > 100000000) left = 100000000;
    if (left <= 0) return;
    system_condition_wait(&own->called, &own->calling, left);
}

void calls_news(connection *own) {
    pthread_mutex_lock(&own->calling);
    pthread_cond_broadcast(&own->called);
    pthread_mutex_unlock(&own->calling);
}

// ---- Threads ----

static void begin_thread(void *context) {
    worker *by = context;
    connection *own = by->own;
    uint32_t process = platform_fork_generation();
    by->work(by);
    // In a child this thread has nothing to do; if it is the only one there, the process ends with it.
    if (platform_fork_generation() != process) return;
    pthread_mutex_lock(&own->calling);
    by->is_done = 1;
    pthread_cond_broadcast(&own->called);
    pthread_mutex_unlock(&own->calling);
    wire_leave(&own->entry);
}

// Lets go the threads that have ended.
static void reap(connection *own) {
    worker *gone = NULL;
    pthread_mutex_lock(&own->calling);
    for (worker **at = &own->workers; *at != NULL;) {
        worker *each = *at;
        if (!each->is_done) {
            at = &each->next;
            continue;
        }
        *at = each->next;
        each->next = gone;
        gone = each;
    }
    pthread_mutex_unlock(&own->calling);
    while (gone != NULL) {
        worker *each = gone;
        gone = each->next;
        platform_thread_join(each->thread);
        free(each);
    }
}

static int start_worker(connection *own, const char *name, worker terms) {
    window *at = terms.at;
    service_failure failure;
    reap(own);
    if (wire_acquire(own->entry.handle, WIRE_CONNECTION, &failure) == NULL) return 0;
    worker *made = calloc(1, sizeof *made);
    if (made == NULL) abort();
    *made = terms;
    made->own = own;
    pthread_mutex_lock(&own->calling);
    made->thread =
        platform_thread_start(name, begin_thread, made, platform_signals_of_processes(), 0, 0);
    int is_started = made->thread != 0;
    if (is_started) {
        made->next = own->workers;
        own->workers = made;
        if (at != NULL) at->users++;
    }
    pthread_mutex_unlock(&own->calling);
    if (is_started) return 1;
    free(made);
    wire_leave(&own->entry);
    return 0;
}

static int start_thread(connection *own, const char *name, void (*work)(worker *by), window *at) {
    return start_worker(own, name, (worker){.work = work, .at = at});
}

static void do_other(worker *by) {
    by->other(by->own, by->number);
}

int calls_start(connection *own, const char *name, void (*work)(connection *own, uint64_t number),
                uint64_t number) {
    return start_worker(own, name, (worker){.work = do_other, .other = work, .number = number});
}

// ---- Stop functions ----

void calls_stop(connection *own, taken *run, int32_t reason) {
    if (run->was_asked || run->is_over) return;
    run->was_asked = 1;
    offered *handler = offered_use(own, ((const selene_run_info *)run->told)->handler);
    if (handler == NULL) return;
    if (handler->handler.stop == NULL) {
        // Its registration still uses it.
        offered_leave(handler);
        return;
    }
    stop *made = malloc(sizeof *made);
    if (made == NULL) abort();
    *made = (stop){handler, run->token, reason, NULL};
    pthread_mutex_lock(&own->calling);
    stop **last = &own->stops;
    while (*last != NULL)
        last = &(*last)->next;
    *last = made;
    pthread_cond_broadcast(&own->called);
    pthread_mutex_unlock(&own->calling);
}

// Calls the stop functions that are to be called; 0 in a child.
static int call_stops(connection *own, worker *by) {
    for (;;) {
        pthread_mutex_lock(&own->calling);
        stop *next = own->stops;
        if (next != NULL) own->stops = next->next;
        pthread_mutex_unlock(&own->calling);
        if (next == NULL) return 1;
        platform_mark mark;
        selene_stop_fn function = (selene_stop_fn)next->handler->handler.stop;
        uint32_t process = enter_host(own, by, &mark);
        function(next->run, next->reason, next->handler->handler.context);
        if (!leave_host(own, by, &mark, process)) return 0;
        offered_leave(next->handler);
        free(next);
    }
}

// Reads the owner's news while nobody else does, and calls stop functions.
static void tell_stops(worker *by) {
    connection *own = by->own;
    for (;;) {
        service_failure failure;
        uint64_t seen = atomic_load(&own->news);
        pthread_mutex_lock(&own->turn);
        (void)member_hear(own, &failure);
        if (own->descriptor >= 0 && !connection_hear(own)) connection_drop(own);
        // The next owner waits for runs of this process, which may be in handlers that call nothing.
        int is_awaited = own->descriptor < 0 && own->taken_count > 0 && !own->is_leaving;
        if (is_awaited) {
            if (connection_settle(own, 0, &failure) == SELENE_OK) is_awaited = 0;
            seen = atomic_load(&own->news);
        }
        pthread_mutex_unlock(&own->turn);
        if (!call_stops(own, by)) return;
        if (atomic_load(&own->is_closed)) return;
        news_await(own, seen, is_awaited ? platform_boot_clock() + 100000000 : INT64_MAX);
    }
}

int calls_tell(connection *own) {
    // From the next joining on, or as soon as the thread looks.
    own->wants_news = 1;
    if (!own->has_teller) own->has_teller = start_thread(own, "selene/stop", tell_stops, NULL);
    return own->has_teller;
}

// ---- Windows ----

static void leave_window(connection *own, window *at) {
    pthread_mutex_lock(&own->calling);
    int is_last = --at->users == 0;
    pthread_mutex_unlock(&own->calling);
    if (!is_last) return;
    free(at->report);
    free(at->refused);
    free(at);
}

static void *copy_report(const void *report) {
    wire encoded = {.most = WIRE_ANSWER_MOST};
    wire_struct(&encoded, 'Q', report);
    wire_reader body = {encoded.data, encoded.data + encoded.length, 0};
    void *made = wire_made(&body, 'Q');
    if (made == NULL) abort();
    free(encoded.data);
    return made;
}

window *calls_take(connection *own, uint64_t cycle) {
    pthread_mutex_lock(&own->calling);
    window **link = &own->windows;
    while (*link != NULL && (*link)->cycle != cycle)
        link = &(*link)->next;
    window *at = *link;
    if (at != NULL) *link = at->next;
    pthread_mutex_unlock(&own->calling);
    return at;
}

static void hand_report(connection *own, worker *by, window *at, const void *report) {
    if (at == NULL) return;
    // Where the owner has gone there is none.
    const selene_report none = {.struct_size = sizeof none,
                                .flags = SELENE_REPORT_NOT_STORED,
                                .cycle = at->cycle,
                                .kinds = at->kinds,
                                .deadline = at->deadline,
                                .result = SELENE_OUTCOME_FAILED};
    pthread_mutex_lock(&own->calling);
    receiver *told = at->receivers;
    at->receivers = NULL;
    if (at->has_caller && report != NULL) at->report = copy_report(report);
    pthread_cond_broadcast(&own->called);
    pthread_mutex_unlock(&own->calling);
    while (told != NULL) {
        receiver *each = told;
        platform_mark mark;
        told = each->next;
        uint32_t process = enter_host(own, by, &mark);
        if (each->given.report != NULL)
            each->given.report(report != NULL ? report : &none, each->given.context);
        if (each->given.destroy != NULL) each->given.destroy(each->given.context);
        if (!leave_host(own, by, &mark, process)) return;
        free(each);
    }
    leave_window(own, at);
}

void calls_report(connection *own, window *at, const void *report) {
    hand_report(own, NULL, at, report);
}

// The store has refused a run: the window goes no further, and who waits for it is told why.
static void refuse_window(connection *own, window *at, const service_failure *failure) {
    service_failure ending;
    pthread_mutex_lock(&own->calling);
    if (at->refused == NULL) {
        at->refused = malloc(sizeof *failure);
        if (at->refused == NULL) abort();
        *at->refused = *failure;
    }
    pthread_mutex_unlock(&own->calling);
    (void)service_ask_of(at->cycle, SERVICE_CYCLE_END, 0, 0, 0, 0, &ending);
}

// The life of a lane; 0 in a child.
static int take_runs(connection *own, worker *by, uint64_t lane, int32_t *out_status,
                     service_failure *failure) {
    for (;;) {
        int32_t step = SELENE_STEP_DONE;
        int64_t wake_at;
        const void *told = NULL;
        offered *handler = NULL;
        *out_status = lane_take(lane, SELENE_OUTCOME_NONE, SELENE_NEVER, &step, &told, &wake_at,
                                &handler, failure);
        if (*out_status != SELENE_OK || step != SELENE_STEP_RUN) return 1;
        const selene_run_info *info = told;
        if (handler == NULL) {
            // It was withdrawn as the owner gave the run.
            (void)service_ask_of(info->run, SERVICE_RUN_RETRY, 0, 0, 0, 0, failure);
            continue;
        }
        platform_mark mark;
        selene_run_fn function = (selene_run_fn)handler->handler.run;
        uint32_t process = enter_host(own, by, &mark);
        if (function != NULL) function(info->run, info, handler->handler.context);
        if (!leave_host(own, by, &mark, process)) return 0;
        offered_leave(handler);
    }
}

static void work_lane(worker *by) {
    connection *own = by->own;
    service_failure failure;
    uint64_t lane;
    int32_t status;
    if (lane_open(by->at->cycle, 1, &lane, &failure) == SELENE_OK) {
        if (!take_runs(own, by, lane, &status, &failure)) return;
        if (status != SELENE_OK && status != SELENE_ERROR_OWNER_AWAY)
            refuse_window(own, by->at, &failure);
        (void)service_lane_close(lane, &failure);
    }
    leave_window(own, by->at);
}

void window_keep(connection *own, window *at) {
    uint32_t left = lanes_left_behind(own, at->cycle);
    while (!at->is_inline && !own->is_leaving && taking_is_called(own, at->cycle) &&
           at->started < at->lanes + left && lanes_left_behind(own, 0) < OVERRUN_MOST) {
        if (!start_thread(own, "selene/lane", work_lane, at)) return;
        at->started++;
    }
}

// What the caller of a window gets once that is over. Another thread may have ended it, which has left the report.
static int32_t settle(connection *own, worker *by, window *at, int32_t status, void **report,
                      service_failure *failure) {
    if (status != SELENE_OK) hand_report(own, by, calls_take(own, at->cycle), NULL);
    pthread_mutex_lock(&own->calling);
    if (status != SELENE_OK && at->report != NULL) {
        status = SELENE_OK;
        *report = at->report;
        at->report = NULL;
    }
    if (at->refused != NULL) {
        *failure = *at->refused;
        status = failure->status;
        free(*report);
        *report = NULL;
    }
    pthread_mutex_unlock(&own->calling);
    if (status != SELENE_ERROR_INVALID_HANDLE) return status;
    wire_fail(failure, SELENE_ERROR_OWNER_AWAY, "path", own->path,
              "its owner ended, or the connection was closed, while the window was open; "
              "its runs are over");
    failure->flags = SELENE_FAULT_IN_DOUBT;
    return failure->status;
}

// Sees a window through to its report, which comes by the deadline whatever the handlers do.
static int32_t see_through(connection *own, worker *by, window *at, void **report,
                           service_failure *failure) {
    int64_t wake_at;
    int32_t status = cycle_await(at->cycle, INT64_MAX, report, &wake_at, at, failure);
    // Taken from the list by then, so that nobody else reports it.
    if (status == SELENE_OK) hand_report(own, by, at, *report);
    return settle(own, by, at, status, report, failure);
}

static void follow_window(worker *by) {
    connection *own = by->own;
    service_failure failure;
    void *report = NULL;
    uint32_t process = platform_fork_generation();
    (void)see_through(own, by, by->at, &report, &failure);
    if (platform_fork_generation() != process) return;
    free(report);
    leave_window(own, by->at);
}

int calls_are_full(connection *own) {
    return lanes_left_behind(own, 0) >= OVERRUN_MOST;
}

// Enters a window in the list and starts its threads; the caller has one use of it. 0: the system refuses threads.
static int work_off(connection *own, window *at, int is_followed) {
    // The list's and the caller's.
    at->users = 2;
    taking_begin(own, at->cycle, at->lanes, 1, 1);
    pthread_mutex_lock(&own->calling);
    at->next = own->windows;
    own->windows = at;
    pthread_mutex_unlock(&own->calling);
    window_keep(own, at);
    return (at->is_inline || at->started == at->lanes) &&
           (!is_followed || start_thread(own, "selene/window", follow_window, at));
}

// A window without its threads ends, and nobody is told of it. The lock is held.
static void take_back(connection *own, window *at) {
    service_failure failure;
    const wire_word ending[WIRE_WORDS] = {{at_owner(own, at->cycle)}, {0}};
    pthread_mutex_lock(&own->calling);
    at->receivers = NULL;
    pthread_mutex_unlock(&own->calling);
    connection_ask(own, SERVICE_CYCLE_END, ending, own->session, &failure);
    taking_end(own, at->cycle);
}

int calls_begin(connection *own, uint64_t cycle, uint32_t lanes) {
    window *at = calloc(1, sizeof *at);
    if (at == NULL) abort();
    at->cycle = cycle;
    at->lanes = lanes;
    at->is_granted = 1;
    int is_whole = work_off(own, at, 1);
    if (!is_whole) {
        take_back(own, at);
        if (calls_take(own, cycle) != NULL) leave_window(own, at);
    }
    leave_window(own, at);
    return is_whole;
}

void calls_drop_granted(connection *own) {
    window *gone = NULL;
    pthread_mutex_lock(&own->calling);
    for (window **link = &own->windows; *link != NULL;) {
        window *each = *link;
        if (!each->is_granted) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        each->next = gone;
        gone = each;
    }
    pthread_mutex_unlock(&own->calling);
    while (gone != NULL) {
        window *each = gone;
        gone = each->next;
        for (size_t i = 0; i < own->taken_count; i++)
            if (own->taken[i].cycle == each->cycle)
                calls_stop(own, &own->taken[i], SELENE_STOP_SHUTDOWN);
        taking_end(own, each->cycle);
        leave_window(own, each);
    }
}

// Starts nothing more in the windows that are called here, or only in those that were granted. The owner asks their runs to
// stop when the last part of the grace begins. 0: there is none, or no owner.
static int drain_windows(connection *own, int only_granted, int64_t grace) {
    int is_told = 0;
    uint64_t last = 0;
    for (;;) {
        service_failure failure;
        uint64_t cycle = 0;
        // In the order of their numbers, since the list changes meanwhile.
        pthread_mutex_lock(&own->calling);
        for (window *each = own->windows; each != NULL; each = each->next)
            if (each->cycle > last && (each->is_granted || !only_granted) &&
                (cycle == 0 || each->cycle < cycle))
                cycle = each->cycle;
        pthread_mutex_unlock(&own->calling);
        if (cycle == 0) return is_told;
        last = cycle;
        if (service_ask_of(cycle, SERVICE_CYCLE_DRAIN, (uint64_t)grace, 0, 0, 0, &failure) ==
            SELENE_OK)
            is_told = 1;
    }
}

// Waits while runs that are called here are at work, or only those of windows that were granted.
static void await_runs(connection *own, int only_granted, int64_t until) {
    for (;;) {
        int are_at_work = 0;
        pthread_mutex_lock(&own->turn);
        pthread_mutex_lock(&own->calling);
        for (window *each = own->windows; each != NULL; each = each->next)
            if (each->is_granted || !only_granted) are_at_work |= lanes_at_work(own, each->cycle);
        pthread_mutex_unlock(&own->turn);
        if (are_at_work && platform_boot_clock() < until) await_calls(own, until);
        else are_at_work = 0;
        pthread_mutex_unlock(&own->calling);
        if (!are_at_work) return;
    }
}

void calls_drain_granted(connection *own, int64_t until, int64_t grace) {
    if (drain_windows(own, 1, grace)) await_runs(own, 1, until);
}

// Begins a window at the owner and its threads here. The caller has one use of it.
static int32_t begin_window(connection *own, const void *given, int is_async,
                            const service_receiver *heard, window **out, service_failure *failure) {
    const selene_window terms = window_given(given);
    uint64_t cycle = 0;
    int64_t deadline = 0;
    const wire_word words[WIRE_WORDS] = {{.pointer = (void *)(uintptr_t)given},
                                         {(uint64_t)is_async},
                                         {.pointer = &cycle},
                                         {.pointer = &deadline}};
    int32_t status = SELENE_OK;
    window *at = NULL;
    receiver *made = NULL;
    if (is_async) {
        made = malloc(sizeof *made);
        if (made == NULL) abort();
        *made = (receiver){*heard, NULL};
    }
    pthread_mutex_lock(&own->turn);
    own->is_member = 1;
    if (own->is_leaving)
        status = wire_fail(failure, SELENE_ERROR_UNAVAILABLE, "", NULL, "it is being closed");
    else if ((terms.flags & SELENE_WINDOW_INLINE) == 0 && lanes_left_behind(own, 0) >= OVERRUN_MOST)
        status = wire_fail(failure, SELENE_ERROR_BUSY, "", NULL,
                           "%u threads are still in handlers that overran, which is the limit",
                           lanes_left_behind(own, 0));
    // One of exactly these kinds is joined.
    pthread_mutex_lock(&own->calling);
    for (window *each = own->windows; status == SELENE_OK && is_async && each != NULL;
         each = each->next)
        if (terms.task.length == 0 && !each->is_inline && !each->is_granted &&
            each->kinds == terms.kinds &&
            (terms.flags & (SELENE_WINDOW_INLINE | SELENE_WINDOW_LANES)) == 0)
            at = each;
    if (at != NULL) {
        made->next = at->receivers;
        at->receivers = made;
        at->users++;
    }
    pthread_mutex_unlock(&own->calling);
    if (status == SELENE_OK && at == NULL)
        status = connection_ask(own, SERVICE_CYCLE_CALL, words, 0, failure);
    if (status == SELENE_OK && at == NULL) {
        own->cycles = cycle & ~NUMBER_MASK;
        at = calloc(1, sizeof *at);
        if (at == NULL) abort();
        at->cycle = token_of(own, CYCLE, cycle);
        at->kinds = terms.task.length == 0 ? terms.kinds : 0;
        at->lanes = terms.lanes;
        at->deadline = deadline;
        at->is_inline = (terms.flags & SELENE_WINDOW_INLINE) != 0;
        at->has_caller = !is_async;
        at->receivers = made;
        if (!work_off(own, at, is_async)) {
            take_back(own, at);
            status = wire_fail(failure, SELENE_ERROR_EXHAUSTED, "", NULL,
                               "the system refused to start a thread");
        }
    }
    member_give_up(own);
    pthread_mutex_unlock(&own->turn);
    if (status != SELENE_OK) {
        free(made);
        if (at != NULL) {
            hand_report(own, NULL, calls_take(own, at->cycle), NULL);
            leave_window(own, at);
        }
        return status;
    }
    *out = at;
    return SELENE_OK;
}

static int32_t refuse_inside(const connection *own, service_failure *failure) {
    if (platform_frame_within(own->entry.handle) == 0) return SELENE_OK;
    return wire_fail(failure, SELENE_ERROR_REENTRANT, "", NULL,
                     "a blocking cycle is not possible inside a callback of the same scheduler");
}

int32_t service_cycle_run(uint64_t handle, const void *given, void **out_report,
                          service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    window *at = NULL;
    *out_report = NULL;
    int32_t status = refuse_inside(own, failure);
    if (status == SELENE_OK) status = begin_window(own, given, 0, NULL, &at, failure);
    if (status != SELENE_OK) {
        wire_leave(entry);
        return status;
    }
    if (at->is_inline) {
        uint64_t lane = 0;
        status = lane_open(at->cycle, 1, &lane, failure);
        if (status == SELENE_OK && !take_runs(own, NULL, lane, &status, failure))
            return wire_fail(failure, SELENE_ERROR_FORKED, "scheduler", NULL,
                             "opened before fork() and belongs to the parent; the child opens its "
                             "own");
        if (lane != 0) {
            service_failure other;
            (void)service_lane_close(lane, &other);
        }
        if (status != SELENE_OK && status != SELENE_ERROR_OWNER_AWAY)
            refuse_window(own, at, failure);
        else if (status == SELENE_OK)
            status = service_ask_of(at->cycle, SERVICE_CYCLE_END, (uint64_t)(uintptr_t)out_report,
                                    0, 0, 0, failure);
        status = settle(own, NULL, at, status, out_report, failure);
    } else {
        status = see_through(own, NULL, at, out_report, failure);
    }
    leave_window(own, at);
    wire_leave(entry);
    return status;
}

int32_t service_cycle_run_async(uint64_t handle, const void *given, const service_receiver *heard,
                                uint64_t *out_cycle, int64_t *out_deadline,
                                service_failure *failure) {
    wire_entry *entry = wire_acquire(handle, WIRE_CONNECTION, failure);
    if (entry == NULL) return failure->status;
    connection *own = (connection *)(void *)entry;
    window *at = NULL;
    int32_t status = begin_window(own, given, 1, heard, &at, failure);
    if (status == SELENE_OK) {
        *out_cycle = at->cycle;
        *out_deadline = at->deadline;
        leave_window(own, at);
    }
    wire_leave(entry);
    return status;
}

// ---- The end ----

static int has_windows(connection *own) {
    pthread_mutex_lock(&own->calling);
    int has = own->windows != NULL;
    pthread_mutex_unlock(&own->calling);
    return has;
}

static void ask_runs_to_stop(connection *own) {
    pthread_mutex_lock(&own->turn);
    for (size_t i = 0; i < own->taken_count; i++)
        calls_stop(own, &own->taken[i], SELENE_STOP_SHUTDOWN);
    int has_teller = own->has_teller;
    pthread_mutex_unlock(&own->turn);
    if (has_teller) news_came(own);
}

void calls_drain(connection *own, int64_t until, int64_t grace) {
    service_failure failure;
    pthread_mutex_lock(&own->turn);
    own->is_leaving = 1;
    pthread_mutex_unlock(&own->turn);
    if (has_windows(own)) news_came(own);
    int64_t asking = grace / 10 < 10000000000 ? grace / 10 : 10000000000;
    if (grace > 0 && has_windows(own)) {
        // An owner that is away asks nothing to stop.
        if (!drain_windows(own, 0, grace)) {
            await_runs(own, 0, until - asking);
            ask_runs_to_stop(own);
        }
        await_runs(own, 0, until);
    }
    // What is left waits again as before the run, and is told so; then windows are reported.
    pthread_mutex_lock(&own->turn);
    if (own->is_joined && own->descriptor >= 0 && own->windows != NULL)
        connection_ask(own, SERVICE_CLIENT_REST, (const wire_word[WIRE_WORDS]){{0}}, own->session,
                       &failure);
    pthread_mutex_unlock(&own->turn);
    ask_runs_to_stop(own);
    for (;;) {
        pthread_mutex_lock(&own->calling);
        uint64_t cycle = own->windows != NULL ? own->windows->cycle : 0;
        pthread_mutex_unlock(&own->calling);
        if (cycle == 0) return;
        if (service_ask_of(cycle, SERVICE_CYCLE_END, 0, 0, 0, 0, &failure) != SELENE_OK)
            hand_report(own, NULL, calls_take(own, cycle), NULL);
    }
}

void calls_end(connection *own, int64_t until) {
    worker *left = NULL;
    pthread_mutex_lock(&own->calling);
    for (;;) {
        int is_waited_for = 0, is_within = 0;
        for (worker *each = own->workers; each != NULL; each = each->next) {
            is_waited_for |= !each->is_done && !each->is_in_host;
            is_within |= !each->is_done && each->is_in_host;
        }
        if (!is_waited_for && (!is_within || platform_boot_clock() >= until)) break;
        await_calls(own, is_waited_for ? platform_boot_clock() + 100000000 : until);
    }
    // Those that are in handlers go on without anybody who waits for them.
    for (worker **at = &own->workers; *at != NULL;) {
        worker *each = *at;
        if (each->is_done) {
            at = &each->next;
            continue;
        }
        *at = each->next;
        each->next = left;
        left = each;
        platform_thread_detach(each->thread);
    }
    worker *done = own->workers;
    own->workers = left;
    pthread_mutex_unlock(&own->calling);
    while (done != NULL) {
        worker *each = done;
        done = each->next;
        platform_thread_join(each->thread);
        free(each);
    }
}

void calls_free(connection *own) {
    while (own->workers != NULL) {
        worker *each = own->workers;
        own->workers = each->next;
        free(each);
    }
    while (own->stops != NULL) {
        stop *each = own->stops;
        own->stops = each->next;
        offered_leave(each->handler);
        free(each);
    }
}
