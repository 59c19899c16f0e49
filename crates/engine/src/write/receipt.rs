//! Receipts: small documents that an API stores in the same commit as a write, to determine later
//! that the write happened and its result, even after a failover. Their content is defined by the
//! API, and they are never returned as documents.
//!
//! ```text
//!  API: reads receipts --> write: document --+
//!                  |                          +--> one commit, under the conditions of both
//!                  +--> Receipts: its outcome +   a receipt written since: Kind::Precondition
//! ```
//!
//! They are in a collection of their own with a default TTL, and so expire like other documents. A
//! manual clock does not measure how long a client has been silent: there receipts never expire, and
//! the API removes the old ones by the machine's clock.

use std::sync::Arc;

use bytes::Bytes;
use clock::ClockMode;
use document::{DocBuf, Value, ValueRef};
use expiry::{DefaultTtl, Lifetime};
use store::{Commit, KeyRange, Outcome, Stamp};

use super::{WriteDraft, draft::row_key, intent_waits::OnIntent, unit::as_one};
use crate::{
    attempts::Attempts,
    catalog::{Collection, CounterState, Record},
    engine::Engine,
    error::{Error, ErrorSubject, Halt, Kind},
    expire::apply_default,
    keys,
    limits::RECEIPT_SECONDS,
    names::{Model, Namespace},
    retry::read_in_view,
    view::{LiveView, Pages},
};

/// A stored receipt of an earlier write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Content stored by the API.
    pub body: Bytes,
    /// Stamp of the commit that stored the receipt, which is its version.
    pub stamp: u64,
}

/// A receipt that a commit writes or depends on.
#[derive(Clone, Debug)]
pub struct ReceiptPut {
    /// Id under which the receipt is stored.
    pub id: Value,
    /// Version that the stored receipt must have; `None` if none may exist. An expired receipt
    /// counts as absent.
    pub expected_stamp: Option<u64>,
    /// New content, including the id; `None` changes nothing.
    pub body: Option<DocBuf>,
}

/// The effect of a write's commit on documents.
#[derive(Clone, Copy, Debug)]
pub enum Effect<'a> {
    /// No documents are written, only receipts.
    Nothing,
    /// The documents at these positions of the caller's list are inserted.
    Inserted(&'a [usize]),
    /// The commit edits one document.
    Edited {
        /// The document before the edit.
        before: &'a Bytes,
        /// The document after the edit.
        after: &'a Bytes,
    },
    /// An upsert inserts a document.
    Upserted {
        /// Id of the inserted document.
        id: &'a Value,
        /// The document that the upsert inserts.
        after: &'a Bytes,
    },
    /// The commit deletes one document.
    Removed {
        /// The document before the deletion.
        before: &'a Bytes,
    },
    /// The statements at these positions of a command have these effects.
    Statements(&'a [(usize, StatementEffect)]),
}

/// The effect of one statement of a group on a document.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementEffect {
    /// The statement inserts a document.
    Inserted,
    /// The statement edits a document.
    Edited,
    /// An upsert inserts a document with this id.
    Upserted(Value),
    /// The statement deletes a document.
    Removed,
    /// Nothing is written; the flag is whether a document was found.
    Unwritten(bool),
}

/// Provides the receipts of a write, implemented by the API.
pub trait Receipts: Send + Sync {
    /// Returns the receipts for the commit with this effect. Called again if the commit is refused
    /// and rebuilt.
    fn receipts_for(&self, effect: Effect<'_>) -> Result<Vec<ReceiptPut>, Error>;

    /// Reports the stamp of the last commit built with these receipts.
    fn record_commit(&self, stamp: u64);

    /// Returns the identity of the transaction that is committed, which its change records contain
    /// in the form that the API shows; `None` if the write is not a transaction's.
    fn transaction_identity(&self) -> Option<&DocBuf> {
        None
    }
}

/// Returns the name of the receipts collection, which has a model of its own.
fn receipts_name() -> Namespace {
    Namespace::new("receipts", "receipts")
}

impl Engine {
    /// Returns the receipt with this id.
    pub async fn receipt(&self, id: ValueRef<'_>) -> Result<Option<Receipt>, Error> {
        let Some(collection) = self.collection(Model::Receipts, &receipts_name()) else {
            return Ok(None);
        };
        let key = keys::row(id);
        let (row, _) = read_in_view!(self, &collection, |view| view.get_row(&key).await)?;
        Ok(row.map(|row| Receipt { stamp: row.stamp, body: row.into_body() }))
    }

    /// Stores receipts without a write of documents.
    ///
    /// # Errors
    ///
    /// [`Kind::Precondition`] if a receipt is not the required version.
    pub async fn put_receipts(&self, receipts: &dyn Receipts) -> Result<(), Error> {
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            if self
                .commit_with(Vec::new(), Some(receipts), Effect::Nothing, OnIntent::Refuse)
                .await?
                .is_some()
            {
                return Ok(());
            }
        }
    }

