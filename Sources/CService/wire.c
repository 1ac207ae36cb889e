// Frames: how the arguments and results of each operation lie in them.

#include "wire.h"

#include <stdio.h>

// ---- Operations ----

#define MEMBER(name) m->crews->act(s, m->number, SERVICE_##name, (const uint64_t *)a)
#define SERVICE(number, name, right, again, form, call)                                            \
    static selene_status call_##name(selene_scheduler s, const wire_member *m,                     \
                                     const wire_word *a) {                                         \
        (void)s, (void)m, (void)a;                                                                 \
        return call;                                                                               \
    }
#include "operations.h"

static const wire_operation operations[] = {
#define SERVICE(number, name, right, again, form, call)                                            \
    {number, SELENE_RIGHT_##right, again, form, #name, call_##name},
#include "operations.h"
};

const wire_operation *wire_find(uint32_t number) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].number == number) return &operations[i];
    return NULL;
}

// ---- Shapes: where the pointers of a struct are ----

enum part_kind {
    // A selene_text: −1 is NUL-terminated.
    PART_TEXT = 1,
    // A pointer and an int64_t behind it, as PART_TEXT but for −1.
    PART_BYTES,
    // A pointer to texts, and their number elsewhere.
    PART_TEXTS,
    // A pointer to elements without pointers, and their number elsewhere.
    PART_ITEMS,
    // The same of elements that begin with a text.
    PART_NAMED,
    // The same of elements that begin with two.
    PART_TWICE_NAMED
};

typedef struct part {
    uint8_t kind;
    // Bytes of the number, or of an element, whose number has 8.
    uint8_t width;
    uint16_t offset;
    uint16_t count_offset;
    // Of more the call is refused whatever they are, so they need not come along.
    uint64_t most;
    // What is asked of it in an answer, besides that it is there.
    uint8_t sense;
} part;

enum {
    // At most 255 bytes of UTF-8 without a NUL; of elements each; and at least one byte.
    SENSE_NAME = 1,
    SENSE_SOME = 2,
    // It may be NULL, whatever the number of elements is.
    SENSE_NULL = 4
};

typedef struct shape {
    char letter;
    uint8_t parts_count;
    uint16_t size;
    part parts[9];
} shape;

#define TEXT_AT(type, field)                                                                       \
    { PART_TEXT, 0, offsetof(type, field), 0, 0, 0 }
#define NAME_AT(type, field, more)                                                                 \
    { PART_TEXT, 0, offsetof(type, field), 0, 0, SENSE_NAME | (more) }
