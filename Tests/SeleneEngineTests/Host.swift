// A host program as tests play it: it owns the clock, the handlers and the windows.

import SeleneCore
import Testing

@testable import SeleneEngine

/// A clock that the test moves.
final class VirtualClock {
  var now: Instant
  init(_ now: Instant) { self.now = now }
}

/// A scheduler with everything a host does to it; on a virtual clock unless asked otherwise.
final class Host: @unchecked Sendable {  // shared by threads only on the system's clock
  let handle: UInt64
  private let clock: VirtualClock?
  private var isOpen = true

  /// The instant of the next call.
  var now: Instant {
    get { clock?.now ?? (try? enter { $1.now }) ?? 0 }
    set { clock?.now = newValue }
  }

  init(
    at now: Instant = 1_000 * Time.second, onSystemClock: Bool = false, store: Store = Store(),
    _ change: (inout OptionsDraft) -> Void = { _ in }
  ) throws {
    var draft = OptionsDraft()
    change(&draft)
    let clock = onSystemClock ? nil : VirtualClock(now)
    self.clock = clock
    handle = try Scheduler.open(
      Options(draft, .own), clock.map { clock in HostClock(read: { clock.now }, destroy: nil) }, on: store)
    try satisfy(.all)
  }

  deinit { try? close() }

  func close(grace: Span = 0) throws {
    guard isOpen else { return }
    isOpen = false
    try Scheduler.close(handle, grace: grace)
  }

  /// A call into the scheduler.
  func enter<R>(_ body: (Scheduler, Moment) throws -> R) throws -> R {
    // The border's closures throw SeleneError only; whatever a test's body throws is carried around them.
    let result: Result<R, any Error> = try Scheduler.enter(handle, probing: .all) { scheduler, moment in
      Result { try body(scheduler, moment) }
    }
    return try result.get()
  }

  // MARK: Tasks

  @discardableResult
  func register(_ recipe: Recipe) throws -> Disposition {
    try recipe.withDraft { draft in try enter { try $0.register(draft, at: $1) } }
  }

  func retry(_ id: String) throws {
    try id.withBytes { bytes in try enter { try $0.retry(bytes, at: $1) } }
  }

  func cancel(_ id: String) throws -> UInt64 {
    try id.withBytes { bytes in try enter { try $0.cancel(id: bytes, at: $1) } }
  }

  func cancel(tag: String) throws -> UInt64 {
    try tag.withBytes { bytes in try enter { try $0.cancel(tag: bytes, at: $1) } }
  }

  func setNext(_ id: String, _ next: Instant) throws {
    try id.withBytes { bytes in try enter { try $0.setNext(bytes, next, at: $1) } }
  }

  func pause(_ isPaused: Bool, _ id: String) throws -> UInt64 {
    try id.withBytes { bytes in try enter { try $0.pause(isPaused, id: bytes, at: $1) } }
  }

  func pause(_ isPaused: Bool, tag: String) throws -> UInt64 {
    try tag.withBytes { bytes in try enter { try $0.pause(isPaused, tag: bytes, at: $1) } }
  }

  func pause(_ isPaused: Bool, group: String) throws {
    try group.withBytes { name in try enter { try $0.pause(isPaused, group: name, at: $1) } }
  }

  /// Defines a condition, or takes its definition back.
  func define(condition: String, _ isDefined: Bool = true) throws {
    try condition.withBytes { name in
      try enter { try isDefined ? $0.define(condition: name, at: $1) : $0.undefine(condition: name, at: $1) }
    }
  }

  func set(condition: String, _ isSatisfied: Bool) throws {
    try condition.withBytes { name in try enter { try $0.set(condition: name, isSatisfied, at: $1) } }
  }

  func set(group: String, _ terms: GroupTerms) throws {
    try group.withBytes { name in
      try enter {
        try $0.limit(group: name, to: terms.limit, at: $1)
        try $0.pause(terms.isPaused, group: name, at: $1)
      }
    }
  }

  func cancelAll() throws -> UInt64 { try enter { try $0.cancelAll(at: $1) } }

  func prune() throws -> UInt64 { try enter { try $0.prune(at: $1) } }

  func reset() throws { try enter { try $0.reset(at: $1) } }

  func record(_ id: String, position: UInt64 = 0) throws -> (record: TaskRecord, waiting: Int) {
    try id.withBytes { bytes in
      try enter { scheduler, _ in
        let found = try scheduler.record(bytes, position: position)
        return (found.record, found.waiting)
      }
    }
  }

  func state(_ id: String) throws -> TaskState { try record(id).record.state }

  func explain(_ id: String) throws -> Explanation {
    try id.withBytes { bytes in try enter { try $0.explain(bytes, at: $1) } }
  }

  func waits(_ id: String) throws -> ToldWaits {
    try id.withBytes { bytes in try enter { try $0.waits(bytes, at: $1) } }
  }

  func reasons(_ id: String) throws -> [Reason] { try explain(id).entries.map(\.reason) }

  func nextWakeup() throws -> Instant? { try enter { $0.nextWakeup(at: $1) } }

  // MARK: Handlers and conditions

