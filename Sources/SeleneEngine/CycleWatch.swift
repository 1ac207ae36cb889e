// What a host's event loop waits for instead of blocking in a lane: a descriptor (C20).

import SeleneCore

/// The descriptor of a cycle of lanes. Guarded by the scheduler's lock.
final class CycleWatch {
  private let watch: Watch
  /// What its host saw when it was told to wait.
  private var seen: (openRuns: Int, isDone: Bool, stamp: UInt64, openings: UInt64) = (0, false, 0, 0)

  /// - Throws: `exhausted`.
  init(followsTime: Bool) throws(SeleneError) { watch = try Watch(followsTime ? .time : .pokes) }

  var descriptor: Int32 { watch.descriptor }

  /// The host has said what time it is: its timer is that.
  func follow(toldTime now: Instant) { watch.follow(toldTime: now) }

  /// Something may have happened: its host looks again.
  func poke() { watch.poke() }

  /// Its host was told to wait until an instant.
  func sleep(_ cycle: Cycle, until wakeAt: Instant, at now: Instant, _ table: TaskTable) {
    seen = (cycle.openRuns, cycle.isDone, table.stamp, table.terms.groups.openings)
    _ = watch.drain()
    watch.sleep(until: wakeAt, at: now)
  }

  /// Wakes its host if a lane may have become free, a group have got room (W3), or a rolling cycle something to do (R1).
  func follow(_ cycle: Cycle, _ table: TaskTable) {
    guard watch.isAsleep else { return }
    if cycle.openRuns < seen.openRuns || cycle.isDone != seen.isDone || (cycle.isRolling && table.stamp != seen.stamp)
      || table.terms.groups.openings != seen.openings
    {
      poke()
    }
  }
}
