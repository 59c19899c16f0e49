//! The views that are open, so that the reaper leaves what they may still read.
//!
//! A view is registered before it takes its instant, and says what it may read once it is open.
//! Between the two it may read anything, and nothing at all is reaped:
//!
//! ```text
//!  register ──▶ at: None            reaping waits
//!  hold_at  ──▶ at: Some(..)        reap floors are lowered to this view's own floors
//!  drop     ──▶ gone                reap floors may rise
//! ```
//!
//! Slots are per thread: there is no lock that all connections share. Only the reaper looks at all
//! of them, once a second.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use clock::Instant;
use expiry::Floors;
use parking_lot::{Mutex, MutexGuard};
use slab::Slab;

use super::row_cache::RowCache;
use crate::catalog::CollectionState;

/// More than the threads of most servers; two threads of one shard merely share a lock.
const SHARDS: usize = 32;

/// One open view.
#[derive(Debug)]
struct ActiveView {
    collection: u32,
    /// `None` while the view is being opened: nothing at all may be reaped.
    at: Option<(Instant, u64, Arc<CollectionState>)>,
}

/// The views of some threads, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<Slab<ActiveView>>);

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Slab<ActiveView>> {
        self.0.lock()
    }
}

/// All open views, and what they have in common.
#[derive(Debug)]
pub(crate) struct ActiveViews {
    /// By thread; see [`SHARD`].
    shards: [Shard; SHARDS],
    /// How many read the whole store: nothing more is put in force for any collection.
    whole: AtomicUsize,
    /// Rows that any of them read. Kept here because each view holds this and nothing else that is
    /// shared: holding one more thing would cost each view two writes to memory of all threads.
    rows: Arc<RowCache>,
}

/// Counts threads as they open their first view.
static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: usize = NEXT_THREAD.fetch_add(1, Ordering::Relaxed) % SHARDS;
}

impl ActiveViews {
    /// No view is open yet.
    pub(super) fn new(rows: Arc<RowCache>) -> Self {
        Self { shards: Default::default(), whole: AtomicUsize::new(0), rows }
    }

    /// Registers a view that is about to be opened.
    pub(crate) fn register(self: &Arc<Self>, collection: u32) -> ReadGuard {
        let shard = SHARD.with(|shard| *shard);
        let slot = self.shards[shard].lock().insert(ActiveView { collection, at: None });
        ReadGuard { views: Arc::clone(self), shard, slot: Some(slot) }
    }

    /// Registers somebody who reads the whole store without views.
    pub(crate) fn hold_all(self: &Arc<Self>) -> ReapHold {
        self.whole.fetch_add(1, Ordering::SeqCst);
        ReapHold(Arc::clone(self))
    }

    /// Lowers the floors and the list of dropped indexes of a collection to what every open view
    /// allows; `None` when one is being opened.
    pub(crate) fn limit_floors(
        &self,
        collection: u32,
        floors: Floors,
        dropped: Vec<u32>,
    ) -> Option<(Floors, Vec<u32>)> {
        if 0 < self.whole.load(Ordering::SeqCst) {
            return None;
        }
        let mut limited = (floors, dropped);
        for shard in &self.shards {
            for (_, held) in shard.lock().iter().filter(|(_, held)| held.collection == collection) {
                // One that is being opened allows nothing.
                let (instant, seq, state) = held.at.as_ref()?;
                // What had expired at its instant by its settings. Dates of rows that were written
                // later are none of its business, so floors by date bind only what it can have
                // seen.
                let own = state.record.settings.floors_at(*instant).bounded_by_stamp(seq + 1);
                limited.0 = limited.0.lower_of_both(&own);
                // An index that was dropped later is one that this view may be walking.
                limited.1.retain(|index| state.record.dropped.contains(index));
            }
        }
        Some(limited)
    }
}

/// As long as this lives, nothing that expires from now on is reaped, in any collection: for whoever reads
/// the whole store at one moment.
#[derive(Debug)]
pub struct ReapHold(Arc<ActiveViews>);

impl Drop for ReapHold {
    fn drop(&mut self) {
        self.0.whole.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One open view's hold; let go when dropped.
#[derive(Debug)]
pub(crate) struct ReadGuard {
    /// Where it is registered.
    views: Arc<ActiveViews>,
    /// The shard of the thread that opened it; it may be dropped on another.
    shard: usize,
    /// `None` once it was released.
    slot: Option<usize>,
}

impl ReadGuard {
    /// The view is open: it holds the reap floors here.
    pub(crate) fn hold_at(&mut self, instant: Instant, seq: u64, state: &Arc<CollectionState>) {
        let Some(slot) = self.slot else { return };
        if let Some(held) = self.views.shards[self.shard].lock().get_mut(slot) {
            held.at = Some((instant, seq, Arc::clone(state)));
        }
    }

    /// The rows that views have read lately.
    pub(super) fn rows(&self) -> &RowCache {
        &self.views.rows
    }

    /// Holds nothing any more.
    pub(crate) fn release(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.views.shards[self.shard].lock().try_remove(slot);
        }
    }
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        self.release();
    }
}
