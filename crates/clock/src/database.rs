//! The clock itself: start, now, tick, checkpoints, acceptance of jumps.
//!
//! Database time never goes back, in a process or across restarts. Whoever runs the clock makes a
//! checkpoint durable about once a second, and no instant more than [`LEASE_MS`] beyond the last
//! one may be used: a start that goes on at the last checkpoint plus that lease is later than
//! anything that was used before.
//!
//! ```text
//!  checkpoint 100.0 ──────────── lease ──▶ 102.0    time runs from 100.0, up to 102.0 at most
//!           checkpoint 101.0 ───── lease ──▶ 103.0
//!                       × the machine stops at 101.7
//!  next boot:                          103.0 ──▶    101.0 + lease, or a later wall clock
//! ```
//!
//! After a start within the same boot the boot clock says how much time has passed.
//!
//! In a cluster a checkpoint is a lease too, that others see renewed: no time may be used from one
//! lease behind the reading of the boot clock that the checkpoint has, since another node may then go
//! on. A checkpoint that becomes durable late lengthens nothing. When the node's time as an owner ends,
//! so does its clock ([`Clock::end`]), for whoever waits too.
//!
//! Where the wall clock is ahead, time follows it: slowly for half a second, at once for a small
//! step, after ten minutes for a larger one, which may be a mistake. What a jump makes expire is
//! kept from the reaper for a day, unless somebody accepts it. Where the wall clock is behind, time
//! runs slower until both agree.

use std::{sync::atomic::AtomicBool, time::Duration};

use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use crate::{
    checkpoint::{BootId, Checkpoint},
    instant::Instant,
    machine::ClockSource,
    shared::{Line, SharedLine},
    steps::{ACCEPT_AFTER_MS, WallDecision, WallSteps},
};

/// Within which clocks are read one after the other for a comparison.
const TOGETHER: Duration = Duration::from_millis(100);

/// The rate of a manual clock, parts per million.
pub(crate) const STANDS_STILL: i64 = -1_000_000;

/// How a clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockMode {
    /// With the machine's clocks.
    System,
    /// Only when told.
    Manual,
}

/// Why a clock was not moved or not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockRefusal {
    /// Only a manual clock can be moved.
    SystemClock,
    /// Time never goes back.
    Backwards {
        /// Where the clock stands.
        now: Instant,
    },
    /// The data directory was used with the other kind of clock.
    OtherMode,
    /// The move could not be made durable, and so is not in force.
    NotDurable,
}

/// What `/status` and the metrics tell about the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStatus {
    /// Its mode.
    pub mode: ClockMode,
    /// Database time.
    pub now: Instant,
    /// Wall clock minus database time, milliseconds.
    pub offset_ms: i64,
    /// A step of the wall clock waits to be confirmed.
    pub unconfirmed: bool,
    /// What lies behind this instant must not be reaped yet because of a jump.
    pub reap_until: Option<Instant>,
    /// Time may be used; otherwise operations wait for a checkpoint.
    pub running: bool,
    /// Database time has kept pace with an independent clock.
    pub keeps_pace: bool,
    /// At the start the boot clock was not the one of the last checkpoint: it was behind it, or said
    /// that far more time had passed than the wall clock did.
    pub boot_disagrees: bool,
    /// Where time went on at the start.
    pub started: Started,
}

/// Where time went on at a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// The last checkpoint before; `None` at the first start.
    pub last: Option<Instant>,
    /// The first instant.
    pub at: Instant,
}

impl Started {
    /// How long the database was off by its own time, milliseconds; 0 at the first start.
    pub fn off_ms(&self) -> i64 {
        self.last.map_or(0, |last| self.at.since_ms(last).max(0))
    }
}

/// Clocks at the last check of the watchdog, milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    monotonic: i64,
    boot: i64,
    database: i64,
}

/// What only the thread that ticks, and whoever asks for a status, looks at.
#[derive(Debug)]
pub(crate) struct ClockState {
    pub(crate) steps: WallSteps,
    /// Of this boot of the machine.
    pub(crate) boot_id: BootId,
    /// Of the last checkpoint.
    pub(crate) number: u64,
    /// What expired later than this is not reaped, because a jump waits to be accepted.
    pub(crate) reap_until_ms: i64,
    /// Database time at which it counts as accepted by itself.
    pub(crate) accepted_at_ms: i64,
    pub(crate) watched: Option<Watched>,
    pub(crate) keeps_pace: bool,
    pub(crate) boot_disagrees: bool,
    pub(crate) started: Started,
}

