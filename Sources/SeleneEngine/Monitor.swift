// The lock of a scheduler, threads that wait for any change, and lines of threads of which one is called at a time.

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

  /// Waits in a line until it is called, however long.
  func lineUp(in line: Line) { platform_monitor_line_up(raw, line.raw) }
  /// Wakes one thread of a line; whether there was one.
  @discardableResult
  func call(_ line: Line) -> Bool { platform_monitor_call(raw, line.raw) != 0 }
  /// Wakes all threads of a line.
  func callAll(_ line: Line) { while call(line) {} }

  /// Waits for a broadcast, at most for a time; may return early, so callers ask again.
  ///
  /// - Parameter isOwn: whether this is a thread of the library that is in no function of the host, or is in a call that is
  ///   counted as one that waits for time.
  func wait(_ time: Span, isOwn: Bool = false) {
    platform_monitor_wait(raw, min(time, Self.longestSleep), isOwn ? 1 : 0)
  }

  /// Waits for a broadcast, however long: no clock is asked. May return early.
  func waitForChange() { platform_monitor_wait(raw, Time.hour, 1) }

  /// How many of the library's threads wait, in a line or not; nil while one that was woken has not come back. The caller holds the lock.
  var still: Int? {
    let count = platform_monitor_still(raw)
    return count < 0 ? nil : Int(count)
  }

  /// Waits until another thread lets the lock go, at most for a time; may return early.
  func watch(_ time: Span) { platform_monitor_watch(raw, min(time, Self.longestSleep)) }
}

/// Threads that wait for something that one of them does: it is called, and no other (V22). Guarded by the lock.
package final class Line {
  fileprivate let raw: UnsafeMutablePointer<platform_line?> = .allocate(capacity: 1)

  init() { raw.initialize(to: nil) }

  deinit { raw.deallocate() }
}
