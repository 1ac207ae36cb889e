// What a governor answers (G3): granted or refused, and each factor's part in it.

import SeleneCore

/// What became of a factor; the raw values are the header's numbers.
package enum Verdict: UInt8, Sendable {
  /// A veto that is not raised.
  case passed = 1
  /// A veto that refuses.
  case vetoed = 2
  /// A weight; its score counts.
  case weighed = 3
}

/// Where an observation comes from; the raw values are the header's numbers, the first four those of `SignalSource`.
package enum Origin: UInt8, Sendable {
  case unknown = 0
  case probe = 1
  case host = 2
  case trace = 3
  /// The governor's own books: ledger and prediction.
  case books = 4
}

/// One factor of a decision.
package struct Finding: Equatable, Sendable {
  package let factor: Factor
  package let verdict: Verdict
  package let origin: Origin
  package let observed: Int64
  package let required: Int64
  /// For weights, per mille.
  package let score: Int64
  package let weight: Int64
  /// For what is not met, or not fully: the earliest instant at which it can be better. `Time.never`: when a signal changes.
  package let clearsAt: Instant
  /// Whether, as a new veto, it stops runs in flight (G6).
  package let preempts: Bool
}

/// A grant or a refusal, with its reasons.
package struct Decision: Sendable {
  package let kind: Kind
  package let at: Instant
  package var isGranted = true
  /// Weighted, per mille; 1000 without weights.
  package var score: Int64 = 1000
  package var threshold: Int64 = 0
  /// Every factor that the profile does not ignore, in order of their numbers.
  package var findings: [Finding] = []
  /// The longest window that the budgets leave room for; `Time.never`: any.
  package var longestWindow: Span = Time.never
  /// The earliest instant at which asking again is worth it, unless a signal changes before; now if it is granted.
  package var askAgainAt: Instant

  init(_ kind: Kind, at now: Instant) { (self.kind, at, askAgainAt) = (kind, now, now) }

  /// The first veto that refuses, or nil: then the score is too low, or it is granted.
  package var firstVeto: Finding? { findings.first { $0.verdict == .vetoed } }
}

/// One of the likely next windows.
package struct ForecastWindow: Equatable, Sendable {
  package let begin: Instant
  package let end: Instant
  /// That it meets what its kind is for, per mille: the host is used in this hour (refresh), or is not (processing).
  package let probability: Int64
}
