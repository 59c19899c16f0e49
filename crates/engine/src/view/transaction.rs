//! An open transaction: one snapshot for all its statements, its own writes over it, and what its
//! views have shown. `docs/ttl.md` states the rules.
//!
//! Every statement opens views as any operation does, and so judges expiry at its own instant. The
//! snapshot of such a view is then replaced by that of the transaction. The transaction keeps an
//! interval of instants at which all that it was ever shown is true:
//!
//! ```text
//!  first instant
//!  │        e: left out as expired         d: shown, expires
//!  ├────────[──────────────────────────────)──────────▶ time
//!           lo                             hi           lo >= hi: a conflict
//! ```

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use clock::Instant;
use expiry::{Class, Header, Settings};
use memory::Share;
use parking_lot::Mutex;
use store::{Commit, Condition, Outcome, Snapshot, Space};

use super::{
    active::TransactionGuard,
    factory::ViewFactory,
    live::LiveView,
    overlay::{FIRST_OWN_STAMP, Overlay},
};
use crate::{
    catalog::{Collection, Record, decode_record},
    error::{Error, Halt, Kind},
    intents::{IntentHolder, IntentTable},
    limits::MAX_EXPIRED_MET,
    rules::Rules,
};

/// The snapshot of a transaction, taken by its first view.
#[derive(Debug)]
struct Base {
    snapshot: Arc<dyn Snapshot>,
    /// Instant of the first view.
    instant: Instant,
}

/// A collection that a transaction has read or written.
#[derive(Debug)]
struct Touched {
    collection: Arc<Collection>,
    /// The fence number at which the record was last found equal to that of the snapshot.
    fence: Option<u64>,
    /// The record in the transaction's snapshot; `None` for a collection that the transaction
    /// created.
    record: Option<Bytes>,
}

/// Stage of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// The commit is under way: it may be written already.
    Committing,
    Ended,
}

/// The bounds in milliseconds of the instants at which all that was shown is true.
#[derive(Clone, Copy, Debug)]
struct Interval {
    lo: i64,
    hi: i64,
}

/// A key that was left out although it was live at the first instant, with the stamp of its row.
type MetExpired = (Space, Bytes, u64);

