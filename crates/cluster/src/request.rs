//! Requests to the ledger and its replies. Who sends which request, and when, is not defined here:
//! these types are the same for every ledger.
//!
//! | kind | how it is done | when no reply arrives |
//! |---|---|---|
//! | a read | at a quorum | sent again |
//! | a swap | compare-and-set, linearizable per register | it may still be applied later: sent again under a condition that makes a repeat a no-op |
//! | a write of entries | at a quorum; the same key always has the same bytes | written again with the same bytes |

use std::future::Future;

use bytes::Bytes;
use uuid::Uuid;

use crate::records::{BaseRecord, ClusterRecord, NodeRecord, Phase, ShardRecord, TermRecord};

/// A part of an encoded entry. A large entry is stored in several parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPart {
    /// Number of the entry, dense over all epochs, from 1.
    pub n: u64,
    /// Index of the part, from 0. The first byte of the body is 1 if another part follows, else 0;
    /// the ledger does not read it.
    pub part: u32,
    /// Bytes of the part, with the leading marker byte.
    pub body: Bytes,
}

/// A request of a node to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Reads the cluster record. Reply: [`Reply::Cluster`].
    ReadCluster,
    /// Creates the cluster record if none exists. Reply: [`Reply::Swapped`].
    MakeCluster(ClusterRecord),
    /// Replaces the cluster record if it has the id `before`. A multi-step initialization marks its
    /// unfinished record with that id.
    ReplaceCluster {
        /// Expected id of the stored record.
        before: Uuid,
        /// The record to store instead.
        record: ClusterRecord,
    },
    /// Reads all node records. Reply: [`Reply::Nodes`].
    ReadNodes,
    /// Starts an incarnation of a node: creates its record with incarnation 1, or increments
    /// `before`, the incarnation last read, and sets heartbeat 0 and state up, even if the node was
    /// fenced. The terms are kept.
    Enter {
        /// Id of the node that starts.
        node: Uuid,
        /// Incarnation in the stored record; 0 without a record.
        before: u64,
        /// Metadata for other nodes: addresses, version, boot id.
        about: Bytes,
    },
    /// Renews a node's lease: increments the heartbeat and replaces the terms if the record has
    /// this incarnation and heartbeat and is up.
    Beat {
        /// Id of the node that renews.
        node: Uuid,
        /// Incarnation that the stored record must have.
        incarnation: u64,
        /// Heartbeat number that the stored record must have.
        beat: u64,
        /// The terms of all shards that the node owns.
        terms: Vec<TermRecord>,
    },
    /// Ends a node's lease permanently: sets the state to fenced if the record has this incarnation
    /// and heartbeat and is up.
    Fence {
        /// Id of the node to fence.
        node: Uuid,
        /// Incarnation that the stored record must have.
        incarnation: u64,
        /// Expected heartbeat. The sender has seen it unchanged for the duration of the lease and
        /// the margin.
        beat: u64,
    },
    /// Removes a dead node from all listings: fences it and clears its metadata
    /// ([`NodeRecord::is_forgotten`]) if the record has this incarnation and heartbeat, in any
    /// state. The record and its terms are kept so that no incarnation number is used twice: a node
    /// that returns takes its lease with the next one. Idempotent.
    Forget {
        /// Id of the node to remove.
        node: Uuid,
        /// Incarnation that the stored record must have.
        incarnation: u64,
        /// Heartbeat number that the stored record must have.
        beat: u64,
    },
    /// Reads a shard record at a quorum; owners use it to verify their epoch before they
    /// acknowledge. Reply: [`Reply::Shard`].
    ReadShard {
        /// Number of the shard to read.
        shard: u32,
    },
    /// Reads a shard record serially, so that every swap acknowledged before is visible. Reply:
    /// [`Reply::Shard`].
    ReadShardSerial {
        /// Number of the shard to read.
        shard: u32,
    },
    /// Creates an empty shard record with epoch 0 and phase released if none exists.
    MakeShard {
        /// Number of the shard to create.
        shard: u32,
    },
    /// Claims a shard: sets epoch `before` + 1, claim, node, incarnation, clock and phase sealing
    /// if the epoch is `before`.
    Claim {
        /// Number of the shard to claim.
        shard: u32,
        /// Epoch that the stored record must have.
        before: u64,
        /// Unique id of this attempt.
        claim: Uuid,
        /// Id of the claiming node.
        node: Uuid,
        /// Incarnation of the claiming node.
        incarnation: u64,
        /// Lower bound of the clock in the new term.
        clock: Bytes,
    },
    /// Rewrites the record unchanged if it has this claim and is in phase sealing. Once the request
    /// is acknowledged, a quorum has the claim.
    Confirm {
        /// Number of the claimed shard.
        shard: u32,
        /// Claim that the stored record must have.
        claim: Uuid,
    },
    /// Opens a claimed shard: records where the earlier epochs end, sets `opened` to the claimed
    /// epoch and the phase to open, if the record has this claim and is in phase sealing.
    Open {
        /// Number of the claimed shard.
        shard: u32,
        /// Claim that the stored record must have.
        claim: Uuid,
        /// Epoch of the claim, stored as `opened`.
        epoch: u64,
        /// Numbers of the last entries of all closed epochs, including the epoch that precedes the
        /// claimed one.
        ends: Vec<(u64, u64)>,
    },
    /// Releases a shard: stores the final clock and sets phase released, if the record has this
    /// claim and is in phase open.
    Release {
        /// Number of the shard to release.
        shard: u32,
        /// Claim that the stored record must have.
        claim: Uuid,
        /// Final checkpoint of the shard's clock.
        clock: Bytes,
    },
    /// Publishes a base, a copy of the shard's data as of one entry: replaces the list of bases if
    /// the newest one has the id `before`.
    SetBase {
        /// The shard whose bases are set.
        shard: u32,
        /// Expected id of the newest base in the record; 0 without a base.
        before: u64,
        /// The new list of bases, newest last.
        bases: Vec<BaseRecord>,
    },
    /// Writes a piece of a base (a copy of the shard's data as of one entry) at a quorum. Reply:
    /// [`Reply::Written`].
    PutPiece {
        /// Number of the shard that the base belongs to.
        shard: u32,
        /// Id of the base that contains the piece.
        base: u64,
        /// Index of the piece, from 0.
        piece: u32,
        /// Content of the piece, in bytes.
        body: Bytes,
    },
    /// Reads a piece of a base. Reply: [`Reply::Piece`].
    LoadPiece {
        /// Number of the shard that the base belongs to.
        shard: u32,
        /// Id of the base that contains the piece.
        base: u64,
        /// Index of the piece, from 0.
        piece: u32,
    },
    /// Deletes a segment of the journal permanently: later writes to it are never read. Reply:
    /// [`Reply::Written`].
    DropSegment {
        /// Number of the shard that the segment belongs to.
        shard: u32,
        /// Epoch that the segment belongs to.
        epoch: u64,
        /// Number of the segment to delete.
        segment: u64,
    },
    /// Deletes a piece of a base permanently. Reply: [`Reply::Written`].
    DropPiece {
        /// Number of the shard that the base belongs to.
        shard: u32,
        /// Id of the base that contains the piece.
        base: u64,
        /// Index of the piece, from 0.
        piece: u32,
    },
    /// Writes parts of entries at a quorum. Reply: [`Reply::Written`].
    Append {
        /// Number of the shard that the entries belong to.
        shard: u32,
        /// Epoch of the writing owner.
        epoch: u64,
        /// Segment that the entries are written to; the journal is deleted by segments.
        segment: u64,
        /// All parts of one or more entries.
        parts: Vec<EntryPart>,
    },
    /// Reads the entries of a segment after entry `after`, in order, up to about `limit` bytes:
    /// every stored part of each, and at least one entry if any exists. A number skipped in the
    /// reply does not exist. Reply: [`Reply::Parts`].
    ReadEntries {
        /// Number of the shard whose journal is read.
        shard: u32,
        /// Epoch that the segment belongs to.
        epoch: u64,
        /// Number of the segment to read.
        segment: u64,
        /// Number after which entries are returned.
        after: u64,
        /// Size in bytes after which no further entry is returned.
        limit: usize,
    },
}

