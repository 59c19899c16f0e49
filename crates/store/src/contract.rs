//! The traits a storage engine implements, and the health that it reports.

use std::{
    fmt,
    future::{self, Future},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;

use crate::{
    commit::{Commit, Outcome},
    error::Error,
    in_flight::InFlight,
    space::Space,
};

/// A half-open range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// First key of the range, inclusive.
    pub start: Vec<u8>,
    /// End of the range, exclusive; `None` means the end of the space.
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// Returns the range of all keys.
    pub fn all() -> Self {
        Self { start: Vec::new(), end: None }
    }

    /// Returns the range of keys with this prefix.
    pub fn with_prefix(prefix: &[u8]) -> Self {
        Self { start: prefix.to_vec(), end: prefix_end(prefix) }
    }

    /// Returns whether the range contains no key.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// Returns the part of the range that remains after `key` was read in this direction.
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

/// Returns the first key after all keys with this prefix, if any.
fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

/// The direction of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// In ascending order of keys.
    Forward,
    /// In descending order of keys.
    Backward,
}

/// The maximum size of a page. A page holds at least one row if any exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Maximum number of rows in a page.
    pub rows: usize,
    /// Approximate maximum of bytes of keys and values.
    pub bytes: usize,
}

/// A page of rows in scan order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Key and value of each row.
    pub rows: Vec<(Bytes, Bytes)>,
    /// Whether more rows may follow the last one.
    pub more: bool,
}

/// Number of rows for which a page allocates space up front.
const USUAL_ROWS: usize = 256;

impl Page {
    /// Collects rows up to the limit, but at least one if any exists. `read` is called only for
    /// rows that the page contains.
    pub fn within<R, E>(
        rows: impl Iterator<Item = R>,
        limit: Limit,
        read: impl Fn(R) -> Result<(Bytes, Bytes), E>,
    ) -> Result<Self, E> {
        let mut page = Self::default();
        let mut bytes = 0;
        for row in rows {
            // Memory is reserved once, and not for an empty page.
            if page.rows.is_empty() {
                page.rows.reserve(limit.rows.min(USUAL_ROWS));
            }
            // The first row is returned regardless of its size.
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

/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The result of reading a snapshot, to be awaited. If the store has the data in memory, the result
/// is ready when the call returns, and nothing is allocated; otherwise it is a future on the heap.
pub enum Read<'a, T> {
    /// The result was at hand when the read was called.
    Ready(future::Ready<Result<T, Error>>),
    /// The read waits, for example until the store has been reopened.
    Waiting(BoxFuture<'a, Result<T, Error>>),
}

impl<'a, T> Read<'a, T> {
    /// Creates a read that returns this result at once.
    pub fn ready(result: Result<T, Error>) -> Self {
        Self::Ready(future::ready(result))
    }

    /// Creates a read that waits.
    pub fn waiting(read: impl Future<Output = Result<T, Error>> + Send + 'a) -> Self {
        Self::Waiting(Box::pin(read))
    }
}

impl<T> fmt::Debug for Read<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Ready(_)) { "Ready" } else { "Waiting" })
    }
}

impl<T> Future for Read<'_, T> {
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Ready(read) => Pin::new(read).poll(context),
            Self::Waiting(read) => read.as_mut().poll(context),
        }
    }
}

/// An immutable snapshot of all commits that were published at one moment.
pub trait Snapshot: fmt::Debug + Send + Sync + 'static {
    /// Returns the value of a key.
    fn get<'a>(&'a self, space: Space, key: &'a [u8]) -> Read<'a, Option<Bytes>>;

    /// Returns the first page of a range.
    fn scan<'a>(
        &'a self,
        space: Space,
        range: &'a KeyRange,
        direction: Direction,
        limit: Limit,
    ) -> Read<'a, Page>;
}

/// The clock that stamps commits. A call blocks while database time may not be used.
pub trait CommitClock: Send + Sync + 'static {
    /// Returns database time in milliseconds; never goes back.
    fn now_ms(&self) -> i64;

    /// Returns the machine's monotonic clock in nanoseconds, for measurements.
    fn monotonic_ns(&self) -> u64;
}

