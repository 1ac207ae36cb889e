// What a window did, and would do.

import CSelene

/// What a window did.
public struct Report: Sendable {
  /// Of all its runs together.
  public let result: Outcome
  /// When it began, ended, and had to.
  public let beganAt, endedAt, deadline: Instant
  /// How many tasks could have run, and how many of them did not fit.
  public let eligible, didNotFit: UInt64
  /// Runs by outcome.
  public let newData, noData, failed, abandoned, expired, stopped: UInt64
  /// In the order in which they began.
  public let runs: [ReportRun]

  /// One run.
  public struct ReportRun: Hashable, Sendable {
    /// Of its task.
    public let id: String
    /// How it ended.
    public let outcome: Outcome
    /// Why it was asked to stop.
    public let stopReason: Stop
    /// 1 for the first.
    public let attempt: UInt32
    /// By which it was picked.
    public let score: Double
    /// How long it was expected to take, and took.
    public let estimate, responseTime: Duration
    /// When it was dispatched.
    public let startedAt: Instant
  }

  init(_ raw: selene_report) {
    result = Outcome(rawValue: raw.result)
    beganAt = Instant(nanosecondsSinceEpoch: raw.began_at)
    endedAt = Instant(nanosecondsSinceEpoch: raw.ended_at)
    deadline = Instant(nanosecondsSinceEpoch: raw.deadline)
    (eligible, didNotFit) = (raw.eligible, raw.did_not_fit)
    (newData, noData, failed) = (raw.new_data, raw.no_data, raw.failed)
    (abandoned, expired, stopped) = (raw.abandoned, raw.expired, raw.stopped)
    runs = UnsafeBufferPointer(start: raw.runs, count: Int(raw.run_count)).map {
      ReportRun(
        id: $0.id.string, outcome: Outcome(rawValue: $0.outcome), stopReason: Stop(rawValue: $0.stop_reason),
        attempt: $0.attempt, score: $0.score, estimate: .nanoseconds($0.estimate),
        responseTime: .nanoseconds($0.response_time), startedAt: Instant(nanosecondsSinceEpoch: $0.started_at))
    }
  }
}

/// What a window would pick now.
public struct Plan: Sendable {
  /// How many tasks could run.
  public let eligible: UInt64
  /// The picks in order.
  public let runs: [PlanRun]

  /// One pick.
  public struct PlanRun: Hashable, Sendable {
    /// Of its task.
    public let id: String
    /// By which it would be picked.
    public let score: Double
    /// How long it is expected to take.
    public let estimate: Duration
    /// When it would begin if each run took its estimate.
    public let startsAt: Instant
  }

  init(_ raw: selene_plan) {
    eligible = raw.eligible
    runs = UnsafeBufferPointer(start: raw.runs, count: Int(raw.run_count)).map {
      PlanRun(
        id: $0.id.string, score: $0.score, estimate: .nanoseconds($0.estimate),
        startsAt: Instant(nanosecondsSinceEpoch: $0.starts_at))
    }
  }
}
