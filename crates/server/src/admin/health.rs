//! Liveness, readiness, status.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use clock::Mode;
use serde_json::json;

use super::Shared;
use crate::machine;

/// The process answers and is not on its way out.
pub(crate) async fn live(State(shared): State<Shared>) -> Response {
    answer(!*shared.stopping.borrow(), "stopping")
}

/// Operations would be served: time may be used and keeps pace.
pub(crate) async fn ready(State(shared): State<Shared>) -> Response {
    let clock = shared.engine.clock().status();
    let stopping = *shared.stopping.borrow();
    let why = match (stopping, clock.running, clock.keeps_pace) {
        (true, ..) => "stopping",
        (_, false, _) => "the clock waits for its checkpoint",
        (_, _, false) => "the clock does not keep pace",
        _ => "",
    };
    answer(why.is_empty(), why)
}

fn answer(good: bool, why: &str) -> Response {
    if good {
        (StatusCode::OK, "ok\n").into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response()
    }
}

/// What a person wants to know first.
pub(crate) async fn status(State(shared): State<Shared>) -> Response {
    let clock = shared.engine.clock().status();
    let good = clock.running && clock.keeps_pace && !*shared.stopping.borrow();
    let (connections, cursors) = shared.doors.mongo.as_ref().map_or((0, 0), |door| door.open());
    let (passes, reaped) = shared.engine.reaped();
    let body = json!({
        "status": if good { "ok" } else { "unavailable" },
        "version": env!("CARGO_PKG_VERSION"),
        "clock": {
            "mode": match clock.mode { Mode::System => "system", Mode::Manual => "manual" },
            "now_ms": clock.now.ms,
            "offset_ms": clock.offset_ms,
            "unconfirmed": clock.unconfirmed,
            "reap_until_ms": clock.reap_until.map(|until| until.ms),
            "running": clock.running,
            "keeps_pace": clock.keeps_pace,
        },
        "mongo": { "connections": connections, "cursors": cursors },
        "memory": {
            "limit_bytes": shared.plan.process,
            "operations_limit_bytes": shared.memory.limit(),
            "operations_bytes": shared.memory.used(),
            "operations_peak_bytes": shared.memory.peak(),
            "refused": shared.memory.refused(),
            "resident_bytes": machine::resident(),
        },
        "reaper": { "passes": passes, "documents": reaped },
    });
    let status = if good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}
