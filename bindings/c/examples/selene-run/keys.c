#include "keys.h"

#include <stdio.h>
#include <string.h>

#include "duration.h"
#include "nearest.h"

struct choice {
    const char *name;
    int32_t number;
};

static const struct choice kinds[] = {
    {"refresh", SELENE_KIND_REFRESH}, {"processing", SELENE_KIND_PROCESSING}, {NULL, 0}};
static const struct choice schedules[] = {{"standing", SELENE_SCHEDULE_STANDING},
                                          {"once", SELENE_SCHEDULE_ONCE},
                                          {"periodic", SELENE_SCHEDULE_PERIODIC},
                                          {NULL, 0}};
static const struct choice priorities[] = {{"very_low", SELENE_PRIORITY_VERY_LOW},
                                           {"low", SELENE_PRIORITY_LOW},
                                           {"normal", SELENE_PRIORITY_NORMAL},
                                           {"high", SELENE_PRIORITY_HIGH},
                                           {"very_high", SELENE_PRIORITY_VERY_HIGH},
                                           {"1", 1},
                                           {"2", 2},
                                           {"3", 3},
                                           {"4", 4},
                                           {"5", 5},
                                           {NULL, 0}};
static const struct choice recurrences[] = {
    {"true", SELENE_RECURRENCE_ANCHORED}, {"false", SELENE_RECURRENCE_AFTER_COMPLETION}, {NULL, 0}};
static const struct choice truths[] = {{"true", SELENE_TASK_STEADY}, {"false", 0}, {NULL, 0}};
static const struct choice expediteds[] = {
    {"true", SELENE_TASK_EXPEDITED}, {"false", 0}, {NULL, 0}};
static const struct choice any_ends[] = {
    {"true", SELENE_TASK_AFTER_ANY_END}, {"false", 0}, {NULL, 0}};
static const struct choice quotas[] = {
    {"ordinary", 0}, {"refuse", SELENE_TASK_REFUSE_OUT_OF_QUOTA}, {NULL, 0}};
static const struct choice backoffs[] = {{"none", SELENE_BACKOFF_NONE},
                                         {"linear", SELENE_BACKOFF_LINEAR},
                                         {"exponential", SELENE_BACKOFF_EXPONENTIAL},
                                         {NULL, 0}};
static const struct choice requirements[] = {{"network", SELENE_CONSTRAINT_NETWORK},
                                             {"power", SELENE_CONSTRAINT_EXTERNAL_POWER},
                                             {"unmetered", SELENE_CONSTRAINT_UNMETERED},
                                             {"battery_not_low", SELENE_CONSTRAINT_BATTERY_NOT_LOW},
                                             {"idle", SELENE_CONSTRAINT_IDLE},
                                             {"storage_not_low", SELENE_CONSTRAINT_STORAGE_NOT_LOW},
                                             {"display_off", SELENE_CONSTRAINT_DISPLAY_OFF},
                                             {"not_roaming", SELENE_CONSTRAINT_NOT_ROAMING},
                                             {NULL, 0}};

enum key_type {
    CHOICE,
    FLAG,
    BITS,
    NUMBER,
    PART,
    DURATION,
    NAME,
    TAGS,
    CONDITIONS,
    AFTER,
    TIMES,
    DAYS
};

struct key {
    const char *name;
    enum key_type type;
    size_t field;
    const struct choice *choices;
    int64_t least;
    int64_t greatest;
    /* 0 is SELENE_NONE, as the header's own 0 is a default. */
    bool has_none;
};

#define FIELD(name) offsetof(selene_task, name)
#define LONGEST (3650 * SELENE_DAY)

