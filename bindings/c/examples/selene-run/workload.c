#define _XOPEN_SOURCE 700
#include "workload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "due.h"
#include "duration.h"
#include "keys.h"
#include "owner.h"
#include "printable.h"

#define SPACES " \t\r\n"

/* One task's part of the file while it is read. */
struct reader {
    struct workload *workload;
    const char *at;
    const char *end;
};

static const char *line_start(const struct workload *workload, const char *at) {
    while (at > workload->text && at[-1] != '\n')
        at--;
    return at;
}

static int line_number(const struct workload *workload, const char *at) {
    int number = 1;
    for (const char *byte = workload->text; byte < at; byte++)
        number += *byte == '\n';
    return number;
}

/* Columns count characters, so that the caret stands below the right one. */
static int column_number(const char *start, const char *at) {
    int number = 1;
    for (; start < at; start++)
        number += ((unsigned char)*start & 0xC0) != 0x80;
    return number;
}

/* Prints `file:line:column: message`, the line, and a caret below the place. */
static void complain(const struct workload *workload, const char *at, const char *format, ...) {
    const char *start = line_start(workload, at);
    va_list arguments;
    fprintf(stderr, "%s:%d:%d: ", workload->path, line_number(workload, at),
            column_number(start, at));
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n  ", stderr);
    for (const char *byte = start; *byte && *byte != '\n'; byte++)
        fputc(*byte == '\t' || (unsigned char)*byte >= ' ' ? *byte : '?', stderr);
    fputs("\n  ", stderr);
    for (; start < at; start++)
        if (((unsigned char)*start & 0xC0) != 0x80) fputc(*start == '\t' ? '\t' : ' ', stderr);
    fputs("^\n", stderr);
}

const struct workload_task *workload_find(const struct workload *workload, const char *id,
                                          size_t length) {
    for (size_t i = 0; i < workload->count; i++) {
        selene_text other = workload->tasks[i].definition.id;
        if ((size_t)other.length == length && memcmp(other.data, id, length) == 0)
            return &workload->tasks[i];
    }
    return NULL;
}

static void skip_spaces_and_comments(struct reader *reader) {
    for (;;) {
        while (reader->at < reader->end && strchr(SPACES, *reader->at))
            reader->at++;
        if (reader->at == reader->end || *reader->at != '#') return;
        while (reader->at < reader->end && *reader->at != '\n')
            reader->at++;
    }
}

/* The next word; empty at the end of the task. */
static selene_text next_word(struct reader *reader) {
    selene_text word;
    skip_spaces_and_comments(reader);
    word.data = reader->at;
    while (reader->at < reader->end && !strchr(SPACES, *reader->at))
        reader->at++;
    word.length = reader->at - word.data;
    return word;
}

static bool is_command_mark(selene_text word) {
    return word.length == 2 && memcmp(word.data, "--", 2) == 0;
}

static bool read_id(struct reader *reader, struct workload_task *task) {
    selene_text id = next_word(reader);
    const struct workload_task *other = workload_find(reader->workload, id.data, (size_t)id.length);
    if (is_command_mark(id) || memchr(id.data, '=', (size_t)id.length)) {
        complain(reader->workload, id.data,
                 "found \"%.*s\" where a task's id is due; a task is  id  key=value …  -- command",
                 (int)id.length, id.data);
        return false;
    }
    if (other) {
        complain(reader->workload, id.data,
                 "the id \"%.*s\" was used in line %d; an id is allowed once", (int)id.length,
                 id.data, line_number(reader->workload, other->definition.id.data));
        return false;
    }
    task->definition.id = id;
    return true;
}

/* Reads key=value words up to the "--". */
static bool read_settings(struct reader *reader, struct workload_task *task,
                          struct key_places *places) {
    for (;;) {
        struct key_problem problem = {NULL, ""};
        selene_text word = next_word(reader);
        if (word.length == 0) {
            complain(reader->workload, task->definition.id.data,
                     "task \"%.*s\" has no command; allowed is  -- command  after its keys",
                     (int)task->definition.id.length, task->definition.id.data);
            return false;
        }
        if (is_command_mark(word)) return true;
        if (!key_read(word, task, places, &problem)) {
            complain(reader->workload, problem.at, "%s", problem.message);
            return false;
        }
    }
}

