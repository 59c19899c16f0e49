//! A collection in memory: its last published state, and the fence that blocks views while a change
//! is between its stamp and its publication.
//!
//! ```text
//!  fence number:   4 ────────┬─ 5 ──────────────┬─ 6 ───▶
//!                  open       │ raised: no view  │ lowered: the new state is in effect
//!                             │ opens            │
//!                           stamp            publication
//! ```
//!
//! A view compares the fence number before and after reading the state, so that it never combines
//! the settings before a change with a snapshot after it, or vice versa.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering as Atomic},
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use clock::Instant;
use collation::Collation;
use expiry::Header;
use pipeline::Filter;
use store::Space;
use tokio::sync::{Notify, futures::Notified};

use super::{
    BuildProgress, Dialect, DocumentRule, IndexSpec, IndexUsage, Record, default_collation,
    demand::Demand, encode_record, index_figures::IndexFigures, next_expiration::NextExpiration,
};
use crate::{error::Error, keys, turns::Turns};

/// The parsed filter of a partial index.
pub(crate) type PartialFilter = Option<Arc<Filter>>;

/// A collection's state; always replaced as a whole.
#[derive(Debug)]
pub struct CollectionState {
    /// The collection's record as stored in the catalog.
    pub record: Record,
    /// The definitions of `record.indexes`, in their order, as plans share them.
    pub(crate) definitions: Vec<Arc<IndexSpec>>,
    /// Parsed filters of partial indexes, in the order of `record.indexes`.
    pub(crate) partial: Vec<PartialFilter>,
    /// The rule for documents, if the collection's options contain one.
    pub(crate) rule: Option<Arc<dyn DocumentRule>>,
    /// The default order of texts; `None` if they compare by their bytes.
    pub collation: Option<Arc<Collation>>,
    /// Whether change records contain the document before the change, and after every edit.
    pub(crate) keeps_images: bool,
    /// Key of the record in the catalog.
    pub(crate) record_key: Bytes,
}

impl CollectionState {
    pub(crate) fn new(record: Record, dialect: &dyn Dialect) -> Result<Self, Error> {
        let parse = |index: &IndexSpec| -> Result<PartialFilter, Error> {
            let Some(filter) = &index.partial else { return Ok(None) };
            let parsed = dialect.parse_filter(record.model, document::DocRef::Tree(filter));
            parsed.map(|filter| Some(Arc::new(filter))).map_err(|message| {
                Error::corrupt(format!("filter of index '{}': {message}", index.name))
            })
        };
        let partial = record.indexes.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Self::with_filters(record, partial, dialect))
    }

    /// Creates a state from a record whose filters are already parsed. The rule is taken from the
    /// record's options.
    pub(crate) fn with_filters(
        record: Record,
        partial: Vec<PartialFilter>,
        dialect: &dyn Dialect,
    ) -> Self {
        let (rule, images) = (dialect.document_rule(&record), dialect.keeps_images(&record));
        Self::with_rule(record, partial, (rule, images))
    }

    /// Creates a state from a record whose filters and rule are already parsed, because the name
    /// and the options of the collection have not changed. Whether it keeps images follows from the
    /// options, too.
    pub(crate) fn with_rule(
        record: Record,
        partial: Vec<PartialFilter>,
        (rule, keeps_images): (Option<Arc<dyn DocumentRule>>, bool),
    ) -> Self {
        let record_key = keys::record(record.model, &record.namespace);
        let collation = default_collation(&record.options);
        let definitions = record.indexes.iter().cloned().map(Arc::new).collect();
        Self { record, definitions, partial, rule, collation, keeps_images, record_key }
    }
}

