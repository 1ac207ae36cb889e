// The numbers of selene.h as types; written by tools/numbers.py from include/api.json: make interface.

/// A macro that the compiler does not see.
let SELENE_NEVER: Int64 = 9223372036854775807

/// Why a call was refused, or failed. One that has no name here is of a newer library.
public struct Status: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The kind is switched off.
  public static let unavailable = Status(rawValue: 1)
  /// The limit of pending once and periodic tasks of this kind (max_pending_refresh, max_pending_processing; by default there is none), or of waiting successors, is reached.
  public static let tooManyPending = Status(rawValue: 2)
  /// The scheduler was opened with a list of permitted ids and this is not among them.
  public static let notPermitted = Status(rawValue: 3)
  /// The task of a window of one task cannot run now.
  public static let immediateRunIneligible = Status(rawValue: 4)
  /// Expedited tasks have used their quota, and this one has SELENE_TASK_REFUSE_OUT_OF_QUOTA.
  public static let outOfQuota = Status(rawValue: 5)
  /// A parameter or a field is outside what is allowed.
  public static let invalidArgument = Status(rawValue: 16)
  /// The handle or token was never issued, is closed, or is of another type.
  public static let invalidHandle = Status(rawValue: 17)
  /// struct_size is too small, or a later field that this library does not know is set.
  public static let unsupportedStruct = Status(rawValue: 18)
  /// The combination that was asked for is not supported, such as library threads with a host clock.
  public static let unsupported = Status(rawValue: 19)
  /// The input is larger than the scheduler's max_input_size.
  public static let tooLarge = Status(rawValue: 20)
  /// No task or handler has that name.
  public static let notFound = Status(rawValue: 21)
  /// A handler of that name is registered, or its last run has not returned.
  public static let alreadyExists = Status(rawValue: 22)
  /// The run was completed before; the first outcome stands.
  public static let alreadyCompleted = Status(rawValue: 23)
  /// The run was stopped, expired, or belongs to an earlier life of the scheduler.
  public static let staleRun = Status(rawValue: 24)
  /// A cycle is open, or too many threads are still in handlers that overran.
  public static let busy = Status(rawValue: 25)
  /// The minimum interval of the kind has not passed; selene_scheduler_next_wakeup says when.
  public static let tooSoon = Status(rawValue: 26)
  /// This call is not legal inside a callback of the same scheduler.
  public static let reentrant = Status(rawValue: 27)
  /// The scheduler was opened before fork() and belongs to the parent.
  public static let forked = Status(rawValue: 28)
  /// A resource of the system or of the library ran out, such as threads.
  public static let exhausted = Status(rawValue: 29)
  /// An internal consistency check failed: a bug in this library.
  public static let `internal` = Status(rawValue: 30)
  /// The store cannot be opened or made: a directory, no such folder, no permission, read-only.
  public static let storeCannotOpen = Status(rawValue: 48)
  /// Another scheduler, in this process or another, has the store open; the message names the process.
  public static let storeLocked = Status(rawValue: 49)
  /// The file is damaged; selene_store_salvage saves what can be read.
  public static let storeCorrupt = Status(rawValue: 50)
  /// The file is not a Selene store, or that of another application (option owner); the message names both.
  public static let storeForeign = Status(rawValue: 51)
  /// The store was written by a newer version of this library.
  public static let storeNewer = Status(rawValue: 52)
  /// The disk or the quota is full; nothing changed.
  public static let storeFull = Status(rawValue: 53)
  /// Reading or writing failed; nothing changed.
  public static let storeIo = Status(rawValue: 54)
  /// A commit failed midway (a sync, or no memory): the on-disk state is unknown; reopen the store before using it.
  public static let outcomeUnknown = Status(rawValue: 55)
  /// The file of the store or its log (the same name with -wal) was removed, renamed or replaced while it was open; nothing changed.
  public static let storeMoved = Status(rawValue: 56)
  /// Of a connection: no process serves the store, or the one that did has ended or does not answer.
  public static let ownerAway = Status(rawValue: 57)
  /// Of a connection: the process that has the store open does not permit this user to do so.
  public static let refused = Status(rawValue: 58)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 1: "UNAVAILABLE"
    case 2: "TOO_MANY_PENDING"
    case 3: "NOT_PERMITTED"
    case 4: "IMMEDIATE_RUN_INELIGIBLE"
    case 5: "OUT_OF_QUOTA"
    case 16: "INVALID_ARGUMENT"
    case 17: "INVALID_HANDLE"
    case 18: "UNSUPPORTED_STRUCT"
    case 19: "UNSUPPORTED"
    case 20: "TOO_LARGE"
    case 21: "NOT_FOUND"
    case 22: "ALREADY_EXISTS"
    case 23: "ALREADY_COMPLETED"
    case 24: "STALE_RUN"
    case 25: "BUSY"
    case 26: "TOO_SOON"
    case 27: "REENTRANT"
    case 28: "FORKED"
    case 29: "EXHAUSTED"
    case 30: "INTERNAL"
    case 48: "STORE_CANNOT_OPEN"
    case 49: "STORE_LOCKED"
    case 50: "STORE_CORRUPT"
    case 51: "STORE_FOREIGN"
    case 52: "STORE_NEWER"
    case 53: "STORE_FULL"
    case 54: "STORE_IO"
    case 55: "OUTCOME_UNKNOWN"
    case 56: "STORE_MOVED"
    case 57: "OWNER_AWAY"
    case 58: "REFUSED"
    default: "\(rawValue)"
    }
  }
}

