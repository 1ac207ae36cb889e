// How a scheduler whose runs an owner gives asks it: words of the protocol as values of the engine.

import CSelene
import CService
import SeleneCore
import SeleneEngine

private func given(_ taken: service_step_taken) -> GivenStep {
  guard let block = taken.run else {
    return taken.step == SELENE_STEP_WAIT ? .wait(until: taken.until, delay: taken.delay) : .done
  }
  func bytes(_ text: selene_text) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text.data, count: Int(text.length))
  }
  let info = block.assumingMemoryBound(to: selene_run_info.self)
  var run = GivenRun(block: block)
  (run.number, run.id, run.handler) = (info.pointee.run, bytes(info.pointee.id), bytes(info.pointee.handler))
  (run.input, run.kind, run.priority) = (bytes(info.pointee.input), info.pointee.kind, info.pointee.priority)
  (run.attempt, run.generation, run.score) = (info.pointee.attempt, info.pointee.generation, info.pointee.score)
  (run.estimate, run.startedAt) = (info.pointee.estimate, info.pointee.started_at)
  (run.expiresAt, run.deadline) = (info.pointee.expires_at, info.pointee.deadline)
  return .run(run)
}

extension selene_window {
  /// What an owner is asked for.
  fileprivate init(_ window: Window) {
    self = .empty
    kinds = window.kinds.rawValue
    lanes = UInt32(window.lanes)
    (budget, reserve) = (window.budget, said(window.reserve, usual: -1))
    if window.strictFit { flags |= UInt32(SELENE_WINDOW_STRICT_FIT) }
    if !window.isRolling { flags |= UInt32(SELENE_WINDOW_FROZEN) }
    if window.isInline { flags |= UInt32(SELENE_WINDOW_INLINE) }
    if window.hasLanes { flags |= UInt32(SELENE_WINDOW_LANES) }
    if let task = window.task { self.task = lend(task) }
  }
}

extension OwnerLink {
  /// Over a connection.
  fileprivate init(_ connection: UInt64) {
    self.init(
      enter: { () throws(SeleneError) -> Turn in
        var turn = UnsafeMutableRawPointer?.none
        try calling { failure in
          turn = service_link_enter(connection, failure)
          return turn == nil ? failure.pointee.status : 0
        }
        guard let turn else { throw .closedConnection }
        return turn
      },
      exit: { service_link_exit($0) },
      offer: { (turn, name, isCalled) throws(SeleneError) in
        guard let start = name.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
        try calling { service_link_offer(turn, start, UInt64(name.count), isCalled ? 1 : 0, $0) }
      },
      withdraw: { turn, name in
        guard let start = name.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
        service_link_withdraw(turn, start, UInt64(name.count))
      },
      begin: { (turn, window, caller) throws(SeleneError) -> (cycle: UInt64, deadline: Instant) in
        var given = selene_window(window)
        var begun = (cycle: UInt64(0), deadline: Instant(0))
        let how =
          switch caller {
          case .host: SERVICE_LINK_TAKES
          case .waiting: SERVICE_LINK_CALLS
          case .later: SERVICE_LINK_CALLS_LATER
          }
        try calling { service_link_begin(turn, &given, Int32(how), &begun.cycle, &begun.deadline, $0) }
        return begun
      },
      take: { (turn, cycle, last, outcome, pulls) throws(SeleneError) -> GivenStep in
        var taken = service_step_taken()
        try calling { service_link_take(turn, cycle, last, outcome, pulls ? 1 : 0, &taken, $0) }
        return given(taken)
      },
      keep: { service_link_keep($0, $1, $2) },
      decide: { (turn, run, said) throws(SeleneError) in
        let outcome = word(said.outcome.rawValue)
        if let next = said.next {
          return try request(turn, run, SERVICE_RUN_COMPLETE_UNTIL, RunWords(outcome, word(next)))
        }
        if said.message == nil, said.outcome == .failed, let delay = said.retryDelay {
          return try request(turn, run, SERVICE_RUN_RETRY, RunWords(word(delay)))
        }
        if said.message != nil || said.retryDelay != nil {
          let text = said.message?.buffer
          return try request(
            turn, run, SERVICE_RUN_FAIL,
            RunWords(outcome, word(said.retryDelay ?? -1), word(text?.baseAddress), word(text?.count ?? 0)))
        }
        try request(turn, run, SERVICE_RUN_COMPLETE, RunWords(outcome))
      },
      ask: { (turn, run, operation, words) throws(SeleneError) in
        try request(turn, run, service_operation(rawValue: operation), words)
      },
      progress: { (turn, cycle) throws(SeleneError) -> GivenStep in
        var taken = service_step_taken()
        try calling { service_link_progress(turn, cycle, &taken, $0) }
        return given(taken)
      },
      end: { (turn, cycle) throws(SeleneError) -> UnsafeMutableRawPointer in
        var report = UnsafeMutableRawPointer?.none
        try calling { service_link_end(turn, cycle, &report, $0) }
        guard let report else { throw .closedConnection }
        return report
      },
      name: { block, cycle, token in
        let report = block.assumingMemoryBound(to: selene_report.self)
        report.pointee.cycle = cycle
        guard let runs = UnsafeMutablePointer(mutating: report.pointee.runs) else { return }
        for place in 0..<Int(report.pointee.run_count) { runs[place].run = token(runs[place].run) }
      },
      drain: { (turn, cycle, grace) throws(SeleneError) in
        try calling { service_link_drain(turn, cycle, grace, $0) }
      },
      rest: { service_link_rest($0) },
      drive: { (turn, draft, calls) throws(SeleneError) in
        var driver = selene_driver(draft)
        try calling { service_link_drive(turn, &driver, calls ? 1 : 0, $0) }
      },
      step: { (turn) throws(SeleneError) -> GivenWindow in
        var (cycle, taken) = (UInt64(0), service_step_taken())
        try calling { service_link_step(turn, &cycle, &taken, $0) }
        return GivenWindow(cycle: cycle, lanes: Int(taken.lanes), until: taken.until, delay: taken.delay)
      },
      undrive: { service_link_undrive($0) },
      hear: { (turn) throws(SeleneError) in try calling { service_link_hear(turn, $0) } },
      drop: { service_link_drop($0) },
      comeBack: { service_link_return($0) },
      settle: { (turn) throws(SeleneError) in try calling { service_link_settle(turn, $0) } },
      read: { service_link_read(connection, $0) },
      ring: { service_link_ring(connection) },
      lost: {
        var failure = service_failure()
        service_link_lost(connection, &failure)
        return SeleneError(failure: &failure)
      })
  }
}

