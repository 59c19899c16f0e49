//! What a node may ask of the ledger, and what it hears. The rules of who asks what, and when, are not
//! here: they are the same for every ledger.
//!
//! | kind | how it is done | when no answer comes |
//! |---|---|---|
//! | a read | at a quorum | asked again |
//! | a swap | compare and set, linearizable per register | it may still be done later: asked again under a condition that makes a repeat nothing |
//! | a write of entries | at a quorum; the same key always has the same bytes | written again with the same bytes |

use std::future::Future;

use bytes::Bytes;
use uuid::Uuid;

use crate::records::{BaseRecord, ClusterRecord, NodeRecord, Phase, ShardRecord, TermRecord};

/// A piece of an entry's bytes: large entries are stored in several, which together are the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPart {
    /// Number of the entry, dense over all epochs, from 1.
    pub n: u64,
    /// From 0; each part says in its first byte whether another follows (the ledger does not look).
    pub part: u32,
    /// Its bytes.
    pub body: Bytes,
}

/// What a node asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The record of the cluster. Answer: [`Reply::Cluster`].
    ReadCluster,
    /// Makes the record of the cluster if there is none. Answer: [`Reply::Swapped`].
    MakeCluster(ClusterRecord),
    /// Puts a record in the place of one that is not finished, if that has this id. Whoever makes a cluster
    /// in several steps names his attempt by it.
    ReplaceCluster {
        /// The id in the record.
        before: Uuid,
        /// The record from then on.
        record: ClusterRecord,
    },
    /// All nodes. Answer: [`Reply::Nodes`].
    ReadNodes,
    /// A node comes up: makes its record with incarnation 1, or raises `before`, the incarnation that it
    /// was seen with, by one and sets beat 0 and state up, whatever its state was. Its terms stay.
    Enter {
        /// Which node.
        node: Uuid,
        /// The incarnation in its record, 0 where it has none.
        before: u64,
        /// What others should know: addresses, version, boot id.
        about: Bytes,
    },
    /// Renews a node's lease: beat + 1 and new terms, if its record has this incarnation and beat and
    /// is up.
    Beat {
        /// Which node.
        node: Uuid,
        /// Its incarnation.
        incarnation: u64,
        /// The beat that its record has.
        beat: u64,
        /// For each shard that it owns.
        terms: Vec<TermRecord>,
    },
    /// Ends a node's lease for good: sets its state to fenced, if its record has this incarnation and
    /// beat and is up.
    Fence {
        /// Whose lease ends.
        node: Uuid,
        /// The incarnation that was seen.
        incarnation: u64,
        /// The beat that was seen for so long.
        beat: u64,
    },
    /// Takes a node that is gone out of the lists: its lease ends for good as by a fence, and its record
    /// says nothing of itself any more ([`NodeRecord::is_forgotten`]), if it has this incarnation and beat,
    /// whatever its state. The record stays, with its terms, so that no incarnation is ever there twice: a
    /// node that comes back enters as the next one. To ask again is to do the same again.
    Forget {
        /// Which node.
        node: Uuid,
        /// The incarnation that was seen.
        incarnation: u64,
        /// The beat that was seen for so long.
        beat: u64,
    },
    /// The record of a shard, at a quorum: the check of an owner before it acknowledges. Answer:
    /// [`Reply::Shard`].
    ReadShard {
        /// Which shard.
        shard: u32,
    },
    /// The same, read so that every swap that was answered before is seen.
    ReadShardSerial {
        /// Which shard.
        shard: u32,
    },
    /// Makes the record of a shard with epoch 0, phase released and nothing in it, if there is none.
    MakeShard {
        /// Which shard.
        shard: u32,
    },
    /// Claims a shard: epoch `before` + 1, this claim, node and incarnation, phase sealing, this clock,
    /// if its epoch is `before`.
    Claim {
        /// Which shard.
        shard: u32,
        /// The epoch that it has.
        before: u64,
        /// Names this attempt.
        claim: Uuid,
        /// Who claims it.
        node: Uuid,
        /// In which incarnation.
        incarnation: u64,
        /// Where the clock of this term begins at the least.
        clock: Bytes,
    },
    /// Sets the claim to what it is, if it is this one and the phase is sealing: once it was answered
    /// `done`, a quorum has the claim.
    Confirm {
        /// Which shard.
        shard: u32,
        /// The claim.
        claim: Uuid,
    },
    /// Opens a claimed shard: adds the end of the epoch opened before to `ends`, sets `opened` to the
    /// claim's epoch and the phase to open, if this is the claim and the phase is sealing.
    Open {
        /// Which shard.
        shard: u32,
        /// The claim.
        claim: Uuid,
        /// Its epoch.
        epoch: u64,
        /// All ends, those of before included.
        ends: Vec<(u64, u64)>,
    },
    /// Gives a shard up: phase released and the final clock, if this is the claim and the phase is open.
    Release {
        /// Which shard.
        shard: u32,
        /// The claim.
        claim: Uuid,
        /// The last checkpoint of its clock.
        clock: Bytes,
    },
    /// Puts a base in force: sets the bases, the new one last, if the newest has this name.
    SetBase {
        /// Which shard.
        shard: u32,
        /// The name of the newest base, 0 where there is none.
        before: u64,
        /// All bases from then on.
        bases: Vec<BaseRecord>,
    },
    /// Writes a piece of a base at a quorum. Answer: [`Reply::Written`].
    PutPiece {
        /// Whose base.
        shard: u32,
        /// Its name.
        base: u64,
        /// Counted from 0.
        piece: u32,
        /// Its bytes.
        body: Bytes,
    },
    /// Reads a piece of a base. Answer: [`Reply::Piece`].
    LoadPiece {
        /// Whose base.
        shard: u32,
        /// Its name.
        base: u64,
        /// Which piece.
        piece: u32,
    },
    /// Lets a segment of the journal go for good: what is written to it later is never read. Answer:
    /// [`Reply::Written`].
    DropSegment {
        /// Whose journal.
        shard: u32,
        /// Which epoch's.
        epoch: u64,
        /// Which segment.
        segment: u64,
    },
    /// The same of a piece of a base.
    DropPiece {
        /// Whose base.
        shard: u32,
        /// Its name.
        base: u64,
        /// Which piece.
        piece: u32,
    },
    /// Writes parts of entries at a quorum. Answer: [`Reply::Written`].
    Append {
        /// Whose journal.
        shard: u32,
        /// By the owner of this epoch.
        epoch: u64,
        /// A part of the journal that is let go as a whole.
        segment: u64,
        /// All parts of one or more entries.
        parts: Vec<EntryPart>,
    },
    /// Reads the entries of a segment after entry `after`, in order, of about `limit` bytes: of each all
    /// parts that are there, and at least one entry where there is one. What lies between two entries of
    /// an answer is not there. Answer: [`Reply::Parts`].
    ReadEntries {
        /// Whose journal.
        shard: u32,
        /// Which epoch's.
        epoch: u64,
        /// Which segment of it.
        segment: u64,
        /// The entries behind this number.
        after: u64,
        /// Bytes after which no more are wanted.
        limit: usize,
    },
}