static const shape shapes[] = {
    {'T',
     7,
     sizeof(selene_task),
     {TEXT_AT(selene_task, id),
      TEXT_AT(selene_task, handler),
      {PART_TEXTS, 4, offsetof(selene_task, tags), offsetof(selene_task, tag_count), 16, 0},
      {PART_BYTES, 0, offsetof(selene_task, input), 0, 0, 0},
      TEXT_AT(selene_task, group),
      {PART_TEXTS, 4, offsetof(selene_task, after), offsetof(selene_task, after_count), 16, 0},
      {PART_TEXTS, 4, offsetof(selene_task, conditions), offsetof(selene_task, condition_count), 32,
       0}}},
    {'I',
     9,
     sizeof(selene_task_info),
     {NAME_AT(selene_task_info, id, SENSE_SOME),
      NAME_AT(selene_task_info, handler, SENSE_SOME),
      TEXT_AT(selene_task_info, input),
      {PART_TEXTS, 4, offsetof(selene_task_info, tags), offsetof(selene_task_info, tag_count),
       UINT64_MAX, SENSE_NAME | SENSE_SOME},
      TEXT_AT(selene_task_info, failure),
      TEXT_AT(selene_task_info, progress_text),
      NAME_AT(selene_task_info, group, 0),
      {PART_TEXTS, 4, offsetof(selene_task_info, after), offsetof(selene_task_info, after_count),
       UINT64_MAX, SENSE_NAME | SENSE_SOME},
      {PART_TEXTS, 4, offsetof(selene_task_info, conditions),
       offsetof(selene_task_info, condition_count), UINT64_MAX, SENSE_NAME | SENSE_SOME}}},
    {'L',
     1,
     sizeof(selene_task_ids),
     {{PART_TEXTS, 8, offsetof(selene_task_ids, ids), offsetof(selene_task_ids, count), UINT64_MAX,
       SENSE_NAME | SENSE_SOME}}},
    {'O', 1, sizeof(selene_task_output), {TEXT_AT(selene_task_output, output)}},
    {'F',
     3,
     sizeof(selene_store_info),
     {TEXT_AT(selene_store_info, path), TEXT_AT(selene_store_info, sqlite_version),
      TEXT_AT(selene_store_info, owner)}},
    {'D',
     1,
     sizeof(selene_decision),
     {{PART_ITEMS, sizeof(selene_finding), offsetof(selene_decision, findings),
       offsetof(selene_decision, finding_count), UINT64_MAX, 0}}},
    {'V', 2, sizeof(selene_event), {NAME_AT(selene_event, id, 0), TEXT_AT(selene_event, message)}},
    {'N',
     4,
     sizeof(selene_run_info),
     {NAME_AT(selene_run_info, id, SENSE_SOME), NAME_AT(selene_run_info, handler, SENSE_SOME),
      TEXT_AT(selene_run_info, input), TEXT_AT(selene_run_info, progress_text)}},
    {'Q',
     2,
     sizeof(selene_report),
     {{PART_NAMED, sizeof(selene_report_run), offsetof(selene_report, runs),
       offsetof(selene_report, run_count), UINT64_MAX, SENSE_NAME | SENSE_SOME},
      {PART_ITEMS, sizeof(selene_pace), offsetof(selene_report, paces),
       offsetof(selene_report, run_count), UINT64_MAX, SENSE_NULL}}},
    {'C',
     1,
     sizeof(selene_clients),
     {{PART_TWICE_NAMED, sizeof(selene_client), offsetof(selene_clients, clients),
       offsetof(selene_clients, count), UINT64_MAX, 0}}},
    {'U',
     1,
     sizeof(selene_pauses),
     {{PART_NAMED, sizeof(selene_pause), offsetof(selene_pauses, pauses),
       offsetof(selene_pauses, count), UINT64_MAX, SENSE_NAME}}},
    {'W', 1, sizeof(selene_window), {TEXT_AT(selene_window, task)}},
    {'P',
     1,
     sizeof(selene_plan),
     {{PART_NAMED, sizeof(selene_plan_run), offsetof(selene_plan, runs),
       offsetof(selene_plan, run_count), UINT64_MAX, SENSE_NAME | SENSE_SOME}}},
    {'A',
     3,
     sizeof(selene_waits),
     {{PART_NAMED, sizeof(selene_wait), offsetof(selene_waits, parts),
       offsetof(selene_waits, part_count), UINT64_MAX, SENSE_NAME | SENSE_NULL},
      {PART_NAMED, sizeof(selene_wait_change), offsetof(selene_waits, changes),
       offsetof(selene_waits, change_count), UINT64_MAX, SENSE_NAME | SENSE_NULL},
      {PART_TEXTS, 8, offsetof(selene_waits, preferred_ids),
       offsetof(selene_waits, preferred_id_count), UINT64_MAX, SENSE_NAME | SENSE_SOME}}},
    {'!',
     6,
     sizeof(selene_error),
     {TEXT_AT(selene_error, message), TEXT_AT(selene_error, field), TEXT_AT(selene_error, subject),
      TEXT_AT(selene_error, found), TEXT_AT(selene_error, allowed),
      TEXT_AT(selene_error, problem)}},
};

static const shape *shape_of(char letter) {
    static const shape flat = {0};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].letter == letter) return &shapes[i];
    return &flat;
}

// Whether a struct of this size has the field; half a pointer is none.
static int has_part(const part *at, size_t size) {
    size_t end = at->offset + (at->kind == PART_TEXT || at->kind == PART_BYTES ? 16u : 8u);
    if (at->kind != PART_TEXT && at->kind != PART_BYTES) {
        // Its count may stand behind it, and be of a newer header.
        size_t behind = at->count_offset + (at->kind == PART_TEXTS ? at->width : 8u);
        if (behind > end) end = behind;
    }
    return end <= (size & ~(size_t)7);
}

// The bytes of an element.
static size_t element(const part *at) {
    return at->kind == PART_TEXTS ? sizeof(selene_text) : at->width;
}

// How many texts an element begins with.
static size_t texts_of(const part *at) {
    return at->kind == PART_ITEMS ? 0 : at->kind == PART_TWICE_NAMED ? 2 : 1;
}

static uint64_t count_at(const part *at, const unsigned char *bytes) {
    uint64_t count = 0;
    memcpy(&count, bytes + at->count_offset, at->kind == PART_TEXTS ? at->width : 8);
    return count;
}

static size_t padded(size_t length) {
    return (length + 7) & ~(size_t)7;
}

// ---- Writing ----

void wire_put(wire *to, const void *bytes, size_t length) {
    size_t whole = padded(length);
    if (to->has_failed || whole < length || whole > to->most - to->length) {
        to->has_failed = 1;
        return;
    }
    if (to->length + whole > to->room) {
        size_t room = (to->length + whole) * 2;
        unsigned char *grown = realloc(to->data, room);
        if (grown == NULL) {
            to->has_failed = to->is_short = 1;
            return;
        }
        to->data = grown;
        to->room = room;
    }
    if (length > 0) memcpy(to->data + to->length, bytes, length);
    memset(to->data + to->length + length, 0, whole - length);
    to->length += whole;
}

