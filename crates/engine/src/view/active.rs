//! The registry of open views, which keeps the reaper from dropping rows that they may still read.
//!
//! A view is registered before it takes its instant, and declares its instant and the commits that
//! it sees once it is open. In between it may read anything, so nothing is reaped. Reap floors are
//! the bounds up to which expired data may be dropped:
//!
//! ```text
//!  register --> at: None            reaping waits
//!  hold_at  --> at: Some(..)        reap floors are lowered to this view's own floors
//!  drop     --> removed             reap floors may rise
//! ```
//!
//! Slots are sharded by thread, so connections share no lock. Only the reaper visits all shards,
//! once a second.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use clock::Instant;
use expiry::{Floors, Settings};
use parking_lot::{Mutex, MutexGuard};
use slab::Slab;

use super::row_cache::RowCache;
use crate::catalog::CollectionState;

/// Number of shards, more than the threads of most servers; threads of the same shard merely share
/// a lock.
const SHARDS: usize = 32;

/// A view that is open or being opened.
#[derive(Debug)]
struct ActiveView {
    collection: u32,
    /// Instant of the view, sequence number of the newest commit that it is known to see, and
    /// settings of the collection. While it is `None`, the view is being opened and nothing may be
    /// reaped.
    at: Option<(Instant, u64, Arc<CollectionState>)>,
}

/// The views of some threads, aligned to separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(Mutex<Slab<ActiveView>>);

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Slab<ActiveView>> {
        self.0.lock()
    }
}

/// Registry of all open views, and the row cache that they share.
#[derive(Debug)]
pub(crate) struct ActiveViews {
    /// Shards by thread; see [`SHARD`].
    shards: [Shard; SHARDS],
    /// Number of readers of the whole store; while there are any, no reap floors take effect.
    whole: AtomicUsize,
    /// Open transactions: instant of the snapshot, and sequence number of the newest commit that it
    /// certainly contains; `None` until the snapshot is taken, when nothing may be reaped.
    transactions: Mutex<Slab<Option<(Instant, u64)>>>,
    /// The rows that views have read. Stored here because each view holds only a reference to this;
    /// another shared reference would cost each view two writes to contended memory.
    rows: Arc<RowCache>,
}

/// Numbers threads as they open their first view.
static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: usize = NEXT_THREAD.fetch_add(1, Ordering::Relaxed) % SHARDS;
}

impl ActiveViews {
    /// Creates a registry without views.
    pub(super) fn new(rows: Arc<RowCache>) -> Self {
        let transactions = Mutex::default();
        Self { shards: Default::default(), whole: AtomicUsize::new(0), transactions, rows }
    }

    /// Registers a view that is about to be opened.
    pub(crate) fn register(self: &Arc<Self>, collection: u32) -> ReadGuard {
        let shard = SHARD.with(|shard| *shard);
        let slot = self.shards[shard].lock().insert(ActiveView { collection, at: None });
        ReadGuard { views: Arc::clone(self), shard, slot: Some(slot) }
    }

    /// Registers a transaction that is about to take its snapshot, in which it may read any
    /// collection.
    pub(super) fn register_transaction(self: &Arc<Self>) -> TransactionGuard {
        let slot = self.transactions.lock().insert(None);
        TransactionGuard { views: Arc::clone(self), slot }
    }

    /// Registers a reader of the whole store that uses no views.
    pub(crate) fn hold_all(self: &Arc<Self>) -> ReapHold {
        self.whole.fetch_add(1, Ordering::SeqCst);
        ReapHold(Arc::clone(self))
    }

    /// Lowers a collection's floors and list of dropped indexes to what every open view and every
    /// open transaction allows; `None` if a view is being opened. `settings` are the collection's
    /// current ones: a transaction cannot use a collection whose settings have changed since.
    pub(crate) fn limit_floors(
        &self,
        (collection, settings): (u32, &Settings),
        floors: Floors,
        dropped: Vec<u32>,
    ) -> Option<(Floors, Vec<u32>)> {
        if 0 < self.whole.load(Ordering::SeqCst) {
            return None;
        }
        let mut limited = (floors, dropped);
        for (_, at) in &*self.transactions.lock() {
            let (instant, seq) = (*at)?;
            let own = settings.floors_at(instant).bounded_by_stamp(seq + 1);
            limited.0 = limited.0.lower_of_both(&own);
        }
        for shard in &self.shards {
            for (_, held) in shard.lock().iter().filter(|(_, held)| held.collection == collection) {
                // While a view is being opened, nothing may be reaped.
                let (instant, seq, state) = held.at.as_ref()?;
                // The floors of rows that had expired at the view's instant by its settings. The
                // view cannot see rows written later, so floors by date apply only to rows that it
                // can see.
                let own = state.record.settings.floors_at(*instant).bounded_by_stamp(seq + 1);
                limited.0 = limited.0.lower_of_both(&own);
                // The view may be scanning an index that was dropped later.
                limited.1.retain(|index| state.record.dropped.contains(index));
            }
        }
        Some(limited)
    }
}

/// Prevents, while it exists, that data which expires from its creation on is reaped in any
/// collection. It serves readers of the whole store, such as a backup.
#[derive(Debug)]
pub struct ReapHold(Arc<ActiveViews>);

impl Drop for ReapHold {
    fn drop(&mut self) {
        self.0.whole.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The registration of an open transaction, released on drop.
#[derive(Debug)]
pub(super) struct TransactionGuard {
    views: Arc<ActiveViews>,
    slot: usize,
}

impl TransactionGuard {
    /// Records the instant of the transaction's snapshot and the sequence number of the newest
    /// commit that the snapshot is known to contain. Until the registration is released, data that
    /// the snapshot may still read is not reaped.
    pub(super) fn hold_at(&mut self, instant: Instant, seq: u64) {
        if let Some(at) = self.views.transactions.lock().get_mut(self.slot) {
            *at = Some((instant, seq));
        }
    }
}

impl Drop for TransactionGuard {
    fn drop(&mut self) {
        self.views.transactions.lock().try_remove(self.slot);
    }
}

/// The registration of an open view, released on drop.
#[derive(Debug)]
pub(crate) struct ReadGuard {
    views: Arc<ActiveViews>,
    /// Shard of the thread that opened the view; it may be dropped on another thread.
    shard: usize,
    /// Slot of the registration; `None` once released.
    slot: Option<usize>,
}

impl ReadGuard {
    /// Records the instant of the opened view and the sequence number of the newest commit that the
    /// view is known to see. Until the view is dropped, data that it may still read is not reaped.
    pub(crate) fn hold_at(&mut self, instant: Instant, seq: u64, state: &Arc<CollectionState>) {
        let Some(slot) = self.slot else { return };
        if let Some(held) = self.views.shards[self.shard].lock().get_mut(slot) {
            held.at = Some((instant, seq, Arc::clone(state)));
        }
    }

    /// Returns the row cache shared by all views.
    pub(super) fn rows(&self) -> &RowCache {
        &self.views.rows
    }

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
