// Reads the system's signals (G1): what Linux says in files, in the terms of the governor.

import CPlatform
import SeleneCore
import SeleneGovernor

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
    case .lowPowerMode, .unlocked, .metered, .roaming, .backgroundSwitch, .hostPresence: self = []
    }
  }
}

/// What the system said.
package struct SignalReadings {
  let groups: SignalGroups
  var raw = platform_readings()

  /// The time without input after which a user is not active.
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
  /// Ticks of the CPUs at a reading, and when that was: where the next share begins.
  private var busy: UInt64 = 0
  private var total: UInt64 = 0
  private var begin: Instant = .min

  /// A share of a shorter time, or of fewer ticks, says nothing; one of a longer time says nothing of the present.
  private static let period = Time.second / 5...30 * Time.second
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
        guard begin == .min || now.subtracting(begin) >= Self.period.lowerBound else { return }
        value = share(readings.raw, at: now) ?? value
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

  /// The busy share since the last reading, from which the next begins; nil if that was too long ago.
  private mutating func share(_ raw: platform_readings, at now: Instant) -> Int64? {
    let last = (busy: busy, total: total, at: begin)
    (busy, total, begin) = (raw.busy, raw.total, now)
    guard Self.period.contains(now.subtracting(last.at)), raw.busy >= last.busy, raw.total > last.total,
      raw.total - last.total >= Self.leastTicks
    else { return nil }
    return min(1000, Int64(clamping: raw.busy - last.busy).perMille(of: Int64(clamping: raw.total - last.total)))
  }
}
