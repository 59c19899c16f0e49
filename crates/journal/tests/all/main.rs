//! External tests of the journal. In this file the journals on disk and in memory pass the
//! conformance tests of `journal::laws`.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

mod local;

use journal::{
    JournalOptions, LocalJournal, MemoryJournal,
    laws::{Bench, check},
};
use tempfile::TempDir;

/// Journals in folders, with small segments so that they are constantly started and reused.
struct Local(Option<TempDir>, JournalOptions);

impl Bench for Local {
    type Journal = LocalJournal;

    fn open(&mut self) -> LocalJournal {
        let folder = self.0.insert(tempfile::tempdir().unwrap());
        LocalJournal::open(folder.path(), &self.1).unwrap()
    }

    fn crash(&mut self, journal: LocalJournal) -> LocalJournal {
        let known_durable = journal::Journal::end(&journal);
        drop(journal);
        let options = JournalOptions { known_durable, ..self.1.clone() };
        LocalJournal::open(self.0.as_ref().unwrap().path(), &options).unwrap()
    }
}

struct Memory;

impl Bench for Memory {
    type Journal = MemoryJournal;

    fn open(&mut self) -> MemoryJournal {
        MemoryJournal::new()
    }

    fn crash(&mut self, journal: MemoryJournal) -> MemoryJournal {
        journal.reopen()
    }
}

#[test]
fn the_local_journal_passes_the_laws() {
    for spare_segments in [0, 2] {
        let segment_bytes = 48 * 1024;
        let options = JournalOptions { segment_bytes, spare_segments, ..JournalOptions::default() };
        check(&mut Local(None, options), 3);
    }
}

#[test]
fn the_memory_journal_passes_the_laws() {
    check(&mut Memory, 50);
}
