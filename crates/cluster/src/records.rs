//! The records of the ledger: a few bytes each, changed by compare-and-set only.

use bytes::Bytes;
use secret::Secret;
use store::{Error, Kind};
use uuid::Uuid;

/// Parameters on which all nodes of a cluster have to agree; immutable once initialized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterRecord {
    /// Format version of records and entries.
    pub format: u32,
    /// Id of the cluster. Each entry contains it, so that a node rejects entries of another
    /// cluster.
    pub id: Uuid,
    /// Number of shards of the cluster.
    pub shards: u32,
    /// Kind of clock: `system` or `manual`.
    pub clock: String,
    /// Key that signs continuation tokens and authenticates the link between nodes.
    pub secret: Secret,
}

/// State of an incarnation's lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Each heartbeat renews the lease.
    Up,
    /// Another node has ended the lease; this incarnation never sends a heartbeat again.
    Fenced,
}

/// The record of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRecord {
    /// Id of the node, created with its data directory.
    pub node: Uuid,
    /// Number of starts; each start increments it.
    pub incarnation: u64,
    /// Number of lease renewals in this incarnation.
    pub beat: u64,
    /// Whether the node renews its lease or was fenced.
    pub state: NodeState,
    /// Addresses, version and boot id; empty if the node was removed.
    pub about: Bytes,
    /// Terms of the shards that the node owns.
    pub terms: Vec<TermRecord>,
}

impl NodeRecord {
    /// Returns whether the node was removed by an operator and is hidden from listings.
    pub fn is_forgotten(&self) -> bool {
        self.state == NodeState::Fenced && self.about.is_empty()
    }
}

/// The state of a node's term as owner of a shard, as of its last heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermRecord {
    /// Number of the owned shard.
    pub shard: u32,
    /// Epoch in which the node owns the shard.
    pub epoch: u64,
    /// Number of the last committed entry.
    pub committed: u64,
    /// Checkpoint of the shard's clock.
    pub clock: Bytes,
}

/// Progress of a claim. Within a claim it only advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Claimed; the new owner is determining the end of the preceding epoch.
    Sealing,
    /// The owner may append entries.
    Open,
    /// The owner has released the shard.
    Released,
}

/// A dump of a shard's state after a given entry, stored in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseRecord {
    /// Unique id of the base, never 0.
    pub id: u64,
    /// Epoch of the last entry that the base contains.
    pub epoch: u64,
    /// Segment that will contain the next entry of that epoch.
    pub segment: u64,
    /// Number of the last entry that the base contains.
    pub n: u64,
    /// Checksum of the last entry in the base.
    pub checksum: u32,
    /// Number of pieces in which the base is stored.
    pub pieces: u32,
    /// Total size of the pieces in bytes.
    pub bytes: u64,
}

/// The record of a shard: its owner and the ends of its epochs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardRecord {
    /// Number of the shard, from 0.
    pub shard: u32,
    /// Number of claims so far.
    pub epoch: u64,
    /// Id of the claim that created this epoch.
    pub claim: Uuid,
    /// Id of the node that owns the shard.
    pub node: Uuid,
    /// Incarnation in which the node claimed the shard.
    pub incarnation: u64,
    /// Progress of the newest claim.
    pub phase: Phase,
    /// The last epoch that was opened; 0 if none was.
    pub opened: u64,
    /// The last entry of each closed epoch, as (epoch, entry). Pairs with epoch 0, which never
    /// existed, record accepted losses: the entry after which an operator has accepted that
    /// committed entries are missing.
    pub ends: Vec<(u64, u64)>,
    /// Lower bound of the clock, set by a claim, or the clock's final checkpoint, set by a release.
    pub clock: Bytes,
    /// The last two bases, newest last. The journal is complete after the first of them, or from
    /// its start if there is at most one.
    pub bases: Vec<BaseRecord>,
}

impl ShardRecord {
    /// Returns the id of the newest base; 0 without bases.
    pub fn base(&self) -> u64 {
        self.bases.last().map_or(0, |base| base.id)
    }

    /// Returns the new value of `ends` after an operator has accepted the loss of all entries after
    /// entry `end` of this epoch, and of all later epochs. Existing ends after `end` are shortened.
    /// Nothing else shortens an end, so the result itself records the accepted loss.
    pub fn truncated_ends(&self, epoch: u64, end: u64) -> Vec<(u64, u64)> {
        let mut ends = self.ends.clone();
        ends.push((self.opened, u64::MAX));
        for (_, last) in ends.iter_mut().filter(|(of, _)| epoch <= *of) {
            *last = end.min(*last);
        }
        ends.push((0, end));
        ends
    }
}

const VERSION: u8 = 1;

/// Encodes terms: version u8, count u32, then for each: shard u32, epoch u64, committed u64, clock
/// length u32, clock. Numbers are little-endian.
pub fn encode_terms(terms: &[TermRecord]) -> Vec<u8> {
    let mut bytes = head(terms.len());
    for term in terms {
        bytes.extend(term.shard.to_le_bytes());
        bytes.extend(term.epoch.to_le_bytes());
        bytes.extend(term.committed.to_le_bytes());
        bytes.extend(length(term.clock.len()));
        bytes.extend(&term.clock);
    }
    bytes
}