/// How long work takes. One that has no name here is of a newer library.
public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Short work, seconds.
  public static let refresh = Kind(rawValue: 1)
  /// Long work, minutes.
  public static let processing = Kind(rawValue: 2)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 1: "refresh"
    case 2: "processing"
    default: "\(rawValue)"
    }
  }
}

/// When a task is due. One that has no name here is of a newer library.
public struct Schedule: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// By period: periodic with one, else once.
  public static let `default` = Schedule(rawValue: 0)
  /// Until it succeeds, is abandoned, or its attempts are used up.
  public static let once = Schedule(rawValue: 1)
  /// Once a period.
  public static let periodic = Schedule(rawValue: 2)
  /// A candidate in every window, for ever.
  public static let standing = Schedule(rawValue: 3)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "default"
    case 1: "once"
    case 2: "periodic"
    case 3: "standing"
    default: "\(rawValue)"
    }
  }
}

/// How important a task is. One that has no name here is of a newer library.
public struct Priority: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SELENE_PRIORITY_VERY_LOW of the header.
  public static let veryLow = Priority(rawValue: 1)
  /// SELENE_PRIORITY_LOW of the header.
  public static let low = Priority(rawValue: 2)
  /// SELENE_PRIORITY_NORMAL of the header.
  public static let normal = Priority(rawValue: 3)
  /// SELENE_PRIORITY_HIGH of the header.
  public static let high = Priority(rawValue: 4)
  /// SELENE_PRIORITY_VERY_HIGH of the header.
  public static let veryHigh = Priority(rawValue: 5)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 1: "very_low"
    case 2: "low"
    case 3: "normal"
    case 4: "high"
    case 5: "very_high"
    default: "\(rawValue)"
    }
  }
}

/// What becomes of a live task when another is registered under its id. One that has no name here is of a newer library.
public struct Existing: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// By schedule: keep for once tasks, update for the others.
  public static let `default` = Existing(rawValue: 0)
  /// The old record stays exactly as it is.
  public static let keep = Existing(rawValue: 1)
  /// The old one and all waiting behind it are cancelled (a run in flight is stopped); a new one starts.
  public static let replace = Existing(rawValue: 2)
  /// The definition is replaced, history is kept.
  public static let update = Existing(rawValue: 3)
  /// Waits until the one before it succeeds; if that fails or is cancelled, so is this.
  public static let append = Existing(rawValue: 4)
  /// The same, but starts also after a failure.
  public static let appendOrReplace = Existing(rawValue: 5)
  /// As KEEP; also what has succeeded stays as it is while its record is there, and what has ended while a task that comes after it needs it: the disposition is then KEPT.
  public static let skip = Existing(rawValue: 6)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "default"
    case 1: "keep"
    case 2: "replace"
    case 3: "update"
    case 4: "append"
    case 5: "append_or_replace"
    case 6: "skip"
    default: "\(rawValue)"
    }
  }
}