static bool read_command(struct reader *reader, struct workload_task *task) {
    const char *mark = reader->at - 2;
    const char *end = reader->end;
    while (reader->at < end && strchr(SPACES, *reader->at))
        reader->at++;
    while (end > reader->at && strchr(SPACES, end[-1]))
        end--;
    if (reader->at == end) {
        complain(reader->workload, mark,
                 "found no command after \"--\"; allowed is any shell command, here or in "
                 "indented lines below");
        return false;
    }
    task->definition.input = reader->at;
    task->definition.input_length = end - reader->at;
    return true;
}

/* A calendar says by itself when a task is due. */
static bool check_calendar(struct reader *reader, struct workload_task *task,
                           const struct key_places *places) {
    static const char *const others[] = {"every", "flex", "anchored", "delay", "jitter"};
    selene_task *definition = &task->definition;
    if (key_place(places, "on") && !key_place(places, "at")) {
        complain(reader->workload, key_place(places, "on"),
                 "found on without at; allowed is both, or at alone for every day");
        return false;
    }
    if (!key_place(places, "at")) return true;
    if (!key_place(places, "schedule")) definition->schedule = SELENE_SCHEDULE_PERIODIC;
    if (definition->schedule != SELENE_SCHEDULE_PERIODIC) {
        complain(reader->workload, key_place(places, "at"),
                 "found at in a task that is %s; it is for periodic tasks only",
                 selene_name(SELENE_NAMES_SCHEDULE, definition->schedule));
        return false;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!key_place(places, others[i])) continue;
        complain(
            reader->workload, key_place(places, others[i]),
            "found %s beside at, which alone says when the task is due; allowed is one of them",
            others[i]);
        return false;
    }
    if (!key_place(places, "on")) task->calendar.days = 0x7f;
    definition->recurrence = SELENE_RECURRENCE_CALENDAR;
    /* Counts only where nothing says the next instant. */
    definition->period = SELENE_DAY;
    return true;
}

/* What concerns more than one key. */
static bool check_task(struct reader *reader, struct workload_task *task,
                       const struct key_places *places) {
    static const char *const periodic_only[] = {"every", "flex", "anchored"};
    selene_task *definition = &task->definition;
    if (!check_calendar(reader, task, places)) return false;
    if (key_place(places, "every") && !key_place(places, "schedule"))
        definition->schedule = SELENE_SCHEDULE_PERIODIC;
    if (definition->after_count && !key_place(places, "schedule") &&
        definition->schedule == SELENE_SCHEDULE_STANDING)
        definition->schedule = SELENE_SCHEDULE_ONCE;
    for (size_t i = 0; i < 3 && definition->schedule != SELENE_SCHEDULE_PERIODIC; i++) {
        const char *place = key_place(places, periodic_only[i]);
        if (place == NULL) continue;
        complain(reader->workload, place,
                 "found %s in a task that is %s; it is for periodic tasks only", periodic_only[i],
                 selene_name(SELENE_NAMES_SCHEDULE, definition->schedule));
        return false;
    }
    if (definition->schedule == SELENE_SCHEDULE_PERIODIC && definition->period == 0) {
        complain(reader->workload, key_place(places, "schedule"),
                 "found a periodic task without a period; allowed is every=DURATION, or at=TIME");
        return false;
    }
    if (definition->latest_begin && definition->schedule != SELENE_SCHEDULE_ONCE) {
        complain(reader->workload, key_place(places, "latest_begin"),
                 "found latest_begin in a task that is %s; it is for once tasks only",
                 selene_name(SELENE_NAMES_SCHEDULE, definition->schedule));
        return false;
    }
    if (definition->after_count && definition->schedule != SELENE_SCHEDULE_ONCE) {
        complain(reader->workload, key_place(places, "after"),
                 "found after in a task that is %s; it is for once tasks only",
                 selene_name(SELENE_NAMES_SCHEDULE, definition->schedule));
        return false;
    }
    if ((definition->flags & SELENE_TASK_EXPEDITED) &&
        definition->schedule != SELENE_SCHEDULE_ONCE) {
        complain(reader->workload, key_place(places, "expedited"),
                 "found expedited in a task that is %s; it is for once tasks only",
                 selene_name(SELENE_NAMES_SCHEDULE, definition->schedule));
        return false;
    }
    if ((definition->flags & SELENE_TASK_REFUSE_OUT_OF_QUOTA) &&
        !(definition->flags & SELENE_TASK_EXPEDITED)) {
        complain(reader->workload, key_place(places, "out_of_quota"),
                 "found out_of_quota in a task that is not expedited");
        return false;
    }
    if (definition->latest_begin && definition->latest_begin <= definition->initial_delay) {
        complain(reader->workload, key_place(places, "latest_begin"),
                 "found a latest_begin that is not after the delay; allowed is more than %s",
                 duration_exact(definition->initial_delay).text);
        return false;
    }
    if (definition->flex > definition->period) {
        complain(reader->workload, key_place(places, "flex"),
                 "found a flex that is longer than the period; allowed is at most every, %s",
                 duration_exact(definition->period).text);
        return false;
    }
    if (key_place(places, "backoff_delay") &&
        (definition->backoff == SELENE_BACKOFF_NONE ||
         (!key_place(places, "backoff") && definition->schedule == SELENE_SCHEDULE_STANDING))) {
        complain(reader->workload, key_place(places, "backoff_delay"),
                 "found a backoff_delay without backoff; it is for tasks with backoff=linear or "
                 "backoff=exponential");
        return false;
    }
    return true;
}

