//! Runs, what a handler makes of them, and how handlers are called.

use crate::error::{bytes, check, length, Result};
use crate::numbers::{Kind, Outcome, Priority, Stop};
use crate::raw;
use crate::time::{instant, nanoseconds, span};
use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How often the library has asked a run to stop: those who wait look again then. Nobody calls the library under its lock.
static STOPS: Mutex<u64> = Mutex::new(0);
static STOPPED: Condvar = Condvar::new();

/// One dispatch of one task. Its facts are copies; it may outlive its cycle and its scheduler.
#[derive(Clone, Debug)]
pub struct Run {
    token: raw::selene_run,
    kind: i32,
    priority: i32,
    attempt: u32,
    score: f64,
    estimate: i64,
    started_at: i64,
    expires_at: i64,
    deadline: i64,
    /// The id, then the handler: one allocation.
    names: String,
    id_length: usize,
    input: Vec<u8>,
}

impl Run {
    /// What a handler or a cycle was told.
    ///
    /// # Safety
    /// The texts of `info` are alive.
    pub(crate) unsafe fn new(info: &raw::selene_run_info) -> Run {
        let (id, handler) = (bytes(&info.id), bytes(&info.handler));
        let mut names = String::with_capacity(id.len() + handler.len());
        push(&mut names, id);
        let id_length = names.len();
        push(&mut names, handler);
        Run {
            token: info.run,
            kind: info.kind,
            priority: info.priority,
            attempt: info.attempt,
            score: info.score,
            estimate: info.estimate,
            started_at: info.started_at,
            expires_at: info.expires_at,
            deadline: info.deadline,
            names,
            id_length,
            input: bytes(&info.input).to_vec(),
        }
    }

    /// The number by which the header knows it.
    pub fn token(&self) -> u64 {
        self.token
    }
    /// Of its task.
    pub fn id(&self) -> &str {
        &self.names[..self.id_length]
    }
    /// The name of its handler.
    pub fn handler(&self) -> &str {
        &self.names[self.id_length..]
    }
    /// What the task carries for it.
    pub fn input(&self) -> &[u8] {
        &self.input
    }
    /// Of its task.
    pub fn kind(&self) -> Kind {
        Kind::of(self.kind)
    }
    /// Of its task.
    pub fn priority(&self) -> Priority {
        Priority::of(self.priority)
    }
    /// 1 for the first.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }
    /// By which it was picked.
    pub fn score(&self) -> f64 {
        self.score
    }
    /// How long it is expected to take.
    pub fn estimate(&self) -> Duration {
        span(self.estimate)
    }
    /// When it was dispatched.
    pub fn started_at(&self) -> SystemTime {
        instant(self.started_at)
    }
    /// When it is asked to stop at the latest.
    pub fn expires_at(&self) -> SystemTime {
        instant(self.expires_at)
    }
    /// When it is over at the latest.
    pub fn deadline(&self) -> SystemTime {
        instant(self.deadline)
    }

    /// Whether it should stop, and why; [`Stop::Shutdown`] for a run that is over. Cheap enough for a loop.
    pub fn stopping(&self) -> Option<Stop> {
        let mut reason = raw::SELENE_STOP_NONE;
        match unsafe { raw::selene_run_stopping(self.token, &mut reason) } {
            raw::SELENE_OK if reason == raw::SELENE_STOP_NONE => None,
            raw::SELENE_OK => Some(Stop::of(reason)),
            _ => Some(Stop::Shutdown),
        }
    }

    /// Waits until so much scheduler time has passed, or until it should stop; what [`stopping`](Run::stopping) says then.
    pub fn sleep(&self, duration: Duration) -> Option<Stop> {
        let mut reason = raw::SELENE_STOP_NONE;
        match unsafe { raw::selene_run_sleep(self.token, nanoseconds(duration), &mut reason) } {
            raw::SELENE_OK if reason == raw::SELENE_STOP_NONE => None,
            raw::SELENE_OK => Some(Stop::of(reason)),
            _ => Some(Stop::Shutdown),
        }
    }

    /// How long until it is asked to stop; zero if it was, or is over.
    pub fn remaining(&self) -> Duration {
        let mut remaining = 0;
        match unsafe { raw::selene_run_remaining(self.token, &mut remaining) } {
            raw::SELENE_OK => span(remaining),
            _ => Duration::ZERO,
        }
    }

