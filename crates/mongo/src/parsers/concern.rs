//! Read and write concerns. Committed data is durable and visible to all, so `local`, `majority` and
//! `linearizable` are the same level here, and no read has to wait for `afterClusterTime`. A server
//! without a cluster time refuses concerns that need a replica set with the errors of a standalone
//! mongod 6.0, which drivers' tests expect.
//!
//! ```text
//! readConcern: {level: "local" | "majority" | .., afterClusterTime: .., provenance: ..}
//! writeConcern: {w: 0..50 | "majority" | {tag: n}, j: bool, wtimeout: ms}
//! ```
//!
//! The checks return nothing: a valid concern has no effect on the command. A write that more members
//! would have to acknowledge than there are is made and reported with a `writeConcernError`.

use document::{DocBuf, DocBuilder, DocRef, Document, Number, Rounding, ValueRef, doc};
use engine::ClusterTime;

use crate::{
    arguments::Args,
    command_row::{Access, CommandRow, ReadLevels},
    errors::{
        BadValue, Error, FailedToParse, IllegalOperation, InvalidOptions, NotAReplicaSet, Result,
        TypeMismatch, UnknownReplWriteConcern, UnsatisfiableWriteConcern, code_name,
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

/// Checks the read concern of a command. `time` is the server's cluster time; `None` if it has none.
///
/// As in mongod, the fields are checked in their order, and their combination afterwards. If
/// several are wrong, this decides which error is reported.
pub(crate) fn check_read(
    args: &Args<'_>,
    row: &CommandRow,
    time: Option<ClusterTime>,
) -> Result<()> {
    let Some(concern) = args.get_or_null("readConcern") else { return Ok(()) };
    let Some(concern) = concern.as_document() else {
        if row.strict_shared && !concern.is_nullish() {
            return Err(args.wrong_type("readConcern", concern, " 'object'"));
        }
        return Err(Error::new(FailedToParse, "readConcern field should be an object"));
    };
    let mut given = GivenRead::default();
    for (name, value) in concern.iter() {
        given.read_field(name, value)?;
    }
    given.check_times()?;
    check_level(args, row, given.level, time.is_some())?;
    match (time, given.after) {
        (None, _) if given.after_optime => {
            let message = "node needs to be a replica set member to use read concern";
            Err(Error::new(NotAReplicaSet, message))
        }
        (None, Some(_)) => {
            let message = "Cannot specify afterClusterTime readConcern without replication enabled";
            Err(Error::new(IllegalOperation, message))
        }
        (Some(time), Some(after)) => check_after(args, after, time),
        (_, None) => Ok(()),
    }
}

/// The fields of a read concern that decide together.
#[derive(Default)]
struct GivenRead<'a> {
    level: Option<&'a str>,
    after: Option<ClusterTime>,
    at: Option<ClusterTime>,
    after_optime: bool,
}

impl<'a> GivenRead<'a> {
    fn read_field(&mut self, name: &str, value: ValueRef<'a>) -> Result<()> {
        match (name, value) {
            ("level", ValueRef::String(text)) => self.level = Some(text),
            ("level", other) => return Err(wrong_type(name, "string", other)),
            ("afterClusterTime" | "atClusterTime", ValueRef::Timestamp(0)) => {
                let message = format!("{name} cannot be a null timestamp");
                return Err(Error::new(InvalidOptions, message));
            }
            ("afterClusterTime", ValueRef::Timestamp(time)) => {
                self.after = Some(ClusterTime::from_timestamp(time));
            }
            ("atClusterTime", ValueRef::Timestamp(time)) => {
                self.at = Some(ClusterTime::from_timestamp(time));
            }
            ("afterClusterTime" | "atClusterTime", other) => {
                return Err(wrong_type(name, "timestamp", other));
            }
            ("provenance", value) if value.is_nullish() => {}
            ("provenance", value) => check_provenance("readConcern", value)?,
            // Internal to drivers and the replica set protocol.
            ("afterOpTime", ValueRef::Document(_)) => self.after_optime = true,
            ("afterOpTime", other) => return Err(wrong_type(name, "object", other)),
            ("allowTransactionTableSnapshot" | "waitLastStableRecoveryTimestamp", _) => {}
            _ => {
                let message = format!("Unrecognized option in readConcern: {name}");
                return Err(Error::new(InvalidOptions, message));
            }
        }
        Ok(())
    }

    /// Checks the times against each other and against the level.
    fn check_times(&self) -> Result<()> {
        let message = match (self.after, self.at) {
            (Some(_), Some(_)) => "Cannot specify both afterClusterTime and atClusterTime",
            (None, Some(_)) if self.level != Some("snapshot") => {
                "atClusterTime field can be set only if level is equal to snapshot"
            }
            (Some(_), None) if matches!(self.level, Some("available" | "linearizable")) => {
                "afterClusterTime field can be set only if level is equal to majority, local, or \
                 snapshot"
            }
            _ => return Ok(()),
        };
        Err(Error::new(InvalidOptions, message))
    }
}

/// Checks the time after which a client wants to read. Everything up to the server's cluster time is
/// visible to all reads.
///
/// Fails with 72 if the time is later, unless the client also sends it in its `$clusterTime`. In
/// that case a server issued the time before a backup was restored, and the read does not wait for
/// it.
fn check_after(args: &Args<'_>, after: ClusterTime, time: ClusterTime) -> Result<()> {
    let gossip = args.get("$clusterTime").and_then(ValueRef::as_document);
    let seen = match gossip.and_then(|gossip| gossip.get("clusterTime")) {
        Some(ValueRef::Timestamp(seen)) => ClusterTime::from_timestamp(seen),
        _ => ClusterTime::MIN,
    };
    if after <= time.max(seen) {
        return Ok(());
    }
    Err(future_time("afterClusterTime", after, time))
}

/// Returns the error (72) of a read concern's time that is later than the server's.
pub(crate) fn future_time(name: &str, asked: ClusterTime, time: ClusterTime) -> Error {
    let shown = |time: ClusterTime| format!("Timestamp({}, {})", time.seconds(), time.increment());
    let message = format!(
        "readConcern {name} value must not be greater than the current clusterTime. Requested \
         clusterTime: {}; current clusterTime: {}",
        shown(asked),
        shown(time)
    );
    Error::new(InvalidOptions, message)
}

/// Fails with 72 if the command does not support a read level, and with 123 if a server without a
/// cluster time does not. A pipeline with `$out` or `$merge` writes, so its read must not be
/// linearizable.
fn check_level(
    args: &Args<'_>,
    row: &CommandRow,
    level: Option<&str>,
    is_replicated: bool,
) -> Result<()> {
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
        Some("linearizable" | "snapshot") if is_replicated => Ok(()),
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
pub(crate) fn check_write(args: &Args<'_>, is_replicated: bool) -> Result<()> {
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
    concern.get("w").map_or(Ok(()), |w| check_nodes(w, is_replicated))
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
fn check_nodes(w: ValueRef<'_>, is_replicated: bool) -> Result<()> {
    let mode = match w {
        ValueRef::String("majority") => return Ok(()),
        ValueRef::String(_) if is_replicated => return Ok(()),
        ValueRef::String(mode) => mode,
        ValueRef::Null => "",
        ValueRef::Document(tags) => return check_tags(tags),
        other => {
            let Some(count) = Number::of(other).map(whole_number) else {
                let found = other.kind().name();
                let message = format!("w has to be a number, string, or object; found: {found}");
                return Err(Error::new(FailedToParse, message));
            };
            return check_count(count, is_replicated);
        }
    };
    let message = format!(
        "cannot use non-majority 'w' mode \"{mode}\" when a host is not a member of a replica set"
    );
    Err(Error::new(BadValue, message))
}

/// Checks a number of nodes. More than 1 is valid, but a single server cannot satisfy it; more than
/// 50 exceeds the size of a replica set.
fn check_count(count: i64, is_replicated: bool) -> Result<()> {
    match count {
        0 | 1 => Ok(()),
        2..=50 if is_replicated => Ok(()),
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

/// Adds a `writeConcernError` to the reply of a write if its concern requires more than this server:
/// more members, or a mode that is not `majority`. The write has been made.
pub(crate) fn with_concern_error(reply: DocBuf, body: DocRef<'_>) -> DocBuf {
    let concern = body.get("writeConcern").and_then(ValueRef::as_document);
    let w = concern.and_then(|concern| concern.get("w"));
    let (code, message) = match w {
        None | Some(ValueRef::String("majority")) => return reply,
        Some(ValueRef::String(mode)) => {
            let message =
                format!("No write concern mode named '{mode}' found in replica set configuration");
            (UnknownReplWriteConcern, message)
        }
        Some(w) if Number::of(w).map(whole_number).is_some_and(|count| 1 < count) => {
            (UnsatisfiableWriteConcern, "Not enough data-bearing nodes".to_owned())
        }
        Some(_) => return reply,
    };
    let wait = concern.and_then(|concern| concern.get("wtimeout")).and_then(Number::of);
    let wait = wait.map_or(0, |wait| i32::try_from(whole_number(wait)).unwrap_or(0));
    let mut given = Document::new();
    w.into_iter().for_each(|w| given.push("w", w.to_value()));
    given.push("wtimeout", wait);
    given.push("provenance", "clientSupplied");
    let error = doc! {
        "code": code,
        "codeName": code_name(code).as_ref(),
        "errmsg": message,
        "errInfo": doc! { "writeConcern": given },
    };
    let mut builder = DocBuilder::new();
    for (name, value) in reply.as_ref().iter() {
        builder.append(name, value);
    }
    builder.append("writeConcernError", ValueRef::Document(DocRef::Tree(&error)));
    builder.finish()
}
