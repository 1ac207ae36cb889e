// The names of numbers, for people: what the border's text functions answer.

extension Kind {
  package var name: Literal { self == .refresh ? "refresh" : "processing" }
}

extension Schedule {
  package var name: Literal {
    switch self {
    case .standing: "standing"
    case .once: "once"
    case .periodic: "periodic"
    }
  }
}

extension ExistingPolicy {
  package var name: Literal {
    switch self {
    case .keep: "keep"
    case .replace: "replace"
    case .update: "update"
    case .append: "append"
    case .appendOrReplace: "append_or_replace"
    case .skip: "skip"
    }
  }
}

extension Recurrence {
  package var name: Literal {
    switch self {
    case .afterCompletion: "after_completion"
    case .anchored: "anchored"
    case .calendar: "calendar"
    }
  }
}

extension BackoffPolicy {
  package var name: Literal {
    switch self {
    case .none: "none"
    case .linear: "linear"
    case .exponential: "exponential"
    }
  }
}

extension TaskState {
  package var name: Literal {
    switch self {
    case .enqueued: "enqueued"
    case .held: "held"
    case .blocked: "blocked"
    case .running: "running"
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }
}

extension Outcome {
  package var name: Literal {
    switch self {
    case .newData: "new_data"
    case .noData: "no_data"
    case .failed: "failed"
    case .abandoned: "abandoned"
    case .expired: "expired"
    case .stopped: "stopped"
    }
  }
}

extension StopReason {
  package var name: Literal {
    switch self {
    case .none: "none"
    case .expiring: "expiring"
    case .preempted: "preempted"
    case .constraintLost: "constraint_lost"
    case .replaced: "replaced"
    case .cancelled: "cancelled"
    case .shutdown: "shutdown"
    case .interrupted: "interrupted"
    case .timedOut: "timed_out"
    case .stalled: "stalled"
    case .tooLate: "too_late"
    case .leaseLost: "lease_lost"
    }
  }
}

extension Disposition {
  package var name: Literal {
    switch self {
    case .added: "added"
    case .replaced: "replaced"
    case .updated: "updated"
    case .kept: "kept"
    case .appended: "appended"
    case .held: "held"
    }
  }
}

extension Reason {
  package var name: Literal {
    switch self {
    case .notDue: "not_due"
    case .constraints: "constraints"
    case .noHandler: "no_handler"
    case .held: "held"
    case .blocked: "blocked"
    case .running: "running"
    case .kindOff: "kind_off"
    case .didNotFit: "did_not_fit"
    case .stillRunning: "still_running"
    case .terminal: "terminal"
    case .notPermitted: "not_permitted"
    case .hadItsRun: "had_its_run"
    case .tooSoon: "too_soon"
    case .nextCycle: "next_cycle"
    case .interrupted: "interrupted"
    case .governor: "governor"
    case .storeRefuses: "store_refuses"
    case .noThread: "no_thread"
    case .handlerStuck: "handler_stuck"
    case .drained: "drained"
    case .clock: "clock"
    case .paused: "paused"
    case .groupPaused: "group_paused"
    case .groupFull: "group_full"
    case .outOfQuota: "out_of_quota"
    case .conditions: "conditions"
    case .fleetAway: "fleet_away"
    case .kindPaused: "kind_paused"
    case .quarantined: "quarantined"
    case .backingOff: "backing_off"
    case .noWindow: "no_window"
    case .windowOpen: "window_open"
    case .preferredOthers: "preferred_others"
    case .noProcess: "no_process"
    case .notKnown: "not_known"
    case .earlier: "earlier"
    }
  }
}

extension EventType {
  package var name: Literal {
    switch self {
    case .registered: "registered"
    case .started: "started"
    case .stopped: "stopped"
    case .completed: "completed"
    case .retry: "retry"
    case .held: "held"
    case .promoted: "promoted"
    case .cancelled: "cancelled"
    case .cycleBegun: "cycle_begun"
    case .cycleEnded: "cycle_ended"
    case .unblocked: "unblocked"
    case .released: "released"
    case .interrupted: "interrupted"
    case .clockMoved: "clock_moved"
    case .refused: "refused"
    case .granted: "granted"
    case .traceEnded: "trace_ended"
    case .trouble: "trouble"
    case .paused: "paused"
    case .resumed: "resumed"
    case .progress: "progress"
    case .conditionMet: "condition_met"
    case .conditionLost: "condition_lost"
    case .quotaUsedUp: "quota_used_up"
    case .quotaLeft: "quota_left"
    case .outputLost: "output_lost"
    }
  }
}

extension Trouble {
  package var name: Literal {
    switch self {
    case .store: "store"
    case .thread: "thread"
    case .overrun: "overrun"
    case .observer: "observer"
    case .handler: "handler"
    case .clock: "clock"
    case .fleet: "fleet"
    case .fleetClock: "fleet_clock"
    }
  }
}

extension Constraints {
  /// The name of a single bit, or nil.
  package var name: Literal? {
    switch self {
    case .network: "network"
    case .externalPower: "external_power"
    case .unmetered: "unmetered"
    case .batteryNotLow: "battery_not_low"
    case .idle: "idle"
    case .storageNotLow: "storage_not_low"
    case .displayOff: "display_off"
    case .notRoaming: "not_roaming"
    default: nil
    }
  }
}
