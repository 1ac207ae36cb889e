// Section TASK of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine

extension selene_task: SizedStruct {}

/// The numbers of a task under the names of the header: in what a host asks for, and in what it is told of a task.
private protocol TaskFields {
  var kind: Int32 { get set }
  var schedule: Int32 { get set }
  var priority: Int32 { get set }
  var existing: Int32 { get set }
  var recurrence: Int32 { get set }
  var backoff: Int32 { get set }
  var flags: UInt32 { get set }
  var response_window: Int32 { get set }
  var max_attempts: UInt32 { get set }
  var constraints: UInt32 { get set }
  var expected_response: Int64 { get set }
  var initial_delay: Int64 { get set }
  var period: Int64 { get set }
  var flex: Int64 { get set }
  var backoff_delay: Int64 { get set }
  var timeout: Int64 { get set }
  var stall_limit: Int64 { get set }
  var jitter: UInt32 { get set }
  var latest_begin: Int64 { get set }
}

extension selene_task: TaskFields {}
extension selene_task_info: TaskFields {}

extension TaskFields {
  /// Copies each one way or the other.
  @inline(__always)
  fileprivate mutating func exchange(_ numbers: inout TaskNumbers, _ way: some Exchange) {
    way.copy(&kind, &numbers.kind)
    way.copy(&schedule, &numbers.schedule)
    way.copy(&priority, &numbers.priority)
    way.copy(&existing, &numbers.existing)
    way.copy(&recurrence, &numbers.recurrence)
    way.copy(&backoff, &numbers.backoff)
    way.copy(&flags, &numbers.flags)
    way.copy(&response_window, &numbers.responseWindow)
    way.copy(&max_attempts, &numbers.maxAttempts)
    way.copy(&constraints, &numbers.constraints)
    way.copy(&expected_response, &numbers.expectedResponse)
    way.copy(&initial_delay, &numbers.initialDelay)
    way.copy(&period, &numbers.period)
    way.copy(&flex, &numbers.flex)
    way.copy(&backoff_delay, &numbers.backoffDelay)
    way.copy(&timeout, &numbers.timeout)
    way.copy(&stall_limit, &numbers.stallLimit)
    way.copy(&jitter, &numbers.jitter)
    way.copy(&latest_begin, &numbers.latestBegin)
  }
}

private protocol Exchange {
  func copy<T>(_ host: inout T, _ own: inout T)
}

private struct FromHost: Exchange {
  @inline(__always)
  func copy<T>(_ host: inout T, _ own: inout T) { own = host }
}

private struct ToHost: Exchange {
  @inline(__always)
  func copy<T>(_ host: inout T, _ own: inout T) { host = own }
}

extension selene_task {
  /// Writes the fields for the engine.
  @_optimize(speed)
  @inline(__always)
  fileprivate mutating func write(to draft: inout TaskDraft) throws(SeleneError) {
    draft.id = try borrow(id, "id")
    draft.handler = try borrow(handler, "handler")
    if group.length != 0 { draft.group = try borrow(group, "group") }
    exchange(&draft.numbers, FromHost())
    if tag_count > 0 {
      draft.tags = try borrow(tags, count: UInt64(tag_count), atMost: UInt64(TaskDefinition.mostTags), "tags")
    }
    if after_count > 0 {
      draft.after = try borrow(after, count: UInt64(after_count), atMost: UInt64(TaskDefinition.mostAfter), "after")
    }
    if condition_count > 0 {
      draft.conditions = try borrow(
        conditions, count: UInt64(condition_count), atMost: UInt64(HostConditions.most), "conditions")
    }
    guard input_length >= 0 else {
      throw .range("input_length", input_length, 0, .max, .bytes)
    }
    guard input != nil || input_length == 0 else { throw .null("input") }
    draft.input = UnsafeRawBufferPointer(start: input, count: Int(input_length))
  }
}

/// Reads a host's task into a draft that is new.
@_optimize(speed)
private func read(_ task: UnsafePointer<selene_task>, into draft: inout TaskDraft) throws(SeleneError) {
  let size = try structSize(
    task,
    flags: UInt32(
      SELENE_TASK_STEADY | SELENE_TASK_AFTER_ANY_END | SELENE_TASK_EXPEDITED | SELENE_TASK_REFUSE_OUT_OF_QUOTA),
    named: "0, or a sum of SELENE_TASK_STEADY (1), _AFTER_ANY_END (2), _EXPEDITED (4), _REFUSE_OUT_OF_QUOTA (8)",
    "task")
  var whole = size == MemoryLayout<selene_task>.size ? task.pointee : copy(task)
  whole.takeDefaults()
  try whole.write(to: &draft)
}

