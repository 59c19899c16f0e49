//! Arguments that every command accepts besides its own: session, concerns and time limit.

use std::time::Duration;

use document::{DocRef, Number, ValueRef};
use engine::ClusterTime;

use super::{
    concern,
    number::check_number,
    transaction::{check_concerns, parse_transaction},
};
use crate::{
    arguments::Args,
    command_row::{CommandRow, Work},
    errors::{BadValue, Error, FailedToParse, IllegalOperation, InvalidOptions, Result},
    topology::Topology,
};

/// Checks the arguments that all commands share. Returns the command's deadline, on the machine's
/// monotonic clock. `time` is the server's cluster time; `None` if it has none.
///
/// Transaction numbers fail with 20 on a standalone server, as in mongod: drivers then disable
/// retryable writes.
pub(crate) fn check_shared(
    args: &Args<'_>,
    row: &CommandRow,
    topology: &Topology,
    time: Option<ClusterTime>,
) -> Result<Option<Duration>> {
    let retryable = args.get("txnNumber").is_some() || args.get("startTransaction").is_some();
    if !topology.accepts_numbers() && retryable {
        let message = "Transaction numbers are only allowed on a replica set member or mongos";
        return Err(Error::new(IllegalOperation, message));
    }
    if let Some(lsid) = args.document("lsid")? {
        check_session(lsid)?;
    }
    match parse_transaction(args, row)? {
        Some(transaction) => check_concerns(args, row, transaction)?,
        None => {
            if topology.accepts_numbers() {
                check_number(args, row)?;
            }
            concern::check_read(args, row, time)?;
        }
    }
    // mongod parses `maxTimeMS` of these commands among the command's own arguments, and so checks
    // its type in the same way.
    let own_type = row.strict_shared || row.work == Work::GetMore;
    let deadline = match args.get_or_null("maxTimeMS") {
        None => None,
        // This error of a wrong type takes precedence over the errors of `max_time`.
        Some(value) if own_type && !value.is_number() && !value.is_nullish() => {
            return Err(args.wrong_type("maxTimeMS", value, "s '[long, int, decimal, double]'"));
        }
        Some(_) if row.strict_shared && args.int("maxTimeMS")?.is_some_and(|it| it < 0) => {
            args.count("maxTimeMS")?;
            None
        }
        Some(value) => max_time(value)?,
    };
    if !row.write_concern && args.get_or_null("writeConcern").is_some() {
        let message = "Command does not support writeConcern";
        return Err(Error::new(InvalidOptions, message));
    }
    concern::check_write(args, time.is_some())?;
    Ok(deadline)
}

/// Returns the deadline for a `maxTimeMS`, which must be a 32-bit integer; 0 means no limit.
fn max_time(value: ValueRef<'_>) -> Result<Option<Duration>> {
    let Some(number) = Number::of(value) else {
        return Err(Error::new(BadValue, "maxTimeMS must be a number"));
    };
    let Some(ms) = number.to_i64_exact() else {
        return Err(Error::new(BadValue, "maxTimeMS has non-integral value"));
    };
    match u64::try_from(ms) {
        Ok(ms) if ms <= 2_147_483_647 => {
            Ok((0 < ms).then(|| clock::monotonic_time() + Duration::from_millis(ms)))
        }
        _ => Err(Error::new(BadValue, format!("{ms} value for maxTimeMS is out of range"))),
    }
}

/// Checks the session's id: a binary UUID.
fn check_session(lsid: DocRef<'_>) -> Result<()> {
    match lsid.get("id") {
        Some(ValueRef::Binary { subtype: 4, bytes }) if bytes.len() == 16 => Ok(()),
        Some(_) => Err(Error::new(FailedToParse, "the id of 'lsid' is not a UUID")),
        None => Err(Error::new(40414, "BSON field 'lsid.id' is missing but a required field")),
    }
}
