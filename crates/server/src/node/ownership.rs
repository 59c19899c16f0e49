//! A term's clock as the engine sees it: a checkpoint is durable once a beat of the node's lease has
//! carried it.

use std::{pin::Pin, sync::Arc};

use clock::Checkpoint;
use engine::Persist;
use store_shared::ShardClock;

/// Has checkpoints carried by the lease.
pub(super) struct InLease(pub(super) Arc<ShardClock>);

impl Persist for InLease {
    fn persist_checkpoint(
        &self,
        checkpoint: Checkpoint,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(self.0.persist(checkpoint))
    }
}
