//! The reserved property `_ts`: the second of the last write, which the server sets on every write.
//! Clients neither see nor set it, but for those that dump and restore while that is switched on.
//! An index on it is the collection's default time to live.

use document::{Number, ValueRef};

use crate::errors::{BadValue, Error, Result};

/// The reserved property: the server's stamp, which clients neither see nor set.
pub(crate) const RESERVED: &str = "_ts";

/// The error (2) of a client that sets the property.
pub(crate) fn reserved_error() -> Error {
    Error::new(BadValue, "the property '_ts' is reserved: the server sets it on every write")
}

/// The latest second that a restored document may name, the last one of the year 9999; what is
/// later than now counts as now.
const LATEST: i64 = 253_402_300_799;

/// The second since 1970 in which a document was written that comes back from a dump. It has to be
/// a whole number: a wrong one would expire a document at a wrong time, so it is refused and not
/// coerced.
pub(crate) fn carried_second(value: ValueRef<'_>) -> Result<i64> {
    let second = Number::of(value).and_then(Number::to_i64_exact);
    second.filter(|second| (0..=LATEST).contains(second)).ok_or_else(|| {
        let message = format!(
            "the reserved property '{RESERVED}' of a document that is restored has to be a whole \
             number of seconds since 1970"
        );
        Error::new(BadValue, message)
    })
}
