// What a cycle did (C11).

import SeleneCore

/// The report of a cycle.
package struct Report {
  /// One run, in order of dispatch.
  package struct Entry {
    package let definition: TaskDefinition
    package let run: UInt64
    package let outcome: Outcome
    package let stopReason: StopReason
    package let attempt: UInt32
    package let score: Double
    package let estimate: Span
    package let startedAt: Instant
    package let responseTime: Span
  }

  package let cycle: UInt64
  package let kinds: KindSet
  package let time: Budget
  package let endedAt: Instant
  package let eligible: Int
  package let didNotFit: Int
  package let tally: Tally
  /// Whether its outcomes are durable.
  package let isStored: Bool
  package let entries: [Entry]

  init(_ cycle: Cycle, didNotFit: Int, isStored: Bool, at now: Instant) {
    self.cycle = cycle.handle
    kinds = cycle.kinds
    time = cycle.time
    endedAt = min(now, cycle.time.deadline)
    eligible = cycle.eligibleCount
    self.didNotFit = didNotFit
    self.isStored = isStored
    var tally = Tally()
    entries = cycle.runs.map { run in
      let outcome = run.outcome ?? .expired
      tally.add(outcome)
      return Entry(
        definition: run.definition, run: run.token, outcome: outcome, stopReason: run.stopReason, attempt: run.attempt,
        score: run.score, estimate: run.estimate, startedAt: run.startedAt,
        responseTime: run.endedAt.subtracting(run.startedAt))
    }
    self.tally = tally
  }
}

/// What a window would pick (C15).
package struct Plan {
  package struct Entry {
    package let definition: TaskDefinition
    package let score: Double
    package let estimate: Span
    package let startsAt: Instant
  }

  package var eligible = 0
  package var entries: [Entry] = []
}
