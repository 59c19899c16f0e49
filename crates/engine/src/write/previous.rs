//! What a write replaces: the live row that it found, its index entries, and what the counters know
//! of it. All of it was read in the write's view; the conditions of the commit say that nothing of
//! it has changed since.

use bytes::Bytes;

use crate::{catalog::Record, counters::Counted, row::Row};

/// What a write replaces.
#[derive(Debug)]
pub(crate) struct Previous {
    /// The live row.
    pub(super) row: Row,
    /// What the counters know of it, to be taken away again.
    pub(super) counted: Counted,
    /// Keys of its entries.
    pub(super) entries: Vec<Bytes>,
    /// Keys in unique indexes that are being built: another row may hold them.
    pub(super) unsure: Vec<Bytes>,
    /// What replaces it is the same document: it keeps its birth.
    pub(super) same: bool,
}

impl Previous {
    /// Its key in the timeline.
    pub(super) fn timeline_key(&self, record: &Record) -> Option<Bytes> {
        record.timeline_key(self.counted.class, self.counted.ts, &self.row.key)
    }

    /// Its key, when what replaces it has another one.
    pub(super) fn moves_to(&self, row_key: &Bytes) -> Option<Bytes> {
        Some(&self.row.key).filter(|key| *key != row_key).cloned()
    }

    /// What replaces it is another document in its place.
    pub(crate) fn without_birth(self) -> Self {
        Self { same: false, ..self }
    }
}
