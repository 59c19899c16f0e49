//! Moves of a manual clock: serialized, and durable before they take effect. A system clock cannot
//! be moved.

use std::sync::Arc;

use clock::{ClockRefusal, Instant};

use crate::engine::Engine;

impl Engine {
    /// Locks the clock for a relative move: the time that the caller reads stays current until the
    /// caller has moved the clock, so that two concurrent moves by a minute add up to two minutes.
    pub async fn clock_turn(&self) -> impl Drop + '_ {
        self.inner.clock_turns.lock().await
    }

    /// Moves a manual clock; returns when the move is durable and in effect.
    pub async fn move_clock(&self, to: Instant) -> Result<Instant, ClockRefusal> {
        let _one_at_a_time = self.inner.moving.lock().await;
        let clock = self.inner.clock();
        let checkpoint = clock.move_to(to)?;
        let persist = Arc::clone(&self.inner.persist);
        if !persist.persist_checkpoint(checkpoint).await {
            return Err(ClockRefusal::NotDurable);
        }
        clock.mark_persisted(&checkpoint);
        // Documents may have expired.
        self.inner.changes().wake_all();
        Ok(clock.last_used())
    }
}
