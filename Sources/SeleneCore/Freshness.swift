// The freshness rule: age times a pace that follows from what a task's runs cost, how often they find news, and how often
// they fail (F2 to F8).

/// What the turn of a task follows from, and the class of its pace.
package struct PaceTerms: Sendable {
  /// Its age counts from this instant.
  package let freshSince: Instant
  package let cost: Span
  /// How many outcomes are known, and how many of them found something new.
  package let runs: UInt8
  package let news: UInt8
  package let pace: Int

  /// Against that of a normal task (F10).
  package var perMille: Int32 { Freshness.perMille(pace) }
}

/// Numbers of the freshness rule.
package enum Freshness {
  /// How many classes of pace there are: half an octave of the cost of news each (F6).
  static let paces = 64
  /// How many of the last response times count (F4, F5).
  static let samples = 20
  /// How many of the last outcomes count (F3).
  static let outcomes: UInt8 = 16
  private static let leastCost: Span = 1 << 20
  private static let greatestUnknownCost = 5 * Time.second

  /// What a run is expected to cost (F4).
  static func cost(measured: Span?, declared: Span, isDeclared: Bool) -> Span {
    max(leastCost, isDeclared ? declared : measured ?? min(declared, greatestUnknownCost))
  }

  /// The class of a task's pace, 0 the fastest (F6).
  ///
  /// - Parameters:
  ///   - runs: how many outcomes are known, at most 16.
  ///   - news: in how many of them something new was found.
  static func pace(cost: Span, priority: UInt8, runs: UInt8, news: UInt8, attempts: UInt32) -> Int {
    // A span of any size times seventeen fits into 128 bits; the quotient may not fit into 64.
    let spent = UInt128(UInt64(bitPattern: max(0, cost))) &* UInt128(UInt64(runs) + 1)
    let forNews = spent / UInt128(max(1, UInt64(priority) &* (UInt64(news) + 1)))
    let costOfNews = min(forNews, UInt128(UInt64.max))
    let bits = 128 - (costOfNews &* costOfNews).leadingZeroBitCount
    return min(max(bits - 1 + Int(min(attempts, 8)) - 36, 0), paces - 1)
  }

  /// What a pace makes of each nanosecond of age (F7): fourth roots of 2^160 down to 2^157, halved every four classes.
  package static func weight(_ pace: Int) -> UInt64 {
    let root: UInt64 =
      switch pace & 3 {
      case 0: 1_099_511_627_776
      case 1: 924_575_386_326
      case 2: 777_472_127_993
      default: 653_773_525_389
      }
    return root >> UInt64(truncatingIfNeeded: pace >> 2)
  }

  /// A pace against that of a task of priority 3 that takes 5 s, always finds news and never fails, in thousandths (F10).
  package static func perMille(_ pace: Int) -> Int32 {
    // At most 76 109.
    Int32(truncatingIfNeeded: 1000 * weight(pace) / weight(25))
  }

  /// How much of its age a failure leaves: three quarters (F2).
  static func freshSince(_ since: Instant, afterFailureAt now: Instant) -> Instant {
    since.adding(Int64(bitPattern: now.since(since) / 4))
  }
}
