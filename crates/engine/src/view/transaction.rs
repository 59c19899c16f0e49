//! An open transaction: one snapshot for all its statements, its own writes over it, and the
//! judgement of its views. `docs/ttl.md` states the rules.
//!
//! Every statement opens views as any operation does, and so judges expiry at its own instant. The
//! snapshot of such a view is then replaced by that of the transaction.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use clock::Instant;
use memory::Share;
use parking_lot::Mutex;
use store::{Condition, Snapshot, Space};

use super::{
    active::TransactionGuard,
    factory::ViewFactory,
    historical::Historical,
    judged::Judged,
    live::LiveView,
    overlay::Overlay,
    transaction_errors::{expired_meanwhile, snapshot_unavailable},
};
use crate::{
    catalog::{Collection, CounterState, ID_INDEX, Record, decode_record},
    error::Error,
    intents::{IntentHolder, IntentTable},
    rules::Rules,
};

/// The snapshot of a transaction, taken by its first view.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) snapshot: Arc<dyn Snapshot>,
    /// The instant at which all statements judge expiry, if the snapshot is for reads outside of
    /// transactions.
    historical: Option<Historical>,
}

/// A collection that a transaction has read or written.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) collection: Arc<Collection>,
    /// The fence number at which the record was last found equal to that of the snapshot.
    fence: Option<u64>,
    /// The record in the transaction's snapshot; `None` for a collection that the transaction
    /// created.
    record: Option<Bytes>,
}

/// The stage of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// The commit is under way: it may be written already.
    Committing,
    Ended,
}

/// An open transaction of several statements, by [`Engine::begin_transaction`](crate::Engine::begin_transaction).
pub struct Transaction {
    pub(super) overlay: Arc<Overlay>,
    pub(super) base: OnceLock<Base>,
    /// Keeps what the snapshot contains from being reaped, in all collections.
    guard: Mutex<Option<TransactionGuard>>,
    pub(super) touched: Mutex<BTreeMap<u32, Touched>>,
    /// The documents that its views have shown and left out.
    pub(super) judged: Judged,
    pub(super) holder: Arc<IntentHolder>,
    pub(super) intents: Arc<IntentTable>,
    /// Keys whose intents the transaction has.
    pub(super) taken: Mutex<Vec<(Space, Bytes)>>,
    stage: Mutex<Stage>,
    pub(super) rules: Rules,
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").field("stage", &self.stage).finish_non_exhaustive()
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns whether a record describes the same documents and indexes as another. Flags that only
/// record what writers have met do not count, nor do dropped indexes, which the reaper forgets.
fn is_same_epoch(one: &Record, other: &Record) -> bool {
    let plain = |record: &Record| {
        let mut record = record.clone();
        record.indexes.iter_mut().for_each(|index| index.multikey = false);
        let is_present = |id| id == ID_INDEX || record.indexes.iter().any(|index| index.id == id);
        record.settings.dates.retain(|rule| is_present(rule.index));
        record.dropped.clear();
        record.counters = CounterState::Off;
        record
    };
    plain(one) == plain(other)
}

impl Transaction {
    /// Creates a transaction without a snapshot. Its writes take their memory from `held`.
    pub(crate) fn new(factory: &ViewFactory, intents: Arc<IntentTable>, held: Share) -> Self {
        Self {
            overlay: Arc::new(Overlay::new(held)),
            base: OnceLock::new(),
            guard: Mutex::new(Some(factory.active.register_transaction())),
            touched: Mutex::default(),
            judged: Judged::new(factory.rules),
            holder: Arc::new(IntentHolder::new()),
            intents,
            taken: Mutex::default(),
            stage: Mutex::new(Stage::Open),
            rules: factory.rules,
        }
    }

    /// Returns whether the transaction has written nothing.
    pub fn is_read_only(&self) -> bool {
        self.overlay.is_empty()
    }

    /// Returns whether the transaction may still commit: it was neither committed nor aborted.
    pub fn is_open(&self) -> bool {
        *self.stage.lock() == Stage::Open
    }

    /// Returns the memory that the writes of the transaction hold, in bytes.
    pub fn memory_used(&self) -> usize {
        self.overlay.bytes()
    }

    /// Registers a collection that a statement of this transaction has created. The transaction
    /// sees none of the documents that others insert into it.
    pub fn add_created(&self, collection: &Collection) {
        self.overlay.add_created(collection.id);
    }

    /// Returns whether the transaction has created a collection and not written it yet.
    pub fn has_created_empty(&self, collection: &Collection) -> bool {
        let rows = collection.rows_space();
        self.overlay.is_created(rows) && !self.overlay.has_any(rows)
    }

