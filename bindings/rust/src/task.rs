//! Tasks, as they are described and as they are.

use crate::error::{bytes, defaults, length, slice, string, text};
use crate::numbers::{
    Backoff, Constraints, Existing, Kind, Kinds, Outcome, Priority, Reason, Recurrence, Schedule, State, Stop,
};
use crate::raw;
use crate::time::{instant, maybe, nanoseconds, said, span};
use std::fmt;
use std::time::{Duration, SystemTime};

/// What a task is; what is not said has the library's default.
#[derive(Clone)]
pub struct Task {
    /// Its texts stay empty.
    raw: raw::selene_task,
    id: String,
    handler: String,
    tags: Vec<String>,
    after: Vec<String>,
    conditions: Vec<String>,
    group: String,
    input: Vec<u8>,
}

// The pointers in it are NULL until it is registered, and then those of a copy.
unsafe impl Send for Task {}
unsafe impl Sync for Task {}

impl Task {
    fn new(id: impl Into<String>, schedule: Schedule) -> Task {
        let mut raw = defaults!(selene_task);
        raw.schedule = schedule.number();
        Task { raw, id: id.into(), handler: String::new(), tags: Vec::new(), after: Vec::new(), conditions: Vec::new(), group: String::new(), input: Vec::new() }
    }
    /// A candidate in every window.
    pub fn standing(id: impl Into<String>) -> Task {
        Task::new(id, Schedule::Standing)
    }
    /// Work that is done once.
    pub fn once(id: impl Into<String>) -> Task {
        Task::new(id, Schedule::Once)
    }
    /// Work that is due again and again, each time after the period.
    pub fn periodic(id: impl Into<String>, period: Duration) -> Task {
        let mut task = Task::new(id, Schedule::Periodic);
        task.raw.period = nanoseconds(period);
        task
    }

