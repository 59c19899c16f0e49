//! Updates: each matched document is edited and written as a commit of its own, found live at its
//! view's instant and refused when it has expired since.
//!
//! An update of several documents may take several passes, since some commits are refused. A
//! document that was edited in an earlier pass must not be edited again, even where it still
//! matches, so the keys of all that are done are kept until the end. An upsert inserts when a whole
//! pass found nothing; if somebody inserts a match between the search and the insert, all begins
//! again.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use document::{DocBuf, Value};
use evaluation::Context;
use expiry::Lifetime;
use memory::Share;
use pipeline::edit::Edit;
use store::{Commit, Outcome, Store};

use super::{WriteDraft, draft::row_key};
use crate::{
    attempts::Attempts,
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    limits::{COMMITS_AT_ONCE, ROW_WORK, SEEN_BYTES},
    read::{Find, Finder},
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

/// One document before and after an edit.
#[derive(Clone, Debug, Default)]
pub struct Edited {
    /// Before; none for an upsert.
    pub before: Option<Bytes>,
    /// After; none when it was removed or nothing was found.
    pub after: Option<Bytes>,
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
        let mut done = EditedRows { keys: HashSet::new(), held: update.context.holding.share() };
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            let view = self.view(collection).await?;
            let mut finder = Finder::new(&view.state, &update.find)?;
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
            if let Some(edited) = self.insert_upserted(collection, update).await? {
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
                let first = self.first_row(view, &update.find, &update.context).await?;
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
        let lifetime = update.writer.lifetime_of(&outcome.document)?;
        let draft = WriteDraft::of(view);
        let key = row.key.clone();
        let previous = draft.previous_version(row).await?;
        let commit = draft.put_document(key, outcome.document, lifetime, Some(previous)).await?;
        Ok(RowAttempt::Commit(Box::new(commit)))
    }

    /// Inserts what the edit makes of nothing; `None` when it has to be looked at again.
    pub(super) async fn insert_upserted(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Option<Edited>, Error> {
        // Made from the filter's equalities and the edit, before any view is open.
        let made = update.edit.insert(&update.find.filter, &update.context)?;
        let made = update.writer.with_id(made);
        let lifetime = update.writer.lifetime_of(&made)?;
        let id = made.get("_id").map(|id| id.to_value());
        let view = self.view(collection).await?;
        let key = row_key(made.as_ref())?;
        // The id may be taken by a document that the filter does not match.
        match view.get_row(&key).await {
            Ok(None) => {}
            // Somebody inserted it since the search: it may be what the filter means.
            Ok(Some(row)) => {
                let filter = &update.find.filter;
                if filter.matches(row.document(), &update.context)? {
                    return Ok(None);
                }
                return Err(super::insert::duplicate_id(made.as_ref()));
            }
            Err(halt) => {
                self.resolve(&view, halt).await?;
                return Ok(None);
            }
        }
        let after = Bytes::from(made.bytes().to_vec());
        match WriteDraft::of(&view).put_document(key, made, lifetime, None).await {
            Ok(commit) => {
                drop(view);
                let committed = self.commit_one(commit).await?;
                Ok(committed.map(|_| Edited { before: None, after: Some(after), upserted: id }))
            }
            Err(halt) => {
                self.resolve(&view, halt).await?;
                Ok(None)
            }
        }
    }

    /// Updates the first document that is found and returns it before and after.
    pub async fn find_and_update(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Edited, Error> {
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            let view = self.view(collection).await?;
            match self.modify_in(&view, update).await {
                Ok(Some(Some(edited))) => return Ok(edited),
                Ok(Some(None)) if !update.upsert => return Ok(Edited::default()),
                Ok(Some(None)) => {
                    drop(view);
                    if let Some(edited) = self.insert_upserted(collection, update).await? {
                        return Ok(edited);
                    }
                }
                Ok(None) => {}
                Err(halt) => self.resolve(&view, halt).await?,
            }
        }
    }

    /// `None`: refused. `Some(None)`: nothing was found.
    async fn modify_in(
        &self,
        view: &LiveView<S>,
        update: &Update<'_>,
    ) -> Result<Option<Option<Edited>>, Halt> {
        let Some(row) = self.first_row(view, &update.find, &update.context).await? else {
            return Ok(Some(None));
        };
        let before = row.value.slice(row.start..);
        let filter = update.edit.needs_filter().then_some(&*update.find.filter);
        let outcome = update.edit.apply(row.document(), filter, &update.context)?;
        let after = Bytes::from(outcome.document.bytes().to_vec());
        let edited = Edited { before: Some(before), after: Some(after), upserted: None };
        if !outcome.changed {
            return Ok(Some(Some(edited)));
        }
        match self.try_row(view, row, update).await? {
            RowAttempt::Unchanged => Ok(Some(Some(edited))),
            RowAttempt::Commit(commit) => {
                let committed = self.commit_one(*commit).await?;
                Ok(committed.map(|_| Some(edited)))
            }
        }
    }

    /// The first row in the order of the sort.
    async fn first_row(
        &self,
        view: &LiveView<S>,
        find: &Find,
        context: &Context,
    ) -> Result<Option<Row>, Halt> {
        let mut finder = Finder::new(&view.state, find)?;
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

    /// Removes the first document that is found and returns it.
    pub async fn find_and_remove(
        &self,
        collection: &Arc<Collection>,
        find: &Find,
        context: &Context,
    ) -> Result<Option<Bytes>, Error> {
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            let view = self.view(collection).await?;
            match self.remove_first(&view, find, context).await {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                Err(halt) => self.resolve(&view, halt).await?,
            }
        }
    }

    /// `None`: refused. `Some(None)`: nothing was found.
    async fn remove_first(
        &self,
        view: &LiveView<S>,
        find: &Find,
        context: &Context,
    ) -> Result<Option<Option<Bytes>>, Halt> {
        let Some(row) = self.first_row(view, find, context).await? else { return Ok(Some(None)) };
        let before = row.value.slice(row.start..);
        let draft = WriteDraft::of(view);
        let commit = draft.remove_document(draft.previous_version(row).await?);
        Ok(self.commit_one(commit).await?.map(|_| Some(before)))
    }
}

/// Rows that an update has edited.
struct EditedRows {
    /// Their keys; of an update of one document none.
    keys: HashSet<Box<[u8]>>,
    /// The memory that the keys take.
    held: Share,
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
