//! What a backup says of itself, first and last. Unknown fields are refused: a newer version wrote them and
//! meant something by them.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::Error;

/// The line that a backup begins with.
pub(crate) const LINE: &str = "ebb backup, format 1\n";
/// What such a line begins with in every version.
const LINE_START: &[u8] = b"ebb backup, format ";
/// The longest such line.
pub(crate) const LINE_MAX: usize = 40;

/// What a stream holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// All there was.
    Full,
    /// What was written since another backup.
    Incremental,
}

/// How the database clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// With the machine's.
    System,
    /// When it is told to.
    Manual,
}

/// A place in the one order of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// Its number.
    pub seq: u64,
    /// Its instant, milliseconds since 1970 by the database clock.
    pub at_ms: i64,
}

/// What a backup is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Whether it holds everything.
    pub kind: Kind,
    /// The version of the program that wrote it.
    pub ebb: String,
    /// Its own id.
    pub id: Uuid,
    /// The database that it is of: one that was restored is another.
    pub lineage: Uuid,
    /// The last entry of the journal that it follows, of an incremental one; 0 of a full one.
    pub after_entry: u64,
    /// The last stamp up to there.
    pub after_stamp: Option<Stamp>,
    /// The last entry that is in it.
    pub last_entry: u64,
    /// The last stamp up to there.
    pub last_stamp: Stamp,
    /// How the clock of the database moves.
    pub clock: Clock,
    /// When it was begun, milliseconds since 1970 by the database clock.
    pub began_ms: i64,
}

impl Header {
    /// Where a backup that follows it goes on.
    pub fn end(&self) -> (u64, Stamp) {
        (self.last_entry, self.last_stamp)
    }
}

/// The end of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Trailer {
    /// Frames before it.
    pub frames: u64,
    /// Bytes of pieces and entries before they were compressed.
    pub bytes: u64,
    /// The SHA-256 of everything before it, in hexadecimal digits.
    pub sha256: String,
}

/// Refuses a stream that does not begin as a backup of this format does.
pub(crate) fn check_line(line: &[u8]) -> Result<(), Error> {
    if line == LINE.as_bytes() {
        return Ok(());
    }
    if line.is_empty() {
        return Err(Error::damaged("the backup is empty"));
    }
    match line.strip_prefix(LINE_START).and_then(|rest| rest.strip_suffix(b"\n")) {
        Some(version) => Err(Error::Refused(format!(
            "the backup has format {}, and this version of ebb reads format 1: restore it with the \
             version that wrote it, or a later one that reads both",
            String::from_utf8_lossy(version)
        ))),
        None => Err(Error::damaged("it is not a backup of ebb")),
    }
}

/// Reads a part that is JSON.
pub(crate) fn parse<'a, T: Deserialize<'a>>(what: &str, payload: &'a [u8]) -> Result<T, Error> {
    serde_json::from_slice(payload).map_err(|error| {
        let text = format!("the {what} of the backup cannot be read by this version: {error}");
        Error::Refused(text)
    })
}

/// A part as JSON.
pub(crate) fn json<T: Serialize>(part: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(part).map_err(|error| Error::Io(std::io::Error::other(error)))
}
