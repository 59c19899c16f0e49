//! What a node's part in the protocol needs of the shard's clock, from the moment before a shard is
//! claimed to the end of the node's time as its owner.

use std::sync::Arc;

use bytes::Bytes;
use cluster::{Backlog, Heritage, Host};
use store::Error;
use uuid::Uuid;

use crate::{outstanding::Outstanding, shard_driver::ShardDriver};

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

/// The node as the protocol sees it: clock and backlog of each shard, by number.
pub(crate) struct NodeHost(Vec<(Arc<dyn NodeClock>, Arc<Outstanding>)>);

impl NodeHost {
    pub(crate) fn of(shards: &[ShardDriver]) -> Self {
        let parts =
            |shard: &ShardDriver| (Arc::clone(&shard.clock), Arc::clone(&shard.outstanding));
        Self(shards.iter().map(parts).collect())
    }

    /// Asks the clock of a shard, which is one of those that the node has.
    fn clock(&self, shard: u32, ask: impl FnOnce(&dyn NodeClock) -> Bytes) -> Bytes {
        self.shard(shard).map(|(clock, _)| ask(&**clock)).unwrap_or_default()
    }

    fn shard(&self, shard: u32) -> Option<&(Arc<dyn NodeClock>, Arc<Outstanding>)> {
        self.0.get(usize::try_from(shard).ok()?)
    }
}

impl Host for NodeHost {
    fn begin(&mut self, shard: u32, heritage: &Heritage, _: u64) -> Bytes {
        self.clock(shard, |clock| clock.begin(heritage))
    }

    fn checkpoint(&mut self, shard: u32, _: u64) -> Bytes {
        self.clock(shard, |clock| clock.checkpoint())
    }

    fn finish(&mut self, shard: u32, _: u64) -> Bytes {
        self.clock(shard, |clock| clock.finish())
    }

    fn claim(&mut self) -> Uuid {
        Uuid::new_v4()
    }

    fn backlog(&self, shard: u32) -> Backlog {
        self.shard(shard).map(|(_, outstanding)| outstanding.backlog()).unwrap_or_default()
    }
}
