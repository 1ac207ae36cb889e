/*
 * misuse_texts.c - texts, tags, inputs and lists of ids that are none, too long or no UTF-8, wherever text goes in
 *
 * They are given in heap blocks of exactly their length, so that a sanitizer or valgrind sees a byte read too far.
 */
#include "misuse_arguments.h"

/** A way in which a text goes in. */
struct text_use {
    const char *field;
    /** Empty text has a meaning of its own there. */
    int may_be_empty;
    selene_status (*use)(selene_scheduler scheduler, const char *data, int64_t length);
};

static selene_status text_id(selene_scheduler s, const char *data, int64_t length) {
    selene_task task = SELENE_INIT(selene_task);
    task.id = (selene_text){data, length};
    return selene_task_register(s, &task, &outs.number);
}

static selene_status text_handler(selene_scheduler s, const char *data, int64_t length) {
    selene_task task = task_of("standing");
    task.handler = (selene_text){data, length};
    return selene_task_register(s, &task, &outs.number);
}

static selene_status text_tag(selene_scheduler s, const char *data, int64_t length) {
    selene_text tags[3] = {{"first", 5}, {NULL, 0}, {"last", 4}};
    selene_task task = task_of("standing");
    tags[1] = (selene_text){data, length};
    task.tags = tags;
    task.tag_count = 3;
    return selene_task_register(s, &task, &outs.number);
}

static selene_status text_name(selene_scheduler s, const char *data, int64_t length) {
    return selene_handler_register(s, data, length, NULL, NULL, NULL, NULL);
}

static selene_status text_unregister(selene_scheduler s, const char *data, int64_t length) {
    return selene_handler_unregister(s, data, length);
}

static selene_status text_cancel(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_cancel(s, data, length, &outs.count);
}

static selene_status text_cancel_tag(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_cancel_tag(s, data, length, &outs.count);
}

static selene_status text_get(selene_scheduler s, const char *data, int64_t length) {
    selene_status status = selene_task_get(s, data, length, 0, &outs.task_info);
    if (status == SELENE_OK) selene_free(outs.task_info);
    return status;
}

static selene_status text_waits(selene_scheduler s, const char *data, int64_t length) {
    selene_status status = selene_task_waits(s, data, length, &outs.waits);
    if (status == SELENE_OK) selene_free(outs.waits);
    return status;
}

static selene_status text_output(selene_scheduler s, const char *data, int64_t length) {
    selene_status status = selene_task_get_output(s, data, length, &outs.output);
    if (status == SELENE_OK) selene_free(outs.output);
    return status;
}

static selene_status text_list(selene_scheduler s, const char *data, int64_t length) {
    selene_status status = selene_task_list(s, data, length, &outs.task_ids);
    if (status == SELENE_OK) selene_free(outs.task_ids);
    return status;
}

static selene_status text_retry(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_retry(s, data, length);
}

static selene_status text_set_next(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_set_next(s, data, length, 0);
}

static selene_status text_pause(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_pause(s, data, length, &outs.count);
}

static selene_status text_pause_tag(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_pause_tag(s, data, length, &outs.count);
}

static selene_status text_resume(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_resume(s, data, length, &outs.count);
}

static selene_status text_resume_tag(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_resume_tag(s, data, length, &outs.count);
}

static selene_status text_group(selene_scheduler s, const char *data, int64_t length) {
    selene_task task = task_of("of a group");
    task.group = (selene_text){data, length};
    return use_task(s, &task);
}

static selene_status text_limit(selene_scheduler s, const char *data, int64_t length) {
    return selene_group_set_limit(s, data, length, 3);
}

static selene_status text_pause_group(selene_scheduler s, const char *data, int64_t length) {
    return selene_group_pause(s, data, length);
}

static selene_status text_resume_group(selene_scheduler s, const char *data, int64_t length) {
    return selene_group_resume(s, data, length);
}

static selene_status text_pool(selene_scheduler s, const char *data, int64_t length) {
    return selene_scheduler_pause(s, SELENE_KIND_REFRESH, data, length, SELENE_NEVER);
}

static selene_status text_condition(selene_scheduler s, const char *data, int64_t length) {
    selene_task task = task_of("with a condition");
    selene_text name = {data, length};
    task.conditions = &name;
    task.condition_count = 1;
    return use_task(s, &task);
}

