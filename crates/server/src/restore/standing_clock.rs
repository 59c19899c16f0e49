//! A clock that stands at one instant.

use clock::{BootId, Checkpoint, Clock, ClockMode, ClockSource};

/// A boot that no machine has.
const NO_BOOT: BootId = [0xeb; 16];

/// A machine on which no time passes.
#[derive(Debug)]
struct Standing {
    wall_ms: i64,
}

impl ClockSource for Standing {
    fn boot_ns(&self) -> i64 {
        0
    }

    fn wall_ms(&self) -> i64 {
        self.wall_ms
    }
}

/// A clock that stands where a copy's checkpoint says.
pub(super) fn standing_clock(at: &Checkpoint) -> Result<Clock, String> {
    let last = Checkpoint { boot_id: NO_BOOT, boot_ns: 0, wall_ms: Some(at.ms), ..*at };
    let mode = if at.manual { ClockMode::Manual } else { ClockMode::System };
    let source = Box::new(Standing { wall_ms: at.ms });
    let clock = Clock::start(mode, source, NO_BOOT, Some(last));
    let clock = clock.map_err(|refusal| format!("the clock of the backup: {refusal:?}"))?;
    clock.mark_persisted(&clock.tick());
    Ok(clock)
}