/// A collection, shared by all operations on it.
#[derive(Debug)]
pub struct Collection {
    /// Id of the collection, never reused.
    pub id: u32,
    /// Fence number: even while new views may be opened, odd during a change.
    fence: AtomicU64,
    /// Notified when a change of TTL settings ends, so that new views may be opened.
    lowered: Notify,
    /// The current state, replaced as a whole when a change is published.
    state: ArcSwap<CollectionState>,
    /// Whether the collection was dropped, which is final; a later collection with the same name is
    /// a different object.
    pub(super) dropped: AtomicBool,
    /// Usage of the collection's indexes and progress of their builds.
    pub(crate) figures: IndexFigures,
    /// Paths that queries could use an index for and that have none yet.
    pub(crate) demand: Demand,
    /// Serializes writers that must examine all documents to find the first in sort order.
    pub(crate) turns: Turns,
    /// Serializes the inserts into a capped collection, which would otherwise refuse each other.
    pub(crate) insertions: Turns,
    /// Earliest time at which an expiration may have to be recorded in the change log.
    pub(crate) next_expiration: NextExpiration,
    /// Serializes the recording of expirations in the change log.
    pub(crate) telling: tokio::sync::Mutex<()>,
    /// Notified when documents were inserted into a capped collection, and when it is dropped.
    inserted: Notify,
    /// Stamp of the last change of the container's items that this process has observed.
    last_change: AtomicU64,
    /// Whether the last change was looked up in the store since the store was opened.
    knows_last_change: AtomicBool,
    /// Newest stamp of a commit that changes the container's items, whether visible or not.
    last_begun: AtomicU64,
}

/// Whether a list of operations stops at its first failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrdering {
    /// The list stops at its first failure.
    Ordered,
    /// All operations run, whether or not others fail.
    Unordered,
}

impl Collection {
    /// Creates a collection; uses of its indexes are counted from `now` on.
    pub(crate) fn new(state: CollectionState, now: Instant) -> Self {
        Self {
            id: state.record.id,
            figures: IndexFigures::new(&state.record, now),
            fence: AtomicU64::new(0),
            lowered: Notify::new(),
            state: ArcSwap::from_pointee(state),
            dropped: AtomicBool::new(false),
            demand: Demand::default(),
            turns: Turns::one_at_a_time(),
            insertions: Turns::one_at_a_time(),
            next_expiration: NextExpiration::default(),
            telling: tokio::sync::Mutex::default(),
            inserted: Notify::new(),
            last_change: AtomicU64::new(0),
            knows_last_change: AtomicBool::new(false),
            last_begun: AtomicU64::new(0),
        }
    }

    /// Returns the newest stamp of an acknowledged commit that changed the container's items.
    pub(crate) fn last_change(&self) -> u64 {
        self.last_change.load(Atomic::SeqCst)
    }

    /// Returns whether [`last_change`](Self::last_change) covers commits of earlier runs.
    pub(crate) fn knows_last_change(&self) -> bool {
        self.knows_last_change.load(Atomic::SeqCst)
    }

    /// Records a commit that changed items. Call it when the commit is visible, before the writer
    /// is notified.
    pub(crate) fn record_change(&self, stamp: u64) {
        self.last_change.fetch_max(stamp, Atomic::SeqCst);
    }

    /// Returns the newest stamp of a commit, since the process started, that changes items. It is
    /// set before the commit becomes visible, and includes commits that fail.
    pub(crate) fn last_begun(&self) -> u64 {
        self.last_begun.load(Atomic::SeqCst)
    }

    /// Wraps the closure of a commit so that it records its stamp in `last_begun` when the commit
    /// is ordered.
    pub(crate) fn record_stamp_of(self: &Arc<Self>, commit: &mut store::Commit) {
        let collection = Arc::clone(self);
        let write = std::mem::replace(&mut commit.write, Box::new(|_| Vec::new()));
        commit.write = Box::new(move |stamp| {
            collection.last_begun.fetch_max(stamp.seq, Atomic::SeqCst);
            write(stamp)
        });
    }

    /// Sets the stamp of the last change, which was found in the store.
    pub(crate) fn recovered_last_change(&self, stamp: u64) {
        self.record_change(stamp);
        self.knows_last_change.store(true, Atomic::SeqCst);
    }

    /// Forces another lookup of the last change's stamp, since commits of unknown outcome may
    /// exist.
    pub(crate) fn recheck_last_change(&self) {
        self.knows_last_change.store(false, Atomic::SeqCst);
    }

    /// Notes when a document with this header expires, if expirations of the collection are
    /// recorded in the change log. Call it where the commit of the document is ordered.
    pub(crate) fn note_expiration(&self, record: &Record, header: &[u8]) {
        if record.told.is_some()
            && let Ok((header, _)) = Header::split(header)
        {
            self.next_expiration.note(record.settings.expires_at(&header));
        }
    }

    /// Wakes the readers that wait for documents of a capped collection. Call it when the documents
    /// are visible.
    pub(crate) fn wake_readers(&self) {
        self.inserted.notify_waiters();
    }

