#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

#[allow(missing_docs, non_camel_case_types, dead_code)]
#[rustfmt::skip]
pub mod raw;

mod connect;
mod cycle;
mod driver;
mod error;
mod event;
mod governor;
#[rustfmt::skip]
mod numbers;
mod run;
mod scheduler;
mod task;
mod time;

pub use connect::Connection;
pub use cycle::{Cycle, Plan, PlanRun, Report, ReportRun, Step, Window};
pub use driver::Driver;
pub use error::{Error, Result};
pub use event::{Event, Events};
pub use governor::{Decision, Finding};
pub use numbers::*;
pub use run::{Failure, IntoVerdict, Later, Run, Verdict};
pub use scheduler::{Options, Scheduler};
pub use task::{Explanation, GroupInfo, Missing, Pause, Progress, Task, TaskInfo, WaitPart, Waits};