static bool read_task(struct workload *workload, const char *start, const char *end) {
    static const selene_task defaults = SELENE_INIT(selene_task);
    struct reader reader = {workload, start, end};
    struct workload_task *tasks = realloc(workload->tasks, (workload->count + 1) * sizeof *tasks);
    struct workload_task *task;
    struct key_places places = {{NULL}};
    if (tasks == NULL) return false;
    workload->tasks = tasks;
    task = &tasks[workload->count];
    task->definition = defaults;
    task->definition.schedule = SELENE_SCHEDULE_STANDING;
    task->calendar = (struct calendar){{0}, 0, 0};
    task->definition.handler = (selene_text){workload->handler, -1};
    if (!read_id(&reader, task) || !read_settings(&reader, task, &places) ||
        !read_command(&reader, task) || !check_task(&reader, task, &places))
        return false;
    workload->count++;
    return true;
}

/* A task goes on in the lines below it that are indented. */
static const char *task_end(const char *at) {
    const char *end = at + strcspn(at, "\n");
    for (at = end; *at; at += strcspn(at, "\n")) {
        at++;
        if (*at == ' ' || *at == '\t') end = at + strcspn(at, "\n");
        else if (*at && !strchr("#\r\n", *at)) break;
    }
    return end;
}

static bool read_tasks(struct workload *workload) {
    const char *at = workload->text;
    while (*at) {
        const char *end = at + strcspn(at, "\n");
        size_t indent = strspn(at, " \t\r");
        if (at[indent] == '\0' || strchr("#\n", at[indent])) {
            at = *end ? end + 1 : end;
            continue;
        }
        if (indent) {
            complain(workload, at + indent,
                     "an indented line continues the task above, and there is none; a task "
                     "begins in the first column");
            return false;
        }
        end = task_end(at);
        if (!read_task(workload, at, end)) return false;
        at = *end ? end + 1 : end;
    }
    if (workload->count == 0) fprintf(stderr, "%s: no task in it\n", workload->path);
    return workload->count > 0;
}

/* What a task comes after: once tasks of the same file. */
static bool check_after(const struct workload *workload) {
    for (size_t i = 0; i < workload->count; i++) {
        const struct workload_task *task = &workload->tasks[i];
        for (uint32_t k = 0; k < task->definition.after_count; k++) {
            const selene_text id = task->after[k];
            const struct workload_task *other = workload_find(workload, id.data, (size_t)id.length);
            if (other == NULL) {
                complain(workload, id.data,
                         "found the id \"%.*s\" in after; allowed are tasks of this file",
                         (int)id.length, id.data);
                return false;
            }
            if (other->definition.schedule != SELENE_SCHEDULE_ONCE) {
                complain(workload, id.data,
                         "\"%.*s\" (line %d) is %s; a task can come after once tasks only",
                         (int)id.length, id.data, line_number(workload, other->definition.id.data),
                         selene_name(SELENE_NAMES_SCHEDULE, other->definition.schedule));
                return false;
            }
        }
    }
    return true;
}

/* Of those that a task comes after the first that stands at a place or behind it. */
static const struct workload_task *waits_for(const struct workload *workload,
                                             const struct workload_task *task, size_t place) {
    for (uint32_t k = 0; k < task->definition.after_count; k++) {
        const selene_text id = task->after[k];
        const struct workload_task *other = workload_find(workload, id.data, (size_t)id.length);
        if (other >= workload->tasks + place) return other;
    }
    return NULL;
}

