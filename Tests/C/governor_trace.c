/*
 * governor_trace.c - what is recorded decides the same when it is replayed, and what is no trace is refused by its line
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

#include <sys/resource.h>

static char *read_file(const char *path, size_t *out_length) {
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    CHECK(file && text);
    *out_length = fread(text, 1, (1 << 20) - 1, file);
    text[*out_length] = '\0';
    fclose(file);
    return text;
}

static void write_file(const char *path, const char *text, size_t length) {
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK_INT(length, fwrite(text, 1, length, file));
    fclose(file);
}

/** A day of everything that a trace can hold. */
static uint64_t live(selene_scheduler scheduler) {
    struct work work = {.behaviour = COMPLETE};
    uint64_t decisions = 0;
    int64_t until = clock_now + SELENE_DAY;
    int number = 0;
    add_handler(scheduler, "work", &work);
    CHECK_OK(selene_driver_open(scheduler, NULL, NULL));
    while (clock_now < until) {
        selene_cycle cycle = 0;
        selene_task task = once_of(number % 2 ? "a task" : "100 %");
        task.handler = SELENE_TEXT("work");
        CHECK_OK(selene_task_register(scheduler, &task, NULL));
        number++;
        CHECK_OK(selene_signal_set(scheduler, number % 21 + 1, number % 2, number % 3 * H));
        if (number % 5 == 0) CHECK_OK(selene_signal_clear(scheduler, number / 5 % 21 + 1));
        if (number % 17 == 0) set_base(scheduler, number / 17 % 4);
        if (number % 7 == 0) CHECK_OK(selene_use_report(scheduler, clock_now - H, clock_now));
        CHECK_OK(selene_ledger_report(scheduler, number % 2 + 1, number, 3 * number));
        CHECK_OK(selene_driver_step(scheduler, &cycle, NULL));
        if (cycle) {
            selene_run_info info = SELENE_INIT(selene_run_info);
            int32_t step = -1;
            CHECK_OK(selene_cycle_next(cycle, &step, &info, NULL));
            advance(20 * S);
            if (step == SELENE_STEP_RUN) selene_run_complete(info.run, number % 4);
            CHECK_OK(selene_cycle_end(cycle, NULL));
        }
        if (number % 3 == 0) ask(scheduler, number % 2 + 1), decisions++;
        if (number % 11 == 0) ask_with(scheduler, REFRESH, SELENE_ASK_NEVER_RAN), decisions++;
        advance(7 * MIN);
    }
    CHECK_OK(selene_driver_stop(scheduler, 0));
    CHECK_OK(selene_handler_unregister(scheduler, "work", -1));
    return decisions;
}

static void test_same(void) {
    const char *path = file_named("trace");
    selene_scheduler scheduler = open_plain();
    uint64_t asked, decisions = 0, difference = 77;
    size_t length;
    char *text;
    set_base(scheduler, SELENE_PROFILE_APPLE);
    use_window(scheduler, REFRESH, MIN, MIN); /* there is a past */
    CHECK_OK(selene_trace_record(scheduler, path, -1));
    asked = live(scheduler);
    CHECK_OK(selene_trace_record(scheduler, NULL, 0));
    CHECK_OK(selene_trace_replay(path, -1, &decisions, &difference));
    CHECK_INT(0, difference);
    CHECK(decisions >= asked && asked > 50);
    CHECK_OK(selene_trace_replay(path, (int64_t)strlen(path), NULL, NULL));
    text = read_file(path, &length);
    CHECK(strncmp(text, "selene-trace 1 ", 15) == 0);
    for (const char *mark = "PLHSCBERUDT"; *mark; mark++) {
        const char line[] = {'\n', *mark, ' ', '\0'};
        if (!strstr(text, line)) fprintf(stderr, "no line %c\n", *mark);
        CHECK(strstr(text, line) != NULL);
    }
    CHECK(strstr(text, " 100%20%25\n") != NULL);
    /* What comes after the stop is not in it. */
    ask(scheduler, REFRESH);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    {
        size_t after;
        char *again = read_file(path, &after);
        CHECK_INT(length, after);
        CHECK(memcmp(text, again, length) == 0);
        free(again);
    }
    free(text);
}

/* A day that was recorded before; the Swift tests replay it in their build. */
static void test_kept(void) {
    uint64_t decisions = 0, difference = 77;
    for (int time = 0; time < 10; time++) {
        CHECK_OK(selene_trace_replay("Tests/vectors/day.trace", -1, &decisions, &difference));
        CHECK_INT(0, difference);
        CHECK_INT(213, decisions);
    }
}

#define REPLAYERS 4

static pthread_barrier_t replayers;
static atomic_int replaying, most_replaying;

