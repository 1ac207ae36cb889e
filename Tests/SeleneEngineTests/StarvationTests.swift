// Nothing starves: with windows that keep coming, every eligible task runs within a bound (C3).

import Foundation
import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Starvation") struct StarvationTests {
  /// How many windows a task that stays eligible waits at most among n tasks, if windows begin at least `least` and at
  /// most `greatest` apart (S2, not strict fit).
  ///
  /// Let u be the age of the task X at a window's begin, counted from its last run; X is eligible in every window, so
  /// each window makes a first dispatch, whatever it costs (C3), and until X runs that is of another task Y that
  /// outranks it: priority(Y)·age(Y) ≥ priority(X)·u, thus age(Y) ≥ u/5. If Y was first in an earlier window at age
  /// u' of X, its own age is at most u − u' now. So u − u' ≥ u/5, or u ≥ 1.25·u': from one first dispatch of Y to
  /// the next, X's age grows by a quarter at least. From the second window on u ≥ least, and in the K-th
  /// u ≤ K·greatest; so Y is first at most 1 + log₁.₂₅(K·greatest/least) times from the second window on, and X waits
  /// K windows only while K − 1 ≤ (n − 1)·(1 + log₁.₂₅(K·greatest/least)).
  static func bound(_ n: Int, least: Span, greatest: Span) -> Int {
    var windows = 1
    while Double(windows - 1) <= Double(n - 1) * (1 + log(Double(windows) * Double(greatest) / Double(least)) / log(1.25)) {
      windows += 1
    }
    return windows
  }

  @Test("C3 the bound holds for no other tasks and grows with their number")
  func boundOfFew() {
    #expect(Self.bound(1, least: 1, greatest: 1) == 2)
    #expect(Self.bound(10, least: 1, greatest: 1) < Self.bound(20, least: 1, greatest: 1))
  }

  /// Where windows come from and what the tasks are.
  enum World: String, CaseIterable, Sendable {
    /// Every task is longer than the window, so each window runs one.
    case everythingTooLong
    /// Estimates and durations of all sizes, outcomes of all sorts.
    case mixed
    /// One task of the lowest priority among many of the highest.
    case underdog
  }

  @Test("C3 every eligible task runs within the stated number of windows", arguments: World.allCases)
  func bounded(world: World) throws {
    var chance = Chance("C3 \(world.rawValue)")
    for round in 0..<2 {
      try play(world, round, &chance)
    }
  }

  private func play(_ world: World, _ round: Int, _ chance: inout Chance) throws {
    let host = try Host()
    let n = 3 + chance.below(8)
    let budget = 10 * Time.second
    let (least, greatest) = (Time.minute, chance.pick([Time.minute, 2 * Time.minute]))
    for index in 0..<n {
      try host.addHandler("t\(index)")
      let priority = world == .underdog ? (index == 0 ? 1 : 5) : 1 + chance.below(5)
      try host.register(
        Recipe("t\(index)", priority: Int32(priority)) {
          $0.expectedResponse = world == .mixed ? chance.pick([0, 1, 4, 9, 11, 3_600]) * Time.second : Time.hour
        })
    }
    let bound = Self.bound(n, least: least, greatest: greatest)
    var waited = [Int](repeating: 0, count: n)
    for window in 0..<(2 * bound + 50) {
      host.now += chance.span(least...greatest)
      let begin = host.now
      for index in waited.indices { waited[index] += 1 }
      let cycle = try host.begin(budget)
      var runs: [UInt64] = []
      while case .run(let run) = try host.next(cycle) {
        runs.append(run.token)
        waited[Int(run.definition.id.text.dropFirst()) ?? 0] = 0
        host.now += world == .mixed ? chance.span(0...2 * min(run.estimate, budget)) : Time.hour
        if host.now > begin + budget { host.now = begin + budget + 1 }
        // The windows begin so far apart that the run is back before the next one.
        _ = refusal { try host.complete(run.token, chance.pick([.newData, .noData, .failed, .abandoned])) }
      }
      _ = try host.end(cycle)
      host.now = begin
      for (index, windows) in waited.enumerated() {
        try verify(windows <= bound, "\(world) \(round): t\(index) of \(n) waits since \(windows) windows at window \(window)")
      }
    }
  }

  @Test("C3 a task longer than every window runs first when its turn comes, and expires")
  func tooLong() throws {
    let host = try Host()
    for (id, seconds) in [("long", 3_600), ("short", 1)] as [(String, Int64)] {
      try host.addHandler(id)
      try host.register(Recipe(id) { $0.expectedResponse = seconds * Time.second })
    }
    host.now += Time.minute
    let cycle = try host.begin(10 * Time.second)
    #expect(try host.nextRun(cycle).definition.id.text == "long")
  }

  @Test("C3 with strict fit a task longer than every window never runs; that is what strict means")
  func strict() throws {
    let host = try Host()
    for (id, seconds) in [("long", 3_600), ("short", 1)] as [(String, Int64)] {
      try host.addHandler(id)
      try host.register(Recipe(id) { $0.expectedResponse = seconds * Time.second })
    }
    for _ in 0..<20 {
      host.now += Time.minute
      let cycle = try host.begin(10 * Time.second) { $0.strictFit = true }
      while case .run(let run) = try host.next(cycle) {
        #expect(run.definition.id.text == "short")
        try host.complete(run.token, .newData)
      }
      _ = try host.end(cycle)
    }
    #expect(try host.reasons("long") == [.didNotFit])
  }
}