/* From a place on every task waits for one that is there, too: whoever follows them comes around. */
static void complain_of_circle(const struct workload *workload, size_t place) {
    const struct workload_task *first = &workload->tasks[place];
    char round[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < workload->count; i++)
        first = waits_for(workload, first, place);
    const struct workload_task *task = first;
    do {
        used += (size_t)snprintf(round + used, sizeof round - used, "%.*s (line %d) comes after ",
                                 (int)task->definition.id.length, task->definition.id.data,
                                 line_number(workload, task->definition.id.data));
        task = waits_for(workload, task, place);
    } while (task != first && used < sizeof round - 300);
    complain(workload, first->definition.id.data, "found a circle: %s%.*s", round,
             (int)task->definition.id.length, task->definition.id.data);
}

/* Tasks stand behind those that they come after, else as in the file. */
static bool put_in_order(struct workload *workload) {
    for (size_t place = 0; place < workload->count; place++) {
        size_t index = place;
        while (index < workload->count &&
               waits_for(workload, &workload->tasks[index], place) != NULL)
            index++;
        if (index == workload->count) {
            complain_of_circle(workload, place);
            return false;
        }
        const struct workload_task task = workload->tasks[index];
        memmove(workload->tasks + place + 1, workload->tasks + place,
                (index - place) * sizeof task);
        workload->tasks[place] = task;
    }
    return true;
}

static bool check_bytes(const struct workload *workload) {
    for (const char *byte = workload->text; byte < workload->text + workload->length; byte++) {
        if ((unsigned char)*byte >= ' ' || (*byte && strchr("\t\r\n", *byte))) continue;
        complain(workload, byte, "found the byte 0x%02x; allowed is text", (unsigned char)*byte);
        return false;
    }
    return true;
}

static bool load(struct workload *workload, FILE *file) {
    for (;;) {
        size_t size;
        char *text = realloc(workload->text, workload->length + 4097);
        if (text == NULL) return false;
        workload->text = text;
        size = fread(text + workload->length, 1, 4096, file);
        workload->length += size;
        text[workload->length] = '\0';
        if (size == 0) return !ferror(file);
    }
}

bool workload_read(struct workload *workload, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "r");
    bool loaded;
    *workload = (struct workload){.path = standard ? "standard input" : path};
    owner_name(workload);
    loaded = file && load(workload, file);
    if (loaded) fstat(fileno(file), &workload->file);
    if (!loaded) fprintf(stderr, "%s: %s\n", workload->path, strerror(errno));
    if (file && !standard) fclose(file);
    return loaded && check_bytes(workload) && read_tasks(workload) && check_after(workload) &&
           put_in_order(workload);
}

bool workload_of(struct workload *workload, const selene_task_ids *ids) {
    workload->tasks = calloc(ids->count + 1, sizeof *workload->tasks);
    if (workload->tasks == NULL) return false;
    for (uint64_t i = 0; i < ids->count; i++) {
        /* A finished task's note (keep.c) is not a task of its own. */
        if (ids->ids[i].data[0] == '=') continue;
        workload->tasks[workload->count++].definition.id = ids->ids[i];
    }
    return true;
}

void workload_free(struct workload *workload) {
    free(workload->tasks);
    free(workload->text);
}

bool workload_register_one(const struct workload *workload, size_t index,
                           selene_scheduler scheduler, int32_t existing, const selene_text *after,
                           uint32_t after_count) {
    selene_task task = workload->tasks[index].definition;
    task.tags = workload->tasks[index].tags;
    task.conditions = workload->tasks[index].conditions;
    task.after = after;
    task.after_count = after_count;
    task.existing = existing;
    if (workload->tasks[index].calendar.count)
        task.initial_delay = due_first(&workload->tasks[index].calendar);
    if (selene_task_register(scheduler, &task, NULL) == SELENE_OK) return true;
    complain(workload, task.id.data, "the scheduler refused the task: %s",
             printable(selene_error_last()->message.data, -1).text);
    return false;
}

bool workload_register(const struct workload *workload, selene_scheduler scheduler) {
    for (size_t i = 0; i < workload->count; i++) {
        const struct workload_task *task = &workload->tasks[i];
        if (!workload_register_one(workload, i, scheduler, SELENE_EXISTING_DEFAULT, task->after,
                                   task->definition.after_count))
            return false;
    }
    return true;
}