/// From when a period counts. One that has no name here is of a newer library.
public struct Recurrence: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// From the completion of the run.
  public static let afterCompletion = Recurrence(rawValue: 0)
  /// On the grid of the first earliest begin; missed periods are skipped.
  public static let anchored = Recurrence(rawValue: 1)
  /// Set by the host, for example by a calendar, with selene_task_set_next after registering and at each dispatch.
  public static let calendar = Recurrence(rawValue: 2)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "after_completion"
    case 1: "anchored"
    case 2: "calendar"
    default: "\(rawValue)"
    }
  }
}

/// How the delay grows from failure to failure. One that has no name here is of a newer library.
public struct Backoff: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// By schedule: none for standing, exponential for the others.
  public static let `default` = Backoff(rawValue: 0)
  /// 0.
  public static let none = Backoff(rawValue: 1)
  /// d * n.
  public static let linear = Backoff(rawValue: 2)
  /// d * 2^(n-1).
  public static let exponential = Backoff(rawValue: 3)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "default"
    case 1: "none"
    case 2: "linear"
    case 3: "exponential"
    default: "\(rawValue)"
    }
  }
}

/// What a registration did. One that has no name here is of a newer library.
public struct Disposition: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// A new record.
  public static let added = Disposition(rawValue: 0)
  /// A new record in place of a live one.
  public static let replaced = Disposition(rawValue: 1)
  /// A new definition for the live record.
  public static let updated = Disposition(rawValue: 2)
  /// Nothing.
  public static let kept = Disposition(rawValue: 3)
  /// A successor that waits.
  public static let appended = Disposition(rawValue: 4)
  /// A new record that waits for a free place (SELENE_OPTIONS_HOLD).
  public static let held = Disposition(rawValue: 5)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "added"
    case 1: "replaced"
    case 2: "updated"
    case 3: "kept"
    case 4: "appended"
    case 5: "held"
    default: "\(rawValue)"
    }
  }
}

/// What a task is at. One that has no name here is of a newer library.
public struct State: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SELENE_STATE_ENQUEUED of the header.
  public static let enqueued = State(rawValue: 0)
  /// Accepted beyond the limit; takes the next free place, higher priority first, then older first.
  public static let held = State(rawValue: 1)
  /// Waits for the task before it.
  public static let blocked = State(rawValue: 2)
  /// SELENE_STATE_RUNNING of the header.
  public static let running = State(rawValue: 3)
  /// Terminal, as the next two.
  public static let succeeded = State(rawValue: 4)
  /// SELENE_STATE_FAILED of the header.
  public static let failed = State(rawValue: 5)
  /// SELENE_STATE_CANCELLED of the header.
  public static let cancelled = State(rawValue: 6)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "enqueued"
    case 1: "held"
    case 2: "blocked"
    case 3: "running"
    case 4: "succeeded"
    case 5: "failed"
    case 6: "cancelled"
    default: "\(rawValue)"
    }
  }
}

/// How a run ended. One that has no name here is of a newer library.
public struct Outcome: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// For selene_lane_next only: no outcome: it was given before, will be given later, or there was no run.
  public static let none = Outcome(rawValue: -1)
  /// It worked, and found something new.
  public static let newData = Outcome(rawValue: 0)
  /// It worked, and there was nothing new.
  public static let noData = Outcome(rawValue: 1)
  /// It may be tried again, by backoff and max_attempts.
  public static let failed = Outcome(rawValue: 2)
  /// Failed for good.
  public static let abandoned = Outcome(rawValue: 3)
  /// In reports only: open after the deadline, or after the grace of its timeout or stall limit; counts as failed.
  public static let expired = Outcome(rawValue: 4)
  /// Ended by a stop: no attempt counts, and the task is enqueued again as before the run.
  public static let stopped = Outcome(rawValue: 5)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case -1: "none"
    case 0: "new_data"
    case 1: "no_data"
    case 2: "failed"
    case 3: "abandoned"
    case 4: "expired"
    case 5: "stopped"
    default: "\(rawValue)"
    }
  }
}

