//! The database clock: reading time, periodic ticks, checkpoints, acceptance of jumps, and moves of
//! a manual clock.
//!
//! Database time never goes back, within a process or across restarts. The caller makes a
//! checkpoint durable every half second, and no instant more than [`LEASE_MS`] beyond the last
//! durable checkpoint may be used. A restart resumes at the last checkpoint plus that lease, which
//! is later than every instant used before.
//!
//! ```text
//!  checkpoint 100.0 ──────────── lease ──▶ 102.0    time runs from 100.0, up to 102.0 at most
//!           checkpoint 101.0 ───── lease ──▶ 103.0
//!                       × the machine stops at 101.7
//!  next boot:                          103.0 ──▶    101.0 + lease, or a later wall clock
//! ```
//!
//! After a restart within the same boot, the boot clock gives the time that has passed.
//!
//! In a cluster a checkpoint also renews a lease that other nodes observe: once the boot clock is
//! one lease past the checkpoint's reading, no time may be used, since another node may have taken
//! over. A checkpoint that becomes durable late therefore extends nothing. When the node loses
//! ownership, its clock is ended ([`Clock::end`]) and waiting calls fail.
//!
//! When the wall clock is ahead, database time follows it: by slewing up to half a second, at once
//! for a small step, and after ten minutes for a larger step (a *jump*), which may be an error.
//! Rows that a jump makes expire are not reaped for a day unless an operator accepts the jump. When
//! the wall clock is behind, database time runs slower until both agree.

use std::{sync::atomic::AtomicBool, time::Duration};

use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use crate::{
    Instant,
    checkpoint::{BootId, Checkpoint},
    machine::ClockSource,
    shared::{Line, SharedLine},
    steps::{ACCEPT_AFTER_MS, WallDecision, WallSteps},
};

/// Longest time between two clock readings that are still treated as simultaneous.
const TOGETHER: Duration = Duration::from_millis(100);

/// The rate of a manual clock, in parts per million. The clock stands still, since it advances only
/// on request.
pub(crate) const STANDS_STILL: i64 = -1_000_000;

/// Mode in which the time of a clock advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockMode {
    /// The clock follows the machine's clocks.
    System,
    /// Advances only by explicit moves.
    Manual,
}

/// Reason why a clock could not be moved or started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockRefusal {
    /// Only a manual clock can be moved.
    SystemClock,
    /// The move would set time back.
    Backwards {
        /// Database time, before which the clock cannot be set.
        now: Instant,
    },
    /// The data directory was last used with the other clock mode, which must not change.
    OtherMode,
    /// The move could not be made durable, so it is not in effect.
    NotDurable,
}

/// The clock's state for `/status` and the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStatus {
    /// Whether the clock is a manual one.
    pub mode: ClockMode,
    /// Database time when the status was read.
    pub now: Instant,
    /// Wall clock minus database time, milliseconds.
    pub offset_ms: i64,
    /// Whether a large step of the wall clock waits to be confirmed.
    pub unconfirmed: bool,
    /// Rows that expired after this instant must not be reaped yet, because a jump of the wall
    /// clock is not accepted.
    pub reap_until: Option<Instant>,
    /// Whether time may be used; while it may not, operations wait for a checkpoint.
    pub running: bool,
    /// Whether database time has advanced at the rate of an independent clock.
    pub keeps_pace: bool,
    /// Whether, at the start, the boot clock was earlier than the last checkpoint's reading, or
    /// showed much more elapsed time than the wall clock; the boot clock was then not used.
    pub boot_disagrees: bool,
    /// The point at which database time resumed at the last start.
    pub started: Started,
}

/// The point at which database time resumed at startup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Database time of the last checkpoint before the start; `None` at the first start.
    pub last: Option<Instant>,
    /// The first instant of the clock after it was started.
    pub at: Instant,
}

impl Started {
    /// Returns how long the database was down in database time, milliseconds; 0 at the first start.
    pub fn off_ms(&self) -> i64 {
        self.last.map_or(0, |last| self.at.since_ms(last).max(0))
    }
}

/// Clock readings at the last comparison of the clocks' rates, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateSample {
    monotonic: i64,
    boot: i64,
    database: i64,
}

