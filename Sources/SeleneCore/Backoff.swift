// The delay before a retry (C10).

/// How the delay grows with the attempt.
package enum BackoffPolicy: UInt8, Sendable {
  case none = 1
  case linear = 2
  case exponential = 3
}

/// The bounds that a scheduler sets for every backoff.
package struct BackoffBounds: Sendable {
  package var minimum: Span
  package var maximum: Span
  /// Shortens a delay by up to a number of per mille.
  package var jitter: UInt32

  package init(minimum: Span = 10 * Time.second, maximum: Span = 5 * Time.hour, jitter: UInt32 = 0) {
    self.minimum = minimum
    self.maximum = maximum
    self.jitter = jitter
  }

  package func clamp(_ delay: Span) -> Span { min(max(delay, minimum), maximum) }

  /// The delay before the retry that follows attempt n: none 0, linear d·n, exponential d·2^(n−1), at most the maximum.
  package func delay(_ policy: BackoffPolicy, base: Span, attempt: UInt32, using generator: inout Generator) -> Span {
    let full: Span
    switch policy {
    case .none: return 0
    case .linear:
      let (product, overflow) = base.multipliedReportingOverflow(by: Int64(attempt))
      full = overflow ? maximum : min(product, maximum)
    case .exponential:
      let doublings = Int64(max(attempt, 1)) - 1
      full = base > 0 && doublings >= base.leadingZeroBitCount - 1 ? maximum : min(base << doublings, maximum)
    }
    return jitter == 0 || full == 0 ? full : jittered(full, generator.upTo(1000))
  }

  /// delay − delay·j·u / 1 000 000, exactly, rounded towards the full delay.
  private func jittered(_ delay: Span, _ u: UInt64) -> Span {
    let (high, low) = UInt64(delay).multipliedFullWidth(by: UInt64(jitter) * u)
    return delay - Int64(UInt64(1_000_000).dividingFullWidth((high, low)).quotient)
  }
}
