// What a cycle did (C11).

import SeleneCore

/// The report of a cycle; an object, since it is handed on many times and copied never.
package final class Report {
  package let cycle: UInt64
  package let kinds: KindSet
  package let time: Budget
  package let endedAt: Instant
  package let eligible: Int
  package let didNotFit: Int
  package let tally: Tally
  /// Whether its outcomes are durable.
  package let isStored: Bool
  /// From begin to deadline; how long it picked, if its window was open-ended.
  package let budget: Span
  /// In order of dispatch, all decided; of an open-ended window the last 1,024.
  package let runs: [Run]
  /// Of each of them what its turn followed from; empty unless the freshness rule ranks.
  package let paces: [PaceTerms]

  @_optimize(speed)
  init(_ cycle: Cycle, didNotFit: Int, isStored: Bool, at now: Instant) {
    self.cycle = cycle.handle
    kinds = cycle.kinds
    time = cycle.time
    endedAt = min(now, cycle.time.deadline)
    eligible = cycle.eligible
    self.didNotFit = didNotFit
    self.isStored = isStored
    (runs, paces) = (cycle.runs, cycle.paces)
    budget = cycle.isOpenEnded ? cycle.budget : time.deadline.subtracting(time.begin)
    var tally = cycle.earlier
    for run in runs { tally.add(run.finalOutcome) }
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
