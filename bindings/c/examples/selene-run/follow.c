#define _XOPEN_SOURCE 700
#include "follow.h"

#include <stdatomic.h>
#include <stdio.h>

#include "due.h"
#include "duration.h"
#include "edit.h"
#include "keep.h"

/* What the observer keeps from one event to the next. */
struct follower {
    const struct session *session;
    /* What was said last of each kind, so that a refusal is told once. */
    int32_t refused[SELENE_KIND_PROCESSING + 1];
    atomic_int open_windows;
};

enum { NOT_REFUSED = -1 };

selene_status follow_profile(const struct session *session) {
    selene_profile profile = SELENE_INIT(selene_profile);
    if (session->options->profile >= 0) profile.base = session->options->profile;
    return selene_governor_set_profile(session->scheduler, &profile);
}

static void tell_refusal(struct follower *follower, const selene_event *event) {
    int32_t *refused = &follower->refused[event->kinds];
    if (*refused == event->detail) return;
    *refused = event->detail;
    if (follower->session->options->why) show_decisions(follower->session, event->kinds);
    else show_refusal(follower->session, event);
}

/* How commands ended is asked until the last window that is open has ended. */
static void end_window(struct follower *follower) {
    const struct session *session = follower->session;
    if (atomic_fetch_sub(&follower->open_windows, 1) == 1) runner_forget(session->runner);
    /* Also without a store: an edit after more than a day must not begin them again. */
    keep_finished(session);
    runner_note_window(session->runner);
}

/* What the driver waits for while no window is open. A refusal is told for itself. */
static void tell_sleep(struct follower *follower) {
    const struct session *session = follower->session;
    int64_t delay;
    if (selene_scheduler_next_wakeup(session->scheduler, NULL, &delay) || delay == 0) return;
    if (atomic_load(&follower->open_windows)) return;
    flockfile(stdout);
    show_time(session);
    if (delay == SELENE_NEVER) puts("sleeping until a condition changes");
    else printf("sleeping %s\n", duration_text(delay).text);
    write_out();
    funlockfile(stdout);
}

static void tell(const selene_event *event, void *context) {
    struct follower *follower = context;
    const struct session *session = follower->session;
    /* Its lines stay whole though another thread prints too. */
    flockfile(stdout);
    switch (event->type) {
    case SELENE_EVENT_REFUSED:
        tell_refusal(follower, event);
        break;
    case SELENE_EVENT_GRANTED:
        follower->refused[event->kinds] = NOT_REFUSED;
        break;
    case SELENE_EVENT_CYCLE_BEGUN:
        atomic_fetch_add(&follower->open_windows, 1);
        show_event(session, event);
        break;
    case SELENE_EVENT_CYCLE_ENDED:
        show_event(session, event);
        end_window(follower);
        break;
    default:
        show_event(session, event);
        break;
    }
    write_out();
    funlockfile(stdout);
}

static selene_driver driver_of(const struct options *options) {
    selene_driver driver = SELENE_INIT(selene_driver);
    if (options->has_budget)
        driver.refresh_budget = driver.processing_budget = options->window.budget;
    driver.refresh_lanes = driver.processing_lanes = options->window.lanes;
    driver.kinds = options->window.kinds;
    driver.reserve = options->window.reserve;
    /* Without a profile --lanes is how many tasks run at a time, whatever their kind; only --why asks the governor. */
    if (options->profile < 0) driver.flags = SELENE_DRIVER_TOGETHER;
    if (options->profile < 0 && !options->why) driver.flags |= SELENE_DRIVER_UNGOVERNED;
    if (options->window.flags & SELENE_WINDOW_STRICT_FIT) driver.flags |= SELENE_DRIVER_STRICT_FIT;
    return driver;
}

selene_status follow(struct session *session, bool (*anything_left)(const struct session *)) {
    static struct follower follower;
    const struct options *options = session->options;
    const selene_driver driver = driver_of(options);
    selene_status status;
    int64_t windows = 0;
    bool is_news = false;
    follower.session = session;
    for (size_t kind = 0; kind < sizeof follower.refused / sizeof *follower.refused; kind++)
        follower.refused[kind] = NOT_REFUSED;
    status = selene_scheduler_observe(session->scheduler, tell, &follower, NULL);
    if (status == SELENE_OK) {
        tell_sleep(&follower);
        status = selene_driver_start(session->scheduler, &driver);
    }
    if (status) return status;
    while ((options->cycles < 0 || windows < options->cycles) && anything_left(session)) {
        enum awaited awaited;
        if (is_news) tell_sleep(&follower);
        awaited = runner_await_windows(session->runner, windows + 1, LOOK_AT_WORKLOAD);
        if (awaited == AWAITED_SIGNAL) break;
        due_look(session->scheduler);
        is_news = awaited == AWAITED_WINDOW || edit_look(session);
        windows += awaited == AWAITED_WINDOW;
    }
    /* When the program was asked to end, the scheduler is closed, which stops what runs. */
    if (runner_signal(session->runner)) return SELENE_OK;
    selene_driver_stop(session->scheduler, options->grace);
    if (!anything_left(session)) puts("nothing is left to do");
    return SELENE_OK;
}
