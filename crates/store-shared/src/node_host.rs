//! The protocol's access to the node: clocks and backlogs of its shards.

use std::sync::Arc;

use bytes::Bytes;
use cluster::{Backlog, ClockLowerBounds, Host};
use uuid::Uuid;

use crate::{outstanding::Outstanding, shard_clock::NodeClock, shard_driver::ShardDriver};

/// Clock and backlog of each shard, by number.
pub(crate) struct NodeHost(Vec<(Arc<dyn NodeClock>, Arc<Outstanding>)>);

impl NodeHost {
    pub(crate) fn of(shards: &[ShardDriver]) -> Self {
        let parts =
            |shard: &ShardDriver| (Arc::clone(&shard.clock), Arc::clone(&shard.outstanding));
        Self(shards.iter().map(parts).collect())
    }

    /// Calls the clock of a shard; returns an empty checkpoint if the shard does not exist.
    fn clock(&self, shard: u32, ask: impl FnOnce(&dyn NodeClock) -> Bytes) -> Bytes {
        self.shard(shard).map(|(clock, _)| ask(&**clock)).unwrap_or_default()
    }

    fn shard(&self, shard: u32) -> Option<&(Arc<dyn NodeClock>, Arc<Outstanding>)> {
        self.0.get(usize::try_from(shard).ok()?)
    }
}

impl Host for NodeHost {
    fn begin(&mut self, shard: u32, lower_bounds: &ClockLowerBounds, _: u64) -> Bytes {
        self.clock(shard, |clock| clock.begin(lower_bounds))
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
