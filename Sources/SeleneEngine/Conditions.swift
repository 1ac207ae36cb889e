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
  func satisfied(probing fresh: Constraints) -> Constraints {
    hostSatisfied.union(fresh.subtracting(hostOwned))
  }

  mutating func set(_ owned: Constraints, satisfied: Constraints) {
    hostOwned = owned
    hostSatisfied = satisfied
  }

  mutating func apply(probed fresh: Constraints) { probed = fresh }

  /// Reads from the system what the host does not set. The caller holds no lock.
  static func probe(_ wanted: Constraints) -> Constraints {
    var satisfied = Constraints.all.subtracting(wanted)
    if wanted.contains(.network) && platform_has_network("") != 0 { satisfied.insert(.network) }
    if wanted.contains(.externalPower) && platform_has_external_power("") != 0 { satisfied.insert(.externalPower) }
    return satisfied
  }
}
