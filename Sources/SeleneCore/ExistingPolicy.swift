// What registering does when a live record has the id (T5), and what it answers.

/// What registering does when a live record has the id.
package enum ExistingPolicy: UInt8, Sendable {
  case keep = 1
  case replace = 2
  case update = 3
  case append = 4
  case appendOrReplace = 5
  /// As keep, and what has succeeded stays as it is while its record is there (V9).
  case skip = 6

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
