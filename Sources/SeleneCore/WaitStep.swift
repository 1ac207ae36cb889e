// What a task itself knows of its waiting: its own instants, of which most follow from its record (W8).

/// What a task was from an instant on.
package struct WaitStep: Equatable, Sendable {
  package var at: Instant
  /// The table's stamp of that change; a window that is frozen has only what did not change since.
  package var stamp: UInt64
  package var due: Instant
  /// The known duration of its run; −1: unknown.
  package var estimate: Span
  /// What it asks for (`Needs`).
  package var needs: UInt64
  package var state: TaskState
  package var marks: Marks

  package struct Marks: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let paused = Marks(rawValue: 1)
    /// An earlier run of its id has not come back.
    package static let taken = Marks(rawValue: 2)
    /// It waits for another attempt.
    package static let again = Marks(rawValue: 4)
    /// A period is over, another wait begins.
    package static let anew = Marks(rawValue: 8)
    /// A number of what it asked for was given to another condition since.
    package static let former = Marks(rawValue: 16)
    /// It may have ended its process (V7).
    package static let suspect = Marks(rawValue: 32)
  }

  package init(
    at: Instant, stamp: UInt64, due: Instant, estimate: Span, needs: UInt64, state: TaskState, marks: Marks
  ) {
    (self.at, self.stamp, self.due, self.estimate) = (at, stamp, due, estimate)
    (self.needs, self.state, self.marks) = (needs, state, marks)
  }

  init(_ record: TaskRecord, at: Instant, stamp: UInt64) {
    (self.at, self.stamp, due, estimate) = (at, stamp, record.earliestBegin, record.knownEstimate)
    (needs, state) = (record.definition.needs.rawValue, record.state)
    marks = []
    if record.isPaused { marks.insert(.paused) }
    if record.isTaken { marks.insert(.taken) }
    if record.attempts > 0 { marks.insert(.again) }
    if record.suspicion != .none { marks.insert(.suspect) }
  }

  func leastRoom(isStrict: Bool) -> Span { TaskDefinition.leastRoom(for: estimate, isStrict: isStrict) }

  /// The same, but for when it came.
  func isAs(_ other: WaitStep) -> Bool {
    due == other.due && estimate == other.estimate && needs == other.needs && state == other.state
      && marks.subtracting(.anew) == other.marks.subtracting(.anew)
  }

  /// Whether a bit of what was asked for stands for the same as now: the number of a condition of the host is given to
  /// another once nothing leads to the one that had it.
  func isNamed(_ bit: UInt64, of record: TaskRecord) -> Bool {
    bit < 32 || (record.definition.needs.rawValue >> bit & 1 != 0 && !marks.contains(.former))
  }

  /// What keeps it from running whatever else is the case; nil while it is due.
  func ownReason(at now: Instant) -> Reason? {
    switch state {
    case .running: .running
    case .held: .held
    case .blocked: .blocked
    case .succeeded, .failed, .cancelled: .terminal
    case .enqueued: now < due ? marks.contains(.again) ? .backingOff : .notDue : nil
    }
  }
}

/// What a task did since it was last due, or registered: its steps, and what came before them.
package struct Wait {
  package var steps: [WaitStep]
  package var folded: [WaitPart] = []
  package var since: Instant
  /// When the run began that was before the steps.
  package var ranAt: Instant = .min

  package init(steps: [WaitStep], folded: [WaitPart] = [], since: Instant, ranAt: Instant = .min) {
    (self.steps, self.folded, self.since, self.ranAt) = (steps, folded, since, ranAt)
  }
}