/// Decodes the output of [`encode_terms`]; fails with `Corrupt` on any other input.
pub fn decode_terms(bytes: &[u8]) -> Result<Vec<TermRecord>, Error> {
    let mut reader = Reader { rest: bytes };
    let terms = reader.list(|reader| {
        Some(TermRecord {
            shard: u32::from_le_bytes(reader.array()?),
            epoch: u64::from_le_bytes(reader.array()?),
            committed: u64::from_le_bytes(reader.array()?),
            clock: Bytes::copy_from_slice(reader.sized()?),
        })
    });
    terms.ok_or_else(|| damaged("terms"))
}

/// Encodes ends: version u8, count u32, then for each: epoch u64, entry u64.
pub fn encode_ends(ends: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes = head(ends.len());
    for (epoch, n) in ends {
        bytes.extend(epoch.to_le_bytes());
        bytes.extend(n.to_le_bytes());
    }
    bytes
}

/// Decodes the output of [`encode_ends`]; fails with `Corrupt` on any other input.
pub fn decode_ends(bytes: &[u8]) -> Result<Vec<(u64, u64)>, Error> {
    let mut reader = Reader { rest: bytes };
    let ends = reader.list(|reader| {
        Some((u64::from_le_bytes(reader.array()?), u64::from_le_bytes(reader.array()?)))
    });
    ends.ok_or_else(|| damaged("ends of epochs"))
}

/// Encodes bases: version u8, count u32, then for each: id, epoch, segment and entry number u64,
/// checksum u32, pieces u32, bytes u64.
pub fn encode_bases(bases: &[BaseRecord]) -> Vec<u8> {
    let mut bytes = head(bases.len());
    for base in bases {
        for number in [base.id, base.epoch, base.segment, base.n] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(base.checksum.to_le_bytes());
        bytes.extend(base.pieces.to_le_bytes());
        bytes.extend(base.bytes.to_le_bytes());
    }
    bytes
}

/// Decodes the output of [`encode_bases`]; fails with `Corrupt` on any other input.
pub fn decode_bases(bytes: &[u8]) -> Result<Vec<BaseRecord>, Error> {
    let mut reader = Reader { rest: bytes };
    let bases = reader.list(|reader| {
        Some(BaseRecord {
            id: u64::from_le_bytes(reader.array()?),
            epoch: u64::from_le_bytes(reader.array()?),
            segment: u64::from_le_bytes(reader.array()?),
            n: u64::from_le_bytes(reader.array()?),
            checksum: u32::from_le_bytes(reader.array()?),
            pieces: u32::from_le_bytes(reader.array()?),
            bytes: u64::from_le_bytes(reader.array()?),
        })
    });
    bases.ok_or_else(|| damaged("bases"))
}

fn damaged(what: &str) -> Error {
    Error::new(Kind::Corrupt, format!("{what} in the cluster's records are damaged"))
}

fn head(count: usize) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    bytes.extend(length(count));
    bytes
}

fn length(count: usize) -> [u8; 4] {
    u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes()
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*first)
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(u32::from_le_bytes(self.array()?)).ok()?;
        let (sized, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(sized)
    }

    /// Decodes a list, which has to end where the input ends.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let [version] = self.array()?;
        let count = u32::from_le_bytes(self.array()?);
        // The count may be corrupt, so it does not preallocate.
        let list: Option<Vec<T>> = (0..count).map(|_| item(self)).collect();
        list.filter(|_| version == VERSION && self.rest.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Vec<TermRecord> {
        let term = |shard, clock: &'static [u8]| TermRecord {
            shard,
            epoch: 7,
            committed: u64::MAX,
            clock: Bytes::from_static(clock),
        };
        vec![term(0, b""), term(u32::MAX, b"clock")]
    }

    #[test]
    fn the_secret_of_a_cluster_is_not_printed() {
        let planted = b"planted";
        let record = ClusterRecord {
            format: 1,
            id: Uuid::nil(),
            shards: 1,
            clock: "shown".to_owned(),
            secret: Secret::from_bytes(planted.to_vec()),
        };
        let text = format!("{record:?}");
        assert!(text.contains("shown") && !text.contains("planted"), "{text}");
        assert!(!text.contains(&format!("{planted:?}")), "{text}");
    }

    #[test]
    fn lists_are_read_as_they_were_written() {
        for list in [Vec::new(), terms()] {
            assert_eq!(decode_terms(&encode_terms(&list)).unwrap(), list);
        }
        let base = |id| {
            let (epoch, segment, n, checksum, pieces, bytes) = (2, 3, 4, 5, 6, u64::MAX);
            BaseRecord { id, epoch, segment, n, checksum, pieces, bytes }
        };
        for list in [vec![], vec![base(1), base(u64::MAX)]] {
            assert_eq!(decode_bases(&encode_bases(&list)).unwrap(), list);
        }
        for list in [vec![], vec![(1, 2), (u64::MAX, 0)]] {
            assert_eq!(decode_ends(&encode_ends(&list)).unwrap(), list);
        }
    }

    #[test]
    fn nothing_less_and_nothing_more_is_a_list() {
        let whole = encode_terms(&terms());
        for end in 0..whole.len() {
            assert_eq!(decode_terms(&whole[..end]).unwrap_err().kind, Kind::Corrupt, "{end}");
        }
        let mut more = whole.clone();
        more.push(0);
        assert_eq!(decode_terms(&more).unwrap_err().kind, Kind::Corrupt);
        let mut other = whole;
        other[0] = 2;
        assert_eq!(decode_terms(&other).unwrap_err().kind, Kind::Corrupt);
        let huge = [&[1][..], &[255; 4]].concat();
        assert_eq!(decode_ends(&huge).unwrap_err().kind, Kind::Corrupt);
    }
}
