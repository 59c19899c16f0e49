//! Starts a server from its configuration, and stops it. The order of both stands here and nowhere
//! else:
//!
//! ```text
//! start  settings checked → data directory, clock → files beside them, addresses taken
//!        → health answered → store, engine → doors, portal and background work
//!        → clients accepted → "ready"
//! stop   listeners and background work → store → engine → clock → data directory
//! ```

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cluster::Ledger;
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    addresses, admin,
    background::Timekeeper,
    backup::begin_lineage,
    banner,
    config::{ClusterConfig, Config},
    data_dir::DataDir,
    downtime::tell_downtime,
    early_admin::EarlyAdmin,
    failure::{Failure, failed},
    features::Features,
    figures,
    free_memory::return_free_memory,
    listen::Places,
    logging,
    node::{self, Node},
    open::{Opened, open_clock_of},
    ready,
    site::Site,
    term::{Shards, Term, end_tasks},
};

/// A running server. Dropping it without [`Running::stop`] tells its tasks to end too, but then
/// nobody waits for them or closes the store.
pub struct Running {
    site: Arc<Site>,
    /// Tells the listeners to end.
    stop: watch::Sender<bool>,
    /// The listeners and what else ends after `stop`.
    tasks: Vec<JoinHandle<()>>,
    data: Data,
    only_closes: Arc<AtomicBool>,
}

/// What is served.
enum Data {
    /// A server's own.
    Own(Own),
    /// A cluster's.
    Shared(Box<Node>),
}

/// Data of a server's own.
struct Own {
    term: Arc<Term>,
    /// Ends its thread when dropped, so it has to outlive the engine.
    timekeeper: Timekeeper,
    /// The lock of the data directory; goes last, or another process could open it too early.
    data_dir: Option<DataDir>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("ready", &self.site.ready).finish_non_exhaustive()
    }
}

impl Running {
    /// Returns the address of the MongoDB API, `host:port`; `None`: it is off.
    pub fn mongo(&self) -> Option<&str> {
        self.site.ready.mongo.as_deref()
    }

    /// Returns the address of the NoSQL API, `host:port`; `None`: it is off.
    pub fn cosmos(&self) -> Option<&str> {
        self.site.ready.cosmos.as_deref()
    }

    /// Returns the address of the admin listener, `host:port`; `None`: it is off.
    pub fn admin(&self) -> Option<&str> {
        self.site.ready.admin.as_deref()
    }

    /// Reads certificates and keys of the listeners again, with which connections from now on are served,
    /// and the keys of the account and the roles of tokens; opens the audit log anew, which may have been moved away.
    /// Files that cannot be used change nothing, and the log says why.
    pub fn reload(&self) {
        self.site.reload_keys();
        self.site.reload_roles();
        if let Some(Err(error)) = self.site.audit.as_ref().map(|audit| audit.reopen()) {
            tracing::error!(%error, "the audit log is written where it was");
        }
        match &self.site.tls {
            Some(tls) => tls.reload(),
            None => tracing::info!("nothing to be read again: no address speaks TLS"),
        }
    }

    /// Becomes true when clients have got all their answers and nothing is left but to close the store: a
    /// process that ends then has lost nothing, and its next start has more of the journal to read.
    pub(crate) fn only_closes(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.only_closes)
    }

    /// Stops accepting, lets requests under way finish, and closes the store. Listeners end within
    /// about eight seconds, whatever their clients do (`listen.rs`). A node of a cluster hands over
    /// first what it owns. Fails when the store could not write what it still held; all that was
    /// acknowledged is durable even so.
    pub async fn stop(self) -> Result<(), Failure> {
        let Self { site, stop, tasks, data, only_closes } = self;
        site.note("stop");
        let traces = site.traces.clone();
        let stopped = match data {
            Data::Own(own) => {
                stop.send_replace(true);
                own.term.say_end();
                end_tasks(tasks).await;
                only_closes.store(true, Ordering::SeqCst);
                own.stop(site).await
            }
            Data::Shared(node) => {
                // The connections of its term end with that.
                node.hand_over().await;
                stop.send_replace(true);
                end_tasks(tasks).await;
                drop(site);
                only_closes.store(true, Ordering::SeqCst);
                node.stop().await
            }
        };
        // Last: requests under way are traced too.
        traces.end().await;
        stopped
    }
}

