//! One collection of a write group: finds the documents of a statement and drafts its writes, or
//! reports that it does not fit into the group; `group.rs` describes when.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use document::{DocBuf, DocRef, Value};
use evaluation::Context;
use expiry::{DefaultTtl, Lifetime, Settings};
use store::Commit;

use super::{
    NewDocument, Update, Updated, WriteDraft,
    draft::row_key,
    insert::duplicate_id,
    logged::WriteForm,
    written::{Overlap, Rewritten, WrittenDocument, WrittenDocuments},
};
use crate::{
    catalog::RuleContext,
    engine::Engine,
    error::{Error, Halt},
    limits::{GROUP_MATCHES, ROW_WORK, UNIT_BYTES},
    read::{Find, Finder, UsedIndexes},
    row::Row,
    view::LiveView,
    yielding::yield_if_due,
};

/// The part of a group that writes to one collection.
pub(super) struct CollectionPart {
    /// The view in which all statements on the collection are evaluated.
    pub(super) view: LiveView,
    pub(super) written: WrittenDocuments,
}

/// The writes of a statement before it is added to the group.
#[derive(Default)]
pub(super) struct StatementDraft {
    /// Indexes used to find the document, counted once the statement is added.
    pub(super) used: Arc<UsedIndexes>,
    pub(super) commits: Vec<Commit>,
    pub(super) documents: Vec<WrittenDocument>,
    /// Unique keys that the statement takes or releases.
    pub(super) unique: HashSet<Bytes>,
    /// The document that an earlier statement of the group wrote and this one writes again.
    pub(super) rewritten: Option<Rewritten>,
}

impl CollectionPart {
    /// Drafts an update; returns `None` if it cannot be combined with the group's writes.
    pub(super) async fn draft_update(
        &mut self,
        engine: &Engine,
        update: &Update<'_>,
    ) -> Result<Option<(Updated, StatementDraft)>, Halt> {
        let (find, context) = (&update.find, &*update.context);
        let (mut updated, mut drafted) = (Updated::default(), StatementDraft::new());
        let indexes = &self.view.state.record.indexes;
        match self.written.overlap(&find.filter, context, indexes) {
            Overlap::None => {}
            Overlap::Document(rewritten) if self.is_rewritable(rewritten, update)? => {
                return self.draft_rewrite(rewritten, update, drafted).await;
            }
            _ => return Ok(None),
        }
        let used = &drafted.used;
        let Some(rows) = self.find_rows(engine, find, update.many, context, used).await? else {
            return Ok(None);
        };
        if rows.is_empty() && update.upsert {
            let made = update.edit.insert(&find.filter, context)?;
            let made = update.writer.with_id(made);
            let lifetime = update.writer.lifetime_of(&made)?;
            updated.upserted = Some(made.get("_id").map_or(Value::Null, |id| id.to_value()));
            let new = NewDocument { document: made, lifetime, since: None };
            let fits = self.draft_new(new, update.rule_context(), &mut drafted).await?;
            return Ok(fits.then_some((updated, drafted)));
        }
        for row in rows {
            yield_if_due(context, ROW_WORK + row.body().len()).await?;
            updated.matched += 1;
            let outcome = update.apply(row.document())?;
            if !outcome.changed {
                self.view.rely_on(&row);
                continue;
            }
            let lifetime = update.writer.lifetime_of(&outcome.document)?;
            let (rule, before) = (update.rule_context(), Some(row.document()));
            WriteDraft::of(&self.view).check_rule(rule, outcome.document.as_ref(), before).await?;
            let key = row.key.clone();
            let put = (key, outcome.document, lifetime, None);
            let replaced = Some((row, WriteForm::of(update.edit)));
            if !self.draft_put(put, replaced, &mut drafted).await? {
                return Ok(None);
            }
            updated.modified += 1;
        }
        Ok(Some((updated, drafted)))
    }

