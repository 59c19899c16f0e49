//! Starts a server from its configuration, and stops it. The order of both stands here and nowhere
//! else:
//!
//! ```text
//! start  settings checked → data directory, clock, store, engine → files beside them
//!        → MongoDB listener → NoSQL listener → admin listener → background work → "ready"
//! stop   listeners and background work → store → engine → clock → data directory
//! ```

use std::{fmt, sync::Arc, time::Duration};

use engine::Engine;
use memory::Account;
use mongo::{Door, Settings};
use spill::Area;
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    addresses,
    admin::{self, Shared},
    any_store::AnyStore,
    background::{self, Timekeeper},
    banner,
    config::Config,
    data_dir::DataDir,
    explorer::{Explorer, Ports},
    failure::{Failure, failed},
    features::Features,
    free_memory::return_free_memory,
    give_way::{give_way, run_apart},
    listen, logging, machine, nosql,
    open::{Opened, open_store},
    ready::{self, Ready},
    relayed::Doors,
    shares::{open_accounts, temporary_area},
};

/// A running server. Dropping it without [`Running::stop`] tells its tasks to end too, but then
/// nobody waits for them or closes the store.
pub struct Running {
    /// The addresses that were bound, as the ready file has them.
    ready: Ready,
    engine: Engine<AnyStore>,
    /// Tells listeners, connections and background work to end.
    stop: watch::Sender<bool>,
    /// Listeners and background work; each ends after `stop`.
    tasks: Vec<JoinHandle<()>>,
    /// Ends its thread when dropped, so it has to outlive the engine.
    timekeeper: Timekeeper,
    /// The lock of the data directory; goes last, or another process could open it too early.
    data_dir: Option<DataDir>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("ready", &self.ready).finish_non_exhaustive()
    }
}

impl Running {
    /// Returns the address of the MongoDB API, `host:port`; `None`: it is off.
    pub fn mongo(&self) -> Option<&str> {
        self.ready.mongo.as_deref()
    }

    /// Returns the address of the NoSQL API, `host:port`; `None`: it is off.
    pub fn cosmos(&self) -> Option<&str> {
        self.ready.cosmos.as_deref()
    }

    /// Returns the address of the admin listener, `host:port`; `None`: it is off.
    pub fn admin(&self) -> Option<&str> {
        self.ready.admin.as_deref()
    }

    /// Stops accepting, lets requests under way finish, and closes the store. Listeners end within
    /// about eight seconds, whatever their clients do (`listen.rs`). Fails when the store could not write what it still held;
    /// all that was acknowledged is durable even so.
    pub async fn stop(self) -> Result<(), Failure> {
        let Self { engine, stop, tasks, timekeeper, data_dir, .. } = self;
        // Nobody listens any more if all tasks have ended by themselves.
        let _ = stop.send(true);
        for mut task in tasks {
            // A second more than `listen::DRAIN`, after which a listener ends by itself.
            if tokio::time::timeout(Duration::from_secs(9), &mut task).await.is_err() {
                task.abort();
                let _ = task.await;
            }
        }
        // After the tasks: no request is under way that could still write.
        let closed = engine.store().close().await;
        // Commits that still wait in the store may need a new lease of the clock, so the clock goes
        // after the store and the engine.
        drop(engine);
        drop(timekeeper);
        drop(data_dir);
        closed.map_err(failed)
    }
}

