// A run that a claim gave to this node, from the claim to what became of it.

import SeleneCore

/// Which run of which task.
package struct RunKey: Equatable, Sendable {
  /// The number of the run, never used twice: the fence of all that is written for it (N9).
  package let run: Int64
  /// The number of its task.
  package let task: Int64

  package init(run: Int64, task: Int64) { (self.run, self.task) = (run, task) }
}

/// A task as a claim hands it out.
package final class NodeRun: @unchecked Sendable {  // its node's from the claim on
  package let key: RunKey
  package let id: Bytes
  package let handler: Bytes
  package let input: Bytes
  package let fleetClass: Int32
  package let estimate: Span
  /// Which attempt this is, from 1.
  package let attempt: Int32
  package let generation: Int32
  /// The line that it was claimed from, and the last run by which it stood there (N7).
  package let line: Int32
  package let lastRun: Instant
  /// It is a suspect that was never to blame alone: others may run beside it (V7).
  package let runsBeside: Bool
  /// When it began here; nil: it waits for a lane, or for a window.
  var begunAt: Instant?
  /// The database knows that it has begun (N58).
  var isSaid = false
  /// The incarnation that claimed it.
  package internal(set) var worker: Int64 = 0
  /// It was asked to stop.
  var isStopped = false

  package init(
    _ key: RunKey, id: Bytes, handler: Bytes, input: Bytes, fleetClass: Int32, estimate: Span, attempt: Int32,
    generation: Int32, line: Int32, lastRun: Instant, runsBeside: Bool = false
  ) {
    self.key = key
    (self.id, self.handler, self.input) = (id, handler, input)
    (self.fleetClass, self.estimate) = (fleetClass, estimate)
    (self.attempt, self.generation) = (attempt, generation)
    (self.line, self.lastRun, self.runsBeside) = (line, lastRun, runsBeside)
  }

  /// It has begun, and its incarnation is to say so.
  func isUnsaid(of worker: Int64) -> Bool { begunAt != nil && !isSaid && !isStopped && self.worker == worker }

  /// Lines are by priority, too (N4).
  package var priority: Int32 { line >> 4 & 15 }

  /// A run of it was interrupted and none has been decided since: of such a node has one at a time (N15, V7). Suspects have lines
  /// of their own.
  package var isSuspect: Bool { line & 1 == 1 }

  /// Nothing runs beside it.
  package var runsAlone: Bool { isSuspect && !runsBeside }
}

/// How a run ended, as the database has to be told.
package struct NodeDecision: Sendable {
  package let outcome: Outcome
  package let response: Span
  /// Instead of the backoff of this attempt.
  package let delay: Span?
  package let failure: Bytes?
  package let result: Bytes?

  /// - Throws: `invalidArgument`, `tooLarge`: what the database would refuse, together with all that is sent with it.
  package init(
    _ outcome: Outcome, response: Span, delay: Span? = nil, failure: Bytes? = nil, result: Bytes? = nil
  ) throws(SeleneError) {
    guard outcome != .stopped else {
      throw .range("outcome", outcome.rawValue, 0, Int64(Outcome.expired.rawValue))
    }
    guard response >= 0 else { throw .range("response_time", response, 0, .max, .duration) }
    if let delay {
      guard (0...Time.tenYears).contains(delay) else {
        throw .range("retry_delay", delay, 0, Time.tenYears, .duration)
      }
    }
    if let result {
      guard result.count <= Self.longestResult else {
        throw .range("result", result.count, 0, Int64(Self.longestResult), .bytes)
      }
    }
    self.init(unchecked: outcome, response, delay, failure, result)
  }

  /// A failure without a delay of its own.
  package init(failedAfter response: Span, because failure: Bytes) {
    self.init(unchecked: .failed, response, nil, failure, nil)
  }

  /// The process that it was given to ended; the node lives, so it is no suspect (D3, N15).
  package init(interruptedAfter response: Span, because failure: Bytes) {
    self.init(unchecked: .stopped, response, nil, failure, nil)
  }

  private init(unchecked outcome: Outcome, _ response: Span, _ delay: Span?, _ failure: Bytes?, _ result: Bytes?) {
    (self.outcome, self.response, self.delay) = (outcome, response, delay)
    (self.failure, self.result) = (failure, result)
  }

  /// What a success may leave (N27).
  package static let longestResult = 65_536

  /// The same without anything that the database could refuse: a failure.
  var bare: NodeDecision { NodeDecision(unchecked: .failed, response, nil, nil, nil) }

  var isBare: Bool { outcome == .failed && delay == nil && failure == nil && result == nil }
}

/// How a run came back to the node.
package enum NodeEnd: Sendable {
  case decided(NodeDecision)
  /// It was not begun, preempted or shut down: the task is to be as before the run (C8).
  case returned
}

/// A decision on its way into the database.
package final class OpenDecision: @unchecked Sendable {  // its node's
  package let key: RunKey
  /// The task's, by which the history is asked (N14).
  package let id: Bytes
  package internal(set) var decision: NodeDecision
  /// The incarnation that claimed the run.
  let worker: Int64
  /// It was sent before, and not answered.
  var isSentAgain = false

  init(key: RunKey, id: Bytes, decision: NodeDecision, worker: Int64) {
    (self.key, self.id, self.decision, self.worker) = (key, id, decision, worker)
  }
}
