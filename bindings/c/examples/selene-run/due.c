#define _XOPEN_SOURCE 700
#include "due.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As Debian's cron: a clock that is set back by more was wrong before, and its calendars begin anew. */
#define SET_BACK (3 * SELENE_HOUR)
/* Closer than that two clocks are one. */
#define SAME SELENE_SECOND

struct due {
    char id[256];
    struct calendar calendar;
    /** By the clock on the wall. */
    int64_t due;
    /** How far scheduler time, which is never set, was ahead of that when it was said. */
    int64_t apart;
};

/* Handlers run on several threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct due *list;
static size_t count;

static int64_t wall_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * SELENE_SECOND + now.tv_nsec;
}

static int64_t read_clocks(selene_scheduler scheduler, int64_t *apart) {
    const int64_t wall = wall_now();
    int64_t now = wall;
    selene_scheduler_now(scheduler, &now);
    *apart = now - wall;
    if (llabs(*apart) >= SAME) return wall;
    *apart = 0;
    return now;
}

int64_t due_first(const struct calendar *calendar) {
    const int64_t wall = wall_now(), delay = calendar_after(calendar, wall) - wall;
    /* Less than a delay may be. */
    return delay < SELENE_MILLISECOND ? SELENE_MILLISECOND : delay;
}

void due_clear(void) {
    pthread_mutex_lock(&lock);
    count = 0;
    pthread_mutex_unlock(&lock);
}

static void add(const struct workload_task *task, int64_t due, int64_t apart) {
    struct due *longer;
    pthread_mutex_lock(&lock);
    longer = realloc(list, (count + 1) * sizeof *list);
    if (longer) {
        const size_t length = (size_t)task->definition.id.length;
        list = longer;
        longer[count] = (struct due){"", task->calendar, due, apart};
        memcpy(longer[count].id, task->definition.id.data, length);
        longer[count++].id[length] = '\0';
    }
    pthread_mutex_unlock(&lock);
}

void due_register(const struct workload_task *task, selene_scheduler scheduler, bool is_new) {
    const selene_text id = task->definition.id;
    int64_t apart, wall = read_clocks(scheduler, &apart), base = wall, due, begin, last;
    bool runs, retries, is_late;
    selene_task_info *info;
    if (selene_task_get(scheduler, id.data, id.length, 0, &info)) return;
    begin = info->earliest_begin;
    runs = info->state == SELENE_STATE_RUNNING;
    retries = info->attempts > 0 && !runs;
    is_late = !is_new && !retries && !runs && begin <= wall + apart;
    last = info->last_run - apart;
    selene_free(info);
    /* Where the clock was set back, the instant of the last run does not come again. */
    if (!is_new && last > wall && last <= wall + SET_BACK) base = last;
    due = is_late ? begin - apart : calendar_after(&task->calendar, base);
    add(task, due, apart);
    if (is_late) return;
    /* A retry comes before, if at all. */
    if (is_new || runs || (retries ? due + apart < begin : llabs(due + apart - begin) >= SAME))
        selene_task_set_next(scheduler, id.data, id.length, due + apart);
}

/* With the lock held. */
static struct due *find(selene_text id) {
    const size_t length = id.length < 0 ? strlen(id.data) : (size_t)id.length;
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i].id) == length && memcmp(list[i].id, id.data, length) == 0)
            return &list[i];
    return NULL;
}

void due_dispatched(selene_text id, selene_scheduler scheduler) {
    int64_t apart, wall = read_clocks(scheduler, &apart), next = 0;
    struct due *due;
    bool is_by_calendar;
    pthread_mutex_lock(&lock);
    due = find(id);
    is_by_calendar = due != NULL;
    if (due) {
        int64_t base = wall;
        /* Its instant has come, which does not come again; else it is a retry, or run for its own sake. */
        if (due->due + due->apart <= wall + apart && due->due > wall && due->due <= wall + SET_BACK)
            base = due->due;
        due->due = calendar_after(&due->calendar, base);
        due->apart = apart;
        next = due->due + apart;
    }
    pthread_mutex_unlock(&lock);
    if (is_by_calendar) selene_task_set_next(scheduler, id.data, id.length, next);
}

/* The next of the list that the clock was set for; false at its end. */
static bool next_set(size_t *place, int64_t wall, int64_t apart, struct due *out) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (; !found && *place < count; (*place)++) {
        struct due *due = &list[*place];
        const int64_t moved = apart - due->apart;
        if (llabs(moved) < SAME) continue;
        if (moved > SET_BACK) due->due = calendar_after(&due->calendar, wall);
        due->apart = apart;
        *out = *due;
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void due_look(selene_scheduler scheduler) {
    int64_t apart, wall = read_clocks(scheduler, &apart);
    size_t place = 0;
    struct due due;
    while (next_set(&place, wall, apart, &due)) {
        const int64_t at = (due.due > wall ? due.due : wall) + apart;
        selene_task_info *info;
        bool is_said;
        if (selene_task_get(scheduler, due.id, -1, 0, &info)) continue;
        is_said =
            info->state == SELENE_STATE_RUNNING || info->attempts == 0 || at < info->earliest_begin;
        selene_free(info);
        if (is_said) selene_task_set_next(scheduler, due.id, -1, at);
    }
}

void due_free(void) {
    due_clear();
    free(list);
    list = NULL;
}
