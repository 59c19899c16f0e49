//! What the machines need from the node that runs them: the shard's clock, and names for claims. All
//! of it is answered at once.

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
    /// The clock in the shard's record: the last instant of a release, or where the clock of a claim
    /// was to begin at the least. Nothing where there was none.
    pub least: Bytes,
}

/// The node of a machine.
pub trait Host {
    /// Where a clock with this heritage would begin now, as a checkpoint.
    fn begin(&mut self, heritage: &Heritage, now: u64) -> Bytes;
    /// A checkpoint of the clock that runs, for a beat.
    fn checkpoint(&mut self, now: u64) -> Bytes;
    /// The last instant that was used, for a release: from here on none is.
    fn finish(&mut self, now: u64) -> Bytes;
    /// A name that no other claim has.
    fn claim(&mut self) -> Uuid;
}
