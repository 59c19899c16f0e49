//! Updates: each matched document is edited and written as a unit of its own, judged live at its
//! view's instant and refused when it has died since.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use document::{DocBuf, Value};
use evaluation::Context;
use expiry::Lifetime;
use memory::Share;
use pipeline::edit::Edit;
use store::{Outcome, Store, Unit};

use super::{Draft, unit::row_key};
use crate::{
    attempts::Attempts,
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    limits::{COMMIT_UNITS, ROW_WORK, SEEN_BYTES},
    read::{Find, Finder},
    row::Row,
    view::LiveView,
    yielding::yield_if_due,
};

/// What a door adds to documents it writes.
pub trait Writer: Send + Sync {
    /// Checks a document that is about to be written and says what it asks for its life.
    fn lifetime(&self, document: &DocBuf) -> Result<Lifetime, Error>;

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
enum Tried {
    Unchanged,
    Unit(Box<Unit>),
}

impl<S: Store> Engine<S> {
    /// Updates the first document that is found, or all of them, or inserts one.
    pub async fn update(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Updated, Error> {
        let mut updated = Updated::default();
        let mut done = Done { keys: HashSet::new(), held: update.context.holding.share() };
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin()?;
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
            if 0 < updated.matched || !update.upsert {
                return Ok(updated);
            }
            if let Some(edited) = self.upsert(collection, update).await? {
                updated.upserted = edited.upserted;
                return Ok(updated);
            }
        }
    }

    /// One pass in one view; answers whether nothing was refused. `done` are rows of earlier
    /// passes, which count once and are edited once.
    async fn update_in(
        &self,
        view: &LiveView<S>,
        finder: &mut Finder,
        update: &Update<'_>,
        updated: &mut Updated,
        done: &mut Done,
    ) -> Result<bool, Halt> {
        let mut clean = true;
        loop {
            let wanted = if update.many { COMMIT_UNITS } else { 1 };
            let rows = if update.many || finder.is_sorted() {
                finder.take(view, &update.context, wanted).await?
            } else {
                let first = self.first(view, &update.find, &update.context).await?;
                first.into_iter().collect()
            };
            if rows.is_empty() {
                return Ok(clean);
            }
            let (mut units, mut sent) = (Vec::new(), Vec::new());
            for row in rows {
                if done.keys.contains(row.key.as_ref()) {
                    continue;
                }
                let key = row.key.clone();
                yield_if_due(&update.context, ROW_WORK + row.body().len()).await?;
                match self.try_row(view, row, update).await? {
                    Tried::Unchanged => {
                        updated.matched += 1;
                        done.note(&key, update.many)?;
                    }
                    Tried::Unit(unit) => {
                        units.push(*unit);
                        sent.push(key);
                    }
                }
            }
            if !units.is_empty() {
                for (outcome, key) in self.inner.store().commit(units).await?.into_iter().zip(sent)
                {
                    match outcome {
                        Outcome::Committed(_) => {
                            updated.matched += 1;
                            updated.modified += 1;
                            done.note(&key, update.many)?;
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

    async fn try_row(
        &self,
        view: &LiveView<S>,
        row: Row,
        update: &Update<'_>,
    ) -> Result<Tried, Halt> {
        let filter = update.edit.needs_filter().then_some(&*update.find.filter);
        let outcome = update.edit.apply(row.document(), filter, &update.context)?;
        if !outcome.changed {
            return Ok(Tried::Unchanged);
        }
        let lifetime = update.writer.lifetime(&outcome.document)?;
        let draft = Draft::of(view);
        let key = row.key.clone();
        let previous = draft.previous(row).await?;
        let unit = draft.put(key, outcome.document, lifetime, Some(previous)).await?;
        Ok(Tried::Unit(Box::new(unit)))
    }

    /// Inserts what the edit makes of nothing; `None` when it has to be looked at again.
    pub(super) async fn upsert(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Option<Edited>, Error> {
        let made = update.edit.insert(&update.find.filter, &update.context)?;
        let made = update.writer.with_id(made);
        let lifetime = update.writer.lifetime(&made)?;
        let id = made.get("_id").map(|id| id.to_value());
        let view = self.view(collection).await?;
        let key = row_key(made.as_ref())?;
        match view.get(&key).await {
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
        match Draft::of(&view).put(key, made, lifetime, None).await {
            Ok(unit) => {
                drop(view);
                let committed = self.commit_one(unit).await?;
                Ok(committed.map(|_| Edited { before: None, after: Some(after), upserted: id }))
            }
            Err(halt) => {
                self.resolve(&view, halt).await?;
                Ok(None)
            }
        }
    }

    /// Updates the first document that is found and answers it before and after.
    pub async fn find_and_update(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Edited, Error> {
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin()?;
            let view = self.view(collection).await?;
            match self.modify_in(&view, update).await {
                Ok(Some(Some(edited))) => return Ok(edited),
                Ok(Some(None)) if !update.upsert => return Ok(Edited::default()),
                Ok(Some(None)) => {
                    drop(view);
                    if let Some(edited) = self.upsert(collection, update).await? {
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
        let Some(row) = self.first(view, &update.find, &update.context).await? else {
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
            Tried::Unchanged => Ok(Some(Some(edited))),
            Tried::Unit(unit) => {
                let committed = self.commit_one(*unit).await?;
                Ok(committed.map(|_| Some(edited)))
            }
        }
    }

    /// The first row in the order of the sort.
    async fn first(
        &self,
        view: &LiveView<S>,
        find: &Find,
        context: &Context,
    ) -> Result<Option<Row>, Halt> {
        let mut finder = Finder::new(&view.state, find)?;
        if finder.is_sorted() {
            return Ok(finder.take(view, context, 1).await?.pop());
        }
        let Some(sort) = &find.sort else { return Ok(None) };
        let mut best = None;
        loop {
            let rows = finder.take(view, context, COMMIT_UNITS).await?;
            if rows.is_empty() {
                return Ok(best.map(|(_, row)| row));
            }
            for row in rows {
                let key = sort.key_of(row.document());
                let better = best.as_ref().is_none_or(|(held, _)| sort.compare(&key, held).is_lt());
                if better {
                    best = Some((key, row));
                }
            }
        }
    }

    /// Removes the first document that is found and answers it.
    pub async fn find_and_remove(
        &self,
        collection: &Arc<Collection>,
        find: &Find,
        context: &Context,
    ) -> Result<Option<Bytes>, Error> {
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin()?;
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
        let Some(row) = self.first(view, find, context).await? else { return Ok(Some(None)) };
        let before = row.value.slice(row.start..);
        let draft = Draft::of(view);
        let unit = draft.remove(draft.previous(row).await?);
        Ok(self.commit_one(unit).await?.map(|_| Some(before)))
    }
}

/// Rows that an update has edited.
struct Done {
    keys: HashSet<Box<[u8]>>,
    held: Share,
}

impl Done {
    /// A row of several was edited. Its key is copied: the block of the store that it came in shall
    /// not wait with it.
    fn note(&mut self, key: &[u8], many: bool) -> Result<(), Error> {
        if many && self.keys.insert(key.into()) {
            self.held.grow(key.len() + SEEN_BYTES)?;
        }
        Ok(())
    }
}