    /// Returns whether an update may replace the group's write of a document: no expiry may depend
    /// on that write.
    fn is_rewritable(&self, rewritten: Rewritten, update: &Update<'_>) -> Result<bool, Error> {
        let record = &self.view.state.record;
        let document = self.written.get(rewritten.document);
        let Some(after) = document.and_then(|document| document.after.clone()) else {
            return Ok(false);
        };
        let lifetime = update.writer.lifetime_of(&DocBuf::from_trusted(after))?;
        Ok(lives_when_written(&record.settings, lifetime, self.view.instant.seconds()))
    }

    /// Drafts an update of a document that the group has written, to replace that write.
    async fn draft_rewrite(
        &self,
        rewritten: Rewritten,
        update: &Update<'_>,
        mut drafted: StatementDraft,
    ) -> Result<Option<(Updated, StatementDraft)>, Halt> {
        let Some(held) = self.written.get(rewritten.document) else { return Ok(None) };
        let Some(after) = &held.after else { return Ok(None) };
        yield_if_due(&update.context, ROW_WORK + after.len()).await?;
        let mut updated = Updated { matched: 1, ..Updated::default() };
        let outcome = update.apply(DocRef::Raw(after))?;
        if !outcome.changed {
            return Ok(Some((updated, drafted)));
        }
        let lifetime = update.writer.lifetime_of(&outcome.document)?;
        let (rule, before) = (update.rule_context(), Some(DocRef::Raw(after)));
        WriteDraft::of(&self.view).check_rule(rule, outcome.document.as_ref(), before).await?;
        let put = (held.key.clone(), outcome.document, lifetime, None);
        // The difference from the version before the group covers both statements.
        let replaced = held.before.clone().map(|row| (row, WriteForm::Operators));
        drafted.rewritten = Some(rewritten);
        if !self.draft_put(put, replaced, &mut drafted).await? {
            return Ok(None);
        }
        updated.modified = 1;
        Ok(Some((updated, drafted)))
    }

    /// Drafts a deletion; returns `None` if it cannot be combined with the group's writes.
    pub(super) async fn draft_removal(
        &mut self,
        engine: &Engine,
        find: &Find,
        many: bool,
        context: &Context,
    ) -> Result<Option<StatementDraft>, Halt> {
        let indexes = &self.view.state.record.indexes;
        if !matches!(self.written.overlap(&find.filter, context, indexes), Overlap::None) {
            return Ok(None);
        }
        let mut drafted = StatementDraft::new();
        let used = &drafted.used;
        let Some(rows) = self.find_rows(engine, find, many, context, used).await? else {
            return Ok(None);
        };
        for row in rows {
            yield_if_due(context, ROW_WORK + row.body().len()).await?;
            let draft = WriteDraft::of(&self.view);
            let (key, before) = (row.key.clone(), Some(row.clone()));
            let previous = draft.previous_version(row).await?;
            let unique = draft.unique_keys_of(None, Some(&previous));
            if !drafted.claim(&self.written, unique) {
                return Ok(None);
            }
            drafted.commits.push(draft.remove_document(previous));
            drafted.documents.push(WrittenDocument { key, before, after: None, write: None });
        }
        Ok(Some(drafted))
    }

    /// Drafts an insert; returns `None` if it cannot be combined with the group's writes.
    pub(super) async fn draft_insert(
        &self,
        new: NewDocument,
        rule: Option<&dyn RuleContext>,
    ) -> Result<Option<StatementDraft>, Halt> {
        let mut drafted = StatementDraft::new();
        let fits = self.draft_new(new, rule, &mut drafted).await?;
        Ok(fits.then_some(drafted))
    }

    /// Drafts the insert of a new document; returns false if it cannot be combined with the group's
    /// writes.
    async fn draft_new(
        &self,
        new: NewDocument,
        rule: Option<&dyn RuleContext>,
        drafted: &mut StatementDraft,
    ) -> Result<bool, Halt> {
        // An insert into a capped collection has to evict other documents.
        if self.view.state.record.capped.is_some() {
            return Ok(false);
        }
        let NewDocument { document, lifetime, since } = new;
        let key = row_key(document.as_ref())?;
        if self.written.has_key(&key) {
            return Ok(false);
        }
        WriteDraft::of(&self.view).check_rule(rule, document.as_ref(), None).await?;
        if self.view.get_row(&key).await?.is_some() {
            return Err(duplicate_id(document.as_ref()).into());
        }
        self.draft_put((key, document, lifetime, since), None, drafted).await
    }