private func request(
  _ turn: Turn, _ run: UInt64, _ operation: service_operation, _ words: RunWords
) throws(SeleneError) {
  try calling { failure in
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 4) { room in
      guard let given = room.baseAddress else { return 0 }
      (given[0], given[1], given[2], given[3]) = (words.a, words.b, words.c, words.d)
      return service_link_ask(turn, run, UInt32(operation.rawValue), given, failure)
    }
  }
}

extension SeleneError {
  fileprivate static var closedConnection: SeleneError {
    SeleneError(.invalidHandle, "scheduler", "a handle that is closed is not an open handle")
  }
}

/// Who works for a handle: itself, or the scheduler that works off what a connection's owner gives.
@inline(__always)
func worker(at handle: UInt64) throws(SeleneError) -> UInt64 {
  service_is_connection(handle) != 0 ? try worker(of: handle) : handle
}

/// The scheduler that works for a connection, which is opened when the first one asks for it. A WebAssembly module has no
/// other processes, and nothing of what asks them.
@inline(never)
private func worker(of connection: UInt64) throws(SeleneError) -> UInt64 {
  #if arch(wasm32)
    throw .closedConnection
  #else
    return try openWorker(of: connection)
  #endif
}

private func openWorker(of connection: UInt64) throws(SeleneError) -> UInt64 {
  if let known = try knownWorker(of: connection) { return known }
  // Nobody else knows it until it is attached.
  let handle = try Scheduler.open(for: OwnerSource(OwnerLink(connection)))
  let context = try Scheduler.enter(handle) { (scheduler, _) throws(SeleneError) in
    Unmanaged.passRetained(scheduler).toOpaque()
  }
  var attached = UInt64(0)
  do throws(SeleneError) {
    try calling { failure in
      service_link_attach(
        connection, handle,
        { context, run, word, isOver in
          Unmanaged<Scheduler>.fromOpaque(context).takeUnretainedValue().told(run, word, isOver: isOver != 0)
        }, { Unmanaged<Scheduler>.fromOpaque($0).release() }, context, &attached, failure)
    }
  } catch {
    Unmanaged<Scheduler>.fromOpaque(context).release()
    try? Scheduler.close(handle, grace: 0)
    throw error
  }
  guard attached != handle else { return handle }
  // Another thread was first.
  Unmanaged<Scheduler>.fromOpaque(context).release()
  try Scheduler.close(handle, grace: 0)
  return attached
}

/// The same, or nil where nothing has asked for it yet.
private func knownWorker(of connection: UInt64) throws(SeleneError) -> UInt64? {
  var worker = UInt64(0)
  try calling { service_link_worker(connection, &worker, $0) }
  return worker == 0 ? nil : worker
}

/// Closes a connection, and what works for it.
func disconnect(_ connection: UInt64, grace: Span) throws(SeleneError) {
  try Units.system.check(grace: grace)
  if let worker = try knownWorker(of: connection) { try Scheduler.checkClose(worker, grace: grace) }
  try calling { service_leaving(connection, grace, $0) }
  // From here on nothing begins to work for it.
  if let worker = try knownWorker(of: connection) { try? Scheduler.close(worker, grace: grace) }
  service_disconnect(connection)
}

extension Scheduler {
  /// Asks the owner of a run, if it has one; whether it has.
  func asks(
    _ number: UInt64, _ operation: service_operation, _ a: UInt64 = 0, _ b: UInt64 = 0, _ c: UInt64 = 0,
    _ d: UInt64 = 0
  ) throws(SeleneError) -> Bool {
    guard owner != nil else { return false }
    return try asks(number, UInt32(operation.rawValue), RunWords(a, b, c, d))
  }
}
