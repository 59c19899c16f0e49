//! Makes moves of the clock durable. The engine does no I/O, so the program that uses it provides
//! this.

use std::{future::Future, pin::Pin};

use clock::Checkpoint;

/// Stores clock checkpoints so that they survive a crash.
pub trait Persist: Send + Sync + 'static {
    /// Writes a checkpoint; returns whether it is durable.
    fn persist_checkpoint(
        &self,
        checkpoint: Checkpoint,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;
}

/// Discards checkpoints, for stores without durability.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiscardCheckpoints;

impl Persist for DiscardCheckpoints {
    fn persist_checkpoint(&self, _: Checkpoint) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async { true })
    }
}
