//! Windows, the cycles that use them, and what they report.

use crate::error::{check, defaults, slice, string, text, Result};
use crate::numbers::{Kind, Kinds, Outcome, Stop};
use crate::raw;
use crate::run::Run;
use crate::scheduler::Core;
use crate::time::{count, instant, maybe, said, span};
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// An opportunity to work; what is not said has the library's default: refresh, 30 s, one lane.
#[derive(Clone)]
pub struct Window {
    raw: raw::selene_window,
    task: String,
}

// The pointer in it is NULL until it is used, and then that of a copy.
unsafe impl Send for Window {}
unsafe impl Sync for Window {}

impl Default for Window {
    fn default() -> Window {
        Window { raw: defaults!(selene_window), task: String::new() }
    }
}

impl Window {
    /// One with this budget, for all kinds that may begin.
    pub fn new(budget: Duration) -> Window {
        Window::default().budget(budget)
    }
    /// From its begin to its deadline.
    pub fn budget(mut self, budget: Duration) -> Window {
        self.raw.budget = said(budget);
        self
    }
    /// Kept free at the end, in which runs are asked to stop; default: a twentieth of the budget.
    pub fn reserve(mut self, reserve: Duration) -> Window {
        self.raw.reserve = said(reserve);
        self
    }
    /// Of one kind.
    pub fn kind(self, kind: Kind) -> Window {
        self.kinds(Kinds::of(kind.number() as u32))
    }
    /// Of several; none: all that may begin.
    pub fn kinds(mut self, kinds: Kinds) -> Window {
        self.raw.kinds = kinds.bits();
        self
    }
    /// Runs at a time.
    pub fn lanes(mut self, lanes: u32) -> Window {
        self.raw.lanes = count(lanes, u32::MAX);
        self
    }
    /// Nothing is picked whose estimate does not fit, not even first.
    pub fn strict_fit(mut self) -> Window {
        self.raw.flags |= raw::SELENE_WINDOW_STRICT_FIT as u32;
        self
    }
    /// Picks only tasks that were eligible at its begin; without it also those that become due meanwhile.
    pub fn frozen(mut self) -> Window {
        self.raw.flags |= raw::SELENE_WINDOW_FROZEN as u32;
        self
    }
    /// Handlers are called on the thread that calls [`Scheduler::run`](crate::Scheduler::run), one after another.
    pub fn on_this_thread(mut self) -> Window {
        self.raw.flags |= raw::SELENE_WINDOW_INLINE as u32;
        self
    }
    /// The one task that shall run now.
    pub fn task(mut self, id: impl Into<String>) -> Window {
        self.task = id.into();
        self
    }

    pub(crate) fn lend<T>(&self, call: impl FnOnce(&raw::selene_window) -> T) -> T {
        let mut raw = self.raw;
        raw.task = text(&self.task);
        call(&raw)
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Window").field("budget", &span(self.raw.budget)).finish_non_exhaustive()
    }
}

/// What [`Cycle::next`] found.
#[derive(Clone, Debug)]
pub enum Step {
    /// Work on it, and complete it before or after the next.
    Run(Run),
    /// Ask again after a completion, or at this time.
    Wait(Option<SystemTime>),
    /// There is nothing more to do.
    Done,
}

/// A pulled cycle. One that was not ended ends when it goes.
#[derive(Debug)]
pub struct Cycle {
    core: Arc<Core>,
    handle: raw::selene_cycle,
}

impl Cycle {
    pub(crate) fn new(core: Arc<Core>, handle: raw::selene_cycle) -> Cycle {
        Cycle { core, handle }
    }

    /// The number by which the header knows it.
    pub fn handle(&self) -> u64 {
        self.handle
    }

    /// The next run, if there is one now.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Step> {
        // Texts of a run are lent until the scheduler is closed, which waits for those that copy them.
        let _held = self.core.hold()?;
        let mut info = defaults!(selene_run_info);
        let (mut step, mut wake_at) = (raw::SELENE_STEP_DONE, raw::SELENE_NEVER);
        unsafe {
            check(raw::selene_cycle_next(self.handle, &mut step, &mut info, &mut wake_at))?;
            Ok(match step {
                raw::SELENE_STEP_RUN => Step::Run(Run::new(&info)),
                raw::SELENE_STEP_WAIT => Step::Wait(maybe(wake_at)),
                _ => Step::Done,
            })
        }
    }

    /// Ends it. If the store refuses, it stays open and can be ended again.
    pub fn end(&mut self) -> Result<Report> {
        let mut report = ptr::null_mut();
        unsafe {
            check(raw::selene_cycle_end(self.handle, &mut report))?;
            self.handle = 0;
            Ok(Report::owned(report))
        }
    }
}

