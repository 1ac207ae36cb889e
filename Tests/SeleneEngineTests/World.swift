// A world in which a rule of order is tried: sources that change, runs that take time, windows that come and go.

import Foundation
import SeleneCore

/// One source that a task fetches, and all that will happen to it, whatever the rule.
struct Source {
  let priority: Int32
  /// What the task says of itself.
  let declared: Span
  /// When the source changes, in order.
  let changes: [Instant]
  /// What a run takes at the middle.
  let middle: Double
  /// Its runs, each drawn as it comes.
  var chance: Chance
}

/// When a window opens and how long it is.
struct Opening {
  let begin: Instant
  let budget: Span
  /// What happens to the length of all runs in it: slow networks, drift.
  let factor: Double
}

/// What a made-up run does.
struct Draw {
  let takes: Span
  let outcome: Outcome
}

/// A world: made from a family and a seed, the same each time.
struct World {
  let shape: Shape
  static let begin: Instant = 1_000 * Time.second
  let openings: [Opening]
  let sources: [Source]

  let end: Instant

  init(_ family: Family, seed: UInt64) {
    let shape = family.shape
    let end = Self.begin + shape.every * Int64(shape.windows)
    (self.shape, self.end) = (shape, end)
    var chance = Chance(family.rawValue, seed: seed)
    openings = Self.openings(shape, &chance)
    let mean = shape.load * 30e9 / Double(shape.tasks)
    sources = (0..<shape.tasks).map { index in
      let spread = exp(chance.normal() * shape.spread - shape.spread * shape.spread / 2)
      let middle = index < shape.hogs ? 120e9 : min(mean * spread, 25e9)
      let gap = exp(chance.between(log(shape.gaps.lowerBound), log(shape.gaps.upperBound))) * 60e9
      let isDead = index >= shape.tasks - shape.dead
      return Source(
        priority: Int32(chance.pick([1, 2, 3, 3, 3, 4, 5])),
        declared: shape.declared.span(ofMiddle: middle, &chance),
        changes: isDead ? [] : Self.changes(apart: gap, inBursts: shape.changesInBursts, until: end, &chance),
        middle: middle,
        chance: Chance("\(family.rawValue) \(index)", seed: seed))
    }
  }

  /// The next run of a source, begun while something new is there or not.
  ///
  /// Draws as many numbers each time, so that what a rule does to one run leaves the others alone.
  func draw(_ source: inout Source, hasNews: Bool, in opening: Opening) -> Draw {
    let (length, luck, word) = (source.chance.length(shape.tail), source.chance.part(), source.chance.part())
    let quiet = hasNews ? 1 : shape.whenQuiet
    let takes = Int64(max(1e6, min(source.middle * length * opening.factor * quiet, 3_600e9)))
    let isDead = source.changes.isEmpty && shape.dead > 0
    if isDead || luck < shape.failures { return Draw(takes: takes, outcome: .failed) }
    return Draw(takes: takes, outcome: hasNews != (word < shape.misreports) ? .newData : .noData)
  }

  private static func openings(_ shape: Shape, _ chance: inout Chance) -> [Opening] {
    var drift = 0.0
    return (0..<shape.windows).map { index in
      // The level wanders, and now and then it jumps.
      drift += shape.drift * (chance.normal() * 0.2 + (chance.once(in: 60) ? chance.normal() * 2 : 0) - drift * 0.02)
      let at: Int64
      switch shape.rhythm {
      case .even: at = Int64(index) * shape.every
      case .bursts: at = Int64(index / 20 * 20) * shape.every + Int64(index % 20) * 2 * Time.minute
      case .days:
        // Three quarters of a day's windows come in its second third.
        let place = Double(index % 96) / 96
        let hour = place < 0.125 ? place * 64 : place < 0.875 ? 8 + (place - 0.125) * 32 / 3 : 16 + (place - 0.875) * 64
        at = Int64(index / 96) * Time.day + Int64(hour * 3600e9)
      }
      return Opening(
        begin: begin + at + Time.minute, budget: shape.budgets.isEmpty ? 30 * Time.second : chance.pick(shape.budgets),
        factor: exp(drift))
    }
  }

  /// Changes as far apart as that in the mean, all independent, or ten in quick succession and then none for long.
  private static func changes(
    apart gap: Double, inBursts: Bool, until end: Instant, _ chance: inout Chance
  ) -> [Instant] {
    var result: [Instant] = []
    var at = Double(begin)
    while true {
      let isWithin = inBursts && result.count % 10 != 0
      at += chance.waiting() * (inBursts ? gap * (isWithin ? 0.1 : 9.1) : gap)
      if at >= Double(end) { return result }
      result.append(Int64(at))
    }
  }
}

extension Chance {
  /// From 0 up to 1.
  mutating func part() -> Double { Double(next() >> 11) * 0x1p-53 }

  mutating func between(_ least: Double, _ most: Double) -> Double { least + (most - least) * part() }

  /// The time to an event that comes once a unit.
  mutating func waiting() -> Double { -log(1 - part()) }

  /// Of mean 0 and deviation 1.
  mutating func normal() -> Double { (2 * waiting()).squareRoot() * cos(2 * .pi * part()) }

  /// A run's length against its middle, from two numbers.
  mutating func length(_ tail: Shape.Tail) -> Double {
    switch tail {
    case .logNormal(let deviation): return exp(normal() * deviation)
    case .pareto(let exponent):
      let place = part()
      _ = part()
      return 0.65 * pow(1 - place, -1 / exponent)
    }
  }
}