    /// Fails if the transaction was committed or aborted.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        match self.is_open() {
            true => Ok(()),
            false => Err(self.ended_error()),
        }
    }

    /// Gives the transaction its snapshot, at whose instant all its statements judge expiry.
    pub(super) fn begin_at(&self, snapshot: Arc<dyn Snapshot>, at: Historical) {
        if let Some(guard) = &mut *self.guard.lock() {
            let (instant, seq) = at.held_at();
            guard.hold_at(instant, seq);
        }
        self.judged.begin_at(at.instant());
        self.base.get_or_init(|| Base { snapshot, historical: Some(at) });
    }

    /// Returns the place of a snapshot for reads outside of transactions.
    pub(super) fn historical(&self) -> Option<Historical> {
        self.base.get().and_then(|base| base.historical)
    }

    /// Begins the commit; false if the transaction has ended or is being committed.
    pub(crate) fn begin_commit(&self) -> bool {
        let mut stage = self.stage.lock();
        let is_open = *stage == Stage::Open;
        if is_open {
            *stage = Stage::Committing;
        }
        is_open
    }

    /// Ends the transaction: releases its intents, its writes and its snapshot's guard.
    pub(crate) fn end(&self) {
        *self.stage.lock() = Stage::Ended;
        let taken = std::mem::take(&mut *self.taken.lock());
        self.intents.release(taken, &self.holder);
        self.overlay.clear();
        // Cursors may be reading a snapshot of several reads; it is held until the last one ends.
        if self.historical().is_none() {
            self.guard.lock().take();
        }
    }

    /// Aborts the transaction unless its commit is under way; returns whether it is aborted.
    pub fn abort(&self) -> bool {
        let mut stage = self.stage.lock();
        if *stage == Stage::Committing {
            return false;
        }
        *stage = Stage::Ended;
        drop(stage);
        self.end();
        true
    }

    /// Makes a view that was just opened a view of this transaction: it keeps its instant and its
    /// settings, and reads the transaction's snapshot and writes.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] if the transaction relies on a document that has expired,
    /// [`Kind::SnapshotUnavailable`] if a collection that it uses has changed since its snapshot,
    /// [`Kind::TransactionEnded`] if it has ended.
    pub(super) async fn adopt(self: &Arc<Self>, mut view: LiveView) -> Result<LiveView, Error> {
        self.check_open()?;
        let base = self.base.get_or_init(|| {
            if let Some(guard) = &mut *self.guard.lock() {
                guard.hold_at(view.instant.min(view.stable), view.seq);
            }
            self.judged.begin_at(view.instant);
            Base { snapshot: Arc::clone(&view.snapshot), historical: None }
        });
        if let Some(at) = &base.historical {
            at.judge_in(&mut view);
        }
        // Settings first: expiries that the transaction relied on are those of its settings.
        self.check_touched().await?;
        self.check_relied(view.instant)?;
        self.touch(&view).await?;
        let (newest, snapshot) = self.overlay.snapshot(Arc::clone(&base.snapshot));
        (view.seq, view.snapshot) = (newest, snapshot);
        // Changes are recorded when the transaction commits.
        view.log = None;
        view.transaction = Some(Arc::clone(self));
        Ok(view)
    }

    /// Fails if a document that the transaction relies on has expired.
    pub(crate) fn check_relied(&self, now: Instant) -> Result<(), Error> {
        if self.rules.reliance() && self.holder.relied_until() <= now.ms {
            return Err(expired_meanwhile());
        }
        Ok(())
    }

    /// Records that the transaction relies on a document that expires at this instant.
    pub(crate) fn rely_until(&self, expires_at: Instant) {
        self.holder.rely_until(expires_at.ms);
    }

    /// Returns the condition that no document on which the transaction relies has expired; `None`
    /// if it relies on none that expires.
    pub(crate) fn relied_condition(&self) -> Option<Condition> {
        let until = self.holder.relied_until();
        (self.rules.reliance() && until != i64::MAX).then_some(Condition::Before(until))
    }

    /// Returns the collections that the transaction has read or written.
    pub(crate) fn collections(&self) -> Vec<Arc<Collection>> {
        self.touched.lock().values().map(|touched| Arc::clone(&touched.collection)).collect()
    }

    /// Fails if a collection that the transaction has read or written has changed since its
    /// snapshot.
    pub(crate) async fn check_touched(&self) -> Result<(), Error> {
        if !self.rules.transaction_epochs() {
            return Ok(());
        }
        let all = self.collections();
        for collection in all {
            if collection.is_dropped() {
                return Err(snapshot_unavailable());
            }
            collection.wait_until_open().await;
            let (fence, state) = (collection.fence_number(), collection.state());
            let mut touched = self.touched.lock();
            let Some(held) = touched.get_mut(&collection.id) else { continue };
            if fence.is_none() || held.fence != fence {
                held.check_record(&state.record)?;
                held.fence = fence;
            }
        }
        Ok(())
    }

    /// Registers the collection of a view, whose record must be that of the snapshot.
    async fn touch(&self, view: &LiveView) -> Result<(), Error> {
        let collection = &view.collection;
        if self.touched.lock().contains_key(&collection.id) {
            return Ok(());
        }
        let Some(base) = self.base.get() else { return Ok(()) };
        let record = match self.overlay.is_created(collection.rows_space()) {
            true => None,
            false => {
                let key = &view.state.record_key;
                let record = base.snapshot.get(Space::Catalog, key).await?;
                Some(record.ok_or_else(snapshot_unavailable)?)
            }
        };
        let touched = Touched { collection: Arc::clone(collection), fence: view.fence, record };
        if self.rules.transaction_epochs() {
            touched.check_record(&view.state.record)?;
        }
        self.touched.lock().insert(collection.id, touched);
        Ok(())
    }

    /// Checks at the end of a statement that nothing that it left out as expired was written by
    /// others.
    pub(crate) async fn end_statement(&self, factory: &ViewFactory) -> Result<(), Error> {
        // It may have been aborted from outside while the statement ran.
        self.check_open()?;
        self.judged.end_statement(factory).await
    }
}

impl Touched {
    /// Fails if the collection's record is not that of the transaction's snapshot.
    fn check_record(&self, now: &Record) -> Result<(), Error> {
        let Some(before) = &self.record else { return Ok(()) };
        if is_same_epoch(&decode_record(before)?, now) {
            Ok(())
        } else {
            Err(snapshot_unavailable())
        }
    }
}
