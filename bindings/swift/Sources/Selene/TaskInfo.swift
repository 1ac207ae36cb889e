// What is known of a task, a group, a pause, and why something waits.

import CSelene

/// A task's record.
public struct TaskInfo: Sendable {
  /// Its id, and the name of its handler.
  public let id, handler: String
  /// What its runs get.
  public let input: [UInt8]
  /// Names that it shares with others; the conditions of the host that it asks for; the tasks that it comes after.
  public let tags, conditions, after: [String]
  /// What it asks of the system.
  public let constraints: Constraints
  /// How long it takes.
  public let kind: Kind
  /// When it is due.
  public let schedule: Schedule
  /// How important it is.
  public let priority: Priority
  /// The group that it is in; empty: none.
  public let group: String
  /// What it is at.
  public let state: State
  /// Whether a handler of its name is registered; whether it is paused.
  public let hasHandler, isPaused: Bool
  /// Failures in a row, and the run in flight.
  public let attempts: UInt32
  /// `none` while it never ran.
  public let lastOutcome: Outcome
  /// Why its last run was stopped.
  public let stopReason: Stop
  /// How often it was updated; how many of the tasks that it comes after are not over.
  public let generation, waitsFor: UInt32
  /// The number of the record; how many wait behind it.
  public let sequence, appended: UInt64
  /// When it was registered, and last ran.
  public let registeredAt, lastRun: Instant
  /// When it is due; nil: never.
  public let earliestBegin: Instant?
  /// What its next run is expected to take.
  public let estimate: Duration
  /// What its last runs took.
  public let responseTimes: [Duration]
  /// Why it last failed, if no run has succeeded since.
  public let failure: String
  /// When.
  public let failedAt: Instant?
  /// Of the run in flight; nil: it has told none.
  public let progress: Progress?

  /// How far a run has come, as it told.
  public struct Progress: Hashable, Sendable {
    /// So much of so much; 0: it is not known.
    public let done, total: Int64
    /// What it said.
    public let text: String
    /// When.
    public let at: Instant
  }

  init(_ raw: selene_task_info) {
    (id, handler, input) = (raw.id.string, raw.handler.string, raw.input.array)
    tags = strings(raw.tags, raw.tag_count)
    conditions = strings(raw.conditions, raw.condition_count)
    after = strings(raw.after, raw.after_count)
    constraints = Constraints(rawValue: raw.constraints)
    (kind, schedule) = (Kind(rawValue: raw.kind), Schedule(rawValue: raw.schedule))
    (priority, group, state) = (Priority(rawValue: raw.priority), raw.group.string, State(rawValue: raw.state))
    (hasHandler, isPaused, attempts) = (raw.has_handler != 0, raw.paused != 0, raw.attempts)
    (lastOutcome, stopReason) = (Outcome(rawValue: raw.last_outcome), Stop(rawValue: raw.stop_reason))
    (generation, waitsFor, sequence, appended) = (raw.generation, raw.waits_for, raw.sequence, raw.appended)
    registeredAt = Instant(nanosecondsSinceEpoch: raw.registered_at)
    lastRun = Instant(nanosecondsSinceEpoch: raw.last_run)
    earliestBegin = Instant(maybe: raw.earliest_begin)
    estimate = .nanoseconds(raw.estimate)
    responseTimes = withUnsafeBytes(of: raw.response_times) { all in
      all.bindMemory(to: Int64.self).prefix(Int(raw.response_time_count)).map { .nanoseconds($0) }
    }
    failure = raw.failure.string
    failedAt = raw.failed_at == 0 ? nil : Instant(nanosecondsSinceEpoch: raw.failed_at)
    progress =
      raw.progress_at == 0
      ? nil
      : Progress(
        done: raw.progress_done, total: raw.progress_total, text: raw.progress_text.string,
        at: Instant(nanosecondsSinceEpoch: raw.progress_at))
  }
}

