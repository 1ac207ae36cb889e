//! Schedulers.

use crate::cycle::{Cycle, Plan, Report, Window};
use crate::driver::Driver;
use crate::error::{bytes, check, defaults, length, slice, string, text, Error, Result};
use crate::event::Events;
use crate::governor::Decision;
use crate::numbers::{Constraints, Disposition, Kind, Kinds, Profile, Signal, State};
use crate::raw;
use crate::run::{destroy, guarded, registration, stop, IntoVerdict, Run};
use crate::task::{Explanation, GroupInfo, Pause, Task, TaskInfo, Waits};
use crate::time::{count, instant, maybe, nanoseconds, said, since_epoch, size};
use std::ffi::c_void;
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How a scheduler is opened; what is not said has the library's default.
#[derive(Clone)]
pub struct Options {
    raw: raw::selene_options,
    path: PathBuf,
    owner: String,
    permitted: Option<Vec<String>>,
}

// The pointers in it are NULL until a scheduler is opened, and then those of a copy.
unsafe impl Send for Options {}
unsafe impl Sync for Options {}

impl Default for Options {
    fn default() -> Options {
        let raw = defaults!(selene_options);
        Options { raw, path: PathBuf::new(), owner: String::new(), permitted: None }
    }
}

impl Options {
    /// All defaults: in memory.
    pub fn new() -> Options {
        Options::default()
    }
    /// The file of the store.
    pub fn path(mut self, path: impl AsRef<Path>) -> Options {
        self.path = path.as_ref().into();
        self
    }
    /// The name of the application, as "org.example.mail".
    pub fn owner(mut self, owner: impl Into<String>) -> Options {
        self.owner = owner.into();
        self
    }
    /// The ids that may be registered; one that ends in ".*" permits all that begin so.
    pub fn permitted<I: IntoIterator<Item = S>, S: Into<String>>(mut self, ids: I) -> Options {
        self.permitted = Some(ids.into_iter().map(Into::into).collect());
        self
    }
    /// Once and periodic tasks that may wait or run at a time, of each kind; by default any number.
    pub fn max_pending(mut self, refresh: u32, processing: u32) -> Options {
        self.raw.max_pending_refresh = size(refresh.into());
        self.raw.max_pending_processing = size(processing.into());
        self
    }
    /// How long a task waits at least after a second run of it ended its process, each further time twice as long; default
    /// 30 s.
    pub fn crash_pause(mut self, pause: Duration) -> Options {
        self.raw.crash_pause = said(pause);
        self
    }
    /// As many once and periodic tasks as there are.
    pub fn no_limit(self) -> Options {
        self.max_pending(raw::SELENE_UNLIMITED, raw::SELENE_UNLIMITED)
    }
    /// Into which backoff delays are brought.
    pub fn backoff_range(mut self, least: Duration, greatest: Duration) -> Options {
        self.raw.minimum_backoff = said(least);
        self.raw.maximum_backoff = said(greatest);
        self
    }
    /// Shortens each backoff by at most this many per mille.
    pub fn backoff_jitter(mut self, per_mille: u32) -> Options {
        self.raw.backoff_jitter = per_mille;
        self
    }
    /// The least time from begin to begin of cycles: refresh, processing.
    pub fn minimum_interval(mut self, refresh: Duration, processing: Duration) -> Options {
        self.raw.minimum_interval_refresh = nanoseconds(refresh);
        self.raw.minimum_interval_processing = nanoseconds(processing);
        self
    }
    /// How long a run that has reached its timeout may still complete.
    pub fn stop_grace(mut self, grace: Duration) -> Options {
        self.raw.stop_grace = said(grace);
        self
    }
    /// How long expedited tasks may run in 24 h.
    pub fn expedited_quota(mut self, quota: Duration) -> Options {
        self.raw.expedited_quota = said(quota);
        self
    }
    /// Bytes of the stack of each of the library's threads, on which handlers run.
    pub fn thread_stack_size(mut self, bytes: u64) -> Options {
        self.raw.thread_stack_size = bytes;
        self
    }
    /// The library's threads give way to others.
    pub fn background_threads(mut self) -> Options {
        self.raw.thread_quality = raw::SELENE_THREADS_BACKGROUND;
        self
    }
    /// How far back [`Scheduler::waits`] knows what happened to all tasks alike: so many windows and dispatches (4 096).
    pub fn wait_log_entries(mut self, entries: u64) -> Options {
        self.raw.wait_log_entries = count(entries, u64::MAX);
        self
    }
    /// Bytes of input that a task may carry.
    pub fn max_input_size(mut self, bytes: u64) -> Options {
        self.raw.max_input_size = size(bytes);
        self
    }
    /// Bytes of output that a run may leave.
    pub fn max_output_size(mut self, bytes: u64) -> Options {
        self.raw.max_output_size = size(bytes);
        self
    }
    /// Seed of the jitter.
    pub fn seed(mut self, seed: u64) -> Options {
        self.raw.seed = seed;
        self
    }
    /// What is over a limit is held instead of being refused.
    pub fn hold(self) -> Options {
        self.flag(raw::SELENE_OPTIONS_HOLD)
    }
    /// Scores with the observed range.
    pub fn observed_range(self) -> Options {
        self.flag(raw::SELENE_OPTIONS_OBSERVED_RANGE)
    }
    /// A loss of power may undo the last calls.
    pub fn relaxed(self) -> Options {
        self.flag(raw::SELENE_OPTIONS_RELAXED)
    }
    /// Ranks by the freshness rule.
    pub fn freshness(self) -> Options {
        self.flag(raw::SELENE_OPTIONS_FRESHNESS)
    }
    /// The library starts no thread.
    pub fn no_threads(self) -> Options {
        self.flag(raw::SELENE_OPTIONS_NO_THREADS)
    }
    /// The clock of a test: it stands here until [`Scheduler::set_clock`].
    pub fn clock(mut self, start: SystemTime) -> Options {
        self.raw.clock_start = since_epoch(start);
        self.flag(raw::SELENE_OPTIONS_SET_CLOCK)
    }

