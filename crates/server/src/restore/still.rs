//! Stores and clocks that stand: a store that takes no commits, a clock at one instant.

use std::sync::Arc;

use clock::{BootId, Checkpoint, Clock, ClockMode, ClockSource};
use store::{Error, Timepiece};
use store_tree::{TreeOptions, TreeStore};

/// A boot that no machine has.
const NO_BOOT: BootId = [0xeb; 16];

/// Nothing is stamped.
struct NoTime;

impl Timepiece for NoTime {
    fn now_ms(&self) -> i64 {
        0
    }

    fn monotonic_ns(&self) -> u64 {
        0
    }
}

/// Opens the store of a server of its own so that it takes no commits; entries may be applied to it.
pub(crate) fn open_still(options: &TreeOptions) -> Result<TreeStore, Error> {
    TreeStore::open_on(options, Arc::new(options.journal_folder()), Arc::new(NoTime), false)
}

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
