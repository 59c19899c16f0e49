//! Read and write concerns: what a server alone can mean by them, and what makes no sense to it.
//! What is committed is durable and visible to all, so that `local` and `majority` are one level
//! here. What needs a replica set is refused with the errors of a standalone mongod 6.0, which
//! drivers' tests look for.
//!
//! ```text
//! readConcern: {level: "local" | "majority" | .., afterClusterTime: .., provenance: ..}
//! writeConcern: {w: 0..50 | "majority" | {tag: n}, j: bool, wtimeout: ms}
//! ```
//!
//! Nothing is returned: a concern that passes these checks changes nothing about the command.

use document::{DocRef, Number, Rounding, ValueRef};

use crate::{
    arguments::Args,
    command_row::{CommandRow, ReadLevels},
    errors::{
        BadValue, Error, FailedToParse, IllegalOperation, InvalidOptions, NotAReplicaSet, Result,
        TypeMismatch,
    },
};

/// Who may have chosen a concern. mongos adds it.
const PROVENANCES: [&str; 5] = [
    "clientSupplied",
    "implicitDefault",
    "customDefault",
    "getLastErrorDefaults",
    "internalWriteDefault",
];

/// Checks the read concern of a command.
///
/// The fields are read in the order in which they came, and what they mean together is checked
/// afterwards: several things may be wrong at once, and mongod's order decides which error it is.
pub(crate) fn check_read(args: &Args<'_>, row: &CommandRow) -> Result<()> {
    let Some(concern) = args.get_or_null("readConcern") else { return Ok(()) };
    let Some(concern) = concern.as_document() else {
        if row.strict_shared && !concern.is_nullish() {
            return Err(args.wrong_type("readConcern", concern, " 'object'"));
        }
        return Err(Error::new(FailedToParse, "readConcern field should be an object"));
    };
    let mut level = None;
    let (mut after, mut at, mut optime) = (false, false, false);
    for (name, value) in concern.iter() {
        match (name, value) {
            ("level", ValueRef::String(text)) => level = Some(text),
            ("level", other) => return Err(wrong_type(name, "string", other)),
            ("afterClusterTime", ValueRef::Timestamp(0)) => {
                let message = "afterClusterTime cannot be a null timestamp";
                return Err(Error::new(InvalidOptions, message));
            }
            ("afterClusterTime", ValueRef::Timestamp(_)) => after = true,
            ("atClusterTime", ValueRef::Timestamp(_)) => at = true,
            ("afterClusterTime" | "atClusterTime", other) => {
                return Err(wrong_type(name, "timestamp", other));
            }
            ("provenance", value) if value.is_nullish() => {}
            ("provenance", value) => check_provenance("readConcern", value)?,
            // Drivers' own bookkeeping of the replica set protocol.
            ("afterOpTime", ValueRef::Document(_)) => optime = true,
            ("afterOpTime", other) => return Err(wrong_type(name, "object", other)),
            ("allowTransactionTableSnapshot" | "waitLastStableRecoveryTimestamp", _) => {}
            _ => {
                let message = format!("Unrecognized option in readConcern: {name}");
                return Err(Error::new(InvalidOptions, message));
            }
        }
    }
    if at && level != Some("snapshot") {
        let message = "atClusterTime field can be set only if level is equal to snapshot";
        return Err(Error::new(InvalidOptions, message));
    }
    check_level(row, level)?;
    if optime {
        let message = "node needs to be a replica set member to use read concern";
        return Err(Error::new(NotAReplicaSet, message));
    }
    if after {
        let message = "Cannot specify afterClusterTime readConcern without replication enabled";
        return Err(Error::new(IllegalOperation, message));
    }
    Ok(())
}

/// Checks a level against what the command takes (72), then against what a standalone server has
/// (123).
fn check_level(row: &CommandRow, level: Option<&str>) -> Result<()> {
    let accepts = |level: &str| match row.read_levels {
        ReadLevels::Local => false,
        ReadLevels::ExceptSnapshot => level != "snapshot",
        ReadLevels::All => true,
    };
    match level {
        None | Some("local") => Ok(()),
        Some(level @ ("available" | "majority" | "linearizable" | "snapshot"))
            if !accepts(level) =>
        {
            let command = row.name;
            let message = format!(
                "Command {command} does not support {{ readConcern: {{ level: \"{level}\" }} }}"
            );
            Err(Error::new(InvalidOptions, message))
        }
        Some("available" | "majority") => Ok(()),
        Some("linearizable") => {
            let message = "node needs to be a replica set member to use read concern";
            Err(Error::new(NotAReplicaSet, message))
        }
        Some("snapshot") => {
            let message = "node needs to be a replica set member to use readConcern: snapshot";
            Err(Error::new(NotAReplicaSet, message))
        }
        Some(_) => {
            let message = "readConcern.level must be either 'local', 'majority', 'linearizable', \
                           'available', or 'snapshot'";
            Err(Error::new(FailedToParse, message))
        }
    }
}

