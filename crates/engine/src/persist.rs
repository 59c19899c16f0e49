//! How a moved clock becomes durable. The engine does no I/O of its own, so whoever runs it says
//! it.

use std::{future::Future, pin::Pin};

use clock::Checkpoint;

/// Makes checkpoints durable.
pub trait Persist: Send + Sync + 'static {
    /// Writes a checkpoint; returns when it is durable.
    fn persist_checkpoint(
        &self,
        checkpoint: Checkpoint,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;
}

/// Keeps checkpoints nowhere: for stores that keep nothing either.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepNothing;

impl Persist for KeepNothing {
    fn persist_checkpoint(&self, _: Checkpoint) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async { true })
    }
}
