// The order in which tasks deserve a window (S2, S3, S4).

/// Nanoseconds since a task's last run; any two instants have one.
package typealias Age = UInt64

extension Instant {
  /// How long ago an earlier instant was; 0 if it is not earlier.
  package func since(_ earlier: Instant) -> Age {
    // The distance of any two instants fits into 64 bits without a sign.
    earlier <= self ? Age(bitPattern: self &- earlier) : 0
  }
}

/// What the eligible set of a cycle has in common: the ranges that rescale its factors.
package struct ScoreScale: Sendable {
  private let leastPriority: UInt8
  private let greatestPriority: UInt8
  private let leastElapsed: Age
  private let greatestElapsed: Age
  let observedRange: Bool

  /// Selene's shipped form: minimum 0, priorities up to 5 (S2).
  package init(greatestElapsed: Age) {
    (leastPriority, greatestPriority) = (0, 5)
    (leastElapsed, self.greatestElapsed) = (0, greatestElapsed)
    observedRange = false
  }

  /// The observed range, as Selene's authors described it (S3).
  package init(priorities: ClosedRange<UInt8>, elapsed: ClosedRange<Age>) {
    (leastPriority, greatestPriority) = (priorities.lowerBound, priorities.upperBound)
    (leastElapsed, greatestElapsed) = (elapsed.lowerBound, elapsed.upperBound)
    observedRange = true
  }

  /// One task alone.
  package init(spanningOnly priority: UInt8, elapsed: Age, observedRange: Bool) {
    self =
      observedRange
      ? ScoreScale(priorities: priority...priority, elapsed: elapsed...elapsed) : ScoreScale(greatestElapsed: elapsed)
  }

  /// The same scale with one more task among those that it spans.
  package func including(priority: UInt8, elapsed: Age) -> ScoreScale {
    guard observedRange else { return ScoreScale(greatestElapsed: max(greatestElapsed, elapsed)) }
    return ScoreScale(
      priorities: min(leastPriority, priority)...max(greatestPriority, priority),
      elapsed: min(leastElapsed, elapsed)...max(greatestElapsed, elapsed))
  }

  /// The exact numerator of a score: within one scale, more is better, and equal numerators are equal scores.
  package func numerator(priority: UInt8, elapsed: Age) -> UInt128 {
    // Two factors of 64 bits: the product cannot overflow.
    UInt128(priorityFactor(priority)) &* UInt128(elapsedFactor(elapsed))
  }

  /// The score for people to read.
  package func score(priority: UInt8, elapsed: Age) -> Double {
    let p = Double(priorityFactor(priority)) / Double(max(1, greatestPriority - leastPriority))
    let t = Double(elapsedFactor(elapsed)) / Double(max(1, greatestElapsed - leastElapsed))
    return p * t
  }

  private func priorityFactor(_ priority: UInt8) -> UInt64 {
    if observedRange && greatestPriority == leastPriority { return 1 }
    return UInt64(max(priority, leastPriority) - leastPriority)
  }

  private func elapsedFactor(_ elapsed: Age) -> UInt64 {
    if greatestElapsed == leastElapsed { return observedRange ? 1 : 0 }
    return max(elapsed, leastElapsed) - leastElapsed
  }
}
