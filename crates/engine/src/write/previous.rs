//! What a write replaces: the live row, its index entries and its counted properties, all read in
//! the write's view. The commit's conditions require that they are unchanged.

use bytes::Bytes;

use crate::{catalog::Record, counters::Counted, row::Row};

/// The version that a write replaces.
#[derive(Debug)]
pub(crate) struct PreviousVersion {
    pub(super) row: Row,
    /// Properties by which the replaced version was counted, to be subtracted.
    pub(super) counted: Counted,
    /// Keys of the replaced version's index entries.
    pub(super) entries: Vec<Bytes>,
    /// Keys in unique indexes that are being built; another row may have the same keys.
    pub(super) unsure: Vec<Bytes>,
    /// Whether the replacement is a new version of the same document, which keeps the creation
    /// stamp.
    pub(super) same: bool,
}

impl PreviousVersion {
    /// Returns the keys of the replaced version's entries in the index of expirations.
    pub(super) fn timeline_keys(&self, record: &Record) -> Vec<Bytes> {
        let (expires_by, dates) = ((self.counted.class, self.counted.ts), &self.counted.dates);
        record.timeline_keys(expires_by, dates.iter().copied(), &self.row.key)
    }

    /// Returns the key of the replaced row if the replacement has a different key.
    pub(super) fn moves_to(&self, row_key: &Bytes) -> Option<Bytes> {
        Some(&self.row.key).filter(|key| *key != row_key).cloned()
    }

    /// Makes the replacement count as a newly created document, with a creation stamp of its own.
    pub(crate) fn without_creation_stamp(self) -> Self {
        Self { same: false, ..self }
    }
}