/// The steps of a task whose record does not tell them, the oldest first. Never changed.
package final class WaitTrail: Sendable {
  package let steps: [WaitStep]
  /// What came before them, by reason as far as the task itself knew it, and since when.
  package let folded: [WaitPart]
  package let since: Instant
  /// When the run began that was before all of it.
  package let ranAt: Instant

  /// As many as are kept.
  package static let most = 32

  package init(_ wait: Wait) {
    var (steps, folded, ranAt) = (wait.steps, wait.folded, wait.ranAt)
    since = wait.since
    if steps.count > Self.most {
      let surplus = steps.count - Self.most / 2
      for place in 0..<surplus {
        Self.fold(steps[place], until: steps[place + 1].at, into: &folded)
        if steps[place].state == .running { ranAt = steps[place].at }
      }
      steps.removeFirst(surplus)
    }
    (self.steps, self.folded, self.ranAt) = (steps, folded, ranAt)
  }

  /// Of its last change.
  var lastStamp: UInt64 { steps.last?.stamp ?? 0 }

  /// Whether an earlier run of its id had not come back.
  var endsTaken: Bool { steps.last?.marks.contains(.taken) ?? false }

  package var wait: Wait { Wait(steps: steps, folded: folded, since: since, ranAt: ranAt) }

  /// The same if the earlier run of its id came back at once; nil if that has kept it waiting since before an instant.
  func backAtOnce(since instant: Instant) -> WaitTrail? {
    let kept = steps.lastIndex { $0.state == .running || !$0.marks.contains(.taken) }.map { $0 + 1 } ?? 0
    guard kept < steps.count, steps[kept].at >= instant else { return nil }
    var wait = wait
    for place in kept..<steps.count { wait.steps[place].marks.remove(.taken) }
    return WaitTrail(wait)
  }

  func shifted(by span: Span) -> WaitTrail {
    var moved = wait
    for place in moved.steps.indices {
      moved.steps[place].at = steps[place].at.adding(span)
      moved.steps[place].due = steps[place].due.adding(span)
    }
    (moved.since, moved.ranAt) = (since.adding(span), ranAt.adding(span))
    return WaitTrail(moved)
  }

  private static func fold(_ step: WaitStep, until end: Instant, into parts: inout [WaitPart]) {
    var at = step.at
    while at < end {
      let reason = step.ownReason(at: at) ?? .earlier
      let next = at < step.due && step.state == .enqueued ? min(step.due, end) : end
      parts.add(next.subtracting(at), reason, 0)
      at = next
    }
  }
}

/// How much of a wait went to one reason.
package struct WaitPart: Equatable, Sendable {
  package var reason: Reason
  /// The constraint's bit, the number of a condition's bit (−1: the record asks for it no more), the governor's factor, or 0.
  package var detail: Int64
  package var duration: Span
  /// How often it began; for the reasons of windows in how many of them.
  package var times: UInt64

  package init(reason: Reason, detail: Int64, duration: Span, times: UInt64) {
    (self.reason, self.detail, self.duration, self.times) = (reason, detail, duration, times)
  }
}

extension [WaitPart] {
  /// Time went to a reason.
  mutating func add(_ span: Span, _ reason: Reason, _ detail: Int64, times: UInt64 = 1) {
    if let place = firstIndex(where: { $0.reason == reason && $0.detail == detail }) {
      self[place].duration = self[place].duration.adding(span)
      self[place].times &+= times
    } else {
      append(WaitPart(reason: reason, detail: detail, duration: span, times: times))
    }
  }
}

extension TaskRecord {
  /// Changes a record in a way that its instants alone do not tell; notes the step unless nothing of its waiting changed.
  ///
  /// - Parameter always: a window is open whose ranking does not have it any more.
  @inline(never)
  mutating func step(at now: Instant, always: Bool = false, _ change: (inout TaskRecord) -> Void) {
    let old = self
    change(&self)
    note(from: old, at: now, always: always)
  }

  mutating func note(from old: TaskRecord, at now: Instant, always: Bool = false, isAnew: Bool = false) {
    // Until the change has its stamp.
    var step = WaitStep(self, at: now, stamp: .max)
    if isAnew { step.marks.insert(.anew) }
    guard always || isAnew || !step.isAs(WaitStep(old, at: now, stamp: 0)) else { return }
    var wait = old.wait(at: now)
    // Several changes at one instant are the last.
    if let last = wait.steps.last, last.at == now, !isAnew, wait.steps.count > 1 {
      step.marks.formUnion(last.marks.intersection(.anew))
      wait.steps.removeLast()
    }
    let regained = definition.needs.host & ~old.definition.needs.host
    if regained != 0 {
      for place in wait.steps.indices where Needs(rawValue: wait.steps[place].needs).host & regained != 0 {
        wait.steps[place].marks.insert(.former)
      }
    }
    wait.steps.append(step)
    trail = WaitTrail(wait)
  }

  /// Its process has ended, and with it the run that had not come back.
  mutating func noteOpening(at now: Instant) {
    guard var wait = trail?.wait else { return }
    wait.steps.append(WaitStep(self, at: now, stamp: .max))
    self.trail = WaitTrail(wait)
  }

