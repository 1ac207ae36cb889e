// The lock of a scheduler, with its one condition variable.

import CPlatform
import SeleneCore

/// A mutex with a condition variable; lives as long as the process.
package struct Monitor: @unchecked Sendable {  // the pointer never changes
  private let raw = platform_monitor_create()

  /// The longest uninterrupted sleep: the sleeping clock does not count suspend, scheduler time does.
  private static let longestSleep: Span = Time.second

  /// Makes it new in a process that got it by fork: its threads, which may hold it, are not here.
  func renew() { platform_monitor_renew(raw) }

  func lock() { platform_monitor_lock(raw) }
  func unlock() { platform_monitor_unlock(raw) }
  func broadcast() { platform_monitor_broadcast(raw) }

  /// Waits for a broadcast or for so long; may return early, so callers ask again.
  func wait(_ time: Span) { platform_monitor_wait(raw, min(time, Self.longestSleep)) }
}