/// The database clock.
#[derive(Debug)]
pub struct Clock {
    pub(crate) mode: ClockMode,
    /// How far beyond a durable checkpoint time may be used, milliseconds.
    pub(crate) lease_ms: i64,
    /// Whether a checkpoint is a lease that others watch.
    pub(crate) is_leased: bool,
    pub(crate) ended: AtomicBool,
    pub(crate) source: Box<dyn ClockSource>,
    pub(crate) shared: SharedLine,
    /// It is whole after each statement, so that a holder that panics leaves nothing by halves.
    pub(crate) state: Mutex<ClockState>,
    pub(crate) renewed: Condvar,
    pub(crate) renewed_async: Notify,
}

impl Clock {
    /// How it moves.
    pub fn mode(&self) -> ClockMode {
        self.mode
    }

    /// Database time, or `None` while a checkpoint is overdue and operations have to wait, and after the
    /// clock's end.
    pub fn try_now(&self) -> Option<Instant> {
        let reading = self.shared.read_now(&*self.source);
        // Looked at last: nobody uses an instant that was read after the end.
        (reading.is_usable && !self.has_ended()).then_some(Instant { ms: reading.now_ms })
    }

    /// The latest instant that may have been used: time itself, held at the limit.
    pub fn last_used(&self) -> Instant {
        Instant { ms: self.shared.read_now(&*self.source).last_ms }
    }

    /// Compares with the wall clock and returns the checkpoint to make durable now. Call it about
    /// once a second and pass what was written to [`mark_persisted`](Self::mark_persisted).
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
            // Time goes on from the checkpoint once it is durable; see `mark_persisted`.
            WallDecision::Step => return self.checkpoint_at(wall),
            WallDecision::Jump => {
                let mut state = self.state.lock();
                // Nobody has said that the jump is right: what it makes expire stays on disk for a
                // day.
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

    /// Lets time run on from here at another rate.
    fn run_at(&self, ppm: i64) {
        let _state = self.state.lock();
        self.shared.change_line(&*self.source, |line, boot_ns| {
            let (base_ms, base_ns) = line.time_at(boot_ns);
            Line { base_ms, base_ns, boot_ns, ppm, ..line }
        });
    }

    /// The next checkpoint, at this database time.
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

    /// Where time stands, for a copy of the data: no instant behind it was used so far. It is of no boot
    /// of a machine, so a start on it goes on as after one of another boot.
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

    /// A checkpoint is durable: time may be used up to a lease beyond it, and where it lies ahead
    /// of time (a step, a move) time goes on from it.
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
                // By the clock of when it was asked for, not of when it was answered.
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
            state.steps.note_adopted(size_ms, boot_ms);
        }
        drop(state);
        self.renewed.notify_all();
        self.renewed_async.notify_waiters();
    }

    /// An operator accepts a step that waits, and lets what a jump made expire be reaped.
    pub fn accept_jump(&self) {
        let mut state = self.state.lock();
        state.steps.accept();
        state.reap_until_ms = i64::MAX;
    }

    /// Nothing that was live at this instant may be reaped yet.
    pub fn reap_until(&self) -> Instant {
        let state = self.state.lock();
        let unconfirmed = state.steps.is_unconfirmed();
        let until = Instant { ms: state.reap_until_ms };
        drop(state);
        if unconfirmed { until.min(self.last_used()) } else { until }
    }

    /// Compares the pace of time, and of the boot clock that it goes by, with an independent clock;
    /// `false` turns readiness red. Steps of the wall clock do not make up for a boot clock that
    /// stands still, as no more than a minute of them is followed.
    pub fn check_pace(&self, monotonic: impl Fn() -> Duration) -> bool {
        if self.mode == ClockMode::Manual {
            return true;
        }
        let begun = monotonic();
        let database = self.last_used().ms;
        let boot = self.source.boot_ns() / 1_000_000;
        let ended = monotonic();
        let mut state = self.state.lock();
        // The process was stopped in between: these readings are not of one moment.
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
        state.watched = Some(Watched { monotonic, boot, database });
        state.keeps_pace
    }

    /// For status pages and metrics.
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