/// What the ledger answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The record of the cluster, if there is one.
    Cluster(Option<ClusterRecord>),
    /// All nodes.
    Nodes(Vec<NodeRecord>),
    /// The record of a shard, if there is one.
    Shard(Option<ShardRecord>),
    /// What came of a swap.
    Swapped(Swapped),
    /// A quorum has what was written.
    Written,
    /// Parts of entries in the order of their numbers.
    Parts(Vec<EntryPart>),
    /// A piece of a base, if all of it is there.
    Piece(Option<Bytes>),
}

/// What came of a swap that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swapped {
    /// Its condition held and it was done; or, of a request that names a claim, an earlier asking of the
    /// same had done it ([`Request::is_done_in`]).
    Done,
    /// Its condition did not hold. With what the record showed then or later, where there is one: a
    /// beat, a fence or an entering that got no answer may have been done all the same, and whoever asks
    /// again sees it here.
    Refused(Option<Record>),
}

/// A record of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The cluster's.
    Cluster(ClusterRecord),
    /// A node's.
    Node(NodeRecord),
    /// A shard's.
    Shard(ShardRecord),
}

impl Request {
    /// Whether a record shows that this very request was done, although its condition no longer holds:
    /// only of requests that name a claim, which nobody else makes. Of a beat the record would show it
    /// too, but it must not be answered as done: its lease counts from the asking that did it.
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

/// No answer came in time, or one that says as much: what was asked may be done, may never be, or may
/// be done later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered(
    /// What went wrong, for logs.
    pub String,
);

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unanswered {}

/// Where records and entries are kept.
pub trait Ledger: Send + Sync + 'static {
    /// Does what is asked. It may be dropped while it waits: then nobody knows whether it is done.
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
