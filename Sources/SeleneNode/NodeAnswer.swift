// What the database answered, or why it did not.

import SeleneCore

/// The answer to a call of the same name.
package enum NodeAnswer: Sendable {
  /// The number of the incarnation, and the database's time.
  case hello(worker: Int64, now: Instant)
  case beat(BeatAnswer)
  case classes([FleetClass])
  case turn(TurnAnswer)
  case fate([RunFate])
  case bye
}

/// What a beat tells.
package struct BeatAnswer: Sendable {
  /// Until when the lease holds, by the database's clock; nil: the incarnation is over.
  package var expires: Instant?
  /// By how much the database's clock differs from the own one since the last beat, where that is too much (N12).
  package var difference: Span?
  /// How many runs were taken back from the dead (N11).
  package var tookBack: Int64 = 0
  /// The node is to leave (N37).
  package var isDraining = false
  package var lost: [LostRun] = []

  package init() {}
}

/// What a turn tells.
package struct TurnAnswer: Sendable {
  package var decided: [DecidedRun] = []
  package var claimed: [NodeRun] = []
  package var lost: [LostRun] = []
  /// Of what was given back, the runs that were not: somebody else's transaction is at their records.
  package var kept: [Int64] = []
  /// When the next task that waits is due, by the database's clock.
  package var nextDue: Instant?
  /// How long the database was at the claim, where that was long.
  package var took: Span = 0

  package init() {}
}

/// A run that its incarnation has no longer.
package struct LostRun: Sendable {
  package let run: Int64
  /// Why, as the header numbers it (N25).
  package let reason: StopReason

  package init(run: Int64, reason: StopReason) { (self.run, self.reason) = (run, reason) }
}

/// Whether a decision counted; one that did not is stale, and changed nothing (N9).
package struct DecidedRun: Sendable {
  package let run: Int64
  package let counts: Bool

  package init(run: Int64, counts: Bool) { (self.run, self.counts) = (run, counts) }
}

/// What became of a decision that was not answered (N14).
package struct RunFate: Sendable {
  package enum Fate: Int32, Sendable {
    /// It was not made: the run is still this node's.
    case open = 0
    case decided = 1
    /// The run is not this node's any more.
    case lost = 2
  }

  package let run: Int64
  package let fate: Fate

  package init(run: Int64, fate: Fate) { (self.run, self.fate) = (run, fate) }
}

/// Tasks that the same nodes can run (N4).
package struct FleetClass: Sendable {
  package let number: Int32
  package let kind: Kind
  package let constraints: Constraints
  package let labels: [Bytes]
  package let handler: Bytes

  package init(_ number: Int32, _ kind: Kind, _ constraints: Constraints, labels: [Bytes], handler: Bytes) {
    (self.number, self.kind, self.constraints) = (number, kind, constraints)
    (self.labels, self.handler) = (labels, handler)
  }
}

/// Why there is no answer.
package enum NodeFailure: Equatable, Sendable {
  /// There was no connection to make the call on.
  case notSent
  /// The connection was lost, or time passed: it may be made, or be made later.
  case maybeSent
  /// The database refused it; nothing has changed.
  case refused(SQLState)
}
