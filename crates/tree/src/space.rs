//! A space: its memtables and its version, which readers load together.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use parking_lot::Mutex;

use crate::{memtable::Memtable, options::Layout, trash::Trash, version::Version};

/// The contents of a space at one moment.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The memtable that batches are inserted into.
    pub(crate) active: Arc<Memtable>,
    /// Memtables that are being flushed, the newest first.
    pub(crate) sealed: Vec<Arc<Memtable>>,
    pub(crate) version: Arc<Version>,
}

/// What the memtables of a space contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceMemory {
    /// Number of the space that has the memtables.
    pub space: u64,
    /// Memory of all memtables in bytes.
    pub bytes: u64,
    /// Number of versions in the memtables.
    pub entries: u64,
    /// Number of the first batch that is not completely in tables.
    pub first: u64,
    /// Number of the last batch.
    pub last: u64,
}

impl State {
    /// Returns the contents of the memtables of this space; `None` if they are empty.
    fn memory(&self, space: u64) -> Option<SpaceMemory> {
        let memtables = || self.sealed.iter().chain([&self.active]);
        let first = memtables().filter_map(|memtable| memtable.first_number()).min()?;
        Some(SpaceMemory {
            space,
            bytes: memtables().map(|memtable| memtable.bytes()).sum(),
            entries: memtables().map(|memtable| memtable.entries()).sum(),
            first,
            last: memtables().map(|memtable| memtable.last_number()).max()?,
        })
    }
}

/// State that flushes of a space keep between them.
#[derive(Debug, Default)]
pub(crate) struct FlushState {
    /// Number of the last run.
    pub(crate) last_run: u64,
    /// Body files that flushes append to, by kind and group.
    pub(crate) open_bodies: BTreeMap<(Option<u32>, u64), u64>,
}

/// A space of keys, with its files.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) number: u64,
    /// Whether the layout of new tables is for points.
    points: AtomicBool,
    state: ArcSwap<State>,
    /// Held while a new state is computed from the current one and stored; never during I/O.
    exchange: Mutex<()>,
    /// Held while entries are inserted into the active memtable or it is sealed; never during I/O.
    pub(crate) writing: Mutex<()>,
    /// Held during a flush. Readers and the writer never take it.
    pub(crate) flushing: Mutex<FlushState>,
    dropped: AtomicBool,
}

impl Space {
    /// Creates a space with these files.
    pub(crate) fn new(number: u64, layout: Layout, version: Version, trash: &Arc<Trash>) -> Self {
        let last_run = version.runs.first().map_or(0, |run| run.number);
        let state =
            State { active: Memtable::new(trash), sealed: Vec::new(), version: Arc::new(version) };
        Self {
            number,
            points: AtomicBool::new(layout == Layout::Points),
            state: ArcSwap::from_pointee(state),
            exchange: Mutex::default(),
            writing: Mutex::default(),
            flushing: Mutex::new(FlushState { last_run, ..FlushState::default() }),
            dropped: AtomicBool::new(false),
        }
    }

    /// Returns the layout of new tables.
    pub(crate) fn layout(&self) -> Layout {
        if self.points.load(Ordering::Relaxed) { Layout::Points } else { Layout::Ranges }
    }

    /// Sets the layout of new tables.
    pub(crate) fn set_layout(&self, layout: Layout) {
        self.points.store(layout == Layout::Points, Ordering::Relaxed);
    }

    /// Returns the current state for a short read.
    pub(crate) fn load(&self) -> arc_swap::Guard<Arc<State>> {
        self.state.load()
    }

    /// Returns the current state for a reader that keeps it.
    pub(crate) fn load_full(&self) -> Arc<State> {
        self.state.load_full()
    }

    /// Replaces the state; returns the previous one, so that it is dropped without the lock.
    pub(crate) fn exchange(&self, next: impl FnOnce(&State) -> State) -> Arc<State> {
        let _alone = self.exchange.lock();
        let next = next(&self.state.load());
        self.state.swap(Arc::new(next))
    }

    /// Inserts the values of a batch into the active memtable, in ascending order of distinct keys.
    /// Returns by how many bytes it grew.
    pub(crate) fn insert(
        &self,
        number: u64,
        items: impl IntoIterator<Item = (Bytes, Option<Bytes>)>,
    ) -> u64 {
        let _alone = self.writing.lock();
        self.load().active.insert(number, items)
    }

    /// Seals the active memtable if it has entries.
    pub(crate) fn rotate(&self, trash: &Arc<Trash>) {
        let _alone = self.writing.lock();
        if self.load().active.first_number().is_none() {
            return;
        }
        let old = self.exchange(|state| {
            let mut sealed = vec![Arc::clone(&state.active)];
            sealed.extend(state.sealed.iter().cloned());
            let version = Arc::clone(&state.version);
            State { active: Memtable::new(trash), sealed, version }
        });
        drop(old);
    }

    /// Returns the contents of the memtables; `None` if they are empty.
    pub(crate) fn memory(&self) -> Option<SpaceMemory> {
        self.load().memory(self.number)
    }

    /// Marks the space as dropped, so that reads find nothing, and releases its memtables. Returns
    /// the bytes of these.
    pub(crate) fn record_dropped(&self, trash: &Arc<Trash>) -> u64 {
        self.dropped.store(true, Ordering::SeqCst);
        let old = self.exchange(|state| State {
            active: Memtable::new(trash),
            sealed: Vec::new(),
            version: Arc::clone(&state.version),
        });
        old.memory(self.number).map_or(0, |memory| memory.bytes)
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::SeqCst)
    }
}
