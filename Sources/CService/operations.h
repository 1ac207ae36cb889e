// What can be asked through a connection, one row each: number, name, right, whether asking twice does no harm, what goes
// in and what comes out, and the call that the owner makes. The client's side, the owner's side and docs/protocol.md
// follow from these rows. Numbers are never used again.
//
// What goes in: t text (two words: bytes and length), i and l numbers of 32 and 64 bits, sX a struct, b tasks (two words:
// array and count). What comes out, behind '>': i and l numbers, oX a struct of the caller's that is filled, pX a struct
// that is made, n as many numbers as there were tasks. X: T task, I task info, O output, L ids, E explanation, S scheduler info,
// A waits, F store info, G signal, R group info, D decision, B balance, W window, P plan.

// clang-format off
SERVICE(1, SCHEDULER_NOW, LOOK, 1, ">l", selene_scheduler_now(s, a[0].pointer))
SERVICE(2, SCHEDULER_GET, LOOK, 1, ">oS", selene_scheduler_get(s, a[0].pointer))
SERVICE(3, SCHEDULER_ENABLE, MANAGE, 1, "i", selene_scheduler_enable(s, (uint32_t)a[0].number))
SERVICE(4, SCHEDULER_NEXT_WAKEUP, LOOK, 1, ">ll", selene_scheduler_next_wakeup(s, a[0].pointer, a[1].pointer))
SERVICE(5, SCHEDULER_PRUNE, MANAGE, 0, ">l", selene_scheduler_prune(s, a[0].pointer))
SERVICE(6, SCHEDULER_RESUME, MANAGE, 1, "", selene_scheduler_resume(s))
SERVICE(16, TASK_REGISTER, ENQUEUE, 0, "sT>i", selene_task_register(s, a[0].pointer, a[1].pointer))
SERVICE(17, TASK_REGISTER_BATCH, ENQUEUE, 0, "b>nn", selene_task_register_batch(s, a[0].pointer, (uint64_t)a[1].number, a[2].pointer, a[3].pointer))
SERVICE(18, TASK_CANCEL, ENQUEUE, 0, "t>l", selene_task_cancel(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(19, TASK_CANCEL_TAG, ENQUEUE, 0, "t>l", selene_task_cancel_tag(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(20, TASK_CANCEL_ALL, MANAGE, 0, ">l", selene_task_cancel_all(s, a[0].pointer))
SERVICE(21, TASK_RETRY, ENQUEUE, 0, "t", selene_task_retry(s, a[0].pointer, a[1].number))
SERVICE(22, TASK_GET, LOOK, 1, "tl>pI", selene_task_get(s, a[0].pointer, a[1].number, (uint64_t)a[2].number, a[3].pointer))
SERVICE(23, TASK_LIST, LOOK, 1, "t>pL", selene_task_list(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(24, TASK_LIST_STATE, LOOK, 1, "i>pL", selene_task_list_state(s, (int32_t)a[0].number, a[1].pointer))
SERVICE(25, TASK_EXPLAIN, LOOK, 1, "t>oE", selene_task_explain(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(26, TASK_LAUNCH, MANAGE, 0, "t", selene_task_launch(s, a[0].pointer, a[1].number))
SERVICE(27, TASK_EXPIRE, MANAGE, 0, "t", selene_task_expire(s, a[0].pointer, a[1].number))
SERVICE(28, TASK_PAUSE, ENQUEUE, 0, "t>l", selene_task_pause(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(29, TASK_PAUSE_TAG, ENQUEUE, 0, "t>l", selene_task_pause_tag(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(30, TASK_RESUME, ENQUEUE, 0, "t>l", selene_task_resume(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(31, TASK_RESUME_TAG, ENQUEUE, 0, "t>l", selene_task_resume_tag(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(32, CYCLE_PLAN, LOOK, 1, "sW>pP", selene_cycle_plan(s, a[0].pointer, a[1].pointer))
SERVICE(33, TASK_SET_NEXT, ENQUEUE, 0, "tl", selene_task_set_next(s, a[0].pointer, a[1].number, a[2].number))
SERVICE(34, TASK_GET_OUTPUT, READ, 1, "t>pO", selene_task_get_output(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(36, TASK_WAITS, LOOK, 1, "t>pA", selene_task_waits(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(40, GROUP_SET_LIMIT, MANAGE, 1, "ti", selene_group_set_limit(s, a[0].pointer, a[1].number, (uint32_t)a[2].number))
SERVICE(41, GROUP_PAUSE, MANAGE, 1, "t", selene_group_pause(s, a[0].pointer, a[1].number))
SERVICE(42, GROUP_RESUME, MANAGE, 1, "t", selene_group_resume(s, a[0].pointer, a[1].number))
SERVICE(43, GROUP_GET, LOOK, 1, "t>oR", selene_group_get(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(44, GROUP_LIST, LOOK, 1, ">pL", selene_group_list(s, a[0].pointer))
SERVICE(48, CONDITIONS_SET, MANAGE, 1, "ii", selene_conditions_set(s, (uint32_t)a[0].number, (uint32_t)a[1].number))
SERVICE(49, CONDITIONS_GET, LOOK, 1, ">ii", selene_conditions_get(s, a[0].pointer, a[1].pointer))
SERVICE(50, CONDITION_DEFINE, MANAGE, 1, "t", selene_condition_define(s, a[0].pointer, a[1].number))
SERVICE(51, CONDITION_UNDEFINE, MANAGE, 0, "t", selene_condition_undefine(s, a[0].pointer, a[1].number))
SERVICE(52, CONDITION_SET, MANAGE, 1, "ti", selene_condition_set(s, a[0].pointer, a[1].number, (int32_t)a[2].number))
SERVICE(53, CONDITION_GET, LOOK, 1, "t>i", selene_condition_get(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(54, CONDITION_LIST, LOOK, 1, ">pL", selene_condition_list(s, a[0].pointer))
SERVICE(55, CONDITION_MISSING, LOOK, 1, "t>pL", selene_condition_missing(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(56, STORE_GET, LOOK, 1, ">pF", selene_store_get(s, a[0].pointer))
SERVICE(64, SIGNAL_SET, MANAGE, 1, "ill", selene_signal_set(s, (int32_t)a[0].number, a[1].number, a[2].number))
SERVICE(65, SIGNAL_CLEAR, MANAGE, 1, "i", selene_signal_clear(s, (int32_t)a[0].number))
SERVICE(66, SIGNAL_GET, LOOK, 1, "i>oG", selene_signal_get(s, (int32_t)a[0].number, a[1].pointer))
SERVICE(72, GOVERNOR_ASK, LOOK, 1, "ii>pD", selene_governor_ask(s, (int32_t)a[0].number, (uint32_t)a[1].number, a[2].pointer))
SERVICE(73, GOVERNOR_LAST, LOOK, 1, "i>pD", selene_governor_last(s, (int32_t)a[0].number, a[1].pointer))
SERVICE(74, LEDGER_GET, LOOK, 1, "i>oB", selene_ledger_get(s, (int32_t)a[0].number, a[1].pointer))
SERVICE(75, LEDGER_REPORT, MANAGE, 0, "ill", selene_ledger_report(s, (int32_t)a[0].number, a[1].number, a[2].number))
SERVICE(76, USE_REPORT, MANAGE, 0, "ll", selene_use_report(s, a[0].number, a[1].number))
// From then on its connection is told of each event, in further answers to this request.
SERVICE(80, EVENTS_OPEN, LOOK, 1, "l", selene_events_open(s, (uint64_t)a[0].number, NULL))
// clang-format on
#undef SERVICE
