//! Writes of items: any number of actions in one atomic commit, each seeing the effects of those
//! before. Decisions made in a view become conditions of the commit; a refused commit is retried in
//! a new view from the first action.

use std::sync::Arc;

use document::{DocBuf, DocRef};
use evaluation::Context;
use store::Outcome;

use super::batch::ItemBatch;
use crate::{
    attempts::Attempts,
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt, Kind},
    item_key::{ItemKey, ItemRange},
    limits::{MAX_BATCH, ROW_WORK},
    retry::read_in_view,
    row::Item,
    view::{LiveView, Pages},
    write::WriteDraft,
    yielding::yield_if_due,
};
use expiry::DefaultTtl;
use expiry::Lifetime;

/// The version that a stored item must have for an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMatch {
    /// Any version of the item is accepted.
    Any,
    /// The version with this stamp.
    Stamp(u64),
    /// No version: the client's value cannot match any.
    Nothing,
}

impl VersionMatch {
    /// Returns whether the version with this stamp qualifies.
    pub(super) fn matches_stamp(self, stamp: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Stamp(wanted) => stamp == wanted,
            Self::Nothing => false,
        }
    }
}

/// Edits a stored item, given the current default TTL.
pub type Patch = Arc<dyn Fn(&Item, DefaultTtl) -> Result<(DocBuf, Lifetime), Error> + Send + Sync>;

/// An action on one item.
#[derive(Clone)]
pub enum ItemAction {
    /// Creates the item; fails if it exists.
    Create(DocBuf),
    /// Creates or replaces the item.
    Upsert(DocBuf),
    /// Replaces the item; fails if it does not exist.
    Replace(DocBuf),
    /// Replaces the item and changes its key; fails if it does not exist or the new key is taken.
    Move(ItemKey, DocBuf),
    /// Edits the item; fails if it does not exist.
    Patch(Patch),
    /// Deletes the item; fails if it does not exist.
    Delete,
    /// Reads the item; fails if it does not exist.
    Read,
}

impl std::fmt::Debug for ItemAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Create(_) => "Create",
            Self::Upsert(_) => "Upsert",
            Self::Replace(_) => "Replace",
            Self::Move(..) => "Move",
            Self::Patch(_) => "Patch",
            Self::Delete => "Delete",
            Self::Read => "Read",
        })
    }
}

/// An action with its key and condition.
#[derive(Clone, Debug)]
pub struct ItemWrite {
    /// Key of the item to act on.
    pub key: ItemKey,
    /// The action on the item.
    pub action: ItemAction,
    /// Version that the stored item must have.
    pub if_match: VersionMatch,
}

impl ItemWrite {
    /// Returns the keys of all items that the action may change.
    pub fn changed_keys(&self) -> impl Iterator<Item = &ItemKey> {
        let other = match &self.action {
            ItemAction::Move(to, _) => Some(to),
            _ => None,
        };
        std::iter::once(&self.key).chain(other)
    }
}

