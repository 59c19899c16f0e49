//! A clock that is stopped at an instant.

use clock::{BootId, Checkpoint, Clock, ClockMode, ClockSource};

/// A boot ID that no machine has.
const NO_BOOT: BootId = [0xeb; 16];

/// Machine clocks that do not advance.
#[derive(Debug)]
struct StoppedClock {
    wall_ms: i64,
}

impl ClockSource for StoppedClock {
    fn boot_ns(&self) -> i64 {
        0
    }

    fn wall_ms(&self) -> i64 {
        self.wall_ms
    }
}

/// Returns a clock stopped at a backup's checkpoint.
pub(super) fn stopped_clock(at: &Checkpoint) -> Result<Clock, String> {
    let last = Checkpoint { boot_id: NO_BOOT, boot_ns: 0, wall_ms: Some(at.ms), ..*at };
    let mode = if at.manual { ClockMode::Manual } else { ClockMode::System };
    let source = Box::new(StoppedClock { wall_ms: at.ms });
    let clock = Clock::start(mode, source, NO_BOOT, Some(last));
    let clock =
        clock.map_err(|refusal| format!("cannot start the clock of the backup: {refusal:?}"))?;
    clock.mark_persisted(&clock.tick());
    Ok(clock)
}
