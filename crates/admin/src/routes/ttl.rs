//! Admin routes of the reaper: status, pause and resume. None of them changes which documents are
//! visible.

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
};

/// Returns the status of reaping. Times are milliseconds of the wall clock, except
/// `held_behind_ms`, which is database time: after a forward jump of the machine's clock, documents
/// that expire later than this are not reaped until an operator accepts the jump.
///
/// ```text
/// {"paused": true, "paused_since_ms": 1798761600000, "held_behind_ms": null,
///  "reap_delay_seconds": 60, "passes": 9, "reaped_documents": 3,
///  "unreaped_estimate": {"documents": 7, "bytes": 700, "oldest_dead_seconds": 4}}
/// ```
fn reaping_body(shared: &Shared) -> Json<Value> {
    let pause = shared.reaping.pause();
    let (passes, reaped) = shared.engine.reap_statistics();
    let waiting = shared.engine.reap_backlog();
    Json(json!({
        "paused": pause.is_some(),
        "paused_since_ms": pause.and_then(|pause| pause.since_ms),
        "held_behind_ms": shared.engine.clock().status().reap_until.map(|until| until.ms),
        "reap_delay_seconds": shared.subject.config.reap_delay.as_secs_f64(),
        "passes": passes,
        "reaped_documents": reaped,
        "unreaped_estimate": {
            "documents": waiting.amount.documents,
            "bytes": waiting.amount.bytes,
            "oldest_dead_seconds": waiting.oldest_expired_seconds,
        },
    }))
}

pub(crate) async fn get_reaping(State(shared): State<Shared>) -> Json<Value> {
    reaping_body(&shared)
}

/// Handles `POST /_ebb/ttl/pause`: stops the removal of expired documents, also across restarts.
pub(crate) async fn pause_reaping(State(shared): State<Shared>) -> Result<Json<Value>> {
    set_paused(&shared, true).await
}

pub(crate) async fn resume_reaping(State(shared): State<Shared>) -> Result<Json<Value>> {
    set_paused(&shared, false).await
}

async fn set_paused(shared: &Shared, paused: bool) -> Result<Json<Value>> {
    if shared.subject.config.cluster.is_some() {
        // Copies on other nodes remove documents by reap floors (the times up to which expired data
        // may be dropped) that are in the journal already.
        return Err(Error::conflict(
            "reaping cannot be paused in a cluster: the other nodes remove expired documents \
             independently",
        ));
    }
    let set = shared.reaping.set(&shared.engine, paused).await;
    set.map_err(|error| Error::failed(format!("cannot persist the pause: {error}")))?;
    Ok(reaping_body(shared))
}
