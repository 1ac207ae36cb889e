// One dispatch of one task.

import SeleneCore

/// A run. Its constants may be read anywhere; the rest is guarded by the scheduler's lock.
package final class Run {
  package let token: UInt64
  /// The definition at dispatch; an update does not touch it.
  package let definition: TaskDefinition
  package let attempt: UInt32
  package let generation: UInt32
  package let score: Double
  package let estimate: Span
  package let startedAt: Instant
  package let cycle: Cycle
  let slot: Int
  let handler: Handler

  /// How it was decided, or nil while it is open.
  var outcome: Outcome?
  var endedAt: Instant = 0
  var stopReason: StopReason = .none
  var wasAskedToStop = false
  /// `complete` was called for it, whatever it answered.
  var wasGivenOutcome = false
  /// A library thread, or the thread of an inline cycle, is in its handler.
  var isInHandler = false
  /// Its id is free again.
  var isBack = false

  init(token: UInt64, record: TaskRecord, slot: Int, pick: Pick, handler: Handler, cycle: Cycle, at now: Instant) {
    self.token = token
    definition = record.definition
    attempt = record.attempts
    generation = record.generation
    self.slot = slot
    score = pick.score
    estimate = pick.estimate
    startedAt = now
    self.handler = handler
    self.cycle = cycle
  }

  package var expiresAt: Instant { cycle.time.expiresAt }
  package var deadline: Instant { cycle.time.deadline }
  var isOpen: Bool { outcome == nil }
  /// It was decided by a stop or by time; an outcome comes too late.
  var isStale: Bool { outcome == .stopped || outcome == .expired }
}
