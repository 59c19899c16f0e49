//! Opens the data directory, for the server and `ebb verify`. Listeners are opened by `listen`, and
//! the APIs' files by the APIs. The order is fixed, since each step needs the previous one:
//!
//! 1. the directory's lock, so that no other process changes the files read next;
//! 2. the clock's last checkpoint, and a first lease of time;
//! 3. the timekeeper, which renews the lease during the remaining steps;
//! 4. the store, which replays its journal;
//! 5. the engine, which reads its catalog at that time.

use std::{path::Path, sync::Arc};

use clock::{Checkpoint, Clock};
use engine::{DiscardCheckpoints, Engine, Options, Persist};
use memory::Plan;
use mongo::MongoDialect;
use server_base::{
    config::{ClockMode, Config},
    data_dir::{DataDir, NODE_FILE, Refused},
    failure::{Failure, failed},
};
use store::{MemoryStore, Store};
use store_tree::{Archiving, Images, TreeMetrics, TreeOptions, TreeStore};

use crate::{
    background::Timekeeper,
    checkpoint::{CheckpointFile, boot_id},
    downtime::check_jump,
    give_way::run_apart,
    shares::plan_memory,
    test_clocks::clock_source,
};

/// Minimum and maximum of the default size of the change log on disk, in bytes.
const LOG_BYTES: (u64, u64) = (1 << 30, 50 << 30);

/// An engine on its data, with its clock running within the first lease. Fields are dropped in
/// declaration order: the engine before the clock, the directory's lock last.
pub(crate) struct Opened {
    pub(crate) engine: Engine,
    /// Measurements of the store's commits and disk usage; `None` for a store in memory.
    pub(crate) measured: Option<Arc<TreeMetrics>>,
    /// Access to images (snapshots) of the store, for backups.
    pub(crate) images: Option<Images>,
    pub(crate) timekeeper: Timekeeper,
    pub(crate) data_dir: Option<DataDir>,
}

/// A data directory with a running clock and a store that is not open yet. Fields are dropped in
/// declaration order.
pub(crate) struct ClockedDirectory {
    clock: Arc<Clock>,
    file: Option<CheckpointFile>,
    timekeeper: Timekeeper,
    pub(crate) data_dir: Option<DataDir>,
}

/// Opens clock, store and engine. With `must_exist` a directory without data is refused instead of
/// initialized. Fails with `Failure::Refused` if the operator has to act (another clock, damage,
/// another process), with `Failure::Failed` otherwise.
pub(crate) async fn open_store(config: &Config, must_exist: bool) -> Result<Opened, Failure> {
    open_clock_of(config, must_exist)?.open_engine(config).await
}

/// Opens the data directory and its clock, which is fast. Fails as [`open_store`] does.
pub(crate) fn open_clock_of(
    config: &Config,
    must_exist: bool,
) -> Result<ClockedDirectory, Failure> {
    let mode = match config.clock {
        ClockMode::System => clock::ClockMode::System,
        ClockMode::Manual => clock::ClockMode::Manual,
    };
    let data_dir = match &config.data_dir {
        Some(path) => Some(DataDir::open(path, must_exist).map_err(Failure::Refused)?),
        None => None,
    };
    let (file, last) = match &data_dir {
        Some(directory) if directory.path.join(NODE_FILE).exists() => {
            return Err(Failure::Refused(Refused::Unusable(format!(
                "{} belongs to a cluster node: start it with --store cassandra",
                directory.path.display()
            ))));
        }
        Some(directory) => {
            let (file, last) = open_clock(&directory.path, config.accept_loss)?;
            (Some(file), last)
        }
        None => (None, None),
    };
    let clock = Clock::start(mode, clock_source(config), boot_id(), last)
        .map_err(|_| Failure::Refused(Refused::OtherClock))?;
    // Checked before the clock is used or written, so that a refusal changes nothing.
    check_jump(&clock, config.max_forward_jump).map_err(Failure::Refused)?;
    if clock.status().boot_disagrees {
        tracing::warn!(
            "the machine's boot clock differs from the last run's, as in a container that was \
             moved: time continues from the last checkpoint and follows the wall clock"
        );
    }
    let clock = Arc::new(clock);
    // The first lease: no instant may be used before a checkpoint covers it, or it could be used
    // again after a crash.
    let first = clock.tick();
    if let Some(file) = &file {
        file.write(&first).map_err(failed)?;
    }
    clock.mark_persisted(&first);
    // From here on the lease is renewed, however long the store takes to open.
    let timekeeper = Timekeeper::start(Arc::clone(&clock), file.clone()).map_err(failed)?;
    Ok(ClockedDirectory { clock, file, timekeeper, data_dir })
}

