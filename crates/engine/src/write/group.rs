//! Groups of write statements that become durable together: one wait for the disk, and in a cluster
//! one ledger entry, instead of one per statement.
//!
//! The result equals that of running each statement after the commit of the previous one. All
//! statements of a group are evaluated in one view per collection, which does not show the group's
//! earlier writes. A statement is therefore added only if these make no difference: no document
//! written by the group matches its filter, before or after the write, and it uses no row key or
//! unique value that the group writes, takes or releases. An update that selects by `_id`, or by the
//! values of a unique index, a document that an earlier update of the group has written is applied
//! to the new version, and replaces the earlier write; the group is then a single commit. Any other
//! statement is added to the next group or runs alone.
//!
//! ```text
//!  statement    0        1        2 (matches what 0 writes)
//!               └─ group ─┘
//!  commits    [ c0 ]-->[ c1 ]     AfterPrevious: if c0 is refused, so is c1;
//!               one call          both are evaluated again in a new view, in order
//! ```
//!
//! A statement is one commit even if it writes several documents, so that none of them is edited
//! twice when the statement is evaluated again.

use std::sync::Arc;

use evaluation::Context;
use store::{Commit, Condition, Outcome};

use super::{
    Effect, NewDocument, Receipts, Update, Updated,
    group_part::{CollectionPart, StatementDraft},
    intent_waits::OnIntent,
    receipt::StatementEffect,
    unit::as_one,
    written::WrittenDocuments,
};
use crate::{
    catalog::{Collection, RuleContext},
    engine::Engine,
    error::{Error, Halt, Kind},
    limits::{GROUP_VIEW_MS, UNIT_BYTES},
    read::Find,
    view::LiveView,
};

/// A group of statements that are committed together.
pub struct WriteGroup<'e> {
    engine: &'e Engine,
    /// Maximum number of writing statements in the group.
    max_statements: usize,
    /// The writes to each collection involved.
    parts: Vec<CollectionPart>,
    writes: Vec<StatementWrite>,
    /// Positions of statements whose write replaces the write of an earlier statement.
    rewrites: Vec<usize>,
    /// Effects of all statements by position, also of statements without writes.
    effects: Vec<(usize, StatementEffect)>,
    /// Total size of the written documents before and after, in bytes.
    bytes: usize,
}

impl std::fmt::Debug for WriteGroup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteGroup").field("positions", &self.positions()).finish_non_exhaustive()
    }
}

/// The commit of one statement before it is merged into the group's commit.
struct StatementWrite {
    /// Position of the statement in the caller's numbering.
    at: usize,
    commit: Commit,
}

impl Engine {
    /// Starts a group of at most `max_statements` writing statements.
    pub fn write_group(&self, max_statements: usize) -> WriteGroup<'_> {
        WriteGroup {
            engine: self,
            max_statements,
            parts: Vec::new(),
            writes: Vec::new(),
            rewrites: Vec::new(),
            effects: Vec::new(),
            bytes: 0,
        }
    }
}

