//! The sample that shows what this database is for: sessions that disappear one after another within
//! a minute. It is written through both APIs as any client would write it; nothing here touches the
//! engine's data by itself.

mod documents;
mod items;
mod sample;
#[cfg(test)]
mod tests;

use std::fmt;

use axum::http::StatusCode;
use clock::Instant;

use crate::relayed::Relayed;

/// Its database, in both APIs.
pub(crate) const DATABASE: &str = "quickstart";
/// Its container and its collection.
pub(crate) const COLLECTION: &str = "sessions";
/// The default time to live of both, in seconds.
const DEFAULT_TTL: i64 = 60;

/// Why there is no sample.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Neither API is on.
    NoDoor,
    /// Something else has its name; a sentence that says what to do.
    Taken(String),
    /// An API refused it; its text.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDoor => f.write_str("no API is open that a sample could be put in"),
            Self::Taken(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// What one API has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    /// How many sessions were written.
    pub(crate) count: usize,
    /// When the last session expires that does expire.
    pub(crate) last_dies: Instant,
}

/// The sample as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    /// `None`: the NoSQL API is off.
    pub(crate) nosql: Option<Filled>,
    /// `None`: the MongoDB API is off.
    pub(crate) mongo: Option<Filled>,
}

impl Made {
    /// Returns when the last session expires that does expire; `None` where neither API has any.
    pub(crate) fn last_dies(&self) -> Option<Instant> {
        self.nosql.iter().chain(&self.mongo).map(|filled| filled.last_dies).max()
    }
}

/// Makes the sample in every API that is on, or begins it anew where it is. `now` is database time;
/// sessions began shortly before it. A failure in the middle leaves what was written; the next call
/// puts it right.
pub(crate) async fn make(doors: &Relayed, now: Instant) -> Result<Made> {
    let made = Made {
        nosql: items::fill_container(doors, now).await?,
        mongo: documents::fill_collection(doors, now).await?,
    };
    match made.last_dies() {
        Some(_) => Ok(made),
        None => Err(Failure::NoDoor),
    }
}

/// Returns the failure of an API that answered with a status that is not a success.
fn refused(door: &str, status: StatusCode, text: &str) -> Failure {
    Failure::Refused(format!("the {door} API answers {status}: {text}"))
}
