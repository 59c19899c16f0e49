//! Access to the servers of a cluster's other shards, for feeds that cover all shards. The server
//! program provides the transport.

use std::{fmt, io, pin::Pin, sync::Arc};

use document::{Document, Value, json};
use memory::{Account, InsufficientMemory, Share};

use crate::failure::{Failure, Fault, Result};

/// Maximum nesting of the other servers' responses.
const MAX_DEPTH: usize = 64;
/// Estimated memory of parsed JSON in bytes for each byte of text.
const PARSED: usize = 8;

/// A feed of resources that belong to no database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedFeed {
    /// All databases of the account.
    Databases,
    /// All offers of the account.
    Offers,
}

/// The result of a request to all other shards: a JSON array of the feed's entries from each of
/// them, or an error if one of them is unreachable.
pub type FeedsOfShards<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<Vec<u8>>>> + Send + 'a>>;

/// Requests feeds from the other shards.
pub trait OtherShardsTransport: Send + Sync {
    /// Returns the entries of a feed on each other shard
    /// ([`NoSqlApi::own_feed`](crate::NoSqlApi::own_feed)). Memory for the entries is reserved in
    /// `held` as they arrive; if it is short, the error has kind `OutOfMemory`.
    fn ask<'a>(&'a self, feed: SharedFeed, held: &'a mut Share) -> FeedsOfShards<'a>;
}

/// The servers of the other shards.
#[derive(Clone)]
pub struct OtherShards(Arc<dyn OtherShardsTransport>);

impl OtherShards {
    /// Creates the access to the other shards over this transport.
    pub fn new(ask: impl OtherShardsTransport + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// Returns the entries of a feed on all other shards, and their memory reservation.
    pub(crate) async fn ask(
        &self,
        feed: SharedFeed,
        memory: &Account,
    ) -> Result<(Vec<Document>, Share)> {
        let unreached = |why: &dyn fmt::Display| {
            let text = format!("Cannot reach a shard of the cluster: {why}");
            Failure::new(Fault::Unavailable, text)
        };
        let mut held = memory.share();
        let shown = self.0.ask(feed, &mut held).await.map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => InsufficientMemory.into(),
            _ => unreached(&error),
        })?;
        let bytes: usize = shown.iter().map(Vec::len).sum();
        held.grow(bytes.saturating_mul(PARSED))?;
        let mut all = Vec::new();
        for text in shown {
            let Ok(Value::Array(resources)) = json::parse(&text, MAX_DEPTH) else {
                return Err(unreached(&"its reply is not a list"));
            };
            all.extend(resources.into_iter().filter_map(|resource| match resource {
                Value::Document(resource) => Some(resource),
                _ => None,
            }));
        }
        Ok((all, held))
    }
}

impl fmt::Debug for OtherShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtherShards")
    }
}
