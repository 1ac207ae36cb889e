//! Durations and instants of Rust in the header's nanoseconds.

use crate::raw;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is longer than the header can say is without an end, which it refuses where that makes no sense.
pub(crate) fn nanoseconds(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(raw::SELENE_NEVER)
}

/// For a field whose 0 is a default: SELENE_NONE says 0, or is refused where 0 is not allowed.
pub(crate) fn said(span: Duration) -> i64 {
    match nanoseconds(span) {
        0 => raw::SELENE_NONE.into(),
        said => said,
    }
}

/// The same of a number of bytes, or of tasks.
pub(crate) fn size(bytes: u64) -> i64 {
    match i64::try_from(bytes).unwrap_or(raw::SELENE_NEVER) {
        0 => raw::SELENE_NONE.into(),
        said => said,
    }
}

/// For a number without a sign whose 0 is a default: what is refused as 0 is.
pub(crate) fn count<Number: From<u32> + PartialEq>(number: Number, refused: Number) -> Number {
    if number == Number::from(0) {
        refused
    } else {
        number
    }
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
