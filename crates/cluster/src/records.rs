//! The records of the ledger: a few bytes each, changed by compare and set alone.

use bytes::Bytes;
use secret::Secret;
use store::{Error, Kind};
use uuid::Uuid;

/// What all nodes have to agree on; never changed once it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterRecord {
    /// The format of records and entries.
    pub format: u32,
    /// Stands in each entry, so that no node takes those of another cluster for its own.
    pub id: Uuid,
    /// How many shards there are.
    pub shards: u32,
    /// `system` or `manual`.
    pub clock: String,
    /// What continuation tokens and the link between nodes are signed with.
    pub secret: Secret,
}

/// Whether a node may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Its lease is renewed by each beat.
    Up,
    /// Somebody has ended its lease: this incarnation never beats again.
    Fenced,
}

/// A node, as all see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRecord {
    /// Made with its data directory.
    pub node: Uuid,
    /// Raised by each start.
    pub incarnation: u64,
    /// Raised by each renewal of its lease.
    pub beat: u64,
    /// Whether it may go on.
    pub state: NodeState,
    /// Addresses, version and boot id; empty where the node was forgotten.
    pub about: Bytes,
    /// Of each shard that it owns.
    pub terms: Vec<TermRecord>,
}

impl NodeRecord {
    /// Whether somebody has said that this node is gone and that nobody should see it any more.
    pub fn is_forgotten(&self) -> bool {
        self.state == NodeState::Fenced && self.about.is_empty()
    }
}

/// A node's time as the owner of a shard, as of its last beat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermRecord {
    /// Which shard.
    pub shard: u32,
    /// In which epoch.
    pub epoch: u64,
    /// The last entry that was committed.
    pub committed: u64,
    /// Checkpoint of the shard's clock.
    pub clock: Bytes,
}

/// How far a claim is. Within a claim it only goes forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Claimed; the end of the epoch before is being looked for.
    Sealing,
    /// Its owner appends.
    Open,
    /// Its owner has given it up.
    Released,
}

/// A dump of the shard behind an entry, in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseRecord {
    /// Its name; no other base has had it. Never 0.
    pub id: u64,
    /// Epoch of the entry that it stands behind.
    pub epoch: u64,
    /// Where the next entry of that epoch lies.
    pub segment: u64,
    /// The number of the entry.
    pub n: u64,
    /// Its checksum.
    pub checksum: u32,
    /// How many pieces it has.
    pub pieces: u32,
    /// Bytes of all pieces.
    pub bytes: u64,
}

/// Who owns a shard, and where its epochs end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardRecord {
    /// Which shard.
    pub shard: u32,
    /// Counts its owners.
    pub epoch: u64,
    /// The attempt that made this epoch.
    pub claim: Uuid,
    /// The owner.
    pub node: Uuid,
    /// In which incarnation.
    pub incarnation: u64,
    /// How far the claim is.
    pub phase: Phase,
    /// The last epoch that was opened; 0: none.
    pub opened: u64,
    /// The last entry of each closed epoch, by epoch; and as that of epoch 0, which never was, each entry
    /// behind which a person has accepted that what was committed is missing.
    pub ends: Vec<(u64, u64)>,
    /// Where the clock of a claim begins at the least, or the final checkpoint of a release.
    pub clock: Bytes,
    /// The last two bases, the newest last. The journal is whole behind the first of them; where there is
    /// one, from its beginning on.
    pub bases: Vec<BaseRecord>,
}

impl ShardRecord {
    /// The name of the newest base, 0 where there is none.
    pub fn base(&self) -> u64 {
        self.bases.last().map_or(0, |base| base.id)
    }

    /// The ends once a person has accepted that of this epoch nothing counts behind entry `end`, and
    /// nothing of any epoch after it. Those that were set before are shortened: nothing else ever does
    /// that, so the new ends say that it was done.
    pub fn ends_cut(&self, epoch: u64, end: u64) -> Vec<(u64, u64)> {
        let mut ends = self.ends.clone();
        ends.push((self.opened, u64::MAX));
        for (_, last) in ends.iter_mut().filter(|(of, _)| epoch <= *of) {
            *last = end.min(*last);
        }
        ends.push((0, end));
        ends
    }
}

/// The version of the layouts below.
const VERSION: u8 = 1;

/// Terms as bytes: version u8, count u32, then each: shard u32, epoch u64, committed u64, length of
/// the clock u32, clock. Numbers are little-endian.
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

/// Reads what [`encode_terms`] made; `Corrupt` when it is not that.
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

/// Ends as bytes: version u8, count u32, then each: epoch u64, entry u64.
pub fn encode_ends(ends: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes = head(ends.len());
    for (epoch, n) in ends {
        bytes.extend(epoch.to_le_bytes());
        bytes.extend(n.to_le_bytes());
    }
    bytes
}

/// Reads what [`encode_ends`] made; `Corrupt` when it is not that.
pub fn decode_ends(bytes: &[u8]) -> Result<Vec<(u64, u64)>, Error> {
    let mut reader = Reader { rest: bytes };
    let ends = reader.list(|reader| {
        Some((u64::from_le_bytes(reader.array()?), u64::from_le_bytes(reader.array()?)))
    });
    ends.ok_or_else(|| damaged("ends of epochs"))
}

/// Bases as bytes: version u8, count u32, then each: id, epoch, segment and number of the entry u64,
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

/// Reads what [`encode_bases`] made; `Corrupt` when it is not that.
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

/// What is left to be read.
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

    /// All of a list, and nothing behind it.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let [version] = self.array()?;
        let count = u32::from_le_bytes(self.array()?);
        // Nothing is reserved by a count that may be noise.
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
