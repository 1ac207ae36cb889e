// Reads the system's signals (G1): what Linux says in files, in the terms of the governor.

import CPlatform
import SeleneCore

/// Signals that are read together.
package struct SignalGroups: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let power = SignalGroups(rawValue: 1)
  package static let thermal = SignalGroups(rawValue: 2)
  package static let people = SignalGroups(rawValue: 4)
  package static let network = SignalGroups(rawValue: 8)
  package static let load = SignalGroups(rawValue: 16)
  package static let storage = SignalGroups(rawValue: 32)
  package static let place = SignalGroups(rawValue: 64)
  package static let all = SignalGroups(rawValue: 127)

  /// The group whose reading says what a signal is; none for those that only a host knows.
  package init(of signal: Signal) {
    switch signal {
    case .batteryLevel, .externalPower, .discharging: self = .power
    case .thermal: self = .thermal
    case .userActive, .displayOn: self = .people
    case .network, .airplane: self = .network
    case .cpuBusy, .cpuPressure, .memoryPressure, .memoryStalled, .ioPressure, .ioStalled: self = .load
    case .storageFree: self = .storage
    case .utcOffset: self = .place
    case .lowPowerMode, .unlocked, .metered, .backgroundSwitch, .hostPresence: self = []
    }
  }
}

/// What the system said.
package struct SignalReadings {
  let groups: SignalGroups
  var raw = platform_readings()

  /// A user who did nothing for so long is not active.
  static let activeFor = 5 * Time.minute

  /// Reads some groups. The caller holds no lock.
  ///
  /// - Parameters:
  ///   - root: "" or a directory that stands for "/".
  ///   - store: a path on the file system whose room counts.
  package init(_ groups: SignalGroups, root: Bytes, store: Bytes) {
    self.groups = groups
    root.withCString { root in store.withCString { platform_probe(root, $0, groups.rawValue, &raw) } }
  }

  func value(_ signal: Signal) -> Int64 {
    withUnsafeBytes(of: raw.values) { $0.load(fromByteOffset: Int(signal.rawValue) * 8, as: Int64.self) }
  }
}

/// What is kept between two readings.
package struct SignalProbe {
  /// Ticks of the CPUs at the last reading that counted.
  private var busy: UInt64 = 0
  private var total: UInt64 = 0

  /// Below so many ticks a share says nothing.
  private static let leastTicks: UInt64 = 20

  package init() {}

  /// Tells signals what the system said; what it did not say is not known.
  ///
  /// - Returns: whether anything that counts is now another value.
  package mutating func apply(_ readings: SignalReadings, to signals: inout Signals, at now: Instant) -> Bool {
    var hasChanged = false
    Signal.forEach { signal in
      let group = SignalGroups(of: signal)
      guard group != [] && readings.groups.contains(group) else { return }
      var value = readings.value(signal)
      var until = Time.never
      if signal == .userActive && readings.raw.idle != PLATFORM_UNKNOWN {
        let left = SignalReadings.activeFor - readings.raw.idle
        value = left > 0 ? 1 : 0
        if left > 0 { until = now.adding(left) }
      }
      if signal == .cpuBusy {
        guard let share = share(readings.raw) else { return }
        value = share
      }
      // A value that cannot be is none.
      if value < signal.least || value > signal.greatest {
        if signals.clear(signal, by: .probe, at: now) { hasChanged = true }
      } else if (try? signals.set(signal, value, by: .probe, at: now, until: until)) == true {
        hasChanged = true
      }
    }
    return hasChanged
  }

  /// The busy share since the last reading that counted; nil if too little time has passed since.
  private mutating func share(_ raw: platform_readings) -> Int64? {
    let (lastBusy, lastTotal) = (busy, total)
    if raw.total >= lastTotal && raw.total - lastTotal < Self.leastTicks { return lastTotal == 0 ? .min : nil }
    (busy, total) = (raw.busy, raw.total)
    guard lastTotal > 0 && raw.total > lastTotal && raw.busy >= lastBusy else { return .min }
    let share = Int64(clamping: raw.busy - lastBusy).perMille(of: Int64(clamping: raw.total - lastTotal))
    return min(1000, share)
  }
}