    /// Where the schedule is a value.
    pub fn schedule(mut self, schedule: Schedule) -> Task {
        self.raw.schedule = schedule.number();
        self
    }
    /// Where the period is a value.
    pub fn period(mut self, period: Duration) -> Task {
        self.raw.period = nanoseconds(period);
        self
    }
    /// The name of its handler; default: the id.
    pub fn handler(mut self, name: impl Into<String>) -> Task {
        self.handler = name.into();
        self
    }
    /// What it shares a limit of runs at a time with, and a pause; default: none.
    pub fn group(mut self, name: impl Into<String>) -> Task {
        self.group = name.into();
        self
    }
    /// Default: refresh.
    pub fn kind(mut self, kind: Kind) -> Task {
        self.raw.kind = kind.number();
        self
    }
    /// Default: normal.
    pub fn priority(mut self, priority: Priority) -> Task {
        self.raw.priority = priority.number();
        self
    }
    /// What becomes of a task of that id; default: a once task is kept, the others are updated.
    pub fn existing(mut self, existing: Existing) -> Task {
        self.raw.existing = existing.number();
        self
    }
    /// Default: after completion.
    pub fn recurrence(mut self, recurrence: Recurrence) -> Task {
        self.raw.recurrence = recurrence.number();
        self
    }
    /// How the delay grows from failure to failure, and its first.
    pub fn backoff(mut self, backoff: Backoff, delay: Duration) -> Task {
        self.raw.backoff = backoff.number();
        self.backoff_delay(delay)
    }
    /// The first delay alone.
    pub fn backoff_delay(mut self, delay: Duration) -> Task {
        self.raw.backoff_delay = said(delay);
        self
    }
    /// What a run is expected to take while nothing is known; unless said, what its handler's runs took.
    pub fn expected_response(mut self, time: Duration) -> Task {
        self.raw.expected_response = said(time);
        self
    }
    /// How many response times its estimate is the mean of.
    pub fn response_window(mut self, count: i32) -> Task {
        self.raw.response_window = match count {
            0 => raw::SELENE_NONE,
            raw::SELENE_NONE => i32::MIN,
            said => said,
        };
        self
    }
    /// Until its first run.
    pub fn initial_delay(mut self, delay: Duration) -> Task {
        self.raw.initial_delay = nanoseconds(delay);
        self
    }
    /// How much before the end of its period it may run.
    pub fn flex(mut self, flex: Duration) -> Task {
        self.raw.flex = nanoseconds(flex);
        self
    }
    /// After which, from registration, it has failed unless it began; once tasks only.
    pub fn latest_begin(mut self, latest: Duration) -> Task {
        self.raw.latest_begin = nanoseconds(latest);
        self
    }
    /// Makes the initial delay and each period longer by a random part of at most so many per mille, 0 … 1000.
    pub fn jitter(mut self, per_mille: u32) -> Task {
        self.raw.jitter = per_mille;
        self
    }
    /// After which a run is asked to stop.
    pub fn timeout(mut self, timeout: Duration) -> Task {
        self.raw.timeout = nanoseconds(timeout);
        self
    }
    /// After which a run that tells no progress is asked to stop.
    pub fn stall_limit(mut self, limit: Duration) -> Task {
        self.raw.stall_limit = nanoseconds(limit);
        self
    }
    /// 0: no limit.
    pub fn max_attempts(mut self, count: u32) -> Task {
        self.raw.max_attempts = count;
        self
    }
    /// What must hold while it runs.
    pub fn requires(mut self, constraints: Constraints) -> Task {
        self.raw.constraints = constraints.bits();
        self
    }
    /// One more tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Task {
        self.tags.push(tag.into());
        self
    }
    /// One more condition of the host that must be satisfied (`Scheduler::define_condition`).
    pub fn condition(mut self, name: impl Into<String>) -> Task {
        self.conditions.push(name.into());
        self
    }
    /// One more once task that it comes after, which is registered: it waits until that has succeeded, and fails or is
    /// cancelled with it.
    pub fn after(mut self, id: impl Into<String>) -> Task {
        self.after.push(id.into());
        self
    }
    /// It starts when those that it comes after have ended, however they did.
    pub fn after_any_end(mut self) -> Task {
        self.raw.flags |= raw::SELENE_TASK_AFTER_ANY_END as u32;
        self
    }
    /// Important now: a once task goes before others while something is left of the quota (`Options::expedited_quota`).
    pub fn expedited(mut self) -> Task {
        self.raw.flags |= raw::SELENE_TASK_EXPEDITED as u32;
        self
    }
    /// Registering it while the quota of expedited tasks is used up is an error, not an ordinary task.
    pub fn refuse_out_of_quota(mut self) -> Task {
        self.raw.flags |= raw::SELENE_TASK_REFUSE_OUT_OF_QUOTA as u32;
        self
    }
    /// Bytes that each run gets.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Task {
        self.input = input.into();
        self
    }
    /// The freshness rule does not learn from its outcomes.
    pub fn steady(mut self) -> Task {
        self.raw.flags |= raw::SELENE_TASK_STEADY as u32;
        self
    }

    /// Hands it to a function as the header has it.
    pub(crate) fn lend<T>(&self, call: impl FnOnce(&raw::selene_task) -> T) -> T {
        let tags: Vec<_> = self.tags.iter().map(|tag| text(tag)).collect();
        let after: Vec<_> = self.after.iter().map(|id| text(id)).collect();
        let mut raw = self.raw;
        let conditions: Vec<_> = self.conditions.iter().map(|name| text(name)).collect();
        raw.conditions = conditions.as_ptr();
        raw.condition_count = u32::try_from(conditions.len()).unwrap_or(u32::MAX);
        raw.after = after.as_ptr();
        raw.after_count = u32::try_from(after.len()).unwrap_or(u32::MAX);
        raw.id = text(&self.id);
        raw.handler = text(&self.handler);
        raw.group = text(&self.group);
        raw.tags = tags.as_ptr();
        raw.tag_count = u32::try_from(tags.len()).unwrap_or(u32::MAX);
        raw.input = self.input.as_ptr().cast();
        raw.input_length = length(&self.input);
        call(&raw)
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Task").field("id", &self.id).field("handler", &self.handler).finish_non_exhaustive()
    }
}

/// How far a run has come, as it told by [`Run::progress`](crate::Run::progress).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// Of how much; 0: unknown.
    pub total: u64,
    /// For people.
    pub text: String,
    /// When it was told.
    pub at: SystemTime,
}