/// A reply of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The cluster record, if it exists.
    Cluster(Option<ClusterRecord>),
    /// The records of all nodes.
    Nodes(Vec<NodeRecord>),
    /// A shard record, if it exists.
    Shard(Option<ShardRecord>),
    /// The outcome of a compare-and-swap request.
    Swapped(Swapped),
    /// A quorum has the write.
    Written,
    /// Parts of entries in the order of their numbers.
    Parts(Vec<EntryPart>),
    /// A piece of a base; `None` if it is not complete.
    Piece(Option<Bytes>),
}

/// Outcome of an acknowledged compare-and-swap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swapped {
    /// The condition held and the swap was applied, by this or, for requests that carry a unique
    /// id, by an earlier attempt ([`Request::is_done_in`]).
    Done,
    /// The condition did not hold. Contains the record as it was then or later, if known. A
    /// heartbeat, fence or enter request that got no reply may have been applied nevertheless; when
    /// it is repeated, this record shows whether it was.
    Refused(Option<Record>),
}

/// A record of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The record of the cluster.
    Cluster(ClusterRecord),
    /// The record of a node.
    Node(NodeRecord),
    /// The record of a shard.
    Shard(ShardRecord),
}

impl Request {
    /// Returns whether `record` shows that this request was applied although its condition no
    /// longer holds. True only for requests that carry a unique id (a claim, a cluster or a base).
    /// A heartbeat is excluded, because its lease starts with the attempt that was applied.
    pub fn is_done_in(&self, record: &Record) -> bool {
        let shown = match (record, self) {
            (Record::Shard(shown), _) => shown,
            (Record::Cluster(shown), Self::ReplaceCluster { record, .. }) => {
                return shown == record;
            }
            _ => return false,
        };
        match self {
            Self::Claim { before, claim, .. } => {
                shown.claim == *claim && Some(shown.epoch) == before.checked_add(1)
            }
            Self::Confirm { claim, .. } => shown.claim == *claim && shown.phase != Phase::Released,
            Self::Open { claim, epoch, .. } => shown.claim == *claim && shown.opened == *epoch,
            Self::Release { claim, .. } => shown.claim == *claim && shown.phase == Phase::Released,
            Self::SetBase { bases, .. } => bases.last().is_some_and(|base| base.id == shown.base()),
            _ => false,
        }
    }
}