void wire_number(wire *to, uint64_t number) {
    wire_put(to, &number, sizeof number);
}

static void put_at(wire *to, size_t place, uint64_t number) {
    if (!to->has_failed) memcpy(to->data + place, &number, sizeof number);
}

void wire_begin(wire *to, uint16_t operation, uint64_t request) {
    wire_head head = {0, operation, 0, request};
    wire_put(to, &head, sizeof head);
}

void wire_finish(wire *to, size_t begun, uint16_t status) {
    uint32_t length = (uint32_t)(to->length - begun);
    if (to->has_failed) return;
    memcpy(to->data + begun + offsetof(wire_head, length), &length, sizeof length);
    memcpy(to->data + begun + offsetof(wire_head, status), &status, sizeof status);
}

// The bytes of a text and a NUL, if there are any.
static void put_text(wire *to, const char *data, int64_t length) {
    if (data == NULL || length < 0) return;
    if ((uint64_t)length >= to->most) {
        to->has_failed = 1;
        return;
    }
    size_t full = (size_t)length & ~(size_t)7;
    unsigned char last[8] = {0};
    wire_put(to, data, full);
    memcpy(last, data + full, (size_t)length - full);
    wire_put(to, last, sizeof last);
}

// Where a text's length is counted by its NUL, what follows is as long as that.
static int64_t measured(const char *data, int64_t length) {
    return data != NULL && length == -1 ? (int64_t)strnlen(data, 4097) : length;
}

// Elements of so many bytes that begin with texts, then what the texts are.
static void put_heads(wire *to, const char *elements, size_t width, size_t texts, uint64_t count) {
    for (int is_text = 0; is_text < 2; is_text++) {
        for (uint64_t i = 0; i < count && !to->has_failed; i++) {
            const char *at = elements + i * width;
            for (size_t which = 0; which < texts; which++, at += sizeof(selene_text)) {
                selene_text text;
                memcpy(&text, at, sizeof text);
                text.length = measured(text.data, text.length);
                if (is_text) {
                    put_text(to, text.data, text.length);
                    continue;
                }
                wire_number(to, text.data != NULL);
                wire_number(to, (uint64_t)text.length);
            }
            if (!is_text) wire_put(to, at, width - texts * sizeof(selene_text));
        }
    }
}

// A struct: its size, the bytes that follow it, the struct with 1 for each pointer, what they point to.
static void put_struct(wire *to, char letter, const unsigned char *bytes) {
    const shape *form = shape_of(letter);
    uint32_t size = 0;
    memcpy(&size, bytes, sizeof size);
    size_t sent = size < 8 || size > 65536 ? 8 : size;
    unsigned char shortest[8] = {0};
    if (size < 8) bytes = memcpy(shortest, bytes, size < 4 ? 4 : size);
    wire_number(to, sent);
    size_t follow = to->length, begun = follow + 8;
    wire_number(to, 0);
    wire_put(to, bytes, sent);
    size_t behind = to->length;
    for (size_t i = 0; i < form->parts_count && !to->has_failed; i++) {
        const part *at = &form->parts[i];
        if (sent != size) continue;
        if (!has_part(at, sent)) {
            // Of a text that is cut after its pointer nothing is told.
            if (at->offset + 8u <= (sent & ~(size_t)7)) put_at(to, begun + at->offset, 0);
            continue;
        }
        selene_text text = {NULL, 0};
        memcpy(&text, bytes + at->offset, at->kind <= PART_BYTES ? sizeof text : sizeof text.data);
        put_at(to, begun + at->offset, text.data != NULL);
        if (at->kind <= PART_BYTES) {
            if (at->kind == PART_TEXT) text.length = measured(text.data, text.length);
            put_at(to, begun + at->offset + 8, (uint64_t)text.length);
            put_text(to, text.data, text.length);
            continue;
        }
        uint64_t count = count_at(at, bytes);
        if (text.data == NULL || count > at->most) continue;
        if (at->kind != PART_ITEMS) put_heads(to, text.data, element(at), texts_of(at), count);
        else if (count > to->most / at->width) to->has_failed = 1;
        else wire_put(to, text.data, count * at->width);
    }
    put_at(to, follow, to->length - behind);
}

void wire_struct(wire *to, char letter, const void *bytes) {
    put_struct(to, letter, bytes);
}

// The number of tasks of a batch that is not refused for it.
enum { BATCH_MOST = 1000000 };

static void put_batch(wire *to, const unsigned char *const *tasks, uint64_t count) {
    wire_number(to, tasks != NULL);
    wire_number(to, count);
    if (tasks == NULL || count > BATCH_MOST) return;
    for (uint64_t i = 0; i < count && !to->has_failed; i++) {
        if (tasks[i] == NULL) wire_number(to, 0);
        else put_struct(to, 'T', tasks[i]);
    }
}