  /// The last step has the stamp of its change.
  mutating func stampTrail() {
    guard let trail, let last = trail.steps.last, last.stamp == .max else { return }
    var wait = trail.wait
    wait.steps[wait.steps.count - 1].stamp = stamp
    self.trail = WaitTrail(wait)
  }

  /// What it did since it was last due, or registered: the steps, and what came before them.
  package func wait(at now: Instant) -> Wait {
    guard let trail else {
      let steps = stepsOfRecord(at: now)
      var ranAt = Instant.min
      if let took = lastResponse, lastRun <= steps[0].at { ranAt = lastRun.subtracting(took) }
      return Wait(steps: steps, since: steps[0].at, ranAt: ranAt)
    }
    var wait = trail.wait
    let steps = trail.steps
    // The last period whose begin is reached counts.
    for first in steps.indices.reversed() where first > 0 && steps[first].marks.contains(.anew) {
      var due = steps[first].due
      var ranAt: Instant?
      for place in first..<steps.count {
        if steps[place].state == .running {
          ranAt = steps[place].at
          break
        }
        due = steps[place].due
      }
      guard due <= now || ranAt != nil else { continue }
      let start = max(steps[first].at, min(due, ranAt ?? now))
      let base = steps.lastIndex { $0.at <= start && $0.state != .running } ?? first
      let kept = max(base, first)
      wait.ranAt = steps[..<kept].last { $0.state == .running }?.at ?? wait.ranAt
      wait.steps.removeFirst(kept)
      // Its last change was before.
      if start > wait.steps[0].at { wait.steps[0].stamp = 0 }
      wait.steps[0].at = start
      (wait.since, wait.folded) = (start, [])
      return wait
    }
    return wait
  }

  /// The steps of a record whose instants tell all of them.
  private func stepsOfRecord(at now: Instant) -> [WaitStep] {
    var waiting = WaitStep(self, at: registeredAt, stamp: 0)
    waiting.marks.remove(.again)
    let last = waiting
    // While it runs its own run has the id.
    if state == .running || state.isTerminal { waiting.marks.remove(.taken) }
    switch state {
    case .held, .blocked: return [waiting]
    case .enqueued: return stepsWaiting(waiting, at: now)
    case .running:
      waiting.state = .enqueued
      waiting.due = ranDue
      if hasRun && ranDue > registeredAt { waiting.at = ranDue <= changedAt ? max(ranDue, lastRun) : lastRun }
      var running = last
      (running.at, running.stamp) = (changedAt, stamp)
      return [waiting, running]
    case .succeeded, .failed, .cancelled:
      waiting.state = .enqueued
      var ended = last
      (ended.at, ended.stamp) = (changedAt, stamp)
      guard state != .cancelled, lastRun == changedAt, let took = lastResponse, lastOutcome != nil else {
        return stepsWaiting(waiting, at: changedAt) + [ended]
      }
      (waiting.due, waiting.estimate) = (ranDue, knownEstimateBefore)
      var running = waiting
      (running.at, running.state, running.stamp) = (lastRun.subtracting(took), .running, 0)
      return [waiting, running, ended]
    }
  }

  private func stepsWaiting(_ waiting: WaitStep, at now: Instant) -> [WaitStep] {
    var waiting = waiting
    guard let took = lastResponse, lastRun > registeredAt || traits.schedule != .once else { return [waiting] }
    waiting.stamp = stamp
    guard earliestBegin > now else {
      // Its last change was before.
      if earliestBegin > lastRun { waiting.stamp = 0 }
      waiting.at = max(earliestBegin, lastRun)
      return [waiting]
    }
    let began = lastRun.subtracting(took)
    var (before, running) = (waiting, waiting)
    (before.due, before.estimate, before.stamp) = (ranDue, knownEstimateBefore, 0)
    before.marks.remove(.taken)
    before.at = hasRunOnce ? registeredAt : min(ranDue, began)
    (running.at, running.state, running.estimate, running.stamp) = (began, .running, before.estimate, 0)
    waiting.at = lastRun
    // Retries belong to their period.
    if traits.schedule != .once && attempts == 0 { waiting.marks.insert(.anew) }
    return [before, running, waiting]
  }
}
