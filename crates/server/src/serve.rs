//! Starts a server from its configuration and stops it. The order of both is defined only here:
//!
//! ```text
//! start  settings checked → data directory, clock → other files, addresses bound
//!        → health checks served → store, engine → APIs, portal and background work
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
    downtime::log_downtime,
    early_admin::EarlyAdmin,
    failure::{Failure, failed},
    features::Features,
    figures,
    free_memory::return_free_memory,
    listen::ConnectionLimits,
    logging,
    node::{self, Node},
    open::{Opened, open_clock_of},
    ready,
    server_context::ServerContext,
    term::{ServingTerm, Shards, end_tasks},
};

/// A running server. Dropping it without [`Running::stop`] also signals its tasks to end, but does
/// not wait for them or close the store.
pub struct Running {
    context: Arc<ServerContext>,
    /// Signals the listeners to stop.
    stop: watch::Sender<bool>,
    /// Tasks of the listeners and other background tasks, which end after `stop`.
    tasks: Vec<JoinHandle<()>>,
    data: Data,
    only_closes: Arc<AtomicBool>,
}

enum Data {
    /// The process has its own data directory or memory.
    Own(Own),
    /// The process is a node of a cluster.
    Shared(Box<Node>),
}

/// The data of a standalone server.
struct Own {
    term: Arc<ServingTerm>,
    /// The timekeeper, which stops its thread on drop, so it has to outlive the engine.
    timekeeper: Timekeeper,
    /// Lock of the data directory; dropped last, or another process could open it too early.
    data_dir: Option<DataDir>,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("ready", &self.context.ready).finish_non_exhaustive()
    }
}

impl Running {
    /// Returns the address of the MongoDB API, `host:port`, or `None` if it is off.
    pub fn mongo(&self) -> Option<&str> {
        self.context.ready.mongo.as_deref()
    }

    /// Returns the address of the NoSQL API, `host:port`, or `None` if it is off.
    pub fn cosmos(&self) -> Option<&str> {
        self.context.ready.cosmos.as_deref()
    }

    /// Returns the address of the admin listener, `host:port`, or `None` if it is off.
    pub fn admin(&self) -> Option<&str> {
        self.context.ready.admin.as_deref()
    }

    /// Reloads certificates and keys of the listeners (for new connections), the account's keys and
    /// the token roles, and reopens the audit log, which may have been rotated. Unusable files
    /// change nothing and are logged.
    pub fn reload(&self) {
        self.context.reload_keys();
        self.context.reload_roles();
        if let Some(Err(error)) = self.context.audit.as_ref().map(|audit| audit.reopen()) {
            tracing::error!(%error, "cannot reopen the audit log; still writing to the old file");
        }
        match &self.context.tls {
            Some(tls) => tls.reload(),
            None => tracing::info!("nothing to reload: no address uses TLS"),
        }
    }

    /// Returns a flag that becomes true when all clients have been answered and only closing the
    /// store remains: a process that exits then loses nothing, but its next start replays more of
    /// the journal.
    pub(crate) fn only_closes(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.only_closes)
    }

    /// Stops accepting, waits for requests in progress, and closes the store. Listeners end within
    /// about eight seconds, regardless of their clients (`listen.rs`). A cluster node first hands
    /// over the shards that it owns. Fails if the store could not write its remaining data;
    /// acknowledged writes are durable even so.
    pub async fn stop(self) -> Result<(), Failure> {
        let Self { context, stop, tasks, data, only_closes } = self;
        context.note("stop");
        let traces = context.traces.clone();
        let stopped = match data {
            Data::Own(own) => {
                stop.send_replace(true);
                own.term.signal_end();
                end_tasks(tasks).await;
                only_closes.store(true, Ordering::SeqCst);
                own.stop(context).await
            }
            Data::Shared(node) => {
                // Handing over the shards ends the node's periods as their owner, and with them the
                // connections of clients.
                node.hand_over().await;
                stop.send_replace(true);
                end_tasks(tasks).await;
                drop(context);
                only_closes.store(true, Ordering::SeqCst);
                node.stop().await
            }
        };
        // Closed last, because requests in progress are traced too.
        traces.end().await;
        stopped
    }
}