/// The API's rules for documents that are about to be written.
pub trait ItemWriter: Send + Sync {
    /// Validates a document under the current default TTL and returns its requested lifetime.
    fn lifetime_of(&self, default: DefaultTtl, document: DocRef<'_>) -> Result<Lifetime, Error>;
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemDone {
    /// Whether the action created the item.
    pub created: bool,
    /// The item after the action; `None` if it was deleted.
    pub item: Option<Item>,
    /// Number of index entries written, for request charges.
    pub entries: usize,
}

/// The action that failed and its error. Nothing was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemFailure {
    /// Position in the batch of the action that failed.
    pub at: usize,
    /// Error of the action that failed.
    pub error: Error,
}

impl Engine {
    /// Executes all actions atomically. Returns the result of each and the stamp of the commit, or
    /// the sequence number of the newest commit that the view shows if nothing was written.
    pub async fn write_items(
        &self,
        collection: &Arc<Collection>,
        writes: &[ItemWrite],
        writer: &dyn ItemWriter,
    ) -> Result<(Vec<ItemDone>, u64), ItemFailure> {
        let failed = |error| ItemFailure { at: 0, error };
        if MAX_BATCH < writes.len() {
            let message = format!("a batch may have at most {MAX_BATCH} actions");
            return Err(failed(Error::new(Kind::TooLarge, message)));
        }
        let mut attempts = Attempts::new("too many concurrent writes to the same items");
        loop {
            attempts.begin_next().map_err(failed)?;
            let view = self.view(collection).await.map_err(failed)?;
            let mut batch = ItemBatch::new(WriteDraft::of(&view));
            let mut halted = None;
            for (at, write) in writes.iter().enumerate() {
                if let Err(halt) = batch.apply_action(write, writer).await {
                    halted = Some((at, halt));
                    break;
                }
            }
            let built = match halted {
                Some(halted) => Err(halted),
                None => batch.into_commit().await.map_err(|halt| (0, halt)),
            };
            let (commit, pending) = match built {
                Ok(built) => built,
                Err((at, halt)) => {
                    let resolved = self.resolve(&view, halt, &mut attempts).await;
                    resolved.map_err(|error| ItemFailure { at, error })?;
                    continue;
                }
            };
            let seq = view.seq;
            drop(view);
            // Nothing was written, so the result is that of the view.
            let Some(mut commit) = commit else { return Ok((pending.into_results(None), seq)) };
            collection.record_stamp_of(&mut commit);
            let outcomes = self.inner.store().commit(vec![commit]).await;
            match outcomes.map_err(|error| failed(error.into()))?.first() {
                Some(Outcome::Committed(stamp)) => {
                    collection.record_change(stamp.seq);
                    return Ok((pending.into_results(Some(*stamp)), stamp.seq));
                }
                _ => continue,
            }
        }
    }
}

impl Engine {
    /// Deletes all items in a part of a container; returns their number.
    pub async fn remove_range(
        &self,
        collection: &Arc<Collection>,
        range: &ItemRange,
        context: &Context,
    ) -> Result<usize, Error> {
        // A page is complete when none of its deletions was refused; the attempts are counted for
        // each page separately.
        let (mut removed, mut pages) = (0, Pages::of(range.0.clone()));
        let mut attempts = Attempts::new("too many concurrent writes to the items being deleted");
        while !pages.is_done() {
            let mut next = pages.clone();
            let cleaned = read_in_view!(self, collection, |view| {
                next.clone_from(&pages);
                self.remove_page(&view, &mut next, context, &mut removed).await
            });
            match cleaned?.0 {
                true => {
                    pages = next;
                    attempts.start_over();
                }
                // Items whose deletion was refused still exist: repeat the page.
                false => attempts.begin_next()?,
            }
        }
        Ok(removed)
    }

    /// Deletes the next page of items; returns whether all of its commits succeeded.
    async fn remove_page(
        &self,
        view: &LiveView,
        pages: &mut Pages,
        context: &Context,
        removed: &mut usize,
    ) -> Result<bool, Halt> {
        let Some(page) = view.next_rows(pages).await? else { return Ok(true) };
        let draft = WriteDraft::of(view);
        let mut commits = Vec::with_capacity(page.items.len());
        for row in page.items {
            yield_if_due(context, ROW_WORK + row.body().len()).await?;
            let mut commit = draft.remove_document(draft.previous_version(row).await?);
            view.collection.record_stamp_of(&mut commit);
            commits.push(commit);
        }
        let mut refused = false;
        if !commits.is_empty() {
            for outcome in self.inner.store().commit(commits).await? {
                match outcome {
                    Outcome::Committed(stamp) => {
                        view.collection.record_change(stamp.seq);
                        *removed += 1;
                    }
                    Outcome::Refused(_) => refused = true,
                }
            }
        }
        Ok(!refused)
    }
}