static selene_status text_define(selene_scheduler s, const char *data, int64_t length) {
    return selene_condition_define(s, data, length);
}

static selene_status text_get_group(selene_scheduler s, const char *data, int64_t length) {
    return selene_group_get(s, data, length, &outs.group);
}

static selene_status text_explain(selene_scheduler s, const char *data, int64_t length) {
    return selene_task_explain(s, data, length, &outs.explanation);
}

static selene_status text_window(selene_scheduler s, const char *data, int64_t length) {
    selene_window window = SELENE_INIT(selene_window);
    window.task = (selene_text){data, length};
    return use_begin(s, &window);
}

static selene_status text_plan(selene_scheduler s, const char *data, int64_t length) {
    selene_window window = SELENE_INIT(selene_window);
    window.task = (selene_text){data, length};
    return use_plan(s, &window);
}

static selene_status text_permitted(selene_scheduler s, const char *data, int64_t length) {
    selene_text permitted[2] = {{"first", 5}, {NULL, 0}};
    selene_options options = SELENE_INIT(selene_options);
    permitted[1] = (selene_text){data, length};
    options.permitted = permitted;
    options.permitted_count = 2;
    return use_options(s, &options);
}

static selene_status text_owner(selene_scheduler s, const char *data, int64_t length) {
    selene_options options = SELENE_INIT(selene_options);
    options.owner = (selene_text){data, length};
    return use_options(s, &options);
}

static selene_status text_node_name(selene_scheduler s, const char *data, int64_t length) {
    selene_node_options options = SELENE_INIT(selene_node_options);
    options.name = (selene_text){data, length};
    return use_node_open(s, &options);
}

static selene_status text_queues(selene_scheduler s, const char *data, int64_t length) {
    const selene_text name = {data, length};
    selene_node_options options = SELENE_INIT(selene_node_options);
    options.queues = &name;
    options.queue_count = 1;
    return use_node_open(s, &options);
}

static selene_status text_labels(selene_scheduler s, const char *data, int64_t length) {
    const selene_text name = {data, length};
    selene_node_options options = SELENE_INIT(selene_node_options);
    options.labels = &name;
    options.label_count = 1;
    return use_node_open(s, &options);
}

static const struct text_use text_uses[] = {
    {"id", 0, text_id},
    {"handler", 1, text_handler},
    {"tag", 0, text_tag},
    {"name", 0, text_name},
    {"name", 0, text_unregister},
    {"id", 0, text_cancel},
    {"tag", 0, text_cancel_tag},
    {"id", 0, text_get},
    {"tag", 1, text_list},
    {"id", 0, text_retry},
    {"id", 0, text_set_next},
    {"id", 0, text_explain},
    {"id", 0, text_output},
    {"id", 0, text_waits},
    {"task", 1, text_window},
    {"task", 1, text_plan},
    {"permitted", 0, text_permitted},
    {"owner", 1, text_owner},
    {"id", 0, text_pause},
    {"id", 0, text_resume},
    {"tag", 0, text_pause_tag},
    {"tag", 0, text_resume_tag},
    {"group", 1, text_group},
    {"conditions", 0, text_condition},
    {"name", 0, text_define},
    {"name", 0, text_limit},
    {"name", 0, text_pause_group},
    {"name", 0, text_resume_group},
    {"name", 0, text_get_group},
    {"pool", 1, text_pool},
    {"name", 1, text_node_name},
    {"queues", 0, text_queues},
    {"labels", 0, text_labels},
};

/** Literal and its length without the NUL at its end. */
#define BYTES(literal)                                                                             \
    { ("" literal), (int64_t)sizeof(literal) - 1 }

