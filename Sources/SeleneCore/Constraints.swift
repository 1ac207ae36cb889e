// Conditions of the system that a task may ask for (C17, W1).

/// Some of the conditions.
package struct Constraints: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A network is reachable.
  package static let network = Constraints(rawValue: 1)
  /// The machine is on external power.
  package static let externalPower = Constraints(rawValue: 2)
  /// A network is reachable that does not cost by volume.
  package static let unmetered = Constraints(rawValue: 4)
  package static let batteryNotLow = Constraints(rawValue: 8)
  /// Nobody works at the machine.
  package static let idle = Constraints(rawValue: 16)
  package static let storageNotLow = Constraints(rawValue: 32)
  package static let displayOff = Constraints(rawValue: 64)
  /// A network is reachable, and it is the user's own.
  package static let notRoaming = Constraints(rawValue: 128)

  package static let all = Constraints(rawValue: 255)
}

extension SeleneError {
  /// Bits that are not constraints.
  package static func constraints(_ field: Literal, _ found: UInt32) -> SeleneError {
    .range(field, found, 0, Int64(Constraints.all.rawValue), .bits, "0 … 255 (SELENE_CONSTRAINT_)")
  }
}
