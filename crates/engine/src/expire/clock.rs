//! Moves of a manual clock: durable before they are in force, one after the other. A clock that
//! moves with the machine cannot be moved.

use std::sync::Arc;

use clock::{ClockRefusal, Instant};
use store::Store;

use crate::engine::Engine;

impl<S: Store> Engine<S> {
    /// Moves a manual clock; returns when the move is durable and in force.
    pub async fn move_clock(&self, to: Instant) -> Result<Instant, ClockRefusal> {
        let _one_at_a_time = self.inner.moving.lock().await;
        let clock = self.inner.clock();
        let checkpoint = clock.move_to(to)?;
        let persist = Arc::clone(&self.inner.persist);
        if !persist.persist_checkpoint(checkpoint).await {
            return Err(ClockRefusal::NotDurable);
        }
        clock.mark_persisted(&checkpoint);
        Ok(clock.last_used())
    }
}
