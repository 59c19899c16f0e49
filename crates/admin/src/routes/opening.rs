//! The routes of the admin address while the store is opened: health and readiness for
//! orchestrators; all others return 503. Later the routes in `mod.rs` replace them.

use std::time::Duration;

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;

use super::{
    health::{checks_json, health_answer, status_answer},
    metrics::{metrics_answer, register_readiness, registry_of_all},
};

/// Returns why nothing is served yet, as a phrase prefixed by the name of a check.
fn why_opening(began: Duration) -> String {
    let seconds = clock::monotonic_time().saturating_sub(began).as_secs();
    format!("replay: the store is being opened, for {seconds} s so far")
}

/// Returns the routes of a server whose store has been opening since `began` (monotonic clock).
pub(crate) fn opening_routes(began: Duration) -> Router {
    let live = || async { health_answer(true, "") };
    let ready = move || async move { health_answer(false, &why_opening(began)) };
    let status = move || async move { status_answer(status_body(&why_opening(began))) };
    Router::new()
        .route("/livez", get(live))
        .route("/alive", get(live))
        .route("/readyz", get(ready))
        .route("/ready", get(ready))
        .route("/status", get(status))
        .route("/metrics", get(get_metrics))
        .fallback(move || async move { refuse(&why_opening(began)) })
}

/// Returns the `/status` fields that are known before the store is open.
fn status_body(why: &str) -> serde_json::Value {
    json!({
        "status": "unavailable",
        "reason": why,
        "version": env!("CARGO_PKG_VERSION"),
        "checks": checks_json([why.to_owned()]),
    })
}

/// Returns version and readiness only, since there is nothing to count before the store is open.
async fn get_metrics() -> Response {
    let mut registry = registry_of_all(&[]);
    register_readiness(&mut registry, false);
    metrics_answer(&registry)
}

fn refuse(why: &str) -> Response {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    (status, [(header::RETRY_AFTER, "1")], format!("{why}\n")).into_response()
}
