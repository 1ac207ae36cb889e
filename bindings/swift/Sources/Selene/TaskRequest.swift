// What a task is.

import CSelene

/// What is registered. What is not changed is as the library has it.
public struct TaskRequest: Sendable {
  /// Its id.
  public var id: String
  /// The name of its handler; nil: the id.
  public var handler: String?
  /// How long it takes.
  public var kind: Kind = .refresh
  /// When it is due.
  public var schedule: Schedule
  /// How important it is.
  public var priority: Priority = .normal
  /// What becomes of a live task of this id.
  public var existing: Existing = .default
  /// From when its period counts.
  public var recurrence: Recurrence = .afterCompletion
  /// How the delay before a retry grows.
  public var backoff: Backoff = .default
  /// The first delay before a retry.
  public var backoffDelay: Duration = .seconds(30)
  /// Of how many of the last response times the estimate is the mean.
  public var responseWindow: Int32 = 3
  /// How many failures until it is over; 0: no limit.
  public var maxAttempts: UInt32 = 0
  /// What must hold of the system.
  public var constraints: Constraints = []
  /// Names of conditions of the host, all of which must hold.
  public var conditions: [String] = []
  /// Names that it shares with others.
  public var tags: [String] = []
  /// What a run is expected to take while nothing is known; nil: what those of its handler took.
  public var expectedResponse: Duration?
  /// Until it is due first.
  public var initialDelay: Duration = .zero
  /// How long after its registration a once task may begin at the latest; zero: it may wait.
  public var latestBegin: Duration = .zero
  /// From one end of a run, or begin, to the next.
  public var period: Duration = .zero
  /// The part of a period, at its end, in which it runs.
  public var flex: Duration = .zero
  /// Makes delay and periods longer by a random part of at most so many per mille.
  public var jitter: UInt32 = 0
  /// After which a run is asked to stop; zero: never.
  public var timeout: Duration = .zero
  /// After which a run that tells no progress is asked to stop; zero: never.
  public var stallLimit: Duration = .zero
  /// The group that it is in.
  public var group: String?
  /// Once tasks that must have succeeded before it starts; it fails or is cancelled with them.
  public var after: [String] = []
  /// It starts when those have ended, however.
  public var afterAnyEnd = false
  /// Bytes that each run gets.
  public var input: [UInt8] = []
  /// The freshness rule does not learn from its outcomes.
  public var steady = false
  /// Important now: it goes before others while something is left of `Options.expeditedQuota`.
  public var expedited = false
  /// Registering it while that quota is used up is refused.
  public var refuseOutOfQuota = false

  private init(_ id: String, _ schedule: Schedule) { (self.id, self.schedule) = (id, schedule) }

  /// A candidate in every window.
  public static func standing(_ id: String, handler: String? = nil) -> TaskRequest {
    made(id, .standing, handler)
  }

  /// Work that is done once.
  public static func once(_ id: String, handler: String? = nil) -> TaskRequest { made(id, .once, handler) }

  /// Work that is due again and again, each time after the period.
  public static func periodic(_ id: String, every period: Duration, handler: String? = nil) -> TaskRequest {
    var task = made(id, .periodic, handler)
    task.period = period
    return task
  }

  private static func made(_ id: String, _ schedule: Schedule, _ handler: String?) -> TaskRequest {
    var task = TaskRequest(id, schedule)
    task.handler = handler
    return task
  }

  func raw(_ lent: Lent) -> selene_task {
    var raw = selene_task.empty
    (raw.id, raw.handler, raw.group) = (lent.text(id), lent.text(handler ?? ""), lent.text(group ?? ""))
    (raw.kind, raw.schedule, raw.priority) = (kind.rawValue, schedule.rawValue, priority.rawValue)
    (raw.existing, raw.recurrence, raw.backoff) = (existing.rawValue, recurrence.rawValue, backoff.rawValue)
    (raw.backoff_delay, raw.response_window) = (backoffDelay.said, said(responseWindow))
    (raw.max_attempts, raw.constraints) = (maxAttempts, constraints.rawValue)
    (raw.tags, raw.tag_count) = (lent.texts(tags), UInt32(tags.count))
    (raw.conditions, raw.condition_count) = (lent.texts(conditions), UInt32(conditions.count))
    (raw.after, raw.after_count) = (lent.texts(after), UInt32(after.count))
    if let expectedResponse { raw.expected_response = expectedResponse.said }
    (raw.initial_delay, raw.latest_begin) = (initialDelay.nanoseconds, latestBegin.nanoseconds)
    (raw.period, raw.flex, raw.jitter) = (period.nanoseconds, flex.nanoseconds, jitter)
    (raw.timeout, raw.stall_limit) = (timeout.nanoseconds, stallLimit.nanoseconds)
    (raw.input, raw.input_length) = (UnsafeRawPointer(lent.bytes(input)), Int64(input.count))
    if afterAnyEnd { raw.flags |= UInt32(SELENE_TASK_AFTER_ANY_END) }
    if steady { raw.flags |= UInt32(SELENE_TASK_STEADY) }
    if expedited { raw.flags |= UInt32(SELENE_TASK_EXPEDITED) }
    if refuseOutOfQuota { raw.flags |= UInt32(SELENE_TASK_REFUSE_OUT_OF_QUOTA) }
    return raw
  }
}