void wire_ask(wire *to, const wire_operation *operation, const wire_word *words) {
    const char *form = operation->form;
    for (; *form != 0 && *form != '>'; form++) {
        switch (*form) {
        case 't': {
            int64_t length = measured(words[0].pointer, words[1].number);
            wire_number(to, words[0].pointer != NULL);
            wire_number(to, (uint64_t)length);
            put_text(to, words[0].pointer, length);
            words += 2;
            break;
        }
        case 's':
            form++;
            if (words->pointer == NULL) wire_number(to, 0);
            else put_struct(to, *form, words->pointer);
            words++;
            break;
        case 'b':
            put_batch(to, (const unsigned char *const *)words[0].pointer, words[1].bits);
            words += 2;
            break;
        default:
            wire_number(to, words->bits);
            words++;
        }
    }
    // Which results are wanted; what is to be filled comes along with its size.
    for (; *form != 0; form++) {
        if (*form == '>') continue;
        wire_number(to, words->pointer != NULL);
        if (*form == 'o' && words->pointer != NULL) put_struct(to, form[1], words->pointer);
        if (*form == 'o' || *form == 'p' || *form == 'q') form++;
        words++;
    }
}

// The part of a form that says what comes back; the words of that, and how many elements the array has that goes in.
static const char *results_of(const wire_operation *operation, const wire_word **words,
                              uint64_t *count) {
    const char *form = operation->form;
    for (; *form != 0 && *form != '>'; form++) {
        if (*form == 'b') *count = (*words)[1].bits;
        *words += *form == 't' || *form == 'b' ? 2 : 1;
        form += *form == 's';
    }
    return form;
}

void wire_answer(wire *to, const wire_operation *operation, const wire_word *words) {
    uint64_t count = 0;
    const char *form = results_of(operation, &words, &count);
    for (; *form != 0; form++) {
        if (*form == '>') continue;
        const unsigned char *result = words++->pointer;
        char kind = *form;
        form += kind == 'o' || kind == 'p' || kind == 'q';
        if (result == NULL) continue;
        if (kind == 'i') {
            int32_t number;
            memcpy(&number, result, sizeof number);
            wire_number(to, (uint64_t)(int64_t)number);
        } else if (kind == 'l') {
            wire_put(to, result, 8);
        } else if (kind == 'n') {
            wire_put(to, result, count * 4);
        } else {
            const unsigned char *made = result;
            if (kind != 'o') memcpy(&made, result, sizeof made);
            if (made == NULL) wire_number(to, 0);
            else put_struct(to, *form, made);
        }
    }
}

void wire_refusal(wire *to, const selene_error *error) {
    put_struct(to, '!', (const unsigned char *)error);
}

// ---- Reading ----

static unsigned char *take(wire_reader *from, uint64_t length) {
    unsigned char *at = from->at;
    if (length > (uint64_t)(from->end - from->at)) return NULL;
    uint64_t whole = padded(length);
    if (whole > (uint64_t)(from->end - from->at)) return NULL;
    from->at += whole;
    return at;
}

static int take_number(wire_reader *from, uint64_t *number) {
    unsigned char *at = take(from, 8);
    if (at != NULL) memcpy(number, at, 8);
    return at != NULL;
}

// Whether bytes are UTF-8 without a NUL.
static int is_plain(const unsigned char *at, size_t length) {
    for (size_t i = 0; i < length;) {
        unsigned char first = at[i++];
        if (first == 0) return 0;
        if (first < 0x80) continue;
        size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
        if (first < 0xC2 || first > 0xF4 || more > length - i) return 0;
        // What is too long for its character, a surrogate, or beyond the last one.
        unsigned char second = at[i];
        if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
            (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F))
            return 0;
        for (; more > 0; more--)
            if ((at[i++] & 0xC0) != 0x80) return 0;
    }
    return 1;
}

static unsigned char no_text[1];

// The text of an answer: a host gets no pointer to nothing, and no name that is none.
static int judge_text(unsigned char **data, int64_t length, int sense) {
    if (*data == NULL) {
        if (length != 0 || (sense & SENSE_SOME) != 0) return 0;
        if ((sense & SENSE_NULL) == 0) *data = no_text;
        return 1;
    }
    if (length < 0 || ((sense & SENSE_SOME) != 0 && length == 0)) return 0;
    return (sense & SENSE_NAME) == 0 || (length <= 255 && is_plain(*data, (size_t)length));
}

// Puts the pointer of a text where the frame has a 1. May a length be below −1? It is refused by whom it is for.
static int settle_text(wire_reader *from, unsigned char *head, int is_bytes, int sense) {
    uint64_t present;
    int64_t length;
    memcpy(&present, head, 8);
    memcpy(&length, head + 8, 8);
    unsigned char *data = NULL;
    if (present != 0) {
        if (length == -1 && !is_bytes) return 0;
        data = from->at;
        if (length >= 0) data = take(from, (uint64_t)length + 1);
        if (data == NULL || (length >= 0 && data[length] != 0)) return 0;
    }
    if (from->is_answer && !judge_text(&data, length, sense)) return 0;
    memcpy(head, &data, 8);
    return 1;
}

