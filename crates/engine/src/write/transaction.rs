//! Transactions of several statements: snapshot isolation over any number of collections.
//!
//! ```text
//!  begin ─▶ statement ─▶ statement ─▶ … ─▶ commit ─▶ one commit of the store
//!             │ views of one snapshot        │ all rows are drafted again in new views, and
//!             │ writes in memory, intents    │ replace the versions that the snapshot has
//! ```
//!
//! A statement runs through a handle of the engine that belongs to the transaction
//! ([`Engine::in_transaction`]): its views show the transaction's snapshot and writes
//! (`view/transaction.rs`), and its commits become writes of the transaction. The commit builds one
//! commit of the store from the final version of each row. It is built in new views, whose
//! versions must be those of the snapshot, so its conditions are those of any write. Times of
//! writes and lifetimes therefore count from its stamp.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;
use document::DocBuf;
use expiry::Header;
use memory::Share;
use store::{Commit, Condition, Mutation, Space, Stamp};

use super::{
    DocumentEntries, Effect, Receipts, WriteDraft, logged::WriteForm, prolong::lifetime_of,
    unit::as_one,
};
use crate::{
    attempts::Attempts,
    engine::Engine,
    error::{Error, Halt, Kind},
    view::{LiveView, Transaction, open_all, snapshot_unavailable, write_conflict},
    yielding::yield_now,
};

/// Number of rows that a commit drafts before it yields.
const DRAFTS_AT_ONCE: usize = 64;

/// A row that a transaction has written: its key, and its final value or `None` if it is deleted.
type FinalRow = (Bytes, Option<Bytes>);

impl Engine {
    /// Begins a transaction. Its writes take their memory from `held`. It has to be committed or
    /// aborted; dropping it aborts it.
    pub fn begin_transaction(&self, held: Share) -> Arc<Transaction> {
        let intents = Arc::clone(&self.inner.intents);
        Arc::new(Transaction::new(&self.inner.views, intents, held))
    }

    /// Opens a snapshot of the newest commits for reads outside of transactions: they all see it as it
    /// was at its instant, through the handle that [`in_transaction`](Self::in_transaction) returns.
    /// Writes fail. It delays reaping until it is aborted or dropped.
    ///
    /// # Errors
    ///
    /// [`Kind::Moved`] if the clock has ended.
    pub async fn open_historical(&self, held: Share) -> Result<Arc<Transaction>, Error> {
        let intents = Arc::clone(&self.inner.intents);
        Ok(Arc::new(Transaction::open_historical(&self.inner.views, intents, held).await?))
    }

    /// Returns a handle through which the statements of a transaction run, one at a time. A
    /// statement that fails has to abort the transaction.
    pub fn in_transaction(&self, transaction: &Arc<Transaction>) -> Self {
        Self { inner: Arc::clone(&self.inner), transaction: Some(Arc::clone(transaction)) }
    }

    /// Ends a statement of a transaction, before its result is returned to the client.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] if the statement left out a document as expired that was written again.
    pub async fn end_statement(&self, transaction: &Transaction) -> Result<(), Error> {
        transaction.end_statement(&self.inner.views).await
    }

    /// Makes writers that wait for transactions check their time limits; to be called
    /// periodically.
    pub fn wake_waiting_writers(&self) {
        self.inner.intents.wake();
    }

    /// Commits a transaction in one commit, with receipts if there are any. Returns its stamp;
    /// `None` if the transaction has written nothing. The transaction has ended in any case.
    ///
    /// # Errors
    ///
    /// [`Kind::Conflict`] if another writer was first or a document on which the transaction relies
    /// has expired, [`Kind::SnapshotUnavailable`] if a collection has changed since the snapshot,
    /// [`Kind::TransactionEnded`] if the transaction has ended, [`Kind::Busy`] without memory for
    /// the commit. Nothing was written then. After an error of the
    /// store the outcome is unknown.
    pub async fn commit_transaction(
        &self,
        transaction: &Arc<Transaction>,
        receipts: Option<&dyn Receipts>,
    ) -> Result<Option<u64>, Error> {
        if !transaction.begin_commit() {
            return Err(Error::new(Kind::TransactionEnded, "the transaction has ended"));
        }
        let committed = self.try_commit(transaction, receipts).await;
        transaction.end();
        committed
    }

    async fn try_commit(
        &self,
        transaction: &Arc<Transaction>,
        receipts: Option<&dyn Receipts>,
    ) -> Result<Option<u64>, Error> {
        let mut by_collection: BTreeMap<u32, Vec<FinalRow>> = BTreeMap::new();
        for (collection, key, value) in transaction.final_rows() {
            by_collection.entry(collection).or_default().push((key, value));
        }
        if by_collection.is_empty() {
            transaction.check_touched().await?;
            return Ok(None);
        }
        transaction.reserve_for_commit()?;
        let all = transaction.collections();
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            transaction.check_touched().await?;
            let Some((now, views)) = open_all(&self.inner.views, &all).await? else { continue };
            if views.len() < all.len() {
                return Err(snapshot_unavailable());
            }
            // Settings may have changed between the first check and the opening of the views.
            transaction.check_touched().await?;
            transaction.check_relied(now)?;
            let identity = receipts.and_then(|receipts| receipts.transaction_identity());
            match draft_commit(transaction, &views, &by_collection, identity).await {
                Ok(mut commits) => {
                    drop(views);
                    let effect = Effect::Nothing;
                    let puts =
                        receipts.map(|receipts| receipts.receipts_for(effect)).transpose()?;
                    if let Some(puts) = puts {
                        commits.extend(self.receipt_commits(&puts).await?);
                    }
                    if let Some(stamp) = self
                        .commit_one(without_overwritten(as_one(commits, self.kept_log())))
                        .await?
                    {
                        if let Some(receipts) = receipts {
                            receipts.record_commit(stamp.seq);
                        }
                        return Ok(Some(stamp.seq));
                    }
                }
                Err((at, halt)) => {
                    let Some(view) = views.get(at) else { return Err(write_conflict()) };
                    self.resolve(view, halt, &mut attempts).await?;
                }
            }
        }
    }
}

