// The use of one window.

import CPlatform
import SeleneCore

/// A cycle. Its constants may be read anywhere; the rest is guarded by the scheduler's lock.
package final class Cycle {
  enum Mode {
    /// The host takes runs and completes them.
    case pulled
    /// Library threads call the handlers.
    case pushed
    /// The host's thread calls the handlers.
    case inline
    /// The host's threads take runs through lanes.
    case lanes
    /// Other processes take runs and complete them (L6).
    case member

    /// The library calls the handlers, which need a run function.
    var callsHandlers: Bool { self == .pushed || self == .inline }
    /// Threads work it off, which may be left behind.
    var needsThreads: Bool { self == .pushed || self == .lanes }
  }

  package let handle: UInt64
  package private(set) var time: Budget
  private(set) var mode: Mode
  /// Runs at a time.
  let laneLimit: Int
  let strictFit: Bool
  /// Each pick looks at what is eligible then (R1).
  let isRolling: Bool
  /// How long it picks.
  let budget: Span
  /// Nobody has set its runs a deadline (V1).
  let isOpenEnded: Bool
  /// When an open-ended one picks no more, and leaves its kinds to the next.
  private(set) var picksUntil: Instant
  /// That has come: only runs in flight are left, and its report.
  private(set) var hasLeft = false
  /// The kinds that it occupies; none for a cycle of one task (C14).
  let kinds: KindSet
  /// Those of them for which it is too early, so that only expedited tasks run (W10).
  let alone: KindSet
  /// The kinds of its tasks, also of one task.
  let serves: KindSet
  /// The kinds whose ledger it is charged to, until that has back what was not used.
  var booked: KindSet
  /// The kinds for which the driver opened it; none if a host did.
  let driven: KindSet
  /// The governor granted it to a driver.
  var isGranted = false
  /// Kinds against which a veto was raised while it was open: nothing more of them is dispatched (G6).
  var preempted: KindSet = []
  /// Whose windows it is one of; nil is this process.
  let pool: Pool?
  /// Whose handlers it can use now, likewise.
  var crew: Crew?
  /// What would be picked waits for what runs beside it (V7).
  var isHeldBack = false
  /// Suspects that had their turn and wait for what runs beside them, if the ranking is frozen (V7).
  var aside: [(slot: Int, sequence: UInt64)] = []
  /// The process calls handlers, which need a run function there; likewise.
  var callsThere: Bool
  /// Who may run, until the cycle ends.
  private(set) var ranking: Ranking
  /// How many tasks were eligible at its begin.
  let eligible: Int
  /// How many did not fit, once it picks no more.
  var didNotFit = 0

  /// The member that takes its next run; likewise.
  var member: Member?
  /// Of the cycle of a run that was taken over from an earlier owner the token that its member was told first; else 0 (L10).
  var origin: UInt64 = 0

  /// Of one whose runs an owner gives: how the connection numbers it, when it is over at the latest, by the owner's clock; how
  /// long the owner said to wait, and how much news there was then; whether it went with its owner.
  struct Owned {
    let number: UInt64
    let deadline: Instant
    var delay: Span = 0
    var seen: UInt64 = 0
    var isLost = false
    /// The last of its runs, by the connection's number of each and its token, for the report.
    private(set) var runs: [(number: UInt64, token: UInt64)] = []

    init(number: UInt64, deadline: Instant) { (self.number, self.deadline) = (number, deadline) }

    mutating func add(_ number: UInt64, _ token: UInt64) {
      if runs.count >= 2 * Cycle.mostRows { runs.removeFirst(Cycle.mostRows) }
      runs.append((number, token))
    }
  }
  var owned: Owned?

  /// When it is over at the latest.
  package var deadline: Instant { owned?.deadline ?? time.deadline }

  /// Its number in the log of waits (W8); none for a cycle of one task.
  var waitNumber: UInt64 = .max

  /// Its runs in order of dispatch; of an open-ended one the last of them.
  private(set) var runs: [Run] = []
  /// How those ended that it has no more.
  private(set) var earlier = Tally()
  /// How many runs it has dispatched.
  private(set) var dispatched = 0
  /// Under the freshness rule of each of them what its turn followed from.
  private(set) var paces: [PaceTerms] = []
  /// Of a rolling cycle the records of the standing tasks that had their run.
  var spent: [(slot: Int, sequence: UInt64)] = []
  /// The one thread that has taken its runs; 0 for none, or several.
  private(set) var taker: UInt64 = 0
  private var wasTaken = false
  /// The thread that sees a blocking cycle through; 0 for the others.
  var waiter: UInt64 = 0
  /// Runs that are not decided.
  var openRuns = 0
  /// To one of its runs something happened by time alone: a timeout (R3), a stall limit, news of its progress (W6).
  var hasTimedRuns = false
  /// Runs in flight were asked to stop (C7).
  var hasExpired = false
  /// The host ends it before its time: runs that are left are stopped, not failed (V4).
  private(set) var isEndedByHost = false
  /// Its report is made; nothing more is dispatched.
  var report: Report?
  /// What the store refused while library threads ran it.
  var failure: SeleneError?
  /// Library threads that work on it, or lanes that may have a run of it.
  var lanes = 0
  /// Those of them that look for a run, will look, or watch for what comes: not in a handler, nor in the line.
  var lookingLanes = 0
  /// Lanes that wait until they are called to look.
  lazy var line = Line()
  var linedLanes = 0
  /// Whether a lane is in a handler, also in one whose run is over.
  var hasLaneInHandler: Bool { lanes > lookingLanes + linedLanes }
  /// Lanes of the host whose threads wait in it for a run.
  var waitingLanes = 0
  /// Nothing more is dispatched: nothing was left to run, or the host said so.
  var isDone = false
  /// What its host waits for with a descriptor, or nil.
  var watch: CycleWatch?
  /// Receivers of its report.
  var receivers: [ReportReceiver] = []

  init(
    handle: UInt64, mode: Mode, laneLimit: Int, strictFit: Bool, isRolling: Bool, kinds: KindSet, alone: KindSet,
    serves: KindSet, booked: KindSet, driven: KindSet, pool: Pool? = nil, callsThere: Bool = false, time: Budget,
    budget: Span? = nil, ranking: Ranking
  ) {
    self.budget = budget ?? time.deadline.subtracting(time.begin)
    isOpenEnded = budget != nil
    picksUntil = budget.map { time.begin.adding($0) } ?? Time.never
    (self.pool, self.callsThere) = (pool, callsThere)
    crew = pool?.crew
    self.handle = handle
    self.mode = mode
    self.laneLimit = laneLimit
    self.strictFit = strictFit
    self.isRolling = isRolling
    self.kinds = kinds
    self.alone = alone
    self.serves = serves
    self.booked = booked
    self.driven = driven
    self.time = time
    self.ranking = ranking
    // Most windows have few runs: one piece of memory for them in place of one after the other.
    runs.reserveCapacity(12)
    eligible = ranking.eligibleCount
  }

  /// A pulled cycle that has not begun to give its runs gives them through lanes.
  ///
  /// - Returns: whether it could.
  func lend() -> Bool {
    guard mode == .pulled, runs.isEmpty, !isEnded else { return mode == .lanes }
    mode = .lanes
    return true
  }

  /// The calling thread takes a run; its number.
  @inline(__always)
  func noteTaker() -> UInt64 {
    let thread = platform_thread_number()
    if taker != thread { (taker, wasTaken) = (wasTaken ? 0 : thread, true) }
    return thread
  }

  /// How many rows its report has at most, if it is open-ended.
  static let mostRows = 1_024

  /// A run begins.
  func add(_ run: Run, _ pace: PaceTerms?) {
    if runs.isEmpty { runs.reserveCapacity(8) }
    if (isOpenEnded || owned != nil) && runs.count >= 2 * Self.mostRows { trim() }
    runs.append(run)
    if let pace { paces.append(pace) }
    openRuns += 1
    dispatched += 1
  }

  /// Keeps the last of its runs, and those that are not back; of the others how they ended.
  func trim() {
    var surplus = runs.count - Self.mostRows
    guard isOpenEnded || owned != nil, surplus > 0 else { return }
    var kept: [Run] = []
    var keptPaces: [PaceTerms] = []
    for (place, run) in runs.enumerated() {
      if surplus > 0, !run.isOpen, !run.isInHandler {
        surplus -= 1
        earlier.add(run.finalOutcome)
        run.leaveCycle()
        continue
      }
      kept.append(run)
      if place < paces.count { keptPaces.append(paces[place]) }
    }
    (runs, paces) = (kept, keptPaces)
  }

  /// Its report is made.
  func letRunsGo() {
    for run in runs { run.leaveCycle() }
    (runs, paces) = ([], [])
  }

  /// It picks no more, and leaves its kinds to the next window.
  func leave() { (isDone, hasLeft) = (true, true) }

  /// It picks for as long again, since its host works on one window at a time.
  func renew(_ ranking: Ranking, at now: Instant) {
    picksUntil = now.adding(budget)
    self.ranking = ranking
    spent = []
  }

  /// The kinds of which no other window may begin (C12).
  var occupied: KindSet { hasLeft ? [] : kinds }

  /// A cycle of one task occupies no kind.
  var isOfOneTask: Bool { kinds.isEmpty }
  var isEnded: Bool { report != nil }
  var isDriven: Bool { !driven.isEmpty }

  /// The next begin of its kinds ends it: its host took its runs and did not come back for the end (C5). An open-ended one
  /// without runs has as long again for that.
  func isForgotten(at now: Instant) -> Bool {
    guard mode == .pulled || mode == .member else { return false }
    return now > time.deadline || (hasLeft && openRuns == 0 && now > picksUntil.adding(budget))
  }

  /// Its time runs out at an instant: the reserve begins then, if it has not begun.
  func expire(at now: Instant) {
    if now < time.expiresAt {
      let reserve = time.deadline == Time.never ? Budget.reserve(of: budget) : time.reserve
      time = Budget(begin: time.begin, budget: now.subtracting(time.begin).adding(reserve), reserve: reserve)
    }
  }

  /// Nothing more is dispatched from an instant on, and runs in flight have a grace, at most until the deadline, in the last
  /// part of which they are asked to stop (V5).
  func drain(at now: Instant, grace: Span) {
    isDone = true
    isEndedByHost = isEndedByHost || now.adding(grace) < time.deadline
    let deadline = min(time.deadline, now.adding(grace))
    let expiresAt = min(time.expiresAt, max(now, deadline.subtracting(Scheduler.lastPart(of: grace))))
    time = Budget(
      begin: time.begin, budget: deadline.subtracting(time.begin), reserve: deadline.subtracting(expiresAt))
  }
}
