//! Opens the data directory: its lock, its clock, its store, the engine on them.

use std::{path::Path, sync::Arc};

use clock::{Checkpoint, Clock, ClockSource, Machine};
use engine::{Engine, KeepNothing, Options, Persist};
use mongo::MongoDialect;
use store::MemoryStore;
use store_lsm::{LsmMetrics, LsmOptions, LsmStore};

use crate::{
    any_store::AnyStore,
    background::Timekeeper,
    checkpoint::{CheckpointFile, boot_id},
    config::{ClockMode, Config},
    data_dir::{DataDir, Refused},
    failure::{Failure, failed},
    shares::plan_memory,
    test_wall::TestWall,
};

/// An engine on its data, with its clock running up to the first lease.
pub(crate) struct Opened {
    pub(crate) engine: Engine<AnyStore>,
    /// What the store's committer measured; `None` where nothing is written to a disk.
    pub(crate) measured: Option<Arc<LsmMetrics>>,
    pub(crate) timekeeper: Timekeeper,
    pub(crate) data_dir: Option<DataDir>,
}

/// Opens data and clock.
pub(crate) async fn open_store(config: &Config, must_exist: bool) -> Result<Opened, Failure> {
    let mode = match config.clock {
        ClockMode::System => clock::ClockMode::System,
        ClockMode::Manual => clock::ClockMode::Manual,
    };
    let data_dir = match &config.data_dir {
        Some(path) => Some(DataDir::open(path, must_exist).map_err(Failure::Refused)?),
        None => None,
    };
    let (file, last) = match &data_dir {
        Some(directory) => {
            let (file, last) = open_clock(&directory.path, config.accept_loss)?;
            (Some(file), last)
        }
        None => (None, None),
    };
    let source: Box<dyn ClockSource> = match &config.test_wall {
        Some(file) => Box::new(TestWall::new(file.clone())),
        None => Box::new(Machine),
    };
    let clock = Clock::start(mode, source, boot_id(), last)
        .map_err(|_| Failure::Refused(Refused::OtherClock))?;
    if clock.status().boot_disagrees {
        tracing::warn!(
            "the boot clock says that far more time has passed than the wall clock does; time goes \
             on by the wall clock"
        );
    }
    let clock = Arc::new(clock);
    let first = clock.tick();
    if let Some(file) = &file {
        file.write(&first).map_err(failed)?;
    }
    clock.mark_persisted(&first);
    let timekeeper = Timekeeper::start(Arc::clone(&clock), file.clone()).map_err(failed)?;
    let time = Engine::<AnyStore>::timepiece(&clock);
    let plan = plan_memory(config);
    let store = match &data_dir {
        None => AnyStore::Memory(MemoryStore::bounded(plan.data_bytes(), time)),
        Some(directory) => {
            let options = LsmOptions {
                accept_loss: config.accept_loss,
                cache_bytes: plan.cache_bytes() as u64,
                journal_bytes: plan.journal_bytes() as u64,
                ..LsmOptions::new(directory.path.join("store"))
            };
            AnyStore::Lsm(LsmStore::open(&options, time).map_err(refused_store)?)
        }
    };
    let persist: Arc<dyn Persist> = match &file {
        Some(file) => Arc::new(file.clone()),
        None => Arc::new(KeepNothing),
    };
    let measured = store.lsm_metrics();
    let mut options = Options::new(clock, Arc::new(MongoDialect), persist);
    options.reap_delay = config.reap_delay;
    options.accept_loss = config.accept_loss;
    let engine = Engine::open(store, options).await.map_err(|error| match error.kind {
        engine::Kind::Corrupt => Failure::Refused(Refused::Unusable(format!(
            "the data directory is damaged: {error}; restore a backup, or start with --accept-loss \
             to go on with what is there"
        ))),
        _ => failed(error),
    })?;
    Ok(Opened { engine, measured, timekeeper, data_dir })
}

/// Opens the clock's checkpoints. Where there are data there has to be one: without it what expired
/// would live again.
fn open_clock(
    path: &Path,
    accept_loss: bool,
) -> Result<(CheckpointFile, Option<Checkpoint>), Failure> {
    let fresh = !path.join("store").exists();
    let missing = || {
        Failure::Refused(Refused::Unusable(format!(
            "the clock's checkpoint in {} is missing or damaged, so that time could go back; \
             restore a backup, or start with --accept-loss to begin with the wall clock's time",
            path.join("clock").display()
        )))
    };
    match CheckpointFile::open(path, fresh || accept_loss) {
        Ok((_, None)) if !fresh && !accept_loss => Err(missing()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(missing()),
        opened => opened.map_err(failed),
    }
}

fn refused_store(error: store::Error) -> Failure {
    match error.kind {
        store::Kind::Refused | store::Kind::Corrupt => {
            Failure::Refused(Refused::Unusable(format!(
                "the data directory is damaged or in use: {error}; restore a backup, or start with \
                 --accept-loss to go on without what is missing"
            )))
        }
        store::Kind::Full | store::Kind::Unavailable | store::Kind::Invalid => failed(error),
    }
}
