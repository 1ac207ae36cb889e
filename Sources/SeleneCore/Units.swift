// Durations and instants that a host gives: within their range, and not meant in another unit (V21).

/// Whose clock a host's numbers are of, which says how small they may be.
package enum Units: Sendable {
  /// The system's: seconds that were given for nanoseconds are refused.
  case system
  /// The host's own, whose numbers may be any; and what the library itself works out.
  case own

  /// What is shorter, and not 0, is refused.
  private static let shortest = Time.millisecond
  /// 1971: what is earlier, and not 0, is refused.
  private static let earliest: Instant = 365 * Time.day

  /// Checks a duration.
  ///
  /// - Parameters:
  ///   - other: what is allowed besides, such as a number that stands for a default.
  ///   - subject: what the field belongs to.
  ///   - words: what is allowed, where the range does not say it.
  /// - Throws: `invalidArgument`.
  @inline(__always)
  package func check(
    _ field: Literal, _ span: Span, _ least: Span, _ greatest: Span, or other: Span? = nil, of subject: Literal = "",
    _ words: Literal = ""
  ) throws(SeleneError) {
    let isShort = span > 0 && span < Self.shortest && self == .system
    guard !isShort && ((span >= least && span <= greatest) || span == other) else {
      throw refusal(field, span, least, greatest, isShort, words).of(subject)
    }
  }

  @inline(never)
  private func refusal(
    _ field: Literal, _ span: Span, _ least: Span, _ greatest: Span, _ isShort: Bool, _ words: Literal
  ) -> SeleneError {
    let shortest = self == .system ? max(least, Self.shortest) : least
    guard isShort else { return .range(field, span, least > 0 ? shortest : least, greatest, .duration, words) }
    return .mistaken(field, span, from: shortest, to: greatest, orZero: least <= 0)
  }

  /// Checks an instant.
  ///
  /// - Throws: `invalidArgument`.
  package func check(
    instant field: Literal, _ instant: Instant, _ least: Instant, _ greatest: Instant, _ words: Literal = ""
  ) throws(SeleneError) {
    if instant != 0 && instant < Self.earliest && self == .system {
      throw .mistaken(
        instant: field, instant, first: Self.earliest, from: least, to: greatest,
        words.isEmpty ? "0, or instants from 1971 on" : words)
    }
    guard instant >= least && instant <= greatest else {
      throw .range(field, instant, least, greatest, .instant, words)
    }
  }
}
