// What a node asks of the process that it is in.

import SeleneCore

/// In the order in which it is to be done.
package enum NodeAction: Sendable {
  /// A lane is taken by this run until `ended` is called for it.
  case begin(NodeRun)
  /// The run is to stop: it is not this node's any more, or may soon be somebody else's.
  case stop(run: Int64, NodeStop)
  /// What became of a decision.
  case decided(run: Int64, counts: Bool)
  /// The clocks of database and node differ by so much since the last beat (N12).
  case clocksDiffer(Span)
  /// They ran alike since the last beat, after they had differed.
  case clocksAgree
  /// So many runs of the dead were taken back by this node (N11).
  case tookBack(Int64)
  /// The fleet wants it to leave (N37).
  case draining
  /// The database refused a call; it is made again after a pause.
  case refused(SQLState)
  /// The rows are not those of the statement: the schema is of a release that this node cannot read.
  case unreadable
}

/// Why a run is to stop.
package enum NodeStop: Equatable, Sendable {
  /// The lease cannot be believed in any more (N13).
  case leaseLost
  /// The node leaves, and its grace is nearly over: the task is to be as before the run (V4, V5).
  case leaving
  /// The database gave the run up, for a reason of the header's (N25).
  case taken(StopReason)
}
