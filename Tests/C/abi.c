/*
 * abi.c - a witness of what programs were compiled with: where every field stands, and every number
 *
 * On machines with 64-bit pointers. Structs grow at their end only, numbers are never used again: a line here is added,
 * not changed. Tests/C/headers.sh sees to it that no number and no field of the header is missing.
 */
#include "check.h"

#include <limits.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- structs ----------------------------------------------------------------------- */

_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8 && CHAR_BIT == 8,
               "this witness is for LP64");

#define FIELD(struct_, field, offset, size)                                                        \
    _Static_assert(offsetof(struct_, field) == (offset) &&                                         \
                       sizeof(((struct_ *)0)->field) == (size),                                    \
                   #struct_ "." #field " stands where it stood")
/* The last field ends where the struct ends: no tail padding that an older caller would not have cleared. */
#define SIZE(struct_, last, size)                                                                  \
    _Static_assert(sizeof(struct_) == (size), #struct_ " has the size it had");                    \
    _Static_assert(sizeof(struct_) % 8 == 0, #struct_ " ends on eight bytes");                     \
    _Static_assert(offsetof(struct_, last) + sizeof(((struct_ *)0)->last) == sizeof(struct_),      \
                   #struct_ " has no tail padding")

FIELD(selene_text, data, 0, 8);
FIELD(selene_text, length, 8, 8);
SIZE(selene_text, length, 16);

FIELD(selene_error, struct_size, 0, 4);
FIELD(selene_error, flags, 4, 4);
FIELD(selene_error, status, 8, 4);
FIELD(selene_error, unit, 12, 4);
FIELD(selene_error, message, 16, 16);
FIELD(selene_error, field, 32, 16);
FIELD(selene_error, subject, 48, 16);
FIELD(selene_error, found, 64, 16);
FIELD(selene_error, allowed, 80, 16);
FIELD(selene_error, problem, 96, 16);
FIELD(selene_error, value, 112, 8);
FIELD(selene_error, least, 120, 8);
FIELD(selene_error, greatest, 128, 8);
SIZE(selene_error, greatest, 136);

FIELD(selene_options, struct_size, 0, 4);
FIELD(selene_options, flags, 4, 4);
FIELD(selene_options, permitted, 8, 8);
FIELD(selene_options, permitted_count, 16, 8);
FIELD(selene_options, max_pending_refresh, 24, 8);
FIELD(selene_options, max_pending_processing, 32, 8);
FIELD(selene_options, minimum_backoff, 40, 8);
FIELD(selene_options, maximum_backoff, 48, 8);
FIELD(selene_options, minimum_interval_refresh, 56, 8);
FIELD(selene_options, minimum_interval_processing, 64, 8);
FIELD(selene_options, release_after, 72, 8);
FIELD(selene_options, backoff_jitter, 80, 4);
FIELD(selene_options, max_overrun_threads, 84, 4);
FIELD(selene_options, seed, 88, 8);
FIELD(selene_options, max_input_size, 96, 8);
FIELD(selene_options, clock, 104, 8);
FIELD(selene_options, clock_context, 112, 8);
FIELD(selene_options, clock_destroy, 120, 8);
FIELD(selene_options, path, 128, 16);
FIELD(selene_options, blocked_signals, 144, 8);
FIELD(selene_options, blocked_signal_count, 152, 8);
FIELD(selene_options, owner, 160, 16);
FIELD(selene_options, stop_grace, 176, 8);
FIELD(selene_options, max_overrun_per_handler, 184, 4);
FIELD(selene_options, thread_quality, 188, 4);
FIELD(selene_options, thread_begin, 192, 8);
FIELD(selene_options, thread_end, 200, 8);
FIELD(selene_options, thread_context, 208, 8);
FIELD(selene_options, thread_destroy, 216, 8);
FIELD(selene_options, clock_start, 224, 8);
FIELD(selene_options, expedited_quota, 232, 8);
FIELD(selene_options, thread_stack_size, 240, 8);
FIELD(selene_options, wait_log_entries, 248, 8);
FIELD(selene_options, max_output_size, 256, 8);
FIELD(selene_options, crash_pause, 264, 8);
SIZE(selene_options, crash_pause, 272);

FIELD(selene_scheduler_info, struct_size, 0, 4);
FIELD(selene_scheduler_info, flags, 4, 4);
FIELD(selene_scheduler_info, kinds, 8, 4);
FIELD(selene_scheduler_info, overrun_threads, 12, 4);
FIELD(selene_scheduler_info, enqueued, 16, 8);
FIELD(selene_scheduler_info, held, 24, 8);
FIELD(selene_scheduler_info, blocked, 32, 8);
FIELD(selene_scheduler_info, running, 40, 8);
FIELD(selene_scheduler_info, succeeded, 48, 8);
FIELD(selene_scheduler_info, failed, 56, 8);
FIELD(selene_scheduler_info, cancelled, 64, 8);
FIELD(selene_scheduler_info, dispatched, 72, 8);
FIELD(selene_scheduler_info, life, 80, 8);
FIELD(selene_scheduler_info, troubles, 88, 4);
FIELD(selene_scheduler_info, stuck_handlers, 92, 4);
FIELD(selene_scheduler_info, expedited_left, 96, 8);
FIELD(selene_scheduler_info, expedited_free_at, 104, 8);
SIZE(selene_scheduler_info, expedited_free_at, 112);

FIELD(selene_task, struct_size, 0, 4);
FIELD(selene_task, flags, 4, 4);
FIELD(selene_task, id, 8, 16);
FIELD(selene_task, handler, 24, 16);
FIELD(selene_task, kind, 40, 4);
FIELD(selene_task, schedule, 44, 4);
FIELD(selene_task, priority, 48, 4);
FIELD(selene_task, existing, 52, 4);
FIELD(selene_task, recurrence, 56, 4);
FIELD(selene_task, backoff, 60, 4);
FIELD(selene_task, response_window, 64, 4);
FIELD(selene_task, max_attempts, 68, 4);
FIELD(selene_task, constraints, 72, 4);
FIELD(selene_task, tag_count, 76, 4);
FIELD(selene_task, tags, 80, 8);
FIELD(selene_task, expected_response, 88, 8);
FIELD(selene_task, initial_delay, 96, 8);
FIELD(selene_task, period, 104, 8);
FIELD(selene_task, flex, 112, 8);
FIELD(selene_task, backoff_delay, 120, 8);
FIELD(selene_task, input, 128, 8);
FIELD(selene_task, input_length, 136, 8);
FIELD(selene_task, timeout, 144, 8);
FIELD(selene_task, stall_limit, 152, 8);
FIELD(selene_task, jitter, 160, 4);
FIELD(selene_task, after_count, 164, 4);
FIELD(selene_task, group, 168, 16);
FIELD(selene_task, after, 184, 8);
FIELD(selene_task, latest_begin, 192, 8);
FIELD(selene_task, conditions, 200, 8);
FIELD(selene_task, condition_count, 208, 4);
FIELD(selene_task, reserved, 212, 4);
SIZE(selene_task, reserved, 216);

FIELD(selene_task_info, struct_size, 0, 4);
FIELD(selene_task_info, flags, 4, 4);
FIELD(selene_task_info, id, 8, 16);
FIELD(selene_task_info, handler, 24, 16);
FIELD(selene_task_info, input, 40, 16);
FIELD(selene_task_info, tags, 56, 8);
FIELD(selene_task_info, tag_count, 64, 4);
FIELD(selene_task_info, constraints, 68, 4);
FIELD(selene_task_info, kind, 72, 4);
FIELD(selene_task_info, schedule, 76, 4);
FIELD(selene_task_info, priority, 80, 4);
FIELD(selene_task_info, existing, 84, 4);
FIELD(selene_task_info, recurrence, 88, 4);
FIELD(selene_task_info, backoff, 92, 4);
FIELD(selene_task_info, response_window, 96, 4);
FIELD(selene_task_info, max_attempts, 100, 4);
FIELD(selene_task_info, has_handler, 104, 4);
FIELD(selene_task_info, state, 108, 4);
FIELD(selene_task_info, attempts, 112, 4);
FIELD(selene_task_info, last_outcome, 116, 4);
FIELD(selene_task_info, stop_reason, 120, 4);
FIELD(selene_task_info, generation, 124, 4);
FIELD(selene_task_info, sequence, 128, 8);
FIELD(selene_task_info, appended, 136, 8);
FIELD(selene_task_info, expected_response, 144, 8);
FIELD(selene_task_info, initial_delay, 152, 8);
FIELD(selene_task_info, period, 160, 8);
FIELD(selene_task_info, flex, 168, 8);
FIELD(selene_task_info, backoff_delay, 176, 8);
FIELD(selene_task_info, registered_at, 184, 8);
FIELD(selene_task_info, earliest_begin, 192, 8);
FIELD(selene_task_info, anchor, 200, 8);
FIELD(selene_task_info, last_run, 208, 8);
FIELD(selene_task_info, estimate, 216, 8);
FIELD(selene_task_info, run, 224, 8);
FIELD(selene_task_info, response_time_count, 232, 8);
FIELD(selene_task_info, response_times, 240, 240);
FIELD(selene_task_info, failed_at, 480, 8);
FIELD(selene_task_info, failed_attempt, 488, 8);
FIELD(selene_task_info, failure, 496, 16);
FIELD(selene_task_info, timeout, 512, 8);
FIELD(selene_task_info, paused, 520, 4);
FIELD(selene_task_info, jitter, 524, 4);
FIELD(selene_task_info, stall_limit, 528, 8);
FIELD(selene_task_info, progress_at, 536, 8);
FIELD(selene_task_info, progress_done, 544, 8);
FIELD(selene_task_info, progress_total, 552, 8);
FIELD(selene_task_info, progress_text, 560, 16);
FIELD(selene_task_info, output_length, 576, 8);
FIELD(selene_task_info, group, 584, 16);
FIELD(selene_task_info, after_count, 600, 4);
FIELD(selene_task_info, waits_for, 604, 4);
FIELD(selene_task_info, after, 608, 8);
FIELD(selene_task_info, latest_begin, 616, 8);
FIELD(selene_task_info, conditions, 624, 8);
FIELD(selene_task_info, condition_count, 632, 4);
FIELD(selene_task_info, quarantined, 636, 4);
FIELD(selene_task_info, output_lost, 640, 8);
SIZE(selene_task_info, output_lost, 648);

FIELD(selene_task_output, struct_size, 0, 4);
FIELD(selene_task_output, flags, 4, 4);
FIELD(selene_task_output, output, 8, 16);
SIZE(selene_task_output, output, 24);

FIELD(selene_group_info, struct_size, 0, 4);
FIELD(selene_group_info, flags, 4, 4);
FIELD(selene_group_info, limit, 8, 4);
FIELD(selene_group_info, paused, 12, 4);
FIELD(selene_group_info, running, 16, 8);
FIELD(selene_group_info, waiting, 24, 8);
SIZE(selene_group_info, waiting, 32);

FIELD(selene_task_ids, struct_size, 0, 4);
FIELD(selene_task_ids, flags, 4, 4);
FIELD(selene_task_ids, count, 8, 8);
FIELD(selene_task_ids, ids, 16, 8);
SIZE(selene_task_ids, ids, 24);

FIELD(selene_reason, reason, 0, 4);
FIELD(selene_reason, constraints, 4, 4);
FIELD(selene_reason, may_change_at, 8, 8);
SIZE(selene_reason, may_change_at, 16);

FIELD(selene_explanation, struct_size, 0, 4);
FIELD(selene_explanation, flags, 4, 4);
FIELD(selene_explanation, state, 8, 4);
FIELD(selene_explanation, reason_count, 12, 4);
FIELD(selene_explanation, reasons, 16, 256);
FIELD(selene_explanation, rank, 272, 8);
FIELD(selene_explanation, eligible, 280, 8);
FIELD(selene_explanation, score, 288, 8);
FIELD(selene_explanation, estimate, 296, 8);
FIELD(selene_explanation, last_room, 304, 8);
FIELD(selene_explanation, fresh_since, 312, 8);
FIELD(selene_explanation, cost, 320, 8);
FIELD(selene_explanation, known_runs, 328, 4);
FIELD(selene_explanation, news_runs, 332, 4);
FIELD(selene_explanation, pace, 336, 4);
FIELD(selene_explanation, pace_class, 340, 4);
FIELD(selene_explanation, attempts, 344, 4);
FIELD(selene_explanation, urgent, 348, 4);
FIELD(selene_explanation, latest_begin, 352, 8);
FIELD(selene_explanation, expedited, 360, 4);
FIELD(selene_explanation, unknown_constraints, 364, 4);
FIELD(selene_explanation, output_lost, 368, 8);
SIZE(selene_explanation, output_lost, 376);

FIELD(selene_window, struct_size, 0, 4);
FIELD(selene_window, flags, 4, 4);
FIELD(selene_window, kinds, 8, 4);
FIELD(selene_window, lanes, 12, 4);
FIELD(selene_window, budget, 16, 8);
FIELD(selene_window, reserve, 24, 8);
FIELD(selene_window, task, 32, 16);
SIZE(selene_window, task, 48);

FIELD(selene_report_run, id, 0, 16);
FIELD(selene_report_run, run, 16, 8);
FIELD(selene_report_run, outcome, 24, 4);
FIELD(selene_report_run, stop_reason, 28, 4);
FIELD(selene_report_run, attempt, 32, 4);
FIELD(selene_report_run, priority, 36, 4);
FIELD(selene_report_run, score, 40, 8);
FIELD(selene_report_run, estimate, 48, 8);
FIELD(selene_report_run, started_at, 56, 8);
FIELD(selene_report_run, response_time, 64, 8);
SIZE(selene_report_run, response_time, 72);

FIELD(selene_report, struct_size, 0, 4);
FIELD(selene_report, flags, 4, 4);
FIELD(selene_report, cycle, 8, 8);
FIELD(selene_report, result, 16, 4);
FIELD(selene_report, kinds, 20, 4);
FIELD(selene_report, began_at, 24, 8);
FIELD(selene_report, ended_at, 32, 8);
FIELD(selene_report, deadline, 40, 8);
FIELD(selene_report, budget, 48, 8);
FIELD(selene_report, reserve, 56, 8);
FIELD(selene_report, eligible, 64, 8);
FIELD(selene_report, did_not_fit, 72, 8);
FIELD(selene_report, new_data, 80, 8);
FIELD(selene_report, no_data, 88, 8);
FIELD(selene_report, failed, 96, 8);
FIELD(selene_report, abandoned, 104, 8);
FIELD(selene_report, expired, 112, 8);
FIELD(selene_report, stopped, 120, 8);
FIELD(selene_report, run_count, 128, 8);
FIELD(selene_report, runs, 136, 8);
FIELD(selene_report, paces, 144, 8);
SIZE(selene_report, paces, 152);
FIELD(selene_pace, fresh_since, 0, 8);
FIELD(selene_pace, cost, 8, 8);
FIELD(selene_pace, known_runs, 16, 4);
FIELD(selene_pace, news_runs, 20, 4);
FIELD(selene_pace, pace, 24, 4);
FIELD(selene_pace, pace_class, 28, 4);
SIZE(selene_pace, pace_class, 32);

FIELD(selene_plan_run, id, 0, 16);
FIELD(selene_plan_run, score, 16, 8);
FIELD(selene_plan_run, estimate, 24, 8);
FIELD(selene_plan_run, starts_at, 32, 8);
SIZE(selene_plan_run, starts_at, 40);

FIELD(selene_plan, struct_size, 0, 4);
FIELD(selene_plan, flags, 4, 4);
FIELD(selene_plan, eligible, 8, 8);
FIELD(selene_plan, run_count, 16, 8);
FIELD(selene_plan, runs, 24, 8);
SIZE(selene_plan, runs, 32);

FIELD(selene_wait, name, 0, 16);
FIELD(selene_wait, reason, 16, 4);
FIELD(selene_wait, reserved, 20, 4);
FIELD(selene_wait, detail, 24, 8);
FIELD(selene_wait, duration, 32, 8);
FIELD(selene_wait, times, 40, 8);
SIZE(selene_wait, times, 48);

FIELD(selene_wait_change, name, 0, 16);
FIELD(selene_wait_change, at, 16, 8);
FIELD(selene_wait_change, detail, 24, 8);
FIELD(selene_wait_change, reason, 32, 4);
FIELD(selene_wait_change, reserved, 36, 4);
SIZE(selene_wait_change, reserved, 40);

FIELD(selene_waits, struct_size, 0, 4);
FIELD(selene_waits, flags, 4, 4);
FIELD(selene_waits, since, 8, 8);
FIELD(selene_waits, until, 16, 8);
FIELD(selene_waits, state, 24, 4);
FIELD(selene_waits, reserved, 28, 4);
FIELD(selene_waits, part_count, 32, 8);
FIELD(selene_waits, parts, 40, 8);
FIELD(selene_waits, change_count, 48, 8);
FIELD(selene_waits, changes, 56, 8);
FIELD(selene_waits, preferred_count, 64, 8);
FIELD(selene_waits, preferred_id_count, 72, 8);
FIELD(selene_waits, preferred_ids, 80, 8);
SIZE(selene_waits, preferred_ids, 88);

FIELD(selene_run_info, struct_size, 0, 4);
FIELD(selene_run_info, flags, 4, 4);
FIELD(selene_run_info, run, 8, 8);
FIELD(selene_run_info, cycle, 16, 8);
FIELD(selene_run_info, id, 24, 16);
FIELD(selene_run_info, handler, 40, 16);
FIELD(selene_run_info, input, 56, 16);
FIELD(selene_run_info, kind, 72, 4);
FIELD(selene_run_info, priority, 76, 4);
FIELD(selene_run_info, attempt, 80, 4);
FIELD(selene_run_info, generation, 84, 4);
FIELD(selene_run_info, score, 88, 8);
FIELD(selene_run_info, estimate, 96, 8);
FIELD(selene_run_info, started_at, 104, 8);
FIELD(selene_run_info, expires_at, 112, 8);
FIELD(selene_run_info, deadline, 120, 8);
FIELD(selene_run_info, progress_at, 128, 8);
FIELD(selene_run_info, progress_done, 136, 8);
FIELD(selene_run_info, progress_total, 144, 8);
FIELD(selene_run_info, progress_text, 152, 16);
SIZE(selene_run_info, progress_text, 168);

FIELD(selene_event, struct_size, 0, 4);
FIELD(selene_event, flags, 4, 4);
FIELD(selene_event, number, 8, 8);
FIELD(selene_event, type, 16, 4);
FIELD(selene_event, state, 20, 4);
FIELD(selene_event, time, 24, 8);
FIELD(selene_event, id, 32, 16);
FIELD(selene_event, run, 48, 8);
FIELD(selene_event, cycle, 56, 8);
FIELD(selene_event, detail, 64, 4);
FIELD(selene_event, attempts, 68, 4);
FIELD(selene_event, time_at, 72, 8);
FIELD(selene_event, kinds, 80, 4);
FIELD(selene_event, status, 84, 4);
FIELD(selene_event, message, 88, 16);
FIELD(selene_event, fresh_since, 104, 8);
FIELD(selene_event, cost, 112, 8);
FIELD(selene_event, known_runs, 120, 4);
FIELD(selene_event, news_runs, 124, 4);
FIELD(selene_event, pace, 128, 4);
FIELD(selene_event, pace_class, 132, 4);
FIELD(selene_event, progress_done, 136, 8);
FIELD(selene_event, progress_total, 144, 8);
SIZE(selene_event, progress_total, 152);

FIELD(selene_store_info, struct_size, 0, 4);
FIELD(selene_store_info, flags, 4, 4);
FIELD(selene_store_info, path, 8, 16);
FIELD(selene_store_info, sqlite_version, 24, 16);
FIELD(selene_store_info, relaxed, 40, 4);
FIELD(selene_store_info, schema_version, 44, 4);
FIELD(selene_store_info, page_size, 48, 8);
FIELD(selene_store_info, pages, 56, 8);
FIELD(selene_store_info, wal_size, 64, 8);
FIELD(selene_store_info, commits, 72, 8);
FIELD(selene_store_info, owner, 80, 16);
SIZE(selene_store_info, owner, 96);

FIELD(selene_store_findings, struct_size, 0, 4);
FIELD(selene_store_findings, flags, 4, 4);
FIELD(selene_store_findings, schema_version, 8, 8);
FIELD(selene_store_findings, tasks, 16, 8);
FIELD(selene_store_findings, damaged, 24, 8);
SIZE(selene_store_findings, damaged, 32);

FIELD(selene_signal, struct_size, 0, 4);
FIELD(selene_signal, flags, 4, 4);
FIELD(selene_signal, value, 8, 8);
FIELD(selene_signal, source, 16, 4);
FIELD(selene_signal, reserved, 20, 4);
FIELD(selene_signal, set_at, 24, 8);
FIELD(selene_signal, since, 32, 8);
FIELD(selene_signal, until, 40, 8);
SIZE(selene_signal, until, 48);

FIELD(selene_rule, factor, 0, 4);
FIELD(selene_rule, kinds, 4, 4);
FIELD(selene_rule, mode, 8, 4);
FIELD(selene_rule, flags, 12, 4);
FIELD(selene_rule, weight, 16, 8);
FIELD(selene_rule, required, 24, 8);
SIZE(selene_rule, required, 32);

FIELD(selene_quota, kinds, 0, 4);
FIELD(selene_quota, measure, 4, 4);
FIELD(selene_quota, limit, 8, 8);
FIELD(selene_quota, period, 16, 8);
SIZE(selene_quota, period, 24);

FIELD(selene_profile, struct_size, 0, 4);
FIELD(selene_profile, flags, 4, 4);
FIELD(selene_profile, base, 8, 4);
FIELD(selene_profile, threshold, 12, 4);
FIELD(selene_profile, rules, 16, 8);
FIELD(selene_profile, rule_count, 24, 8);
FIELD(selene_profile, quotas, 32, 8);
FIELD(selene_profile, quota_count, 40, 8);
SIZE(selene_profile, quota_count, 48);

FIELD(selene_finding, factor, 0, 4);
FIELD(selene_finding, verdict, 4, 4);
FIELD(selene_finding, source, 8, 4);
FIELD(selene_finding, flags, 12, 4);
FIELD(selene_finding, observed, 16, 8);
FIELD(selene_finding, required, 24, 8);
FIELD(selene_finding, score, 32, 8);
FIELD(selene_finding, weight, 40, 8);
FIELD(selene_finding, clears_at, 48, 8);
SIZE(selene_finding, clears_at, 56);

FIELD(selene_decision, struct_size, 0, 4);
FIELD(selene_decision, flags, 4, 4);
FIELD(selene_decision, kind, 8, 4);
FIELD(selene_decision, granted, 12, 4);
FIELD(selene_decision, at, 16, 8);
FIELD(selene_decision, score, 24, 8);
FIELD(selene_decision, threshold, 32, 8);
FIELD(selene_decision, longest_window, 40, 8);
FIELD(selene_decision, ask_again_at, 48, 8);
FIELD(selene_decision, finding_count, 56, 8);
FIELD(selene_decision, findings, 64, 8);
SIZE(selene_decision, findings, 72);

FIELD(selene_balance, struct_size, 0, 4);
FIELD(selene_balance, flags, 4, 4);
FIELD(selene_balance, is_spent, 8, 4);
FIELD(selene_balance, used, 12, 4);
FIELD(selene_balance, free, 16, 8);
FIELD(selene_balance, free_at, 24, 8);
FIELD(selene_balance, last_begin, 32, 8);
SIZE(selene_balance, last_begin, 40);

FIELD(selene_forecast, begins_at, 0, 8);
FIELD(selene_forecast, ends_at, 8, 8);
FIELD(selene_forecast, probability, 16, 8);
SIZE(selene_forecast, probability, 24);

FIELD(selene_driver, struct_size, 0, 4);
FIELD(selene_driver, flags, 4, 4);
FIELD(selene_driver, refresh_budget, 8, 8);
FIELD(selene_driver, processing_budget, 16, 8);
FIELD(selene_driver, refresh_lanes, 24, 4);
FIELD(selene_driver, processing_lanes, 28, 4);
FIELD(selene_driver, kinds, 32, 4);
FIELD(selene_driver, reserved, 36, 4);
FIELD(selene_driver, reserve, 40, 8);
FIELD(selene_driver, every, 48, 8);
SIZE(selene_driver, every, 56);

FIELD(selene_peer_rule, uid, 0, 4);
FIELD(selene_peer_rule, gid, 4, 4);
FIELD(selene_peer_rule, rights, 8, 4);
FIELD(selene_peer_rule, reserved, 12, 4);
SIZE(selene_peer_rule, reserved, 16);

FIELD(selene_server_options, struct_size, 0, 4);
FIELD(selene_server_options, flags, 4, 4);
FIELD(selene_server_options, path, 8, 16);
FIELD(selene_server_options, rules, 24, 8);
FIELD(selene_server_options, rule_count, 32, 8);
FIELD(selene_server_options, mode, 40, 4);
FIELD(selene_server_options, max_clients, 44, 4);
FIELD(selene_server_options, max_request_size, 48, 8);
FIELD(selene_server_options, descriptor, 56, 4);
FIELD(selene_server_options, reserved, 60, 4);
FIELD(selene_server_options, adopt, 64, 8);
FIELD(selene_server_options, patience, 72, 8);
SIZE(selene_server_options, patience, 80);

FIELD(selene_server_info, struct_size, 0, 4);
FIELD(selene_server_info, flags, 4, 4);
FIELD(selene_server_info, clients, 8, 8);
FIELD(selene_server_info, accepted, 16, 8);
FIELD(selene_server_info, requests, 24, 8);
FIELD(selene_server_info, refused, 32, 8);
FIELD(selene_server_info, broken, 40, 8);
SIZE(selene_server_info, broken, 48);

FIELD(selene_connect_options, struct_size, 0, 4);
FIELD(selene_connect_options, flags, 4, 4);
FIELD(selene_connect_options, path, 8, 16);
FIELD(selene_connect_options, wait, 24, 8);
FIELD(selene_connect_options, timeout, 32, 8);
FIELD(selene_connect_options, pool, 40, 16);
FIELD(selene_connect_options, server_user, 56, 8);
SIZE(selene_connect_options, server_user, 64);

FIELD(selene_value, type, 0, 4);
FIELD(selene_value, reserved, 4, 4);
FIELD(selene_value, integer, 8, 8);
FIELD(selene_value, data, 16, 8);
FIELD(selene_value, length, 24, 8);
SIZE(selene_value, length, 32);

FIELD(selene_node_request, struct_size, 0, 4);
FIELD(selene_node_request, flags, 4, 4);
FIELD(selene_node_request, number, 8, 8);
FIELD(selene_node_request, sql, 16, 16);
FIELD(selene_node_request, values, 32, 8);
FIELD(selene_node_request, value_count, 40, 8);
FIELD(selene_node_request, timeout, 48, 8);
SIZE(selene_node_request, timeout, 56);

FIELD(selene_node_options, struct_size, 0, 4);
FIELD(selene_node_options, flags, 4, 4);
FIELD(selene_node_options, schema, 8, 16);
FIELD(selene_node_options, name, 24, 16);
FIELD(selene_node_options, queues, 40, 8);
FIELD(selene_node_options, queue_count, 48, 8);
FIELD(selene_node_options, labels, 56, 8);
FIELD(selene_node_options, label_count, 64, 8);
FIELD(selene_node_options, lease, 72, 8);
FIELD(selene_node_options, horizon, 80, 8);
FIELD(selene_node_options, poll, 88, 8);
SIZE(selene_node_options, poll, 96);

FIELD(selene_node_info, struct_size, 0, 4);
FIELD(selene_node_info, flags, 4, 4);
FIELD(selene_node_info, state, 8, 4);
FIELD(selene_node_info, reserved, 12, 4);
FIELD(selene_node_info, worker, 16, 8);
FIELD(selene_node_info, believes_until, 24, 8);
FIELD(selene_node_info, working, 32, 8);
FIELD(selene_node_info, ready, 40, 8);
FIELD(selene_node_info, undecided, 48, 8);
SIZE(selene_node_info, undecided, 56);

FIELD(selene_pause, pool, 0, 16);
FIELD(selene_pause, kinds, 16, 4);
FIELD(selene_pause, reserved, 20, 4);
FIELD(selene_pause, until, 24, 8);
SIZE(selene_pause, until, 32);

FIELD(selene_pauses, struct_size, 0, 4);
FIELD(selene_pauses, flags, 4, 4);
FIELD(selene_pauses, pauses, 8, 8);
FIELD(selene_pauses, count, 16, 8);
SIZE(selene_pauses, count, 24);

FIELD(selene_client, pool, 0, 16);
FIELD(selene_client, command, 16, 16);
FIELD(selene_client, process, 32, 4);
FIELD(selene_client, user, 36, 4);
FIELD(selene_client, rights, 40, 4);
FIELD(selene_client, version, 44, 4);
FIELD(selene_client, handlers, 48, 8);
FIELD(selene_client, runs, 56, 8);
FIELD(selene_client, requests, 64, 8);
SIZE(selene_client, requests, 72);

FIELD(selene_clients, struct_size, 0, 4);
FIELD(selene_clients, flags, 4, 4);
FIELD(selene_clients, clients, 8, 8);
FIELD(selene_clients, count, 16, 8);
SIZE(selene_clients, count, 24);

/* ---- types -------------------------------------------------------------------------- */

/* A pointer to the one type must be a pointer to the other; signedness and width are compared by the compiler. */
#define TYPE(type, is)                                                                             \
    _Static_assert(_Generic((type *)NULL, is * : 1, default : 0), #type " is " #is)

TYPE(selene_status, int32_t);
TYPE(selene_scheduler, uint64_t);
TYPE(selene_cycle, uint64_t);
TYPE(selene_server, uint64_t);
TYPE(selene_run, uint64_t);

_Static_assert(sizeof(selene_run_fn) == 8 && sizeof(selene_stop_fn) == 8 &&
                   sizeof(selene_destroy_fn) == 8 && sizeof(selene_clock_fn) == 8 &&
                   sizeof(selene_report_fn) == 8 && sizeof(selene_event_fn) == 8 &&
                   sizeof(selene_log_fn) == 8,
               "a callback is a pointer");

/* ---- numbers -------------------------------------------------------------------------- */

struct number {
    const char *constant;
    int64_t is, was;
    /** What the library calls it, and in which vocabulary; NULL and 0 if in none. */
    const char *name;
    int32_t names;
};

#define NUMBER(constant, was, name, names)                                                         \
    { #constant, constant, was, name, names }

static const struct number numbers[] = {
    NUMBER(SELENE_OK, 0, "OK", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_UNAVAILABLE, 1, "UNAVAILABLE", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_TOO_MANY_PENDING, 2, "TOO_MANY_PENDING", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_NOT_PERMITTED, 3, "NOT_PERMITTED", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, 4, "IMMEDIATE_RUN_INELIGIBLE",
           SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_OUT_OF_QUOTA, 5, "OUT_OF_QUOTA", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_INVALID_ARGUMENT, 16, "INVALID_ARGUMENT", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_INVALID_HANDLE, 17, "INVALID_HANDLE", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_UNSUPPORTED_STRUCT, 18, "UNSUPPORTED_STRUCT", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_UNSUPPORTED, 19, "UNSUPPORTED", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_TOO_LARGE, 20, "TOO_LARGE", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_NOT_FOUND, 21, "NOT_FOUND", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_ALREADY_EXISTS, 22, "ALREADY_EXISTS", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_ALREADY_COMPLETED, 23, "ALREADY_COMPLETED", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STALE_RUN, 24, "STALE_RUN", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_BUSY, 25, "BUSY", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_TOO_SOON, 26, "TOO_SOON", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_REENTRANT, 27, "REENTRANT", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_FORKED, 28, "FORKED", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_EXHAUSTED, 29, "EXHAUSTED", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_INTERNAL, 30, "INTERNAL", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STORE_CANNOT_OPEN, 48, "STORE_CANNOT_OPEN", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STORE_LOCKED, 49, "STORE_LOCKED", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STORE_CORRUPT, 50, "STORE_CORRUPT", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STORE_FOREIGN, 51, "STORE_FOREIGN", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STORE_NEWER, 52, "STORE_NEWER", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STORE_FULL, 53, "STORE_FULL", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STORE_IO, 54, "STORE_IO", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_OUTCOME_UNKNOWN, 55, "OUTCOME_UNKNOWN", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_STORE_MOVED, 56, "STORE_MOVED", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_OWNER_AWAY, 57, "OWNER_AWAY", SELENE_NAMES_STATUS),
    NUMBER(SELENE_ERROR_REFUSED, 58, "REFUSED", SELENE_NAMES_STATUS),
    NUMBER(SELENE_RIGHT_LOOK, 1, NULL, 0),
    NUMBER(SELENE_RIGHT_READ, 2, NULL, 0),
    NUMBER(SELENE_RIGHT_ENQUEUE, 4, NULL, 0),
    NUMBER(SELENE_RIGHT_WORK, 8, NULL, 0),
    NUMBER(SELENE_RIGHT_MANAGE, 16, NULL, 0),
    NUMBER(SELENE_RIGHT_ALL, 31, NULL, 0),
    NUMBER(SELENE_OPTIONS_HOLD, 1, NULL, 0),
    NUMBER(SELENE_OPTIONS_OBSERVED_RANGE, 2, NULL, 0),
    NUMBER(SELENE_OPTIONS_RELAXED, 4, NULL, 0),
    NUMBER(SELENE_OPTIONS_FRESHNESS, 8, NULL, 0),
    NUMBER(SELENE_OPTIONS_NO_THREADS, 16, NULL, 0),
    NUMBER(SELENE_OPTIONS_SET_CLOCK, 32, NULL, 0),
    NUMBER(SELENE_THREADS_AS_HOST, 0, NULL, 0),
    NUMBER(SELENE_THREADS_BACKGROUND, 1, NULL, 0),
    NUMBER(SELENE_TASK_STEADY, 1, NULL, 0),
    NUMBER(SELENE_TASK_AFTER_ANY_END, 2, NULL, 0),
    NUMBER(SELENE_TASK_EXPEDITED, 4, NULL, 0),
    NUMBER(SELENE_TASK_REFUSE_OUT_OF_QUOTA, 8, NULL, 0),
    NUMBER(SELENE_KIND_REFRESH, 1, "refresh", SELENE_NAMES_KIND),
    NUMBER(SELENE_KIND_PROCESSING, 2, "processing", SELENE_NAMES_KIND),
    NUMBER(SELENE_SCHEDULE_DEFAULT, 0, NULL, 0),
    NUMBER(SELENE_SCHEDULE_STANDING, 3, "standing", SELENE_NAMES_SCHEDULE),
    NUMBER(SELENE_SCHEDULE_ONCE, 1, "once", SELENE_NAMES_SCHEDULE),
    NUMBER(SELENE_SCHEDULE_PERIODIC, 2, "periodic", SELENE_NAMES_SCHEDULE),
    NUMBER(SELENE_PRIORITY_VERY_LOW, 1, "very_low", SELENE_NAMES_PRIORITY),
    NUMBER(SELENE_PRIORITY_LOW, 2, "low", SELENE_NAMES_PRIORITY),
    NUMBER(SELENE_PRIORITY_NORMAL, 3, "normal", SELENE_NAMES_PRIORITY),
    NUMBER(SELENE_PRIORITY_HIGH, 4, "high", SELENE_NAMES_PRIORITY),
    NUMBER(SELENE_PRIORITY_VERY_HIGH, 5, "very_high", SELENE_NAMES_PRIORITY),
    NUMBER(SELENE_CONSTRAINT_NETWORK, 1, "network", SELENE_NAMES_CONSTRAINT),
    NUMBER(SELENE_CONSTRAINT_EXTERNAL_POWER, 2, "external_power", SELENE_NAMES_CONSTRAINT),
    NUMBER(SELENE_CONSTRAINT_UNMETERED, 4, "unmetered", SELENE_NAMES_CONSTRAINT),
    NUMBER(SELENE_CONSTRAINT_BATTERY_NOT_LOW, 8, "battery_not_low", SELENE_NAMES_CONSTRAINT),
    NUMBER(SELENE_CONSTRAINT_IDLE, 16, "idle", SELENE_NAMES_CONSTRAINT),
    NUMBER(SELENE_CONSTRAINT_STORAGE_NOT_LOW, 32, "storage_not_low", SELENE_NAMES_CONSTRAINT),
    NUMBER(SELENE_CONSTRAINT_DISPLAY_OFF, 64, "display_off", SELENE_NAMES_CONSTRAINT),
    NUMBER(SELENE_CONSTRAINT_NOT_ROAMING, 128, "not_roaming", SELENE_NAMES_CONSTRAINT),
    NUMBER(SELENE_EXISTING_DEFAULT, 0, NULL, 0),
    NUMBER(SELENE_EXISTING_KEEP, 1, "keep", SELENE_NAMES_EXISTING),
    NUMBER(SELENE_EXISTING_REPLACE, 2, "replace", SELENE_NAMES_EXISTING),
    NUMBER(SELENE_EXISTING_UPDATE, 3, "update", SELENE_NAMES_EXISTING),
    NUMBER(SELENE_EXISTING_APPEND, 4, "append", SELENE_NAMES_EXISTING),
    NUMBER(SELENE_EXISTING_APPEND_OR_REPLACE, 5, "append_or_replace", SELENE_NAMES_EXISTING),
    NUMBER(SELENE_EXISTING_SKIP, 6, "skip", SELENE_NAMES_EXISTING),
    NUMBER(SELENE_RETRY_SUCCESSORS, 1, NULL, 0),
    NUMBER(SELENE_RECURRENCE_AFTER_COMPLETION, 0, "after_completion", SELENE_NAMES_RECURRENCE),
    NUMBER(SELENE_RECURRENCE_ANCHORED, 1, "anchored", SELENE_NAMES_RECURRENCE),
    NUMBER(SELENE_RECURRENCE_CALENDAR, 2, "calendar", SELENE_NAMES_RECURRENCE),
    NUMBER(SELENE_BACKOFF_DEFAULT, 0, NULL, 0),
    NUMBER(SELENE_BACKOFF_NONE, 1, "none", SELENE_NAMES_BACKOFF),
    NUMBER(SELENE_BACKOFF_LINEAR, 2, "linear", SELENE_NAMES_BACKOFF),
    NUMBER(SELENE_BACKOFF_EXPONENTIAL, 3, "exponential", SELENE_NAMES_BACKOFF),
    NUMBER(SELENE_DISPOSITION_ADDED, 0, "added", SELENE_NAMES_DISPOSITION),
    NUMBER(SELENE_DISPOSITION_REPLACED, 1, "replaced", SELENE_NAMES_DISPOSITION),
    NUMBER(SELENE_DISPOSITION_UPDATED, 2, "updated", SELENE_NAMES_DISPOSITION),
    NUMBER(SELENE_DISPOSITION_KEPT, 3, "kept", SELENE_NAMES_DISPOSITION),
    NUMBER(SELENE_DISPOSITION_APPENDED, 4, "appended", SELENE_NAMES_DISPOSITION),
    NUMBER(SELENE_DISPOSITION_HELD, 5, "held", SELENE_NAMES_DISPOSITION),
    NUMBER(SELENE_STATE_ENQUEUED, 0, "enqueued", SELENE_NAMES_STATE),
    NUMBER(SELENE_STATE_HELD, 1, "held", SELENE_NAMES_STATE),
    NUMBER(SELENE_STATE_BLOCKED, 2, "blocked", SELENE_NAMES_STATE),
    NUMBER(SELENE_STATE_RUNNING, 3, "running", SELENE_NAMES_STATE),
    NUMBER(SELENE_STATE_SUCCEEDED, 4, "succeeded", SELENE_NAMES_STATE),
    NUMBER(SELENE_STATE_FAILED, 5, "failed", SELENE_NAMES_STATE),
    NUMBER(SELENE_STATE_CANCELLED, 6, "cancelled", SELENE_NAMES_STATE),
    NUMBER(SELENE_REASON_NOT_DUE, 1, "not_due", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_CONSTRAINTS, 2, "constraints", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_NO_HANDLER, 3, "no_handler", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_HELD, 4, "held", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_BLOCKED, 5, "blocked", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_RUNNING, 6, "running", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_KIND_OFF, 7, "kind_off", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_DID_NOT_FIT, 8, "did_not_fit", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_STILL_RUNNING, 9, "still_running", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_TERMINAL, 10, "terminal", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_NOT_PERMITTED, 11, "not_permitted", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_HAD_ITS_RUN, 12, "had_its_run", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_TOO_SOON, 13, "too_soon", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_NEXT_CYCLE, 14, "next_cycle", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_INTERRUPTED, 15, "interrupted", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_GOVERNOR, 16, "governor", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_STORE_REFUSES, 17, "store_refuses", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_NO_THREAD, 18, "no_thread", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_HANDLER_STUCK, 19, "handler_stuck", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_DRAINED, 20, "drained", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_CLOCK, 21, "clock", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_PAUSED, 22, "paused", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_GROUP_PAUSED, 23, "group_paused", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_GROUP_FULL, 24, "group_full", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_OUT_OF_QUOTA, 25, "out_of_quota", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_CONDITIONS, 26, "conditions", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_FLEET_AWAY, 27, "fleet_away", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_KIND_PAUSED, 28, "kind_paused", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_QUARANTINED, 29, "quarantined", SELENE_NAMES_REASON),
    NUMBER(SELENE_SUSPICION_QUARANTINED, 1, NULL, 0),
    NUMBER(SELENE_SUSPICION_BLAMED, 2, NULL, 0),
    NUMBER(SELENE_REASON_BACKING_OFF, 64, "backing_off", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_NO_WINDOW, 65, "no_window", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_WINDOW_OPEN, 66, "window_open", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_PREFERRED_OTHERS, 67, "preferred_others", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_NO_PROCESS, 68, "no_process", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_NOT_KNOWN, 69, "not_known", SELENE_NAMES_REASON),
    NUMBER(SELENE_REASON_EARLIER, 70, "earlier", SELENE_NAMES_REASON),
    NUMBER(SELENE_WINDOW_STRICT_FIT, 1, NULL, 0),
    NUMBER(SELENE_WINDOW_INLINE, 2, NULL, 0),
    NUMBER(SELENE_WINDOW_FROZEN, 4, NULL, 0),
    NUMBER(SELENE_WINDOW_LANES, 8, NULL, 0),
    NUMBER(SELENE_OUTCOME_NONE, -1, NULL, 0),
    NUMBER(SELENE_OUTCOME_NEW_DATA, 0, "new_data", SELENE_NAMES_OUTCOME),
    NUMBER(SELENE_OUTCOME_NO_DATA, 1, "no_data", SELENE_NAMES_OUTCOME),
    NUMBER(SELENE_OUTCOME_FAILED, 2, "failed", SELENE_NAMES_OUTCOME),
    NUMBER(SELENE_OUTCOME_ABANDONED, 3, "abandoned", SELENE_NAMES_OUTCOME),
    NUMBER(SELENE_OUTCOME_EXPIRED, 4, "expired", SELENE_NAMES_OUTCOME),
    NUMBER(SELENE_OUTCOME_STOPPED, 5, "stopped", SELENE_NAMES_OUTCOME),
    NUMBER(SELENE_STOP_NONE, 0, "none", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_EXPIRING, 1, "expiring", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_PREEMPTED, 2, "preempted", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_CONSTRAINT_LOST, 3, "constraint_lost", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_REPLACED, 4, "replaced", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_CANCELLED, 5, "cancelled", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_SHUTDOWN, 6, "shutdown", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_INTERRUPTED, 7, "interrupted", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_TIMED_OUT, 8, "timed_out", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_STALLED, 9, "stalled", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_TOO_LATE, 10, "too_late", SELENE_NAMES_STOP),
    NUMBER(SELENE_STOP_LEASE_LOST, 11, "lease_lost", SELENE_NAMES_STOP),
    NUMBER(SELENE_REPORT_NOT_STORED, 1, NULL, 0),
    NUMBER(SELENE_DRIVER_LANES, 1, NULL, 0),
    NUMBER(SELENE_DRIVER_STRICT_FIT, 2, NULL, 0),
    NUMBER(SELENE_DRIVER_TOGETHER, 4, NULL, 0),
    NUMBER(SELENE_DRIVER_FROZEN, 8, NULL, 0),
    NUMBER(SELENE_DRIVER_UNGOVERNED, 16, NULL, 0),
    NUMBER(SELENE_UNIT_NONE, 0, NULL, 0),
    NUMBER(SELENE_UNIT_NUMBER, 1, NULL, 0),
    NUMBER(SELENE_UNIT_DURATION, 2, NULL, 0),
    NUMBER(SELENE_UNIT_INSTANT, 3, NULL, 0),
    NUMBER(SELENE_UNIT_BYTES, 4, NULL, 0),
    NUMBER(SELENE_UNIT_BITS, 5, NULL, 0),
    NUMBER(SELENE_FAULT_IN_DOUBT, 1, NULL, 0),
    NUMBER(SELENE_STEP_RUN, 0, NULL, 0),
    NUMBER(SELENE_STEP_WAIT, 1, NULL, 0),
    NUMBER(SELENE_STEP_DONE, 2, NULL, 0),
    NUMBER(SELENE_EVENT_REGISTERED, 1, "registered", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_STARTED, 2, "started", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_STOPPED, 3, "stopped", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_COMPLETED, 4, "completed", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_RETRY, 5, "retry", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_HELD, 6, "held", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_PROMOTED, 7, "promoted", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_CANCELLED, 8, "cancelled", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_CYCLE_BEGUN, 9, "cycle_begun", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_CYCLE_ENDED, 10, "cycle_ended", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_UNBLOCKED, 11, "unblocked", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_RELEASED, 12, "released", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_INTERRUPTED, 13, "interrupted", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_CLOCK_MOVED, 14, "clock_moved", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_REFUSED, 15, "refused", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_GRANTED, 16, "granted", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_TRACE_ENDED, 17, "trace_ended", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_TROUBLE, 18, "trouble", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_PAUSED, 19, "paused", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_RESUMED, 20, "resumed", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_PROGRESS, 21, "progress", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_CONDITION_MET, 22, "condition_met", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_CONDITION_LOST, 23, "condition_lost", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_QUOTA_USED_UP, 24, "quota_used_up", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_QUOTA_LEFT, 25, "quota_left", SELENE_NAMES_EVENT),
    NUMBER(SELENE_EVENT_OUTPUT_LOST, 26, "output_lost", SELENE_NAMES_EVENT),
    NUMBER(SELENE_CONDITION_UNDEFINED, 0, NULL, 0),
    NUMBER(SELENE_CONDITION_UNSATISFIED, 1, NULL, 0),
    NUMBER(SELENE_CONDITION_SATISFIED, 2, NULL, 0),

    NUMBER(SELENE_LOG_ERROR, 1, NULL, 0),
    NUMBER(SELENE_LOG_WARNING, 2, NULL, 0),
    NUMBER(SELENE_LOG_INFO, 3, NULL, 0),
    NUMBER(SELENE_TROUBLE_STORE, 1, "store", SELENE_NAMES_TROUBLE),
    NUMBER(SELENE_TROUBLE_THREAD, 2, "thread", SELENE_NAMES_TROUBLE),
    NUMBER(SELENE_TROUBLE_OVERRUN, 4, "overrun", SELENE_NAMES_TROUBLE),
    NUMBER(SELENE_TROUBLE_OBSERVER, 8, "observer", SELENE_NAMES_TROUBLE),
    NUMBER(SELENE_TROUBLE_HANDLER, 16, "handler", SELENE_NAMES_TROUBLE),
    NUMBER(SELENE_TROUBLE_CLOCK, 32, "clock", SELENE_NAMES_TROUBLE),
    NUMBER(SELENE_TROUBLE_FLEET, 64, "fleet", SELENE_NAMES_TROUBLE),
    NUMBER(SELENE_TROUBLE_FLEET_CLOCK, 128, "fleet_clock", SELENE_NAMES_TROUBLE),
    NUMBER(SELENE_ADVANCE_HANDLERS, 1, NULL, 0),
    NUMBER(SELENE_ADVANCE_ONCE, 2, NULL, 0),
    NUMBER(SELENE_ADVANCE_RUNS, 4, NULL, 0),
    NUMBER(SELENE_VALUE_NULL, 0, NULL, 0),
    NUMBER(SELENE_VALUE_INTEGER, 1, NULL, 0),
    NUMBER(SELENE_VALUE_BOOLEAN, 2, NULL, 0),
    NUMBER(SELENE_VALUE_TEXT, 3, NULL, 0),
    NUMBER(SELENE_VALUE_BYTES, 4, NULL, 0),
    NUMBER(SELENE_VALUE_ARRAY, 5, NULL, 0),
    NUMBER(SELENE_NODE_JOINING, 0, NULL, 0),
    NUMBER(SELENE_NODE_WORKING, 1, NULL, 0),
    NUMBER(SELENE_NODE_LEAVING, 2, NULL, 0),
    NUMBER(SELENE_NODE_CLOSED, 3, NULL, 0),
    NUMBER(SELENE_NODE_OPTION_RELAXED, 1, NULL, 0),
    NUMBER(SELENE_SIGNAL_BATTERY_LEVEL, 1, "battery_level", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_EXTERNAL_POWER, 2, "external_power", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_LOW_POWER_MODE, 3, "low_power_mode", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_THERMAL, 4, "thermal", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_USER_ACTIVE, 5, "user_active", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_DISPLAY_ON, 6, "display_on", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_UNLOCKED, 7, "unlocked", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_NETWORK, 8, "network", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_METERED, 9, "metered", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_AIRPLANE, 10, "airplane", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_BACKGROUND_SWITCH, 11, "background_switch", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_HOST_PRESENCE, 12, "host_presence", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_CPU_BUSY, 13, "cpu_busy", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_CPU_PRESSURE, 14, "cpu_pressure", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_MEMORY_PRESSURE, 15, "memory_pressure", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_MEMORY_STALLED, 16, "memory_stalled", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_IO_PRESSURE, 17, "io_pressure", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_IO_STALLED, 18, "io_stalled", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_STORAGE_FREE, 19, "storage_free", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_DISCHARGING, 20, "discharging", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_UTC_OFFSET, 21, "utc_offset", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_SIGNAL_ROAMING, 22, "roaming", SELENE_NAMES_SIGNAL),
    NUMBER(SELENE_PRESENCE_BACKGROUND, 0, NULL, 0),
    NUMBER(SELENE_PRESENCE_FOREGROUND, 1, NULL, 0),
    NUMBER(SELENE_PRESENCE_QUIT, 2, NULL, 0),
    NUMBER(SELENE_SOURCE_UNKNOWN, 0, "unknown", SELENE_NAMES_SOURCE),
    NUMBER(SELENE_SOURCE_PROBE, 1, "probe", SELENE_NAMES_SOURCE),
    NUMBER(SELENE_SOURCE_HOST, 2, "host", SELENE_NAMES_SOURCE),
    NUMBER(SELENE_SOURCE_TRACE, 3, "trace", SELENE_NAMES_SOURCE),
    NUMBER(SELENE_SOURCE_BOOKS, 4, "books", SELENE_NAMES_SOURCE),
    NUMBER(SELENE_FACTOR_BATTERY, 1, "battery", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_EXTERNAL_POWER, 2, "external_power", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_LOW_POWER_MODE, 3, "low_power_mode", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_THERMAL, 4, "thermal", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_USER_ACTIVE, 5, "user_active", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_DISPLAY_ON, 6, "display_on", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_UNLOCKED, 7, "unlocked", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_NETWORK, 8, "network", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_METERED, 9, "metered", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_AIRPLANE, 10, "airplane", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_BACKGROUND_SWITCH, 11, "background_switch", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_HOST_PRESENCE, 12, "host_presence", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_CPU_BUSY, 13, "cpu_busy", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_CPU_PRESSURE, 14, "cpu_pressure", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_MEMORY_PRESSURE, 15, "memory_pressure", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_MEMORY_STALLED, 16, "memory_stalled", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_IO_PRESSURE, 17, "io_pressure", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_IO_STALLED, 18, "io_stalled", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_STORAGE_FREE, 19, "storage_free", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_BUDGET, 20, "budget", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_RATE, 21, "rate", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_USE_PREDICTION, 22, "use_prediction", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_FACTOR_RECENT_USE, 23, "recent_use", SELENE_NAMES_FACTOR),
    NUMBER(SELENE_RULE_IGNORE, 0, NULL, 0),
    NUMBER(SELENE_RULE_VETO, 1, NULL, 0),
    NUMBER(SELENE_RULE_WEIGHT, 2, NULL, 0),
    NUMBER(SELENE_RULE_PREEMPTS, 1, NULL, 0),
    NUMBER(SELENE_MEASURE_WINDOW_TIME, 1, "window_time", SELENE_NAMES_MEASURE),
    NUMBER(SELENE_MEASURE_CPU_TIME, 2, "cpu_time", SELENE_NAMES_MEASURE),
    NUMBER(SELENE_MEASURE_WINDOWS, 3, "windows", SELENE_NAMES_MEASURE),
    NUMBER(SELENE_MEASURE_BYTES, 4, "bytes", SELENE_NAMES_MEASURE),
    NUMBER(SELENE_PROFILE_OPEN, 0, "open", SELENE_NAMES_PROFILE),
    NUMBER(SELENE_PROFILE_APPLE, 1, "apple", SELENE_NAMES_PROFILE),
    NUMBER(SELENE_PROFILE_SERVER, 2, "server", SELENE_NAMES_PROFILE),
    NUMBER(SELENE_PROFILE_STRICT, 3, "strict", SELENE_NAMES_PROFILE),
    NUMBER(SELENE_VERDICT_PASSED, 1, "passed", SELENE_NAMES_VERDICT),
    NUMBER(SELENE_VERDICT_VETOED, 2, "vetoed", SELENE_NAMES_VERDICT),
    NUMBER(SELENE_VERDICT_WEIGHED, 3, "weighed", SELENE_NAMES_VERDICT),
    NUMBER(SELENE_ASK_NEVER_RAN, 1, NULL, 0),
    NUMBER(SELENE_NONE, -1, NULL, 0),
    NUMBER(SELENE_NAMES_STATUS, 1, NULL, 0),
    NUMBER(SELENE_NAMES_KIND, 2, NULL, 0),
    NUMBER(SELENE_NAMES_SCHEDULE, 3, NULL, 0),
    NUMBER(SELENE_NAMES_PRIORITY, 4, NULL, 0),
    NUMBER(SELENE_NAMES_EXISTING, 5, NULL, 0),
    NUMBER(SELENE_NAMES_RECURRENCE, 6, NULL, 0),
    NUMBER(SELENE_NAMES_BACKOFF, 7, NULL, 0),
    NUMBER(SELENE_NAMES_CONSTRAINT, 8, NULL, 0),
    NUMBER(SELENE_NAMES_STATE, 9, NULL, 0),
    NUMBER(SELENE_NAMES_DISPOSITION, 10, NULL, 0),
    NUMBER(SELENE_NAMES_OUTCOME, 11, NULL, 0),
    NUMBER(SELENE_NAMES_STOP, 12, NULL, 0),
    NUMBER(SELENE_NAMES_REASON, 13, NULL, 0),
    NUMBER(SELENE_NAMES_EVENT, 14, NULL, 0),
    NUMBER(SELENE_NAMES_TROUBLE, 15, NULL, 0),
    NUMBER(SELENE_NAMES_PROFILE, 16, NULL, 0),
    NUMBER(SELENE_NAMES_SIGNAL, 17, NULL, 0),
    NUMBER(SELENE_NAMES_SOURCE, 18, NULL, 0),
    NUMBER(SELENE_NAMES_FACTOR, 19, NULL, 0),
    NUMBER(SELENE_NAMES_VERDICT, 20, NULL, 0),
    NUMBER(SELENE_NAMES_MEASURE, 21, NULL, 0),
    NUMBER(SELENE_SERVER_DESCRIPTOR, 1, NULL, 0),
    NUMBER(SELENE_SERVER_USER_SAME, 0, NULL, 0),
    NUMBER(SELENE_SERVER_USER_ANY, -1, NULL, 0),
};

_Static_assert(SELENE_RESPONSE_TIMES == 30 && SELENE_REASONS == 16 && SELENE_EVENTS == 65536,
               "arrays have the length they had");
_Static_assert(SELENE_NEVER == INT64_MAX && SELENE_UNLIMITED == UINT32_MAX &&
                   SELENE_REQUIRED_USUAL == INT64_MIN,
               "the limits are what they were");
_Static_assert(SELENE_MICROSECOND == 1000 && SELENE_MILLISECOND == 1000 * SELENE_MICROSECOND &&
                   SELENE_SECOND == 1000 * SELENE_MILLISECOND &&
                   SELENE_MINUTE == 60 * SELENE_SECOND && SELENE_HOUR == 60 * SELENE_MINUTE &&
                   SELENE_DAY == 24 * SELENE_HOUR,
               "durations are nanoseconds");

static void test_numbers(void) {
    size_t i;
    for (i = 0; i < COUNT(numbers); i++) {
        if (numbers[i].is != numbers[i].was) fprintf(stderr, "%s: ", numbers[i].constant);
        CHECK_INT(numbers[i].was, numbers[i].is);
    }
}

static void test_names(void) {
    size_t i, named = 0;
    for (i = 0; i < COUNT(numbers); i++) {
        if (!numbers[i].name) continue;
        CHECK_STRING(numbers[i].name, selene_name(numbers[i].names, numbers[i].is));
        named++;
    }
    CHECK(named > 120);
}

/** Of one sort no number is used twice. */
static void test_distinct(void) {
    size_t i, k;
    for (i = 0; i < COUNT(numbers); i++) {
        for (k = 0; k < i; k++) {
            const char *a = numbers[i].constant, *b = numbers[k].constant;
            size_t prefix = 7 + strcspn(a + 7, "_") + 1;
            if (strcmp(a, "SELENE_OK") == 0 || strcmp(b, "SELENE_OK") == 0) continue;
            /* Flags of rules, and of nodes. */
            if (strcmp(a, "SELENE_RULE_PREEMPTS") == 0) continue;
            if (strcmp(a, "SELENE_NODE_OPTION_RELAXED") == 0) continue;
            if (strncmp(a, b, prefix) == 0) CHECK(numbers[i].is != numbers[k].is);
        }
    }
}

/** Bits are single bits. */
static void test_bits(void) {
    static const char *const prefixes[] = {
        "SELENE_OPTIONS_",    "SELENE_WINDOW_",       "SELENE_KIND_",
        "SELENE_CONSTRAINT_", "SELENE_REPORT_",       "SELENE_ASK_",
        "SELENE_DRIVER_",     "SELENE_RULE_PREEMPTS", "SELENE_TASK_"};
    size_t i, k;
    for (i = 0; i < COUNT(numbers); i++)
        for (k = 0; k < COUNT(prefixes); k++)
            if (strncmp(numbers[i].constant, prefixes[k], strlen(prefixes[k])) == 0)
                CHECK(numbers[i].is > 0 && (numbers[i].is & (numbers[i].is - 1)) == 0);
}

static void test_version(void) {
    char composed[32];
    CHECK_INT(SELENE_VERSION_MAJOR * 1000000 + SELENE_VERSION_MINOR * 1000 + SELENE_VERSION_PATCH,
              SELENE_VERSION_NUMBER);
    snprintf(composed, sizeof composed, "%d.%d.%d", SELENE_VERSION_MAJOR, SELENE_VERSION_MINOR,
             SELENE_VERSION_PATCH);
    CHECK_STRING(composed, SELENE_VERSION_STRING);
    CHECK_INT(SELENE_VERSION_NUMBER, selene_version());
}

/* ---- defaults ------------------------------------------------------------------------------ */

/** What a struct has that is initialised, with all bytes behind its size zero. */
#define ZEROS(type)                                                                                \
    do {                                                                                           \
        type made = SELENE_INIT(type);                                                             \
        const unsigned char *bytes = (const unsigned char *)&made;                                 \
        CHECK_INT(sizeof made, made.struct_size);                                                  \
        for (size_t i = sizeof made.struct_size; i < sizeof made; i++)                             \
            CHECK_INT(0, bytes[i]);                                                                \
    } while (0)

static void test_zeros(void) {
    ZEROS(selene_options);
    ZEROS(selene_task);
    ZEROS(selene_window);
    ZEROS(selene_profile);
    ZEROS(selene_driver);
    ZEROS(selene_scheduler_info);
    ZEROS(selene_group_info);
    ZEROS(selene_explanation);
    ZEROS(selene_run_info);
    ZEROS(selene_store_findings);
    ZEROS(selene_signal);
    ZEROS(selene_balance);
    ZEROS(selene_event);
    ZEROS(selene_server_options);
    ZEROS(selene_connect_options);
    ZEROS(selene_server_info);
    ZEROS(selene_node_options);
    ZEROS(selene_node_request);
    ZEROS(selene_node_info);
}

/** What a struct of zeros stands for, as far as a task and a window tell. */
static void test_defaults(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = {.struct_size = sizeof task, .id = SELENE_TEXT("a")};
    selene_window window = SELENE_INIT(selene_window);
    selene_task_info *info = NULL;
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_scheduler scheduler = 0;
    selene_cycle cycle = 0;
    int32_t step = 0;

    options.flags = SELENE_OPTIONS_SET_CLOCK;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK_INT(SELENE_KIND_REFRESH, info->kind);
    CHECK_INT(SELENE_SCHEDULE_ONCE, info->schedule);
    CHECK_INT(SELENE_PRIORITY_NORMAL, info->priority);
    CHECK_INT(SELENE_EXISTING_KEEP, info->existing);
    CHECK_INT(SELENE_RECURRENCE_AFTER_COMPLETION, info->recurrence);
    CHECK_INT(SELENE_BACKOFF_EXPONENTIAL, info->backoff);
    CHECK_INT(3, info->response_window);
    CHECK_INT(-1, info->expected_response);
    CHECK_INT(30 * SELENE_SECOND, info->backoff_delay);
    selene_free(info);
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(SELENE_STEP_RUN, step);
    CHECK_INT(30 * SELENE_SECOND, run.deadline);
    CHECK_INT(30 * SELENE_SECOND - 1500 * SELENE_MILLISECOND, run.expires_at);
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/** Where 0 is a default, SELENE_NONE says 0. */
static void test_none(void) {
    selene_options options = SELENE_INIT(selene_options);
    selene_task task = {.struct_size = sizeof task, .id = SELENE_TEXT("a")};
    selene_window window = SELENE_INIT(selene_window);
    selene_task_info *info = NULL;
    selene_run_info run = SELENE_INIT(selene_run_info);
    selene_scheduler scheduler = 0;
    selene_cycle cycle = 0;
    int32_t step = 0;

    options.flags = SELENE_OPTIONS_SET_CLOCK;
    options.minimum_backoff = SELENE_NONE;
    options.max_input_size = SELENE_NONE;
    CHECK_OK(selene_scheduler_open(&options, &scheduler));
    CHECK_OK(selene_handler_register(scheduler, "a", -1, NULL, NULL, NULL, NULL));
    task.input = "x";
    task.input_length = 1;
    CHECK_STATUS(SELENE_ERROR_TOO_LARGE, selene_task_register(scheduler, &task, NULL));
    task.input_length = 0;
    task.response_window = SELENE_NONE;
    task.expected_response = SELENE_NONE;
    task.backoff_delay = SELENE_NONE;
    CHECK_OK(selene_task_register(scheduler, &task, NULL));
    CHECK_OK(selene_task_get(scheduler, "a", -1, 0, &info));
    CHECK_INT(0, info->response_window);
    CHECK_INT(0, info->expected_response);
    CHECK_INT(0, info->backoff_delay);
    selene_free(info);
    window.reserve = SELENE_NONE;
    CHECK_OK(selene_cycle_begin(scheduler, &window, &cycle));
    CHECK_OK(selene_cycle_next(cycle, &step, &run, NULL));
    CHECK_INT(run.deadline, run.expires_at);
    CHECK_OK(selene_run_complete(run.run, SELENE_OUTCOME_NEW_DATA));
    CHECK_OK(selene_cycle_end(cycle, NULL));
    CHECK_OK(selene_scheduler_close(scheduler, 0));
}

/* What is compared with an int64_t has its type: printf and C++'s min and max want that. */
#define IS_INT64(constant) _Generic(constant, int64_t : 1, default : 0)
_Static_assert(IS_INT64(SELENE_MICROSECOND) && IS_INT64(SELENE_MILLISECOND) &&
                   IS_INT64(SELENE_SECOND) && IS_INT64(SELENE_MINUTE),
               "int64_t");
_Static_assert(IS_INT64(SELENE_HOUR) && IS_INT64(SELENE_DAY) && IS_INT64(SELENE_NEVER) &&
                   IS_INT64(SELENE_REQUIRED_USUAL),
               "int64_t");

int main(int argc, char **argv) {
    check_begin(argc, argv);
    run_test("8.4 every number is what it was", test_numbers);
    run_test("8.3 every number has its own name", test_names);
    run_test("8.4 no number of a sort is used twice", test_distinct);
    run_test("8.4 flags are single bits", test_bits);
    run_test("8.8 the version of the header is that of the library", test_version);
    run_test("8.4 SELENE_INIT leaves all but the size zero", test_zeros);
    run_test("8.4 what zeros stand for", test_defaults);
    run_test("8.4 where 0 is a default, SELENE_NONE says 0", test_none);
    return check_end();
}