static const struct key keys[KEYS] = {
    {"kind", CHOICE, FIELD(kind), kinds, 0, 0, false},
    {"schedule", CHOICE, FIELD(schedule), schedules, 0, 0, false},
    {"priority", CHOICE, FIELD(priority), priorities, 0, 0, false},
    {"expected", DURATION, FIELD(expected_response), NULL, 0, SELENE_DAY, true},
    {"response_window", NUMBER, FIELD(response_window), NULL, 0, SELENE_RESPONSE_TIMES, true},
    {"delay", DURATION, FIELD(initial_delay), NULL, 0, LONGEST, false},
    {"latest_begin", DURATION, FIELD(latest_begin), NULL, 1, LONGEST, false},
    {"every", DURATION, FIELD(period), NULL, 1, LONGEST, false},
    {"flex", DURATION, FIELD(flex), NULL, 0, LONGEST, false},
    {"anchored", CHOICE, FIELD(recurrence), recurrences, 0, 0, false},
    {"at", TIMES, 0, NULL, 0, 0, false},
    {"on", DAYS, 0, NULL, 0, 0, false},
    {"jitter", PART, FIELD(jitter), NULL, 0, 0, false},
    {"backoff", CHOICE, FIELD(backoff), backoffs, 0, 0, false},
    {"backoff_delay", DURATION, FIELD(backoff_delay), NULL, 0, LONGEST, true},
    {"max_attempts", NUMBER, FIELD(max_attempts), NULL, 0, INT32_MAX, false},
    {"timeout", DURATION, FIELD(timeout), NULL, 0, SELENE_DAY, false},
    {"stall_limit", DURATION, FIELD(stall_limit), NULL, 0, SELENE_DAY, false},
    {"steady", FLAG, FIELD(flags), truths, 0, 0, false},
    {"expedited", FLAG, FIELD(flags), expediteds, 0, 0, false},
    {"out_of_quota", FLAG, FIELD(flags), quotas, 0, 0, false},
    {"requires", BITS, FIELD(constraints), requirements, 0, 0, false},
    {"group", NAME, FIELD(group), NULL, 0, 0, false},
    {"tags", TAGS, 0, NULL, 0, 0, false},
    {"conditions", CONDITIONS, 0, NULL, 0, 0, false},
    {"after", AFTER, 0, NULL, 0, 0, false},
    {"after_any_end", FLAG, FIELD(flags), any_ends, 0, 0, false},
};

/* What keys are called in selene_task, and were called here before 0.2, or in other libraries. */
static const struct {
    const char *old;
    const char *name;
} renamed[] = {{"expected_response", "expected"},
               {"initial_delay", "delay"},
               {"period", "every"},
               {"interval", "every"},
               {"recurrence", "anchored"},
               {"constraints", "requires"},
               {NULL, NULL}};

static bool equals(selene_text text, const char *name) {
    return (size_t)text.length == strlen(name) && memcmp(text.data, name, strlen(name)) == 0;
}

static const struct choice *find_choice(const struct choice *choice, selene_text value) {
    while (choice->name && !equals(value, choice->name))
        choice++;
    return choice->name ? choice : NULL;
}

/* Cuts the first piece off a comma-separated list. */
static selene_text next_piece(selene_text *list) {
    const char *comma = memchr(list->data, ',', (size_t)list->length);
    selene_text piece = {list->data, comma ? comma - list->data : list->length};
    int64_t used = piece.length + (comma ? 1 : 0);
    list->data += used;
    list->length = comma ? list->length - used : -1;
    return piece;
}

static void append(char *message, size_t size, const char *text) {
    size_t used = strlen(message);
    snprintf(message + used, size - used, "%s", text);
}

static bool refuse(struct key_problem *problem, selene_text found, const char *what,
                   const char *allowed) {
    problem->at = found.data;
    snprintf(problem->message, sizeof problem->message, "found the %s \"%.*s\"; allowed is %s",
             what, found.length > 60 ? 60 : (int)found.length, found.data, allowed);
    return false;
}

static bool refuse_choice(struct key_problem *problem, selene_text found, const struct key *key) {
    refuse(problem, found, key->name, "");
    for (const struct choice *choice = key->choices; choice->name; choice++) {
        append(problem->message, sizeof problem->message, choice->name);
        if (choice[1].name) append(problem->message, sizeof problem->message, ", ");
    }
    return false;
}

static const char *name_of(selene_text old) {
    for (size_t i = 0; renamed[i].old; i++)
        if (equals(old, renamed[i].old)) return renamed[i].name;
    return NULL;
}

static const char *nearest_key(selene_text found) {
    struct nearest nearest = nearest_to(found.data, (size_t)found.length);
    for (size_t i = 0; i < KEYS; i++)
        nearest_try(&nearest, keys[i].name);
    for (size_t i = 0; renamed[i].old; i++) {
        const char *before = nearest.name;
        nearest_try(&nearest, renamed[i].old);
        if (nearest.name != before) nearest.name = renamed[i].name;
    }
    return nearest.name;
}

