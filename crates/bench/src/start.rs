//! Starts a server repeatedly on empty directories, and measures the time until it answers `hello`,
//! its memory at rest, and the time to stop. This is a first start, not a recovery.

use std::path::Path;

use crate::{
    error::{Error, Result},
    figures::{Figures, median_figures, megabytes},
    limits::REST,
    pause, process,
    spawned::{OwnDirectory, Spawned},
};

/// Starts a command `times` times, with `{dir}` and `{port}` in it replaced, and returns the
/// medians. Each start has a directory of its own, which is removed even if the start fails.
pub(crate) async fn run_starts(command: &str, times: usize) -> Result<Figures> {
    let mut runs = Vec::with_capacity(times);
    for _ in 0..times {
        let directory = OwnDirectory::make_in(&std::env::temp_dir())?;
        runs.push(start_once(command, directory.path()).await?);
    }
    median_figures(&runs)
        .ok_or_else(|| Error::Usage("the number of starts must be at least 1".to_owned()))
}

/// Starts the command, waits until it answers, reads its memory at rest and stops it.
async fn start_once(command: &str, directory: &Path) -> Result<Figures> {
    let server = Spawned::start(command, directory).await?;
    let ready = server.ready;
    pause::pause_for(REST).await;
    let memory = process::resident_memory(server.pid)?;
    let gone = server.stop().await?;
    let mut figures = Figures { work: "start", connections: 1, ..Figures::default() };
    figures.add_extra("ready after, ms", ready.as_secs_f64() * 1e3);
    figures.add_extra("resident at rest, MB", megabytes(memory));
    figures.add_extra("gone after, ms", gone.as_secs_f64() * 1e3);
    Ok(figures)
}
