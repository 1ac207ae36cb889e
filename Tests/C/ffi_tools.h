/*
 * ffi_tools.h - callbacks as a host without a C compiler makes them: closures of libffi
 *
 * Every callback type is an ffi_closure made at run time with data of its own, freed from its destroy. Counters show
 * that none is leaked, none is called after its destroy, and destroy comes exactly once, also when the call failed.
 */
#ifndef FFI_TOOLS_H
#define FFI_TOOLS_H

#include "check.h"

#include <ffi.h>

#include <pthread.h>
#include <stdatomic.h>

/** The type that a letter of a signature stands for. */
CHECK_UNUSED static ffi_type *type_of(char letter) {
    switch (letter) {
    case 'v':
        return &ffi_type_void;
    case 'i':
        return &ffi_type_sint32;
    case 'u':
        return &ffi_type_uint32;
    case 'l':
        return &ffi_type_sint64;
    case 'h':
        return &ffi_type_uint64;
    case 'p':
        return &ffi_type_pointer;
    default:
        CHECK(!"a known letter");
    }
    return NULL;
}

/* ---- closures ----------------------------------------------------------------- */

enum type { RUN, STOP, DESTROY, CLOCK, REPORT, EVENT, LOG, TYPES };

CHECK_UNUSED static const char *const callback_signatures[TYPES] = {"vhpp", "vhip", "vp",  "lp",
                                                                    "vpp",  "vpp",  "vipp"};
CHECK_UNUSED static ffi_cif callback_cifs[TYPES];
CHECK_UNUSED static ffi_type *callback_types[TYPES][4];

/** The code of a closure under each of its C types. */
union callback {
    void *code;
    selene_run_fn run;
    selene_stop_fn stop;
    selene_destroy_fn destroy;
    selene_clock_fn clock;
    selene_report_fn report;
    selene_event_fn event;
    selene_log_fn log;
};

/** What a run closure does beyond counting. */
enum behaviour { COMPLETE, CANCEL_ITSELF, UNREGISTER_ITSELF, WAIT_FOR_GATE, COMPLETE_WHEN_STOPPED };

/** One callback triple with its own closures: a handler, an observer, the receiver of a report, or a clock. */
struct owner {
    int number;
    char name[32];
    void *context; /* what the library is given; no address of anything */
    selene_scheduler scheduler;
    enum behaviour behaviour;
    ffi_closure *closures[TYPES];
    union callback callbacks[TYPES];
    atomic_int calls[TYPES];
    atomic_int inside;
    atomic_int destroyed;
    _Atomic uint64_t last; /* REPORT: the cycle; EVENT: the number */
    pthread_t home;        /* where callbacks are due, if at_home */
    int at_home;
    int64_t retired_at;
    struct owner *next;
};

CHECK_UNUSED static atomic_long made[TYPES], freed[TYPES], called[TYPES];
CHECK_UNUSED static atomic_long owners_made, owners_destroyed;
CHECK_UNUSED static atomic_long called_late, destroyed_twice, destroyed_early, wrong_context,
    wrong_data;
CHECK_UNUSED static _Atomic int64_t clock_value;

CHECK_UNUSED static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
CHECK_UNUSED static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
CHECK_UNUSED static int gate_open;
CHECK_UNUSED static int gate_waiting;
CHECK_UNUSED static struct owner *retired;

CHECK_UNUSED static void free_closure(struct owner *owner, enum type type) {
    if (!owner->closures[type]) return;
    ffi_closure_free(owner->closures[type]);
    owner->closures[type] = NULL;
    atomic_fetch_add(&freed[type], 1);
}

CHECK_UNUSED static enum type type_of_cif(const ffi_cif *cif) {
    return (enum type)(cif - callback_cifs);
}

