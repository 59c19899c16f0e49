//! The traits a storage engine implements.

use std::{fmt, future::Future, sync::Arc};

use bytes::Bytes;

use crate::{
    commit::{Commit, Outcome},
    error::Error,
    health::Health,
    in_flight::InFlight,
    space::Space,
};

/// Half-open range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// First key that may be in it.
    pub start: Vec<u8>,
    /// First key after it; `None` reaches to the end of the space.
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// All keys.
    pub fn all() -> Self {
        Self { start: Vec::new(), end: None }
    }

    /// Keys that begin with these bytes.
    pub fn with_prefix(prefix: &[u8]) -> Self {
        Self { start: prefix.to_vec(), end: prefix_end(prefix) }
    }

    /// Whether no key can be in it.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// What is left of the range after a key that was read.
    pub fn remaining_after(&self, key: &[u8], direction: Direction) -> Self {
        match direction {
            Direction::Forward => {
                let mut start = key.to_vec();
                start.push(0);
                Self { start, end: self.end.clone() }
            }
            Direction::Backward => Self { start: self.start.clone(), end: Some(key.to_vec()) },
        }
    }
}

/// The first key after all keys with this prefix.
fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// Order of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// How much a page may hold: at least one row is given where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Rows.
    pub rows: usize,
    /// Bytes of keys and values, roughly.
    pub bytes: usize,
}

/// Rows in scan order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Keys and values.
    pub rows: Vec<(Bytes, Bytes)>,
    /// Whether there may be more after the last row.
    pub more: bool,
}

/// Rows of a page that room is made for at once.
const USUAL_ROWS: usize = 256;

impl Page {
    /// The first rows of a walk, within the limit: at least one where there is one. `read` is called
    /// for the rows that are given, and for no other.
    pub fn within<R, E>(
        rows: impl Iterator<Item = R>,
        limit: Limit,
        read: impl Fn(R) -> Result<(Bytes, Bytes), E>,
    ) -> Result<Self, E> {
        let mut page = Self::default();
        let mut bytes = 0;
        for row in rows {
            // Room for all of them at once, where there is one: a page is walked row by row.
            if page.rows.is_empty() {
                page.rows.reserve(limit.rows.min(USUAL_ROWS));
            }
            // One row is always given, whatever its size.
            if !page.rows.is_empty() && (limit.rows <= page.rows.len() || limit.bytes <= bytes) {
                page.more = true;
                break;
            }
            let (key, value) = read(row)?;
            bytes += key.len() + value.len();
            page.rows.push((key, value));
        }
        Ok(page)
    }
}

/// A still view of everything published at one moment.
pub trait Snapshot: Clone + Send + Sync + 'static {
    /// The value of a key.
    fn get(
        &self,
        space: Space,
        key: &[u8],
    ) -> impl Future<Output = Result<Option<Bytes>, Error>> + Send;

    /// A page of a range.
    fn scan(
        &self,
        space: Space,
        range: &KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> impl Future<Output = Result<Page, Error>> + Send;
}

/// Where database time comes from when commits are stamped; waits while time may not be used.
pub trait Timepiece: Send + Sync + 'static {
    /// Database time, milliseconds; never goes back.
    fn now_ms(&self) -> i64;

    /// The machine's monotonic clock, nanoseconds: what takes how long.
    fn monotonic_ns(&self) -> u64;
}

/// Whether a compaction drops a key with this value.
pub type DropFilter = Box<dyn Fn(&[u8], &[u8]) -> bool + Send>;

/// Says which rows a compaction drops. Pure and monotone: once true for a key and value, true for
/// ever. It sees no snapshot.
pub trait DropPredicate: Send + Sync + 'static {
    /// The filter for one compaction of a space.
    fn filter_for(&self, space: Space) -> DropFilter;
}

/// What an engine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Largest key, bytes.
    pub max_key_bytes: usize,
    /// Whether compaction applies a drop predicate; otherwise expired rows have to be deleted.
    pub drops: bool,
    /// Whether others keep copies of what it holds, which have to be told what may go from them.
    pub copies: bool,
}

/// A storage engine.
pub trait Store: Send + Sync + 'static {
    /// Its snapshots.
    type Snapshot: Snapshot;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// A still view of what is published. Take [`published`](Self::published) before it.
    fn snapshot(&self) -> Self::Snapshot;

    /// The newest `seq` up to which every commit is visible.
    fn published(&self) -> u64;

    /// The commits under way.
    fn in_flight(&self) -> &InFlight;

    /// Orders commits, each all or nothing, and returns when they are durable and visible, one
    /// outcome a commit. They share a durability wait and nothing else.
    fn commit(
        &self,
        commits: Vec<Commit>,
    ) -> impl Future<Output = Result<Vec<Outcome>, Error>> + Send;

    /// Makes a space ready. Making one that exists changes nothing.
    fn create_space(&self, space: Space) -> Result<(), Error>;

    /// Removes a space and all its keys. Snapshots that are open may lose it.
    fn drop_space(&self, space: Space) -> Result<(), Error>;

    /// All spaces that exist.
    fn all_spaces(&self) -> Vec<Space>;

    /// Sets which rows compactions drop.
    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>);

    /// Compacts a space now, so that what the drop predicate says is dropped leaves.
    fn reap_space(&self, space: Space) -> impl Future<Output = Result<(), Error>> + Send;

    /// The `seq` up to which no commit has left anything in this space that was not filtered by a
    /// predicate in force when a [`reap_space`](Self::reap_space) began after it was published: every table
    /// rewritten since, no journal from before left. 0 while that cannot be told.
    fn filtered_through(&self, space: Space) -> u64;

    /// Bytes a space takes, roughly.
    fn space_bytes(&self, space: Space) -> u64;

    /// Bytes of everything it keeps: of all spaces, and of what is not in a space yet.
    fn disk_bytes(&self) -> u64;

    /// Housekeeping about once a second: notes how far commits are durable.
    fn tick(&self) -> Result<(), Error>;

    /// Whether it takes commits.
    fn health(&self) -> Health;

    /// Its user has read again what was committed before it was opened [`Anew`](Health::Anew).
    fn resume_commits(&self);

    /// Makes a clean stop: everything flushed, nothing to replay.
    fn close(&self) -> impl Future<Output = Result<(), Error>> + Send;
}

impl fmt::Debug for dyn DropPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DropPredicate")
    }
}
