/*
 * Reads a workload from its standard input, plays it on a clock of its own and prints every decision: the twin of
 * test_same_as_c.py.
 *
 *   register ID KIND SCHEDULE PRIORITY EXPECTED DELAY PERIOD BACKOFF MAX_ATTEMPTS   (times in ns)
 *   advance NS
 *   cycle KINDS BUDGET STRICT
 */
#include <inttypes.h>
#include <selene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t now = INT64_C(1700000000) * SELENE_SECOND;

static int64_t read_clock(void *context) {
    (void)context;
    return now;
}

static void cycle(selene_scheduler scheduler, uint32_t kinds, int64_t budget, uint32_t strict) {
    selene_window window = SELENE_INIT(selene_window);
    selene_cycle token = 0;
    selene_report *report = NULL;
    window.kinds = kinds;
    window.budget = budget;
    window.flags = SELENE_WINDOW_FROZEN | (strict ? SELENE_WINDOW_STRICT_FIT : 0);
    if (selene_cycle_begin(scheduler, &window, &token)) exit(2);
    for (;;) {
        selene_run_info run = SELENE_INIT(selene_run_info);
        int32_t step = 0;
        int64_t takes;
        if (selene_cycle_next(token, &step, &run, NULL)) exit(3);
        if (step != SELENE_STEP_RUN) break;
        takes =
            (run.started_at / 1000 % 1000003 * 7919000 + run.priority * 104729 + run.attempt * 13) %
            (4 * SELENE_SECOND);
        if (takes > run.deadline - now) {
            now = run.deadline;
            if (selene_cycle_end(token, &report)) exit(4);
            selene_run_complete(run.run, SELENE_OUTCOME_FAILED);
            break;
        }
        now += takes;
        if (selene_run_complete(run.run, (int32_t)(takes / 1000 % 4))) exit(5);
    }
    if (!report && selene_cycle_end(token, &report)) exit(6);
    printf("cycle %" PRId32 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n", report->result,
           report->eligible, report->did_not_fit, report->ended_at);
    for (uint64_t i = 0; i < report->run_count; i++) {
        const selene_report_run *run = &report->runs[i];
        printf("%s %" PRId32 " %" PRIu32 " %.17g %" PRId64 " %" PRId64 " %" PRId64 "\n",
               run->id.data, run->outcome, run->attempt, run->score, run->estimate, run->started_at,
               run->response_time);
    }
    selene_free(report);
}

int main(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_scheduler scheduler = 0;
    char word[32];
    options.clock = read_clock;
    options.seed = 7;
    options.backoff_jitter = 300;
    options.max_pending_refresh = 5;
    options.flags = SELENE_OPTIONS_HOLD;
    if (selene_scheduler_open(&options, &scheduler)) return 7;
    while (scanf("%31s", word) == 1) {
        int64_t a = 0, b = 0;
        int32_t c = 0;
        if (strcmp(word, "advance") == 0 && scanf("%" SCNd64, &a) == 1) {
            now += a;
        } else if (strcmp(word, "cycle") == 0 &&
                   scanf("%" SCNd64 " %" SCNd64 " %" SCNd32, &a, &b, &c) == 3) {
            cycle(scheduler, (uint32_t)a, b, (uint32_t)c);
        } else if (strcmp(word, "register") == 0) {
            selene_task task = SELENE_INIT(selene_task);
            char id[64];
            selene_status status;
            int32_t disposition = -1;
            if (scanf("%63s %" SCNd32 " %" SCNd32 " %" SCNd32 " %" SCNd64 " %" SCNd64 " %" SCNd64
                      " %" SCNd32 " %" SCNu32,
                      id, &task.kind, &task.schedule, &task.priority, &task.expected_response,
                      &task.initial_delay, &task.period, &task.backoff, &task.max_attempts) != 9)
                return 8;
            /* Its numbers begin at 0: none. */
            task.backoff++;
            if (task.expected_response == 0) task.expected_response = SELENE_NONE;
            task.id.data = id;
            task.id.length = -1;
            selene_handler_register(scheduler, id, -1, NULL, NULL, NULL, NULL);
            status = selene_task_register(scheduler, &task, &disposition);
            printf("register %s %" PRId32 "\n", selene_name(SELENE_NAMES_STATUS, status),
                   disposition);
        } else {
            return 9;
        }
    }
    return selene_scheduler_close(scheduler, 0);
}