static bool refuse_key(struct key_problem *problem, selene_text found) {
    const char *name = name_of(found);
    const char *nearest = nearest_key(found);
    char advice[64];
    if (name) {
        snprintf(advice, sizeof advice, "\"%s\", as it is called here", name);
        return refuse(problem, found, "key", advice);
    }
    refuse(problem, found, "key", "");
    for (size_t i = 0; i < KEYS; i++) {
        append(problem->message, sizeof problem->message, keys[i].name);
        if (i + 1 < KEYS) append(problem->message, sizeof problem->message, ", ");
    }
    if (nearest) {
        snprintf(advice, sizeof advice, "; did you mean \"%s\"?", nearest);
        append(problem->message, sizeof problem->message, advice);
    }
    return false;
}

static bool read_number(const struct key *key, selene_text value, void *field,
                        struct key_problem *problem) {
    int64_t number = 0;
    char allowed[64];
    for (int64_t i = 0; i < value.length && number <= key->greatest; i++) {
        char digit = value.data[i];
        number = digit >= '0' && digit <= '9' ? number * 10 + (digit - '0') : INT64_MAX;
        if (number == INT64_MAX) break;
    }
    if (value.length == 0 || number > key->greatest) {
        snprintf(allowed, sizeof allowed, "a number from 0 to %lld", (long long)key->greatest);
        return refuse(problem, value, key->name, allowed);
    }
    *(int32_t *)field = number == 0 && key->has_none ? SELENE_NONE : (int32_t)number;
    return true;
}

/* A part of one, such as 0.25, in per mille. */
static bool read_part(const struct key *key, selene_text value, void *field,
                      struct key_problem *problem) {
    int32_t number = 0;
    int64_t unit = 1000, i;
    for (i = 0; i < value.length && number <= 1000; i++) {
        char digit = value.data[i];
        if (i == 1 && digit == '.' && value.length > 2) continue;
        if (digit < '0' || digit > '9' || i == 1) break;
        number += (int32_t)((digit - '0') * unit);
        unit /= 10;
    }
    if (i < value.length || i == 0 || i > 5 || number > 1000)
        return refuse(problem, value, key->name, "a number from 0 to 1, in steps of 0.001");
    *(uint32_t *)field = (uint32_t)number;
    return true;
}

static bool read_duration(const struct key *key, selene_text value, void *field,
                          struct key_problem *problem) {
    int64_t duration;
    char allowed[128];
    if (!duration_read(value.data, (size_t)value.length, &duration))
        return refuse(problem, value, key->name, DURATION_ALLOWED);
    if (duration < key->least || duration > key->greatest) {
        snprintf(allowed, sizeof allowed, "%s to %s", duration_exact(key->least).text,
                 duration_exact(key->greatest).text);
        return refuse(problem, value, key->name, allowed);
    }
    *(int64_t *)field = duration == 0 && key->has_none ? SELENE_NONE : duration;
    return true;
}

static bool read_bits(const struct key *key, selene_text value, uint32_t *bits,
                      struct key_problem *problem) {
    while (value.length >= 0) {
        selene_text piece = next_piece(&value);
        const struct choice *choice = find_choice(key->choices, piece);
        if (choice == NULL) return refuse_choice(problem, piece, key);
        *bits |= (uint32_t)choice->number;
    }
    return true;
}

static bool read_tags(selene_text value, struct workload_task *task, struct key_problem *problem) {
    while (value.length >= 0) {
        selene_text piece = next_piece(&value);
        if (piece.length == 0 || piece.length > 255)
            return refuse(problem, piece, "tag", "1 to 255 bytes, more tags after a comma");
        if (task->definition.tag_count == WORKLOAD_TAGS)
            return refuse(problem, piece, "17th tag", "at most 16");
        task->tags[task->definition.tag_count++] = piece;
    }
    return true;
}

