// Written by tools/rust.py from include/api.json.
use crate::raw;
use std::fmt;

/// Why a call was refused, or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The kind is switched off.
    Unavailable,
    /// The limit of pending once and periodic tasks of this kind (max_pending_refresh, max_pending_processing; by default there is none), or of waiting successors, is reached.
    TooManyPending,
    /// The scheduler was opened with a list of permitted ids and this is not among them.
    NotPermitted,
    /// The task of a window of one task cannot run now.
    ImmediateRunIneligible,
    /// Expedited tasks have used their quota, and this one has SELENE_TASK_REFUSE_OUT_OF_QUOTA.
    OutOfQuota,
    /// A parameter or a field is outside what is allowed.
    InvalidArgument,
    /// The handle or token was never issued, is closed, or is of another type.
    InvalidHandle,
    /// struct_size is too small, or a later field that this library does not know is set.
    UnsupportedStruct,
    /// The combination that was asked for is not supported, such as library threads with a host clock.
    Unsupported,
    /// The input is larger than the scheduler's max_input_size.
    TooLarge,
    /// No task or handler has that name.
    NotFound,
    /// A handler of that name is registered, or its last run has not returned.
    AlreadyExists,
    /// The run was completed before; the first outcome stands.
    AlreadyCompleted,
    /// The run was stopped, expired, or belongs to an earlier life of the scheduler.
    StaleRun,
    /// A cycle is open, or too many threads are still in handlers that overran.
    Busy,
    /// The minimum interval of the kind has not passed; selene_scheduler_next_wakeup says when.
    TooSoon,
    /// This call is not legal inside a callback of the same scheduler.
    Reentrant,
    /// The scheduler was opened before fork() and belongs to the parent.
    Forked,
    /// A resource of the system or of the library ran out, such as threads.
    Exhausted,
    /// An internal consistency check failed: a bug in this library.
    Internal,
    /// The store cannot be opened or made: a directory, no such folder, no permission, read-only.
    StoreCannotOpen,
    /// Another scheduler, in this process or another, has the store open; the message names the process.
    StoreLocked,
    /// The file is damaged; selene_store_salvage saves what can be read.
    StoreCorrupt,
    /// The file is not a Selene store, or that of another application (option owner); the message names both.
    StoreForeign,
    /// The store was written by a newer version of this library.
    StoreNewer,
    /// The disk or the quota is full; nothing changed.
    StoreFull,
    /// Reading or writing failed; nothing changed.
    StoreIo,
    /// A commit failed midway (a sync, or no memory): the on-disk state is unknown; reopen the store before using it.
    OutcomeUnknown,
    /// The file of the store or its log (the same name with -wal) was removed, renamed or replaced while it was open; nothing changed.
    StoreMoved,
    /// Of a connection: no process serves the store, or the one that did has ended or does not answer.
    OwnerAway,
    /// Of a connection: the process that has the store open does not permit this user to do so.
    Refused,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Status {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Status::Unavailable => raw::SELENE_ERROR_UNAVAILABLE,
            Status::TooManyPending => raw::SELENE_ERROR_TOO_MANY_PENDING,
            Status::NotPermitted => raw::SELENE_ERROR_NOT_PERMITTED,
            Status::ImmediateRunIneligible => raw::SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE,
            Status::OutOfQuota => raw::SELENE_ERROR_OUT_OF_QUOTA,
            Status::InvalidArgument => raw::SELENE_ERROR_INVALID_ARGUMENT,
            Status::InvalidHandle => raw::SELENE_ERROR_INVALID_HANDLE,
            Status::UnsupportedStruct => raw::SELENE_ERROR_UNSUPPORTED_STRUCT,
            Status::Unsupported => raw::SELENE_ERROR_UNSUPPORTED,
            Status::TooLarge => raw::SELENE_ERROR_TOO_LARGE,
            Status::NotFound => raw::SELENE_ERROR_NOT_FOUND,
            Status::AlreadyExists => raw::SELENE_ERROR_ALREADY_EXISTS,
            Status::AlreadyCompleted => raw::SELENE_ERROR_ALREADY_COMPLETED,
            Status::StaleRun => raw::SELENE_ERROR_STALE_RUN,
            Status::Busy => raw::SELENE_ERROR_BUSY,
            Status::TooSoon => raw::SELENE_ERROR_TOO_SOON,
            Status::Reentrant => raw::SELENE_ERROR_REENTRANT,
            Status::Forked => raw::SELENE_ERROR_FORKED,
            Status::Exhausted => raw::SELENE_ERROR_EXHAUSTED,
            Status::Internal => raw::SELENE_ERROR_INTERNAL,
            Status::StoreCannotOpen => raw::SELENE_ERROR_STORE_CANNOT_OPEN,
            Status::StoreLocked => raw::SELENE_ERROR_STORE_LOCKED,
            Status::StoreCorrupt => raw::SELENE_ERROR_STORE_CORRUPT,
            Status::StoreForeign => raw::SELENE_ERROR_STORE_FOREIGN,
            Status::StoreNewer => raw::SELENE_ERROR_STORE_NEWER,
            Status::StoreFull => raw::SELENE_ERROR_STORE_FULL,
            Status::StoreIo => raw::SELENE_ERROR_STORE_IO,
            Status::OutcomeUnknown => raw::SELENE_ERROR_OUTCOME_UNKNOWN,
            Status::StoreMoved => raw::SELENE_ERROR_STORE_MOVED,
            Status::OwnerAway => raw::SELENE_ERROR_OWNER_AWAY,
            Status::Refused => raw::SELENE_ERROR_REFUSED,
            Status::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_ERROR_UNAVAILABLE => Status::Unavailable,
            raw::SELENE_ERROR_TOO_MANY_PENDING => Status::TooManyPending,
            raw::SELENE_ERROR_NOT_PERMITTED => Status::NotPermitted,
            raw::SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE => Status::ImmediateRunIneligible,
            raw::SELENE_ERROR_OUT_OF_QUOTA => Status::OutOfQuota,
            raw::SELENE_ERROR_INVALID_ARGUMENT => Status::InvalidArgument,
            raw::SELENE_ERROR_INVALID_HANDLE => Status::InvalidHandle,
            raw::SELENE_ERROR_UNSUPPORTED_STRUCT => Status::UnsupportedStruct,
            raw::SELENE_ERROR_UNSUPPORTED => Status::Unsupported,
            raw::SELENE_ERROR_TOO_LARGE => Status::TooLarge,
            raw::SELENE_ERROR_NOT_FOUND => Status::NotFound,
            raw::SELENE_ERROR_ALREADY_EXISTS => Status::AlreadyExists,
            raw::SELENE_ERROR_ALREADY_COMPLETED => Status::AlreadyCompleted,
            raw::SELENE_ERROR_STALE_RUN => Status::StaleRun,
            raw::SELENE_ERROR_BUSY => Status::Busy,
            raw::SELENE_ERROR_TOO_SOON => Status::TooSoon,
            raw::SELENE_ERROR_REENTRANT => Status::Reentrant,
            raw::SELENE_ERROR_FORKED => Status::Forked,
            raw::SELENE_ERROR_EXHAUSTED => Status::Exhausted,
            raw::SELENE_ERROR_INTERNAL => Status::Internal,
            raw::SELENE_ERROR_STORE_CANNOT_OPEN => Status::StoreCannotOpen,
            raw::SELENE_ERROR_STORE_LOCKED => Status::StoreLocked,
            raw::SELENE_ERROR_STORE_CORRUPT => Status::StoreCorrupt,
            raw::SELENE_ERROR_STORE_FOREIGN => Status::StoreForeign,
            raw::SELENE_ERROR_STORE_NEWER => Status::StoreNewer,
            raw::SELENE_ERROR_STORE_FULL => Status::StoreFull,
            raw::SELENE_ERROR_STORE_IO => Status::StoreIo,
            raw::SELENE_ERROR_OUTCOME_UNKNOWN => Status::OutcomeUnknown,
            raw::SELENE_ERROR_STORE_MOVED => Status::StoreMoved,
            raw::SELENE_ERROR_OWNER_AWAY => Status::OwnerAway,
            raw::SELENE_ERROR_REFUSED => Status::Refused,
            other => Status::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Status::Unavailable => "UNAVAILABLE",
            Status::TooManyPending => "TOO_MANY_PENDING",
            Status::NotPermitted => "NOT_PERMITTED",
            Status::ImmediateRunIneligible => "IMMEDIATE_RUN_INELIGIBLE",
            Status::OutOfQuota => "OUT_OF_QUOTA",
            Status::InvalidArgument => "INVALID_ARGUMENT",
            Status::InvalidHandle => "INVALID_HANDLE",
            Status::UnsupportedStruct => "UNSUPPORTED_STRUCT",
            Status::Unsupported => "UNSUPPORTED",
            Status::TooLarge => "TOO_LARGE",
            Status::NotFound => "NOT_FOUND",
            Status::AlreadyExists => "ALREADY_EXISTS",
            Status::AlreadyCompleted => "ALREADY_COMPLETED",
            Status::StaleRun => "STALE_RUN",
            Status::Busy => "BUSY",
            Status::TooSoon => "TOO_SOON",
            Status::Reentrant => "REENTRANT",
            Status::Forked => "FORKED",
            Status::Exhausted => "EXHAUSTED",
            Status::Internal => "INTERNAL",
            Status::StoreCannotOpen => "STORE_CANNOT_OPEN",
            Status::StoreLocked => "STORE_LOCKED",
            Status::StoreCorrupt => "STORE_CORRUPT",
            Status::StoreForeign => "STORE_FOREIGN",
            Status::StoreNewer => "STORE_NEWER",
            Status::StoreFull => "STORE_FULL",
            Status::StoreIo => "STORE_IO",
            Status::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Status::StoreMoved => "STORE_MOVED",
            Status::OwnerAway => "OWNER_AWAY",
            Status::Refused => "REFUSED",
            Status::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// How long work takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Short work, seconds.
    Refresh,
    /// Long work, minutes.
    Processing,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Kind {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Kind::Refresh => raw::SELENE_KIND_REFRESH,
            Kind::Processing => raw::SELENE_KIND_PROCESSING,
            Kind::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_KIND_REFRESH => Kind::Refresh,
            raw::SELENE_KIND_PROCESSING => Kind::Processing,
            other => Kind::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Kind::Refresh => "refresh",
            Kind::Processing => "processing",
            Kind::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// When a task is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Schedule {
    /// By period: periodic with one, else once.
    Default,
    /// Until it succeeds, is abandoned, or its attempts are used up.
    Once,
    /// Once a period.
    Periodic,
    /// A candidate in every window, for ever.
    Standing,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Schedule {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Schedule::Default => raw::SELENE_SCHEDULE_DEFAULT,
            Schedule::Once => raw::SELENE_SCHEDULE_ONCE,
            Schedule::Periodic => raw::SELENE_SCHEDULE_PERIODIC,
            Schedule::Standing => raw::SELENE_SCHEDULE_STANDING,
            Schedule::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_SCHEDULE_DEFAULT => Schedule::Default,
            raw::SELENE_SCHEDULE_ONCE => Schedule::Once,
            raw::SELENE_SCHEDULE_PERIODIC => Schedule::Periodic,
            raw::SELENE_SCHEDULE_STANDING => Schedule::Standing,
            other => Schedule::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Default => "default",
            Schedule::Once => "once",
            Schedule::Periodic => "periodic",
            Schedule::Standing => "standing",
            Schedule::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// How important a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Priority {
    /// SELENE_PRIORITY_VERY_LOW of the header.
    VeryLow,
    /// SELENE_PRIORITY_LOW of the header.
    Low,
    /// SELENE_PRIORITY_NORMAL of the header.
    Normal,
    /// SELENE_PRIORITY_HIGH of the header.
    High,
    /// SELENE_PRIORITY_VERY_HIGH of the header.
    VeryHigh,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Priority {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Priority::VeryLow => raw::SELENE_PRIORITY_VERY_LOW,
            Priority::Low => raw::SELENE_PRIORITY_LOW,
            Priority::Normal => raw::SELENE_PRIORITY_NORMAL,
            Priority::High => raw::SELENE_PRIORITY_HIGH,
            Priority::VeryHigh => raw::SELENE_PRIORITY_VERY_HIGH,
            Priority::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_PRIORITY_VERY_LOW => Priority::VeryLow,
            raw::SELENE_PRIORITY_LOW => Priority::Low,
            raw::SELENE_PRIORITY_NORMAL => Priority::Normal,
            raw::SELENE_PRIORITY_HIGH => Priority::High,
            raw::SELENE_PRIORITY_VERY_HIGH => Priority::VeryHigh,
            other => Priority::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Priority::VeryLow => "very_low",
            Priority::Low => "low",
            Priority::Normal => "normal",
            Priority::High => "high",
            Priority::VeryHigh => "very_high",
            Priority::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// What becomes of a task that is registered under the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Existing {
    /// By schedule: keep for once tasks, update for the others.
    Default,
    /// The old record stays exactly as it is.
    Keep,
    /// The old one and all waiting behind it are cancelled (a run in flight is stopped); a new one starts.
    Replace,
    /// The definition is replaced, history is kept.
    Update,
    /// Waits until the one before it succeeds; if that fails or is cancelled, so is this.
    Append,
    /// The same, but starts also after a failure.
    AppendOrReplace,
    /// As KEEP; also what has succeeded stays as it is while its record is there, and what has ended while a task that comes after it needs it: the disposition is then KEPT.
    Skip,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Existing {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Existing::Default => raw::SELENE_EXISTING_DEFAULT,
            Existing::Keep => raw::SELENE_EXISTING_KEEP,
            Existing::Replace => raw::SELENE_EXISTING_REPLACE,
            Existing::Update => raw::SELENE_EXISTING_UPDATE,
            Existing::Append => raw::SELENE_EXISTING_APPEND,
            Existing::AppendOrReplace => raw::SELENE_EXISTING_APPEND_OR_REPLACE,
            Existing::Skip => raw::SELENE_EXISTING_SKIP,
            Existing::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_EXISTING_DEFAULT => Existing::Default,
            raw::SELENE_EXISTING_KEEP => Existing::Keep,
            raw::SELENE_EXISTING_REPLACE => Existing::Replace,
            raw::SELENE_EXISTING_UPDATE => Existing::Update,
            raw::SELENE_EXISTING_APPEND => Existing::Append,
            raw::SELENE_EXISTING_APPEND_OR_REPLACE => Existing::AppendOrReplace,
            raw::SELENE_EXISTING_SKIP => Existing::Skip,
            other => Existing::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Existing::Default => "default",
            Existing::Keep => "keep",
            Existing::Replace => "replace",
            Existing::Update => "update",
            Existing::Append => "append",
            Existing::AppendOrReplace => "append_or_replace",
            Existing::Skip => "skip",
            Existing::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Existing {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// From when a period counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Recurrence {
    /// From the completion of the run.
    AfterCompletion,
    /// On the grid of the first earliest begin; missed periods are skipped.
    Anchored,
    /// Set by the host, for example by a calendar, with selene_task_set_next after registering and at each dispatch.
    Calendar,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Recurrence {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Recurrence::AfterCompletion => raw::SELENE_RECURRENCE_AFTER_COMPLETION,
            Recurrence::Anchored => raw::SELENE_RECURRENCE_ANCHORED,
            Recurrence::Calendar => raw::SELENE_RECURRENCE_CALENDAR,
            Recurrence::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_RECURRENCE_AFTER_COMPLETION => Recurrence::AfterCompletion,
            raw::SELENE_RECURRENCE_ANCHORED => Recurrence::Anchored,
            raw::SELENE_RECURRENCE_CALENDAR => Recurrence::Calendar,
            other => Recurrence::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Recurrence::AfterCompletion => "after_completion",
            Recurrence::Anchored => "anchored",
            Recurrence::Calendar => "calendar",
            Recurrence::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Recurrence {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// How the delay grows from failure to failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backoff {
    /// By schedule: none for standing, exponential for the others.
    Default,
    /// 0.
    None,
    /// d * n.
    Linear,
    /// d * 2^(n-1).
    Exponential,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Backoff {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Backoff::Default => raw::SELENE_BACKOFF_DEFAULT,
            Backoff::None => raw::SELENE_BACKOFF_NONE,
            Backoff::Linear => raw::SELENE_BACKOFF_LINEAR,
            Backoff::Exponential => raw::SELENE_BACKOFF_EXPONENTIAL,
            Backoff::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_BACKOFF_DEFAULT => Backoff::Default,
            raw::SELENE_BACKOFF_NONE => Backoff::None,
            raw::SELENE_BACKOFF_LINEAR => Backoff::Linear,
            raw::SELENE_BACKOFF_EXPONENTIAL => Backoff::Exponential,
            other => Backoff::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Backoff::Default => "default",
            Backoff::None => "none",
            Backoff::Linear => "linear",
            Backoff::Exponential => "exponential",
            Backoff::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Backoff {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// What a registration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Disposition {
    /// A new record.
    Added,
    /// A new record in place of a live one.
    Replaced,
    /// A new definition for the live record.
    Updated,
    /// Nothing.
    Kept,
    /// A successor that waits.
    Appended,
    /// A new record that waits for a free place (SELENE_OPTIONS_HOLD).
    Held,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Disposition {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Disposition::Added => raw::SELENE_DISPOSITION_ADDED,
            Disposition::Replaced => raw::SELENE_DISPOSITION_REPLACED,
            Disposition::Updated => raw::SELENE_DISPOSITION_UPDATED,
            Disposition::Kept => raw::SELENE_DISPOSITION_KEPT,
            Disposition::Appended => raw::SELENE_DISPOSITION_APPENDED,
            Disposition::Held => raw::SELENE_DISPOSITION_HELD,
            Disposition::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_DISPOSITION_ADDED => Disposition::Added,
            raw::SELENE_DISPOSITION_REPLACED => Disposition::Replaced,
            raw::SELENE_DISPOSITION_UPDATED => Disposition::Updated,
            raw::SELENE_DISPOSITION_KEPT => Disposition::Kept,
            raw::SELENE_DISPOSITION_APPENDED => Disposition::Appended,
            raw::SELENE_DISPOSITION_HELD => Disposition::Held,
            other => Disposition::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Disposition::Added => "added",
            Disposition::Replaced => "replaced",
            Disposition::Updated => "updated",
            Disposition::Kept => "kept",
            Disposition::Appended => "appended",
            Disposition::Held => "held",
            Disposition::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Disposition {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// What a task is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// SELENE_STATE_ENQUEUED of the header.
    Enqueued,
    /// Accepted beyond the limit; takes the next free place, higher priority first, then older first.
    Held,
    /// Waits for the task before it.
    Blocked,
    /// SELENE_STATE_RUNNING of the header.
    Running,
    /// Terminal, as the next two.
    Succeeded,
    /// SELENE_STATE_FAILED of the header.
    Failed,
    /// SELENE_STATE_CANCELLED of the header.
    Cancelled,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl State {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            State::Enqueued => raw::SELENE_STATE_ENQUEUED,
            State::Held => raw::SELENE_STATE_HELD,
            State::Blocked => raw::SELENE_STATE_BLOCKED,
            State::Running => raw::SELENE_STATE_RUNNING,
            State::Succeeded => raw::SELENE_STATE_SUCCEEDED,
            State::Failed => raw::SELENE_STATE_FAILED,
            State::Cancelled => raw::SELENE_STATE_CANCELLED,
            State::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_STATE_ENQUEUED => State::Enqueued,
            raw::SELENE_STATE_HELD => State::Held,
            raw::SELENE_STATE_BLOCKED => State::Blocked,
            raw::SELENE_STATE_RUNNING => State::Running,
            raw::SELENE_STATE_SUCCEEDED => State::Succeeded,
            raw::SELENE_STATE_FAILED => State::Failed,
            raw::SELENE_STATE_CANCELLED => State::Cancelled,
            other => State::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            State::Enqueued => "enqueued",
            State::Held => "held",
            State::Blocked => "blocked",
            State::Running => "running",
            State::Succeeded => "succeeded",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
            State::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It worked, and found something new.
    NewData,
    /// It worked, and there was nothing new.
    NoData,
    /// It may be tried again, by backoff and max_attempts.
    Failed,
    /// Failed for good.
    Abandoned,
    /// In reports only: open after the deadline, or after the grace of its timeout or stall limit; counts as failed.
    Expired,
    /// Ended by a stop: no attempt counts, and the task is enqueued again as before the run.
    Stopped,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Outcome {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Outcome::NewData => raw::SELENE_OUTCOME_NEW_DATA,
            Outcome::NoData => raw::SELENE_OUTCOME_NO_DATA,
            Outcome::Failed => raw::SELENE_OUTCOME_FAILED,
            Outcome::Abandoned => raw::SELENE_OUTCOME_ABANDONED,
            Outcome::Expired => raw::SELENE_OUTCOME_EXPIRED,
            Outcome::Stopped => raw::SELENE_OUTCOME_STOPPED,
            Outcome::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_OUTCOME_NEW_DATA => Outcome::NewData,
            raw::SELENE_OUTCOME_NO_DATA => Outcome::NoData,
            raw::SELENE_OUTCOME_FAILED => Outcome::Failed,
            raw::SELENE_OUTCOME_ABANDONED => Outcome::Abandoned,
            raw::SELENE_OUTCOME_EXPIRED => Outcome::Expired,
            raw::SELENE_OUTCOME_STOPPED => Outcome::Stopped,
            other => Outcome::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Outcome::NewData => "new_data",
            Outcome::NoData => "no_data",
            Outcome::Failed => "failed",
            Outcome::Abandoned => "abandoned",
            Outcome::Expired => "expired",
            Outcome::Stopped => "stopped",
            Outcome::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// Why a run is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stop {
    /// The reserve of the window has begun; completing is still possible until the deadline.
    Expiring,
    /// Something more important needs the machine; the task is enqueued again as before the run.
    Preempted,
    /// A constraint is no longer satisfied; enqueued again as before the run.
    ConstraintLost,
    /// A new record took the id.
    Replaced,
    /// SELENE_STOP_CANCELLED of the header.
    Cancelled,
    /// The host ends the work: it closes the scheduler, stops the driver, or drains or ends the window.
    Shutdown,
    /// In records only: its process ended while it ran; counts as failed.
    Interrupted,
    /// Its task's timeout has passed; completing is still possible for stop_grace.
    TimedOut,
    /// It reported no progress for its task's stall_limit; completing is still possible for stop_grace.
    Stalled,
    /// In records only: its task waited when its latest_begin had passed, or could be tried again only then, and has failed.
    TooLate,
    /// A run of a fleet whose node could not renew its lease in the database in time: another node may take the task soon.
    LeaseLost,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Stop {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Stop::Expiring => raw::SELENE_STOP_EXPIRING,
            Stop::Preempted => raw::SELENE_STOP_PREEMPTED,
            Stop::ConstraintLost => raw::SELENE_STOP_CONSTRAINT_LOST,
            Stop::Replaced => raw::SELENE_STOP_REPLACED,
            Stop::Cancelled => raw::SELENE_STOP_CANCELLED,
            Stop::Shutdown => raw::SELENE_STOP_SHUTDOWN,
            Stop::Interrupted => raw::SELENE_STOP_INTERRUPTED,
            Stop::TimedOut => raw::SELENE_STOP_TIMED_OUT,
            Stop::Stalled => raw::SELENE_STOP_STALLED,
            Stop::TooLate => raw::SELENE_STOP_TOO_LATE,
            Stop::LeaseLost => raw::SELENE_STOP_LEASE_LOST,
            Stop::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_STOP_EXPIRING => Stop::Expiring,
            raw::SELENE_STOP_PREEMPTED => Stop::Preempted,
            raw::SELENE_STOP_CONSTRAINT_LOST => Stop::ConstraintLost,
            raw::SELENE_STOP_REPLACED => Stop::Replaced,
            raw::SELENE_STOP_CANCELLED => Stop::Cancelled,
            raw::SELENE_STOP_SHUTDOWN => Stop::Shutdown,
            raw::SELENE_STOP_INTERRUPTED => Stop::Interrupted,
            raw::SELENE_STOP_TIMED_OUT => Stop::TimedOut,
            raw::SELENE_STOP_STALLED => Stop::Stalled,
            raw::SELENE_STOP_TOO_LATE => Stop::TooLate,
            raw::SELENE_STOP_LEASE_LOST => Stop::LeaseLost,
            other => Stop::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Stop::Expiring => "expiring",
            Stop::Preempted => "preempted",
            Stop::ConstraintLost => "constraint_lost",
            Stop::Replaced => "replaced",
            Stop::Cancelled => "cancelled",
            Stop::Shutdown => "shutdown",
            Stop::Interrupted => "interrupted",
            Stop::TimedOut => "timed_out",
            Stop::Stalled => "stalled",
            Stop::TooLate => "too_late",
            Stop::LeaseLost => "lease_lost",
            Stop::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// Why a task does not run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Its earliest begin has not come.
    NotDue,
    /// A constraint is not satisfied; constraints says which.
    Constraints,
    /// No handler has that name; or the last cycle of its kind called handlers, and this one has no function.
    NoHandler,
    /// It is held until a place is free.
    Held,
    /// It waits for the task before it.
    Blocked,
    /// It is running.
    Running,
    /// Its kind is switched off.
    KindOff,
    /// It was eligible in the last cycle of its kind, and its estimate did not fit.
    DidNotFit,
    /// An earlier run of this id is over but has not returned.
    StillRunning,
    /// It has succeeded, failed or been cancelled.
    Terminal,
    /// Its id is not among the permitted ones.
    NotPermitted,
    /// It had its run in the cycle that is open.
    HadItsRun,
    /// The minimum interval of its kind has not passed.
    TooSoon,
    /// A cycle of its kind is open and was begun before the task could run.
    NextCycle,
    /// Its last run was interrupted by the end of its process, and its backoff has not passed.
    Interrupted,
    /// The governor refused its kind the last time it was asked; selene_governor_last says why.
    Governor,
    /// The store refused the last commit (SELENE_TROUBLE_STORE).
    StoreRefuses,
    /// No library thread is available for a window (SELENE_TROUBLE_OVERRUN or _THREAD).
    NoThread,
    /// Its handler's runs have left too many threads behind, and none has come back (SELENE_TROUBLE_HANDLER).
    HandlerStuck,
    /// The scheduler was drained (selene_scheduler_drain).
    Drained,
    /// It waits for a time while the clock has jumped (SELENE_TROUBLE_CLOCK).
    Clock,
    /// The host has paused it (selene_task_pause).
    Paused,
    /// The host has paused its group (selene_group_pause).
    GroupPaused,
    /// As many runs of its group as may are under way (selene_group_set_limit).
    GroupFull,
    /// It is expedited, but the quota is used up: it waits as an ordinary one (expedited_quota).
    OutOfQuota,
    /// A condition of the host is not satisfied; selene_condition_missing says which.
    Conditions,
    /// It belongs to a fleet whose database does not answer, or refuses its node's requests (SELENE_TROUBLE_FLEET): the outcome of its run cannot be reported, and when the lease can no longer be relied on the run is asked to stop.
    FleetAway,
    /// The host has paused its kind, everywhere or in the pool that runs it (selene_scheduler_pause).
    KindPaused,
    /// It may have ended a process, or another task that runs or is next may: of such tasks one runs at a time in a process, and one that is to blame runs alone there (selene_task_info.quarantined).
    Quarantined,
    /// It has failed and is not due again yet.
    BackingOff,
    /// It could run, and no window of its kind was open.
    NoWindow,
    /// A window was open that it fitted, and nothing was taken from it.
    WindowOpen,
    /// A window was open that it fitted, and others were dispatched.
    PreferredOthers,
    /// No process had the store open.
    NoProcess,
    /// Not known: a process had the store open and was killed, or had not yet told the store.
    NotKnown,
    /// Too long ago, or too much has happened since, to be kept.
    Earlier,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Reason {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Reason::NotDue => raw::SELENE_REASON_NOT_DUE,
            Reason::Constraints => raw::SELENE_REASON_CONSTRAINTS,
            Reason::NoHandler => raw::SELENE_REASON_NO_HANDLER,
            Reason::Held => raw::SELENE_REASON_HELD,
            Reason::Blocked => raw::SELENE_REASON_BLOCKED,
            Reason::Running => raw::SELENE_REASON_RUNNING,
            Reason::KindOff => raw::SELENE_REASON_KIND_OFF,
            Reason::DidNotFit => raw::SELENE_REASON_DID_NOT_FIT,
            Reason::StillRunning => raw::SELENE_REASON_STILL_RUNNING,
            Reason::Terminal => raw::SELENE_REASON_TERMINAL,
            Reason::NotPermitted => raw::SELENE_REASON_NOT_PERMITTED,
            Reason::HadItsRun => raw::SELENE_REASON_HAD_ITS_RUN,
            Reason::TooSoon => raw::SELENE_REASON_TOO_SOON,
            Reason::NextCycle => raw::SELENE_REASON_NEXT_CYCLE,
            Reason::Interrupted => raw::SELENE_REASON_INTERRUPTED,
            Reason::Governor => raw::SELENE_REASON_GOVERNOR,
            Reason::StoreRefuses => raw::SELENE_REASON_STORE_REFUSES,
            Reason::NoThread => raw::SELENE_REASON_NO_THREAD,
            Reason::HandlerStuck => raw::SELENE_REASON_HANDLER_STUCK,
            Reason::Drained => raw::SELENE_REASON_DRAINED,
            Reason::Clock => raw::SELENE_REASON_CLOCK,
            Reason::Paused => raw::SELENE_REASON_PAUSED,
            Reason::GroupPaused => raw::SELENE_REASON_GROUP_PAUSED,
            Reason::GroupFull => raw::SELENE_REASON_GROUP_FULL,
            Reason::OutOfQuota => raw::SELENE_REASON_OUT_OF_QUOTA,
            Reason::Conditions => raw::SELENE_REASON_CONDITIONS,
            Reason::FleetAway => raw::SELENE_REASON_FLEET_AWAY,
            Reason::KindPaused => raw::SELENE_REASON_KIND_PAUSED,
            Reason::Quarantined => raw::SELENE_REASON_QUARANTINED,
            Reason::BackingOff => raw::SELENE_REASON_BACKING_OFF,
            Reason::NoWindow => raw::SELENE_REASON_NO_WINDOW,
            Reason::WindowOpen => raw::SELENE_REASON_WINDOW_OPEN,
            Reason::PreferredOthers => raw::SELENE_REASON_PREFERRED_OTHERS,
            Reason::NoProcess => raw::SELENE_REASON_NO_PROCESS,
            Reason::NotKnown => raw::SELENE_REASON_NOT_KNOWN,
            Reason::Earlier => raw::SELENE_REASON_EARLIER,
            Reason::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_REASON_NOT_DUE => Reason::NotDue,
            raw::SELENE_REASON_CONSTRAINTS => Reason::Constraints,
            raw::SELENE_REASON_NO_HANDLER => Reason::NoHandler,
            raw::SELENE_REASON_HELD => Reason::Held,
            raw::SELENE_REASON_BLOCKED => Reason::Blocked,
            raw::SELENE_REASON_RUNNING => Reason::Running,
            raw::SELENE_REASON_KIND_OFF => Reason::KindOff,
            raw::SELENE_REASON_DID_NOT_FIT => Reason::DidNotFit,
            raw::SELENE_REASON_STILL_RUNNING => Reason::StillRunning,
            raw::SELENE_REASON_TERMINAL => Reason::Terminal,
            raw::SELENE_REASON_NOT_PERMITTED => Reason::NotPermitted,
            raw::SELENE_REASON_HAD_ITS_RUN => Reason::HadItsRun,
            raw::SELENE_REASON_TOO_SOON => Reason::TooSoon,
            raw::SELENE_REASON_NEXT_CYCLE => Reason::NextCycle,
            raw::SELENE_REASON_INTERRUPTED => Reason::Interrupted,
            raw::SELENE_REASON_GOVERNOR => Reason::Governor,
            raw::SELENE_REASON_STORE_REFUSES => Reason::StoreRefuses,
            raw::SELENE_REASON_NO_THREAD => Reason::NoThread,
            raw::SELENE_REASON_HANDLER_STUCK => Reason::HandlerStuck,
            raw::SELENE_REASON_DRAINED => Reason::Drained,
            raw::SELENE_REASON_CLOCK => Reason::Clock,
            raw::SELENE_REASON_PAUSED => Reason::Paused,
            raw::SELENE_REASON_GROUP_PAUSED => Reason::GroupPaused,
            raw::SELENE_REASON_GROUP_FULL => Reason::GroupFull,
            raw::SELENE_REASON_OUT_OF_QUOTA => Reason::OutOfQuota,
            raw::SELENE_REASON_CONDITIONS => Reason::Conditions,
            raw::SELENE_REASON_FLEET_AWAY => Reason::FleetAway,
            raw::SELENE_REASON_KIND_PAUSED => Reason::KindPaused,
            raw::SELENE_REASON_QUARANTINED => Reason::Quarantined,
            raw::SELENE_REASON_BACKING_OFF => Reason::BackingOff,
            raw::SELENE_REASON_NO_WINDOW => Reason::NoWindow,
            raw::SELENE_REASON_WINDOW_OPEN => Reason::WindowOpen,
            raw::SELENE_REASON_PREFERRED_OTHERS => Reason::PreferredOthers,
            raw::SELENE_REASON_NO_PROCESS => Reason::NoProcess,
            raw::SELENE_REASON_NOT_KNOWN => Reason::NotKnown,
            raw::SELENE_REASON_EARLIER => Reason::Earlier,
            other => Reason::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Reason::NotDue => "not_due",
            Reason::Constraints => "constraints",
            Reason::NoHandler => "no_handler",
            Reason::Held => "held",
            Reason::Blocked => "blocked",
            Reason::Running => "running",
            Reason::KindOff => "kind_off",
            Reason::DidNotFit => "did_not_fit",
            Reason::StillRunning => "still_running",
            Reason::Terminal => "terminal",
            Reason::NotPermitted => "not_permitted",
            Reason::HadItsRun => "had_its_run",
            Reason::TooSoon => "too_soon",
            Reason::NextCycle => "next_cycle",
            Reason::Interrupted => "interrupted",
            Reason::Governor => "governor",
            Reason::StoreRefuses => "store_refuses",
            Reason::NoThread => "no_thread",
            Reason::HandlerStuck => "handler_stuck",
            Reason::Drained => "drained",
            Reason::Clock => "clock",
            Reason::Paused => "paused",
            Reason::GroupPaused => "group_paused",
            Reason::GroupFull => "group_full",
            Reason::OutOfQuota => "out_of_quota",
            Reason::Conditions => "conditions",
            Reason::FleetAway => "fleet_away",
            Reason::KindPaused => "kind_paused",
            Reason::Quarantined => "quarantined",
            Reason::BackingOff => "backing_off",
            Reason::NoWindow => "no_window",
            Reason::WindowOpen => "window_open",
            Reason::PreferredOthers => "preferred_others",
            Reason::NoProcess => "no_process",
            Reason::NotKnown => "not_known",
            Reason::Earlier => "earlier",
            Reason::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// What an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventType {
    /// A register call changed something; detail says what.
    Registered,
    /// A run was dispatched.
    Started,
    /// A run was asked to stop.
    Stopped,
    /// A run is decided; or, without a run, a successor failed before it started.
    Completed,
    /// The task will be tried again at time_at.
    Retry,
    /// The task waits for a free place.
    Held,
    /// A held task took a free place.
    Promoted,
    /// SELENE_EVENT_CANCELLED of the header.
    Cancelled,
    /// SELENE_EVENT_CYCLE_BEGUN of the header.
    CycleBegun,
    /// SELENE_EVENT_CYCLE_ENDED of the header.
    CycleEnded,
    /// A successor took the place of the task before it.
    Unblocked,
    /// A run that did not return was released after release_after; its id is free.
    Released,
    /// The task was running when its process ended; detail: a SELENE_SUSPICION_ number, or 0.
    Interrupted,
    /// At open: the time last seen by the store was more than 24 h ahead of the wall clock and was treated as a mistake; all stored instants were moved by time_at ns.
    ClockMoved,
    /// The governor refused a window of kinds; asking again may be worth it at time_at.
    Refused,
    /// The governor granted a window of kinds.
    Granted,
    /// The recording of a trace ended, because the file could not be written.
    TraceEnded,
    /// Something keeps the scheduler from working, or no longer does; detail says what, status whether.
    Trouble,
    /// A task was paused; without a task: the kinds in kinds, until time_at, in the pool whose name is in message (empty: everywhere); without kinds: the group whose name is in message.
    Paused,
    /// What was paused goes on: a task, kinds (also when their time has come), or a group.
    Resumed,
    /// A run reported its progress (selene_run_progress): the first report at once, later ones at most four times a second of scheduler time, and always the last one, before the end of the run.
    Progress,
    /// A condition of the host is satisfied now (selene_condition_set); message is its name.
    ConditionMet,
    /// A condition of the host is no longer satisfied; message is its name.
    ConditionLost,
    /// The quota of expedited tasks is used up: they are ordinary ones until something is left again, at time_at if no more of it is used (expedited_quota).
    QuotaUsedUp,
    /// Something of the quota of expedited tasks is left again.
    QuotaLeft,
    /// A run has succeeded, and what it left is not kept, because it is too long (max_output_size): progress_done has its bytes, progress_total how many are kept at most.
    OutputLost,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl EventType {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            EventType::Registered => raw::SELENE_EVENT_REGISTERED,
            EventType::Started => raw::SELENE_EVENT_STARTED,
            EventType::Stopped => raw::SELENE_EVENT_STOPPED,
            EventType::Completed => raw::SELENE_EVENT_COMPLETED,
            EventType::Retry => raw::SELENE_EVENT_RETRY,
            EventType::Held => raw::SELENE_EVENT_HELD,
            EventType::Promoted => raw::SELENE_EVENT_PROMOTED,
            EventType::Cancelled => raw::SELENE_EVENT_CANCELLED,
            EventType::CycleBegun => raw::SELENE_EVENT_CYCLE_BEGUN,
            EventType::CycleEnded => raw::SELENE_EVENT_CYCLE_ENDED,
            EventType::Unblocked => raw::SELENE_EVENT_UNBLOCKED,
            EventType::Released => raw::SELENE_EVENT_RELEASED,
            EventType::Interrupted => raw::SELENE_EVENT_INTERRUPTED,
            EventType::ClockMoved => raw::SELENE_EVENT_CLOCK_MOVED,
            EventType::Refused => raw::SELENE_EVENT_REFUSED,
            EventType::Granted => raw::SELENE_EVENT_GRANTED,
            EventType::TraceEnded => raw::SELENE_EVENT_TRACE_ENDED,
            EventType::Trouble => raw::SELENE_EVENT_TROUBLE,
            EventType::Paused => raw::SELENE_EVENT_PAUSED,
            EventType::Resumed => raw::SELENE_EVENT_RESUMED,
            EventType::Progress => raw::SELENE_EVENT_PROGRESS,
            EventType::ConditionMet => raw::SELENE_EVENT_CONDITION_MET,
            EventType::ConditionLost => raw::SELENE_EVENT_CONDITION_LOST,
            EventType::QuotaUsedUp => raw::SELENE_EVENT_QUOTA_USED_UP,
            EventType::QuotaLeft => raw::SELENE_EVENT_QUOTA_LEFT,
            EventType::OutputLost => raw::SELENE_EVENT_OUTPUT_LOST,
            EventType::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_EVENT_REGISTERED => EventType::Registered,
            raw::SELENE_EVENT_STARTED => EventType::Started,
            raw::SELENE_EVENT_STOPPED => EventType::Stopped,
            raw::SELENE_EVENT_COMPLETED => EventType::Completed,
            raw::SELENE_EVENT_RETRY => EventType::Retry,
            raw::SELENE_EVENT_HELD => EventType::Held,
            raw::SELENE_EVENT_PROMOTED => EventType::Promoted,
            raw::SELENE_EVENT_CANCELLED => EventType::Cancelled,
            raw::SELENE_EVENT_CYCLE_BEGUN => EventType::CycleBegun,
            raw::SELENE_EVENT_CYCLE_ENDED => EventType::CycleEnded,
            raw::SELENE_EVENT_UNBLOCKED => EventType::Unblocked,
            raw::SELENE_EVENT_RELEASED => EventType::Released,
            raw::SELENE_EVENT_INTERRUPTED => EventType::Interrupted,
            raw::SELENE_EVENT_CLOCK_MOVED => EventType::ClockMoved,
            raw::SELENE_EVENT_REFUSED => EventType::Refused,
            raw::SELENE_EVENT_GRANTED => EventType::Granted,
            raw::SELENE_EVENT_TRACE_ENDED => EventType::TraceEnded,
            raw::SELENE_EVENT_TROUBLE => EventType::Trouble,
            raw::SELENE_EVENT_PAUSED => EventType::Paused,
            raw::SELENE_EVENT_RESUMED => EventType::Resumed,
            raw::SELENE_EVENT_PROGRESS => EventType::Progress,
            raw::SELENE_EVENT_CONDITION_MET => EventType::ConditionMet,
            raw::SELENE_EVENT_CONDITION_LOST => EventType::ConditionLost,
            raw::SELENE_EVENT_QUOTA_USED_UP => EventType::QuotaUsedUp,
            raw::SELENE_EVENT_QUOTA_LEFT => EventType::QuotaLeft,
            raw::SELENE_EVENT_OUTPUT_LOST => EventType::OutputLost,
            other => EventType::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            EventType::Registered => "registered",
            EventType::Started => "started",
            EventType::Stopped => "stopped",
            EventType::Completed => "completed",
            EventType::Retry => "retry",
            EventType::Held => "held",
            EventType::Promoted => "promoted",
            EventType::Cancelled => "cancelled",
            EventType::CycleBegun => "cycle_begun",
            EventType::CycleEnded => "cycle_ended",
            EventType::Unblocked => "unblocked",
            EventType::Released => "released",
            EventType::Interrupted => "interrupted",
            EventType::ClockMoved => "clock_moved",
            EventType::Refused => "refused",
            EventType::Granted => "granted",
            EventType::TraceEnded => "trace_ended",
            EventType::Trouble => "trouble",
            EventType::Paused => "paused",
            EventType::Resumed => "resumed",
            EventType::Progress => "progress",
            EventType::ConditionMet => "condition_met",
            EventType::ConditionLost => "condition_lost",
            EventType::QuotaUsedUp => "quota_used_up",
            EventType::QuotaLeft => "quota_left",
            EventType::OutputLost => "output_lost",
            EventType::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// What the governor asks for before it grants a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// Nothing but constraints.
    Open,
    /// What a phone's system requires.
    Apple,
    /// What a server requires: that the machine is not under load.
    Server,
    /// All of both, for both kinds.
    Strict,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Profile {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Profile::Open => raw::SELENE_PROFILE_OPEN,
            Profile::Apple => raw::SELENE_PROFILE_APPLE,
            Profile::Server => raw::SELENE_PROFILE_SERVER,
            Profile::Strict => raw::SELENE_PROFILE_STRICT,
            Profile::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_PROFILE_OPEN => Profile::Open,
            raw::SELENE_PROFILE_APPLE => Profile::Apple,
            raw::SELENE_PROFILE_SERVER => Profile::Server,
            raw::SELENE_PROFILE_STRICT => Profile::Strict,
            other => Profile::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Profile::Open => "open",
            Profile::Apple => "apple",
            Profile::Server => "server",
            Profile::Strict => "strict",
            Profile::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// What the governor looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// Charge of all batteries, 0 … 1000.
    BatteryLevel,
    /// 1 on external power.
    ExternalPower,
    /// 1 while the system should save power.
    LowPowerMode,
    /// 0 nominal, 1 fair (set by hosts only), 2 serious, 3 critical.
    Thermal,
    /// 1 while a person works at the machine.
    UserActive,
    /// 1 while a display is on.
    DisplayOn,
    /// 1 once a person has unlocked the machine since it started.
    Unlocked,
    /// 1 while a network is reachable.
    Network,
    /// 1 while the network costs by volume.
    Metered,
    /// 1 while all wireless radios are switched off.
    Airplane,
    /// 0 when the user does not permit this host to work in the background.
    BackgroundSwitch,
    /// A SELENE_PRESENCE_ number.
    HostPresence,
    /// Share of CPU time that is not idle: in the last seconds, or at this moment where none were observed.
    CpuBusy,
    /// Share of the last 10 s in which some task waited for a CPU (pressure stall information).
    CpuPressure,
    /// Likewise for memory.
    MemoryPressure,
    /// Share of the last 10 s in which all tasks waited for memory.
    MemoryStalled,
    /// Some task waited for input or output.
    IoPressure,
    /// All tasks waited for input or output.
    IoStalled,
    /// Free share of the file system that holds the store; without a store set by the host.
    StorageFree,
    /// 1 while a battery of the machine is being emptied.
    Discharging,
    /// Local time minus UTC in seconds, −64 800 … 64 800.
    UtcOffset,
    /// 1 while roaming, which may cost more; for constraints only, no factor uses it.
    Roaming,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Signal {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Signal::BatteryLevel => raw::SELENE_SIGNAL_BATTERY_LEVEL,
            Signal::ExternalPower => raw::SELENE_SIGNAL_EXTERNAL_POWER,
            Signal::LowPowerMode => raw::SELENE_SIGNAL_LOW_POWER_MODE,
            Signal::Thermal => raw::SELENE_SIGNAL_THERMAL,
            Signal::UserActive => raw::SELENE_SIGNAL_USER_ACTIVE,
            Signal::DisplayOn => raw::SELENE_SIGNAL_DISPLAY_ON,
            Signal::Unlocked => raw::SELENE_SIGNAL_UNLOCKED,
            Signal::Network => raw::SELENE_SIGNAL_NETWORK,
            Signal::Metered => raw::SELENE_SIGNAL_METERED,
            Signal::Airplane => raw::SELENE_SIGNAL_AIRPLANE,
            Signal::BackgroundSwitch => raw::SELENE_SIGNAL_BACKGROUND_SWITCH,
            Signal::HostPresence => raw::SELENE_SIGNAL_HOST_PRESENCE,
            Signal::CpuBusy => raw::SELENE_SIGNAL_CPU_BUSY,
            Signal::CpuPressure => raw::SELENE_SIGNAL_CPU_PRESSURE,
            Signal::MemoryPressure => raw::SELENE_SIGNAL_MEMORY_PRESSURE,
            Signal::MemoryStalled => raw::SELENE_SIGNAL_MEMORY_STALLED,
            Signal::IoPressure => raw::SELENE_SIGNAL_IO_PRESSURE,
            Signal::IoStalled => raw::SELENE_SIGNAL_IO_STALLED,
            Signal::StorageFree => raw::SELENE_SIGNAL_STORAGE_FREE,
            Signal::Discharging => raw::SELENE_SIGNAL_DISCHARGING,
            Signal::UtcOffset => raw::SELENE_SIGNAL_UTC_OFFSET,
            Signal::Roaming => raw::SELENE_SIGNAL_ROAMING,
            Signal::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_SIGNAL_BATTERY_LEVEL => Signal::BatteryLevel,
            raw::SELENE_SIGNAL_EXTERNAL_POWER => Signal::ExternalPower,
            raw::SELENE_SIGNAL_LOW_POWER_MODE => Signal::LowPowerMode,
            raw::SELENE_SIGNAL_THERMAL => Signal::Thermal,
            raw::SELENE_SIGNAL_USER_ACTIVE => Signal::UserActive,
            raw::SELENE_SIGNAL_DISPLAY_ON => Signal::DisplayOn,
            raw::SELENE_SIGNAL_UNLOCKED => Signal::Unlocked,
            raw::SELENE_SIGNAL_NETWORK => Signal::Network,
            raw::SELENE_SIGNAL_METERED => Signal::Metered,
            raw::SELENE_SIGNAL_AIRPLANE => Signal::Airplane,
            raw::SELENE_SIGNAL_BACKGROUND_SWITCH => Signal::BackgroundSwitch,
            raw::SELENE_SIGNAL_HOST_PRESENCE => Signal::HostPresence,
            raw::SELENE_SIGNAL_CPU_BUSY => Signal::CpuBusy,
            raw::SELENE_SIGNAL_CPU_PRESSURE => Signal::CpuPressure,
            raw::SELENE_SIGNAL_MEMORY_PRESSURE => Signal::MemoryPressure,
            raw::SELENE_SIGNAL_MEMORY_STALLED => Signal::MemoryStalled,
            raw::SELENE_SIGNAL_IO_PRESSURE => Signal::IoPressure,
            raw::SELENE_SIGNAL_IO_STALLED => Signal::IoStalled,
            raw::SELENE_SIGNAL_STORAGE_FREE => Signal::StorageFree,
            raw::SELENE_SIGNAL_DISCHARGING => Signal::Discharging,
            raw::SELENE_SIGNAL_UTC_OFFSET => Signal::UtcOffset,
            raw::SELENE_SIGNAL_ROAMING => Signal::Roaming,
            other => Signal::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Signal::BatteryLevel => "battery_level",
            Signal::ExternalPower => "external_power",
            Signal::LowPowerMode => "low_power_mode",
            Signal::Thermal => "thermal",
            Signal::UserActive => "user_active",
            Signal::DisplayOn => "display_on",
            Signal::Unlocked => "unlocked",
            Signal::Network => "network",
            Signal::Metered => "metered",
            Signal::Airplane => "airplane",
            Signal::BackgroundSwitch => "background_switch",
            Signal::HostPresence => "host_presence",
            Signal::CpuBusy => "cpu_busy",
            Signal::CpuPressure => "cpu_pressure",
            Signal::MemoryPressure => "memory_pressure",
            Signal::MemoryStalled => "memory_stalled",
            Signal::IoPressure => "io_pressure",
            Signal::IoStalled => "io_stalled",
            Signal::StorageFree => "storage_free",
            Signal::Discharging => "discharging",
            Signal::UtcOffset => "utc_offset",
            Signal::Roaming => "roaming",
            Signal::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// What a profile can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Factor {
    /// The level while discharging, 1000 otherwise; at least.
    Battery,
    /// … the factors 2 to 19 have the numbers and units of SELENE_SIGNAL_EXTERNAL_POWER … _STORAGE_FREE.
    ExternalPower,
    /// SELENE_FACTOR_LOW_POWER_MODE of the header.
    LowPowerMode,
    /// SELENE_FACTOR_THERMAL of the header.
    Thermal,
    /// SELENE_FACTOR_USER_ACTIVE of the header.
    UserActive,
    /// SELENE_FACTOR_DISPLAY_ON of the header.
    DisplayOn,
    /// SELENE_FACTOR_UNLOCKED of the header.
    Unlocked,
    /// SELENE_FACTOR_NETWORK of the header.
    Network,
    /// SELENE_FACTOR_METERED of the header.
    Metered,
    /// SELENE_FACTOR_AIRPLANE of the header.
    Airplane,
    /// SELENE_FACTOR_BACKGROUND_SWITCH of the header.
    BackgroundSwitch,
    /// SELENE_FACTOR_HOST_PRESENCE of the header.
    HostPresence,
    /// SELENE_FACTOR_CPU_BUSY of the header.
    CpuBusy,
    /// SELENE_FACTOR_CPU_PRESSURE of the header.
    CpuPressure,
    /// SELENE_FACTOR_MEMORY_PRESSURE of the header.
    MemoryPressure,
    /// SELENE_FACTOR_MEMORY_STALLED of the header.
    MemoryStalled,
    /// SELENE_FACTOR_IO_PRESSURE of the header.
    IoPressure,
    /// SELENE_FACTOR_IO_STALLED of the header.
    IoStalled,
    /// SELENE_FACTOR_STORAGE_FREE of the header.
    StorageFree,
    /// A quota of the kind is spent.
    Budget,
    /// ns since the kind's last window began; at least.
    Rate,
    /// How well the present hour suits the kind: refresh prefers hours of use, processing hours without.
    UsePrediction,
    /// ns since the host was last used; at most.
    RecentUse,
    /// A number of a library that is newer than this crate.
    Other(i32),
}

impl Factor {
    /// The number that the header has for it.
    pub fn number(self) -> i32 {
        match self {
            Factor::Battery => raw::SELENE_FACTOR_BATTERY,
            Factor::ExternalPower => raw::SELENE_FACTOR_EXTERNAL_POWER,
            Factor::LowPowerMode => raw::SELENE_FACTOR_LOW_POWER_MODE,
            Factor::Thermal => raw::SELENE_FACTOR_THERMAL,
            Factor::UserActive => raw::SELENE_FACTOR_USER_ACTIVE,
            Factor::DisplayOn => raw::SELENE_FACTOR_DISPLAY_ON,
            Factor::Unlocked => raw::SELENE_FACTOR_UNLOCKED,
            Factor::Network => raw::SELENE_FACTOR_NETWORK,
            Factor::Metered => raw::SELENE_FACTOR_METERED,
            Factor::Airplane => raw::SELENE_FACTOR_AIRPLANE,
            Factor::BackgroundSwitch => raw::SELENE_FACTOR_BACKGROUND_SWITCH,
            Factor::HostPresence => raw::SELENE_FACTOR_HOST_PRESENCE,
            Factor::CpuBusy => raw::SELENE_FACTOR_CPU_BUSY,
            Factor::CpuPressure => raw::SELENE_FACTOR_CPU_PRESSURE,
            Factor::MemoryPressure => raw::SELENE_FACTOR_MEMORY_PRESSURE,
            Factor::MemoryStalled => raw::SELENE_FACTOR_MEMORY_STALLED,
            Factor::IoPressure => raw::SELENE_FACTOR_IO_PRESSURE,
            Factor::IoStalled => raw::SELENE_FACTOR_IO_STALLED,
            Factor::StorageFree => raw::SELENE_FACTOR_STORAGE_FREE,
            Factor::Budget => raw::SELENE_FACTOR_BUDGET,
            Factor::Rate => raw::SELENE_FACTOR_RATE,
            Factor::UsePrediction => raw::SELENE_FACTOR_USE_PREDICTION,
            Factor::RecentUse => raw::SELENE_FACTOR_RECENT_USE,
            Factor::Other(number) => number,
        }
    }

    /// What a number of the header stands for.
    pub fn of(number: i32) -> Self {
        match number {
            raw::SELENE_FACTOR_BATTERY => Factor::Battery,
            raw::SELENE_FACTOR_EXTERNAL_POWER => Factor::ExternalPower,
            raw::SELENE_FACTOR_LOW_POWER_MODE => Factor::LowPowerMode,
            raw::SELENE_FACTOR_THERMAL => Factor::Thermal,
            raw::SELENE_FACTOR_USER_ACTIVE => Factor::UserActive,
            raw::SELENE_FACTOR_DISPLAY_ON => Factor::DisplayOn,
            raw::SELENE_FACTOR_UNLOCKED => Factor::Unlocked,
            raw::SELENE_FACTOR_NETWORK => Factor::Network,
            raw::SELENE_FACTOR_METERED => Factor::Metered,
            raw::SELENE_FACTOR_AIRPLANE => Factor::Airplane,
            raw::SELENE_FACTOR_BACKGROUND_SWITCH => Factor::BackgroundSwitch,
            raw::SELENE_FACTOR_HOST_PRESENCE => Factor::HostPresence,
            raw::SELENE_FACTOR_CPU_BUSY => Factor::CpuBusy,
            raw::SELENE_FACTOR_CPU_PRESSURE => Factor::CpuPressure,
            raw::SELENE_FACTOR_MEMORY_PRESSURE => Factor::MemoryPressure,
            raw::SELENE_FACTOR_MEMORY_STALLED => Factor::MemoryStalled,
            raw::SELENE_FACTOR_IO_PRESSURE => Factor::IoPressure,
            raw::SELENE_FACTOR_IO_STALLED => Factor::IoStalled,
            raw::SELENE_FACTOR_STORAGE_FREE => Factor::StorageFree,
            raw::SELENE_FACTOR_BUDGET => Factor::Budget,
            raw::SELENE_FACTOR_RATE => Factor::Rate,
            raw::SELENE_FACTOR_USE_PREDICTION => Factor::UsePrediction,
            raw::SELENE_FACTOR_RECENT_USE => Factor::RecentUse,
            other => Factor::Other(other),
        }
    }

    /// Its name in the header, or "unknown".
    pub fn name(self) -> &'static str {
        match self {
            Factor::Battery => "battery",
            Factor::ExternalPower => "external_power",
            Factor::LowPowerMode => "low_power_mode",
            Factor::Thermal => "thermal",
            Factor::UserActive => "user_active",
            Factor::DisplayOn => "display_on",
            Factor::Unlocked => "unlocked",
            Factor::Network => "network",
            Factor::Metered => "metered",
            Factor::Airplane => "airplane",
            Factor::BackgroundSwitch => "background_switch",
            Factor::HostPresence => "host_presence",
            Factor::CpuBusy => "cpu_busy",
            Factor::CpuPressure => "cpu_pressure",
            Factor::MemoryPressure => "memory_pressure",
            Factor::MemoryStalled => "memory_stalled",
            Factor::IoPressure => "io_pressure",
            Factor::IoStalled => "io_stalled",
            Factor::StorageFree => "storage_free",
            Factor::Budget => "budget",
            Factor::Rate => "rate",
            Factor::UsePrediction => "use_prediction",
            Factor::RecentUse => "recent_use",
            Factor::Other(_) => "unknown",
        }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

/// Any number of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kinds(pub(crate) u32);

impl Kinds {
    /// None.
    pub const NONE: Kinds = Kinds(0);
    /// Short work, seconds.
    pub const REFRESH: Kinds = Kinds(raw::SELENE_KIND_REFRESH as u32);
    /// Long work, minutes.
    pub const PROCESSING: Kinds = Kinds(raw::SELENE_KIND_PROCESSING as u32);
    /// All that this crate knows.
    pub const ALL: Kinds = Kinds(raw::SELENE_KIND_REFRESH as u32 | raw::SELENE_KIND_PROCESSING as u32);

    /// Those of the header's bits.
    pub fn of(bits: u32) -> Self {
        Kinds(bits)
    }

    /// The header's bits.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether all of these are among them.
    pub fn contains(self, all: Self) -> bool {
        self.0 & all.0 == all.0
    }
}

impl std::ops::BitOr for Kinds {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Kinds(self.0 | other.0)
    }
}

/// Conditions that a task may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Constraints(pub(crate) u32);

impl Constraints {
    /// None.
    pub const NONE: Constraints = Constraints(0);
    /// A network is reachable (NETWORK).
    pub const NETWORK: Constraints = Constraints(raw::SELENE_CONSTRAINT_NETWORK as u32);
    /// The machine is on external power (EXTERNAL_POWER).
    pub const EXTERNAL_POWER: Constraints = Constraints(raw::SELENE_CONSTRAINT_EXTERNAL_POWER as u32);
    /// A network is reachable and does not cost by volume (NETWORK, METERED, which only a host knows).
    pub const UNMETERED: Constraints = Constraints(raw::SELENE_CONSTRAINT_UNMETERED as u32);
    /// No battery is being emptied, or 20 % or more of it is left (DISCHARGING, BATTERY_LEVEL).
    pub const BATTERY_NOT_LOW: Constraints = Constraints(raw::SELENE_CONSTRAINT_BATTERY_NOT_LOW as u32);
    /// No user is active (USER_ACTIVE).
    pub const IDLE: Constraints = Constraints(raw::SELENE_CONSTRAINT_IDLE as u32);
    /// 5 % or more of the file system that holds the store is free (STORAGE_FREE).
    pub const STORAGE_NOT_LOW: Constraints = Constraints(raw::SELENE_CONSTRAINT_STORAGE_NOT_LOW as u32);
    /// No display is on (DISPLAY_ON).
    pub const DISPLAY_OFF: Constraints = Constraints(raw::SELENE_CONSTRAINT_DISPLAY_OFF as u32);
    /// A network is reachable and is not roaming (NETWORK, ROAMING, which only a host knows).
    pub const NOT_ROAMING: Constraints = Constraints(raw::SELENE_CONSTRAINT_NOT_ROAMING as u32);
    /// All that this crate knows.
    pub const ALL: Constraints = Constraints(raw::SELENE_CONSTRAINT_NETWORK as u32 | raw::SELENE_CONSTRAINT_EXTERNAL_POWER as u32 | raw::SELENE_CONSTRAINT_UNMETERED as u32 | raw::SELENE_CONSTRAINT_BATTERY_NOT_LOW as u32 | raw::SELENE_CONSTRAINT_IDLE as u32 | raw::SELENE_CONSTRAINT_STORAGE_NOT_LOW as u32 | raw::SELENE_CONSTRAINT_DISPLAY_OFF as u32 | raw::SELENE_CONSTRAINT_NOT_ROAMING as u32);

    /// Those of the header's bits.
    pub fn of(bits: u32) -> Self {
        Constraints(bits)
    }

    /// The header's bits.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether all of these are among them.
    pub fn contains(self, all: Self) -> bool {
        self.0 & all.0 == all.0
    }
}

impl std::ops::BitOr for Constraints {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Constraints(self.0 | other.0)
    }
}