/// A task's record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// Its name.
    pub id: String,
    /// The name of its handler.
    pub handler: String,
    /// What each run gets.
    pub input: Vec<u8>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The tasks that it comes after.
    pub after: Vec<String>,
    /// Those of them that it waits for.
    pub waits_for: Vec<String>,
    /// The conditions of the host that it asks for.
    pub conditions: Vec<String>,
    /// The group that it is in, or "".
    pub group: String,
    /// What must hold while it runs.
    pub constraints: Constraints,
    /// How long its work takes.
    pub kind: Kind,
    /// When it is due.
    pub schedule: Schedule,
    /// How important it is.
    pub priority: Priority,
    /// What it is at.
    pub state: State,
    /// Whether its handler is registered.
    pub has_handler: bool,
    /// Failures in a row, and the run in flight.
    pub attempts: u32,
    /// None: it never ran.
    pub last_outcome: Option<Outcome>,
    /// Why its last run was stopped.
    pub stop_reason: Option<Stop>,
    /// Grows with each replacement and update.
    pub generation: u32,
    /// The order of registrations.
    pub sequence: u64,
    /// Successors that wait behind it.
    pub appended: u64,
    /// When it was registered.
    pub registered_at: SystemTime,
    /// When it is due.
    pub earliest_begin: SystemTime,
    /// When it last ran, or was registered.
    pub last_run: SystemTime,
    /// What its next run is expected to take.
    pub estimate: Duration,
    /// Of its last runs.
    pub response_times: Vec<Duration>,
    /// Why it last failed, if no run has succeeded since; else "".
    pub failure: String,
    /// When.
    pub failed_at: Option<SystemTime>,
    /// Of the run in flight, if it has told any.
    pub progress: Option<Progress>,
}

/// A group of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupInfo {
    /// Runs at a time; 0: no limit.
    pub limit: u32,
    /// Whether it was paused.
    pub paused: bool,
    /// Its runs that are not over, or have not come back.
    pub running: u64,
    /// Its tasks that wait.
    pub waiting: u64,
}

/// Kinds that are paused until the same instant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pause {
    /// Which.
    pub kinds: Kinds,
    /// The pool whose tasks wait; none: those of all.
    pub pool: Option<String>,
    /// When it ends; none: when it is resumed.
    pub until: Option<SystemTime>,
}

impl Pause {
    /// # Safety
    /// The text of `raw` is alive.
    pub(crate) unsafe fn new(raw: &raw::selene_pause) -> Pause {
        Pause {
            kinds: Kinds::of(raw.kinds),
            pool: (raw.pool.length != 0).then(|| string(&raw.pool)),
            until: maybe(raw.until),
        }
    }
}

impl TaskInfo {
    /// # Safety
    /// The texts of `raw` are alive.
    pub(crate) unsafe fn new(raw: &raw::selene_task_info) -> TaskInfo {
        TaskInfo {
            id: string(&raw.id),
            handler: string(&raw.handler),
            input: bytes(&raw.input).to_vec(),
            tags: slice(raw.tags, raw.tag_count.into()).iter().map(|tag| string(tag)).collect(),
            after: slice(raw.after, raw.after_count.into()).iter().map(|id| string(id)).collect(),
            waits_for: slice(raw.after, raw.after_count.into())
                .iter()
                .enumerate()
                .filter(|(place, _)| raw.waits_for >> place & 1 == 1)
                .map(|(_, id)| string(id))
                .collect(),
            conditions: slice(raw.conditions, raw.condition_count.into()).iter().map(|name| string(name)).collect(),
            group: string(&raw.group),
            constraints: Constraints::of(raw.constraints),
            kind: Kind::of(raw.kind),
            schedule: Schedule::of(raw.schedule),
            priority: Priority::of(raw.priority),
            state: State::of(raw.state),
            has_handler: raw.has_handler != 0,
            attempts: raw.attempts,
            last_outcome: (raw.last_outcome >= 0).then(|| Outcome::of(raw.last_outcome)),
            stop_reason: (raw.stop_reason > 0).then(|| Stop::of(raw.stop_reason)),
            generation: raw.generation,
            sequence: raw.sequence,
            appended: raw.appended,
            registered_at: instant(raw.registered_at),
            earliest_begin: instant(raw.earliest_begin),
            last_run: instant(raw.last_run),
            estimate: span(raw.estimate),
            response_times: slice(raw.response_times.as_ptr(), raw.response_time_count)
                .iter()
                .map(|time| span(*time))
                .collect(),
            failure: string(&raw.failure),
            failed_at: (raw.failed_at != 0).then(|| instant(raw.failed_at)),
            progress: (raw.progress_at != 0).then(|| Progress {
                done: raw.progress_done.unsigned_abs(),
                total: raw.progress_total.unsigned_abs(),
                text: string(&raw.progress_text),
                at: instant(raw.progress_at),
            }),
        }
    }
}

