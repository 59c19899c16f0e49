//! The interface between the protocol and a shard's clock, from before a claim to the end of the
//! node's term.

use bytes::Bytes;
use cluster::ClockLowerBounds;
use store::Error;

/// A shard's clock on one node. The protocol treats checkpoints as opaque bytes.
pub trait NodeClock: Send + Sync {
    /// Returns a checkpoint of the instant at which a clock with these lower bounds would start
    /// now.
    fn begin(&self, lower_bounds: &ClockLowerBounds) -> Bytes;

    /// Starts the clock because the node owns the shard. No instant may be used before a heartbeat
    /// has carried a checkpoint.
    fn open(&self, lower_bounds: &ClockLowerBounds) -> Result<(), Error>;

    /// Returns a checkpoint for a heartbeat that is sent now.
    fn checkpoint(&self) -> Bytes;

    /// Returns whether the clock has a checkpoint that no heartbeat carries yet.
    fn has_new_checkpoint(&self) -> bool;

    /// Notes that the last heartbeat with a checkpoint was applied.
    fn confirm_checkpoint(&self);

    /// Ends the use of the clock for a release, and returns a checkpoint with the last used
    /// instant.
    fn finish(&self) -> Bytes;

    /// Stops the clock because the node no longer owns the shard.
    fn end(&self);
}