impl ClockedDirectory {
    /// Opens the store, which replays its journal, and the engine. Fails as [`open_store`] does.
    pub(crate) async fn open_engine(self, config: &Config) -> Result<Opened, Failure> {
        let Self { clock, file, timekeeper, data_dir } = self;
        let time = Engine::commit_clock(&clock);
        let plan = plan_memory(config);
        let (store, measured, images): (Arc<dyn Store>, _, _) = match &data_dir {
            None => (Arc::new(MemoryStore::bounded(plan.data_bytes(), time)), None, None),
            Some(directory) => {
                let options = store_options(config, plan, &directory.path);
                let tree = TreeStore::open(&options, time).map_err(refused_store)?;
                let (measured, images) = (tree.metrics(), tree.images());
                (Arc::new(tree), Some(measured), Some(images))
            }
        };
        let persist: Arc<dyn Persist> = match &file {
            Some(file) => Arc::new(file.clone()),
            None => Arc::new(DiscardCheckpoints),
        };
        let options = engine_options(config, plan, clock, persist);
        let engine = Engine::open(store, options).await.map_err(|error| match error.kind {
            engine::Kind::Corrupt => Failure::Refused(Refused::Unusable(format!(
                "the data directory is damaged: {error}; restore a backup, or start with \
                 --accept-loss to continue with the remaining data"
            ))),
            _ => failed(error),
        })?;
        Ok(Opened { engine, measured, images, timekeeper, data_dir })
    }
}

/// Returns the options of an engine with this configuration, plan of memory and clock. `persist`
/// stores the clock's checkpoints.
pub fn engine_options(
    config: &Config,
    plan: Plan,
    clock: Arc<Clock>,
    persist: Arc<dyn Persist>,
) -> Options {
    let mut options = Options::new(clock, Arc::new(MongoDialect), persist);
    options.reap_delay = config.reap_delay;
    options.accept_loss = config.accept_loss;
    options.block_in_place = run_apart;
    options.large_write_bytes = plan.large_write_bytes();
    let data_dir = config.data_dir.as_deref();
    options.change_log_bytes =
        config.change_log_bytes.unwrap_or_else(|| usual_log_bytes(data_dir, plan));
    // The cache saves searches of blocks on disk, which a store in memory does not have.
    options.row_cache_bytes = if config.data_dir.is_some() { plan.row_cache_bytes() } else { 0 };
    options
}

/// Returns the default size of the change log: a twentieth of the disk, within bounds, or a quarter
/// of the memory for data.
fn usual_log_bytes(data_dir: Option<&Path>, plan: Plan) -> u64 {
    let (least, most) = LOG_BYTES;
    let Some(data_dir) = data_dir else { return plan.data_bytes() as u64 / 4 };
    let total = rustix::fs::statvfs(data_dir)
        .map_or(0, |device| device.f_blocks.saturating_mul(device.f_frsize));
    (total / 20).clamp(least, most)
}

/// Returns the options of the store in a data directory at `path`.
pub fn store_options(config: &Config, plan: Plan, path: &Path) -> TreeOptions {
    let archive = match config.backup_journal {
        None => Archiving::Untouched,
        Some(0) => Archiving::Off,
        Some(bytes) => Archiving::Within(bytes),
    };
    TreeOptions {
        archive,
        accept_loss: config.accept_loss,
        cache_bytes: plan.cache_bytes() as u64,
        journal_bytes: plan.journal_bytes() as u64,
        buffer_bytes: plan.write_buffer_bytes() as u64,
        old_views: config.old_views,
        ..TreeOptions::new(path.join("store"))
    }
}

/// Opens the clock's checkpoints and returns the newest. If a store exists, a missing checkpoint is
/// an error: time could go back, and expired documents would reappear. With `accept_loss` time then
/// starts from the wall clock.
fn open_clock(
    path: &Path,
    accept_loss: bool,
) -> Result<(CheckpointFile, Option<Checkpoint>), Failure> {
    // The store is created after the clock, so without a store no time has been used.
    let fresh = !path.join("store").exists();
    let missing = || {
        Failure::Refused(Refused::Unusable(format!(
            "the clock's checkpoint in {} is missing or damaged, so time could move backwards; \
             restore a backup, or start with --accept-loss to start from the wall clock",
            path.join("clock").display()
        )))
    };
    match CheckpointFile::open(path, fresh || accept_loss) {
        Ok((_, None)) if !fresh && !accept_loss => Err(missing()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(missing()),
        opened => opened.map_err(failed),
    }
}

/// Converts a store's open error: `Refused` if the operator can repair or accept it, `Failed` if it
/// may be transient.
pub fn refused_store(error: store::Error) -> Failure {
    match error.kind {
        store::Kind::Refused | store::Kind::Corrupt => {
            Failure::Refused(Refused::Unusable(format!(
                "the data directory is damaged or in use: {error}; restore a backup, or start with \
                 --accept-loss to continue without the missing data"
            )))
        }
        store::Kind::Full
        | store::Kind::Unavailable
        | store::Kind::Reopened
        | store::Kind::ViewEnded
        | store::Kind::Moved
        | store::Kind::Invalid => failed(error),
    }
}