/// State of the clock that only the ticking thread and status requests use.
#[derive(Debug)]
pub(crate) struct ClockState {
    pub(crate) steps: WallSteps,
    /// Boot id of the machine.
    pub(crate) boot_id: BootId,
    /// Number of the last checkpoint.
    pub(crate) number: u64,
    /// While a jump of the wall clock is not accepted, rows that expired after this instant are not
    /// reaped.
    pub(crate) reap_until_ms: i64,
    /// Database time at which a jump of the wall clock that is not accepted yet is accepted
    /// automatically.
    pub(crate) accepted_at_ms: i64,
    pub(crate) watched: Option<RateSample>,
    pub(crate) keeps_pace: bool,
    pub(crate) boot_disagrees: bool,
    pub(crate) started: Started,
}

/// The database clock, shared by all threads. See the module's documentation.
#[derive(Debug)]
pub struct Clock {
    pub(crate) mode: ClockMode,
    /// Time by which the clock may advance beyond a durable checkpoint, in milliseconds.
    pub(crate) lease_ms: i64,
    /// Whether checkpoints renew a cluster lease.
    pub(crate) is_leased: bool,
    pub(crate) ended: AtomicBool,
    pub(crate) source: Box<dyn ClockSource>,
    pub(crate) shared: SharedLine,
    /// State behind a lock, which remains usable after a panic of a lock holder: no statement
    /// leaves the state inconsistent.
    pub(crate) state: Mutex<ClockState>,
    pub(crate) renewed: Condvar,
    pub(crate) renewed_async: Notify,
}

impl Clock {
    /// Returns how the clock advances.
    pub fn mode(&self) -> ClockMode {
        self.mode
    }

    /// Returns database time, or `None` while a checkpoint is overdue and after the clock has
    /// ended.
    pub fn try_now(&self) -> Option<Instant> {
        let reading = self.shared.read_now(&*self.source);
        // Checked last, so that no instant read after the end is returned.
        (reading.is_usable && !self.has_ended()).then_some(Instant { ms: reading.now_ms })
    }

    /// Returns the latest instant that may have been used: database time, capped at the lease's
    /// limit.
    pub fn last_used(&self) -> Instant {
        Instant { ms: self.shared.read_now(&*self.source).last_ms }
    }

    /// Compares database time with the wall clock and returns the checkpoint to make durable now.
    /// Call it every half second, and pass the checkpoint to
    /// [`mark_persisted`](Self::mark_persisted) once written.
    pub fn tick(&self) -> Checkpoint {
        let now = Instant { ms: self.shared.read_now(&*self.source).now_ms };
        if self.mode == ClockMode::Manual {
            return self.checkpoint_at(now.ms);
        }
        let wall = self.source.wall_ms();
        let boot_ms = self.source.boot_ns() / 1_000_000;
        let decision = self.state.lock().steps.decide_step(wall.saturating_sub(now.ms), boot_ms);
        match decision {
            WallDecision::Slew(ppm) => self.run_at(ppm),
            WallDecision::Unconfirmed => self.run_at(0),
            // Time advances to the checkpoint once that is durable; see `mark_persisted`.
            WallDecision::Step => return self.checkpoint_at(wall),
            WallDecision::Jump => {
                let mut state = self.state.lock();
                // The jump is unconfirmed, so rows it makes expire stay on disk for a day.
                if !state.steps.is_accepted() {
                    state.reap_until_ms = state.reap_until_ms.min(now.ms);
                    state.accepted_at_ms = wall.saturating_add(ACCEPT_AFTER_MS);
                }
                drop(state);
                return self.checkpoint_at(wall);
            }
        }
        self.checkpoint_at(now.ms)
    }

    /// Changes the rate of time from now on.
    fn run_at(&self, ppm: i64) {
        let _state = self.state.lock();
        self.shared.change_line(&*self.source, |line, boot_ns| {
            let (base_ms, base_ns) = line.time_at(boot_ns);
            Line { base_ms, base_ns, boot_ns, ppm, ..line }
        });
    }

    /// Returns the next checkpoint, which has this database time in milliseconds.
    pub(crate) fn checkpoint_at(&self, ms: i64) -> Checkpoint {
        let mut state = self.state.lock();
        state.number += 1;
        if state.accepted_at_ms <= ms {
            state.reap_until_ms = i64::MAX;
        }
        Checkpoint {
            number: state.number,
            boot_id: state.boot_id,
            boot_ns: self.source.boot_ns(),
            ms,
            reap_until_ms: state.reap_until_ms,
            accepted_at_ms: state.accepted_at_ms,
            manual: self.mode == ClockMode::Manual,
            wall_ms: Some(self.source.wall_ms()),
        }
    }

