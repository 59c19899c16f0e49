//! What a node's part in the protocol needs of the shard's clock, from the moment before a shard is
//! claimed to the end of the node's time as its owner.

use bytes::Bytes;
use cluster::Heritage;
use store::Error;

/// The shard's clock on one node. Checkpoints are bytes to the protocol.
pub trait NodeClock: Send + Sync {
    /// Where a clock with this heritage would begin now.
    fn begin(&self, heritage: &Heritage) -> Bytes;

    /// The node owns the shard: the clock begins. Nothing may be used before a beat has carried its
    /// checkpoint.
    fn open(&self, heritage: &Heritage) -> Result<(), Error>;

    /// A checkpoint for a beat that is sent now.
    fn checkpoint(&self) -> Bytes;

    /// Whether somebody waits for a checkpoint that no beat was asked to carry yet.
    fn has_news(&self) -> bool;

    /// The last beat that asked for a checkpoint was applied.
    fn note_renewed(&self);

    /// The node gives the shard up: the last instant that was used, behind which nothing will be.
    fn finish(&self) -> Bytes;

    /// The node does not own the shard any more.
    fn end(&self);
}