    /// Commits writes of documents together with their receipts; `None` if refused. `on_intent`
    /// applies to conflicts with open transactions.
    ///
    /// # Errors
    ///
    /// [`Kind::Precondition`] if a receipt is not the required version.
    pub(super) async fn commit_with(
        &self,
        mut commits: Vec<Commit>,
        receipts: Option<&dyn Receipts>,
        effect: Effect<'_>,
        on_intent: OnIntent<'_>,
    ) -> Result<Option<Stamp>, Error> {
        let Some(receipts) = receipts else {
            return self.commit_write(as_one(commits, self.kept_log()), on_intent).await;
        };
        let puts = receipts.receipts_for(effect)?;
        // Deletions are accepted on a full disk even with receipts, which are smaller than the
        // documents.
        let frees = !commits.is_empty() && commits.iter().all(|commit| commit.frees);
        commits.extend(self.receipt_commits(&puts).await?);
        let stamp = self
            .commit_write(Commit { frees, ..as_one(commits, self.kept_log()) }, on_intent)
            .await?;
        if let Some(stamp) = stamp {
            receipts.record_commit(stamp.seq);
        }
        Ok(stamp)
    }

    /// Removes the receipts whose content is old according to `is_old`, and returns their number. A
    /// receipt that is written concurrently stays.
    pub async fn forget_receipts(
        &self,
        is_old: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Result<usize, Error> {
        let Some(collection) = self.collection(Model::Receipts, &receipts_name()) else {
            return Ok(0);
        };
        let (mut pages, mut count) = (Pages::of(KeyRange::all()), 0);
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            let (view, before) = (self.view(&collection).await?, pages.clone());
            match draft_removals(&view, &mut pages, is_old).await {
                Ok(None) => return Ok(count),
                Ok(Some(commits)) if commits.is_empty() => attempts.start_over(),
                Ok(Some(commits)) => {
                    let outcomes = self.inner.store().commit(commits).await?;
                    let gone = |outcome: &&Outcome| matches!(outcome, Outcome::Committed(_));
                    count += outcomes.iter().filter(gone).count();
                    attempts.start_over();
                }
                Err(halt) => {
                    pages = before;
                    self.resolve(&view, halt, &mut attempts).await?;
                }
            }
        }
    }

    /// Returns a commit for each receipt.
    pub(super) async fn receipt_commits(&self, puts: &[ReceiptPut]) -> Result<Vec<Commit>, Error> {
        let collection = self.ensure_receipts().await?;
        let lifetime = match self.clock().mode() {
            ClockMode::System => Lifetime::Inherit,
            ClockMode::Manual => Lifetime::Never,
        };
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            let view = self.view(&collection).await?;
            match draft_receipts(&view, puts, lifetime).await {
                Ok(commits) => return Ok(commits),
                Err(halt) => self.resolve(&view, halt, &mut attempts).await?,
            }
        }
    }

    /// Returns the receipts collection, creating it at first use.
    async fn ensure_receipts(&self) -> Result<Arc<Collection>, Error> {
        let floors = self.inner.rules().floors();
        loop {
            if let Some(collection) = self.collection(Model::Receipts, &receipts_name()) {
                return Ok(collection);
            }
            let fill = move |record: &mut Record, stamp: Stamp| {
                apply_default(record, DefaultTtl::Seconds(RECEIPT_SECONDS), stamp, floors);
                // The collection is empty, so the counters are complete.
                record.counters = CounterState::Ready(stamp.seq);
            };
            match self.create_with(Model::Receipts, &receipts_name(), Arc::new(fill)).await {
                Ok(collection) => return Ok(collection),
                Err(Error { kind: Kind::Exists(ErrorSubject::Collection(_)), .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns the commits of receipts, conditional on the required versions being current in the view
/// and unchanged since.
async fn draft_receipts(
    view: &LiveView,
    puts: &[ReceiptPut],
    lifetime: Lifetime,
) -> Result<Vec<Commit>, Halt> {
    let draft = WriteDraft::of(view);
    let mut commits = Vec::with_capacity(puts.len());
    for ReceiptPut { id, expected_stamp, body } in puts {
        let key = Bytes::from(keys::row(id.as_ref()));
        let held = view.get_row(&key).await?;
        if held.as_ref().is_some_and(|held| Some(held.stamp) != *expected_stamp) {
            let message = "a receipt has changed since it was read";
            return Err(Error::new(Kind::Precondition, message).into());
        }
        let Some(body) = body else {
            commits.push(Commit::new(draft.row_conditions(&key), |_| Vec::new()));
            continue;
        };
        debug_assert_eq!(row_key(body.as_ref()), Ok(key.clone()));
        let previous = match held {
            Some(row) => Some(draft.previous_version(row).await?),
            None => None,
        };
        commits.push(draft.put_document(key, body.clone(), lifetime, previous).await?);
    }
    Ok(commits)
}

/// Returns the commits that remove the old receipts of the next page; `None` after the last page.
async fn draft_removals(
    view: &LiveView,
    pages: &mut Pages,
    is_old: &(dyn Fn(&[u8]) -> bool + Sync),
) -> Result<Option<Vec<Commit>>, Halt> {
    let Some(page) = view.next_rows(pages).await? else { return Ok(None) };
    let draft = WriteDraft::of(view);
    let mut commits = Vec::new();
    for row in page.items.into_iter().filter(|row| is_old(row.body())) {
        commits.push(draft.remove_document(draft.previous_version(row).await?));
    }
    Ok(Some(commits))
}
