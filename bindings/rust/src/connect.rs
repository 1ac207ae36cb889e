//! Stores that another process has open.

use crate::error::{check, defaults, length, text, Result};
use crate::raw;
use crate::scheduler::{path_bytes, Scheduler};
use crate::time::{nanoseconds, said};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How to reach the process that has a store open; what is not said has the library's default.
#[derive(Clone)]
pub struct Connection {
    raw: raw::selene_connect_options,
    path: PathBuf,
    pool: String,
}

// The pointers in it are NULL until it connects, and then those of a copy.
unsafe impl Send for Connection {}
unsafe impl Sync for Connection {}

impl Connection {
    /// The store, or the socket on which it is served.
    pub fn to(path: impl AsRef<Path>) -> Connection {
        let raw = defaults!(selene_connect_options);
        Connection { raw, path: path.as_ref().into(), pool: String::new() }
    }
    /// How long a call waits for an owner while none serves the store; not at all.
    pub fn wait(mut self, wait: Duration) -> Connection {
        self.raw.wait = nanoseconds(wait);
        self
    }
    /// How long a call waits for an answer; 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Connection {
        self.raw.timeout = said(timeout);
        self
    }
    /// Those whose handlers are the same, any of which runs its tasks; the name of the executable.
    pub fn pool(mut self, pool: impl Into<String>) -> Connection {
        self.pool = pool.into();
        self
    }

    /// Connects to the process that has the store open and serves it ([`Scheduler::serve`], or selened). The scheduler is
    /// used as any other: what is registered is kept there, and its windows and its driver run the tasks of its handlers.
    pub fn open(&self) -> Result<Scheduler> {
        let path = path_bytes(&self.path);
        let mut raw = self.raw;
        raw.path = raw::selene_text { data: path.as_ptr().cast(), length: length(&path) };
        raw.pool = text(&self.pool);
        let mut handle = 0;
        check(unsafe { raw::selene_scheduler_connect(&raw, &mut handle) })?;
        Ok(Scheduler::owning(handle))
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Connection").field("path", &self.path).field("pool", &self.pool).finish_non_exhaustive()
    }
}
