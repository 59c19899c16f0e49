//! What the machines need from the node that runs them: clocks of shards, names for claims, and how far
//! trees are behind. All of it is answered at once.

use bytes::Bytes;
use uuid::Uuid;

use crate::records::TermRecord;

/// What is known of the clock that a new owner goes on with. It begins no earlier than any of these
/// says, so that no instant comes twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heritage {
    /// The last checkpoint of the owner before, and the boot clock of this node when the beat that
    /// carried it was first seen. That owner used no instant behind the checkpoint plus the lease.
    pub beat: Option<(TermRecord, u64)>,
    /// Whether this node has seen it renewed, so that it was made about when it was first seen. Otherwise
    /// only a record was read, and nobody knows how old it is: the cluster may have been off for days.
    pub seen_alive: bool,
    /// Whether the owner before gave the shard up: then it used no instant behind `least`.
    pub released: bool,
    /// The clock in the shard's record: the last instant of a release, or where the clock of a claim
    /// was to begin at the least. Nothing where there was none.
    pub least: Bytes,
}

/// What was told to be committed and is not in the tree yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Entries.
    pub entries: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
}

/// The node of a machine. Each shard has a clock and a tree of its own.
pub trait Host {
    /// Where a clock with this heritage would begin now, as a checkpoint.
    fn begin(&mut self, shard: u32, heritage: &Heritage, now: u64) -> Bytes;
    /// A checkpoint of the clock that runs, for a beat.
    fn checkpoint(&mut self, shard: u32, now: u64) -> Bytes;
    /// The last instant that was used, for a release: from here on none is.
    fn finish(&mut self, shard: u32, now: u64) -> Bytes;
    /// A name that no other claim has.
    fn claim(&mut self) -> Uuid;
    /// How far its tree is behind what it was told; a follower reads no further while that is much.
    fn backlog(&self, _shard: u32) -> Backlog {
        Backlog::default()
    }
}
