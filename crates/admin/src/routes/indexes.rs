//! A container's indexes over HTTP: which paths are indexed, since when and why. Paths that the
//! policy allows but no query has needed have no index and appear only as the policy writes them.

use axum::{
    Json,
    extract::{Path, Query, State},
};
use engine::{Model, Namespace, PathProgress, PathStatus};
use serde_json::{Value, json};

use super::{
    Shared,
    error::{Error, Result},
    expiry::{ApiQuery, find_collection},
};

/// Handles `GET .../indexes`: a container's indexes and its indexing policy.
///
/// ```text
/// {"progress": 100, "included": ["/*"], "excluded": ["/_etag/?"], "unused_days": null,
///  "kept": [{"paths": ["/n/?"], "why": "query", "state": "ready", "since_seconds": 1795248000,
///            "used_seconds": 1795248000, "uses": 12}]}
/// ```
pub(crate) async fn get_indexes(
    State(shared): State<Shared>,
    Path((database, collection)): Path<(String, String)>,
    Query(which): Query<ApiQuery>,
) -> Result<Json<Value>> {
    let collection = find_collection(&shared, &Namespace::new(database, collection), &which)?;
    if collection.state().record.model != Model::Items {
        return Err(Error::bad_request("only containers of the NoSQL API have indexing policies"));
    }
    let engine = &shared.engine;
    let kept = engine.path_statuses(&collection);
    Ok(Json(json!({
        "progress": collection.index_progress(),
        "included": engine.policy_paths(&collection, true),
        "excluded": engine.policy_paths(&collection, false),
        "unused_days": shared.index_unused_days,
        "kept": kept.iter().map(status_json).collect::<Vec<_>>(),
    })))
}

/// Returns the state of one index as JSON, with seconds of database time.
fn status_json(status: &PathStatus) -> Value {
    // Uses in memory may be newer than the stored ones, which are written once a day.
    let last_s = Some(status.uses.last_s).filter(|_| 0 < status.uses.count);
    json!({
        "paths": status.paths,
        "why": status.why,
        "state": match status.progress {
            PathProgress::Ready => "ready",
            PathProgress::Building => "building",
        },
        "since_seconds": status.since_s,
        "used_seconds": last_s.max(status.used_s),
        "uses": status.uses.count,
    })
}
