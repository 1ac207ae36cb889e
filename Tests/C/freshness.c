/*
 * freshness.c - the freshness rule: age times a pace that is learnt from cost, news and failures (F1 to F11)
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

static selene_scheduler open_fresh(selene_options options) {
    options.flags |= SELENE_OPTIONS_FRESHNESS;
    options.max_pending_refresh = SELENE_UNLIMITED;
    return open_virtual(options);
}

static selene_scheduler open_plainly_fresh(void) {
    const selene_options options = SELENE_INIT(selene_options);
    return open_fresh(options);
}

static void add_source(selene_scheduler scheduler, const char *id, int64_t expected,
                       uint32_t flags) {
    selene_task task = task_of(id);
    task.handler = SELENE_TEXT("source");
    task.expected_response = none_of(expected);
    task.flags = flags;
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
}

static void add_name(selene_scheduler scheduler) {
    CHECK_OK(selene_handler_register(scheduler, "source", -1, NULL, NULL, NULL, NULL));
}

/** Runs a task alone; it takes this long and ends so. */
static void run_one(selene_scheduler scheduler, const char *id, int64_t takes, int32_t outcome) {
    selene_window window = window_of(H, 0, 1);
    selene_cycle cycle;
    window.task = (selene_text){id, -1};
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    selene_run run = next(cycle, id);
    advance(takes);
    CHECK_OK(selene_run_complete(run, outcome));
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

/** The order in which a window takes all tasks, by the first letters of their ids. */
static const char *order(selene_scheduler scheduler) {
    static char letters[32];
    selene_window window = window_of(10 * MIN, 0, 1);
    selene_plan *plan = NULL;
    CHECK_OK(selene_cycle_plan(scheduler, &window, &plan));
    CHECK(plan->run_count < sizeof letters);
    for (uint64_t i = 0; i < plan->run_count; i++)
        letters[i] = plan->runs[i].id.data[0];
    letters[plan->run_count] = 0;
    selene_free(plan);
    return letters;
}

static void test_switch(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    options.flags = SELENE_OPTIONS_FRESHNESS | SELENE_OPTIONS_OBSERVED_RANGE;
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_scheduler_open(&options, &scheduler));
    CHECK(strstr(selene_error_last()->message.data, "flags") != NULL);
    /* Without it there is no pace to tell. */
    scheduler = open_plain();
    add_name(scheduler);
    add_source(scheduler, "a", S, 0);
    CHECK_INT(0, explain(scheduler, "a").pace);
    CHECK_INT(0, explain(scheduler, "a").fresh_since);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Four times the cost is half the pace; what is unknown costs at most 5 s. */
static void test_cost(void) {
    selene_scheduler scheduler = open_plainly_fresh();
    selene_explanation told;
    add_name(scheduler);
    add_source(scheduler, "dear", 4 * S, 0);
    add_source(scheduler, "cheap", S, 0);
    add_source(scheduler, "unknown", 10 * MIN, 0);
    advance(MIN);
    CHECK_STRING("cd", order(scheduler));
    told = explain(scheduler, "cheap");
    CHECK_INT(S, told.cost);
    CHECK_INT(START, told.fresh_since);
    CHECK_INT(0, told.known_runs);
    CHECK_INT(1, told.rank);
    CHECK(told.score == 1.0);
    CHECK_BETWEEN(1900, 1000 * told.pace / explain(scheduler, "dear").pace, 2100);
    CHECK_INT(5 * S, explain(scheduler, "unknown").cost);
    CHECK_INT(10 * MIN, explain(scheduler, "unknown").estimate);
    CHECK_INT(1000, explain(scheduler, "unknown").pace);
    /* What was learnt counts from then on: the mean of its last runs, and what four of five stayed within. */
    for (int i = 0; i < 5; i++)
        run_one(scheduler, "unknown", i == 2 ? 20 * S : S, SELENE_OUTCOME_NEW_DATA);
    CHECK_INT(24 * S / 5, explain(scheduler, "unknown").cost);
    CHECK_INT(20 * S, explain(scheduler, "unknown").estimate);
    for (int i = 0; i < 4; i++)
        run_one(scheduler, "unknown", 2 * S, SELENE_OUTCOME_NEW_DATA);
    CHECK_INT(2 * S, explain(scheduler, "unknown").estimate);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A source that mostly has nothing new is asked less often, but for one that is steady; nothing starves. */
static void test_news(void) {
    selene_scheduler scheduler = open_plainly_fresh();
    selene_explanation told;
    add_name(scheduler);
    add_source(scheduler, "quiet", S, 0);
    add_source(scheduler, "news", S, 0);
    add_source(scheduler, "steady", S, SELENE_TASK_STEADY);
    for (int i = 0; i < 20; i++) {
        run_one(scheduler, "quiet", S, i % 16 ? SELENE_OUTCOME_NO_DATA : SELENE_OUTCOME_NEW_DATA);
        run_one(scheduler, "news", S, SELENE_OUTCOME_NEW_DATA);
        run_one(scheduler, "steady", S, SELENE_OUTCOME_NO_DATA);
    }
    told = explain(scheduler, "quiet");
    CHECK_INT(16, told.known_runs);
    CHECK_INT(1, told.news_runs);
    CHECK_INT(16, explain(scheduler, "news").news_runs);
    CHECK_INT(0, explain(scheduler, "steady").known_runs);
    CHECK_INT(explain(scheduler, "news").pace, explain(scheduler, "steady").pace);
    /* Two of seventeen against all of them: a third of the pace. */
    CHECK_BETWEEN(300, 1000 * told.pace / explain(scheduler, "news").pace, 420);
    advance(MIN);
    CHECK_STRING("nsq", order(scheduler));
    /* Asked less often, not never. */
    run_one(scheduler, "news", S, SELENE_OUTCOME_NEW_DATA);
    run_one(scheduler, "steady", S, SELENE_OUTCOME_NO_DATA);
    advance(MIN / 4);
    CHECK(order(scheduler)[0] == 'q');
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* A failure makes a task a quarter younger, and each in a row slows it. */
static void test_failure(void) {
    selene_scheduler scheduler = open_plainly_fresh();
    selene_explanation told;
    int64_t pace;
    add_name(scheduler);
    add_source(scheduler, "broken", S, 0);
    pace = explain(scheduler, "broken").pace;
    advance(99 * S);
    run_one(scheduler, "broken", S, SELENE_OUTCOME_FAILED);
    told = explain(scheduler, "broken");
    CHECK_INT(START + 25 * S, told.fresh_since);
    CHECK_INT(1, told.known_runs);
    CHECK(told.pace < pace);
    run_one(scheduler, "broken", S, SELENE_OUTCOME_NEW_DATA);
    CHECK_INT(atomic_load(&clock_now), explain(scheduler, "broken").fresh_since);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* What was learnt is kept; a store of another rule begins with the last run, and nothing known. */
static void test_store(void) {
    selene_options options = stored_options(file_named("store"));
    selene_explanation before, after;
    selene_scheduler scheduler = open_fresh(options);
    add_name(scheduler);
    add_source(scheduler, "quiet", S, SELENE_TASK_STEADY);
    add_source(scheduler, "other", S, 0);
    run_one(scheduler, "quiet", S, SELENE_OUTCOME_NO_DATA);
    run_one(scheduler, "other", 3 * S, SELENE_OUTCOME_NEW_DATA);
    run_one(scheduler, "other", 3 * S, SELENE_OUTCOME_NO_DATA);
    advance(MIN);
    run_one(scheduler, "other", 3 * S, SELENE_OUTCOME_FAILED);
    before = explain(scheduler, "other");
    CHECK_INT(3, before.known_runs);
    CHECK_INT(1, before.news_runs);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_fresh(options);
    add_name(scheduler);
    after = explain(scheduler, "other");
    CHECK_INT(before.fresh_since, after.fresh_since);
    CHECK_INT(before.known_runs, after.known_runs);
    CHECK_INT(before.news_runs, after.news_runs);
    CHECK_INT(before.cost, after.cost);
    CHECK_INT(before.pace, after.pace);
    CHECK_INT(0, explain(scheduler, "quiet").known_runs);
    CHECK_INT(SELENE_TASK_STEADY, record(scheduler, "quiet").flags);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* By the other rule and back. */
    options.max_pending_refresh = SELENE_UNLIMITED;
    scheduler = open_virtual(options);
    add_name(scheduler);
    run_one(scheduler, "other", 3 * S, SELENE_OUTCOME_NEW_DATA);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    scheduler = open_fresh(options);
    add_name(scheduler);
    CHECK_INT(0, explain(scheduler, "other").known_runs);
    CHECK_INT(record(scheduler, "other").last_run, explain(scheduler, "other").fresh_since);
    CHECK_INT(3 * S, explain(scheduler, "other").cost);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* The last event of each type. */
static void keep_event(const selene_event *event, void *context) {
    selene_event *last = context;
    if (event->type <= SELENE_EVENT_RETRY) last[event->type] = *event;
}

/* A window of a run that takes 3 s; what its report says is left to the caller. */
static selene_report *run_window(selene_scheduler scheduler, int32_t outcome) {
    selene_window window = window_of(MIN, 0, 1);
    selene_report *report = NULL;
    selene_cycle cycle;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    selene_run run = next(cycle, "source");
    advance(3 * S);
    CHECK_OK(selene_run_complete(run, outcome));
    CHECK_OK(selene_cycle_end(cycle, &report));
    CHECK_INT(1, report->run_count);
    return report;
}

/* A run is told with what its turn followed from, its end with what follows now. */
static void test_told(void) {
    selene_scheduler scheduler = open_plainly_fresh();
    selene_event told[SELENE_EVENT_RETRY + 1] = {0};
    selene_explanation before, after;
    selene_report *report;
    CHECK_OK(selene_scheduler_observe(scheduler, keep_event, told, NULL));
    add_name(scheduler);
    add_source(scheduler, "source", S, 0);
    CHECK_INT(explain(scheduler, "source").pace, told[SELENE_EVENT_REGISTERED].pace);
    run_one(scheduler, "source", 3 * S, SELENE_OUTCOME_NO_DATA);
    advance(MIN);
    before = explain(scheduler, "source");
    report = run_window(scheduler, SELENE_OUTCOME_FAILED);
    after = explain(scheduler, "source");
    CHECK(report->paces != NULL);
    CHECK_INT(0, before.attempts);
    CHECK_INT(1, after.attempts);
    CHECK_INT(before.fresh_since, report->paces[0].fresh_since);
    CHECK_INT(before.cost, report->paces[0].cost);
    CHECK_INT(1, report->paces[0].known_runs);
    CHECK_INT(0, report->paces[0].news_runs);
    CHECK_INT(before.pace, report->paces[0].pace);
    CHECK_INT(before.pace_class, report->paces[0].pace_class);
    /* The attempt that has begun is none that failed. */
    CHECK_INT(before.pace, told[SELENE_EVENT_STARTED].pace);
    CHECK_INT(before.fresh_since, told[SELENE_EVENT_STARTED].fresh_since);
    CHECK_INT(after.pace, told[SELENE_EVENT_COMPLETED].pace);
    CHECK_INT(after.pace_class, told[SELENE_EVENT_COMPLETED].pace_class);
    CHECK_INT(after.fresh_since, told[SELENE_EVENT_COMPLETED].fresh_since);
    CHECK_INT(after.cost, told[SELENE_EVENT_COMPLETED].cost);
    CHECK_INT(2, told[SELENE_EVENT_COMPLETED].known_runs);
    CHECK_INT(0, told[SELENE_EVENT_COMPLETED].news_runs);
    CHECK(before.pace_class < after.pace_class);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    /* Without the rule nothing is told. */
    scheduler = open_plain();
    CHECK_OK(selene_scheduler_observe(scheduler, keep_event, told, NULL));
    add_name(scheduler);
    add_source(scheduler, "source", S, 0);
    report = run_window(scheduler, SELENE_OUTCOME_NEW_DATA);
    CHECK(report->paces == NULL);
    CHECK_INT(0, told[SELENE_EVENT_STARTED].pace);
    CHECK_INT(0, told[SELENE_EVENT_COMPLETED].fresh_since);
    selene_free(report);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("F1 the freshness rule is chosen at open, and not together with the observed range",
             test_switch);
    run_test("F4 F5 F6 what takes four times the time has half the pace", test_cost);
    run_test("F3 F9 a source without news is asked less often, a steady one is not", test_news);
    run_test("F2 F6 a failure makes a task a quarter younger and slower", test_failure);
    run_test("F10 events and reports tell what the turn of a run followed from", test_told);
    run_test("F11 what was learnt is kept in the store", test_store);
    return check_end();
}
