//! The database clock: one source of now that never goes back, in a process or across restarts.
//! It does no I/O: whoever runs it reads checkpoints from disk, ticks it, writes the checkpoints it
//! asks for and says when they are durable. The only place that reads the machine's clocks.

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