static const selene_text bad_texts[] = {
    BYTES("\0"),
    BYTES("a\0b"),
    BYTES("ab\0"),
    BYTES("\0a"),
    /* overlong */
    BYTES("\xC0\x80"),
    BYTES("\xC0\xAF"),
    BYTES("\xC1\xBF"),
    BYTES("\xE0\x80\x80"),
    BYTES("\xE0\x9F\xBF"),
    BYTES("\xF0\x80\x80\x80"),
    BYTES("\xF0\x8F\xBF\xBF"),
    /* surrogates */
    BYTES("\xED\xA0\x80"),
    BYTES("\xED\xBF\xBF"),
    BYTES("a\xED\xA0\xBD\xED\xB8\x80"),
    /* truncated, at the end and in the middle */
    BYTES("\xC3"),
    BYTES("a\xC3"),
    BYTES("\xE2\x82"),
    BYTES("\xE2"),
    BYTES("\xF0\x9F\x98"),
    BYTES("\xF0\x9F"),
    BYTES("\xF0"),
    BYTES("\xC3"
          "a"),
    BYTES("\xE2\x82"
          "a"),
    BYTES("\xF0\x9F\x98"
          "a"),
    BYTES("\xE2\xC3\xA9"),
    /* above U+10FFFF, and bytes that no UTF-8 has */
    BYTES("\xF4\x90\x80\x80"),
    BYTES("\xF5\x80\x80\x80"),
    BYTES("\xF7\xBF\xBF\xBF"),
    BYTES("\xF8\x88\x80\x80\x80"),
    BYTES("\xFC\x84\x80\x80\x80\x80"),
    BYTES("\xFE"),
    BYTES("\xFF"),
    BYTES("a\xFFz"),
    /* continuation without a beginning */
    BYTES("\x80"),
    BYTES("\xBF"),
    BYTES("a\x80"),
    BYTES("\xC3\xA9\xA9"),
};

static const selene_text good_texts[] = {
    BYTES("a"),
    BYTES(" "),
    BYTES("\x01"),
    BYTES("\x7F"),
    BYTES("a b/c.d\\e\"f\n"),
    BYTES("*"),
    BYTES(".*"),
    BYTES("\xC2\x80"),
    BYTES("\xDF\xBF"),
    BYTES("\xE0\xA0\x80"),
    BYTES("\xED\x9F\xBF"),
    BYTES("\xEE\x80\x80"),
    BYTES("\xEF\xBF\xBF"),
    BYTES("\xEF\xBB\xBF"
          "bom"),
    BYTES("\xF0\x90\x80\x80"),
    BYTES("\xF4\x8F\xBF\xBF"),
    BYTES("\xCC\x81"
          "combining"),
};

/** The text in a block of exactly its size; with terminated there is a NUL behind. */
static char *text_block(selene_text text, int terminated) {
    size_t length = (size_t)text.length;
    char *block =
        malloc(length + (terminated ? 1 : 0) + (length + (size_t)terminated == 0 ? 1 : 0));
    CHECK(block);
    if (length > 0) memcpy(block, text.data, length);
    if (terminated) block[length] = '\0';
    return block;
}

static void refuse_text(const struct text_use *text, const char *data, int64_t length) {
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, text->field, text->use(watched, data, length));
}

static void test_bad_texts(void) {
    size_t i, k;
    char *block, longest[300];
    watched = open_furnished();
    memset(longest, 'a', sizeof longest);
    for (i = 0; i < COUNT(text_uses); i++) {
        const struct text_use *text = &text_uses[i];
        for (k = 0; k < COUNT(bad_texts); k++) {
            block = text_block(bad_texts[k], 0);
            refuse_text(text, block, bad_texts[k].length);
            free(block);
            if (memchr(bad_texts[k].data, 0, (size_t)bad_texts[k].length)) continue;
            block = text_block(bad_texts[k], 1);
            refuse_text(text, block, -1);
            free(block);
        }
        block = text_block((selene_text){longest, 256}, 1);
        refuse_text(text, block, 256);
        refuse_text(text, block, -1);
        /* 255 bytes, of which the last begins a character that is not there. */
        block[254] = '\xC3';
        refuse_text(text, block, 255);
        free(block);
        /* Lengths that mean nothing, or more than there can be. */
        block = text_block((selene_text){"abc", 3}, 0);
        refuse_text(text, block, -2);
        refuse_text(text, block, -99);
        refuse_text(text, block, INT64_MIN);
        refuse_text(text, block, INT64_MIN + 1);
        refuse_text(text, block, INT64_MAX);
        refuse_text(text, block, INT64_C(1) << 32);
        free(block);
        refuse_text(text, NULL, 1);
        refuse_text(text, NULL, 255);
        refuse_text(text, NULL, -2);
        refuse_text(text, NULL, INT64_MAX);
        refuse_text(text, NULL, INT64_MIN);
        if (text->may_be_empty) continue;
        refuse_text(text, NULL, 0);
        refuse_text(text, NULL, -1);
        refuse_text(text, "", 0);
        refuse_text(text, "", -1);
        refuse_text(text, "abc", 0);
    }
    CHECK_OK(selene_scheduler_close(watched, 0));
}