/// Why a task does not run now.
public struct Explanation: Sendable {
  /// What it is at.
  public let state: State
  /// Empty where nothing but a window is missing.
  public let missing: [Missing]
  /// Counts from 1; 0: it is not eligible. How many tasks are.
  public let rank, eligible: UInt64
  /// By which it would be picked.
  public let score: Double
  /// What its next run is expected to take.
  public let estimate: Duration
  /// The last instant at which it may begin, while it waits and has one.
  public let latestBegin: Instant?
  /// Whether it goes before others, because that is near; or because it is expedited and something of the quota is left.
  public let isUrgent, isExpedited: Bool
  /// What it asks for and of which nothing is known, so that it counts as satisfied.
  public let unknownConstraints: Constraints

  /// One reason.
  public struct Missing: Hashable, Sendable {
    /// Which.
    public let reason: Reason
    /// Those that do not hold.
    public let constraints: Constraints
    /// When it may be over; nil: when something changes.
    public let mayChangeAt: Instant?
  }

  init(_ raw: selene_explanation) {
    state = State(rawValue: raw.state)
    missing = withUnsafeBytes(of: raw.reasons) { all in
      all.bindMemory(to: selene_reason.self).prefix(Int(raw.reason_count)).map {
        Missing(
          reason: Reason(rawValue: $0.reason), constraints: Constraints(rawValue: $0.constraints),
          mayChangeAt: Instant(maybe: $0.may_change_at))
      }
    }
    (rank, eligible, score, estimate) = (raw.rank, raw.eligible, raw.score, .nanoseconds(raw.estimate))
    latestBegin = raw.latest_begin == 0 ? nil : Instant(nanosecondsSinceEpoch: raw.latest_begin)
    (isUrgent, isExpedited) = (raw.urgent != 0, raw.expedited != 0)
    unknownConstraints = Constraints(rawValue: raw.unknown_constraints)
  }
}

/// Where the time of a task went since it was last due, or registered; the durations add up to the whole.
public struct Waits: Sendable {
  /// From then to then.
  public let since, until: Instant
  /// By reason.
  public let parts: [Part]
  /// How many dispatches of others went before it in windows that it fitted.
  public let preferred: UInt64
  /// The last of these, the latest first.
  public let preferredIDs: [String]

  /// How much of it went to one reason.
  public struct Part: Hashable, Sendable {
    /// Which.
    public let reason: Reason
    /// The bit of a constraint, the number of a factor, or 0.
    public let detail: Int64
    /// How long.
    public let duration: Duration
    /// How often it began; for the reasons of windows in how many of them.
    public let times: UInt64
  }

  init(_ raw: selene_waits) {
    since = Instant(nanosecondsSinceEpoch: raw.since)
    until = Instant(nanosecondsSinceEpoch: raw.until)
    parts = UnsafeBufferPointer(start: raw.parts, count: Int(raw.part_count)).map {
      Part(
        reason: Reason(rawValue: $0.reason), detail: $0.detail, duration: .nanoseconds($0.duration), times: $0.times)
    }
    preferred = raw.preferred_count
    preferredIDs = strings(raw.preferred_ids, raw.preferred_id_count)
  }
}

/// A group of tasks.
public struct GroupInfo: Hashable, Sendable {
  /// Of runs at a time; 0: none.
  public let limit: UInt32
  /// Whether nothing of it begins.
  public let isPaused: Bool
  /// Runs that are not over, or have not come back; tasks that wait.
  public let running, waiting: UInt64
}

/// Kinds that are paused until the same instant.
public struct Pause: Hashable, Sendable {
  /// Which.
  public let kinds: Kinds
  /// Whose tasks wait; nil: those of all.
  public let pool: String?
  /// When it ends; nil: when it is resumed.
  public let until: Instant?

  init(_ raw: selene_pause) {
    kinds = Kinds(rawValue: raw.kinds)
    pool = raw.pool.length == 0 ? nil : raw.pool.string
    until = Instant(maybe: raw.until)
  }
}