static int settle_part(wire_reader *from, const part *at, unsigned char *bytes) {
    unsigned char *head = bytes + at->offset, *data = NULL;
    if (at->kind <= PART_BYTES) return settle_text(from, head, at->kind == PART_BYTES, at->sense);
    uint64_t present, count = count_at(at, bytes);
    memcpy(&present, head, 8);
    if (from->is_answer && present == 0 && count > 0 &&
        !(at->kind == PART_ITEMS && (at->sense & SENSE_NULL) != 0))
        return 0;
    if (present != 0 && count > at->most) {
        data = head;
    } else if (present != 0) {
        size_t each = element(at);
        if (count > (uint64_t)(from->end - from->at) / each) return 0;
        data = take(from, count * each);
        if (data == NULL) return 0;
        for (uint64_t i = 0; at->kind != PART_ITEMS && i < count; i++)
            for (size_t text = 0; text < texts_of(at); text++)
                if (!settle_text(from, data + each * i + text * sizeof(selene_text), 0, at->sense))
                    return 0;
    }
    memcpy(head, &data, 8);
    return 1;
}

// A number of a struct whose range every release knows. Those of enumerations have room for what later ones add.
typedef struct field {
    char letter;
    uint8_t width;
    uint16_t offset;
    int64_t least, most;
} field;

enum { ENUM_MOST = 255 };
#define INSTANT_LEAST (-(INT64_C(1) << 60))

#define FIELD(letter, type, name, least, most)                                                     \
    { letter, sizeof(((type *)0)->name), offsetof(type, name), least, most }
#define ENUM(letter, type, name) FIELD(letter, type, name, 0, ENUM_MOST)
#define SPAN(letter, type, name) FIELD(letter, type, name, 0, INT64_MAX)
#define INSTANT(letter, type, name) FIELD(letter, type, name, INSTANT_LEAST, INT64_MAX)
static const field fields[] = {
    FIELD('I', selene_task_info, kind, 1, ENUM_MOST),
    FIELD('I', selene_task_info, schedule, 1, ENUM_MOST),
    FIELD('I', selene_task_info, priority, 1, ENUM_MOST),
    FIELD('I', selene_task_info, existing, 1, ENUM_MOST),
    ENUM('I', selene_task_info, recurrence),
    FIELD('I', selene_task_info, backoff, 1, ENUM_MOST),
    ENUM('I', selene_task_info, response_window),
    FIELD('I', selene_task_info, has_handler, 0, 1),
    ENUM('I', selene_task_info, state),
    FIELD('I', selene_task_info, last_outcome, -1, ENUM_MOST),
    ENUM('I', selene_task_info, stop_reason),
    FIELD('I', selene_task_info, expected_response, -1, INT64_MAX),
    SPAN('I', selene_task_info, initial_delay),
    SPAN('I', selene_task_info, period),
    SPAN('I', selene_task_info, flex),
    SPAN('I', selene_task_info, backoff_delay),
    INSTANT('I', selene_task_info, registered_at),
    INSTANT('I', selene_task_info, earliest_begin),
    INSTANT('I', selene_task_info, anchor),
    INSTANT('I', selene_task_info, last_run),
    FIELD('N', selene_run_info, run, 1, INT64_MAX),
    FIELD('N', selene_run_info, cycle, 0, INT64_MAX),
    FIELD('N', selene_run_info, kind, 1, ENUM_MOST),
    FIELD('N', selene_run_info, priority, 1, ENUM_MOST),
    SPAN('N', selene_run_info, estimate),
    INSTANT('N', selene_run_info, started_at),
    INSTANT('N', selene_run_info, expires_at),
    INSTANT('N', selene_run_info, deadline),
    FIELD('Q', selene_report, cycle, 0, INT64_MAX),
    ENUM('Q', selene_report, result),
    INSTANT('Q', selene_report, began_at),
    INSTANT('Q', selene_report, ended_at),
    INSTANT('Q', selene_report, deadline),
    SPAN('Q', selene_report, budget),
    SPAN('Q', selene_report, reserve),
    ENUM('E', selene_explanation, state),
    // As many as there is room for.
    FIELD('E', selene_explanation, reason_count, 0, SELENE_REASONS),
    FIELD('V', selene_event, type, 1, ENUM_MOST),
    FIELD('V', selene_event, state, -1, ENUM_MOST),
    INSTANT('V', selene_event, time),
};

