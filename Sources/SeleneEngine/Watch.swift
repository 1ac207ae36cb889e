// What a host's event loop, or a thread, waits with: a descriptor that is readable when there may be something to do.

import CPlatform
import SeleneCore

/// A descriptor that is poked, or wakes by itself. All but waiting is guarded by the scheduler's lock.
final class Watch {
  /// What it hears by itself.
  enum Hearing {
    /// Nothing: it is poked.
    case pokes
    /// The time until which it sleeps.
    case time
    /// The time, and what the system announces.
    case system

    fileprivate var number: Int32 {
      switch self {
      case .pokes: Int32(PLATFORM_WATCH_POKES)
      case .time: Int32(PLATFORM_WATCH_TIME)
      case .system: Int32(PLATFORM_WATCH_SYSTEM)
      }
    }
  }

  private let watch: OpaquePointer
  /// It is poked when something happens; awake it looks anyway.
  private(set) var isAsleep = false
  /// When it wakes by itself, while it sleeps.
  private var wakesAt: Instant = Time.never
  var sleepsUntil: Instant { isAsleep ? wakesAt : Time.never }

  private init(_ watch: OpaquePointer) { self.watch = watch }

  /// Opens one. An initializer that threw would not give back the memory of its object, in Embedded Swift.
  ///
  /// - Throws: `exhausted`.
  static func open(_ hearing: Hearing) throws(SeleneError) -> Watch {
    guard let watch = platform_watch_open(hearing.number) else {
      throw SeleneError(.exhausted, "the system refused a descriptor to wait with")
    }
    return Watch(watch)
  }

  deinit { platform_watch_close(watch) }

  var descriptor: Int32 { platform_watch_descriptor(watch) }

  /// Blocks until it is readable, up to a time; whether it is. The caller holds no lock.
  func wait(_ time: Span) -> Bool { platform_watch_wait(watch, time) != 0 }

  /// Makes it readable.
  func poke() {
    isAsleep = false
    platform_watch_poke(watch)
  }

  /// The host has said what time it is: its timer is that.
  func follow(toldTime now: Instant) {
    if isAsleep && wakesAt <= now { poke() }
  }

  /// It is awake and no longer readable; what it has heard.
  func drain() -> UInt32 {
    isAsleep = false
    return platform_watch_drain(watch)
  }

  /// It sleeps until an instant, at the latest.
  func sleep(until wakeAt: Instant, at now: Instant) {
    (isAsleep, wakesAt) = (true, wakeAt)
    platform_watch_set_timer(watch, wakeAt == Time.never ? -1 : max(0, wakeAt.subtracting(now)))
  }

  /// Whether it wakes when memory runs short.
  func hearMemory(_ wanted: Bool) { platform_watch_memory(watch, wanted ? 1 : 0) }

  /// Wakes when two files lose their names; false where the system does not tell.
  func hearFiles(_ first: UnsafePointer<CChar>, _ second: UnsafePointer<CChar>) -> Bool {
    platform_watch_files(watch, first, second) != 0
  }
}
