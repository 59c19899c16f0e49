//! Starts a standalone server from its configuration, and stops any server. The order of both is
//! defined only here:
//!
//! ```text
//! start  settings checked → data directory, clock → other files, addresses bound
//!        → health checks served → store, engine → APIs, portal and background work
//!        → clients accepted → "ready"
//! stop   listeners and background work → store → engine → clock → data directory
//! ```

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use admin::{early_admin::EarlyAdmin, figures, routes::figures::gathered};
use server_base::{
    addresses,
    backup::begin_lineage,
    config::Config,
    data_dir::DataDir,
    failure::{Failure, failed},
    features::Features,
    listen::ConnectionLimits,
    ready,
};
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    background::Timekeeper,
    banner,
    downtime::log_downtime,
    free_memory::return_free_memory,
    logging,
    open::{Opened, open_clock_of},
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
    data: Box<dyn ServedData>,
    only_closes: Arc<AtomicBool>,
}

/// The future of a method of [`ServedData`].
pub type Ending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The data that a process serves, with the engines on it: its own, or those of a cluster's shards.
pub trait ServedData: Send + Sync {
    /// Signals connections of clients to end, and the listeners with them, by `stop_listeners`.
    fn stop_serving<'a>(&'a self, stop_listeners: &'a watch::Sender<bool>) -> Ending<'a, ()>;

    /// Ends the background work and closes the store. Called when all listeners have ended. Fails
    /// if the store could not write its remaining data.
    fn close(self: Box<Self>, context: Arc<ServerContext>) -> Ending<'static, Result<(), Failure>>;
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
    /// about eight seconds, regardless of their clients (`server-base/src/listen.rs`). A cluster
    /// node first hands over the shards that it owns. Fails if the store could not write its
    /// remaining data; acknowledged writes are durable even so.
    pub async fn stop(self) -> Result<(), Failure> {
        let Self { context, stop, tasks, data, only_closes } = self;
        context.note("stop");
        let traces = context.traces.clone();
        data.stop_serving(&stop).await;
        end_tasks(tasks).await;
        only_closes.store(true, Ordering::SeqCst);
        let stopped = data.close(context).await;
        // Closed last, because requests in progress are traced too.
        traces.end().await;
        stopped
    }

    /// Announces a server that accepts clients since its start at `began` (monotonic clock), and
    /// returns it. `tasks` are those of its listeners and other tasks that end after `stop`. Fails
    /// if the ready file cannot be written.
    pub fn announce(
        context: Arc<ServerContext>,
        stop: watch::Sender<bool>,
        tasks: Vec<JoinHandle<()>>,
        data: Box<dyn ServedData>,
        began: Duration,
    ) -> Result<Self, Failure> {
        announce_ready(&context, began)?;
        context.note("start");
        Ok(Self { context, stop, tasks, data, only_closes: Arc::default() })
    }
}

impl ServedData for Own {
    fn stop_serving<'a>(&'a self, stop_listeners: &'a watch::Sender<bool>) -> Ending<'a, ()> {
        stop_listeners.send_replace(true);
        self.term.signal_end();
        Box::pin(async {})
    }

    fn close(self: Box<Self>, context: Arc<ServerContext>) -> Ending<'static, Result<(), Failure>> {
        let Self { term, timekeeper, data_dir } = *self;
        Box::pin(async move {
            term.end(&context).await;
            // Closed after the tasks have ended, so that no request can still write.
            let closed = term.shared.engine.store().close().await;
            // Commits pending in the store may need a new lease of the clock, so the clock is
            // stopped after the store and the engine.
            drop((term, context));
            drop(timekeeper);
            drop(data_dir);
            closed.map_err(failed)
        })
    }
}

/// Starts the log and checks the addresses of a configuration. Runs before anything is opened.
pub async fn check_settings(config: &Config) -> Result<(), Failure> {
    logging::start_logging(config);
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    addresses::check_addresses(config).await
}

/// Starts a standalone server; it accepts clients on return. On failure open listeners are closed
/// and the data directory is released. `Failure::Usage` and `Failure::Refused` tell the operator
/// what to do; see [`Failure`]. A configuration with a cluster is for `node::start`.
pub async fn start(config: &Config) -> Result<Running, Failure> {
    check_settings(config).await?;
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
    let gather = move || gathered(&shared);
    tasks.push(tokio::spawn(figures::keep(Arc::clone(&context.figures), gather, stopped)));
    let data = Own { term, timekeeper, data_dir };
    // Announced last, because a reader of the ready file may connect at once.
    Running::announce(Arc::new(context), stop, tasks, Box::new(data), began)
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
