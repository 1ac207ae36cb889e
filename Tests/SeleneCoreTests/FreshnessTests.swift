// The numbers of the freshness rule at their bounds: nothing traps, and what is exact stays exact (F2 to F8).

import Testing

@testable import SeleneCore

@Suite("Freshness") struct FreshnessTests {
  /// F6 as it stands, in numbers of any size.
  private func plainPace(_ cost: Span, _ priority: UInt8, _ runs: UInt8, _ news: UInt8, _ attempts: UInt32) -> Int {
    let x = min(
      UInt128(max(0, cost)) * UInt128(runs + 1) / (UInt128(priority) * UInt128(news + 1)), UInt128(UInt64.max))
    // Doublings of x², by halving it: of a number below 2 there are none, or one too few.
    var (y, bits) = (x.multipliedFullWidth(by: x), 0)
    while y.high != 0 || y.low != 0 {
      y.low = y.low >> 1 | y.high << 127
      y.high >>= 1
      bits += 1
    }
    return min(max(bits - 1 + Int(min(attempts, 8)) - 36, 0), 63)
  }

  private let spans: [Span] = [
    .min, -1, 0, 1, 1 << 18, 1 << 20, Time.second, 5 * Time.second, Time.day, Time.tenYears, .max / 17, .max / 17 + 1,
    .max,
  ]

  @Test("F4 what a run costs is at least 2²⁰ ns, and at most 5 s while nothing is known")
  func cost() {
    for span in spans {
      #expect(
        Freshness.cost(measured: nil, declared: span, isDeclared: false)
          == max(1 << 20, min(span, 5 * Time.second)))
      #expect(Freshness.cost(measured: nil, declared: span, isDeclared: true) == max(1 << 20, span))
      #expect(Freshness.cost(measured: span, declared: 1, isDeclared: false) == max(1 << 20, span))
    }
  }

  @Test("F4 the mean of twenty runs of ten years is ten years")
  func mean() throws {
    let desk = Desk()
    try desk.register(Recipe("a") { $0.responseWindow = 30 })
    let slot = try #require(desk.slot("a"))
    desk.table.modify(slot) { $0.responseTimes = [Span](repeating: Time.tenYears, count: 30) }
    #expect(desk.table[slot].paceTerms.cost == Time.tenYears)
    desk.table.modify(slot) { $0.responseTimes = [Span](repeating: .max, count: 30) }
    // A sum that does not fit is the greatest there is; no run takes so long.
    #expect(desk.table[slot].paceTerms.cost == .max / 20)
  }

  @Test("F5 of the last twenty at most about every fifth run takes longer than estimated")
  func estimate() throws {
    var chance = Chance("F5")
    let desk = Desk { $0.freshness = true }
    try desk.register(Recipe("a") { $0.responseWindow = 1 })
    let slot = try #require(desk.slot("a"))
    for count in 0...30 {
      let times = (0..<count).map { _ in chance.pick([0, 1, 5, Time.second, Time.tenYears, .max]) }
      desk.table.modify(slot) { $0.responseTimes = times }
      let last = times.suffix(20).sorted(by: >)
      let expected = last.isEmpty ? 5 * Time.second : last[max(1, (last.count + 1) / 5) - 1]
      try verify(desk.table[slot].estimate == expected, "\(times): \(desk.table[slot].estimate)")
      try verify(
        last.count { $0 > desk.table[slot].estimate } <= max(0, (last.count + 1) / 5 - 1), "\(times) are longer")
    }
  }

  @Test("F6 the class of a pace is exact at the bounds of all that it follows from")
  func pace() throws {
    for cost in spans {
      for priority: UInt8 in 1...5 {
        for (runs, news): (UInt8, UInt8) in [(0, 0), (1, 0), (1, 1), (16, 0), (16, 7), (16, 16)] {
          for attempts: UInt32 in [0, 1, 8, 9, .max] {
            let pace = Freshness.pace(cost: cost, priority: priority, runs: runs, news: news, attempts: attempts)
            try verify(
              pace == plainPace(cost, priority, runs, news, attempts),
              "cost \(cost), priority \(priority), \(news) of \(runs), \(attempts) attempts: class \(pace)")
          }
        }
      }
    }
    #expect(Freshness.pace(cost: 5 * Time.second, priority: 3, runs: 0, news: 0, attempts: 0) == 25)
    #expect(Freshness.pace(cost: .max, priority: 0, runs: 255, news: 255, attempts: 0) <= 63)
  }

  @Test("F7 F10 four classes are half the weight, and the greatest index fits into 104 bits")
  func weights() {
    #expect((0..<64).map { Freshness.weight($0) } == (0..<64).map { Freshness.weight($0 % 4) >> UInt64($0 / 4) })
    for pace in 1..<64 { #expect(Freshness.weight(pace) < Freshness.weight(pace - 1)) }
    #expect(Freshness.weight(0) == 1 << 40)
    #expect(Freshness.perMille(25) == 1000)
    #expect(Freshness.perMille(0) == 76_109)
    #expect(Freshness.perMille(63) == 1)
    let age = Instant.max.since(.min)
    let scale = ScoreScale(greatestIndex: UInt128(Freshness.weight(0)) * UInt128(age))
    #expect(scale.numerator(factor: Freshness.weight(0), elapsed: age) < 1 << 104)
    #expect(scale.score(factor: Freshness.weight(0), elapsed: age) == 1)
    #expect(scale.score(factor: Freshness.weight(4), elapsed: age) == 0.5)
    // F8: where all have the age 0, so is the score.
    #expect(ScoreScale(greatestIndex: 0).score(factor: Freshness.weight(0), elapsed: 0) == 0)
  }

  @Test("F2 F3 a run whose process ended is a failure that took no time that is known")
  func interrupted() throws {
    let desk = Desk { $0.freshness = true }
    _ = try desk.addHandler("a")
    try desk.register(Recipe("a") { $0.expectedResponse = Time.second })
    desk.now += 98 * Time.second
    try desk.run("a", .newData, after: 2 * Time.second)
    var record = try #require(desk.record("a"))
    record.endInterruptedRun(at: desk.now + 40 * Time.second)
    let turn = try #require(record.turn)
    #expect((turn.runs, turn.news) == (2, 1))
    #expect(turn.freshSince == desk.now + 10 * Time.second)
    #expect(turn.cost == 2 * Time.second)
  }

  @Test("F2 a failure leaves three quarters of any age")
  func failure() {
    let instants = TimeTests.edges + [0, 1, 2, 3, 4, 5]
    for since in instants {
      for now in instants {
        let age = max(0, Int128(now) - Int128(since))
        #expect(Int128(Freshness.freshSince(since, afterFailureAt: now)) == Int128(since) + age / 4)
      }
    }
  }
}
