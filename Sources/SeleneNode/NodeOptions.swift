// How a node works, and the spans that follow from its lease.

import SeleneCore

/// What a node is told once. Spans are of its own clock, which counts what the machine sleeps.
package struct NodeOptions: Sendable {
  /// How long the database waits for a beat before others may take what this node runs (N10).
  package var lease: Span = 30 * Time.second
  /// A claim takes at most what keeps the free lanes busy so long, and no longer than a third of the lease; 0: one task a lane
  /// (N22).
  package var horizon: Span = Time.second / 4
  /// How often a node with a free lane looks for work when nothing tells it to (N28).
  package var poll: Span = Time.second
  /// Its turns are committed without waiting for the disk: a crash of the database's server may lose the last of them, and what
  /// they claimed or decided then runs again (N34).
  package var relaxed = false
  /// What its retries are spread by, so that the nodes of a fleet do not come back at one instant.
  package var seed: UInt64 = 0

  package init() {}

  static let leases: ClosedRange<Span> = Time.second / 10...Time.hour
  static let horizons: ClosedRange<Span> = 0...10 * Time.second
  static let polls: ClosedRange<Span> = Time.second / 100...Time.hour
  /// The most that one claim takes (N22).
  static let mostClaimed = 500

  /// Checks every field.
  ///
  /// - Parameter units: of the scheduler's clock.
  /// - Throws: `invalidArgument`, naming the first field that is out of range.
  package func check(_ units: Units) throws(SeleneError) {
    try units.check("lease", lease, Self.leases.lowerBound, Self.leases.upperBound)
    try units.check("horizon", horizon, Self.horizons.lowerBound, Self.horizons.upperBound)
    try units.check("poll", poll, Self.polls.lowerBound, Self.polls.upperBound)
  }

  var reach: Span { min(horizon, lease / 3) }
  /// How long what was claimed waits for a lane while none comes free (N22).
  package var patience: Span { max(reach, Time.second) }
  /// From one beat to the next (N10).
  var beatInterval: Span { lease / 3 }
  /// How long a beat is believed in, from when it was sent (N13).
  var belief: Span { lease / 5 * 4 }
  /// How long a call is waited for. A judge's beat that took so long, and a clock that was set by the tenth that nobody notices,
  /// shorten another's lease to what that one believes in, no further (N12).
  var timeout: Span { lease / 10 }
  /// The longest pause after a call that failed.
  var longestPause: Span { min(5 * Time.second, lease / 12) }
}