    fn flag(mut self, flag: i32) -> Options {
        self.raw.flags |= flag as u32;
        self
    }

    /// Opens a scheduler.
    pub fn open(&self) -> Result<Scheduler> {
        let path = path_bytes(&self.path);
        let permitted: Option<Vec<_>> = self.permitted.as_ref().map(|ids| {
            // One more, so that none at all is not NULL, which permits all.
            let end = raw::selene_text { data: ptr::null(), length: 0 };
            ids.iter().map(|id| text(id)).chain([end]).collect()
        });
        let mut raw = self.raw;
        raw.path = raw::selene_text { data: path.as_ptr().cast(), length: length(&path) };
        raw.owner = text(&self.owner);
        if let Some(permitted) = &permitted {
            raw.permitted = permitted.as_ptr();
            raw.permitted_count = permitted.len() as u64 - 1;
        }
        let mut handle = 0;
        check(unsafe { raw::selene_scheduler_open(&raw, &mut handle) })?;
        Ok(Scheduler::owning(handle))
    }
}

#[cfg(unix)]
pub(crate) fn path_bytes(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}
#[cfg(not(unix))]
pub(crate) fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

impl fmt::Debug for Options {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Options").field("path", &self.path).field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// What a scheduler's cycles share with it.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) handle: raw::selene_scheduler,
    is_closed: AtomicBool,
    /// Threads that copy what the library lends until the scheduler is closed.
    copying: AtomicUsize,
}

/// While it lives the scheduler is not closed.
pub(crate) struct Held<'a>(&'a Core);

