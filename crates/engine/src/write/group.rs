//! A group of write statements that become durable together: one wait for the disk, and in a cluster
//! one entry of the ledger, instead of one per statement.
//!
//! The result is the one that the statements have when each runs after the commit of the one before.
//! All statements of a group are evaluated in one view per collection, which does not show what
//! earlier statements of the group write. So a statement is only added where this makes no
//! difference: no document that the group writes meets its filter, neither as it was nor as it will
//! be, and it takes no key that the group writes or unique value that the group takes or gives up.
//! Any other statement is left to the next group, or runs alone.
//!
//! ```text
//!  statement    0        1        2 (meets what 0 writes)
//!               └─ group ─┘
//!  commits    [ c0 ]──▶[ c1 ]     AfterPrevious: when c0 is refused, c1 is too, and both are evaluated
//!               one call          again in a new view, in their order
//! ```
//!
//! A statement is one commit, also where it writes several documents: none of them is edited twice
//! when the statement is evaluated again.

use std::sync::Arc;

use evaluation::Context;
use store::{Commit, Condition, Outcome, Store};

use super::{
    Effect, NewDocument, Receipts, Update, Updated,
    group_part::{Drafted, Part},
    receipt::StatementEffect,
    unit::as_one,
    written::WrittenDocuments,
};
use crate::{
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    limits::{GROUP_VIEW_MS, UNIT_BYTES},
    read::Find,
    view::LiveView,
};

/// Statements that are committed together.
pub struct WriteGroup<'e, S: Store> {
    engine: &'e Engine<S>,
    /// How many statements may write.
    most: usize,
    /// One for each collection that a statement is about.
    parts: Vec<Part<S>>,
    writes: Vec<StatementWrite>,
    /// What the statements do, those that write nothing too, by their positions.
    effects: Vec<(usize, StatementEffect)>,
    /// Bytes of documents in it, before and after.
    bytes: usize,
}

impl<S: Store> std::fmt::Debug for WriteGroup<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteGroup").field("positions", &self.positions()).finish_non_exhaustive()
    }
}

/// What one statement writes.
struct StatementWrite {
    /// Its position, as the caller numbers statements.
    at: usize,
    commit: Commit,
}

impl<S: Store> Engine<S> {
    /// Begins a group of at most so many statements that write.
    pub fn write_group(&self, most: usize) -> WriteGroup<'_, S> {
        WriteGroup {
            engine: self,
            most,
            parts: Vec::new(),
            writes: Vec::new(),
            effects: Vec::new(),
            bytes: 0,
        }
    }
}

impl<S: Store> WriteGroup<'_, S> {
    /// The positions of the statements that write something, ascending.
    pub fn positions(&self) -> Vec<usize> {
        self.writes.iter().map(|write| write.at).collect()
    }

    /// Adds an update; `at` is the position of the statement and greater than all before. Returns
    /// what the update does once the group is committed, or `None` where it cannot be added: then
    /// nothing has changed, and it belongs into the next group or, when this one is empty, runs by
    /// [`Engine::update`].
    ///
    /// # Errors
    ///
    /// Those of [`Engine::update`], exactly as if all earlier statements were committed. The group is
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

    /// Adds a removal of the first document that is found, or of all of them, as
    /// [`update`](Self::update) adds updates. Returns how many documents it removes.
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

    /// Adds an insert, as [`update`](Self::update) adds updates.
    pub async fn insert(
        &mut self,
        at: usize,
        collection: &Arc<Collection>,
        new: NewDocument,
    ) -> Result<Option<()>, Error> {
        let Some(part) = self.part(collection).await? else { return Ok(None) };
        let drafted = self.parts[part].draft_insert(new).await;
        let Some(drafted) = fitting(drafted)? else { return Ok(None) };
        self.add(at, part, drafted, StatementEffect::Inserted);
        Ok(Some(()))
    }

    /// Adds a statement that is about a collection that does not exist, and so does nothing.
    pub fn pass(&mut self, at: usize) {
        self.effects.push((at, StatementEffect::Unwritten(false)));
    }

    /// Commits all statements, in their order. Returns the position of the first one that has to be
    /// evaluated again because another writer came first; it and all behind it have written nothing.
    /// With receipts the group is one commit.
    ///
    /// # Errors
    ///
    /// Those of the store. [`Kind::Full`](crate::Kind::Full): no statement has written anything.
    pub async fn commit(self, receipts: Option<&dyn Receipts>) -> Result<Option<usize>, Error> {
        let Self { engine, parts, writes, effects, .. } = self;
        // What is reaped need not wait for the disk together with these commits.
        drop(parts);
        let Some(first) = writes.first().map(|write| write.at) else { return Ok(None) };
        if receipts.is_some() {
            let commits = writes.into_iter().map(|write| write.commit).collect();
            let effect = Effect::Statements(&effects);
            let committed = engine.commit_with(commits, receipts, effect).await?;
            return Ok(committed.is_none().then_some(first));
        }
        let positions: Vec<usize> = writes.iter().map(|write| write.at).collect();
        let mut commits: Vec<Commit> = writes.into_iter().map(|write| write.commit).collect();
        for commit in commits.iter_mut().skip(1) {
            commit.conditions.push(Condition::AfterPrevious);
        }
        let outcomes = engine.inner.store().commit(commits).await?;
        let refused = outcomes.iter().position(|outcome| matches!(outcome, Outcome::Refused(_)));
        Ok(refused.and_then(|refused| positions.get(refused).copied()))
    }

    /// The place of a collection's part, which is made where there is none; `None` when the group
    /// takes no more statements.
    async fn part(&mut self, collection: &Arc<Collection>) -> Result<Option<usize>, Error> {
        if self.most <= self.writes.len() || UNIT_BYTES <= self.bytes {
            return Ok(None);
        }
        if let Some(part) = self.parts.iter().position(|p| p.view.collection.id == collection.id) {
            // A view that is older shows documents that have expired since, and is more likely to be
            // refused.
            let age = |view: &LiveView<S>| {
                let now = self.engine.inner.clock().try_now();
                now.map_or(0, |now| now.since_ms(view.instant))
            };
            let is_young = self.parts.iter().all(|part| age(&part.view) < GROUP_VIEW_MS);
            return Ok(is_young.then_some(part));
        }
        let view = self.engine.view(collection).await?;
        self.parts.push(Part { view, written: WrittenDocuments::default() });
        Ok(Some(self.parts.len() - 1))
    }

    /// Makes what a statement writes part of the group.
    fn add(&mut self, at: usize, part: usize, drafted: Drafted, effect: StatementEffect) {
        let Drafted { used, commits, documents, unique } = drafted;
        let Part { view, written } = &mut self.parts[part];
        used.count_deferred(&view.collection);
        self.effects.push((at, effect));
        if commits.is_empty() {
            return;
        }
        for document in documents {
            self.bytes += document.bytes();
            written.add(document);
        }
        written.claim(unique);
        self.writes.push(StatementWrite { at, commit: as_one(commits) });
    }
}

/// What was drafted, if it fits. What a statement would have to wait for ([`Halt`]) does not: waiting
/// is left to who runs it alone.
fn fitting<T>(drafted: Result<Option<T>, Halt>) -> Result<Option<T>, Error> {
    match drafted {
        Ok(drafted) => Ok(drafted),
        Err(Halt::Failed(error)) => Err(error),
        Err(Halt::LookAgain | Halt::Multikey(_) | Halt::Unpublished) => Ok(None),
    }
}
