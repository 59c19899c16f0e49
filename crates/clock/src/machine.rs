//! The machine's clocks. Nothing else in the project reads them.

use std::fmt;

/// Where a clock gets its readings from; tests have their own.
pub trait ClockSource: Send + Sync + fmt::Debug {
    /// Nanoseconds since boot, suspended time included.
    fn boot_ns(&self) -> i64;
    /// Milliseconds since 1970 by the wall clock, which may step.
    fn wall_ms(&self) -> i64;
}

/// The real machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

/// Nanoseconds by one of the machine's clocks.
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

/// Milliseconds since 1970 by the wall clock: for logs and identifiers, never for documents.
pub fn wall_ms() -> i64 {
    read_clock(rustix::time::ClockId::Realtime).div_euclid(1_000_000)
}

/// How long this thread has had a processor: for what a computation takes on a busy machine.
pub fn thread_time() -> std::time::Duration {
    let ns = read_clock(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}

/// The machine's monotonic clock: for timeouts of cursors and sessions, and for measuring.
pub fn monotonic_time() -> std::time::Duration {
    let ns = read_clock(rustix::time::ClockId::Monotonic);
    std::time::Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}
