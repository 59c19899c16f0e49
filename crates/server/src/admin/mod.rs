//! The admin API: health, metrics, the clock and expiry, mounted in the portal, which does the
//! access control. It reaches documents only through the APIs.

#[cfg(test)]
pub(crate) mod access_tests;
mod audited;
mod backup;
mod clock;
mod databases;
pub(crate) mod doctor;
pub(crate) mod error;
mod expiry;
mod explorer;
mod features;
pub(crate) mod figures;
pub(crate) mod health;
mod indexes;
pub(crate) mod metrics;
#[cfg(test)]
mod metrics_tests;
mod opening;
pub(crate) mod own_key;
mod pages;
mod quickstart;
#[cfg(test)]
mod route_tests;
mod serve;
mod slow;
#[cfg(test)]
mod tests;
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
use spill::Area;
use store_tree::{Images, TreeMetrics};
use tokio::sync::{Semaphore, watch};
use traces::SlowOperations;

pub(crate) use opening::opening_routes;
pub(crate) use pages::{Pages, build_portal};
pub(crate) use serve::serve_stream;

use crate::{
    explorer::{CONFIG, Explorer, PAGES},
    features::Features,
    figures::Figures,
    reaping::Reaping,
    relayed::{Apis, RelayOnce},
};

/// State shared by the routes; cloned for each request, so all of it is cheap to clone.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    /// Measurements of the store's commits and disk usage; `None` for a store in memory.
    pub(crate) measured: Option<Arc<TreeMetrics>>,
    /// Access to images (snapshots) of the store for backups; `None` if this server cannot back it
    /// up.
    pub(crate) images: Option<Images>,
    pub(crate) backups: Arc<Semaphore>,
    /// How the process's memory is divided between caches and operations.
    pub(crate) plan: Plan,
    /// The memory account of all operations, for metrics.
    pub(crate) memory: Account,
    /// The area of temporary files, whose size is a metric; `None` without a data directory.
    pub(crate) temporary: Option<Area>,
    pub(crate) apis: Apis,
    /// Forwards requests to the owners of all shards of a cluster.
    pub(crate) shard_relay: RelayOnce,
    /// Audit log of changes; `None` if disabled.
    pub(crate) audit: Option<Arc<AuditLog>>,
    pub(crate) features: Arc<Features>,
    /// Whether and since when the reaper is paused.
    pub(crate) reaping: Arc<Reaping>,
    /// Statistics of the last day.
    pub(crate) figures: Arc<Figures>,
    /// Slow operations of the last day; `None` if disabled.
    pub(crate) slow: Option<Arc<SlowOperations>>,
    /// Configuration and addresses that `ebb doctor` checks.
    pub(crate) subject: doctor::CheckContext,
    pub(crate) explorer: Arc<Explorer>,
    /// Days without use after which a path index is dropped; `None` keeps it.
    pub(crate) index_unused_days: Option<u32>,
    /// Becomes `true` when the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// Returns all routes of the admin address: the server's, with the portal's routes and access
/// control around them.
pub(crate) fn mounted(pages: Arc<Pages>, shared: Shared) -> Router {
    let (shard_relay, audit) = (shared.shard_relay.clone(), shared.audit.clone());
    let routes = routes(shared);
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
pub(crate) fn routes(shared: Shared) -> Router {
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