// The numbers of an answer's struct that are known are what an owner can say.
static int judge_fields(char letter, const unsigned char *bytes, uint64_t size) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const field *at = &fields[i];
        if (at->letter != letter || at->offset + (uint64_t)at->width > (size & ~UINT64_C(7)))
            continue;
        int64_t number = 0;
        if (at->width == 4) {
            int32_t half;
            memcpy(&half, bytes + at->offset, sizeof half);
            number = half;
        } else {
            memcpy(&number, bytes + at->offset, sizeof number);
        }
        if (number < at->least || number > at->most) return 0;
    }
    return 1;
}

// A struct as put_struct wrote it, with its pointers; *size and what it points to are in the frame. 0: malformed.
static int take_struct(wire_reader *from, char letter, unsigned char **out, uint64_t *size) {
    const shape *form = shape_of(letter);
    uint64_t behind;
    uint32_t own;
    *out = NULL;
    if (!take_number(from, size)) return 0;
    if (*size == 0) return 1;
    if (*size < 8 || *size > 65536 || !take_number(from, &behind)) return 0;
    unsigned char *bytes = take(from, *size);
    if (bytes == NULL || behind > (uint64_t)(from->end - from->at) || behind % 8 != 0) return 0;
    wire_reader inside = {from->at, from->at + behind, from->is_answer};
    from->at += behind;
    memcpy(&own, bytes, sizeof own);
    // A call reads as many bytes as the struct says; the others it refuses by its size.
    int is_whole = own >= 8 && own <= 65536;
    if (*size != (is_whole ? own : 8)) return 0;
    for (size_t i = 0; is_whole && i < form->parts_count; i++)
        if (has_part(&form->parts[i], *size) && !settle_part(&inside, &form->parts[i], bytes))
            return 0;
    // No owner has structs that are shorter than what each release knows of them.
    if (from->is_answer &&
        (!is_whole || (form->parts_count > 0 && !has_part(&form->parts[0], *size)) ||
         !judge_fields(letter, bytes, *size)))
        return 0;
    *out = bytes;
    return 1;
}

static int take_batch(wire_reader *from, wire_word *words, wire_scratch *scratch) {
    uint64_t present, count, size;
    if (!take_number(from, &present) || !take_number(from, &count)) return 0;
    words[1].bits = count;
    words[0].pointer = present != 0 ? scratch->outs : NULL;
    if (present == 0 || count > BATCH_MOST) return 1;
    if (count > (uint64_t)(from->end - from->at) / 8) return 0;
    unsigned char **tasks = scratch->arrays[0] = calloc(count + 1, sizeof *tasks);
    if (tasks == NULL) abort();
    for (uint64_t i = 0; i < count; i++)
        if (!take_struct(from, 'T', &tasks[i], &size)) return 0;
    words[0].pointer = tasks;
    return 1;
}

static int take_text(wire_reader *from, wire_word *words) {
    unsigned char *head = take(from, 16);
    if (head == NULL || !settle_text(from, head, 0, 0)) return 0;
    memcpy(words, head, 16);
    return 1;
}

int wire_arguments(wire_reader *from, const wire_operation *operation, wire_word *words,
                   wire_scratch *scratch) {
    const char *form = operation->form;
    uint64_t size, count = 0;
    unsigned char *bytes;
    *scratch = (wire_scratch){{0}, {NULL}};
    for (; *form != 0 && *form != '>'; form++) {
        switch (*form) {
        case 't':
            if (!take_text(from, words)) return 0;
            words += 2;
            break;
        case 's':
            if (!take_struct(from, *++form, &bytes, &size)) return 0;
            words++->pointer = bytes;
            break;
        case 'b':
            if (!take_batch(from, words, scratch)) return 0;
            count = words[1].bits;
            words += 2;
            break;
        default:
            if (!take_number(from, &words->bits)) return 0;
            words++;
        }
    }
    for (size_t i = 0; *form != 0; form++) {
        uint64_t present;
        if (*form == '>') continue;
        if (!take_number(from, &present)) return 0;
        words->pointer = present != 0 ? &scratch->outs[i] : NULL;
        if (present != 0 && *form == 'n') {
            // Of a batch that is too long, or has no tasks, nothing is written.
            uint64_t most = scratch->arrays[0] != NULL ? count : 0;
            scratch->arrays[1 + i] = calloc(most + 1, 4);
            if (scratch->arrays[1 + i] == NULL) abort();
            words->pointer = scratch->arrays[1 + i];
        } else if (present != 0 && *form == 'o') {
            if (!take_struct(from, form[1], &bytes, &size) || bytes == NULL) return 0;
            words->pointer = bytes;
        }
        form += *form == 'o' || *form == 'p' || *form == 'q';
        words++;
        i++;
    }
    return 1;
}

