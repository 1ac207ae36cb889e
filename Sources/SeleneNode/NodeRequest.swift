// The calls that a node asks its driver to make: functions of the fleet's schema, each a commit of its own.

import SeleneCore

/// One call; the next one is given when this was answered, failed, or was not answered in time.
package struct NodeRequest: Sendable {
  package let number: UInt64
  package let call: NodeCall
  /// After so long the driver gives the call up, with the connection it was made on.
  package let timeout: Span
}

/// Which function, and its values.
package enum NodeCall: Sendable {
  /// A new incarnation, on a connection whose server is asked for its timeline there (N34).
  case hello
  case beat(NodeBeat)
  case classes
  case turn(NodeTurn)
  /// What became of decisions that were not answered (N14).
  case fate([OpenDecision])
  /// An incarnation ends: what the database still has for it is put back (N14).
  case bye(worker: Int64)
}

/// A lease begins anew (N10).
package final class NodeBeat: Sendable {
  package let worker: Int64
  /// What the own clock ran since the last beat was sent; nil for an incarnation that judges nobody (N12).
  package let elapsed: Span?
  /// The runs that this incarnation has: it is told which it has lost (N25).
  package let held: [Int64]
  /// What else the database has for it is as before the run: it takes nothing more (N14).
  package let holdsAll: Bool
  /// Classes that the node serves now.
  package let serves: [Int32]
  /// What runs took since the last beat (N23).
  package let times: [ClassTime]

  init(worker: Int64, elapsed: Span?, held: [Int64], holdsAll: Bool, serves: [Int32], times: [ClassTime]) {
    (self.worker, self.elapsed) = (worker, elapsed)
    (self.held, self.holdsAll, self.serves, self.times) = (held, holdsAll, serves, times)
  }
}

/// What ended, what is given back, and what comes next, in one commit (N8).
package final class NodeTurn: Sendable {
  package let worker: Int64
  /// In order of task.
  package let decisions: [OpenDecision]
  package let back: [RunKey]
  package let held: [Int64]
  package let claim: NodeClaim?
  /// Runs that have begun, of which the database does not know it; nil: it is of an earlier release, and cannot be told (N58).
  package let started: [Int64]?
  /// So many of those that it claims begin at once; the others are claimed ahead (N58).
  package let lanes: Int

  init(
    worker: Int64, decisions: [OpenDecision], back: [RunKey], held: [Int64], claim: NodeClaim?, started: [Int64]?,
    lanes: Int
  ) {
    (self.worker, self.decisions, self.back) = (worker, decisions, back)
    (self.held, self.claim, self.started, self.lanes) = (held, claim, started, lanes)
  }
}

/// What a claim may take (N22).
package struct NodeClaim: Equatable, Sendable {
  /// Looked at from the beginning of each line.
  package internal(set) var classes: [Int32]
  /// Looked at in place of all lines of the classes, from where the last claims ended (N7).
  package internal(set) var lines: [LineMark] = []
  /// Whether it looks at all lines from their beginnings, maybe but those of suspects.
  var isOfAllLines: Bool { lines.allSatisfy { $0.since == .min } }
  /// What was due before then need not be looked for, by the database's clock.
  package internal(set) var dueSince: Instant = 0
  package let most: Int
  /// Nothing that is expected to take longer.
  package let room: Span
  /// All together no more than that, but the first.
  package let total: Span
  /// Only the best, whatever it takes: the first of a window (C3).
  package let isFirst: Bool
}
