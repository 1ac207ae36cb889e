// What a rule did: the engine turns it into numbered events and stops (C18).

/// The types of event; the raw values are the header's numbers.
package enum EventType: Int32, Sendable {
  case registered = 1
  case started = 2
  case stopped = 3
  case completed = 4
  case retry = 5
  case held = 6
  case promoted = 7
  case cancelled = 8
  case cycleBegun = 9
  case cycleEnded = 10
  case unblocked = 11
  case released = 12
  case interrupted = 13
  case clockMoved = 14
  case refused = 15
  case granted = 16
  case traceEnded = 17
  case trouble = 18
  case paused = 19
  case resumed = 20
  case progress = 21
  case conditionMet = 22
  case conditionLost = 23
  case quotaUsedUp = 24
  case quotaLeft = 25
  case outputLost = 26
}

/// One change. Made where it happened and never changed then; an object, because from there to the host it is handed on
/// several times, each in less time than a copy takes.
package final class Change: @unchecked Sendable {
  package let type: EventType
  /// The task; nil for cycles.
  package var definition: TaskDefinition?
  /// The task's state after it; nil for cycles.
  package var state: TaskState?
  package var attempts: UInt32 = 0
  package var run: UInt64 = 0
  package var cycle: UInt64 = 0
  /// The kinds of a cycle or a decision; none where a task is named.
  package var kinds: KindSet = []
  /// A disposition, outcome, reason, result, factor or trouble, by type.
  package var detail: Int32 = 0
  /// When it is due again, or the deadline, by type.
  package var timeAt: Instant = 0
  /// What the turn of the task follows from, under the freshness rule (F10).
  package var pace: PaceTerms?
  /// What a run told of itself (W6).
  package var progress: Progress?
  /// Of a trouble that begins: what calls are refused with.
  package var status: Int32 = 0
  /// Of a trouble that begins, and of a run that failed: why.
  package var message: Bytes?

  package init(_ type: EventType) { self.type = type }

  package init(
    _ type: EventType, _ record: TaskRecord, detail: Int32 = 0, run: UInt64 = 0, timeAt: Instant = 0,
    message: Bytes? = nil
  ) {
    self.type = type
    definition = record.definition
    state = record.state
    attempts = record.attempts
    pace = record.turn
    self.detail = detail
    self.run = run
    self.timeAt = timeAt
    self.message = message
  }

  /// A run left more than is kept (V11).
  package init(_ type: EventType, _ record: TaskRecord, run: UInt64, lost: UInt64, of most: UInt64) {
    self.type = type
    definition = record.definition
    state = record.state
    attempts = record.attempts
    pace = record.turn
    self.run = run
    progress = Progress(
      at: 0, done: Int64(clamping: lost), total: Int64(clamping: most),
      Bytes("the output is too long and was not kept"))
  }
}

/// What a call did to the table, in order.
package struct Changes {
  /// Runs in flight whose record was ended under them.
  package var stops: [(run: UInt64, reason: StopReason)] = []
  package private(set) var list: [Change] = []
  /// Whether anybody watches; else no change is written down.
  private let isObserved: Bool

  package init(isObserved: Bool) { self.isObserved = isObserved }

  package var isEmpty: Bool { @inline(__always) get { stops.isEmpty && list.isEmpty } }

  @inline(__always)
  package mutating func add(_ change: @autoclosure () -> Change) {
    if isObserved { append(change()) }
  }

  @inline(never)
  private mutating func append(_ change: Change) { list.append(change) }
}