impl WriteGroup<'_> {
    /// Returns the positions of statements that write something, in ascending order.
    pub fn positions(&self) -> Vec<usize> {
        let writes = self.writes.iter().map(|write| write.at);
        let mut positions: Vec<usize> = writes.chain(self.rewrites.iter().copied()).collect();
        positions.sort_unstable();
        positions
    }

    /// Adds an update at position `at`, which must exceed all earlier ones. Returns the effect that
    /// the update has once the group is committed, or `None` if it cannot be added: the group is
    /// then unchanged, and the statement belongs in the next group or, if this one is empty, runs
    /// through [`Engine::update`].
    ///
    /// # Errors
    ///
    /// Errors of [`Engine::update`], as if all earlier statements were committed. The group is
    /// unchanged then.
    pub async fn update(
        &mut self,
        at: usize,
        collection: &Arc<Collection>,
        update: &Update<'_>,
    ) -> Result<Option<Updated>, Error> {
        let Some(part) = self.part(collection).await? else { return Ok(None) };
        let drafted = self.parts[part].draft_update(self.engine, update).await;
        let Some((updated, drafted)) = fitting(drafted)? else { return Ok(None) };
        let effect = match &updated.upserted {
            Some(id) => StatementEffect::Upserted(id.clone()),
            None if updated.modified == 0 => StatementEffect::Unwritten(0 < updated.matched),
            None => StatementEffect::Edited,
        };
        self.add(at, part, drafted, effect);
        Ok(Some(updated))
    }

    /// Adds a statement that deletes the first or all matching documents, at position `at`. Returns
    /// the number of documents that it deletes once the group is committed, or `None` if it cannot
    /// be added; see [`update`](Self::update).
    pub async fn remove(
        &mut self,
        at: usize,
        collection: &Arc<Collection>,
        find: &Find,
        many: bool,
        context: &Context,
    ) -> Result<Option<usize>, Error> {
        let Some(part) = self.part(collection).await? else { return Ok(None) };
        let drafted = self.parts[part].draft_removal(self.engine, find, many, context).await;
        let Some(drafted) = fitting(drafted)? else { return Ok(None) };
        let count = drafted.commits.len();
        let effect = match count {
            0 => StatementEffect::Unwritten(false),
            _ => StatementEffect::Removed,
        };
        self.add(at, part, drafted, effect);
        Ok(Some(count))
    }

    /// Adds a statement that inserts a document, at position `at`; `None` if it cannot be added,
    /// see [`update`](Self::update). The document is checked against the collection's rule if
    /// `rule` provides a context.
    pub async fn insert(
        &mut self,
        at: usize,
        collection: &Arc<Collection>,
        new: NewDocument,
        rule: Option<&dyn RuleContext>,
    ) -> Result<Option<()>, Error> {
        let Some(part) = self.part(collection).await? else { return Ok(None) };
        let drafted = self.parts[part].draft_insert(new, rule).await;
        let Some(drafted) = fitting(drafted)? else { return Ok(None) };
        self.add(at, part, drafted, StatementEffect::Inserted);
        Ok(Some(()))
    }

    /// Adds a statement whose collection does not exist; it has no effect.
    pub fn pass(&mut self, at: usize) {
        self.effects.push((at, StatementEffect::Unwritten(false)));
    }

    /// Commits all statements in order. Returns the position of the first one that must be
    /// evaluated again because of a conflict; it and all later ones have written nothing. With
    /// receipts the group is one commit.
    ///
    /// # Errors
    ///
    /// Errors of the store. On [`Kind::Full`](crate::Kind::Full) no statement has written anything.
    pub async fn commit(self, receipts: Option<&dyn Receipts>) -> Result<Option<usize>, Error> {
        let Self { engine, parts, writes, rewrites, effects, .. } = self;
        // Views are closed first, so that reaping need not wait for these commits.
        drop(parts);
        let Some(first) = writes.first().map(|write| write.at) else { return Ok(None) };
        if receipts.is_some() {
            let commits = writes.into_iter().map(|write| write.commit).collect();
            let effect = Effect::Statements(&effects);
            let committed = engine.commit_with(commits, receipts, effect, OnIntent::Refuse).await?;
            return Ok(committed.is_none().then_some(first));
        }
        let positions: Vec<usize> = writes.iter().map(|write| write.at).collect();
        let mut commits: Vec<Commit> = writes.into_iter().map(|write| write.commit).collect();
        // A write with the effects of two statements must not be committed without the statements
        // between them, so all of them become one commit.
        if !rewrites.is_empty() {
            commits = vec![as_one(commits, engine.kept_log())];
        }
        for commit in commits.iter_mut().skip(1) {
            commit.conditions.push(Condition::AfterPrevious);
        }
        let outcomes = engine.commit_writes(commits, OnIntent::Refuse).await?;
        let refused = outcomes.iter().position(|outcome| matches!(outcome, Outcome::Refused(_)));
        Ok(refused.and_then(|refused| positions.get(refused).copied()))
    }

    /// Returns the index in `parts` of a collection, which is added if missing; `None` if the group
    /// accepts no more statements.
    async fn part(&mut self, collection: &Arc<Collection>) -> Result<Option<usize>, Error> {
        if self.max_statements <= self.writes.len() + self.rewrites.len()
            || UNIT_BYTES <= self.bytes
        {
            return Ok(None);
        }
        if let Some(part) = self.parts.iter().position(|p| p.view.collection.id == collection.id) {
            // An older view shows documents that have expired since, and its commits are more
            // likely to be refused.
            let age = |view: &LiveView| {
                let now = self.engine.inner.clock().try_now();
                now.map_or(0, |now| now.since_ms(view.instant))
            };
            let is_young = self.parts.iter().all(|part| age(&part.view) < GROUP_VIEW_MS);
            return Ok(is_young.then_some(part));
        }
        let view = self.engine.view(collection).await?;
        self.parts.push(CollectionPart { view, written: WrittenDocuments::default() });
        Ok(Some(self.parts.len() - 1))
    }

    /// Adds the drafted writes of a statement to the group.
    fn add(&mut self, at: usize, part: usize, drafted: StatementDraft, effect: StatementEffect) {
        let StatementDraft { used, commits, mut documents, unique, rewritten } = drafted;
        let CollectionPart { view, written } = &mut self.parts[part];
        used.count_deferred(&view.collection);
        let is_update = matches!(effect, StatementEffect::Edited | StatementEffect::Upserted(_));
        self.effects.push((at, effect));
        if commits.is_empty() {
            return;
        }
        let commit = as_one(commits, self.engine.kept_log());
        if let Some(rewritten) = rewritten
            && let Some(document) = documents.pop()
        {
            self.bytes += document.bytes();
            if let Some(write) = self.writes.get_mut(rewritten.write) {
                write.commit = commit;
            }
            written.replace(rewritten.document, document);
            written.claim(unique, Some(rewritten.document));
            self.rewrites.push(at);
            return;
        }
        if let [document] = &mut documents[..] {
            document.write = is_update.then_some(self.writes.len());
        }
        let only = (documents.len() == 1).then_some(written.len());
        for document in documents {
            self.bytes += document.bytes();
            written.add(document);
        }
        written.claim(unique, only);
        self.writes.push(StatementWrite { at, commit });
    }
}

/// Returns a draft that fits into the group. A statement that would have to wait ([`Halt`]) does
/// not fit; it is run alone and waits then.
fn fitting<T>(drafted: Result<Option<T>, Halt>) -> Result<Option<T>, Error> {
    match drafted {
        Ok(drafted) => Ok(drafted),
        Err(Halt::Failed(error)) if error.kind == Kind::ViewEnded => Ok(None),
        Err(Halt::Failed(error)) => Err(error),
        Err(
            Halt::LookAgain
            | Halt::Multikey(_)
            | Halt::Unpublished
            | Halt::NeedsMemory
            | Halt::NeedsRoom(_),
        ) => Ok(None),
    }
}
