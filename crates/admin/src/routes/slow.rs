//! Admin route of the slow operations of the last day.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use traces::SlowOperation;

use super::{Shared, clock::time_text};

/// Handles `GET /_ebb/slow`: the slow operations of the last day, newest first, at most
/// [`traces::MOST_SLOW`]. `query` includes values: it is kept for an hour in memory only, and is
/// `null` after that, after a restart, and for long or writing operations. `portal` marks
/// operations that came through the admin address. With `--slow-ms off`, `threshold_ms` is `null`
/// and the list empty. In a cluster the list is that of the answering node.
///
/// ```text
/// {"threshold_ms": 100, "operations": [{"at": "2027-01-01T00:00:00.000Z", "api": "mongo",
///  "operation": "find", "database": "app", "collection": "log", "duration_ms": 123,
///  "examined": 4540, "returned": 3, "plan": "scan", "failed": false, "client": "checkout",
///  "request": "812", "portal": false, "query": "{ find: \"log\", filter: { a: 1 } }"}]}
/// ```
pub(crate) async fn get_slow(State(shared): State<Shared>) -> Json<Value> {
    let told = shared.slow.as_ref().map(|slow| slow.list(::clock::wall_ms())).unwrap_or_default();
    Json(json!({
        "threshold_ms": shared.slow.as_ref().map(|slow| slow.limit_ms()),
        "operations": told.iter().map(|slow| to_json(slow)).collect::<Vec<_>>(),
    }))
}

fn to_json(slow: &SlowOperation) -> Value {
    json!({
        "at": time_text(slow.at_ms),
        "api": slow.api,
        "operation": slow.operation,
        "database": slow.database,
        "collection": slow.collection,
        "duration_ms": slow.took_ms,
        "examined": slow.examined,
        "returned": slow.returned,
        "plan": slow.plan,
        "failed": slow.failed,
        "client": slow.client,
        "request": slow.request,
        "portal": slow.relayed,
        "query": slow.query,
    })
}
