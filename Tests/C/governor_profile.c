/*
 * governor_profile.c - what a profile may say, what it decides, and how the decision is told: asked for, as an event, and
 * as a reason of a task
 *
 * Argument: the filter of check.h.
 */
#include "governor.h"

static const selene_rule good_rule = {SELENE_FACTOR_THERMAL, EACH, SELENE_RULE_VETO,
                                      SELENE_RULE_PREEMPTS,  0,    2};
static const selene_quota good_quota = {REFRESH, SELENE_MEASURE_WINDOW_TIME, MIN, H};

/** The decisions about both kinds under a profile that must stay as it is. */
static struct verdict standing[2];

static void note_standing(selene_scheduler scheduler) {
    standing[0] = ask(scheduler, REFRESH);
    standing[1] = ask(scheduler, PROCESSING);
}

static void check_standing(selene_scheduler scheduler) {
    struct verdict now[2] = {ask(scheduler, REFRESH), ask(scheduler, PROCESSING)};
    CHECK(memcmp(standing, now, sizeof now) == 0);
}

static void refuse(selene_scheduler scheduler, const selene_profile *profile, const char *word) {
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT, selene_governor_set_profile(scheduler, profile));
    if (!strstr(selene_error_last()->message.data, word)) {
        fprintf(stderr, "\"%s\" does not name %s\n", selene_error_last()->message.data, word);
        check_fail();
    }
    check_standing(scheduler);
}

static void refuse_rule(selene_scheduler scheduler, selene_rule bad, const char *word) {
    const selene_rule rules[] = {good_rule, bad, good_rule};
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.rules = rules;
    profile.rule_count = COUNT(rules);
    refuse(scheduler, &profile, word);
}

static void refuse_quota(selene_scheduler scheduler, selene_quota bad, const char *word) {
    const selene_quota quotas[] = {good_quota, bad};
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.quotas = quotas;
    profile.quota_count = COUNT(quotas);
    refuse(scheduler, &profile, word);
}

#define BAD(kind, base, member, value, word)                                                       \
    do {                                                                                           \
        kind bad = base;                                                                           \
        bad.member = (value);                                                                      \
        _Generic(bad, selene_rule                                                                  \
                 : refuse_rule, selene_quota                                                       \
                 : refuse_quota)(scheduler, bad, word);                                            \
    } while (0)

