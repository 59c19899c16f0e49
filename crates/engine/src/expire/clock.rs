//! Moves of a manual clock. The engine does no I/O of its own, so whoever runs it says how a
//! checkpoint becomes durable.

use std::{future::Future, pin::Pin, sync::Arc};

use clock::{Checkpoint, Instant, Refused};
use store::Store;

use crate::Engine;

/// Makes checkpoints durable.
pub trait Persist: Send + Sync + 'static {
    /// Writes a checkpoint; answers when it is durable.
    fn persist(&self, checkpoint: Checkpoint) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;
}

/// Keeps checkpoints nowhere: for stores that keep nothing either.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepNothing;

impl Persist for KeepNothing {
    fn persist(&self, _: Checkpoint) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async { true })
    }
}

impl<S: Store> Engine<S> {
    /// Moves a manual clock; answers when the move is durable and in force.
    pub async fn move_clock(&self, to: Instant) -> Result<Instant, Refused> {
        let _one_at_a_time = self.inner.moving.lock().await;
        let clock = &self.inner.clock;
        let checkpoint = clock.move_to(to)?;
        let persist = Arc::clone(&self.inner.persist);
        if persist.persist(checkpoint).await {
            clock.persisted(&checkpoint);
        }
        Ok(clock.last())
    }
}
