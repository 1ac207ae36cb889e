/*
 * conditions - what decisions cost with the sets of conditions and of constraints that tasks ask for, and what one costs that
 * flips (W1, W2)
 *
 * Registers tasks, which ask for up to 64 different sets of six conditions of the host, then of six constraints, all of them
 * satisfied, and pulls windows of 64
 * lanes. Numbers are the medians of many: a begin with its end; a decision, which is a `next` and the `complete` of the run
 * that has been under way for longest; and a condition that is lost and met again while nothing needs it at work. In a
 * rolling window each pick looks anew.
 *
 * Arguments: numbers of tasks (10000 1000000). A row for each and 1, 2, 16 and 64 sets.
 */
#include "decisions.h"

static const char *const names[] = {"signed-in", "vpn", "disk", "camera", "window", "idle"};

static selene_scheduler filled(unsigned tasks, unsigned sets, int constraints) {
    selene_scheduler scheduler = open_for_work();
    /* Nothing is read of the system, which is another cost. */
    stop_if(selene_conditions_set(scheduler, 255, 255), "constraints");
    for (int i = 0; i < 6; i++) {
        stop_if(selene_condition_define(scheduler, names[i], -1), "define");
        stop_if(selene_condition_set(scheduler, names[i], -1, 1), "set");
    }
    for (unsigned i = 0; i < tasks; i++) {
        selene_task task = SELENE_INIT(selene_task);
        selene_text asked[6];
        char id[32];
        task.id = (selene_text){id, snprintf(id, sizeof id, "task-%011u", i)};
        task.schedule = SELENE_SCHEDULE_STANDING;
        task.handler = SELENE_TEXT("work");
        task.priority = (int32_t)(1 + i % 5);
        task.expected_response = SELENE_NONE;
        task.conditions = asked;
        if (constraints) task.constraints = i % sets * FIRST_CONSTRAINT;
        for (unsigned bit = 0; bit < 6 && !constraints; bit++)
            if (i % sets >> bit & 1) asked[task.condition_count++] = (selene_text){names[bit], -1};
        stop_if(selene_task_register(scheduler, &task, NULL), "register");
    }
    return scheduler;
}

static double flips(selene_scheduler scheduler, int constraints) {
    for (int i = 0; i < RUNS; i++) {
        const int64_t begun = now();
        if (constraints) {
            stop_if(selene_signal_set(scheduler, SELENE_SIGNAL_METERED, 1, 0), "lose");
            stop_if(selene_signal_set(scheduler, SELENE_SIGNAL_METERED, 0, 0), "meet");
        } else {
            stop_if(selene_condition_set(scheduler, "signed-in", -1, 0), "lose");
            stop_if(selene_condition_set(scheduler, "signed-in", -1, 1), "meet");
        }
        samples[i] = since(begun);
    }
    return median(RUNS);
}

int main(int count, char **arguments) {
    static const unsigned sets[] = {1, 2, 16, 64}, usual[] = {10000, 1000000};
    const int rows = count > 1 ? count - 1 : 2;
    printf("%9s %6s %-11s %12s %12s %20s %14s   (µs)\n", "tasks", "sets", "of", "begin, end",
           "decision", "decision, rolling", "lost and met");
    for (int row = 0; row < 2 * rows; row++) {
        const int constraints = row >= rows;
        const unsigned tasks =
            count > 1 ? (unsigned)atoi(arguments[row % rows + 1]) : usual[row % rows];
        for (int i = 0; i < 4; i++) {
            selene_scheduler scheduler = filled(tasks, sets[i], constraints);
            const double begin = begins(scheduler),
                         frozen = decisions(scheduler, LANES - 1, SELENE_WINDOW_FROZEN);
            const double rolling = decisions(scheduler, LANES - 1, 0);
            printf("%9u %6u %-11s %12.2f %12.2f %20.2f %14.2f\n", tasks, sets[i],
                   constraints ? "constraints" : "conditions", begin, frozen, rolling,
                   flips(scheduler, constraints));
            stop_if(selene_scheduler_close(scheduler, 0), "close");
        }
    }
    return 0;
}