impl Drop for Cycle {
    fn drop(&mut self) {
        if self.handle != 0 {
            // It may have ended by itself.
            unsafe { raw::selene_cycle_end(self.handle, ptr::null_mut()) };
        }
    }
}

/// What a cycle did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Of all its runs together.
    pub result: Outcome,
    /// When it began.
    pub began_at: SystemTime,
    /// When it ended.
    pub ended_at: SystemTime,
    /// When it had to.
    pub deadline: SystemTime,
    /// How many tasks could have run.
    pub eligible: u64,
    /// How many of them did not fit.
    pub did_not_fit: u64,
    /// Runs by outcome.
    pub new_data: u64,
    /// Runs by outcome.
    pub no_data: u64,
    /// Runs by outcome.
    pub failed: u64,
    /// Runs by outcome.
    pub abandoned: u64,
    /// Runs by outcome.
    pub expired: u64,
    /// Runs by outcome.
    pub stopped: u64,
    /// In the order in which they began.
    pub runs: Vec<ReportRun>,
}

/// One run of a report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReportRun {
    /// Of its task.
    pub id: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it was asked to stop, if it was.
    pub stop_reason: Option<Stop>,
    /// 1 for the first.
    pub attempt: u32,
    /// By which it was picked.
    pub score: f64,
    /// What it was expected to take.
    pub estimate: Duration,
    /// What it took.
    pub response_time: Duration,
    /// When it began.
    pub started_at: SystemTime,
}

impl Report {
    /// Copies a report, and frees it.
    pub(crate) unsafe fn owned(raw: *mut raw::selene_report) -> Report {
        let made = Report::new(&*raw);
        raw::selene_free(raw.cast());
        made
    }

    /// # Safety
    /// The texts of `raw` are alive.
    pub(crate) unsafe fn new(raw: &raw::selene_report) -> Report {
        let one = |run: &raw::selene_report_run| ReportRun {
            id: string(&run.id),
            outcome: Outcome::of(run.outcome),
            stop_reason: (run.stop_reason != raw::SELENE_STOP_NONE).then(|| Stop::of(run.stop_reason)),
            attempt: run.attempt,
            score: run.score,
            estimate: span(run.estimate),
            response_time: span(run.response_time),
            started_at: instant(run.started_at),
        };
        Report {
            result: Outcome::of(raw.result),
            began_at: instant(raw.began_at),
            ended_at: instant(raw.ended_at),
            deadline: instant(raw.deadline),
            eligible: raw.eligible,
            did_not_fit: raw.did_not_fit,
            new_data: raw.new_data,
            no_data: raw.no_data,
            failed: raw.failed,
            abandoned: raw.abandoned,
            expired: raw.expired,
            stopped: raw.stopped,
            runs: slice(raw.runs, raw.run_count).iter().map(one).collect(),
        }
    }
}

/// What a window would pick now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// How many tasks could run.
    pub eligible: u64,
    /// In their order.
    pub runs: Vec<PlanRun>,
}

/// One run of a plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanRun {
    /// Of its task.
    pub id: String,
    /// By which it would be picked.
    pub score: f64,
    /// What it is expected to take.
    pub estimate: Duration,
    /// When it would begin, if each run took its estimate.
    pub starts_at: SystemTime,
}

impl Plan {
    /// Copies a plan, and frees it.
    pub(crate) unsafe fn owned(raw: *mut raw::selene_plan) -> Plan {
        let one = |run: &raw::selene_plan_run| PlanRun {
            id: string(&run.id),
            score: run.score,
            estimate: span(run.estimate),
            starts_at: instant(run.starts_at),
        };
        let plan = &*raw;
        let made = Plan { eligible: plan.eligible, runs: slice(plan.runs, plan.run_count).iter().map(one).collect() };
        raw::selene_free(raw.cast());
        made
    }
}
