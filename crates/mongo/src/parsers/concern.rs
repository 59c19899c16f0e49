//! Read and write concerns. Committed data is durable and visible to all, so `local` and `majority`
//! are the same level here. Concerns that need a replica set are refused with the errors of a
//! standalone mongod 6.0, which drivers' tests expect.
//!
//! ```text
//! readConcern: {level: "local" | "majority" | .., afterClusterTime: .., provenance: ..}
//! writeConcern: {w: 0..50 | "majority" | {tag: n}, j: bool, wtimeout: ms}
//! ```
//!
//! The checks return nothing: a valid concern has no effect on the command.

use document::{DocRef, Number, Rounding, ValueRef};

use crate::{
    arguments::Args,
    command_row::{Access, CommandRow, ReadLevels},
    errors::{
        BadValue, Error, FailedToParse, IllegalOperation, InvalidOptions, NotAReplicaSet, Result,
        TypeMismatch,
    },
};

/// Possible values of `provenance`, which mongos adds to a concern.
const PROVENANCES: [&str; 5] = [
    "clientSupplied",
    "implicitDefault",
    "customDefault",
    "getLastErrorDefaults",
    "internalWriteDefault",
];

/// Checks the read concern of a command.
///
/// As in mongod, the fields are checked in their order, and their combination afterwards. If
/// several are wrong, this decides which error is reported.
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
            // Internal to drivers and the replica set protocol.
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
    check_level(args, row, level)?;
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

/// Fails with 72 if the command does not support a read level, and with 123 if a standalone server
/// does not. A pipeline with `$out` or `$merge` writes, so its read must not be linearizable.
fn check_level(args: &Args<'_>, row: &CommandRow, level: Option<&str>) -> Result<()> {
    let writes = || matches!(row.access, Access::ByArguments(changes) if changes(args.body));
    let accepts = |level: &str| match row.read_levels {
        ReadLevels::Local => false,
        ReadLevels::ExceptSnapshot => level != "snapshot",
        ReadLevels::All => level != "linearizable" || !writes(),
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

/// Returns the error (14) of a field of a wrong type, with the text that mongod has for concerns.
fn wrong_type(name: &str, expected: &str, found: ValueRef<'_>) -> Error {
    let found = found.kind().name();
    let message = format!("\"{name}\" had the wrong type. Expected {expected}, found {found}");
    Error::new(TypeMismatch, message)
}

/// Checks the field `provenance` of a read or write concern.
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

/// Checks the write concern of a command. Acknowledged writes are durable, so every concern that a
/// single server can satisfy is satisfied: `w: 1`, `w: "majority"` and `j` are the same, and
/// `wtimeout` never expires.
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
    // As in mongod, a value that is not a number counts as absent.
    let wait = concern.get("wtimeout").and_then(Number::of).map(whole_number);
    if wait.is_some_and(|wait| i64::from(i32::MAX) < wait) {
        return Err(Error::new(FailedToParse, "wtimeout must be a 32-bit integer"));
    }
    concern.get("w").map_or(Ok(()), check_nodes)
}

/// Converts a number to an integer as mongod does: doubles are truncated, decimals rounded half to
/// even; values beyond 64 bits saturate, and NaN is 0.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a saturated number is still out of the range of 32 bits"
)]
fn whole_number(number: Number) -> i64 {
    match number {
        Number::Decimal(decimal) => {
            decimal.to_i64(Rounding::HalfEven).unwrap_or_else(|| number.to_f64() as i64)
        }
        number => number.to_i64_exact().unwrap_or_else(|| number.to_f64() as i64),
    }
}

/// Checks `w`: a number of nodes, a mode, or tags. Modes other than `majority` belong to a replica
/// set's configuration.
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

/// Checks a number of nodes. More than 1 is valid, but a single server cannot satisfy it; more than
/// 50 exceeds the size of a replica set.
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

/// Checks the tags of a write concern: at least one, with numbers as values. They have no effect.
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
