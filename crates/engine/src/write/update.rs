//! Updates: each matching document is edited and written in its own commit; it must be live at its
//! view's instant and at its commit's stamp.
//!
//! An update of several documents may need several passes, since commits may be refused. A document
//! edited in an earlier pass must not be edited again even if it still matches, so the keys of
//! edited documents are kept until the end. An upsert inserts if a complete pass found nothing; if
//! a match is inserted concurrently, everything restarts.

use std::{collections::HashSet, sync::Arc};

use document::{DocBuf, DocRef, Value};
use evaluation::Context;
use expiry::Lifetime;
use memory::Share;
use pipeline::edit::{Edit, EditOutcome};
use store::{Commit, Outcome};

use super::{
    WriteDraft, intent_waits::OnIntent, logged::WriteForm, queued_update::QueuedUpdate,
    turn::WriterTurns,
};
use crate::{
    attempts::Attempts,
    catalog::{Collection, RuleContext},
    engine::Engine,
    error::{Error, Halt},
    limits::{COMMITS_AT_ONCE, ROW_WORK, SEEN_BYTES},
    read::{Find, Finder, UsedIndexes},
    row::Row,
    view::LiveView,
    yielding::yield_if_due,
};

/// The API's rules for documents that updates write.
pub trait Writer: Send + Sync {
    /// Validates a document to be written and returns its requested lifetime.
    fn lifetime_of(&self, document: &DocBuf) -> Result<Lifetime, Error>;

    /// Adds an id to an inserted document that has none.
    fn with_id(&self, document: DocBuf) -> DocBuf;

    /// Returns whether documents are checked against the rule of their collection.
    fn checks_rule(&self) -> bool {
        true
    }
}

/// The parameters of an update.
pub struct Update<'a> {
    /// Selects the documents to update.
    pub find: Find,
    /// The edit to apply to each document.
    pub edit: &'a Edit,
    /// Whether to update all matching documents instead of the first.
    pub many: bool,
    /// Whether to insert a document if none matches.
    pub upsert: bool,
    /// The context in which filters and edits are evaluated.
    pub context: Arc<Context>,
    /// The API's rules for written documents.
    pub writer: &'a dyn Writer,
}

impl Update<'_> {
    /// Returns the context in which the collection's rule is checked; `None` if the rule is not
    /// checked.
    pub(super) fn rule_context(&self) -> Option<&dyn RuleContext> {
        let context: &dyn RuleContext = &*self.context;
        self.writer.checks_rule().then_some(context)
    }

    /// Applies the edit to a matching document.
    pub(super) fn apply(&self, document: DocRef<'_>) -> Result<EditOutcome, Error> {
        // The filter determines the array element that the edit refers to.
        let filter = self.edit.needs_filter().then_some(&*self.find.filter);
        Ok(self.edit.apply(document, filter, &self.context)?)
    }
}

impl std::fmt::Debug for Update<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Update").field("find", &self.find).finish_non_exhaustive()
    }
}

/// The result of an update.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Updated {
    /// Number of documents that matched the filter.
    pub matched: usize,
    /// Number of documents written because they changed.
    pub modified: usize,
    /// Id of the document that an upsert inserted.
    pub upserted: Option<Value>,
}

/// The result of an attempt to edit a row.
enum RowAttempt {
    /// The edit changed nothing; the document still counts as matching.
    Unchanged,
    /// A commit that writes the edited document, not executed yet.
    Commit(Box<Commit>),
}

