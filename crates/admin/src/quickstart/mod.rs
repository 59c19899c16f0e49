//! The sample data: sessions that expire one after another within a minute. They are written by
//! requests to both APIs, as a client would, without direct access to the engine.

mod documents;
mod items;
mod sample;

use std::fmt;

use axum::http::StatusCode;
use clock::Instant;

use crate::relayed::Relayed;

/// Database name in both APIs.
pub(crate) const DATABASE: &str = "quickstart";
/// Name of the container and of the collection.
pub(crate) const COLLECTION: &str = "sessions";
/// Default time to live of the container and of the collection, in seconds.
const DEFAULT_TTL: i64 = 60;

/// Reason why the sample could not be created.
#[derive(Debug)]
pub(crate) enum Failure {
    NoApi,
    /// The database or collection name is in use; the text suggests a remedy.
    Taken(String),
    /// An API has refused a request, with this error text.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoApi => f.write_str("no API is enabled to create a sample in"),
            Self::Taken(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// The sample as written through one API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) count: usize,
    /// Last expiration among the sessions.
    pub(crate) last_dies: Instant,
}

/// The sample as written through each API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    /// The sample in the NoSQL API; `None` if the API is off.
    pub(crate) nosql: Option<Filled>,
    /// The sample in the MongoDB API; `None` if the API is off.
    pub(crate) mongo: Option<Filled>,
}

impl Made {
    /// Returns the last expiration among all sessions; `None` if both APIs are off.
    pub(crate) fn last_dies(&self) -> Option<Instant> {
        self.nosql.iter().chain(&self.mongo).map(|filled| filled.last_dies).max()
    }
}

/// Creates or resets the sample in every API that is on. `now` is database time; sessions start
/// shortly before it. A failure leaves a partial sample, which the next call completes.
pub(crate) async fn make(apis: &Relayed, now: Instant) -> Result<Made> {
    let made = Made {
        nosql: items::fill_container(apis, now).await?,
        mongo: documents::fill_collection(apis, now).await?,
    };
    match made.last_dies() {
        Some(_) => Ok(made),
        None => Err(Failure::NoApi),
    }
}

/// Returns the failure for a response with an error status.
fn refused(api: &str, status: StatusCode, text: &str) -> Failure {
    Failure::Refused(format!("the {api} API returned {status}: {text}"))
}