static void test_good_texts(void) {
    size_t i, k;
    char *block, longest[255];
    memset(longest, 'a', sizeof longest);
    for (i = 0; i < COUNT(text_uses); i++) {
        for (k = 0; k <= COUNT(good_texts); k++) {
            selene_text text =
                k < COUNT(good_texts) ? good_texts[k] : (selene_text){longest, sizeof longest};
            int terminated;
            for (terminated = 0; terminated <= 1; terminated++) {
                selene_scheduler s = open_furnished();
                selene_status got;
                outs_reset();
                block = text_block(text, terminated);
                got = text_uses[i].use(s, block, terminated ? -1 : text.length);
                free(block);
                if (got != SELENE_OK && got != SELENE_ERROR_NOT_FOUND) {
                    fprintf(stderr, "%s, good text %zu: %s\n", text_uses[i].field, k,
                            selene_error_last()->message.data);
                    check_fail();
                }
                CHECK_OK(selene_scheduler_close(s, 0));
            }
        }
    }
}

static void test_texts_are_copied(void) {
    selene_scheduler s = open_still();
    char id[] = "a task of some length", handler[] = "a handler of some length", tag[] = "tag",
         input[] = "input";
    selene_text tags[1];
    selene_task task = SELENE_INIT(selene_task);
    selene_task_info *info = NULL;
    task.id = text_of(id);
    task.id.length = 6; /* "a task" */
    task.handler = text_of(handler);
    tags[0] = text_of(tag);
    task.tags = tags;
    task.tag_count = 1;
    task.input = input;
    task.input_length = 5;
    CHECK_OK(selene_task_register(s, &task, NULL));
    memset(id, 'x', sizeof id);
    memset(handler, 'x', sizeof handler);
    memset(tag, 'x', sizeof tag);
    memset(input, 'x', sizeof input);
    memset(tags, 0xFF, sizeof tags);
    CHECK_OK(selene_task_get(s, "a task", -1, 0, &info));
    CHECK_TEXT("a task", info->id);
    CHECK_TEXT("a handler of some length", info->handler);
    CHECK_INT(1, info->tag_count);
    CHECK_TEXT("tag", info->tags[0]);
    CHECK_TEXT("input", info->input);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_tags(void) {
    static char names[17][4];
    selene_text tags[17];
    selene_scheduler s = watched = open_furnished();
    selene_task task = task_of("tagged");
    selene_task_info *info = NULL;
    size_t i;
    for (i = 0; i < 17; i++) {
        snprintf(names[i], sizeof names[i], "t%zu", i);
        tags[i] = text_of(names[i]);
    }
    task.tags = tags;
    task.tag_count = 17;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tag", selene_task_register(s, &task, &outs.number));
    task.tag_count = 99;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tag", selene_task_register(s, &task, &outs.number));
    task.tag_count = UINT32_MAX;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tag", selene_task_register(s, &task, &outs.number));
    task.tags = NULL;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tag", selene_task_register(s, &task, &outs.number));
    task.tag_count = 1;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tags", selene_task_register(s, &task, &outs.number));
    task.tag_count = 16;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "tags", selene_task_register(s, &task, &outs.number));
    /* No tags, wherever the pointer goes. */
    task.tag_count = 0;
    task.tags = (const selene_text *)(uintptr_t)1;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.tags = tags;
    task.tag_count = 16;
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_task_get(s, "tagged", -1, 0, &info));
    CHECK_INT(16, info->tag_count);
    selene_free(info);
    for (i = 1; i < 16; i++)
        tags[i] = tags[0];
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_task_get(s, "tagged", -1, 0, &info));
    CHECK_INT(1, info->tag_count);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(s, 0));
}

