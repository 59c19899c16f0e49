//! Positions in a journal, the assignment of entries to epochs, and the decoding of entries that a
//! ledger returned.

use bytes::Bytes;
use store::{Error, Kind};

use crate::{
    entry::Entry,
    parts::join,
    records::{BaseRecord, ShardRecord},
    request::EntryPart,
    settings::Settings,
};

/// A position in a journal, directly after an entry. A node stores the position of its local tree
/// together with the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Epoch of the preceding entry.
    pub epoch: u64,
    /// Segment that will contain the next entry of the epoch.
    pub segment: u64,
    /// Number of the preceding entry; 0 before the first.
    pub n: u64,
    /// Checksum of the preceding entry; 0 before the first.
    pub checksum: u32,
}

impl Position {
    /// Returns the position of the last entry contained in a base.
    pub fn from_base(base: &BaseRecord) -> Self {
        let BaseRecord { epoch, segment, n, checksum, .. } = *base;
        Self { epoch, segment, n, checksum }
    }

    /// Returns the position directly after an entry.
    pub(crate) fn after(found: &DecodedEntry) -> Self {
        let entry = &found.entry;
        let segment = found.segment + u64::from(entry.closes);
        Self { epoch: entry.epoch, segment, n: entry.n, checksum: found.checksum }
    }

    /// Returns epoch and segment of the entry after this position.
    pub(crate) fn next(&self, epochs: &Epochs) -> (u64, u64) {
        let (epoch, _) = epochs.of_next(self.n);
        (epoch, if epoch == self.epoch { self.segment } else { 0 })
    }
}

/// The mapping of entry numbers to epochs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Epochs {
    /// The last opened epoch; 0 if none was opened.
    pub(crate) opened: u64,
    /// The last entry of each closed epoch, as (epoch, entry).
    pub(crate) ends: Vec<(u64, u64)>,
}

impl Epochs {
    /// Reads the epochs from a shard record.
    pub(crate) fn from_record(record: &ShardRecord) -> Self {
        Self { opened: record.opened, ends: record.ends.clone() }
    }

    /// Returns the epoch of the entry after number `n`, and the epoch's end if it is closed.
    pub(crate) fn of_next(&self, n: u64) -> (u64, Option<u64>) {
        let closed = self.ends.iter().find(|(_, end)| n < *end);
        closed.map_or((self.opened, None), |(epoch, end)| (*epoch, Some(*end)))
    }

    /// Returns whether a tree at this position is part of the shard's committed history: entries
    /// after the end of a closed epoch are not.
    pub(crate) fn admit(&self, tree: Position) -> bool {
        let of_tree = |(epoch, _): &&(u64, u64)| *epoch == tree.epoch && *epoch != 0;
        let end = self.ends.iter().find(of_tree);
        tree.epoch <= self.opened && end.is_none_or(|(_, end)| tree.n <= *end)
    }

    /// Returns whether an operator has accepted the loss of entries at or after the position of a
    /// tree. Such a tree may have applied entries that are lost for all other nodes.
    pub(crate) fn has_loss_after(&self, tree: Position) -> bool {
        self.ends.iter().any(|(epoch, end)| *epoch == 0 && tree.n <= *end)
    }

    /// Returns whether an entry of this epoch and number can be part of the shard's committed
    /// history, by the ends of all epochs.
    pub(crate) fn holds(&self, epoch: u64, n: u64) -> bool {
        n.checked_sub(1).is_some_and(|before| self.of_next(before).0 == epoch)
    }
}

impl ShardRecord {
    /// Returns the newest base that is part of the shard's committed history. An owner that was cut
    /// off for long may still publish a base after an operator has accepted the loss of entries
    /// that the base contains.
    pub fn newest_base(&self) -> Option<&BaseRecord> {
        self.bases.iter().rfind(|base| self.admits(Position::from_base(base)))
    }

    /// Returns whether a base or tree at this position contains only entries of the shard's
    /// committed history.
    pub fn admits(&self, position: Position) -> bool {
        Epochs::from_record(self).admit(position)
    }
}

/// A committed entry that is missing in the journal; only an operator may accept the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingEntry {
    /// Epoch that the missing entry belongs to.
    pub epoch: u64,
    /// Last entry of the epoch that can be read.
    pub end: u64,
    /// Last entry of the epoch that is known to be committed.
    pub committed: u64,
}

impl std::fmt::Display for MissingEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { epoch, end, committed } = self;
        let n = end + 1;
        write!(f, "entry {n} of epoch {epoch} is missing in the cluster's journal; ")?;
        write!(f, "all entries up to {committed} of that epoch were committed")
    }
}

/// A decoded entry of the journal.
#[derive(Clone, Debug)]
pub(crate) struct DecodedEntry {
    pub(crate) segment: u64,
    pub(crate) entry: Entry,
    /// The encoded entry, as written.
    pub(crate) bytes: Bytes,
    pub(crate) checksum: u32,
}

/// Decodes the complete entries among the parts of a segment. Fails with `Corrupt` if one is
/// damaged or belongs to another cluster, shard, epoch or number.
pub(crate) fn found(
    settings: &Settings,
    epoch: u64,
    segment: u64,
    parts: &[EntryPart],
) -> Result<Vec<DecodedEntry>, Error> {
    let one = |(n, bytes): (u64, Bytes)| {
        let (entry, checksum) = Entry::decode(&bytes)?;
        let here = (settings.cluster, settings.shard, epoch, n);
        if (entry.cluster, entry.shard, entry.epoch, entry.n) != here {
            let text = format!("entry {n} of epoch {epoch} in the ledger is from another node");
            return Err(Error::new(Kind::Corrupt, text));
        }
        Ok(DecodedEntry { segment, entry, bytes, checksum })
    };
    join(parts).into_iter().map(one).collect()
}

/// Returns the error for a tree that is ahead of the journal.
pub(crate) fn ahead_error(tree: Position) -> Error {
    let text =
        format!("the tree has entry {} of epoch {}, but the ledger does not", tree.n, tree.epoch);
    Error::new(Kind::Corrupt, text)
}

/// Returns the error for a tree that may contain entries whose loss an operator has accepted.
pub(crate) fn divergence_error(tree: Position) -> Error {
    let text = format!(
        "the tree has entry {} of epoch {}, and perhaps later entries that were discarded",
        tree.n, tree.epoch
    );
    Error::new(Kind::Corrupt, text)
}

/// Returns the error for an entry that does not have the checksum of its predecessor.
pub(crate) fn broken_chain(entry: &Entry) -> Error {
    let text =
        format!("entry {} of epoch {} does not follow the previous one", entry.n, entry.epoch);
    Error::new(Kind::Corrupt, text)
}
