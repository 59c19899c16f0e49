//! Where and how a store is opened.

use std::path::{Path, PathBuf};

use journal::{JournalFolder, JournalOptions};

/// Folder of the journal, in the store's directory.
const JOURNAL: &str = "journal";
/// Bytes of the largest group: a commit of this size gets a segment of its own.
const LARGEST_GROUP: u64 = 1 << 30;
/// Folder of the trees, in the store's directory.
pub(crate) const TREES: &str = "trees";

/// Whether entries of the journal are kept for backups that follow others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archiving {
    /// Nothing is written, and what is there stays: for a look at a store.
    Untouched,
    /// They are not, and what is there goes: it would have a gap.
    Off,
    /// They are, in files of this many bytes together.
    Within(u64),
}

/// How much of the disk replaced versions may take that are kept for one old view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldViewsBound {
    /// This many percent of what is free and what is kept; with 100 there is no bound.
    Percent(u64),
    /// This many bytes.
    Bytes(u64),
}

impl OldViewsBound {
    /// Bytes that may be kept for any view, however full the disk is.
    const FEW_BYTES: u64 = 16 * 1024 * 1024;

    /// Returns whether so many bytes are too many, where so many are free.
    pub(crate) fn is_exceeded(self, kept: u64, free: u64) -> bool {
        match self {
            Self::Percent(percent) => {
                let all = free.saturating_add(kept);
                Self::FEW_BYTES < kept
                    && (all / 100).saturating_mul(percent) < kept
                    && percent < 100
            }
            Self::Bytes(bytes) => bytes < kept,
        }
    }
}

impl Default for OldViewsBound {
    fn default() -> Self {
        Self::Percent(50)
    }
}

/// Where and how a store is opened.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// Its directory.
    pub path: PathBuf,
    /// Memory for blocks of tables, bytes.
    pub cache_bytes: u64,
    /// What the journal may hold before the oldest memory is written to tables: its bytes, and 500
    /// for each mutation, since a start applies them one by one.
    pub journal_bytes: u64,
    /// What all memory together may hold before the largest is written to tables, bytes.
    pub buffer_bytes: u64,
    /// Bytes of a segment of the journal; less on a small device.
    pub segment_bytes: u64,
    /// Segments that are kept ready.
    pub spare_segments: usize,
    /// How much of the disk may be kept for an old view; beyond that the oldest is ended.
    pub old_views: OldViewsBound,
    /// Whether entries of the journal are archived.
    pub archive: Archiving,
    /// Open although commits are missing: an operator has looked at it.
    pub accept_loss: bool,
}

impl TreeOptions {
    /// A store in this directory.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            cache_bytes: 256 * 1024 * 1024,
            journal_bytes: 256 * 1024 * 1024,
            buffer_bytes: 128 * 1024 * 1024,
            segment_bytes: 16 * 1024 * 1024,
            spare_segments: 2,
            old_views: OldViewsBound::default(),
            archive: Archiving::Untouched,
            accept_loss: false,
        }
    }

    /// The journal in the store's directory.
    pub fn journal_folder(&self) -> JournalFolder {
        let options = JournalOptions {
            segment_bytes: self.segment_bytes,
            spare_segments: self.spare_segments,
            group_bytes: LARGEST_GROUP,
            ..JournalOptions::default()
        };
        JournalFolder { path: self.path.join(JOURNAL), options }
    }

    /// The same of a copy: what is in it is durable somewhere else.
    pub fn journal_of_copy(&self) -> JournalFolder {
        let JournalFolder { path, options } = self.journal_folder();
        JournalFolder { path, options: JournalOptions { kept_elsewhere: true, ..options } }
    }
}

#[cfg(test)]
mod tests {
    use super::OldViewsBound::{Bytes, Percent};

    #[test]
    fn a_bound_for_old_views_is_a_part_of_what_is_free_or_a_size() {
        const GIB: u64 = 1 << 30;
        for (bound, kept, free, exceeded) in [
            (Percent(50), GIB, GIB + 100, false),
            (Percent(50), GIB + 1000, GIB, true),
            (Percent(10), GIB, 10 * GIB, false),
            (Percent(10), GIB, 8 * GIB, true),
            (Percent(1), 16 << 20, 0, false),
            (Percent(1), (16 << 20) + 1, 0, true),
            (Percent(100), GIB, 0, false),
            (Bytes(10), 10, 0, false),
            (Bytes(10), 11, GIB, true),
        ] {
            assert_eq!(bound.is_exceeded(kept, free), exceeded, "{bound:?} {kept} {free}");
        }
    }
}
