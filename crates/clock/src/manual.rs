//! Moves of a manual clock. A move is validated here and takes effect once it is durable.

use crate::{
    checkpoint::Checkpoint,
    database::{Clock, ClockMode, ClockRefusal},
    instant::Instant,
};

impl Clock {
    /// Returns the checkpoint that moves a manual clock to `to`. Make it durable, then pass it to
    /// [`Clock::mark_persisted`]. Moves must not run concurrently. Fails on a system clock and when
    /// `to` is in the past.
    pub fn move_to(&self, to: Instant) -> Result<Checkpoint, ClockRefusal> {
        if self.mode() != ClockMode::Manual {
            return Err(ClockRefusal::SystemClock);
        }
        let now = self.last_used();
        if to < now {
            return Err(ClockRefusal::Backwards { now });
        }
        Ok(self.checkpoint_at(to.ms))
    }
}