impl Engine {
    /// Updates the first matching document or all of them, or inserts one.
    pub async fn update(
        &self,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Updated, Error> {
        let mut updated = Updated::default();
        let mut done = EditedRows {
            keys: HashSet::new(),
            held: update.context.operation_memory.share(),
            used: Arc::default(),
        };
        let mut attempts = Attempts::to_write();
        let first = (!update.many).then_some(&update.find);
        let mut turns = self.writer_turns(collection, first, &update.context);
        let (receipts, used, reply) = (None, &done.used, None);
        let mut queued = QueuedUpdate { collection, update, receipts, used, reply };
        if let Some(edited) = self.update_in_queue(&mut queued, &mut attempts, &mut turns).await? {
            let matched = usize::from(edited.before.is_some());
            let modified = usize::from(edited.changed);
            if 0 < matched || !update.upsert {
                return Ok(Updated { matched, modified, upserted: None });
            }
            if let Some(edited) =
                self.insert_upserted(collection, update, None, &mut attempts, None).await?
            {
                return Ok(Updated { upserted: edited.upserted, ..updated });
            }
        }
        loop {
            turns.begin_attempt(&mut attempts).await?;
            let view = self.view(collection).await?;
            let mut finder = Finder::new(
                &view.state,
                &update.find,
                update.context.collation(),
                Some(&done.used),
            )?;
            let counts = (&mut updated, &mut done);
            match self.update_in(&view, &mut finder, update, counts, &mut turns).await {
                Ok(true) => {}
                Ok(false) => continue,
                Err(halt) => {
                    self.resolve(&view, halt, &mut attempts).await?;
                    continue;
                }
            }
            drop(view);
            // An unchanged match counts, so nothing is inserted.
            if 0 < updated.matched || !update.upsert {
                return Ok(updated);
            }
            if let Some(edited) =
                self.insert_upserted(collection, update, None, &mut attempts, None).await?
            {
                updated.upserted = edited.upserted;
                return Ok(updated);
            }
        }
    }

    /// Runs one pass of an update in one view; returns whether no commit was refused. `done`
    /// contains the rows of earlier passes, so that each row is counted and edited once.
    async fn update_in(
        &self,
        view: &LiveView,
        finder: &mut Finder,
        update: &Update<'_>,
        (updated, done): (&mut Updated, &mut EditedRows),
        turns: &mut WriterTurns<'_>,
    ) -> Result<bool, Halt> {
        let mut clean = true;
        loop {
            turns.begin_batch().await?;
            let wanted = if update.many { COMMITS_AT_ONCE } else { 1 };
            // Without an index in sort order, the first document is found by examining all.
            let rows = if update.many || finder.is_sorted() {
                finder.take_matching(view, &update.context, wanted).await?
            } else {
                let find = &update.find;
                let first = self.first_row(view, find, &update.context, &done.used, turns).await?;
                first.into_iter().collect()
            };
            turns.admit(&rows)?;
            if rows.is_empty() {
                return Ok(clean);
            }
            let (mut commits, mut sent) = (Vec::new(), Vec::new());
            for row in rows {
                if done.keys.contains(row.key.as_ref()) {
                    continue;
                }
                let key = row.key.clone();
                yield_if_due(&update.context, ROW_WORK + row.body().len()).await?;
                match self.try_row(view, row, update).await? {
                    RowAttempt::Unchanged => {
                        updated.matched += 1;
                        done.record_edited(&key, update.many)?;
                    }
                    RowAttempt::Commit(commit) => {
                        commits.push(*commit);
                        sent.push(key);
                    }
                }
            }
            if !commits.is_empty() {
                let on_intent = OnIntent::Wait(Some(&update.context));
                let outcomes = self.commit_writes(commits, on_intent).await?;
                for (outcome, key) in outcomes.into_iter().zip(sent) {
                    match outcome {
                        Outcome::Committed(_) => {
                            updated.matched += 1;
                            updated.modified += 1;
                            done.record_edited(&key, update.many)?;
                        }
                        Outcome::Refused(_) => clean = false,
                    }
                }
            }
            if !update.many {
                return Ok(clean);
            }
            turns.end_batch();
        }
    }

    /// Edits one row and builds its commit.
    async fn try_row(
        &self,
        view: &LiveView,
        row: Row,
        update: &Update<'_>,
    ) -> Result<RowAttempt, Halt> {
        let outcome = update.apply(row.document())?;
        if !outcome.changed {
            view.rely_on(&row);
            return Ok(RowAttempt::Unchanged);
        }
        let commit = self.edit_commit(view, row, outcome.document, update).await?;
        Ok(RowAttempt::Commit(Box::new(commit)))
    }

    /// Returns the commit that replaces a row by its edited document.
    pub(super) async fn edit_commit(
        &self,
        view: &LiveView,
        row: Row,
        edited: DocBuf,
        update: &Update<'_>,
    ) -> Result<Commit, Halt> {
        let lifetime = update.writer.lifetime_of(&edited)?;
        let draft = WriteDraft { form: WriteForm::of(update.edit), ..WriteDraft::of(view) };
        let before = Some(row.document());
        draft.check_rule(update.rule_context(), edited.as_ref(), before).await?;
        let key = row.key.clone();
        let previous = draft.previous_version(row).await?;
        draft.put_document(key, edited, lifetime, Some(previous)).await
    }

    /// Returns the first matching row in sort order; records the indexes used. Fails with
    /// [`Halt::NeedsMemory`] for a large row without memory reserved in `turns`.
    pub(super) async fn first_row(
        &self,
        view: &LiveView,
        find: &Find,
        context: &Context,
        used: &Arc<UsedIndexes>,
        turns: &mut WriterTurns<'_>,
    ) -> Result<Option<Row>, Halt> {
        let mut finder = Finder::new(&view.state, find, context.collation(), Some(used))?;
        if finder.is_sorted() {
            let rows = finder.take_matching(view, context, 1).await?;
            turns.admit(&rows)?;
            return Ok(rows.into_iter().next());
        }
        // Without a sort the finder counts as sorted, so a sort exists here.
        let Some(sort) = &find.sort else { return Ok(None) };
        // Reserved for the row that is held, besides the memory of large rows in `turns`.
        let mut held = context.operation_memory.share();
        let mut best = None;
        loop {
            let rows = finder.take_matching(view, context, COMMITS_AT_ONCE).await?;
            turns.admit(&rows)?;
            if rows.is_empty() {
                return Ok(best.map(|(_, row)| row));
            }
            for row in rows {
                let key = sort.key_of(row.document(), context.collation());
                // On a tie the first one found is kept.
                let better =
                    best.as_ref().is_none_or(|(first, _)| sort.compare(&key, first).is_lt());
                if better {
                    held.set(row.value.len() + key.memory_bytes())?;
                    best = Some((key, row));
                }
            }
        }
    }
}

/// The rows edited in earlier passes of an update, and the indexes it has used.
struct EditedRows {
    /// Keys of the rows that this update has edited, so that it edits none twice; empty for an
    /// update of a single document.
    keys: HashSet<Box<[u8]>>,
    /// Memory reserved for the keys.
    held: Share,
    used: Arc<UsedIndexes>,
}

impl EditedRows {
    /// Records an edited row of a multi-document update. The key is copied, so that it does not
    /// keep a block of the store in memory.
    fn record_edited(&mut self, key: &[u8], many: bool) -> Result<(), Error> {
        if many && self.keys.insert(key.into()) {
            self.held.grow(key.len() + SEEN_BYTES)?;
        }
        Ok(())
    }
}
