// The ranking as the rules say it, in exact fractions: what the library's picks are compared with (S2, S3, S4, S5).

/// A fraction of whole numbers, compared exactly.
struct Fraction: Comparable {
  let numerator: UInt128
  let denominator: UInt128

  init(_ numerator: UInt128, _ denominator: UInt128) { (self.numerator, self.denominator) = (numerator, denominator) }

  static let zero = Fraction(0, 1)
  static let one = Fraction(1, 1)

  static func * (a: Fraction, b: Fraction) -> Fraction {
    Fraction(a.numerator * b.numerator, a.denominator * b.denominator)
  }

  static func < (a: Fraction, b: Fraction) -> Bool {
    let left = a.numerator.multipliedFullWidth(by: b.denominator)
    let right = b.numerator.multipliedFullWidth(by: a.denominator)
    return (left.high, left.low) < (right.high, right.low)
  }

  static func == (a: Fraction, b: Fraction) -> Bool { !(a < b) && !(b < a) }

  /// For comparing with a score that is for reading.
  var value: Double { Double(numerator) / Double(denominator) }
}

/// What ranking knows of a task.
struct Entrant {
  let id: String
  let priority: Int
  let sequence: UInt64
  let lastRun: Int64

  func elapsed(at now: Int64) -> UInt128 { UInt128(Int128(now) - Int128(lastRun)) }
}

enum Oracle {
  /// The score of a task among the eligible, itself included.
  static func score(_ entrant: Entrant, among eligible: [Entrant], observedRange: Bool, at now: Int64) -> Fraction {
    let ages = eligible.map { $0.elapsed(at: now) }
    let age = entrant.elapsed(at: now)
    guard observedRange else {
      // P' = priority / 5, T' = elapsed / greatest elapsed, 0 if that is 0.
      let greatest = ages.max() ?? 0
      return Fraction(UInt128(entrant.priority), 5) * (greatest == 0 ? .zero : Fraction(age, greatest))
    }
    let priorities = eligible.map { UInt128($0.priority) }
    return rescaled(UInt128(entrant.priority), among: priorities) * rescaled(age, among: ages)
  }

  /// (x − min) / (max − min), or 1 where these are equal.
  private static func rescaled(_ x: UInt128, among values: [UInt128]) -> Fraction {
    let (least, greatest) = (values.min() ?? 0, values.max() ?? 0)
    return least == greatest ? .one : Fraction(x - least, greatest - least)
  }

  /// The eligible in their order: score descending, then the higher priority, then the lower sequence.
  static func ranked(
    _ eligible: [Entrant], observedRange: Bool, at now: Int64
  ) -> [(entrant: Entrant, score: Fraction)] {
    guard let first = eligible.first else { return [] }
    // The scores of one set share their denominator, so the extremes need to be found only once.
    let ages = eligible.map { $0.elapsed(at: now) }
    let priorities = eligible.map(\.priority)
    let oldest = eligible[ages.firstIndex(of: ages.max() ?? 0) ?? 0]
    let youngest = eligible[ages.firstIndex(of: ages.min() ?? 0) ?? 0]
    let highest = eligible[priorities.firstIndex(of: priorities.max() ?? 0) ?? 0]
    let lowest = eligible[priorities.firstIndex(of: priorities.min() ?? 0) ?? 0]
    let extremes = [first, oldest, youngest, highest, lowest]
    return
      eligible
      .map { ($0, score($0, among: extremes + [$0], observedRange: observedRange, at: now)) }
      .sorted { a, b in
        if a.1 != b.1 { return a.1 > b.1 }
        if a.0.priority != b.0.priority { return a.0.priority > b.0.priority }
        return a.0.sequence < b.0.sequence
      }
  }

  /// The mean of the last n response times, rounded down; what is declared while there are none, or if n = 0.
  static func estimate(_ times: [Int64], window: Int, declared: Int64) -> Int64 {
    guard window > 0, !times.isEmpty else { return declared }
    let last = times.dropFirst(max(0, times.count - window))
    return Int64(last.reduce(Int128(0)) { $0 + Int128($1) } / Int128(last.count))
  }
}