/// Builds the commits of all rows in new views. Change records contain `identity`. An error names
/// the view that it concerns.
async fn draft_commit(
    transaction: &Arc<Transaction>,
    views: &[LiveView],
    by_collection: &BTreeMap<u32, Vec<FinalRow>>,
    identity: Option<&DocBuf>,
) -> Result<Vec<Commit>, (usize, Halt)> {
    let mut commits = Vec::new();
    // Collections that were only read must be unchanged, too.
    let mut conditions: Vec<Condition> = transaction.relied_condition().into_iter().collect();
    for (at, view) in views.iter().enumerate() {
        if view.rules().transaction_epochs() {
            let (space, key) = (Space::Catalog, view.state.record_key.clone());
            conditions.push(Condition::NotNewer { space, key, seq: view.seq });
        }
        for (number, (key, value)) in
            by_collection.get(&view.collection.id).into_iter().flatten().enumerate()
        {
            if number % DRAFTS_AT_ONCE == DRAFTS_AT_ONCE - 1 {
                yield_now().await;
            }
            let form = WriteForm::Pipeline;
            let draft = WriteDraft { form, transaction: identity, ..WriteDraft::of(view) };
            let drafted = draft_row(transaction, &draft, key, value.as_ref()).await;
            commits.extend(drafted.map_err(|halt| (at, halt))?);
        }
    }
    commits.push(Commit { frees: true, ..Commit::new(conditions, |_| Vec::new()) });
    Ok(commits)
}

/// Builds the commit of the final version of a row; `None` if the transaction has inserted and
/// deleted it.
async fn draft_row(
    transaction: &Arc<Transaction>,
    draft: &WriteDraft<'_>,
    key: &Bytes,
    value: Option<&Bytes>,
) -> Result<Option<Commit>, Halt> {
    let view = draft.view;
    transaction.check_row(view, key).await?;
    let held = view.get_row(key).await?;
    let Some(value) = value else {
        let Some(held) = held else { return Ok(None) };
        return Ok(Some(draft.remove_document(draft.previous_version(held).await?)));
    };
    let (header, body) = Header::split(value)?;
    let previous = match held {
        Some(held) => {
            let is_same = held.creation_stamp == header.creation_stamp;
            let previous = draft.previous_version(held).await?;
            // The transaction deleted the document and inserted another one.
            Some(if is_same { previous } else { previous.without_creation_stamp() })
        }
        None => None,
    };
    draft.check_told(key, previous.as_ref()).await?;
    let lifetime = lifetime_of(&header);
    let document = DocBuf::from_trusted(value.slice(value.len() - body.len()..));
    let entries = draft.entries_of(document.as_ref(), key)?;
    check_unique(transaction, draft, &entries, key).await?;
    Ok(Some(draft.put_checked(key.clone(), document, lifetime, previous, entries, None)?))
}

/// Fails if a document that the transaction has not written has one of the unique values. Among
/// the documents of the transaction its statements have checked them.
async fn check_unique(
    transaction: &Arc<Transaction>,
    draft: &WriteDraft<'_>,
    entries: &DocumentEntries,
    row_key: &Bytes,
) -> Result<(), Halt> {
    let view = draft.view;
    for key in &entries.unique {
        let Some(index) = draft.unique_index(key) else { continue };
        let held = view.unique_entry(index, key).await?;
        let rows = view.collection.rows_space();
        let is_other = |holder: &Bytes| holder != row_key && !transaction.has_written(rows, holder);
        if held.is_some_and(|held| is_other(&held.row_key)) {
            return Err(write_conflict().into());
        }
    }
    Ok(())
}

/// Leaves out deletions of keys that the same commit sets: a document of the transaction may take a
/// unique value that another one releases.
fn without_overwritten(commit: Commit) -> Commit {
    let Commit { conditions, write, fence, frees } = commit;
    let write = move |stamp: Stamp| {
        let mut mutations = write(stamp);
        let put: HashSet<(Space, Bytes)> = mutations
            .iter()
            .filter_map(|mutation| match mutation {
                Mutation::Put { space: space @ Space::Index(_), key, .. } => {
                    Some((*space, key.clone()))
                }
                _ => None,
            })
            .collect();
        mutations.retain(|mutation| match mutation {
            Mutation::Delete { space, key } => !put.contains(&(*space, key.clone())),
            _ => true,
        });
        mutations
    };
    Commit { conditions, write: Box::new(write), fence, frees }
}