static bool read_conditions(selene_text value, struct workload_task *task,
                            struct key_problem *problem) {
    while (value.length >= 0) {
        selene_text piece = next_piece(&value);
        if (piece.length == 0 || piece.length > 255)
            return refuse(problem, piece, "condition",
                          "1 to 255 bytes, more conditions after a comma");
        if (task->definition.condition_count == WORKLOAD_CONDITIONS)
            return refuse(problem, piece, "33rd condition", "at most 32");
        task->conditions[task->definition.condition_count++] = piece;
    }
    return true;
}

static bool read_after(selene_text value, struct workload_task *task, struct key_problem *problem) {
    while (value.length >= 0) {
        selene_text piece = next_piece(&value);
        if (piece.length == 0 || piece.length > 255)
            return refuse(problem, piece, "id", "that of another task, more after a comma");
        if (task->definition.after_count == WORKLOAD_AFTER)
            return refuse(problem, piece, "17th id", "at most 16");
        task->after[task->definition.after_count++] = piece;
    }
    return true;
}

static bool read_times(selene_text value, struct calendar *calendar, struct key_problem *problem) {
    while (value.length >= 0) {
        selene_text piece = next_piece(&value);
        if (!calendar_read_time(calendar, piece))
            return refuse(problem, piece, "at", CALENDAR_TIMES_ALLOWED);
    }
    return true;
}

static bool read_days(selene_text value, struct calendar *calendar, struct key_problem *problem) {
    while (value.length >= 0) {
        selene_text piece = next_piece(&value);
        if (!calendar_read_days(calendar, piece))
            return refuse(problem, piece, "on", CALENDAR_DAYS_ALLOWED);
    }
    return true;
}

static bool read_value(const struct key *key, selene_text value, struct workload_task *task,
                       struct key_problem *problem) {
    void *field = (char *)&task->definition + key->field;
    const struct choice *choice;
    switch (key->type) {
    case CHOICE:
        choice = find_choice(key->choices, value);
        if (choice == NULL) return refuse_choice(problem, value, key);
        *(int32_t *)field = choice->number;
        return true;
    case FLAG:
        choice = find_choice(key->choices, value);
        if (choice == NULL) return refuse_choice(problem, value, key);
        *(uint32_t *)field |= (uint32_t)choice->number;
        return true;
    case BITS:
        return read_bits(key, value, field, problem);
    case NUMBER:
        return read_number(key, value, field, problem);
    case PART:
        return read_part(key, value, field, problem);
    case DURATION:
        return read_duration(key, value, field, problem);
    case NAME:
        if (value.length == 0 || value.length > 255)
            return refuse(problem, value, key->name, "1 to 255 bytes");
        *(selene_text *)field = value;
        return true;
    case TAGS:
        return read_tags(value, task, problem);
    case CONDITIONS:
        return read_conditions(value, task, problem);
    case AFTER:
        return read_after(value, task, problem);
    case TIMES:
        return read_times(value, &task->calendar, problem);
    case DAYS:
        return read_days(value, &task->calendar, problem);
    }
    return false;
}

static const struct key *find_key(selene_text name) {
    for (size_t i = 0; i < KEYS; i++)
        if (equals(name, keys[i].name)) return &keys[i];
    return NULL;
}

bool key_read(selene_text word, struct workload_task *task, struct key_places *places,
              struct key_problem *problem) {
    const char *sign = memchr(word.data, '=', (size_t)word.length);
    selene_text name = {word.data, sign ? sign - word.data : word.length};
    const struct key *key = find_key(name);
    if (sign == NULL) return refuse(problem, word, "word", "key=value, or -- before the command");
    if (key == NULL) return refuse_key(problem, name);
    if (places->at[key - keys]) return refuse(problem, name, "second", "each key once");
    places->at[key - keys] = word.data;
    return read_value(key, (selene_text){sign + 1, word.length - name.length - 1}, task, problem);
}

const char *key_place(const struct key_places *places, const char *name) {
    return places->at[find_key((selene_text){name, (int64_t)strlen(name)}) - keys];
}

bool kinds_read(const char *list, uint32_t *out) {
    static const struct key key = {"kinds", BITS, 0, kinds, 0, 0, false};
    struct key_problem problem;
    uint32_t bits = 0;
    if (!read_bits(&key, (selene_text){list, (int64_t)strlen(list)}, &bits, &problem)) return false;
    *out = bits;
    return true;
}