    /// Sleeps until it should stop, and says why; at most so long: none.
    pub fn wait(&self, timeout: Duration) -> Option<Stop> {
        let end = Instant::now().checked_add(timeout);
        loop {
            let before = *STOPS.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(reason) = self.stopping() {
                return Some(reason);
            }
            let left = match end {
                Some(end) => end.saturating_duration_since(Instant::now()),
                None => Duration::MAX,
            };
            if left.is_zero() {
                return None;
            }
            // In a cycle that is pulled nobody notices its end; and a clock of the host does not wake anybody.
            let longest = self.remaining().clamp(Duration::from_millis(1), Duration::from_secs(1));
            let stops = STOPS.lock().unwrap_or_else(PoisonError::into_inner);
            if *stops == before {
                drop(STOPPED.wait_timeout(stops, left.min(longest)));
            }
        }
    }

    /// Tells how far it has come, from any thread: how much is done of how much (0: unknown), and a text. Every call lets the
    /// task's [`stall_limit`](crate::Task::stall_limit) begin anew.
    pub fn progress(&self, done: u64, total: u64, text: &str) -> Result<()> {
        let [done, total] = [done, total].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        check(unsafe {
            raw::selene_run_progress(self.token, done, total, text.as_ptr().cast(), length(text.as_bytes()))
        })
    }

    /// Says what it leaves if it succeeds: bytes that [`Scheduler::output`](crate::Scheduler::output) reads.
    pub fn set_output(&self, output: &[u8]) -> Result<()> {
        check(unsafe { raw::selene_run_set_output(self.token, output.as_ptr().cast(), length(output)) })
    }

    /// Gives the outcome, once, from any thread: whatever a handler may return.
    pub fn complete(&self, verdict: impl IntoVerdict) -> Result<()> {
        check(give(self.token, &verdict.into_verdict()))
    }
    /// Gives the outcome failed and says why; [`Failure`] can say more.
    pub fn fail(&self, why: impl fmt::Display) -> Result<()> {
        check(give(self.token, &Verdict::Failure(Failure::new(why))))
    }
}

/// Texts of the library are UTF-8; what a damaged store may have made of them is mended.
fn push(names: &mut String, text: &[u8]) {
    match std::str::from_utf8(text) {
        Ok(text) => names.push_str(text),
        Err(_) => names.push_str(&String::from_utf8_lossy(text)),
    }
}

// ---- what a handler returns ----

/// Why a run failed, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    message: String,
    delay: Option<Duration>,
    is_final: bool,
}

impl Failure {
    /// The task is tried again after its backoff.
    pub fn new(why: impl fmt::Display) -> Failure {
        Failure { message: why.to_string(), delay: None, is_final: false }
    }
    /// The task is tried again after this time.
    pub fn retry_after(delay: Duration, why: impl fmt::Display) -> Failure {
        Failure { delay: Some(delay), ..Failure::new(why) }
    }
    /// The task is not tried again.
    pub fn abandon(why: impl fmt::Display) -> Failure {
        Failure { is_final: true, ..Failure::new(why) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The run goes on after its handler has returned; [`Run::complete`] comes later, from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Later;

/// What a handler makes of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ended so.
    Outcome(Outcome),
    /// It failed.
    Failure(Failure),
    /// It goes on.
    Later,
}

/// What a handler may return: nothing (new data), a `bool` (whether there was something new), an [`Outcome`], [`Later`], or
/// a `Result` of these whose error is kept as the failure's text. A [`Failure`], also in a box, says more.
pub trait IntoVerdict {
    /// The same as a verdict.
    fn into_verdict(self) -> Verdict;
}

impl IntoVerdict for Verdict {
    fn into_verdict(self) -> Verdict {
        self
    }
}
impl IntoVerdict for Outcome {
    fn into_verdict(self) -> Verdict {
        Verdict::Outcome(self)
    }
}
impl IntoVerdict for Later {
    fn into_verdict(self) -> Verdict {
        Verdict::Later
    }
}
impl IntoVerdict for () {
    fn into_verdict(self) -> Verdict {
        Verdict::Outcome(Outcome::NewData)
    }
}
impl IntoVerdict for bool {
    fn into_verdict(self) -> Verdict {
        Verdict::Outcome(if self { Outcome::NewData } else { Outcome::NoData })
    }
}
impl IntoVerdict for Failure {
    fn into_verdict(self) -> Verdict {
        Verdict::Failure(self)
    }
}
impl<T: IntoVerdict, E: fmt::Display + 'static> IntoVerdict for std::result::Result<T, E> {
    fn into_verdict(self) -> Verdict {
        match self {
            Ok(verdict) => verdict.into_verdict(),
            Err(error) => Verdict::Failure(failure(&error)),
        }
    }
}

/// The failure that an error is, wraps in a box, or says.
fn failure<E: fmt::Display + 'static>(error: &E) -> Failure {
    let any: &dyn Any = error;
    let boxed = || any.downcast_ref::<Box<dyn std::error::Error>>()?.downcast_ref::<Failure>();
    let sent = || any.downcast_ref::<Box<dyn std::error::Error + Send + Sync>>()?.downcast_ref::<Failure>();
    match any.downcast_ref::<Failure>().or_else(boxed).or_else(sent) {
        Some(failure) => failure.clone(),
        None => Failure::new(error),
    }
}