    /// Drafts the write of a document that replaces a row in this form, if there is one; returns false if it
    /// cannot be combined with the group's writes.
    async fn draft_put(
        &self,
        (key, document, lifetime, since): (Bytes, DocBuf, Lifetime, Option<i64>),
        replaced: Option<(Row, WriteForm)>,
        drafted: &mut StatementDraft,
    ) -> Result<bool, Halt> {
        let Self { view, written } = self;
        let (row, form) = replaced.unzip();
        let form = form.unwrap_or_default();
        let draft = WriteDraft { since, form, ..WriteDraft::of(view) };
        let before = row.clone();
        let previous = match row {
            Some(row) => Some(draft.previous_version(row).await?),
            None => None,
        };
        draft.check_told(&key, previous.as_ref()).await?;
        let entries = draft.entries_of(document.as_ref(), &key)?;
        // Unique keys are claimed first, because the view does not show the keys that the group
        // changes.
        if !drafted.claim(written, draft.unique_keys_of(Some(&entries), previous.as_ref())) {
            return Ok(false);
        }
        draft.check_unique(&entries, document.as_ref(), &key).await?;
        let after = Bytes::copy_from_slice(document.bytes());
        let commit = draft.put_checked(key.clone(), document, lifetime, previous, entries, None)?;
        drafted.commits.push(commit);
        drafted.documents.push(WrittenDocument { key, before, after: Some(after), write: None });
        Ok(true)
    }

    /// Returns the rows of a statement; `None` if they depend on writes of the group, or if they
    /// are too many.
    async fn find_rows(
        &self,
        engine: &Engine,
        find: &Find,
        many: bool,
        context: &Context,
        used: &Arc<UsedIndexes>,
    ) -> Result<Option<Vec<Row>>, Halt> {
        let view = &self.view;
        // A group reserves no memory for large rows, so a statement that finds one runs alone.
        let mut turns = engine.writer_turns(&view.collection, None, context);
        if !many {
            let first = engine.first_row(view, find, context, used, &mut turns).await?;
            return Ok(Some(first.into_iter().collect()));
        }
        let mut finder = Finder::new(&view.state, find, context.collation(), Some(used))?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        loop {
            let more = finder.take_matching(view, context, GROUP_MATCHES).await?;
            if more.is_empty() {
                return Ok(Some(rows));
            }
            turns.admit(&more)?;
            bytes += more.iter().map(|row| row.value.len()).sum::<usize>();
            rows.extend(more);
            if GROUP_MATCHES < rows.len() || UNIT_BYTES < bytes {
                return Ok(None);
            }
        }
    }
}

impl StatementDraft {
    fn new() -> Self {
        Self { used: Arc::new(UsedIndexes::deferred()), ..Self::default() }
    }

    /// Claims unique keys for the statement. Returns false if the group, or another document of the
    /// statement, takes or releases one of them: the view then does not show which document has it.
    /// Keys of a document that is written again belong to it or are free until the group ends.
    fn claim(&mut self, written: &WrittenDocuments, unique: Vec<Bytes>) -> bool {
        let own: HashSet<Bytes> = unique.into_iter().collect();
        let again = self.rewritten.map(|rewritten| rewritten.document);
        if own.iter().any(|key| written.has_claimed(key, again) || self.unique.contains(key)) {
            return false;
        }
        self.unique.extend(own);
        true
    }
}

/// Returns whether a document with this lifetime is live in the second of its write.
fn lives_when_written(settings: &Settings, lifetime: Lifetime, ts: i64) -> bool {
    let has_time = match (lifetime, settings.default) {
        (Lifetime::After(seconds), _) | (Lifetime::Inherit, DefaultTtl::Seconds(seconds)) => {
            0 < seconds
        }
        _ => true,
    };
    has_time
        && settings.dates.is_empty()
        && settings.expired_for_good(lifetime.class_at(ts), ts).is_none()
}
