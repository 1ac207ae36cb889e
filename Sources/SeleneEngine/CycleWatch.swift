// What a host's event loop waits for instead of blocking in a lane: a descriptor (C20).

import SeleneCore

/// The descriptor of a cycle of lanes. Guarded by the scheduler's lock.
final class CycleWatch {
  private let watch: Watch
  /// What its host saw when it was told to wait.
  private var seen: (openRuns: Int, isDone: Bool, stamp: UInt64) = (0, false, 0)

  /// - Throws: `exhausted`.
  init(followsTime: Bool) throws(SeleneError) { watch = try Watch(followsTime ? .time : .pokes) }

  var descriptor: Int32 { watch.descriptor }

  /// The host has said what time it is: its timer is that.
  func follow(toldTime now: Instant) { watch.follow(toldTime: now) }

  /// Something may have happened: its host looks again.
  func poke() { watch.poke() }

  /// Its host was told to wait until an instant.
  func sleep(_ cycle: Cycle, until wakeAt: Instant, at now: Instant, _ stamp: UInt64) {
    seen = (cycle.openRuns, cycle.isDone, stamp)
    _ = watch.drain()
    watch.sleep(until: wakeAt, at: now)
  }

  /// Wakes its host if a lane may have become free, or a rolling cycle something to do (R1).
  func follow(_ cycle: Cycle, _ stamp: UInt64) {
    guard watch.isAsleep else { return }
    if cycle.openRuns < seen.openRuns || cycle.isDone != seen.isDone || (cycle.isRolling && stamp != seen.stamp) {
      poke()
    }
  }
}
