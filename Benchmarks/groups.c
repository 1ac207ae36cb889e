/*
 * groups - what decisions cost with the groups in use, each of which may have one run at a time, and with the sets of
 * constraints that their tasks ask for besides (W1, W3)
 *
 * Registers tasks, every one in a group, of each group as many with each set, all satisfied, and pulls windows of 64 lanes: of each group one run is under way while there are
 * lanes, so all others are full. Numbers are the medians of many: a begin with its end, and a decision, which is a `next`
 * and the `complete` of the run that has been under way for longest. In a rolling window each pick looks anew.
 *
 * Arguments: numbers of tasks (10000 1000000). A row for each, 0, 1, 16 and 256 groups, and 1 and 64 sets.
 */
#include "decisions.h"

static selene_scheduler filled(unsigned tasks, unsigned groups, unsigned sets) {
    selene_scheduler scheduler = open_for_work();
    /* Nothing is read of the system, which is another cost. */
    stop_if(selene_conditions_set(scheduler, 255, 255), "constraints");
    for (unsigned i = 0; i < tasks; i++) {
        selene_task task = SELENE_INIT(selene_task);
        char id[32], group[32];
        task.id = (selene_text){id, snprintf(id, sizeof id, "task-%011u", i)};
        task.schedule = SELENE_SCHEDULE_STANDING;
        task.handler = SELENE_TEXT("work");
        task.priority = (int32_t)(1 + i % 5);
        task.expected_response = SELENE_NONE;
        task.constraints = i / (groups ? groups : 1) % sets * FIRST_CONSTRAINT;
        if (groups) {
            task.group =
                (selene_text){group, snprintf(group, sizeof group, "group %u", i % groups)};
            if (i < groups) stop_if(selene_group_set_limit(scheduler, group, -1, 1), "limit");
        }
        stop_if(selene_task_register(scheduler, &task, NULL), "register");
    }
    return scheduler;
}

int main(int count, char **arguments) {
    static const unsigned groups[] = {0, 1, 16, 256}, usual[] = {10000, 1000000};
    printf("%9s %7s %5s %12s %14s %22s   (µs)\n", "tasks", "groups", "sets", "begin, end",
           "decision", "decision, rolling");
    for (int row = 0; row < (count > 1 ? count - 1 : 2); row++) {
        const unsigned tasks = count > 1 ? (unsigned)atoi(arguments[row + 1]) : usual[row];
        for (int i = 0; i < 8; i++) {
            const unsigned in_use = groups[i % 4], sets = i < 4 ? 1 : 64;
            selene_scheduler scheduler = filled(tasks, in_use, sets);
            /* As many as their groups let run, or nearly all lanes. */
            const size_t wanted = in_use && in_use < LANES ? in_use : LANES - 1;
            const double begin = begins(scheduler),
                         frozen = decisions(scheduler, wanted, SELENE_WINDOW_FROZEN);
            printf("%9u %7u %5u %12.2f %14.2f %22.2f\n", tasks, in_use, sets, begin, frozen,
                   decisions(scheduler, wanted, 0));
            stop_if(selene_scheduler_close(scheduler, 0), "close");
        }
    }
    return 0;
}
