//! The read phase of a take-over: reads all entries after the position of the local tree up to the
//! end of the last opened epoch, which is before the first missing entry. It reads beyond this gap,
//! since each entry contains the number of the last entry that its writer knew to be committed,
//! which may be the missing one.

use store::Error;

use crate::{
    position::{DecodedEntry, Epochs, MissingEntry, Position, ahead_error, broken_chain, found},
    request::{EntryPart, Request},
    settings::Settings,
};

/// Number of consecutive empty segments after which the read stops. With two entries in flight, the
/// first entry of a segment may exist without the entry that closes the preceding segment.
const EMPTY_MAX: u32 = 2;

/// State of the read after a reply.
#[derive(Debug)]
pub(crate) enum Reading {
    /// Another request has to be sent.
    More,
    Done,
    /// A committed entry cannot be read.
    Missing(MissingEntry),
    /// The journal is damaged, or the tree belongs to another journal.
    Damaged(Error),
}

/// A read of a journal's tail.
#[derive(Debug)]
pub(crate) struct TailRead {
    settings: Settings,
    epochs: Epochs,
    /// Position up to which entries were read without a gap.
    cursor: Position,
    /// Entries that were read without a gap.
    entries: Vec<DecodedEntry>,
    epoch: u64,
    segment: u64,
    after: u64,
    empty: u32,
    is_empty_so_far: bool,
    gap: bool,
    committed: u64,
}

impl TailRead {
    /// Starts reading after `tree`, the position of the local tree. `committed` is the number of
    /// the last entry of the last opened epoch that is known, from outside the journal, to be
    /// committed.
    pub(crate) fn new(settings: Settings, epochs: Epochs, tree: Position, committed: u64) -> Self {
        let (epoch, segment) = tree.next(&epochs);
        Self {
            settings,
            epochs,
            cursor: tree,
            entries: Vec::new(),
            epoch,
            segment,
            after: tree.n,
            empty: 0,
            is_empty_so_far: true,
            gap: false,
            committed: committed.max(tree.n),
        }
    }

    /// Returns whether no epoch was opened yet and the tree is empty, so that nothing has to be
    /// read.
    pub(crate) fn is_nothing(&self) -> bool {
        self.epochs.opened == 0 && self.cursor.n == 0
    }

    pub(crate) fn request(&self) -> Request {
        Request::ReadEntries {
            shard: self.settings.shard,
            epoch: self.epoch,
            segment: self.segment,
            after: self.after,
            limit: self.settings.read_bytes,
        }
    }

    /// Processes the parts of a reply.
    pub(crate) fn read(&mut self, parts: &[EntryPart]) -> Reading {
        if self.entries.is_empty() && !self.epochs.admit(self.cursor) {
            return Reading::Damaged(ahead_error(self.cursor));
        }
        let entries = match found(&self.settings, self.epoch, self.segment, parts) {
            Ok(entries) => entries,
            Err(error) => return Reading::Damaged(error),
        };
        for found in entries {
            if let Err(error) = self.take(found) {
                return Reading::Damaged(error);
            }
        }
        let (epoch, end) = self.epochs.of_next(self.cursor.n);
        if epoch != self.epoch {
            // A closed epoch was read to its end.
            (self.epoch, self.segment, self.after) = (epoch, 0, self.cursor.n);
            (self.empty, self.is_empty_so_far) = (0, true);
            return Reading::More;
        }
        if let Some(last) = parts.last() {
            self.after = last.n;
            self.is_empty_so_far = false;
            return Reading::More;
        }
        self.empty = if self.is_empty_so_far { self.empty + 1 } else { 0 };
        if self.empty < EMPTY_MAX {
            self.segment += 1;
            self.is_empty_so_far = true;
            return Reading::More;
        }
        let committed = end.unwrap_or(self.committed);
        if self.cursor.n < committed {
            return Reading::Missing(MissingEntry { epoch, end: self.cursor.n, committed });
        }
        Reading::Done
    }

    fn take(&mut self, found: DecodedEntry) -> Result<(), Error> {
        if self.epoch == self.epochs.opened {
            self.committed = self.committed.max(found.entry.committed);
        }
        if found.entry.n <= self.cursor.n || !self.epochs.holds(self.epoch, found.entry.n) {
            return Ok(());
        }
        let rules = self.settings.rules;
        if rules.cut_at_gap() {
            self.gap |= found.entry.n != self.cursor.n + 1;
            if self.gap {
                return Ok(());
            }
            if found.entry.before != self.cursor.checksum {
                return Err(broken_chain(&found.entry));
            }
        }
        self.cursor = Position::after(&found);
        self.entries.push(found);
        Ok(())
    }