impl Own {
    /// Ends the background work and closes the store. No requests are left at this point.
    async fn stop(self, context: Arc<ServerContext>) -> Result<(), Failure> {
        let Self { term, timekeeper, data_dir } = self;
        term.end(&context).await;
        // Closed after the tasks have ended, so that no request can still write.
        let closed = term.shared.engine.store().close().await;
        // Commits pending in the store may need a new lease of the clock, so the clock is stopped
        // after the store and the engine.
        drop((term, context));
        drop(timekeeper);
        drop(data_dir);
        closed.map_err(failed)
    }
}

/// Starts a server; it accepts clients on return. On failure open listeners are closed and the data
/// directory is released. `Failure::Usage` and `Failure::Refused` tell the operator what to do; see
/// `failure.rs`.
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

/// Starts a node of the cluster whose data are in `ledger`.
pub(crate) async fn start_node<L: Ledger>(
    config: &Config,
    cluster: &ClusterConfig,
    ledger: Arc<L>,
) -> Result<Running, Failure> {
    let began = clock::monotonic_time();
    let (stop, stopped) = watch::channel(false);
    let node::Opened { context, node, mut tasks } =
        node::open(config, cluster, ledger, &stopped).await?;
    tasks.push(tokio::spawn(return_free_memory(stopped)));
    announce_ready(&context, began)?;
    context.note("start");
    let data = Data::Shared(Box::new(node));
    Ok(Running { context, stop, tasks, data, only_closes: Arc::default() })
}

async fn start_own(config: &Config) -> Result<Running, Failure> {
    let began = clock::monotonic_time();
    // Bound in this order so that on failure the engine is dropped first and the directory last.
    let timed = open_clock_of(config, false)?;
    let (stop, stopped) = watch::channel(false);
    let (context, mut bound) =
        ServerContext::open(config, timed.data_dir.as_ref(), None, &stopped).await?;
    let admin = EarlyAdmin::listen(&mut bound, &stopped)?;
    let Opened { data_dir, timekeeper, engine, measured, images } =
        timed.open_engine(config).await?;
    let kept = data_dir.as_ref().map(|directory| directory.path.as_path());
    // A damaged file of feature switches makes the start fail before any client is accepted.
    let features = Features::open(kept, config.per_document_ttl).map_err(Failure::Refused)?;
    if let Some(folder) = kept.filter(|_| config.accept_loss) {
        // The numbers of lost journal entries are assigned again, so no incremental backup may
        // continue an earlier backup.
        begin_lineage(folder)?;
    }
    let term =
        ServingTerm::begin(&context, engine, (measured, images), features, Shards::default())
            .await?;
    let mut tasks = vec![tokio::spawn(return_free_memory(stopped.clone()))];
    let connection_limits = ConnectionLimits::of_apis(config.limits.max_connections);
    tasks.extend(bound.accept(&term, &stopped, &connection_limits)?);
    tasks.extend(admin.hand_to(&term));
    tasks.push(tokio::spawn(log_downtime(term.shared.engine.clone())));
    let shared = term.shared.clone();
    let gather = move || admin::figures::gathered(&shared);
    tasks.push(tokio::spawn(figures::keep(Arc::clone(&context.figures), gather, stopped)));
    // Announced last, because a reader of the ready file may connect at once.
    announce_ready(&context, began)?;
    context.note("start");
    let data = Data::Own(Own { term, timekeeper, data_dir });
    Ok(Running { context: Arc::new(context), stop, tasks, data, only_closes: Arc::default() })
}

/// Announces that every listener accepts: in the ready file, the banner and the log, with the
/// duration of the start. Fails if the ready file cannot be written, since a script waits for it.
fn announce_ready(context: &ServerContext, began: Duration) -> Result<(), Failure> {
    let (config, ready) = (&context.config, &context.ready);
    if let Some(path) = &config.ready_file {
        ready::write_ready_file(path, ready).map_err(failed)?;
    }
    let took = clock::monotonic_time().saturating_sub(began);
    banner::print_banner(config, ready, context.reaping.pause().is_some(), took);
    tracing::info!(
        mongo = ready.mongo.as_deref(),
        cosmos = ready.cosmos.as_deref(),
        admin = ready.admin.as_deref(),
        ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "ready"
    );
    Ok(())
}