impl Core {
    pub(crate) fn hold(&self) -> Result<Held<'_>> {
        // In one order with the flag and the count of close: one of both sees the other.
        self.copying.fetch_add(1, Ordering::SeqCst);
        let held = Held(self);
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(Error::closed());
        }
        Ok(held)
    }

    fn close(&self, grace: Duration) -> raw::selene_status {
        if self.is_closed.swap(true, Ordering::SeqCst) {
            return raw::SELENE_OK;
        }
        // A step, and perhaps a commit: soon over.
        while self.copying.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
        let status = unsafe { raw::selene_scheduler_close(self.handle, nanoseconds(grace)) };
        // With these it is still open; with all others it is closed, though its last changes could not be stored.
        if status == raw::SELENE_ERROR_INVALID_ARGUMENT || status == raw::SELENE_ERROR_REENTRANT {
            self.is_closed.store(false, Ordering::SeqCst);
        }
        status
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.copying.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A scheduler. Any thread may use it, also at once; handlers may call all but [`close`](Scheduler::close) and
/// [`run`](Scheduler::run).
///
/// When it goes it closes with a grace of a second; handlers that have not returned by then go on with what they own.
#[derive(Debug)]
pub struct Scheduler {
    core: Arc<Core>,
}

impl Scheduler {
    /// Opens one in memory, with all defaults.
    pub fn new() -> Result<Scheduler> {
        Options::new().open()
    }
    /// Opens one with a store, with all defaults besides.
    pub fn open(path: impl AsRef<Path>) -> Result<Scheduler> {
        Options::new().path(path).open()
    }

    /// What was opened, or connected.
    pub(crate) fn owning(handle: raw::selene_scheduler) -> Scheduler {
        let core = Core { handle, is_closed: AtomicBool::new(false), copying: AtomicUsize::new(0) };
        Scheduler { core: Arc::new(core) }
    }

    /// Lets other processes of this user connect ([`Connection`](crate::Connection)) until it is closed, at the store's path and "-sock".
    pub fn serve(&self) -> Result<()> {
        self.serve_at("")
    }
    /// The same at a path.
    pub fn serve_at(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path_bytes(path.as_ref());
        let mut raw = defaults!(selene_server_options);
        raw.path = raw::selene_text { data: path.as_ptr().cast(), length: length(&path) };
        let mut server = 0;
        check(unsafe { raw::selene_server_start(self.handle(), &raw, &mut server) })
    }

    /// The number by which the header knows it, for calls that have no name here.
    pub fn handle(&self) -> u64 {
        self.core.handle
    }

    /// Closes it; runs in flight have the grace. A second close does nothing.
    pub fn close(&self, grace: Duration) -> Result<()> {
        check(self.core.close(grace))
    }
    /// Lets nothing more be dispatched and waits until nothing runs; false: something still does.
    pub fn drain(&self, grace: Duration) -> Result<bool> {
        match unsafe { raw::selene_scheduler_drain(self.handle(), nanoseconds(grace)) } {
            raw::SELENE_ERROR_BUSY => Ok(false),
            status => check(status).map(|()| true),
        }
    }
    /// Ends a drain.
    pub fn resume(&self) -> Result<()> {
        check(unsafe { raw::selene_scheduler_resume(self.handle()) })
    }

    /// Scheduler time, which never goes back.
    pub fn now(&self) -> Result<SystemTime> {
        let mut now = 0;
        check(unsafe { raw::selene_scheduler_now(self.handle(), &mut now) })?;
        Ok(instant(now))
    }
    /// Says what time it is, to a scheduler that was opened with a clock.
    pub fn set_clock(&self, now: SystemTime) -> Result<()> {
        check(unsafe { raw::selene_clock_set(self.handle(), since_epoch(now)) })
    }
    /// Lets time pass up to an instant, for a scheduler that was opened with a clock: from one instant at which something is
    /// due to the next, and at each it waits until all that is due is done, also by handlers. When something is due next.
    ///
    /// Handlers that take more than ten real seconds are a [`Status::Busy`](crate::Status::Busy), which names them.
    pub fn advance(&self, to: SystemTime) -> Result<Option<SystemTime>> {
        let mut next = raw::SELENE_NEVER;
        let (handlers, patience) = (raw::SELENE_ADVANCE_HANDLERS as u32, 10 * raw::SELENE_SECOND);
        check(unsafe { raw::selene_clock_advance(self.handle(), since_epoch(to), handlers, patience, &mut next) })?;
        Ok(maybe(next))
    }
    /// When the next window is worth opening; none: when something changes.
    pub fn next_wakeup(&self) -> Result<Option<SystemTime>> {
        let mut at = raw::SELENE_NEVER;
        check(unsafe { raw::selene_scheduler_next_wakeup(self.handle(), &mut at, ptr::null_mut()) })?;
        Ok(maybe(at))
    }
    /// Says which of these constraints are satisfied, until the next call. The others are the system's.
    pub fn set_conditions(&self, of: Constraints, satisfied: Constraints) -> Result<()> {
        check(unsafe { raw::selene_conditions_set(self.handle(), of.bits(), satisfied.bits()) })
    }
    /// Switches these kinds on, and all others off.
    pub fn enable(&self, kinds: Kinds) -> Result<()> {
        check(unsafe { raw::selene_scheduler_enable(self.handle(), kinds.bits()) })
    }

    // ---- handlers ----

    /// Registers a handler. It is called on library threads, several at once where a window has lanes, or on the thread of
    /// [`run`](Scheduler::run) with [`Window::on_this_thread`]. What it returns is the outcome ([`IntoVerdict`]); an error
    /// or a panic is a failure with its text.
    pub fn handler<F, V>(&self, name: &str, work: F) -> Result<()>
    where
        F: Fn(&Run) -> V + Send + Sync + 'static,
        V: IntoVerdict,
    {
        let made = registration(work);
        // It releases the closure also when it fails.
        check(unsafe {
            raw::selene_handler_register(
                self.handle(),
                name.as_ptr().cast(),
                length(name.as_bytes()),
                Some(made.run),
                Some(stop),
                made.context,
                Some(made.destroy),
            )
        })
    }
    /// The same for a handler with state of its own, whose runs are one after another: others wait for it in their lanes.
    pub fn handler_mut<F, V>(&self, name: &str, work: F) -> Result<()>
    where
        F: FnMut(&Run) -> V + Send + 'static,
        V: IntoVerdict + 'static,
    {
        let work = Mutex::new(work);
        // One that panicked goes on with what it left.
        self.handler(name, move |run| (work.lock().unwrap_or_else(PoisonError::into_inner))(run))
    }
    /// A name whose runs are pulled.
    pub fn pulled_handler(&self, name: &str) -> Result<()> {
        let (data, length) = (name.as_ptr().cast(), length(name.as_bytes()));
        check(unsafe {
            raw::selene_handler_register(self.handle(), data, length, None, Some(stop), ptr::null_mut(), None)
        })
    }
    /// Takes a handler back.
    pub fn remove_handler(&self, name: &str) -> Result<()> {
        check(unsafe { raw::selene_handler_unregister(self.handle(), name.as_ptr().cast(), length(name.as_bytes())) })
    }

    // ---- tasks ----

    /// Registers a task, and says what became of it.
    pub fn register(&self, task: &Task) -> Result<Disposition> {
        let mut found = 0;
        task.lend(|raw| check(unsafe { raw::selene_task_register(self.handle(), raw, &mut found) }))?;
        Ok(Disposition::of(found))
    }
    /// The record of a task; none if there is no such task.
    pub fn get(&self, id: &str) -> Result<Option<TaskInfo>> {
        let mut raw = ptr::null_mut();
        unsafe {
            let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
            match raw::selene_task_get(self.handle(), data, length, 0, &mut raw) {
                raw::SELENE_ERROR_NOT_FOUND => return Ok(None),
                status => check(status)?,
            }
            let made = TaskInfo::new(&*raw);
            raw::selene_free(raw.cast());
            Ok(Some(made))
        }
    }
    /// What the last success of a task left; empty if that was nothing.
    pub fn output(&self, id: &str) -> Result<Vec<u8>> {
        let mut raw = ptr::null_mut();
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        // Sound: the output is read before it is freed.
        unsafe {
            check(raw::selene_task_get_output(self.handle(), data, length, &mut raw))?;
            let made = bytes(&(*raw).output).to_vec();
            raw::selene_free(raw.cast());
            Ok(made)
        }
    }
    /// The ids of all tasks.
    pub fn ids(&self) -> Result<Vec<String>> {
        listed(|out| unsafe { raw::selene_task_list(self.handle(), ptr::null(), 0, out) })
    }
    /// Of those with a tag.
    pub fn ids_with_tag(&self, tag: &str) -> Result<Vec<String>> {
        listed(|out| unsafe { raw::selene_task_list(self.handle(), tag.as_ptr().cast(), length(tag.as_bytes()), out) })
    }
    /// Of those in a state.
    pub fn ids_in(&self, state: State) -> Result<Vec<String>> {
        listed(|out| unsafe { raw::selene_task_list_state(self.handle(), state.number(), out) })
    }
    /// Cancels a task and what waits behind it; how many records.
    pub fn cancel(&self, id: &str) -> Result<u64> {
        let mut count = 0;
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        check(unsafe { raw::selene_task_cancel(self.handle(), data, length, &mut count) })?;
        Ok(count)
    }
    /// Cancels those with a tag.
    pub fn cancel_tag(&self, tag: &str) -> Result<u64> {
        let mut count = 0;
        let (data, length) = (tag.as_ptr().cast(), length(tag.as_bytes()));
        check(unsafe { raw::selene_task_cancel_tag(self.handle(), data, length, &mut count) })?;
        Ok(count)
    }
    /// Says when a live task is due next, once, in place of the instant that was or will be computed.
    pub fn set_next(&self, id: &str, next: SystemTime) -> Result<()> {
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        check(unsafe { raw::selene_task_set_next(self.handle(), data, length, since_epoch(next)) })
    }
    /// Pauses a task and what waits behind it: they stay as they are, and none begins.
    pub fn pause_task(&self, id: &str) -> Result<u64> {
        let mut count = 0;
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        check(unsafe { raw::selene_task_pause(self.handle(), data, length, &mut count) })?;
        Ok(count)
    }
    /// Pauses those that have a tag now.
    pub fn pause_tag(&self, tag: &str) -> Result<u64> {
        let mut count = 0;
        let (data, length) = (tag.as_ptr().cast(), length(tag.as_bytes()));
        check(unsafe { raw::selene_task_pause_tag(self.handle(), data, length, &mut count) })?;
        Ok(count)
    }
    /// Lets a task go on that was paused, and what waits behind it.
    pub fn resume_task(&self, id: &str) -> Result<u64> {
        let mut count = 0;
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        check(unsafe { raw::selene_task_resume(self.handle(), data, length, &mut count) })?;
        Ok(count)
    }
    /// Lets those with a tag go on.
    pub fn resume_tag(&self, tag: &str) -> Result<u64> {
        let mut count = 0;
        let (data, length) = (tag.as_ptr().cast(), length(tag.as_bytes()));
        check(unsafe { raw::selene_task_resume_tag(self.handle(), data, length, &mut count) })?;
        Ok(count)
    }
    /// Pauses kinds everywhere: none of their tasks begins before an instant, at most 10 years ahead; none: until they are
    /// resumed. Runs in flight go on. The store keeps it; pausing them again changes the end.
    pub fn pause_kinds(&self, kinds: Kinds, until: Option<SystemTime>) -> Result<()> {
        self.set_pause(kinds, None, pause_end(until))
    }
    /// Lets kinds go on that were paused everywhere.
    pub fn resume_kinds(&self, kinds: Kinds) -> Result<()> {
        self.set_pause(kinds, None, 0)
    }
    /// Pauses kinds in a pool: of the tasks whose handlers its processes offer. Everywhere and in each pool they are paused
    /// apart, and a task waits while either holds.
    pub fn pause_pool(&self, pool: &str, kinds: Kinds, until: Option<SystemTime>) -> Result<()> {
        self.set_pause(kinds, Some(pool), pause_end(until))
    }
    /// Lets kinds go on that were paused in a pool.
    pub fn resume_pool(&self, pool: &str, kinds: Kinds) -> Result<()> {
        self.set_pause(kinds, Some(pool), 0)
    }
    fn set_pause(&self, kinds: Kinds, pool: Option<&str>, until: i64) -> Result<()> {
        // To the header an empty pool is everywhere, and no kind is both of a pool.
        let pool = match pool {
            Some("") => return Err(Error::empty("pool", "a pool has a name")),
            Some(pool) if kinds != Kinds::NONE => pool,
            _ => "",
        };
        let (data, length) = (pool.as_ptr().cast(), length(pool.as_bytes()));
        check(unsafe { raw::selene_scheduler_pause(self.handle(), kinds.bits(), data, length, until) })
    }
    /// The kinds that are paused: first everywhere, then by pool.
    pub fn pauses(&self) -> Result<Vec<Pause>> {
        let mut raw = ptr::null_mut();
        // Sound: the list is read before it is freed.
        unsafe {
            check(raw::selene_pause_list(self.handle(), &mut raw))?;
            let made = slice((*raw).pauses, (*raw).count).iter().map(|pause| Pause::new(pause)).collect();
            raw::selene_free(raw.cast());
            Ok(made)
        }
    }
    /// Defines a condition of the host's own, which tasks ask for by its name.
    pub fn define_condition(&self, name: &str) -> Result<()> {
        check(unsafe { raw::selene_condition_define(self.handle(), name.as_ptr().cast(), length(name.as_bytes())) })
    }
    /// Takes the definition back; it is then not satisfied.
    pub fn undefine_condition(&self, name: &str) -> Result<()> {
        check(unsafe { raw::selene_condition_undefine(self.handle(), name.as_ptr().cast(), length(name.as_bytes())) })
    }
    /// Says whether a condition that is defined is satisfied; runs that lose it are stopped.
    pub fn set_condition(&self, name: &str, satisfied: bool) -> Result<()> {
        let (data, length) = (name.as_ptr().cast(), length(name.as_bytes()));
        check(unsafe { raw::selene_condition_set(self.handle(), data, length, satisfied.into()) })
    }
    /// The conditions that are defined, or that a task asks for, and whether each is satisfied; none: not defined.
    pub fn conditions(&self) -> Result<Vec<(String, Option<bool>)>> {
        let names = listed(|out| unsafe { raw::selene_condition_list(self.handle(), out) })?;
        let mut found = Vec::new();
        for name in names {
            let mut state = 0;
            let (data, length) = (name.as_ptr().cast(), length(name.as_bytes()));
            match unsafe { raw::selene_condition_get(self.handle(), data, length, &mut state) } {
                // Gone meanwhile.
                raw::SELENE_ERROR_NOT_FOUND => continue,
                status => check(status)?,
            }
            let satisfied = state == raw::SELENE_CONDITION_SATISFIED;
            found.push((name, (state != raw::SELENE_CONDITION_UNDEFINED).then_some(satisfied)));
        }
        Ok(found)
    }
    /// The names of those that a task asks for and that are not satisfied.
    pub fn missing_conditions(&self, id: &str) -> Result<Vec<String>> {
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        listed(|out| unsafe { raw::selene_condition_missing(self.handle(), data, length, out) })
    }
    /// At most so many runs of a group go on at a time; 0: no limit.
    pub fn limit_group(&self, name: &str, limit: u32) -> Result<()> {
        let (data, length) = (name.as_ptr().cast(), length(name.as_bytes()));
        check(unsafe { raw::selene_group_set_limit(self.handle(), data, length, limit) })
    }
    /// Begins no more runs of a group.
    pub fn pause_group(&self, name: &str) -> Result<()> {
        check(unsafe { raw::selene_group_pause(self.handle(), name.as_ptr().cast(), length(name.as_bytes())) })
    }
    /// Lets a group go on that was paused.
    pub fn resume_group(&self, name: &str) -> Result<()> {
        check(unsafe { raw::selene_group_resume(self.handle(), name.as_ptr().cast(), length(name.as_bytes())) })
    }
    /// A group; none if nothing of it is set, no task of it waits and none runs.
    pub fn group(&self, name: &str) -> Result<Option<GroupInfo>> {
        let mut raw = defaults!(selene_group_info);
        let (data, length) = (name.as_ptr().cast(), length(name.as_bytes()));
        match unsafe { raw::selene_group_get(self.handle(), data, length, &mut raw) } {
            raw::SELENE_ERROR_NOT_FOUND => Ok(None),
            status => {
                check(status)?;
                let raw::selene_group_info { limit, paused, running, waiting, .. } = raw;
                Ok(Some(GroupInfo { limit, paused: paused != 0, running, waiting }))
            }
        }
    }
    /// The names of all groups.
    pub fn groups(&self) -> Result<Vec<String>> {
        listed(|out| unsafe { raw::selene_group_list(self.handle(), out) })
    }
    /// Cancels all.
    pub fn cancel_all(&self) -> Result<u64> {
        let mut count = 0;
        check(unsafe { raw::selene_task_cancel_all(self.handle(), &mut count) })?;
        Ok(count)
    }
    /// Enqueues a failed task again.
    pub fn retry(&self, id: &str) -> Result<()> {
        check(unsafe { raw::selene_task_retry(self.handle(), id.as_ptr().cast(), length(id.as_bytes())) })
    }
    /// Enqueues a failed task again, and all that failed because of it; how many.
    pub fn retry_successors(&self, id: &str) -> Result<u64> {
        let mut count = 0;
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        check(unsafe { raw::selene_task_retry_successors(self.handle(), data, length, &mut count) })?;
        Ok(count)
    }
    /// Why a task does not run now.
    pub fn explain(&self, id: &str) -> Result<Explanation> {
        let mut raw = defaults!(selene_explanation);
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        check(unsafe { raw::selene_task_explain(self.handle(), data, length, &mut raw) })?;
        Ok(Explanation::new(&raw))
    }
    /// Where the time of a task went since it was last due, or registered.
    pub fn waits(&self, id: &str) -> Result<Waits> {
        let mut raw = ptr::null_mut();
        let (data, length) = (id.as_ptr().cast(), length(id.as_bytes()));
        // Sound: the answer is read before it is freed.
        unsafe {
            check(raw::selene_task_waits(self.handle(), data, length, &mut raw))?;
            let made = Waits::new(&*raw);
            raw::selene_free(raw.cast());
            Ok(made)
        }
    }

    // ---- windows ----

    /// Begins a cycle whose runs are pulled.
    pub fn begin(&self, window: &Window) -> Result<Cycle> {
        let mut cycle = 0;
        window.lend(|raw| check(unsafe { raw::selene_cycle_begin(self.handle(), raw, &mut cycle) }))?;
        Ok(Cycle::new(self.core.clone(), cycle))
    }
    /// Runs a whole cycle on library threads, or on this one, and reports by the deadline.
    pub fn run(&self, window: &Window) -> Result<Report> {
        let mut report = ptr::null_mut();
        window.lend(|raw| check(unsafe { raw::selene_cycle_run(self.handle(), raw, &mut report) }))?;
        Ok(unsafe { Report::owned(report) })
    }
    /// The same without waiting: `done` is called on a thread of the library.
    pub fn run_async<F>(&self, window: &Window, done: F) -> Result<()>
    where
        F: FnOnce(Report) + Send + 'static,
    {
        let context = Box::into_raw(Box::new(Some(done))).cast();
        window.lend(|raw| {
            check(unsafe {
                raw::selene_cycle_run_async(
                    self.handle(),
                    raw,
                    Some(receive::<F>),
                    context,
                    Some(destroy::<Option<F>>),
                    ptr::null_mut(),
                    ptr::null_mut(),
                )
            })
        })
    }
    /// What such a window would pick now.
    pub fn plan(&self, window: &Window) -> Result<Plan> {
        let mut plan = ptr::null_mut();
        window.lend(|raw| check(unsafe { raw::selene_cycle_plan(self.handle(), raw, &mut plan) }))?;
        Ok(unsafe { Plan::owned(plan) })
    }

    // ---- events ----

    /// The events from now on; the first who ask are also told what happened at open. Those that find no room are lost,
    /// and counted.
    pub fn events(&self, capacity: usize) -> Result<Events> {
        Events::new(self.handle(), capacity)
    }

    // ---- the governor ----

    /// Says what it asks for from now on, before the driver opens a window. It is not stored.
    pub fn set_profile(&self, profile: Profile) -> Result<()> {
        let mut raw = defaults!(selene_profile);
        raw.base = profile.number();
        check(unsafe { raw::selene_governor_set_profile(self.handle(), &raw) })
    }
    /// Sets a signal in place of what the system says, until it is cleared, or for a time.
    pub fn set_signal(&self, signal: Signal, value: i64, valid_for: Option<Duration>) -> Result<()> {
        let valid_for = valid_for.map_or(0, nanoseconds);
        check(unsafe { raw::selene_signal_set(self.handle(), signal.number(), value, valid_for) })
    }
    /// Takes that back.
    pub fn clear_signal(&self, signal: Signal) -> Result<()> {
        check(unsafe { raw::selene_signal_clear(self.handle(), signal.number()) })
    }
    /// Whether a kind deserves a window now, and why.
    pub fn ask(&self, kind: Kind) -> Result<Decision> {
        let mut raw = ptr::null_mut();
        // Sound: the answer is read before it is freed.
        unsafe {
            check(raw::selene_governor_ask(self.handle(), kind.number(), 0, &mut raw))?;
            let made = Decision::new(&*raw);
            raw::selene_free(raw.cast());
            Ok(made)
        }
    }

    // ---- the driver ----

    /// Starts a library thread that opens windows whenever something can run.
    pub fn start_driver(&self, driver: &Driver) -> Result<()> {
        check(unsafe { raw::selene_driver_start(self.handle(), &driver.0) })
    }
    /// Opens a driver without a thread: a descriptor that is readable when a step is due. It is the library's.
    pub fn open_driver(&self, driver: &Driver) -> Result<i32> {
        let mut fd = -1;
        check(unsafe { raw::selene_driver_open(self.handle(), &driver.0, &mut fd) })?;
        Ok(fd)
    }
    /// Does what is due; a cycle to work on, if a window was granted.
    pub fn driver_step(&self) -> Result<Option<Cycle>> {
        let mut cycle = 0;
        check(unsafe { raw::selene_driver_step(self.handle(), &mut cycle, ptr::null_mut()) })?;
        Ok((cycle != 0).then(|| Cycle::new(self.core.clone(), cycle)))
    }
    /// Waits until a step is due; false: time was up before.
    pub fn driver_wait(&self, timeout: Duration) -> Result<bool> {
        let mut ready = 0;
        check(unsafe { raw::selene_driver_wait(self.handle(), nanoseconds(timeout), &mut ready) })?;
        Ok(ready != 0)
    }
    /// Ends the driver; its runs have the grace.
    pub fn stop_driver(&self, grace: Duration) -> Result<()> {
        check(unsafe { raw::selene_driver_stop(self.handle(), nanoseconds(grace)) })
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        let grace = Duration::from_secs(1);
        if self.core.close(grace) == raw::SELENE_ERROR_REENTRANT {
            // The last owner was a handler: it cannot wait for itself.
            let core = self.core.clone();
            drop(std::thread::Builder::new().spawn(move || core.close(grace)));
        }
    }
}

/// The end of a pause; none: when it is resumed. The header's 0 resumes, so that instant is refused as any that is past,
/// and what is later than it can say as what is too far ahead.
fn pause_end(until: Option<SystemTime>) -> i64 {
    match until.map(since_epoch) {
        None => raw::SELENE_NEVER,
        Some(0) => -1,
        Some(at) => at.min(raw::SELENE_NEVER - 1),
    }
}

fn listed(list: impl FnOnce(*mut *mut raw::selene_task_ids) -> raw::selene_status) -> Result<Vec<String>> {
    let mut raw = ptr::null_mut();
    check(list(&mut raw))?;
    unsafe {
        let made = slice((*raw).ids, (*raw).count).iter().map(|id| string(id)).collect();
        raw::selene_free(raw.cast());
        Ok(made)
    }
}

/// Hands a report over, once.
unsafe extern "C" fn receive<F: FnOnce(Report)>(report: *const raw::selene_report, context: *mut c_void) {
    if let Some(done) = (*context.cast::<Option<F>>()).take() {
        guarded(|| done(Report::new(&*report)));
    }
}
