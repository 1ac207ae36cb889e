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

FIELD(selene_fault, struct_size, 0, 4);
FIELD(selene_fault, flags, 4, 4);
FIELD(selene_fault, status, 8, 4);
FIELD(selene_fault, unit, 12, 4);
FIELD(selene_fault, field, 16, 16);
FIELD(selene_fault, subject, 32, 16);
FIELD(selene_fault, found, 48, 16);
FIELD(selene_fault, allowed, 64, 16);
FIELD(selene_fault, problem, 80, 16);
FIELD(selene_fault, value, 96, 8);
FIELD(selene_fault, least, 104, 8);
FIELD(selene_fault, greatest, 112, 8);
SIZE(selene_fault, greatest, 120);

FIELD(selene_options, struct_size, 0, 4);
FIELD(selene_options, flags, 4, 4);
FIELD(selene_options, permitted, 8, 8);
FIELD(selene_options, permitted_count, 16, 8);
FIELD(selene_options, max_pending_refresh, 24, 4);
FIELD(selene_options, max_pending_processing, 28, 4);
FIELD(selene_options, minimum_backoff, 32, 8);
FIELD(selene_options, maximum_backoff, 40, 8);
FIELD(selene_options, minimum_interval_refresh, 48, 8);
FIELD(selene_options, minimum_interval_processing, 56, 8);
FIELD(selene_options, release_after, 64, 8);
FIELD(selene_options, backoff_jitter, 72, 4);
FIELD(selene_options, max_overrun_threads, 76, 4);
FIELD(selene_options, seed, 80, 8);
FIELD(selene_options, max_input_size, 88, 8);
FIELD(selene_options, clock, 96, 8);
FIELD(selene_options, clock_context, 104, 8);
FIELD(selene_options, clock_destroy, 112, 8);
FIELD(selene_options, path, 120, 16);
FIELD(selene_options, blocked_signals, 136, 8);
FIELD(selene_options, blocked_signal_count, 144, 8);
FIELD(selene_options, owner, 152, 16);
FIELD(selene_options, stop_grace, 168, 8);
FIELD(selene_options, max_overrun_per_handler, 176, 4);
FIELD(selene_options, thread_quality, 180, 4);
FIELD(selene_options, thread_begin, 184, 8);
FIELD(selene_options, thread_end, 192, 8);
FIELD(selene_options, thread_context, 200, 8);
FIELD(selene_options, thread_destroy, 208, 8);
FIELD(selene_options, clock_start, 216, 8);
FIELD(selene_options, expedited_quota, 224, 8);
FIELD(selene_options, thread_stack_size, 232, 8);
FIELD(selene_options, wait_log_entries, 240, 8);
FIELD(selene_options, max_output_size, 248, 8);
FIELD(selene_options, crash_pause, 256, 8);
SIZE(selene_options, crash_pause, 264);

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

static const char *status_name(int32_t status) {
    return selene_status_name(status);
}

static const char *constraint_name(int32_t constraint) {
    return selene_constraint_name((uint32_t)constraint);
}

struct number {
    const char *constant;
    int64_t is, was;
    /** What the library calls it, and by which function; NULL if there is none. */
    const char *name;
    const char *(*name_of)(int32_t);
};

