//! A query that spans several batches while documents change.
//!
//! Each batch has its own instant. A scan returns documents as of the batch's instant. A sort has
//! read all documents for the first batch; it may return older versions of documents, but no
//! document that has expired since. A document that does not change is returned exactly once.

use std::collections::BTreeMap;

use document::{DocRef, Document};
use engine::{BatchLimit, Cursor, Kind, Plan};
use pipeline::{Filter, exec::Stage};
use test_kit::{Kit, ready, sort_by};

use crate::{model::Model, op::id_of};

#[derive(Debug)]
pub(crate) struct OpenCursor {
    cursor: Cursor,
    /// State of each document, by id, when the query's first batch was read: the number of
    /// insertions of the id so far, and the number of the document's last write.
    start: BTreeMap<i32, (u32, u32)>,
    /// Indexes that existed when the cursor's query was planned.
    had: Vec<&'static str>,
    /// Ids returned so far, in order.
    returned: Vec<i32>,
    /// Whether a sort buffers the rows, so that the cursor may return older versions of documents.
    buffered: bool,
    /// Whether the cursor's first batch was read.
    began: bool,
}

impl OpenCursor {
    /// Opens a query over all documents, by id or sorted by `v`.
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

    /// Reads and checks a batch. Returns whether the cursor may have further batches.
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
                // The error is right only if an index was dropped or replaced, or became multikey.
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

    /// Returns whether the cursor scans an index. The index may be dropped while the cursor is
    /// open.
    fn may_be_gone(&self) -> bool {
        let explain = self.cursor.explain();
        // The index on the id is never dropped.
        explain.index.is_some_and(|index| index != "_id_") || !explain.branches.is_empty()
    }

    fn check_document(&mut self, model: &Model, body: &Document) -> Result<(), String> {
        let id = id_of(body);
        if self.buffered {
            // The document may have been removed or written since the first batch, but must not
            // have expired.
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

    /// Checks that every document that did not change since the first batch was returned.
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