/// Why a task does not run now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// What it is at.
    pub state: State,
    /// None: nothing but a window is missing.
    pub missing: Vec<Missing>,
    /// From 1; 0: it is not eligible.
    pub rank: u64,
    /// How many are.
    pub eligible: u64,
    /// By which it is ranked.
    pub score: f64,
    /// What its next run is expected to take.
    pub estimate: Duration,
    /// The last instant at which it may begin, while it waits and has one.
    pub latest_begin: Option<SystemTime>,
    /// It goes before others, because that is near.
    pub urgent: bool,
    /// It goes before others, because it is expedited and something of the quota is left.
    pub expedited: bool,
}

/// One reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// Which.
    pub reason: Reason,
    /// Those that do not hold.
    pub constraints: Constraints,
    /// When it may be over; none: when something changes.
    pub may_change_at: Option<SystemTime>,
}

/// Where the time of a task went since it was last due, or registered; the durations add up to the whole.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Waits {
    /// From when on it is told.
    pub since: SystemTime,
    /// Now, or the end of the task.
    pub until: SystemTime,
    /// By reason.
    pub parts: Vec<WaitPart>,
    /// How many dispatches of others went before it in windows that it fitted.
    pub preferred: u64,
    /// The last of these, the latest first.
    pub preferred_ids: Vec<String>,
}

/// How much of it went to one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitPart {
    /// Which.
    pub reason: Reason,
    /// The bit of a constraint, the number of a factor, or 0.
    pub detail: i64,
    /// How long.
    pub duration: Duration,
    /// How often it began; for the reasons of windows in how many of them.
    pub times: u64,
    /// The condition of the host, the group, or the id that it waits for.
    pub name: Option<String>,
}

impl Waits {
    /// Reads an answer of the library.
    ///
    /// # Safety
    /// Its arrays have as many elements as it says.
    pub(crate) unsafe fn new(raw: &raw::selene_waits) -> Waits {
        let part = |index: u64| {
            let part = &*raw.parts.add(index as usize);
            WaitPart {
                reason: Reason::of(part.reason),
                detail: part.detail,
                duration: span(part.duration),
                times: part.times,
                name: (!part.name.data.is_null()).then(|| string(&part.name)),
            }
        };
        let id = |index: u64| string(&*raw.preferred_ids.add(index as usize));
        Waits {
            since: instant(raw.since),
            until: instant(raw.until),
            parts: (0..raw.part_count).map(part).collect(),
            preferred: raw.preferred_count,
            preferred_ids: (0..raw.preferred_id_count).map(id).collect(),
        }
    }
}

impl Explanation {
    pub(crate) fn new(raw: &raw::selene_explanation) -> Explanation {
        let count = (raw.reason_count as usize).min(raw.reasons.len());
        let one = |reason: &raw::selene_reason| Missing {
            reason: Reason::of(reason.reason),
            constraints: Constraints::of(reason.constraints),
            may_change_at: maybe(reason.may_change_at),
        };
        Explanation {
            state: State::of(raw.state),
            missing: raw.reasons[..count].iter().map(one).collect(),
            rank: raw.rank,
            eligible: raw.eligible,
            score: raw.score,
            estimate: span(raw.estimate),
            latest_begin: (raw.latest_begin != 0).then(|| instant(raw.latest_begin)),
            urgent: raw.urgent != 0,
            expedited: raw.expedited != 0,
        }
    }
}