static void *replay_often(void *context) {
    uint64_t difference = 77;
    (void)context;
    pthread_barrier_wait(&replayers);
    for (int time = 0; time < 25; time++) {
        int now = atomic_fetch_add(&replaying, 1) + 1;
        if (now > atomic_load(&most_replaying)) atomic_store(&most_replaying, now);
        CHECK_OK(selene_trace_replay("Tests/vectors/day.trace", -1, NULL, &difference));
        atomic_fetch_sub(&replaying, 1);
        CHECK_INT(0, difference);
    }
    return NULL;
}

/* A trace that is only read may be read by several at once. */
static void test_replays_at_once(void) {
    pthread_t threads[REPLAYERS];
    CHECK_INT(0, pthread_barrier_init(&replayers, NULL, REPLAYERS));
    /* Until some were seen at once: one processor may serve them one after another. */
    for (int round = 0; round < 40 && atomic_load(&most_replaying) < REPLAYERS; round++) {
        for (int k = 0; k < REPLAYERS; k++)
            CHECK_INT(0, pthread_create(&threads[k], NULL, replay_often, NULL));
        for (int k = 0; k < REPLAYERS; k++)
            CHECK_INT(0, pthread_join(threads[k], NULL));
    }
    CHECK(atomic_load(&most_replaying) > 1);
}

/* Closing ends a recording as stopping does; what a driver on a thread does is in it, too. */
static void test_live_driver(void) {
    const char *path = file_named("trace");
    selene_scheduler scheduler = open_real();
    struct work work = {.behaviour = COMPLETE};
    uint64_t decisions = 0, difference = 77;
    set_base(scheduler, SELENE_PROFILE_SERVER);
    CHECK_OK(selene_trace_record(scheduler, path, -1));
    CHECK_OK(selene_driver_start(scheduler, NULL));
    say(scheduler, SELENE_SIGNAL_CPU_BUSY, 0);
    say(scheduler, SELENE_SIGNAL_CPU_PRESSURE, 0);
    say(scheduler, SELENE_SIGNAL_MEMORY_PRESSURE, 0);
    say(scheduler, SELENE_SIGNAL_MEMORY_STALLED, 0);
    say(scheduler, SELENE_SIGNAL_IO_STALLED, 0);
    add_once(scheduler, "a", PROCESSING, &work);
    wait_for("the handler", &work.returned, 1);
    ask(scheduler, REFRESH);
    CHECK_OK(selene_scheduler_close(scheduler, GRACE));
    CHECK_OK(selene_trace_replay(path, -1, &decisions, &difference));
    CHECK_INT(0, difference);
    CHECK_BETWEEN(2, decisions, 10);
}

/* The file is made new, with its own rights, and one at a time. */
static void test_file(void) {
    const char *path = file_named("trace"), *other = file_named("other");
    selene_scheduler scheduler = open_plain();
    struct stat found;
    CHECK_OK(selene_trace_record(scheduler, NULL, 0)); /* there is none */
    write_file(other, "mine", 4);
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_trace_record(scheduler, other, -1));
    CHECK(strstr(selene_error_last()->message.data, "other") != NULL);
    CHECK_INT(0, symlink("nowhere", file_named("link")));
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS,
                 selene_trace_record(scheduler, file_named("link"), -1));
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN,
                 selene_trace_record(scheduler, file_named("no/such/folder"), -1));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_trace_record(scheduler, "", 0));
    CHECK_OK(selene_trace_record(scheduler, path, -1));
    CHECK_INT(0, stat(path, &found));
    CHECK_INT(0600, found.st_mode & 0777);
    CHECK_STATUS(SELENE_ERROR_ALREADY_EXISTS, selene_trace_record(scheduler, file_named("b"), -1));
    CHECK_INT(-1, access(file_named("b"), F_OK));
    CHECK_OK(selene_trace_record(scheduler, NULL, 0));
    CHECK_OK(selene_trace_record(scheduler, file_named("b"), -1));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_OK(selene_trace_replay(file_named("b"), -1, NULL, NULL));
    {
        size_t length;
        char *text = read_file(other, &length);
        CHECK_STRING("mine", text);
        free(text);
    }
}

/* A full disk ends the recording with an event, and nothing else. */
static void test_full(void) {
    selene_scheduler scheduler = open_plain();
    struct rlimit limit, before;
    uint64_t decisions = 0, difference = 77;
    size_t length;
    char *text;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(0, getrlimit(RLIMIT_FSIZE, &before));
    observe(scheduler);
    set_base(scheduler, SELENE_PROFILE_APPLE);
    limit = before;
    limit.rlim_cur = 2000;
    CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &limit));
    CHECK_OK(selene_trace_record(scheduler, file_named("trace"), -1));
    for (int i = 0; i < 100; i++)
        CHECK_INT(1, granted(scheduler, PROCESSING));
    CHECK_INT(0, setrlimit(RLIMIT_FSIZE, &before));
    CHECK_INT(1, count_events(0, SELENE_EVENT_TRACE_ENDED, 0));
    CHECK_INT(100, count_events(0, SELENE_EVENT_GRANTED, 0));
    CHECK_OK(selene_trace_record(scheduler, NULL, 0));
    /* Another may begin. What is there ends within a line, at which it is refused; up to it it is a trace. */
    CHECK_OK(selene_trace_record(scheduler, file_named("next"), -1));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    CHECK_OK(selene_trace_replay(file_named("next"), -1, &decisions, &difference));
    CHECK_INT(0, decisions);
    text = read_file(file_named("trace"), &length);
    CHECK_BETWEEN(1, length, 2000);
    if (text[length - 1] != '\n') {
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_trace_replay(file_named("trace"), -1, NULL, NULL));
        *strrchr(text, '\n') = '\0';
        strcat(text, "\n");
        write_file(file_named("cut"), text, strlen(text));
        CHECK_OK(selene_trace_replay(file_named("cut"), -1, &decisions, &difference));
        CHECK_INT(0, difference);
    }
    free(text);
}

