// What can be asked through a connection, one row each: number, name, right, whether asking twice does no harm, what goes
// in and what comes out, and the call that the owner makes. The client's side, the owner's side and docs/protocol.md
// follow from these rows. Numbers are never used again. MEMBER: what a process does as a member of a pool (88).
//
// What goes in: t text (two words: bytes and length), i and l numbers of 32 and 64 bits, sX a struct, b tasks (two words:
// array and count). What comes out, behind '>': i and l numbers, oX a struct of the caller's that is filled, pX a struct
// that is made, qX one that may not be there, n as many numbers as there were tasks. X: T task, I task info, O output, L ids,
// E explanation, S scheduler info, A waits, F store info, G signal, R group info, D decision, B balance, W window, P plan,
// N run info, Q report, C clients, U pauses, Y driver.

// clang-format off
SERVICE(1, SCHEDULER_NOW, LOOK, 1, ">l", selene_scheduler_now(s, a[0].pointer))
SERVICE(2, SCHEDULER_GET, LOOK, 1, ">oS", selene_scheduler_get(s, a[0].pointer))
SERVICE(3, SCHEDULER_ENABLE, MANAGE, 1, "i", selene_scheduler_enable(s, (uint32_t)a[0].number))
SERVICE(4, SCHEDULER_NEXT_WAKEUP, LOOK, 1, ">ll", m->number != 0 ? MEMBER(SCHEDULER_NEXT_WAKEUP) : selene_scheduler_next_wakeup(s, a[0].pointer, a[1].pointer))
SERVICE(5, SCHEDULER_PRUNE, MANAGE, 0, ">l", selene_scheduler_prune(s, a[0].pointer))
SERVICE(6, SCHEDULER_RESUME, MANAGE, 1, "", selene_scheduler_resume(s))
SERVICE(7, SCHEDULER_PAUSE, MANAGE, 1, "itl", selene_scheduler_pause(s, (uint32_t)a[0].number, a[1].pointer, a[2].number, a[3].number))
SERVICE(8, PAUSE_LIST, LOOK, 1, ">pU", selene_pause_list(s, a[0].pointer))
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
SERVICE(32, CYCLE_PLAN, LOOK, 1, "sW>pP", m->number != 0 ? MEMBER(CYCLE_PLAN) : selene_cycle_plan(s, a[0].pointer, a[1].pointer))
SERVICE(33, TASK_SET_NEXT, ENQUEUE, 0, "tl", selene_task_set_next(s, a[0].pointer, a[1].number, a[2].number))
SERVICE(34, TASK_GET_OUTPUT, READ, 1, "t>pO", selene_task_get_output(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(36, TASK_WAITS, LOOK, 1, "t>pA", selene_task_waits(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(37, TASK_RETRY_SUCCESSORS, ENQUEUE, 0, "t>l", selene_task_retry_successors(s, a[0].pointer, a[1].number, a[2].pointer))
SERVICE(38, TASK_RETRY_ALL, MANAGE, 0, "ti>l", selene_task_retry_all(s, a[0].pointer, a[1].number, (uint32_t)a[2].number, a[3].pointer))
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
// Its process belongs to a pool from then on, and says before it closes the connection that it does.
SERVICE(88, CLIENT_JOIN, WORK, 1, "t", SELENE_ERROR_UNSUPPORTED)
SERVICE(89, CLIENT_LEAVE, WORK, 1, "", SELENE_ERROR_UNSUPPORTED)
SERVICE(90, CLIENT_LIST, LOOK, 1, ">pC", selene_client_list(s, a[0].pointer))
// From then on its connection is told of its runs and windows, in further answers to this request.
SERVICE(91, CLIENT_HEAR, WORK, 1, "", SELENE_ERROR_UNSUPPORTED)
// What it has taken waits again as before, though it stays: it is about to leave.
SERVICE(92, CLIENT_REST, WORK, 1, "", MEMBER(CLIENT_REST))
SERVICE(96, HANDLER_REGISTER, WORK, 0, "ti", MEMBER(HANDLER_REGISTER))
SERVICE(97, HANDLER_UNREGISTER, WORK, 0, "t", MEMBER(HANDLER_UNREGISTER))
SERVICE(100, CYCLE_BEGIN, WORK, 0, "sW>l", MEMBER(CYCLE_BEGIN))
SERVICE(101, CYCLE_NEXT, WORK, 0, "l>qNil", MEMBER(CYCLE_NEXT))
SERVICE(102, CYCLE_END, WORK, 0, "l>pQ", MEMBER(CYCLE_END))
SERVICE(103, CYCLE_DRAIN, WORK, 0, "ll", MEMBER(CYCLE_DRAIN))
// Of a cycle of lanes: the cycle, the run before (0: none) and its outcome (-1: none), then the next one.
SERVICE(104, CYCLE_TAKE, WORK, 0, "lli>qNill", MEMBER(CYCLE_TAKE))
SERVICE(105, CYCLE_PROGRESS, WORK, 1, "l>ill", MEMBER(CYCLE_PROGRESS))
// A cycle whose handlers its process calls: while it waits (0), or later (1); its cycle, and when that is over at the latest.
SERVICE(106, CYCLE_CALL, WORK, 0, "sWi>ll", MEMBER(CYCLE_CALL))
// Windows that are granted: how, and whether its process calls the handlers (1) or takes runs (0). A step: the cycle of a
// window, or 0, how many runs at a time are for this process, when to come again, and how long until then.
SERVICE(107, DRIVER_OPEN, WORK, 0, "sYi", MEMBER(DRIVER_OPEN))
SERVICE(108, DRIVER_STEP, WORK, 0, ">lill", MEMBER(DRIVER_STEP))
SERVICE(109, DRIVER_STOP, WORK, 1, "", MEMBER(DRIVER_STOP))
SERVICE(112, RUN_COMPLETE, WORK, 0, "li", MEMBER(RUN_COMPLETE))
SERVICE(113, RUN_RETRY, WORK, 0, "ll", MEMBER(RUN_RETRY))
SERVICE(114, RUN_FAIL, WORK, 0, "lilt", MEMBER(RUN_FAIL))
SERVICE(115, RUN_COMPLETE_UNTIL, WORK, 0, "lil", MEMBER(RUN_COMPLETE_UNTIL))
SERVICE(116, RUN_STOPPING, WORK, 0, "l>i", MEMBER(RUN_STOPPING))
SERVICE(117, RUN_REMAINING, WORK, 0, "l>l", MEMBER(RUN_REMAINING))
SERVICE(118, RUN_PROGRESS, WORK, 0, "lllt", MEMBER(RUN_PROGRESS))
SERVICE(119, RUN_SET_OUTPUT, WORK, 0, "lt", MEMBER(RUN_SET_OUTPUT))
SERVICE(120, RUN_GET, WORK, 0, "l>pN", MEMBER(RUN_GET))
// A run that it took from an earlier owner, as that numbered it at first: 0 it is not known, 1 it goes on and has this number
// now, 2 it came too late.
SERVICE(121, RUN_ADOPT, WORK, 1, "l>il", MEMBER(RUN_ADOPT))
SERVICE(122, RUN_FENCE, WORK, 0, "l>ll", MEMBER(RUN_FENCE))
SERVICE(123, RUN_DECIDED_BY_HOST, WORK, 0, "l", MEMBER(RUN_DECIDED_BY_HOST))
// clang-format on
#undef SERVICE
