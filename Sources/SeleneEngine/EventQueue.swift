// Events for hosts that read them instead of being called (B3).

import CPlatform
import SeleneCore

/// A bounded queue of events, with a descriptor that is readable while one waits. Guarded by the scheduler's lock.
package final class EventQueue {
  package static let mostEvents = 65_536

  private let capacity: Int
  private let watch: OpaquePointer
  private var events = Queue<(event: Event, lostBefore: UInt64)>()
  /// Events that found no room since the last that did.
  private var lost: UInt64 = 0
  /// The host reads its texts.
  private var current: Event?

  /// Nil where the system refuses a descriptor.
  init?(capacity: Int) {
    guard let watch = platform_watch_open(Int32(PLATFORM_WATCH_POKES)) else { return nil }
    (self.capacity, self.watch) = (capacity, watch)
  }

  deinit { platform_watch_close(watch) }

  package var descriptor: Int32 { platform_watch_descriptor(watch) }

  func add(_ event: Event) {
    guard events.count < capacity else {
      lost += 1
      return
    }
    if events.isEmpty { wake() }
    events.append((event, lost))
    lost = 0
  }

  func wake() { platform_watch_poke(watch) }

  /// How many were lost before the next event, or until now if there is none; told once.
  func takeLost() -> UInt64 {
    guard let next = events.first else {
      defer { lost = 0 }
      return lost
    }
    return next.lostBefore
  }

  /// The next event, which lives until the one behind it is taken.
  func next() -> Event? {
    guard let next = events.popFirst()?.event else {
      _ = platform_watch_drain(watch)
      return nil
    }
    current = next
    return next
  }

  /// Blocks until an event may be there, up to a time. The caller holds no lock.
  func wait(_ time: Span) { _ = platform_watch_wait(watch, time) }
}
