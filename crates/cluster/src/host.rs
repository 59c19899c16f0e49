//! Services that the state machines need from their node: shard clocks, claim ids and the backlog
//! of the trees. All calls return immediately.

use bytes::Bytes;
use uuid::Uuid;

use crate::records::TermRecord;

/// Lower bounds of the clock that a new owner continues. The new clock starts no earlier than any
/// of these bounds, so that no instant is used twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockLowerBounds {
    /// Last checkpoint of the preceding owner, and this node's boot clock when the heartbeat that
    /// carried it was first seen. That owner used no instant later than the checkpoint plus the
    /// lease.
    pub beat: Option<(TermRecord, u64)>,
    /// Whether this node has observed a renewal of the checkpoint. The checkpoint was then made
    /// shortly before it was first seen. Otherwise its age is unknown: the cluster may have been
    /// down for days.
    pub seen_alive: bool,
    /// Whether the preceding owner released the shard; if so, it used no instant later than
    /// `least`.
    pub released: bool,
    /// Clock in the shard record: the final instant of a release, or the lower bound of a claim.
    /// Empty if neither exists.
    pub least: Bytes,
}

/// Committed entries that were handed out but are not applied to the tree yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of entries that are not applied yet.
    pub entries: u64,
    /// Total size of the entries' bodies in bytes.
    pub bytes: u64,
}

/// The node that runs the state machines. Each shard has its own clock and tree.
pub trait Host {
    /// Returns a checkpoint of the instant at which a clock with these lower bounds would start
    /// now.
    fn begin(&mut self, shard: u32, lower_bounds: &ClockLowerBounds, now: u64) -> Bytes;
    /// Returns a checkpoint of the running clock, for a heartbeat.
    fn checkpoint(&mut self, shard: u32, now: u64) -> Bytes;
    /// Returns the last used instant, for a release. The clock hands out no instant afterwards.
    fn finish(&mut self, shard: u32, now: u64) -> Bytes;
    /// Returns a unique claim id.
    fn claim(&mut self) -> Uuid;
    /// Returns the backlog of the shard's tree; a follower stops reading while it is large.
    fn backlog(&self, _shard: u32) -> Backlog {
        Backlog::default()
    }
}
