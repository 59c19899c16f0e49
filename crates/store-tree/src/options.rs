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
