//! A placeholder in a keyspace: a key that nobody reads, with a newer sequence number than all that
//! a compaction has dropped.
//!
//! The tree lets a journal go when each keyspace that has something in it has a table as new as
//! that (fjall 3.1.13; a known fault, issue 288 there: "as new" is asked of the tables that exist
//! now). A compaction that drops the newest item of a keyspace takes this number back, and if the
//! keyspace is never written again, that journal and all later ones stay for ever:
//!
//! ```text
//!  journal 5 has row 900 of a keyspace      tables: … 900       journal 5 may go
//!  a compaction drops row 900               tables: … 870       it may not, nor 6, 7, 8 …
//!  the placeholder is written as 1200       tables: … 870 1200  all up to 1200 may go
//! ```
//!
//! For the same reason a start replays only what is newer than the tables: without it, what was
//! dropped would come back out of a journal.

use fjall::{AbstractTree as _, Keyspace};
use store::Error;

use crate::{errors::from_fjall, inner::OpenTree};

/// The key. Uses of slots have numbers from 1, so that it belongs to none; no key of a space that
/// has a keyspace of its own looks like it.
pub(crate) const PLACEHOLDER_KEY: [u8; 4] = [0; 4];

/// Writes it: newer than everything that the keyspace has by now.
pub(crate) fn write_placeholder(keyspace: &Keyspace) -> Result<(), Error> {
    let written = keyspace.insert(PLACEHOLDER_KEY, []);
    written.map_err(|error| from_fjall("write a placeholder", &error))
}

/// The newest number in the tables of a keyspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NewestNumber(Option<u64>);

impl NewestNumber {
    /// That of the tables as they are.
    pub(crate) fn of_tables(keyspace: &Keyspace) -> Self {
        Self(keyspace.tree.get_highest_persisted_seqno())
    }

    /// Writes a placeholder, to a table of its own, where the tables have lost this number.
    pub(crate) fn keep(self, inner: &OpenTree, keyspace: &Keyspace) -> Result<(), Error> {
        if self <= Self::of_tables(keyspace) {
            return Ok(());
        }
        write_placeholder(keyspace)?;
        inner.flush_keyspace(keyspace)
    }
}
