//! Updates: each matched document is edited and written as a commit of its own, found live at its
//! view's instant and refused when it has expired since.
//!
//! An update of several documents may take several passes, since some commits are refused. A
//! document that was edited in an earlier pass must not be edited again, even where it still
//! matches, so the keys of all that are done are kept until the end. An upsert inserts when a whole
//! pass found nothing; if somebody inserts a match between the search and the insert, all begins
//! again.

use std::{collections::HashSet, sync::Arc};

use document::{DocBuf, Value};
use evaluation::Context;
use expiry::Lifetime;
use memory::Share;
use pipeline::edit::Edit;
use store::{Commit, Outcome, Store};

use super::{WriteDraft, turn::join_turns};
use crate::{
    attempts::Attempts,
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    limits::{COMMITS_AT_ONCE, ROW_WORK, SEEN_BYTES},
    read::{Find, Finder, UsedIndexes},
    row::Row,
    view::LiveView,
    yielding::yield_if_due,
};

/// What a door adds to documents it writes.
pub trait Writer: Send + Sync {
    /// Checks a document that is about to be written and says what it asks for its life.
    fn lifetime_of(&self, document: &DocBuf) -> Result<Lifetime, Error>;

    /// Gives an inserted document an id when it has none.
    fn with_id(&self, document: DocBuf) -> DocBuf;
}

/// An update of documents.
pub struct Update<'a> {
    /// Which documents.
    pub find: Find,
    /// What is done to them.
    pub edit: &'a Edit,
    /// All of them, not only the first.
    pub many: bool,
    /// Inserts one when there is none.
    pub upsert: bool,
    /// The operation.
    pub context: Arc<Context>,
    /// The door's part.
    pub writer: &'a dyn Writer,
}

impl std::fmt::Debug for Update<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Update").field("find", &self.find).finish_non_exhaustive()
    }
}

/// What an update did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Updated {
    /// Documents that were found.
    pub matched: usize,
    /// Documents that were written because they changed.
    pub modified: usize,
    /// The id of the document that was inserted.
    pub upserted: Option<Value>,
}

/// What one attempt at a row came to.
enum RowAttempt {
    /// The edit changed nothing: it counts as matched, and nothing is written.
    Unchanged,
    /// What writes the edited document.
    Commit(Box<Commit>),
}

