//! Waits until a directory has shrunk: a server gives the space of what it forgot back by itself.

use std::{path::Path, time::Duration};

use crate::{error::Result, figures::to_float, limits::DISK_POLL, pause, process};

/// What is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Fewer bytes than this.
    pub(crate) below: f64,
    /// How long it is waited.
    pub(crate) patience: Duration,
}

/// How the wait ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shrunk {
    /// Bytes of the directory at the end.
    pub(crate) size: u64,
    /// Seconds until the goal; `None`: it was not reached.
    pub(crate) seconds: Option<f64>,
}

/// Watches a directory until it has shrunk below the goal, or patience has gone by since `from`. `seen` is
/// told each size.
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
        pause::pause_for(DISK_POLL).await;
    }
}
