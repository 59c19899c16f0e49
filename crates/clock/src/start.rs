//! Computes the instant at which time resumes at startup: after every instant used before, on this
//! machine or, in
//! a cluster, on another node.

use std::sync::atomic::AtomicBool;

use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use crate::{
    Instant,
    checkpoint::{BootId, Checkpoint},
    database::{Clock, ClockMode, ClockRefusal, ClockState, STANDS_STILL, Started},
    machine::ClockSource,
    shared::{Line, SharedLine},
    steps::{ACCEPT_AFTER_MS, LEASE_MS, MAX_SLEW_PPM, MAX_STEP_MS, WallSteps},
};

/// Parameters of a clock in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterLease {
    /// Milliseconds after a checkpoint's reading of the boot clock during which time may be used.
    pub ms: i64,
    /// Earliest instant at which time resumes: the previous owner may have used everything before
    /// it.
    pub least: Instant,
}

/// Returns where time resumes within the boot of the last checkpoint, in milliseconds, and whether
/// the boot clock was rejected as implausible.
fn within_boot(last: &Checkpoint, wall: i64, boot_ns: i64, lease_ms: i64) -> (i64, bool) {
    // A boot clock never goes back, so this is a different clock and the elapsed time is unknown.
    // No instant beyond the lease was used.
    if boot_ns < last.boot_ns {
        return (last.ms.saturating_add(lease_ms), true);
    }
    let elapsed = boot_ns.saturating_sub(last.boot_ns) / 1_000_000;
    // Time may have run faster than the boot clock, but no instant beyond the lease was used, so
    // only the gain within one lease counts. Adding the gain for the whole downtime would put
    // database time 43 s ahead of the wall clock after a day.
    let gained = elapsed.min(lease_ms) / (1_000_000 / MAX_SLEW_PPM) + 1;
    let by_boot = last.ms.saturating_add(elapsed).saturating_add(gained);
    // A boot clock that shows much more elapsed time than the wall clock may be a different clock,
    // as after moving a container. Resuming too early is harmless; too late would expire live
    // documents for good.
    let by_wall = last.wall_ms.map(|at| wall.saturating_sub(at).max(0));
    match by_wall {
        Some(by_wall) if by_wall.saturating_add(MAX_STEP_MS) < elapsed => {
            (last.ms.saturating_add(by_wall.max(lease_ms)), true)
        }
        _ => (by_boot, false),
    }
}

/// Returns the mapping of the boot clock to database time until the first checkpoint is durable.
/// Until then no instant may be used.
fn first_line(mode: ClockMode, start_ms: i64, boot_ns: i64, is_leased: bool) -> Line {
    Line {
        base_ms: start_ms,
        base_ns: 0,
        boot_ns,
        ppm: if mode == ClockMode::Manual { STANDS_STILL } else { 0 },
        limit_ms: i64::MIN,
        until_ns: if is_leased { i64::MIN } else { i64::MAX },
    }
}

impl Clock {
    /// Starts a clock from the last durable checkpoint. No time may be used until the first
    /// checkpoint that [`tick`](Self::tick) returns is durable. Fails if `last` was made with the
    /// other clock mode.
    pub fn start(
        mode: ClockMode,
        source: Box<dyn ClockSource>,
        boot_id: BootId,
        last: Option<Checkpoint>,
    ) -> Result<Self, ClockRefusal> {
        Self::start_leased(mode, source, boot_id, last, None)
    }

    /// Starts a clock in a cluster, where `last` may be another node's checkpoint. In that case the
    /// caller has replaced the boot id and the boot clock reading in `last` by those of this node
    /// when it observed the checkpoint; time then resumes by this node's boot clock.
    pub fn start_leased(
        mode: ClockMode,
        source: Box<dyn ClockSource>,
        boot_id: BootId,
        last: Option<Checkpoint>,
        lease: Option<ClusterLease>,
    ) -> Result<Self, ClockRefusal> {
        let lease_ms = lease.map_or(LEASE_MS, |lease| lease.ms);
        if last.is_some_and(|last| last.manual != (mode == ClockMode::Manual)) {
            return Err(ClockRefusal::OtherMode);
        }
        let (wall, boot_ns) = (source.wall_ms(), source.boot_ns());
        let mut reap_until_ms = last.map_or(i64::MAX, |last| last.reap_until_ms);
        let mut accepted_at_ms = last.map_or(0, |last| last.accepted_at_ms);
        let mut boot_disagrees = false;
        let start_ms = match (mode, last) {
            (ClockMode::Manual, Some(last)) => last.ms,
            (ClockMode::Manual, None) => wall.div_euclid(1000).saturating_mul(1000),
            (ClockMode::System, None) => wall,
            (ClockMode::System, Some(last)) if last.boot_id == boot_id => {
                let start_ms;
                (start_ms, boot_disagrees) = within_boot(&last, wall, boot_ns, lease_ms);
                start_ms
            }
            (ClockMode::System, Some(last)) => {
                // After a reboot the boot clock does not show how long the machine was off. No
                // instant beyond the lease was used.
                let least = last.ms.saturating_add(lease_ms);
                // Either the machine was off for long or its wall clock is wrong, so rows that
                // expire because of this gap are not reaped yet.
                if least.saturating_add(MAX_STEP_MS) < wall {
                    reap_until_ms = reap_until_ms.min(least);
                    accepted_at_ms = wall.saturating_add(ACCEPT_AFTER_MS);
                }
                wall.max(least)
            }
        };
        let start_ms = lease.map_or(start_ms, |lease| start_ms.max(lease.least.ms));
        let line = first_line(mode, start_ms, boot_ns, lease.is_some());
        let state = ClockState {
            steps: WallSteps::default(),
            boot_id,
            number: last.map_or(0, |last| last.number),
            reap_until_ms,
            accepted_at_ms,
            watched: None,
            keeps_pace: true,
            boot_disagrees,
            started: Started {
                last: last.map(|last| Instant { ms: last.ms }),
                at: Instant { ms: start_ms },
            },
        };
        Ok(Self {
            mode,
            lease_ms,
            is_leased: lease.is_some(),
            ended: AtomicBool::new(false),
            source,
            shared: SharedLine::new(line),
            state: Mutex::new(state),
            renewed: Condvar::new(),
            renewed_async: Notify::new(),
        })
    }
}