@_optimize(speed)
private func register(
  _ task: UnsafePointer<selene_task>, with scheduler: selene_scheduler
) throws(SeleneError) -> Disposition {
  var draft = TaskDraft()
  try read(task, into: &draft)
  return try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
    try scheduler.register(draft, at: moment)
  }
}

@_cdecl("selene_task_register") @implementation
public func selene_task_register(
  _ scheduler: selene_scheduler, _ task: UnsafePointer<selene_task>!, _ out_disposition: UnsafeMutablePointer<Int32>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_REGISTER, word(task), word(out_disposition)) { () throws(SeleneError) in
    let disposition = try register(try require(task, "task"), with: scheduler)
    out_disposition?.pointee = disposition.rawValue
  }
}

@_cdecl("selene_task_register_batch") @implementation
public func selene_task_register_batch(
  _ scheduler: selene_scheduler, _ tasks: UnsafePointer<UnsafePointer<selene_task>?>!, _ count: UInt64,
  _ out_statuses: UnsafeMutablePointer<selene_status>!, _ out_dispositions: UnsafeMutablePointer<Int32>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_REGISTER_BATCH, word(tasks), word(count), word(out_statuses), word(out_dispositions))
  { () throws(SeleneError) in
    guard count <= 1_000_000 else {
      throw .range("count", count, 0, 1_000_000)
    }
    let (tasks, count) = (count == 0 ? nil : try require(tasks, "tasks"), Int(count))
    let results = try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.register(
        count: count,
        read: { index, draft throws(SeleneError) in
          guard let task = tasks?[index] else { throw .null("tasks") }
          try SeleneABI.read(task, into: &draft)
        }, at: moment)
    }
    for (index, result) in results.enumerated() {
      switch result {
      case .success(let disposition):
        out_statuses?[index] = 0
        out_dispositions?[index] = disposition.rawValue
      case .failure(let error):
        out_statuses?[index] = fail(error)
      }
    }
  }
}

/// Calls what acts on the tasks of an id or a tag, and tells how many they were.
private func count(
  _ scheduler: selene_scheduler, _ operation: service_operation, _ text: UnsafePointer<CChar>?, _ length: Int64,
  _ name: Literal, _ out_count: UnsafeMutablePointer<UInt64>?,
  _ act: (Scheduler, UnsafeRawBufferPointer, Moment) throws(SeleneError) -> UInt64
) -> selene_status {
  attempt(scheduler, operation, word(text), word(length), word(out_count)) { () throws(SeleneError) in
    let text = try borrow(text, length, name)
    let count = try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try act(scheduler, text, moment)
    }
    out_count?.pointee = count
  }
}

@_cdecl("selene_task_cancel") @implementation
public func selene_task_cancel(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64,
  _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  count(scheduler, SERVICE_TASK_CANCEL, id, id_length, "id", out_count) {
    (scheduler, id, moment) throws(SeleneError) in try scheduler.cancel(id: id, at: moment)
  }
}

@_cdecl("selene_task_cancel_tag") @implementation
public func selene_task_cancel_tag(
  _ scheduler: selene_scheduler, _ tag: UnsafePointer<CChar>!, _ tag_length: Int64,
  _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  count(scheduler, SERVICE_TASK_CANCEL_TAG, tag, tag_length, "tag", out_count) {
    (scheduler, tag, moment) throws(SeleneError) in try scheduler.cancel(tag: tag, at: moment)
  }
}

@_cdecl("selene_task_cancel_all") @implementation
public func selene_task_cancel_all(
  _ scheduler: selene_scheduler, _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_CANCEL_ALL, word(out_count)) { () throws(SeleneError) in
    let count = try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.cancelAll(at: moment)
    }
    out_count?.pointee = count
  }
}

@_cdecl("selene_task_retry") @implementation
public func selene_task_retry(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_RETRY, word(id), word(id_length)) { () throws(SeleneError) in
    let id = try borrow(id, id_length, "id")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.retry(id, at: moment)
    }
  }
}

@_cdecl("selene_task_retry_successors") @implementation
public func selene_task_retry_successors(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64,
  _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  count(scheduler, SERVICE_TASK_RETRY_SUCCESSORS, id, id_length, "id", out_count) {
    (scheduler, id, moment) throws(SeleneError) in try scheduler.retryWithSuccessors(id, at: moment)
  }
}

