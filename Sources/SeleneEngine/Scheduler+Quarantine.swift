// Tasks that may have ended their process: what runs beside them (V7).
//
// In a process, this one or a connected one, one quarantined task runs at a time, beside whatever else runs there. A task
// that is to blame runs alone: one process at a time begins nothing else until it can, the others go on. It
// waits for 30 s at most, then again 5 min later, so that a run of hours does not stop the process.

import SeleneCore

/// A process that begins nothing until a task that is to blame can run alone there.
struct Clearing {
  /// In which window the task has its turn, and whose share of it; nil: this process's.
  let cycle: Cycle
  let member: Member?
  let slot: Int
  let sequence: UInt64
  /// From then on other tasks begin, while this one still waits for the runs in flight.
  let endsAt: Instant
  /// From then on the process may wait for the task again.
  let againAt: Instant

  private static let length = 30 * Time.second
  private static let pause = 10 * length

  init(for slot: Int, _ sequence: UInt64, in cycle: Cycle, at now: Instant) {
    (self.cycle, member, self.slot, self.sequence) = (cycle, cycle.member, slot, sequence)
    endsAt = now.adding(Self.length)
    againAt = endsAt.adding(Self.pause)
  }
}

/// Whether a task whose turn it is may begin where others may have ended their process.
enum SuspectTurn {
  case now
  /// Others go first.
  case later
  /// And so for all others there.
  case afterOthers
}

extension Scheduler {
  /// Whether there are such tasks, or runs of them.
  @inline(__always)
  var hasSuspects: Bool { table.hasSuspects || !suspectRuns.isEmpty }

  /// A run begins.
  func noteSuspect(_ run: Run) { if run.suspicion != .none { suspectRuns.append(run) } }

  /// A run has come back, or was let go.
  func forgetSuspect(_ run: Run) {
    suspectRuns.removeAll { $0 === run }
    reviewSuspects()
  }

  /// What waits for a suspect, or suspects for, may begin.
  func reviewSuspects() {
    suspectRuns.removeAll { !$0.isAtWork }
    table.reviewSuspects()
    if !hasSuspects { clearing = nil }
  }

  /// Whether a run is in the process that a cycle would give its next run to.
  private func isBeside(_ run: Run, _ cycle: Cycle) -> Bool {
    guard cycle.mode == .member || cycle.member != nil else { return run.mode != .member }
    guard let member = cycle.member else { return run.mode == .member }
    return member.runs[Token(rawValue: run.token).number] != nil
  }

  /// Whether a task whose turn it is in a cycle may begin there now.
  func turn(of slot: Int, in cycle: Cycle, at now: Instant) -> SuspectTurn {
    if let clearing, !isUseful(clearing, at: now) { self.clearing = nil }
    if let clearing, clearing.member === cycle.member, clearing.sequence != table.sequence(slot), now < clearing.endsAt
    {
      return .afterOthers
    }
    let beside = suspectRuns.filter { $0.isAtWork && isBeside($0, cycle) }
    if beside.contains(where: { $0.suspicion == .blamed }) { return .afterOthers }
    switch table[slot].suspicion {
    case .none: return .now
    case .quarantined: return beside.isEmpty ? .now : .later
    case .blamed:
      guard hasRuns(beside: cycle) else {
        clearing = nil
        return .now
      }
      if let clearing, now < clearing.againAt {
        return clearing.member === cycle.member && now < clearing.endsAt ? .afterOthers : .later
      }
      clearing = Clearing(for: slot, table.sequence(slot), in: cycle, at: now)
      return .afterOthers
    }
  }

  /// Whether the task for which a process begins nothing could begin there if nothing else ran.
  private func isUseful(_ clearing: Clearing, at now: Instant) -> Bool {
    let cycle = clearing.cycle
    guard !cycle.isEnded, !cycle.isDone, clearing.member.map({ share(of: $0, in: cycle) != nil }) ?? true else {
      return false
    }
    guard let room = room(in: cycle, at: now) else { return false }
    let task = (slot: clearing.slot, sequence: clearing.sequence)
    return table[clearing.slot].suspicion == .blamed
      && cycle.ranking.pick(aside: task, in: table, offer(of: cycle), room: cycle.isOfOneTask ? .any : room) != nil
  }

  func hasRuns(beside cycle: Cycle) -> Bool {
    var hasOne = false
    runs.forEach { if $0.isAtWork && isBeside($0, cycle) { hasOne = true } }
    return hasOne
  }

  /// Tells the log of waits for which pools something waits for a suspect now, and for which it does no more (W8).
  @inline(never)
  func tellSuspects() {
    let now = clock.last
    var present: [(pool: UInt64, what: WaitLog.Suspects)] = []
    func add(_ pool: Pool?, _ what: WaitLog.Suspects) {
      let number = WaitLog.pool(pool?.name)
      if let place = present.firstIndex(where: { $0.pool == number }) {
        present[place].what.formUnion(what)
      } else {
        present.append((number, what))
      }
    }
    for run in suspectRuns where run.isAtWork {
      add(run.mode == .member ? run.handler.pool : nil, run.suspicion == .blamed ? [.others, .all] : .others)
    }
    if let clearing {
      if isUseful(clearing, at: now) {
        add(clearing.member?.pool, now < clearing.endsAt ? [.others, .all] : .others)
      } else {
        self.clearing = nil
      }
    }
    for old in toldSuspects where !present.contains(where: { $0.pool == old.pool }) {
      table.waits.set([], of: old.pool, at: now)
    }
    for new in present { table.waits.set(new.what, of: new.pool, at: now) }
    toldSuspects = present
  }

  /// The next instant at which a process starts or ends waiting for its suspect.
  func clearingChangesAt(after now: Instant) -> Instant {
    guard let clearing, now < clearing.againAt else { return Time.never }
    return now < clearing.endsAt ? clearing.endsAt : clearing.againAt
  }

  /// When to look again at a task that waits for what runs in the process: when time ends some of that.
  func awaitsOthers(_ cycle: Cycle, at now: Instant) -> Instant? {
    guard cycle.isHeldBack else { return nil }
    var wakeAt = Time.never
    runs.forEach { run in
      guard run.isAtWork, isBeside(run, cycle) else { return }
      wakeAt = min(wakeAt, Budget.nextExpiry(run.expiresAt, run.deadline, after: now), nextInstant(of: run))
    }
    return max(wakeAt, now)
  }

  /// Whether a task waits for what runs in its process, or in one of its pool, because one of them is a suspect.
  func awaitsSuspects(_ record: borrowing TaskRecord, at now: Instant) -> Bool {
    guard hasSuspects, record.state == .enqueued else { return false }
    let (pool, suspicion) = (pool(of: record), record.suspicion)
    func isThere(_ run: Run) -> Bool { run.mode == .member ? pool != nil && run.handler.pool === pool : pool == nil }
    if let clearing, now < clearing.endsAt, isUseful(clearing, at: now), clearing.member?.pool === pool { return true }
    if suspicion == .none { return suspectRuns.contains { $0.isAtWork && $0.suspicion == .blamed && isThere($0) } }
    if suspicion == .quarantined { return suspectRuns.contains { $0.isAtWork && isThere($0) } }
    var hasOne = false
    runs.forEach { if $0.isAtWork && isThere($0) { hasOne = true } }
    return hasOne
  }
}