/// Starts a server; it accepts clients when this returns. On a failure listeners that are open
/// already end and the data directory is free again. `Failure::Usage` and `Failure::Refused` say
/// what the operator can do; see `failure.rs`.
pub async fn start(config: &Config) -> Result<Running, Failure> {
    logging::start_logging(config);
    addresses::check_addresses(config).await?;
    // Bound to names in this order so that on a failure the engine is dropped first and the
    // directory last.
    let Opened { data_dir, timekeeper, engine, measured } = open_store(config, false).await?;
    let kept = data_dir.as_ref().map(|directory| directory.path.as_path());
    // A damaged file refuses the start before any client is accepted.
    let features = Features::open(kept, config.per_document_ttl).map_err(Failure::Refused)?;
    let explorer = Explorer::open(config.explorer_dir.as_deref()).map_err(failed)?;
    // One account for both APIs: `--memory` bounds the process, not each of them.
    let (plan, memory, strangers) = open_accounts(config);
    let files = data_dir.as_ref().map(temporary_area).transpose().map_err(failed)?;
    let (stop, stopped) = watch::channel(false);
    // Shared by the two APIs; the admin listener has places of its own.
    let places = listen::Places::of_descriptors(listen::descriptor_limit());
    let mut tasks = vec![tokio::spawn(return_free_memory(stopped.clone()))];
    let mut ready = Ready::starting();
    let (mut door, mut cosmos) = (None, None);
    if let Some(address) = &config.mongo_addr {
        let settings = |host| mongo_settings(host, &features, (&memory, &strangers), &files);
        let listens = (stopped.clone(), places.clone());
        let (made, task, bound) = start_mongo(address, engine.clone(), settings, listens).await?;
        tasks.push(task);
        ready.mongo = Some(bound);
        door = Some(made);
    }
    if let Some(address) = &config.cosmos_addr {
        let accounts = (&memory, &strangers);
        let made = nosql::open_door(config, address, engine.clone(), accounts, &explorer).await?;
        // After `open_door`: it finishes changes that an earlier process left half done, which no
        // request may see.
        let (listener, bound) = addresses::bind_setting("cosmos-addr", address).await?;
        let served = Arc::clone(&made);
        tasks.push(tokio::spawn(listen::accept_connections(
            listener,
            stopped.clone(),
            places.clone(),
            move |stream, _, stop| cosmos::serve(Arc::clone(&served), stream, stop),
        )));
        ready.cosmos = Some(bound.to_string());
        cosmos = Some(made);
    }
    // Last of the listeners, since the portal shows where the other two listen.
    if let Some(address) = &config.admin_addr {
        let (listener, bound) = addresses::bind_setting("admin-addr", address).await?;
        let doors = Doors { mongo: door.clone(), cosmos };
        let portal = admin::build_portal(config, bound, &ready, doors.clone(), stopped.clone())?;
        let (engine, explorer) = (engine.clone(), Arc::clone(&explorer));
        let shared = Shared {
            engine,
            measured,
            plan,
            memory,
            temporary: files,
            doors,
            features,
            explorer,
            index_unused_days: config.index_unused_days,
            stopping: stopped.clone(),
        };
        tasks.push(tokio::spawn(admin::serve(listener, portal, shared)));
        ready.admin = Some(bound.to_string());
    }
    // Only now are all ports known: a port of 0 is chosen when it is bound.
    explorer.listens(Ports { admin: port_of(&ready.admin), nosql: port_of(&ready.cosmos) });
    tasks.extend(background::start(&engine, door, config.index_unused_days, &stopped));
    // Last: whoever reads it may connect at once.
    announce_ready(config, &ready)?;
    Ok(Running { ready, engine, stop, tasks, timekeeper, data_dir })
}

/// Binds the address of the MongoDB API and begins to accept. `settings` gets the address that
/// drivers are told. Returns what serves the API, the task of its listener, and where that listens.
async fn start_mongo(
    address: &str,
    engine: Engine<AnyStore>,
    settings: impl FnOnce(String) -> mongo::Settings,
    (stopped, places): (watch::Receiver<bool>, listen::Places),
) -> Result<(Arc<Door<AnyStore>>, JoinHandle<()>, String), Failure> {
    let (listener, bound) = addresses::bind_setting("mongo-addr", address).await?;
    let bound = bound.to_string();
    let door = Door::new(engine, settings(bound.clone()));
    let served = Arc::clone(&door);
    let task = tokio::spawn(listen::accept_connections(
        listener,
        stopped,
        places,
        move |stream, peer, stop| mongo::serve(Arc::clone(&served), stream, peer.to_string(), stop),
    ));
    Ok((door, task, bound))
}

/// Returns the settings of the MongoDB API. `host` is the address that it tells drivers, `accounts`
/// are those of all operations and of clients before their first request; `temporary` is where
/// sorts and groups put what they cannot hold in memory.
fn mongo_settings(
    host: String,
    features: &Features,
    accounts: (&Account, &Account),
    temporary: &Option<Area>,
) -> Settings {
    let (memory, strangers) = (accounts.0.clone(), accounts.1.clone());
    let per_document_ttl = features.per_document_ttl();
    let carry_timestamps = features.carry_timestamps();
    let usage = machine::process_usage;
    Settings {
        per_document_ttl,
        carry_timestamps,
        host,
        strangers,
        memory,
        temporary: temporary.clone(),
        give_way,
        run_apart,
        usage,
        ..Settings::default()
    }
}

/// Says that every listener accepts: by the ready file for scripts, by the banner for people, and
/// in the log. Fails when the ready file cannot be written, since somebody waits for it.
fn announce_ready(config: &Config, ready: &Ready) -> Result<(), Failure> {
    if let Some(path) = &config.ready_file {
        ready::write_ready_file(path, ready).map_err(failed)?;
    }
    if config.banner {
        banner::print_banner(config, ready);
    }
    tracing::info!(
        mongo = ready.mongo.as_deref(),
        cosmos = ready.cosmos.as_deref(),
        admin = ready.admin.as_deref(),
        "ready"
    );
    Ok(())
}

/// Returns the port of a bound address, `host:port`.
fn port_of(address: &Option<String>) -> Option<u16> {
    address.as_ref()?.rsplit_once(':')?.1.parse().ok()
}
