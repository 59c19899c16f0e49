//! Makes checkpoints of a term's clock durable: a checkpoint is durable once a heartbeat of the
//! node's lease has carried it.

use std::{pin::Pin, sync::Arc};

use clock::Checkpoint;
use engine::Persist;
use store_shared::ShardClock;

/// Makes checkpoints of the clock durable by means of the lease's heartbeats.
pub(super) struct InLease(pub(super) Arc<ShardClock>);

impl Persist for InLease {
    fn persist_checkpoint(
        &self,
        checkpoint: Checkpoint,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(self.0.persist(checkpoint))
    }
}
