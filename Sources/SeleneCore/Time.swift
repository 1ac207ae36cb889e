// Time as the border knows it: whole nanoseconds, arithmetic that saturates instead of trapping.

/// An instant: nanoseconds since the Unix epoch, in scheduler time.
package typealias Instant = Int64

/// A duration in nanoseconds.
package typealias Span = Int64

/// Named durations and limits.
package enum Time {
  package static let microsecond: Span = 1_000
  package static let millisecond: Span = 1_000_000
  package static let second: Span = 1_000_000_000
  package static let minute: Span = 60 * second
  package static let hour: Span = 60 * minute
  package static let day: Span = 24 * hour
  /// The longest delay or period (T2).
  package static let tenYears: Span = 3_653 * day
  /// The longest budget and expected response (T2, C1).
  package static let longestRun: Span = day
  /// The instant that never comes.
  package static let never: Instant = .max
  /// How long a terminal record stays readable (T9).
  package static let retention: Span = day
  /// How soon a standing task asks for the next cycle of its kind where no interval is set (C16).
  package static let standingInterval: Span = 15 * minute
}

extension Int64 {
  /// The sum, held at the ends of the range.
  @inline(__always)
  package func adding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, held at the ends of the range.
  @inline(__always)
  package func subtracting(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}