/** Keeps a closure that may be executing until it surely is not; see sweep and settle. */
CHECK_UNUSED static void retire(struct owner *owner) {
    pthread_mutex_lock(&lock);
    owner->retired_at = check_now();
    owner->next = retired;
    retired = owner;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/** Frees the destroy closures that were called before an instant. */
CHECK_UNUSED static void sweep_before(int64_t before) {
    pthread_mutex_lock(&lock);
    for (struct owner **link = &retired; *link;) {
        struct owner *owner = *link;
        if (owner->retired_at > before) {
            link = &owner->next;
            continue;
        }
        *link = owner->next;
        free_closure(owner, DESTROY);
        free(owner);
    }
    pthread_mutex_unlock(&lock);
}

/** Frees the destroy closures that returned long ago. */
CHECK_UNUSED static void sweep(void) {
    sweep_before(check_now() - 10 * SELENE_SECOND);
}

CHECK_UNUSED static void act_run(struct owner *owner, selene_run run, const selene_run_info *info) {
    uint64_t count = 0;
    if (info->run != run || strcmp(info->id.data, owner->name) != 0 ||
        info->id.length != (int64_t)strlen(owner->name))
        atomic_fetch_add(&wrong_data, 1);
    switch (owner->behaviour) {
    case COMPLETE:
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        break;
    case CANCEL_ITSELF:
        CHECK_OK(selene_task_cancel(owner->scheduler, owner->name, -1, &count));
        CHECK_INT(1, count);
        CHECK_STATUS(SELENE_ERROR_STALE_RUN, selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        break;
    case UNREGISTER_ITSELF:
        CHECK_OK(selene_handler_unregister(owner->scheduler, owner->name, -1));
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NO_DATA));
        break;
    case WAIT_FOR_GATE:
        pthread_mutex_lock(&lock);
        gate_waiting++;
        pthread_cond_broadcast(&changed);
        while (!gate_open)
            pthread_cond_wait(&changed, &lock);
        gate_waiting--;
        pthread_mutex_unlock(&lock);
        CHECK_OK(selene_run_complete(run, SELENE_OUTCOME_NEW_DATA));
        break;
    case COMPLETE_WHEN_STOPPED:
        break;
    }
}

/** Every closure of every type ends here. */
CHECK_UNUSED static void callback(ffi_cif *cif, void *result, void **arguments, void *data) {
    struct owner *owner = data;
    enum type type = type_of_cif(cif);
    void *context = *(void **)arguments[cif->nargs - 1];

    if (context != owner->context) atomic_fetch_add(&wrong_context, 1);
    if (owner->at_home && !pthread_equal(owner->home, pthread_self()))
        atomic_fetch_add(&wrong_data, 1);
    atomic_fetch_add(&called[type], 1);
    atomic_fetch_add(&owner->calls[type], 1);
    if (type == DESTROY) {
        if (atomic_load(&owner->inside)) atomic_fetch_add(&destroyed_early, 1);
        if (atomic_exchange(&owner->destroyed, 1)) {
            atomic_fetch_add(&destroyed_twice, 1);
            return;
        }
        for (int each = 0; each < TYPES; each++)
            if (each != DESTROY) free_closure(owner, (enum type)each);
        atomic_fetch_add(&owners_destroyed, 1);
        retire(owner);
        return;
    }

    if (atomic_load(&owner->destroyed)) atomic_fetch_add(&called_late, 1);
    atomic_fetch_add(&owner->inside, 1);
    if (type == RUN) {
        act_run(owner, *(selene_run *)arguments[0], *(const selene_run_info **)arguments[1]);
    } else if (type == STOP) {
        int32_t reason = *(int32_t *)arguments[1];
        if (owner->behaviour == COMPLETE_WHEN_STOPPED) {
            if (reason != SELENE_STOP_EXPIRING) atomic_fetch_add(&wrong_data, 1);
            CHECK_OK(selene_run_complete(*(selene_run *)arguments[0], SELENE_OUTCOME_NEW_DATA));
        } else if (reason != SELENE_STOP_CANCELLED) {
            atomic_fetch_add(&wrong_data, 1);
        }
    } else if (type == CLOCK) {
        *(int64_t *)result = atomic_load(&clock_value);
    } else if (type == REPORT) {
        const selene_report *report = *(const selene_report **)arguments[0];
        if (report->struct_size != sizeof(selene_report)) atomic_fetch_add(&wrong_data, 1);
        atomic_store(&owner->last, report->cycle);
    } else if (type == EVENT) {
        const selene_event *event = *(const selene_event **)arguments[0];
        if (event->struct_size != sizeof(selene_event) ||
            event->number <= atomic_load(&owner->last))
            atomic_fetch_add(&wrong_data, 1);
        atomic_store(&owner->last, event->number);
    } else if (type == LOG) {
        int32_t level = *(int32_t *)arguments[0];
        if (level < SELENE_LOG_ERROR || level > SELENE_LOG_INFO || !**(const char **)arguments[1])
            atomic_fetch_add(&wrong_data, 1);
    }
    atomic_fetch_sub(&owner->inside, 1);
}

