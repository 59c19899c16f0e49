//! The admin address: health, metrics, the clock and expiry. Health and metrics need no login; the
//! rest has no powers the doors do not have.

mod clock;
mod error;
mod expiry;
mod health;
mod metrics;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};
use engine::Engine;
use mongo::Door;
use tokio::{net::TcpListener, sync::watch};

use crate::any_store::AnyStore;

/// What the routes share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) engine: Engine<AnyStore>,
    pub(crate) door: Option<Arc<Door<AnyStore>>>,
    pub(crate) stopping: watch::Receiver<bool>,
}

/// Serves the admin address until `stop`.
pub(crate) async fn serve(
    listener: TcpListener,
    engine: Engine<AnyStore>,
    door: Option<Arc<Door<AnyStore>>>,
    mut stop: watch::Receiver<bool>,
) {
    let shared = Shared { engine, door, stopping: stop.clone() };
    let served = axum::serve(listener, routes(shared)).with_graceful_shutdown(async move {
        let _ = stop.changed().await;
    });
    if let Err(error) = served.await {
        tracing::error!(%error, "the admin address");
    }
}

fn routes(shared: Shared) -> Router {
    let collection = "/_ebb/databases/{database}/collections/{collection}";
    Router::new()
        .route("/livez", get(health::live))
        .route("/alive", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/ready", get(health::ready))
        .route("/status", get(health::status))
        .route("/metrics", get(metrics::get))
        .route("/_ebb/clock", get(clock::read).post(clock::change))
        .route("/_ebb/clock/accept", post(clock::accept))
        .route(&format!("{collection}/expiry"), get(expiry::forecast))
        .route(&format!("{collection}/expiry/preview"), post(expiry::preview))
        .fallback(error::no_route)
        .with_state(shared)
}