    /// Returns a checkpoint for a copy of the data, such as a backup. No instant after the
    /// checkpoint has been used. It has no boot id, so a start from it proceeds as after a reboot.
    pub fn checkpoint_of_copy(&self) -> Checkpoint {
        let ms = self.last_used().ms;
        let state = self.state.lock();
        Checkpoint {
            number: 1,
            boot_id: BootId::default(),
            boot_ns: 0,
            ms,
            reap_until_ms: state.reap_until_ms,
            accepted_at_ms: state.accepted_at_ms,
            manual: self.mode == ClockMode::Manual,
            wall_ms: Some(self.source.wall_ms()),
        }
    }

    /// Records that a checkpoint is durable: time may be used up to one lease beyond it. If the
    /// checkpoint is ahead of database time (a step or a move), time advances to it.
    pub fn mark_persisted(&self, checkpoint: &Checkpoint) {
        let mut state = self.state.lock();
        let mut adopted = None;
        self.shared.change_line(&*self.source, |line, boot_ns| {
            let (now, ns) = line.time_at(boot_ns);
            let ahead = now < checkpoint.ms;
            adopted = Some((checkpoint.ms.saturating_sub(now), boot_ns / 1_000_000));
            let manual = self.mode == ClockMode::Manual;
            let lease = if manual { 0 } else { self.lease_ms };
            let leased_ns = self.lease_ms.saturating_mul(1_000_000);
            let until_ns = match self.is_leased {
                // The lease runs from when the checkpoint was made, not from when its write
                // completed.
                true => line.until_ns.max(checkpoint.boot_ns.saturating_add(leased_ns)),
                false => i64::MAX,
            };
            Line {
                base_ms: now.max(checkpoint.ms),
                base_ns: if ahead { 0 } else { ns },
                boot_ns,
                // Checkpoints may become durable out of order; the limit only rises.
                limit_ms: line.limit_ms.max(checkpoint.ms.saturating_add(lease)),
                until_ns,
                ..line
            }
        });
        if let Some((size_ms, boot_ms)) = adopted {
            state.steps.record_adopted(size_ms, boot_ms);
        }
        drop(state);
        self.renewed.notify_all();
        self.renewed_async.notify_waiters();
    }

    /// Accepts a waiting step of the wall clock, and allows reaping of rows that a jump made
    /// expire.
    pub fn accept_jump(&self) {
        let mut state = self.state.lock();
        state.steps.accept();
        state.reap_until_ms = i64::MAX;
    }

    /// Returns the reaping limit: rows that were live at this instant must not be reaped yet.
    pub fn reap_until(&self) -> Instant {
        let state = self.state.lock();
        let unconfirmed = state.steps.is_unconfirmed();
        let until = Instant { ms: state.reap_until_ms };
        drop(state);
        if unconfirmed { until.min(self.last_used()) } else { until }
    }

    /// Compares the rates of database time and of the boot clock with an independent clock, and
    /// returns whether they agree; if not, the server reports that it is not ready. Steps of the
    /// wall clock cannot hide a stalled boot clock, because at most a minute of steps is adopted
    /// per window.
    pub fn check_pace(&self, monotonic: impl Fn() -> Duration) -> bool {
        if self.mode == ClockMode::Manual {
            return true;
        }
        let begun = monotonic();
        let database = self.last_used().ms;
        let boot = self.source.boot_ns() / 1_000_000;
        let ended = monotonic();
        let mut state = self.state.lock();
        // The process was suspended between the readings, so they are not comparable.
        if TOGETHER < ended.saturating_sub(begun) {
            return state.keeps_pace;
        }
        let monotonic = i64::try_from(begun.as_millis()).unwrap_or(i64::MAX);
        if let Some(then) = state.watched {
            let elapsed = monotonic.saturating_sub(then.monotonic);
            if elapsed < 1000 {
                return state.keeps_pace;
            }
            let passed = database.saturating_sub(then.database).min(boot.saturating_sub(then.boot));
            state.keeps_pace = elapsed / 2 <= passed;
        }
        state.watched = Some(RateSample { monotonic, boot, database });
        state.keeps_pace
    }

    /// Returns the clock's state for status pages and metrics.
    pub fn status(&self) -> ClockStatus {
        let now = self.last_used();
        let state = self.state.lock();
        ClockStatus {
            mode: self.mode,
            now,
            offset_ms: self.source.wall_ms().saturating_sub(now.ms),
            unconfirmed: state.steps.is_unconfirmed(),
            reap_until: (state.reap_until_ms != i64::MAX)
                .then_some(Instant { ms: state.reap_until_ms }),
            running: self.try_now().is_some(),
            keeps_pace: state.keeps_pace,
            boot_disagrees: state.boot_disagrees,
            started: state.started,
        }
    }
}

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
