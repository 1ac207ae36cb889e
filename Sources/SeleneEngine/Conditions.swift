// Which constraints are satisfied: what the host set, and what the system says otherwise (C17).

import CPlatform
import SeleneCore

/// The conditions of one scheduler. Guarded by its lock.
struct Conditions {
  /// The bits that the host sets.
  private(set) var hostOwned: Constraints = []
  private var hostSatisfied: Constraints = []
  /// What the system said at the last begin.
  private var probed: Constraints = .all

  var satisfied: Constraints { hostSatisfied.union(probed.subtracting(hostOwned)) }

  /// What would be satisfied with a fresh reading of the system.
  func satisfied(probing probe: Probe) -> Constraints {
    hostSatisfied.union(probe.over(probed).subtracting(hostOwned))
  }

  mutating func set(_ owned: Constraints, satisfied: Constraints) {
    hostOwned = owned
    hostSatisfied = satisfied
  }

  mutating func apply(_ probe: Probe) { probed = probe.over(probed) }

  /// Reads from the system what the host does not set. The caller holds no lock.
  static func probe(_ wanted: Constraints) -> Probe {
    var satisfied: Constraints = []
    if wanted.contains(.network) && platform_has_network("") != 0 { satisfied.insert(.network) }
    if wanted.contains(.externalPower) && platform_has_external_power("") != 0 { satisfied.insert(.externalPower) }
    return Probe(wanted: wanted, satisfied: satisfied)
  }
}

/// What the system said of the conditions that it was asked for.
struct Probe {
  var wanted: Constraints = []
  var satisfied: Constraints = []

  /// An earlier reading with these in place of its own.
  func over(_ earlier: Constraints) -> Constraints { earlier.subtracting(wanted).union(satisfied) }
}
