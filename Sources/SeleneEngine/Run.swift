// One dispatch of one task.

import SeleneCore

/// A run. Its constants may be read anywhere, and, once its cycle is reported, how it ended; the rest is guarded by the
/// scheduler's lock.
package final class Run {
  package let token: UInt64
  /// The definition at dispatch; an update does not touch it.
  package let definition: TaskDefinition
  package let attempt: UInt32
  package let generation: UInt32
  package let score: Double
  /// Its known duration; −1: unknown.
  private let knownEstimate: Span
  package var estimate: Span { TaskDefinition.planned(knownEstimate) }
  package let startedAt: Instant
  /// When it is asked to stop and when it is over, by the time of its cycle as it stood at dispatch and by its timeout.
  package let expiresAt: Instant
  package let deadline: Instant
  package let cycleHandle: UInt64
  /// In use by this run until it has come back (`beginUse`, `endUse`), so it need not be held; not looked at later.
  private let handlerInUse: Unmanaged<Handler>
  /// Its cycle, which clears this when it ends; until then the scheduler holds it.
  private var openCycle: Unmanaged<Cycle>?

  var endedAt: Instant = 0
  private let slotNumber: UInt32
  let mode: Cycle.Mode
  /// How it was decided, or nil while it is open.
  var outcome: Outcome?
  package internal(set) var stopReason: StopReason = .none
  private var marks: Marks = []

  /// Bits, so that a run takes 120 bytes: the most that the fast bins of glibc's malloc have.
  private struct Marks: OptionSet {
    let rawValue: UInt8

    static let askedToStop = Marks(rawValue: 1)
    static let givenOutcome = Marks(rawValue: 2)
    static let inHandler = Marks(rawValue: 4)
    static let back = Marks(rawValue: 8)
    static let leftBehind = Marks(rawValue: 16)
    static let stored = Marks(rawValue: 32)
    static let quarantined = Marks(rawValue: 64)
    static let blamed = Marks(rawValue: 128)

    subscript(mark: Marks) -> Bool {
      get { contains(mark) }
      set { self = newValue ? union(mark) : subtracting(mark) }
    }
  }

  /// A run of a record of the table, which is dispatched now, or was by an earlier owner (L10).
  @inline(__always)
  init(
    token: UInt64, of slot: Int, score: Double, in table: TaskTable, handler: Unmanaged<Handler>,
    cycle: Cycle, stopGrace: Span, at start: Instant
  ) {
    self.token = token
    slotNumber = UInt32(truncatingIfNeeded: slot)
    definition = table[slot].definition
    attempt = table[slot].attempts
    generation = table[slot].generation
    self.score = score
    knownEstimate = table[slot].knownEstimate
    startedAt = start
    handlerInUse = handler
    openCycle = Unmanaged.passUnretained(cycle)
    handler._withUnsafeGuaranteedRef { $0.beginUse() }
    switch table[slot].suspicion {
    case .none: break
    case .quarantined: marks[.quarantined] = true
    case .blamed: marks[.blamed] = true
    }
    let timeout = definition.timeout
    if timeout > 0 {
      expiresAt = min(cycle.time.expiresAt, start.adding(timeout))
      deadline = min(cycle.time.deadline, start.adding(timeout).adding(stopGrace))
    } else {
      (expiresAt, deadline) = (cycle.time.expiresAt, cycle.time.deadline)
    }
    cycleHandle = cycle.handle
    mode = cycle.mode
  }

  /// One that an owner has given.
  init(_ given: GivenRun, _ definition: TaskDefinition, token: UInt64, handler: Handler, in cycle: Cycle) {
    (self.token, self.definition, slotNumber) = (token, definition, .max)
    (attempt, generation, score, knownEstimate) = (given.attempt, given.generation, given.score, given.estimate)
    (startedAt, expiresAt, deadline) = (given.startedAt, given.expiresAt, given.deadline)
    handlerInUse = Unmanaged.passUnretained(handler)
    openCycle = Unmanaged.passUnretained(cycle)
    (cycleHandle, mode) = (cycle.handle, cycle.mode)
    handler.beginUse()
  }

  var slot: Int { Int(slotNumber) }

  var wasAskedToStop: Bool {
    get { marks[.askedToStop] }
    set { marks[.askedToStop] = newValue }
  }
  /// `complete` was called for it, whatever it answered.
  var wasGivenOutcome: Bool {
    get { marks[.givenOutcome] }
    set { marks[.givenOutcome] = newValue }
  }
  /// A library thread, the thread of an inline cycle, or one that came through a lane is in its handler.
  var isInHandler: Bool {
    get { marks[.inHandler] }
    set { marks[.inHandler] = newValue }
  }
  /// Its id is free again.
  var isBack: Bool {
    get { marks[.back] }
    set { marks[.back] = newValue }
  }

  /// The thread in its handler was left behind.
  var isLeftBehind: Bool {
    get { marks[.leftBehind] }
    set { marks[.leftBehind] = newValue }
  }

  /// The store knows which process has it (L10).
  var isStored: Bool {
    get { marks[.stored] }
    set { marks[.stored] = newValue }
  }

  /// What its task was at its dispatch (V7).
  var suspicion: Suspicion { marks[.blamed] ? .blamed : marks[.quarantined] ? .quarantined : .none }

  /// When its timeout asks it to stop (R3).
  var timesOutAt: Instant { definition.timeout > 0 ? startedAt.adding(definition.timeout) : Time.never }

  /// A limit of its task ends it next, rather than asks: it was asked before, by one or by a close.
  var isInItsGrace: Bool { stopReason.isOfTask || stopReason == .shutdown }

  var handler: Handler { handlerInUse.takeUnretainedValue() }

  /// The run has come back. Answers whether that was the last use of its handler.
  func endUse() -> Bool { handlerInUse._withUnsafeGuaranteedRef { $0.endUse() } }

  /// The cycle that it is in, which has not ended.
  var cycle: Cycle? { openCycle?.takeUnretainedValue() }

  /// What its failure says where it expired.
  var whyExpired: Bytes {
    switch stopReason {
    case .timedOut: LastFailure.timedOut
    case .stalled: LastFailure.madeNoProgress
    default:
      // Where nobody knows what it takes, nothing is said of it.
      if let cycle, !cycle.isOpenEnded, knownEstimate > cycle.time.expiresAt.subtracting(cycle.time.begin) {
        LastFailure.windowEnded(budget: cycle.budget, estimate: knownEstimate)
      } else {
        LastFailure.windowEnded
      }
    }
  }

  /// What its failure says where the host said nothing, because it only did what it was asked; nil: it was not asked.
  var whyFailed: Bytes? { stopReason == .expiring || stopReason.isOfTask ? whyExpired : nil }

  /// What an outcome that its host gives means. An end that the host asks for fails nothing, a failure is the answer to it;
  /// *no data* of work that was cut short is no success; only what stands runs often enough to leave it at that (V4, V6). What
  /// goes on from an earlier owner may have been asked to stop when that ended.
  func meaning(of outcome: Outcome) -> Outcome {
    switch outcome {
    case .stopped: stopReason.isOfTask || (stopReason == .none && !isTakenOver) ? .failed : .stopped
    case .failed: stopReason == .shutdown ? .stopped : .failed
    case .noData where stopReason != .none && definition.schedule != .standing:
      stopReason.isOfTask ? .failed : .stopped
    default: outcome
    }
  }

  /// Its cycle has not ended.
  var isInCycle: Bool { openCycle != nil }

  /// It goes on from an earlier owner (L10).
  private var isTakenOver: Bool { openCycle?._withUnsafeGuaranteedRef { $0.origin != 0 } ?? false }

  /// The cycle has one run less that is not decided.
  func leaveLane() { openCycle?._withUnsafeGuaranteedRef { $0.openRuns -= 1 } }

  /// The cycle ends.
  func leaveCycle() { openCycle = nil }

  /// How it ended, once its cycle is reported.
  package var finalOutcome: Outcome { outcome ?? .expired }
  package var responseTime: Span { endedAt.subtracting(startedAt) }
  var isOpen: Bool { outcome == nil }
  /// Time has ended it: a thread that is still in its handler counts for that (R4). One that gave its outcome, or was stopped,
  /// is on its way back.
  var hasOverrun: Bool { outcome == .expired }
  /// It is open, or a thread that was not left behind is in its handler.
  var isAtWork: Bool { isOpen || (isInHandler && !isLeftBehind) }
  /// It was decided by a stop or by time; an outcome comes too late.
  var isStale: Bool { outcome == .stopped || outcome == .expired }
}
