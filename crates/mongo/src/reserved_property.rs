//! The reserved property `_ts`: the time of a document's last write in seconds, set by the server.
//! Clients neither see nor set it, except dump and restore tools while the setting
//! `carry_timestamps` is on. An index on it is the collection's default time to live.

use document::{Number, ValueRef};

use crate::errors::{BadValue, Error, Result};

/// The name of the reserved property.
pub(crate) const RESERVED: &str = "_ts";

/// Returns the error (2) of a client that sets the property.
pub(crate) fn reserved_error() -> Error {
    Error::new(BadValue, "the property '_ts' is reserved: the server sets it on every write")
}

/// Maximum time of the last write in a restored document: the last second of the year 9999. A time
/// in the future counts as the current time.
const LATEST: i64 = 253_402_300_799;

/// Reads the time of a restored document's last write, in seconds since 1970. A wrong number would
/// expire the document at a wrong time, so it is refused and not coerced.
pub(crate) fn restored_second(value: ValueRef<'_>) -> Result<i64> {
    let second = Number::of(value).and_then(Number::to_i64_exact);
    second.filter(|second| (0..=LATEST).contains(second)).ok_or_else(|| {
        let message = format!(
            "the reserved property '{RESERVED}' of a restored document must be a whole number of \
             seconds since 1970"
        );
        Error::new(BadValue, message)
    })
}