/// Why a run is asked to stop. One that has no name here is of a newer library.
public struct Stop: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SELENE_STOP_NONE of the header.
  public static let none = Stop(rawValue: 0)
  /// The reserve of the window has begun; completing is still possible until the deadline.
  public static let expiring = Stop(rawValue: 1)
  /// Something more important needs the machine; the task is enqueued again as before the run.
  public static let preempted = Stop(rawValue: 2)
  /// A constraint is no longer satisfied; enqueued again as before the run.
  public static let constraintLost = Stop(rawValue: 3)
  /// A new record took the id.
  public static let replaced = Stop(rawValue: 4)
  /// SELENE_STOP_CANCELLED of the header.
  public static let cancelled = Stop(rawValue: 5)
  /// The host ends the work: it closes the scheduler, stops the driver, or drains or ends the window.
  public static let shutdown = Stop(rawValue: 6)
  /// In records only: its process ended while it ran; counts as failed.
  public static let interrupted = Stop(rawValue: 7)
  /// Its task's timeout has passed; completing is still possible for stop_grace.
  public static let timedOut = Stop(rawValue: 8)
  /// It reported no progress for its task's stall_limit; completing is still possible for stop_grace.
  public static let stalled = Stop(rawValue: 9)
  /// In records only: its task waited when its latest_begin had passed, or could be tried again only then, and has failed.
  public static let tooLate = Stop(rawValue: 10)
  /// A run of a fleet whose node could not renew its lease in the database in time: another node may take the task soon.
  public static let leaseLost = Stop(rawValue: 11)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "none"
    case 1: "expiring"
    case 2: "preempted"
    case 3: "constraint_lost"
    case 4: "replaced"
    case 5: "cancelled"
    case 6: "shutdown"
    case 7: "interrupted"
    case 8: "timed_out"
    case 9: "stalled"
    case 10: "too_late"
    case 11: "lease_lost"
    default: "\(rawValue)"
    }
  }
}

