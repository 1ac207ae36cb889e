// What the governor looks at (G1): each signal, its unit, its range, and what its absence means.

import SeleneCore

/// The signals; the raw values are the header's numbers.
///
/// Shares are in per mille. Signals 1 to 19 have a factor of the same number.
package enum Signal: UInt8, CaseIterable, Sendable {
  /// Charge of all batteries, per mille.
  case batteryLevel = 1
  case externalPower = 2
  case lowPowerMode = 3
  /// 0 nominal, 1 fair, 2 serious, 3 critical.
  case thermal = 4
  case userActive = 5
  case displayOn = 6
  /// A person has unlocked the machine since it started.
  case unlocked = 7
  case network = 8
  case metered = 9
  case airplane = 10
  /// The user lets this host work in the background.
  case backgroundSwitch = 11
  /// 0 background, 1 foreground, 2 quit by the user.
  case hostPresence = 12
  /// Share of CPU time that is not idle, per mille.
  case cpuBusy = 13
  /// Share of the last 10 s in which some task waited for a CPU, per mille; the next four likewise.
  case cpuPressure = 14
  case memoryPressure = 15
  /// All tasks waited for memory.
  case memoryStalled = 16
  case ioPressure = 17
  /// All tasks waited for input or output.
  case ioStalled = 18
  /// Free share of the store's file system, per mille.
  case storageFree = 19
  case discharging = 20
  /// Local time minus UTC, in seconds.
  case utcOffset = 21
  /// The network is another operator's.
  case roaming = 22

  package static let count = 22

  /// Calls a body with each signal, in order of their numbers.
  @inline(__always)
  package static func forEach(_ body: (Signal) -> Void) {
    var number: UInt8 = 1
    while let signal = Signal(rawValue: number) {
      body(signal)
      number += 1
    }
  }

  package static let furthestOffset: Int64 = 18 * 3600

  /// The value that an unknown signal counts as, so that a machine without sensors works.
  package var unknownMeans: Int64 {
    switch self {
    case .batteryLevel, .storageFree: 1000
    case .externalPower, .unlocked, .network, .backgroundSwitch: 1
    default: 0
    }
  }

  /// The greatest value; 1 for those that are yes or no.
  package var greatest: Int64 {
    switch self {
    case .batteryLevel, .cpuBusy, .cpuPressure, .memoryPressure, .memoryStalled, .ioPressure, .ioStalled, .storageFree:
      1000
    case .thermal: 3
    case .hostPresence: 2
    case .utcOffset: Self.furthestOffset
    default: 1
    }
  }

  package var least: Int64 { self == .utcOffset ? -Self.furthestOffset : 0 }

  /// How soon a probe is worth another look; 0 where it never is. What the system announces is among them: not everywhere
  /// can it be heard.
  package var lookAgain: Span {
    switch self {
    case .cpuBusy, .cpuPressure, .memoryPressure, .memoryStalled, .ioPressure, .ioStalled: 10 * Time.second
    case .thermal, .userActive, .displayOn: 30 * Time.second
    case .batteryLevel, .discharging, .externalPower, .network, .airplane, .storageFree: Time.minute
    default: 0
    }
  }
}

/// Who said what a signal is, the strongest last; the raw values are the header's numbers.
package enum SignalSource: UInt8, CaseIterable, Sendable {
  /// No source has set it.
  case unknown = 0
  case probe = 1
  case host = 2
}

/// What is known of a signal at an instant.
package struct Reading: Equatable, Sendable {
  /// The value, or what its absence means.
  package var value: Int64
  package var source: SignalSource
  /// When it was said last; its age counts from here.
  package var setAt: Instant
  /// When it took this value.
  package var since: Instant
  /// When it expires, unless it is set again.
  package var until: Instant

  package var isKnown: Bool { source != .unknown }
}
