//! The sample that shows what this database is for: sessions that disappear one after another within
//! a minute. Written through both doors as any client would write it; nothing here touches the
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

/// Its database, at both doors.
pub(crate) const DATABASE: &str = "quickstart";
/// Its container and collection.
pub(crate) const COLLECTION: &str = "sessions";
/// The default of both, seconds.
const DEFAULT_TTL: i64 = 60;

/// Why there is no sample.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No door is open.
    NoDoor,
    /// Something else has its name, in words.
    Taken(String),
    /// A door refused it, in words.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDoor => f.write_str("no door is open that a sample could be put in"),
            Self::Taken(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// What one door has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    /// How many sessions.
    pub(crate) count: usize,
    /// When the last one dies that does.
    pub(crate) last_dies: Instant,
}

/// The sample as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    /// `None`: the NoSQL door is off.
    pub(crate) nosql: Option<Filled>,
    /// `None`: the MongoDB door is off.
    pub(crate) mongo: Option<Filled>,
}

impl Made {
    /// When the last session dies that does.
    pub(crate) fn last_dies(&self) -> Option<Instant> {
        self.nosql.iter().chain(&self.mongo).map(|filled| filled.last_dies).max()
    }
}

/// Makes the sample, or begins it anew where it is.
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

fn refused(door: &str, status: StatusCode, text: &str) -> Failure {
    Failure::Refused(format!("the {door} door answers {status}: {text}"))
}
