//! The admin address: health, metrics, the clock and expiry, inside the portal, which decides who may
//! ask for what. Nothing here has powers over documents that the APIs do not have.

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
    any_store::AnyStore,
    explorer::{CONFIG, Explorer, PAGES},
    features::Features,
    figures::Figures,
    reaping::Reaping,
    relayed::{Doors, RelayOnce},
};

/// What the routes share; cloned for each request, so everything in it is cheap to clone.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) engine: Engine<AnyStore>,
    /// What the store's committer measured; `None` where nothing is written to a disk.
    pub(crate) measured: Option<Arc<TreeMetrics>>,
    /// The way to images of the store; `None`: it is not backed up from here.
    pub(crate) images: Option<Images>,
    /// Backups that may be taken at the same time.
    pub(crate) backups: Arc<Semaphore>,
    /// How the memory of the process is divided.
    pub(crate) plan: Plan,
    /// The account of all operations, for its figures.
    pub(crate) memory: Account,
    /// The area of temporary files, for its size; `None` without a data directory.
    pub(crate) temporary: Option<Area>,
    pub(crate) doors: Doors,
    /// The way to the data of all shards.
    pub(crate) elsewhere: RelayOnce,
    /// Where changes are written down; `None`: nowhere.
    pub(crate) audit: Option<Arc<AuditLog>>,
    pub(crate) features: Arc<Features>,
    /// Whether reaping is paused.
    pub(crate) reaping: Arc<Reaping>,
    /// What the server did during the last day.
    pub(crate) figures: Arc<Figures>,
    /// Which operations are slow, and those of the last day; `None`: none is.
    pub(crate) slow: Option<Arc<SlowOperations>>,
    /// What the self-check looks at.
    pub(crate) subject: doctor::Subject,
    pub(crate) explorer: Arc<Explorer>,
    /// After how many days without use the index of a path ends; `None`: never.
    pub(crate) index_unused_days: Option<u32>,
    /// Becomes `true` when the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// Returns the routes with the portal around them.
pub(crate) fn mounted(pages: Arc<Pages>, shared: Shared) -> Router {
    let (elsewhere, audit) = (shared.elsewhere.clone(), shared.audit.clone());
    let routes = routes(shared);
    let routes = match elsewhere.get().cloned() {
        None => routes,
        // Inside the gate: whoever comes so far was let in.
        Some(relay) => routes.route_layer(from_fn(move |request: Request, next: Next| {
            let relay = Arc::clone(&relay);
            async move { relay.admin(request, next).await }
        })),
    };
    let routes = ::portal::mount(pages, routes);
    match audit {
        None => routes,
        // Around the gate: who was not let in is written down too.
        Some(audit) => routes.layer(from_fn(move |request: Request, next: Next| {
            audited::note_request(Arc::clone(&audit), request, next)
        })),
    }
}

/// The table of routes below the portal. `/livez` and `/alive`, `/readyz` and `/ready` are the same
/// under two names. The portal's gate (`portal/src/gate.rs`) decides which paths need a key: all that
/// begin with `/_`, but for the explorer and the login itself.
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
        // A node answers these before.
        .route("/_ebb/cluster", any(no_cluster))
        .route("/_ebb/cluster/{what}", any(no_cluster))
        .route("/_ebb/features", get(features::get_features).put(features::change_features))
        .with_state(shared)
}

/// Answers what only a node of a cluster can do.
async fn no_cluster() -> error::Error {
    error::Error::not_found("this server is no node of a cluster")
}
