//! `POST /_ebb/quickstart`: creates or recreates the sample data, which `quickstart/` defines.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    Shared,
    error::{Error, Result},
};
use crate::{
    quickstart::{COLLECTION, DATABASE, Failure, make},
    relayed::Relayed,
};

/// Creates the sample and returns its location and the expiration of its last session
/// (`last_dies_ms`). 409 if no API is on or the sample's name is in use.
pub(crate) async fn run_quickstart(State(shared): State<Shared>) -> Result<Json<Value>> {
    let (_, apis) = watch::channel(shared.apis.clone());
    let shard_relay = shared.shard_relay.clone();
    let apis = Relayed { apis, shard_relay, stop: shared.stopping.clone() };
    let made = make(&apis, shared.engine.now().await?).await.map_err(|failure| match &failure {
        Failure::NoApi | Failure::Taken(_) => Error::conflict(failure.to_string()),
        Failure::Refused(_) => Error::failed(failure.to_string()),
    })?;
    // Read again: the page counts down from this time, and writing took a while.
    let now = shared.engine.now().await?;
    Ok(Json(json!({
        "database": DATABASE,
        "nosql": made.nosql.map(|it| json!({ "container": COLLECTION, "items": it.count })),
        "mongo": made.mongo.map(|it| json!({ "collection": COLLECTION, "documents": it.count })),
        "now_ms": now.ms,
        "last_dies_ms": made.last_dies().unwrap_or(now).ms,
    })))
}