    /// Returns a future that completes when documents are inserted into a capped collection after
    /// this call, or when the collection is dropped.
    pub fn next_insertion(&self) -> Notified<'_> {
        self.inserted.notified()
    }

    /// Returns the progress of the slowest index build in percent; 100 if all are complete.
    pub fn index_progress(&self) -> u8 {
        let state = self.state.load();
        let unready = state.record.indexes.iter().filter(|index| !index.ready);
        let progress = unready.map(|index| self.figures.progress_of(index.id).per_cent());
        progress.min().unwrap_or(100)
    }

    /// Returns the build progress of an index, or `None` if it is complete.
    pub fn build_progress(&self, index: &IndexSpec) -> Option<BuildProgress> {
        (!index.ready).then(|| self.figures.progress_of(index.id))
    }

    /// Returns how often an index was used ([`ID_INDEX`](super::ID_INDEX) for the primary key);
    /// `None` if it was dropped.
    pub fn index_usage(&self, index: u32) -> Option<IndexUsage> {
        self.figures.usage_of(index)
    }

    /// Returns the last published state.
    pub fn state(&self) -> Arc<CollectionState> {
        self.state.load_full()
    }

    pub(crate) fn rows_space(&self) -> Space {
        Space::Rows(self.id)
    }

    pub(crate) fn entries_space(&self) -> Space {
        Space::Index(self.id)
    }

    /// Returns whether the collection was dropped.
    pub fn is_dropped(&self) -> bool {
        self.dropped.load(Atomic::SeqCst)
    }

    /// Returns the fence number if the fence is open.
    pub(crate) fn fence_number(&self) -> Option<u64> {
        let number = self.fence.load(Atomic::SeqCst);
        number.is_multiple_of(2).then_some(number)
    }

    /// Waits until no change is in progress.
    pub(crate) async fn wait_until_open(&self) {
        loop {
            let lowered = self.lowered.notified();
            if self.fence_number().is_some() {
                return;
            }
            lowered.await;
        }
    }

    /// Returns the collection's state and the `seq` (the number of the newest visible commit) at
    /// which that state was in effect.
    pub(crate) async fn settled_state(
        &self,
        published: impl Fn() -> u64,
    ) -> (u64, Arc<CollectionState>) {
        loop {
            self.wait_until_open().await;
            let fence = self.fence_number();
            let (seq, state) = (published(), self.state());
            if fence.is_some() && self.fence_number() == fence {
                return (seq, state);
            }
        }
    }

    /// Replaces the state with one that was read from the store again; `None` marks the collection
    /// as dropped.
    pub(crate) fn take_reloaded(&self, state: Option<CollectionState>, now: Instant) {
        self.raise_fence();
        match state {
            Some(state) => self.put_state(Arc::new(state), now),
            None => self.dropped.store(true, Atomic::SeqCst),
        }
        self.lower_fence();
        self.wake_readers();
    }

    /// Makes a state visible to new views; `now` is the start of statistics of new indexes.
    pub(super) fn put_state(&self, state: Arc<CollectionState>, now: Instant) {
        // Statistics are updated first, so that every index found in the state has some.
        self.figures.follow(&state.record, now);
        self.state.store(state);
    }

    /// Makes the fence number odd, which blocks new views during a change.
    pub(super) fn raise_fence(&self) {
        self.fence.fetch_add(1, Atomic::SeqCst);
    }

    /// Makes the fence number even, which allows new views, and wakes tasks that wait for it.
    pub(super) fn lower_fence(&self) {
        self.fence.fetch_add(1, Atomic::SeqCst);
        self.lowered.notify_waiters();
    }
}

/// Returns the mutation that stores a collection's record in the catalog.
pub(crate) fn put_record(record: &Record) -> store::Mutation {
    store::Mutation::Put {
        space: Space::Catalog,
        key: keys::record(record.model, &record.namespace),
        value: encode_record(record).into(),
    }
}

/// Returns the mutation that stores the stamp of a container's last change; see `last_change.rs`.
pub(crate) fn put_last_change(collection: u32, stamp: u64) -> store::Mutation {
    let sum = i64::try_from(stamp).unwrap_or(i64::MAX);
    let key = keys::last_change(collection);
    store::Mutation::Put { space: Space::Counts, key, value: store::encode_count([sum, 0]) }
}
