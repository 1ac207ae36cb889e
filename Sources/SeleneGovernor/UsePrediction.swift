// When the host is likely to be used (G5): the hours of the day at which it was, and how long ago.

import SeleneCore

/// When the host is usually used.
///
/// For each hour of the local day the share of days on which it saw use, older days counting half as much every 28 days. A
/// finer model would fit chance rather than habits.
package struct UsePrediction: Sendable {
  package static let hours = 24
  /// The days of history that a prediction needs.
  package static let daysToKnow: Int64 = 3
  /// One day, in the fixed point of all counts.
  private static let one: Int64 = 1 << 20
  /// 2^(−1/28), in 2^−32.
  private static let daily: Int64 = 4_189_949_513
  /// Days of the mean hour that are added to what was seen, against chance in a short history.
  private static let prior: Int64 = 1
  /// Days without use after which the past no longer counts.
  private static let longestAbsence: Int64 = 1000
  private static let longestUse = 7 * Time.day

  /// Days with use at each hour, then all days, then days with any use; up to yesterday.
  private var counts = [Int64](repeating: 0, count: hours + 2)
  /// The present local day, counted from the epoch; nil before the first use.
  private var day: Int64?
  /// The hours of the present day that saw use.
  private var today: Int64 = 0
  private var lastDay: Int64 = 0
  /// When the host was last used, or nil.
  package private(set) var lastUse: Instant?

  package init() {}

  private static func hour(_ instant: Instant, _ offset: Int64) -> Int64 {
    let local = max(.min + Time.day, min(.max - Time.day, instant.adding(offset * Time.second)))
    return local / Time.hour - (local % Time.hour < 0 ? 1 : 0)
  }

  private static func split(_ hour: Int64) -> (day: Int64, hour: Int64) {
    let rest = hour % Int64(hours)
    let hourOfDay = rest < 0 ? rest + Int64(hours) : rest
    return ((hour - hourOfDay) / Int64(hours), hourOfDay)
  }

  /// The first instant of an instant's local hour.
  package static func beginOfHour(_ instant: Instant, offset: Int64) -> Instant {
    (hour(instant, offset) * Time.hour).subtracting(offset * Time.second)
  }

  // MARK: Writing

  /// The host was used from one instant to another.
  ///
  /// - Parameter offset: local time minus UTC in seconds.
  package mutating func use(from begin: Instant, to end: Instant, offset: Int64) {
    guard begin <= end else { return }
    var hour = Self.hour(max(begin, end.subtracting(Self.longestUse)), offset)
    let last = Self.hour(end, offset)
    while hour <= last {
      mark(hour)
      hour += 1
    }
    lastUse = max(lastUse ?? end, end)
  }

  /// The clock was another: all that was noted moves with it, by whole days, and not beyond the present.
  package mutating func shift(by span: Span) {
    let days = Self.split(span / Time.hour - (span % Time.hour < 0 ? 1 : 0)).day
    day = day.map { $0 + days }
    lastDay += days
    lastUse = lastUse.map { $0.adding(span) }
  }

  private mutating func mark(_ hour: Int64) {
    let (day, hourOfDay) = Self.split(hour)
    advance(to: day)
    // What is told of an earlier day comes too late: that day is closed.
    guard day == self.day else { return }
    today |= 1 << hourOfDay
    lastDay = day
  }

  /// Closes the days before a day.
  private mutating func advance(to next: Int64) {
    guard let current = day else {
      (day, lastDay) = (next, next)
      return
    }
    guard next > current else { return }
    if next - current > Self.longestAbsence {
      counts = [Int64](repeating: 0, count: Self.hours + 2)
    } else {
      close(today)
      var empty = next - current - 1
      while empty > 0 {
        close(0)
        empty -= 1
      }
    }
    (day, today) = (next, 0)
  }

  private mutating func close(_ hours: Int64) {
    for place in counts.indices {
      let saw = place < Self.hours ? hours >> Int64(place) & 1 : place == Self.hours ? 1 : hours != 0 ? 1 : 0
      counts[place] = (counts[place] * Self.daily) >> 32 + saw * Self.one
    }
  }

  // MARK: Reading

  /// What is known at an instant, ready to be asked about many hours.
  package func outlook(at now: Instant, offset: Int64) -> Outlook {
    var present = self
    if day != nil { present.advance(to: Self.split(Self.hour(now, offset)).day) }
    return Outlook(present, now: now, offset: offset)
  }

  /// What the coming hours are like.
  package struct Outlook: Sendable {
    /// Whether there is enough history to say anything.
    package let isKnown: Bool
    package let offset: Int64
    private let prediction: UsePrediction
    /// Use of the mean hour in the fixed point of counts, for a day.
    private let mean: Int64
    /// What is left of every probability for the time without use, per mille.
    private let recency: Int64

    fileprivate init(_ present: UsePrediction, now: Instant, offset: Int64) {
      prediction = present
      self.offset = offset
      let counts = present.counts
      let days = counts[hours]
      var sum: Int64 = 0
      for hour in 0..<hours { sum += counts[hour] }
      isKnown = days > 0 && sum > 0 && days >= (daysToKnow - 1) * one
      mean = days > 0 ? (sum / Int64(hours)) * one / days : 0
      let idle = max(0, (present.day ?? 0) - present.lastDay)
      recency = days > 0 ? Curve.recency.value(at: (idle * counts[hours + 1]).perMille(of: days)) : 1000
    }

    /// The probability that the host is used in an instant's hour, per mille.
    package func probability(at instant: Instant) -> Int64 {
      let (day, hour) = split(UsePrediction.hour(instant, offset))
      if day == prediction.day && prediction.today >> hour & 1 != 0 { return 1000 }
      return min(1000, use(hour).perMille(of: days)) * recency / 1000
    }

    private var days: Int64 { prediction.counts[hours] + prior * one }

    private func use(_ hour: Int64) -> Int64 { prediction.counts[Int(hour)] + prior * mean }

    /// How well an instant's hour suits a kind, per mille: refresh before use, processing while there is none.
    package func score(_ kind: Kind, at instant: Instant) -> Int64 {
      guard isKnown else { return 500 }
      let ratio = use(split(UsePrediction.hour(instant, offset)).hour).perMille(of: days * mean / one)
      return (kind == .refresh ? Curve.used : Curve.quiet).value(at: ratio)
    }
  }

  // MARK: Storing

  /// The habits as numbers, for traces and stores.
  package var numbers: [Int64] { counts + [day ?? Time.never, today, lastDay, lastUse ?? Time.never] }

  /// Reads what `numbers` gave.
  ///
  /// - Throws: `invalidArgument` for what it never gives.
  package init(numbers: [Int64]) throws(SeleneError) {
    let size = Self.hours + 2
    let mostDays = 42 * Self.one
    var isValid = numbers.count == size + 4
    for place in 0..<min(size, numbers.count) where numbers[place] < 0 || numbers[place] > mostDays { isValid = false }
    guard isValid && numbers[size + 1] >> Int64(Self.hours) == 0 else {
      throw SeleneError(.invalidArgument, "use", "not a history of use")
    }
    let furthest = UInt64(Int64.max / Time.day + 2)
    for place in [size, size + 2] where numbers[place] != Time.never && numbers[place].magnitude > furthest {
      throw SeleneError(.invalidArgument, "use", "no day has the number \(numbers[place])")
    }
    counts = []
    for place in 0..<size { counts.append(numbers[place]) }
    day = numbers[size] == Time.never ? nil : numbers[size]
    (today, lastDay) = (numbers[size + 1], numbers[size] == Time.never ? 0 : numbers[size + 2])
    lastUse = numbers[size + 3] == Time.never ? nil : numbers[size + 3]
  }
}