void wire_release(const wire_operation *operation, wire_scratch *scratch) {
    // What is made is the first result of its operation.
    const char *made = strpbrk(operation->form, "pq");
    if (made != NULL) selene_free((void *)(uintptr_t)scratch->outs[0]);
    for (size_t i = 0; i < sizeof scratch->arrays / sizeof *scratch->arrays; i++)
        free(scratch->arrays[i]);
}

// As much of the struct as both know, and what is behind it.
void *wire_made(wire_reader *from, char letter) {
    const shape *form = shape_of(letter);
    unsigned char *begun = from->at, *bytes;
    uint64_t size;
    wire_reader probe = *from;
    if (!take_number(&probe, &size) || size < 8 || size > 65536) return NULL;
    uint64_t behind;
    if (!take_number(&probe, &behind) || take(&probe, size) == NULL) return NULL;
    if (behind > (uint64_t)(probe.end - probe.at)) return NULL;
    // The struct goes to the front, where the rest of it is 0 if the owner's is shorter; the texts are behind it.
    size_t front = padded(form->size > size ? form->size : size),
           whole = 16 + padded(size) + behind;
    unsigned char *block = malloc(front + whole);
    if (block == NULL) abort();
    memset(block, 0, front);
    memcpy(block + front, begun, whole);
    wire_reader copied = {block + front, block + front + whole, 1};
    if (!take_struct(&copied, letter, &bytes, &size) || bytes == NULL) {
        free(block);
        return NULL;
    }
    memcpy(block, bytes, size < form->size ? size : form->size);
    // Texts that the owner does not know yet are empty ones, and of lists it knows no element.
    static const unsigned char *const empty = no_text;
    for (size_t i = 0; i < form->parts_count; i++) {
        const part *at = &form->parts[i];
        if (has_part(at, size)) continue;
        memset(block + at->offset, 0, at->kind <= PART_BYTES ? 16 : 8);
        if (at->kind == PART_TEXT) memcpy(block + at->offset, &empty, sizeof empty);
        if (at->kind > PART_BYTES && (at->sense & SENSE_NULL) == 0)
            memset(block + at->count_offset, 0, at->kind == PART_TEXTS ? at->width : 8);
    }
    uint32_t own = form->size;
    memcpy(block, &own, sizeof own);
    from->at += whole;
    return block;
}

// A number that came as the result at a place of an operation is one that an owner can answer.
static int judge_number(uint32_t operation, int place, int64_t number) {
    switch (operation) {
    case SERVICE_CYCLE_BEGIN:
        return number > 0;
    case SERVICE_CYCLE_NEXT:
    case SERVICE_CYCLE_TAKE:
        return place != 1 || (number >= SELENE_STEP_RUN && number <= SELENE_STEP_DONE);
    case SERVICE_CYCLE_PROGRESS:
        return place != 0 || number == 0 || number == 1;
    case SERVICE_CYCLE_CALL:
        return place == 0 ? number > 0 : number > INSTANT_LEAST;
    case SERVICE_DRIVER_STEP:
        return place > 1 || (number >= 0 && (place == 0 || number <= WIRE_LANES_MOST));
    case SERVICE_RUN_ADOPT:
        return number >= 0 && (place != 0 || number <= 2);
    case SERVICE_RUN_STOPPING:
    case SERVICE_TASK_REGISTER:
        return number >= 0 && number <= ENUM_MOST;
    case SERVICE_RUN_REMAINING:
    case SERVICE_TASK_CANCEL:
    case SERVICE_TASK_CANCEL_TAG:
    case SERVICE_TASK_CANCEL_ALL:
    case SERVICE_SCHEDULER_PRUNE:
    case SERVICE_TASK_PAUSE:
    case SERVICE_TASK_PAUSE_TAG:
    case SERVICE_TASK_RESUME:
    case SERVICE_TASK_RESUME_TAG:
        return number >= 0;
    default:
        return 1;
    }
}

static int judge_numbers(const unsigned char *numbers, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        int32_t number;
        memcpy(&number, numbers + i * 4, sizeof number);
        // A status; a disposition, −1 for a task that was refused.
        if (number < -1 || number > 65535) return 0;
    }
    return 1;
}