/// Returns whether a compaction removes the row with this key and value.
pub type DropFilter = Box<dyn Fn(&[u8], &[u8]) -> bool + Send>;

/// Decides which rows a compaction drops. It must be pure and monotone: once true for a key and
/// value, always true. Compactions apply it without regard to open snapshots.
pub trait DropPredicate: Send + Sync + 'static {
    /// Creates the filter for one compaction of a space.
    fn filter_for(&self, space: Space) -> DropFilter;
}

/// The capabilities of a storage engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Maximum size of a key in bytes.
    pub max_key_bytes: usize,
    /// Whether compactions apply the drop predicate; if not, expired rows must be deleted.
    pub drops: bool,
    /// Whether other nodes keep copies of the data. These nodes must be notified which data may be
    /// removed.
    pub copies: bool,
}

/// A storage engine: spaces of keys with snapshots, scans and conditional atomic commits.
///
/// The trait has no default bodies, so a store that wraps another one does not compile if it omits
/// a method.
pub trait Store: Send + Sync + 'static {
    /// Returns the capabilities of this storage engine.
    fn capabilities(&self) -> Capabilities;

    /// Takes a snapshot of all published commits. To get a `seq` that the snapshot includes, call
    /// [`published`](Self::published) before taking it.
    fn snapshot(&self) -> Arc<dyn Snapshot>;

    /// Returns the newest `seq` up to which every commit is visible.
    fn published(&self) -> u64;

    /// Returns the table of commits in flight.
    fn in_flight(&self) -> &InFlight;

    /// Orders commits, each of which is atomic, and returns one outcome per commit once all are
    /// durable and visible. The commits of a call share only the wait for durability.
    fn commit(&self, commits: Vec<Commit>) -> BoxFuture<'_, Result<Vec<Outcome>, Error>>;

    /// Creates a space; does nothing if it exists.
    fn create_space(&self, space: Space) -> Result<(), Error>;

    /// Deletes a space and all its keys. Open snapshots may lose it.
    fn drop_space(&self, space: Space) -> Result<(), Error>;

    /// Returns the spaces that exist now.
    fn all_spaces(&self) -> Vec<Space>;

    /// Sets the predicate by which compactions drop rows.
    fn set_drop_predicate(&self, predicate: Arc<dyn DropPredicate>);

    /// Compacts a space now and removes the rows that the drop predicate selects.
    fn reap_space(&self, space: Space) -> BoxFuture<'_, Result<(), Error>>;

    /// Returns the `seq` up to which this space contains no row that the drop predicate should have
    /// removed: every table has been rewritten by a [`reap_space`](Self::reap_space) that began
    /// after that commit was published, and no start would replay older journal entries. Returns 0
    /// if unknown.
    fn filtered_through(&self, space: Space) -> u64;

    /// Returns the approximate size of a space in bytes.
    fn space_bytes(&self, space: Space) -> u64;

    /// Returns the bytes of all stored data, including data that is in no space yet.
    fn disk_bytes(&self) -> u64;

    /// Does periodic work, called every half second, such as recording how far commits are durable.
    fn tick(&self) -> Result<(), Error>;

    /// Returns whether the store accepts commits.
    fn health(&self) -> Health;

    /// Accepts commits again after [`Reopened`](Health::Reopened), once the caller has re-read its cached
    /// state.
    fn resume_commits(&self);

    /// Closes the store after flushing everything, so that the next startup has nothing to replay.
    fn close(&self) -> BoxFuture<'_, Result<(), Error>>;
}

impl fmt::Debug for dyn DropPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DropPredicate")
    }
}

/// Whether a store accepts commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// The store works and accepts commits.
    #[default]
    Good,
    /// The store refuses commits for this reason, and accepts them again when the cause is removed.
    Refusing(Error),
    /// The store was reopened after a failure. Commits of unknown outcome may have been applied, so
    /// it accepts new ones only after its user has re-read its cached state and called
    /// [`resume_commits`](Store::resume_commits).
    Reopened,
}
