// The freshness rule against the other orders in made-up worlds of many families, played through the real scheduler (F).

import Foundation
import SeleneCore
import Testing

@testable import SeleneEngine

/// What the rules did in the worlds of one family, seed by seed.
struct Comparison: Sendable {
  let family: Family
  private(set) var played: [Rule: [Freshest]] = [:]

  /// Plays each world under each rule; where time is short, under observed range the first only or none: it is far behind.
  init(_ family: Family, seeds: ClosedRange<UInt64>) throws {
    self.family = family
    for seed in seeds {
      let world = World(family, seed: seed)
      for rule in Rule.allCases
      where rule != .observed || Effort.times > 1 || (Effort.times == 1 && seed == seeds.lowerBound) {
        played[rule, default: []].append(try world.play(rule))
      }
    }
  }

  func sum(_ rule: Rule) -> Freshest { played[rule, default: []].reduce(Freshest(), +) }

  /// A figure under a rule against Selene's: the geometric mean over the seeds, and two standard errors of it.
  func ratio(_ rule: Rule, _ figure: (Freshest) -> Double) -> (middle: Double, give: Double) {
    let found = zip(played[rule, default: []], played[.selene, default: []]).map { log(figure($0) / figure($1)) }
    let middle = mean(found)
    let variance = mean(found.map { ($0 - middle) * ($0 - middle) }) / Double(max(1, found.count - 1))
    return (exp(middle), exp(middle) * 2 * variance.squareRoot())
  }

  /// The same for people, with the errors where there are seeds enough to tell them.
  func shown(_ rule: Rule, _ figure: (Freshest) -> Double) -> String {
    let (middle, give) = ratio(rule, figure)
    return String(format: played[rule, default: []].count < 4 ? "%.2f" : "%.2f ± %.2f", middle, give)
  }

  /// The line of the table in docs/freshness.md.
  var line: String {
    let ratios = [\Freshest.lateness, \.outdated, \.age, \.oldest].map { figure in
      shown(.freshness) { $0[keyPath: figure] }
    }
    let shares = Self.shares(before: sum(.selene), after: sum(.freshness))
    return Self.line([family.rawValue] + ratios + shares + [shown(.observed, \.lateness)])
  }

  /// The last line of that table: families count alike.
  static func line(of all: [Self]) -> String {
    let ratios = [\Freshest.lateness, \.outdated, \.age, \.oldest].map { figure in
      overall(all, .freshness) { $0[keyPath: figure] }
    }
    func sum(_ rule: Rule) -> Freshest { all.map { $0.sum(rule) }.reduce(Freshest(), +) }
    let numbers = (ratios + [overall(all, .observed, \.lateness)]).map { String(format: "%.2f", $0) }
    return line(
      ["all of them"] + numbers.dropLast() + shares(before: sum(.selene), after: sum(.freshness)) + numbers.suffix(1))
  }

  /// A figure under a rule against Selene's over all families.
  static func overall(_ all: [Self], _ rule: Rule, _ figure: (Freshest) -> Double) -> Double {
    exp(mean(all.map { log($0.ratio(rule, figure).middle) }))
  }

  /// Windows with a cut run, and what was used of the budget, under Selene's rule and under freshness, in per cent.
  private static func shares(before: Freshest, after: Freshest) -> [String] {
    func share(_ part: (Freshest) -> Double, of whole: (Freshest) -> Double) -> String {
      String(format: "%.0f → %.0f", 100 * part(before) / whole(before), 100 * part(after) / whole(after))
    }
    return [share(\.windowsCut, of: \.windows), share(\.used, of: \.budget)]
  }

  private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}

private func mean(_ numbers: [Double]) -> Double { numbers.reduce(0, +) / Double(max(1, numbers.count)) }

@Suite("Worlds") struct WorldTests {
  /// Two worlds of each family; for the table in docs/freshness.md bindings/python/tools/rules.py has twelve played.
  private static let seeds = 1...UInt64(max(2, Effort.of(2)))

  @Test("F the figures of a source that is held are its ages and how late its news is") func figures() {
    let source = Source(priority: 3, declared: 0, changes: [10, 30, 70], middle: 1, chance: Chance("", seed: 1))
    var found = Freshest()
    // Held as of 0 until 20: since 10 outdated; as of 15 until 40: since 30; as of 30, a change at 30 is seen, until 50.
    found.held(source, asOf: 0, from: 0, to: 20)
    found.held(source, asOf: 15, from: 20, to: 40)
    found.held(source, asOf: 30, from: 40, to: 50)
    #expect(found.weight == 150)
    // Three times (0 to 20) + (5 to 25) + (10 to 20): twenty long and 10 in the mean, twenty and 15, ten and 15.
    #expect(found.age == 1950)
    #expect(found.outdated == 60)
    #expect(found.lateness == 300)
    #expect(found.oldest == 25)
  }

  @Test("F a world is the same each time that it is made and played, and another seed makes another")
  func repeats() throws {
    func play(_ seed: UInt64) throws -> [Double] {
      let found = try World(.equal, seed: seed).play(.freshness)
      return [found.age, found.lateness, found.oldest, found.runs, found.used, found.windowsCut]
    }
    #expect(try play(1) == play(1))
    #expect(try play(1) != play(2))
  }

  @Test(
    "F12 in worlds of all families news is less late under the freshness rule, in none later, and no window is late")
  func families() async throws {
    let seeds = Self.seeds
    let found = try await withThrowingTaskGroup(of: Comparison.self) { group in
      for family in Family.allCases { group.addTask { try Comparison(family, seeds: seeds) } }
      return try await group.reduce(into: [Family: Comparison]()) { $0[$1.family] = $1 }
    }
    let all = Family.allCases.compactMap { found[$0] }
    #expect(all.count == Family.allCases.count)
    if Effort.times >= 1 { print((all.map(\.line) + [Comparison.line(of: all)]).joined(separator: "\n")) }
    for comparison in all {
      let family = comparison.family.rawValue
      for (rule, played) in comparison.played {
        #expect(played.allSatisfy { $0.late == 0 }, "\(family): a window is late under \(rule)")
        #expect(played.allSatisfy { $0.runs > $0.windows / 2 && $0.outdated > 0 }, "\(family): little happens")
      }
      // Two worlds of a family scatter by about a tenth around the mean of many, which is at most 1.00 and 1.06.
      #expect(comparison.ratio(.freshness, \.lateness).middle < 1.15, "\(family): news is later")
      #expect(comparison.ratio(.freshness, \.outdated).middle < 1.15, "\(family): more of the time is outdated")
      let (before, after) = (comparison.sum(.selene), comparison.sum(.freshness))
      #expect(after.windowsCut < before.windowsCut + before.windows / 50, "\(family): more windows have a cut run")
    }
    func overall(_ figure: (Freshest) -> Double) -> Double { Comparison.overall(all, .freshness, figure) }
    #expect(overall(\.lateness) < 0.88)
    #expect(overall(\.outdated) < 0.97)
    #expect(overall(\.age) < 1.03)
    #expect(overall(\.oldest) < 0.95)
    #expect(all.count { $0.ratio(.freshness, \.lateness).middle < 0.9 } >= 10, "better in most families")
  }
}
