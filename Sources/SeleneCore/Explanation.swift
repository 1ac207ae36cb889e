// Why a task does not run now (C15).

/// Why a task does not run now, the raw values are the header's numbers.
package enum Reason: Int32, Sendable {
  case notDue = 1
  case constraints = 2
  case noHandler = 3
  case held = 4
  case blocked = 5
  case running = 6
  case kindOff = 7
  case didNotFit = 8
  case stillRunning = 9
  case terminal = 10
  case notPermitted = 11
  case hadItsRun = 12
  case tooSoon = 13
  case nextCycle = 14
  case interrupted = 15
  case governor = 16
  case storeRefuses = 17
  case noThread = 18
  case handlerStuck = 19
  case drained = 20
  case clock = 21
  case paused = 22
  case groupPaused = 23
  case groupFull = 24
  case outOfQuota = 25
  case conditions = 26
  case fleetAway = 27
  case kindPaused = 28
  case quarantined = 29

  // What only `Waits` tells.
  case backingOff = 64
  case noWindow = 65
  case windowOpen = 66
  case preferredOthers = 67
  case noProcess = 68
  case notKnown = 69
  case earlier = 70
}

/// What is known of the last or open cycle of a kind, to say what it did to a task.
package struct CycleTrace: Sendable {
  package var begin: Instant
  /// The table's stamp at begin: what changed later was not in its ranking.
  package var stamp: UInt64
  /// What was satisfied at begin.
  package var satisfied: Needs
  /// The library called the handlers.
  package var pushes: Bool
  /// The room that was left at the last pick.
  package var room: Room?
  package var deadline: Instant
  package var isOpen: Bool
  /// Each pick looked at what was eligible then, not at begin (R1).
  package var isRolling: Bool
  /// Its handlers ran on threads that may be left behind.
  package var needsThreads = false

  package init(
    begin: Instant, stamp: UInt64, deadline: Instant, satisfied: Needs, pushes: Bool, isRolling: Bool
  ) {
    (self.begin, self.stamp, self.deadline, isOpen) = (begin, stamp, deadline, true)
    (self.satisfied, self.pushes, self.isRolling) = (satisfied, pushes, isRolling)
  }
}

/// Why a task does not run now, and what it is worth.
package struct Explanation: Sendable {
  package struct Entry: Sendable {
    package let reason: Reason
    package var missing: Constraints = []
    package var mayChangeAt: Instant = Time.never

    package init(reason: Reason, missing: Constraints = [], mayChangeAt: Instant = Time.never) {
      (self.reason, self.missing, self.mayChangeAt) = (reason, missing, mayChangeAt)
    }
  }

  package var state: TaskState
  package var entries: [Entry] = []
  /// Its place among the eligible tasks of its kind, from 1; 0 if it is not eligible.
  package var rank = 0
  package var eligible = 0
  package var score: Double = 0
  package var estimate: Span = 0
  package var lastRoom: Span?
  package var attempts: UInt32 = 0

  /// The last instant at which it may begin, if it still may and there is one, and whether it goes before others because
  /// that is near (W9).
  package var latestAt: Instant?
  package var isUrgent = false
  /// The constraints that it asks for and of which nothing is known, so that they count as satisfied (W1).
  package var unknown: Constraints = []
  /// It goes before others because it is expedited, and something of the quota is left (W10).
  package var isExpedited = false
  /// How many bytes its last success left which were too many to be kept (V11).
  package var outputLost: UInt64 = 0
  /// What its age and its pace follow from (F10); nil unless the freshness rule ranks.
  package var pace: PaceTerms?
}

