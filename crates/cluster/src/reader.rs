//! Reads a shard's journal from outside the protocol, from a position up to the last entry that
//! exists. It contacts no owner and changes nothing. The returned entries are committed if the
//! shard record, read after them, still shows the epoch with which the read started: no taker has
//! read the journal before that, and each taker finds what a quorum has returned.

use bytes::Bytes;
use store::{Error, Kind};
use uuid::Uuid;

use crate::{
    entry::Entry,
    position::{Epochs, MissingEntry, Position},
    records::{ShardRecord, TermRecord},
    request::{EntryPart, Request},
    settings::Settings,
    tail_read::{Reading, TailRead},
};

/// A read of a shard's journal.
#[derive(Debug)]
pub struct JournalReader {
    tail_read: TailRead,
    limit: usize,
    missing: Option<MissingEntry>,
}

impl JournalReader {
    /// Starts reading after a tree at this position. `terms` are those of the node records, read
    /// before the shard record `record`.
    pub fn new(cluster: Uuid, record: &ShardRecord, terms: &[TermRecord], tree: Position) -> Self {
        let settings = Settings::new(cluster, record.shard, Uuid::nil(), Bytes::new());
        let limit = settings.read_bytes;
        let opened = (record.shard, record.opened);
        let committed = terms.iter().filter(|term| (term.shard, term.epoch) == opened);
        let committed = committed.map(|term| term.committed).max().unwrap_or(0);
        let tail_read = TailRead::new(settings, Epochs::from_record(record), tree, committed);
        Self { tail_read, limit, missing: None }
    }

    /// Returns the request that the reader needs next.
    pub fn request(&self) -> Request {
        self.tail_read.request()
    }

    /// Processes the reply; returns whether more has to be read. Fails with `Corrupt` if the
    /// journal is damaged and with `Refused` if a committed entry is missing.
    pub fn read(&mut self, parts: &[EntryPart]) -> Result<bool, Error> {
        let bytes: usize = parts.iter().map(|part| part.body.len()).sum();
        match self.tail_read.read(parts) {
            // Stops at the current end, so that an owner that keeps appending does not prolong the
            // read forever.
            Reading::More => {
                Ok(parts.is_empty() || self.limit <= bytes || !self.tail_read.is_caught_up())
            }
            Reading::Done => Ok(false),
            Reading::Missing(missing) => {
                self.missing = Some(missing);
                Err(Error::new(Kind::Refused, missing.to_string()))
            }
            Reading::Damaged(error) => Err(error),
        }
    }

    /// Returns the missing committed entry, if the read failed because of one.
    pub fn missing(&self) -> Option<MissingEntry> {
        self.missing
    }

    /// Returns whether an entry was found after a missing one. An owner with two entries in flight
    /// leaves such a gap briefly; entries after it are not yet committed.
    pub fn has_gap(&self) -> bool {
        self.tail_read.has_gap()
    }

    /// Removes and returns the entries read so far, in order, each with the position after it.
    pub fn take(&mut self) -> Vec<(Entry, Position)> {
        let found = self.tail_read.take_entries().into_iter();
        found
            .map(|found| {
                let position = Position::after(&found);
                (found.entry, position)
            })
            .collect()
    }
}
