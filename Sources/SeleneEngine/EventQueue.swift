// Events for hosts that read them instead of being called (B3).

import SeleneCore

/// A bounded queue of events, with a descriptor that is readable while one waits. Guarded by the scheduler's lock.
package final class EventQueue {
  package static let mostEvents = 65_536

  private let capacity: Int
  private let watch: Watch
  private var events = Queue<(event: Event, lostBefore: UInt64)>()
  /// Events that found no room since the last that did.
  private var lost: UInt64 = 0
  /// The host reads its texts.
  private var current: Event?

  private init(capacity: Int, _ watch: Watch) { (self.capacity, self.watch) = (capacity, watch) }

  /// - Throws: `exhausted`.
  static func open(capacity: Int) throws(SeleneError) -> EventQueue {
    EventQueue(capacity: capacity, try Watch.open(.pokes))
  }

  package var descriptor: Int32 { watch.descriptor }

  func add(_ event: Event) {
    guard events.count < capacity else {
      lost += 1
      return
    }
    if events.isEmpty { wake() }
    events.append((event, lost))
    lost = 0
  }

  func wake() { watch.poke() }

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
      _ = watch.drain()
      return nil
    }
    current = next
    return next
  }

  /// Blocks until an event may be there, up to a time. The caller holds no lock.
  func wait(_ time: Span) { _ = watch.wait(time) }
}
