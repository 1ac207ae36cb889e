//! Events, as an iterator.

use crate::error::{check, string, Result};
use crate::numbers::{EventType, State};
use crate::raw;
use crate::run::{destroy, guarded};
use crate::time::{instant, nanoseconds};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::time::{Duration, SystemTime};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// 1, 2, 3 … in the order of the changes; those of events that were lost are missing.
    pub number: u64,
    /// What it tells.
    pub event: EventType,
    /// Of the task after it.
    pub state: Option<State>,
    /// When.
    pub time: SystemTime,
    /// Of the task; "" where there is none.
    pub id: String,
    /// A number whose meaning depends on the type; the header says which.
    pub detail: i32,
    /// Of the task or the run.
    pub attempts: u32,
    /// Why a run failed, or what the trouble is.
    pub message: String,
    /// Events that found no room before this one.
    pub lost: u64,
}

/// The events of a scheduler from its begin on. As an iterator it waits for each, and ends when the scheduler is closed or
/// its events are asked for again.
#[derive(Debug)]
pub struct Events {
    queue: Receiver<Event>,
}

impl Events {
    pub(crate) fn new(scheduler: raw::selene_scheduler, capacity: usize) -> Result<Events> {
        let (sender, queue) = sync_channel(capacity);
        let context = Box::into_raw(Box::new(Queue { sender, lost: AtomicU64::new(0) })).cast();
        // It releases the context also when it fails.
        let status = unsafe { raw::selene_scheduler_observe(scheduler, Some(tell), context, Some(destroy::<Queue>)) };
        check(status).map(|()| Events { queue })
    }

    /// The next one, if one waits.
    pub fn try_next(&mut self) -> Option<Event> {
        self.queue.try_recv().ok()
    }
    /// The next one, if there is one by the end of the timeout.
    pub fn wait(&mut self, timeout: Duration) -> Option<Event> {
        // The channel's own clock overflows with what is longer than the header can say.
        self.queue.recv_timeout(Duration::from_nanos(nanoseconds(timeout) as u64)).ok()
    }
}

impl Iterator for Events {
    type Item = Event;
    fn next(&mut self) -> Option<Event> {
        self.queue.recv().ok()
    }
}

struct Queue {
    sender: SyncSender<Event>,
    lost: AtomicU64,
}

/// Told of one event at a time, on the thread of any call; it waits for nothing.
unsafe extern "C" fn tell(raw: *const raw::selene_event, context: *mut c_void) {
    let (queue, raw) = (&*context.cast::<Queue>(), &*raw);
    guarded(|| {
        let lost = queue.lost.load(Ordering::Relaxed);
        let event = Event {
            number: raw.number,
            event: EventType::of(raw.type_),
            state: (raw.state >= 0).then(|| State::of(raw.state)),
            time: instant(raw.time),
            id: string(&raw.id),
            detail: raw.detail,
            attempts: raw.attempts,
            message: string(&raw.message),
            lost,
        };
        let left = if queue.sender.try_send(event).is_ok() { 0 } else { lost + 1 };
        queue.lost.store(left, Ordering::Relaxed);
    });
}
