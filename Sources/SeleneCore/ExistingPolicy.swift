// What registering does when a live record has the id (T5), and what it answers.

/// What registering does when a live record has the id.
package enum ExistingPolicy: UInt8, Sendable {
  case keep = 0
  case replace = 1
  case update = 2
  case append = 3
  case appendOrReplace = 4
  /// As keep, and what has succeeded stays as it is while its record is there (V9).
  case skip = 5

  package var appends: Bool { self == .append || self == .appendOrReplace }
}

/// What registering did.
package enum Disposition: Int32, Sendable {
  case added = 0
  case replaced = 1
  case updated = 2
  case kept = 3
  case appended = 4
  case held = 5
}
