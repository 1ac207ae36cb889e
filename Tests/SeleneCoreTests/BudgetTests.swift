// What fits into a window, and when things in it expire (C1, C3, C7).

import SeleneCore
import Testing

@Suite("Budget") struct BudgetTests {
  private let budget = Budget(begin: 1_000, budget: 100, reserve: 10)

  /// The room as a number: nil for any, −1 for none.
  private func room(_ budget: Budget, at now: Instant, isFirst: Bool = false, strictFit: Bool = false) -> Span? {
    guard let room = budget.room(at: now, isFirst: isFirst, strictFit: strictFit) else { return -1 }
    return room.span
  }

  @Test("C1 the deadline is begin + budget, the expiry lies the reserve before it")
  func instants() {
    #expect(budget.deadline == 1_100)
    #expect(budget.expiresAt == 1_090)
    let far = Budget(begin: .max - 5, budget: 100, reserve: 0)
    #expect(far.deadline == .max)
  }

  @Test(
    "C1 the default reserve is a twentieth of the budget", arguments: [(30, 1), (19, 0), (20, 1), (1, 0), (100, 5)])
  func defaultReserve(budget: Span, reserve: Span) { #expect(Budget.reserve(of: budget) == reserve) }

  @Test(
    "C1 nothing is picked that exceeds what is left before the reserve",
    arguments: [(1_000, 90), (1_001, 89), (1_089, 1), (1_090, 0), (1_091, -1), (1_099, -1), (1_100, -1), (2_000, -1)])
  func room(now: Instant, expected: Span) { #expect(room(budget, at: now) == expected) }

  @Test(
    "C3 the first dispatch takes any while now < deadline - reserve",
    arguments: [(1_000, nil), (1_089, nil), (1_090, 0), (1_091, -1), (1_100, -1)] as [(Instant, Span?)])
  func first(now: Instant, expected: Span?) { #expect(room(budget, at: now, isFirst: true) == expected) }

  @Test("C3 strict fit obeys the room also first")
  func strict() {
    #expect(room(budget, at: 1_000, isFirst: true, strictFit: true) == 90)
    #expect(room(budget, at: 1_089, isFirst: true, strictFit: true) == 1)
  }

  @Test("C1 nothing is picked at the deadline, even without a reserve")
  func noReserve() {
    let budget = Budget(begin: 0, budget: 100, reserve: 0)
    #expect(room(budget, at: 99) == 1)
    #expect(room(budget, at: 100) == -1)
    #expect(room(budget, at: 100, isFirst: true) == -1)
  }

  @Test("C1 a reserve as large as the budget leaves no room but for what takes no time")
  func allReserve() {
    let budget = Budget(begin: 0, budget: 100, reserve: 100)
    #expect(room(budget, at: 0) == 0)
    #expect(room(budget, at: 0, isFirst: true) == 0)
    #expect(room(budget, at: 1) == -1)
  }

  @Test("C7 the next expiry is deadline - reserve, then what follows the deadline")
  func nextExpiry() {
    #expect(budget.nextExpiry(after: 1_000) == 1_090)
    #expect(budget.nextExpiry(after: 1_089) == 1_090)
    #expect(budget.nextExpiry(after: 1_090) == 1_101)
    #expect(budget.nextExpiry(after: 1_100) == 1_101)
    #expect(Budget(begin: .max - 1, budget: 1, reserve: 0).nextExpiry(after: .max) == .max)
  }

  @Test("C1 P6 no window traps at the ends of time")
  func extremes() {
    for begin in TimeTests.edges {
      for length in [1, Time.second, Time.longestRun] {
        let budget = Budget(begin: begin, budget: length, reserve: length / 20)
        for now in TimeTests.edges where now >= begin {
          if let room = room(budget, at: now, isFirst: true), room >= 0 { #expect(room <= length) }
        }
      }
    }
  }
}
