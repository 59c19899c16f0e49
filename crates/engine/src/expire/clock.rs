//! Moves of a manual clock: durable before they are in force, one after the other. A clock that
//! moves with the machine cannot be moved.

use std::sync::Arc;

use clock::{ClockRefusal, Instant};
use store::Store;

use crate::engine::Engine;

impl<S: Store> Engine<S> {
    /// The turn of whoever moves a manual clock by some time: what it reads of the clock stands until it has
    /// moved it, so that two moves by a minute are two minutes.
    pub async fn clock_turn(&self) -> impl Drop + '_ {
        self.inner.clock_turns.lock().await
    }

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
