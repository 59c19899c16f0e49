//! The database clock: a single source of time that never goes back, within a process or across
//! restarts. It does no I/O: the caller loads checkpoints, ticks the clock, writes the checkpoints
//! it returns and reports when they are durable. No other crate reads the machine's clocks.

mod checkpoint;
mod database;
mod machine;
mod shared;
mod start;
mod steps;
mod waiting;

pub use checkpoint::{BootId, Checkpoint};
pub use database::{Clock, ClockMode, ClockRefusal, ClockStatus, Started};
pub use machine::{ClockSource, Machine, monotonic_time, thread_time, wall_ms};
pub use start::ClusterLease;
pub use steps::{LEASE_MS, MAX_STEP_MS, STEP_WINDOW_MS};
pub use waiting::ClockEnded;

use std::fmt;

/// A point of database time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant {
    /// Milliseconds since the Unix epoch.
    pub ms: i64,
}

impl Instant {
    /// Earlier than every other instant.
    pub const MIN: Self = Self { ms: i64::MIN };
    /// Later than every other instant.
    pub const MAX: Self = Self { ms: i64::MAX };

    /// Creates an instant from milliseconds since 1970.
    pub fn from_ms(ms: i64) -> Self {
        Self { ms }
    }

    /// Creates an instant from whole seconds since 1970.
    pub fn from_seconds(seconds: i64) -> Self {
        Self { ms: seconds.saturating_mul(1000) }
    }

    /// Returns the second that contains this instant, rounded down.
    pub fn seconds(self) -> i64 {
        self.ms.div_euclid(1000)
    }

    /// Returns the instant `ms` later (earlier if negative).
    pub fn plus_ms(self, ms: i64) -> Self {
        Self { ms: self.ms.saturating_add(ms) }
    }

    /// Returns the milliseconds from `earlier` to this instant.
    pub fn since_ms(self, earlier: Self) -> i64 {
        self.ms.saturating_sub(earlier.ms)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.ms)
    }
}

#[cfg(test)]
mod tests;
