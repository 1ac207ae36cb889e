// How a run ended, and why it was asked to stop.

/// How a run ended.
package enum Outcome: Int32, Sendable {
  case newData = 0
  case noData = 1
  case failed = 2
  /// Failed for good.
  case abandoned = 3
  /// Open after the deadline; counts as failed.
  case expired = 4
  /// Ended by a stop.
  case stopped = 5

  package var isSuccess: Bool { self == .newData || self == .noData }

  /// Whether it says how the work itself ended, rather than what ended it.
  package var isGiven: Bool { rawValue <= Outcome.abandoned.rawValue }

  /// Whether a host may give it; *stopped* once the run was asked to stop (V6).
  package var mayBeGiven: Bool { isGiven || self == .stopped }
}

/// Why a run is asked to stop (C8).
package enum StopReason: Int32, Sendable {
  case none = 0
  case expiring = 1
  case preempted = 2
  case constraintLost = 3
  case replaced = 4
  case cancelled = 5
  case shutdown = 6
  /// Its process ended while it ran (D3).
  case interrupted = 7
  /// It took longer than its task's timeout (R3).
  case timedOut = 8
  /// It told no progress for its task's stall limit (W6).
  case stalled = 9
  /// Of its task: it was not begun by its latest begin, or could not be tried again by then (W9).
  case tooLate = 10
  /// Another node of its fleet may have it, or has it soon: the lease of this one could not be told anew (N13).
  case leaseLost = 11

  /// Whether a limit of the task says so, rather than the window or the host.
  package var isOfTask: Bool { self == .timedOut || self == .stalled }

  /// Whether a run that is asked so may still complete.
  package var isRequest: Bool { self == .expiring || isOfTask || self == .leaseLost }

  /// Whether it replaces another: of requests those of the task are the stronger ones, and what ends a run goes before all.
  package func replaces(_ other: StopReason) -> Bool {
    isRequest == other.isRequest || other == .none ? rawValue > other.rawValue : !isRequest
  }
}
