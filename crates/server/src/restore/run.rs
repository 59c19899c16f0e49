//! Runs a restore from start to end. A restore that fails leaves no files.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use backup::{Header, Kind};
use clock::Checkpoint;
use engine::{DiscardCheckpoints, Engine};
use server_base::{
    backup::begin_lineage,
    config::{ClockMode, Config},
    data_dir::{DataDir, is_of_file_system},
    failure::{Failure, failed},
    features::Features,
};
use store::Store as _;
use store_tree::{TreeOptions, TreeStore};

use super::{
    apply::{apply_entries, apply_pieces, check_continuity, open_reader},
    counting::{count_live, prolong_all},
    ending::Ending,
    stopped_clock::stopped_clock,
};

use crate::{
    checkpoint::CheckpointFile,
    open::{engine_options, open_store, store_options},
    shares::plan_memory,
};

/// A backup file or stream to restore from.
pub struct Source {
    /// Name of the backup, for messages.
    pub name: String,
    /// Opens the file or stream for reading.
    pub open: Box<dyn FnOnce() -> std::io::Result<Box<dyn Read + Send>>>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Sources, target and time of a restore.
#[derive(Debug)]
pub struct Restore<'a> {
    /// A full backup, then the incremental ones that follow it.
    pub sources: Vec<Source>,
    /// Target directory; empty or missing.
    pub directory: &'a Path,
    /// Last instant whose writes are restored, milliseconds since 1970; `None` restores all.
    pub to: Option<i64>,
    /// Whether to extend lives by the time since the backup, so that documents keep their remaining
    /// time to live.
    pub rebase_ttl: bool,
}

/// Counts and instants of a completed restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Number of documents and items that were live at the instant of the backup.
    pub documents: u64,
    /// Number of the documents live at the backup's instant that have expired by the restored
    /// database's time.
    pub expired: u64,
    /// Instant of the backup, milliseconds since 1970.
    pub at_ms: i64,
    /// Time of the restored database, milliseconds since 1970.
    pub now_ms: i64,
    /// Bytes of pieces and entries applied.
    pub bytes: u64,
}

/// Reports the progress of a restore, and cancels it.
pub(super) struct Progress<'a> {
    bytes: u64,
    goes_on: &'a dyn Fn() -> bool,
    tell: &'a mut dyn FnMut(u64),
}

impl Progress<'_> {
    pub(super) fn note(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes += bytes as u64;
        (self.tell)(self.bytes);
        match (self.goes_on)() {
            true => Ok(()),
            false => Err(Failure::Failed("interrupted: nothing was restored".to_owned())),
        }
    }
}

/// Creates a data directory from backups. `goes_on` is polled and cancels when false; `tell`
/// receives the number of bytes applied. On failure everything written is removed.
pub fn restore(
    what: Restore<'_>,
    goes_on: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(u64),
) -> Result<Restored, Failure> {
    let was_there = what.directory.exists();
    let directory = DataDir::open_to_fill(what.directory).map_err(Failure::Refused)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(failed)?;
    let mut progress = Progress { bytes: 0, goes_on, tell };
    let path = directory.path.clone();
    let made = make(&runtime, what, directory, &mut progress);
    if made.is_err() {
        remove(&path, was_there);
    }
    made
}

/// Removes the files that the restore created, but not `lost+found`. The file that marks the
/// directory as incomplete is removed last, so that the rest is never taken for a data directory.
fn remove(path: &Path, was_there: bool) {
    let parts = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let parts = parts.filter(|part| !is_of_file_system(&part.file_name()));
    let (mark, others): (Vec<PathBuf>, Vec<PathBuf>) =
        parts.map(|part| part.path()).partition(|part| part.ends_with("EBB"));
    for part in others.iter().chain(&mark) {
        let _ = if part.is_dir() { fs::remove_dir_all(part) } else { fs::remove_file(part) };
    }
    if !was_there {
        let _ = fs::remove_dir(path);
    }
}

fn make(
    runtime: &tokio::runtime::Runtime,
    what: Restore<'_>,
    directory: DataDir,
    progress: &mut Progress<'_>,
) -> Result<Restored, Failure> {
    let (path, rebase_ttl) = (directory.path.clone(), what.rebase_ttl);
    let mut config = Config { data_dir: Some(path.clone()), ..Config::for_tests() };
    let options = store_options(&config, plan_memory(&config), &path);
    let ending = apply_all(runtime, what.sources, &options, what.to, progress)?;
    let clock = ending.clock()?;
    config.clock = if clock.manual { ClockMode::Manual } else { ClockMode::System };
    let seconds = if rebase_ttl { seconds_since(&clock) } else { 0 };
    let standing = open_standing(&config, &options, &clock, seconds);
    let documents = runtime.block_on(standing)?;
    // If lives were extended, the clock is moved by the same time.
    let moved_ms = clock.ms.saturating_add(seconds.saturating_mul(1_000));
    let clock = Checkpoint { ms: moved_ms, wall_ms: Some(moved_ms), ..clock };
    if let Some(on) = ending.per_document_ttl {
        Features::store_in(&path, on).map_err(failed)?;
    }
    begin_lineage(&path)?;
    let (file, _) = CheckpointFile::open(&path, true).map_err(failed)?;
    file.write(&clock).map_err(failed)?;
    directory.filled().map_err(Failure::Refused)?;
    // Released first, since `count_now` opens the directory again.
    drop((file, directory));
    let (live, now_ms) = runtime.block_on(count_now(&config))?;
    let expired = documents.saturating_sub(live);
    let at_ms = clock.ms.saturating_sub(seconds.saturating_mul(1_000));
    Ok(Restored { documents, expired, at_ms, now_ms, bytes: progress.bytes })
}