/// Why a task does not run now. One that has no name here is of a newer library.
public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Its earliest begin has not come.
  public static let notDue = Reason(rawValue: 1)
  /// A constraint is not satisfied; constraints says which.
  public static let constraints = Reason(rawValue: 2)
  /// No handler has that name; or the last cycle of its kind called handlers, and this one has no function.
  public static let noHandler = Reason(rawValue: 3)
  /// It is held until a place is free.
  public static let held = Reason(rawValue: 4)
  /// It waits for the task before it.
  public static let blocked = Reason(rawValue: 5)
  /// It is running.
  public static let running = Reason(rawValue: 6)
  /// Its kind is switched off.
  public static let kindOff = Reason(rawValue: 7)
  /// It was eligible in the last cycle of its kind, and its estimate did not fit.
  public static let didNotFit = Reason(rawValue: 8)
  /// An earlier run of this id is over but has not returned.
  public static let stillRunning = Reason(rawValue: 9)
  /// It has succeeded, failed or been cancelled.
  public static let terminal = Reason(rawValue: 10)
  /// Its id is not among the permitted ones.
  public static let notPermitted = Reason(rawValue: 11)
  /// It had its run in the cycle that is open.
  public static let hadItsRun = Reason(rawValue: 12)
  /// The minimum interval of its kind has not passed.
  public static let tooSoon = Reason(rawValue: 13)
  /// A cycle of its kind is open and was begun before the task could run.
  public static let nextCycle = Reason(rawValue: 14)
  /// Its last run was interrupted by the end of its process, and its backoff has not passed.
  public static let interrupted = Reason(rawValue: 15)
  /// The governor refused its kind the last time it was asked; selene_governor_last says why.
  public static let governor = Reason(rawValue: 16)
  /// The store refused the last commit (SELENE_TROUBLE_STORE).
  public static let storeRefuses = Reason(rawValue: 17)
  /// No library thread is available for a window (SELENE_TROUBLE_OVERRUN or _THREAD).
  public static let noThread = Reason(rawValue: 18)
  /// Its handler's runs have left too many threads behind, and none has come back (SELENE_TROUBLE_HANDLER).
  public static let handlerStuck = Reason(rawValue: 19)
  /// The scheduler was drained (selene_scheduler_drain).
  public static let drained = Reason(rawValue: 20)
  /// It waits for a time while the clock has jumped (SELENE_TROUBLE_CLOCK).
  public static let clock = Reason(rawValue: 21)
  /// The host has paused it (selene_task_pause).
  public static let paused = Reason(rawValue: 22)
  /// The host has paused its group (selene_group_pause).
  public static let groupPaused = Reason(rawValue: 23)
  /// As many runs of its group as may are under way (selene_group_set_limit).
  public static let groupFull = Reason(rawValue: 24)
  /// It is expedited, but the quota is used up: it waits as an ordinary one (expedited_quota).
  public static let outOfQuota = Reason(rawValue: 25)
  /// A condition of the host is not satisfied; selene_condition_missing says which.
  public static let conditions = Reason(rawValue: 26)
  /// It belongs to a fleet whose database does not answer, or refuses its node's requests (SELENE_TROUBLE_FLEET): the outcome of its run cannot be reported, and when the lease can no longer be relied on the run is asked to stop.
  public static let fleetAway = Reason(rawValue: 27)
  /// The host has paused its kind, everywhere or in the pool that runs it (selene_scheduler_pause).
  public static let kindPaused = Reason(rawValue: 28)
  /// It may have ended a process, or another task that runs or is next may: of such tasks one runs at a time in a process, and one that is to blame runs alone there (selene_task_info.quarantined).
  public static let quarantined = Reason(rawValue: 29)
  /// It has failed and is not due again yet.
  public static let backingOff = Reason(rawValue: 64)
  /// It could run, and no window of its kind was open.
  public static let noWindow = Reason(rawValue: 65)
  /// A window was open that it fitted, and nothing was taken from it.
  public static let windowOpen = Reason(rawValue: 66)
  /// A window was open that it fitted, and others were dispatched.
  public static let preferredOthers = Reason(rawValue: 67)
  /// No process had the store open.
  public static let noProcess = Reason(rawValue: 68)
  /// Not known: a process had the store open and was killed, or had not yet told the store.
  public static let notKnown = Reason(rawValue: 69)
  /// Too long ago, or too much has happened since, to be kept.
  public static let earlier = Reason(rawValue: 70)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 1: "not_due"
    case 2: "constraints"
    case 3: "no_handler"
    case 4: "held"
    case 5: "blocked"
    case 6: "running"
    case 7: "kind_off"
    case 8: "did_not_fit"
    case 9: "still_running"
    case 10: "terminal"
    case 11: "not_permitted"
    case 12: "had_its_run"
    case 13: "too_soon"
    case 14: "next_cycle"
    case 15: "interrupted"
    case 16: "governor"
    case 17: "store_refuses"
    case 18: "no_thread"
    case 19: "handler_stuck"
    case 20: "drained"
    case 21: "clock"
    case 22: "paused"
    case 23: "group_paused"
    case 24: "group_full"
    case 25: "out_of_quota"
    case 26: "conditions"
    case 27: "fleet_away"
    case 28: "kind_paused"
    case 29: "quarantined"
    case 64: "backing_off"
    case 65: "no_window"
    case 66: "window_open"
    case 67: "preferred_others"
    case 68: "no_process"
    case 69: "not_known"
    case 70: "earlier"
    default: "\(rawValue)"
    }
  }
}

