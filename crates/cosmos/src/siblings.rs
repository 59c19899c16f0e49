//! The servers of a cluster's other shards, for feeds that show what all of them have. How they are reached
//! is not known here.

use std::{fmt, io, pin::Pin, sync::Arc};

use document::{Document, Value, json};
use memory::{Account, Share, Short};

use crate::failure::{Failure, Fault, Result};

/// How deep what they show is at the most.
const MAX_DEPTH: usize = 64;
/// About how many bytes a byte of text takes once it is parsed.
const PARSED: usize = 8;

/// A feed of what lies in no database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedFeed {
    /// Of databases.
    Databases,
    /// Of offers.
    Offers,
}

/// What all other shards have of a feed, as JSON arrays; an error: one of them is not reached.
pub type Shown<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<Vec<u8>>>> + Send + 'a>>;

/// The other shards.
pub trait AskSiblings: Send + Sync {
    /// Has each show what it has of a feed ([`Door::own_feed`](crate::Door::own_feed)). What they show
    /// counts in this share as it comes; where there is no room the error has kind `OutOfMemory`.
    fn ask<'a>(&'a self, feed: SharedFeed, held: &'a mut Share) -> Shown<'a>;
}

/// The servers of the other shards.
#[derive(Clone)]
pub struct Siblings(Arc<dyn AskSiblings>);

impl Siblings {
    /// Reached so.
    pub fn new(ask: impl AskSiblings + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// What all others have of a feed, and the memory that it takes.
    pub(crate) async fn ask(
        &self,
        feed: SharedFeed,
        memory: &Account,
    ) -> Result<(Vec<Document>, Share)> {
        let unreached = |why: &dyn fmt::Display| {
            let text = format!("A shard of the cluster is not reached: {why}");
            Failure::new(Fault::Unavailable, text)
        };
        let mut held = memory.share();
        let shown = self.0.ask(feed, &mut held).await.map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => Short.into(),
            _ => unreached(&error),
        })?;
        let bytes: usize = shown.iter().map(Vec::len).sum();
        held.grow(bytes.saturating_mul(PARSED))?;
        let mut all = Vec::new();
        for text in shown {
            let Ok(Value::Array(resources)) = json::parse(&text, MAX_DEPTH) else {
                return Err(unreached(&"it shows no list"));
            };
            all.extend(resources.into_iter().filter_map(|resource| match resource {
                Value::Document(resource) => Some(resource),
                _ => None,
            }));
        }
        Ok((all, held))
    }
}

impl fmt::Debug for Siblings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Siblings")
    }
}
