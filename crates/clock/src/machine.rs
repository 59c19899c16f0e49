//! The machine's clocks. No other code in the project reads them.

use std::fmt;

/// The clock readings on which database time is based; tests substitute their own.
pub trait ClockSource: Send + Sync + fmt::Debug {
    /// Returns nanoseconds since boot, including time suspended.
    fn boot_ns(&self) -> i64;
    /// Returns the wall clock in milliseconds since 1970; it may step.
    fn wall_ms(&self) -> i64;
}

/// The clocks of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

/// Reads one of the machine's clocks, in nanoseconds.
fn read_clock(clock: rustix::time::ClockId) -> i64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
}

impl ClockSource for Machine {
    fn boot_ns(&self) -> i64 {
        read_clock(rustix::time::ClockId::Boottime)
    }

    fn wall_ms(&self) -> i64 {
        wall_ms()
    }
}

/// Returns the wall clock in milliseconds since 1970. For logs and identifiers, never for expiry.
pub fn wall_ms() -> i64 {
    read_clock(rustix::time::ClockId::Realtime).div_euclid(1_000_000)
}

/// Returns the CPU time of the current thread, to measure computation on a busy machine.
pub fn thread_time() -> std::time::Duration {
    let ns = read_clock(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}

/// Returns the machine's monotonic clock, for timeouts of cursors and sessions and for
/// measurements.
pub fn monotonic_time() -> std::time::Duration {
    let ns = read_clock(rustix::time::ClockId::Monotonic);
    std::time::Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}
