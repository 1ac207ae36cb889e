// A task's record: its definition, where it stands, and what happened to it (T3).

/// What a task has once it was dispatched; kept apart, because most tasks of a large population wait for their first run.
private final class TaskHistory {
  var responseTimes: [Span] = []
  var anchor: Instant
  var periodBase = TaskRecord.onRegistration
  var run: UInt64 = 0

  init(anchor: Instant) { self.anchor = anchor }

  func copy() -> TaskHistory {
    let copy = TaskHistory(anchor: anchor)
    (copy.responseTimes, copy.periodBase, copy.run) = (responseTimes, periodBase, run)
    return copy
  }
}

/// A task's record.
package struct TaskRecord {
  package var definition: TaskDefinition
  private var history: TaskHistory?
  /// Ever-growing number of the record, never reused.
  package let sequence: UInt64
  package var registeredAt: Instant
  package var earliestBegin: Instant
  /// What the age counts from; the registration until it ran.
  package var lastRun: Instant
  /// When it last changed: when it became terminal, if it is.
  package var changedAt: Instant
  /// Number of the last change; a ranking holds only what did not change since.
  package var stamp: UInt64 = 0
  package var attempts: UInt32 = 0
  /// How often the definition was updated.
  package var generation: UInt32 = 0
  /// The number of its handler, or −1 while there is none.
  package var handler: Int32 = -1
  package var state: TaskState
  package var lastOutcome: Outcome?
  package var stopReason: StopReason = .none
  /// An earlier run of this id has not come back (C4).
  package var isTaken = false
  /// Whether the scheduler permits its id (T7).
  package var isPermitted = true
  /// Where the index has it.
  var standing = Standing.nowhere
  /// The store has something else of its slot.
  var isUnsaved = false

  /// A period base that says: the period stands on the registration.
  package static let onRegistration: Instant = .min

  /// A record that counts from now (T4).
  package init(_ definition: TaskDefinition, sequence: UInt64, state: TaskState, at now: Instant) {
    self.definition = definition
    self.sequence = sequence
    self.state = state
    registeredAt = now
    lastRun = now
    earliestBegin = definition.firstBegin(from: now)
    changedAt = now
  }

  /// A record as it was stored.
  package init(
    stored definition: TaskDefinition, sequence: UInt64, state: TaskState, attempts: UInt32, generation: UInt32,
    lastOutcome: Outcome?, stopReason: StopReason, registeredAt: Instant, earliestBegin: Instant, anchor: Instant,
    periodBase: Instant, lastRun: Instant, changedAt: Instant, responseTimes: [Span]
  ) {
    self.definition = definition
    self.sequence = sequence
    self.state = state
    self.attempts = attempts
    self.generation = generation
    self.lastOutcome = lastOutcome
    self.stopReason = stopReason
    self.registeredAt = registeredAt
    self.earliestBegin = earliestBegin
    self.lastRun = lastRun
    self.changedAt = changedAt
    self.anchor = anchor
    self.periodBase = periodBase
    self.responseTimes = responseTimes
  }

  // MARK: History

  /// The last response times, oldest first, at most 30.
  package var responseTimes: [Span] {
    get { history?.responseTimes ?? [] }
    set { if history != nil || !newValue.isEmpty { own { $0.responseTimes = newValue } } }
  }

  /// The first earliest begin: the grid of an anchored task.
  package var anchor: Instant {
    get { history?.anchor ?? earliestBegin }
    set { if history != nil || newValue != earliestBegin { own { $0.anchor = newValue } } }
  }

  /// The end of the last period, which the next one stands on; `onRegistration` while there was none.
  package var periodBase: Instant {
    get { history?.periodBase ?? Self.onRegistration }
    set { if history != nil || newValue != Self.onRegistration { own { $0.periodBase = newValue } } }
  }

  /// The run in flight, or 0.
  package var run: UInt64 {
    get { history?.run ?? 0 }
    set { if history != nil || newValue != 0 { own { $0.run = newValue } } }
  }

  /// Whether it has a response time.
  package var hasRun: Bool { history?.responseTimes.isEmpty == false }

  /// Adds a response time; the thirty-first pushes the first one out.
  mutating func add(responseTime: Span) {
    own { history in
      if history.responseTimes.count == TaskDefinition.mostResponseTimes { history.responseTimes.removeFirst() }
      history.responseTimes.append(responseTime)
    }
  }

  /// Changes a history that nobody else holds.
  private mutating func own(_ change: (TaskHistory) -> Void) {
    if history == nil {
      history = TaskHistory(anchor: earliestBegin)
    } else if !isKnownUniquelyReferenced(&history) {
      history = history?.copy()
    }
    if let history { change(history) }
  }

  /// Counts from now as if registered at this moment: a successor whose time has come (T5).
  package mutating func restart(as state: TaskState, at now: Instant) {
    let begin = definition.firstBegin(from: now)
    registeredAt = now
    lastRun = now
    periodBase = Self.onRegistration
    earliestBegin = begin
    anchor = begin
    self.state = state
    changedAt = now
  }

  /// What stands where no task is; its sequence is 0.
  nonisolated(unsafe) package static let vacant = TaskRecord(.vacant, sequence: 0, state: .cancelled, at: 0)

  package var priority: UInt8 { definition.priority }
  package var kind: Kind { definition.kind }
  package var isLive: Bool { !state.isTerminal }

  /// Whether it takes one of the places of its kind (T6).
  package var holdsPlace: Bool { definition.takesPlace && (state == .enqueued || state == .running) }

  /// The response time expected of the next run (S5).
  package var estimate: Span {
    let window = Int(definition.responseWindow)
    guard window > 0, let times = history?.responseTimes, !times.isEmpty else { return definition.expectedResponse }
    let first = max(0, times.count - window)
    // A response time is at most 24 h in budgeted cycles, so thirty of them fit into 64 bits.
    var sum: Int64 = 0
    for index in first..<times.count { sum = sum.adding(times[index]) }
    return sum / Int64(times.count - first)
  }
}
