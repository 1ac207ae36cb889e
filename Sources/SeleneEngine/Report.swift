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

  /// One that an owner made, as the border has it, or nil.
  package let given: UnsafeMutableRawPointer?
  /// Its owner has gone, and nobody can say more.
  package let isLost: Bool

  deinit { given?.deallocate() }

  /// The report of a cycle of an owner; nil: the owner has gone.
  init(_ cycle: Cycle, of block: UnsafeMutableRawPointer?, at now: Instant) {
    (self.cycle, kinds, endedAt, eligible) = (cycle.handle, cycle.kinds, now, 0)
    time = Budget(begin: cycle.time.begin, budget: cycle.deadline.subtracting(cycle.time.begin), reserve: 0)
    (didNotFit, isStored, runs, paces, tally) = (0, block != nil, [], [], Tally())
    budget = cycle.budget
    (given, isLost) = (block, block == nil)
  }

  @_optimize(speed)
  init(_ cycle: Cycle, didNotFit: Int, isStored: Bool, at now: Instant) {
    self.cycle = cycle.handle
    kinds = cycle.kinds
    time = cycle.time
    endedAt = min(now, cycle.time.deadline)
    eligible = cycle.eligible
    self.didNotFit = didNotFit
    self.isStored = isStored
    (given, isLost) = (nil, false)
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