CHECK_UNUSED static void prepare_callbacks(void) {
    for (int type = 0; type < TYPES; type++) {
        unsigned count = (unsigned)strlen(callback_signatures[type]) - 1;
        for (unsigned k = 0; k < count; k++)
            callback_types[type][k] = type_of(callback_signatures[type][k + 1]);
        CHECK_INT(FFI_OK,
                  ffi_prep_cif(&callback_cifs[type], FFI_DEFAULT_ABI, count,
                               type_of(callback_signatures[type][0]), callback_types[type]));
    }
}

/** An owner with closures of these types and one for destroy. */
CHECK_UNUSED static struct owner *make_owner(const char *name, int first, int second) {
    static int numbers;
    const int types[3] = {first, second, DESTROY};
    struct owner *owner = calloc(1, sizeof *owner);
    CHECK(owner != NULL);
    if (!callback_cifs[0].nargs) prepare_callbacks();
    owner->number = ++numbers;
    owner->context = (void *)(uintptr_t)(UINT64_C(0x5e1e0000) + (unsigned)owner->number);
    snprintf(owner->name, sizeof owner->name, "%s", name);
    for (int k = 0; k < 3; k++) {
        int type = types[k];
        if (type < 0) continue;
        owner->closures[type] =
            ffi_closure_alloc(sizeof(ffi_closure), &owner->callbacks[type].code);
        CHECK(owner->closures[type] != NULL);
        CHECK_INT(FFI_OK, ffi_prep_closure_loc(owner->closures[type], &callback_cifs[type],
                                               callback, owner, owner->callbacks[type].code));
        atomic_fetch_add(&made[type], 1);
    }
    atomic_fetch_add(&owners_made, 1);
    return owner;
}

CHECK_UNUSED static struct owner *make_handler(selene_scheduler scheduler, const char *name,
                                               enum behaviour behaviour) {
    struct owner *owner = make_owner(name, RUN, STOP);
    owner->scheduler = scheduler;
    owner->behaviour = behaviour;
    return owner;
}

/**
 * Waits until every owner was destroyed, frees the rest, and looks at the counters. The schedulers are closed, so that
 * their threads have left every closure.
 */
CHECK_UNUSED static void settle(void) {
    int64_t limit = check_now() + PATIENCE;
    while (atomic_load(&owners_destroyed) < atomic_load(&owners_made) && check_now() < limit)
        check_sleep(SELENE_MILLISECOND);
    CHECK_INT(atomic_load(&owners_made), atomic_load(&owners_destroyed));
    check_sleep(100 * SELENE_MILLISECOND); /* a second destroy would come now */
    sweep_before(INT64_MAX);
    CHECK_INT(atomic_load(&owners_made), atomic_load(&called[DESTROY]));
    CHECK_INT(0, atomic_load(&destroyed_twice));
    CHECK_INT(0, atomic_load(&destroyed_early));
    CHECK_INT(0, atomic_load(&called_late));
    CHECK_INT(0, atomic_load(&wrong_context));
    CHECK_INT(0, atomic_load(&wrong_data));
    for (int type = 0; type < TYPES; type++)
        CHECK_INT(atomic_load(&made[type]), atomic_load(&freed[type]));
    CHECK(retired == NULL);
}

#endif /* FFI_TOOLS_H */