static int read_results(wire_reader from, const wire_operation *operation, const wire_word *words,
                        int is_sure) {
    uint64_t count = 0, number, size;
    // Of an operation that may give a run: whether it did, and what its step says of that.
    int has_run = -1, step = -1;
    const char *form = results_of(operation, &words, &count);
    for (int place = -1; *form != 0; form++) {
        if (*form == '>') continue;
        place++;
        void *result = words++->pointer;
        char kind = *form;
        form += kind == 'o' || kind == 'p' || kind == 'q';
        if (result == NULL) continue;
        if (kind == 'i' || kind == 'l') {
            if (!take_number(&from, &number)) return 0;
            if (kind == 'i' && (int64_t)number != (int32_t)(int64_t)number) return 0;
            if (!judge_number(operation->number, place, (int64_t)number)) return 0;
            if (has_run >= 0 && step < 0) step = (int)number;
            if (is_sure) memcpy(result, &number, kind == 'i' ? 4 : 8);
        } else if (kind == 'n') {
            unsigned char *numbers = count <= BATCH_MOST ? take(&from, count * 4) : NULL;
            if (numbers == NULL || !judge_numbers(numbers, count)) return 0;
            if (is_sure) memcpy(result, numbers, count * 4);
        } else if (kind == 'o') {
            unsigned char *bytes;
            uint32_t own;
            if (!take_struct(&from, *form, &bytes, &size) || bytes == NULL) return 0;
            memcpy(&own, result, sizeof own);
            if (size != own) return 0;
            if (is_sure && size > 8) memcpy((char *)result + 8, bytes + 8, (size & ~7u) - 8);
        } else if (kind == 'q' && (size_t)(from.end - from.at) >= 8 &&
                   memcmp(from.at, &(uint64_t){0}, 8) == 0) {
            from.at += 8;
            has_run = 0;
            if (is_sure) memset(result, 0, sizeof(void *));
        } else {
            void *made = wire_made(&from, *form);
            if (made == NULL) return 0;
            if (kind == 'q') has_run = 1;
            if (is_sure) memcpy(result, &made, sizeof made);
            else free(made);
        }
    }
    return has_run < 0 || step < 0 || has_run == (step == SELENE_STEP_RUN);
}

int wire_results(wire_reader from, const wire_operation *operation, const wire_word *words) {
    from.is_answer = 1;
    return read_results(from, operation, words, 0) && read_results(from, operation, words, 1);
}

static void keep(char *to, const char *data, int64_t length) {
    size_t most = SERVICE_TEXT_SIZE - 1, count = length < 0 ? 0 : (size_t)length;
    if (count > most) count = most;
    memcpy(to, data, count);
    to[count] = 0;
}

static void fill(service_failure *failure, const selene_error *error) {
    const selene_text texts[] = {error->message, error->field,   error->subject,
                                 error->found,   error->allowed, error->problem};
    failure->flags = error->flags;
    failure->reserved = 0;
    failure->unit = error->unit;
    failure->value = error->value;
    failure->least = error->least;
    failure->greatest = error->greatest;
    for (size_t i = 0; i < SERVICE_TEXTS; i++)
        keep(failure->texts[i], texts[i].data != NULL ? texts[i].data : "",
             texts[i].data != NULL ? texts[i].length : 0);
}

int wire_read_refusal(wire_reader from, service_failure *failure) {
    from.is_answer = 1;
    selene_error *error = wire_made(&from, '!');
    if (error == NULL) return 0;
    fill(failure, error);
    free(error);
    return 1;
}

int32_t wire_told(service_failure *failure) {
    const selene_error *error = selene_error_last();
    failure->status = error->status;
    fill(failure, error);
    return error->status;
}

// ---- Failures ----

void wire_clear(service_failure *failure, int32_t status) {
    memset(failure, 0, offsetof(service_failure, texts));
    failure->status = status;
    for (size_t i = 0; i < SERVICE_TEXTS; i++)
        failure->texts[i][0] = 0;
}

int32_t wire_fail(service_failure *failure, int32_t status, const char *field, const char *found,
                  const char *problem, ...) {
    wire_clear(failure, status);
    va_list list;
    va_start(list, problem);
    vsnprintf(failure->texts[5], SERVICE_TEXT_SIZE, problem, list);
    va_end(list);
    snprintf(failure->texts[1], SERVICE_TEXT_SIZE, "%s", field);
    snprintf(failure->texts[3], SERVICE_TEXT_SIZE, "%s", found != NULL ? found : "");
    // Of a long name the end, which is what differs.
    size_t length = found != NULL ? strlen(found) : 0;
    const char *end = found != NULL ? found + (length > 160 ? length - 160 : 0) : "";
    if (field[0] == 0) {
        memcpy(failure->texts[0], failure->texts[5], SERVICE_TEXT_SIZE);
        return status;
    }
    snprintf(failure->texts[0], SERVICE_TEXT_SIZE, found != NULL ? "%s %s\"%s\": %s" : "%s%s%s: %s",
             field, length > 160 ? "…" : "", end, failure->texts[5]);
    return status;
}

void wire_error(const service_failure *failure, selene_error *error) {
    selene_text parts[SERVICE_TEXTS];
    for (size_t i = 0; i < SERVICE_TEXTS; i++) {
        parts[i].data = failure->texts[i];
        parts[i].length = (int64_t)strlen(failure->texts[i]);
    }
    *error =
        (selene_error){sizeof *error,  failure->flags, failure->status,  failure->unit, parts[0],
                       parts[1],       parts[2],       parts[3],         parts[4],      parts[5],
                       failure->value, failure->least, failure->greatest};
}
