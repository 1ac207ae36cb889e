// What is known of a task whose run its process did not survive (V7).

/// Whether a task may have ended its process; an outcome clears it.
package enum Suspicion: UInt8, Sendable {
  case none = 0
  /// It was in flight beside others: no attempt counted, and one such task runs at a time.
  case quarantined = 1
  /// It was in flight alone, or while it was quarantined, which was a failed attempt: it runs alone.
  case blamed = 2
}
