// The order in which tasks deserve a window (S2, S3, S4, F7, F8).

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
  /// Under the freshness rule the greatest index of all, which scores 1.
  private let greatestIndex: UInt128
  let isFresh: Bool

  /// Selene's shipped form: minimum 0, priorities up to 5 (S2).
  package init(greatestElapsed: Age) {
    (leastPriority, greatestPriority) = (0, 5)
    (leastElapsed, self.greatestElapsed) = (0, greatestElapsed)
    (observedRange, isFresh, greatestIndex) = (false, false, 0)
  }

  /// The freshness rule: an index against the greatest (F8).
  package init(greatestIndex: UInt128) {
    (leastPriority, greatestPriority, leastElapsed, greatestElapsed) = (0, 0, 0, .max)
    (observedRange, isFresh, self.greatestIndex) = (false, true, greatestIndex)
  }

  /// The observed range, as Selene's authors described it (S3).
  package init(priorities: ClosedRange<UInt8>, elapsed: ClosedRange<Age>) {
    (leastPriority, greatestPriority) = (priorities.lowerBound, priorities.upperBound)
    (leastElapsed, greatestElapsed) = (elapsed.lowerBound, elapsed.upperBound)
    (observedRange, isFresh, greatestIndex) = (true, false, 0)
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

  /// The same under the freshness rule.
  package func including(factor: UInt64, elapsed: Age) -> ScoreScale {
    ScoreScale(greatestIndex: max(greatestIndex, UInt128(factor) &* UInt128(elapsed)))
  }

  /// The exact numerator of a score: within one scale, more is better, and equal numerators are equal scores.
  ///
  /// - Parameter factor: `factor` of the priority, or the weight of the pace.
  package func numerator(factor: UInt64, elapsed: Age) -> UInt128 {
    // Two factors of 64 bits: the product cannot overflow.
    UInt128(factor) &* UInt128(elapsedFactor(elapsed))
  }

  /// The score for people to read.
  package func score(factor: UInt64, elapsed: Age) -> Double {
    if isFresh {
      return greatestIndex == 0
        ? 0 : Self.double(numerator(factor: factor, elapsed: elapsed)) / Self.double(greatestIndex)
    }
    let p = Double(factor) / Double(max(1, greatestPriority - leastPriority))
    let t = Double(elapsedFactor(elapsed)) / Double(max(1, greatestElapsed - leastElapsed))
    return p * t
  }

  /// The conversion of the standard library takes ten times as long.
  private static func double(_ number: UInt128) -> Double {
    Double(UInt64(truncatingIfNeeded: number >> 64)) * 0x1p64 + Double(UInt64(truncatingIfNeeded: number))
  }

  /// What an age is multiplied by for its priority.
  package func factor(_ priority: UInt8) -> UInt64 {
    if observedRange && greatestPriority == leastPriority { return 1 }
    return UInt64(max(priority, leastPriority) - leastPriority)
  }

  private func elapsedFactor(_ elapsed: Age) -> UInt64 {
    if greatestElapsed == leastElapsed { return observedRange ? 1 : 0 }
    return max(elapsed, leastElapsed) - leastElapsed
  }
}
