//! The routes of the admin API: health, metrics, the clock and expiry, mounted in the portal, which
//! does the access control. They reach documents only through the APIs.

mod audited;
mod backup;
mod clock;
mod databases;
pub mod doctor;
pub mod error;
mod expiry;
mod explorer;
mod features;
pub mod figures;
pub mod health;
mod indexes;
pub mod metrics;
pub(crate) mod opening;
mod quickstart;
mod slow;
mod ttl;
mod users;

use std::sync::Arc;

use audit::AuditLog;
use axum::{
    Router,
    extract::Request,
    middleware::{Next, from_fn},
    routing::{any, get, post, put},
};
use engine::Engine;
use memory::{Account, Plan};
use server_base::features::Features;
use spill::Area;
use store_tree::{Images, TreeMetrics};
use tokio::sync::{Semaphore, watch};
use traces::SlowOperations;

use crate::{
    explorer::{CONFIG, Explorer, PAGES},
    figures::Figures,
    pages::Pages,
    reaping::Reaping,
    relayed::{Apis, RelayOnce},
};

/// State shared by the routes; cloned for each request, so all of it is cheap to clone.
#[derive(Clone)]
pub struct Shared {
    /// The engine whose documents the routes show.
    pub engine: Engine,
    /// Measurements of the store's commits and disk usage; `None` for a store in memory.
    pub measured: Option<Arc<TreeMetrics>>,
    /// Access to images (snapshots) of the store for backups; `None` if this server cannot back it
    /// up.
    pub images: Option<Images>,
    /// Permit of the one backup that may run at a time.
    pub backups: Arc<Semaphore>,
    /// Division of the process's memory between caches and operations.
    pub plan: Plan,
    /// The memory account of all operations, for metrics.
    pub memory: Account,
    /// The area of temporary files, whose size is a metric; `None` without a data directory.
    pub temporary: Option<Area>,
    /// The APIs that serve the engine.
    pub apis: Apis,
    /// Forwards requests to the owners of all shards of a cluster.
    pub shard_relay: RelayOnce,
    /// Audit log of changes; `None` if disabled.
    pub audit: Option<Arc<AuditLog>>,
    /// Feature switches, which the routes show and change.
    pub features: Arc<Features>,
    /// Whether and since when the reaper is paused.
    pub reaping: Arc<Reaping>,
    /// Statistics of the last day.
    pub figures: Arc<Figures>,
    /// Slow operations of the last day; `None` if disabled.
    pub slow: Option<Arc<SlowOperations>>,
    /// Configuration and addresses that `ebb doctor` checks.
    pub subject: doctor::CheckContext,
    /// The pages of another project's data explorer.
    pub explorer: Arc<Explorer>,
    /// Days without use after which a path index is dropped; `None` keeps it.
    pub index_unused_days: Option<u32>,
    /// Becomes `true` when the server stops.
    pub stopping: watch::Receiver<bool>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// Returns all routes of the admin address: the server's, with the portal's routes and access
/// control around them.
pub fn mounted(pages: Arc<Pages>, shared: Shared) -> Router {
    let (shard_relay, audit) = (shared.shard_relay.clone(), shared.audit.clone());
    let routes = server_routes(shared);
    let routes = match shard_relay.get().cloned() {
        None => routes,
        // Added inside the access control, so that only authorized requests are relayed.
        Some(relay) => routes.route_layer(from_fn(move |request: Request, next: Next| {
            let relay = Arc::clone(&relay);
            async move { relay.admin(request, next).await }
        })),
    };
    let routes = ::portal::mount(pages, routes);
    match audit {
        None => routes,
        // Outside the access control, so that refused requests are logged too.
        Some(audit) => routes.layer(from_fn(move |request: Request, next: Next| {
            audited::audit_request(Arc::clone(&audit), request, next)
        })),
    }
}

/// Returns the routes below the portal. `/alive` and `/ready` are aliases of `/livez` and
/// `/readyz`. The portal's access control (`portal/src/gate.rs`) requires a key for all paths that
/// start with `/_`, except the explorer and the login itself.
pub fn server_routes(shared: Shared) -> Router {
    let collection = "/_ebb/databases/{database}/collections/{collection}";
    Router::new()
        .route("/livez", get(health::get_liveness))
        .route("/alive", get(health::get_liveness))
        .route("/readyz", get(health::get_readiness))
        .route("/ready", get(health::get_readiness))
        .route("/status", get(health::get_status))
        .route("/metrics", get(metrics::get_metrics))
        .route("/_ebb/clock", get(clock::get_clock).post(clock::move_clock))
        .route("/_ebb/clock/accept", post(clock::accept_clock))
        .route("/_ebb/databases", get(databases::get_databases))
        .route("/_ebb/collections", get(databases::get_collections))
        .route(&format!("{collection}/expiry"), get(expiry::get_forecast))
        .route(&format!("{collection}/expiry/preview"), post(expiry::get_preview))
        .route(&format!("{collection}/expiry/series"), get(expiry::get_series))
        .route(&format!("{collection}/expiry/next"), get(expiry::get_next))
        .route(&format!("{collection}/indexes"), get(indexes::get_indexes))
        .route("/_ebb/expiry/series", get(expiry::get_all_series))
        .route(CONFIG, any(explorer::get_page))
        .route(PAGES, any(explorer::get_page))
        .route(&format!("{PAGES}/"), any(explorer::get_page))
        .route(&format!("{PAGES}/{{*file}}"), any(explorer::get_page))
        .route("/_ebb/quickstart", post(quickstart::run_quickstart))
        .route("/_ebb/users", get(users::get_users).post(users::add_user))
        .route("/_ebb/users/{database}/{user}", put(users::change_user).delete(users::remove_user))
        .route(::portal::BACKUP, get(backup::get_backup))
        .route("/_ebb/ttl", get(ttl::get_reaping))
        .route("/_ebb/ttl/pause", post(ttl::pause_reaping))
        .route("/_ebb/ttl/resume", post(ttl::resume_reaping))
        .route("/_ebb/slow", get(slow::get_slow))
        .route("/_ebb/figures", get(figures::get_figures))
        .route("/_ebb/doctor", get(doctor::get_findings))
        // A cluster node handles these before they get here.
        .route("/_ebb/cluster", any(no_cluster))
        .route("/_ebb/cluster/{what}", any(no_cluster))
        .route("/_ebb/features", get(features::get_features).put(features::change_features))
        .with_state(shared)
}

/// Rejects routes that only cluster nodes support.
async fn no_cluster() -> error::Error {
    error::Error::not_found("this server is not a cluster node")
}