@_cdecl("selene_task_retry_all") @implementation
public func selene_task_retry_all(
  _ scheduler: selene_scheduler, _ tag: UnsafePointer<CChar>!, _ tag_length: Int64, _ flags: UInt32,
  _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_RETRY_ALL, word(tag), word(tag_length), word(flags), word(out_count)) {
    () throws(SeleneError) in
    let given = try borrow(tag, tag_length, "tag")
    let isGiven = (tag as UnsafePointer<CChar>?) != nil
    let successors = UInt32(SELENE_RETRY_SUCCESSORS)
    guard flags & ~successors == 0 else {
      throw .range("flags", flags, 0, Int64(successors), .number, "0 or SELENE_RETRY_SUCCESSORS (1)")
    }
    let count = try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.retryAll(tag: isGiven ? given : nil, successors: flags != 0, at: moment)
    }
    out_count?.pointee = count
  }
}

@_cdecl("selene_task_set_next") @implementation
public func selene_task_set_next(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64, _ next: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_SET_NEXT, word(id), word(id_length), word(next)) { () throws(SeleneError) in
    let id = try borrow(id, id_length, "id")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.setNext(id, next, at: moment)
    }
  }
}

@_cdecl("selene_task_pause") @implementation
public func selene_task_pause(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64,
  _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  count(scheduler, SERVICE_TASK_PAUSE, id, id_length, "id", out_count) {
    (scheduler, id, moment) throws(SeleneError) in try scheduler.pause(true, id: id, at: moment)
  }
}

@_cdecl("selene_task_pause_tag") @implementation
public func selene_task_pause_tag(
  _ scheduler: selene_scheduler, _ tag: UnsafePointer<CChar>!, _ tag_length: Int64,
  _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  count(scheduler, SERVICE_TASK_PAUSE_TAG, tag, tag_length, "tag", out_count) {
    (scheduler, tag, moment) throws(SeleneError) in try scheduler.pause(true, tag: tag, at: moment)
  }
}

@_cdecl("selene_task_resume") @implementation
public func selene_task_resume(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64,
  _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  count(scheduler, SERVICE_TASK_RESUME, id, id_length, "id", out_count) {
    (scheduler, id, moment) throws(SeleneError) in try scheduler.pause(false, id: id, at: moment)
  }
}

@_cdecl("selene_task_resume_tag") @implementation
public func selene_task_resume_tag(
  _ scheduler: selene_scheduler, _ tag: UnsafePointer<CChar>!, _ tag_length: Int64,
  _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  count(scheduler, SERVICE_TASK_RESUME_TAG, tag, tag_length, "tag", out_count) {
    (scheduler, tag, moment) throws(SeleneError) in try scheduler.pause(false, tag: tag, at: moment)
  }
}

@_cdecl("selene_task_get") @implementation
public func selene_task_get(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64, _ position: UInt64,
  _ out_info: UnsafeMutablePointer<UnsafeMutablePointer<selene_task_info>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_GET, word(id), word(id_length), word(position), word(out_info)) {
    () throws(SeleneError) in
    let out = try require(out_info, "out_info")
    let id = try borrow(id, id_length, "id")
    out.pointee = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      // Under the lock, because a record's history is not copied with it.
      let (record, waiting, waitsFor) = try scheduler.record(id, position: position)
      let (progress, hasHandler) = (scheduler.progress(ofRun: record.run), scheduler.hasHandler(record))
      return Block.make { block in
        var info = selene_task_info(record, hasHandler: hasHandler, waiting: waiting, progress, in: &block)
        let after = record.definition.after
        info.after = block.array(after.count) { index, block in block.text(after[index].id) }
        info.after_count = UInt32(after.count)
        info.waits_for = waitsFor
        return info
      }
    }
  }
}

@_cdecl("selene_task_get_output") @implementation
public func selene_task_get_output(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64,
  _ out_output: UnsafeMutablePointer<UnsafeMutablePointer<selene_task_output>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_GET_OUTPUT, word(id), word(id_length), word(out_output)) { () throws(SeleneError) in
    let out = try require(out_output, "out_output")
    let id = try borrow(id, id_length, "id")
    let output = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      try scheduler.output(id)
    }
    out.pointee = Block.make { block in
      var made = selene_task_output()
      made.struct_size = UInt32(MemoryLayout<selene_task_output>.size)
      made.output = block.text(output?.buffer ?? noText)
      return made
    }
  }
}

