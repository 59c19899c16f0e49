//! What every command may carry beside its own fields: sessions, concerns, time limits.

use std::time::Duration;

use document::{DocRef, Number, ValueRef};

use crate::{
    args::Args,
    errors::{
        BadValue, Error, FailedToParse, IllegalOperation, InvalidOptions, NotAReplicaSet, Result,
    },
};

/// Commands that write nothing, so that a write concern makes no sense; `aggregate` may write.
const READS: &[&str] = &[
    "find",
    "getMore",
    "killCursors",
    "count",
    "distinct",
    "explain",
    "listIndexes",
    "listCollections",
    "listDatabases",
    "ping",
];

/// Whether a command only reads, so that nobody needs it once its client has gone.
pub(crate) fn only_reads(command: &str) -> bool {
    READS.contains(&command) || command == "aggregate"
}

/// Checked arguments that all commands share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generic {
    /// When the command has to give up, on the machine's monotonic clock.
    pub(crate) deadline: Option<Duration>,
    /// A write concern this server cannot meet: the write happens and its reply says so.
    pub(crate) unmet_concern: Option<(i32, String)>,
}

impl Generic {
    pub(crate) fn read(command: &str, body: DocRef<'_>) -> Result<Self> {
        let args = Args::new(command, body);
        if args.get("txnNumber").is_some() || args.get("startTransaction").is_some() {
            let message = "Transaction numbers are only allowed on a replica set member or mongos";
            return Err(Error::new(IllegalOperation, message));
        }
        if let Some(lsid) = args.document("lsid")? {
            check_session(lsid)?;
        }
        if let Some(concern) = args.document("readConcern")? {
            check_read_concern(concern)?;
        }
        let deadline = match args.get("maxTimeMS") {
            None => None,
            Some(value) => max_time(value)?,
        };
        if READS.contains(&command) && args.get("writeConcern").is_some() {
            let message = "Command does not support writeConcern";
            return Err(Error::new(InvalidOptions, message));
        }
        let unmet_concern = match args.document("writeConcern")? {
            Some(concern) => check_write_concern(concern)?,
            None => None,
        };
        Ok(Self { deadline, unmet_concern })
    }
}

fn max_time(value: ValueRef<'_>) -> Result<Option<Duration>> {
    let Some(number) = Number::of(value) else {
        return Err(Error::new(BadValue, "maxTimeMS must be a number"));
    };
    let Some(ms) = number.to_i64_exact() else {
        return Err(Error::new(BadValue, "maxTimeMS has non-integral value"));
    };
    match u64::try_from(ms) {
        Ok(ms) if ms <= 2_147_483_647 => {
            Ok((0 < ms).then(|| clock::monotonic() + Duration::from_millis(ms)))
        }
        _ => Err(Error::new(BadValue, format!("{ms} value for maxTimeMS is out of range"))),
    }
}

/// The id of a session.
pub(crate) type SessionId = [u8; 16];

/// The id of the session that a command names.
pub(crate) fn id(body: DocRef<'_>) -> Option<SessionId> {
    match body.get("lsid")?.as_document()?.get("id")? {
        ValueRef::Binary { bytes, .. } => bytes.try_into().ok(),
        _ => None,
    }
}

fn check_session(lsid: DocRef<'_>) -> Result<()> {
    match lsid.get("id") {
        Some(ValueRef::Binary { subtype: 4, bytes }) if bytes.len() == 16 => Ok(()),
        Some(_) => Err(Error::new(FailedToParse, "the id of 'lsid' is not a UUID")),
        None => Err(Error::new(40414, "BSON field 'lsid.id' is missing but a required field")),
    }
}

fn check_read_concern(concern: DocRef<'_>) -> Result<()> {
    match concern.get("level") {
        None => Ok(()),
        Some(ValueRef::String("local" | "available" | "majority")) => Ok(()),
        Some(ValueRef::String("linearizable")) => Err(Error::new(
            NotAReplicaSet,
            "node needs to be a replica set member to use read concern",
        )),
        Some(ValueRef::String("snapshot")) => Err(Error::new(
            NotAReplicaSet,
            "node needs to be a replica set member to use readConcern: snapshot",
        )),
        Some(ValueRef::String(level)) => Err(Error::new(
            BadValue,
            format!(
                "Enumeration value '{level}' for field 'readConcern.level' is not a valid value."
            ),
        )),
        Some(_) => Err(Error::new(crate::errors::TypeMismatch, "readConcern.level must be text")),
    }
}

/// Answers a concern that cannot be met; an ill-formed one fails the command.
fn check_write_concern(concern: DocRef<'_>) -> Result<Option<(i32, String)>> {
    let args = Args::new("writeConcern", concern);
    args.only(&["w", "j", "fsync", "wtimeout", "wtimeoutMS", "provenance", "getLastError"])?;
    args.bool("j")?;
    args.bool("fsync")?;
    args.int("wtimeout")?;
    match args.get("w") {
        None | Some(ValueRef::String("majority")) => Ok(None),
        Some(ValueRef::String(mode)) => Ok(Some((
            79,
            format!("No write concern mode named '{mode}' found in replica set configuration"),
        ))),
        Some(ValueRef::Document(_)) => Ok(None),
        Some(value) => match Number::of(value).and_then(Number::to_i64_exact) {
            Some(0 | 1) => Ok(None),
            Some(2..=50) => {
                Err(Error::new(BadValue, "cannot use 'w' > 1 when a host is not replicated"))
            }
            _ => Err(Error::new(
                FailedToParse,
                "w has to be a non-negative number and not greater than 50",
            )),
        },
    }
}
