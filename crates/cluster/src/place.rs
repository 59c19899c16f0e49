//! Places in a journal: behind which entry a tree stands, where the next one lies, and the reading of
//! what a ledger answered.

use bytes::Bytes;
use store::{Error, Kind};

use crate::{
    entry::Entry,
    parts::join,
    records::{BaseRecord, ShardRecord},
    request::EntryPart,
    settings::Settings,
};

/// Behind which entry a tree stands. It is kept with the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The epoch of the entry.
    pub epoch: u64,
    /// Where the next entry of that epoch lies.
    pub segment: u64,
    /// The number of the entry, 0 before the first.
    pub n: u64,
    /// Its checksum.
    pub checksum: u32,
}

impl Place {
    /// Where a base stands.
    pub fn of(base: &BaseRecord) -> Self {
        let BaseRecord { epoch, segment, n, checksum, .. } = *base;
        Self { epoch, segment, n, checksum }
    }

    /// Behind an entry of this segment.
    pub(crate) fn behind(found: &Found) -> Self {
        let entry = &found.entry;
        let segment = found.segment + u64::from(entry.closes);
        Self { epoch: entry.epoch, segment, n: entry.n, checksum: found.checksum }
    }

    /// Epoch and segment of the entry behind this place.
    pub(crate) fn next(&self, epochs: &Epochs) -> (u64, u64) {
        let (epoch, _) = epochs.of_next(self.n);
        (epoch, if epoch == self.epoch { self.segment } else { 0 })
    }
}

/// Which entries belong to which epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Epochs {
    /// The last that was opened; 0: none.
    pub(crate) opened: u64,
    /// The last entry of each closed one.
    pub(crate) ends: Vec<(u64, u64)>,
}

impl Epochs {
    /// As a shard's record has them.
    pub(crate) fn of(record: &ShardRecord) -> Self {
        Self { opened: record.opened, ends: record.ends.clone() }
    }

    /// The epoch of the entry behind number `n`, and its end if it is closed.
    pub(crate) fn of_next(&self, n: u64) -> (u64, Option<u64>) {
        let closed = self.ends.iter().find(|(_, end)| n < *end);
        closed.map_or((self.opened, None), |(epoch, end)| (*epoch, Some(*end)))
    }

    /// Whether a tree may stand here: nothing counts behind the end of a closed epoch.
    pub(crate) fn admit(&self, tree: Place) -> bool {
        let of_tree = |(epoch, _): &&(u64, u64)| *epoch == tree.epoch && *epoch != 0;
        let end = self.ends.iter().find(of_tree);
        tree.epoch <= self.opened && end.is_none_or(|(_, end)| tree.n <= *end)
    }

    /// Whether a person has accepted that what was committed behind this place, or a later one, is missing.
    pub(crate) fn is_cut_behind(&self, tree: Place) -> bool {
        self.ends.iter().any(|(epoch, end)| *epoch == 0 && tree.n <= *end)
    }

    /// Whether an entry of this epoch and number can be one that counts.
    pub(crate) fn holds(&self, epoch: u64, n: u64) -> bool {
        n.checked_sub(1).is_some_and(|before| self.of_next(before).0 == epoch)
    }
}

impl ShardRecord {
    /// The newest base that counts. One of an owner that was cut off for long may be put in force after a
    /// person has given up what it has.
    pub fn newest_base(&self) -> Option<&BaseRecord> {
        self.bases.iter().rfind(|base| self.admits(Place::of(base)))
    }

    /// Whether a base or a tree may stand here: nothing counts behind the end of a closed epoch.
    pub fn admits(&self, place: Place) -> bool {
        Epochs::of(self).admit(place)
    }
}

/// A committed entry is missing in the journal; only a person may accept that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingEntry {
    /// The epoch it was in.
    pub epoch: u64,
    /// Up to where the epoch can be read.
    pub end: u64,
    /// Up to where it was committed.
    pub committed: u64,
}

impl std::fmt::Display for MissingEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { epoch, end, committed } = self;
        let n = end + 1;
        write!(f, "entry {n} of epoch {epoch} is missing in the cluster's journal; ")?;
        write!(f, "all up to entry {committed} of that epoch were committed")
    }
}

/// An entry that was read.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Where it was.
    pub(crate) segment: u64,
    /// What it says.
    pub(crate) entry: Entry,
    /// Its bytes, as they were written.
    pub(crate) bytes: Bytes,
    /// Their checksum.
    pub(crate) checksum: u32,
}

/// The whole entries among the parts of a segment. An error when one is damaged or not of this
/// cluster, shard and epoch.
pub(crate) fn found(
    settings: &Settings,
    epoch: u64,
    segment: u64,
    parts: &[EntryPart],
) -> Result<Vec<Found>, Error> {
    let one = |(n, bytes): (u64, Bytes)| {
        let (entry, checksum) = Entry::decode(&bytes)?;
        let here = (settings.cluster, settings.shard, epoch, n);
        if (entry.cluster, entry.shard, entry.epoch, entry.n) != here {
            let text = format!("entry {n} of epoch {epoch} in the ledger is another's");
            return Err(Error::new(Kind::Corrupt, text));
        }
        Ok(Found { segment, entry, bytes, checksum })
    };
    join(parts).into_iter().map(one).collect()
}

/// The error of a tree that is ahead of the journal.
pub(crate) fn ahead(tree: Place) -> Error {
    let text = format!("the tree has entry {} of epoch {}, the ledger has not", tree.n, tree.epoch);
    Error::new(Kind::Corrupt, text)
}

/// The error of a tree that may have what a person has accepted to be lost.
pub(crate) fn unsure(tree: Place) -> Error {
    let text = format!(
        "the tree has entry {} of epoch {}, and may have some behind it that were given up since",
        tree.n, tree.epoch
    );
    Error::new(Kind::Corrupt, text)
}

/// The error of an entry that does not follow the one before it.
pub(crate) fn broken_chain(entry: &Entry) -> Error {
    let text = format!("entry {} of epoch {} does not follow the one before", entry.n, entry.epoch);
    Error::new(Kind::Corrupt, text)
}