/// An open transaction of several statements, by [`Engine::begin_transaction`](crate::Engine::begin_transaction).
pub struct Transaction {
    overlay: Arc<Overlay>,
    base: OnceLock<Base>,
    /// Keeps what the snapshot contains from being reaped, in all collections.
    guard: Mutex<Option<TransactionGuard>>,
    touched: Mutex<BTreeMap<u32, Touched>>,
    interval: Mutex<Interval>,
    met_expired: Mutex<Vec<MetExpired>>,
    holder: Arc<IntentHolder>,
    intents: Arc<IntentTable>,
    /// Keys whose intents the transaction has.
    taken: Mutex<Vec<(Space, Bytes)>>,
    stage: Mutex<Stage>,
    rules: Rules,
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

/// Returns the error of a conflict with another writer.
pub(crate) fn write_conflict() -> Error {
    let text = "Caused by :: Write conflict during plan execution and yielding is disabled. :: \
                Please retry your operation or multi-document transaction.";
    Error::new(Kind::Conflict, text)
}

/// Returns the error of a transaction that has met a document before and after its expiry, or
/// relies on a document that has expired.
fn expired_meanwhile() -> Error {
    let text = "a document expired while the transaction was open; retry the transaction";
    Error::new(Kind::Conflict, text)
}

/// Returns the error of a collection that has changed since the snapshot.
pub(crate) fn snapshot_unavailable() -> Error {
    let text = "Unable to read from a snapshot due to pending collection catalog changes; please \
                retry the operation.";
    Error::new(Kind::SnapshotUnavailable, text)
}

/// Fails if a collection is capped, for a write in a transaction.
pub(crate) fn check_not_capped(collection: &Collection) -> Result<(), Error> {
    let state = collection.state();
    if state.record.capped.is_none() {
        return Ok(());
    }
    let text = format!(
        "Collection {} is a capped collection. Writes in transactions are not allowed on capped \
         collections.",
        state.record.namespace
    );
    Err(Error::new(Kind::OutsideTransactions, text))
}

/// Returns whether a stamp is that of an uncommitted write of the reading transaction.
pub(crate) fn is_own_stamp(stamp: u64) -> bool {
    FIRST_OWN_STAMP <= stamp
}

/// Returns whether an uncommitted document is live at an instant. Its lifetime by class has not
/// begun, since it counts from the commit; dates in the document apply.
fn is_own_live(settings: &Settings, header: &Header<'_>, now: Instant) -> bool {
    let ts = now.seconds();
    let class = match header.class {
        Class::Explicit { deadline } => {
            Class::Explicit { deadline: deadline.saturating_sub(header.ts).saturating_add(ts) }
        }
        class => class,
    };
    now < settings.expires_at(&Header { ts, class, ..*header })
}

/// Returns the stamp of a stored row or entry; `None` if there is none.
fn stamp_of(value: Option<Bytes>) -> Result<Option<u64>, Error> {
    let Some(value) = value else { return Ok(None) };
    Ok(Some(Header::split(&value)?.0.stamp))
}

/// Returns whether a record describes the same documents and indexes as another. Flags that only
/// record what writers have met do not count.
fn is_same_epoch(one: &Record, other: &Record) -> bool {
    let plain = |record: &Record| {
        let mut record = record.clone();
        record.indexes.iter_mut().for_each(|index| index.multikey = false);
        record.counters = crate::catalog::CounterState::Off;
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
            interval: Mutex::new(Interval { lo: i64::MIN, hi: i64::MAX }),
            met_expired: Mutex::default(),
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

    /// Registers a collection that this transaction created after its snapshot was taken.
    pub fn add_created(&self, collection: &Collection) {
        if self.base.get().is_some() {
            self.overlay.add_created(collection.id);
        }
    }

    fn check_open(&self) -> Result<(), Error> {
        match self.is_open() {
            true => Ok(()),
            false => Err(Error::new(Kind::TransactionEnded, "the transaction has ended")),
        }
    }

    /// Fails for writes to a capped collection, whose evictions cannot be undone.
    fn check_no_capped(&self, commits: &[Commit]) -> Result<(), Error> {
        let touched = self.touched.lock();
        for condition in commits.iter().flat_map(|commit| &commit.conditions) {
            if let Condition::NotNewer { space: Space::Rows(id), .. } = condition
                && let Some(touched) = touched.get(id)
            {
                check_not_capped(&touched.collection)?;
            }
        }
        Ok(())
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
        self.guard.lock().take();
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
            *self.interval.lock() = Interval { lo: view.instant.ms, hi: i64::MAX };
            Base { snapshot: Arc::clone(&view.snapshot), instant: view.instant }
        });
        self.check_relied(view.instant)?;
        self.check_touched().await?;
        self.touch(&view).await?;
        let (newest, snapshot) = self.overlay.snapshot(Arc::clone(&base.snapshot));
        (view.seq, view.snapshot) = (newest, snapshot);
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

    /// Records that a stored document was judged at an instant: `expires_at` is its expiry, and
    /// `place` the space, the key and the stamp that decided it. Returns whether it is live.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] if no instant remains at which all that was shown is true.
    pub(super) fn judge(
        &self,
        now: Instant,
        expires_at: Instant,
        place: (Space, &[u8], u64),
    ) -> Result<bool, Halt> {
        let is_live = now < expires_at;
        if !self.rules.interval() {
            return Ok(is_live);
        }
        let mut interval = self.interval.lock();
        if is_live {
            interval.hi = interval.hi.min(expires_at.ms);
        } else if self.base.get().is_some_and(|base| base.instant < expires_at) {
            interval.lo = interval.lo.max(expires_at.ms);
            let (space, key, stamp) = place;
            let mut met = self.met_expired.lock();
            if MAX_EXPIRED_MET <= met.len() {
                return Err(expired_meanwhile().into());
            }
            met.push((space, Bytes::copy_from_slice(key), stamp));
        }
        if interval.hi <= interval.lo { Err(expired_meanwhile().into()) } else { Ok(is_live) }
    }

    /// Checks at the end of a statement that no document that it left out as expired was prolonged,
    /// replaced or removed by others: then neither answer would have been true.
    pub(crate) async fn end_statement(&self, factory: &ViewFactory) -> Result<(), Error> {
        // It may have been aborted from outside while the statement ran.
        self.check_open()?;
        let met = std::mem::take(&mut *self.met_expired.lock());
        if met.is_empty() || !self.rules.renewals() {
            return Ok(());
        }
        let newest = factory.store.snapshot();
        for (space, key, stamp) in met {
            if stamp_of(newest.get(space, &key).await?)? != Some(stamp) {
                return Err(expired_meanwhile());
            }
        }
        Ok(())
    }

    /// Adds the writes of commits that were built in a view of this transaction. Takes the intents
    /// of their keys first.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] if another open transaction has written one of the keys, or another
    /// writer has since the snapshot, or if a document that the commits rely on has expired;
    /// [`Kind::Busy`] without memory.
    pub(crate) async fn add(
        &self,
        factory: &ViewFactory,
        commits: Vec<Commit>,
    ) -> Result<Vec<Outcome>, Error> {
        let now = factory.clock.now().await?;
        let mut new = Vec::new();
        for condition in commits.iter().flat_map(|commit| &commit.conditions) {
            match condition {
                Condition::NotNewer {
                    space: space @ (Space::Rows(_) | Space::Index(_)),
                    key,
                    ..
                } => match self.intents.take(*space, key, &self.holder, now.ms) {
                    Some(true) => {
                        self.taken.lock().push((*space, key.clone()));
                        new.push((*space, key.clone()));
                    }
                    Some(false) => {}
                    None => return Err(write_conflict()),
                },
                Condition::Before(expires_ms) => self.holder.rely_until(*expires_ms),
                Condition::NotNewer { .. } | Condition::AfterPrevious => {}
            }
        }
        self.check_relied(now)?;
        self.check_unchanged(&*factory.store.snapshot(), &new).await?;
        self.check_open()?;
        self.check_no_capped(&commits)?;
        let outcomes = self.overlay.apply(commits, now.ms)?;
        // The transaction may have been aborted while the writes were added.
        if !self.is_open() {
            self.end();
        }
        Ok(outcomes)
    }

    /// Fails if another writer has changed one of these keys since the snapshot.
    async fn check_unchanged(
        &self,
        newest: &dyn Snapshot,
        keys: &[(Space, Bytes)],
    ) -> Result<(), Error> {
        let Some(base) = self.base.get() else { return Ok(()) };
        for (space, key) in keys {
            let before = match self.overlay.is_created(*space) {
                true => None,
                false => base.snapshot.get(*space, key).await?,
            };
            if stamp_of(before)? != stamp_of(newest.get(*space, key).await?)? {
                return Err(write_conflict());
            }
        }
        Ok(())
    }

    /// Fails if a row in a new view is not the version that the transaction's snapshot has.
    pub(crate) async fn check_row(&self, view: &LiveView, key: &Bytes) -> Result<(), Error> {
        let place = (view.collection.rows_space(), key.clone());
        self.check_unchanged(&*view.snapshot, std::slice::from_ref(&place)).await
    }

    /// Returns whether the transaction has written a row.
    pub(crate) fn has_written(&self, space: Space, key: &[u8]) -> bool {
        self.overlay.has(space, key)
    }

    /// Returns the final value of each row that the transaction has written, by collection; `None`
    /// for a deleted row.
    pub(crate) fn final_rows(&self) -> Vec<(u32, Bytes, Option<Bytes>)> {
        self.overlay.final_rows()
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

/// Returns whether an uncommitted row or entry of the reading transaction is live.
pub(super) fn judge_own(view: &LiveView, header: &Header<'_>) -> Option<Instant> {
    let settings = &view.state.record.settings;
    if !view.rules.own_lifetimes() {
        let expires_at = settings.expires_at(header);
        return (view.instant < expires_at).then_some(expires_at);
    }
    // Nobody relies on its expiry: the commit decides it.
    is_own_live(settings, header, view.instant).then_some(Instant::MAX)
}