/// The error of a request without a reply in time, or with an inconclusive reply: the request may
/// have been applied, may be applied later, or may never be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered(
    /// The cause as text, for logs.
    pub String,
);

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unanswered {}

/// A replicated store of records and entries.
pub trait Ledger: Send + Sync + 'static {
    /// Executes a request. If the future is dropped before it completes, the outcome is unknown.
    fn execute(&self, request: Request) -> impl Future<Output = Result<Reply, Unanswered>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_shows_what_its_claim_did_and_nothing_else() {
        let (mine, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let clock = Bytes::new();
        let shown = |claim, epoch, opened, phase| {
            Record::Shard(ShardRecord {
                shard: 0,
                epoch,
                claim,
                node: mine,
                incarnation: 1,
                phase,
                opened,
                ends: Vec::new(),
                clock: Bytes::new(),
                bases: Vec::new(),
            })
        };
        let (shard, claim, epoch) = (0, mine, 5);
        let requests = [
            Request::Claim {
                shard,
                before: 4,
                claim,
                node: mine,
                incarnation: 1,
                clock: clock.clone(),
            },
            Request::Confirm { shard, claim },
            Request::Open { shard, claim, epoch, ends: Vec::new() },
            Request::Release { shard, claim, clock },
            Request::MakeShard { shard },
            Request::Beat { node: mine, incarnation: 1, beat: 0, terms: Vec::new() },
        ];
        let rows = [
            (shown(mine, 5, 3, Phase::Sealing), [true, true, false, false, false, false]),
            (shown(mine, 5, 5, Phase::Open), [true, true, true, false, false, false]),
            (shown(mine, 5, 5, Phase::Released), [true, false, true, true, false, false]),
            (shown(other, 5, 5, Phase::Released), [false; 6]),
        ];
        for (record, expected) in rows {
            let found = requests.each_ref().map(|request| request.is_done_in(&record));
            assert_eq!(found, expected, "{record:?}");
        }
    }
}
