//! What the governor decides.

use crate::error::slice;
use crate::numbers::Factor;
use crate::raw;
use crate::time::{instant, maybe, span};
use std::time::{Duration, SystemTime};

/// Whether a kind of work deserves a window now, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it does.
    pub granted: bool,
    /// When that was decided.
    pub at: SystemTime,
    /// What budgets leave room for; none: any.
    pub longest_window: Option<Duration>,
    /// When asking again is worth it, unless a signal changes before; none: only then.
    pub ask_again_at: Option<SystemTime>,
    /// What became of every factor that the profile asks for.
    pub findings: Vec<Finding>,
}

/// What became of a factor, in its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub factor: Factor,
    /// Whether it alone refuses.
    pub refuses: bool,
    /// What was found.
    pub observed: i64,
    /// What is asked for.
    pub required: i64,
    /// When it can be better; none: when a signal changes.
    pub clears_at: Option<SystemTime>,
}

impl Decision {
    /// # Safety
    /// The findings of `raw` are alive.
    pub(crate) unsafe fn new(raw: &raw::selene_decision) -> Decision {
        let finding = |one: &raw::selene_finding| Finding {
            factor: Factor::of(one.factor),
            refuses: one.verdict == raw::SELENE_VERDICT_VETOED,
            observed: one.observed,
            required: one.required,
            clears_at: maybe(one.clears_at),
        };
        Decision {
            granted: raw.granted != 0,
            at: instant(raw.at),
            longest_window: (raw.longest_window != raw::SELENE_NEVER).then(|| span(raw.longest_window)),
            ask_again_at: maybe(raw.ask_again_at),
            findings: slice(raw.findings, raw.finding_count).iter().map(finding).collect(),
        }
    }
}