@_cdecl("selene_task_list") @implementation
public func selene_task_list(
  _ scheduler: selene_scheduler, _ tag: UnsafePointer<CChar>!, _ tag_length: Int64,
  _ out_ids: UnsafeMutablePointer<UnsafeMutablePointer<selene_task_ids>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_LIST, word(tag), word(tag_length), word(out_ids)) { () throws(SeleneError) in
    let out = try require(out_ids, "out_ids")
    let given = try borrow(tag, tag_length, "tag")
    let isGiven = (tag as UnsafePointer<CChar>?) != nil
    let definitions = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      try scheduler.definitions(tag: isGiven ? given : nil)
    }
    out.pointee = ids(of: definitions)
  }
}

@_cdecl("selene_task_list_state") @implementation
public func selene_task_list_state(
  _ scheduler: selene_scheduler, _ state: Int32,
  _ out_ids: UnsafeMutablePointer<UnsafeMutablePointer<selene_task_ids>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_LIST_STATE, word(state), word(out_ids)) { () throws(SeleneError) in
    let out = try require(out_ids, "out_ids")
    guard let state = UInt8(exactly: state).flatMap(TaskState.init) else { throw .range("state", state, 0, 6) }
    let definitions = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      try scheduler.definitions(state: state)
    }
    out.pointee = ids(of: definitions)
  }
}

private func ids(of definitions: [TaskDefinition]) -> UnsafeMutablePointer<selene_task_ids> {
  list(definitions.count) { definitions[$0].id }
}

/// Texts as the ids of a list.
func list(_ count: Int, _ text: (Int) -> UnsafeRawBufferPointer) -> UnsafeMutablePointer<selene_task_ids> {
  Block.make { block in
    var ids = selene_task_ids()
    ids.struct_size = UInt32(MemoryLayout<selene_task_ids>.size)
    ids.count = UInt64(count)
    ids.ids = block.array(count) { index, block in block.text(text(index)) }
    return ids
  }
}

@_cdecl("selene_task_explain") @implementation
public func selene_task_explain(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64,
  _ out_explanation: UnsafeMutablePointer<selene_explanation>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_EXPLAIN, word(id), word(id_length), word(out_explanation)) { () throws(SeleneError) in
    let out = try require(out_explanation, "out_explanation")
    let size = try structSize(out, "out_explanation")
    let id = try borrow(id, id_length, "id")
    let explanation = try Scheduler.enter(scheduler, probing: .asked, isQuestion: true) {
      (scheduler, moment) throws(SeleneError) in
      try scheduler.explain(id, at: moment)
    }
    write(selene_explanation(explanation), to: out, size: size)
  }
}

@_cdecl("selene_task_waits") @implementation
public func selene_task_waits(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64,
  _ out_waits: UnsafeMutablePointer<UnsafeMutablePointer<selene_waits>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_WAITS, word(id), word(id_length), word(out_waits)) { () throws(SeleneError) in
    let out = try require(out_waits, "out_waits")
    let id = try borrow(id, id_length, "id")
    let told = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, moment) throws(SeleneError) in
      try scheduler.waits(id, at: moment)
    }
    let (waits, preferred) = (told.waits, told.preferred)
    out.pointee = Block.make { block in
      var made = selene_waits()
      made.struct_size = UInt32(MemoryLayout<selene_waits>.size)
      (made.since, made.until, made.state) = (waits.since, waits.until, Int32(waits.state.rawValue))
      made.part_count = UInt64(waits.parts.count)
      made.parts = block.array(waits.parts.count) { index, block in
        let part = waits.parts[index]
        return selene_wait(
          name: name(told.partNames[index], in: &block), reason: part.reason.rawValue, reserved: 0,
          detail: detail(part.detail, of: part.reason), duration: part.duration, times: part.times)
      }
      made.change_count = UInt64(waits.changes.count)
      made.changes = block.array(waits.changes.count) { index, block in
        let change = waits.changes[index]
        return selene_wait_change(
          name: name(told.changeNames[index], in: &block), at: change.at,
          detail: detail(change.detail, of: change.reason), reason: change.reason.rawValue, reserved: 0)
      }
      made.preferred_count = waits.preferred
      made.preferred_id_count = UInt64(preferred.count)
      made.preferred_ids = block.array(preferred.count) { index, block in block.text(preferred[index].id) }
      return made
    }
  }
}

