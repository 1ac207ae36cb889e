// The result of a cycle (C11).

import SeleneCore
import Testing

@Suite("Tally") struct TallyTests {
  private func tally(_ outcomes: [Outcome]) -> Tally {
    outcomes.reduce(into: Tally()) { $0.add($1) }
  }

  @Test(
    "C11 new data beats failed, failed beats no data, stopped does not count",
    arguments: [
      ([], .noData), ([.noData], .noData), ([.newData], .newData), ([.failed], .failed), ([.abandoned], .failed),
      ([.expired], .failed), ([.stopped], .noData), ([.stopped, .noData], .noData), ([.stopped, .expired], .failed),
      ([.noData, .failed], .failed), ([.failed, .newData], .newData), ([.newData, .expired, .abandoned], .newData),
    ] as [([Outcome], Outcome)])
  func result(outcomes: [Outcome], expected: Outcome) { #expect(tally(outcomes).result == expected) }

  @Test("C11 the counts are those of the outcomes")
  func counts() {
    let tally = tally([.failed, .newData, .stopped, .newData, .expired, .abandoned, .noData, .newData, .stopped])
    #expect(tally.newData == 3)
    #expect(tally.noData == 1)
    #expect(tally.failed == 1)
    #expect(tally.abandoned == 1)
    #expect(tally.expired == 1)
    #expect(tally.stopped == 2)
  }

  @Test("C6 a host gives new data, no data, failed or abandoned, nothing else")
  func given() {
    #expect([Outcome.newData, .noData, .failed, .abandoned].allSatisfy { $0.isGiven })
    #expect(!Outcome.expired.isGiven)
    #expect(!Outcome.stopped.isGiven)
    #expect([Outcome.newData, .noData, .failed, .abandoned].map(\.rawValue) == [0, 1, 2, 3])
  }
}
