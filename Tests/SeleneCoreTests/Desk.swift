// A table of tasks as tests use it: a clock moved by hand, texts as String, invariants checked after every call.

import SeleneCore

/// A table with a clock that the test moves.
final class Desk {
  let table: TaskTable
  var now: Instant
  var enabled = KindSet.all
  /// What the last call changed, in order.
  private(set) var changes: [Change] = []
  /// The runs that the last call stopped.
  private(set) var stops: [(run: UInt64, reason: StopReason)] = []
  private var lastRun: UInt64 = 0

  init(now: Instant = 1_000 * Time.second, seed: UInt64 = 1, _ change: (inout Policy) -> Void = { _ in }) {
    var policy = Policy()
    // Those of a phone, so that each test meets them that does not ask for others.
    policy.places = PerKind(refresh: 1, processing: 10)
    change(&policy)
    table = TaskTable(policy, generator: Generator(seed: seed))
    self.now = now
  }

  /// The types of the last changes.
  var types: [EventType] { changes.map(\.type) }

  @discardableResult
  func register(_ recipe: Recipe) throws -> Disposition {
    let definition = try recipe.define(in: table)
    return try call { try table.register(definition, at: now, enabled: enabled, &$0) }
  }

  /// The slot of the visible record of an id.
  func slot(_ id: String) -> Int? { id.withBytes { table.find($0) } }

  /// The visible record of an id.
  func record(_ id: String) -> TaskRecord? { slot(id).map { table[$0] } }

  func state(_ id: String) -> TaskState? { record(id)?.state }

  /// The records that wait behind an id, in order.
  func waiting(_ id: String) -> [TaskRecord] { (slot(id).map { table.waiting(behind: $0) } ?? []).map { table[$0] } }

  func addHandler(_ name: String, pushes: Bool = true) throws -> Int {
    try name.withBytes { try table.addHandler($0, pushes: pushes) }
  }

  /// Dispatches the visible task of an id.
  @discardableResult
  func start(_ id: String) throws -> UInt64 {
    let slot = try required(id)
    lastRun += 1
    table.dispatch(slot, as: lastRun, at: now)
    table.take(slot)
    table.checkInvariants()
    return lastRun
  }

  /// Completes the run of an id after so long; it comes back at once.
  func finish(_ id: String, _ outcome: Outcome, after time: Span = 0, retryDelay: Span? = nil) throws {
    let slot = try required(id)
    let definition = table[slot].definition
    now += time
    call {
      table.complete(slot, outcome, at: now, responseTime: time, retryDelay: retryDelay, &$0)
    }
    table.release(definition, 0)
  }

  /// A whole run of an id.
  func run(_ id: String, _ outcome: Outcome, after time: Span = Time.second, retryDelay: Span? = nil) throws {
    try start(id)
    try finish(id, outcome, after: time, retryDelay: retryDelay)
  }

  func cancel(_ id: String) throws -> UInt64 {
    try call { changes in try id.withBytes { try table.cancel(id: $0, at: now, &changes) } }
  }

  func cancel(tag: String) -> UInt64 {
    call { changes in tag.withBytes { table.cancel(tag: $0, at: now, &changes) } }
  }

  func cancelAll() -> UInt64 {
    call { table.cancelAll(at: now, &$0) }
  }

  private func required(_ id: String) throws -> Int {
    guard let slot = slot(id) else { throw Differs("there is no task \(id)") }
    return slot
  }

  @discardableResult
  private func call<R>(_ body: (inout Changes) throws -> R) rethrows -> R {
    var made = Changes(isObserved: true)
    defer {
      (changes, stops) = (made.list, made.stops)
      table.checkInvariants()
    }
    return try body(&made)
  }
}
