// Scheduler time (P2): the wall clock at open, then the boot-time clock; or a clock of the host's own.

import CPlatform
import SeleneCore

/// A host's clock: one that is asked what time it is, or one that is told.
package final class HostClock: Callback {
  /// Nil if it is told.
  let read: (() -> Instant)?
  /// What it was told last; nil if it is asked. Guarded by the scheduler's lock.
  var told: Instant?

  package init(read: @escaping () -> Instant, destroy: (() -> Void)?) {
    self.read = read
    super.init(destroy: destroy)
  }

  /// One that is told.
  package init(told: Instant) {
    self.told = told
    read = nil
    super.init(destroy: nil)
  }

  /// Reads it. Of one that is asked the caller holds no lock, and has begun a use.
  ///
  /// - Throws: `forked`.
  func now() throws(SeleneError) -> Instant {
    guard let read else { return told ?? 0 }
    return try callHost(PLATFORM_CLOSED_OWNER) { read() }
  }
}

extension Units {
  /// Of a scheduler with such a clock, or with the system's.
  package init(_ clock: HostClock?) { self = clock == nil ? .system : .own }
}

/// Where a scheduler's time comes from.
struct Clock {
  let host: HostClock?
  /// Scheduler time minus the boot clock, or minus the host's.
  private var offset: Span
  /// The last instant told. Guarded by the scheduler's lock.
  private(set) var last: Instant
  /// How far the last reading lay behind it: time stands still.
  private(set) var lag: Span = 0

  init(_ host: HostClock?) {
    self.host = host
    offset = host == nil ? platform_wall_clock().subtracting(platform_boot_clock()) : 0
    last = .min
  }

  /// Whether it is told what time it is.
  var isTold: Bool { host?.told != nil }
  /// Whether a thread may wait for time to pass: by the system's clock, or by one that is told, whose telling wakes it.
  var wakes: Bool { host == nil || isTold }

  /// Lets time go on from here: what a store has seen is not seen again (P2).
  mutating func start(at instant: Instant) {
    offset = offset.adding(instant.subtracting(last))
    last = instant
  }

  /// The present by the system's clock, or by what the host's clock said; never before the last.
  ///
  /// Time stands still once a host's clock has ended: the system's is another.
  @_optimize(speed)
  mutating func tick(_ reading: Instant?) -> Instant {
    guard host == nil || reading != nil else { return last }
    let present = (reading ?? platform_boot_clock()).adding(offset)
    lag = max(0, last.subtracting(present))
    last = max(last, present)
    return last
  }
}