#define NUMBER(constant, was, name, name_of)                                                       \
    { #constant, constant, was, name, name_of }

static const struct number numbers[] = {
    NUMBER(SELENE_OK, 0, "OK", status_name),
    NUMBER(SELENE_ERROR_UNAVAILABLE, 1, "UNAVAILABLE", status_name),
    NUMBER(SELENE_ERROR_TOO_MANY_PENDING, 2, "TOO_MANY_PENDING", status_name),
    NUMBER(SELENE_ERROR_NOT_PERMITTED, 3, "NOT_PERMITTED", status_name),
    NUMBER(SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE, 4, "IMMEDIATE_RUN_INELIGIBLE", status_name),
    NUMBER(SELENE_ERROR_OUT_OF_QUOTA, 5, "OUT_OF_QUOTA", status_name),
    NUMBER(SELENE_ERROR_INVALID_ARGUMENT, 16, "INVALID_ARGUMENT", status_name),
    NUMBER(SELENE_ERROR_INVALID_HANDLE, 17, "INVALID_HANDLE", status_name),
    NUMBER(SELENE_ERROR_UNSUPPORTED_STRUCT, 18, "UNSUPPORTED_STRUCT", status_name),
    NUMBER(SELENE_ERROR_UNSUPPORTED, 19, "UNSUPPORTED", status_name),
    NUMBER(SELENE_ERROR_TOO_LARGE, 20, "TOO_LARGE", status_name),
    NUMBER(SELENE_ERROR_NOT_FOUND, 21, "NOT_FOUND", status_name),
    NUMBER(SELENE_ERROR_ALREADY_EXISTS, 22, "ALREADY_EXISTS", status_name),
    NUMBER(SELENE_ERROR_ALREADY_COMPLETED, 23, "ALREADY_COMPLETED", status_name),
    NUMBER(SELENE_ERROR_STALE_RUN, 24, "STALE_RUN", status_name),
    NUMBER(SELENE_ERROR_BUSY, 25, "BUSY", status_name),
    NUMBER(SELENE_ERROR_TOO_SOON, 26, "TOO_SOON", status_name),
    NUMBER(SELENE_ERROR_REENTRANT, 27, "REENTRANT", status_name),
    NUMBER(SELENE_ERROR_FORKED, 28, "FORKED", status_name),
    NUMBER(SELENE_ERROR_EXHAUSTED, 29, "EXHAUSTED", status_name),
    NUMBER(SELENE_ERROR_INTERNAL, 30, "INTERNAL", status_name),
    NUMBER(SELENE_ERROR_STORE_CANNOT_OPEN, 48, "STORE_CANNOT_OPEN", status_name),
    NUMBER(SELENE_ERROR_STORE_LOCKED, 49, "STORE_LOCKED", status_name),
    NUMBER(SELENE_ERROR_STORE_CORRUPT, 50, "STORE_CORRUPT", status_name),
    NUMBER(SELENE_ERROR_STORE_FOREIGN, 51, "STORE_FOREIGN", status_name),
    NUMBER(SELENE_ERROR_STORE_NEWER, 52, "STORE_NEWER", status_name),
    NUMBER(SELENE_ERROR_STORE_FULL, 53, "STORE_FULL", status_name),
    NUMBER(SELENE_ERROR_STORE_IO, 54, "STORE_IO", status_name),
    NUMBER(SELENE_ERROR_OUTCOME_UNKNOWN, 55, "OUTCOME_UNKNOWN", status_name),
    NUMBER(SELENE_ERROR_STORE_MOVED, 56, "STORE_MOVED", status_name),
    NUMBER(SELENE_ERROR_OWNER_AWAY, 57, "OWNER_AWAY", status_name),
    NUMBER(SELENE_ERROR_REFUSED, 58, "REFUSED", status_name),
    NUMBER(SELENE_RIGHT_LOOK, 1, NULL, NULL),
    NUMBER(SELENE_RIGHT_READ, 2, NULL, NULL),
    NUMBER(SELENE_RIGHT_ENQUEUE, 4, NULL, NULL),
    NUMBER(SELENE_RIGHT_WORK, 8, NULL, NULL),
    NUMBER(SELENE_RIGHT_MANAGE, 16, NULL, NULL),
    NUMBER(SELENE_RIGHT_ALL, 31, NULL, NULL),
    NUMBER(SELENE_OPTIONS_HOLD, 1, NULL, NULL),
    NUMBER(SELENE_OPTIONS_OBSERVED_RANGE, 2, NULL, NULL),
    NUMBER(SELENE_OPTIONS_RELAXED, 4, NULL, NULL),
    NUMBER(SELENE_OPTIONS_FRESHNESS, 8, NULL, NULL),
    NUMBER(SELENE_OPTIONS_NO_THREADS, 16, NULL, NULL),
    NUMBER(SELENE_OPTIONS_SET_CLOCK, 32, NULL, NULL),
    NUMBER(SELENE_THREADS_AS_HOST, 0, NULL, NULL),
    NUMBER(SELENE_THREADS_BACKGROUND, 1, NULL, NULL),
    NUMBER(SELENE_TASK_STEADY, 1, NULL, NULL),
    NUMBER(SELENE_TASK_AFTER_ANY_END, 2, NULL, NULL),
    NUMBER(SELENE_TASK_EXPEDITED, 4, NULL, NULL),
    NUMBER(SELENE_TASK_REFUSE_OUT_OF_QUOTA, 8, NULL, NULL),
    NUMBER(SELENE_KIND_REFRESH, 1, "refresh", selene_kind_name),
    NUMBER(SELENE_KIND_PROCESSING, 2, "processing", selene_kind_name),
    NUMBER(SELENE_SCHEDULE_DEFAULT, -1, NULL, NULL),
    NUMBER(SELENE_SCHEDULE_STANDING, 0, "standing", selene_schedule_name),
    NUMBER(SELENE_SCHEDULE_ONCE, 1, "once", selene_schedule_name),
    NUMBER(SELENE_SCHEDULE_PERIODIC, 2, "periodic", selene_schedule_name),
    NUMBER(SELENE_PRIORITY_VERY_LOW, 1, NULL, NULL),
    NUMBER(SELENE_PRIORITY_LOW, 2, NULL, NULL),
    NUMBER(SELENE_PRIORITY_NORMAL, 3, NULL, NULL),
    NUMBER(SELENE_PRIORITY_HIGH, 4, NULL, NULL),
    NUMBER(SELENE_PRIORITY_VERY_HIGH, 5, NULL, NULL),
    NUMBER(SELENE_CONSTRAINT_NETWORK, 1, "network", constraint_name),
    NUMBER(SELENE_CONSTRAINT_EXTERNAL_POWER, 2, "external_power", constraint_name),
    NUMBER(SELENE_CONSTRAINT_UNMETERED, 4, "unmetered", constraint_name),
    NUMBER(SELENE_CONSTRAINT_BATTERY_NOT_LOW, 8, "battery_not_low", constraint_name),
    NUMBER(SELENE_CONSTRAINT_IDLE, 16, "idle", constraint_name),
    NUMBER(SELENE_CONSTRAINT_STORAGE_NOT_LOW, 32, "storage_not_low", constraint_name),
    NUMBER(SELENE_CONSTRAINT_DISPLAY_OFF, 64, "display_off", constraint_name),
    NUMBER(SELENE_CONSTRAINT_NOT_ROAMING, 128, "not_roaming", constraint_name),
    NUMBER(SELENE_EXISTING_DEFAULT, -1, NULL, NULL),
    NUMBER(SELENE_EXISTING_KEEP, 0, NULL, NULL),
    NUMBER(SELENE_EXISTING_REPLACE, 1, NULL, NULL),
    NUMBER(SELENE_EXISTING_UPDATE, 2, NULL, NULL),
    NUMBER(SELENE_EXISTING_APPEND, 3, NULL, NULL),
    NUMBER(SELENE_EXISTING_APPEND_OR_REPLACE, 4, NULL, NULL),
    NUMBER(SELENE_EXISTING_SKIP, 5, NULL, NULL),
    NUMBER(SELENE_RETRY_SUCCESSORS, 1, NULL, NULL),
    NUMBER(SELENE_RECURRENCE_AFTER_COMPLETION, 0, NULL, NULL),
    NUMBER(SELENE_RECURRENCE_ANCHORED, 1, NULL, NULL),
    NUMBER(SELENE_RECURRENCE_CALENDAR, 2, NULL, NULL),
    NUMBER(SELENE_BACKOFF_DEFAULT, -1, NULL, NULL),
    NUMBER(SELENE_BACKOFF_NONE, 0, NULL, NULL),
    NUMBER(SELENE_BACKOFF_LINEAR, 1, NULL, NULL),
    NUMBER(SELENE_BACKOFF_EXPONENTIAL, 2, NULL, NULL),
    NUMBER(SELENE_DISPOSITION_ADDED, 0, "added", selene_disposition_name),
    NUMBER(SELENE_DISPOSITION_REPLACED, 1, "replaced", selene_disposition_name),
    NUMBER(SELENE_DISPOSITION_UPDATED, 2, "updated", selene_disposition_name),
    NUMBER(SELENE_DISPOSITION_KEPT, 3, "kept", selene_disposition_name),
    NUMBER(SELENE_DISPOSITION_APPENDED, 4, "appended", selene_disposition_name),
    NUMBER(SELENE_DISPOSITION_HELD, 5, "held", selene_disposition_name),
    NUMBER(SELENE_STATE_ENQUEUED, 0, "enqueued", selene_state_name),
    NUMBER(SELENE_STATE_HELD, 1, "held", selene_state_name),
    NUMBER(SELENE_STATE_BLOCKED, 2, "blocked", selene_state_name),
    NUMBER(SELENE_STATE_RUNNING, 3, "running", selene_state_name),
    NUMBER(SELENE_STATE_SUCCEEDED, 4, "succeeded", selene_state_name),
    NUMBER(SELENE_STATE_FAILED, 5, "failed", selene_state_name),
    NUMBER(SELENE_STATE_CANCELLED, 6, "cancelled", selene_state_name),
    NUMBER(SELENE_REASON_NOT_DUE, 1, "not_due", selene_reason_name),
    NUMBER(SELENE_REASON_CONSTRAINTS, 2, "constraints", selene_reason_name),
    NUMBER(SELENE_REASON_NO_HANDLER, 3, "no_handler", selene_reason_name),
    NUMBER(SELENE_REASON_HELD, 4, "held", selene_reason_name),
    NUMBER(SELENE_REASON_BLOCKED, 5, "blocked", selene_reason_name),
    NUMBER(SELENE_REASON_RUNNING, 6, "running", selene_reason_name),
    NUMBER(SELENE_REASON_KIND_OFF, 7, "kind_off", selene_reason_name),
    NUMBER(SELENE_REASON_DID_NOT_FIT, 8, "did_not_fit", selene_reason_name),
    NUMBER(SELENE_REASON_STILL_RUNNING, 9, "still_running", selene_reason_name),
    NUMBER(SELENE_REASON_TERMINAL, 10, "terminal", selene_reason_name),
    NUMBER(SELENE_REASON_NOT_PERMITTED, 11, "not_permitted", selene_reason_name),
    NUMBER(SELENE_REASON_HAD_ITS_RUN, 12, "had_its_run", selene_reason_name),
    NUMBER(SELENE_REASON_TOO_SOON, 13, "too_soon", selene_reason_name),
    NUMBER(SELENE_REASON_NEXT_CYCLE, 14, "next_cycle", selene_reason_name),
    NUMBER(SELENE_REASON_INTERRUPTED, 15, "interrupted", selene_reason_name),
    NUMBER(SELENE_REASON_GOVERNOR, 16, "governor", selene_reason_name),
    NUMBER(SELENE_REASON_STORE_REFUSES, 17, "store_refuses", selene_reason_name),
    NUMBER(SELENE_REASON_NO_THREAD, 18, "no_thread", selene_reason_name),
    NUMBER(SELENE_REASON_HANDLER_STUCK, 19, "handler_stuck", selene_reason_name),
    NUMBER(SELENE_REASON_DRAINED, 20, "drained", selene_reason_name),
    NUMBER(SELENE_REASON_CLOCK, 21, "clock", selene_reason_name),
    NUMBER(SELENE_REASON_PAUSED, 22, "paused", selene_reason_name),
    NUMBER(SELENE_REASON_GROUP_PAUSED, 23, "group_paused", selene_reason_name),
    NUMBER(SELENE_REASON_GROUP_FULL, 24, "group_full", selene_reason_name),
    NUMBER(SELENE_REASON_OUT_OF_QUOTA, 25, "out_of_quota", selene_reason_name),
    NUMBER(SELENE_REASON_CONDITIONS, 26, "conditions", selene_reason_name),
    NUMBER(SELENE_REASON_FLEET_AWAY, 27, "fleet_away", selene_reason_name),
    NUMBER(SELENE_REASON_KIND_PAUSED, 28, "kind_paused", selene_reason_name),
    NUMBER(SELENE_REASON_QUARANTINED, 29, "quarantined", selene_reason_name),
    NUMBER(SELENE_SUSPICION_QUARANTINED, 1, NULL, NULL),
    NUMBER(SELENE_SUSPICION_BLAMED, 2, NULL, NULL),
    NUMBER(SELENE_REASON_BACKING_OFF, 64, "backing_off", selene_reason_name),
    NUMBER(SELENE_REASON_NO_WINDOW, 65, "no_window", selene_reason_name),
    NUMBER(SELENE_REASON_WINDOW_OPEN, 66, "window_open", selene_reason_name),
    NUMBER(SELENE_REASON_PREFERRED_OTHERS, 67, "preferred_others", selene_reason_name),
    NUMBER(SELENE_REASON_NO_PROCESS, 68, "no_process", selene_reason_name),
    NUMBER(SELENE_REASON_NOT_KNOWN, 69, "not_known", selene_reason_name),
    NUMBER(SELENE_REASON_EARLIER, 70, "earlier", selene_reason_name),
    NUMBER(SELENE_WINDOW_STRICT_FIT, 1, NULL, NULL),
    NUMBER(SELENE_WINDOW_INLINE, 2, NULL, NULL),
    NUMBER(SELENE_WINDOW_FROZEN, 4, NULL, NULL),
    NUMBER(SELENE_WINDOW_LANES, 8, NULL, NULL),
    NUMBER(SELENE_OUTCOME_NONE, -1, NULL, NULL),
    NUMBER(SELENE_OUTCOME_NEW_DATA, 0, "new_data", selene_outcome_name),
    NUMBER(SELENE_OUTCOME_NO_DATA, 1, "no_data", selene_outcome_name),
    NUMBER(SELENE_OUTCOME_FAILED, 2, "failed", selene_outcome_name),
    NUMBER(SELENE_OUTCOME_ABANDONED, 3, "abandoned", selene_outcome_name),
    NUMBER(SELENE_OUTCOME_EXPIRED, 4, "expired", selene_outcome_name),
    NUMBER(SELENE_OUTCOME_STOPPED, 5, "stopped", selene_outcome_name),
    NUMBER(SELENE_STOP_NONE, 0, "none", selene_stop_name),
    NUMBER(SELENE_STOP_EXPIRING, 1, "expiring", selene_stop_name),
    NUMBER(SELENE_STOP_PREEMPTED, 2, "preempted", selene_stop_name),
    NUMBER(SELENE_STOP_CONSTRAINT_LOST, 3, "constraint_lost", selene_stop_name),
    NUMBER(SELENE_STOP_REPLACED, 4, "replaced", selene_stop_name),
    NUMBER(SELENE_STOP_CANCELLED, 5, "cancelled", selene_stop_name),
    NUMBER(SELENE_STOP_SHUTDOWN, 6, "shutdown", selene_stop_name),
    NUMBER(SELENE_STOP_INTERRUPTED, 7, "interrupted", selene_stop_name),
    NUMBER(SELENE_STOP_TIMED_OUT, 8, "timed_out", selene_stop_name),
    NUMBER(SELENE_STOP_STALLED, 9, "stalled", selene_stop_name),
    NUMBER(SELENE_STOP_TOO_LATE, 10, "too_late", selene_stop_name),
    NUMBER(SELENE_STOP_LEASE_LOST, 11, "lease_lost", selene_stop_name),
    NUMBER(SELENE_REPORT_NOT_STORED, 1, NULL, NULL),
    NUMBER(SELENE_DRIVER_LANES, 1, NULL, NULL),
    NUMBER(SELENE_DRIVER_STRICT_FIT, 2, NULL, NULL),
    NUMBER(SELENE_DRIVER_TOGETHER, 4, NULL, NULL),
    NUMBER(SELENE_DRIVER_FROZEN, 8, NULL, NULL),
    NUMBER(SELENE_DRIVER_UNGOVERNED, 16, NULL, NULL),
    NUMBER(SELENE_UNIT_NONE, 0, NULL, NULL),
    NUMBER(SELENE_UNIT_NUMBER, 1, NULL, NULL),
    NUMBER(SELENE_UNIT_DURATION, 2, NULL, NULL),
    NUMBER(SELENE_UNIT_INSTANT, 3, NULL, NULL),
    NUMBER(SELENE_UNIT_BYTES, 4, NULL, NULL),
    NUMBER(SELENE_UNIT_BITS, 5, NULL, NULL),
    NUMBER(SELENE_FAULT_IN_DOUBT, 1, NULL, NULL),
    NUMBER(SELENE_STEP_RUN, 0, NULL, NULL),
    NUMBER(SELENE_STEP_WAIT, 1, NULL, NULL),
    NUMBER(SELENE_STEP_DONE, 2, NULL, NULL),
    NUMBER(SELENE_EVENT_REGISTERED, 1, "registered", selene_event_name),
    NUMBER(SELENE_EVENT_STARTED, 2, "started", selene_event_name),
    NUMBER(SELENE_EVENT_STOPPED, 3, "stopped", selene_event_name),
    NUMBER(SELENE_EVENT_COMPLETED, 4, "completed", selene_event_name),
    NUMBER(SELENE_EVENT_RETRY, 5, "retry", selene_event_name),
    NUMBER(SELENE_EVENT_HELD, 6, "held", selene_event_name),
    NUMBER(SELENE_EVENT_PROMOTED, 7, "promoted", selene_event_name),
    NUMBER(SELENE_EVENT_CANCELLED, 8, "cancelled", selene_event_name),
    NUMBER(SELENE_EVENT_CYCLE_BEGUN, 9, "cycle_begun", selene_event_name),
    NUMBER(SELENE_EVENT_CYCLE_ENDED, 10, "cycle_ended", selene_event_name),
    NUMBER(SELENE_EVENT_UNBLOCKED, 11, "unblocked", selene_event_name),
    NUMBER(SELENE_EVENT_RELEASED, 12, "released", selene_event_name),
    NUMBER(SELENE_EVENT_INTERRUPTED, 13, "interrupted", selene_event_name),
    NUMBER(SELENE_EVENT_CLOCK_MOVED, 14, "clock_moved", selene_event_name),
    NUMBER(SELENE_EVENT_REFUSED, 15, "refused", selene_event_name),
    NUMBER(SELENE_EVENT_GRANTED, 16, "granted", selene_event_name),
    NUMBER(SELENE_EVENT_TRACE_ENDED, 17, "trace_ended", selene_event_name),
    NUMBER(SELENE_EVENT_TROUBLE, 18, "trouble", selene_event_name),
    NUMBER(SELENE_EVENT_PAUSED, 19, "paused", selene_event_name),
    NUMBER(SELENE_EVENT_RESUMED, 20, "resumed", selene_event_name),
    NUMBER(SELENE_EVENT_PROGRESS, 21, "progress", selene_event_name),
    NUMBER(SELENE_EVENT_CONDITION_MET, 22, "condition_met", selene_event_name),
    NUMBER(SELENE_EVENT_CONDITION_LOST, 23, "condition_lost", selene_event_name),
    NUMBER(SELENE_EVENT_QUOTA_USED_UP, 24, "quota_used_up", selene_event_name),
    NUMBER(SELENE_EVENT_QUOTA_LEFT, 25, "quota_left", selene_event_name),
    NUMBER(SELENE_EVENT_OUTPUT_LOST, 26, "output_lost", selene_event_name),
    NUMBER(SELENE_CONDITION_UNDEFINED, 0, NULL, NULL),
    NUMBER(SELENE_CONDITION_UNSATISFIED, 1, NULL, NULL),
    NUMBER(SELENE_CONDITION_SATISFIED, 2, NULL, NULL),

    NUMBER(SELENE_LOG_ERROR, 1, NULL, NULL),
    NUMBER(SELENE_LOG_WARNING, 2, NULL, NULL),
    NUMBER(SELENE_LOG_INFO, 3, NULL, NULL),
    NUMBER(SELENE_TROUBLE_STORE, 1, "store", selene_trouble_name),
    NUMBER(SELENE_TROUBLE_THREAD, 2, "thread", selene_trouble_name),
    NUMBER(SELENE_TROUBLE_OVERRUN, 4, "overrun", selene_trouble_name),
    NUMBER(SELENE_TROUBLE_OBSERVER, 8, "observer", selene_trouble_name),
    NUMBER(SELENE_TROUBLE_HANDLER, 16, "handler", selene_trouble_name),
    NUMBER(SELENE_TROUBLE_CLOCK, 32, "clock", selene_trouble_name),
    NUMBER(SELENE_TROUBLE_FLEET, 64, "fleet", selene_trouble_name),
    NUMBER(SELENE_TROUBLE_FLEET_CLOCK, 128, "fleet_clock", selene_trouble_name),
    NUMBER(SELENE_ADVANCE_HANDLERS, 1, NULL, NULL),
    NUMBER(SELENE_ADVANCE_ONCE, 2, NULL, NULL),
    NUMBER(SELENE_ADVANCE_RUNS, 4, NULL, NULL),
    NUMBER(SELENE_VALUE_NULL, 0, NULL, NULL),
    NUMBER(SELENE_VALUE_INTEGER, 1, NULL, NULL),
    NUMBER(SELENE_VALUE_BOOLEAN, 2, NULL, NULL),
    NUMBER(SELENE_VALUE_TEXT, 3, NULL, NULL),
    NUMBER(SELENE_VALUE_BYTES, 4, NULL, NULL),
    NUMBER(SELENE_VALUE_ARRAY, 5, NULL, NULL),
    NUMBER(SELENE_NODE_JOINING, 0, NULL, NULL),
    NUMBER(SELENE_NODE_WORKING, 1, NULL, NULL),
    NUMBER(SELENE_NODE_LEAVING, 2, NULL, NULL),
    NUMBER(SELENE_NODE_CLOSED, 3, NULL, NULL),
    NUMBER(SELENE_NODE_OPTION_RELAXED, 1, NULL, NULL),
    NUMBER(SELENE_SIGNAL_BATTERY_LEVEL, 1, "battery_level", selene_signal_name),
    NUMBER(SELENE_SIGNAL_EXTERNAL_POWER, 2, "external_power", selene_signal_name),
    NUMBER(SELENE_SIGNAL_LOW_POWER_MODE, 3, "low_power_mode", selene_signal_name),
    NUMBER(SELENE_SIGNAL_THERMAL, 4, "thermal", selene_signal_name),
    NUMBER(SELENE_SIGNAL_USER_ACTIVE, 5, "user_active", selene_signal_name),
    NUMBER(SELENE_SIGNAL_DISPLAY_ON, 6, "display_on", selene_signal_name),
    NUMBER(SELENE_SIGNAL_UNLOCKED, 7, "unlocked", selene_signal_name),
    NUMBER(SELENE_SIGNAL_NETWORK, 8, "network", selene_signal_name),
    NUMBER(SELENE_SIGNAL_METERED, 9, "metered", selene_signal_name),
    NUMBER(SELENE_SIGNAL_AIRPLANE, 10, "airplane", selene_signal_name),
    NUMBER(SELENE_SIGNAL_BACKGROUND_SWITCH, 11, "background_switch", selene_signal_name),
    NUMBER(SELENE_SIGNAL_HOST_PRESENCE, 12, "host_presence", selene_signal_name),
    NUMBER(SELENE_SIGNAL_CPU_BUSY, 13, "cpu_busy", selene_signal_name),
    NUMBER(SELENE_SIGNAL_CPU_PRESSURE, 14, "cpu_pressure", selene_signal_name),
    NUMBER(SELENE_SIGNAL_MEMORY_PRESSURE, 15, "memory_pressure", selene_signal_name),
    NUMBER(SELENE_SIGNAL_MEMORY_STALLED, 16, "memory_stalled", selene_signal_name),
    NUMBER(SELENE_SIGNAL_IO_PRESSURE, 17, "io_pressure", selene_signal_name),
    NUMBER(SELENE_SIGNAL_IO_STALLED, 18, "io_stalled", selene_signal_name),
    NUMBER(SELENE_SIGNAL_STORAGE_FREE, 19, "storage_free", selene_signal_name),
    NUMBER(SELENE_SIGNAL_DISCHARGING, 20, "discharging", selene_signal_name),
    NUMBER(SELENE_SIGNAL_UTC_OFFSET, 21, "utc_offset", selene_signal_name),
    NUMBER(SELENE_SIGNAL_ROAMING, 22, "roaming", selene_signal_name),
    NUMBER(SELENE_PRESENCE_BACKGROUND, 0, NULL, NULL),
    NUMBER(SELENE_PRESENCE_FOREGROUND, 1, NULL, NULL),
    NUMBER(SELENE_PRESENCE_QUIT, 2, NULL, NULL),
    NUMBER(SELENE_SOURCE_UNKNOWN, 0, "unknown", selene_source_name),
    NUMBER(SELENE_SOURCE_PROBE, 1, "probe", selene_source_name),
    NUMBER(SELENE_SOURCE_HOST, 2, "host", selene_source_name),
    NUMBER(SELENE_SOURCE_TRACE, 3, "trace", selene_source_name),
    NUMBER(SELENE_SOURCE_BOOKS, 4, "books", selene_source_name),
    NUMBER(SELENE_FACTOR_BATTERY, 1, "battery", selene_factor_name),
    NUMBER(SELENE_FACTOR_EXTERNAL_POWER, 2, "external_power", selene_factor_name),
    NUMBER(SELENE_FACTOR_LOW_POWER_MODE, 3, "low_power_mode", selene_factor_name),
    NUMBER(SELENE_FACTOR_THERMAL, 4, "thermal", selene_factor_name),
    NUMBER(SELENE_FACTOR_USER_ACTIVE, 5, "user_active", selene_factor_name),
    NUMBER(SELENE_FACTOR_DISPLAY_ON, 6, "display_on", selene_factor_name),
    NUMBER(SELENE_FACTOR_UNLOCKED, 7, "unlocked", selene_factor_name),
    NUMBER(SELENE_FACTOR_NETWORK, 8, "network", selene_factor_name),
    NUMBER(SELENE_FACTOR_METERED, 9, "metered", selene_factor_name),
    NUMBER(SELENE_FACTOR_AIRPLANE, 10, "airplane", selene_factor_name),
    NUMBER(SELENE_FACTOR_BACKGROUND_SWITCH, 11, "background_switch", selene_factor_name),
    NUMBER(SELENE_FACTOR_HOST_PRESENCE, 12, "host_presence", selene_factor_name),
    NUMBER(SELENE_FACTOR_CPU_BUSY, 13, "cpu_busy", selene_factor_name),
    NUMBER(SELENE_FACTOR_CPU_PRESSURE, 14, "cpu_pressure", selene_factor_name),
    NUMBER(SELENE_FACTOR_MEMORY_PRESSURE, 15, "memory_pressure", selene_factor_name),
    NUMBER(SELENE_FACTOR_MEMORY_STALLED, 16, "memory_stalled", selene_factor_name),
    NUMBER(SELENE_FACTOR_IO_PRESSURE, 17, "io_pressure", selene_factor_name),
    NUMBER(SELENE_FACTOR_IO_STALLED, 18, "io_stalled", selene_factor_name),
    NUMBER(SELENE_FACTOR_STORAGE_FREE, 19, "storage_free", selene_factor_name),
    NUMBER(SELENE_FACTOR_BUDGET, 20, "budget", selene_factor_name),
    NUMBER(SELENE_FACTOR_RATE, 21, "rate", selene_factor_name),
    NUMBER(SELENE_FACTOR_USE_PREDICTION, 22, "use_prediction", selene_factor_name),
    NUMBER(SELENE_FACTOR_RECENT_USE, 23, "recent_use", selene_factor_name),
    NUMBER(SELENE_RULE_IGNORE, 0, NULL, NULL),
    NUMBER(SELENE_RULE_VETO, 1, NULL, NULL),
    NUMBER(SELENE_RULE_WEIGHT, 2, NULL, NULL),
    NUMBER(SELENE_RULE_PREEMPTS, 1, NULL, NULL),
    NUMBER(SELENE_MEASURE_WINDOW_TIME, 1, "window_time", selene_measure_name),
    NUMBER(SELENE_MEASURE_CPU_TIME, 2, "cpu_time", selene_measure_name),
    NUMBER(SELENE_MEASURE_WINDOWS, 3, "windows", selene_measure_name),
    NUMBER(SELENE_MEASURE_BYTES, 4, "bytes", selene_measure_name),
    NUMBER(SELENE_PROFILE_OPEN, 0, "open", selene_profile_name),
    NUMBER(SELENE_PROFILE_APPLE, 1, "apple", selene_profile_name),
    NUMBER(SELENE_PROFILE_SERVER, 2, "server", selene_profile_name),
    NUMBER(SELENE_PROFILE_STRICT, 3, "strict", selene_profile_name),
    NUMBER(SELENE_VERDICT_PASSED, 1, "passed", selene_verdict_name),
    NUMBER(SELENE_VERDICT_VETOED, 2, "vetoed", selene_verdict_name),
    NUMBER(SELENE_VERDICT_WEIGHED, 3, "weighed", selene_verdict_name),
    NUMBER(SELENE_ASK_NEVER_RAN, 1, NULL, NULL),
    NUMBER(SELENE_SERVER_USER_SAME, -1, NULL, NULL),
    NUMBER(SELENE_SERVER_USER_ANY, -2, NULL, NULL),
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
        CHECK_STRING(numbers[i].name, numbers[i].name_of((int32_t)numbers[i].is));
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
    CHECK_INT(SELENE_VERSION_NUMBER, selene_version_number());
    CHECK_STRING(SELENE_VERSION_STRING, selene_version_string());
}

/* ---- defaults ------------------------------------------------------------------------------ */

/** The _INIT macro in a struct of that type, and what its function writes. None has a hole, so their bytes are their fields. */
#define DEFAULTS(type, macro, name)                                                                \
    type name = macro, made_##name;                                                                \
    memset(&made_##name, 0xA5, sizeof made_##name);                                                \
    CHECK_OK(type##_init(&made_##name, sizeof made_##name));                                       \
    CHECK(memcmp(&name, &made_##name, sizeof name) == 0);                                          \
    CHECK_INT(sizeof name, name.struct_size)

static void test_defaults(void) {
    DEFAULTS(selene_options, SELENE_OPTIONS_INIT, options);
    DEFAULTS(selene_task, SELENE_TASK_INIT, task);
    DEFAULTS(selene_window, SELENE_WINDOW_INIT, window);
    DEFAULTS(selene_profile, SELENE_PROFILE_INIT, profile);
    DEFAULTS(selene_driver, SELENE_DRIVER_INIT, driver);
    DEFAULTS(selene_scheduler_info, SELENE_SCHEDULER_INFO_INIT, scheduler);
    DEFAULTS(selene_group_info, SELENE_GROUP_INFO_INIT, group);
    DEFAULTS(selene_explanation, SELENE_EXPLANATION_INIT, explanation);
    DEFAULTS(selene_run_info, SELENE_RUN_INFO_INIT, run);
    DEFAULTS(selene_store_findings, SELENE_STORE_FINDINGS_INIT, findings);
    DEFAULTS(selene_signal, SELENE_SIGNAL_INIT, signal);
    DEFAULTS(selene_balance, SELENE_BALANCE_INIT, balance);
    DEFAULTS(selene_event, SELENE_EVENT_INIT, event);
    DEFAULTS(selene_server_options, SELENE_SERVER_OPTIONS_INIT, server);
    DEFAULTS(selene_connect_options, SELENE_CONNECT_OPTIONS_INIT, peer);
    DEFAULTS(selene_server_info, SELENE_SERVER_INFO_INIT, served);
    DEFAULTS(selene_node_request, SELENE_NODE_REQUEST_INIT, request);
    DEFAULTS(selene_node_info, SELENE_NODE_INFO_INIT, standing);
    selene_node_options node = SELENE_NODE_OPTIONS_INIT, made_node;
    CHECK_OK(selene_node_options_init(&made_node, sizeof made_node));
    CHECK_TEXT("selene", made_node.schema);
    CHECK_TEXT("selene", node.schema);
    CHECK_TEXT("node", made_node.name);
    CHECK_TEXT("node", node.name);
    node.schema = made_node.schema;
    node.name = made_node.name;
    CHECK(memcmp(&node, &made_node, sizeof node) == 0);
    CHECK_INT(30 * SELENE_SECOND, node.lease);
    CHECK_INT(250 * SELENE_MILLISECOND, node.horizon);
    CHECK_INT(SELENE_SECOND, node.poll);

    CHECK_INT(0600, server.mode);
    CHECK_INT(1024, server.max_clients);
    CHECK_INT(16 * 1024 * 1024, server.max_request_size);
    CHECK_INT(-1, server.descriptor);
    CHECK_INT(10 * SELENE_SECOND, server.adopt);
    CHECK_INT(30 * SELENE_SECOND, peer.timeout);
    CHECK_INT(SELENE_UNLIMITED, options.max_pending_refresh);
    CHECK_INT(SELENE_UNLIMITED, options.max_pending_processing);
    CHECK_INT(10 * SELENE_SECOND, options.minimum_backoff);
    CHECK_INT(5 * SELENE_HOUR, options.maximum_backoff);
    CHECK_INT(10 * SELENE_MINUTE, options.release_after);
    CHECK_INT(64, options.max_overrun_threads);
    CHECK_INT(10240, options.max_input_size);
    CHECK_INT(1 << 20, options.max_output_size);
    CHECK_INT(30 * SELENE_SECOND, options.crash_pause);
    CHECK_INT(SELENE_KIND_REFRESH, task.kind);
    CHECK_INT(SELENE_SCHEDULE_DEFAULT, task.schedule);
    CHECK_INT(SELENE_PRIORITY_NORMAL, task.priority);
    CHECK_INT(SELENE_EXISTING_DEFAULT, task.existing);
    CHECK_INT(SELENE_BACKOFF_DEFAULT, task.backoff);
    CHECK_INT(3, task.response_window);
    CHECK_INT(-1, task.expected_response);
    CHECK_INT(30 * SELENE_SECOND, task.backoff_delay);
    CHECK_INT(0, window.kinds);
    CHECK_INT(1, window.lanes);
    CHECK_INT(30 * SELENE_SECOND, window.budget);
    CHECK_INT(-1, window.reserve);
    CHECK_INT(SELENE_PROFILE_OPEN, profile.base);
    CHECK_INT(-1, profile.threshold);
    CHECK_INT(0, driver.refresh_budget);
    CHECK_INT(0, driver.processing_budget);
    CHECK_INT(1, driver.refresh_lanes);
    CHECK_INT(1, driver.processing_lanes);
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
    run_test("8.4 an _INIT macro and its function write the same defaults", test_defaults);
    return check_end();
}
