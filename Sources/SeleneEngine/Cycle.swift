// The use of one window.

import SeleneCore

/// A cycle. Its constants may be read anywhere; the rest is guarded by the scheduler's lock.
package final class Cycle {
  enum Mode {
    /// The host takes runs and completes them.
    case pulled
    /// Library threads call the handlers.
    case pushed
    /// The host's thread calls the handlers.
    case inline
  }

  package let handle: UInt64
  package let time: Budget
  let mode: Mode
  /// Runs at a time.
  let laneLimit: Int
  let strictFit: Bool
  /// The kinds that it occupies; none for a cycle of one task (C14).
  let kinds: KindSet
  /// Who may run, until the cycle ends.
  var ranking: Ranking?
  let eligibleCount: Int

  /// Its runs in order of dispatch.
  var runs: [Run] = []
  /// Runs that are not decided.
  var openRuns = 0
  /// Runs in flight were asked to stop (C7).
  var hasExpired = false
  /// Its report is made; nothing more is dispatched.
  var report: Report?
  /// What the store refused while library threads ran it.
  var failure: SeleneError?
  /// Threads that work on it.
  var lanes = 0
  /// Receivers of its report.
  var receivers: [ReportReceiver] = []

  init(
    handle: UInt64, mode: Mode, laneLimit: Int, strictFit: Bool, kinds: KindSet, time: Budget, ranking: Ranking
  ) {
    self.handle = handle
    self.mode = mode
    self.laneLimit = laneLimit
    self.strictFit = strictFit
    self.kinds = kinds
    self.time = time
    self.ranking = ranking
    eligibleCount = ranking.eligibleCount
  }

  /// A cycle of one task occupies no kind.
  var isOfOneTask: Bool { kinds.isEmpty }
  var isEnded: Bool { report != nil }
}