/// What an event tells. One that has no name here is of a newer library.
public struct EventType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// A register call changed something; detail says what.
  public static let registered = EventType(rawValue: 1)
  /// A run was dispatched.
  public static let started = EventType(rawValue: 2)
  /// A run was asked to stop.
  public static let stopped = EventType(rawValue: 3)
  /// A run is decided; or, without a run, a successor failed before it started.
  public static let completed = EventType(rawValue: 4)
  /// The task will be tried again at time_at.
  public static let retry = EventType(rawValue: 5)
  /// The task waits for a free place.
  public static let held = EventType(rawValue: 6)
  /// A held task took a free place.
  public static let promoted = EventType(rawValue: 7)
  /// SELENE_EVENT_CANCELLED of the header.
  public static let cancelled = EventType(rawValue: 8)
  /// SELENE_EVENT_CYCLE_BEGUN of the header.
  public static let cycleBegun = EventType(rawValue: 9)
  /// SELENE_EVENT_CYCLE_ENDED of the header.
  public static let cycleEnded = EventType(rawValue: 10)
  /// A successor took the place of the task before it.
  public static let unblocked = EventType(rawValue: 11)
  /// A run that did not return was released after release_after; its id is free.
  public static let released = EventType(rawValue: 12)
  /// The task was running when its process ended; detail: a SELENE_SUSPICION_ number, or 0.
  public static let interrupted = EventType(rawValue: 13)
  /// At open: the time last seen by the store was more than 24 h ahead of the wall clock and was treated as a mistake; all stored instants were moved by time_at ns.
  public static let clockMoved = EventType(rawValue: 14)
  /// The governor refused a window of kinds; asking again may be worth it at time_at.
  public static let refused = EventType(rawValue: 15)
  /// The governor granted a window of kinds.
  public static let granted = EventType(rawValue: 16)
  /// The recording of a trace ended, because the file could not be written.
  public static let traceEnded = EventType(rawValue: 17)
  /// Something keeps the scheduler from working, or no longer does; detail says what, status whether.
  public static let trouble = EventType(rawValue: 18)
  /// A task was paused; without a task: the kinds in kinds, until time_at, in the pool whose name is in message (empty: everywhere); without kinds: the group whose name is in message.
  public static let paused = EventType(rawValue: 19)
  /// What was paused goes on: a task, kinds (also when their time has come), or a group.
  public static let resumed = EventType(rawValue: 20)
  /// A run reported its progress (selene_run_progress): the first report at once, later ones at most four times a second of scheduler time, and always the last one, before the end of the run.
  public static let progress = EventType(rawValue: 21)
  /// A condition of the host is satisfied now (selene_condition_set); message is its name.
  public static let conditionMet = EventType(rawValue: 22)
  /// A condition of the host is no longer satisfied; message is its name.
  public static let conditionLost = EventType(rawValue: 23)
  /// The quota of expedited tasks is used up: they are ordinary ones until something is left again, at time_at if no more of it is used (expedited_quota).
  public static let quotaUsedUp = EventType(rawValue: 24)
  /// Something of the quota of expedited tasks is left again.
  public static let quotaLeft = EventType(rawValue: 25)
  /// A run has succeeded, and what it left is not kept, because it is too long (max_output_size): progress_done has its bytes, progress_total how many are kept at most.
  public static let outputLost = EventType(rawValue: 26)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 1: "registered"
    case 2: "started"
    case 3: "stopped"
    case 4: "completed"
    case 5: "retry"
    case 6: "held"
    case 7: "promoted"
    case 8: "cancelled"
    case 9: "cycle_begun"
    case 10: "cycle_ended"
    case 11: "unblocked"
    case 12: "released"
    case 13: "interrupted"
    case 14: "clock_moved"
    case 15: "refused"
    case 16: "granted"
    case 17: "trace_ended"
    case 18: "trouble"
    case 19: "paused"
    case 20: "resumed"
    case 21: "progress"
    case 22: "condition_met"
    case 23: "condition_lost"
    case 24: "quota_used_up"
    case 25: "quota_left"
    case 26: "output_lost"
    default: "\(rawValue)"
    }
  }
}

/// What a condition of the host is. One that has no name here is of a newer library.
public struct ConditionState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// A task asks for it, but it is not defined.
  public static let undefined = ConditionState(rawValue: 0)
  /// Defined, and not satisfied or not set yet.
  public static let unsatisfied = ConditionState(rawValue: 1)
  /// Defined and satisfied.
  public static let satisfied = ConditionState(rawValue: 2)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "undefined"
    case 1: "unsatisfied"
    case 2: "satisfied"
    default: "\(rawValue)"
    }
  }
}

/// What the governor asks for before it grants a window. One that has no name here is of a newer library.
public struct Profile: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Nothing but constraints.
  public static let open = Profile(rawValue: 0)
  /// What a phone's system requires.
  public static let apple = Profile(rawValue: 1)
  /// What a server requires: that the machine is not under load.
  public static let server = Profile(rawValue: 2)
  /// All of both, for both kinds.
  public static let strict = Profile(rawValue: 3)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 0: "open"
    case 1: "apple"
    case 2: "server"
    case 3: "strict"
    default: "\(rawValue)"
    }
  }
}

