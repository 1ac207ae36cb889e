// What a host's event loop waits for instead of blocking in a lane: a descriptor (C20).

import CPlatform
import SeleneCore

/// The descriptor of a cycle of lanes. Guarded by the scheduler's lock.
final class CycleWatch {
  private let watch: OpaquePointer
  /// Its host was told to wait, and nothing has happened since.
  private var isAsleep = false
  /// When it wakes by itself, while it sleeps.
  private var wakesAt: Instant = Time.never
  /// What its host saw then.
  private var seen: (openRuns: Int, isDone: Bool, stamp: UInt64) = (0, false, 0)

  /// Nil where the system refuses it.
  init?(followsTime: Bool) {
    guard
      let watch = platform_watch_open(Int32(followsTime ? PLATFORM_WATCH_TIME : PLATFORM_WATCH_POKES))
    else { return nil }
    self.watch = watch
  }

  deinit { platform_watch_close(watch) }

  var descriptor: Int32 { platform_watch_descriptor(watch) }

  /// The host has said what time it is: its timer is that.
  func follow(toldTime now: Instant) {
    if isAsleep && wakesAt <= now { poke() }
  }

  /// Something may have happened: its host looks again.
  func poke() {
    isAsleep = false
    platform_watch_poke(watch)
  }

  /// Its host was told to wait until an instant.
  func sleep(_ cycle: Cycle, until wakeAt: Instant, at now: Instant, _ stamp: UInt64) {
    (isAsleep, wakesAt) = (true, wakeAt)
    seen = (cycle.openRuns, cycle.isDone, stamp)
    _ = platform_watch_drain(watch)
    platform_watch_set_timer(watch, max(0, wakeAt.subtracting(now)))
  }

  /// Wakes its host if a lane may have become free, or a rolling cycle something to do (R1).
  func follow(_ cycle: Cycle, _ stamp: UInt64) {
    guard isAsleep else { return }
    if cycle.openRuns < seen.openRuns || cycle.isDone != seen.isDone || (cycle.isRolling && stamp != seen.stamp) {
      poke()
    }
  }
}
