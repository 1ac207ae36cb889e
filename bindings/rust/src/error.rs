//! What the library refuses, and texts that cross the border.

use crate::numbers::Status;
use crate::raw;
use std::fmt;

/// What a call gives, or why it was refused.
pub type Result<T> = std::result::Result<T, Error>;

/// A call was refused or failed; nothing changed.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    status: Status,
    detail: String,
    field: String,
    found: String,
    allowed: String,
}

impl Error {
    /// What this thread's last failed call left.
    pub(crate) fn last(status: raw::selene_status) -> Error {
        // It belongs to this thread until its next failure, and is never NULL.
        unsafe {
            let error = &*raw::selene_error_last();
            Error(Box::new(Parts {
                status: Status::of(status),
                detail: string(&error.message),
                field: string(&error.field),
                found: string(&error.found),
                allowed: string(&error.allowed),
            }))
        }
    }

    /// What the library says of a scheduler that is closed, without asking it.
    pub(crate) fn closed() -> Error {
        Error(Box::new(Parts {
            status: Status::InvalidHandle,
            detail: "the scheduler is closed".into(),
            field: String::new(),
            found: String::new(),
            allowed: String::new(),
        }))
    }

    /// Where the library would take an empty text for none.
    pub(crate) fn empty(field: &str, why: &str) -> Error {
        Error(Box::new(Parts {
            status: Status::InvalidArgument,
            detail: format!("{field}: empty; {why}"),
            field: field.into(),
            found: String::new(),
            allowed: String::new(),
        }))
    }

    /// Which refusal it is.
    pub fn status(&self) -> Status {
        self.0.status
    }
    /// The whole sentence.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }
    /// The parameter or field; "" where the call as a whole is refused.
    pub fn field(&self) -> &str {
        &self.0.field
    }
    /// What was found there; may be "".
    pub fn found(&self) -> &str {
        &self.0.found
    }
    /// What is allowed there; may be "".
    pub fn allowed(&self) -> &str {
        &self.0.allowed
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.0.status, self.0.detail)
    }
}

impl std::error::Error for Error {}

pub(crate) fn check(status: raw::selene_status) -> Result<()> {
    if status == raw::SELENE_OK {
        Ok(())
    } else {
        Err(Error::last(status))
    }
}

/// A text on its way in: valid as long as the text.
pub(crate) fn text(text: &str) -> raw::selene_text {
    raw::selene_text { data: text.as_ptr().cast(), length: length(text.as_bytes()) }
}

pub(crate) fn length(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX)
}

/// The bytes of a text that the library lends.
///
/// # Safety
/// The text is one of the library's, and outlives what is made of it.
pub(crate) unsafe fn bytes<'a>(text: &raw::selene_text) -> &'a [u8] {
    if text.data.is_null() {
        return &[];
    }
    std::slice::from_raw_parts(text.data.cast(), usize::try_from(text.length).unwrap_or(0))
}

/// A copy of a text that the library lends.
///
/// # Safety
/// As of [`bytes`].
pub(crate) unsafe fn string(text: &raw::selene_text) -> String {
    String::from_utf8_lossy(bytes(text)).into_owned()
}

/// The elements of an array that the library lends.
///
/// # Safety
/// There are so many, and they outlive what is made of them.
pub(crate) unsafe fn slice<'a, T>(first: *const T, count: u64) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    std::slice::from_raw_parts(first, usize::try_from(count).unwrap_or(0))
}

/// A struct of the header with its defaults.
macro_rules! defaults {
    ($type:ident) => {{
        // All fields are numbers and pointers, for which zeros are valid; sizes of the header's structs fit 32 bits.
        let mut made: $crate::raw::$type = unsafe { std::mem::zeroed() };
        made.struct_size = std::mem::size_of_val(&made) as u32;
        made
    }};
}
pub(crate) use defaults;