static void test_refused(void) {
    selene_scheduler scheduler = open_plain();
    selene_profile profile = SELENE_INIT(selene_profile);
    selene_rule weight = good_rule;
    set_base(scheduler, SELENE_PROFILE_STRICT);
    note_standing(scheduler);
    CHECK_INT(0, standing[1].decision.flags);

    for (int32_t base = -1; base <= 4; base += 5) {
        profile.base = base;
        refuse(scheduler, &profile, "base");
    }
    profile = (selene_profile)SELENE_INIT(selene_profile);
    profile.threshold = 1001;
    refuse(scheduler, &profile, "threshold");
    profile.threshold = -2;
    refuse(scheduler, &profile, "threshold");
    profile = (selene_profile)SELENE_INIT(selene_profile);
    profile.rule_count = 1;
    refuse(scheduler, &profile, "rules");
    profile.rules = &good_rule;
    profile.rule_count = UINT64_MAX;
    refuse(scheduler, &profile, "rule_count");
    profile = (selene_profile)SELENE_INIT(selene_profile);
    profile.quota_count = 1;
    refuse(scheduler, &profile, "quotas");
    profile.quotas = &good_quota;
    profile.quota_count = UINT64_C(1) << 61;
    refuse(scheduler, &profile, "quota_count");
    profile = (selene_profile)SELENE_INIT(selene_profile);
    profile.flags = 1;
    refuse(scheduler, &profile, "flags");

    BAD(selene_rule, good_rule, factor, 0, "factor");
    BAD(selene_rule, good_rule, factor, 24, "factor");
    BAD(selene_rule, good_rule, factor, -1, "factor");
    BAD(selene_rule, good_rule, factor, 256 + SELENE_FACTOR_THERMAL, "factor");
    BAD(selene_rule, good_rule, kinds, 0, "kinds");
    BAD(selene_rule, good_rule, kinds, 4, "kinds");
    BAD(selene_rule, good_rule, kinds, UINT32_MAX, "kinds");
    BAD(selene_rule, good_rule, mode, 3, "mode");
    BAD(selene_rule, good_rule, mode, -1, "mode");
    BAD(selene_rule, good_rule, flags, 2, "flags");
    BAD(selene_rule, good_rule, flags, UINT32_MAX, "flags");
    BAD(selene_rule, good_rule, required, -1, "required");
    BAD(selene_rule, good_rule, required, 4, "required"); /* thermal ends at 3 */
    BAD(selene_rule, good_rule, required, INT64_MAX, "required");
    /* Only a veto of a signal stops runs. */
    BAD(selene_rule, good_rule, factor, SELENE_FACTOR_BUDGET, "flags");
    weight.mode = SELENE_RULE_WEIGHT;
    weight.flags = 0;
    weight.weight = 1;
    BAD(selene_rule, weight, weight, 0, "weight");
    BAD(selene_rule, weight, weight, 1001, "weight");
    BAD(selene_rule, weight, weight, INT64_MIN, "weight");
    BAD(selene_rule, weight, flags, SELENE_RULE_PREEMPTS, "flags");
    weight = veto_of(SELENE_FACTOR_RATE, EACH, SELENE_RULE_PREEMPTS);
    BAD(selene_rule, weight, kinds, EACH, "flags");

    BAD(selene_quota, good_quota, kinds, 0, "kinds");
    BAD(selene_quota, good_quota, kinds, 8, "kinds");
    BAD(selene_quota, good_quota, measure, 0, "measure");
    BAD(selene_quota, good_quota, measure, 5, "measure");
    BAD(selene_quota, good_quota, limit, 0, "limit");
    BAD(selene_quota, good_quota, limit, INT64_MIN, "limit");
    BAD(selene_quota, good_quota, period, S - 1, "period");
    BAD(selene_quota, good_quota, period, SELENE_DAY + 1, "period");
    {
        const selene_quota five[] = {good_quota, good_quota, good_quota, good_quota, good_quota};
        profile = (selene_profile)SELENE_INIT(selene_profile);
        profile.quotas = five;
        profile.quota_count = 5;
        refuse(scheduler, &profile, "quotas");
        profile.quota_count = 4;
        CHECK_OK(selene_governor_set_profile(scheduler, &profile));
    }
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_open(void) {
    selene_scheduler scheduler = open_plain();
    for (size_t signal = 1; signal <= 20; signal++)
        say(scheduler, (int32_t)signal, signal == SELENE_SIGNAL_BATTERY_LEVEL ? 0 : 1);
    for (int32_t kind = REFRESH; kind <= PROCESSING; kind++) {
        struct verdict verdict = ask(scheduler, kind);
        CHECK_INT(1, verdict.decision.granted);
        CHECK_INT(clock_now, verdict.decision.at);
        CHECK_INT(clock_now, verdict.decision.ask_again_at);
        CHECK_INT(1000, verdict.decision.score);
        CHECK_INT(SELENE_NEVER, verdict.decision.longest_window);
        CHECK_INT(0, verdict.decision.finding_count);
    }
    /* NULL is OPEN, too. */
    set_base(scheduler, SELENE_PROFILE_STRICT);
    CHECK_INT(0, granted(scheduler, PROCESSING));
    CHECK_OK(selene_governor_set_profile(scheduler, NULL));
    CHECK_INT(1, granted(scheduler, PROCESSING));
    /* It books nothing. */
    use_window(scheduler, EACH, MIN, MIN);
    CHECK_INT(SELENE_NEVER, balance(scheduler, REFRESH).last_begin);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Apple's table, row by row: what each signal does to each kind. */
static void test_apple(void) {
    static const struct {
        int32_t signal;
        int64_t value, clear;
        int32_t factor, refresh, processing;
    } rows[] = {
        {SELENE_SIGNAL_LOW_POWER_MODE, 1, 0, SELENE_FACTOR_LOW_POWER_MODE, 0, 1},
        {SELENE_SIGNAL_USER_ACTIVE, 1, 0, SELENE_FACTOR_USER_ACTIVE, 1, 0},
        {SELENE_SIGNAL_UNLOCKED, 0, 1, SELENE_FACTOR_UNLOCKED, 0, 0},
        {SELENE_SIGNAL_BACKGROUND_SWITCH, 0, 1, SELENE_FACTOR_BACKGROUND_SWITCH, 0, 0},
        {SELENE_SIGNAL_HOST_PRESENCE, SELENE_PRESENCE_QUIT, 1, SELENE_FACTOR_HOST_PRESENCE, 0, 0},
        {SELENE_SIGNAL_THERMAL, 3, 0, 0, 1, 1},
        {SELENE_SIGNAL_CPU_BUSY, 1000, 0, 0, 1, 1},
        {SELENE_SIGNAL_METERED, 1, 0, 0, 1, 1},
    };
    selene_scheduler scheduler = open_plain();
    struct verdict verdict;
    selene_finding found;
    set_base(scheduler, SELENE_PROFILE_APPLE);
    CHECK_INT(1, granted(scheduler, REFRESH));
    CHECK_INT(1, granted(scheduler, PROCESSING));
    for (size_t i = 0; i < COUNT(rows); i++) {
        say(scheduler, rows[i].signal, rows[i].value);
        verdict = ask(scheduler, REFRESH);
        CHECK_INT(rows[i].refresh, verdict.decision.granted);
        if (!rows[i].refresh) {
            found = finding(&verdict, rows[i].factor);
            CHECK_INT(SELENE_VERDICT_VETOED, found.verdict);
            CHECK_INT(SELENE_SOURCE_HOST, found.source);
            CHECK_INT(SELENE_RULE_PREEMPTS, found.flags);
            CHECK_INT(rows[i].value, found.observed);
            CHECK_INT(SELENE_NEVER, found.clears_at);
            CHECK_INT(SELENE_NEVER, verdict.decision.ask_again_at);
        }
        CHECK_INT(rows[i].processing, granted(scheduler, PROCESSING));
        say(scheduler, rows[i].signal, rows[i].clear);
        CHECK_INT(1, granted(scheduler, REFRESH));
        CHECK_INT(1, granted(scheduler, PROCESSING));
    }
    /* The battery speaks only while it is emptied. */
    say(scheduler, SELENE_SIGNAL_BATTERY_LEVEL, 199);
    CHECK_INT(1, granted(scheduler, REFRESH));
    say(scheduler, SELENE_SIGNAL_DISCHARGING, 1);
    CHECK_INT(0, granted(scheduler, REFRESH));
    CHECK_INT(1, granted(scheduler, PROCESSING));
    say(scheduler, SELENE_SIGNAL_BATTERY_LEVEL, 200);
    CHECK_INT(1, granted(scheduler, REFRESH));
    /* The rate: 15 min from begin to begin of each kind. */
    use_window(scheduler, REFRESH, MIN, S);
    verdict = ask(scheduler, REFRESH);
    CHECK_INT(0, verdict.decision.granted);
    CHECK_INT(clock_now - S + 15 * MIN, verdict.decision.ask_again_at);
    found = finding(&verdict, SELENE_FACTOR_RATE);
    CHECK_INT(SELENE_SOURCE_BOOKS, found.source);
    CHECK_INT(S, found.observed);
    CHECK_INT(15 * MIN, found.required);
    CHECK_INT(1, granted(scheduler, PROCESSING));
    advance(verdict.decision.ask_again_at - clock_now - 1);
    CHECK_INT(0, granted(scheduler, REFRESH));
    advance(1);
    CHECK_INT(1, granted(scheduler, REFRESH));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* Weights, the threshold, and the last row for a cell. */
static void test_weights(void) {
    selene_scheduler scheduler = open_plain();
    const selene_rule rules[] = {
        {SELENE_FACTOR_CPU_BUSY, EACH, SELENE_RULE_VETO, 0, 0, 1},
        {SELENE_FACTOR_CPU_BUSY, EACH, SELENE_RULE_WEIGHT, 0, 300, 500},
        {SELENE_FACTOR_METERED, EACH, SELENE_RULE_WEIGHT, 0, 100, SELENE_REQUIRED_USUAL},
        {SELENE_FACTOR_METERED, PROCESSING, SELENE_RULE_IGNORE, 0, 0, 0},
    };
    selene_profile profile = SELENE_INIT(selene_profile);
    struct verdict verdict;
    profile.rules = rules;
    profile.rule_count = COUNT(rules);
    profile.threshold = 625;
    CHECK_OK(selene_governor_set_profile(scheduler, &profile));
    say(scheduler, SELENE_SIGNAL_CPU_BUSY, 500); /* as required: 500 */
    verdict = ask(scheduler, REFRESH);
    CHECK_INT(2, verdict.decision.finding_count);
    CHECK_INT(625, verdict.decision.threshold);
    CHECK_INT((300 * 500 + 100 * 1000) / 400, verdict.decision.score);
    CHECK_INT(1, verdict.decision.granted);
    CHECK_INT(SELENE_VERDICT_WEIGHED, finding(&verdict, SELENE_FACTOR_CPU_BUSY).verdict);
    CHECK_INT(500, finding(&verdict, SELENE_FACTOR_CPU_BUSY).score);
    CHECK_INT(300, finding(&verdict, SELENE_FACTOR_CPU_BUSY).weight);
    CHECK_INT(SELENE_SOURCE_UNKNOWN, finding(&verdict, SELENE_FACTOR_METERED).source);
    say(scheduler, SELENE_SIGNAL_CPU_BUSY, 501);
    CHECK_INT(0, granted(scheduler, REFRESH));
    verdict = ask(scheduler, PROCESSING);
    CHECK_INT(1, verdict.decision.finding_count);
    CHECK_INT(0, verdict.decision.granted);
    CHECK_INT(SELENE_NEVER, verdict.decision.ask_again_at);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

static void test_last_and_events(void) {
    selene_scheduler scheduler = open_plain();
    struct work work = {.behaviour = COMPLETE};
    selene_decision *decision = (selene_decision *)&work;
    struct verdict asked, told;
    selene_explanation explanation;
    int at;
    observe(scheduler);
    set_base(scheduler, SELENE_PROFILE_APPLE);
    add_once(scheduler, "a", PROCESSING, &work);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_governor_last(scheduler, PROCESSING, &decision));
    CHECK((void *)decision == (void *)&work);
    CHECK_INT(0, explain(scheduler, "a").reason_count);
    say(scheduler, SELENE_SIGNAL_HOST_PRESENCE, SELENE_PRESENCE_QUIT);
    CHECK_INT(0, explain(scheduler, "a").reason_count); /* nobody asked yet */
    asked = ask(scheduler, PROCESSING);
    told = last(scheduler, PROCESSING);
    CHECK(memcmp(&asked, &told, sizeof asked) == 0);
    CHECK_STATUS(SELENE_ERROR_NOT_FOUND, selene_governor_last(scheduler, REFRESH, &decision));
    at = atomic_load(&noted_count) - 1;
    CHECK_INT(SELENE_EVENT_REFUSED, noted[at].event.type);
    CHECK_INT(SELENE_FACTOR_HOST_PRESENCE, noted[at].event.detail);
    CHECK_INT(PROCESSING, noted[at].event.kinds);
    CHECK_INT(SELENE_NEVER, noted[at].event.time_at);
    CHECK_INT(-1, noted[at].event.state);
    CHECK_INT(0, noted[at].event.status);
    CHECK_INT(0, noted[at].event.id.length);
    /* The reason, of tasks of that kind only. */
    explanation = explain(scheduler, "a");
    CHECK_INT(1, explanation.reason_count);
    CHECK_INT(SELENE_REASON_GOVERNOR, explanation.reasons[0].reason);
    CHECK_INT(SELENE_NEVER, explanation.reasons[0].may_change_at);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task_of("refreshing")));
    CHECK_INT(0, why(scheduler, "refreshing", SELENE_REASON_GOVERNOR).reason);
    /* The host's own window does not ask, and it ends the reason. */
    advance(1);
    CHECK_INT(1, pull(scheduler, window_for(PROCESSING, MIN), SELENE_OUTCOME_FAILED));
    CHECK_INT(0, why(scheduler, "a", SELENE_REASON_GOVERNOR).reason);
    /* Refused twice it is two events; granted another. The rate says when. */
    say(scheduler, SELENE_SIGNAL_HOST_PRESENCE, SELENE_PRESENCE_BACKGROUND);
    ask(scheduler, PROCESSING);
    ask(scheduler, PROCESSING);
    CHECK_INT(3, count_events(0, SELENE_EVENT_REFUSED, -1));
    CHECK_INT(2, count_events(0, SELENE_EVENT_REFUSED, SELENE_FACTOR_RATE));
    at = atomic_load(&noted_count) - 1;
    CHECK_INT(START + 1 + 15 * MIN, noted[at].event.time_at);
    CHECK_INT(START + 1 + 15 * MIN, why(scheduler, "a", SELENE_REASON_GOVERNOR).may_change_at);
    CHECK_INT(0, count_events(0, SELENE_EVENT_GRANTED, -1));
    advance(15 * MIN);
    CHECK_INT(1, granted(scheduler, PROCESSING));
    CHECK_INT(1, count_events(0, SELENE_EVENT_GRANTED, 0));
    CHECK_INT(0, why(scheduler, "a", SELENE_REASON_GOVERNOR).reason);
    CHECK_OK(selene_scheduler_close(scheduler, 0));
    selene_free(NULL);
}

static void test_ask_refused(void) {
    static const int32_t strangers[] = {0, 3, 4, -1, 256 + 1, INT32_MIN};
    selene_scheduler scheduler = open_plain();
    selene_decision *decision = NULL;
    observe(scheduler);
    for (size_t i = 0; i < COUNT(strangers); i++) {
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_governor_ask(scheduler, strangers[i], 0, &decision));
        CHECK(strstr(selene_error_last()->message.data, "kind") != NULL);
        CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                     selene_governor_last(scheduler, strangers[i], &decision));
    }
    CHECK_STATUS(SELENE_ERROR_INVALID_ARGUMENT,
                 selene_governor_ask(scheduler, REFRESH, 2, &decision));
    CHECK(strstr(selene_error_last()->message.data, "flags") != NULL);
    CHECK(decision == NULL);
    CHECK_INT(0, atomic_load(&noted_count));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("G2 each bad field of a profile is refused by its name, and nothing changes",
             test_refused);
    run_test("G2 the profile open grants everything and books nothing", test_open);
    run_test("G2 the profile apple, row by row", test_apple);
    run_test("G3 weights reach the threshold or not, and the last row for a cell wins",
             test_weights);
    run_test("G3 a decision can be read again, is an event, and a reason of its kind's tasks",
             test_last_and_events);
    run_test("G3 a kind or a flag that does not exist is refused", test_ask_refused);
    return check_end();
}
