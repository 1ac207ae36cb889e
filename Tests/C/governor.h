/*
 * governor.h - what the tests of the governor share: profiles in a line, decisions by value, waiting, folders
 */
#ifndef GOVERNOR_H
#define GOVERNOR_H

#include "cycles.h"

#include <sys/stat.h>

#define MIN SELENE_MINUTE
#ifndef H
#define H SELENE_HOUR
#endif
#define REFRESH SELENE_KIND_REFRESH
#define PROCESSING SELENE_KIND_PROCESSING
#define EACH (REFRESH | PROCESSING)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- profiles ---------------------------------------------------------------- */

CHECK_UNUSED static void set_base(selene_scheduler scheduler, int32_t base) {
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.base = base;
    CHECK_OK(selene_governor_set_profile(scheduler, &profile));
}

CHECK_UNUSED static selene_rule veto_of(int32_t factor, uint32_t kinds, uint32_t flags) {
    return (selene_rule){factor, kinds, SELENE_RULE_VETO, flags, 0, SELENE_REQUIRED_USUAL};
}

/** The profile OPEN with these rows. */
CHECK_UNUSED static void set_rules(selene_scheduler scheduler, const selene_rule *rules,
                                   uint64_t count) {
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.rules = rules;
    profile.rule_count = count;
    CHECK_OK(selene_governor_set_profile(scheduler, &profile));
}

/** The profile OPEN with one veto that stops runs in flight. */
CHECK_UNUSED static void set_stopping(selene_scheduler scheduler, int32_t factor, uint32_t kinds) {
    const selene_rule rule = veto_of(factor, kinds, SELENE_RULE_PREEMPTS);
    set_rules(scheduler, &rule, 1);
}

/** The profile OPEN with quotas, and the vetoes that ask for them. */
CHECK_UNUSED static void set_quotas(selene_scheduler scheduler, const selene_quota *quotas,
                                    uint64_t count) {
    const selene_rule rule = veto_of(SELENE_FACTOR_BUDGET, EACH, 0);
    selene_profile profile = SELENE_INIT(selene_profile);
    profile.rules = &rule;
    profile.rule_count = 1;
    profile.quotas = quotas;
    profile.quota_count = count;
    CHECK_OK(selene_governor_set_profile(scheduler, &profile));
}

/* ---- signals ----------------------------------------------------------------- */

CHECK_UNUSED static void say(selene_scheduler scheduler, int32_t signal, int64_t value) {
    CHECK_OK(selene_signal_set(scheduler, signal, value, 0));
}

CHECK_UNUSED static selene_signal hear(selene_scheduler scheduler, int32_t signal) {
    selene_signal reading = SELENE_INIT(selene_signal);
    CHECK_OK(selene_signal_get(scheduler, signal, &reading));
    CHECK_INT(sizeof reading, reading.struct_size);
    CHECK_INT(0, reading.flags);
    CHECK_INT(0, reading.reserved);
    return reading;
}

/* ---- decisions --------------------------------------------------------------- */

/** A decision whose findings are copied too. */
struct verdict {
    selene_decision decision;
    selene_finding findings[23];
};

CHECK_UNUSED static struct verdict keep(selene_decision *decision) {
    struct verdict verdict;
    memset(&verdict, 0, sizeof verdict);
    verdict.decision = *decision;
    CHECK_INT(sizeof *decision, decision->struct_size);
    CHECK_INT(0, decision->flags);
    CHECK(decision->finding_count <= COUNT(verdict.findings));
    for (uint64_t i = 0; i < decision->finding_count; i++) {
        verdict.findings[i] = decision->findings[i];
        CHECK(i == 0 || decision->findings[i - 1].factor < decision->findings[i].factor);
    }
    selene_free(decision);
    verdict.decision.findings = NULL;
    return verdict;
}

CHECK_UNUSED static struct verdict ask_with(selene_scheduler scheduler, int32_t kind,
                                            uint32_t flags) {
    selene_decision *decision = NULL;
    CHECK_OK(selene_governor_ask(scheduler, kind, flags, &decision));
    CHECK_INT(kind, decision->kind);
    return keep(decision);
}

CHECK_UNUSED static struct verdict ask(selene_scheduler scheduler, int32_t kind) {
    return ask_with(scheduler, kind, 0);
}

CHECK_UNUSED static struct verdict last(selene_scheduler scheduler, int32_t kind) {
    selene_decision *decision = NULL;
    CHECK_OK(selene_governor_last(scheduler, kind, &decision));
    CHECK_INT(kind, decision->kind);
    return keep(decision);
}

/** Whether a window of the kind is granted now. */
CHECK_UNUSED static int granted(selene_scheduler scheduler, int32_t kind) {
    return ask(scheduler, kind).decision.granted;
}

/** What a decision found of a factor, which must be there. */
CHECK_UNUSED static selene_finding finding(const struct verdict *verdict, int32_t factor) {
    for (uint64_t i = 0; i < verdict->decision.finding_count; i++)
        if (verdict->findings[i].factor == factor) return verdict->findings[i];
    fprintf(stderr, "nothing was found of the factor %s\n",
            selene_name(SELENE_NAMES_FACTOR, factor));
    check_fail();
}

CHECK_UNUSED static selene_balance balance(selene_scheduler scheduler, int32_t kind) {
    selene_balance balance = SELENE_INIT(selene_balance);
    CHECK_OK(selene_ledger_get(scheduler, kind, &balance));
    CHECK_INT(sizeof balance, balance.struct_size);
    return balance;
}

/* ---- windows ------------------------------------------------------------------ */

CHECK_UNUSED static selene_window window_for(uint32_t kinds, int64_t budget) {
    selene_window window = window_of(budget, 0, 1);
    window.kinds = kinds;
    return window;
}

/** A once task of a kind with a handler of the same name. */
CHECK_UNUSED static void add_once(selene_scheduler scheduler, const char *id, int32_t kind,
                                  struct work *work) {
    selene_task task = once_of(id);
    task.kind = kind;
    add_handler(scheduler, id, work);
    CHECK_INT(SELENE_DISPOSITION_ADDED, add(scheduler, task));
}

/** An empty pulled window that is open for so long on the host's clock. */
CHECK_UNUSED static void use_window(selene_scheduler scheduler, uint32_t kinds, int64_t budget,
                                    int64_t duration) {
    selene_cycle cycle = begin(scheduler, window_for(kinds, budget));
    advance(duration);
    CHECK_OK(selene_cycle_end(cycle, NULL));
}

/* ---- files -------------------------------------------------------------------- */

CHECK_UNUSED static char governor_folder[64];

CHECK_UNUSED static void remove_folder(void) {
    char command[128];
    if (!governor_folder[0]) return;
    snprintf(command, sizeof command, "rm -rf '%s'", governor_folder);
    CHECK_INT(0, system(command));
}

/** A path in a folder of this test's own, which goes when the test ends. */
CHECK_UNUSED static const char *file_named(const char *name) {
    static char paths[16][128];
    static unsigned next_path;
    char *path = paths[next_path++ % 16];
    if (!governor_folder[0]) {
        check_make_folder(governor_folder, sizeof governor_folder, "governor");
        atexit(remove_folder);
    }
    snprintf(path, sizeof paths[0], "%s/%s", governor_folder, name);
    return path;
}

/** The options of a scheduler on a store and on the host's clock. */
CHECK_UNUSED static selene_options stored_options(const char *file) {
    selene_options options = SELENE_INIT(selene_options);
    options.path = (selene_text){file, -1};
    return options;
}

#endif /* GOVERNOR_H */
