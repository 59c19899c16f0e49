//! Starts a server from its configuration and runs it to its end.

use std::{fmt, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use clock::{Checkpoint, Clock, Machine, Mode, Source};
use engine::{Engine, KeepNothing, Options, Persist, Rules};
use memory::{Account, Plan};
use mongo::{Door, MongoDialect, Settings};
use store::{MemoryStore, Store};
use store_lsm::{LsmOptions, LsmStore};
use tokio::{
    net::TcpListener,
    signal::unix::{self, Signal, SignalKind},
    sync::{oneshot, watch},
    task::JoinHandle,
};

use crate::{
    ClockMode, Config, Refused,
    admin::{self, Shared},
    any_store::AnyStore,
    background::{self, Timekeeper},
    banner,
    checkpoint::{CheckpointFile, boot_id},
    data_dir::DataDir,
    explorer::{Explorer, Ports},
    features::Features,
    give_way::give_way,
    listen, logging, machine, nosql,
    ready::{self, Ready},
    test_wall::TestWall,
};

/// How long an end may take.
const LONGEST_END: Duration = Duration::from_millis(9_500);

/// Why a server did not start or ended.
#[derive(Debug)]
pub enum Failure {
    /// The settings do not go together or cannot be used here.
    Usage(String),
    /// The data directory was refused.
    Refused(Refused),
    /// It could not start or go on.
    Failed(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Usage(message) | Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}

fn failed(error: impl fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// An engine on its data, with its clock running up to the first lease.
pub(crate) struct Opened {
    pub(crate) engine: Engine<AnyStore>,
    pub(crate) timekeeper: Timekeeper,
    pub(crate) data_dir: Option<DataDir>,
}

/// Opens data and clock.
pub(crate) async fn open(config: &Config, must_exist: bool) -> Result<Opened, Failure> {
    let mode = match config.clock {
        ClockMode::System => Mode::System,
        ClockMode::Manual => Mode::Manual,
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
    let source: Box<dyn Source> = match &config.test_wall {
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
    clock.persisted(&first);
    let timekeeper = Timekeeper::start(Arc::clone(&clock), file.clone()).map_err(failed)?;
    let time = Engine::<AnyStore>::timepiece(&clock);
    let plan = plan(config);
    let store = match &data_dir {
        None => AnyStore::Memory(MemoryStore::new(time)),
        Some(directory) => {
            let options = LsmOptions {
                accept_loss: config.accept_loss,
                cache_bytes: plan.cache() as u64,
                journal_bytes: plan.journal() as u64,
                ..LsmOptions::new(directory.path.join("store"))
            };
            AnyStore::Lsm(LsmStore::open(&options, time).map_err(refused_store)?)
        }
    };
    let persist: Arc<dyn Persist> = match &file {
        Some(file) => Arc::new(file.clone()),
        None => Arc::new(KeepNothing),
    };
    let options = Options {
        clock,
        dialect: Arc::new(MongoDialect),
        reap_delay: config.reap_delay,
        rules: Rules::default(),
        persist,
        accept_loss: config.accept_loss,
    };
    let engine = Engine::open(store, options).await.map_err(|error| match error.kind {
        engine::Kind::Corrupt => Failure::Refused(Refused::Unusable(format!(
            "the data directory is damaged: {error}; restore a backup, or start with --accept-loss \
             to go on with what is there"
        ))),
        _ => failed(error),
    })?;
    Ok(Opened { engine, timekeeper, data_dir })
}

/// How the memory of a server of this configuration is divided.
fn plan(config: &Config) -> Plan {
    match config.memory {
        Some(process) => Plan { process },
        None => Plan::usual(machine::memory()),
    }
}

/// How memory is divided, the account of all operations, and the part of it for clients that have not asked anything yet.
fn accounts(config: &Config) -> (Plan, Account, Account) {
    let plan = plan(config);
    let memory = Account::new(plan.operations());
    mongo::take_patterns_from(&memory);
    let strangers = memory.part(plan.strangers());
    (plan, memory, strangers)
}

/// Opens the clock's checkpoints. Where there are data there has to be one: without it the dead
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

/// A running server.
pub struct Running {
    ready: Ready,
    engine: Engine<AnyStore>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    timekeeper: Timekeeper,
    data_dir: Option<DataDir>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("ready", &self.ready).finish_non_exhaustive()
    }
}

impl Running {
    /// Address of the MongoDB door.
    pub fn mongo(&self) -> Option<&str> {
        self.ready.mongo.as_deref()
    }

    /// Address of the NoSQL door.
    pub fn cosmos(&self) -> Option<&str> {
        self.ready.cosmos.as_deref()
    }

    /// Address of the admin listener.
    pub fn admin(&self) -> Option<&str> {
        self.ready.admin.as_deref()
    }

    /// Stops accepting, lets what runs finish, flushes.
    pub async fn stop(self) -> Result<(), Failure> {
        let Self { engine, stop, tasks, timekeeper, data_dir, .. } = self;
        let _ = stop.send(true);
        for mut task in tasks {
            if tokio::time::timeout(Duration::from_secs(9), &mut task).await.is_err() {
                task.abort();
                let _ = task.await;
            }
        }
        let closed = engine.store().close().await;
        // Commits that still wait in the store may need a new lease of the clock: it goes last.
        drop(engine);
        drop(timekeeper);
        drop(data_dir);
        closed.map_err(failed)
    }
}

/// Starts a server; it accepts when this answers.
pub async fn start(config: &Config) -> Result<Running, Failure> {
    logging::start(config);
    check_addresses(config).await?;
    // Named so that on a failure the engine goes first and the directory last.
    let Opened { data_dir, timekeeper, engine } = open(config, false).await?;
    let kept = data_dir.as_ref().map(|directory| directory.path.as_path());
    let features = Features::open(kept, config.per_document_ttl).map_err(Failure::Refused)?;
    let explorer = Explorer::open(config.explorer_dir.as_deref()).map_err(failed)?;
    let (plan, memory, strangers) = accounts(config);
    let (stop, stopped) = watch::channel(false);
    let places = listen::Places::of_descriptors(listen::descriptor_limit());
    let mut tasks = Vec::new();
    let mut ready = Ready {
        mongo: None,
        cosmos: None,
        admin: None,
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let mut door = None;
    if let Some(address) = &config.mongo_addr {
        let (listener, bound) = bind("mongo-addr", address).await?;
        let settings = Settings {
            per_document_ttl: features.per_document_ttl(),
            host: bound.to_string(),
            strangers: strangers.clone(),
            memory: memory.clone(),
            give_way,
            ..Settings::default()
        };
        let made = Door::new(engine.clone(), settings);
        let served = Arc::clone(&made);
        tasks.push(tokio::spawn(listen::accept(
            listener,
            stopped.clone(),
            places.clone(),
            move |stream, peer, stop| {
                mongo::serve(Arc::clone(&served), stream, peer.to_string(), stop)
            },
        )));
        ready.mongo = Some(bound.to_string());
        door = Some(made);
    }
    let mut cosmos = None;
    if let Some(address) = &config.cosmos_addr {
        let accounts = (&memory, &strangers);
        let made = nosql::door(config, address, engine.clone(), accounts, &explorer).await?;
        let (listener, bound) = bind("cosmos-addr", address).await?;
        let served = Arc::clone(&made);
        tasks.push(tokio::spawn(listen::accept(
            listener,
            stopped.clone(),
            places.clone(),
            move |stream, _, stop| cosmos::serve(Arc::clone(&served), stream, stop),
        )));
        ready.cosmos = Some(bound.to_string());
        cosmos = Some(made);
    }
    if let Some(address) = &config.admin_addr {
        let (listener, bound) = bind("admin-addr", address).await?;
        let doors = admin::Doors { mongo: door.clone(), cosmos };
        let portal = admin::portal(config, bound, &ready, doors.clone(), stopped.clone())?;
        let (engine, explorer) = (engine.clone(), Arc::clone(&explorer));
        let stopping = stopped.clone();
        let shared = Shared { engine, plan, memory, doors, features, explorer, stopping };
        tasks.push(tokio::spawn(admin::serve(listener, portal, shared)));
        ready.admin = Some(bound.to_string());
    }
    explorer.listens(Ports { admin: port(&ready.admin), nosql: port(&ready.cosmos) });
    tasks.push(tokio::spawn(background::store(engine.clone(), stopped.clone())));
    tasks.push(tokio::spawn(background::builds(engine.clone(), stopped.clone())));
    tasks.push(tokio::spawn(background::housekeeping(engine.clone(), door, stopped)));
    announce(config, &ready)?;
    Ok(Running { ready, engine, stop, tasks, timekeeper, data_dir })
}

/// Refuses listeners that nobody can want: none at all, and one that lets other machines in unasked.
async fn check_addresses(config: &Config) -> Result<(), Failure> {
    if config.mongo_addr.is_none() && config.cosmos_addr.is_none() && config.admin_addr.is_none() {
        let text = "every address is off: give one of --mongo-addr, --cosmos-addr, --admin-addr";
        return Err(Failure::Usage(text.to_owned()));
    }
    match &config.mongo_addr {
        Some(address) if !config.mongo_no_auth && !listen::is_loopback(address).await => {
            Err(Failure::Usage(format!(
                "--mongo-addr {address} can be reached by other machines, and the MongoDB API asks \
                 nobody who they are: listen on 127.0.0.1, or say --mongo-no-auth if whoever \
                 reaches it may do everything"
            )))
        }
        _ => Ok(()),
    }
}

/// Binds the address of a setting.
async fn bind(setting: &str, address: &str) -> Result<(TcpListener, SocketAddr), Failure> {
    listen::bind(address).await.map_err(|error| {
        let way_out = match error.kind() {
            std::io::ErrorKind::AddrInUse => ": another program listens there, give another port",
            std::io::ErrorKind::PermissionDenied => ": ports below 1024 are for root, give another",
            _ => "",
        };
        failed(format!("--{setting} {address}: {error}{way_out} (or 'off')"))
    })
}

/// Says that every listener accepts, to whoever waits for it.
fn announce(config: &Config, ready: &Ready) -> Result<(), Failure> {
    if let Some(path) = &config.ready_file {
        ready::write(path, ready).map_err(failed)?;
    }
    if config.banner {
        banner::print(config, ready);
    }
    tracing::info!(
        mongo = ready.mongo.as_deref(),
        cosmos = ready.cosmos.as_deref(),
        admin = ready.admin.as_deref(),
        "ready"
    );
    Ok(())
}

/// The port of an address that is listened on.
fn port(address: &Option<String>) -> Option<u16> {
    address.as_ref()?.rsplit_once(':')?.1.parse().ok()
}

/// Runs a server until SIGTERM or SIGINT.
pub fn serve(config: &Config) -> Result<(), Failure> {
    serve_beside(config, |_| Ok(()))
}

/// The same; once it accepts, `beside` runs on a thread of its own and gets the admin address. Its
/// failure ends the server, and the server's end does not wait for it.
pub fn serve_beside(
    config: &Config,
    beside: impl FnOnce(Option<String>) -> Result<(), String> + Send + 'static,
) -> Result<(), Failure> {
    raise_descriptor_limit();
    // What the server keeps is its owner's alone.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // One more than cores, so that a long read does not hold up the short ones.
        .worker_threads(cores + 1)
        .thread_stack_size(4 * 1024 * 1024)
        .enable_all()
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        let mut signals = Signals::take().map_err(failed)?;
        let running = start(config).await?;
        let admin = running.admin().map(str::to_owned);
        let (sender, failure) = oneshot::channel();
        std::thread::Builder::new()
            .name("beside".to_owned())
            .spawn(move || beside(admin).map_err(|why| sender.send(why)))
            .map_err(failed)?;
        let ended = tokio::select! {
            () = signals.wait() => Ok(()),
            Ok(why) = failure => Err(Failure::Failed(why)),
        };
        tracing::info!("stopping");
        end_in_time().map_err(failed)?;
        running.stop().await.and(ended)
    })
}

/// Ends the process when its orderly end takes too long, whatever the disk or clients do: all that was
/// acknowledged is durable already.
fn end_in_time() -> std::io::Result<()> {
    let overdue = || {
        background::pause(LONGEST_END);
        tracing::error!("the end took too long; what was acknowledged is durable");
        std::process::exit(1);
    };
    std::thread::Builder::new().name("end".to_owned()).spawn(overdue).map(|_| ())
}

/// The signals that end a server. They are taken before it says that it is ready: until then one
/// would kill the process.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// The terminal was closed.
    hangup: Signal,
}

impl Signals {
    fn take() -> std::io::Result<Self> {
        let terminate = unix::signal(SignalKind::terminate())?;
        let interrupt = unix::signal(SignalKind::interrupt())?;
        Ok(Self { terminate, interrupt, hangup: unix::signal(SignalKind::hangup())? })
    }

    /// Waits for one of them.
    async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Thousands of idle connections need as many descriptors.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "raise the limit of descriptors");
    }
}
