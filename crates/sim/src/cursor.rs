//! A query that goes on over several batches while the world moves.
//!
//! Each batch has an instant of its own. A walk returns documents as they are at that moment; a
//! sort has read them when the first batch was asked for, and may return older versions, but never
//! one that has expired since. A document that did not change meanwhile comes exactly once.

use std::collections::BTreeMap;

use document::{DocRef, Document};
use engine::{BatchLimit, Cursor, Kind, Plan};
use pipeline::{Filter, exec::Stage};
use test_kit::{Kit, PausingStore, ready, sort_by};

use crate::{model::Model, shape::id_of};

/// An open query.
#[derive(Debug)]
pub(crate) struct OpenCursor {
    /// The engine's side.
    cursor: Cursor<PausingStore>,
    /// Lives and versions when the first batch was read.
    start: BTreeMap<i32, (u32, u32)>,
    /// Indexes that were there when it was planned.
    had: Vec<&'static str>,
    /// Ids so far, in their order.
    returned: Vec<i32>,
    /// Rows wait in a sort, so that older versions may be returned.
    buffered: bool,
    /// Its first batch was read.
    began: bool,
}

impl OpenCursor {
    /// A query over all documents, by id or sorted by `v`.
    pub(crate) fn new(kit: &Kit, model: &Model, sorted: bool) -> Self {
        let mut plan = Plan::new(Filter::always());
        if sorted {
            plan = plan.with_stages(vec![Stage::Sort { sort: sort_by("v", false), limit: None }]);
        }
        let cursor = kit.begin_query(plan);
        Self {
            buffered: cursor.sorts_in_stages(),
            cursor,
            start: BTreeMap::new(),
            had: model.indexes.keys().copied().collect(),
            returned: Vec::new(),
            began: false,
        }
    }

    /// Reads a batch and checks it; returns whether there may be more.
    pub(crate) fn next_batch(&mut self, model: &Model, documents: usize) -> Result<bool, String> {
        if !std::mem::replace(&mut self.began, true) {
            let all = model.live_documents().map(|(id, doc)| (*id, (doc.life, doc.version)));
            self.start = all.collect();
        }
        let limit = BatchLimit { documents, bytes: usize::MAX };
        let batch = match ready(self.cursor.next_batch(limit)) {
            Ok(batch) => batch,
            Err(error) if error.kind == Kind::Gone => {
                let has: Vec<_> = model.indexes.keys().copied().collect();
                // Its index is gone, or another came of the same name, or it got arrays.
                return match has == self.had && !self.may_be_gone() {
                    true => Err(format!("a cursor is gone: {error}")),
                    false => Ok(false),
                };
            }
            Err(error) => return Err(format!("a cursor failed: {error}")),
        };
        // Indexes may have changed before the first batch.
        self.buffered = self.cursor.sorts_in_stages();
        for bytes in &batch.documents {
            self.check_document(model, &DocRef::Raw(bytes).to_tree())?;
        }
        if batch.done {
            self.check_complete(model)?;
        }
        Ok(!batch.done)
    }

    /// Whether it walks an index, which may be dropped under it.
    fn may_be_gone(&self) -> bool {
        let explain = self.cursor.explain();
        // The index of the id is never dropped.
        explain.index.is_some_and(|index| index != "_id_") || !explain.branches.is_empty()
    }

    /// Checks a document that was returned.
    fn check_document(&mut self, model: &Model, body: &Document) -> Result<(), String> {
        let id = id_of(body);
        if self.buffered {
            // It may have been removed or written since, but it must not have expired.
            let has_expired = |(life, _): &(u32, u32)| model.has_expired(*life);
            if self.start.get(&id).is_none_or(has_expired) {
                return Err(format!("a cursor returned the expired document {body:?}"));
            }
            self.returned.push(id);
            return Ok(());
        }
        let Some(doc) = model.live_document(id) else {
            return Err(format!("a cursor returned the expired or absent document {body:?}"));
        };
        if doc.body != *body {
            return Err(format!("a cursor returned {body:?} instead of {:?}", doc.body));
        }
        let moved = self.start.get(&id).is_none_or(|(_, version)| *version != doc.version);
        if self.returned.contains(&id) && !moved {
            return Err(format!("a cursor returned {body:?} twice"));
        }
        self.returned.push(id);
        Ok(())
    }

    /// Whatever did not change since the beginning was returned.
    fn check_complete(&self, model: &Model) -> Result<(), String> {
        let mut missed = model.live_documents().filter(|(id, doc)| {
            self.start.get(id) == Some(&(doc.life, doc.version)) && !self.returned.contains(id)
        });
        match missed.next() {
            Some((_, doc)) => Err(format!("a cursor left out {:?}", doc.body)),
            None => Ok(()),
        }
    }
}
