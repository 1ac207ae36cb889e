// A world played through the real scheduler under one rule, and how fresh its host was kept.

import SeleneCore
import Testing

@testable import SeleneEngine

/// A rule of order that worlds compare.
enum Rule: String, CaseIterable, Sendable {
  case selene, observed, freshness
}

/// How fresh a host was kept; sums of priority × time where nothing else is said.
struct Freshest {
  var weight = 0.0
  var age = 0.0
  var outdated = 0.0
  /// Of the time since the first change that was not fetched.
  var lateness = 0.0
  /// Of any source, in ns.
  var oldest = 0.0
  var windows = 0.0
  var windowsCut = 0.0
  var runs = 0.0
  /// ns of lanes.
  var budget = 0.0
  var used = 0.0
  /// What must never be: a run that begins in a reserve or is decided after its deadline, a window that ends late.
  var late = 0

  static func + (left: Self, right: Self) -> Self {
    Self(
      weight: left.weight + right.weight, age: left.age + right.age, outdated: left.outdated + right.outdated,
      lateness: left.lateness + right.lateness, oldest: left.oldest + right.oldest,
      windows: left.windows + right.windows, windowsCut: left.windowsCut + right.windowsCut,
      runs: left.runs + right.runs, budget: left.budget + right.budget, used: left.used + right.used,
      late: left.late + right.late)
  }

  /// A source was held as of one instant from a second one to a third.
  mutating func held(_ source: Source, asOf fetched: Instant, from: Instant, to: Instant) {
    let priority = Double(source.priority)
    let (first, last) = (Double(from - fetched), Double(to - fetched))
    weight += priority * (last - first)
    age += priority * (last * last - first * first) / 2
    oldest = max(oldest, last)
    guard let change = source.firstChange(after: fetched), change < to else { return }
    let (since, until) = (Double(max(change, from) - change), Double(to - change))
    outdated += priority * (until - since)
    lateness += priority * (until * until - since * since) / 2
  }
}

extension Source {
  /// The first change after an instant, by halving.
  func firstChange(after instant: Instant) -> Instant? {
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle] > instant { high = middle } else { low = middle + 1 }
    }
    return low < changes.count ? changes[low] : nil
  }
}

extension World {
  private struct Flight {
    let run: Run
    let source: Int
    let ends: Instant
    let outcome: Outcome
  }

  /// Plays all windows under a rule.
  func play(_ rule: Rule) throws -> Freshest {
    let host = try Host(at: Self.begin) {
      $0.observedRange = rule == .observed
      $0.freshness = rule == .freshness
    }
    try host.addHandler("fetch")
    for (index, source) in sources.enumerated() {
      try host.register(
        Recipe("\(index)", priority: source.priority) {
          $0.handler = "fetch"
          $0.expectedResponse = source.declared
        })
    }
    var player = Player(host: host, world: self)
    for opening in openings { try player.play(opening) }
    return player.finished
  }

  private struct Player {
    let host: Host
    let world: World
    var sources: [Source]
    var result = Freshest()
    /// Of each source the version that is held, by when it was fetched, and since when it is held.
    var fetched: [Instant]
    var since: [Instant]

    init(host: Host, world: World) {
      (self.host, self.world, sources) = (host, world, world.sources)
      fetched = sources.map { _ in World.begin }
      since = fetched
    }

    /// The figures, with what is held at the end.
    var finished: Freshest {
      var result = result
      for (index, source) in sources.enumerated() {
        result.held(source, asOf: fetched[index], from: since[index], to: max(world.end, since[index]))
      }
      return result
    }

    mutating func play(_ opening: Opening) throws {
      host.now = opening.begin
      let deadline = opening.begin + opening.budget
      let cycle = try host.begin(opening.budget) { $0.lanes = world.shape.lanes }
      var flights: [Flight] = []
      steps: while true {
        switch try host.next(cycle) {
        case .run(let run): flights.append(start(run, in: opening))
        case .wait(let until):
          if host.now > deadline { result.late += 1 }
          let first = flights.indices.min { flights[$0].ends < flights[$1].ends }
          if let first, flights[first].ends <= min(until, deadline) {
            host.now = flights[first].ends
            try land(flights.remove(at: first))
          } else {
            host.now = until
          }
        case .done: break steps
        }
      }
      let report = try host.end(cycle)
      for flight in flights { _ = refusal { try host.complete(flight.run.token, .failed) } }
      count(report, opening)
    }

    private mutating func start(_ run: Run, in opening: Opening) -> Flight {
      let source = Int(run.definition.id.text) ?? 0
      let hasNews = sources[source].firstChange(after: fetched[source]).map { $0 <= host.now } ?? false
      let draw = world.draw(&sources[source], hasNews: hasNews, in: opening)
      return Flight(run: run, source: source, ends: host.now + draw.takes, outcome: draw.outcome)
    }

    private mutating func land(_ flight: Flight) throws {
      try host.complete(flight.run.token, flight.outcome)
      guard flight.outcome.isSuccess else { return }
      let source = flight.source
      result.held(sources[source], asOf: fetched[source], from: since[source], to: host.now)
      (fetched[source], since[source]) = (flight.run.startedAt, host.now)
    }

    private mutating func count(_ report: Report, _ opening: Opening) {
      let deadline = opening.begin + opening.budget
      let cut = report.runs.count { $0.finalOutcome == .expired || $0.finalOutcome == .stopped }
      result.windows += 1
      result.windowsCut += cut > 0 ? 1 : 0
      result.runs += Double(report.runs.count)
      result.budget += Double(opening.budget) * Double(world.shape.lanes)
      for run in report.runs {
        result.used += Double(run.responseTime)
        if run.startedAt >= report.time.expiresAt || run.endedAt > deadline { result.late += 1 }
      }
      // A host that goes by the clock of `next` is back at most an instant after the deadline.
      if report.endedAt > deadline || host.now > deadline + 1 { result.late += 1 }
    }
  }
}