  func addHandler(
    _ name: String, run: ((Run) -> Void)? = nil, stop: ((UInt64, StopReason) -> Void)? = nil,
    destroy: (() -> Void)? = nil
  ) throws {
    try name.withBytes { bytes in
      try enter { scheduler, _ in try scheduler.addHandler(bytes, run: run, stop: stop, destroy: destroy) }
    }
  }

  func removeHandler(_ name: String) throws {
    try name.withBytes { bytes in try enter { scheduler, _ in try scheduler.removeHandler(bytes) } }
  }

  func satisfy(_ constraints: Constraints) throws {
    try enter { try $0.setConditions(Constraints.all.rawValue, satisfied: constraints.rawValue, at: $1) }
  }

  func enable(_ kinds: KindSet) throws { try enter { scheduler, _ in try scheduler.enable(kinds.rawValue) } }

  // MARK: Cycles

  /// A window of so long for refresh tasks, frozen, with everything else at its default.
  static func window(_ budget: Span, _ change: (inout WindowDraft) -> Void = { _ in }) -> WindowDraft {
    var draft = WindowDraft()
    (draft.budget, draft.kinds, draft.isRolling) = (budget, KindSet(.refresh).rawValue, false)
    change(&draft)
    return draft
  }

  func begin(_ budget: Span, _ change: (inout WindowDraft) -> Void = { _ in }) throws -> UInt64 {
    let draft = Self.window(budget, change)
    return try enter { try $0.begin($0.window(draft), at: $1).handle }
  }

  /// Begins a window of one task (C14).
  func beginNow(_ id: String, _ budget: Span, reserve: Span = -1) throws -> UInt64 {
    try id.withBytes { bytes in
      try begin(budget) {
        $0.task = bytes
        $0.reserve = reserve
      }
    }
  }

  func next(_ cycle: UInt64) throws -> Step {
    try Scheduler.enter(cycle: cycle) { scheduler, cycle, moment throws(SeleneError) in
      try scheduler.next(cycle, at: moment)
    }
  }

  /// The run that the next step must be.
  func nextRun(_ cycle: UInt64) throws -> Run {
    guard case .run(let run) = try next(cycle) else { throw Differs("next gave no run") }
    return run
  }

  func end(_ cycle: UInt64) throws -> Report {
    try Scheduler.enter(cycle: cycle) { scheduler, cycle, moment throws(SeleneError) in
      try scheduler.end(cycle, at: moment)
    }
  }

  func complete(_ run: UInt64, _ outcome: Outcome, retryDelay: Span? = nil, until next: Instant? = nil) throws {
    try complete(run, raw: outcome.rawValue, retryDelay: retryDelay, until: next)
  }

  func complete(_ run: UInt64, raw outcome: Int32, retryDelay: Span? = nil, until next: Instant? = nil) throws {
    try Scheduler.enter(run: run) { scheduler, number, moment throws(SeleneError) in
      try scheduler.complete(number, outcome, retryDelay: retryDelay, until: next, at: moment)
    }
  }

  func leave(_ run: UInt64, _ output: String?) throws {
    try (output ?? "").withBytes { bytes in
      try Scheduler.enter(run: run) { scheduler, number, _ throws(SeleneError) in
        try scheduler.setOutput(number, bytes)
      }
    }
  }

  func progress(_ run: UInt64, _ done: Int64, of total: Int64) throws {
    try Scheduler.enter(run: run) { scheduler, number, moment throws(SeleneError) in
      try scheduler.progress(number, done: done, total: total, nil, at: moment)
    }
  }

  func stopping(_ run: UInt64) throws -> (reason: StopReason, remaining: Span) {
    try Scheduler.enter(run: run) { scheduler, number, moment throws(SeleneError) in
      try scheduler.stopping(number, at: moment)
    }
  }

  func plan(_ budget: Span, _ change: (inout WindowDraft) -> Void = { _ in }) throws -> Plan {
    let draft = Self.window(budget, change)
    return try enter { try $0.plan($0.window(draft), at: $1) }
  }

  /// A whole blocking cycle.
  func run(_ budget: Span, _ change: (inout WindowDraft) -> Void = { _ in }) throws -> Report {
    let draft = Self.window(budget, change)
    let (scheduler, cycle) = try enter { ($0, try $0.start($0.window(draft), at: $1)) }
    return try scheduler.finish(cycle)
  }

  /// A cycle on library threads; its handle and deadline.
  func runAsync(
    _ budget: Span, _ change: (inout WindowDraft) -> Void = { _ in }, receive: ((Report) -> Void)? = nil,
    destroy: (() -> Void)? = nil
  ) throws -> (cycle: UInt64, deadline: Instant) {
    let draft = Self.window(budget, change)
    return try enter {
      let cycle = try $0.startAsync($0.window(draft), receive: receive, destroy: destroy, at: $1)
      return (cycle.handle, cycle.time.deadline)
    }
  }

  func observe(_ observe: ((borrowing Event) -> Void)?, destroy: (() -> Void)? = nil) throws {
    try enter { scheduler, _ in scheduler.observe(observe, destroy: destroy) }
  }
}