/// What the governor looks at. One that has no name here is of a newer library.
public struct Signal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Charge of all batteries, 0 … 1000.
  public static let batteryLevel = Signal(rawValue: 1)
  /// 1 on external power.
  public static let externalPower = Signal(rawValue: 2)
  /// 1 while the system should save power.
  public static let lowPowerMode = Signal(rawValue: 3)
  /// 0 nominal, 1 fair (set by hosts only), 2 serious, 3 critical.
  public static let thermal = Signal(rawValue: 4)
  /// 1 while a person works at the machine.
  public static let userActive = Signal(rawValue: 5)
  /// 1 while a display is on.
  public static let displayOn = Signal(rawValue: 6)
  /// 1 once a person has unlocked the machine since it started.
  public static let unlocked = Signal(rawValue: 7)
  /// 1 while a network is reachable.
  public static let network = Signal(rawValue: 8)
  /// 1 while the network costs by volume.
  public static let metered = Signal(rawValue: 9)
  /// 1 while all wireless radios are switched off.
  public static let airplane = Signal(rawValue: 10)
  /// 0 when the user does not permit this host to work in the background.
  public static let backgroundSwitch = Signal(rawValue: 11)
  /// A SELENE_PRESENCE_ number.
  public static let hostPresence = Signal(rawValue: 12)
  /// Share of CPU time that is not idle: in the last seconds, or at this moment where none were observed.
  public static let cpuBusy = Signal(rawValue: 13)
  /// Share of the last 10 s in which some task waited for a CPU (pressure stall information).
  public static let cpuPressure = Signal(rawValue: 14)
  /// Likewise for memory.
  public static let memoryPressure = Signal(rawValue: 15)
  /// Share of the last 10 s in which all tasks waited for memory.
  public static let memoryStalled = Signal(rawValue: 16)
  /// Some task waited for input or output.
  public static let ioPressure = Signal(rawValue: 17)
  /// All tasks waited for input or output.
  public static let ioStalled = Signal(rawValue: 18)
  /// Free share of the file system that holds the store; without a store set by the host.
  public static let storageFree = Signal(rawValue: 19)
  /// 1 while a battery of the machine is being emptied.
  public static let discharging = Signal(rawValue: 20)
  /// Local time minus UTC in seconds, −64 800 … 64 800.
  public static let utcOffset = Signal(rawValue: 21)
  /// 1 while roaming, which may cost more; for constraints only, no factor uses it.
  public static let roaming = Signal(rawValue: 22)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 1: "battery_level"
    case 2: "external_power"
    case 3: "low_power_mode"
    case 4: "thermal"
    case 5: "user_active"
    case 6: "display_on"
    case 7: "unlocked"
    case 8: "network"
    case 9: "metered"
    case 10: "airplane"
    case 11: "background_switch"
    case 12: "host_presence"
    case 13: "cpu_busy"
    case 14: "cpu_pressure"
    case 15: "memory_pressure"
    case 16: "memory_stalled"
    case 17: "io_pressure"
    case 18: "io_stalled"
    case 19: "storage_free"
    case 20: "discharging"
    case 21: "utc_offset"
    case 22: "roaming"
    default: "\(rawValue)"
    }
  }
}

