//! The database clock: a single source of time that never goes back, within a process or across
//! restarts. It does no I/O: the caller loads checkpoints, ticks the clock, writes the checkpoints
//! it returns and reports when they are durable. No other crate reads the machine's clocks.

mod checkpoint;
mod database;
mod instant;
mod machine;
mod manual;
mod shared;
mod start;
mod steps;
mod waiting;

pub use checkpoint::{BootId, Checkpoint};
pub use database::{Clock, ClockMode, ClockRefusal, ClockStatus, Started};
pub use instant::Instant;
pub use machine::{ClockSource, Machine, monotonic_time, thread_time, wall_ms};
pub use start::ClusterLease;
pub use steps::{LEASE_MS, MAX_STEP_MS, STEP_WINDOW_MS};
pub use waiting::ClockEnded;

#[cfg(test)]
mod tests;
