//! Receipts: small documents that a door has put in the same commit as a write, so that it can tell
//! afterwards that the write took place and what it did, also after another process has taken over.
//! What stands in them is the door's; nobody is shown them as documents.
//!
//! ```text
//!  door: reads receipts ──▶ write: document ──┐
//!                  │                          ├─▶ one commit, under the conditions of both
//!                  └─▶ Receipts: what it did ─┘   a receipt written since: Kind::Precondition
//! ```
//!
//! They lie in a collection of their own with a default TTL, and so expire as everything does.

use std::sync::Arc;

use bytes::Bytes;
use document::{DocBuf, Value, ValueRef};
use expiry::{DefaultTtl, Lifetime};
use store::{Commit, Stamp, Store};

use super::{WriteDraft, draft::row_key, unit::as_one};
use crate::{
    attempts::Attempts,
    catalog::{Collection, CounterState, Record},
    engine::Engine,
    error::{Error, Halt, Kind, What},
    expire::apply_default,
    keys,
    limits::RECEIPT_SECONDS,
    names::{Model, Namespace},
    retry::read_in_view,
    view::LiveView,
};

/// A receipt as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What the door put.
    pub body: Bytes,
    /// Stamp of the commit that it was put in: its version.
    pub stamp: u64,
}

/// What a commit does to a receipt.
#[derive(Clone, Debug)]
pub struct ReceiptPut {
    /// Its id.
    pub id: Value,
    /// The version that was read, or none where there was none. It has to be still so; one that has
    /// expired since counts as none.
    pub over: Option<u64>,
    /// The new one, with its id; without it nothing changes.
    pub body: Option<DocBuf>,
}

/// What a commit of a write does to documents.
#[derive(Clone, Copy, Debug)]
pub enum Effect<'a> {
    /// Nothing: it is about receipts alone.
    Nothing,
    /// Documents at these places of a list are inserted.
    Inserted(&'a [usize]),
    /// A document is edited.
    Edited {
        /// As it was.
        before: &'a Bytes,
        /// As it is now.
        after: &'a Bytes,
    },
    /// A document is made by an update that found none.
    Upserted {
        /// Its id.
        id: &'a Value,
        /// The document.
        after: &'a Bytes,
    },
    /// A document is removed.
    Removed {
        /// As it was.
        before: &'a Bytes,
    },
    /// The statements at these positions of a command do this.
    Statements(&'a [(usize, StatementEffect)]),
}

/// What a statement of a group does to a document.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementEffect {
    /// It is inserted.
    Inserted,
    /// It is edited.
    Edited,
    /// It is made by an update that found none, and has this id.
    Upserted(Value),
    /// It is removed.
    Removed,
    /// Nothing is written; whether a document was found.
    Unwritten(bool),
}

/// The door's part in a write that leaves receipts.
pub trait Receipts: Send + Sync {
    /// What belongs into the commit that does this. It may be asked again: a commit that is refused
    /// is made anew.
    fn receipts_for(&self, effect: Effect<'_>) -> Result<Vec<ReceiptPut>, Error>;

    /// The commit that was asked about last has taken place.
    fn note_commit(&self, stamp: u64);
}

/// The name of the collection of receipts, in a model of its own.
fn receipts_name() -> Namespace {
    Namespace::new("receipts", "receipts")
}

impl<S: Store> Engine<S> {
    /// The receipt with this id.
    pub async fn receipt(&self, id: ValueRef<'_>) -> Result<Option<Receipt>, Error> {
        let Some(collection) = self.collection(Model::Receipts, &receipts_name()) else {
            return Ok(None);
        };
        let key = keys::row(id);
        let (row, _) = read_in_view!(self, &collection, |view| view.get_row(&key).await)?;
        Ok(row.map(|row| Receipt { stamp: row.stamp, body: row.into_body() }))
    }

    /// Puts receipts that belong to no write of documents.
    ///
    /// # Errors
    ///
    /// [`Kind::Precondition`] when one of them is not the version that was read.
    pub async fn put_receipts(&self, receipts: &dyn Receipts) -> Result<(), Error> {
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            if self.commit_with(Vec::new(), Some(receipts), Effect::Nothing).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Commits the writes of documents as one commit, and their receipts with them; `None` when it
    /// was refused.
    ///
    /// # Errors
    ///
    /// [`Kind::Precondition`] when a receipt is not the version that was read.
    pub(super) async fn commit_with(
        &self,
        mut commits: Vec<Commit>,
        receipts: Option<&dyn Receipts>,
        effect: Effect<'_>,
    ) -> Result<Option<Stamp>, Error> {
        let Some(receipts) = receipts else { return self.commit_one(as_one(commits)).await };
        let puts = receipts.receipts_for(effect)?;
        // What removes documents is taken on a full disk with its receipt, which is smaller.
        let frees = !commits.is_empty() && commits.iter().all(|commit| commit.frees);
        commits.extend(self.receipt_commits(&puts).await?);
        let stamp = self.commit_one(Commit { frees, ..as_one(commits) }).await?;
        if let Some(stamp) = stamp {
            receipts.note_commit(stamp.seq);
        }
        Ok(stamp)
    }

    /// A commit for each of these receipts.
    async fn receipt_commits(&self, puts: &[ReceiptPut]) -> Result<Vec<Commit>, Error> {
        let collection = self.ensure_receipts().await?;
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            let view = self.view(&collection).await?;
            match draft_receipts(&view, puts).await {
                Ok(commits) => return Ok(commits),
                Err(halt) => self.resolve(&view, halt).await?,
            }
        }
    }

    /// The collection of receipts, made by the first that is put.
    async fn ensure_receipts(&self) -> Result<Arc<Collection>, Error> {
        let floors = self.inner.rules().floors();
        loop {
            if let Some(collection) = self.collection(Model::Receipts, &receipts_name()) {
                return Ok(collection);
            }
            let fill = move |record: &mut Record, stamp: Stamp| {
                apply_default(record, DefaultTtl::Seconds(RECEIPT_SECONDS), stamp, floors);
                // There is nothing yet that would have to be counted.
                record.counters = CounterState::Ready(stamp.seq);
            };
            match self.create_with(Model::Receipts, &receipts_name(), Arc::new(fill)).await {
                Ok(collection) => return Ok(collection),
                Err(Error { kind: Kind::Exists(What::Collection(_)), .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The commits of receipts, each under the condition that what the view shows is the version that
/// was read, and is still so.
async fn draft_receipts<S: Store>(
    view: &LiveView<S>,
    puts: &[ReceiptPut],
) -> Result<Vec<Commit>, Halt> {
    let draft = WriteDraft::of(view);
    let mut commits = Vec::with_capacity(puts.len());
    for ReceiptPut { id, over, body } in puts {
        let key = Bytes::from(keys::row(id.as_ref()));
        let held = view.get_row(&key).await?;
        if held.as_ref().is_some_and(|held| Some(held.stamp) != *over) {
            let message = "a receipt was written since it was read";
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
        commits.push(draft.put_document(key, body.clone(), Lifetime::Inherit, previous).await?);
    }
    Ok(commits)
}
