// What a profile can ask for (G2): each factor, what it looks at, and what meets it.

import SeleneCore

/// The factors of a decision; the raw values are the header's numbers.
///
/// Factors 1 to 19 look at the signal of the same number.
package enum Factor: UInt8, CaseIterable, Sendable {
  /// The level while discharging, full otherwise.
  case battery = 1
  case externalPower = 2
  case lowPowerMode = 3
  case thermal = 4
  case userActive = 5
  case displayOn = 6
  case unlocked = 7
  case network = 8
  case metered = 9
  case airplane = 10
  case backgroundSwitch = 11
  case hostPresence = 12
  case cpuBusy = 13
  case cpuPressure = 14
  case memoryPressure = 15
  case memoryStalled = 16
  case ioPressure = 17
  case ioStalled = 18
  case storageFree = 19
  /// What was used of the fullest quota, per mille.
  case budget = 20
  /// Time since the kind's last window began.
  case rate = 21
  /// How well the present hour suits the kind, per mille.
  case usePrediction = 22
  /// Time since the host was last used.
  case recentUse = 23

  package static let count = 23

  /// The signal that it looks at; nil for what the governor's own books say.
  package var signal: Signal? { Signal(rawValue: rawValue).flatMap { rawValue <= 19 ? $0 : nil } }

  /// Whether the requirement is the least value that meets it; else it is the greatest.
  package var wantsAtLeast: Bool {
    switch self {
    case .battery, .externalPower, .unlocked, .network, .backgroundSwitch, .storageFree, .rate, .usePrediction: true
    default: false
    }
  }

  /// The greatest requirement and observation.
  package var greatest: Int64 {
    switch self {
    case .budget, .usePrediction: 1000
    case .rate, .recentUse: Time.tenYears
    default: signal?.greatest ?? 0
    }
  }

  /// Whether its numbers are ns.
  var isDuration: Bool { self == .rate || self == .recentUse }

  /// What the built-in profiles require.
  package var usualRequirement: Int64 {
    switch self {
    case .battery, .cpuPressure, .ioStalled: 200
    case .thermal, .externalPower, .unlocked, .network, .backgroundSwitch, .hostPresence: 1
    case .cpuBusy, .usePrediction, .ioPressure: 500
    case .memoryPressure: 100
    case .memoryStalled, .storageFree: 50
    case .rate: 15 * Time.minute
    case .recentUse: 7 * Time.day
    case .budget: 999
    default: 0
    }
  }

  /// Whether an observation meets a requirement.
  package func isMet(_ observed: Int64, _ required: Int64) -> Bool {
    wantsAtLeast ? observed >= required : observed <= required
  }

  /// How good an observation is, per mille.
  ///
  /// Yes and no, and the named levels: met 1000, else 0. The prediction is its own score. Everything else by how far it is
  /// from the requirement: 1000 far on the good side, 500 exactly at it, 0 at twice as bad.
  package func score(_ observed: Int64, _ required: Int64) -> Int64 {
    if self == .usePrediction { return observed }
    guard greatest > 3 else { return isMet(observed, required) ? 1000 : 0 }
    let ratio = wantsAtLeast ? required.perMille(of: observed) : observed.perMille(of: required)
    return Curve.load.value(at: ratio)
  }
}
