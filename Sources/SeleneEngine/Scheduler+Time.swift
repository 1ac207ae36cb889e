// What time does by itself: expiry, ends, and letting go (C5, C7, C4).

import SeleneCore

extension Scheduler {
  /// Applies what fell due since the last call, in the order of its nominal instants.
  func advance(to now: Instant) {
    while nextDue <= now {
      guard let (at, act) = nextEffect(), at <= now else { break }
      act()
    }
  }

  /// The next thing that time does; sets when the next look is due.
  private func nextEffect() -> (at: Instant, act: () -> Void)? {
    var next: (at: Instant, act: () -> Void)?
    func consider(_ at: Instant, _ act: @escaping () -> Void) {
      if at < next?.at ?? Time.never { next = (at, act) }
    }
    for cycle in cycles where !cycle.isEnded {
      if !cycle.hasExpired {
        consider(cycle.time.expiresAt) { self.expire(cycle) }
      } else if cycle.openRuns > 0 {
        // Completing is possible exactly at the deadline, so it passes one nanosecond later.
        consider(cycle.time.deadline.adding(1)) { self.expireRuns(of: cycle) }
      }
    }
    // In the order of their numbers, so that what falls due at one instant is told in the same order everywhere.
    for run in runs.values.sorted(by: { $0.token < $1.token }) where !run.isOpen && !run.isBack {
      consider(run.endedAt.adding(options.releaseAfter)) { self.letGo(run) }
    }
    nextDue = next?.at ?? Time.never
    return next
  }

  /// The reserve begins: runs in flight are asked to stop.
  private func expire(_ cycle: Cycle) {
    cycle.hasExpired = true
    for run in cycle.runs where run.isOpen { stop(run, .expiring, at: cycle.time.expiresAt) }
  }

  /// The deadline has passed: open runs are over.
  func expireRuns(of cycle: Cycle) {
    for run in cycle.runs where run.isOpen { expire(run, at: cycle.time.deadline) }
    slot.monitor.broadcast()
  }

  /// A run did not come back in time: its id is free, its handler may still be at work.
  private func letGo(_ run: Run) {
    comeBack(run)
    if run.cycle.mode == .pulled { lent[Token(rawValue: run.token).number] = run }
    var change = Change(.released)
    change.definition = run.definition
    change.state = table.find(run.definition.id).map { table[$0].state }
    change.run = run.token
    publish(change, at: run.endedAt.adding(options.releaseAfter))
  }
}