impl<S: Store> Engine<S> {
    /// Updates the first document that is found, or all of them, or inserts one.
    pub async fn update(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Updated, Error> {
        let mut updated = Updated::default();
        let mut done = EditedRows {
            keys: HashSet::new(),
            held: update.context.holding.share(),
            used: Arc::default(),
        };
        let (mut attempts, mut turn) = (Attempts::to_write(), None);
        loop {
            attempts.begin_next()?;
            if !update.many {
                join_turns(collection, &update.find, &update.context, &attempts, &mut turn).await?;
            }
            let view = self.view(collection).await?;
            let mut finder = Finder::new(&view.state, &update.find, Some(&done.used))?;
            match self.update_in(&view, &mut finder, update, &mut updated, &mut done).await {
                Ok(true) => {}
                Ok(false) => continue,
                Err(halt) => {
                    self.resolve(&view, halt).await?;
                    continue;
                }
            }
            drop(view);
            // A match that was found but not changed counts: nothing is inserted beside it.
            if 0 < updated.matched || !update.upsert {
                return Ok(updated);
            }
            if let Some(edited) = self.insert_upserted(collection, update, None).await? {
                updated.upserted = edited.upserted;
                return Ok(updated);
            }
        }
    }

    /// One pass in one view; returns whether nothing was refused. `done` are rows of earlier
    /// passes, which count once and are edited once.
    async fn update_in(
        &self,
        view: &LiveView<S>,
        finder: &mut Finder,
        update: &Update<'_>,
        updated: &mut Updated,
        done: &mut EditedRows,
    ) -> Result<bool, Halt> {
        let mut clean = true;
        loop {
            let wanted = if update.many { COMMITS_AT_ONCE } else { 1 };
            // Without an index that gives the order, the first in the order is found by looking at
            // all.
            let rows = if update.many || finder.is_sorted() {
                finder.take_matching(view, &update.context, wanted).await?
            } else {
                let first = self.first_row(view, &update.find, &update.context, &done.used).await?;
                first.into_iter().collect()
            };
            if rows.is_empty() {
                return Ok(clean);
            }
            let (mut commits, mut sent) = (Vec::new(), Vec::new());
            for row in rows {
                // Edited by an earlier pass.
                if done.keys.contains(row.key.as_ref()) {
                    continue;
                }
                let key = row.key.clone();
                yield_if_due(&update.context, ROW_WORK + row.body().len()).await?;
                match self.try_row(view, row, update).await? {
                    RowAttempt::Unchanged => {
                        updated.matched += 1;
                        done.note_edited(&key, update.many)?;
                    }
                    RowAttempt::Commit(commit) => {
                        commits.push(*commit);
                        sent.push(key);
                    }
                }
            }
            if !commits.is_empty() {
                for (outcome, key) in
                    self.inner.store().commit(commits).await?.into_iter().zip(sent)
                {
                    match outcome {
                        Outcome::Committed(_) => {
                            updated.matched += 1;
                            updated.modified += 1;
                            done.note_edited(&key, update.many)?;
                        }
                        Outcome::Refused(_) => clean = false,
                    }
                }
            }
            if !update.many {
                return Ok(clean);
            }
        }
    }

    /// Edits one row and builds its commit.
    async fn try_row(
        &self,
        view: &LiveView<S>,
        row: Row,
        update: &Update<'_>,
    ) -> Result<RowAttempt, Halt> {
        let filter = update.edit.needs_filter().then_some(&*update.find.filter);
        // The filter says which element of an array the edit is about.
        let outcome = update.edit.apply(row.document(), filter, &update.context)?;
        if !outcome.changed {
            return Ok(RowAttempt::Unchanged);
        }
        let commit = self.edit_commit(view, row, outcome.document, update).await?;
        Ok(RowAttempt::Commit(Box::new(commit)))
    }

    /// The commit that puts an edited document in the place of its row.
    pub(super) async fn edit_commit(
        &self,
        view: &LiveView<S>,
        row: Row,
        edited: DocBuf,
        update: &Update<'_>,
    ) -> Result<Commit, Halt> {
        let lifetime = update.writer.lifetime_of(&edited)?;
        let draft = WriteDraft::of(view);
        let key = row.key.clone();
        let previous = draft.previous_version(row).await?;
        draft.put_document(key, edited, lifetime, Some(previous)).await
    }

    /// The first row in the order of the sort, for an operation that has used these indexes.
    pub(super) async fn first_row(
        &self,
        view: &LiveView<S>,
        find: &Find,
        context: &Context,
        used: &Arc<UsedIndexes>,
    ) -> Result<Option<Row>, Halt> {
        let mut finder = Finder::new(&view.state, find, Some(used))?;
        if finder.is_sorted() {
            return Ok(finder.take_matching(view, context, 1).await?.pop());
        }
        // Without a sort any walk is sorted, so there always is one here.
        let Some(sort) = &find.sort else { return Ok(None) };
        let mut best = None;
        loop {
            let rows = finder.take_matching(view, context, COMMITS_AT_ONCE).await?;
            if rows.is_empty() {
                return Ok(best.map(|(_, row)| row));
            }
            for row in rows {
                let key = sort.key_of(row.document());
                // Of equal ones the first found stays.
                let better = best.as_ref().is_none_or(|(held, _)| sort.compare(&key, held).is_lt());
                if better {
                    best = Some((key, row));
                }
            }
        }
    }
}

/// What an update has done in earlier passes: rows that it has edited, and indexes that it has used.
struct EditedRows {
    /// Their keys; of an update of one document none.
    keys: HashSet<Box<[u8]>>,
    /// The memory that the keys take.
    held: Share,
    used: Arc<UsedIndexes>,
}

impl EditedRows {
    /// A row of several was edited. Its key is copied: the block of the store that it came in shall
    /// not wait with it.
    fn note_edited(&mut self, key: &[u8], many: bool) -> Result<(), Error> {
        if many && self.keys.insert(key.into()) {
            self.held.grow(key.len() + SEEN_BYTES)?;
        }
        Ok(())
    }
}