    /// Returns the end of the last opened epoch, and the entries of this epoch that a quorum may
    /// lack.
    pub(crate) fn end(&self) -> (Position, impl Iterator<Item = &DecodedEntry>) {
        let (opened, committed) = (self.epochs.opened, self.committed);
        let tail = self
            .entries
            .iter()
            .filter(move |found| found.entry.epoch == opened && committed < found.entry.n);
        (self.cursor, tail)
    }

    /// Returns the number of the last entry of each epoch, including the last opened one.
    pub(crate) fn ends(&self) -> Vec<(u64, u64)> {
        let mut ends = self.epochs.ends.clone();
        if 0 < self.epochs.opened {
            ends.push((self.epochs.opened, self.cursor.n));
        }
        ends
    }

    /// Returns whether the last opened epoch was read to its last entry without a gap, including
    /// all entries known to be committed.
    pub(crate) fn is_caught_up(&self) -> bool {
        let next = self.cursor.next(&self.epochs);
        // Reading of the epoch has just started and nothing was requested of it yet.
        let has_asked = 0 < self.empty || !self.is_empty_so_far;
        has_asked
            && !self.gap
            && next == (self.epochs.opened, self.segment)
            && self.epoch == self.epochs.opened
            && self.committed <= self.cursor.n
    }

    /// Returns whether an entry was found after a missing entry.
    pub(crate) fn has_gap(&self) -> bool {
        self.gap
    }

    /// Removes and returns the entries read without a gap.
    pub(crate) fn take_entries(&mut self) -> Vec<DecodedEntry> {
        std::mem::take(&mut self.entries)
    }

    /// Returns the entries to apply.
    pub(crate) fn into_entries(self) -> Vec<DecodedEntry> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use uuid::Uuid;

    use super::*;
    use crate::{entry::Entry, parts::split};

    /// Returns the parts of entries of epoch 1. Each entry is given by its number and by the number
    /// of the last entry that it reports as committed.
    fn parts(entries: &[(u64, u64)]) -> Vec<Vec<EntryPart>> {
        let mut before = 0;
        let mut all = Vec::new();
        for (n, committed) in entries {
            let (cluster, shard, epoch, n, committed) = (Uuid::nil(), 0, 1, *n, *committed);
            let body = Bytes::from_static(b"body");
            let closes = false;
            let entry = Entry { cluster, shard, epoch, n, before, committed, closes, body };
            let encoded = entry.encode();
            before = encoded.checksum;
            all.push(split(n, &encoded.bytes, 30));
        }
        all
    }

    /// Reads these parts of the first segment, followed by empty segments.
    fn sealed(parts: &[EntryPart], committed: u64) -> (TailRead, Reading) {
        let settings = Settings::new(Uuid::nil(), 0, Uuid::nil(), Bytes::new());
        let epochs = Epochs { opened: 1, ends: Vec::new() };
        let mut tail_read = TailRead::new(settings, epochs, Position::default(), committed);
        let mut reading = tail_read.read(parts);
        while matches!(reading, Reading::More) {
            reading = tail_read.read(&[]);
        }
        (tail_read, reading)
    }

    #[test]
    fn an_epoch_ends_before_the_first_missing_entry() {
        let all = parts(&[(1, 0), (2, 0), (3, 1)]);
        let without_2 = [all[0].clone(), all[2].clone()].concat();
        // One part of the second entry exists: the entry still counts as missing.
        let without_a_part = [all[0].clone(), all[1][..1].to_vec(), all[2].clone()].concat();
        for (parts, end, tail) in
            [(all.concat(), 3, vec![2, 3]), (without_2, 1, vec![]), (without_a_part, 1, vec![])]
        {
            let (tail_read, reading) = sealed(&parts, 0);
            assert!(matches!(reading, Reading::Done), "{reading:?}");
            let (position, again) = tail_read.end();
            let again: Vec<u64> = again.map(|found| found.entry.n).collect();
            assert_eq!((position.n, again), (end, tail));
            assert_eq!(tail_read.ends(), [(1, end)]);
        }
    }

    /// The missing entry is known to be committed, either from an entry after it or from outside
    /// the journal.
    #[test]
    fn a_committed_entry_that_is_missing_is_no_end() {
        let all = parts(&[(1, 0), (2, 0), (3, 2)]);
        let without_2 = [all[0].clone(), all[2].clone()].concat();
        for (parts, known, end, committed) in [(without_2, 0, 1, 2), (all[0].clone(), 3, 1, 3)] {
            let (_, reading) = sealed(&parts, known);
            let Reading::Missing(missing) = reading else { panic!("{reading:?}") };
            assert_eq!(missing, MissingEntry { epoch: 1, end, committed });
        }
    }

    #[test]
    fn an_entry_that_does_not_follow_the_one_before_is_damage() {
        let other = parts(&[(2, 0)]);
        let parts = [parts(&[(1, 0)]), other].concat().concat();
        assert!(matches!(sealed(&parts, 0).1, Reading::Damaged(_)));
    }
}
