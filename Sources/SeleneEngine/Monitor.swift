// The lock of a scheduler, with a condition variable for changes and one for work.

import CPlatform
import SeleneCore

/// A mutex with condition variables; lives as long as the process.
package struct Monitor: @unchecked Sendable {  // the pointer never changes
  private let raw = platform_monitor_create()

  /// The longest uninterrupted sleep: the sleeping clock does not count suspend, scheduler time does.
  private static let longestSleep: Span = Time.second

  /// Makes it new in a process that got it by fork: its threads, which may hold it, are not here.
  func renew() { platform_monitor_renew(raw) }

  func lock() { platform_monitor_lock(raw) }
  /// Locks for a call of the host; false if this thread already holds one, which means that its signal handler calls.
  @inline(__always)
  func enter() -> Bool { platform_monitor_enter(raw) != 0 }
  func unlock() { platform_monitor_unlock(raw) }
  /// Wakes all threads that wait; the caller holds the lock.
  func broadcast() { platform_monitor_broadcast(raw) }

  /// Waits for a call, however long; may return early.
  func rest() { platform_monitor_rest(raw) }
  /// Wakes all threads that rest: those that only wait for work do not wake for every change.
  func call() { platform_monitor_call(raw) }

  /// Waits for a broadcast, at most for a time; may return early, so callers ask again.
  ///
  /// - Parameter isOwn: whether this is a thread of the library that is in no function of the host, or is in a call that is
  ///   counted as one that waits for time.
  func wait(_ time: Span, isOwn: Bool = false) {
    platform_monitor_wait(raw, min(time, Self.longestSleep), isOwn ? 1 : 0)
  }

  /// Waits for a broadcast, however long: no clock is asked. May return early.
  func waitForChange() { platform_monitor_wait(raw, Time.hour, 1) }

  /// How many of the library's threads wait or rest; nil while one that was woken has not come back. The caller holds the lock.
  var still: Int? {
    let count = platform_monitor_still(raw)
    return count < 0 ? nil : Int(count)
  }

  /// Waits until another thread lets the lock go, at most for a time; may return early.
  func watch(_ time: Span) { platform_monitor_watch(raw, min(time, Self.longestSleep)) }
}