extension TaskTable {
  /// Explains a visible record.
  ///
  /// - Complexity: as `Ranking.rank`.
  package func explain(
    _ slot: Int, enabled: KindSet, pausedUntil: Instant? = nil, satisfied: Needs, observedRange: Bool, pace: Pace,
    trace: CycleTrace?, hadItsRun: Bool, runDeadline: Instant?, releaseAt: Instant,
    constraintsAt: Instant = Time.never, crew: Crew? = nil, at now: Instant
  ) -> Explanation {
    // What is held stays in the line for a place.
    if hasStuckHandlers && canRun(records.at(slot)) { _ = setAside(slot) }
    let record = self[slot]
    // There is a handler, but a cycle that calls handlers has nothing to call.
    let isOnlyPulled =
      record.handler >= 0 && trace?.pushes == true && roster.way(Int(record.handler)) == .pulled
    var explanation = Explanation(state: record.state)
    explanation.attempts = record.attempts
    explanation.outputLost = record.outputLost
    func add(_ reason: Reason, missing: Constraints = [], at time: Instant = .max) {
      explanation.entries.append(Explanation.Entry(reason: reason, missing: missing, mayChangeAt: time))
    }

    switch record.state {
    case .succeeded, .failed, .cancelled: add(.terminal)
    case .held: add(.held)
    case .blocked: add(.blocked)
    case .running: add(.running, at: runDeadline ?? Time.never)
    case .enqueued: break
    }
    if record.isLive && record.state != .running {
      if record.earliestBegin > now {
        add(.notDue, at: record.earliestBegin)
        if record.stopReason == .interrupted { add(.interrupted, at: record.earliestBegin) }
      }
      let missing = record.definition.needs.subtracting(satisfied)
      if !missing.constraints.isEmpty { add(.constraints, missing: missing.constraints, at: constraintsAt) }
      if missing.host != 0 { add(.conditions) }
      if !hasHandler(record) || isOnlyPulled { add(.noHandler) }
      if isStuck(handler: record.handlerNumber) { add(.handlerStuck) }
      if !record.isPermitted { add(.notPermitted) }
      if record.isPaused { add(.paused) }
      if let group = group(of: slot) {
        if group.isPaused { add(.groupPaused) }
        if group.isFull { add(.groupFull) }
      }
      if !enabled.contains(record.kind) { add(.kindOff) }
      if let pausedUntil { add(.kindPaused, at: pausedUntil) }
      if record.isTaken { add(.stillRunning, at: releaseAt) }
      let isExpedited = record.marks.contains(.expedited)
      explanation.isExpedited = isExpedited && record.state == .enqueued && expedited.isLeft(at: now)
      if isExpedited && !expedited.isLeft(at: now) { add(.outOfQuota, at: expedited.freeAt(now)) }
      if pace.opensAt > now && !explanation.isExpedited { add(.tooSoon, at: pace.opensAt) }
    }
    if record.state == .enqueued, !isOnlyPulled, let trace {
      let wasRanked =
        canRun(records.at(slot))
        && (trace.isRolling
          ? record.earliestBegin <= now && record.definition.needs.isSubset(of: satisfied)
          : record.stamp <= trace.stamp && record.earliestBegin <= trace.begin
            && record.definition.needs.isSubset(of: trace.satisfied))
      if record.isSpent {
        add(.hadItsRun, at: trace.deadline)
      } else if trace.isOpen && !trace.isRolling && !wasRanked {
        let ranSince = record.hasRun && record.lastRun >= trace.begin
        add(hadItsRun || ranSince ? .hadItsRun : .nextCycle, at: trace.deadline)
      } else if wasRanked, let room = trace.room, !room.takes(records.at(slot)) {
        add(.didNotFit, at: trace.isOpen ? trace.deadline : max(now, pace.opensAt))
      }
    }

    let offer = Offer(
      kinds: KindSet(record.kind), satisfied: satisfied, pushes: false, observedRange: observedRange, crew: crew)
    let ranking = Ranking(self, offer, at: now)
    explanation.rank = enabled.contains(record.kind) && pausedUntil == nil ? ranking.rank(of: slot, in: self) ?? 0 : 0
    explanation.eligible = ranking.eligibleCount
    explanation.score = ranking.score(of: record, at: now)
    explanation.estimate = record.estimate
    explanation.lastRoom = trace?.room?.span
    explanation.pace = record.turn
    if record.marks.contains(.limited) && (record.state == .enqueued || record.state == .held) {
      explanation.latestAt = record.latestAt
      explanation.isUrgent = explanation.rank > 0 && record.urgentAt <= now
    }
    return explanation
  }
}