/// Returns the time since a backup, rounded up to seconds; 0 for a manual clock.
fn seconds_since(clock: &Checkpoint) -> i64 {
    let passed_ms = clock::wall_ms().saturating_sub(clock.ms).max(0);
    if clock.manual { 0 } else { passed_ms.saturating_add(999) / 1_000 }
}

/// Applies all backups. Returns the clock and the feature switches, which follow the data of the
/// last backup.
fn apply_all(
    runtime: &tokio::runtime::Runtime,
    sources: Vec<Source>,
    options: &TreeOptions,
    to: Option<i64>,
    progress: &mut Progress<'_>,
) -> Result<Ending, Failure> {
    let mut before: Option<Header> = None;
    let mut ending = Ending::default();
    let mut tree: Option<TreeStore> = None;
    for Source { name, open } in sources {
        let named = |error: std::io::Error| Failure::Failed(format!("{name}: {error}"));
        let named_failure = |failure: Failure| match failure {
            Failure::Failed(why) => Failure::Failed(format!("{name}: {why}")),
            other => other,
        };
        let reader = open_reader(&name, open().map_err(named)?)?;
        let header = reader.header().clone();
        check_continuity(&name, before.as_ref(), &header)?;
        let own = if header.kind == Kind::Full {
            apply_pieces(options, reader, progress)
        } else {
            let tree = match &mut tree {
                Some(tree) => tree,
                none => none.insert(
                    TreeStore::open_without_commits(options, options.journal_folder())
                        .map_err(failed)?,
                ),
            };
            apply_entries(tree, reader, to, progress)
        };
        let earlier = ending.clock;
        ending = own.map_err(named_failure)?;
        if let (Some(clock), Some(earlier)) = (&mut ending.clock, earlier) {
            clock.ms = clock_after_chain(clock.ms, earlier.ms, to);
        }
        before = Some(header);
    }
    if let Some(tree) = tree {
        runtime.block_on(tree.close()).map_err(failed)?;
    }
    Ok(ending)
}

/// Returns the clock of the database after a backup of a chain was applied. This is the backup's
/// own clock, but at most the requested instant `to`, at which the database is also consistent, and
/// at least the clock after the previous backup.
fn clock_after_chain(own_ms: i64, earlier_ms: i64, to: Option<i64>) -> i64 {
    to.map_or(own_ms, |to| own_ms.min(to)).max(earlier_ms)
}

/// Opens the restored store with a clock stopped at the backup's instant, and returns the number of
/// documents that are live at that instant. If `seconds` is positive, their expiry is postponed by
/// that time. The store is closed again.
async fn open_standing(
    config: &Config,
    options: &TreeOptions,
    clock: &Checkpoint,
    seconds: i64,
) -> Result<u64, Failure> {
    let clock = Arc::new(stopped_clock(clock).map_err(Failure::Failed)?);
    let time = Engine::commit_clock(&clock);
    let store = TreeStore::open(options, time).map_err(failed)?;
    let options = engine_options(config, plan_memory(config), clock, Arc::new(DiscardCheckpoints));
    let engine = Engine::open(Arc::new(store), options).await.map_err(failed)?;
    let live = count_live(&engine).await?;
    if 0 < seconds {
        prolong_all(&engine, seconds).await?;
    }
    engine.store().close().await.map_err(failed)?;
    Ok(live)
}

/// Returns the number of live documents at the restored database's time, and that time.
async fn count_now(config: &Config) -> Result<(u64, i64), Failure> {
    let opened = open_store(config, true).await?;
    let live = count_live(&opened.engine).await?;
    let now = opened.engine.clock().last_used().ms;
    opened.engine.store().close().await.map_err(failed)?;
    Ok((live, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stands_at_the_wanted_instant_and_never_goes_back() {
        for (own_ms, to, want_ms) in [
            (200, None, 200),
            (200, Some(150), 150),
            (200, Some(250), 200),
            // The clock of an earlier backup of a closed directory may be ahead by a lease.
            (80, None, 100),
            (80, Some(100), 100),
        ] {
            assert_eq!(clock_after_chain(own_ms, 100, to), want_ms, "{own_ms}, up to {to:?}");
        }
    }
}