/// What a profile can ask for. One that has no name here is of a newer library.
public struct Factor: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// Its number in the header.
  public let rawValue: Int32

  /// The one with this number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The level while discharging, 1000 otherwise; at least.
  public static let battery = Factor(rawValue: 1)
  /// … the factors 2 to 19 have the numbers and units of SELENE_SIGNAL_EXTERNAL_POWER … _STORAGE_FREE.
  public static let externalPower = Factor(rawValue: 2)
  /// SELENE_FACTOR_LOW_POWER_MODE of the header.
  public static let lowPowerMode = Factor(rawValue: 3)
  /// SELENE_FACTOR_THERMAL of the header.
  public static let thermal = Factor(rawValue: 4)
  /// SELENE_FACTOR_USER_ACTIVE of the header.
  public static let userActive = Factor(rawValue: 5)
  /// SELENE_FACTOR_DISPLAY_ON of the header.
  public static let displayOn = Factor(rawValue: 6)
  /// SELENE_FACTOR_UNLOCKED of the header.
  public static let unlocked = Factor(rawValue: 7)
  /// SELENE_FACTOR_NETWORK of the header.
  public static let network = Factor(rawValue: 8)
  /// SELENE_FACTOR_METERED of the header.
  public static let metered = Factor(rawValue: 9)
  /// SELENE_FACTOR_AIRPLANE of the header.
  public static let airplane = Factor(rawValue: 10)
  /// SELENE_FACTOR_BACKGROUND_SWITCH of the header.
  public static let backgroundSwitch = Factor(rawValue: 11)
  /// SELENE_FACTOR_HOST_PRESENCE of the header.
  public static let hostPresence = Factor(rawValue: 12)
  /// SELENE_FACTOR_CPU_BUSY of the header.
  public static let cpuBusy = Factor(rawValue: 13)
  /// SELENE_FACTOR_CPU_PRESSURE of the header.
  public static let cpuPressure = Factor(rawValue: 14)
  /// SELENE_FACTOR_MEMORY_PRESSURE of the header.
  public static let memoryPressure = Factor(rawValue: 15)
  /// SELENE_FACTOR_MEMORY_STALLED of the header.
  public static let memoryStalled = Factor(rawValue: 16)
  /// SELENE_FACTOR_IO_PRESSURE of the header.
  public static let ioPressure = Factor(rawValue: 17)
  /// SELENE_FACTOR_IO_STALLED of the header.
  public static let ioStalled = Factor(rawValue: 18)
  /// SELENE_FACTOR_STORAGE_FREE of the header.
  public static let storageFree = Factor(rawValue: 19)
  /// A quota of the kind is spent.
  public static let budget = Factor(rawValue: 20)
  /// ns since the kind's last window began; at least.
  public static let rate = Factor(rawValue: 21)
  /// How well the present hour suits the kind: refresh prefers hours of use, processing hours without.
  public static let usePrediction = Factor(rawValue: 22)
  /// ns since the host was last used; at most.
  public static let recentUse = Factor(rawValue: 23)

  /// Its name in the header, or its number.
  public var description: String {
    switch rawValue {
    case 1: "battery"
    case 2: "external_power"
    case 3: "low_power_mode"
    case 4: "thermal"
    case 5: "user_active"
    case 6: "display_on"
    case 7: "unlocked"
    case 8: "network"
    case 9: "metered"
    case 10: "airplane"
    case 11: "background_switch"
    case 12: "host_presence"
    case 13: "cpu_busy"
    case 14: "cpu_pressure"
    case 15: "memory_pressure"
    case 16: "memory_stalled"
    case 17: "io_pressure"
    case 18: "io_stalled"
    case 19: "storage_free"
    case 20: "budget"
    case 21: "rate"
    case 22: "use_prediction"
    case 23: "recent_use"
    default: "\(rawValue)"
    }
  }
}

/// Any number of kinds.
public struct Kinds: OptionSet, Hashable, Sendable {
  /// Its bits in the header.
  public let rawValue: UInt32

  /// The set of these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Short work, seconds.
  public static let refresh = Kinds(rawValue: 1)
  /// Long work, minutes.
  public static let processing = Kinds(rawValue: 2)
  /// All that this package knows.
  public static let all: Kinds = [.refresh, .processing]
}

/// Any number of conditions of the system that a task may ask for.
public struct Constraints: OptionSet, Hashable, Sendable {
  /// Its bits in the header.
  public let rawValue: UInt32

  /// The set of these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A network is reachable (NETWORK).
  public static let network = Constraints(rawValue: 1)
  /// The machine is on external power (EXTERNAL_POWER).
  public static let externalPower = Constraints(rawValue: 2)
  /// A network is reachable and does not cost by volume (NETWORK, METERED, which only a host knows).
  public static let unmetered = Constraints(rawValue: 4)
  /// No battery is being emptied, or 20 % or more of it is left (DISCHARGING, BATTERY_LEVEL).
  public static let batteryNotLow = Constraints(rawValue: 8)
  /// No user is active (USER_ACTIVE).
  public static let idle = Constraints(rawValue: 16)
  /// 5 % or more of the file system that holds the store is free (STORAGE_FREE).
  public static let storageNotLow = Constraints(rawValue: 32)
  /// No display is on (DISPLAY_ON).
  public static let displayOff = Constraints(rawValue: 64)
  /// A network is reachable and is not roaming (NETWORK, ROAMING, which only a host knows).
  public static let notRoaming = Constraints(rawValue: 128)
  /// All that this package knows.
  public static let all: Constraints = [
    .network, .externalPower, .unmetered, .batteryNotLow, .idle, .storageNotLow, .displayOff, .notRoaming,
  ]
}
