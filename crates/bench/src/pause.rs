//! Functions that wait for a time, or until a directory has shrunk. All pauses of the load
//! generator are in this file, so that a pause inside a measurement is easy to find.

use std::{path::Path, time::Duration};

use crate::{error::Result, figures::to_float, limits::DISK_POLL, process};

/// Waits this long without blocking the thread.
#[expect(clippy::disallowed_methods, reason = "a benchmark waits for its windows to pass")]
pub(crate) async fn pause_for(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Waits until this time of the monotonic clock; returns immediately if the time has passed.
pub(crate) async fn pause_until(instant: Duration) {
    pause_for(instant.saturating_sub(clock::monotonic_time())).await;
}

/// The size that a directory has to reach, and the timeout of the wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Upper bound of the size in bytes.
    pub(crate) below: f64,
    pub(crate) patience: Duration,
}

/// Result of waiting for a directory to shrink.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shrunk {
    /// Final size of the directory in bytes.
    pub(crate) size: u64,
    /// Seconds until the goal was reached; `None` if it was not.
    pub(crate) seconds: Option<f64>,
}

/// Polls a directory until it is smaller than the goal, or until the timeout since `from`. `seen`
/// receives each size.
pub(crate) async fn wait_until_below(
    directory: &Path,
    goal: Goal,
    from: Duration,
    mut seen: impl FnMut(u64),
) -> Result<Shrunk> {
    loop {
        let size = process::disk_usage(directory)?;
        let waited = clock::monotonic_time().saturating_sub(from);
        if to_float(size) < goal.below {
            return Ok(Shrunk { size, seconds: Some(waited.as_secs_f64()) });
        }
        if goal.patience <= waited {
            return Ok(Shrunk { size, seconds: None });
        }
        seen(size);
        pause_for(DISK_POLL).await;
    }
}
