//! Header and trailer of a backup. Unknown fields are refused: a newer version wrote them.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Error;

/// First line of a backup.
pub(crate) const LINE: &str = "ebb backup, format 1\n";
/// Prefix of the first line in every version.
const LINE_START: &[u8] = b"ebb backup, format ";
/// Maximum length of the first line.
pub(crate) const LINE_MAX: usize = 40;

/// Whether a backup depends on an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// All data of the server or shard.
    Full,
    /// Journal entries written since the end of another backup.
    Incremental,
}

/// Mode in which the database clock advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The database uses the machine's clocks.
    System,
    /// The database clock advances only on request.
    Manual,
}

/// The stamp of a commit: its position in the order of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// Sequence number of the commit.
    pub seq: u64,
    /// Instant of the commit, in milliseconds since 1970 by the database clock.
    pub at_ms: i64,
}

/// The first frame of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Whether the backup is full or incremental.
    pub kind: Kind,
    /// Version of the program that wrote the backup.
    pub ebb: String,
    /// Random id of this backup.
    pub id: Uuid,
    /// Id of the database; a restored database gets a new id.
    pub lineage: Uuid,
    /// For an incremental backup, the last journal entry of the previous one; 0 for a full one.
    pub after_entry: u64,
    /// Stamp of the last commit in the entry after which the backup starts.
    pub after_stamp: Option<Stamp>,
    /// The last journal entry included.
    pub last_entry: u64,
    /// Stamp of the last commit in the last included entry.
    pub last_stamp: Stamp,
    /// Mode in which the database clock advances.
    pub clock: Clock,
    /// Start of the backup, milliseconds since 1970 by the database clock.
    pub began_ms: i64,
}

impl Header {
    /// Returns the position at which an incremental backup would continue.
    pub fn end(&self) -> (u64, Stamp) {
        (self.last_entry, self.last_stamp)
    }
}

/// The last frame of a complete backup.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Trailer {
    /// Number of frames before the trailer.
    pub frames: u64,
    /// Uncompressed bytes of the snapshot's pieces and of the journal entries in all frames.
    pub bytes: u64,
    /// SHA-256 of everything before the trailer, in hexadecimal.
    pub sha256: String,
}

/// Refuses a stream that does not start with the line of this format.
pub(crate) fn check_line(line: &[u8]) -> Result<(), Error> {
    if line == LINE.as_bytes() {
        return Ok(());
    }
    if line.is_empty() {
        return Err(Error::damaged("the backup is empty"));
    }
    match line.strip_prefix(LINE_START).and_then(|rest| rest.strip_suffix(b"\n")) {
        Some(version) => Err(Error::Refused(format!(
            "the backup has format {}, but this version of ebb reads format 1: restore it with the \
             version that wrote it, or a later one that reads both",
            String::from_utf8_lossy(version)
        ))),
        None => Err(Error::damaged("it is not an ebb backup")),
    }
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(what: &str, payload: &'a [u8]) -> Result<T, Error> {
    serde_json::from_slice(payload).map_err(|error| {
        let text = format!("the {what} of the backup cannot be read by this version: {error}");
        Error::Refused(text)
    })
}

pub(crate) fn json<T: Serialize>(part: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(part).map_err(|error| Error::Io(std::io::Error::other(error)))
}