/// The error (14) of a field of a wrong type, in the words of this part of mongod.
fn wrong_type(name: &str, expected: &str, found: ValueRef<'_>) -> Error {
    let found = found.kind().name();
    let message = format!("\"{name}\" had the wrong type. Expected {expected}, found {found}");
    Error::new(TypeMismatch, message)
}

/// Checks who is said to have chosen a concern.
fn check_provenance(of: &str, value: ValueRef<'_>) -> Result<()> {
    match value {
        ValueRef::String(name) if PROVENANCES.contains(&name) => Ok(()),
        ValueRef::String(name) => {
            let message = format!(
                "Enumeration value '{name}' for field '{of}.provenance' is not a valid value."
            );
            Err(Error::new(BadValue, message))
        }
        other => Err(wrong_type("provenance", "string", other)),
    }
}

/// Checks the write concern of a command. What is acknowledged is durable, so that all that can be
/// meant of one server is met: `w: 1`, `w: "majority"` and `j` are the same, and `wtimeout` never
/// passes.
pub(crate) fn check_write(args: &Args<'_>) -> Result<()> {
    let concern = match args.get_or_null("writeConcern") {
        None => return Ok(()),
        Some(ValueRef::Document(concern)) => concern,
        Some(other) => return Err(wrong_type("writeConcern", "object", other)),
    };
    let args = Args::new("writeConcern", concern);
    args.allow_only(&[
        "w",
        "j",
        "fsync",
        "wtimeout",
        "provenance",
        "getLastError",
        "wElectionId",
        "wOpTime",
    ])?;
    if args.lax_bool("j")?.unwrap_or(false) && args.lax_bool("fsync")?.unwrap_or(false) {
        return Err(Error::new(FailedToParse, "fsync and j options cannot be used together"));
    }
    args.lax_bool("fsync")?;
    if let Some(provenance) = args.get("provenance") {
        check_provenance("writeConcern", provenance)?;
    }
    // Another type than a number counts as none, and a time in the past as no time.
    let wait = concern.get("wtimeout").and_then(Number::of).map(whole_number);
    if wait.is_some_and(|wait| i64::from(i32::MAX) < wait) {
        return Err(Error::new(FailedToParse, "wtimeout must be a 32-bit integer"));
    }
    concern.get("w").map_or(Ok(()), check_nodes)
}

/// A number as mongod coerces it to a whole one: doubles lose their fraction, decimals are rounded to the
/// nearest number, half to even. What is beyond 64 bits becomes the nearest number, NaN 0.
#[expect(clippy::cast_possible_truncation, reason = "beyond its range it is out of range here too")]
fn whole_number(number: Number) -> i64 {
    match number {
        Number::Decimal(decimal) => {
            decimal.to_i64(Rounding::HalfEven).unwrap_or_else(|| number.to_f64() as i64)
        }
        number => number.to_i64_exact().unwrap_or_else(|| number.to_f64() as i64),
    }
}

/// Checks `w`: a number of nodes, a mode, or tags. Modes other than `majority` are those of a
/// replica set's configuration.
fn check_nodes(w: ValueRef<'_>) -> Result<()> {
    let mode = match w {
        ValueRef::String("majority") => return Ok(()),
        ValueRef::String(mode) => mode,
        ValueRef::Null => "",
        ValueRef::Document(tags) => return check_tags(tags),
        other => {
            let Some(count) = Number::of(other).map(whole_number) else {
                let found = other.kind().name();
                let message = format!("w has to be a number, string, or object; found: {found}");
                return Err(Error::new(FailedToParse, message));
            };
            return check_count(count);
        }
    };
    let message = format!(
        "cannot use non-majority 'w' mode \"{mode}\" when a host is not a member of a replica set"
    );
    Err(Error::new(BadValue, message))
}

/// Checks a number of nodes. More than one is understood, and cannot be met by a server alone; more
/// than 50 is more than a replica set has.
fn check_count(count: i64) -> Result<()> {
    match count {
        0 | 1 => Ok(()),
        2..=50 => Err(Error::new(BadValue, "cannot use 'w' > 1 when a host is not replicated")),
        _ => {
            let message = format!(
                "w has to be a non-negative number and not greater than 50; found: {count}"
            );
            Err(Error::new(FailedToParse, message))
        }
    }
}

/// Checks tags of a write concern: numbers by name, and at least one. What they ask for is not
/// looked at.
fn check_tags(tags: DocRef<'_>) -> Result<()> {
    if tags.is_empty() {
        return Err(Error::new(FailedToParse, "tagged write concern requires tags"));
    }
    match tags.iter().find(|(_, count)| !count.is_number()) {
        None => Ok(()),
        Some((tag, _)) => {
            let message = format!(
                "tags must be a single level document with only number values; found: {tag}"
            );
            Err(Error::new(FailedToParse, message))
        }
    }
}
