// When the next period begins: after completion, and on the grid of an anchor however far it lies back (C9).

import SeleneCore
import Testing

@Suite("Schedule") struct ScheduleTests {
  /// The earliest begin of a periodic task that succeeds at an instant.
  private func next(
    _ recurrence: Recurrence, anchor: Instant, period: Span, completedAt now: Instant
  ) throws -> Instant {
    let recipe = Recipe("a", .periodic) { ($0.period, $0.recurrence) = (period, Int32(recurrence.rawValue)) }
    var record = TaskRecord(try recipe.define(), sequence: 1, state: .enqueued, at: anchor)
    record.dispatch(as: 1, at: record.lastRun)
    var generator = Generator(seed: 1)
    record.complete(.newData, at: now, responseTime: 0, retryDelay: nil, bounds: BackoffBounds(), using: &generator)
    return record.earliestBegin
  }

  /// The first instant after now of (anchor + k·period), k ≥ 0, counted in 128 bits.
  private func grid(anchor: Instant, period: Span, after now: Instant) -> Instant {
    let (anchor, period, now) = (Int128(anchor), Int128(period), Int128(now))
    let next = now < anchor ? anchor : anchor + ((now - anchor) / period + 1) * period
    return Int64(clamping: next)
  }

  @Test("C9 after completion the next period is now + period", arguments: [0, 1, 59, 60, 61, 10_000] as [Instant])
  func afterCompletion(late: Span) throws {
    #expect(try next(.afterCompletion, anchor: 500, period: 60, completedAt: 500 + late) == 560 + late)
  }

  @Test(
    "C9 anchored, the next period is the first instant after now on the grid",
    arguments: [(0, 60), (1, 60), (59, 60), (60, 120), (61, 120), (119, 120), (120, 180), (60_000_000_001, 60_000_000_060)])
  func anchored(late: Span, expected: Span) throws {
    #expect(try next(.anchored, anchor: 500, period: 60, completedAt: 500 + late) == 500 + expected)
  }

  @Test("C9 anchored, a run before the anchor waits for the anchor")
  func beforeTheAnchor() throws {
    #expect(try next(.anchored, anchor: 500, period: 60, completedAt: 499) == 500)
    #expect(try next(.anchored, anchor: 500, period: 60, completedAt: 0) == 500)
  }

  @Test("C9 P6 anchored periods are exact at the ends of time")
  func extremes() throws {
    let edges: [Instant] = [.min, .min + 1, .min / 2, -1, 0, 1, .max / 2, .max - 1, .max]
    for anchor in edges {
      for now in edges {
        for period in [1, 2, 7, 1_000_000_007, Time.hour, Time.tenYears - 1, Time.tenYears] {
          let expected = grid(anchor: anchor, period: period, after: now)
          let got = try next(.anchored, anchor: anchor, period: period, completedAt: now)
          try verify(got == expected, "anchor \(anchor), period \(period), now \(now): \(expected), got \(got)")
        }
      }
    }
  }

  @Test("C9 random anchored periods are the first instant after now on the grid")
  func randomGrid() throws {
    var chance = Chance("C9 grid")
    for _ in 0..<5_000 {
      let anchor = chance.anySpan(upTo: .max / 2) * (chance.once(in: 2) ? 1 : -1)
      let period = max(1, chance.anySpan(upTo: Time.tenYears))
      let now = anchor.adding(chance.anySpan(upTo: .max / 2))
      let expected = grid(anchor: anchor, period: period, after: now)
      let got = try next(.anchored, anchor: anchor, period: period, completedAt: now)
      try verify(got == expected, "anchor \(anchor), period \(period), now \(now): \(expected), got \(got)")
    }
  }

  @Test("T3 the anchor is the first earliest begin, with delay and flex")
  func anchorOfDelayAndFlex() throws {
    let desk = Desk(now: 1_000)
    try desk.register(
      Recipe("a", .periodic) { ($0.initialDelay, $0.period, $0.flex, $0.recurrence) = (7, 100, 30, 1) })
    #expect(desk.record("a")?.earliestBegin == 1_077)
    desk.now = 1_080
    try desk.run("a", .newData, after: 3)
    #expect(desk.record("a")?.earliestBegin == 1_177)
    desk.now = 1_500
    try desk.run("a", .newData, after: 0)
    #expect(desk.record("a")?.earliestBegin == 1_577)
  }

  @Test("C9 flex shapes the first period only")
  func flexOfLaterPeriods() throws {
    let desk = Desk(now: 1_000)
    try desk.register(Recipe("a", .periodic) { ($0.period, $0.flex) = (100, 30) })
    #expect(desk.record("a")?.earliestBegin == 1_070)
    desk.now = 1_075
    try desk.run("a", .newData, after: 5)
    #expect(desk.record("a")?.earliestBegin == 1_180)
  }
}
