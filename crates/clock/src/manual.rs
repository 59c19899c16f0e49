//! Moves of a clock that stands still: checked here, durable before they are adopted.

use crate::{
    checkpoint::Checkpoint,
    database::{Clock, ClockMode, ClockRefusal},
    instant::Instant,
};

impl Clock {
    /// The checkpoint that would move a manual clock to `to`. Make it durable, then pass it to
    /// [`Clock::mark_persisted`]; moves have to be made one after the other.
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
