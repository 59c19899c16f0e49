//! Reads a shard's journal for whoever has no part in it: behind a place, up to the last entry that was
//! there. Nothing is asked of its owner, and nothing changed. What it hands out is committed once the
//! shard's record, read after it, still shows the epoch that the reading began with: no taker has looked
//! at the journal before then, and each will find what a quorum has shown.

use bytes::Bytes;
use store::{Error, Kind};
use uuid::Uuid;

use crate::{
    entry::Entry,
    place::{Epochs, MissingEntry, Place},
    records::{ShardRecord, TermRecord},
    request::{EntryPart, Request},
    sealing::{Reading, Sealing},
    settings::Settings,
};

/// A reading that goes on.
#[derive(Debug)]
pub struct JournalReader {
    sealing: Sealing,
    limit: usize,
    missing: Option<MissingEntry>,
}

impl JournalReader {
    /// Of this cluster, as the record of its shard was read, and terms that were read before; behind a
    /// tree that stands here.
    pub fn new(cluster: Uuid, record: &ShardRecord, terms: &[TermRecord], tree: Place) -> Self {
        let settings = Settings::new(cluster, record.shard, Uuid::nil(), Bytes::new());
        let limit = settings.read_bytes;
        let opened = (record.shard, record.opened);
        let committed = terms.iter().filter(|term| (term.shard, term.epoch) == opened);
        let committed = committed.map(|term| term.committed).max().unwrap_or(0);
        let sealing = Sealing::new(settings, Epochs::of(record), tree, committed);
        Self { sealing, limit, missing: None }
    }

    /// The next question.
    pub fn request(&self) -> Request {
        self.sealing.request()
    }

    /// Takes the answer; whether there is more to be read. `Corrupt` where the journal is damaged,
    /// `Refused` where a committed entry is missing.
    pub fn read(&mut self, parts: &[EntryPart]) -> Result<bool, Error> {
        let bytes: usize = parts.iter().map(|part| part.body.len()).sum();
        match self.sealing.read(parts) {
            // An owner that goes on appending is not followed for ever.
            Reading::More => {
                Ok(parts.is_empty() || self.limit <= bytes || !self.sealing.is_level())
            }
            Reading::Done => Ok(false),
            Reading::Missing(missing) => {
                self.missing = Some(missing);
                Err(Error::new(Kind::Refused, missing.to_string()))
            }
            Reading::Damaged(error) => Err(error),
        }
    }

    /// The committed entry that is missing, once that was the answer.
    pub fn missing(&self) -> Option<MissingEntry> {
        self.missing
    }

    /// Whether something lies behind an entry that is not there. An owner that has two entries under way
    /// leaves such a gap for a moment; whoever reads on behind it reads what is nobody's yet.
    pub fn meets_gap(&self) -> bool {
        self.sealing.meets_gap()
    }

    /// What was read since the last time, in order, and where a tree stands behind each.
    pub fn take(&mut self) -> Vec<(Entry, Place)> {
        let found = self.sealing.take_entries().into_iter();
        found
            .map(|found| {
                let place = Place::behind(&found);
                (found.entry, place)
            })
            .collect()
    }
}