/** Replays a text that must be refused with this word. */
static void refuse(const char *text, size_t length, const char *word) {
    uint64_t decisions = 77, difference = 78;
    write_file(file_named("bad"), text, length);
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_trace_replay(file_named("bad"), -1, &decisions, &difference));
    if (!strstr(selene_error_last()->message.data, word) ||
        !strstr(selene_error_last()->message.data, "bad")) {
        fprintf(stderr, "\"%s\" does not name the file and \"%s\"\n",
                selene_error_last()->message.data, word);
        check_fail();
    }
    CHECK_INT(77, decisions);
    CHECK_INT(78, difference);
}

static void test_damaged(void) {
    const char *path = file_named("trace");
    selene_scheduler scheduler = open_plain();
    uint64_t decisions = 77, difference = 78;
    size_t length;
    char *text, *line;
    int number = 1;
    set_base(scheduler, SELENE_PROFILE_APPLE);
    CHECK_OK(selene_trace_record(scheduler, path, -1));
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 1);
    ask(scheduler, PROCESSING);
    say(scheduler, SELENE_SIGNAL_USER_ACTIVE, 0);
    ask(scheduler, PROCESSING);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    text = read_file(path, &length);
    CHECK_OK(selene_trace_replay(path, -1, &decisions, &difference));
    CHECK_INT(2, decisions);
    CHECK_INT(0, difference);
    CHECK_STATUS(SELENE_ERROR_STORE_CANNOT_OPEN,
                 selene_trace_replay(file_named("nobody"), -1, &decisions, &difference));
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_trace_replay(NULL, -1, NULL, NULL));
    CHECK(selene_trace_replay("/", -1, NULL, NULL) != SELENE_OK);
    CHECK(selene_trace_replay("/dev/zero", -1, NULL, NULL) != SELENE_OK);
    refuse("", 0, "line 1");
    refuse("selene-trace 2 0\n", 17, "line 1");
    refuse(text, length - 1, "line"); /* the last line has no end */
    /* A letter in the place of a digit, in each line. */
    for (line = text; line < text + length; line = strchr(line, '\n') + 1, number++) {
        char *digit = line + 2, kept, word[32];
        while (*digit != ' ' && *digit != '\n')
            digit++;
        digit--;
        kept = *digit;
        *digit = 'x';
        snprintf(word, sizeof word, "line %d", number);
        refuse(text, length, word);
        *digit = kept;
    }
    /* Every byte changed to something else: refused, different, or the same where it says nothing; never worse. */
    for (size_t i = 0; i < length; i++) {
        char kept = text[i];
        selene_status status;
        text[i] = (char)(kept == '1' ? '2' : '1');
        write_file(file_named("bad"), text, length);
        status = selene_trace_replay(file_named("bad"), -1, &decisions, &difference);
        CHECK(status == SELENE_OK || status == SELENE_ERROR_INVALID_ARGUMENT);
        text[i] = kept;
    }
    /* A decision that would be another is told by its line. */
    line = strstr(text, "\nS ");
    CHECK(line != NULL);
    {
        char *value = strchr(strchr(line + 3, ' ') + 1, ' ');
        int until = 1;
        value = strchr(value + 1, ' ');
        CHECK(value && value[1] == '1'); /* user_active 1 */
        value[1] = '0';
        write_file(file_named("other"), text, length);
        CHECK_OK(selene_trace_replay(file_named("other"), -1, &decisions, &difference));
        for (char *at = text; at < line + 1; at++)
            until += *at == '\n';
        CHECK_INT(until + 1, difference);
        CHECK_INT(2, decisions);
    }
    free(text);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G9 a replay decides the same, byte for byte", test_same);
    run_test("G9 a day that was kept, ten times", test_kept);
    run_test("G9 a trace may be replayed by several threads at once", test_replays_at_once);
    run_test("G9 a trace of a driver on its thread, ended by close", test_live_driver);
    run_test("G9 a trace is a new file, one at a time", test_file);
    run_test("G9 a file that cannot be written ends the recording with an event", test_full);
    run_test("G9 a damaged trace is refused by its line", test_damaged);
    return check_end();
}
