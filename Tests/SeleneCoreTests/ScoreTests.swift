// Scores: Selene's shipped form, the observed range, exact order (S2, S3, S4).

import SeleneCore
import Testing

@Suite("Score") struct ScoreTests {
  /// Tasks of (priority, elapsed).
  private func scale(_ tasks: [(UInt8, Age)], observedRange: Bool) -> ScoreScale {
    let ages = tasks.map(\.1)
    let priorities = tasks.map(\.0)
    guard let oldest = ages.max(), let youngest = ages.min(), let high = priorities.max(), let low = priorities.min()
    else {
      return ScoreScale(greatestElapsed: 0)
    }
    return observedRange
      ? ScoreScale(priorities: low...high, elapsed: youngest...oldest) : ScoreScale(greatestElapsed: oldest)
  }

  private func score(_ scale: ScoreScale, _ priority: UInt8, _ elapsed: Age) -> Double {
    scale.score(factor: scale.factor(priority), elapsed: elapsed)
  }

  private func numerator(_ scale: ScoreScale, _ priority: UInt8, _ elapsed: Age) -> UInt128 {
    scale.numerator(factor: scale.factor(priority), elapsed: elapsed)
  }

  @Test(
    "S2 the score is priority / 5 times elapsed / greatest elapsed",
    arguments: [(1, 100, 0.2), (3, 60, 0.36), (5, 10, 0.1), (5, 100, 1.0), (5, 0, 0.0), (1, 1, 0.002)])
  func shipped(priority: UInt8, elapsed: Age, expected: Double) {
    let scale = scale([(1, 100), (3, 60), (5, 10)], observedRange: false)
    #expect(abs(score(scale, priority, elapsed) - expected) < 1e-12)
  }

  @Test("S2 when nobody has aged every score is 0")
  func nobodyAged() {
    let scale = scale([(1, 0), (5, 0)], observedRange: false)
    #expect(score(scale, 5, 0) == 0)
    #expect(numerator(scale, 5, 0) == numerator(scale, 1, 0))
  }

  @Test(
    "S3 observed range: each factor is (x - least) / (greatest - least)",
    arguments: [(1, 100, 0.0), (3, 60, 0.5 * 50 / 90), (5, 10, 0.0), (5, 100, 1.0)])
  func observed(priority: UInt8, elapsed: Age, expected: Double) {
    let scale = scale([(1, 100), (3, 60), (5, 10)], observedRange: true)
    #expect(abs(score(scale, priority, elapsed) - expected) < 1e-12)
  }

  @Test("S3 a factor whose greatest is its least is 1")
  func observedEqual() {
    #expect(score(scale([(3, 7)], observedRange: true), 3, 7) == 1)
    #expect(score(scale([(3, 7), (3, 9)], observedRange: true), 3, 8) == 0.5)
    #expect(score(scale([(2, 7), (4, 7)], observedRange: true), 3, 7) == 0.5)
    #expect(score(scale([(3, 0)], observedRange: true), 3, 0) == 1)
  }

  @Test("S4 scores that differ by one part in 2^62 are told apart, equal ones are equal")
  func exact() {
    let scale = ScoreScale(greatestElapsed: .max)
    #expect(numerator(scale, 5, .max - 1) < numerator(scale, 5, .max))
    #expect(score(scale, 5, .max - 1) == score(scale, 5, .max))
    // 4 · 5n = 5 · 4n, however large.
    let n: Age = 1_844_674_407_370_955_161
    #expect(numerator(scale, 4, 5 * n) == numerator(scale, 5, 4 * n))
    #expect(numerator(scale, 4, 5 * n + 1) > numerator(scale, 5, 4 * n))
  }

  @Test("S4 random scores compare as exact fractions do", arguments: [false, true])
  func random(observedRange: Bool) throws {
    var chance = Chance("S4 \(observedRange)")
    for round in 0..<300 {
      let limit = chance.pick([3, 1_000, Time.day, Time.tenYears, Int64.max])
      let tasks = (0..<1 + chance.below(9)).map { _ in (UInt8(1 + chance.below(5)), Age(chance.anySpan(upTo: limit))) }
      let scale = scale(tasks, observedRange: observedRange)
      let entrants = tasks.map { Entrant(id: "", priority: Int($0.0), sequence: 0, lastRun: Int64.max - Int64($0.1)) }
      let scores = entrants.map { Oracle.score($0, among: entrants, observedRange: observedRange, at: .max) }
      for (a, x) in tasks.enumerated() {
        let own = numerator(scale, x.0, x.1)
        try verify(
          abs(score(scale, x.0, x.1) - scores[a].value) < 1e-9,
          "round \(round): score of \(x) in \(tasks)")
        for (b, y) in tasks.enumerated() {
          let other = numerator(scale, y.0, y.1)
          try verify((own < other) == (scores[a] < scores[b]), "round \(round): \(x) before \(y) in \(tasks)")
          try verify((own == other) == (scores[a] == scores[b]), "round \(round): \(x) equals \(y) in \(tasks)")
        }
      }
    }
  }

  @Test("C15 a task that is not among the eligible is scored as if it were", arguments: [false, true])
  func including(observedRange: Bool) throws {
    var chance = Chance("C15 \(observedRange)")
    for round in 0..<300 {
      let tasks = (0..<1 + chance.below(5)).map { _ in (UInt8(1 + chance.below(5)), Age(chance.anySpan(upTo: 1_000))) }
      let (priority, elapsed) = (UInt8(1 + chance.below(5)), Age(chance.anySpan(upTo: 2_000)))
      let got = score(
        scale(tasks, observedRange: observedRange).including(priority: priority, elapsed: elapsed), priority, elapsed)
      let expected = score(
        scale(tasks + [(priority, elapsed)], observedRange: observedRange), priority, elapsed)
      try verify(got == expected, "round \(round): (\(priority), \(elapsed)) with \(tasks)")
    }
  }
}
