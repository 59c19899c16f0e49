//! Writes of items: any number of actions as one atomic commit, each seeing those before it. What
//! was decided in a view is a condition of the commit; what is refused is tried again in a new
//! view, from the first action on.

use std::sync::Arc;

use document::{DocBuf, DocRef};
use evaluation::Context;
use store::{Outcome, Store};

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

/// Which version an action is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMatch {
    /// Any.
    Any,
    /// The one with this stamp.
    Stamp(u64),
    /// None: what was named is no version of anything.
    Nothing,
}

impl VersionMatch {
    /// Whether it is the version with this stamp.
    pub(super) fn matches_stamp(self, stamp: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Stamp(wanted) => stamp == wanted,
            Self::Nothing => false,
        }
    }
}

/// Edits a stored item under the default TTL in force.
pub type Patch = Arc<dyn Fn(&Item, DefaultTtl) -> Result<(DocBuf, Lifetime), Error> + Send + Sync>;

/// What is to be done with an item.
#[derive(Clone)]
pub enum ItemAction {
    /// Makes it; fails when it exists.
    Create(DocBuf),
    /// Makes it or puts this in its place.
    Upsert(DocBuf),
    /// Puts this in its place; fails when it does not exist.
    Replace(DocBuf),
    /// Puts this in its place, under another key; fails when it does not exist, or another one has
    /// that key.
    Move(ItemKey, DocBuf),
    /// Edits it.
    Patch(Patch),
    /// Removes it.
    Delete,
    /// Reads it.
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

/// One action.
#[derive(Clone, Debug)]
pub struct ItemWrite {
    /// The item.
    pub key: ItemKey,
    /// What is done with it.
    pub action: ItemAction,
    /// Only when it is this version.
    pub if_match: VersionMatch,
}

impl ItemWrite {
    /// Keys of the items that it may change.
    pub fn changed_keys(&self) -> impl Iterator<Item = &ItemKey> {
        let other = match &self.action {
            ItemAction::Move(to, _) => Some(to),
            _ => None,
        };
        std::iter::once(&self.key).chain(other)
    }
}

/// What the door says about documents that are about to be written.
pub trait ItemWriter: Send + Sync {
    /// Checks a document against the default TTL in force and says what it asks for its life.
    fn lifetime_of(&self, default: DefaultTtl, document: DocRef<'_>) -> Result<Lifetime, Error>;
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemDone {
    /// There was nothing before.
    pub created: bool,
    /// The item after it; none when it was removed.
    pub item: Option<Item>,
    /// Entries of indexes that it wrote, for whoever counts costs.
    pub entries: usize,
}

/// The action that failed, and why. Nothing was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemFailure {
    /// Its position.
    pub at: usize,
    /// Why.
    pub error: Error,
}

impl<S: Store> Engine<S> {
    /// Does all of these actions or none. Returns what became of each and the stamp of the commit
    /// (of the view, when nothing was written).
    pub async fn write_items(
        &self,
        collection: &Arc<Collection>,
        writes: &[ItemWrite],
        writer: &dyn ItemWriter,
    ) -> Result<(Vec<ItemDone>, u64), ItemFailure> {
        let failed = |error| ItemFailure { at: 0, error };
        if MAX_BATCH < writes.len() {
            let message = format!("a batch has at most {MAX_BATCH} actions");
            return Err(failed(Error::new(Kind::TooLarge, message)));
        }
        let mut attempts = Attempts::new("too many writers of the same items");
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
                    let resolved = self.resolve(&view, halt).await;
                    resolved.map_err(|error| ItemFailure { at, error })?;
                    continue;
                }
            };
            let seq = view.seq;
            drop(view);
            // Nothing was written: the answer is that of the view.
            let Some(mut commit) = commit else { return Ok((pending.into_results(None), seq)) };
            collection.note_begin_of(&mut commit);
            let outcomes = self.inner.store().commit(vec![commit]).await;
            match outcomes.map_err(|error| failed(error.into()))?.first() {
                Some(Outcome::Committed(stamp)) => {
                    collection.note_change(stamp.seq);
                    return Ok((pending.into_results(Some(*stamp)), stamp.seq));
                }
                _ => continue,
            }
        }
    }
}

impl<S: Store> Engine<S> {
    /// Removes every item of a part of a container, and returns how many there were.
    pub async fn remove_range(
        &self,
        collection: &Arc<Collection>,
        range: &ItemRange,
        context: &Context,
    ) -> Result<usize, Error> {
        // A page is done when nothing of it was refused; then the next one, with all attempts
        // again.
        let (mut removed, mut pages) = (0, Pages::of(range.0.clone()));
        let mut attempts = Attempts::new("too many writers of what is removed");
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
                // What was refused is still there: the same page again.
                false => attempts.begin_next()?,
            }
        }
        Ok(removed)
    }

    /// Removes the next page of items. Returns whether none of them was refused.
    async fn remove_page(
        &self,
        view: &LiveView<S>,
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
            view.collection.note_begin_of(&mut commit);
            commits.push(commit);
        }
        let mut refused = false;
        if !commits.is_empty() {
            for outcome in self.inner.store().commit(commits).await? {
                match outcome {
                    Outcome::Committed(stamp) => {
                        view.collection.note_change(stamp.seq);
                        *removed += 1;
                    }
                    Outcome::Refused(_) => refused = true,
                }
            }
        }
        Ok(!refused)
    }
}