/// Of a condition its name is told, not its number.
private func detail(_ detail: Int64, of reason: Reason) -> Int64 { reason == .conditions ? 0 : detail }

/// NULL where there is none.
private func name(_ name: Bytes?, in block: inout Block) -> selene_text {
  name.map { block.text($0.buffer) } ?? selene_text()
}

extension selene_task_info {
  fileprivate init(
    _ record: TaskRecord, hasHandler: Bool, waiting: Int, _ progress: Progress?, in block: inout Block
  ) {
    self.init()
    let definition = record.definition
    struct_size = UInt32(MemoryLayout<selene_task_info>.size)
    id = block.text(definition.id)
    handler = block.text(definition.handler)
    input = block.text(definition.input)
    tags = block.array(definition.tagCount) { index, block in block.text(definition.tag(index)) }
    tag_count = UInt32(definition.tagCount)
    var numbers = definition.terms.numbers
    exchange(&numbers, ToHost())
    has_handler = hasHandler ? 1 : 0
    state = Int32(record.state.rawValue)
    attempts = record.attempts
    last_outcome = record.lastOutcome?.rawValue ?? -1
    stop_reason = record.stopReason.rawValue
    generation = record.generation
    sequence = record.sequence
    appended = UInt64(waiting)
    registered_at = record.registeredAt
    earliest_begin = record.earliestBegin
    anchor = record.anchor
    last_run = record.lastRun
    estimate = record.estimate
    run = record.run
    response_time_count = withUnsafeMutablePointer(to: &response_times) {
      UInt64(record.copyResponseTimes(to: UnsafeMutableRawPointer($0).assumingMemoryBound(to: Span.self)))
    }
    let last = record.failure
    failed_at = last?.at ?? 0
    failed_attempt = UInt64(last?.attempt ?? 0)
    failure = block.text(last?.message?.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0))
    paused = record.isPaused ? 1 : 0
    output_length = UInt64(record.output?.count ?? 0)
    output_lost = record.outputLost
    quarantined = UInt32(record.suspicion.rawValue)
    group = block.text(definition.group?.name.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0))
    conditions = block.array(definition.conditionCount) { index, block in block.text(definition.condition(index)) }
    condition_count = UInt32(definition.conditionCount)
    progress_text = block.text(progress?.text?.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0))
    guard let progress else { return }
    (progress_at, progress_done, progress_total) = (progress.at, progress.done, progress.total)
  }
}

extension selene_explanation: SizedStruct {
  fileprivate init(_ explanation: Explanation) {
    self.init()
    state = Int32(explanation.state.rawValue)
    reason_count = UInt32(explanation.entries.count)
    withUnsafeMutableBytes(of: &reasons) { bytes in
      let reasons = bytes.bindMemory(to: selene_reason.self)
      for (index, entry) in explanation.entries.enumerated() where index < reasons.count {
        reasons[index] = selene_reason(
          reason: entry.reason.rawValue, constraints: entry.missing.rawValue, may_change_at: entry.mayChangeAt)
      }
    }
    rank = UInt64(explanation.rank)
    eligible = UInt64(explanation.eligible)
    score = explanation.score
    estimate = explanation.estimate
    last_room = explanation.lastRoom ?? -1
    attempts = explanation.attempts
    (urgent, latest_begin) = (explanation.isUrgent ? 1 : 0, explanation.latestAt ?? 0)
    expedited = explanation.isExpedited ? 1 : 0
    unknown_constraints = explanation.unknown.rawValue
    output_lost = explanation.outputLost
    guard let terms = explanation.pace else { return }
    let told = selene_pace(terms)
    (fresh_since, cost, known_runs, news_runs) = (told.fresh_since, told.cost, told.known_runs, told.news_runs)
    (pace, pace_class) = (told.pace, told.pace_class)
  }
}

@_cdecl("selene_task_launch") @implementation
public func selene_task_launch(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_LAUNCH, word(id), word(id_length)) { () throws(SeleneError) in
    let id = try borrow(id, id_length, "id")
    try Scheduler.enter(scheduler, probing: .asked) { (scheduler, moment) throws(SeleneError) in
      try scheduler.launch(id, at: moment)
    }
  }
}

@_cdecl("selene_task_expire") @implementation
public func selene_task_expire(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_TASK_EXPIRE, word(id), word(id_length)) { () throws(SeleneError) in
    let id = try borrow(id, id_length, "id")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.expire(id, at: moment)
    }
  }
}