static void test_input(void) {
    selene_options options = still_options();
    selene_scheduler s = watched = open_furnished();
    selene_task task = task_of("input");
    selene_task_info *info = NULL;
    unsigned char *input = malloc(10241);
    size_t i;
    CHECK(input);
    for (i = 0; i < 10241; i++)
        input[i] = (unsigned char)(i * 7);
    task.input = input;
    task.input_length = 10241;
    REFUSED(SELENE_ERROR_TOO_LARGE, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = INT64_MAX;
    REFUSED(SELENE_ERROR_TOO_LARGE, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = -1;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = -2;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = INT64_MIN;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input = NULL;
    task.input_length = 1;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = 10240;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = -1;
    REFUSED(SELENE_ERROR_INVALID_ARGUMENT, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = 0;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.input = (const void *)(uintptr_t)1;
    CHECK_OK(selene_task_register(s, &task, NULL));
    task.input = input;
    task.input_length = 10240;
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_task_get(s, "input", -1, 0, &info));
    CHECK_INT(10240, info->input.length);
    CHECK(memcmp(info->input.data, input, 10240) == 0);
    CHECK_INT(0, info->input.data[10240]);
    selene_free(info);
    CHECK_OK(selene_scheduler_close(s, 0));
    /* The scheduler's own limit. */
    options.max_input_size = SELENE_NONE;
    CHECK_OK(selene_scheduler_open(&options, &s));
    watched = s;
    task.input_length = 1;
    REFUSED(SELENE_ERROR_TOO_LARGE, "input", selene_task_register(s, &task, &outs.number));
    task.input_length = 0;
    CHECK_OK(selene_task_register(s, &task, NULL));
    CHECK_OK(selene_scheduler_close(s, 0));
    free(input);
}

static void test_permitted(void) {
    const uint64_t many = 65537;
    selene_text *list = malloc(many * sizeof *list);
    char(*names)[16] = malloc(many * sizeof *names);
    selene_options options = still_options();
    selene_scheduler s = 0;
    uint64_t i;
    const selene_status invalid = SELENE_ERROR_INVALID_ARGUMENT;
    CHECK(list && names);
    for (i = 0; i < many; i++) {
        snprintf(names[i], sizeof names[i], "id.%" PRIu64, i);
        list[i] = text_of(names[i]);
    }
    watched = open_furnished();
    options.permitted_count = 1;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = UINT64_MAX;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted = list;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = UINT64_MAX / sizeof *list + 1;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = (uint64_t)INT64_MAX;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = many;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    options.permitted_count = many - 1;
    CHECK_OK(selene_scheduler_open(&options, &s));
    memset(names, 'x', many * sizeof *names);
    add_task(s, "id.65535");
    CHECK_OK(selene_scheduler_close(watched, 0));
    watched = s;
    {
        selene_task task = task_of("id.65536");
        REFUSED(SELENE_ERROR_NOT_PERMITTED, "id", selene_task_register(s, &task, &outs.number));
        task.id = text_of("id.");
        REFUSED(SELENE_ERROR_NOT_PERMITTED, "id", selene_task_register(s, &task, &outs.number));
        /* Arguments are looked at first. */
        task.priority = 6;
        REFUSED(invalid, "priority", selene_task_register(s, &task, &outs.number));
    }
    CHECK_OK(selene_scheduler_close(s, 0));
    watched = 0;
    list[0] = text_of("");
    options.permitted_count = 1;
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    list[0] = (selene_text){NULL, 0};
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    list[0] = (selene_text){NULL, -1};
    REFUSED(invalid, "permitted", selene_scheduler_open(&options, &outs.handle));
    free(list);
    free(names);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("T1 text that is empty, too long or no UTF-8 is refused wherever text goes in",
             test_bad_texts);
    run_test("T1 text of 1 to 255 bytes of UTF-8 is accepted wherever text goes in",
             test_good_texts);
    run_test("8.5 text that goes in is copied", test_texts_are_copied);
    run_test("T1 17 tags are refused, 16 accepted, repeated ones count once", test_tags);
    run_test("T2 input is refused above its limit, and when it is not there", test_input);
    run_test("T7 a list of permitted ids is refused when it is too long, NULL or not text",
             test_permitted);
    return check_end();
}