impl Own {
    /// Ends what goes on without requests, of which there are none any more, and closes the store.
    async fn stop(self, site: Arc<Site>) -> Result<(), Failure> {
        let Self { term, timekeeper, data_dir } = self;
        term.end(&site).await;
        // After the tasks: no request is under way that could still write.
        let closed = term.shared.engine.store().close().await;
        // Commits that still wait in the store may need a new lease of the clock, so the clock goes
        // after the store and the engine.
        drop((term, site));
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
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    addresses::check_addresses(config).await?;
    match &config.cluster {
        Some(cluster) => {
            let ledger = node::connect(cluster).await?;
            start_node(config, cluster, Arc::new(ledger)).await
        }
        None => start_own(config).await,
    }
}

/// Starts a node of a cluster whose ledger this is.
pub(crate) async fn start_node<L: Ledger>(
    config: &Config,
    cluster: &ClusterConfig,
    ledger: Arc<L>,
) -> Result<Running, Failure> {
    let began = clock::monotonic_time();
    let (stop, stopped) = watch::channel(false);
    let node::Opened { site, node, mut tasks } =
        node::open(config, cluster, ledger, &stopped).await?;
    tasks.push(tokio::spawn(return_free_memory(stopped)));
    announce_ready(&site, began)?;
    site.note("start");
    let data = Data::Shared(Box::new(node));
    Ok(Running { site, stop, tasks, data, only_closes: Arc::default() })
}

/// Starts a server of its own.
async fn start_own(config: &Config) -> Result<Running, Failure> {
    let began = clock::monotonic_time();
    // Bound to names in this order so that on a failure the engine is dropped first and the
    // directory last.
    let timed = open_clock_of(config, false)?;
    let (stop, stopped) = watch::channel(false);
    let (site, mut bound) = Site::open(config, timed.data_dir.as_ref(), None, &stopped).await?;
    let admin = EarlyAdmin::listen(&mut bound, &stopped)?;
    let Opened { data_dir, timekeeper, engine, measured, images } =
        timed.open_engine(config).await?;
    let kept = data_dir.as_ref().map(|directory| directory.path.as_path());
    // A damaged file refuses the start before any client is accepted.
    let features = Features::open(kept, config.per_document_ttl).map_err(Failure::Refused)?;
    if let Some(folder) = kept.filter(|_| config.accept_loss) {
        // Numbers of entries that are missing are given again, to others.
        begin_lineage(folder)?;
    }
    let term = Term::begin(&site, engine, (measured, images), features, Shards::default()).await?;
    let mut tasks = vec![tokio::spawn(return_free_memory(stopped.clone()))];
    let places = Places::of_apis(config.limits.max_connections);
    tasks.extend(bound.accept(&term, &stopped, &places)?);
    tasks.extend(admin.hand_to(&term));
    tasks.push(tokio::spawn(tell_downtime(term.shared.engine.clone())));
    let shared = term.shared.clone();
    let gather = move || admin::figures::gathered(&shared);
    tasks.push(tokio::spawn(figures::keep(Arc::clone(&site.figures), gather, stopped)));
    // Last: whoever reads it may connect at once.
    announce_ready(&site, began)?;
    site.note("start");
    let data = Data::Own(Own { term, timekeeper, data_dir });
    Ok(Running { site: Arc::new(site), stop, tasks, data, only_closes: Arc::default() })
}

/// Says that every listener accepts: by the ready file for scripts, by the banner for people, and
/// in the log, with how long the start took. Fails when the ready file cannot be written, since somebody
/// waits for it.
fn announce_ready(site: &Site, began: Duration) -> Result<(), Failure> {
    let (config, ready) = (&site.config, &site.ready);
    if let Some(path) = &config.ready_file {
        ready::write_ready_file(path, ready).map_err(failed)?;
    }
    let took = clock::monotonic_time().saturating_sub(began);
    banner::print_banner(config, ready, site.reaping.pause().is_some(), took);
    tracing::info!(
        mongo = ready.mongo.as_deref(),
        cosmos = ready.cosmos.as_deref(),
        admin = ready.admin.as_deref(),
        ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "ready"
    );
    Ok(())
}