/// Gives a verdict to the library.
fn give(token: raw::selene_run, verdict: &Verdict) -> raw::selene_status {
    match verdict {
        Verdict::Outcome(outcome) => unsafe { raw::selene_run_complete(token, outcome.number()) },
        Verdict::Failure(failure) => fail(token, failure),
        Verdict::Later => raw::SELENE_OK,
    }
}

fn fail(token: raw::selene_run, failure: &Failure) -> raw::selene_status {
    let outcome = if failure.is_final { raw::SELENE_OUTCOME_ABANDONED } else { raw::SELENE_OUTCOME_FAILED };
    let delay = failure.delay.map_or(-1, nanoseconds);
    // The library takes no text with a NUL in it.
    let message = failure.message.replace('\0', "\u{fffd}");
    unsafe { raw::selene_run_fail(token, outcome, delay, message.as_ptr().cast(), length(message.as_bytes())) }
}

// ---- how handlers are called ----

/// What a handler is registered with: the closure lives until the library releases it.
pub(crate) struct Registration {
    pub(crate) run: raw::selene_run_fn,
    pub(crate) context: *mut c_void,
    pub(crate) destroy: raw::selene_destroy_fn,
}

pub(crate) fn registration<F, V>(work: F) -> Registration
where
    F: Fn(&Run) -> V + Send + Sync + 'static,
    V: IntoVerdict,
{
    Registration { run: call::<F, V>, context: Box::into_raw(Box::new(work)).cast(), destroy: destroy::<F> }
}

/// Gives the outcome of a handler that has returned, or panicked. What comes too late, or second, is no error here.
unsafe extern "C" fn call<F, V>(token: raw::selene_run, info: *const raw::selene_run_info, context: *mut c_void)
where
    F: Fn(&Run) -> V,
    V: IntoVerdict,
{
    let work = &*context.cast::<F>();
    let done = catch_unwind(AssertUnwindSafe(|| work(&Run::new(&*info)).into_verdict()));
    let verdict = done.unwrap_or_else(|panic| Verdict::Failure(Failure::new(said(panic))));
    if give(token, &verdict) == raw::SELENE_ERROR_INVALID_ARGUMENT {
        let why = check(raw::SELENE_ERROR_INVALID_ARGUMENT).err().map_or(String::new(), |error| error.detail().into());
        fail(token, &Failure::new(format!("what the handler returned was refused: {why}")));
    }
}

/// The text of a panic.
fn said(panic: Box<dyn Any + Send>) -> String {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => format!("panicked: {text}"),
        (_, Some(text)) => format!("panicked: {text}"),
        _ => "panicked with something that is not a text".into(),
    };
    quietly(panic);
    text
}

/// Drops something whose drop may panic, too: nothing may leave a callback.
fn quietly<T>(last: T) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(last))) {
        std::mem::forget(again);
    }
}

pub(crate) unsafe extern "C" fn destroy<T>(context: *mut c_void) {
    quietly(Box::from_raw(context.cast::<T>()));
}

/// Wakes those who wait for a stop.
pub(crate) unsafe extern "C" fn stop(_: raw::selene_run, _: i32, _: *mut c_void) {
    *STOPS.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    STOPPED.notify_all();
}

/// Calls a function once with what a callback was given; no panic leaves it.
pub(crate) fn guarded(call: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        quietly(panic);
    }
}
