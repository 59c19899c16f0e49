//! A collection in memory: its state as last published, and the fence that closes it while a change
//! is between stamp and publication.
//!
//! ```text
//!  fence number:   4 ────────┬─ 5 ──────────────┬─ 6 ───▶
//!                  open       │ raised: no view  │ lowered: the new state is in force
//!                             │ opens            │
//!                           stamp            publication
//! ```
//!
//! A view compares the number before and after it has read the state, so that it never has the
//! settings of one side with the snapshot of the other.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering as Atomic},
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use clock::Instant;
use pipeline::Filter;
use store::{Fence, Space, Stamp};
use tokio::sync::Notify;

use super::{
    BuildProgress, Dialect, IndexSpec, IndexUsage, Record, demand::Demand, encode_record,
    index_figures::IndexFigures,
};
use crate::{error::Error, keys, turns::Turns};

/// A partial index's filter, parsed.
pub(crate) type PartialFilter = Option<Arc<Filter>>;

/// A collection's state; replaced as a whole.
#[derive(Debug)]
pub struct CollectionState {
    /// What is durable about it.
    pub record: Record,
    /// Filters of partial indexes, in the order of `record.indexes`.
    pub(crate) partial: Vec<PartialFilter>,
    /// Its key in the catalog.
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
        Ok(Self::with_filters(record, partial))
    }

    /// A state whose filters are parsed already.
    pub(crate) fn with_filters(record: Record, partial: Vec<PartialFilter>) -> Self {
        let record_key = keys::record(record.model, &record.namespace);
        Self { record, partial, record_key }
    }
}

/// A collection.
#[derive(Debug)]
pub struct Collection {
    /// Its id.
    pub id: u32,
    /// Even: open. Odd: a change is under way.
    fence: AtomicU64,
    /// Wakes whoever waits for the fence.
    lowered: Notify,
    /// Replaced when a change is published.
    state: ArcSwap<CollectionState>,
    /// It never comes back; a collection made later under its name is another one.
    dropped: AtomicBool,
    /// How often its indexes were used, and how far their builds are.
    pub(crate) figures: IndexFigures,
    /// What queries ask of its paths.
    pub(crate) demand: Demand,
    /// Turns of writers that find the first document in an order by looking at all.
    pub(crate) turns: Turns,
    /// The stamp of the last change of its items, as far as it is known.
    last_change: AtomicU64,
    /// Whether the last change was looked up in the store since that was opened.
    knows_last_change: AtomicBool,
    /// The newest stamp that a commit which changes its items was given, visible or not.
    last_begun: AtomicU64,
}

/// Whether a list of operations stops at its first failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrdering {
    /// It stops.
    Ordered,
    /// Each operation stands for itself.
    Unordered,
}

impl Collection {
    /// A collection that no change is under way for; uses of its indexes are counted from `now` on.
    pub(crate) fn new(state: CollectionState, now: Instant) -> Self {
        Self {
            id: state.record.id,
            figures: IndexFigures::new(&state.record, now),
            fence: AtomicU64::new(0),
            lowered: Notify::new(),
            state: ArcSwap::from_pointee(state),
            dropped: AtomicBool::new(false),
            demand: Demand::default(),
            turns: Turns::default(),
            last_change: AtomicU64::new(0),
            knows_last_change: AtomicBool::new(false),
            last_begun: AtomicU64::new(0),
        }
    }

    /// The newest stamp of a commit that changed its items, of those that were acknowledged.
    pub(crate) fn last_change(&self) -> u64 {
        self.last_change.load(Atomic::SeqCst)
    }

    /// Whether [`last_change`](Self::last_change) covers what was written before this start.
    pub(crate) fn knows_last_change(&self) -> bool {
        self.knows_last_change.load(Atomic::SeqCst)
    }

    /// Notes a commit that changed items. It has to be visible, and its writer not told yet.
    pub(crate) fn note_change(&self, stamp: u64) {
        self.last_change.fetch_max(stamp, Atomic::SeqCst);
    }

    /// The newest stamp that a commit which changes items was given since the start. It is noted before
    /// the commit can be seen, and also of one that fails.
    pub(crate) fn last_begun(&self) -> u64 {
        self.last_begun.load(Atomic::SeqCst)
    }

    /// Has the stamp of a commit that changes items noted where commits are ordered.
    pub(crate) fn note_begin_of(self: &Arc<Self>, commit: &mut store::Commit) {
        let collection = Arc::clone(self);
        let write = std::mem::replace(&mut commit.write, Box::new(|_| Vec::new()));
        commit.write = Box::new(move |stamp| {
            collection.last_begun.fetch_max(stamp.seq, Atomic::SeqCst);
            write(stamp)
        });
    }

    /// Notes the last change that was found in the store.
    pub(crate) fn recovered_last_change(&self, stamp: u64) {
        self.note_change(stamp);
        self.knows_last_change.store(true, Atomic::SeqCst);
    }

    /// Has the last change looked up again: commits whose outcome is unknown may have changed items.
    pub(crate) fn recheck_last_change(&self) {
        self.knows_last_change.store(false, Atomic::SeqCst);
    }

    /// How much of the indexes being built is done, per cent; 100 when all are in force.
    pub fn index_progress(&self) -> u8 {
        let state = self.state.load();
        let unready = state.record.indexes.iter().filter(|index| !index.ready);
        let progress = unready.map(|index| self.figures.progress_of(index.id).per_cent());
        progress.min().unwrap_or(100)
    }

