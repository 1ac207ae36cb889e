// Conditions of the system that a task may ask for (C17).

/// Some of the conditions.
package struct Constraints: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A network is reachable.
  package static let network = Constraints(rawValue: 1)
  /// The machine is on external power.
  package static let externalPower = Constraints(rawValue: 2)

  package static let all: Constraints = [.network, .externalPower]
}

extension SeleneError {
  /// Bits that are not constraints.
  package static func constraints(_ field: Literal, _ found: UInt32) -> SeleneError {
    .range(field, found, 0, Int64(Constraints.all.rawValue), .bits, "bits 1 (network) and 2 (external power)")
  }
}
