//! Liveness, readiness, status. The first two are for orchestrators, `/status` is for people. They
//! are served even while writes are refused or the clock is stopped, and read no documents, so a
//! busy server answers them as fast.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use server_base::machine;
use store::Health;

use super::{Shared, clock::clock_json};

/// Handles `/livez`: 200 unless the server is stopping; a restart would fix no other problem.
pub async fn get_liveness(State(shared): State<Shared>) -> Response {
    health_answer(!*shared.stopping.borrow(), "stopping")
}

/// Names of the checks. Each reason for not being ready starts with one. They never change, because
/// scripts parse them.
const CHECKS: [&str; 5] = ["replay", "disk", "clock", "memory", "lag"];

/// Handles `/readyz`: 200 if operations would be served (the clock runs and keeps pace, writes are
/// accepted), else 503 with the reason as text, prefixed by the name of a check.
pub async fn get_readiness(State(shared): State<Shared>) -> Response {
    let why = why_unready(&shared);
    health_answer(why.is_none(), why.as_deref().unwrap_or_default())
}

/// Returns why some operations would not be served, or `None`. Only the first cause is reported:
/// while the clock is stopped, for example, it is unknown whether writes would be accepted.
pub fn why_unready(shared: &Shared) -> Option<String> {
    let clock = shared.engine.clock().status();
    if *shared.stopping.borrow() {
        return Some("stopping".to_owned());
    }
    if !clock.running {
        return Some("clock: waiting for its checkpoint".to_owned());
    }
    if !clock.keeps_pace {
        return Some("clock: does not keep pace".to_owned());
    }
    match shared.engine.store().health() {
        Health::Good => None,
        Health::Refusing(why) => Some(format!("disk: writes are refused: {why}")),
        Health::Reopened => {
            Some("replay: writes are refused, the store is being reopened".to_owned())
        }
    }
}

/// Returns a memory shortage as a phrase. It does not make a server unready, since operations are
/// still served, though some fail.
fn memory_shortage(shared: &Shared) -> Option<String> {
    let withheld = shared.memory.withheld_bytes();
    (0 < withheld).then(|| {
        format!("memory: the process is near --memory, so operations get {withheld} bytes less")
    })
}

/// Returns each check with `ok` or its reason, given reasons prefixed by a check's name.
///
/// ```text
/// {"replay": "ok", "disk": "writes are refused: ..", "clock": "ok", "memory": "ok", "lag": "ok"}
/// ```
pub fn checks_json(reasons: impl IntoIterator<Item = String>) -> Value {
    let mut checks: serde_json::Map<_, _> =
        CHECKS.iter().map(|check| ((*check).to_owned(), json!("ok"))).collect();
    for reason in reasons {
        if let Some((check, why)) = reason.split_once(": ")
            && let Some(found) = checks.get_mut(check)
        {
            *found = json!(why);
        }
    }
    Value::Object(checks)
}

/// Returns the response of a health check: 200 `ok`, or 503 with the reason.
pub fn health_answer(good: bool, why: &str) -> Response {
    if good {
        (StatusCode::OK, "ok\n").into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response()
    }
}

/// Handles `/status`: an overview for people, as JSON; 503 while the server is not ready.
pub async fn get_status(State(shared): State<Shared>) -> Response {
    status_answer(status_body(&shared))
}

/// Returns the response for a status body, with the HTTP status that matches it.
pub fn status_answer(body: Value) -> Response {
    let good = body.get("status").and_then(Value::as_str) == Some("ok");
    let status = if good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

/// Returns the status as JSON; times are in milliseconds, memory is in bytes.
pub fn status_body(shared: &Shared) -> Value {
    let why = why_unready(shared);
    let checks = checks_json(why.iter().cloned().chain(memory_shortage(shared)));
    let good = why.is_none();
    let (connections, cursors) = shared.apis.mongo.as_ref().map_or((0, 0), |api| api.open());
    let (passes, reaped) = shared.engine.reap_statistics();
    let pause = shared.reaping.pause();
    json!({
        "status": if good { "ok" } else { "unavailable" },
        "reason": why,
        "version": env!("CARGO_PKG_VERSION"),
        "checks": checks,
        "clock": clock_json(shared.engine.clock()),
        "mongo": { "connections": connections, "cursors": cursors },
        "nosql": { "connections": shared.apis.cosmos.as_ref().map_or(0, |api| api.open()) },
        "memory": {
            "limit_bytes": shared.plan.process,
            "operations_limit_bytes": shared.memory.limit(),
            "operations_bytes": shared.memory.used_bytes(),
            "operations_withheld_bytes": shared.memory.withheld_bytes(),
            "operations_peak_bytes": shared.memory.peak_bytes(),
            "refused": shared.memory.refused_count(),
            "resident_bytes": machine::resident_bytes(),
        },
        "reaper": {
            "passes": passes,
            "documents": reaped,
            "paused": pause.is_some(),
            "paused_since_ms": pause.and_then(|pause| pause.since_ms),
        },
    })
}
