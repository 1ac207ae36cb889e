//! How a driver opens windows.

use crate::error::defaults;
use crate::numbers::Kinds;
use crate::raw;
use crate::time::{count, nanoseconds, said};
use std::fmt;
use std::time::Duration;

/// How a driver opens windows; what is not said has the library's default.
#[derive(Clone)]
pub struct Driver(pub(crate) raw::selene_driver);

impl Default for Driver {
    fn default() -> Driver {
        Driver(defaults!(selene_driver))
    }
}

impl Driver {
    /// All defaults.
    pub fn new() -> Driver {
        Driver::default()
    }
    /// Budget and lanes of windows for refresh work; no budget (zero: nobody has decided a deadline), one lane.
    pub fn refresh(mut self, budget: Duration, lanes: u32) -> Driver {
        self.0.refresh_budget = nanoseconds(budget);
        self.0.refresh_lanes = count(lanes, u32::MAX);
        self
    }
    /// Budget and lanes of windows for processing; no budget, one lane.
    pub fn processing(mut self, budget: Duration, lanes: u32) -> Driver {
        self.0.processing_budget = nanoseconds(budget);
        self.0.processing_lanes = count(lanes, u32::MAX);
        self
    }
    /// The kinds of its windows; both.
    pub fn kinds(mut self, kinds: Kinds) -> Driver {
        self.0.kinds = kinds.bits();
        self
    }
    /// Kept free at the end of each window.
    pub fn reserve(mut self, reserve: Duration) -> Driver {
        self.0.reserve = said(reserve);
        self
    }
    /// The least time from window to window of a kind.
    pub fn every(mut self, every: Duration) -> Driver {
        self.0.every = nanoseconds(every);
        self
    }
    /// Nothing is picked whose estimate does not fit.
    pub fn strict_fit(self) -> Driver {
        self.flag(raw::SELENE_DRIVER_STRICT_FIT)
    }
    /// One window at a time, for all kinds that are due.
    pub fn together(self) -> Driver {
        self.flag(raw::SELENE_DRIVER_TOGETHER)
    }
    /// Each window picks from what was eligible at its begin.
    pub fn frozen(self) -> Driver {
        self.flag(raw::SELENE_DRIVER_FROZEN)
    }
    /// It asks no governor: what is due has its window.
    pub fn ungoverned(self) -> Driver {
        self.flag(raw::SELENE_DRIVER_UNGOVERNED)
    }

    fn flag(mut self, flag: i32) -> Driver {
        self.0.flags |= flag as u32;
        self
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Driver").finish_non_exhaustive()
    }
}