    /// How far the build of an index is; `None` where it is complete.
    pub fn build_progress(&self, index: &IndexSpec) -> Option<BuildProgress> {
        (!index.ready).then(|| self.figures.progress_of(index.id))
    }

    /// How often an index was used ([`ID_INDEX`](super::ID_INDEX): that of the id); `None`: it has
    /// gone.
    pub fn index_usage(&self, index: u32) -> Option<IndexUsage> {
        self.figures.usage_of(index)
    }

    /// Its state as last published.
    pub fn state(&self) -> Arc<CollectionState> {
        self.state.load_full()
    }

    /// Its rows.
    pub(crate) fn rows_space(&self) -> Space {
        Space::Rows(self.id)
    }

    /// Its index entries.
    pub(crate) fn entries_space(&self) -> Space {
        Space::Index(self.id)
    }

    /// Whether it was dropped.
    pub fn is_dropped(&self) -> bool {
        self.dropped.load(Atomic::SeqCst)
    }

    /// The fence's number while it is open.
    pub(crate) fn fence_number(&self) -> Option<u64> {
        let number = self.fence.load(Atomic::SeqCst);
        number.is_multiple_of(2).then_some(number)
    }

    /// Waits until no change is under way.
    pub(crate) async fn wait_until_open(&self) {
        loop {
            let lowered = self.lowered.notified();
            if self.fence_number().is_some() {
                return;
            }
            lowered.await;
        }
    }

    /// The state, and a `seq` that does not lie behind it: no change was published between the two.
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

    /// Takes what a start would find: `None` when it was dropped.
    pub(crate) fn take_reloaded(&self, state: Option<CollectionState>, now: Instant) {
        self.raise_fence();
        match state {
            Some(state) => self.put_state(Arc::new(state), now),
            None => self.dropped.store(true, Atomic::SeqCst),
        }
        self.lower_fence();
    }

    /// Puts a state in force at this instant.
    fn put_state(&self, state: Arc<CollectionState>, now: Instant) {
        // Before the state: whoever finds an index in it finds its figures.
        self.figures.follow(&state.record, now);
        self.state.store(state);
    }

    /// Closes the collection for views: its number becomes odd.
    fn raise_fence(&self) {
        self.fence.fetch_add(1, Atomic::SeqCst);
    }

    /// Opens it again.
    fn lower_fence(&self) {
        self.fence.fetch_add(1, Atomic::SeqCst);
        self.lowered.notify_waiters();
    }
}

/// What a published change does to memory.
pub(crate) enum Publication {
    /// The collection gets this state.
    State(Box<CollectionState>),
    /// The collection is gone.
    Dropped,
}

/// Set where the commit is ordered, taken where it is published.
type Prepared = parking_lot::Mutex<Option<Publication>>;

/// The fence of one change: closes the collection, and puts the new state in force when the change
/// is visible.
pub(crate) struct RecordChange {
    collection: Arc<Collection>,
    /// The collection that loses its name, and so its life, by the same change.
    replaced: Option<Arc<Collection>>,
    /// What the commit's closure made of the record, once the stamp was known.
    prepared: Prepared,
    /// Called before the fence is lowered; `true` when the change was published.
    after: Box<dyn Fn(bool) + Send + Sync>,
}

impl RecordChange {
    pub(crate) fn new(
        collection: Arc<Collection>,
        after: impl Fn(bool) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::replacing(collection, None, after)
    }

    /// The same, where another collection is dropped in the same commit.
    pub(crate) fn replacing(
        collection: Arc<Collection>,
        replaced: Option<Arc<Collection>>,
        after: impl Fn(bool) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let prepared = Prepared::new(None);
        Arc::new(Self { collection, replaced, prepared, after: Box::new(after) })
    }

    /// Called with the stamp: what is put in force on publication.
    pub(crate) fn prepare_publication(&self, publish: Publication) {
        *self.prepared.lock() = Some(publish);
    }
}

impl Fence for RecordChange {
    fn raise(&self) {
        self.collection.raise_fence();
        self.replaced.iter().for_each(|replaced| replaced.raise_fence());
    }

    fn lower(&self, published: Option<Stamp>) {
        let mut prepared = self.prepared.lock();
        if let Some(stamp) = published {
            if let Some(replaced) = &self.replaced {
                replaced.dropped.store(true, Atomic::SeqCst);
            }
            match prepared.take() {
                Some(Publication::State(state)) => {
                    self.collection.put_state(Arc::from(state), Instant::from_ms(stamp.at_ms));
                }
                Some(Publication::Dropped) => self.collection.dropped.store(true, Atomic::SeqCst),
                None => {}
            }
        }
        // Names and counters change before the first view opens under the new state.
        (self.after)(published.is_some());
        self.collection.lower_fence();
        self.replaced.iter().for_each(|replaced| replaced.lower_fence());
    }
}

/// The mutation that stores a record.
pub(crate) fn put_record(record: &Record) -> store::Mutation {
    store::Mutation::Put {
        space: Space::Catalog,
        key: keys::record(record.model, &record.namespace),
        value: encode_record(record).into(),
    }
}

/// The mutation that stores the stamp of a container's last change; see `last_change.rs`.
pub(crate) fn put_last_change(collection: u32, stamp: u64) -> store::Mutation {
    let sum = i64::try_from(stamp).unwrap_or(i64::MAX);
    let key = keys::last_change(collection);
    store::Mutation::Put { space: Space::Counts, key, value: store::encode_count([sum, 0]) }
}
