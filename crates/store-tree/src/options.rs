//! Options for opening a store.

use std::path::{Path, PathBuf};

use journal::{JournalFolder, JournalOptions};

/// Directory of the journal within the store's directory.
const JOURNAL: &str = "journal";
/// Maximum size of a group; a commit of this size gets its own segment.
const LARGEST_GROUP: u64 = 1 << 30;
/// Directory of the trees within the store's directory.
pub(crate) const TREES: &str = "trees";

/// Whether journal entries are archived for incremental backups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archiving {
    /// Nothing is written and an existing archive is kept, for inspecting a store.
    Untouched,
    /// There is no archive; an existing one is deleted, because it would have a gap.
    Off,
    /// Entries are archived, up to this total size in bytes.
    Within(u64),
}

/// Maximum disk space of replaced versions retained for one old view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldViewsBound {
    /// Percentage of the free and retained space together; 100 means unlimited.
    Percent(u64),
    /// A fixed number of bytes.
    Bytes(u64),
}

impl OldViewsBound {
    /// Number of bytes that any view may retain, however full the disk is.
    const FEW_BYTES: u64 = 16 * 1024 * 1024;

    /// Returns whether `kept` bytes exceed the bound, given the free bytes.
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

/// Parameters for opening a store.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// Directory that contains the store.
    pub path: PathBuf,
    /// Size of the block cache in bytes.
    pub cache_bytes: u64,
    /// Weight of the journal beyond which the oldest memtable is flushed: its bytes, and 500 per
    /// mutation, since startup replays them one by one.
    pub journal_bytes: u64,
    /// Total size of memtables beyond which the largest is flushed, bytes.
    pub buffer_bytes: u64,
    /// Size of a journal segment in bytes; smaller on a small device.
    pub segment_bytes: u64,
    /// Number of spare segments kept ready.
    pub spare_segments: usize,
    /// Disk space that an old view may retain; beyond it the oldest view is ended.
    pub old_views: OldViewsBound,
    /// Whether journal entries are archived.
    pub archive: Archiving,
    /// Whether to open the store although commits are missing, as an operator has accepted.
    pub accept_loss: bool,
}

impl TreeOptions {
    /// Creates default options for a directory.
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

    /// Returns the journal in the store's directory.
    pub fn journal_folder(&self) -> JournalFolder {
        let options = JournalOptions {
            segment_bytes: self.segment_bytes,
            spare_segments: self.spare_segments,
            group_bytes: LARGEST_GROUP,
            ..JournalOptions::default()
        };
        JournalFolder { path: self.path.join(JOURNAL), options }
    }

    /// Returns the journal of a copy, whose contents are durable in the cluster's journal.
    pub fn journal_of_copy(&self) -> JournalFolder {
        let JournalFolder { path, options } = self.journal_folder();
        JournalFolder { path, options: JournalOptions { durable_elsewhere: true, ..options } }
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
