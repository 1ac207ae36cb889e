// What a host's event loop waits for instead of blocking in a lane: a descriptor (C20).

import SeleneCore

/// What is seen of a cycle by who is told to wait.
struct CycleView {
  private let openRuns: Int
  private let isDone: Bool
  private let stamp: UInt64
  private let openings: UInt64
  private let suspectChanges: UInt64

  init(_ cycle: Cycle, _ table: TaskTable) {
    (openRuns, isDone, stamp, openings) = (cycle.openRuns, cycle.isDone, table.stamp, table.terms.groups.openings)
    suspectChanges = table.suspectChanges
  }

  /// Whether a lane may have become free, a group have got room (W3), what waits for a suspect have its turn (V7), or a
  /// rolling cycle something to do (R1).
  func differs(_ cycle: Cycle, _ table: TaskTable) -> Bool {
    cycle.openRuns < openRuns || cycle.isDone != isDone || (cycle.isRolling && table.stamp != stamp)
      || table.terms.groups.openings != openings || table.suspectChanges != suspectChanges
  }
}

/// The descriptor of a cycle of lanes. Guarded by the scheduler's lock.
final class CycleWatch {
  private let watch: Watch
  /// What its host saw when it was told to wait.
  private var seen: CycleView?

  private init(_ watch: Watch) { self.watch = watch }

  /// - Throws: `exhausted`.
  static func open(followsTime: Bool) throws(SeleneError) -> CycleWatch {
    CycleWatch(try Watch.open(followsTime ? .time : .pokes))
  }

  var descriptor: Int32 { watch.descriptor }

  var sleepsUntil: Instant { watch.sleepsUntil }
  var isAsleep: Bool { watch.isAsleep }

  /// The host has said what time it is: its timer is that.
  func follow(toldTime now: Instant) { watch.follow(toldTime: now) }

  /// Something may have happened: its host looks again.
  func poke() { watch.poke() }

  /// Its host was told to wait until an instant.
  func sleep(_ cycle: Cycle, until wakeAt: Instant, at now: Instant, _ table: TaskTable) {
    seen = CycleView(cycle, table)
    _ = watch.drain()
    watch.sleep(until: wakeAt, at: now)
  }

  /// Wakes its host if there may be something to do.
  func follow(_ cycle: Cycle, _ table: TaskTable) {
    if watch.isAsleep, let seen, seen.differs(cycle, table) { poke() }
  }
}
