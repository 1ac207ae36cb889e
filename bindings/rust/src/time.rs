//! Durations and instants of Rust in the header's nanoseconds.

use crate::raw;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is longer than the header can say is without an end, which it refuses where that makes no sense.
pub(crate) fn nanoseconds(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(raw::SELENE_NEVER)
}

pub(crate) fn span(nanoseconds: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}

pub(crate) fn instant(nanoseconds: i64) -> SystemTime {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 {
        UNIX_EPOCH - distance
    } else {
        UNIX_EPOCH + distance
    }
}

pub(crate) fn since_epoch(at: SystemTime) -> i64 {
    match at.duration_since(UNIX_EPOCH) {
        Ok(span) => nanoseconds(span),
        Err(before) => -nanoseconds(before.duration()),
    }
}

/// None: never.
pub(crate) fn maybe(nanoseconds: i64) -> Option<SystemTime> {
    (nanoseconds != raw::SELENE_NEVER).then(|| instant(nanoseconds))
}
